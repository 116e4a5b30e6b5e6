/* Contacts in a fixed step: detection, rows, islands, solving, and what is kept of it.
 *
 * Memory that lasts beside the state (contact detection, the solvers' memory) is the world's
 * machinery; the forces of the last step are state and lie in the world's memory for forces. */
#ifndef RIGOR_STEP_CONTACTS_H
#define RIGOR_STEP_CONTACTS_H

#include "problem/problem_islands.h"
#include "rigor/contact_force.h"
#include "rigor/solver.h"
#include "step/step_method.h"

/* Speeds are relative to |g| h (the speed that gravity gives in a step), or without gravity to the
 * largest speed at a contact of the world. */
#define RG_STEP_SLIP 1e-6 /* slower is no slip */
/* That reference is at least this share of the speeds of the bodies themselves: relative speeds are
 * differences of those, and what is left of them has no more digits (2e-16 over this is what can be
 * asked of a solver). */
#define RG_STEP_ROUNDING 1e-6
#define RG_STEP_IMPACT                                                                             \
    2.0 /* of |g| h: slower approach has no restitution, so that rest stays rest */
/* Normal impulses below this share of (lighter mass) x (that speed) are none. */
#define RG_STEP_NO_FORCE 1e-9
/* Penetrations are pushed out no faster than the largest of: the speed at which the motion of the
 * surfaces may have caused them (with this factor of safety), and the speed that rises by a quarter of
 * the depth against gravity (so that bodies that overlap at the start do not jump), or without gravity
 * the depth over this many seconds. */
#define RG_STEP_DRIFT     4.0
#define RG_STEP_PUSH_RISE 0.5 /* v^2 / (g depth) */
#define RG_STEP_PUSH_TIME 0.1
/* After impacts contacts are looked for again with the new velocities as well, and the problem is solved
 * again if there are more: at most so often. */
#define RG_STEP_PASSES 3
/* Contacts of an island up to which a failed solve is tried again without the last forces: beyond, the
 * list of solvers has taken its time already, and starts anew for most of them. */
#define RG_STEP_COLD_MOST 200
/* Factorisations that a solve of an island of more contacts than RG_STEP_LARGE may cost; in a second
 * pass, which starts from the answer of the first, a share of them. Where the solvers would go on
 * for longer the best forces that were found stand, and count as failed, unless their residual is
 * above RG_STEP_POOR: then that many times the effort is spent once more. */
#define RG_STEP_LARGE        500
#define RG_STEP_EFFORT       400u
#define RG_STEP_EFFORT_AGAIN 4u
#define RG_STEP_POOR         1e-4
#define RG_STEP_EFFORT_MORE  4u
/* Solvers aim at this share of the tolerance that they are judged by. */
#define RG_STEP_AIM 1e-1

/* One step's contacts. Arrays over bodies are the caller's, over all bodies of the world. */
typedef struct rg_contact_step {
    /* in: */
    double step, end_time;
    const rg_vec3 *free_velocity, *free_angular_velocity; /* after all forces but contact, at the
                                                             orientation of the beginning */
    bool forced; /* by more than gravity: how far bodies reach is seen from those velocities only */
    const uint8_t
        *member; /* per body: 1 if its contacts are wanted; null: all. Of the others none */
    const rg_contact_force *last; /* of the step before, in the order of colliders, parts, points */
    size_t last_count;
    size_t
        shown; /* problems that an observer has seen in this step: islands are numbered from there */
    /* out: */
    rg_row_set set;
    rg_islands islands;
    double *impulse;                   /* set.count x dimension, N s */
    rg_contact_force *forces;          /* set.count, to be stored */
    double worst_residual, worst_cone; /* by the judge; NaN without contacts */
    uint64_t solves, iterations, failures, fallbacks, impacts;
} rg_contact_step;

/* Finds contacts at the beginning of the step and solves for the impulses. Changes nothing of the
 * state but what contact detection remembers. */
rg_status rg_contacts_solve(rg_world *world, rg_contact_step *contacts, rg_error *error);
/* Keeps the forces for the next step and for readers. */
rg_status rg_contacts_store(rg_world *world, const rg_contact_step *contacts, rg_error *error);

#endif
