/* The dense kernels of the block-sparse factorisation: products of strips, strips below a panel,
 * panels on the diagonal. */
#ifndef RIGOR_BASE_SPARSE_KERNEL_H
#define RIGOR_BASE_SPARSE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RG_SPARSE_STRIP = 4,  /* rows that are treated together */
    RG_SPARSE_PANEL = 12, /* columns that are eliminated together: 2 x 6, 4 x 3 */
};

/* c -= a b' over tiles of STRIP x STRIP. */
typedef struct rg_sparse_tiles {
    double *c; /* column-major, `stride` numbers from column to column */
    size_t stride;
    const double *a, *b; /* packed strips, STRIP numbers per column, `pitch` from strip to strip */
    size_t pitch, depth;
    size_t row_strips, column_strips;
    bool lower; /* tiles on and under the diagonal only */
} rg_sparse_tiles;

/* Every entry of c is one running sum over the depth, in order, without fused operations: the bits
 * do not depend on which of the versions runs. All addresses and pitches are multiples of 32
 * bytes. */
typedef void rg_sparse_product(const rg_sparse_tiles *tiles);

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

/* `count` strips of rows below a panel. */
typedef struct rg_sparse_below {
    double *at; /* the first strip in the panel's first column */
    size_t stride;
    double *plain, *other; /* where they are packed, `pitch` from strip to strip */
    size_t pitch, count;
} rg_sparse_below;

/* x_c := x_order(c) - sum_{p < c} factor_cp x_p, scaled. */
typedef void rg_sparse_strips(const rg_sparse_below *rows, const rg_sparse_panel *panel,
                              rg_sparse_scaling scaling);

/* A diagonal panel of an L U while it is factored: its columns, rows padded with zeros to whole
 * strips. */
typedef struct rg_sparse_square {
    _Alignas(32) double at[RG_SPARSE_PANEL][RG_SPARSE_PANEL];
    double size[RG_SPARSE_PANEL]; /* of the rows; infinite: nothing there */
    uint32_t width;
} rg_sparse_square;

/* Column c becomes that of L, and is taken from those right of it; `inverse`: of the pivot. Strips
 * are taken whole: what lies on and over the diagonal is taken zero times. */
typedef void rg_sparse_eliminate(rg_sparse_square *square, uint32_t c, double inverse);

typedef struct rg_sparse_kernel {
    rg_sparse_product *product;
    rg_sparse_strips *strips;
    rg_sparse_eliminate *eliminate;
} rg_sparse_kernel;
/* The one that every processor has, that of four numbers where this one has such vectors, and the
 * widest that it has. */
rg_sparse_kernel rg_sparse_kernel_plain(void);
rg_sparse_kernel rg_sparse_kernel_wide(void);
rg_sparse_kernel rg_sparse_kernel_best(void);

#endif
