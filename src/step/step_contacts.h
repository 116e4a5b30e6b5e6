/* Contacts in a fixed step, stage by stage: rows (step_contacts_rows.c), forces island by island
 * (step_contacts.c), and what is told of them (step_contacts_forces.c). step_stepping.c calls them
 * in order. */
#ifndef RIGOR_STEP_CONTACTS_H
#define RIGOR_STEP_CONTACTS_H

#include "problem/problem_islands.h"
#include "rigor/contact_force.h"
#include "rigor/solver.h"
#include "step/step_machinery.h"
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
/* Of the way of a step: a contact that is only reached with the end of the step, up to rounding,
 * meets in the next one. */
#define RG_STEP_REACHED 1e-9
/* Normal impulses below this share of (lighter mass) x (that speed) are none. */
#define RG_STEP_NO_FORCE 1e-9
/* Gaps up to this many units of rounding of the coordinates count as none. Points of a face whose
 * gaps differ by rounding contradict each other, and bodies at rest would never rest. */
#define RG_STEP_GAP_ROUNDING 32.0
/* Penetrations are pushed out no faster than the largest of: the speed at which the motion of the
 * surfaces may have caused what is new of them (with this factor of safety), and the speed that
 * rises by a quarter of the depth against gravity (so that bodies that overlap at the start do not
 * jump), or without gravity the depth over this many seconds. */
#define RG_STEP_DRIFT     4.0
#define RG_STEP_PUSH_RISE 0.5 /* v^2 / (g depth) */
#define RG_STEP_PUSH_TIME 0.1
/* Factorisations that a solve of an island of more contacts than RG_STEP_LARGE may cost before the
 * best forces that were found stand, and count as failed (solve_auto.c). */
#define RG_STEP_LARGE  500
#define RG_STEP_EFFORT 400u
/* Solvers aim at this share of the tolerance that they are judged by. */
#define RG_STEP_AIM 1e-1

/* One step's contacts. Arrays over bodies are the caller's, over all bodies of the world. */
typedef struct rg_contact_step {
    /* in: */
    double step, end_time;
    const rg_vec3 *free_velocity, *free_angular_velocity; /* after all forces but contact, at the
                                                             orientation of the beginning */
    const rg_vec3 *velocity,
        *angular_velocity; /* after those of contact, too: when they are applied */
    const uint8_t
        *member; /* per body: 1 if its contacts are wanted; null: all. Of the others none */
    const rg_contact_force *last; /* of the step before, in the order of colliders, parts, points */
    size_t last_count;
    size_t shown; /* problems shown to an observer in this step: numbers of islands go on there */
    /* out: */
    rg_row_set set;
    rg_islands islands;
    double *impulse;          /* set.count x dimension, N s */
    rg_contact_force *forces; /* set.count, to be stored */
    rg_solve_counts counts;
    uint64_t impacts;
} rg_contact_step;

typedef struct rg_lane_report {
    rg_status status;
    rg_error error;
    rg_solve_counts counts;
} rg_lane_report;

typedef struct rg_contact_job {
    rg_world *world;
    rg_contact_step *contacts;
    rg_step_machinery *machinery;
    rg_collision_view view;
    double speed;                   /* m/s: |g| h */
    double *before;                 /* rows: velocities at the beginning of the step */
    double *shift;                  /* rows */
    double *mu;                     /* contacts */
    uint8_t *meets;                 /* contacts: 1 where restitution applies */
    const rg_contact_force **last;  /* contacts: what was there in the step before, or null */
    const rg_contact_force **start; /* the same or, in a second pass, what the first one found */
    rg_lane_report lanes[RG_STEP_LANES];
    size_t grain;
} rg_contact_job;

/* Rows from the contact points of the last look, with laws, shifts and first guesses. `first`
 * (null: none): forces of an earlier pass of this step, to start from. RG_OUT_OF_MEMORY is the only
 * failure. */
rg_status rg_contacts_rows(rg_contact_job *job, const rg_contact_force *first, size_t first_count);
/* Impulses of all islands. */
rg_status rg_contacts_solve(rg_contact_job *job, rg_error *error);
/* contacts->forces, from the impulses and the velocities that they gave. */
void rg_contacts_describe(rg_contact_job *job);
/* A step of either method has succeeded: keeps its contact forces and what contact detection found,
 * for the next step and for readers. RG_OUT_OF_MEMORY: nothing has changed. */
rg_status rg_contacts_store(rg_world *world, const rg_contact_force *forces, size_t count,
                            rg_error *error);
/* m/s: from the components of a relative velocity. */
double rg_contact_slip(const rg_row_set *set, const double *u);

#endif
