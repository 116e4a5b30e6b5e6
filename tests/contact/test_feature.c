/* The separating feature: hysteresis, and names of points that stay from step to step. */
#include "contact_helpers.h"

#include "rigor/random.h"

static contact_result result, other;

/* A box beside and above another, such that the side and the top tie within rounding. */
static void near_tie_keeps_the_feature(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_contact_cache cache = {0};
    rg_contact_settings settings = {.stick = 1e-5};
    /* Not an exact tie at any step; alternately the one and the other is better by 2e-6 m. */
    int flips = 0, flips_without = 0;
    rg_vec3 last = {0, 0, 0}, last_without = {0, 0, 0};
    for (int step = 0; step < 200; step++) {
        double bias = step % 2 ? 1e-6 : -1e-6;
        rg_pose pose = pose_at(1 - 1e-4 + bias, 0.2, 1 - 1e-4 - bias);
        query_with(cube, pose_at(0, 0, 0), cube, pose, &settings, &cache, &result);
        query_with(cube, pose_at(0, 0, 0), cube, pose, &settings, NULL, &other);
        flips += step > 0 && rg_dot(result.manifold.normal, last) < 0.5;
        flips_without += step > 0 && rg_dot(other.manifold.normal, last_without) < 0.5;
        last = result.manifold.normal;
        last_without = other.manifold.normal;
        assert_int_equal(result.manifold.kept, step > 0);
        assert_int_equal(result.manifold.point_count, 4); /* a strip 1e-4 wide, 0.8 long */
    }
    assert_int_equal(flips, 0);
    assert_int_equal(flips_without, 199);
    /* A clear difference does change it, and a pair that comes apart forgets it. */
    bool x = last.x > 0.5;
    rg_pose clear = pose_at(x ? 1 - 2e-4 : 1, 0.2, x ? 1 : 1 - 2e-4);
    query_with(cube, pose_at(0, 0, 0), cube, clear, &settings, &cache, &result);
    assert_false(result.manifold.kept);
    assert_true(rg_dot(result.manifold.normal, last) < 0.5);
    query_with(cube, pose_at(0, 0, 0), cube, pose_at(3, 0, 0), &settings, &cache, &result);
    assert_int_equal(result.manifold.point_count, 0);
    assert_int_equal(cache.features.kind, RG_FEATURES_NONE);
    rg_shape_release(cube);
}

/* Coincident centres: every direction is as good, the last one stays. */
static void coincident_centres_keep_the_normal(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_contact_cache cache = {0};
    for (int i = 0; i <= 10; i++) {
        query_with(cube, pose_at(0, 0, 0), cube, pose_at(0, 1 - 0.1 * i, 0), NULL, &cache, &result);
        assert_vector(result.manifold.normal, rg_vec3_make(0, 1, 0), 1e-12);
        assert_true(result.manifold.point_count >= 1);
    }
    assert_near(result.manifold.gap, -1, 1e-12);
    /* With nothing to remember there is still a normal and a point, of any kind of shape. */
    rg_shape *shapes[5] = {
        cube, make_shape(rg_shape_def_sphere(1)), make_shape(rg_shape_def_cylinder(1, 2)),
        make_shape(rg_shape_def_cone(1, 2)), make_shape(rg_shape_def_capsule(1, 2))};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++) {
            rg_pose p1 = pose_at(1, 2, 3), p2 = p1;
            p1.position = rg_sub(p1.position, rg_shape_centre(shapes[i]));
            p2.position = rg_sub(p2.position, rg_shape_centre(shapes[k]));
            query(shapes[i], p1, shapes[k], p2, &result);
            assert_true(result.manifold.point_count >= 1);
            assert_true(result.manifold.gap < -0.9);
        }
    for (int i = 0; i < 5; i++)
        rg_shape_release(shapes[i]);
}

static void names_stay(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_shape *brick = make_shape(rg_shape_def_box(2, 0.7, 0.3));
    for (int trial = 0; trial < 200; trial++) {
        rg_vec3 place = {rg_random_between(&random, -0.3, 0.3),
                         rg_random_between(&random, -0.3, 0.3), 0.65};
        double turn = rg_random_between(&random, 0.05, 0.3) + 0.4 * (trial % 3);
        rg_contact_cache cache = {0};
        query_with(cube, pose_at(0, 0, 0), brick, pose_turned(place, rg_vec3_make(0, 0, turn)),
                   NULL, &cache, &result);
        uint64_t ids[16];
        uint32_t count = result.manifold.point_count;
        assert_true(count >= 4 && count <= 8);
        for (uint32_t i = 0; i < count; i++)
            ids[i] = result.points[i].id;
        for (int step = 0; step < 20; step++) {
            rg_vec3 shake = rg_scale(1e-6, rg_random_direction(&random));
            rg_vec3 spin = rg_scale(1e-6, rg_random_direction(&random));
            spin.z += turn;
            query_with(cube, pose_at(0, 0, 0), brick, pose_turned(rg_add(place, shake), spin), NULL,
                       &cache, &other);
            assert_int_equal(other.manifold.point_count, count);
            for (uint32_t i = 0; i < count; i++) {
                assert_true(other.points[i].id == ids[i]);
                assert_vector(other.points[i].position, result.points[i].position, 1e-4);
            }
        }
    }
    rg_shape_release(cube);
    rg_shape_release(brick);
}

/* A corner that moves over an edge: before, a face; exactly there, the average; after, the other.
 */
static void averaged_only_at_the_tie(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    for (int i = -2; i <= 2; i++) {
        double off = 1e-5 * i;
        query(cube, pose_at(0, 0, 0), cube, pose_at(1 + off, 0.1, 1 - off), &result);
        assert_int_equal(result.manifold.degenerate, i == 0);
        if (i != 0)
            assert_vector(result.manifold.normal, rg_vec3_make(i > 0, 0, i < 0), 1e-14);
        /* Ends of the common edge, or a strip 1e-5 wide. */
        assert_int_equal(result.manifold.point_count, i == 0 ? 2 : 4);
    }
    rg_shape_release(cube);
}

/* A stale cache, of another shape even, does no harm. */
static void stale_cache(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_feature_pair pairs_of_features[] = {{RG_FEATURES_FACE_VERTEX, 77, 3},
                                           {RG_FEATURES_VERTEX_FACE, 0, 600},
                                           {RG_FEATURES_EDGE_EDGE, 3, 1000},
                                           {RG_FEATURES_EDGE_EDGE, 0, 0},
                                           {RG_FEATURES_SMOOTH, 0, 0}};
    for (int i = 0; i < 5; i++) {
        rg_contact_cache cache = {.features = pairs_of_features[i]};
        query_with(cube, pose_at(0, 0, 0), cube, pose_at(0.3, 0.2, 1), NULL, &cache, &result);
        assert_int_equal(result.manifold.point_count, 4);
        assert_vector(result.manifold.normal, rg_vec3_make(0, 0, 1), 1e-15);
    }
    rg_shape_release(cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_tie_keeps_the_feature),
        cmocka_unit_test(coincident_centres_keep_the_normal),
        cmocka_unit_test(names_stay),
        cmocka_unit_test(averaged_only_at_the_tie),
        cmocka_unit_test(stale_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
