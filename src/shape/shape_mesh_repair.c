/* Mending meshes: what can be, without guessing what was meant.
 *
 * Triangles with two corners in one vertex go, and so do copies; flat ones with three corners stay,
 * they close the gap between a long edge and two short ones. Then neighbours are turned the same
 * way, from the first triangle of each surface on; holes whose rim is one loop are closed by a fan
 * about the middle of the rim; and surfaces whose volume is negative are turned round.
 * Branching edges and crossings are left: they need somebody who knows the shape.
 * Tested by tests/shape/test_mesh_check.c. */
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sort.h"
#include "base/base_text.h"
#include "shape/shape_mass.h"
#include "shape/shape_mesh.h"
#include "shape/shape_polyhedron.h"

#include <stdio.h>
#include <string.h>

#define NONE UINT32_MAX

/* --- triangles that go ------------------------------------------------------------------------ */

/* Leaves out the triangles of which `out` is true. */
static size_t leave_out(rg_mesh *mesh, const bool *out) {
    size_t kept = 0, before = mesh->triangle_count;
    uint32_t *to = mesh->triangles, *from = mesh->triangles;
    for (size_t t = 0; t < before; t++, from += 3)
        if (!out[t]) {
            memmove(to, from, 3 * sizeof *to);
            to += 3;
            kept++;
        }
    mesh->triangle_count = kept;
    return before - kept;
}

static rg_status drop(rg_mesh *mesh, rg_mesh_repair *repair) {
    size_t count = mesh->triangle_count;
    bool *out = rg_allocate_zeroed(&mesh->allocator, count, sizeof *out);
    rg_mesh_corners *list = rg_allocate(&mesh->allocator, count, sizeof *list);
    rg_status status = out && list ? RG_OK : RG_OUT_OF_MEMORY;
    for (size_t t = 0; t < count && !status; t++)
        out[t] = !rg_mesh_has_corners(mesh->triangles + 3 * t);
    if (!status) {
        repair->degenerate = leave_out(mesh, out);
        count = mesh->triangle_count;
        memset(out, 0, count * sizeof *out);
        for (uint32_t t = 0; t < count; t++)
            list[t] = rg_mesh_sorted_corners(mesh->triangles + 3 * (size_t)t, t);
        status =
            rg_sort(list, count, sizeof *list, rg_mesh_corners_compare, NULL, &mesh->allocator);
    }
    for (size_t i = 1; i < count && !status; i++)
        out[list[i].triangle] = rg_mesh_corners_compare(&list[i - 1], &list[i], NULL) == 0;
    if (!status)
        repair->duplicate = leave_out(mesh, out);
    rg_release(&mesh->allocator, out);
    rg_release(&mesh->allocator, list);
    return status;
}

/* --- neighbours the same way ------------------------------------------------------------------ */

/* For each side the side of the neighbour across it, if there is exactly one. */
static rg_status pair_sides(const rg_mesh *mesh, uint32_t *twin) {
    size_t count = 3 * mesh->triangle_count;
    rg_edge_side *sides = rg_mesh_sides(mesh);
    if (!sides)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        twin[i] = NONE;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && rg_edge_side_compare(&sides[i], &sides[end], NULL) == 0;)
            end++;
        if (end - i == 2) {
            twin[sides[i].owner] = sides[i + 1].owner;
            twin[sides[i + 1].owner] = sides[i].owner;
        } else if (end - i > 2) {
            for (size_t k = i; k < end; k++)
                twin[sides[k].owner] = sides[k].owner; /* branches: its own, no rim */
        }
    }
    rg_release(&mesh->allocator, sides);
    return RG_OK;
}

/* Walks over each surface; `surface` gets the number of the one that a triangle is of. */
static size_t turn_alike(rg_mesh *mesh, const uint32_t *twin, uint32_t *surface, uint32_t *queue,
                         bool *turned) {
    size_t surfaces = 0;
    for (uint32_t start = 0; start < mesh->triangle_count; start++) {
        if (surface[start] != NONE)
            continue;
        size_t read = 0, written = 0;
        queue[written++] = start;
        surface[start] = (uint32_t)surfaces;
        while (read < written) {
            uint32_t t = queue[read++];
            for (uint32_t k = 0; k < 3; k++) {
                uint32_t side = 3 * t + k, other = twin[side];
                if (other == NONE || other / 3 == t || surface[other / 3] != NONE)
                    continue;
                /* As they were given, both run from the same vertex: then one must be turned. */
                bool alike = mesh->triangles[side] == mesh->triangles[other];
                turned[other / 3] = turned[t] != alike;
                surface[other / 3] = (uint32_t)surfaces;
                queue[written++] = other / 3;
            }
        }
        surfaces++;
    }
    return surfaces;
}

static void turn_round(rg_mesh *mesh, size_t t) {
    uint32_t swap = mesh->triangles[3 * t + 1];
    mesh->triangles[3 * t + 1] = mesh->triangles[3 * t + 2];
    mesh->triangles[3 * t + 2] = swap;
}

/* --- holes ------------------------------------------------------------------------------------ */

typedef struct filler {
    rg_mesh *mesh;
    size_t vertex_capacity, triangle_capacity; /* the latter in numbers */
    uint32_t *next; /* along the rim, against the triangles; NONE: not on it, or on two */
    rg_mesh_repair *repair;
} filler;

static rg_status add_triangle(filler *f, uint32_t a, uint32_t b, uint32_t c) {
    rg_mesh *mesh = f->mesh;
    rg_status status = rg_array_grow(&mesh->allocator, &mesh->triangles, &f->triangle_capacity,
                                     3 * mesh->triangle_count + 3);
    if (!status) {
        memcpy(mesh->triangles + 3 * mesh->triangle_count++, (uint32_t[]){a, b, c},
               3 * sizeof *mesh->triangles);
        f->repair->filled++;
    }
    return status;
}

/* How many vertices the rim through `start` has; 0 if it does not come back. */
static size_t rim_length(const filler *f, uint32_t start, size_t most, rg_vec3 *middle) {
    uint32_t at = start;
    size_t length = 0;
    *middle = (rg_vec3){0, 0, 0};
    do {
        *middle = rg_add(*middle, f->mesh->vertices[at]);
        at = f->next[at];
        length++;
    } while (at != NONE && at != start && length <= most);
    *middle = rg_scale(1 / (double)length, *middle);
    return at == start ? length : 0;
}

static rg_status fill(filler *f, uint32_t start, size_t vertices) {
    rg_mesh *mesh = f->mesh;
    rg_vec3 middle;
    size_t length = rim_length(f, start, vertices, &middle);
    if (length < 3)
        return RG_OK;
    f->repair->holes++;
    uint32_t apex = start;
    rg_status status = RG_OK;
    if (length > 3) {
        status = rg_array_grow(&mesh->allocator, &mesh->vertices, &f->vertex_capacity,
                               mesh->vertex_count + 1);
        if (status)
            return status;
        apex = (uint32_t)mesh->vertex_count;
        mesh->vertices[mesh->vertex_count++] = middle;
    }
    uint32_t at = length > 3 ? start : f->next[start];
    for (size_t i = 0; i < (length > 3 ? length : 1) && !status; i++) {
        status = add_triangle(f, apex, at, f->next[at]);
        at = f->next[at];
    }
    for (size_t i = 0; i < length; i++) {
        uint32_t after = f->next[start];
        f->next[start] = NONE;
        start = after;
    }
    return status;
}

static rg_status fill_holes(rg_mesh *mesh, const uint32_t *twin, rg_mesh_repair *repair) {
    size_t vertices = mesh->vertex_count, sides = 3 * mesh->triangle_count;
    filler f = {mesh, mesh->vertex_count, 3 * mesh->triangle_count, NULL, repair};
    f.next = rg_allocate(&mesh->allocator, vertices, sizeof *f.next);
    bool *twice = rg_allocate_zeroed(&mesh->allocator, vertices, sizeof *twice);
    rg_status status = f.next && twice ? RG_OK : RG_OUT_OF_MEMORY;
    if (!status)
        memset(f.next, 0xFF, vertices * sizeof *f.next);
    for (size_t i = 0; i < sides && !status; i++) {
        if (twin[i] != NONE)
            continue;
        uint32_t from = mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
        twice[from] = f.next[from] != NONE;
        f.next[from] = mesh->triangles[i];
    }
    for (size_t v = 0; v < vertices && !status; v++)
        if (twice[v])
            f.next[v] = NONE;
    for (uint32_t v = 0; v < vertices && !status; v++)
        if (f.next[v] != NONE)
            status = fill(&f, v, vertices);
    rg_release(&mesh->allocator, f.next);
    rg_release(&mesh->allocator, twice);
    return status;
}

/* --- outwards --------------------------------------------------------------------------------- */

typedef struct walk {
    uint32_t *twin, *surface, *queue;
    bool *turned;
    size_t surfaces;
} walk;

static void end_walk(walk *w, const rg_allocator *memory) {
    rg_release(memory, w->twin);
    rg_release(memory, w->surface);
    rg_release(memory, w->queue);
    rg_release(memory, w->turned);
    *w = (walk){0};
}

/* Turns neighbours the same way. */
static rg_status begin_walk(walk *w, rg_mesh *mesh, size_t *count) {
    size_t triangles = mesh->triangle_count;
    *w = (walk){rg_allocate(&mesh->allocator, 3 * triangles, sizeof *w->twin),
                rg_allocate(&mesh->allocator, triangles, sizeof *w->surface),
                rg_allocate(&mesh->allocator, triangles, sizeof *w->queue),
                rg_allocate_zeroed(&mesh->allocator, triangles, sizeof *w->turned), 0};
    rg_status status = w->twin && w->surface && w->queue && w->turned ? RG_OK : RG_OUT_OF_MEMORY;
    if (!status)
        status = pair_sides(mesh, w->twin);
    if (status)
        return status;
    memset(w->surface, 0xFF, triangles * sizeof *w->surface);
    w->surfaces = turn_alike(mesh, w->twin, w->surface, w->queue, w->turned);
    for (size_t t = 0; t < triangles; t++)
        if (w->turned[t]) {
            turn_round(mesh, t);
            ++*count;
        }
    return RG_OK;
}

static rg_status turn_outwards(rg_mesh *mesh, const walk *w, size_t *count) {
    rg_moment_sum *sums = rg_allocate(&mesh->allocator, w->surfaces, sizeof *sums);
    if (!sums)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < w->surfaces; i++)
        sums[i] = rg_moment_begin(mesh->vertices[mesh->triangles[0]]);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *k = mesh->triangles + 3 * t;
        rg_moment_add_triangle(&sums[w->surface[t]], mesh->vertices[k[0]], mesh->vertices[k[1]],
                               mesh->vertices[k[2]]);
    }
    for (size_t t = 0; t < mesh->triangle_count; t++)
        if (rg_moment_volume(&sums[w->surface[t]]) < 0) {
            turn_round(mesh, t);
            ++*count;
        }
    rg_release(&mesh->allocator, sums);
    return RG_OK;
}

rg_status rg_mesh_mend(rg_mesh *mesh, rg_mesh_repair *repair, rg_error *error) {
    walk w = {0};
    *repair = (rg_mesh_repair){0};
    rg_status status = drop(mesh, repair);
    if (!status && mesh->triangle_count == 0)
        return rg_fail(error, RG_DEGENERATE_GEOMETRY,
                       "all %zu triangles have two corners in one place; nothing is left",
                       repair->degenerate);
    if (!status)
        status = begin_walk(&w, mesh, &repair->turned);
    if (!status)
        status = pair_sides(mesh, w.twin);
    if (!status)
        status = fill_holes(mesh, w.twin, repair);
    end_walk(&w, &mesh->allocator);
    size_t none = 0;
    if (!status)
        status = begin_walk(&w, mesh, &none);
    if (!status)
        status = turn_outwards(mesh, &w, &repair->turned);
    end_walk(&w, &mesh->allocator);
    return status ? rg_fail(error, status, "no memory to mend the mesh") : RG_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

rg_status rg_mesh_write_obj(const rg_mesh *mesh, const char *path, rg_error *error) {
    FILE *file = fopen(path, "w");
    if (!file)
        return rg_fail(error, RG_WRITE_FAILED, "%s cannot be written", path);
    char x[RG_NUMBER_SIZE], y[RG_NUMBER_SIZE], z[RG_NUMBER_SIZE];
    for (size_t i = 0; i < mesh->vertex_count; i++)
        fprintf(file, "v %s %s %s\n", rg_format_double(mesh->vertices[i].x, x),
                rg_format_double(mesh->vertices[i].y, y), rg_format_double(mesh->vertices[i].z, z));
    for (size_t i = 0; i < 3 * mesh->triangle_count; i += 3)
        fprintf(file, "f %lu %lu %lu\n", 1 + (unsigned long)mesh->triangles[i],
                1 + (unsigned long)mesh->triangles[i + 1],
                1 + (unsigned long)mesh->triangles[i + 2]);
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    return failed ? rg_fail(error, RG_WRITE_FAILED, "%s cannot be written", path) : RG_OK;
}
