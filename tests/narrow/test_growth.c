/* The growth function's table, half-spaces, gradients, component functions and directional
 * derivatives where the feature pair is not unique (Hart and Anitescu 2010, section 3). */
#include "narrow_helpers.h"

typedef struct scene {
    const rg_shape *a, *b;
    rg_pose pa, pb;
} scene;

static rg_growth ask(const scene *s) {
    rg_growth growth;
    assert_int_equal(rg_growth_between(s->a, s->pa, s->b, s->pb, NULL, &growth), RG_OK);
    return growth;
}

/* The pose moved by `x`, and turned by `theta` about the shape's centre. */
static rg_pose nudged(const rg_shape *shape, rg_pose pose, rg_vec3 x, rg_vec3 theta) {
    rg_vec3 centre = world_centre(shape, pose);
    rg_quat turn = rg_quat_of_rotation_vector(theta);
    rg_pose moved = {{0, 0, 0}, rg_quat_normalised(rg_quat_multiply(turn, pose.orientation))};
    rg_vec3 back = rg_rotate(moved.orientation, rg_shape_centre(shape));
    moved.position = rg_add(rg_sub(centre, back), x);
    return moved;
}

/* A direction in the twelve coordinates of both bodies. */
typedef struct motion {
    rg_vec3 x1, theta1, x2, theta2;
} motion;

static scene moved(const scene *s, motion m, double h) {
    scene t = *s;
    t.pa = nudged(s->a, s->pa, rg_scale(h, m.x1), rg_scale(h, m.theta1));
    t.pb = nudged(s->b, s->pb, rg_scale(h, m.x2), rg_scale(h, m.theta2));
    return t;
}

static double along(const rg_growth_gradient *g, motion m) {
    return rg_dot(g->x1, m.x1) + rg_dot(g->theta1, m.theta1) + rg_dot(g->x2, m.x2) +
           rg_dot(g->theta2, m.theta2);
}

static rg_growth_gradient gradient_at(const scene *s, const rg_growth *g) {
    return rg_growth_gradient_of(g, world_centre(s->a, s->pa), world_centre(s->b, s->pb));
}

static motion coordinate(int k) {
    motion m = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    rg_vec3 axis = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
    *(k < 3 ? &m.x1 : k < 6 ? &m.theta1 : k < 9 ? &m.x2 : &m.theta2) = axis;
    return m;
}

static motion random_motion(rg_random *random, bool planar) {
    motion m = {rg_random_direction(random), rg_random_direction(random),
                rg_random_direction(random), rg_random_direction(random)};
    if (planar) {
        m.x1.y = m.x2.y = 0;
        m.theta1.x = m.theta1.z = m.theta2.x = m.theta2.z = 0;
    }
    return m;
}

/* ------------------------------------------------------------------ gradients */

static bool same_features(rg_feature_pair a, rg_feature_pair b) {
    return a.kind == b.kind && a.index1 == b.index1 && a.index2 == b.index2;
}

/* Eighth-order central difference; false if the feature pair changes on the way. */
static bool difference(const scene *s, motion m, rg_feature_pair features, double h,
                       double *slope) {
    static const double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    *slope = 0;
    for (int k = 1; k <= 4; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            scene t = moved(s, m, sign * k * h);
            rg_growth g = ask(&t);
            if (!same_features(g.features, features))
                return false;
            *slope += sign * weight[k - 1] * g.ratio / h;
        }
    return true;
}

static void check_gradients(rg_random *random, const rg_shape *const *shapes, int count,
                            bool planar, int pairs) {
    int checked = 0;
    double worst = 0;
    for (int i = 0; checked < 12 * pairs; i++) {
        assert_true(i < 100 * pairs);
        scene s = {shapes[rg_random_below(random, (uint64_t)count)],
                   shapes[rg_random_below(random, (uint64_t)count)], random_pose(random, 1.5),
                   random_pose(random, 1.5)};
        if (planar) {
            s.pa = planar_pose(rg_random_between(random, -2, 2), rg_random_between(random, -2, 2),
                               rg_random_between(random, 0, 7));
            s.pb = planar_pose(rg_random_between(random, -2, 2), rg_random_between(random, -2, 2),
                               rg_random_between(random, 0, 7));
        }
        rg_growth g = ask(&s);
        if (g.ratio < 0.3)
            continue;
        rg_growth_gradient gradient = gradient_at(&s, &g);
        for (int k = 0; k < 12; k++) {
            motion m = coordinate(k);
            bool in_plane = k % 6 < 3 ? k % 3 != 1 : k % 3 == 1;
            double slope;
            if ((planar && !in_plane) || !difference(&s, m, g.features, 2e-3, &slope))
                continue;
            double scale = 1 + rg_length(gradient.x1) + rg_length(gradient.theta1) +
                           rg_length(gradient.theta2);
            worst = fmax(worst, fabs(slope - along(&gradient, m)) / scale);
            checked++;
        }
    }
    print_message("gradients: worst difference %.1e in %d derivatives\n", worst, checked);
    assert_true(worst <= 1e-9);
}

static void gradients(void **state) {
    (void)state;
    rg_random random = rg_random_make(56);
    rg_shape *shapes[6], *polygons[4];
    for (int i = 0; i < 3; i++) {
        shapes[i] = make_shape(rg_shape_def_box(1, rg_random_between(&random, 0.5, 1.5), 1.2));
        shapes[3 + i] = random_hull(&random, rg_vec3_make(1, 0.8, 0.7), 10);
    }
    for (int i = 0; i < 4; i++)
        polygons[i] = random_polygon(&random, 1, 0.7, 6);
    check_gradients(&random, (const rg_shape *const *)shapes, 6, false, 200);
    check_gradients(&random, (const rg_shape *const *)polygons, 4, true, 200);
    for (int i = 0; i < 6; i++)
        rg_shape_release(shapes[i]);
    for (int i = 0; i < 4; i++)
        rg_shape_release(polygons[i]);
}

/* A wrench pair +-N at one point: no net force, no net moment. */
static void gradients_balance(void **state) {
    (void)state;
    rg_random random = rg_random_make(57);
    rg_shape *box = make_shape(rg_shape_def_box(1, 2, 0.5)),
             *hull = random_hull(&random, rg_vec3_make(1, 0.8, 0.7), 10);
    for (int i = 0; i < 500; i++) {
        scene s = {i & 1 ? box : hull, i & 2 ? box : hull, random_pose(&random, 2),
                   random_pose(&random, 2)};
        rg_growth g = ask(&s);
        rg_growth_gradient f = gradient_at(&s, &g);
        assert_near(rg_length(rg_add(f.x1, f.x2)), 0, 1e-15);
        rg_vec3 d = rg_sub(world_centre(s.b, s.pb), world_centre(s.a, s.pa));
        rg_vec3 moment = rg_add(rg_add(f.theta1, f.theta2), rg_cross(d, f.x2));
        assert_near(rg_length(moment), 0, 1e-13 * (1 + rg_length(f.theta1)));
        /* t is homogeneous in d: N.d = t; witnesses and their identities */
        assert_near(rg_dot(f.x2, d), g.ratio, 1e-13 * g.ratio);
        assert_near(rg_length(rg_sub(g.on2, g.on1)), fabs(g.rho) * rg_length(d),
                    1e-12 * (1 + fabs(g.rho)));
        assert_near(rg_dot(g.normal, rg_sub(g.on2, g.on1)), g.gap, 1e-12);
    }
    rg_shape_release(box);
    rg_shape_release(hull);
}

/* ------------------------------------------------------------------ component functions */

typedef struct event_list {
    rg_feature_pair pairs_of_features[2048];
    rg_growth growths[2048];
    int count;
} event_list;

static void add_event(const scene *s, rg_feature_pair features, event_list *list) {
    rg_growth g;
    assert_int_equal(rg_growth_of_features(s->a, s->pa, s->b, s->pb, features, &g), RG_OK);
    assert_true(list->count < 2048);
    list->pairs_of_features[list->count] = features;
    list->growths[list->count++] = g;
}

static void all_events(const scene *s, event_list *list) {
    const rg_polyhedron *p = rg_shape_polyhedron(s->a), *q = rg_shape_polyhedron(s->b);
    list->count = 0;
    for (uint32_t i = 0; i < p->facet_count; i++)
        for (uint32_t j = 0; j < q->vertex_count; j++)
            add_event(s, (rg_feature_pair){RG_FEATURES_FACE_VERTEX, i, j}, list);
    for (uint32_t i = 0; i < p->vertex_count; i++)
        for (uint32_t j = 0; j < q->facet_count; j++)
            add_event(s, (rg_feature_pair){RG_FEATURES_VERTEX_FACE, i, j}, list);
    for (uint32_t i = 0; i < p->edge_count; i++)
        for (uint32_t j = 0; j < q->edge_count; j++)
            add_event(s, (rg_feature_pair){RG_FEATURES_EDGE_EDGE, i, j}, list);
}

/* Whether a feature pair's plane has both bodies on its sides: h(n) is its width. */
static bool is_facet_of_difference(const scene *s, const rg_growth *g) {
    return isfinite(g->ratio) &&
           width_by_scan(s->a, s->pa, s->b, s->pb, g->normal) <= g->width * (1 + 1e-12);
}

/* Theorem 4: the ratio is the largest component function among the facets of K; and the feature
 * pair of an answer has the answer's ratio, point and normal. */
static void components(void **state) {
    (void)state;
    rg_random random = rg_random_make(55);
    static event_list list;
    for (int i = 0; i < 300; i++) {
        rg_shape *a = i & 1 ? make_shape(rg_shape_def_box(1, 0.7, 0.4))
                            : random_hull(&random, rg_vec3_make(1, 1, 0.5), 7);
        rg_shape *b = i & 2 ? make_shape(rg_shape_def_box(0.6, 0.7, 0.8))
                            : random_hull(&random, rg_vec3_make(1, 0.6, 0.5), 6);
        scene s = {a, b, random_pose(&random, 1), random_pose(&random, 1)};
        rg_growth g = ask(&s), component;
        all_events(&s, &list);
        double best = -INFINITY;
        for (int k = 0; k < list.count; k++)
            if (is_facet_of_difference(&s, &list.growths[k]))
                best = fmax(best, list.growths[k].ratio);
        assert_near(g.ratio, best, 1e-12 * best);
        assert_int_equal(rg_growth_of_features(a, s.pa, b, s.pb, g.features, &component), RG_OK);
        assert_near(component.ratio, g.ratio, 1e-13 * g.ratio);
        assert_near(component.gap, g.gap, 1e-13);
        assert_near(rg_length(rg_sub(component.normal, g.normal)), 0, 1e-12);
        assert_near(rg_length(rg_sub(component.point, g.point)), 0, 1e-11);
        assert_near(rg_length(rg_sub(component.on1, g.on1)), 0, 1e-11);
        rg_shape_release(a);
        rg_shape_release(b);
    }
}

/* For one face all vertices of the other body must be above it (AND): the vertices that are not the
 * nearest have larger components. */
static void components_of_one_face(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    /* the lowest vertex above the middle of the face */
    rg_pose there = {{0, 0, 0}, rg_quat_of_rotation_vector(rg_vec3_make(0.5, 0.4, 0.3))};
    rg_vec3 down = rg_rotate_back(there.orientation, rg_vec3_make(0, 0, -1));
    rg_vec3 lowest = rg_rotate(there.orientation, rg_shape_support(cube, down, NULL));
    there.position = rg_sub(rg_vec3_make(0.05, 0.1, 0.6), lowest);
    scene s = {cube, cube, rg_pose_identity(), there};
    rg_growth g = ask(&s), component;
    assert_int_equal(g.features.kind, RG_FEATURES_FACE_VERTEX);
    for (uint32_t v = 0; v < 8; v++) {
        rg_feature_pair features = {RG_FEATURES_FACE_VERTEX, g.features.index1, v};
        assert_int_equal(rg_growth_of_features(cube, s.pa, cube, s.pb, features, &component),
                         RG_OK);
        if (isfinite(component.ratio))
            assert_true(component.ratio >= g.ratio * (1 - 1e-14));
    }
    /* parallel edges have none */
    s.pb.orientation = rg_quat_identity();
    assert_int_equal(rg_growth_of_features(cube, s.pa, cube, s.pb,
                                           (rg_feature_pair){RG_FEATURES_EDGE_EDGE, 0, 0},
                                           &component),
                     RG_OK);
    assert_true(isinf(component.ratio) && component.ratio < 0);
    assert_int_equal(rg_growth_of_features(cube, s.pa, cube, s.pb,
                                           (rg_feature_pair){RG_FEATURES_EDGE_EDGE, 12, 0},
                                           &component),
                     RG_INVALID_ARGUMENT);
    assert_int_equal(rg_growth_of_features(cube, s.pa, cube, s.pb,
                                           (rg_feature_pair){RG_FEATURES_NONE, 0, 0}, &component),
                     RG_INVALID_ARGUMENT);
    rg_shape_release(cube);
}

/* ------------------------------------------------------------------ degenerate points */

/* One-sided, second order. */
static double one_sided(const scene *s, motion m, double h) {
    scene one = moved(s, m, h), two = moved(s, m, 2 * h);
    return (4 * ask(&one).ratio - ask(&two).ratio - 3 * ask(s).ratio) / (2 * h);
}

/* Cube on cube, offset (0.3, 0.2): four feature pairs at the corners of the rectangle; the
 * derivative is the smallest of theirs. */
static void resting_box(void **state) {
    (void)state;
    rg_random random = rg_random_make(54);
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1)), *hull = box_as_hull(1, 1, 1);
    static event_list list;
    for (int kind = 0; kind < 2; kind++) {
        const rg_shape *shape = kind ? hull : cube;
        scene s = {shape, shape, rg_pose_identity(), {{0.3, 0.2, 1}, rg_quat_identity()}};
        rg_growth g = ask(&s);
        assert_near(g.ratio, 1, 1e-15);
        assert_near(g.normal.z, 1, 1e-15);
        assert_true(g.point.x >= -0.2 - 1e-14 && g.point.x <= 0.5 + 1e-14);
        assert_true(g.point.y >= -0.3 - 1e-14 && g.point.y <= 0.5 + 1e-14);
        /* The corners: (-0.2 or 0.5, -0.3 or 0.5, 0.5), a vertex of either cube or two edges. */
        rg_vec3 corners[4] = {
            {-0.2, -0.3, 0.5}, {0.5, -0.3, 0.5}, {0.5, 0.5, 0.5}, {-0.2, 0.5, 0.5}};
        bool found[4] = {false};
        all_events(&s, &list);
        for (int k = 0; k < list.count; k++) {
            const rg_growth *e = &list.growths[k];
            if (!isfinite(e->ratio) || fabs(e->ratio - 1) > 1e-12 || e->normal.z < 0.999)
                continue;
            for (int c = 0; c < 4; c++)
                found[c] = found[c] || rg_length(rg_sub(e->point, corners[c])) < 1e-12;
        }
        assert_true(found[0] && found[1] && found[2] && found[3]);
        int tilted = 0;
        for (int i = 0; i < 400; i++) {
            motion m = random_motion(&random, false);
            if (i % 4 == 0) /* tilt the upper one alone */
                m.x1 = m.x2 = m.theta1 = rg_vec3_make(0, 0, 0);
            double least = INFINITY, most = -INFINITY;
            for (int c = 0; c < 4; c++) {
                rg_growth at = g;
                at.point = corners[c];
                rg_growth_gradient f = gradient_at(&s, &at);
                least = fmin(least, along(&f, m));
                most = fmax(most, along(&f, m));
            }
            assert_near(one_sided(&s, m, 1e-5), least, 2e-9);
            tilted += most > least + 0.1;
        }
        assert_true(tilted > 200); /* the minimum is not the maximum */
    }
    rg_shape_release(cube);
    rg_shape_release(hull);
}

/* Corner on corner: one point, many normals; the derivative is the largest over the facets of K
 * that meet there. */
static void corner_to_corner(void **state) {
    (void)state;
    rg_random random = rg_random_make(58);
    static event_list list;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1)), *hull = box_as_hull(1, 1, 1);
    for (int kind = 0; kind < 2; kind++) {
        const rg_shape *shape = kind ? hull : cube;
        /* The second cube half a turn about the diagonal: generic facets around the corner. */
        rg_quat turn =
            rg_quat_of_rotation_vector(rg_scale(0.7, rg_normalised(rg_vec3_make(1, 1, 1))));
        scene s = {shape, shape, rg_pose_identity(), {{1, 1, 1}, turn}};
        rg_growth g = ask(&s);
        assert_near(g.ratio, 1, 1e-14);
        all_events(&s, &list);
        int active = 0;
        for (int i = 0; i < 200; i++) {
            motion m = random_motion(&random, false);
            double most = -INFINITY;
            active = 0;
            for (int k = 0; k < list.count; k++) {
                const rg_growth *e = &list.growths[k];
                if (!is_facet_of_difference(&s, e) || fabs(e->ratio - 1) > 1e-12)
                    continue;
                rg_growth at = *e;
                at.point = rg_vec3_make(0.5, 0.5, 0.5);
                rg_growth_gradient f = gradient_at(&s, &at);
                most = fmax(most, along(&f, m));
                active++;
            }
            assert_near(one_sided(&s, m, 1e-5), most, 5e-9);
        }
        assert_true(active >= 3);
    }
    rg_shape_release(cube);
    rg_shape_release(hull);
}

/* ------------------------------------------------------------------ half-spaces */

static void half_spaces(void **state) {
    (void)state;
    rg_random random = rg_random_make(59);
    rg_shape *floor_shape = make_shape(rg_shape_def_halfspace(rg_vec3_make(1, 2, 3), 0.7));
    rg_shape *shapes[4] = {
        make_shape(rg_shape_def_box(1, 2, 3)), random_hull(&random, rg_vec3_make(1, 2, 1), 50),
        make_shape(rg_shape_def_sphere(0.8)), make_shape(rg_shape_def_capsule(0.3, 1))};
    rg_vec3 n = rg_normalised(rg_vec3_make(1, 2, 3));
    for (int i = 0; i < 2000; i++) {
        const rg_shape *shape = shapes[i % 4];
        rg_pose pf = random_pose(&random, 3), pb = random_pose(&random, 3);
        rg_vec3 up = rg_rotate(pf.orientation, n);
        /* the plane { up.x = level } */
        double level = rg_dot(up, pf.position) + 0.7;
        rg_vec3 low = rg_pose_apply(
            pb, rg_shape_support(shape, rg_rotate_back(pb.orientation, rg_neg(up)), NULL));
        double gap = rg_dot(up, low) - level;
        double height = rg_dot(up, world_centre(shape, pb)) - level;
        rg_growth g, h;
        assert_int_equal(rg_growth_between(floor_shape, pf, shape, pb, NULL, &g), RG_OK);
        assert_int_equal(rg_growth_between(shape, pb, floor_shape, pf, NULL, &h), RG_OK);
        assert_near(g.gap, gap, 1e-13);
        assert_near(h.gap, gap, 1e-13);
        assert_near(rg_length(rg_sub(g.normal, up)), 0, 1e-14);
        assert_near(rg_length(rg_add(h.normal, up)), 0, 1e-14);
        assert_near(g.width, height - gap, 1e-13);
        assert_near(g.ratio, height > 0 ? height / (height - gap) : 0, 1e-12 * (1 + g.ratio));
        assert_near(h.ratio, g.ratio, 1e-13 * (1 + g.ratio));
        assert_near(rg_dot(g.normal, rg_sub(g.on2, g.on1)), gap, 1e-13);
        assert_near(rg_dot(h.normal, rg_sub(h.on2, h.on1)), gap, 1e-13);
        assert_near(rg_dot(up, g.on1), level, 1e-13);
        assert_near(rg_dot(up, g.point), level, 1e-12);
        assert_int_equal(g.features.kind, i % 4 < 2 ? RG_FEATURES_FACE_VERTEX : RG_FEATURES_SMOOTH);
        if (i % 4 < 2) {
            rg_growth features;
            assert_int_equal(
                rg_growth_of_features(floor_shape, pf, shape, pb, g.features, &features), RG_OK);
            assert_near(features.gap, gap, 1e-13);
            assert_int_equal(
                rg_growth_of_features(shape, pb, floor_shape, pf, h.features, &features), RG_OK);
            assert_near(features.gap, gap, 1e-13);
        }
    }
    rg_shape_release(floor_shape);
    for (int i = 0; i < 4; i++)
        rg_shape_release(shapes[i]);
}

static void half_space_gradients(void **state) {
    (void)state;
    rg_random random = rg_random_make(60);
    rg_shape *floor_shape = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_shape *box = make_shape(rg_shape_def_box(1, 0.8, 0.6));
    int checked = 0;
    for (int i = 0; i < 200; i++) {
        scene s = {floor_shape,
                   box,
                   {{0.2, 0.1, 0}, rg_quat_of_rotation_vector(rg_vec3_make(0.1, 0.2, 0.3))},
                   {{0.5, 0.3, 1.5}, rg_random_rotation(&random)}};
        rg_growth g = ask(&s);
        rg_growth_gradient f = gradient_at(&s, &g);
        for (int k = 0; k < 12; k++) {
            double slope;
            if (!difference(&s, coordinate(k), g.features, 2e-3, &slope))
                continue;
            assert_near(slope, along(&f, coordinate(k)), 1e-9 * (1 + rg_length(f.theta1)));
            checked++;
        }
    }
    assert_true(checked > 1500);
    rg_shape_release(floor_shape);
    rg_shape_release(box);
}

/* ------------------------------------------------------------------ the table */

static void refused(void **state) {
    (void)state;
    rg_shape *floor_shape = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_shape *box = make_shape(rg_shape_def_box(1, 1, 1));
    rg_vec3 corners[3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    rg_shape *polygon = make_shape(rg_shape_def_polygon(corners, 3));
    rg_compound_part part = {box, rg_pose_identity(), 1};
    rg_shape *compound = make_shape(rg_shape_def_compound(&part, 1));
    rg_pose here = rg_pose_identity(), nowhere = {{NAN, 0, 0}, {0, 0, 0, 1}};
    rg_growth g;
    assert_int_equal(rg_growth_between(floor_shape, here, floor_shape, here, NULL, &g),
                     RG_INVALID_ARGUMENT);
    assert_int_equal(rg_growth_between(box, here, polygon, here, NULL, &g), RG_INVALID_ARGUMENT);
    assert_int_equal(rg_growth_between(compound, here, box, here, NULL, &g), RG_INVALID_ARGUMENT);
    assert_int_equal(rg_growth_between(box, here, box, nowhere, NULL, &g), RG_NOT_FINITE);
    assert_int_equal(rg_growth_between(floor_shape, here, polygon, here, NULL, &g), RG_OK);
    rg_shape_release(floor_shape);
    rg_shape_release(box);
    rg_shape_release(polygon);
    rg_shape_release(compound);
}

/* A quaternion that is not quite unit turns like its direction; none at all does not turn. */
static void drifted_orientations(void **state) {
    (void)state;
    rg_random random = rg_random_make(62);
    rg_shape *hull = random_hull(&random, rg_vec3_make(1, 0.8, 0.7), 40);
    for (int i = 0; i < 200; i++) {
        scene s = {hull, hull, random_pose(&random, 1.5), random_pose(&random, 1.5)};
        rg_growth unit = ask(&s);
        double f = 1 + 1e-6 * rg_random_between(&random, -1, 1);
        rg_quat q = s.pb.orientation;
        s.pb.orientation = (rg_quat){f * q.x, f * q.y, f * q.z, f * q.w};
        rg_growth drifted = ask(&s);
        assert_near(drifted.ratio, unit.ratio, 1e-14 * unit.ratio);
        assert_near(drifted.primal_error, 0, 1e-14);
        assert_false(drifted.fallback);
        s.pb.orientation = (rg_quat){0, 0, 0, 0};
        rg_growth none = ask(&s);
        s.pb.orientation = rg_quat_identity();
        assert_true(none.ratio == ask(&s).ratio);
    }
    rg_shape_release(hull);
}

/* A cache filled with anything gives the same answer. */
static void stale_caches(void **state) {
    (void)state;
    rg_random random = rg_random_make(61);
    rg_shape *shapes[3] = {random_hull(&random, rg_vec3_make(1, 0.8, 0.7), 40),
                           make_shape(rg_shape_def_box(1, 1, 1)),
                           random_hull(&random, rg_vec3_make(1, 0.8, 0.7), 9)};
    for (int i = 0; i < 5000; i++) {
        scene s = {shapes[i % 3], shapes[i / 3 % 3], random_pose(&random, 1.5),
                   random_pose(&random, 1.5)};
        rg_growth cold = ask(&s), warm;
        rg_growth_cache cache = {.valid = 1,
                                 .features = {(rg_feature_kind)rg_random_below(&random, 6),
                                              (uint32_t)rg_random_below(&random, 100),
                                              (uint32_t)rg_random_below(&random, 100)},
                                 .vertex1 = (uint32_t)rg_random_next(&random),
                                 .vertex2 = (uint32_t)rg_random_next(&random)};
        assert_int_equal(rg_growth_between(s.a, s.pa, s.b, s.pb, &cache, &warm), RG_OK);
        assert_near(warm.ratio, cold.ratio, 1e-14 * cold.ratio);
        assert_false(warm.fallback);
    }
    for (int i = 0; i < 3; i++)
        rg_shape_release(shapes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients),    cmocka_unit_test(gradients_balance),
        cmocka_unit_test(components),   cmocka_unit_test(components_of_one_face),
        cmocka_unit_test(resting_box),  cmocka_unit_test(corner_to_corner),
        cmocka_unit_test(half_spaces),  cmocka_unit_test(half_space_gradients),
        cmocka_unit_test(refused),      cmocka_unit_test(drifted_orientations),
        cmocka_unit_test(stale_caches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
