/* A broad phase in step with the colliders of a world. */
#ifndef RIGOR_BROAD_WORLD_H
#define RIGOR_BROAD_WORLD_H

#include "broad/broad.h"
#include "rigor/world.h"

/* What the bounds shall hold. */
typedef struct rg_broad_motion {
    bool continuous; /* the motion of the next `step` seconds; otherwise the current poses */
    double step;     /* s */
    double margin;   /* m, >= 0, on all sides of every collider */
    /* m, >= 0, per body in dense order: the same for its colliders, besides; null: none */
    const double *excursion;
    double acceleration; /* m/s^2, >= 0: no dynamic body's velocity changes faster in the step; what
                            torques do to its turning is not covered */
    /* Per body: 1 if its bounds are computed; the others keep those of the update before, which
     * hold their motion. Null: all. */
    const uint8_t *moved;
} rg_broad_motion;

typedef struct rg_broad_world rg_broad_world;

/* A proxy's id is the slot of its collider's handle. Colliders of one body make no pair, nor do two
 * whose bodies are not dynamic, nor those whose masks do not agree; `def->exclude` (joints) is
 * asked with proxy ids. `def` may be null. */
rg_status rg_broad_world_create(const rg_broad_def *def, const rg_allocator *allocator,
                                rg_broad_world **broad);
void rg_broad_world_destroy(rg_broad_world *broad); /* null is allowed */

/* Takes in colliders that have come, drops those that have gone, computes all bounds and finds the
 * pairs. RG_OUT_OF_MEMORY: the lists are as they were, a later call catches up. RG_NOT_FINITE: a
 * body's pose or velocity gives no bounds. */
rg_status rg_broad_world_update(rg_broad_world *broad, const rg_world *world,
                                const rg_broad_motion *motion);

/* Lists, info, bounds: all from here. */
rg_broad *rg_broad_world_pairs(rg_broad_world *broad);
/* The collider of a proxy as of the last update. */
rg_collider_id rg_broad_world_collider(const rg_broad_world *broad, uint32_t id);
/* Generations of the colliders of all proxies: proxy `id` stands for {id + 1, generation of id}. */
const uint32_t *rg_broad_world_generations(const rg_broad_world *broad);

#endif
