/* Terrain inside: triangles, each the top of a convex prism that is made when it is asked for, and
 * a tree of boxes around them. */
#ifndef RIGOR_SHAPE_TERRAIN_H
#define RIGOR_SHAPE_TERRAIN_H

#include "base/base_arena.h"
#include "shape/shape.h"
#include "shape/shape_tree.h"

enum { RG_PRISM_VERTICES = 6, RG_PRISM_FACETS = 5 };

/* Room for one prism, wherever its user has it. */
typedef struct rg_terrain_room {
    rg_shape shape;
    rg_vec3 vertices[RG_PRISM_VERTICES], centred[RG_PRISM_VERTICES], normals[RG_PRISM_FACETS];
    rg_vertex_pair pairs[RG_PRISM_VERTICES / 2];
    double offsets[RG_PRISM_FACETS];
} rg_terrain_room;

/* The prism of a triangle, in the frame of the terrain, valid as long as the room. */
const rg_shape *rg_terrain_part(const rg_shape *terrain, uint32_t triangle, rg_terrain_room *room);

/* The ground below the plane of a triangle: a half-space. As a part of the terrain its number is
 * that of the triangle and the number of all triangles. */
const rg_shape *rg_terrain_plane(const rg_shape *terrain, uint32_t triangle, rg_terrain_room *room);
uint32_t rg_terrain_count(const rg_shape *terrain);

/* Whether a triangle that is flush with a plane, to `slack` m, is under a point; which. */
bool rg_terrain_covers(const rg_shape *terrain, const rg_shape *plane, rg_vec3 p, double slack,
                       double lateral, uint32_t *triangle);
/* Whether a triangle is flush with a plane. */
bool rg_terrain_is_flush(const rg_shape *terrain, uint32_t triangle, const rg_shape *plane,
                         double slack);

/* The middle of a prism, roughly, and how far it reaches along a direction (n . p at most). */
rg_vec3 rg_terrain_middle(const rg_shape *terrain, uint32_t triangle);
double rg_terrain_reach(const rg_shape *terrain, uint32_t triangle, rg_vec3 n);

/* m: no prism is farther across. */
double rg_terrain_largest(const rg_shape *terrain);

/* Called for every triangle whose prism's box meets `bounds` (in the frame of the terrain), in the
 * order of the tree; false ends the search. */
void rg_terrain_visit(const rg_shape *terrain, const rg_bounds *bounds, rg_tree_visitor *visitor,
                      void *user);

/* The same as a list, sorted, in the arena; false without memory. */
bool rg_terrain_find(const rg_shape *terrain, const rg_bounds *bounds, rg_arena *arena,
                     uint32_t **triangles, size_t *count);

/* A plane that triangles may be under, to `slack` m; one of them, or UINT32_MAX. */
typedef struct rg_terrain_floor {
    const rg_shape *plane;
    double slack;
    uint32_t kept;
} rg_terrain_floor;

/* The same without those that are under a floor, but for the one that is kept. */
bool rg_terrain_find_above(const rg_shape *terrain, const rg_bounds *bounds,
                           const rg_terrain_floor *floor, rg_arena *arena, uint32_t **triangles,
                           size_t *count);

/* The triangle nearest to a point, not farther than `within` m; false: none is. */
bool rg_terrain_nearest(const rg_shape *terrain, rg_vec3 p, double within, uint32_t *triangle);

/* Where the centre of a ball may be, in the frame of the terrain: within `slack` of the hull of
 * some points, the first of them where it is now, and above a plane. A box around the ball holds
 * many more triangles where these are small. */
typedef struct rg_terrain_path {
    const rg_vec3 *points;
    int count;
    double radius, slack; /* m */
    rg_vec3 normal;       /* of the plane; zero: none */
    double height;        /* m: of the first point above it */
} rg_terrain_path;

/* Whether a prism is shown not to be touched. */
bool rg_prism_is_beyond(const rg_shape *prism, const rg_terrain_path *path);
bool rg_terrain_is_beyond(const rg_shape *terrain, uint32_t triangle, const rg_terrain_path *path);

/* Triangles as above, but for those: none that may be touched is left out. With `only`,
 * those matter that the ball may overlap, or come as near to as to the one that is nearest to the
 * last point. */
bool rg_terrain_find_along(const rg_shape *terrain, const rg_terrain_path *path, bool only,
                           rg_arena *arena, uint32_t **triangles, size_t *count);

/* m: from a point to a triangle. */
double rg_terrain_distance(const rg_shape *terrain, uint32_t triangle, rg_vec3 p);

/* Bounds, in the frame of `pose`, of bounds in the world. */
rg_bounds rg_bounds_into(const rg_bounds *bounds, rg_pose pose);

/* shape.c: the convex part `part` of a shape: itself, one of a compound's, the prism or the plane
 * of a triangle of terrain; its pose in the frame of the shape. `room` is for terrain. */
const rg_shape *rg_shape_part(const rg_shape *shape, uint32_t part, rg_terrain_room *room,
                              rg_pose *pose);

/* shape.c's functions of the kind. */
void rg_terrain_free(rg_terrain *terrain, const rg_allocator *allocator);

#endif
