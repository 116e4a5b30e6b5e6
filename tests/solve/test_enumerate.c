/* The oracle itself: against closed forms, against the judge, and against what is known about
 * classes of matrices (P: exactly one solution; positive semidefinite: one motion). */
#include "test_support.h"

#include "rigor/random.h"
#include "rigor/solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 20, KEPT = 64 };

static rg_solve_context *context_of(void **state) {
    return *state;
}

static int set_up(void **state) {
    rg_solve_context *context;
    if (rg_solve_context_create(NULL, &context))
        return 1;
    *state = context;
    return 0;
}

static int tear_down(void **state) {
    rg_solve_context_destroy(*state);
    return 0;
}

static rg_solution_set all_of(void **state, const rg_problem *problem, double *forces) {
    rg_solution_set set;
    rg_error error;
    rg_status status = rg_solve_all(context_of(state), problem, 1e-10, forces, KEPT, &set, &error);
    if (status)
        fail_msg("%s", error.text);
    for (size_t k = 0; k < set.count && k < KEPT; k++) {
        rg_residual residual;
        assert_int_equal(
            rg_judge(problem, forces + k * rg_problem_rows(problem), NULL, NULL, &residual, NULL),
            RG_OK);
        assert_true(residual.natural <= 1e-9);
    }
    return set;
}

static rg_solve_info solve(void **state, const rg_problem *problem, rg_solution_policy policy,
                           double *force, double *velocity) {
    rg_solve_settings settings = rg_solve_settings_default();
    settings.policy = policy;
    rg_solution solution = {.force = force, .velocity = velocity};
    rg_solve_info info;
    assert_int_equal(rg_solve(context_of(state), rg_solver_find("enumerate"), problem, &settings,
                              &solution, &info, NULL),
                     RG_OK);
    return info;
}

/* Baraff 1989, Figs 7 to 9: printed values. */
static void gives_worked_cases(void **state) {
    double f[3], a[3];
    double matrix14[] = {1.15, 1.6, 1.6, 3.4}, b14[] = {-9.81, -9.81};
    rg_problem problem = rg_problem_linear(2, matrix14, b14);
    rg_solve_info info = solve(state, &problem, RG_POLICY_SMALLEST_FORCE, f, a);
    assert_int_equal(info.outcome, RG_SOLVED);
    assert_near(f[0], 9.81 / 1.15, 1e-12);
    assert_true(f[1] == 0);
    assert_near(a[1], 3.838696, 5e-7);

    double matrix18[] = {19, -2, 3, -2, 12, 2, 3, 2, 1}, b18[] = {-11, -2, -3};
    problem = rg_problem_linear(3, matrix18, b18);
    double forces[KEPT * 3];
    rg_solution_set set = all_of(state, &problem, forces);
    assert_int_equal(set.count, 1);
    assert_int_equal(set.modes, 8);
    assert_false(set.continuum);
    assert_near(forces[0], 0.2, 1e-13);
    assert_near(forces[1], 0, 0);
    assert_near(forces[2], 2.4, 1e-13);
}

/* Cottle, Pang, Stone, remark 4.1.14: z1 + z2 = 1. */
static void finds_continuum(void **state) {
    double matrix[] = {1, 1, 1, 1}, b[] = {-1, -1}, forces[KEPT * 2];
    rg_problem problem = rg_problem_linear(2, matrix, b);
    rg_solution_set set = all_of(state, &problem, forces);
    assert_true(set.continuum);
    assert_int_equal(set.count, 3); /* both ends and the one of least norm */
    for (size_t k = 0; k < set.count; k++)
        assert_near(forces[2 * k] + forces[2 * k + 1], 1, 1e-13);
}

static void proves_that_there_is_none(void **state) {
    double matrix[] = {-0.8}, b[] = {-9.81}, f[1], a[1], forces[KEPT];
    rg_problem problem = rg_problem_linear(1, matrix, b);
    rg_solve_info info = solve(state, &problem, RG_POLICY_SMALLEST_FORCE, f, a);
    assert_int_equal(info.outcome, RG_SOLVE_INFEASIBLE);
    assert_non_null(strstr(info.text, "all 2 modes"));
    b[0] = 4.500835; /* indeterminate */
    rg_solution_set set = all_of(state, &problem, forces);
    assert_int_equal(set.count, 2);
    assert_near(forces[0] + forces[1], 5.626044, 5e-7);
    solve(state, &problem, RG_POLICY_SMALLEST_FORCE, f, a);
    assert_true(f[0] == 0);
    solve(state, &problem, RG_POLICY_LARGEST_FORCE, f, a);
    assert_near(f[0], 5.626044, 5e-7);
    assert_near(a[0], 0, 1e-14);
}

/* Painleve's rod at tan = 2, static friction at rest: (8.3385, 2.943), it sticks. */
static void tries_friction_modes(void **state) {
    double c = 1 / sqrt(5.0), s = 2 * c, forces[KEPT * 2];
    /* centre at (-c, s) from the tip, I = 1/3; rows: normal z, tangent x */
    double matrix[] = {1 + 3 * c * c, 3 * s * c, 3 * s * c, 1 + 3 * s * s};
    double b[] = {-9.81, 0}, mu[] = {0, 2};
    uint8_t kinds[] = {RG_ROW_UNILATERAL, RG_ROW_STATIC};
    uint32_t normal[] = {0, 0};
    rg_problem problem = rg_problem_linear(2, matrix, b);
    problem.linear.kinds = kinds;
    problem.linear.normal = normal;
    problem.linear.mu = mu;
    rg_solution_set set = all_of(state, &problem, forces);
    assert_int_equal(set.modes, 4);
    assert_true(set.count >= 1);
    bool found = false;
    for (size_t k = 0; k < set.count; k++)
        found |=
            fabs(forces[2 * k] - 8.3385) < 1e-10 && fabs(fabs(forces[2 * k + 1]) - 2.943) < 1e-10;
    assert_true(found);
    /* The same rod sliding with w = 0: f_T = -mu f_N sign by substitution: no solution. */
    kinds[1] = RG_ROW_DYNAMIC;
    mu[1] = -2;
    set = all_of(state, &problem, forces);
    assert_int_equal(set.modes, 2);
    assert_int_equal(set.count, 0);
}

/* Bounds: f = clamp(-b / A). */
static void keeps_bounds(void **state) {
    for (double b = -3; b <= 3; b += 0.5) {
        double matrix[] = {2}, lower[] = {-0.5}, upper[] = {1}, f[1], a[1];
        uint8_t kinds[] = {RG_ROW_BOUNDED};
        rg_problem problem = rg_problem_linear(1, matrix, &b);
        problem.linear.kinds = kinds;
        problem.linear.lower = lower;
        problem.linear.upper = upper;
        rg_solve_info info = solve(state, &problem, RG_POLICY_SMALLEST_FORCE, f, a);
        assert_int_equal(info.outcome, RG_SOLVED);
        assert_near(f[0], fmin(fmax(-b / 2, -0.5), 1), 1e-15);
        lower[0] = -INFINITY;
        info = solve(state, &problem, RG_POLICY_SMALLEST_FORCE, f, a);
        assert_near(f[0], fmin(-b / 2, 1), 1e-15);
        upper[0] = lower[0] = 0.25;
        info = solve(state, &problem, RG_POLICY_SMALLEST_FORCE, f, a);
        assert_int_equal(info.outcome, RG_SOLVED);
        assert_true(f[0] == 0.25);
    }
}

/* Forces between bounds whose sum is 1: a polygon or a solid. What is listed of it: with any of the
 * forces at their bounds, the point where all others are equal, if that is within theirs; with one
 * other force it is a corner. */
static void lists_the_corners_of_a_face(void **state) {
    rg_random random = rg_random_make(29);
    for (int round = 0; round < 200; round++) {
        size_t n = 3 + (size_t)round % 2, modes = n == 3 ? 27 : 81, expected = 0;
        double matrix[16], b[4], lower[4], upper[4], forces[KEPT * 4], low = 0, high = 0;
        uint8_t kinds[4];
        for (size_t i = 0; i < n * n; i++)
            matrix[i] = 1;
        for (size_t i = 0; i < n; i++) {
            b[i] = -1;
            kinds[i] = RG_ROW_BOUNDED;
            low += lower[i] = rg_random_between(&random, 0, 0.3);
            high += upper[i] = lower[i] + rg_random_between(&random, 0.1, 0.9);
        }
        if (!(low < 0.99 && high > 1.01))
            continue;
        rg_problem problem = rg_problem_linear(n, matrix, b);
        problem.linear.kinds = kinds;
        problem.linear.lower = lower;
        problem.linear.upper = upper;
        rg_solution_set set = all_of(state, &problem, forces);
        assert_true(set.continuum);
        for (size_t mode = 0; mode < modes; mode++) {
            double rest = 1, free_rows = 0, point[4], nearest = INFINITY;
            size_t digits = mode;
            for (size_t i = 0; i < n; i++, digits /= 3) {
                point[i] = digits % 3 == 0 ? NAN : digits % 3 == 1 ? lower[i] : upper[i];
                free_rows += isnan(point[i]);
                rest -= isnan(point[i]) ? 0 : point[i];
            }
            bool within = free_rows > 0;
            for (size_t i = 0; i < n; i++)
                if (isnan(point[i])) {
                    point[i] = rest / free_rows;
                    within = within && point[i] >= lower[i] && point[i] <= upper[i];
                }
            if (!within)
                continue;
            expected++;
            for (size_t k = 0; k < set.count && k < KEPT; k++) {
                double away = 0;
                for (size_t i = 0; i < n; i++)
                    away = fmax(away, fabs(forces[n * k + i] - point[i]));
                nearest = fmin(nearest, away);
            }
            assert_true(nearest < 1e-12);
        }
        assert_int_equal(set.count, expected);
    }
}

/* Redundant and contradictory equations, and an unknown that no equation asks about. */
static void takes_singular_equations(void **state) {
    double matrix[] = {1, 1, 0, 1, 1, 0, 0, 0, 0}, b[] = {-2, -2, 0}, f[3], a[3], forces[KEPT * 3];
    uint8_t kinds[] = {RG_ROW_FREE, RG_ROW_FREE, RG_ROW_FREE};
    rg_problem problem = rg_problem_linear(3, matrix, b);
    problem.linear.kinds = kinds;
    rg_solution_set set = all_of(state, &problem, forces);
    assert_int_equal(set.count, 1);
    assert_true(set.continuum);
    assert_near(forces[0], 1, 1e-14);
    assert_near(forces[1], 1, 1e-14);
    b[1] = -2.5;
    assert_int_equal(solve(state, &problem, RG_POLICY_SMALLEST_FORCE, f, a).outcome,
                     RG_SOLVE_INFEASIBLE);
}

/* What is left of every equation is rounding of its own terms, however much larger others are. */
static void equations_hold_to_rounding(void **state) {
    rg_random random = rg_random_make(37);
    double worst = 0;
    int solved = 0;
    for (int round = 0; round < 500; round++) {
        size_t n = 2 + (size_t)rg_random_below(&random, 7);
        double matrix[MOST * MOST], b[MOST], forces[KEPT * MOST];
        uint8_t kinds[MOST];
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < n; k++)
                matrix[i * n + k] =
                    rg_random_normal(&random) * pow(10, rg_random_between(&random, -6, 0));
            b[i] = rg_random_normal(&random) * pow(10, rg_random_between(&random, -6, 0));
            kinds[i] = RG_ROW_FREE;
        }
        rg_problem problem = rg_problem_linear(n, matrix, b);
        problem.linear.kinds = kinds;
        rg_solution_set set;
        assert_int_equal(rg_solve_all(context_of(state), &problem, 1e-10, forces, KEPT, &set, NULL),
                         RG_OK);
        if (set.count != 1)
            continue;
        solved++;
        for (size_t i = 0; i < n; i++) {
            double rest = b[i], terms = fabs(b[i]);
            for (size_t k = 0; k < n; k++) {
                rest += matrix[i * n + k] * forces[k];
                terms += fabs(matrix[i * n + k] * forces[k]);
            }
            worst = fmax(worst, fabs(rest) / terms);
        }
    }
    assert_true(solved > 400 && worst <= 8 * DBL_EPSILON); /* as many terms */
}

/* P-matrices (diagonally dominant, or B B' + I): exactly one solution, at every scale of rows. */
static void finds_one_for_p_matrices(void **state) {
    rg_random random = rg_random_make(7);
    for (int round = 0; round < 300; round++) {
        size_t n = 1 + (size_t)rg_random_below(&random, 8);
        double matrix[MOST * MOST], b[MOST], scale[MOST], forces[KEPT * MOST];
        double unit = round % 3 == 0 ? 1 : round % 3 == 1 ? 1e-6 : 1e6;
        for (size_t i = 0; i < n; i++) {
            scale[i] = exp(rg_random_between(&random, -5, 5));
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] = rg_random_between(&random, -1, 1);
            matrix[i * n + i] = (double)n + 1;
        }
        for (size_t i = 0; i < n; i++) {
            b[i] = unit * rg_random_normal(&random);
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] *= unit * (round % 2 ? scale[i] * scale[j] : 1);
        }
        rg_problem problem = rg_problem_linear(n, matrix, b);
        rg_solution_set set = all_of(state, &problem, forces);
        assert_int_equal(set.count, 1);
        assert_int_equal(set.modes, (size_t)1 << n);
    }
}

/* A = J J' of low rank with b in its range: always a solution, and one motion A f. */
static void finds_one_motion_when_semidefinite(void **state) {
    rg_random random = rg_random_make(8);
    for (int round = 0; round < 200; round++) {
        size_t n = 2 + (size_t)rg_random_below(&random, 7),
               r = 1 + (size_t)rg_random_below(&random, n - 1);
        double j[MOST * MOST], matrix[MOST * MOST], b[MOST], w[MOST], forces[KEPT * MOST];
        for (size_t i = 0; i < n * r; i++)
            j[i] = (double)rg_random_below(&random, 5) - 2;
        for (size_t i = 0; i < r; i++)
            w[i] = (double)rg_random_below(&random, 9) - 4;
        for (size_t i = 0; i < n; i++) {
            b[i] = 0;
            for (size_t k = 0; k < r; k++)
                b[i] += j[i * r + k] * w[k];
            for (size_t c = 0; c < n; c++) {
                matrix[i * n + c] = 0;
                for (size_t k = 0; k < r; k++)
                    matrix[i * n + c] += j[i * r + k] * j[c * r + k];
            }
        }
        rg_problem problem = rg_problem_linear(n, matrix, b);
        rg_solution_set set = all_of(state, &problem, forces);
        assert_true(set.count >= 1);
        for (size_t s = 1; s < set.count && s < KEPT; s++)
            for (size_t i = 0; i < n; i++) {
                double motion = 0;
                for (size_t c = 0; c < n; c++)
                    motion += matrix[i * n + c] * (forces[s * n + c] - forces[c]);
                assert_near(motion, 0, 1e-10);
            }
    }
}

/* Every solution that was built in is found, friction and bounds included. */
static void finds_planted_solutions(void **state) {
    rg_random random = rg_random_make(9);
    for (int round = 0; round < 300; round++) {
        enum { CONTACTS = 2, N = 2 * CONTACTS + 2 };
        double matrix[N * N], b[N], f[N], a[N], mu[N] = {0}, forces[KEPT * N];
        double lower[N], upper[N];
        uint8_t kinds[N];
        uint32_t normal[N] = {0};
        for (size_t i = 0; i < N * N; i++)
            matrix[i] = rg_random_between(&random, -1, 1);
        for (size_t c = 0; c < CONTACTS; c++) {
            size_t n = 2 * c, t = n + 1;
            kinds[n] = RG_ROW_UNILATERAL, kinds[t] = RG_ROW_STATIC;
            normal[t] = (uint32_t)n, mu[t] = rg_random_between(&random, 0, 1);
            uint64_t mode = rg_random_below(&random, 4);
            f[n] = mode ? rg_random_between(&random, 0.1, 2) : 0;
            a[n] = mode ? 0 : rg_random_between(&random, 0.1, 2);
            double slip = rg_random_between(&random, 0.1, 2);
            f[t] = mode == 0   ? 0
                   : mode == 1 ? mu[t] * f[n] * rg_random_between(&random, -1, 1)
                   : mode == 2 ? -mu[t] * f[n]
                               : mu[t] * f[n];
            a[t] = mode == 0 ? rg_random_normal(&random) : mode == 1 ? 0 : mode == 2 ? slip : -slip;
        }
        kinds[N - 2] = RG_ROW_FREE, f[N - 2] = rg_random_normal(&random), a[N - 2] = 0;
        kinds[N - 1] = RG_ROW_BOUNDED, lower[N - 1] = -1, upper[N - 1] = 1;
        uint64_t where = rg_random_below(&random, 3);
        f[N - 1] = where == 0 ? -1 : where == 1 ? 1 : rg_random_between(&random, -1, 1);
        a[N - 1] = where == 0 ? 0.7 : where == 1 ? -0.7 : 0;
        for (size_t i = 0; i < N; i++) {
            b[i] = a[i];
            for (size_t j = 0; j < N; j++)
                b[i] -= matrix[i * N + j] * f[j];
        }
        rg_problem problem = rg_problem_linear(N, matrix, b);
        problem.linear.kinds = kinds;
        problem.linear.normal = normal;
        problem.linear.mu = mu;
        problem.linear.lower = lower;
        problem.linear.upper = upper;
        rg_solution_set set = all_of(state, &problem, forces);
        assert_int_equal(set.modes, 48);
        bool found = false;
        for (size_t k = 0; k < set.count; k++) {
            double distance = 0;
            for (size_t i = 0; i < N; i++)
                distance = fmax(distance, fabs(forces[k * N + i] - f[i]));
            found |= distance < 1e-7;
        }
        assert_true(found);
    }
}

/* The exact cone is refused, its polygon is not; in the plane both are the same. */
static void takes_contact_problems(void **state) {
    double w[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[] = {-1, -2, 0}, mu[] = {0.5}, forces[KEPT * 3];
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){.dimension = 3,
                                           .contacts = 1,
                                           .mu = mu,
                                           .w = {.rows = 3, .columns = 3, .dense = w},
                                           .q = q};
    rg_solution_set set;
    rg_error error;
    assert_int_equal(rg_solve_all(context_of(state), &problem, 1e-10, forces, KEPT, &set, &error),
                     RG_UNSUPPORTED);
    problem.contact.directions = 4;
    set = all_of(state, &problem, forces);
    assert_int_equal(set.count, 1);
    assert_near(forces[0], 1, 1e-14);
    assert_near(forces[1], 0.5, 1e-14);
    assert_near(forces[2], 0, 1e-14);
    double w2[] = {1, 0, 0, 1};
    problem.contact = (rg_contact_problem){.dimension = 2,
                                           .contacts = 1,
                                           .mu = mu,
                                           .w = {.rows = 2, .columns = 2, .dense = w2},
                                           .q = q};
    set = all_of(state, &problem, forces);
    assert_int_equal(set.count, 1);
    assert_near(forces[0], 1, 1e-14);
    assert_near(forces[1], 0.5, 1e-14);
}

static void refuses_what_is_too_large(void **state) {
    enum { N = 17 };
    double matrix[N * N] = {0}, b[N], f[N], a[N], forces[KEPT * N];
    for (size_t i = 0; i < N; i++)
        matrix[i * N + i] = 1, b[i] = -1;
    rg_problem problem = rg_problem_linear(N, matrix, b);
    rg_solution_set set;
    rg_error error;
    assert_int_equal(rg_solve_all(context_of(state), &problem, 1e-10, forces, KEPT, &set, &error),
                     RG_LIMIT_EXCEEDED);
    rg_solve_info info = solve(state, &problem, RG_POLICY_SMALLEST_FORCE, f, a);
    assert_int_equal(info.outcome, RG_SOLVE_UNSUITABLE);
    assert_non_null(strstr(info.text, "16 rows"));
    b[3] = NAN;
    assert_int_equal(rg_solve_all(context_of(state), &problem, 1e-10, forces, KEPT, &set, &error),
                     RG_NOT_FINITE);
}

/* A context that has seen a size makes no heap call for it again. */
static void takes_no_memory_once_warm(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(&allocator, &context), RG_OK);
    double matrix[] = {2, 1, 1, 2}, b[] = {-1, -1}, forces[KEPT * 2];
    rg_problem problem = rg_problem_linear(2, matrix, b);
    rg_solution_set set;
    for (int round = 0; round < 4; round++) {
        size_t before = counter.resizes;
        assert_int_equal(rg_solve_all(context, &problem, 0, forces, KEPT, &set, NULL), RG_OK);
        assert_int_equal(set.count, 1);
        if (round > 1)
            assert_int_equal(counter.resizes, before);
    }
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gives_worked_cases, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_continuum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(proves_that_there_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tries_friction_modes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeps_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_the_corners_of_a_face, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equations_hold_to_rounding, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_singular_equations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_one_for_p_matrices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_one_motion_when_semidefinite, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_planted_solutions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_contact_problems, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_is_too_large, set_up, tear_down),
        cmocka_unit_test(takes_no_memory_once_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
