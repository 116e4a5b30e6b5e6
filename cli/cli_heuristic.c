/* `rigor run --solver lp`: how often the guesses of Baraff's heuristic of 1989 are right.
 *
 * The heuristic guesses which contacts break, the set V: none (6.2), then the ones that the
 * residual of the minimum-sum forces predicts (6.3, 6.4); a guess is tested by a linear program.
 * The paper found V = {} right "in the vast majority" of cases. Here every contact problem of the
 * run is counted by the guess that solves it, as it is posed, before the method does anything to
 * it. The run itself asks the heuristic too and turns to another solver where it is wrong: its
 * forces are exact.
 *
 * Counted apart: problems with friction, which the heuristic is not for, and problems in which no
 * contact needs a force (b >= 0), where there is nothing to guess. */
#include "cli.h"

#include "rigor/contact_force.h"
#ifdef RIGOR_HAVE_LP
#include "rigor/lp.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef RIGOR_HAVE_LP

static bool has_friction(const rg_linear_problem *problem) {
    for (size_t i = 0; problem->kinds && i < problem->size; i++)
        if (problem->kinds[i] != RG_ROW_UNILATERAL && problem->kinds[i] != RG_ROW_FREE)
            return true;
    return false;
}

static bool needs_force(const rg_linear_problem *problem) {
    for (size_t i = 0; i < problem->size; i++)
        if (problem->b[i] < 0)
            return true;
    return false;
}

static rg_status make_room(cli_heuristic *heuristic, size_t rows) {
    if (rows <= heuristic->capacity)
        return RG_OK;
    double *force = realloc(heuristic->force, 2 * rows * sizeof *force);
    if (!force)
        return RG_OUT_OF_MEMORY;
    heuristic->force = force;
    heuristic->capacity = 2 * rows;
    return RG_OK;
}

static void count_problem(void *user, uint64_t step, size_t number, const rg_problem *problem) {
    (void)step;
    (void)number;
    cli_heuristic *heuristic = user;
    if (problem->kind != RG_PROBLEM_LINEAR || has_friction(&problem->linear)) {
        heuristic->with_friction++;
        return;
    }
    if (!needs_force(&problem->linear)) {
        heuristic->without_force++;
        return;
    }
    rg_lp_details details = {0};
    rg_status status = make_room(heuristic, problem->linear.size);
    rg_solution solution = {.force = heuristic->force};
    if (status == RG_OK)
        status = rg_lp_heuristic(heuristic->context, problem, &solution, &details, NULL);
    if (status != RG_OK) {
        heuristic->status = status;
        return;
    }
    heuristic->problems++;
    heuristic->empty_right += details.stage == RG_LP_EMPTY;
    heuristic->predicted_right += details.stage == RG_LP_PREDICTED;
    heuristic->mispredicted += details.stage == RG_LP_FALLBACK;
    heuristic->infeasible += details.stage == RG_LP_NONE;
}

bool cli_heuristic_is_built_in(void) {
    return true;
}

int cli_heuristic_begin(cli_heuristic *heuristic, rg_scene *scene) {
    rg_world *world = rg_scene_world(scene);
    const rg_method *method = rg_world_method(world);
    rg_method_settings settings = rg_world_settings(world);
    rg_error error = {0};
    if (strcmp(rg_method_name(method), "analytic") != 0) {
        cli_complain("run: --solver: lp is for the contact forces of the method analytic; add "
                     "--method analytic");
        return EXIT_USAGE;
    }
    settings.solver = rg_solver_lp();
    rg_status status = rg_world_set_method(world, method, &settings, &error);
    if (status == RG_OK)
        status = rg_solve_context_create(NULL, &heuristic->context);
    if (status == RG_OK)
        status = rg_world_observe_problems(world, count_problem, heuristic);
    if (status == RG_OK)
        return EXIT_GOOD;
    cli_complain("run: --solver: lp: %s", error.text[0] ? error.text : rg_status_text(status));
    return cli_exit_code(status);
}

void cli_heuristic_end(cli_heuristic *heuristic) {
    rg_solve_context_destroy(heuristic->context);
    free(heuristic->force);
    *heuristic = (cli_heuristic){0};
}

#else

bool cli_heuristic_is_built_in(void) {
    return false;
}

int cli_heuristic_begin(cli_heuristic *heuristic, rg_scene *scene) {
    (void)heuristic;
    (void)scene;
    return EXIT_USAGE;
}

void cli_heuristic_end(cli_heuristic *heuristic) {
    (void)heuristic;
}

#endif

static void print_share(const cli_heuristic *heuristic, const char *name, uint64_t count) {
    printf("    %-28s %14" PRIu64, name, count);
    if (heuristic->problems)
        printf(" %9.4f %%", 100 * (double)count / (double)heuristic->problems);
    putchar('\n');
}

void cli_heuristic_print(const cli_heuristic *heuristic) {
    puts("\n  guesses of which contacts break (Baraff 1989)");
    print_share(heuristic, "none does: right", heuristic->empty_right);
    print_share(heuristic, "predicted: right", heuristic->predicted_right);
    print_share(heuristic, "predicted: wrong", heuristic->mispredicted);
    if (heuristic->infeasible)
        print_share(heuristic, "no forces exist", heuristic->infeasible);
    printf("    %-28s %14" PRIu64 "\n", "nothing to guess", heuristic->without_force);
    printf("    %-28s %14" PRIu64 "\n", "not asked: friction", heuristic->with_friction);
}

void cli_heuristic_print_json(const cli_heuristic *heuristic, uint64_t fallbacks) {
    printf("\"heuristic\": {\"problems\": %" PRIu64 ", \"empty_right\": %" PRIu64
           ", \"predicted_right\": %" PRIu64 ", \"mispredicted\": %" PRIu64
           ", \"infeasible\": %" PRIu64 ", \"without_force\": %" PRIu64
           ", \"with_friction\": %" PRIu64 ", \"fallbacks\": %" PRIu64 "}, ",
           heuristic->problems, heuristic->empty_right, heuristic->predicted_right,
           heuristic->mispredicted, heuristic->infeasible, heuristic->without_force,
           heuristic->with_friction, fallbacks);
}
