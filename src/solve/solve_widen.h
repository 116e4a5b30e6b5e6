/* The last resort for a few contacts: what is left of their disagreement made larger, solved,
 * and made smaller again (solve_widen.c). Not among the solvers to choose from: it needs forces
 * that are nearly right. */
#ifndef RIGOR_SOLVE_WIDEN_H
#define RIGOR_SOLVE_WIDEN_H

#include "solve/solve.h"

extern const rg_solver rg_solver_widen;

#endif
