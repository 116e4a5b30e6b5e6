/* Are there forces at all, and the proof if not. */
#ifndef RIGOR_LP_LP_FEASIBLE_H
#define RIGOR_LP_LP_FEASIBLE_H

#include "lp/lp_form.h"

/* min b.y with A'y <= 0 (= 0 in free columns), 0 <= y <= 1 (|y| <= 1 in free rows), in scaled
 * units: 0 if there are forces, otherwise the deepest proof that there are none. `y` gets it,
 * `value` b.y. */
rg_status rg_lp_certificate(rg_solve_context *context, rg_lp_form *form, double *y, double *value,
                            rg_error *error);

#endif
