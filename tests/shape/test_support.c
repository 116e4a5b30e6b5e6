/* Support functions, bounds and radii of every kind, against brute force. */
#include "shape_helpers.h"

/* One of each bounded convex kind. */
enum { KINDS = 9 };

static rg_vec3 hull_points[40];
static rg_vec3 corners[6] = {{2, 0, 0}, {3, 0, 1}, {2.5, 0, 2}, {1, 0, 2}, {0.5, 0, 1}, {1, 0, 0}};

static void make_kinds(rg_shape *shapes[KINDS]) {
    rg_random random = rg_random_make(5);
    for (int i = 0; i < 40; i++)
        hull_points[i] = rg_add(rg_vec3_make(0.2, -0.3, 0.4), rg_random_direction(&random));
    shapes[0] = make_shape(rg_shape_def_box(1, 2, 3));
    shapes[1] = make_shape(rg_shape_def_sphere(0.7));
    shapes[2] = make_shape(rg_shape_def_capsule(0.3, 1.2));
    shapes[3] = make_shape(rg_shape_def_cylinder(0.4, 0.5));
    shapes[4] = make_shape(rg_shape_def_cone(0.6, 1.1));
    shapes[5] = make_shape(rg_shape_def_ellipsoid(0.3, 0.9, 2.1));
    shapes[6] = make_shape(rg_shape_def_hull(hull_points, 40));
    shapes[7] = make_shape(rg_shape_def_polygon(corners, 6));
    shapes[8] = make_shape(rg_shape_def_disc(0.8));
}

/* Whether p is in the shape, by its definition, with a slack in metres. */
static bool inside(const rg_shape *shape, rg_vec3 p, double slack) {
    rg_shape_def d = rg_shape_get_def(shape);
    double radial = sqrt(p.x * p.x + p.y * p.y), beyond;
    const rg_polyhedron *poly = rg_shape_polyhedron(shape);
    switch (d.kind) {
    case RG_SHAPE_SPHERE:
        return rg_length(p) <= d.radius + slack;
    case RG_SHAPE_CAPSULE:
        beyond = fmax(fabs(p.z) - d.length / 2, 0);
        return sqrt(radial * radial + beyond * beyond) <= d.radius + slack;
    case RG_SHAPE_CYLINDER:
        return radial <= d.radius + slack && fabs(p.z) <= d.length / 2 + slack;
    case RG_SHAPE_CONE:
        return p.z >= -d.length / 4 - slack && radial <= d.radius * (0.75 - p.z / d.length) + slack;
    case RG_SHAPE_ELLIPSOID:
        return sqrt(p.x * p.x / (d.size.x * d.size.x) + p.y * p.y / (d.size.y * d.size.y) +
                    p.z * p.z / (d.size.z * d.size.z)) <= 1 + slack;
    case RG_SHAPE_DISC:
        return p.y == 0 && rg_length(p) <= d.radius + slack;
    default:
        for (uint32_t f = 0; f < poly->facet_count; f++)
            if (rg_dot(poly->normals[f], rg_sub(p, poly->centre)) > poly->offsets[f] + slack)
                return false;
        return d.kind != RG_SHAPE_POLYGON || p.y == 0;
    }
}

/* The support point is in the shape, and no point of a sample of the shape is farther. */
static void support_of_every_kind(void **state) {
    (void)state;
    rg_shape *shapes[KINDS];
    make_kinds(shapes);
    rg_random random = rg_random_make(6);
    for (int k = 0; k < KINDS; k++) {
        enum { SAMPLES = 400 };
        rg_vec3 sample[SAMPLES];
        double reach = rg_shape_circumradius(shapes[k]);
        for (int i = 0; i < SAMPLES;) {
            rg_vec3 p = {rg_random_between(&random, -1, 1), rg_random_between(&random, -1, 1),
                         rg_random_between(&random, -1, 1)};
            p = rg_add_scaled(rg_shape_centre(shapes[k]), reach, p);
            if (rg_shape_is_planar(shapes[k]))
                p.y = 0;
            if (inside(shapes[k], p, 0))
                sample[i++] = p;
        }
        uint32_t hint = 0;
        for (int trial = 0; trial < 500; trial++) {
            rg_vec3 d = rg_scale(trial % 3 == 0   ? 1e200
                                 : trial % 3 == 1 ? 1e-200
                                                  : 1,
                                 rg_random_direction(&random));
            rg_vec3 s = rg_shape_support(shapes[k], d, trial % 2 ? &hint : NULL);
            assert_true(inside(shapes[k], s, 1e-14));
            rg_vec3 unit = rg_normalised(d);
            for (int i = 0; i < SAMPLES; i++)
                assert_true(rg_dot(unit, sample[i]) <= rg_dot(unit, s) + 1e-14);
            /* the supporting plane touches: a little beyond it there is nothing of the shape */
            assert_false(inside(shapes[k], rg_add_scaled(s, 1e-6, unit), 0));
        }
        rg_shape_release(shapes[k]);
    }
}

static uint32_t brute_force(const rg_polyhedron *p, rg_vec3 d) {
    uint32_t best = 0;
    for (uint32_t v = 1; v < p->vertex_count; v++)
        if (rg_dot(d, rg_sub(p->vertices[v], p->centre)) >
            rg_dot(d, rg_sub(p->vertices[best], p->centre)))
            best = v;
    return best;
}

static void check_against_brute_force(const rg_shape *shape, rg_vec3 d, rg_random *random) {
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    uint32_t best = brute_force(p, d);
    double top = rg_dot(d, rg_sub(p->vertices[best], p->centre));
    uint32_t hints[4] = {0, (uint32_t)rg_random_below(random, p->vertex_count), p->vertex_count,
                         UINT32_MAX};
    for (int i = 0; i < 4; i++) {
        rg_vec3 s = rg_shape_support(shape, d, &hints[i]);
        assert_true(hints[i] < p->vertex_count);
        assert_memory_equal(&s, &p->vertices[hints[i]], sizeof s);
        assert_true(rg_dot(d, rg_sub(s, p->centre)) >=
                    top - 1e-14 * rg_length(d) * rg_shape_circumradius(shape));
    }
}

static void climbing_on_big_hulls(void **state) {
    (void)state;
    rg_random random = rg_random_make(8);
    static rg_vec3 points[3000];
    for (int kind = 0; kind < 4; kind++) {
        size_t count = kind == 3 ? 800 : 3000;
        for (size_t i = 0; i < count; i++) {
            double s, c;
            switch (kind) {
            case 0: /* a sphere far from the origin */
                points[i] = rg_add(rg_vec3_make(1e5, 0, -1e5), rg_random_direction(&random));
                break;
            case 1: /* a needle */
                points[i] = rg_times(rg_vec3_make(1, 1e-3, 1e-3), rg_random_direction(&random));
                break;
            case 2: /* a prism whose caps have 1500 corners each */
                rg_sin_cos(2 * RG_PI * (double)(i / 2) / 1500, &s, &c);
                points[i] = rg_vec3_make(c, s, i % 2 ? 0.5 : -0.5);
                break;
            default: /* a prism, tilted */
                rg_sin_cos(2 * RG_PI * (double)(i / 2) / 400, &s, &c);
                points[i] = rg_rotate(rg_quat_normalised((rg_quat){1, 2, 3, 4}),
                                      rg_vec3_make(c, s, i % 2 ? 0.5 : -0.5));
            }
        }
        rg_shape *shape = make_shape(rg_shape_def_hull(points, count));
        const rg_polyhedron *p = rg_shape_polyhedron(shape);
        assert_true(p->vertex_count > 500);
        for (int trial = 0; trial < 2000; trial++)
            check_against_brute_force(shape, rg_random_direction(&random), &random);
        for (uint32_t f = 0; f < p->facet_count; f += 7) /* plateaus: along the normals */
            check_against_brute_force(shape, p->normals[f], &random);
        for (uint32_t e = 0; e < p->edge_count; e += 7)
            check_against_brute_force(
                shape,
                rg_add(p->normals[p->edge_facets[2 * e]], p->normals[p->edge_facets[2 * e + 1]]),
                &random);
        rg_shape_release(shape);
    }
}

/* Integer coordinates and directions, centred at the origin: every value is exact, so ties are
 * exact, and the lowest vertex must win from every hint. */
static void exact_ties(void **state) {
    (void)state;
    enum { SIDE = 12 };
    rg_vec3 points[400];
    size_t count = 0;
    /* all integer points of the octahedron-like solid |x| + |y| + |z| = SIDE, its facets plane */
    for (int x = -SIDE; x <= SIDE; x++)
        for (int y = -SIDE; y <= SIDE; y++) {
            int z = SIDE - abs(x) - abs(y);
            if (z < 0 || count + 2 > 400)
                continue;
            if ((abs(x) + abs(y)) % 4 == 0) {
                points[count++] = rg_vec3_make(x, y, z);
                points[count++] = rg_vec3_make(x, y, -z);
            }
        }
    rg_shape *octahedron = make_shape(rg_shape_def_hull(points, count));
    assert_int_equal(rg_shape_polyhedron(octahedron)->vertex_count, 6);
    rg_shape_release(octahedron);
    /* a ball of integer points: hundreds of vertices, many coplanar */
    static rg_vec3 ball[20000];
    count = 0;
    for (int x = -15; x <= 15; x++)
        for (int y = -15; y <= 15; y++)
            for (int z = -15; z <= 15; z++)
                if (x * x + y * y + z * z <= 230)
                    ball[count++] = rg_vec3_make(x, y, z);
    rg_shape *shape = make_shape(rg_shape_def_hull(ball, count));
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    assert_true(p->vertex_count > 100);
    assert_true(rg_length(p->centre) < 1e-14);
    rg_random random = rg_random_make(9);
    for (int x = -3; x <= 3; x++)
        for (int y = -3; y <= 3; y++)
            for (int z = -3; z <= 3; z++) {
                if (!x && !y && !z)
                    continue;
                rg_vec3 d = {x, y, z};
                uint32_t best = 0;
                for (uint32_t v = 1; v < p->vertex_count; v++)
                    if (rg_dot(d, p->vertices[v]) > rg_dot(d, p->vertices[best]))
                        best = v;
                for (int i = 0; i < 50; i++) {
                    uint32_t hint = (uint32_t)rg_random_below(&random, p->vertex_count);
                    rg_vec3 s = rg_shape_support(shape, d, &hint);
                    assert_true(rg_dot(d, s) == rg_dot(d, p->vertices[best]));
                    if (p->centre.x == 0 && p->centre.y == 0 && p->centre.z == 0)
                        assert_int_equal(hint, best);
                }
            }
    rg_shape_release(shape);
}

static double component(rg_vec3 v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

/* Closed forms along axis i, with the shape's axis a = R e_z and n = R e_y: from the position up
 * and down. */
static void reach_of(const rg_shape_def *d, rg_quat orientation, int i, double *up, double *down) {
    double a = component(rg_rotate(orientation, rg_vec3_make(0, 0, 1)), i);
    double n = component(rg_rotate(orientation, rg_vec3_make(0, 1, 0)), i);
    double rim = sqrt(fmax(0, 1 - a * a));
    rg_mat3 r = rg_mat3_of_quat(orientation);
    switch (d->kind) {
    case RG_SHAPE_SPHERE:
        *up = *down = d->radius;
        break;
    case RG_SHAPE_CAPSULE:
        *up = *down = d->radius + fabs(a) * d->length / 2;
        break;
    case RG_SHAPE_CYLINDER:
        *up = *down = d->radius * rim + fabs(a) * d->length / 2;
        break;
    case RG_SHAPE_CONE:
        *up = fmax(0.75 * a * d->length, d->radius * rim - 0.25 * a * d->length);
        *down = fmax(-0.75 * a * d->length, d->radius * rim + 0.25 * a * d->length);
        break;
    case RG_SHAPE_ELLIPSOID:
        *up = *down = rg_length(
            rg_vec3_make(r.m[i][0] * d->size.x, r.m[i][1] * d->size.y, r.m[i][2] * d->size.z));
        break;
    default: /* disc */
        *up = *down = d->radius * sqrt(fmax(0, 1 - n * n));
    }
}

static rg_bounds expected_bounds(const rg_shape *shape, rg_pose pose) {
    rg_bounds expected = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    rg_shape_def d = rg_shape_get_def(shape);
    for (uint32_t v = 0; p && v < p->vertex_count; v++) {
        rg_vec3 w = rg_pose_apply(pose, p->vertices[v]);
        expected.lower = rg_min(expected.lower, w);
        expected.upper = rg_max(expected.upper, w);
    }
    for (int i = 0; !p && i < 3; i++) {
        double up, down;
        reach_of(&d, pose.orientation, i, &up, &down);
        (&expected.upper.x)[i] = (&pose.position.x)[i] + up;
        (&expected.lower.x)[i] = (&pose.position.x)[i] - down;
    }
    return expected;
}

static void bounds_are_tight(void **state) {
    (void)state;
    rg_shape *shapes[KINDS];
    make_kinds(shapes);
    rg_random random = rg_random_make(10);
    for (int k = 0; k < KINDS; k++) {
        for (int trial = 0; trial < 200; trial++) {
            rg_pose pose = random_pose(&random, 5);
            rg_bounds b = rg_shape_bounds(shapes[k], pose);
            rg_bounds expected = expected_bounds(shapes[k], pose);
            for (int i = 0; i < 3; i++) {
                /* near the poles sqrt(1 - a^2) of the closed forms has lost half of its digits */
                assert_near((&b.lower.x)[i], (&expected.lower.x)[i], 2e-13);
                assert_near((&b.upper.x)[i], (&expected.upper.x)[i], 2e-13);
            }
        }
        rg_shape_release(shapes[k]);
    }
}

static void halfspace_bounds(void **state) {
    (void)state;
    rg_shape *floor_shape = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 5), 2));
    assert_true(rg_shape_get_def(floor_shape).normal.z == 1);
    rg_bounds b = rg_shape_bounds(floor_shape, (rg_pose){{1, 2, 3}, {0, 0, 0, 1}});
    assert_true(b.upper.z == 5 && b.lower.z == -INFINITY && b.upper.x == INFINITY);
    assert_true(b.lower.x == -INFINITY && b.lower.y == -INFINITY && b.upper.y == INFINITY);
    b = rg_shape_bounds(floor_shape, (rg_pose){{1, 2, 3}, {1, 0, 0, 0}}); /* upside down */
    assert_true(b.lower.z == 1 && b.upper.z == INFINITY);
    b = rg_shape_bounds(floor_shape, (rg_pose){{0, 0, 0}, {0.1, 0, 0, sqrt(0.99)}});
    assert_true(b.upper.z == INFINITY && b.lower.z == -INFINITY && b.upper.y == INFINITY);
    assert_true(rg_shape_volume(floor_shape) == INFINITY);
    assert_true(rg_shape_circumradius(floor_shape) == INFINITY);
    assert_false(rg_shape_is_bounded(floor_shape));
    assert_null(rg_shape_polyhedron(floor_shape));
    rg_shape_release(floor_shape);
}

/* Balls of the two radii about the centre: the inner touches but does not cross the surface, the
 * outer holds all. Checked through the support function: the inradius is the least support value
 * about the centre, the circumradius the largest distance of a support point. */
static void radii(void **state) {
    (void)state;
    rg_shape *shapes[KINDS];
    make_kinds(shapes);
    rg_random random = rg_random_make(21);
    for (int k = 0; k < KINDS; k++) {
        double least = INFINITY, most = 0;
        rg_vec3 c = rg_shape_centre(shapes[k]);
        assert_true(inside(shapes[k], c, 0));
        for (int trial = 0; trial < 100000; trial++) {
            rg_vec3 d = rg_random_direction(&random);
            if (rg_shape_is_planar(shapes[k]))
                d = rg_normalised(rg_vec3_make(d.x, 0, d.z));
            rg_vec3 s = rg_sub(rg_shape_support(shapes[k], d, NULL), c);
            least = fmin(least, rg_dot(d, s));
            most = fmax(most, rg_length(s));
        }
        double in = rg_shape_inradius(shapes[k]), out = rg_shape_circumradius(shapes[k]);
        assert_true(in <= least + 1e-14 && in > 0.95 * least);
        assert_true(out >= most - 1e-14 && out < 1.01 * most);
        rg_shape_release(shapes[k]);
    }
}

static void box_polyhedron(void **state) {
    (void)state;
    rg_shape *box = make_shape(rg_shape_def_box(1, 2, 3));
    const rg_polyhedron *p = rg_shape_polyhedron(box);
    check_polyhedron(p, 3);
    assert_int_equal(p->vertex_count, 8);
    assert_int_equal(p->edge_count, 12);
    assert_int_equal(p->facet_count, 6);
    for (uint32_t f = 0; f < 6; f++) { /* exact normals and offsets */
        rg_vec3 n = p->normals[f];
        assert_true(fabs(n.x) + fabs(n.y) + fabs(n.z) == 1);
        assert_true(p->offsets[f] == fabs(n.x) * 0.5 + fabs(n.y) * 1 + fabs(n.z) * 1.5);
    }
    /* the same as the hull of its corners */
    rg_shape *hull = make_shape(rg_shape_def_hull(p->vertices, 8));
    const rg_polyhedron *q = rg_shape_polyhedron(hull);
    assert_memory_equal(p->vertices, q->vertices, 8 * sizeof *p->vertices);
    assert_memory_equal(p->facet_vertices, q->facet_vertices, 24 * sizeof(uint32_t));
    assert_memory_equal(p->edge_vertices, q->edge_vertices, 24 * sizeof(uint32_t));
    assert_memory_equal(p->edge_facets, q->edge_facets, 24 * sizeof(uint32_t));
    assert_memory_equal(p->vertex_neighbours, q->vertex_neighbours, 24 * sizeof(uint32_t));
    rg_shape_release(hull);
    rg_shape_release(box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(support_of_every_kind),
        cmocka_unit_test(climbing_on_big_hulls),
        cmocka_unit_test(exact_ties),
        cmocka_unit_test(bounds_are_tight),
        cmocka_unit_test(halfspace_bounds),
        cmocka_unit_test(radii),
        cmocka_unit_test(box_polyhedron),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
