/* Contact problems out of our own moving scenes: captured by an observer in the middle of a run,
 * written as FCLIB and read again, then given to every solver of contact problems. They are what
 * the families of solve_families.h are not: badly placed, redundant, with gaps and with impacts.
 *
 * With friction they are solved by auto and newton; the convex solvers (interior-point, admm) must
 * solve them without friction, and with friction interior-point's answer is judged. RIGOR_LONG=1
 * adds problems of some thousand contacts. */
#include "test_scene_support.h"

#include "rigor/contact_force.h"
#include "rigor/problem_file.h"
#include "rigor/solver.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct capture {
    const char *scene, *parameter, *value;
    unsigned step;        /* whose largest problem is taken */
    size_t contacts;      /* it has at least so many */
    double with_friction; /* residual that interior-point reaches with friction, with room */
    bool is_long;
} CAPTURES[] = {
    {"dominoes", "count", "20", 300, 20, 1e-9, false},
    {"dominoes", "count", "20", 500, 40, 1e-9, false},
    {"pile", "count", "60", 300, 40, 1e-9, false},
    {"pyramid", "base", "8", 5, 300, 1e-9, false},
    {"kapla", "levels", "6", 5, 150, 1e-9, false},
    {"mass-ratio", "ratio", "1000", 20, 16, 1e-9, false},
    {"dice3", NULL, NULL, 60, 4, 1e-9, false},
    {"balance2", NULL, NULL, 300, 4, 1e-9, false},
    {"pile", "count", "300", 400, 200, 1e-2, true},
    {"kapla", "levels", "44", 20, 1000, 1e-2, true},
};
enum { CAPTURES_COUNT = sizeof CAPTURES / sizeof *CAPTURES };

static rg_solve_context *context;
static char path[] = "/tmp/rigor-problem-XXXXXX";
static rg_problem_file *captured[CAPTURES_COUNT]; /* null: only with RIGOR_LONG */

typedef struct largest {
    size_t contacts;
} largest;

static void keep_largest(void *user, uint64_t step, size_t island, const rg_problem *problem) {
    largest *so_far = user;
    rg_error error = {0};
    (void)step, (void)island;
    if (problem->contact.contacts <= so_far->contacts)
        return;
    so_far->contacts = problem->contact.contacts;
    if (rg_problem_write_fclib(path, problem, NULL, NULL, &error) != RG_OK)
        fail_msg("%s", error.text);
}

static rg_problem_file *capture_problem(const struct capture *wanted) {
    rg_scene_parameter parameter = {wanted->parameter, wanted->value};
    rg_scene_options options = {.parameters = &parameter,
                                .parameter_count = wanted->parameter != NULL,
                                .method = "stepping"};
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_create_builtin(wanted->scene, &options, &scene, &error) != RG_OK)
        fail_msg("%s", error.text);
    rg_world *world = rg_scene_world(scene);
    largest so_far = {0};
    for (unsigned step = 1; step <= wanted->step; step++) {
        if (step == wanted->step)
            assert_int_equal(rg_world_observe_problems(world, keep_largest, &so_far), RG_OK);
        if (rg_world_step(world, rg_scene_step_size(scene), NULL, &error) != RG_OK)
            fail_msg("%s", error.text);
    }
    rg_scene_destroy(scene);
    if (so_far.contacts < wanted->contacts)
        fail_msg("%s, step %u: %zu contacts", wanted->scene, wanted->step, so_far.contacts);
    rg_problem_file *file;
    if (rg_problem_file_read(path, RG_FORMAT_FCLIB, NULL, &file, &error) != RG_OK)
        fail_msg("%s", error.text);
    return file;
}

static int open_all(void **state) {
    (void)state;
    int file = mkstemp(path);
    if (file < 0 || close(file) != 0)
        return -1;
    for (size_t k = 0; k < CAPTURES_COUNT; k++)
        if (!CAPTURES[k].is_long || test_is_long())
            captured[k] = capture_problem(&CAPTURES[k]);
    return rg_solve_context_create(NULL, &context) == RG_OK ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    for (size_t k = 0; k < CAPTURES_COUNT; k++)
        rg_problem_file_destroy(captured[k]);
    rg_solve_context_destroy(context);
    return unlink(path);
}

/* Solves the k-th problem; the residual by the judge. */
static rg_solve_info solve(const char *solver, size_t k, bool friction, double tolerance) {
    rg_problem problem = *rg_problem_file_problem(captured[k]);
    if (!friction)
        problem.contact.mu = NULL;
    double *force = calloc(rg_problem_rows(&problem), sizeof *force);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = tolerance;
    rg_solution solution = {.force = force};
    rg_solve_info info;
    rg_error error = {0};
    if (rg_solve(context, rg_solver_find(solver), &problem, &settings, &solution, &info, &error))
        fail_msg("%s: %s", solver, error.text);
    print_message("%-10s step %3u, %4zu contacts, %s friction, %-14s %-9s %.1e, %.0f ms\n",
                  CAPTURES[k].scene, CAPTURES[k].step, problem.contact.contacts,
                  friction ? "with" : "no", solver, rg_solve_outcome_name(info.outcome),
                  info.residual.natural, 1e3 * info.seconds);
    free(force);
    return info;
}

static void expect_solved(const char *solver, bool friction, double tolerance) {
    size_t unsolved = 0;
    for (size_t k = 0; k < CAPTURES_COUNT; k++)
        if (captured[k]) {
            rg_solve_info info = solve(solver, k, friction, tolerance);
            unsolved += info.outcome != RG_SOLVED || !(info.residual.natural <= tolerance);
        }
    if (unsolved)
        fail_msg("%s: %zu not solved", solver, unsolved);
}

static void test_auto(void **state) {
    (void)state;
    expect_solved("auto", true, 1e-8);
    expect_solved("auto", false, 1e-8);
}

static void test_newton(void **state) {
    (void)state;
    expect_solved("newton", true, 1e-8);
}

static void test_convex(void **state) {
    (void)state;
    expect_solved("interior-point", false, 1e-10);
    expect_solved("admm", false, 1e-9);
}

static void test_interior_point(void **state) {
    (void)state;
    for (size_t k = 0; k < CAPTURES_COUNT; k++)
        if (captured[k])
            assert_true(solve("interior-point", k, true, 1e-10).residual.natural <=
                        CAPTURES[k].with_friction);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_newton),
        cmocka_unit_test(test_convex),
        cmocka_unit_test(test_interior_point),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
