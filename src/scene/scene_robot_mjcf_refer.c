/* What of MJCF refers to bodies and joints: exclusions, tendons, equalities, actuators, keyframes.
 *
 * Controls are 0, so that motors of force make none, and an actuator is what its bias makes of it:
 * position is -kp q - kv q', velocity -kv q', general bias0 + bias1 q + bias2 q'. A keyframe is
 * where the run begins if the parameter `key` names it.
 * Tested by tests/scene/test_robot_mjcf_refer.c, and against MuJoCo by
 * tests/scripts/test_robot.py. */
#include "base/base_math.h"
#include "scene/scene_robot_mjcf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *text, const char *word) {
    return text && strcmp(text, word) == 0;
}

/* ---- exclusions and ropes ---- */

static rg_status find_link(rg_mjcf *m, const rg_xml_node *node, const char *attribute,
                           size_t *link) {
    const char *name = rg_xml_get(node, attribute);
    for (size_t i = 0; name && i < m->robot->link_count; i++)
        if (is(m->robot->links[i].name, name)) {
            *link = i;
            return RG_OK;
        }
    return rg_robot_fail(m->robot, node, RG_NOT_FOUND, "%s: there is no body \"%.100s\"", attribute,
                         name ? name : "");
}

static rg_status add_tie(rg_mjcf *m, const rg_robot_tie *like) {
    rg_robot_tie *tie = rg_robot_take(m->robot, sizeof *tie);
    if (!tie)
        return rg_robot_no_memory(m->robot);
    *tie = *like;
    tie->next = m->robot->ties;
    m->robot->ties = tie;
    return RG_OK;
}

static rg_status read_exclude(rg_mjcf *m, const rg_xml_node *node) {
    rg_robot_tie tie = {.name = "", .lower = -INFINITY, .upper = INFINITY};
    rg_status status = find_link(m, node, "body1", &tie.a);
    if (status == RG_OK)
        status = find_link(m, node, "body2", &tie.b);
    return status == RG_OK ? add_tie(m, &tie) : status;
}

static const rg_mjcf_site *find_site(const rg_mjcf *m, const char *name) {
    const rg_mjcf_site *site = m->sites;
    while (site && !is(name, site->name))
        site = site->next;
    return site;
}

/* A tendon between two sites, with limits: a rope. */
static rg_status read_spatial(rg_mjcf *m, const rg_xml_node *node) {
    const rg_xml_node *first = node->first, *second = first ? first->next : NULL;
    double range[2] = {0, 0};
    bool limited = m->autolimits && rg_xml_get(node, "range");
    const char *name = rg_xml_get(node, "name");
    rg_status status = rg_robot_vector(m->robot, node, "range", 2, range);
    if (status == RG_OK)
        status = rg_mjcf_flag(m, node, "limited", &limited);
    if (status != RG_OK || !limited || m->no_limits)
        return status;
    if (!second || second->next)
        return rg_robot_leave_out(m->robot, node, "a tendon that is not between two sites");
    const rg_mjcf_site *a = find_site(m, rg_xml_get(first, "site")),
                       *b = find_site(m, rg_xml_get(second, "site"));
    if (!a || !b)
        return rg_robot_fail(m->robot, a ? second : first, RG_NOT_FOUND, "there is no such site");
    rg_robot_tie tie = {name ? name : "", a->link, b->link, a->point, b->point, 0, 0, NULL};
    tie.lower = range[0] > 0 ? range[0] : -INFINITY;
    tie.upper = range[1];
    return add_tie(m, &tie);
}

static rg_robot_joint *find_joint(const rg_robot *robot, const char *name) {
    for (size_t i = 0; name && i < robot->link_count; i++)
        for (rg_robot_joint *j = robot->links[i].joints; j; j = j->next)
            if (is(name, j->name))
                return j;
    return NULL;
}

/* ---- tendons of joints ---- */

/* Limits of a joint, coefficient times its coordinate being within `range`. */
static void narrow_limits(rg_robot_joint *joint, double coefficient, const double range[2]) {
    double low = range[0] / coefficient, high = range[1] / coefficient;
    joint->value.lower = fmax(joint->value.lower, fmin(low, high) - joint->reference);
    joint->value.upper = fmin(joint->value.upper, fmax(low, high) - joint->reference);
}

/* A tendon whose length is a sum of coordinates, each with its coefficient. Of one joint it is the
 * joint's own limit, spring and friction; of several, without any of these, it does nothing. */
static rg_status read_fixed(rg_mjcf *m, const rg_xml_node *node) {
    rg_robot *robot = m->robot;
    double range[2] = {0, 0}, spring[4] = {0, 0, 0, 0}, coefficient = 0;
    bool limited = m->autolimits && rg_xml_get(node, "range");
    static const char *const names[4] = {"stiffness", "springlength", "damping", "frictionloss"};
    rg_status status = rg_robot_vector(robot, node, "range", 2, range);
    if (status == RG_OK)
        status = rg_mjcf_flag(m, node, "limited", &limited);
    for (int i = 0; i < 4 && status == RG_OK; i++)
        status = rg_robot_vector(robot, node, names[i], 1, &spring[i]);
    limited = limited && !m->no_limits;
    if (status != RG_OK || (!limited && spring[0] == 0 && spring[2] == 0 && spring[3] == 0))
        return status;
    const rg_xml_node *first = node->first;
    if (!first || first->next)
        return rg_robot_leave_out(robot, node, "a limit or spring of several joints together");
    rg_robot_joint *joint = find_joint(robot, rg_xml_get(first, "joint"));
    status = rg_robot_vector(robot, first, "coef", 1, &coefficient);
    if (status == RG_OK && (!joint || joint->kind == RG_JOINT_BALL || coefficient == 0))
        status = rg_robot_fail(robot, first, RG_NOT_FOUND, "needs a hinge or slide, and coef");
    if (status != RG_OK)
        return status;
    rg_joint_axis *v = &joint->value;
    if (limited)
        narrow_limits(joint, coefficient, range);
    if (spring[0] != 0 && v->stiffness != 0)
        return rg_robot_leave_out(robot, node, "a spring of a joint that has one");
    if (spring[0] != 0) {
        v->stiffness = spring[0] * coefficient * coefficient;
        v->rest = spring[1] / coefficient - joint->reference;
    }
    v->damping += spring[2] * coefficient * coefficient;
    v->friction += spring[3] * fabs(coefficient);
    return RG_OK;
}

/* The fixed tendon of a name; null: there is none. */
static const rg_xml_node *find_fixed(const rg_mjcf *m, const char *name) {
    for (rg_xml_node *s = NULL; (s = rg_mjcf_section(m, "tendon", s));)
        for (const rg_xml_node *t = s->first; t; t = t->next)
            if (is(t->name, "fixed") && is(rg_xml_get(t, "name"), name))
                return t;
    return NULL;
}

/* ---- equalities ---- */

/* `factor` times as far as the leader, from where the links are drawn. */
static rg_status follow(rg_mjcf *m, const rg_xml_node *node, rg_robot_joint *joint,
                        const rg_robot_joint *leader, double factor) {
    if (!joint || !leader || joint->kind == RG_JOINT_BALL || !leader->name[0])
        return rg_robot_fail(m->robot, node, RG_NOT_FOUND, "needs hinges or slides with names");
    if (joint->mimics)
        return rg_robot_leave_out(m->robot, node, "a second equality of a joint");
    joint->mimics = leader->name;
    joint->multiplier = factor;
    joint->mimic = node;
    return RG_OK;
}

/* The length of a tendon of two joints stays. */
static rg_status hold_tendon(rg_mjcf *m, const rg_xml_node *node) {
    const rg_xml_node *tendon = find_fixed(m, rg_xml_get(node, "tendon1")),
                      *first = tendon ? tendon->first : NULL, *second = first ? first->next : NULL;
    double c[2] = {0, 0};
    if (!second || second->next || rg_xml_get(node, "tendon2"))
        return rg_robot_leave_out(m->robot, node, "an equality of other than two joints");
    rg_status status = rg_robot_vector(m->robot, first, "coef", 1, &c[0]);
    if (status == RG_OK)
        status = rg_robot_vector(m->robot, second, "coef", 1, &c[1]);
    if (status == RG_OK && (c[0] == 0 || c[1] == 0))
        status = rg_robot_fail(m->robot, tendon, RG_INVALID_ARGUMENT, "coef must not be 0");
    return status == RG_OK ? follow(m, node, find_joint(m->robot, rg_xml_get(first, "joint")),
                                    find_joint(m->robot, rg_xml_get(second, "joint")), -c[1] / c[0])
                           : status;
}

/* joint1 is a0 + a1 times joint2, or stands at a0; or a tendon. */
static rg_status read_equality(rg_mjcf *m, const rg_xml_node *node) {
    rg_robot *robot = m->robot;
    double a[5] = {0, 1, 0, 0, 0};
    bool active = true, tendon = is(node->name, "tendon");
    const char *second = rg_xml_get(node, "joint2");
    rg_robot_joint *joint = find_joint(robot, rg_xml_get(node, "joint1"));
    rg_status status = rg_mjcf_numbers(m, node, "polycoef", 5, a);
    if (status == RG_OK)
        status = rg_mjcf_flag(m, node, "active", &active);
    if (status != RG_OK || !active || m->no_limits)
        return status;
    if (joint && joint->kind != RG_JOINT_BALL && !second) {
        joint->value.lower = joint->value.upper = a[0];
        return RG_OK;
    }
    if (a[0] != 0 || a[2] != 0 || a[3] != 0 || a[4] != 0)
        return rg_robot_leave_out(robot, node, "an equality that is not linear or has an offset");
    return tendon ? hold_tendon(m, node) : follow(m, node, joint, find_joint(robot, second), a[1]);
}

/* ---- actuators ---- */

typedef struct bias {
    double gear[6], constant, length, velocity; /* force with control 0, on the geared length */
    double range[2];
} bias;

static rg_status read_general(const rg_mjcf *m, const rg_xml_node *node, bias *b) {
    const char *type = rg_mjcf_get(m, node, "biastype"), *gain = rg_mjcf_get(m, node, "gaintype"),
               *dynamics = rg_mjcf_get(m, node, "dyntype");
    double values[3] = {0, 0, 0};
    if ((type && !is(type, "none") && !is(type, "affine")) || (gain && !is(gain, "fixed")) ||
        (dynamics && !is(dynamics, "none")))
        return rg_robot_leave_out(m->robot, node, "an actuator with a law or state of its own");
    rg_status status = rg_mjcf_numbers(m, node, "biasprm", 3, values);
    if (is(type, "affine")) {
        b->constant = values[0];
        b->length = values[1];
        b->velocity = values[2];
    }
    return status;
}

static rg_status read_bias(const rg_mjcf *m, const rg_xml_node *node, bias *b) {
    double kp = 1, kv = is(node->name, "velocity");
    const rg_mjcf_number numbers[] = {
        {"gear", 6, b->gear}, {"kp", 1, &kp}, {"kv", 1, &kv}, {"forcerange", 2, b->range}};
    bool general = is(node->name, "general");
    rg_status status = rg_mjcf_read(m, node, numbers, sizeof numbers / sizeof *numbers);
    if (status != RG_OK || general)
        return status == RG_OK ? read_general(m, node, b) : status;
    b->length = is(node->name, "position") ? -kp : 0;
    b->velocity = -kv;
    return RG_OK;
}

/* The joint of a tendon that has no other, and its coefficient. */
static rg_status find_in_tendon(rg_mjcf *m, const rg_xml_node *actuator, const char **joint,
                                double *coefficient) {
    const rg_xml_node *tendon = find_fixed(m, rg_xml_get(actuator, "tendon"));
    if (!tendon || !tendon->first || tendon->first->next)
        return rg_robot_leave_out(m->robot, actuator, "an actuator of other than one joint");
    *joint = rg_xml_get(tendon->first, "joint");
    return rg_robot_vector(m->robot, tendon->first, "coef", 1, coefficient);
}

static rg_status read_actuator(rg_mjcf *m, const rg_xml_node *node) {
    bias b = {.gear = {1}};
    const char *name = rg_xml_get(node, "joint");
    double coefficient = 1;
    rg_status status = read_bias(m, node, &b);
    if (status != RG_OK || (b.constant == 0 && b.length == 0 && b.velocity == 0))
        return status;
    if (rg_xml_get(node, "tendon")) {
        status = find_in_tendon(m, node, &name, &coefficient);
        if (status != RG_OK || !name)
            return status;
    }
    rg_robot_joint *joint = find_joint(m->robot, name);
    b.gear[0] *= coefficient;
    if (!name)
        return rg_robot_leave_out(m->robot, node, "an actuator that moves no joint");
    if (!joint || joint->kind == RG_JOINT_BALL)
        return rg_robot_fail(m->robot, node, RG_NOT_FOUND, "there is no joint that it could move");
    if (joint->value.motor)
        return rg_robot_leave_out(m->robot, node, "a second actuator of a joint");
    if (b.length > 0 || b.velocity > 0 || (b.length == 0 && b.velocity == 0))
        return rg_robot_leave_out(m->robot, node, "an actuator that drives away from its target");
    bool position = b.length != 0;
    double square = b.gear[0] * b.gear[0];
    joint->value.motor = position ? RG_MOTOR_POSITION : RG_MOTOR_VELOCITY;
    joint->value.gain = -(position ? b.length : b.velocity) * square;
    joint->value.gain_velocity = position ? -b.velocity * square : 0;
    joint->value.target = b.constant * b.gear[0] / joint->value.gain;
    if (position)
        joint->value.target -= joint->reference;
    if (b.range[0] < 0 && b.range[1] > 0)
        joint->value.max_force = fabs(b.gear[0]) * fmin(-b.range[0], b.range[1]);
    if (square == 0)
        joint->value.motor = RG_MOTOR_NONE;
    return RG_OK;
}

/* ---- keyframes ---- */

static size_t coordinates_of(const rg_robot *robot) {
    size_t count = 0;
    for (size_t i = 0; i < robot->link_count; i++) {
        count += robot->links[i].is_free ? 7 : 0;
        for (const rg_robot_joint *j = robot->links[i].joints; j; j = j->next)
            count += j->kind == RG_JOINT_BALL ? 4 : 1;
    }
    return count;
}

static rg_quat rotation_at(const double *q) {
    return rg_quat_made_unit(rg_quat_make(q[1], q[2], q[3], q[0]));
}

/* qpos in the order of MuJoCo: bodies as they stand in the document, their joints in order. */
static void take_coordinates(rg_robot *robot, const double *q) {
    for (size_t i = 0; i < robot->link_count; i++) {
        rg_robot_link *link = &robot->links[i];
        if (link->is_free) {
            link->start = rg_pose_make((rg_vec3){q[0], q[1], q[2]}, rotation_at(q + 3));
            q += 7;
        }
        for (rg_robot_joint *j = link->joints; j; j = j->next) {
            bool ball = j->kind == RG_JOINT_BALL;
            j->start = ball ? 0 : q[0] - j->reference;
            j->start_turn = ball ? rotation_at(q) : rg_quat_identity();
            q += ball ? 4 : 1;
        }
    }
    robot->has_start = true;
}

static bool has_motion(const char *numbers) {
    return numbers && strpbrk(numbers, "123456789") != NULL;
}

static rg_status read_key(rg_mjcf *m, const rg_xml_node *node) {
    rg_robot *robot = m->robot;
    const char *name = rg_xml_get(node, "name"), *wanted = rg_robot_parameter(robot, "key"),
               *text = rg_xml_get(node, "qpos");
    size_t count = coordinates_of(robot), given;
    if (!wanted || !is(wanted, name ? name : ""))
        return RG_OK;
    double *q = rg_arena_take(&robot->arena, count + 1, sizeof *q);
    if (!q)
        return rg_robot_no_memory(robot);
    rg_status status = RG_OK;
    m->key_found = true;
    if (has_motion(rg_xml_get(node, "qvel")) || has_motion(rg_xml_get(node, "ctrl")))
        status = rg_robot_leave_out(robot, node, "velocities and controls of a keyframe");
    if (status != RG_OK || !text)
        return status;
    status = rg_robot_numbers(robot, node, "qpos", text, count, q, &given);
    if (status == RG_OK && given != count)
        return rg_robot_fail(robot, node, RG_WRONG_TYPE, "qpos needs %zu numbers, not %zu", count,
                             given);
    if (status == RG_OK)
        take_coordinates(robot, q);
    return status;
}

/* ---- all of it ---- */

typedef rg_status read_function(rg_mjcf *m, const rg_xml_node *node);

/* Every element `name` of every section. */
static rg_status for_each(rg_mjcf *m, const char *section, const char *name, read_function *read) {
    rg_status status = RG_OK;
    for (rg_xml_node *s = NULL; status == RG_OK && (s = rg_mjcf_section(m, section, s));)
        for (rg_xml_node *node = s->first; node && status == RG_OK; node = node->next)
            if (is(node->name, name))
                status = read(m, node);
    return status;
}

rg_status rg_mjcf_refer(rg_mjcf *m) {
    const struct {
        const char *section, *name;
        read_function *read;
    } parts[] = {{"contact", "exclude", read_exclude},
                 {"tendon", "spatial", read_spatial},
                 {"tendon", "fixed", read_fixed},
                 {"equality", "joint", read_equality},
                 {"equality", "tendon", read_equality},
                 {"actuator", "position", read_actuator},
                 {"actuator", "velocity", read_actuator},
                 {"actuator", "general", read_actuator},
                 {"keyframe", "key", read_key}};
    rg_status status = RG_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == RG_OK; i++)
        status = for_each(m, parts[i].section, parts[i].name, parts[i].read);
    const char *wanted = rg_robot_parameter(m->robot, "key");
    if (status == RG_OK && wanted && !m->key_found)
        status =
            rg_fail(m->robot->error, RG_NOT_FOUND, "key: there is no keyframe \"%.100s\"", wanted);
    return status;
}
