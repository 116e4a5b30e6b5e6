/* Polygons, discs and planar hulls. */
#include "shape_helpers.h"

static void regular_polygon(rg_vec3 *corners, int count, double radius, double start) {
    for (int i = 0; i < count; i++) {
        double s, c;
        rg_sin_cos(start + 2 * RG_PI * i / count, &s, &c);
        corners[i] = rg_vec3_make(radius * c, 0, radius * s);
    }
}

/* What a polygon's arrays promise. */
static void check_polygon(const rg_shape *shape, double size) {
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    uint32_t n = p->vertex_count;
    assert_int_equal(p->facet_count, n);
    assert_int_equal(p->edge_count, 0);
    assert_int_equal(p->facet_start[n], 2 * n);
    assert_int_equal(p->vertex_start[n], 2 * n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = (i + 1) % n, previous = (i + n - 1) % n;
        assert_int_equal(p->facet_vertices[2 * i], i);
        assert_int_equal(p->facet_vertices[2 * i + 1], next);
        assert_int_equal(p->facet_neighbours[2 * i], previous);
        assert_int_equal(p->facet_neighbours[2 * i + 1], next);
        assert_int_equal(p->vertex_neighbours[2 * i], previous);
        assert_int_equal(p->vertex_neighbours[2 * i + 1], next);
        assert_true(p->normals[i].y == 0);
        assert_near(rg_length(p->normals[i]), 1, 1e-15);
        assert_true(p->offsets[i] > 0);
        for (uint32_t v = 0; v < n; v++) {
            double height = rg_dot(p->normals[i], rg_sub(p->vertices[v], p->centre));
            assert_true(height <= p->offsets[i] + 1e-15 * size);
            if (v == i || v == next)
                assert_near(height, p->offsets[i], 1e-11 * size);
        }
        rg_vec3 along = rg_sub(p->vertices[next], p->vertices[i]);
        rg_vec3 after = rg_sub(p->vertices[(next + 1) % n], p->vertices[next]);
        assert_true(along.x * after.z - along.z * after.x > 0); /* x towards z */
    }
}

static void regular_polygons(void **state) {
    (void)state;
    static rg_vec3 corners[1000];
    for (int count = 3; count <= 1000; count = count * 2 + 1)
        for (double r = 1e-6; r < 1e7; r *= 1e3) {
            regular_polygon(corners, count, r, 0.3);
            rg_shape *shape = make_shape(rg_shape_def_polygon(corners, (size_t)count));
            check_polygon(shape, r);
            double s, c;
            rg_sin_cos(RG_PI / count, &s, &c);
            double area = count * r * r * s * c;
            double about = area * r * r * (3 - 2 * s * s) / 6; /* n-gon about its centre */
            rg_mass_properties m = rg_shape_mass(shape, 7);
            assert_near(rg_shape_volume(shape) / area, 1, 1e-13);
            assert_near(m.mass / (7 * area), 1, 1e-13);
            assert_near(m.inertia.m[1][1] / (7 * about), 1, 1e-12);
            assert_near((m.inertia.m[0][0] + m.inertia.m[2][2]) / m.inertia.m[1][1], 1, 1e-14);
            assert_true(rg_length(m.centre) < 1e-14 * r);
            assert_near(rg_shape_inradius(shape) / (r * c), 1, 1e-13);
            assert_near(rg_shape_circumradius(shape) / r, 1, 1e-13);
            assert_true(rg_shape_is_planar(shape));
            assert_int_equal(rg_mass_check(&m, true, NULL), RG_OK);
            rg_shape_release(shape);
        }
}

static void rectangle_anywhere(void **state) {
    (void)state;
    rg_random random = rg_random_make(31);
    for (int trial = 0; trial < 100; trial++) {
        double w = rg_random_between(&random, 0.1, 2), h = rg_random_between(&random, 0.1, 2), s, c;
        double x = rg_random_between(&random, -100, 100), z = rg_random_between(&random, -100, 100);
        rg_sin_cos(rg_random_between(&random, 0, 7), &s, &c);
        rg_vec3 p[4];
        for (int i = 0; i < 4; i++) {
            double u = i == 1 || i == 2 ? w / 2 : -w / 2, v = i >= 2 ? h / 2 : -h / 2;
            p[trial % 2 ? 3 - i : i] = rg_vec3_make(x + c * u - s * v, 0, z + s * u + c * v);
        }
        rg_shape *shape = make_shape(rg_shape_def_polygon(p, 4)); /* either way round */
        check_polygon(shape, 100);
        rg_mass_properties m = rg_shape_mass(shape, 1);
        assert_near(m.mass, w * h, 1e-12);
        assert_near(m.inertia.m[1][1], w * h * (w * w + h * h) / 12, 1e-12);
        assert_near(m.centre.x, x, 1e-13);
        assert_near(m.centre.z, z, 1e-13);
        assert_near(m.inertia.m[0][0], w * h * (s * s * w * w + c * c * h * h) / 12, 1e-12);
        assert_near(m.inertia.m[0][2], -w * h * s * c * (w * w - h * h) / 12, 1e-12);
        rg_shape_release(shape);
    }
}

static void superfluous_corners_go(void **state) {
    (void)state;
    rg_vec3 square[] = {{0, 0, 0}, {0.1, 0, 0}, {0.7, 0, 0}, {1, 0, 0},   {1, 0, 0}, {1, 0, 0.3},
                        {1, 0, 1}, {0.5, 0, 1}, {0, 0, 1},   {0, 0, 0.5}, {0, 0, 0}};
    rg_shape *shape = make_shape(rg_shape_def_polygon(square, 11));
    assert_int_equal(rg_shape_polyhedron(shape)->vertex_count, 4);
    check_polygon(shape, 1);
    assert_near(rg_shape_volume(shape), 1, 1e-15);
    assert_int_equal(rg_shape_get_def(shape).point_count, 11); /* the def gives back what it got */
    rg_shape_release(shape);
}

static void planar_hulls(void **state) {
    (void)state;
    rg_random random = rg_random_make(32);
    rg_vec3 points[200];
    for (int trial = 0; trial < 500; trial++) {
        size_t count = 3 + rg_random_below(&random, 197);
        bool grid = trial % 2;
        for (size_t i = 0; i < count; i++)
            points[i] = grid
                            ? rg_vec3_make((double)rg_random_below(&random, 6), 0,
                                           (double)rg_random_below(&random, 6))
                            : rg_vec3_make(rg_random_normal(&random), 0, rg_random_normal(&random));
        rg_shape *shape;
        rg_status status = rg_shape_create_planar_hull(points, count, NULL, &shape, NULL);
        if (status != RG_OK) {
            assert_true(grid && count < 12);
            assert_int_equal(status, RG_DEGENERATE_GEOMETRY);
            continue;
        }
        check_polygon(shape, 6);
        const rg_polyhedron *p = rg_shape_polyhedron(shape);
        for (size_t i = 0; i < count; i++)
            for (uint32_t f = 0; f < p->facet_count; f++)
                assert_true(rg_dot(p->normals[f], rg_sub(points[i], p->centre)) <=
                            p->offsets[f] + 1e-10);
        rg_shape_release(shape);
    }
}

static void expect_refusal(const rg_vec3 *corners, size_t count, rg_status status,
                           const char *text) {
    rg_error error;
    rg_shape_def def = rg_shape_def_polygon(corners, count);
    rg_shape *shape;
    assert_int_equal(rg_shape_create(&def, NULL, &shape, &error), status);
    assert_null(shape);
    assert_string_equal(error.text, text);
}

static void bad_polygons(void **state) {
    (void)state;
    rg_vec3 p[5] = {{0, 0, 0}, {2, 0, 0}, {2, 0, 2}, {1.5, 0, 0.5}, {0, 0, 2}};
    expect_refusal(p, 2, RG_DEGENERATE_GEOMETRY,
                   "polygon: 2 corners; must be at least 3 that are not on one line");
    expect_refusal(p, 5, RG_NOT_CONVEX,
                   "polygon: corner 3 at [1.5, 0.5] bends inwards; corners must go round a convex "
                   "polygon in order (cut others into convex parts)");
    p[1].y = 0.5;
    expect_refusal(
        p, 5, RG_INVALID_ARGUMENT,
        "polygon: corner 1 has y = 0.5; planar shapes lie in the x-z plane, y must be 0");
    p[1].y = NAN;
    expect_refusal(p, 5, RG_NOT_FINITE,
                   "polygon: corner 1 has the coordinate nan; must be a finite number");
    for (int i = 0; i < 5; i++)
        p[i] = rg_vec3_make(i, 0, 2 * i);
    expect_refusal(p, 5, RG_DEGENERATE_GEOMETRY,
                   "polygon: all 5 corners lie on one line; a polygon needs area");
    for (int i = 0; i < 5; i++) {
        double s, c;
        rg_sin_cos(4 * RG_PI * i / 5, &s, &c);
        p[i] = rg_vec3_make(c, 0, s);
    }
    expect_refusal(p, 5, RG_NOT_CONVEX,
                   "polygon: its edges cross; corners must go round a convex polygon in order");
    for (int i = 0; i < 5; i++)
        p[i] = rg_vec3_make(1, 0, 1);
    expect_refusal(p, 5, RG_DEGENERATE_GEOMETRY, "polygon: smaller than 1e-50 m; must be larger");
    rg_error error;
    rg_shape *shape;
    for (int i = 0; i < 5; i++)
        p[i] = rg_vec3_make(i, 0, i);
    assert_int_equal(rg_shape_create_planar_hull(p, 5, NULL, &shape, &error),
                     RG_DEGENERATE_GEOMETRY);
    assert_string_equal(error.text, "polygon: all 5 points lie on one line; a polygon needs area");
    p[0].z = INFINITY;
    assert_int_equal(rg_shape_create_planar_hull(p, 5, NULL, &shape, &error), RG_NOT_FINITE);
    assert_string_equal(error.text, "polygon: point 0 is not finite; must have finite coordinates");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_polygons),       cmocka_unit_test(rectangle_anywhere),
        cmocka_unit_test(superfluous_corners_go), cmocka_unit_test(planar_hulls),
        cmocka_unit_test(bad_polygons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
