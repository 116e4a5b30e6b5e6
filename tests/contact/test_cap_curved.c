/* Contact points of curved shapes: one point, the ends of a line, the corners and rim of a disc. */
#include "contact_helpers.h"

#include "rigor/random.h"

static contact_result result, other;

static rg_shape *make_ground(void) {
    return make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
}

static rg_shape *make_slab(void) {
    return make_shape(rg_shape_def_box(4, 4, 1)); /* its top at z = 1/2 */
}

/* Every shape, on the ground and on a slab, both ways around, just touching. */
static void query_all_ways(const rg_shape *shape, rg_pose pose, uint32_t count,
                           const rg_vec3 *expected, double tolerance) {
    rg_shape *ground = make_ground(), *slab = make_slab();
    for (int way = 0; way < 4; way++) {
        const rg_shape *base = way & 1 ? slab : ground;
        rg_pose under = pose_at(0, 0, way & 1 ? -0.5 : 0);
        if (way & 2)
            query(shape, pose, base, under, &result);
        else
            query(base, under, shape, pose, &result);
        assert_vector(result.manifold.normal, rg_vec3_make(0, 0, way & 2 ? -1 : 1), 1e-7);
        assert_points(&result, expected, count, tolerance);
        assert_near(result.manifold.gap, 0, 1e-9);
        assert_int_equal(count_kind(&result, RG_FEATURES_SMOOTH), count);
    }
    rg_shape_release(ground);
    rg_shape_release(slab);
}

static void single_points(void **state) {
    (void)state;
    rg_shape *sphere = make_shape(rg_shape_def_sphere(0.5));
    rg_shape *egg = make_shape(rg_shape_def_ellipsoid(0.3, 0.4, 0.5));
    rg_vec3 at = {0.2, 0.3, 0};
    query_all_ways(sphere, pose_at(0.2, 0.3, 0.5), 1, &at, 1e-9);
    query_all_ways(egg, pose_at(0.2, 0.3, 0.5), 1, &at, 1e-6);
    query(sphere, pose_at(0, 0, 0), sphere, pose_at(0.6, 0, 0.8), &result);
    rg_vec3 middle = {0.3, 0, 0.4};
    assert_points(&result, &middle, 1, 1e-14);
    assert_vector(result.manifold.normal, rg_vec3_make(0.6, 0, 0.8), 1e-14);
    /* On a corner of a box. */
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    double third = 1 / sqrt(3);
    rg_vec3 corner = {0.5, 0.5, 0.5}, out = {third, third, third};
    rg_pose beyond = {rg_add_scaled(corner, 0.5, out), rg_quat_identity()};
    query(cube, pose_at(0, 0, 0), sphere, beyond, &result);
    assert_points(&result, &corner, 1, 1e-7);
    assert_vector(result.manifold.normal, out, 1e-7);
    rg_shape_release(cube);
    rg_shape_release(sphere);
    rg_shape_release(egg);
}

static void lines(void **state) {
    (void)state;
    rg_shape *capsule = make_shape(rg_shape_def_capsule(0.2, 1));
    rg_shape *cylinder = make_shape(rg_shape_def_cylinder(0.2, 1));
    rg_pose lying = pose_turned(rg_vec3_make(0.1, 0.2, 0.2), rg_vec3_make(0, RG_PI / 2, 0));
    rg_vec3 ends[2] = {{-0.4, 0.2, 0}, {0.6, 0.2, 0}};
    query_all_ways(capsule, lying, 2, ends, 1e-9);
    query_all_ways(cylinder, lying, 2, ends, 1e-9);
    /* Over the border of the slab: one end and where the line crosses the edge. */
    rg_shape *slab = make_slab();
    lying.position.x = 1.9;
    query(slab, pose_at(0, 0, -0.5), cylinder, lying, &result);
    rg_vec3 cut[2] = {{1.4, 0.2, 0}, {2, 0.2, 0}};
    assert_points(&result, cut, 2, 1e-9);
    /* Upright capsule, tilted cylinder: one point. */
    rg_vec3 foot = {0, 0, 0};
    query_all_ways(capsule, pose_at(0, 0, 0.7), 1, &foot, 1e-9);
    rg_quat tilt = rg_quat_of_rotation_vector(rg_vec3_make(0, 0.3, 0));
    double s, c;
    rg_sin_cos(0.3, &s, &c);
    rg_vec3 rim = rg_rotate(tilt, rg_vec3_make(0.2, 0, -0.5));
    query_all_ways(cylinder, (rg_pose){{-rim.x, -rim.y, -rim.z}, tilt}, 1, &foot, 1e-9);
    /* A cone on its side: from the rim to the apex. */
    rg_shape *cone = make_shape(rg_shape_def_cone(0.3, 0.8));
    double slope = rg_atan2(0.3, 0.8); /* half the opening */
    rg_quat side = rg_quat_of_rotation_vector(rg_vec3_make(0, RG_PI / 2 + slope, 0));
    rg_vec3 apex = rg_rotate(side, rg_vec3_make(0, 0, 0.6)),
            edge = rg_rotate(side, rg_vec3_make(0.3, 0, -0.2));
    assert_near(apex.z, edge.z, 1e-15);
    rg_pose cone_pose = {{0, 0, -apex.z}, side};
    rg_vec3 side_ends[2] = {{apex.x, 0, 0}, {edge.x, 0, 0}};
    query_all_ways(cone, cone_pose, 2, side_ends, 1e-8);
    rg_shape_release(cone);
    rg_shape_release(slab);
    rg_shape_release(capsule);
    rg_shape_release(cylinder);
}

static void line_on_line(void **state) {
    (void)state;
    rg_shape *capsule = make_shape(rg_shape_def_capsule(0.2, 1));
    rg_quat along_x = rg_quat_of_rotation_vector(rg_vec3_make(0, RG_PI / 2, 0));
    rg_quat along_y = rg_quat_of_rotation_vector(rg_vec3_make(RG_PI / 2, 0, 0));
    rg_pose low = {{0, 0, 0}, along_x};
    query(capsule, low, capsule, (rg_pose){{0.3, 0, 0.4}, along_x}, &result); /* parallel */
    rg_vec3 ends[2] = {{-0.2, 0, 0.2}, {0.5, 0, 0.2}};
    assert_points(&result, ends, 2, 1e-9);
    query(capsule, low, capsule, (rg_pose){{0.3, 0.1, 0.4}, along_y}, &result); /* crossed */
    rg_vec3 middle = {0.3, 0, 0.2};
    assert_points(&result, &middle, 1, 1e-9);
    rg_shape_release(capsule);
}

static void whole_discs(void **state) {
    (void)state;
    rg_shape *cylinder = make_shape(rg_shape_def_cylinder(0.5, 1));
    rg_shape *cone = make_shape(rg_shape_def_cone(0.5, 1));
    rg_vec3 rim[RG_RIM_POINTS];
    for (int i = 0; i < RG_RIM_POINTS; i++) {
        double s, c;
        rg_sin_cos(2 * RG_PI * i / RG_RIM_POINTS, &s, &c);
        rim[i] = rg_vec3_make(0.1 + 0.5 * c, 0.2 + 0.5 * s, 0);
    }
    query_all_ways(cylinder, pose_at(0.1, 0.2, 0.5), RG_RIM_POINTS, rim, 1e-8);
    assert_near(result.manifold.area / (RG_PI * 0.25), 0.9745, 1e-4); /* as the header says */
    query_all_ways(cone, pose_at(0.1, 0.2, 0.25), RG_RIM_POINTS, rim, 1e-8);
    /* Spinning about its axis, each point keeps its name and turns with the body. */
    rg_shape *ground = make_ground();
    query(ground, pose_at(0, 0, 0), cylinder, pose_at(0, 0, 0.5), &result);
    rg_pose spun = pose_turned(rg_vec3_make(0, 0, 0.5), rg_vec3_make(0, 0, 0.1));
    query(ground, pose_at(0, 0, 0), cylinder, spun, &other);
    for (uint32_t i = 0; i < RG_RIM_POINTS; i++) {
        assert_true(result.points[i].id == other.points[i].id);
        assert_vector(rg_rotate(spun.orientation, result.points[i].position),
                      other.points[i].position, 1e-12);
    }
    rg_shape_release(ground);
    rg_shape_release(cylinder);
    rg_shape_release(cone);
}

/* A disc that reaches over the border: rim points inside, exact crossings with the edge. */
static void clipped_discs(void **state) {
    (void)state;
    rg_shape *slab = make_slab(), *cylinder = make_shape(rg_shape_def_cylinder(0.5, 1));
    query(slab, pose_at(0, 0, -0.5), cylinder, pose_at(1.8, 0, 0.5), &result);
    double y = sqrt(0.25 - 0.04);
    assert_near(nearest_point(&result, rg_vec3_make(2, y, 0)), 0, 1e-8);
    assert_near(nearest_point(&result, rg_vec3_make(2, -y, 0)), 0, 1e-8);
    uint32_t inside = 0;
    for (int i = 0; i < RG_RIM_POINTS; i++) {
        double s, c;
        rg_sin_cos(2 * RG_PI * i / RG_RIM_POINTS, &s, &c);
        inside += 1.8 + 0.5 * c < 2;
    }
    assert_int_equal(result.manifold.point_count, inside + 2);
    /* Over a corner: the corner itself too. */
    query(slab, pose_at(0, 0, -0.5), cylinder, pose_at(1.8, 1.9, 0.5), &result);
    assert_near(nearest_point(&result, rg_vec3_make(2, 2, 0)), 0, 1e-8);
    for (uint32_t i = 0; i < result.manifold.point_count; i++) {
        rg_vec3 p = result.points[i].position;
        assert_true(p.x <= 2 + 1e-6 && p.y <= 2 + 1e-6);
        assert_true(hypot(p.x - 1.8, p.y - 1.9) <= 0.5 + 1e-6);
    }
    /* Two bases that overlap in a lens: its two corners are exact. */
    for (int i = 0; i < 12; i++) {
        double s, c;
        rg_sin_cos(2 * RG_PI * i / 12, &s, &c);
        rg_pose lower = pose_at(0.1, -0.2, 0), upper = pose_at(0.1 + 0.6 * c, -0.2 + 0.6 * s, 1);
        query(cylinder, lower, cylinder, upper, &result);
        for (int side = -1; side <= 1; side += 2) {
            rg_vec3 corner = {0.1 + 0.3 * c - side * 0.4 * s, -0.2 + 0.3 * s + side * 0.4 * c, 0.5};
            assert_near(nearest_point(&result, corner), 0, 1e-8);
        }
        for (uint32_t k = 0; k < result.manifold.point_count; k++) {
            rg_vec3 p = result.points[k].position;
            assert_true(hypot(p.x - lower.position.x, p.y - lower.position.y) <= 0.5 + 1e-6);
            assert_true(hypot(p.x - upper.position.x, p.y - upper.position.y) <= 0.5 + 1e-6);
        }
    }
    /* A pillar under a larger base: all its four corners. */
    rg_shape *pillar = make_shape(rg_shape_def_box(0.2, 0.2, 1));
    query(pillar, pose_at(0, 0, 0), cylinder, pose_at(0.1, 0, 1), &result);
    assert_int_equal(result.manifold.point_count, 4);
    assert_near(result.manifold.area, 0.04, 1e-9);
    rg_shape_release(pillar);
    rg_shape_release(cylinder);
    rg_shape_release(slab);
}

/* Two bases that overlap in a lens, the lower one that of a tall cylinder that leans a little, so
 * that it is not over the centre: the corners of the lens are over the base. The ellipse that a
 * leaning circle is seen as differs by tilt^2. */
static void leaning_discs(void **state) {
    (void)state;
    rg_shape *cylinder = make_shape(rg_shape_def_cylinder(0.5, 1));
    const double tilt = 1e-4, tall = 20;
    rg_shape *mast = make_shape(rg_shape_def_cylinder(0.5, tall));
    for (int i = 0; i < 12; i++) {
        double s, c;
        rg_sin_cos(2 * RG_PI * i / 12, &s, &c);
        rg_pose leaning = pose_turned(rg_vec3_make(0.1, -0.2, 0), rg_vec3_make(-tilt, tilt, 0));
        rg_vec3 base = rg_pose_apply(leaning, rg_vec3_make(0, 0, tall / 2));
        double top = base.z + 0.5 * tilt * sqrt(2);
        query(mast, leaning, cylinder, pose_at(base.x + 0.6 * c, base.y + 0.6 * s, top + 0.5),
              &result);
        for (int side = -1; side <= 1; side += 2) {
            rg_vec3 corner = {base.x + 0.3 * c - side * 0.4 * s, base.y + 0.3 * s + side * 0.4 * c,
                              base.z};
            double nearest = INFINITY;
            for (uint32_t k = 0; k < result.manifold.point_count; k++) {
                rg_vec3 p = result.points[k].position;
                nearest = fmin(nearest, hypot(p.x - corner.x, p.y - corner.y));
            }
            assert_true(nearest < 1e-5);
        }
    }
    rg_shape_release(mast);
    rg_shape_release(cylinder);
}

static void planar_discs(void **state) {
    (void)state;
    rg_shape *disc = make_shape(rg_shape_def_disc(0.5)), *ground = make_ground();
    rg_vec3 corners[4] = {{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}};
    rg_shape *square = make_shape(rg_shape_def_polygon(corners, 4));
    query(ground, pose_at(0, 0, 0), disc, pose_at(3, 0, 0.5), &result);
    rg_vec3 at = {3, 0, 0};
    assert_points(&result, &at, 1, 1e-14);
    query(disc, pose_at(0.3, 0, 1.5), square, pose_at(0, 0, 0), &result);
    at = rg_vec3_make(0.3, 0, 1);
    assert_points(&result, &at, 1, 1e-9);
    assert_vector(result.manifold.normal, rg_vec3_make(0, 0, -1), 1e-9);
    query(disc, pose_at(0, 0, 0), disc, pose_at(0.6, 0, 0.8), &result);
    at = rg_vec3_make(0.3, 0, 0.4);
    assert_points(&result, &at, 1, 1e-14);
    rg_shape_release(square);
    rg_shape_release(disc);
    rg_shape_release(ground);
}

/* Random pairs of all kinds near touching: points if and only if near, gaps as the growth says,
 * both orders alike. */
static void random_pairs(void **state) {
    (void)state;
    rg_random random = rg_random_make(53);
    rg_shape *shapes[7] = {make_shape(rg_shape_def_sphere(0.5)),
                           make_shape(rg_shape_def_capsule(0.3, 0.6)),
                           make_shape(rg_shape_def_cylinder(0.4, 0.8)),
                           make_shape(rg_shape_def_cone(0.5, 0.9)),
                           make_shape(rg_shape_def_ellipsoid(0.3, 0.4, 0.5)),
                           make_shape(rg_shape_def_box(0.7, 0.8, 0.9)),
                           make_ground()};
    for (int trial = 0; trial < 4000; trial++) {
        int a = (int)rg_random_below(&random, 7), b = (int)rg_random_below(&random, 6);
        rg_pose p1 = random_pose(&random, 1), p2 = random_pose(&random, 1);
        rg_growth growth = {0};
        for (int k = 0; k < 3; k++) {
            assert_int_equal(rg_growth_between(shapes[a], p1, shapes[b], p2, NULL, &growth), RG_OK);
            double aim = k == 2 ? rg_random_between(&random, -1e-3, 1e-3) : 0;
            p2.position = rg_add_scaled(p2.position, aim - growth.gap, growth.normal);
        }
        assert_int_equal(rg_growth_between(shapes[a], p1, shapes[b], p2, NULL, &growth), RG_OK);
        query(shapes[a], p1, shapes[b], p2, &result);
        query(shapes[b], p2, shapes[a], p1, &other);
        double near = RG_CONTACT_NEAR *
                      fmin(rg_shape_circumradius(shapes[a]), rg_shape_circumradius(shapes[b]));
        assert_int_equal(result.manifold.point_count > 0, growth.gap <= near);
        assert_near(result.manifold.gap, growth.gap, 2e-5);
        if (fabs(growth.gap - near) > 1e-6) {
            assert_int_equal(result.manifold.point_count, other.manifold.point_count);
            assert_vector(result.manifold.normal, rg_neg(other.manifold.normal), 1e-5);
            for (uint32_t i = 0; i < result.manifold.point_count; i++)
                assert_near(nearest_point(&other, result.points[i].position), 0, 1e-5);
        }
    }
    for (int i = 0; i < 7; i++)
        rg_shape_release(shapes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_points), cmocka_unit_test(lines),
        cmocka_unit_test(line_on_line),  cmocka_unit_test(whole_discs),
        cmocka_unit_test(clipped_discs), cmocka_unit_test(leaning_discs),
        cmocka_unit_test(planar_discs),  cmocka_unit_test(random_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
