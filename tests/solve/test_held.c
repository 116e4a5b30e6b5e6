/* Heaps in which little happens (solve_held.c, solve_held_factor.c): exact answers where few
 * contacts are loose, nothing changed where it is not solved, the same bits with and without what
 * is remembered of the problem before. */
#include "test_support.h"

#include "rigor/solver.h"
#include "solve/solve_held.h"
#include "solve_families.h"

enum { CONTACTS = 480 };

typedef struct heap {
    solve_family *family;
    const rg_problem *problem;
    double *force;
    double enough;
    size_t rows;
} heap;

/* A wall that stands, with forces in the middle of what is possible. */
static heap make_heap(uint64_t seed) {
    heap h = {.family = family_make(FAMILY_WALL, CONTACTS, seed, 0.8), .enough = 1e-8};
    h.problem = family_global(h.family);
    h.rows = rg_problem_rows(h.problem);
    h.force = calloc(h.rows, sizeof *h.force);
    assert_non_null(h.force);
    /* No pushes but gravity's: all contacts hold. */
    size_t f = (size_t)h.family->freedom;
    for (size_t b = 0; b < h.family->bodies; b++)
        for (size_t k = 0; k < f; k++)
            h.family->free_velocity[b * f + k] = k == 2 ? -FAMILY_GRAVITY * FAMILY_STEP : 0;
    memset(h.family->q, 0, h.rows * sizeof *h.family->q);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = 1e-12;
    rg_solution solution = {.force = h.force};
    rg_solve_info info;
    assert_int_equal(rg_solve(context, rg_solver_find("interior-point"), h.problem, &settings,
                              &solution, &info, NULL),
                     RG_OK);
    assert_int_equal(info.outcome, RG_SOLVED);
    rg_solve_context_destroy(context);
    return h;
}

static void end_heap(heap *h) {
    free(h->force);
    family_free(h->family);
}

/* The last brick is pushed, in units of what gravity does to it in a step. */
static void push(heap *h, double x, double y, double z) {
    size_t f = (size_t)h->family->freedom;
    double *v = h->family->free_velocity + (h->family->bodies - 1) * f,
           unit = FAMILY_GRAVITY * FAMILY_STEP;
    v[0] += x * unit, v[1] += y * unit, v[2] += z * unit;
}

typedef struct answer {
    rg_held_verdict verdict;
    rg_status status;
    uint64_t factorisations;
    uint64_t made;   /* factors, by this solve */
    double residual; /* by the judge */
    double *force;
} answer;

static answer solve_in(rg_solve_context *context, const heap *h) {
    answer a = {.force = malloc(h->rows * sizeof *a.force)};
    rg_system system;
    rg_active active;
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    uint64_t made = rg_held_factors_made(context);
    memcpy(a.force, h->force, h->rows * sizeof *a.force);
    context->depth++; /* as within a solve: its memory lasts */
    a.status = rg_system_prepare(&system, context, h->problem, NULL);
    if (!a.status)
        a.status = rg_active_create(&active, &system, context, NULL);
    if (!a.status) {
        memcpy(active.force, h->force, h->rows * sizeof *a.force);
        a.status = rg_held_solve(&active, h->enough, &a.verdict, NULL);
        memcpy(a.force, active.force, h->rows * sizeof *a.force);
        a.factorisations = active.factorisations;
        a.made = rg_held_factors_made(context) - made;
    }
    context->depth--;
    rg_arena_return(&context->arena, mark);
    rg_residual residual = {.natural = INFINITY};
    rg_status judged = rg_judge(h->problem, a.force, NULL, NULL, &residual, NULL);
    assert_true(judged == RG_OK || (judged == RG_NOT_FINITE && isnan(h->force[h->rows - 3])));
    a.residual = residual.natural;
    return a;
}

static answer solve_alone(const heap *h) {
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    answer a = solve_in(context, h);
    rg_solve_context_destroy(context);
    return a;
}

/* A push that the brick withstands, one that it gives way to, one that lifts it. */
static const rg_vec3 pushes[] = {{0.3, 0.1, 0}, {2, -0.5, 0}, {0.2, 0, 1.5}, {0, 0, -3}};
enum { PUSHES = sizeof pushes / sizeof *pushes };

static void answers_are_exact(void **state) {
    (void)state;
    int count = test_cases(4, 40);
    for (uint64_t seed = 1; seed <= (uint64_t)count; seed++)
        for (int p = 0; p < PUSHES; p++) {
            heap h = make_heap(seed);
            push(&h, pushes[p].x, pushes[p].y, pushes[p].z);
            rg_residual before;
            assert_int_equal(rg_judge(h.problem, h.force, NULL, NULL, &before, NULL), RG_OK);
            assert_true(before.natural > 1e-2);
            answer a = solve_alone(&h);
            assert_int_equal(a.status, RG_OK);
            if (a.verdict != RG_HELD_SOLVED || !(a.residual <= 2 * RG_HELD_TOLERANCE))
                fail_msg("seed %d, push %d: verdict %d, residual %.3g", (int)seed, p,
                         (int)a.verdict, a.residual);
            assert_true(a.factorisations > 0);
            free(a.force);
            end_heap(&h);
        }
}

/* Where all contacts have changed nothing is tried, and nothing is changed. */
static void what_is_not_calm_is_left_alone(void **state) {
    (void)state;
    heap h = make_heap(1);
    rg_random random = rg_random_make(7);
    for (size_t i = 0; i < h.family->bodies * (size_t)h.family->freedom; i++)
        h.family->free_velocity[i] *= rg_random_between(&random, 0.99, 1.01);
    answer a = solve_alone(&h);
    assert_int_equal(a.status, RG_OK);
    assert_int_equal(a.verdict, RG_HELD_NOT);
    assert_int_equal(a.factorisations, 0);
    assert_memory_equal(a.force, h.force, h.rows * sizeof *h.force);
    free(a.force);
    end_heap(&h);
}

/* More exact than rounding allows, or from forces that are no numbers: not solved this way, and no
 * error. */
static void what_is_not_solved_is_left_alone(void **state) {
    (void)state;
    heap h = make_heap(1);
    push(&h, pushes[0].x, pushes[0].y, pushes[0].z);
    for (int k = 0; k < 2; k++) {
        if (k == 0)
            h.enough = 1e-20;
        else
            h.enough = 1e-8, h.force[h.rows - 3] = NAN;
        answer a = solve_alone(&h);
        assert_int_equal(a.status, RG_OK);
        assert_int_not_equal(a.verdict, RG_HELD_SOLVED);
        assert_true(a.factorisations > 0);
        assert_memory_equal(a.force, h.force, h.rows * sizeof *h.force);
        free(a.force);
    }
    end_heap(&h);
}

/* The factor of the problem before serves as long as what holds is the same, whatever happens to
 * the others, and never changes a bit. */
static void memory_changes_no_bit(void **state) {
    (void)state;
    heap h = make_heap(2);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    for (int step = 0; step < 7; step++) {
        push(&h, 0.05, 0.02, 0.01);
        if (step == 5) /* a contact that holds has moved */
            h.family->jacobian[4] += 1e-13;
        answer with = solve_in(context, &h), without = solve_alone(&h);
        assert_int_equal(with.verdict, RG_HELD_SOLVED);
        assert_int_equal(without.verdict, RG_HELD_SOLVED);
        assert_memory_equal(with.force, without.force, h.rows * sizeof *h.force);
        assert_int_equal(with.factorisations, without.factorisations);
        assert_true(without.made > 0);
        assert_int_equal(with.made > 0, step == 0 || step == 5);
        free(with.force);
        free(without.force);
    }
    rg_solve_context_destroy(context);
    end_heap(&h);
}

/* Without memory for one thing or another it says so. */
static void fails_without_memory(void **state) {
    (void)state;
    heap h = make_heap(3);
    push(&h, 2, -0.5, 0);
    bool done = false;
    for (size_t limit = 1; !done && limit < 500; limit++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        rg_solve_context *context;
        counter.fail_after = limit;
        if (rg_solve_context_create(&allocator, &context))
            continue;
        answer a = solve_in(context, &h);
        done = a.status == RG_OK;
        if (!done)
            assert_int_equal(a.status, RG_OUT_OF_MEMORY);
        else
            assert_int_equal(a.verdict, RG_HELD_SOLVED);
        free(a.force);
        rg_solve_context_destroy(context);
    }
    assert_true(done);
    end_heap(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_exact),
        cmocka_unit_test(what_is_not_calm_is_left_alone),
        cmocka_unit_test(what_is_not_solved_is_left_alone),
        cmocka_unit_test(memory_changes_no_bit),
        cmocka_unit_test(fails_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
