/* A recording as USD text (.usda), for Omniverse, Blender and other programs: an Xform for each
 * body with its poses as time samples, and under it a Mesh for each of its shapes.
 *
 * The stage has z up and metres. A time code is a sixtieth of a second; a body that never moves has
 * one pose and no samples. Names of bodies need not be names of USD: prims are called body_0 and so
 * on, and their names are in the attribute rigor:name. Half-spaces, planar shapes and sensors as in
 * glTF (record_gltf.c), and so is how it fails.
 * Tested by tests/record/test_usda.c, and by test_record_export.py, which reads the whole file. */
#include "record/record_gltf.h"

#include "base/base_math.h"
#include "base/base_text.h"
#include "record/record_gltf_mesh.h"

#include <string.h>

enum { CODES_PER_SECOND = 60, FLUSH_AT = 1 << 20 };

typedef struct usda {
    rg_gltf_writer *w;
    rg_outlet *out;
    rg_buffer text;
} usda;

static void put(usda *u, const char *text) {
    rg_buffer_append(&u->text, text, strlen(text));
}

static void put_number(usda *u, double value) {
    char text[RG_NUMBER_SIZE];
    put(u, rg_format_double(value, text));
}

/* (a, b, c) */
static void put_tuple(usda *u, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        put(u, i ? ", " : "(");
        put_number(u, values[i]);
    }
    put(u, ")");
}

static void put_floats(usda *u, const float *v, size_t count) {
    double values[3];
    for (size_t i = 0; i < count; i++)
        values[i] = (double)v[i];
    put_tuple(u, values, count);
}

/* The real part of a quaternion comes first. */
static void put_rotation(usda *u, const float *q) {
    put_tuple(u, (double[]){(double)q[3], (double)q[0], (double)q[1], (double)q[2]}, 4);
}

static void put_order(usda *u) {
    put(u, "uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n");
}

static rg_status flush(usda *u, size_t most) {
    if (u->text.failed)
        return rg_gltf_fail_memory(u->w);
    return u->text.size < most ? RG_OK : rg_outlet_flush(u->out, &u->text, u->w->error);
}

/* ---- shapes ---- */

static void put_mesh(usda *u, const rg_mesh_data *mesh, rg_pose pose, const double *colour) {
    const float *points = (const float *)(const void *)mesh->positions.data,
                *normals = (const float *)(const void *)mesh->normals.data;
    const uint32_t *indices = (const uint32_t *)(const void *)mesh->indices.data;
    rg_quat q = rg_quat_normalised(pose.orientation);
    put(u, "uniform token subdivisionScheme = \"none\"\npoint3f[] points = [");
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        put(u, i ? ", " : "");
        put_floats(u, points + 3 * i, 3);
    }
    put(u, "]\nnormal3f[] normals = [");
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        put(u, i ? ", " : "");
        put_floats(u, normals + 3 * i, 3);
    }
    put(u, "] (interpolation = \"vertex\")\nint[] faceVertexCounts = [");
    for (size_t i = 0; i < mesh->index_count / 3; i++)
        put(u, i ? ", 3" : "3");
    put(u, "]\nint[] faceVertexIndices = [");
    for (size_t i = 0; i < mesh->index_count; i++)
        rg_buffer_print(&u->text, "%s%u", i ? ", " : "", (unsigned)indices[i]);
    put(u, "]\ncolor3f[] primvars:displayColor = [");
    put_tuple(u, colour, 3);
    put(u, "]\ndouble3 xformOp:translate = ");
    put_tuple(u, &pose.position.x, 3);
    put(u, "\nquatd xformOp:orient = ");
    put_tuple(u, (double[]){q.w, q.x, q.y, q.z}, 4);
    put(u, "\n");
    put_order(u);
}

/* A shape, or the parts of a compound; *number is that of the next one. */
static rg_status put_shape(usda *u, const rg_shape *shape, rg_pose pose, size_t body,
                           size_t *number) {
    rg_gltf_writer *w = u->w;
    rg_shape_def def = rg_shape_get_def(shape);
    rg_status status = RG_OK;
    if (def.kind == RG_SHAPE_COMPOUND) {
        for (size_t i = 0; i < def.part_count && status == RG_OK; i++)
            status = put_shape(u, def.parts[i].shape, rg_pose_compose(pose, def.parts[i].pose),
                               body, number);
        return status;
    }
    rg_pose at = rg_body_pose(w->world, rg_world_body_at(w->world, body));
    rg_mesh_data mesh = rg_mesh_data_make(&w->allocator);
    status = rg_mesh_data_add(&mesh, shape, w->depth, 4 * w->radius);
    if (def.kind == RG_SHAPE_HALFSPACE)
        pose = rg_pose_compose(pose, rg_gltf_slab_pose(w, &def, rg_pose_compose(at, pose)));
    if (status == RG_OK) {
        rg_buffer_print(&u->text, "def Mesh \"%s_%zu\"\n{\n", rg_shape_kind_name(def.kind),
                        (*number)++);
        put_mesh(u, &mesh, pose, rg_gltf_colour(w, body));
        put(u, "}\n");
    }
    rg_mesh_data_free(&mesh);
    return status == RG_OK ? flush(u, FLUSH_AT) : rg_gltf_fail_memory(w);
}

/* ---- bodies ---- */

static bool is_still(const rg_gltf_writer *w, const float *values, size_t width, size_t body) {
    for (size_t i = 1; i < w->frame_count; i++)
        if (memcmp(values + width * (i * w->body_count + body), values + width * body,
                   width * sizeof *values) != 0)
            return false;
    return true;
}

/* An attribute that is one value, or samples of it. */
static rg_status put_samples(usda *u, const char *name, const float *values, size_t width,
                             size_t body) {
    const rg_gltf_writer *w = u->w;
    bool still = is_still(w, values, width, body);
    rg_status status = RG_OK;
    put(u, name);
    put(u, still ? " = " : ".timeSamples = {\n");
    for (size_t i = 0; i < (still ? 1 : w->frame_count) && status == RG_OK; i++) {
        const float *v = values + width * (i * w->body_count + body);
        if (!still) {
            put_number(u, CODES_PER_SECOND * (double)w->times[i]);
            put(u, ": ");
        }
        if (width == 4)
            put_rotation(u, v);
        else
            put_floats(u, v, width);
        put(u, still ? "\n" : ",\n");
        status = flush(u, FLUSH_AT);
    }
    put(u, still ? "" : "}\n");
    return status;
}

static rg_status put_body(usda *u, size_t b) {
    const rg_gltf_writer *w = u->w;
    rg_body_id body = rg_world_body_at(w->world, b);
    size_t number = 0;
    rg_buffer_print(&u->text, "def Xform \"body_%zu\"\n{\ncustom string rigor:name = ", b);
    rg_json_put_text(&u->text, rg_body_name(w->world, body));
    put(u, "\n");
    rg_status status = put_samples(u, "double3 xformOp:translate", w->positions, 3, b);
    if (status == RG_OK)
        status = put_samples(u, "quatf xformOp:orient", w->orientations, 4, b);
    put_order(u);
    for (size_t c = 0; c < rg_body_collider_count(w->world, body) && status == RG_OK; c++) {
        rg_collider_def def = rg_collider_get_def(w->world, rg_body_collider_at(w->world, body, c));
        if (!def.sensor)
            status = put_shape(u, def.shape, def.pose, b, &number);
    }
    put(u, "}\n");
    return status;
}

static rg_status write_usda(rg_gltf_writer *w, rg_outlet *out) {
    usda u = {w, out, rg_buffer_make(&w->allocator)};
    rg_status status = RG_OK;
    double end = w->frame_count ? CODES_PER_SECOND * (double)w->times[w->frame_count - 1] : 0;
    rg_buffer_print(&u.text,
                    "#usda 1.0\n(\ndefaultPrim = \"World\"\nupAxis = \"Z\"\nmetersPerUnit = 1\n"
                    "timeCodesPerSecond = %d\nstartTimeCode = 0\nendTimeCode = ",
                    CODES_PER_SECOND);
    put_number(&u, end);
    put(&u, "\n)\ndef Xform \"World\"\n{\n");
    for (size_t b = 0; b < w->body_count && status == RG_OK; b++)
        status = put_body(&u, b);
    put(&u, "}\n");
    if (status == RG_OK)
        status = flush(&u, 0);
    rg_buffer_free(&u.text);
    return status;
}

rg_status rg_view_export_usda(rg_recording *recording, const rg_gltf_options *options,
                              const char *path, rg_error *error) {
    return rg_gltf_export(recording, options, path, write_usda, error);
}
