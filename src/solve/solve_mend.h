/* Forces that are right but for a few places: those places solved anew, the rest held. */
#ifndef RIGOR_SOLVE_MEND_H
#define RIGOR_SOLVE_MEND_H

#include "problem/problem_split.h"
#include "solve/solve_polish.h"

typedef struct rg_mend {
    rg_solve_context *context;
    const rg_problem *problem; /* null: of a kind that is not mended */
    rg_system *system;
    rg_polish polish;
    rg_split split;
    double *force, *best, *rest, *u, *v, *part; /* rows; v: velocities */
    double *each;                               /* contacts: residuals */
    uint8_t *near;                              /* bodies */
    double work, end; /* so far, and where this run ends: in factorisations of the whole */
    uint64_t iterations;
} rg_mend;

/* The system must be that of the problem. A problem that is not in global form, or has joints, or
 * is a part that is being mended, is left alone: runs do nothing then. */
rg_status rg_mend_create(rg_mend *mend, rg_system *system, rg_solve_context *context,
                         const rg_problem *problem, rg_error *error);
typedef struct rg_mend_aim {
    double tolerance;  /* aimed at */
    double acceptable; /* good enough to end with once a round is over */
    double budget;     /* of work, in factorisations of the whole problem */
} rg_mend_aim;
/* Makes the forces better, or leaves them; `residual`: theirs at the end. */
rg_status rg_mend_run(rg_mend *mend, double *force, rg_mend_aim aim, double *residual,
                      rg_error *error);

#endif
