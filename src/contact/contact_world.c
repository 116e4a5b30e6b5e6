/* The contacts of a world, from step to step: candidate pairs from the broad phase, manifolds of each,
 * and what changed since the update before.
 *
 * What must survive from update to update lies in the world's memory for contacts, flat: per candidate
 * pair the two handles, whether they touched, and the caches of their convex parts. Everything else is
 * made anew at every update from that and the state of the world, so that a restored world goes on
 * with the same bits. */
#include "base/base_text.h"
#include "broad/broad_world.h"
#include "contact/contact.h"
#include "rigor/collision.h"
#include "rigor/version.h"
#include "world/world.h"

#include <assert.h>
#include <string.h>

/* A pair goes on touching up to this many times the gap at which it began to. */
#define TOUCH_HYSTERESIS 2

typedef struct pair_memory {
    rg_collider_id b, a;
    uint32_t touching;
    uint32_t first_cache, cache_count;
    uint32_t padding; /* caches behind an array of these stay aligned */
} pair_memory;

typedef struct memory_header {
    uint64_t pair_count, cache_count;
} memory_header;

/* The world's memory, read: pairs sorted by (b, a) slots. */
typedef struct memory_view {
    const pair_memory *pairs;
    size_t pair_count;
    const rg_contact_cache *caches;
    size_t cache_count;
} memory_view;

struct rg_collision {
    rg_allocator allocator;
    rg_collision_def def;
    rg_broad_world *broad;
    rg_arena arena;
    rg_touch *touches;
    size_t touch_count, touch_capacity;
    rg_touch_end *ended;
    size_t ended_count, ended_capacity;
    pair_memory *pairs; /* being written */
    size_t pair_count, pair_capacity;
    rg_manifold *manifolds;
    size_t manifold_count, manifold_capacity;
    rg_contact_point *points;
    size_t point_count, point_capacity;
    rg_contact_cache *caches;
    size_t cache_count, cache_capacity;
    double min_gap;
    double ahead;                         /* s: how far the update looks ahead */
    const rg_collision_velocities *after; /* of the update that runs */
};

rg_collision_def rg_collision_def_default(void) {
    return (rg_collision_def){.api_version = RG_API_VERSION};
}

static rg_status check_def(const rg_collision_def *def, rg_error *error) {
    const rg_contact_settings *c = &def->contacts;
    if (def->api_version != RG_API_VERSION)
        return rg_fail(error, RG_VERSION_MISMATCH,
                       "collision def made for interface %d, this library has %d; recompile",
                       def->api_version, RG_API_VERSION);
    if (def->broad_phase && !rg_broad_kind_find(def->broad_phase))
        return rg_fail(error, RG_NOT_FOUND,
                       "broad phase: there is no \"%s\"; there are \"sorted\" and \"tree\"",
                       def->broad_phase);
    if (!(c->near >= 0 && c->band >= 0 && c->stick >= 0 && c->inner >= 0 && def->touch >= 0 &&
          isfinite(c->near) && isfinite(c->band) && isfinite(c->stick) && isfinite(c->inner) &&
          isfinite(def->touch)))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "contacts: distances must be finite and not negative");
    return RG_OK;
}

rg_status rg_collision_create(const rg_collision_def *def, const rg_allocator *allocator,
                              rg_collision **collision, rg_error *error) {
    assert(def && collision);
    *collision = NULL;
    rg_status status = check_def(def, error);
    if (status)
        return status;
    rg_allocator memory = rg_allocator_or_default(allocator);
    rg_collision *c = rg_allocate_zeroed(&memory, 1, sizeof *c);
    rg_broad_def broad = {.kind = def->broad_phase ? rg_broad_kind_find(def->broad_phase) : NULL};
    status = c ? rg_broad_world_create(&broad, &memory, &c->broad) : RG_OUT_OF_MEMORY;
    if (status) {
        rg_release(&memory, c);
        return rg_fail(error, status, "collision: %s", rg_status_text(status));
    }
    c->allocator = memory;
    c->def = *def;
    c->arena = rg_arena_make(&memory);
    c->min_gap = INFINITY;
    *collision = c;
    return RG_OK;
}

void rg_collision_destroy(rg_collision *collision) {
    if (!collision)
        return;
    rg_allocator memory = collision->allocator;
    rg_broad_world_destroy(collision->broad);
    rg_arena_free(&collision->arena);
    rg_release(&memory, collision->touches);
    rg_release(&memory, collision->ended);
    rg_release(&memory, collision->pairs);
    rg_release(&memory, collision->manifolds);
    rg_release(&memory, collision->points);
    rg_release(&memory, collision->caches);
    rg_release(&memory, collision);
}

/* --- the world's memory ------------------------------------------------------------------------ */

/* Empty if there is none, or if it is not of this layout. */
static memory_view read_memory(const rg_world *world) {
    const rg_memory_block *block = &world->content.memory[RG_MEMORY_CONTACTS];
    memory_header header;
    if (block->size < sizeof header)
        return (memory_view){0};
    memcpy(&header, block->data, sizeof header);
    size_t left = block->size - sizeof header;
    if (header.pair_count > left / sizeof(pair_memory))
        return (memory_view){0};
    left -= (size_t)header.pair_count * sizeof(pair_memory);
    if (header.cache_count != left / sizeof(rg_contact_cache))
        return (memory_view){0};
    const char *at = (const char *)block->data + sizeof header;
    return (memory_view){
        (const pair_memory *)(const void *)at, (size_t)header.pair_count,
        (const rg_contact_cache *)(const void *)(at + header.pair_count * sizeof(pair_memory)),
        (size_t)header.cache_count};
}

static rg_status write_memory(const rg_collision *c, rg_world *world) {
    memory_header header = {c->pair_count, c->cache_count};
    size_t pair_bytes = c->pair_count * sizeof *c->pairs;
    size_t cache_bytes = c->cache_count * sizeof *c->caches;
    char *at =
        rg_memory_resize(world, RG_MEMORY_CONTACTS, sizeof header + pair_bytes + cache_bytes);
    if (!at)
        return RG_OUT_OF_MEMORY;
    memcpy(at, &header, sizeof header);
    if (pair_bytes)
        memcpy(at + sizeof header, c->pairs, pair_bytes);
    if (cache_bytes)
        memcpy(at + sizeof header + pair_bytes, c->caches, cache_bytes);
    return RG_OK;
}

static int compare_pairs(const pair_memory *p, rg_collider_id b, rg_collider_id a) {
    if (p->b.index1 != b.index1)
        return p->b.index1 < b.index1 ? -1 : 1;
    return p->a.index1 == a.index1 ? 0 : p->a.index1 < a.index1 ? -1 : 1;
}

static bool same_collider(rg_collider_id x, rg_collider_id y) {
    return x.index1 == y.index1 && x.generation == y.generation;
}

/* --- one update -------------------------------------------------------------------------------- */

static rg_status note_end(rg_collision *c, const pair_memory *p) {
    if (!p->touching)
        return RG_OK;
    if (rg_array_grow(&c->allocator, &c->ended, &c->ended_capacity, c->ended_count + 1))
        return RG_OUT_OF_MEMORY;
    c->ended[c->ended_count++] = (rg_touch_end){p->b, p->a};
    return RG_OK;
}

/* The memory of a pair, going along with the sorted list; pairs that are passed have ended. */
static rg_status find_memory(rg_collision *c, const memory_view *old, size_t *at, rg_collider_id b,
                             rg_collider_id a, pair_memory *found) {
    rg_status status = RG_OK;
    *found = (pair_memory){0};
    while (!status && *at < old->pair_count && compare_pairs(&old->pairs[*at], b, a) < 0)
        status = note_end(c, &old->pairs[(*at)++]);
    if (status || *at == old->pair_count || compare_pairs(&old->pairs[*at], b, a) != 0)
        return status;
    const pair_memory *p = &old->pairs[(*at)++];
    /* A memory that was loaded from outside may say anything. */
    bool sound =
        p->first_cache <= old->cache_count && p->cache_count <= old->cache_count - p->first_cache;
    if (sound && same_collider(p->b, b) && same_collider(p->a, a))
        *found = *p;
    else
        status = note_end(c, p); /* the slot has another tenant */
    return status;
}

static const rg_collider *collider_of(const rg_world *world, rg_collider_id id) {
    return &world->content.collider[rg_handle_index(&world->content.colliders, RG_HANDLE(id))];
}

static rg_pose pose_of(const rg_world_content *content, const rg_collider *collider) {
    rg_pose origin = rg_body_origin_pose(content, rg_body_dense(content, collider->body));
    return rg_pose_compose(origin, collider->pose);
}

/* Metres by which turning at `spin` may move a point of the shape within the step. */
static double turning_of(const rg_collision *c, const rg_world_content *content,
                         const rg_collider *collider, size_t body, double spin) {
    if (spin == 0)
        return 0;
    /* Farthest point of the shape from the centre that it turns about. */
    rg_pose pose = pose_of(content, collider);
    rg_vec3 centre = rg_pose_apply(pose, rg_shape_centre(collider->shape));
    double reach =
        rg_length(rg_sub(centre, content->position[body])) + rg_shape_circumradius(collider->shape);
    return isfinite(reach) ? spin * reach * c->ahead : 0;
}

/* How far two bodies may come closer to each other within the step at these velocities. */
static double closing_at(const rg_collision *c, const rg_world_content *content,
                         const rg_collider *b, const rg_collider *a, rg_collision_velocities v) {
    size_t i = rg_body_dense(content, b->body), j = rg_body_dense(content, a->body);
    return rg_length(rg_sub(v.velocity[i], v.velocity[j])) * c->ahead +
           turning_of(c, content, b, i, rg_length(v.angular_velocity[i])) +
           turning_of(c, content, a, j, rg_length(v.angular_velocity[j]));
}

/* The settings of the def, with the distances that the motion of the next step may cover: a pair that
 * may meet has points, and all of those that may touch before it is over (E1 and E2 of Hart-Anitescu
 * 2010, scaled by speed times step). */
static rg_contact_settings settings_of_pair(const rg_collision *c, const rg_world *world,
                                            const rg_collider *b, const rg_collider *a) {
    rg_contact_settings settings = c->def.contacts;
    if (c->ahead == 0)
        return settings;
    double smaller = fmin(rg_shape_circumradius(b->shape), rg_shape_circumradius(a->shape));
    const rg_world_content *content = &world->content;
    rg_collision_velocities now = {content->velocity, content->angular_velocity};
    double closing = closing_at(c, content, b, a, now);
    if (c->after)
        closing = fmax(closing, closing_at(c, content, b, a, *c->after));
    double falling = rg_length(content->gravity) * c->ahead * c->ahead;
    double near = settings.near > 0 ? settings.near : RG_CONTACT_NEAR * smaller;
    double band = settings.band > 0 ? settings.band : RG_CONTACT_BAND * smaller;
    /* An impact within the step may turn straight motion into turning: the far end of a rod whose other
     * end is stopped goes on faster than before. */
    double reach = RG_CONTACT_AHEAD * closing;
    settings.near = fmax(near, reach + RG_CONTACT_AHEAD * falling);
    settings.band = fmax(band, reach + RG_CONTACT_AHEAD * falling);
    settings.inner = fmax(settings.inner, reach);
    return settings;
}

/* Manifolds of a pair, with more room as long as there is too little. */
static rg_status find_manifolds(rg_collision *c, const rg_world *world, const rg_collider *b,
                                const rg_collider *a, const rg_contact_cache *last,
                                uint32_t last_count, rg_contact_list *list) {
    rg_contact_settings settings = settings_of_pair(c, world, b, a);
    rg_pose pose_b = pose_of(&world->content, b), pose_a = pose_of(&world->content, a);
    size_t manifolds = 4, points = 64, caches = 8;
    for (;;) {
        if (rg_array_grow(&c->allocator, &c->manifolds, &c->manifold_capacity,
                          c->manifold_count + manifolds) ||
            rg_array_grow(&c->allocator, &c->points, &c->point_capacity, c->point_count + points) ||
            rg_array_grow(&c->allocator, &c->caches, &c->cache_capacity, c->cache_count + caches))
            return RG_OUT_OF_MEMORY;
        *list = (rg_contact_list){.manifolds = c->manifolds + c->manifold_count,
                                  .manifold_capacity =
                                      (uint32_t)(c->manifold_capacity - c->manifold_count),
                                  .points = c->points + c->point_count,
                                  .point_capacity = (uint32_t)(c->point_capacity - c->point_count),
                                  .caches = c->caches + c->cache_count,
                                  .cache_capacity = (uint32_t)(c->cache_capacity - c->cache_count)};
        rg_status status = rg_contact_parts(b->shape, pose_b, a->shape, pose_a, &settings, last,
                                            last_count, &c->arena, list);
        if (status != RG_LIMIT_EXCEEDED)
            return status;
        manifolds = 2 * list->manifold_capacity;
        points = 2 * list->point_capacity;
        caches = 2 * list->cache_capacity;
    }
}

static double touch_gap(const rg_collision *c, const rg_shape *b, const rg_shape *a) {
    if (c->def.touch > 0)
        return c->def.touch;
    return RG_TOUCH_SHARE * fmin(rg_shape_circumradius(b), rg_shape_circumradius(a));
}

static rg_status add_touch(rg_collision *c, const rg_world *world, const rg_collider *b,
                           const rg_collider *a, pair_memory *memory, bool touched,
                           const rg_contact_list *list) {
    if (rg_array_grow(&c->allocator, &c->touches, &c->touch_capacity, c->touch_count + 1))
        return RG_OUT_OF_MEMORY;
    rg_touch *touch = &c->touches[c->touch_count++];
    *touch = (rg_touch){.collider_b = memory->b,
                        .collider_a = memory->a,
                        .body_b = b->body,
                        .body_a = a->body,
                        .sensor = b->sensor || a->sensor,
                        .gap = INFINITY,
                        .law = rg_world_pair_law(world, b->material, a->material),
                        .first_manifold = (uint32_t)c->manifold_count,
                        .manifold_count = list->manifold_count};
    for (uint32_t i = 0; i < list->manifold_count; i++) {
        /* Points of the pair begin where those of the pairs before it end. */
        list->manifolds[i].first_point += (uint32_t)c->point_count;
        touch->gap = fmin(touch->gap, list->manifolds[i].gap);
    }
    double most = touch_gap(c, b->shape, a->shape) * (touched ? TOUCH_HYSTERESIS : 1);
    touch->touching = touch->gap <= most;
    touch->began = touch->touching && !touched;
    memory->touching = touch->touching;
    c->min_gap = fmin(c->min_gap, touch->gap);
    if (c->def.material)
        c->def.material(c->def.material_user, world, touch, &touch->law);
    return RG_OK;
}

static rg_status update_pair(rg_collision *c, const rg_world *world, const memory_view *old,
                             size_t *at, rg_broad_pair pair) {
    rg_collider_id id_b = rg_broad_world_collider(c->broad, pair.a);
    rg_collider_id id_a = rg_broad_world_collider(c->broad, pair.b);
    const rg_collider *b = collider_of(world, id_b), *a = collider_of(world, id_a);
    pair_memory last;
    rg_contact_list list;
    rg_status status = find_memory(c, old, at, id_b, id_a, &last);
    if (!status)
        status =
            find_manifolds(c, world, b, a, old->caches + last.first_cache, last.cache_count, &list);
    if (!status)
        status = rg_array_grow(&c->allocator, &c->pairs, &c->pair_capacity, c->pair_count + 1);
    if (status)
        return status;
    pair_memory *now = &c->pairs[c->pair_count++];
    *now = (pair_memory){.b = id_b,
                         .a = id_a,
                         .first_cache = (uint32_t)c->cache_count,
                         .cache_count = list.cache_count};
    if (list.manifold_count)
        status = add_touch(c, world, b, a, now, last.touching, &list);
    if (!status && last.touching && !now->touching)
        status = note_end(c, &last);
    c->manifold_count += list.manifold_count;
    c->point_count += list.point_count;
    c->cache_count += list.cache_count;
    return status;
}

/* How far around its shape a collider may have contacts, at most. */
static double contact_range(const rg_collision *c, const rg_world_content *content) {
    if (c->def.contacts.near > 0)
        return c->def.contacts.near;
    double largest = 0;
    for (size_t i = 0; i < content->colliders.count; i++) {
        double radius = rg_shape_circumradius(content->collider[i].shape);
        largest = isfinite(radius) && radius > largest ? radius : largest;
    }
    return RG_CONTACT_NEAR * largest;
}

rg_status rg_collision_update(rg_collision *c, rg_world *world, double step, rg_error *error) {
    assert(c && world);
    if (!(step >= 0 && isfinite(step)))
        return rg_fail(error, RG_INVALID_ARGUMENT, "step: %g s; it must not be negative", step);
    if (world->busy)
        return rg_fail(error, RG_BUSY, "%s", rg_status_text(RG_BUSY));
    return rg_collision_refresh(c, world, step, NULL, error);
}

/* Metres by which bodies may leave the bounds that their velocities of now sweep. */
static double excursion(const rg_world_content *content, const rg_collision_velocities *after,
                        double step) {
    double most = 0;
    for (size_t i = 0; after && i < content->bodies.count; i++) {
        double change = rg_length(rg_sub(after->velocity[i], content->velocity[i]));
        double turn = rg_length(rg_sub(after->angular_velocity[i], content->angular_velocity[i]));
        double radius = 0;
        for (uint32_t k = content->record[i].first_collider1; turn > 0 && k != 0;) {
            const rg_collider *collider = &content->collider[content->colliders.slots[k - 1].dense];
            double circumradius = rg_shape_circumradius(collider->shape);
            if (isfinite(circumradius))
                radius = fmax(radius, rg_length(collider->pose.position) + circumradius);
            k = collider->next1;
        }
        most = fmax(most, step * (change + turn * radius));
    }
    return most;
}

rg_status rg_collision_refresh(rg_collision *c, rg_world *world, double step,
                               const rg_collision_velocities *after, rg_error *error) {
    c->ahead = step;
    c->after = after;
    rg_arena_reset(&c->arena);
    c->touch_count = c->ended_count = c->pair_count = 0;
    c->manifold_count = c->point_count = c->cache_count = 0;
    c->min_gap = INFINITY;
    rg_broad_motion motion = {.continuous = step > 0,
                              .step = step,
                              .margin = contact_range(c, &world->content) +
                                        excursion(&world->content, after, step),
                              .acceleration = rg_length(world->content.gravity)};
    rg_status status = rg_broad_world_update(c->broad, world, &motion);
    memory_view old = read_memory(world);
    size_t at = 0;
    rg_broad_pairs pairs = rg_broad_pairs_all(rg_broad_world_pairs(c->broad));
    for (size_t i = 0; !status && i < pairs.count; i++)
        status = update_pair(c, world, &old, &at, pairs.pairs[i]);
    while (!status && at < old.pair_count)
        status = note_end(c, &old.pairs[at++]);
    if (!status)
        status = write_memory(c, world);
    return status ? rg_fail(error, status, "contacts: %s", rg_status_text(status)) : RG_OK;
}

rg_collision_view rg_collision_get(const rg_collision *c) {
    return (rg_collision_view){.touches = c->touches,
                               .touch_count = c->touch_count,
                               .manifolds = c->manifolds,
                               .manifold_count = c->manifold_count,
                               .points = c->points,
                               .point_count = c->point_count,
                               .ended = c->ended,
                               .ended_count = c->ended_count,
                               .candidate_pairs = c->pair_count,
                               .min_gap = c->min_gap};
}

size_t rg_collision_of_body(const rg_collision *c, rg_body_id body, uint32_t *touches,
                            size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; i < c->touch_count; i++) {
        const rg_touch *t = &c->touches[i];
        bool is_b = t->body_b.index1 == body.index1 && t->body_b.generation == body.generation;
        bool is_a = t->body_a.index1 == body.index1 && t->body_a.generation == body.generation;
        if (!is_a && !is_b)
            continue;
        if (count < capacity)
            touches[count] = (uint32_t)i;
        count++;
    }
    return count;
}
