/* Colliders: shapes attached to bodies at a local pose, kept densely in one array and chained per
 * body in the order of attachment, by slots, which removal of others does not change.
 * Tested by tests/step/test_world.c. */
#include "world/world.h"

#include "base/base_text.h"
#include "rigor/version.h"

#include <assert.h>

/* The y of a unit normal that lies in the x-z plane, rounding of its rotation included. */
#define OUT_OF_PLANE 1e-12

rg_status rg_collider_check(const rg_world *world, const rg_collider_def *def, rg_motion motion,
                            rg_error *error) {
    rg_status status = rg_check_version(def->api_version, "rg_collider_def", error);
    if (status)
        return status;
    if (!def->shape)
        return rg_fail(error, RG_INVALID_ARGUMENT, "shape: a collider needs one");
    if (!rg_pose_is_finite(def->pose))
        return rg_fail(error, RG_NOT_FINITE, "shape: its pose is not finite");
    if (fabs(rg_quat_norm_squared(def->pose.orientation) - 1) > RG_QUATERNION_TOLERANCE)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "shape: the orientation of its pose is not a unit quaternion");
    status = rg_vector_check("shape: the position of its pose", def->pose.position, error);
    if (!status)
        status = rg_vector_check("surface_velocity", def->surface_velocity, error);
    if (status)
        return status;
    if (!(isfinite(def->density) && def->density >= 0))
        return rg_fail(error, RG_INVALID_SIZE, "density: %g; a density must be positive",
                       def->density);
    if (def->material.index1 > world->content.material_count)
        return rg_fail(error, RG_INVALID_HANDLE, "material: there is no material %u",
                       def->material.index1);
    bool unbounded = !rg_shape_is_bounded(def->shape);
    if (unbounded && motion == RG_MOTION_DYNAMIC)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "shape: a %s has no finite mass; its body must be fixed",
                       rg_shape_kind_name(rg_shape_get_kind(def->shape)));
    if (rg_shape_get_kind(def->shape) == RG_SHAPE_TERRAIN && motion != RG_MOTION_FIXED)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "shape: a terrain does not move; its body must be fixed");
    if (world->content.planar) {
        rg_vec3 normal = rg_rotate(def->pose.orientation, rg_shape_get_def(def->shape).normal);
        if (unbounded ? fabs(normal.y) > OUT_OF_PLANE : !rg_shape_is_planar(def->shape))
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "shape: a %s does not fit into a planar world; use a polygon, a disc or "
                           "a half-space whose normal lies in the x-z plane",
                           rg_shape_kind_name(rg_shape_get_kind(def->shape)));
        if (def->pose.position.y != 0 || def->pose.orientation.x != 0 ||
            def->pose.orientation.z != 0)
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "shape: its pose leaves the x-z plane of the planar world");
    } else if (rg_shape_is_planar(def->shape)) {
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "shape: a %s is planar; say planar: true, or use a spatial shape",
                       rg_shape_kind_name(rg_shape_get_kind(def->shape)));
    }
    return RG_OK;
}

static rg_pose unit_pose(rg_pose pose) {
    pose.orientation = rg_quat_made_unit(pose.orientation);
    return pose;
}

rg_status rg_colliders_mass(const rg_collider_def *defs, size_t count, rg_mass_properties *mass) {
    *mass = (rg_mass_properties){0};
    for (size_t i = 0; i < count; i++) {
        const rg_collider_def *def = &defs[i];
        if (def->sensor || def->density == 0 || !rg_shape_is_bounded(def->shape))
            continue;
        rg_mass_properties one =
            rg_mass_transform(rg_shape_mass(def->shape, def->density), unit_pose(def->pose));
        if (!isfinite(one.mass))
            return RG_NOT_FINITE;
        *mass = mass->mass > 0 ? rg_mass_add(*mass, one) : one;
    }
    return RG_OK;
}

static rg_collider *collider_of_slot(rg_world_content *content, uint32_t slot1) {
    return &content->collider[content->colliders.slots[slot1 - 1].dense];
}

rg_status rg_collider_attach(rg_world *world, size_t body, const rg_collider_def *def,
                             rg_collider_id *collider) {
    rg_world_content *content = &world->content;
    rg_handle handle;
    rg_status status = rg_array_grow(&world->allocator, &content->collider,
                                     &content->collider_capacity, content->colliders.count + 1);
    if (!status)
        status = rg_handle_add(&content->colliders, &world->allocator, &handle);
    if (status)
        return status;
    rg_body_record *record = &content->record[body];
    content->collider[content->colliders.count - 1] =
        (rg_collider){.shape = rg_shape_retain(def->shape),
                      .pose = unit_pose(def->pose),
                      .material = def->material,
                      .density = def->density,
                      .sensor = def->sensor,
                      .category = def->category,
                      .mask = def->mask,
                      .user = def->user,
                      .surface_velocity = def->surface_velocity,
                      .body = rg_body_id_at(content, body),
                      .previous1 = record->last_collider1};
    if (record->last_collider1)
        collider_of_slot(content, record->last_collider1)->next1 = handle.index1;
    else
        record->first_collider1 = handle.index1;
    record->last_collider1 = handle.index1;
    record->collider_count++;
    *collider = (rg_collider_id){handle.index1, handle.generation};
    return RG_OK;
}

void rg_collider_detach(rg_world *world, rg_collider_id collider) {
    rg_world_content *content = &world->content;
    rg_collider *c = collider_of_slot(content, collider.index1);
    rg_body_record *record = &content->record[rg_body_dense(content, c->body)];
    *(c->previous1 ? &collider_of_slot(content, c->previous1)->next1 : &record->first_collider1) =
        c->next1;
    *(c->next1 ? &collider_of_slot(content, c->next1)->previous1 : &record->last_collider1) =
        c->previous1;
    record->collider_count--;
    rg_shape_release(c->shape);
    size_t hole, last;
    rg_handle_remove(&content->colliders, RG_HANDLE(collider), &hole, &last);
    content->collider[hole] = content->collider[last];
}

rg_status rg_world_add_collider(rg_world *world, rg_body_id body, const rg_collider_def *def,
                                rg_collider_id *collider, rg_error *error) {
    assert(world && def && collider);
    *collider = (rg_collider_id){0, 0};
    if (!rg_body_exists(world, body))
        return rg_fail(error, RG_INVALID_HANDLE, "body: %s", rg_status_text(RG_INVALID_HANDLE));
    size_t i = rg_body_dense(&world->content, body);
    rg_status status = rg_collider_check(world, def, world->content.record[i].motion, error);
    if (status)
        return status;
    status = rg_world_begin_edit(world);
    if (status)
        return rg_fail(error, status, "collider: %s", rg_status_text(status));
    status = rg_collider_attach(world, i, def, collider);
    if (status) {
        rg_world_cancel_edit(world);
        return rg_fail(error, status, "collider: %s", rg_status_text(status));
    }
    status = rg_body_refresh_mass(world, i, error);
    if (status) {
        rg_collider_detach(world, *collider);
        rg_world_cancel_edit(world);
        *collider = (rg_collider_id){0, 0};
    }
    return status;
}

/* A body that would be left without mass keeps its collider. */
rg_status rg_world_remove_collider(rg_world *world, rg_collider_id collider) {
    rg_status status = rg_world_begin_edit_of(world, rg_collider_exists(world, collider));
    if (status)
        return status;
    rg_collider *c = collider_of_slot(&world->content, collider.index1);
    size_t i = rg_body_dense(&world->content, c->body);
    double density = c->density;
    c->density = 0;
    status = rg_body_refresh_mass(world, i, NULL);
    if (status) {
        c->density = density;
        rg_world_cancel_edit(world);
        return status;
    }
    rg_collider_detach(world, collider);
    return RG_OK;
}

bool rg_collider_exists(const rg_world *world, rg_collider_id collider) {
    return rg_handle_exists(&world->content.colliders, RG_HANDLE(collider));
}

size_t rg_body_collider_count(const rg_world *world, rg_body_id body) {
    return world->content.record[rg_body_dense(&world->content, body)].collider_count;
}

rg_collider_id rg_body_collider_at(const rg_world *world, rg_body_id body, size_t index) {
    const rg_world_content *content = &world->content;
    uint32_t slot1 = content->record[rg_body_dense(content, body)].first_collider1;
    for (; slot1 && index; index--)
        slot1 = content->collider[content->colliders.slots[slot1 - 1].dense].next1;
    assert(slot1);
    return (rg_collider_id){slot1, content->colliders.slots[slot1 - 1].generation};
}

static rg_collider *collider_at(const rg_world *world, rg_collider_id collider) {
    return &world->content
                .collider[rg_handle_index(&world->content.colliders, RG_HANDLE(collider))];
}

rg_collider_def rg_collider_get_def(const rg_world *world, rg_collider_id collider) {
    const rg_collider *c = collider_at(world, collider);
    return (rg_collider_def){.api_version = RG_API_VERSION,
                             .shape = c->shape,
                             .pose = c->pose,
                             .material = c->material,
                             .density = c->density,
                             .sensor = c->sensor,
                             .category = c->category,
                             .mask = c->mask,
                             .user = c->user,
                             .surface_velocity = c->surface_velocity};
}

rg_body_id rg_collider_body(const rg_world *world, rg_collider_id collider) {
    return collider_at(world, collider)->body;
}

void *rg_collider_user(const rg_world *world, rg_collider_id collider) {
    return collider_at(world, collider)->user;
}

rg_status rg_collider_set_user(rg_world *world, rg_collider_id collider, void *user) {
    if (!rg_collider_exists(world, collider))
        return RG_INVALID_HANDLE;
    collider_at(world, collider)->user = user;
    return RG_OK;
}

rg_status rg_collider_set_filter(rg_world *world, rg_collider_id collider, uint64_t category,
                                 uint64_t mask) {
    rg_status status = rg_world_begin_edit_of(world, rg_collider_exists(world, collider));
    if (!status) {
        collider_at(world, collider)->category = category;
        collider_at(world, collider)->mask = mask;
    }
    return status;
}

rg_status rg_collider_set_material(rg_world *world, rg_collider_id collider,
                                   rg_material_id material) {
    if (!rg_collider_exists(world, collider) || material.index1 > world->content.material_count)
        return RG_INVALID_HANDLE;
    rg_status status = rg_world_begin_edit(world);
    if (!status)
        collider_at(world, collider)->material = material;
    return status;
}

rg_status rg_collider_set_surface_velocity(rg_world *world, rg_collider_id collider,
                                           rg_vec3 velocity) {
    if (!rg_collider_exists(world, collider))
        return RG_INVALID_HANDLE;
    rg_status status = rg_vector_check("surface_velocity", velocity, NULL);
    if (!status)
        status = rg_world_begin_edit(world);
    if (!status)
        collider_at(world, collider)->surface_velocity = velocity;
    return status;
}
