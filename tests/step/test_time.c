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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_force_that_oscillates), cmocka_unit_test(a_table),
        cmocka_unit_test(a_target_of_time), cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
