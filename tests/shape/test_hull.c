/* Hulls: invariants on random and on awkward points. */
#include "shape_helpers.h"

/* All points inside all facets, the polyhedron consistent, radii right, mass as computed otherwise.
 */
static void check_hull(const rg_shape *shape, const rg_vec3 *points, size_t count, double size) {
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    check_polyhedron(p, size);
    double inradius = INFINITY, circumradius = 0;
    for (uint32_t f = 0; f < p->facet_count; f++) {
        inradius = fmin(inradius, p->offsets[f]);
        for (uint32_t v = 0; v < p->vertex_count; v++)
            assert_true(rg_dot(p->normals[f], rg_sub(p->vertices[v], p->centre)) <=
                        p->offsets[f] + 1e-15 * size);
    }
    size_t stride = 1 + count * (size_t)p->facet_count / 20000000;
    for (size_t i = 0; i < count; i += stride)
        for (uint32_t f = 0; f < p->facet_count; f++)
            assert_true(rg_dot(p->normals[f], rg_sub(points[i], p->centre)) <=
                        p->offsets[f] + 2e-11 * size);
    for (uint32_t v = 0; v < p->vertex_count; v++)
        circumradius = fmax(circumradius, rg_length(rg_sub(p->vertices[v], p->centre)));
    assert_near(rg_shape_inradius(shape), inradius, 0);
    assert_near(rg_shape_circumradius(shape), circumradius, 0);
    assert_near(rg_shape_volume(shape) / reference_mass_of_polyhedron(p).mass, 1, 1e-12);
}

static void check_counts(const rg_shape *shape, uint32_t vertices, uint32_t edges,
                         uint32_t facets) {
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    assert_int_equal(p->vertex_count, vertices);
    assert_int_equal(p->edge_count, edges);
    assert_int_equal(p->facet_count, facets);
}

static void random_points(void **state) {
    (void)state;
    rg_random random = rg_random_make(11);
    static rg_vec3 points[500];
    for (int trial = 0; trial < 300; trial++) {
        size_t count = 4 + rg_random_below(&random, trial % 10 == 0 ? 496 : 60);
        double size = trial % 3 == 0 ? 1e-6 : trial % 3 == 1 ? 1 : 1e6;
        rg_vec3 stretch = {1, rg_random_between(&random, 0.01, 1),
                           rg_random_between(&random, 0.01, 1)};
        rg_quat turn = rg_random_rotation(&random);
        for (size_t i = 0; i < count; i++) {
            rg_vec3 d = rg_random_direction(&random);
            if (trial % 2)
                d = rg_scale(rg_random_unit(&random), d);
            points[i] = rg_scale(size, rg_rotate(turn, rg_times(stretch, d)));
        }
        rg_shape *shape = make_shape(rg_shape_def_hull(points, count));
        check_hull(shape, points, count, size);
        rg_shape_release(shape);
    }
}

/* Points on a coarse integer grid: many coplanar, collinear and equal ones. */
static void grid_points(void **state) {
    (void)state;
    rg_random random = rg_random_make(12);
    rg_vec3 points[60];
    int made = 0;
    for (int trial = 0; trial < 500; trial++) {
        size_t count = 6 + rg_random_below(&random, 54);
        uint64_t side = 2 + rg_random_below(&random, 4);
        for (size_t i = 0; i < count; i++)
            points[i] = rg_vec3_make((double)rg_random_below(&random, side),
                                     (double)rg_random_below(&random, side),
                                     (double)rg_random_below(&random, side));
        rg_shape_def def = rg_shape_def_hull(points, count);
        rg_shape *shape;
        rg_status status = rg_shape_create(&def, NULL, &shape, NULL);
        if (status == RG_OK) {
            made++;
            check_hull(shape, points, count, (double)side);
            /* all coplanar facets are merged: neighbours have different normals */
            const rg_polyhedron *p = rg_shape_polyhedron(shape);
            for (uint32_t e = 0; e < p->edge_count; e++)
                assert_true(rg_dot(p->normals[p->edge_facets[2 * e]],
                                   p->normals[p->edge_facets[2 * e + 1]]) < 1 - 1e-9);
            rg_shape_release(shape);
        } else
            assert_int_equal(status, RG_DEGENERATE_GEOMETRY);
    }
    assert_true(made > 450);
}

/* A cube full of points on its faces, edges and inside, turned so that rounding disturbs them. */
static void cube_with_many_coplanar_points(void **state) {
    (void)state;
    rg_random random = rg_random_make(13);
    static rg_vec3 points[7 * 7 * 7];
    for (int trial = 0; trial < 50; trial++) {
        rg_pose pose = random_pose(&random, trial ? 10 : 0);
        if (trial == 0)
            pose = rg_pose_identity();
        size_t count = 0;
        for (int i = 0; i < 7; i++)
            for (int j = 0; j < 7; j++)
                for (int k = 0; k < 7; k++)
                    points[count++] = rg_pose_apply(pose, rg_vec3_make(i / 6.0, j / 6.0, k / 6.0));
        rg_shape *shape = make_shape(rg_shape_def_hull(points, count));
        check_counts(shape, 8, 12, 6);
        check_hull(shape, points, count, 1);
        assert_near(rg_shape_volume(shape), 1, 1e-13);
        assert_near(rg_shape_inradius(shape), 0.5, 1e-13);
        rg_shape_release(shape);
    }
}

/* Coordinates as a file with twelve digits would have them. */
static void nearly_coplanar_points(void **state) {
    (void)state;
    rg_random random = rg_random_make(14);
    rg_vec3 points[200];
    for (int trial = 0; trial < 50; trial++) {
        rg_quat turn = rg_random_rotation(&random);
        for (int i = 0; i < 200; i++) {
            double angle = 2 * RG_PI * (i / 2) / 100, s, c;
            rg_sin_cos(angle, &s, &c);
            rg_vec3 p = rg_rotate(turn, rg_vec3_make(c, s, i % 2 ? 0.5 : -0.5));
            points[i] = rg_vec3_make(floor(p.x * 1e12 + 0.5) / 1e12, floor(p.y * 1e12 + 0.5) / 1e12,
                                     floor(p.z * 1e12 + 0.5) / 1e12);
        }
        rg_shape *shape = make_shape(rg_shape_def_hull(points, 200));
        check_counts(shape, 200, 300, 102); /* a prism: two caps of 100 corners, 100 sides */
        check_hull(shape, points, 200, 2);
        rg_shape_release(shape);
    }
}

/* Clusters of points nearer to each other than the tolerance. */
static void nearly_equal_points(void **state) {
    (void)state;
    rg_random random = rg_random_make(15);
    rg_vec3 points[80];
    for (int trial = 0; trial < 200; trial++) {
        double spread = trial % 2 ? 1e-13 : 1e-15;
        for (int i = 0; i < 80; i++) {
            rg_vec3 corner = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
            points[i] = rg_add_scaled(corner, spread, rg_random_direction(&random));
        }
        rg_shape *shape = make_shape(rg_shape_def_hull(points, 80));
        check_counts(shape, 8, 12, 6);
        check_hull(shape, points, 80, 2);
        rg_shape_release(shape);
    }
}

/* Noise of every size on points of faces and edges, single precision among them: a valid hull each
 * time, all points inside, and the climb finds the best vertex in spite of slivers and plateaus. */
static void noisy_cubes_and_prisms(void **state) {
    (void)state;
    rg_random random = rg_random_make(19);
    rg_vec3 points[125];
    double noise = 1e-17;
    for (int trial = 0; trial < 150; trial++) {
        rg_quat turn = rg_random_rotation(&random);
        size_t count = 0;
        noise = trial % 15 ? 10 * noise : 1e-17;
        for (int i = 0; i < 125; i++) {
            rg_vec3 p = {i % 5 / 4.0, i / 5 % 5 / 4.0, i / 25 / 4.0};
            if (trial % 2)
                rg_sin_cos(2 * RG_PI * (i / 5) / 25, &p.x, &p.y);
            if (trial % 4 >= 2)
                p.z *= 1e-4;
            points[count++] =
                rg_add_scaled(rg_rotate(turn, p), noise, rg_random_direction(&random));
        }
        rg_shape *shape = make_shape(rg_shape_def_hull(points, count));
        check_hull(shape, points, count, 2);
        const rg_polyhedron *p = rg_shape_polyhedron(shape);
        for (uint32_t f = 0; f < p->facet_count; f++) {
            uint32_t hint = (uint32_t)rg_random_below(&random, p->vertex_count);
            double best = 0;
            for (uint32_t v = 0; v < p->vertex_count; v++)
                best = fmax(best, rg_dot(p->normals[f], rg_sub(p->vertices[v], p->centre)));
            rg_vec3 found = rg_shape_support(shape, p->normals[f], &hint);
            assert_near(rg_dot(p->normals[f], rg_sub(found, p->centre)), best, 1e-14);
        }
        rg_shape_release(shape);
    }
}

static void sphere_of_10000_points(void **state) {
    (void)state;
    rg_random random = rg_random_make(16);
    rg_vec3 *points = malloc(10000 * sizeof *points);
    for (int i = 0; i < 10000; i++)
        points[i] = rg_random_direction(&random);
    rg_shape *shape = make_shape(rg_shape_def_hull(points, 10000));
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    check_polyhedron(p, 2);
    assert_int_equal(p->vertex_count, 10000);
    assert_int_equal(p->facet_count, 19996);
    assert_near(rg_shape_volume(shape), 4.0 / 3 * RG_PI, 0.01);
    assert_near(rg_shape_circumradius(shape), 1, 0.01);
    assert_true(rg_shape_inradius(shape) > 0.97);
    rg_shape_release(shape);
    free(points);
}

/* Thin plates and needles, down to what is refused. */
static void thin_hulls(void **state) {
    (void)state;
    for (double thickness = 1; thickness > 1e-8; thickness /= 10) {
        rg_shape *box = make_shape(rg_shape_def_box(1, 1, thickness));
        const rg_polyhedron *b = rg_shape_polyhedron(box);
        rg_shape *plate = make_shape(rg_shape_def_hull(b->vertices, 8));
        check_counts(plate, 8, 12, 6);
        assert_near(rg_shape_volume(plate) / thickness, 1, 1e-14);
        assert_near(rg_shape_inradius(plate) / thickness, 0.5, 1e-14);
        rg_shape_release(plate);
        rg_shape_release(box);
        box = make_shape(rg_shape_def_box(1, thickness, thickness));
        b = rg_shape_polyhedron(box);
        rg_shape *needle = make_shape(rg_shape_def_hull(b->vertices, 8));
        check_counts(needle, 8, 12, 6);
        assert_near(rg_shape_volume(needle) / (thickness * thickness), 1, 1e-14);
        rg_shape_release(needle);
        rg_shape_release(box);
    }
}

/* The same polyhedron, bit for bit, whatever the order of the points. */
static void order_does_not_matter(void **state) {
    (void)state;
    rg_random random = rg_random_make(17);
    rg_vec3 points[100];
    for (int i = 0; i < 100; i++)
        points[i] = rg_random_direction(&random);
    rg_shape *first = make_shape(rg_shape_def_hull(points, 100));
    const rg_polyhedron *p = rg_shape_polyhedron(first);
    for (int trial = 0; trial < 20; trial++) {
        for (size_t i = 99; i > 0; i--) {
            size_t j = rg_random_below(&random, i + 1);
            rg_vec3 swap = points[i];
            points[i] = points[j];
            points[j] = swap;
        }
        rg_shape *other = make_shape(rg_shape_def_hull(points, 100));
        const rg_polyhedron *q = rg_shape_polyhedron(other);
        assert_int_equal(p->facet_count, q->facet_count);
        assert_memory_equal(p->vertices, q->vertices, p->vertex_count * sizeof *p->vertices);
        assert_memory_equal(p->normals, q->normals, p->facet_count * sizeof *p->normals);
        assert_memory_equal(p->offsets, q->offsets, p->facet_count * sizeof *p->offsets);
        assert_memory_equal(p->facet_vertices, q->facet_vertices,
                            p->facet_start[p->facet_count] * sizeof *p->facet_vertices);
        assert_memory_equal(p->edge_facets, q->edge_facets,
                            2 * p->edge_count * sizeof *p->edge_facets);
        rg_shape_release(other);
    }
    /* canonical: vertices sorted, loops from their lowest vertex, facets and edges sorted */
    for (uint32_t v = 1; v < p->vertex_count; v++)
        assert_true(p->vertices[v - 1].x < p->vertices[v].x);
    for (uint32_t f = 0; f < p->facet_count; f++)
        for (uint32_t k = p->facet_start[f]; k < p->facet_start[f + 1]; k++)
            assert_true(p->facet_vertices[k] >= p->facet_vertices[p->facet_start[f]]);
    for (uint32_t e = 1; e < p->edge_count; e++)
        assert_true(p->edge_vertices[2 * e - 2] < p->edge_vertices[2 * e] ||
                    (p->edge_vertices[2 * e - 2] == p->edge_vertices[2 * e] &&
                     p->edge_vertices[2 * e - 1] < p->edge_vertices[2 * e + 1]));
    rg_shape_release(first);
}

/* The centroid is well inside: at least half of the best inradius, which for a simplex is 3 V / S.
 */
static void centre_is_well_inside(void **state) {
    (void)state;
    rg_random random = rg_random_make(18);
    for (int trial = 0; trial < 1000; trial++) {
        rg_vec3 points[4];
        for (int i = 0; i < 4; i++)
            points[i] = rg_times(rg_vec3_make(1, 0.2, 0.05), rg_random_direction(&random));
        rg_shape_def def = rg_shape_def_hull(points, 4);
        rg_shape *shape = make_shape(def);
        const rg_polyhedron *p = rg_shape_polyhedron(shape);
        double surface = 0;
        for (uint32_t f = 0; f < 4; f++) {
            const uint32_t *v = p->facet_vertices + 3 * f;
            surface += 0.5 * rg_length(rg_cross(rg_sub(p->vertices[v[1]], p->vertices[v[0]]),
                                                rg_sub(p->vertices[v[2]], p->vertices[v[0]])));
        }
        assert_true(rg_shape_inradius(shape) >= 0.5 * 3 * rg_shape_volume(shape) / surface);
        rg_shape_release(shape);
    }
}

static void expect_refusal(const rg_vec3 *points, size_t count, rg_status status,
                           const char *text) {
    rg_error error;
    rg_shape_def def = rg_shape_def_hull(points, count);
    rg_shape *shape = (rg_shape *)&def;
    assert_int_equal(rg_shape_create(&def, NULL, &shape, &error), status);
    assert_null(shape);
    assert_int_equal(error.status, status);
    assert_string_equal(error.text, text);
}

static void bad_points(void **state) {
    (void)state;
    rg_vec3 p[8];
    for (int i = 0; i < 8; i++)
        p[i] = rg_vec3_make(i % 3, i, i * i % 5);
    expect_refusal(NULL, 0, RG_DEGENERATE_GEOMETRY,
                   "hull: 0 points; must be at least 4 that are not in one plane");
    expect_refusal(p, 3, RG_DEGENERATE_GEOMETRY,
                   "hull: 3 points; must be at least 4 that are not in one plane");
    expect_refusal(p, 10000001, RG_LIMIT_EXCEEDED,
                   "hull: 10000001 points; must be at most 10000000");
    p[5].y = NAN;
    expect_refusal(p, 8, RG_NOT_FINITE,
                   "hull: point 5 has the coordinate nan; must be a finite number");
    p[5].y = -INFINITY;
    expect_refusal(p, 8, RG_NOT_FINITE,
                   "hull: point 5 has the coordinate -inf; must be a finite number");
    p[5].y = 1e60;
    expect_refusal(p, 8, RG_INVALID_SIZE,
                   "hull: point 5 has the coordinate 1e60; must be at most 1e50 m");
    for (int i = 0; i < 8; i++)
        p[i] = rg_vec3_make(0.1 * i, 0.7 * (i & 1), 0.1 * i);
    expect_refusal(p, 8, RG_DEGENERATE_GEOMETRY,
                   "hull: all 8 points lie in one plane; a hull needs volume");
    for (int i = 0; i < 8; i++)
        p[i] = rg_vec3_make(0.1 * i, 0.7 * i, 0.3 * i);
    expect_refusal(p, 8, RG_DEGENERATE_GEOMETRY,
                   "hull: all 8 points lie on one line; a hull needs volume");
    for (int i = 0; i < 8; i++)
        p[i] = rg_vec3_make(i & 1, 2, 3);
    expect_refusal(p, 8, RG_DEGENERATE_GEOMETRY,
                   "hull: only 2 different points; must be at least 4 that are not in one plane");
    for (int i = 0; i < 8; i++)
        p[i] = rg_vec3_make(1e-60 * (i & 1), 1e-60 * (i & 2), 1e-60 * (i & 4));
    expect_refusal(p, 8, RG_INVALID_SIZE, "hull: smaller than 1e-50 m; must be larger");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_points),
        cmocka_unit_test(grid_points),
        cmocka_unit_test(cube_with_many_coplanar_points),
        cmocka_unit_test(nearly_coplanar_points),
        cmocka_unit_test(nearly_equal_points),
        cmocka_unit_test(noisy_cubes_and_prisms),
        cmocka_unit_test(sphere_of_10000_points),
        cmocka_unit_test(thin_hulls),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(centre_is_well_inside),
        cmocka_unit_test(bad_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
