/* Repair: where Newton's method on the whole stops, a few contacts are on the verge between modes,
 * and what is wrong there keeps all others from going on. The contacts with the largest residuals
 * and all others of the bodies that they touch are small problems if the forces elsewhere are held:
 *
 *     M (v - v') = J_in' r_in,   v' = v_free + M^-1 J_out' r_out.
 *
 * Each such cluster is solved by itself, by the same Newton or, if that fails, by the interior
 * point; then Newton's method on the whole goes on. Where that does not help, the clusters get one
 * more ring of bodies. It is a step of a Gauss-Seidel method with large blocks, chosen by need.
 *
 * How it fails: places that stay wrong whatever is held. It ends after ROUNDS, with the best forces
 * seen, never worse than the first.
 * Tested by tests/solve/test_active.c. */
#include "base/base_math.h"
#include "base/base_sets.h"
#include "problem/problem_split.h"
#include "solve/solve_active.h"
#include "solve/solve_polish.h"
#include "solve/solve_system_parts.h"

#include <string.h>

enum {
    ROUNDS = 8,
    FIRST_STEPS = 20, /* factorisations of the whole, at first ... */
    ROUND_STEPS = 8,  /* ... and in a round */
    IDLE_STEPS = 6,   /* without the residual halved */
    CLUSTER_STEPS = 25,
    CLUSTER_IDLE = 10,
    CLUSTER_INTERIOR = 150, /* contacts up to which the interior point is tried on a cluster ... */
    INTERIOR_STEPS = 60,    /* ... for so many steps */
    RINGS_MOST = 4
};
/* Contacts with more than this share of the largest residual are where the trouble is. */
#define TROUBLE 0.03
/* Open contacts that separate faster than this times the scale stay out of a cluster. */
#define FAR 5.0
/* Share of the tolerance that clusters are solved to. */
#define CLUSTER_AIM 0.1
/* A round that leaves more than this share of the residual has not helped: one more ring. */
#define HELPED 0.5

typedef struct repair {
    rg_active *active;
    const rg_problem *problem;
    double tolerance;
    rg_split split;   /* one island: the cluster */
    uint8_t *near;    /* bodies: part of a cluster */
    uint32_t *parent; /* bodies: clusters as sets */
    double *rest, *v; /* forces that are held, and the velocities that they give */
} repair;

static rg_status repair_make(repair *r, rg_active *active, const rg_problem *problem,
                             double tolerance, rg_error *error) {
    rg_solve_context *context = active->context;
    size_t bodies = problem->contact.global.blocks;
    *r = (repair){.active = active, .problem = problem, .tolerance = tolerance};
    RG_TAKE(r->near, context, bodies, error);
    RG_TAKE(r->parent, context, bodies, error);
    RG_TAKE(r->rest, context, active->system->rows, error);
    RG_TAKE(r->v, context, active->system->velocities, error);
    RG_TAKE(r->split.islands.first, context, 2, error);
    RG_TAKE(r->split.islands.member, context, active->blocks, error);
    RG_TAKE(r->split.place, context, bodies, error);
    r->split.islands.count = 1;
    r->split.scale = active->system->scale;
    return RG_OK;
}

static double residual_of(const rg_active *active, size_t block) {
    const rg_system *s = active->system;
    return block < s->contacts ? rg_polish_contact(s, block, active->force, active->u)
                               : rg_polish_joint(s, block - s->contacts, active->force, active->u);
}

/* Carries force, or might soon: slower apart than `speed`. Joints always. */
static bool matters(const rg_active *active, size_t block, double speed) {
    const rg_system *s = active->system;
    size_t row = rg_system_block_row(s, block);
    return block >= s->contacts || active->force[row] > 0 || active->u[row] < speed;
}

/* --- clusters --------------------------------------------------------------------------------- */

static void mark_worst(repair *r) {
    const rg_active *active = r->active;
    double least = fmax(r->tolerance, TROUBLE * active->residual) * active->system->scale;
    memset(r->near, 0, r->problem->contact.global.blocks);
    for (size_t i = 0; i < active->blocks; i++) {
        if (!matters(active, i, 0) || !(residual_of(active, i) > least))
            continue;
        rg_system_touch touch = rg_system_touched(active->system, i);
        for (int side = 0; side < 2; side++)
            if (touch.blocks[side] != RG_NO_BLOCK)
                r->near[touch.blocks[side]] = 1;
    }
}

/* One more ring of bodies, along contacts that carry force. */
static void widen(repair *r) {
    enum { NEW = 2 };
    for (size_t i = 0; i < r->active->blocks; i++) {
        const uint32_t *b = rg_system_touched(r->active->system, i).blocks;
        uint32_t x = b[0], y = b[1];
        if (x == RG_NO_BLOCK || y == RG_NO_BLOCK || !matters(r->active, i, -INFINITY))
            continue;
        if (r->near[x] == 1 && !r->near[y])
            r->near[y] = NEW;
        if (r->near[y] == 1 && !r->near[x])
            r->near[x] = NEW;
    }
    for (size_t b = 0; b < r->problem->contact.global.blocks; b++)
        r->near[b] = r->near[b] != 0;
}

static void join_clusters(repair *r) {
    rg_sets_start(r->parent, r->problem->contact.global.blocks);
    for (size_t i = 0; i < r->active->blocks; i++) {
        rg_system_touch touch = rg_system_touched(r->active->system, i);
        uint32_t x = touch.blocks[0], y = touch.blocks[1];
        if (x != RG_NO_BLOCK && y != RG_NO_BLOCK && r->near[x] && r->near[y] &&
            matters(r->active, i, r->active->system->scale))
            rg_sets_join(r->parent, x, y);
    }
}

static bool belongs(repair *r, uint32_t body, uint32_t root) {
    return body != RG_NO_BLOCK && r->near[body] && rg_sets_root(r->parent, body) == root;
}

/* The cluster's contacts and joints become the island of the split; their forces leave r->rest. */
static size_t gather_cluster(repair *r, uint32_t root) {
    const rg_active *active = r->active;
    const rg_system *s = active->system;
    uint32_t count = 0;
    memcpy(r->rest, active->force, s->rows * sizeof *r->rest);
    for (size_t i = 0; i < active->blocks; i++) {
        rg_system_touch touch = rg_system_touched(s, i);
        if (!belongs(r, touch.blocks[0], root) && !belongs(r, touch.blocks[1], root))
            continue;
        if (!matters(active, i, FAR * s->scale))
            continue;
        r->split.islands.member[count++] = (uint32_t)i;
        memset(r->rest + rg_system_block_row(s, i), 0,
               rg_system_block_size(s, i) * sizeof *r->rest);
    }
    r->split.islands.first[0] = 0;
    r->split.islands.first[1] = count;
    return count;
}

/* --- one cluster ------------------------------------------------------------------------------ */

static rg_status try_interior(repair *r, const rg_problem *part, double *force, double *residual,
                              rg_error *error) {
    rg_solve_context *context = r->active->context;
    size_t rows = rg_problem_rows(part);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = fmax(CLUSTER_AIM * r->tolerance, 1e-15);
    settings.acceptable = r->tolerance;
    settings.iteration_limit = INTERIOR_STEPS;
    rg_solution solution = {0};
    rg_solve_info info;
    RG_TAKE(solution.force, context, rows, error);
    memset(solution.force, 0, rows * sizeof *solution.force);
    rg_status status =
        rg_solve(context, &rg_solver_interior_point, part, &settings, &solution, &info, error);
    if (!status && info.residual.natural < *residual) {
        *residual = info.residual.natural;
        memcpy(force, solution.force, rows * sizeof *force);
    }
    return status;
}

/* Forces of the cluster anew, all others held. */
static rg_status solve_cluster(repair *r, uint32_t root, rg_error *error) {
    rg_solve_context *context = r->active->context;
    rg_problem held = *r->problem, part;
    rg_system system;
    rg_active active;
    size_t members = gather_cluster(r, root);
    if (members == 0)
        return RG_OK;
    rg_system_velocity(r->active->system, r->rest, r->v, r->active->u);
    held.contact.global.free_velocity = r->v;
    r->split.problem = &held;
    if (rg_split_make(&r->split, &context->arena, 0, &part))
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s", rg_status_text(RG_OUT_OF_MEMORY));
    part.connected = false;
    rg_status status = rg_system_prepare(&system, context, &part, error);
    if (!status)
        status = rg_active_create(&active, &system, context, error);
    if (status)
        return status;
    rg_split_gather(&r->split, 0, r->active->force, active.force);
    rg_active_aim aim = {CLUSTER_AIM * r->tolerance, CLUSTER_STEPS, CLUSTER_IDLE};
    status = rg_active_run(&active, aim);
    if (!status && active.best_residual > r->tolerance && members <= CLUSTER_INTERIOR)
        status = try_interior(r, &part, active.best, &active.best_residual, error);
    if (!status)
        rg_split_scatter(&r->split, 0, active.best, r->active->force);
    r->split.problem = NULL;
    return status;
}

static rg_status repair_round(repair *r, int rings, rg_error *error) {
    rg_arena *arena = &r->active->context->arena;
    rg_active_look(r->active);
    mark_worst(r);
    for (int k = 0; k < rings; k++)
        widen(r);
    join_clusters(r);
    rg_status status = RG_OK;
    for (uint32_t b = 0; b < r->problem->contact.global.blocks && !status; b++) {
        if (!belongs(r, b, b))
            continue;
        rg_arena_mark mark = rg_arena_get_mark(arena);
        status = solve_cluster(r, b, error);
        rg_arena_return(arena, mark);
        rg_active_look(r->active); /* what is far is said by the velocities of now */
    }
    return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

rg_status rg_active_solve(rg_active *active, const rg_problem *problem, double tolerance,
                          double acceptable, rg_error *error) {
    size_t bytes = active->system->rows * sizeof *active->force;
    double *kept, best, before = INFINITY;
    int rings = 0;
    repair r;
    RG_TAKE(kept, active->context, active->system->rows, error);
    rg_status status = repair_make(&r, active, problem, tolerance, error);
    if (!status)
        status = rg_active_run(active, (rg_active_aim){tolerance, FIRST_STEPS, IDLE_STEPS});
    best = active->best_residual;
    memcpy(kept, active->best, bytes);
    for (int k = 0; !status && k < ROUNDS && best > fmax(tolerance, acceptable); k++) {
        status = repair_round(&r, rings, error);
        if (!status)
            status = rg_active_run(active, (rg_active_aim){tolerance, ROUND_STEPS, IDLE_STEPS});
        if (active->best_residual < best) {
            best = active->best_residual;
            memcpy(kept, active->best, bytes);
        }
        rings = active->best_residual > HELPED * before ? (rings + 1) % (RINGS_MOST + 1) : 0;
        before = active->best_residual;
    }
    active->best_residual = best;
    memcpy(active->best, kept, bytes);
    return status;
}
