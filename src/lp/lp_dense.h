/* Dense orthogonal factorisation that tells the rank: least squares, null space. */
#ifndef RIGOR_LP_LP_DENSE_H
#define RIGOR_LP_LP_DENSE_H

#include "rigor/solver.h"

/* A P = Q R. Column k of `factor` (column-major) holds R above its diagonal and, from the
 * diagonal on, the k-th Householder vector; `diagonal` holds that of R. */
typedef struct rg_qr {
    size_t rows, columns, rank;
    double *factor;
    double *diagonal; /* min(rows, columns) */
    size_t *order;    /* columns: which column of A stands at place k */
    double *null;     /* (columns - rank) basis vectors of `columns` numbers, or null if not made */
} rg_qr;

/* `matrix` is column-major and is overwritten. A column whose part outside the span of those
 * before is at most `tolerance` times the largest column of A depends on them. */
rg_status rg_qr_make(rg_solve_context *context, size_t rows, size_t columns, double *matrix,
                     double tolerance, rg_qr *qr, rg_error *error);
/* x minimises |A x - rhs|, with 0 at dependent columns. `rhs` (rows numbers) is overwritten. */
void rg_qr_solve(const rg_qr *qr, double *rhs, double *x);
/* Fills qr->null: a basis of {x : A x = 0}, each vector with a 1 at its own dependent column. */
rg_status rg_qr_null_space(rg_solve_context *context, rg_qr *qr, rg_error *error);

#endif
