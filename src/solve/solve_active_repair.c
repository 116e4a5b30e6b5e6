/* What Newton's method on the closed contacts leaves. From forces that are far from the answer, or
 * in a jam, the modes of contacts cycle. The interior point starts from the middle of all cones
 * instead and does not need modes; with redundant contacts it ends in the middle of all answers,
 * from where the next steps start well. It is slow over contacts that do not matter: those that
 * carry no force and separate faster than FAR times the scale are left out, five of six in a pile
 * that falls. Then Newton's method goes on from its forces, over all contacts. What was left out by
 * mistake shows in the velocities, and is in the next round.
 *
 * Most often only a few contacts of a large problem stay wrong. Then a region is solved alone, the
 * bodies at the worst contacts and a ring or more around them, with all other forces held:
 *
 *     M (v - v') = J_in' r_in,   v' = v_free + M^-1 J_out' r_out,
 *
 * and Newton's method takes away what is left at its rim. In a pile of 300 that falls, most
 * repairs end so, for the price of two or three factorisations instead of 20 to 80. Where forces
 * are far from the answer, because bodies have met, sweeps go first.
 *
 * How it fails: the path of the interior point ends, too. It ends after the rounds or with the
 * budget, with the best forces seen, never worse than the first.
 * Tested by tests/solve/test_active.c. */
#include "base/base_math.h"
#include "problem/problem_split.h"
#include "solve/solve_active.h"
#include "solve/solve_polish.h"
#include "solve/solve_system_parts.h"

#include <string.h>

enum {
    ROUNDS = 8,
    WHOLE_ROUNDS = 2, /* of them over all of the problem; tight fits need a second one ... */
    WHOLE_BOUND = 1,  /* ... but with many contacts, within a budget, its path is mostly the same */
    RINGS_FIRST = 1,  /* of bodies around the worst contacts ... */
    RINGS_MOST = 3,   /* ... and if that does not help, before a round over all */
    FEW = 400,        /* contacts and joints: no more are solved as a whole, which costs little, and
                         ends in the middle of all answers */
    SWEEPS = 60,
    FIRST_STEPS = 20, /* factorisations of Newton's method at first ... */
    ROUND_STEPS = 8,  /* ... and in a round */
    IDLE_STEPS = 6,   /* without the residual halved */
    INTERIOR_STEPS = 60
};
/* Open contacts that separate faster than this times the scale stay out. */
#define FAR 5.0
/* Residual of forces that are swept first. */
#define SWEPT 1.0
/* Residual from which forces are right but for a few places; contacts with at least this share of
 * it are these. */
#define NEARLY  1e-2
#define TROUBLE 0.03
/* Progress: the residual falls below this share of the best. */
#define PROGRESS 0.5
/* Share of the tolerance that the interior point aims at. */
#define INTERIOR_AIM 0.1

/* Carries force, or might soon. Joints always. */
static bool matters(const rg_active *active, size_t block) {
    const rg_system *s = active->system;
    size_t row = rg_system_block_row(s, block);
    return block >= s->contacts || active->force[row] > 0 || active->u[row] < FAR * s->scale;
}

/* --- which part of the problem ---------------------------------------------------------------- */

/* A part: bodies around the worst contacts, or all. */
typedef struct region {
    uint8_t *near; /* per body; null: all */
    rg_split split;
    rg_problem held, part;
} region;

/* Of a contact or joint at active->force, whose velocities active->u has. */
static double residual_of(const rg_active *active, size_t block) {
    const rg_system *s = active->system;
    size_t row = rg_system_block_row(s, block);
    if (block >= s->contacts)
        return rg_polish_joint(s, block - s->contacts, active->force, active->u);
    bool force = false;
    for (size_t k = row; k < row + rg_system_block_size(s, block); k++)
        force = force || active->force[k] != 0;
    return force || active->u[row] < 0 ? rg_polish_contact(s, block, active->force, active->u) : 0;
}

static bool touches(const rg_active *active, size_t block, const uint8_t *near, uint8_t mark) {
    rg_system_touch touch = rg_system_touched(active->system, block);
    return (touch.blocks[0] != RG_NO_BLOCK && near[touch.blocks[0]] == mark) ||
           (touch.blocks[1] != RG_NO_BLOCK && near[touch.blocks[1]] == mark);
}

static void mark_bodies(const rg_active *active, size_t block, uint8_t *near, uint8_t mark) {
    rg_system_touch touch = rg_system_touched(active->system, block);
    for (int side = 0; side < 2; side++)
        if (touch.blocks[side] != RG_NO_BLOCK && !near[touch.blocks[side]])
            near[touch.blocks[side]] = mark;
}

/* The bodies at the worst contacts, and rings of others around them, along contacts that matter. */
static void find_near(const rg_active *active, int rings, uint8_t *near) {
    const rg_system *s = active->system;
    double worst = active->residual * s->scale;
    memset(near, 0, s->problem->global.blocks);
    for (size_t i = 0; i < active->blocks; i++)
        if (residual_of(active, i) >= TROUBLE * worst)
            mark_bodies(active, i, near, 1);
    for (uint8_t ring = 1; ring <= rings; ring++)
        for (size_t i = 0; i < active->blocks; i++)
            if (matters(active, i) && touches(active, i, near, ring))
                mark_bodies(active, i, near, (uint8_t)(ring + 1));
}

static bool is_member(const rg_active *active, const region *r, size_t block) {
    if (!matters(active, block))
        return false;
    if (!r->near)
        return true;
    rg_system_touch touch = rg_system_touched(active->system, block);
    return (touch.blocks[0] != RG_NO_BLOCK && r->near[touch.blocks[0]]) ||
           (touch.blocks[1] != RG_NO_BLOCK && r->near[touch.blocks[1]]);
}

/* The contacts and joints of a region that matter, as a problem in which the forces of all others
 * are held: the only island of the split. */
static rg_status narrow(rg_active *active, const rg_problem *problem, region *r, rg_error *error) {
    rg_solve_context *context = active->context;
    const rg_system *s = active->system;
    double *force = active->force;
    uint32_t count = 0;
    r->held = *problem;
    r->split = (rg_split){.problem = &r->held, .scale = s->scale, .islands.count = 1};
    RG_TAKE(r->split.islands.first, context, 2, error);
    RG_TAKE(r->split.islands.member, context, active->blocks, error);
    RG_TAKE(r->split.place, context, problem->contact.global.blocks, error);
    RG_TAKE(active->force, context, s->rows, error);
    memcpy(active->force, force, s->rows * sizeof *force);
    for (size_t i = 0; i < active->blocks; i++)
        if (is_member(active, r, i))
            r->split.islands.member[count++] = (uint32_t)i;
    for (uint32_t k = 0; k < count; k++) {
        size_t block = r->split.islands.member[k];
        memset(active->force + rg_system_block_row(s, block), 0,
               rg_system_block_size(s, block) * sizeof *force);
    }
    rg_active_velocities(active);
    active->force = force;
    r->held.contact.global.free_velocity = active->v;
    r->split.islands.first[0] = 0;
    r->split.islands.first[1] = count;
    if (rg_split_make(&r->split, &context->arena, 0, &r->part))
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s", rg_status_text(RG_OUT_OF_MEMORY));
    r->part.connected = false;
    return RG_OK;
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* What a solver makes of a region, or the forces that there were. `rings` < 0: all. */
static rg_status solve_region(rg_active *active, const rg_problem *problem, int rings,
                              const rg_solver *solver, const rg_solve_settings *settings,
                              rg_error *error) {
    rg_solve_context *context = active->context;
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    region r = {0};
    rg_solve_info info;
    rg_solution solution = {0};
    rg_active_look(active);
    if (rings >= 0) {
        RG_TAKE(r.near, context, problem->contact.global.blocks, error);
        find_near(active, rings, r.near);
    }
    rg_status status = narrow(active, problem, &r, error);
    size_t members = r.split.islands.first[1];
    if (!status && members > 0) {
        RG_TAKE(solution.force, context, rg_problem_rows(&r.part), error);
        rg_split_gather(&r.split, 0, active->force, solution.force);
        status = rg_solve(context, solver, &r.part, settings, &solution, &info, error);
    }
    if (!status && members > 0) {
        rg_split_scatter(&r.split, 0, solution.force, active->force);
        active->factorisations +=
            (info.factorisations * members + active->blocks - 1) / active->blocks;
    }
    rg_arena_return(&context->arena, mark);
    return status;
}

/* Sweeps are cheap. In a large problem they bring forces that are far from the answer nearer; and
 * often they set right the few contacts whose modes cycle under Newton's method. */
static rg_status sweep(rg_active *active, const rg_problem *problem, rg_active_bound bound,
                       rg_error *error) {
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = bound.tolerance;
    settings.iteration_limit = SWEEPS;
    settings.warm = true;
    return active->system->joints
               ? RG_OK
               : solve_region(active, problem, -1, &rg_solver_gauss_seidel, &settings, error);
}

/* Newton's method from forces that are given, swept if they are far off. */
static rg_status run_first(rg_active *active, const rg_problem *problem, rg_active_bound bound,
                           rg_error *error) {
    rg_status status = RG_OK;
    rg_active_look(active);
    if (active->blocks > FEW && active->residual > SWEPT)
        status = sweep(active, problem, bound, error);
    if (!status)
        status = rg_active_run(active, (rg_active_aim){bound.tolerance, FIRST_STEPS, IDLE_STEPS});
    return status;
}

static rg_status try_interior(rg_active *active, const rg_problem *problem, int rings,
                              rg_active_bound bound, rg_error *error) {
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = fmax(INTERIOR_AIM * bound.tolerance, 1e-15);
    settings.acceptable = bound.tolerance;
    settings.iteration_limit = INTERIOR_STEPS;
    settings.warm = true;
    if (bound.effort)
        settings.effort = (uint32_t)(bound.effort - active->factorisations);
    return solve_region(active, problem, rings, &rg_solver_interior_point, &settings, error);
}

/* Rings of bodies around the worst contacts in the first round, or after one over all. */
static int first_rings(const rg_active *active, double best) {
    return best <= NEARLY && active->blocks > FEW ? RINGS_FIRST : -1;
}

/* The same in the next one; `fell`: the last one helped. */
static int next_rings(const rg_active *active, int rings, bool fell, double best) {
    if (rings < 0 || best > NEARLY)
        return first_rings(active, best);
    if (fell)
        return rings;
    return rings < RINGS_MOST ? RINGS_MOST : -1;
}

/* Keeps the forces of the last run if they are the best so far; true if they are much better. */
static bool keep(const rg_active *active, double *kept, double *best) {
    double before = *best;
    if (active->best_residual < before) {
        *best = active->best_residual;
        memcpy(kept, active->best, active->system->rows * sizeof *kept);
    }
    return active->best_residual < PROGRESS * before;
}

rg_status rg_active_solve(rg_active *active, const rg_problem *problem, rg_active_bound bound,
                          rg_error *error) {
    const rg_active_aim aim = {bound.tolerance, ROUND_STEPS, IDLE_STEPS};
    double *kept, best = INFINITY, enough = fmax(bound.tolerance, bound.acceptable);
    RG_TAKE(kept, active->context, active->system->rows, error);
    memcpy(kept, active->force, active->system->rows * sizeof *kept);
    rg_status status = run_first(active, problem, bound, error);
    keep(active, kept, &best);
    if (!status && best > enough && best <= NEARLY) {
        status = sweep(active, problem, bound, error);
        if (!status)
            status = rg_active_run(active, aim);
        keep(active, kept, &best);
        memcpy(active->force, kept, active->system->rows * sizeof *kept);
    }
    int rings = first_rings(active, best), whole = 0;
    const int most = bound.effort ? WHOLE_BOUND : WHOLE_ROUNDS;
    for (int k = 0; !status && k < ROUNDS && (rings >= 0 || whole < most) && best > enough &&
                    (!bound.effort || active->factorisations < bound.effort);
         k++) {
        status = try_interior(active, problem, rings, bound, error);
        whole += rings < 0;
        if (!status)
            status = rg_active_run(active, aim);
        rings = next_rings(active, rings, keep(active, kept, &best), best);
        if (rings >= 0)
            memcpy(active->force, kept, active->system->rows * sizeof *kept);
    }
    active->best_residual = best;
    memcpy(active->best, kept, active->system->rows * sizeof *kept);
    return status;
}
