/* Newton's law at all contacts at once (Baraff 1989, section 8, eq. 27-29; Giang 2003, eq. 19-20).
 *
 *   v+ + e v- >= 0,  j >= 0,  j (v+ + e v-) = 0
 *
 * over the contacts that do not separate. Without friction the energy changes by -1/2 sum (1 - e) j
 * |v-|, exactly. Contacts with v- > 0 are discarded and, if they are pushed into, a further round
 * follows (footnote 9). A contact at rest may open by rounding: up to `still` it takes part, with
 * v+ >= -v-, which costs and makes no energy.
 *
 * With friction the law is one contact problem: Coulomb's cone, u+_T, and u+_N + e u-_N in place of
 * the normal velocity. That can make energy (Baraff 1994 survey, section 6; Kane's paradox): then
 * the solution without restitution is taken as the base, which cannot, and the expansion is scaled.
 *
 * How it fails: it spreads impulses where waves would pass them on (Figure 11).
 * Tested by tests/step/test_impact.c and tests/step/test_impact_random.c. */
#include "step/step_impact.h"

#include <math.h>

/* Contacts of the list that are not separating, and what is added to their normal velocities. */
static size_t choose(const rg_impact_state *s, const uint32_t *list, size_t count, uint32_t *part,
                     double *shift) {
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n = rg_impact_normal(s, list[i]);
        double v = s->u[n];
        if (v > s->still || !(rg_impact_row(s, n)[n] > 0))
            continue;
        part[chosen] = list[i];
        shift[chosen++] = v <= 0 ? s->e[list[i]] * v : v;
    }
    return chosen;
}

rg_status rg_impact_newton_round(rg_impact_state *s, const uint32_t *list, size_t count,
                                 bool friction, rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    uint32_t *part;
    double *shift, *total, *base, energy = 0;
    RG_TAKE(part, s->context, count, error);
    RG_TAKE(shift, s->context, count, error);
    RG_TAKE(total, s->context, s->rows, error);
    RG_TAKE(base, s->context, s->rows, error);
    friction = friction && s->friction;
    size_t chosen = choose(s, list, count, part, shift);
    rg_impact_part whole = {.list = part, .count = chosen, .shift = shift, .friction = friction};
    rg_status status = rg_impact_solve(s, &whole, total, error);
    if (!status)
        status = rg_impact_energy(s, total, &energy, error);
    if (!status && energy > 0) {
        rg_impact_part inelastic = {.list = part, .count = chosen, .friction = friction};
        status = rg_impact_solve(s, &inelastic, base, error);
        if (!status)
            status = rg_impact_limit_energy(s, base, total, error);
    }
    if (!status)
        status = rg_impact_apply(s, total, error);
    s->info->rounds++;
    rg_arena_return(&s->context->arena, mark);
    return status;
}

rg_status rg_impact_newton_rounds(rg_impact_state *s, bool friction, rg_error *error) {
    rg_status status = RG_OK;
    while (!status && s->info->rounds < s->limit && rg_impact_goes_on(s))
        status = rg_impact_newton_round(s, s->all, s->all_count, friction, error);
    return status;
}

static rg_status resolve(rg_impact_state *s, rg_error *error) {
    return rg_impact_newton_rounds(s, true, error);
}

const rg_impact_law rg_impact_law_simultaneous = {
    "simultaneous", "Newton's restitution at all contacts in one complementarity problem", 100,
    resolve};
