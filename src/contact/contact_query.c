/* Questions to a world: every collider whose box is in the way is asked in turn, in the order of
 * the bodies; among equals the first one wins. Compounds are asked part by part.
 * Tested by tests/step/test_collision.c. */
#include "base/base_math.h"
#include "broad/broad.h"
#include "rigor/collision.h"
#include "shape/shape_terrain.h"
#include "world/world.h"

#include <assert.h>

rg_query_filter rg_query_filter_default(void) {
    return (rg_query_filter){0};
}

/* A convex part of a collider under its pose in the world. */
typedef struct placed_part {
    const rg_shape *shape;
    rg_pose pose;
    size_t number;
} placed_part;

typedef struct question question;
/* Asks one part; `collider` is its index. */
typedef rg_status part_question(question *q, size_t collider, const placed_part *part);

struct question {
    const rg_world *world;
    rg_query_filter filter;
    rg_bounds reach; /* colliders whose boxes do not meet it are passed over */
    part_question *ask;
    const rg_shape *shape;
    rg_pose pose;
    rg_vec3 translation;
    double length, tolerance;
    bool found;
    rg_world_hit *hit;
    rg_collider_id *colliders;
    size_t capacity, count;
    bool counted; /* this collider, already */
};

static bool is_seen(const question *q, const rg_collider *collider) {
    const rg_body_id *ignore = &q->filter.ignore;
    return (q->filter.mask == 0 || (collider->category & q->filter.mask)) &&
           (q->filter.sensors || !collider->sensor) &&
           !(ignore->index1 && ignore->index1 == collider->body.index1 &&
             ignore->generation == collider->body.generation);
}

typedef struct terrain_question {
    question *q;
    size_t collider;
    const rg_shape *terrain;
    rg_pose pose;
    rg_status status;
} terrain_question;

static bool ask_triangle(void *user, uint32_t triangle) {
    terrain_question *t = user;
    rg_terrain_room room;
    const rg_shape *prism = rg_terrain_part(t->terrain, triangle, &room);
    t->status = t->q->ask(t->q, t->collider, &(placed_part){prism, t->pose, triangle});
    return t->status == RG_OK;
}

static rg_status ask_terrain(question *q, size_t i, const rg_shape *shape, rg_pose pose) {
    terrain_question t = {q, i, shape, pose, RG_OK};
    rg_bounds reach = rg_bounds_into(&q->reach, pose);
    rg_terrain_visit(shape, &reach, ask_triangle, &t);
    return t.status;
}

static rg_status ask_parts(question *q, size_t i, const rg_shape *shape, rg_pose pose) {
    if (rg_shape_get_kind(shape) == RG_SHAPE_TERRAIN)
        return ask_terrain(q, i, shape, pose);
    if (rg_shape_get_kind(shape) != RG_SHAPE_COMPOUND)
        return q->ask(q, i, &(placed_part){shape, pose, 0});
    rg_shape_def def = rg_shape_get_def(shape);
    rg_status status = RG_OK;
    for (size_t k = 0; !status && k < def.part_count; k++)
        status = q->ask(
            q, i, &(placed_part){def.parts[k].shape, rg_pose_compose(pose, def.parts[k].pose), k});
    return status;
}

static rg_status ask_all(question *q) {
    const rg_world_content *c = &q->world->content;
    rg_status status = RG_OK;
    for (size_t i = 0; !status && i < c->colliders.count; i++) {
        const rg_collider *collider = &c->collider[i];
        if (!is_seen(q, collider))
            continue;
        rg_pose origin = rg_body_origin_pose(c, rg_body_dense(c, collider->body));
        rg_pose pose = rg_pose_compose(origin, collider->pose);
        rg_bounds bounds = rg_shape_bounds(collider->shape, pose);
        q->counted = false;
        if (rg_bounds_overlap(&bounds, &q->reach))
            status = ask_parts(q, i, collider->shape, pose);
    }
    return status;
}

static void keep_hit(question *q, size_t i, const placed_part *part, double distance, rg_vec3 point,
                     rg_vec3 normal) {
    rg_handle handle = rg_handle_at(&q->world->content.colliders, i);
    *q->hit = (rg_world_hit){.collider = {handle.index1, handle.generation},
                             .body = q->world->content.collider[i].body,
                             .distance = distance,
                             .point = point,
                             .normal = normal,
                             .part = part->number};
    q->found = true;
}

static question make_question(const rg_world *world, const rg_query_filter *filter,
                              part_question *ask) {
    return (question){
        .world = world, .filter = filter ? *filter : rg_query_filter_default(), .ask = ask};
}

/* The box of a box moved along a vector. */
static rg_bounds moved_along(rg_bounds b, rg_vec3 v) {
    rg_vec3 none = {0, 0, 0};
    return (rg_bounds){rg_add(b.lower, rg_min(v, none)), rg_add(b.upper, rg_max(v, none))};
}

/* --- rays ------------------------------------------------------------------------------------- */

static rg_status ask_ray(question *q, size_t i, const placed_part *part) {
    rg_ray_hit hit;
    double most = q->found ? q->hit->distance : q->length;
    if (rg_shape_cast_ray(part->shape, part->pose, q->pose.position, q->translation, most, &hit) &&
        (!q->found || hit.distance < q->hit->distance))
        keep_hit(q, i, part, hit.distance, hit.point, hit.normal);
    return RG_OK;
}

bool rg_world_cast_ray(const rg_world *world, rg_vec3 origin, rg_vec3 direction,
                       double max_distance, const rg_query_filter *filter, rg_world_hit *hit) {
    assert(world && hit);
    question q = make_question(world, filter, ask_ray);
    rg_vec3 unit = rg_normalised(direction);
    q.pose.position = origin;
    q.translation = unit;
    q.length = max_distance;
    q.hit = hit;
    rg_vec3 reach = isfinite(max_distance) ? rg_scale(max_distance, unit)
                                           : (rg_vec3){unit.x == 0 ? 0 : unit.x * INFINITY,
                                                       unit.y == 0 ? 0 : unit.y * INFINITY,
                                                       unit.z == 0 ? 0 : unit.z * INFINITY};
    q.reach = moved_along((rg_bounds){origin, origin}, reach);
    ask_all(&q);
    return q.found;
}

/* --- moving shapes ---------------------------------------------------------------------------- */

static rg_status ask_cast(question *q, size_t i, const placed_part *part) {
    double length = rg_length(q->translation);
    rg_linear_motion rest = {.start = part->pose};
    rg_linear_motion motion = {.start = q->pose, .velocity = q->translation};
    rg_path still = rg_path_linear(&rest), moving = rg_path_linear(&motion);
    rg_first_contact_settings settings = rg_first_contact_settings_default(q->tolerance);
    rg_first_contact contact;
    double end = q->found && length > 0 ? q->hit->distance / length : 1;
    rg_status status =
        rg_first_contact_between((rg_moving_shape){part->shape, &still},
                                 (rg_moving_shape){q->shape, &moving}, 0, end, &settings, &contact);
    if (status || contact.result == RG_FIRST_CONTACT_NONE)
        return status;
    double distance = contact.time * length;
    if (q->found && distance >= q->hit->distance)
        return RG_OK;
    bool inside = contact.growth.gap <= 0;
    keep_hit(q, i, part, distance, contact.growth.on1,
             inside ? (rg_vec3){0, 0, 0} : contact.growth.normal);
    return RG_OK;
}

static rg_status begin_shape_question(question *q, const rg_shape *shape, rg_pose pose) {
    if (!rg_shape_is_convex(shape) || !rg_shape_is_bounded(shape) || !rg_pose_is_finite(pose))
        return RG_INVALID_ARGUMENT;
    q->shape = shape;
    q->pose = pose;
    q->reach = rg_shape_bounds(shape, pose);
    return RG_OK;
}

rg_status rg_world_cast_shape(const rg_world *world, const rg_shape_cast *cast,
                              const rg_query_filter *filter, bool *found, rg_world_hit *hit) {
    assert(world && cast && cast->shape && found && hit);
    *found = false;
    question q = make_question(world, filter, ask_cast);
    rg_status status = begin_shape_question(&q, cast->shape, cast->pose);
    if (status || !rg_is_finite(cast->translation) || !(cast->tolerance > 0))
        return RG_INVALID_ARGUMENT;
    q.reach = rg_bounds_enlarged(moved_along(q.reach, cast->translation), cast->tolerance);
    q.translation = cast->translation;
    q.tolerance = cast->tolerance;
    q.hit = hit;
    status = ask_all(&q);
    *found = q.found;
    return status;
}

/* --- overlap and nearness --------------------------------------------------------------------- */

static rg_status ask_overlap(question *q, size_t i, const placed_part *part) {
    rg_growth growth;
    if (q->counted)
        return RG_OK;
    rg_status status = rg_growth_between(part->shape, part->pose, q->shape, q->pose, NULL, &growth);
    if (status || growth.gap > 0)
        return status;
    rg_handle handle = rg_handle_at(&q->world->content.colliders, i);
    if (q->count < q->capacity)
        q->colliders[q->count] = (rg_collider_id){handle.index1, handle.generation};
    q->count++;
    q->counted = true;
    return RG_OK;
}

rg_status rg_world_overlap(const rg_world *world, const rg_shape *shape, rg_pose pose,
                           const rg_query_filter *filter, rg_collider_id *colliders,
                           size_t capacity, size_t *count) {
    assert(world && shape && count && (colliders || !capacity));
    question q = make_question(world, filter, ask_overlap);
    q.colliders = colliders;
    q.capacity = capacity;
    rg_status status = begin_shape_question(&q, shape, pose);
    if (!status)
        status = ask_all(&q);
    *count = q.count;
    return status;
}

static rg_status ask_closest(question *q, size_t i, const placed_part *part) {
    rg_distance distance;
    rg_status status =
        rg_distance_between(part->shape, part->pose, q->shape, q->pose, NULL, &distance);
    double most = q->found ? q->hit->distance : q->length;
    if (status || distance.distance > most || (q->found && distance.distance == most))
        return status;
    keep_hit(q, i, part, distance.distance, distance.on1, distance.normal);
    /* What lies farther away than the best so far need not be asked. */
    q->reach = rg_bounds_enlarged(rg_shape_bounds(q->shape, q->pose), distance.distance);
    return RG_OK;
}

rg_status rg_world_closest(const rg_world *world, const rg_shape *shape, rg_pose pose,
                           double max_distance, const rg_query_filter *filter, bool *found,
                           rg_world_hit *hit) {
    assert(world && shape && found && hit);
    *found = false;
    question q = make_question(world, filter, ask_closest);
    rg_status status = begin_shape_question(&q, shape, pose);
    if (status || !(max_distance >= 0))
        return RG_INVALID_ARGUMENT;
    q.length = max_distance;
    q.reach = rg_bounds_enlarged(q.reach, max_distance);
    q.hit = hit;
    status = ask_all(&q);
    *found = q.found;
    return status;
}
