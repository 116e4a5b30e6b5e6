/* Random numbers from a seed.
 *
 * Method: xoshiro256** (Blackman and Vigna 2021), its state filled from the seed by SplitMix64
 * (Steele, Lea and Flood 2014), which never gives the forbidden all-zero state. Distributions by
 * rejection and square roots; the only other function is our own logarithm, so the same seed gives
 * the same numbers on every machine.
 * Fails: never. */
#include "rigor/random.h"

#include "base/base_trig.h"

#include <assert.h>
#include <math.h>

static uint64_t split_mix(uint64_t *state) {
    *state += UINT64_C(0x9E3779B97F4A7C15); /* 2^64 over the golden ratio */
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

rg_random rg_random_make(uint64_t seed) {
    rg_random random;
    for (int i = 0; i < 4; i++)
        random.state[i] = split_mix(&seed);
    return random;
}

static uint64_t rotate_left(uint64_t word, int bits) {
    return word << bits | word >> (64 - bits);
}

uint64_t rg_random_next(rg_random *random) {
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double rg_random_unit(rg_random *random) {
    return (double)(rg_random_next(random) >> 11) * 0x1p-53;
}

double rg_random_between(rg_random *random, double low, double high) {
    assert(low <= high);
    double value;
    /* Rounding may give `high` itself, which the range leaves out: then draw again. */
    do {
        double u = rg_random_unit(random);
        double span = high - low;
        value = isfinite(span) ? low + span * u : low * (1 - u) + high * u;
    } while (value >= high && low < high);
    return value;
}

uint64_t rg_random_below(rg_random *random, uint64_t bound) {
    assert(bound > 0);
    /* 2^64 mod bound values too many would favour the small results: those are drawn again. */
    uint64_t surplus = (UINT64_MAX - bound + 1) % bound, word;
    do
        word = rg_random_next(random);
    while (word < surplus);
    return word % bound;
}

/* A point of the unit disc, uniform, not the centre; returns its squared distance from it. */
static double point_in_disc(rg_random *random, double *x, double *y) {
    double square;
    do {
        *x = 2 * rg_random_unit(random) - 1;
        *y = 2 * rg_random_unit(random) - 1;
        square = *x * *x + *y * *y;
    } while (square >= 1 || square == 0);
    return square;
}

/* Marsaglia's polar method; its second value is thrown away, because keeping it would be state. */
double rg_random_normal(rg_random *random) {
    double x, y, square = point_in_disc(random, &x, &y);
    return x * sqrt(-2 * rg_log(square) / square);
}

/* Marsaglia 1972: the square is uniform, and so is the height of a point on the sphere. */
rg_vec3 rg_random_direction(rg_random *random) {
    double x, y, square = point_in_disc(random, &x, &y), root = 2 * sqrt(1 - square);
    return (rg_vec3){root * x, root * y, 1 - 2 * square};
}

/* Uniform on the sphere in four dimensions (Marsaglia 1972), which is uniform over rotations. */
rg_quat rg_random_rotation(rg_random *random) {
    double x, y, z, w;
    double first = point_in_disc(random, &x, &y), second = point_in_disc(random, &z, &w);
    double scale = sqrt((1 - first) / second);
    return (rg_quat){x, y, scale * z, scale * w};
}
