/* Inside base_sparse: what the analysis of a pattern leaves to the numeric work. The layout is
 * described in base_sparse.c. */
#ifndef RIGOR_BASE_SPARSE_STATE_H
#define RIGOR_BASE_SPARSE_STATE_H

#include "base/base_sparse.h"
#include "base/base_sparse_kernel.h"

#include <string.h>

/* Columns of a supernode: its packed strips then stay in the second cache. */
enum { RG_SPARSE_WIDTH = 96 };

#define RG_SPARSE_NONE UINT32_MAX

/* Subtrees of the elimination tree are dealt out to so many lanes, whatever the number of threads,
 * each with work memory of its own; nodes above them are in none. */
enum { RG_SPARSE_LANES = 8, RG_SPARSE_TOP = RG_SPARSE_LANES };

typedef struct rg_sparse_lane {
    double *pack[2], *work, *copy;
    size_t packed, rows; /* what of these its nodes need */
} rg_sparse_lane;

/* Consecutive rows of an update that are consecutive in the parent too. */
typedef struct rg_sparse_run {
    uint32_t from, to, length;
} rg_sparse_run;

typedef struct rg_sparse_node { /* a supernode */
    uint32_t first, width;      /* scalar columns in the new order */
    uint32_t below, rows;       /* padded: rows of the update, all local rows */
    uint32_t base;              /* local row where the rows below begin */
    uint32_t panel, panels;     /* its panels */
    uint32_t run, runs;         /* into the parent */
    uint32_t list, list_count;  /* block rows below, ascending */
    uint32_t parent;
    uint32_t child, sibling; /* first child; next of the same parent */
    size_t entries;          /* offset in lower and upper */
    size_t update;           /* offset in its stack */
    uint8_t stack, lane;
} rg_sparse_node;

typedef struct rg_sparse_block { /* a block in the caller's memory */
    rg_sparse_slot slot;
    size_t offset;  /* of its numbers among the diagonal ones, or the halves */
    uint32_t pair1; /* 0: a diagonal one */
    bool second;    /* (j, i) of its pair */
} rg_sparse_block;

struct rg_sparse {
    size_t blocks, scalars;
    uint32_t *position; /* new index of a block */
    uint32_t *start;    /* new index -> first scalar; blocks + 1 */
    uint32_t *original; /* new index -> first scalar in the caller's order */
    uint32_t *node_of;  /* new index -> supernode */
    uint32_t *rows;     /* block rows below, all supernodes */
    uint32_t *local;    /* ... and the local row where each begins */
    rg_sparse_node *nodes;
    size_t node_count;
    uint32_t *panel_start; /* local column; every supernode's list ends with its width */
    rg_sparse_run *runs;
    double *lower, *upper;
    size_t entries;
    double *stacks[2];
    double *pack[2];    /* strips of L, and of W = L D or U' */
    double *inverse;    /* 1 / pivot per scalar */
    double *units;      /* per scalar: rg_sparse_set_units */
    uint8_t *exchanges; /* general: row of the panel taken for each of its columns */
    double *vector, *work, *copy;
    size_t *expected_starts; /* per supernode, and the end; null: nothing is expected */
    rg_sparse_block *expected;
    rg_sparse_values values; /* given for the next factorisation; null: numbers were added */
    rg_sparse_lane *lanes;   /* null: too small for them */
    rg_pool *pool;
    rg_sparse_kernel kernel;
    bool general;
    rg_sparse_stats stats;
};

/* Local row of a block in a supernode: among its columns, or below. It must be in the pattern. */
uint32_t rg_sparse_local_row(const rg_sparse *sparse, const rg_sparse_node *node, uint32_t block);

/* Two entries at a time. */
typedef double rg_pair __attribute__((vector_size(16), may_alias));

/* y[from, to) -= x times `by`; two at a time: the loops are short. */
static inline void rg_subtract_column(double *restrict y, const double *restrict x, double by,
                                      uint32_t from, uint32_t to) {
    uint32_t r = from;
    for (; r + 2 <= to; r += 2) {
        rg_pair a, b;
        memcpy(&a, y + r, sizeof a);
        memcpy(&b, x + r, sizeof b);
        a -= b * by;
        memcpy(y + r, &a, sizeof a);
    }
    if (r < to)
        y[r] -= x[r] * by;
}

#endif
