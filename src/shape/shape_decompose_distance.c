/* How far convex parts reach beyond the solid that they were cut from.
 *
 * Each part contains its piece, so the Hausdorff distance is that of the farthest point of a part
 * from the solid, and lies on a facet of a hull. A triangle of a facet is cut until the distance of
 * all its points is at most `resolution` more than the largest that was found. Bounds of it are
 *
 * - d + r, for a triangle of radius r whose middle is at d: distance changes no faster than place;
 * - the largest distance of a corner from the triangle of the surface that is nearest to the
 *   middle, since the distance from a convex set is convex;
 * - of a facet in the surface, or nearly: what of it lies over the nearest triangle of the surface
 *   is cut off and is no farther than the corners are from its plane;
 * - of a facet in the solid: if its middle is inside, and the surface does not meet the facet made
 *   smaller about its middle by the resolution, all of the smaller one is inside, and the rest is
 *   within the resolution of it.
 *
 * Without the last two a facet on the surface, or one that ends at it, would be cut into pieces of
 * the resolution. Tested by tests/shape/test_decompose.c. */
#include "rigor/decompose.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "shape/shape_mesh_tree.h"

enum { MOST_CORNERS = 8 }; /* of a triangle that three planes cut, and to spare */

/* Corners this near to a side of a triangle count as on it, of the size of the mesh: rounding makes
 * no slivers. */
#define BESIDE 1e-12

typedef struct measure {
    const rg_mesh *mesh;
    rg_mesh_tree tree;
    double resolution, least, most, size;
} measure;

typedef struct polygon {
    rg_vec3 corner[MOST_CORNERS];
    int count;
} polygon;

static void look_at(measure *m, const rg_vec3 p[3]);

static void corners_of(const rg_mesh *mesh, uint32_t triangle, rg_vec3 v[3]) {
    for (int i = 0; i < 3; i++)
        v[i] = mesh->vertices[mesh->triangles[3 * (size_t)triangle + (size_t)i]];
}

/* --- a facet in the surface ------------------------------------------------------------------- */

/* Cuts what is beyond the plane n . x = offset off. */
static void clip(const polygon *p, rg_vec3 n, double offset, double near, polygon *within,
                 polygon *beyond) {
    within->count = beyond->count = 0;
    for (int i = 0; i < p->count; i++) {
        rg_vec3 a = p->corner[i], b = p->corner[(i + 1) % p->count];
        double da = rg_dot(n, a) - offset, db = rg_dot(n, b) - offset;
        da = fabs(da) <= near ? 0 : da;
        db = fabs(db) <= near ? 0 : db;
        if (da <= 0)
            within->corner[within->count++] = a;
        if (da >= 0)
            beyond->corner[beyond->count++] = a;
        if ((da < 0 && db > 0) || (da > 0 && db < 0)) {
            rg_vec3 c = rg_add_scaled(a, da / (da - db), rg_sub(b, a));
            within->corner[within->count++] = beyond->corner[beyond->count++] = c;
        }
    }
}

/* Whether what lies over the triangle of the surface nearest to the middle is no farther than
 * wanted from it, and the middle is over it; the rest is looked at. */
static bool leave_out_over(measure *m, const rg_vec3 p[3], rg_vec3 middle, uint32_t nearest) {
    rg_vec3 v[3], side[3];
    corners_of(m->mesh, nearest, v);
    rg_vec3 normal = rg_cross(rg_sub(v[1], v[0]), rg_sub(v[2], v[0]));
    if (!(rg_length(normal) > 0))
        return false;
    normal = rg_normalised(normal);
    double height = 0, near = BESIDE * m->size;
    for (int i = 0; i < 3; i++) {
        height = fmax(height, fabs(rg_dot(normal, rg_sub(p[i], v[0]))));
        side[i] = rg_normalised(rg_cross(rg_sub(v[(i + 1) % 3], v[i]), normal));
        if (!(rg_dot(side[i], rg_sub(middle, v[i])) < -near))
            return false;
    }
    if (height > m->least + m->resolution)
        return false;
    m->most = fmax(m->most, height);
    polygon rest = {.corner = {p[0], p[1], p[2]}, .count = 3}, within, beyond;
    for (int i = 0; i < 3; i++) {
        clip(&rest, side[i], rg_dot(side[i], v[i]), near, &within, &beyond);
        for (int k = 2; k < beyond.count; k++)
            look_at(m, (rg_vec3[]){beyond.corner[0], beyond.corner[k - 1], beyond.corner[k]});
        rest = within;
    }
    return true;
}

/* --- a facet in the solid --------------------------------------------------------------------- */

typedef struct meeting {
    const rg_mesh *mesh;
    rg_vec3 p[3];
    bool found;
} meeting;

static bool is_between(const rg_vec3 p[3], const rg_vec3 v[3], rg_vec3 n) {
    double a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = rg_dot(n, rg_sub(p[i], v[0]));
        b[i] = rg_dot(n, rg_sub(v[i], v[0]));
    }
    return rg_max3(a[0], a[1], a[2]) < fmin(b[0], fmin(b[1], b[2])) ||
           rg_max3(b[0], b[1], b[2]) < fmin(a[0], fmin(a[1], a[2]));
}

/* Whether a plane along a triangle, or along a side of either, separates them. Triangles in one
 * plane count as meeting. */
static bool are_apart(const rg_vec3 p[3], const rg_vec3 v[3]) {
    rg_vec3 a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = rg_sub(p[(i + 1) % 3], p[i]);
        b[i] = rg_sub(v[(i + 1) % 3], v[i]);
    }
    bool apart = is_between(p, v, rg_cross(a[0], a[1])) || is_between(p, v, rg_cross(b[0], b[1]));
    for (int i = 0; i < 9 && !apart; i++)
        apart = is_between(p, v, rg_cross(a[i / 3], b[i % 3]));
    return apart;
}

static bool meet(void *user, uint32_t triangle) {
    meeting *m = user;
    rg_vec3 v[3];
    corners_of(m->mesh, triangle, v);
    m->found = !are_apart(m->p, v);
    return !m->found;
}

/* Whether no surface meets a triangle made smaller about its middle, by `share`. */
static bool is_clear(const measure *m, const rg_vec3 p[3], rg_vec3 middle, double share) {
    meeting t = {.mesh = m->mesh};
    for (int i = 0; i < 3; i++)
        t.p[i] = rg_add_scaled(p[i], share, rg_sub(middle, p[i]));
    rg_bounds box = {rg_min(t.p[0], rg_min(t.p[1], t.p[2])),
                     rg_max(t.p[0], rg_max(t.p[1], t.p[2]))};
    rg_tree_visit(&m->tree.boxes, &box, 0, meet, &t);
    return !t.found;
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* In two, at the middle of the longest side. */
static void halve(measure *m, const rg_vec3 p[3]) {
    int longest = 0;
    double most = 0;
    for (int i = 0; i < 3; i++) {
        double length = rg_length_squared(rg_sub(p[(i + 1) % 3], p[i]));
        if (length > most) {
            most = length;
            longest = i;
        }
    }
    rg_vec3 a = p[longest], b = p[(longest + 1) % 3], c = p[(longest + 2) % 3];
    rg_vec3 between = rg_scale(0.5, rg_add(a, b));
    look_at(m, (rg_vec3[]){a, between, c});
    look_at(m, (rg_vec3[]){between, b, c});
}

static void look_at(measure *m, const rg_vec3 p[3]) {
    rg_vec3 middle = rg_scale(1.0 / 3, rg_add(rg_add(p[0], p[1]), p[2]));
    double radius = 0, corner = 0;
    uint32_t nearest = 0;
    double d = rg_mesh_tree_distance(&m->tree, middle, &nearest);
    for (int i = 0; i < 3; i++) {
        radius = fmax(radius, rg_length(rg_sub(p[i], middle)));
        corner = fmax(corner, rg_mesh_triangle_distance(m->mesh, nearest, p[i]));
    }
    double bound = fmin(d + radius, corner);
    if (bound <= m->least || leave_out_over(m, p, middle, nearest))
        return;
    if (rg_mesh_tree_inside(&m->tree, middle)) {
        double share = fmin(1, m->resolution / radius);
        if (d >= radius)
            return;
        d = 0;
        bound = fmin(bound, is_clear(m, p, middle, share) ? share * radius : radius);
    }
    m->least = fmax(m->least, d);
    if (bound <= m->least + m->resolution)
        m->most = fmax(m->most, bound);
    else
        halve(m, p);
}

rg_status rg_decomposition_measure(const rg_mesh *mesh, const rg_decomposition *decomposition,
                                   double resolution, rg_decomposition_distance *distance,
                                   rg_error *error) {
    measure m = {.mesh = mesh, .resolution = resolution};
    *distance = (rg_decomposition_distance){0};
    if (!(resolution > 0))
        return rg_fail(error, RG_INVALID_ARGUMENT, "the resolution must be a positive length");
    if (rg_mesh_tree_build(&m.tree, mesh, &decomposition->allocator) != RG_OK)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for the tree of the mesh");
    rg_bounds all = m.tree.boxes.nodes[0].bounds;
    m.size = rg_largest_entry(rg_sub(all.upper, all.lower));
    for (size_t i = 0; i < decomposition->part_count; i++) {
        const rg_polyhedron *p = rg_shape_polyhedron(decomposition->parts[i]);
        for (uint32_t f = 0; f < p->facet_count; f++) {
            const uint32_t *loop = p->facet_vertices + p->facet_start[f];
            for (uint32_t k = 2; k < p->facet_start[f + 1] - p->facet_start[f]; k++)
                look_at(&m, (rg_vec3[]){p->vertices[loop[0]], p->vertices[loop[k - 1]],
                                        p->vertices[loop[k]]});
        }
    }
    rg_mesh_tree_free(&m.tree, &decomposition->allocator);
    *distance = (rg_decomposition_distance){m.least, fmax(m.least, m.most)};
    return RG_OK;
}
