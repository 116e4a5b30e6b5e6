/* What the step methods keep beside the state of a world: contact detection and the solvers' memory.
 * Made when first needed, freed with the world; no result depends on what is in it. */
#ifndef RIGOR_STEP_MACHINERY_H
#define RIGOR_STEP_MACHINERY_H

#include "base/base_arena.h"
#include "rigor/collision.h"
#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "rigor/solver.h"
#include "world/world.h"

/* Islands are dealt out to this many lanes, each with memory of its own, whatever the number of
 * threads. */
enum { RG_STEP_LANES = 8 };

typedef struct rg_step_machinery {
    rg_allocator allocator;
    rg_collision *collision;
    rg_solve_context *contexts[RG_STEP_LANES];
    rg_arena arenas[RG_STEP_LANES];
    rg_problem_observer *observer;
    void *observer_user;
    size_t event_count; /* of the last step; no more than fit are kept */
    rg_step_event events[RG_STEP_EVENTS_MOST];
    double cause_time; /* s: of the last step that was handed over, and why it was */
    rg_error cause;
} rg_step_machinery;

rg_status rg_machinery_of(rg_world *world, rg_step_machinery **machinery, rg_error *error);

#endif
