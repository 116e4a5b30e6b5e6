/* Tendons (problem_tendons.c, world_joint.c): sums of axes with limits, springs, motors and
 * friction, against closed forms. */
#include "joint_support.h"
#include "scaled_world.h"

#define STEP (1.0 / 240)
#define G    9.81

enum { MOST = 9 };

/* Axes that nothing joins but the tendon: rotors on hinges about y, or weights on vertical
 * slides. */
typedef struct rig {
    rg_world *world;
    size_t count;
    rg_body_id body[MOST];
    rg_joint_id joint[MOST], tendon;
    double inertia[MOST], coefficient[MOST];
} rig;

static rig make_rig(size_t count, bool planar, bool slides, double gravity) {
    rig r = {.count = count};
    rg_world_def def = rg_world_def_default();
    def.gravity = rg_vec3_make(0, 0, -gravity);
    def.planar = planar;
    r.world = world_of(&def);
    for (size_t i = 0; i < count; i++) {
        double edge = 0.1 + 0.03 * (double)i;
        rg_vec3 at = {(double)i, 0, 0};
        rg_body_def body = rg_body_def_default();
        rg_collider_def collider = rg_collider_def_default();
        body.pose.position = at;
        collider.mask = 0;
        r.body[i] = planar ? add_collider(r.world, rg_shape_def_disc(edge), collider, &body)
                           : ghost(r.world, rg_vec3_make(edge, 0.1, edge), at);
        r.joint[i] =
            join(r.world, between(slides ? RG_JOINT_SLIDER : RG_JOINT_HINGE, the_world, r.body[i]),
                 at, slides ? z_axis : y_axis);
        rg_mass_properties mass = rg_body_mass(r.world, r.body[i]);
        r.inertia[i] = slides ? mass.mass : mass.inertia.m[1][1];
        r.coefficient[i] = (i % 2 ? -1 : 1) * (0.5 + 0.2 * (double)i);
    }
    return r;
}

static void add_tendon(rig *r, rg_joint_axis axis) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_TENDON);
    rg_error error;
    def.axis[0] = axis;
    def.part_count = r->count;
    for (size_t i = 0; i < r->count; i++)
        def.part[i] = (rg_tendon_part){r->joint[i], 0, r->coefficient[i]};
    if (rg_world_add_joint(r->world, &def, &r->tendon, &error))
        fail_msg("%s", error.text);
}

static rg_joint_axis plain(void) {
    return rg_joint_def_default(RG_JOINT_TENDON).axis[0];
}

/* J M^-1 J'. */
static double mobility_of(const rig *r) {
    double sum = 0;
    for (size_t i = 0; i < r->count; i++)
        sum += r->coefficient[i] * r->coefficient[i] / r->inertia[i];
    return sum;
}

static void step_well(rg_world *world) {
    rg_step_info info = step_once(world, STEP);
    if (!(info.certificate.joint_error <= 1e-9 && info.solver_failures == 0))
        fail_msg("t = %g: joint error %.3g, residual %.3g", rg_world_time(world),
                 info.certificate.joint_error, info.certificate.complementarity);
    if (!(info.energy.closure_rel <= 1e-9 && info.certificate.momentum_error <= 1e-9))
        fail_msg("t = %g: closure %.3g, momentum %.3g", rg_world_time(world),
                 info.energy.closure_rel, info.certificate.momentum_error);
}

static void spin(rig *r) {
    for (size_t i = 0; i < r->count; i++)
        assert_int_equal(rg_body_set_angular_velocity(
                             r->world, r->body[i], rg_vec3_make(0, 1 + 0.3 * (double)(i * i), 0)),
                         RG_OK);
}

static double near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g", value, expected);
    return value;
}

/* A length that stays: w+ = w - M^-1 J' (J M^-1 J')^-1 J w, for any number of rotors, in space and
 * in the plane, where sums hand on to each other. */
static void equal_limits_hold_the_sum(void **state) {
    (void)state;
    for (size_t count = 2; count <= MOST; count++)
        for (int planar = 0; planar < 2; planar++) {
            rig r = make_rig(count, planar, false, 0);
            rg_joint_axis axis = plain();
            double rate = 0, w[MOST];
            spin(&r);
            axis.lower = axis.upper = 0;
            add_tendon(&r, axis);
            for (size_t i = 0; i < count; i++) {
                w[i] = rg_body_angular_velocity(r.world, r.body[i]).y;
                rate += r.coefficient[i] * rg_joint_get_state(r.world, r.joint[i]).velocity[0];
            }
            double before = rg_joint_get_state(r.world, r.tendon).velocity[0];
            near(before, rate, 1e-12);
            double force = -rate / mobility_of(&r);
            for (int k = 0; k < 100; k++) {
                step_well(r.world);
                for (size_t i = 0; i < count; i++) { /* from the first step on */
                    double sign = rg_joint_get_state(r.world, r.joint[i]).velocity[0] *
                                              rg_body_angular_velocity(r.world, r.body[i]).y <
                                          0
                                      ? -1
                                      : 1;
                    near(rg_body_angular_velocity(r.world, r.body[i]).y,
                         w[i] + sign * force * r.coefficient[i] / r.inertia[i], 1e-10);
                }
            }
            near(rg_joint_get_state(r.world, r.tendon).coordinate[0], 0, 1e-10);
            rg_world_destroy(r.world);
        }
}

/* In other units of mass, the same motion to the bit: what sums take of bodies is measured by these
 * alone. */
static void any_unit_of_mass(void **state) {
    (void)state;
    for (int planar = 0; planar < 2; planar++)
        for (int heavy = 0; heavy < 2; heavy++) {
            rig r = make_rig(MOST, planar, false, 0);
            rg_joint_axis axis = plain();
            spin(&r);
            axis.lower = axis.upper = 0;
            add_tendon(&r, axis);
            rg_world *other = scaled_world(r.world, (world_units){1, heavy ? 0x1p40 : 0x1p-40});
            for (int k = 0; k < 20; k++) {
                step_well(r.world);
                step_well(other);
                for (size_t i = 0; i < r.count; i++) {
                    rg_body_id twin = rg_world_body_at(other, i);
                    assert_true(rg_body_angular_velocity(r.world, r.body[i]).y ==
                                rg_body_angular_velocity(other, twin).y);
                }
            }
            rg_world_destroy(other);
            rg_world_destroy(r.world);
        }
}

/* Two weights on a tendon with z1 c1 + z2 c2 >= 0: both fall with constant acceleration, from the
 * limit, m a = -m g + c T; without limits the tendon is slack. */
static void weights_on_a_limit(void **state) {
    (void)state;
    rig r = make_rig(2, false, true, G);
    rg_joint_axis axis = plain();
    r.coefficient[0] = 1, r.coefficient[1] = 2;
    axis.lower = 0;
    add_tendon(&r, axis);
    double tension = 3 * G / mobility_of(&r);
    for (int k = 1; k <= 480; k++) {
        step_well(r.world);
        for (size_t i = 0; i < 2; i++)
            near(rg_body_velocity(r.world, r.body[i]).z,
                 (-G + r.coefficient[i] * tension / r.inertia[i]) * k * STEP, 1e-9);
        near(rg_joint_get_state(r.world, r.tendon).axis_force[0], tension, 1e-8 * tension);
    }
    rg_world_destroy(r.world);
}

/* A rotor pair meets the limit of its tendon with restitution e: the rate turns round, -e times. */
static void limits_give_back(void **state) {
    (void)state;
    rig r = make_rig(3, false, false, 0);
    rg_joint_axis axis = plain();
    spin(&r);
    axis.lower = -0.3, axis.upper = 0.3, axis.restitution = 0.5;
    add_tendon(&r, axis);
    double rate = rg_joint_get_state(r.world, r.tendon).velocity[0];
    int turns = 0;
    for (int k = 0; k < 2000 && turns < 3; k++) {
        step_well(r.world);
        double now = rg_joint_get_state(r.world, r.tendon).velocity[0];
        if (now * rate < 0) {
            near(now, -0.5 * rate, 1e-9);
            turns++;
        } else {
            near(now, rate, 1e-9);
        }
        rate = now;
    }
    assert_int_equal(turns, 3);
    rg_world_destroy(r.world);
}

/* A spring and damper of the sum, taken at the end of the step: one implicit oscillator with the
 * inertia of the sum, m (U+ - U) = -h (k (x + h U+) + d U+), to rounding. */
static void springs_are_implicit(void **state) {
    (void)state;
    rig r = make_rig(4, false, false, 0);
    rg_joint_axis axis = plain();
    spin(&r);
    axis.stiffness = 300, axis.damping = 0.2, axis.rest = 0.1;
    add_tendon(&r, axis);
    double m = 1 / mobility_of(&r), x = 0, u = rg_joint_get_state(r.world, r.tendon).velocity[0];
    for (int k = 0; k < 500; k++) {
        const double h = STEP;
        step_well(r.world);
        u = (m * u - h * axis.stiffness * (x - axis.rest)) /
            (m + h * h * axis.stiffness + h * axis.damping);
        x += h * u;
        near(rg_joint_get_state(r.world, r.tendon).velocity[0], u, 1e-8);
        near(rg_joint_get_state(r.world, r.tendon).coordinate[0], x, 1e-8);
    }
    rg_world_destroy(r.world);
}

/* Weights in proportion to the coefficients balance on a motor, on friction, and fall beyond what
 * these have: T = m g / c. */
static void a_motor_balances_weights(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        rig r = make_rig(3, false, true, G);
        rg_joint_axis axis = plain();
        for (size_t i = 0; i < 3; i++)
            r.coefficient[i] = r.inertia[i] / 2;
        double tension = 2 * G;
        if (kind == 0)
            axis.motor = RG_MOTOR_VELOCITY, axis.max_force = 1.001 * tension;
        else if (kind == 1)
            axis.friction = 1.001 * tension;
        else if (kind == 2)
            axis.motor = RG_MOTOR_VELOCITY, axis.max_force = 0.5 * tension;
        else
            axis.motor = RG_MOTOR_POSITION, axis.gain = 1e5, axis.gain_velocity = 1e4,
            axis.target = tension / 1e5;
        add_tendon(&r, axis);
        for (int k = 1; k <= 240; k++) {
            step_well(r.world);
            rg_joint_state now = rg_joint_get_state(r.world, r.tendon);
            near(now.axis_force[0], kind == 2 ? 0.5 * tension : tension, 1e-8 * tension);
            near(now.motor_force[0], kind == 1 ? 0 : now.axis_force[0], 1e-12 * tension);
            for (size_t i = 0; i < 3; i++)
                near(rg_body_velocity(r.world, r.body[i]).z, kind == 2 ? -0.5 * G * k * STEP : 0,
                     1e-9);
        }
        rg_world_destroy(r.world);
    }
}

/* Armature: the inertia of what turns with the sum. */
static void armature_adds_inertia(void **state) {
    (void)state;
    rig r = make_rig(2, false, true, G);
    rg_joint_axis axis = plain();
    r.coefficient[0] = 1, r.coefficient[1] = 0.5;
    axis.armature = 3;
    add_tendon(&r, axis);
    /* T = -I (c.a), a_i = -g + c_i T / m_i. */
    double tension = 1.5 * G * axis.armature / (1 + axis.armature * mobility_of(&r));
    for (int k = 1; k <= 100; k++) {
        step_well(r.world);
        for (size_t i = 0; i < 2; i++)
            near(rg_body_velocity(r.world, r.body[i]).z,
                 (-G + r.coefficient[i] * tension / r.inertia[i]) * k * STEP, 1e-8);
    }
    rg_world_destroy(r.world);
}

/* --- in a mechanism --------------------------------------------------------------------------- */

typedef struct finger {
    rg_world *world;
    rg_body_id link[3];
    rg_joint_id hinge[3], tendon;
} finger;

/* Three links of 0.3 m along x, one after the other on hinges about y. */
static finger make_finger(rg_joint_axis axis, int threads) {
    finger f = {0};
    rg_world_def def = rg_world_def_default();
    def.threads = threads;
    f.world = world_of(&def);
    rg_body_id last = the_world;
    for (int i = 0; i < 3; i++) {
        f.link[i] =
            ghost(f.world, rg_vec3_make(0.3, 0.05, 0.05), rg_vec3_make(0.15 + 0.3 * i, 0, 1));
        f.hinge[i] = join(f.world, between(RG_JOINT_HINGE, last, f.link[i]),
                          rg_vec3_make(0.3 * i, 0, 1), y_axis);
        last = f.link[i];
    }
    rg_joint_def tendon = rg_joint_def_default(RG_JOINT_TENDON);
    rg_error error;
    tendon.axis[0] = axis;
    tendon.part_count = 3;
    for (size_t i = 0; i < 3; i++)
        tendon.part[i] = (rg_tendon_part){f.hinge[i], 0, 0.02 + 0.01 * (double)i};
    if (rg_world_add_joint(f.world, &tendon, &f.tendon, &error))
        fail_msg("%s", error.text);
    return f;
}

/* A finger that swings into the limit of its tendon and about it; joints and the limit are closed,
 * momentum and energy balance, and energy only goes at the limit. */
static void a_finger_swings(void **state) {
    (void)state;
    rg_joint_axis axis = plain();
    axis.lower = -0.01, axis.upper = 0.04;
    finger f = make_finger(axis, 1);
    double energy = rg_world_energy(f.world), reached = 0;
    for (int k = 0; k < 1200; k++) {
        step_well(f.world);
        double length = rg_joint_get_state(f.world, f.tendon).coordinate[0];
        assert_true(length <= axis.upper + 1e-9 && length >= axis.lower - 1e-9);
        reached = fmax(reached, length);
        assert_true(rg_world_energy(f.world) <= energy + 1e-3);
    }
    near(reached, axis.upper, 1e-9);
    rg_world_destroy(f.world);
}

/* Held by the tendon's spring alone the finger hangs where the weight balances it: the gradient of
 * the potential is 0 along each hinge, torque = coefficient x tension. */
static void a_finger_hangs(void **state) {
    (void)state;
    rg_joint_axis axis = plain();
    axis.stiffness = 2000, axis.damping = 20;
    finger f = make_finger(axis, 1);
    for (size_t i = 0; i < 3; i++) {
        rg_joint_axis own = rg_joint_get_def(f.world, f.hinge[i]).axis[0];
        own.damping = 0.5;
        assert_int_equal(rg_joint_set_axis(f.world, f.hinge[i], 0, &own, NULL), RG_OK);
    }
    for (int k = 0; k < 60 * 240; k++)
        step_well(f.world);
    double tension = rg_joint_get_state(f.world, f.tendon).axis_force[0];
    assert_true(fabs(tension) > 0.1);
    for (size_t i = 0; i < 3; i++) {
        double torque = 0;
        rg_vec3 at = rg_joint_get_state(f.world, f.hinge[i]).point;
        for (size_t j = i; j < 3; j++) {
            double mass = rg_body_mass(f.world, f.link[j]).mass;
            torque += mass * G * (rg_body_pose(f.world, f.link[j]).position.x - at.x);
        }
        near(torque + (0.02 + 0.01 * (double)i) * tension, 0, 1e-6);
    }
    rg_world_destroy(f.world);
}

/* The same bits in two threads. */
static void same_bits(void **state) {
    (void)state;
    rg_joint_axis axis = plain();
    axis.upper = 0.03, axis.stiffness = 50;
    finger one = make_finger(axis, 1), two = make_finger(axis, 2);
    for (int k = 0; k < 300; k++)
        step_well(one.world), step_well(two.world);
    assert_true(rg_world_state_hash(one.world) == rg_world_state_hash(two.world));
    rg_world_destroy(one.world);
    rg_world_destroy(two.world);
}

/* A tendon between a driven axis and a free one: the free one follows. */
static void it_follows_what_is_driven(void **state) {
    (void)state;
    rig r = make_rig(2, false, false, 0);
    rg_joint_axis axis = plain();
    axis.lower = axis.upper = 0;
    r.coefficient[0] = 1, r.coefficient[1] = -2;
    add_tendon(&r, axis);
    rg_joint_axis own = rg_joint_get_def(r.world, r.joint[0]).axis[0];
    own.motor = RG_MOTOR_VELOCITY, own.target = 3;
    assert_int_equal(rg_joint_set_axis(r.world, r.joint[0], 0, &own, NULL), RG_OK);
    for (int k = 1; k <= 240; k++) {
        step_well(r.world);
        near(rg_joint_get_state(r.world, r.joint[0]).velocity[0], 3, 1e-7);
        near(rg_joint_get_state(r.world, r.joint[1]).velocity[0], 1.5, 1e-7);
        near(rg_joint_get_state(r.world, r.joint[1]).coordinate[0], 1.5 * k * STEP, 1e-7);
    }
    rg_world_destroy(r.world);
}

/* --- worlds ----------------------------------------------------------------------------------- */

static void it_goes_with_its_joints(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        rig r = make_rig(3, false, true, G);
        rg_joint_axis axis = plain();
        axis.lower = axis.upper = 0;
        add_tendon(&r, axis);
        if (kind == 0)
            assert_int_equal(rg_world_remove_joint(r.world, r.joint[1]), RG_OK);
        else if (kind == 1)
            rg_world_remove_body(r.world, r.body[0]);
        else
            assert_int_equal(rg_joint_set_broken(r.world, r.joint[1], true), RG_OK);
        assert_int_equal(rg_joint_exists(r.world, r.tendon), kind == 2);
        assert_int_equal(rg_world_joint_count(r.world), kind == 2 ? 4 : 2);
        for (int k = 0; k < 24; k++)
            step_well(r.world);
        near(rg_body_velocity(r.world, r.body[2]).z, -G * 24 * STEP, 1e-9);
        rg_world_destroy(r.world);
    }
}

static void what_is_refused(void **state) {
    (void)state;
    rig r = make_rig(2, false, false, G);
    add_tendon(&r, plain());
    rg_joint_def def = rg_joint_def_default(RG_JOINT_TENDON), good;
    rg_joint_id joint;
    rg_error error;
    def.part_count = 1, def.part[0] = (rg_tendon_part){r.joint[0], 0, 1};
    good = def;
    def.part_count = 0;
    assert_int_equal(rg_world_add_joint(r.world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "joint: a tendon of 0 axes; it has 1 to 12");
    def = good, def.body_a = r.body[0];
    assert_int_equal(rg_world_add_joint(r.world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    def = good, def.part[0].joint = r.tendon;
    assert_int_equal(rg_world_add_joint(r.world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "joint: a tendon of a tendon; name its joints");
    def = good, def.part[0].axis = 1;
    assert_int_equal(rg_world_add_joint(r.world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "joint: a tendon of axis 1 of a hinge joint, which has 1");
    def = good, def.part[0].coefficient = 0;
    assert_int_equal(rg_world_add_joint(r.world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    def = good, def.part[0].coefficient = NAN;
    assert_int_equal(rg_world_add_joint(r.world, &def, &joint, &error), RG_NOT_FINITE);
    def = good, def.break_force = 1;
    assert_int_equal(rg_world_add_joint(r.world, &def, &joint, &error), RG_INVALID_ARGUMENT);
    def = good, def.part[0].joint.generation++;
    assert_int_equal(rg_world_add_joint(r.world, &def, &joint, &error), RG_INVALID_HANDLE);
    rg_world_destroy(r.world);

    rg_world_def analytic = rg_world_def_default();
    analytic.method = rg_method_find("analytic");
    r.world = world_of(&analytic);
    r.body[0] = ghost(r.world, rg_vec3_make(1, 1, 1), rg_vec3_make(0, 0, 0));
    r.joint[0] =
        join(r.world, between(RG_JOINT_HINGE, the_world, r.body[0]), rg_vec3_make(0, 0, 0), y_axis);
    r.count = 1;
    add_tendon(&r, plain());
    assert_int_equal(rg_world_step(r.world, STEP, NULL, &error), RG_UNSUPPORTED);
    assert_string_equal(error.text,
                        "the method analytic does not know tendons; take the method stepping");
    rg_world_destroy(r.world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_limits_hold_the_sum),
                                       cmocka_unit_test(any_unit_of_mass),
                                       cmocka_unit_test(weights_on_a_limit),
                                       cmocka_unit_test(limits_give_back),
                                       cmocka_unit_test(springs_are_implicit),
                                       cmocka_unit_test(a_motor_balances_weights),
                                       cmocka_unit_test(armature_adds_inertia),
                                       cmocka_unit_test(a_finger_swings),
                                       cmocka_unit_test(a_finger_hangs),
                                       cmocka_unit_test(same_bits),
                                       cmocka_unit_test(it_follows_what_is_driven),
                                       cmocka_unit_test(it_goes_with_its_joints),
                                       cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
