/* Joints in fixed steps (step_joints*.c, step_judge_joints.c, problem_joints.c): closed forms. */
#include "joint_support.h"

#include "rigor/contact_force.h"

#define STEP (1.0 / 240)
#define G    9.81

static rg_world *world_without_gravity(void) {
    rg_world_def def = rg_world_def_default();
    def.gravity = rg_vec3_make(0, 0, 0);
    return world_of(&def);
}

/* Every step: joints closed, ledger closed, momenta balanced, nothing left unsolved. */
static rg_step_info step_well(rg_world *world, double step) {
    rg_step_info info = step_once(world, step);
    if (!(info.certificate.joint_error <= 1e-9))
        fail_msg("t = %g: joint error %.3g", rg_world_time(world), info.certificate.joint_error);
    /* Without gravity what has come to rest has nothing left that errors could be relative to. */
    if (rg_length(rg_world_gravity(world)) == 0 && fabs(info.energy.final) < 1e-20)
        return info;
    if (!(info.energy.closure_rel <= 1e-9))
        fail_msg("t = %g: closure %.3g", rg_world_time(world), info.energy.closure_rel);
    if (!(info.certificate.momentum_error <= 1e-9))
        fail_msg("t = %g: momentum %.3g", rg_world_time(world), info.certificate.momentum_error);
    if (info.solver_failures)
        fail_msg("t = %g: residual %.3g", rg_world_time(world), info.certificate.complementarity);
    return info;
}

/* --- pendulums and chains --------------------------------------------------------------------- */

/* Tension m (g cos + l w^2) of a rigid pendulum, along the rod, at all times, to first order in the
 * step. Its force acts at the beginning of a step, where the velocity is the mean of those half a
 * step before and after. */
static void tension_of_a_pendulum(void **state) {
    (void)state;
    const double length = 1.2, h = 1e-3;
    for (int kind = 0; kind < 2; kind++) {
        rg_world *world = default_world();
        rg_body_id bob = ghost(world, rg_vec3_make(0.1, 0.2, 0.3), rg_vec3_make(length, 0, 0));
        double mass = rg_body_mass(world, bob).mass;
        rg_joint_id joint =
            join(world, between(kind ? RG_JOINT_BALL : RG_JOINT_HINGE, the_world, bob),
                 rg_vec3_make(0, 0, 0), y_axis);
        for (int k = 0; k < 1500; k++) {
            rg_vec3 arm = rg_body_pose(world, bob).position;
            rg_vec3 before = rg_body_angular_velocity(world, bob);
            step_well(world, h);
            rg_vec3 rod = rg_scale(1 / length, arm);
            double w = 0.5 * (before.y + rg_body_angular_velocity(world, bob).y);
            double expected = mass * (-G * rod.z + length * w * w);
            double tension = -rg_dot(rg_joint_get_state(world, joint).force, rod);
            if (!(fabs(tension - expected) <= (fabs(w) * h + 1e-5) * mass * G))
                fail_msg("step %d: %.9g N, expected %.9g", k, tension, expected);
        }
        rg_world_destroy(world);
    }
}

static chain make_chain(int links, double bob, double angle, int threads) {
    rg_world_def def = rg_world_def_default();
    def.threads = threads;
    return chain_in(world_of(&def), links, bob, angle);
}

/* The largest error of the energy, relative to the swing. */
static double swing_chain(chain *c, double step, double time) {
    double worst = 0;
    for (int k = 0; k < (int)(time / step + 0.5); k++) {
        step_well(c->world, step);
        worst = fmax(worst, fabs(rg_world_energy(c->world) - c->energy) / c->swing);
    }
    return worst;
}

static void a_chain_keeps_its_energy(void **state) {
    (void)state;
    chain coarse = make_chain(20, 100, RG_PI / 4, 1), fine = make_chain(20, 100, RG_PI / 4, 1);
    double one = swing_chain(&coarse, STEP, 10), half = swing_chain(&fine, STEP / 2, 10);
    print_message("chain of 20, bob 100: energy within %.3g, at half the step %.3g\n", one, half);
    assert_true(one <= 5e-4);
    assert_true(half <= 0.3 * one); /* second order */
    rg_world_destroy(coarse.world);
    rg_world_destroy(fine.world);
}

/* A bob a million times as heavy as a link: swings across would be far faster than a step can
 * follow, and joints stay as closed. The inertia that is added for that shows in the momentum. */
static void a_heavy_bob(void **state) {
    (void)state;
    chain c = make_chain(20, 1e6, RG_PI / 4, 1);
    double worst = 0;
    for (int k = 0; k < 2400; k++) {
        rg_step_info info = step_once(c.world, STEP);
        assert_true(info.certificate.joint_error <= 1e-9);
        assert_true(info.energy.closure_rel <= 1e-9);
        assert_true(info.certificate.momentum_error <= 1e-4);
        worst = fmax(worst, fabs(rg_world_energy(c.world) - c.energy) / c.swing);
    }
    print_message("chain of 20, bob 1e6: energy within %.3g\n", worst);
    assert_true(worst <= 5e-4);
    assert_int_equal(rg_world_summary(c.world).solver_failures, 0);
    rg_world_destroy(c.world);
}

static void same_bits(void **state) {
    (void)state;
    chain one = make_chain(12, 10, 0.5, 1), two = make_chain(12, 10, 0.5, 2);
    swing_chain(&one, STEP, 0.3);
    swing_chain(&two, STEP, 0.3);
    rg_snapshot *snapshot;
    rg_world *clone;
    assert_int_equal(rg_snapshot_create(one.world, &snapshot), RG_OK);
    assert_int_equal(rg_world_clone(one.world, &clone), RG_OK);
    chain fresh = make_chain(12, 10, 0.5, 1);
    rg_world *carried = carry_over(clone, fresh.world);
    swing_chain(&one, STEP, 0.3);
    swing_chain(&two, STEP, 0.3);
    uint64_t hash = rg_world_state_hash(one.world);
    assert_true(hash == rg_world_state_hash(two.world));
    assert_int_equal(rg_world_restore(one.world, snapshot), RG_OK);
    chain resumed = {.world = carried, .swing = 1};
    swing_chain(&one, STEP, 0.3);
    swing_chain(&resumed, STEP, 0.3);
    assert_true(hash == rg_world_state_hash(one.world));
    assert_true(hash == rg_world_state_hash(carried));
    rg_snapshot_destroy(snapshot);
    rg_world_destroy(carried);
    rg_world_destroy(one.world);
    rg_world_destroy(two.world);
}

/* Looks at joints and factors are kept from step to step: a clone, which has none, makes the same
 * step. Of all kinds that turn with their first body, and others. */
static void what_is_kept_does_not_show(void **state) {
    (void)state;
    const rg_joint_kind kinds[] = {RG_JOINT_BALL,        RG_JOINT_HINGE,   RG_JOINT_SLIDER,
                                   RG_JOINT_UNIVERSAL,   RG_JOINT_PLANAR,  RG_JOINT_FIXED,
                                   RG_JOINT_CYLINDRICAL, RG_JOINT_DISTANCE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        rg_world *world = default_world(), *clone;
        rg_body_id upper = ghost(world, rg_vec3_make(0.1, 0.2, 0.3), rg_vec3_make(1, 0, 0));
        rg_body_id lower = ghost(world, rg_vec3_make(0.2, 0.1, 0.3), rg_vec3_make(2, 0.1, 0));
        join(world, between(RG_JOINT_HINGE, the_world, upper), rg_vec3_make(0, 0, 0), y_axis);
        join(world, between(kinds[i], upper, lower), rg_vec3_make(1.5, 0, 0), y_axis);
        for (int k = 0; k < 40; k++) {
            assert_int_equal(rg_world_clone(world, &clone), RG_OK);
            step_once(world, STEP);
            step_once(clone, STEP);
            if (rg_world_state_hash(world) != rg_world_state_hash(clone))
                fail_msg("kind %d, step %d", (int)kinds[i], k);
            rg_world_destroy(clone);
        }
        rg_world_destroy(world);
    }
}

/* What hangs still stays so, to the last bit. */
static void rest_is_exact(void **state) {
    (void)state;
    chain c = make_chain(5, 3, 0, 1);
    for (int k = 0; k < 20; k++)
        step_well(c.world, STEP);
    rg_vec3 place = rg_body_pose(c.world, rg_world_body_at(c.world, 5)).position;
    for (int k = 0; k < 500; k++)
        step_well(c.world, STEP);
    rg_vec3 later = rg_body_pose(c.world, rg_world_body_at(c.world, 5)).position;
    assert_memory_equal(&place, &later, sizeof place);
    rg_world_destroy(c.world);
}

/* --- axes ------------------------------------------------------------------------------------- */

/* Springs of any stiffness: the energy never grows, and where the step resolves the oscillation it
 * is that of the closed form. */
static void springs_of_any_stiffness(void **state) {
    (void)state;
    for (double k = 1; k <= 1e12; k *= 10) {
        rg_world *world = world_without_gravity();
        rg_body_id box = ghost(world, rg_vec3_make(0.1, 0.1, 0.1), rg_vec3_make(0, 0, 0));
        rg_joint_def def = between(RG_JOINT_SLIDER, the_world, box);
        def.axis[0].stiffness = k;
        rg_joint_id joint = join(world, def, rg_vec3_make(0, 0, 0), x_axis);
        rg_pose pose = rg_body_pose(world, box);
        pose.position.x = 0.1;
        assert_int_equal(rg_body_set_pose(world, box, pose), RG_OK);
        double before = 0.5 * k * 0.01, x;
        double omega = sqrt(k); /* 1 kg */
        for (int n = 1; n <= 960; n++) {
            step_well(world, STEP);
            rg_joint_state s = rg_joint_get_state(world, joint);
            double energy = rg_world_energy(world) + 0.5 * k * s.coordinate[0] * s.coordinate[0];
            assert_true(energy <= before * (1 + 1e-12) + 1e-300);
            before = energy;
            x = s.coordinate[0];
            if (omega * STEP >= 1) /* not resolved: at rest after a few steps */
                assert_true(n < 100 || fabs(x) <= 1e-9);
            if (omega * STEP <= 0.05 && n <= 480)
                assert_true(fabs(x - 0.1 * cos(omega * n * STEP)) <=
                            0.1 * (omega * STEP) * (1 + omega * n * STEP));
        }
        rg_world_destroy(world);
    }
}

/* A motor at the limit of its force against a wall: exactly that force, in motor and contact. */
static void a_motor_stalls(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def wall = rg_body_def_default();
    wall.motion = RG_MOTION_FIXED;
    wall.pose.position = rg_vec3_make(1.2, 0, 0);
    rg_body_id stop = add_shape(world, rg_shape_def_box(0.2, 1, 1), &wall);
    (void)stop;
    rg_body_id cart = add_box(world, "cart", rg_vec3_make(0.2, 0.2, 0.2), rg_vec3_make(0, 0, 0));
    rg_joint_def def = between(RG_JOINT_SLIDER, the_world, cart);
    def.axis[0].motor = RG_MOTOR_VELOCITY;
    def.axis[0].target = 1;
    def.axis[0].max_force = 25;
    rg_joint_id joint = join(world, def, rg_vec3_make(0, 0, 0), x_axis);
    double time = 0;
    while (rg_joint_get_state(world, joint).velocity[0] < 1 - 1e-9 && time < 5)
        step_well(world, STEP), time += STEP;
    assert_true(fabs(time - 8.0 / 25) <= 2 * STEP); /* m v / F */
    for (int k = 0; k < 480; k++)
        step_well(world, STEP);
    rg_joint_state s = rg_joint_get_state(world, joint);
    assert_true(fabs(s.coordinate[0] - 1) <= 1e-9);
    assert_true(fabs(s.motor_force[0] - 25) <= 1e-12);
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(forces[i].force.x);
    assert_true(fabs(sum - 25) <= 1e-7);
    rg_world_destroy(world);
}

/* A position motor against gravity holds with the error m g l / gain. */
static void a_position_motor_holds(void **state) {
    (void)state;
    for (double gain = 1e3; gain <= 1e9; gain *= 1e3) {
        rg_world *world = default_world();
        rg_body_id arm = ghost(world, rg_vec3_make(1, 0.1, 0.1), rg_vec3_make(0.5, 0, 0));
        rg_joint_def def = between(RG_JOINT_HINGE, the_world, arm);
        def.axis[0].motor = RG_MOTOR_POSITION;
        def.axis[0].gain = gain;
        def.axis[0].gain_velocity = 0.1 * gain;
        rg_joint_id joint = join(world, def, rg_vec3_make(0, 0, 0), y_axis);
        for (int k = 0; k < 2400; k++)
            step_well(world, STEP);
        double angle = rg_joint_get_state(world, joint).coordinate[0];
        double expected = 10 * G * 0.5 * cos(angle) / gain;
        assert_true(fabs(angle - expected) <= 1e-6 * expected);
        rg_world_destroy(world);
    }
}

/* Dry friction slows a wheel by its torque over its inertia, and holds it then. */
static void friction_in_a_hinge(void **state) {
    (void)state;
    rg_world *world = world_without_gravity();
    rg_body_id wheel = ghost(world, rg_vec3_make(0.6, 0.1, 0.6), rg_vec3_make(0, 0, 0));
    double inertia = rg_body_mass(world, wheel).inertia.m[1][1], torque = 0.5;
    rg_joint_def def = between(RG_JOINT_HINGE, the_world, wheel);
    def.axis[0].friction = torque;
    rg_joint_id joint = join(world, def, rg_vec3_make(0, 0, 0), y_axis);
    assert_int_equal(rg_body_set_angular_velocity(world, wheel, rg_vec3_make(0, 0.5, 0)), RG_OK);
    double stop = inertia * 0.5 / torque;
    for (int k = 1; k * STEP < stop + 0.5; k++) {
        rg_step_info info = step_well(world, STEP);
        double expected = fmax(0, 0.5 - torque / inertia * k * STEP);
        assert_true(fabs(rg_joint_get_state(world, joint).velocity[0] - expected) <= 1e-12);
        assert_true(info.energy.friction_work <= 1e-15);
    }
    assert_true(stop > 0.5);
    assert_true(fabs(rg_world_summary(world).energy.friction_work + 0.125 * inertia) <= 1e-12);
    rg_world_destroy(world);
}

/* An armature is inertia on the axis: torque over the sum of both. */
static void armature_is_inertia(void **state) {
    (void)state;
    rg_world *world = world_without_gravity();
    rg_body_id wheel = ghost(world, rg_vec3_make(0.6, 0.1, 0.6), rg_vec3_make(0, 0, 0));
    double inertia = rg_body_mass(world, wheel).inertia.m[1][1];
    rg_joint_def def = between(RG_JOINT_HINGE, the_world, wheel);
    def.axis[0].armature = 7;
    def.axis[0].motor = RG_MOTOR_VELOCITY;
    def.axis[0].target = 1e6;
    def.axis[0].max_force = 3;
    rg_joint_id joint = join(world, def, rg_vec3_make(0, 0, 0), y_axis);
    for (int k = 1; k <= 240; k++) {
        step_well(world, STEP);
        double expected = 3 / (inertia + 7) * k * STEP;
        assert_true(fabs(rg_joint_get_state(world, joint).velocity[0] - expected) <=
                    1e-10 * expected);
    }
    rg_world_destroy(world);
}

/* A cart between two stops rebounds with the share e of its speed, and never passes them. */
static void limits_throw_back(void **state) {
    (void)state;
    rg_world *world = world_without_gravity();
    rg_body_id cart = ghost(world, rg_vec3_make(0.1, 0.1, 0.1), rg_vec3_make(0, 0, 0));
    rg_joint_def def = between(RG_JOINT_SLIDER, the_world, cart);
    def.axis[0].lower = -0.5, def.axis[0].upper = 0.7, def.axis[0].restitution = 0.8;
    rg_joint_id joint = join(world, def, rg_vec3_make(0, 0, 0), x_axis);
    assert_int_equal(rg_body_set_velocity(world, cart, rg_vec3_make(2, 0, 0)), RG_OK);
    double last = 2;
    int bounces = 0;
    for (int k = 0; k < 1200; k++) {
        step_well(world, STEP);
        rg_joint_state s = rg_joint_get_state(world, joint);
        assert_true(s.coordinate[0] >= -0.5 - 1e-9 && s.coordinate[0] <= 0.7 + 1e-9);
        if (s.velocity[0] * last < 0) {
            assert_true(fabs(s.velocity[0] + 0.8 * last) <= 1e-9);
            bounces++;
        }
        last = s.velocity[0];
    }
    assert_true(bounces >= 3);
    rg_world_destroy(world);
}

/* --- other kinds ------------------------------------------------------------------------------ */

static void rods_and_ropes(void **state) {
    (void)state;
    for (int rope = 0; rope < 2; rope++) {
        rg_world *world = default_world();
        rg_body_id bob = ghost(world, rg_vec3_make(0.1, 0.1, 0.1), rg_vec3_make(1, 0, 0));
        rg_joint_def def = between(RG_JOINT_DISTANCE, the_world, bob);
        def.axis[0].lower = rope ? 0 : 1, def.axis[0].upper = rope ? 1.5 : 1;
        rg_joint_id joint;
        assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
        double energy = rg_world_energy(world);
        bool taut = false;
        for (int k = 0; k < 1200; k++) {
            step_well(world, STEP);
            rg_joint_state s = rg_joint_get_state(world, joint);
            double length = rg_length(rg_body_pose(world, bob).position);
            assert_true(fabs(s.coordinate[0] - length) <= 1e-12);
            assert_true(length <= (rope ? 1.5 : 1) + 1e-9);
            if (!rope)
                assert_true(length >= 1 - 1e-9);
            taut = taut || s.axis_force[0] < 0;
            if (rope)
                assert_true(s.axis_force[0] <= 0);
        }
        assert_true(taut);
        /* The rope takes what it is met with; the rod swings on. */
        assert_true(rg_world_energy(world) <= energy + 0.1);
        rg_world_destroy(world);
    }
}

/* The pendulum of a planar world is that of space. */
static void planar_and_spatial_agree(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.planar = true;
    rg_world *plane = world_of(&def), *space = default_world();
    rg_body_id two[2];
    for (int k = 0; k < 2; k++) {
        rg_world *world = k ? space : plane;
        rg_body_def b = rg_body_def_default();
        b.has_mass = true;
        b.mass.mass = 2;
        b.mass.inertia = rg_mat3_diagonal(rg_vec3_make(0.3, 0.4, 0.5));
        b.pose.position = rg_vec3_make(0.8, 0, 0);
        two[k] = body_of(world, &b);
        join(world, between(RG_JOINT_HINGE, the_world, two[k]), rg_vec3_make(0, 0, 0), y_axis);
    }
    for (int k = 0; k < 480; k++) {
        step_well(plane, STEP);
        step_well(space, STEP);
        rg_vec3 p = rg_body_pose(plane, two[0]).position, s = rg_body_pose(space, two[1]).position;
        assert_true(rg_length(rg_sub(p, s)) <= 1e-7);
    }
    rg_world_destroy(plane);
    rg_world_destroy(space);
}

/* A door on three hinges moves as on one: the forces are not determined, the motion is. */
static void redundant_joints(void **state) {
    (void)state;
    rg_world *worlds[2];
    rg_body_id door[2];
    rg_vec3 axis = {0, 0.1, 1};
    for (int k = 0; k < 2; k++) {
        worlds[k] = default_world();
        door[k] = ghost(worlds[k], rg_vec3_make(0.9, 0.05, 2), rg_vec3_make(0.45, 0, 1));
        for (int hinge = 0; hinge < (k ? 3 : 1); hinge++)
            join(worlds[k], between(RG_JOINT_HINGE, the_world, door[k]),
                 rg_scale(k ? 0.2 + 0.7 * hinge : 1, axis), axis);
    }
    for (int k = 0; k < 1200; k++) {
        step_well(worlds[0], STEP);
        step_well(worlds[1], STEP);
        rg_vec3 one = rg_body_pose(worlds[0], door[0]).position;
        rg_vec3 three = rg_body_pose(worlds[1], door[1]).position;
        assert_true(rg_length(rg_sub(one, three)) <= 1e-10);
    }
    rg_world_destroy(worlds[0]);
    rg_world_destroy(worlds[1]);
}

/* A parallelogram of three bars: the coupler does not turn, and the angle obeys
 * (2 I_bar + (2 m / 4 + m_c) l^2) angle'' = (2 m / 2 + m_c) g l cos angle. A closed loop,
 * redundant in space. */
static void a_four_bar_linkage(void **state) {
    (void)state;
    const double length = 1, h = 1e-3;
    rg_world *world = default_world();
    rg_body_id left = ghost(world, rg_vec3_make(length, 0.1, 0.1), rg_vec3_make(0.5, 0, 0));
    rg_body_id right = ghost(world, rg_vec3_make(length, 0.1, 0.1), rg_vec3_make(0.5, 0, 0.8));
    rg_body_id coupler = ghost(world, rg_vec3_make(0.1, 0.1, 0.8), rg_vec3_make(1, 0, 0.4));
    rg_joint_id joint =
        join(world, between(RG_JOINT_HINGE, the_world, left), rg_vec3_make(0, 0, 0), y_axis);
    join(world, between(RG_JOINT_HINGE, the_world, right), rg_vec3_make(0, 0, 0.8), y_axis);
    join(world, between(RG_JOINT_HINGE, left, coupler), rg_vec3_make(1, 0, 0), y_axis);
    join(world, between(RG_JOINT_HINGE, right, coupler), rg_vec3_make(1, 0, 0.8), y_axis);
    double m = rg_body_mass(world, left).mass, mc = rg_body_mass(world, coupler).mass;
    double inertia = rg_body_mass(world, left).inertia.m[1][1];
    double sum = 2 * inertia + (0.5 * m + mc) * length * length, pull = (m + mc) * G * length;
    double angle = 0, rate = 0; /* below the horizontal; leapfrog with a hundredth of the step */
    for (int k = 0; k < 1000; k++) {
        step_well(world, h);
        for (int n = 0; n < 100; n++) {
            double fine = h / 100;
            rate += 0.5 * fine * pull / sum * cos(angle);
            angle += fine * rate;
            rate += 0.5 * fine * pull / sum * cos(angle);
        }
        assert_true(fabs(rg_joint_get_state(world, joint).coordinate[0] - angle) <=
                    0.6 * h * rate + 1e-5); /* half a step, as that of the first velocity */
        rg_quat turn = rg_body_pose(world, coupler).orientation;
        assert_true(fabs(turn.y) <= 1e-9);
    }
    rg_world_destroy(world);
}

/* --- impacts, breaking, prescribed motion ----------------------------------------------------- */

/* A ball strikes the lower of two links: the joints hold through the impact, the ledger closes, and
 * the ball leaves with the restitution of the pair. */
/* m/s: how fast the points of two bodies at a place part. */
static double parting(const rg_world *world, rg_body_id a, rg_body_id b, rg_vec3 place) {
    rg_vec3 v[2];
    const rg_body_id body[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        rg_vec3 arm = rg_sub(place, rg_body_pose(world, body[k]).position);
        v[k] = rg_add(rg_body_velocity(world, body[k]),
                      rg_cross(rg_body_angular_velocity(world, body[k]), arm));
    }
    return rg_length(rg_sub(v[0], v[1]));
}

/* Plates on balls at their corners tumble about all axes: at the end of a step both sides of a
 * joint have one velocity. */
static void plates_that_tumble(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    rg_world *world = world_of(&def);
    rg_body_id plate[4];
    rg_joint_id joint[4];
    for (int i = 0; i < 4; i++) {
        rg_vec3 at = {0.2 + 0.4 * i, 0.15 + 0.3 * i, 0};
        plate[i] = ghost(world, rg_vec3_make(0.4, 0.3, 0.05), at);
        joint[i] = join(world, between(RG_JOINT_BALL, i ? plate[i - 1] : the_world, plate[i]),
                        rg_vec3_make(0.4 * i, 0.3 * i, 0), z_axis);
    }
    double worst = 0;
    for (int k = 0; k < 480; k++) {
        step_well(world, STEP);
        for (int i = 1; i < 4; i++) {
            rg_vec3 place = rg_joint_get_state(world, joint[i]).point;
            worst = fmax(worst, parting(world, plate[i - 1], plate[i], place));
        }
    }
    print_message("plates: velocities of a joint differ by %.3g m/s\n", worst);
    assert_true(worst <= 1e-11);
    rg_world_destroy(world);
}

/* Where a corner is after half a second of a plate that hangs on a joint of some kind, spun about
 * an axis that is none of its main ones. */
static rg_vec3 corner_of_spun_plate(const char *method, rg_joint_kind kind, double step) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find(method);
    rg_world *world = world_of(&def);
    rg_body_id plate = ghost(world, rg_vec3_make(0.4, 0.3, 0.05), rg_vec3_make(0.2, 0.15, 0));
    rg_vec3 axis = kind == RG_JOINT_BALL ? z_axis : rg_normalised((rg_vec3){3, 0, 4});
    rg_vec3 spin = kind == RG_JOINT_BALL ? rg_vec3_make(2, -5, 6) : rg_scale(7, axis);
    join(world, between(kind, the_world, plate), rg_vec3_make(0, 0, 0), axis);
    rg_body_set_angular_velocity(world, plate, spin);
    rg_body_set_velocity(world, plate, rg_cross(spin, rg_vec3_make(0.2, 0.15, 0)));
    step_world(world, step, (int)(0.5 / step + 0.5));
    rg_vec3 corner = rg_pose_apply(rg_body_pose(world, plate), rg_vec3_make(0.2, -0.15, 0.025));
    rg_world_destroy(world);
    return corner;
}

/* Steps of half the length err by a quarter: with what free rotation adds to the velocities of a
 * joint (Euler's equations, I w' = L x w) the fixed step is of second order, beside the analytic
 * method. */
static void spun_plates_converge_to_second_order(void **state) {
    (void)state;
    static const rg_joint_kind kinds[] = {RG_JOINT_BALL, RG_JOINT_HINGE, RG_JOINT_UNIVERSAL};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        rg_vec3 exact = corner_of_spun_plate("analytic", kinds[k], 0.5);
        double error[2];
        for (int i = 0; i < 2; i++) {
            rg_vec3 corner = corner_of_spun_plate("stepping", kinds[k], STEP / (1 << i));
            error[i] = rg_length(rg_sub(corner, exact));
        }
        print_message("kind %d: %.3g m, with half the step %.3g m\n", (int)kinds[k], error[0],
                      error[1]);
        assert_true(error[1] < 0.3 * error[0]);
    }
}

static void a_struck_double_pendulum(void **state) {
    (void)state;
    for (int e = 0; e <= 1; e++) {
        rg_world *world = world_without_gravity();
        rg_material_id elastic;
        rg_contact_law law = {.friction = 0, .restitution = e};
        assert_int_equal(rg_world_add_material(world, "m", &law, &elastic, NULL), RG_OK);
        rg_collider_def collider = rg_collider_def_default();
        collider.material = elastic;
        rg_body_def def = rg_body_def_default();
        def.pose.position = rg_vec3_make(0, 0, -0.5);
        rg_body_id upper = add_collider(world, rg_shape_def_box(0.1, 0.1, 0.9), collider, &def);
        def.pose.position = rg_vec3_make(0, 0, -1.5);
        rg_body_id lower = add_collider(world, rg_shape_def_box(0.1, 0.1, 0.9), collider, &def);
        def.pose.position = rg_vec3_make(-0.5, 0, -1.7);
        def.velocity = rg_vec3_make(3, 0, 0);
        rg_body_id ball = add_collider(world, rg_shape_def_sphere(0.1), collider, &def);
        join(world, between(RG_JOINT_HINGE, the_world, upper), rg_vec3_make(0, 0, 0), y_axis);
        rg_joint_id knee =
            join(world, between(RG_JOINT_HINGE, upper, lower), rg_vec3_make(0, 0, -1), y_axis);
        double before = rg_world_energy(world);
        for (int k = 0; k < 60; k++) {
            step_well(world, STEP);
            rg_vec3 place = rg_joint_get_state(world, knee).point;
            assert_true(parting(world, upper, lower, place) <= 1e-12);
        }
        rg_step_info sum = rg_world_summary(world);
        double after = rg_world_energy(world);
        assert_true(rg_body_velocity(world, ball).x < 2.9); /* it was struck */
        if (e == 1)
            assert_true(fabs(after - before) <= 2e-3 * before);
        else
            assert_true(sum.energy.impact_loss >= 0.05 * before);
        assert_true(sum.certificate.max_penetration <= 1e-3);
        rg_world_destroy(world);
    }
}

static void joints_break(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id box = ghost(world, rg_vec3_make(0.1, 0.1, 0.1), rg_vec3_make(0, 0, 0));
    rg_joint_def def = between(RG_JOINT_FIXED, the_world, box);
    def.break_force = 9.82; /* 1 kg hangs there */
    rg_joint_id joint = join(world, def, rg_vec3_make(0, 0, 0), y_axis);
    for (int k = 0; k < 100; k++)
        step_well(world, STEP);
    assert_false(rg_joint_get_state(world, joint).broken);
    assert_true(fabs(rg_joint_get_state(world, joint).force.z - G) <= 1e-9);
    assert_int_equal(rg_body_apply_central_force(world, box, rg_vec3_make(0, 0, -0.02)), RG_OK);
    step_once(world, STEP);
    assert_true(rg_joint_get_state(world, joint).broken);
    double z = rg_body_pose(world, box).position.z;
    for (int k = 0; k < 240; k++)
        step_once(world, STEP);
    assert_true(fabs(rg_body_pose(world, box).position.z - z + 0.5 * G) <= 1e-9);
    assert_int_equal(rg_joint_set_broken(world, joint, false), RG_OK);
    step_once(world, STEP);
    assert_true(rg_joint_error(world, joint) <= 1e-9); /* it holds again, and closes */
    rg_world_destroy(world);
}

/* A crank that turns as prescribed drives a slider by a rod: x = r cos + sqrt(l^2 - r^2 sin^2). */
static void slider_and_crank(void **state) {
    (void)state;
    const double r = 0.3, l = 1;
    rg_world *world = default_world();
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription.kind = RG_PRESCRIBED_VELOCITY;
    def.angular_velocity = rg_vec3_make(0, -2, 0); /* from x towards z */
    rg_body_id crank = body_of(world, &def);
    rg_body_id rod = ghost(world, rg_vec3_make(l, 0.1, 0.1), rg_vec3_make(r + 0.5 * l, 0, 0));
    rg_body_id block = ghost(world, rg_vec3_make(0.2, 0.2, 0.2), rg_vec3_make(r + l, 0, 0));
    join(world, between(RG_JOINT_HINGE, crank, rod), rg_vec3_make(r, 0, 0), y_axis);
    join(world, between(RG_JOINT_HINGE, rod, block), rg_vec3_make(r + l, 0, 0), y_axis);
    join(world, between(RG_JOINT_SLIDER, the_world, block), rg_vec3_make(r + l, 0, 0), x_axis);
    for (int k = 1; k <= 960; k++) {
        step_well(world, STEP);
        double angle = 2 * k * STEP, up = r * sin(angle);
        double expected = r * cos(angle) + sqrt(l * l - up * up);
        assert_true(fabs(rg_body_pose(world, block).position.x - expected) <= 1e-9);
    }
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tension_of_a_pendulum),
        cmocka_unit_test(a_chain_keeps_its_energy),
        cmocka_unit_test(a_heavy_bob),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(what_is_kept_does_not_show),
        cmocka_unit_test(rest_is_exact),
        cmocka_unit_test(springs_of_any_stiffness),
        cmocka_unit_test(a_motor_stalls),
        cmocka_unit_test(a_position_motor_holds),
        cmocka_unit_test(friction_in_a_hinge),
        cmocka_unit_test(armature_is_inertia),
        cmocka_unit_test(limits_throw_back),
        cmocka_unit_test(rods_and_ropes),
        cmocka_unit_test(planar_and_spatial_agree),
        cmocka_unit_test(redundant_joints),
        cmocka_unit_test(a_four_bar_linkage),
        cmocka_unit_test(plates_that_tumble),
        cmocka_unit_test(spun_plates_converge_to_second_order),
        cmocka_unit_test(a_struck_double_pendulum),
        cmocka_unit_test(joints_break),
        cmocka_unit_test(slider_and_crank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
