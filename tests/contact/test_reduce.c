/* Fewer points: the support area stays, the deepest point stays. */
#include "contact_helpers.h"

#include "rigor/random.h"

static contact_result all, few;

static double area_of(const contact_result *r) {
    static rg_vec3 flat[MOST_TEST_POINTS];
    double x, y;
    for (uint32_t i = 0; i < r->manifold.point_count; i++)
        flat[i] = r->points[i].position;
    return points_area(flat, r->manifold.point_count, &x, &y);
}

static rg_shape *make_prism(rg_random *random, uint32_t count) {
    static rg_vec3 points[1000];
    for (uint32_t i = 0; i < count; i++) {
        double s, c;
        rg_sin_cos(2 * RG_PI * (i + 0.5 * rg_random_unit(random)) / count, &s, &c);
        points[i] = rg_vec3_make(c, s, 0.5);
        points[count + i] = rg_vec3_make(c, s, -0.5);
    }
    return make_shape(rg_shape_def_hull(points, 2 * (size_t)count));
}

static void area_within_one_percent(void **state) {
    (void)state;
    rg_random random = rg_random_make(9);
    rg_shape *ground = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_contact_settings settings = {.reduce_to = 4, .band = 1e-2};
    for (int trial = 0; trial < 60; trial++) {
        uint32_t count = 5 + (uint32_t)rg_random_below(&random, 300);
        rg_shape *prism = make_prism(&random, count);
        rg_vec3 tilt = rg_scale(1e-3, rg_random_direction(&random));
        rg_pose pose = pose_turned(rg_vec3_make(0, 0, 0.5), tilt);
        query_with(ground, pose_at(0, 0, 0), prism, pose, &(rg_contact_settings){.band = 1e-2},
                   NULL, &all);
        query_with(ground, pose_at(0, 0, 0), prism, pose, &settings, NULL, &few);
        assert_int_equal(all.manifold.point_count, count);
        assert_false(all.manifold.reduced);
        assert_true(few.manifold.point_count < count || count < 20);
        assert_true(few.manifold.point_count <= 40);
        double before = area_of(&all), after = area_of(&few);
        assert_true(after >= 0.99 * before && after <= before * (1 + 1e-12));
        assert_near(few.manifold.area, before, 1e-9);
        assert_near(few.manifold.area_lost, 1 - after / before, 1e-9);
        assert_near(few.manifold.gap, all.manifold.gap, 0); /* the deepest is there */
        rg_shape_release(prism);
    }
    rg_shape_release(ground);
}

/* Where four corners are enough four are left; a square with its corners cut a little. */
static void four_where_four_do(void **state) {
    (void)state;
    rg_vec3 points[16];
    for (int i = 0; i < 16; i++) {
        double a = i & 1 ? 1 : -1, b = i & 2 ? 1 : -1, cut = 0.02;
        double z = i & 8 ? 0.5 : -0.5;
        points[i] = i & 4 ? rg_vec3_make(a, b * (1 - cut), z) : rg_vec3_make(a * (1 - cut), b, z);
    }
    rg_shape *brick = make_shape(rg_shape_def_hull(points, 16));
    rg_shape *slab = make_shape(rg_shape_def_box(8, 8, 1));
    rg_contact_settings settings = {.reduce_to = 4};
    query_with(slab, pose_at(0, 0, 0), brick, pose_at(0, 0, 1), NULL, NULL, &all);
    query_with(slab, pose_at(0, 0, 0), brick, pose_at(0, 0, 1), &settings, NULL, &few);
    assert_int_equal(all.manifold.point_count, 8);
    assert_true(few.manifold.point_count >= 4 && few.manifold.point_count < 8);
    assert_true(area_of(&few) >= 0.99 * area_of(&all));
    /* An octagon cannot do with fewer. */
    rg_pose turned = pose_turned(rg_vec3_make(0, 0, 1), rg_vec3_make(0, 0, RG_PI / 4));
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    query_with(cube, pose_at(0, 0, 0), cube, turned, &settings, NULL, &few);
    assert_int_equal(few.manifold.point_count, 8);
    assert_false(few.manifold.reduced);
    /* But a caller with room for four gets four, and is told the price: the square's. */
    rg_arena arena = rg_arena_make(NULL);
    assert_int_equal(
        rg_contact_between(
            &(rg_contact_query){
                {cube, pose_at(0, 0, 0)}, {cube, turned}, NULL, NULL, &arena, few.points, 4},
            &few.manifold),
        RG_OK);
    assert_int_equal(few.manifold.point_count, 4);
    assert_true(few.manifold.reduced);
    assert_near(few.manifold.area_lost, 1 - area_of(&few) / few.manifold.area, 1e-12);
    assert_near(few.manifold.area_lost, 1 - sqrt(0.5), 1e-12);
    rg_arena_free(&arena);
    rg_shape_release(cube);
    rg_shape_release(slab);
    rg_shape_release(brick);
}

/* Segments keep both ends. */
static void segments_stay(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_contact_settings settings = {.reduce_to = 1};
    rg_pose pose = pose_turned(rg_vec3_make(0, 0, 0.5 + sqrt(0.5)), rg_vec3_make(0, RG_PI / 4, 0));
    query_with(cube, pose_at(0, 0, 0), cube, pose, &settings, NULL, &few);
    assert_int_equal(few.manifold.point_count, 2);
    rg_shape_release(cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(area_within_one_percent),
        cmocka_unit_test(four_where_four_do),
        cmocka_unit_test(segments_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
