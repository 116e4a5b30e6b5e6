/* The point of a simplex nearest to the origin in twice the precision: for GJK on shapes that all
 * but touch. */
#ifndef RIGOR_NARROW_NARROW_SIMPLEX_LONG_H
#define RIGOR_NARROW_NARROW_SIMPLEX_LONG_H

#include "base/base_long.h"

typedef struct rg_long_corner {
    rg_long3 at, point[2];
    uint32_t label[2];
} rg_long_corner;

typedef struct rg_long_simplex {
    int count; /* 1 to 4 */
    rg_long_corner corner[4];
    rg_long weight[4];
} rg_long_simplex;

/* Weights of the nearest point; drops the other corners. Returns that point. */
rg_long3 rg_long_simplex_reduce(rg_long_simplex *simplex);

#endif
