/* The best that joints can do when they contradict each other (Baraff 1989, Appendix B): least
 * squares as Barzel and Barr (1988) have it, or the least sum of violations (37), a linear
 * program.
 *
 * Only the rows of joints matter. With A = J M^-1 J', what contact forces add to those rows, J_j
 * M^-1 J_c' f_c, lies in the range of J_j M^-1 J_j': forces of the joints can take it back, so
 * the set of violations that can be reached does not depend on the contacts.
 *
 * Norms are in the units of the problem: rows that mix m/s^2 and rad/s^2 should be scaled by
 * their owner. The least sum need not be unique (two contradictory rows may share the violation
 * in any way); linear programming gives a corner: some rows are met exactly. */
#include "lp/lp_joints.h"

#include "base/base_math.h"
#include "lp/lp_polish.h"

/* |alpha| <= s: two rows for each free row; columns are the `count` forces in `columns`, then s. */
static rg_status make_program(rg_solve_context *context, const rg_lp_form *form, const size_t *list,
                              const size_t *columns, size_t count, rg_program *program,
                              rg_error *error) {
    size_t k = form->free_count, width = count + k;
    double *matrix, *row_lower, *row_upper, *lower, *upper, *cost, weight = 0;
    RG_TAKE(matrix, context, 2 * k * width, error);
    RG_TAKE(row_lower, context, 2 * k, error);
    RG_TAKE(row_upper, context, 2 * k, error);
    RG_TAKE(lower, context, width, error);
    RG_TAKE(upper, context, width, error);
    RG_TAKE(cost, context, width, error);
    for (size_t i = 0; i < k; i++)
        weight = fmax(weight, 1 / form->scale[list[i]]);
    for (size_t j = 0; j < width; j++) {
        lower[j] = j < count ? -INFINITY : 0;
        upper[j] = INFINITY;
        cost[j] = j < count ? 0 : 1 / form->scale[list[j - count]] / weight;
    }
    for (size_t i = 0; i < 2 * k * width; i++)
        matrix[i] = 0;
    for (size_t i = 0; i < k; i++) {
        double *above = matrix + i * width, *below = matrix + (k + i) * width;
        for (size_t j = 0; j < count; j++)
            above[j] = below[j] = rg_lp_form_entry(form, list[i], list[columns[j]]);
        above[count + i] = -1; /* alpha - s <= 0 */
        below[count + i] = 1;  /* alpha + s >= 0 */
        row_lower[i] = -INFINITY, row_upper[i] = -form->b[list[i]];
        row_lower[k + i] = -form->b[list[i]], row_upper[k + i] = INFINITY;
    }
    *program = (rg_program){.matrix = {.rows = 2 * k, .columns = width, .dense = matrix},
                            .cost = cost,
                            .row_lower = row_lower,
                            .row_upper = row_upper,
                            .column_lower = lower,
                            .column_upper = upper};
    return RG_OK;
}

/* Overconstrained joints have a singular matrix. Clp is given independent columns only: with
 * forces that may grow together without any effect it was seen to lose five digits. */
static rg_status minimise_sum(rg_solve_context *context, rg_lp_form *form, const size_t *list,
                              double *g, rg_error *error) {
    size_t n = form->size, k = form->free_count;
    double *matrix, *x;
    uint8_t *met, *used;
    RG_TAKE(matrix, context, k * k, error);
    RG_TAKE(x, context, 2 * k, error);
    RG_TAKE(met, context, n, error);
    RG_TAKE(used, context, n, error);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            matrix[j * k + i] = rg_lp_form_entry(form, list[i], list[j]);
    rg_qr qr;
    rg_program program;
    rg_program_result result = {.x = x};
    rg_status status = rg_qr_make(context, k, k, matrix, RG_LP_RANK, &qr, error);
    if (!status)
        status = make_program(context, form, list, qr.order, qr.rank, &program, error);
    if (!status)
        status = rg_lp_form_solve(context, form, &program, &result, error);
    if (status)
        return status;
    if (result.outcome != RG_PROGRAM_OPTIMAL)
        return rg_fail(error, RG_ITERATION_LIMIT, "Clp did not finish the program of the joints");
    for (size_t i = 0; i < n; i++)
        met[i] = used[i] = 0;
    for (size_t j = 0; j < qr.rank; j++) {
        g[list[qr.order[j]]] = x[j];
        used[list[qr.order[j]]] = 1;
    }
    for (size_t i = 0; i < k; i++)
        met[list[i]] = x[qr.rank + i] <= RG_LP_ZERO;
    return rg_lp_polish(context, form, met, used, g, NULL, error);
}

/* |a| with a = unit alpha / D: the rows of D A D are divided by D. */
static rg_status minimise_squares(rg_solve_context *context, const rg_lp_form *form,
                                  const size_t *list, double *g, rg_error *error) {
    size_t k = form->free_count;
    double *matrix, *rhs, *x;
    RG_TAKE(matrix, context, k * k, error);
    RG_TAKE(rhs, context, k, error);
    RG_TAKE(x, context, k, error);
    double weight = 0;
    for (size_t i = 0; i < k; i++)
        weight = fmax(weight, 1 / form->scale[list[i]]);
    for (size_t i = 0; i < k; i++) {
        double w = 1 / form->scale[list[i]] / weight;
        for (size_t j = 0; j < k; j++)
            matrix[j * k + i] = w * rg_lp_form_entry(form, list[i], list[j]);
        rhs[i] = -w * form->b[list[i]];
    }
    rg_qr qr;
    rg_status status = rg_qr_make(context, k, k, matrix, RG_LP_RANK, &qr, error);
    if (status)
        return status;
    rg_qr_solve(&qr, rhs, x);
    for (size_t i = 0; i < k; i++)
        g[list[i]] = x[i];
    return RG_OK;
}

static double norm_of_violation(const rg_lp_form *form, const double *alpha, rg_joint_norm norm) {
    double largest = 0, sum = 0;
    for (size_t i = 0; i < form->size; i++)
        largest = fmax(largest, fabs(rg_lp_velocity(form, i, alpha[i])));
    for (size_t i = 0; largest > 0 && i < form->size; i++) {
        double part = fabs(rg_lp_velocity(form, i, alpha[i])) / largest;
        sum += norm == RG_NORM_ONE ? part : part * part;
    }
    return largest * (norm == RG_NORM_ONE ? sum : sqrt(sum));
}

static rg_status relax(rg_solve_context *context, rg_lp_form *form, rg_joint_norm norm, double *g,
                       double *alpha, double *size, rg_error *error) {
    size_t n = form->size, *list, k = 0;
    RG_TAKE(list, context, n, error);
    for (size_t i = 0; i < n; i++) {
        g[i] = alpha[i] = 0;
        if (form->free_rows[i])
            list[k++] = i;
    }
    *size = 0;
    if (!k)
        return RG_OK;
    rg_status status = norm == RG_NORM_ONE ? minimise_sum(context, form, list, g, error)
                                           : minimise_squares(context, form, list, g, error);
    if (status)
        return status;
    rg_lp_form_apply(form, g, alpha);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (!form->free_rows[i])
            alpha[i] = 0;
        largest = fmax(largest, fabs(alpha[i]));
    }
    if (largest > RG_LP_ZERO)
        *size = norm_of_violation(form, alpha, norm);
    else
        for (size_t i = 0; i < n; i++)
            alpha[i] = 0;
    return RG_OK;
}

rg_status rg_lp_relax(rg_solve_context *context, rg_lp_form *form, rg_joint_norm norm, double *g,
                      double *alpha, double *size, rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    rg_status status = relax(context, form, norm, g, alpha, size, error);
    rg_arena_return(&context->arena, mark);
    return status;
}

static rg_status relax_problem(rg_solve_context *context, const rg_linear_problem *problem,
                               rg_joint_norm norm, double *force, double *violation, double *size,
                               rg_error *error) {
    rg_lp_form form;
    double *g, *alpha;
    rg_status status = rg_lp_form_make(context, problem, NULL, &form, error);
    if (status)
        return status;
    RG_TAKE(g, context, form.size, error);
    RG_TAKE(alpha, context, form.size, error);
    status = rg_lp_relax(context, &form, norm, g, alpha, size, error);
    for (size_t i = 0; !status && i < form.size; i++) {
        if (force)
            force[i] = rg_lp_force(&form, i, g[i]);
        violation[i] = rg_lp_velocity(&form, i, alpha[i]);
    }
    return status;
}

rg_status rg_joint_relax(rg_solve_context *context, const rg_problem *problem, rg_joint_norm norm,
                         double *force, double *violation, double *size, rg_error *error) {
    rg_status status = rg_lp_check(problem, error);
    if (status)
        return status;
    rg_arena_mark mark = rg_lp_enter(context);
    status = relax_problem(context, &problem->linear, norm, force, violation, size, error);
    rg_lp_leave(context, mark);
    return status;
}
