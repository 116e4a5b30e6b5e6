/* Fixed tendons of MJCF: a length that is a sum of coordinates, each with its coefficient. Of one
 * joint its limits, spring and friction are the joint's own; of several they are those of a tendon
 * of the robot, if it has any, or an actuator or equality.
 * Tested by tests/scene/test_robot_mjcf_refer.c and tests/scripts/test_robot.py. */
#include "scene/scene_robot_mjcf.h"

#include <math.h>
#include <string.h>

rg_robot_joint *rg_mjcf_joint(const rg_mjcf *m, const char *name) {
    for (size_t i = 0; name && i < m->robot->link_count; i++)
        for (rg_robot_joint *j = m->robot->links[i].joints; j; j = j->next)
            if (strcmp(name, j->name) == 0)
                return j;
    return NULL;
}

const rg_xml_node *rg_mjcf_find_fixed(const rg_mjcf *m, const char *name) {
    for (rg_xml_node *s = NULL; name && (s = rg_mjcf_section(m, "tendon", s));)
        for (const rg_xml_node *t = s->first; t; t = t->next) {
            const char *own = rg_xml_get(t, "name");
            if (strcmp(t->name, "fixed") == 0 && own && strcmp(own, name) == 0)
                return t;
        }
    return NULL;
}

static rg_status read_part(rg_mjcf *m, const rg_xml_node *node, rg_robot_joint **joint,
                           double *coefficient) {
    *joint = rg_mjcf_joint(m, rg_xml_get(node, "joint"));
    rg_status status = rg_robot_vector(m->robot, node, "coef", 1, coefficient);
    if (status == RG_OK && (!*joint || (*joint)->kind == RG_JOINT_BALL || *coefficient == 0))
        status = rg_robot_fail(m->robot, node, RG_NOT_FOUND, "needs a hinge or slide, and coef");
    return status;
}

/* The tendon of an element that has several joints, which there is once. */
static rg_status find_tendon(rg_mjcf *m, const rg_xml_node *node, rg_robot_tendon **found) {
    rg_robot_tendon *t = m->robot->tendons;
    rg_status status = RG_OK;
    while (t && t->node != node)
        t = t->next;
    *found = t;
    if (t)
        return RG_OK;
    t = *found = rg_robot_add_tendon(m->robot, node, rg_xml_get(node, "name"));
    if (!t)
        return rg_robot_no_memory(m->robot);
    for (const rg_xml_node *part = node->first; part && status == RG_OK; part = part->next) {
        rg_robot_joint *joint;
        double coefficient = 0;
        if (t->part_count == RG_TENDON_PARTS_MOST)
            return rg_robot_fail(m->robot, node, RG_LIMIT_EXCEEDED, "more than %d joints",
                                 RG_TENDON_PARTS_MOST);
        status = read_part(m, part, &joint, &coefficient);
        if (status != RG_OK)
            break;
        t->joint[t->part_count] = joint;
        t->coefficient[t->part_count++] = coefficient;
        t->reference += coefficient * joint->reference;
    }
    return status;
}

rg_status rg_mjcf_tendon_axis(rg_mjcf *m, const rg_xml_node *node, rg_mjcf_axis *axis) {
    rg_robot_joint *joint;
    rg_robot_tendon *tendon;
    rg_status status;
    *axis = (rg_mjcf_axis){.coefficient = 1};
    if (!node->first)
        return rg_robot_fail(m->robot, node, RG_NOT_FOUND, "a fixed tendon without joints");
    if (node->first->next) {
        status = find_tendon(m, node, &tendon);
        if (status == RG_OK)
            axis->value = &tendon->value, axis->reference = tendon->reference;
        return status;
    }
    status = read_part(m, node->first, &joint, &axis->coefficient);
    if (status == RG_OK)
        axis->value = &joint->value, axis->reference = joint->reference, axis->joint = joint;
    return status;
}

/* The length at which it has no force, if the file does not say: with all joints at springref. */
static double relaxed_length(const rg_mjcf *m, const rg_xml_node *node) {
    double sum = 0;
    for (const rg_xml_node *part = node->first; part; part = part->next) {
        double coefficient = 0;
        const rg_robot_joint *joint = rg_mjcf_joint(m, rg_xml_get(part, "joint"));
        if (joint && rg_robot_vector(m->robot, part, "coef", 1, &coefficient) == RG_OK)
            sum += coefficient * (joint->relaxed + joint->reference);
    }
    return sum;
}

typedef struct spring {
    double stiffness, length, damping, friction;
} spring;

static rg_status read_spring(rg_mjcf *m, const rg_xml_node *node, spring *s) {
    double length[2] = {-1, NAN};
    const rg_mjcf_number numbers[] = {{"stiffness", 1, &s->stiffness},
                                      {"damping", 1, &s->damping},
                                      {"frictionloss", 1, &s->friction},
                                      {"springlength", 2, length}};
    rg_status status = rg_mjcf_read(m, node, numbers, sizeof numbers / sizeof *numbers);
    if (m->no_limits)
        s->friction = 0;
    if (isnan(length[1]))
        length[1] = length[0];
    if (status == RG_OK && s->stiffness != 0 && length[0] != length[1])
        return rg_robot_leave_out(m->robot, node, "a spring that is slack over a range of lengths");
    s->length = length[0] == -1 ? relaxed_length(m, node) : length[0];
    return status;
}

rg_status rg_mjcf_read_fixed(rg_mjcf *m, const rg_xml_node *node) {
    double margin = 0;
    spring s = {0};
    rg_mjcf_axis axis;
    rg_mjcf_limit limit;
    rg_status status = rg_mjcf_range(m, node, "limited", "range", &limit);
    if (status == RG_OK)
        status = rg_mjcf_numbers(m, node, "margin", 1, &margin);
    if (status == RG_OK)
        status = read_spring(m, node, &s);
    bool limited = limit.given && !m->no_limits;
    if (status == RG_OK && limited && margin != 0)
        status = rg_robot_leave_out(m->robot, node, "a margin: limits of tendons have none");
    if (status == RG_OK && !limited && s.stiffness == 0 && s.damping == 0 && s.friction == 0)
        return RG_OK;
    if (status == RG_OK)
        status = rg_mjcf_tendon_axis(m, node, &axis);
    if (status != RG_OK)
        return status;
    rg_joint_axis *v = axis.value;
    double c = axis.coefficient, low = limit.lower / c, high = limit.upper / c;
    if (limited) {
        v->lower = fmax(v->lower, fmin(low, high) - axis.reference);
        v->upper = fmin(v->upper, fmax(low, high) - axis.reference);
    }
    if (s.stiffness != 0 && v->stiffness != 0)
        return rg_robot_leave_out(m->robot, node, "a spring of a joint that has one");
    if (s.stiffness != 0) {
        v->stiffness = s.stiffness * c * c;
        v->rest = s.length / c - axis.reference;
    }
    v->damping += s.damping * c * c;
    v->friction += s.friction * fabs(c);
    return RG_OK;
}
