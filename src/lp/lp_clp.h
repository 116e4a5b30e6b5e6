/* Linear programs: minimise cost.x subject to bounds on x and on A x.
 *
 * The only place that knows Clp (COIN-OR, Eclipse Public License), through its C interface. */
#ifndef RIGOR_LP_LP_CLP_H
#define RIGOR_LP_LP_CLP_H

#include "rigor/complementarity.h"
#include "rigor/solver.h"

/* Arrays of the caller. Infinities in the bounds mean none. */
typedef struct rg_program {
    rg_matrix matrix;                          /* dense or compressed rows */
    const double *cost;                        /* columns; null: 0, any feasible point will do */
    const double *row_lower, *row_upper;       /* rows */
    const double *column_lower, *column_upper; /* columns */
    uint32_t iteration_limit;                  /* 0: that of RG_PROGRAM_ITERATIONS */
} rg_program;

/* Pivots per row and column after which a program counts as stuck: simplex methods need about
 * two. */
enum { RG_PROGRAM_ITERATIONS = 200 };

typedef enum rg_program_outcome {
    RG_PROGRAM_OPTIMAL,
    RG_PROGRAM_INFEASIBLE, /* ray: the rows that cannot be met together */
    RG_PROGRAM_UNBOUNDED,  /* ray: x + t ray stays feasible and falls without end */
    RG_PROGRAM_LIMIT,      /* pivots ran out */
    RG_PROGRAM_BROKEN      /* numerical trouble that Clp could not resolve */
} rg_program_outcome;

/* Arrays of the caller, each may be null. */
typedef struct rg_program_result {
    rg_program_outcome outcome;
    double objective;
    uint64_t iterations;
    double *x;             /* columns */
    double *dual;          /* rows: change of the objective per change of the active bound */
    uint8_t *column_basic; /* columns: 1 if in the basis */
    uint8_t *row_basic;    /* rows: 1 if its slack is in the basis, 0 if the row is at a bound */
    /* rows if infeasible (Farkas: the row combination that no x within its bounds can meet),
     * columns if unbounded; room for the larger of the two. `has_ray` says whether Clp gave one. */
    double *ray;
    bool has_ray;
} rg_program_result;

/* The status is about memory and sizes; the rest is in the result. The context gives the memory
 * for the copy by columns; Clp takes its own from the C++ heap and gives it back before this
 * returns. */
rg_status rg_program_solve(rg_solve_context *context, const rg_program *program,
                           rg_program_result *result, rg_error *error);

#endif
