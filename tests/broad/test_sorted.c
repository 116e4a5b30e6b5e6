/* The sorted lists: how many swaps, and when everything is sorted anew. */
#include "broad_support.h"

enum { COUNT = 400 };

static rg_broad *row_of(rg_bounds *bounds, uint32_t count, double gap) {
    rg_broad *broad = broad_of(&rg_broad_sorted, NULL);
    for (uint32_t i = 0; i < count; i++) {
        rg_proxy_filter filter = rg_proxy_filter_default(i);
        bounds[i] = box_at(gap * i, 0, 0, 0.5);
        assert_int_equal(rg_broad_add(broad, i, &bounds[i], &filter), RG_OK);
    }
    assert_int_equal(rg_broad_update(broad), RG_OK);
    return broad;
}

static void set_all(rg_broad *broad, const rg_bounds *bounds, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(rg_broad_set_bounds(broad, i, &bounds[i]), RG_OK);
}

/* One box passes k others: four swaps each, lower and upper with lower and upper. */
static void a_box_that_passes_others(void **state) {
    (void)state;
    rg_bounds bounds[COUNT];
    rg_broad *broad = row_of(bounds, COUNT, 4);
    assert_int_equal(rg_broad_pairs_all(broad).count, 0);
    assert_int_equal(rg_broad_get_info(broad).rebuilds, 1);
    assert_int_equal(rg_broad_update(broad), RG_OK);
    assert_int_equal(rg_broad_get_info(broad).swaps, 0);
    for (uint32_t passed = 1; passed <= 20; passed++) {
        bounds[100] = box_at(4 * (100 + passed) + 2, 0, 0, 0.5); /* in the gap behind them */
        set_all(broad, bounds, COUNT);
        assert_int_equal(rg_broad_update(broad), RG_OK);
        assert_int_equal(rg_broad_get_info(broad).swaps, 4);
        assert_int_equal(rg_broad_pairs_all(broad).count, 0);
    }
    bounds[100] = box_at(402, 0, 0, 0.5); /* and back over all of them */
    set_all(broad, bounds, COUNT);
    assert_int_equal(rg_broad_update(broad), RG_OK);
    assert_int_equal(rg_broad_get_info(broad).swaps, 4 * 20);
    assert_int_equal(rg_broad_get_info(broad).rebuilds, 1);
    rg_broad_destroy(broad);
}

/* The swaps of an update are the pairs of end points whose order has changed, counted here one by
 * one. */
static uint64_t inversions(const rg_bounds *before, const rg_bounds *after, uint32_t count) {
    uint64_t swaps = 0;
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t p = 0; p < 2 * count; p++)
            for (uint32_t q = p + 1; q < 2 * count; q++) {
                uint32_t i = p / 2, j = q / 2, u = 3 * (p % 2) + k, v = 3 * (q % 2) + k;
                double x = ((const double *)&before[i])[u] - ((const double *)&before[j])[v];
                double y = ((const double *)&after[i])[u] - ((const double *)&after[j])[v];
                swaps += (x < 0 && y > 0) || (x > 0 && y < 0);
            }
    return swaps;
}

static void swaps_are_inversions(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    rg_bounds before[COUNT], after[COUNT];
    rg_broad *broad = row_of(after, COUNT, 0.01);
    for (uint32_t i = 0; i < COUNT; i++)
        after[i] = random_box(&random, 10, 0.5);
    set_all(broad, after, COUNT);
    assert_int_equal(rg_broad_update(broad), RG_OK);
    uint64_t rebuilds = rg_broad_get_info(broad).rebuilds;
    for (int step = 0; step < 10; step++) {
        memcpy(before, after, sizeof before);
        for (uint32_t i = 0; i < COUNT; i++)
            shift_box(&after[i], random_vector(&random, 0.02));
        set_all(broad, after, COUNT);
        assert_int_equal(rg_broad_update(broad), RG_OK);
        rg_broad_info info = rg_broad_get_info(broad);
        assert_int_equal(info.swaps, inversions(before, after, COUNT));
        assert_true(info.swaps > 100);
        assert_true(info.overlap_tests < info.swaps / 4); /* signatures tell the others apart */
    }
    assert_int_equal(rg_broad_get_info(broad).rebuilds, rebuilds);
    rg_broad_destroy(broad);
}

/* Turned around, the lists would need all n^2 swaps; sorting anew is bounded. */
static void everything_turned_around(void **state) {
    (void)state;
    enum { MANY = 3000 };
    rg_bounds *bounds = calloc(MANY, sizeof *bounds);
    assert_non_null(bounds);
    rg_broad *broad = row_of(bounds, MANY, 0.9);
    assert_int_equal(rg_broad_pairs_all(broad).count, MANY - 1);
    for (uint32_t i = 0; i < MANY; i++)
        bounds[i] = box_at(-0.9 * i, 0, 0, 0.5);
    set_all(broad, bounds, MANY);
    assert_int_equal(rg_broad_update(broad), RG_OK);
    rg_broad_info info = rg_broad_get_info(broad);
    assert_int_equal(info.rebuilds, 2);
    assert_true(info.swaps < (uint64_t)MANY * MANY);
    assert_int_equal(info.pairs, MANY - 1); /* the same neighbours */
    assert_int_equal(info.begun, 0);
    assert_int_equal(info.ended, 0);
    assert_int_equal(rg_broad_update(broad), RG_OK);
    assert_int_equal(rg_broad_get_info(broad).swaps, 0);
    rg_broad_destroy(broad);
    free(bounds);
}

/* A few new boxes do not sort everything anew, and look only at what is about them. */
static void a_few_new_boxes(void **state) {
    (void)state;
    rg_bounds bounds[COUNT];
    rg_broad *broad = row_of(bounds, COUNT, 2);
    for (uint32_t i = 0; i < 5; i++) {
        rg_bounds b = box_at(20 * i + 1, 0, 0, 0.75);
        rg_proxy_filter filter = rg_proxy_filter_default(COUNT + i);
        assert_int_equal(rg_broad_add(broad, COUNT + i, &b, &filter), RG_OK);
    }
    assert_int_equal(rg_broad_update(broad), RG_OK);
    rg_broad_info info = rg_broad_get_info(broad);
    assert_int_equal(info.rebuilds, 1);
    assert_int_equal(info.begun, 10); /* the neighbour on each side */
    assert_true(info.sweep_tests <= 20);
    assert_int_equal(info.swaps, 0);
    rg_broad_destroy(broad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_that_passes_others),
        cmocka_unit_test(swaps_are_inversions),
        cmocka_unit_test(everything_turned_around),
        cmocka_unit_test(a_few_new_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
