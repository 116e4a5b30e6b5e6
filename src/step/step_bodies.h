/* The arrays of a world that a step changes, as copies, for methods that move bodies on the way to
 * the end of a step: what looks at the world then sees them where they are. */
#ifndef RIGOR_STEP_BODIES_H
#define RIGOR_STEP_BODIES_H

#include "world/world.h"

/* New arrays, not filled, take the place of the content's; false without memory. What they were the
 * caller has kept: `start`, the content as it was. */
bool rg_bodies_take(rg_world_content *content, rg_arena *arena);
void rg_bodies_copy(rg_world_content *content, const rg_world_content *start);
/* The arrays and the time of the beginning, whether or not there was memory for others. */
void rg_bodies_return(rg_world_content *content, const rg_world_content *start);

#endif
