/* Shapes from mesh files: the hull of the points; a convex polyhedron; or any closed mesh, cut into
 * convex parts (rigor/decompose.h), with the mass properties of the mesh.
 *
 * A file says neither its unit nor which way is up, so the scene does.
 * Tested by tests/scene/test_mesh.c. */
#include "scene/scene_reader.h"

#include "base/base_math.h"
#include "rigor/decompose.h"

/* `group`: of an OBJ file, from 1; 0: all. */
static rg_status read_group(rg_reader *reader, const rg_place *place, size_t group, rg_mesh *mesh,
                            rg_mesh_report *report) {
    const char *file = NULL;
    rg_error cause = {0};
    rg_status status = rg_read_text(reader, place, &file);
    if (status != RG_OK)
        return status;
    if (!reader->limits.files)
        return rg_place_fail(reader, place, RG_UNSUPPORTED, "files may not be read here");
    rg_buffer path = rg_buffer_make(&reader->allocator);
    if (file[0] != '/' && reader->directory && reader->directory[0])
        rg_buffer_print(&path, "%s/", reader->directory);
    rg_buffer_print(&path, "%s", file);
    if (path.failed)
        status = rg_reader_no_memory(reader);
    else if ((status = rg_mesh_read_file(
                  path.data, &(rg_mesh_options){.group = group, .allocator = &reader->allocator},
                  mesh, report, &cause)) != RG_OK)
        status = rg_place_wrap(reader, place, status, &cause);
    rg_buffer_free(&path);
    return status;
}

rg_status rg_read_mesh(rg_reader *reader, const rg_place *place, rg_mesh *mesh,
                       rg_mesh_report *report) {
    return read_group(reader, place, 0, mesh, report);
}

/* ---- unit and way up ---- */

rg_status rg_read_mesh_frame(rg_reader *reader, const rg_place *scale, const rg_place *unit,
                             const rg_place *up, rg_mesh_frame *frame) {
    static const char *const units[] = {"m", "cm", "mm", "in", "ft"};
    static const double metres[] = {1, 0.01, 0.001, 0.0254, 0.3048};
    static const char *const axes[] = {"x", "y", "z"};
    size_t chosen = 0;
    *frame = (rg_mesh_frame){1, 2};
    rg_status status = RG_OK;
    if (rg_given(scale))
        status = rg_read_positive(reader, scale, "a scale", &frame->scale);
    if (status == RG_OK && rg_given(unit))
        status = rg_read_choice(reader, unit, units, 5, &chosen);
    if (status == RG_OK && rg_given(up))
        status = rg_read_choice(reader, up, axes, 3, &frame->up);
    frame->scale *= metres[chosen];
    return status;
}

void rg_mesh_place_vertices(rg_mesh *mesh, rg_mesh_frame frame) {
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        rg_vec3 p = mesh->vertices[i];
        rg_vec3 turned[3] = {{-p.z, p.y, p.x}, {p.x, -p.z, p.y}, p};
        mesh->vertices[i] = rg_scale(frame.scale, turned[frame.up]);
    }
}

static rg_status read_frame(rg_reader *reader, const rg_place *values, rg_mesh_frame *frame) {
    return rg_read_mesh_frame(reader, &values[FILE_SCALE], &values[FILE_UNIT], &values[FILE_UP],
                              frame);
}

/* ---- parts ---- */

static rg_status check_closed(rg_reader *reader, const rg_place *file,
                              const rg_mesh_report *report) {
    if (report->watertight)
        return RG_OK;
    return rg_place_fail(reader, file, RG_NOT_WATERTIGHT,
                         "the surface is not closed (%zu open, %zu branching, %zu inconsistent "
                         "edges); see `rigor check FILE`, or use hull: {file: ...} for the hull of "
                         "its points",
                         report->open_edges, report->branching_edges, report->inconsistent_edges);
}

static rg_status create_parts(rg_reader *reader, const rg_place *place, const rg_mesh *mesh,
                              const rg_decomposition_options *options, rg_shape **shape) {
    rg_decomposition parts;
    rg_error cause = {0};
    rg_status status = rg_mesh_decompose(mesh, options, &parts, &cause);
    if (status == RG_OK)
        status = rg_decomposition_shape(mesh, &parts, shape, &cause);
    rg_decomposition_destroy(&parts);
    return status == RG_OK ? RG_OK : rg_place_wrap(reader, place, status, &cause);
}

static rg_status create_mesh(rg_reader *reader, const rg_place *place, const rg_place *values,
                             const rg_mesh *mesh, rg_shape **shape) {
    rg_decomposition_options options = {.allocator = &reader->allocator};
    uint64_t parts = 0;
    rg_status status = RG_OK;
    if (rg_given(&values[FILE_PARTS]))
        status = rg_read_whole(reader, &values[FILE_PARTS], 1, 100000, &parts);
    if (status == RG_OK && rg_given(&values[FILE_ERROR]))
        status = rg_read_positive(reader, &values[FILE_ERROR], "an error", &options.error);
    options.parts = (size_t)parts;
    return status == RG_OK ? create_parts(reader, place, mesh, &options, shape) : status;
}

static rg_status create_hull(rg_reader *reader, const rg_place *place, const rg_mesh *mesh,
                             rg_shape **shape) {
    rg_error cause = {0};
    rg_shape_def def = rg_shape_def_hull(mesh->vertices, mesh->vertex_count);
    rg_status status = rg_shape_create(&def, &reader->allocator, shape, &cause);
    return status == RG_OK ? RG_OK : rg_place_wrap(reader, place, status, &cause);
}

/* ---- groups ---- */

typedef struct group_list {
    rg_compound_part *parts;
    size_t count, capacity;
} group_list;

/* The hull of a group, which must be closed and convex, as a part. */
static rg_status add_group(rg_reader *reader, const rg_place *place, const rg_place *values,
                           group_list *list) {
    rg_mesh_frame frame;
    rg_mesh mesh;
    rg_mesh_report report;
    rg_status status = read_frame(reader, values, &frame);
    if (status == RG_OK &&
        rg_array_grow(&reader->allocator, &list->parts, &list->capacity, list->count + 1) != RG_OK)
        return rg_reader_no_memory(reader);
    if (status == RG_OK)
        status = read_group(reader, &values[FILE_FILE], list->count + 1, &mesh, &report);
    if (status != RG_OK)
        return status;
    rg_mesh_place_vertices(&mesh, frame);
    rg_compound_part *part = &list->parts[list->count];
    *part = (rg_compound_part){.pose = rg_pose_identity(), .density = 1};
    status = report.watertight && report.convex
                 ? create_hull(reader, place, &mesh, &part->shape)
                 : rg_place_fail(reader, &values[FILE_FILE], RG_NOT_CONVEX,
                                 "group %zu is not a closed convex surface; say parts: 32 instead "
                                 "of groups: true to cut the whole mesh",
                                 list->count + 1);
    list->count += status == RG_OK;
    rg_mesh_destroy(&mesh);
    return status;
}

/* A compound of the groups of an OBJ file. */
static rg_status create_groups(rg_reader *reader, const rg_place *place, const rg_place *values,
                               rg_shape **shape) {
    group_list list = {0};
    rg_error cause = {0};
    rg_status status;
    do
        status = add_group(reader, place, values, &list);
    while (status == RG_OK);
    if (status == RG_NOT_FOUND && list.count > 0) { /* no further one */
        rg_shape_def def = rg_shape_def_compound(list.parts, list.count);
        status = rg_shape_create(&def, &reader->allocator, shape, &cause);
        if (status != RG_OK)
            status = rg_place_wrap(reader, place, status, &cause);
    }
    for (size_t i = 0; i < list.count; i++)
        rg_shape_release(list.parts[i].shape);
    rg_release(&reader->allocator, list.parts);
    return status;
}

static rg_status create_shape(rg_reader *reader, const rg_place *place, const rg_place *values,
                              bool hull, rg_shape **shape) {
    bool cut = rg_given(&values[FILE_PARTS]) || rg_given(&values[FILE_ERROR]);
    rg_mesh_frame frame;
    rg_mesh mesh;
    rg_mesh_report report;
    rg_status status = read_frame(reader, values, &frame);
    if (status == RG_OK)
        status = rg_read_mesh(reader, &values[FILE_FILE], &mesh, &report);
    if (status != RG_OK)
        return status;
    rg_mesh_place_vertices(&mesh, frame);
    if (!hull)
        status = check_closed(reader, &values[FILE_FILE], &report);
    if (status == RG_OK && !hull && !report.convex && !cut)
        status = rg_place_fail(reader, &values[FILE_FILE], RG_NOT_CONVEX,
                               "the mesh is not convex; say parts: 32 (convex parts, about so "
                               "many) or error: 1e-9 (exact parts), or use hull: {file: ...} for "
                               "the hull of its points");
    if (status == RG_OK)
        status = hull || report.convex ? create_hull(reader, place, &mesh, shape)
                                       : create_mesh(reader, place, values, &mesh, shape);
    rg_mesh_destroy(&mesh);
    return status;
}

rg_status rg_read_file_shape(rg_reader *reader, const rg_place *place, bool hull,
                             rg_shape **shape) {
    rg_place values[FILE_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_file, values);
    if (status != RG_OK)
        return status;
    if (!rg_given(&values[FILE_FILE]))
        return rg_place_fail(reader, place, RG_NOT_FOUND, "needs the file; write {file: part.obj}");
    const rg_place *cut = rg_given(&values[FILE_PARTS]) ? &values[FILE_PARTS] : &values[FILE_ERROR];
    if (hull && rg_given(cut))
        return rg_place_fail(reader, cut, RG_INVALID_ARGUMENT,
                             "a hull is one convex part; write mesh: {file: ..., parts: 32}");
    if (reader->planar && reader->limits.files)
        return rg_place_fail(
            reader, place, RG_UNSUPPORTED,
            "mesh files are spatial; in a planar scene write polygon: [[x, z], ...]");
    bool groups = false;
    if (rg_given(&values[FILE_GROUPS]))
        status = rg_read_truth(reader, &values[FILE_GROUPS], &groups);
    if (status != RG_OK)
        return status;
    if (groups && (hull || rg_given(cut)))
        return rg_place_fail(reader, &values[FILE_GROUPS], RG_INVALID_ARGUMENT,
                             "groups are the parts of a mesh; leave out parts, error and hull");
    if (reader->in_compound && (groups || rg_given(cut)))
        return rg_place_fail(reader, groups ? &values[FILE_GROUPS] : cut, RG_NOT_CONVEX,
                             "parts of a compound are convex; give the mesh a collider of its own");
    return groups ? create_groups(reader, place, values, shape)
                  : create_shape(reader, place, values, hull, shape);
}
