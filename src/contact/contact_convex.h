/* The convex parts of the colliders of a world, one by one: for methods that follow two parts
 * through a motion. */
#ifndef RIGOR_CONTACT_CONVEX_H
#define RIGOR_CONTACT_CONVEX_H

#include "broad/broad.h"
#include "contact/contact.h"
#include "world/world.h"

typedef struct rg_convex_part {
    const rg_shape *shape;
    rg_collider_id collider;
    uint32_t index;  /* of the part in its collider */
    uint32_t number; /* the same as long as colliders are: its place in the list; terrains are
                        counted on from there, all triangles of one as one */
    uint32_t body;   /* dense */
    rg_pose local;   /* in the body's centre-of-mass frame */
    double radius;   /* m: circumradius; infinity for half-spaces */
    rg_vec3 middle;  /* its centre, in the centre-of-mass frame */
    bool dynamic;
    uint64_t category, mask;
} rg_convex_part;

/* Of all colliders but sensors and terrain, in the order of their slots. RG_OUT_OF_MEMORY is the
 * only failure. */
rg_status rg_convex_parts_make(const rg_world_content *content, rg_arena *arena,
                               rg_convex_part **parts, size_t *count);

bool rg_convex_has_terrain(const rg_world_content *content);
/* Those parts, and behind them the prisms of terrain within the bounds of a dynamic one, in the
 * order of slots and triangles; in the arena. */
rg_status rg_convex_add_terrain(const rg_world_content *content, const rg_bounds *bounds,
                                rg_arena *arena, rg_convex_part **parts, size_t *count);

/* Pairs of parts that may meet: whose bounds overlap, of different bodies, one of them moved by
 * forces, both not half-spaces, that filters and joints let meet. In the order of parts; in the
 * arena. The collision keeps its order along the axes for the next time. */
rg_status rg_collision_meet_parts(rg_collision *collision, const rg_world_content *content,
                                  const rg_convex_part *parts, const rg_bounds *bounds,
                                  size_t count, rg_arena *arena, rg_broad_pairs *pairs);

#endif
