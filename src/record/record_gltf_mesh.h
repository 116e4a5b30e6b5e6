/* Shapes as triangles with normals, for exports. */
#ifndef RIGOR_RECORD_GLTF_MESH_H
#define RIGOR_RECORD_GLTF_MESH_H

#include "base/base_memory.h"
#include "rigor/shape.h"

/* Triangles are counter-clockwise seen from outside; vertices are not shared across edges. */
typedef struct rg_mesh_data {
    rg_buffer positions, normals; /* three floats a vertex */
    rg_buffer indices;            /* three uint32_t a triangle */
    size_t vertex_count, index_count;
} rg_mesh_data;

rg_mesh_data rg_mesh_data_make(const rg_allocator *allocator);
void rg_mesh_data_free(rg_mesh_data *mesh);
/* Appends a convex shape in its own frame. Planar shapes become plates, `depth` thick in y. A
 * half-space becomes a slab: its surface is z = 0 and `extent` wide and long, solid below, about
 * `depth` thick. Compounds have no mesh of their own. RG_OUT_OF_MEMORY is possible. */
rg_status rg_mesh_data_add(rg_mesh_data *mesh, const rg_shape *shape, double depth, double extent);

#endif
