/* The groups of a step, one after the other: each gets its bodies, their numbers and the pairs
 * that may meet, is brought to the end of the step by the event loop, and gives back where it
 * is, what it did, and its forces of the last instant. A group that fails is handed over, if
 * that is allowed, or ends the step with the cause.
 *
 * Tested by tests/step/test_mixed.c. */
#include "base/base_text.h"
#include "step/step_analytic.h"

#include <string.h>

static rg_contact_mode mode_of(const rg_analysis_contact *c) {
    if (!rg_analysis_carries(c))
        return RG_MODE_SEPARATING;
    if (rg_analysis_slips(c) && c->law.friction > 0)
        return RG_MODE_SLIP;
    bool curved = c->track.feature.kind == RG_FEATURES_SMOOTH;
    return curved && rg_length(c->motion.point_rate) > 0 ? RG_MODE_ROLL : RG_MODE_STICK;
}

static rg_contact_force force_at(const rg_analysis *a, const rg_analysis_contact *c,
                                 rg_arrival arrival) {
    const rg_world *world = a->view->world;
    const rg_convex_part *b = &a->view->parts[c->part_b], *other = &a->view->parts[c->part_a];
    /* A body at rest keeps its forces to the last bit. */
    rg_vec3 f = arrival == RG_ARRIVED_RESTING ? c->last : rg_analysis_force_of(c);
    return (rg_contact_force){.collider_b = b->collider,
                              .collider_a = other->collider,
                              .body_b = rg_body_id_at(&world->content, c->body_b),
                              .body_a = rg_body_id_at(&world->content, c->body_a),
                              .part_b = b->index,
                              .part_a = other->index,
                              .id = c->id,
                              .position = c->motion.point,
                              .normal = c->motion.normal,
                              .gap = c->motion.gap,
                              .impulse = rg_scale(a->view->end - a->view->begin, f),
                              .force = f,
                              .normal_force = c->force[0],
                              .friction =
                                  rg_analysis_slips(c) ? c->law.friction : c->law.static_friction,
                              .slip_speed = rg_length(c->motion.slip),
                              .approach = -c->motion.gap_rate,
                              .mode = mode_of(c)};
}

static rg_status add_forces(rg_analysis *g, rg_arrival arrival, rg_analysis_forces *list) {
    if (g->contact_count == 0 && !g->joints)
        return RG_OK;
    rg_analysis_evaluate_last(g, arrival);
    rg_analysis_judge_last(g, arrival);
    rg_analysis_joints_keep(g, g->view->world->step, list->joints);
    for (size_t i = 0; i < g->contact_count; i++) {
        if (g->contacts[i].kind != RG_TOUCH_PARTS)
            continue;
        if (!rg_arena_grow(g->arena, &list->forces, list->count, &list->capacity,
                           sizeof *list->forces))
            return RG_OUT_OF_MEMORY;
        list->forces[list->count++] = force_at(g, &g->contacts[i], arrival);
    }
    return RG_OK;
}

static size_t group_size(const rg_analysis *a, const rg_analysis_groups *groups, size_t index) {
    size_t count = 0;
    for (size_t k = 0; k < a->flight.body_count; k++)
        count += groups->label[k] == index;
    return count;
}

static bool take_group_arrays(rg_analysis *g, size_t bodies, size_t pairs) {
    g->flight.body = rg_arena_take(g->arena, bodies, sizeof *g->flight.body);
    g->y = rg_arena_take(g->arena, g->ode.n, sizeof *g->y);
    g->travel = rg_arena_take(g->arena, bodies, sizeof *g->travel);
    g->pairs = rg_arena_take(g->arena, pairs, sizeof *g->pairs);
    g->mine = rg_arena_take(g->arena, 2 * pairs, sizeof *g->mine);
    return g->flight.body && g->y && g->travel && g->pairs && g->mine;
}

/* Parts of the group's pairs, each once. `seen`: per part, false; it stays so. */
static void list_parts(rg_analysis *g, bool *seen) {
    g->mine_count = 0;
    for (size_t i = 0; i < 2 * g->candidate_count; i++) {
        uint32_t part = g->candidates[i / 2][i % 2];
        if (!seen[part])
            g->mine[g->mine_count++] = part;
        seen[part] = true;
    }
    for (size_t i = 0; i < g->mine_count; i++)
        seen[g->mine[i]] = false;
}

/* The group's part of the world: its bodies, their numbers, the parts that may meet. */
static rg_status make_group(const rg_analysis *a, const rg_analysis_groups *groups, size_t index,
                            const rg_analysis_memory *memory, bool *seen, rg_analysis *g) {
    const rg_analysis_known *known = rg_analysis_known_of(memory);
    size_t width = a->flight.width, bodies = group_size(a, groups, index);
    size_t from = index ? groups->pair_end[index - 1] : 0;
    size_t pairs = index < groups->count ? groups->pair_end[index] - from : 0;
    g->flight.size = bodies * width + RG_FLIGHT_LEDGER;
    g->ode.n = g->flight.size + RG_ANALYSIS_LEDGER;
    g->ode.user = g;
    if (!take_group_arrays(g, bodies, pairs))
        return RG_OUT_OF_MEMORY;
    g->next_step = INFINITY;
    g->decisions = RG_ANALYSIS_DECISIONS;
    g->flight.body_count = 0;
    for (size_t k = 0; k < a->flight.body_count; k++) {
        if (groups->label[k] != index)
            continue;
        size_t place = g->flight.body_count++;
        g->flight.body[place] = a->flight.body[k];
        g->place[a->flight.body[k]] = (uint32_t)place;
        g->travel[place] =
            (rg_analysis_travel){.extent = a->travel[k].extent, .reach = groups->reach[k]};
        memcpy(g->y + place * width, a->y + k * width, width * sizeof *g->y);
        g->next_step = fmin(g->next_step, known[k].next_step);
        if (known[k].averaged)
            g->decisions = RG_ANALYSIS_DECISIONS_AGAIN;
    }
    memset(g->y + bodies * width, 0, (RG_FLIGHT_LEDGER + RG_ANALYSIS_LEDGER) * sizeof *g->y);
    g->candidates = groups->pairs + from;
    g->candidate_count = pairs;
    list_parts(g, seen);
    g->bounded_for = NULL;
    bool adams = a->view->world->content.settings.integrator == RG_INTEGRATOR_ADAMS;
    rg_status status = rg_trial_make(&g->ode, adams ? RG_TRIAL_ADAMS : RG_TRIAL_DORMAND_PRINCE,
                                     g->arena, &g->trial);
    if (!status)
        status = rg_analysis_joints_make(g);
    if (!status)
        rg_analysis_recall_group(memory, groups->label, index, g);
    return status;
}

static void add_counts(rg_analysis *a, const rg_analysis *g) {
    a->ode_info.accepted += g->ode_info.accepted;
    a->ode_info.rejected += g->ode_info.rejected;
    a->ode_info.evaluations += g->ode_info.evaluations;
    a->tally.stabilisation += g->tally.stabilisation;
    a->tally.prescribed += g->tally.prescribed;
    a->tally.drive += g->tally.drive;
    for (int i = 0; i < RG_ANALYSIS_LEDGER; i++)
        a->tally.outside[i] += g->tally.outside[i];
    a->tally.impacts += g->tally.impacts;
    a->tally.contacts_most += g->tally.contacts_most;
    rg_solve_counts_add(&a->tally.counts, &g->tally.counts);
    rg_judge_findings_add(&a->found, &g->found);
    a->shown = g->shown;
    a->bounce_count = g->bounce_count;
    memcpy(a->bounces, g->bounces, g->bounce_count * sizeof *a->bounces);
}

/* Numbers and sums of a group that has arrived. */
static void take_group(rg_analysis *a, const rg_analysis_groups *groups, size_t index,
                       const rg_analysis *g, double *y, rg_analysis_memory *memory) {
    rg_analysis_known *known = rg_analysis_known_of(memory);
    size_t width = a->flight.width, place = 0;
    for (size_t k = 0; k < a->flight.body_count; k++) {
        if (groups->label[k] != index)
            continue;
        memcpy(y + k * width, g->y + place++ * width, width * sizeof *y);
        known[k] = (rg_analysis_known){.next_step = g->next_step, .averaged = g->law->mean};
    }
    double *sum = y + a->flight.body_count * width;
    const double *own = g->y + g->flight.body_count * width;
    for (size_t i = 0; i < RG_FLIGHT_LEDGER + RG_ANALYSIS_LEDGER; i++)
        sum[i] += own[i];
    rg_analysis_remember_group(memory, groups->label, index, g);
    add_counts(a, g);
}

static rg_status run_group(rg_analysis *a, rg_analysis *g, rg_arrival *arrival, rg_error *error) {
    rg_error inner = {0};
    rg_status status = rg_analysis_run(g, arrival, &inner);
    if (status && inner.text[0] && error)
        *error = inner;
    if (status)
        return inner.text[0] ? status : rg_analysis_fail(a->view->world, status, g->time, error);
    if (*arrival != RG_STRAYED && !rg_flight_in_range(&g->flight, g->y))
        return rg_analysis_fail(a->view->world, RG_NOT_FINITE, g->time, error);
    return RG_OK;
}

/* Says where, if the cause names no body. */
static rg_status fail_group(const rg_analysis *g, rg_status status, const rg_error *cause,
                            rg_error *error) {
    size_t count = g->flight.body_count;
    if (status == RG_OUT_OF_MEMORY || strchr(cause->text, '"'))
        return rg_fail(error, status, "%s", cause->text);
    const char *first = rg_analysis_body_name(g, g->flight.body[0]);
    if (count == 1)
        return rg_fail(error, status, "%.700s; the body is \"%.99s\"", cause->text, first);
    const char *second = rg_analysis_body_name(g, g->flight.body[1]);
    if (count == 2)
        return rg_fail(error, status, "%.700s; the bodies are \"%.99s\" and \"%.99s\"", cause->text,
                       first, second);
    return rg_fail(error, status, "%.700s; the bodies are \"%.99s\", \"%.99s\" and %zu more",
                   cause->text, first, second, count - 2);
}

/* A group that failed leaves no trace but the number of problems that were shown; false without
 * memory. */
static bool refuse(rg_analysis *a, size_t index, const rg_analysis *g, const rg_log_mark *log,
                   const rg_error *cause, rg_analysis_handover *h) {
    a->shown = g->shown;
    rg_step_log_return(a->view->machinery, log);
    if (!rg_arena_grow(a->arena, &h->refusals, h->count, &h->capacity, sizeof *h->refusals))
        return false;
    h->refusals[h->count++] = (rg_analysis_refusal){(uint32_t)index, *cause};
    return true;
}

rg_status rg_analysis_run_groups(rg_analysis *a, const rg_analysis_groups *groups,
                                 rg_analysis_memory *memory, rg_analysis_forces *list,
                                 rg_analysis_handover *handover, bool *strayed, rg_error *error) {
    *strayed = false;
    double *y = rg_arena_take(a->arena, a->ode.n, sizeof *y);
    bool *seen = rg_arena_take(a->arena, a->view->part_count, sizeof *seen);
    rg_analysis *blank = rg_arena_take(a->arena, 1, sizeof *blank);
    rg_analysis *g = rg_arena_take(a->arena, 1, sizeof *g);
    uint32_t *place = rg_arena_take(a->arena, a->view->world->content.bodies.count, sizeof *place);
    if (!y || !seen || !blank || !g || !place)
        return rg_analysis_fail(a->view->world, RG_OUT_OF_MEMORY, a->time, error);
    memcpy(y, a->y, a->ode.n * sizeof *y);
    memset(seen, 0, a->view->part_count * sizeof *seen);
    memset(place, 0xff, a->view->world->content.bodies.count * sizeof *place); /* in no group */
    *blank = *a;
    blank->place = place;
    for (size_t index = 0; index <= groups->count; index++) {
        if (group_size(a, groups, index) == 0)
            continue;
        *g = *blank;
        g->found = rg_judge_findings_none();
        g->shown = a->shown;
        g->bounce_count = a->bounce_count;
        memcpy(g->bounces, a->bounces, sizeof g->bounces);
        rg_arena_mark mark = rg_arena_get_mark(a->arena);
        rg_log_mark log = rg_step_log_mark(a->view->machinery);
        rg_error cause = {0};
        rg_arrival arrival = RG_ARRIVED;
        rg_status status = make_group(a, groups, index, memory, seen, g)
                               ? rg_analysis_fail(a->view->world, RG_OUT_OF_MEMORY, a->time, &cause)
                               : run_group(a, g, &arrival, &cause);
        rg_status confirmed = status ? rg_step_confirm(a->view->world, error) : RG_OK;
        if (confirmed)
            return confirmed;
        if (rg_analysis_can_hand_over(a->view->world, status)) {
            rg_arena_return(a->arena, mark);
            rg_analysis_forget_group(memory, groups->label, index);
            cause.status = status;
            if (!refuse(a, index, g, &log, &cause, handover))
                return rg_analysis_fail(a->view->world, RG_OUT_OF_MEMORY, a->time, error);
            continue;
        }
        if (status)
            return fail_group(g, status, &cause, error);
        *strayed = arrival == RG_STRAYED;
        if (*strayed)
            return RG_OK;
        status = add_forces(g, arrival, list);
        if (status)
            return rg_analysis_fail(a->view->world, status, g->time, error);
        take_group(a, groups, index, g, y, memory);
    }
    memcpy(a->y, y, a->ode.n * sizeof *y);
    return RG_OK;
}
