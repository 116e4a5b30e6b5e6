/* The product in the middle of the block-sparse factorisation. */
#ifndef RIGOR_BASE_SPARSE_KERNEL_H
#define RIGOR_BASE_SPARSE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RG_SPARSE_STRIP = 4,  /* rows that are treated together */
    RG_SPARSE_PANEL = 12, /* columns that are eliminated together: 2 x 6, 4 x 3 */
};

/* c -= a b' over tiles of STRIP x STRIP. a, b: packed strips, STRIP numbers per column, `pitch`
 * numbers from strip to strip; c: column-major, `stride` numbers from column to column. `lower`:
 * tiles on and under the diagonal only. Every entry of c is one running sum over the depth, in
 * order, without fused operations: the bits do not depend on which of the versions runs. All
 * addresses and pitches are multiples of 32 bytes. */
typedef void rg_sparse_product(double *c, size_t stride, const double *a, const double *b,
                               size_t pitch, size_t depth, size_t row_strips, size_t column_strips,
                               bool lower);

/* A factored diagonal panel as what the rows below it need. */
typedef struct rg_sparse_panel {
    uint32_t first, width;                           /* local columns */
    double factor[RG_SPARSE_PANEL][RG_SPARSE_PANEL]; /* [c][p]: what column c takes from p < c */
    double inverse[RG_SPARSE_PANEL];                 /* of the pivots */
    uint8_t order[RG_SPARSE_PANEL];                  /* source column of each */
} rg_sparse_panel;

typedef enum rg_sparse_scaling {
    RG_SPARSE_UNSCALED, /* rows of U': x */
    RG_SPARSE_SCALED,   /* rows of L of an L U: x / pivot, and later columns take that */
    RG_SPARSE_BOTH      /* rows of L of an L D L': x = W into `other`, W / pivot is kept */
} rg_sparse_scaling;

/* `count` strips of rows below a panel: x_c := x_order(c) - sum_{p < c} factor_cp x_p, scaled.
 * `at`: the first strip in the panel's first column. Packed into `plain` (and `other`), `pitch`
 * from strip to strip. */
typedef void rg_sparse_strips(double *at, size_t stride, const rg_sparse_panel *panel,
                              rg_sparse_scaling scaling, double *plain, double *other, size_t pitch,
                              size_t count);

typedef struct rg_sparse_kernel {
    rg_sparse_product *product;
    rg_sparse_strips *strips;
} rg_sparse_kernel;
/* The one that every processor has, and the widest that this one has. */
rg_sparse_kernel rg_sparse_kernel_plain(void);
rg_sparse_kernel rg_sparse_kernel_best(void);

#endif
