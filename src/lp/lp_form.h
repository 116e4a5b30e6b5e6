/* A linear problem as the linear programs want it: two kinds of rows, and numbers near 1. */
#ifndef RIGOR_LP_LP_FORM_H
#define RIGOR_LP_LP_FORM_H

#include "lp/lp_clp.h"
#include "lp/lp_dense.h"
#include "solve/solve.h"

/* With D = diag(1 / sqrt(A_ii)) and one unit of velocity: f_i = unit D_i g_i, a_i = unit alpha_i
 * / D_i, alpha = matrix g + b. Everything that is compared with a tolerance is compared here, so
 * that results do not depend on units; min-sum and norms are weighted back to the units of the
 * problem. */
typedef struct rg_lp_form {
    size_t size, free_count;
    double unit;
    double *scale;      /* D */
    rg_matrix matrix;   /* D A D, its non-zeros in compressed rows */
    double *b;          /* D b / unit */
    uint8_t *free_rows; /* 1: a = 0, f of any sign */
    uint32_t iteration_limit;
    /* Account of the linear programs. */
    uint32_t programs;
    uint64_t pivots;
    double operations; /* of polishing */
} rg_lp_form;

/* Of alpha and g, whose largest entries are about 1: what counts as 0. Above Clp's own tolerance
 * times what a basis may enlarge it by; below any residual that means something. */
#define RG_LP_ZERO 1e-8
/* Of the columns of D A D, whose diagonal is 1: a rest below this is rounding, and the column
 * depends on those before. A is a product J M^-1 J', so this is 1e-5 of the independence of
 * constraint directions. */
#define RG_LP_RANK 1e-10

/* False, with the reason in `text`, if the problem has other rows than unilateral and free ones. */
bool rg_lp_form_fits(const rg_linear_problem *problem, char *text, size_t text_size);
/* `compressed`: the matrix, where the problem has none; otherwise null. */
rg_status rg_lp_form_make(rg_solve_context *context, const rg_linear_problem *problem,
                          const rg_matrix *compressed, rg_lp_form *form, rg_error *error);
/* A row of the matrix as it is given: how many entries, and where. `columns` gets null if all of
 * them are there. */
size_t rg_lp_row(const rg_linear_problem *problem, const rg_matrix *compressed, size_t row,
                 const uint32_t **columns, const double **values);
/* Contacts of dimension 1 in local form as a linear problem; its matrix is dense, or is the
 * problem's own compressed rows. */
rg_status rg_lp_of_contacts(rg_solve_context *context, const rg_contact_problem *contacts,
                            rg_linear_problem *made, const rg_matrix **compressed, rg_error *error);
/* alpha = matrix g + b. */
void rg_lp_form_apply(const rg_lp_form *form, const double *g, double *alpha);
static inline double rg_lp_force(const rg_lp_form *form, size_t row, double g) {
    return form->unit * form->scale[row] * g;
}
static inline double rg_lp_velocity(const rg_lp_form *form, size_t row, double alpha) {
    return form->unit / form->scale[row] * alpha;
}
/* Runs a program and keeps account. */
rg_status rg_lp_form_solve(rg_solve_context *context, rg_lp_form *form, rg_program *program,
                           rg_program_result *result, rg_error *error);

/* Entry (row, column) of the matrix, 0 where none is stored. */
double rg_lp_form_entry(const rg_lp_form *form, size_t row, size_t column);
/* The rows of the matrix become its columns. Arrays from the context. */
rg_status rg_lp_form_transpose(rg_solve_context *context, const rg_lp_form *form, rg_matrix *made,
                               rg_error *error);

/* A sound linear problem with unilateral and free rows only, or why not. */
rg_status rg_lp_check(const rg_problem *problem, rg_error *error);
/* A sound problem that is linear, or of contacts that become linear rows (without friction, or in
 * the plane), or why not. */
rg_status rg_lp_check_convertible(const rg_problem *problem, rg_error *error);

/* Memory of a public call that is not a solver's: given back at its end. */
rg_arena_mark rg_lp_enter(rg_solve_context *context);
void rg_lp_leave(rg_solve_context *context, rg_arena_mark mark);

#endif
