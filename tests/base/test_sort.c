/* The three sorts against each other: same order, ties in the order they came in where that is
 * promised, every length up to a few runs of the merge sort and beyond. */
#include "test_support.h"

#include "base/base_memory.h"
#include "base/base_sort.h"
#include "rigor/random.h"

enum { MOST = 300 };

typedef struct entry {
    uint32_t key, place;
} entry;

static bool by_key(entry a, entry b) {
    return a.key < b.key;
}

static bool by_key_and_place(const entry *a, const entry *b) {
    return a->key != b->key ? a->key < b->key : a->place < b->place;
}

static int compare_keys(const void *a, const void *b, const void *context) {
    const entry *x = a, *y = b;
    (void)context;
    return x->key < y->key ? -1 : x->key > y->key;
}

RG_DEFINE_MERGE_SORT(merge_sort, entry, by_key)
RG_DEFINE_HEAP_SORT(heap_sort, entry, by_key_and_place)

static void all_sorts_agree(void **state) {
    (void)state;
    rg_random random = rg_random_make(11);
    static entry given[MOST], merged[MOST], heaped[MOST], sorted[MOST], scratch[MOST];
    for (uint32_t count = 0; count < MOST; count += count < 70 ? 1 : 23) {
        for (uint32_t i = 0; i < count; i++)
            given[i] = (entry){(uint32_t)rg_random_below(&random, count / 2 + 1), i};
        memcpy(merged, given, sizeof given), memcpy(heaped, given, sizeof given);
        memcpy(sorted, given, sizeof given);
        merge_sort(merged, count, scratch);
        heap_sort(heaped, count);
        rg_allocator allocator = rg_allocator_default();
        assert_int_equal(rg_sort(sorted, count, sizeof *sorted, compare_keys, NULL, &allocator),
                         RG_OK);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(i == 0 || by_key_and_place(&heaped[i - 1], &heaped[i]));
            assert_int_equal(given[heaped[i].place].key, heaped[i].key);
        }
        assert_memory_equal(merged, heaped, count * sizeof *heaped);
        assert_memory_equal(sorted, heaped, count * sizeof *heaped);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_sorts_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
