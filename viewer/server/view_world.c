/* Changes of a world: see view_world.h. */
#include "view_world.h"

#include "rigor/collision.h"
#include "rigor/version.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

rg_status view_fail(rg_error *error, rg_status status, const char *format, ...) {
    if (!error)
        return status;
    va_list list;
    va_start(list, format);
    *error = (rg_error){.status = status};
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    return status;
}

/* ---- contact laws ---- */

struct view_pair_law {
    rg_material_id a, b;
    rg_contact_law law;
};

static rg_material_id material_at(size_t index) {
    return (rg_material_id){(uint32_t)index + 1};
}

rg_status view_laws_keep(view_laws *laws, const rg_world *world, rg_error *error) {
    *laws = (view_laws){.material_count = rg_world_material_count(world),
                        .pair_count = rg_world_pair_count(world)};
    laws->materials = calloc(laws->material_count + 1, sizeof *laws->materials);
    laws->pairs = calloc(laws->pair_count + 1, sizeof *laws->pairs);
    if (!laws->materials || !laws->pairs)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory for materials");
    for (size_t i = 0; i < laws->material_count; i++)
        laws->materials[i] = rg_world_material_law(world, material_at(i));
    for (size_t i = 0; i < laws->pair_count; i++)
        rg_world_pair_at(world, i, &laws->pairs[i].a, &laws->pairs[i].b, &laws->pairs[i].law);
    return RG_OK;
}

void view_laws_free(view_laws *laws) {
    free(laws->materials);
    free(laws->pairs);
    *laws = (view_laws){0};
}

static rg_contact_law with_friction(rg_contact_law law, const double *friction) {
    if (friction) {
        law.friction = *friction;
        law.static_friction = 0;
    }
    return law;
}

rg_status view_laws_apply(const view_laws *laws, rg_world *world, const double *friction,
                          rg_error *error) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < laws->material_count && status == RG_OK; i++) {
        rg_contact_law law = with_friction(laws->materials[i], friction);
        status = rg_world_set_material_law(world, material_at(i), &law, error);
    }
    for (size_t i = 0; i < laws->pair_count && status == RG_OK; i++) {
        rg_contact_law law = with_friction(laws->pairs[i].law, friction);
        status = rg_world_set_pair_law(world, laws->pairs[i].a, laws->pairs[i].b, &law, error);
    }
    return status;
}

/* ---- boxes ---- */

static rg_status make_box(bool planar, double size, rg_shape **shape, rg_error *error) {
    double h = 0.5 * size;
    rg_vec3 corners[] = {{-h, 0, -h}, {h, 0, -h}, {h, 0, h}, {-h, 0, h}};
    rg_shape_def def =
        planar ? rg_shape_def_polygon(corners, 4) : rg_shape_def_box(size, size, size);
    return rg_shape_create(&def, NULL, shape, error);
}

static rg_status add_box(rg_world *world, rg_shape *shape, rg_vec3 from, rg_vec3 velocity,
                         uint32_t *names, rg_error *error) {
    char name[32];
    rg_body_id taken;
    rg_collider_def collider = rg_collider_def_default();
    rg_body_def def = rg_body_def_default();
    do
        snprintf(name, sizeof name, "thrown-%u", (unsigned)++*names);
    while (rg_world_find_body(world, name, &taken) == RG_OK);
    collider.shape = shape;
    def.name = name;
    def.pose.position = from;
    def.velocity = velocity;
    def.colliders = &collider;
    def.collider_count = 1;
    return rg_world_add_body(world, &def, &taken, error);
}

rg_status view_throw_box(rg_world *world, rg_vec3 from, rg_vec3 velocity, double size,
                         uint32_t *names, rg_error *error) {
    bool planar = rg_world_is_planar(world);
    rg_pose pose = {from, {0, 0, 0, 1}};
    rg_shape *shape;
    rg_collider_id other;
    size_t overlaps = 0;
    if (planar)
        pose.position.y = velocity.y = 0;
    rg_status status = make_box(planar, size, &shape, error);
    if (status != RG_OK)
        return status;
    status = rg_world_overlap(world, shape, pose, NULL, &other, 1, &overlaps);
    if (status != RG_OK)
        view_fail(error, status, "a box cannot be thrown: %s", rg_status_text(status));
    else if (overlaps > 0)
        status =
            view_fail(error, RG_INVALID_ARGUMENT, "there is no room for a box of %g m there", size);
    else
        status = add_box(world, shape, pose.position, velocity, names, error);
    rg_shape_release(shape);
    return status;
}
