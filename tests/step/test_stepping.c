/* The fixed step in free flight. */
#include "test_world_support.h"

#include <string.h>

static void parabola_is_exact_at_any_step(void **state) {
    (void)state;
    for (int n = 4; n <= 4096; n *= 8) {
        rg_world *world = default_world();
        rg_body_id body = add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 10});
        rg_body_set_velocity(world, body, (rg_vec3){1, 2, 3});
        step_world(world, 2.0 / n, n);
        assert_vector(rg_body_pose(world, body).position, (rg_vec3){2, 4, 10 + 6 - 0.5 * 9.81 * 4},
                      1e-11);
        assert_true(rg_world_summary(world).energy.closure_rel < 1e-13);
        assert_true(rg_world_summary(world).certificate.momentum_error < 1e-13);
        rg_world_destroy(world);
    }
}

/* 240 steps of 1/240 s are one second, to the last bit of the clock: where nothing moves, where
 * something does, where the state is carried to another world on the way, and after the clock was
 * set back. */
static void time_adds_up(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        bool moves = k > 0;
        rg_world *world = default_world();
        rg_body_id body = add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
        if (!moves)
            assert_int_equal(rg_world_remove_body(world, body), RG_OK);
        for (int second = 0; second < 100; second++) {
            step_world(world, 1.0 / 240, 240);
            if (k == 2 && second % 10 == 5) {
                rg_world *other = default_world();
                add_box(other, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
                world = carry_over(world, other);
            }
        }
        assert_near(rg_world_time(world), 100, 2e-14);
        if (k == 3) {
            step_world(world, 0.1, 7); /* a carry of another length */
            assert_int_equal(rg_world_set_time(world, 0), RG_OK);
            step_world(world, 1.0 / 240, 1);
            assert_true(rg_world_time(world) == 1.0 / 240);
            step_world(world, 1.0 / 240, 23999);
            assert_near(rg_world_time(world), 100, 2e-14);
        }
        rg_world_destroy(world);
    }
}

static void asymmetric_top_keeps_its_energy(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    rg_world *world = world_of(&def);
    rg_body_id body = add_box(world, "racket", (rg_vec3){0.3, 0.05, 0.7}, (rg_vec3){0, 0, 0});
    rg_body_set_angular_velocity(world, body, (rg_vec3){9, 0.01, 0.01});
    double energy = rg_world_energy(world);
    rg_vec3 momentum = rg_world_angular_momentum(world);
    step_world(world, 1.0 / 240, 24000);
    assert_near(rg_world_energy(world) / energy, 1, 1e-12);
    assert_near(rg_length(rg_sub(rg_world_angular_momentum(world), momentum)), 0,
                1e-13 * rg_length(momentum));
    rg_world_destroy(world);
}

/* A spring swings for a thousand periods without its energy growing: the update is symplectic. */
static void springs_do_not_gain_energy(void **state) {
    (void)state;
    rg_world_def world_def = rg_world_def_default();
    world_def.gravity = (rg_vec3){0, 0, 0};
    rg_world *world = world_of(&world_def);
    rg_body_id body = add_box(world, "b", (rg_vec3){0.1, 0.1, 0.1}, (rg_vec3){1, 0, 0});
    rg_force_def def = rg_force_def_default(RG_FORCE_SPRING);
    def.body = body;
    def.stiffness = 100;
    rg_force_id force;
    assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
    double farthest = 0;
    for (int i = 0; i < 150000; i++) {
        step_world(world, 1.0 / 240, 1);
        farthest = fmax(farthest, fabs(rg_body_pose(world, body).position.x));
    }
    assert_true(farthest < 1.03);
    assert_true(farthest > 0.99);
    rg_world_destroy(world);
}

/* A force that acts for a part of a step only gives the impulse of that part. */
static void short_forces_are_not_lost(void **state) {
    (void)state;
    const double spans[][2] = {{0.06, 0.09}, {0.0, 0.01}, {0.05, 0.25}, {-1, 0.3}, {0.29, 5}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        rg_world_def world_def = rg_world_def_default();
        world_def.gravity = (rg_vec3){0, 0, 0};
        rg_world *world = world_of(&world_def);
        rg_body_id body = add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
        rg_force_def def = rg_force_def_default(RG_FORCE_CONSTANT);
        def.body = body;
        def.force = (rg_vec3){100, 0, 0};
        def.start_time = spans[i][0];
        def.stop_time = spans[i][1];
        rg_force_id force;
        assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
        step_world(world, 0.1, 3);
        double acted = fmin(spans[i][1], 0.3) - fmax(spans[i][0], 0);
        assert_near(rg_body_momentum(world, body).x, 100 * acted, 1e-12);
        rg_world_destroy(world);
    }
}

static void planar_bodies_count_their_turns(void **state) {
    (void)state;
    rg_world_def world_def = rg_world_def_default();
    world_def.planar = true;
    for (int analytic = 0; analytic < 2; analytic++) {
        world_def.method = analytic ? rg_method_find("analytic") : NULL;
        rg_world *world = world_of(&world_def);
        assert_int_equal(rg_world_degrees_of_freedom(world), 3);
        rg_shape *disc = shape_of(rg_shape_def_disc(0.5));
        rg_collider_def collider = rg_collider_def_default();
        collider.shape = disc;
        collider.density = 4;
        rg_body_def def = rg_body_def_default();
        def.angle = 0.25;
        def.angular_velocity.y = -7; /* angle grows at 7 rad/s */
        def.velocity = (rg_vec3){1, 0, 0};
        def.colliders = &collider;
        def.collider_count = 1;
        rg_body_id body = body_of(world, &def);
        rg_shape_release(disc);
        assert_near(rg_body_mass(world, body).mass, RG_PI, 1e-14);
        step_world(world, 1.0 / 128, 512);
        assert_near(rg_body_angle(world, body), 0.25 + 28, 1e-12);
        assert_near(rg_body_spin(world, body), 7, 1e-14);
        rg_pose pose = rg_body_pose(world, body);
        assert_vector(pose.position, (rg_vec3){4, 0, -0.5 * 9.81 * 16}, 1e-11);
        /* The angle turns x towards z. */
        rg_vec3 x = rg_rotate(pose.orientation, (rg_vec3){1, 0, 0});
        assert_vector(x, (rg_vec3){cos(28.25), 0, sin(28.25)}, 1e-12);
        assert_true(rg_world_summary(world).energy.closure_rel < 1e-12);
        rg_world_destroy(world);
    }
}

static void too_fast_names_the_body(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id body = add_box(world, "whirl", (rg_vec3){1, 2, 3}, (rg_vec3){0, 0, 0});
    rg_body_set_angular_velocity(world, body, (rg_vec3){1e7, 1e6, 0});
    uint64_t before = rg_world_state_hash(world);
    rg_error error;
    assert_int_equal(rg_world_step(world, 1, NULL, &error), RG_ITERATION_LIMIT);
    assert_string_equal(error.text,
                        "body 0 \"whirl\" turns at 1e+07 rad/s, too fast for steps of 1 "
                        "s; take a smaller step or the analytic method");
    assert_true(rg_world_state_hash(world) == before);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parabola_is_exact_at_any_step),
        cmocka_unit_test(time_adds_up),
        cmocka_unit_test(asymmetric_top_keeps_its_energy),
        cmocka_unit_test(springs_do_not_gain_energy),
        cmocka_unit_test(short_forces_are_not_lost),
        cmocka_unit_test(planar_bodies_count_their_turns),
        cmocka_unit_test(too_fast_names_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
