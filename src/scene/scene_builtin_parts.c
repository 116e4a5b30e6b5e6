/* What the families of built-in scenes share: floors, boxes, measures.
 * Tested by tests/scene/test_builtin.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "scene/scene_builtin.h"

#include <assert.h>

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

rg_status rg_builtin_add_collider(rg_scene *scene, const rg_shape_def *shape,
                                  const rg_collider_def *kind, const rg_body_def *def,
                                  rg_body_id *body, rg_error *error) {
    rg_collider_def collider = *kind;
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

rg_status rg_builtin_add(rg_scene *scene, const rg_shape_def *shape, double density,
                         const rg_body_def *def, rg_body_id *body, rg_error *error) {
    rg_collider_def collider = rg_collider_def_default();
    collider.density = density;
    return rg_builtin_add_collider(scene, shape, &collider, def, body, error);
}

rg_status rg_builtin_add_wall(rg_scene *scene, const char *name, rg_vec3 normal, double offset,
                              rg_error *error) {
    rg_shape_def shape = rg_shape_def_halfspace(normal, offset);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.motion = RG_MOTION_FIXED;
    return rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
}

rg_status rg_builtin_add_floor(rg_scene *scene, rg_error *error) {
    return rg_builtin_add_wall(scene, "floor", rg_vec3_make(0, 0, 1), 0, error);
}

rg_status rg_builtin_lay_floor(rg_scene *scene, double friction, double restitution,
                               rg_error *error) {
    rg_status status = rg_builtin_set_law(scene, friction, restitution, error);
    return status ? status : rg_builtin_add_floor(scene, error);
}

#define ROD_THIN 0.01 /* m: half the thickness */

rg_status rg_builtin_add_rod(rg_scene *scene, const rg_body_def *def, rg_error *error) {
    const rg_vec3 corners[4] = {{-1, 0, 0}, {0, 0, -ROD_THIN}, {1, 0, 0}, {0, 0, ROD_THIN}};
    rg_shape_def shape = rg_shape_def_polygon(corners, 4);
    rg_body_def rod = *def;
    rod.name = "rod";
    rod.has_mass = true;
    rod.mass =
        (rg_mass_properties){.mass = 1, .inertia = rg_mat3_diagonal((rg_vec3){1, 1.0 / 3, 1})};
    return rg_builtin_add(scene, &shape, 1000, &rod, NULL, error);
}

rg_status rg_builtin_add_box(rg_scene *scene, const char *name, rg_vec3 size, rg_vec3 position,
                             rg_body_id *body, rg_error *error) {
    rg_shape_def shape = rg_shape_def_box(size.x, size.y, size.z);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = position;
    return rg_builtin_add(scene, &shape, 1000, &def, body, error);
}

double rg_builtin_kinetic_energy(const rg_world *world) {
    double sum = 0;
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        rg_vec3 v = rg_body_velocity(world, body), w = rg_body_angular_velocity(world, body);
        sum += 0.5 * (rg_body_mass(world, body).mass * rg_length_squared(v) +
                      rg_dot(w, rg_body_angular_momentum(world, body)));
    }
    return sum;
}

rg_status rg_builtin_set_law(rg_scene *scene, double friction, double restitution,
                             rg_error *error) {
    rg_contact_law law = {.friction = friction, .restitution = restitution};
    return rg_world_set_material_law(scene->world, (rg_material_id){0}, &law, error);
}

const char *const rg_builtin_laws[] = {"simultaneous", "propagation", "poisson", "energetic",
                                       "reflection",   "dissipative", NULL};

rg_scene *rg_builtin_first_step(const rg_scene *scene, double step) {
    assert(scene->builtin);
    rg_scene_options options = {.parameters = scene->parameters,
                                .parameter_count = scene->parameter_count,
                                .allocator = &scene->allocator};
    rg_method_settings settings = rg_world_settings(scene->world);
    rg_scene *twin;
    if (rg_scene_create_builtin(scene->builtin->name, &options, &twin, NULL))
        return NULL;
    if (rg_world_set_method(twin->world, rg_world_method(scene->world), &settings, NULL) ||
        rg_world_step(twin->world, step, NULL, NULL)) {
        rg_scene_destroy(twin);
        return NULL;
    }
    return twin;
}

/* Contacts at one height differ by rounding only. */
#define SAME_HEIGHT 1e-6 /* m */

static bool is_before(const rg_contact_force *a, const rg_contact_force *b) {
    double up = a->position.z - b->position.z;
    return fabs(up) > SAME_HEIGHT ? up < 0 : a->position.x < b->position.x;
}

size_t rg_builtin_sorted_forces(const rg_world *world, size_t *order, size_t capacity) {
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    size_t kept = count < capacity ? count : capacity;
    for (size_t i = 0; i < kept; i++) {
        size_t k = i;
        for (; k > 0 && is_before(&forces[i], &forces[order[k - 1]]); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    return count;
}

double rg_builtin_event_time(const rg_world *world, unsigned kind, bool last, double *value) {
    size_t kept, count;
    const rg_step_event *events = rg_world_step_events(world, &kept, &count);
    double time = NAN;
    for (size_t i = 0; i < kept && (last || isnan(time)); i++)
        if (events[i].kind == kind) {
            time = events[i].time;
            if (value)
                *value = events[i].value;
        }
    return time;
}

size_t rg_builtin_event_count(const rg_world *world, unsigned kind) {
    size_t kept, count, found = 0;
    const rg_step_event *events = rg_world_step_events(world, &kept, &count);
    for (size_t i = 0; i < kept; i++)
        found += events[i].kind == kind;
    return found;
}

rg_joint_def rg_builtin_joint_of(rg_joint_kind kind, rg_body_id a, rg_body_id b) {
    rg_joint_def def = rg_joint_def_default(kind);
    def.body_a = a, def.body_b = b;
    return def;
}

rg_status rg_builtin_join(rg_scene *scene, rg_joint_def def, rg_vec3 point, rg_vec3 axis,
                          rg_error *error) {
    rg_joint_id joint;
    rg_status status = rg_joint_def_place(scene->world, &def, point, axis);
    return status ? rg_fail(error, status, "joint: %s", rg_status_text(status))
                  : rg_world_add_joint(scene->world, &def, &joint, error);
}
