/* Rolling and torsional friction, and surfaces that run, beside closed forms; the judge of both. */
#include "test_world_support.h"

#include "base/base_trig.h"
#include "rigor/contact_force.h"
#include "step/step_judge.h"
#include "world/world.h"

#define STEP (1.0 / 240)
static const double g = 9.81;

static void set_law(rg_world *world, double friction, double rolling, double torsional) {
    rg_contact_law law = {
        .friction = friction, .rolling_friction = rolling, .torsional_friction = torsional};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
}

static rg_body_id add_plane(rg_world *world, rg_vec3 normal) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    return add_shape(world, rg_shape_def_halfspace(normal, 0), &def);
}

static rg_body_id add_ball(rg_world *world, double radius, rg_vec3 centre, rg_vec3 velocity,
                           rg_vec3 spin) {
    rg_body_def def = rg_body_def_default();
    def.pose.position = centre;
    def.velocity = velocity;
    def.angular_velocity = spin;
    return add_shape(world, rg_shape_def_sphere(radius), &def);
}

/* Steps and asserts on every step that the certificate holds. */
static void step_certified(rg_world *world, int count) {
    for (int i = 0; i < count; i++) {
        rg_step_info info = step_once(world, STEP);
        assert_int_equal(info.solver_failures, 0);
        assert_true(!(info.certificate.complementarity > 1e-8));
        assert_true(!(info.certificate.cone_violation > 1e-8));
        assert_true(info.certificate.momentum_error < 1e-12);
        assert_true(info.energy.closure_rel < 1e-11);
        assert_true(info.energy.friction_work <= 0);
    }
}

/* (I + m R^2) dw/dt = -a m g: a ball is slowed down by 5/7 a g / R, and stops. */
static void a_ball_rolls_to_a_stop(void **state) {
    (void)state;
    double radius = 0.1, a = 0.004, v0 = 0.5, brake = 5.0 / 7 * a * g / radius;
    rg_vec3 along[2] = {{1, 0, 0}, {0.6, -0.8, 0}};
    for (int k = 0; k < 2; k++) {
        rg_world *world = default_world();
        set_law(world, 0.5, a, 0);
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_vec3 spin = rg_scale(v0 / radius, rg_cross((rg_vec3){0, 0, 1}, along[k]));
        rg_body_id ball =
            add_ball(world, radius, (rg_vec3){0, 0, radius}, rg_scale(v0, along[k]), spin);
        double energy = rg_world_energy(world);
        for (int i = 1; i <= 240; i++) {
            step_certified(world, 1);
            assert_vector(rg_body_velocity(world, ball), rg_scale(v0 - brake * STEP * i, along[k]),
                          1e-11);
        }
        size_t count;
        const rg_contact_force *f = rg_world_contact_forces(world, &count);
        assert_int_equal(count, 1);
        assert_int_equal(f->mode, RG_MODE_ROLL);
        assert_near(rg_length(f->torque), a * f->normal_force, 1e-10);
        /* What it lost is the work of friction. */
        assert_near(rg_world_summary(world).energy.friction_work, rg_world_energy(world) - energy,
                    1e-12);
        step_certified(world, 240);
        assert_true(rg_length(rg_body_velocity(world, ball)) < 1e-10);
        double way = rg_length(rg_sub(rg_body_pose(world, ball).position, (rg_vec3){0, 0, radius}));
        assert_near(way, v0 * v0 / (2 * brake), v0 * STEP);
        rg_world_destroy(world);
    }
}

/* A ball that spins about the normal: dw/dt = -b m g / I; a cylinder that stands on its end without
 * other friction, whose contacts share its weight, the same. */
static void spin_about_the_normal_dies(void **state) {
    (void)state;
    double radius = 0.1, b = 0.003, w0 = 4;
    for (int k = 0; k < 2; k++) {
        rg_world *world = default_world();
        set_law(world, k ? 0 : 0.5, 0, b);
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_body_def def = rg_body_def_default();
        def.pose.position.z = k ? 0.05 : radius;
        def.angular_velocity.z = w0;
        rg_body_id body = add_shape(
            world, k ? rg_shape_def_cylinder(radius, 0.1) : rg_shape_def_sphere(radius), &def);
        double brake = b * g / ((k ? 0.5 : 0.4) * radius * radius);
        step_certified(world, 120);
        assert_near(rg_body_angular_velocity(world, body).z, w0 - brake * 120 * STEP, 1e-9);
        int left = (int)((w0 / brake) / STEP) + 2 - 120;
        if (left > 0)
            step_certified(world, left);
        assert_true(rg_length(rg_body_angular_velocity(world, body)) < 1e-9);
        rg_world_destroy(world);
    }
}

/* On a slope a ball stays where tan(theta) <= a / R, and else rolls with 5/7 (g sin - a g cos / R).
 * In space and in the plane (a disc: 2/3). */
static void a_slope_holds_a_ball(void **state) {
    (void)state;
    double radius = 0.1, a = 0.005;
    for (int k = 0; k < 6; k++) {
        double tangent = a / radius * (k % 3 == 0 ? 1 - 1e-6 : k % 3 == 1 ? 1 + 1e-6 : 2);
        double c = 1 / sqrt(1 + tangent * tangent), s = tangent * c;
        rg_world_def def = rg_world_def_default();
        def.planar = k >= 3;
        rg_world *world = world_of(&def);
        set_law(world, 0.5, a, 0);
        rg_vec3 n = {s, 0, c}, down = {c, 0, -s};
        add_plane(world, n);
        rg_body_def body = rg_body_def_default();
        body.pose.position = rg_scale(radius, n);
        rg_body_id ball = add_shape(
            world, def.planar ? rg_shape_def_disc(radius) : rg_shape_def_sphere(radius), &body);
        step_certified(world, 120);
        double share = def.planar ? 2.0 / 3 : 5.0 / 7;
        double expected = fmax(0, share * (g * s - a * g * c / radius)) * 120 * STEP;
        assert_near(rg_dot(rg_body_velocity(world, ball), down), expected, 1e-10);
        rg_world_destroy(world);
    }
}

/* Balls that slide, spin and turn in other directions than they roll, on slopes: the direction of
 * the torque is that of the motion, and the certificate holds. */
static void torque_opposes_rolling(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    int tried = 0;
    for (int k = 0; k < 40; k += test_stride()) {
        rg_world *world = default_world();
        double a = rg_random_between(&random, 0.001, 0.02);
        double b = rg_random_between(&random, 0.001, 0.02);
        double mu = rg_random_between(&random, 0.05, 0.8);
        set_law(world, mu, a, b);
        rg_vec3 n = rg_random_direction(&random);
        n = rg_normalised(rg_add_scaled(n, 5, (rg_vec3){0, 0, 1}));
        rg_vec3 spin = rg_scale(20, rg_random_direction(&random));
        rg_vec3 v = rg_random_direction(&random);
        add_plane(world, n);
        v = rg_add_scaled(v, -rg_dot(v, n), n);
        rg_body_id ball = add_ball(world, 0.1, rg_scale(0.1, n), v, spin);
        for (int i = 0; i < 60; i++) {
            step_certified(world, 1);
            size_t count;
            const rg_contact_force *f = rg_world_contact_forces(world, &count);
            if (count == 0 || f->mode == RG_MODE_SEPARATING)
                continue;
            rg_vec3 w = rg_body_angular_velocity(world, ball);
            rg_vec3 about = rg_scale(rg_dot(f->torque, n), n), t = rg_sub(f->torque, about);
            rg_vec3 rolling = rg_sub(w, rg_scale(rg_dot(w, n), n));
            assert_true(rg_length(t) <= a * f->normal_force * (1 + 1e-8));
            if (rg_length(rolling) > 1e-3)
                assert_true(rg_length(rg_add_scaled(t, a * f->normal_force / rg_length(rolling),
                                                    rolling)) < 1e-5 * a * f->normal_force);
            tried++;
        }
        rg_world_destroy(world);
    }
    assert_true(tried > 60);
}

/* A ball on a plate that slides on the floor: both move, and what one loses the other is given. */
static void two_bodies_roll_on_each_other(void **state) {
    (void)state;
    rg_world *world = default_world();
    set_law(world, 0.3, 0.01, 0.01);
    add_plane(world, (rg_vec3){0, 0, 1});
    add_box(world, "plate", (rg_vec3){2, 2, 0.1}, (rg_vec3){0, 0, 0.05});
    add_ball(world, 0.1, (rg_vec3){-0.5, 0.1, 0.2}, (rg_vec3){2, 0.2, 0}, (rg_vec3){0, 5, 30});
    add_ball(world, 0.1, (rg_vec3){0.5, 0, 0.2}, (rg_vec3){-1, 0, 0}, (rg_vec3){9, 0, -4});
    step_certified(world, 200);
    rg_world_destroy(world);
}

/* A turntable takes a ball along that stands on its axis: dw/dt = b m g / I up to its speed. */
static void a_turntable_takes_a_ball_along(void **state) {
    (void)state;
    double radius = 0.1, b = 0.002, gain = b * g / (0.4 * radius * radius);
    rg_world *world = default_world();
    set_law(world, 0.5, 0, b);
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.pose.position.z = -0.05;
    def.angular_velocity.z = 3;
    add_shape(world, rg_shape_def_cylinder(1, 0.1), &def);
    rg_body_id ball =
        add_ball(world, radius, (rg_vec3){0, 0, radius}, (rg_vec3){0, 0, 0}, (rg_vec3){0, 0, 0});
    for (int i = 1; i <= 240; i++) {
        rg_step_info info = step_once(world, STEP);
        assert_true(info.energy.closure_rel < 1e-11);
        assert_near(rg_body_angular_velocity(world, ball).z, fmin(3, gain * STEP * i), 1e-8);
    }
    rg_world_destroy(world);
}

/* --- belts ------------------------------------------------------------------------------------ */

static rg_body_id add_belt(rg_world *world, rg_vec3 velocity) {
    rg_collider_def collider = rg_collider_def_default();
    collider.surface_velocity = velocity;
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position.z = -0.1;
    return add_collider(world, rg_shape_def_box(20, 2, 0.2), collider, &def);
}

/* A box on a belt has its speed v after v / (mu g); the belt does m v^2 of work, of which half is
 * heat. Then it stops with the belt. */
static void a_belt_takes_a_box_along(void **state) {
    (void)state;
    double v = 2, mu = 0.4, when = v / (mu * g);
    rg_world *world = default_world();
    set_law(world, mu, 0, 0);
    rg_body_id belt = add_belt(world, (rg_vec3){v, 0, 5}); /* what is along the normal is nothing */
    rg_body_id box = add_box(world, "box", (rg_vec3){0.4, 0.4, 0.2}, (rg_vec3){-5, 0, 0.1});
    double mass = rg_body_mass(world, box).mass;
    int arrives = (int)(when / STEP);
    for (int i = 1; i <= arrives; i++) {
        step_certified(world, 1);
        assert_near(rg_body_velocity(world, box).x, mu * g * STEP * i, 1e-9);
    }
    step_certified(world, 60);
    assert_vector(rg_body_velocity(world, box), (rg_vec3){v, 0, 0}, 1e-9);
    rg_energy_ledger e = rg_world_summary(world).energy;
    assert_near(e.prescribed_work, mass * v * v, 0.01 * mass * v * v); /* the last step is split */
    assert_near(e.prescribed_work + e.friction_work, 0.5 * mass * v * v, 1e-9 * mass * v * v);
    assert_near(rg_body_pose(world, box).position.x + 5,
                v * v / (2 * mu * g) + v * ((arrives + 60) * STEP - when), 2 * v * STEP);
    rg_collider_id collider = rg_body_collider_at(world, belt, 0);
    assert_int_equal(rg_collider_set_surface_velocity(world, collider, (rg_vec3){0, 0, 0}), RG_OK);
    step_certified(world, arrives + 2);
    assert_true(rg_length(rg_body_velocity(world, box)) < 1e-9);
    assert_int_equal(rg_collider_set_surface_velocity(world, collider, (rg_vec3){NAN, 0, 0}),
                     RG_NOT_FINITE);
    rg_world_destroy(world);
}

/* --- who does not know it --------------------------------------------------------------------- */

static void other_methods_refuse(void **state) {
    (void)state;
    const rg_method *methods[2] = {rg_method_find("analytic"), rg_method_find("penalty")};
    for (int k = 0; k < 4; k++) {
        rg_world_def def = rg_world_def_default();
        def.method = methods[k % 2];
        rg_world *world = world_of(&def);
        rg_error error;
        if (k < 2)
            set_law(world, 0.5, 0.001, 0);
        else
            add_belt(world, (rg_vec3){1, 0, 0});
        add_box(world, "box", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5});
        assert_int_equal(rg_world_step(world, STEP, NULL, &error), RG_UNSUPPORTED);
        assert_non_null(strstr(error.text, k < 2 ? "rolling" : "belts"));
        assert_non_null(strstr(error.text, "stepping"));
        rg_world_destroy(world);
    }
    rg_world *world = default_world();
    rg_contact_law law = {.friction = 0.5, .rolling_friction = -1};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL),
                     RG_INVALID_ARGUMENT);
    rg_world_destroy(world);
}

/* --- the judge -------------------------------------------------------------------------------- */

/* Torque that is too large, too small or in the wrong direction is seen. */
static void the_judge_sees_wrong_torques(void **state) {
    (void)state;
    for (int fault = 0; fault < 4; fault++) {
        rg_world *world = default_world();
        set_law(world, 0.5, 0.01, 0);
        add_plane(world, (rg_vec3){0, 0, 1});
        add_ball(world, 0.1, (rg_vec3){0, 0, 0.1}, (rg_vec3){1, 0, 0}, (rg_vec3){0, 10, 0});
        rg_arena arena = rg_arena_make(&world->allocator);
        rg_judge_memory before;
        assert_int_equal(rg_judge_remember(&world->content, NULL, NULL, &arena, &before), RG_OK);
        step_once(world, STEP);
        size_t count;
        rg_contact_force f = rg_world_contact_forces(world, &count)[0];
        double scale = fault == 1 ? 1 + 1e-6 : fault == 2 ? 1 - 1e-6 : fault == 3 ? -1 : 1;
        f.angular_impulse = rg_scale(scale, f.angular_impulse);
        rg_judge_pushes done = {.forces = &f, .count = 1, .step = STEP};
        rg_judge_contacts found = rg_judge_contact_work(&world->content, &before, done, NULL);
        assert_int_equal(found.twist_cone > 1e-7, fault == 1);
        assert_int_equal(found.twist_error > 1e-7, fault >= 2);
        rg_arena_free(&arena);
        rg_world_destroy(world);
    }
}

/* Clones and states that are carried over go on with the same bits. */
static void the_bits_stay(void **state) {
    (void)state;
    rg_world *worlds[2];
    for (int k = 0; k < 2; k++) {
        worlds[k] = default_world();
        set_law(worlds[k], 0.4, 0.006, 0.004);
        add_belt(worlds[k], (rg_vec3){0.5, 0.1, 0});
        add_ball(worlds[k], 0.1, (rg_vec3){0, 0, 0.1}, (rg_vec3){1, 0.3, 0}, (rg_vec3){3, 1, 7});
        step_world(worlds[k], STEP, 40);
        if (k)
            worlds[k] = replace_by_clone(worlds[k]);
        step_world(worlds[k], STEP, 40);
    }
    assert_int_equal(rg_world_state_hash(worlds[0]), rg_world_state_hash(worlds[1]));
    rg_world_destroy(worlds[0]);
    rg_world_destroy(worlds[1]);
}

static void look_at_bounds(void *user, uint64_t step, size_t island, const rg_problem *problem) {
    double *largest = user;
    (void)step, (void)island;
    for (size_t k = 0; k < problem->contact.joints; k++) {
        assert_true(problem->contact.lower[k] == -problem->contact.upper[k]);
        *largest = fmax(*largest, problem->contact.upper[k]);
    }
}

/* Whoever looks at problems sees the bounds that their answers keep, not those of the start: twice
 * as large for twice the coefficient. */
static void problems_have_their_bounds(void **state) {
    (void)state;
    double bound[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        rg_world *world = default_world();
        set_law(world, 0.5, 0.004 * (k + 1), 0);
        add_plane(world, (rg_vec3){0, 0, 1});
        add_ball(world, 0.1, (rg_vec3){0, 0, 0.1}, (rg_vec3){1, 0, 0}, (rg_vec3){0, 10, 0});
        assert_int_equal(rg_world_observe_problems(world, look_at_bounds, &bound[k]), RG_OK);
        step_certified(world, 1);
        rg_world_destroy(world);
    }
    assert_true(bound[0] > 0);
    assert_near(bound[1], 2 * bound[0], 1e-9 * bound[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_rolls_to_a_stop),
        cmocka_unit_test(spin_about_the_normal_dies),
        cmocka_unit_test(a_slope_holds_a_ball),
        cmocka_unit_test(torque_opposes_rolling),
        cmocka_unit_test(two_bodies_roll_on_each_other),
        cmocka_unit_test(a_turntable_takes_a_ball_along),
        cmocka_unit_test(a_belt_takes_a_box_along),
        cmocka_unit_test(other_methods_refuse),
        cmocka_unit_test(the_judge_sees_wrong_torques),
        cmocka_unit_test(the_bits_stay),
        cmocka_unit_test(problems_have_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
