/* Which pieces of surface a contact point is followed on: corners of regions of contact, curved and
 * degenerate ones, borders and what comes after leaving them. */
#include "contact_motion_helpers.h"

static contact_result other_found;
static const rg_vec3 up = {0, 0, 1};

static body body_at(rg_random *random, rg_shape *shape, rg_pose pose, double scale) {
    body k = random_body(random, shape, scale);
    k.q = pose.orientation;
    k.x = rg_sub(pose.position, rg_rotate(k.q, k.offset));
    return k;
}

/* A pair in given poses, turned and moved as one, with random motions. */
static pair pair_at(rg_random *random, rg_shape *b, rg_pose pose_b, rg_shape *a, rg_pose pose_a) {
    rg_pose all = random_pose(random, 3);
    return (pair){body_at(random, b, rg_pose_compose(all, pose_b), 1),
                  body_at(random, a, rg_pose_compose(all, pose_a), 1), 1};
}

static void release_pair(const pair *k) {
    rg_shape_release(k->b.shape);
    rg_shape_release(k->a.shape);
}

/* How many tracks have these pieces, in either order. */
static uint32_t count_pieces(const rg_contact_track *tracks, uint32_t count, rg_piece_kind one,
                             rg_piece_kind other) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        rg_piece_kind b = tracks[i].piece[0].kind, a = tracks[i].piece[1].kind;
        n += (b == one && a == other) || (b == other && a == one);
    }
    return n;
}

static rg_contact_track tracks[MOST_TEST_POINTS];

/* Tracks of all points: they start where the points are, and move as differences say. Both orders.
 */
static uint32_t check_region(const pair *given) {
    errors e = {0};
    uint32_t count = 0;
    for (int order = 0; order < 2; order++) {
        pair k = order ? *given : swapped(given);
        query_pair(&k, 1e-3);
        count = found.manifold.point_count;
        assert_true(count > 0);
        for (uint32_t i = 0; i < count; i++) {
            const rg_contact_point *p = &found.points[i];
            tracks[i] = make_track(&k, i);
            assert_false(tracks[i].extended);
            rg_contact_motion m = follow(&tracks[i], &k, 0);
            assert_near(m.gap, p->gap, 1e-12);
            assert_vector(m.point, p->position, 1e-9);
            assert_vector(m.normal, found.manifold.normal, 1e-9);
            compare(&k, &tracks[i], false, &e);
        }
    }
    report("region", &e);
    assert_true(e.tracks > 0 && e.lost == 0);
    assert_true(e.first <= 1e-8 && e.second <= 5e-8 && e.point <= 1e-7 && e.normal <= 1e-7 &&
                e.slip <= 1e-7);
    return count;
}

/* ------------------------------------------------------------------ regions */

static rg_pose lying(double x, double y, double z, double turn) {
    rg_quat q = rg_quat_multiply(rg_quat_of_rotation_vector(rg_vec3_make(0, 0, turn)),
                                 rg_quat_of_rotation_vector(rg_vec3_make(0, RG_PI / 2, 0)));
    return (rg_pose){{x, y, z}, q};
}

static void cylinders_on_boxes(void **state) {
    (void)state;
    rg_random random = rg_random_make(31);
    for (int trial = 0; trial < 40; trial++) {
        double turn = rg_random_between(&random, -0.5, 0.5);
        rg_vec3 at = random_vector(&random, -0.3, 0.3);
        /* lying, overhanging at both ends */
        pair k =
            pair_at(&random, make_shape(rg_shape_def_box(2, 2, 1)), pose_at(0, 0, 0),
                    make_shape(rg_shape_def_cylinder(0.3, 4)), lying(at.x, at.y, 0.8 + 1e-9, turn));
        uint32_t count = check_region(&k);
        assert_int_equal(count, 2);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_LINE, RG_PIECE_LINE), 2);
        release_pair(&k);
        /* lying within the face: ends of its line, which roll over the rims */
        k = pair_at(&random, make_shape(rg_shape_def_box(2, 2, 1)), pose_at(0, 0, 0),
                    make_shape(rg_shape_def_cylinder(0.3, 1)), lying(at.x, at.y, 0.8 + 1e-9, turn));
        count = check_region(&k);
        assert_int_equal(count, 2);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_RIM, RG_PIECE_FACE), 2);
        release_pair(&k);
        /* standing, over an edge */
        k = pair_at(&random, make_shape(rg_shape_def_box(2, 2, 1)), pose_at(0, 0, 0),
                    make_shape(rg_shape_def_cylinder(0.5, 1)),
                    pose_turned(rg_vec3_make(1 + at.x, 0, 1 + 1e-9), rg_vec3_make(0, 0, turn)));
        count = check_region(&k);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_RIM, RG_PIECE_LINE), 2);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_POINT, RG_PIECE_FACE), count - 2);
        release_pair(&k);
        /* a box on its base */
        k = pair_at(
            &random, make_shape(rg_shape_def_cylinder(1, 1)), pose_at(0, 0, 0),
            make_shape(rg_shape_def_box(0.8, 0.9, 1)),
            pose_turned(rg_vec3_make(0.2 * at.x, 0.2 * at.y, 1 + 1e-9), rg_vec3_make(0, 0, turn)));
        count = check_region(&k);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_POINT, RG_PIECE_FACE), 4);
        release_pair(&k);
    }
}

static void capsules_and_cones(void **state) {
    (void)state;
    rg_random random = rg_random_make(32);
    for (int trial = 0; trial < 40; trial++) {
        double turn = rg_random_between(&random, -0.5, 0.5);
        pair k =
            pair_at(&random, make_shape(rg_shape_def_box(2, 2, 1)), pose_at(0, 0, 0),
                    make_shape(rg_shape_def_capsule(0.3, 2)), lying(0.9, 0.1, 0.8 + 1e-9, turn));
        uint32_t count = check_region(&k);
        assert_int_equal(count, 2);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_LINE, RG_PIECE_LINE), 1);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_POINT, RG_PIECE_FACE), 1);
        release_pair(&k);
        /* a cone on its side: its axis rises towards the base by half its angle */
        double r = 0.4, l = 1.2, slant = sqrt(r * r + l * l), sine = r / slant, cosine = l / slant;
        rg_quat tip = rg_quat_of_rotation_vector(rg_vec3_make(0, RG_PI / 2 + rg_atan2(r, l), 0));
        rg_quat q = rg_quat_multiply(rg_quat_of_rotation_vector(rg_vec3_make(0, 0, turn)), tip);
        /* the axis falls towards the apex, which is 0.75 l from the centre of mass */
        double height = 0.75 * l * sine;
        rg_pose pose = {{0.1, 0.2, 0.5 + height + 1e-9}, q};
        k = pair_at(&random, make_shape(rg_shape_def_box(3, 3, 1)), pose_at(0, 0, 0),
                    make_shape(rg_shape_def_cone(r, l)), pose);
        count = check_region(&k);
        assert_int_equal(count, 2);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_RIM, RG_PIECE_FACE), 1);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_POINT, RG_PIECE_FACE), 1);
        release_pair(&k);
        /* the apex over the edge: apex and ruling */
        pose.position.x = 1.5 - 0.75 * l * cosine * 0.5;
        pose.orientation = tip;
        k = pair_at(&random, make_shape(rg_shape_def_box(3, 3, 1)), pose_at(0, 0, 0),
                    make_shape(rg_shape_def_cone(r, l)), pose);
        count = check_region(&k);
        assert_int_equal(count, 2);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_CONE, RG_PIECE_LINE), 1);
        release_pair(&k);
    }
}

static void cylinders_on_cylinders(void **state) {
    (void)state;
    rg_random random = rg_random_make(33);
    for (int trial = 0; trial < 40; trial++) {
        double along = rg_random_between(&random, 0.1, 0.6);
        /* standing, bases overlap: the rims cross twice */
        pair k =
            pair_at(&random, make_shape(rg_shape_def_cylinder(0.7, 1)), pose_at(0, 0, 0),
                    make_shape(rg_shape_def_cylinder(0.6, 1)), pose_at(0.4 + along, 0, 1 + 1e-9));
        uint32_t count = check_region(&k);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_RIM, RG_PIECE_RIM), 2);
        release_pair(&k);
        /* lying along each other, shifted: rim on line at both ends */
        k = pair_at(&random, make_shape(rg_shape_def_cylinder(0.5, 2)), lying(0, 0, 0, 0),
                    make_shape(rg_shape_def_cylinder(0.3, 2)), lying(along, 0, 0.8 + 1e-9, 0));
        count = check_region(&k);
        assert_int_equal(count, 2);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_RIM, RG_PIECE_LINE), 2);
        release_pair(&k);
        /* flush: the rims do not cross, so one of them meets the other's line */
        k = pair_at(&random, make_shape(rg_shape_def_cylinder(0.5, 2)), lying(0, 0, 0, 0),
                    make_shape(rg_shape_def_cylinder(0.3, 2)), lying(0, 0, 0.8 + 1e-9, 0));
        count = check_region(&k);
        assert_int_equal(count, 2);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_RIM, RG_PIECE_LINE), 2);
        release_pair(&k);
        /* lying on a base, beyond it at both ends */
        k = pair_at(&random, make_shape(rg_shape_def_cylinder(0.7, 1)), pose_at(0, 0, 0),
                    make_shape(rg_shape_def_cylinder(0.3, 3)),
                    lying(0.1, along - 0.3, 0.8 + 1e-9, 0));
        count = check_region(&k);
        assert_int_equal(count, 2);
        assert_int_equal(count_pieces(tracks, count, RG_PIECE_RIM, RG_PIECE_LINE), 2);
        release_pair(&k);
    }
}

static void boxes_on_boxes(void **state) {
    (void)state;
    rg_random random = rg_random_make(34);
    for (int trial = 0; trial < 100; trial++) {
        double turn = rg_random_between(&random, 0.05, 1.5);
        rg_vec3 at = random_vector(&random, -0.3, 0.3);
        pair k = pair_at(&random, make_shape(rg_shape_def_box(1, 1.2, 1)), pose_at(0, 0, 0),
                         make_shape(rg_shape_def_box(1.1, 1, 1)),
                         pose_turned(rg_vec3_make(at.x, at.y, 1 + 1e-9), rg_vec3_make(0, 0, turn)));
        assert_true(check_region(&k) >= 4);
        release_pair(&k);
    }
}

/* ------------------------------------------------------------------ degenerate kinds */

static rg_contact_motion rest(const rg_contact_track *t, rg_pose b, rg_pose a) {
    rg_rigid_motion mb = {.pose = b, .centre = b.position}, ma = {.pose = a, .centre = a.position};
    return rg_contact_follow(t, &mb, &ma);
}

/* Flush faces: vertices on vertices, against the separating face. */
static void flush_boxes(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_pose low = pose_at(0, 0, 0), high = pose_at(0, 0, 1 + 1e-9);
    query(cube, low, cube, high, &found);
    assert_int_equal(found.manifold.point_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        rg_contact_track t =
            rg_contact_track_make(cube, low, cube, high, &found.manifold, &found.points[i]);
        assert_int_equal(t.feature.kind, RG_FEATURES_VERTEX_VERTEX);
        assert_true(t.extended);
        rg_contact_motion m = rest(&t, low, high);
        assert_true(m.regular && m.inside > 0);
        assert_near(m.gap, 1e-9, 1e-15);
        assert_vector(m.normal, up, 1e-15);
        assert_vector(m.point, found.points[i].position, 1e-15);
        /* it leaves its place by a few tolerances */
        rg_pose aside = pose_at(1e-6, 0, 1 + 1e-9);
        assert_true(rest(&t, low, aside).inside < 0);
        query(cube, low, cube, aside, &other_found);
        assert_int_equal(count_kind(&other_found, RG_FEATURES_VERTEX_VERTEX), 0);
    }
    rg_shape_release(cube);
}

/* Corner on corner along the diagonal: the averaged normal, fixed in B. */
static void corner_on_corner(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_pose low = pose_at(0, 0, 0), high = pose_at(1, 1, 1);
    query(cube, low, cube, high, &found);
    assert_int_equal(found.manifold.point_count, 1);
    rg_contact_track t =
        rg_contact_track_make(cube, low, cube, high, &found.manifold, &found.points[0]);
    double third = sqrt(1.0 / 3);
    assert_vector(t.local_normal, rg_vec3_make(third, third, third), 1e-12);
    assert_true(t.extended);
    rg_rigid_motion b = {.pose = low, .angular_velocity = {0.3, -0.2, 0.5}},
                    a = {.pose = high, .centre = {1, 1, 1}, .velocity = {0, 0, -1}};
    rg_contact_motion m = rg_contact_follow(&t, &b, &a);
    assert_vector(m.normal, t.local_normal, 1e-15);
    assert_vector(m.normal_rate, rg_cross(b.angular_velocity, m.normal), 1e-15);
    assert_near(m.gap, 0, 1e-15);
    rg_vec3 corner = {0.5, 0.5, 0.5};
    rg_vec3 u = rg_sub(a.velocity, rg_cross(b.angular_velocity, corner));
    assert_near(m.gap_rate, rg_dot(m.normal, u), 1e-15);
    rg_shape_release(cube);
}

/* Edge along edge: the plane may be slid along, as far as the edge goes. */
static void edge_along_edge(void **state) {
    (void)state;
    rg_random random = rg_random_make(35);
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1)),
             *longer = make_shape(rg_shape_def_box(1, 3, 1));
    rg_pose low = pose_at(0, 0, 0), high = pose_at(1, 0.2, 1);
    query(longer, low, cube, high, &found);
    assert_true(found.manifold.degenerate);
    assert_int_equal(found.manifold.point_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        rg_contact_track t =
            rg_contact_track_make(longer, low, cube, high, &found.manifold, &found.points[i]);
        assert_int_equal(t.feature.kind, RG_FEATURES_EDGE_VERTEX);
        rg_contact_motion m = rest(&t, low, high);
        assert_true(m.regular && m.inside > 0);
        assert_vector(m.normal, rg_vec3_make(sqrt(0.5), 0, sqrt(0.5)), 1e-12);
        assert_true(rest(&t, low, pose_at(1, 0.5, 1)).inside > 0);
        assert_true(rest(&t, low, pose_at(1, i == 0 ? 2.1 : -2.1, 1)).inside < 0 ||
                    rest(&t, low, pose_at(1, i == 0 ? -2.1 : 2.1, 1)).inside < 0);
        assert_true(rest(&t, low, pose_at(1 - 1e-5, 0.5, 1 + 1e-5)).inside < 0);
        pair k = {body_at(&random, longer, low, 1), body_at(&random, cube, high, 1), 1};
        errors e = {0};
        assert_true(compare(&k, &t, false, &e));
        assert_true(e.second <= 1e-8 && e.point <= 1e-8 && e.normal <= 1e-8);
    }
    rg_shape_release(cube);
    rg_shape_release(longer);
}

/* A side of an outline that is no edge: a line from its first vertex to the one that it leads to.
 */
static void chords(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    const rg_polyhedron *p = rg_shape_polyhedron(cube);
    uint32_t first = 0; /* of the top, at (-1/2, -1/2, 1/2) */
    while (rg_length(rg_sub(p->vertices[first], rg_vec3_make(-0.5, -0.5, 0.5))) > 1e-12)
        first++;
    uint32_t edge = 0; /* of A's bottom, along y at x = 1/2 */
    for (uint32_t e = 0; e < p->edge_count; e++) {
        rg_vec3 mid = rg_scale(0.5, rg_add(p->vertices[p->edge_vertices[2 * e]],
                                           p->vertices[p->edge_vertices[2 * e + 1]]));
        if (rg_length(rg_sub(mid, rg_vec3_make(0.5, 0, -0.5))) < 1e-12)
            edge = e;
    }
    /* the diagonal of the top crosses that edge, at x = 0.1 */
    rg_pose low = pose_at(0, 0, 0), high = pose_at(-0.4, 0, 1 + 1e-9);
    rg_manifold manifold = {.normal = up, .point_count = 1};
    rg_contact_point point = {.on_b = {0.1, 0.1, 0.5},
                              .on_a = {0.1, 0.1, 0.5 + 1e-9},
                              .position = {0.1, 0.1, 0.5},
                              .gap = 1e-9,
                              .feature = {RG_FEATURES_EDGE_EDGE, RG_CONTACT_CHORD | first, edge}};
    rg_contact_track t = rg_contact_track_make(cube, low, cube, high, &manifold, &point);
    assert_false(t.extended);
    rg_contact_motion m = rest(&t, low, high);
    assert_vector(m.normal, up, 1e-15);
    assert_near(m.gap, 1e-9, 1e-15);
    assert_vector(m.point, rg_vec3_make(0.1, 0.1, 0.5), 1e-8);
    assert_near(m.inside, 0.4, 1e-5); /* to the end of the edge */
    assert_near(rest(&t, low, pose_at(-0.1, 0.2, 1)).inside, 0.1 * sqrt(2), 1e-5);
    assert_near(t.piece[0].high, sqrt(2), 1e-12);
    rg_shape_release(cube);
}

/* ------------------------------------------------------------------ borders */

/* A vertex over the border of its face. */
static void leaving_a_face(void **state) {
    (void)state;
    rg_shape *box = make_shape(rg_shape_def_box(2, 2, 1)),
             *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_quat tip = rg_quat_of_rotation_vector(rg_vec3_make(0.4, 0.3, 0));
    rg_vec3 lowest = {0, 0, INFINITY};
    for (int i = 0; i < 8; i++) {
        rg_vec3 v = rg_rotate(
            tip, rg_vec3_make(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5));
        lowest = v.z < lowest.z ? v : lowest;
    }
    rg_pose low = pose_at(0, 0, 0);
    rg_pose high = {{-lowest.x, -lowest.y, 0.5 - lowest.z + 1e-9}, tip};
    query(box, low, cube, high, &found);
    assert_int_equal(found.manifold.point_count, 1);
    rg_contact_track t = rg_contact_track_make(box, low, cube, high, &found.manifold, found.points);
    double slack = t.slack;
    assert_true(slack > 0 && slack < 1e-5);
    for (int i = 0; i <= 20; i++) {
        rg_pose moved = high;
        moved.position.x += 0.1 * i;
        moved.position.y -= 0.05 * i;
        assert_near(rest(&t, low, moved).inside, 1 - 0.1 * i + slack, 1e-14);
    }
    rg_shape_release(box);
    rg_shape_release(cube);
}

/* A ball rolls over the top of a box, its edge and its side: face, edge, face; and over a corner.
 * Each piece is left where the next one begins, and a new search finds that. */
static void ball_around_a_box(void **state) {
    (void)state;
    rg_shape *box = make_shape(rg_shape_def_box(2, 2, 1));
    for (int kind = 0; kind < 3; kind++) {
        rg_shape *ball = make_shape(kind == 0   ? rg_shape_def_sphere(0.5)
                                    : kind == 1 ? rg_shape_def_ellipsoid(0.5, 0.3, 0.4)
                                                : rg_shape_def_capsule(0.2, 0.5));
        rg_pose low = pose_at(0, 0, 0), high;
        rg_contact_track t = {0};
        int changes = 0;
        bool have = false;
        for (int i = 0; i < 4000; i++) {
            /* once around the box across a corner, as near as 1e-9 */
            double s, c, angle = 2 * RG_PI * i / 4000;
            rg_sin_cos(angle, &s, &c);
            high = (rg_pose){{3 * c, 3 * s * 0.8, 3 * s * 0.6},
                             rg_quat_of_rotation_vector(rg_vec3_make(0.7 * angle, 0.3, angle))};
            rg_distance d;
            rg_distance_between(box, low, ball, high, NULL, &d);
            high.position = rg_add_scaled(high.position, 1e-9 - d.distance, d.normal);
            rg_contact_motion m = {0};
            if (have)
                m = rest(&t, low, high);
            /* the other end of a capsule may have come nearer to a face */
            bool risen = kind == 2 && m.gap > 2e-9;
            if (!have || !m.regular || m.inside < 0 || risen) {
                query(box, low, ball, high, &found);
                assert_int_equal(found.manifold.point_count, 1);
                t = rg_contact_track_make(box, low, ball, high, &found.manifold, found.points);
                m = rest(&t, low, high);
                assert_true(m.regular && m.inside > 0);
                have = true;
                changes++;
            }
            assert_near(m.gap, 1e-9, 1e-12);
            rg_contact_track_refresh(&t, &m, low, high);
        }
        assert_true(changes > 8 && changes < 200);
        rg_shape_release(ball);
    }
    rg_shape_release(box);
}

/* Edges that become parallel. */
static void parallel_edges(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_quat ridge = rg_quat_of_rotation_vector(rg_vec3_make(RG_PI / 4, 0, 0));
    rg_quat across = rg_quat_multiply(rg_quat_of_rotation_vector(rg_vec3_make(0, 0, 1)), ridge);
    rg_pose low = {{0, 0, 0}, ridge}, high = {{0, 0, sqrt(2) + 1e-9}, across};
    query(cube, low, cube, high, &found);
    assert_int_equal(found.manifold.point_count, 1);
    assert_int_equal(found.points[0].feature.kind, RG_FEATURES_EDGE_EDGE);
    rg_contact_track t =
        rg_contact_track_make(cube, low, cube, high, &found.manifold, found.points);
    rg_contact_motion m = rest(&t, low, high);
    assert_true(m.regular);
    assert_near(m.gap, 1e-9, 1e-15);
    high.orientation = ridge;
    m = rest(&t, low, high);
    assert_false(m.regular);
    /* found that way, they get a plane */
    query(cube, low, cube, high, &found);
    for (uint32_t i = 0; i < found.manifold.point_count; i++) {
        t = rg_contact_track_make(cube, low, cube, high, &found.manifold, &found.points[i]);
        m = rest(&t, low, high);
        assert_true(m.regular && m.inside > 0 && t.extended);
        assert_near(m.gap, 1e-9, 1e-15);
    }
    rg_shape_release(cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cylinders_on_boxes),
                                       cmocka_unit_test(capsules_and_cones),
                                       cmocka_unit_test(cylinders_on_cylinders),
                                       cmocka_unit_test(boxes_on_boxes),
                                       cmocka_unit_test(flush_boxes),
                                       cmocka_unit_test(corner_on_corner),
                                       cmocka_unit_test(edge_along_edge),
                                       cmocka_unit_test(chords),
                                       cmocka_unit_test(leaving_a_face),
                                       cmocka_unit_test(ball_around_a_box),
                                       cmocka_unit_test(parallel_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
