#include "test_support.h"

#include "base/base_math.h"
#include "base/base_trig.h"
#include "rigor/random.h"

#include <float.h>

static void assert_vec_near(rg_vec3 a, rg_vec3 b, double tolerance) {
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

/* The same rotation: q or -q. */
static void assert_quat_near(rg_quat a, rg_quat b, double tolerance) {
    double dot = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w, s = dot < 0 ? -1 : 1;
    assert_near(a.x, s * b.x, tolerance);
    assert_near(a.y, s * b.y, tolerance);
    assert_near(a.z, s * b.z, tolerance);
    assert_near(a.w, s * b.w, tolerance);
}

static rg_vec3 random_vec(rg_random *random) {
    return (rg_vec3){rg_random_between(random, -2, 2), rg_random_between(random, -2, 2),
                     rg_random_between(random, -2, 2)};
}

static void test_vectors(void **state) {
    (void)state;
    rg_vec3 a = rg_vec3_make(1, -2, 3), b = {4, 5, -6};
    assert_vec_near(rg_add(a, b), rg_vec3_make(5, 3, -3), 0);
    assert_vec_near(rg_sub(a, b), rg_vec3_make(-3, -7, 9), 0);
    assert_vec_near(rg_neg(a), rg_vec3_make(-1, 2, -3), 0);
    assert_vec_near(rg_scale(2, a), rg_vec3_make(2, -4, 6), 0);
    assert_vec_near(rg_add_scaled(a, 10, b), rg_vec3_make(41, 48, -57), 0);
    assert_near(rg_dot(a, b), -24, 0);
    assert_vec_near(rg_cross(a, b), rg_vec3_make(-3, 18, 13), 0);
    assert_vec_near(rg_cross(rg_vec3_make(1, 0, 0), rg_vec3_make(0, 1, 0)), rg_vec3_make(0, 0, 1),
                    0);
    assert_vec_near(rg_times(a, b), rg_vec3_make(4, -10, -18), 0);
    assert_vec_near(rg_min(a, b), rg_vec3_make(1, -2, -6), 0);
    assert_vec_near(rg_max(a, b), rg_vec3_make(4, 5, 3), 0);
    assert_near(rg_largest_entry(b), 6, 0);
    assert_near(rg_max3(1, 3, 2), 3, 0);
    assert_near(rg_min3(2, 3, 1), 1, 0);
    assert_true(rg_is_finite(a));
    assert_false(rg_is_finite(rg_vec3_make(0, NAN, 0)));
    assert_false(rg_is_finite(rg_vec3_make(0, 0, INFINITY)));
}

static void test_length_at_every_scale(void **state) {
    (void)state;
    for (int e = -1040; e <= 1020; e += 20) {
        double s = ldexp(1, e);
        assert_near(rg_length(rg_vec3_make(2 * s, -3 * s, 6 * s)) / s, 7, 2e-15);
        rg_vec3 unit = rg_normalised(rg_vec3_make(2 * s, -3 * s, 6 * s));
        assert_vec_near(unit, rg_vec3_make(2.0 / 7, -3.0 / 7, 6.0 / 7), 4e-16);
    }
    assert_near(rg_length(rg_vec3_make(0, 0, 0)), 0, 0);
    assert_near(rg_length(rg_vec3_make(0, -DBL_TRUE_MIN, 0)), DBL_TRUE_MIN, 0);
    assert_true(isinf(rg_length(rg_vec3_make(1, -INFINITY, 0))));
    assert_vec_near(rg_normalised(rg_vec3_make(0, 0, 0)), rg_vec3_make(0, 0, 0), 0);
}

static void test_rotation(void **state) {
    (void)state;
    rg_random random = rg_random_make(1);
    for (int i = 0; i < 2000; i++) {
        rg_quat q = rg_random_rotation(&random), p = rg_random_rotation(&random);
        rg_vec3 v = random_vec(&random), u = random_vec(&random);
        rg_mat3 r = rg_mat3_of_quat(q);
        assert_vec_near(rg_rotate(q, v), rg_mat3_apply(&r, v), 4e-15);
        rg_quat sandwich = rg_quat_multiply(rg_quat_multiply(q, (rg_quat){v.x, v.y, v.z, 0}),
                                            rg_quat_conjugate(q)); /* the definition, q v q* */
        assert_vec_near(rg_rotate(q, v), rg_vec3_make(sandwich.x, sandwich.y, sandwich.z), 4e-15);
        assert_vec_near(rg_rotate_back(q, rg_rotate(q, v)), v, 6e-15);
        assert_vec_near(rg_rotate(rg_quat_multiply(p, q), v), rg_rotate(p, rg_rotate(q, v)), 6e-15);
        assert_near(rg_dot(rg_rotate(q, u), rg_rotate(q, v)), rg_dot(u, v), 3e-14);
        assert_vec_near(rg_cross(rg_rotate(q, u), rg_rotate(q, v)), rg_rotate(q, rg_cross(u, v)),
                        4e-14);
        assert_quat_near(rg_quat_of_mat3(&r), q, 2e-15);
        rg_mat3 inverse = rg_mat3_transpose(&r), product = rg_mat3_multiply(&r, &inverse);
        for (int k = 0; k < 9; k++)
            assert_near(product.m[k / 3][k % 3], k % 4 == 0, 2e-15);
    }
}

/* Every branch of the largest component, the half turns among them, where the trace is -1. */
static void test_quat_of_mat3_branches(void **state) {
    (void)state;
    static const rg_quat cases[] = {
        {0, 0, 0, 1},           {1, 0, 0, 0},         {0, 1, 0, 0},          {0, 0, 1, 0},
        {0.6, 0.8, 0, 0},       {0, 0.6, 0.8, 0},     {0.8, 0, 0.6, 0},      {0.5, 0.5, 0.5, 0.5},
        {0.5, -0.5, 0.5, -0.5}, {0.1, 0.1, 0.7, 0.7}, {0.7, 0.1, 0.1, 1e-9}, {1e-9, 0.7, 1e-9, 0.1},
        {1e-12, 0, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_quat q = rg_quat_normalised(cases[i]);
        rg_mat3 r = rg_mat3_of_quat(q);
        assert_quat_near(rg_quat_of_mat3(&r), q, 4e-16);
    }
    rg_mat3 identity = rg_mat3_identity();
    rg_quat q = rg_quat_of_mat3(&identity);
    assert_true(q.x == 0 && q.y == 0 && q.z == 0 && q.w == 1);
}

static void test_rotation_vector(void **state) {
    (void)state;
    rg_quat none = rg_quat_of_rotation_vector(rg_vec3_make(0, 0, 0));
    assert_true(none.x == 0 && none.y == 0 && none.z == 0 && none.w == 1);
    rg_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    rg_quat quarter = rg_quat_of_rotation_vector(rg_scale(RG_PI / 2, z));
    assert_vec_near(rg_rotate(quarter, x), y, 3e-16); /* right-handed */
    rg_random random = rg_random_make(2);
    for (int i = 0; i < 2000; i++) {
        rg_vec3 axis = rg_random_direction(&random);
        double angle =
            ldexp(rg_random_between(&random, 1, 2), (int)rg_random_below(&random, 63) - 60);
        rg_quat q = rg_quat_of_rotation_vector(rg_scale(angle, axis));
        assert_near(rg_quat_norm_squared(q), 1, 2e-15);
        /* Rodrigues' formula on some vector. */
        rg_vec3 v = random_vec(&random), expected = rg_scale(rg_cos(angle), v);
        expected = rg_add_scaled(expected, rg_sin(angle), rg_cross(axis, v));
        expected = rg_add_scaled(expected, (1 - rg_cos(angle)) * rg_dot(axis, v), axis);
        assert_vec_near(rg_rotate(q, v), expected, 2e-14);
        if (angle < 3) /* relative, because it may be tiny */
            assert_near(q.x / (axis.x * rg_sin(0.5 * angle)), 1, 2e-15);
    }
    rg_quat tiny = rg_quat_of_rotation_vector(rg_vec3_make(0, 1e-200, 0));
    assert_true(tiny.y == 0.5e-200 && tiny.w == 1);
}

static void test_planar_angle(void **state) {
    (void)state;
    rg_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    rg_quat quarter = rg_quat_of_planar_angle(RG_PI / 2);
    assert_vec_near(rg_rotate(quarter, x), z, 3e-16); /* x towards z */
    assert_vec_near(rg_rotate(quarter, z), rg_neg(x), 3e-16);
    for (double angle = -7; angle < 7; angle += 0.1) {
        rg_quat q = rg_quat_of_planar_angle(angle);
        assert_true(q.x == 0 && q.z == 0); /* stays in the plane, exactly */
        assert_vec_near(rg_rotate(q, x), rg_vec3_make(rg_cos(angle), 0, rg_sin(angle)), 1e-15);
        assert_vec_near(rg_rotate(q, y), y, 3e-16);
    }
}

static void test_normalise_quat(void **state) {
    (void)state;
    rg_quat q = rg_quat_normalised((rg_quat){2e-200, -4e-200, 5e-200, 6e-200});
    assert_quat_near(q, (rg_quat){2.0 / 9, -4.0 / 9, 5.0 / 9, 6.0 / 9}, 4e-16);
    q = rg_quat_normalised((rg_quat){1e300, 1e300, 1e300, -1e300});
    assert_quat_near(q, (rg_quat){0.5, 0.5, 0.5, -0.5}, 2e-16);
    q = rg_quat_normalised((rg_quat){0, 0, 0, 0});
    assert_true(q.w == 1 && q.x == 0 && q.y == 0 && q.z == 0);
    assert_true(rg_quat_is_finite(q));
    assert_false(rg_quat_is_finite((rg_quat){0, 0, NAN, 1}));
}

static void test_poses(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    for (int i = 0; i < 1000; i++) {
        rg_pose a = {random_vec(&random), rg_random_rotation(&random)};
        rg_pose b = {random_vec(&random), rg_random_rotation(&random)};
        rg_vec3 v = random_vec(&random);
        assert_vec_near(rg_pose_apply(rg_pose_compose(a, b), v),
                        rg_pose_apply(a, rg_pose_apply(b, v)), 2e-14);
        assert_vec_near(rg_pose_apply_inverse(a, rg_pose_apply(a, v)), v, 2e-14);
        assert_vec_near(rg_pose_apply(rg_pose_inverse(a), v), rg_pose_apply_inverse(a, v), 2e-14);
        assert_vec_near(rg_pose_apply(rg_pose_identity(), v), v, 0);
        assert_true(rg_pose_is_finite(a));
    }
    rg_pose bad = rg_pose_identity();
    bad.position.y = INFINITY;
    assert_false(rg_pose_is_finite(bad));
}

static void test_matrices(void **state) {
    (void)state;
    rg_mat3 d = rg_mat3_diagonal(rg_vec3_make(1, 2, 3));
    rg_random random = rg_random_make(4);
    for (int i = 0; i < 500; i++) {
        rg_quat q = rg_random_rotation(&random);
        rg_mat3 r = rg_mat3_of_quat(q), c = rg_mat3_conjugate(&r, &d);
        rg_vec3 v = random_vec(&random), turned = rg_rotate_back(q, v);
        rg_vec3 expected = rg_rotate(q, rg_times(rg_vec3_make(1, 2, 3), turned));
        assert_vec_near(rg_mat3_apply(&c, v), expected, 3e-14);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                assert_true(c.m[a][b] == c.m[b][a]); /* exactly */
    }
    rg_mat3 a = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 10}}}, b = {{{0, 1, 0}, {0, 0, 2}, {3, 0, 0}}};
    rg_mat3 ab = rg_mat3_multiply(&a, &b);
    const double expected[9] = {9, 1, 4, 18, 4, 10, 30, 7, 16};
    for (int k = 0; k < 9; k++)
        assert_near(ab.m[k / 3][k % 3], expected[k], 0);
}

/* A quarter turn about each axis, seen from its tip; an axis of any length; none at all. */
static void test_length_unit(void **state) {
    (void)state;
    assert_true(rg_length_unit(0.25 * 0.25) == 1 && rg_length_unit(0.999) == 1);
    assert_true(rg_length_unit(1) == 4 && rg_length_unit(0.0624) == 0.25);
    assert_true(rg_length_unit(0) == 1 && rg_length_unit(NAN) == 1 &&
                rg_length_unit(INFINITY) == 1);
    rg_random random = rg_random_make(11);
    for (int i = 0; i < 1000; i++) {
        double length = ldexp(rg_random_between(&random, 1, 2), i % 400 - 200);
        double unit = rg_length_unit(length * length);
        assert_true(length >= 0.25 * unit && length < unit);
        for (int k = -40; k <= 40; k++) {
            double scaled = ldexp(length, 2 * k);
            assert_true(rg_length_unit(scaled * scaled) == ldexp(unit, 2 * k));
        }
    }
}

static void test_axis_angle(void **state) {
    (void)state;
    rg_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    assert_vec_near(rg_rotate(rg_quat_of_axis_angle(z, RG_PI / 2), x), y, 1e-15);
    assert_vec_near(rg_rotate(rg_quat_of_axis_angle(rg_scale(7, x), RG_PI / 2), y), z, 1e-15);
    assert_vec_near(rg_rotate(rg_quat_of_axis_angle(rg_scale(1e-200, y), RG_PI / 2), z), x, 1e-15);
    assert_quat_near(rg_quat_of_axis_angle(rg_vec3_make(1, 1, 1), 2 * RG_PI / 3),
                     rg_quat_make(0.5, 0.5, 0.5, 0.5), 1e-15);
    assert_quat_near(rg_quat_of_axis_angle(rg_vec3_make(0, 0, 0), 1), rg_quat_identity(), 0);
    rg_vec3 v = {0.3, -0.4, 1.2};
    assert_quat_near(rg_quat_of_axis_angle(v, 1.3), rg_quat_of_rotation_vector(v), 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),         cmocka_unit_test(test_axis_angle),
        cmocka_unit_test(test_length_unit),     cmocka_unit_test(test_length_at_every_scale),
        cmocka_unit_test(test_rotation),        cmocka_unit_test(test_quat_of_mat3_branches),
        cmocka_unit_test(test_rotation_vector), cmocka_unit_test(test_planar_angle),
        cmocka_unit_test(test_normalise_quat),  cmocka_unit_test(test_poses),
        cmocka_unit_test(test_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
