/* Contact points of polyhedra, polygons and half-spaces: worked cases, an independent overlap of
 * faces, symmetry, scales, and the wrench that the corners can carry. */
#include "contact_helpers.h"

#include "rigor/random.h"

static contact_result result, other;

/* A random place 1 m up. */
static rg_vec3 beside(rg_random *random, double low, double high) {
    rg_vec3 p = random_vector(random, low, high);
    return rg_vec3_make(p.x, p.y, 1);
}

static rg_shape *make_cube(void) {
    return make_shape(rg_shape_def_box(1, 1, 1));
}

/* ------------------------------------------------------------------ worked cases */

static void cube_on_cube_offset(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    for (int i = -1; i <= 1; i++) { /* apart, touching, overlapping, within the tolerance */
        double gap = 1e-4 * i;
        query(cube, pose_at(0, 0, 0), cube, pose_at(0.3, 0.2, 1 + gap), &result);
        double z = 0.5 + gap / 2;
        rg_vec3 expected[4] = {{-0.2, -0.3, z}, {0.5, -0.3, z}, {0.5, 0.5, z}, {-0.2, 0.5, z}};
        assert_points(&result, expected, 4, 1e-14);
        assert_vector(result.manifold.normal, rg_vec3_make(0, 0, 1), 1e-15);
        assert_int_equal(count_kind(&result, RG_FEATURES_FACE_VERTEX), 1);
        assert_int_equal(count_kind(&result, RG_FEATURES_VERTEX_FACE), 1);
        assert_int_equal(count_kind(&result, RG_FEATURES_EDGE_EDGE), 2);
        for (int k = 0; k < 4; k++)
            assert_near(result.points[k].gap, gap, 1e-15);
        assert_near(result.manifold.area, 0.7 * 0.8, 1e-14);
        assert_false(result.manifold.degenerate);
        assert_false(result.manifold.reduced);
    }
    rg_shape_release(cube);
}

static void cube_on_cube_turned(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    query(cube, pose_at(0, 0, 0), cube,
          pose_turned(rg_vec3_make(0, 0, 1), rg_vec3_make(0, 0, RG_PI / 4)), &result);
    assert_int_equal(result.manifold.point_count, 8);
    assert_int_equal(count_kind(&result, RG_FEATURES_EDGE_EDGE), 8);
    double t = sqrt(0.5) - 0.5; /* where |x| + |y| = sqrt(1/2) meets |x| = 1/2 */
    for (int i = 0; i < 8; i++) {
        double a = i & 1 ? 0.5 : -0.5, b = i & 2 ? t : -t;
        rg_vec3 p = i & 4 ? rg_vec3_make(a, b, 0.5) : rg_vec3_make(b, a, 0.5);
        assert_near(nearest_point(&result, p), 0, 1e-14);
    }
    rg_shape_release(cube);
}

/* Faces flush: four corners on four corners, however rounding puts them. */
static void cube_on_cube_flush(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    double shifts[] = {0, 1e-16, -3e-16, 1e-12, -1e-10, 4e-8};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            query(cube, pose_at(0, 0, 0), cube, pose_at(shifts[i], shifts[k], 1), &result);
            assert_int_equal(result.manifold.point_count, 4);
            assert_int_equal(count_kind(&result, RG_FEATURES_VERTEX_VERTEX), 4);
            assert_false(result.manifold.degenerate);
            assert_near(result.manifold.area, 1, 1e-6);
        }
    rg_shape_release(cube);
}

/* Around the flush position, across and turned by amounts about the tolerance, no corner is lost.
 */
static void nearly_flush(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    rg_random random = rg_random_make(71);
    for (int trial = 0, trials = test_cases(4000, 4000); trial < trials; trial++) {
        double scale = trial % 4 == 0 ? 1e-8 : trial % 4 == 1 ? 1e-7 : trial % 4 == 2 ? 1e-6 : 1e-5;
        rg_vec3 shift = rg_scale(scale, rg_random_direction(&random)),
                turn = rg_scale(scale, rg_random_direction(&random));
        if (trial % 3 == 0)
            turn.z += RG_PI / 2;
        if (trial % 5 == 0)
            turn = rg_vec3_make(0, 0, turn.z);
        query(cube, pose_at(0, 0, 0), cube, pose_turned(rg_vec3_make(shift.x, shift.y, 1), turn),
              &result);
        /* Eight crossings of sides that are nearly parallel, four corners that nearly touch. */
        assert_true(result.manifold.point_count >= 4 && result.manifold.point_count <= 12);
        assert_near(result.manifold.area, 1, 4 * scale + 1e-6);
        for (int i = 0; i < 4; i++) /* each corner of the region has a point */
            assert_near(
                nearest_point(&result, rg_vec3_make(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, 0.5)),
                0, 4 * scale + 1e-6);
    }
    rg_shape_release(cube);
}

static void corner_on_corner(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    double third = 1 / sqrt(3);
    rg_vec3 diagonal = {third, third, third};
    query(cube, pose_at(0, 0, 0), cube, pose_at(1, 1, 1), &result);
    assert_true(result.manifold.degenerate);
    assert_vector(result.manifold.normal, diagonal, 1e-15);
    assert_int_equal(result.manifold.point_count, 1);
    assert_int_equal(result.points[0].feature.kind, RG_FEATURES_VERTEX_VERTEX);
    assert_vector(result.points[0].position, rg_vec3_make(0.5, 0.5, 0.5), 1e-15);
    assert_int_equal(result.manifold.features.kind, RG_FEATURES_NONE);
    /* The other cube turned about the diagonal: the average stays on it. */
    for (int i = 1; i < 12; i++) {
        rg_quat turn = rg_quat_of_rotation_vector(rg_scale(RG_PI / 18 * i, diagonal));
        rg_pose pose = {{1, 1, 1}, turn};
        query(cube, pose_at(0, 0, 0), cube, pose, &result);
        assert_true(result.manifold.degenerate);
        assert_vector(result.manifold.normal, diagonal, 1e-9);
        assert_int_equal(result.manifold.point_count, 1);
    }
    rg_shape_release(cube);
}

/* Along a coordinate plane: edge along edge, the overlap's ends. */
static void edge_along_edge(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    query(cube, pose_at(0, 0, 0), cube, pose_at(1, 0.25, 1), &result);
    assert_true(result.manifold.degenerate);
    assert_vector(result.manifold.normal, rg_vec3_make(sqrt(0.5), 0, sqrt(0.5)), 1e-15);
    rg_vec3 expected[2] = {{0.5, -0.25, 0.5}, {0.5, 0.5, 0.5}};
    assert_points(&result, expected, 2, 1e-14);
    assert_int_equal(count_kind(&result, RG_FEATURES_EDGE_VERTEX), 1);
    assert_int_equal(count_kind(&result, RG_FEATURES_VERTEX_EDGE), 1);
    rg_shape_release(cube);
}

/* A corner of a cube on an edge of another: the average of the two faces beside the edge. */
static void corner_on_edge(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    /* The corner (-1,-1,-1)/2 of a cube turned so that its diagonal is along (1,0,1). */
    double half = sqrt(3) / 2;
    rg_vec3 target = {sqrt(0.5), 0, sqrt(0.5)}, third = rg_scale(1 / sqrt(3), (rg_vec3){1, 1, 1});
    rg_vec3 axis = rg_normalised(rg_cross(third, target));
    rg_quat turn = rg_quat_of_rotation_vector(rg_scale(rg_acos(rg_dot(third, target)), axis));
    rg_vec3 contact = {0.5, 0.1, 0.5};
    rg_pose pose = {rg_add_scaled(contact, half, target), turn};
    query(cube, pose_at(0, 0, 0), cube, pose, &result);
    assert_true(result.manifold.degenerate);
    assert_int_equal(result.manifold.point_count, 1);
    assert_vector(result.points[0].position, contact, 1e-14);
    assert_near(result.points[0].gap, 0, 1e-14);
    /* It separates: every vertex of the second beyond the plane, those of the first before it. */
    const rg_polyhedron *p = rg_shape_polyhedron(cube);
    for (uint32_t v = 0; v < 8; v++) {
        rg_vec3 n = result.manifold.normal;
        assert_true(rg_dot(n, rg_sub(p->vertices[v], contact)) <= 1e-9);
        assert_true(rg_dot(n, rg_sub(rg_pose_apply(pose, p->vertices[v]), contact)) >= -1e-9);
    }
    assert_true(rg_dot(result.manifold.normal, target) > 0.9);
    rg_shape_release(cube);
}

static void crossed_edges(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    /* Edge up along y, edge down along x. */
    rg_pose low = pose_turned(rg_vec3_make(0, 0, 0), rg_vec3_make(0, RG_PI / 4, 0));
    rg_pose high = pose_turned(rg_vec3_make(0.1, 0.2, sqrt(2)), rg_vec3_make(RG_PI / 4, 0, 0));
    query(cube, low, cube, high, &result);
    assert_int_equal(result.manifold.point_count, 1);
    assert_int_equal(result.points[0].feature.kind, RG_FEATURES_EDGE_EDGE);
    assert_vector(result.points[0].position, rg_vec3_make(0, 0.2, sqrt(0.5)), 1e-14);
    assert_vector(result.manifold.normal, rg_vec3_make(0, 0, 1), 1e-14);
    assert_false(result.manifold.degenerate);
    rg_shape_release(cube);
}

static void edge_on_face(void **state) {
    (void)state;
    rg_shape *cube = make_cube(), *rod = make_shape(rg_shape_def_box(0.2, 3, 0.2));
    rg_pose high =
        pose_turned(rg_vec3_make(0.1, 0.2, 0.5 + sqrt(0.02)), rg_vec3_make(0, RG_PI / 4, 0));
    query(cube, pose_at(0, 0, 0), rod, high, &result); /* longer than the face */
    rg_vec3 ends[2] = {{0.1, -0.5, 0.5}, {0.1, 0.5, 0.5}};
    assert_points(&result, ends, 2, 1e-14);
    assert_int_equal(count_kind(&result, RG_FEATURES_EDGE_EDGE), 2);
    rg_shape_release(rod);
    rod = make_shape(rg_shape_def_box(0.2, 0.4, 0.2));
    query(cube, pose_at(0, 0, 0), rod, high, &result); /* shorter */
    rg_vec3 inside[2] = {{0.1, 0, 0.5}, {0.1, 0.4, 0.5}};
    assert_points(&result, inside, 2, 1e-14);
    assert_int_equal(count_kind(&result, RG_FEATURES_FACE_VERTEX), 2);
    rg_shape_release(rod);
    rg_shape_release(cube);
}

static void vertex_on_face(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    rg_vec3 third = rg_scale(1 / sqrt(3), (rg_vec3){1, 1, 1}), up = {0, 0, 1};
    rg_vec3 axis = rg_normalised(rg_cross(third, up));
    rg_quat turn = rg_quat_of_rotation_vector(rg_scale(rg_acos(rg_dot(third, up)), axis));
    rg_pose high = {{0.1, -0.2, 0.5 + sqrt(3) / 2}, turn};
    query(cube, pose_at(0, 0, 0), cube, high, &result);
    rg_vec3 expected = {0.1, -0.2, 0.5};
    assert_points(&result, &expected, 1, 1e-14);
    assert_int_equal(result.points[0].feature.kind, RG_FEATURES_FACE_VERTEX);
    rg_shape_release(cube);
}

/* ------------------------------------------------------------------ many vertices */

enum { RING = 400 };

/* A prism (or frustum) over random points of a circle, so that the face has `count` corners. */
static rg_shape *make_prism(rg_random *random, uint32_t count, double radius, double height,
                            double taper, bool regular, rg_vec3 *top, rg_vec3 *bottom) {
    static rg_vec3 points[2 * RING];
    double start = regular ? 0 : rg_random_unit(random);
    for (uint32_t i = 0; i < count; i++) {
        double jitter = regular ? 0 : 0.8 * rg_random_unit(random), s, c;
        rg_sin_cos(2 * RG_PI * (i + jitter + start) / count, &s, &c);
        points[i] = top[i] = rg_vec3_make(radius * c, radius * s, height / 2);
        points[count + i] = bottom[i] =
            rg_vec3_make(taper * radius * c, taper * radius * s, -height / 2);
    }
    return make_shape(rg_shape_def_hull(points, 2 * (size_t)count));
}

static void face_on_face_of_many(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    static rg_vec3 top[RING], bottom[RING], unused[RING], corners[RING], flat[MOST_TEST_POINTS];
    static half_plane planes[2 * RING];
    uint32_t most = 0;
    for (int trial = 0; trial < 40; trial++) {
        uint32_t n1 = 3 + (uint32_t)rg_random_below(&random, RING - 3),
                 n2 = 3 + (uint32_t)rg_random_below(&random, RING - 3);
        bool regular = trial % 4 == 0; /* sides along the axes, corners one above the other */
        if (regular)
            n1 = n2 = 4 * (1 + n1 / 4);
        rg_shape *low = make_prism(&random, n1, 1, 1, 1 + 0.2 * (trial % 3), regular, top, unused);
        rg_shape *high = make_prism(&random, n2, rg_random_between(&random, 0.7, 1.3), 1, 1,
                                    regular, unused, bottom);
        double turn = regular ? 0 : 7 * rg_random_unit(&random);
        rg_pose pose = pose_turned(beside(&random, -0.3, 0.3), rg_vec3_make(0, 0, turn));
        query(low, pose_at(0, 0, 0), high, pose, &result);
        uint32_t count = half_planes_of(top, n1, planes);
        for (uint32_t i = 0; i < n2; i++)
            corners[i] = rg_pose_apply(pose, bottom[i]);
        count += half_planes_of(corners, n2, planes + count);
        double x, y, px, py, area = intersection_area(planes, count, &x, &y);
        for (uint32_t i = 0; i < result.manifold.point_count; i++) {
            flat[i] = result.points[i].position;
            assert_near(flat[i].z, 0.5, 1e-12);
            /* On the border of the region. */
            double slack = INFINITY;
            for (uint32_t k = 0; k < count; k++)
                slack =
                    fmin(slack, planes[k].c - planes[k].a * flat[i].x - planes[k].b * flat[i].y);
            assert_near(slack, 0, 1e-6);
        }
        double hull = points_area(flat, result.manifold.point_count, &px, &py);
        assert_near(hull, area, 1e-6);
        assert_near(px, x, 1e-6);
        assert_near(py, y, 1e-6);
        assert_near(result.manifold.area, area, 1e-6);
        most = result.manifold.point_count > most ? result.manifold.point_count : most;
        rg_shape_release(low);
        rg_shape_release(high);
    }
    assert_true(most > 100);
}

/* A point-faced ball of facets on a face: the deepest vertex is among the points, whatever ring of
 * vertices around it is within the band. */
static void dome_on_face(void **state) {
    (void)state;
    rg_random random = rg_random_make(17);
    static rg_vec3 points[2000];
    for (int i = 0; i < 2000; i++)
        points[i] = rg_random_direction(&random);
    rg_shape *ball = make_shape(rg_shape_def_hull(points, 2000));
    rg_shape *slab = make_shape(rg_shape_def_box(4, 4, 1));
    rg_contact_settings settings = {.band = 0.05};
    for (int trial = 0; trial < 50; trial++) {
        rg_pose pose = {{0.1, 0.2, 2}, rg_random_rotation(&random)};
        double low = INFINITY;
        for (int i = 0; i < 2000; i++)
            low = fmin(low, rg_pose_apply(pose, points[i]).z);
        pose.position.z += 0.5 - low;
        for (int swap = 0; swap < 2; swap++) {
            if (swap)
                query_with(ball, pose, slab, pose_at(0, 0, 0), &settings, NULL, &result);
            else
                query_with(slab, pose_at(0, 0, 0), ball, pose, &settings, NULL, &result);
            assert_true(result.manifold.point_count > 3);
            assert_near(result.manifold.gap, 0, 1e-12);
            for (uint32_t i = 0; i < result.manifold.point_count; i++)
                assert_true(result.points[i].gap <= 0.05 + 1e-12);
        }
    }
    rg_shape_release(ball);
    rg_shape_release(slab);
}

/* ------------------------------------------------------------------ symmetry, motion, scale */

static rg_feature_kind swapped_kind(rg_feature_kind kind) {
    switch (kind) {
    case RG_FEATURES_FACE_VERTEX:
        return RG_FEATURES_VERTEX_FACE;
    case RG_FEATURES_VERTEX_FACE:
        return RG_FEATURES_FACE_VERTEX;
    case RG_FEATURES_EDGE_VERTEX:
        return RG_FEATURES_VERTEX_EDGE;
    case RG_FEATURES_VERTEX_EDGE:
        return RG_FEATURES_EDGE_VERTEX;
    default:
        return kind;
    }
}

/* The same points under a rigid motion and, if `swap`, with the roles of the bodies exchanged. */
static void assert_same(const contact_result *a, const contact_result *b, rg_pose motion, bool swap,
                        double tolerance) {
    assert_int_equal(a->manifold.point_count, b->manifold.point_count);
    rg_vec3 n = rg_rotate(motion.orientation, a->manifold.normal);
    assert_vector(swap ? rg_neg(n) : n, b->manifold.normal, 1e-9);
    assert_int_equal(a->manifold.degenerate, b->manifold.degenerate);
    for (uint32_t i = 0; i < a->manifold.point_count; i++) {
        rg_feature_pair f = a->points[i].feature;
        if (swap)
            f = (rg_feature_pair){swapped_kind(f.kind), f.index2, f.index1};
        uint32_t k = 0;
        while (k < b->manifold.point_count && b->points[k].id != rg_contact_id(f))
            k++;
        assert_true(k < b->manifold.point_count);
        assert_vector(rg_pose_apply(motion, a->points[i].position), b->points[k].position,
                      tolerance);
        assert_near(a->points[i].gap, b->points[k].gap, tolerance);
    }
}

/* Two random boxes or hulls, brought to touch or nearly so. */
static void make_pair(rg_random *random, int trial, rg_shape *shape[2], rg_pose pose[2]) {
    static rg_vec3 points[40];
    for (int i = 0; i < 2; i++) {
        if (trial % 2) {
            for (int k = 0; k < 40; k++)
                points[k] = rg_random_direction(random);
            shape[i] = make_shape(rg_shape_def_hull(points, 40));
        } else {
            rg_vec3 size = random_vector(random, 0.3, 1);
            shape[i] = make_shape(rg_shape_def_box(size.x, size.y, size.z));
        }
        pose[i] = random_pose(random, 1);
        if (trial % 4 == 0) /* parallel faces, turned about z */
            pose[i].orientation =
                rg_quat_of_rotation_vector(rg_vec3_make(0, 0, rg_random_between(random, 0, 6)));
    }
    rg_growth growth;
    for (int k = 0; k < 3; k++) {
        assert_int_equal(rg_growth_between(shape[0], pose[0], shape[1], pose[1], NULL, &growth),
                         RG_OK);
        pose[1].position = rg_add_scaled(pose[1].position, -growth.gap, growth.normal);
    }
}

static void swap_and_motion(void **state) {
    (void)state;
    rg_random random = rg_random_make(23);
    uint32_t points = 0;
    for (int trial = 0, trials = test_cases(2000, 2000); trial < trials; trial++) {
        rg_shape *shape[2];
        rg_pose pose[2];
        make_pair(&random, trial, shape, pose);
        pose[1].position.z += rg_random_between(&random, -3e-4, 3e-4);
        query(shape[0], pose[0], shape[1], pose[1], &result);
        query(shape[1], pose[1], shape[0], pose[0], &other);
        assert_same(&result, &other, rg_pose_identity(), true, 1e-9);
        rg_pose motion = random_pose(&random, 10);
        query(shape[0], rg_pose_compose(motion, pose[0]), shape[1],
              rg_pose_compose(motion, pose[1]), &other);
        assert_same(&result, &other, motion, false, 1e-9);
        points += result.manifold.point_count;
        rg_shape_release(shape[0]);
        rg_shape_release(shape[1]);
    }
    assert_true(points * test_stride() > 2000);
}

static void scales(void **state) {
    (void)state;
    for (int i = -6; i <= 6; i++) {
        double s = 1;
        for (int k = 0; k < (i < 0 ? -i : i); k++)
            s = i < 0 ? s / 10 : s * 10;
        rg_shape *cube = make_shape(rg_shape_def_box(s, s, s));
        query(cube, pose_at(0, 0, 0), cube, pose_at(0.3 * s, 0.2 * s, s), &result);
        rg_vec3 expected[4] = {{-0.2 * s, -0.3 * s, 0.5 * s},
                               {0.5 * s, -0.3 * s, 0.5 * s},
                               {0.5 * s, 0.5 * s, 0.5 * s},
                               {-0.2 * s, 0.5 * s, 0.5 * s}};
        assert_points(&result, expected, 4, 1e-14 * s);
        /* A small body on a large one. */
        rg_shape *slab = make_shape(rg_shape_def_box(10, 10, 1));
        query(slab, pose_at(0, 0, 0), cube, pose_at(0.3, 0.2, 0.5 + 0.5 * s), &result);
        assert_int_equal(result.manifold.point_count, 4);
        double area = s < 9    ? s * s
                      : s < 11 ? 9.7 * 9.8
                               : 100; /* all of the smaller, but at 10 m */
        assert_near(result.manifold.area / area, 1, i < -3 ? 1e-5 : 1e-9);
        rg_shape_release(slab);
        rg_shape_release(cube);
    }
}

/* ------------------------------------------------------------------ consistency */

/* Points if and only if the pair is near, and the smallest gap that of the growth. */
static void points_iff_near(void **state) {
    (void)state;
    rg_random random = rg_random_make(31);
    uint32_t with = 0, without = 0, agree = 0;
    rg_contact_settings settings = {.near = 1e-2, .band = 1e-3};
    for (int trial = 0, trials = test_cases(3000, 3000); trial < trials; trial++) {
        rg_shape *shape[2];
        rg_pose pose[2];
        make_pair(&random, trial, shape, pose);
        rg_vec3 push = rg_scale(0.2, rg_random_direction(&random));
        push = rg_scale(rg_random_between(&random, -1, 0.25), push);
        pose[1].position = rg_add(pose[1].position, push);
        rg_growth growth;
        rg_growth_between(shape[0], pose[0], shape[1], pose[1], NULL, &growth);
        query_with(shape[0], pose[0], shape[1], pose[1], &settings, NULL, &result);
        if (growth.gap <= settings.near) {
            with++;
            assert_true(result.manifold.point_count >= 1);
            /* A face may stand for two edges that are 1e-5 better: then h(n) is another. */
            rg_feature_pair e = result.manifold.features, g = growth.features;
            bool same = e.kind == g.kind && e.index1 == g.index1 && e.index2 == g.index2;
            assert_near(result.manifold.gap, growth.gap,
                        same ? 2e-9 : 2e-5 + 2 * fabs(growth.ratio - 1) * growth.width);
            agree += same;
        } else {
            without++;
            assert_int_equal(result.manifold.point_count, 0);
            assert_near(result.manifold.gap, growth.gap, 0);
        }
        for (uint32_t i = 0; i < result.manifold.point_count; i++)
            assert_true(result.points[i].gap <= result.manifold.gap + 1e-3 + 1e-12);
        rg_shape_release(shape[0]);
        rg_shape_release(shape[1]);
    }
    assert_true(with * test_stride() > 500 && without * test_stride() > 200 && agree > with / 2);
}

/* The component functions (t - 1) h of the points of a resting contact equal their gaps. */
static void gaps_are_component_functions(void **state) {
    (void)state;
    rg_random random = rg_random_make(37);
    rg_shape *cube = make_cube();
    uint32_t points = 0;
    for (int trial = 0; trial < 200; trial++) {
        double tilt = 1e-6; /* rad */
        rg_vec3 turn = {tilt * rg_random_unit(&random), tilt * rg_random_unit(&random),
                        rg_random_between(&random, 0.1, 0.7)};
        rg_pose pose = pose_turned(beside(&random, 0, 0.3), turn);
        query(cube, pose_at(0, 0, 0), cube, pose, &result);
        assert_true(result.manifold.point_count >= 4);
        for (uint32_t i = 0; i < result.manifold.point_count; i++) {
            rg_feature_pair f = result.points[i].feature;
            if (f.kind > RG_FEATURES_EDGE_EDGE)
                continue;
            rg_growth growth;
            assert_int_equal(rg_growth_of_features(cube, pose_at(0, 0, 0), cube, pose, f, &growth),
                             RG_OK);
            /* Second order in the tilt, over the smallest sine between the edges. */
            assert_near(result.points[i].gap, growth.gap, 2e-11);
            points++;
        }
    }
    assert_true(points > 1000);
    rg_shape_release(cube);
}

/* Two boxes, the lower one at the origin, the other at `pose`, and what was found between them. */
typedef struct box_pair {
    const rg_polyhedron *low, *high;
    rg_pose pose;
    rg_vec3 normal;
    double band;
} box_pair;

/* Vertices of either over or under the other, by all its facets: how many are near, each of which
 * must have been found. */
static uint32_t near_vertices(const box_pair *pair, int side) {
    const rg_polyhedron *mine = side ? pair->high : pair->low;
    const rg_polyhedron *theirs = side ? pair->low : pair->high;
    rg_pose to = side ? pose_at(0, 0, 0) : pair->pose, from = side ? pair->pose : pose_at(0, 0, 0);
    uint32_t found = 0;
    for (uint32_t v = 0; v < 8; v++) {
        rg_vec3 w = rg_pose_apply(from, mine->vertices[v]);
        rg_vec3 y = rg_pose_apply_inverse(to, w);
        rg_vec3 ray = rg_rotate_back(to.orientation, pair->normal);
        double enter = -INFINITY, leave = INFINITY, steepness[2] = {0, 0};
        for (uint32_t f = 0; f < 6; f++) {
            double c = rg_dot(theirs->normals[f], ray),
                   rest = theirs->offsets[f] - rg_dot(theirs->normals[f], y);
            if (c == 0)
                enter = rest < 0 ? INFINITY : enter;
            else if (c > 0 && rest / c < leave)
                leave = rest / c, steepness[1] = c;
            else if (c < 0 && rest / c > enter)
                enter = rest / c, steepness[0] = -c;
        }
        /* What lies over a steep side face is at the border of the cap. */
        if (!(enter < leave) || steepness[side] < 0.7)
            continue;
        double gap = side ? -leave : enter;
        if (gap > result.manifold.gap + pair->band)
            continue;
        found++;
        rg_vec3 middle = rg_add_scaled(w, side ? -gap / 2 : gap / 2, pair->normal);
        assert_near(nearest_point(&result, middle), 0, 1e-12);
    }
    return found;
}

/* Edges that cross, seen along the normal, likewise. */
static uint32_t near_crossings(const box_pair *pair) {
    const rg_polyhedron *p1 = pair->low, *p2 = pair->high;
    uint32_t found = 0;
    for (uint32_t i = 0; i < 12; i++)
        for (uint32_t k = 0; k < 12; k++) {
            rg_vec3 a = p1->vertices[p1->edge_vertices[2 * i]],
                    b = p1->vertices[p1->edge_vertices[2 * i + 1]];
            rg_vec3 c = rg_pose_apply(pair->pose, p2->vertices[p2->edge_vertices[2 * k]]),
                    d = rg_pose_apply(pair->pose, p2->vertices[p2->edge_vertices[2 * k + 1]]);
            rg_vec3 u = rg_sub(b, a), v = rg_sub(d, c), w = rg_sub(c, a);
            double across = rg_dot(pair->normal, rg_cross(u, v));
            double s = rg_dot(pair->normal, rg_cross(w, v)) / across,
                   t = rg_dot(pair->normal, rg_cross(w, u)) / across;
            /* Steep edges belong to no cap; what they cross is at its border. */
            bool steep = fabs(rg_dot(pair->normal, rg_normalised(u))) > 0.7 ||
                         fabs(rg_dot(pair->normal, rg_normalised(v))) > 0.7;
            if (!(!steep && fabs(across) > 1e-3 && s > 0 && s < 1 && t > 0 && t < 1))
                continue;
            rg_vec3 on1 = rg_add_scaled(a, s, u), on2 = rg_add_scaled(c, t, v);
            double gap = rg_dot(pair->normal, rg_sub(on2, on1));
            if (fabs(gap - result.manifold.gap) > pair->band)
                continue;
            found++;
            assert_near(nearest_point(&result, rg_scale(0.5, rg_add(on1, on2))), 0, 1e-12);
        }
    return found;
}

/* Deep inside, the growth's own witness may have no partner straight along the normal. */
static void check_witness(const rg_shape *low, const rg_shape *high, rg_pose pose, uint32_t found) {
    rg_growth growth;
    rg_growth_between(low, pose_at(0, 0, 0), high, pose, NULL, &growth);
    rg_feature_pair g = growth.features;
    rg_feature_pair f = {(rg_feature_kind)g.kind, g.index1, g.index2};
    uint32_t k = 0;
    while (k < result.manifold.point_count && result.points[k].id != rg_contact_id(f))
        k++;
    assert_true(k < result.manifold.point_count);
    assert_true(growth.gap < -1e-4);
    assert_near(result.points[k].gap, result.manifold.gap, 0);
    assert_int_equal(result.manifold.point_count, found + 1);
}

/* Every near-active point of boxes that are nearly face to face, from all pairs of features. */
static void all_points_by_brute_force(void **state) {
    (void)state;
    rg_random random = rg_random_make(41);
    rg_contact_settings settings = {.band = 5e-3};
    uint32_t points = 0, witnesses = 0;
    for (int trial = 0, trials = test_cases(3000, 3000); trial < trials; trial++) {
        rg_shape *low = make_shape(rg_shape_def_box(1, 1, 1));
        rg_vec3 size = random_vector(&random, 0.5, 1.5);
        rg_shape *high = make_shape(rg_shape_def_box(size.x, size.y, 1));
        double tilt =
            trial % 3 ? 1e-3 : 3e-2; /* the larger: only a part of the face is in the band */
        rg_vec3 turn = {tilt * rg_random_unit(&random), tilt * rg_random_unit(&random),
                        rg_random_between(&random, 0.1, 1.4)};
        rg_pose pose = pose_turned(beside(&random, 0, 0.3), turn);
        query_with(low, pose_at(0, 0, 0), high, pose, &settings, NULL, &result);
        rg_contact_frame frame = rg_contact_frame_make(result.manifold.normal, false);
        box_pair pair = {rg_shape_polyhedron(low), rg_shape_polyhedron(high), pose, frame.n,
                         settings.band};
        uint32_t found = near_vertices(&pair, 0) + near_vertices(&pair, 1) + near_crossings(&pair);
        if (result.manifold.point_count != found) {
            check_witness(low, high, pose, found);
            witnesses++;
        }
        points += found;
        rg_shape_release(low);
        rg_shape_release(high);
    }
    assert_true(points * test_stride() > 10000 && witnesses < 30);
}

/* A pressure over the whole face has the wrench of forces at the corners alone: any dense sample is
 * a combination of the corners with weights >= 0, and so is its wrench. */
static void corners_carry_every_wrench(void **state) {
    (void)state;
    rg_random random = rg_random_make(43);
    rg_shape *cube = make_cube();
    rg_pose pose = pose_turned(rg_vec3_make(0.1, 0.15, 1), rg_vec3_make(0, 0, 0.4));
    query(cube, pose_at(0, 0, 0), cube, pose, &result);
    uint32_t n = result.manifold.point_count;
    assert_true(n >= 5);
    for (int trial = 0; trial < 50; trial++) {
        /* Force and moments of a random pressure a + bx + cy >= 0 on a grid of the region. */
        double a = rg_random_unit(&random), b = 0.6 * rg_random_unit(&random) * a,
               c = 0.6 * rg_random_unit(&random) * a, f = 0, mx = 0, my = 0;
        rg_vec3 other_force = {0, 0, 0};
        for (int i = 0; i < 200; i++)
            for (int k = 0; k < 200; k++) {
                rg_vec3 p = {-0.5 + (i + 0.5) / 200, -0.5 + (k + 0.5) / 200, 0.5};
                rg_vec3 q = rg_pose_apply_inverse(pose, p);
                if (fabs(q.x) > 0.5 || fabs(q.y) > 0.5)
                    continue;
                double pressure = a + b * p.x + c * p.y;
                f += pressure;
                mx += pressure * p.y;
                my -= pressure * p.x;
                other_force = rg_add_scaled(other_force, pressure, result.manifold.normal);
            }
        assert_near(rg_length(rg_sub(other_force, rg_vec3_make(0, 0, f))), 0, 1e-10 * f);
        /* Weights at the corners with the same f, mx, my: the resultant acts at (-my, mx)/f; the
         * weights by triangles of the corners sorted around it, of which one contains it. */
        rg_vec3 at = {-my / f, mx / f, 0};
        bool carried = false;
        for (uint32_t i = 0; i < n && !carried; i++)
            for (uint32_t k = 0; k < n && !carried; k++)
                for (uint32_t l = 0; l < n && !carried; l++) {
                    rg_vec3 p = result.points[i].position, q = result.points[k].position,
                            r = result.points[l].position;
                    double whole = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
                    if (whole < 1e-6)
                        continue;
                    double u = ((q.x - at.x) * (r.y - at.y) - (q.y - at.y) * (r.x - at.x)) / whole,
                           v = ((r.x - at.x) * (p.y - at.y) - (r.y - at.y) * (p.x - at.x)) / whole,
                           w = 1 - u - v;
                    if (u < 0 || v < 0 || w < 0)
                        continue;
                    carried = true;
                    assert_near(f * (u * p.y + v * q.y + w * r.y), mx, 1e-10 * f);
                    assert_near(-f * (u * p.x + v * q.x + w * r.x), my, 1e-10 * f);
                }
        assert_true(carried);
    }
    rg_shape_release(cube);
}

/* ------------------------------------------------------------------ half-spaces, the plane */

static void on_a_halfspace(void **state) {
    (void)state;
    rg_random random = rg_random_make(47);
    static rg_vec3 top[RING], bottom[RING];
    rg_shape *ground = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_shape *prism = make_prism(&random, 50, 1, 1, 1, false, top, bottom);
    for (int swap = 0; swap < 2; swap++) {
        rg_pose pose = pose_at(100, -50, 0.5);
        if (swap)
            query(prism, pose, ground, pose_at(0, 0, 0), &result);
        else
            query(ground, pose_at(0, 0, 0), prism, pose, &result);
        assert_int_equal(result.manifold.point_count, 50);
        assert_vector(result.manifold.normal, rg_vec3_make(0, 0, swap ? -1 : 1), 1e-15);
        for (int i = 0; i < 50; i++)
            assert_near(nearest_point(&result, rg_pose_apply(pose, bottom[i])), 0, 1e-12);
        assert_int_equal(
            count_kind(&result, swap ? RG_FEATURES_VERTEX_FACE : RG_FEATURES_FACE_VERTEX), 50);
    }
    rg_shape *cube = make_cube();
    query(ground, pose_at(0, 0, 0), cube, pose_at(1, 2, 0.4), &result); /* deep */
    assert_int_equal(result.manifold.point_count, 4);
    assert_near(result.manifold.gap, -0.1, 1e-15);
    query(ground, pose_at(0, 0, 0), cube,
          pose_turned(rg_vec3_make(0, 0, sqrt(0.5)), rg_vec3_make(RG_PI / 4, 0, 0)), &result);
    assert_int_equal(result.manifold.point_count, 2);
    query(ground, pose_at(0, 0, 0), cube, pose_at(1, 2, 0.6), &result);
    assert_int_equal(result.manifold.point_count, 0);
    rg_shape_release(cube);
    rg_shape_release(prism);
    rg_shape_release(ground);
}

static rg_shape *make_square(double a) {
    rg_vec3 corners[4] = {{-a, 0, -a}, {a, 0, -a}, {a, 0, a}, {-a, 0, a}};
    return make_shape(rg_shape_def_polygon(corners, 4));
}

static void planar(void **state) {
    (void)state;
    rg_shape *square = make_square(0.5);
    for (int i = -1; i <= 1; i++) {
        double gap = 1e-4 * i, z = 0.5 + gap / 2;
        query(square, pose_at(0, 0, 0), square, pose_at(0.3, 0, 1 + gap), &result);
        rg_vec3 ends[2] = {{-0.2, 0, z}, {0.5, 0, z}};
        assert_points(&result, ends, 2, 1e-15);
        assert_int_equal(count_kind(&result, RG_FEATURES_FACE_VERTEX), 1);
        assert_int_equal(count_kind(&result, RG_FEATURES_VERTEX_FACE), 1);
        assert_near(result.manifold.gap, gap, 1e-15);
    }
    query(square, pose_at(0, 0, 0), square, pose_at(0, 0, 1), &result); /* flush */
    assert_int_equal(count_kind(&result, RG_FEATURES_VERTEX_VERTEX), 2);
    assert_int_equal(result.manifold.point_count, 2);
    rg_pose corner = {{0.2, 0, 0.5 + sqrt(0.5)}, rg_quat_of_planar_angle(RG_PI / 4)};
    query(square, pose_at(0, 0, 0), square, corner, &result);
    assert_int_equal(result.manifold.point_count, 1);
    assert_vector(result.points[0].position, rg_vec3_make(0.2, 0, 0.5), 1e-15);
    query(square, pose_at(0, 0, 0), square, pose_at(1, 0, 1), &result); /* corner on corner */
    assert_true(result.manifold.degenerate);
    assert_vector(result.manifold.normal, rg_vec3_make(sqrt(0.5), 0, sqrt(0.5)), 1e-15);
    assert_int_equal(result.manifold.point_count, 1);
    assert_int_equal(result.points[0].feature.kind, RG_FEATURES_VERTEX_VERTEX);
    rg_shape *ground = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    query(ground, pose_at(0, 0, 0), square, pose_at(7, 0, 0.5), &result);
    rg_vec3 feet[2] = {{6.5, 0, 0}, {7.5, 0, 0}};
    assert_points(&result, feet, 2, 1e-15);
    rg_shape_release(ground);
    rg_shape_release(square);
}

/* Fine polygons: within the band several edges are level; the deepest corner is there. */
static void planar_dome(void **state) {
    (void)state;
    static rg_vec3 corners[360];
    for (int i = 0; i < 360; i++) {
        double s, c;
        rg_sin_cos(2 * RG_PI * i / 360, &s, &c);
        corners[i] = rg_vec3_make(c, 0, s);
    }
    rg_shape *wheel = make_shape(rg_shape_def_polygon(corners, 360)), *square = make_square(2);
    rg_contact_settings settings = {.band = 1e-2};
    for (int i = 0; i < 20; i++) {
        rg_pose pose = {{0.1, 0, 3}, rg_quat_of_planar_angle(0.05 * i)};
        double low = INFINITY;
        for (int k = 0; k < 360; k++)
            low = fmin(low, rg_pose_apply(pose, corners[k]).z);
        pose.position.z += 2 - low;
        query_with(square, pose_at(0, 0, 0), wheel, pose, &settings, NULL, &result);
        assert_true(result.manifold.point_count >= 2);
        assert_near(result.manifold.gap, 0, 1e-14);
    }
    rg_shape_release(wheel);
    rg_shape_release(square);
}

/* ------------------------------------------------------------------ resources */

static void no_memory_and_no_room(void **state) {
    (void)state;
    rg_shape *cube = make_cube();
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_arena arena = rg_arena_make(&allocator);
    rg_contact_point points[8];
    rg_manifold m;
    rg_pose high = pose_turned(rg_vec3_make(0, 0, 1), rg_vec3_make(0, 0, RG_PI / 4));
    counter.fail_after = 1;
    counter.resizes = 1;
    assert_int_equal(rg_contact_between(
                         &(rg_contact_query){
                             {cube, pose_at(0, 0, 0)}, {cube, high}, NULL, NULL, &arena, points, 8},
                         &m),
                     RG_OUT_OF_MEMORY);
    counter.fail_after = 0;
    assert_int_equal(rg_contact_between(
                         &(rg_contact_query){
                             {cube, pose_at(0, 0, 0)}, {cube, high}, NULL, NULL, &arena, points, 0},
                         &m),
                     RG_INVALID_ARGUMENT);
    assert_int_equal(rg_contact_between(
                         &(rg_contact_query){
                             {cube, pose_at(0, 0, 0)}, {cube, high}, NULL, NULL, &arena, points, 8},
                         &m),
                     RG_OK);
    /* No heap call from the second query on. */
    size_t calls = counter.resizes;
    for (uint32_t capacity = 1; capacity <= 8; capacity++) {
        assert_int_equal(
            rg_contact_between(
                &(rg_contact_query){
                    {cube, pose_at(0, 0, 0)}, {cube, high}, NULL, NULL, &arena, points, capacity},
                &m),
            RG_OK);
        assert_int_equal(m.point_count, capacity);
        assert_int_equal(m.reduced, capacity < 8);
    }
    assert_int_equal(counter.resizes, calls);
    rg_arena_free(&arena);
    rg_shape *ground = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    arena = rg_arena_make(NULL);
    assert_int_equal(
        rg_contact_between(
            &(rg_contact_query){
                {ground, pose_at(0, 0, 0)}, {ground, high}, NULL, NULL, &arena, points, 8},
            &m),
        RG_INVALID_ARGUMENT);
    rg_arena_free(&arena);
    rg_shape_release(ground);
    rg_shape_release(cube);
}

/* A shallow dome, its outline 0.1 mm higher but for one corner: a vertex within it that is as deep
 * as that corner carries, too. */
static void inner_vertices_that_touch_count(void **state) {
    (void)state;
    rg_shape *ground = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_contact_settings settings = {.near = 1e-3, .band = 1e-3};
    for (int touches = 0; touches < 2; touches++) {
        rg_vec3 points[8] = {{-1, -1, 0},   {1, -1, 1e-4}, {1, 1, 1e-4}, {-1, 1, 1e-4},
                             {0.2, 0.3, 0}, {0, 0, 1},     {0, 1, 1},    {1, 0, 1}};
        if (!touches)
            points[4] = rg_vec3_make(0, 0, 1.5);
        rg_shape *dome = make_shape(rg_shape_def_hull(points, 8));
        query_with(ground, pose_at(0, 0, 0), dome, pose_at(0, 0, 0), &settings, NULL, &result);
        assert_int_equal(result.manifold.point_count, touches ? 5 : 4);
        if (touches)
            assert_near(nearest_point(&result, points[4]), 0, 1e-12);
        rg_shape_release(dome);
    }
    rg_shape_release(ground);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cube_on_cube_offset),
        cmocka_unit_test(cube_on_cube_turned),
        cmocka_unit_test(cube_on_cube_flush),
        cmocka_unit_test(nearly_flush),
        cmocka_unit_test(corner_on_corner),
        cmocka_unit_test(edge_along_edge),
        cmocka_unit_test(corner_on_edge),
        cmocka_unit_test(crossed_edges),
        cmocka_unit_test(edge_on_face),
        cmocka_unit_test(vertex_on_face),
        cmocka_unit_test(face_on_face_of_many),
        cmocka_unit_test(dome_on_face),
        cmocka_unit_test(inner_vertices_that_touch_count),
        cmocka_unit_test(swap_and_motion),
        cmocka_unit_test(scales),
        cmocka_unit_test(points_iff_near),
        cmocka_unit_test(gaps_are_component_functions),
        cmocka_unit_test(all_points_by_brute_force),
        cmocka_unit_test(corners_carry_every_wrench),
        cmocka_unit_test(on_a_halfspace),
        cmocka_unit_test(planar),
        cmocka_unit_test(planar_dome),
        cmocka_unit_test(no_memory_and_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
