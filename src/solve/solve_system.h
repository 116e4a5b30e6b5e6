/* A contact problem made ready for the cone solvers (newton, interior-point, admm, gauss-seidel):
 * one interface over the local and the global form.
 *
 * Velocities without forces, diagonal blocks and step lengths rho, products u = W r + q, and the
 * linear systems that all the Newton-like methods need:
 *
 *     M dv - J' dr = -E1                       (global form only; local: dv is absent)
 *     A_i dr_i + B_i (J dv)_i = -E2_i          per contact block and joint row
 *
 * Global: dr is eliminated and (M + J' A^-1 B J) factored, block-sparse over the bodies; A_i must
 * be regular. Local: (A + B W) is factored, block-sparse over the contacts or dense. */
#ifndef RIGOR_SOLVE_SYSTEM_H
#define RIGOR_SOLVE_SYSTEM_H

#include "base/base_sparse.h"
#include "solve/solve.h"

/* Velocity blocks, and contacts and joints, that one chunk of a parallel loop takes: some 10
 * microseconds. */
enum { RG_SYSTEM_BLOCKS_PER_CHUNK = 32, RG_SYSTEM_ROWS_PER_CHUNK = 128 };

typedef struct rg_system {
    const rg_contact_problem *problem;
    size_t contacts, joints, rows, velocities; /* velocities: blocks x freedom, 0 in local form */
    int dimension;
    double *mu;       /* contacts; zeros without friction */
    double *diagonal; /* contacts x d x d, then joints: W_ii */
    double *rho;      /* contacts, then joints: d / trace W_ii, 1 / W_jj; 1 where that is not > 0 */
    double *free;     /* rows: u at r = 0 */
    double scale;     /* of the problem, in the unit of u */
    rg_pool *pool;    /* of the context */
    double *lanes;    /* work of rg_system_impulses; null: there are few contacts */
    /* The rest belongs to solve_system*.c. */
    struct rg_system_factor *factor;
} rg_system;

/* Memory comes from the context; some of it (the pattern's analysis) only at the first
 * factorisation, so that solvers which never factor do not pay: a mark of the arena taken in
 * between would lose it. */
rg_status rg_system_prepare(rg_system *system, rg_solve_context *context, const rg_problem *problem,
                            rg_error *error);
/* u = W r + q. `v` (velocities long; may be null in local form): v = v_free + M^-1 J' r. */
void rg_system_velocity(const rg_system *system, const double *r, double *v, double *u);
/* Global form: out = J v (without q); out = J' r; out = M v; out = M^-1 x. */
void rg_system_j(const rg_system *system, const double *v, double *out);
void rg_system_jt(const rg_system *system, const double *r, double *out);
/* out = J' r over `count` contacts and joints: those in the list; null: the first ones, but for
 * those whose r is 0. Sums over many are taken in several parts. */
void rg_system_impulses(const rg_system *system, const double *r, const uint32_t *list,
                        size_t count, double *out);
void rg_system_mass(const rg_system *system, const double *v, double *out);
void rg_system_mass_inverse(const rg_system *system, const double *x, double *out);
/* Local form: out = W r. */
void rg_system_w(const rg_system *system, const double *r, double *out);
/* out = J v in global form, W r in local form. */
static inline void rg_system_rates(const rg_system *system, const double *v, const double *r,
                                   double *out) {
    if (system->problem->form == RG_FORM_GLOBAL)
        rg_system_j(system, v, out);
    else
        rg_system_w(system, r, out);
}
/* a, b: contacts x d x d (row-major), then joints x 1; copied. `symmetric`: A^-1 B is symmetric
 * positive semidefinite in every block (global form then uses a symmetric factor). RG_SINGULAR if
 * it breaks down. The pattern is analysed once per prepare. */
rg_status rg_system_factor(rg_system *system, const double *a, const double *b, bool symmetric);
/* e1 may be null (zero). dv may be null in local form. */
void rg_system_solve(rg_system *system, const double *e1, const double *e2, double *dv, double *dr);
/* One step of iterative refinement of what rg_system_solve gave for the same e1 and e2. */
void rg_system_refine(rg_system *system, const double *e1, const double *e2, double *dv,
                      double *dr);
/* Global form: J dv (rows) of the last solve, with its refinements. */
const double *rg_system_solved_rates(const rg_system *system);

#endif
