/* What the solves of a step add up to: one struct from the lanes of a step to its report, added by
 * one function. */
#ifndef RIGOR_SOLVE_COUNTS_H
#define RIGOR_SOLVE_COUNTS_H

#include "rigor/solver.h"

#include <math.h>

typedef struct rg_solve_counts {
    uint64_t solves, iterations;
    uint64_t failures;                 /* solves whose residual is above the tolerance */
    uint64_t fallbacks;                /* solves at which a solver failed and another stepped in */
    double worst_residual, worst_cone; /* natural, and force outside the cone, by the judge; NaN
                                          without solves */
} rg_solve_counts;

static inline rg_solve_counts rg_solve_counts_none(void) {
    return (rg_solve_counts){.worst_residual = NAN, .worst_cone = NAN};
}

/* `answer` that moves the state: its residuals are the ones that count. One that was never judged
 * must not hide behind others: it is as bad as can be. */
static inline void rg_solve_counts_judged(rg_solve_counts *counts, const rg_residual *answer) {
    bool judged = !isnan(answer->natural);
    counts->worst_residual = fmax(counts->worst_residual, judged ? answer->natural : INFINITY);
    counts->worst_cone = fmax(counts->worst_cone, judged ? answer->force : INFINITY);
}

static inline void rg_solve_counts_add(rg_solve_counts *counts, const rg_solve_counts *more) {
    counts->solves += more->solves;
    counts->iterations += more->iterations;
    counts->failures += more->failures;
    counts->fallbacks += more->fallbacks;
    counts->worst_residual = fmax(counts->worst_residual, more->worst_residual);
    counts->worst_cone = fmax(counts->worst_cone, more->worst_cone);
}

#endif
