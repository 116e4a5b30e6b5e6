/* Changing bodies and colliders between steps: poses, velocities and both together, all or nothing,
 * in space and in the plane, for every kind of motion; pointers of the caller's; defs that were not
 * begun with their default. */
#include "test_support.h"

#include "base/base_math.h"
#include "rigor/version.h"
#include "rigor/world.h"
#include "world/world.h"

#include <string.h>

static void assert_vector(rg_vec3 a, rg_vec3 b, double tolerance) {
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

static rg_world *make_world(bool planar) {
    rg_world_def def = rg_world_def_default();
    rg_world *world;
    def.planar = planar;
    assert_int_equal(rg_world_create(&def, &world, NULL), RG_OK);
    return world;
}

static rg_body_id add_body(rg_world *world, const rg_body_def *wanted) {
    rg_error error;
    rg_shape_def shape_def =
        rg_world_is_planar(world) ? rg_shape_def_disc(0.5) : rg_shape_def_box(1, 2, 3);
    rg_shape *shape;
    assert_int_equal(rg_shape_create(&shape_def, NULL, &shape, NULL), RG_OK);
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    collider.pose.position.x = 0.25; /* the centre of mass is not the origin */
    rg_body_def def = *wanted;
    def.colliders = &collider;
    def.collider_count = 1;
    rg_body_id body;
    if (rg_world_add_body(world, &def, &body, &error) != RG_OK)
        fail_msg("%s", error.text);
    rg_shape_release(shape);
    return body;
}

static rg_body_id add_moving(rg_world *world, rg_motion motion, rg_prescription prescription) {
    rg_body_def def = rg_body_def_default();
    def.motion = motion;
    def.prescription = prescription;
    return add_body(world, &def);
}

/* What is set is read; momenta follow; the centre of mass goes along; and it is the same as pose
 * and velocities one after the other, bit for bit. */
static void state_of_dynamic_body(void **unused) {
    (void)unused;
    rg_world *world = make_world(false), *other = make_world(false);
    rg_body_id body = add_moving(world, RG_MOTION_DYNAMIC, (rg_prescription){0});
    rg_body_id twin = add_moving(other, RG_MOTION_DYNAMIC, (rg_prescription){0});
    rg_body_state state = {
        .pose = {{1, 2, 3}, rg_quat_of_axis_angle(rg_vec3_make(0, 0, 1), RG_PI / 2)},
        .velocity = {4, 5, 6},
        .angular_velocity = {0, 0, 2}};
    assert_int_equal(rg_body_set_state(world, body, &state), RG_OK);
    rg_body_state seen = rg_body_get_state(world, body);
    assert_memory_equal(&seen.pose, &state.pose, sizeof state.pose);
    assert_vector(seen.velocity, state.velocity, 0);
    assert_vector(seen.angular_velocity, state.angular_velocity, 0);
    /* Quarter turn: the centre of mass at x = 1/4 of the body is at y = 1/4 of its origin. */
    assert_vector(rg_body_centre_pose(world, body).position, rg_vec3_make(1, 2.25, 3), 1e-15);
    rg_mass_properties mass = rg_body_mass(world, body);
    assert_near(mass.mass, 6000, 1e-9);
    assert_vector(rg_body_momentum(world, body), rg_scale(6000, state.velocity), 1e-9);
    assert_near(rg_body_angular_momentum(world, body).z, 6000.0 / 12 * (1 + 4) * 2, 1e-9);
    assert_int_equal(rg_body_set_pose(other, twin, state.pose), RG_OK);
    assert_int_equal(rg_body_set_velocity(other, twin, state.velocity), RG_OK);
    assert_int_equal(rg_body_set_angular_velocity(other, twin, state.angular_velocity), RG_OK);
    assert_true(rg_world_state_hash(world) == rg_world_state_hash(other));
    rg_world_destroy(world);
    rg_world_destroy(other);
}

static void refuse(rg_world *world, rg_body_id body, const rg_body_state *state, rg_status status) {
    uint64_t before = rg_world_state_hash(world);
    assert_int_equal(rg_body_set_state(world, body, state), status);
    assert_true(rg_world_state_hash(world) == before);
}

/* A bad part of a state leaves all of it as it was. */
static void all_or_nothing(void **unused) {
    (void)unused;
    rg_world *world = make_world(false);
    rg_body_id body = add_moving(world, RG_MOTION_DYNAMIC, (rg_prescription){0});
    rg_body_state good = {.pose = rg_pose_make(rg_vec3_make(1, 0, 0), rg_quat_identity()),
                          .velocity = {1, 0, 0}};
    rg_body_state bad = good;
    bad.angular_velocity.y = NAN;
    refuse(world, body, &bad, RG_NOT_FINITE);
    bad = good;
    bad.pose.position.z = INFINITY;
    refuse(world, body, &bad, RG_NOT_FINITE);
    bad = good;
    bad.pose.orientation = (rg_quat){0, 0, 0, 0};
    refuse(world, body, &bad, RG_INVALID_ARGUMENT);
    bad = good;
    bad.velocity.x = 1e51;
    refuse(world, body, &bad, RG_LIMIT_EXCEEDED);
    refuse(world, (rg_body_id){77, 1}, &good, RG_INVALID_HANDLE);
    assert_int_equal(rg_body_set_state(world, body, &good), RG_OK);
    assert_int_equal(rg_body_set_angle(world, body, 1), RG_INVALID_ARGUMENT); /* in space */
    rg_world_destroy(world);
}

static void state_in_the_plane(void **unused) {
    (void)unused;
    rg_world *world = make_world(true);
    rg_body_id body = add_moving(world, RG_MOTION_DYNAMIC, (rg_prescription){0});
    /* The orientation is not read: {0} will do. */
    rg_body_state state = {.pose = {.position = {1, 0, 2}},
                           .angle = 5 * RG_PI / 2,
                           .velocity = {3, 0, 4},
                           .angular_velocity = {0, -7, 0}};
    assert_int_equal(rg_body_set_state(world, body, &state), RG_OK);
    assert_near(rg_body_angle(world, body), 5 * RG_PI / 2, 0); /* turns are counted */
    assert_near(rg_body_spin(world, body), 7, 0);
    assert_vector(rg_body_centre_pose(world, body).position, rg_vec3_make(1, 0, 2.25), 1e-15);
    rg_body_state seen = rg_body_get_state(world, body);
    assert_int_equal(rg_body_set_state(world, body, &seen), RG_OK);
    assert_near(rg_body_angle(world, body), 5 * RG_PI / 2, 0);
    rg_body_state bad = state;
    bad.velocity.y = 1;
    refuse(world, body, &bad, RG_INVALID_ARGUMENT);
    bad = state;
    bad.pose.position.y = 1;
    refuse(world, body, &bad, RG_INVALID_ARGUMENT);
    bad = state;
    bad.angular_velocity.x = 1;
    refuse(world, body, &bad, RG_INVALID_ARGUMENT);
    bad = state;
    bad.angle = NAN;
    refuse(world, body, &bad, RG_NOT_FINITE);
    /* A pose alone leaves the angle. */
    assert_int_equal(rg_body_set_pose(world, body, rg_pose_identity()), RG_OK);
    assert_near(rg_body_angle(world, body), 5 * RG_PI / 2, 0);
    rg_world_destroy(world);
}

static void move_by_function(void *user, double time, rg_prescribed_state *state) {
    (void)user;
    state->pose.position.x = time;
    state->velocity.x = 1;
}

/* Kinematic and fixed bodies: what their motion allows, and no more. Any state that is read can be
 * set, but for a body that a function moves. */
static void state_of_prescribed_bodies(void **unused) {
    (void)unused;
    rg_world *world = make_world(false);
    rg_body_id driven = add_moving(world, RG_MOTION_KINEMATIC, (rg_prescription){0});
    rg_body_id swinging =
        add_moving(world, RG_MOTION_KINEMATIC,
                   (rg_prescription){
                       .kind = RG_PRESCRIBED_OSCILLATION, .amplitude = {1, 0, 0}, .frequency = 1});
    rg_body_id called =
        add_moving(world, RG_MOTION_KINEMATIC,
                   (rg_prescription){.kind = RG_PRESCRIBED_FUNCTION, .function = move_by_function});
    rg_body_id fixed = add_moving(world, RG_MOTION_FIXED, (rg_prescription){0});

    rg_body_state state = rg_body_get_state(world, driven);
    state.pose.position.x = 5;
    state.velocity.z = 3;
    assert_int_equal(rg_body_set_state(world, driven, &state), RG_OK);
    double time;
    rg_prescribed_state start = rg_body_prescription_start(world, driven, &time);
    assert_vector(start.pose.position, rg_vec3_make(5, 0, 0), 0);
    assert_vector(start.velocity, rg_vec3_make(0, 0, 3), 0);

    state = rg_body_get_state(world, swinging);
    assert_vector(state.velocity, rg_vec3_make(2 * RG_PI, 0, 0), 1e-14);
    state.pose.position.z = 2;
    assert_int_equal(rg_body_set_state(world, swinging, &state), RG_OK);
    assert_vector(rg_body_pose(world, swinging).position, rg_vec3_make(0, 0, 2), 0);
    state.velocity.x = 1;
    refuse(world, swinging, &state, RG_INVALID_ARGUMENT);

    /* Its place is within the range; the middle of its swing would not be. */
    rg_body_id far = add_moving(world, RG_MOTION_KINEMATIC,
                                (rg_prescription){.kind = RG_PRESCRIBED_OSCILLATION,
                                                  .amplitude = {0.9e50, 0, 0},
                                                  .phase = RG_PI / 2,
                                                  .frequency = 1e-9});
    rg_prescribed_state before = rg_body_prescription_start(world, far, &time);
    state = rg_body_get_state(world, far);
    state.pose.position.x = -0.9e50;
    refuse(world, far, &state, RG_LIMIT_EXCEEDED);
    start = rg_body_prescription_start(world, far, &time);
    assert_memory_equal(&start, &before, sizeof start);

    state = rg_body_get_state(world, called);
    refuse(world, called, &state, RG_INVALID_ARGUMENT);

    state = rg_body_get_state(world, fixed);
    state.pose.position.y = 1;
    assert_int_equal(rg_body_set_state(world, fixed, &state), RG_OK);
    state.velocity.y = 1;
    refuse(world, fixed, &state, RG_INVALID_ARGUMENT);
    rg_world_destroy(world);
}

/* What is refused leaves no trace, not even in the count of changes, at which the history of a
 * method would end. */
static void refused_changes_are_none(void **state) {
    (void)state;
    rg_world *world = make_world(false);
    rg_body_id body = add_moving(world, RG_MOTION_DYNAMIC, (rg_prescription){0});
    rg_body_id fixed = add_moving(world, RG_MOTION_FIXED, (rg_prescription){0});
    rg_collider_id only = rg_body_collider_at(world, body, 0), other;
    rg_collider_def heavy = rg_collider_get_def(world, only);
    double density = heavy.density;
    rg_vec3 huge = {0.9e50, 0, 0}, larger = {1.1e50, 0, 0};
    heavy.density = 1e50; /* 6 m^3 of it are more than a world takes */
    assert_int_equal(rg_body_apply_central_force(world, body, huge), RG_OK);
    uint64_t edits = world->content.edits, hash = rg_world_state_hash(world);
    assert_int_not_equal(rg_world_add_collider(world, body, &heavy, &other, NULL), RG_OK);
    assert_int_equal(other.index1, 0);
    assert_int_not_equal(rg_world_remove_collider(world, only), RG_OK);
    assert_true(rg_collider_exists(world, only) && rg_body_collider_count(world, body) == 1);
    assert_true(rg_collider_get_def(world, only).density == density);
    assert_int_equal(rg_body_set_velocity(world, body, larger), RG_LIMIT_EXCEEDED);
    assert_int_equal(rg_body_apply_central_force(world, body, huge), RG_LIMIT_EXCEEDED);
    assert_int_equal(rg_body_apply_central_force(world, fixed, rg_vec3_make(1, 0, 0)),
                     RG_INVALID_ARGUMENT);
    assert_true(world->content.edits == edits);
    assert_true(rg_world_state_hash(world) == hash);
    rg_world_destroy(world);
}

/* Pointers of bodies and colliders: given, changed, carried by snapshots, no part of the state. */
static void user_data(void **unused) {
    (void)unused;
    int a, b, c;
    rg_world *world = make_world(false);
    rg_body_def def = rg_body_def_default();
    def.user = &a;
    rg_body_id body = add_body(world, &def);
    rg_collider_id collider = rg_body_collider_at(world, body, 0);
    assert_ptr_equal(rg_body_user(world, body), &a);
    assert_null(rg_collider_user(world, collider));
    uint64_t hash = rg_world_state_hash(world);
    assert_int_equal(rg_body_set_user(world, body, &b), RG_OK);
    assert_int_equal(rg_collider_set_user(world, collider, &c), RG_OK);
    assert_ptr_equal(rg_body_user(world, body), &b);
    assert_ptr_equal(rg_collider_user(world, collider), &c);
    assert_ptr_equal(rg_collider_get_def(world, collider).user, &c);
    assert_true(rg_world_state_hash(world) == hash);
    rg_world *clone;
    assert_int_equal(rg_world_clone(world, &clone), RG_OK);
    assert_ptr_equal(rg_body_user(clone, body), &b);
    assert_ptr_equal(rg_collider_user(clone, collider), &c);
    assert_int_equal(rg_body_set_user(world, (rg_body_id){77, 1}, &a), RG_INVALID_HANDLE);
    assert_int_equal(rg_collider_set_user(world, (rg_collider_id){77, 1}, &a), RG_INVALID_HANDLE);
    rg_world_destroy(clone);
    rg_world_destroy(world);
}

static void other_setters(void **unused) {
    (void)unused;
    rg_world *world = make_world(false);
    rg_body_def def = rg_body_def_default();
    rg_body_id body = add_body(world, &def);
    rg_collider_id collider = rg_body_collider_at(world, body, 0);
    assert_int_equal(rg_body_set_gravity_scale(world, body, 0.5), RG_OK);
    assert_near(rg_body_gravity_scale(world, body), 0.5, 0);
    assert_int_equal(rg_body_set_gravity_scale(world, body, NAN), RG_NOT_FINITE);
    rg_contact_law law = {.friction = 0.1};
    rg_material_id ice;
    assert_int_equal(rg_world_add_material(world, "ice", &law, &ice, NULL), RG_OK);
    assert_int_equal(rg_collider_set_material(world, collider, ice), RG_OK);
    assert_int_equal(rg_collider_get_def(world, collider).material.index1, ice.index1);
    assert_int_equal(rg_collider_set_material(world, collider, (rg_material_id){9}),
                     RG_INVALID_HANDLE);
    assert_int_equal(rg_collider_set_filter(world, collider, 2, 5), RG_OK);
    assert_true(rg_collider_get_def(world, collider).category == 2);
    assert_true(rg_collider_get_def(world, collider).mask == 5);
    rg_world_destroy(world);
}

/* {0} instead of the default: the message names the function to begin with. */
static void zeroed_defs(void **unused) {
    (void)unused;
    rg_error error;
    rg_world *world;
    assert_int_equal(rg_world_create(&(rg_world_def){0}, &world, &error), RG_VERSION_MISMATCH);
    assert_string_equal(error.text,
                        "rg_world_def: api_version is 0; use rg_world_def_default() and "
                        "change what differs");
    rg_world_def def = rg_world_def_default();
    def.settings = (rg_method_settings){0};
    assert_int_equal(rg_world_create(&def, &world, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "rg_method_settings: all tolerances are 0; use "
                                    "rg_method_settings_default() and change what differs");
    world = make_world(false);
    rg_body_id body;
    assert_int_equal(rg_world_add_body(world, &(rg_body_def){0}, &body, &error),
                     RG_VERSION_MISMATCH);
    assert_string_equal(error.text, "rg_body_def: api_version is 0; use rg_body_def_default() and "
                                    "change what differs");
    rg_body_def good = rg_body_def_default();
    rg_collider_def collider = {0};
    good.colliders = &collider;
    good.collider_count = 1;
    assert_int_equal(rg_world_add_body(world, &good, &body, &error), RG_VERSION_MISMATCH);
    assert_string_equal(error.text, "rg_collider_def: api_version is 0; use "
                                    "rg_collider_def_default() and change what differs");
    rg_force_id force;
    assert_int_equal(rg_world_add_force(world, &(rg_force_def){0}, &force, &error),
                     RG_VERSION_MISMATCH);
    assert_string_equal(error.text,
                        "rg_force_def: api_version is 0; use rg_force_def_default() and "
                        "change what differs");
    good.api_version = RG_API_VERSION - 1;
    assert_int_equal(rg_world_add_body(world, &good, &body, &error), RG_VERSION_MISMATCH);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_changes_are_none),
        cmocka_unit_test(state_of_dynamic_body),
        cmocka_unit_test(all_or_nothing),
        cmocka_unit_test(state_in_the_plane),
        cmocka_unit_test(state_of_prescribed_bodies),
        cmocka_unit_test(user_data),
        cmocka_unit_test(other_setters),
        cmocka_unit_test(zeroed_defs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
