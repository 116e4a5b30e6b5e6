/* Between broad.c and the implementations: what a broad phase holds, whatever its kind.
 *
 * An implementation has one job: from bounds, filters and states of all ids make the sorted list of
 * pairs in `next`. Differences to the last list are taken in one place. */
#ifndef RIGOR_BROAD_KIND_H
#define RIGOR_BROAD_KIND_H

#include "base/base_memory.h"
#include "base/base_sort.h"
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
    bool moved;   /* some bounds are others since then */
    bool found;   /* the pairs are those of the last update */

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

#endif
