/* What the step methods keep beside the state of a world: contact detection and the solvers'
 * memory. Made when first needed, freed with the world; no result depends on what is in it. */
#ifndef RIGOR_STEP_MACHINERY_H
#define RIGOR_STEP_MACHINERY_H

#include "base/base_arena.h"
#include "rigor/collision.h"
#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "rigor/solver.h"
#include "step/step_contacts_rest.h"
#include "step/step_island_memory.h"
#include "step/step_joints.h"
#include "step/step_rest.h"
#include "world/world.h"

/* Islands are dealt out to this many lanes, each with memory of its own, whatever the number of
 * threads; and there is one more, for large islands, which all threads work on together. */
enum { RG_STEP_LANES = 8, RG_STEP_SHARED_LANE = RG_STEP_LANES, RG_STEP_ALL_LANES };
/* Causes of hand-overs whose words are kept. */
enum { RG_STEP_CAUSES = 8 };

/* Why a step was handed over: that of the group of bodies that begins with `body` (null: of the
 * world). */
typedef struct rg_step_cause {
    double time; /* s */
    rg_body_id body;
    rg_error error;
} rg_step_cause;

typedef struct rg_step_machinery {
    rg_allocator allocator;
    rg_collision *collision;
    rg_collision *between; /* of the parts of a fixed step, between impacts; null until needed */
    rg_contact_force *part_forces; /* of these parts, one after the other */
    size_t part_force_count, part_force_capacity;
    /* Contact forces of the passes of a step, in turns; those of the last one change places with
     * the world's. */
    rg_memory_block force_room[2];
    rg_solve_context *contexts[RG_STEP_ALL_LANES];
    rg_arena arenas[RG_STEP_ALL_LANES];
    rg_island_memory islands[RG_STEP_ALL_LANES];
    rg_arena tracks; /* how bodies moved in the last step, for the judge */
    rg_problem_observer *observer;
    void *observer_user;
    rg_joints_seen seen;
    rg_islands_at_rest resting;
    rg_step_rest rest;
    rg_step_judged judged;
    rg_judge_order order;
    size_t event_count; /* of the last step; no more than fit are kept */
    rg_step_event events[RG_STEP_EVENTS_MOST];
    uint32_t impact_count; /* of the last step */
    size_t impulse_count, impulse_capacity;
    rg_step_impulse *impulses;
    size_t cause_count; /* ever; the last of them are kept, in turns */
    rg_step_cause causes[RG_STEP_CAUSES];
} rg_step_machinery;

rg_status rg_machinery_of(rg_world *world, rg_step_machinery **machinery, rg_error *error);
/* step_sensors.c: what sensors feel in the step that began at that time, into the events. */
void rg_log_sensors(rg_world *world, double time);

#endif
