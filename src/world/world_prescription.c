/* Prescribed motion of kinematic bodies: pose and velocities as functions of time, evaluated
 * exactly at any time (no integration, so no drift). A kinematic body's two frames are one.
 * Tested by tests/step/test_world.c. */
#include "world/world.h"

#include "base/base_expression.h"
#include "base/base_text.h"
#include "base/base_trig.h"

#include <assert.h>
#include <stdatomic.h>

/* Where a motion by expressions of time is: metres and radians from the start pose, and their
 * rates. A component without a text is a constant, `amplitude`. */
typedef struct displacement {
    double value[RG_PRESCRIBED_TEXTS], rate[RG_PRESCRIBED_TEXTS];
} displacement;

static rg_status displace(const rg_prescription *p, double time, displacement *d, rg_error *error) {
    const rg_vec3 move = p->amplitude, turn = p->rotation_amplitude;
    *d = (displacement){.value = {move.x, move.y, move.z, turn.x, turn.y, turn.z}};
    for (int k = 0; k < RG_PRESCRIBED_TEXTS; k++) {
        rg_error cause = {0};
        rg_status status = p->of_time[k] ? rg_expression_of_time(p->of_time[k], time, &d->value[k],
                                                                 &d->rate[k], &cause)
                                         : RG_OK;
        if (status)
            return rg_fail(error, status, "prescribed motion: \"%.80s\" at t = %g: %.200s",
                           p->of_time[k], time, cause.text);
    }
    return RG_OK;
}

static rg_status check_of_time(const rg_prescription *p, bool planar, double time,
                               rg_error *error) {
    displacement d;
    rg_status status = rg_vector_check("prescribed motion", p->amplitude, error);
    if (!status)
        status = rg_vector_check("prescribed motion", p->rotation_amplitude, error);
    if (status)
        return status;
    if (planar && (p->of_time[1] || p->of_time[3] || p->of_time[5] || p->amplitude.y != 0 ||
                   p->rotation_amplitude.x != 0 || p->rotation_amplitude.z != 0))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "prescribed motion: it leaves the x-z plane of the planar world");
    return displace(p, time, &d, error);
}

rg_status rg_prescription_check_time(const rg_prescription *p, double time, rg_error *error) {
    displacement d;
    return p->kind == RG_PRESCRIBED_OF_TIME ? displace(p, time, &d, error) : RG_OK;
}

rg_status rg_prescription_check(const rg_prescription *p, bool planar, double time,
                                rg_error *error) {
    rg_status status;
    switch (p->kind) {
    case RG_PRESCRIBED_VELOCITY:
        return RG_OK;
    case RG_PRESCRIBED_OSCILLATION:
        status = rg_vector_check("oscillation", p->amplitude, error);
        if (!status)
            status = rg_vector_check("oscillation", p->rotation_amplitude, error);
        if (!status)
            status =
                rg_numbers_check("oscillation", (const double[]){p->frequency, p->phase}, 2, error);
        if (status)
            return status;
        if (p->frequency < 0)
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "oscillation: frequency %g Hz; it must not be negative", p->frequency);
        if (planar &&
            (p->amplitude.y != 0 || p->rotation_amplitude.x != 0 || p->rotation_amplitude.z != 0))
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "oscillation: it leaves the x-z plane of the planar world");
        return RG_OK;
    case RG_PRESCRIBED_OF_TIME:
        return check_of_time(p, planar, time, error);
    case RG_PRESCRIBED_FUNCTION:
        return p->function ? RG_OK
                           : rg_fail(error, RG_INVALID_ARGUMENT,
                                     "prescribed motion: the function is missing");
    }
    return rg_fail(error, RG_INVALID_ARGUMENT, "prescribed motion: there is no kind %d",
                   (int)p->kind);
}

/* Start pose, moved by `shift` and turned by the rotation vector `turn`. */
static rg_prescribed_state moved(const rg_prescribed_state *start, rg_vec3 shift, rg_vec3 turn) {
    rg_prescribed_state state = *start;
    state.pose.position = rg_add(start->pose.position, shift);
    state.pose.orientation =
        rg_quat_multiply(rg_quat_of_rotation_vector(turn), start->pose.orientation);
    return state;
}

/* Sine and cosine of the phase of an oscillation. */
static void phase_of(const rg_prescription_entry *entry, double time, double *sine,
                     double *cosine) {
    const rg_prescription *p = &entry->prescription;
    double rate = 2 * RG_PI * p->frequency;
    rg_sin_cos(rate * (time - entry->start_time) + p->phase, sine, cosine);
}

/* Of a body that has turned by a rotation vector, from the rate of that: by the left Jacobian of
 * rotations (J. Sola et al., "A micro Lie theory", 2018, eq. 145). */
static rg_vec3 spin_of(rg_vec3 turn, rg_vec3 rate) {
    double angle = rg_length(turn), sine, cosine;
    if (angle == 0)
        return rate;
    rg_sin_cos(angle, &sine, &cosine);
    rg_vec3 axis = rg_scale(1 / angle, turn);
    rg_vec3 spin = rg_scale(sine / angle, rate);
    spin = rg_add_scaled(spin, (1 - sine / angle) * rg_dot(axis, rate), axis);
    return rg_add_scaled(spin, (1 - cosine) / angle, rg_cross(axis, rate));
}

/* NaN where there is no value: the step says so. */
static rg_prescribed_state displaced(const rg_prescription_entry *entry, double time,
                                     rg_vec3 *turn) {
    displacement d;
    bool fails = displace(&entry->prescription, time, &d, NULL) != RG_OK;
    const double *x = d.value, *v = d.rate, nothing = fails ? NAN : 0;
    rg_vec3 rate = {v[3], v[4], v[5]};
    *turn = (rg_vec3){x[3], x[4], x[5]};
    rg_prescribed_state state = moved(&entry->start, (rg_vec3){x[0] + nothing, x[1], x[2]}, *turn);
    state.velocity = (rg_vec3){v[0], v[1], v[2]};
    state.angular_velocity = spin_of(*turn, rate);
    return state;
}

void rg_prescription_move(rg_prescription_entry *entry, double time, rg_pose pose, double angle) {
    rg_vec3 shift = {0, 0, 0}, turn = {0, 0, 0};
    if (entry->prescription.kind == RG_PRESCRIBED_OF_TIME) {
        shift = rg_sub(displaced(entry, time, &turn).pose.position, entry->start.pose.position);
    } else if (entry->prescription.kind == RG_PRESCRIBED_OSCILLATION) {
        double s, c;
        phase_of(entry, time, &s, &c);
        shift = rg_scale(s, entry->prescription.amplitude);
        turn = rg_scale(s, entry->prescription.rotation_amplitude);
    } else {
        entry->start_time = time;
    }
    entry->start.pose.position = rg_sub(pose.position, shift);
    entry->start.pose.orientation =
        rg_quat_multiply(rg_quat_of_rotation_vector(rg_neg(turn)), pose.orientation);
    entry->start_angle = angle + turn.y;
}

static rg_prescribed_state evaluate(const rg_prescription_entry *entry, double time,
                                    double *turn_about_y) {
    const rg_prescription *p = &entry->prescription;
    const rg_prescribed_state *start = &entry->start;
    double t = time - entry->start_time;
    rg_vec3 turn;
    rg_prescribed_state state;
    if (p->kind == RG_PRESCRIBED_OF_TIME) {
        state = displaced(entry, time, &turn);
    } else if (p->kind == RG_PRESCRIBED_VELOCITY) {
        turn = rg_scale(t, start->angular_velocity);
        state = moved(start, rg_scale(t, start->velocity), turn);
    } else {
        double rate = 2 * RG_PI * p->frequency, s, c;
        phase_of(entry, time, &s, &c);
        turn = rg_scale(s, p->rotation_amplitude);
        state = moved(start, rg_scale(s, p->amplitude), turn);
        state.velocity = rg_scale(rate * c, p->amplitude);
        state.angular_velocity = rg_scale(rate * c, p->rotation_amplitude);
    }
    *turn_about_y = turn.y;
    return state;
}

/* Angle of the origin frame in a planar world. */
static double angle_of(rg_quat q) {
    return 2 * rg_atan2(-q.y, q.w);
}

rg_pool *rg_world_motion_pool(const rg_world *world) {
    const rg_world_content *c = &world->content;
    for (size_t i = 0; i < c->prescription_count; i++)
        if (c->prescriptions[i].prescription.kind == RG_PRESCRIBED_FUNCTION)
            return NULL;
    return world->pool;
}

static rg_prescription_entry *entry_of(const rg_world_content *content, size_t body) {
    uint32_t index1 = content->record[body].prescription1;
    assert(index1);
    return &content->prescriptions[index1 - 1];
}

/* The norm of what need not be near 1; numbers whose squares leave the range have one, too. */
static double norm_of(rg_quat q) {
    double unit = fmax(fmax(fabs(q.x), fabs(q.y)), fmax(fabs(q.z), fabs(q.w)));
    if (!(unit > 0) || !rg_quat_is_finite(q))
        return rg_quat_norm_squared(q);
    q = rg_quat_make(q.x / unit, q.y / unit, q.z / unit, q.w / unit);
    return unit * sqrt(rg_quat_norm_squared(q));
}

/* *norm is that of the orientation as it is given: of a function of the program's it may be
 * anything. */
static rg_motion_state state_at(const rg_world_content *content, size_t body, double time,
                                double *norm) {
    const rg_prescription_entry *entry = entry_of(content, body);
    rg_prescribed_state state;
    double angle = 0;
    *norm = 1;
    if (entry->prescription.kind == RG_PRESCRIBED_FUNCTION) {
        state = entry->start;
        entry->prescription.function(entry->prescription.user, time, &state);
        *norm = norm_of(state.pose.orientation);
        state.pose.orientation = rg_quat_normalised(state.pose.orientation);
        angle = content->planar ? angle_of(state.pose.orientation) : 0;
        if (content->planar) { /* the plane takes its part of the caller's motion */
            state.pose.position.y = state.velocity.y = 0;
            state.angular_velocity.x = state.angular_velocity.z = 0;
        }
    } else {
        double turn_about_y;
        state = evaluate(entry, time, &turn_about_y);
        angle = entry->start_angle - turn_about_y;
    }
    if (content->planar)
        state.pose.orientation = rg_quat_of_planar_angle(angle);
    return (rg_motion_state){state.pose.position, state.pose.orientation, angle, state.velocity,
                             state.angular_velocity};
}

rg_status rg_prescription_find(const rg_world_content *content, size_t body, double time,
                               rg_motion_state *state, rg_error *error) {
    double norm;
    *state = state_at(content, body, time, &norm);
    const char *name = content->record[body].name ? content->record[body].name : "";
    if (!isfinite(norm) || !rg_is_finite(state->position) ||
        !rg_quat_is_finite(state->orientation) || !isfinite(state->angle) ||
        !rg_is_finite(state->velocity) || !rg_is_finite(state->angular_velocity))
        return rg_fail(error, RG_NOT_FINITE,
                       "the prescribed motion of body %zu \"%s\" is not finite at t = %.9g s", body,
                       name, time);
    if (!rg_vector_in_range(state->position) || !rg_vector_in_range(state->velocity) ||
        !rg_vector_in_range(state->angular_velocity))
        return rg_fail(error, RG_LIMIT_EXCEEDED,
                       "the prescribed motion of body %zu \"%s\" is beyond %g (SI units) at "
                       "t = %.9g s",
                       body, name, RG_NUMBER_LARGEST, time);
    if (!(fabs(norm * norm - 1) <= RG_QUATERNION_TOLERANCE))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "the prescribed motion of body %zu \"%s\" has an orientation of norm %g at "
                       "t = %.9g s; it must be a unit quaternion",
                       body, name, norm, time);
    return RG_OK;
}

/* Threads may look at different times: the earliest counts, so that the message does not depend on
 * their number. */
static void note_fault(rg_prescription_entry *entry, double time) {
    double known = atomic_load_explicit(&entry->fault, memory_order_relaxed);
    while (time < known &&
           !atomic_compare_exchange_weak_explicit(&entry->fault, &known, time, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

rg_motion_state rg_prescription_evaluate(const rg_world_content *content, size_t body,
                                         double time) {
    rg_motion_state state;
    if (rg_prescription_find(content, body, time, &state, NULL) == RG_OK)
        return state;
    note_fault(entry_of(content, body), time);
    return (rg_motion_state){.position = content->position[body],
                             .orientation = content->orientation[body],
                             .angle = content->angle[body]};
}

bool rg_prescription_failed(const rg_world_content *content) {
    for (size_t i = 0; i < content->prescription_count; i++)
        if (atomic_load_explicit(&content->prescriptions[i].fault, memory_order_relaxed) < INFINITY)
            return true;
    return false;
}

rg_status rg_prescription_fault(const rg_world_content *content, rg_error *error) {
    rg_status status = RG_OK;
    rg_motion_state state;
    for (size_t i = 0; content->prescription_count && i < content->bodies.count; i++) {
        if (!content->record[i].prescription1)
            continue;
        double time = atomic_exchange(&entry_of(content, i)->fault, INFINITY);
        if (time == INFINITY || status)
            continue;
        status = rg_prescription_find(content, i, time, &state, error);
        if (!status) /* a function that does not give the same answer again */
            status =
                rg_fail(error, RG_NOT_FINITE,
                        "the prescribed motion of body %zu \"%s\" has two answers at t = %.9g s", i,
                        content->record[i].name ? content->record[i].name : "", time);
    }
    return status;
}

/* --- jumps ------------------------------------------------------------------------------------ */

/* A jump: what points of a body go beyond its velocities within 2^-JUMP_HALVINGS of a step, in
 * shares of its reach; of a body without bounded colliders half of what they do in the step, if
 * that is no rounding of its place. A bent motion is no jump: in so short a time it goes 5e-7 of a
 * step beyond what it has gained in speed. */
#define JUMP_LEAST    1e-2
#define JUMP_ROUNDING 1e-9
enum { JUMP_HALVINGS = 20 };
/* Steps that are looked at beforehand: a second for an expression. */
#define MOST_LOOKS 1e6

/* m: the farthest point of a body's bounded colliders from its origin; 0: it has none. */
static double reach_of(const rg_world_content *c, size_t body) {
    double reach = 0;
    for (uint32_t at = c->record[body].first_collider1; at;) {
        const rg_collider *collider = &c->collider[c->colliders.slots[at - 1].dense];
        const rg_shape *shape = collider->shape;
        if (rg_shape_is_bounded(shape))
            reach = fmax(reach, rg_length(rg_pose_apply(collider->pose, rg_shape_centre(shape))) +
                                    rg_shape_circumradius(shape));
        at = collider->next1;
    }
    return reach;
}

/* m: how far points of a body at that reach go beyond what the velocities at both ends account for:
 * of a smooth motion this falls with the third power of the time, of a bent one with the first. A
 * body that turns on may have made any number of turns. */
static double beyond(const rg_motion_state *from, const rg_motion_state *to, double length,
                     double reach) {
    double half = 0.5 * length;
    rg_vec3 way = rg_sub(to->position, from->position);
    rg_quat q = rg_quat_multiply(to->orientation, rg_quat_conjugate(from->orientation));
    rg_vec3 turn = rg_scale(q.w < 0 ? -2 : 2, (rg_vec3){q.x, q.y, q.z});
    rg_vec3 move = rg_scale(half, rg_add(from->velocity, to->velocity));
    rg_vec3 spin = rg_scale(half, rg_add(from->angular_velocity, to->angular_velocity));
    double angle = rg_length(spin) < 1 ? rg_length(rg_sub(turn, spin)) : 0;
    return rg_length(rg_sub(way, move)) + reach * angle;
}

/* The half of a span in which the motion goes farther beyond its velocities; of a motion without a
 * value in the middle none. */
static double take_half(const rg_world_content *c, size_t body, double reach, double span[2],
                        rg_motion_state ends[2]) {
    double middle = 0.5 * (span[0] + span[1]);
    rg_motion_state at;
    if (rg_prescription_find(c, body, middle, &at, NULL))
        return 0;
    double early = beyond(&ends[0], &at, middle - span[0], reach);
    double late = beyond(&at, &ends[1], span[1] - middle, reach);
    int kept = early >= late ? 1 : 0;
    span[kept] = middle;
    ends[kept] = at;
    return fmax(early, late);
}

/* That the motion between two states, as it is at two times, is continuous. */
static rg_status check_jump(const rg_world_content *c, size_t body, const rg_motion_state states[2],
                            const double times[2], rg_error *error) {
    rg_motion_state ends[2] = {states[0], states[1]};
    double span[2] = {times[0], times[1]}, step = span[1] - span[0], reach = reach_of(c, body);
    double whole = beyond(&ends[0], &ends[1], step, reach), left = whole;
    double place = rg_length(ends[0].position) + rg_length(ends[1].position);
    double least = reach > 0 ? JUMP_LEAST * reach : fmax(0.5 * whole, JUMP_ROUNDING * place);
    for (int i = 0; i < JUMP_HALVINGS && left > least; i++)
        left = take_half(c, body, reach, span, ends);
    if (!(left > least))
        return RG_OK;
    return rg_fail(error, RG_INVALID_ARGUMENT,
                   "the prescribed motion of body %zu \"%s\" jumps by %.3g m at t = %.9g s; a body "
                   "that jumps strikes nothing on its way: let the motion take longer than a step, "
                   "which has %.3g s, or set the body's pose between two steps",
                   body, c->record[body].name ? c->record[body].name : "", whole, span[1], step);
}

/* That the judge can follow an oscillation through a step. */
static rg_status check_frequency(const rg_world_content *c, size_t body, double step,
                                 rg_error *error) {
    const rg_prescription *p = &c->prescriptions[c->record[body].prescription1 - 1].prescription;
    double periods = p->frequency * step * (1 + rg_length(p->rotation_amplitude));
    if (periods <= RG_PRESCRIBED_PERIODS_MOST)
        return RG_OK;
    return rg_fail(
        error, RG_LIMIT_EXCEEDED,
        "the oscillation of body %zu \"%s\" has %.3g periods in a step of %.3g s, times 1 "
        "and its rotation amplitude, more than %d; take a smaller step",
        body, c->record[body].name ? c->record[body].name : "", periods, step,
        RG_PRESCRIBED_PERIODS_MOST);
}

rg_status rg_prescription_check_step(const rg_world_content *c, size_t body,
                                     const rg_motion_state states[2], const double times[2],
                                     rg_error *error) {
    switch (c->prescriptions[c->record[body].prescription1 - 1].prescription.kind) {
    case RG_PRESCRIBED_OSCILLATION:
        return check_frequency(c, body, times[1] - times[0], error);
    case RG_PRESCRIBED_OF_TIME:
    case RG_PRESCRIBED_FUNCTION:
        return check_jump(c, body, states, times, error);
    default:
        return RG_OK;
    }
}

rg_status rg_world_check_prescribed(const rg_world *world, double step, double duration,
                                    rg_error *error) {
    const rg_world_content *c = &world->content;
    double looks = fmin(ceil(duration / step), MOST_LOOKS);
    rg_status status = RG_OK;
    for (size_t i = 0; i < c->bodies.count && !status; i++) {
        rg_motion_state states[2];
        double times[2] = {c->time};
        if (!c->record[i].prescription1)
            continue;
        status = rg_prescription_find(c, i, c->time, &states[0], error);
        for (double k = 1; k <= looks && !status; k++) {
            times[1] = c->time + k * step;
            status = rg_prescription_find(c, i, times[1], &states[1], error);
            if (!status)
                status = rg_prescription_check_step(c, i, states, times, error);
            times[0] = times[1];
            states[0] = states[1];
        }
    }
    return status;
}
