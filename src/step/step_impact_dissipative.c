/* Impacts that dissipate as much as convex friction bounds allow (after Loetstedt 1984, as told in
 * the Baraff 1994 survey, section 6). First the normals, by Newton's law at all contacts and
 * without friction: no energy is made. Then friction, bounded by mu times those normal impulses,
 * with the normal impulses free to move from contact to contact so that the velocities that the
 * normals were to leave with hold: a cube that lands flat and slides stays flat, its front corners
 * loaded more. That is a convex problem (the least of 1/2 r'W r + r'(u + shift) over r_N >= 0 and
 * |r_T| <= mu N): it has a solution, and its motion is unique. With the normal impulses that it
 * found as the next bounds it is repeated until the bounds are those of the impulses themselves.
 * Normal impulses of redundant contacts are shared evenly (step_impact_share.c), since they bound
 * friction.
 *
 * Where that does not end, or would make energy or an approach, friction alone is found, bounded
 * by the normals of the impact without friction, and such that the kinetic energy becomes the
 * least that it can: convex as well.
 *
 * How it fails: in that second way friction that would unload a contact, or load it, does not find
 * its bound changed.
 * Tested by tests/step/test_impact.c and tests/step/test_impact_random.c. */
#include "step/step_impact.h"

#include <math.h>
#include <string.h>

/* Bounds that move by no more than this share of the largest stand. */
#define BOUNDS_STAND 1e-10
/* Convex problems at most, and after so many each must move the bounds at most half as far as the
 * one before. */
#define BRAKE_ROUNDS 40
#define BRAKE_SLOW   8
/* A contact leaves no faster than it should if its speed is within this share of the fastest. */
#define BRAKE_SLACK 1e-9

typedef struct braking {
    double *from;     /* rows: velocities without the contacts' impulses */
    double *target;   /* per contact of `all`: what it leaves with at least, negative: the shift */
    double *bound;    /* per contact of `all`: normal impulses that bound friction ... */
    double *last;     /* ... and those before */
    double *total;    /* rows: impulses */
    double *change;   /* rows */
    uint32_t *loaded; /* contacts that may carry normal impulse */
} braking;

static rg_status take_braking(const rg_impact_state *s, braking *b, rg_error *error) {
    RG_TAKE(b->from, s->context, s->rows, error);
    RG_TAKE(b->target, s->context, s->all_count, error);
    RG_TAKE(b->bound, s->context, s->all_count, error);
    RG_TAKE(b->last, s->context, s->all_count, error);
    RG_TAKE(b->total, s->context, s->rows, error);
    RG_TAKE(b->change, s->context, s->rows, error);
    RG_TAKE(b->loaded, s->context, s->all_count, error);
    return RG_OK;
}

/* Normal impulses of `total` shared evenly among the contacts that do not leave faster than they
 * should, at the velocities that `total` makes; they become the bounds. */
static rg_status set_bounds(const rg_impact_state *s, braking *b, rg_error *error) {
    size_t count = 0;
    rg_impact_change(s, b->total, b->change);
    for (size_t i = 0; i < s->all_count; i++) {
        size_t n = rg_impact_normal(s, s->all[i]);
        double slack = b->from[n] + b->change[n] + b->target[i];
        if (b->total[n] > 0 || slack <= BRAKE_SLACK * s->scale)
            b->loaded[count++] = s->all[i];
    }
    rg_status status = rg_impact_share(s, b->loaded, count, b->total, error);
    for (size_t i = 0; i < s->all_count; i++)
        b->bound[i] = fmax(0, b->total[rg_impact_normal(s, s->all[i])]);
    return status;
}

/* What the normals have done so far as the first `total`, and what each contact is to leave with:
 * where it was loaded, as it does; elsewhere, as Newton's law asks, if it does. */
static rg_status begin(const rg_impact_state *s, braking *b, rg_error *error) {
    memcpy(b->total, s->r, s->rows * sizeof *b->total);
    memset(b->total + s->rows - s->bounded, 0, s->bounded * sizeof *b->total);
    rg_impact_change(s, b->total, b->change);
    for (size_t i = 0; i < s->rows; i++)
        b->from[i] = s->u[i] - b->change[i];
    for (size_t i = 0; i < s->all_count; i++) {
        size_t n = rg_impact_normal(s, s->all[i]);
        double leave = s->u[n];
        if (!(b->total[n] > 0))
            leave = fmin(leave, fmax(0, -s->e[s->all[i]] * b->from[n]));
        b->target[i] = -leave;
    }
    return set_bounds(s, b, error);
}

/* How far the bounds moved, as a share of the largest. Friction is cut to the new ones. */
static double cut_to_bounds(const rg_impact_state *s, braking *b, const double *last) {
    double moved = 0, largest = 0;
    for (size_t i = 0; i < s->all_count; i++) {
        size_t n = rg_impact_normal(s, s->all[i]);
        double mu = s->mu[s->all[i]], bound = mu * b->bound[i], *f = b->total + n;
        double size = s->d > 2 ? sqrt(f[1] * f[1] + f[2] * f[2]) : fabs(f[1]);
        largest = fmax(largest, fmax(bound, mu * last[i]));
        moved = fmax(moved, fabs(bound - mu * last[i]));
        for (int k = 1; k < s->d && size > bound; k++)
            f[k] *= bound / size;
    }
    return largest > 0 ? moved / largest : 0;
}

/* The convex problem, with the normals it finds as the next bounds, until those are the same.
 * `found`: whether that ended. */
static rg_status brake_together(rg_impact_state *s, braking *b, bool *found, rg_error *error) {
    rg_impact_part part = {.list = s->all,
                           .count = s->all_count,
                           .from = b->from,
                           .shift = b->target,
                           .friction = true,
                           .reference = b->bound};
    *found = false;
    double before_moved = INFINITY;
    for (int round = 0; round < BRAKE_ROUNDS && !*found; round++) {
        rg_impact_info before = *s->info;
        rg_status status = rg_impact_solve(s, &part, b->total, error);
        if (!status && s->info->outcome == RG_IMPACT_UNSOLVED &&
            before.outcome != RG_IMPACT_UNSOLVED) {
            *s->info = before; /* the other way will tell */
            return RG_OK;
        }
        memcpy(b->last, b->bound, s->all_count * sizeof *b->last);
        if (!status)
            status = set_bounds(s, b, error);
        if (status)
            return status;
        double moved = cut_to_bounds(s, b, b->last);
        *found = moved <= BOUNDS_STAND;
        if (round >= BRAKE_SLOW && moved > 0.5 * before_moved)
            break;
        before_moved = moved;
    }
    return RG_OK;
}

/* Friction alone, after the normals as they are. */
static rg_status brake_after(rg_impact_state *s, braking *b, rg_error *error) {
    rg_impact_part part = {
        .list = s->all, .count = s->all_count, .friction = true, .reference = b->bound};
    rg_status status = begin(s, b, error);
    if (status)
        return status;
    for (size_t i = 0; i < s->all_count; i++) {
        size_t n = rg_impact_normal(s, s->all[i]);
        s->r[n] = b->bound[i]; /* shared evenly: the same velocities */
    }
    status = rg_impact_solve(s, &part, b->total, error);
    return status ? status : rg_impact_apply(s, b->total, error);
}

/* What is to be added to the normals as they are; `found` becomes false if that would make energy
 * or an approach. */
static rg_status account(const rg_impact_state *s, braking *b, bool *found, rg_error *error) {
    double energy;
    for (size_t i = 0; i < s->rows - s->bounded; i++)
        b->total[i] -= s->r[i];
    rg_status status = rg_impact_energy(s, b->total, &energy, error);
    *found = !status && energy <= 0;
    rg_impact_change(s, b->total, b->change);
    for (size_t i = 0; i < s->all_count; i++) {
        size_t n = rg_impact_normal(s, s->all[i]);
        *found &= s->u[n] + b->change[n] >= -s->still;
    }
    return status;
}

rg_status rg_impact_brake(rg_impact_state *s, rg_error *error) {
    bool any = false, found = false;
    for (size_t i = 0; i < s->all_count; i++)
        any |= s->r[rg_impact_normal(s, s->all[i])] > 0 && s->mu[s->all[i]] > 0;
    if (!any || !s->friction)
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    braking b;
    rg_status status = take_braking(s, &b, error);
    if (!status)
        status = begin(s, &b, error);
    if (!status)
        status = brake_together(s, &b, &found, error);
    if (!status && found)
        status = account(s, &b, &found, error);
    if (!status)
        status = found ? rg_impact_apply(s, b.total, error) : brake_after(s, &b, error);
    rg_arena_return(&s->context->arena, mark);
    return status;
}

static rg_status resolve(rg_impact_state *s, rg_error *error) {
    rg_status status = rg_impact_newton_rounds(s, false, error);
    return status ? status : rg_impact_brake(s, error);
}

const rg_impact_law rg_impact_law_dissipative = {
    "dissipative", "Newton's normals, then as much loss as convex friction bounds allow", 100,
    resolve};
