/* Bounds over a motion: no sampled point of any shape leaves them; tight for translations. */
#include "broad_support.h"

#include "base/base_math.h"

#include <float.h>

static rg_shape *shape_of(rg_shape_def def) {
    rg_shape *shape;
    rg_error error;
    if (rg_shape_create(&def, NULL, &shape, &error))
        fail_msg("%s", error.text);
    return shape;
}

enum { SHAPES = 7 };

static void make_shapes(rg_shape *shapes[SHAPES]) {
    static const rg_vec3 points[] = {{0, 0, 0}, {3, 0, 0}, {0, 0.2, 0}, {0, 0, 0.5}, {3, 1, 1}};
    shapes[0] = shape_of(rg_shape_def_box(1, 2, 0.1));
    shapes[1] = shape_of(rg_shape_def_sphere(0.7));
    shapes[2] = shape_of(rg_shape_def_capsule(0.2, 2));
    shapes[3] = shape_of(rg_shape_def_cone(0.5, 1));
    shapes[4] = shape_of(rg_shape_def_ellipsoid(0.1, 0.5, 1.5));
    shapes[5] = shape_of(rg_shape_def_hull(points, 5));
    rg_compound_part parts[2] = {{shapes[0], {{1, 0, 0}, {0, 0, 0, 1}}, 1},
                                 {shapes[1], {{-2, 0, 1}, {0, 0, 0, 1}}, 1}};
    shapes[6] = shape_of(rg_shape_def_compound(parts, 2));
}

static void free_shapes(rg_shape *shapes[SHAPES]) {
    for (int i = 0; i < SHAPES; i++)
        rg_shape_release(shapes[i]);
}

static rg_pose random_pose(rg_random *random, double size) {
    return (rg_pose){random_vector(random, size), rg_random_rotation(random)};
}

/* The shape's bounds at a pose are inside, up to the rounding of those bounds themselves. */
static void assert_inside(const rg_bounds *outer, const rg_shape *shape, rg_pose pose) {
    rg_bounds b = rg_shape_bounds(shape, pose);
    if (!(outer->lower.x <= b.lower.x && outer->lower.y <= b.lower.y &&
          outer->lower.z <= b.lower.z && b.upper.x <= outer->upper.x &&
          b.upper.y <= outer->upper.y && b.upper.z <= outer->upper.z))
        fail_msg("%s leaves its swept bounds", rg_shape_kind_name(rg_shape_get_kind(shape)));
}

static rg_pose moved(rg_pose pose, rg_vec3 centre, rg_vec3 velocity, rg_vec3 spin, double t) {
    rg_quat q = rg_quat_of_rotation_vector(rg_scale(t, spin));
    rg_vec3 now = rg_add_scaled(centre, t, velocity);
    return (rg_pose){rg_add(now, rg_rotate(q, rg_sub(pose.position, centre))),
                     rg_quat_multiply(q, pose.orientation)};
}

static void constant_velocities(void **state) {
    (void)state;
    rg_shape *shapes[SHAPES];
    make_shapes(shapes);
    rg_random random = rg_random_make(1);
    double widest = 0;
    for (int trial = 0; trial < 3000; trial++) {
        const rg_shape *shape = shapes[trial % SHAPES];
        double far = pow(10, rg_random_between(&random, -1, 4));
        rg_pose pose = random_pose(&random, far);
        rg_vec3 centre = rg_add(pose.position, random_vector(&random, 2));
        rg_vec3 velocity = random_vector(&random, pow(10, rg_random_between(&random, -3, 2)));
        /* Up to several turns. */
        rg_vec3 spin =
            rg_scale(pow(10, rg_random_between(&random, -3, 1.5)), rg_random_direction(&random));
        if (trial % 4 == 0) /* nothing but rounding to hold */
            spin = (rg_vec3){0, 0, 0};
        double step = rg_random_between(&random, 0.1, 1);
        rg_bounds swept = rg_bounds_swept(shape, pose, centre, velocity, spin, step, 0);
        for (int i = 0; i <= 40; i++)
            assert_inside(&swept, shape, moved(pose, centre, velocity, spin, step * i / 40));
        /* Never more than the centre's path and the farthest reach. */
        rg_vec3 c = rg_pose_apply(pose, rg_shape_centre(shape));
        double arm = rg_length(rg_sub(c, centre)) + rg_shape_circumradius(shape);
        double width = swept.upper.x - swept.lower.x - fabs(step * velocity.x);
        widest = fmax(widest, width / (2 * arm));
    }
    assert_true(widest <= 1 + 1e-9);
    free_shapes(shapes);
}

static void translation_is_tight(void **state) {
    (void)state;
    rg_shape *shapes[SHAPES];
    make_shapes(shapes);
    rg_random random = rg_random_make(2);
    for (int trial = 0; trial < 700; trial++) {
        const rg_shape *shape = shapes[trial % SHAPES];
        rg_pose pose = random_pose(&random, 5), end = pose;
        rg_vec3 velocity = random_vector(&random, 10);
        end.position = rg_add_scaled(pose.position, 0.25, velocity);
        rg_bounds a = rg_shape_bounds(shape, pose), b = rg_shape_bounds(shape, end);
        rg_vec3 zero = {0, 0, 0};
        rg_bounds swept = rg_bounds_swept(shape, pose, pose.position, velocity, zero, 0.25, 0);
        rg_bounds between = rg_bounds_between(shape, pose, end, zero);
        rg_vec3 lower = rg_min(a.lower, b.lower), upper = rg_max(a.upper, b.upper);
        assert_near(rg_length(rg_sub(swept.lower, lower)), 0, 1e-12);
        assert_near(rg_length(rg_sub(swept.upper, upper)), 0, 1e-12);
        assert_near(rg_length(rg_sub(between.lower, lower)), 0, 1e-12);
        assert_near(rg_length(rg_sub(between.upper, upper)), 0, 1e-12);
    }
    free_shapes(shapes);
}

/* Half a turn of a rod about its middle: both ends are where they were, the circle is not. */
static void half_a_turn(void **state) {
    (void)state;
    rg_shape *rod = shape_of(rg_shape_def_capsule(0.1, 9.8)); /* along z, +-5 */
    rg_pose pose = {{0, 0, 0}, {0, 0, 0, 1}};
    rg_vec3 zero = {0, 0, 0}, spin = {0, RG_PI, 0};
    rg_bounds b = rg_bounds_swept(rod, pose, zero, zero, spin, 1, 0);
    assert_true(b.lower.x <= -5 && b.upper.x >= 5);
    assert_near(b.upper.x, 5, 1e-9); /* the ball's bounds, no more */
    rg_shape_release(rod);
}

static void between_two_poses(void **state) {
    (void)state;
    rg_shape *shapes[SHAPES];
    make_shapes(shapes);
    rg_random random = rg_random_make(3);
    for (int trial = 0; trial < 3000; trial++) {
        const rg_shape *shape = shapes[trial % SHAPES];
        rg_pose start = random_pose(&random, 3);
        rg_vec3 turn = rg_scale(RG_PI * rg_random_unit(&random), rg_random_direction(&random));
        if (trial % 5 == 0)
            turn = rg_scale(1e-6, turn);
        rg_vec3 centre = random_vector(&random, 1), shift = random_vector(&random, 2);
        rg_vec3 from = rg_pose_apply(start, centre);
        rg_pose end = moved(start, from, shift, turn, 1);
        if (trial % 2) /* the other of the two quaternions */
            end.orientation = (rg_quat){-end.orientation.x, -end.orientation.y, -end.orientation.z,
                                        -end.orientation.w};
        rg_bounds b = rg_bounds_between(shape, start, end, centre);
        for (int i = 0; i <= 40; i++)
            assert_inside(&b, shape, moved(start, from, shift, turn, i / 40.0));
    }
    free_shapes(shapes);
}

static void within_a_distance_and_an_angle(void **state) {
    (void)state;
    rg_shape *shapes[SHAPES];
    make_shapes(shapes);
    rg_random random = rg_random_make(4);
    for (int trial = 0; trial < 3000; trial++) {
        const rg_shape *shape = shapes[trial % SHAPES];
        rg_pose pose = random_pose(&random, 3);
        rg_vec3 centre = rg_add(pose.position, random_vector(&random, 1));
        double shift = rg_random_between(&random, 0, 2), angle = rg_random_between(&random, 0, 4);
        rg_bounds b = rg_bounds_within(shape, pose, centre, shift, angle);
        for (int i = 0; i < 20; i++) {
            rg_vec3 d = rg_scale(shift, rg_random_direction(&random));
            rg_vec3 turn = rg_scale(angle * rg_random_unit(&random), rg_random_direction(&random));
            assert_inside(&b, shape, moved(pose, centre, d, turn, 1));
        }
    }
    free_shapes(shapes);
}

static void half_spaces(void **state) {
    (void)state;
    rg_shape *floor_shape = shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0.5));
    rg_pose pose = {{0, 0, 1}, {0, 0, 0, 1}}, end = {{0, 0, 3}, {0, 0, 0, 1}};
    rg_vec3 zero = {0, 0, 0}, up = {0, 0, 2}, spin = {0.1, 0, 0};
    rg_bounds b = rg_bounds_swept(floor_shape, pose, zero, up, zero, 1, 0);
    assert_true(b.lower.z == -INFINITY && b.upper.x == INFINITY);
    assert_near(b.upper.z, 3.5, 1e-12);
    b = rg_bounds_between(floor_shape, pose, end, zero);
    assert_near(b.upper.z, 3.5, 1e-12);
    b = rg_bounds_within(floor_shape, pose, zero, 0.25, 0);
    assert_near(b.upper.z, 1.75, 1e-12);
    b = rg_bounds_swept(floor_shape, pose, zero, zero, spin, 1, 0);
    assert_true(b.upper.z == INFINITY && b.lower.z == -INFINITY);
    b = rg_bounds_within(floor_shape, pose, zero, 0, 0.1);
    assert_true(b.upper.z == INFINITY);
    rg_shape_release(floor_shape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_velocities),
        cmocka_unit_test(translation_is_tight),
        cmocka_unit_test(half_a_turn),
        cmocka_unit_test(between_two_poses),
        cmocka_unit_test(within_a_distance_and_an_angle),
        cmocka_unit_test(half_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
