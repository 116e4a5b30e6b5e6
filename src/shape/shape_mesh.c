/* Meshes from files: reading, welding, checking, and mass.
 *
 * Welding: vertices are visited in file order; each joins the nearest one already kept within the
 * tolerance, found in a grid of cells through a hash table, or is kept itself. Only kept vertices
 * are compared, so that chains of near vertices do not collapse, and a cell holds few of them.
 *
 * Edges: all sides of triangles sorted by their end points; a closed, oriented surface has two
 * sides to each edge, of opposite direction.
 *
 * Convexity: the hull of the vertices must not reach beyond the plane of any triangle. */
#include "shape/shape_mesh.h"

#include "base/base_file.h"
#include "base/base_hash.h"
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sets.h"
#include "base/base_sort.h"
#include "base/base_text.h"
#include "shape/shape.h"
#include "shape/shape_hull.h"
#include "shape/shape_mass.h"
#include "shape/shape_polyhedron.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Default welding tolerance, in units of the mesh's largest extent. */
#define WELD_DEFAULT 1e-9
/* Welding this far below the extent is the same as none: it is finer than doubles resolve. */
#define WELD_FINEST 1e-15
/* What a vertex may stick out of a triangle's plane in a convex mesh, and the height that a
 * triangle needs for its plane to count; in units of the extent. Single-precision files are convex
 * to 1e-7. */
#define CONVEX 1e-6
/* Volume below this part of the extent cubed is none. */
#define NO_VOLUME 1e-15

/* ------------------------------------------------------------------ for the readers */

const char *rg_mesh_quote(rg_mesh_word word, char text[RG_MESH_QUOTE_SIZE]) {
    size_t room = RG_MESH_QUOTE_SIZE - 4, size = word.size < room ? word.size : room;
    for (size_t i = 0; i < size; i++)
        text[i] = word.text[i] >= ' ' && word.text[i] <= '~' ? word.text[i] : '?';
    strcpy(text + size, word.size > room ? "..." : "");
    return text;
}

bool rg_mesh_word_is(rg_mesh_word word, const char *key) {
    size_t size = strlen(key);
    if (word.size != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        char c = word.text[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != key[i])
            return false;
    }
    return true;
}

bool rg_mesh_skip_newline(rg_mesh_cursor *cursor) {
    if (cursor->at == cursor->end || (*cursor->at != '\n' && *cursor->at != '\r'))
        return false;
    bool pair = *cursor->at == '\r' && cursor->at + 1 < cursor->end && cursor->at[1] == '\n';
    cursor->at += pair ? 2 : 1;
    cursor->line_start = cursor->at;
    cursor->line++;
    return true;
}

rg_status rg_mesh_coordinate(rg_mesh_reader *reader, rg_mesh_word word, const char *what,
                             double *value) {
    char quote[RG_MESH_QUOTE_SIZE];
    if (!rg_parse_double(word.text, word.size, value))
        return rg_fail_at(reader->error, RG_SYNTAX, reader->name, word.line, word.column,
                          "'%s' in a %s is not a number; must be a coordinate",
                          rg_mesh_quote(word, quote), what);
    if (!isfinite(*value))
        return rg_fail_at(reader->error, RG_NOT_FINITE, reader->name, word.line, word.column,
                          "'%s' in a %s; must be a finite number", rg_mesh_quote(word, quote),
                          what);
    if (fabs(*value) > RG_SHAPE_LARGEST)
        return rg_fail_at(reader->error, RG_INVALID_SIZE, reader->name, word.line, word.column,
                          "'%s' in a %s; must be at most 1e50 m", rg_mesh_quote(word, quote), what);
    return RG_OK;
}

rg_status rg_mesh_no_memory(rg_mesh_reader *reader) {
    return rg_fail_at(reader->error, RG_OUT_OF_MEMORY, reader->name, 0, 0,
                      "no memory for the mesh");
}

static rg_status refuse_more(rg_mesh_reader *reader, int most, const char *what) {
    return rg_fail_at(reader->error, RG_LIMIT_EXCEEDED, reader->name, 0, 0,
                      "more than %d %s; must be a smaller mesh", most, what);
}

rg_status rg_mesh_add_vertex(rg_mesh_reader *reader, rg_vec3 vertex) {
    if (reader->vertex_count == RG_MESH_MOST_VERTICES)
        return refuse_more(reader, RG_MESH_MOST_VERTICES, "vertices");
    if (rg_array_grow(&reader->allocator, &reader->vertices, &reader->vertex_capacity,
                      reader->vertex_count + 1) != RG_OK)
        return rg_mesh_no_memory(reader);
    reader->vertices[reader->vertex_count++] = vertex;
    return RG_OK;
}

rg_status rg_mesh_add_triangle(rg_mesh_reader *reader, uint32_t a, uint32_t b, uint32_t c) {
    if (reader->index_count == 3 * (size_t)RG_MESH_MOST_TRIANGLES)
        return refuse_more(reader, RG_MESH_MOST_TRIANGLES, "triangles");
    if (rg_array_grow(&reader->allocator, &reader->indices, &reader->index_capacity,
                      reader->index_count + 3) != RG_OK)
        return rg_mesh_no_memory(reader);
    reader->indices[reader->index_count++] = a;
    reader->indices[reader->index_count++] = b;
    reader->indices[reader->index_count++] = c;
    return RG_OK;
}

/* ------------------------------------------------------------------ size */

static rg_bounds bounds_of(const rg_vec3 *vertices, const uint32_t *indices, size_t index_count) {
    rg_bounds box = {vertices[indices[0]], vertices[indices[0]]};
    for (size_t i = 1; i < index_count; i++) {
        box.lower = rg_min(box.lower, vertices[indices[i]]);
        box.upper = rg_max(box.upper, vertices[indices[i]]);
    }
    return box;
}

static double extent_of(rg_bounds box) {
    return rg_largest_entry(rg_sub(box.upper, box.lower));
}

/* ------------------------------------------------------------------ welding */

#define NONE UINT32_MAX /* no vertex */

typedef struct welder {
    const rg_vec3 *vertices;
    rg_vec3 origin;
    double tolerance, cell; /* tolerance 0: equal vertices only, cells are their bits */
    uint32_t *table;        /* hash -> a kept vertex */
    uint32_t *chain;        /* kept vertex -> the next of the same hash */
    uint32_t *target;       /* vertex -> the kept one that it became */
    size_t mask;
} welder;

static uint32_t *bucket(const welder *w, const int64_t cell[3]) {
    uint64_t hash = rg_hash_begin();
    for (int i = 0; i < 3; i++)
        hash = rg_hash_u64(hash, (uint64_t)cell[i]);
    return &w->table[hash & w->mask];
}

static int64_t cell_of(const welder *w, double x) {
    if (w->tolerance > 0)
        return (int64_t)floor(x / w->cell);
    int64_t bits;
    x += 0.0; /* -0 and 0 are equal */
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The nearest kept vertex of one cell within the tolerance and nearer than *best; of equals the one
 * with the lowest number. */
static void search_cell(const welder *w, const int64_t cell[3], rg_vec3 p, double *best,
                        uint32_t *found) {
    for (uint32_t k = *bucket(w, cell); k != NONE; k = w->chain[k]) {
        double distance = rg_length(rg_sub(w->vertices[k], p));
        if (distance < *best || (distance == *best && k < *found)) {
            *best = distance;
            *found = k;
        }
    }
}

static uint32_t find_kept(const welder *w, rg_vec3 p) {
    rg_vec3 at = w->tolerance > 0 ? rg_sub(p, w->origin) : p;
    double x[3] = {at.x, at.y, at.z}, best = w->tolerance;
    int64_t low[3], high[3], cell[3];
    uint32_t found = NONE;
    for (int i = 0; i < 3; i++) {
        low[i] = cell_of(w, x[i] - w->tolerance);
        high[i] = cell_of(w, x[i] + w->tolerance);
    }
    for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
                search_cell(w, cell, p, &best, &found);
    return found;
}

static void weld_all(welder *w, size_t count) {
    memset(w->table, 0xFF, (w->mask + 1) * sizeof *w->table);
    for (uint32_t v = 0; v < count; v++) {
        uint32_t kept = find_kept(w, w->vertices[v]);
        w->target[v] = kept == NONE ? v : kept;
        if (kept != NONE)
            continue;
        rg_vec3 at = w->tolerance > 0 ? rg_sub(w->vertices[v], w->origin) : w->vertices[v];
        int64_t cell[3] = {cell_of(w, at.x), cell_of(w, at.y), cell_of(w, at.z)};
        uint32_t *head = bucket(w, cell);
        w->chain[v] = *head;
        *head = v;
    }
}

/* Replaces indices by those of kept vertices. */
static rg_status weld(rg_mesh_reader *reader, double tolerance, rg_bounds box) {
    double extent = extent_of(box);
    if (!(tolerance > WELD_FINEST * extent))
        tolerance = 0;
    size_t count = reader->vertex_count, slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    welder w = {.vertices = reader->vertices,
                .origin = box.lower,
                .tolerance = tolerance,
                .cell = 4 * tolerance,
                .table = rg_allocate(&reader->allocator, slots, sizeof(uint32_t)),
                .chain = rg_allocate(&reader->allocator, count, sizeof(uint32_t)),
                .target = rg_allocate(&reader->allocator, count, sizeof(uint32_t)),
                .mask = slots - 1};
    bool ready = w.table && w.chain && w.target;
    if (ready) {
        weld_all(&w, count);
        for (size_t i = 0; i < reader->index_count; i++)
            reader->indices[i] = w.target[reader->indices[i]];
    }
    rg_release(&reader->allocator, w.table);
    rg_release(&reader->allocator, w.chain);
    rg_release(&reader->allocator, w.target);
    return ready ? RG_OK : rg_mesh_no_memory(reader);
}

/* Numbers the vertices that triangles use 0, 1, ... in file order and drops the others. */
static rg_status drop_unused(rg_mesh_reader *reader, size_t *used) {
    uint32_t *number = rg_allocate(&reader->allocator, reader->vertex_count, sizeof *number);
    if (!number)
        return rg_mesh_no_memory(reader);
    memset(number, 0xFF, reader->vertex_count * sizeof *number);
    for (size_t i = 0; i < reader->index_count; i++)
        number[reader->indices[i]] = 0;
    *used = 0;
    for (size_t v = 0; v < reader->vertex_count; v++)
        if (number[v] != NONE) {
            reader->vertices[*used] = reader->vertices[v];
            number[v] = (uint32_t)(*used)++;
        }
    for (size_t i = 0; i < reader->index_count; i++)
        reader->indices[i] = number[reader->indices[i]];
    reader->vertex_count = *used;
    rg_release(&reader->allocator, number);
    return RG_OK;
}

/* Triangles with two corners in one vertex. Those with three different corners on a line have no
 * area either, but they close the gap between a long edge and two short ones, and stay. */
static size_t drop_degenerate(rg_mesh_reader *reader) {
    size_t kept = 0, before = reader->index_count;
    for (size_t i = 0; i < before; i += 3) {
        uint32_t a = reader->indices[i], b = reader->indices[i + 1], c = reader->indices[i + 2];
        if (!rg_mesh_has_corners(reader->indices + i))
            continue;
        reader->indices[kept++] = a;
        reader->indices[kept++] = b;
        reader->indices[kept++] = c;
    }
    reader->index_count = kept;
    return (before - kept) / 3;
}

/* ------------------------------------------------------------------ edges */

rg_edge_side *rg_mesh_sides(const rg_mesh *mesh) {
    size_t count = 3 * mesh->triangle_count;
    rg_edge_side *sides = rg_allocate(&mesh->allocator, count, sizeof *sides);
    if (!sides)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = mesh->triangles[i], b = mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
        sides[i] = (rg_edge_side){a < b ? a : b, a < b ? b : a, i};
    }
    if (rg_sort(sides, count, sizeof *sides, rg_edge_side_compare, NULL, &mesh->allocator) !=
        RG_OK) {
        rg_release(&mesh->allocator, sides);
        return NULL;
    }
    return sides;
}

static rg_status check_edges(const rg_mesh *mesh, const rg_edge_side *sides,
                             rg_mesh_report *report) {
    size_t count = 3 * mesh->triangle_count;
    uint32_t *parent = rg_allocate(&mesh->allocator, mesh->triangle_count, sizeof *parent);
    if (!parent)
        return RG_OUT_OF_MEMORY;
    rg_sets_start(parent, mesh->triangle_count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && rg_edge_side_compare(&sides[i], &sides[end], NULL) == 0;
             end++)
            rg_sets_join(parent, sides[i].owner / 3, sides[end].owner / 3);
        report->open_edges += end - i == 1;
        report->branching_edges += end - i > 2;
        /* Neighbours that are turned alike run along their edge in opposite directions. */
        report->inconsistent_edges +=
            end - i == 2 && mesh->triangles[sides[i].owner] == mesh->triangles[sides[i + 1].owner];
    }
    report->components = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++)
        report->components += parent[i] == i;
    report->watertight =
        !report->open_edges && !report->branching_edges && !report->inconsistent_edges;
    rg_release(&mesh->allocator, parent);
    return RG_OK;
}

/* ------------------------------------------------------------------ volume */

static rg_moment_sum integrate(const rg_mesh *mesh, rg_vec3 reference) {
    rg_moment_sum moments = rg_moment_begin(reference);
    for (size_t i = 0; i < 3 * mesh->triangle_count; i += 3)
        rg_moment_add_triangle(&moments, mesh->vertices[mesh->triangles[i]],
                               mesh->vertices[mesh->triangles[i + 1]],
                               mesh->vertices[mesh->triangles[i + 2]]);
    return moments;
}

static rg_vec3 middle_of(rg_bounds box) {
    return rg_add_scaled(box.lower, 0.5, rg_sub(box.upper, box.lower));
}

static void flip_if_inverted(rg_mesh *mesh, rg_bounds box, rg_mesh_report *report) {
    rg_moment_sum moments = integrate(mesh, middle_of(box));
    if (!report->watertight || !(rg_moment_volume(&moments) < 0))
        return;
    for (size_t i = 0; i < 3 * mesh->triangle_count; i += 3) {
        uint32_t swap = mesh->triangles[i + 1];
        mesh->triangles[i + 1] = mesh->triangles[i + 2];
        mesh->triangles[i + 2] = swap;
    }
    report->flipped = true;
}

/* ------------------------------------------------------------------ convexity */

/* Unit normal; false if the triangle is too thin for its plane to mean anything. */
static bool triangle_normal(const rg_mesh *mesh, size_t t, double least_height, rg_vec3 *normal) {
    rg_vec3 a = mesh->vertices[mesh->triangles[3 * t]];
    rg_vec3 u = rg_sub(mesh->vertices[mesh->triangles[3 * t + 1]], a);
    rg_vec3 v = rg_sub(mesh->vertices[mesh->triangles[3 * t + 2]], a);
    rg_vec3 area = rg_cross(u, v);
    double longest = rg_max3(rg_length(u), rg_length(v), rg_length(rg_sub(u, v)));
    *normal = rg_normalised(area);
    return rg_length(area) > least_height * longest;
}

/* The corners of each triangle's neighbours, which settles most meshes that are not convex. */
static bool edges_are_convex(const rg_mesh *mesh, const rg_edge_side *sides, double extent) {
    for (size_t i = 0; i + 1 < 3 * mesh->triangle_count; i += 2) {
        size_t t = sides[i].owner / 3, other = sides[i + 1].owner / 3;
        rg_vec3 normal;
        if (!triangle_normal(mesh, t, CONVEX * extent, &normal))
            continue;
        for (int k = 0; k < 3; k++)
            if (rg_dot(normal, rg_sub(mesh->vertices[mesh->triangles[3 * other + (size_t)k]],
                                      mesh->vertices[mesh->triangles[3 * t]])) > CONVEX * extent)
                return false;
    }
    return true;
}

static rg_status check_convexity(const rg_mesh *mesh, const rg_edge_side *sides, double extent,
                                 rg_mesh_report *report) {
    if (!report->watertight || report->components != 1 || !edges_are_convex(mesh, sides, extent))
        return RG_OK;
    rg_solid hull;
    rg_mass_properties mass;
    rg_status status =
        rg_hull_build(mesh->vertices, mesh->vertex_count, &mesh->allocator, &hull, &mass, NULL);
    if (status != RG_OK)
        return status == RG_OUT_OF_MEMORY ? status : RG_OK;
    report->convex = true;
    for (size_t t = 0; t < mesh->triangle_count && report->convex; t++) {
        rg_vec3 normal;
        if (!triangle_normal(mesh, t, CONVEX * extent, &normal))
            continue;
        rg_vec3 top = hull.view.vertices[rg_solid_support(&hull, normal, NULL)];
        rg_vec3 here = mesh->vertices[mesh->triangles[3 * t]];
        report->convex = rg_dot(normal, rg_sub(top, here)) <= CONVEX * extent;
    }
    rg_solid_free(&hull, &mesh->allocator);
    return RG_OK;
}

/* ------------------------------------------------------------------ reading */

static rg_status examine(const rg_mesh *mesh, double extent, rg_bounds box, rg_mesh *flippable,
                         bool convexity, rg_mesh_report *report) {
    rg_edge_side *sides = rg_mesh_sides(mesh);
    if (!sides)
        return RG_OUT_OF_MEMORY;
    rg_status status = check_edges(mesh, sides, report);
    if (status == RG_OK && flippable)
        flip_if_inverted(flippable, box, report);
    if (status == RG_OK && convexity)
        status = check_convexity(mesh, sides, extent, report);
    rg_release(&mesh->allocator, sides);
    return status;
}

static rg_status finish(rg_mesh_reader *reader, const rg_mesh_options *options, bool convexity,
                        rg_mesh *mesh, rg_mesh_report *report) {
    double distance = options->weld;
    size_t referenced, used;
    rg_status status = drop_unused(reader, &referenced);
    if (status != RG_OK)
        return status;
    rg_bounds box = bounds_of(reader->vertices, reader->indices, reader->index_count);
    double extent = extent_of(box);
    status = weld(reader, distance == 0 ? WELD_DEFAULT * extent : fmax(0, distance), box);
    if (status != RG_OK)
        return status;
    /* Counted before degenerate triangles go, which may take vertices with them. */
    status = drop_unused(reader, &used);
    if (status != RG_OK)
        return status;
    report->welded_vertices = referenced - used;
    if (options->whole) {
        *mesh = (rg_mesh){reader->vertices, reader->vertex_count, reader->indices,
                          reader->index_count / 3, reader->allocator};
        return RG_OK;
    }
    report->degenerate_triangles = drop_degenerate(reader);
    if (reader->index_count == 0)
        return rg_fail_at(reader->error, RG_DEGENERATE_GEOMETRY, reader->name, 0, 0,
                          "all %zu triangles have two corners in one place; must have area",
                          report->degenerate_triangles);
    status = drop_unused(reader, &used);
    if (status != RG_OK)
        return status;
    *mesh = (rg_mesh){reader->vertices, reader->vertex_count, reader->indices,
                      reader->index_count / 3, reader->allocator};
    status = examine(mesh, extent, box, mesh, convexity, report);
    return status == RG_OUT_OF_MEMORY ? rg_mesh_no_memory(reader) : status;
}

rg_status rg_mesh_read_memory(const void *data, size_t size, const char *name,
                              const rg_mesh_options *options, rg_mesh *mesh, rg_mesh_report *report,
                              rg_error *error) {
    rg_mesh_options chosen = options ? *options : (rg_mesh_options){0};
    rg_mesh_report local = {0};
    rg_mesh_reader reader = {.data = size ? data : "",
                             .size = size,
                             .name = name ? name : "mesh",
                             .allocator = rg_allocator_or_default(chosen.allocator),
                             .error = error,
                             .group = chosen.group};
    *mesh = (rg_mesh){.allocator = reader.allocator};
    if (report)
        *report = local;
    if (!(chosen.weld < INFINITY))
        return rg_fail_at(error, RG_NOT_FINITE, reader.name, 0, 0,
                          "the welding distance is not finite; must be a number of metres");
    if (size > RG_MESH_MOST_BYTES)
        return rg_fail_at(error, RG_LIMIT_EXCEEDED, reader.name, 0, 0,
                          "%zu bytes; must be at most %ld", size, (long)RG_MESH_MOST_BYTES);
    if (size == 0)
        return rg_fail_at(error, RG_FILE_DAMAGED, reader.name, 0, 0,
                          "the file is empty; must be OBJ, STL, PLY or glTF");
    bool gltf = chosen.format == RG_MESH_GLTF ||
                (chosen.format == RG_MESH_AUTO && rg_mesh_is_gltf(data, size));
    bool stl = chosen.format == RG_MESH_STL ||
               (chosen.format == RG_MESH_AUTO && !gltf && rg_mesh_is_stl(data, size));
    bool ply = chosen.format == RG_MESH_PLY ||
               (chosen.format == RG_MESH_AUTO && rg_mesh_is_ply(data, size));
    if (reader.group > 1 && (gltf || stl || ply))
        return rg_fail_at(error, RG_NOT_FOUND, reader.name, 0, 0,
                          "group %zu; only OBJ files have groups", reader.group);
    rg_status status = ply    ? rg_mesh_read_ply(&reader)
                       : stl  ? rg_mesh_read_stl(&reader)
                       : gltf ? rg_mesh_read_gltf(&reader)
                              : rg_mesh_read_obj(&reader);
    if (status == RG_OK)
        status = finish(&reader, &chosen, report != NULL, mesh, &local);
    if (status != RG_OK) {
        rg_release(&reader.allocator, reader.vertices);
        rg_release(&reader.allocator, reader.indices);
        *mesh = (rg_mesh){.allocator = reader.allocator};
        return status;
    }
    if (report)
        *report = local;
    return RG_OK;
}

static rg_status read_bytes(FILE *file, const char *path, const rg_allocator *allocator,
                            char **data, size_t *size, rg_error *error) {
    size_t capacity = 0, got;
    do {
        if (*size > RG_MESH_MOST_BYTES)
            return rg_fail_at(error, RG_LIMIT_EXCEEDED, path, 0, 0,
                              "the file is larger than %ld bytes; must be smaller",
                              (long)RG_MESH_MOST_BYTES);
        if (rg_array_grow(allocator, data, &capacity, *size + 65536) != RG_OK)
            return rg_fail_at(error, RG_OUT_OF_MEMORY, path, 0, 0, "no memory for the file");
        got = fread(*data + *size, 1, capacity - *size, file);
        *size += got;
    } while (got > 0);
    if (ferror(file))
        return rg_fail_at(error, RG_FILE_UNREADABLE, path, 0, 0,
                          "cannot be read; must be a readable file");
    return RG_OK;
}

rg_status rg_mesh_read_file(const char *path, const rg_mesh_options *options, rg_mesh *mesh,
                            rg_mesh_report *report, rg_error *error) {
    rg_allocator chosen = rg_allocator_or_default(options ? options->allocator : NULL);
    *mesh = (rg_mesh){.allocator = chosen};
    FILE *file;
    int failed = rg_file_open(path, &file);
    if (failed == RG_FILE_IRREGULAR || failed == EISDIR)
        return rg_fail_at(error, RG_FILE_UNREADABLE, path, 0, 0, RG_FILE_IRREGULAR_TEXT);
    if (failed) {
        char reason[128];
        if (strerror_r(failed, reason, sizeof reason) != 0)
            strcpy(reason, "unknown reason");
        return rg_fail_at(error, RG_FILE_UNREADABLE, path, 0, 0,
                          "cannot be opened (%s); must be a readable file", reason);
    }
    char *data = NULL;
    size_t size = 0;
    rg_status status = read_bytes(file, path, &chosen, &data, &size, error);
    fclose(file);
    if (status == RG_OK)
        status = rg_mesh_read_memory(data, size, path, options, mesh, report, error);
    rg_release(&chosen, data);
    return status;
}

void rg_mesh_destroy(rg_mesh *mesh) {
    if (!mesh || !mesh->allocator.release)
        return;
    rg_release(&mesh->allocator, mesh->vertices);
    rg_release(&mesh->allocator, mesh->triangles);
    *mesh = (rg_mesh){.allocator = mesh->allocator};
}

/* ------------------------------------------------------------------ mass */

static rg_status check_mesh(const rg_mesh *mesh, double density, rg_error *error) {
    rg_status status = rg_check_positive("density", density, RG_INVALID_SIZE, error);
    if (status)
        return status;
    if (mesh->triangle_count == 0)
        return rg_fail(error, RG_DEGENERATE_GEOMETRY,
                       "the mesh has no triangles; must enclose volume");
    for (size_t i = 0; i < 3 * mesh->triangle_count; i++)
        if (mesh->triangles[i] >= mesh->vertex_count)
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "triangle %zu has the vertex %lu; must be one of the mesh's %zu", i / 3,
                           (unsigned long)mesh->triangles[i], mesh->vertex_count);
    return RG_OK;
}

rg_status rg_mesh_mass(const rg_mesh *mesh, double density, rg_mass_properties *mass,
                       rg_error *error) {
    *mass = (rg_mass_properties){0};
    rg_status status = check_mesh(mesh, density, error);
    if (status != RG_OK)
        return status;
    rg_mesh copy = *mesh;
    copy.allocator = rg_allocator_or_default(&mesh->allocator);
    rg_bounds box = bounds_of(mesh->vertices, mesh->triangles, 3 * mesh->triangle_count);
    double extent = extent_of(box);
    rg_mesh_report report = {0};
    status = examine(&copy, extent, box, NULL, false, &report);
    if (status != RG_OK)
        return rg_fail(error, status, "no memory to check the mesh");
    if (!report.watertight)
        return rg_fail(
            error, RG_NOT_WATERTIGHT,
            "the surface has %zu open, %zu branching and %zu inconsistent edges; must be "
            "closed, with two triangles of the same side to each edge",
            report.open_edges, report.branching_edges, report.inconsistent_edges);
    rg_moment_sum rough = integrate(&copy, middle_of(box));
    if (!(rg_moment_volume(&rough) > NO_VOLUME * extent * extent * extent))
        return rg_fail(error, RG_DEGENERATE_GEOMETRY,
                       "the surface encloses no volume; must be a solid with its triangles "
                       "counter-clockwise seen from outside");
    rg_moment_sum fine = integrate(&copy, rg_moment_centroid(&rough));
    *mass = rg_mass_scaled(rg_moment_mass(&fine), density);
    return RG_OK;
}
