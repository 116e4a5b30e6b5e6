/* Impacts that dissipate as much as convex friction bounds allow (after Loetstedt 1984, as told in
 * the Baraff 1994 survey, section 6). First the normals, by Newton's law at all contacts and
 * without friction: no energy is made. Then friction: bounded by mu times those normal impulses,
 * and such that the kinetic energy becomes the least that it can. That is a convex problem: it has
 * a solution, its motion is unique, and since no friction at all is allowed too, energy cannot
 * grow.
 *
 * How it fails: it follows the normal impulses of the frictionless impact. Friction that would
 * unload a contact, or load it, does not find its bound changed.
 * Tested by tests/step/test_impact.c and tests/step/test_impact_random.c. */
#include "step/step_impact.h"

#include <math.h>

rg_status rg_impact_brake(rg_impact_state *s, rg_error *error) {
    if (!s->friction)
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    double *reference, *impulse;
    RG_TAKE(reference, s->context, s->all_count, error);
    RG_TAKE(impulse, s->context, s->rows, error);
    bool any = false;
    for (size_t i = 0; i < s->all_count; i++) {
        reference[i] = fmax(0, s->r[rg_impact_normal(s, s->all[i])]);
        any |= reference[i] > 0 && s->mu[s->all[i]] > 0;
    }
    rg_status status = RG_OK;
    if (any) {
        rg_impact_part part = {
            .list = s->all, .count = s->all_count, .friction = true, .reference = reference};
        status = rg_impact_solve(s, &part, impulse, error);
        if (!status)
            status = rg_impact_apply(s, impulse, error);
    }
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
