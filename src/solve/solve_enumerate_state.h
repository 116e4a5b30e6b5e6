/* Inside solve_enumerate: an enumeration at one of its modes. */
#ifndef RIGOR_SOLVE_ENUMERATE_STATE_H
#define RIGOR_SOLVE_ENUMERATE_STATE_H

#include "solve/solve.h"

/* A pivot of the equilibrated matrix below this (its entries are at most 1) counts as zero. */
#define RG_ENUMERATION_RANK 1e-11

typedef enum rg_row_state {
    RG_STATE_GIVEN,   /* f = value */
    RG_STATE_UNKNOWN, /* a = 0, f from the system */
    RG_STATE_TIED     /* f = value times f[normal] */
} rg_row_state;

/* One choice to make: a row with its friction rows, if it has any. */
typedef struct rg_chooser {
    uint32_t row;
    uint32_t options, option;
} rg_chooser;

typedef struct rg_enumeration {
    const rg_linear_problem *problem;
    size_t size, choosers;
    double tolerance; /* of the inequalities, in the unit of a */
    double scale;     /* of the problem */
    rg_chooser *chooser;
    double *weight; /* per row: brings a force to the unit of a */
    uint8_t *state, *claim;
    double *value;
    /* the current mode */
    size_t unknowns, rank;
    double dropped; /* the largest entry that counts as zero */
    uint32_t *unknown;
    double *matrix, *lu, *right, *x, *residual;
    double *row_scale, *column_scale;
    uint32_t *row_order, *column_order;
    double *null_space; /* (unknowns - rank) x unknowns, orthonormal */
    double *force, *velocity, *direction, *change;
    double *slack, *slack_change; /* 2 size; 2 size x size */
    size_t budget;
    size_t doubtful; /* modes that rounding leaves undecided */
    /* what was found */
    double *found; /* capacity x rows of the original */
    size_t capacity, rows;
    const rg_conversion *conversions[2]; /* from the caller's problem to this one; null: none */
    double *converted[2];
    double *rows_weight;    /* of the caller's rows */
    double *best, best_sum; /* the one that the policy picks; null: not wanted */
    rg_solution_policy policy;
    rg_solution_set set;
} rg_enumeration;

/* solve_enumerate_system.c. */

/* The unknown forces x of the mode, 0 where they depend on others; returns what remains of the
 * right side, in the unit of a. */
double rg_enumeration_solve(rg_enumeration *e);
/* One step of iterative refinement of x. */
void rg_enumeration_refine(rg_enumeration *e);
/* For a singular mode: its null space, and x without its part in there. */
void rg_enumeration_make_least_norm(rg_enumeration *e);

/* solve_enumerate_singular.c. */

/* Reports the solutions of a singular mode that is consistent: of its segment or polyhedron the
 * point of least norm, the ends, the corners. */
void rg_enumeration_solve_singular(rg_enumeration *e);

/* solve_enumerate.c: what a mode claims, and what was found. */

/* Forces and velocities of all rows from the unknowns; `given`: with the given forces, otherwise a
 * change of forces. */
void rg_enumeration_spread(const rg_enumeration *e, const double *x, bool given, double *force,
                           double *velocity);
/* How far inside its claims the row is, in the unit of a: two numbers, both to be >= 0. `given`:
 * false for the change of the slacks under a change of forces. */
void rg_enumeration_row_slack(const rg_enumeration *e, size_t i, const double *force,
                              const double *velocity, bool given, double slack[2]);
/* The smallest of them over all rows. */
double rg_enumeration_slack(const rg_enumeration *e, const double *force, const double *velocity);
/* Adds the forces to the list unless they are there. What exceeds the capacity is counted without
 * being compared with each other. */
void rg_enumeration_report(rg_enumeration *e, double *force);

#endif
