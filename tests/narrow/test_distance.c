/* Euclidean distance: closed forms, brute force over all pairs of features of small polyhedra,
 * storms over all kinds with membership by independent formulas, warm starts, bad input.
 *
 * Errors are lengths, measured by the size of the scene: both circumradii together or the distance
 * of the centres, whichever is larger. That is what coordinates are rounded by: of a crumb beside a
 * body 1e12 times its size, positions have four digits left in units of the crumb. */
#include "narrow_support.h"

/* Error of distances, bounds and points, in units of the scene. */
#define TIGHT 1e-12

static const rg_quat no_turn = {0, 0, 0, 1};

static rg_distance measure(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    rg_distance distance;
    assert_int_equal(rg_distance_between(a, pa, b, pb, NULL, &distance), RG_OK);
    return distance;
}

/* Everything that a result promises: bounds, normal, points of the shapes. `size` of the scene. */
static void check_distance(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb,
                           const rg_distance *m, double size) {
    assert_true(isfinite(m->distance) && m->distance >= 0);
    assert_true(rg_is_finite(m->on1) && rg_is_finite(m->on2));
    if (m->distance - m->lower_bound > TIGHT * size || m->lower_bound - m->distance > 1e-13 * size)
        fail_msg("%s-%s: distance %.17g, lower bound %.17g, size %g, %u iterations",
                 rg_shape_kind_name(rg_shape_get_kind(a)), rg_shape_kind_name(rg_shape_get_kind(b)),
                 m->distance, m->lower_bound, size, m->iterations);
    const rg_shape *shape[2] = {a, b};
    rg_pose pose[2] = {pa, pb};
    rg_vec3 on[2] = {m->on1, m->on2};
    for (int i = 0; i < 2; i++) {
        if (!rg_shape_is_bounded(shape[i]))
            continue;
        rg_vec3 local = rg_sub(rg_pose_apply_inverse(pose[i], on[i]), rg_shape_centre(shape[i]));
        /* outside by a length: (gauge - 1) times the radius there */
        double out = (gauge_of(shape[i], local) - 1) * rg_shape_inradius(shape[i]);
        if (!(out <= TIGHT * size))
            fail_msg("%s-%s: point %d is outside by %g; distance %g, size %g, %u iterations",
                     rg_shape_kind_name(rg_shape_get_kind(a)),
                     rg_shape_kind_name(rg_shape_get_kind(b)), i + 1, out, m->distance, size,
                     m->iterations);
    }
    rg_vec3 between = rg_sub(m->on2, m->on1);
    assert_near(rg_length(between), m->distance, TIGHT * size);
    if (m->distance > 0) {
        assert_near(rg_length(m->normal), 1, 1e-14);
        assert_near(rg_dot(m->normal, between), m->distance, TIGHT * size);
    } else {
        assert_true(rg_length(m->normal) == 0 && m->lower_bound == 0);
    }
}

static void check_value(rg_shape_def a, rg_pose pa, rg_shape_def b, rg_pose pb, double expected) {
    rg_shape *p = make_shape(a), *q = make_shape(b);
    rg_distance one = measure(p, pa, q, pb), two = measure(q, pb, p, pa);
    assert_near(one.distance, expected, 4e-15);
    assert_near(two.distance, expected, 4e-15);
    if (expected > 0)
        assert_near(rg_length(rg_add(one.normal, two.normal)), 0, 1e-7);
    check_distance(p, pa, q, pb, &one, 1);
    rg_shape_release(p);
    rg_shape_release(q);
}

static rg_pose at(double x, double y, double z) {
    return (rg_pose){{x, y, z}, no_turn};
}
static rg_pose turned(double x, double y, double z, double rx, double ry) {
    return (rg_pose){{x, y, z}, rg_quat_of_rotation_vector(rg_vec3_make(rx, ry, 0))};
}

static void test_closed_forms(void **state) {
    (void)state;
    rg_pose here = at(0, 0, 0);
    rg_shape_def box = rg_shape_def_box(2, 2, 2), ball = rg_shape_def_sphere(0.5);
    rg_shape_def rod = rg_shape_def_capsule(0.25, 2), can = rg_shape_def_cylinder(1, 2);
    rg_shape_def cone = rg_shape_def_cone(1, 4), egg = rg_shape_def_ellipsoid(1, 2, 3);
    check_value(ball, here, ball, at(2, 1, 2), 2);
    check_value(ball, here, ball, at(0.5, 0, 0), 0);
    /* boxes: face, edge, corner */
    check_value(box, here, box, at(3, 0.5, -0.5), 1);
    check_value(box, here, box, at(5, 6, 0), 5);
    check_value(box, here, box, at(3, 4, 4), 3);
    check_value(box, here, box, at(1.9, 0, 0), 0);
    /* ball and box */
    check_value(ball, here, box, at(1 + 2, 1 + 1, 1 + 2), 2.5);
    /* capsules: parallel, crossed, end to end */
    check_value(rod, here, rod, at(2, 0, 0.5), 1.5);
    check_value(rod, here, rod, turned(2, 0, 0, RG_PI / 2, 0), 1.5);
    check_value(rod, here, rod, at(0, 3, 6), 4.5);
    /* cylinder: cap, side, rim */
    check_value(can, here, ball, at(0.3, 0.4, 3), 1.5);
    check_value(can, here, ball, at(3, 0, 0.7), 1.5);
    check_value(can, here, ball, at(1 + 3, 0, 1 + 4), 4.5);
    check_value(can, here, can, turned(0, 4, 0, 0, RG_PI / 2), 2);
    /* cone: apex at z = 3, base at z = -1 */
    check_value(cone, here, ball, at(0, 0, 5), 1.5);
    check_value(cone, here, box, at(0.2, 0.1, -3), 1);
    check_value(cone, here, cone, turned(0, 0, 8, RG_PI, 0), 2);
    /* ellipsoid along its axes */
    check_value(egg, here, ball, at(0, 0, -5), 1.5);
    check_value(egg, here, box, at(0, 5, 0), 2);
    check_value(egg, here, egg, turned(0, 7, 0, RG_PI / 2, 0), 2);
    /* planar */
    check_value(rg_shape_def_disc(1), here, rg_shape_def_disc(2), at(3, 0, 4), 2);
}

static void test_halfspace(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    for (int kind = 0; kind < SPATIAL_KINDS; kind++)
        for (int i = 0; i < 200; i++) {
            rg_shape *body = random_shape(&random, kind, 1, 10);
            rg_shape *ground = make_shape(rg_shape_def_halfspace(
                rg_random_direction(&random), rg_random_between(&random, -1, 1)));
            rg_pose pa = random_pose(&random, 5), pb = random_pose(&random, 20);
            rg_distance m = measure(ground, pa, body, pb), back = measure(body, pb, ground, pa);
            rg_shape_def def = rg_shape_get_def(ground);
            rg_vec3 n = rg_rotate(pa.orientation, def.normal);
            double lowest = rg_dot(n, rg_sub(pb.position, pa.position)) - def.offset;
            rg_vec3 down = rg_rotate_back(pb.orientation, rg_neg(n));
            lowest -= rg_dot(down, rg_shape_support(body, down, NULL));
            assert_near(m.distance, fmax(0, lowest), 1e-13);
            assert_true(back.distance == m.distance);
            assert_true(m.lower_bound == m.distance);
            if (m.distance > 0) {
                assert_near(rg_length(rg_sub(m.normal, n)), 0, 1e-15);
                assert_near(rg_length(rg_add(back.normal, n)), 0, 1e-15);
                assert_near(rg_dot(def.normal, rg_pose_apply_inverse(pa, m.on1)), def.offset,
                            1e-13);
            }
            check_distance(ground, pa, body, pb, &m, 40);
            rg_shape_release(body);
            rg_shape_release(ground);
        }
}

/* ------------------------------------------------------------------ brute force */

static double segment_distance(rg_vec3 p, rg_vec3 q, rg_vec3 r, rg_vec3 s) {
    /* least of the four ends against the other segment, and of the lines where both feet are inside
     */
    double best = INFINITY;
    for (int i = 0; i < 4; i++) {
        rg_vec3 x = i == 0 ? p : i == 1 ? q : i == 2 ? r : s, a = i < 2 ? r : p, b = i < 2 ? s : q;
        rg_vec3 e = rg_sub(b, a);
        double t = fmin(1, fmax(0, rg_dot(rg_sub(x, a), e) / rg_length_squared(e)));
        best = fmin(best, rg_length(rg_sub(x, rg_add_scaled(a, t, e))));
    }
    rg_vec3 u = rg_sub(q, p), v = rg_sub(s, r), w = rg_sub(p, r);
    double a = rg_dot(u, u), b = rg_dot(u, v), c = rg_dot(v, v), d = rg_dot(u, w), e = rg_dot(v, w);
    double det = a * c - b * b;
    if (det > 1e-12 * a * c) {
        double x = (b * e - c * d) / det, y = (a * e - b * d) / det;
        if (x >= 0 && x <= 1 && y >= 0 && y <= 1)
            best = fmin(best, rg_length(rg_add(w, rg_sub(rg_scale(x, u), rg_scale(y, v)))));
    }
    return best;
}

/* Vertices of p over the inside of facets of q. */
static double vertex_facet_distance(const rg_polyhedron *p, const rg_vec3 *vp,
                                    const rg_polyhedron *q, const rg_vec3 *vq) {
    double best = INFINITY;
    for (uint32_t f = 0; f < q->facet_count; f++) {
        uint32_t first = q->facet_start[f], end = q->facet_start[f + 1];
        rg_vec3 o = vq[q->facet_vertices[first]];
        rg_vec3 n = rg_normalised(rg_cross(rg_sub(vq[q->facet_vertices[first + 1]], o),
                                           rg_sub(vq[q->facet_vertices[first + 2]], o)));
        for (uint32_t k = 0; k < p->vertex_count; k++) {
            double height = rg_dot(n, rg_sub(vp[k], o));
            rg_vec3 foot = rg_add_scaled(vp[k], -height, n);
            bool inside = height >= 0;
            for (uint32_t j = first; j < end && inside; j++) {
                rg_vec3 a = vq[q->facet_vertices[j]],
                        b = vq[q->facet_vertices[j + 1 < end ? j + 1 : first]];
                inside = rg_dot(n, rg_cross(rg_sub(b, a), rg_sub(foot, a))) >= 0;
            }
            if (inside)
                best = fmin(best, height);
        }
    }
    return best;
}

static double brute_force(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    const rg_polyhedron *p = rg_shape_polyhedron(a), *q = rg_shape_polyhedron(b);
    rg_vec3 vp[64], vq[64];
    assert_true(p->vertex_count <= 64 && q->vertex_count <= 64);
    for (uint32_t i = 0; i < p->vertex_count; i++)
        vp[i] = rg_pose_apply(pa, p->vertices[i]);
    for (uint32_t i = 0; i < q->vertex_count; i++)
        vq[i] = rg_pose_apply(pb, q->vertices[i]);
    double best = INFINITY;
    for (uint32_t i = 0; i < p->edge_count; i++)
        for (uint32_t j = 0; j < q->edge_count; j++)
            best = fmin(best, segment_distance(
                                  vp[p->edge_vertices[2 * i]], vp[p->edge_vertices[2 * i + 1]],
                                  vq[q->edge_vertices[2 * j]], vq[q->edge_vertices[2 * j + 1]]));
    best = fmin(best, vertex_facet_distance(p, vp, q, vq));
    return fmin(best, vertex_facet_distance(q, vq, p, vp));
}

static void test_brute_force(void **state) {
    (void)state;
    rg_random random = rg_random_make(21);
    long apart = 0, count = test_count(5000);
    for (long i = 0; i < count; i++) {
        int ka = i & 1 ? BOX : HULL, kb = i & 2 ? BOX : HULL;
        rg_shape *a = random_shape(&random, ka, 1, i & 4 ? 30 : 2);
        rg_shape *b = random_shape(&random, kb, 1, i & 4 ? 30 : 2);
        rg_pose pa = random_pose(&random, 1), pb = random_pose(&random, i & 4 ? 8 : 3);
        rg_distance m = measure(a, pa, b, pb);
        double size = rg_shape_circumradius(a) + rg_shape_circumradius(b) +
                      rg_length(rg_sub(pb.position, pa.position));
        check_distance(a, pa, b, pb, &m, size);
        if (m.distance > 0) {
            assert_near(m.distance, brute_force(a, pa, b, pb), 1e-13 * size);
            apart++;
            /* moved to touch: distance 0 but for rounding */
            rg_pose touch = pb;
            touch.position = rg_add_scaled(pb.position, -m.distance, m.normal);
            rg_distance none = measure(a, pa, b, touch);
            assert_true(none.distance <= 1e-14 * size);
            check_distance(a, pa, b, touch, &none, size);
        }
        rg_shape_release(a);
        rg_shape_release(b);
    }
    assert_in_range(apart, count / 4, count - count / 50); /* both happen */
}

/* ------------------------------------------------------------------ storm */

typedef struct tally {
    double worst, iterations;
    unsigned long pairs, overlaps, fallbacks;
} tally;

/* The ratio of the iterative growth solver, which works for any pair, agrees on who overlaps. */
static void check_against_growth(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb,
                                 const rg_distance *m, double size) {
    rg_pair pair = pair_of(a, pa, b, pb);
    if (rg_shape_is_planar(a))
        pair.d.y = 0;
    rg_growth g;
    assert_int_equal(rg_growth_curved(&pair, NULL, &g), RG_OK);
    double gap = (g.ratio - 1) * g.width;
    assert_true(gap <= m->distance + TIGHT * size);
    if (m->distance > TIGHT * size && !(g.ratio > 1))
        fail_msg("distance %.17g of %g (bound %.17g), but t = 1 %+.3g, certificate %.3g %.3g",
                 m->distance, size, m->lower_bound, g.ratio - 1, g.primal_error, g.duality_gap);
    if (g.ratio > 1 + 1e-11)
        assert_true(m->distance > 0);
}

static void storm_of(int a, int b, long count) {
    rg_random random = rg_random_make(300 + 100 * (uint64_t)a + (uint64_t)b);
    bool planar = a >= SPATIAL_KINDS;
    tally t = {0};
    for (long i = 0; i < count; i += 8) {
        double size = rg_exp(rg_random_between(&random, -13.8, 13.8));
        /* needles and plates in every second batch; sizes of their own, 1e12 apart and less, in
         * every second pair of batches */
        double other = i & 16 ? rg_exp(rg_random_between(&random, -13.8, 13.8)) : size;
        double stretch = i & 8 ? 1000 : 3;
        rg_shape *p = random_shape(&random, a, size, stretch);
        rg_shape *q = random_shape(&random, b, other, stretch);
        double reach = rg_shape_circumradius(p) + rg_shape_circumradius(q);
        for (int k = 0; k < 8; k++) {
            rg_vec3 u = rg_random_direction(&random);
            rg_pose pp = {{0, 0, 0}, rg_random_rotation(&random)}, pq = pp;
            pq.orientation = rg_random_rotation(&random);
            if (planar) {
                u.y = 0;
                pp.orientation = rg_quat_of_planar_angle(rg_random_between(&random, -4, 4));
                pq.orientation = rg_quat_of_planar_angle(rg_random_between(&random, -4, 4));
            }
            pq.position = rg_scale(reach * rg_exp(rg_random_between(&random, -3, 2)), u);
            double scene = fmax(reach, rg_length(pq.position));
            rg_distance m = measure(p, pp, q, pq);
            if (k & 1 && m.distance > 0) {
                /* nearly touching */
                double left = m.distance * rg_exp(rg_random_between(&random, -30, -5));
                pq.position = rg_add_scaled(pq.position, left - m.distance, m.normal);
                m = measure(p, pp, q, pq);
                assert_near(m.distance, left, TIGHT * scene);
            }
            check_distance(p, pp, q, pq, &m, scene);
            check_against_growth(p, pp, q, pq, &m, scene);
            t.worst = fmax(t.worst, (m.distance - m.lower_bound) / scene);
            t.iterations += m.iterations;
            t.pairs++;
            t.overlaps += m.distance == 0;
            t.fallbacks += m.fallback;
            rg_distance back = measure(q, pq, p, pp);
            assert_near(back.distance, m.distance, TIGHT * scene);
            if (planar)
                continue;
            rg_pose move = {{scene, -scene, 2 * scene}, rg_random_rotation(&random)};
            rg_distance moved = measure(p, rg_pose_compose(move, pp), q, rg_pose_compose(move, pq));
            assert_near(moved.distance, m.distance, TIGHT * scene);
        }
        rg_shape_release(p);
        rg_shape_release(q);
    }
    assert_true(t.fallbacks <= 2 + t.pairs / 500); /* double-double is for what rounding spoils */
    if (getenv("RIGOR_VERBOSE"))
        printf(
            "%-9s %-9s %8lu pairs: distance - bound %.1e of the scene, iterations %.1f, overlaps "
            "%lu, fallbacks %lu\n",
            kind_name[a], kind_name[b], t.pairs, t.worst, t.iterations / (double)t.pairs,
            t.overlaps, t.fallbacks);
}

static void test_storm(void **state) {
    (void)state;
    for (int a = 0; a < ALL_KINDS; a++)
        for (int b = a; b < ALL_KINDS; b++)
            if ((a >= SPATIAL_KINDS) == (b >= SPATIAL_KINDS))
                storm_of(a, b, test_count(10000));
}

/* Along a path, warm results equal cold ones and take fewer iterations in total. */
static void test_warm(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    for (int kind = 0; kind < SPATIAL_KINDS; kind++) {
        unsigned long cold = 0, warm = 0;
        rg_shape *a = random_shape(&random, kind, 1, 2), *b = random_shape(&random, HULL, 1, 2);
        rg_distance_cache cache = {0};
        for (int i = 0; i < 500; i++) {
            double s = 1e-3 * i;
            rg_pose pa = {{0, 0, 0}, rg_quat_of_rotation_vector(rg_vec3_make(s, s, 0))};
            rg_pose pb = {{4 - 8 * s, 0.3, 0.2},
                          rg_quat_of_rotation_vector(rg_vec3_make(0, s, -s))};
            rg_distance m = measure(a, pa, b, pb), w;
            assert_int_equal(rg_distance_between(a, pa, b, pb, &cache, &w), RG_OK);
            assert_near(w.distance, m.distance, 1e-13);
            check_distance(a, pa, b, pb, &w, 5);
            cold += m.iterations;
            warm += w.iterations;
        }
        assert_true(warm <= cold);
        /* a cache from elsewhere does no harm */
        rg_distance_cache odd = {.count = 4, .hint1 = {9999, 1, 2, 3}, .hint2 = {0, 77777, 0, 1}};
        rg_distance w;
        rg_pose far = at(5, 0, 0);
        assert_int_equal(rg_distance_between(a, at(0, 0, 0), b, far, &odd, &w), RG_OK);
        assert_near(w.distance, measure(a, at(0, 0, 0), b, far).distance, 1e-13);
        rg_shape_release(a);
        rg_shape_release(b);
    }
}

static void test_bad_input(void **state) {
    (void)state;
    rg_shape *ball = make_shape(rg_shape_def_sphere(1)), *disc = make_shape(rg_shape_def_disc(1));
    rg_shape *ground = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_compound_part part = {ball, at(0, 0, 0), 1};
    rg_shape *compound = make_shape(rg_shape_def_compound(&part, 1));
    rg_pose here = at(0, 0, 0), nowhere = at(NAN, 0, 0);
    rg_distance m;
    assert_int_equal(rg_distance_between(ball, here, disc, here, NULL, &m), RG_INVALID_ARGUMENT);
    assert_int_equal(rg_distance_between(ground, here, ground, here, NULL, &m),
                     RG_INVALID_ARGUMENT);
    assert_int_equal(rg_distance_between(ball, here, compound, here, NULL, &m),
                     RG_INVALID_ARGUMENT);
    assert_int_equal(rg_distance_between(ball, nowhere, ball, here, NULL, &m), RG_NOT_FINITE);
    assert_int_equal(rg_distance_between(ground, here, disc, here, NULL, &m), RG_OK);
    rg_shape_release(compound);
    rg_shape_release(ground);
    rg_shape_release(disc);
    rg_shape_release(ball);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_halfspace),
        cmocka_unit_test(test_brute_force),  cmocka_unit_test(test_storm),
        cmocka_unit_test(test_warm),         cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
