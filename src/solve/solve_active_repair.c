/* What Newton's method on the closed contacts leaves. From forces that are far from the answer, or
 * in a jam, the modes of contacts cycle. The interior point starts from the middle of all cones
 * instead and does not need modes; with redundant contacts it ends in the middle of all answers,
 * from where the next steps start well. It is slow over contacts that do not matter: those that
 * carry no force and separate faster than FAR times the scale are left out, five of six in a pile
 * that falls. Then Newton's method goes on from its forces, over all contacts, which also finds
 * what was left out by mistake.
 *
 * Newton's method is left soon. Where it makes no progress, the forces are at the edge of what is
 * possible, and an answer that is found near them leaves the next steps there: with twice as many
 * steps without progress, or sweeps over the contacts before the interior point, which solve most
 * of these problems at a lower price, six runs of dominoes take 2.5 times as long.
 *
 * Within a limit of effort, with more than a few bodies, the effort goes to relaxation
 * (rg_active_relax): in a crush of hundreds of contacts the path of the interior point often ends
 * before it is near, at twice the price a factorisation. Only where little happens are the few
 * contacts that do not hold solved by themselves first (solve_held.c) and, if that fails, the path
 * is followed.
 *
 * How it fails: the path of the interior point ends, too. The forces are the best that were seen,
 * never worse than the first.
 * Tested by tests/solve/test_active.c. */
#include "base/base_math.h"
#include "problem/problem_split.h"
#include "solve/solve_active.h"
#include "solve/solve_held.h"
#include "solve/solve_system_parts.h"

#include <string.h>

enum {
    FEW_BODIES = 50,     /* no crush but a tight fit: a nut on its bolt, forty bunnies in a bin */
    FIRST_STEPS = 20,    /* factorisations of Newton's method at first ... */
    LAST_STEPS = 8,      /* ... and from the forces of the interior point */
    IDLE_STEPS = 3,      /* without the residual halved */
    INTERIOR_STEPS = 60, /* of the interior point, which also ends where it stalls for long */
    CALM_STEPS = 40      /* likewise, where little happens: 23 to 28 are enough, or many more. A
                            limit of fewer, as in the first pass of a step, is for relaxation */
};
/* What it aims at there. */
#define CALM_ENOUGH 1e-8
/* Open contacts that separate faster than this times the scale stay out. With 2 eight runs of
 * dominoes take 3 % less time, but eleven of funnels, piles and a chain of rings leave 4 problems
 * unsolved instead of 1. */
#define FAR 5.0
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

/* What a solver makes of them, or the forces that there were. */
static rg_status solve_part(rg_active *active, const rg_problem *problem, const rg_solver *solver,
                            const rg_solve_settings *settings, rg_error *error) {
    rg_solve_context *context = active->context;
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    rg_split split;
    rg_problem part;
    rg_solve_info info;
    rg_solution solution = {0};
    rg_active_look(active);
    rg_status status = narrow(active, problem, &split, &part, error);
    size_t members = status ? 0 : split.islands.first[1];
    if (members > 0) {
        RG_TAKE(solution.force, context, rg_problem_rows(&part), error);
        rg_split_gather(&split, 0, active->force, solution.force);
        status = rg_solve(context, solver, &part, settings, &solution, &info, error);
    }
    if (!status && members > 0) {
        rg_split_scatter(&split, 0, solution.force, active->force);
        active->factorisations +=
            (info.factorisations * members + active->blocks - 1) / active->blocks;
    }
    rg_arena_return(&context->arena, mark);
    return status;
}

/* As far as is `enough`: Newton's method gains the digits after that at once, where the path takes
 * half of its steps for them, or stalls. */
static rg_status try_interior(rg_active *active, const rg_problem *problem, double enough,
                              uint32_t steps, rg_error *error) {
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = settings.acceptable = enough;
    settings.effort = steps;
    settings.warm = true;
    return solve_part(active, problem, &rg_solver_interior_point, &settings, error);
}

/* Keeps the forces of the last run if they are the best so far. */
static void keep(const rg_active *active, double *kept, double *best) {
    if (!(active->best_residual < *best))
        return;
    *best = active->best_residual;
    memcpy(kept, active->best, active->system->rows * sizeof *kept);
}

static void return_best(rg_active *active, const double *kept, double best) {
    active->best_residual = best;
    memcpy(active->best, kept, active->system->rows * sizeof *kept);
}

static uint64_t effort_left(const rg_active *active, rg_active_bound bound) {
    return bound.effort > active->factorisations ? bound.effort - active->factorisations : 0;
}

/* Many bodies, within a limit. */
static rg_status solve_heap(rg_active *active, const rg_problem *problem, rg_active_bound bound,
                            rg_error *error) {
    double *given, *kept, best = INFINITY, enough = fmax(bound.tolerance, bound.acceptable);
    rg_held_verdict verdict;
    RG_TAKE(given, active->context, active->system->rows, error);
    RG_TAKE(kept, active->context, active->system->rows, error);
    memcpy(given, active->force, active->system->rows * sizeof *given);
    rg_status status = rg_held_solve(active, enough, &verdict, error);
    if (status || verdict == RG_HELD_SOLVED)
        return status;
    if (verdict == RG_HELD_CALM && effort_left(active, bound) >= CALM_STEPS) {
        status = try_interior(active, problem, CALM_ENOUGH, CALM_STEPS, error);
        if (!status)
            status =
                rg_active_run(active, (rg_active_aim){RG_HELD_TOLERANCE, LAST_STEPS, IDLE_STEPS});
        if (status || active->best_residual <= enough)
            return status;
        keep(active, kept, &best);
        memcpy(active->force, given, active->system->rows * sizeof *given);
    }
    status = rg_active_relax(active, bound.tolerance, effort_left(active, bound));
    keep(active, kept, &best);
    if (!status)
        return_best(active, kept, best);
    return status;
}

rg_status rg_active_solve(rg_active *active, const rg_problem *problem, rg_active_bound bound,
                          rg_error *error) {
    const rg_active_aim first = {bound.tolerance, FIRST_STEPS, IDLE_STEPS},
                        last = {bound.tolerance, LAST_STEPS, IDLE_STEPS};
    double *kept, best = INFINITY, enough = fmax(bound.tolerance, bound.acceptable);
    if (bound.effort && problem->contact.global.blocks > FEW_BODIES)
        return solve_heap(active, problem, bound, error);
    RG_TAKE(kept, active->context, active->system->rows, error);
    memcpy(kept, active->force, active->system->rows * sizeof *kept);
    bool there;
    rg_status status = rg_active_leap(active, bound.tolerance, &there);
    if (!status && !there)
        status = rg_active_run(active, first);
    keep(active, kept, &best);
    if (!status && best > enough) {
        status = try_interior(active, problem, enough, INTERIOR_STEPS, error);
        if (!status)
            status = rg_active_run(active, last);
        keep(active, kept, &best);
    }
    return_best(active, kept, best);
    return status;
}
