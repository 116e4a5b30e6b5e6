/* What of MJCF refers to bodies and joints: exclusions, ropes, equalities, keyframes; actuators are
 * in scene_robot_mjcf_actuator.c. A keyframe is where the run begins if the parameter `key` names
 * it.
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
    double spring[3] = {0, 0, 0}, margin = 0;
    const char *name = rg_xml_get(node, "name");
    rg_mjcf_limit limit;
    const rg_mjcf_number numbers[] = {{"stiffness", 1, &spring[0]},
                                      {"damping", 1, &spring[1]},
                                      {"frictionloss", 1, &spring[2]},
                                      {"margin", 1, &margin}};
    rg_status status = rg_mjcf_range(m, node, "limited", "range", &limit);
    if (status == RG_OK)
        status = rg_mjcf_read(m, node, numbers, sizeof numbers / sizeof *numbers);
    if (status == RG_OK && (spring[0] != 0 || spring[1] != 0 || spring[2] != 0))
        status = rg_robot_leave_out(m->robot, node,
                                    "stiffness, damping or friction of a spatial tendon");
    if (status != RG_OK || !limit.given || m->no_limits)
        return status;
    if (margin != 0)
        status = rg_robot_leave_out(m->robot, node, "a margin: limits of tendons have none");
    if (status != RG_OK)
        return status;
    if (!second || second->next)
        return rg_robot_leave_out(m->robot, node, "a tendon that is not between two sites");
    const rg_mjcf_site *a = find_site(m, rg_xml_get(first, "site")),
                       *b = find_site(m, rg_xml_get(second, "site"));
    if (!a || !b)
        return rg_robot_fail(m->robot, a ? second : first, RG_NOT_FOUND, "there is no such site");
    rg_robot_tie tie = {name ? name : "", a->link, b->link, a->point, b->point, 0, 0, NULL};
    tie.lower = limit.lower > 0 ? limit.lower : -INFINITY;
    tie.upper = limit.upper;
    return add_tie(m, &tie);
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

/* The length of a tendon stays: of two joints they move together. */
static rg_status hold_tendon(rg_mjcf *m, const rg_xml_node *node) {
    const rg_xml_node *tendon = rg_mjcf_find_fixed(m, rg_xml_get(node, "tendon1")),
                      *first = tendon ? tendon->first : NULL, *second = first ? first->next : NULL;
    double c[2] = {0, 0};
    rg_mjcf_axis axis;
    if (!first || rg_xml_get(node, "tendon2"))
        return rg_robot_leave_out(m->robot, node, "an equality of other than a fixed tendon");
    if (!second || second->next) {
        rg_status status = rg_mjcf_tendon_axis(m, tendon, &axis);
        if (status == RG_OK)
            axis.value->lower = axis.value->upper = 0;
        return status;
    }
    rg_status status = rg_robot_vector(m->robot, first, "coef", 1, &c[0]);
    if (status == RG_OK)
        status = rg_robot_vector(m->robot, second, "coef", 1, &c[1]);
    if (status == RG_OK && (c[0] == 0 || c[1] == 0))
        status = rg_robot_fail(m->robot, tendon, RG_INVALID_ARGUMENT, "coef must not be 0");
    return status == RG_OK ? follow(m, node, rg_mjcf_joint(m, rg_xml_get(first, "joint")),
                                    rg_mjcf_joint(m, rg_xml_get(second, "joint")), -c[1] / c[0])
                           : status;
}

/* joint1 is a0 + a1 times joint2, or stands at a0; or a tendon. */
static rg_status read_equality(rg_mjcf *m, const rg_xml_node *node) {
    rg_robot *robot = m->robot;
    double a[5] = {0, 1, 0, 0, 0};
    bool active = true, tendon = is(node->name, "tendon");
    const char *second = rg_xml_get(node, "joint2");
    rg_robot_joint *joint = rg_mjcf_joint(m, rg_xml_get(node, "joint1"));
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
    return tendon ? hold_tendon(m, node) : follow(m, node, joint, rg_mjcf_joint(m, second), a[1]);
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

/* Every element `name`, or of any name, of every section. */
static rg_status for_each(rg_mjcf *m, const char *section, const char *name, read_function *read) {
    rg_status status = RG_OK;
    for (rg_xml_node *s = NULL; status == RG_OK && (s = rg_mjcf_section(m, section, s));)
        for (rg_xml_node *node = s->first; node && status == RG_OK; node = node->next)
            if (!name || is(node->name, name))
                status = read(m, node);
    return status;
}

rg_status rg_mjcf_refer(rg_mjcf *m) {
    const struct {
        const char *section, *name;
        read_function *read;
    } parts[] = {{"asset", "mesh", rg_mjcf_check_mesh}, {"contact", "exclude", read_exclude},
                 {"tendon", "spatial", read_spatial},   {"tendon", "fixed", rg_mjcf_read_fixed},
                 {"equality", "joint", read_equality},  {"equality", "tendon", read_equality},
                 {"actuator", NULL, rg_mjcf_actuator},  {"keyframe", "key", read_key}};
    rg_status status = RG_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == RG_OK; i++)
        status = for_each(m, parts[i].section, parts[i].name, parts[i].read);
    const char *wanted = rg_robot_parameter(m->robot, "key");
    if (status == RG_OK && wanted && !m->key_found)
        status =
            rg_fail(m->robot->error, RG_NOT_FOUND, "key: there is no keyframe \"%.100s\"", wanted);
    return status;
}
