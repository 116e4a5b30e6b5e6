/* Actuators of MJCF. All kinds are shortcuts for one, whose force on the length l is
 *     gain u + bias0 + bias1 l + bias2 l',
 * and share one set of defaults, in which every element changes what is its own: position makes the
 * gain kp and the bias (., -kp, -kv), velocity kv and (0, 0, -kv), motor 1 and none
 * (https://mujoco.readthedocs.io/en/stable/XMLreference.html, "actuator shortcuts"). The control u
 * is 0, or what of its range is nearest to 0. What is left is a motor for a position or velocity;
 * actuators that only make forces make none without a control, and are left out.
 * Tested by tests/scene/test_robot_mjcf_refer.c and tests/scripts/test_robot.py. */
#include "scene/scene_robot_mjcf.h"

#include <math.h>
#include <string.h>

typedef struct actuator {
    double gear[6], gain[10], bias[10]; /* as many as there may be; the first three count */
    const char *gain_type, *bias_type, *dynamics;
    double inherit; /* share of the range of what it moves that the control has; 0: its own range */
} actuator;

static bool is(const char *text, const char *word) {
    return text && strcmp(text, word) == 0;
}

static bool is_actuator(const rg_xml_node *node) {
    return is(node->name, "general") || is(node->name, "motor") || is(node->name, "position") ||
           is(node->name, "velocity");
}

/* ---- its law ---- */

static void take_word(const rg_xml_node *node, const char *name, const char **word) {
    const char *text = rg_xml_get(node, name);
    *word = text ? text : *word;
}

static rg_status take_general(const rg_mjcf *m, const rg_xml_node *node, actuator *a) {
    take_word(node, "gaintype", &a->gain_type);
    take_word(node, "biastype", &a->bias_type);
    take_word(node, "dyntype", &a->dynamics);
    rg_status status = rg_mjcf_own_numbers(m, node, "gainprm", 10, a->gain);
    return status == RG_OK ? rg_mjcf_own_numbers(m, node, "biasprm", 10, a->bias) : status;
}

static rg_status take_position(const rg_mjcf *m, const rg_xml_node *node, actuator *a) {
    double rate = -a->bias[2];
    rg_status status = rg_mjcf_own_numbers(m, node, "kp", 1, &a->gain[0]);
    if (status == RG_OK)
        status = rg_mjcf_own_numbers(m, node, "kv", 1, &rate);
    a->bias[1] = -a->gain[0];
    a->bias[2] = -rate;
    return status == RG_OK ? rg_mjcf_own_numbers(m, node, "inheritrange", 1, &a->inherit) : status;
}

/* What one element says, of an actuator or of defaults. */
static rg_status take(const rg_mjcf *m, const rg_xml_node *node, actuator *a) {
    bool position = is(node->name, "position"), velocity = is(node->name, "velocity");
    rg_status status = rg_mjcf_own_numbers(m, node, "gear", 6, a->gear);
    if (status != RG_OK || is(node->name, "general"))
        return status == RG_OK ? take_general(m, node, a) : status;
    a->gain_type = "fixed";
    a->bias_type = position || velocity ? "affine" : "none";
    a->dynamics = "none";
    a->inherit = position ? 0 : a->inherit;
    if (position)
        return take_position(m, node, a);
    if (!velocity) {
        a->gain[0] = 1;
        return RG_OK;
    }
    status = rg_mjcf_own_numbers(m, node, "kv", 1, &a->gain[0]);
    a->bias[0] = a->bias[1] = 0;
    a->bias[2] = -a->gain[0];
    return status;
}

static rg_status take_defaults(const rg_mjcf *m, const rg_xml_node *defaults, actuator *a) {
    if (!defaults)
        return RG_OK;
    rg_status status = take_defaults(m, rg_mjcf_class_above(m, defaults), a);
    for (const rg_xml_node *d = defaults->first; d && status == RG_OK; d = d->next)
        if (is_actuator(d))
            status = take(m, d, a);
    return status;
}

/* A range of actuators of any kind, from the defaults of all of them. */
static rg_status read_range(const rg_mjcf *m, const rg_xml_node *node, const char *limited,
                            const char *name, rg_mjcf_limit *limit) {
    const rg_xml_node *from = node, *says = node;
    const rg_xml_node *d = rg_mjcf_class(m, node);
    bool range = rg_xml_get(node, name), flag = rg_xml_get(node, limited);
    for (; d && !(range && flag); d = rg_mjcf_class_above(m, d)) {
        const rg_xml_node *its = NULL, *word = NULL;
        for (const rg_xml_node *c = d->first; c; c = c->next) {
            its = is_actuator(c) && rg_xml_get(c, name) ? c : its;
            word = is_actuator(c) && rg_xml_get(c, limited) ? c : word;
        }
        if (!range && its)
            from = its, range = true;
        if (!flag && word)
            says = word, flag = true;
    }
    double values[2] = {0, 0};
    rg_status status = rg_mjcf_own_numbers(m, from, name, 2, values);
    *limit = (rg_mjcf_limit){m->autolimits && values[0] < values[1], values[0], values[1]};
    if (status == RG_OK && flag)
        status = rg_mjcf_flag(m, says, limited, &limit->given);
    if (status == RG_OK && limit->given && !(values[0] < values[1]))
        return rg_robot_fail(m->robot, node, RG_INVALID_ARGUMENT,
                             "%s needs a %s whose second number is larger", limited, name);
    return status;
}

/* ---- what it moves ---- */

static rg_status find_axis(rg_mjcf *m, const rg_xml_node *node, rg_mjcf_axis *axis) {
    const char *name = rg_xml_get(node, "joint"), *tendon = rg_xml_get(node, "tendon");
    const rg_xml_node *fixed = tendon ? rg_mjcf_find_fixed(m, tendon) : NULL;
    *axis = (rg_mjcf_axis){.coefficient = 1};
    if (name && tendon)
        return rg_robot_fail(m->robot, node, RG_INVALID_ARGUMENT,
                             "joint and tendon: it can move only one of them");
    if (tendon && !fixed)
        return rg_robot_leave_out(m->robot, node, "an actuator of a tendon that is not fixed");
    if (fixed)
        return rg_mjcf_tendon_axis(m, fixed, axis);
    if (!name)
        return rg_robot_leave_out(m->robot, node, "an actuator that moves no joint");
    rg_robot_joint *joint = rg_mjcf_joint(m, name);
    if (!joint)
        return rg_robot_fail(m->robot, node, RG_NOT_FOUND, "there is no joint that it could move");
    if (joint->kind == RG_JOINT_BALL)
        return rg_robot_leave_out(m->robot, node, "an actuator of a ball joint");
    axis->value = &joint->value;
    axis->reference = joint->reference;
    axis->joint = joint;
    return RG_OK;
}

/* The control that is nearest to 0. */
static rg_status find_control(const rg_mjcf *m, const rg_xml_node *node, const actuator *a,
                              double *control) {
    rg_mjcf_limit limit;
    const rg_xml_node *target = rg_mjcf_find_fixed(m, rg_xml_get(node, "tendon"));
    const rg_robot_joint *joint = rg_mjcf_joint(m, rg_xml_get(node, "joint"));
    rg_status status = read_range(m, node, "ctrllimited", "ctrlrange", &limit);
    if (status == RG_OK && a->inherit != 0 && (target || joint)) {
        status = rg_mjcf_range(m, target ? target : joint->node, "limited", "range", &limit);
        if (status == RG_OK && !(a->inherit > 0 && limit.lower < limit.upper))
            status = rg_robot_fail(m->robot, node, RG_INVALID_ARGUMENT,
                                   "inheritrange must be positive, and of a range");
        double unit = target || joint->kind == RG_JOINT_SLIDER ? 1 : m->angle;
        double middle = unit * (limit.lower + limit.upper) / 2,
               half = unit * a->inherit * (limit.upper - limit.lower) / 2;
        limit = (rg_mjcf_limit){true, middle - half, middle + half};
    }
    *control = status == RG_OK && limit.given && !m->no_clamp
                   ? fmin(fmax(0, limit.lower), limit.upper)
                   : 0;
    return status;
}

/* ---- its largest force ---- */

/* Of a range of forces, the largest: motors have the same both ways. */
static rg_status largest_of(const rg_mjcf *m, const rg_xml_node *node, const rg_mjcf_limit *limit,
                            double *most) {
    rg_status status = RG_OK;
    if (!limit->given)
        return RG_OK;
    if (limit->lower != -limit->upper)
        status = rg_robot_leave_out(
            m->robot, node, "the larger of two largest forces, which differ between the ways");
    *most = fmin(*most, fmax(0, fmin(-limit->lower, limit->upper)));
    return status;
}

/* The forces of a tendon of several joints are not limited joint by joint. */
static rg_status check_parts(const rg_mjcf *m, const rg_xml_node *node) {
    const rg_xml_node *tendon = rg_mjcf_find_fixed(m, rg_xml_get(node, "tendon"));
    rg_status status = RG_OK;
    for (const rg_xml_node *part = tendon->first; part && status == RG_OK; part = part->next) {
        rg_mjcf_limit limit = {0};
        const rg_robot_joint *joint = rg_mjcf_joint(m, rg_xml_get(part, "joint"));
        if (joint)
            status =
                rg_mjcf_range(m, joint->node, "actuatorfrclimited", "actuatorfrcrange", &limit);
        if (status == RG_OK && limit.given)
            status = rg_robot_leave_out(m->robot, joint->node,
                                        "the largest force that tendons of several joints make");
    }
    return status;
}

static rg_status read_largest(const rg_mjcf *m, const rg_xml_node *node, const rg_mjcf_axis *axis,
                              double gear, double *most) {
    rg_mjcf_limit own, joint = {0};
    double of_joint = INFINITY;
    *most = INFINITY;
    rg_status status = read_range(m, node, "forcelimited", "forcerange", &own);
    if (status == RG_OK)
        status = largest_of(m, node, &own, most);
    if (own.given)
        *most *= fabs(gear);
    if (status == RG_OK && axis->joint)
        status =
            rg_mjcf_range(m, axis->joint->node, "actuatorfrclimited", "actuatorfrcrange", &joint);
    if (status == RG_OK)
        status = largest_of(m, axis->joint ? axis->joint->node : node, &joint, &of_joint);
    *most = fmin(*most, of_joint);
    return status == RG_OK && !axis->joint ? check_parts(m, node) : status;
}

/* ---- all of it ---- */

/* An axis with the largest force 0 has no motor. */
static void set_motor(rg_joint_axis *v, const actuator *a, double reference, double most) {
    bool position = a->bias[1] != 0;
    double square = a->gear[0] * a->gear[0];
    v->motor = most > 0 ? position ? RG_MOTOR_POSITION : RG_MOTOR_VELOCITY : RG_MOTOR_NONE;
    v->gain = -(position ? a->bias[1] : a->bias[2]) * square;
    v->gain_velocity = position ? -a->bias[2] * square : 0;
    v->target = a->bias[0] * a->gear[0] / v->gain;
    if (position)
        v->target -= reference;
    if (isfinite(most))
        v->max_force = most;
}

/* Its law, with the control in it. */
static rg_status read_law(const rg_mjcf *m, const rg_xml_node *node, actuator *a) {
    double control = 0;
    *a = (actuator){
        .gear = {1}, .gain = {1}, .gain_type = "fixed", .bias_type = "none", .dynamics = "none"};
    rg_status status = take_defaults(m, rg_mjcf_class(m, node), a);
    if (status == RG_OK)
        status = take(m, node, a);
    if (status == RG_OK)
        status = find_control(m, node, a, &control);
    if (is(a->bias_type, "none"))
        a->bias[0] = a->bias[1] = a->bias[2] = 0;
    a->bias[0] += a->gain[0] * control;
    return status;
}

/* Why an actuator has no form here; null: it has. */
static const char *refusal_of(const actuator *a) {
    if (!is(a->gain_type, "fixed") || !is(a->dynamics, "none") ||
        (!is(a->bias_type, "none") && !is(a->bias_type, "affine")))
        return "an actuator with a law or state of its own";
    if (a->gear[0] == 0 || (a->bias[0] == 0 && a->bias[1] == 0 && a->bias[2] == 0))
        return "an actuator of force, which nothing controls: it makes none";
    if (a->bias[1] == 0 && a->bias[2] == 0)
        return "an actuator whose force is always the same";
    return a->bias[1] > 0 || a->bias[2] > 0 ? "an actuator that drives away from its target" : NULL;
}

rg_status rg_mjcf_actuator(rg_mjcf *m, const rg_xml_node *node) {
    actuator a;
    rg_mjcf_axis axis;
    double most;
    rg_status status = read_law(m, node, &a);
    const char *refusal = refusal_of(&a);
    if (status == RG_OK && refusal)
        return rg_robot_leave_out(m->robot, node, refusal);
    if (status == RG_OK)
        status = find_axis(m, node, &axis);
    if (status != RG_OK || !axis.value)
        return status;
    if (axis.value->motor)
        return rg_robot_leave_out(m->robot, node, "a second actuator of a joint");
    a.gear[0] *= axis.coefficient;
    status = read_largest(m, node, &axis, a.gear[0], &most);
    if (status == RG_OK)
        set_motor(axis.value, &a, axis.reference, most);
    return status;
}
