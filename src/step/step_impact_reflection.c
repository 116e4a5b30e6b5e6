/* Generalised reflections (Smith, Kaufman, Vouga, Tamstorf and Grinspun 2012). While contacts
 * approach, the velocity is reflected at the cone that all approaching contacts together allow:
 * twice the impulse that just stops them. Each reflection conserves energy, treats contacts that
 * are alike alike, and lets those that have been left alone break away. Repeated until nothing
 * approaches: impacts pass along a cradle, and stay symmetric on a symmetric body.
 *
 * With restitution below one the impulses are blended, contact by contact, with those of the impact
 * without restitution: j = (1 - e) j_0 + e j_1. With the same e everywhere this loses energy and
 * leaves no approach, both by convexity; with different ones what is left to approach is stopped,
 * and the blend is scaled if it would make energy. Friction comes last, as in the dissipative law.
 *
 * How it fails: the number of reflections has no useful bound.
 * Tested by tests/step/test_impact.c and tests/step/test_impact_random.c. */
#include "step/step_impact.h"

#include "base/base_math.h"

#include <string.h>

/* One reflection from `velocity`: `impulse` grows, `velocity` follows. */
static rg_status reflect(rg_impact_state *s, double *velocity, double *impulse, bool *found,
                         rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    uint32_t *list;
    double *stop, *change;
    RG_TAKE(list, s->context, s->contacts, error);
    RG_TAKE(stop, s->context, s->rows, error);
    RG_TAKE(change, s->context, s->rows, error);
    size_t count = 0;
    for (size_t i = 0; i < s->all_count; i++)
        if (velocity[rg_impact_normal(s, s->all[i])] < -s->still)
            list[count++] = s->all[i];
    *found = count > 0;
    rg_status status = RG_OK;
    if (*found) {
        rg_impact_part part = {.list = list, .count = count, .from = velocity};
        status = rg_impact_solve(s, &part, stop, error);
        if (!status)
            status = rg_impact_share(s, list, count, stop, error);
        for (size_t i = 0; i < s->rows; i++)
            stop[i] *= i < s->rows - s->bounded ? 2 : 1;
        rg_impact_change(s, stop, change);
        for (size_t i = 0; i < s->rows; i++)
            velocity[i] += change[i], impulse[i] += stop[i];
        s->info->rounds++;
    }
    rg_arena_return(&s->context->arena, mark);
    return status;
}

static rg_status reflect_all(rg_impact_state *s, double *impulse, rg_error *error) {
    double *velocity;
    RG_TAKE(velocity, s->context, s->rows, error);
    memcpy(velocity, s->u, s->rows * sizeof *velocity);
    memset(impulse, 0, s->rows * sizeof *impulse);
    rg_status status = RG_OK;
    bool found = true;
    while (!status && found && s->info->rounds < s->limit && s->info->outcome != RG_IMPACT_UNSOLVED)
        status = reflect(s, velocity, impulse, &found, error);
    if (!status && found)
        rg_impact_note(s, RG_IMPACT_ROUNDS, "reflection: contacts still approach after %llu rounds",
                       (unsigned long long)s->info->rounds);
    return status;
}

/* total := (1 - e) base + e elastic. */
static rg_status blend(rg_impact_state *s, const double *base, double *total, rg_error *error) {
    size_t d = (size_t)s->d;
    for (size_t i = 0; i < s->rows - s->bounded; i++)
        total[i] = base[i] + s->e[i / d] * (total[i] - base[i]);
    for (size_t i = s->rows - s->bounded; i < s->rows; i++)
        total[i] = base[i];
    return rg_impact_limit_energy(s, base, total, error);
}

static rg_status resolve(rg_impact_state *s, rg_error *error) {
    if (!rg_impact_goes_on(s))
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    double *base, *total;
    RG_TAKE(base, s->context, s->rows, error);
    RG_TAKE(total, s->context, s->rows, error);
    bool bounces = false;
    for (size_t i = 0; i < s->all_count; i++)
        bounces |= s->e[s->all[i]] > 0;
    rg_impact_part inelastic = {.list = s->all, .count = s->all_count};
    rg_status status = rg_impact_solve(s, &inelastic, base, error);
    memcpy(total, base, s->rows * sizeof *total);
    if (!status && bounces) {
        status = reflect_all(s, total, error);
        if (!status)
            status = blend(s, base, total, error);
    } else {
        s->info->rounds++;
    }
    if (!status)
        status = rg_impact_apply(s, total, error);
    if (!status && rg_impact_goes_on(s)) {
        inelastic.from = NULL;
        status = rg_impact_solve(s, &inelastic, total, error);
        if (!status)
            status = rg_impact_apply(s, total, error);
    }
    if (!status)
        status = rg_impact_brake(s, error);
    rg_arena_return(&s->context->arena, mark);
    return status;
}

const rg_impact_law rg_impact_law_reflection = {
    "reflection", "generalised reflections, blended with the impact without restitution", 200,
    resolve};
