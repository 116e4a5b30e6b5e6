/* Solvers of contact problems (rigor/complementarity.h), the driver that runs them, and the judge
 * that says how good an answer is. Settings, solution and info are three structs, the same for
 * every solver; a solver is a value, chosen by name.
 *
 *     rg_solve_context *context;
 *     rg_solve_context_create(NULL, &context);
 *     rg_problem problem = rg_problem_linear(n, A, b);
 *     double f[n], a[n];
 *     rg_solution solution = {.force = f, .velocity = a};
 *     rg_solve_info info;
 *     rg_solve(context, rg_solver_find("auto"), &problem, NULL, &solution, &info, NULL);
 *
 * The status that a call returns is about input and resources. How the solve ended is in the info:
 * the driver recomputes every residual with the judge and lets no solver mark its own work. */
#ifndef RIGOR_SOLVER_H
#define RIGOR_SOLVER_H

#include "rigor/complementarity.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the judge -------------------------------------------------------------------------------- */

/* All figures are the largest over the rows, in the unit of a and relative to the problem's scale.
 * Forces are brought to that unit by the diagonal: of the row (linear; the largest entry of the
 * column where the diagonal is not positive), or a third (1/d) of the block's trace (contact). */
typedef struct rg_residual {
    double natural; /* |f - P(f - rho a)| / rho, P the projection on the row's or contact's set of
                               forces: the figure that tolerances are about */
    double feasibility;     /* a < 0 where it must not be, a != 0 in free rows */
    double force;           /* force outside its cone, bounds or sign */
    double complementarity; /* min(f, a) where both are positive; |r.(u + mu |u_T| n)| scaled */
    double dissipation;     /* friction that drives instead of braking: max(0, r_T.u_T) scaled */
    size_t worst;           /* row, or contact, of `natural`; joints follow the contacts */
} rg_residual;

/* Residuals of any forces as an answer to any problem. `velocity` may be null: it is recomputed
 * from the forces (long accumulations); otherwise it is what is judged. NaN in the forces gives
 * infinities. */
rg_status rg_judge(const rg_problem *problem, const double *force, const double *velocity,
                   const rg_allocator *allocator, rg_residual *residual, rg_error *error);

/* --- solving ---------------------------------------------------------------------------------- */

typedef struct rg_solver rg_solver;
typedef struct rg_solve_context rg_solve_context;

typedef enum rg_solve_outcome {
    RG_SOLVED,        /* judged within the tolerance */
    RG_SOLVE_INEXACT, /* the solver was content; the judge was not */
    RG_SOLVE_LIMIT,   /* iterations or pivots ran out */
    RG_SOLVE_STALLED, /* no further progress: cycling, steps that shrink to nothing */
    RG_SOLVE_RAY, /* a ray: no solution along the path; `ray` is the proof or the direction of an
                              impulse */
    RG_SOLVE_INFEASIBLE,    /* proved: no forces meet the conditions (certificate in `ray`) */
    RG_SOLVE_SINGULAR,      /* a factorisation broke down */
    RG_SOLVE_NOT_SYMMETRIC, /* the solver needs a symmetric matrix */
    RG_SOLVE_INDEFINITE,    /* the solver needs a positive semidefinite matrix */
    RG_SOLVE_UNSUITABLE,    /* the solver does not take this kind of problem (or size), or the call
                               failed before any was tried */
    RG_SOLVE_OUTCOMES
} rg_solve_outcome;
const char *rg_solve_outcome_name(rg_solve_outcome outcome); /* "solved", "inexact", "limit", ... */

/* Which solution where friction leaves several (Painleve's indeterminacy). */
typedef enum rg_solution_policy {
    RG_POLICY_SMALLEST_FORCE, /* the smallest sum of normal forces: contact breaks where it can */
    RG_POLICY_LARGEST_FORCE   /* the largest: contact is kept where it can be */
} rg_solution_policy;
const char *rg_solution_policy_name(rg_solution_policy policy); /* "smallest", "largest" */

typedef enum rg_friction_law {
    RG_FRICTION_COULOMB,
    /* Loetstedt's modification: the friction bound is mu times a normal force that is given
     * beforehand (settings.reference_normal, or that of the frictionless solution): convex, and
     * never inconsistent. */
    RG_FRICTION_LOTSTEDT
} rg_friction_law;

typedef struct rg_solve_settings {
    double tolerance;  /* of the judge's natural residual; default 1e-10 */
    double acceptable; /* auto: what ends the list once the quick attempts are over, where the
                                 tolerance is more than is needed; 0: the tolerance */
    double keep; /* auto, with `acceptable`: residual up to which the forces of a warm start are the
                    answer as they are; 0: if they are exact up to rounding */
    uint32_t iteration_limit; /* sweeps, pivots, Newton steps; 0: the solver's own */
    uint32_t effort;          /* auto, interior-point: factorisations of a problem (island) after
                                 which it ends; newton is not tried then; 0: no limit */
    bool warm;                /* start from the forces in the solution */
    rg_solution_policy policy;
    rg_friction_law friction_law;
    const double *reference_normal; /* Loetstedt: per contact, or per normal row */
} rg_solve_settings;
rg_solve_settings rg_solve_settings_default(void);

/* Arrays of the caller, rg_problem_rows long. */
typedef struct rg_solution {
    double *force;    /* in (warm start) and out; the best iterate if not solved */
    double *velocity; /* out: a = A f + b of those forces; may be null */
    double *ray;      /* out, if the outcome is RAY or INFEASIBLE; may be null */
} rg_solution;

enum { RG_SOLVE_CHAIN_MAX = 8, RG_SOLVE_TEXT_SIZE = 256 };

/* One solver that was tried. */
typedef struct rg_solve_attempt {
    const rg_solver *solver;
    rg_solve_outcome outcome;
    uint64_t iterations;
    double residual; /* natural, by the judge */
    double seconds;
} rg_solve_attempt;

typedef struct rg_solve_info {
    rg_solve_outcome outcome;
    const rg_solver *solver; /* whose answer it is */
    uint64_t iterations;     /* pivots, sweeps, Newton steps; over all attempts */
    uint64_t factorisations;
    rg_residual residual; /* by the judge; NaN: nothing was judged */
    double seconds;       /* that went by, the judge excluded */
    uint32_t attempts;    /* tried, quick ones (warm start, a few sweeps) included */
    uint32_t fallbacks;   /* solvers that ran to their limit and failed */
    rg_solve_attempt chain[RG_SOLVE_CHAIN_MAX];
    char text[RG_SOLVE_TEXT_SIZE]; /* why it ended so, in words; empty if solved plainly */
} rg_solve_info;

/* Memory that solvers reuse: a context that has seen problems of a size makes no heap call on the
 * next. One thread at a time. */
rg_status rg_solve_context_create(const rg_allocator *allocator, rg_solve_context **context);
void rg_solve_context_destroy(rg_solve_context *context); /* null is allowed */

/* Checks the problem, solves, judges. Problems that a solver does not take directly are brought
 * into its form where that changes nothing (frictionless contacts into rows, planar friction into
 * static rows, the polygon into a mixed LCP, global into local form). `settings` null: the default
 * ones. */
rg_status rg_solve(rg_solve_context *context, const rg_solver *solver, const rg_problem *problem,
                   const rg_solve_settings *settings, rg_solution *solution, rg_solve_info *info,
                   rg_error *error);

/* All solvers of the core, in the order auto, dantzig, lemke, qp, gauss-seidel, newton,
 * interior-point, admm, enumerate; and one by name (null if there is none). `lp` is in rigor-lp
 * (rigor/lp.h). */
size_t rg_solver_count(void);
const rg_solver *rg_solver_at(size_t index);
const rg_solver *rg_solver_find(const char *name);
const char *rg_solver_name(const rg_solver *solver);
const char *rg_solver_summary(const rg_solver *solver); /* one line */

/* --- what an answer means --------------------------------------------------------------------- */

/* Are the forces determined? The rows that carry force (or may) are those with a = 0; the rank of
 * their matrix decides. With friction the motion is compared over all solutions if every mode can
 * be tried, otherwise over those that stick and slide as these forces do. */
typedef struct rg_uniqueness {
    size_t active_rows;   /* rows that may carry force */
    size_t rank;          /* of the matrix over them */
    bool unique;          /* rank = active_rows: these forces are the only ones */
    bool motion_unique;   /* A f is the same for all solutions (so without friction) */
    size_t indeterminate; /* rows whose force could be another */
} rg_uniqueness;
/* `indeterminate` (rg_problem_rows bytes, may be null): 1 where the force is not determined. */
rg_status rg_solution_uniqueness(rg_solve_context *context, const rg_problem *problem,
                                 const double *force, rg_uniqueness *uniqueness,
                                 uint8_t *indeterminate, rg_error *error);

/* All solutions with a regular basis of a small problem, by trying every mode: row by row open or
 * closed; friction stick, slip along or against. Rows with friction: up to 6 contacts; without: 16
 * rows. Where solutions form a continuum, its corners are found. */
typedef struct rg_solution_set {
    size_t count;   /* found, distinct to RG_SOLUTION_DISTINCT; may exceed the capacity */
    size_t modes;   /* tried */
    bool continuum; /* a singular mode with a solution: the list is not all */
} rg_solution_set;
#define RG_SOLUTION_DISTINCT 1e-9
rg_status rg_solve_all(rg_solve_context *context, const rg_problem *problem, double tolerance,
                       double *forces, size_t capacity, rg_solution_set *set, rg_error *error);

typedef enum rg_friction_verdict {
    RG_FRICTION_REGULAR,       /* one motion */
    RG_FRICTION_INCONSISTENT,  /* no forces at all: Painleve; an impulse is needed */
    RG_FRICTION_INDETERMINATE, /* several motions */
    RG_FRICTION_UNDECIDED      /* too large to try every mode */
} rg_friction_verdict;
typedef struct rg_friction_report {
    /* in: the caller's arrays; zero: none */
    double *forces; /* capacity x rows: as for rg_solve_all */
    size_t capacity;
    double *ray; /* rows: the direction of the impulse, if inconsistent */
    /* out: */
    rg_friction_verdict verdict;
    rg_solution_set set;
    size_t chosen;  /* index of the solution that the policy picks */
    char text[512]; /* in plain words, with the numbers */
} rg_friction_report;
/* Tries every mode and explains what it finds. */
rg_status rg_friction_explain(rg_solve_context *context, const rg_problem *problem,
                              const rg_solve_settings *settings, rg_friction_report *report,
                              rg_error *error);

/* --- extensions ------------------------------------------------------------------------------- */

/* Memory of the context that lasts until the solve returns: 64-byte aligned, not cleared, null if
 * there is none. */
void *rg_solve_take(rg_solve_context *context, size_t count, size_t size);

/* What a solver fills in. The driver sets the rest of the info. */
typedef struct rg_solve_report {
    rg_solve_outcome outcome; /* RG_SOLVED: content */
    uint64_t iterations, factorisations;
    char text[RG_SOLVE_TEXT_SIZE];
} rg_solve_report;

enum {
    RG_ACCEPT_LINEAR = 1,   /* linear problems: unilateral, free and bounded rows */
    RG_ACCEPT_FRICTION = 2, /* linear problems with static and dynamic rows */
    RG_ACCEPT_LOCAL = 4,    /* contact problems in local form */
    RG_ACCEPT_GLOBAL = 8,   /* contact problems in global form */
    RG_ACCEPT_POLYGON = 16, /* contact problems with the polygonal cone, as they are */
    RG_ACCEPT_SOFT = 32     /* global form with compliant joint rows; others get it condensed */
};

/* To add a solver, make one of these and pass it to rg_solve. `solve` may leave problems that it
 * turns out not to be able to solve with UNSUITABLE, NOT_SYMMETRIC or INDEFINITE. */
struct rg_solver {
    const char *name;
    const char *summary;
    unsigned accepts;
    rg_status (*solve)(rg_solve_context *context, const rg_problem *problem,
                       const rg_solve_settings *settings, rg_solution *solution,
                       rg_solve_report *report, rg_error *error);
};

#ifdef __cplusplus
}
#endif
#endif
