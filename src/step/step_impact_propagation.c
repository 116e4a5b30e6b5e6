/* Impacts one pair after the other, fastest approach first, until nothing approaches (the
 * propagation model of Baraff 1989, section 8). One contact at a time is an impact of its own: in
 * closed form without friction, with its sliding integrated otherwise.
 *
 * Coupled contacts that approach equally fast go together, and so do those of the same two bodies
 * where the caller says which: a cube that lands on four corners must not choose one. So the answer
 * does not depend on the order of the contacts.
 *
 * How it fails: without restitution it only converges geometrically (Figure 12: 0.9^n at a mass
 * ratio of nine).
 * Tested by tests/step/test_impact.c and tests/step/test_impact_random.c. */
#include "step/step_impact.h"

#include "base/base_math.h"
#include "step/step_impact_sliding.h"

#include <string.h>

/* Relative: contacts whose order differs by less are tied. */
#define TIE 1e-9

static rg_status one_contact(rg_impact_state *s, size_t contact) {
    size_t n = rg_impact_normal(s, contact);
    double speed = s->u[n], w_nn = rg_impact_row(s, n)[n];
    if (s->mu[contact] == 0) {
        double impulse[3] = {-(1 + s->e[contact]) * speed / w_nn};
        rg_impact_apply_one(s, contact, impulse, impulse[0] * (speed + 0.5 * w_nn * impulse[0]));
        if (s->e[contact] == 0)
            s->u[n] = 0;
        return RG_OK;
    }
    double w[9], u[3];
    rg_impact_one(s, contact, w, u);
    rg_slide slide =
        rg_slide_through(w, u, s->mu[contact], s->e[contact], RG_SLIDE_ENERGETIC, s->scale);
    rg_impact_apply_one(s, contact, slide.impulse, slide.normal_work);
    s->info->iterations += (uint64_t)slide.steps;
    if (slide.mode == RG_SLIDE_STUCK)
        rg_impact_note(s, RG_IMPACT_UNSOLVED,
                       "contact %zu sticks where nothing can move: its approach cannot be stopped",
                       contact);
    return RG_OK;
}

/* A joint row with bounds is stopped as far as its bounds allow. */
static bool bounded_row(rg_impact_state *s) {
    size_t first = s->rows - s->bounded, worst = s->rows;
    double fastest = s->still;
    for (size_t i = 0; i < s->bounded; i++) {
        double u = s->u[first + i];
        bool held = u < 0 ? s->r[first + i] >= s->upper[i] : s->r[first + i] <= s->lower[i];
        if (fabs(u) > fastest && !held && rg_impact_row(s, first + i)[first + i] > 0)
            fastest = fabs(u), worst = first + i;
    }
    if (worst == s->rows)
        return false;
    const double *row = rg_impact_row(s, worst);
    double whole = s->r[worst] - s->u[worst] / row[worst];
    whole = fmin(fmax(whole, s->lower[worst - first]), s->upper[worst - first]);
    double change = whole - s->r[worst];
    for (size_t i = 0; i < s->rows; i++)
        s->u[i] += row[i] * change;
    s->r[worst] = whole;
    return true;
}

/* The first in order, those that tie with it, and the others of their pairs that do not separate.
 */
static size_t next_group(const rg_impact_state *s, const rg_impact_sequence *sequence,
                         uint32_t *list) {
    double first = 0;
    for (size_t i = 0; i < s->all_count; i++)
        if (s->u[rg_impact_normal(s, s->all[i])] < -s->still)
            first = fmax(first, sequence->order(s, s->all[i]));
    size_t count = 0;
    for (size_t i = 0; i < s->all_count && first > 0; i++)
        if (s->u[rg_impact_normal(s, s->all[i])] < -s->still &&
            sequence->order(s, s->all[i]) >= (1 - TIE) * first)
            list[count++] = s->all[i];
    size_t tied = count;
    for (size_t i = 0; s->pair && i < s->all_count; i++) {
        uint32_t c = s->all[i];
        bool listed = false, partner = false;
        for (size_t k = 0; k < count; k++)
            listed |= list[k] == c;
        for (size_t k = 0; k < tied; k++)
            partner |= s->pair[list[k]] == s->pair[c];
        if (!listed && partner && s->u[rg_impact_normal(s, c)] <= s->still)
            list[count++] = c;
    }
    return count;
}

static bool are_coupled(const rg_impact_state *s, size_t a, size_t b) {
    size_t i = rg_impact_normal(s, a), j = rg_impact_normal(s, b), d = (size_t)s->d;
    for (size_t k = 0; k < d * d; k++)
        if (rg_impact_row(s, i + k / d)[j + k % d] != 0)
            return true;
    return false;
}

/* Moves to the front what an impulse at the first contact can be felt at, through others of the
 * list; the rest is for a later round. */
static size_t keep_coupled(const rg_impact_state *s, uint32_t *list, size_t count) {
    size_t kept = 1;
    for (size_t from = 0; from < kept && kept < count; from++)
        for (size_t i = kept; i < count; i++)
            if (are_coupled(s, list[from], list[i])) {
                uint32_t other = list[kept];
                list[kept++] = list[i], list[i] = other;
            }
    return kept;
}

rg_status rg_impact_run_sequence(rg_impact_state *s, const rg_impact_sequence *sequence,
                                 rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    uint32_t *list;
    RG_TAKE(list, s->context, s->contacts, error);
    rg_status status = RG_OK;
    while (!status && s->info->rounds < s->limit && s->info->outcome != RG_IMPACT_UNSOLVED &&
           rg_impact_goes_on(s)) {
        size_t count = next_group(s, sequence, list);
        count = count > 1 ? keep_coupled(s, list, count) : count;
        if (count == 1)
            status = one_contact(s, list[0]);
        else if (count > 1)
            status = sequence->round(s, list, count, true, error);
        else if (!bounded_row(s))
            break;
        s->info->rounds += count == 1 || count == 0;
    }
    rg_arena_return(&s->context->arena, mark);
    return status;
}

static double approach(const rg_impact_state *s, size_t contact) {
    return -s->u[rg_impact_normal(s, contact)];
}

static rg_status resolve(rg_impact_state *s, rg_error *error) {
    rg_impact_sequence sequence = {approach, rg_impact_newton_round};
    return rg_impact_run_sequence(s, &sequence, error);
}

const rg_impact_law rg_impact_law_propagation = {
    "propagation", "pair by pair, fastest approach first, until nothing approaches", 2000, resolve};
