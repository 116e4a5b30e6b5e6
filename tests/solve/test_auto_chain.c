/* The list of attempts of solve_auto.c from inside: what is said of a problem that no attempt
 * takes. There is none such, so the chain is left empty by hand. The source is included, under
 * another name of the solver. */
#define rg_solver_auto rg_solver_auto_from_inside
#include "solve/solve_auto.c"
#undef rg_solver_auto

#include "test_support.h"

static rg_solve_context *context;

static int open_context(void **state) {
    (void)state;
    return rg_solve_context_create(NULL, &context) == RG_OK ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    rg_solve_context_destroy(context);
    return 0;
}

/* One row that is violated: a force of 1 would be the answer, none is not. */
static void an_empty_chain_is_a_failure(void **state) {
    (void)state;
    const double a[1] = {1}, b[1] = {-1};
    double force[1] = {0};
    rg_problem problem = rg_problem_linear(1, a, b);
    rg_solve_settings settings = rg_solve_settings_default();
    rg_solution solution = {.force = force};
    rg_solve_info info = {0};
    rg_solve_report report = {0};
    chain c;
    context->info = &info;
    assert_int_equal(chain_make(&c, context, &problem, &settings, force, NULL), RG_OK);
    c.class = class_of(&problem);
    conclude(&c, &solution, &report);
    assert_int_equal(info.outcome, RG_SOLVE_UNSUITABLE);
    assert_int_equal(report.outcome, RG_SOLVE_UNSUITABLE);
    assert_true(info.solver == NULL && info.attempts == 0 && info.text[0]);
    assert_true(isnan(info.residual.natural) && isnan(info.residual.feasibility));
    assert_true(isnan(info.residual.force) && isnan(info.residual.complementarity));
    assert_true(isnan(info.residual.dissipation));
}

/* Sweeps are promised by a residual that falls: not by none, and not by one that is 0. */
static void nothing_judged_promises_no_sweeps(void **state) {
    (void)state;
    const double a[1] = {1}, b[1] = {-1};
    double force[1] = {0};
    rg_problem problem = rg_problem_linear(1, a, b);
    rg_solve_settings settings = rg_solve_settings_default();
    chain c;
    assert_int_equal(chain_make(&c, context, &problem, &settings, force, NULL), RG_OK);
    assert_true(more_sweeps(&c) == NEVER);
    c.info.residual.natural = 0;
    assert_true(more_sweeps(&c) == NEVER);
    c.info.residual.natural = 1e-9;
    assert_true(more_sweeps(&c) != NEVER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_chain_is_a_failure),
        cmocka_unit_test(nothing_judged_promises_no_sweeps),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
