/* Contacts of a world found in lanes: each looks at a run of the candidate pairs with memory of its
 * own, as if it were alone, and what they found is appended in the order of the pairs. So all lists
 * are those that one lane would have made, whatever the number of threads.
 *
 * Tested by tests/scene/test_threads.c. */
#include "contact/contact_collision.h"

#include <string.h>

rg_collision_lane *rg_collision_lanes(rg_collision *c) {
    if (c->lanes)
        return c->lanes;
    c->lanes = rg_allocate_zeroed(&c->allocator, RG_COLLISION_LANES, sizeof *c->lanes);
    for (int i = 0; c->lanes && i < RG_COLLISION_LANES; i++)
        c->lanes[i].arena = rg_arena_make(&c->allocator);
    return c->lanes;
}

void rg_collision_free_lanes(rg_collision *c) {
    for (int i = 0; c->lanes && i < RG_COLLISION_LANES; i++) {
        rg_arena_free(&c->lanes[i].arena);
        rg_contact_look_free(&c->allocator, &c->lanes[i].now);
        rg_pair_list_free(&c->allocator, &c->lanes[i].found);
        rg_release(&c->allocator, c->lanes[i].left_out);
    }
    rg_release(&c->allocator, c->lanes);
}

rg_collision rg_collision_enter_lane(const rg_collision *c, const rg_collision_lane *lane) {
    rg_collision own = *c;
    own.in_lane = true;
    own.arena = lane->arena;
    rg_arena_reset(&own.arena);
    own.now = lane->now;
    own.now.touch_count = own.now.manifold_count = own.now.point_count = 0;
    own.lists[own.current] = lane->found;
    own.lists[own.current].count = own.lists[own.current].cache_count = 0;
    own.left_out = lane->left_out;
    own.left_out_capacity = lane->left_out_capacity;
    own.left_out_count = own.bent = 0;
    own.min_gap = INFINITY;
    return own;
}

void rg_collision_leave_lane(const rg_collision *found, rg_status status, rg_collision_lane *lane) {
    *lane = (rg_collision_lane){.arena = found->arena,
                                .now = found->now,
                                .found = found->lists[found->current],
                                .left_out = found->left_out,
                                .left_out_count = found->left_out_count,
                                .left_out_capacity = found->left_out_capacity,
                                .bent = found->bent,
                                .min_gap = found->min_gap,
                                .status = status};
}

/* Where in the lists of all a lane begins. */
typedef struct lane_begin {
    size_t touch, manifold, point, pair, cache, left_out;
} lane_begin;

typedef struct append_job {
    rg_collision *collision;
    lane_begin begin[RG_COLLISION_LANES + 1];
} append_job;

/* An array of which nothing is copied may have no memory. */
static void copy(void *to, size_t behind, const void *from, size_t first, size_t count,
                 size_t size) {
    if (count)
        memcpy((char *)to + behind * size, (const char *)from + first * size, count * size);
}

/* Manifolds and points of a pair, from where they are to where the look says. */
static void append_pair(const rg_contact_look *from, size_t manifold, size_t point,
                        const rg_pair_look *look, rg_contact_look *all) {
    for (uint32_t i = 0; i < look->manifold_count; i++) {
        rg_manifold *to = &all->manifolds[look->first_manifold + i];
        *to = from->manifolds[manifold + i];
        to->first_point += look->first_point - (uint32_t)point;
    }
    copy(all->points, look->first_point, from->points, point, look->point_count,
         sizeof *all->points);
}

static void append_touches(const rg_contact_look *from, const lane_begin *at,
                           rg_contact_look *all) {
    for (size_t i = 0; i < from->touch_count; i++) {
        rg_touch *touch = &all->touches[at->touch + i];
        *touch = from->touches[i];
        touch->first_manifold += (uint32_t)at->manifold;
    }
}

static void append_pairs(const rg_collision_lane *lane, const lane_begin *at, rg_collision *c) {
    const rg_pair_list *from = &lane->found;
    rg_pair_list *all = &c->lists[c->current];
    size_t manifold = 0, point = 0; /* in the lane */
    for (size_t i = 0; i < from->count; i++) {
        rg_pair_memory *pair = &all->pairs[at->pair + i];
        rg_pair_look *look = &all->looks[at->pair + i];
        *pair = from->pairs[i];
        pair->first_cache += (uint32_t)at->cache;
        memcpy(look, &from->looks[i], sizeof *look); /* compared as bytes */
        bool there = look->in_before;
        size_t old_manifold = look->first_manifold, old_point = look->first_point;
        look->in_before = false;
        look->first_manifold = (uint32_t)(at->manifold + manifold);
        look->first_point = (uint32_t)(at->point + point);
        append_pair(there ? &c->before : &lane->now, there ? old_manifold : manifold,
                    there ? old_point : point, look, &c->now);
        manifold += look->manifold_count, point += look->point_count;
    }
    copy(all->caches, at->cache, from->caches, 0, from->cache_count, sizeof *from->caches);
}

static void append_lane(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    append_job *job = user;
    rg_collision *c = job->collision;
    for (size_t i = begin; i < end; i++) {
        const rg_collision_lane *lane = &c->lanes[i];
        append_touches(&lane->now, &job->begin[i], &c->now);
        append_pairs(lane, &job->begin[i], c);
        copy(c->left_out, job->begin[i].left_out, lane->left_out, 0, lane->left_out_count,
             sizeof *lane->left_out);
    }
}

static rg_status make_room(rg_collision *c, const lane_begin *all) {
    const rg_allocator *memory = &c->allocator;
    rg_pair_list *found = &c->lists[c->current];
    if (rg_array_grow(memory, &c->now.touches, &c->now.touch_capacity, all->touch) ||
        rg_array_grow(memory, &c->now.manifolds, &c->now.manifold_capacity, all->manifold) ||
        rg_array_grow(memory, &c->now.points, &c->now.point_capacity, all->point) ||
        rg_array_grow(memory, &found->pairs, &found->capacity, all->pair) ||
        rg_array_grow(memory, &found->looks, &found->look_capacity, all->pair) ||
        rg_array_grow(memory, &found->caches, &found->cache_capacity, all->cache) ||
        rg_array_grow(memory, &c->left_out, &c->left_out_capacity, all->left_out))
        return RG_OUT_OF_MEMORY;
    c->now.touch_count = all->touch;
    c->now.manifold_count = all->manifold;
    c->now.point_count = all->point;
    found->count = all->pair;
    found->cache_count = all->cache;
    c->left_out_count = all->left_out;
    return RG_OK;
}

rg_status rg_collision_append_lanes(rg_collision *c, size_t count, rg_pool *pool) {
    append_job job = {.collision = c};
    for (size_t i = 0; i < count; i++) {
        const rg_collision_lane *lane = &c->lanes[i];
        if (lane->status)
            return lane->status;
        lane_begin at = job.begin[i];
        job.begin[i + 1] = (lane_begin){.touch = at.touch + lane->now.touch_count,
                                        .manifold = at.manifold + lane->now.manifold_count,
                                        .point = at.point + lane->now.point_count,
                                        .pair = at.pair + lane->found.count,
                                        .cache = at.cache + lane->found.cache_count,
                                        .left_out = at.left_out + lane->left_out_count};
        c->bent += lane->bent;
        c->min_gap = fmin(c->min_gap, lane->min_gap);
    }
    if (make_room(c, &job.begin[count]))
        return RG_OUT_OF_MEMORY;
    rg_parallel_for(pool, count, 1, append_lane, &job);
    return RG_OK;
}
