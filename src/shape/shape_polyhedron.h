/* A convex polyhedron in flat arrays, with all adjacency, from nothing but its vertices and the
 * loops of its facets. */
#ifndef RIGOR_SHAPE_POLYHEDRON_H
#define RIGOR_SHAPE_POLYHEDRON_H

#include "rigor/shape.h"

/* Cells along an edge of the cube that maps directions to start vertices of the climb. */
enum { RG_START_CELLS = 4, RG_START_COUNT = 6 * RG_START_CELLS * RG_START_CELLS };

/* Polyhedra with no more vertices than this are scanned for supports: cheaper than following
 * edges. */
enum { RG_SCAN_VERTICES = 32 };

/* Facets as loops of vertices, counter-clockwise seen from outside. */
typedef struct rg_loops {
    uint32_t vertex_count, facet_count;
    const rg_vec3 *vertices;
    const uint32_t *facet_start; /* facet_count + 1 */
    const uint32_t *facet_vertices;
} rg_loops;

/* One of the sides that meet at the edge between two vertices, and what it is a side of. Sorted,
 * the sides of an edge lie together. */
typedef struct rg_edge_side {
    uint32_t low, high, owner;
} rg_edge_side;
int rg_edge_side_compare(const void *a, const void *b, const void *context);

/* Two vertices side by side, as the lanes of vectors. An odd number is filled up with vertex 0. */
typedef struct rg_vertex_pair {
    double x[2], y[2], z[2];
} rg_vertex_pair;

/* The public view and what only the shape stage needs. All arrays lie in one block of memory. */
typedef struct rg_solid {
    rg_polyhedron view;
    rg_vec3 *centred;        /* vertices relative to the centre */
    rg_vertex_pair *pairs;   /* the same, to be scanned two by two; null above RG_SCAN_VERTICES */
    uint32_t *vertex_facets; /* parallel to vertex_neighbours: the facet between that neighbour and
                                the next one around the vertex; null for polygons */
    uint32_t *starts;        /* RG_START_COUNT start vertices by direction */
    double inradius, circumradius;
    void *memory;
} rg_solid;

/* Half-edges of facet loops: number k runs from facet_vertices[k] to the next corner of its facet.
 * Fills twin[k], the opposite half-edge. RG_DEGENERATE_GEOMETRY if the loops are not a closed
 * manifold: some edge has not exactly two half-edges of opposite direction. */
rg_status rg_loops_pair(const rg_loops *loops, uint32_t *twin, const rg_allocator *allocator);
/* The next corner in the loop of facet f after position k, and the one before. */
static inline uint32_t rg_loop_next(const uint32_t *facet_start, uint32_t f, uint32_t k) {
    return k + 1 < facet_start[f + 1] ? k + 1 : facet_start[f];
}
static inline uint32_t rg_loop_previous(const uint32_t *facet_start, uint32_t f, uint32_t k) {
    return k > facet_start[f] ? k - 1 : facet_start[f + 1] - 1;
}

/* Twice the vector area of a loop of points, to full precision however thin the loop is: the normal
 * of a sliver is as good as that of a square. */
rg_vec3 rg_loop_area(const rg_vec3 *points, const uint32_t *corners, uint32_t count);

/* Copies the loops and finds all adjacency; planes come later. RG_DEGENERATE_GEOMETRY if the loops
 * are not the surface of one ball. */
rg_status rg_solid_build(rg_solid *solid, const rg_loops *loops, const rg_allocator *allocator);
/* The arrays of a planar polygon with these corners (counter-clockwise in x-z). */
rg_status rg_solid_build_polygon(rg_solid *solid, const rg_vec3 *corners, uint32_t count,
                                 const rg_allocator *allocator);
/* Sets the centre and, from the given unit normals or (null) from the loops, the planes and radii,
 * then the start table. Offsets touch the farthest vertex, so that every vertex is inside every
 * plane. */
void rg_solid_set_planes(rg_solid *solid, rg_vec3 centre, const rg_vec3 *normals);
void rg_solid_free(rg_solid *solid, const rg_allocator *allocator);

/* Mass properties of the polyhedron for density 1, by exact integrals. */
rg_mass_properties rg_solid_mass(const rg_solid *solid);

/* shape_support.c: the vertex farthest along a direction; the tables that it is found with. */
uint32_t rg_solid_support(const rg_solid *solid, rg_vec3 direction, const uint32_t *hint);
void rg_solid_fill_pairs(rg_solid *solid);
/* Of a solid that has pairs: smallest and largest of axis . (vertex - centre), for three axes. */
void rg_solid_extent(const rg_solid *solid, const rg_vec3 axis[3], double low[3], double high[3]);
void rg_solid_fill_starts(rg_solid *solid);

#endif
