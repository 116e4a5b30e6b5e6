#include "test_support.h"

#include "base/base_arena.h"
#include "rigor/random.h"

#include <string.h>

static bool is_aligned(const void *pointer) {
    return (uintptr_t)pointer % 64 == 0;
}

/* Pieces of all sizes keep what was written into them: they are aligned and do not overlap. */
static void test_pieces(void **state) {
    (void)state;
    enum { PIECES = 500 };
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_arena arena = rg_arena_make(&allocator);
    rg_random random = rg_random_make(1);
    unsigned char *pieces[PIECES];
    size_t sizes[PIECES];
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = rg_random_below(&random, i % 50 == 0 ? 100000 : 300);
        pieces[i] = rg_arena_take(&arena, sizes[i], 1);
        assert_non_null(pieces[i]);
        assert_true(is_aligned(pieces[i]));
        memset(pieces[i], i % 251, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], i % 251);
    assert_true(counter.resizes > 2 && counter.resizes < 15); /* chunks, but few */
    rg_arena_free(&arena);
    assert_int_equal(counter.releases, counter.resizes);
    assert_non_null(rg_arena_take(&arena, 1, 1)); /* still usable */
    rg_arena_free(&arena);
    rg_arena_free(&arena); /* twice is harmless */
    assert_int_equal(counter.releases, counter.resizes);
}

static void one_step(rg_arena *arena, size_t scale) {
    rg_random random = rg_random_make(9);
    for (int i = 0; i < 200; i++) {
        rg_arena_mark mark = rg_arena_get_mark(arena);
        assert_non_null(rg_arena_take(arena, scale * (1 + rg_random_below(&random, 400)), 8));
        if (i % 3 == 0)
            rg_arena_return(arena, mark);
    }
    rg_arena_reset(arena);
}

/* The second round of the same size finds everything in one chunk. */
static void test_steady_state_makes_no_heap_call(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_arena arena = rg_arena_make(&allocator);
    one_step(&arena, 1);
    size_t calls = counter.resizes;
    assert_true(calls > 2); /* it did need several chunks, and a join */
    assert_int_equal(counter.resizes - counter.releases, 1);
    for (int i = 0; i < 10; i++)
        one_step(&arena, 1);
    assert_int_equal(counter.resizes, calls);
    one_step(&arena, 3); /* more: grows, joins, and is steady again */
    assert_true(counter.resizes > calls);
    calls = counter.resizes;
    for (int i = 0; i < 10; i++)
        one_step(&arena, 3);
    one_step(&arena, 1);
    assert_int_equal(counter.resizes, calls);
    rg_arena_free(&arena);
    assert_int_equal(counter.releases, counter.resizes);
}

static void test_marks(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_arena arena = rg_arena_make(&allocator);
    rg_arena_mark empty = rg_arena_get_mark(&arena);
    char *kept = rg_arena_take(&arena, 10, 1);
    strcpy(kept, "kept");
    rg_arena_mark mark = rg_arena_get_mark(&arena);
    void *first = rg_arena_take(&arena, 100, 8);
    for (int i = 0; i < 100; i++) /* several chunks further */
        memset(rg_arena_take(&arena, 1000, 8), 0xFF, 8000);
    size_t calls = counter.resizes;
    assert_true(calls >= 3);
    rg_arena_return(&arena, mark);
    assert_int_equal(arena.used, 64);
    assert_ptr_equal(rg_arena_take(&arena, 100, 8), first); /* the same place again */
    for (int i = 0; i < 100; i++)
        memset(rg_arena_take(&arena, 1000, 8), 0xEE, 8000);
    assert_int_equal(counter.resizes, calls); /* spare chunks were used again */
    assert_string_equal(kept, "kept");
    rg_arena_return(&arena, empty);
    assert_int_equal(arena.used, 0);
    assert_ptr_equal(rg_arena_take(&arena, 1, 1), kept);
    rg_arena_free(&arena);
}

/* A spare chunk that is too small for a large piece is kept for later. */
static void test_spare_too_small(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_arena arena = rg_arena_make(&allocator);
    assert_non_null(rg_arena_take(&arena, 16000, 1));
    rg_arena_mark mark = rg_arena_get_mark(&arena);
    assert_non_null(rg_arena_take(&arena, 16000, 1)); /* second chunk */
    rg_arena_return(&arena, mark);
    char *large = rg_arena_take(&arena, 1000000, 1);
    assert_non_null(large);
    memset(large, 1, 1000000);
    char *small = rg_arena_take(&arena, 10000, 1);
    assert_non_null(small);
    memset(small, 2, 10000);
    assert_int_equal(large[999999], 1);
    assert_int_equal(counter.resizes, 3);
    rg_arena_free(&arena);
    assert_int_equal(counter.releases, 3);
}

static void test_accounting(void **state) {
    (void)state;
    rg_arena arena = rg_arena_make(NULL);
    assert_non_null(rg_arena_take(&arena, 0, 8)); /* nothing is still a place of its own */
    void *a = rg_arena_take(&arena, 0, 8), *b = rg_arena_take(&arena, 8, 0);
    assert_ptr_not_equal(a, b);
    assert_int_equal(arena.used, 192);
    assert_non_null(rg_arena_take(&arena, 65, 1));
    assert_int_equal(arena.used, 320);
    rg_arena_reset(&arena);
    assert_int_equal(arena.used, 0);
    assert_int_equal(arena.peak, 320);
    rg_arena_free(&arena);
    rg_arena_reset(&arena); /* of an empty one */
    assert_int_equal(arena.peak, 0);
}

static void test_overflow(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_arena arena = rg_arena_make(&allocator);
    assert_null(rg_arena_take(&arena, SIZE_MAX, 1));
    assert_null(rg_arena_take(&arena, SIZE_MAX - 63, 1));
    assert_null(rg_arena_take(&arena, SIZE_MAX - 100, 1));
    assert_null(rg_arena_take(&arena, SIZE_MAX / 8 + 1, 8));
    assert_null(rg_arena_take(&arena, 8, SIZE_MAX / 4));
    assert_int_equal(counter.resizes, 0);
    assert_int_equal(arena.used, 0);
    rg_arena_free(&arena);
}

static void test_no_memory(void **state) {
    (void)state;
    for (size_t fail_after = 1; fail_after < 8; fail_after++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        rg_arena arena = rg_arena_make(&allocator);
        counter.fail_after = fail_after;
        size_t taken = 0;
        while (rg_arena_take(&arena, 5000, 1))
            taken++;
        size_t used = arena.used;
        assert_int_equal(used, taken * 5056); /* the failed call changed nothing */
        assert_null(rg_arena_take(&arena, 1000000, 1));
        assert_int_equal(arena.used, used);
        rg_arena_reset(&arena); /* cannot join, keeps what it has */
        for (size_t i = 0; i < taken; i++)
            assert_non_null(rg_arena_take(&arena, 5000, 1));
        assert_null(rg_arena_take(&arena, 1000000, 1));
        size_t held = fail_after;
        assert_int_equal(counter.releases, 0);
        rg_arena_free(&arena);
        assert_int_equal(counter.releases, held);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),     cmocka_unit_test(test_steady_state_makes_no_heap_call),
        cmocka_unit_test(test_marks),      cmocka_unit_test(test_spare_too_small),
        cmocka_unit_test(test_accounting), cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
