/* Loads: what forces besides gravity, contact and joints do to bodies now, one by one, for those
 * who draw or record them. The formulas are those of world_force.c, evaluated with nothing else in
 * the context, so that a load is what a step would add for that force.
 *
 * How it fails: no memory; inside a step, where the room is not the caller's.
 * Tested by tests/step/test_loads.c. */
#include "world/world.h"

#include "base/base_math.h"

#include <assert.h>
#include <string.h>

void rg_applied_end(rg_world_content *content) {
    size_t size = content->bodies.count * sizeof(rg_vec3);
    content->has_acted = content->has_applied;
    if (!content->has_applied)
        return;
    content->has_applied = false;
    if (size == 0) /* those pushed are gone: there may be no memory */
        return;
    memcpy(content->acted_force, content->applied_force, size);
    memcpy(content->acted_torque, content->applied_torque, size);
    memset(content->applied_force, 0, size);
    memset(content->applied_torque, 0, size);
}

void rg_loads_free(rg_world *world) {
    rg_release(&world->allocator, world->load);
    rg_release(&world->allocator, world->load_room);
}

/* In planar worlds what leaves the plane does nothing. */
static rg_status put(rg_world *world, rg_load load, size_t *count) {
    if (world->content.planar)
        load.vector.y = load.torque.x = load.torque.z = 0;
    if (rg_is_zero(load.vector) && rg_is_zero(load.torque))
        return RG_OK;
    rg_status status =
        rg_array_grow(&world->allocator, &world->load, &world->load_capacity, *count + 1);
    if (!status)
        world->load[(*count)++] = load;
    return status;
}

/* Where a force with a point acts on a body; false: at the centre of mass. */
static bool acts_at(const rg_world_content *c, const rg_force_def *def, size_t i, rg_vec3 *point) {
    rg_body_id body = rg_body_id_at(c, i);
    bool second = def->kind == RG_FORCE_SPRING && body.index1 == def->other.index1;
    if (def->kind != RG_FORCE_SPRING && def->kind != RG_FORCE_CONSTANT)
        return false;
    *point = rg_pose_apply(rg_body_origin_pose(c, i), second ? def->other_point : def->point);
    return true;
}

/* The bodies that the force in the context acts on. */
static rg_status put_all(rg_world *world, const rg_force_context *context, rg_load load,
                         const rg_force_def *def, size_t *count) {
    const rg_world_content *c = &world->content;
    rg_status status = RG_OK;
    for (size_t i = 0; i < c->bodies.count && !status; i++) {
        load.body = rg_body_id_at(c, i);
        load.point = c->position[i];
        load.vector = context->force[i];
        load.torque = context->torque[i];
        if (def && acts_at(c, def, i, &load.point)) {
            bool acts = !rg_is_zero(load.vector) || !rg_is_zero(load.torque);
            load.torque = acts && def->kind == RG_FORCE_CONSTANT ? def->torque : (rg_vec3){0, 0, 0};
        }
        status = put(world, load, count);
    }
    return status;
}

static rg_status put_forces(rg_world *world, rg_force_context *context, size_t *count) {
    const rg_world_content *c = &world->content;
    rg_status status = RG_OK;
    for (size_t k = 0; k < c->forces.count && !status; k++) {
        rg_force_def def = rg_force_at_time(&c->force[k], c->time);
        if (!(c->time >= def.start_time && c->time < def.stop_time))
            continue;
        memset(context->force, 0, 2 * c->bodies.count * sizeof(rg_vec3));
        rg_force_add(c, &def, context);
        rg_load load = {.force = rg_world_force_at(world, k), .kind = def.kind};
        status = put_all(world, context, load, &def, count);
    }
    return status;
}

rg_status rg_world_find_loads(rg_world *world, const rg_load **loads, size_t *count) {
    assert(world && loads && count);
    const rg_world_content *c = &world->content;
    size_t n = c->bodies.count;
    *loads = world->load;
    *count = 0;
    if (world->busy)
        return RG_BUSY;
    if (n == 0 || (c->forces.count == 0 && !c->has_acted))
        return RG_OK;
    rg_status status =
        rg_array_grow(&world->allocator, &world->load_room, &world->load_room_capacity, 2 * n);
    if (status)
        return status;
    rg_force_context context = rg_forces_context(world, world->load_room, world->load_room + n);
    world->busy = true; /* functions may look at the world, not change it */
    status = put_forces(world, &context, count);
    world->busy = false;
    context.force = c->acted_force;
    context.torque = c->acted_torque;
    if (!status && c->has_acted)
        status = put_all(world, &context, (rg_load){.kind = RG_FORCE_KIND_COUNT}, NULL, count);
    *loads = world->load;
    return status;
}
