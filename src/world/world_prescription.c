/* Prescribed motion of kinematic bodies: pose and velocities as functions of time, evaluated
 * exactly at any time (no integration, so no drift). A kinematic body's two frames are one.
 * Tested by tests/step/test_world.c. */
#include "world/world.h"

#include "base/base_text.h"
#include "base/base_trig.h"

#include <assert.h>

rg_status rg_prescription_check(const rg_prescription *p, bool planar, rg_error *error) {
    switch (p->kind) {
    case RG_PRESCRIBED_VELOCITY:
        return RG_OK;
    case RG_PRESCRIBED_OSCILLATION:
        if (!rg_is_finite(p->amplitude) || !rg_is_finite(p->rotation_amplitude) ||
            !isfinite(p->frequency) || !isfinite(p->phase))
            return rg_fail(error, RG_NOT_FINITE, "oscillation: not finite");
        if (p->frequency < 0)
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "oscillation: frequency %g Hz; it must not be negative", p->frequency);
        if (planar &&
            (p->amplitude.y != 0 || p->rotation_amplitude.x != 0 || p->rotation_amplitude.z != 0))
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "oscillation: it leaves the x-z plane of the planar world");
        return RG_OK;
    case RG_PRESCRIBED_OF_TIME:
        break;
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

void rg_prescription_move(rg_prescription_entry *entry, double time, rg_pose pose, double angle) {
    rg_vec3 shift = {0, 0, 0}, turn = {0, 0, 0};
    if (entry->prescription.kind == RG_PRESCRIBED_OSCILLATION) {
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
    if (p->kind == RG_PRESCRIBED_VELOCITY) {
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

rg_motion_state rg_prescription_evaluate(const rg_world_content *content, size_t body,
                                         double time) {
    uint32_t index1 = content->record[body].prescription1;
    assert(index1);
    const rg_prescription_entry *entry = &content->prescriptions[index1 - 1];
    rg_prescribed_state state;
    double angle = 0;
    if (entry->prescription.kind == RG_PRESCRIBED_FUNCTION) {
        state = entry->start;
        entry->prescription.function(entry->prescription.user, time, &state);
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
