/* Mending: where forces are right but for a few contacts, these and what is around them solved
 * anew.
 *
 * The paths of the interior point and of Newton's method end early on rubble at high friction: a
 * few contacts out of thousands are on the verge between modes, and what is wrong there keeps all
 * others from going on. The contacts with the largest residuals, with all others of the bodies that
 * they touch, are a small problem if the forces elsewhere are held:
 *
 *     M (v - v') = J_in' r_in,   v' = v_free + M^-1 J_out' r_out,
 *
 * and small problems are solved in no time (interior-point, then newton). That is a step of a
 * Gauss-Seidel method with large blocks, chosen by need. It moves the trouble to the rim of the
 * part, from where Newton's method on the whole (solve_polish.c) takes it away if the modes are
 * right now; otherwise the worst places are looked for again, with one more ring of bodies around
 * them if that did not help. The residual may rise on the way.
 *
 * How it fails: places that stay wrong whatever is held. It ends when the budget is spent, with the
 * best forces it has seen, which are never worse than the first. */
#include "solve/solve_mend.h"

#include "base/base_math.h"

#include <string.h>

enum {
    ROUNDS = 200,
    POLISH_STEPS = 4, /* on the whole, per round */
    CORE_BODIES = 12, /* of the worst contacts, about */
    RINGS_MOST = 6,   /* of bodies around the worst contacts */
    PART_STEPS = 150  /* factorisations of newton on a part */
};
/* Contacts whose residual is at least this share of the largest are where the trouble is. */
#define TROUBLE 0.1
/* Progress: the residual falls below this share. Beyond the other, the way is lost: back to the
 * best forces. */
#define PROGRESS 0.7
#define LOST     1000.0
/* Share of the tolerance that the parts are solved to. */
#define PART_TOLERANCE 0.1

rg_status rg_mend_create(rg_mend *mend, rg_system *system, rg_solve_context *context,
                         const rg_problem *problem, rg_error *error) {
    const rg_contact_problem *p = &problem->contact;
    *mend = (rg_mend){.context = context, .system = system};
    if (p->form != RG_FORM_GLOBAL || p->joints || context->depth > 1)
        return RG_OK;
    rg_status status = rg_polish_create(&mend->polish, system, context, error);
    if (status)
        return status;
    double **by_rows[] = {&mend->force, &mend->best, &mend->rest, &mend->u, &mend->part};
    for (size_t k = 0; k < sizeof by_rows / sizeof *by_rows; k++)
        RG_TAKE(*by_rows[k], context, system->rows, error);
    RG_TAKE(mend->v, context, system->velocities, error);
    RG_TAKE(mend->each, context, p->contacts, error);
    RG_TAKE(mend->near, context, p->global.blocks, error);
    RG_TAKE(mend->split.islands.first, context, 2, error);
    RG_TAKE(mend->split.islands.member, context, p->contacts, error);
    RG_TAKE(mend->split.place, context, p->global.blocks, error);
    mend->split.islands.count = 1;
    mend->split.scale = rg_problem_scale(problem);
    mend->problem = problem;
    return RG_OK;
}

/* --- the part --------------------------------------------------------------------------------- */

static bool is_near(const rg_mend *mend, uint32_t block) {
    return block != RG_NO_BLOCK && mend->near[block];
}

/* One more ring of bodies. */
static void widen(rg_mend *mend) {
    const rg_contact_problem *p = &mend->problem->contact;
    enum { NEW = 2 };
    for (size_t i = 0; i < p->contacts; i++) {
        const uint32_t *b = p->global.contact_blocks + 2 * i;
        if (b[0] == RG_NO_BLOCK || b[1] == RG_NO_BLOCK)
            continue;
        if (mend->near[b[0]] == 1 && !mend->near[b[1]])
            mend->near[b[1]] = NEW;
        if (mend->near[b[1]] == 1 && !mend->near[b[0]])
            mend->near[b[0]] = NEW;
    }
    for (size_t b = 0; b < p->global.blocks; b++)
        mend->near[b] = mend->near[b] != 0;
}

/* The contacts of the bodies around the worst ones: members of the one island of the split. Returns
 * their number. */
static size_t choose(rg_mend *mend, int rings) {
    const rg_contact_problem *p = &mend->problem->contact;
    double worst = 0;
    rg_system_velocity(mend->system, mend->force, NULL, mend->u);
    for (size_t i = 0; i < p->contacts; i++) {
        mend->each[i] = rg_polish_contact(mend->system, i, mend->force, mend->u);
        worst = fmax(worst, mend->each[i]);
    }
    memset(mend->near, 0, p->global.blocks);
    for (size_t bodies = 0; bodies < CORE_BODIES;) {
        size_t next = 0;
        for (size_t i = 1; i < p->contacts; i++)
            if (mend->each[i] > mend->each[next])
                next = i;
        if (!(mend->each[next] > 0 && mend->each[next] >= TROUBLE * worst))
            break;
        mend->each[next] = 0;
        for (int side = 0; side < 2; side++) {
            uint32_t block = p->global.contact_blocks[2 * next + (size_t)side];
            if (block == RG_NO_BLOCK || mend->near[block])
                continue;
            mend->near[block] = 1;
            bodies++;
        }
    }
    for (int k = 0; k < rings; k++)
        widen(mend);
    uint32_t members = 0;
    for (uint32_t i = 0; i < p->contacts; i++) {
        const uint32_t *b = p->global.contact_blocks + 2 * (size_t)i;
        if (is_near(mend, b[0]) || is_near(mend, b[1]))
            mend->split.islands.member[members++] = i;
    }
    mend->split.islands.first[0] = 0;
    mend->split.islands.first[1] = members;
    return members;
}

/* One solver on the part, from mend->rest; mend->part gets its forces if they are the best so
 * far. */
static rg_status try_part(rg_mend *mend, const rg_problem *part, const rg_solver *solver,
                          const rg_solve_settings *settings, double *best_residual,
                          rg_error *error) {
    rg_solution solution = {.force = mend->rest};
    rg_solve_info info;
    rg_status status = rg_solve(mend->context, solver, part, settings, &solution, &info, error);
    if (status)
        return status;
    mend->iterations += info.iterations;
    mend->work += (double)info.factorisations * (double)part->contact.contacts /
                  (double)mend->problem->contact.contacts;
    if (info.residual.natural < *best_residual) {
        *best_residual = info.residual.natural;
        memcpy(mend->part, mend->rest, rg_problem_rows(part) * sizeof *mend->part);
    }
    return RG_OK;
}

/* The members' forces anew, all others held. */
static rg_status solve_part(rg_mend *mend, size_t members, double tolerance, rg_error *error) {
    rg_problem held = *mend->problem, part;
    size_t d = (size_t)held.contact.dimension;
    memcpy(mend->rest, mend->force, mend->system->rows * sizeof *mend->rest);
    for (size_t k = 0; k < members; k++)
        memset(mend->rest + mend->split.islands.member[k] * d, 0, d * sizeof *mend->rest);
    rg_system_velocity(mend->system, mend->rest, mend->v, mend->u);
    held.contact.global.free_velocity = mend->v;
    mend->split.problem = &held;
    rg_arena_mark mark = rg_arena_get_mark(&mend->context->arena);
    if (rg_split_make(&mend->split, &mend->context->arena, 0, &part))
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s", rg_status_text(RG_OUT_OF_MEMORY));
    part.connected = false; /* the worst places may lie apart */
    double residual = INFINITY;
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = fmax(PART_TOLERANCE * tolerance, 1e-15);
    rg_status status =
        try_part(mend, &part, &rg_solver_interior_point, &settings, &residual, error);
    if (!status && residual > tolerance) {
        settings.warm = true;
        settings.iteration_limit = PART_STEPS;
        rg_split_gather(&mend->split, 0, mend->force, mend->rest);
        status = try_part(mend, &part, &rg_solver_newton, &settings, &residual, error);
    }
    if (!status && residual < INFINITY)
        rg_split_scatter(&mend->split, 0, mend->part, mend->force);
    mend->split.problem = NULL;
    rg_arena_return(&mend->context->arena, mark);
    return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Newton on the whole from mend->force, which gets the result; its residual. */
static double polish(rg_mend *mend, double tolerance) {
    rg_polish *p = &mend->polish;
    uint64_t before = p->factorisations;
    p->best_residual = INFINITY;
    rg_polish_offer(p, mend->force);
    rg_polish_run(p, tolerance, POLISH_STEPS, true);
    mend->work += (double)(p->factorisations - before);
    mend->iterations += p->factorisations - before;
    memcpy(mend->force, p->best, mend->system->rows * sizeof *p->best);
    return p->best_residual;
}

rg_status rg_mend_run(rg_mend *mend, double *force, rg_mend_aim aim, double *residual,
                      rg_error *error) {
    if (!mend->problem)
        return RG_OK;
    size_t bytes = mend->system->rows * sizeof *force;
    int rings = 0;
    double best = INFINITY;
    mend->end = mend->work + aim.budget;
    memcpy(mend->force, force, bytes);
    memcpy(mend->best, force, bytes);
    for (int round = 0; round < ROUNDS; round++) {
        double now = polish(mend, aim.tolerance);
        if (now < PROGRESS * best)
            rings = 0;
        if (now < best) {
            best = now;
            memcpy(mend->best, mend->force, bytes);
        } else if (!(now < LOST * best)) {
            memcpy(mend->force, mend->best, bytes);
            now = best;
            rings++;
        }
        if (best <= fmax(aim.tolerance, aim.acceptable) || mend->work > mend->end)
            break;
        size_t members = choose(mend, rings);
        if (members == 0) /* not numbers */
            break;
        rg_status status = solve_part(mend, members, aim.tolerance, error);
        if (status)
            return status;
        if (!(rg_polish_residual(mend->system, mend->force, mend->u) < now))
            rings = rings < RINGS_MOST ? rings + 1 : 0;
    }
    memcpy(force, mend->best, bytes);
    *residual = best;
    return RG_OK;
}
