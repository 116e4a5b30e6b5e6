/* What the files of this stage share: the context, the list of solvers, conversions between forms.
 *
 * Memory: everything that a solve needs comes from the context's arena by rg_solve_take and is
 * given back by the driver; a solver that works in phases may use rg_arena_get_mark /
 * rg_arena_return on context->arena. */
#ifndef RIGOR_SOLVE_SOLVE_H
#define RIGOR_SOLVE_SOLVE_H

#include "base/base_arena.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "base/base_thread.h"
#include "rigor/solver.h"

#include <stdatomic.h>

/* A symmetric matrix by its entries that are not zero: those of row i are [starts[i],
 * starts[i + 1]), columns ascending. */
typedef struct rg_entries {
    const size_t *starts; /* null: they are not known */
    const uint32_t *columns;
    const double *values;
} rg_entries;

struct rg_solve_context {
    rg_allocator allocator;
    rg_arena arena;
    int depth;            /* of nested rg_solve calls: only the outermost resets the arena */
    rg_solve_info *info;  /* of the innermost rg_solve that runs: attempts are noted there */
    rg_pool *pool;        /* for the inside of one large problem; null: one thread */
    struct rg_tree *tree; /* the last factor of solve_tree.c; null: none yet */
    rg_arena tree_memory;
    struct rg_held *held;      /* the last factor of solve_held_factor.c; null: none yet */
    const rg_entries *entries; /* of the linear problem that is solved, if its matrix is null */
    bool starved; /* a factor found no memory: the attempt fails with that, not as stalled */
    const atomic_bool *stop; /* somebody asks to end; null: nobody can */
};

/* Whether to end. Loops of solvers that see it end as at their limit; the attempt then fails with
 * RG_INTERRUPTED, whatever they had. */
static inline bool rg_solve_stops(const rg_solve_context *context) {
    return context->stop && atomic_load_explicit(context->stop, memory_order_relaxed);
}

/* Runs one solver on the problem, conversion included, and lets the judge look at the answer. Notes
 * the attempt in context->info; if the answer is better than the best so far (by the natural
 * residual) it becomes the solution, and info->residual, solver, outcome and text follow. Starts
 * from the forces in the solution if settings->warm, from zero otherwise. `attempt` may be null. */
rg_status rg_solve_attempt_run(rg_solve_context *context, const rg_solver *solver,
                               const rg_problem *problem, const rg_solve_settings *settings,
                               rg_solution *solution, rg_solve_attempt *attempt, rg_error *error);

/* What an attempt came to that the solver itself calls `told`. */
rg_solve_outcome rg_solve_judged(rg_solve_outcome told, const rg_residual *residual, bool rounding,
                                 const rg_solve_settings *settings);

/* rg_solve of a contact problem that rg_island_problem made: its form needs no check, the numbers
 * that come from velocities do. */
rg_status rg_solve_made(rg_solve_context *context, const rg_solver *solver,
                        const rg_problem *problem, const rg_solve_settings *settings,
                        rg_solution *solution, rg_solve_info *info, rg_error *error);

/* One solver on a problem that is not cut up: a linear one, or contacts that are one island. Fills
 * context->info. `problem` was checked. */
rg_status rg_solve_connected(rg_solve_context *context, const rg_solver *solver,
                             const rg_problem *problem, const rg_solve_settings *settings,
                             rg_solution *solution, rg_error *error);
/* Of nothing that was judged: all figures NaN; and of nothing that was tried. */
rg_residual rg_residual_none(void);
rg_solve_info rg_solve_info_none(void);
/* An attempt in the list of attempts; what it cost is not added up. */
void rg_solve_note(rg_solve_info *info, const rg_solve_attempt *attempt);

extern const rg_solver rg_solver_auto;
extern const rg_solver rg_solver_dantzig;
extern const rg_solver rg_solver_lemke;
extern const rg_solver rg_solver_qp;
extern const rg_solver rg_solver_gauss_seidel;
extern const rg_solver rg_solver_newton;
extern const rg_solver rg_solver_interior_point;
extern const rg_solver rg_solver_admm;
extern const rg_solver rg_solver_enumerate;

/* A matrix counts as symmetric if |A_ij - A_ji| <= this times sqrt(|A_ii A_jj|) or, where a
 * diagonal entry vanishes, times the largest entry. */
#define RG_SYMMETRY_TOLERANCE 1e-9

/* Takes from the context or returns from the calling function with RG_OUT_OF_MEMORY. */
#define RG_TAKE(pointer, context, count, error)                                                    \
    do {                                                                                           \
        (pointer) = rg_solve_take((context), (count), sizeof *(pointer));                          \
        if (!(pointer))                                                                            \
            return rg_fail((error), RG_OUT_OF_MEMORY, "%s", rg_status_text(RG_OUT_OF_MEMORY));     \
    } while (0)

bool rg_linear_is_symmetric(const rg_linear_problem *problem);
static inline rg_row_kind rg_row_kind_at(const rg_linear_problem *problem, size_t row) {
    return problem->kinds ? (rg_row_kind)problem->kinds[row] : RG_ROW_UNILATERAL;
}
static inline const double *rg_linear_row(const rg_linear_problem *problem, size_t row) {
    return problem->matrix + row * (problem->stride ? problem->stride : problem->size);
}
/* a = A f + b. */
void rg_linear_apply(const rg_linear_problem *problem, const double *force, double *velocity);

/* For the judge: memory of the context's arena, given back with a mark of it. */
rg_allocator rg_solve_arena_allocator(rg_solve_context *context);
/* rg_judge of a problem that was checked, with the velocities that it computes (may be null). */
rg_status rg_judge_answer(const rg_problem *problem, const double *force, const double *velocity,
                          const rg_allocator *allocator, rg_residual *residual, double *recomputed,
                          rg_error *error);
/* The same for a caller to whom residuals below `enough` need not be known to the last digit: the
 * natural one may be an upper bound. *rounding: no contact's residual is larger than the bound of
 * the rounding of plain arithmetic there; such forces are exact as far as doubles can tell. Memory
 * of the context, given back with a mark of its arena, and its threads. */
rg_status rg_judge_forces(const rg_problem *problem, const double *force, double enough,
                          rg_solve_context *context, rg_residual *residual, bool *rounding,
                          rg_error *error);
/* a = A f + b, or u, as the judge computes it: in long arithmetic. */
rg_status rg_judge_velocity(const rg_problem *problem, const double *force,
                            const rg_allocator *allocator, double *velocity, rg_error *error);

/* A problem in another form, and the way back. Arrays live in the context. */
typedef enum rg_conversion_kind {
    RG_CONVERT_NONE,
    RG_CONVERT_CONDENSE, /* contact, global -> contact, local with dense W = J M^-1 J' */
    RG_CONVERT_ROWS,     /* contact without friction, or planar, -> linear (static rows) */
    RG_CONVERT_ENTRIES,  /* global, without friction and joints: the same by `entries` if few */
    RG_CONVERT_POLYGON   /* contact, polygon -> linear, mixed (Hart-Anitescu 4.11-4.12) */
} rg_conversion_kind;
typedef struct rg_conversion {
    rg_conversion_kind kind;
    rg_problem problem; /* the converted one */
    rg_entries entries; /* of its matrix, which is null then */
    const rg_problem *original;
} rg_conversion;
rg_status rg_convert(rg_solve_context *context, const rg_problem *problem, rg_conversion_kind kind,
                     rg_conversion *conversion, rg_error *error);
/* Forces (warm start) into the converted problem, and back. */
void rg_convert_force(const rg_conversion *conversion, const double *original, double *converted);
void rg_convert_back(const rg_conversion *conversion, const double *converted, double *original);

#endif
