/* Feasibility of contact problems: Baraff 1989, section 5.3, eq. 12, with Farkas' lemma as its
 * dual.
 *
 * Two linear programs decide, one for the forces and one for the proof that there are none;
 * exactly one of them can succeed. The proof comes from a program of its own rather than from
 * the ray of Clp's dual simplex: it is bounded, always feasible (y = 0) and its optimum says how
 * clear the case is. For symmetric positive semidefinite A a proof has A y = 0: a set of pushes
 * in balance on every body, against which the prescribed motion (in b) closes. Where rounding
 * leaves neither clear, the problem counts as feasible: a squeeze of less than RG_LP_ZERO. */
#include "lp/lp_feasible.h"

#include "base/base_math.h"
#include "lp/lp_polish.h"
#include "rigor/lp.h"

static rg_status take_constant(rg_solve_context *context, size_t count, double value,
                               double **array, rg_error *error) {
    RG_TAKE(*array, context, count, error);
    for (size_t i = 0; i < count; i++)
        (*array)[i] = value;
    return RG_OK;
}

static rg_status find_certificate(rg_solve_context *context, rg_lp_form *form, double *y,
                                  double *value, rg_error *error) {
    size_t n = form->size;
    double *row_lower, *row_upper, *lower, *upper;
    rg_status status = take_constant(context, n, -INFINITY, &row_lower, error);
    if (!status)
        status = take_constant(context, n, 0, &row_upper, error);
    if (!status)
        status = take_constant(context, n, 0, &lower, error);
    if (!status)
        status = take_constant(context, n, 1, &upper, error);
    if (status)
        return status;
    rg_matrix transposed;
    status = rg_lp_form_transpose(context, form, &transposed, error);
    if (status)
        return status;
    for (size_t i = 0; i < n; i++)
        if (form->free_rows[i])
            lower[i] = -1, row_lower[i] = 0;
    rg_program program = {.matrix = transposed,
                          .cost = form->b,
                          .row_lower = row_lower,
                          .row_upper = row_upper,
                          .column_lower = lower,
                          .column_upper = upper};
    uint8_t *tight, *basic;
    double *product;
    RG_TAKE(tight, context, n, error);
    RG_TAKE(basic, context, n, error);
    RG_TAKE(product, context, n, error);
    rg_program_result result = {.x = y, .column_basic = basic};
    status = rg_lp_form_solve(context, form, &program, &result, error);
    if (!status && result.outcome != RG_PROGRAM_OPTIMAL)
        status = rg_fail(error, RG_ITERATION_LIMIT, "Clp did not finish the search for a proof");
    *value = fmin(result.objective, 0);
    if (status || !(*value < -RG_LP_ZERO))
        return status;
    /* A proof should hold to rounding, not to Clp's tolerance. */
    rg_lp_form dual = *form;
    dual.matrix = transposed;
    status = take_constant(context, n, 0, &dual.b, error);
    if (status)
        return status;
    rg_lp_form_apply(&dual, y, product);
    for (size_t i = 0; i < n; i++) {
        tight[i] = fabs(product[i]) <= RG_LP_ZERO;
        if (fabs(y[i]) <= RG_LP_ZERO)
            basic[i] = 0, y[i] = 0;
    }
    return rg_lp_polish(context, &dual, tight, basic, y, NULL, error);
}

rg_status rg_lp_certificate(rg_solve_context *context, rg_lp_form *form, double *y, double *value,
                            rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    rg_status status = find_certificate(context, form, y, value, error);
    rg_arena_return(&context->arena, mark);
    return status;
}

/* Any forces with f >= 0, a >= 0. */
static rg_status find_forces(rg_solve_context *context, rg_lp_form *form, double *g,
                             rg_error *error) {
    size_t n = form->size;
    double *row_lower, *row_upper, *lower, *upper;
    rg_status status = take_constant(context, n, INFINITY, &row_upper, error);
    if (!status)
        status = take_constant(context, n, 0, &lower, error);
    if (!status)
        status = take_constant(context, n, INFINITY, &upper, error);
    if (status)
        return status;
    RG_TAKE(row_lower, context, n, error);
    for (size_t i = 0; i < n; i++) {
        row_lower[i] = -form->b[i];
        if (form->free_rows[i]) {
            row_upper[i] = row_lower[i];
            lower[i] = -INFINITY;
        }
    }
    rg_program program = {.matrix = form->matrix,
                          .row_lower = row_lower,
                          .row_upper = row_upper,
                          .column_lower = lower,
                          .column_upper = upper};
    rg_program_result result = {.x = g};
    status = rg_lp_form_solve(context, form, &program, &result, error);
    if (!status && result.outcome != RG_PROGRAM_OPTIMAL)
        status = rg_fail(error, RG_ITERATION_LIMIT, "Clp did not finish the search for forces");
    return status;
}

static rg_status decide(rg_solve_context *context, const rg_linear_problem *problem, double *force,
                        double *certificate, rg_feasibility *feasibility, rg_error *error) {
    char text[RG_SOLVE_TEXT_SIZE];
    if (!rg_lp_form_fits(problem, text, sizeof text))
        return rg_fail(error, RG_UNSUPPORTED, "%s", text);
    rg_lp_form form;
    double *y, value;
    rg_status status = rg_lp_form_make(context, problem, NULL, &form, error);
    if (status)
        return status;
    RG_TAKE(y, context, form.size, error);
    status = rg_lp_certificate(context, &form, y, &value, error);
    if (status)
        return status;
    feasibility->feasible = !(value < -RG_LP_ZERO);
    double largest = 0, product = 0;
    for (size_t i = 0; i < form.size; i++) {
        if (!form.free_rows[i])
            y[i] = fmax(y[i], 0);
        largest = fmax(largest, fabs(y[i] * form.b[i]));
        product += y[i] * form.b[i];
        if (certificate)
            certificate[i] = feasibility->feasible ? 0 : form.scale[i] * y[i];
    }
    feasibility->margin = feasibility->feasible ? 0 : -product / largest;
    if (!force || !feasibility->feasible)
        return RG_OK;
    status = find_forces(context, &form, y, error);
    for (size_t i = 0; !status && i < form.size; i++)
        force[i] = rg_lp_force(&form, i, y[i]);
    return status;
}

static rg_status decide_contact(rg_solve_context *context, const rg_problem *problem, double *force,
                                double *certificate, rg_feasibility *feasibility, rg_error *error) {
    rg_conversion conversion;
    rg_status status = rg_convert(context, problem, RG_CONVERT_ROWS, &conversion, error);
    if (status)
        return status;
    size_t rows = rg_problem_rows(&conversion.problem);
    double *converted_force, *converted_certificate;
    status = take_constant(context, rows, 0, &converted_force, error);
    if (!status)
        status = take_constant(context, rows, 0, &converted_certificate, error);
    if (!status)
        status = decide(context, &conversion.problem.linear, force ? converted_force : NULL,
                        converted_certificate, feasibility, error);
    if (status)
        return status;
    if (force && feasibility->feasible)
        rg_convert_back(&conversion, converted_force, force);
    if (certificate)
        rg_convert_back(&conversion, converted_certificate, certificate);
    return RG_OK;
}

rg_status rg_lp_feasible(rg_solve_context *context, const rg_problem *problem, double *force,
                         double *certificate, rg_feasibility *feasibility, rg_error *error) {
    *feasibility = (rg_feasibility){0};
    rg_status status = rg_lp_check_convertible(problem, error);
    if (status)
        return status;
    rg_arena_mark mark = rg_lp_enter(context);
    status = problem->kind == RG_PROBLEM_LINEAR
                 ? decide(context, &problem->linear, force, certificate, feasibility, error)
                 : decide_contact(context, problem, force, certificate, feasibility, error);
    rg_lp_leave(context, mark);
    return status;
}
