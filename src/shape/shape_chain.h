/* Closed chains of triangles: a solid as its oriented surface, cut by planes.
 *
 * The caps of a cut need no triangulation: a fan from any point of the plane over the cut edges,
 * with the signs that their directions give, closes the chain; where fans overlap they cancel. So
 * integrals over a chain are those of the piece, holes and islands in a section or not. */
#ifndef RIGOR_SHAPE_CHAIN_H
#define RIGOR_SHAPE_CHAIN_H

#include "rigor/shape.h"

typedef struct rg_chain_triangle {
    rg_vec3 corner[3]; /* counter-clockwise seen from outside */
    bool surface;      /* of the surface that was given; otherwise of a cap */
} rg_chain_triangle;

typedef struct rg_chain {
    rg_chain_triangle *triangles;
    size_t count, capacity;
} rg_chain;

typedef struct rg_cut_plane {
    rg_vec3 normal; /* unit */
    double offset;  /* normal . p = offset */
} rg_cut_plane;

/* A side of a triangle; sorted, the sides of an edge lie together. */
typedef struct rg_chain_side {
    rg_vec3 low, high; /* its ends, by rg_point_compare */
    uint32_t triangle;
    uint8_t corner; /* opposite to it */
    bool turned;    /* runs from high to low */
} rg_chain_side;

void rg_chain_free(rg_chain *chain, const rg_allocator *memory);
rg_status rg_chain_add(rg_chain *chain, const rg_vec3 corner[3], bool surface,
                       const rg_allocator *memory);
/* What is below the plane (half[0]) and above (half[1]), each closed. Corners nearer to the plane
 * than `near` count as on it. On failure both are empty. */
rg_status rg_chain_cut(const rg_chain *chain, const rg_cut_plane *plane, double near,
                       rg_chain half[2], const rg_allocator *memory);
double rg_chain_volume(const rg_chain *chain);
/* All sides, sorted; null without memory. The caller releases them. */
rg_chain_side *rg_chain_sides(const rg_chain *chain, const rg_allocator *memory);
bool rg_chain_same_edge(const rg_chain_side *a, const rg_chain_side *b);
/* Numbers the connected surfaces of a chain: piece[i] of triangle i, from 0. */
rg_status rg_chain_components(const rg_chain *chain, uint32_t *piece, size_t *count,
                              const rg_allocator *memory);

#endif
