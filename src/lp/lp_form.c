/* Scaling of linear problems for linear programming, and polishing of its answers.
 * Tested by tests/lp/test_clp.c and tests/lp/test_feasible.c. */
#include "lp/lp_form.h"

#include "base/base_math.h"

#include <assert.h>
#include <stdio.h>

/* A round of iterative refinement gains what the condition leaves of 16 digits; the second is
 * for the ill-conditioned. */
enum { POLISH_ROUNDS = 2 };

/* Bounded rows may be unilateral or free in disguise. */
static bool effective_kind(const rg_linear_problem *problem, size_t row, rg_row_kind *kind) {
    *kind = rg_row_kind_at(problem, row);
    if (*kind == RG_ROW_BOUNDED && problem->upper[row] == INFINITY) {
        if (problem->lower[row] == 0)
            *kind = RG_ROW_UNILATERAL;
        else if (problem->lower[row] == -INFINITY)
            *kind = RG_ROW_FREE;
    }
    return *kind == RG_ROW_UNILATERAL || *kind == RG_ROW_FREE;
}

bool rg_lp_form_fits(const rg_linear_problem *problem, char *text, size_t text_size) {
    for (size_t i = 0; i < problem->size; i++) {
        rg_row_kind kind;
        if (!effective_kind(problem, i, &kind)) {
            snprintf(text, text_size,
                     "row %zu is %s; linear programs here take unilateral and free rows", i,
                     kind == RG_ROW_BOUNDED ? "bounded" : "friction");
            return false;
        }
    }
    return true;
}

/* 1 / sqrt(A_ii); where the diagonal is not positive the largest entry of the row stands in. */
static double scale_of(const rg_linear_problem *problem, size_t row) {
    const double *entries = rg_linear_row(problem, row);
    double size = entries[row];
    if (!(size > 0)) {
        size = 0;
        for (size_t j = 0; j < problem->size; j++)
            size = fmax(size, fabs(entries[j]));
    }
    return size > 0 ? 1 / sqrt(size) : 1;
}

rg_status rg_lp_form_make(rg_solve_context *context, const rg_linear_problem *problem,
                          rg_lp_form *form, rg_error *error) {
    size_t n = problem->size;
    *form = (rg_lp_form){.size = n};
    RG_TAKE(form->scale, context, n, error);
    RG_TAKE(form->matrix, context, n * n, error);
    RG_TAKE(form->b, context, n, error);
    RG_TAKE(form->free_rows, context, n, error);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        form->scale[i] = scale_of(problem, i);
        largest = fmax(largest, fabs(form->scale[i] * problem->b[i]));
    }
    form->unit = largest > 0 ? largest : 1;
    for (size_t i = 0; i < n; i++) {
        const double *row = rg_linear_row(problem, i);
        for (size_t j = 0; j < n; j++)
            form->matrix[i * n + j] = form->scale[i] * row[j] * form->scale[j];
        form->b[i] = form->scale[i] * problem->b[i] / form->unit;
        rg_row_kind kind;
        bool fits = effective_kind(problem, i, &kind);
        assert(fits && "rg_lp_form_fits comes first");
        (void)fits;
        form->free_rows[i] = kind == RG_ROW_FREE;
        form->free_count += form->free_rows[i];
    }
    return RG_OK;
}

void rg_lp_form_apply(const rg_lp_form *form, const double *g, double *alpha) {
    size_t n = form->size;
    for (size_t i = 0; i < n; i++) {
        double sum = form->b[i];
        for (size_t j = 0; j < n; j++)
            sum += form->matrix[i * n + j] * g[j];
        alpha[i] = sum;
    }
}

rg_status rg_lp_form_solve(rg_solve_context *context, rg_lp_form *form, rg_program *program,
                           rg_program_result *result, rg_error *error) {
    program->iteration_limit = form->iteration_limit;
    rg_status status = rg_program_solve(context, program, result, error);
    form->programs++;
    form->pivots += result->iterations;
    return status;
}

static size_t list_marked(const uint8_t *marks, size_t size, size_t *list) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        if (marks[i])
            list[count++] = i;
    return count;
}

static rg_status polish(rg_solve_context *context, const rg_lp_form *form, const uint8_t *rows,
                        const uint8_t *columns, double *g, rg_error *error) {
    size_t n = form->size, *row_list, *column_list;
    double *matrix, *alpha, *rhs, *step;
    RG_TAKE(row_list, context, n, error);
    RG_TAKE(column_list, context, n, error);
    size_t m = list_marked(rows, n, row_list), k = list_marked(columns, n, column_list);
    if (!m || !k)
        return RG_OK;
    RG_TAKE(matrix, context, m * k, error);
    RG_TAKE(alpha, context, n, error);
    RG_TAKE(rhs, context, m, error);
    RG_TAKE(step, context, k, error);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < m; i++)
            matrix[j * m + i] = form->matrix[row_list[i] * n + column_list[j]];
    rg_qr qr;
    rg_status status = rg_qr_make(context, m, k, matrix, RG_LP_RANK, &qr, error);
    if (status)
        return status;
    for (int round = 0; round < POLISH_ROUNDS; round++) {
        rg_lp_form_apply(form, g, alpha);
        for (size_t i = 0; i < m; i++)
            rhs[i] = -alpha[row_list[i]];
        rg_qr_solve(&qr, rhs, step);
        for (size_t j = 0; j < k; j++)
            g[column_list[j]] += step[j];
    }
    return RG_OK;
}

rg_status rg_lp_form_polish(rg_solve_context *context, const rg_lp_form *form, const uint8_t *rows,
                            const uint8_t *columns, double *g, rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    rg_status status = polish(context, form, rows, columns, g, error);
    rg_arena_return(&context->arena, mark);
    return status;
}

rg_status rg_lp_check(const rg_problem *problem, rg_error *error) {
    char text[RG_SOLVE_TEXT_SIZE];
    rg_status status = rg_problem_check(problem, error);
    if (status)
        return status;
    if (problem->kind != RG_PROBLEM_LINEAR)
        return rg_fail(error, RG_UNSUPPORTED, "this takes linear problems; rg_solve takes others");
    if (!rg_lp_form_fits(&problem->linear, text, sizeof text))
        return rg_fail(error, RG_UNSUPPORTED, "%s", text);
    return RG_OK;
}

bool rg_lp_convertible(const rg_problem *problem) {
    const rg_contact_problem *contact = &problem->contact;
    if (problem->kind == RG_PROBLEM_LINEAR || contact->dimension < 3 || !contact->mu)
        return true;
    for (size_t i = 0; i < contact->contacts; i++)
        if (contact->mu[i] > 0)
            return false;
    return true;
}

rg_arena_mark rg_lp_enter(rg_solve_context *context) {
    return rg_arena_get_mark(&context->arena);
}

void rg_lp_leave(rg_solve_context *context, rg_arena_mark mark) {
    if (context->depth == 0)
        rg_arena_reset(&context->arena);
    else
        rg_arena_return(&context->arena, mark);
}
