/* ADMM: closed forms, families, joints, warm start. */
#include "solve_cone_checks.h"

CONE_CHECKS("admm");

static void test_families(void **state) {
    (void)state;
    for (int kind = 0; kind < FAMILY_KINDS; kind++)
        for (uint64_t seed = 0; seed < 3; seed++)
            cone_check_family(&check, (family_kind)kind, 40, seed, 0, 1e-8);
}

static void test_mass_ratios(void **state) {
    (void)state;
    for (double ratio = 1; ratio < 2e4; ratio *= 10)
        cone_check_mass_ratio(&check, ratio, 1e-8);
}

/* From its own answer: nothing to do. From a neighbour's: fewer iterations than cold. */
static void test_warm(void **state) {
    (void)state;
    solve_family *family = family_make(FAMILY_WALL, 60, 1, 0);
    rg_problem problem = *family_global(family);
    size_t rows = rg_problem_rows(&problem);
    double *force = calloc(rows, sizeof *force);
    rg_solve_info cold = cone_solve(&check, &problem, 1e-9, force, NULL), warm;
    cone_expect_solved(&cold, 1e-9, "cold");
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = 1e-9;
    settings.warm = true;
    rg_solution solution = {.force = force};
    const rg_solver *solver = rg_solver_find("admm");
    assert_int_equal(rg_solve(check.context, solver, &problem, &settings, &solution, &warm, NULL),
                     RG_OK);
    cone_expect_solved(&warm, 1e-9, "warm");
    assert_int_equal(warm.iterations, 0);
    free(force);
    family_free(family);
}

/* Larger ones without friction, a convex program. A first-order method does not reach the end of a
 * stack of a hundred boxes. (Problems of moving scenes: tests/run.) */
static void test_large_frictionless(void **state) {
    (void)state;
    for (int kind = FAMILY_WALL; kind < FAMILY_KINDS; kind++) {
        solve_family *family = family_make((family_kind)kind, 400, 2, 0.5);
        rg_problem problem = *family_global(family);
        problem.contact.mu = NULL;
        double *force = calloc(rg_problem_rows(&problem), sizeof *force);
        rg_solve_info info = cone_solve(&check, &problem, 1e-9, force, NULL);
        cone_expect_solved(&info, 1e-9, family_name((family_kind)kind));
        free(force);
        family_free(family);
    }
}

static int setup(void **state) {
    (void)state;
    return cone_group_setup(&check);
}
static int teardown(void **state) {
    (void)state;
    rg_solve_context_destroy(check.context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frictionless), cmocka_unit_test(test_incline),
        cmocka_unit_test(test_joints),       cmocka_unit_test(test_families),
        cmocka_unit_test(test_mass_ratios),  cmocka_unit_test(test_warm),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_large_frictionless),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
