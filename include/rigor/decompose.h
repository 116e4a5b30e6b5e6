/* Bodies of any shape: a closed mesh as a compound of convex parts.
 *
 * The solid is cut by planes until its pieces are convex, or as nearly as wanted; each part is the
 * convex hull of a piece. Planes go through notches, the edges at which the surface is bent
 * inwards: each cut through a notch takes it away (Chazelle 1984), so that a polyhedron is cut into
 * convex parts exactly. Where there are very many notches, planes across the axes compete, and the
 * parts are hulls that are larger than the pieces. */
#ifndef RIGOR_DECOMPOSE_H
#define RIGOR_DECOMPOSE_H

#include "rigor/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* {0} is the default: exact. */
typedef struct rg_decomposition_options {
    size_t parts; /* cut no further with so many; 0: 10,000 */
    double error; /* cut no further when the parts are larger than the solid by this share of its
                     volume; 0: 1e-9, which is exact up to rounding */
    const rg_allocator *allocator; /* null: the C library's */
} rg_decomposition_options;

typedef struct rg_decomposition {
    rg_shape **parts; /* hulls in the frame of the mesh */
    size_t part_count;
    size_t notches; /* edges of the mesh at which it is bent inwards */
    size_t cuts;
    double volume;       /* m^3, of the mesh */
    double parts_volume; /* m^3, of all parts; parts of an exact decomposition share no interior */
    double error;        /* by how much parts are larger than their pieces, over the volume */
    rg_allocator allocator;
} rg_decomposition;

/* The mesh must be watertight (RG_NOT_WATERTIGHT), with its triangles counter-clockwise from
 * outside, as it is read from files. */
rg_status rg_mesh_decompose(const rg_mesh *mesh, const rg_decomposition_options *options,
                            rg_decomposition *decomposition, rg_error *error);
void rg_decomposition_destroy(rg_decomposition *decomposition);

/* How far the parts reach beyond the solid, the Hausdorff distance: it is between the two numbers,
 * in m, which differ by at most `resolution`. */
typedef struct rg_decomposition_distance {
    double least, most;
} rg_decomposition_distance;
rg_status rg_decomposition_measure(const rg_mesh *mesh, const rg_decomposition *decomposition,
                                   double resolution, rg_decomposition_distance *distance,
                                   rg_error *error);

/* The compound of the parts (of one part: that hull), with the mass properties of the mesh, which
 * are exact integrals, in place of those of the parts. */
rg_status rg_decomposition_shape(const rg_mesh *mesh, const rg_decomposition *decomposition,
                                 rg_shape **shape, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
