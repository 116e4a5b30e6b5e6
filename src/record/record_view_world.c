/* A running world as the viewer sees it: its manifest, and its state now as a chunk of one frame,
 * neither coded nor compressed, for a live view. The frame is written straight into the caller's
 * buffer, so that a stream of frames makes no heap calls once the buffer is large enough.
 * Tested by tests/record/test_view.c. */
#include "record/record_view.h"

#include "base/base_math.h"
#include "base/base_text.h"
#include "record/record_rows.h"

#include <assert.h>

rg_status rg_view_world_manifest(rg_scene *scene, rg_view_buffer *json, rg_error *error) {
    assert(scene && json);
    rg_buffer out = rg_view_borrow(json);
    rg_status status =
        rg_manifest_write(&out, scene, rg_scene_name(scene), NULL, &json->allocator, error);
    rg_status returned = rg_view_return(json, &out, error);
    return status != RG_OK ? status : returned;
}

/* Writes all bodies; returns their kinetic energy. */
static double put_bodies(const rg_world *world, const rg_chunk_layout *layout, unsigned char *raw) {
    double kinetic = 0;
    bool planar = rg_world_is_planar(world);
    for (size_t i = 0; i < layout->bodies; i++) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_pose pose = rg_body_pose(world, body);
        rg_vec3 velocity = rg_body_velocity(world, body);
        rg_vec3 angular = rg_body_angular_velocity(world, body);
        rg_chunk_put_body(layout, raw, 0, i, &pose, &velocity, &angular);
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        rg_mass_properties mass = rg_body_mass(world, body);
        kinetic += rg_kinetic_energy(&mass, 1, planar, &pose.orientation, &velocity, &angular);
    }
    return kinetic;
}

/* Joints that act on bodies: as loads. Without `raw` they are counted. */
static size_t put_loads(const rg_world *world, const rg_load *loads, size_t count,
                        const rg_chunk_layout *layout, unsigned char *raw) {
    rg_chunk_load both[2];
    size_t done = 0;
    for (size_t i = 0; i < count; i++, done++) {
        rg_recorded_load row = rg_rows_load(world, &loads[i]);
        rg_chunk_load load = rg_chunk_load_of_force(&row);
        if (raw)
            rg_chunk_put_load(layout, raw, done, &load);
    }
    for (size_t i = 0; i < rg_world_joint_count(world); i++) {
        rg_recorded_joint joint = rg_rows_joint(world, i);
        size_t sides = rg_chunk_loads_of_joint(&joint, both);
        for (size_t k = 0; k < sides; k++, done++)
            if (raw)
                rg_chunk_put_load(layout, raw, done, &both[k]);
    }
    if (raw)
        rg_chunk_put_load_count(layout, raw, 0, done);
    return done;
}

static void put_contacts(const rg_world *world, const rg_chunk_layout *layout, unsigned char *raw) {
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    rg_recorded_contact contact;
    rg_chunk_put_contact_count(layout, raw, 0, layout->contacts);
    size_t k = 0;
    for (size_t i = 0; i < count; i++)
        if (rg_rows_contact(world, &forces[i], &contact))
            rg_chunk_put_contact(layout, raw, k++, &contact, 23);
    for (size_t i = 0; i < rg_rows_touch_count(world); i++)
        if (rg_rows_sensor(world, i, &contact))
            rg_chunk_put_contact(layout, raw, k++, &contact, 23);
}

static size_t count_contacts(const rg_world *world) {
    size_t count, shown = 0;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    rg_recorded_contact contact;
    for (size_t i = 0; i < count; i++)
        shown += rg_rows_contact(world, &forces[i], &contact);
    for (size_t i = 0; i < rg_rows_touch_count(world); i++)
        shown += rg_rows_sensor(world, i, &contact);
    return shown;
}

rg_status rg_view_world_frame(rg_world *world, uint32_t index, const rg_step_info *sums,
                              const rg_step_info *last, rg_view_buffer *chunk, rg_error *error) {
    assert(world && chunk);
    const rg_load *loads;
    size_t load_count;
    rg_status status = rg_world_find_loads(world, &loads, &load_count);
    if (status)
        return rg_fail(error, status, "forces: %s", rg_status_text(status));
    rg_chunk_layout layout;
    rg_chunk_size size = {.first = index,
                          .frames = 1,
                          .bodies = rg_world_body_count(world),
                          .contacts = count_contacts(world),
                          .loads = put_loads(world, loads, load_count, NULL, NULL)};
    uint32_t flags = RG_CHUNK_HAS_CONTACTS | RG_CHUNK_HAS_FIGURES | RG_CHUNK_HAS_LOADS;
    status = rg_chunk_plan(&layout, flags, size, error);
    if (status != RG_OK)
        return status;
    rg_buffer out = rg_view_borrow(chunk);
    unsigned char *raw = rg_chunk_begin(&layout, &out);
    if (raw) {
        rg_chunk_put_clock(&layout, raw, 0, rg_world_time(world),
                           (double)rg_world_step_count(world));
        double kinetic = put_bodies(world, &layout, raw);
        put_contacts(world, &layout, raw);
        put_loads(world, loads, load_count, &layout, raw);
        double figures[RG_FIGURE_COUNT];
        rg_figures_of_steps(last, figures);
        if (sums)
            rg_figures_set_work(&sums->energy, figures);
        figures[RG_FIGURE_ENERGY] = rg_world_energy(world);
        figures[RG_FIGURE_KINETIC] = kinetic;
        rg_chunk_put_figures(&layout, raw, 0, figures);
    }
    return rg_view_return(chunk, &out, error);
}
