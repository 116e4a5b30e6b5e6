/* Terrain in scene files: the triangles of a mesh file; points and triangles; or a height field, as
 * a formula of x and y over a rectangle about the origin, cut into cells.
 * Tested by tests/scene/test_reader.c. */
#include "scene/scene_reader.h"

#include "base/base_math.h"
#include "rigor/mesh.h"

/* The thickness of a sheet, of the mean length of an edge. */
#define SHEET 0.01
/* Cells along a side of a height field. */
enum { MOST_CELLS = 10000 };

typedef struct terrain_job {
    rg_reader *reader;
    const rg_place *place, *values;
    double thickness;
    rg_vec3 up;
} terrain_job;

static rg_status make(const terrain_job *job, rg_shape_def def, rg_shape **shape) {
    rg_error cause = {0};
    def.thickness = job->thickness;
    def.normal = job->up;
    rg_status status = rg_shape_create(&def, &job->reader->allocator, shape, &cause);
    return status == RG_OK ? RG_OK : rg_place_wrap(job->reader, job->place, status, &cause);
}

/* `up` of a file may be one of its axes instead of a direction. */
static bool is_axis(const rg_place *values) {
    const rg_place *up = &values[TERRAIN_UP];
    return rg_given(&values[TERRAIN_FILE]) && rg_given(up) && rg_is_scalar(up);
}

static rg_status read_file(const terrain_job *job, rg_shape **shape) {
    rg_mesh mesh;
    rg_mesh_report report;
    rg_mesh_frame frame;
    const rg_place none = {0}, *up = &job->values[TERRAIN_UP];
    rg_status status =
        rg_read_mesh_frame(job->reader, &job->values[TERRAIN_SCALE], &job->values[TERRAIN_UNIT],
                           is_axis(job->values) ? up : &none, &frame);
    if (status == RG_OK)
        status = rg_read_mesh(job->reader, &job->values[TERRAIN_FILE], &mesh, &report);
    if (status != RG_OK)
        return status;
    rg_mesh_place_vertices(&mesh, frame);
    status = make(
        job,
        rg_shape_def_terrain(mesh.vertices, mesh.vertex_count, mesh.triangles, mesh.triangle_count),
        shape);
    rg_mesh_destroy(&mesh);
    return status;
}

static rg_status read_triangle(rg_reader *reader, const rg_place *place, size_t points,
                               uint32_t triangle[3]) {
    rg_status status = rg_require_numbers(reader, place, 3);
    for (size_t k = 0; k < 3 && status == RG_OK; k++) {
        rg_place item = rg_list_at(reader, place, k);
        uint64_t corner = 0;
        status = rg_read_whole(reader, &item, 0, points ? points - 1 : 0, &corner);
        triangle[k] = (uint32_t)corner;
    }
    return status;
}

static rg_status read_triangles(const terrain_job *job, rg_shape **shape) {
    rg_reader *reader = job->reader;
    const rg_place *p = &job->values[TERRAIN_POINTS], *t = &job->values[TERRAIN_TRIANGLES];
    rg_status status = rg_require_list(reader, p, "a list of points");
    if (status == RG_OK && !rg_given(t))
        return rg_place_fail(reader, job->place, RG_NOT_FOUND,
                             "needs triangles, three numbers of points each, from 0");
    if (status == RG_OK)
        status = rg_require_list(reader, t, "a list of triangles");
    if (status != RG_OK)
        return status;
    size_t points = rg_list_size(p), count = rg_list_size(t);
    rg_vec3 *vertices = rg_allocate(&reader->allocator, points, sizeof *vertices);
    uint32_t *triangles = rg_allocate(&reader->allocator, 3 * count, sizeof *triangles);
    if (!vertices || !triangles)
        status = rg_reader_no_memory(reader);
    for (size_t i = 0; i < points && status == RG_OK; i++) {
        rg_place item = rg_list_at(reader, p, i);
        status = rg_read_vector(reader, &item, &vertices[i]);
    }
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        rg_place item = rg_list_at(reader, t, i);
        status = read_triangle(reader, &item, points, triangles + 3 * i);
    }
    if (status == RG_OK)
        status = make(job, rg_shape_def_terrain(vertices, points, triangles, count), shape);
    rg_release(&reader->allocator, vertices);
    rg_release(&reader->allocator, triangles);
    return status;
}

static rg_status read_cells(const terrain_job *job, size_t cells[2]) {
    const rg_place *place = &job->values[TERRAIN_CELLS];
    if (!rg_given(place))
        return rg_place_fail(job->reader, job->place, RG_NOT_FOUND,
                             "needs cells, how many there are along x and y: [100, 100]");
    rg_status status = rg_require_numbers(job->reader, place, 2);
    for (size_t k = 0; k < 2 && status == RG_OK; k++) {
        rg_place item = rg_list_at(job->reader, place, k);
        uint64_t count = 0;
        status = rg_read_whole(job->reader, &item, 1, MOST_CELLS, &count);
        cells[k] = (size_t)count;
    }
    return status;
}

/* The formula at every point; x and y are names in it. */
static rg_status fill_heights(const terrain_job *job, const rg_heights *h, double *heights) {
    rg_reader *reader = job->reader;
    size_t first = reader->variable_count;
    rg_status status = rg_reader_push_variable(reader, "x", 0, false);
    if (status == RG_OK)
        status = rg_reader_push_variable(reader, "y", 0, false);
    for (size_t i = 0; i < h->columns * h->rows && status == RG_OK; i++) {
        double column = (double)(i % h->columns) - 0.5 * (double)(h->columns - 1);
        double row = (double)(i / h->columns) - 0.5 * (double)(h->rows - 1);
        reader->variables[first].value = column * h->dx;
        reader->variables[first + 1].value = row * h->dy;
        status = rg_read_number(reader, &job->values[TERRAIN_HEIGHT], &heights[i]);
    }
    reader->variable_count = first;
    return status;
}

static rg_status read_heights(const terrain_job *job, rg_shape **shape) {
    rg_reader *reader = job->reader;
    size_t cells[2];
    double size[2];
    rg_status status = read_cells(job, cells);
    if (status == RG_OK && !rg_given(&job->values[TERRAIN_SIZE]))
        return rg_place_fail(reader, job->place, RG_NOT_FOUND,
                             "needs a size, metres along x and y: [20, 20]");
    if (status == RG_OK)
        status = rg_read_numbers(reader, &job->values[TERRAIN_SIZE], 2, size);
    if (status != RG_OK)
        return status;
    rg_heights h = {.columns = cells[0] + 1,
                    .rows = cells[1] + 1,
                    .dx = size[0] / (double)cells[0],
                    .dy = size[1] / (double)cells[1],
                    .thickness = job->thickness};
    double *heights = rg_allocate(&reader->allocator, h.columns * h.rows, sizeof *heights);
    if (!heights)
        return rg_reader_no_memory(reader);
    rg_error cause = {0};
    h.heights = heights;
    status = fill_heights(job, &h, heights);
    if (status == RG_OK) {
        status = rg_shape_create_heights(&h, &reader->allocator, shape, &cause);
        if (status != RG_OK)
            status = rg_place_wrap(reader, job->place, status, &cause);
    }
    rg_release(&reader->allocator, heights);
    return status;
}

static rg_status read_surface(const terrain_job *job, rg_shape **shape) {
    *shape = NULL;
    return rg_given(&job->values[TERRAIN_FILE])     ? read_file(job, shape)
           : rg_given(&job->values[TERRAIN_POINTS]) ? read_triangles(job, shape)
                                                    : read_heights(job, shape);
}

rg_status rg_read_terrain(rg_reader *reader, const rg_place *place, rg_shape **shape) {
    static const char *const sides[] = {"one", "two"};
    size_t sheet = 0;
    rg_place values[TERRAIN_COUNT];
    terrain_job job = {.reader = reader, .place = place, .values = values};
    rg_status status = rg_read_keys(reader, place, &rg_keys_terrain, values);
    if (status == RG_OK && rg_given(&values[TERRAIN_THICKNESS]))
        status =
            rg_read_positive(reader, &values[TERRAIN_THICKNESS], "a thickness", &job.thickness);
    if (status == RG_OK && rg_given(&values[TERRAIN_SIDES]))
        status = rg_read_choice(reader, &values[TERRAIN_SIDES], sides, 2, &sheet);
    if (status == RG_OK && rg_given(&values[TERRAIN_UP]) && !is_axis(values))
        status = rg_read_vector(reader, &values[TERRAIN_UP], &job.up);
    if (status != RG_OK)
        return status;
    int kinds = rg_given(&values[TERRAIN_FILE]) + rg_given(&values[TERRAIN_POINTS]) +
                rg_given(&values[TERRAIN_HEIGHT]);
    if (kinds != 1)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "needs one of: {file: ground.obj}, {points: ..., triangles: ...}, "
                             "{size: [20, 20], cells: [100, 100], height: 0.2*sin(x)}");
    status = read_surface(&job, shape);
    if (status != RG_OK || !sheet || job.thickness > 0)
        return status;
    job.thickness = SHEET * rg_shape_get_def(*shape).thickness; /* which is the mean of the edges */
    rg_shape_release(*shape);
    return read_surface(&job, shape);
}
