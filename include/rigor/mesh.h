/* Triangle meshes from files: Wavefront OBJ, STL and PLY (text and binary), read in double
 * precision, welded and checked. A mesh is input; bodies are made of shapes (a hull of its points,
 * or the convex polyhedron itself). */
#ifndef RIGOR_MESH_H
#define RIGOR_MESH_H

#include "rigor/mass.h"
#include "rigor/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rg_mesh_format {
    RG_MESH_AUTO, /* by content: STL and PLY are recognised, OBJ otherwise */
    RG_MESH_OBJ,
    RG_MESH_STL,
    RG_MESH_PLY
} rg_mesh_format;

typedef struct rg_mesh {
    rg_vec3 *vertices;
    size_t vertex_count;
    uint32_t *triangles; /* three vertex indices each, counter-clockwise from outside */
    size_t triangle_count;
    rg_allocator allocator;
} rg_mesh;

typedef struct rg_mesh_report {
    size_t welded_vertices;      /* merged into another one */
    size_t degenerate_triangles; /* dropped: two corners in one vertex */
    size_t open_edges;           /* with one triangle */
    size_t branching_edges;      /* with more than two */
    size_t inconsistent_edges;   /* whose two triangles run the same way */
    bool flipped;                /* all triangles were turned round: the volume was negative */
    bool watertight;             /* none of the three kinds of bad edge */
    bool convex; /* watertight, one component, no vertex over 1e-6 of the size outside a plane */
    size_t components; /* connected surfaces */
} rg_mesh_report;

/* {0} is the default. */
typedef struct rg_mesh_options {
    rg_mesh_format format;
    double weld; /* m: vertices closer than this are merged; 0: 1e-9 of the mesh's size; negative:
                    equal ones only */
    const rg_allocator *allocator; /* null: the C library's */
} rg_mesh_options;

/* Reads from memory. `name` stands for the file in messages. `options` null: the default ones;
 * `report` null: not wanted, and convexity is not looked at. */
rg_status rg_mesh_read_memory(const void *data, size_t size, const char *name,
                              const rg_mesh_options *options, rg_mesh *mesh, rg_mesh_report *report,
                              rg_error *error);
rg_status rg_mesh_read_file(const char *path, const rg_mesh_options *options, rg_mesh *mesh,
                            rg_mesh_report *report, rg_error *error);
void rg_mesh_destroy(rg_mesh *mesh);

/* Exact integrals over the enclosed volume; the mesh must be watertight. */
rg_status rg_mesh_mass(const rg_mesh *mesh, double density, rg_mass_properties *mass,
                       rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
