/* The convex parts of a world, and which of them may meet: a broad phase whose proxies are parts.
 * Its pairs are a function of bounds and filters alone.
 *
 * Tested by tests/contact/test_convex.c. */
#include "contact/contact_convex.h"

#include "contact/contact_collision.h"
#include "shape/shape_terrain.h"

static size_t parts_of(const rg_collider *collider) {
    if (collider->sensor || rg_shape_get_kind(collider->shape) == RG_SHAPE_TERRAIN)
        return 0;
    return rg_shape_is_convex(collider->shape) ? 1 : rg_shape_get_def(collider->shape).part_count;
}

static void add_parts(const rg_world_content *c, size_t number, rg_convex_part *parts,
                      size_t *count) {
    const rg_collider *collider = &c->collider[number];
    size_t body = rg_body_dense(c, collider->body);
    rg_handle handle = rg_handle_at(&c->colliders, number);
    rg_pose to_centre = rg_pose_inverse(c->record[body].local_centre);
    rg_pose pose = rg_pose_compose(to_centre, collider->pose);
    for (uint32_t k = 0; k < parts_of(collider); k++) {
        rg_pose in_whole;
        const rg_shape *shape = rg_shape_part(collider->shape, k, NULL, &in_whole);
        rg_convex_part *p = &parts[(*count)++];
        *p = (rg_convex_part){.shape = shape,
                              .collider = {handle.index1, handle.generation},
                              .index = k,
                              .body = (uint32_t)body,
                              .local =
                                  shape == collider->shape ? pose : rg_pose_compose(pose, in_whole),
                              .radius = rg_shape_circumradius(shape),
                              .dynamic = c->dynamics[body].inverse_mass > 0,
                              .category = collider->category,
                              .mask = collider->mask};
        p->middle = rg_pose_apply(p->local, rg_shape_centre(shape));
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
