/* Narrow phase: the solvers behind rigor/proximity.h, by kind of pair.
 *
 * - narrow_growth.c: the table of pairs, frames, half-spaces, gradients, component functions
 * - narrow_ratio.c: polyhedron-polyhedron, 3D: cold start, portal, certificate
 * - narrow_ratio_walk.c: from one feature pair to the next over the facet graphs: warm starts
 * - narrow_ratio_exact.c: the end in twice the precision, for flat bodies
 * - narrow_ratio_box.c: box-box: fifteen normals in closed form
 * - narrow_ratio_planar.c: polygon-polygon
 * - narrow_seidel.c: the linear program by Seidel's randomised incremental algorithm: fallback with
 *   a guarantee, and raw half-space lists
 * - narrow_curved.c: spheres, capsules, cylinders, cones, ellipsoids: columns, then Newton's method
 * - narrow_curved_closed.c: closed forms of some of them
 * - narrow_surface.c: the boundary of one side: supports with labels, smooth pieces, gauges
 * - narrow_curved_exact.c, narrow_surface_long.c, narrow_simplex_long.c: the last digits, in
 *   double-double
 * - narrow_local.c: Newton's method on two smooth pieces, for growth and distance
 * - narrow_distance.c: GJK; narrow_simplex.c: its inner problem by signed volumes
 * - narrow_depth.c: the smallest translation that separates; narrow_depth_polyhedra.c,
 *   narrow_depth_curved.c: its searches
 * - narrow_continuous.c: first time of contact
 *
 * All solvers work in a frame whose origin is x1 (no cancellation far from the world's origin) with
 * world axes, on shapes given by centre, support function and, for polyhedra, centred facets. */
#ifndef RIGOR_NARROW_NARROW_H
#define RIGOR_NARROW_NARROW_H

#include "base/base_math.h"
#include "rigor/proximity.h"

/* The smallest sine between two edges that make an edge-edge feature pair. Edges that are parallel
 * to rounding have no cross product, and face feature pairs cover their contact; leaving out edges
 * less parallel than that would cut K by as much (1e-8 would cost 1e-8 of the bodies' size in
 * t). */
#define RG_PARALLEL_EDGES 1e-14

/* Depths that differ by no more than this, in smaller circumradii, are a tie: the feature of the
 * ratio metric stays. */
#define RG_DEPTH_TIE 1e-9
/* Where a shape is curved, a way out that is at most so many times as long as the shortest will do:
 * the search for that one costs 200 us. */
#define RG_DEPTH_COMPACT 2.0
/* ... and a share of the growth's depth above which the way out is the same: on curved surfaces the
 * two normals differ a little for one and the same contact. */
#define RG_DEPTH_SAME 0.99

/* One side of a query: the shape, the rotation of its frame, its centre. */
typedef struct rg_side {
    const rg_shape *shape;
    const rg_polyhedron *polyhedron; /* null if curved */
    rg_mat3 rotation;                /* shape frame to world axes */
    rg_vec3 centre;                  /* of the shape, in its own frame */
} rg_side;

/* A pair in the frame of the query: side 1's centre at the origin, side 2's at d. */
typedef struct rg_pair {
    rg_side side[2];
    rg_vec3 d;
} rg_pair;

/* The pair, and the world position of x1. RG_INVALID_ARGUMENT if there is no solver for two such
 * shapes, RG_NOT_FINITE. */
rg_status rg_pair_make(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2, rg_pose pose2,
                       rg_pair *pair, rg_vec3 *x1);

/* Support point of a side along a direction in world axes, relative to its centre, world axes. */
rg_vec3 rg_side_support(const rg_side *side, rg_vec3 direction, uint32_t *hint);

/* Each solver fills feature pair, normal, width, ratio, point (relative to x1), certificate and
 * counters (the last two and the feature pair are cleared before, everything else is not set);
 * narrow_growth.c derives the rest and moves the points to world coordinates. */
typedef rg_status rg_growth_solver(const rg_pair *pair, rg_growth_cache *cache, rg_growth *growth);

rg_growth_solver rg_growth_polyhedra; /* narrow_ratio.c; boxes go to rg_growth_boxes */
rg_growth_solver rg_growth_boxes;     /* narrow_ratio_box.c */
rg_growth_solver rg_growth_polygons;  /* narrow_ratio_planar.c */
rg_growth_solver rg_growth_curved; /* narrow_curved.c: at least one side curved, or planar disc */

/* Seidel: min x[k-1] s.t. a . x <= b for all rows, in k = 1 ... 4 variables (the ratio: x, y, z, t;
 * in the plane x, z, t). `seed` makes the order; scratch is `count` indices. RG_INVALID_ARGUMENT if
 * the rows have no common point or are no rows, RG_SINGULAR if there is no bound. */
typedef struct rg_lp_row {
    double a[4]; /* the first k are used */
    double b;
} rg_lp_row;
typedef struct rg_lp_solution {
    double x[4];
    uint32_t active[4]; /* rows that determine it */
    double multiplier[4];
    double primal_error, dual_error;
} rg_lp_solution;
rg_status rg_lp_seidel(const rg_lp_row *rows, uint32_t count, int dimension, uint64_t seed,
                       uint32_t *scratch, rg_lp_solution *solution);

#endif
