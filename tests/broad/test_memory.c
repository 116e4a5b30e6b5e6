/* Heap calls: none in steady motion; when one fails, nothing is lost. */
#include "broad_support.h"

enum { COUNT = 150, PERIOD = 24 };

static const rg_broad_kind *const kinds[] = {&rg_broad_sorted, &rg_broad_tree, NULL};
enum { KINDS = 3 };

/* Where box i is at a step of a motion with a period: there and back. */
static rg_bounds place(const rg_bounds *start, const rg_vec3 *velocity, uint32_t i, int step) {
    int s = step % PERIOD;
    double t = s < PERIOD / 2 ? s : PERIOD - s;
    rg_bounds b = start[i];
    shift_box(&b, (rg_vec3){t * velocity[i].x, t * velocity[i].y, t * velocity[i].z});
    return b;
}

typedef struct swing {
    rg_bounds start[COUNT];
    rg_vec3 velocity[COUNT];
} swing;

static void make_swing(swing *s, uint64_t seed) {
    rg_random random = rg_random_make(seed);
    for (int i = 0; i < COUNT; i++) {
        s->start[i] = random_box(&random, 1, 0.2);
        s->velocity[i] = random_vector(&random, 0.02);
    }
}

static void no_heap_call_in_steady_motion(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        rg_broad *broad = broad_of(kinds[k], &allocator);
        swing s;
        make_swing(&s, 1);
        for (uint32_t i = 0; i < COUNT; i++) {
            rg_proxy_filter filter = rg_proxy_filter_default(i);
            assert_int_equal(rg_broad_add(broad, i, &s.start[i], &filter), RG_OK);
        }
        size_t calls = 0, changes = 0;
        for (int step = 0; step < 40 * PERIOD; step++) {
            /* The tree's enlarged boxes follow no period: give it time to see its most. */
            if (step == 20 * PERIOD)
                calls = counter.resizes + counter.releases;
            for (uint32_t i = 0; i < COUNT; i++) {
                rg_bounds b = place(s.start, s.velocity, i, step);
                assert_int_equal(rg_broad_set_bounds(broad, i, &b), RG_OK);
            }
            assert_int_equal(rg_broad_update(broad), RG_OK);
            changes += rg_broad_pairs_begun(broad).count + rg_broad_pairs_ended(broad).count;
        }
        assert_true(changes > 1000);
        assert_int_equal(counter.resizes + counter.releases, calls);
        /* Proxies that go and come back need nothing either. */
        for (int round = 0; round < 10; round++) {
            if (round == 2)
                calls = counter.resizes + counter.releases;
            for (uint32_t i = 0; i < COUNT; i += 3)
                rg_broad_remove(broad, i);
            assert_int_equal(rg_broad_update(broad), RG_OK);
            for (uint32_t i = 0; i < COUNT; i += 3) {
                rg_proxy_filter filter = rg_proxy_filter_default(i);
                assert_int_equal(rg_broad_add(broad, i, &s.start[i], &filter), RG_OK);
            }
            assert_int_equal(rg_broad_update(broad), RG_OK);
        }
        assert_int_equal(counter.resizes + counter.releases, calls);
        rg_broad_destroy(broad);
        assert_int_equal(counter.releases > 0, true);
    }
}

/* Fails for a while on request, counts blocks. */
typedef struct failing {
    long until_failure; /* < 0: never */
    long failures_left;
    long blocks;
} failing;

static void *failing_resize(void *user, void *pointer, size_t size) {
    failing *f = user;
    if (f->until_failure == 0 && f->failures_left > 0) {
        f->failures_left--;
        return NULL;
    }
    if (f->until_failure > 0)
        f->until_failure--;
    f->blocks += pointer == NULL;
    return realloc(pointer, size);
}

static void failing_release(void *user, void *pointer) {
    ((failing *)user)->blocks -= pointer != NULL;
    free(pointer);
}

/* One run in which the n-th heap call and some after it fail. Whatever fails is tried again, and
 * lists after success are right, differences since the last success included. True if the n-th call
 * was reached. */
static bool run_with_failure(const rg_broad_kind *kind, long nth, long failures) {
    failing f = {nth, failures, 0};
    rg_allocator allocator = {failing_resize, failing_release, &f};
    rg_broad_def def = {.kind = kind};
    rg_broad *broad;
    rg_status status;
    while ((status = rg_broad_create(&def, &allocator, &broad)) != RG_OK) {
        assert_int_equal(status, RG_OUT_OF_MEMORY);
        assert_null(broad);
    }
    enum { N = 60 };
    swing s;
    make_swing(&s, 7);
    rg_bounds bounds[N];
    rg_proxy_filter filters[N];
    bool alive[N] = {false};
    pair_set before = {0}, now = {0};
    for (int step = 0; step < 12; step++) {
        for (uint32_t i = 0; i < N; i++) {
            if (alive[i] && (i + (uint32_t)step) % 11 == 0) {
                rg_broad_remove(broad, i);
                alive[i] = false;
                continue;
            }
            bounds[i] = place(s.start, s.velocity, i, step);
            if (alive[i])
                assert_int_equal(rg_broad_set_bounds(broad, i, &bounds[i]), RG_OK);
            else if (step >= (int)(i % 5)) {
                filters[i] = rg_proxy_filter_default(i);
                while ((status = rg_broad_add(broad, i, &bounds[i], &filters[i])) != RG_OK) {
                    assert_int_equal(status, RG_OUT_OF_MEMORY);
                    assert_false(rg_broad_has(broad, i));
                }
                alive[i] = true;
            }
        }
        status = rg_broad_update(broad);
        if (status) { /* the old lists stand; the next step sees two steps of changes */
            assert_int_equal(status, RG_OUT_OF_MEMORY);
            assert_same_pairs(rg_broad_pairs_all(broad), before.pairs, before.count, "kept");
            continue;
        }
        brute_force(bounds, filters, alive, N, &now);
        assert_same_pairs(rg_broad_pairs_all(broad), now.pairs, now.count, "after a failure");
        /* before - ended + begun = now: count is enough, as all lists are sets. */
        rg_broad_pairs begun = rg_broad_pairs_begun(broad), ended = rg_broad_pairs_ended(broad);
        assert_int_equal(before.count + begun.count, now.count + ended.count);
        before.count = 0;
        for (size_t i = 0; i < now.count; i++)
            set_push(&before, now.pairs[i]);
    }
    rg_broad_destroy(broad);
    assert_int_equal(f.blocks, 0);
    free(before.pairs);
    free(now.pairs);
    return f.failures_left < failures;
}

static void every_heap_call_may_fail(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (long failures = 1; failures <= 4; failures += 3) {
            long n = 0;
            while (run_with_failure(kinds[k], n, failures))
                n++;
            assert_true(n > 20);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_heap_call_in_steady_motion),
        cmocka_unit_test(every_heap_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
