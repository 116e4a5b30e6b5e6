/* No step gives a mechanism energy (step_stepping_energy.c), where steps are too long for the
 * motion: whips, chains that blocks fall on, chains in flight. Momenta stay, joints stay closed,
 * the ledger is closed. */
#include "joint_support.h"

#define STEP (1.0 / 240)
/* Of the energy: rounding of its sum. */
#define RISE 1e-12

/* J: without gravity's potential; and of a free fall of one step. */
static double kinetic_of(const rg_world *world) {
    rg_vec3 gravity = rg_world_gravity(world);
    double kinetic = rg_world_energy(world), fall = STEP * rg_length(gravity);
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        double mass = rg_body_mass(world, body).mass;
        kinetic += mass * (rg_dot(gravity, rg_body_pose(world, body).position) + 0.5 * fall * fall);
    }
    return kinetic;
}

/* What a run showed: the largest rise in a step, relative to the energy at the start and the
 * kinetic energy, and the worst of the certificate. */
typedef struct outcome {
    double rise, joint, momentum, closure, start, end;
} outcome;

static outcome run(rg_world *world, int steps) {
    outcome o = {.start = rg_world_energy(world)};
    for (int k = 0; k < steps; k++) {
        rg_step_info info = step_once(world, STEP);
        double size = fabs(o.start) + kinetic_of(world);
        o.rise = fmax(o.rise, (info.energy.final - info.energy.initial) / size);
        o.joint = fmax(o.joint, info.certificate.joint_error);
        o.momentum = fmax(o.momentum, info.certificate.momentum_error);
        o.closure = fmax(o.closure, info.energy.closure_rel);
    }
    o.end = rg_world_energy(world);
    print_message("rise %.3g, joints %.2g m, momentum %.2g, closure %.2g, "
                  "energy %.9g to %.9g J\n",
                  o.rise, o.joint, o.momentum, o.closure, o.start, o.end);
    assert_true(o.rise <= RISE && o.joint <= 1e-9 && o.momentum <= 1e-10 && o.closure <= 1e-10);
    return o;
}

/* Links of 0.3 m along x on hinges; the first one on the world, or on nothing. */
static rg_body_id add_links(rg_world *world, int links, bool held, bool collide, double from) {
    rg_body_id last = the_world;
    for (int i = 0; i < links; i++) {
        rg_body_id link =
            add_masked_box(world, NULL, rg_vec3_make(0.28, 0.2, 0.05),
                           rg_vec3_make(from + 0.15 + 0.3 * i, 0, 0), collide ? UINT64_MAX : 0);
        if (i > 0 || held)
            join(world, between(RG_JOINT_HINGE, last, link), rg_vec3_make(from + 0.3 * i, 0, 0),
                 y_axis);
        last = link;
    }
    return last;
}

/* A chain swings down from the horizontal and whips: energy comes to what it was, too. */
static void a_whip(void **state) {
    (void)state;
    rg_world *world = default_world();
    add_links(world, 8, true, false, 0);
    outcome o = run(world, 600);
    assert_true(fabs(o.end - o.start) <= 1e-3 * 8 * 2.8 * 9.81 * 1.2);
    rg_world_destroy(world);
}

/* A chain that swings down on a block and the floor, without restitution. */
static void a_chain_on_a_block(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED, floor.pose.position = rg_vec3_make(0, 0, -1.5);
    add_collider(world, rg_shape_def_box(10, 10, 1), rg_collider_def_default(), &floor);
    add_box(world, NULL, rg_vec3_make(0.4, 0.4, 0.4), rg_vec3_make(1.2, 0, -0.8));
    add_links(world, 8, true, true, 0);
    outcome o = run(world, 480);
    assert_true(o.end < o.start - 10);
    rg_world_destroy(world);
}

/* A chain in flight, without gravity, whose links turn against each other: nothing but its inner
 * motion is touched. */
static void a_chain_in_flight(void **state) {
    (void)state;
    rg_world *world = default_world();
    assert_int_equal(rg_world_set_gravity(world, (rg_vec3){0, 0, 0}), RG_OK);
    add_links(world, 6, false, false, 0);
    for (size_t i = 0; i < 6; i++) {
        rg_body_id body = rg_world_body_at(world, i);
        double spin = i % 2 ? -6 : 9;
        rg_body_set_velocity(world, body, rg_vec3_make(3, 1, i == 5 ? 8 : 0));
        rg_body_set_angular_velocity(world, body, rg_vec3_make(0.5, spin, 0.2));
    }
    step_once(world, STEP); /* velocities that joints allow */
    rg_vec3 p = rg_world_momentum(world);
    run(world, 600); /* angular momentum is in momentum_error */
    assert_true(rg_length(rg_sub(rg_world_momentum(world), p)) <= 1e-10 * rg_length(p));
    rg_world_destroy(world);
}

/* What hangs at rest stays at rest, to the last bit. */
static void rest_stays(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id last = the_world;
    for (int i = 0; i < 5; i++) {
        rg_body_id link =
            ghost(world, rg_vec3_make(0.1, 0.1, 0.3), rg_vec3_make(0, 0, -0.15 - 0.3 * i));
        join(world, between(RG_JOINT_BALL, last, link), rg_vec3_make(0, 0, -0.3 * i), y_axis);
        last = link;
    }
    outcome o = run(world, 100);
    assert_true(o.end <= o.start);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whip), cmocka_unit_test(a_chain_on_a_block),
        cmocka_unit_test(a_chain_in_flight), cmocka_unit_test(rest_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
