/* What is wrong with a mesh, triangle by triangle.
 *
 * Edges: all sides of triangles with area, sorted by their ends. Crossings: triangles that
 * go through each other, found with a tree of boxes; those with a corner in common are left out.
 * Cost: n log n, and the pairs whose boxes overlap.
 * Tested by tests/shape/test_mesh_check.c. */
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sort.h"
#include "base/base_text.h"
#include "shape/shape_mesh.h"
#include "shape/shape_mesh_tree.h"
#include "shape/shape_polyhedron.h"

#include <string.h>

/* A triangle lower than this is flat, and one that goes through by less does not cross; of the
 * size of the mesh. */
#define FLAT    1e-12
#define THROUGH 1e-9

const char *rg_mesh_flaw_name(rg_mesh_flaw_kind kind) {
    static const char *const names[RG_MESH_FLAW_COUNT] = {
        "degenerate", "duplicate", "open edge", "branching edge", "inconsistent edge", "crossing"};
    return kind < RG_MESH_FLAW_COUNT ? names[kind] : "";
}

typedef struct examiner {
    const rg_mesh *mesh;
    rg_mesh_flaw *flaws;
    size_t capacity;
    rg_mesh_flaws *found;
    double size;
    bool *flat, *again; /* without area; with the corners of another that is looked at instead */
    const uint32_t *number; /* crossings: of the triangles with area, which they are */
    uint32_t here;          /* crossings: the triangle whose edges are looked at */
} examiner;

static void note(examiner *e, rg_mesh_flaw_kind kind, uint32_t triangle, uint32_t other,
                 rg_vec3 place) {
    if (e->found->listed < e->capacity && e->found->count[kind] < RG_MESH_FLAWS_LISTED)
        e->flaws[e->found->listed++] = (rg_mesh_flaw){kind, triangle, other, place};
    e->found->count[kind]++;
}

static rg_vec3 corner(const rg_mesh *mesh, uint32_t triangle, int k) {
    return mesh->vertices[mesh->triangles[3 * (size_t)triangle + (size_t)k]];
}

/* --- triangles -------------------------------------------------------------------------------- */

static bool is_flat(const examiner *e, uint32_t t) {
    const uint32_t *k = e->mesh->triangles + 3 * (size_t)t;
    if (!rg_mesh_has_corners(k))
        return true;
    rg_vec3 a = corner(e->mesh, t, 0), u = rg_sub(corner(e->mesh, t, 1), a),
            v = rg_sub(corner(e->mesh, t, 2), a);
    double longest = rg_max3(rg_length(u), rg_length(v), rg_length(rg_sub(u, v)));
    return !(rg_length(rg_cross(u, v)) > FLAT * e->size * longest);
}

int rg_mesh_corners_compare(const void *a, const void *b, const void *context) {
    const rg_mesh_corners *p = a, *q = b;
    (void)context;
    for (int i = 0; i < 3; i++)
        if (p->vertex[i] != q->vertex[i])
            return p->vertex[i] < q->vertex[i] ? -1 : 1;
    return 0;
}

rg_mesh_corners rg_mesh_sorted_corners(const uint32_t *k, uint32_t triangle) {
    uint32_t low = k[0] < k[1] ? k[0] : k[1], high = k[0] < k[1] ? k[1] : k[0];
    if (k[2] < low)
        return (rg_mesh_corners){{k[2], low, high}, triangle};
    return k[2] < high ? (rg_mesh_corners){{low, k[2], high}, triangle}
                       : (rg_mesh_corners){{low, high, k[2]}, triangle};
}

static rg_status find_duplicates(examiner *e) {
    const rg_mesh *mesh = e->mesh;
    rg_mesh_corners *list = rg_allocate(&mesh->allocator, mesh->triangle_count, sizeof *list);
    if (!list)
        return RG_OUT_OF_MEMORY;
    size_t count = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        if (e->flat[t])
            continue;
        list[count++] = rg_mesh_sorted_corners(mesh->triangles + 3 * (size_t)t, t);
    }
    rg_status status =
        rg_sort(list, count, sizeof *list, rg_mesh_corners_compare, NULL, &mesh->allocator);
    for (size_t i = 1; i < count && !status; i++)
        if (rg_mesh_corners_compare(&list[i - 1], &list[i], NULL) == 0) {
            e->again[list[i].triangle] = true;
            note(e, RG_MESH_DUPLICATE, list[i].triangle, list[i - 1].triangle,
                 corner(mesh, list[i].triangle, 0));
        }
    rg_release(&mesh->allocator, list);
    return status;
}

/* --- edges ------------------------------------------------------------------------------------ */

static void judge_edge(examiner *e, const rg_edge_side *sides, size_t count) {
    rg_vec3 place =
        rg_scale(0.5, rg_add(e->mesh->vertices[sides[0].low], e->mesh->vertices[sides[0].high]));
    uint32_t first = sides[0].owner / 3, second = count > 1 ? sides[1].owner / 3 : first;
    if (count == 1)
        note(e, RG_MESH_OPEN_EDGE, first, first, place);
    else if (count > 2)
        note(e, RG_MESH_BRANCHING_EDGE, first, second, place);
    else if (rg_mesh_side_rises(e->mesh, &sides[0]) == rg_mesh_side_rises(e->mesh, &sides[1]))
        note(e, RG_MESH_INCONSISTENT_EDGE, first, second, place);
}

static rg_status find_bad_edges(examiner *e) {
    const rg_mesh *mesh = e->mesh;
    rg_edge_side *sides = rg_mesh_sides(mesh);
    if (!sides)
        return RG_OUT_OF_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < 3 * mesh->triangle_count; i++)
        if (rg_mesh_has_corners(mesh->triangles + sides[i].owner / 3 * 3))
            sides[count++] = sides[i];
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && rg_edge_side_compare(&sides[i], &sides[end], NULL) == 0;)
            end++;
        judge_edge(e, sides + i, end - i);
    }
    rg_release(&mesh->allocator, sides);
    return RG_OK;
}

/* --- crossings -------------------------------------------------------------------------------- */

static bool share_corner(const rg_mesh *mesh, uint32_t a, uint32_t b) {
    for (int i = 0; i < 9; i++)
        if (mesh->triangles[3 * (size_t)a + (size_t)(i / 3)] ==
            mesh->triangles[3 * (size_t)b + (size_t)(i % 3)])
            return true;
    return false;
}

/* The ends of what the plane n.x = offset cuts out of a triangle; false if it does not have corners
 * on both sides of it. A corner that is nearer than `least` is in the plane. */
static bool section(const rg_vec3 c[3], rg_vec3 n, double offset, double least, rg_vec3 ends[2]) {
    double height[3];
    int count = 0, above = 0, below = 0;
    for (int i = 0; i < 3; i++) {
        height[i] = rg_dot(n, c[i]) - offset;
        height[i] = fabs(height[i]) > least ? height[i] : 0;
        above += height[i] > 0;
        below += height[i] < 0;
    }
    for (int i = 0; i < 3 && above && below; i++) {
        double from = height[i], to = height[(i + 1) % 3];
        if (from == 0)
            ends[count++] = c[i];
        else if (from * to < 0)
            ends[count++] = rg_add_scaled(c[i], from / (from - to), rg_sub(c[(i + 1) % 3], c[i]));
    }
    return count == 2;
}

/* Whether two triangles go through each other: what the plane of either cuts out of the other lies
 * on one line, and overlaps there (Moeller 1997). That they touch, or lie in one plane, is no
 * crossing. */
static bool cross(const examiner *e, uint32_t one, uint32_t other, rg_vec3 *place) {
    rg_vec3 c[2][3], n[2], ends[2][2];
    double least = THROUGH * e->size, low = -INFINITY, high = INFINITY;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++)
            c[k][i] = corner(e->mesh, k ? other : one, i);
        n[k] = rg_normalised(rg_cross(rg_sub(c[k][1], c[k][0]), rg_sub(c[k][2], c[k][0])));
    }
    for (int k = 0; k < 2; k++)
        if (!section(c[k], n[1 - k], rg_dot(n[1 - k], c[1 - k][0]), least, ends[k]))
            return false;
    rg_vec3 along = rg_sub(ends[0][1], ends[0][0]), from = ends[0][0];
    double length = rg_length(along);
    if (!(length > least))
        return false;
    along = rg_scale(1 / length, along);
    for (int k = 0; k < 2; k++) {
        double x = rg_dot(along, rg_sub(ends[k][0], from));
        double y = rg_dot(along, rg_sub(ends[k][1], from));
        low = fmax(low, fmin(x, y));
        high = fmin(high, fmax(x, y));
    }
    *place = rg_add_scaled(from, 0.5 * (low + high), along);
    return high - low > least;
}

static bool look_for_crossing(void *user, uint32_t other) {
    examiner *e = user;
    rg_vec3 place;
    if (other > e->here && !share_corner(e->mesh, e->here, other) &&
        cross(e, e->here, other, &place))
        note(e, RG_MESH_CROSSING, e->number[e->here], e->number[other], place);
    return e->found->count[RG_MESH_CROSSING] < RG_MESH_MOST_CROSSINGS;
}

/* Among the triangles with area, one of each place: any number of others may be there, and if each
 * looked at each, time would grow with the square of their number. */
static rg_status find_crossings(examiner *e) {
    const rg_mesh *mesh = e->mesh;
    rg_mesh part = *mesh;
    size_t count = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        count += !e->flat[t] && !e->again[t];
    if (count < 2)
        return RG_OK;
    rg_mesh_tree tree = {0};
    part.triangles = rg_allocate(&mesh->allocator, 3 * count, sizeof *part.triangles);
    uint32_t *number = rg_allocate(&mesh->allocator, count, sizeof *number);
    rg_status status = part.triangles && number ? RG_OK : RG_OUT_OF_MEMORY;
    part.triangle_count = 0;
    for (uint32_t t = 0; t < mesh->triangle_count && !status; t++) {
        if (e->flat[t] || e->again[t])
            continue;
        memcpy(part.triangles + 3 * part.triangle_count, mesh->triangles + 3 * (size_t)t,
               3 * sizeof *part.triangles);
        number[part.triangle_count++] = t;
    }
    if (!status)
        status = rg_mesh_tree_build(&tree, &part, &mesh->allocator);
    e->mesh = &part;
    e->number = number;
    for (e->here = 0; e->here < count && !status; e->here++) {
        rg_bounds box = rg_mesh_triangle_bounds(&part, e->here);
        if (e->found->count[RG_MESH_CROSSING] >= RG_MESH_MOST_CROSSINGS)
            break;
        rg_tree_visit(&tree.boxes, &box, 0, look_for_crossing, e);
    }
    e->mesh = mesh;
    rg_mesh_tree_free(&tree, &mesh->allocator);
    rg_release(&mesh->allocator, part.triangles);
    rg_release(&mesh->allocator, number);
    return status;
}

/* --- all -------------------------------------------------------------------------------------- */

rg_status rg_mesh_examine(const rg_mesh *mesh, rg_mesh_flaw *flaws, size_t capacity,
                          rg_mesh_flaws *found, rg_error *error) {
    *found = (rg_mesh_flaws){0};
    examiner e = {.mesh = mesh, .flaws = flaws, .capacity = capacity, .found = found};
    size_t count = mesh->triangle_count;
    e.flat = rg_allocate(&mesh->allocator, count, sizeof *e.flat);
    e.again = rg_allocate_zeroed(&mesh->allocator, count, sizeof *e.again);
    rg_status status = e.flat && e.again ? RG_OK : RG_OUT_OF_MEMORY;
    rg_bounds all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < mesh->vertex_count; i++)
        all =
            (rg_bounds){rg_min(all.lower, mesh->vertices[i]), rg_max(all.upper, mesh->vertices[i])};
    e.size = mesh->vertex_count ? rg_largest_entry(rg_sub(all.upper, all.lower)) : 0;
    for (uint32_t t = 0; t < count && !status; t++) {
        e.flat[t] = is_flat(&e, t);
        if (e.flat[t])
            note(&e, RG_MESH_DEGENERATE, t, t, corner(mesh, t, 0));
    }
    if (!status)
        status = find_duplicates(&e);
    if (!status)
        status = find_bad_edges(&e);
    if (!status)
        status = find_crossings(&e);
    rg_release(&mesh->allocator, e.flat);
    rg_release(&mesh->allocator, e.again);
    return status ? rg_fail(error, status, "no memory to look at the mesh") : RG_OK;
}
