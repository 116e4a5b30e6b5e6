/* Free rows that contradict each other: the smallest violation. */
#ifndef RIGOR_LP_LP_JOINTS_H
#define RIGOR_LP_LP_JOINTS_H

#include "lp/lp_form.h"
#include "rigor/lp.h"

/* In scaled units: `g` the forces of the free rows (0 elsewhere), `alpha` the violation (0
 * elsewhere); `size` in the units of the problem, exactly 0 if the rows agree to RG_LP_ZERO. */
rg_status rg_lp_relax(rg_solve_context *context, rg_lp_form *form, rg_joint_norm norm, double *g,
                      double *alpha, double *size, rg_error *error);

#endif
