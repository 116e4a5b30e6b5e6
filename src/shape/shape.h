/* What a shape is inside, and the table of functions of each kind.
 *
 * Everything that can be computed once is computed when the shape is made: volume, mass properties
 * at density 1, centre, radii, polyhedron. After that a shape never changes, so that any number of
 * threads may read it; only the reference count is atomic. */
#ifndef RIGOR_SHAPE_SHAPE_H
#define RIGOR_SHAPE_SHAPE_H

#include "rigor/shape.h"
#include "shape/shape_polyhedron.h"

#include <stdatomic.h>

/* Lengths and coordinates outside these bounds (metres) are refused: the inertia goes with the
 * fifth power of a length and would leave the range of doubles. */
#define RG_SHAPE_SMALLEST 1e-50
#define RG_SHAPE_LARGEST  1e50
/* Most points of a hull, corners of a polygon, parts of a compound. */
#define RG_SHAPE_MOST_POINTS 10000000
#define RG_SHAPE_MOST_PARTS  1000000

typedef struct rg_terrain rg_terrain; /* shape_terrain.h */

struct rg_shape {
    rg_shape_kind kind;
    bool planar;
    atomic_size_t references;
    rg_allocator allocator;
    rg_shape_def def;        /* points and parts are the shape's own copies */
    rg_vec3 *points;         /* what def.points shows, or null */
    rg_compound_part *parts; /* what def.parts shows, or null; each part holds a reference */
    rg_mass_properties unit; /* for density 1 */
    rg_vec3 centre;
    double inradius, circumradius, volume;
    rg_solid solid; /* of boxes, hulls and polygons; otherwise empty */
    rg_terrain *terrain;
};

/* rg_shape_is_convex, for whoever asks it of every shape in every step. */
static inline bool rg_shape_is_single(const rg_shape *shape) {
    return shape->kind != RG_SHAPE_COMPOUND && shape->kind != RG_SHAPE_TERRAIN;
}

/* One row of the table of kinds. `make` fills a cleared shape from a def; on failure the caller
 * releases what it has taken. */
typedef struct rg_shape_operations {
    const char *name;
    bool planar, bounded;
    rg_status (*make)(rg_shape *shape, const rg_shape_def *def, rg_error *error);
    rg_vec3 (*support)(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);
    rg_bounds (*bounds)(const rg_shape *shape, rg_pose pose);
} rg_shape_operations;

/* shape_primitive.c */
rg_status rg_halfspace_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_status rg_box_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_status rg_sphere_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_status rg_capsule_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_status rg_cylinder_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_status rg_cone_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_status rg_ellipsoid_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_status rg_disc_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
/* shape_hull.c, shape_planar.c, shape_compound.c */
rg_status rg_hull_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_status rg_polygon_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_status rg_compound_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
/* shape_compound.c: mass properties at density 1 that stand for the sum over the parts; before the
 * shape is shared. */
void rg_compound_set_mass(rg_shape *shape, rg_mass_properties unit);
/* shape_terrain.c */
rg_status rg_terrain_make(rg_shape *shape, const rg_shape_def *def, rg_error *error);
rg_bounds rg_terrain_bounds(const rg_shape *shape, rg_pose pose);

/* shape_support.c */
rg_vec3 rg_box_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);
rg_vec3 rg_sphere_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);
rg_vec3 rg_capsule_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);
rg_vec3 rg_cylinder_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);
rg_vec3 rg_cone_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);
rg_vec3 rg_ellipsoid_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);
rg_vec3 rg_disc_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);
rg_vec3 rg_vertex_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);

/* shape_bounds.c */
rg_bounds rg_convex_bounds(const rg_shape *shape, rg_pose pose);
rg_bounds rg_halfspace_bounds(const rg_shape *shape, rg_pose pose);
rg_bounds rg_compound_bounds(const rg_shape *shape, rg_pose pose);

/* The distance from `point` to the farthest point of a bounded convex shape, both in the shape's
 * frame (shape_bounds.c). */
double rg_shape_reach(const rg_shape *shape, rg_vec3 point);

/* The shape's own copy of def->points, each checked to be finite and in range; sets shape->points
 * and shape->def (shape.c). `what` names one of them in messages: "point", "corner". */
rg_status rg_shape_take_points(rg_shape *shape, const rg_shape_def *def, const char *what,
                               rg_error *error);

#endif
