/* The inside of the solver `newton`, shared by its files: the smoothed map (solve_newton_map.c),
 * the path follower (solve_newton_path.c), the damped Newton steps (solve_newton_steps.c), the
 * driver (solve_newton.c). */
#ifndef RIGOR_SOLVE_NEWTON_H
#define RIGOR_SOLVE_NEWTON_H

#include "solve/solve_mend.h"
#include "solve/solve_system.h"

/* A point: velocities of the bodies (global form) and forces, with the smoothing `tau` (no unit:
 * lengths in the space of forces are tau rho_i scale) and what follows from them. */
typedef struct rg_newton_point {
    double tau;
    double *v, *r; /* the unknowns */
    double *u, *y; /* velocities along the rows; r - rho u */
} rg_newton_point;

/* The equations at a point and their Jacobian. */
typedef struct rg_newton_map {
    double *e1;    /* M (v - v_free) - J' r; null in local form */
    double *e2;    /* r - P(y) */
    double *a, *b; /* 1 - DP and rho DP, as rg_system_factor wants them */
    double *slope; /* d e2 / d log tau */
} rg_newton_map;

/* A step in the unknowns: what it does to y as well. */
typedef struct rg_newton_step {
    double *dv, *dr, *dy;
    double tau_change; /* of log tau */
} rg_newton_step;

typedef struct rg_newton {
    rg_system system;
    rg_solve_context *context;
    double tolerance;                           /* of the natural residual */
    double acceptable;                          /* of mended forces */
    uint64_t iterations, factorisations, limit; /* limit: of factorisations */
    rg_newton_point point, trial;
    rg_newton_point anchor; /* the last point on the path */
    rg_newton_point kept;   /* while the descent is tried */
    rg_newton_map map;
    bool starved; /* the factor had no memory */
    rg_newton_step newton, tangent, correction;
    double *previous; /* the last tangent, scaled: decides which way is forward */
    double *weight;   /* per block */
    double *soft;     /* contacts x 2: squares added to those of the smoothing lengths (N, T) */
    double *work;     /* rows */
    double *best;     /* forces with the smallest residual so far */
    double best_residual;
    double *put_aside;     /* rows: the best forces while others are looked for */
    double *work_residual; /* rows: for forces on trial */
    rg_mend mend;
    rg_status failed; /* of mending: memory */
    rg_error *error;
} rg_newton;

rg_status rg_newton_create(rg_newton *newton, rg_solve_context *context, const rg_problem *problem,
                           double tolerance, rg_error *error);

/* --- map -------------------------------------------------------------------------------------- */

/* u, y from v, r. */
void rg_newton_refresh(rg_newton *newton, rg_newton_point *point);
/* Equations and Jacobian at a point. `with_jacobian` false: e1 and e2 only. */
void rg_newton_evaluate(rg_newton *newton, const rg_newton_point *point, bool with_jacobian);
/* Gives the smoothing lengths a floor, so that a contact of the law y is left with a residual of
 * `share` at least; 0: none. Kept from before where it is right within a factor of two: a target
 * that moves all the time would not be reached. */
void rg_newton_soften(rg_newton *newton, const rg_newton_point *point, double share);
/* The largest change of any contact relative to the distance over which its law is nearly linear:
 * that from its y to the nearest kink, or tau if it is nearer. */
double rg_newton_norm(const rg_newton *newton, const rg_newton_point *point, const double *dy);
/* Natural residual of the forces, projected into their sets (in place), velocities recomputed. */
double rg_newton_residual(rg_newton *newton, double *r);
/* Judges the point's forces; keeps them if they are the best. Returns the residual. */
double rg_newton_note(rg_newton *newton, const rg_newton_point *point);

/* --- steps ------------------------------------------------------------------------------------ */

/* Factors the map's Jacobian with `delta` added to A. */
rg_status rg_newton_factor(rg_newton *newton, double delta);
/* The step that takes the residual (e1, e2) to zero in the linear model. */
void rg_newton_solve(rg_newton *newton, const double *e1, const double *e2, rg_newton_step *step);
/* to = from + alpha step, refreshed. */
void rg_newton_move(rg_newton *newton, const rg_newton_point *from, double alpha,
                    const rg_newton_step *step, rg_newton_point *to);

/* The proximal term of the descent: at the start, and at most. Without unit. */
typedef struct rg_newton_damping {
    double start, high;
} rg_newton_damping;
#define RG_NEWTON_LOOSE ((rg_newton_damping){1e-3, 1e-2})
#define RG_NEWTON_FIRM  ((rg_newton_damping){1e-4, 1e-3})

/* Damped Newton steps on the map with a proximal term, tau driven down by the residual; up to
 * `limit` factorisations. True if the tolerance was reached. */
bool rg_newton_descend(rg_newton *newton, double tau, rg_newton_damping damping, uint64_t limit);
/* Mends the best forces (solve_mend.c); true if the tolerance was reached. */
bool rg_newton_mend(rg_newton *newton);
/* Follows the path of the smoothed solutions from tau towards zero, through folds; tries to jump to
 * its end from time to time. */
bool rg_newton_follow(rg_newton *newton, double tau, uint64_t limit);

#endif
