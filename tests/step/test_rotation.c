/* The energy-momentum rotation: what it keeps, its order, its exact cases, its limit. */
#include "test_support.h"

#include "rigor/random.h"
#include "step/step_rotation.h"

#include <float.h>

static rg_vec3 inverse(rg_vec3 v) {
    return (rg_vec3){1 / v.x, 1 / v.y, 1 / v.z};
}

static double energy(rg_vec3 inertia, rg_vec3 momentum, rg_quat q) {
    rg_vec3 pi = rg_rotate_back(q, momentum);
    return 0.5 * rg_dot(pi, rg_times(inverse(inertia), pi));
}

static rg_status turn(rg_vec3 inertia, rg_vec3 momentum, double h, rg_quat *q) {
    return rg_rotation_advance(&(rg_rotation){inertia, inverse(inertia), momentum, q}, h);
}

static void advance(rg_vec3 inertia, rg_vec3 momentum, double h, int count, rg_quat *q) {
    for (int i = 0; i < count; i++)
        assert_int_equal(turn(inertia, momentum, h, q), RG_OK);
}

static void energy_is_kept(void **state) {
    (void)state;
    rg_random random = rg_random_make(7);
    double worst = 0;
    for (int trial = 0; trial < 300; trial++) {
        double a = rg_random_between(&random, 0.1, 1), b = rg_random_between(&random, 0.1, 1);
        rg_vec3 inertia = {a + b, a + rg_random_between(&random, 0.01, 1) * b, b + 0.5 * a};
        rg_vec3 momentum =
            rg_scale(rg_random_between(&random, 0.01, 30), rg_random_direction(&random));
        rg_quat q = rg_random_rotation(&random);
        double before = energy(inertia, momentum, q);
        advance(inertia, momentum, rg_random_between(&random, 1e-4, 0.1), 100, &q);
        worst = fmax(worst, fabs(energy(inertia, momentum, q) / before - 1));
        assert_near(rg_quat_norm_squared(q), 1, 4 * DBL_EPSILON);
    }
    print_message("largest relative change of energy in 100 steps: %.3g\n", worst);
    assert_true(worst < 1e-13);
}

/* Turning about a principal axis, and any turning of a ball, is exact whatever the step. */
static void steady_rotation_is_exact(void **state) {
    (void)state;
    for (double h = 1e-3; h < 2; h *= 3) {
        rg_quat q = rg_quat_identity(), ball = rg_quat_identity();
        advance((rg_vec3){1, 2, 3}, (rg_vec3){0, 0, 6}, h, 10, &q);
        rg_quat exact = rg_quat_of_rotation_vector((rg_vec3){0, 0, 20 * h});
        double sign = q.w * exact.w + q.z * exact.z < 0 ? -1 : 1;
        assert_near(q.z, sign * exact.z, 1e-13);
        assert_near(q.w, sign * exact.w, 1e-13);
        rg_vec3 w = {0.3, -0.4, 1.2};
        advance((rg_vec3){2, 2, 2}, rg_scale(2, w), h, 1, &ball);
        exact = rg_quat_of_rotation_vector(rg_scale(h, w));
        assert_near(ball.x, exact.x, 1e-14);
        assert_near(ball.w, exact.w, 1e-14);
    }
}

static double error_against_fine(double h, int count) {
    rg_vec3 inertia = {1, 2, 3}, momentum = {0.8, 0.1, 1.8};
    rg_quat coarse = rg_quat_identity(), fine = rg_quat_identity();
    advance(inertia, momentum, h, count, &coarse);
    advance(inertia, momentum, h / 64, 64 * count, &fine);
    return fabs(coarse.x - fine.x) + fabs(coarse.y - fine.y) + fabs(coarse.z - fine.z);
}

static void it_is_of_second_order(void **state) {
    (void)state;
    double order = log2(error_against_fine(0.1, 20) / error_against_fine(0.05, 40));
    assert_near(order, 2, 0.1);
}

static void too_fast_is_refused(void **state) {
    (void)state;
    rg_vec3 inertia = {1, 2, 3};
    rg_quat q = rg_quat_identity();
    assert_int_equal(turn(inertia, (rg_vec3){1e6, 1e6, 1}, 1, &q), RG_ITERATION_LIMIT);
    assert_true(q.w == 1);
    assert_int_equal(turn(inertia, (rg_vec3){0, 0, 0}, 1, &q), RG_OK);
    assert_true(q.w == 1);
    /* Needles and plates, large and small. */
    for (double s = 1e-18; s < 1e19; s *= 1e6) {
        q = rg_quat_identity();
        rg_vec3 needle = rg_scale(s, (rg_vec3){1, 1, 1e-8}),
                plate = rg_scale(s, (rg_vec3){1, 1, 2});
        assert_int_equal(turn(needle, rg_scale(s, (rg_vec3){1, 1, 1e-9}), 0.01, &q), RG_OK);
        assert_int_equal(turn(plate, rg_scale(s, (rg_vec3){1, 1, 1}), 0.01, &q), RG_OK);
    }
}

/* Inertias from those of a box of 1e-50 m to one of 1e50 m; powers of two, so bit for bit. */
static void bodies_of_any_size_turn_alike(void **state) {
    (void)state;
    rg_vec3 inertia = {1, 2, 2.5}, momentum = {1, 2, 3};
    rg_quat one = {0, 0, 0, 1};
    advance(inertia, momentum, 0.01, 20, &one);
    for (int exponent = -800; exponent <= 800; exponent += 100) {
        double s = ldexp(1, exponent);
        rg_quat q = {0, 0, 0, 1};
        advance(rg_scale(s, inertia), rg_scale(s, momentum), 0.01, 20, &q);
        assert_memory_equal(&q, &one, sizeof q);
    }
}

/* Slow and fast ones, needles, balls, what does not turn and what turns too fast, in all pairs. */
static void two_turn_as_each_by_itself(void **state) {
    (void)state;
    enum { BODIES = 60 };
    rg_random random = rg_random_make(11);
    rg_vec3 inertia[BODIES], momentum[BODIES];
    for (int i = 0; i < BODIES; i++) {
        rg_vec3 box = {rg_random_between(&random, 1, 2), rg_random_between(&random, 1, 2),
                       i % 5 == 0 ? 1e-6 : rg_random_between(&random, 1, 2)};
        double speed = i % 7 == 0 ? 0 : pow(10, rg_random_between(&random, -6, i % 11 ? 2 : 7));
        inertia[i] = i % 6 == 0 ? (rg_vec3){2, 2, 2} : box;
        momentum[i] = rg_scale(speed, rg_random_direction(&random));
    }
    for (int k = 0; k < BODIES * BODIES; k++) {
        const int of[2] = {k / BODIES, k % BODIES};
        rg_quat together[2], alone[2];
        rg_rotation two[2];
        rg_status status[2];
        for (int i = 0; i < 2; i++) {
            together[i] = alone[i] = rg_quat_normalised(rg_quat_make(0.1 * i, 0.2, 0.3, 1));
            two[i] = (rg_rotation){inertia[of[i]], inverse(inertia[of[i]]), momentum[of[i]],
                                   &together[i]};
        }
        rg_rotation_advance_two(two, 0.01, status);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(turn(inertia[of[i]], momentum[of[i]], 0.01, &alone[i]), status[i]);
            assert_memory_equal(&alone[i], &together[i], sizeof alone[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_is_kept),           cmocka_unit_test(two_turn_as_each_by_itself),
        cmocka_unit_test(steady_rotation_is_exact), cmocka_unit_test(it_is_of_second_order),
        cmocka_unit_test(too_fast_is_refused),      cmocka_unit_test(bodies_of_any_size_turn_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
