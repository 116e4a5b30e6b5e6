/* rg_world_interrupt: at whatever moment of a step it is called, the step ends with
 * RG_INTERRUPTED, nothing of it stays, and what follows has the bits of a run without it. The
 * moments: every call of a force function (stepping: the beginning; the others: every evaluation),
 * and every contact problem. */
#include "test_world_support.h"

#include "base/base_thread.h"
#include "rigor/contact_force.h"
#include "solve/solve.h"

#include <stdatomic.h>

enum { STEPS = 16, BOXES = 3 };
#define STEP 0.01

/* Moments are counted; at number `at` the world is interrupted. 0: never. */
typedef struct moments {
    rg_world *world;
    int count, at;
} moments;

static void pass(moments *m) {
    if (++m->count == m->at)
        rg_world_interrupt(m->world);
}

/* A wind that turns, so that no step repeats another. */
static void blow(void *user, rg_force_context *context) {
    pass(user);
    for (size_t i = 0; i < context->body_count; i++)
        context->force[i].x += 0.5 * context->velocity[i].z + 20 * context->time;
}

static void see(void *user, uint64_t step, size_t island, const rg_problem *problem) {
    (void)step, (void)island, (void)problem;
    pass(user);
}

/* Boxes that fall onto each other. */
static rg_world *heap_of(const char *method, bool by_problem, moments *m) {
    rg_world_def def = rg_world_def_default();
    rg_error error;
    def.method = rg_method_find(method);
    rg_world *world = world_of(&def);
    rg_body_def ground = rg_body_def_default();
    ground.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &ground);
    for (int i = 0; i < BOXES; i++)
        add_box(world, NULL, (rg_vec3){0.2, 0.2, 0.2}, (rg_vec3){0.03 * i, 0, 0.11 + 0.21 * i});
    rg_force_def wind = rg_force_def_default(RG_FORCE_FUNCTION);
    wind.function = blow;
    static moments nobody;
    wind.user = by_problem ? &nobody : m;
    rg_force_id id;
    assert_int_equal(rg_world_add_force(world, &wind, &id, &error), RG_OK);
    if (by_problem)
        assert_int_equal(rg_world_observe_problems(world, see, m), RG_OK);
    m->world = world;
    return world;
}

/* The state hash after all steps; how many of them were interrupted. */
static uint64_t run(const char *method, bool by_problem, moments *m, int *interrupted) {
    rg_world *world = heap_of(method, by_problem, m);
    *interrupted = 0;
    for (int i = 0; i < STEPS;) {
        uint64_t before = rg_world_state_hash(world);
        rg_error error = {0};
        rg_status status = rg_world_step(world, STEP, NULL, &error);
        if (status == RG_OK) {
            i++;
            continue;
        }
        if (status != RG_INTERRUPTED || ++*interrupted > 1)
            fail_msg("%s, moment %d: %s", method, m->at, error.text);
        assert_true(rg_world_state_hash(world) == before);
        assert_int_equal(rg_world_step_count(world), i);
        assert_non_null(strstr(error.text, "was interrupted"));
    }
    uint64_t hash = rg_world_state_hash(world);
    rg_world_destroy(world);
    return hash;
}

static void try_all_moments(const char *method, bool by_problem, int cases) {
    int interrupted;
    moments m = {0};
    uint64_t expected = run(method, by_problem, &m, &interrupted);
    int total = m.count;
    assert_int_equal(interrupted, 0);
    assert_true(total >= STEPS / 4);
    int stride = total / cases + 1;
    for (int at = 1; at <= total; at += stride) {
        m = (moments){.at = at};
        if (run(method, by_problem, &m, &interrupted) != expected)
            fail_msg("%s: other bits after an interruption at moment %d of %d", method, at, total);
        assert_int_equal(interrupted, 1);
    }
}

static void at_every_evaluation(void **state) {
    (void)state;
    try_all_moments("stepping", false, test_cases(100, 1000));
    try_all_moments("analytic", false, test_cases(100, 5000));
    try_all_moments("penalty", false, test_cases(30, 500));
}

static void at_every_problem(void **state) {
    (void)state;
    try_all_moments("stepping", true, test_cases(100, 1000));
    try_all_moments("analytic", true, test_cases(100, 5000));
}

/* Asked for between two steps: the next one is not made, and only that. */
static void between_steps(void **state) {
    (void)state;
    moments m = {0};
    rg_world *world = heap_of("stepping", false, &m);
    step_world(world, STEP, 1);
    rg_world_interrupt(world);
    rg_world_interrupt(world);
    int calls = m.count;
    rg_error error;
    assert_int_equal(rg_world_step(world, STEP, NULL, &error), RG_INTERRUPTED);
    assert_string_equal(error.text, "the step from t = 0.01 s was interrupted");
    assert_int_equal(m.count, calls);
    step_world(world, STEP, 1);
    rg_world_destroy(world);
}

/* Every solver fails in words where it is asked to end, and works where it is not. */
static void solvers_end(void **state) {
    (void)state;
    double matrix[] = {2, 1, 1, 2}, b[] = {-1, -1}, force[2], velocity[2];
    rg_problem problem = rg_problem_linear(2, matrix, b);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    atomic_bool stop = false;
    context->stop = &stop;
    for (size_t i = 0; i < rg_solver_count(); i++)
        for (int asked = 0; asked < 2; asked++) {
            rg_solution solution = {.force = force, .velocity = velocity};
            rg_solve_info info;
            rg_error error = {0};
            memset(force, 0, sizeof force);
            stop = asked;
            rg_status status =
                rg_solve(context, rg_solver_at(i), &problem, NULL, &solution, &info, &error);
            assert_int_equal(status, asked ? RG_INTERRUPTED : RG_OK);
        }
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_every_evaluation),
        cmocka_unit_test(at_every_problem),
        cmocka_unit_test(between_steps),
        cmocka_unit_test(solvers_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
