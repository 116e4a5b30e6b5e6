/* What the analytic method shows the judge: forces where an accepted substep begins, ends, and,
 * where contacts do work, in between on the polynomial of the substep; impulses of impacts; the
 * forces that readers get. Rejected trials and what was tried at an event before it was settled
 * moved nothing and are not shown. The judge changes nothing: what is evaluated for it alone is
 * evaluated on copies.
 *
 * Tested by tests/step/test_events.c and tests/scene/test_force.c. */
#include "step/step_analytic.h"
#include "step/step_stage.h"

#include <string.h>

/* Times the speed of creep: a contact that is about to stop may slip as fast as
 * RG_ANALYSIS_STOPPING of it along the direction that it keeps and as much across it. */
#define SLOW 5.0
/* Substeps below this share of the step of the world only lead from one event to the next: what
 * acts in them is settled anew before it has moved anything. */
#define INSTANT 1e-12
/* Power below this share of (forces x typical speeds) is that of rounding. */
#define NO_POWER 1e-10
/* Power that is off a straight line over two substeps by less than this share of itself is linear,
 * if the first of them is at least so long as this share of the second. */
#define LINEAR     1e-9
#define COMPARABLE 0.1

rg_status rg_analysis_judge_make(rg_analysis *a) {
    size_t n = a->view->world->content.bodies.count;
    a->found = rg_judge_findings_none();
    if (!a->view->world->certify)
        return RG_OK;
    rg_analysis_judging *j = rg_arena_take(a->arena, 1, sizeof *j);
    if (!j)
        return RG_OUT_OF_MEMORY;
    *j = (rg_analysis_judging){.before_time = INFINITY,
                               .linear = rg_arena_take(a->arena, n, sizeof *j->linear),
                               .angular = rg_arena_take(a->arena, n, sizeof *j->angular),
                               .inverse = rg_arena_take(a->arena, n, sizeof *j->inverse)};
    if (!rg_analysis_make_motion(&a->view->world->content, a->arena, &j->motion) || !j->linear ||
        !j->angular || !j->inverse)
        return RG_OUT_OF_MEMORY;
    rg_arena *tracks = &a->view->machinery->tracks;
    rg_arena_reset(tracks);
    a->judge = j;
    return rg_judge_tracks_make(tracks, n, &j->tracks);
}

static rg_judge_contact contact_of(const rg_analysis *a, const rg_analysis_contact *c,
                                   rg_vec3 force) {
    return (rg_judge_contact){.body_a = c->body_a,
                              .body_b = c->body_b,
                              .point = c->motion.point,
                              .normal = c->motion.normal,
                              .normal_rate = c->motion.normal_rate,
                              .drift = c->motion.drift,
                              .force = force,
                              .slow = SLOW * rg_analysis_creep(a, c),
                              .none = rg_analysis_stop(a, c),
                              .law = c->law};
}

/* What there is to be seen of an instant besides the power of forces. */
typedef enum sight {
    SEE_POWER, /* nothing: forces are those of an earlier instant */
    SEE_CONES, /* they are means over a time to come */
    SEE_LAWS,
    SEE_LAWS_AT_END
} sight;

/* The instant of a->motion and a->contacts; false without memory. */
static bool instant_of(const rg_analysis *a, sight see, rg_judge_instant *now) {
    bool laws = see >= SEE_LAWS;
    rg_judge_contact *contacts = rg_arena_take(a->arena, a->contact_count, sizeof *contacts);
    if (!contacts)
        return false;
    bool polygon = a->law == &rg_law_pivoting && !a->view->world->content.planar;
    *now = (rg_judge_instant){.content = &a->view->world->content,
                              .position = a->motion.position,
                              .velocity = a->motion.velocity,
                              .angular_velocity = a->motion.angular_velocity,
                              .orientation = a->motion.orientation,
                              .acceleration = laws ? a->motion.acceleration : NULL,
                              .angular_acceleration = laws ? a->motion.angular_acceleration : NULL,
                              .stops = see == SEE_LAWS_AT_END,
                              .scale = a->view->acceleration,
                              .widest = polygon ? sqrt(2) : 1,
                              .linear = a->judge->linear,
                              .angular = a->judge->angular,
                              .inverse = a->judge->inverse,
                              .contacts = contacts};
    if (a->joints && !rg_analysis_joints_show(a, now))
        return false;
    for (size_t i = 0; i < a->contact_count; i++)
        if (a->contacts[i].motion.regular && a->contacts[i].kind == RG_TOUCH_PARTS)
            contacts[now->count++] =
                contact_of(a, &a->contacts[i], rg_analysis_force_of(&a->contacts[i]));
    return true;
}

static rg_judge_power look(const rg_analysis *a, sight see, rg_judge_findings *found) {
    rg_stage outer = rg_stage_enter(a->view->world, RG_STAGE_JUDGE);
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_judge_instant now;
    rg_judge_power power = {0};
    if (instant_of(a, see, &now)) {
        for (size_t i = 0; i < a->contact_count; i++)
            if (a->contacts[i].kind != RG_TOUCH_PARTS)
                rg_analysis_limit_show(a, &a->contacts[i], a->contacts[i].force[0], &now);
        if (see != SEE_POWER)
            rg_judge_laws(&now, found);
        power = rg_judge_power_of(&now);
    }
    rg_arena_return(a->arena, mark);
    rg_stage_enter(a->view->world, outer);
    return power;
}

/* Whether there is anything to show besides how bodies move. */
static bool is_shown(const rg_analysis *a) {
    return a->judge && (a->contact_count || a->joints);
}

void rg_analysis_judge_begin(rg_analysis *a, rg_course course) {
    if (!is_shown(a))
        return;
    a->judge->pending = rg_judge_findings_none();
    a->judge->course = course;
    a->judge->begin = look(a, a->law->mean ? SEE_CONES : SEE_LAWS, &a->judge->pending);
}

/* Whether contacts do work that is worth a look in between. */
static bool works(const rg_analysis *a, const rg_judge_power *begin, const rg_judge_power *end) {
    double size = rg_analysis_joints_push_size(a) * sqrt(a->view->acceleration);
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        size += fabs(c->force[0]) * sqrt(a->view->acceleration * c->size);
    }
    return fmax(begin->size, end->size) > NO_POWER * size;
}

/* Whether power has been linear in time since the beginning of the substep before: a straight
 * slide, a steady support. */
static bool is_linear(const rg_analysis *a, double length, const rg_judge_power *begin,
                      const rg_judge_power *end) {
    const rg_analysis_judging *j = a->judge;
    double past = a->time - j->before_time, share = past / (past + length);
    if (!(past >= COMPARABLE * length) || past > a->view->end - a->view->begin)
        return false;
    double off = fmax(
        fabs(j->before.friction + share * (end->friction - j->before.friction) - begin->friction),
        fabs(j->before.prescribed + share * (end->prescribed - j->before.prescribed) -
             begin->prescribed));
    off = fmax(off, fabs(j->before.drive + share * (end->drive - j->before.drive) - begin->drive));
    return off <= LINEAR * fmax(begin->size, end->size);
}

/* Of instants after the beginning of the trial step. */
static sight sight_of(const rg_analysis *a) {
    return a->judge->course == RG_COURSE_CONSTANT ? SEE_POWER : SEE_LAWS_AT_END;
}

/* Forces at a place of the trial step, on copies that are not observed. */
static rg_judge_power look_inside(const rg_analysis *a, double theta, rg_judge_findings *found) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_analysis_contact *contacts = rg_arena_take(a->arena, a->contact_count, sizeof *contacts);
    rg_judge_power power = {0};
    bool constant = a->judge->course == RG_COURSE_CONSTANT;
    if (contacts) {
        rg_analysis_view view = *a->view;
        rg_analysis copy = *a;
        view.observer = NULL;
        if (a->contact_count)
            memcpy(contacts, a->contacts, a->contact_count * sizeof *contacts);
        for (size_t i = 0; !constant && i < a->contact_count; i++)
            memcpy(contacts[i].force, a->start[i].force, sizeof contacts[i].force);
        copy.view = &view;
        copy.active = constant ? &rg_law_constant : a->active;
        copy.contacts = contacts;
        copy.motion = a->judge->motion;
        const rg_dense_output *dense = &a->trial.output;
        rg_dense_evaluate(dense, theta, a->scratch_y);
        rg_analysis_accept(&copy, 0, a->scratch_y);
        rg_analysis_evaluate(&copy, dense->begin + theta * dense->step, a->scratch_y);
        power = look(&copy, sight_of(a), found);
    }
    rg_arena_return(a->arena, mark);
    return power;
}

void rg_analysis_judge_span(rg_analysis *a, double theta, double length) {
    if (!a->judge)
        return;
    if (theta * length >= INSTANT * (a->view->end - a->view->begin))
        rg_flight_track(&a->flight, &a->trial.output, &a->judge->tracks);
    if (!is_shown(a))
        return;
    rg_judge_power power[2 + RG_JUDGE_INSIDE] = {a->judge->begin};
    rg_judge_findings *found = &a->judge->pending;
    const rg_dense_output *dense = &a->trial.output;
    rg_dense_evaluate(dense, theta, a->scratch_y);
    rg_analysis_accept(a, 0, a->scratch_y);
    rg_analysis_move(a, dense->begin + theta * dense->step, a->scratch_y, &a->motion);
    rg_judge_power end = look(a, sight_of(a), found);
    int rule = -1, inside = 0;
    if (works(a, &power[0], &end) && !is_linear(a, theta * length, &power[0], &end)) {
        rule = a->trial.last == RG_TRIAL_ADAMS ? 1 : 0;
        inside = rule ? 3 : 1;
    }
    for (int i = 0; i < inside; i++)
        power[1 + i] = look_inside(a, theta * rg_judge_node[rule][i], found);
    power[1 + inside] = end;
    a->judge->before = power[0];
    a->judge->before_time = a->time;
    rg_judge_span(power, rule, theta * length, found);
    if (theta * length < INSTANT * (a->view->end - a->view->begin)) /* forces that move nothing */
        found->complementarity = found->cone = NAN;
    rg_judge_findings_add(&a->found, found);
    a->judge->pending = rg_judge_findings_none();
}

void rg_analysis_judge_impact(rg_analysis *a, const rg_analysis_row *rows, size_t count,
                              const double *impulse) {
    if (!a->judge || count == 0)
        return;
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_judge_contact *contacts = rg_arena_take(a->arena, count, sizeof *contacts);
    rg_judge_instant now;
    if (contacts && instant_of(a, SEE_POWER, &now)) {
        now.contacts = contacts;
        now.count = 0;
        for (size_t i = 0; i < count; i++) {
            const rg_analysis_contact *c = &a->contacts[rows[i].contact];
            if (c->kind != RG_TOUCH_PARTS && rows[i].component == 0)
                rg_analysis_limit_show(a, c, impulse[i], &now);
            if (c->kind != RG_TOUCH_PARTS)
                continue;
            if (i == 0 || rows[i].contact != rows[i - 1].contact)
                contacts[now.count++] = contact_of(a, c, (rg_vec3){0, 0, 0});
            rg_vec3 *force = &contacts[now.count - 1].force;
            *force = rg_add_scaled(*force, impulse[i], rows[i].e);
        }
        rg_judge_impact(&now, &a->found);
    }
    rg_arena_return(a->arena, mark);
}

void rg_analysis_judge_last(rg_analysis *a, rg_arrival arrival) {
    if (!is_shown(a))
        return;
    rg_judge_power power[2];
    power[0] = power[1] = look(a, a->law->mean ? SEE_CONES : SEE_LAWS_AT_END, &a->found);
    if (arrival == RG_ARRIVED_RESTING)
        rg_judge_span(power, -1, a->view->end - a->view->begin, &a->found);
}
