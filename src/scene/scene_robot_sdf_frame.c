/* SDF: names, and where things are. Poses are relative to the model, or to what `relative_to`
 * names: http://sdformat.org, "Pose frame semantics". Names are those of the model that uses them;
 * what is in a model within it is "model::name".
 * Tested by tests/scene/test_robot_sdf.c. */
#include "scene/scene_robot_sdf.h"

#include "base/base_math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_DEEP = 100, NAME_SIZE = 256, GROUPS_MOST = 31 };

bool rg_sdf_is(const rg_sdf *s, size_t item, const char *element) {
    return strcmp(s->items[item].node->name, element) == 0;
}

rg_status rg_sdf_flag(rg_robot *robot, const rg_xml_node *of, const char *name, bool *value) {
    const rg_xml_node *node = of;
    const char *text = rg_xml_value(&node, name);
    static const char *const words[] = {"false", "true", "0", "1"};
    for (size_t i = 0; i < 4 && text; i++)
        if (strcmp(text, words[i]) == 0) {
            *value = i % 2;
            return RG_OK;
        }
    return text ? rg_robot_fail(robot, node, RG_WRONG_TYPE, "\"%.60s\" is neither true nor false",
                                text)
                : RG_OK;
}

/* ---- what there is ---- */

static int compare(const rg_sdf_item *a, const rg_sdf_item *b) {
    int order = strcmp(a->name, b->name);
    return order ? order : (a->scope > b->scope) - (a->scope < b->scope);
}

static int by_name(const void *a, const void *b) {
    return compare(*(const rg_sdf_item *const *)a, *(const rg_sdf_item *const *)b);
}

static rg_status add_item(rg_sdf *s, const rg_xml_node *node, size_t scope) {
    rg_sdf_item item = {.node = node,
                        .scope = scope,
                        .base = scope,
                        .own = rg_pose_identity(),
                        .placed = rg_pose_identity(),
                        .group = -1,
                        .joint = RG_SDF_NONE};
    rg_status status = rg_robot_name(s->robot, node, "name", &item.name);
    if (status != RG_OK)
        return status;
    if (!rg_arena_grow(&s->robot->arena, &s->items, s->count, &s->capacity, sizeof item))
        return rg_robot_no_memory(s->robot);
    s->items[s->count++] = item;
    return RG_OK;
}

static rg_status list_model(rg_sdf *s, const rg_xml_node *model, size_t scope) {
    size_t index = s->count;
    rg_status status = add_item(s, model, scope);
    bool is_static = status == RG_OK && s->items[scope].is_static;
    if (status == RG_OK)
        status = rg_sdf_flag(s->robot, model, "static", &is_static);
    if (status != RG_OK)
        return status;
    s->items[index].is_static = is_static;
    for (const rg_xml_node *node = model->first; node && status == RG_OK; node = node->next) {
        if (strcmp(node->name, "model") == 0)
            status = list_model(s, node, index);
        else if (strcmp(node->name, "link") == 0 || strcmp(node->name, "joint") == 0 ||
                 strcmp(node->name, "frame") == 0)
            status = add_item(s, node, index);
    }
    return status;
}

/* Links of a model do not touch each other unless it says so. */
static rg_status group_links(rg_sdf *s, size_t model) {
    bool collides = false;
    size_t links = 0;
    rg_status status = rg_sdf_flag(s->robot, s->items[model].node, "self_collide", &collides);
    for (size_t i = model; i < s->count; i++)
        links += rg_sdf_is(s, i, "link");
    if (status != RG_OK || collides || links < 2 || s->items[model].is_static)
        return status;
    if (s->groups == GROUPS_MOST)
        return rg_robot_fail(s->robot, s->items[model].node, RG_LIMIT_EXCEEDED,
                             "more than %d models of links that do not touch each other "
                             "(self_collide)",
                             GROUPS_MOST);
    for (size_t i = model; i < s->count; i++)
        s->items[i].group = s->groups;
    s->groups++;
    return RG_OK;
}

static rg_status sort_items(rg_sdf *s) {
    s->sorted = rg_arena_take(&s->robot->arena, s->count, sizeof *s->sorted);
    if (!s->sorted)
        return rg_robot_no_memory(s->robot);
    for (size_t i = 0; i < s->count; i++)
        s->sorted[i] = &s->items[i];
    qsort(s->sorted, s->count, sizeof *s->sorted, by_name);
    for (size_t i = 1; i < s->count; i++)
        if (compare(s->sorted[i - 1], s->sorted[i]) == 0)
            return rg_robot_fail(s->robot, s->sorted[i]->node, RG_DUPLICATE_NAME,
                                 "\"%.100s\" is the name of something else here already",
                                 s->sorted[i]->name);
    return RG_OK;
}

rg_status rg_sdf_list(rg_sdf *s, const rg_xml_node *root) {
    const rg_xml_node *world = rg_xml_child(root, "world"), *from = world ? world : root;
    rg_sdf_item none = {.node = from,
                        .name = "world",
                        .scope = RG_SDF_NONE,
                        .placed = rg_pose_identity(),
                        .closed = true};
    rg_status status = RG_OK;
    if (!rg_arena_grow(&s->robot->arena, &s->items, 0, &s->capacity, sizeof none))
        return rg_robot_no_memory(s->robot);
    s->items[s->count++] = none;
    for (const rg_xml_node *node = from->first; node && status == RG_OK; node = node->next) {
        size_t index = s->count;
        if (strcmp(node->name, "model") == 0) {
            status = list_model(s, node, 0);
            if (status == RG_OK)
                status = group_links(s, index);
        } else if (strcmp(node->name, "frame") == 0) {
            status = add_item(s, node, 0);
        }
    }
    return status == RG_OK ? sort_items(s) : status;
}

/* ---- names ---- */

static size_t find_here(const rg_sdf *s, size_t scope, const char *name) {
    rg_sdf_item key = {.name = name, .scope = scope};
    const rg_sdf_item *at = &key,
                      **found = bsearch(&at, s->sorted, s->count, sizeof *s->sorted, by_name);
    return found ? (size_t)(*found - s->items) : RG_SDF_NONE;
}

size_t rg_sdf_find(const rg_sdf *s, size_t scope, const char *name) {
    char first[NAME_SIZE];
    if (strcmp(name, "world") == 0)
        return 0;
    if (strcmp(name, "__model__") == 0)
        return scope;
    for (;;) {
        size_t found = find_here(s, scope, name);
        const char *rest = found == RG_SDF_NONE ? strstr(name, "::") : NULL;
        if (!rest || rest - name >= NAME_SIZE)
            return found;
        memcpy(first, name, (size_t)(rest - name));
        first[rest - name] = 0;
        scope = find_here(s, scope, first);
        if (scope == RG_SDF_NONE)
            return RG_SDF_NONE;
        name = rest + 2;
    }
}

/* Whether another of its kind, in another model, has the same name. */
static bool is_shared(const rg_sdf *s, const rg_sdf_item *item) {
    const rg_sdf_item **at = bsearch(&item, s->sorted, s->count, sizeof *s->sorted, by_name),
                      **end = s->sorted + s->count;
    for (int step = -1; step < 2; step += 2)
        for (const rg_sdf_item **p = at + step;
             p >= s->sorted && p < end && strcmp((*p)->name, item->name) == 0; p += step)
            if (strcmp((*p)->node->name, item->node->name) == 0)
                return true;
    return false;
}

rg_status rg_sdf_name(rg_sdf *s, size_t index, const char **name) {
    const rg_sdf_item *item = &s->items[index];
    char made[NAME_SIZE];
    size_t start = sizeof made - 1, length = strlen(item->name);
    *name = item->name;
    if (!is_shared(s, item))
        return RG_OK;
    made[start] = 0;
    for (size_t i = index; i != 0; i = s->items[i].scope) { /* from its end */
        length = strlen(s->items[i].name);
        size_t between = i == index ? 0 : 2;
        if (length + between > start)
            return rg_robot_fail(s->robot, item->node, RG_LIMIT_EXCEEDED,
                                 "a name with its models of more than %d characters",
                                 NAME_SIZE - 1);
        start -= between;
        memcpy(made + start, "::", between);
        start -= length;
        memcpy(made + start, s->items[i].name, length);
    }
    *name = rg_robot_copy(s->robot, made + start, sizeof made - 1 - start);
    return *name ? RG_OK : rg_robot_no_memory(s->robot);
}

/* ---- poses ---- */

static rg_status read_pose(rg_robot *robot, const rg_xml_node *node, rg_pose *pose) {
    const char *format = node ? rg_xml_get(node, "rotation_format") : NULL;
    bool quaternion = format && strcmp(format, "quat_xyzw") == 0, degrees = false;
    double v[7] = {0};
    size_t count = 0;
    *pose = rg_pose_identity();
    rg_status status = node ? rg_sdf_flag(robot, node, "degrees", &degrees) : RG_OK;
    if (status != RG_OK || !node || !node->text)
        return status;
    if (format && !quaternion && strcmp(format, "euler_rpy") != 0)
        return rg_robot_fail(robot, node, RG_WRONG_TYPE,
                             "rotation_format is euler_rpy or quat_xyzw");
    status = rg_robot_numbers(robot, node, "pose", node->text, 7, v, &count);
    if (status == RG_OK && count != (quaternion ? 7 : 6))
        status = rg_robot_fail(robot, node, RG_WRONG_TYPE, "needs %d numbers, not %zu",
                               quaternion ? 7 : 6, count);
    double unit = degrees ? RG_PI / 180 : 1;
    rg_quat q = rg_quat_make(v[3], v[4], v[5], v[6]);
    if (status == RG_OK && quaternion && !(rg_quat_norm_squared(q) > 0))
        return rg_robot_fail(robot, node, RG_INVALID_ARGUMENT, "a rotation of no length");
    pose->position = (rg_vec3){v[0], v[1], v[2]};
    pose->orientation = quaternion
                            ? rg_quat_made_unit(q)
                            : rg_robot_roll_pitch_yaw(rg_scale(unit, (rg_vec3){v[3], v[4], v[5]}));
    return status;
}

/* What a pose, or else its owner, is relative to, if it says so. */
static rg_status find_base(rg_sdf *s, size_t scope, const rg_xml_node *node, const char *attribute,
                           size_t *base) {
    const char *name = node ? rg_xml_get(node, attribute) : NULL;
    if (!name || !name[0])
        return RG_OK;
    *base = rg_sdf_find(s, scope, name);
    return *base == RG_SDF_NONE
               ? rg_robot_fail(s->robot, node, RG_NOT_FOUND, "there is no frame \"%.100s\"", name)
               : RG_OK;
}

/* It was called `frame` once. */
static rg_status find_pose_base(rg_sdf *s, size_t scope, const rg_xml_node *pose, size_t *base) {
    rg_status status = find_base(s, scope, pose, "frame", base);
    return status == RG_OK ? find_base(s, scope, pose, "relative_to", base) : status;
}

rg_status rg_sdf_place(rg_sdf *s, size_t index, int depth) {
    rg_sdf_item *item = &s->items[index];
    const rg_xml_node *pose = rg_xml_child(item->node, "pose");
    if (item->closed)
        return RG_OK;
    if (item->opened || depth > FRAMES_DEEP)
        return rg_robot_fail(s->robot, item->node, RG_LIMIT_EXCEEDED,
                             "frames that are relative to each other in a circle, or in more "
                             "than %d steps",
                             FRAMES_DEEP);
    item->opened = true;
    rg_status status = read_pose(s->robot, pose, &item->own);
    if (status == RG_OK)
        status = find_base(s, item->scope, item->node, "attached_to", &item->base);
    if (status == RG_OK)
        status = find_pose_base(s, item->scope, pose, &item->base);
    if (status == RG_OK)
        status = rg_sdf_place(s, item->base, depth + 1);
    if (status != RG_OK)
        return status;
    item->placed = item->base ? rg_pose_compose(s->items[item->base].placed, item->own) : item->own;
    item->placed.orientation = rg_quat_made_unit(item->placed.orientation);
    item->closed = true;
    return RG_OK;
}

rg_status rg_sdf_pose_in(rg_sdf *s, size_t link, const rg_xml_node *of, rg_pose *pose) {
    const rg_xml_node *node = rg_xml_child(of, "pose");
    size_t base = link;
    rg_status status = read_pose(s->robot, node, pose);
    if (status == RG_OK)
        status = find_pose_base(s, s->items[link].scope, node, &base);
    if (status == RG_OK)
        status = rg_sdf_place(s, base, 0);
    if (status == RG_OK && base != link)
        *pose = rg_pose_compose(rg_pose_inverse(s->items[link].placed),
                                rg_pose_compose(s->items[base].placed, *pose));
    return status;
}
