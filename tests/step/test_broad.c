/* Bounds that the broad phase makes for a step, against the step as it then goes. */
#include "test_world_support.h"

#include "broad/broad_world.h"

static rg_bounds bounds_of(const rg_world *world, rg_collider_id collider) {
    rg_collider_def def = rg_collider_get_def(world, collider);
    rg_pose pose = rg_body_pose(world, rg_collider_body(world, collider));
    return rg_shape_bounds(def.shape, rg_pose_compose(pose, def.pose));
}

static void swing_on_a_circle(void *user, double time, rg_prescribed_state *state) {
    (void)user;
    double angle = 3 * time;
    state->pose.position = (rg_vec3){2 * cos(angle), 2 * sin(angle), 0};
    state->pose.orientation = (rg_quat){0, 0, sin(angle / 2), cos(angle / 2)};
    state->velocity = (rg_vec3){-6 * sin(angle), 6 * cos(angle), 0};
    state->angular_velocity = (rg_vec3){0, 0, 3};
}

#define BACK_AND_FORTH 0.05 /* s: the period, and the step of the test */

/* Always where it was one step before, but not in between. */
static void swing_back_and_forth(void *user, double time, rg_prescribed_state *state) {
    (void)user;
    double rate = 2 * RG_PI / BACK_AND_FORTH;
    state->pose.position = (rg_vec3){0, 0, 0.02 * sin(rate * time)};
    state->pose.orientation = (rg_quat){0, 0, 0, 1};
    state->velocity = (rg_vec3){0, 0, 0.02 * rate * cos(rate * time)};
    state->angular_velocity = (rg_vec3){0, 0, 0};
}

static void add_kinematic(rg_world *world, rg_shape *shape, rg_prescription_kind kind,
                          double swing) {
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    collider.pose.position = (rg_vec3){0.3, 0, 0};
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    if (kind == RG_PRESCRIBED_VELOCITY) {
        def.velocity = (rg_vec3){1, -2, 0.5};
        def.angular_velocity = (rg_vec3){0, 7, 3};
    }
    def.prescription.kind = kind;
    def.prescription.amplitude = (rg_vec3){0, 0.3, 0.1};
    def.prescription.rotation_amplitude = (rg_vec3){swing, 0, 0.2 * swing};
    def.prescription.frequency = 1.7;
    rg_prescribed_function *function = swing > 0 ? swing_back_and_forth : swing_on_a_circle;
    def.prescription.function = function;
    if (kind == RG_PRESCRIBED_FUNCTION) {
        rg_prescribed_state start;
        function(NULL, 0, &start);
        def.pose = start.pose;
    }
    def.colliders = &collider;
    def.collider_count = 1;
    body_of(world, &def);
}

/* Boxes that fly and tumble under gravity alone, through each other, since none is of the category
 * that they may meet; and kinematic bodies of each kind. */
static rg_world *tumbling_world(void) {
    rg_world *world = default_world();
    rg_random random = rg_random_make(5);
    for (int i = 0; i < 40; i++) {
        rg_vec3 size = {rg_random_between(&random, 0.05, 1), rg_random_between(&random, 0.05, 1),
                        rg_random_between(&random, 0.05, 2)};
        rg_body_id body =
            add_masked_box(world, NULL, size, rg_scale(5, rg_random_direction(&random)), 2);
        rg_body_set_velocity(world, body, rg_scale(3, rg_random_direction(&random)));
        double spin = i % 4 == 0 ? 25 : 2; /* rad/s */
        rg_body_set_angular_velocity(world, body, rg_scale(spin, rg_random_direction(&random)));
    }
    rg_shape *shape = shape_of(rg_shape_def_capsule(0.1, 1));
    add_kinematic(world, shape, RG_PRESCRIBED_VELOCITY, 0);
    add_kinematic(world, shape, RG_PRESCRIBED_OSCILLATION, 0);
    add_kinematic(world, shape, RG_PRESCRIBED_OSCILLATION, 0.8);
    add_kinematic(world, shape, RG_PRESCRIBED_FUNCTION, 0);
    add_kinematic(world, shape, RG_PRESCRIBED_FUNCTION, 1);
    rg_shape_release(shape);
    return world;
}

static bool holds(const rg_bounds *outer, const rg_bounds *inner) {
    return outer->lower.x <= inner->lower.x && outer->lower.y <= inner->lower.y &&
           outer->lower.z <= inner->lower.z && inner->upper.x <= outer->upper.x &&
           inner->upper.y <= outer->upper.y && inner->upper.z <= outer->upper.z;
}

/* The bounds hold the colliders at every time of the step, gravity, precession and prescribed
 * motion included; those of the pose alone do not. */
static void swept_bounds_hold_the_step(void **state) {
    (void)state;
    enum { PARTS = 20 };
    const double step = BACK_AND_FORTH;
    rg_world *world = tumbling_world();
    assert_int_equal(rg_world_set_threads(world, 2), RG_OK);
    rg_broad_world *broad, *discrete;
    assert_int_equal(rg_broad_world_create(NULL, NULL, &broad), RG_OK);
    assert_int_equal(rg_broad_world_create(NULL, NULL, &discrete), RG_OK);
    rg_broad_motion motion = {.continuous = true, .step = step, .acceleration = 9.81};
    size_t left = 0;
    for (int round = 0; round < 10; round++) {
        assert_int_equal(rg_broad_world_update(broad, world, &motion), RG_OK);
        assert_int_equal(rg_broad_world_update(discrete, world, &(rg_broad_motion){0}), RG_OK);
        for (int part = 0; part < PARTS; part++) {
            step_world(world, step / PARTS, 1);
            for (size_t i = 0; i < rg_world_body_count(world); i++) {
                rg_collider_id c = rg_body_collider_at(world, rg_world_body_at(world, i), 0);
                rg_bounds inner = bounds_of(world, c);
                rg_bounds outer = rg_broad_bounds(rg_broad_world_pairs(broad), c.index1 - 1);
                if (!holds(&outer, &inner))
                    fail_msg("body %zu leaves its bounds in part %d of step %d", i, part, round);
                outer = rg_broad_bounds(rg_broad_world_pairs(discrete), c.index1 - 1);
                left += !holds(&outer, &inner);
            }
        }
    }
    assert_true(left > 5000);
    rg_broad_world_destroy(broad);
    rg_broad_world_destroy(discrete);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(swept_bounds_hold_the_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
