/* Points of a surface in twice the precision. Sizes and the rotation's matrix are taken as exact; a
 * matrix that is orthogonal but for rounding is just a linear map. */
#ifndef RIGOR_NARROW_NARROW_SURFACE_LONG_H
#define RIGOR_NARROW_NARROW_SURFACE_LONG_H

#include "base/base_long.h"
#include "narrow/narrow_surface.h"

/* Column k of the rotation; a vector from the shape's frame to world axes, and back. Without the
 * reflection. */
rg_long3 rg_surface_long_column(const rg_surface *surface, int k);
rg_long3 rg_surface_long_turn(const rg_surface *surface, rg_long3 v);
rg_long3 rg_surface_long_turn_back(const rg_surface *surface, rg_long3 v);

/* A vertex relative to the centre: in the shape's frame and size; and as a point of the surface. */
rg_long3 rg_surface_long_centred(const rg_surface *surface, uint32_t vertex);
rg_long3 rg_surface_long_vertex(const rg_surface *surface, uint32_t vertex);
rg_long3 rg_surface_long_axis_point(const rg_surface *surface, double at);
/* Of a cylinder or cone, relative to the middle of the rim. n must not be parallel to the axis. */
rg_long3 rg_surface_long_rim(const rg_surface *surface, rg_long3 n);
rg_long3 rg_surface_long_ellipsoid(const rg_surface *surface, rg_long3 n);
/* The support point along n on the feature `label` (rg_surface_support names it). */
rg_long3 rg_surface_long_support(const rg_surface *surface, rg_long3 n, uint32_t label);

#endif
