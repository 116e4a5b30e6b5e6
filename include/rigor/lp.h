/* Linear programming on contact problems (library rigor-lp, which needs Clp): the solver `lp`,
 * the heuristic of Baraff 1989; how much each force is determined; whether there are forces at
 * all; what is best where joints contradict each other.
 *
 * Convention as everywhere: a = A f + b (Baraff 1989 has A f - b). Every function takes memory
 * from the context and from Clp, which allocates by itself; nothing is kept between calls. */
#ifndef RIGOR_LP_H
#define RIGOR_LP_H

#include "rigor/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the heuristic of 1989 -------------------------------------------------------------------- */

/* `lp`: for unilateral and free rows. Right answers are proved right (they pass a test by linear
 * programming); where the prediction fails the answer is the minimum-sum force, which adds
 * energy, and the outcome is RG_SOLVE_INEXACT. Warm starts are ignored. */
const rg_solver *rg_solver_lp(void);

/* Which guess of the set V of vanishing contacts (a > 0) led to the answer. */
typedef enum rg_lp_stage {
    RG_LP_EMPTY,     /* V = {}: no contact breaks (6.2) */
    RG_LP_PREDICTED, /* V from the residual of the minimum-sum forces (6.3, 6.4) */
    RG_LP_FALLBACK,  /* neither: the minimum-sum forces themselves (6.5) */
    RG_LP_NONE       /* no forces at all: not even a >= 0, f >= 0 can be met */
} rg_lp_stage;
const char *rg_lp_stage_name(rg_lp_stage stage); /* "empty", "predicted", "fallback", "none" */

/* What the heuristic saw and what it took. The arrays are the caller's, a number per row, each may
 * be null. The minimum-sum program is solved only if V = {} was wrong: before that its arrays are
 * 0. */
typedef struct rg_lp_details {
    double *guess;       /* A f = -b whatever the signs (least squares if there is no such f) */
    double *approximate; /* f_a: least sum of contact forces with a >= 0, f >= 0 (22), (23) */
    double *residual;    /* r = A f_a + b (21) */
    uint8_t *vanishing;  /* 1 in the predicted V: r > 0 */
    rg_lp_stage stage;
    uint32_t programs; /* linear programs solved */
    uint64_t pivots;   /* in all of them */
    size_t nonzeros;   /* of the matrix */
    double operations; /* multiplications and additions besides Clp's: factors of the polishing */
    double work; /* f.a of the answer: what it adds to the energy per unit of time; 0 if right */
    double violation;       /* sum of |a| in joint rows that contradict each other; otherwise 0 */
    rg_solve_report report; /* how it ended; not judged */
} rg_lp_details;

/* The same on a linear problem with unilateral and free rows (or bounded ones that are such: [0,
 * inf], [-inf, inf]), telling the details; or on contacts of dimension 1 in local form with free
 * joints, whose matrix may be given in compressed rows: large sparse problems then take time in
 * proportion to their non-zeros. Friction and other bounds: RG_SOLVE_UNSUITABLE in the report. */
rg_status rg_lp_heuristic(rg_solve_context *context, const rg_problem *problem,
                          rg_solution *solution, rg_lp_details *details, rg_error *error);

/* Forces if the vanishing contacts are given (6.1): f = 0 and a >= 0 where `vanishing` is 1, a =
 * 0 and f >= 0 elsewhere (18). `right` says whether there are such forces; they are a correct
 * answer then. Linear problems as above. */
rg_status rg_lp_given(rg_solve_context *context, const rg_problem *problem,
                      const uint8_t *vanishing, rg_solution *solution, bool *right,
                      rg_error *error);

/* --- are there forces at all? ----------------------------------------------------------------- */

/* Are there forces with f >= 0 and a >= 0 in unilateral rows, a = 0 in free ones (Baraff 1989,
 * 12)? For symmetric positive semidefinite A that is the same as: does the contact problem have
 * a solution? Without friction and prescribed motion there is one; two walls that close
 * on a body leave none.
 *
 * If not, `certificate` (rows, may be null) holds the proof, a vector y with y >= 0 in
 * unilateral rows, (A'y) <= 0 in their columns, A'y = 0 in free columns, and b.y < 0: then y.a =
 * (A'y).f + b.y < 0 for all f allowed, while a >= 0 would need y.a >= 0. In words: pushes y that
 * move nothing, against which the prescribed motion closes. `force` (rows, may be null) holds
 * such forces otherwise. For linear problems as above, and contact problems without friction. */
typedef struct rg_feasibility {
    bool feasible;
    double margin; /* -b.y / max |y_i b_i|: 0 if feasible, up to the number of rows if not */
} rg_feasibility;
rg_status rg_lp_feasible(rg_solve_context *context, const rg_problem *problem, double *force,
                         double *certificate, rg_feasibility *feasibility, rg_error *error);

/* --- how far are the forces determined? ------------------------------------------------------- */

typedef struct rg_force_range {
    double least, most; /* infinite where nothing holds the force, as in a body that is wedged in */
} rg_force_range;

/* For every row the least and the most force over all solutions with the same motion as the
 * given one (same A f): for linear problems with any rows, and contact problems without friction
 * or in the plane. Refused with RG_INVALID_ARGUMENT if the given forces are no solution
 * (RG_RANGES_RESIDUAL). */
#define RG_RANGES_RESIDUAL 1e-6
rg_status rg_force_ranges(rg_solve_context *context, const rg_problem *problem, const double *force,
                          rg_force_range *ranges, rg_error *error);

/* --- joints that contradict each other -------------------------------------------------------- */

/* The smallest violation a = A f + b of the free rows, over their forces. Contacts have no say
 * in it: for symmetric positive semidefinite A their forces add to the free rows only what
 * forces there can take back. With `violation` (rows; 0 outside free rows) subtracted from b the
 * free rows agree, and any solver takes the problem. `force` (rows, may be null): forces that
 * reach it with the contacts' forces at 0. `size`: the norm of the violation; 0 if the rows
 * agree. Linear problems as above. */
rg_status rg_joint_relax(rg_solve_context *context, const rg_problem *problem, rg_joint_norm norm,
                         double *force, double *violation, double *size, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
