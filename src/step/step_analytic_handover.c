/* Groups of bodies that the event loop could not bring to the end of the step, made by the
 * stepping method while all others are integrated as always: what is hard in one corner does not
 * cost another its accuracy.
 *
 * Such a group is stepped from its beginning, as if the event loop had never seen it; several of
 * them in one go, so that contacts are looked for once. That no other body is near them holds as
 * long as no body leaves its reach, as in the event loop. If one does, it gets a longer one
 * (a->least), and if another body is within that, the step is made again with such groups
 * (*strayed). Contact forces of both methods end in one list. The judge computes what contacts did
 * to the bodies that were stepped (rg_step_report.judged).
 *
 * It fails if the stepping method does; both causes are told, and nothing has changed.
 *
 * Tested by tests/step/test_handover.c. */
#include "base/base_text.h"
#include "step/step_analytic.h"

#include <string.h>

/* Bodies that left their reach may get this many times as far as they got. */
#define FARTHER 2.0

/* Causes that are the method's own; others, as forces that are not finite, stop any method. */
bool rg_analysis_can_hand_over(const rg_world *world, rg_status status) {
    return world->content.settings.hand_over &&
           (status == RG_ITERATION_LIMIT || status == RG_STEP_TOO_SMALL ||
            status == RG_INVALID_ARGUMENT); /* bodies that overlap */
}

/* --- which bodies ----------------------------------------------------------------------------- */

/* Refusals come in the order of groups. */
static const rg_analysis_refusal *refusal_of(const rg_analysis_handover *h, uint32_t group) {
    size_t low = 0, high = h->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->refusals[middle].group < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h->count && h->refusals[low].group == group ? &h->refusals[low] : NULL;
}

static rg_status mark_members(const rg_analysis *a, const rg_analysis_groups *groups,
                              rg_analysis_handover *h) {
    size_t n = a->view->world->content.bodies.count;
    uint8_t *member = rg_arena_take(a->arena, n, sizeof *member);
    if (!member)
        return RG_OUT_OF_MEMORY;
    memset(member, 0, n);
    for (size_t k = 0; k < a->flight.body_count; k++)
        member[a->flight.body[k]] = refusal_of(h, groups->label[k]) != NULL;
    h->stepping.member = member;
    return RG_OK;
}

/* Whether a body got farther than it was taken to; how far it may then get when the step is made
 * again. */
static bool strays(const rg_analysis *a, const rg_analysis_groups *groups, const rg_stepping *s) {
    const rg_world_content *c = &a->view->world->content;
    bool any = false;
    for (size_t k = 0; k < a->flight.body_count; k++) {
        double before = rg_analysis_point_speed(a, k, c->velocity, c->angular_velocity);
        double after = rg_analysis_point_speed(a, k, s->end.velocity, s->end.angular_velocity);
        double travel = s->step * fmax(before, after);
        if (!s->member[a->flight.body[k]] || travel <= groups->reach[k])
            continue;
        any = true;
        a->least[k] = FARTHER * travel;
    }
    return any;
}

/* Whether a group by reaches as they are now has some that are stepped and some that are not. */
static rg_status meets_others(rg_analysis *a, double farther, const uint8_t *member, bool *meets) {
    rg_analysis_groups wider;
    rg_flight_pack(&a->flight, a->scratch_y);
    rg_analysis_move(a, a->view->begin, a->scratch_y, &a->motion);
    rg_status status = rg_analysis_make_groups(a, NULL, farther, &wider);
    uint8_t *kinds = status ? NULL : rg_arena_take(a->arena, wider.count, sizeof *kinds);
    if (!kinds)
        return RG_OUT_OF_MEMORY;
    memset(kinds, 0, wider.count);
    *meets = false;
    for (size_t k = 0; k < a->flight.body_count; k++) {
        if (wider.label[k] == wider.count)
            continue; /* meets none */
        uint8_t *kind = &kinds[wider.label[k]];
        *kind |= member[a->flight.body[k]] ? 1 : 2;
        *meets |= *kind == 3;
    }
    return RG_OK;
}

/* --- forces ----------------------------------------------------------------------------------- */

/* Two lists as one; null without memory. */
static rg_contact_force *join(rg_arena *arena, const rg_contact_force *x, size_t x_count,
                              const rg_contact_force *y, size_t y_count) {
    rg_contact_force *all = rg_arena_take(arena, x_count + y_count, sizeof *all);
    if (!all)
        return NULL;
    if (x_count)
        memcpy(all, x, x_count * sizeof *all);
    if (y_count)
        memcpy(all + x_count, y, y_count * sizeof *all);
    return all;
}

rg_status rg_analysis_join_forces(rg_analysis *a, const rg_analysis_handover *h,
                                  rg_contact_force **forces, size_t *count) {
    if (h->count == 0)
        return RG_OK;
    const rg_stepping *s = &h->stepping;
    *forces = join(a->arena, *forces, *count, s->forces, s->force_count);
    *count += s->force_count;
    return *forces ? RG_OK : RG_OUT_OF_MEMORY;
}

/* --- the step --------------------------------------------------------------------------------- */

static rg_status fail_both(const rg_analysis *a, const rg_analysis_groups *groups,
                           const rg_analysis_handover *h, rg_status status, const rg_error *inner,
                           rg_error *error) {
    const rg_error *cause = &h->refusals[0].cause;
    for (size_t k = 0; k < a->flight.body_count; k++)
        if (a->flight.body[k] == h->stepping.failed_body)
            cause = &refusal_of(h, groups->label[k])->cause;
    return rg_fail(error, status, "%.480s. Handed over to the method stepping: %.480s", cause->text,
                   inner->text);
}

rg_status rg_analysis_hand_over(rg_analysis *a, const rg_analysis_groups *groups,
                                rg_analysis_handover *h, bool *strayed, rg_error *error) {
    *strayed = false;
    if (h->count == 0)
        return RG_OK;
    rg_stepping *s = &h->stepping;
    const rg_contact_force *last = rg_world_contact_forces(a->view->world, &s->last_count);
    s->end_time = a->view->end;
    s->step = a->view->world->step;
    s->shown = a->shown;
    s->last = join(a->arena, last, s->last_count, NULL, 0);
    if (!s->last || mark_members(a, groups, h))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for the step");
    rg_error inner = {0};
    rg_status status = rg_stepping_make(a->view->world, s, &inner);
    if (status)
        return fail_both(a, groups, h, status, &inner, error);
    if (strays(a, groups, s) && meets_others(a, groups->farther, s->member, strayed))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for the step");
    return RG_OK;
}

/* Whether the part with this number is of a member: what is not listed is fixed ground, or gone. */
static bool is_of(const rg_analysis *a, uint32_t number, const uint8_t *member) {
    return number < a->view->own_count && member[a->view->own[number].body];
}

/* What the event loop has learnt of bodies does not hold after a motion that it has not made. */
static void forget(rg_analysis *a, const uint8_t *member, rg_analysis_known *known) {
    for (size_t k = 0; k < a->flight.body_count; k++)
        if (member[a->flight.body[k]])
            known[k] = (rg_analysis_known){0};
    size_t kept = 0;
    for (size_t i = 0; i < a->bounce_count; i++) {
        const rg_bounce *b = &a->bounces[i];
        bool limit = b->part_b == UINT32_MAX;
        if (!limit && !is_of(a, b->part_b, member) && !is_of(a, b->part_a, member))
            a->bounces[kept++] = *b;
    }
    a->bounce_count = kept;
}

/* What joints of their bodies did. */
static void take_joints(const rg_analysis *a, const rg_stepping *s, rg_joint_memory *joints) {
    const rg_world_content *c = &a->view->world->content;
    for (size_t j = 0; j < c->joints.count; j++)
        for (int side = 0; side < 2; side++) {
            rg_body_id id = side ? c->joint[j].def.body_b : c->joint[j].def.body_a;
            if (id.index1 && s->member[rg_body_dense(c, id)])
                joints[j] = s->joints[j];
        }
}

void rg_analysis_take_over(rg_analysis *a, const rg_analysis_handover *h, rg_analysis_known *known,
                           rg_joint_memory *joints) {
    if (h->count == 0)
        return;
    take_joints(a, &h->stepping, joints);
    rg_stepping_commit(a->view->world, &h->stepping);
    for (size_t i = 0; a->judge && i < a->view->world->content.bodies.count; i++)
        if (h->stepping.member[i])
            rg_judge_tracks_drop(&a->judge->tracks, i);
    forget(a, h->stepping.member, known);
}

/* --- what is told of it ----------------------------------------------------------------------- */

/* The group's first two bodies, and how many there are. */
static void log_refusal(const rg_analysis *a, const rg_analysis_groups *groups,
                        const rg_analysis_refusal *refusal) {
    rg_body_id bodies[2] = {{0}};
    uint32_t count = 0;
    for (size_t k = 0; k < a->flight.body_count; k++) {
        if (groups->label[k] != refusal->group)
            continue;
        if (count < 2)
            bodies[count] = rg_body_id_at(&a->view->world->content, a->flight.body[k]);
        count++;
    }
    rg_step_log_hand_over(a->view->world, bodies, count, &refusal->cause);
}

void rg_analysis_tell_hand_over(const rg_analysis *a, const rg_analysis_groups *groups,
                                const rg_analysis_handover *h, rg_step_report *report) {
    if (h->count == 0)
        return;
    for (size_t i = h->count; i-- > 0;)
        log_refusal(a, groups, &h->refusals[i]);
    const rg_step_report *r = &h->stepping.report;
    rg_step_report_add(report, r);
    report->joints = r->joints, report->joint_count = r->joint_count;
    report->end_joints = r->end_joints, report->end_joint_count = r->end_joint_count;
    report->contacts += r->contacts;
    report->judged = r->varies ? r->judged : h->stepping.member;
}
