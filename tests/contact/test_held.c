/* Until when two convex shapes stay apart over a motion: against a dense search in time, and in
 * closed form. */
#include "test_world_support.h"

#include "contact/contact.h"

static rg_swept_shape swept(const rg_shape *shape, rg_vec3 position, rg_vec3 velocity,
                            rg_vec3 spin) {
    return (rg_swept_shape){.placed = {shape, {position, {0, 0, 0, 1}}},
                            .centre = position,
                            .velocity = velocity,
                            .angular_velocity = spin};
}

static double until(const rg_swept_shape side[2], double time) {
    const double change[2] = {0, 0};
    double found;
    rg_vec3 none = {0, 0, 0};
    assert_int_equal(rg_contact_holds(side, change, time, none, &found), RG_OK);
    return found;
}

/* A rod of 0.2 m that touches a sheet at its middle, and one that is held by one end 0.1 m over it:
 * half a turn ends as it began, and went through. */
static void half_turns(void **state) {
    (void)state;
    rg_shape *sheet = shape_of(rg_shape_def_box(1, 1, 0.002));
    rg_shape *rod = shape_of(rg_shape_def_box(0.2, 0.002, 0.002));
    rg_vec3 none = {0, 0, 0}, over = {0, 0, 0.05};
    rg_swept_shape side[2] = {swept(sheet, none, none, none),
                              swept(rod, over, none, (rg_vec3){0, 3.14159265358979, 0})};
    double found = until(side, 1);
    assert_true(found < 1);
    side[1].angular_velocity.y = 0.3; /* the end comes down by 0.1 sin 0.3 = 0.0296 */
    assert_near(until(side, 1), 1, 0);
    side[1].angular_velocity.y = 0.8; /* 0.0717: through */
    found = until(side, 1);
    assert_true(found < asin(0.5) / 0.8 + 0.02);
    assert_true(found > asin(0.5) / 0.8 - 0.1);
    rg_shape_release(sheet);
    rg_shape_release(rod);
}

/* The same rod over a half-space, which has no thickness: as deep as a share of the rod's. */
static void half_turns_over_a_plane(void **state) {
    (void)state;
    rg_shape *plane = shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 2}, 0.25));
    rg_shape *rod = shape_of(rg_shape_def_box(0.2, 0.002, 0.002));
    rg_vec3 none = {0, 0, 0};
    rg_swept_shape side[2] = {swept(plane, (rg_vec3){0, 0, -0.25}, none, none),
                              swept(rod, (rg_vec3){0, 0, 0.05}, none, (rg_vec3){0, 0.3, 0})};
    assert_near(until(side, 1), 1, 0); /* its end comes down by 0.1 sin 0.3 = 0.0296 */
    side[1].angular_velocity.y = 3.14159265358979;
    double reached = until(side, 1);
    assert_true(reached < asin(0.5) / 3.14159 + 0.02 && reached > asin(0.5) / 3.14159 - 0.1);
    rg_swept_shape swapped[2] = {side[1], side[0]};
    assert_near(until(swapped, 1), reached, 0);
    side[1] = swept(rod, (rg_vec3){0, 0, 0.001}, (rg_vec3){100, 0, 0}, (rg_vec3){0, 0, 90});
    assert_near(until(side, 0.01), 0.01, 0); /* slides, and turns about the normal */
    rg_shape_release(plane);
    rg_shape_release(rod);
}

/* What slides along a face, spins on it or stays in an overlap holds; what sinks does not. */
static void motions_that_hold(void **state) {
    (void)state;
    rg_shape *sheet = shape_of(rg_shape_def_box(4, 4, 0.002));
    rg_shape *card = shape_of(rg_shape_def_box(0.1, 0.1, 0.001));
    rg_vec3 none = {0, 0, 0}, on = {0, 0, 0.0015};
    rg_swept_shape side[2] = {swept(sheet, none, none, none),
                              swept(card, on, (rg_vec3){100, 0, 0}, none)};
    assert_near(until(side, 0.01), 0.01, 0);
    side[1] = swept(card, on, none, (rg_vec3){0, 0, 90}); /* about the normal: nothing bends */
    assert_near(until(side, 0.01), 0.01, 0);
    side[1] = swept(card, (rg_vec3){0, 0, 0.0012}, none, none); /* 0.3 mm deep, and stays so */
    assert_near(until(side, 0.01), 0.01, 0);
    side[1] = swept(card, on, (rg_vec3){0, 0, -0.1}, none); /* 1 mm, and 0.25 mm are too much */
    assert_true(until(side, 0.01) < 0.0026);
    side[1] = swept(card, (rg_vec3){0, 0, 0.0012}, (rg_vec3){0, 0, -0.01}, none);
    assert_true(until(side, 0.01) < 0.0051);
    rg_shape_release(sheet);
    rg_shape_release(card);
}

/* Balls that approach until they are as deep as is allowed, and by a rounding deeper: no interval
 * but the last one fails, however short. */
static void a_motion_that_fails_at_its_very_end(void **state) {
    (void)state;
    rg_shape *ball = shape_of(rg_shape_def_sphere(1));
    rg_vec3 none = {0, 0, 0};
    for (int k = -2; k <= 8; k++) {
        double speed = 1.5 + 2.3e-16 * k; /* 0.5 deep at the end for 1.5 */
        rg_swept_shape side[2] = {swept(ball, none, none, none),
                                  swept(ball, (rg_vec3){3, 0, 0}, (rg_vec3){-speed, 0, 0}, none)};
        double found = until(side, 1);
        assert_true(found <= 1 && found >= 1 - 2.0 / 64);
        if (k < 0)
            assert_near(found, 1, 0);
    }
    rg_shape_release(ball);
}

/* What leaves the range of numbers on its way is not shown to hold. */
static void a_motion_beyond_numbers(void **state) {
    (void)state;
    rg_shape *ball = shape_of(rg_shape_def_sphere(1)), *box = shape_of(rg_shape_def_box(1, 1, 1));
    rg_vec3 none = {0, 0, 0}, at = {3, 0, 0};
    const rg_vec3 speeds[2][2] = {{{-1e308, 0, 0}, none}, {none, {0, INFINITY, 0}}};
    for (int k = 0; k < 2; k++) {
        rg_swept_shape side[2] = {swept(ball, none, none, none),
                                  swept(box, at, speeds[k][0], speeds[k][1])};
        assert_true(until(side, 10) < 10);
    }
    rg_shape_release(ball);
    rg_shape_release(box);
}

/* m: how far two shapes have to be moved apart. A growth's gap may be up to twice that. */
static double depth_of(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                       rg_pose pose2) {
    rg_depth depth;
    assert_int_equal(rg_depth_between(shape1, pose1, shape2, pose2, &depth), RG_OK);
    return depth.depth;
}

/* At random: what is said to hold is never deep at any of 2,000 instants; and what is not is near
 * to it at some. */
static void random_motions(void **state) {
    (void)state;
    rg_random random = rg_random_make(15);
    int held = 0, not_held = 0, cases = test_cases(300, 3000);
    for (int i = 0; i < cases; i++) {
        double thin = 0.1 / pow(100, rg_random_unit(&random));
        rg_shape_def defs[3] = {rg_shape_def_box(0.2, 0.15, thin),
                                rg_shape_def_capsule(0.5 * thin, 0.2),
                                rg_shape_def_cylinder(0.1, thin)};
        rg_shape *shape[2] = {shape_of(rg_shape_def_box(0.3, 0.3, 0.01)), shape_of(defs[i % 3])};
        double deep = fmin(rg_shape_inradius(shape[0]), rg_shape_inradius(shape[1]));
        rg_vec3 none = {0, 0, 0};
        rg_vec3 at = rg_scale(0.3, rg_random_direction(&random));
        rg_vec3 aim = rg_scale(0.1, rg_random_direction(&random));
        rg_swept_shape side[2] = {swept(shape[0], none, none, none),
                                  swept(shape[1], at, rg_sub(aim, at), none)};
        side[1].angular_velocity = rg_scale(0.9, rg_random_direction(&random));
        side[1].placed.pose.orientation = rg_random_rotation(&random);
        rg_growth growth;
        rg_pose pose = side[1].placed.pose;
        rg_separation_between(shape[0], side[0].placed.pose, shape[1], pose, NULL, &growth);
        double found = until(side, 1), least = growth.gap;
        for (int k = 0; growth.gap > 0 && k <= 2000; k++) {
            pose = rg_swept_pose(&side[1], k / 2000.0);
            rg_growth there;
            assert_int_equal(
                rg_separation_between(shape[0], side[0].placed.pose, shape[1], pose, NULL, &there),
                RG_OK);
            if (k <= 2000 * found && !(there.gap >= -0.51 * deep))
                assert_true(depth_of(shape[0], side[0].placed.pose, shape[1], pose) <= 0.51 * deep);
            least = fmin(least, there.gap);
        }
        if (growth.gap > 0 && found < 1)
            assert_true(least < 0.05);
        held += growth.gap > 0 && found == 1;
        not_held += growth.gap > 0 && found < 1;
        rg_shape_release(shape[0]);
        rg_shape_release(shape[1]);
    }
    print_message("%d held, %d did not\n", held, not_held);
    assert_true(held > cases / 20 && not_held > cases / 20); /* both are seen */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_turns),
        cmocka_unit_test(half_turns_over_a_plane),
        cmocka_unit_test(motions_that_hold),
        cmocka_unit_test(a_motion_that_fails_at_its_very_end),
        cmocka_unit_test(a_motion_beyond_numbers),
        cmocka_unit_test(random_motions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
