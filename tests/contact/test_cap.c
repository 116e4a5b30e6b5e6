/* Caps of boxes, which have a way of their own, against those of hulls of the same corners. */
#include "contact_helpers.h"

#include "rigor/random.h"

/* m: how near a vertex may be to the level of the band, so that rounding does not decide. */
#define CLEAR 1e-9

static rg_shape *hull_of_box(const rg_shape *box) {
    return make_shape(rg_shape_def_hull(rg_shape_polyhedron(box)->vertices, 8));
}

/* Is a vertex so near to the level, or a facet so near to the slope of a skirt, that the two may
 * differ? */
static bool is_close(const rg_shape *box, rg_vec3 n, double band) {
    const rg_polyhedron *p = rg_shape_polyhedron(box);
    double top = -INFINITY;
    for (uint32_t v = 0; v < 8; v++)
        top = fmax(top, rg_dot(n, p->vertices[v]));
    for (uint32_t v = 0; v < 8; v++)
        if (fabs(top - rg_dot(n, p->vertices[v]) - band) < CLEAR)
            return true;
    for (uint32_t f = 0; f < 6; f++)
        if (fabs(rg_dot(n, p->normals[f]) - RG_CONTACT_GENTLE) < CLEAR)
            return true;
    return false;
}

static void assert_corner(const rg_cap_corner *corners, uint32_t count, const rg_cap_corner *c) {
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++)
        least = fmin(least, fabs(corners[i].x - c->x) + fabs(corners[i].y - c->y) +
                                fabs(corners[i].z - c->z));
    assert_true(least < 1e-12);
}

/* The edge that is named goes from one corner to the other. */
static void assert_edge(const rg_shape *box, uint32_t edge, uint32_t a, uint32_t b) {
    const rg_polyhedron *p = rg_shape_polyhedron(box);
    if (edge & RG_CONTACT_CHORD)
        return;
    assert_int_equal(p->edge_vertices[2 * edge], a < b ? a : b);
    assert_int_equal(p->edge_vertices[2 * edge + 1], a < b ? b : a);
}

static void assert_same_cap(const rg_shape *box, const rg_cap *cap, const rg_cap *hull) {
    const rg_skirt *skirt = &cap->skirt;
    assert_int_equal(cap->corner_count, hull->corner_count);
    assert_int_equal(cap->inner_count, hull->inner_count);
    assert_int_equal(cap->plane_count, hull->plane_count);
    assert_int_equal(cap->face, hull->face);
    assert_near(cap->top, hull->top, 1e-12);
    assert_int_equal(skirt->facet_count, hull->skirt.facet_count);
    assert_int_equal(skirt->corner_count, hull->skirt.corner_count);
    assert_int_equal(skirt->edge_count, hull->skirt.edge_count);
    for (uint32_t i = 0; i < cap->corner_count; i++) {
        uint32_t next = i + 1 < cap->corner_count ? i + 1 : 0;
        assert_corner(hull->corners, hull->corner_count, &cap->corners[i]);
        if (cap->corner_count > 1)
            assert_edge(box, cap->corners[i].edge, cap->corners[i].index, cap->corners[next].index);
    }
    for (uint32_t i = 0; i < skirt->edge_count; i++)
        assert_edge(box, skirt->edges[i].from.edge, skirt->edges[i].from.index,
                    skirt->edges[i].to.index);
}

/* All kinds of caps: corners, edges, faces and what a wide band holds, with skirts and without. */
static void boxes_and_hulls(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    uint32_t of_count[9] = {0}, skirts = 0;
    rg_arena arena = rg_arena_make(NULL);
    for (int trial = 0, trials = test_cases(4000, 4000); trial < trials; trial++) {
        rg_vec3 size = random_vector(&random, 0.2, 1), n = rg_random_direction(&random);
        if (trial % 2) /* nearly along an axis */
            n = rg_normalised(
                rg_add_scaled(rg_vec3_make(trial % 4 < 2, trial % 4 > 1, 0), 1e-2, n));
        double band = pow(10, rg_random_between(&random, -5, -0.3));
        rg_shape *box = make_shape(rg_shape_def_box(size.x, size.y, size.z)),
                 *shape[2] = {box, hull_of_box(box)};
        rg_pose pose = random_pose(&random, 1), beside = random_pose(&random, 1);
        int side = trial / 4 % 2;
        rg_vec3 outward = rg_rotate_back(pose.orientation, rg_scale(side ? -1 : 1, n));
        rg_contact_frame frame = rg_contact_frame_make(n, false);
        rg_cap cap[2];
        for (int i = 0; i < 2; i++) {
            rg_contact_pair pair;
            rg_contact_pair_make(side ? box : shape[i], side ? beside : pose, side ? shape[i] : box,
                                 side ? pose : beside, &pair);
            pair.ahead = trial / 8 % 2;
            assert_int_equal(rg_cap_make(&pair, side, &frame, band, &arena, &cap[i]), RG_OK);
        }
        if (!is_close(box, outward, band)) {
            assert_same_cap(box, &cap[0], &cap[1]);
            of_count[cap[0].corner_count]++;
            skirts += cap[0].skirt.facet_count > 0;
        }
        rg_arena_reset(&arena);
        rg_shape_release(shape[1]);
        rg_shape_release(box);
    }
    rg_arena_free(&arena);
    for (int i = 1; i <= 6; i++) /* three corners of a face alone are rare */
        assert_true(of_count[i] > 0);
    assert_true(skirts > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_and_hulls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
