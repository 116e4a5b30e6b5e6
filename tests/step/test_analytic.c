/* Free flight by the analytic method against closed forms. */
#include "test_support.h"

#include "base/base_math.h"
#include "rigor/rigor.h"

#include <math.h>
#include <string.h>

static rg_world *make_world(rg_integrator integrator, double tolerance, rg_vec3 gravity) {
    rg_world_def def = rg_world_def_default();
    def.gravity = gravity;
    def.method = rg_method_find("analytic");
    def.settings.tolerance = tolerance;
    def.settings.integrator = integrator;
    rg_world *world;
    assert_int_equal(rg_world_create(&def, &world, NULL), RG_OK);
    return world;
}

static rg_body_id add_top(rg_world *world, rg_vec3 inertia, rg_vec3 angular_velocity) {
    rg_body_def def = rg_body_def_default();
    def.has_mass = true;
    def.mass = (rg_mass_properties){.mass = 1, .inertia = rg_mat3_diagonal(inertia)};
    def.angular_velocity = angular_velocity;
    rg_body_id body;
    rg_error error;
    if (rg_world_add_body(world, &def, &body, &error))
        fail_msg("%s", error.text);
    return body;
}

static void step(rg_world *world, double h, int count) {
    rg_error error;
    for (int i = 0; i < count; i++)
        if (rg_world_step(world, h, NULL, &error))
            fail_msg("%s", error.text);
}

/* Jacobi's elliptic functions by the descending Landen transformation, in long double. */
static void jacobi(long double u, long double m, long double *sn, long double *cn,
                   long double *dn) {
    long double a[32], c[32];
    int n = 0;
    a[0] = 1;
    long double b = sqrtl(1 - m);
    c[0] = sqrtl(m);
    while (fabsl(c[n]) > 1e-19L && n < 30) {
        a[n + 1] = (a[n] + b) / 2;
        c[n + 1] = (a[n] - b) / 2;
        b = sqrtl(a[n] * b);
        n++;
    }
    long double phi = ldexpl(a[n] * u, n);
    for (; n > 0; n--) {
        phi = (phi + asinl(c[n] / a[n] * sinl(phi))) / 2;
    }
    *sn = sinl(phi);
    *cn = cosl(phi);
    *dn = sqrtl(1 - m * *sn * *sn);
}

/* Landau and Lifshitz, Mechanics, section 37: inertia ascending, M^2 > 2 E I_2, omega_2(0) = 0. */
static rg_vec3 elliptic_top(rg_vec3 inertia, rg_vec3 start, double t) {
    long double i1 = inertia.x, i2 = inertia.y, i3 = inertia.z;
    long double e2 = i1 * start.x * start.x + i3 * start.z * start.z;
    long double mm = i1 * i1 * start.x * start.x + i3 * i3 * start.z * start.z;
    long double rate = sqrtl((i3 - i2) * (mm - e2 * i1) / (i1 * i2 * i3));
    long double m = (i2 - i1) * (e2 * i3 - mm) / ((i3 - i2) * (mm - e2 * i1));
    long double sn, cn, dn;
    jacobi(rate * t, m, &sn, &cn, &dn);
    return (rg_vec3){(double)(sqrtl((e2 * i3 - mm) / (i1 * (i3 - i1))) * cn),
                     (double)(sqrtl((e2 * i3 - mm) / (i2 * (i3 - i2))) * sn),
                     (double)(sqrtl((mm - e2 * i1) / (i3 * (i3 - i1))) * dn)};
}

static const rg_vec3 top_inertia = {1, 2, 3}, top_start = {0.8, 0, 0.6};

static void asymmetric_top_follows_elliptic_solution(void **state) {
    (void)state;
    const rg_integrator integrators[] = {RG_INTEGRATOR_DORMAND_PRINCE, RG_INTEGRATOR_ADAMS};
    for (int k = 0; k < 2; k++) {
        rg_world *world = make_world(integrators[k], 1e-13, (rg_vec3){0, 0, 0});
        rg_body_id body = add_top(world, top_inertia, top_start);
        double worst = 0;
        for (int i = 0; i < 1000; i++) {
            step(world, 0.1, 1);
            rg_vec3 seen = rg_rotate_back(rg_body_pose(world, body).orientation,
                                          rg_body_angular_velocity(world, body));
            rg_vec3 exact = elliptic_top(top_inertia, top_start, rg_world_time(world));
            worst = fmax(worst, rg_length(rg_sub(seen, exact)));
        }
        print_message("%s: largest error of the body's angular velocity in 100 s: %.3g rad/s\n",
                      rg_integrator_name(integrators[k]), worst);
        assert_true(worst < 1e-10);
        rg_world_destroy(world);
    }
}

/* The figure: energy and |L| drift at most 1e-12, relative, over 1000 s. */
static void energy_and_momentum_do_not_drift(void **state) {
    (void)state;
    const rg_integrator integrators[] = {RG_INTEGRATOR_DORMAND_PRINCE, RG_INTEGRATOR_ADAMS};
    for (int k = 0; k < 2; k++) {
        rg_world *world = make_world(integrators[k], 1e-15, (rg_vec3){0, 0, 0});
        add_top(world, top_inertia, top_start);
        double energy = rg_world_energy(world),
               momentum = rg_length(rg_world_angular_momentum(world));
        double energy_drift = 0, momentum_drift = 0;
        for (int i = 0; i < 1000; i++) {
            step(world, 0.1, 10);
            energy_drift = fmax(energy_drift, fabs(rg_world_energy(world) / energy - 1));
            momentum_drift = fmax(momentum_drift,
                                  fabs(rg_length(rg_world_angular_momentum(world)) / momentum - 1));
        }
        rg_step_info info = rg_world_summary(world);
        print_message("%s: drift in 1000 s: energy %.3g, |L| %.3g (%llu steps)\n",
                      rg_integrator_name(integrators[k]), energy_drift, momentum_drift,
                      (unsigned long long)info.substeps);
        assert_near(rg_world_time(world), 1000, 1e-12);
        assert_true(energy_drift <= 1e-12);
        assert_true(momentum_drift <= 1e-12);
        rg_world_destroy(world);
    }
}

static void parabola_is_exact(void **state) {
    (void)state;
    rg_world *world = make_world(RG_INTEGRATOR_DORMAND_PRINCE, 1e-9, (rg_vec3){0, 0, -9.81});
    rg_body_id body = add_top(world, (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
    rg_body_set_velocity(world, body, (rg_vec3){3, -2, 20});
    step(world, 0.125, 16);
    rg_vec3 x = rg_body_pose(world, body).position;
    assert_near(x.x, 6, 1e-13);
    assert_near(x.y, -4, 1e-13);
    assert_near(x.z, 40 - 0.5 * 9.81 * 4, 1e-12);
    assert_true(rg_world_summary(world).energy.closure_rel < 1e-14);
    rg_world_destroy(world);
}

/* A mass on a damped spring, and the ledger of the work that it does. */
static void damped_spring_follows_closed_form(void **state) {
    (void)state;
    rg_world *world = make_world(RG_INTEGRATOR_DORMAND_PRINCE, 1e-12, (rg_vec3){0, 0, 0});
    rg_body_id body = add_top(world, (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
    rg_body_set_pose(world, body, (rg_pose){{1.5, 0, 0}, {0, 0, 0, 1}});
    rg_force_def def = rg_force_def_default(RG_FORCE_SPRING);
    def.body = body;
    def.stiffness = 9;
    def.damping = 0.4;
    def.rest_length = 1;
    rg_force_id force;
    assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
    step(world, 0.05, 100);
    double decay = 0.2, rate = sqrt(9 - decay * decay), t = 5;
    double exact = 1 + 0.5 * exp(-decay * t) * (cos(rate * t) + decay / rate * sin(rate * t));
    assert_near(rg_body_pose(world, body).position.x, exact, 1e-9);
    rg_energy_ledger ledger = rg_world_summary(world).energy;
    assert_near(ledger.final, ledger.external_work, 1e-9); /* it started at rest */
    assert_true(ledger.closure_rel < 1e-9);
    rg_world_destroy(world);
}

/* A force that acts from 0.3 to 0.7 s, not at the ends of steps: the impulse is exact, which a step
 * across the switch would not give; the integrator is not bothered by it either. */
static void switched_force_is_met_exactly(void **state) {
    (void)state;
    const rg_integrator integrators[] = {RG_INTEGRATOR_DORMAND_PRINCE, RG_INTEGRATOR_ADAMS};
    for (int k = 0; k < 2; k++) {
        rg_world *world = make_world(integrators[k], 1e-10, (rg_vec3){0, 0, 0});
        rg_body_id body = add_top(world, (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
        rg_force_def def = rg_force_def_default(RG_FORCE_CONSTANT);
        def.body = body;
        def.force = (rg_vec3){5, 0, 0};
        def.start_time = 0.3;
        def.stop_time = 0.7;
        rg_force_id force;
        assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
        step(world, 0.25, 4);
        assert_near(rg_body_velocity(world, body).x, 5 * 0.4, 1e-14);
        assert_near(rg_body_pose(world, body).position.x, 0.5 * 5 * 0.16 + 5 * 0.4 * 0.3, 1e-14);
        assert_true(rg_world_summary(world).rejected == 0);
        rg_world_destroy(world);
    }
}

/* Kepler's orbit in a central field closes after its period. */
static void orbit_closes(void **state) {
    (void)state;
    rg_world *world = make_world(RG_INTEGRATOR_ADAMS, 1e-13, (rg_vec3){0, 0, 0});
    rg_body_id body = add_top(world, (rg_vec3){1e-4, 1e-4, 1e-4}, (rg_vec3){0, 0, 0});
    rg_body_set_pose(world, body, (rg_pose){{1, 0, 0}, {0, 0, 0, 1}});
    rg_body_set_velocity(world, body, (rg_vec3){0, 1.2, 0});
    rg_force_def def = rg_force_def_default(RG_FORCE_CENTRAL);
    def.strength = 1;
    rg_force_id force;
    assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
    double axis = 1 / (2 - 1.2 * 1.2), period = 2 * RG_PI * axis * sqrt(axis);
    step(world, period / 100, 100);
    rg_vec3 x = rg_body_pose(world, body).position;
    assert_near(x.x, 1, 1e-10);
    assert_near(x.y, 0, 1e-10);
    assert_true(rg_world_summary(world).certificate.momentum_error < 1e-12);
    rg_world_destroy(world);
}

static void poison(void *user, rg_force_context *context) {
    (void)user;
    if (context->time > 0.55)
        context->force[0].x = NAN;
}

static void a_bad_force_leaves_the_world_as_it_was(void **state) {
    (void)state;
    rg_world *world = make_world(RG_INTEGRATOR_DORMAND_PRINCE, 1e-10, (rg_vec3){0, 0, -9.81});
    add_top(world, top_inertia, top_start);
    rg_force_def def = rg_force_def_default(RG_FORCE_FUNCTION);
    def.function = poison;
    rg_force_id force;
    assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
    step(world, 0.1, 5);
    uint64_t before = rg_world_state_hash(world);
    rg_error error;
    assert_int_equal(rg_world_step(world, 0.1, NULL, &error), RG_NOT_FINITE);
    assert_non_null(strstr(error.text, "look at the forces"));
    assert_true(rg_world_state_hash(world) == before);
    assert_int_equal(rg_world_step_count(world), 5);
    rg_world_destroy(world);
}

/* A body that falls into the centre of a field never gets out of it: refused, not computed for
 * ever. */
static void a_singular_force_is_given_up(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        rg_world *world = make_world((rg_integrator)k, 1e-9, (rg_vec3){0, 0, -9.81});
        rg_body_id body = add_top(world, (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
        rg_body_set_pose(world, body, (rg_pose){{0, 0, 1e-9}, {0, 0, 0, 1}});
        rg_force_def def = rg_force_def_default(RG_FORCE_CENTRAL);
        def.strength = 4;
        rg_force_id force;
        assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
        uint64_t before = rg_world_state_hash(world);
        rg_error error;
        rg_status status = rg_world_step(world, 0.01, NULL, &error);
        assert_true(status == RG_ITERATION_LIMIT || status == RG_STEP_TOO_SMALL);
        assert_true(rg_world_state_hash(world) == before);
        rg_world_destroy(world);
    }
}

/* A planar kinematic body counts its turns, too. */
static void planar_kinematic_bodies_count_their_turns(void **state) {
    (void)state;
    rg_world_def world_def = rg_world_def_default();
    world_def.planar = true;
    rg_world *world;
    assert_int_equal(rg_world_create(&world_def, &world, NULL), RG_OK);
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.angle = 20;
    def.angular_velocity.y = -10;
    rg_body_id body;
    assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_OK);
    assert_true(rg_body_angle(world, body) == 20);
    step(world, 0.1, 10);
    assert_near(rg_body_angle(world, body), 30, 1e-13);
    assert_true(rg_body_prescription_start_angle(world, body) == 20);
    rg_world_destroy(world);
}

/* The same motion at every size: lengths times s, times times sqrt(s), tolerance relative. */
static void scale_does_not_matter(void **state) {
    (void)state;
    for (double s = 1e-6; s < 2e6; s *= 1e3) {
        rg_world *world = make_world(RG_INTEGRATOR_DORMAND_PRINCE, 1e-12, (rg_vec3){0, 0, -9.81});
        rg_body_def def = rg_body_def_default();
        def.has_mass = true;
        double mass = 1000 * s * s * s;
        def.mass = (rg_mass_properties){
            .mass = mass,
            .inertia = rg_mat3_diagonal(rg_scale(mass * s * s, (rg_vec3){0.1, 0.2, 0.25}))};
        double rate = 1 / sqrt(s);
        def.angular_velocity = rg_scale(rate, (rg_vec3){0.1, 2, 0.1});
        def.velocity = rg_scale(sqrt(s), (rg_vec3){1, 2, 5});
        rg_body_id body;
        assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_OK);
        step(world, 0.05 * sqrt(s), 100);
        double t = 5 * sqrt(s);
        assert_near(rg_body_pose(world, body).position.z / s,
                    (5 * sqrt(s) * t - 0.5 * 9.81 * t * t) / s, 1e-10);
        assert_true(rg_world_summary(world).energy.closure_rel < 1e-9);
        assert_true(rg_world_summary(world).certificate.momentum_error < 1e-13);
        rg_world_destroy(world);
    }
}

/* The first step that an integrator guesses for a small body at rest is below the resolution of a
 * late time; its fall is a parabola all the same. */
static void a_body_at_rest_starts_at_any_time(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++)
        for (double tolerance = 1e-15; tolerance < 1e-2; tolerance *= 1e3) {
            rg_world *world = make_world(k ? RG_INTEGRATOR_ADAMS : RG_INTEGRATOR_DORMAND_PRINCE,
                                         tolerance, (rg_vec3){0, 0, -9.81});
            step(world, 1e4, 1);
            double small = 1e-6 / 6; /* of a cube of 1 mm and 1 kg */
            rg_body_id body = add_top(world, (rg_vec3){small, small, small}, (rg_vec3){0, 0, 0});
            double t = 0;
            for (int i = 0; i < 4; i++) {
                step(world, 1.0 / 256, 1);
                t += 1.0 / 256;
                assert_near(rg_body_pose(world, body).position.z, -0.5 * 9.81 * t * t,
                            1e-12 + tolerance * 1e-3);
            }
            rg_world_destroy(world);
        }
}

/* The history of the multistep method must not reach over a switch at the end of a step, whatever
 * else switched within that step. */
static void a_force_may_start_within_and_stop_at_the_end_of_a_step(void **state) {
    (void)state;
    double h = 1.0 / 256, push = 1e6;
    for (int k = 0; k < 2; k++) {
        rg_world *world = make_world(k ? RG_INTEGRATOR_ADAMS : RG_INTEGRATOR_DORMAND_PRINCE, 1e-14,
                                     (rg_vec3){0, 0, 0});
        rg_body_id body = add_top(world, (rg_vec3){1, 2, 2.5}, (rg_vec3){1, 2, 3});
        rg_force_def def = rg_force_def_default(RG_FORCE_CONSTANT);
        def.force = (rg_vec3){push, 0, 0};
        def.start_time = 20.5 * h;
        def.stop_time = 21 * h;
        rg_force_id force;
        assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
        step(world, h, 30);
        double t = 0.5 * h;
        assert_near(rg_body_velocity(world, body).x, push * t, 1e-10);
        assert_near(rg_body_pose(world, body).position.x, push * t * (0.5 * t + 9 * h), 1e-10);
        assert_true(rg_world_summary(world).rejected < 20);
        rg_world_destroy(world);
    }
}

/* Not even in the bits that follow: the integrator's memory is part of the world. */
static void a_failed_step_leaves_no_trace(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        rg_world *world[2];
        for (int i = 0; i < 2; i++) {
            world[i] = make_world(k ? RG_INTEGRATOR_ADAMS : RG_INTEGRATOR_DORMAND_PRINCE, 1e-9,
                                  (rg_vec3){0, 0, -9.81});
            add_top(world[i], (rg_vec3){1, 2, 2.5}, (rg_vec3){1, 2, 3});
            step(world[i], 0.05, 40);
        }
        assert_int_equal(rg_world_step(world[1], 1e9, NULL, NULL), RG_ITERATION_LIMIT);
        for (int i = 0; i < 2; i++)
            step(world[i], 0.05, 4);
        assert_true(rg_world_state_hash(world[0]) == rg_world_state_hash(world[1]));
        rg_world_destroy(world[0]);
        rg_world_destroy(world[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asymmetric_top_follows_elliptic_solution),
        cmocka_unit_test(energy_and_momentum_do_not_drift),
        cmocka_unit_test(parabola_is_exact),
        cmocka_unit_test(damped_spring_follows_closed_form),
        cmocka_unit_test(switched_force_is_met_exactly),
        cmocka_unit_test(orbit_closes),
        cmocka_unit_test(a_bad_force_leaves_the_world_as_it_was),
        cmocka_unit_test(a_singular_force_is_given_up),
        cmocka_unit_test(planar_kinematic_bodies_count_their_turns),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(a_body_at_rest_starts_at_any_time),
        cmocka_unit_test(a_force_may_start_within_and_stop_at_the_end_of_a_step),
        cmocka_unit_test(a_failed_step_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
