/* Triangle meshes from files: Wavefront OBJ, STL and PLY (text and binary), glTF (y up, as it is),
 * read in double precision, welded and checked. A mesh is input; bodies are made of shapes: a hull
 * of its points, the convex polyhedron itself, or convex parts (rigor/decompose.h). */
#ifndef RIGOR_MESH_H
#define RIGOR_MESH_H

#include "rigor/mass.h"
#include "rigor/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rg_mesh_format {
    RG_MESH_AUTO, /* by content: STL, PLY and glTF are recognised, OBJ otherwise */
    RG_MESH_OBJ,
    RG_MESH_STL,
    RG_MESH_PLY,
    RG_MESH_GLTF
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
    bool whole;  /* degenerate triangles stay, and numbers are those of the file; of the report only
                    welded_vertices is filled in */
    size_t group; /* OBJ: only this one of the groups that have faces, from 1; 0: all. RG_NOT_FOUND
                     if there are fewer */
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

/* What can be wrong with a mesh. */
typedef enum rg_mesh_flaw_kind {
    RG_MESH_DEGENERATE,        /* a triangle without area */
    RG_MESH_DUPLICATE,         /* a triangle with the corners of `other` */
    RG_MESH_OPEN_EDGE,         /* an edge with one triangle */
    RG_MESH_BRANCHING_EDGE,    /* an edge with more than two */
    RG_MESH_INCONSISTENT_EDGE, /* an edge whose two triangles run the same way */
    RG_MESH_CROSSING,          /* two triangles go through each other */
    RG_MESH_FLAW_COUNT
} rg_mesh_flaw_kind;

typedef struct rg_mesh_flaw {
    rg_mesh_flaw_kind kind;
    uint32_t triangle, other; /* numbers of triangles, from 0; the same if there is but one */
    rg_vec3 place;
} rg_mesh_flaw;

/* Of each kind at most so many are listed; crossings are counted up to the second number. */
enum { RG_MESH_FLAWS_LISTED = 10, RG_MESH_MOST_CROSSINGS = 100000 };

typedef struct rg_mesh_flaws {
    size_t count[RG_MESH_FLAW_COUNT];
    size_t listed;
} rg_mesh_flaws;

const char *rg_mesh_flaw_name(rg_mesh_flaw_kind kind); /* "open edge" */
/* Looks at all triangles and edges, and for crossings at all pairs. `flaws` gets up to `capacity`
 * of them. Read the mesh with the option `whole`, so that numbers are those of the file. */
rg_status rg_mesh_examine(const rg_mesh *mesh, rg_mesh_flaw *flaws, size_t capacity,
                          rg_mesh_flaws *found, rg_error *error);

/* What mending did. */
typedef struct rg_mesh_repair {
    size_t degenerate, duplicate; /* triangles that were left out */
    size_t turned;                /* triangles that were turned round */
    size_t holes, filled;         /* holes that were closed, by so many triangles */
} rg_mesh_repair;
/* Leaves out degenerate and duplicate triangles, turns neighbours the same way and surfaces
 * outwards, and closes holes whose rim is one loop with a fan about its middle. What is left can be
 * seen with rg_mesh_examine. */
rg_status rg_mesh_mend(rg_mesh *mesh, rg_mesh_repair *repair, rg_error *error);
/* As OBJ; `path` is replaced. */
rg_status rg_mesh_write_obj(const rg_mesh *mesh, const char *path, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
