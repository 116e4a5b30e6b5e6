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
#include "scene/scene_state.h"

#include "base/base_expression.h"
#include "base/base_math.h"
#include "base/base_text.h"
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

typedef struct shape_entry {
    const rg_shape *shape;
    size_t number; /* 1 for shape1, ... */
} shape_entry;

typedef struct writer {
    const rg_scene *scene;
    const rg_world *world;
    bool planar;
    bool shown; /* what a file cannot hold is left out, and bodies without a name get one */
    rg_buffer out;
    shape_entry *shapes; /* hash table by address, open addressing; size is a power of two */
    size_t shape_capacity, shape_count;
    rg_error *error;
} writer;

/* ---- words and numbers ---- */

static void put(writer *w, const char *text) {
    rg_buffer_append(&w->out, text, strlen(text));
}

static void put_number(writer *w, double value) {
    char text[RG_NUMBER_SIZE];
    put(w, rg_format_double(value, text));
}

static void put_numbers(writer *w, const double *values, size_t count) {
    put(w, "[");
    for (size_t i = 0; i < count; i++) {
        if (i)
            put(w, ", ");
        put_number(w, values[i]);
    }
    put(w, "]");
}

static void put_vector(writer *w, rg_vec3 v) {
    if (w->planar)
        put_numbers(w, (double[]){v.x, v.z}, 2);
    else
        put_numbers(w, (double[]){v.x, v.y, v.z}, 3);
}

/* A rotation vector: in planar scenes the one number, from x towards z. */
static void put_spin(writer *w, rg_vec3 v) {
    if (w->planar)
        put_number(w, -v.y);
    else
        put_vector(w, v);
}

static void put_quat(writer *w, rg_quat q) {
    put_numbers(w, (double[]){q.x, q.y, q.z, q.w}, 4);
}

/* The code point at *text, or -1 if it is no valid UTF-8; moves on past it. */
static long next_character(const char **text) {
    const unsigned char *c = (const unsigned char *)*text;
    int more = c[0] < 0x80 ? 0 : c[0] >= 0xF0 && c[0] < 0xF5 ? 3 : c[0] >= 0xE0 ? 2 : 1;
    if ((c[0] >= 0x80 && c[0] < 0xC2) || c[0] >= 0xF5)
        return -1;
    long code = more == 0 ? c[0] : c[0] & (0x3F >> more);
    for (int i = 1; i <= more; i++) {
        if ((c[i] & 0xC0) != 0x80)
            return -1;
        code = code << 6 | (c[i] & 0x3F);
    }
    static const long smallest[4] = {0, 0x80, 0x800, 0x10000};
    if (code < smallest[more] || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF)
        return -1;
    *text += more + 1;
    return code;
}

/* In double quotes; what YAML does not allow in a text is escaped. */
static rg_status put_quoted(writer *w, const char *text) {
    put(w, "\"");
    for (const char *c = text; *c;) {
        const char *start = c;
        long code = next_character(&c);
        if (code < 0)
            return rg_fail(w->error, RG_UNSUPPORTED,
                           "a name is not UTF-8 text and cannot be written; rename it");
        bool raw =
            (code >= 0x20 && code < 0x7F) || (code >= 0xA0 && code != 0x2028 && code != 0x2029 &&
                                              code != 0xFEFF && (code & 0xFFFE) != 0xFFFE);
        if (code == '"' || code == '\\')
            rg_buffer_print(&w->out, "\\%c", (int)code);
        else if (raw)
            rg_buffer_append(&w->out, start, (size_t)(c - start));
        else
            rg_buffer_print(&w->out, "\\U%08lX", (unsigned long)code);
    }
    put(w, "\"");
    return RG_OK;
}

/* ", key: " or, for the first, "key: " */
static void put_key(writer *w, bool *first, const char *key) {
    if (!*first)
        put(w, ", ");
    *first = false;
    put(w, key);
    put(w, ": ");
}

/* ---- shapes ---- */

static size_t slot_of(const writer *w, const rg_shape *shape) {
    size_t mask = w->shape_capacity - 1;
    size_t slot = (size_t)(((uintptr_t)shape >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
    while (w->shapes[slot].shape && w->shapes[slot].shape != shape)
        slot = (slot + 1) & mask;
    return slot;
}

static bool grow_shapes(writer *w) {
    if (2 * (w->shape_count + 1) <= w->shape_capacity)
        return true;
    writer bigger = *w;
    bigger.shape_capacity = w->shape_capacity ? 2 * w->shape_capacity : 64;
    bigger.shapes =
        rg_allocate_zeroed(&w->out.allocator, bigger.shape_capacity, sizeof *bigger.shapes);
    if (!bigger.shapes)
        return false;
    for (size_t i = 0; i < w->shape_capacity; i++)
        if (w->shapes[i].shape)
            bigger.shapes[slot_of(&bigger, w->shapes[i].shape)] = w->shapes[i];
    rg_release(&w->out.allocator, w->shapes);
    w->shapes = bigger.shapes;
    w->shape_capacity = bigger.shape_capacity;
    return true;
}

static size_t shape_number(const writer *w, const rg_shape *shape) {
    return w->shapes[slot_of(w, shape)].number;
}

static void put_points(writer *w, const rg_shape_def *def) {
    put(w, "[");
    for (size_t i = 0; i < def->point_count; i++) {
        if (i)
            put(w, ", ");
        put_vector(w, def->points[i]);
    }
    put(w, "]");
}

static void put_terrain(writer *w, const rg_shape_def *def) {
    put(w, "{thickness: ");
    put_number(w, def->thickness);
    if (rg_length(def->normal) > 0) {
        put(w, ", up: ");
        put_vector(w, def->normal);
    }
    put(w, ", points: ");
    put_points(w, def);
    put(w, ", triangles: [");
    for (size_t i = 0; i < def->triangle_count; i++) {
        const uint32_t *k = def->triangles + 3 * i;
        rg_buffer_print(&w->out, "%s[%u, %u, %u]", i ? ", " : "", k[0], k[1], k[2]);
    }
    put(w, "]}");
}

static void put_local_pose(writer *w, bool *first, rg_pose pose) {
    put_key(w, first, "position");
    put_vector(w, pose.position);
    put_key(w, first, "orientation");
    put_quat(w, pose.orientation);
}

static void put_parts(writer *w, const rg_shape_def *def) {
    put(w, "[");
    for (size_t i = 0; i < def->part_count; i++) {
        const rg_compound_part *part = &def->parts[i];
        bool first = false;
        rg_buffer_print(&w->out, "%s{shape: shape%zu", i ? ", " : "", shape_number(w, part->shape));
        put_local_pose(w, &first, part->pose);
        put_key(w, &first, "density");
        put_number(w, part->density);
        put(w, "}");
    }
    put(w, "]");
}

static void put_two(writer *w, const char *first, double a, const char *second, double b) {
    rg_buffer_print(&w->out, "{%s: ", first);
    put_number(w, a);
    rg_buffer_print(&w->out, ", %s: ", second);
    put_number(w, b);
    put(w, "}");
}

static void put_shape(writer *w, const rg_shape *shape) {
    rg_shape_def def = rg_shape_get_def(shape);
    rg_buffer_print(&w->out, "{%s: ", rg_shape_kind_name(def.kind));
    switch (def.kind) {
    case RG_SHAPE_HALFSPACE:
        put(w, "{normal: ");
        put_vector(w, def.normal);
        put(w, ", offset: ");
        put_number(w, def.offset);
        put(w, "}");
        break;
    case RG_SHAPE_BOX:
    case RG_SHAPE_ELLIPSOID:
        put_vector(w, def.size);
        break;
    case RG_SHAPE_SPHERE:
    case RG_SHAPE_DISC:
        put_number(w, def.radius);
        break;
    case RG_SHAPE_CAPSULE:
        put_two(w, "radius", def.radius, "length", def.length);
        break;
    case RG_SHAPE_CYLINDER:
    case RG_SHAPE_CONE:
        put_two(w, "radius", def.radius, "height", def.length);
        break;
    case RG_SHAPE_COMPOUND:
        put_parts(w, &def);
        break;
    case RG_SHAPE_TERRAIN:
        put_terrain(w, &def);
        break;
    default: /* hull, polygon */
        put_points(w, &def);
        break;
    }
    put(w, "}");
}

/* Writes the shape, after its parts, unless it has been written. */
static rg_status list_shape(writer *w, const rg_shape *shape) {
    rg_shape_def def = rg_shape_get_def(shape);
    for (size_t i = 0; def.kind == RG_SHAPE_COMPOUND && i < def.part_count; i++) {
        rg_status status = list_shape(w, def.parts[i].shape);
        if (status != RG_OK)
            return status;
    }
    if (!grow_shapes(w))
        return rg_fail(w->error, RG_OUT_OF_MEMORY, "not enough memory to write the scene");
    shape_entry *entry = &w->shapes[slot_of(w, shape)];
    if (entry->shape)
        return RG_OK;
    *entry = (shape_entry){shape, ++w->shape_count};
    if (w->shape_count == 1)
        put(w, "shapes:\n");
    rg_buffer_print(&w->out, "  shape%zu: ", w->shape_count);
    put_shape(w, shape);
    put(w, "\n");
    return RG_OK;
}

static rg_status put_shapes(writer *w) {
    for (size_t b = 0; b < rg_world_body_count(w->world); b++) {
        rg_body_id body = rg_world_body_at(w->world, b);
        for (size_t c = 0; c < rg_body_collider_count(w->world, body); c++) {
            rg_collider_id id = rg_body_collider_at(w->world, body, c);
            rg_status status = list_shape(w, rg_collider_get_def(w->world, id).shape);
            if (status != RG_OK)
                return status;
        }
    }
    return RG_OK;
}

/* ---- settings and materials ---- */

/* Its name only where the scene chose one: null is the method's own choice. */
static rg_status put_solver(writer *w, const rg_method_settings *settings) {
    const char *name = settings->solver ? rg_solver_name(settings->solver) : NULL;
    if (name && w->shown && rg_solver_find(name) != settings->solver)
        name = NULL;
    if (name && rg_solver_find(name) != settings->solver)
        return rg_fail(w->error, RG_UNSUPPORTED,
                       "the solver \"%s\" is not one that a scene file can name", name);
    put(w, "solver: {");
    if (name)
        rg_buffer_print(&w->out, "name: %s, ", name);
    put(w, "tolerance: ");
    put_number(w, settings->solver_tolerance);
    if (settings->friction_directions > 0)
        rg_buffer_print(&w->out, ", friction: {polygon: %d}", settings->friction_directions);
    else
        put(w, ", friction: cone");
    if (settings->policy != RG_POLICY_SMALLEST_FORCE)
        rg_buffer_print(&w->out, ", policy: %s", rg_solution_policy_name(settings->policy));
    put(w, "}");
    return RG_OK;
}

/* Only where one was chosen: null leaves the choice to the reader. */
static rg_status put_impact(writer *w, const char *before, const rg_impact_law *law) {
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
static void put_penalty(writer *w, const rg_penalty_settings *p) {
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
        put_number(w, numbers[i].value);
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
        put(w, "}");
}

static rg_status put_settings(writer *w) {
    rg_method_settings settings = rg_world_settings(w->world);
    put(w, "rigor: 1\nname: ");
    rg_status status = put_quoted(w, w->scene->name);
    rg_buffer_print(&w->out, "\nplanar: %s\ngravity: ", w->planar ? "true" : "false");
    put_vector(w, rg_world_gravity(w->world));
    rg_buffer_print(&w->out, "\nseed: %llu\nmethod: {name: %s, step: ",
                    (unsigned long long)rg_world_seed(w->world),
                    rg_method_name(rg_world_method(w->world)));
    put_number(w, w->scene->step);
    put(w, ", tolerance: ");
    put_number(w, settings.tolerance);
    rg_buffer_print(&w->out, ", integrator: %s", rg_integrator_name(settings.integrator));
    if (settings.root_finder != RG_ROOT_ITP)
        rg_buffer_print(&w->out, ", root_finder: %s", rg_root_method_name(settings.root_finder));
    put(w, ", gamma: ");
    put_number(w, settings.gamma);
    rg_buffer_print(&w->out, ", detection: %s", rg_detection_names[settings.discrete_detection]);
    uint32_t points = rg_world_collision_def(w->world).contacts.reduce_to;
    if (points > 0)
        rg_buffer_print(&w->out, ", points: %u", (unsigned)points);
    if (settings.hand_over)
        rg_buffer_print(&w->out, ", hand_over: %s", rg_hand_over_names[1]);
    put_penalty(w, &settings.penalty);
    put(w, "}\n");
    if (status == RG_OK)
        status = put_solver(w, &settings);
    if (status == RG_OK)
        status = put_impact(w, "\n", settings.impact);
    put(w, "\nduration: ");
    put_number(w, w->scene->duration);
    put(w, "\nrecord: {every: ");
    put_number(w, w->scene->record_every);
    put(w, "}\n");
    return status;
}

static rg_status put_law(writer *w, rg_contact_law law) {
    law = rg_contact_law_complete(law);
    put(w, "friction: ");
    put_two(w, "static", law.static_friction, "dynamic", law.friction);
    put(w, ", restitution: ");
    put_number(w, law.restitution);
    if (law.stiffness > 0) {
        put(w, ", stiffness: ");
        put_number(w, law.stiffness);
    }
    return put_impact(w, ", ", law.impact);
}

static rg_status put_materials(writer *w) {
    put(w, "materials:\n");
    size_t count = rg_world_material_count(w->world);
    rg_status status = RG_OK;
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        rg_material_id id = {(uint32_t)i + 1};
        const char *name = rg_world_material_name(w->world, id);
        bool simple = strlen(name) < LONGEST_SIMPLE_KEY / 10; /* every byte may become ten */
        put(w, simple ? "  " : "  ? ");
        status = put_quoted(w, name);
        put(w, simple ? ": {" : "\n  : {");
        if (status == RG_OK)
            status = put_law(w, rg_world_material_law(w->world, id));
        put(w, "}\n");
    }
    for (size_t i = 0; i < rg_world_pair_count(w->world) && status == RG_OK; i++) {
        rg_material_id a, b;
        rg_contact_law law;
        rg_world_pair_at(w->world, i, &a, &b, &law);
        put(w, i ? "  - {between: [" : "pairs:\n  - {between: [");
        status = put_quoted(w, rg_world_material_name(w->world, a));
        put(w, ", ");
        if (status == RG_OK)
            status = put_quoted(w, rg_world_material_name(w->world, b));
        put(w, "], ");
        if (status == RG_OK)
            status = put_law(w, law);
        put(w, "}\n");
    }
    return status;
}

/* ---- bodies ---- */

static rg_status put_collider(writer *w, rg_collider_id id) {
    rg_collider_def def = rg_collider_get_def(w->world, id);
    rg_collider_def normal = rg_collider_def_default();
    bool first = false;
    rg_status status = RG_OK;
    rg_buffer_print(&w->out, "{shape: shape%zu", shape_number(w, def.shape));
    if (memcmp(&def.pose, &normal.pose, sizeof def.pose) != 0)
        put_local_pose(w, &first, def.pose);
    if (def.material.index1 > 1) {
        put_key(w, &first, "material");
        status = put_quoted(w, rg_world_material_name(w->world, def.material));
    }
    put_key(w, &first, "density");
    put_number(w, def.density);
    if (def.sensor)
        put(w, ", sensor: true");
    if (def.category != normal.category)
        rg_buffer_print(&w->out, ", category: %llu", (unsigned long long)def.category);
    if (def.mask != normal.mask)
        rg_buffer_print(&w->out, ", mask: %llu", (unsigned long long)def.mask);
    put(w, "}");
    return status;
}

static rg_status put_colliders(writer *w, rg_body_id body) {
    size_t count = rg_body_collider_count(w->world, body);
    rg_status status = RG_OK;
    if (!count)
        return RG_OK;
    put(w, ",\n     colliders: [");
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        if (i)
            put(w, ", ");
        status = put_collider(w, rg_body_collider_at(w->world, body, i));
    }
    put(w, "]");
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

static void put_mass(writer *w, rg_body_id body) {
    rg_mass_properties mass = rg_body_mass(w->world, body);
    if (rg_body_motion(w->world, body) != RG_MOTION_DYNAMIC) {
        /* Needs none; only one that was given is written. */
        rg_mass_properties plain = mass_of_colliders(w->world, body);
        if (!(mass.mass > 0) || memcmp(&mass, &plain, sizeof mass) == 0)
            return;
    }
    put(w, ",\n     mass: ");
    put_number(w, mass.mass);
    put(w, ", centre_of_mass: ");
    put_vector(w, mass.centre);
    put(w, ", inertia: ");
    if (w->planar) {
        put_number(w, mass.inertia.m[1][1]);
        return;
    }
    put(w, "[");
    for (int i = 0; i < 3; i++) {
        if (i)
            put(w, ", ");
        put_numbers(w, mass.inertia.m[i], 3);
    }
    put(w, "]");
}

static void put_pose(writer *w, rg_pose pose, double angle) {
    put(w, ", position: ");
    put_vector(w, pose.position);
    put(w, w->planar ? ", angle: " : ", orientation: ");
    if (w->planar)
        put_number(w, angle);
    else
        put_quat(w, pose.orientation);
}

static void put_velocities(writer *w, rg_vec3 velocity, rg_vec3 angular_velocity) {
    put(w, ", velocity: ");
    put_vector(w, velocity);
    put(w, ", angular_velocity: ");
    put_spin(w, angular_velocity);
}

static rg_status put_kinematic(writer *w, rg_body_id body) {
    rg_prescription p = rg_body_prescription(w->world, body);
    double start_time;
    rg_prescribed_state start = rg_body_prescription_start(w->world, body, &start_time);
    double elapsed = rg_world_time(w->world) - start_time;
    if (p.kind == RG_PRESCRIBED_FUNCTION && w->shown) {
        put(w, "motion: kinematic");
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
        put(w, "motion: kinematic");
        rg_pose pose = elapsed == 0 ? start.pose : rg_body_pose(w->world, body);
        put_pose(w, pose,
                 elapsed == 0 ? rg_body_prescription_start_angle(w->world, body)
                              : rg_body_angle(w->world, body));
        put_velocities(w, start.velocity, start.angular_velocity);
        return RG_OK;
    }
    put(w, "motion: {kinematic: {oscillate: {amplitude: ");
    put_vector(w, p.amplitude);
    put(w, ", rotation_amplitude: ");
    put_spin(w, p.rotation_amplitude);
    put(w, ", frequency: ");
    put_number(w, p.frequency);
    put(w, ", phase: ");
    put_number(w, elapsed == 0 ? p.phase : p.phase + 2 * RG_PI * p.frequency * elapsed);
    put(w, "}}}");
    put_pose(w, start.pose, rg_body_prescription_start_angle(w->world, body));
    return RG_OK;
}

/* The name of a body, or one that no other body has. */
static rg_status put_own_name(writer *w, rg_body_id body) {
    const char *name = rg_body_name(w->world, body);
    char made[64];
    rg_body_id other;
    if (name[0])
        return put_quoted(w, name);
    size_t index = rg_body_index(w->world, body);
    snprintf(made, sizeof made, "body %zu", index);
    for (int i = 2; rg_world_find_body(w->world, made, &other) == RG_OK; i++)
        snprintf(made, sizeof made, "body %zu (%d)", index, i);
    return put_quoted(w, made);
}

static rg_status put_body(writer *w, size_t index) {
    rg_body_id body = rg_world_body_at(w->world, index);
    static const char *const motions[] = {"dynamic", "fixed", "kinematic"};
    const char *name = rg_body_name(w->world, body);
    rg_motion motion = rg_body_motion(w->world, body);
    rg_status status = RG_OK;
    put(w, "  - {");
    if (name[0] || w->shown) {
        put(w, "name: ");
        if ((status = put_own_name(w, body)) != RG_OK)
            return status;
        put(w, ", ");
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
        put(w, ", gravity_scale: ");
        put_number(w, gravity_scale);
    }
    put_mass(w, body);
    if (status == RG_OK)
        status = put_colliders(w, body);
    put(w, "}\n");
    return status;
}

/* A list of things of the world, if there are any. */
static rg_status put_list(writer *w, const char *title, size_t count,
                          rg_status (*put_one)(writer *w, size_t index)) {
    rg_status status = RG_OK;
    if (count)
        put(w, title);
    for (size_t i = 0; i < count && status == RG_OK; i++)
        status = put_one(w, i);
    return status;
}

/* ---- forces ---- */

static void put_named_number(writer *w, const char *key, double value) {
    rg_buffer_print(&w->out, ", %s: ", key);
    put_number(w, value);
}

static void put_named_vector(writer *w, const char *key, rg_vec3 value) {
    rg_buffer_print(&w->out, ", %s: ", key);
    put_vector(w, value);
}

/* A number, or an expression of time, whose t counts from the beginning of the file's. */
static void put_of_time(writer *w, const char *text, double value, double sign) {
    double now = rg_world_time(w->world);
    char shifted[RG_NUMBER_SIZE + 8], number[RG_NUMBER_SIZE];
    bool uses;
    if (!text) {
        put_number(w, sign * value);
        return;
    }
    snprintf(shifted, sizeof shifted, "(t+%s)", rg_format_double(now, number));
    put(w, sign < 0 ? "\"-(" : "\"");
    rg_expression_resolve(text, strlen(text), NULL, 0, now > 0 ? shifted : NULL, &w->out, &uses);
    put(w, sign < 0 ? ")\"" : "\"");
}

static void put_vector_of_time(writer *w, const char *key, const char *const *text, rg_vec3 v) {
    rg_buffer_print(&w->out, ", %s: [", key);
    put_of_time(w, text[0], v.x, 1);
    put(w, ", ");
    if (!w->planar) {
        put_of_time(w, text[1], v.y, 1);
        put(w, ", ");
    }
    put_of_time(w, text[2], v.z, 1);
    put(w, "]");
}

/* Forces and joints refer to bodies by name. */
static rg_status put_body_name(writer *w, const char *what, rg_body_id body) {
    const char *name = rg_body_name(w->world, body);
    if (w->shown)
        return put_own_name(w, body);
    if (!name[0])
        return rg_fail(w->error, RG_UNSUPPORTED,
                       "%s body %zu, which has no name for the file to refer to; give it one", what,
                       rg_body_index(w->world, body));
    return put_quoted(w, name);
}

static rg_status put_force_body(writer *w, const char *key, rg_body_id body) {
    if (!body.index1)
        return RG_OK;
    rg_buffer_print(&w->out, ", %s: ", key);
    return put_body_name(w, "a force acts on", body);
}

static void put_force_numbers(writer *w, const rg_force_def *def) {
    switch (def->kind) {
    case RG_FORCE_CONSTANT:
        put_named_vector(w, "point", def->point);
        put_vector_of_time(w, "force", def->of_time + RG_OF_TIME_FORCE, def->force);
        if (!w->planar) {
            put_vector_of_time(w, "torque", def->of_time + RG_OF_TIME_TORQUE, def->torque);
            break;
        }
        put(w, ", torque: ");
        put_of_time(w, def->of_time[RG_OF_TIME_TORQUE + 1], def->torque.y, -1);
        break;
    case RG_FORCE_SPRING:
        put_named_vector(w, "point", def->point);
        put_named_vector(w, "other_point", def->other_point);
        put_named_number(w, "stiffness", def->stiffness);
        put_named_number(w, "damping", def->damping);
        put_named_number(w, "rest_length", def->rest_length);
        break;
    case RG_FORCE_DRAG:
        put_named_number(w, "linear", def->linear);
        put_named_number(w, "quadratic", def->quadratic);
        put_named_number(w, "angular", def->angular);
        break;
    case RG_FORCE_FIELD:
        put_vector_of_time(w, "acceleration", def->of_time + RG_OF_TIME_ACCELERATION,
                           def->acceleration);
        break;
    default:
        put_named_vector(w, "centre", def->centre);
        put_named_number(w, "strength", def->strength);
        break;
    }
}

static rg_status put_force(writer *w, size_t index) {
    rg_force_def given = rg_force_get_def(w->world, rg_world_force_at(w->world, index));
    const rg_force_def *def = &given;
    double now = rg_world_time(w->world);
    if (def->kind == RG_FORCE_FUNCTION && w->shown) {
        put(w, "  - {kind: constant, force: "); /* none: so that the others keep their numbers */
        put(w, w->planar ? "[0, 0]}\n" : "[0, 0, 0]}\n");
        return RG_OK;
    }
    if (def->kind == RG_FORCE_FUNCTION)
        return rg_fail(w->error, RG_UNSUPPORTED,
                       "a force is a function of the program, which a file cannot hold; remove it");
    rg_buffer_print(&w->out, "  - {kind: %s", rg_force_kind_name(def->kind));
    rg_status status = put_force_body(w, "body", def->body);
    if (status == RG_OK)
        status = put_force_body(w, "other", def->other);
    put_force_numbers(w, def);
    if (isfinite(def->start_time))
        put_named_number(w, "start", def->start_time - now);
    if (isfinite(def->stop_time))
        put_named_number(w, "stop", def->stop_time - now);
    put(w, "}\n");
    return status;
}

/* ---- joints ---- */

static rg_status put_joint_body(writer *w, rg_body_id body) {
    if (!body.index1) {
        put(w, "world");
        return RG_OK;
    }
    return put_body_name(w, "a joint holds", body);
}

static void put_frame(writer *w, const char *key, rg_pose frame) {
    rg_buffer_print(&w->out, ", %s: {position: ", key);
    put_vector(w, frame.position);
    put(w, ", orientation: ");
    put_quat(w, frame.orientation);
    put(w, "}");
}

static void put_motor(writer *w, const rg_joint_axis *a, bool *first) {
    if (a->motor == RG_MOTOR_NONE)
        return;
    put_key(w, first, "motor");
    rg_buffer_print(&w->out, "{%s: ", rg_motor_kind_name(a->motor));
    put_of_time(w, a->target_of_time, a->target, 1);
    if (a->gain > 0)
        put_named_number(w, "gain", a->gain);
    if (a->gain_velocity > 0)
        put_named_number(w, "gain_velocity", a->gain_velocity);
    if (isfinite(a->max_force))
        put_named_number(w, "max_force", a->max_force);
    put(w, "}");
}

static void put_axis(writer *w, const rg_joint_axis *a) {
    const struct {
        const char *key;
        double value;
        bool given;
    } numbers[] = {{"lower", a->lower, isfinite(a->lower)},
                   {"upper", a->upper, isfinite(a->upper)},
                   {"restitution", a->restitution, a->restitution > 0},
                   {"stiffness", a->stiffness, a->stiffness > 0},
                   {"damping", a->damping, a->damping > 0},
                   {"rest", a->rest, a->rest != 0},
                   {"friction", a->friction, a->friction > 0},
                   {"armature", a->armature, a->armature > 0}};
    bool first = true;
    put(w, "{");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!numbers[i].given)
            continue;
        put_key(w, &first, numbers[i].key);
        put_number(w, numbers[i].value);
    }
    put_motor(w, a, &first);
    put(w, "}");
}

static rg_status put_joint(writer *w, size_t index) {
    rg_joint_id joint = rg_world_joint_at(w->world, index);
    rg_joint_def def = rg_joint_get_def(w->world, joint);
    rg_buffer_print(&w->out, "  - {kind: %s, bodies: [", rg_joint_kind_name(def.kind));
    rg_status status = put_joint_body(w, def.body_a);
    put(w, ", ");
    if (status == RG_OK)
        status = put_joint_body(w, def.body_b);
    put(w, "]");
    if (status == RG_OK && def.name) {
        put(w, ", name: ");
        status = put_quoted(w, def.name);
    }
    put_frame(w, "frame_a", def.frame_a);
    put_frame(w, "frame_b", def.frame_b);
    if (def.kind == RG_JOINT_GEAR || def.kind == RG_JOINT_RACK)
        put_named_number(w, "ratio", def.ratio);
    if (def.kind == RG_JOINT_SURFACE) {
        put(w, ", surface: {square: ");
        put_vector(w, def.surface.square);
        put_named_vector(w, "linear", def.surface.linear);
        put_named_number(w, "constant", def.surface.constant);
        put(w, "}");
    }
    if (def.collide)
        put(w, ", collide: true");
    if (isfinite(def.break_force))
        put_named_number(w, "break_force", def.break_force);
    if (isfinite(def.break_torque))
        put_named_number(w, "break_torque", def.break_torque);
    if (rg_joint_get_state(w->world, joint).broken)
        put(w, ", broken: true");
    for (size_t i = 0; i < rg_joint_axis_count(def.kind); i++) {
        put(w, i ? ", " : ", axes: [");
        put_axis(w, &def.axis[i]);
    }
    put(w, rg_joint_axis_count(def.kind) ? "]}\n" : "}\n");
    return status;
}

/* ---- the whole ---- */

static rg_status write_text(const rg_scene *scene, bool shown, const rg_allocator *allocator,
                            char **text, size_t *size, rg_error *error) {
    assert(scene && text && size);
    *text = NULL;
    *size = 0;
    writer w = {.scene = scene,
                .world = scene->world,
                .shown = shown,
                .planar = rg_world_is_planar(scene->world),
                .out = rg_buffer_make(allocator),
                .error = error};
    rg_status status = put_settings(&w);
    if (status == RG_OK)
        status = put_materials(&w);
    if (status == RG_OK)
        status = put_shapes(&w);
    if (status == RG_OK)
        status = put_list(&w, "bodies:\n", rg_world_body_count(w.world), put_body);
    if (status == RG_OK)
        status = put_list(&w, "joints:\n", rg_world_joint_count(w.world), put_joint);
    if (status == RG_OK)
        status = put_list(&w, "forces:\n", rg_world_force_count(w.world), put_force);
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
