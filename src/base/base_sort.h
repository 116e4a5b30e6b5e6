/* Sorts that call no allocator behind the caller's back, as the C library's qsort may.
 *
 *   rg_sort               stable, any element, by a comparison; scratch from the caller's allocator
 *   RG_DEFINE_MERGE_SORT  stable, of one type; scratch from the caller
 *   RG_DEFINE_HEAP_SORT   in place, of one type; equal elements come in any order, the same one on
 *                         every machine
 *
 * The macros define functions, because a comparison through a pointer would cost more than the
 * rest of the sort. All take O(n log n) always. */
#ifndef RIGOR_BASE_SORT_H
#define RIGOR_BASE_SORT_H

#include "rigor/status.h"
#include "rigor/types.h"

#include <string.h>

typedef int rg_compare_function(const void *a, const void *b, const void *context);

/* Sorts `count` elements of `size` bytes in place; equal elements keep their order. Fails only for
 * want of memory, and then leaves the elements as they were. */
rg_status rg_sort(void *elements, size_t count, size_t size, rg_compare_function *compare,
                  const void *context, const rg_allocator *allocator);

/* Merge sort of `type` by the expression `before(x, y)` (strict); `scratch` has room for `count`.
 * Insertion sort makes runs of 16, then runs are merged back and forth; runs in order already are
 * not merged. */
#define RG_DEFINE_MERGE_SORT(name, type, before)                                                   \
    static void name(type *items, size_t count, type *scratch) {                                   \
        enum { RUN = 16 };                                                                         \
        for (size_t start = 0; start < count; start += RUN) {                                      \
            size_t end = start + RUN < count ? start + RUN : count;                                \
            for (size_t i = start + 1; i < end; i++) {                                             \
                type moving = items[i];                                                            \
                size_t j = i;                                                                      \
                for (; j > start && before(moving, items[j - 1]); j--)                             \
                    items[j] = items[j - 1];                                                       \
                items[j] = moving;                                                                 \
            }                                                                                      \
        }                                                                                          \
        type *from = items, *to = scratch;                                                         \
        for (size_t run = RUN; run < count; run *= 2) {                                            \
            for (size_t start = 0; start < count; start += 2 * run) {                              \
                size_t middle = start + run < count ? start + run : count;                         \
                size_t end = start + 2 * run < count ? start + 2 * run : count;                    \
                size_t i = start, j = middle, k = start;                                           \
                if (middle < end && before(from[middle], from[middle - 1]))                        \
                    while (i < middle && j < end)                                                  \
                        to[k++] = before(from[j], from[i]) ? from[j++] : from[i++];                \
                memcpy(to + k, from + i, (middle - i) * sizeof *to);                               \
                k += middle - i;                                                                   \
                memcpy(to + k, from + j, (end - j) * sizeof *to);                                  \
            }                                                                                      \
            type *other = from;                                                                    \
            from = to;                                                                             \
            to = other;                                                                            \
        }                                                                                          \
        if (from != items)                                                                         \
            memcpy(items, from, count * sizeof *items);                                            \
    }

/* Heap sort of `type` by the expression `before(&x, &y)` (strict). */
#define RG_DEFINE_HEAP_SORT(name, type, before)                                                    \
    static void name##_sift(type *items, size_t root, size_t count) {                              \
        for (size_t child; (child = 2 * root + 1) < count; root = child) {                         \
            if (child + 1 < count && before(&items[child], &items[child + 1]))                     \
                child++;                                                                           \
            if (!before(&items[root], &items[child]))                                              \
                return;                                                                            \
            type swap = items[root];                                                               \
            items[root] = items[child];                                                            \
            items[child] = swap;                                                                   \
        }                                                                                          \
    }                                                                                              \
    static void name(type *items, size_t count) {                                                  \
        for (size_t i = count / 2; i-- > 0;)                                                       \
            name##_sift(items, i, count);                                                          \
        for (size_t end = count; end-- > 1;) {                                                     \
            type swap = items[0];                                                                  \
            items[0] = items[end];                                                                 \
            items[end] = swap;                                                                     \
            name##_sift(items, 0, end);                                                            \
        }                                                                                          \
    }

#endif
