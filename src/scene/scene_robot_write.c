/* Scenes as robot descriptions: the tree of bodies, and what the formats share.
 *
 * The tree grows from the fixed bodies and the world in passes along the list of joints. A pass
 * goes on from bodies that it has reached itself, so that a body hangs by the joint that led to it
 * first in the order of the list, which need not be the shortest way; a part of the mechanism that
 * nothing holds begins with its first body, which is free. Joints that are left over close loops,
 * or are of kinds that join no tree. Tested by tests/scene/test_robot_write.c. */
#include "scene/scene_robot_write.h"

#include "base/base_math.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name; /* for messages */
    void (*write)(rg_robot_writer *w);
} formats[] = {[RG_ROBOT_MJCF] = {"MJCF", rg_robot_write_mjcf},
               [RG_ROBOT_URDF] = {"URDF", rg_robot_write_urdf},
               [RG_ROBOT_SDF] = {"SDF", rg_robot_write_sdf}};

/* ---- what cannot be held ---- */

void rg_robot_cannot(rg_robot_writer *w, const char *format, ...) {
    char text[RG_ERROR_TEXT_SIZE / 2];
    va_list arguments;
    if (w->status != RG_OK)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (w->lenient && rg_scene_leave_out(w->scene, text) != RG_OK)
        w->status = rg_fail(w->error, RG_OUT_OF_MEMORY, "no memory for a robot description");
    else if (!w->lenient)
        w->status = rg_fail(w->error, RG_UNSUPPORTED,
                            "%s: %s cannot hold it; --lenient leaves "
                            "it out",
                            text, formats[w->format].name);
}

/* ---- words and numbers ---- */

void rg_robot_put(rg_robot_writer *w, const char *text) {
    rg_buffer_append(&w->out, text, strlen(text));
}

void rg_robot_put_numbers(rg_robot_writer *w, const char *name, const double *values,
                          size_t count) {
    char text[RG_NUMBER_SIZE];
    rg_buffer_print(&w->out, " %s=\"", name);
    for (size_t i = 0; i < count; i++)
        rg_buffer_print(&w->out, "%s%s", i ? " " : "", rg_format_double(values[i], text));
    rg_robot_put(w, "\"");
}

void rg_robot_put_vector(rg_robot_writer *w, const char *name, rg_vec3 v) {
    rg_robot_put_numbers(w, name, (double[]){v.x, v.y, v.z}, 3);
}

void rg_robot_put_escaped(rg_robot_writer *w, const char *text) {
    for (const char *c = text; *c; c++)
        if (*c == '<' || *c == '&' || *c == '"' || (unsigned char)*c < 0x20)
            rg_buffer_print(&w->out, "&#%d;", *c);
        else
            rg_buffer_append(&w->out, c, 1);
}

void rg_robot_put_text(rg_robot_writer *w, const char *name, const char *text) {
    rg_buffer_print(&w->out, " %s=\"", name);
    rg_robot_put_escaped(w, text);
    rg_robot_put(w, "\"");
}

const char *rg_robot_body_word(const rg_robot_writer *w, rg_body_id body, char text[64]) {
    const char *name = body.index1 ? rg_body_name(w->world, body) : "world";
    if (name[0])
        return name;
    snprintf(text, 64, "body%zu", rg_body_index(w->world, body));
    return text;
}

const char *rg_robot_joint_word(const rg_robot_writer *w, rg_joint_id joint, char text[64]) {
    rg_joint_def def = rg_joint_get_def(w->world, joint);
    if (def.name && def.name[0])
        return def.name;
    size_t index = 0;
    while (rg_world_joint_at(w->world, index).index1 != joint.index1)
        index++;
    snprintf(text, 64, "joint%zu", index);
    return text;
}

void rg_robot_put_body(rg_robot_writer *w, const char *name, rg_body_id body) {
    char text[64];
    rg_robot_put_text(w, name, rg_robot_body_word(w, body, text));
}

void rg_robot_put_joint(rg_robot_writer *w, const char *name, rg_joint_id joint, size_t axis) {
    char text[64], numbered[320];
    const char *word = rg_robot_joint_word(w, joint, text);
    snprintf(numbered, sizeof numbered, axis ? "%.300s:%zu" : "%.300s", word, axis);
    rg_robot_put_text(w, name, numbered);
}

/* ---- bodies, shapes, materials, axes ---- */

double rg_robot_friction(rg_robot_writer *w, rg_material_id material) {
    rg_contact_law law = rg_world_pair_law(w->world, material, material);
    if (law.rolling_friction != 0 || law.torsional_friction != 0)
        rg_robot_cannot(w, "material %s: friction against rolling or spinning",
                        rg_world_material_name(w->world, material));
    if (law.restitution != 0 || law.static_friction != law.friction)
        rg_robot_cannot(w, "material %s: restitution, or another friction at rest",
                        rg_world_material_name(w->world, material));
    return law.friction;
}

/* The default material is 0 and 1. */
static bool is_used(const rg_robot_writer *w, rg_material_id material) {
    for (size_t i = 0; i < rg_world_body_count(w->world); i++) {
        rg_body_id body = rg_world_body_at(w->world, i);
        for (size_t k = 0; k < rg_body_collider_count(w->world, body); k++) {
            rg_collider_id collider = rg_body_collider_at(w->world, body, k);
            rg_material_id other = rg_collider_get_def(w->world, collider).material;
            if ((other.index1 ? other.index1 : 1) == material.index1)
                return true;
        }
    }
    return false;
}

/* All formats know one number per surface, of which a pair has the larger, in SDF the smaller. */
static void check_pairs(rg_robot_writer *w) {
    size_t count = rg_world_material_count(w->world);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            rg_material_id a = {(uint32_t)i + 1}, b = {(uint32_t)k + 1};
            double own = rg_world_pair_law(w->world, a, a).friction,
                   other = rg_world_pair_law(w->world, b, b).friction;
            bool least = w->format == RG_ROBOT_SDF;
            double held = least ? fmin(own, other) : fmax(own, other);
            rg_contact_law pair = rg_world_pair_law(w->world, a, b);
            bool other_law =
                pair.friction != held || pair.rolling_friction != 0 || pair.torsional_friction != 0;
            if (other_law && is_used(w, a) && is_used(w, b))
                rg_robot_cannot(
                    w, "materials %s and %s: a friction of their pair other than the %s one",
                    rg_world_material_name(w->world, a), rg_world_material_name(w->world, b),
                    least ? "smaller" : "larger");
        }
}

void rg_robot_check_axis(rg_robot_writer *w, rg_joint_id joint, size_t axis) {
    rg_joint_def def = rg_joint_get_def(w->world, joint);
    const rg_joint_axis *a = &def.axis[axis];
    char text[64];
    const char *name = rg_robot_joint_word(w, joint, text);
    if (a->restitution != 0)
        rg_robot_cannot(w, "joint %s: restitution at its limits", name);
    if (isfinite(a->lower) != isfinite(a->upper) && w->format != RG_ROBOT_SDF)
        rg_robot_cannot(w, "joint %s: one limit without the other", name);
    if (a->motor != RG_MOTOR_NONE && a->target_of_time)
        rg_robot_cannot(w, "joint %s: the target of its motor, which changes", name);
    if (a->motor == RG_MOTOR_VELOCITY && a->gain == 0)
        rg_robot_cannot(w, "joint %s: a motor that holds its velocity exactly", name);
}

static void each_part(rg_robot_writer *w, const rg_collider_def *c, rg_robot_shape_writer *write,
                      void *user) {
    rg_shape_def def = rg_shape_get_def(c->shape);
    if (def.kind != RG_SHAPE_COMPOUND)
        write(w, c, c->shape, c->pose, user);
    else
        for (size_t i = 0; i < def.part_count; i++)
            write(w, c, def.parts[i].shape, rg_pose_compose(c->pose, def.parts[i].pose), user);
}

void rg_robot_each_shape(rg_robot_writer *w, rg_body_id body, rg_robot_shape_writer *write,
                         void *user) {
    char text[64];
    for (size_t i = 0; i < rg_body_collider_count(w->world, body); i++) {
        rg_collider_def c = rg_collider_get_def(w->world, rg_body_collider_at(w->world, body, i));
        if (c.sensor)
            rg_robot_cannot(w, "body %s: a sensor", rg_robot_body_word(w, body, text));
        else
            each_part(w, &c, write, user);
    }
}

static void check_body(rg_robot_writer *w, rg_body_id body) {
    char text[64];
    const char *name = rg_robot_body_word(w, body, text);
    rg_vec3 v = rg_body_velocity(w->world, body), spin = rg_body_angular_velocity(w->world, body);
    bool moves = rg_length(v) != 0 || rg_length(spin) != 0;
    if (rg_body_motion(w->world, body) == RG_MOTION_KINEMATIC)
        rg_robot_cannot(w, "body %s: a prescribed motion", name);
    else if (moves)
        rg_robot_cannot(w, "body %s: its velocity", name);
    double scale = rg_body_gravity_scale(w->world, body);
    if (scale != 1 && (scale != 0 || w->format != RG_ROBOT_SDF))
        rg_robot_cannot(w, "body %s: gravity of its own", name);
}

static bool meets_nothing(const rg_robot_writer *w, const rg_collider_def *c) {
    return (c->mask & w->categories) == 0 || (c->category & w->masks) == 0;
}

/* What there is in filters: first of all colliders, then of those that meet any. */
static void gather_filters(rg_robot_writer *w) {
    w->common = UINT64_MAX;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < rg_world_body_count(w->world); i++) {
            rg_body_id body = rg_world_body_at(w->world, i);
            for (size_t k = 0; k < rg_body_collider_count(w->world, body); k++) {
                rg_collider_def c =
                    rg_collider_get_def(w->world, rg_body_collider_at(w->world, body, k));
                if (pass == 0) {
                    w->categories |= c.category;
                    w->masks |= c.mask;
                } else if (!meets_nothing(w, &c))
                    w->common &= c.mask;
            }
        }
}

bool rg_robot_touches_nothing(rg_robot_writer *w, const rg_collider_def *c) {
    if (meets_nothing(w, c))
        return true;
    if ((c->category & w->common) == 0)
        rg_robot_cannot(w, "a filter of contacts, category 0x%llx and mask 0x%llx",
                        (unsigned long long)c->category, (unsigned long long)c->mask);
    return false;
}

/* ---- the tree ---- */

static bool joins_tree(rg_joint_kind kind) {
    return kind <= RG_JOINT_FIXED;
}

static size_t find(const size_t *place, const rg_robot_writer *w, rg_body_id body) {
    return body.index1 ? place[rg_body_index(w->world, body)] : RG_NO_NODE;
}

static void add(rg_robot_writer *w, size_t *place, rg_robot_node node) {
    node.first = node.next = RG_NO_NODE;
    place[rg_body_index(w->world, node.body)] = w->count;
    w->nodes[w->count++] = node;
}

/* One pass along the joints; whether a body was reached. */
static bool reach(rg_robot_writer *w, size_t *place) {
    bool any = false;
    for (size_t i = 0; i < rg_world_joint_count(w->world); i++) {
        rg_joint_id joint = rg_world_joint_at(w->world, i);
        rg_joint_def def = rg_joint_get_def(w->world, joint);
        size_t a = find(place, w, def.body_a), b = find(place, w, def.body_b);
        bool has_a = !def.body_a.index1 || a != RG_NO_NODE,
             has_b = !def.body_b.index1 || b != RG_NO_NODE;
        if (w->used[i] || !joins_tree(def.kind) || has_a == has_b)
            continue;
        w->used[i] = any = true;
        add(w, place,
            (rg_robot_node){.body = has_a ? def.body_b : def.body_a,
                            .joint = joint,
                            .reversed = !has_a,
                            .parent = has_a ? a : b});
    }
    return any;
}

static void grow_tree(rg_robot_writer *w, size_t *place) {
    size_t count = rg_world_body_count(w->world), next = 0;
    for (size_t i = 0; i < count; i++)
        place[i] = RG_NO_NODE;
    for (size_t i = 0; i < count; i++) {
        rg_body_id body = rg_world_body_at(w->world, i);
        check_body(w, body);
        if (rg_body_motion(w->world, body) != RG_MOTION_DYNAMIC)
            add(w, place, (rg_robot_node){.body = body, .parent = RG_NO_NODE});
    }
    while (w->count < count) {
        while (reach(w, place))
            continue;
        while (next < count && place[next] != RG_NO_NODE)
            next++;
        if (next < count)
            add(w, place,
                (rg_robot_node){.body = rg_world_body_at(w->world, next), .parent = RG_NO_NODE});
    }
}

/* Children in the order of the list. */
static void link_children(rg_robot_writer *w) {
    w->first = RG_NO_NODE;
    for (size_t i = w->count; i-- > 0;) {
        size_t parent = w->nodes[i].parent;
        size_t *first = parent == RG_NO_NODE ? &w->first : &w->nodes[parent].first;
        w->nodes[i].next = *first;
        *first = i;
    }
}

static void check_world(rg_robot_writer *w) {
    char text[64];
    if (rg_world_is_planar(w->world))
        rg_robot_cannot(w, "a planar world");
    for (size_t i = 0; i < rg_world_force_count(w->world); i++)
        rg_robot_cannot(w, "force %zu", i);
    for (size_t i = 0; i < rg_world_joint_count(w->world); i++) {
        rg_joint_id joint = rg_world_joint_at(w->world, i);
        rg_joint_def def = rg_joint_get_def(w->world, joint);
        const char *name = rg_robot_joint_word(w, joint, text);
        bool tendon = def.kind == RG_JOINT_TENDON && w->format == RG_ROBOT_MJCF;
        if (!w->used[i] && def.kind != RG_JOINT_DISTANCE && !tendon)
            rg_robot_cannot(w,
                            "joint %s (%s): it closes a loop, or is of a kind that joins no "
                            "tree",
                            name, rg_joint_kind_name(def.kind));
        if (isfinite(def.break_force) || isfinite(def.break_torque))
            rg_robot_cannot(w, "joint %s: the force that breaks it", name);
        if (w->used[i] && def.collide && def.body_a.index1 && def.body_b.index1)
            rg_robot_cannot(w, "joint %s: contact between the bodies that it holds", name);
    }
    check_pairs(w);
}

void rg_robot_refuse_distances(rg_robot_writer *w) {
    char text[64];
    for (size_t i = 0; i < rg_world_joint_count(w->world); i++) {
        rg_joint_id joint = rg_world_joint_at(w->world, i);
        if (!w->used[i] && rg_joint_get_def(w->world, joint).kind == RG_JOINT_DISTANCE)
            rg_robot_cannot(w, "joint %s (distance)", rg_robot_joint_word(w, joint, text));
    }
}

rg_status rg_scene_write_robot(rg_scene *scene, const rg_robot_options *options,
                               const rg_allocator *allocator, char **text, size_t *size,
                               rg_error *error) {
    rg_allocator memory = rg_allocator_or_default(allocator);
    size_t bodies = rg_world_body_count(scene->world), joints = rg_world_joint_count(scene->world);
    rg_robot_writer w = {.scene = scene,
                         .world = scene->world,
                         .format = options->format,
                         .lenient = options->lenient,
                         .error = error,
                         .out = rg_buffer_make(&memory)};
    w.nodes = rg_allocate(&memory, bodies + 1, sizeof *w.nodes);
    w.used = rg_allocate(&memory, joints + 1, sizeof *w.used);
    size_t *place = rg_allocate(&memory, bodies + 1, sizeof *place);
    *text = NULL;
    if (w.nodes && w.used && place) {
        memset(w.used, 0, joints + 1);
        gather_filters(&w);
        grow_tree(&w, place);
        link_children(&w);
        check_world(&w);
        formats[w.format].write(&w);
        rg_buffer_append(&w.out, "", 1);
    }
    if (w.status == RG_OK && (!w.nodes || !w.used || !place || w.out.failed))
        w.status = rg_fail(error, RG_OUT_OF_MEMORY, "no memory for a robot description");
    rg_release(&memory, w.nodes);
    rg_release(&memory, w.used);
    rg_release(&memory, place);
    if (w.status != RG_OK) {
        rg_buffer_free(&w.out);
        return w.status;
    }
    *text = w.out.data;
    *size = w.out.size - 1;
    return RG_OK;
}
