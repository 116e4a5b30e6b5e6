/* Minimum translation of polyhedra and polygons: closed forms, sampled directions, translation by
 * the depth, and the relations to growth and distance. */
#include "narrow_support.h"

static rg_depth measure(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    rg_depth depth;
    assert_int_equal(rg_depth_between(a, pa, b, pb, &depth), RG_OK);
    assert_true(isfinite(depth.depth));
    assert_near(rg_length(depth.normal), 1, 1e-14);
    return depth;
}

/* n.d - h(n) by the public support functions. */
static double separation(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb, rg_vec3 n) {
    rg_vec3 down = rg_rotate_back(pa.orientation, n),
            up = rg_rotate_back(pb.orientation, rg_neg(n));
    rg_vec3 top = rg_rotate(pa.orientation, rg_shape_support(a, down, NULL));
    rg_vec3 low = rg_rotate(pb.orientation, rg_shape_support(b, up, NULL));
    return rg_dot(n, rg_add(rg_sub(pb.position, pa.position), rg_sub(low, top)));
}

static void test_aligned_boxes(void **state) {
    (void)state;
    rg_random random = rg_random_make(1);
    for (int i = 0; i < 1000; i++) {
        rg_vec3 p = {rg_random_between(&random, 0.5, 2), rg_random_between(&random, 0.5, 2),
                     rg_random_between(&random, 0.5, 2)};
        rg_vec3 q = {rg_random_between(&random, 0.5, 2), rg_random_between(&random, 0.5, 2),
                     rg_random_between(&random, 0.5, 2)};
        rg_vec3 d = {rg_random_between(&random, -2, 2), rg_random_between(&random, -2, 2),
                     rg_random_between(&random, -2, 2)};
        rg_shape *a = make_shape(rg_shape_def_box(p.x, p.y, p.z));
        rg_shape *b = make_shape(rg_shape_def_box(q.x, q.y, q.z));
        rg_pose here = rg_pose_identity(), there = {d, {0, 0, 0, 1}};
        double expected = rg_min3((p.x + q.x) / 2 - fabs(d.x), (p.y + q.y) / 2 - fabs(d.y),
                                  (p.z + q.z) / 2 - fabs(d.z));
        rg_depth m = measure(a, here, b, there);
        assert_near(m.depth, expected, 1e-14);
        assert_near(rg_largest_entry(m.normal), 1, 1e-15);
        rg_shape_release(a);
        rg_shape_release(b);
    }
}

/* Unit cubes, one standing on an edge (turned by 45 degrees about y), the other on an edge turned
 * about x: crossed edges, depth from the gap of the edges along z. */
static void test_crossed_edges(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    double reach = 0.70710678118654752;
    rg_pose below = {{0, 0, 0}, rg_quat_of_rotation_vector(rg_vec3_make(0, RG_PI / 4, 0))};
    rg_pose above = {{0.1, -0.05, 2 * reach - 0.1},
                     rg_quat_of_rotation_vector(rg_vec3_make(RG_PI / 4, 0, 0))};
    rg_depth m = measure(cube, below, cube, above);
    assert_near(m.depth, 0.1, 1e-14);
    assert_near(m.normal.z, 1, 1e-14);
    /* turned squares, the planar worked numbers: 1 and sqrt 2 along x */
    rg_vec3 corner[4] = {{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}};
    rg_shape *square = make_shape(rg_shape_def_polygon(corner, 4));
    rg_pose turned = {{2, 0, 0}, rg_quat_of_planar_angle(RG_PI / 4)};
    m = measure(square, rg_pose_identity(), square, turned);
    assert_near(m.depth, 1 + 2 * reach - 2, 1e-14);
    assert_near(m.normal.x, 1, 1e-14);
    rg_shape_release(square);
    rg_shape_release(cube);
}

static void check_pair(rg_random *random, const rg_shape *a, rg_pose pa, const rg_shape *b,
                       rg_pose pb) {
    double size = rg_shape_circumradius(a) + rg_shape_circumradius(b);
    bool planar = rg_shape_is_planar(a);
    rg_depth m = measure(a, pa, b, pb), back = measure(b, pb, a, pa);
    assert_near(back.depth, m.depth, 1e-13 * size);
    assert_near(separation(a, pa, b, pb, m.normal), -m.depth, 1e-13 * size);
    /* no direction does better; near the best normal least of all */
    for (int i = 0; i < 60; i++) {
        rg_vec3 n = rg_random_direction(random);
        if (i >= 20)
            n = rg_add_scaled(m.normal, i & 1 ? 1e-2 : 1e-5, n);
        if (planar)
            n.y = 0;
        double apart = separation(a, pa, b, pb, rg_normalised(n));
        if (m.depth >= 0)
            assert_true(apart <= -m.depth + 1e-13 * size);
    }
    rg_distance distance;
    assert_int_equal(rg_distance_between(a, pa, b, pb, NULL, &distance), RG_OK);
    if (m.depth < -1e-12 * size)
        assert_true(distance.distance >= -m.depth - 1e-12 * size);
    if (m.depth <= 1e-12 * size)
        return;
    assert_true(distance.distance == 0);
    /* moved by the depth they touch; by a little less they overlap */
    rg_pose moved = pb;
    moved.position = rg_add_scaled(pb.position, m.depth, m.normal);
    assert_near(measure(a, pa, b, moved).depth, 0, 1e-13 * size);
    rg_distance_between(a, pa, b, moved, NULL, &distance);
    assert_true(distance.distance <= 1e-12 * size);
    moved.position = rg_add_scaled(pb.position, m.depth * (1 + 1e-6) + 1e-9 * size, m.normal);
    rg_distance_between(a, pa, b, moved, NULL, &distance);
    assert_true(distance.distance > 0);
    /* the gap of the growth is never more than the signed distance */
    rg_pair pair = pair_of(a, pa, b, pb);
    rg_growth growth;
    assert_int_equal(rg_growth_curved(&pair, NULL, &growth), RG_OK);
    assert_true((growth.ratio - 1) * growth.width <= -m.depth + 1e-12 * size);
}

static void test_random_pairs(void **state) {
    (void)state;
    rg_random random = rg_random_make(9);
    long count = test_count(3000), deep = 0;
    for (long i = 0; i < count; i++) {
        bool planar = i % 3 == 2;
        int kind = planar ? POLYGON : i % 3 == 0 ? BOX : HULL;
        double stretch = i & 8 ? 100 : 2;
        rg_shape *a = random_shape(&random, kind, 1, stretch);
        rg_shape *b = random_shape(&random, planar ? POLYGON : HULL, 1, stretch);
        rg_pose pa = random_pose(&random, 1), pb = random_pose(&random, i & 4 ? 1 : 0.1);
        if (planar) {
            pa.orientation = rg_quat_of_planar_angle(rg_random_between(&random, -3, 3));
            pb.orientation = rg_quat_of_planar_angle(rg_random_between(&random, -3, 3));
            pa.position.y = pb.position.y = 0;
        }
        check_pair(&random, a, pa, b, pb);
        deep += measure(a, pa, b, pb).depth > 0;
        rg_shape_release(a);
        rg_shape_release(b);
    }
    assert_in_range(deep, count / 3, count - 1);
}

/* Parallel and shared features: faces on faces, edges along edges. */
static void test_degenerate(void **state) {
    (void)state;
    rg_shape *a = make_shape(rg_shape_def_box(1, 1, 1)), *b = make_shape(rg_shape_def_box(2, 1, 3));
    rg_random random = rg_random_make(4);
    for (int i = 0; i < 500; i++) {
        rg_quat turn = rg_random_rotation(&random);
        double angle = RG_PI / 4 * (double)rg_random_below(&random, 8);
        rg_quat own = rg_quat_of_rotation_vector(rg_vec3_make(0, 0, angle));
        rg_vec3 d = {0.5 * (double)rg_random_below(&random, 5) - 1,
                     0.5 * (double)rg_random_below(&random, 5) - 1,
                     0.5 * (double)rg_random_below(&random, 5) - 1};
        rg_pose pa = {{0, 0, 0}, turn}, pb = {rg_rotate(turn, d), rg_quat_multiply(turn, own)};
        check_pair(&random, a, pa, b, pb);
    }
    rg_shape_release(a);
    rg_shape_release(b);
}

static void test_bad_input(void **state) {
    (void)state;
    rg_shape *box = make_shape(rg_shape_def_box(1, 1, 1)),
             *ball = make_shape(rg_shape_def_sphere(1));
    rg_vec3 corner[3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    rg_shape *triangle = make_shape(rg_shape_def_polygon(corner, 3));
    rg_pose here = rg_pose_identity(), nowhere = {{0, INFINITY, 0}, {0, 0, 0, 1}};
    rg_depth depth;
    assert_int_equal(rg_depth_between(box, here, ball, here, &depth), RG_INVALID_ARGUMENT);
    assert_int_equal(rg_depth_between(box, here, triangle, here, &depth), RG_INVALID_ARGUMENT);
    assert_int_equal(rg_depth_between(box, here, box, nowhere, &depth), RG_NOT_FINITE);
    /* coincident centres are nothing special */
    assert_near(measure(box, here, box, here).depth, 1, 1e-15);
    rg_shape_release(triangle);
    rg_shape_release(ball);
    rg_shape_release(box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aligned_boxes), cmocka_unit_test(test_crossed_edges),
        cmocka_unit_test(test_random_pairs),  cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
