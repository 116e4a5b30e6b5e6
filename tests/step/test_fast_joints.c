/* Joints of bodies that turn far within a step, or bounce: their steps are made in parts
 * (step_stepping_held.c, step_stepping_impacts.c). Every step: joints closed, ledger closed. */
#include "joint_support.h"

static rg_world *world_with(double gravity, double restitution) {
    rg_world_def def = rg_world_def_default();
    def.gravity = rg_vec3_make(0, 0, -gravity);
    rg_world *world = world_of(&def);
    rg_contact_law law = {.restitution = restitution};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){1}, &law, NULL), RG_OK);
    return world;
}

static rg_step_info step_closed(rg_world *world, double step) {
    rg_step_info info = step_once(world, step);
    if (!(info.certificate.joint_error <= 1e-9))
        fail_msg("t = %g: joint error %.3g", rg_world_time(world), info.certificate.joint_error);
    if (!(info.energy.closure_rel <= 1e-9))
        fail_msg("t = %g: closure %.3g", rg_world_time(world), info.energy.closure_rel);
    return info;
}

static rg_body_id add_spinning(rg_world *world, rg_vec3 size, rg_vec3 position, rg_vec3 spin) {
    rg_body_def def = rg_body_def_default();
    def.pose.position = position;
    def.angular_velocity = spin;
    return add_shape(world, rg_shape_def_box(size.x, size.y, size.z), &def);
}

/* Two boxes on a ball joint off their centres, spun against each other by up to 6 rad a step: a
 * step along chords would open the joint by the length of its arms (0.21 m at 300 rad/s, where the
 * whole step is one). */
static void boxes_that_turn_far_in_a_step(void **state) {
    (void)state;
    static const double rates[] = {20, 100, 300, 600};
    for (size_t k = 0; k < 4; k++) {
        rg_world *world = world_with(0, 0);
        rg_vec3 spin = {0.3 * rates[k], rates[k], 0.1 * rates[k]};
        rg_body_id a =
            add_spinning(world, rg_vec3_make(0.1, 0.06, 0.04), rg_vec3_make(-0.1, 0, 0), spin);
        rg_body_id b = add_spinning(world, rg_vec3_make(0.05, 0.08, 0.1), rg_vec3_make(0.1, 0, 0),
                                    rg_neg(spin));
        join(world, between(RG_JOINT_BALL, a, b), rg_vec3_make(0, 0, 0), y_axis);
        step_closed(world, 0.01); /* the velocities that were given contradict the joint */
        double start = rg_world_energy(world), most = 0;
        for (int i = 0; i < 200; i++) {
            step_closed(world, 0.01);
            most = fmax(most, rg_world_energy(world) / start - 1);
        }
        if (!(most <= 0.05)) /* of the order of the square of the angle of a step */
            fail_msg("%g rad/s: energy grows by %.3g", rates[k], most);
        rg_world_destroy(world);
    }
}

/* A flywheel turns about its hinge as fast as it likes: nothing bends, and no step is made in
 * parts. */
static void a_flywheel_needs_no_parts(void **state) {
    (void)state;
    rg_world *world = world_with(9.81, 0);
    rg_body_id wheel = add_spinning(world, rg_vec3_make(0.2, 0.02, 0.2), rg_vec3_make(0, 0, 1),
                                    rg_vec3_make(0, 2000, 0));
    join(world, between(RG_JOINT_HINGE, the_world, wheel), rg_vec3_make(0, 0, 1), y_axis);
    for (int i = 0; i < 240; i++) {
        rg_step_info info = step_closed(world, 1.0 / 240);
        assert_int_equal(info.substeps, 1);
    }
    assert_near(rg_body_angular_velocity(world, wheel).y, 2000, 1e-9 * 2000);
    rg_world_destroy(world);
}

/* Two balls on a rope that is taut again and again while they bounce: its end, as a limit that
 * pushes, is held in parts of a step, too. */
static void a_rope_between_bouncing_balls(void **state) {
    (void)state;
    const double length = 0.5;
    rg_world *world = world_with(9.81, 0.8);
    rg_body_def floor = rg_body_def_default(), ball = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0), &floor);
    ball.pose.position = rg_vec3_make(0, 0, 0.3);
    ball.velocity = rg_vec3_make(-1, 0, 0);
    rg_body_id a = add_shape(world, rg_shape_def_sphere(0.05), &ball);
    ball.pose.position = rg_vec3_make(0.3, 0, 0.5);
    ball.velocity = rg_vec3_make(1, 0.2, 0);
    rg_body_id b = add_shape(world, rg_shape_def_sphere(0.04), &ball);
    rg_joint_def rope = between(RG_JOINT_DISTANCE, a, b);
    rope.axis[0].upper = length;
    rg_joint_id joint;
    assert_int_equal(rg_world_add_joint(world, &rope, &joint, NULL), RG_OK);
    double energy = rg_world_energy(world), longest = 0;
    for (int i = 0; i < 480; i++) {
        step_closed(world, 1.0 / 240);
        rg_vec3 apart = rg_sub(rg_body_pose(world, a).position, rg_body_pose(world, b).position);
        longest = fmax(longest, rg_length(apart));
        assert_true(rg_world_energy(world) <= energy * (1 + 1e-3));
        energy = rg_world_energy(world);
    }
    assert_true(longest <= length + 1e-9);
    assert_true(longest >= length - 1e-9);
    rg_world_destroy(world);
}

/* A rope becomes taut within a step and makes a ball fast that was at rest, and near nothing: it
 * stops at a wall of 1 mm. */
static void a_ball_that_a_rope_snatches(void **state) {
    (void)state;
    static const double forces[] = {1e3, 1e5, 1e7};
    for (int k = 0; k < 3; k++) {
        rg_world *world = world_with(0, 0);
        rg_body_def def = rg_body_def_default();
        rg_collider_def collider = rg_collider_def_default();
        rg_body_id ball = add_shape(world, rg_shape_def_sphere(0.05), &def);
        def.pose.position.x = 1;
        collider.mask = 0;
        rg_body_id weight = add_collider(world, rg_shape_def_sphere(0.05), collider, &def);
        def.motion = RG_MOTION_FIXED;
        def.pose.position.x = 0.5;
        add_shape(world, rg_shape_def_box(0.001, 2, 2), &def);
        rg_joint_def rope = between(RG_JOINT_DISTANCE, weight, ball);
        rope.axis[0].upper = 1.0001;
        rg_joint_id joint;
        assert_int_equal(rg_world_add_joint(world, &rope, &joint, NULL), RG_OK);
        rg_force_def force = rg_force_def_default(RG_FORCE_CONSTANT);
        rg_force_id id;
        force.body = weight;
        force.force.x = forces[k];
        assert_int_equal(rg_world_add_force(world, &force, &id, NULL), RG_OK);
        for (int i = 0; i < 24; i++) {
            rg_step_info info = step_closed(world, 1.0 / 240);
            assert_int_equal(info.passed_through, 0);
            assert_int_equal(info.solver_failures, 0);
            assert_false(info.certificate.max_penetration > 1e-4); /* NaN: far away */
        }
        assert_true(rg_body_pose(world, ball).position.x < 0.5 - 0.05);
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_that_turn_far_in_a_step),
        cmocka_unit_test(a_flywheel_needs_no_parts),
        cmocka_unit_test(a_rope_between_bouncing_balls),
        cmocka_unit_test(a_ball_that_a_rope_snatches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
