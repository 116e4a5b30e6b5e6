/* What every test file needs before cmocka, and an allocator that counts. */
#ifndef RIGOR_TEST_SUPPORT_H
#define RIGOR_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rigor/types.h"

/* An allocator that has nothing: {no_memory, no_release, NULL}. */
static inline void *no_memory(void *user, void *pointer, size_t size) {
    (void)user, (void)pointer, (void)size;
    return NULL;
}

static inline void no_release(void *user, void *pointer) {
    (void)user, (void)pointer;
}

/* Counts calls; fails on purpose once `fail_after` calls to resize were made (0: never). */
typedef struct counting_allocator {
    size_t resizes, releases, fail_after;
} counting_allocator;

/* Blocks of all of them that were not given back: a program that ends with any has failed. */
static long counted_blocks;

static inline void check_counted_blocks(void) {
    if (counted_blocks == 0)
        return;
    fprintf(stderr, "%ld blocks of counting allocators were not given back\n", counted_blocks);
    _Exit(1);
}

static inline void *counting_resize(void *user, void *pointer, size_t size) {
    counting_allocator *counter = user;
    counter->resizes++;
    if (counter->fail_after && counter->resizes > counter->fail_after)
        return NULL;
    void *block = realloc(pointer, size);
    counted_blocks += block && !pointer;
    return block;
}

static inline void counting_release(void *user, void *pointer) {
    ((counting_allocator *)user)->releases++;
    counted_blocks -= pointer != NULL;
    free(pointer);
}

static inline rg_allocator counting_allocator_make(counting_allocator *counter) {
    static bool begun;
    if (!begun)
        begun = atexit(check_counted_blocks) == 0;
    *counter = (counting_allocator){0};
    return (rg_allocator){counting_resize, counting_release, counter};
}

/* RIGOR_LONG=1 (./test --long): the big random runs. */
static inline bool test_is_long(void) {
    const char *text = getenv("RIGOR_LONG");
    return text && *text && strcmp(text, "0") != 0;
}

/* RIGOR_STRIDE=N: of cases that repeat themselves (random ones, damage at every byte) one in N is
 * tried. CTest sets it where a case costs much and the same ones are all tried in another
 * configuration (tests/CMakeLists.txt). */
static inline int test_stride(void) {
    const char *text = getenv("RIGOR_STRIDE");
    int stride = text ? atoi(text) : 1;
    return stride < 1 || test_is_long() ? 1 : stride;
}

/* How many cases to try: so many as a rule, or in a long run. */
static inline int test_cases(int usual, int in_a_long_run) {
    int share = (usual + test_stride() - 1) / test_stride();
    return test_is_long() ? in_a_long_run : share;
}

/* Ends a case that cannot be tried here. ./test shows the line at its end
 * (tools/tally_ctest.py). */
#define skip_because(reason)                                                                       \
    do {                                                                                           \
        print_message("skipped: %s: %s\n", __func__, reason);                                      \
        skip();                                                                                    \
    } while (0)

/* |a - b| <= tolerance, with both numbers in the message. */
#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        double near_a = (a), near_b = (b), near_t = (tolerance);                                   \
        double near_d = near_a - near_b;                                                           \
        if (!(near_d <= near_t && near_d >= -near_t))                                              \
            fail_msg("%s = %.17g, %s = %.17g: differ by %.3g, allowed %.3g", #a, near_a, #b,       \
                     near_b, near_d, near_t);                                                      \
    } while (0)

#endif
