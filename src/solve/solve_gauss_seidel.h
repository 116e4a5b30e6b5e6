/* The rows of a problem cut into blocks that block Gauss-Seidel solves one by one: what
 * solve_gauss_seidel.c (sweeps) and solve_gauss_seidel_blocks.c (set-up) share. */
#ifndef RIGOR_SOLVE_GAUSS_SEIDEL_H
#define RIGOR_SOLVE_GAUSS_SEIDEL_H

#include "solve/solve.h"
#include "solve/solve_one_contact.h"

typedef enum rg_sweep_law { RG_SWEEP_CONTACT, RG_SWEEP_INTERVAL, RG_SWEEP_STATIC } rg_sweep_law;

/* Rows that are solved together. */
typedef struct rg_sweep_block {
    rg_sweep_law law;
    int width;
    uint32_t rows[3];
    bool movable;          /* some force changes its velocity */
    double stiffness;      /* forces times this are velocities: the judge's */
    double diagonal;       /* interval, static: of the row */
    double lower, upper;   /* interval */
    double mu;             /* static */
    uint32_t normal;       /* static: row of the normal force */
    size_t panel, columns; /* local, linear: place of its columns */
    uint32_t bodies[2];    /* global */
    rg_one_contact one;    /* contact */
} rg_sweep_block;

typedef struct rg_sweeper {
    const rg_solve_context *context;
    const rg_problem *problem;
    size_t rows, block_count;
    rg_sweep_block *blocks;
    const double *q; /* rows */
    double *force;   /* rows */
    double scale;
    /* Local and linear form. */
    uint32_t *column;
    double *value; /* three numbers a column; one if the block is a single row */
    /* Global form. */
    size_t freedom, bodies;
    double *velocity; /* bodies x freedom */
    double *j;        /* blocks x 2 x freedom x 4: J by columns, padded with zeros */
    double *y;        /* blocks x 2 x 3 x freedom: M^-1 J' by rows of J */
    const rg_global_form *global;
} rg_sweeper;

/* Blocks of `problem` with their laws and columns or bodies. The outcome becomes UNSUITABLE where a
 * row has no positive diagonal entry. */
rg_status rg_sweeper_prepare(rg_sweeper *s, rg_solve_context *context, const rg_problem *problem,
                             rg_solution *solution, rg_solve_report *report, rg_error *error);

#endif
