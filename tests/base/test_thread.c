/* The pool: the same results for every number of threads, every chunk exactly once, no heap calls,
 * and what happens when the system gives no thread (pthread_create is replaced by one that can be
 * told to fail). */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "test_support.h"

#include "base/base_hash.h"
#include "base/base_thread.h"
#include "rigor/random.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static int creations_allowed = -1; /* negative: all */
static atomic_int workers_alive;

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

typedef struct start {
    void *(*function)(void *);
    void *argument;
} start;

static void *count_and_run(void *argument) {
    start s = *(start *)argument;
    free(argument);
    void *result = s.function(s.argument);
    workers_alive--;
    return result;
}

/* Takes the place of the C library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument) {
    if (creations_allowed == 0)
        return EAGAIN;
    if (creations_allowed > 0)
        creations_allowed--;
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    create_function *create;
    memcpy(&create, &found, sizeof create);
    start *s = malloc(sizeof *s);
    *s = (start){function, argument};
    workers_alive++;
    int result = create(thread, attributes, count_and_run, s);
    if (result != 0) {
        workers_alive--;
        free(s);
    }
    return result;
}

enum { ITEMS = 10007 };

typedef struct job {
    double values[ITEMS];
    double sums[ITEMS]; /* per chunk */
    atomic_int visits[ITEMS];
} job;

static void run_job(void *user, size_t begin, size_t end, size_t chunk) {
    job *j = user;
    double sum = 0;
    for (size_t i = begin; i < end; i++) {
        j->values[i] = sqrt((double)i + 0.1) / (1 + (double)(i % 17));
        sum += j->values[i];
        j->visits[i]++;
    }
    j->sums[chunk] = sum;
}

static uint64_t result_of(rg_pool *pool, size_t count, size_t grain) {
    static job j;
    for (size_t i = 0; i < ITEMS; i++)
        j.visits[i] = 0;
    rg_parallel_for(pool, count, grain, run_job, &j);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(j.visits[i], i < count);
    double total = 0;
    size_t chunks = rg_chunk_count(count, grain);
    for (size_t c = 0; c < chunks; c++)
        total += j.sums[c];
    return rg_hash_doubles(rg_hash_doubles(rg_hash_begin(), j.values, count), &total, 1);
}

static void test_same_for_every_thread_count(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 7, 64, 1000, ITEMS},
                        grains[] = {1, 3, 64, 5000, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++) {
            uint64_t expected = result_of(NULL, counts[c], grains[g]);
            for (int threads = 1; threads <= 8; threads++) {
                rg_pool *pool;
                assert_int_equal(rg_pool_create(threads, NULL, &pool), RG_OK);
                assert_int_equal(rg_pool_threads(pool), threads);
                for (int round = 0; round < 3; round++)
                    assert_true(result_of(pool, counts[c], grains[g]) == expected);
                rg_pool_destroy(pool);
                assert_int_equal(workers_alive, 0);
            }
        }
}

static void test_chunk_count(void **state) {
    (void)state;
    assert_int_equal(rg_chunk_count(0, 5), 0);
    assert_int_equal(rg_chunk_count(1, 5), 1);
    assert_int_equal(rg_chunk_count(5, 5), 1);
    assert_int_equal(rg_chunk_count(6, 5), 2);
    assert_true(rg_chunk_count(SIZE_MAX, 1) == SIZE_MAX);
    assert_true(rg_chunk_count(SIZE_MAX, SIZE_MAX) == 1);
    assert_true(rg_chunk_count(SIZE_MAX, SIZE_MAX - 1) == 2);
}

/* One chunk for one thread, two for each of several, but none that is too small. */
static void test_grain_for_lists(void **state) {
    (void)state;
    rg_pool *pool;
    assert_int_equal(rg_grain_for_lists(NULL, 1000, 1), 1000);
    assert_int_equal(rg_grain_for_lists(NULL, 0, 7), 7);
    assert_int_equal(rg_pool_create(3, NULL, &pool), RG_OK);
    assert_int_equal(rg_grain_for_lists(pool, 1000, 1), 167);
    assert_int_equal(rg_chunk_count(1000, 167), 6);
    assert_int_equal(rg_grain_for_lists(pool, 1000, 400), 400);
    assert_int_equal(rg_grain_for_lists(pool, 0, 7), 7);
    rg_pool_destroy(pool);
}

typedef struct ends {
    size_t begin[4], end[4];
} ends;

static void note_ends(void *user, size_t begin, size_t end, size_t chunk) {
    ends *e = user;
    e->begin[chunk] = begin;
    e->end[chunk] = end;
}

/* Ranges near the end of size_t are cut without overflow. */
static void test_huge_ranges(void **state) {
    (void)state;
    rg_pool *pool;
    assert_int_equal(rg_pool_create(3, NULL, &pool), RG_OK);
    ends e = {{0}, {0}};
    size_t grain = SIZE_MAX / 2;
    rg_parallel_for(pool, SIZE_MAX, grain, note_ends, &e);
    for (size_t c = 0; c < 3; c++) {
        assert_true(e.begin[c] == c * grain);
        assert_true(e.end[c] == (c < 2 ? (c + 1) * grain : SIZE_MAX));
    }
    rg_pool_destroy(pool);
}

static void add_one(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    int *counts = user;
    for (size_t i = begin; i < end; i++)
        counts[i]++;
}

/* Many loops of a few items: workers that wake late must not disturb the next loop. The counts are
 * plain ints, so that a chunk run twice or a result not yet visible would show. */
static void test_many_small_loops(void **state) {
    (void)state;
    enum { LOOPS = 20000, SIZE = 16 };
    for (int threads = 2; threads <= 6; threads += 2) {
        rg_pool *pool;
        assert_int_equal(rg_pool_create(threads, NULL, &pool), RG_OK);
        int counts[SIZE] = {0};
        for (int loop = 1; loop <= LOOPS; loop++) {
            rg_parallel_for(pool, SIZE, 1 + (size_t)loop % 5, add_one, counts);
            for (int i = 0; i < SIZE; i++)
                if (counts[i] != loop)
                    fail_msg("item %d was visited %d times after %d loops", i, counts[i], loop);
        }
        rg_pool_destroy(pool);
    }
    assert_int_equal(workers_alive, 0);
}

/* Data of one loop feeds the next: row r of a triangle from row r - 1, as in a factorisation. */
typedef struct triangle {
    uint64_t rows[2][4096];
    int now;
} triangle;

static void next_row(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    triangle *t = user;
    const uint64_t *old = t->rows[1 - t->now];
    for (size_t i = begin; i < end; i++)
        t->rows[t->now][i] = (i ? old[i - 1] : 0) + old[i];
}

static void test_dependent_loops(void **state) {
    (void)state;
    static triangle t;
    uint64_t expected = 0;
    for (int threads = 1; threads <= 5; threads++) {
        rg_pool *pool;
        assert_int_equal(rg_pool_create(threads, NULL, &pool), RG_OK);
        t = (triangle){.now = 0};
        t.rows[0][0] = 1;
        for (size_t row = 1; row <= 60; row++) {
            t.now = (int)(row % 2);
            rg_parallel_for(pool, 4096, 64, next_row, &t);
        }
        assert_true(t.rows[0][30] == UINT64_C(118264581564861424)); /* 60 over 30 */
        uint64_t hash = rg_hash_bytes(rg_hash_begin(), t.rows[0], sizeof t.rows[0]);
        assert_true(threads == 1 || hash == expected);
        expected = hash;
        rg_pool_destroy(pool);
    }
}

/* Inside a chunk a loop without a pool is allowed. */
static void inner_loop(void *user, size_t begin, size_t end, size_t chunk) {
    (void)begin;
    (void)end;
    int(*counts)[100] = user;
    rg_parallel_for(NULL, 100, 7, add_one, counts[chunk]);
}

static void test_nested_serial(void **state) {
    (void)state;
    rg_pool *pool;
    assert_int_equal(rg_pool_create(4, NULL, &pool), RG_OK);
    static int counts[50][100];
    rg_parallel_for(pool, 50, 1, inner_loop, counts);
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 100; j++)
            assert_int_equal(counts[i][j], 1);
    rg_pool_destroy(pool);
}

static void test_no_heap_call(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_pool *pool;
    assert_int_equal(rg_pool_create(3, &allocator, &pool), RG_OK);
    size_t calls = counter.resizes;
    int counts[1000] = {0};
    for (int i = 0; i < 100; i++)
        rg_parallel_for(pool, 1000, 10, add_one, counts);
    assert_int_equal(counter.resizes, calls);
    rg_pool_destroy(pool);
    assert_int_equal(counter.releases, counter.resizes);
}

static void test_create_fails(void **state) {
    (void)state;
    rg_pool *pool = (rg_pool *)state; /* anything but null */
    assert_int_equal(rg_pool_create(0, NULL, &pool), RG_INVALID_ARGUMENT);
    assert_null(pool);
    assert_int_equal(rg_pool_create(-4, NULL, &pool), RG_INVALID_ARGUMENT);
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    counter.fail_after = 1;
    assert_int_equal(rg_pool_create(4, &allocator, &pool), RG_OUT_OF_MEMORY);
    assert_null(pool);
    assert_int_equal(counter.releases, 1);
    counter.resizes = 1; /* the very first call */
    assert_int_equal(rg_pool_create(4, &allocator, &pool), RG_OUT_OF_MEMORY);
    for (int allowed = 0; allowed < 4; allowed++) { /* the system stops giving threads */
        allocator = counting_allocator_make(&counter);
        creations_allowed = allowed;
        assert_int_equal(rg_pool_create(5, &allocator, &pool), RG_THREAD_FAILED);
        assert_null(pool);
        assert_int_equal(counter.releases, counter.resizes);
        assert_int_equal(workers_alive, 0);
    }
    creations_allowed = 0;
    assert_int_equal(rg_pool_create(1, NULL, &pool), RG_OK); /* needs none */
    assert_int_equal(rg_pool_threads(pool), 1);
    int counts[10] = {0};
    rg_parallel_for(pool, 10, 3, add_one, counts);
    assert_int_equal(counts[9], 1);
    rg_pool_destroy(pool);
    creations_allowed = -1;
    rg_pool_destroy(NULL);
    assert_int_equal(rg_pool_threads(NULL), 1);
}

/* Created and destroyed at once, without a job in between, and with workers still on their way. */
static void test_short_lives(void **state) {
    (void)state;
    for (int i = 0; i < 300; i++) {
        rg_pool *pool;
        int counts[8] = {0};
        assert_int_equal(rg_pool_create(1 + i % 6, NULL, &pool), RG_OK);
        if (i % 2)
            rg_parallel_for(pool, 8, 1, add_one, counts);
        rg_pool_destroy(pool);
        assert_int_equal(workers_alive, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_for_every_thread_count),
        cmocka_unit_test(test_chunk_count),
        cmocka_unit_test(test_grain_for_lists),
        cmocka_unit_test(test_huge_ranges),
        cmocka_unit_test(test_many_small_loops),
        cmocka_unit_test(test_dependent_loops),
        cmocka_unit_test(test_nested_serial),
        cmocka_unit_test(test_no_heap_call),
        cmocka_unit_test(test_create_fails),
        cmocka_unit_test(test_short_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
