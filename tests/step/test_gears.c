/* Gears, racks and points on surfaces (world_joint_motion.c, step_analytic_joints_drift.c) by both
 * methods: closed forms. */
#include "test_world_support.h"

#include "rigor/joint.h"

#define STEP (1.0 / 240)
#define G    9.81

static const rg_body_id the_world = {0, 0};
static const char *method = "stepping";

static rg_world *gear_world(void) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find(method);
    def.settings.hand_over = false;
    return world_of(&def);
}

static rg_body_id disc(rg_world *world, rg_vec3 size, rg_vec3 at) {
    return add_masked_box(world, NULL, size, at, 0);
}

static rg_joint_id joint_at(rg_world *world, rg_joint_kind kind, rg_body_id a, rg_body_id b,
                            rg_vec3 point) {
    rg_joint_def def = rg_joint_def_default(kind);
    rg_joint_id joint;
    def.body_a = a, def.body_b = b;
    assert_int_equal(rg_joint_def_place(world, &def, point, rg_vec3_make(0, 1, 0)), RG_OK);
    assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    return joint;
}

/* Frames at the centres, z along y. */
static rg_joint_id mesh(rg_world *world, rg_joint_kind kind, rg_body_id a, rg_body_id b,
                        double ratio) {
    rg_joint_def def = rg_joint_def_default(kind);
    rg_joint_id joint;
    rg_error error;
    rg_quat up = rg_quat_make(-sqrt(0.5), 0, 0, sqrt(0.5)); /* z to y */
    def.body_a = a, def.body_b = b, def.ratio = ratio;
    def.frame_a.orientation = def.frame_b.orientation = up;
    if (rg_world_add_joint(world, &def, &joint, &error))
        fail_msg("%s", error.text);
    return joint;
}

static void step_well(rg_world *world) {
    rg_step_info info = step_once(world, STEP);
    if (!(info.certificate.joint_error <= 1e-9 && info.solver_failures == 0))
        fail_msg("t = %g: joint error %.3g", rg_world_time(world), info.certificate.joint_error);
    if (!(info.energy.closure_rel <= 1e-9 && info.certificate.momentum_error <= 1e-9))
        fail_msg("t = %g: closure %.3g, momentum %.3g", rg_world_time(world),
                 info.energy.closure_rel, info.certificate.momentum_error);
}

static double inertia_about_y(const rg_world *world, rg_body_id body) {
    return rg_body_mass(world, body).inertia.m[1][1];
}

/* A torque T on A, gears of ratio n = w_A / -w_B: (I_A + I_B / n^2) w_A' = T, for many turns; one
 * within the other, n < 0, likewise. */
static void two_gears(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        double n = k ? -3 : 2.5;
        rg_world *world = gear_world();
        rg_body_id a = disc(world, rg_vec3_make(0.4, 0.1, 0.4), rg_vec3_make(0, 0, 0));
        rg_body_id b = disc(world, rg_vec3_make(0.9, 0.1, 0.9), rg_vec3_make(0.7, 0.2, 0.3));
        joint_at(world, RG_JOINT_HINGE, the_world, a, rg_body_pose(world, a).position);
        joint_at(world, RG_JOINT_HINGE, the_world, b, rg_body_pose(world, b).position);
        mesh(world, RG_JOINT_GEAR, a, b, n);
        rg_force_def push = rg_force_def_default(RG_FORCE_CONSTANT);
        rg_force_id force;
        push.body = a, push.torque = rg_vec3_make(0, 40, 0);
        assert_int_equal(rg_world_add_force(world, &push, &force, NULL), RG_OK);
        double inertia = inertia_about_y(world, a) + inertia_about_y(world, b) / (n * n);
        for (int i = 1; i <= 720; i++) {
            step_well(world);
            double w = rg_body_angular_velocity(world, a).y;
            assert_true(fabs(w - 40 / inertia * i * STEP) <= 1e-7 * w);
            assert_true(fabs(w + n * rg_body_angular_velocity(world, b).y) <= 1e-9 * w);
        }
        rg_world_destroy(world);
    }
}

/* Willis: sun of radius 2, planets of radius 1 on an arm, ring of radius 4 that stands: the sun
 * turns 1 + 4/2 = 3 times as fast as the arm, the planet -(4/1 - 1) = -3 times. */
static void planets(void **state) {
    (void)state;
    rg_world *world = gear_world();
    rg_body_id sun = disc(world, rg_vec3_make(0.2, 0.1, 0.2), rg_vec3_make(0, 0, 0));
    rg_body_id arm = disc(world, rg_vec3_make(0.3, 0.1, 0.1), rg_vec3_make(0, 0.5, 0));
    rg_body_id planet = disc(world, rg_vec3_make(0.1, 0.1, 0.1), rg_vec3_make(0.3, 0, 0));
    joint_at(world, RG_JOINT_HINGE, the_world, sun, rg_vec3_make(0, 0, 0));
    rg_joint_id drive = joint_at(world, RG_JOINT_HINGE, the_world, arm, rg_vec3_make(0, 0.5, 0));
    joint_at(world, RG_JOINT_HINGE, arm, planet, rg_vec3_make(0.3, 0.2, 0));
    mesh(world, RG_JOINT_GEAR, sun, planet, 0.5);      /* 1 / 2 */
    mesh(world, RG_JOINT_GEAR, planet, the_world, -4); /* 4 / 1, within */
    rg_joint_axis motor = rg_joint_get_def(world, drive).axis[0];
    motor.motor = RG_MOTOR_VELOCITY, motor.target = 2;
    assert_int_equal(rg_joint_set_axis(world, drive, 0, &motor, NULL), RG_OK);
    for (int i = 0; i < 480; i++)
        step_well(world);
    /* the motor holds the speed along the chord of a step */
    assert_true(fabs(rg_body_angular_velocity(world, sun).y - 6) <= 1e-6);
    assert_true(fabs(rg_body_angular_velocity(world, planet).y + 6) <= 1e-6);
    rg_world_destroy(world);
}

/* A pinion that a weight on its rack turns: (m + I / r^2) a = m g. */
static void rack_and_pinion(void **state) {
    (void)state;
    const double r = 0.3;
    rg_world *world = gear_world();
    rg_body_id pinion = disc(world, rg_vec3_make(0.5, 0.1, 0.5), rg_vec3_make(0, 0, 0));
    rg_body_id rack = disc(world, rg_vec3_make(0.1, 0.1, 2), rg_vec3_make(0.3, 0, 0.2));
    joint_at(world, RG_JOINT_HINGE, the_world, pinion, rg_vec3_make(0, 0, 0));
    rg_joint_def guide = rg_joint_def_default(RG_JOINT_SLIDER);
    guide.body_b = rack;
    rg_joint_id joint;
    assert_int_equal(
        rg_joint_def_place(world, &guide, rg_vec3_make(0.3, 0, 0.2), rg_vec3_make(0, 0, 1)), RG_OK);
    assert_int_equal(rg_world_add_joint(world, &guide, &joint, NULL), RG_OK);
    rg_joint_def def = rg_joint_def_default(RG_JOINT_RACK);
    def.body_a = pinion, def.body_b = rack, def.ratio = r;
    /* z along y, x of the rack along z: turns about y move it to -z where x > 0 */
    def.frame_a.orientation = rg_quat_make(-sqrt(0.5), 0, 0, sqrt(0.5));
    def.frame_b.orientation = rg_quat_make(-0.5, 0.5, 0.5, 0.5);
    rg_vec3 x = rg_rotate(def.frame_b.orientation, rg_vec3_make(1, 0, 0));
    rg_vec3 z = rg_rotate(def.frame_b.orientation, rg_vec3_make(0, 0, 1));
    assert_true(fabs(x.z + 1) <= 1e-12 && fabs(z.y - 1) <= 1e-12);
    assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    double mass = rg_body_mass(world, rack).mass;
    double a = mass * G / (mass + inertia_about_y(world, pinion) / (r * r));
    for (int i = 1; i <= 240; i++) {
        step_well(world);
        double v = rg_body_velocity(world, rack).z, w = rg_body_angular_velocity(world, pinion).y;
        assert_true(fabs(v + a * i * STEP) <= 1e-7 * fabs(v));
        assert_true(fabs(v + r * w) <= 1e-9);
    }
    rg_world_destroy(world);
}

/* --- points on surfaces ----------------------------------------------------------------------- */

static rg_joint_id on_surface(rg_world *world, rg_body_id body, rg_quadric surface, double lower,
                              double upper) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_SURFACE);
    rg_joint_id joint;
    rg_error error;
    def.body_b = body, def.surface = surface;
    def.axis[0].lower = lower, def.axis[0].upper = upper;
    if (rg_world_add_joint(world, &def, &joint, &error))
        fail_msg("%s", error.text);
    return joint;
}

/* The survey's particle (section 2.1): C(x) = 0, and C(x) >= 0 with C(x) <= 0, give the same
 * motion, in a bowl and on an ellipsoid, along which the force is normal. */
static void equality_is_two_inequalities(void **state) {
    (void)state;
    const rg_quadric surfaces[] = {{{1, 1, 4}, {0, 0, 0}, -4},   /* an ellipsoid */
                                   {{1, 0.5, 0}, {0, 0, -1}, 0}, /* a bowl */
                                   {{0, 0, 0}, {0.3, 0, 1}, 0}}; /* an inclined plane */
    const rg_vec3 starts[] = {{0, 2, 0}, {1, 1, 1.5}, {0, 0, 0}};
    for (size_t s = 0; s < 3; s++) {
        rg_world *world[2];
        rg_body_id body[2];
        rg_joint_id joint = {0, 0};
        for (int k = 0; k < 2; k++) {
            world[k] = gear_world();
            body[k] = disc(world[k], rg_vec3_make(0.1, 0.1, 0.1), starts[s]);
            if (k == 0)
                joint = on_surface(world[k], body[k], surfaces[s], 0, 0);
            else {
                on_surface(world[k], body[k], surfaces[s], 0, INFINITY);
                on_surface(world[k], body[k], surfaces[s], -INFINITY, 0);
            }
            rg_vec3 v = s == 0 ? rg_vec3_make(1, 0, 0.5) : rg_vec3_make(0, 0, 0);
            assert_int_equal(rg_body_set_velocity(world[k], body[k], v), RG_OK);
        }
        double energy = rg_world_energy(world[0]);
        for (int i = 0; i < 480; i++) {
            rg_vec3 at = rg_body_pose(world[0], body[0]).position;
            step_well(world[0]);
            step_well(world[1]);
            rg_vec3 p = rg_body_pose(world[0], body[0]).position;
            rg_vec3 other = rg_body_pose(world[1], body[1]).position;
            if (!(rg_length(rg_sub(p, other)) <= 1e-9))
                fail_msg("surface %zu, step %d: %.3g m apart", s, i, rg_length(rg_sub(p, other)));
            rg_vec3 n = rg_normalised(
                rg_add(rg_scale(2, rg_times(surfaces[s].square, at)), surfaces[s].linear));
            rg_vec3 force = rg_joint_get_state(world[0], joint).force;
            assert_true(rg_length(rg_cross(force, n)) <= 0.05 * (1 + rg_length(force)));
        }
        double size = rg_body_mass(world[0], body[0]).mass * G;
        assert_true(fabs(rg_world_energy(world[0]) - energy) <= 0.02 * size);
        rg_world_destroy(world[0]);
        rg_world_destroy(world[1]);
    }
}

/* It leaves a sphere that holds it outside alone where cos = 2/3, to first order in the step. */
static void a_particle_leaves_a_sphere(void **state) {
    (void)state;
    rg_world *world = gear_world();
    double start = 0.05;
    rg_body_id body =
        disc(world, rg_vec3_make(0.01, 0.01, 0.01), rg_vec3_make(sin(start), 0, cos(start)));
    rg_joint_id joint =
        on_surface(world, body, (rg_quadric){{1, 1, 1}, {0, 0, 0}, -1}, 0, INFINITY);
    double left = 0, weight = rg_body_mass(world, body).mass * G;
    for (int i = 0; i < 4000 && left == 0; i++) {
        step_once(world, 1e-3);
        rg_joint_state s = rg_joint_get_state(world, joint);
        assert_true(s.coordinate[0] >= -1e-9);
        if (rg_length(s.force) <= 1e-3 * weight)
            left = rg_body_pose(world, body).position.z;
    }
    double expected = 2.0 / 3 * cos(start);
    if (!(fabs(left - expected) <= 5e-3))
        fail_msg("left at %.6g, expected %.6g", left, expected);
    rg_world_destroy(world);
}

static void what_is_refused(void **state) {
    (void)state;
    rg_world *world = gear_world();
    rg_body_id a = disc(world, rg_vec3_make(1, 1, 1), rg_vec3_make(0, 0, 0));
    rg_body_id b = disc(world, rg_vec3_make(1, 1, 1), rg_vec3_make(2, 0, 0));
    rg_joint_def def = rg_joint_def_default(RG_JOINT_GEAR);
    rg_joint_id joint;
    rg_error error;
    def.body_a = a, def.body_b = b;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "joint: a gear needs a ratio, other than 0 and -1");
    def.ratio = 2, def.frame_b.orientation = rg_quat_make(0, 1, 0, 0);
    assert_int_equal(rg_world_add_joint(world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text,
                        "joint: the axes of a gear, z of both frames, must be parallel");
    def.frame_b = rg_pose_identity(), def.frame_b.position.x = -2;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text,
                        "joint: both gears have the same axis; their frames are at their centres");
    def = rg_joint_def_default(RG_JOINT_SURFACE);
    def.body_b = a, def.axis[0].lower = 0;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    def.surface.square = rg_vec3_make(1, 1, 1), def.axis[0].lower = 0.5;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    def.axis[0].lower = -INFINITY;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "joint: a point is on a surface (lower: 0, upper: 0), outside "
                                    "(lower: 0) or inside (upper: 0)");
    def.axis[0].upper = 0, def.surface.constant = NAN;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, &error), RG_NOT_FINITE);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_gears),
                                       cmocka_unit_test(planets),
                                       cmocka_unit_test(rack_and_pinion),
                                       cmocka_unit_test(equality_is_two_inequalities),
                                       cmocka_unit_test(a_particle_leaves_a_sphere),
                                       cmocka_unit_test(what_is_refused)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    method = "analytic";
    return failed + cmocka_run_group_tests_name("analytic", tests, NULL, NULL);
}
