/* The judge of joints (step_judge_joints.c): forces beyond what the user allows are found, and
 * so is what is open or beyond its limits. */
#include "joint_support.h"

#include "step/step_judge.h"
#include "world/world.h"

#define STEP (1.0 / 240)

/* A bar on a hinge, drawn level, with one thing on its axis; a second of it. */
static rg_world *hinge_with(rg_joint_axis axis, rg_joint_id *joint) {
    rg_world *world = default_world();
    rg_body_id bar = ghost(world, rg_vec3_make(1, 0.1, 0.1), rg_vec3_make(0.5, 0, 0));
    rg_joint_def def = between(RG_JOINT_HINGE, the_world, bar);
    def.axis[0] = axis;
    *joint = join(world, def, rg_vec3_make(0, 0, 0), y_axis);
    for (int k = 0; k < 240; k++) {
        rg_step_info info = step_once(world, STEP);
        assert_true(info.certificate.cone_violation <= 1e-12);
    }
    assert_true(rg_judge_joint_bounds(&world->content) <= 1e-12);
    return world;
}

static rg_joint_axis plain(void) {
    return rg_joint_def_default(RG_JOINT_HINGE).axis[0];
}

/* 10 kg at 0.5 m: a motor and a brake that cannot hold that give all of their 20 N m. With
 * 16 N m allowed that would have been 4 too many. */
static void forces_beyond_their_bounds(void **state) {
    (void)state;
    for (int brake = 0; brake < 2; brake++) {
        rg_joint_id joint;
        rg_joint_axis axis = plain();
        if (brake)
            axis.friction = 20;
        else
            axis.motor = RG_MOTOR_VELOCITY, axis.max_force = 20;
        rg_world *world = hinge_with(axis, &joint);
        if (brake)
            axis.friction = 16;
        else
            axis.max_force = 16;
        assert_int_equal(rg_joint_set_axis(world, joint, 0, &axis, NULL), RG_OK);
        assert_true(rg_judge_joint_bounds(&world->content) > 0.02);
        rg_world_destroy(world);
    }
}

/* A limit that holds the bar pushes; the other way round it would pull. */
static void limits_that_pull(void **state) {
    (void)state;
    for (int upper = 0; upper < 2; upper++) {
        rg_joint_id joint;
        rg_joint_axis axis = plain();
        *(upper ? &axis.upper : &axis.lower) = upper ? 0.2 : -0.2;
        rg_world *world = hinge_with(axis, &joint);
        double *impulse = rg_joint_memories(&world->content)[0].impulse + RG_JOINT_LOCKED;
        double *held = &impulse[upper ? RG_JOINT_UPPER : RG_JOINT_LOWER];
        if (*held != 0) { /* the bar falls to one of the two sides */
            *held = -*held;
            assert_true(rg_judge_joint_bounds(&world->content) > 0.01);
        }
        assert_true((*held != 0) == (upper == 1));
        rg_world_destroy(world);
    }
}

/* m: of a world of one joint on one body, which is at `position`, not turned. */
static double error_at(const rg_world *world, rg_vec3 position) {
    rg_pose pose = rg_pose_identity();
    pose.position = position;
    return rg_judge_joint_error(&world->content, &pose);
}

/* Rods and ropes from the origin: how far the length is outside its limits. */
static void distances_beyond_their_limits(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id body = ghost(world, rg_vec3_make(0.1, 0.1, 0.1), rg_vec3_make(0.3, 0.4, 1.2));
    rg_joint_def def = between(RG_JOINT_DISTANCE, the_world, body);
    def.axis[0].lower = 0.5, def.axis[0].upper = 1.3;
    rg_joint_id joint;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    assert_near(error_at(world, rg_vec3_make(0.3, 0.4, 1.2)), 0, 1e-15);
    assert_near(error_at(world, rg_vec3_make(0.6, 0.8, 2.4)), 1.3, 1e-15);
    assert_near(error_at(world, rg_vec3_make(0, -0.3, 0)), 0.2, 1e-15);
    rg_world_destroy(world);
}

/* A point off a sphere or a cylinder, and on the wrong side of one: its distance from it, to first
 * order; the next term is half the square of it over the radius. */
static void points_off_their_surface(void **state) {
    (void)state;
    enum { ON, OUTSIDE, INSIDE };
    const double radius = 2;
    for (int side = ON; side <= INSIDE; side++)
        for (int across = 0; across < 4; across++) { /* the axis of a cylinder; 3: a sphere */
            rg_world *world = default_world();
            rg_body_id body = ghost(world, rg_vec3_make(0.1, 0.1, 0.1), rg_vec3_make(2, 0, 0));
            rg_joint_def def = between(RG_JOINT_SURFACE, the_world, body);
            def.surface.square = rg_vec3_make(across != 0, across != 1, across != 2);
            def.surface.linear = rg_scale(-2, def.surface.square); /* about (1, 1, 1) */
            def.surface.constant = (across == 3 ? 3 : 2) - radius * radius;
            def.axis[0].lower = side == INSIDE ? -INFINITY : 0;
            def.axis[0].upper = side == OUTSIDE ? INFINITY : 0;
            rg_joint_id joint;
            assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
            for (int axis = 0; axis < 3; axis++)
                for (int out = -1; out <= 1; out += 2) {
                    double off = out * 1e-3, *at;
                    rg_vec3 p = {1, 1, 1};
                    at = axis == 0 ? &p.x : axis == 1 ? &p.y : &p.z;
                    *at += radius + off;
                    bool wrong = side == ON || (side == INSIDE) == (out > 0);
                    if (axis != across)
                        assert_near(error_at(world, p), wrong ? fabs(off) : 0, off * off / radius);
                }
            rg_world_destroy(world);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_beyond_their_bounds),
        cmocka_unit_test(limits_that_pull),
        cmocka_unit_test(distances_beyond_their_limits),
        cmocka_unit_test(points_off_their_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
