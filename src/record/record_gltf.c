/* A recording as binary glTF 2.0, for Blender and other programs: a mesh for each distinct shape, a
 * node for each body, and all motion in one animation.
 *
 * A root node turns z up into glTF's y up. Poses are keyframes joined by straight lines (positions)
 * and arcs (rotations), as glTF's LINEAR has it; a keyframe that these reproduce to 1e-6 is left
 * out, and what never moves has no channel. Half-spaces become slabs that are large enough for all
 * that happens; planar shapes become plates. Sensors are not drawn. Contacts and figures have no
 * place in glTF.
 *
 * How it fails: as reading and writing do; RG_LIMIT_EXCEEDED where the file would pass glTF's
 * 4 GiB, or the animation half of that. */
#include "record/record_gltf.h"

#include "base/base_math.h"
#include "base/base_text.h"
#include "record/record_gltf_mesh.h"
#include "record/record_outlet.h"
#include "rigor/version.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    TARGET_VERTICES = 34962,
    TARGET_INDICES = 34963,
    MATERIALS = RG_GLTF_MATERIALS,
    PALETTE = 6 /* materials of dynamic bodies; then those of fixed and kinematic ones */
};

/* Linear RGB. */
static const struct {
    const char *name;
    double colour[3], roughness;
} materials[MATERIALS] = {
    {"blue", {0.09, 0.27, 0.60}, 0.55},   {"orange", {0.80, 0.30, 0.05}, 0.55},
    {"green", {0.10, 0.42, 0.20}, 0.55},  {"red", {0.65, 0.08, 0.09}, 0.55},
    {"yellow", {0.82, 0.56, 0.08}, 0.55}, {"violet", {0.30, 0.16, 0.52}, 0.55},
    {"fixed", {0.42, 0.43, 0.45}, 0.9},   {"kinematic", {0.06, 0.45, 0.50}, 0.4}};

static void put(rg_buffer *out, const char *text) {
    rg_buffer_append(out, text, strlen(text));
}

rg_status rg_gltf_fail_memory(rg_gltf_writer *w) {
    return rg_fail(w->error, RG_OUT_OF_MEMORY, "no memory for glTF");
}

static void put_floats(rg_buffer *out, const float *values, size_t count) {
    double numbers[4];
    assert(count <= 4);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (double)values[i];
    rg_json_put_numbers(out, numbers, count);
}

/* ---- accessors ---- */

static void align(rg_buffer *bytes) {
    while (bytes->size % 4 != 0)
        rg_buffer_append(bytes, "", 1);
}

/* The number of a new view of the last `size` bytes of the geometry. */
static size_t add_view(rg_gltf_writer *w, size_t offset, size_t size, int target) {
    rg_buffer_print(&w->views,
                    "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,\"target\":%d}",
                    w->view_count ? ",\n" : "", offset, size, target);
    return w->view_count++;
}

void rg_gltf_begin_accessor(rg_gltf_writer *w, size_t view, size_t offset, int component,
                            size_t count, const char *type) {
    rg_buffer_print(&w->accessors, "%s{\"bufferView\":%zu", w->accessor_count ? ",\n" : "", view);
    if (offset)
        rg_buffer_print(&w->accessors, ",\"byteOffset\":%zu", offset);
    rg_buffer_print(&w->accessors, ",\"componentType\":%d,\"count\":%zu,\"type\":\"%s\"", component,
                    count, type);
    w->accessor_count++;
}

void rg_gltf_put_limits(rg_gltf_writer *w, const float *values, size_t count, size_t columns) {
    float lower[4], upper[4];
    for (size_t c = 0; c < columns; c++) {
        lower[c] = upper[c] = values[c];
        for (size_t i = 1; i < count; i++) {
            float value = values[i * columns + c];
            lower[c] = value < lower[c] ? value : lower[c];
            upper[c] = value > upper[c] ? value : upper[c];
        }
    }
    put(&w->accessors, ",\"min\":");
    put_floats(&w->accessors, lower, columns);
    put(&w->accessors, ",\"max\":");
    put_floats(&w->accessors, upper, columns);
}

/* ---- meshes ---- */

static rg_status make_mesh(rg_gltf_writer *w, size_t number) {
    rg_gltf_shape *made = &w->meshes[number];
    rg_mesh_data data = rg_mesh_data_make(&w->allocator);
    rg_status status =
        rg_mesh_data_add(&data, w->shapes.entries[number].shape, w->depth, 4 * w->radius);
    if (status == RG_OK) {
        size_t start = w->bin.size, bytes = data.positions.size;
        rg_buffer_append(&w->bin, data.positions.data, bytes);
        size_t view = add_view(w, start, bytes, TARGET_VERTICES);
        rg_gltf_begin_accessor(w, view, 0, RG_GLTF_F32, data.vertex_count, "VEC3");
        rg_gltf_put_limits(w, (const float *)(const void *)data.positions.data, data.vertex_count,
                           3);
        put(&w->accessors, "}");
        made->position = w->accessor_count - 1;
        rg_buffer_append(&w->bin, data.normals.data, bytes);
        view = add_view(w, start + bytes, bytes, TARGET_VERTICES);
        rg_gltf_begin_accessor(w, view, 0, RG_GLTF_F32, data.vertex_count, "VEC3");
        put(&w->accessors, "}");
        made->normal = w->accessor_count - 1;
        rg_buffer_append(&w->bin, data.indices.data, data.indices.size);
        view = add_view(w, start + 2 * bytes, data.indices.size, TARGET_INDICES);
        rg_gltf_begin_accessor(w, view, 0, RG_GLTF_U32, data.index_count, "SCALAR");
        put(&w->accessors, "}");
        made->indices = w->accessor_count - 1;
        made->made = true;
    }
    rg_mesh_data_free(&data);
    return status == RG_OK ? RG_OK : rg_gltf_fail_memory(w);
}

/* The number of a material in the file. */
static size_t material_number(rg_gltf_writer *w, size_t material) {
    size_t i = 0;
    while (i < w->used_count && w->used[i] != material)
        i++;
    if (i == w->used_count)
        w->used[w->used_count++] = material;
    return i;
}

/* The mesh of a shape in a material. */
static rg_status mesh_of(rg_gltf_writer *w, size_t shape, size_t material, size_t *mesh) {
    rg_gltf_shape *made = &w->meshes[shape];
    if (!made->made) {
        rg_status status = make_mesh(w, shape);
        if (status != RG_OK)
            return status;
    }
    if (made->mesh[material] == 0) {
        rg_buffer_print(&w->mesh_list,
                        "%s{\"name\":\"%s %zu, %s\",\"primitives\":[{\"attributes\":{"
                        "\"POSITION\":%zu,\"NORMAL\":%zu},\"indices\":%zu,\"material\":%zu}]}",
                        w->mesh_count ? ",\n" : "",
                        rg_shape_kind_name(rg_shape_get_kind(w->shapes.entries[shape].shape)),
                        shape, materials[material].name, made->position, made->normal,
                        made->indices, material_number(w, material));
        made->mesh[material] = (int)++w->mesh_count;
    }
    *mesh = (size_t)made->mesh[material] - 1;
    return RG_OK;
}

/* ---- nodes: children before parents, so that their numbers are known ---- */

static void begin_node(rg_gltf_writer *w, const char *name) {
    put(&w->nodes, w->node_count ? ",\n{\"name\":" : "{\"name\":");
    rg_json_put_text(&w->nodes, name);
    w->node_count++;
}

static void put_place(rg_gltf_writer *w, const float *position, const float *orientation) {
    static const float still[3] = {0, 0, 0}, upright[4] = {0, 0, 0, 1};
    if (memcmp(position, still, sizeof still) != 0) {
        put(&w->nodes, ",\"translation\":");
        put_floats(&w->nodes, position, 3);
    }
    if (memcmp(orientation, upright, sizeof upright) != 0) {
        put(&w->nodes, ",\"rotation\":");
        put_floats(&w->nodes, orientation, 4);
    }
}

static void put_pose(rg_gltf_writer *w, rg_pose pose) {
    rg_quat q = rg_quat_normalised(pose.orientation);
    put_place(w, (float[]){(float)pose.position.x, (float)pose.position.y, (float)pose.position.z},
              (float[]){(float)q.x, (float)q.y, (float)q.z, (float)q.w});
}

/* The rotation that takes z to a unit vector, by the shortest way. */
static rg_quat turn_from_z(rg_vec3 to) {
    if (to.z < -1 + 1e-12)
        return (rg_quat){1, 0, 0, 0};
    return rg_quat_normalised((rg_quat){-to.y, to.x, 0, 1 + to.z});
}

/* Where a half-space's slab lies in the frame of the shape: in its plane, below the middle of all
 * that happens. `frame` is the shape's pose in the world. */
rg_pose rg_gltf_slab_pose(const rg_gltf_writer *w, const rg_shape_def *def, rg_pose frame) {
    rg_vec3 middle = rg_rotate_back(frame.orientation, rg_sub(w->centre, frame.position));
    double height = rg_dot(def->normal, middle) - def->offset;
    return (rg_pose){rg_add_scaled(middle, -height, def->normal), turn_from_z(def->normal)};
}

static rg_pose compose(rg_pose outer, rg_pose inner) {
    return (rg_pose){rg_add(outer.position, rg_rotate(outer.orientation, inner.position)),
                     rg_quat_normalised(rg_quat_multiply(outer.orientation, inner.orientation))};
}

/* A child node for a shape, or for each part of it; their numbers follow each other. */
static rg_status add_shape_nodes(rg_gltf_writer *w, const rg_shape *shape, rg_pose pose,
                                 rg_pose body_pose, size_t material) {
    rg_shape_def def = rg_shape_get_def(shape);
    if (def.kind == RG_SHAPE_COMPOUND) {
        rg_status status = RG_OK;
        for (size_t i = 0; status == RG_OK && i < def.part_count; i++)
            status = add_shape_nodes(w, def.parts[i].shape, compose(pose, def.parts[i].pose),
                                     body_pose, material);
        return status;
    }
    size_t number, mesh;
    if (rg_shape_list_find(&w->shapes, shape, &number) != RG_OK)
        return rg_gltf_fail_memory(w);
    rg_status status = mesh_of(w, number, material, &mesh);
    if (status != RG_OK)
        return status;
    if (def.kind == RG_SHAPE_HALFSPACE)
        pose = compose(pose, rg_gltf_slab_pose(w, &def, compose(body_pose, pose)));
    begin_node(w, rg_shape_kind_name(def.kind));
    rg_buffer_print(&w->nodes, ",\"mesh\":%zu", mesh);
    put_pose(w, pose);
    put(&w->nodes, "}");
    return RG_OK;
}

static bool is_plain(rg_pose pose) {
    return pose.position.x == 0 && pose.position.y == 0 && pose.position.z == 0 &&
           pose.orientation.x == 0 && pose.orientation.y == 0 && pose.orientation.z == 0;
}

static void begin_body(rg_gltf_writer *w, size_t b) {
    char number[32];
    snprintf(number, sizeof number, "body %zu", b);
    const char *name = rg_body_name(w->world, rg_world_body_at(w->world, b));
    begin_node(w, name[0] ? name : number);
    put_place(w, w->positions + 3 * b, w->orientations + 4 * b);
}

static size_t material_of(const rg_gltf_writer *w, size_t b) {
    switch (rg_body_motion(w->world, rg_world_body_at(w->world, b))) {
    case RG_MOTION_FIXED:
        return PALETTE;
    case RG_MOTION_KINEMATIC:
        return PALETTE + 1;
    default:
        return b % PALETTE;
    }
}

const double *rg_gltf_colour(const rg_gltf_writer *w, size_t b) {
    return materials[material_of(w, b)].colour;
}

/* One shape in the body's own frame is the body's mesh; otherwise there are children. */
static rg_status add_body_node(rg_gltf_writer *w, size_t b, size_t *node) {
    rg_body_id body = rg_world_body_at(w->world, b);
    size_t colliders = rg_body_collider_count(w->world, body), first = w->node_count;
    rg_collider_def def = {0};
    if (colliders == 1)
        def = rg_collider_get_def(w->world, rg_body_collider_at(w->world, body, 0));
    if (colliders == 1 && is_plain(def.pose) && !def.sensor && rg_shape_is_bounded(def.shape) &&
        rg_shape_is_convex(def.shape)) {
        size_t number, mesh;
        if (rg_shape_list_find(&w->shapes, def.shape, &number) != RG_OK)
            return rg_gltf_fail_memory(w);
        rg_status status = mesh_of(w, number, material_of(w, b), &mesh);
        if (status != RG_OK)
            return status;
        begin_body(w, b);
        rg_buffer_print(&w->nodes, ",\"mesh\":%zu}", mesh);
        *node = first;
        return RG_OK;
    }
    rg_pose pose = rg_body_pose(w->world, body);
    for (size_t c = 0; c < colliders; c++) {
        def = rg_collider_get_def(w->world, rg_body_collider_at(w->world, body, c));
        rg_status status =
            def.sensor ? RG_OK : add_shape_nodes(w, def.shape, def.pose, pose, material_of(w, b));
        if (status != RG_OK)
            return status;
    }
    size_t end = w->node_count;
    begin_body(w, b);
    for (size_t i = first; i < end; i++)
        rg_buffer_print(&w->nodes, i > first ? ",%zu" : ",\"children\":[%zu", i);
    put(&w->nodes, end > first ? "]}" : "}");
    *node = end;
    return RG_OK;
}

/* ---- the file ---- */

static rg_status build(rg_gltf_writer *w, size_t *body_nodes) {
    rg_status status = RG_OK;
    for (size_t b = 0; status == RG_OK && b < w->body_count; b++)
        status = add_body_node(w, b, &body_nodes[b]);
    w->motion_view = w->view_count; /* after the geometry's */
    for (size_t b = 0; status == RG_OK && b < w->body_count; b++)
        rg_gltf_add_motion(w, b, body_nodes[b]);
    return status;
}

static void put_materials(const rg_gltf_writer *w, rg_buffer *json) {
    put(json, ",\n\"materials\":[");
    for (size_t i = 0; i < w->used_count; i++) {
        size_t number = w->used[i];
        const double *c = materials[number].colour;
        rg_buffer_print(json, "%s{\"name\":\"%s\",\"pbrMetallicRoughness\":{\"baseColorFactor\":",
                        i ? ",\n" : "", materials[number].name);
        rg_json_put_numbers(json, (double[]){c[0], c[1], c[2], 1}, 4);
        put(json, ",\"metallicFactor\":0,\"roughnessFactor\":");
        rg_json_put_number(json, materials[number].roughness);
        put(json, "}}");
    }
    put(json, "]");
}

/* ,"name":[list] unless the list is empty. */
static void put_list(rg_buffer *json, const char *name, const rg_buffer *list) {
    if (list->size == 0)
        return;
    rg_buffer_print(json, ",\n\"%s\":[", name);
    rg_buffer_append(json, list->data, list->size);
    put(json, "]");
}

static void put_scene(rg_gltf_writer *w, rg_buffer *json, const size_t *body_nodes) {
    const char *name = w->view->info.scene_name;
    put(json, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"rigor " RG_VERSION_TEXT "\"}");
    rg_buffer_print(json, ",\n\"scene\":0,\"scenes\":[{\"nodes\":[%zu],\"name\":", w->node_count);
    rg_json_put_text(json, name[0] ? name : "scene");
    put(json, "}],\n\"nodes\":[");
    rg_buffer_append(json, w->nodes.data, w->nodes.size);
    /* A quarter turn about x: z up becomes y up. */
    put(json, w->node_count ? ",\n" : "");
    put(json, "{\"name\":\"world, z up\",\"rotation\":[-0.70710678118654752,0,0,"
              "0.70710678118654752]");
    for (size_t b = 0; b < w->body_count; b++)
        rg_buffer_print(json, b ? ",%zu" : ",\"children\":[%zu", body_nodes[b]);
    put(json, w->body_count ? "]}]" : "}]");
}

static void put_json(rg_gltf_writer *w, rg_buffer *json, const size_t *body_nodes) {
    put_scene(w, json, body_nodes);
    if (w->mesh_count) {
        put_materials(w, json);
        put_list(json, "meshes", &w->mesh_list);
    }
    if (w->motion.size)
        rg_buffer_print(&w->views, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}",
                        w->view_count ? ",\n" : "", w->bin.size, w->motion.size);
    if (w->sampler_count) {
        put(json, ",\n\"animations\":[{\"name\":\"motion\",\"samplers\":[");
        rg_buffer_append(json, w->samplers.data, w->samplers.size);
        put(json, "],\n\"channels\":[");
        rg_buffer_append(json, w->channels.data, w->channels.size);
        put(json, "]}]");
    }
    put_list(json, "accessors", &w->accessors);
    put_list(json, "bufferViews", &w->views);
    if (w->bin.size + w->motion.size)
        rg_buffer_print(json, ",\n\"buffers\":[{\"byteLength\":%zu}]",
                        w->bin.size + w->motion.size);
    put(json, "}");
    while (json->size % 4 != 0)
        put(json, " ");
}

static void put_words(rg_buffer *out, const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (int byte = 0; byte < 4; byte++) {
            unsigned char c = (unsigned char)(words[i] >> 8 * byte);
            rg_buffer_append(out, &c, 1);
        }
}

static rg_status write_file(rg_gltf_writer *w, rg_outlet *out, rg_buffer *json) {
    uint64_t data = (uint64_t)w->bin.size + w->motion.size;
    uint64_t size = 12 + 8 + json->size + (data ? 8 + data : 0);
    if (size > UINT32_MAX)
        return rg_fail(w->error, RG_LIMIT_EXCEEDED,
                       "glTF files end at 4 GiB; export fewer frames a second");
    rg_buffer head = rg_buffer_make(&w->allocator);
    put(&head, "glTF");
    put_words(&head, (uint32_t[]){2, (uint32_t)size, (uint32_t)json->size}, 3);
    put(&head, "JSON");
    rg_status status = rg_outlet_flush(out, &head, w->error);
    if (status == RG_OK)
        status = rg_outlet_flush(out, json, w->error);
    if (status == RG_OK && data) {
        put_words(&head, (uint32_t[]){(uint32_t)data}, 1);
        rg_buffer_append(&head, "BIN", 4);
        status = rg_outlet_flush(out, &head, w->error);
        if (status == RG_OK)
            status = rg_outlet_flush(out, &w->bin, w->error);
        if (status == RG_OK)
            status = rg_outlet_flush(out, &w->motion, w->error);
    }
    rg_buffer_free(&head);
    return status;
}

static rg_status export_to(rg_gltf_writer *w, rg_outlet *out) {
    rg_status status;
    if (rg_shape_list_make(&w->shapes, w->world, &w->allocator) != RG_OK)
        return rg_gltf_fail_memory(w);
    size_t *body_nodes = rg_allocate_zeroed(&w->allocator, w->body_count, sizeof *body_nodes);
    w->meshes = rg_allocate_zeroed(&w->allocator, w->shapes.count, sizeof *w->meshes);
    rg_buffer json = rg_buffer_make(&w->allocator);
    status = body_nodes && w->meshes ? build(w, body_nodes) : rg_gltf_fail_memory(w);
    if (status == RG_OK) {
        align(&w->bin);
        put_json(w, &json, body_nodes);
        rg_buffer *const pieces[] = {&w->views,    &w->accessors, &w->mesh_list, &w->nodes,
                                     &w->samplers, &w->channels,  &json};
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
            if (pieces[i]->failed)
                status = rg_gltf_fail_memory(w);
    }
    if (status == RG_OK)
        status = write_file(w, out, &json);
    rg_buffer_free(&json);
    rg_release(&w->allocator, body_nodes);
    return status;
}

static void free_writer(rg_gltf_writer *w) {
    rg_buffer *const pieces[] = {&w->bin,   &w->motion,   &w->views,    &w->accessors,
                                 &w->nodes, &w->samplers, &w->channels, &w->mesh_list};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        rg_buffer_free(pieces[i]);
    rg_shape_list_free(&w->shapes);
    rg_release(&w->allocator, w->meshes);
    rg_release(&w->allocator, w->times);
    rg_release(&w->allocator, w->kept);
    rg_release(&w->allocator, w->positions);
}

rg_status rg_gltf_export(rg_recording *recording, const rg_gltf_options *options, const char *path,
                         rg_gltf_file_writer *write, rg_error *error) {
    assert(recording && path);
    double rate = options ? options->frames_per_second : 0;
    rg_allocator allocator = *rg_recording_allocator(recording);
    rg_view_options seen = {.every = rate > 0 ? rg_view_every(recording, rate) : 1,
                            .allocator = &allocator};
    rg_outlet out;
    rg_status status = rg_outlet_open(&out, &recording, 1, NULL, path, error);
    if (status != RG_OK)
        return status;
    rg_buffer none = rg_buffer_make(&allocator);
    rg_gltf_writer w = {.allocator = allocator,
                        .shapes = {.allocator = allocator, .texts = none},
                        .bin = none,
                        .motion = none,
                        .views = none,
                        .accessors = none,
                        .mesh_list = none,
                        .nodes = none,
                        .samplers = none,
                        .channels = none,
                        .error = error};
    status = rg_view_open(recording, &seen, &w.view, error);
    if (status == RG_OK) {
        w.world = rg_scene_world(w.view->scene);
        w.body_count = w.view->info.body_count;
        status = rg_gltf_read_motion(&w);
        if (status == RG_OK) {
            rg_gltf_measure(&w);
            status = write(&w, &out);
        }
        free_writer(&w);
    }
    status = rg_outlet_close(&out, status, error);
    rg_view_close(w.view);
    return status;
}

rg_status rg_view_export_gltf(rg_recording *recording, const rg_gltf_options *options,
                              const char *path, rg_error *error) {
    return rg_gltf_export(recording, options, path, export_to, error);
}
