/* The triangles of a mesh in a tree of boxes: what is near, and what is inside. */
#ifndef RIGOR_SHAPE_MESH_TREE_H
#define RIGOR_SHAPE_MESH_TREE_H

#include "rigor/mesh.h"
#include "shape/shape_tree.h"

typedef struct rg_mesh_tree {
    const rg_mesh *mesh;
    rg_box_tree boxes;
} rg_mesh_tree;

rg_status rg_mesh_tree_build(rg_mesh_tree *tree, const rg_mesh *mesh, const rg_allocator *memory);
void rg_mesh_tree_free(rg_mesh_tree *tree, const rg_allocator *memory);
/* m: to the nearest point of the surface; `triangle` is one that has it. */
double rg_mesh_tree_distance(const rg_mesh_tree *tree, rg_vec3 p, uint32_t *triangle);
/* m: from p to a triangle. */
double rg_mesh_triangle_distance(const rg_mesh *mesh, uint32_t triangle, rg_vec3 p);

/* Whether p is inside a closed surface: by the crossings of a ray along z, or where it meets an
 * edge by the winding. */
bool rg_mesh_tree_inside(const rg_mesh_tree *tree, rg_vec3 p);

rg_bounds rg_mesh_triangle_bounds(const rg_mesh *mesh, uint32_t triangle);
/* How often the surface goes around p: 1 inside, 0 outside, whatever its direction 1/2 on it.
 * All triangles are looked at (van Oosterom and Strackee 1983). */
double rg_mesh_winding(const rg_mesh *mesh, rg_vec3 p);

#endif
