/* What Newton's method on the closed contacts leaves where there is no limit of effort: tight fits of
 * a few hundred contacts, in which modes cycle. The interior point starts from the middle of all
 * cones and does not need modes; with redundant contacts it ends in the middle of all answers, from
 * where the next steps start well. It is slow over contacts that do not matter: those that carry no
 * force and separate faster than FAR times the scale are left out. Then Newton's method goes on from
 * its forces, over all contacts. What was left out by mistake shows in the velocities, and is in the
 * next round.
 *
 * Within a limit of effort all of it goes to Newton's method: in a crush of more than 400 contacts
 * the path of the interior point ends before it is near, at twice the price a factorisation.
 *
 * How it fails: both end with the best forces seen, never worse than the first.
 * Tested by tests/solve/test_active.c. */
#include "base/base_math.h"
#include "problem/problem_split.h"
#include "solve/solve_active.h"
#include "solve/solve_system_parts.h"

#include <string.h>

enum {
    ROUNDS = 2,       /* tight fits need a second one */
    FIRST_STEPS = 40, /* factorisations of Newton's method at first ... */
    ROUND_STEPS = 20, /* ... and in a round */
    INTERIOR_STEPS = 60
};
/* Open contacts that separate faster than this times the scale stay out. */
#define FAR 5.0
/* Share of the tolerance that the interior point aims at. */
#define INTERIOR_AIM 0.1

/* Carries force, or might soon. Joints always. */
static bool matters(const rg_active *active, size_t block) {
    const rg_system *s = active->system;
    size_t row = rg_system_block_row(s, block);
    return block >= s->contacts || active->force[row] > 0 || active->u[row] < FAR * s->scale;
}

/* The contacts and joints that matter, as a problem: the only island of the split. */
static rg_status narrow(const rg_active *active, const rg_problem *problem, rg_split *split,
                        rg_problem *part, rg_error *error) {
    rg_solve_context *context = active->context;
    uint32_t count = 0;
    *split = (rg_split){.problem = problem, .scale = active->system->scale, .islands.count = 1};
    RG_TAKE(split->islands.first, context, 2, error);
    RG_TAKE(split->islands.member, context, active->blocks, error);
    RG_TAKE(split->place, context, problem->contact.global.blocks, error);
    for (size_t i = 0; i < active->blocks; i++)
        if (matters(active, i))
            split->islands.member[count++] = (uint32_t)i;
    split->islands.first[0] = 0;
    split->islands.first[1] = count;
    if (rg_split_make(split, &context->arena, 0, part))
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s", rg_status_text(RG_OUT_OF_MEMORY));
    part->connected = false;
    return RG_OK;
}

/* The interior point's forces where it matters, or those that there were. */
static rg_status try_interior(rg_active *active, const rg_problem *problem, rg_active_bound bound,
                              rg_error *error) {
    rg_solve_context *context = active->context;
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = fmax(INTERIOR_AIM * bound.tolerance, 1e-15);
    settings.acceptable = bound.tolerance;
    settings.iteration_limit = INTERIOR_STEPS;
    settings.warm = true;
    rg_split split;
    rg_problem part;
    rg_solve_info info;
    rg_solution solution = {0};
    rg_active_look(active);
    rg_status status = narrow(active, problem, &split, &part, error);
    if (!status && split.islands.first[1] > 0) {
        RG_TAKE(solution.force, context, rg_problem_rows(&part), error);
        rg_split_gather(&split, 0, active->force, solution.force);
        memset(active->force, 0, active->system->rows * sizeof *active->force);
        status =
            rg_solve(context, &rg_solver_interior_point, &part, &settings, &solution, &info, error);
        rg_split_scatter(&split, 0, solution.force, active->force);
        active->factorisations += status ? 0 : info.factorisations;
    }
    rg_arena_return(&context->arena, mark);
    return status;
}

rg_status rg_active_solve(rg_active *active, const rg_problem *problem, rg_active_bound bound,
                          rg_error *error) {
    double *kept, best, enough = fmax(bound.tolerance, bound.acceptable);
    RG_TAKE(kept, active->context, active->system->rows, error);
    int first = bound.effort ? (int)bound.effort : FIRST_STEPS;
    rg_status status = rg_active_run(active, (rg_active_aim){bound.tolerance, first});
    best = active->best_residual;
    memcpy(kept, active->best, active->system->rows * sizeof *kept);
    for (int k = 0; !status && k < ROUNDS && !bound.effort && best > enough; k++) {
        status = try_interior(active, problem, bound, error);
        if (!status)
            status = rg_active_run(active, (rg_active_aim){bound.tolerance, ROUND_STEPS});
        if (active->best_residual < best) {
            best = active->best_residual;
            memcpy(kept, active->best, active->system->rows * sizeof *kept);
        }
    }
    active->best_residual = best;
    memcpy(active->best, kept, active->system->rows * sizeof *kept);
    return status;
}
