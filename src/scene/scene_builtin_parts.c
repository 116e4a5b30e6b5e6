/* What the families of built-in scenes share: floors, boxes, measures. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "scene/scene_builtin.h"

rg_measure rg_measure_of(const char *name, double value) {
    return (rg_measure){.name = name, .value = value};
}

rg_measure rg_measure_beside(const char *name, double value, double expected) {
    return (rg_measure){.name = name, .value = value, .has_expected = true, .expected = expected};
}

rg_measure rg_measure_truth(const char *name, bool value, bool expected) {
    return (rg_measure){.name = name,
                        .value = value ? 1 : 0,
                        .has_expected = true,
                        .expected = expected ? 1 : 0,
                        .is_truth = true};
}

rg_status rg_builtin_fail_memory(const rg_scene *scene, rg_error *error) {
    return rg_fail(error, RG_OUT_OF_MEMORY, "%s: not enough memory", scene->name);
}

void *rg_builtin_remember(rg_scene *scene, size_t size) {
    scene->measuring = rg_allocate_zeroed(&scene->allocator, 1, size);
    scene->measuring_size = scene->measuring ? size : 0;
    return scene->measuring;
}

rg_status rg_builtin_add(rg_scene *scene, const rg_shape_def *shape, double density,
                         const rg_body_def *def, rg_body_id *body, rg_error *error) {
    rg_collider_def collider = rg_collider_def_default();
    collider.density = density;
    rg_status status = rg_shape_create(shape, &scene->allocator, &collider.shape, error);
    if (status)
        return status;
    rg_body_def full = *def;
    full.colliders = &collider;
    full.collider_count = 1;
    rg_body_id unused;
    status = rg_world_add_body(scene->world, &full, body ? body : &unused, error);
    rg_shape_release(collider.shape);
    return status;
}

rg_status rg_builtin_add_floor(rg_scene *scene, rg_error *error) {
    rg_shape_def shape = rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0);
    rg_body_def def = rg_body_def_default();
    def.name = "floor";
    def.motion = RG_MOTION_FIXED;
    return rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
}

rg_status rg_builtin_add_box(rg_scene *scene, const char *name, rg_vec3 size, rg_vec3 position,
                             rg_body_id *body, rg_error *error) {
    rg_shape_def shape = rg_shape_def_box(size.x, size.y, size.z);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = position;
    return rg_builtin_add(scene, &shape, 1000, &def, body, error);
}
