/* The smallest translation that separates two shapes: closed forms, all normals of polyhedra by
 * brute force, sampled directions, translation by the depth, and the relations to growth and
 * distance. */
#include "narrow/narrow_depth.h"
#include "narrow_helpers.h"
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

/* ------------------------------------------------------------------ brute force */

/* The least of h(n) - n.d over the facet normals of both and over both signs of the cross product
 * of every edge with every edge, each h by all vertices. Whatever n is, that is an upper bound of
 * the depth, and one of these attains it. */
static double depth_by_force(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    rg_pose pose[2] = {pa, pb};
    const rg_polyhedron *p[2] = {rg_shape_polyhedron(a), rg_shape_polyhedron(b)};
    rg_vec3 d = rg_sub(world_centre(b, pb), world_centre(a, pa));
    double best = INFINITY;
    for (int s = 0; s < 2; s++)
        for (uint32_t f = 0; f < p[s]->facet_count; f++) {
            rg_vec3 n = rg_rotate(pose[s].orientation, rg_scale(s ? -1 : 1, p[s]->normals[f]));
            best = fmin(best, width_by_scan(a, pa, b, pb, n) - rg_dot(n, d));
        }
    if (rg_shape_is_planar(a))
        return best;
    for (uint32_t i = 0; i < p[0]->edge_count; i++)
        for (uint32_t k = 0; k < p[1]->edge_count; k++) {
            rg_vec3 e[2];
            uint32_t edge[2] = {i, k};
            for (int s = 0; s < 2; s++)
                e[s] = rg_rotate(
                    pose[s].orientation,
                    rg_normalised(rg_sub(p[s]->vertices[p[s]->edge_vertices[2 * edge[s] + 1]],
                                         p[s]->vertices[p[s]->edge_vertices[2 * edge[s]]])));
            rg_vec3 n = rg_cross(e[0], e[1]);
            if (rg_length(n) < 1e-12)
                continue;
            n = rg_normalised(n);
            best = fmin(best, width_by_scan(a, pa, b, pb, n) - rg_dot(n, d));
            best = fmin(best, width_by_scan(a, pa, b, pb, rg_neg(n)) + rg_dot(n, d));
        }
    return best;
}

/* Boxes, cards, rods and hulls, their proportions up to 1000. */
static rg_shape *random_body(rg_random *random, bool planar) {
    double size = random_scale(random, -1, 1);
    double aspect = rg_random_below(random, 2) ? random_scale(random, 0, 3) : 1;
    if (planar) {
        rg_shape *polygon = NULL;
        while (!polygon)
            polygon = random_polygon(random, size, 1 / aspect, 3 + (int)rg_random_below(random, 8));
        return polygon;
    }
    bool rod = rg_random_below(random, 2);
    rg_vec3 axes = {size, rod ? size / aspect : size * rg_random_between(random, 0.3, 1),
                    size / aspect};
    if (rg_random_below(random, 2))
        return make_shape(rg_shape_def_box(axes.x, axes.y, axes.z));
    rg_shape *hull = NULL;
    while (!hull)
        hull = random_hull(random, rg_scale(0.5, axes), 4 + (int)rg_random_below(random, 14));
    return hull;
}

/* Two bodies that overlap: anyhow, with the same axes, or by 1e-12 to 1e-2 of the smaller one. */
static rg_pose overlapping(rg_random *random, const rg_shape *a, const rg_shape *b) {
    bool planar = rg_shape_is_planar(a);
    double angle = rg_random_between(random, -3, 3);
    rg_pose pose = {{0, 0, 0},
                    planar ? rg_quat_of_planar_angle(angle) : rg_random_rotation(random)};
    if (rg_random_below(random, 4) == 0)
        pose.orientation = (rg_quat){0, 0, 0, 1};
    rg_vec3 u = rg_random_direction(random);
    if (planar)
        u = rg_normalised(rg_vec3_make(u.x, 0, u.z));
    rg_vec3 centre = rg_sub(rg_shape_centre(a), rg_rotate(pose.orientation, rg_shape_centre(b)));
    pose.position = rg_add_scaled(centre, 1e-3, u);
    rg_growth growth;
    assert_int_equal(rg_growth_between(a, rg_pose_identity(), b, pose, NULL, &growth), RG_OK);
    double small = fmin(rg_shape_circumradius(a), rg_shape_circumradius(b));
    double left = rg_random_below(random, 2) ? rg_random_between(random, 0, 1)
                                             : small * random_scale(random, -12, -2) / growth.width;
    /* the ratio is linear along the ray */
    double reach = 1e-3 * (fmax(0, 1 - left) / growth.ratio);
    pose.position = rg_add_scaled(centre, reach, u);
    return pose;
}

static void check_features(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb,
                           const rg_depth *m) {
    rg_growth part;
    assert_int_equal(rg_growth_of_features(a, pa, b, pb, m->features, &part), RG_OK);
    /* almost parallel edges have a better normal than their cross product */
    double slack = m->features.kind == RG_FEATURES_EDGE_EDGE ? 1e-9 : 1e-14;
    assert_near(rg_dot(part.normal, m->normal), 1, slack);
}

static void test_by_force(void **state) {
    (void)state;
    rg_random random = rg_random_make(15);
    long count = test_cases(2000, 10000), certain = 0, slight = 0, edges = 0;
    double worst = 0, worst_kept = 0;
    for (long i = 0; i < count; i++) {
        bool planar = i % 8 == 7;
        rg_shape *a = random_body(&random, planar), *b = random_body(&random, planar);
        rg_pose pa = rg_pose_identity(), pb = overlapping(&random, a, b);
        double size = rg_shape_circumradius(a) + rg_shape_circumradius(b);
        double small = fmin(rg_shape_circumradius(a), rg_shape_circumradius(b));
        rg_depth m = measure(a, pa, b, pb);
        double exact = depth_by_force(a, pa, b, pb);
        worst = fmax(worst, fabs(m.depth - exact) / size);
        assert_near(m.depth, exact, 1e-12 * size);
        assert_near(separation(a, pa, b, pb, m.normal), -m.depth, 1e-13 * size);
        assert_near(rg_dot(m.normal, rg_sub(m.on2, m.on1)), -m.depth, 1e-13 * size);
        check_features(a, pa, b, pb, &m);
        edges += m.features.kind == RG_FEATURES_EDGE_EDGE;
        /* the certificate that the growth will do never errs */
        rg_pair pair = pair_of(a, pa, b, pb);
        rg_growth growth, separate;
        assert_int_equal(rg_growth_between(a, pa, b, pb, NULL, &growth), RG_OK);
        bool is_slight = growth.gap > -1e-4 * small;
        slight += is_slight;
        if (growth.gap < 0 && rg_depth_is_growth(&pair, &growth)) {
            worst_kept = fmax(worst_kept, fabs(growth.gap + exact) / size);
            assert_near(-growth.gap, exact, 1e-12 * size);
            certain += is_slight;
        }
        assert_int_equal(rg_separation_between(a, pa, b, pb, NULL, &separate), RG_OK);
        assert_near(-separate.gap, exact, 1e-9 * small + 1e-12 * size);
        rg_shape_release(a);
        rg_shape_release(b);
    }
    print_message("off by at most %.1e of the size (as certified %.1e); %ld edge pairs of %ld; of "
                  "%ld slight overlaps %ld need no search\n",
                  worst, worst_kept, edges, count, slight, certain);
    assert_true(edges > count / 20);
    assert_true(certain > slight / 2);
}

/* The same bodies, 1e-18 and 1e18 times as large. */
static void test_scales(void **state) {
    (void)state;
    rg_random random = rg_random_make(21);
    for (int i = 0; i < test_cases(200, 2000); i++) {
        double s[3];
        rg_vec3 points[2][12];
        for (int k = 0; k < 3; k++)
            s[k] = random_scale(&random, -2, 0);
        for (int k = 0; k < 12; k++) {
            points[0][k] = rg_times(rg_vec3_make(s[0], s[1], s[2]), rg_random_direction(&random));
            points[1][k] = rg_random_direction(&random);
        }
        rg_pose here = rg_pose_identity(), there = random_pose(&random, 0.3);
        double depth[3];
        for (int k = 0; k < 3; k++) {
            double scale = ldexp(1, 60 * (k - 1));
            rg_vec3 scaled[12];
            rg_pose pose = {rg_scale(scale, there.position), there.orientation};
            for (int j = 0; j < 12; j++)
                scaled[j] = rg_scale(scale, points[0][j]);
            rg_shape *hull = make_shape(rg_shape_def_hull(scaled, 12)), *other;
            if (i % 3 == 0) {
                for (int j = 0; j < 12; j++)
                    scaled[j] = rg_scale(scale, points[1][j]);
                other = make_shape(rg_shape_def_hull(scaled, 12));
            } else {
                other = i % 3 == 1 ? make_shape(rg_shape_def_box(scale, scale * s[0], scale * s[1]))
                                   : make_shape(rg_shape_def_cylinder(scale * s[0], scale));
            }
            depth[k] = measure(hull, here, other, pose).depth / scale;
            rg_shape_release(hull);
            rg_shape_release(other);
        }
        assert_near(depth[0], depth[1], 1e-13);
        assert_near(depth[2], depth[1], 1e-13);
    }
}

/* A die of 16 mm, 5 mm deep in a sheet of 2 mm: out through the sheet's face. */
static void test_die_in_sheet(void **state) {
    (void)state;
    rg_shape *sheet = make_shape(rg_shape_def_box(4, 4, 0.002)),
             *die = make_shape(rg_shape_def_box(0.016, 0.016, 0.016));
    rg_pose here = rg_pose_identity(), there = {{1, 0.3, 0.004}, {0, 0, 0, 1}};
    rg_growth ratio, separate;
    assert_int_equal(rg_growth_between(sheet, here, die, there, NULL, &ratio), RG_OK);
    assert_near(ratio.gap, -1.008, 1e-14); /* the ratio metric prefers the long axis */
    assert_int_equal(rg_separation_between(sheet, here, die, there, NULL, &separate), RG_OK);
    assert_true(separate.least_depth);
    assert_near(separate.gap, -0.005, 1e-16);
    assert_near(separate.normal.z, 1, 1e-16);
    assert_near(measure(sheet, here, die, there).depth, 0.005, 1e-16);
    rg_shape_release(die);
    rg_shape_release(sheet);
}

/* ------------------------------------------------------------------ curved shapes */

/* The least depth along directions: at random, and from the best of them by smaller and smaller
 * steps. An upper bound of the depth. */
static double depth_by_sampling(rg_random *random, const rg_shape *a, rg_pose pa, const rg_shape *b,
                                rg_pose pb) {
    double best = INFINITY;
    rg_vec3 at = {0, 0, 0};
    for (int i = 0; i < 400; i++) {
        rg_vec3 n = rg_random_direction(random);
        if (i >= 200)
            n = rg_add_scaled(at, rg_exp(-(i - 200) / 10.0), n);
        if (rg_shape_is_planar(a))
            n.y = 0;
        n = rg_normalised(n);
        double depth = -separation(a, pa, b, pb, n);
        if (depth < best) {
            best = depth;
            at = n;
        }
    }
    return best;
}

static void test_curved(void **state) {
    (void)state;
    rg_random random = rg_random_make(77);
    long count = test_cases(3000, 30000), deep = 0, open = 0;
    double widest = 0;
    for (long i = 0; i < count; i++) {
        int kind = (int)rg_random_below(&random, 7), other = (int)rg_random_below(&random, 5);
        if (i % 10 == 9) {
            kind = i & 16 ? POLYGON : DISC;
            other = DISC;
        }
        double stretch = i & 8 ? 100 : 2;
        rg_shape *a = random_shape(&random, kind, 1, stretch),
                 *b = random_shape(&random, other, 1, stretch);
        if (i & 1) {
            rg_shape *swap = a;
            a = b;
            b = swap;
        }
        rg_pose pa = rg_pose_identity(), pb = overlapping(&random, a, b);
        double size = rg_shape_circumradius(a) + rg_shape_circumradius(b);
        rg_depth m = measure(a, pa, b, pb), back = measure(b, pb, a, pa);
        double gap = m.depth - m.at_least;
        assert_true(m.at_least <= m.depth);
        widest = fmax(widest, gap / size);
        open += gap > 1e-12 * size;
        assert_near(separation(a, pa, b, pb, m.normal), -m.depth, 1e-12 * size);
        assert_near(rg_dot(m.normal, rg_sub(m.on2, m.on1)), -m.depth, 1e-9 * size + gap);
        /* facets of a cone or cylinder are slivers in the end: that costs the bounds digits */
        assert_true(back.at_least <= m.depth + 1e-10 * size);
        assert_true(m.at_least <= back.depth + 1e-10 * size);
        double sampled = depth_by_sampling(&random, a, pa, b, pb);
        if (m.depth > 0) /* apart, every direction is a lower bound */
            assert_true(sampled >= m.at_least - 1e-10 * size);
        rg_distance distance;
        rg_pose moved = pb;
        moved.position = rg_add_scaled(pb.position, m.depth + 1e-9 * size, m.normal);
        assert_int_equal(rg_distance_between(a, pa, b, moved, NULL, &distance), RG_OK);
        assert_true(distance.distance > 0);
        deep += m.depth > 0;
        rg_shape_release(a);
        rg_shape_release(b);
    }
    print_message("%ld of %ld overlap; bounds apart by at most %.1e of the size, %ld by more than "
                  "1e-12\n",
                  deep, count, widest, open);
    assert_true(deep > count / 2);
    assert_true(widest < 1e-4 && open <= count / 100);
}

/* Balls, capsules and discs in each other: closed forms, concentric ones too. */
static void test_round(void **state) {
    (void)state;
    rg_shape *ball = make_shape(rg_shape_def_sphere(1)),
             *rod = make_shape(rg_shape_def_capsule(0.25, 4)),
             *box = make_shape(rg_shape_def_box(4, 6, 2)),
             *disc = make_shape(rg_shape_def_disc(0.5)),
             *cylinder = make_shape(rg_shape_def_cylinder(1, 6));
    rg_pose here = rg_pose_identity();
    assert_near(measure(ball, here, ball, here).depth, 2, 1e-15);
    assert_near(measure(disc, here, disc, here).depth, 1, 1e-15);
    assert_near(measure(rod, here, rod, here).depth, 0.5, 1e-15);
    assert_near(measure(rod, here, ball, here).depth, 1.25, 1e-15);
    assert_near(measure(box, here, ball, here).depth, 2, 1e-15);
    rg_pose aside = {{0, 0.5, 0.25}, {0, 0, 0, 1}};
    rg_depth m = measure(ball, aside, box, here);
    assert_near(m.depth, 1.75, 1e-15);
    assert_near(m.normal.z, -1, 1e-15);
    /* across a capsule that stands in the box: through the nearest face, not along the capsule */
    m = measure(box, here, rod, (rg_pose){{0.5, 0, 0}, {0, 0, 0, 1}});
    assert_near(m.depth, 1.75, 1e-14);
    assert_near(m.normal.x, 1, 1e-14);
    /* two crossed capsules: out across both */
    rg_pose crossed = {{0.3, 0.1, 0}, rg_quat_of_rotation_vector(rg_vec3_make(0, RG_PI / 2, 0))};
    m = measure(rod, here, rod, crossed);
    assert_near(m.depth, 0.4, 1e-15);
    assert_near(m.normal.y, 1, 1e-14);
    crossed.position.y = 0;
    assert_near(measure(rod, here, rod, crossed).depth, 0.5, 1e-15);
    /* a ball on the axis of a cylinder, and near its end */
    assert_near(measure(cylinder, here, ball, here).depth, 2, 1e-6);
    m = measure(cylinder, here, ball, (rg_pose){{0.1, 0, 2.5}, {0, 0, 0, 1}});
    assert_near(m.depth, 1.5, 1e-13);
    assert_near(m.normal.z, 1, 1e-13);
    m = measure(cylinder, here, ball, (rg_pose){{0.3, 0.4, 0.2}, {0, 0, 0, 1}});
    assert_near(m.depth, 1.5, 1e-12);
    assert_near(m.normal.x, 0.6, 1e-5);
    rg_shape_release(cylinder);
    rg_shape_release(disc);
    rg_shape_release(box);
    rg_shape_release(rod);
    rg_shape_release(ball);
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
    assert_int_equal(rg_depth_between(box, here, ball, here, &depth), RG_OK);
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
        cmocka_unit_test(test_by_force),      cmocka_unit_test(test_die_in_sheet),
        cmocka_unit_test(test_scales),        cmocka_unit_test(test_curved),
        cmocka_unit_test(test_round),         cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
