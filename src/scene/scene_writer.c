/* The writer: the live world as a scene file.
 *
 * Numbers are the shortest decimals that read back to the same bits. Shapes are written once each
 * and referenced by name, hulls as the points that they were made of; masses, centres and inertia
 * of dynamic bodies as numbers; orientations as quaternions. So a world that has not moved since it
 * was built reads back to the same state hash. A world that has moved is written as it is now, with
 * its time as the new zero: times of forces and phases of oscillations are shifted, and as the
 * world keeps momenta and centre-of-mass frames while the file holds velocities and origins, the
 * last bits of moved bodies may differ.
 *
 * What a file cannot hold is refused with RG_UNSUPPORTED: force and motion callbacks, solvers that
 * are not in the core's list; forces and torques applied for the next step are not written. */
#include "scene/scene_writer.h"

#include "base/base_math.h"
#include "base/base_trig.h"
#include "rigor/impact.h"
#include "rigor/solver.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* libyaml takes a key of this many characters only with a question mark before it. */
enum { LONGEST_SIMPLE_KEY = 1000 };

/* ---- settings and materials ---- */

/* Its name only where the scene chose one: null is the method's own choice. */
static rg_status put_solver(rg_writer *w, const rg_method_settings *settings) {
    const char *name = settings->solver ? rg_solver_name(settings->solver) : NULL;
    if (name && w->shown && rg_solver_find(name) != settings->solver)
        name = NULL;
    if (name && rg_solver_find(name) != settings->solver)
        return rg_fail(w->error, RG_UNSUPPORTED,
                       "the solver \"%s\" is not one that a scene file can name", name);
    rg_put(w, "solver: {");
    if (name)
        rg_buffer_print(&w->out, "name: %s, ", name);
    rg_put(w, "tolerance: ");
    rg_put_number(w, settings->solver_tolerance);
    if (settings->friction_directions > 0)
        rg_buffer_print(&w->out, ", friction: {polygon: %d}", settings->friction_directions);
    else
        rg_put(w, ", friction: cone");
    if (settings->policy != RG_POLICY_SMALLEST_FORCE)
        rg_buffer_print(&w->out, ", policy: %s", rg_solution_policy_name(settings->policy));
    rg_put(w, "}");
    return RG_OK;
}

/* Only where one was chosen: null leaves the choice to the reader. */
static rg_status put_impact(rg_writer *w, const char *before, const rg_impact_law *law) {
    if (!law)
        return RG_OK;
    const char *name = rg_impact_law_name(law);
    if (rg_impact_law_find(name) != law && w->shown)
        return RG_OK;
    if (rg_impact_law_find(name) != law)
        return rg_fail(w->error, RG_UNSUPPORTED,
                       "the impact law \"%s\" is not one that a scene file can name", name);
    rg_buffer_print(&w->out, "%simpact: %s", before, name);
    return RG_OK;
}

/* Only where it is not as it would be. */
static void put_penalty(rg_writer *w, const rg_penalty_settings *p) {
    rg_penalty_settings usual = rg_method_settings_default().penalty;
    const struct {
        const char *key;
        double value, usual;
    } numbers[] = {{"stiffness", p->stiffness, usual.stiffness},
                   {"depth", p->depth, usual.depth},
                   {"slip", p->slip, usual.slip},
                   {"tolerance", p->tolerance, usual.tolerance}};
    const char *before = ", penalty: {";
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].value == numbers[i].usual)
            continue;
        rg_buffer_print(&w->out, "%s%s: ", before, numbers[i].key);
        rg_put_number(w, numbers[i].value);
        before = ", ";
    }
    if (p->measure != usual.measure) {
        rg_buffer_print(&w->out, "%smeasure: %s", before, rg_penalty_measure_name(p->measure));
        before = ", ";
    }
    if (p->impulses) {
        rg_buffer_print(&w->out, "%scollisions: %s", before, rg_collisions_names[1]);
        before = ", ";
    }
    if (before[2] == 0)
        rg_put(w, "}");
}

static rg_status put_settings(rg_writer *w) {
    rg_method_settings settings = rg_world_settings(w->world);
    rg_put(w, "rigor: 1\nname: ");
    rg_status status = rg_put_quoted(w, w->scene->name);
    rg_buffer_print(&w->out, "\nplanar: %s\ngravity: ", w->planar ? "true" : "false");
    rg_put_vector(w, rg_world_gravity(w->world));
    rg_buffer_print(&w->out, "\nseed: %llu\nmethod: {name: %s, step: ",
                    (unsigned long long)rg_world_seed(w->world),
                    rg_method_name(rg_world_method(w->world)));
    rg_put_number(w, w->scene->step);
    rg_put(w, ", tolerance: ");
    rg_put_number(w, settings.tolerance);
    rg_buffer_print(&w->out, ", integrator: %s", rg_integrator_name(settings.integrator));
    if (settings.root_finder != RG_ROOT_ITP)
        rg_buffer_print(&w->out, ", root_finder: %s", rg_root_method_name(settings.root_finder));
    rg_put(w, ", gamma: ");
    rg_put_number(w, settings.gamma);
    rg_buffer_print(&w->out, ", detection: %s", rg_detection_names[settings.discrete_detection]);
    uint32_t points = rg_world_collision_def(w->world).contacts.reduce_to;
    if (points > 0)
        rg_buffer_print(&w->out, ", points: %u", (unsigned)points);
    if (settings.hand_over)
        rg_buffer_print(&w->out, ", hand_over: %s", rg_hand_over_names[1]);
    if (settings.contradictions == RG_NORM_ONE)
        rg_buffer_print(&w->out, ", contradictions: %s", rg_contradictions_names[RG_NORM_ONE]);
    put_penalty(w, &settings.penalty);
    rg_put(w, "}\n");
    if (status == RG_OK)
        status = put_solver(w, &settings);
    if (status == RG_OK)
        status = put_impact(w, "\n", settings.impact);
    rg_put(w, "\nduration: ");
    rg_put_number(w, w->scene->duration);
    rg_put(w, "\nrecord: {every: ");
    rg_put_number(w, w->scene->record_every);
    rg_put(w, "}\n");
    return status;
}

/* `all`: what is left out would be as the materials say. */
static rg_status put_law(rg_writer *w, rg_contact_law law, bool all) {
    law = rg_contact_law_complete(law);
    rg_put(w, "friction: ");
    rg_put_two(w, "static", law.static_friction, "dynamic", law.friction);
    rg_put(w, ", restitution: ");
    rg_put_number(w, law.restitution);
    if (law.stiffness > 0) {
        rg_put(w, ", stiffness: ");
        rg_put_number(w, law.stiffness);
    }
    if (all || law.rolling_friction > 0) {
        rg_put(w, ", rolling_friction: ");
        rg_put_number(w, law.rolling_friction);
    }
    if (all || law.torsional_friction > 0) {
        rg_put(w, ", torsional_friction: ");
        rg_put_number(w, law.torsional_friction);
    }
    return put_impact(w, ", ", law.impact);
}

static rg_status put_materials(rg_writer *w) {
    rg_put(w, "materials:\n");
    size_t count = rg_world_material_count(w->world);
    rg_status status = RG_OK;
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        rg_material_id id = {(uint32_t)i + 1};
        const char *name = rg_world_material_name(w->world, id);
        bool simple = strlen(name) < LONGEST_SIMPLE_KEY / 10; /* every byte may become ten */
        rg_put(w, simple ? "  " : "  ? ");
        status = rg_put_quoted(w, name);
        rg_put(w, simple ? ": {" : "\n  : {");
        if (status == RG_OK)
            status = put_law(w, rg_world_material_law(w->world, id), false);
        rg_put(w, "}\n");
    }
    for (size_t i = 0; i < rg_world_pair_count(w->world) && status == RG_OK; i++) {
        rg_material_id a, b;
        rg_contact_law law;
        rg_world_pair_at(w->world, i, &a, &b, &law);
        rg_put(w, i ? "  - {between: [" : "pairs:\n  - {between: [");
        status = rg_put_quoted(w, rg_world_material_name(w->world, a));
        rg_put(w, ", ");
        if (status == RG_OK)
            status = rg_put_quoted(w, rg_world_material_name(w->world, b));
        rg_put(w, "], ");
        if (status == RG_OK)
            status = put_law(w, law, true);
        rg_put(w, "}\n");
    }
    return status;
}

/* ---- bodies ---- */

static rg_status put_collider(rg_writer *w, rg_collider_id id) {
    rg_collider_def def = rg_collider_get_def(w->world, id);
    rg_collider_def normal = rg_collider_def_default();
    bool first = false;
    rg_status status = RG_OK;
    rg_buffer_print(&w->out, "{shape: shape%zu", rg_writer_shape_number(w, def.shape));
    if (memcmp(&def.pose, &normal.pose, sizeof def.pose) != 0)
        rg_put_local_pose(w, &first, def.pose);
    if (def.material.index1 > 1) {
        rg_put_key(w, &first, "material");
        status = rg_put_quoted(w, rg_world_material_name(w->world, def.material));
    }
    rg_put_key(w, &first, "density");
    rg_put_number(w, def.density);
    if (def.sensor)
        rg_put(w, ", sensor: true");
    if (def.category != normal.category)
        rg_buffer_print(&w->out, ", category: %llu", (unsigned long long)def.category);
    if (def.mask != normal.mask)
        rg_buffer_print(&w->out, ", mask: %llu", (unsigned long long)def.mask);
    if (rg_length(def.surface_velocity) > 0) {
        rg_put_key(w, &first, "surface_velocity");
        rg_put_vector(w, def.surface_velocity);
    }
    rg_put(w, "}");
    return status;
}

static rg_status put_colliders(rg_writer *w, rg_body_id body) {
    size_t count = rg_body_collider_count(w->world, body);
    rg_status status = RG_OK;
    if (!count)
        return RG_OK;
    rg_put(w, ",\n     colliders: [");
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        if (i)
            rg_put(w, ", ");
        status = put_collider(w, rg_body_collider_at(w->world, body, i));
    }
    rg_put(w, "]");
    return status;
}

/* What densities alone would give, in the order in which the world adds it up. */
static rg_mass_properties mass_of_colliders(const rg_world *world, rg_body_id body) {
    rg_mass_properties sum = {0};
    for (size_t i = 0; i < rg_body_collider_count(world, body); i++) {
        rg_collider_def def = rg_collider_get_def(world, rg_body_collider_at(world, body, i));
        if (def.sensor || def.density == 0 || !rg_shape_is_bounded(def.shape))
            continue;
        rg_mass_properties one = rg_mass_transform(rg_shape_mass(def.shape, def.density), def.pose);
        sum = sum.mass > 0 ? rg_mass_add(sum, one) : one;
    }
    return sum;
}

static void put_mass(rg_writer *w, rg_body_id body) {
    rg_mass_properties mass = rg_body_mass(w->world, body);
    if (rg_body_motion(w->world, body) != RG_MOTION_DYNAMIC) {
        /* Needs none; only one that was given is written. */
        rg_mass_properties plain = mass_of_colliders(w->world, body);
        if (!(mass.mass > 0) || memcmp(&mass, &plain, sizeof mass) == 0)
            return;
    }
    rg_put(w, ",\n     mass: ");
    rg_put_number(w, mass.mass);
    rg_put(w, ", centre_of_mass: ");
    rg_put_vector(w, mass.centre);
    rg_put(w, ", inertia: ");
    if (w->planar) {
        rg_put_number(w, mass.inertia.m[1][1]);
        return;
    }
    rg_put(w, "[");
    for (int i = 0; i < 3; i++) {
        if (i)
            rg_put(w, ", ");
        rg_put_numbers(w, mass.inertia.m[i], 3);
    }
    rg_put(w, "]");
}

static void put_pose(rg_writer *w, rg_pose pose, double angle) {
    rg_put(w, ", position: ");
    rg_put_vector(w, pose.position);
    rg_put(w, w->planar ? ", angle: " : ", orientation: ");
    if (w->planar)
        rg_put_number(w, angle);
    else
        rg_put_quat(w, pose.orientation);
}

static void put_velocities(rg_writer *w, rg_vec3 velocity, rg_vec3 angular_velocity) {
    rg_put(w, ", velocity: ");
    rg_put_vector(w, velocity);
    rg_put(w, ", angular_velocity: ");
    rg_put_spin(w, angular_velocity);
}

static rg_status put_kinematic(rg_writer *w, rg_body_id body) {
    rg_prescription p = rg_body_prescription(w->world, body);
    double start_time;
    rg_prescribed_state start = rg_body_prescription_start(w->world, body, &start_time);
    double elapsed = rg_world_time(w->world) - start_time;
    if (p.kind == RG_PRESCRIBED_FUNCTION && w->shown) {
        rg_put(w, "motion: kinematic");
        put_pose(w, rg_body_pose(w->world, body), rg_body_angle(w->world, body));
        return RG_OK;
    }
    if (p.kind == RG_PRESCRIBED_FUNCTION)
        return rg_fail(
            w->error, RG_UNSUPPORTED,
            "the body \"%.100s\" moves by a function of the program, which a file cannot "
            "hold; give it a velocity or an oscillation",
            rg_body_name(w->world, body));
    if (p.kind == RG_PRESCRIBED_VELOCITY) {
        rg_put(w, "motion: kinematic");
        rg_pose pose = elapsed == 0 ? start.pose : rg_body_pose(w->world, body);
        put_pose(w, pose,
                 elapsed == 0 ? rg_body_prescription_start_angle(w->world, body)
                              : rg_body_angle(w->world, body));
        put_velocities(w, start.velocity, start.angular_velocity);
        return RG_OK;
    }
    if (p.kind == RG_PRESCRIBED_OF_TIME) {
        rg_put(w, "motion: {kinematic: {move: ");
        rg_put_components_of_time(w, p.of_time, p.amplitude);
        rg_put(w, ", turn: ");
        if (w->planar)
            rg_put_of_time(w, p.of_time[4], p.rotation_amplitude.y, -1);
        else
            rg_put_components_of_time(w, p.of_time + 3, p.rotation_amplitude);
        rg_put(w, "}}");
        put_pose(w, start.pose, rg_body_prescription_start_angle(w->world, body));
        return RG_OK;
    }
    rg_put(w, "motion: {kinematic: {oscillate: {amplitude: ");
    rg_put_vector(w, p.amplitude);
    rg_put(w, ", rotation_amplitude: ");
    rg_put_spin(w, p.rotation_amplitude);
    rg_put(w, ", frequency: ");
    rg_put_number(w, p.frequency);
    rg_put(w, ", phase: ");
    rg_put_number(w, elapsed == 0 ? p.phase : p.phase + 2 * RG_PI * p.frequency * elapsed);
    rg_put(w, "}}}");
    put_pose(w, start.pose, rg_body_prescription_start_angle(w->world, body));
    return RG_OK;
}

static rg_status put_body(rg_writer *w, size_t index) {
    rg_body_id body = rg_world_body_at(w->world, index);
    static const char *const motions[] = {"dynamic", "fixed", "kinematic"};
    const char *name = rg_body_name(w->world, body);
    rg_motion motion = rg_body_motion(w->world, body);
    rg_status status = RG_OK;
    rg_put(w, "  - {");
    if (name[0] || w->shown) {
        rg_put(w, "name: ");
        if ((status = rg_put_own_name(w, body)) != RG_OK)
            return status;
        rg_put(w, ", ");
    }
    if (motion == RG_MOTION_KINEMATIC) {
        status = put_kinematic(w, body);
    } else {
        rg_buffer_print(&w->out, "motion: %s", motions[motion]);
        put_pose(w, rg_body_pose(w->world, body), rg_body_angle(w->world, body));
    }
    if (motion == RG_MOTION_DYNAMIC)
        put_velocities(w, rg_body_velocity(w->world, body),
                       rg_body_angular_velocity(w->world, body));
    double gravity_scale = rg_body_gravity_scale(w->world, body);
    if (gravity_scale != 1) {
        rg_put(w, ", gravity_scale: ");
        rg_put_number(w, gravity_scale);
    }
    put_mass(w, body);
    if (status == RG_OK)
        status = put_colliders(w, body);
    rg_put(w, "}\n");
    return status;
}

/* A list of things of the world, if there are any. */
static rg_status put_list(rg_writer *w, const char *title, size_t count,
                          rg_status (*put_one)(rg_writer *w, size_t index)) {
    rg_status status = RG_OK;
    if (count)
        rg_put(w, title);
    for (size_t i = 0; i < count && status == RG_OK; i++)
        status = put_one(w, i);
    return status;
}

/* ---- the whole ---- */

static rg_status write_text(const rg_scene *scene, bool shown, const rg_allocator *allocator,
                            char **text, size_t *size, rg_error *error) {
    assert(scene && text && size);
    *text = NULL;
    *size = 0;
    rg_writer w = {.scene = scene,
                   .world = scene->world,
                   .shown = shown,
                   .planar = rg_world_is_planar(scene->world),
                   .out = rg_buffer_make(allocator),
                   .error = error};
    rg_status status = put_settings(&w);
    if (status == RG_OK)
        status = put_materials(&w);
    if (status == RG_OK)
        status = rg_put_shapes(&w);
    if (status == RG_OK)
        status = put_list(&w, "bodies:\n", rg_world_body_count(w.world), put_body);
    if (status == RG_OK)
        status = put_list(&w, "joints:\n", rg_world_joint_count(w.world), rg_put_joint);
    if (status == RG_OK)
        status = put_list(&w, "forces:\n", rg_world_force_count(w.world), rg_put_force);
    rg_release(&w.out.allocator, w.shapes);
    if (status == RG_OK && w.out.failed)
        status = rg_fail(error, RG_OUT_OF_MEMORY, "not enough memory to write the scene");
    if (status != RG_OK) {
        rg_buffer_free(&w.out);
        return status;
    }
    *text = w.out.data;
    *size = w.out.size;
    return RG_OK;
}

rg_status rg_scene_write_text(const rg_scene *scene, const rg_allocator *allocator, char **text,
                              size_t *size, rg_error *error) {
    return write_text(scene, false, allocator, text, size, error);
}

rg_status rg_scene_write_shown(const rg_scene *scene, const rg_allocator *allocator, char **text,
                               size_t *size, rg_error *error) {
    return write_text(scene, true, allocator, text, size, error);
}

static rg_status fail_write(const char *path, rg_error *error) {
    int code = errno;
    return rg_fail(error, RG_WRITE_FAILED, "%s: %s", path,
                   code == ENOSPC   ? "the disk is full; make room"
                   : code == EACCES ? "permission denied; choose another place"
                   : code == ENOENT ? "there is no such directory; make it first"
                                    : "it cannot be written; choose another place");
}

/* Into a file beside it that takes its place when it is complete. */
static rg_status write_beside(const char *path, const char *beside, const char *text, size_t size,
                              rg_error *error) {
    FILE *file = fopen(beside, "wb");
    if (!file)
        return fail_write(path, error);
    bool good =
        fwrite(text, 1, size, file) == size && fflush(file) == 0 && fsync(fileno(file)) == 0;
    good = fclose(file) == 0 && good;
    if (good && rename(beside, path) == 0)
        return RG_OK;
    rg_status status = fail_write(path, error);
    remove(beside);
    return status;
}

rg_status rg_scene_write_file(const rg_scene *scene, const char *path, rg_error *error) {
    assert(scene && path);
    const rg_allocator *allocator = &scene->allocator;
    char *text;
    size_t size;
    rg_status status = rg_scene_write_text(scene, allocator, &text, &size, error);
    if (status != RG_OK)
        return status;
    rg_buffer beside = rg_buffer_make(allocator);
    rg_buffer_print(&beside, "%s.part", path);
    status = beside.failed ? rg_fail(error, RG_OUT_OF_MEMORY, "%s: not enough memory", path)
                           : write_beside(path, beside.data, text, size, error);
    rg_buffer_free(&beside);
    rg_release(allocator, text);
    return status;
}
