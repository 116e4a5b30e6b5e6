/* Fewer points: the support area stays, the deepest point stays: prisms, random hulls and the
 * convex parts of bunnies (tools/meshes fetches them). */
#include "contact_helpers.h"
#include "narrow_helpers.h"

#include "rigor/decompose.h"
#include "rigor/random.h"

#include <stdio.h>

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

/* --- hulls of many points, parts of bunnies --------------------------------------------------- */

/* Area of the hull of the points, seen along the normal: gift wrapping, unlike the library. Of
 * points in a line but for rounding the farthest is next: if the sign of a rounded area decided,
 * a point between two corners could be visited on the way there and on the way back. */
static double support_area(const contact_result *r) {
    static double x[MOST_TEST_POINTS], y[MOST_TEST_POINTS];
    rg_vec3 n = r->manifold.normal;
    rg_vec3 other = fabs(n.x) < 0.5 ? rg_vec3_make(1, 0, 0) : rg_vec3_make(0, 1, 0);
    rg_vec3 u = rg_normalised(rg_cross(n, other)), v = rg_cross(n, u);
    uint32_t count = r->manifold.point_count, start = 0;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = rg_dot(u, r->points[i].position);
        y[i] = rg_dot(v, r->points[i].position);
        if (x[i] < x[start] || (x[i] == x[start] && y[i] < y[start]))
            start = i;
    }
    double twice = 0;
    for (uint32_t at = start, turns = 0; turns <= count; turns++) {
        uint32_t next = at == 0 && count > 1 ? 1 : 0;
        for (uint32_t i = 0; i < count; i++) {
            double turn = (x[next] - x[at]) * (y[i] - y[at]) - (y[next] - y[at]) * (x[i] - x[at]);
            double far = hypot(x[i] - x[at], y[i] - y[at]);
            double held = hypot(x[next] - x[at], y[next] - y[at]);
            double line = 1e-13 * far * held;
            if (i != at && (turn < -line || (turn <= line && far > held)))
                next = i;
        }
        twice += x[at] * y[next] - x[next] * y[at];
        at = next;
        if (at == start)
            break;
    }
    return twice / 2;
}

/* A rounded foot: three points touch, and a wide ring of others is only near. The three carry. */
static void what_touches_stays(void **state) {
    (void)state;
    enum { RING = 40 };
    rg_vec3 points[3 + 2 * RING];
    for (int i = 0; i < 3; i++)
        points[i] =
            rg_vec3_make(0.2 * rg_cos(2 * RG_PI * i / 3), 0.2 * rg_sin(2 * RG_PI * i / 3), 0);
    for (int i = 0; i < 2 * RING; i++) {
        double u = 2 * RG_PI * i / RING;
        points[3 + i] = rg_vec3_make(rg_cos(u), rg_sin(u), i < RING ? 0.005 : 1);
    }
    rg_shape *foot = make_shape(rg_shape_def_hull(points, 3 + 2 * RING));
    rg_shape *ground = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_contact_settings settings = {.band = 1e-2};
    query_with(ground, pose_at(0, 0, 0), foot, pose_at(0, 0, 0), &settings, NULL, &all);
    settings.reduce_to = 4;
    query_with(ground, pose_at(0, 0, 0), foot, pose_at(0, 0, 0), &settings, NULL, &few);
    assert_int_equal(all.manifold.point_count, 3 + RING);
    assert_true(few.manifold.point_count < 3 + RING);
    int touching = 0;
    for (uint32_t i = 0; i < few.manifold.point_count; i++)
        touching += few.points[i].gap < 1e-9;
    assert_int_equal(touching, 3);
    assert_true(support_area(&few) >= 0.99 * support_area(&all));
    assert_near(few.manifold.area_lost, 1 - support_area(&few) / support_area(&all), 1e-9);
    rg_shape_release(ground);
    rg_shape_release(foot);
}

typedef struct tally {
    double lost;       /* the largest share of an area */
    size_t all, few;   /* points */
    uint32_t compared; /* pairs with an area */
} tally;

static void compare_points(const rg_shape *a, rg_pose pose_a, const rg_shape *b, rg_pose pose_b,
                           double band, tally *t) {
    rg_contact_settings settings = {.near = band, .band = band};
    query_with(a, pose_a, b, pose_b, &settings, NULL, &all);
    settings.reduce_to = 4;
    query_with(a, pose_a, b, pose_b, &settings, NULL, &few);
    t->all += all.manifold.point_count;
    t->few += few.manifold.point_count;
    if (all.manifold.point_count < 3)
        return;
    assert_near(few.manifold.gap, all.manifold.gap, 0);
    double before = support_area(&all), after = support_area(&few);
    double size = fmin(rg_shape_circumradius(a), rg_shape_circumradius(b));
    if (!(before > 1e-9 * size * size))
        return; /* a line */
    assert_near(few.manifold.area, before, 1e-9 * before + 1e-12 * size * size);
    t->lost = fmax(t->lost, 1 - after / before);
    t->compared++;
}

static void report(const char *what, const tally *t) {
    print_message("%s: %zu points of %zu, at most %.3g %% of the area lost, %u pairs\n", what,
                  t->few, t->all, 100 * t->lost, t->compared);
    assert_true(t->lost <= 0.01);
}

static void hulls_keep_their_support(void **state) {
    (void)state;
    rg_random random = rg_random_make(21);
    tally t = {0};
    int cases = test_cases(400, 10000);
    for (int i = 0; i < cases; i++) {
        rg_vec3 axes = random_vector(&random, 0.3, 1);
        int count = 20 + (int)rg_random_below(&random, 150);
        rg_shape *a = random_hull(&random, axes, count), *b = random_hull(&random, axes, count);
        rg_pose pose = {
            rg_scale(rg_random_between(&random, 0.8, 1.7), rg_random_direction(&random)),
            rg_random_rotation(&random)};
        compare_points(a, pose_at(0, 0, 0), b, pose, rg_random_between(&random, 0.01, 0.2), &t);
        rg_shape_release(a);
        rg_shape_release(b);
    }
    report("hulls", &t);
    assert_true(t.compared > (uint32_t)cases / 4 && t.few < t.all);
}

static bool read_bunny(rg_decomposition *d) {
    static const char path[] = RIGOR_TEST_DATA "/../../build/meshes/bunny.obj";
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    fclose(file);
    rg_mesh mesh;
    rg_error error = {0};
    if (rg_mesh_read_file(path, NULL, &mesh, NULL, &error) != RG_OK ||
        rg_mesh_decompose(&mesh, &(rg_decomposition_options){.parts = 8}, d, &error) != RG_OK)
        fail_msg("%s", error.text);
    rg_mesh_destroy(&mesh);
    return true;
}

static void bunnies_keep_their_support(void **state) {
    (void)state;
    rg_decomposition d;
    if (!read_bunny(&d))
        skip_because("build/meshes/bunny.obj is not there: tools/meshes fetches it");
    rg_random random = rg_random_make(22);
    tally t = {0};
    int cases = test_cases(40, 400);
    for (int i = 0; i < cases; i++) {
        rg_vec3 away = rg_random_direction(&random);
        double apart = rg_random_between(&random, 4, 9); /* of a bunny about 9 high */
        rg_pose one = {{0, 0, 0}, rg_random_rotation(&random)};
        rg_pose two = {rg_scale(apart, away), rg_random_rotation(&random)};
        for (size_t p = 0; p < d.part_count; p++)
            for (size_t q = 0; q < d.part_count; q++)
                compare_points(d.parts[p], one, d.parts[q], two, 0.5, &t);
    }
    report("bunnies", &t);
    assert_true(t.compared > (uint32_t)cases / 2);
    rg_decomposition_destroy(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(area_within_one_percent),
        cmocka_unit_test(four_where_four_do),
        cmocka_unit_test(segments_stay),
        cmocka_unit_test(what_touches_stays),
        cmocka_unit_test(hulls_keep_their_support),
        cmocka_unit_test(bunnies_keep_their_support),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
