/* A heap in which little happens: what holds is linear, and its factor is kept from step to step;
 * the few contacts that are loose are a small problem of their own. */
#ifndef RIGOR_SOLVE_HELD_H
#define RIGOR_SOLVE_HELD_H

#include "solve/solve_active.h"

typedef enum rg_held_verdict {
    RG_HELD_NOT,    /* much is loose, or there are joints */
    RG_HELD_CALM,   /* little or nothing is, but what held lets go, or it was not solved */
    RG_HELD_SOLVED, /* active->force and `best` are an answer, within RG_HELD_TOLERANCE */
} rg_held_verdict;

/* Of the natural residual. It is far below what is asked for because what holds has to be right up
 * to rounding: it is how contacts that hold are told from others in the next step. */
#define RG_HELD_TOLERANCE 1e-9

/* From active->force, which stays as it is unless the problem is solved. Nor is an answer one that
 * is not `enough`. */
rg_status rg_held_solve(rg_active *active, double enough, rg_held_verdict *verdict,
                        rg_error *error);

/* The parts that the files of this solver share (solve_held_factor.c): */

/* The proximal term of contacts that hold, relative to 1 / rho. */
#define RG_HELD_DELTA 1e-6

/* Some contacts of a problem. */
typedef struct rg_held_list {
    const uint32_t *contacts;
    size_t count;
} rg_held_list;

/* K = M + J' (rho / RG_HELD_DELTA) J over the contacts that hold, factored, in context->held. It
 * counts as one factorisation, made or remembered, so that limits and figures do not depend on what
 * is remembered. RG_SINGULAR, RG_OUT_OF_MEMORY: there is none. */
rg_status rg_held_factor(rg_active *active, rg_held_list holding);
/* How many a context has made. */
uint64_t rg_held_factors_made(const rg_solve_context *context);
/* The entries of K^-1 between these bodies, which ascend: a square matrix (row-major). */
rg_status rg_held_mobility(rg_active *active, const uint32_t *bodies, size_t count, double *out);
/* dv = K^-1 impulse, over all bodies. */
void rg_held_respond(const rg_active *active, const double *impulse, double *dv);
/* The memory of a context. */
void rg_held_free(rg_solve_context *context);

#endif
