/* What the files of the judge share: the velocities of contact problems, in two arithmetics. */
#ifndef RIGOR_SOLVE_JUDGE_H
#define RIGOR_SOLVE_JUDGE_H

#include "base/base_thread.h"
#include "rigor/complementarity.h"
#include "rigor/solver.h"

#include <math.h>

/* What the judge needs of the masses, once per block. */
typedef struct rg_judge_mass {
    double lower[36];   /* Cholesky factor, as of rg_mass_factor */
    double inverse[36]; /* for the diagonal blocks of W and for bounds: scales, not velocities */
    double least;       /* what the eigenvalues of the inverse are at least */
    bool split;         /* rg_mass_is_split */
} rg_judge_mass;

void rg_judge_invert_mass(const double *mass, int freedom, rg_judge_mass *block);

typedef struct rg_judge_side {
    double *velocity; /* rows */
    double *trace;    /* contacts, then joints: mean diagonal entry of W's block */
    double *bound;    /* of joints: what rounding may have done to the natural residual, in the unit
                         of u; of plain arithmetic only */
    rg_pool *pool;    /* null: one thread */
} rg_judge_side;

/* Blocks, and contacts and joints, that one chunk of a parallel loop takes: some 20 microseconds.
 * Verdicts on many contacts are found in so many lanes, whatever the number of threads. */
enum { RG_JUDGE_BLOCKS_PER_CHUNK = 128, RG_JUDGE_ROWS_PER_CHUNK = 256, RG_JUDGE_VERDICTS = 16 };

/* The worst of what was found so far, in the unit of a. */
typedef struct rg_verdict {
    rg_residual residual;
    double bound;  /* the largest of the bounds of rounding */
    bool rounding; /* no natural residual is larger than what rounding may be */
} rg_verdict;

/* The larger one; NaN and infinity win. */
static inline void rg_raise_to(double *figure, double value) {
    if (!(value <= *figure))
        *figure = isfinite(value) ? value : INFINITY;
}

/* A natural residual and what rounding may have done to it. */
static inline void rg_verdict_natural(rg_verdict *v, size_t where, double natural, double bound) {
    double before = v->residual.natural;
    rg_raise_to(&v->residual.natural, natural);
    v->rounding = v->rounding && natural <= bound;
    if (v->residual.natural > before)
        v->residual.worst = where;
    v->bound = bound <= v->bound ? v->bound : bound; /* NaN wins */
}

/* How good the force of a contact or a joint is. `trace`: of its block of W, mean diagonal entry;
 * `bound` as above. */
void rg_verdict_contact(const rg_contact_problem *p, size_t i, const double *force,
                        const double *velocity, double trace, double bound, rg_verdict *v);
void rg_verdict_joint(const rg_contact_problem *p, size_t j, const double *force, double velocity,
                      double trace, double bound, rg_verdict *v);
/* As if noted one after the other. */
void rg_verdict_join(rg_verdict *v, const rg_verdict *more);

/* The Jacobian of a row at one of its two blocks; *block may be RG_NO_BLOCK. */
const double *rg_judge_row(const rg_contact_problem *p, size_t row, int side, uint32_t *block);

/* The same arithmetic with the vectors that every processor has, and with those of this one: the
 * bits are the same. */
typedef struct rg_judge_vectors rg_judge_vectors;
const rg_judge_vectors *rg_judge_vectors_plain(void);
const rg_judge_vectors *rg_judge_vectors_best(void);

/* Global form: the verdict by plain doubles, with bounds of what rounding did. `masses`: room for
 * those of all blocks; `work`: for rg_judge_plain_size bytes. Of `side` only the bounds are
 * written. */
size_t rg_judge_plain_size(const rg_contact_problem *p);
void rg_judge_plain(const rg_contact_problem *p, const double *force, rg_judge_mass *masses,
                    void *work, const rg_judge_side *side, const rg_judge_vectors *vectors,
                    rg_verdict *v);

/* One contact under the exact cone, from its velocity: the figures relative to the scale, with
 * `bound`, what rounding may have done to the natural one, added to that. `trace`: as above.
 * *rounding: it may be nothing else. */
rg_residual rg_judge_contact(double mu, double trace, const double force[3], const double u[3],
                             double bound, double scale, bool *rounding);

#endif
