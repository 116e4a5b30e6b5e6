/* Problems of several islands: every solver gets them one by one, unless it is told that there is
 * only one; the account is of all. */
#include "test_support.h"

#include "rigor/solver.h"

#include <math.h>
#include <string.h>

/* Pairs of rows, W = (2 1; 1 2), q = (-1, -3): f = (0, 1.5), a = (0.5, 0). */
enum { PAIRS = 10, ROWS = 2 * PAIRS };

typedef struct pairs {
    double w[ROWS * ROWS], q[ROWS];
} pairs;

static rg_problem make_pairs(pairs *p) {
    *p = (pairs){0};
    for (size_t i = 0; i < ROWS; i++) {
        p->w[i * ROWS + i] = 2;
        p->w[i * ROWS + (i ^ 1)] = 1;
        p->q[i] = i % 2 ? -3 : -1;
    }
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){.dimension = 1, .contacts = ROWS, .q = p->q};
    problem.contact.w = (rg_matrix){.rows = ROWS, .columns = ROWS, .dense = p->w};
    return problem;
}

static void every_solver_gets_islands(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    pairs p;
    rg_problem problem = make_pairs(&p);
    for (size_t s = 0; s < rg_solver_count(); s++) {
        double f[ROWS] = {0}, a[ROWS] = {0};
        rg_solution solution = {.force = f, .velocity = a};
        rg_solve_info info;
        assert_int_equal(rg_solve(context, rg_solver_at(s), &problem, NULL, &solution, &info, NULL),
                         RG_OK);
        assert_int_equal(info.outcome, RG_SOLVED);
        assert_true(info.residual.natural <= 1e-10);
        for (size_t i = 0; i < ROWS; i++) {
            assert_near(f[i], i % 2 ? 1.5 : 0, 1e-9);
            assert_near(a[i], i % 2 ? 0 : 0.5, 1e-9);
        }
    }
    rg_solve_context_destroy(context);
}

/* 20 rows are more than enumerate takes; ten times two are not. */
static void connected_problems_are_not_cut(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    pairs p;
    rg_problem problem = make_pairs(&p);
    problem.connected = true;
    double f[ROWS] = {0};
    rg_solution solution = {.force = f};
    rg_solve_info info;
    const rg_solver *solver = rg_solver_find("enumerate");
    assert_int_equal(rg_solve(context, solver, &problem, NULL, &solution, &info, NULL), RG_OK);
    assert_int_equal(info.outcome, RG_SOLVE_UNSUITABLE);
    rg_solve_context_destroy(context);
}

/* One island that has no solution: it is named, its ray is where its rows are, and the others are
 * solved. */
static void one_bad_island_is_named(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    pairs p;
    rg_problem problem = make_pairs(&p);
    static const double none[] = {1, -1, -1, 1}; /* opposite pushes, both rows close */
    for (size_t i = 0; i < 4; i++)
        p.w[(6 + i / 2) * ROWS + 6 + i % 2] = none[i];
    p.q[6] = p.q[7] = -1;
    double f[ROWS] = {0}, ray[ROWS] = {0};
    rg_solution solution = {.force = f, .ray = ray};
    rg_solve_info info;
    assert_int_equal(
        rg_solve(context, rg_solver_find("auto"), &problem, NULL, &solution, &info, NULL), RG_OK);
    assert_true(info.outcome == RG_SOLVE_INFEASIBLE || info.outcome == RG_SOLVE_RAY);
    assert_non_null(strstr(info.text, "island 4 of 10 (2 rows)"));
    for (size_t i = 0; i < ROWS; i++) {
        assert_true((ray[i] > 0) == (i / 2 == 3));
        if (i / 2 != 3)
            assert_near(f[i], i % 2 ? 1.5 : 0, 1e-9);
    }
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solver_gets_islands),
        cmocka_unit_test(connected_problems_are_not_cut),
        cmocka_unit_test(one_bad_island_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
