/* Solids as closed chains of flat faces, cut by planes.
 *
 * A face is a set of directed edges in one plane, counter-clockwise around it seen from outside;
 * one of a section may have several loops, holes and islands. It is never triangulated: a cut needs
 * edges only, and integrals over a face are those of a fan over its edges, with the signs that
 * their directions give. So a chain stays as small as the solid that it is of, however often it was
 * cut. */
#ifndef RIGOR_SHAPE_CHAIN_H
#define RIGOR_SHAPE_CHAIN_H

#include "rigor/shape.h"

typedef struct rg_cut_plane {
    rg_vec3 normal; /* unit */
    double offset;  /* normal . p = offset */
} rg_cut_plane;

typedef struct rg_chain_edge {
    rg_vec3 from, to;
} rg_chain_edge;

typedef struct rg_chain_face {
    rg_cut_plane plane; /* outwards */
    bool surface;       /* of a triangle that was given; otherwise of a section */
    size_t first, count;
} rg_chain_face;

typedef struct rg_chain {
    rg_chain_face *faces;
    size_t face_count, face_capacity;
    rg_chain_edge *edges; /* face by face */
    size_t edge_count, edge_capacity;
} rg_chain;

/* An edge without its direction; sorted, those with the same ends lie together. */
typedef struct rg_chain_side {
    rg_vec3 low, high; /* its ends, by rg_point_compare */
    uint32_t face, edge;
    bool turned; /* runs from high to low */
} rg_chain_side;

void rg_chain_free(rg_chain *chain, const rg_allocator *memory);
/* One without area is left out: its sides cancel each other. */
rg_status rg_chain_add_triangle(rg_chain *chain, const rg_vec3 corner[3],
                                const rg_allocator *memory);
/* What is below the plane (half[0]) and above (half[1]), each closed. Corners nearer to the plane
 * than `near` count as on it. On failure both are empty. */
rg_status rg_chain_cut(const rg_chain *chain, const rg_cut_plane *plane, double near,
                       rg_chain half[2], const rg_allocator *memory);
double rg_chain_volume(const rg_chain *chain);
/* All edges as sides, sorted; null without memory. The caller releases them. */
rg_chain_side *rg_chain_sides(const rg_chain *chain, const rg_allocator *memory);
bool rg_chain_same_edge(const rg_chain_side *a, const rg_chain_side *b);
/* The connected surfaces of a chain as chains of their own, in an array that the caller releases.
 * A section that has loops of several surfaces is shared out. */
rg_status rg_chain_split(const rg_chain *chain, rg_chain **parts, size_t *count,
                         const rg_allocator *memory);

#endif
