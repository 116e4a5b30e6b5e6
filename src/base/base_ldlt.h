/* Dense LDL^T factor of a growing and shrinking set of rows: the kernel of the pivoting solvers
 * (method: Baraff 1994; append by one forward substitution, delete by a stable rank-1 update of the
 * trailing block; both O(n^2)). It keeps to the envelope: a row of L begins where the row of the
 * matrix begins, so that banded matrices cost what their band costs (Jennings 1966).
 *
 * L is unit lower triangular, row by row in one array of fixed stride; D is a vector. The owner
 * keeps the matrix; the factor knows only the rows that it was given, in the order in which they
 * came. */
#ifndef RIGOR_BASE_LDLT_H
#define RIGOR_BASE_LDLT_H

#include "rigor/status.h"
#include "rigor/types.h"

typedef struct rg_ldlt {
    size_t size, capacity; /* rows now, rows at most */
    double *lower;         /* capacity x capacity, row-major, strict lower part */
    double *diagonal;      /* D */
    double *work;          /* 2 x capacity */
    uint32_t *first;       /* column of each row's first entry in L; what lies before it is zero and
                              not even stored */
    double largest;        /* largest |D| accepted so far: what "small" is relative to */
    size_t updates;        /* since the last refactor: appends and deletes */
} rg_ldlt;

/* A pivot D <= RG_LDLT_SINGULAR * max(largest, the new row's diagonal entry) is refused: the row
 * depends on the others. */
#define RG_LDLT_SINGULAR 1e-12

rg_status rg_ldlt_create(rg_ldlt *factor, size_t capacity, const rg_allocator *allocator);
void rg_ldlt_free(rg_ldlt *factor, const rg_allocator *allocator);
void rg_ldlt_clear(rg_ldlt *factor);

/* Appends a row: row[0 .. size) are its entries against the rows there are, row[size] its diagonal.
 * RG_SINGULAR (and no change) if the new pivot is too small; *pivot, if not null, gets it. */
rg_status rg_ldlt_append(rg_ldlt *factor, const double *row, double *pivot);
/* The same for a row whose entries before `begin` are zero: they are not read. */
rg_status rg_ldlt_append_from(rg_ldlt *factor, const double *row, size_t begin, double *pivot);
/* Several rows in one go, the same bits at less cost: rows[k] has its entries in [begin, size),
 * then those against the earlier rows of the group, then the diagonal; entries before `begin` are
 * zero in all of them. Destroys the rows (each capacity + 4 long). Returns how many were accepted,
 * and which. */
enum { RG_LDLT_GROUP = 4 };
size_t rg_ldlt_append_group(rg_ldlt *factor, double *const rows[RG_LDLT_GROUP], size_t begin,
                            size_t count, bool accepted[RG_LDLT_GROUP]);
/* Deletes row k; the later ones move up. */
void rg_ldlt_delete(rg_ldlt *factor, size_t k);
/* Factors afresh the symmetric matrix (row-major, lower part read, `stride` doubles a row). Stops
 * with RG_SINGULAR at the first bad pivot; the rows before it are kept. */
rg_status rg_ldlt_refactor(rg_ldlt *factor, const double *matrix, size_t size, size_t stride);
/* x := A^-1 x. */
void rg_ldlt_solve(const rg_ldlt *factor, double *x);
/* One step of iterative refinement for A x = b with the true matrix: improves x, returns the
 * largest residual before it. */
double rg_ldlt_refine(rg_ldlt *factor, const double *matrix, size_t stride, const double *b,
                      double *x);

#endif
