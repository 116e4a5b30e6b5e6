/* Contact points in motion: chi, its two derivatives, and the rates of place and normal against
 * fourth-order differences along motions with both bodies translating and turning with angular
 * acceleration; chi against the shapes' distance and growth; body order; rolling; scales. */
#include "contact_motion_helpers.h"

#include <stdio.h>

/* ------------------------------------------------------------------ general position */

static const rg_shape_kind kinds[] = {RG_SHAPE_HALFSPACE, RG_SHAPE_BOX,      RG_SHAPE_HULL,
                                      RG_SHAPE_SPHERE,    RG_SHAPE_CAPSULE,  RG_SHAPE_CYLINDER,
                                      RG_SHAPE_CONE,      RG_SHAPE_ELLIPSOID};

/* How often each kind of contact, and each pair of pieces, was compared. */
typedef struct census {
    int tried, skipped, degenerate, kind[8], pieces[6][6];
} census;

/* Puts the bodies far apart, on the free side of a half-space. */
static void separate(rg_random *random, pair *k) {
    body *b = &k->b, *a = &k->a;
    double far = 10 * k->scale;
    if (rg_shape_get_kind(b->shape) == RG_SHAPE_HALFSPACE)
        a->x = rg_add_scaled(a->x, far, rg_rotate(b->q, rg_shape_get_def(b->shape).normal));
    else if (rg_shape_get_kind(a->shape) == RG_SHAPE_HALFSPACE)
        b->x = rg_add_scaled(b->x, far, rg_rotate(a->q, rg_shape_get_def(a->shape).normal));
    else {
        rg_vec3 d = rg_random_direction(random);
        bool planar = rg_shape_is_planar(a->shape);
        a->x = rg_add_scaled(a->x, far, planar ? rg_normalised(rg_vec3_make(d.x, 0, d.z)) : d);
    }
}

static void compare_pair(const pair *k, double gap, bool apart, errors *e, census *c) {
    query_pair(k, gap);
    c->tried++;
    assert_int_equal(found.manifold.point_count, 1);
    rg_contact_track track = make_track(k, 0);
    rg_contact_motion now = follow(&track, k, 0);
    /* nearest points of vertex and vertex, edge or rim: no normal of their own where they touch */
    if (track.extended || fabs(now.gap - gap) > 1e-12 * k->scale || !compare(k, &track, apart, e)) {
        c->skipped++;
        c->degenerate += track.extended || fabs(now.gap - gap) > 1e-12 * k->scale;
        return;
    }
    c->kind[track.feature.kind]++;
    c->pieces[track.piece[0].kind][track.piece[1].kind]++;
    compare_order(k, &now, gap, e);
}

static void random_pairs(rg_random *random, rg_shape_kind kind_b, rg_shape_kind kind_a,
                         double scale, int trials, errors *e, census *c) {
    for (int trial = 0; trial < trials; trial++) {
        pair k = {.scale = scale};
        k.b = random_body(random, make_kind(random, kind_b, scale), scale);
        k.a = random_body(random, make_kind(random, kind_a, scale), scale);
        separate(random, &k);
        bool apart = trial & 1, bounded = rg_shape_is_bounded(k.b.shape);
        bounded = bounded && rg_shape_is_bounded(k.a.shape);
        bool polyhedra = rg_shape_polyhedron(k.b.shape) && rg_shape_polyhedron(k.a.shape);
        double gap = apart ? 0.02 * scale : 1e-9 * scale;
        if (polyhedra || (bounded && !apart))
            approach_features(&k, gap);
        else
            assert_true(approach(&k, gap));
        compare_pair(&k, gap, apart, e, c);
        rg_shape_release(k.b.shape);
        rg_shape_release(k.a.shape);
    }
}

/* Second derivatives of gaps (Baraff 1989, appendix A) against differences. */
static void check_errors(const errors *e) {
    assert_true(e->tracks > 0 && e->lost == 0);
    assert_true(e->first <= 1e-8);
    assert_true(e->second <= 2e-8);
    assert_true(e->point <= 1e-7);
    assert_true(e->normal <= 1e-6);
    assert_true(e->slip <= 1e-7);
    assert_true(e->order <= 1e-10);
    assert_true(e->distance <= 5e-15);
    assert_true(e->distance_second <= 2e-8);
}

static void all_pairs(uint64_t seed, double scale, int trials, census *c) {
    int count = (int)(sizeof kinds / sizeof *kinds);
    rg_random random = rg_random_make(seed);
    for (int i = 0; i < count; i++)
        for (int j = i > 0 ? 0 : 1; j < count; j++) {
            errors e = {0};
            random_pairs(&random, kinds[i], kinds[j], scale, trials, &e, c);
            char name[64];
            snprintf(name, sizeof name, "%s-%s", rg_shape_kind_name(kinds[i]),
                     rg_shape_kind_name(kinds[j]));
            report(name, &e);
            check_errors(&e);
        }
}

static void pairs_in_general_position(void **state) {
    (void)state;
    census c = {0};
    all_pairs(7, 1, 150, &c);
    assert_true(c.skipped < c.tried / 8);
    assert_true(c.kind[RG_FEATURES_FACE_VERTEX] > 200);
    assert_true(c.kind[RG_FEATURES_VERTEX_FACE] > 200);
    assert_true(c.kind[RG_FEATURES_EDGE_EDGE] > 100);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            if (getenv("RIGOR_SHOW"))
                print_message("%6d%s", c.pieces[i][j], j < 5 ? "" : "\n");
            bool never = (i == RG_PIECE_FACE &&
                          (j == RG_PIECE_FACE || j == RG_PIECE_LINE || j == RG_PIECE_CONE)) ||
                         (j == RG_PIECE_FACE && (i == RG_PIECE_LINE || i == RG_PIECE_CONE));
            assert_true(never ? c.pieces[i][j] == 0 : c.pieces[i][j] > 0);
        }
    if (getenv("RIGOR_SHOW"))
        print_message("%d tried, %d skipped, %d of them degenerate\n", c.tried, c.skipped,
                      c.degenerate);
}

static void other_scales(void **state) {
    (void)state;
    census c = {0};
    all_pairs(8, 1e-3, 20, &c);
    all_pairs(9, 1e3, 20, &c);
    assert_true(c.skipped < c.tried / 8);
}

/* ------------------------------------------------------------------ the plane */

static rg_shape *planar_shape(rg_random *random, int kind) {
    rg_vec3 points[9];
    rg_shape *shape = NULL;
    if (kind == 0) {
        rg_vec3 n = random_vector(random, -1, 1);
        return make_shape(rg_shape_def_halfspace(rg_vec3_make(n.x, 0, n.z), 0.3));
    }
    if (kind == 1)
        return make_shape(rg_shape_def_disc(rg_random_between(random, 0.3, 0.8)));
    for (int i = 0; i < 9; i++) {
        rg_vec3 p = rg_random_direction(random);
        points[i] =
            rg_scale(rg_random_between(random, 0.5, 1), rg_normalised(rg_vec3_make(p.x, 0, p.z)));
    }
    assert_int_equal(rg_shape_create_planar_hull(points, 9, NULL, &shape, NULL), RG_OK);
    return shape;
}

static void make_planar(rg_random *random, body *k) {
    k->offset.y = k->x.y = k->v.y = k->a.y = 0;
    k->w.x = k->w.z = k->alpha.x = k->alpha.z = 0;
    k->q = rg_quat_of_planar_angle(rg_random_between(random, -3, 3));
}

static void planar_pairs(void **state) {
    (void)state;
    rg_random random = rg_random_make(41);
    census c = {0};
    for (int i = 0; i < 3; i++)
        for (int j = i > 0 ? 0 : 1; j < 3; j++) {
            errors e = {0};
            for (int trial = 0; trial < 300; trial++) {
                pair k = {.scale = 1};
                k.b = random_body(&random, planar_shape(&random, i), 1);
                k.a = random_body(&random, planar_shape(&random, j), 1);
                make_planar(&random, &k.b);
                make_planar(&random, &k.a);
                separate(&random, &k);
                bool apart = trial & 1;
                double gap = apart ? 0.02 : 1e-9;
                if (i == 2 && j == 2)
                    approach_features(&k, gap);
                else
                    assert_true(approach(&k, gap));
                compare_pair(&k, gap, apart, &e, &c);
                rg_contact_track track = make_track(&k, 0);
                rg_contact_motion m = follow(&track, &k, 0);
                assert_true(m.point.y == 0 && m.normal.y == 0 && m.slip.y == 0 && m.drift.y == 0);
                assert_near(m.normal_rate.y, 0, 1e-15);
                assert_near(m.point_rate.y, 0, 1e-15);
                rg_shape_release(k.b.shape);
                rg_shape_release(k.a.shape);
            }
            report("planar", &e);
            check_errors(&e);
        }
    assert_true(c.skipped < c.tried / 20);
    assert_true(c.kind[RG_FEATURES_FACE_VERTEX] > 100 && c.kind[RG_FEATURES_VERTEX_FACE] > 100);
}

/* ------------------------------------------------------------------ closed forms */

static const rg_vec3 zero = {0, 0, 0};

static body body_of(rg_shape *shape, rg_vec3 x, rg_vec3 v, rg_vec3 w) {
    return (body){.shape = shape, .x = x, .v = v, .w = w, .q = rg_quat_identity()};
}

static rg_contact_motion follow_only_point(const pair *k) {
    query_pair(k, 1e-6);
    assert_int_equal(found.manifold.point_count, 1);
    rg_contact_track track = make_track(k, 0);
    return follow(&track, k, 0);
}

/* Balls, cylinder-like and ellipsoid, on a floor: where the point of contact runs without slip,
 * what the material there does, and no slip that begins by itself. */
static void rolling_on_a_floor(void **state) {
    (void)state;
    rg_shape *floor = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    double spin = 3, r = 0.5, semi = 1.25;
    for (int kind = 0; kind < 2; kind++) {
        rg_shape *ball =
            make_shape(kind ? rg_shape_def_ellipsoid(semi, 0.7, r) : rg_shape_def_sphere(r));
        /* w along y rolls towards +x; at the end of the short axis the radius of curvature is a^2 /
         * c */
        double radius = kind ? semi * semi / r : r;
        pair k = {.scale = 1};
        k.b = body_of(floor, zero, zero, zero);
        k.a = body_of(ball, rg_vec3_make(0, 0, r), rg_vec3_make(spin * r, 0, 0),
                      rg_vec3_make(0, spin, 0));
        rg_contact_motion m = follow_only_point(&k);
        assert_near(m.gap, 0, 1e-15);
        assert_near(m.gap_rate, 0, 1e-15);
        assert_vector(m.slip, zero, 1e-15);
        assert_vector(m.point, zero, 1e-15);
        assert_vector(m.point_rate, rg_vec3_make(spin * radius, 0, 0), 1e-13);
        assert_vector(m.normal_rate, zero, 1e-15);
        /* u' = a + alpha x r + w x (c' - v): only a curvature that differs from the height drifts
         */
        assert_vector(m.drift, rg_vec3_make(0, 0, -spin * spin * (radius - r)), 1e-12);
        assert_true(m.inside == INFINITY && m.regular);
        rg_shape_release(ball);
    }
    rg_shape_release(floor);
}

/* A ball that slides over another: centripetal, v^2 / (R + r); and the same in the plane. */
static void sliding_over_a_ball(void **state) {
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        rg_shape *large = make_shape(planar ? rg_shape_def_disc(2) : rg_shape_def_sphere(2));
        rg_shape *small = make_shape(planar ? rg_shape_def_disc(0.5) : rg_shape_def_sphere(0.5));
        pair k = {.scale = 1};
        k.b = body_of(large, zero, zero, zero);
        k.a = body_of(small, rg_vec3_make(0, 0, 2.5), rg_vec3_make(1.5, 0, 0), zero);
        rg_contact_motion m = follow_only_point(&k);
        assert_near(gap_second(&k, &m), 1.5 * 1.5 / 2.5, 1e-14);
        assert_vector(m.normal_rate, rg_vec3_make(0.6, 0, 0), 1e-15);
        assert_vector(m.point_rate, rg_vec3_make(1.2, 0, 0), 1e-15);
        /* rolling without slip it is the same: spin changes nothing on a ball */
        k.a.w = rg_vec3_make(0, 3, 0);
        m = follow_only_point(&k);
        assert_vector(m.slip, zero, 1e-15);
        assert_near(gap_second(&k, &m), 1.5 * 1.5 / 2.5, 1e-14);
        rg_shape_release(large);
        rg_shape_release(small);
    }
}

/* A cylinder that rolls over another across it, and one along it. */
static void cylinder_over_cylinder(void **state) {
    (void)state;
    rg_shape *b = make_shape(rg_shape_def_cylinder(1, 4)),
             *a = make_shape(rg_shape_def_cylinder(0.5, 4));
    rg_quat along_x = rg_quat_of_rotation_vector(rg_vec3_make(0, RG_PI / 2, 0)),
            along_y = rg_quat_of_rotation_vector(rg_vec3_make(RG_PI / 2, 0, 0));
    pair k = {.scale = 1};
    k.b = body_of(b, zero, zero, zero);
    k.b.q = along_x;
    k.a = body_of(a, rg_vec3_make(0, 0, 1.5), rg_vec3_make(0.3, 0.7, 0), zero);
    k.a.q = along_y;
    rg_contact_motion m = follow_only_point(&k);
    /* crossed lines at a fixed angle: n does not turn, whatever slides */
    assert_vector(m.normal_rate, zero, 1e-15);
    assert_near(gap_second(&k, &m), 0, 1e-15);
    /* turning A about z neither; about its own axis neither; about x it lifts as n turns with it */
    k.a.w = rg_vec3_make(0, 2, 5);
    m = follow_only_point(&k);
    assert_vector(m.normal_rate, zero, 1e-14);
    k.a.v = zero;
    k.a.w = rg_vec3_make(1, 0, 0);
    m = follow_only_point(&k);
    assert_vector(m.normal_rate, rg_vec3_make(0, -1, 0), 1e-14);
    /* a see-saw on a round log: the place of contact runs R w along it, the centre lifts */
    assert_near(m.point_rate.y, -1, 1e-14);
    rg_shape_release(b);
    rg_shape_release(a);
}

/* An ellipsoid rolls and spins around a larger one for many turns: the track follows with refreshed
 * hints, the gap stays the distance, and a track that is not refreshed finds the same place. */
static void long_way(void **state) {
    (void)state;
    const rg_shape_def def[] = {rg_shape_def_ellipsoid(0.5, 0.3, 0.2), rg_shape_def_sphere(0.4)};
    rg_shape *large = make_shape(rg_shape_def_ellipsoid(2, 1.5, 1));
    for (int kind = 0; kind < 2; kind++) {
        rg_shape *small = make_shape(def[kind]);
        pair k = {.scale = 1};
        k.b = body_of(large, zero, zero, rg_vec3_make(0.2, -0.1, 0.4));
        k.a = body_of(small, rg_vec3_make(0, 0, 5), zero, rg_vec3_make(1, 2, -1));
        assert_true(approach(&k, 0.01));
        query_pair(&k, 0.01);
        rg_contact_track track = make_track(&k, 0);
        const rg_contact_track first = track;
        for (int i = 0; i < 2000; i++) {
            double s, c, t = 0.01 * i;
            rg_sin_cos(t, &s, &c);
            rg_rigid_motion b = motion_at(&k.b, t), a = motion_at(&k.a, t);
            a.pose.position = rg_vec3_make(4 * s, 2 * s * c, 4 * c);
            rg_distance d;
            rg_distance_between(large, b.pose, small, a.pose, NULL, &d);
            a.pose.position = rg_add_scaled(a.pose.position, 0.01 - d.distance, d.normal);
            rg_contact_motion m = rg_contact_follow(&track, &b, &a),
                              o = rg_contact_follow(&first, &b, &a);
            assert_true(m.regular && o.regular);
            assert_near(m.gap, 0.01, 1e-14);
            assert_near(o.gap, 0.01, 1e-14);
            assert_vector(m.normal, d.normal, 1e-7);
            assert_vector(o.normal, m.normal, 1e-12);
            rg_contact_track_refresh(&track, &m, b.pose, a.pose);
        }
        rg_shape_release(small);
    }
    rg_shape_release(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_in_general_position),
                                       cmocka_unit_test(other_scales),
                                       cmocka_unit_test(planar_pairs),
                                       cmocka_unit_test(rolling_on_a_floor),
                                       cmocka_unit_test(sliding_over_a_ball),
                                       cmocka_unit_test(cylinder_over_cylinder),
                                       cmocka_unit_test(long_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
