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

static bool is(const char *text, const char *word) {
    return text && strcmp(text, word) == 0;
}

static const rg_xml_node *find_class(const rg_xml_node *defaults, const char *name) {
    if (is(rg_xml_get(defaults, "class"), name))
        return defaults;
    for (const rg_xml_node *child = defaults->first; child; child = child->next)
        if (strcmp(child->name, "default") == 0) {
            const rg_xml_node *found = find_class(child, name);
            if (found)
                return found;
        }
    return NULL;
}

static const rg_xml_node *find_in_all(const rg_mjcf *m, const char *name) {
    const rg_xml_node *found = NULL;
    for (rg_xml_node *d = NULL; !found && (d = rg_mjcf_section(m, "default", d));)
        found = find_class(d, name);
    return found;
}

/* The section of defaults before another, or the last one. All of them are one class, main. */
static const rg_xml_node *section_before(const rg_mjcf *m, const rg_xml_node *section) {
    const rg_xml_node *last = NULL;
    for (rg_xml_node *d = NULL; (d = rg_mjcf_section(m, "default", d)) && d != section;)
        last = d;
    return last;
}

const rg_xml_node *rg_mjcf_class(const rg_mjcf *m, const rg_xml_node *node) {
    const char *name = rg_xml_get(node, "class");
    for (const rg_xml_node *up = node->parent; up && !name; up = up->parent)
        name = rg_xml_get(up, "childclass");
    const rg_xml_node *found = name && !is(name, "main") ? find_in_all(m, name) : NULL;
    return found ? found : section_before(m, NULL);
}

const rg_xml_node *rg_mjcf_class_above(const rg_mjcf *m, const rg_xml_node *defaults) {
    return defaults->parent == m->root ? section_before(m, defaults) : defaults->parent;
}

/* What the defaults of an element are called: those of all tendons, and all equalities, are one. */
static const char *default_name(const rg_xml_node *node) {
    const char *section = node->parent ? node->parent->name : "";
    return is(section, "tendon") || is(section, "equality") ? section : node->name;
}

const char *rg_mjcf_get(const rg_mjcf *m, const rg_xml_node *node, const char *name) {
    const char *found = rg_xml_get(node, name), *element = default_name(node);
    const rg_xml_node *d = found ? NULL : rg_mjcf_class(m, node);
    for (; d && !found; d = rg_mjcf_class_above(m, d))
        for (const rg_xml_node *child = d->first; child; child = child->next)
            if (is(child->name, element) && rg_xml_get(child, name))
                found = rg_xml_get(child, name); /* the last one */
    return found;
}

/* Attributes that may give fewer numbers: those after them stay what they are by default. */
static bool may_be_short(const char *name) {
    static const char *const names[] = {"size",    "friction", "gear",        "gainprm",
                                        "biasprm", "polycoef", "springlength"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is(name, names[i]))
            return true;
    return false;
}

rg_status rg_mjcf_own_numbers(const rg_mjcf *m, const rg_xml_node *node, const char *name,
                              size_t most, double *values) {
    const char *text = rg_xml_get(node, name);
    double read[16];
    size_t count = 0;
    if (!text)
        return RG_OK;
    rg_status status = rg_robot_numbers(m->robot, node, name, text, most, read, &count);
    if (status == RG_OK && count != most && !may_be_short(name))
        status = rg_robot_fail(m->robot, node, RG_WRONG_TYPE, "%s needs %zu numbers, not %zu", name,
                               most, count);
    if (status == RG_OK)
        memcpy(values, read, count * sizeof *values);
    return status;
}

/* From the outermost class to the innermost. */
static rg_status default_numbers(const rg_mjcf *m, const rg_xml_node *defaults, const char *element,
                                 const char *name, size_t most, double *values) {
    rg_status status = RG_OK;
    if (defaults)
        status = default_numbers(m, rg_mjcf_class_above(m, defaults), element, name, most, values);
    for (const rg_xml_node *d = defaults ? defaults->first : NULL; d && status == RG_OK;
         d = d->next)
        if (is(d->name, element))
            status = rg_mjcf_own_numbers(m, d, name, most, values);
    return status;
}

rg_status rg_mjcf_numbers(const rg_mjcf *m, const rg_xml_node *node, const char *name, size_t most,
                          double *values) {
    rg_status status =
        default_numbers(m, rg_mjcf_class(m, node), default_name(node), name, most, values);
    return status == RG_OK ? rg_mjcf_own_numbers(m, node, name, most, values) : status;
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
    if (!text || is(text, "auto"))
        return RG_OK;
    if (!is(text, "true") && !is(text, "false"))
        return rg_robot_fail(m->robot, node, RG_WRONG_TYPE,
                             "%s: \"%.60s\" is neither true nor false", name, text);
    *value = is(text, "true");
    return RG_OK;
}

rg_status rg_mjcf_range(const rg_mjcf *m, const rg_xml_node *node, const char *limited,
                        const char *name, rg_mjcf_limit *limit) {
    *limit = (rg_mjcf_limit){false, 0, 0};
    double range[2] = {0, 0};
    rg_status status = rg_mjcf_numbers(m, node, name, 2, range);
    limit->given = m->autolimits && range[0] < range[1];
    if (status == RG_OK)
        status = rg_mjcf_flag(m, node, limited, &limit->given);
    if (status == RG_OK && limit->given && !(range[0] < range[1]))
        return rg_robot_fail(m->robot, node, RG_INVALID_ARGUMENT,
                             "%s needs a %s whose second number is larger", limited, name);
    limit->lower = range[0];
    limit->upper = range[1];
    return status;
}

/* ---- classes ---- */

static rg_status check_class(const rg_mjcf *m, const rg_xml_node *node, const char *attribute) {
    const char *name = rg_xml_get(node, attribute);
    return !name || is(name, "main") || find_in_all(m, name)
               ? RG_OK
               : rg_robot_fail(m->robot, node, RG_NOT_FOUND,
                               "%s: there is no class of defaults \"%.100s\"", attribute, name);
}

static rg_status check_defaults(const rg_mjcf *m, const rg_xml_node *node) {
    const char *name = rg_xml_get(node, "class");
    if (node->parent == m->root)
        return RG_OK;
    if (!name || !name[0])
        return rg_robot_fail(m->robot, node, RG_NOT_FOUND, "needs class");
    return is(name, "main") || find_in_all(m, name) != node
               ? rg_robot_fail(m->robot, node, RG_DUPLICATE_NAME,
                               "there is a class \"%.100s\" already", name)
               : RG_OK;
}

rg_status rg_mjcf_check_classes(const rg_mjcf *m, const rg_xml_node *node) {
    rg_status status =
        is(node->name, "default") ? check_defaults(m, node) : check_class(m, node, "class");
    if (status == RG_OK)
        status = check_class(m, node, "childclass");
    for (const rg_xml_node *child = node->first; child && status == RG_OK; child = child->next)
        status = rg_mjcf_check_classes(m, child);
    return status;
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

/* Directions that are parallel but for rounding. */
#define PARALLEL 1e-12

typedef enum rotation_form { QUAT, AXISANGLE, EULER, XYAXES, ZAXIS, FORMS } rotation_form;
static const struct {
    const char *name;
    size_t count;
} forms[FORMS] = {{"quat", 4}, {"axisangle", 4}, {"euler", 3}, {"xyaxes", 6}, {"zaxis", 3}};

/* The one form of rotation that an element has; FORMS: none. */
static rg_status find_form(const rg_mjcf *m, const rg_xml_node *node, rotation_form *form) {
    *form = FORMS;
    for (int i = 0; i < FORMS; i++) {
        if (!rg_xml_get(node, forms[i].name))
            continue;
        if (*form != FORMS)
            return rg_robot_fail(m->robot, node, RG_INVALID_ARGUMENT,
                                 "%s and %s: only one of them can hold", forms[*form].name,
                                 forms[i].name);
        *form = (rotation_form)i;
    }
    return RG_OK;
}

/* Whose rotation an element has: its own, or that of the nearest of its defaults. */
static rg_status find_rotation(const rg_mjcf *m, const rg_xml_node *node, const rg_xml_node **from,
                               rotation_form *form) {
    *from = node;
    rg_status status = find_form(m, node, form);
    const rg_xml_node *d = *form == FORMS ? rg_mjcf_class(m, node) : NULL;
    for (; d && status == RG_OK && *form == FORMS; d = rg_mjcf_class_above(m, d))
        for (const rg_xml_node *child = d->first; child && status == RG_OK; child = child->next) {
            rotation_form own = FORMS;
            if (is(child->name, node->name))
                status = find_form(m, child, &own);
            if (own != FORMS)
                *from = child, *form = own;
        }
    return status;
}

static bool has_no_length(rotation_form form, const double *v) {
    rg_vec3 first = {v[0], v[1], v[2]}, second = {v[3], v[4], v[5]};
    if (form == QUAT)
        return !(v[0] != 0 || v[1] != 0 || v[2] != 0 || v[3] != 0);
    if (form == XYAXES)
        return !(rg_length(rg_cross(rg_normalised(first), rg_normalised(second))) > PARALLEL);
    return form != EULER && !(rg_length(first) > 0);
}

rg_status rg_mjcf_pose(const rg_mjcf *m, const rg_xml_node *node, rg_pose *pose) {
    const rg_xml_node *from;
    rotation_form form;
    double v[6] = {0};
    *pose = rg_pose_identity();
    rg_status status = rg_mjcf_numbers(m, node, "pos", 3, &pose->position.x);
    if (status == RG_OK)
        status = find_rotation(m, node, &from, &form);
    if (status == RG_OK && form != FORMS)
        status = rg_mjcf_own_numbers(m, from, forms[form].name, forms[form].count, v);
    if (status != RG_OK || form == FORMS)
        return status;
    if (has_no_length(form, v))
        return rg_robot_fail(m->robot, from, RG_INVALID_ARGUMENT,
                             "%s: a direction of no length, or two that are parallel",
                             forms[form].name);
    pose->orientation = form == QUAT ? rg_quat_made_unit(rg_quat_make(v[1], v[2], v[3], v[0]))
                        : form == AXISANGLE
                            ? rg_quat_of_axis_angle((rg_vec3){v[0], v[1], v[2]}, v[3] * m->angle)
                        : form == EULER  ? euler_rotation(m, v)
                        : form == XYAXES ? rotation_of_axes(v)
                                         : rg_robot_rotation_to((rg_vec3){v[0], v[1], v[2]});
    return RG_OK;
}

/* ---- includes ---- */

static const rg_robot_words include_words = {.attributes = "file"},
                            root_words = {.silent_attributes = "model"};

static rg_status read_included(rg_robot *robot, rg_xml_node *node, rg_xml_node **root) {
    const char *file = rg_xml_get(node, "file"), *directory = robot->source->directory;
    char path[RG_ROBOT_PATH_SIZE];
    if (!file)
        return rg_robot_fail(robot, node, RG_NOT_FOUND, "needs file");
    bool absolute = file[0] == '/' || !directory || !directory[0];
    if (snprintf(path, sizeof path, "%s%s%s", absolute ? "" : directory, absolute ? "" : "/",
                 file) >= (int)sizeof path)
        return rg_robot_fail(robot, node, RG_LIMIT_EXCEEDED, "the path is too long");
    rg_status status = rg_robot_check_attributes(robot, node, &include_words);
    if (status == RG_OK)
        status = rg_robot_include(robot, node, path, root);
    return status == RG_OK ? rg_robot_check_attributes(robot, *root, &root_words) : status;
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
