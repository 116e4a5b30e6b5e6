/* Elementary functions against the C library's long double ones (64 bits or more), in units in the
 * last place; known values where the argument is huge; a hash of the bits, which every compiler
 * must give. */
#include "test_support.h"

#include "base/base_hash.h"
#include "base/base_math.h"
#include "base/base_trig.h"
#include "rigor/random.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* |value - exact| in units of the last place of a double at `exact`. */
static double ulps(double value, long double exact) {
    if (isnan(value) || isnan(exact))
        return isnan(value) && isnan(exact) ? 0 : HUGE_VAL;
    if ((long double)value == exact)
        return 0;
    int exponent;
    frexpl(exact, &exponent);
    if (exponent < DBL_MIN_EXP)
        exponent = DBL_MIN_EXP; /* subnormal: the spacing no longer shrinks */
    return (double)(fabsl((long double)value - exact) / ldexpl(1, exponent - DBL_MANT_DIG));
}

typedef struct range {
    const char *name;
    double (*function)(double);
    long double (*reference)(long double);
    double low, high;
    bool logarithmic; /* spread evenly over the powers of ten */
    double bound;     /* ulp */
} range;

static double sample(const range *r, rg_random *random) {
    if (r->logarithmic)
        return pow(10, rg_random_between(random, log10(r->low), log10(r->high)));
    return rg_random_between(random, r->low, r->high);
}

static void test_ranges(void **state) {
    (void)state;
    static const range ranges[] = {
        {"sin", rg_sin, sinl, -0.8, 0.8, false, 0.75},
        {"sin", rg_sin, sinl, -10, 10, false, 0.85},
        {"sin", rg_sin, sinl, -1.6e6, 1.6e6, false, 0.85},
        {"sin", rg_sin, sinl, 1.6e6, 1e300, true, 0.85},
        {"sin", rg_sin, sinl, 1e-300, 1, true, 0.75},
        {"cos", rg_cos, cosl, -0.8, 0.8, false, 0.85},
        {"cos", rg_cos, cosl, -10, 10, false, 0.85},
        {"cos", rg_cos, cosl, -1.6e6, 1.6e6, false, 0.85},
        {"cos", rg_cos, cosl, 1.6e6, 1e300, true, 0.85},
        {"acos", rg_acos, acosl, -1, 1, false, 0.6},
        {"acos", rg_acos, acosl, 1e-300, 1, true, 0.6},
        {"exp", rg_exp, expl, -1, 1, false, 0.7},
        {"exp", rg_exp, expl, -708, 709, false, 0.7},
        {"exp", rg_exp, expl, -745, -708, false, 1.2},
        {"exp", rg_exp, expl, 1e-300, 1, true, 0.7},
        {"log", rg_log, logl, 0.5, 2, false, 0.6},
        {"log", rg_log, logl, 0.999, 1.001, false, 0.6},
        {"log", rg_log, logl, 1e-307, 1e308, true, 0.6},
        {"log", rg_log, logl, 1e-323, 1e-307, true, 0.6},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        rg_random random = rg_random_make(i);
        double worst = 0, where = 0;
        for (int k = 0; k < 100000; k++) {
            double x = sample(&ranges[i], &random);
            double error = ulps(ranges[i].function(x), ranges[i].reference(x));
            if (error > worst) {
                worst = error;
                where = x;
            }
        }
        print_message("%-5s [%g, %g]: %.3f ulp\n", ranges[i].name, ranges[i].low, ranges[i].high,
                      worst);
        if (worst > ranges[i].bound)
            fail_msg("%s(%.17g): %.3f ulp, allowed %.3f", ranges[i].name, where, worst,
                     ranges[i].bound);
    }
}

/* The doubles next to multiples of pi/2, where the argument cancels. */
static void test_cancellation(void **state) {
    (void)state;
    double worst = 0;
    for (double k = 1; k < 1e15; k = k < 2000 ? k + 1 : floor(k * 1.003)) {
        double x = (double)((long double)k * 1.57079632679489661923132169163975144L);
        for (int j = -1; j <= 1; j++) {
            double near = j < 0 ? nextafter(x, 0) : j > 0 ? nextafter(x, 2 * x) : x;
            worst = fmax(worst, ulps(rg_sin(near), sinl(near)));
            worst = fmax(worst, ulps(rg_cos(near), cosl(near)));
        }
    }
    print_message("next to multiples of pi/2: %.3f ulp\n", worst);
    assert_true(worst < 0.85);
}

/* Correctly rounded values from 4000-bit arithmetic. The fourth is the double that comes nearest of
 * all to a multiple of pi/2. */
static void test_known_values(void **state) {
    (void)state;
    static const struct {
        double x, sine, cosine;
    } known[] = {
        {1e22, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1},
        {1e300, -0x1.a2c16b010e385p-1, -0x1.2699022adc4c1p-1},
        {DBL_MAX, 0x1.452fc98b34e97p-8, -0x1.fffe62ecfab75p-1},
        {0x1.6ac5b262ca1ffp+849, 1, -0x1.14ae72e6ba22fp-61},
        {0x1p1000, -0x1.460b8ae1c886ep-3, 0x1.f9785160c8815p-1},
        {1600000, -0x1.153286220550fp-1, 0x1.ae78ad815d7c4p-1},
        {0x1.86a0000000001p+20, -0x1.1532862056d84p-1, 0x1.ae78ad8272aecp-1},
        {RG_PI, 0x1.1a62633145c07p-53, -1},
        {RG_PI / 2, 1, 0x1.1a62633145c07p-54},
        {710, 0x1.f9bd0303f6fafp-15, 0x1.fffffff06393p-1},
        {0x1.0000000000001p+53, -0x1.04b40dd7d9a6ap-3, 0x1.fbd5b0b6def11p-1},
        {123456789012, -0x1.4dec523f29992p-4, -0x1.fe4bb5745f9b1p-1},
    };
    assert_near(rg_sin(1e22), -0.8522008497671888, 0);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        double sine, cosine;
        rg_sin_cos(known[i].x, &sine, &cosine);
        assert_true(ulps(sine, known[i].sine) <= 1);
        assert_true(ulps(cosine, known[i].cosine) <= 1);
        double minus_sine, same_cosine;
        rg_sin_cos(-known[i].x, &minus_sine, &same_cosine);
        assert_true(minus_sine == -sine && same_cosine == cosine);
    }
}

static void test_sin_cos_special(void **state) {
    (void)state;
    assert_true(rg_sin(0.0) == 0 && !signbit(rg_sin(0.0)) && signbit(rg_sin(-0.0)));
    assert_true(rg_cos(0.0) == 1 && rg_cos(-0.0) == 1);
    assert_true(rg_sin(DBL_TRUE_MIN) == DBL_TRUE_MIN && rg_sin(1e-300) == 1e-300);
    assert_true(isnan(rg_sin(INFINITY)) && isnan(rg_cos(-INFINITY)) && isnan(rg_sin(NAN)));
    rg_random random = rg_random_make(3);
    for (int i = 0; i < 100000; i++) { /* a rotation stays one */
        double sine, cosine, x = rg_random_between(&random, -1e4, 1e4);
        rg_sin_cos(x, &sine, &cosine);
        assert_near(sine * sine + cosine * cosine, 1, 4.5e-16);
        assert_true(sine == rg_sin(x) && cosine == rg_cos(x));
    }
}

static void test_atan2(void **state) {
    (void)state;
    rg_random random = rg_random_make(4);
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        double size = i % 2 ? 1 : pow(10, rg_random_between(&random, -12, 12));
        double shift = i % 3 ? 1 : pow(10, rg_random_between(&random, -280, 280));
        double y = shift * rg_random_between(&random, -1, 1);
        double x = shift * size * rg_random_between(&random, -1, 1);
        worst = fmax(worst, ulps(rg_atan2(y, x), atan2l(y, x)));
        assert_true(rg_atan2(-y, x) == -rg_atan2(y, x));
    }
    print_message("atan2: %.3f ulp\n", worst);
    assert_true(worst < 0.7);
}

static void test_atan2_special(void **state) {
    (void)state;
    const double values[] = {
        0.0,           -0.0,    1,        -1,      INFINITY, -INFINITY, DBL_TRUE_MIN,
        -DBL_TRUE_MIN, DBL_MAX, -DBL_MAX, DBL_MIN, 1e-300,   3,         -4};
    size_t count = sizeof values / sizeof values[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            double angle = rg_atan2(values[i], values[j]);
            assert_true(ulps(angle, atan2l(values[i], values[j])) <= 1);
            assert_true(!signbit(angle) == !signbit(values[i]));
        }
    assert_true(rg_atan2(1, 0) == RG_PI / 2 && rg_atan2(0.0, -1) == RG_PI &&
                rg_atan2(1, 1) == RG_PI / 4);
    assert_true(isnan(rg_atan2(NAN, 1)) && isnan(rg_atan2(1, NAN)));
}

static void test_other_special(void **state) {
    (void)state;
    assert_true(rg_acos(1) == 0 && rg_acos(-1) == RG_PI && rg_acos(0.0) == RG_PI / 2);
    assert_true(rg_acos(1.0000001) == 0 && rg_acos(-INFINITY) == RG_PI && isnan(rg_acos(NAN)));
    for (int k = 1; k < 60; k++) { /* next to the ends, where the root of the difference counts */
        double x = 1 - ldexp(1, -k);
        assert_true(ulps(rg_acos(x), acosl(x)) < 0.6 && ulps(rg_acos(-x), acosl(-x)) < 0.6);
    }
    assert_true(rg_exp(0.0) == 1 && rg_exp(-0.0) == 1 && rg_exp(-INFINITY) == 0);
    assert_true(isinf(rg_exp(INFINITY)) && isinf(rg_exp(709.79)) && isinf(rg_exp(1e300)));
    assert_true(isfinite(rg_exp(709.78)) && rg_exp(-745.14) == 0 && rg_exp(-745.13) > 0);
    assert_true(isnan(rg_exp(NAN)));
    assert_true(rg_log(1) == 0 && isnan(rg_log(-1)) && rg_log(0.0) == -INFINITY);
    assert_true(rg_log(-0.0) == -INFINITY && isinf(rg_log(INFINITY)) && isnan(rg_log(NAN)));
}

static void test_root(void **state) {
    (void)state;
    for (int n = 1; n <= 12; n++)
        for (int y = 0; y <= 16; y++) {
            double x = 1;
            for (int k = 0; k < n; k++)
                x *= y;
            assert_near(rg_root(x, n), y, 0); /* 16^12 = 2^48: exact */
        }
    rg_random random = rg_random_make(5);
    static const int degrees[] = {2, 3, 4, 5, 6, 7, 17, 100, 1000, 1000003};
    double worst = 0;
    for (size_t k = 0; k < sizeof degrees / sizeof degrees[0]; k++)
        for (int i = 0; i < 20000; i++) {
            double x = pow(10, rg_random_between(&random, -307, 308));
            long double exact = powl(x, 1.0L / degrees[k]);
            /* powl with a rounded exponent is off by some ulp of 64 bits when x is far from 1: one
             * Newton step in long double; x^(1/n) needs only the residual. */
            long double power = powl(exact, degrees[k]);
            exact -= exact * ((power - x) / x) / degrees[k];
            worst = fmax(worst, ulps(rg_root(x, degrees[k]), exact));
        }
    print_message("root: %.3f ulp\n", worst);
    assert_true(worst < 0.55);
    assert_true(rg_root(0, 3) == 0 && isinf(rg_root(INFINITY, 3)) && isnan(rg_root(-1, 3)));
    assert_true(isnan(rg_root(NAN, 3)) && rg_root(DBL_TRUE_MIN, 2) == ldexp(1, -537));
    assert_near(rg_root(DBL_TRUE_MIN, 3) * 0x1p358, 1, 0); /* 2^-1074 = (2^-358)^3 */
    assert_near(rg_root(0x1p1023, 3), 0x1p341, 0);
    assert_near(rg_root(2, INT32_MAX), 1 + log(2) / INT32_MAX, 2.3e-16);
}

/* The same bits from every compiler: the number was made once and is the same for gcc and clang,
 * with and without optimisation. */
static void test_golden_bits(void **state) {
    (void)state;
    rg_random random = rg_random_make(2024);
    uint64_t hash = rg_hash_begin();
    for (int i = 0; i < 20000; i++) {
        double u = rg_random_between(&random, -1, 1), v = rg_random_between(&random, -1, 1);
        double big = ldexp(v, (int)rg_random_below(&random, 1000));
        double values[11] = {rg_sin(u),
                             rg_cos(u),
                             rg_sin(1000 * u),
                             rg_cos(1000 * u),
                             rg_sin(big),
                             rg_cos(big),
                             rg_atan2(u, v),
                             rg_acos(u),
                             rg_exp(30 * u),
                             rg_log(fabs(big)),
                             rg_root(fabs(v), 3 + i % 5)};
        hash = rg_hash_doubles(hash, values, 11);
    }
    if (hash != UINT64_C(0x19B5FF38967C8191))
        fail_msg("hash 0x%016llX", (unsigned long long)hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),        cmocka_unit_test(test_cancellation),
        cmocka_unit_test(test_known_values),  cmocka_unit_test(test_sin_cos_special),
        cmocka_unit_test(test_atan2),         cmocka_unit_test(test_atan2_special),
        cmocka_unit_test(test_other_special), cmocka_unit_test(test_root),
        cmocka_unit_test(test_golden_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
