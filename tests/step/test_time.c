/* Functions of time (world_time.c): forces and targets as expressions of t, what is refused, who
 * owns the texts. */
#include "test_world_support.h"

#include "rigor/force.h"
#include "rigor/joint.h"
#include "rigor/method.h"
#include "world/world.h"

#include <string.h>

static rg_force_id push(rg_world *world, rg_body_id body, const char *x) {
    rg_force_def def = rg_force_def_default(RG_FORCE_CONSTANT);
    rg_force_id force;
    rg_error error;
    def.body = body;
    def.of_time[RG_OF_TIME_FORCE] = x;
    if (rg_world_add_force(world, &def, &force, &error))
        fail_msg("%s", error.text);
    return force;
}

/* x'' = a sin(w t): at the end of a step of the adaptive method as the closed form has it. */
static void a_force_that_oscillates(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.gravity = rg_vec3_make(0, 0, 0);
    def.method = rg_method_find("analytic");
    rg_world *world = world_of(&def);
    rg_body_id body = add_masked_box(world, NULL, rg_vec3_make(1, 1, 1), rg_vec3_make(0, 0, 0), 0);
    double mass = rg_body_mass(world, body).mass;
    char text[] = "1000*sin(2*t)"; /* the world keeps its own copy */
    push(world, body, text);
    memset(text, '9', sizeof text - 1);
    for (int k = 1; k <= 100; k++) {
        double t = k / 50.0, a = 1000 / mass;
        assert_int_equal(rg_world_step(world, 1 / 50.0, NULL, NULL), RG_OK);
        double x = a / 2 * (t - sin(2 * t) / 2), v = a / 2 * (1 - cos(2 * t));
        assert_true(fabs(rg_body_pose(world, body).position.x - x) <= 1e-7);
        assert_true(fabs(rg_body_velocity(world, body).x - v) <= 1e-7);
    }
    rg_world_destroy(world);
}

/* Fixed steps act with the force of their beginning. */
static void a_table(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.gravity = rg_vec3_make(0, 0, 0);
    rg_world *world = world_of(&def);
    rg_body_id body = add_masked_box(world, NULL, rg_vec3_make(1, 1, 1), rg_vec3_make(0, 0, 0), 0);
    double mass = rg_body_mass(world, body).mass, momentum = 0;
    push(world, body, "table(t, 0.25, 0, 0.5, 8, 0.75, -8)");
    for (int k = 0; k < 128; k++) {
        double t = k / 128.0;
        double f = t <= 0.25 ? 0 : t <= 0.5 ? 32 * (t - 0.25) : t <= 0.75 ? 8 - 64 * (t - 0.5) : -8;
        assert_int_equal(rg_world_step(world, 1 / 128.0, NULL, NULL), RG_OK);
        momentum += f / 128;
        assert_true(fabs(mass * rg_body_velocity(world, body).x - momentum) <= 1e-12);
    }
    rg_world_destroy(world);
}

/* A motor follows its target, which a world at rest does not sleep through. */
static void a_target_of_time(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_joint_def def = rg_joint_def_default(RG_JOINT_HINGE);
    def.body_b = add_masked_box(world, NULL, rg_vec3_make(1, 1, 1), rg_vec3_make(0, 0, 0), 0);
    def.axis[0].motor = RG_MOTOR_VELOCITY;
    def.axis[0].target_of_time = "max(0, t-0.5)";
    rg_joint_id joint;
    rg_error error;
    if (rg_world_add_joint(world, &def, &joint, &error))
        fail_msg("%s", error.text);
    rg_world *copy = NULL;
    for (int k = 1; k <= 100; k++) {
        if (k == 40)
            assert_int_equal(rg_world_clone(world, &copy), RG_OK);
        assert_int_equal(rg_world_step(world, 0.01, NULL, &error), RG_OK);
        double rate = rg_joint_get_state(world, joint).velocity[0];
        assert_true(fabs(rate - fmax(0, 0.01 * k - 0.5)) <= 1e-12);
    }
    for (int k = 40; k <= 100; k++)
        assert_int_equal(rg_world_step(copy, 0.01, NULL, &error), RG_OK);
    assert_true(rg_world_state_hash(copy) == rg_world_state_hash(world));
    rg_world_destroy(copy);
    /* Another text, then a number. */
    rg_joint_axis axis = rg_joint_get_def(world, joint).axis[0];
    assert_string_equal(axis.target_of_time, "max(0, t-0.5)");
    assert_int_equal(rg_joint_set_axis(world, joint, 0, &axis, NULL), RG_OK);
    axis.target_of_time = "2*t";
    assert_int_equal(rg_joint_set_axis(world, joint, 0, &axis, NULL), RG_OK);
    assert_int_equal(rg_world_step(world, 0.01, NULL, NULL), RG_OK);
    assert_true(fabs(rg_joint_get_state(world, joint).velocity[0] - 2.02) <= 1e-12);
    assert_int_equal(rg_joint_set_target(world, joint, 0, 3), RG_OK);
    assert_null(rg_joint_get_def(world, joint).axis[0].target_of_time);
    assert_int_equal(rg_world_step(world, 0.01, NULL, NULL), RG_OK);
    assert_true(fabs(rg_joint_get_state(world, joint).velocity[0] - 3) <= 1e-12);
    rg_world_destroy(world);
}

static void what_is_refused(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id body = add_masked_box(world, NULL, rg_vec3_make(1, 1, 1), rg_vec3_make(0, 0, 0), 0);
    rg_force_def def = rg_force_def_default(RG_FORCE_FIELD);
    rg_force_id force;
    rg_error error;
    def.body = body;
    def.of_time[RG_OF_TIME_ACCELERATION + 2] = "2*x";
    assert_int_equal(rg_world_add_force(world, &def, &force, &error), RG_NOT_FOUND);
    assert_string_equal(error.text,
                        "\"2*x\" at t = 0: at column 3: there is no \"x\" here; did you "
                        "mean \"t\"?");
    def.of_time[RG_OF_TIME_ACCELERATION + 2] = "sqrt(0.5-t)";
    assert_int_equal(rg_world_add_force(world, &def, &force, &error), RG_OK);
    for (int k = 0; k < 5; k++)
        assert_int_equal(rg_world_step(world, 0.1, NULL, &error), RG_OK);
    uint64_t hash = rg_world_state_hash(world);
    assert_int_equal(rg_world_step(world, 0.1, NULL, &error), RG_NOT_FINITE);
    assert_string_equal(error.text, "force 0: \"sqrt(0.5-t)\" at t = 0.6: at column 1: the square "
                                    "root of a negative number");
    assert_true(rg_world_state_hash(world) == hash);
    assert_int_equal(rg_world_remove_force(world, force), RG_OK);
    assert_int_equal(rg_world_step(world, 0.1, NULL, &error), RG_OK);
    rg_world_destroy(world);
}

/* A platform that expressions move: where it is and how fast, what stands on it, and copies. */
static rg_body_id add_platform(rg_world *world, const char *x, const char *z, const char *turn) {
    rg_body_def def = rg_body_def_default();
    def.name = "platform";
    def.motion = RG_MOTION_KINEMATIC;
    def.pose.position = rg_vec3_make(1, 0, -0.1);
    def.prescription.kind = RG_PRESCRIBED_OF_TIME;
    def.prescription.of_time[0] = x;
    def.prescription.of_time[2] = z;
    def.prescription.of_time[5] = turn;
    return add_shape(world, rg_shape_def_box(4, 4, 0.2), &def);
}

static void a_platform_by_expressions(void **state) {
    (void)state;
    rg_world *world = default_world();
    char x[] = "0.2*sin(3*t)";
    rg_body_id platform = add_platform(world, x, "spline(t, 0, 0, 0.5, 0.3, 1, 0)", "0.5*t");
    memset(x, '9', sizeof x - 1); /* the world has its own copy */
    rg_body_id box = add_box(world, "box", rg_vec3_make(0.4, 0.4, 0.4), rg_vec3_make(1, 0, 0.2));
    rg_world *copy = NULL;
    for (int k = 1; k <= 240; k++) {
        double t = k / 200.0;
        rg_step_info info = step_once(world, 1 / 200.0);
        assert_true(info.energy.closure_rel < 1e-10);
        assert_near(rg_body_pose(world, platform).position.x, 1 + 0.2 * sin(3 * t), 1e-12);
        assert_near(rg_body_velocity(world, platform).x, 0.6 * cos(3 * t), 1e-12);
        assert_near(rg_body_angular_velocity(world, platform).z, 0.5, 1e-12);
        if (k == 100)
            assert_near(rg_body_pose(world, platform).position.z, 0.2, 1e-12); /* the top */
        if (k == 120)
            assert_int_equal(rg_world_clone(world, &copy), RG_OK);
    }
    assert_true(rg_body_pose(world, box).position.z > 0.15); /* it is still on it */
    for (int k = 120; k < 240; k++)
        step_once(copy, 1 / 200.0);
    assert_true(rg_world_state_hash(copy) == rg_world_state_hash(world));
    rg_world_destroy(copy);
    /* Placed elsewhere, it goes on from there. */
    rg_pose place = rg_body_pose(world, platform);
    rg_vec3 velocity = rg_body_velocity(world, platform);
    place.position.y += 1;
    assert_int_equal(rg_body_set_pose(world, platform, place), RG_OK);
    assert_vector(rg_body_pose(world, platform).position, place.position, 1e-15);
    assert_vector(rg_body_velocity(world, platform), velocity, 1e-15);
    assert_int_equal(rg_world_remove_body(world, platform), RG_OK);
    rg_world_destroy(world);
}

/* Rotation vectors whose direction changes: the angular velocity is that of the motion. */
static void turns_about_changing_axes(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription.kind = RG_PRESCRIBED_OF_TIME;
    def.prescription.of_time[3] = "0.7*t";
    def.prescription.of_time[4] = "sin(2*t)";
    def.prescription.of_time[5] = "0.3*t^2";
    rg_body_id body = add_shape(world, rg_shape_def_box(1, 1, 1), &def);
    for (int k = 0; k < 40; k++) {
        double h = 1e-4;
        assert_int_equal(rg_world_set_time(world, 0.05 * k), RG_OK);
        rg_vec3 w = rg_body_angular_velocity(world, body);
        assert_int_equal(rg_world_set_time(world, 0.05 * k - h), RG_OK);
        rg_quat a = rg_body_pose(world, body).orientation;
        assert_int_equal(rg_world_set_time(world, 0.05 * k + h), RG_OK);
        rg_quat b = rg_body_pose(world, body).orientation;
        rg_quat turn = rg_quat_multiply(b, rg_quat_make(-a.x, -a.y, -a.z, a.w));
        double sign = turn.w < 0 ? -1 : 1;
        assert_vector(w, rg_scale(sign / h, rg_vec3_make(turn.x, turn.y, turn.z)), 1e-6);
    }
    rg_world_destroy(world);
}

static void prescriptions_that_are_refused(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = rg_body_def_default();
    rg_body_id body;
    rg_error error;
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription.kind = RG_PRESCRIBED_OF_TIME;
    def.prescription.of_time[1] = "2*s";
    assert_int_equal(rg_world_add_body(world, &def, &body, &error), RG_NOT_FOUND);
    assert_string_equal(error.text, "prescribed motion: \"2*s\" at t = 0: at column 3: there is no "
                                    "\"s\" here; did you mean \"t\"?");
    def.prescription.of_time[1] = "sqrt(0.25-t)";
    def.name = "sinker";
    assert_int_equal(rg_world_add_body(world, &def, &body, &error), RG_OK);
    step_once(world, 0.1);
    step_once(world, 0.1);
    uint64_t hash = rg_world_state_hash(world);
    assert_int_equal(rg_world_step(world, 0.1, NULL, &error), RG_NOT_FINITE);
    assert_non_null(strstr(error.text, "\"sinker\""));
    assert_non_null(strstr(error.text, "square root of a negative number"));
    assert_true(rg_world_state_hash(world) == hash);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_force_that_oscillates),
                                       cmocka_unit_test(a_table),
                                       cmocka_unit_test(a_target_of_time),
                                       cmocka_unit_test(what_is_refused),
                                       cmocka_unit_test(a_platform_by_expressions),
                                       cmocka_unit_test(turns_about_changing_axes),
                                       cmocka_unit_test(prescriptions_that_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
