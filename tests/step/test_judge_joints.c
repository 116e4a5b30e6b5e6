/* The judge of joints (step_judge_joints.c): forces beyond what the user allows are found. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_beyond_their_bounds),
        cmocka_unit_test(limits_that_pull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
