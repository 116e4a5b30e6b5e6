#include "test_support.h"

#include "base/base_handle.h"
#include "base/base_memory.h"
#include "rigor/random.h"

#include <string.h>

static void test_add_find_remove(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_handle_pool pool = {0};
    rg_handle h[3];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rg_handle_add(&pool, &allocator, &h[i]), RG_OK);
        assert_int_equal(h[i].index1, i + 1);
        assert_int_equal(rg_handle_index(&pool, h[i]), i);
    }
    assert_false(rg_handle_exists(&pool, (rg_handle){0}));
    assert_false(rg_handle_exists(&pool, (rg_handle){4, 1}));
    assert_false(rg_handle_exists(&pool, (rg_handle){UINT32_MAX, 1}));
    assert_false(rg_handle_exists(&pool, (rg_handle){1, h[0].generation + 2}));

    size_t hole, moved_from;
    rg_handle_remove(&pool, h[0], &hole, &moved_from); /* the last takes its place */
    assert_int_equal(hole, 0);
    assert_int_equal(moved_from, 2);
    assert_int_equal(pool.count, 2);
    assert_false(rg_handle_exists(&pool, h[0]));
    assert_int_equal(rg_handle_index(&pool, h[2]), 0);
    assert_int_equal(rg_handle_index(&pool, h[1]), 1);
    assert_int_equal(rg_handle_at(&pool, 0).index1, h[2].index1);

    rg_handle_remove(&pool, h[1], &hole, &moved_from); /* it is the last: nothing moves */
    assert_int_equal(hole, 1);
    assert_int_equal(moved_from, 1);

    rg_handle again; /* last in, first out; a new generation */
    assert_int_equal(rg_handle_add(&pool, &allocator, &again), RG_OK);
    assert_int_equal(again.index1, h[1].index1);
    assert_int_not_equal(again.generation, h[1].generation);
    assert_false(rg_handle_exists(&pool, h[1]));
    assert_true(rg_handle_exists(&pool, again));
    assert_false(rg_handle_exists(&pool, (rg_handle){again.index1, again.generation + 1}));
    rg_handle_pool_free(&pool, &allocator);
    assert_int_equal(pool.count, 0);
}

/* A free slot's generation is 0; a handle that guesses it must not pass. */
static void test_free_slot_is_no_handle(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_handle_pool pool = {0};
    rg_handle h;
    size_t hole, moved_from;
    assert_int_equal(rg_handle_add(&pool, &allocator, &h), RG_OK);
    rg_handle_remove(&pool, h, &hole, &moved_from);
    for (uint32_t generation = 0; generation < 5; generation++)
        assert_false(rg_handle_exists(&pool, (rg_handle){h.index1, generation}));
    pool.last_generation = UINT32_MAX - 1; /* about to wrap around */
    assert_int_equal(rg_handle_add(&pool, &allocator, &h), RG_OK);
    assert_int_equal(h.generation, UINT32_MAX);
    rg_handle_remove(&pool, h, &hole, &moved_from);
    assert_false(rg_handle_exists(&pool, h));
    assert_int_equal(rg_handle_add(&pool, &allocator, &h), RG_OK);
    assert_int_equal(h.generation, 1);
    assert_true(rg_handle_exists(&pool, h));
    rg_handle_pool_free(&pool, &allocator);
}

/* Random adding and removing beside a plain list of who is where. */
static void test_against_model(void **state) {
    (void)state;
    enum { STEPS = 20000, MOST = 300 };
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(7);
    rg_handle_pool pool = {0}, copy = {0};
    static rg_handle things[MOST], removed[STEPS];
    size_t count = 0, removed_count = 0;
    for (int step = 0; step < STEPS; step++) {
        if (count == 0 || (count < MOST && rg_random_below(&random, 2))) {
            assert_int_equal(rg_handle_add(&pool, &allocator, &things[count]), RG_OK);
            count++;
        } else {
            size_t victim = rg_random_below(&random, count), hole, moved_from;
            removed[removed_count++] = things[victim];
            rg_handle_remove(&pool, things[victim], &hole, &moved_from);
            assert_int_equal(hole, victim);
            assert_int_equal(moved_from, count - 1);
            things[hole] = things[moved_from];
            count--;
        }
        if (step % 97 == 0) {
            assert_int_equal(pool.count, count);
            assert_int_equal(rg_handle_pool_copy(&copy, &pool, &allocator), RG_OK);
            const rg_handle_pool *both[2] = {&pool, &copy};
            for (int b = 0; b < 2; b++) {
                for (size_t i = 0; i < count; i++) {
                    rg_handle at = rg_handle_at(both[b], i);
                    assert_memory_equal(&at, &things[i], sizeof at);
                    assert_int_equal(rg_handle_index(both[b], things[i]), i);
                }
                for (size_t i = 0; i < removed_count; i++)
                    assert_false(rg_handle_exists(both[b], removed[i]));
            }
        }
    }
    assert_true(pool.slot_count <= MOST);
    rg_handle_pool_free(&pool, &allocator);
    rg_handle_pool_free(&copy, &allocator);
}

/* A copy goes on exactly as the original would: the same handles from the same calls. */
static void test_copy_continues_alike(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_handle_pool pool = {0}, copy = {0};
    rg_handle h[10], a, b;
    size_t hole, moved_from;
    assert_int_equal(rg_handle_pool_copy(&copy, &pool, &allocator), RG_OK); /* empty */
    for (int i = 0; i < 10; i++)
        assert_int_equal(rg_handle_add(&pool, &allocator, &h[i]), RG_OK);
    for (int i = 2; i < 8; i += 2)
        rg_handle_remove(&pool, h[i], &hole, &moved_from);
    assert_int_equal(rg_handle_pool_copy(&copy, &pool, &allocator), RG_OK);
    assert_int_equal(rg_handle_pool_copy(&copy, &copy, &allocator), RG_OK);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(rg_handle_add(&pool, &allocator, &a), RG_OK);
        assert_int_equal(rg_handle_add(&copy, &allocator, &b), RG_OK);
        assert_memory_equal(&a, &b, sizeof a);
    }
    rg_handle_pool_free(&pool, &allocator);
    rg_handle_pool_free(&copy, &allocator);
}

/* Handles have 32 bits. (The pool is only said to be full.) */
static void test_limit(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_handle_pool full = {.slot_count = UINT32_MAX - 1, .count = UINT32_MAX - 1};
    rg_handle h;
    assert_int_equal(rg_handle_add(&full, &allocator, &h), RG_LIMIT_EXCEEDED);
    assert_int_equal(counter.resizes, 0);
}

static void test_no_memory(void **state) {
    (void)state;
    for (size_t fail_after = 1; fail_after <= 4; fail_after++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        rg_handle_pool pool = {0};
        rg_handle h;
        counter.fail_after = fail_after; /* fails when the arrays start or grow */
        size_t added = 0;
        rg_status status;
        while ((status = rg_handle_add(&pool, &allocator, &h)) == RG_OK)
            added++;
        assert_int_equal(status, RG_OUT_OF_MEMORY);
        assert_int_equal(pool.count, added);
        for (size_t i = 0; i < added; i++)
            assert_int_equal(rg_handle_index(&pool, rg_handle_at(&pool, i)), i);
        counter.fail_after = 0; /* memory is back: it goes on */
        assert_int_equal(rg_handle_add(&pool, &allocator, &h), RG_OK);
        assert_int_equal(h.index1, added + 1);

        for (size_t fail = 1; fail <= 2; fail++) {
            rg_handle_pool copy = {0};
            counter.resizes = 0;
            counter.fail_after = fail;
            status = rg_handle_pool_copy(&copy, &pool, &allocator);
            assert_int_equal(status, fail == 1 ? RG_OUT_OF_MEMORY : RG_OK);
            if (status != RG_OK)
                assert_true(copy.count == 0 && copy.slot_count == 0);
            rg_handle_pool_free(&copy, &allocator);
        }
        rg_handle_pool_free(&pool, &allocator);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_find_remove), cmocka_unit_test(test_free_slot_is_no_handle),
        cmocka_unit_test(test_against_model),   cmocka_unit_test(test_copy_continues_alike),
        cmocka_unit_test(test_limit),           cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
