/* Loetstedt's friction law, as a way around the solvers: the driver calls this instead of the
 * solver when settings.friction_law asks for it. */
#ifndef RIGOR_SOLVE_LOTSTEDT_H
#define RIGOR_SOLVE_LOTSTEDT_H

#include "solve/solve.h"

/* Does the law make a difference: is there friction in the problem? */
bool rg_lotstedt_applies(const rg_problem *problem);
/* Replaces every friction bound by a constant, solves that with `solver`, and brings the forces
 * back. `info` is about the replaced problem, which is what was asked for. To be called with the
 * problem checked and context->depth raised. */
rg_status rg_lotstedt_solve(rg_solve_context *context, const rg_solver *solver,
                            const rg_problem *problem, const rg_solve_settings *settings,
                            rg_solution *solution, rg_solve_info *info, rg_error *error);

#endif
