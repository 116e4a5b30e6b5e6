/* The point of a simplex nearest to the origin: the inner problem of GJK. */
#ifndef RIGOR_NARROW_NARROW_SIMPLEX_H
#define RIGOR_NARROW_NARROW_SIMPLEX_H

#include "base/base_math.h"

typedef struct rg_corner {
    rg_vec3 at;       /* of K - d */
    rg_vec3 point[2]; /* of the two surfaces */
    uint32_t label[2];
} rg_corner;

typedef struct rg_simplex {
    int count; /* 1 to 4 */
    rg_corner corner[4];
    double weight[4];
} rg_simplex;

/* Weights of the nearest point; drops the corners of weight 0. Returns that point: exactly zero if
 * the origin lies inside a tetrahedron. */
rg_vec3 rg_simplex_reduce(rg_simplex *simplex);

#endif
