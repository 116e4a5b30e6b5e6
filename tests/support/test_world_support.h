/* Small worlds for tests. */
#ifndef RIGOR_TEST_WORLD_SUPPORT_H
#define RIGOR_TEST_WORLD_SUPPORT_H

#include "test_support.h"

#include "base/base_math.h"
#include "rigor/rigor.h"

static inline rg_world *world_of(const rg_world_def *def) {
    rg_world *world;
    rg_error error;
    if (rg_world_create(def, &world, &error))
        fail_msg("%s", error.text);
    return world;
}

static inline rg_world *default_world(void) {
    rg_world_def def = rg_world_def_default();
    return world_of(&def);
}

static inline rg_shape *shape_of(rg_shape_def def) {
    rg_shape *shape;
    rg_error error;
    if (rg_shape_create(&def, NULL, &shape, &error))
        fail_msg("%s", error.text);
    return shape;
}

static inline rg_body_id body_of(rg_world *world, const rg_body_def *def) {
    rg_body_id body;
    rg_error error;
    if (rg_world_add_body(world, def, &body, &error))
        fail_msg("%s", error.text);
    return body;
}

/* A body of one collider: `body_def` with a collider of this kind, of the shape of `shape_def`. */
static inline rg_body_id add_collider(rg_world *world, rg_shape_def shape_def,
                                      rg_collider_def collider, const rg_body_def *body_def) {
    rg_body_def def = *body_def;
    collider.shape = shape_of(shape_def);
    def.colliders = &collider;
    def.collider_count = 1;
    rg_body_id body = body_of(world, &def);
    rg_shape_release(collider.shape);
    return body;
}

static inline rg_body_id add_shape(rg_world *world, rg_shape_def shape_def,
                                   const rg_body_def *body_def) {
    return add_collider(world, shape_def, rg_collider_def_default(), body_def);
}

/* A box of density 1000 that meets what `mask` says. */
static inline rg_body_id add_masked_box(rg_world *world, const char *name, rg_vec3 size,
                                        rg_vec3 position, uint64_t mask) {
    rg_collider_def collider = rg_collider_def_default();
    collider.mask = mask;
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = position;
    return add_collider(world, rg_shape_def_box(size.x, size.y, size.z), collider, &def);
}

static inline rg_body_id add_box(rg_world *world, const char *name, rg_vec3 size,
                                 rg_vec3 position) {
    return add_masked_box(world, name, size, position, UINT64_MAX);
}

static inline rg_step_info step_once(rg_world *world, double step) {
    rg_step_info info;
    rg_error error;
    if (rg_world_step(world, step, &info, &error))
        fail_msg("%s", error.text);
    return info;
}

/* The state of one world in another that has the same content; the first one is gone. */
static inline rg_world *carry_over(rg_world *from, rg_world *to) {
    size_t size;
    assert_int_equal(rg_world_save_state(from, NULL, 0, &size), RG_OK);
    void *bytes = malloc(size);
    assert_int_equal(rg_world_save_state(from, bytes, size, &size), RG_OK);
    assert_int_equal(rg_world_load_state(to, bytes, size, NULL), RG_OK);
    free(bytes);
    rg_world_destroy(from);
    return to;
}

/* A copy instead of the world. */
static inline rg_world *replace_by_clone(rg_world *world) {
    rg_world *clone;
    assert_int_equal(rg_world_clone(world, &clone), RG_OK);
    rg_world_destroy(world);
    return clone;
}

static inline void step_world(rg_world *world, double step, int count) {
    rg_error error;
    for (int i = 0; i < count; i++)
        if (rg_world_step(world, step, NULL, &error))
            fail_msg("%s", error.text);
}

static inline void assert_vector(rg_vec3 a, rg_vec3 b, double tolerance) {
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

/* Bodies of several kinds that turn, fly, swing and are driven, through each other: something of
 * everything but contact. */
static inline void fill_mixed_world(rg_world *world, int count) {
    rg_random random = rg_random_make(11);
    for (int i = 0; i < count; i++) {
        rg_vec3 size = {rg_random_between(&random, 0.2, 1), rg_random_between(&random, 0.2, 1),
                        rg_random_between(&random, 0.2, 1)};
        rg_body_id body =
            add_masked_box(world, NULL, size, rg_scale(5, rg_random_direction(&random)), 0);
        rg_pose pose = rg_body_pose(world, body);
        pose.orientation = rg_random_rotation(&random);
        rg_body_set_pose(world, body, pose);
        rg_body_set_velocity(world, body, rg_scale(3, rg_random_direction(&random)));
        rg_body_set_angular_velocity(world, body, rg_scale(4, rg_random_direction(&random)));
    }
    rg_body_def def = rg_body_def_default();
    def.name = "shaker";
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription.kind = RG_PRESCRIBED_OSCILLATION;
    def.prescription.amplitude = (rg_vec3){0, 0.3, 0};
    def.prescription.frequency = 2;
    rg_body_id shaker = add_shape(world, rg_shape_def_sphere(0.5), &def);
    rg_force_def spring = rg_force_def_default(RG_FORCE_SPRING),
                 drag = rg_force_def_default(RG_FORCE_DRAG);
    spring.body = rg_world_body_at(world, 0);
    spring.other = shaker;
    spring.point = (rg_vec3){0.1, 0.1, 0.1};
    spring.stiffness = 500;
    spring.damping = 3;
    spring.rest_length = 1;
    drag.linear = 0.5;
    drag.angular = 0.1;
    rg_force_id force;
    assert_int_equal(rg_world_add_force(world, &spring, &force, NULL), RG_OK);
    assert_int_equal(rg_world_add_force(world, &drag, &force, NULL), RG_OK);
}

#endif
