/* Candidate pairs: proxies by id, filters, the lists and their differences; the choice of kind.
 *
 * The implementation makes the sorted list of pairs anew; here it is compared with the last one in
 * one pass over both, which gives what began and what ended, sorted. Room for both is made before
 * anything is changed: an update that fails for want of memory leaves the lists of the update
 * before. Cost beside the implementation's: O(pairs), none if it says that nothing has changed.
 * Tested by tests/broad/test_pairs.c. */
#include "broad/broad_kind.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const rg_broad_kind *const kinds[] = {&rg_broad_sorted, &rg_broad_tree};

const rg_broad_kind *rg_broad_kind_find(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

const char *rg_broad_kind_name(const rg_broad_kind *kind) {
    return kind->name;
}

/* --- choice --------------------------------------------------------------------------------------
 *
 * The tree pays for boxes that leave their enlarged ones, the lists for every end point that
 * another passes, near or far: evenly spread boxes swap with n^(2/3) others, large ones with
 * everything in their shadow. Measured (bench_broad, and the same with other speeds): for slow
 * motion the tree is ahead by two to four times at every number of boxes, for motion by a tenth of
 * the size or more per update the lists are, by up to three, as long as there are few boxes. So the
 * lists, whose worst is the better one, up to SORTED_MOST boxes of like sizes; above, or where
 * sizes differ by more than UNEVEN_RATIO, the tree. Boxes without a finite size (half-spaces) do
 * not count. */
enum { SORTED_MOST = 1000, UNEVEN_LEAST = 32 };
#define UNEVEN_RATIO 100.0

static double largest_extent(const rg_bounds *b) {
    return fmax(fmax(b->upper.x - b->lower.x, b->upper.y - b->lower.y), b->upper.z - b->lower.z);
}

static const rg_broad_kind *choose(const rg_bounds *bounds, const uint8_t *states, size_t limit) {
    double smallest = INFINITY, largest = 0;
    size_t count = 0;
    for (size_t i = 0; i < limit; i++) {
        if (states && !(states[i] & RG_PROXY_ALIVE))
            continue;
        double extent = largest_extent(&bounds[i]);
        count++;
        if (extent > 0 && extent < INFINITY) {
            smallest = fmin(smallest, extent);
            largest = fmax(largest, extent);
        }
    }
    bool uneven = smallest < INFINITY && largest / UNEVEN_RATIO > smallest;
    return count > SORTED_MOST || (uneven && count > UNEVEN_LEAST) ? &rg_broad_tree
                                                                   : &rg_broad_sorted;
}

const rg_broad_kind *rg_broad_choose(const rg_bounds *bounds, size_t count) {
    return choose(bounds, NULL, count);
}

/* The new kind finds no proxy in its state and takes them all in at its first update. */
static rg_status choose_again(rg_broad *broad) {
    if (broad->def.kind || !broad->changed ||
        (broad->kind && broad->count <= 2 * broad->chosen_count &&
         2 * broad->count >= broad->chosen_count))
        return RG_OK;
    const rg_broad_kind *kind = choose(broad->bounds, broad->states, broad->limit);
    if (kind != broad->kind) {
        void *old_state = broad->state;
        const rg_broad_kind *old_kind = broad->kind;
        rg_status status = kind->create(broad);
        if (status) {
            broad->state = old_state;
            return status;
        }
        void *new_state = broad->state;
        if (old_kind) {
            broad->state = old_state;
            old_kind->destroy(broad);
        }
        broad->state = new_state;
        broad->kind = kind;
    }
    broad->chosen_count = broad->count;
    return RG_OK;
}

/* --- life ----------------------------------------------------------------------------------------
 */

rg_status rg_broad_create(const rg_broad_def *def, const rg_allocator *allocator,
                          rg_broad **broad) {
    *broad = NULL;
    rg_broad *b = rg_object_make(rg_broad, allocator);
    if (!b)
        return RG_OUT_OF_MEMORY;
    if (def)
        b->def = *def;
    const rg_broad_kind *kind = b->def.kind ? b->def.kind : &rg_broad_sorted;
    rg_status status = kind->create(b);
    if (status) {
        rg_object_release(b);
        return status;
    }
    b->kind = kind;
    *broad = b;
    return RG_OK;
}

void rg_broad_destroy(rg_broad *broad) {
    if (!broad)
        return;
    broad->kind->destroy(broad);
    rg_release_all(&broad->allocator, broad->bounds, broad->filters, broad->states,
                   broad->pairs.pairs, broad->next.pairs, broad->begun.pairs, broad->ended.pairs);
    rg_object_release(broad);
}

/* --- proxies -------------------------------------------------------------------------------------
 */

rg_proxy_filter rg_proxy_filter_default(uint32_t body) {
    return (rg_proxy_filter){.category = 1, .mask = UINT64_MAX, .body = body};
}

bool rg_broad_has(const rg_broad *broad, uint32_t id) {
    return id < broad->limit && (broad->states[id] & RG_PROXY_ALIVE);
}

/* A range of numbers, at least one: not a NaN, not both ends at one infinity. */
static bool range_is_good(double lower, double upper) {
    return lower <= upper && lower < INFINITY && upper > -INFINITY;
}

static bool bounds_are_good(const rg_bounds *b) {
    return range_is_good(b->lower.x, b->upper.x) && range_is_good(b->lower.y, b->upper.y) &&
           range_is_good(b->lower.z, b->upper.z);
}

rg_status rg_broad_add(rg_broad *broad, uint32_t id, const rg_bounds *bounds,
                       const rg_proxy_filter *filter) {
    if (id >= RG_PROXY_MOST || rg_broad_has(broad, id) || !bounds_are_good(bounds))
        return RG_INVALID_ARGUMENT;
    size_t needed = (size_t)id + 1;
    const rg_allocator *memory = &broad->allocator;
    rg_status status = rg_array_grow(memory, &broad->bounds, &broad->bounds_capacity, needed);
    if (!status)
        status = rg_array_grow(memory, &broad->filters, &broad->filter_capacity, needed);
    if (!status)
        status = rg_array_grow(memory, &broad->states, &broad->state_capacity, needed);
    if (status)
        return status;
    if (needed > broad->limit) {
        memset(broad->states + broad->limit, 0, needed - broad->limit);
        broad->limit = needed;
    }
    broad->bounds[id] = *bounds;
    broad->filters[id] = *filter;
    broad->states[id] = RG_PROXY_ALIVE | RG_PROXY_FRESH;
    broad->count++;
    broad->changed = true;
    return RG_OK;
}

void rg_broad_remove(rg_broad *broad, uint32_t id) {
    assert(rg_broad_has(broad, id));
    broad->states[id] = 0;
    broad->count--;
    broad->changed = true;
}

rg_status rg_broad_set_bounds(rg_broad *broad, uint32_t id, const rg_bounds *bounds) {
    assert(rg_broad_has(broad, id));
    if (memcmp(&broad->bounds[id], bounds, sizeof *bounds) == 0)
        return RG_OK;
    if (!bounds_are_good(bounds))
        return RG_INVALID_ARGUMENT;
    broad->bounds[id] = *bounds;
    broad->moved = true;
    return RG_OK;
}

rg_bounds rg_broad_bounds(const rg_broad *broad, uint32_t id) {
    assert(rg_broad_has(broad, id));
    return broad->bounds[id];
}

void rg_broad_touch(rg_broad *broad, uint32_t id) {
    assert(rg_broad_has(broad, id));
    broad->states[id] |= RG_PROXY_TOUCHED;
    broad->changed = true;
}

void rg_broad_set_filter(rg_broad *broad, uint32_t id, const rg_proxy_filter *filter) {
    rg_broad_touch(broad, id);
    broad->filters[id] = *filter;
}

static bool filters_equal(const rg_proxy_filter *a, const rg_proxy_filter *b) {
    return a->category == b->category && a->mask == b->mask && a->body == b->body &&
           a->flags == b->flags;
}

rg_status rg_broad_put(rg_broad *broad, uint32_t id, const rg_bounds *bounds,
                       const rg_proxy_filter *filter) {
    if (!rg_broad_has(broad, id))
        return rg_broad_add(broad, id, bounds, filter);
    if (!filters_equal(&broad->filters[id], filter))
        rg_broad_set_filter(broad, id, filter);
    return rg_broad_set_bounds(broad, id, bounds);
}

rg_proxy_filter rg_broad_filter(const rg_broad *broad, uint32_t id) {
    assert(rg_broad_has(broad, id));
    return broad->filters[id];
}

bool rg_pair_wanted(const rg_broad *broad, rg_broad_pair pair) {
    const rg_proxy_filter *a = &broad->filters[pair.a], *b = &broad->filters[pair.b];
    return a->body != b->body && !(a->flags & b->flags & RG_PROXY_FIXED) &&
           (a->category & b->mask) && (b->category & a->mask) &&
           !(broad->def.exclude && broad->def.exclude(broad->def.exclude_user, pair.a, pair.b));
}

/* --- lists ---------------------------------------------------------------------------------------
 */

static inline bool pair_before(rg_broad_pair x, rg_broad_pair y) {
    return rg_pair_key(x) < rg_pair_key(y);
}

RG_DEFINE_MERGE_SORT(sort_pairs, rg_broad_pair, pair_before)

rg_status rg_pairs_sort(rg_broad *broad, rg_pair_list *list, rg_pair_list *scratch) {
    if (list->count < 2)
        return RG_OK;
    rg_status status =
        rg_array_grow(&broad->allocator, &scratch->pairs, &scratch->capacity, list->count);
    if (status)
        return status;
    sort_pairs(list->pairs, list->count, scratch->pairs);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++)
        if (rg_pair_key(list->pairs[i]) != rg_pair_key(list->pairs[kept - 1]))
            list->pairs[kept++] = list->pairs[i];
    list->count = kept;
    return RG_OK;
}

static bool has_fresh(const rg_broad *broad, rg_broad_pair pair) {
    return (broad->states[pair.a] | broad->states[pair.b]) & RG_PROXY_FRESH;
}

/* Counts, or with `write` lists, what begins and ends. */
static void compare_lists(const rg_broad *broad, size_t *begun_count, size_t *ended_count,
                          bool write) {
    const rg_pair_list *old = &broad->pairs, *now = &broad->next;
    size_t begun = 0, ended = 0, i = 0, j = 0;
    while (i < old->count || j < now->count) {
        uint64_t x = i < old->count ? rg_pair_key(old->pairs[i]) : UINT64_MAX;
        uint64_t y = j < now->count ? rg_pair_key(now->pairs[j]) : UINT64_MAX;
        bool renewed = x == y && broad->changed && has_fresh(broad, now->pairs[j]);
        if (x < y || renewed) {
            if (write)
                broad->ended.pairs[ended] = old->pairs[i];
            ended++;
        }
        if (y < x || renewed) {
            if (write)
                broad->begun.pairs[begun] = now->pairs[j];
            begun++;
        }
        i += x <= y;
        j += y <= x;
    }
    *begun_count = begun;
    *ended_count = ended;
}

static rg_status publish(rg_broad *broad) {
    size_t begun, ended;
    compare_lists(broad, &begun, &ended, false);
    const rg_allocator *memory = &broad->allocator;
    rg_status status = rg_array_grow(memory, &broad->begun.pairs, &broad->begun.capacity, begun);
    if (!status)
        status = rg_array_grow(memory, &broad->ended.pairs, &broad->ended.capacity, ended);
    if (status)
        return status;
    compare_lists(broad, &broad->begun.count, &broad->ended.count, true);
    rg_pair_list old = broad->pairs;
    broad->pairs = broad->next;
    broad->next = old;
    return RG_OK;
}

rg_status rg_broad_update(rg_broad *broad) {
    rg_status status = choose_again(broad);
    if (status)
        return status;
    uint64_t rebuilds = broad->info.rebuilds;
    rg_broad_info before = broad->info;
    broad->info = (rg_broad_info){.rebuilds = rebuilds};
    /* What has not moved meets what it met, unless the last update failed. */
    bool same = !broad->moved && !broad->changed && broad->found;
    broad->next.count = 0;
    broad->found = false;
    if (!same)
        status = broad->kind->update(broad, &same);
    if (!status && !same)
        status = publish(broad);
    if (status) {
        broad->kind->forget(broad);
        broad->info = before;
        return status;
    }
    if (same)
        broad->begun.count = broad->ended.count = 0;
    if (broad->changed)
        for (size_t i = 0; i < broad->limit; i++)
            broad->states[i] &= RG_PROXY_ALIVE;
    broad->changed = broad->moved = false;
    broad->found = true;
    broad->info.proxies = broad->count;
    broad->info.pairs = broad->pairs.count;
    broad->info.begun = broad->begun.count;
    broad->info.ended = broad->ended.count;
    return RG_OK;
}

static rg_broad_pairs view(const rg_pair_list *list) {
    return (rg_broad_pairs){list->pairs, list->count};
}

rg_broad_pairs rg_broad_pairs_all(const rg_broad *broad) {
    return view(&broad->pairs);
}

rg_broad_pairs rg_broad_pairs_begun(const rg_broad *broad) {
    return view(&broad->begun);
}

rg_broad_pairs rg_broad_pairs_ended(const rg_broad *broad) {
    return view(&broad->ended);
}

rg_broad_info rg_broad_get_info(const rg_broad *broad) {
    return broad->info;
}

const rg_broad_kind *rg_broad_get_kind(const rg_broad *broad) {
    return broad->kind;
}
