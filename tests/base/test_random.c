#include "test_support.h"

#include "base/base_hash.h"
#include "base/base_math.h"
#include "rigor/random.h"

#include <float.h>

/* SplitMix64 of 1234567 and xoshiro256** from the state 1, 2, 3, 4: the published first values. */
static void test_golden(void **state) {
    (void)state;
    rg_random random = rg_random_make(1234567);
    assert_true(random.state[0] == UINT64_C(6457827717110365317));
    assert_true(random.state[1] == UINT64_C(3203168211198807973));
    assert_true(random.state[2] == UINT64_C(9817491932198370423));
    assert_true(random.state[3] == UINT64_C(4593380528125082431));
    rg_random counted = {{1, 2, 3, 4}};
    static const uint64_t first[] = {11520,
                                     0,
                                     1509978240,
                                     1215971899390074240,
                                     1216172134540287360,
                                     607988272756665600,
                                     UINT64_C(16172922978634559625),
                                     UINT64_C(8476171486693032832)};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        assert_true(rg_random_next(&counted) == first[i]);
}

/* All distributions, as bits: the same for every compiler. */
static void test_golden_distributions(void **state) {
    (void)state;
    rg_random random = rg_random_make(0);
    uint64_t hash = rg_hash_begin();
    for (int i = 0; i < 1000; i++) {
        rg_vec3 d = rg_random_direction(&random);
        rg_quat q = rg_random_rotation(&random);
        double unit = rg_random_unit(&random), between = rg_random_between(&random, -3, 5);
        double normal = rg_random_normal(&random);
        double values[10] = {unit, between, normal, d.x, d.y, d.z, q.x, q.y, q.z, q.w};
        hash = rg_hash_doubles(hash, values, 10);
        hash = rg_hash_u64(hash, rg_random_below(&random, 1000));
    }
    if (hash != UINT64_C(0xBB427AAEAAA34890))
        fail_msg("hash 0x%016llX", (unsigned long long)hash);
}

static void test_copy_forks(void **state) {
    (void)state;
    rg_random a = rg_random_make(5), b;
    rg_random_normal(&a);
    b = a;
    for (int i = 0; i < 100; i++)
        assert_true(rg_random_normal(&a) == rg_random_normal(&b));
    rg_random other = rg_random_make(6);
    assert_true(rg_random_next(&a) != rg_random_next(&other));
}

static void test_unit_moments(void **state) {
    (void)state;
    enum { COUNT = 1000000 };
    rg_random random = rg_random_make(1);
    double sum = 0, squares = 0, neighbours = 0, before = 0.5, least = 1, most = 0;
    for (int i = 0; i < COUNT; i++) {
        double u = rg_random_unit(&random);
        assert_true(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
        neighbours += (u - 0.5) * (before - 0.5);
        before = u;
        least = fmin(least, u);
        most = fmax(most, u);
    }
    /* five standard deviations: sqrt(1/12), sqrt(4/45) and 1/12 over the root of the count */
    assert_near(sum / COUNT, 0.5, 5 * 0.2887e-3);
    assert_near(squares / COUNT, 1.0 / 3, 5 * 0.2981e-3);
    assert_near(neighbours / COUNT, 0, 5 * 0.0833e-3);
    assert_true(least < 1e-4 && most > 1 - 1e-4);
}

static void test_between(void **state) {
    (void)state;
    rg_random random = rg_random_make(2);
    double next = nextafter(1, 2);
    for (int i = 0; i < 10000; i++) {
        double value = rg_random_between(&random, -2, 3);
        assert_true(value >= -2 && value < 3);
        assert_true(rg_random_between(&random, 1, next) == 1); /* only one number is allowed */
        value = rg_random_between(&random, -DBL_MAX, DBL_MAX);
        assert_true(isfinite(value));
        value = rg_random_between(&random, 1e15, 1e15 + 1);
        assert_true(value >= 1e15 && value < 1e15 + 1);
    }
    assert_true(rg_random_between(&random, 4, 4) == 4);
}

static void test_below(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    enum { BINS = 10, COUNT = 100000 };
    int bins[BINS] = {0};
    for (int i = 0; i < COUNT; i++)
        bins[rg_random_below(&random, BINS)]++;
    double chi = 0, expected = (double)COUNT / BINS;
    for (int i = 0; i < BINS; i++)
        chi += (bins[i] - expected) * (bins[i] - expected) / expected;
    assert_true(chi < 33.7); /* 9 degrees of freedom: 1e-4 of all seeds would be above */
    /* A bound of 3/4 of the range: taking the remainder alone would put 2/3 into the lower half of
     * [0, bound), which is a third too many. */
    uint64_t bound = UINT64_C(3) << 62;
    int low = 0;
    for (int i = 0; i < COUNT; i++) {
        uint64_t value = rg_random_below(&random, bound);
        assert_true(value < bound);
        low += value < bound / 3;
    }
    assert_near((double)low / COUNT, 1.0 / 3, 5 * 0.0015);
    for (int i = 0; i < 100; i++) {
        assert_true(rg_random_below(&random, 1) == 0);
        assert_true(rg_random_below(&random, UINT64_MAX) < UINT64_MAX);
        assert_true(rg_random_below(&random, UINT64_C(1) << 63) < UINT64_C(1) << 63);
    }
}

static void test_normal(void **state) {
    (void)state;
    enum { COUNT = 400000 };
    rg_random random = rg_random_make(4);
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    int beyond = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = rg_random_normal(&random);
        m1 += x;
        m2 += x * x;
        m3 += x * x * x;
        m4 += x * x * x * x;
        beyond += fabs(x) > 2;
    }
    double root = sqrt(COUNT); /* five standard deviations of each moment */
    assert_near(m1 / COUNT, 0, 5 / root);
    assert_near(m2 / COUNT, 1, 5 * sqrt(2) / root);
    assert_near(m3 / COUNT, 0, 5 * sqrt(15) / root);
    assert_near(m4 / COUNT, 3, 5 * sqrt(96) / root);
    assert_near((double)beyond / COUNT, 0.0455003, 5 * 0.2084 / root);
}

static void test_direction_and_rotation(void **state) {
    (void)state;
    enum { COUNT = 100000, BINS = 20 };
    rg_random random = rg_random_make(5);
    rg_vec3 mean = {0, 0, 0}, turned_mean = {0, 0, 0};
    int bins[3][BINS] = {{0}};
    double angles = 0;
    for (int i = 0; i < COUNT; i++) {
        rg_vec3 d = rg_random_direction(&random);
        assert_near(rg_length_squared(d), 1, 1e-15);
        mean = rg_add(mean, d);
        const double parts[3] = {d.x, d.y, d.z}; /* each is uniform in [-1, 1] (Archimedes) */
        for (int k = 0; k < 3; k++) {
            int bin = (int)((parts[k] + 1) / 2 * BINS);
            bins[k][bin < BINS ? bin : BINS - 1]++;
        }
        rg_quat q = rg_random_rotation(&random);
        assert_near(rg_quat_norm_squared(q), 1, 2e-15);
        turned_mean = rg_add(turned_mean, rg_rotate(q, rg_vec3_make(0.6, 0, 0.8)));
        angles += 2 * acos(fmin(fabs(q.w), 1));
    }
    double allowed = 5 * sqrt(1.0 / 3 / COUNT);
    assert_true(rg_largest_entry(mean) / COUNT < allowed);
    assert_true(rg_largest_entry(turned_mean) / COUNT < allowed);
    /* The mean angle of a uniform rotation is pi/2 + 2/pi; its deviation about 0.65. */
    assert_near(angles / COUNT, RG_PI / 2 + 2 / RG_PI, 5 * 0.65 / sqrt(COUNT));
    for (int k = 0; k < 3; k++) {
        double chi = 0, expected = (double)COUNT / BINS;
        for (int i = 0; i < BINS; i++)
            chi += (bins[k][i] - expected) * (bins[k][i] - expected) / expected;
        assert_true(chi < 52); /* 19 degrees of freedom: 1e-4 */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),     cmocka_unit_test(test_golden_distributions),
        cmocka_unit_test(test_copy_forks), cmocka_unit_test(test_unit_moments),
        cmocka_unit_test(test_between),    cmocka_unit_test(test_below),
        cmocka_unit_test(test_normal),     cmocka_unit_test(test_direction_and_rotation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
