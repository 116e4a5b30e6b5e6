/* Timers of the stages of a step. Exactly one stage runs at any time: entering one ends the one
 * before, so the stages add up to the step. Only the thread that steps the world enters stages. */
#ifndef RIGOR_STEP_STAGE_H
#define RIGOR_STEP_STAGE_H

#include "rigor/profile.h"
#include "world/world.h"

/* Returns the stage that was running, for a part of a stage that belongs to another one:
 *     rg_stage outer = rg_stage_enter(world, RG_STAGE_SOLVE); ... rg_stage_enter(world, outer); */
rg_stage rg_stage_enter(rg_world *world, rg_stage stage);
/* A step begins in its first stage, and ends. */
void rg_stages_begin(rg_world *world);
void rg_stages_end(rg_world *world);

#endif
