/* The convex parts of a world, and which of them may meet: a broad phase whose proxies are parts.
 * Its pairs are a function of bounds and filters alone.
 *
 * Tested by tests/contact/test_convex.c. */
#include "contact/contact_convex.h"

#include "base/base_sort.h"
#include "contact/contact_collision.h"
#include "shape/shape_terrain.h"

static size_t parts_of(const rg_collider *collider) {
    if (collider->sensor || rg_shape_get_kind(collider->shape) == RG_SHAPE_TERRAIN)
        return 0;
    return rg_shape_is_convex(collider->shape) ? 1 : rg_shape_get_def(collider->shape).part_count;
}

/* The part `index` of a collider; `room` is for terrain. */
static rg_convex_part part_of(const rg_world_content *c, size_t number, uint32_t index,
                              rg_terrain_room *room) {
    const rg_collider *collider = &c->collider[number];
    size_t body = rg_body_dense(c, collider->body);
    rg_handle handle = rg_handle_at(&c->colliders, number);
    rg_pose to_centre = rg_pose_inverse(c->record[body].local_centre), in_whole;
    rg_pose pose = rg_pose_compose(to_centre, collider->pose);
    const rg_shape *shape = rg_shape_part(collider->shape, index, room, &in_whole);
    bool whole = shape == collider->shape || room;
    rg_convex_part p = {.shape = shape,
                        .collider = {handle.index1, handle.generation},
                        .index = index,
                        .body = (uint32_t)body,
                        .local = whole ? pose : rg_pose_compose(pose, in_whole),
                        .radius = rg_shape_circumradius(shape),
                        .dynamic = c->dynamics[body].inverse_mass > 0,
                        .category = collider->category,
                        .mask = collider->mask};
    p.middle = rg_pose_apply(p.local, rg_shape_centre(shape));
    return p;
}

static void add_parts(const rg_world_content *c, size_t number, rg_convex_part *parts,
                      size_t *count) {
    for (uint32_t k = 0; k < parts_of(&c->collider[number]); k++) {
        parts[*count] = part_of(c, number, k, NULL);
        parts[*count].number = (uint32_t)*count;
        ++*count;
    }
}

rg_status rg_convex_parts_make(const rg_world_content *c, rg_arena *arena, rg_convex_part **parts,
                               size_t *count) {
    size_t total = 0;
    for (size_t i = 0; i < c->colliders.count; i++)
        total += parts_of(&c->collider[i]);
    *parts = rg_arena_take(arena, total, sizeof **parts);
    *count = 0;
    for (size_t slot = 0; *parts && slot < c->colliders.slot_count; slot++)
        if (c->colliders.slots[slot].generation)
            add_parts(c, c->colliders.slots[slot].dense, *parts, count);
    return *parts ? RG_OK : RG_OUT_OF_MEMORY;
}

/* --- terrain ---------------------------------------------------------------------------------- */

static bool is_terrain(const rg_collider *collider) {
    return !collider->sensor && rg_shape_get_kind(collider->shape) == RG_SHAPE_TERRAIN;
}

bool rg_convex_has_terrain(const rg_world_content *c) {
    for (size_t i = 0; i < c->colliders.count; i++)
        if (is_terrain(&c->collider[i]))
            return true;
    return false;
}

/* Parts in an arena. */
typedef struct part_list {
    rg_arena *arena;
    rg_convex_part *parts;
    size_t count, capacity;
} part_list;

static bool is_before(const uint32_t *a, const uint32_t *b) {
    return *a < *b;
}

RG_DEFINE_HEAP_SORT(sort_triangles, uint32_t, is_before)

/* Triangles within the bounds of a part. Those of a ball are a larger ball's, which holds all
 * places where it may be. */
static bool find_within(const rg_shape *terrain, rg_pose pose, const rg_convex_part *p,
                        const rg_bounds *bounds, rg_arena *arena, uint32_t **list, size_t *count) {
    rg_vec3 half = rg_scale(0.5, rg_sub(bounds->upper, bounds->lower));
    double slack = rg_largest_entry(half) - p->radius;
    if (rg_shape_get_kind(p->shape) == RG_SHAPE_SPHERE && isfinite(slack)) {
        rg_vec3 middle = rg_pose_apply_inverse(pose, rg_add(bounds->lower, half));
        rg_terrain_path path = {&middle, 1, p->radius, slack, {0, 0, 0}, 0};
        return rg_terrain_find_along(terrain, &path, false, arena, list, count);
    }
    rg_bounds local = rg_bounds_into(bounds, pose);
    return rg_terrain_find(terrain, &local, arena, list, count);
}

/* Triangles of a terrain within the bounds of any dynamic part, sorted, each once. */
static bool find_triangles(const rg_world_content *c, const rg_collider *collider,
                           const part_list *own, const rg_bounds *bounds, uint32_t **list,
                           size_t *count) {
    rg_pose origin = rg_body_origin_pose(c, rg_body_dense(c, collider->body));
    rg_pose pose = rg_pose_compose(origin, collider->pose);
    size_t found = 0, capacity = 0;
    *list = NULL;
    for (size_t i = 0; i < own->count; i++) {
        uint32_t *some;
        size_t few;
        if (!own->parts[i].dynamic)
            continue;
        if (!find_within(collider->shape, pose, &own->parts[i], &bounds[i], own->arena, &some,
                         &few))
            return false;
        for (size_t k = 0; k < few; k++) {
            if (!rg_arena_grow(own->arena, list, found, &capacity, sizeof **list))
                return false;
            (*list)[found++] = some[k];
        }
    }
    sort_triangles(*list, found);
    *count = 0;
    for (size_t i = 0; i < found; i++)
        if (i == 0 || (*list)[i] != (*list)[i - 1])
            (*list)[(*count)++] = (*list)[i];
    return true;
}

/* `as`: the number that all triangles of the terrain have. */
static bool add_prisms(const rg_world_content *c, size_t number, const part_list *own,
                       const rg_bounds *bounds, uint32_t as, part_list *all) {
    uint32_t *triangles;
    size_t count;
    if (!find_triangles(c, &c->collider[number], own, bounds, &triangles, &count))
        return false;
    rg_terrain_room *rooms = rg_arena_take(all->arena, count, sizeof *rooms);
    for (size_t i = 0; rooms && i < count; i++) {
        if (!rg_arena_grow(all->arena, &all->parts, all->count, &all->capacity, sizeof *all->parts))
            return false;
        all->parts[all->count] = part_of(c, number, triangles[i], &rooms[i]);
        all->parts[all->count++].number = as;
    }
    return rooms != NULL;
}

rg_status rg_convex_add_terrain(const rg_world_content *c, const rg_bounds *bounds, rg_arena *arena,
                                rg_convex_part **parts, size_t *count) {
    part_list own = {arena, *parts, *count, *count}, all = {.arena = arena};
    for (size_t i = 0; i < own.count; i++) {
        if (!rg_arena_grow(arena, &all.parts, all.count, &all.capacity, sizeof *all.parts))
            return RG_OUT_OF_MEMORY;
        all.parts[all.count++] = own.parts[i];
    }
    uint32_t as = (uint32_t)own.count;
    for (size_t slot = 0; slot < c->colliders.slot_count; slot++) {
        size_t number = c->colliders.slots[slot].dense;
        if (!c->colliders.slots[slot].generation || !is_terrain(&c->collider[number]))
            continue;
        if (!add_prisms(c, number, &own, bounds, as++, &all))
            return RG_OUT_OF_MEMORY;
    }
    *parts = all.parts;
    *count = all.count;
    return RG_OK;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* A part's number is that of its proxy. */
static rg_status put_part(rg_broad *broad, uint32_t id, const rg_convex_part *p,
                          const rg_bounds *bounds) {
    rg_proxy_filter filter = {.category = p->category,
                              .mask = p->mask,
                              .body = p->body,
                              .flags = p->dynamic ? 0 : RG_PROXY_FIXED};
    return rg_broad_put(broad, id, bounds, &filter);
}

static rg_status update(rg_collision *c, const rg_convex_part *parts, const rg_bounds *bounds,
                        size_t count) {
    rg_status status =
        c->parts ? RG_OK : rg_broad_create(&(rg_broad_def){0}, &c->allocator, &c->parts);
    while (!status && c->part_count > count)
        rg_broad_remove(c->parts, (uint32_t)--c->part_count);
    for (size_t i = 0; i < count && !status; i++) {
        status = put_part(c->parts, (uint32_t)i, &parts[i], &bounds[i]);
        if (!status && i == c->part_count)
            c->part_count++;
    }
    if (status == RG_INVALID_ARGUMENT)
        return RG_NOT_FINITE;
    return status ? status : rg_broad_update(c->parts);
}

rg_status rg_collision_meet_parts(rg_collision *c, const rg_world_content *content,
                                  const rg_convex_part *parts, const rg_bounds *bounds,
                                  size_t count, rg_arena *arena, rg_broad_pairs *pairs) {
    *pairs = (rg_broad_pairs){0};
    rg_status status = update(c, parts, bounds, count);
    if (status)
        return status;
    rg_broad_pairs all = rg_broad_pairs_all(c->parts);
    rg_broad_pair *kept = rg_arena_take(arena, all.count, sizeof *kept);
    if (!kept)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < all.count; i++) {
        const rg_convex_part *p = &parts[all.pairs[i].a], *q = &parts[all.pairs[i].b];
        if ((isfinite(p->radius) || isfinite(q->radius)) &&
            !(content->joints.count && rg_joints_part(content, p->body, q->body)))
            kept[pairs->count++] = all.pairs[i];
    }
    pairs->pairs = kept;
    return RG_OK;
}
