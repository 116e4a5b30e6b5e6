/* What is asked for contradicts itself: a vice that is too tight, motors and ropes that pull bodies
 * through walls or into each other. Contacts win and forces press, bodies do not pass, and joints
 * say by how much they gave way. */
#include "test_world_support.h"

#include <stdio.h>

#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "rigor/joint.h"

#define STEP      (1.0 / 240)
#define GRAVITY   9.81
#define TOLERANCE 1e-8 /* of solves */

typedef struct figures {
    double depth, joint_error, residual;
    uint64_t failures, passed;
    size_t yields; /* events */
    double missed; /* of the last of these */
    char text[256];
} figures;

static void run(rg_world *world, int steps, figures *f) {
    for (int i = 0; i < steps; i++) {
        rg_step_info info = step_once(world, STEP);
        f->depth = fmax(f->depth, info.certificate.max_penetration);
        f->joint_error = fmax(f->joint_error, info.certificate.joint_error);
        if (info.solves)
            f->residual = fmax(f->residual, info.certificate.complementarity);
        f->failures += info.solver_failures;
        f->passed += info.passed_through;
        size_t kept, count;
        const rg_step_event *events = rg_world_step_events(world, &kept, &count);
        for (size_t k = 0; k < kept; k++) {
            if (events[k].kind != RG_STEP_EVENT_JOINT_YIELD)
                continue;
            f->yields++;
            f->missed = events[k].value;
            (void)rg_step_event_text(world, &events[k], f->text, sizeof f->text);
        }
    }
    assert_true(f->residual <= TOLERANCE);
    assert_int_equal(f->failures, 0);
    assert_int_equal(f->passed, 0);
}

static rg_world *world_with(double gravity, double friction) {
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, -gravity};
    rg_world *world = world_of(&def);
    rg_contact_law law = {.static_friction = friction, .friction = friction};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){1}, &law, NULL), RG_OK);
    return world;
}

static rg_body_id add_fixed_box(rg_world *world, rg_vec3 size, rg_vec3 position) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position = position;
    return add_shape(world, rg_shape_def_box(size.x, size.y, size.z), &def);
}

/* --- a vice ----------------------------------------------------------------------------------- */

#define EDGE 0.1 /* m */

/* N: of contacts on a body, in sum, and the least of those that press. */
static rg_vec3 contact_force_on(const rg_world *world, rg_body_id body, double *least) {
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    rg_vec3 sum = {0, 0, 0};
    *least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        bool a = forces[i].body_a.index1 == body.index1;
        sum = rg_add_scaled(sum, a ? 1 : -1, forces[i].force);
        *least = fmin(*least, forces[i].normal_force);
    }
    return sum;
}

/* Fixed jaws nearer to each other than a cube is wide: friction carries it. */
static void a_tight_vice_holds(void **state) {
    (void)state;
    static const double tight[] = {1e-5, 1e-4, 1e-3, 3e-3}, frictions[] = {0.02, 0.1, 0.5, 1};
    for (size_t k = 0; k < 16; k++) {
        rg_random random = rg_random_make(k + 1);
        rg_world *world = world_with(GRAVITY, frictions[k / 4]);
        double half = 0.5 * (EDGE - tight[k % 4]);
        for (int side = -1; side <= 1; side += 2)
            add_fixed_box(world, rg_vec3_make(0.2, 0.4, 0.4),
                          rg_vec3_make(side * (half + 0.1), 0, 0));
        rg_vec3 at = {0.2 * tight[k % 4] * rg_random_between(&random, -1, 1),
                      rg_random_between(&random, -0.1, 0.1), rg_random_between(&random, -0.1, 0.1)};
        rg_body_id cube = add_box(world, "cube", rg_vec3_make(EDGE, EDGE, EDGE), at);
        figures f = {0};
        run(world, 240, &f);
        rg_vec3 now = rg_body_pose(world, cube).position;
        double least, weight = 1000 * EDGE * EDGE * EDGE * GRAVITY;
        rg_vec3 force = contact_force_on(world, cube, &least);
        print_message("vice, %g mm too tight, mu %g: sinks %.1e m, normal forces from %.1e N\n",
                      1e3 * tight[k % 4], frictions[k / 4], at.z - now.z, least);
        assert_near(now.z, at.z, 1e-9);
        assert_near(now.y, at.y, 1e-9);
        assert_true(f.depth <= 0.71 * tight[k % 4]); /* as at the start at most */
        assert_true(least > 0);
        assert_near(force.z, weight, 1e-6 * weight);
        rg_world_destroy(world);
    }
}

/* Jaws that close on a cube by more than there is room for, before what it stands on is taken away
 * at 3 m/s. */
static void a_closing_vice_holds(void **state) {
    (void)state;
    static const double tight[] = {1e-4, 1e-3};
    for (int k = 0; k < 2; k++) {
        rg_world *world = world_with(GRAVITY, 0.3);
        double closed = 0.01 + 0.5 * tight[k];
        for (int side = -1; side <= 1; side += 2) {
            char move[64];
            (void)snprintf(move, sizeof move, "%d*table(t, 0, 0, 0.3, %.17g)", -side, closed);
            rg_body_def def = rg_body_def_default();
            def.motion = RG_MOTION_KINEMATIC;
            def.pose.position = rg_vec3_make(side * (0.5 * EDGE + 0.11), 0, 0);
            def.prescription.kind = RG_PRESCRIBED_OF_TIME;
            def.prescription.of_time[0] = move;
            add_shape(world, rg_shape_def_box(0.2, 0.4, 0.4), &def);
        }
        rg_collider_def collider = rg_collider_def_default();
        rg_body_def def = rg_body_def_default();
        def.motion = RG_MOTION_KINEMATIC;
        def.pose.position = rg_vec3_make(0, 0, -0.5 * EDGE - 0.05);
        def.prescription.kind = RG_PRESCRIBED_OF_TIME;
        def.prescription.of_time[2] = "-table(t, 0.35, 0, 0.45, 0.3)";
        collider.category = 2;
        collider.mask = 4;
        add_collider(world, rg_shape_def_box(0.2, 0.2, 0.1), collider, &def);
        def = rg_body_def_default();
        collider.category = 5;
        collider.mask = 3;
        rg_body_id cube = add_collider(world, rg_shape_def_box(EDGE, EDGE, EDGE), collider, &def);
        figures f = {0};
        run(world, 240, &f);
        assert_near(rg_body_pose(world, cube).position.z, 0, 1e-6);
        assert_true(f.depth < 0.51 * tight[k]);
        rg_world_destroy(world);
    }
}

/* --- joints ----------------------------------------------------------------------------------- */

static rg_joint_id add_joint(rg_world *world, const rg_joint_def *def) {
    rg_joint_id joint;
    rg_error error;
    if (rg_world_add_joint(world, def, &joint, &error))
        fail_msg("%s", error.text);
    return joint;
}

/* Along x, through where the body is. */
static void add_drive(rg_world *world, const char *name, rg_body_id body, double speed) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_SLIDER);
    def.name = name;
    def.body_b = body;
    assert_int_equal(
        rg_joint_def_place(world, &def, rg_body_pose(world, body).position, rg_vec3_make(1, 0, 0)),
        RG_OK);
    def.axis[0].motor = RG_MOTOR_VELOCITY;
    def.axis[0].target = speed;
    def.axis[0].max_force = INFINITY;
    add_joint(world, &def);
}

/* A motor without limit drives a box at a wall: it stops there, and the motor misses its speed. */
static void a_motor_does_not_pass_a_wall(void **state) {
    (void)state;
    static const double speeds[] = {0.5, 1, 10, 300}, thick[] = {0.1, 0.001};
    for (int k = 0; k < 8; k++) {
        double speed = speeds[k % 4], thickness = thick[k / 4];
        rg_world *world = world_with(GRAVITY, 0.5);
        add_fixed_box(world, rg_vec3_make(thickness, 1, 1),
                      rg_vec3_make(0.5 + 0.5 * thickness, 0, 0));
        rg_body_id box =
            add_box(world, "box", rg_vec3_make(EDGE, EDGE, EDGE), rg_vec3_make(0, 0, 0));
        add_drive(world, "drive", box, speed);
        figures f = {0};
        run(world, 480, &f);
        double x = rg_body_pose(world, box).position.x;
        print_message("motor, %g m/s: %.1e m into the wall, misses %.3g m/s, joint error %.3g m\n",
                      speed, x + 0.5 * EDGE - 0.5, f.missed, f.joint_error);
        assert_near(x, 0.5 - 0.5 * EDGE, 1e-8);
        assert_true(f.depth < 1e-8);
        assert_near(f.joint_error, STEP * speed, 1e-3 * STEP * speed);
        assert_int_equal(f.yields, 1);
        assert_non_null(strstr(f.text, "joint \"drive\""));
        rg_world_destroy(world);
    }
}

/* Motors drive two boxes at each other. */
static void bodies_that_are_driven_head_on_stop(void **state) {
    (void)state;
    static const double apart[] = {0.6, 2, 4, 8.3};
    for (int k = 0; k < 4; k++) {
        rg_world *world = world_with(0, 0.5);
        rg_body_id box[2];
        for (int i = 0; i < 2; i++) {
            double sign = i == 0 ? 1 : -1;
            box[i] = add_box(world, i == 0 ? "left" : "right", rg_vec3_make(EDGE, EDGE, EDGE),
                             rg_vec3_make(-sign * 0.5 * apart[k], 0, 0));
            rg_body_set_velocity(world, box[i], rg_vec3_make(sign * 500, 0, 0));
            add_drive(world, i == 0 ? "drive-left" : "drive-right", box[i], sign * 500);
        }
        figures f = {0};
        run(world, 24, &f);
        rg_vec3 left = rg_body_pose(world, box[0]).position,
                right = rg_body_pose(world, box[1]).position;
        assert_near(right.x - left.x, EDGE, 1e-8);
        assert_near(f.joint_error, STEP * 500, 1e-2 * STEP * 500);
        assert_true(f.yields >= 2);
        rg_world_destroy(world);
    }
}

#define RADIUS 0.05
#define WALL   0.5 /* m: where the middle of a wall of 1 mm is */

static void add_rope(rg_world *world, rg_body_id a, rg_body_id b, double length) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_DISTANCE);
    def.name = "rope";
    def.body_a = a;
    def.body_b = b;
    def.axis[0].lower = -INFINITY;
    def.axis[0].upper = length;
    add_joint(world, &def);
}

/* Behind a wall of 1 mm, on a rope whose other end moves away beyond it: straight, or somewhat to
 * the side, with and without gravity and friction. */
static void a_rope_does_not_pull_through_a_wall(void **state) {
    (void)state;
    static const double aside[] = {0, 0.01, 0.1, 0.3};
    for (int k = 0; k < 12; k++) {
        double y = aside[k % 4], gravity = k / 4 == 2 ? GRAVITY : 0, mu = k / 4 == 0 ? 0 : 0.5;
        rg_world *world = world_with(gravity, mu);
        add_fixed_box(world, rg_vec3_make(0.001, 4, 4), rg_vec3_make(WALL, 0, 0));
        rg_body_def def = rg_body_def_default();
        def.name = "ball";
        def.pose.position = rg_vec3_make(0, y, 0);
        rg_body_id ball = add_shape(world, rg_shape_def_sphere(RADIUS), &def);
        def = rg_body_def_default();
        def.motion = RG_MOTION_KINEMATIC;
        def.pose.position = rg_vec3_make(1, 0, 0);
        def.velocity = rg_vec3_make(1, 0, 0);
        rg_body_id end = body_of(world, &def);
        add_rope(world, end, ball, sqrt(1 + y * y));
        figures f = {0};
        run(world, 480, &f);
        rg_vec3 at = rg_body_pose(world, ball).position, v = rg_body_velocity(world, ball);
        print_message("rope, %g m aside, mu %g, g %g: depth %.1e m, joint error %.3g m, %d yields, "
                      "speed %.2g m/s\n",
                      y, mu, gravity, f.depth, f.joint_error, (int)f.yields, rg_length(v));
        assert_true(at.x < WALL - RADIUS);
        assert_true(f.depth < 0.01 * RADIUS);
        assert_true(f.joint_error > 1.4 && f.joint_error < 1.6); /* 2 s, less what was slack */
        assert_true(f.yields >= 1);
        assert_non_null(strstr(f.text, "joint \"rope\""));
        assert_true(rg_length(v) < 20);
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tight_vice_holds),
        cmocka_unit_test(a_closing_vice_holds),
        cmocka_unit_test(a_motor_does_not_pass_a_wall),
        cmocka_unit_test(bodies_that_are_driven_head_on_stop),
        cmocka_unit_test(a_rope_does_not_pull_through_a_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
