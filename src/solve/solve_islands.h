/* A contact problem of several islands: each solved by itself, and one account of all. */
#ifndef RIGOR_SOLVE_ISLANDS_H
#define RIGOR_SOLVE_ISLANDS_H

#include "problem/problem_split.h"
#include "solve/solve.h"

/* Solves every island with `solver`, then has the whole judged; context->info gets the sum.
 * solution->velocity is filled by the judge. */
rg_status rg_solve_islands(rg_solve_context *context, const rg_solver *solver, rg_split *split,
                           const rg_solve_settings *settings, rg_solution *solution,
                           rg_error *error);

#endif
