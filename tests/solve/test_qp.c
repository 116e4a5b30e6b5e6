/* The quadratic program against closed forms, enumeration, and what it has to refuse. */
#include "test_support.h"

#include "rigor/random.h"
#include "rigor/solver.h"

#include <math.h>
#include <string.h>

enum { MOST = 64, KEPT = 64 };

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

static rg_solve_info solve(void **state, const rg_problem *problem, double *force, double *velocity,
                           double *ray) {
    rg_solution solution = {.force = force, .velocity = velocity, .ray = ray};
    rg_solve_info info;
    rg_error error;
    if (rg_solve(*state, rg_solver_find("qp"), problem, NULL, &solution, &info, &error))
        fail_msg("%s", error.text);
    return info;
}

/* Baraff 1989, Figs 7 to 9 and 6.5. */
static void gives_worked_cases(void **state) {
    double f[3], a[3];
    double one[] = {1}, slope[] = {-9.81 * sqrt(0.75)};
    rg_problem problem = rg_problem_linear(1, one, slope);
    assert_int_equal(solve(state, &problem, f, a, NULL).outcome, RG_SOLVED);
    assert_near(f[0], 8.495709, 5e-7);
    double inertia = 0.7, x[] = {-0.4, 0.6}, beam[4], weight[] = {-9.81, -9.81};
    for (size_t i = 0; i < 4; i++)
        beam[i] = 0.5 + x[i / 2] * x[i % 2] / inertia;
    problem = rg_problem_linear(2, beam, weight);
    assert_int_equal(solve(state, &problem, f, a, NULL).outcome, RG_SOLVED);
    assert_near(f[0], 11.772, 1e-12);
    assert_near(f[1], 7.848, 1e-12);
    double ledge[] = {1.15, 1.6, 1.6, 3.4};
    problem = rg_problem_linear(2, ledge, weight);
    assert_int_equal(solve(state, &problem, f, a, NULL).outcome, RG_SOLVED);
    assert_near(f[0], 9.81 / 1.15, 1e-12);
    assert_true(f[1] == 0);
    assert_near(a[1], 3.838696, 5e-7);
    /* The matrix of 6.5 is indefinite: not a convex program. */
    double mis[] = {19, -2, 3, -2, 12, 2, 3, 2, 1}, mis_b[] = {-11, -2, -3};
    double third = mis[0] * (12 - 4) + 2 * (-2 - 6) + 3 * (-4 - 36);
    problem = rg_problem_linear(3, mis, mis_b);
    rg_solve_info info = solve(state, &problem, f, a, NULL);
    assert_int_equal(info.outcome, third < 0 ? RG_SOLVE_INDEFINITE : RG_SOLVED);
}

/* Ten legs under one plate: rank 3; the forces are not determined, the motion is. */
static void takes_redundant_rows(void **state) {
    enum { N = 10 };
    double matrix[N * N], b[N], f[N], a[N], sum = 0, moment[2] = {0};
    double x[N][2];
    for (size_t i = 0; i < N; i++) {
        x[i][0] = cos(0.7 * (double)i), x[i][1] = sin(0.7 * (double)i);
        b[i] = -9.81;
    }
    for (size_t i = 0; i < N * N; i++)
        matrix[i] = 1 + 3 * (x[i / N][0] * x[i % N][0] + x[i / N][1] * x[i % N][1]);
    rg_problem problem = rg_problem_linear(N, matrix, b);
    assert_int_equal(solve(state, &problem, f, a, NULL).outcome, RG_SOLVED);
    for (size_t i = 0; i < N; i++) {
        sum += f[i];
        moment[0] += f[i] * x[i][0];
        moment[1] += f[i] * x[i][1];
        assert_near(a[i], 0, 1e-12);
        assert_true(f[i] > 0);
    }
    assert_near(sum, 9.81, 1e-11);
    assert_near(moment[0], 0, 1e-11);
    assert_near(moment[1], 0, 1e-11);
}

/* The proof that there is none: forces that move nothing and that the problem pushes against. */
static void check_ray(const rg_problem *problem, const double *ray, double unit) {
    size_t n = problem->linear.size;
    double value = 0;
    for (size_t i = 0; i < n; i++) {
        double product = 0;
        for (size_t c = 0; c < n; c++)
            product += problem->linear.matrix[i * n + c] * ray[c];
        assert_near(product / unit, 0, 1e-6);
        value += ray[i] * problem->linear.b[i];
    }
    assert_true(value < 0);
}

/* Semidefinite, all kinds of rows, three scales: solved exactly if there is a solution. */
static void agrees_with_enumeration(void **state) {
    rg_random random = rg_random_make(21);
    int none = 0, inexact = 0;
    uint64_t most = 0;
    for (int round = 0; round < 1500; round++) {
        size_t n = 1 + (size_t)rg_random_below(&random, 8);
        size_t r = 1 + (size_t)rg_random_below(&random, n);
        double j[MOST], matrix[MOST], b[8], w[8], lower[8], upper[8], f[8], a[8], ray[8];
        double forces[KEPT * 8], unit = round % 3 == 0 ? 1 : round % 3 == 1 ? 1e-6 : 1e6;
        uint8_t kinds[8];
        for (size_t i = 0; i < n * r; i++)
            j[i] = (double)rg_random_below(&random, 5) - 2;
        for (size_t i = 0; i < r; i++)
            w[i] = (double)rg_random_below(&random, 9) - 4;
        for (size_t i = 0; i < n; i++) {
            b[i] = round % 4 == 3 ? unit * ((double)rg_random_below(&random, 9) - 4) : 0;
            for (size_t k = 0; k < r; k++)
                b[i] += unit * j[i * r + k] * w[k];
            for (size_t c = 0; c < n; c++) {
                matrix[i * n + c] = 0;
                for (size_t k = 0; k < r; k++)
                    matrix[i * n + c] += unit * j[i * r + k] * j[c * r + k];
            }
            uint64_t kind = rg_random_below(&random, 6);
            kinds[i] = kind < 4 ? RG_ROW_UNILATERAL : kind == 4 ? RG_ROW_FREE : RG_ROW_BOUNDED;
            lower[i] = -(double)rg_random_below(&random, 3);
            upper[i] = rg_random_below(&random, 4) ? (double)rg_random_below(&random, 3) : INFINITY;
        }
        rg_problem problem = rg_problem_linear(n, matrix, b);
        problem.linear.kinds = kinds;
        problem.linear.lower = lower;
        problem.linear.upper = upper;
        problem.scale = 4 * unit;
        rg_solution_set set;
        assert_int_equal(rg_solve_all(*state, &problem, 1e-10, forces, KEPT, &set, NULL), RG_OK);
        rg_solve_info info = solve(state, &problem, f, a, ray);
        most = info.iterations > most ? info.iterations : most;
        if (set.count == 0) {
            none++;
            assert_int_equal(info.outcome, RG_SOLVE_INFEASIBLE);
            check_ray(&problem, ray, unit);
            continue;
        }
        inexact += info.outcome != RG_SOLVED;
        if (info.outcome != RG_SOLVED)
            fail_msg("round %d, n = %zu: %s (%s), %g", round, n,
                     rg_solve_outcome_name(info.outcome), info.text, info.residual.natural);
        for (size_t i = 0; i < n; i++) {
            double motion = 0;
            for (size_t c = 0; c < n; c++)
                motion += matrix[i * n + c] * (f[c] - forces[c]);
            assert_near(motion / unit, 0, 1e-8);
        }
    }
    print_message("%d without a solution, %d inexact, at most %llu iterations\n", none, inexact,
                  (unsigned long long)most);
    assert_true(none > 20);
}

static void refuses_what_is_no_convex_program(void **state) {
    double f[2], a[2], b[] = {-1, -1};
    double skew[] = {1, 0.5, -0.5, 1}, saddle[] = {1, 2, 2, 1}, negative[] = {1, 0, 0, -1};
    double hollow[] = {0, 1, 1, 0};
    rg_problem problem = rg_problem_linear(2, skew, b);
    rg_solve_info info = solve(state, &problem, f, a, NULL);
    assert_int_equal(info.outcome, RG_SOLVE_NOT_SYMMETRIC);
    assert_non_null(strstr(info.text, "symmetric"));
    problem.linear.matrix = saddle;
    assert_int_equal(solve(state, &problem, f, a, NULL).outcome, RG_SOLVE_INDEFINITE);
    problem.linear.matrix = negative;
    assert_int_equal(solve(state, &problem, f, a, NULL).outcome, RG_SOLVE_INDEFINITE);
    problem.linear.matrix = hollow;
    assert_int_equal(solve(state, &problem, f, a, NULL).outcome, RG_SOLVE_INDEFINITE);
    double w[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[] = {-1, 1, 0}, mu[] = {0.5}, r[3];
    rg_problem contact = {.kind = RG_PROBLEM_CONTACT};
    contact.contact = (rg_contact_problem){.dimension = 3,
                                           .contacts = 1,
                                           .mu = mu,
                                           .w = {.rows = 3, .columns = 3, .dense = w},
                                           .q = q};
    assert_int_equal(solve(state, &contact, r, NULL, NULL).outcome, RG_SOLVE_UNSUITABLE);
    contact.contact.mu = NULL;
    assert_int_equal(solve(state, &contact, r, NULL, NULL).outcome, RG_SOLVED);
    assert_near(r[0], 1, 1e-14);
}

/* Masses over six decades in a column of bricks: f_k = weight above. One unit in the last place of
 * f is more than the usual tolerance here. */
static void takes_mass_ratios(void **state) {
    enum { N = 12 };
    double matrix[N * N] = {0}, b[N] = {0}, f[N], a[N], mass[N], above = 0;
    for (size_t k = 0; k < N; k++)
        mass[k] = k % 2 ? 1e3 : 1e-3;
    for (size_t k = 0; k < N; k++) {
        matrix[k * N + k] = 1 / mass[k] + (k ? 1 / mass[k - 1] : 0);
        if (k + 1 < N)
            matrix[k * N + k + 1] = matrix[(k + 1) * N + k] = -1 / mass[k];
    }
    b[0] = -9.81;
    rg_problem problem = rg_problem_linear(N, matrix, b);
    rg_solve_info info = solve(state, &problem, f, a, NULL);
    assert_true(info.residual.natural < 1e-8);
    for (size_t k = N; k-- > 0;) {
        above += 9.81 * mass[k];
        assert_near(f[k] / above, 1, 1e-9);
    }
}

static void takes_no_memory_once_warm(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(&allocator, &context), RG_OK);
    double matrix[] = {2, 1, 1, 2}, b[] = {-1, -1}, f[2];
    rg_problem problem = rg_problem_linear(2, matrix, b);
    rg_solution solution = {.force = f};
    for (int round = 0; round < 4; round++) {
        size_t calls = counter.resizes;
        assert_int_equal(
            rg_solve(context, rg_solver_find("qp"), &problem, NULL, &solution, NULL, NULL), RG_OK);
        assert_near(f[0], 1.0 / 3, 1e-15);
        if (round > 1)
            assert_int_equal(counter.resizes, calls);
    }
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gives_worked_cases, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_redundant_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(agrees_with_enumeration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_is_no_convex_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_mass_ratios, set_up, tear_down),
        cmocka_unit_test(takes_no_memory_once_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
