/* What stands still stays exactly where it is, with forces that carry it; and moves as soon as
 * anything makes it move, as closed forms say. */
#include "test_world_support.h"

#include "base/base_trig.h"
#include "rigor/contact_force.h"

#include <string.h>

#define H    0.005
#define G    9.80665
#define SIDE 0.2
#define MASS (1000 * SIDE * SIDE * SIDE)
/* Radians: of the slope. */
#define SLOPE 0.35

static rg_world *empty_world(void) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    def.gravity = (rg_vec3){0, 0, -G};
    return world_of(&def);
}

static void set_friction(rg_world *world, double mu) {
    rg_contact_law law = {.friction = mu};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
}

static rg_body_id add_floor(rg_world *world, rg_motion motion, double slope) {
    rg_body_def def = rg_body_def_default();
    def.name = "floor";
    def.motion = motion;
    def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, slope, 0});
    return add_shape(world, rg_shape_def_box(20, 20, 2), &def);
}

/* A cube on the floor, `height` sides up along its normal. */
static rg_body_id add_cube(rg_world *world, const char *name, double slope, double height) {
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, slope, 0});
    def.pose.position = rg_rotate(def.pose.orientation, (rg_vec3){0, 0, 1 + SIDE * (height + 0.5)});
    return add_shape(world, rg_shape_def_box(SIDE, SIDE, SIDE), &def);
}

static rg_step_info step(rg_world *world) {
    return step_once(world, H);
}

/* Along the slope, downwards. */
static double along(rg_vec3 v) {
    return v.x * rg_cos(SLOPE) - v.z * rg_sin(SLOPE);
}

static void assert_same_place(rg_pose a, rg_pose b) {
    assert_memory_equal(&a, &b, sizeof a);
}

static void assert_stands(const rg_world *world, rg_body_id body) {
    rg_vec3 v = rg_body_velocity(world, body), w = rg_body_angular_velocity(world, body);
    assert_true(v.x == 0 && v.y == 0 && v.z == 0 && w.x == 0 && w.y == 0 && w.z == 0);
}

/* Two cubes on a slope that holds them. (Three would topple.) */
static void nothing_creeps(void **state) {
    (void)state;
    rg_world *world = empty_world();
    set_friction(world, 0.6);
    add_floor(world, RG_MOTION_FIXED, SLOPE);
    rg_body_id cubes[2] = {add_cube(world, "below", SLOPE, 0), add_cube(world, "above", SLOPE, 1)};
    step_world(world, H, 10);
    rg_pose places[2];
    for (int i = 0; i < 2; i++)
        places[i] = rg_body_pose(world, cubes[i]);
    for (int n = 0; n < 500; n++) {
        rg_step_info info = step(world);
        assert_true(info.certificate.complementarity < 1e-12);
        assert_true(info.certificate.momentum_error < 1e-12);
        assert_true(info.energy.closure_rel < 1e-12);
        assert_int_equal(info.evaluations, 1);
        assert_int_equal(info.solves, 1);
    }
    for (int i = 0; i < 2; i++) {
        assert_same_place(places[i], rg_body_pose(world, cubes[i]));
        assert_stands(world, cubes[i]);
    }
    /* The forces on the floor carry the weight, all of it. */
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    rg_vec3 sum = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        const char *a = rg_body_name(world, forces[i].body_a);
        const char *b = rg_body_name(world, forces[i].body_b);
        double sign = strcmp(b, "floor") == 0 ? 1 : strcmp(a, "floor") == 0 ? -1 : 0;
        sum = rg_add_scaled(sum, sign, forces[i].force);
    }
    assert_vector(sum, (rg_vec3){0, 0, 2 * MASS * G}, 1e-9 * MASS * G);
    rg_world_destroy(world);
}

static rg_world *cube_at_rest(rg_body_id *cube) {
    rg_world *world = empty_world();
    set_friction(world, 0.6);
    add_floor(world, RG_MOTION_FIXED, SLOPE);
    *cube = add_cube(world, "cube", SLOPE, 0);
    step_world(world, H, 10);
    assert_stands(world, *cube);
    return world;
}

/* After `count` steps at a constant acceleration along the slope, from rest. */
static void assert_slides(rg_world *world, rg_body_id cube, double acceleration, int count) {
    rg_vec3 from = rg_body_pose(world, cube).position;
    step_world(world, H, count);
    double t = H * count, s = along(rg_sub(rg_body_pose(world, cube).position, from));
    assert_near(s, acceleration * t * t / 2, 1e-9 * fabs(s));
    assert_near(along(rg_body_velocity(world, cube)), acceleration * t, 1e-9 * acceleration * t);
}

static void less_friction_lets_go(void **state) {
    (void)state;
    rg_body_id cube;
    rg_world *world = cube_at_rest(&cube);
    set_friction(world, 0.2);
    assert_slides(world, cube, G * (rg_sin(SLOPE) - 0.2 * rg_cos(SLOPE)), 40);
    rg_world_destroy(world);
}

static void more_weight_lets_go(void **state) {
    (void)state;
    rg_body_id cube;
    rg_world *world = cube_at_rest(&cube);
    /* As if the slope were twice as steep. */
    rg_vec3 down = {-G * rg_sin(SLOPE), 0, -G * rg_cos(SLOPE)};
    rg_world_set_gravity(world, (rg_vec3){-down.x, 0, down.z});
    assert_slides(world, cube, G * (rg_sin(2 * SLOPE) - 0.6 * rg_cos(2 * SLOPE)), 40);
    rg_world_destroy(world);
}

/* For one step, and then it slides to a stop and stands again. */
static void a_push_moves_it(void **state) {
    (void)state;
    rg_body_id cube;
    rg_world *world = cube_at_rest(&cube);
    double hold = G * (0.6 * rg_cos(SLOPE) - rg_sin(SLOPE));
    double push = 3 * hold;
    rg_vec3 down = {rg_cos(SLOPE), 0, -rg_sin(SLOPE)};
    rg_vec3 from = rg_body_pose(world, cube).position;
    assert_int_equal(rg_body_apply_central_force(world, cube, rg_scale(MASS * push, down)), RG_OK);
    step_world(world, H, 1);
    double v = (push - hold) * H;
    assert_near(along(rg_body_velocity(world, cube)), v, 1e-9 * v);
    step_world(world, H, 20);
    double s = along(rg_sub(rg_body_pose(world, cube).position, from));
    double expected = v * H / 2 + v * v / (2 * hold);
    assert_near(s, expected, 1e-8 * expected);
    assert_stands(world, cube);
    rg_world_destroy(world);
}

/* A force that begins in the middle of a step. */
static void a_force_begins(void **state) {
    (void)state;
    rg_body_id cube;
    rg_world *world = cube_at_rest(&cube);
    double hold = G * (0.6 * rg_cos(SLOPE) - rg_sin(SLOPE));
    rg_force_def def = rg_force_def_default(RG_FORCE_FIELD);
    def.acceleration = rg_scale(2 * hold, (rg_vec3){rg_cos(SLOPE), 0, -rg_sin(SLOPE)});
    def.start_time = rg_world_time(world) + 4.5 * H;
    assert_int_equal(rg_world_add_force(world, &def, &(rg_force_id){0}, NULL), RG_OK);
    rg_vec3 from = rg_body_pose(world, cube).position;
    step_world(world, H, 4);
    assert_stands(world, cube);
    step_world(world, H, 10);
    double t = 9.5 * H, s = along(rg_sub(rg_body_pose(world, cube).position, from));
    assert_near(s, hold * t * t / 2, 1e-8 * s);
    rg_world_destroy(world);
}

static void growing_force(void *user, rg_force_context *context) {
    (void)user;
    for (size_t i = 0; i < context->body_count; i++)
        context->force[i].x += context->time; /* 1 N/s */
}

/* A force that changes by itself is looked at in every step: the cube goes when its limit is
 * reached. */
static void a_force_grows(void **state) {
    (void)state;
    rg_world *world = empty_world();
    set_friction(world, 0.5);
    add_floor(world, RG_MOTION_FIXED, 0);
    rg_body_id cube = add_cube(world, "cube", 0, 0);
    rg_force_def def = rg_force_def_default(RG_FORCE_FUNCTION);
    def.function = growing_force;
    assert_int_equal(rg_world_add_force(world, &def, &(rg_force_id){0}, NULL), RG_OK);
    double limit = 0.5 * MASS * G, step_length = limit / 40;
    rg_error error;
    for (int i = 0; i < 44; i++) {
        if (rg_world_step(world, step_length, NULL, &error))
            fail_msg("%s", error.text);
        assert_true((rg_body_velocity(world, cube).x > 1e-6) == (i >= 40));
    }
    double t = 4 * step_length; /* m v = t^2 / 2 from there on */
    assert_near(rg_body_velocity(world, cube).x, t * t / 2 / MASS, 1e-8 * t * t / 2 / MASS);
    rg_world_destroy(world);
}

static void who_loses_its_support_falls(void **state) {
    (void)state;
    rg_world *world = empty_world();
    add_floor(world, RG_MOTION_FIXED, 0);
    rg_body_id below = add_cube(world, "below", 0, 0), above = add_cube(world, "above", 0, 1);
    step_world(world, H, 10);
    assert_stands(world, above);
    double from = rg_body_pose(world, above).position.z;
    assert_int_equal(rg_world_remove_body(world, below), RG_OK);
    step_world(world, H, 10);
    double t = 10 * H, fallen = from - rg_body_pose(world, above).position.z;
    assert_near(fallen, G * t * t / 2, 1e-9 * fallen);
    rg_world_destroy(world);
}

/* What stands on something that moves goes with it. */
static void a_moving_floor_takes_it_along(void **state) {
    (void)state;
    rg_world *world = empty_world();
    rg_body_def def = rg_body_def_default();
    def.name = "floor";
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription = (rg_prescription){
        .kind = RG_PRESCRIBED_OSCILLATION, .amplitude = {0.05, 0, 0}, .frequency = 0.5};
    rg_body_id ground = add_shape(world, rg_shape_def_box(20, 20, 2), &def);
    rg_body_id cube = add_cube(world, "cube", 0, 0);
    rg_body_set_velocity(world, cube, rg_body_velocity(world, ground));
    step_world(world, H, 100);
    rg_vec3 a = rg_body_velocity(world, ground), b = rg_body_velocity(world, cube);
    assert_near(a.x, b.x, 1e-9);
    assert_near(rg_body_pose(world, cube).position.x, rg_body_pose(world, ground).position.x, 1e-8);
    rg_world_destroy(world);
}

/* Something comes flying: what stands is hit, and hit when it should be. */
static void a_hit_moves_it(void **state) {
    (void)state;
    rg_world *world = empty_world();
    set_friction(world, 0);
    add_floor(world, RG_MOTION_FIXED, 0);
    rg_body_id cube = add_cube(world, "cube", 0, 0);
    rg_body_def def = rg_body_def_default();
    def.name = "other";
    def.pose.position = (rg_vec3){-1, 0, 1 + 0.5 * SIDE};
    def.velocity = (rg_vec3){1, 0, 0};
    rg_body_id other = add_shape(world, rg_shape_def_box(SIDE, SIDE, SIDE), &def);
    double meeting = 1 - SIDE;
    step_world(world, H, (int)(meeting / H) - 2);
    assert_stands(world, cube);
    step_world(world, H, 22);
    assert_near(rg_body_velocity(world, cube).x, 0.5, 1e-9);
    assert_near(rg_body_velocity(world, other).x, 0.5, 1e-9);
    double t = H * ((int)(meeting / H) + 20) - meeting;
    assert_near(rg_body_pose(world, cube).position.x, 0.5 * t, 1e-8);
    rg_world_destroy(world);
}

/* Who pushes it into the floor a little finds it out again: what is too deep is projected, at rest
 * or not. */
static void what_overlaps_is_put_right(void **state) {
    (void)state;
    rg_world *world = empty_world();
    add_floor(world, RG_MOTION_FIXED, 0);
    rg_body_id cube = add_cube(world, "cube", 0, 0);
    step_world(world, H, 10);
    rg_pose pose = rg_body_pose(world, cube);
    pose.position.z -= 1e-7;
    rg_body_set_pose(world, cube, pose);
    rg_step_info info = step(world);
    assert_true(info.certificate.min_gap >= 0);
    assert_true(rg_body_pose(world, cube).position.z >= 1 + SIDE / 2);
    rg_world_destroy(world);
}

/* What is nothing beside the forces on one body may be much for another: pressed to the floor by
 * 1e6 N stands a plate of a gram; without friction the cube goes where 0.4 mN push it. */
static void a_heavy_load_elsewhere_is_no_measure(void **state) {
    (void)state;
    rg_world *world = empty_world();
    set_friction(world, 0);
    add_floor(world, RG_MOTION_FIXED, 0);
    rg_body_id cube = add_cube(world, "cube", 0, 0);
    rg_body_def def = rg_body_def_default();
    def.name = "plate";
    def.pose.position = (rg_vec3){5, 0, 1.005};
    rg_force_def load = rg_force_def_default(RG_FORCE_CONSTANT), push = load;
    load.body = add_shape(world, rg_shape_def_box(0.01, 0.01, 0.01), &def);
    load.force = (rg_vec3){0, 0, -1e6};
    push.body = cube;
    push.force = (rg_vec3){5e-5 * MASS, 0, 0};
    assert_int_equal(rg_world_add_force(world, &load, &(rg_force_id){0}, NULL), RG_OK);
    step_world(world, H, 5);
    assert_int_equal(rg_world_add_force(world, &push, &(rg_force_id){0}, NULL), RG_OK);
    step_world(world, H, 100);
    double t = 100 * H;
    assert_near(rg_body_velocity(world, cube).x, 5e-5 * t, 1e-9 * 5e-5 * t);
    rg_world_destroy(world);
}

/* In a step of a quarter of an hour a few nanometres a second are a way to go. */
static void long_steps_are_no_rest(void **state) {
    (void)state;
    rg_world *world = empty_world();
    set_friction(world, 0);
    add_floor(world, RG_MOTION_FIXED, 0);
    rg_body_id cube = add_cube(world, "cube", 0, 0);
    step_world(world, H, 5);
    rg_body_set_velocity(world, cube, (rg_vec3){5e-9, 0, 0});
    double from = rg_body_pose(world, cube).position.x;
    step_world(world, 1000, 10);
    assert_near(rg_body_pose(world, cube).position.x - from, 5e-5, 1e-12);
    rg_world_destroy(world);
}

/* Normals that are no axes: friction that there is none of is still some by rounding. */
static void a_ball_stands_in_a_groove_without_friction(void **state) {
    (void)state;
    rg_world *world = empty_world();
    set_friction(world, 0);
    for (int side = 0; side < 2; side++) {
        rg_body_def def = rg_body_def_default();
        def.name = side ? "left" : "right";
        def.motion = RG_MOTION_FIXED;
        def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, side ? 0.6 : -0.6, 0});
        def.pose.position = rg_rotate(def.pose.orientation, (rg_vec3){0, 0, -1});
        add_shape(world, rg_shape_def_box(6, 20, 2), &def);
    }
    rg_body_def def = rg_body_def_default();
    def.name = "ball";
    def.pose.position = (rg_vec3){0, 0, SIDE / 2 / rg_cos(0.6) + 1e-10};
    rg_body_id ball = add_shape(world, rg_shape_def_sphere(SIDE / 2), &def);
    step_world(world, H, 10);
    rg_pose place = rg_body_pose(world, ball);
    for (int n = 0; n < 100; n++)
        assert_int_equal(step(world).evaluations, 1);
    assert_same_place(place, rg_body_pose(world, ball));
    assert_stands(world, ball);
    rg_world_destroy(world);
}

/* A state that was saved while things stand goes on as the first. */
static void copies_stand_too(void **state) {
    (void)state;
    rg_body_id cube;
    rg_world *world = cube_at_rest(&cube), *copy;
    assert_int_equal(rg_world_clone(world, &copy), RG_OK);
    for (int n = 0; n < 20; n++) {
        step_world(world, H, 1);
        step_world(copy, H, 1);
        assert_int_equal(rg_world_state_hash(world), rg_world_state_hash(copy));
    }
    rg_world_destroy(copy);
    rg_world_destroy(world);
}

static rg_world *floor_with_few_points(void) {
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, -G};
    def.collision.contacts.reduce_to = 4;
    rg_world *world = world_of(&def);
    set_friction(world, 0.5);
    add_floor(world, RG_MOTION_FIXED, 0);
    return world;
}

/* A dish with three short feet and a wide rim just above the floor, its contacts reduced to about
 * four points: the feet are among them, so that it stands as with all points. */
static void few_points_carry(void **state) {
    (void)state;
    enum { RIM = 40 };
    rg_world *world = floor_with_few_points();
    rg_vec3 points[3 + 2 * RIM];
    for (int i = 0; i < 3; i++)
        points[i] = (rg_vec3){0.1 * rg_cos(2 * RG_PI * i / 3), 0.1 * rg_sin(2 * RG_PI * i / 3), 0};
    for (int i = 0; i < 2 * RIM; i++)
        points[3 + i] = (rg_vec3){0.5 * rg_cos(2 * RG_PI * i / RIM),
                                  0.5 * rg_sin(2 * RG_PI * i / RIM), i < RIM ? 1e-4 : 0.1};
    rg_body_def body = rg_body_def_default();
    body.pose.position = (rg_vec3){0, 0, 1};
    rg_body_id dish = add_shape(world, rg_shape_def_hull(points, 3 + 2 * RIM), &body);
    rg_pose before = rg_body_pose(world, dish);
    for (int n = 0; n < 200; n++)
        assert_true(step(world).certificate.min_gap > -1e-12);
    assert_stands(world, dish);
    assert_true(rg_length(rg_sub(before.position, rg_body_pose(world, dish).position)) < 1e-12);
    rg_world_destroy(world);
}

/* Pebbles of many facets come to rest on few points as on all: while they rock, too, the points
 * that come down next are among them. */
static void pebbles_rest_on_few_points(void **state) {
    (void)state;
    enum { POINTS = 400, PEBBLES = 3 };
    rg_world *world = floor_with_few_points();
    static rg_vec3 points[POINTS];
    rg_random random = rg_random_make(4);
    for (int i = 0; i < POINTS; i++) {
        rg_vec3 d = rg_random_direction(&random);
        points[i] = (rg_vec3){0.2 * d.x, 0.15 * d.y, 0.1 * d.z};
    }
    rg_body_id pebbles[PEBBLES];
    for (int i = 0; i < PEBBLES; i++) {
        rg_body_def body = rg_body_def_default();
        body.pose.position = (rg_vec3){0.5 * i, 0, 1.2};
        body.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0.3 * i, 0.15 * i, 0});
        pebbles[i] = add_shape(world, rg_shape_def_hull(points, POINTS), &body);
    }
    step_world(world, H, 1600);
    for (int i = 0; i < PEBBLES; i++)
        assert_stands(world, pebbles[i]);
    assert_true(step(world).certificate.min_gap > -1e-9);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_creeps),
        cmocka_unit_test(less_friction_lets_go),
        cmocka_unit_test(more_weight_lets_go),
        cmocka_unit_test(a_push_moves_it),
        cmocka_unit_test(a_force_begins),
        cmocka_unit_test(a_force_grows),
        cmocka_unit_test(who_loses_its_support_falls),
        cmocka_unit_test(a_moving_floor_takes_it_along),
        cmocka_unit_test(a_hit_moves_it),
        cmocka_unit_test(what_overlaps_is_put_right),
        cmocka_unit_test(a_heavy_load_elsewhere_is_no_measure),
        cmocka_unit_test(long_steps_are_no_rest),
        cmocka_unit_test(a_ball_stands_in_a_groove_without_friction),
        cmocka_unit_test(copies_stand_too),
        cmocka_unit_test(few_points_carry),
        cmocka_unit_test(pebbles_rest_on_few_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
