/* Friction at a contact: what it does (one of the states of rg_friction), what takes it from one
 * state to another, and the laws that follow from the state: coefficient, direction, margin.
 *
 * This file alone writes `friction` and `direction` of a contact.
 *
 * Tested by tests/step/test_onset.c and tests/step/test_friction.c. */
#include "contact/contact.h"
#include "problem/problem_rows.h"
#include "step/step_analytic.h"

/* Relative: a force this much outside its cone during a step is an event; and one whose friction
 * drops then. */
#define EXCEEDS      1e-8
#define EXCEEDS_DROP 2e-11

/* --- states ----------------------------------------------------------------------------------- */

/* What becomes of a state. What a cause says nothing about stays what it is: a contact that slips
 * is not put at the limit of stick. */
rg_friction rg_friction_after(rg_friction state, rg_friction_cause cause) {
    enum {
        HELD = RG_FRICTION_HELD,
        LIMIT = RG_FRICTION_AT_LIMIT,
        START = RG_FRICTION_STARTS,
        BOTH = RG_FRICTION_STARTS_AT_LIMIT,
        SLIP = RG_FRICTION_SLIPS,
        STOP = RG_FRICTION_STOPS
    };
    static const uint8_t table[RG_FRICTION_CAUSES][RG_FRICTION_STATES] = {
        /* from                   HELD   LIMIT  START  BOTH   SLIP   STOP */
        [RG_FRICTION_SLIDES] = {SLIP, SLIP, SLIP, SLIP, SLIP, STOP},
        [RG_FRICTION_SLOWS] = {HELD, LIMIT, START, BOTH, STOP, STOP},
        [RG_FRICTION_GOES_ON] = {HELD, LIMIT, START, BOTH, SLIP, SLIP},
        [RG_FRICTION_ENDS] = {HELD, LIMIT, START, BOTH, HELD, HELD},
        [RG_FRICTION_CREEPS] = {HELD, LIMIT, START, BOTH, START, START},
        [RG_FRICTION_LETS_GO] = {START, BOTH, START, BOTH, SLIP, STOP},
        [RG_FRICTION_SETTLES] = {HELD, LIMIT, HELD, LIMIT, SLIP, STOP},
        [RG_FRICTION_EXCEEDS] = {LIMIT, LIMIT, BOTH, BOTH, SLIP, STOP},
        [RG_FRICTION_TURNS_BACK] = {HELD, HELD, START, START, SLIP, STOP},
    };
    return (rg_friction)table[cause][state];
}

void rg_analysis_note_friction(rg_analysis_contact *c, rg_friction_cause cause) {
    c->friction = rg_friction_after(c->friction, cause);
}

void rg_analysis_note_slide(rg_analysis_contact *c, rg_vec3 slip) {
    rg_analysis_note_friction(c, RG_FRICTION_SLIDES);
    c->direction = rg_scale(1 / rg_length(slip), slip);
}

void rg_analysis_note_limit(rg_analysis_contact *c, rg_vec3 direction) {
    rg_analysis_note_friction(c, RG_FRICTION_EXCEEDS);
    c->direction = direction;
}

void rg_analysis_begin_friction(const rg_analysis *a, rg_analysis_contact *c, rg_vec3 slip) {
    c->friction = RG_FRICTION_HELD;
    if (rg_length(slip) > rg_analysis_creep(a, c))
        rg_analysis_note_slide(c, slip);
}

void rg_analysis_go_on(const rg_analysis_contact *before, rg_analysis_contact *c) {
    c->friction = rg_friction_after(before->friction, RG_FRICTION_GOES_ON);
    c->direction = before->direction;
}

bool rg_analysis_slips(const rg_analysis_contact *c) {
    return c->friction == RG_FRICTION_SLIPS || c->friction == RG_FRICTION_STOPS;
}

bool rg_analysis_at_limit(const rg_analysis_contact *c) {
    return c->friction == RG_FRICTION_AT_LIMIT || c->friction == RG_FRICTION_STARTS_AT_LIMIT;
}

bool rg_analysis_starts(const rg_analysis_contact *c) {
    return c->friction == RG_FRICTION_STARTS || c->friction == RG_FRICTION_STARTS_AT_LIMIT;
}

/* --- laws ------------------------------------------------------------------------------------- */

double rg_analysis_coefficient(const rg_analysis_contact *c) {
    return rg_analysis_slips(c) || rg_analysis_starts(c) ? c->law.friction : c->law.static_friction;
}

bool rg_analysis_friction_drops(const rg_analysis_contact *c) {
    return rg_analysis_coefficient(c) > c->law.friction;
}

bool rg_analysis_has_friction(const rg_analysis_contact *c) {
    return rg_analysis_coefficient(c) > 0;
}

double rg_analysis_cone_margin(const rg_analysis_contact *c) {
    double limit = rg_analysis_coefficient(c) * c->force[0];
    double size = sqrt(c->force[1] * c->force[1] + c->force[2] * c->force[2]);
    double slack = rg_analysis_friction_drops(c) ? EXCEEDS_DROP : EXCEEDS;
    return size > 0 ? 1 + slack - size / limit : 1;
}

double rg_analysis_creep(const rg_analysis *a, const rg_analysis_contact *c) {
    return RG_ANALYSIS_CREEP * sqrt(a->view->acceleration * c->size) +
           1e3 * RG_ANALYSIS_SPEED * a->view->speed;
}

double rg_analysis_stop(const rg_analysis *a, const rg_analysis_contact *c) {
    return RG_ANALYSIS_SLIP * sqrt(a->view->acceleration * c->size) +
           10 * RG_ANALYSIS_SPEED * a->view->speed;
}

double rg_analysis_let_go(const rg_analysis_contact *c) {
    return rg_analysis_friction_drops(c) ? RG_ANALYSIS_ONSET : RG_ANALYSIS_DECISIVE;
}

/* Slip direction of the law: of the slip itself, or, where it begins, of the way it will go. */
static rg_vec3 slip_direction(const rg_analysis *a, const rg_analysis_contact *c) {
    double tiny = rg_analysis_stop(a, c);
    double along = rg_dot(c->motion.slip, c->direction);
    rg_vec3 n = c->motion.normal;
    /* Beyond a stop the old direction goes on, so that the step is smooth up to the event. */
    bool kept = along <= 0 || c->friction == RG_FRICTION_STOPS;
    rg_vec3 d = kept ? c->direction : rg_add_scaled(c->motion.slip, tiny, c->direction);
    d = rg_add_scaled(d, -rg_dot(d, n), n);
    double length = rg_length(d);
    return length > 0 ? rg_scale(1 / length, d) : d;
}

void rg_analysis_make_basis(const rg_analysis *a, rg_analysis_contact *c) {
    bool planar = a->view->world->content.planar;
    rg_vec3 n = c->motion.normal;
    if (rg_analysis_slips(c)) {
        c->basis[0] = slip_direction(a, c);
        c->basis[1] = rg_cross(n, c->basis[0]);
        return;
    }
    rg_contact_tangents(n, planar, &c->basis[0], &c->basis[1]);
    if (!rg_analysis_at_limit(c))
        return;
    rg_vec3 d = rg_add_scaled(c->direction, -rg_dot(c->direction, n), n);
    double length = rg_length(d);
    if (length > 0.5) {
        c->basis[0] = rg_scale(1 / length, d);
        c->basis[1] = rg_cross(n, c->basis[0]);
    }
}
