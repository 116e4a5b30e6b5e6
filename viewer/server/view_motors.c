/* Motors by hand: see view_motors.h. */
#include "view_motors.h"

#include "view_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
/* m, m/s, rad/s: where the scene gives no scale. */
#define REACH 1.0
#define SPEED 1.0
#define SPIN  10.0

static void find_range(const rg_joint_axis *axis, bool angle, view_motor *motor) {
    double own = axis->target_of_time ? 0 : axis->target;
    if (axis->motor == RG_MOTOR_VELOCITY) {
        motor->most = fmax(2 * fabs(own), angle ? SPIN : SPEED);
        motor->least = -motor->most;
        return;
    }
    double reach = angle ? PI : REACH;
    motor->least = isfinite(axis->lower) ? axis->lower : own - reach;
    motor->most = isfinite(axis->upper) ? axis->upper : own + reach;
}

static size_t count_motors(const rg_world *world) {
    size_t count = 0;
    for (size_t i = 0; i < rg_world_joint_count(world); i++) {
        rg_joint_def def = rg_joint_get_def(world, rg_world_joint_at(world, i));
        for (size_t k = 0; k < rg_joint_axis_count(def.kind); k++)
            count += def.axis[k].motor != RG_MOTOR_NONE;
    }
    return count < VIEW_MOTORS_MOST ? count : VIEW_MOTORS_MOST;
}

static bool keep_axis(const rg_joint_def *def, size_t axis, view_motor *motor) {
    const rg_joint_axis *a = &def->axis[axis];
    motor->axis = (uint32_t)axis;
    motor->kind = a->motor;
    motor->own = a->target;
    find_range(a, rg_joint_axis_is_angle(def->kind, axis), motor);
    motor->own_of_time = a->target_of_time ? strdup(a->target_of_time) : NULL;
    return !a->target_of_time || motor->own_of_time;
}

rg_status view_motors_keep(view_motors *motors, const rg_world *world, rg_error *error) {
    size_t most = count_motors(world);
    *motors = (view_motors){.motors = calloc(most + 1, sizeof *motors->motors)};
    bool good = motors->motors != NULL;
    for (size_t i = 0; good && i < rg_world_joint_count(world); i++) {
        rg_joint_id id = rg_world_joint_at(world, i);
        rg_joint_def def = rg_joint_get_def(world, id);
        for (size_t k = 0; good && k < rg_joint_axis_count(def.kind); k++) {
            if (def.axis[k].motor == RG_MOTOR_NONE || motors->count == most)
                continue;
            view_motor *motor = &motors->motors[motors->count++];
            *motor = (view_motor){.id = id, .joint = (uint32_t)i};
            good = keep_axis(&def, k, motor);
        }
    }
    return good ? RG_OK : view_fail(error, RG_OUT_OF_MEMORY, "no memory for motors");
}

void view_motors_free(view_motors *motors) {
    for (size_t i = 0; i < motors->count; i++)
        free(motors->motors[i].own_of_time);
    free(motors->motors);
    *motors = (view_motors){0};
}

static rg_status give_back(const view_motor *motor, rg_world *world, rg_error *error) {
    rg_joint_def def = rg_joint_get_def(world, motor->id);
    rg_joint_axis axis = def.axis[motor->axis];
    axis.target = motor->own;
    axis.target_of_time = motor->own_of_time;
    return rg_joint_set_axis(world, motor->id, motor->axis, &axis, error);
}

rg_status view_motors_set(view_motors *motors, rg_world *world, uint32_t joint, uint32_t axis,
                          const double *target, rg_error *error) {
    view_motor *motor = NULL;
    for (size_t i = 0; i < motors->count; i++)
        if (motors->motors[i].joint == joint && motors->motors[i].axis == axis)
            motor = &motors->motors[i];
    if (!motor || !rg_joint_exists(world, motor->id))
        return view_fail(error, RG_INVALID_ARGUMENT, "joint %u has no motor at axis %u",
                         (unsigned)joint, (unsigned)axis);
    if (target && !(*target >= motor->least && *target <= motor->most))
        return view_fail(error, RG_INVALID_ARGUMENT,
                         "the target of the motor of joint %u must be from %g to %g",
                         (unsigned)joint, motor->least, motor->most);
    rg_status status = target ? rg_joint_set_target(world, motor->id, axis, *target)
                              : give_back(motor, world, error);
    if (status != RG_OK)
        return error->text[0] ? status
                              : view_fail(error, status, "the motor of joint %u: %s",
                                          (unsigned)joint, rg_status_text(status));
    motor->set = target != NULL;
    motor->target = target ? *target : 0;
    return RG_OK;
}

void view_motors_forget(view_motors *motors) {
    for (size_t i = 0; i < motors->count; i++)
        motors->motors[i].set = false;
}

static void put_field(view_text *text, const char *name, double number) {
    view_text_put(text, ",\"%s\":", name);
    view_text_put_number(text, number);
}

void view_motors_put(const view_motors *motors, view_text *text) {
    view_text_put(text, ",\"motors\":[");
    for (size_t i = 0; i < motors->count; i++) {
        const view_motor *m = &motors->motors[i];
        view_text_put(text, "%s{\"joint\":%u,\"axis\":%u,\"kind\":\"%s\",\"set\":%s", i ? "," : "",
                      (unsigned)m->joint, (unsigned)m->axis, rg_motor_kind_name(m->kind),
                      m->set ? "true" : "false");
        put_field(text, "target", m->set ? m->target : m->own_of_time ? NAN : m->own);
        put_field(text, "least", m->least);
        put_field(text, "most", m->most);
        view_text_put(text, "}");
    }
    view_text_put(text, "]");
}
