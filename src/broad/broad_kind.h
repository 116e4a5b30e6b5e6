/* Between broad.c and the implementations: what a broad phase holds, whatever its kind.
 *
 * An implementation has one job: from bounds, filters and states of all ids make the sorted list of
 * pairs in `next`. Differences to the last list are taken in one place. */
#ifndef RIGOR_BROAD_KIND_H
#define RIGOR_BROAD_KIND_H

#include "base/base_memory.h"
#include "broad/broad.h"

#if defined(__GNUC__)
#define RG_PREFETCH(address) __builtin_prefetch(address)
#else
#define RG_PREFETCH(address) ((void)(address))
#endif

/* State of an id, bits. */
enum {
    RG_PROXY_ALIVE = 1,
    RG_PROXY_FRESH = 2,  /* added since the last update */
    RG_PROXY_TOUCHED = 4 /* its filter has changed since */
};

typedef struct rg_pair_list {
    rg_broad_pair *pairs;
    size_t count, capacity;
} rg_pair_list;

struct rg_broad {
    rg_allocator allocator;
    rg_broad_def def;
    const rg_broad_kind *kind;
    void *state; /* the implementation's */
    size_t count, chosen_count;
    bool changed; /* some id was added, removed or touched since the last update */

    /* By id, below `limit`. */
    size_t limit;
    rg_bounds *bounds;
    size_t bounds_capacity;
    rg_proxy_filter *filters;
    size_t filter_capacity;
    uint8_t *states;
    size_t state_capacity;

    rg_pair_list pairs, next, begun, ended;
    rg_broad_info info;
};

struct rg_broad_kind {
    const char *name;
    rg_status (*create)(rg_broad *broad);
    void (*destroy)(rg_broad *broad);
    /* Fills broad->next, or sets *same if the pairs are those of broad->pairs (all of them: none
     * with a fresh id). */
    rg_status (*update)(rg_broad *broad, bool *same);
    /* broad->pairs is not what the last call of update has made: do not build on it. */
    void (*forget)(rg_broad *broad);
};

static inline uint64_t rg_pair_key(rg_broad_pair pair) {
    return (uint64_t)pair.a << 32 | pair.b;
}

static inline rg_broad_pair rg_pair_of(uint32_t a, uint32_t b) {
    return a < b ? (rg_broad_pair){a, b} : (rg_broad_pair){b, a};
}

static inline rg_status rg_pair_push(rg_broad *broad, rg_pair_list *list, rg_broad_pair pair) {
    if (list->count == list->capacity) {
        rg_status status =
            rg_array_grow(&broad->allocator, &list->pairs, &list->capacity, list->count + 1);
        if (status)
            return status;
    }
    list->pairs[list->count++] = pair;
    return RG_OK;
}

/* Whether filters and caller let two proxies meet. */
bool rg_pair_wanted(const rg_broad *broad, rg_broad_pair pair);
/* In order, each once. `scratch` is grown as needed. */
rg_status rg_pairs_sort(rg_broad *broad, rg_pair_list *list, rg_pair_list *scratch);

/* Merge sort of `type` by the expression `before(x, y)` (strict); `scratch` has room for `count`. A
 * macro, because a comparison through a pointer would cost more than the rest. Insertion sort
 * makes runs of 16, then runs are merged back and forth; runs in order already are not merged. */
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

#endif
