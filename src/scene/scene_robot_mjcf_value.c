/* MJCF: attributes with their defaults, rotations in all their forms, includes.
 * Tested by tests/scene/test_robot.c. */
#include "scene/scene_robot_mjcf.h"

#include "base/base_math.h"

#include <stdio.h>
#include <string.h>

rg_xml_node *rg_mjcf_section(const rg_mjcf *m, const char *name, const rg_xml_node *after) {
    for (rg_xml_node *node = after ? after->next : m->root->first; node; node = node->next)
        if (strcmp(node->name, name) == 0)
            return node;
    return NULL;
}

/* ---- defaults ---- */

static const rg_xml_node *find_class(const rg_xml_node *defaults, const char *name) {
    const char *own = rg_xml_get(defaults, "class");
    if (own && strcmp(own, name) == 0)
        return defaults;
    for (const rg_xml_node *child = defaults->first; child; child = child->next)
        if (strcmp(child->name, "default") == 0) {
            const rg_xml_node *found = find_class(child, name);
            if (found)
                return found;
        }
    return NULL;
}

/* The class of an element: its own, or that of the nearest body that gives one to what it holds. */
static const rg_xml_node *class_of(const rg_mjcf *m, const rg_xml_node *node) {
    const char *name = rg_xml_get(node, "class");
    for (const rg_xml_node *up = node->parent; up && !name; up = up->parent)
        name = rg_xml_get(up, "childclass");
    for (rg_xml_node *d = NULL; name && (d = rg_mjcf_section(m, "default", d));) {
        const rg_xml_node *found = find_class(d, name);
        if (found)
            return found;
    }
    return NULL;
}

static const char *get_default(const rg_xml_node *defaults, const char *element, const char *name) {
    const char *found = NULL;
    for (const rg_xml_node *child = defaults->first; child && !found; child = child->next)
        if (strcmp(child->name, element) == 0)
            found = rg_xml_get(child, name);
    return found;
}

const char *rg_mjcf_get(const rg_mjcf *m, const rg_xml_node *node, const char *name) {
    const char *found = rg_xml_get(node, name);
    const rg_xml_node *d = found ? NULL : class_of(m, node);
    for (; d && d != m->root && !found; d = d->parent)
        found = get_default(d, node->name, name);
    /* The class of those that have none. */
    for (rg_xml_node *top = NULL; !found && (top = rg_mjcf_section(m, "default", top));) {
        const char *own = rg_xml_get(top, "class");
        if (!own || strcmp(own, "main") == 0)
            found = get_default(top, node->name, name);
    }
    return found;
}

rg_status rg_mjcf_numbers(const rg_mjcf *m, const rg_xml_node *node, const char *name, size_t most,
                          double *values) {
    const char *text = rg_mjcf_get(m, node, name);
    double read[16];
    size_t count = 0;
    rg_status status =
        text ? rg_robot_numbers(m->robot, node, name, text, most, read, &count) : RG_OK;
    if (status == RG_OK)
        memcpy(values, read, count * sizeof *values);
    return status;
}

rg_status rg_mjcf_read(const rg_mjcf *m, const rg_xml_node *node, const rg_mjcf_number *numbers,
                       size_t count) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < count && status == RG_OK; i++)
        status = rg_mjcf_numbers(m, node, numbers[i].name, numbers[i].most, numbers[i].values);
    return status;
}

rg_status rg_mjcf_flag(const rg_mjcf *m, const rg_xml_node *node, const char *name, bool *value) {
    const char *text = rg_mjcf_get(m, node, name);
    if (!text || strcmp(text, "auto") == 0)
        return RG_OK;
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return rg_robot_fail(m->robot, node, RG_WRONG_TYPE,
                             "%s: \"%.60s\" is neither true nor false", name, text);
    *value = strcmp(text, "true") == 0;
    return RG_OK;
}

/* ---- rotations ---- */

static rg_quat euler_rotation(const rg_mjcf *m, const double angles[3]) {
    rg_quat q = rg_quat_identity();
    for (int i = 0; i < 3; i++) {
        bool fixed = m->euler[i] >= 'X' && m->euler[i] <= 'Z';
        int k = m->euler[i] - (fixed ? 'X' : 'x');
        rg_vec3 axis = {k == 0, k == 1, k == 2};
        rg_quat turn = rg_quat_of_axis_angle(axis, angles[i] * m->angle);
        q = fixed ? rg_quat_multiply(turn, q) : rg_quat_multiply(q, turn);
    }
    return q;
}

static rg_quat rotation_of_axes(const double v[6]) {
    rg_vec3 x = rg_normalised((rg_vec3){v[0], v[1], v[2]}), y = {v[3], v[4], v[5]};
    y = rg_normalised(rg_add_scaled(y, -rg_dot(x, y), x));
    rg_vec3 z = rg_cross(x, y);
    rg_mat3 r = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
    return rg_quat_of_mat3(&r);
}

rg_status rg_mjcf_pose(const rg_mjcf *m, const rg_xml_node *node, rg_pose *pose) {
    static const struct {
        const char *name;
        size_t count;
    } forms[] = {{"quat", 4}, {"axisangle", 4}, {"euler", 3}, {"xyaxes", 6}, {"zaxis", 3}};
    *pose = rg_pose_identity();
    rg_status status = rg_mjcf_numbers(m, node, "pos", 3, &pose->position.x);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && status == RG_OK; i++) {
        const char *text = rg_mjcf_get(m, node, forms[i].name);
        double v[6];
        size_t count;
        if (!text)
            continue;
        status = rg_robot_numbers(m->robot, node, forms[i].name, text, forms[i].count, v, &count);
        if (status == RG_OK && count != forms[i].count)
            status = rg_robot_fail(m->robot, node, RG_WRONG_TYPE, "%s needs %zu numbers, not %zu",
                                   forms[i].name, forms[i].count, count);
        if (status != RG_OK)
            return status;
        pose->orientation =
            i == 0   ? rg_quat_made_unit(rg_quat_make(v[1], v[2], v[3], v[0]))
            : i == 1 ? rg_quat_of_axis_angle((rg_vec3){v[0], v[1], v[2]}, v[3] * m->angle)
            : i == 2 ? euler_rotation(m, v)
            : i == 3 ? rotation_of_axes(v)
                     : rg_robot_rotation_to((rg_vec3){v[0], v[1], v[2]});
        return RG_OK;
    }
    return status;
}

/* ---- includes ---- */

static rg_status read_included(rg_robot *robot, const rg_xml_node *node, rg_xml_node **root) {
    const char *file = rg_xml_get(node, "file"), *directory = robot->source->directory;
    char path[RG_ROBOT_PATH_SIZE];
    if (!file)
        return rg_robot_fail(robot, node, RG_NOT_FOUND, "needs file");
    bool absolute = file[0] == '/' || !directory || !directory[0];
    if (snprintf(path, sizeof path, "%s%s%s", absolute ? "" : directory, absolute ? "" : "/",
                 file) >= (int)sizeof path)
        return rg_robot_fail(robot, node, RG_LIMIT_EXCEEDED, "the path is too long");
    return rg_robot_include(robot, node, path, root);
}

static rg_status include_all(rg_robot *robot, rg_xml_node *parent, int depth) {
    rg_status status = RG_OK;
    rg_xml_node **at = &parent->first;
    parent->last = NULL;
    while (*at && status == RG_OK) {
        rg_xml_node *node = *at, *root = NULL;
        if (strcmp(node->name, "include") != 0) {
            status = include_all(robot, node, depth);
            at = &node->next;
            parent->last = node;
            continue;
        }
        if (depth >= RG_ROBOT_INCLUDE_DEPTH)
            return rg_robot_fail(robot, node, RG_LIMIT_EXCEEDED,
                                 "includes are nested more than %d deep", RG_ROBOT_INCLUDE_DEPTH);
        status = read_included(robot, node, &root);
        if (status == RG_OK)
            status = include_all(robot, root, depth + 1);
        if (status != RG_OK)
            return status;
        *at = node->next;
        if (!root->first)
            continue;
        for (rg_xml_node *child = root->first; child; child = child->next)
            child->parent = parent;
        *at = root->first;
        root->last->next = node->next;
        at = &root->last->next;
        parent->last = root->last;
    }
    return status;
}

rg_status rg_mjcf_include(rg_robot *robot, rg_xml_node *root) {
    return include_all(robot, root, 0);
}
