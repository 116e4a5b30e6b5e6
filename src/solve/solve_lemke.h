/* The parts of Lemke's method: the pairs (what the big matrix stands for, without forming it), the
 * factored part of the basis, and the pivoting on both. solve_lemke.c has the method. */
#ifndef RIGOR_SOLVE_LEMKE_H
#define RIGOR_SOLVE_LEMKE_H

#include "solve/solve.h"

/* --- pairs ------------------------------------------------------------------------------------ */

typedef enum rg_pair_kind {
    RG_PAIR_ROW,   /* a force along a row, and the acceleration along a row */
    RG_PAIR_BETA,  /* a share of a corner of the friction polygon; D_k'u + lambda */
    RG_PAIR_LAMBDA /* the slip speed of a polygon; mu r_N - sum of its betas */
} rg_pair_kind;

/* One complementary pair: variable x in [lower, upper] against slack s = (M x + b) along its
 * row. */
typedef struct rg_pair {
    rg_pair_kind kind;
    uint32_t row, column; /* rows of W that slack and force belong to; differ for equations only */
    double sign;          /* of slack and force: equations may come twice, once with each */
    uint32_t group;       /* beta, lambda */
    double along[2];      /* beta: its direction in the tangents of the group */
    double lower, upper;  /* scaled */
    double scale, row_scale; /* force = scale x, slack = row_scale times acceleration */
    bool equation;           /* a = 0, force of any sign: always in the basis */
    bool dependent;          /* an equation whose unknown the other equations do not determine */
} rg_pair;

/* A friction polygon over one or two tangent rows. */
typedef struct rg_pair_group {
    uint32_t normal, tangent[2]; /* rows; the second is the first again in the plane */
    double mu;
} rg_pair_group;

typedef struct rg_pairs {
    size_t rows;
    const double *w; /* rows x rows, `stride` doubles a row; dynamic friction substituted */
    size_t stride;
    double *free;                     /* rows: a without the forces that are unknown */
    double *given;                    /* rows: forces that are given (fixed rows) */
    double *row_scale, *column_scale; /* rows: R W C has entries of about 1 */
    double unit;                      /* forces and accelerations are divided by it */
    size_t count, groups;
    size_t excess; /* equations in excess of the unknowns: not among the pairs */
    const uint32_t *excess_rows;
    size_t dependent; /* equations that are not determined by the others alone */
    rg_pair *pair;
    rg_pair_group *group;
    uint32_t *normal_group; /* rows: first group whose normal it is, or UINT32_MAX */
    uint32_t *next_group;   /* groups: the next with the same normal */
    double *b;              /* pairs, scaled */
    /* work of the products */
    double *r, *u, *slip, *grip;
    uint32_t *nonzero;
} rg_pairs;

/* From a linear problem (any kinds of rows) or a local contact problem with polygons. `split`:
 * dependent equations become two pairs with opposite signs, |a| <= z0 along the path. When
 * equations contradict each other, *consistent is false and `ray` (rows long, may be null) gets the
 * combination of rows that says 0 = something. */
rg_status rg_pairs_make(rg_pairs *pairs, rg_solve_context *context, const rg_problem *problem,
                        bool split, bool *consistent, double *ray, rg_error *error);
/* s = M x over all pairs (without b). */
void rg_pairs_apply(rg_pairs *pairs, const double *x, double *s);
/* M_ij. */
double rg_pairs_entry(const rg_pairs *pairs, size_t i, size_t j);
/* Forces of all rows of W from the pairs' variables; `homogeneous`: without what is given. */
void rg_pairs_force(const rg_pairs *pairs, const double *x, bool homogeneous, double *force);

/* Multipliers of the rows of W that stand for multipliers y of the pairs' slacks. */
void rg_pairs_rows(const rg_pairs *pairs, const double *y, double *rows);
/* Largest |a|, scaled, of the equations in excess; 0 without any. Uses the last rg_pairs_apply. */
double rg_pairs_excess(const rg_pairs *pairs);

/* --- basis ------------------------------------------------------------------------------------ */

/* The pairs whose variable is basic (columns) and those whose slack is not (rows): as many of both.
 * All else of the basis is trivial. The inverse of the small matrix is kept and updated: O(k^2) a
 * pivot. The artificial variable is column `pairs->count`, with entries `cover`. */
typedef struct rg_lemke_basis {
    rg_pairs *pairs;
    const double *cover;
    rg_solve_context *context;
    size_t size, capacity;
    double *inverse; /* capacity x capacity; row: position of a column, column: position of a row */
    double *work;    /* capacity x capacity, then 4 capacity */
    uint32_t *columns, *rows;
    uint32_t *column_at, *row_at; /* positions, or UINT32_MAX; pairs + 1 long */
    uint32_t updates;
    uint64_t factorisations;
} rg_lemke_basis;

rg_status rg_lemke_basis_make(rg_lemke_basis *basis, rg_solve_context *context, rg_pairs *pairs,
                              const double *cover, rg_error *error);
void rg_lemke_basis_clear(rg_lemke_basis *basis);
double rg_lemke_basis_entry(const rg_lemke_basis *basis, size_t row, size_t column);
/* Adds column and row to the lists without updating the inverse: rg_lemke_basis_factor must
 * follow. */
rg_status rg_lemke_basis_add(rg_lemke_basis *basis, uint32_t column, uint32_t row, rg_error *error);
bool rg_lemke_basis_factor(rg_lemke_basis *basis); /* false: singular */

/* The four exchanges. False: the pivot is too small for the update to mean anything. */
rg_status rg_lemke_basis_grow(rg_lemke_basis *basis, uint32_t column, uint32_t row, bool *regular,
                              rg_error *error);
bool rg_lemke_basis_shrink(rg_lemke_basis *basis, uint32_t column, uint32_t row);
bool rg_lemke_basis_replace_column(rg_lemke_basis *basis, uint32_t old, uint32_t column);
bool rg_lemke_basis_replace_row(rg_lemke_basis *basis, uint32_t old, uint32_t row);
/* m := m^-1 in place (k x k, row-major); false if singular. `swaps`: k numbers of work. */
bool rg_lemke_invert(double *m, size_t k, size_t stride, double *swaps);
/* out (by position of columns) = inverse right (by position of rows). */
void rg_lemke_basis_solve(const rg_lemke_basis *basis, const double *right, double *out);

#endif
