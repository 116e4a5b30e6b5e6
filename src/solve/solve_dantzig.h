/* What the files of the pivoting solver share; the method is told in solve_dantzig.c. */
#ifndef RIGOR_SOLVE_DANTZIG_H
#define RIGOR_SOLVE_DANTZIG_H

#include "base/base_ldlt.h"
#include "base/base_math.h"
#include "solve/solve.h"

/* Rounding errors allowed in the conditions of a row, relative to its magnitude. */
#define RG_PIVOT_SLACK 1e-14

/* Where a row stands. */
typedef enum rg_pivot_state {
    RG_PIVOT_WAITING, /* not looked at yet: its condition may be violated */
    RG_PIVOT_BASIC,   /* C: a = 0, the force follows */
    RG_PIVOT_LOWER,   /* NC: the force rests at its lower bound, a >= 0 */
    RG_PIVOT_UPPER,   /* NC: at the upper bound, a <= 0 */
    RG_PIVOT_INNER /* a = 0 because of the rows in C, on which the row depends; the force, between
                         its bounds, rests */
} rg_pivot_state;

/* The problem in the solver's own order and units, and where the pivoting has come to. */
typedef struct rg_dantzig {
    size_t size, stride;
    double *columns;           /* column j of the scaled matrix at j * stride; null if: */
    const size_t *starts;      /* its entries are few: those that are not zero are */
    const uint32_t *rows;      /* rows[starts[j] ... starts[j + 1]), ascending, */
    const double *values;      /* with these values */
    uint32_t *begin, *end;     /* of each column: where its entries lie */
    double *b, *lower, *upper; /* b: relaxed for a while against ties */
    double *exact_b;
    double *scale;   /* force = scale * f, a of the caller = a / scale; powers of two */
    uint32_t *order; /* row of the caller of each row */
    double *f, *a;
    double *magnitude; /* |b| + sum |A_ij f_j|: what rounding errors in a are relative to */
    double *df, *da;
    uint8_t *state;
    uint8_t *barred;         /* must not enter C in this drive */
    uint32_t *basis, *place; /* rows of C in the order of the factor, and the way back */
    rg_ldlt factor;
    bool ascending;         /* the basis is in ascending order */
    double diagonal_factor; /* 1; more while the guess is made */
    double *work, *row, *kept;
    double *group[RG_LDLT_GROUP];
    double *allowed; /* a violation of the row that could not be helped and is tolerable */
    uint64_t pivots, pivot_limit, factorisations;
    uint64_t exchanges;    /* rows that the guess moved in or out of C */
    unsigned plain_rounds; /* at the beginning, without the remedy against ties */
    uint64_t trace;        /* hash of the sequence of pivots */
    bool refactor_always;  /* for the test of the incremental factor */
    const rg_solve_context *context;
} rg_dantzig;

/* For tests: the hash of the sequence of pivots, with the factor updated or made afresh each
 * time. */
typedef struct rg_dantzig_options {
    bool refactor_always;
    bool cold;       /* no guess: C is empty at the start */
    uint64_t trace;  /* out */
    uint64_t pivots; /* out */
} rg_dantzig_options;

rg_status rg_dantzig_solve(rg_solve_context *context, const rg_problem *problem,
                           const rg_solve_settings *settings, rg_solution *solution,
                           rg_solve_report *report, rg_dantzig_options *options, rg_error *error);

/* The power of two next to 1 / sqrt(d); 1 if d is not positive. */
double rg_dantzig_unit(double d);

typedef enum rg_drive_end {
    RG_DRIVE_DONE,
    RG_DRIVE_LATER,      /* cycling or too many pivots: put back */
    RG_DRIVE_RAY,        /* the force could grow without end; direction in df */
    RG_DRIVE_INDEFINITE, /* df' A df < 0 */
} rg_drive_end;

/* Matrices with more entries than one in RG_ENTRIES_SHARE are read as dense, and so are those of
 * fewer than RG_ENTRIES_ROWS rows. */
enum { RG_ENTRIES_SHARE = 3, RG_ENTRIES_ROWS = 24 };
/* solve_dantzig_order.c: the entries of the matrix, if they are few, and an order in which they lie
 * near the diagonal. */
rg_status rg_dantzig_order(rg_solve_context *context, const rg_linear_problem *problem,
                           uint32_t *order, rg_entries *entries, rg_error *error);

/* solve_dantzig_drive.c: one row to its condition, all others kept (Baraff 1994, 3.3). */
rg_drive_end rg_dantzig_drive(rg_dantzig *dantzig, size_t row);
/* Into and out of C. False if the row depends on C. */
bool rg_dantzig_enter(rg_dantzig *dantzig, size_t row);
void rg_dantzig_leave(rg_dantzig *dantzig, size_t row);
/* C from the rows whose state is BASIC, as far as they are independent; the others get
 * `refused`. */
void rg_dantzig_enter_all(rg_dantzig *dantzig, rg_pivot_state refused);
/* Entry i of column j. */
double rg_dantzig_entry(const rg_dantzig *dantzig, size_t j, size_t i);
/* y += s times column j. */
void rg_dantzig_add_column(const rg_dantzig *dantzig, size_t j, double s, double *y);

/* solve_dantzig_start.c: forces that are almost a solution. True if all signs are right; then the
 * factor is that of C with the enlarged diagonal. */
bool rg_dantzig_guess(rg_dantzig *dantzig);

/* solve_dantzig_small.c: unilateral rows only, RG_SMALL_MIN to RG_SMALL_MAX; *solved is false if it
 * takes the general method. Answers with rows whose magnitude (unit of a) exceeds the limit are not
 * accepted. */
enum { RG_SMALL_MIN = 4, RG_SMALL_MAX = 64, RG_SMALL_SET_MAX = 28 };
rg_status rg_dantzig_solve_small(rg_solve_context *context, const rg_linear_problem *problem,
                                 double magnitude_limit, rg_solution *solution,
                                 rg_solve_report *report, bool *solved, rg_error *error);

/* solve_dantzig_friction.c: problems with static or dynamic rows. */
rg_status rg_dantzig_solve_friction(rg_solve_context *context, const rg_problem *problem,
                                    const rg_solve_settings *settings, rg_solution *solution,
                                    rg_solve_report *report, rg_error *error);

/* Small amounts to change b by, another one for each row and the same on every machine: a share of
 * |b_i|, or of their mean where that is 0. The share shrinks every second round. */
typedef struct rg_disturbance {
    double mean, size;
    uint64_t random; /* of the last amount */
} rg_disturbance;

static inline rg_disturbance rg_disturbance_begin(const double *b, size_t n, unsigned round,
                                                  double size, double shrink) {
    rg_disturbance d = {0, size, UINT64_C(0x9E3779B97F4A7C15) * (round + 1)};
    for (size_t i = 0; i < n; i++)
        d.mean += fabs(b[i]) / (double)n;
    for (unsigned k = 2; k < round; k += 2)
        d.size *= shrink;
    return d;
}

static inline double rg_disturbance_next(rg_disturbance *d, double b) {
    d->random = d->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double unit = 1 + (double)(d->random >> 40) / (1 << 24);
    return d->size * unit * (b != 0 ? fabs(b) : d->mean);
}

#endif
