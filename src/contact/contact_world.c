/* The contacts of a world, from step to step: candidate pairs from the broad phase, then manifolds
 * of each.
 *
 * What must survive from look to look is flat: per candidate pair the two handles and the caches of
 * their convex parts. For the collision of a world it lies in the world's memory for contacts,
 * which is read when a step begins and written when it ends (rg_collision_store); for a program's
 * own, in the object. Everything else is made anew at every look from that and the state of the
 * world, so that a restored world goes on with the same bits, and looking never changes a world.
 * Which pairs touch, began to and no longer do: contact_touch.c.
 *
 * Tested by tests/step/test_collision.c. */
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "contact/contact_collision.h"
#include "rigor/version.h"
#include "shape/shape.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* Bodies that one chunk of a parallel loop takes, at some 20 ns each. */
enum { BODIES_PER_CHUNK = 256 };

/* The world's memory begins with this; pairs and caches follow. */
typedef struct memory_header {
    uint64_t pair_count, cache_count;
} memory_header;

rg_status rg_collision_create(const rg_collision_def *def, const rg_allocator *allocator,
                              rg_collision **collision, rg_error *error) {
    assert(def && collision);
    *collision = NULL;
    rg_status status = rg_collision_def_check(def, error);
    if (status)
        return status;
    static const rg_broad_kind *const kinds[] = {NULL, &rg_broad_sorted, &rg_broad_tree};
    rg_collision *c = rg_object_make(rg_collision, allocator);
    rg_broad_def broad = {.kind = kinds[def->broad_phase]};
    status = c ? rg_broad_world_create(&broad, &c->allocator, &c->broad) : RG_OUT_OF_MEMORY;
    if (status) {
        rg_object_release(c);
        return rg_fail(error, status, "collision: %s", rg_status_text(status));
    }
    c->def = *def;
    c->arena = rg_arena_make(&c->allocator);
    c->min_gap = INFINITY;
    *collision = c;
    return RG_OK;
}

void rg_collision_destroy(rg_collision *collision) {
    if (!collision)
        return;
    const rg_allocator *memory = &collision->allocator;
    rg_broad_world_destroy(collision->broad);
    rg_broad_destroy(collision->parts);
    rg_arena_free(&collision->arena);
    rg_collision_free_lanes(collision);
    rg_contact_look_free(memory, &collision->now);
    rg_contact_look_free(memory, &collision->before);
    for (int i = 0; i < 2; i++) {
        rg_pair_list_free(memory, &collision->lists[i]);
        rg_release(memory, collision->touching[i].pairs);
    }
    rg_release_all(memory, collision->ended, collision->left_out, collision->marks.pairs);
    rg_object_release(collision);
}

/* --- what the last look found ----------------------------------------------------------------- */

/* Empty if there is none, or if it is not of this layout. */
static rg_pair_view read_memory(const rg_world *world) {
    const rg_memory_block *block = &world->content.memory[RG_MEMORY_CONTACTS];
    memory_header header;
    if (block->size < sizeof header)
        return (rg_pair_view){0};
    memcpy(&header, block->data, sizeof header);
    size_t left = block->size - sizeof header;
    if (header.pair_count > left / sizeof(rg_pair_memory))
        return (rg_pair_view){0};
    left -= (size_t)header.pair_count * sizeof(rg_pair_memory);
    if (header.cache_count != left / sizeof(rg_contact_cache))
        return (rg_pair_view){0};
    const char *at = (const char *)block->data + sizeof header;
    return (rg_pair_view){
        (const rg_pair_memory *)(const void *)at, (size_t)header.pair_count,
        (const rg_contact_cache *)(const void *)(at + header.pair_count * sizeof(rg_pair_memory)),
        (size_t)header.cache_count};
}

static size_t memory_size(const rg_pair_list *list) {
    return sizeof(memory_header) + list->count * sizeof *list->pairs +
           list->cache_count * sizeof *list->caches;
}

static void write_memory(const rg_pair_list *list, char *at) {
    memory_header header = {list->count, list->cache_count};
    size_t pair_bytes = list->count * sizeof *list->pairs;
    memcpy(at, &header, sizeof header);
    if (pair_bytes)
        memcpy(at + sizeof header, list->pairs, pair_bytes);
    if (list->cache_count)
        memcpy(at + sizeof header + pair_bytes, list->caches,
               list->cache_count * sizeof *list->caches);
}

static rg_pair_view view_of(const rg_pair_list *list) {
    return (rg_pair_view){list->pairs, list->count, list->caches, list->cache_count};
}

/* The caches of a pair, going along with the sorted list. */
static rg_cache_list find_memory(const rg_pair_view *old, size_t *at, rg_pair_ids ids) {
    while (*at < old->pair_count && rg_pair_compare(old->pairs[*at].ids, ids) < 0)
        ++*at;
    if (*at == old->pair_count || rg_pair_compare(old->pairs[*at].ids, ids) != 0)
        return (rg_cache_list){0};
    const rg_pair_memory *p = &old->pairs[(*at)++];
    /* A memory that was loaded from outside may say anything; a slot may have a new collider. */
    if (p->first_cache > old->cache_count || p->cache_count > old->cache_count - p->first_cache ||
        !rg_pair_same(p->ids, ids))
        return (rg_cache_list){0};
    return (rg_cache_list){rg_array_from(old->caches, p->first_cache), p->cache_count};
}

/* --- one look --------------------------------------------------------------------------------- */

static const rg_collider *collider_of(const rg_world *world, rg_collider_id id) {
    return &world->content.collider[rg_handle_index(&world->content.colliders, RG_HANDLE(id))];
}

static void place_collider(const rg_world_content *content, const rg_collider *collider,
                           rg_placed_collider *p) {
    size_t body = rg_body_dense(content, collider->body);
    p->collider = collider;
    p->body = body;
    rg_body_place_origin(content, body, &p->pose);
    if (!rg_pose_is_identity(&collider->pose))
        p->pose = rg_pose_compose(p->pose, collider->pose);
    p->radius = collider->shape->circumradius;
    bool turns = !rg_is_zero(content->angular_velocity[body]);
    p->still = !turns && rg_is_zero(content->velocity[body]);
    rg_vec3 centre = p->pose.position;
    if (!rg_is_zero(collider->shape->centre))
        centre = rg_pose_apply(p->pose, collider->shape->centre);
    double reach = p->radius;
    if (!rg_same_bits(&centre, &content->position[body], 3))
        reach += rg_length(rg_sub(centre, content->position[body]));
    p->reach = isfinite(reach) ? reach : 0;
    p->turning = turns ? rg_length(content->angular_velocity[body]) * p->reach : 0;
}

/* Room for all of them; where they are is found when a pair asks for it. */
static rg_status place_colliders(rg_collision *c, const rg_world_content *content) {
    size_t count = content->colliders.count;
    c->placed = rg_arena_take(&c->arena, count, sizeof *c->placed);
    c->is_placed = rg_arena_take(&c->arena, count, sizeof *c->is_placed);
    if (!c->placed || !c->is_placed)
        return RG_OUT_OF_MEMORY;
    memset(c->is_placed, 0, count * sizeof *c->is_placed);
    c->knows_law = false;
    return RG_OK;
}

static const rg_placed_collider *placed_of(const rg_collision *c, const rg_world *world,
                                           rg_collider_id id) {
    size_t i = rg_handle_index(&world->content.colliders, RG_HANDLE(id));
    if (!c->is_placed[i]) { /* lanes find all of them placed, and write nothing */
        place_collider(&world->content, &world->content.collider[i], &c->placed[i]);
        c->is_placed[i] = 1;
    }
    return &c->placed[i];
}

/* fmin and fmax, without a call: of numbers. */
static inline double smaller_of(double x, double y) {
    return x < y ? x : y;
}
static inline double larger_of(double x, double y) {
    return x > y ? x : y;
}

/* How far two bodies may come closer to each other within the step at the velocities of its
 * beginning: each also by how far turning may move a point of its shape. */
static double closing_now(const rg_collision *c, const rg_world_content *content,
                          const rg_placed_collider *b, const rg_placed_collider *a) {
    rg_vec3 relative = rg_sub(content->velocity[b->body], content->velocity[a->body]);
    return rg_length(relative) * c->ahead + b->turning * c->ahead + a->turning * c->ahead;
}

/* The same at those that are expected. */
static double closing_after(const rg_collision *c, const rg_placed_collider *b,
                            const rg_placed_collider *a) {
    const rg_collision_velocities *v = c->after;
    return rg_length(rg_sub(v->velocity[b->body], v->velocity[a->body])) * c->ahead +
           rg_length(v->angular_velocity[b->body]) * b->reach * c->ahead +
           rg_length(v->angular_velocity[a->body]) * a->reach * c->ahead;
}

/* The settings of the def, with the distances that the motion of the next step may cover: a pair
 * that may meet has points, and all of those that may touch before it is over (E1 and E2 of
 * Hart-Anitescu 2010, scaled by speed times step). */
static void settings_of_pair(const rg_collision *c, const rg_world *world,
                             const rg_placed_collider *b, const rg_placed_collider *a,
                             rg_contact_settings *settings) {
    double smaller = smaller_of(b->radius, a->radius);
    *settings = c->def.contacts;
    if (c->deep)
        settings->band = 2 * smaller;
    if (c->ahead == 0)
        return;
    double closing = b->still && a->still ? 0 : closing_now(c, &world->content, b, a);
    if (c->after)
        closing = larger_of(closing, closing_after(c, b, a));
    if (closing <= RG_CONTACT_ROUNDING * smaller) /* it does not show */
        closing = 0;
    /* What an earlier pass found has fallen already. */
    double falling = c->again ? 0 : c->falling;
    double near = settings->near > 0 ? settings->near : RG_CONTACT_NEAR * smaller;
    double band = settings->band > 0 ? settings->band : RG_CONTACT_BAND * smaller;
    /* An impact within the step may turn straight motion into turning: the far end of a rod whose
     * other end is stopped goes on faster than before. */
    double reach = RG_CONTACT_AHEAD * closing;
    settings->near = larger_of(near, reach + RG_CONTACT_AHEAD * falling);
    settings->band = larger_of(band, reach + RG_CONTACT_AHEAD * falling);
    settings->inner = larger_of(settings->inner, reach);
}

/* The motions that contacts are looked for: that of the beginning, and that with all forces but
 * contact; or what an earlier pass of the step found. */
static void find_motion(const rg_collision *c, const rg_world_content *content,
                        const rg_placed_collider *b, const rg_placed_collider *a,
                        rg_pair_motion *m) {
    size_t body[2] = {b->body, a->body};
    m->time = c->ahead;
    m->count = c->after && !c->again ? 2 : 1;
    m->found = c->again;
    m->share = rg_contact_share(b->collider->shape, a->collider->shape);
    rg_collision_velocities start = {content->velocity, content->angular_velocity};
    rg_collision_velocities v[2] = {c->again ? *c->after : start, c->after ? *c->after : start};
    /* If a solve gives velocities that differ by more than RG_CONTACT_AHEAD times what gravity
     * gives in the step, contacts are looked for again (step_stepping.c); gravity itself may be
     * left out of the first motion. */
    m->margin =
        larger_of(c->def.contacts.near > 0 ? c->def.contacts.near
                                           : RG_CONTACT_NEAR * smaller_of(b->radius, a->radius),
                  (1 + RG_CONTACT_AHEAD) * c->falling);
    m->rests = rg_largest_entry(rg_sub(start.velocity[body[0]], start.velocity[body[1]])) == 0 &&
               rg_largest_entry(start.angular_velocity[body[0]]) == 0 &&
               rg_largest_entry(start.angular_velocity[body[1]]) == 0;
    for (int i = 0; i < 2; i++) {
        m->centre[i] = content->position[body[i]];
        for (int k = 0; k < m->count; k++) {
            m->velocity[k][i] = v[k].velocity[body[i]];
            m->angular_velocity[k][i] = v[k].angular_velocity[body[i]];
        }
    }
}

/* A pair at a look. */
typedef struct pair_query {
    const rg_placed_collider *b, *a;
    rg_contact_settings settings;
    rg_cache_list last;     /* caches of the look before */
    rg_kept_manifolds kept; /* manifolds of an earlier look of the same step */
} pair_query;

typedef struct pair_room {
    size_t manifolds, points, caches, left_out;
} pair_room;

static rg_status make_room(rg_collision *c, const pair_room *room, rg_contact_list *list) {
    rg_pair_list *found = &c->lists[c->current];
    if (rg_array_grow(&c->allocator, &c->now.manifolds, &c->now.manifold_capacity,
                      c->now.manifold_count + room->manifolds) ||
        rg_array_grow(&c->allocator, &c->now.points, &c->now.point_capacity,
                      c->now.point_count + room->points) ||
        rg_array_grow(&c->allocator, &found->caches, &found->cache_capacity,
                      found->cache_count + room->caches) ||
        rg_array_grow(&c->allocator, &c->left_out, &c->left_out_capacity,
                      c->left_out_count + room->left_out))
        return RG_OUT_OF_MEMORY;
    *list = (rg_contact_list){
        .manifolds = rg_array_from(c->now.manifolds, c->now.manifold_count),
        .manifold_capacity = (uint32_t)(c->now.manifold_capacity - c->now.manifold_count),
        .points = rg_array_from(c->now.points, c->now.point_count),
        .point_capacity = (uint32_t)(c->now.point_capacity - c->now.point_count),
        .caches = rg_array_from(found->caches, found->cache_count),
        .cache_capacity = (uint32_t)(found->cache_capacity - found->cache_count),
        .left_out = rg_array_from(c->left_out, c->left_out_count),
        .left_out_capacity = (uint32_t)(c->left_out_capacity - c->left_out_count)};
    return RG_OK;
}

/* Twice the room for what was full; for points, of which a manifold may need many at once, if
 * nothing else was. What is not full stays as it is: doubled with the rest, time after time, it
 * would take all memory. */
static pair_room more_room(const rg_contact_list *list) {
    bool manifolds = list->manifold_count == list->manifold_capacity,
         caches = list->cache_count == list->cache_capacity,
         left_out = list->left_out_count == list->left_out_capacity;
    size_t points = manifolds || caches || left_out ? 1 : 2;
    return (pair_room){(manifolds ? 2 : 1) * (size_t)list->manifold_capacity,
                       points * (size_t)list->point_capacity,
                       (caches ? 2 : 1) * (size_t)list->cache_capacity,
                       (left_out ? 2 : 1) * (size_t)list->left_out_capacity};
}

static bool is_ball(const rg_placed_collider *p) {
    return p->collider->shape->kind == RG_SHAPE_SPHERE;
}

static bool is_plane(const rg_placed_collider *p) {
    return p->collider->shape->kind == RG_SHAPE_HALFSPACE;
}

/* Two balls about the centres of their bodies that are farther apart than points are looked for,
 * whatever their motion: as in contact_round.c. */
static bool are_apart(const pair_query *q) {
    const rg_placed_collider *b = q->b, *a = q->a;
    if (!is_ball(b) || !is_ball(a) || q->kept.count || b->reach != b->radius ||
        a->reach != a->radius)
        return false;
    double distance = rg_length(rg_sub(a->pose.position, b->pose.position));
    return distance - b->radius - a->radius > q->settings.near;
}

/* Nothing but what the next look starts from. */
static rg_status find_nothing(rg_collision *c, const pair_query *q, rg_contact_list *list) {
    rg_pair_list *found = &c->lists[c->current];
    if (rg_array_grow(&c->allocator, &found->caches, &found->cache_capacity,
                      found->cache_count + 1))
        return RG_OUT_OF_MEMORY;
    /* Of the list, what is read of one without manifolds. */
    list->manifold_count = list->point_count = list->left_out_count = list->bent = 0;
    list->caches = found->caches + found->cache_count;
    list->cache_count = 1;
    list->caches[0] = q->last.count ? q->last.caches[0] : (rg_contact_cache){.part1 = 0};
    return RG_OK;
}

/* A ball over a half-space: the plane is the same for every motion, and the point is found without
 * one. */
static rg_status find_over_plane(rg_collision *c, const pair_query *q, rg_contact_list *list) {
    bool first = is_plane(q->b);
    const rg_placed_collider *plane = first ? q->b : q->a, *ball = first ? q->a : q->b;
    if (make_room(c, &(pair_room){1, 1, 1, 0}, list))
        return RG_OUT_OF_MEMORY;
    list->caches[list->cache_count++] =
        q->last.count ? q->last.caches[0] : (rg_contact_cache){.part1 = 0};
    rg_ball_over_plane over = {.plane = plane->collider->shape,
                               .plane_pose = &plane->pose,
                               .radius = ball->collider->shape->def.radius,
                               .centre = ball->pose.position,
                               .first = first};
    list->manifold_count = list->point_count =
        rg_contact_over_plane(&over, q->settings.near, list->points, list->manifolds);
    return RG_OK;
}

/* Manifolds of a pair, with more room as long as there is too little. */
static rg_status find_manifolds(rg_collision *c, const rg_world *world, const pair_query *q,
                                rg_contact_list *list) {
    if (c->ahead > 0 && are_apart(q))
        return find_nothing(c, q, list);
    if (c->ahead > 0 && (is_plane(q->a) ? is_ball(q->b) : is_plane(q->b) && is_ball(q->a)))
        return find_over_plane(c, q, list);
    rg_pair_motion motion;
    find_motion(c, &world->content, q->b, q->a, &motion);
    motion.kept = q->kept;
    rg_contact_query query;
    query.one.shape = q->b->collider->shape, query.one.pose = q->b->pose;
    query.two.shape = q->a->collider->shape, query.two.pose = q->a->pose;
    query.settings = &q->settings;
    query.arena = &c->arena;
    pair_room room = {4, 64, 8, 8};
    for (;;) {
        if (make_room(c, &room, list))
            return RG_OUT_OF_MEMORY;
        rg_status status =
            rg_contact_parts(&query, motion.time > 0 ? &motion : NULL, q->last, list);
        if (status != RG_LIMIT_EXCEEDED)
            return status;
        room = more_room(list);
    }
}

/* --- pairs that stand still ------------------------------------------------------------------- */

/* The last member of a cache is followed by padding. */
static bool same_caches(rg_cache_list x, rg_cache_list y) {
    bool same = x.count == y.count;
    for (uint32_t i = 0; same && i < x.count; i++)
        same = memcmp(&x.caches[i], &y.caches[i], offsetof(rg_contact_cache, part2)) == 0 &&
               x.caches[i].part2 == y.caches[i].part2;
    return same;
}

/* What would be looked at follows, where nothing moves, from shapes, poses, settings and caches:
 * a plane is then chosen by the beginning alone (contact_plane.c). */
static void describe_look(const pair_query *q, bool still, rg_pair_look *look) {
    if (still) {
        memset(look, 0, sizeof *look); /* compared as a whole */
        look->shape[0] = q->b->collider->shape, look->shape[1] = q->a->collider->shape;
        look->pose[0] = q->b->pose, look->pose[1] = q->a->pose;
    }
    look->settings.near = q->settings.near, look->settings.band = q->settings.band;
    look->settings.stick = q->settings.stick, look->settings.inner = q->settings.inner;
    look->settings.reduce_to = q->settings.reduce_to;
}

/* The place of a pair in the list of the look before, going along. */
static const rg_pair_look *find_look(const rg_pair_list *list, size_t *at, rg_pair_ids ids,
                                     rg_cache_list *caches) {
    while (*at < list->count && rg_pair_compare(list->pairs[*at].ids, ids) < 0)
        ++*at;
    if (*at == list->count || !rg_pair_same(list->pairs[*at].ids, ids))
        return NULL;
    const rg_pair_memory *p = &list->pairs[*at];
    *caches = (rg_cache_list){rg_array_from(list->caches, p->first_cache), p->cache_count};
    return &list->looks[*at];
}

/* Did the look before see the same? */
static bool saw_same(const rg_pair_look *old, rg_cache_list caches, const pair_query *q,
                     const rg_pair_look *look) {
    size_t from = offsetof(rg_pair_look, shape);
    return old && old->holds &&
           memcmp((const char *)old + from, (const char *)look + from, sizeof *old - from) == 0 &&
           same_caches(caches, q->last);
}

/* Did an earlier look of the same step find points, and see as far? There are then no others: poses
 * are the same, and the plane of a pair that has one is not chosen again. What was found for the
 * end of a motion is compared with the end of another one. */
static bool saw_all(const rg_pair_look *old, const rg_kept_manifolds *kept,
                    const rg_contact_settings *now) {
    for (uint32_t i = 0; i < kept->count; i++)
        if (kept->manifolds[i].time > 0 && !kept->manifolds[i].meets)
            return false;
    return old && old->whole && old->manifold_count > 0 && old->settings.near >= now->near &&
           old->settings.band >= now->band && old->settings.inner >= now->inner;
}

/* The manifolds of the look before; false without memory. In a lane there is only room for them:
 * they are copied to their place in the end. */
static bool recall(rg_collision *c, const rg_pair_look *old, rg_cache_list caches,
                   rg_contact_list *list) {
    if (make_room(c, &(pair_room){old->manifold_count, old->point_count, caches.count, 0}, list))
        return false;
    for (uint32_t i = 0; i < old->manifold_count && !c->in_lane; i++) {
        list->manifolds[i] = c->before.manifolds[old->first_manifold + i];
        list->manifolds[i].first_point -= old->first_point;
    }
    if (!c->in_lane && old->point_count > 0) /* there may be no memory for none */
        memcpy(list->points, c->before.points + old->first_point,
               old->point_count * sizeof *list->points);
    if (caches.count > 0)
        memcpy(list->caches, caches.caches, caches.count * sizeof *list->caches);
    list->manifold_count = old->manifold_count, list->point_count = old->point_count;
    list->cache_count = caches.count;
    return true;
}

rg_contact_law rg_collision_law(const rg_collision *c, const rg_world *world,
                                const rg_touch *touch) {
    const rg_collider *b = collider_of(world, touch->collider_b);
    const rg_collider *a = collider_of(world, touch->collider_a);
    rg_contact_law law = rg_world_pair_law(world, b->material, a->material);
    if (c->def.material)
        c->def.material(c->def.material_user, world, touch, &law);
    return rg_contact_law_complete(law);
}

/* The same; most pairs are of the materials of the one before. */
static const rg_contact_law *law_of_touch(rg_collision *c, const rg_world *world,
                                          const rg_touch *touch, rg_material_id b,
                                          rg_material_id a) {
    bool known = c->knows_law && c->law_of[0].index1 == b.index1 && c->law_of[1].index1 == a.index1;
    if (known && !c->def.material)
        return &c->law;
    c->law_of[0] = b, c->law_of[1] = a;
    c->law = rg_collision_law(c, world, touch);
    c->knows_law = true;
    return &c->law;
}

/* Points of a pair begin where those of the pairs before it end. */
static void place_manifolds(const rg_collision *c, const rg_contact_list *list) {
    for (uint32_t i = 0; i < list->manifold_count; i++)
        list->manifolds[i].first_point += (uint32_t)c->now.point_count;
}

static rg_status add_touch(rg_collision *c, const rg_world *world, rg_pair_ids ids,
                           const rg_manifold *manifolds, uint32_t manifold_count) {
    if (rg_array_grow(&c->allocator, &c->now.touches, &c->now.touch_capacity,
                      c->now.touch_count + 1))
        return RG_OUT_OF_MEMORY;
    const rg_collider *b = collider_of(world, ids.b), *a = collider_of(world, ids.a);
    rg_touch *touch = &c->now.touches[c->now.touch_count++];
    /* Field by field: as a whole it would be made elsewhere and copied. */
    touch->collider_b = ids.b, touch->collider_a = ids.a;
    touch->body_b = b->body, touch->body_a = a->body;
    touch->sensor = b->sensor || a->sensor;
    touch->touching = touch->began = false;
    touch->gap = INFINITY;
    touch->first_manifold = (uint32_t)c->now.manifold_count;
    touch->manifold_count = manifold_count;
    for (uint32_t i = 0; i < manifold_count; i++)
        touch->gap = smaller_of(touch->gap, manifolds[i].gap);
    touch->law = *law_of_touch(c, world, touch, b->material, a->material);
    c->min_gap = smaller_of(c->min_gap, touch->gap);
    return RG_OK;
}

/* Where two sorted lists are that pairs are looked up in. */
typedef struct pair_places {
    size_t memory, look;
} pair_places;

/* Room for one more pair: its look, not cleared; null without memory. */
static rg_pair_look *next_look(rg_collision *c) {
    rg_pair_list *found = &c->lists[c->current];
    if (rg_array_grow(&c->allocator, &found->pairs, &found->capacity, found->count + 1) ||
        rg_array_grow(&c->allocator, &found->looks, &found->look_capacity, found->count + 1))
        return NULL;
    return &found->looks[found->count];
}

static void add_pair(rg_collision *c, rg_pair_ids ids, rg_pair_look *look,
                     const rg_contact_list *list) {
    rg_pair_list *found = &c->lists[c->current];
    look->first_manifold = (uint32_t)c->now.manifold_count;
    look->manifold_count = list->manifold_count;
    look->first_point = (uint32_t)c->now.point_count;
    look->point_count = list->point_count;
    found->pairs[found->count++] = (rg_pair_memory){
        .ids = ids, .first_cache = (uint32_t)found->cache_count, .cache_count = list->cache_count};
}

/* Of terrain only triangles are looked at that the motion may reach. */
static bool is_terrain(const rg_placed_collider *p) {
    return p->collider->shape->kind == RG_SHAPE_TERRAIN;
}

static rg_status find_points_of_pair(rg_collision *c, const rg_world *world, pair_places *at,
                                     rg_pair_ids ids) {
    pair_query q; /* field by field: as a whole it would be cleared first */
    q.b = placed_of(c, world, ids.b), q.a = placed_of(c, world, ids.a);
    settings_of_pair(c, world, q.b, q.a, &q.settings);
    rg_pair_look *look = next_look(c);
    if (!look)
        return RG_OUT_OF_MEMORY;
    rg_contact_list list;
    rg_cache_list caches = {0};
    bool still = !c->again && q.b->still && q.a->still;
    const rg_pair_look *old =
        c->again || still ? find_look(&c->lists[1 - c->current], &at->look, ids, &caches) : NULL;
    /* An earlier look of the same step is also what this one starts from. */
    q.last = c->again ? caches : find_memory(&c->last, &at->memory, ids);
    q.kept.count = 0;
    if (c->again && old)
        q.kept = (rg_kept_manifolds){rg_array_from(c->before.manifolds, old->first_manifold),
                                     old->manifold_count, c->before.points};
    describe_look(&q, still, look);
    bool known =
        c->again ? saw_all(old, &q.kept, &q.settings) : still && saw_same(old, caches, &q, look);
    bool same = known && recall(c, old, caches, &list);
    if (same && old->holds)
        memcpy(look, old, sizeof *look); /* with its padding: it is compared */
    else if (same)
        look->settings = old->settings;
    rg_status status = same ? RG_OK : find_manifolds(c, world, &q, &list);
    if (status)
        return status;
    look->whole = list.left_out_count == 0 && !is_terrain(q.b) && !is_terrain(q.a);
    look->holds = (same && old->holds) ||
                  (still && list.left_out_count == 0 &&
                   same_caches(q.last, (rg_cache_list){list.caches, list.cache_count}));
    add_pair(c, ids, look, &list);
    look->in_before = same && c->in_lane;
    if (look->in_before)
        look->first_manifold = old->first_manifold, look->first_point = old->first_point;
    else
        place_manifolds(c, &list);
    if (list.manifold_count)
        status =
            add_touch(c, world, ids,
                      look->in_before ? c->before.manifolds + old->first_manifold : list.manifolds,
                      list.manifold_count);
    c->now.manifold_count += list.manifold_count;
    c->now.point_count += list.point_count;
    c->bent += list.bent;
    c->lists[c->current].cache_count += list.cache_count;
    for (uint32_t i = 0; i < list.left_out_count; i++) {
        rg_part_pair *pair = &c->left_out[c->left_out_count++];
        pair->collider_b = ids.b;
        pair->collider_a = ids.a;
    }
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

/* Metres by which a body may leave the bounds that its velocities of now sweep. */
static double excursion(const rg_world_content *content, const rg_collision_velocities *after,
                        double step, size_t body) {
    double change = rg_length(rg_sub(after->velocity[body], content->velocity[body]));
    double turn = rg_length(rg_sub(after->angular_velocity[body], content->angular_velocity[body]));
    double radius = 0;
    for (uint32_t k = content->record[body].first_collider1; turn > 0 && k != 0;) {
        const rg_collider *collider = &content->collider[content->colliders.slots[k - 1].dense];
        double circumradius = rg_shape_circumradius(collider->shape);
        if (isfinite(circumradius))
            radius = fmax(radius, rg_length(collider->pose.position) + circumradius);
        k = collider->next1;
    }
    return step * (change + turn * radius);
}

typedef struct excursions {
    const rg_world_content *content;
    const rg_collision_velocities *after;
    double step, *leaves;
} excursions;

static void find_excursions(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const excursions *e = user;
    for (size_t i = begin; i < end; i++)
        e->leaves[i] = excursion(e->content, e->after, e->step, i);
}

rg_status rg_collision_begin(rg_collision *c, const rg_world *world, rg_error *error) {
    c->last = read_memory(world);
    rg_collision_forget_marks(c);
    return rg_touching_recall(c, world) ? rg_fail(error, RG_OUT_OF_MEMORY, "contacts: no memory")
                                        : RG_OK;
}

void rg_collision_restrict(rg_collision *c, const uint8_t *member, const uint8_t *moved) {
    c->member = member;
    c->moved = moved;
}

void rg_collision_look_deep(rg_collision *c, bool deep) {
    c->deep = deep;
}

static bool is_looked_at(const rg_collision *c, const rg_world *world, rg_pair_ids ids) {
    const rg_world_content *content = &world->content;
    if (!c->member && !content->joints.count)
        return true;
    size_t a = rg_body_dense(content, collider_of(world, ids.a)->body),
           b = rg_body_dense(content, collider_of(world, ids.b)->body);
    return (!c->member || c->member[a] || c->member[b]) &&
           !(content->joints.count && rg_joints_part(content, a, b));
}

rg_status rg_collision_find_pairs(rg_collision *c, const rg_world *world, double ahead,
                                  const rg_collision_velocities *after, rg_error *error) {
    const rg_world_content *content = &world->content;
    c->ahead = ahead;
    c->after = after;
    c->falling = rg_length(content->gravity) * ahead * ahead;
    rg_arena_mark mark = rg_arena_get_mark(&c->arena);
    double *leaves = after ? rg_arena_take(&c->arena, content->bodies.count, sizeof *leaves) : NULL;
    if (after && !leaves)
        return rg_fail(error, RG_OUT_OF_MEMORY, "contacts: no memory");
    if (after)
        rg_parallel_for(world->pool, content->bodies.count, BODIES_PER_CHUNK, find_excursions,
                        &(excursions){content, after, ahead, leaves});
    /* Where some bounds stay as they were, the others hold what those would have to. */
    double most = 0;
    for (size_t i = 0; after && c->moved && i < content->bodies.count; i++)
        most = fmax(most, leaves[i]);
    for (size_t i = 0; after && c->moved && i < content->bodies.count; i++)
        leaves[i] = most;
    rg_broad_motion motion = {.continuous = ahead > 0,
                              .step = ahead,
                              .margin = contact_range(c, content),
                              .excursion = leaves,
                              .acceleration = rg_length(content->gravity),
                              .moved = c->moved};
    rg_status status = rg_broad_world_update(c->broad, world, &motion);
    rg_arena_return(&c->arena, mark);
    return status ? rg_fail(error, status, "contacts: %s", rg_status_text(status)) : RG_OK;
}

/* --- all pairs -------------------------------------------------------------------------------- */

/* Pairs of a lane, at least: fewer are not worth one. A pair takes 0.3 to 10 microseconds, and the
 * longest of them are next to each other: with 64, by the times of the lanes, two threads take 12 %
 * longer for the points of 1000 bodies that fall. */
enum { PAIRS_PER_LANE = 16, COLLIDERS_PER_CHUNK = 256 };

typedef struct points_job {
    rg_collision *collision;
    const rg_world *world;
    rg_broad_pairs pairs;
    const uint32_t *generations; /* of the slots of colliders */
    pair_places begin[RG_COLLISION_LANES];
} points_job;

static rg_pair_ids ids_at(const points_job *job, size_t i) {
    rg_broad_pair pair = job->pairs.pairs[i];
    return (rg_pair_ids){{pair.a + 1, job->generations[pair.a]},
                         {pair.b + 1, job->generations[pair.b]}};
}

static rg_status look_at_range(rg_collision *c, const points_job *job, pair_places at, size_t begin,
                               size_t end) {
    rg_status status = RG_OK;
    for (size_t i = begin; !status && i < end; i++) {
        rg_pair_ids ids = ids_at(job, i);
        if (is_looked_at(c, job->world, ids))
            status = find_points_of_pair(c, job->world, &at, ids);
    }
    return status;
}

static void look_in_lane(void *user, size_t begin, size_t end, size_t lane) {
    const points_job *job = user;
    rg_collision_lane *own = &job->collision->lanes[lane];
    rg_collision found = rg_collision_enter_lane(job->collision, own);
    rg_status status = look_at_range(&found, job, job->begin[lane], begin, end);
    rg_collision_leave_lane(&found, status, own);
}

static void place_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const points_job *job = user;
    const rg_collision *c = job->collision;
    const rg_world_content *content = &job->world->content;
    for (size_t i = begin; i < end; i++) {
        if (!c->is_placed[i])
            continue;
        place_collider(content, &content->collider[i], &c->placed[i]);
    }
}

/* All colliders that a pair asks for, before the lanes do. */
static void place_all(points_job *job) {
    const rg_collision *c = job->collision;
    const rg_handle_pool *colliders = &job->world->content.colliders;
    bool few = 2 * job->pairs.count < colliders->count; /* of many, to ask takes longer */
    memset(c->is_placed, !few, colliders->count * sizeof *c->is_placed);
    for (size_t i = 0; few && i < job->pairs.count; i++) {
        rg_pair_ids ids = ids_at(job, i);
        c->is_placed[rg_handle_index(colliders, RG_HANDLE(ids.b))] = 1;
        c->is_placed[rg_handle_index(colliders, RG_HANDLE(ids.a))] = 1;
    }
    rg_parallel_for(job->world->pool, colliders->count, COLLIDERS_PER_CHUNK, place_range, job);
}

/* Where the sorted lists are at the first pair of each lane. */
static void find_places(points_job *job, size_t grain, size_t lanes) {
    const rg_collision *c = job->collision;
    const rg_pair_list *looks = &c->lists[1 - c->current];
    pair_places at = {0};
    for (size_t i = 0; i < lanes; i++) {
        rg_pair_ids ids = ids_at(job, i * grain);
        rg_cache_list caches;
        find_memory(&c->last, &at.memory, ids);
        at.memory -= at.memory > 0 && rg_pair_compare(c->last.pairs[at.memory - 1].ids, ids) == 0;
        find_look(looks, &at.look, ids, &caches);
        job->begin[i] = at;
    }
}

/* Side by side where that pays and nothing of the program is called on the way. */
static rg_status look_at_pairs(rg_collision *c, const rg_world *world, rg_broad_pairs pairs) {
    points_job job = {.collision = c,
                      .world = world,
                      .pairs = pairs,
                      .generations = rg_broad_world_generations(c->broad)};
    size_t grain = rg_chunk_count(pairs.count, RG_COLLISION_LANES);
    grain = grain > PAIRS_PER_LANE ? grain : PAIRS_PER_LANE;
    size_t lanes = rg_chunk_count(pairs.count, grain);
    if (lanes < 2 || rg_pool_threads(world->pool) < 2 || c->def.material || !rg_collision_lanes(c))
        return look_at_range(c, &job, (pair_places){0}, 0, pairs.count);
    place_all(&job);
    find_places(&job, grain, lanes);
    rg_parallel_for(world->pool, pairs.count, grain, look_in_lane, &job);
    return rg_collision_append_lanes(c, lanes, world->pool);
}

rg_status rg_collision_find_points(rg_collision *c, const rg_world *world, bool again,
                                   rg_error *error) {
    rg_arena_reset(&c->arena);
    rg_contact_look swap = c->before;
    c->before = c->now;
    c->now = swap;
    c->again = again && c->after;
    c->current = 1 - c->current; /* the other list may be what this look starts from */
    rg_pair_list *found = &c->lists[c->current];
    found->count = found->cache_count = 0;
    c->now.touch_count = c->ended_count = 0;
    c->now.manifold_count = c->now.point_count = c->left_out_count = c->bent = 0;
    c->min_gap = INFINITY;
    rg_status status = place_colliders(c, &world->content);
    if (!status)
        status = look_at_pairs(c, world, rg_broad_pairs_all(rg_broad_world_pairs(c->broad)));
    if (status) {
        c->last = (rg_pair_view){0};
        return rg_fail(error, status, "contacts: %s", rg_status_text(status));
    }
    c->last = view_of(found);
    return RG_OK;
}

rg_status rg_collision_update(rg_collision *c, const rg_world *world, double ahead,
                              rg_error *error) {
    assert(c && world);
    if (!(ahead >= 0 && isfinite(ahead)))
        return rg_fail(error, RG_INVALID_ARGUMENT, "ahead: %g s; it must not be negative", ahead);
    rg_status status = rg_collision_find_pairs(c, world, ahead, NULL, error);
    if (!status)
        status = rg_collision_find_points(c, world, false, error);
    if (!status && rg_touching_find(c, world))
        status = rg_fail(error, RG_OUT_OF_MEMORY, "contacts: no memory");
    if (!status)
        rg_touching_keep(c);
    return status;
}

rg_status rg_collision_store(rg_collision *c, rg_world *world) {
    const rg_pair_list *found = &c->lists[c->current];
    if (rg_touching_find(c, world))
        return RG_OUT_OF_MEMORY;
    size_t held = world->content.memory[RG_MEMORY_CONTACTS].size;
    char *at = rg_memory_resize(world, RG_MEMORY_CONTACTS, memory_size(found));
    if (!at)
        return RG_OUT_OF_MEMORY;
    if (rg_touching_store(c, world)) {
        rg_memory_resize(world, RG_MEMORY_CONTACTS, held);
        return RG_OUT_OF_MEMORY;
    }
    write_memory(found, at);
    return RG_OK;
}

const rg_part_pair *rg_collision_left_out(const rg_collision *c, size_t *count) {
    *count = c->left_out_count;
    return c->left_out;
}

size_t rg_collision_bent(const rg_collision *c) {
    return c->bent;
}

rg_collision_view rg_collision_get(const rg_collision *c) {
    if (!c)
        return (rg_collision_view){.min_gap = INFINITY};
    return (rg_collision_view){.touches = c->now.touches,
                               .touch_count = c->now.touch_count,
                               .manifolds = c->now.manifolds,
                               .manifold_count = c->now.manifold_count,
                               .points = c->now.points,
                               .point_count = c->now.point_count,
                               .ended = c->ended,
                               .ended_count = c->ended_count,
                               .candidate_pairs = c->lists[c->current].count,
                               .min_gap = c->min_gap,
                               .left_out = c->left_out_count};
}

size_t rg_collision_of_body(const rg_collision *c, rg_body_id body, uint32_t *touches,
                            size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; i < c->now.touch_count; i++) {
        const rg_touch *t = &c->now.touches[i];
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
