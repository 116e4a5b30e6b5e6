/* An island that is one contact, in space and under the exact cone: the answer in closed form and
 * its verdict, without what it takes to set up a problem of any size. */
#ifndef RIGOR_SOLVE_SINGLE_H
#define RIGOR_SOLVE_SINGLE_H

#include "rigor/solver.h"

#include <stdbool.h>

/* A body that forces move. */
typedef struct rg_single_body {
    const double *jacobian;    /* 3 x 6, of the contact: normal, tangents */
    double inverse_mass;       /* 1/kg */
    double inverse_inertia[9]; /* 1/(kg m^2), in world axes */
    bool round;                /* it is the same about all axes */
    double free_velocity[6];   /* without the force of the contact */
} rg_single_body;

typedef struct rg_single {
    rg_single_body body[2];
    int bodies; /* 1, 2: the others do not move */
    double q[3];
    double mu;
    double scale; /* m/s: what residuals are relative to */
} rg_single;

/* What is asked for, as in rg_solve_settings. */
typedef struct rg_single_aim {
    bool warm;         /* there are forces to start from */
    double keep;       /* residual up to which those are the answer; 0: exact up to rounding */
    double tolerance;  /* of the answer otherwise */
    double acceptable; /* of forces that are exact up to rounding */
} rg_single_aim;

/* The verdict of the judge by plain arithmetic, with the bound of its error (solve_judge_plain.c)
 * in `natural`. *rounding: what is left may be nothing else. */
rg_residual rg_single_judge(const rg_single *single, const double force[3], bool *rounding);
/* True with the answer and its residual, and whether it is other than what was given; false:
 * nothing was found that is good enough, and `force` is as it was. */
bool rg_single_solve(const rg_single *single, const rg_single_aim *aim, double force[3],
                     rg_residual *residual, bool *changed);

#endif
