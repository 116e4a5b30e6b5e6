/* Block-sparse factorisation with a symmetric pattern: the kernel of the large contact solvers.
 *
 * The matrix is square, cut into blocks of 1 to 6 rows; block (j, i) may be non-zero wherever (i,
 * j) may. Symbolic work (fill-reducing order, elimination tree, supernodes, pattern of the factor)
 * is done once per pattern; numeric work is repeated. Two numeric forms: symmetric (L D L',
 * positive definite or quasi-definite, no pivoting) and general (L U, pivoting among the rows of a
 * diagonal panel, a few blocks, only). No heap call after the analysis. The same bits for gcc and
 * clang. */
#ifndef RIGOR_BASE_SPARSE_H
#define RIGOR_BASE_SPARSE_H

#include "base/base_arena.h"
#include "base/base_thread.h"
#include "rigor/status.h"

typedef struct rg_sparse rg_sparse;

enum { RG_SPARSE_BLOCK_MAX = 6 };

typedef struct rg_sparse_stats {
    size_t factor_blocks; /* in L, diagonal included */
    double flops;         /* of one symmetric factorisation: multiplications and additions */
    size_t supernodes;
    size_t bytes; /* of the factor, both halves */
} rg_sparse_stats;

/* sizes: rows of each block (null: all `uniform`). pairs: `pair_count` x 2 block indices, any
 * order, repeats and diagonals allowed. Memory from the arena; lives as long as it. */
rg_status rg_sparse_create(rg_arena *arena, size_t blocks, const uint8_t *sizes, int uniform,
                           const uint32_t *pairs, size_t pair_count, rg_sparse **sparse);
/* Factors and solves from now on by the threads of the pool (null: by one), with the same bits. */
void rg_sparse_set_pool(rg_sparse *sparse, rg_pool *pool);
/* What the columns are measured with when the general form compares entries of a row: so many of
 * their own units make one that all of them share. Per scalar, in the caller's order; 1 at first.
 * Powers of two; no entry of the matrix is changed. */
void rg_sparse_set_units(rg_sparse *sparse, const double *units);
rg_sparse_stats rg_sparse_get_stats(const rg_sparse *sparse);
size_t rg_sparse_rows(const rg_sparse *sparse);
/* Begins a matrix: all zero. Nothing may be added before. `general`: it will be factored as L U;
 * the symmetric form has half the numbers. */
void rg_sparse_clear(rg_sparse *sparse, bool general);
/* A handle of the place of block (i, j), to be kept; add to it as often as needed. In the symmetric
 * form (i, j) and (j, i) are the same place, and adding one of them is enough. The pair must be in
 * the pattern. */
typedef struct rg_sparse_slot {
    size_t symmetric, general; /* offsets in the two forms */
    uint32_t stride;           /* between columns of the place */
    uint8_t rows, columns;     /* of block (i, j) */
    bool symmetric_transposed; /* the place holds block (j, i) */
    bool general_transposed;   /* likewise, and lies in the upper half */
} rg_sparse_slot;
rg_sparse_slot rg_sparse_find(const rg_sparse *sparse, uint32_t i, uint32_t j);
/* += values (row-major, rows of block i x columns of block j). `general`: the matrix will be
 * factored as L U, and (i, j), (j, i) are separate places. */
void rg_sparse_add(rg_sparse *sparse, rg_sparse_slot slot, const double *values, bool general);
/* Instead of clearing and adding: blocks that lie in the caller's memory, which the next
 * factorisation adds up node by node, while the columns of a node are in the cache, and by all
 * threads. rg_sparse_expect says once which there are: a diagonal block for each of the matrix, and
 * for each pair (i, j), i != j, the blocks (i, j) and (j, i); pairs may repeat. Memory from the
 * arena. */
rg_status rg_sparse_expect(rg_sparse *sparse, rg_arena *arena, const uint32_t *pairs,
                           size_t pair_count);
/* Row-major, one after the other in the order of the blocks and pairs. */
typedef struct rg_sparse_values {
    const double *diagonal, *halves; /* (i, j), then (j, i); the symmetric form reads the first */
    const uint8_t *present;          /* per pair: 0 if both halves are zero */
} rg_sparse_values;
void rg_sparse_give(rg_sparse *sparse, rg_sparse_values values);
/* The numbers that were added are overwritten by the factor: clear and add again for the next one.
 * RG_SINGULAR if a pivot vanishes (relative to the largest entry that its row of the diagonal panel
 * had, by RG_SPARSE_SINGULAR) or is not finite; the rest of the factor is then not made.
 * `signs` for quasi-definite matrices: +1 or -1 per scalar row (null: all +1); a pivot of the wrong
 * sign or smaller than `regularisation` is replaced by sign * regularisation, counted in *replaced
 * (may be null), if `regularisation` > 0. */
#define RG_SPARSE_SINGULAR 1e-14
rg_status rg_sparse_factor_symmetric(rg_sparse *sparse, const int8_t *signs, double regularisation,
                                     size_t *replaced);
rg_status rg_sparse_factor_general(rg_sparse *sparse);
/* x := matrix^-1 x with whichever factor was made last. */
void rg_sparse_solve(const rg_sparse *sparse, double *x);
/* The entries of the inverse between some blocks, in their order: a square matrix with the rows of
 * all of them (row-major). With a symmetric factor. Work memory is taken from the arena and given
 * back; RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_sparse_inverse(const rg_sparse *sparse, const uint32_t *blocks, size_t count,
                            rg_arena *arena, double *out);

#endif
