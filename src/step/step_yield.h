/* Rows of an island that contradict each other, and which of them yield. */
#ifndef RIGOR_STEP_YIELD_H
#define RIGOR_STEP_YIELD_H

#include "base/base_arena.h"
#include "rigor/solver.h"

/* Of the scale of the problem: contradictions up to this are what arcs and earlier solves have left
 * of overlaps, and press nothing. A peg that turned in its hole would stick there. */
#define RG_YIELD_LEAST 0.01

/* Who yields: joints alone, or contacts with them. */
typedef enum rg_yielder { RG_YIELD_JOINTS, RG_YIELD_CONTACTS } rg_yielder;

typedef struct rg_yielding {
    rg_problem problem; /* softened */
    double *give;       /* m/s per N s, rad/s per N m s: per row, what softened it */
} rg_yielding;

/* Have joints of a problem that was solved forces out of all proportion to what is asked for, as
 * where contacts leave them hardly a way? */
bool rg_yield_is_strained(const rg_problem *problem, const double *force);
/* The problem of an island, in global form, with rows that yield; `loose`: more of it.
 * RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_yield_soften(rg_solve_context *context, rg_arena *arena, const rg_problem *problem,
                          rg_yielder who, bool loose, rg_yielding *yielding);
/* m/s, rad/s: the most that a row misses with the forces of an answer. */
double rg_yield_most(const rg_yielding *yielding, const double *force);
/* Do rows contradict each other? `loosely`: what was missed by most with more compliance. */
bool rg_yield_is_needed(const rg_yielding *yielding, const double *force, double loosely);
/* m/s, rad/s: by how much a row gives way; 0: it has no part in the contradiction. */
double rg_yield_of(const rg_yielding *yielding, size_t row, const double *force);

#endif
