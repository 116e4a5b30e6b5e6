/* Convex hull of points, as facet loops. */
#ifndef RIGOR_SHAPE_HULL_H
#define RIGOR_SHAPE_HULL_H

#include "shape/shape_polyhedron.h"

/* Builds the polyhedron of the hull of finite points; planes are set about its centroid and its
 * mass properties (density 1) are returned in *mass. */
rg_status rg_hull_build(const rg_vec3 *points, size_t count, const rg_allocator *allocator,
                        rg_solid *solid, rg_mass_properties *mass, rg_error *error);

/* For rg_sort: by x, then y, then z. */
int rg_point_compare(const void *a, const void *b, const void *context);

#endif
