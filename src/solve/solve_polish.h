/* The last digits: Newton's method on the contact law itself, from forces that are nearly right.
 * Used by the methods that end by rounding (interior point) or by patience (ADMM). */
#ifndef RIGOR_SOLVE_POLISH_H
#define RIGOR_SOLVE_POLISH_H

#include "solve/solve_system.h"

typedef struct rg_polish {
    rg_system *system;
    bool friction;          /* some contact has some */
    double *best;           /* rows: the best forces so far */
    double best_residual;   /* natural map, relative to the scale */
    double *trial, *u, *e2; /* rows: work */
    double *dr, *dv, *a, *b;
    uint64_t iterations, factorisations;
} rg_polish;

/* The system of a problem, and what polishes its forces. */
rg_status rg_polish_prepare(rg_polish *polish, rg_system *system, rg_solve_context *context,
                            const rg_problem *problem, rg_error *error);
rg_status rg_polish_create(rg_polish *polish, rg_system *system, rg_solve_context *context,
                           rg_error *error);
/* The judge's leading figure of these forces, in doubles; u gets their velocities. */
double rg_polish_residual(const rg_system *system, const double *force, double *u);
/* The same of one contact, not relative to the scale, with velocities that are known. */
double rg_polish_contact(const rg_system *system, size_t contact, const double *force,
                         const double *u);
/* The larger of this and `worst`, NaN the largest: most contacts need no root to be compared. */
double rg_polish_worse(const rg_system *system, size_t contact, const double *force,
                       const double *u, double worst);
double rg_polish_joint(const rg_system *system, size_t joint, const double *force, const double *u);
/* Keeps the forces if they are the best so far; their residual. */
double rg_polish_offer(rg_polish *polish, const double *force);
/* At most `limit` Newton steps from the best forces, which only ever become better; true if their
 * residual has reached the tolerance. `patient`: steps that fail are tried again with a larger
 * proximal term; otherwise the first failure ends it. */
bool rg_polish_run(rg_polish *polish, double tolerance, int limit, bool patient);

#endif
