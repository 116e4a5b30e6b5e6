/* Problems as data: what is refused and why, rows, scale, polygons, mass blocks. */
#include "test_support.h"

#include "base/base_math.h"
#include "problem/problem.h"
#include "rigor/random.h"

#include <string.h>

static void expect(const rg_problem *problem, rg_status status, const char *part) {
    rg_error error = {0};
    assert_int_equal(rg_problem_check(problem, &error), status);
    if (part && !strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void linear_problems_are_checked(void **state) {
    (void)state;
    double matrix[4] = {2, 1, 1, 2}, b[2] = {-1, 1};
    rg_problem problem = rg_problem_linear(2, matrix, b);
    expect(&problem, RG_OK, NULL);
    assert_int_equal(rg_problem_rows(&problem), 2);
    assert_near(rg_problem_scale(&problem), 1, 0);

    rg_problem empty = rg_problem_linear(0, NULL, NULL);
    expect(&empty, RG_OK, NULL);
    assert_near(rg_problem_scale(&empty), 1, 0);

    rg_problem bad = problem;
    bad.linear.matrix = NULL;
    expect(&bad, RG_INVALID_ARGUMENT, "matrix: missing");
    bad = problem;
    bad.linear.b = NULL;
    expect(&bad, RG_INVALID_ARGUMENT, "b: missing");
    bad = problem;
    bad.linear.stride = 1;
    expect(&bad, RG_INVALID_ARGUMENT, "stride 1 for 2 columns");
    bad = problem;
    bad.scale = -1;
    expect(&bad, RG_INVALID_ARGUMENT, "scale -1");
    matrix[2] = NAN;
    expect(&problem, RG_NOT_FINITE, "entry (1, 0)");
    matrix[2] = 1, b[1] = INFINITY;
    expect(&problem, RG_NOT_FINITE, "b: entry 1");
    b[1] = 0, b[0] = 0;
    assert_near(rg_problem_scale(&problem), 1, 0);
}

static void row_kinds_are_checked(void **state) {
    (void)state;
    double matrix[4] = {2, 0, 0, 2}, b[2] = {0, 3}, lower[2] = {0, 1}, upper[2] = {0, 0};
    double mu[2] = {0, -0.5};
    uint8_t kinds[2] = {RG_ROW_UNILATERAL, RG_ROW_BOUNDED};
    uint32_t normal[2] = {0, 0};
    rg_problem problem = rg_problem_linear(2, matrix, b);
    problem.linear.kinds = kinds;
    expect(&problem, RG_INVALID_ARGUMENT, "row 1: bounded, without bounds");
    problem.linear.lower = lower, problem.linear.upper = upper;
    expect(&problem, RG_INVALID_ARGUMENT, "row 1: bounds 1 to 0");
    upper[1] = INFINITY;
    expect(&problem, RG_OK, NULL);
    lower[1] = NAN;
    expect(&problem, RG_INVALID_ARGUMENT, "row 1: bounds");
    kinds[1] = RG_ROW_STATIC;
    expect(&problem, RG_INVALID_ARGUMENT, "without `normal` and `mu`");
    problem.linear.normal = normal, problem.linear.mu = mu;
    expect(&problem, RG_INVALID_ARGUMENT, "row 1: friction coefficient -0.5");
    kinds[1] = RG_ROW_DYNAMIC; /* there the sign is that of the slip */
    expect(&problem, RG_OK, NULL);
    normal[1] = 1;
    expect(&problem, RG_INVALID_ARGUMENT,
           "row 1: friction of row 1, which is not a unilateral row");
    normal[1] = 7;
    expect(&problem, RG_INVALID_ARGUMENT, "friction of row 7");
    kinds[1] = 9;
    expect(&problem, RG_INVALID_ARGUMENT, "kind 9");
}

static rg_problem one_contact(const double *w, const double *q, const double *mu) {
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){.dimension = 3,
                                           .contacts = 1,
                                           .mu = mu,
                                           .form = RG_FORM_LOCAL,
                                           .w = {.rows = 3, .columns = 3, .dense = w},
                                           .q = q};
    return problem;
}

static void local_problems_are_checked(void **state) {
    (void)state;
    double w[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[4] = {-4, 1, 0, 0}, mu = 0.5;
    rg_problem problem = one_contact(w, q, &mu);
    expect(&problem, RG_OK, NULL);
    assert_near(rg_problem_scale(&problem), 4, 0);
    mu = -0.1;
    expect(&problem, RG_INVALID_ARGUMENT, "contact 0: friction coefficient -0.1");
    mu = NAN;
    expect(&problem, RG_NOT_FINITE, "contact 0");
    mu = 0.5;
    problem.contact.dimension = 4;
    expect(&problem, RG_INVALID_ARGUMENT, "4 rows per contact");
    problem.contact.dimension = 3, problem.contact.directions = 5;
    expect(&problem, RG_INVALID_ARGUMENT, "polygon of 5 corners");
    problem.contact.directions = 0, problem.contact.joints = 1;
    expect(&problem, RG_INVALID_ARGUMENT, "W is 3 by 3; it must be 4 by 4");
    problem.contact.joints = 0, problem.contact.w.dense = NULL;
    expect(&problem, RG_INVALID_ARGUMENT, "neither dense");
    size_t starts[4] = {0, 1, 2, 3};
    uint32_t indices[3] = {0, 1, 3};
    double values[3] = {1, 1, 1};
    problem.contact.w.starts = starts, problem.contact.w.indices = indices;
    problem.contact.w.values = values;
    expect(&problem, RG_INVALID_ARGUMENT, "row 2: columns must ascend");
    indices[2] = 2;
    expect(&problem, RG_OK, NULL);
    starts[2] = 0;
    expect(&problem, RG_INVALID_ARGUMENT, "ends before it begins");
}

static void global_problems_are_checked(void **state) {
    (void)state;
    double mass[4] = {2, 0, 0, 3}, free_velocity[2] = {0, -5}, jacobian[4] = {0, 1, 9, 9};
    double q[2] = {1, 0}, joint[4] = {1, 0, 9, 9};
    uint32_t blocks[2] = {0, RG_NO_BLOCK}, joint_blocks[2] = {0, RG_NO_BLOCK};
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){
        .dimension = 1, .contacts = 1, .joints = 1, .form = RG_FORM_GLOBAL, .q = q};
    problem.contact.global = (rg_global_form){.blocks = 1,
                                              .freedom = 2,
                                              .mass = mass,
                                              .free_velocity = free_velocity,
                                              .contact_blocks = blocks,
                                              .contact_jacobian = jacobian,
                                              .joint_blocks = joint_blocks,
                                              .joint_jacobian = joint};
    expect(&problem, RG_OK, NULL);
    assert_int_equal(rg_problem_rows(&problem), 2);
    assert_near(rg_problem_scale(&problem), 4, 0); /* -5 + 1 at the contact, 0 at the joint */
    blocks[1] = 1;
    expect(&problem, RG_INVALID_ARGUMENT, "contact 0: block 1; there are 1 blocks");
    blocks[1] = 0;
    expect(&problem, RG_INVALID_ARGUMENT, "with itself");
    blocks[1] = RG_NO_BLOCK, mass[3] = -3;
    expect(&problem, RG_INVALID_ARGUMENT, "mass of block 0: not positive definite");
    mass[3] = 3, mass[1] = 0.5;
    expect(&problem, RG_INVALID_ARGUMENT, "symmetric");
    mass[1] = 0, problem.contact.global.freedom = 7;
    expect(&problem, RG_INVALID_ARGUMENT, "7 numbers per block");
    problem.contact.global.freedom = 2, problem.contact.global.joint_jacobian = NULL;
    expect(&problem, RG_INVALID_ARGUMENT, "joint Jacobian: missing");
}

static void polygons_are_balanced(void **state) {
    (void)state;
    for (int n = 4; n <= RG_DIRECTIONS_MAX; n += 2)
        for (int k = 0; k < n; k++) {
            double a[2], b[2];
            rg_polygon_direction(n, k, a);
            rg_polygon_direction(n, (k + n / 2) % n, b);
            assert_true(a[0] == -b[0] && a[1] == -b[1]);
            assert_near(a[0] * a[0] + a[1] * a[1], 1, 1e-15);
        }
    double corner[2];
    rg_polygon_direction(8, 1, corner);
    assert_near(corner[0], 0.70710678118654752, 2e-16);
    assert_near(corner[1], 0.70710678118654752, 2e-16);
}

static void mass_blocks_are_inverted(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    for (int trial = 0; trial < 1000; trial++) {
        int n = 1 + trial % 6;
        double root[36], mass[36], lower[36], x[6], b[6];
        for (int i = 0; i < n * n; i++)
            root[i] = rg_random_between(&random, -1, 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                mass[i * n + j] = i == j ? 0.5 : 0;
                for (int k = 0; k < n; k++)
                    mass[i * n + j] += root[i * n + k] * root[j * n + k];
            }
        assert_true(rg_mass_factor(mass, n, lower));
        for (int i = 0; i < n; i++)
            x[i] = b[i] = rg_random_between(&random, -1, 1);
        rg_mass_solve(lower, n, x);
        for (int i = 0; i < n; i++) {
            double sum = -b[i];
            for (int j = 0; j < n; j++)
                sum += mass[i * n + j] * x[j];
            assert_near(sum, 0, 1e-13);
        }
    }
}

/* Cholesky and its solve as in the books, every product made. */
static void solve_plainly(const double *mass, int n, double *lower, double *x) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = mass[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= lower[i * n + k] * lower[j * n + k];
            lower[i * n + j] = i == j ? 1 / sqrt(sum) : sum * lower[j * n + j];
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= lower[i * n + k] * x[k];
        x[i] *= lower[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= lower[k * n + i] * x[k];
        x[i] *= lower[i * n + i];
    }
}

/* Leaving out products with zeros changes no bit. */
static void masses_of_bodies_are_inverted_bit_for_bit(void **state) {
    (void)state;
    rg_random random = rg_random_make(6);
    for (int trial = 0; trial < 1000; trial++) {
        double root[9], mass[36] = {0}, lower[36] = {0}, plain[36] = {0}, x[6], y[6];
        for (int i = 0; i < 9; i++)
            root[i] = rg_random_between(&random, -1, 1);
        for (int i = 0; i < 3; i++) {
            mass[7 * i] = rg_random_between(&random, 0.01, 100);
            for (int j = 0; j < 3; j++) {
                mass[6 * (3 + i) + 3 + j] = i == j ? 0.1 : 0;
                for (int k = 0; k < 3; k++)
                    mass[6 * (3 + i) + 3 + j] += root[3 * i + k] * root[3 * j + k];
            }
        }
        if (trial % 4 == 0) /* and one that is none: its centre is elsewhere */
            mass[6 * 4 + 1] = mass[6 * 1 + 4] = 0.01;
        assert_int_equal(rg_mass_is_split(mass), trial % 4 != 0);
        for (int i = 0; i < 6; i++)
            x[i] = y[i] = rg_random_between(&random, -1, 1);
        assert_true(rg_mass_factor(mass, 6, lower));
        rg_mass_solve(lower, 6, x);
        solve_plainly(mass, 6, plain, y);
        for (int i = 0; i < 6; i++) {
            assert_true(x[i] == y[i]);
            for (int j = 0; j <= i; j++)
                assert_true(lower[6 * i + j] == plain[6 * i + j]);
        }
        mass[21] = -1;
        assert_false(rg_mass_factor(mass, 6, lower));
        mass[21] = 1, mass[7] = 0;
        assert_false(rg_mass_factor(mass, 6, lower));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_problems_are_checked),
        cmocka_unit_test(row_kinds_are_checked),
        cmocka_unit_test(local_problems_are_checked),
        cmocka_unit_test(global_problems_are_checked),
        cmocka_unit_test(polygons_are_balanced),
        cmocka_unit_test(mass_blocks_are_inverted),
        cmocka_unit_test(masses_of_bodies_are_inverted_bit_for_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
