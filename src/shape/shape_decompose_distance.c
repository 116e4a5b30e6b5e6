/* How far convex parts reach beyond the solid that they were cut from.
 *
 * Each part contains its piece, so the Hausdorff distance is that of the farthest point of a part
 * from the solid, and lies on a facet of a hull. Distance changes no faster than the place: a
 * triangle of radius r whose middle is at d has no point beyond d + r. The distance from one
 * triangle of the surface is convex and largest at a corner, which bounds it as well. Triangles are
 * quartered until the smaller bound is at most `resolution` more than the largest d so far. Those
 * that are inside with all their points are left out: no surface is within d of the middle.
 * Tested by tests/shape/test_decompose.c. */
#include "rigor/decompose.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "shape/shape_mesh_tree.h"

typedef struct measure {
    const rg_mesh *mesh;
    rg_mesh_tree tree;
    double resolution, least, most;
} measure;

static void look_at(measure *m, rg_vec3 a, rg_vec3 b, rg_vec3 c) {
    rg_vec3 middle = rg_scale(1.0 / 3, rg_add(rg_add(a, b), c));
    double radius =
        sqrt(rg_max3(rg_length_squared(rg_sub(a, middle)), rg_length_squared(rg_sub(b, middle)),
                     rg_length_squared(rg_sub(c, middle))));
    uint32_t nearest = 0;
    double d = rg_mesh_tree_distance(&m->tree, middle, &nearest);
    double bound = fmin(d + radius, rg_max3(rg_mesh_triangle_distance(m->mesh, nearest, a),
                                            rg_mesh_triangle_distance(m->mesh, nearest, b),
                                            rg_mesh_triangle_distance(m->mesh, nearest, c)));
    if (bound <= m->least)
        return;
    if ((d >= radius || d > m->least) && rg_mesh_tree_inside(&m->tree, middle)) {
        if (d >= radius)
            return;
        d = 0;
        bound = fmin(bound, radius);
    }
    m->least = fmax(m->least, d);
    if (bound <= m->least + m->resolution) {
        m->most = fmax(m->most, bound);
        return;
    }
    rg_vec3 ab = rg_scale(0.5, rg_add(a, b)), bc = rg_scale(0.5, rg_add(b, c)),
            ca = rg_scale(0.5, rg_add(c, a));
    look_at(m, a, ab, ca);
    look_at(m, ab, b, bc);
    look_at(m, ca, bc, c);
    look_at(m, ab, bc, ca);
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
    for (size_t i = 0; i < decomposition->part_count; i++) {
        const rg_polyhedron *p = rg_shape_polyhedron(decomposition->parts[i]);
        for (uint32_t f = 0; f < p->facet_count; f++) {
            const uint32_t *loop = p->facet_vertices + p->facet_start[f];
            for (uint32_t k = 2; k < p->facet_start[f + 1] - p->facet_start[f]; k++)
                look_at(&m, p->vertices[loop[0]], p->vertices[loop[k - 1]], p->vertices[loop[k]]);
        }
    }
    rg_mesh_tree_free(&m.tree, &decomposition->allocator);
    *distance = (rg_decomposition_distance){m.least, fmax(m.least, m.most)};
    return RG_OK;
}
