/* The event loop of the analytic method beside closed forms: times of impact, accumulation of
 * bounces, sliding to a stop, from sliding to rolling, the threshold of stick, a box that tips, a
 * moving support; and that it never penetrates, closes its ledger, and goes on with the same bits.
 * With both integrators. */
#include "both_integrators.h"
#include "test_world_support.h"

#include "base/base_trig.h"
#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "rigor/impact.h"

#include <stdlib.h>
#include <string.h>

#define G 9.81

static rg_world *make_world(bool planar, double static_friction, double friction,
                            double restitution, double tilt) {
    rg_world_def def = rg_world_def_default();
    def.planar = planar;
    def.method = rg_method_find("analytic");
    def.settings.integrator = test_integrator;
    rg_world *world = world_of(&def);
    rg_contact_law law = {
        .static_friction = static_friction, .friction = friction, .restitution = restitution};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
    rg_body_def floor = rg_body_def_default();
    floor.name = "floor";
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){-rg_sin(tilt), 0, rg_cos(tilt)}, 0), &floor);
    return world;
}

/* Steps, and asserts of every step what holds always. */
static void step_exactly(rg_world *world, double h, int count, double size) {
    rg_error error;
    rg_step_info info;
    for (int i = 0; i < count; i++) {
        if (rg_world_step(world, h, &info, &error))
            fail_msg("%s", error.text);
        assert_int_equal(info.solver_failures, 0);
        assert_true(!(info.certificate.min_gap < -1e-9 * size));
        assert_true(!(info.certificate.complementarity > 1e-8));
        assert_true(info.certificate.momentum_error < 1e-9);
        assert_true(info.energy.closure_rel < 1e-8);
    }
}

/* The first event of a kind in the last step. */
static const rg_step_event *find_event(const rg_world *world, rg_step_event_kind kind) {
    size_t kept, count;
    const rg_step_event *events = rg_world_step_events(world, &kept, &count);
    for (size_t i = 0; i < kept; i++)
        if (events[i].kind == kind)
            return &events[i];
    return NULL;
}

static rg_step_event step_until(rg_world *world, double h, int most, rg_step_event_kind kind) {
    for (int i = 0; i < most; i++) {
        step_exactly(world, h, 1, 0.1);
        const rg_step_event *event = find_event(world, kind);
        if (event)
            return *event;
    }
    fail_msg("no %s in %d steps", rg_step_event_name(kind), most);
    return (rg_step_event){0};
}

static rg_body_id add_ball(rg_world *world, double radius, rg_vec3 position, rg_vec3 velocity) {
    rg_body_def def = rg_body_def_default();
    def.pose.position = position;
    def.velocity = velocity;
    return add_shape(world, rg_shape_def_sphere(radius), &def);
}

static rg_body_id add_block(rg_world *world, rg_vec3 size, rg_vec3 position, rg_vec3 velocity) {
    rg_body_def def = rg_body_def_default();
    def.pose.position = position;
    def.velocity = velocity;
    return add_shape(world, rg_shape_def_box(size.x, size.y, size.z), &def);
}

static void add_rectangle(rg_world *world, rg_motion motion, double width, double height, double x,
                          double z, double angle) {
    rg_vec3 corners[4] = {{-width / 2, 0, -height / 2},
                          {width / 2, 0, -height / 2},
                          {width / 2, 0, height / 2},
                          {-width / 2, 0, height / 2}};
    rg_body_def def = rg_body_def_default();
    def.motion = motion;
    def.pose.position = (rg_vec3){x, 0, z};
    def.angle = angle;
    add_shape(world, rg_shape_def_polygon(corners, 4), &def);
}

/* Three balls, each lighter than the one before it: the last one leaves nearly four times as fast
 * as anything was, and so farther than it was taken to. The step is made again; a block somewhere
 * else must not be where it ended then. */
static void a_step_made_again_moves_nobody_twice(void **state) {
    (void)state;
    const double h = 1.0 / 240, air = 1e-6;
    rg_world *world = make_world(false, 0, 0, 1, 0);
    rg_body_id block =
        add_block(world, (rg_vec3){0.2, 0.2, 0.2}, (rg_vec3){-9, 0, 0.1}, (rg_vec3){0.5, 0, 0});
    rg_vec3 at = {0, 0, 9}, rest = {0, 0, 0};
    add_ball(world, 0.2, at, (rg_vec3){1, 0, 0});
    at.x += 0.2 + air + 0.08;
    add_ball(world, 0.08, at, rest);
    at.x += 0.08 + air + 0.03;
    rg_body_id last = add_ball(world, 0.03, at, rest);
    step_exactly(world, h, 1, 0.03);
    double m1 = 0.2 * 0.2 * 0.2, m2 = 0.08 * 0.08 * 0.08, m3 = 0.03 * 0.03 * 0.03;
    double v = 2 * m1 / (m1 + m2) * 2 * m2 / (m2 + m3);
    assert_near(rg_body_velocity(world, last).x, v, 1e-9);
    assert_true(v > 3.5);
    assert_near(rg_body_pose(world, block).position.x, -9 + 0.5 * h, 1e-14);
    rg_world_destroy(world);
}

/* A ball from 1 m hits at sqrt(2 h / g) = 0.4515236 s, whatever the length of the steps. */
static void a_fall_ends_in_time(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        double h[3] = {1.0 / 240, 0.01, 0.3};
        rg_world *world = make_world(false, 0, 0, 0, 0);
        add_ball(world, 0.1, (rg_vec3){0, 0, 1.1}, (rg_vec3){0, 0, 0});
        rg_step_event hit = step_until(world, h[i], 400, RG_STEP_EVENT_IMPACT);
        assert_near(hit.time, sqrt(2 / G), 1e-10);
        assert_near(hit.value, sqrt(2 * G), 1e-9);
        rg_world_destroy(world);
    }
}

/* E: bounces from 1 m end after sqrt(2/g) (1 + e) / (1 - e). */
static void bounces_end_in_closed_form(void **state) {
    (void)state;
    double e[2] = {0.5, 0.9}, end[2] = {1.354571, 8.578949};
    for (int i = 0; i < 2; i++) {
        rg_world *world = make_world(false, 0, 0, e[i], 0);
        rg_body_id ball = add_ball(world, 0.1, (rg_vec3){0, 0, 1.1}, (rg_vec3){0, 0, 0});
        rg_step_event rest = step_until(world, 0.01, 1000, RG_STEP_EVENT_ACCUMULATION);
        assert_near(rest.value, sqrt(2 / G) * (1 + e[i]) / (1 - e[i]), 1e-6);
        assert_near(rest.value, end[i], 2e-6);
        step_exactly(world, 0.01, 20, 0.1);
        assert_near(rg_body_pose(world, ball).position.z, 0.1, 1e-9);
        assert_true(rg_length(rg_body_velocity(world, ball)) < 1e-9);
        rg_vec3 force;
        rg_body_contact_force(world, ball, &force, NULL);
        assert_near(force.z / (rg_body_mass(world, ball).mass * G), 1, 1e-12);
        rg_world_destroy(world);
    }
}

/* Without loss the apex stays where it was. */
static void elastic_bounces_keep_their_height(void **state) {
    (void)state;
    rg_world *world = make_world(false, 0, 0, 1, 0);
    rg_body_id ball = add_ball(world, 0.1, (rg_vec3){0, 0, 1.1}, (rg_vec3){0, 0, 0});
    double energy = rg_world_energy(world);
    uint64_t bounces = test_is_long() ? 1000 : 100, seen = 0;
    while (seen < bounces) {
        step_exactly(world, 0.05, 1, 0.1);
        seen = rg_world_summary(world).impacts;
    }
    double mass = rg_body_mass(world, ball).mass;
    assert_near((rg_world_energy(world) - energy) / (mass * G), 0, 1e-9);
    rg_world_destroy(world);
}

/* Coulomb's law: v = 3 m/s, mu = 0.4 stops after 1.146789 m and 0.764526 s. */
static void a_block_slides_to_a_stop(void **state) {
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        rg_world *world = make_world(planar, 0.4, 0.4, 0, 0);
        rg_vec3 corners[4] = {{-0.5, 0, -0.1}, {0.5, 0, -0.1}, {0.5, 0, 0.1}, {-0.5, 0, 0.1}};
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0, 0, 0.1};
        def.velocity = (rg_vec3){3, 0, 0};
        rg_body_id block = add_shape(
            world, planar ? rg_shape_def_polygon(corners, 4) : rg_shape_def_box(1, 0.7, 0.2), &def);
        rg_step_event stop = step_until(world, 0.01, 100, RG_STEP_EVENT_STICK);
        assert_near(stop.time, 3 / (0.4 * G), 1e-9);
        step_exactly(world, 0.01, 100, 0.1);
        assert_near(rg_body_pose(world, block).position.x, 9 / (0.8 * G), 1e-9);
        assert_true(rg_length(rg_body_velocity(world, block)) < 1e-12);
        rg_world_destroy(world);
    }
}

/* Coulomb's law: a ball that slides rolls from t = 2 v0 / (7 mu g) on, with 5/7 of its speed. */
static void a_ball_goes_from_sliding_to_rolling(void **state) {
    (void)state;
    rg_world *world = make_world(false, 0.3, 0.3, 0, 0);
    double speed = 2.25;
    rg_body_id ball = add_ball(world, 0.1, (rg_vec3){0, 0, 0.1}, (rg_vec3){speed, 0, 0});
    rg_step_event rolls = step_until(world, 0.01, 100, RG_STEP_EVENT_STICK);
    assert_near(rolls.time, 2 * speed / (7 * 0.3 * G), 1e-9);
    step_exactly(world, 0.01, 50, 0.1);
    assert_near(rg_body_velocity(world, ball).x, speed * 5 / 7, 1e-9);
    assert_near(rg_body_angular_velocity(world, ball).y, speed * 5 / 7 / 0.1, 1e-8);
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    assert_int_equal(count, 1);
    assert_int_equal(forces[0].mode, RG_MODE_ROLL);
    rg_world_destroy(world);
}

static rg_body_id add_on_slope(rg_world *world, double tilt, double yaw) {
    rg_body_def def = rg_body_def_default();
    rg_quat turn = {0, 0, rg_sin(yaw / 2), rg_cos(yaw / 2)};
    rg_quat lean = {0, -rg_sin(tilt / 2), 0, rg_cos(tilt / 2)};
    def.pose.orientation = rg_quat_multiply(lean, turn);
    def.pose.position = (rg_vec3){-0.5 * rg_sin(tilt), 0, 0.5 * rg_cos(tilt)};
    return add_shape(world, rg_shape_def_box(1, 1, 1), &def);
}

/* Coulomb's law: stick up to tan(theta) = mu_s, beyond it g (sin - mu_d cos); both coefficients,
 * any yaw. */
static void stick_ends_at_the_cone(void **state) {
    (void)state;
    double tilt = RG_PI / 6, limit = rg_sin(tilt) / rg_cos(tilt);
    for (int i = 0; i < 3; i++) {
        double yaw = 0.4 * i;
        rg_world *world = make_world(false, limit * 1.001, 0.3, 0, tilt);
        rg_body_id box = add_on_slope(world, tilt, yaw);
        rg_vec3 start = rg_body_pose(world, box).position;
        step_exactly(world, 0.01, 30, 1);
        assert_vector(rg_body_pose(world, box).position, start, 1e-9);
        rg_world_destroy(world);

        world = make_world(false, limit * 0.999, 0.3, 0, tilt);
        box = add_on_slope(world, tilt, yaw);
        step_exactly(world, 0.01, 50, 1);
        rg_vec3 v = rg_body_velocity(world, box);
        double expected = 0.5 * G * (rg_sin(tilt) - 0.3 * rg_cos(tilt));
        assert_near(rg_length(v), expected, 1e-9 * 5);
        assert_near(v.y, 0, 1e-9);
        rg_world_destroy(world);
    }
}

/* A block on a slope that is too steep for it slips at g (sin - mu cos), and says so in its first
 * step, however weak or strong gravity is. */
static void slips_begin_in_any_gravity(void **state) {
    (void)state;
    const double tilt = RG_PI / 6, mu = 0.3, gravity[] = {1e-4, G, 1e4};
    for (size_t i = 0; i < sizeof gravity / sizeof *gravity; i++) {
        rg_world *world = make_world(false, mu, mu, 0, tilt);
        rg_world_set_gravity(world, (rg_vec3){0, 0, -gravity[i]});
        rg_body_id box = add_on_slope(world, tilt, 0.4);
        double expected = gravity[i] * (rg_sin(tilt) - mu * rg_cos(tilt));
        double h = 1e-2 * sqrt(G / gravity[i]);
        step_exactly(world, h, 1, 1);
        const rg_step_event *slip = find_event(world, RG_STEP_EVENT_SLIP);
        assert_non_null(slip);
        assert_near(slip->value / expected, 1, 1e-9);
        assert_near(rg_length(rg_body_velocity(world, box)) / (expected * h), 1, 1e-9);
        rg_world_destroy(world);
    }
}

/* A block that lies without friction is carried by its weight to rounding, whichever solver is
 * asked: raised diagonals leave nothing behind. */
static void a_block_lies_by_every_solver(void **state) {
    (void)state;
    const char *const solvers[] = {"auto", "dantzig", "lemke", "enumerate", "newton"};
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        rg_method_settings settings = rg_method_settings_default();
        rg_world *world = make_world(false, 0, 0, 0, 0);
        rg_error error;
        settings.integrator = test_integrator;
        settings.solver = rg_solver_find(solvers[i]);
        assert_non_null(settings.solver);
        assert_int_equal(rg_world_set_method(world, rg_method_find("analytic"), &settings, &error),
                         RG_OK);
        rg_body_id box =
            add_block(world, (rg_vec3){1, 2, 0.5}, (rg_vec3){0, 0, 0.25}, (rg_vec3){0, 0, 0});
        step_exactly(world, 0.01, 3, 1);
        double weight = rg_body_mass(world, box).mass * G, sum = 0;
        size_t count;
        const rg_contact_force *forces = rg_world_contact_forces(world, &count);
        assert_int_equal(count, 4);
        for (size_t k = 0; k < count; k++) {
            assert_near(forces[k].normal_force / weight, 0.25, 1e-7);
            sum += forces[k].normal_force;
        }
        assert_near(sum / weight, 1, 1e-13);
        rg_world_destroy(world);
    }
}

/* A disc that is thrown up in the plane meets the ceiling on its way, also where one step would
 * take it up and down again. */
static void who_turns_back_meets_what_was_above(void **state) {
    (void)state;
    const double v = 5, ceiling[] = {0.4, 1.2, 1.27};
    for (int i = 0; i < 3; i++)
        for (int side = -1; side <= 1; side += 2) {
            rg_world *world = make_world(true, 0, 0, 0, 0);
            rg_world_set_gravity(world, (rg_vec3){0, 0, -side * G});
            rg_body_def def = rg_body_def_default();
            def.pose.position = (rg_vec3){0, 0, 5};
            def.velocity = (rg_vec3){0, 0, side * v};
            add_shape(world, rg_shape_def_disc(0.1), &def);
            add_rectangle(world, RG_MOTION_FIXED, 4, 0.2, 0, 5 + side * (0.2 + ceiling[i]), 0);
            step_exactly(world, 0.9, 1, 0.1);
            const rg_step_event *hit = find_event(world, RG_STEP_EVENT_IMPACT);
            assert_non_null(hit);
            double at = (v - sqrt(v * v - 2 * G * ceiling[i])) / G;
            assert_near(hit->time, at, 1e-8);
            assert_near(hit->value, v - G * at, 1e-7);
            rg_world_destroy(world);
        }
}

/* Two tangents, each with its own limit, in place of the cone (Baraff 1994): the same down a slope,
 * along which one of them lies. */
static void two_tangents_hold_and_let_go(void **state) {
    (void)state;
    double tilt = RG_PI / 6, limit = rg_sin(tilt) / rg_cos(tilt);
    for (int slides = 0; slides < 2; slides++) {
        rg_world *world =
            make_world(false, slides ? 0.3 : limit * 1.001, slides ? 0.3 : limit * 1.001, 0, tilt);
        rg_method_settings settings = rg_world_settings(world);
        settings.friction_directions = 4;
        rg_error error;
        assert_int_equal(rg_world_set_method(world, rg_method_find("analytic"), &settings, &error),
                         RG_OK);
        rg_body_id box = add_on_slope(world, tilt, 0);
        rg_vec3 start = rg_body_pose(world, box).position;
        step_exactly(world, 0.01, 50, 1);
        double expected = slides ? 0.5 * G * (rg_sin(tilt) - 0.3 * rg_cos(tilt)) : 0;
        assert_near(rg_length(rg_body_velocity(world, box)), expected, 1e-9 * 5);
        if (!slides)
            assert_vector(rg_body_pose(world, box).position, start, 1e-9);
        rg_world_destroy(world);
    }
}

/* A planar brick on its corner falls over: energy goes into the impacts alone, and it comes to
 * rest. */
static void a_brick_comes_to_rest(void **state) {
    (void)state;
    rg_world *world = make_world(true, 0.5, 0.5, 0.3, 0);
    rg_vec3 corners[4] = {{-1, 0, -0.5}, {1, 0, -0.5}, {1, 0, 0.5}, {-1, 0, 0.5}};
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){0, 0, 1.5};
    def.angle = 0.4;
    rg_body_id brick = add_shape(world, rg_shape_def_polygon(corners, 4), &def);
    step_exactly(world, 0.01, 300, 1);
    assert_near(rg_body_pose(world, brick).position.z, 0.5, 1e-9);
    assert_near(rg_body_angle(world, brick), 0, 1e-9);
    rg_step_info run = rg_world_summary(world);
    assert_near(run.energy.initial + run.energy.friction_work - run.energy.impact_loss +
                    run.energy.stabilisation,
                run.energy.final, 1e-9 * run.energy.initial);
    rg_world_destroy(world);
}

/* A table that swings up and down carries a block as long as its acceleration is below g, and
 * throws it where that is reached; the work is the table's. */
static void a_moving_support_carries_and_throws(void **state) {
    (void)state;
    double frequency = 2, omega = 2 * RG_PI * frequency;
    for (int i = 0; i < 2; i++) {
        double amplitude = (i ? 1.5 : 0.9) * G / (omega * omega);
        rg_world_def world_def = rg_world_def_default();
        world_def.method = rg_method_find("analytic");
        world_def.settings.integrator = test_integrator;
        rg_world *world = world_of(&world_def);
        rg_body_def table = rg_body_def_default();
        table.motion = RG_MOTION_KINEMATIC;
        table.prescription = (rg_prescription){.kind = RG_PRESCRIBED_OSCILLATION,
                                               .amplitude = {0, 0, amplitude},
                                               .frequency = frequency};
        table.pose.position = (rg_vec3){0, 0, -0.5};
        add_shape(world, rg_shape_def_box(4, 4, 1), &table);
        rg_body_id block = add_block(world, (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5},
                                     (rg_vec3){0, 0, amplitude * omega});
        if (i == 0) {
            step_exactly(world, 0.005, 100, 1);
            assert_near(rg_body_pose(world, block).position.z,
                        0.5 + amplitude * rg_sin(omega * 0.5), 1e-8);
        } else {
            rg_step_event thrown = step_until(world, 0.005, 100, RG_STEP_EVENT_BREAK);
            /* A omega^2 sin(omega t) = g */
            assert_near(rg_sin(omega * thrown.time), 1 / 1.5, 1e-6);
        }
        rg_world_destroy(world);
    }
}

static rg_world *weightless(void) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    def.settings.integrator = test_integrator;
    def.gravity = (rg_vec3){0, 0, 0};
    return world_of(&def);
}

static rg_body_id add_fixed_box(rg_world *world, rg_vec3 size, rg_vec3 position) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position = position;
    return add_shape(world, rg_shape_def_box(size.x, size.y, size.z), &def);
}

static void push(rg_world *world, rg_body_id body, double force, double start, double stop) {
    rg_force_def def = rg_force_def_default(RG_FORCE_CONSTANT);
    def.body = body;
    def.force.x = force;
    def.start_time = start;
    def.stop_time = stop;
    assert_int_equal(rg_world_add_force(world, &def, &(rg_force_id){0}, NULL), RG_OK);
}

/* Forces bring a ball through where a wall is, and back, all in one step: it has met it on the way.
 * Without the wall it would be at rest where it began. */
static void who_comes_back_has_been_away(void **state) {
    (void)state;
    rg_world *world = weightless();
    add_fixed_box(world, (rg_vec3){0.01, 4, 4}, (rg_vec3){3, 0, 0});
    rg_body_def def = rg_body_def_default();
    def.has_mass = false;
    def.total_mass = 1;
    rg_body_id ball = add_shape(world, rg_shape_def_sphere(0.1), &def);
    push(world, ball, 200, 0.1, 0.3);
    push(world, ball, -200, 0.3, 0.7);
    push(world, ball, 200, 0.7, 0.9);
    rg_step_event met = step_until(world, 1, 1, RG_STEP_EVENT_IMPACT);
    /* 2.895 m: 100 t^2 until 0.2 s, no further than 4 m + 40 t - 100 t^2 from then on */
    assert_near(met.time, 0.1 + sqrt(0.02895), 1e-9);
    rg_world_destroy(world);
}

/* A rod that begins to turn meets a post that its centre stays away from. */
static void who_turns_gets_somewhere(void **state) {
    (void)state;
    rg_world *world = weightless();
    add_fixed_box(world, (rg_vec3){0.05, 0.05, 1}, (rg_vec3){0.6, 0.6, 0});
    rg_body_def rod = rg_body_def_default();
    rod.total_mass = 1;
    rg_body_id body = add_shape(world, rg_shape_def_box(2, 0.02, 0.02), &rod);
    rg_force_def def = rg_force_def_default(RG_FORCE_CONSTANT);
    def.body = body;
    def.torque.z = 6e4;
    assert_int_equal(rg_world_add_force(world, &def, &(rg_force_id){0}, NULL), RG_OK);
    rg_step_event met = step_until(world, 1.0 / 240, 1, RG_STEP_EVENT_IMPACT);
    /* At a right angle to the post's corner (0.625, 0.575), 0.01 m off the rod's middle: angle =
     * I^-1 torque t^2 / 2 */
    double inertia = (2.0 * 2.0 + 0.02 * 0.02) / 12,
           angle = 6e4 / inertia * met.time * met.time / 2;
    double radius = sqrt(0.625 * 0.625 + 0.575 * 0.575);
    assert_near(rg_sin(rg_atan2(0.575, 0.625) - angle), 0.01 / radius, 1e-6);
    rg_world_destroy(world);
}

/* Rounding leaves 5e-17 s between the end of a force and that of a step. */
static void a_force_ends_just_before_a_step(void **state) {
    (void)state;
    rg_world *world = weightless();
    rg_body_def def = rg_body_def_default();
    def.total_mass = 1;
    rg_body_id ball = add_shape(world, rg_shape_def_sphere(0.1), &def);
    push(world, ball, 1, -INFINITY, 0.3);
    step_world(world, 0.05, 20);
    assert_near(rg_body_velocity(world, ball).x, 0.3, 1e-12);
    assert_near(rg_body_pose(world, ball).position.x, 0.045 + 0.3 * 0.7, 1e-12);
    rg_world_destroy(world);
}

/* A table that is shaken along x and z. */
static rg_world *shaken_table(double tolerance) {
    rg_world_def world_def = rg_world_def_default();
    world_def.method = rg_method_find("analytic");
    world_def.settings.integrator = test_integrator;
    world_def.settings.tolerance = tolerance;
    rg_world *world = world_of(&world_def);
    rg_contact_law law = {.friction = 0.4, .restitution = 0.3};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
    rg_body_def table = rg_body_def_default();
    table.motion = RG_MOTION_KINEMATIC;
    table.prescription = (rg_prescription){
        .kind = RG_PRESCRIBED_OSCILLATION, .amplitude = {0.05, 0, 0.02}, .frequency = 3};
    table.pose.position = (rg_vec3){0, 0, -0.1};
    add_shape(world, rg_shape_def_box(20, 4, 0.2), &table);
    return world;
}

/* A box on a table that is shaken stops and slips, over and over: what it has done does not depend
 * on the tolerance. */
static void stops_are_forgotten(void **state) {
    (void)state;
    double energy[2], friction[2];
    for (int i = 0; i < 2; i++) {
        rg_world *world = shaken_table(i ? 1e-11 : 1e-9);
        add_block(world, (rg_vec3){0.2, 0.2, 0.2}, (rg_vec3){0, 0, 0.1001},
                  (rg_vec3){0.1, 0, 0.37699});
        step_world(world, 1.0 / 240, 120);
        rg_step_info summary = rg_world_summary(world);
        energy[i] = summary.energy.final;
        friction[i] = summary.energy.friction_work;
        rg_world_destroy(world);
    }
    assert_near(energy[0], energy[1], 1e-7 * fabs(energy[1]));
    assert_near(friction[0], friction[1], 1e-7 * fabs(friction[1]));
}

/* An egg on a table that is shaken: at 0.2279 s its slip comes next to a stop, and turns by a right
 * angle within microseconds. What becomes of it does not depend on the tolerance, nor on how long
 * steps are before that. */
static void slips_that_turn_are_followed(void **state) {
    (void)state;
    double energy[2];
    for (int i = 0; i < 2; i++) {
        rg_world *world = shaken_table(i ? 1e-11 : 1e-8);
        rg_body_def egg = rg_body_def_default();
        egg.pose.position = (rg_vec3){4, 0, 0.25};
        egg.angular_velocity = (rg_vec3){1, 2, 3};
        add_shape(world, rg_shape_def_ellipsoid(0.1, 0.15, 0.2), &egg);
        step_world(world, 1.0 / 240, 120);
        energy[i] = rg_world_summary(world).energy.final;
        rg_world_destroy(world);
    }
    assert_near(energy[0], energy[1], 1e-5 * energy[1]);
}

/* Of the largest acceleration that forces give: by so much a contact at the limit of friction may
 * turn back before that is an event (RG_ANALYSIS_MUCH in step_analytic.h). */
#define TURNS_BACK 1e-3

/* Ellipsoids thrown on a floor roll, slip and leave it. Where one begins to slip, the way it goes
 * turns within microseconds, and friction with it: kept along the way that it went at first, it was
 * wrong by up to five times the largest acceleration (in four of ten throws by more than 1e-3). */
static void slips_that_begin_turn(void **state) {
    (void)state;
    size_t slips = 0;
    for (int i = 0, throws = test_cases(10, 100); i < throws; i++) {
        rg_random random = rg_random_make((uint64_t)i + 1);
        double mu = rg_random_between(&random, 0.05, 1.2);
        rg_world *world = make_world(false, mu, mu, 0, 0);
        double size[3];
        rg_body_def egg = rg_body_def_default();
        for (int k = 0; k < 3; k++)
            size[k] = rg_random_between(&random, 0.05, 0.3);
        egg.pose.position.z = 0.31;
        egg.velocity =
            (rg_vec3){rg_random_between(&random, -5, 5), rg_random_between(&random, -5, 5),
                      rg_random_between(&random, -3, 0)};
        egg.angular_velocity =
            (rg_vec3){rg_random_between(&random, -30, 30), rg_random_between(&random, -30, 30),
                      rg_random_between(&random, -30, 30)};
        add_shape(world, rg_shape_def_ellipsoid(size[0], size[1], size[2]), &egg);
        for (int n = 0; n < 240; n++) {
            rg_step_info info;
            assert_int_equal(rg_world_step(world, 1.0 / 240, &info, NULL), RG_OK);
            if (info.certificate.complementarity > 1.01 * TURNS_BACK)
                fail_msg("throw %d, t = %.6f s: complementarity %g", i, rg_world_time(world),
                         info.certificate.complementarity);
            assert_true(!(info.certificate.min_gap < -1e-9 * 0.05));
            assert_true(info.energy.closure_rel < 1e-8);
            slips += find_event(world, RG_STEP_EVENT_SLIP) != NULL;
        }
        rg_world_destroy(world);
    }
    assert_true(slips > 0);
}

/* Boxes and hulls that fall in a heap, with friction and restitution at random. */
static rg_world *make_heap(uint64_t seed, double *size) {
    rg_random random = rg_random_make(seed);
    double mu = rg_random_between(&random, 0, 1), e = rg_random_between(&random, 0, 1);
    rg_world *world = make_world(false, mu, mu, e, 0);
    int count = 2 + (int)rg_random_between(&random, 0, 10.999);
    *size = INFINITY;
    for (int i = 0; i < count; i++) {
        double s = rg_random_between(&random, 0.3, 1);
        *size = fmin(*size, s);
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){rg_random_between(&random, -0.6, 0.6),
                                      rg_random_between(&random, -0.6, 0.6), 1.2 + 1.9 * i};
        def.velocity =
            (rg_vec3){rg_random_between(&random, -1, 1), rg_random_between(&random, -1, 1), 0};
        def.angular_velocity =
            (rg_vec3){rg_random_between(&random, -3, 3), rg_random_between(&random, -3, 3),
                      rg_random_between(&random, -3, 3)};
        rg_vec3 points[14];
        for (int k = 0; k < 14; k++) {
            rg_vec3 p = {rg_random_between(&random, -1, 1), rg_random_between(&random, -1, 1),
                         rg_random_between(&random, -1, 1)};
            points[k] = rg_scale(0.7 * s / rg_length(p), p);
        }
        if (i % 2) { /* one after the other: compilers differ in the order of arguments */
            double height = s * rg_random_between(&random, 0.5, 1);
            double width = s * rg_random_between(&random, 0.5, 1.5);
            add_shape(world, rg_shape_def_box(s, width, height), &def);
        } else {
            add_shape(world, rg_shape_def_hull(points, 14), &def);
        }
    }
    return world;
}

/* Nothing penetrates, the ledger closes, energy does not grow, and a run that cannot go on says
 * why. */
static void heaps_never_penetrate(void **state) {
    (void)state;
    int scenes = test_cases(12, 500), given_up = 0;
    if (test_integrator == RG_INTEGRATOR_ADAMS)
        scenes /= 2;
    double duration = test_is_long() ? 3 : 2, h = test_is_long() ? 1e-3 : 4e-3;
    for (int seed = 0; seed < scenes; seed++) {
        double size;
        rg_world *world = make_heap((uint64_t)seed + 1, &size);
        rg_error error = {0};
        while (rg_world_time(world) < duration) {
            rg_step_info info;
            if (rg_world_step(world, h, &info, &error)) {
                assert_true(strlen(error.text) > 20);
                print_message("seed %d ends at %.4f s: %s\n", seed, rg_world_time(world),
                              error.text);
                given_up++;
                break;
            }
            if (info.certificate.min_gap < -1e-9 * size)
                fail_msg("seed %d, t = %.6f s: gap %g m", seed, rg_world_time(world),
                         info.certificate.min_gap);
            if (!(info.energy.closure_rel < 1e-8))
                fail_msg("seed %d, t = %.6f s: closure %g J, relative %g", seed,
                         rg_world_time(world), info.energy.closure, info.energy.closure_rel);
            assert_true(info.energy.final - info.energy.initial <
                        1e-9 * fabs(info.energy.initial) + 1e-9);
        }
        rg_world_destroy(world);
    }
    print_message("%d of %d runs could not go on\n", given_up, scenes);
    assert_true(given_up * 50 <= scenes);
}

/* A heap in which a slip turns by a quarter within microseconds as it stops: the motion up to
 * there is that of the forces which the judge is shown. */
static void a_slip_that_turns_as_it_stops(void **state) {
    (void)state;
    double size;
    rg_world *world = make_heap(400, &size);
    step_exactly(world, 1e-3, 2800, size);
    rg_world_destroy(world);
}

/* A heap in which thirteen times no forces of friction exist, and no impulse brings such about:
 * mean forces take over at once. Until solvers had made a hundred thousand iterations, it went on
 * by picoseconds without forces, which is what the certificate told of (1, relative). */
static void moments_without_forces(void **state) {
    (void)state;
    double size;
    size_t averaged = 0;
    rg_world *world = make_heap(432, &size);
    while (rg_world_time(world) < 3) {
        rg_step_info info;
        rg_error error;
        if (rg_world_step(world, 1e-3, &info, &error))
            fail_msg("%s", error.text);
        averaged += find_event(world, RG_STEP_EVENT_AVERAGED) != NULL;
        assert_true(!(info.certificate.complementarity > 1.01 * TURNS_BACK));
        assert_false(info.certificate.min_gap < -1e-9 * size);
        assert_true(info.energy.closure_rel < 1e-8);
    }
    assert_true(averaged > 0);
    rg_world_destroy(world);
}

/* A heap in which, by Adams' method, friction changes within less than any step that keeps the
 * tolerance, at 1.9247 s: it is passed as other things that take no time are. */
static void a_moment_that_no_step_follows(void **state) {
    (void)state;
    if (test_cases(8, 8) < 8)
        return; /* two thousand steps: by gcc alone */
    double size;
    test_integrator = RG_INTEGRATOR_ADAMS;
    rg_world *world = make_heap(75, &size);
    while (rg_world_time(world) < 1.94) {
        rg_step_info info;
        rg_error error;
        if (rg_world_step(world, 1e-3, &info, &error))
            fail_msg("%s", error.text);
        assert_false(info.certificate.min_gap < -1e-9 * size);
        assert_true(info.energy.closure_rel < 1e-8);
    }
    rg_world_destroy(world);
}

/* Eight planks that fall into a pit in the plane: among its heaps is one that takes mean forces. In
 * long steps these are means over times in which planks would move into each other, if those were
 * not cut by how far contacts drift. */
static void heaps_in_the_plane(void **state) {
    (void)state;
    static const uint64_t seeds[] = {32, 32, 2, 14}; /* the first one has mean forces already */
    static const int rates[] = {240, 20, 240, 240};  /* steps per second */
    size_t averaged = 0;
    for (int i = 0, cases = test_cases(4, 4); i < cases; i++) {
        rg_random random = rg_random_make(seeds[i]);
        double mu = rg_random_between(&random, 0.2, 1), e = rg_random_between(&random, 0, 0.3);
        rg_world_def def = rg_world_def_default();
        def.method = rg_method_find("analytic");
        def.settings.integrator = test_integrator;
        def.planar = true;
        rg_world *world = world_of(&def);
        rg_contact_law law = {.friction = mu, .restitution = e};
        assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
        add_rectangle(world, RG_MOTION_FIXED, 4, 0.2, 0, -0.1, 0);
        add_rectangle(world, RG_MOTION_FIXED, 0.2, 4, -0.8, 2, 0);
        add_rectangle(world, RG_MOTION_FIXED, 0.2, 4, 0.8, 2, 0);
        for (int k = 0; k < 8; k++) {
            double width = rg_random_between(&random, 0.08, 0.28);
            double height = rg_random_between(&random, 0.05, 0.15);
            add_rectangle(world, RG_MOTION_DYNAMIC, width, height, -0.45 + 0.3 * (k % 4),
                          0.3 + 0.35 * (k / 4), rg_random_between(&random, 0, 6));
        }
        for (int n = 0; n < rates[i]; n++) {
            rg_step_info info;
            rg_error error;
            if (rg_world_step(world, 1.0 / rates[i], &info, &error))
                fail_msg("seed %d: %s", (int)seeds[i], error.text);
            assert_true(!(info.certificate.max_penetration > 1e-9 * 0.05));
            /* Between the looks for events at most so much: 7e-9 m at one vertex. */
            assert_true(!(info.certificate.min_gap < -1e-6 * 0.05));
            assert_true(info.energy.closure_rel < 1e-8);
            assert_true(info.energy.final - info.energy.initial <
                        1e-9 * fabs(info.energy.initial) + 1e-9);
            averaged += find_event(world, RG_STEP_EVENT_AVERAGED) != NULL;
        }
        rg_world_destroy(world);
    }
    assert_true(averaged > 0);
}

static uint64_t run_heap(int threads, bool interrupted) {
    double size;
    rg_world *world = make_heap(3, &size);
    assert_int_equal(rg_world_set_threads(world, threads), RG_OK);
    for (int i = 0; i < 250; i++) {
        step_world(world, 1.0 / 240, 1);
        if (interrupted && i % 50 == 25) {
            rg_world *copy;
            assert_int_equal(rg_world_clone(world, &copy), RG_OK);
            rg_world_destroy(world);
            world = copy;
        }
    }
    uint64_t hash = rg_world_state_hash(world);
    rg_world_destroy(world);
    return hash;
}

static void the_same_bits_come_again(void **state) {
    (void)state;
    uint64_t hash = run_heap(1, false);
    assert_int_equal(run_heap(1, false), hash);
    assert_int_equal(run_heap(2, false), hash);
    assert_int_equal(run_heap(1, true), hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {WITH_BOTH(a_fall_ends_in_time),
                                       WITH_BOTH(bounces_end_in_closed_form),
                                       WITH_BOTH(elastic_bounces_keep_their_height),
                                       WITH_BOTH(a_block_slides_to_a_stop),
                                       WITH_BOTH(a_ball_goes_from_sliding_to_rolling),
                                       WITH_BOTH(stick_ends_at_the_cone),
                                       WITH_BOTH(slips_begin_in_any_gravity),
                                       WITH_BOTH(a_block_lies_by_every_solver),
                                       WITH_BOTH(who_turns_back_meets_what_was_above),
                                       WITH_BOTH(two_tangents_hold_and_let_go),
                                       WITH_BOTH(a_brick_comes_to_rest),
                                       WITH_BOTH(a_moving_support_carries_and_throws),
                                       WITH_BOTH(a_step_made_again_moves_nobody_twice),
                                       WITH_BOTH(who_comes_back_has_been_away),
                                       WITH_BOTH(who_turns_gets_somewhere),
                                       WITH_BOTH(a_force_ends_just_before_a_step),
                                       WITH_BOTH(stops_are_forgotten),
                                       WITH_BOTH(slips_that_turn_are_followed),
                                       WITH_BOTH(slips_that_begin_turn),
                                       WITH_BOTH(heaps_never_penetrate),
                                       WITH_BOTH(a_slip_that_turns_as_it_stops),
                                       cmocka_unit_test(a_moment_that_no_step_follows),
                                       WITH_BOTH(moments_without_forces),
                                       WITH_BOTH(heaps_in_the_plane),
                                       WITH_BOTH(the_same_bits_come_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
