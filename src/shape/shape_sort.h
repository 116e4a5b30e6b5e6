/* A stable merge sort with its scratch from the caller's allocator (the C library's qsort may call
 * malloc behind our back, and is not stable). */
#ifndef RIGOR_SHAPE_SORT_H
#define RIGOR_SHAPE_SORT_H

#include "rigor/status.h"
#include "rigor/types.h"

typedef int rg_compare_function(const void *a, const void *b, const void *context);

/* Sorts `count` elements of `size` bytes in place; equal elements keep their order. Fails only for
 * want of memory, and then leaves the elements as they were. */
rg_status rg_sort(void *elements, size_t count, size_t size, rg_compare_function *compare,
                  const void *context, const rg_allocator *allocator);

#endif
