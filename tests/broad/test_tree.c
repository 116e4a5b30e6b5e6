/* The tree: how much an update looks at, and shapes of the scene that could spoil it. */
#include "broad_support.h"

static rg_broad *tree_of(const rg_bounds *bounds, uint32_t count) {
    rg_broad *broad = broad_of(&rg_broad_tree, NULL);
    for (uint32_t i = 0; i < count; i++) {
        rg_proxy_filter filter = rg_proxy_filter_default(i);
        assert_int_equal(rg_broad_add(broad, i, &bounds[i], &filter), RG_OK);
    }
    assert_int_equal(rg_broad_update(broad), RG_OK);
    return broad;
}

static void check_brute(rg_broad *broad, const rg_bounds *bounds, uint32_t count) {
    pair_set set = {0};
    rg_proxy_filter *filters = calloc(count, sizeof *filters);
    assert_non_null(filters);
    for (uint32_t i = 0; i < count; i++)
        filters[i] = rg_proxy_filter_default(i);
    brute_force(bounds, filters, NULL, count, &set);
    assert_same_pairs(rg_broad_pairs_all(broad), set.pairs, set.count, "tree");
    free(filters);
    free(set.pairs);
}

/* Slow motion: few leaves are put in again, and a query sees a small part of the tree. */
static void slow_motion_costs_little(void **state) {
    (void)state;
    enum { N = 4000 };
    rg_random random = rg_random_make(3);
    rg_bounds *bounds = calloc(N, sizeof *bounds);
    rg_vec3 *velocity = calloc(N, sizeof *velocity);
    assert_true(bounds && velocity);
    for (int i = 0; i < N; i++) {
        bounds[i] = random_box(&random, 10, 0.5);
        velocity[i] = random_vector(&random, 0.005);
    }
    rg_broad *broad = tree_of(bounds, N);
    assert_int_equal(rg_broad_get_info(broad).rebuilds, 1);
    uint64_t again = 0, visits = 0;
    enum { STEPS = 100 };
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < N; i++) {
            shift_box(&bounds[i], velocity[i]);
            assert_int_equal(rg_broad_set_bounds(broad, i, &bounds[i]), RG_OK);
        }
        assert_int_equal(rg_broad_update(broad), RG_OK);
        again += rg_broad_get_info(broad).reinsertions;
        visits += rg_broad_get_info(broad).node_visits;
    }
    check_brute(broad, bounds, N);
    assert_int_equal(rg_broad_get_info(broad).rebuilds, 1);
    assert_true(again > 0 && again < (uint64_t)STEPS * N / 10);
    assert_true(visits < again * 150); /* of 4000: the depth of 12, and the neighbourhood */
    rg_broad_destroy(broad);
    free(bounds);
    free(velocity);
}

/* Sizes 1 to 10^6, small ones on large ones: neighbourhoods of the small stay small. */
static void sizes_of_six_orders(void **state) {
    (void)state;
    enum { N = 1500 };
    rg_random random = rg_random_make(4);
    rg_bounds bounds[N];
    for (uint32_t i = 0; i < N; i++) {
        double half = i < 20 ? 0.5 : i < 300 ? 1e-3 : 1e-6;
        rg_vec3 c = i < 20 ? random_vector(&random, 1) : random_vector(&random, 0.02);
        bounds[i] = box_at(c.x, c.y, c.z, half);
    }
    rg_broad *broad = tree_of(bounds, N);
    check_brute(broad, bounds, N);
    for (int step = 0; step < 30; step++) {
        for (uint32_t i = 0; i < N; i++) {
            shift_box(&bounds[i], random_vector(&random, 1e-5));
            assert_int_equal(rg_broad_set_bounds(broad, i, &bounds[i]), RG_OK);
        }
        assert_int_equal(rg_broad_update(broad), RG_OK);
    }
    check_brute(broad, bounds, N);
    rg_broad_destroy(broad);
}

/* Each box half as far from the origin as the one before, or all with one centre: no split by bins
 * is balanced. Put in one by one, and all at once. */
static void lopsided_scenes(void **state) {
    (void)state;
    enum { N = 900 };
    for (int way = 0; way < 4; way++) {
        rg_bounds bounds[N];
        double at = 1e100;
        for (int i = 0; i < N; i++, at /= 1.7)
            bounds[i] = way & 1 ? box_at(0, 0, 0, at) : box_at(at, 0, 0, 0.1 * at);
        rg_broad *broad = tree_of(bounds, way & 2 ? 1 : N);
        for (uint32_t i = 1; way & 2 && i < N; i++) {
            rg_proxy_filter filter = rg_proxy_filter_default(i);
            assert_int_equal(rg_broad_add(broad, i, &bounds[i], &filter), RG_OK);
            if (i % 3 == 0)
                assert_int_equal(rg_broad_update(broad), RG_OK);
        }
        assert_int_equal(rg_broad_update(broad), RG_OK);
        check_brute(broad, bounds, N);
        rg_broad_destroy(broad);
    }
}

/* A box that was fast and large once does not stay large in the tree. */
static void slack_is_given_back(void **state) {
    (void)state;
    enum { N = 50 };
    rg_bounds bounds[N];
    for (uint32_t i = 0; i < N; i++)
        bounds[i] = box_at(i, 0, 0, 0.1);
    rg_broad *broad = tree_of(bounds, N);
    bounds[0] = box_at(0, 0, 0, 100);
    assert_int_equal(rg_broad_set_bounds(broad, 0, &bounds[0]), RG_OK);
    assert_int_equal(rg_broad_update(broad), RG_OK);
    assert_int_equal(rg_broad_pairs_all(broad).count, N - 1);
    bounds[0] = box_at(0, 0, 0, 0.1);
    assert_int_equal(rg_broad_set_bounds(broad, 0, &bounds[0]), RG_OK);
    assert_int_equal(rg_broad_update(broad), RG_OK);
    assert_int_equal(rg_broad_pairs_all(broad).count, 0);
    assert_int_equal(rg_broad_get_info(broad).reinsertions, 1);
    assert_int_equal(rg_broad_update(broad), RG_OK);
    assert_int_equal(rg_broad_get_info(broad).overlap_tests, 0); /* no pair of enlarged boxes */
    rg_broad_destroy(broad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_motion_costs_little),
        cmocka_unit_test(sizes_of_six_orders),
        cmocka_unit_test(lopsided_scenes),
        cmocka_unit_test(slack_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
