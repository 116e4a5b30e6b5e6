/* Mending (solve_mend.c): forces that are right but for a few places become right, and never worse;
 * and the limit of the effort of `auto`. */
#include "test_support.h"

#include "rigor/solver.h"
#include "solve/solve_mend.h"
#include "solve_families.h"

#define TOLERANCE 1e-9

/* A problem with its solution by `auto`, and a system to mend it with. */
typedef struct solved_pile {
    solve_family *family;
    const rg_problem *problem;
    rg_solve_context *context;
    double *force, *hurt;
    size_t rows;
    rg_system system;
} solved_pile;

static solved_pile make_pile(size_t contacts, uint64_t seed, double mu) {
    solved_pile pile = {.family = family_make(FAMILY_PILE, contacts, seed, mu)};
    pile.problem = family_global(pile.family);
    pile.rows = rg_problem_rows(pile.problem);
    pile.force = calloc(pile.rows, sizeof *pile.force);
    pile.hurt = calloc(pile.rows, sizeof *pile.hurt);
    assert_non_null(pile.force);
    assert_non_null(pile.hurt);
    assert_int_equal(rg_solve_context_create(NULL, &pile.context), RG_OK);
    rg_solution solution = {.force = pile.force};
    rg_solve_info info;
    assert_int_equal(
        rg_solve(pile.context, rg_solver_find("auto"), pile.problem, NULL, &solution, &info, NULL),
        RG_OK);
    assert_int_equal(info.outcome, RG_SOLVED);
    memcpy(pile.hurt, pile.force, pile.rows * sizeof *pile.hurt);
    return pile;
}

static void free_pile(solved_pile *pile) {
    rg_solve_context_destroy(pile->context);
    family_free(pile->family);
    free(pile->force);
    free(pile->hurt);
}

static double judge(const solved_pile *pile, const double *force) {
    rg_residual residual;
    assert_int_equal(rg_judge(pile->problem, force, NULL, NULL, &residual, NULL), RG_OK);
    return residual.natural;
}

/* What is there of forces after a run on the hurt ones. */
static double mend(solved_pile *pile, double budget) {
    rg_mend work;
    double residual = -1;
    pile->context->depth++; /* as within a solve: its memory lasts */
    assert_int_equal(rg_system_prepare(&pile->system, pile->context, pile->problem, NULL), RG_OK);
    assert_int_equal(rg_mend_create(&work, &pile->system, pile->context, pile->problem, NULL),
                     RG_OK);
    rg_mend_aim aim = {TOLERANCE, 0, budget};
    assert_int_equal(rg_mend_run(&work, pile->hurt, aim, &residual, NULL), RG_OK);
    pile->context->depth--;
    return residual;
}

/* The contacts of three bodies get other forces: the loads of a few change places, others go. */
static void hurt_places(solved_pile *pile) {
    const rg_contact_problem *p = &pile->problem->contact;
    for (size_t i = 0; i < p->contacts; i++)
        for (int side = 0; side < 2; side++) {
            uint32_t body = p->global.contact_blocks[2 * i + (size_t)side];
            if (body == 3)
                memset(pile->hurt + 3 * i, 0, 3 * sizeof *pile->hurt);
            else if (body == 7 || body == 11)
                pile->hurt[3 * i] *= 3;
        }
}

static void hurt_places_become_right(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        solved_pile pile = make_pile(150, seed, 0.4);
        hurt_places(&pile);
        double before = judge(&pile, pile.hurt);
        assert_true(before > 1e-3);
        double told = mend(&pile, 1000), after = judge(&pile, pile.hurt);
        if (!(after <= TOLERANCE))
            fail_msg("seed %llu: %.3g, before %.3g", (unsigned long long)seed, after, before);
        assert_true(told <= TOLERANCE);
        free_pile(&pile);
    }
}

/* Forces that are nothing but wrong, and hardly any budget: whatever comes out is no worse. */
static void never_worse(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        solved_pile pile = make_pile(60, seed, 0.8);
        rg_random random = rg_random_make(seed);
        for (size_t i = 0; i < pile.rows; i++)
            pile.hurt[i] = rg_random_between(&random, -1, 1);
        double before = judge(&pile, pile.hurt), told = mend(&pile, (double)seed);
        double after = judge(&pile, pile.hurt);
        assert_true(after <= before * (1 + 1e-12));
        assert_near(told, after, 1e-6 * after + 1e-12);
        free_pile(&pile);
    }
}

/* The local form is left alone. */
static void local_form_is_left_alone(void **state) {
    (void)state;
    solved_pile pile = make_pile(30, 1, 0.4);
    hurt_places(&pile);
    pile.problem = family_local(pile.family);
    memcpy(pile.force, pile.hurt, pile.rows * sizeof *pile.force);
    assert_near(mend(&pile, 100), -1, 0);
    assert_memory_equal(pile.force, pile.hurt, pile.rows * sizeof *pile.force);
    free_pile(&pile);
}

/* With a limit the list ends early, the answer is honest, and no limit brings the solution. */
static void effort_limits_the_list(void **state) {
    (void)state;
    solve_family *family = family_make(FAMILY_WALL, 400, 3, 0.7);
    const rg_problem *problem = family_global(family);
    size_t rows = rg_problem_rows(problem);
    double *force = calloc(rows, sizeof *force);
    assert_non_null(force);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    rg_solve_settings settings = rg_solve_settings_default();
    rg_solve_info info, limited;
    rg_solution solution = {.force = force};
    settings.tolerance = 1e-14; /* beyond what anyone reaches: the whole list is gone through */
    settings.effort = 20;
    assert_int_equal(
        rg_solve(context, rg_solver_find("auto"), problem, &settings, &solution, &limited, NULL),
        RG_OK);
    rg_residual residual;
    assert_int_equal(rg_judge(problem, force, NULL, NULL, &residual, NULL), RG_OK);
    assert_near(residual.natural, limited.residual.natural, 0.02 * residual.natural);
    settings.effort = 0;
    memset(force, 0, rows * sizeof *force);
    assert_int_equal(
        rg_solve(context, rg_solver_find("auto"), problem, &settings, &solution, &info, NULL),
        RG_OK);
    assert_true(limited.attempts < info.attempts);
    assert_true(limited.factorisations < info.factorisations);
    assert_true(info.residual.natural <= limited.residual.natural);
    rg_solve_context_destroy(context);
    free(force);
    family_free(family);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hurt_places_become_right),
        cmocka_unit_test(never_worse),
        cmocka_unit_test(local_form_is_left_alone),
        cmocka_unit_test(effort_limits_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
