/* Compounds: every convex part of one with every convex part of the other.
 *
 * Each pair of parts has its own normal, points and cache; a point's identity is (part1, part2,
 * id). Parts whose boxes are farther apart than `near` are skipped. Pairs are visited in the order
 * of (part1, part2), so that caches stay sorted and those of the last step are found by going
 * along.
 *
 * Faces between two parts of one compound are not part of its surface. Nothing here knows that: a
 * body that slides over such a seam may be given a point at it, with the normal of the inner face
 * (a ghost contact). Flagging inner faces when a compound is made is left to the shape stage; a
 * compound whose parts overlap or have their seams away from contacts is not affected.
 *
 * Cost: the number of parts of one times that of the other, in box tests. */
#include "contact/contact.h"

typedef struct part_list {
    const rg_compound_part *parts; /* null: the shape itself */
    rg_placed_shape whole;
    uint32_t count;
} part_list;

typedef struct placed_part {
    rg_placed_shape part;
    rg_bounds bounds;
} placed_part;

static part_list parts_of(rg_placed_shape whole) {
    if (rg_shape_get_kind(whole.shape) != RG_SHAPE_COMPOUND)
        return (part_list){NULL, whole, 1};
    rg_shape_def def = rg_shape_get_def(whole.shape);
    return (part_list){def.parts, whole, (uint32_t)def.part_count};
}

static placed_part *place_parts(const part_list *list, rg_arena *arena) {
    placed_part *placed = rg_arena_take(arena, list->count, sizeof *placed);
    if (!placed)
        return NULL;
    for (uint32_t i = 0; i < list->count; i++) {
        rg_placed_shape part = list->whole;
        if (list->parts) {
            part.shape = list->parts[i].shape;
            part.pose = rg_pose_compose(list->whole.pose, list->parts[i].pose);
        }
        placed[i] = (placed_part){part, rg_shape_bounds(part.shape, part.pose)};
    }
    return placed;
}

static bool within(const rg_bounds *a, const rg_bounds *b, double near) {
    return a->lower.x - near <= b->upper.x && b->lower.x - near <= a->upper.x &&
           a->lower.y - near <= b->upper.y && b->lower.y - near <= a->upper.y &&
           a->lower.z - near <= b->upper.z && b->lower.z - near <= a->upper.z;
}

/* The cache of the last step for these parts, going along with the sorted list. */
static rg_contact_cache find_cache(const rg_contact_cache *last, uint32_t count, uint32_t *at,
                                   uint32_t part1, uint32_t part2) {
    while (*at < count &&
           (last[*at].part1 < part1 || (last[*at].part1 == part1 && last[*at].part2 < part2)))
        ++*at;
    if (*at < count && last[*at].part1 == part1 && last[*at].part2 == part2)
        return last[*at];
    return (rg_contact_cache){.part1 = part1, .part2 = part2};
}

static rg_status add_pair(rg_placed_shape one, rg_placed_shape two,
                          const rg_contact_settings *settings, rg_contact_cache cache,
                          rg_arena *arena, rg_contact_list *list) {
    if (list->manifold_count == list->manifold_capacity ||
        list->point_count == list->point_capacity || list->cache_count == list->cache_capacity)
        return RG_LIMIT_EXCEEDED;
    rg_manifold *manifold = &list->manifolds[list->manifold_count];
    rg_contact_query query = {one,
                              two,
                              settings,
                              &cache,
                              arena,
                              list->points + list->point_count,
                              list->point_capacity - list->point_count};
    rg_status status = rg_contact_between(&query, manifold);
    if (status != RG_OK)
        return status;
    list->caches[list->cache_count++] = cache;
    if (manifold->point_count == 0)
        return RG_OK;
    manifold->part1 = cache.part1;
    manifold->part2 = cache.part2;
    manifold->first_point = list->point_count;
    list->point_count += manifold->point_count;
    list->manifold_count++;
    return RG_OK;
}

rg_status rg_contact_parts(rg_placed_shape one, rg_placed_shape two,
                           const rg_contact_settings *settings, const rg_contact_cache *last,
                           uint32_t last_count, rg_arena *arena, rg_contact_list *list) {
    rg_arena_mark mark = rg_arena_get_mark(arena);
    part_list list1 = parts_of(one), list2 = parts_of(two);
    placed_part *placed1 = place_parts(&list1, arena), *placed2 = place_parts(&list2, arena);
    rg_status status = placed1 && placed2 ? RG_OK : RG_OUT_OF_MEMORY;
    uint32_t at = 0;
    for (uint32_t i = 0; i < list1.count && status == RG_OK; i++)
        for (uint32_t k = 0; k < list2.count && status == RG_OK; k++) {
            double size = fmin(rg_shape_circumradius(placed1[i].part.shape),
                               rg_shape_circumradius(placed2[k].part.shape));
            double near = settings && settings->near > 0 ? settings->near : RG_CONTACT_NEAR * size;
            if (within(&placed1[i].bounds, &placed2[k].bounds, near))
                status = add_pair(placed1[i].part, placed2[k].part, settings,
                                  find_cache(last, last_count, &at, i, k), arena, list);
        }
    rg_arena_return(arena, mark);
    return status;
}
