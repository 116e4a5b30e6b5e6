/* A world in other units: lengths times L, masses times M, times as they are. Made anew from its
 * defs, so that making shapes and bodies is scaled, too. */
#ifndef RIGOR_SCALED_WORLD_H
#define RIGOR_SCALED_WORLD_H

#include "test_support.h"

#include "base/base_math.h"
#include "rigor/world.h"
#include "shape/shape.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>

typedef struct world_units {
    double length, mass; /* L, M: powers of two, of four for lengths */
} world_units;

/* Shapes that several colliders share stay shared. */
typedef struct scaled_shapes {
    world_units units;
    const rg_shape **of;
    rg_shape **is;
    size_t count, capacity;
} scaled_shapes;

static inline void scaled_expect(rg_status status, const rg_error *error) {
    if (status != RG_OK)
        fail_msg("%s", error->text);
}

static inline double power_of_length(world_units u, int power) {
    double value = 1;
    for (int i = 0; i < power; i++)
        value *= u.length;
    return value;
}

static inline rg_mass_properties scaled_mass(rg_mass_properties mass, double factor,
                                             world_units u) {
    mass.mass *= factor;
    mass.centre = rg_scale(u.length, mass.centre);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            mass.inertia.m[i][k] *= factor * u.length * u.length;
    return mass;
}

static inline rg_pose scaled_pose(rg_pose pose, world_units u) {
    pose.position = rg_scale(u.length, pose.position);
    return pose;
}

static inline rg_shape *scaled_shape(scaled_shapes *shapes, const rg_shape *shape);

static inline rg_shape *scaled_shape_make(scaled_shapes *shapes, const rg_shape *shape) {
    world_units u = shapes->units;
    rg_shape_def def = rg_shape_get_def(shape);
    rg_vec3 *points = calloc(def.point_count + 1, sizeof *points);
    rg_compound_part *parts = calloc(def.part_count + 1, sizeof *parts);
    def.offset *= u.length;
    def.size = rg_scale(u.length, def.size);
    def.radius *= u.length;
    def.length *= u.length;
    def.thickness *= u.length;
    for (size_t i = 0; i < def.point_count; i++)
        points[i] = rg_scale(u.length, def.points[i]);
    for (size_t i = 0; i < def.part_count; i++) {
        parts[i] = def.parts[i];
        parts[i].shape = scaled_shape(shapes, parts[i].shape);
        parts[i].pose = scaled_pose(parts[i].pose, u);
    }
    def.points = points;
    def.parts = parts;
    rg_shape *made;
    rg_error error = {0};
    scaled_expect(rg_shape_create(&def, NULL, &made, &error), &error);
    /* A solid that was cut into parts has the mass of the solid. */
    if (def.kind == RG_SHAPE_COMPOUND)
        rg_compound_set_mass(
            made, scaled_mass(shape->unit, power_of_length(u, shape->planar ? 2 : 3), u));
    free(points);
    free(parts);
    return made;
}

/* Stays that of the list. */
static inline rg_shape *scaled_shape(scaled_shapes *shapes, const rg_shape *shape) {
    for (size_t i = 0; i < shapes->count; i++)
        if (shapes->of[i] == shape)
            return shapes->is[i];
    rg_shape *made = scaled_shape_make(shapes, shape);
    if (shapes->count == shapes->capacity) {
        shapes->capacity = 2 * shapes->capacity + 16;
        shapes->of = realloc(shapes->of, shapes->capacity * sizeof *shapes->of);
        shapes->is = realloc(shapes->is, shapes->capacity * sizeof *shapes->is);
    }
    shapes->of[shapes->count] = shape;
    shapes->is[shapes->count++] = made;
    return made;
}

/* ---- functions of time ---- */

enum { SCALED_TEXTS = 32, SCALED_TEXT_SIZE = 20000 };
typedef struct scaled_texts {
    char *text[SCALED_TEXTS];
    size_t count;
} scaled_texts;

static inline void scale_texts(scaled_texts *texts, const char **of_time, size_t count,
                               double factor) {
    for (size_t i = 0; i < count; i++) {
        if (!of_time[i])
            continue;
        assert_true(texts->count < SCALED_TEXTS);
        char *text = malloc(SCALED_TEXT_SIZE);
        int size = snprintf(text, SCALED_TEXT_SIZE, "%.17g*(%s)", factor, of_time[i]);
        assert_true(size < SCALED_TEXT_SIZE);
        texts->text[texts->count++] = text;
        of_time[i] = text;
    }
}

static inline void free_texts(scaled_texts *texts) {
    for (size_t i = 0; i < texts->count; i++)
        free(texts->text[i]);
}

/* ---- materials, forces, joints ---- */

static inline rg_contact_law scaled_law(rg_contact_law law, world_units u) {
    law.stiffness *= u.mass;
    law.rolling_friction *= u.length;
    law.torsional_friction *= u.length;
    return law;
}

static inline void scale_materials(const rg_world *from, rg_world *to, world_units u) {
    rg_error error = {0};
    for (size_t i = 0; i < rg_world_material_count(from); i++) {
        rg_material_id id = {(uint32_t)i + 1};
        rg_contact_law law = scaled_law(rg_world_material_law(from, id), u);
        if (i)
            scaled_expect(
                rg_world_add_material(to, rg_world_material_name(from, id), &law, &id, &error),
                &error);
        else
            scaled_expect(rg_world_set_material_law(to, id, &law, &error), &error);
    }
    for (size_t i = 0; i < rg_world_pair_count(from); i++) {
        rg_material_id a, b;
        rg_contact_law law;
        rg_world_pair_at(from, i, &a, &b, &law);
        law = scaled_law(law, u);
        scaled_expect(rg_world_set_pair_law(to, a, b, &law, &error), &error);
    }
}

static inline void scale_force(rg_force_def *def, scaled_texts *texts, world_units u) {
    double force = u.mass * u.length, torque = force * u.length;
    def->point = rg_scale(u.length, def->point);
    def->other_point = rg_scale(u.length, def->other_point);
    def->force = rg_scale(force, def->force);
    def->torque = rg_scale(torque, def->torque);
    def->stiffness *= u.mass;
    def->damping *= u.mass;
    def->rest_length *= u.length;
    def->linear *= u.mass;
    def->quadratic *= u.mass / u.length;
    def->angular *= torque;
    def->acceleration = rg_scale(u.length, def->acceleration);
    def->centre = rg_scale(u.length, def->centre);
    def->strength *= power_of_length(u, 3);
    scale_texts(texts, def->of_time + RG_OF_TIME_FORCE, 3, force);
    scale_texts(texts, def->of_time + RG_OF_TIME_TORQUE, 3, torque);
    scale_texts(texts, def->of_time + RG_OF_TIME_ACCELERATION, 3, u.length);
}

/* Coordinates of a turn are angles, its forces torques, its masses moments of inertia. */
static inline void scale_axis(rg_joint_axis *axis, bool turns, scaled_texts *texts, world_units u) {
    double length = turns ? 1 : u.length;
    double mass = turns ? u.mass * u.length * u.length : u.mass;
    axis->lower *= length;
    axis->upper *= length;
    axis->rest *= length;
    axis->target *= length;
    axis->stiffness *= mass;
    axis->damping *= mass;
    axis->armature *= mass;
    axis->gain *= mass;
    axis->gain_velocity *= mass;
    axis->friction *= mass * length;
    axis->max_force *= mass * length;
    scale_texts(texts, &axis->target_of_time, 1, length);
}

/* The length of a tendon is taken to be in metres. */
static inline void scale_joint(const rg_world *from, rg_joint_def *def, scaled_texts *texts,
                               world_units u) {
    def->frame_a = scaled_pose(def->frame_a, u);
    def->frame_b = scaled_pose(def->frame_b, u);
    def->surface.square = rg_scale(1 / (u.length * u.length), def->surface.square);
    def->surface.linear = rg_scale(1 / u.length, def->surface.linear);
    def->break_force *= u.mass * u.length;
    def->break_torque *= u.mass * u.length * u.length;
    if (def->kind == RG_JOINT_RACK)
        def->ratio *= u.length;
    for (size_t i = 0; i < def->part_count; i++)
        if (rg_joint_axis_is_angle(rg_joint_get_def(from, def->part[i].joint).kind,
                                   def->part[i].axis))
            def->part[i].coefficient *= u.length;
    for (size_t i = 0; i < rg_joint_axis_count(def->kind); i++)
        scale_axis(&def->axis[i], rg_joint_axis_is_angle(def->kind, i), texts, u);
}

/* Handles are those of the world itself as long as nothing was removed from it. */
static inline void scale_forces_and_joints(const rg_world *from, rg_world *to, world_units u) {
    rg_error error = {0};
    for (size_t i = 0; i < rg_world_force_count(from); i++) {
        scaled_texts texts = {.count = 0};
        rg_force_def def = rg_force_get_def(from, rg_world_force_at(from, i));
        rg_force_id id;
        assert_int_not_equal(def.kind, RG_FORCE_FUNCTION);
        scale_force(&def, &texts, u);
        scaled_expect(rg_world_add_force(to, &def, &id, &error), &error);
        free_texts(&texts);
    }
    for (size_t i = 0; i < rg_world_joint_count(from); i++) {
        scaled_texts texts = {.count = 0};
        rg_joint_def def = rg_joint_get_def(from, rg_world_joint_at(from, i));
        rg_joint_id id;
        scale_joint(from, &def, &texts, u);
        scaled_expect(rg_world_add_joint(to, &def, &id, &error), &error);
        free_texts(&texts);
    }
}

/* ---- bodies ---- */

static inline void scale_prescription(const rg_world *from, rg_body_id body, rg_body_def *def,
                                      scaled_texts *texts, world_units u) {
    double time;
    rg_prescribed_state start = rg_body_prescription_start(from, body, &time);
    assert_int_not_equal(def->prescription.kind, RG_PRESCRIBED_FUNCTION);
    def->pose = scaled_pose(start.pose, u);
    def->angle = rg_body_prescription_start_angle(from, body);
    if (def->prescription.kind == RG_PRESCRIBED_VELOCITY) {
        def->velocity = rg_scale(u.length, start.velocity);
        def->angular_velocity = start.angular_velocity;
    }
    def->prescription.amplitude = rg_scale(u.length, def->prescription.amplitude);
    scale_texts(texts, def->prescription.of_time, 3, u.length);
}

static inline void scale_body(const rg_world *from, rg_world *to, size_t index,
                              scaled_shapes *shapes, world_units u) {
    rg_body_id body = rg_world_body_at(from, index);
    const rg_body_record *record = &from->content.record[index];
    double density = u.mass / power_of_length(u, rg_world_is_planar(from) ? 2 : 3);
    scaled_texts texts = {.count = 0};
    rg_body_def def = rg_body_def_default();
    def.name = record->name;
    def.motion = rg_body_motion(from, body);
    def.pose = scaled_pose(rg_body_pose(from, body), u);
    def.angle = rg_body_angle(from, body);
    if (def.motion == RG_MOTION_DYNAMIC) {
        def.velocity = rg_scale(u.length, rg_body_velocity(from, body));
        def.angular_velocity = rg_body_angular_velocity(from, body);
    }
    def.gravity_scale = rg_body_gravity_scale(from, body);
    def.total_mass = u.mass * record->total_mass;
    def.has_mass = record->mass_is_given;
    if (def.has_mass)
        def.mass = scaled_mass(record->mass, u.mass, u);
    if (def.motion == RG_MOTION_KINEMATIC) {
        def.prescription = rg_body_prescription(from, body);
        scale_prescription(from, body, &def, &texts, u);
    }
    def.collider_count = rg_body_collider_count(from, body);
    rg_collider_def *colliders = calloc(def.collider_count + 1, sizeof *colliders);
    for (size_t i = 0; i < def.collider_count; i++) {
        colliders[i] = rg_collider_get_def(from, rg_body_collider_at(from, body, i));
        colliders[i].shape = scaled_shape(shapes, colliders[i].shape);
        colliders[i].pose = scaled_pose(colliders[i].pose, u);
        colliders[i].density *= density;
        colliders[i].surface_velocity = rg_scale(u.length, colliders[i].surface_velocity);
    }
    def.colliders = colliders;
    rg_body_id made;
    rg_error error = {0};
    scaled_expect(rg_world_add_body(to, &def, &made, &error), &error);
    free(colliders);
    free_texts(&texts);
}

static inline rg_world *scaled_world(const rg_world *from, world_units u) {
    rg_world_def def = rg_world_def_default();
    def.planar = rg_world_is_planar(from);
    def.gravity = rg_scale(u.length, rg_world_gravity(from));
    def.method = rg_world_method(from);
    def.settings = rg_world_settings(from);
    def.settings.penalty.stiffness *= u.mass;
    def.settings.penalty.depth *= u.length;
    def.settings.penalty.slip *= u.length;
    def.seed = rg_world_seed(from);
    def.certify = from->certify;
    def.collision = rg_world_collision_def(from);
    def.collision.touch *= u.length;
    def.collision.contacts.near *= u.length;
    def.collision.contacts.band *= u.length;
    def.collision.contacts.stick *= u.length;
    def.collision.contacts.inner *= u.length;
    rg_world *to;
    rg_error error = {0};
    scaled_shapes shapes = {.units = u};
    scaled_expect(rg_world_create(&def, &to, &error), &error);
    scale_materials(from, to, u);
    for (size_t i = 0; i < rg_world_body_count(from); i++)
        scale_body(from, to, i, &shapes, u);
    scale_forces_and_joints(from, to, u);
    for (size_t i = 0; i < shapes.count; i++)
        rg_shape_release(shapes.is[i]);
    free(shapes.of);
    free(shapes.is);
    return to;
}

#endif
