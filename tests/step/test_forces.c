/* Each kind of force against its closed form, by both methods' evaluation of it. */
#include "test_world_support.h"

#include <string.h>

static rg_world *analytic_world(rg_vec3 gravity) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    def.settings.tolerance = 1e-12;
    def.gravity = gravity;
    return world_of(&def);
}

static rg_body_id ball(rg_world *world, double mass, rg_vec3 position, rg_vec3 velocity) {
    rg_body_def def = rg_body_def_default();
    def.has_mass = true;
    def.mass =
        (rg_mass_properties){.mass = mass, .inertia = rg_mat3_diagonal((rg_vec3){0.5, 0.5, 0.5})};
    def.pose.position = position;
    def.velocity = velocity;
    return body_of(world, &def);
}

static void add(rg_world *world, rg_force_def def) {
    rg_force_id force;
    rg_error error;
    if (rg_world_add_force(world, &def, &force, &error))
        fail_msg("%s", error.text);
}

static const rg_vec3 nothing = {0, 0, 0};

static void linear_and_angular_drag(void **state) {
    (void)state;
    rg_world *world = analytic_world(nothing);
    rg_body_id body = ball(world, 2, nothing, (rg_vec3){3, -4, 0});
    rg_body_set_angular_velocity(world, body, (rg_vec3){0, 0, 5});
    rg_force_def drag = rg_force_def_default(RG_FORCE_DRAG);
    drag.linear = 0.7;
    drag.angular = 0.2;
    add(world, drag);
    step_world(world, 0.1, 20);
    double v = exp(-0.7 / 2 * 2), w = exp(-0.2 / 0.5 * 2);
    assert_vector(rg_body_velocity(world, body), (rg_vec3){3 * v, -4 * v, 0}, 1e-10);
    assert_vector(rg_body_angular_velocity(world, body), (rg_vec3){0, 0, 5 * w}, 1e-10);
    assert_vector(rg_body_pose(world, body).position, rg_scale((1 - v) / 0.35, (rg_vec3){3, -4, 0}),
                  1e-10);
    rg_world_destroy(world);
}

/* Falling with quadratic drag: v = -v_t tanh(g t / v_t). */
static void quadratic_drag_has_a_terminal_speed(void **state) {
    (void)state;
    rg_world *world = analytic_world((rg_vec3){0, 0, -9.81});
    rg_body_id body = ball(world, 2, nothing, nothing);
    rg_force_def drag = rg_force_def_default(RG_FORCE_DRAG);
    drag.quadratic = 0.05;
    drag.body = body;
    add(world, drag);
    step_world(world, 0.1, 30);
    double terminal = sqrt(2 * 9.81 / 0.05);
    assert_near(rg_body_velocity(world, body).z, -terminal * tanh(9.81 * 3 / terminal), 1e-9);
    rg_world_destroy(world);
}

static void a_spring_between_bodies_moves_no_centre(void **state) {
    (void)state;
    rg_world *world = analytic_world(nothing);
    rg_body_id a = ball(world, 2, (rg_vec3){-1, 0, 0}, nothing);
    rg_body_id b = ball(world, 3, (rg_vec3){1, 0.5, 0}, nothing);
    rg_force_def spring = rg_force_def_default(RG_FORCE_SPRING);
    spring.body = a;
    spring.other = b;
    spring.point = (rg_vec3){0.2, 0.3, 0}; /* off the centre: they turn, too */
    spring.stiffness = 40;
    spring.rest_length = 0.5;
    spring.damping = 0.3;
    add(world, spring);
    step_world(world, 0.02, 200);
    assert_true(rg_length(rg_body_angular_velocity(world, a)) > 0.01);
    assert_true(rg_length(rg_world_momentum(world)) < 1e-12);
    assert_true(rg_length(rg_world_angular_momentum(world)) < 1e-9);
    assert_true(rg_world_summary(world).energy.closure_rel < 1e-9);
    rg_world_destroy(world);
}

static void a_constant_force_at_a_point_turns(void **state) {
    (void)state;
    rg_world *world = analytic_world(nothing);
    rg_body_id body = ball(world, 2, nothing, nothing);
    rg_force_def push = rg_force_def_default(RG_FORCE_CONSTANT);
    push.body = body;
    push.torque = (rg_vec3){0, 0.25, 0};
    push.force = (rg_vec3){0, 0, 4};
    add(world, push);
    step_world(world, 0.1, 10);
    assert_near(rg_body_velocity(world, body).z, 2, 1e-13);
    assert_near(rg_body_angular_velocity(world, body).y, 0.5, 1e-13);
    /* A force at x = 0.1 along y turns about z from the first moment on: w' = 0.1 F / I. */
    push.torque = nothing;
    push.force = (rg_vec3){0, 1, 0};
    push.point = (rg_vec3){0.1, 0, 0};
    rg_world *other = analytic_world(nothing);
    body = ball(other, 2, nothing, nothing);
    push.body = body;
    add(other, push);
    step_world(other, 1e-4, 1);
    assert_near(rg_body_angular_velocity(other, body).z, 1e-4 * 0.1 / 0.5, 1e-13);
    rg_world_destroy(world);
    rg_world_destroy(other);
}

static void fields_act_on_every_mass_alike(void **state) {
    (void)state;
    rg_world *world = analytic_world(nothing);
    ball(world, 2, nothing, nothing);
    ball(world, 500, nothing, nothing);
    rg_force_def field = rg_force_def_default(RG_FORCE_FIELD);
    field.acceleration = (rg_vec3){1, 2, 3};
    add(world, field);
    step_world(world, 0.1, 10);
    for (size_t i = 0; i < 2; i++)
        assert_vector(rg_body_velocity(world, rg_world_body_at(world, i)), (rg_vec3){1, 2, 3},
                      1e-13);
    rg_world_destroy(world);
}

typedef struct seen_times {
    double least, most;
    int calls;
} seen_times;

static void see_time(void *user, rg_force_context *context) {
    seen_times *s = user;
    s->calls++;
    s->least = fmin(s->least, context->time);
    s->most = fmax(s->most, context->time);
    /* x'' = 6 t, from rest: x = t^3. */
    context->force[0] = rg_add(context->force[0], (rg_vec3){2 * 6 * context->time, 0, 0});
}

static void functions_are_evaluated_at_every_stage(void **state) {
    (void)state;
    rg_world *world = analytic_world(nothing);
    rg_body_id body = ball(world, 2, nothing, nothing);
    seen_times s = {INFINITY, -INFINITY, 0};
    rg_force_def def = rg_force_def_default(RG_FORCE_FUNCTION);
    def.function = see_time;
    def.user = &s;
    add(world, def);
    step_world(world, 0.5, 4);
    assert_near(rg_body_pose(world, body).position.x, 8, 1e-12);
    /* And once where a step begins, for the scale of accelerations. */
    assert_int_equal(s.calls, rg_world_summary(world).evaluations + 4);
    assert_true(s.least == 0 && s.most == 2);
    rg_world_destroy(world);
}

static void planar_worlds_take_their_part(void **state) {
    (void)state;
    rg_world_def world_def = rg_world_def_default();
    world_def.planar = true;
    world_def.gravity = nothing;
    rg_world *world = world_of(&world_def);
    rg_body_def def = rg_body_def_default();
    def.has_mass = true;
    def.mass =
        (rg_mass_properties){.mass = 2, .inertia = rg_mat3_diagonal((rg_vec3){0.5, 0.5, 0.5})};
    rg_body_id body = body_of(world, &def);
    rg_force_def push = rg_force_def_default(RG_FORCE_CONSTANT);
    push.body = body;
    push.force = (rg_vec3){1, 7, 2};
    push.torque = (rg_vec3){7, -0.5, 7};
    add(world, push);
    step_world(world, 0.1, 10);
    assert_vector(rg_body_velocity(world, body), (rg_vec3){0.5, 0, 1}, 1e-14);
    assert_near(rg_body_spin(world, body), 1, 1e-14);
    assert_true(rg_body_pose(world, body).position.y == 0);
    rg_world_destroy(world);
}

static void bad_forces_are_refused(void **state) {
    (void)state;
    rg_world *world = analytic_world(nothing);
    rg_body_id body = ball(world, 2, nothing, nothing);
    rg_force_id force;
    rg_error error;
    rg_force_def spring = rg_force_def_default(RG_FORCE_SPRING);
    assert_int_equal(rg_world_add_force(world, &spring, &force, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "spring: it needs a body");
    spring.body = spring.other = body;
    assert_int_equal(rg_world_add_force(world, &spring, &force, &error), RG_INVALID_ARGUMENT);
    spring.other = (rg_body_id){99, 1};
    assert_int_equal(rg_world_add_force(world, &spring, &force, &error), RG_INVALID_HANDLE);
    rg_force_def drag = rg_force_def_default(RG_FORCE_DRAG);
    drag.linear = -1;
    assert_int_equal(rg_world_add_force(world, &drag, &force, &error), RG_INVALID_ARGUMENT);
    drag.linear = NAN;
    assert_int_equal(rg_world_add_force(world, &drag, &force, &error), RG_NOT_FINITE);
    rg_force_def field = rg_force_def_default(RG_FORCE_FIELD);
    field.start_time = 2;
    field.stop_time = 1;
    assert_int_equal(rg_world_add_force(world, &field, &force, &error), RG_INVALID_ARGUMENT);
    rg_force_def function = rg_force_def_default(RG_FORCE_FUNCTION);
    assert_int_equal(rg_world_add_force(world, &function, &force, &error), RG_INVALID_ARGUMENT);
    assert_int_equal(rg_world_force_count(world), 0);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_and_angular_drag),
        cmocka_unit_test(quadratic_drag_has_a_terminal_speed),
        cmocka_unit_test(a_spring_between_bodies_moves_no_centre),
        cmocka_unit_test(a_constant_force_at_a_point_turns),
        cmocka_unit_test(fields_act_on_every_mass_alike),
        cmocka_unit_test(functions_are_evaluated_at_every_stage),
        cmocka_unit_test(planar_worlds_take_their_part),
        cmocka_unit_test(bad_forces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
