#include "test_support.h"

#include "base/base_eigen.h"
#include "base/base_math.h"
#include "rigor/random.h"

#include <float.h>

static double entry(const rg_vec3 *v, int i) {
    return i == 0 ? v->x : i == 1 ? v->y : v->z;
}

/* A V = V diag, V^T V = I, det V = 1, each relative to the largest entry of A. */
static void check(const rg_mat3 *a, double tolerance) {
    rg_vec3 values;
    rg_mat3 v;
    rg_eigen_symmetric(a, &values, &v);
    double scale = DBL_MIN;
    for (int k = 0; k < 9; k++)
        scale = fmax(scale, fabs(a->m[k / 3][k % 3]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double av = 0, vtv = 0;
            for (int k = 0; k < 3; k++) {
                av += a->m[i][k] / scale * v.m[k][j];
                vtv += v.m[k][i] * v.m[k][j];
            }
            assert_near(av, v.m[i][j] * (entry(&values, j) / scale), tolerance);
            assert_near(vtv, i == j, 3e-15);
        }
    rg_vec3 x = {v.m[0][0], v.m[1][0], v.m[2][0]}, y = {v.m[0][1], v.m[1][1], v.m[2][1]},
            z = {v.m[0][2], v.m[1][2], v.m[2][2]};
    assert_near(rg_dot(rg_cross(x, y), z), 1, 3e-15);
}

static rg_mat3 make_symmetric(double xx, double yy, double zz, double xy, double xz, double yz) {
    return (rg_mat3){{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}};
}

static void test_random(void **state) {
    (void)state;
    rg_random random = rg_random_make(1);
    for (int i = 0; i < 20000; i++) {
        double e[6], s = i % 4 ? 1 : ldexp(1, (int)rg_random_below(&random, 1900) - 950);
        for (int k = 0; k < 6; k++)
            e[k] = s * rg_random_between(&random, -1, 1);
        rg_mat3 a = make_symmetric(e[0], e[1], e[2], e[3], e[4], e[5]);
        check(&a, 3e-15);
    }
}

static void test_diagonal_is_exact(void **state) {
    (void)state;
    static const rg_vec3 diagonals[] = {{1, 2, 3},  {3, 2, 1},           {0, 0, 0},
                                        {5, 5, 5},  {-1, 1e-300, 1e300}, {DBL_MAX, 1, -DBL_MAX},
                                        {0, -2, 0}, {DBL_TRUE_MIN, 0, 0}};
    for (size_t i = 0; i < sizeof diagonals / sizeof diagonals[0]; i++) {
        rg_mat3 a = rg_mat3_diagonal(diagonals[i]), v;
        rg_vec3 values;
        rg_eigen_symmetric(&a, &values, &v);
        for (int k = 0; k < 9; k++)
            assert_true(v.m[k / 3][k % 3] == (k % 4 == 0));
        assert_near(values.x, diagonals[i].x, 0);
        assert_near(values.y, diagonals[i].y, 0);
        assert_near(values.z, diagonals[i].z, 0);
    }
}

/* Known eigenvalues, turned: they come back. Two or three equal ones among them. */
static void test_degenerate(void **state) {
    (void)state;
    static const double known[][3] = {{1, 1, 1},         {1, 1, 2},   {2, 1, 1},   {0, 0, 1},
                                      {1, 1 + 1e-14, 2}, {-1, -1, 1}, {1e-8, 1, 1}};
    rg_random random = rg_random_make(2);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        for (int round = 0; round < 200; round++) {
            rg_quat q = rg_random_rotation(&random);
            rg_mat3 r = rg_mat3_of_quat(q),
                    d = rg_mat3_diagonal(rg_vec3_make(known[i][0], known[i][1], known[i][2]));
            rg_mat3 a = rg_mat3_conjugate(&r, &d), v;
            check(&a, 5e-15);
            rg_vec3 values;
            rg_eigen_symmetric(&a, &values, &v);
            /* Symmetric functions of them do not depend on the order. */
            double sum = known[i][0] + known[i][1] + known[i][2];
            double product = known[i][0] * known[i][1] * known[i][2];
            assert_near(values.x + values.y + values.z, sum, 6e-15);
            assert_near(values.x * values.y * values.z, product, 1e-14);
            assert_near(rg_max3(values.x, values.y, values.z),
                        rg_max3(known[i][0], known[i][1], known[i][2]), 6e-15);
        }
}

/* Closed form: ((a, b), (b, a)) has a + b and a - b; the vectors turn by 45 degrees. */
static void test_closed_form(void **state) {
    (void)state;
    rg_mat3 a = make_symmetric(2, 2, 7, 1, 0, 0), v;
    rg_vec3 values;
    rg_eigen_symmetric(&a, &values, &v);
    assert_near(fmin(values.x, values.y), 1, 5e-16);
    assert_near(fmax(values.x, values.y), 3, 9e-16);
    assert_near(values.z, 7, 0);
    assert_near(fabs(v.m[0][0]), sqrt(0.5), 3e-16);
    /* No diagonal at all: eigenvalues 2, -1, -1. */
    a = make_symmetric(0, 0, 0, 1, 1, 1);
    check(&a, 2e-15);
    rg_eigen_symmetric(&a, &values, &v);
    assert_near(rg_max3(values.x, values.y, values.z), 2, 2e-15);
    assert_near(rg_min3(values.x, values.y, values.z), -1, 2e-15);
    assert_near(values.x + values.y + values.z, 0, 2e-15);
}

/* A small turn leaves each vector at its axis, whatever the order of the values. */
static void test_stays_at_axis(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    for (int i = 0; i < 500; i++) {
        rg_quat q = rg_quat_of_rotation_vector(
            rg_scale(rg_random_between(&random, 0, 0.2), rg_random_direction(&random)));
        rg_mat3 r = rg_mat3_of_quat(q), d = rg_mat3_diagonal(rg_vec3_make(3, 1, 2));
        rg_mat3 a = rg_mat3_conjugate(&r, &d), v;
        rg_vec3 values;
        rg_eigen_symmetric(&a, &values, &v);
        assert_near(values.x, 3, 3e-15);
        assert_near(values.y, 1, 3e-15);
        assert_near(values.z, 2, 3e-15);
        for (int k = 0; k < 9; k++)
            assert_near(v.m[k / 3][k % 3], r.m[k / 3][k % 3], 1e-14);
    }
}

/* D B D with D spread over many scales and B well conditioned: every eigenvalue to full relative
 * accuracy; the product of the three is the determinant, known exactly. */
static void test_small_values_are_accurate(void **state) {
    (void)state;
    for (int e = 0; e <= 120; e += 10) {
        double s = ldexp(1, -e), t = ldexp(1, -2 * e);
        rg_mat3 a = make_symmetric(2, 2 * s * s, 2 * t * t, s, t, s * t), v;
        rg_vec3 values;
        rg_eigen_symmetric(&a, &values, &v); /* det B = 4 for 2 on and 1 off the diagonal */
        assert_near(values.x * (values.y / (s * s)) * (values.z / (t * t)), 4, 3e-14);
        assert_true(values.x > 0 && values.y > 0 && values.z > 0);
        if (e >= 40) { /* far apart: successive quotients of the leading minors 2, 3, 4 */
            assert_near(values.x, 2, 1e-14);
            assert_near(values.y / (s * s), 1.5, 1e-14);
            assert_near(values.z / (t * t), 4.0 / 3, 1e-14);
        }
    }
}

static void test_extremes(void **state) {
    (void)state;
    rg_mat3 huge = make_symmetric(DBL_MAX / 4, DBL_MAX / 5, 0, DBL_MAX / 8, DBL_MAX / 9, 1);
    check(&huge, 3e-15);
    rg_mat3 tiny = make_symmetric(3e-300, 1e-300, 0, 2e-300, 1e-301, 1e-300);
    check(&tiny, 3e-15);
    rg_mat3 bad = make_symmetric(1, 2, 3, NAN, 0, 0), v;
    rg_vec3 values;
    rg_eigen_symmetric(&bad, &values, &v);
    assert_true(isnan(values.x) && isnan(values.y) && isnan(values.z) && v.m[1][1] == 1);
    rg_mat3 in_place = make_symmetric(2, 2, 7, 1, 0, 0), apart = in_place; /* over its own input */
    rg_vec3 same;
    rg_eigen_symmetric(&apart, &values, &v);
    rg_eigen_symmetric(&in_place, &same, &in_place);
    assert_memory_equal(&in_place, &v, sizeof v);
    assert_memory_equal(&same, &values, sizeof same);
    bad = make_symmetric(1, -INFINITY, INFINITY, 0, 0, 0);
    rg_eigen_symmetric(&bad, &values, &v);
    assert_true(isnan(values.x) && v.m[0][0] == 1 && v.m[0][1] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),        cmocka_unit_test(test_diagonal_is_exact),
        cmocka_unit_test(test_degenerate),    cmocka_unit_test(test_closed_form),
        cmocka_unit_test(test_stays_at_axis), cmocka_unit_test(test_small_values_are_accurate),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
