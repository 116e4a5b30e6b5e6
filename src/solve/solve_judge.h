/* What the files of the judge share: the velocities of contact problems, in two arithmetics. */
#ifndef RIGOR_SOLVE_JUDGE_H
#define RIGOR_SOLVE_JUDGE_H

#include "base/base_thread.h"
#include "rigor/complementarity.h"

/* What the judge needs of the masses, once per block. */
typedef struct rg_judge_mass {
    double lower[36];   /* Cholesky factor, as of rg_mass_factor */
    double inverse[36]; /* for the diagonal blocks of W and for bounds: scales, not velocities */
    double least;       /* what the eigenvalues of the inverse are at least */
    bool split;         /* rg_mass_is_split */
} rg_judge_mass;

typedef struct rg_judge_side {
    double *velocity; /* rows */
    double *trace;    /* contacts, then joints: mean diagonal entry of W's block */
    double *bound;    /* the same: what rounding may have done to the natural residual, in the unit
                         of u; of plain arithmetic only */
    rg_pool *pool;    /* null: one thread */
} rg_judge_side;

/* Blocks, and contacts and joints, that one chunk of a parallel loop takes: some 20 microseconds.
 */
enum { RG_JUDGE_BLOCKS_PER_CHUNK = 128, RG_JUDGE_ROWS_PER_CHUNK = 256 };

/* The Jacobian of a row at one of its two blocks; *block may be RG_NO_BLOCK. */
const double *rg_judge_row(const rg_contact_problem *p, size_t row, int side, uint32_t *block);

/* Global form: velocities in plain doubles, with their bounds, the largest of which is returned.
 * `work`: rg_judge_plain_size numbers. */
size_t rg_judge_plain_size(const rg_contact_problem *p);
double rg_judge_plain(const rg_contact_problem *p, const double *force, const rg_judge_mass *masses,
                      double *work, const rg_judge_side *side);

#endif
