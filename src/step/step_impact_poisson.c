/* Poisson's law over many contacts: compression until nothing approaches, then expansion, which
 * gives each contact the share e of its impulse of compression.
 *
 * Compression is the contact problem without restitution, all contacts taking part: it cannot make
 * energy, whatever separates. Expansion: the impulses e j_c along the normals are given; what they
 * push into is held, and friction is bounded by mu e j_c, a convex problem that always has a
 * solution (Loetstedt's bound). With one contact alone and friction the impact is integrated
 * instead (Routh's construction).
 *
 * The energetic variant scales the same expansion until its normal impulses have given back e^2 of
 * the work of compression (Stronge), for contacts that must go together.
 *
 * How it fails: Poisson's law with friction can make energy; then the expansion is scaled, and
 * info.scaled says by how much.
 * Tested by tests/step/test_impact.c and tests/step/test_impact_random.c. */
#include "step/step_impact.h"

#include "base/base_math.h"
#include "step/step_impact_sliding.h"

#include <string.h>

typedef struct expansion {
    double *base, *total, *given, *velocity, *change; /* rows */
    double *reference;                                /* per listed contact */
} expansion;

static rg_status take_expansion(rg_impact_state *s, size_t count, expansion *x, rg_error *error) {
    RG_TAKE(x->base, s->context, s->rows, error);
    RG_TAKE(x->total, s->context, s->rows, error);
    RG_TAKE(x->given, s->context, s->rows, error);
    RG_TAKE(x->velocity, s->context, s->rows, error);
    RG_TAKE(x->change, s->context, s->rows, error);
    RG_TAKE(x->reference, s->context, count, error);
    return RG_OK;
}

/* given := the whole expansion; velocity := after compression. */
static rg_status expand(rg_impact_state *s, const uint32_t *list, size_t count, expansion *x,
                        rg_error *error) {
    memset(x->given, 0, s->rows * sizeof *x->given);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        size_t n = rg_impact_normal(s, list[i]);
        x->reference[i] = x->given[n] = s->e[list[i]] * x->base[n];
        any |= x->reference[i] > 0;
    }
    rg_impact_change(s, x->base, x->change);
    for (size_t i = 0; i < s->rows; i++)
        x->velocity[i] = s->u[i] + x->change[i];
    if (!any)
        return RG_OK;
    double *from = x->total;
    rg_impact_change(s, x->given, x->change);
    bool pushed = s->friction;
    for (size_t i = 0; i < s->rows; i++)
        from[i] = x->velocity[i] + x->change[i];
    for (size_t i = 0; i < count; i++)
        pushed |= from[rg_impact_normal(s, list[i])] < -s->still;
    if (!pushed && s->bounded == 0)
        return RG_OK;
    double *correction = x->change;
    rg_impact_part part = {
        .list = list, .count = count, .from = from, .friction = true, .reference = x->reference};
    rg_status status = rg_impact_solve(s, &part, correction, error);
    for (size_t i = 0; i < s->rows && !status; i++)
        x->given[i] += correction[i];
    return status;
}

/* How much of the expansion gives back e^2 of each contact's work of compression, in sum; not so
 * much that a contact is driven together. */
static double energetic_share(const rg_impact_state *s, const uint32_t *list, size_t count,
                              const expansion *x) {
    double target = 0, a = 0, b = 0, most = INFINITY;
    for (size_t i = 0; i < count; i++) {
        size_t n = rg_impact_normal(s, list[i]);
        double lost = -0.5 * x->base[n] * (s->u[n] + x->velocity[n]);
        target += s->e[list[i]] * s->e[list[i]] * fmax(lost, 0);
        a += 0.5 * x->given[n] * x->change[n];
        b += x->given[n] * x->velocity[n];
        if (x->change[n] < 0)
            most = fmin(most, fmax(x->velocity[n], 0) / -x->change[n]);
    }
    if (!(target > 0) || !(a > 0 || b > 0))
        return 0;
    double root = sqrt(fmax(b * b + 4 * a * target, 0));
    return fmin(most, 2 * target / (b + root));
}

rg_status rg_impact_expand_round(rg_impact_state *s, const uint32_t *list, size_t count,
                                 bool energetic, rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    expansion x = {0};
    rg_status status = take_expansion(s, count, &x, error);
    if (status)
        return status;
    rg_impact_part compression = {.list = list, .count = count, .friction = true};
    status = rg_impact_solve(s, &compression, x.base, error);
    if (!status)
        status = expand(s, list, count, &x, error);
    if (!status) {
        rg_impact_change(s, x.given, x.change);
        double share = energetic ? energetic_share(s, list, count, &x) : 1;
        for (size_t i = 0; i < s->rows; i++)
            x.total[i] = x.base[i] + share * x.given[i];
        status = rg_impact_limit_energy(s, x.base, x.total, error);
    }
    if (!status)
        status = rg_impact_apply(s, x.total, error);
    s->info->rounds++;
    rg_arena_return(&s->context->arena, mark);
    return status;
}

/* Routh's construction. */
static rg_status expand_one(rg_impact_state *s, rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    double w[9], u[3], *base, *total;
    RG_TAKE(base, s->context, s->rows, error);
    RG_TAKE(total, s->context, s->rows, error);
    size_t n = rg_impact_normal(s, s->all[0]), d = (size_t)s->d;
    rg_impact_one(s, s->all[0], w, u);
    rg_slide slide =
        rg_slide_through(w, u, s->mu[s->all[0]], s->e[s->all[0]], RG_SLIDE_POISSON, s->scale);
    memset(base, 0, s->rows * sizeof *base);
    memset(total, 0, s->rows * sizeof *total);
    memcpy(base + n, slide.compression, d * sizeof *base);
    memcpy(total + n, slide.impulse, d * sizeof *total);
    rg_status status = rg_impact_limit_energy(s, base, total, error);
    double kept = s->info->scaled;
    if (!status && kept < 1)
        status = rg_impact_apply(s, total, error);
    else if (!status)
        rg_impact_apply_one(s, s->all[0], slide.impulse, slide.normal_work);
    s->info->rounds++;
    rg_arena_return(&s->context->arena, mark);
    return status;
}

static rg_status resolve(rg_impact_state *s, rg_error *error) {
    if (s->all_count == 1 && s->bounded == 0 && s->friction && rg_impact_goes_on(s))
        return expand_one(s, error);
    rg_status status = RG_OK;
    while (!status && s->info->rounds < s->limit && rg_impact_goes_on(s))
        status = rg_impact_expand_round(s, s->all, s->all_count, false, error);
    return status;
}

const rg_impact_law rg_impact_law_poisson = {
    "poisson", "compression and expansion, each a complementarity problem", 20, resolve};
