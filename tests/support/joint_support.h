/* Joints between small bodies, and chains, for tests. */
#ifndef RIGOR_JOINT_SUPPORT_H
#define RIGOR_JOINT_SUPPORT_H

#include "test_world_support.h"

static const rg_body_id the_world = {0, 0};
static const rg_vec3 x_axis = {1, 0, 0}, y_axis = {0, 1, 0}, z_axis = {0, 0, 1};

static inline rg_joint_def between(rg_joint_kind kind, rg_body_id a, rg_body_id b) {
    rg_joint_def def = rg_joint_def_default(kind);
    def.body_a = a, def.body_b = b;
    return def;
}

static inline rg_joint_id join(rg_world *world, rg_joint_def def, rg_vec3 point, rg_vec3 axis) {
    rg_joint_id joint;
    rg_error error;
    assert_int_equal(rg_joint_def_place(world, &def, point, axis), RG_OK);
    if (rg_world_add_joint(world, &def, &joint, &error))
        fail_msg("%s", error.text);
    return joint;
}

/* A box of mass 1000 size^3, without contacts. */
static inline rg_body_id ghost(rg_world *world, rg_vec3 size, rg_vec3 position) {
    return add_masked_box(world, NULL, size, position, 0);
}

typedef struct chain {
    rg_world *world;
    double energy, swing; /* J: at the beginning, and over that of hanging straight down */
} chain;

/* Links of 0.5 m on balls from the origin of a world, straight at an angle from the vertical, with
 * a bob `bob` times as heavy as a link at the end. */
static inline chain chain_in(rg_world *world, int links, double bob, double angle) {
    chain c = {.world = world};
    rg_vec3 along = {sin(angle), 0, -cos(angle)};
    rg_body_id last = the_world;
    double lowest = 0;
    for (int i = 0; i <= links; i++) {
        rg_body_def body = rg_body_def_default();
        rg_collider_def collider = rg_collider_def_default();
        double at = 0.5 * i + 0.25, edge = i < links ? 0.1 : 0.5;
        body.pose.position = rg_scale(at, along);
        body.pose.orientation = rg_quat_make(0, -sin(angle / 2), 0, cos(angle / 2));
        collider.density = i < links ? 1000 : 1000 * bob / 25;
        collider.mask = 0;
        rg_body_id link = add_collider(world, rg_shape_def_box(edge, edge, 0.5), collider, &body);
        join(world, between(RG_JOINT_BALL, last, link), rg_scale(0.5 * i, along), y_axis);
        lowest -= rg_body_mass(world, link).mass * rg_length(rg_world_gravity(world)) * at;
        last = link;
    }
    c.energy = rg_world_energy(world);
    c.swing = c.energy - lowest;
    return c;
}

#endif
