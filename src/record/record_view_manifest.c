/* Manifests: what there is in a run, as JSON (docs/view-format.md).
 *
 * Shapes are listed once each, by what they are: a scene file that gives every body a box of its
 * own makes as many shapes in memory as there are bodies, but the page draws equal ones together.
 * Two shapes are equal if their JSON is, so the text itself is the key.
 *
 * How it fails: no memory. Names may be any bytes; what is not UTF-8 becomes U+FFFD.
 * Tested by tests/record/test_view.c. */
#include "record/record_view.h"

#include "base/base_hash.h"
#include "base/base_math.h"
#include "base/base_text.h"
#include "rigor/joint.h"
#include "rigor/solver.h"
#include "rigor/version.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON ---- */

static void put(rg_buffer *out, const char *text) {
    rg_buffer_append(out, text, strlen(text));
}

/* Bytes of the UTF-8 character at `c`, or 0 if it is none. */
static size_t character_size(const unsigned char *c) {
    size_t size = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    if (c[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] >= 0xA0) ||
        (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] >= 0x90))
        return 0; /* overlong, half of a pair, beyond the last */
    return size;
}

void rg_json_put_text(rg_buffer *out, const char *text) {
    put(out, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        size_t size = character_size(c);
        if (size == 0)
            put(out, "\xEF\xBF\xBD");
        else if (*c == '"' || *c == '\\')
            rg_buffer_print(out, "\\%c", *c);
        else if (*c < 0x20 || *c == 0x7F || *c == '<')
            rg_buffer_print(out, "\\u%04x", *c);
        else
            rg_buffer_append(out, c, size);
        c += size ? size : 1;
    }
    put(out, "\"");
}

void rg_json_put_number(rg_buffer *out, double value) {
    char text[RG_NUMBER_SIZE];
    put(out, isfinite(value) ? rg_format_double(value, text) : "null");
}

void rg_json_put_numbers(rg_buffer *out, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        put(out, i ? "," : "[");
        rg_json_put_number(out, values[i]);
    }
    put(out, count ? "]" : "[]");
}

static void put_vec3(rg_buffer *out, rg_vec3 v) {
    rg_json_put_numbers(out, (double[]){v.x, v.y, v.z}, 3);
}

static void put_pose(rg_buffer *out, rg_pose pose) {
    rg_vec3 p = pose.position;
    rg_quat q = pose.orientation;
    rg_json_put_numbers(out, (double[]){p.x, p.y, p.z, q.x, q.y, q.z, q.w}, 7);
}

/* ,"key": */
static void put_key(rg_buffer *out, const char *key) {
    rg_buffer_print(out, ",\"%s\":", key);
}

static void put_named_number(rg_buffer *out, const char *key, double value) {
    put_key(out, key);
    rg_json_put_number(out, value);
}

static void put_named_text(rg_buffer *out, const char *key, const char *value) {
    put_key(out, key);
    rg_json_put_text(out, value);
}

static void put_named_truth(rg_buffer *out, const char *key, bool value) {
    put_key(out, key);
    put(out, value ? "true" : "false");
}

/* ---- shapes ---- */

static void put_points(rg_buffer *out, const rg_polyhedron *polyhedron) {
    put_key(out, "points");
    rg_json_put_numbers(out, &polyhedron->vertices[0].x, 3 * (size_t)polyhedron->vertex_count);
}

static void put_facets(rg_buffer *out, const rg_polyhedron *polyhedron) {
    put_key(out, "facets");
    for (uint32_t i = 0; i < polyhedron->facet_count; i++) {
        put(out, i ? ",[" : "[[");
        for (uint32_t k = polyhedron->facet_start[i]; k < polyhedron->facet_start[i + 1]; k++)
            rg_buffer_print(out, k > polyhedron->facet_start[i] ? ",%u" : "%u",
                            polyhedron->facet_vertices[k]);
        put(out, "]");
    }
    put(out, "]");
}

static void put_triangles(rg_buffer *out, const rg_shape_def *def) {
    put_key(out, "points");
    rg_json_put_numbers(out, &def->points[0].x, 3 * def->point_count);
    put_key(out, "facets");
    for (size_t i = 0; i < def->triangle_count; i++) {
        const uint32_t *k = def->triangles + 3 * i;
        rg_buffer_print(out, "%s%u,%u,%u]", i ? ",[" : "[[", k[0], k[1], k[2]);
    }
    put(out, "]");
}

static rg_status put_parts(rg_shape_list *list, rg_buffer *out, const rg_shape_def *def) {
    put_key(out, "parts");
    for (size_t i = 0; i < def->part_count; i++) {
        size_t number;
        rg_status status = rg_shape_list_find(list, def->parts[i].shape, &number);
        if (status != RG_OK)
            return status;
        rg_buffer_print(out, "%s{\"shape\":%zu,\"pose\":", i ? "," : "[", number);
        put_pose(out, def->parts[i].pose);
        put(out, "}");
    }
    put(out, "]");
    return RG_OK;
}

static rg_status put_shape(rg_shape_list *list, rg_buffer *out, const rg_shape *shape) {
    rg_shape_def def = rg_shape_get_def(shape);
    rg_status status = RG_OK;
    /* Terrain is drawn as the facets of a hull are. */
    rg_shape_kind kind = def.kind == RG_SHAPE_TERRAIN ? RG_SHAPE_HULL : def.kind;
    rg_buffer_print(out, "{\"kind\":\"%s\"", rg_shape_kind_name(kind));
    switch (def.kind) {
    case RG_SHAPE_HALFSPACE:
        put_key(out, "normal");
        put_vec3(out, def.normal);
        put_named_number(out, "offset", def.offset);
        break;
    case RG_SHAPE_BOX:
    case RG_SHAPE_ELLIPSOID:
        put_key(out, "size");
        put_vec3(out, def.size);
        break;
    case RG_SHAPE_SPHERE:
    case RG_SHAPE_DISC:
        put_named_number(out, "radius", def.radius);
        break;
    case RG_SHAPE_CAPSULE:
    case RG_SHAPE_CYLINDER:
    case RG_SHAPE_CONE:
        put_named_number(out, "radius", def.radius);
        put_named_number(out, "length", def.length);
        break;
    case RG_SHAPE_COMPOUND:
        status = put_parts(list, out, &def);
        break;
    case RG_SHAPE_TERRAIN:
        put_triangles(out, &def);
        break;
    default: /* hull, polygon */
        put_points(out, rg_shape_polyhedron(shape));
        if (def.kind == RG_SHAPE_HULL)
            put_facets(out, rg_shape_polyhedron(shape));
        break;
    }
    put(out, "}");
    return status;
}

/* The place of a text in the table: that of an equal one, or an empty one. */
static uint32_t *find_slot(const rg_shape_list *list, uint64_t hash, const char *text,
                           size_t size) {
    size_t mask = list->table_size - 1, slot = (size_t)hash & mask;
    for (; list->table[slot]; slot = (slot + 1) & mask) {
        const rg_shape_entry *entry = &list->entries[list->table[slot] - 1];
        if (entry->hash == hash && entry->text_size == size &&
            memcmp(list->texts.data + entry->text, text, size) == 0)
            break;
    }
    return &list->table[slot];
}

static rg_status make_room(rg_shape_list *list) {
    if (rg_array_grow(&list->allocator, &list->entries, &list->capacity, list->count + 1) != RG_OK)
        return RG_OUT_OF_MEMORY;
    if (2 * (list->count + 1) <= list->table_size)
        return RG_OK;
    size_t size = list->table_size ? 2 * list->table_size : 64;
    uint32_t *table = rg_allocate_zeroed(&list->allocator, size, sizeof *table);
    if (!table)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < list->count; i++) {
        size_t slot = (size_t)list->entries[i].hash & (size - 1);
        while (table[slot])
            slot = (slot + 1) & (size - 1);
        table[slot] = (uint32_t)i + 1;
    }
    rg_release(&list->allocator, list->table);
    list->table = table;
    list->table_size = size;
    return RG_OK;
}

rg_status rg_shape_list_find(rg_shape_list *list, const rg_shape *shape, size_t *number) {
    rg_buffer text = rg_buffer_make(&list->allocator);
    rg_status status = put_shape(list, &text, shape);
    if (status == RG_OK)
        status = text.failed ? RG_OUT_OF_MEMORY : make_room(list);
    if (status == RG_OK) {
        uint64_t hash = rg_hash_bytes(rg_hash_begin(), text.data, text.size);
        uint32_t *slot = find_slot(list, hash, text.data, text.size);
        if (*slot == 0) {
            list->entries[list->count] = (rg_shape_entry){shape, list->texts.size, text.size, hash};
            rg_buffer_append(&list->texts, text.data, text.size);
            *slot = (uint32_t)++list->count;
            status = list->texts.failed ? RG_OUT_OF_MEMORY : RG_OK;
        }
        *number = *slot - 1;
    }
    rg_buffer_free(&text);
    return status;
}

rg_status rg_shape_list_make(rg_shape_list *list, const rg_world *world,
                             const rg_allocator *allocator) {
    *list = (rg_shape_list){.allocator = *allocator, .texts = rg_buffer_make(allocator)};
    for (size_t b = 0; b < rg_world_body_count(world); b++) {
        rg_body_id body = rg_world_body_at(world, b);
        for (size_t c = 0; c < rg_body_collider_count(world, body); c++) {
            size_t number;
            rg_collider_id id = rg_body_collider_at(world, body, c);
            rg_status status =
                rg_shape_list_find(list, rg_collider_get_def(world, id).shape, &number);
            if (status != RG_OK)
                return status;
        }
    }
    return RG_OK;
}

void rg_shape_list_free(rg_shape_list *list) {
    rg_release(&list->allocator, list->entries);
    rg_release(&list->allocator, list->table);
    rg_buffer_free(&list->texts);
}

/* ---- bodies ---- */

static rg_status put_collider(rg_buffer *out, const rg_world *world, rg_shape_list *list,
                              rg_collider_id id) {
    rg_collider_def def = rg_collider_get_def(world, id);
    rg_contact_law law = rg_world_material_law(world, def.material);
    size_t number;
    rg_status status = rg_shape_list_find(list, def.shape, &number);
    if (status != RG_OK)
        return status;
    rg_buffer_print(out, "{\"shape\":%zu,\"pose\":", number);
    put_pose(out, def.pose);
    put_named_number(out, "friction", rg_contact_law_complete(law).static_friction);
    put_named_number(out, "restitution", law.restitution);
    put_named_text(out, "material", rg_world_material_name(world, def.material));
    put_named_truth(out, "sensor", def.sensor);
    put(out, "}");
    return RG_OK;
}

static void put_mass(rg_buffer *out, const rg_world *world, rg_body_id body) {
    if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC) {
        put(out, ",\"mass\":null,\"centre\":");
        put_vec3(out, rg_body_local_centre(world, body).position);
        put(out, ",\"inertia\":null,\"axes\":[0,0,0,1]");
        return;
    }
    rg_mass_properties mass = rg_body_mass(world, body);
    rg_principal_axes principal = {.moments = {0, mass.inertia.m[1][1], 0},
                                   .axes = rg_quat_identity()};
    if (!rg_world_is_planar(world))
        principal = rg_mass_principal_axes(&mass.inertia);
    rg_quat q = principal.axes;
    put_named_number(out, "mass", mass.mass);
    put_key(out, "centre");
    put_vec3(out, mass.centre);
    put_key(out, "inertia");
    put_vec3(out, principal.moments);
    put_key(out, "axes");
    rg_json_put_numbers(out, (double[]){q.x, q.y, q.z, q.w}, 4);
}

static rg_status put_body(rg_buffer *out, const rg_world *world, rg_shape_list *list,
                          rg_body_id body) {
    static const char *const motions[] = {[RG_MOTION_DYNAMIC] = "dynamic",
                                          [RG_MOTION_FIXED] = "fixed",
                                          [RG_MOTION_KINEMATIC] = "kinematic"};
    put(out, "{\"name\":");
    rg_json_put_text(out, rg_body_name(world, body));
    put_named_text(out, "motion", motions[rg_body_motion(world, body)]);
    put_mass(out, world, body);
    if (rg_body_gravity_scale(world, body) != 1)
        put_named_number(out, "gravity_scale", rg_body_gravity_scale(world, body));
    put(out, ",\"colliders\":[");
    for (size_t i = 0; i < rg_body_collider_count(world, body); i++) {
        if (i)
            put(out, ",");
        rg_status status = put_collider(out, world, list, rg_body_collider_at(world, body, i));
        if (status != RG_OK)
            return status;
    }
    put(out, "]}");
    return RG_OK;
}

/* ---- joints ---- */

/* -1: the world. */
static void put_side(rg_buffer *out, const rg_world *world, const char *key, rg_body_id body) {
    put_key(out, key);
    if (body.index1)
        rg_buffer_print(out, "%zu", rg_body_index(world, body));
    else
        put(out, "-1");
}

static void put_joint(rg_buffer *out, const rg_world *world, rg_joint_id joint) {
    rg_joint_def def = rg_joint_get_def(world, joint);
    put(out, "{\"name\":");
    rg_json_put_text(out, def.name ? def.name : "");
    put_named_text(out, "kind", rg_joint_kind_name(def.kind));
    put_side(out, world, "a", def.body_a);
    put_side(out, world, "b", def.body_b);
    put_key(out, "frame_a");
    put_pose(out, def.frame_a);
    put_key(out, "frame_b");
    put_pose(out, def.frame_b);
    put(out, ",\"axes\":[");
    for (size_t i = 0; i < rg_joint_axis_count(def.kind); i++) {
        put(out, i ? ",{\"angle\":" : "{\"angle\":");
        put(out, rg_joint_axis_is_angle(def.kind, i) ? "true" : "false");
        put_named_number(out, "lower", def.axis[i].lower);
        put_named_number(out, "upper", def.axis[i].upper);
        put(out, "}");
    }
    put(out, "]}");
}

/* ---- springs ---- */

static void put_springs(rg_buffer *out, const rg_world *world) {
    const char *before = ",\"springs\":[\n";
    for (size_t i = 0; i < rg_world_force_count(world); i++) {
        rg_force_def def = rg_force_get_def(world, rg_world_force_at(world, i));
        if (def.kind != RG_FORCE_SPRING)
            continue;
        put(out, before);
        rg_buffer_print(out, "{\"force\":%zu", i);
        put_side(out, world, "a", def.body);
        put_side(out, world, "b", def.other);
        put_key(out, "point_a");
        put_vec3(out, def.point);
        put_key(out, "point_b");
        put_vec3(out, def.other_point);
        put_named_number(out, "rest_length", def.rest_length);
        put(out, "}");
        before = ",\n";
    }
    put(out, before[1] == '\n' ? "]" : "");
}

/* ---- the whole ---- */

static void put_settings(rg_buffer *out, rg_scene *scene) {
    const rg_world *world = rg_scene_world(scene);
    rg_method_settings settings = rg_world_settings(world);
    put_named_truth(out, "planar", rg_world_is_planar(world));
    put_named_text(out, "method", rg_method_name(rg_world_method(world)));
    put_named_text(out, "solver", settings.solver ? rg_solver_name(settings.solver) : "auto");
    put_named_number(out, "step", rg_scene_step_size(scene));
    put_key(out, "gravity");
    put_vec3(out, rg_world_gravity(world));
    if (settings.friction_directions > 0)
        rg_buffer_print(out, ",\"friction\":\"polygon:%d\"", settings.friction_directions);
    else
        put(out, ",\"friction\":\"cone\"");
    put_named_number(out, "tolerance", settings.solver_tolerance);
}

static void put_recording(rg_buffer *out, const rg_view *view) {
    put_named_truth(out, "finished", view->info.finished);
    put_named_number(out, "duration", view->info.duration);
    put_named_number(out, "record_every", view->info.record_every);
    rg_buffer_print(out, ",\"frame_count\":%zu,\"chunk_frames\":%zu", view->frame_count,
                    view->chunk_frames);
    put_named_truth(out, "has_certificate", view->info.has_certificate);
    put_named_truth(out, "has_contacts", view->has_contacts);
    put_named_truth(out, "has_loads", view->has_loads && view->info.has_loads);
}

rg_status rg_manifest_write(rg_buffer *out, rg_scene *scene, const char *name, const rg_view *view,
                            const rg_allocator *allocator, rg_error *error) {
    const rg_world *world = rg_scene_world(scene);
    rg_shape_list list;
    rg_status status = rg_shape_list_make(&list, world, allocator);
    rg_buffer_print(out, "{\"format\":\"rigor-view\",\"version\":1,\"kind\":\"%s\"",
                    view ? "recording" : "live");
    put_named_text(out, "name", name);
    char generator[64];
    snprintf(generator, sizeof generator, "rigor %s", view ? view->info.version : RG_VERSION_TEXT);
    put_named_text(out, "generator", generator);
    put_settings(out, scene);
    if (view)
        put_recording(out, view);
    put(out, ",\"shapes\":[");
    for (size_t i = 0; status == RG_OK && i < list.count; i++) {
        put(out, i ? ",\n" : "\n");
        rg_buffer_append(out, list.texts.data + list.entries[i].text, list.entries[i].text_size);
    }
    put(out, "],\"bodies\":[");
    for (size_t i = 0; status == RG_OK && i < rg_world_body_count(world); i++) {
        put(out, i ? ",\n" : "\n");
        status = put_body(out, world, &list, rg_world_body_at(world, i));
    }
    put(out, "],\"joints\":[");
    for (size_t i = 0; status == RG_OK && i < rg_world_joint_count(world); i++) {
        put(out, i ? ",\n" : "\n");
        put_joint(out, world, rg_world_joint_at(world, i));
    }
    put(out, "]");
    put_springs(out, world);
    put(out, "}\n");
    rg_shape_list_free(&list);
    if (status == RG_OK && out->failed)
        status = RG_OUT_OF_MEMORY;
    return status == RG_OK ? RG_OK : rg_fail(error, status, "%s: no memory for a manifest", name);
}
