/* Rolling and torsional friction in a fixed step: rows about the contact point, bounded by the
 * normal impulse, in the same problem as the contacts (step_contacts.c). */
#ifndef RIGOR_STEP_ROLLING_H
#define RIGOR_STEP_ROLLING_H

#include "step/step_contacts.h"

/* Rows of all contacts whose law has such friction, behind those of joints, with first guesses.
 * RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_rolling_rows(rg_contact_job *job, rg_arena *arena);

/* The problem of an island whose bounds follow its normal impulses. */
typedef struct rg_rolling {
    const rg_contact_job *job;
    const rg_island *island;
    double *lower, *upper, *jacobian; /* of the joint rows of the problem */
    double *angle; /* rolling laws: angle found, and turned by, in the pass before */
    size_t first;  /* rows of contacts before the joint rows */
} rg_rolling;

bool rg_rolling_any(const rg_contact_job *job, const rg_island *island);
/* Bounds and directions of the problem become the caller's to change. */
rg_status rg_rolling_begin(const rg_contact_job *job, const rg_island *island, rg_arena *arena,
                           rg_problem *problem, rg_rolling *rolling);
/* Bounds from normal impulses; directions from the answer before (`velocity` null: none), whose
 * forces are turned with them. */
void rg_rolling_bound(const rg_rolling *rolling, double *force, const double *velocity);
/* m/s: how far an answer is from the law, as the natural residual of each contact. */
double rg_rolling_error(const rg_rolling *rolling, const double *force, const double *velocity);

/* N m s on A of contact i. */
rg_vec3 rg_rolling_impulse(const rg_contact_step *contacts, size_t i);

/* For methods that know neither rolling friction nor surfaces that run: true, with the message, if
 * the world has any. */
bool rg_rolling_refused(const rg_world *world, const char *method, rg_error *error);

#endif
