/* Joints in the analytic method (step_analytic_joints*.c, step_analytic_limits.c,
 * step_judge_joints.c): closed forms, an independent integration, direct linear solves. */
#include "dense_support.h"
#include "joint_support.h"

#include "rigor/contact_force.h"

#define G 9.81

static rg_world *analytic_world(bool planar, bool heavy, double tolerance) {
    rg_world_def def = rg_world_def_default();
    def.planar = planar;
    def.method = rg_method_find("analytic");
    def.settings.tolerance = tolerance;
    def.settings.hand_over = false;
    if (!heavy)
        def.gravity = rg_vec3_make(0, 0, 0);
    return world_of(&def);
}

/* m, rad: what projections leave. Relative: of the ledger, of momentum. */
#define GAP     1e-12
#define CLOSURE 1e-9
#define BALANCE 1e-11

static rg_step_info step_well(rg_world *world, double step) {
    rg_step_info info = step_once(world, step);
    double t = rg_world_time(world);
    if (!(info.certificate.joint_error <= GAP))
        fail_msg("t = %g: joint error %.3g", t, info.certificate.joint_error);
    if (!(info.energy.closure_rel <= CLOSURE))
        fail_msg("t = %g: closure %.3g", t, info.energy.closure_rel);
    if (!(info.certificate.momentum_error <= BALANCE))
        fail_msg("t = %g: momentum %.3g", t, info.certificate.momentum_error);
    if (info.solver_failures)
        fail_msg("t = %g: %d solves failed", t, (int)info.solver_failures);
    return info;
}

/* --- swings ----------------------------------------------------------------------------------- */

/* Tension m (g cos + l w^2) along the rod, at the end of every step. */
static void tension_of_a_pendulum(void **state) {
    (void)state;
    const double length = 1.2;
    static const rg_joint_kind kinds[] = {RG_JOINT_HINGE, RG_JOINT_BALL, RG_JOINT_DISTANCE};
    for (size_t kind = 0; kind < 3; kind++) {
        rg_world *world = analytic_world(false, true, 1e-11);
        rg_body_id bob = ghost(world, rg_vec3_make(0.1, 0.2, 0.3), rg_vec3_make(length, 0, 0));
        double mass = rg_body_mass(world, bob).mass;
        rg_joint_def def = between(kinds[kind], the_world, bob);
        def.frame_b.position = rg_vec3_make(0, 0, 0);
        rg_joint_id joint;
        if (kinds[kind] == RG_JOINT_DISTANCE) {
            def.axis[0].lower = def.axis[0].upper = length;
            assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
        } else {
            joint = join(world, def, rg_vec3_make(0, 0, 0), y_axis);
        }
        for (int k = 0; k < 200; k++) {
            step_well(world, 0.01);
            rg_vec3 rod = rg_scale(1 / length, rg_body_pose(world, bob).position);
            rg_vec3 v = rg_body_velocity(world, bob);
            double expected = mass * (-G * rod.z + rg_dot(v, v) / length);
            double tension = -rg_dot(rg_joint_get_state(world, joint).force, rod);
            if (!(fabs(tension - expected) <= 1e-9 * mass * G))
                fail_msg("%s, step %d: %.15g N, expected %.15g", rg_joint_kind_name(kinds[kind]), k,
                         tension, expected);
        }
        rg_world_destroy(world);
    }
}

/* Angles and rates of two bars, from the vertical: Lagrange's equations, by Runge and Kutta's
 * method of order 4. */
typedef struct two_bars {
    double m, l, length,
        inertia; /* of each: mass, centre from its hinge, length, about its centre */
} two_bars;

static void lagrange(const two_bars *b, const double y[4], double d[4]) {
    double s = sin(y[0] - y[1]), c = cos(y[0] - y[1]), k = b->m * b->length * b->l;
    double a11 = b->inertia + b->m * (b->l * b->l + b->length * b->length), a12 = k * c;
    double a22 = b->inertia + b->m * b->l * b->l;
    double r1 = -k * s * y[3] * y[3] - b->m * (b->l + b->length) * G * sin(y[0]);
    double r2 = k * s * y[2] * y[2] - b->m * G * b->l * sin(y[1]);
    double det = a11 * a22 - a12 * a12;
    d[0] = y[2], d[1] = y[3];
    d[2] = (a22 * r1 - a12 * r2) / det;
    d[3] = (a11 * r2 - a12 * r1) / det;
}

static void swing_two_bars(const two_bars *b, double y[4], double time, int steps) {
    double h = time / steps, k[4][4], z[4];
    for (int n = 0; n < steps; n++) {
        lagrange(b, y, k[0]);
        for (int stage = 1; stage < 4; stage++) {
            for (int i = 0; i < 4; i++)
                z[i] = y[i] + (stage == 3 ? h : h / 2) * k[stage - 1][i];
            lagrange(b, z, k[stage]);
        }
        for (int i = 0; i < 4; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

/* From the vertical, towards x. */
static double angle_of(rg_world *world, rg_body_id bar) {
    rg_vec3 down = rg_rotate(rg_body_pose(world, bar).orientation, rg_vec3_make(0, 0, -1));
    return atan2(down.x, -down.z);
}

static void a_double_pendulum(void **state) {
    (void)state;
    const double angle = 10 * RG_PI / 180, duration = 10;
    for (int planar = 0; planar < 2; planar++) {
        rg_world *world = analytic_world(planar, true, 1e-13);
        rg_body_id bars[2], last = the_world;
        rg_vec3 along = {sin(angle), 0, -cos(angle)};
        for (int i = 0; i < 2; i++) {
            rg_body_def def = rg_body_def_default();
            rg_collider_def collider = rg_collider_def_default();
            collider.mask = 0;
            collider.density = planar ? 100 : 1000;
            def.pose.position = rg_scale(0.5 + i, along);
            def.pose.orientation = rg_quat_make(0, -sin(angle / 2), 0, cos(angle / 2));
            def.angle = angle;
            static const rg_vec3 corners[] = {
                {-0.05, 0, -0.5}, {0.05, 0, -0.5}, {0.05, 0, 0.5}, {-0.05, 0, 0.5}};
            rg_shape_def shape = rg_shape_def_box(0.1, 0.1, 1);
            if (planar)
                shape = rg_shape_def_polygon(corners, 4);
            bars[i] = add_collider(world, shape, collider, &def);
            join(world, between(RG_JOINT_HINGE, last, bars[i]), rg_scale(i, along), y_axis);
            last = bars[i];
        }
        rg_mass_properties mass = rg_body_mass(world, bars[0]);
        two_bars b = {mass.mass, 0.5, 1, mass.inertia.m[1][1]};
        double y[4] = {angle, angle, 0, 0}, energy = rg_world_energy(world), worst = 0;
        swing_two_bars(&b, y, duration, 200000);
        for (int k = 0; k < 240; k++) {
            step_well(world, duration / 240);
            worst = fmax(worst, fabs(rg_world_energy(world) - energy));
        }
        print_message("double pendulum: angles off by %.2g, %.2g; energy by %.2g J\n",
                      angle_of(world, bars[0]) - y[0], angle_of(world, bars[1]) - y[1], worst);
        assert_near(angle_of(world, bars[0]), y[0], 1e-9);
        assert_near(angle_of(world, bars[1]), y[1], 1e-9);
        rg_world_destroy(world);
    }
}

/* 20 links with a bob as heavy as 100 of them, and as a million: gaps, and energy relative to the
 * swing. */
static void a_chain_keeps_its_energy(void **state) {
    (void)state;
    static const double bobs[] = {100, 1e6};
    const double times[] = {test_is_long() ? 10 : 1, test_is_long() ? 1 : 0.05};
    for (int i = 0; i < 2; i++) {
        chain c = chain_in(analytic_world(false, true, 1e-9), 20, bobs[i], RG_PI / 4);
        double worst = 0, gap = 0;
        for (int k = 0; k < (int)(times[i] * 240 + 0.5); k++) {
            rg_step_info info = step_well(c.world, 1.0 / 240);
            worst = fmax(worst, fabs(rg_world_energy(c.world) - c.energy) / c.swing);
            gap = fmax(gap, info.certificate.joint_error);
        }
        print_message("chain of 20, bob %g, %g s: gap %.2g m, energy within %.2g\n", bobs[i],
                      times[i], gap, worst);
        assert_true(gap <= 1e-10 && worst <= 1e-8);
        rg_world_destroy(c.world);
    }
}

/* --- every kind ------------------------------------------------------------------------------- */

/* Three bodies in a row on joints of one kind, thrown: energy stays, joints stay closed. A wrong
 * term of rotation or curvature would show at once. */
static void every_kind_keeps_energy(void **state) {
    (void)state;
    for (int kind = 0; kind <= RG_JOINT_DISTANCE; kind++) {
        rg_random random = rg_random_make(100 + (uint64_t)kind);
        rg_world *world = analytic_world(false, true, 1e-11);
        rg_body_id last = the_world;
        for (int i = 0; i < 3; i++) {
            rg_body_id body = ghost(world, rg_vec3_make(0.3, 0.2, 0.4), rg_vec3_make(i, 0, 0));
            rg_joint_def def = between((rg_joint_kind)kind, last, body);
            rg_vec3 axis = rg_random_direction(&random);
            if (kind == RG_JOINT_DISTANCE)
                def.axis[0].lower = def.axis[0].upper = 0;
            rg_vec3 point = rg_vec3_make(i - 0.5, rg_random_between(&random, -0.2, 0.2), 0);
            assert_int_equal(rg_joint_def_place(world, &def, point, axis), RG_OK);
            if (kind == RG_JOINT_DISTANCE) {
                def.frame_b.position = rg_vec3_make(0.1, 0.1, 0);
                rg_vec3 other = rg_add(rg_body_pose(world, body).position, def.frame_b.position);
                def.axis[0].lower = def.axis[0].upper = rg_length(rg_sub(other, point));
            }
            rg_joint_id joint;
            assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
            rg_vec3 v = rg_random_direction(&random), w = rg_random_direction(&random);
            rg_body_set_velocity(world, body, rg_scale(3, v));
            rg_body_set_angular_velocity(world, body, rg_scale(5, w));
            last = body;
        }
        step_once(world, 1e-6); /* velocities that joints allow */
        double energy = rg_world_energy(world), size = 0, worst = 0;
        for (int k = 0; k < 100; k++) {
            rg_step_info info = step_well(world, 0.01);
            size = fmax(size, fabs(info.energy.final));
            worst = fmax(worst, fabs(rg_world_energy(world) - energy));
        }
        print_message("%-12s energy within %.2g of %.3g J\n",
                      rg_joint_kind_name((rg_joint_kind)kind), worst, size);
        assert_true(worst <= 1e-8 * fmax(size, 1));
        rg_world_destroy(world);
    }
}

/* A planet gear on an arm that swings under its weight, around a sun that turns, too; a point that
 * flies around an ellipsoid which turns; a rack that swings with its pinion: energy stays. */
static rg_world *geared(int which) {
    rg_world *world = analytic_world(false, true, 1e-11);
    rg_body_id a = ghost(world, rg_vec3_make(0.3, 0.1, 0.3), rg_vec3_make(0, 0, 0));
    rg_body_id b = ghost(world, rg_vec3_make(0.2, 0.1, 0.2), rg_vec3_make(0.5, 0, 0.1));
    rg_joint_def def = rg_joint_def_default(which == 0   ? RG_JOINT_GEAR
                                            : which == 1 ? RG_JOINT_RACK
                                                         : RG_JOINT_SURFACE);
    rg_quat up = rg_quat_make(-sqrt(0.5), 0, 0, sqrt(0.5)); /* z to y */
    def.body_a = a, def.body_b = b, def.ratio = which ? 0.2 : 1.5;
    def.frame_a.orientation = def.frame_b.orientation = up;
    join(world, between(which == 2 ? RG_JOINT_BALL : RG_JOINT_HINGE, the_world, a),
         rg_vec3_make(0, 0, 0), y_axis);
    if (which == 2) { /* x^2 / 4 + y^2 + 2 z^2 = what it is at the start */
        def.frame_a.orientation = rg_quat_make(0, 0, 0, 1);
        def.surface.square = rg_vec3_make(0.25, 1, 2);
        def.surface.constant = -(0.25 * 0.25 + 2 * 0.01);
        def.axis[0].lower = def.axis[0].upper = 0;
    } else {
        rg_body_id arm = ghost(world, rg_vec3_make(0.5, 0.1, 0.1), rg_vec3_make(0.25, 0.3, 0));
        join(world, between(RG_JOINT_HINGE, the_world, arm), rg_vec3_make(0, 0.3, 0), y_axis);
        join(world, between(which ? RG_JOINT_SLIDER : RG_JOINT_HINGE, arm, b),
             rg_vec3_make(0.5, 0, 0.1), which ? x_axis : y_axis);
    }
    rg_joint_id joint;
    rg_error error;
    if (rg_world_add_joint(world, &def, &joint, &error))
        fail_msg("%s", error.text);
    rg_body_set_angular_velocity(world, a, rg_vec3_make(which == 2 ? 1 : 0, 3, 0));
    rg_body_set_velocity(world, b, rg_vec3_make(0.3, which == 2 ? 1 : 0, 0.4));
    return world;
}

static void gears_racks_and_surfaces_keep_energy(void **state) {
    (void)state;
    static const char *const names[] = {"gear", "rack", "surface"};
    for (int which = 0; which < 3; which++) {
        rg_world *world = geared(which);
        step_once(world, 1e-6); /* velocities that joints allow */
        double energy = rg_world_energy(world), worst = 0;
        for (int k = 0; k < 200; k++) {
            step_well(world, 0.01);
            worst = fmax(worst, fabs(rg_world_energy(world) - energy));
        }
        print_message("%-12s energy within %.2g J\n", names[which], worst);
        assert_true(worst <= 1e-8);
        rg_world_destroy(world);
    }
}

/* --- springs, motors, armature ---------------------------------------------------------------- */

/* A mass on a slider along x. */
static rg_world *slider_world(bool heavy, rg_joint_axis axis, rg_vec3 along, rg_body_id *body,
                              rg_joint_id *joint) {
    rg_world *world = analytic_world(false, heavy, 1e-12);
    *body = ghost(world, rg_vec3_make(0.1, 0.1, 0.1), rg_vec3_make(0, 0, 0)); /* 1 kg */
    rg_joint_def def = between(RG_JOINT_SLIDER, the_world, *body);
    def.axis[0] = axis;
    *joint = join(world, def, rg_vec3_make(0, 0, 0), along);
    return world;
}

static rg_joint_axis free_axis(void) {
    return rg_joint_def_default(RG_JOINT_SLIDER).axis[0];
}

/* x'' = -k (x - rest) - d x': the exact solution. */
static void springs_and_dampers(void **state) {
    (void)state;
    rg_joint_axis axis = free_axis();
    axis.stiffness = 400, axis.damping = 4, axis.rest = 0.3;
    rg_body_id body;
    rg_joint_id joint;
    rg_world *world = slider_world(false, axis, x_axis, &body, &joint);
    double half = 2, w = sqrt(400 - half * half);
    for (int k = 1; k <= 100; k++) {
        rg_step_info info = step_well(world, 0.01);
        double t = 0.01 * k;
        double x = 0.3 - 0.3 * exp(-half * t) * (cos(w * t) + half / w * sin(w * t));
        assert_near(rg_body_pose(world, body).position.x, x, 1e-10);
        rg_joint_state s = rg_joint_get_state(world, joint);
        assert_near(s.coordinate[0], x, 1e-10);
        assert_near(s.axis_force[0], -400 * (x - 0.3) - 4 * s.velocity[0], 1e-7);
        assert_true(fabs(info.energy.external_work) > 0);
    }
    rg_world_destroy(world);
}

/* A motor that holds a velocity, and one that holds a place. */
static void motors(void **state) {
    (void)state;
    rg_body_id body;
    rg_joint_id joint;
    rg_joint_axis axis = free_axis();
    axis.motor = RG_MOTOR_VELOCITY, axis.target = 0.7, axis.max_force = INFINITY;
    rg_world *world = slider_world(true, axis, z_axis, &body, &joint);
    for (int k = 1; k <= 20; k++)
        step_well(world, 0.05);
    assert_near(rg_body_pose(world, body).position.z, 0.7, 1e-10);
    assert_near(rg_joint_get_state(world, joint).motor_force[0], G, 1e-9);
    rg_world_destroy(world);

    axis.target_of_time = "sin(2*t)";
    world = slider_world(true, axis, z_axis, &body, &joint);
    for (int k = 1; k <= 20; k++)
        step_well(world, 0.05);
    assert_near(rg_body_pose(world, body).position.z, 0.5 - 0.5 * cos(2), 1e-10);
    assert_near(rg_joint_get_state(world, joint).motor_force[0], G + 2 * cos(2), 1e-8);
    rg_world_destroy(world);

    axis.target_of_time = NULL;
    axis.motor = RG_MOTOR_POSITION, axis.target = 0.2, axis.gain = 1000, axis.gain_velocity = 100;
    world = slider_world(true, axis, z_axis, &body, &joint);
    for (int k = 1; k <= 100; k++)
        step_well(world, 0.05);
    assert_near(rg_body_pose(world, body).position.z, 0.2 - G / 1000, 1e-9);
    rg_world_destroy(world);
}

/* All work on a mass that a motor without a limit starts at once, lifts, and stops dead is the
 * motor's: m v^2 / 2 at once, m g v t on the way, -m v^2 / 2 when its target becomes 0. Two bodies
 * that only a motor turns against each other have the energy that it gave. */
static void work_of_motors(void **state) {
    (void)state;
    rg_body_id body;
    rg_joint_id joint;
    rg_joint_axis axis = free_axis();
    axis.motor = RG_MOTOR_VELOCITY, axis.target = 3, axis.max_force = INFINITY;
    rg_world *world = slider_world(true, axis, z_axis, &body, &joint);
    for (int k = 1; k <= 20; k++)
        step_well(world, 0.05);
    rg_step_info sum = rg_world_summary(world);
    double mass = rg_body_mass(world, body).mass, lifted = mass * (G * 3 + 0.5 * 9);
    assert_near(sum.energy.external_work, lifted, 1e-9 * lifted);
    assert_near(sum.energy.stabilisation, 0, 1e-9 * lifted);
    axis.target = 0;
    assert_int_equal(rg_joint_set_axis(world, joint, 0, &axis, NULL), RG_OK);
    step_well(world, 0.05);
    sum = rg_world_summary(world);
    assert_near(sum.energy.external_work, mass * G * 3, 1e-9 * lifted);
    assert_near(sum.energy.stabilisation, 0, 1e-9 * lifted);
    rg_world_destroy(world);

    world = analytic_world(false, false, 1e-12);
    rg_body_id one = ghost(world, rg_vec3_make(0.3, 0.2, 0.1), rg_vec3_make(0, 0, 0));
    rg_body_id two = ghost(world, rg_vec3_make(0.2, 0.2, 0.1), rg_vec3_make(0, 0, 0.2));
    rg_joint_def def = between(RG_JOINT_HINGE, one, two);
    def.axis[0] = free_axis();
    def.axis[0].motor = RG_MOTOR_VELOCITY, def.axis[0].target = 40;
    def.axis[0].max_force = INFINITY;
    join(world, def, rg_vec3_make(0, 0, 0.1), z_axis);
    for (int k = 1; k <= 5; k++)
        step_well(world, 0.01);
    sum = rg_world_summary(world);
    double a = rg_body_mass(world, one).inertia.m[2][2],
           b = rg_body_mass(world, two).inertia.m[2][2], energy = 0.5 * a * b / (a + b) * 1600;
    assert_near(sum.energy.final, energy, 1e-9 * energy);
    assert_near(sum.energy.external_work, energy, 1e-9 * energy);
    assert_near(sum.energy.stabilisation, 0, 1e-9 * energy);
    rg_world_destroy(world);
}

/* Inertia along the axis: x'' = g m / (m + a). */
static void armature_is_inertia(void **state) {
    (void)state;
    rg_body_id body;
    rg_joint_id joint;
    rg_joint_axis axis = free_axis();
    axis.armature = 3;
    rg_world *world = slider_world(true, axis, z_axis, &body, &joint);
    for (int k = 1; k <= 10; k++)
        step_well(world, 0.1);
    assert_near(rg_body_pose(world, body).position.z, -0.5 * G / 4, 1e-9);
    rg_world_destroy(world);
}

/* --- friction --------------------------------------------------------------------------------- */

/* A mass thrown along a slider with friction: m a = -f to the stop, where it stays. Under a weight
 * that friction holds it never moves; under one that it does not it slides from the beginning. */
static void friction_along_a_slider(void **state) {
    (void)state;
    rg_body_id body;
    rg_joint_id joint;
    rg_joint_axis axis = free_axis();
    axis.friction = 2;
    rg_world *world = slider_world(false, axis, x_axis, &body, &joint);
    rg_body_set_velocity(world, body, rg_vec3_make(1.5, 0, 0));
    for (int k = 1; k <= 50; k++) {
        step_once(world, 0.023);
        double t = fmin(0.023 * k, 0.75);
        assert_near(rg_body_pose(world, body).position.x, 1.5 * t - t * t, 1e-10);
        assert_near(rg_joint_get_state(world, joint).axis_force[0], 0.023 * k < 0.75 ? -2 : 0,
                    1e-7);
    }
    assert_near(rg_world_summary(world).energy.friction_work, -0.5 * 1.5 * 1.5, 1e-9);
    rg_world_destroy(world);
    static const double holds[] = {G * 1.001, G * 0.999};
    for (int i = 0; i < 2; i++) {
        axis.friction = holds[i];
        world = slider_world(true, axis, z_axis, &body, &joint);
        for (int k = 1; k <= 20; k++)
            step_well(world, 0.05);
        assert_near(rg_body_pose(world, body).position.z, i ? -0.5 * 0.001 * G : 0, 1e-10);
        rg_world_destroy(world);
    }
}

/* A motor at its largest force stalls against a wall, with exactly that force; before, it has gone
 * as fast as it should. */
static void a_motor_stalls(void **state) {
    (void)state;
    rg_body_id body;
    rg_joint_id joint;
    rg_joint_axis axis = free_axis();
    axis.motor = RG_MOTOR_VELOCITY, axis.target = 0.5, axis.max_force = 4, axis.upper = 0.25;
    rg_world *world = slider_world(false, axis, x_axis, &body, &joint);
    /* 4 m/s^2 up to 0.5 m/s, that is 1/8 s; then the rest of 0.25 m. */
    for (int k = 1; k <= 50; k++) {
        step_once(world, 0.021);
        double t = 0.021 * k, x = t < 0.125 ? 2 * t * t : fmin(0.25, 0.03125 + 0.5 * (t - 0.125));
        assert_near(rg_body_pose(world, body).position.x, x, 1e-9);
    }
    rg_joint_state s = rg_joint_get_state(world, joint);
    assert_near(s.motor_force[0], 4, 1e-9);
    assert_near(s.axis_force[0], 0, 1e-9);
    rg_world_destroy(world);
}

/* Two hinges in a row with friction, of a double pendulum: it comes to rest, and the ledger says
 * that friction took it all. */
static void friction_in_hinges(void **state) {
    (void)state;
    rg_world *world = analytic_world(false, true, 1e-10);
    rg_body_id last = the_world;
    for (int i = 0; i < 2; i++) {
        rg_body_id bar =
            ghost(world, rg_vec3_make(0.5, 0.1, 0.1), rg_vec3_make(0.25 + 0.5 * i, 0, 0));
        rg_joint_def def = between(RG_JOINT_HINGE, last, bar);
        def.axis[0].friction = 4.0 - 2 * i;
        join(world, def, rg_vec3_make(0.5 * i, 0, 0), y_axis);
        last = bar;
    }
    for (int k = 0; k < 400; k++)
        step_well(world, 0.02);
    rg_step_info sum = rg_world_summary(world);
    assert_near(sum.energy.final - sum.energy.initial, sum.energy.friction_work, 1e-6);
    assert_true(rg_length(rg_body_angular_velocity(world, last)) <= 1e-9);
    rg_world_destroy(world);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* A mass that falls along a slider to its end, with restitution 1/2, again and again: the heights
 * are those of a ball; in the end it rests, held by its weight. */
static void a_limit_throws_back(void **state) {
    (void)state;
    rg_body_id body;
    rg_joint_id joint;
    rg_joint_axis axis = free_axis();
    axis.lower = -1, axis.restitution = 0.5;
    rg_world *world = slider_world(true, axis, z_axis, &body, &joint);
    double fall = sqrt(2 / G), speed = sqrt(2 * G), impacts = 0;
    for (int k = 1; k <= 100; k++) {
        rg_step_info info = step_well(world, 0.02);
        impacts += (double)info.impacts;
        double t = 0.02 * k, z = -0.5 * G * t * t, begin = fall, up = speed / 2;
        if (t > fall) {
            while (t > begin + 2 * up / G && up > 1e-7)
                begin += 2 * up / G, up /= 2;
            double s = t - begin;
            z = up > 1e-7 ? -1 + up * s - 0.5 * G * s * s : -1;
        }
        assert_near(rg_body_pose(world, body).position.z, z, 1e-7);
    }
    assert_true(impacts >= 3);
    assert_near(rg_joint_get_state(world, joint).axis_force[0], G, 1e-6);
    rg_world_destroy(world);
}

/* A bar on a hinge falls to a stop at 0.5 rad below: where it turns back is known by its energy,
 * and it is never beyond. */
static void a_hinge_with_a_stop(void **state) {
    (void)state;
    rg_world *world = analytic_world(false, true, 1e-11);
    rg_body_id bar = ghost(world, rg_vec3_make(1, 0.1, 0.1), rg_vec3_make(0.5, 0, 0));
    rg_joint_def def = between(RG_JOINT_HINGE, the_world, bar);
    def.axis[0].upper = 0.5, def.axis[0].restitution = 0.8;
    rg_joint_id joint = join(world, def, rg_vec3_make(0, 0, 0), y_axis);
    double highest = 0.5, energy = rg_world_energy(world), loss = 0;
    bool back = false;
    for (int k = 0; k < 400; k++) {
        rg_step_info info = step_well(world, 0.0025);
        double x = rg_joint_get_state(world, joint).coordinate[0];
        assert_true(x <= 0.5 + 1e-9);
        loss += info.energy.impact_loss;
        back = back || info.impacts;
        if (back)
            highest = fmin(highest, x);
    }
    assert_true(back);
    /* It comes to 0.64 of its height. */
    assert_near(sin(highest), sin(0.5) * (1 - 0.64), 1e-4);
    assert_near(energy - rg_world_energy(world), loss, 1e-8 * fabs(energy) + 1e-8);
    rg_world_destroy(world);
}

/* A bob on a slack rope falls freely, is caught, and swings. */
static void a_rope(void **state) {
    (void)state;
    rg_world *world = analytic_world(false, true, 1e-11);
    rg_body_id bob = ghost(world, rg_vec3_make(0.1, 0.1, 0.1), rg_vec3_make(0.6, 0, 0));
    rg_joint_def def = between(RG_JOINT_DISTANCE, the_world, bob);
    def.axis[0].upper = 1;
    rg_joint_id joint;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    double caught = sqrt(2 * 0.8 / G); /* 0.6, 0.8 m below */
    for (int k = 0; k < 100; k++) {
        double t = rg_world_time(world) + 0.01;
        step_well(world, 0.01);
        rg_vec3 p = rg_body_pose(world, bob).position, v = rg_body_velocity(world, bob);
        assert_true(rg_length(p) <= 1 + 1e-9);
        if (t < caught) {
            assert_near(p.z, -0.5 * G * t * t, 1e-10);
            continue;
        }
        /* Energy of what was across the rope then: v = g t times 0.6. */
        double after = 0.5 * 0.36 * G * G * caught * caught - G * 0.8;
        assert_near(rg_length(p), 1, 1e-9);
        assert_near(0.5 * rg_dot(v, v) + G * p.z, after, 1e-8);
    }
    rg_world_destroy(world);
}

/* --- impacts and contacts --------------------------------------------------------------------- */

/* m/s: how fast the material of two bodies comes apart at a point. */
static double parting(rg_world *world, rg_body_id a, rg_body_id b, rg_vec3 p) {
    rg_vec3 v[2] = {{0, 0, 0}, {0, 0, 0}};
    rg_body_id ids[2] = {a, b};
    for (int i = 0; i < 2; i++)
        if (ids[i].index1) {
            rg_pose pose = rg_body_centre_pose(world, ids[i]);
            v[i] =
                rg_add(rg_body_velocity(world, ids[i]),
                       rg_cross(rg_body_angular_velocity(world, ids[i]), rg_sub(p, pose.position)));
        }
    return rg_length(rg_sub(v[1], v[0]));
}

/* A ball strikes a bar that hangs on another, by every law: joints hold to rounding, and the
 * energy never grows. */
static void a_struck_double_pendulum(void **state) {
    (void)state;
    static const char *const laws[] = {"simultaneous", "propagation", "poisson",
                                       "energetic",    "reflection",  "dissipative"};
    for (size_t law = 0; law < sizeof laws / sizeof *laws; law++) {
        rg_world_def def = rg_world_def_default();
        def.method = rg_method_find("analytic");
        def.settings.hand_over = false;
        def.settings.impact = rg_impact_law_find(laws[law]);
        rg_world *world = world_of(&def);
        rg_contact_law law_of_all = {.friction = 0.3, .restitution = 0.5};
        rg_world_set_material_law(world, (rg_material_id){1}, &law_of_all, NULL);
        rg_body_id upper =
                       add_box(world, "upper", rg_vec3_make(0.1, 0.1, 1), rg_vec3_make(0, 0, -0.5)),
                   lower =
                       add_box(world, "lower", rg_vec3_make(0.1, 0.1, 1), rg_vec3_make(0, 0, -1.5));
        rg_vec3 top = {0, 0, 0}, middle = {0, 0, -1};
        join(world, between(RG_JOINT_HINGE, the_world, upper), top, y_axis);
        rg_joint_id elbow = join(world, between(RG_JOINT_BALL, upper, lower), middle, y_axis);
        rg_body_def ball = rg_body_def_default();
        ball.pose.position = rg_vec3_make(-0.3, 0, -1.7);
        ball.velocity = rg_vec3_make(5, 0, 1);
        add_shape(world, rg_shape_def_sphere(0.1), &ball);
        int impacts = 0;
        for (int k = 0; k < 60; k++) {
            rg_step_info info = step_well(world, 1.0 / 240);
            impacts += (int)info.impacts;
            assert_true(info.energy.impact_loss >= -1e-9);
            rg_vec3 point = rg_joint_get_state(world, elbow).point;
            double off =
                fmax(parting(world, the_world, upper, top), parting(world, upper, lower, point));
            if (!(off <= 1e-12))
                fail_msg("%s: joints come apart at %.3g m/s", laws[law], off);
        }
        assert_true(impacts > 0);
        rg_world_destroy(world);
    }
}

/* Three of each joint, then one of the contact. */
static void compare_forces(rg_world *world, const double *expected, size_t joints) {
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    double contact = expected[3 * joints];
    assert_int_equal(count, 1);
    assert_true(contact > 1);
    assert_near(forces[0].normal_force, contact, 1e-8 * contact);
    for (size_t i = 0; i < joints; i++) {
        const double *e = expected + 3 * i;
        rg_vec3 f = rg_joint_get_state(world, rg_world_joint_at(world, i)).force;
        assert_vector(f, rg_vec3_make(e[0], e[1], e[2]), 1e-7 * contact);
    }
}

/* A chain from a fixed point, slanted, that lies on a ball's top with its last link: masses,
 * joints and the one contact as one dense system, at rest. */
static void joints_and_a_contact_against_a_direct_solve(void **state) {
    (void)state;
    enum { LINKS = 6, BODY = 6 * LINKS, SIZE = BODY + 3 * LINKS + 1 };
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    def.settings.hand_over = false;
    rg_world *world = world_of(&def);
    rg_contact_law smooth = {0};
    rg_world_set_material_law(world, (rg_material_id){1}, &smooth, NULL);
    rg_body_id links[LINKS], last = the_world;
    rg_vec3 along = {0.8, 0, -0.6}, points[LINKS];
    for (int i = 0; i < LINKS; i++) {
        points[i] = rg_scale(0.5 * i, along);
        rg_body_def body = rg_body_def_default();
        body.pose.position = rg_scale(0.5 * i + 0.25, along);
        rg_collider_def collider = rg_collider_def_default();
        collider.density = 300 * (1 + i % 3);
        links[i] = add_collider(world, rg_shape_def_sphere(0.1 + 0.01 * i), collider, &body);
        join(world, between(RG_JOINT_BALL, last, links[i]), points[i], y_axis);
        last = links[i];
    }
    rg_body_def ground = rg_body_def_default();
    ground.motion = RG_MOTION_FIXED;
    rg_vec3 end = rg_scale(0.5 * (LINKS - 1) + 0.25, along);
    rg_vec3 normal = rg_normalised(rg_vec3_make(0.1, 0.2, 1));
    ground.pose.position = rg_add_scaled(end, -(0.1 + 0.01 * (LINKS - 1) + 0.5), normal);
    add_shape(world, rg_shape_def_sphere(0.5), &ground);
    step_once(world, 1e-7); /* nothing has moved by then, to 1e-13 */
    double *a = calloc((size_t)SIZE * SIZE, sizeof *a), b[SIZE] = {0};
    for (int i = 0; i < LINKS; i++) {
        rg_mass_properties mass = rg_body_mass(world, links[i]);
        rg_vec3 centre = rg_body_centre_pose(world, links[i]).position;
        for (int k = 0; k < 6; k++)
            a[(6 * i + k) * SIZE + 6 * i + k] = k < 3 ? mass.mass : mass.inertia.m[0][0];
        b[6 * i + 2] = -mass.mass * G;
        /* its joint, the next one's, and of the last the contact */
        for (int j = i; j < i + 2; j++)
            for (int k = 0; k < (j < LINKS ? 3 : 1); k++) {
                rg_vec3 e = j < LINKS ? rg_vec3_make(k == 0, k == 1, k == 2) : normal;
                rg_vec3 p = j < LINKS ? points[j] : centre; /* on the line to the centre */
                double sign = j == i + 1 && j < LINKS ? -1 : 1;
                rg_vec3 arm = rg_cross(rg_sub(p, centre), e);
                double row[6] = {e.x, e.y, e.z, arm.x, arm.y, arm.z};
                for (int n = 0; n < 6; n++) {
                    a[(BODY + 3 * j + k) * SIZE + 6 * i + n] += sign * row[n];
                    a[(6 * i + n) * SIZE + BODY + 3 * j + k] -= sign * row[n];
                }
            }
    }
    solve_dense(a, b, SIZE);
    compare_forces(world, b + 6 * LINKS, LINKS);
    free(a);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tension_of_a_pendulum),
        cmocka_unit_test(a_double_pendulum),
        cmocka_unit_test(a_chain_keeps_its_energy),
        cmocka_unit_test(every_kind_keeps_energy),
        cmocka_unit_test(gears_racks_and_surfaces_keep_energy),
        cmocka_unit_test(springs_and_dampers),
        cmocka_unit_test(motors),
        cmocka_unit_test(work_of_motors),
        cmocka_unit_test(armature_is_inertia),
        cmocka_unit_test(friction_along_a_slider),
        cmocka_unit_test(a_motor_stalls),
        cmocka_unit_test(friction_in_hinges),
        cmocka_unit_test(a_limit_throws_back),
        cmocka_unit_test(a_hinge_with_a_stop),
        cmocka_unit_test(a_rope),
        cmocka_unit_test(a_struck_double_pendulum),
        cmocka_unit_test(joints_and_a_contact_against_a_direct_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
