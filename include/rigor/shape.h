/* Shapes: immutable convex geometry and compounds of it. A shape is made once and shared by any
 * number of bodies, worlds and threads; it is reference counted.
 *
 * A primitive's own frame has its origin at its centre of mass. Capsule, cylinder and cone stand
 * along z. A cone's base lies at z = -height/4, its apex at z = +3 height/4. Hulls, polygons and
 * compounds keep the frame of the points and parts that they are given. Planar shapes (disc,
 * polygon) lie in the x-z plane, y = 0; a half-space serves planar worlds too (normal with y = 0).
 */
#ifndef RIGOR_SHAPE_H
#define RIGOR_SHAPE_H

#include "rigor/mass.h"
#include "rigor/status.h"
#include "rigor/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_shape rg_shape;

typedef enum rg_shape_kind {
    RG_SHAPE_HALFSPACE, /* { p : normal . p <= offset } */
    RG_SHAPE_BOX,
    RG_SHAPE_SPHERE,
    RG_SHAPE_CAPSULE,
    RG_SHAPE_CYLINDER,
    RG_SHAPE_CONE,
    RG_SHAPE_ELLIPSOID,
    RG_SHAPE_HULL,
    RG_SHAPE_COMPOUND,
    RG_SHAPE_POLYGON,
    RG_SHAPE_DISC,
    RG_SHAPE_TERRAIN, /* triangles, for fixed bodies */
    RG_SHAPE_KIND_COUNT
} rg_shape_kind;

typedef struct rg_compound_part {
    rg_shape *shape; /* convex, bounded; the compound takes its own reference */
    rg_pose pose;    /* in the compound's frame */
    double density;  /* relative to the other parts; 1 for a homogeneous body */
} rg_compound_part;

/* What a shape is made of. Only the fields of its kind are read. */
typedef struct rg_shape_def {
    rg_shape_kind kind;
    rg_vec3 normal;        /* half-space: any length but 0; the shape keeps it normalised */
    double offset;         /* half-space: distance of its plane from the origin along the normal */
    rg_vec3 size;          /* box: full edge lengths; ellipsoid: semi-axes */
    double radius;         /* sphere, capsule, cylinder, cone (base), disc */
    double length;         /* capsule: of the straight part; cylinder, cone: height */
    const rg_vec3 *points; /* hull: any points; polygon: its corners in order, y = 0 */
    size_t point_count;
    const rg_compound_part *parts;
    size_t part_count;
    /* terrain: three numbers of points each, counter-clockwise seen from outside. Each triangle is
     * the top of a convex prism of this thickness (0: the mean length of an edge), which goes down
     * against `normal` (zero: the mean normal) if all triangles face that way, and otherwise
     * against the triangle's own. */
    const uint32_t *triangles;
    size_t triangle_count;
    double thickness; /* m */
} rg_shape_def;

rg_shape_def rg_shape_def_halfspace(rg_vec3 normal, double offset);
rg_shape_def rg_shape_def_box(double x, double y, double z);
rg_shape_def rg_shape_def_sphere(double radius);
rg_shape_def rg_shape_def_capsule(double radius, double length);
rg_shape_def rg_shape_def_cylinder(double radius, double height);
rg_shape_def rg_shape_def_cone(double radius, double height);
rg_shape_def rg_shape_def_ellipsoid(double a, double b, double c);
rg_shape_def rg_shape_def_hull(const rg_vec3 *points, size_t count);
rg_shape_def rg_shape_def_compound(const rg_compound_part *parts, size_t count);
rg_shape_def rg_shape_def_polygon(const rg_vec3 *corners, size_t count);
rg_shape_def rg_shape_def_disc(double radius);
rg_shape_def rg_shape_def_terrain(const rg_vec3 *points, size_t point_count,
                                  const uint32_t *triangles, size_t triangle_count);

/* A height field about the origin, as terrain: heights[row * columns + column] at x = column dx,
 * y = row dy, less half of the whole. Two triangles per cell, cut from its lowest x and y to its
 * highest. */
typedef struct rg_heights {
    size_t columns, rows; /* at least 2 each */
    double dx, dy;        /* m */
    const double *heights;
    double thickness; /* m; 0: the mean length of an edge */
} rg_heights;
rg_status rg_shape_create_heights(const rg_heights *heights, const rg_allocator *allocator,
                                  rg_shape **shape, rg_error *error);

/* A convex polygon from any points of the x-z plane: their hull. */
rg_status rg_shape_create_planar_hull(const rg_vec3 *points, size_t count,
                                      const rg_allocator *allocator, rg_shape **shape,
                                      rg_error *error);

/* On failure *shape is null and `error` says what is wrong. The new shape has one reference. */
rg_status rg_shape_create(const rg_shape_def *def, const rg_allocator *allocator, rg_shape **shape,
                          rg_error *error);
rg_shape *rg_shape_retain(rg_shape *shape);
void rg_shape_release(rg_shape *shape); /* null is allowed */

rg_shape_kind rg_shape_get_kind(const rg_shape *shape);
const char *rg_shape_kind_name(rg_shape_kind kind); /* "box", as in scene files */
bool rg_shape_is_planar(const rg_shape *shape);     /* disc, polygon, compounds of them */
bool rg_shape_is_bounded(const rg_shape *shape);    /* all but the half-space */
bool rg_shape_is_convex(const rg_shape *shape);     /* all but compounds, terrain */
/* The def that makes an equal shape: points are the hull's input points, parts borrow. Valid as
 * long as the shape. */
rg_shape_def rg_shape_get_def(const rg_shape *shape);

/* The point of the shape farthest along `direction` (not 0, any length), in the shape's frame, of a
 * bounded convex shape; not a number if the direction is none. `hint`, if not null, holds the
 * vertex of the last answer on polyhedra and starts the climb there; initialise it with 0. */
rg_vec3 rg_shape_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint);

/* A point well inside (the centroid), and the radii of the largest ball inside and the smallest
 * ball outside that have it as centre. Compounds: the centre of mass, wherever it is, and an
 * inradius of 0. Half-spaces: a point of the plane, 0 and infinity. */
rg_vec3 rg_shape_centre(const rg_shape *shape);
double rg_shape_inradius(const rg_shape *shape);
double rg_shape_circumradius(const rg_shape *shape);
/* Tight axis-aligned bounds under a pose. Half-spaces are infinite where they must be. */
rg_bounds rg_shape_bounds(const rg_shape *shape, rg_pose pose);
/* Volume in m^3; area in m^2 for planar shapes; infinity for a half-space. */
double rg_shape_volume(const rg_shape *shape);
/* Mass properties for a homogeneous density (per m^3, per m^2 for planar shapes), in the shape's
 * frame. Not for half-spaces. */
rg_mass_properties rg_shape_mass(const rg_shape *shape, double density);

/* The polyhedron of a box or hull, the polygon of a polygon shape, in flat arrays; null for curved
 * shapes, half-spaces and compounds. All lists are in counter-clockwise order seen from outside.
 *
 *   facet i:   normals[i] . (p - centre) <= offsets[i], offsets > 0, unit normals
 *   its loop:  facet_vertices[facet_start[i] .. facet_start[i+1])
 *              facet_neighbours[k] is the facet across the edge from corner k to the next corner
 *   vertex v:  its neighbours along edges: vertex_neighbours[vertex_start[v] .. vertex_start[v+1])
 *   edge e:    edge_vertices[2e], [2e+1] and edge_facets[2e], [2e+1]; the first facet runs along
 * the edge from the first vertex to the second
 *
 * A planar polygon's facets are its sides: facet i runs from corner i to the next one, with x to
 * the right and z up counter-clockwise; its loop has these two corners, its facet_neighbours are
 * the side before the first and the side after the second. vertex_neighbours are the corner before
 * and the corner after. There are no edges besides: edge_count is 0. */
typedef struct rg_polyhedron {
    rg_vec3 centre;
    uint32_t vertex_count, facet_count, edge_count;
    const rg_vec3 *vertices;
    const rg_vec3 *normals;
    const double *offsets;
    const uint32_t *facet_start;
    const uint32_t *facet_vertices;
    const uint32_t *facet_neighbours;
    const uint32_t *vertex_start;
    const uint32_t *vertex_neighbours;
    const uint32_t *edge_vertices;
    const uint32_t *edge_facets;
} rg_polyhedron;

const rg_polyhedron *rg_shape_polyhedron(const rg_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
