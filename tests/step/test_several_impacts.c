/* Several impacts with restitution in one step of the method stepping: a break of billiard balls
 * and of boxes, Newton's cradle, balls between walls, against closed forms and conservation laws.
 * Gaps of balls are measured here, from their centres. */
#include "test_world_support.h"

#include <stdio.h>
#include <stdlib.h>

#define STEP   (1.0 / 240)
#define RADIUS 0.028575
#define GAP    1e-3

static rg_world *elastic_world(bool planar, rg_vec3 gravity, double restitution) {
    rg_world_def def = rg_world_def_default();
    def.planar = planar;
    def.gravity = gravity;
    rg_world *world = world_of(&def);
    rg_contact_law law = {.restitution = restitution};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){1}, &law, NULL), RG_OK);
    return world;
}

static rg_body_id add_ball(rg_world *world, bool planar, double radius, rg_vec3 position,
                           rg_vec3 velocity) {
    rg_body_def def = rg_body_def_default();
    def.pose.position = position;
    def.velocity = velocity;
    return add_shape(world, planar ? rg_shape_def_disc(radius) : rg_shape_def_sphere(radius), &def);
}

static rg_body_id add_fixed_box(rg_world *world, rg_vec3 size, rg_vec3 position) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position = position;
    return add_shape(world, rg_shape_def_box(size.x, size.y, size.z), &def);
}

/* --- the break -------------------------------------------------------------------------------- */

enum { BALLS = 16 };

/* A rack along x, on the plane z = 0 of space, or in the plane x-z; the last ball is the cue. */
static void add_rack(rg_world *world, bool planar, double speed, double offset,
                     rg_body_id balls[BALLS]) {
    int count = 0;
    double pitch = 2 * RADIUS + GAP;
    for (int row = 0; row < 5; row++)
        for (int k = 0; k <= row; k++) {
            double x = row * pitch * sqrt(3) / 2, y = (k - 0.5 * row) * pitch;
            rg_vec3 place = planar ? (rg_vec3){x, 0, y} : (rg_vec3){x, y, 0};
            balls[count++] = add_ball(world, planar, RADIUS, place, (rg_vec3){0, 0, 0});
        }
    rg_vec3 place = planar ? (rg_vec3){-pitch, 0, offset} : (rg_vec3){-pitch, offset, 0};
    balls[count] = add_ball(world, planar, RADIUS, place, (rg_vec3){speed, 0, 0});
}

/* m: how deep two balls are in each other at most. */
static double depth_of(const rg_world *world, const rg_body_id *balls, int count) {
    double depth = -INFINITY;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            depth =
                fmax(depth, 2 * RADIUS - rg_length(rg_sub(rg_body_pose(world, balls[i]).position,
                                                          rg_body_pose(world, balls[k]).position)));
    return depth;
}

static void a_break_keeps_energy_and_momentum(void **state) {
    (void)state;
    static const double offsets[] = {0, 3e-4, -0.01};
    static const double speeds[] = {1, 10, 30};
    for (int kind = 0; kind < 18; kind++) {
        bool planar = kind % 2;
        rg_world *world = elastic_world(planar, (rg_vec3){0, 0, 0}, 1);
        rg_body_id balls[BALLS];
        double speed = speeds[kind / 6];
        add_rack(world, planar, speed, offsets[kind / 2 % 3], balls);
        double energy = rg_world_energy(world), depth = -INFINITY, closure = 0;
        rg_vec3 momentum = rg_world_momentum(world);
        uint64_t impacts = 0, failures = 0, solves = 0;
        for (int i = 0; i < 120; i++) {
            rg_step_info info = step_once(world, STEP);
            depth = fmax(depth, depth_of(world, balls, BALLS));
            closure = fmax(closure, info.energy.closure_rel);
            impacts += info.impacts;
            solves += info.solves;
            failures += info.solver_failures;
            assert_true(info.certificate.momentum_error < 1e-12);
            /* At any time of the step, by the judge. */
            assert_true(!(info.certificate.min_gap < -1e-12));
            assert_int_equal(info.passed_through, 0);
        }
        double gain = rg_world_energy(world) / energy - 1;
        rg_vec3 error = rg_sub(rg_world_momentum(world), momentum);
        print_message("break %d, %g m/s: energy %+.1e, momentum %.1e, depth %.1e m, closure %.1e, "
                      "%d impacts, %d solves\n",
                      kind, speed, gain, rg_length(error) / rg_length(momentum), depth, closure,
                      (int)impacts, (int)solves);
        assert_true(fabs(gain) < 1e-9);
        assert_true(rg_length(error) < 1e-12 * rg_length(momentum));
        assert_true(depth < 1e-12);
        assert_true(closure < 1e-12);
        assert_int_equal(failures, 0);
        assert_true(impacts >= 8);
        rg_world_destroy(world);
    }
}

/* --- in one row ------------------------------------------------------------------------------- */

static void a_cradle_passes_velocities_on(void **state) {
    (void)state;
    static const double steps[] = {1.0 / 60, 1.0 / 240, 1.0 / 1000};
    for (int k = 0; k < 3; k++) {
        rg_world *world = elastic_world(false, (rg_vec3){0, 0, 0}, 1);
        rg_body_id balls[5];
        for (int i = 0; i < 5; i++)
            balls[i] = add_ball(world, false, RADIUS, (rg_vec3){i * (2 * RADIUS + GAP), 0, 0},
                                (rg_vec3){i == 0 ? 3 : 0, 0, 0});
        int count = (int)(0.1 / steps[k]);
        step_world(world, steps[k], count);
        /* Each ball has gone one gap, and the last one on from there. */
        for (int i = 0; i < 5; i++) {
            double x = i * (2 * RADIUS + GAP) + (i < 4 ? GAP : 3 * count * steps[k] - 4 * GAP);
            assert_vector(rg_body_velocity(world, balls[i]), (rg_vec3){i == 4 ? 3 : 0, 0, 0},
                          1e-12);
            assert_vector(rg_body_pose(world, balls[i]).position, (rg_vec3){x, 0, 0}, 1e-12);
        }
        rg_world_destroy(world);
    }
}

/* Between walls 0.1 m apart, seven hits and more a step, for some e; by following it here. */
static void a_ball_between_walls(void **state) {
    (void)state;
    static const double restitutions[] = {1, 0.9, 0.5};
    for (int k = 0; k < 3; k++) {
        double e = restitutions[k], free = 0.05 - 0.02;
        rg_world *world = elastic_world(false, (rg_vec3){0, 0, 0}, e);
        add_fixed_box(world, (rg_vec3){0.1, 1, 1}, (rg_vec3){0.1, 0, 0});
        add_fixed_box(world, (rg_vec3){0.1, 1, 1}, (rg_vec3){-0.1, 0, 0});
        rg_body_id ball =
            add_ball(world, false, 0.02, (rg_vec3){0.001, 0, 0}, (rg_vec3){100, 0.1, 0});
        double x = 0.001, v = 100;
        uint64_t hits = 0, impacts = 0;
        for (int i = 0; i < 10; i++) {
            rg_step_info info = step_once(world, STEP);
            impacts += info.impacts;
            for (double left = STEP; left > 0;) {
                double time = (free - (v > 0 ? x : -x)) / fabs(v);
                double go = fmin(time, left);
                x += go * v, left -= go;
                if (time <= go && left > 0)
                    v *= -e, hits++;
            }
            size_t kept, events;
            const rg_step_event *event = rg_world_step_events(world, &kept, &events);
            assert_int_equal(events, info.impacts);
            if (i == 0 && k == 0) { /* the first hit, and the second, by the way to the walls */
                assert_near(event[0].time, (free - 0.001) / 100, 1e-12);
                assert_near(event[1].time, (3 * free - 0.001) / 100, 1e-12);
                assert_int_equal(event[0].kind, RG_STEP_EVENT_IMPACT);
                assert_near(event[0].value, 100, 1e-9);
            }
            assert_near(rg_body_pose(world, ball).position.x, x, 1e-11);
            assert_near(rg_body_velocity(world, ball).x, v, 1e-9);
        }
        print_message("between walls, e = %g: %d hits in 10 steps\n", e, (int)hits);
        assert_int_equal(impacts, hits);
        rg_world_destroy(world);
    }
}

/* Under gravity flights are parabolas, whatever the step: the same height again and again. */
static void a_bouncing_ball_keeps_its_height(void **state) {
    (void)state;
    double g = 9.81, height = 0.7, period = 2 * sqrt(2 * height / g);
    rg_world *world = elastic_world(false, (rg_vec3){0, 0, -g}, 1);
    add_fixed_box(world, (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, -0.5});
    rg_body_id ball =
        add_ball(world, false, 0.1, (rg_vec3){0, 0, 0.1 + height}, (rg_vec3){0.01, 0, 0});
    double worst = 0;
    for (int i = 0; i < 2400; i++) {
        step_once(world, STEP);
        double t = fmod(rg_world_time(world) + 0.5 * period, period) - 0.5 * period;
        double z = 0.1 + height - 0.5 * g * t * t;
        worst = fmax(worst, fabs(rg_body_pose(world, ball).position.z - z));
    }
    print_message("bouncing for 10 s: %.1e m off\n", worst);
    assert_true(worst < 1e-10);
    rg_world_destroy(world);
}

/* A wall that moves at w: each hit adds 2 w. */
static void a_ball_before_a_moving_wall(void **state) {
    (void)state;
    rg_world *world = elastic_world(false, (rg_vec3){0, 0, 0}, 1);
    add_fixed_box(world, (rg_vec3){0.1, 1, 1}, (rg_vec3){-0.1, 0, 0});
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.pose.position = (rg_vec3){0.1, 0, 0};
    def.prescription.kind = RG_PRESCRIBED_VELOCITY;
    def.velocity = (rg_vec3){-0.47, 0, 0};
    add_shape(world, rg_shape_def_box(0.1, 1, 1), &def);
    rg_body_id ball = add_ball(world, false, 0.02, (rg_vec3){0, 0, 0}, (rg_vec3){50, 0, 0});
    double x = 0, v = 50, wall = 0.03, t = 0;
    for (int i = 0; i < 6; i++) {
        rg_step_info info = step_once(world, STEP);
        for (double left = STEP; left > 0;) {
            double time = v > 0 ? (wall - 0.47 * t - x) / (v + 0.47) : (-0.03 - x) / v;
            double go = fmin(time, left);
            x += go * v, t += go, left -= go;
            if (time <= go && left > 0)
                v = v > 0 ? -v - 0.94 : -v;
        }
        assert_near(rg_body_pose(world, ball).position.x, x, 1e-11);
        assert_near(rg_body_velocity(world, ball).x, v, 1e-9);
        assert_true(info.energy.closure_rel < 1e-12);
        assert_true(info.certificate.momentum_error < 1e-12);
    }
    rg_world_destroy(world);
}

/* More hits in a step than are followed: the rest of the step is one problem. Nothing is gained,
 * the ball stays between the walls, and the ledger closes. */
static void too_many_hits_end_as_one_problem(void **state) {
    (void)state;
    rg_world *world = elastic_world(false, (rg_vec3){0, 0, 0}, 1);
    add_fixed_box(world, (rg_vec3){0.1, 1, 1}, (rg_vec3){0.1, 0, 0});
    add_fixed_box(world, (rg_vec3){0.1, 1, 1}, (rg_vec3){-0.1, 0, 0});
    rg_body_id ball = add_ball(world, false, 0.02, (rg_vec3){0, 0, 0}, (rg_vec3){1e5, 0, 0});
    double energy = rg_world_energy(world);
    for (int i = 0; i < 5; i++) {
        rg_step_info info = step_once(world, STEP);
        assert_true(i > 0 || (info.impacts >= 100 && info.impacts <= 400));
        assert_true(info.energy.closure_rel < 1e-12);
        assert_true(fabs(rg_body_pose(world, ball).position.x) <= 0.03 + 1e-9);
        assert_true(rg_world_energy(world) <= energy * (1 + 1e-12));
    }
    rg_world_destroy(world);
}

/* On a table without restitution, under gravity: balls that lie are part of a problem as ever. */
static void a_break_on_a_table(void **state) {
    (void)state;
    rg_world *world = elastic_world(false, (rg_vec3){0, 0, -9.81}, 1);
    rg_material_id cloth;
    rg_contact_law law = {0};
    assert_int_equal(rg_world_add_material(world, "cloth", &law, &cloth, NULL), RG_OK);
    assert_int_equal(rg_world_set_pair_law(world, (rg_material_id){1}, cloth, &law, NULL), RG_OK);
    rg_body_id balls[BALLS];
    add_rack(world, false, 8, 2e-4, balls);
    rg_body_def def = rg_body_def_default();
    rg_collider_def collider = rg_collider_def_default();
    def.motion = RG_MOTION_FIXED;
    collider.material = cloth;
    add_collider(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, -RADIUS), collider, &def);
    double energy = rg_world_energy(world), depth = -INFINITY, height = 0;
    for (int i = 0; i < 120; i++) {
        rg_step_info info = step_once(world, STEP);
        assert_true(info.energy.closure_rel < 1e-12);
        assert_int_equal(info.solver_failures, 0);
        depth = fmax(depth, depth_of(world, balls, BALLS));
    }
    for (int i = 0; i < BALLS; i++)
        height = fmax(height, fabs(rg_body_pose(world, balls[i]).position.z));
    double gain = rg_world_energy(world) / energy - 1;
    print_message("break on a table: energy %+.1e, depth %.1e m, off the table by %.1e m\n", gain,
                  depth, height);
    /* Approach slower than 2 |g| h has no restitution: its energy, a ten-thousandth, may go. */
    assert_true(gain <= 1e-12 && gain > -1e-4);
    assert_true(depth < 1e-12);
    assert_true(height < 1e-9);
    rg_world_destroy(world);
}

/* A tower beside a break is the same to the last bit as without one. */
static void others_are_not_disturbed(void **state) {
    (void)state;
    rg_pose poses[2][3];
    for (int k = 0; k < 2; k++) {
        rg_world *world = elastic_world(false, (rg_vec3){0, 0, -9.81}, 1);
        rg_body_id boxes[3], balls[BALLS];
        add_fixed_box(world, (rg_vec3){1, 1, 1}, (rg_vec3){0, 10, -0.5});
        for (int i = 0; i < 3; i++)
            boxes[i] = add_box(world, NULL, (rg_vec3){0.1, 0.1, 0.1},
                               (rg_vec3){0.01 * i, 10, 0.05 + 0.1 * i});
        if (k == 1)
            add_rack(world, false, 10, 1e-4, balls);
        step_world(world, STEP, 60);
        for (int i = 0; i < 3; i++)
            poses[k][i] = rg_body_pose(world, boxes[i]);
        rg_world_destroy(world);
    }
    assert_memory_equal(poses[0], poses[1], sizeof poses[0]);
}

/* A ball that is struck flies on and strikes one that no contact joined to the first two. */
static void groups_join(void **state) {
    (void)state;
    rg_world *world = elastic_world(false, (rg_vec3){0, 0, 0}, 1);
    rg_body_id heavy = add_ball(world, false, 0.1, (rg_vec3){0, 0, 0}, (rg_vec3){10, 0, 0});
    rg_body_id light = add_ball(world, false, 0.001, (rg_vec3){0.111, 0, 0}, (rg_vec3){0, 0, 0});
    rg_body_id far = add_ball(world, false, 0.001, (rg_vec3){0.173, 0, 0}, (rg_vec3){0, 0, 0});
    rg_step_info info = step_once(world, STEP);
    double m = rg_body_mass(world, light).mass / rg_body_mass(world, heavy).mass;
    double v = 10 * 2 / (1 + m), after = 10 * (1 - m) / (1 + m);
    assert_int_equal(info.impacts, 2); /* the light ones have the same mass */
    assert_near(rg_body_velocity(world, far).x, v, 1e-12 * v);
    assert_near(rg_body_velocity(world, light).x, 0, 1e-12 * v);
    assert_near(rg_body_velocity(world, heavy).x, after, 1e-12 * v);
    double met = 0.01 / 10, struck = met + 0.06 / v; /* s */
    assert_near(rg_body_pose(world, far).position.x, 0.173 + (STEP - struck) * v, 1e-12);
    rg_world_destroy(world);
}

/* --- bodies that turn ------------------------------------------------------------------------- */

static const rg_vec3 square[] = {
    {-0.05, 0, -0.05}, {0.05, 0, -0.05}, {0.05, 0, 0.05}, {-0.05, 0, 0.05}};

/* Turned a little, at distances that let them; the first one is thrown at the others. */
static rg_world *world_of_boxes(bool planar) {
    rg_world *world = elastic_world(planar, (rg_vec3){0, 0, 0}, 1);
    rg_random random = rg_random_make(3);
    for (int i = 0; i < 12; i++) {
        rg_body_def def = rg_body_def_default();
        double x = 0.14 * (i % 4), y = 0.14 * (i / 4),
               angle = rg_random_between(&random, -0.3, 0.3);
        rg_vec3 turn = rg_scale(angle, rg_random_direction(&random));
        def.pose.position = planar ? (rg_vec3){x, 0, y} : (rg_vec3){x, y, 0};
        def.pose.orientation =
            planar ? rg_quat_of_planar_angle(angle) : rg_quat_of_rotation_vector(turn);
        if (i == 0)
            def.velocity = (rg_vec3){5, planar ? 0 : 1, planar ? 1 : 0.3};
        add_shape(world, planar ? rg_shape_def_polygon(square, 4) : rg_shape_def_box(0.1, 0.1, 0.1),
                  &def);
    }
    return world;
}

static void boxes_keep_energy_and_momentum(void **state) {
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        rg_world *world = world_of_boxes(planar);
        double energy = rg_world_energy(world), depth = 0, closure = 0;
        rg_vec3 momentum = rg_world_momentum(world);
        uint64_t impacts = 0;
        for (int i = 0; i < 240; i++) {
            rg_step_info info = step_once(world, STEP);
            depth = fmax(depth, info.certificate.max_penetration);
            closure = fmax(closure, info.energy.closure_rel);
            impacts += info.impacts;
        }
        double gain = rg_world_energy(world) / energy - 1;
        rg_vec3 error = rg_sub(rg_world_momentum(world), momentum);
        print_message(
            "boxes: energy %+.1e, momentum %.1e, depth %.1e m, closure %.1e, %d impacts\n", gain,
            rg_length(error) / rg_length(momentum), depth, closure, (int)impacts);
        assert_true(fabs(gain) < 1e-9);
        assert_true(rg_length(error) < 1e-12 * rg_length(momentum));
        assert_true(depth < 1e-6);
        assert_true(closure < 1e-12);
        assert_true(impacts >= 5);
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_break_keeps_energy_and_momentum),
        cmocka_unit_test(a_cradle_passes_velocities_on),
        cmocka_unit_test(a_ball_between_walls),
        cmocka_unit_test(a_bouncing_ball_keeps_its_height),
        cmocka_unit_test(a_ball_before_a_moving_wall),
        cmocka_unit_test(too_many_hits_end_as_one_problem),
        cmocka_unit_test(a_break_on_a_table),
        cmocka_unit_test(others_are_not_disturbed),
        cmocka_unit_test(groups_join),
        cmocka_unit_test(boxes_keep_energy_and_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
