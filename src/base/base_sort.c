/* rg_sort: bottom-up merge sort: runs of 1, 2, 4 ... are merged back and forth between the array
 * and one scratch array. O(n log n) always. */
#include "base/base_sort.h"

#include "base/base_memory.h"

#include <string.h>

typedef struct merge {
    size_t size; /* of an element */
    rg_compare_function *compare;
    const void *context;
} merge;

/* Merges from[begin .. middle) and from[middle .. end) into to[begin .. end). */
static void merge_runs(const merge *m, const char *from, char *to, size_t begin, size_t middle,
                       size_t end) {
    size_t left = begin, right = middle, size = m->size;
    for (size_t k = begin; k < end; k++) {
        bool take_left =
            left < middle &&
            (right >= end || m->compare(from + left * size, from + right * size, m->context) <= 0);
        memcpy(to + k * size, from + (take_left ? left++ : right++) * size, size);
    }
}

rg_status rg_sort(void *elements, size_t count, size_t size, rg_compare_function *compare,
                  const void *context, const rg_allocator *allocator) {
    if (count < 2)
        return RG_OK;
    char *scratch = rg_allocate(allocator, count, size);
    if (!scratch)
        return RG_OUT_OF_MEMORY;
    char *from = elements, *to = scratch;
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * run) {
            size_t middle = begin + run < count ? begin + run : count;
            size_t end = middle + run < count ? middle + run : count;
            merge_runs(&(merge){size, compare, context}, from, to, begin, middle, end);
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != elements)
        memcpy(elements, from, count * size);
    rg_release(allocator, scratch);
    return RG_OK;
}
