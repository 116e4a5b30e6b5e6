/* Elementary functions that give the same bits everywhere.
 *
 * Problem: sin, cos, atan2, exp, log of the C library differ in the last bit between versions, and
 * a simulation amplifies the last bit. Method: only operations that IEEE 754 rounds correctly (+ -
 * * / sqrt) and exact ones (frexp, ldexp, floor, fabs). Arguments are reduced as unevaluated sums
 * of two doubles (Dekker 1971), so that the kernels see the reduced argument to about 100 bits; the
 * kernels are Taylor series long enough that the truncation is far below the last bit, with the
 * leading term added last. The coefficients are plain fractions, so there is nothing to look up;
 * the tables are constants of mathematics (bits of 2/pi, arctangents of k/32) split into a double
 * and the rest. Reduction by pi/2: up to 1.6e6 subtraction of a multiple of pi/2 in four parts, the
 * first three short enough that the products are exact (Cody and Waite 1980); beyond, the product
 * with as many bits of 2/pi as matter, in integers (Payne and Hanek 1983). Accuracy: below 1 ulp
 * for all (tested; 0.8 at worst for sin and cos, 0.7 for exp, 0.6 for the others); in the subnormal
 * range exp may be one subnormal step off. Fails: NaN in, NaN out; sin and cos of infinity and log
 * of a negative number are NaN. */
#include "base/base_trig.h"

#include "base/base_long.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

/* coefficients[0] + z (coefficients[1] + z (...)). */
static double polynomial(const double *coefficients, int count, double z) {
    double sum = coefficients[count - 1];
    for (int i = count - 2; i >= 0; i--)
        sum = sum * z + coefficients[i];
    return sum;
}
#define POLYNOMIAL(coefficients, z)                                                                \
    polynomial((coefficients), (int)(sizeof(coefficients) / sizeof(coefficients)[0]), (z))

/* ------------------------------------------------------------------ sine and cosine */

#define TWO_OVER_PI 0x1.45f306dc9c883p-1
/* pi/2 as a double and the rest; and in parts of 33 bits, the last one whole. */
static const rg_long half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
static const double half_pi_parts[4] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                        0x1.b839a252049c1p-104};
/* Up to here the multiple has at most 20 bits, and its products with the parts are exact. */
#define REDUCE_IN_PARTS_LIMIT 1.6e6

/* x = quadrant * pi/2 + reduced (modulo 2 pi), |reduced| <= pi/4 and a hair. */
typedef struct reduction {
    rg_long reduced;
    int quadrant;
} reduction;

static reduction reduce_in_parts(double x) {
    double n = floor(x * TWO_OVER_PI + 0.5);
    double a = x - n * half_pi_parts[0]; /* exact: neighbours of nearly the same size */
    rg_long b = rg_long_sum(a, -n * half_pi_parts[1]);
    rg_long c = rg_long_sum(b.hi, -n * half_pi_parts[2]);
    rg_long r = rg_long_sum(c.hi, (b.lo + c.lo) - n * half_pi_parts[3]);
    return (reduction){r, (int)((int64_t)n & 3)};
}

/* 64 zero bits, then the bits of 2/pi behind the point, 32 in a word. */
enum { ZEROS_BEFORE = 64, WINDOW_WORDS = 8 };
static const uint32_t two_over_pi_bits[] = {
    0x00000000, 0x00000000, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599,
    0x3C439041, 0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C,
    0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639,
    0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F, 0xEF2F118B, 0x5A0A6D1F,
    0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B, 0x3D0739F7,
    0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20, 0x9AF4361D,
};

/* The 256 bits from bit `first` on, most significant word first. */
static void take_window(int first, uint32_t window[WINDOW_WORDS]) {
    int word = first / 32, shift = first % 32;
    for (int i = 0; i < WINDOW_WORDS; i++) {
        uint64_t two = (uint64_t)two_over_pi_bits[word + i] << 32 | two_over_pi_bits[word + i + 1];
        window[i] = (uint32_t)(two >> (32 - shift));
    }
}

/* window := the low 256 bits of window * factor. */
static void multiply_window(uint32_t window[WINDOW_WORDS], uint64_t factor) {
    uint64_t low = factor & UINT32_MAX, high = factor >> 32;
    uint32_t result[WINDOW_WORDS];
    uint64_t carry = 0; /* below 2^34 */
    uint64_t previous = 0;
    for (int i = WINDOW_WORDS - 1; i >= 0; i--) {
        uint64_t by_low = window[i] * low;
        uint64_t sum = carry + (by_low & UINT32_MAX) + (previous * high & UINT32_MAX);
        result[i] = (uint32_t)sum;
        carry = (sum >> 32) + (by_low >> 32) + (previous * high >> 32);
        previous = window[i];
    }
    for (int i = 0; i < WINDOW_WORDS; i++)
        window[i] = result[i];
}

/* The fraction 0.window as a pair, window being small or not: 53 leading bits, then 53 more. */
static rg_long fraction_of(const uint32_t window[WINDOW_WORDS]) {
    int first = 0;
    while (first < WINDOW_WORDS && window[first] == 0)
        first++;
    double sum = 0, rest = 0;
    /* Words are exact in doubles; adding the small ones to the rest keeps every bit that counts. */
    for (int i = first; i < WINDOW_WORDS && i < first + 5; i++) {
        rg_long s = rg_long_normalised(sum, ldexp(window[i], -32 * (i + 1)));
        sum = s.hi;
        rest += s.lo;
    }
    return rg_long_normalised(sum, rest);
}

/* m 2^e * 2/pi modulo 4: bits of 2/pi that give multiples of 4 are skipped, and 256 bits leave,
 * after those of m (53), of the quadrant (2) and of the worst cancellation of a double (62), over
 * 130. */
static reduction reduce_huge(double x) {
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(x, &exponent), 53);
    uint32_t window[WINDOW_WORDS];
    take_window(exponent - 53 - 2 + ZEROS_BEFORE, window);
    multiply_window(window, mantissa); /* x 2/pi / 4 modulo 1 */
    int quadrant = (int)(window[0] >> 30);
    for (int i = 0; i < WINDOW_WORDS; i++) /* the fraction of the quarter turn */
        window[i] = window[i] << 2 | (i + 1 < WINDOW_WORDS ? window[i + 1] >> 30 : 0);
    int up = window[0] >> 31;
    if (up) /* nearer to the next quarter: minus what is missing */
        for (int i = 0; i < WINDOW_WORDS; i++)
            window[i] = ~window[i];
    rg_long r = rg_long_mul(fraction_of(window), half_pi);
    if (up)
        r = (rg_long){-r.hi, -r.lo};
    return (reduction){r, (quadrant + up) & 3};
}

static double kernel_sin(rg_long r) {
    static const double c[] = {
        -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368e3, 1.0 / 355687428096e3};
    double z = r.hi * r.hi;
    /* The derivative carries the low part: cos r is 1 - z/2 to what the low part can show. */
    return r.hi + (r.hi * (z * POLYNOMIAL(c, z)) + r.lo * (1 - 0.5 * z));
}

static double kernel_cos(rg_long r) {
    static const double c[] = {
        1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888e3, -1.0 / 6402373705728e3};
    double z = r.hi * r.hi, head = 1 - 0.5 * z;
    /* What the head lost in rounding goes to the tail. */
    return head + (((1 - head) - 0.5 * z) + (z * (z * POLYNOMIAL(c, z)) - r.hi * r.lo));
}

void rg_sin_cos(double x, double *sine, double *cosine) {
    if (!isfinite(x)) {
        *sine = *cosine = NAN;
        return;
    }
    double magnitude = fabs(x);
    reduction r;
    if (magnitude <= 0.5 * half_pi.hi)
        r = (reduction){{magnitude, 0}, 0};
    else if (magnitude <= REDUCE_IN_PARTS_LIMIT)
        r = reduce_in_parts(magnitude);
    else
        r = reduce_huge(magnitude);
    double s = kernel_sin(r.reduced), c = kernel_cos(r.reduced);
    double turned_s = r.quadrant & 1 ? c : s, turned_c = r.quadrant & 1 ? s : c;
    if (r.quadrant & 2)
        turned_s = -turned_s;
    if (r.quadrant == 1 || r.quadrant == 2)
        turned_c = -turned_c;
    *sine = signbit(x) ? -turned_s : turned_s; /* exactly odd, and cos exactly even */
    *cosine = turned_c;
}

double rg_sin(double x) {
    double sine, cosine;
    rg_sin_cos(x, &sine, &cosine);
    return sine;
}

double rg_cos(double x) {
    double sine, cosine;
    rg_sin_cos(x, &sine, &cosine);
    return cosine;
}

/* ------------------------------------------------------------------ arctangent */

/* atan(k/32), k = FIRST_ARC .. 32. */
enum { ARC_STEPS = 32, FIRST_ARC = 4 };
static const rg_long arcs[ARC_STEPS - FIRST_ARC + 1] = {
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59}, {0x1.3d6eee8c6626cp-3, 0x1.61a3b0ce9281bp-57},
    {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},  {0x1.b90d7529260a2p-3, 0x1.17b10d2e0e5abp-61},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},  {0x1.18bf5a30bf178p-2, 0x1.30ca4748b1bf9p-57},
    {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57}, {0x1.530ad9951cd4ap-2, -0x1.2566480884082p-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56}, {0x1.8b24d394a1b25p-2, 0x1.b6d0ba3748fa8p-56},
    {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56}, {0x1.c0db4c94ec9f0p-2, -0x1.cc1ce70934c34p-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},  {0x1.f40dd0b541418p-2, -0x1.a3992dc382a23p-57},
    {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56}, {0x1.1255d9bfbd2a9p-1, -0x1.2bdaee1c0ee35p-58},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58}, {0x1.2958e59308e31p-1, -0x1.09e73b0c6c087p-56},
    {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},  {0x1.3f13fb89e96f4p-1, 0x1.ecf8b492644f0p-56},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},  {0x1.538f57b89061fp-1, -0x1.1bb74abda520cp-55},
    {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},  {0x1.66d663923e087p-1, -0x1.6ea6febe8bbbap-56},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56}, {0x1.78f6bbd5d315ep-1, 0x1.406a089803740p-55},
    {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56}, {0x1.89ff5ff57f1f8p-1, -0x1.55b9a5e177a1bp-55},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};

/* atan t = t + t^3 tail(t^2); to 1e-18 for t <= 1/8. */
static double arc_tail(double z) {
    static const double c[] = {-1.0 / 3, 1.0 / 5,   -1.0 / 7, 1.0 / 9,  -1.0 / 11,
                               1.0 / 13, -1.0 / 15, 1.0 / 17, -1.0 / 19};
    return POLYNOMIAL(c, z);
}

/* atan of n/d, 0 <= n <= d, d > 0, both well inside the range of doubles. */
static rg_long arc_of_ratio(rg_long n, rg_long d) {
    double t = n.hi / d.hi;
    rg_long back = rg_long_product(t, d.hi);
    double t_low = (((n.hi - back.hi) - back.lo) + (n.lo - t * d.lo)) / d.hi;
    if (t < (double)FIRST_ARC / ARC_STEPS) {
        double z = t * t;
        return rg_long_normalised(t, t * (z * arc_tail(z)) + t_low * (1 - z));
    }
    /* atan t = atan c + atan((t - c) / (1 + c t)); t - c is exact. */
    int k = (int)floor(t * ARC_STEPS + 0.5);
    double c = (double)k / ARC_STEPS;
    double u = ((t - c) + t_low) / (1 + c * t), z = u * u;
    rg_long base = arcs[k - FIRST_ARC];
    return rg_long_normalised(base.hi, u + (u * (z * arc_tail(z)) + base.lo));
}

/* The angle of the point (x, y), y >= 0, given the arc of the smaller to the larger coordinate. */
static double turn_arc(rg_long arc, int steep, int left) {
    if (steep) /* from the y axis: pi/2 -+ arc */
        arc = left ? arc : (rg_long){-arc.hi, -arc.lo};
    else if (left)
        arc = (rg_long){-arc.hi, -arc.lo};
    else
        return arc.hi + arc.lo;
    double scale = steep ? 1 : 2;
    rg_long s = rg_long_normalised(scale * half_pi.hi, arc.hi);
    return s.hi + (s.lo + (scale * half_pi.lo + arc.lo));
}

/* Below this ratio the arc is the ratio, to 2^-60. */
#define TINY_RATIO 0x1p-30

double rg_atan2(double y, double x) {
    if (isnan(x) || isnan(y))
        return NAN;
    double n = fabs(y), d = fabs(x);
    int steep = n > d;
    if (steep) {
        double swap = n;
        n = d;
        d = swap;
    }
    rg_long arc;
    if (n == d) /* both infinite, both zero, or a true diagonal */
        arc = n == 0 ? (rg_long){0, 0} : arcs[ARC_STEPS - FIRST_ARC];
    else if (n / d < TINY_RATIO)
        arc = (rg_long){n / d, 0};
    else { /* to the middle of the range; powers of two change no bit */
        int exponent;
        d = frexp(d, &exponent);
        arc = arc_of_ratio((rg_long){ldexp(n, -exponent), 0}, (rg_long){d, 0});
    }
    double angle = turn_arc(arc, steep, signbit(x) != 0);
    return signbit(y) ? -angle : angle;
}

/* The angle of the point (x, sqrt((1 - x)(1 + x))), the root as a pair. */
double rg_acos(double x) {
    if (isnan(x))
        return NAN;
    if (x >= 1)
        return 0;
    if (x <= -1)
        return 2 * half_pi.hi;
    if (fabs(x) < TINY_RATIO) /* pi/2 - x: the cube is far below the last bit */
        return half_pi.hi + (half_pi.lo - x);
    rg_long p = rg_long_mul(rg_long_sum(1, -x), rg_long_sum(1, x));
    double root = sqrt(p.hi);
    rg_long square = rg_long_product(root, root);
    double root_low = (((p.hi - square.hi) - square.lo) + p.lo) / (2 * root);
    rg_long y = {root, root_low}, c = {fabs(x), 0};
    int steep = root > c.hi;
    return turn_arc(steep ? arc_of_ratio(c, y) : arc_of_ratio(y, c), steep, x < 0);
}

/* ------------------------------------------------------------------ exponential and logarithm */

/* ln 2: 40 bits, so that multiples up to 2^13 are exact, and the rest. */
static const rg_long ln_2 = {0x1.62e42fefa2p-1, 0x1.9ef35793c7673p-41};
#define LOG2_E        0x1.71547652b82fep+0
#define EXP_OVERFLOW  709.79  /* above, infinite */
#define EXP_UNDERFLOW -745.14 /* below, zero */
#define SQRT_HALF     0x1.6a09e667f3bcdp-1

double rg_exp(double x) {
    static const double c[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                               1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                               1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    if (isnan(x))
        return NAN;
    if (x > EXP_OVERFLOW)
        return INFINITY;
    if (x < EXP_UNDERFLOW)
        return 0;
    double k = floor(x * LOG2_E + 0.5);
    rg_long r = rg_long_normalised(x - k * ln_2.hi, -k * ln_2.lo); /* |r| <= ln 2 / 2 */
    rg_long head = rg_long_normalised(1, r.hi);
    double tail = r.hi * (r.hi * POLYNOMIAL(c, r.hi)) + r.lo;
    return ldexp(head.hi + (head.lo + tail), (int)k);
}

/* x = 2^k m, log x = k ln 2 + 2 artanh s, s = (m - 1) / (m + 1), |s| < 0.172. */
double rg_log(double x) {
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                               2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
    if (isnan(x) || x < 0)
        return NAN;
    if (x == 0)
        return -INFINITY;
    if (isinf(x))
        return x;
    int k;
    double m = frexp(x, &k);
    if (m < SQRT_HALF) {
        m *= 2;
        k--;
    }
    double f = m - 1;
    rg_long d = rg_long_sum(m, 1);
    double s = f / d.hi;
    rg_long back = rg_long_product(s, d.hi);
    double s_low = (((f - back.hi) - back.lo) - s * d.lo) / d.hi;
    double z = s * s;
    rg_long head = rg_long_sum(k * ln_2.hi, 2 * s);
    return head.hi + (head.lo + (s * (z * POLYNOMIAL(c, z)) + (2 * s_low + k * ln_2.lo)));
}

/* ------------------------------------------------------------------ roots */

/* fraction * 2^exponent, so that no power overflows. */
typedef struct scaled {
    rg_long fraction; /* high in [1/2, 1) */
    int64_t exponent;
} scaled;

static scaled scaled_times(scaled a, scaled b) {
    rg_long p = rg_long_mul(a.fraction, b.fraction);
    int shift;
    double high = frexp(p.hi, &shift);
    return (scaled){{high, ldexp(p.lo, -shift)}, a.exponent + b.exponent + shift};
}

static scaled scaled_power(double y, int n) {
    int exponent;
    double fraction = frexp(y, &exponent);
    scaled base = {{fraction, 0}, exponent}, power = {{0.5, 0}, 1};
    for (; n > 0; n /= 2) {
        if (n % 2)
            power = scaled_times(power, base);
        base = scaled_times(base, base);
    }
    return power;
}

double rg_root(double x, int n) {
    assert(n >= 1);
    if (isnan(x) || x < 0)
        return NAN;
    if (x == 0 || isinf(x) || n == 1)
        return x;
    if (n == 2)
        return sqrt(x);
    double y = rg_exp(rg_log(x) / n);
    /* One step of Newton's iteration, y + y (x / y^n - 1) / n, with the power as a pair: the start
     * is good to some hundred ulp, so that what is left after it is far below one. */
    scaled power = scaled_power(y, n);
    int exponent;
    double fraction = frexp(x, &exponent);
    double target = ldexp(fraction, (int)(exponent - power.exponent));
    double miss = (target - power.fraction.hi) - power.fraction.lo;
    return y + y * (miss / (power.fraction.hi * n));
}
