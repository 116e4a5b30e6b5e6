/* Scaling of linear problems for linear programming.
 * Tested by tests/lp/test_clp.c and tests/lp/test_feasible.c. */
#include "lp/lp_form.h"

#include "base/base_math.h"

#include <assert.h>
#include <stdio.h>

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

size_t rg_lp_row(const rg_linear_problem *problem, const rg_matrix *compressed, size_t row,
                 const uint32_t **columns, const double **values) {
    *columns = compressed ? compressed->indices + compressed->starts[row] : NULL;
    *values =
        compressed ? compressed->values + compressed->starts[row] : rg_linear_row(problem, row);
    return compressed ? compressed->starts[row + 1] - compressed->starts[row] : problem->size;
}

rg_status rg_lp_of_contacts(rg_solve_context *context, const rg_contact_problem *contacts,
                            rg_linear_problem *made, const rg_matrix **compressed,
                            rg_error *error) {
    size_t n = contacts->contacts + contacts->joints;
    uint8_t *kinds;
    double *lower, *upper;
    RG_TAKE(kinds, context, n, error);
    RG_TAKE(lower, context, n, error);
    RG_TAKE(upper, context, n, error);
    for (size_t i = 0; i < n; i++) {
        size_t joint = i - contacts->contacts;
        bool contact = i < contacts->contacts;
        kinds[i] = contact ? RG_ROW_UNILATERAL : RG_ROW_BOUNDED;
        lower[i] = contact || !contacts->lower ? -INFINITY : contacts->lower[joint];
        upper[i] = contact || !contacts->upper ? INFINITY : contacts->upper[joint];
    }
    *made = (rg_linear_problem){.size = n,
                                .matrix = contacts->w.dense,
                                .b = contacts->q,
                                .kinds = kinds,
                                .lower = lower,
                                .upper = upper};
    *compressed = contacts->w.dense ? NULL : &contacts->w;
    return RG_OK;
}

/* 1 / sqrt(A_ii); where the diagonal is not positive the largest entry of the row stands in. */
static double scale_of(const rg_linear_problem *problem, const rg_matrix *compressed, size_t row) {
    const uint32_t *columns;
    const double *values;
    size_t count = rg_lp_row(problem, compressed, row, &columns, &values);
    double size = columns ? 0 : values[row], largest = 0;
    for (size_t k = 0; columns && k < count; k++)
        if (columns[k] == row)
            size = values[k];
    if (size > 0)
        return 1 / sqrt(size);
    for (size_t k = 0; k < count; k++)
        largest = fmax(largest, fabs(values[k]));
    return largest > 0 ? 1 / sqrt(largest) : 1;
}

/* D A D without its zeros. */
static rg_status make_matrix(rg_solve_context *context, const rg_linear_problem *problem,
                             const rg_matrix *compressed, rg_lp_form *form, rg_error *error) {
    size_t n = problem->size, count = 0, at = 0, *starts;
    uint32_t *indices;
    const uint32_t *columns;
    const double *row;
    double *values;
    for (size_t i = 0; i < n; i++) {
        size_t entries = rg_lp_row(problem, compressed, i, &columns, &row);
        for (size_t k = 0; k < entries; k++)
            count += row[k] != 0;
    }
    RG_TAKE(starts, context, n + 1, error);
    RG_TAKE(indices, context, count, error);
    RG_TAKE(values, context, count, error);
    for (size_t i = 0; i < n; i++) {
        size_t entries = rg_lp_row(problem, compressed, i, &columns, &row);
        starts[i] = at;
        for (size_t k = 0; k < entries; k++)
            if (row[k] != 0) {
                size_t j = columns ? columns[k] : k;
                indices[at] = (uint32_t)j;
                values[at++] = form->scale[i] * row[k] * form->scale[j];
            }
    }
    starts[n] = at;
    form->matrix = (rg_matrix){
        .rows = n, .columns = n, .starts = starts, .indices = indices, .values = values};
    return RG_OK;
}

rg_status rg_lp_form_make(rg_solve_context *context, const rg_linear_problem *problem,
                          const rg_matrix *compressed, rg_lp_form *form, rg_error *error) {
    size_t n = problem->size;
    *form = (rg_lp_form){.size = n};
    RG_TAKE(form->scale, context, n, error);
    RG_TAKE(form->b, context, n, error);
    RG_TAKE(form->free_rows, context, n, error);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        form->scale[i] = scale_of(problem, compressed, i);
        largest = fmax(largest, fabs(form->scale[i] * problem->b[i]));
    }
    form->unit = largest > 0 ? largest : 1;
    for (size_t i = 0; i < n; i++) {
        form->b[i] = form->scale[i] * problem->b[i] / form->unit;
        rg_row_kind kind;
        bool fits = effective_kind(problem, i, &kind);
        assert(fits && "rg_lp_form_fits comes first");
        (void)fits;
        form->free_rows[i] = kind == RG_ROW_FREE;
        form->free_count += form->free_rows[i];
    }
    return make_matrix(context, problem, compressed, form, error);
}

void rg_lp_form_apply(const rg_lp_form *form, const double *g, double *alpha) {
    const rg_matrix *m = &form->matrix;
    for (size_t i = 0; i < form->size; i++) {
        double sum = form->b[i];
        for (size_t k = m->starts[i]; k < m->starts[i + 1]; k++)
            sum += m->values[k] * g[m->indices[k]];
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

double rg_lp_form_entry(const rg_lp_form *form, size_t row, size_t column) {
    size_t from = form->matrix.starts[row], to = form->matrix.starts[row + 1];
    while (from < to) { /* columns ascend */
        size_t middle = from + (to - from) / 2;
        if (form->matrix.indices[middle] < column)
            from = middle + 1;
        else
            to = middle;
    }
    bool stored = from < form->matrix.starts[row + 1] && form->matrix.indices[from] == column;
    return stored ? form->matrix.values[from] : 0;
}

rg_status rg_lp_form_transpose(rg_solve_context *context, const rg_lp_form *form, rg_matrix *made,
                               rg_error *error) {
    const rg_matrix *m = &form->matrix;
    size_t n = form->size, *starts;
    uint32_t *indices;
    double *values;
    RG_TAKE(starts, context, n + 2, error);
    RG_TAKE(indices, context, m->starts[n], error);
    RG_TAKE(values, context, m->starts[n], error);
    for (size_t i = 0; i < n + 2; i++)
        starts[i] = 0;
    for (size_t k = 0; k < m->starts[n]; k++)
        starts[m->indices[k] + 2]++;
    for (size_t i = 0; i < n; i++)
        starts[i + 2] += starts[i + 1];
    for (size_t i = 0; i < n; i++)
        for (size_t k = m->starts[i]; k < m->starts[i + 1]; k++) {
            size_t at = starts[m->indices[k] + 1]++;
            indices[at] = (uint32_t)i;
            values[at] = m->values[k];
        }
    *made = (rg_matrix){
        .rows = n, .columns = n, .starts = starts, .indices = indices, .values = values};
    return RG_OK;
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

rg_status rg_lp_check_convertible(const rg_problem *problem, rg_error *error) {
    rg_status status = rg_problem_check(problem, error);
    const rg_contact_problem *contact = &problem->contact;
    if (status || problem->kind == RG_PROBLEM_LINEAR || contact->dimension < 3 || !contact->mu)
        return status;
    for (size_t i = 0; i < contact->contacts; i++)
        if (contact->mu[i] > 0)
            return rg_fail(error, RG_UNSUPPORTED,
                           "linear programs take contacts without friction, or in the plane");
    return RG_OK;
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
