/* Bodies of scene files: each copy of an entry becomes a body def and goes straight to the world.
 * Keys of the body that are about colliders (density, material, sensor, category, mask) are the
 * defaults of its colliders; `shape` is short for a list with one collider.
 * Tested by tests/scene/test_reader.c. */
#include "scene/scene_reader.h"

#include "base/base_math.h"

#include <stdio.h>
#include <string.h>

enum { MAX_MATERIAL_SUGGESTIONS = 1000 };

/* ---- colliders ---- */

rg_status rg_read_material(rg_reader *reader, const rg_place *place, rg_material_id *material) {
    const char *name;
    rg_status status = rg_read_text(reader, place, &name);
    if (status != RG_OK || rg_world_find_material(reader->world, name, material) == RG_OK)
        return status;
    if (rg_has_failed(reader, RG_NAMED_MATERIAL, name))
        return rg_follow(reader);
    const char *names[MAX_MATERIAL_SUGGESTIONS];
    size_t count = rg_world_material_count(reader->world);
    count = count < MAX_MATERIAL_SUGGESTIONS ? count : MAX_MATERIAL_SUGGESTIONS;
    for (size_t i = 0; i < count; i++)
        names[i] = rg_world_material_name(reader->world, (rg_material_id){(uint32_t)i + 1});
    char quoted[RG_QUOTE_SIZE], nearest_quoted[RG_QUOTE_SIZE];
    const char *nearest = rg_nearest_word(name, names, count);
    rg_quote_word(name, quoted);
    if (nearest)
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "there is no material \"%s\"; did you mean \"%s\"?", quoted,
                             rg_quote_word(nearest, nearest_quoted));
    return rg_place_fail(reader, place, RG_NOT_FOUND,
                         "there is no material \"%s\"; define it under materials", quoted);
}

/* What bodies and colliders have in common, in the order in which their tables list it. */
typedef struct surface_keys {
    const rg_place *material, *density, *sensor, *category, *mask, *surface_velocity;
} surface_keys;

static rg_status read_surface(rg_reader *reader, const surface_keys *keys, bool zero_density,
                              rg_collider_def *collider) {
    rg_status status = RG_OK;
    if (rg_given(keys->material))
        status = rg_read_material(reader, keys->material, &collider->material);
    if (rg_recover(reader, &status) && rg_given(keys->density))
        status = zero_density
                     ? rg_read_not_negative(reader, keys->density, "a density", &collider->density)
                     : rg_read_positive(reader, keys->density, "a density", &collider->density);
    if (rg_recover(reader, &status) && rg_given(keys->sensor))
        status = rg_read_truth(reader, keys->sensor, &collider->sensor);
    if (rg_recover(reader, &status) && rg_given(keys->category))
        status = rg_read_bits(reader, keys->category, &collider->category);
    if (rg_recover(reader, &status) && rg_given(keys->mask))
        status = rg_read_bits(reader, keys->mask, &collider->mask);
    if (rg_recover(reader, &status) && rg_given(keys->surface_velocity))
        status = rg_read_vector(reader, keys->surface_velocity, &collider->surface_velocity);
    return status;
}

/* The shape of a collider, which must suit the body's motion. */
static rg_status read_body_shape(rg_reader *reader, const rg_place *place, const rg_body_def *def,
                                 rg_shape **shape) {
    rg_status status = rg_read_shape(reader, place, shape);
    if (status == RG_OK && !rg_shape_is_bounded(*shape) && def->motion != RG_MOTION_FIXED) {
        rg_shape_release(*shape);
        *shape = NULL;
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "a half-space cannot move; write motion: fixed, or use a box");
    }
    return status;
}

static rg_status read_collider(rg_reader *reader, const rg_place *place, const rg_body_def *def,
                               const rg_collider_def *defaults, rg_collider_def *collider) {
    rg_place v[COLLIDER_COUNT];
    *collider = *defaults;
    rg_status status = rg_read_keys(reader, place, &rg_keys_collider, v);
    if (!rg_is_mapping(place) || !rg_recover(reader, &status))
        return status;
    if (!rg_given(&v[COLLIDER_SHAPE]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "needs a shape; write e.g. {shape: {box: [1, 1, 1]}}");
    surface_keys keys = {&v[COLLIDER_MATERIAL], &v[COLLIDER_DENSITY],
                         &v[COLLIDER_SENSOR],   &v[COLLIDER_CATEGORY],
                         &v[COLLIDER_MASK],     &v[COLLIDER_SURFACE_VELOCITY]};
    status = read_surface(reader, &keys, true, collider);
    if (rg_recover(reader, &status))
        status = rg_read_local_pose(reader, &v[COLLIDER_POSITION], &collider->pose);
    if (rg_recover(reader, &status))
        status = read_body_shape(reader, &v[COLLIDER_SHAPE], def, &collider->shape);
    return status;
}

/* Fills reader->colliders; def->collider_count of them hold a reference even on failure. */
static rg_status read_colliders(rg_reader *reader, const rg_place *v, rg_body_def *def) {
    rg_collider_def defaults = rg_collider_def_default();
    surface_keys keys = {&v[BODY_MATERIAL], &v[BODY_DENSITY], &v[BODY_SENSOR],
                         &v[BODY_CATEGORY], &v[BODY_MASK],    &v[BODY_SURFACE_VELOCITY]};
    size_t failures = reader->mistakes.failures;
    rg_status status = read_surface(reader, &keys, false, &defaults);
    if (!rg_recover(reader, &status))
        return status;
    const rg_place *shape = &v[BODY_SHAPE], *list = &v[BODY_COLLIDERS];
    if (rg_given(shape) && rg_given(list))
        return rg_place_fail(reader, shape, RG_INVALID_ARGUMENT,
                             "the body has colliders too; put this shape among them");
    if (rg_given(list) && (status = rg_require_list(reader, list, "a list of colliders")) != RG_OK)
        return status;
    size_t count = rg_given(list) ? rg_list_size(list) : rg_given(shape) ? 1 : 0;
    if (rg_array_grow(&reader->allocator, &reader->colliders, &reader->collider_capacity, count) !=
        RG_OK)
        return rg_reader_no_memory(reader);
    for (size_t i = 0; i < count && rg_recover(reader, &status); i++) {
        rg_collider_def *collider = &reader->colliders[i];
        collider->shape = NULL;
        if (rg_given(list)) {
            rg_place item = rg_list_at(reader, list, i);
            status = read_collider(reader, &item, def, &defaults, collider);
        } else {
            *collider = defaults;
            status = read_body_shape(reader, shape, def, &collider->shape);
        }
        def->collider_count = i + 1;
    }
    if (rg_recover(reader, &status) && failures < reader->mistakes.failures)
        status = rg_follow(reader);
    def->colliders = reader->colliders;
    return status;
}

/* ---- motion ---- */

static rg_status read_oscillation(rg_reader *reader, const rg_place *place, rg_prescription *p) {
    rg_place v[OSCILLATE_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_oscillate, v);
    p->kind = RG_PRESCRIBED_OSCILLATION;
    p->frequency = 1;
    if (status == RG_OK && rg_given(&v[OSCILLATE_AMPLITUDE]))
        status = rg_read_vector(reader, &v[OSCILLATE_AMPLITUDE], &p->amplitude);
    if (status == RG_OK && rg_given(&v[OSCILLATE_ROTATION_AMPLITUDE]))
        status = rg_read_spin(reader, &v[OSCILLATE_ROTATION_AMPLITUDE], &p->rotation_amplitude);
    if (status == RG_OK && rg_given(&v[OSCILLATE_FREQUENCY]))
        status =
            rg_read_not_negative(reader, &v[OSCILLATE_FREQUENCY], "a frequency", &p->frequency);
    if (status == RG_OK && rg_given(&v[OSCILLATE_PHASE]))
        status = rg_read_number(reader, &v[OSCILLATE_PHASE], &p->phase);
    return status;
}

/* Expressions of time: how far the start pose is moved, and turned by a rotation vector. */
static rg_status read_moved(rg_reader *reader, const rg_place *v, rg_prescription *p) {
    const rg_place *move = &v[KINEMATIC_MOVE], *turn = &v[KINEMATIC_TURN];
    rg_status status = RG_OK;
    if (rg_given(&v[KINEMATIC_OSCILLATE]))
        return rg_place_fail(reader, rg_given(move) ? move : turn, RG_INVALID_ARGUMENT,
                             "the body oscillates too; write that as an expression of t");
    p->kind = RG_PRESCRIBED_OF_TIME;
    if (rg_given(move))
        status = rg_read_vector_of_time(reader, move, 0, false, &p->amplitude, p->of_time);
    if (status == RG_OK && rg_given(turn))
        status =
            rg_read_vector_of_time(reader, turn, 3, true, &p->rotation_amplitude, p->of_time + 3);
    return status;
}

static rg_status read_motion(rg_reader *reader, const rg_place *place, rg_body_def *def) {
    static const char *const names[] = {"dynamic", "fixed", "kinematic"};
    size_t choice;
    if (!rg_is_mapping(place)) {
        rg_status status = rg_read_choice(reader, place, names, 3, &choice);
        if (status == RG_OK)
            def->motion = (rg_motion)choice;
        return status;
    }
    rg_place outer[MOTION_COUNT], inner[KINEMATIC_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_motion, outer);
    if (status == RG_OK && !rg_given(&outer[MOTION_KINEMATIC]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "is empty; write dynamic, fixed or kinematic");
    def->motion = RG_MOTION_KINEMATIC;
    if (status == RG_OK)
        status = rg_read_keys(reader, &outer[MOTION_KINEMATIC], &rg_keys_kinematic, inner);
    if (status == RG_OK && rg_given(&inner[KINEMATIC_OSCILLATE]))
        status = read_oscillation(reader, &inner[KINEMATIC_OSCILLATE], &def->prescription);
    if (status == RG_OK && (rg_given(&inner[KINEMATIC_MOVE]) || rg_given(&inner[KINEMATIC_TURN])))
        status = read_moved(reader, inner, &def->prescription);
    return status;
}

/* ---- mass ---- */

static rg_status read_inertia(rg_reader *reader, const rg_place *place, rg_mat3 *inertia) {
    double d[3];
    char text[RG_DESCRIPTION_SIZE];
    *inertia = (rg_mat3){{{0}}};
    if (reader->planar)
        return rg_read_positive(reader, place, "a moment of inertia", &inertia->m[1][1]);
    if (!rg_is_list(place) || rg_list_size(place) != 3)
        return rg_place_fail(
            reader, place, RG_WRONG_TYPE,
            "expected three moments or a 3x3 matrix, got %s; write [Ixx, Iyy, Izz]",
            rg_describe_node(reader, place->node, text));
    rg_place first = rg_list_at(reader, place, 0);
    if (!rg_is_list(&first)) {
        rg_status status = rg_read_numbers(reader, place, 3, d);
        if (status == RG_OK)
            *inertia = rg_mat3_diagonal(rg_vec3_make(d[0], d[1], d[2]));
        return status;
    }
    for (size_t i = 0; i < 3; i++) {
        rg_place row = rg_list_at(reader, place, i);
        rg_status status = rg_read_numbers(reader, &row, 3, inertia->m[i]);
        if (status != RG_OK)
            return status;
    }
    return RG_OK;
}

static rg_status read_mass(rg_reader *reader, const rg_place *v, rg_body_def *def) {
    const rg_place *mass = &v[BODY_MASS], *inertia = &v[BODY_INERTIA],
                   *centre = &v[BODY_CENTRE_OF_MASS];
    const rg_place *needs_mass = rg_given(inertia) ? inertia : centre;
    if (!rg_given(mass))
        return rg_given(needs_mass) ? rg_place_fail(reader, needs_mass, RG_NOT_FOUND,
                                                    "needs the mass beside it; write mass, in kg")
                                    : RG_OK;
    rg_status status = rg_read_positive(reader, mass, "a mass", &def->total_mass);
    if (status != RG_OK)
        return status;
    if (rg_given(&v[BODY_DENSITY]) && !rg_given(inertia))
        return rg_place_fail(reader, &v[BODY_DENSITY], RG_INVALID_ARGUMENT,
                             "the body has a mass too; keep density or mass");
    if (!rg_given(inertia)) {
        if (rg_given(centre))
            return rg_place_fail(reader, centre, RG_NOT_FOUND,
                                 "needs the inertia about it beside it; write inertia, in kg m^2");
        if (def->motion == RG_MOTION_DYNAMIC && !rg_given(&v[BODY_SHAPE]) &&
            !rg_given(&v[BODY_COLLIDERS]))
            return rg_place_fail(reader, mass, RG_NOT_FOUND,
                                 "a body without a shape needs the inertia too; write inertia: "
                                 "[Ixx, Iyy, Izz], in kg m^2");
        return RG_OK;
    }
    def->has_mass = true;
    def->mass.mass = def->total_mass;
    def->total_mass = 0;
    if ((status = read_inertia(reader, inertia, &def->mass.inertia)) != RG_OK)
        return status;
    if (rg_given(centre) && (status = rg_read_vector(reader, centre, &def->mass.centre)) != RG_OK)
        return status;
    rg_error cause = {0};
    status = rg_mass_check(&def->mass, reader->planar, &cause);
    return status == RG_OK ? RG_OK : rg_place_wrap(reader, inertia, status, &cause);
}

/* ---- the body ---- */

static rg_status read_pose(rg_reader *reader, const rg_place *v, rg_body_def *def) {
    const rg_place *orientation = &v[BODY_ORIENTATION];
    const rg_place *turned = rg_given(&v[BODY_ANGLE]) ? &v[BODY_ANGLE] : &v[BODY_ANGLE_DEGREES];
    rg_status status = RG_OK;
    if (rg_given(&v[BODY_POSITION]))
        status = rg_read_vector(reader, &v[BODY_POSITION], &def->pose.position);
    if (status != RG_OK)
        return status;
    if (reader->planar) {
        if (rg_given(orientation))
            return rg_place_fail(reader, orientation, RG_INVALID_ARGUMENT,
                                 "a body of a planar scene has an angle; write angle, in radians, "
                                 "or angle_degrees");
        return rg_read_angle(reader, &v[BODY_ANGLE], &v[BODY_ANGLE_DEGREES], &def->angle);
    }
    if (rg_given(turned))
        return rg_place_fail(reader, turned, RG_INVALID_ARGUMENT,
                             "belongs to planar scenes; write orientation: {axis: [0, 0, 1], "
                             "degrees: 30}");
    if (rg_given(orientation))
        status = rg_read_orientation(reader, orientation, &def->pose.orientation);
    return status;
}

static rg_status read_velocities(rg_reader *reader, const rg_place *v, rg_body_def *def) {
    const rg_place *velocity = &v[BODY_VELOCITY], *spin = &v[BODY_ANGULAR_VELOCITY];
    rg_status status = RG_OK;
    if (rg_given(velocity))
        status = rg_read_vector(reader, velocity, &def->velocity);
    if (status == RG_OK && rg_given(spin))
        status = rg_read_spin(reader, spin, &def->angular_velocity);
    if (status != RG_OK || (rg_is_zero(def->velocity) && rg_is_zero(def->angular_velocity)))
        return status;
    const rg_place *blamed = rg_is_zero(def->velocity) ? spin : velocity;
    if (def->motion == RG_MOTION_FIXED)
        return rg_place_fail(reader, blamed, RG_INVALID_ARGUMENT,
                             "a fixed body has no velocity; remove it, or write motion: kinematic");
    if (def->motion == RG_MOTION_KINEMATIC && def->prescription.kind != RG_PRESCRIBED_VELOCITY)
        return rg_place_fail(reader, blamed, RG_INVALID_ARGUMENT,
                             "the velocity of this body follows from its %s; remove it",
                             def->prescription.kind == RG_PRESCRIBED_OSCILLATION
                                 ? "oscillation"
                                 : "prescribed motion");
    return RG_OK;
}

static rg_status read_name(rg_reader *reader, const rg_place *v, const rg_repeat *repeat,
                           const uint64_t index[3], rg_body_def *def) {
    const rg_place *place = &v[BODY_NAME];
    const char *name;
    if (!rg_given(place))
        return RG_OK;
    rg_status status = rg_read_text(reader, place, &name);
    if (status == RG_OK)
        status = rg_expand_name(reader, place, name, repeat, index, &def->name);
    if (status != RG_OK)
        return status;
    char quoted[RG_QUOTE_SIZE];
    if (repeat->copies > 1 && !strchr(name, '{'))
        return rg_place_fail(reader, place, RG_DUPLICATE_NAME,
                             "all %llu copies would be called \"%s\"; write e.g. \"%s{i}\"",
                             (unsigned long long)repeat->copies, rg_quote_word(name, quoted),
                             strlen(name) < 40 ? name : "body");
    rg_body_id other;
    if (rg_world_find_body(reader->world, def->name, &other) == RG_OK)
        return rg_place_fail(reader, place, RG_DUPLICATE_NAME,
                             "the body at line %d is called \"%s\" too; names are unique",
                             reader->body_lines[rg_body_index(reader->world, other)],
                             rg_quote_word(def->name, quoted));
    return RG_OK;
}

static rg_status read_def(rg_reader *reader, const rg_place *v, const rg_repeat *repeat,
                          const uint64_t index[3], rg_body_def *def) {
    rg_status status = read_name(reader, v, repeat, index, def);
    if (rg_recover(reader, &status))
        status = read_pose(reader, v, def);
    if (rg_recover(reader, &status) && rg_given(&v[BODY_GRAVITY_SCALE]))
        status = rg_read_number(reader, &v[BODY_GRAVITY_SCALE], &def->gravity_scale);
    if (rg_recover(reader, &status) && rg_given(&v[BODY_MOTION]))
        status = read_motion(reader, &v[BODY_MOTION], def);
    if (status != RG_OK) /* what may move and what must have a mass is not known */
        return status;
    status = read_velocities(reader, v, def);
    if (rg_recover(reader, &status))
        status = read_mass(reader, v, def);
    if (rg_recover(reader, &status))
        status = read_colliders(reader, v, def);
    return status;
}

static rg_status read_copy(rg_reader *reader, const rg_place *entry, const rg_repeat *repeat,
                           const uint64_t index[3]) {
    rg_place v[BODY_COUNT];
    size_t failures = reader->mistakes.failures;
    rg_status status = rg_read_keys(reader, entry, &rg_keys_body, v);
    if (!rg_is_mapping(entry) || !rg_recover(reader, &status))
        return status;
    size_t count = rg_world_body_count(reader->world);
    if (rg_array_grow(&reader->allocator, &reader->body_lines, &reader->body_line_capacity,
                      count + 1) != RG_OK)
        return rg_reader_no_memory(reader);
    reader->body_lines[count] = (int)entry->node->start_mark.line + 1;
    rg_body_def def = rg_body_def_default();
    status = read_def(reader, v, repeat, index, &def);
    if (rg_recover(reader, &status) && failures == reader->mistakes.failures) {
        rg_body_id body;
        rg_error cause = {0};
        status = rg_world_add_body(reader->world, &def, &body, &cause);
        if (status != RG_OK)
            status = rg_place_wrap(reader, entry, status, &cause);
    }
    for (size_t i = 0; i < def.collider_count; i++)
        rg_shape_release(reader->colliders[i].shape);
    return status;
}

/* Whatever names this body is no mistake of its own. */
static rg_status note_body(rg_reader *reader, const rg_place *entry) {
    rg_place name = rg_find_key(reader, entry, "name");
    bool readable = rg_given(&name) && rg_is_scalar(&name);
    return rg_note_failed(reader, RG_NAMED_BODY,
                          readable ? (const char *)name.node->data.scalar.value : NULL);
}

rg_status rg_read_bodies(rg_reader *reader, const rg_place *place) {
    return rg_for_each_copy(reader, place, "bodies", read_copy, note_body);
}
