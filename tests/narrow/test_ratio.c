/* The ratio metric of polyhedra and polygons: closed forms, brute force over all feature pairs, the
 * bounds of Hart & Anitescu's Theorem 2 with the right constants, and a storm of random pairs of
 * all proportions whose every answer must certify itself. RIGOR_LONG=1 multiplies the storm. */
#include "narrow_helpers.h"

#include "shape/shape.h"

#include <stdio.h>

static rg_growth ask(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    rg_growth growth;
    assert_int_equal(rg_growth_between(a, pa, b, pb, NULL, &growth), RG_OK);
    return growth;
}

static double certificate(const rg_growth *g) {
    return rg_max3(g->primal_error, g->dual_error, g->duality_gap);
}

/* ------------------------------------------------------------------ closed forms */

static void aligned_boxes(void **state) {
    (void)state;
    rg_random random = rg_random_make(51);
    for (int i = 0; i < 2000; i++) {
        double p[3], q[3], d[3], expected = 0;
        for (int k = 0; k < 3; k++) {
            p[k] = rg_random_between(&random, 0.1, 2);
            q[k] = rg_random_between(&random, 0.1, 2);
            d[k] = rg_random_between(&random, -3, 3);
            expected = fmax(expected, fabs(d[k]) / (p[k] + q[k]));
        }
        rg_shape *boxes[2][2] = {
            {make_shape(rg_shape_def_box(2 * p[0], 2 * p[1], 2 * p[2])),
             make_shape(rg_shape_def_box(2 * q[0], 2 * q[1], 2 * q[2]))},
            {box_as_hull(2 * p[0], 2 * p[1], 2 * p[2]), box_as_hull(2 * q[0], 2 * q[1], 2 * q[2])}};
        rg_pose there = {{d[0], d[1], d[2]}, rg_quat_identity()};
        for (int s = 0; s < 2; s++)
            for (int t = 0; t < 2; t++) {
                rg_growth g = ask(boxes[s][0], rg_pose_identity(), boxes[t][1], there);
                assert_near(g.ratio, expected, 1e-14 * expected);
                assert_near(g.rho, (expected - 1) / expected, 1e-13 * (1 + fabs(g.rho)));
                assert_true(certificate(&g) <= 1e-13);
            }
        for (int s = 0; s < 4; s++)
            rg_shape_release(boxes[s / 2][s % 2]);
    }
}

/* Squares of half-side 1, one turned by 45 degrees, 3 apart: h = 1 + sqrt 2. */
static void turned_squares(void **state) {
    (void)state;
    rg_vec3 corners[4] = {{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}};
    rg_shape *square = make_shape(rg_shape_def_polygon(corners, 4));
    rg_growth g = ask(square, rg_pose_identity(), square, planar_pose(3, 0, RG_PI / 4));
    assert_near(g.ratio, 3 / (1 + sqrt(2)), 1e-15);
    assert_near(g.ratio, 1.2426407, 5e-8);
    assert_near(g.rho, 0.1952621, 5e-8);
    assert_near(g.normal.x, 1, 1e-15);
    assert_near(g.gap, 3 - 1 - sqrt(2), 1e-14);
    assert_int_equal(g.features.kind, RG_FEATURES_FACE_VERTEX);
    rg_shape_release(square);
    /* the same with cubes, turned about y: in space the corner is an edge */
    rg_shape *cube = make_shape(rg_shape_def_box(2, 2, 2));
    g = ask(cube, rg_pose_identity(), cube, planar_pose(3, 0, RG_PI / 4));
    assert_near(g.ratio, 1.2426407, 5e-8);
    rg_shape_release(cube);
}

/* P(x, t): grown by t about the centre. Bodies grown by their own ratio touch: the ratio of the
 * grown is r / t; below 1 they overlap, above they do not. */
static void grown_bodies_touch(void **state) {
    (void)state;
    rg_random random = rg_random_make(50);
    for (int i = 0; i < 300; i++) {
        rg_vec3 points[2][12];
        rg_shape *shapes[2], *grown[2];
        for (int s = 0; s < 2; s++) {
            for (int k = 0; k < 12; k++)
                points[s][k] = rg_random_direction(&random);
            shapes[s] = make_shape(rg_shape_def_hull(points[s], 12));
        }
        rg_pose poses[2] = {random_pose(&random, 2), random_pose(&random, 2)};
        rg_growth g = ask(shapes[0], poses[0], shapes[1], poses[1]);
        for (int s = 0; s < 2; s++) {
            rg_vec3 centre = rg_shape_centre(shapes[s]);
            for (int k = 0; k < 12; k++) {
                points[s][k] = rg_add_scaled(centre, g.ratio, rg_sub(points[s][k], centre));
                /* vertices at g.ratio times their distance from the centre: nested if above 1 */
            }
            grown[s] = make_shape(rg_shape_def_hull(points[s], 12));
            assert_near(rg_shape_circumradius(grown[s]), g.ratio * rg_shape_circumradius(shapes[s]),
                        1e-12 * g.ratio);
        }
        rg_growth one = ask(grown[0], poses[0], grown[1], poses[1]);
        assert_near(one.ratio, 1, 1e-12);
        assert_near(one.gap, 0, 1e-11 * one.width);
        for (int s = 0; s < 2; s++) {
            rg_shape_release(shapes[s]);
            rg_shape_release(grown[s]);
        }
    }
}

/* ------------------------------------------------------------------ brute force */

typedef struct half_spaces {
    uint32_t count;
    rg_vec3 a[16];
    double b[16];
} half_spaces;

static half_spaces facets_of(const rg_shape *shape, rg_pose pose) {
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    half_spaces h = {.count = p->facet_count};
    assert_true(p->facet_count <= 16);
    for (uint32_t f = 0; f < p->facet_count; f++) {
        h.a[f] = rg_rotate(pose.orientation, p->normals[f]);
        h.b[f] = p->offsets[f];
    }
    return h;
}

#define SIGN_SLACK -1e-12

/* Three facets of `one`, one of `two`: -a in the cone of the three. `sign` turns N to body 1. */
static double three_and_one(const half_spaces *one, const half_spaces *two, rg_vec3 d,
                            double sign) {
    double best = -INFINITY;
    for (uint32_t i = 0; i < one->count; i++)
        for (uint32_t j = i + 1; j < one->count; j++)
            for (uint32_t k = j + 1; k < one->count; k++) {
                rg_vec3 jk = rg_cross(one->a[j], one->a[k]), ki = rg_cross(one->a[k], one->a[i]),
                        ij = rg_cross(one->a[i], one->a[j]);
                double det = rg_dot(one->a[i], jk);
                if (fabs(det) < 1e-12)
                    continue;
                for (uint32_t m = 0; m < two->count; m++) {
                    rg_vec3 n = rg_neg(two->a[m]);
                    double l0 = rg_dot(n, jk) / det, l1 = rg_dot(n, ki) / det,
                           l2 = rg_dot(n, ij) / det;
                    if (l0 < SIGN_SLACK || l1 < SIGN_SLACK || l2 < SIGN_SLACK)
                        continue;
                    double h = l0 * one->b[i] + l1 * one->b[j] + l2 * one->b[k] + two->b[m];
                    best = fmax(best, sign * rg_dot(n, d) / h);
                }
            }
    return best;
}

/* Two and two: N on the line where both pairs' planes meet. */
static double two_and_two(const half_spaces *one, const half_spaces *two, rg_vec3 d) {
    double best = -INFINITY;
    for (uint32_t i = 0; i < one->count; i++)
        for (uint32_t j = i + 1; j < one->count; j++) {
            rg_vec3 u = rg_cross(one->a[i], one->a[j]);
            double uu = rg_length_squared(u);
            if (uu < 1e-24)
                continue;
            for (uint32_t k = 0; k < two->count; k++)
                for (uint32_t m = k + 1; m < two->count; m++) {
                    rg_vec3 v = rg_cross(two->a[k], two->a[m]), n = rg_cross(u, v);
                    double vv = rg_length_squared(v), nn = rg_length_squared(n);
                    if (vv < 1e-24 || nn < 1e-20 * uu * vv)
                        continue;
                    n = rg_scale(1 / sqrt(nn), n);
                    double l0 = rg_dot(rg_cross(n, one->a[j]), u) / uu,
                           l1 = rg_dot(rg_cross(one->a[i], n), u) / uu,
                           l2 = -rg_dot(rg_cross(n, two->a[m]), v) / vv,
                           l3 = -rg_dot(rg_cross(two->a[k], n), v) / vv;
                    double sign = l0 + l1 < 0 ? -1 : 1;
                    if (sign * l0 < SIGN_SLACK || sign * l1 < SIGN_SLACK ||
                        sign * l2 < SIGN_SLACK || sign * l3 < SIGN_SLACK)
                        continue;
                    double h = l0 * one->b[i] + l1 * one->b[j] + l2 * two->b[k] + l3 * two->b[m];
                    best = fmax(best, rg_dot(n, d) / h); /* the sign cancels */
                }
        }
    return best;
}

static double brute_force(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    half_spaces one = facets_of(a, pa), two = facets_of(b, pb);
    rg_vec3 d = rg_sub(world_centre(b, pb), world_centre(a, pa));
    return fmax(fmax(three_and_one(&one, &two, d, 1), three_and_one(&two, &one, d, -1)),
                two_and_two(&one, &two, d));
}

/* In the plane: two and one. */
static double brute_force_planar(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    half_spaces sides[2] = {facets_of(a, pa), facets_of(b, pb)};
    rg_vec3 d = rg_sub(world_centre(b, pb), world_centre(a, pa));
    double best = -INFINITY;
    for (int s = 0; s < 2; s++) {
        const half_spaces *one = &sides[s], *two = &sides[1 - s];
        for (uint32_t i = 0; i < one->count; i++)
            for (uint32_t j = i + 1; j < one->count; j++) {
                rg_vec3 u = one->a[i], v = one->a[j];
                double det = u.x * v.z - u.z * v.x;
                if (fabs(det) < 1e-12)
                    continue;
                for (uint32_t m = 0; m < two->count; m++) {
                    rg_vec3 n = rg_neg(two->a[m]);
                    double l0 = (n.x * v.z - n.z * v.x) / det, l1 = (u.x * n.z - u.z * n.x) / det;
                    if (l0 < SIGN_SLACK || l1 < SIGN_SLACK)
                        continue;
                    double h = l0 * one->b[i] + l1 * one->b[j] + two->b[m];
                    best = fmax(best, (s ? -1 : 1) * rg_dot(n, d) / h);
                }
            }
    }
    return best;
}

enum { POOL = 40 };

static void brute_force_cubes(void **state) {
    (void)state;
    rg_random random = rg_random_make(55);
    rg_shape *boxes[POOL];
    for (int i = 0; i < POOL; i++) {
        double x = rg_random_between(&random, 0.3, 2), y = rg_random_between(&random, 0.3, 2),
               z = rg_random_between(&random, 0.3, 2);
        boxes[i] = i % 4 == 0   ? make_shape(rg_shape_def_box(1, 1, 1))
                   : i % 4 == 1 ? make_shape(rg_shape_def_box(x, y, z))
                                : box_as_hull(x, y, z);
    }
    for (int i = 0, count = test_cases(40000, 40000); i < count; i++) {
        const rg_shape *a = boxes[rg_random_below(&random, POOL)],
                       *b = boxes[rg_random_below(&random, POOL)];
        rg_pose pa = random_pose(&random, 1.5), pb = random_pose(&random, 1.5);
        if (i % 10 == 0)
            pb.orientation = pa.orientation; /* parallel */
        double expected = brute_force(a, pa, b, pb);
        rg_growth g = ask(a, pa, b, pb);
        assert_near(g.ratio, expected, 1e-12 * expected);
        assert_false(g.fallback);
    }
    for (int i = 0; i < POOL; i++)
        rg_shape_release(boxes[i]);
}

static void brute_force_twelve_facets(void **state) {
    (void)state;
    rg_random random = rg_random_make(12);
    rg_shape *bodies[POOL];
    for (int i = 0; i < POOL; i++) {
        bodies[i] = random_hull(&random, rg_vec3_make(1, 0.8, 0.6), 8);
        assert_int_equal(rg_shape_polyhedron(bodies[i])->facet_count, 12);
    }
    for (int i = 0, count = test_cases(10000, 10000); i < count; i++) {
        const rg_shape *a = bodies[rg_random_below(&random, POOL)],
                       *b = bodies[rg_random_below(&random, POOL)];
        rg_pose pa = random_pose(&random, 1.2), pb = random_pose(&random, 1.2);
        double expected = brute_force(a, pa, b, pb);
        rg_growth g = ask(a, pa, b, pb);
        assert_near(g.ratio, expected, 1e-12 * expected);
    }
    for (int i = 0; i < POOL; i++)
        rg_shape_release(bodies[i]);
}

static void brute_force_polygons(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    rg_shape *bodies[POOL];
    for (int i = 0; i < POOL; i++)
        bodies[i] = random_polygon(&random, rg_random_between(&random, 0.5, 2),
                                   rg_random_between(&random, 0.1, 1), 3 + i % 10);
    for (int i = 0, count = test_cases(50000, 50000); i < count; i++) {
        const rg_shape *a = bodies[rg_random_below(&random, POOL)],
                       *b = bodies[rg_random_below(&random, POOL)];
        rg_pose pa =
            planar_pose(rg_random_between(&random, -2, 2), rg_random_between(&random, -2, 2),
                        rg_random_between(&random, 0, 7));
        rg_pose pb =
            planar_pose(rg_random_between(&random, -2, 2), rg_random_between(&random, -2, 2),
                        rg_random_between(&random, 0, 7));
        if (i % 10 == 0)
            pb.orientation = pa.orientation;
        double expected = brute_force_planar(a, pa, b, pb);
        rg_growth g = ask(a, pa, b, pb);
        assert_near(g.ratio, expected, 1e-12 * expected);
        assert_near(g.normal.y, 0, 0);
        assert_near(g.point.y, 0, 0);
    }
    for (int i = 0; i < POOL; i++)
        rg_shape_release(bodies[i]);
}

/* --------------------------------------------------------------- Theorem 2 of Hart and Anitescu */

static double point_segment_squared(rg_vec3 p, rg_vec3 a, rg_vec3 b) {
    rg_vec3 e = rg_sub(b, a);
    double f = rg_dot(rg_sub(p, a), e) / rg_dot(e, e);
    f = f < 0 ? 0 : f > 1 ? 1 : f;
    return rg_length_squared(rg_sub(p, rg_add_scaled(a, f, e)));
}

static double segments_squared(rg_vec3 a, rg_vec3 b, rg_vec3 c, rg_vec3 e) {
    rg_vec3 u = rg_sub(b, a), v = rg_sub(e, c), w = rg_sub(c, a), n = rg_cross(u, v);
    double nn = rg_length_squared(n);
    if (nn > 0) {
        double s = rg_dot(rg_cross(w, v), n) / nn, t = rg_dot(rg_cross(w, u), n) / nn;
        if (s >= 0 && s <= 1 && t >= 0 && t <= 1) {
            double height = rg_dot(w, n);
            return height * height / nn;
        }
    }
    return fmin(fmin(point_segment_squared(a, c, e), point_segment_squared(b, c, e)),
                fmin(point_segment_squared(c, a, b), point_segment_squared(e, a, b)));
}

static rg_vec3 world_vertex(const rg_shape *shape, rg_pose pose, uint32_t v) {
    return rg_pose_apply(pose, rg_shape_polyhedron(shape)->vertices[v]);
}

/* Vertices of b against faces of a. */
static double vertices_to_faces_squared(const rg_shape *a, rg_pose pa, const rg_shape *b,
                                        rg_pose pb) {
    const rg_polyhedron *p = rg_shape_polyhedron(a), *q = rg_shape_polyhedron(b);
    double best = INFINITY;
    for (uint32_t v = 0; v < q->vertex_count; v++) {
        rg_vec3 at = rg_pose_apply_inverse(pa, world_vertex(b, pb, v));
        for (uint32_t f = 0; f < p->facet_count; f++) {
            double height = rg_dot(p->normals[f], rg_sub(at, p->centre)) - p->offsets[f];
            bool inside = height >= 0;
            for (uint32_t k = p->facet_start[f]; inside && k < p->facet_start[f + 1]; k++) {
                uint32_t next = k + 1 < p->facet_start[f + 1] ? k + 1 : p->facet_start[f];
                rg_vec3 u = p->vertices[p->facet_vertices[k]],
                        w = p->vertices[p->facet_vertices[next]];
                inside = rg_dot(rg_cross(rg_sub(w, u), rg_sub(at, u)), p->normals[f]) >= 0;
            }
            if (inside)
                best = fmin(best, height * height);
        }
    }
    return best;
}

static double distance_by_features(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    const rg_polyhedron *p = rg_shape_polyhedron(a), *q = rg_shape_polyhedron(b);
    double best =
        fmin(vertices_to_faces_squared(a, pa, b, pb), vertices_to_faces_squared(b, pb, a, pa));
    for (uint32_t i = 0; i < p->edge_count; i++)
        for (uint32_t j = 0; j < q->edge_count; j++)
            best = fmin(best, segments_squared(world_vertex(a, pa, p->edge_vertices[2 * i]),
                                               world_vertex(a, pa, p->edge_vertices[2 * i + 1]),
                                               world_vertex(b, pb, q->edge_vertices[2 * j]),
                                               world_vertex(b, pb, q->edge_vertices[2 * j + 1])));
    return sqrt(best);
}

/* min over all facet and edge normals of h(n) - n.d: the depth, negative if the bodies are apart.
 */
static double depth_by_normals(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    const rg_polyhedron *p = rg_shape_polyhedron(a), *q = rg_shape_polyhedron(b);
    rg_vec3 d = rg_sub(world_centre(b, pb), world_centre(a, pa));
    double best = INFINITY;
    for (uint32_t f = 0; f < p->facet_count; f++) {
        rg_vec3 n = rg_rotate(pa.orientation, p->normals[f]);
        best = fmin(best, width_by_scan(a, pa, b, pb, n) - rg_dot(n, d));
    }
    for (uint32_t f = 0; f < q->facet_count; f++) {
        rg_vec3 n = rg_neg(rg_rotate(pb.orientation, q->normals[f]));
        best = fmin(best, width_by_scan(a, pa, b, pb, n) - rg_dot(n, d));
    }
    for (uint32_t i = 0; i < p->edge_count; i++)
        for (uint32_t j = 0; j < q->edge_count; j++) {
            rg_vec3 e1 = rg_rotate(pa.orientation, rg_sub(p->vertices[p->edge_vertices[2 * i + 1]],
                                                          p->vertices[p->edge_vertices[2 * i]]));
            rg_vec3 e2 = rg_rotate(pb.orientation, rg_sub(q->vertices[q->edge_vertices[2 * j + 1]],
                                                          q->vertices[q->edge_vertices[2 * j]]));
            rg_vec3 n = rg_cross(e1, e2);
            if (rg_length(n) < 1e-9)
                continue;
            n = rg_normalised(n);
            if (rg_dot(n, d) < 0)
                n = rg_neg(n);
            best = fmin(best, width_by_scan(a, pa, b, pb, n) - rg_dot(n, d));
        }
    return best;
}

static void theorem_two(void **state) {
    (void)state;
    rg_random random = rg_random_make(53);
    rg_shape *bodies[POOL];
    for (int i = 0; i < POOL; i++)
        bodies[i] = i % 2 ? make_shape(rg_shape_def_box(1, rg_random_between(&random, 0.2, 1),
                                                        rg_random_between(&random, 0.2, 1)))
                          : random_hull(&random, rg_vec3_make(0.8, 0.6, 0.4), 6);
    int apart = 0, deep = 0;
    for (int i = 0, count = test_cases(20000, 20000); i < count; i++) {
        const rg_shape *a = bodies[rg_random_below(&random, POOL)],
                       *b = bodies[rg_random_below(&random, POOL)];
        rg_pose pa = random_pose(&random, 0.6), pb = random_pose(&random, 0.6);
        rg_growth g = ask(a, pa, b, pb);
        double inner = rg_shape_inradius(a) + rg_shape_inradius(b);
        double between = rg_length(rg_sub(world_centre(b, pb), world_centre(a, pa)));
        double slack = 1e-10 * (1 + fabs(g.rho));
        if (g.ratio > 1) {
            double s = distance_by_features(a, pa, b, pb);
            assert_true(g.rho >= s / between - slack && g.rho <= s / inner + slack);
            assert_true(g.gap <= s + 1e-12); /* never more than the distance */
            apart++;
        } else {
            double s = depth_by_normals(a, pa, b, pb);
            assert_true(s >= -1e-12);
            assert_true(g.rho <= -s / between + slack);
            if (s < inner)
                assert_true(g.rho >= -s / (inner - s) - slack);
            assert_true(g.gap <= -s + 1e-12);
            deep++;
        }
    }
    assert_true(apart * test_stride() > 2000 && deep * test_stride() > 2000);
    for (int i = 0; i < POOL; i++)
        rg_shape_release(bodies[i]);
}

/* ------------------------------------------------------------------ storm */

enum { PER_SCALE = 8, SCALES = 13 };

typedef enum proportion {
    ROUND,
    MANY,
    BOX,
    NEEDLE,
    PLATE,
    BRICK,
    PRISM,
    ROUGH,
    POLYGON,
    PROPORTIONS
} proportion;
static const char *const proportion_names[] = {"hull",   "hull of 100", "box",
                                               "needle", "plate",       "brick hull",
                                               "prism",  "rough brick", "polygon"};

/* A regular prism (facets of many corners) or pyramid (a vertex of many edges). */
static rg_shape *regular_body(rg_random *random, double size, bool pyramid) {
    rg_vec3 points[80];
    int sides = 3 + (int)rg_random_below(random, 37), count = 0;
    double height = size * random_scale(random, -1, 0.3);
    for (int i = 0; i < sides; i++) {
        double s, c;
        rg_sin_cos(2 * RG_PI * i / sides, &s, &c);
        points[count++] = rg_vec3_make(size * c, size * s, 0);
        if (!pyramid)
            points[count++] = rg_vec3_make(size * c, size * s, height);
    }
    if (pyramid)
        points[count++] = rg_vec3_make(0, 0, height);
    return make_shape(rg_shape_def_hull(points, (size_t)count));
}

/* Aspect ratios go to 1:1e4. */
/* A brick with points on its faces that are off the plane by less than the hull can tell. */
static rg_shape *rough_brick(rg_random *random, double x, double y, double z) {
    rg_vec3 points[48];
    int count = 0;
    for (; count < 8; count++)
        points[count] = rg_vec3_make(count & 4 ? x : -x, count & 2 ? y : -y, count & 1 ? z : -z);
    for (; count < 48; count++) {
        double at[3] = {rg_random_between(random, -1, 1), rg_random_between(random, -1, 1),
                        rg_random_between(random, -1, 1)};
        at[count % 3] = (count & 1 ? 1 : -1) * (1 + 3e-12 * rg_random_between(random, -1, 1));
        points[count] = rg_vec3_make(x * at[0], y * at[1], z * at[2]);
    }
    return make_shape(rg_shape_def_hull(points, 48));
}

static rg_shape *body_of(rg_random *random, proportion kind, double size) {
    double f = random_scale(random, -4, -1), x = rg_random_between(random, 0.3, 1),
           y = rg_random_between(random, 0.3, 1);
    switch (kind) {
    case ROUND:
        return random_hull(random, rg_vec3_make(size, x * size, y * size),
                           4 + (int)rg_random_below(random, 20));
    case MANY:
        return random_hull(random, rg_vec3_make(size, x * size, y * size), 100);
    case BOX:
        return make_shape(rg_shape_def_box(size, x * size, y * size));
    case NEEDLE:
        return x < 0.6 ? make_shape(rg_shape_def_box(size, f * size, f * y * size))
                       : random_hull(random, rg_vec3_make(size, f * size, f * y * size), 16);
    case PLATE:
        return x < 0.6 ? make_shape(rg_shape_def_box(size, y * size, f * size))
                       : random_hull(random, rg_vec3_make(size, f * size, y * size), 16);
    case BRICK:
        return box_as_hull(size, x * size, y * size);
    case ROUGH:
        return rough_brick(random, size, x * size, y * size);
    case PRISM:
        return regular_body(random, size, x < 0.5);
    default:
        return random_polygon(random, size, x < 0.5 ? f : y, 3 + (int)rg_random_below(random, 12));
    }
}

typedef struct pool {
    rg_shape *shapes[SCALES][PER_SCALE];
} pool;

static void fill_pool(rg_random *random, proportion kind, pool *bodies) {
    for (int s = 0; s < SCALES; s++)
        for (int i = 0; i < PER_SCALE; i++) {
            do
                bodies->shapes[s][i] =
                    body_of(random, kind, random_scale(random, s - 6.5, s - 5.5));
            while (!bodies->shapes[s][i]);
        }
}

static void empty_pool(pool *bodies) {
    for (int s = 0; s < SCALES; s++)
        for (int i = 0; i < PER_SCALE; i++)
            rg_shape_release(bodies->shapes[s][i]);
}

/* Orientations: any; equal; a quarter turn; almost equal. */
static void orient(rg_random *random, bool planar, rg_quat *a, rg_quat *b) {
    uint64_t kind = rg_random_below(random, 8);
    *a = planar ? rg_quat_of_planar_angle(rg_random_between(random, 0, 7))
                : rg_random_rotation(random);
    *b = planar ? rg_quat_of_planar_angle(rg_random_between(random, 0, 7))
                : rg_random_rotation(random);
    double small = random_scale(random, -14, -2);
    if (kind >= 5)
        *a = rg_quat_identity();
    if (kind == 4)
        *b = *a;
    else if (kind == 5)
        *b = *a;
    else if (kind == 6)
        *b = planar ? rg_quat_of_planar_angle(RG_PI / 2)
                    : rg_quat_of_rotation_vector(rg_vec3_make(0, 0, RG_PI / 2));
    else if (kind == 7)
        *b = planar ? rg_quat_of_planar_angle(small)
                    : rg_quat_of_rotation_vector(rg_scale(small, rg_random_direction(random)));
}

static rg_vec3 line_of_centres(rg_random *random, bool planar) {
    rg_vec3 u = rg_random_direction(random);
    if (rg_random_below(random, 4) == 0) /* along axes and diagonals */
        do
            u = rg_vec3_make((double)rg_random_below(random, 3) - 1,
                             (double)rg_random_below(random, 3) - 1,
                             (double)rg_random_below(random, 3) - 1);
        while (u.x == 0 && u.z == 0);
    if (planar)
        u.y = 0;
    return u;
}

typedef struct tally {
    double certificate, per_size, swapped, moved, warm;
    int fallbacks, count;
    unsigned long cold_steps, warm_steps; /* iterations, from nothing and from the answer nearby */
} tally;

static void worsen(double *worst, double value) {
    if (!(value <= *worst))
        *worst = value;
}

static void check_pair(rg_random *random, const rg_shape *a, const rg_shape *b, bool planar,
                       tally *worst) {
    rg_pose pa = rg_pose_identity(), pb = rg_pose_identity();
    orient(random, planar, &pa.orientation, &pb.orientation);
    rg_vec3 u = line_of_centres(random, planar);
    double size = rg_shape_circumradius(a) + rg_shape_circumradius(b);
    rg_vec3 c1 = rg_rotate(pa.orientation, rg_shape_centre(a)),
            c2 = rg_rotate(pb.orientation, rg_shape_centre(b));
    rg_vec3 together = rg_sub(c1, c2); /* position of b with both centres in one place */
    pb.position = rg_add_scaled(together, size, u);
    rg_growth g = ask(a, pa, b, pb);
    uint64_t where = rg_random_below(random, 4);
    double wanted = where == 0   ? 1
                    : where == 1 ? 1e-3
                    : where == 2 ? 100
                                 : random_scale(random, -1, 1);
    double first = g.ratio;
    pb.position = rg_add_scaled(together, size * wanted / first, u);
    rg_growth_cache cache = {0};
    assert_int_equal(rg_growth_between(a, pa, b, pb, &cache, &g), RG_OK);

    /* finite, a unit normal, its certificate, and its width by a plain scan */
    assert_true(isfinite(g.ratio) && isfinite(g.gap) && isfinite(g.width) &&
                rg_is_finite(g.normal) && rg_is_finite(g.point) && rg_is_finite(g.on1) &&
                rg_is_finite(g.on2));
    assert_near(rg_length(g.normal), 1, 1e-14);
    double flat = size / g.width;
    assert_near(width_by_scan(a, pa, b, pb, g.normal), g.width, 1e-14 * size);
    assert_near(rg_dot(g.normal, rg_sub(g.on2, g.on1)), g.gap,
                1e-13 * (size + rg_length(pb.position)));
    worsen(&worst->certificate, certificate(&g));
    worsen(&worst->per_size, certificate(&g) / flat);
    worst->fallbacks += g.fallback;
    worst->count++;

    rg_growth swapped = ask(b, pb, a, pa);
    worsen(&worst->swapped, fabs(swapped.ratio - g.ratio) / g.ratio / flat);
    worst->fallbacks += swapped.fallback;

    rg_pose motion = random_pose(random, size);
    if (planar)
        motion = planar_pose(size * rg_random_unit(random), size, rg_random_between(random, 0, 7));
    rg_growth moved = ask(a, rg_pose_compose(motion, pa), b, rg_pose_compose(motion, pb));
    /* positions are rounded to their own size */
    double apart = size * wanted / first * rg_length(u);
    double shift = 1 + (rg_length(pb.position) + 2 * size) / apart;
    worsen(&worst->moved, fabs(moved.ratio - g.ratio) / g.ratio / flat / shift);

    /* a little farther on, warm and cold */
    pb.position = rg_add_scaled(pb.position, 1e-3 * size,
                                planar ? rg_vec3_make(0.6, 0, 0.8) : rg_random_direction(random));
    rg_growth warm, cold = ask(a, pa, b, pb);
    assert_int_equal(rg_growth_between(a, pa, b, pb, &cache, &warm), RG_OK);
    worsen(&worst->warm, fabs(warm.ratio - cold.ratio) / cold.ratio / (size / cold.width));
    worst->fallbacks += warm.fallback + cold.fallback;
    worst->cold_steps += cold.iterations;
    worst->warm_steps += warm.iterations;
}

/* A box is the hull of its corners, which goes another way: the same answer, and points where the
 * planes of the normal touch the bodies. */
static void boxes_are_hulls(void **state) {
    (void)state;
    rg_random random = rg_random_make(77);
    unsigned long of_boxes = 0, of_hulls = 0; /* iterations */
    for (int i = 0; i < test_cases(2000, 100000); i++) {
        rg_shape *box[2], *hull[2];
        rg_pose pose[2];
        for (int k = 0; k < 2; k++) {
            double size[3];
            rg_vec3 corners[8];
            for (int c = 0; c < 3; c++)
                size[c] = rg_random_between(&random, 0.2, 2);
            for (int c = 0; c < 8; c++)
                corners[c] =
                    (rg_vec3){(c & 1 ? 0.5 : -0.5) * size[0], (c & 2 ? 0.5 : -0.5) * size[1],
                              (c & 4 ? 0.5 : -0.5) * size[2]};
            box[k] = make_shape(rg_shape_def_box(size[0], size[1], size[2]));
            hull[k] = make_shape(rg_shape_def_hull(corners, 8));
            pose[k] = random_pose(&random, 2);
        }
        rg_growth a = ask(box[0], pose[0], box[1], pose[1]);
        rg_growth b = ask(hull[0], pose[0], hull[1], pose[1]);
        of_boxes += a.iterations, of_hulls += b.iterations;
        assert_near(a.ratio / b.ratio, 1, 1e-12);
        assert_near(a.gap, b.gap, 1e-12);
        for (int k = 0; k < 2; k++) {
            rg_vec3 n = k ? rg_neg(a.normal) : a.normal, at = k ? a.on2 : a.on1;
            rg_vec3 local = rg_pose_apply_inverse(pose[k], at);
            rg_vec3 far = rg_shape_support(box[k], rg_rotate_back(pose[k].orientation, n), NULL);
            assert_near(rg_dot(n, rg_sub(at, rg_pose_apply(pose[k], far))), 0, 1e-12);
            rg_bounds around = rg_shape_bounds(box[k], rg_pose_identity());
            for (int c = 0; c < 3; c++)
                assert_true((&local.x)[c] >= (&around.lower.x)[c] - 1e-12 &&
                            (&local.x)[c] <= (&around.upper.x)[c] + 1e-12);
        }
        for (int k = 0; k < 2; k++) {
            rg_shape_release(box[k]);
            rg_shape_release(hull[k]);
        }
    }
    /* The best of the fifteen normals of boxes is the answer: one look, as a rule. */
    assert_true(of_boxes <= 1.01 * test_cases(2000, 100000));
    assert_true(of_hulls > of_boxes);
}

static void storm(void **state) {
    (void)state;
    rg_random random = rg_random_make(2026);
    static pool pools[PROPORTIONS];
    for (int k = 0; k < PROPORTIONS; k++)
        fill_pool(&random, (proportion)k, &pools[k]);
    int count = test_cases(10000, 1000000);
    unsigned long cold_steps = 0, warm_steps = 0;
    for (int ka = 0; ka < PROPORTIONS; ka++)
        for (int kb = ka; kb < PROPORTIONS; kb++) {
            bool planar = kb == POLYGON;
            if (planar && ka != POLYGON)
                continue;
            tally worst = {0};
            for (int i = 0; i < count; i++) {
                uint64_t s = rg_random_below(&random, SCALES), t = s;
                if (i % 4 == 0) /* of another scale */
                    t = rg_random_below(&random, SCALES);
                const rg_shape *a = pools[ka].shapes[s][rg_random_below(&random, PER_SCALE)];
                const rg_shape *b = pools[kb].shapes[t][rg_random_below(&random, PER_SCALE)];
                check_pair(&random, a, i % 16 == 0 && ka == kb ? a : b, planar, &worst);
            }
            printf("%12s - %-12s certificate %.1e (per size %.1e) swapped %.1e moved %.1e warm "
                   "%.1e, %d fallbacks, %lu iterations, warm %lu\n",
                   proportion_names[ka], proportion_names[kb], worst.certificate, worst.per_size,
                   worst.swapped, worst.moved, worst.warm, worst.fallbacks, worst.cold_steps,
                   worst.warm_steps);
            assert_true(worst.certificate <= 1e-12);
            assert_true(worst.swapped <= 1e-13);
            assert_true(worst.moved <= 1e-13);
            assert_true(worst.warm <= 1e-13);
            assert_true(worst.fallbacks <= 4 * worst.count / 100);
            assert_true(!planar || worst.warm_steps < 0.75 * worst.cold_steps);
            cold_steps += worst.cold_steps, warm_steps += worst.warm_steps;
        }
    assert_true(warm_steps < 0.75 * cold_steps); /* the answer nearby is a help */
    for (int k = 0; k < PROPORTIONS; k++)
        empty_pool(&pools[k]);
}

/* ------------------------------------------------------------------ special places */

static void coincident_centres(void **state) {
    (void)state;
    rg_random random = rg_random_make(7);
    for (int i = 0; i < 200; i++) {
        bool planar = i % 4 == 3;
        proportion kind = planar ? POLYGON : (proportion)(i % 3);
        rg_shape *a = body_of(&random, kind, random_scale(&random, -6, 6));
        if (!a)
            continue;
        rg_pose pose =
            planar ? planar_pose(1, 2, rg_random_between(&random, 0, 7)) : random_pose(&random, 10);
        rg_growth g = ask(a, pose, a, pose);
        assert_true(g.ratio == 0 && isinf(g.rho) && g.rho < 0);
        assert_near(rg_length(g.normal), 1, 1e-14);
        assert_near(g.gap, -g.width, 0);
        assert_near(g.width, width_by_scan(a, pose, a, pose, g.normal), 1e-12 * g.width);
        assert_near(rg_dot(g.normal, rg_sub(g.on2, g.on1)), g.gap,
                    1e-12 * (g.width + rg_length(pose.position)));
        /* no facet normal is shallower */
        const rg_polyhedron *p = rg_shape_polyhedron(a);
        for (uint32_t f = 0; f < p->facet_count; f++)
            assert_true(
                width_by_scan(a, pose, a, pose, rg_rotate(pose.orientation, p->normals[f])) >=
                g.width * (1 - 1e-12));
        rg_shape_release(a);
    }
}

/* A million metres from the origin only the positions' own rounding counts. */
static void far_from_the_origin(void **state) {
    (void)state;
    rg_random random = rg_random_make(8);
    for (int i = 0; i < 500; i++) {
        rg_shape *a = body_of(&random, (proportion)(i % 3), 1),
                 *b = body_of(&random, (proportion)(i % 2), 1);
        rg_pose pa = random_pose(&random, 1), pb = random_pose(&random, 1);
        rg_vec3 offset = {1048576, -2097152, 524288};
        /* a grid on which the shift is exact */
        rg_vec3 *positions[2] = {&pa.position, &pb.position};
        for (int k = 0; k < 2; k++) {
            positions[k]->x = floor(positions[k]->x * 1024) / 1024;
            positions[k]->y = floor(positions[k]->y * 1024) / 1024;
            positions[k]->z = floor(positions[k]->z * 1024) / 1024;
        }
        rg_growth near = ask(a, pa, b, pb);
        pa.position = rg_add(pa.position, offset);
        pb.position = rg_add(pb.position, offset);
        rg_growth far = ask(a, pa, b, pb);
        assert_true(near.ratio == far.ratio && near.gap == far.gap);
        assert_near(rg_length(rg_sub(rg_sub(far.point, offset), near.point)), 0, 1e-9);
        rg_shape_release(a);
        rg_shape_release(b);
    }
}

/* Crossed edges as nearly parallel as one likes: the ratio goes over into that of parallel ones. */
static void nearly_parallel_edges(void **state) {
    (void)state;
    rg_shape *box = make_shape(rg_shape_def_box(2, 1, 1)), *hull = box_as_hull(2, 1, 1);
    rg_quat edge_up = rg_quat_of_rotation_vector(rg_vec3_make(RG_PI / 4, 0, 0));
    rg_pose lower = {{0, 0, 0}, edge_up};
    for (double angle = 1e-1; angle > 1e-17; angle /= 7) {
        rg_pose upper = {
            {0.05, 0.01, 1.5},
            rg_quat_multiply(rg_quat_of_rotation_vector(rg_vec3_make(0, 0, angle)), edge_up)};
        double expected = brute_force(box, lower, box, upper);
        for (int k = 0; k < 4; k++) {
            rg_growth g = ask(k & 1 ? box : hull, lower, k & 2 ? box : hull, upper);
            assert_true(certificate(&g) <= 1e-12);
            assert_near(g.ratio, expected, (angle > 1e-9 ? 1e-12 : 1e-9) * expected);
        }
    }
    rg_shape_release(box);
    rg_shape_release(hull);
}

/* Corner on corner along the diagonal: the ray goes through a vertex of K. */
static void corner_on_corner(void **state) {
    (void)state;
    rg_shape *box = make_shape(rg_shape_def_box(1, 1, 1)), *hull = box_as_hull(1, 1, 1);
    rg_pose there = {{1, 1, 1}, rg_quat_identity()};
    for (int k = 0; k < 4; k++) {
        rg_growth g = ask(k & 1 ? box : hull, rg_pose_identity(), k & 2 ? box : hull, there);
        assert_near(g.ratio, 1, 1e-15);
        assert_near(rg_length(rg_sub(g.point, rg_vec3_make(0.5, 0.5, 0.5))), 0, 1e-14);
    }
    rg_shape_release(box);
    rg_shape_release(hull);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligned_boxes),
        cmocka_unit_test(turned_squares),
        cmocka_unit_test(grown_bodies_touch),
        cmocka_unit_test(brute_force_cubes),
        cmocka_unit_test(brute_force_twelve_facets),
        cmocka_unit_test(brute_force_polygons),
        cmocka_unit_test(theorem_two),
        cmocka_unit_test(boxes_are_hulls),
        cmocka_unit_test(storm),
        cmocka_unit_test(coincident_centres),
        cmocka_unit_test(far_from_the_origin),
        cmocka_unit_test(nearly_parallel_edges),
        cmocka_unit_test(corner_on_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
