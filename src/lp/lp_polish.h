/* Answers of linear programs, made good to rounding: Clp's are good to its tolerance. */
#ifndef RIGOR_LP_LP_POLISH_H
#define RIGOR_LP_LP_POLISH_H

#include "lp/lp_form.h"

/* Corrects the entries of g in `columns` so that alpha = 0 in `rows`, as least squares; of all
 * corrections that do so equally well, the smallest. `singular` (may be null): whether the columns
 * depend on each other, so that other entries would do as well (singular values below
 * RG_LP_INDEPENDENT of the largest column). Keeps account in form->operations. */
#define RG_LP_INDEPENDENT 1e-6
rg_status rg_lp_polish(rg_solve_context *context, rg_lp_form *form, const uint8_t *rows,
                       const uint8_t *columns, double *g, bool *singular, rg_error *error);

#endif
