/* Random boxes, and pairs by comparing all with all. */
#ifndef RIGOR_TEST_BROAD_SUPPORT_H
#define RIGOR_TEST_BROAD_SUPPORT_H

#include "test_support.h"

#include "broad/broad.h"
#include "rigor/random.h"

#include <math.h>
#include <string.h>

static inline rg_bounds box_at(double x, double y, double z, double half) {
    return (rg_bounds){{x - half, y - half, z - half}, {x + half, y + half, z + half}};
}

static inline rg_bounds random_box(rg_random *random, double world, double half) {
    rg_vec3 c = {rg_random_between(random, -world, world), rg_random_between(random, -world, world),
                 rg_random_between(random, -world, world)};
    rg_vec3 h = {rg_random_between(random, 0, half), rg_random_between(random, 0, half),
                 rg_random_between(random, 0, half)};
    return (rg_bounds){{c.x - h.x, c.y - h.y, c.z - h.z}, {c.x + h.x, c.y + h.y, c.z + h.z}};
}

static inline void shift_box(rg_bounds *b, rg_vec3 d) {
    b->lower.x += d.x, b->lower.y += d.y, b->lower.z += d.z;
    b->upper.x += d.x, b->upper.y += d.y, b->upper.z += d.z;
}

static inline rg_vec3 random_vector(rg_random *random, double size) {
    return (rg_vec3){rg_random_between(random, -size, size), rg_random_between(random, -size, size),
                     rg_random_between(random, -size, size)};
}

/* A list that the test owns. */
typedef struct pair_set {
    rg_broad_pair *pairs;
    size_t count, capacity;
} pair_set;

static inline void set_push(pair_set *set, rg_broad_pair pair) {
    if (set->count == set->capacity) {
        set->capacity = 2 * set->capacity + 64;
        set->pairs = realloc(set->pairs, set->capacity * sizeof *set->pairs);
        assert_non_null(set->pairs);
    }
    set->pairs[set->count++] = pair;
}

static inline bool interval_apart(double a_low, double a_high, double b_low, double b_high) {
    return a_high < b_low || b_high < a_low;
}

/* Independent of the library's own rules. */
static inline bool should_meet(const rg_bounds *p, const rg_bounds *q, const rg_proxy_filter *f,
                               const rg_proxy_filter *g) {
    if (interval_apart(p->lower.x, p->upper.x, q->lower.x, q->upper.x) ||
        interval_apart(p->lower.y, p->upper.y, q->lower.y, q->upper.y) ||
        interval_apart(p->lower.z, p->upper.z, q->lower.z, q->upper.z))
        return false;
    if (f->body == g->body || ((f->flags & RG_PROXY_FIXED) && (g->flags & RG_PROXY_FIXED)))
        return false;
    return (f->category & g->mask) != 0 && (g->category & f->mask) != 0;
}

/* All against all, in the order of (a, b). `alive` may be null. */
static inline void brute_force(const rg_bounds *bounds, const rg_proxy_filter *filters,
                               const bool *alive, uint32_t count, pair_set *set) {
    set->count = 0;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++)
            if ((!alive || (alive[a] && alive[b])) &&
                should_meet(&bounds[a], &bounds[b], &filters[a], &filters[b]))
                set_push(set, (rg_broad_pair){a, b});
}

static inline void assert_same_pairs(rg_broad_pairs got, const rg_broad_pair *pairs, size_t count,
                                     const char *what) {
    for (size_t i = 0; i < got.count && i < count; i++)
        if (got.pairs[i].a != pairs[i].a || got.pairs[i].b != pairs[i].b)
            fail_msg("%s: pair %zu is (%u, %u), must be (%u, %u)", what, i, got.pairs[i].a,
                     got.pairs[i].b, pairs[i].a, pairs[i].b);
    if (got.count != count)
        fail_msg("%s: %zu pairs, must be %zu", what, got.count, count);
}

static inline rg_broad *broad_of(const rg_broad_kind *kind, const rg_allocator *allocator) {
    rg_broad_def def = {.kind = kind};
    rg_broad *broad;
    assert_int_equal(rg_broad_create(&def, allocator, &broad), RG_OK);
    return broad;
}

#endif
