/* Linear programs by Clp's C interface.
 *
 * The dual simplex method where the basis of slacks is dual feasible, as in the minimum-sum
 * program of Baraff 1989 (22)-(23), which then needs no first phase; otherwise the primal one.
 * Not the dual one with free variables: that of Clp 1.17.6 was seen to call feasible programs
 * infeasible (33 of 1700 random ones) and starting points optimal. So "optimal" is believed only
 * after a check of x and the prices against the program, "infeasible" only from the primal
 * method.
 *
 * Clp allocates by itself, outside the caller's allocator, and ends the process through the C++
 * run-time if the heap is exhausted: accepted here, and the reason why this library is apart
 * from the core. A model lives inside one call. Nothing is printed (log level 0). */
#include "lp/lp_clp.h"

#include "lp/lp_clp_load.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#include "solve/solve.h"

/* Of constraints and reduced costs, in the units of the program: callers scale their rows to 1. */
#define FEASIBILITY_TOLERANCE 1e-9
/* Of our own check of what Clp calls optimal: relative to the largest term of each sum. */
#define CHECK_TOLERANCE 1e-7

/* Clp's codes of status and basis. */
enum { CLP_OPTIMAL = 0, CLP_INFEASIBLE = 1, CLP_UNBOUNDED = 2, CLP_STOPPED = 3 };
enum { CLP_FREE = 0, CLP_BASIC = 1, CLP_AT_LOWER = 3 };

typedef struct clp_model {
    rg_clp clp;
    Clp_Simplex *simplex;
} clp_model;

typedef struct columns {
    CoinBigIndex *starts;
    int *rows;
    double *values;
} columns;

static size_t row_length(const rg_matrix *matrix, size_t row) {
    return matrix->dense ? matrix->columns : matrix->starts[row + 1] - matrix->starts[row];
}

static uint32_t entry_column(const rg_matrix *matrix, size_t row, size_t k) {
    return matrix->dense ? (uint32_t)k : matrix->indices[matrix->starts[row] + k];
}

static double entry_value(const rg_matrix *matrix, size_t row, size_t k) {
    return matrix->dense ? matrix->dense[row * matrix->columns + k]
                         : matrix->values[matrix->starts[row] + k];
}

/* The matrix by columns, without its zeros. */
static rg_status make_columns(rg_solve_context *context, const rg_matrix *matrix, columns *made,
                              rg_error *error) {
    size_t count = 0, n = matrix->columns;
    RG_TAKE(made->starts, context, n + 1, error);
    for (size_t j = 0; j <= n; j++)
        made->starts[j] = 0;
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t k = 0; k < row_length(matrix, i); k++)
            if (entry_value(matrix, i, k) != 0) {
                made->starts[entry_column(matrix, i, k) + 1]++;
                count++;
            }
    if (matrix->rows > INT_MAX / 2 || n > INT_MAX / 2 || count > INT_MAX / 2)
        return rg_fail(error, RG_LIMIT_EXCEEDED,
                       "a linear program of %zu x %zu is too large for Clp", matrix->rows, n);
    for (size_t j = 0; j < n; j++)
        made->starts[j + 1] += made->starts[j];
    RG_TAKE(made->rows, context, count + 1, error);
    RG_TAKE(made->values, context, count + 1, error);
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t k = 0; k < row_length(matrix, i); k++)
            if (entry_value(matrix, i, k) != 0) {
                CoinBigIndex at = made->starts[entry_column(matrix, i, k)]++;
                made->rows[at] = (int)i;
                made->values[at] = entry_value(matrix, i, k);
            }
    for (size_t j = n; j > 0; j--)
        made->starts[j] = made->starts[j - 1];
    made->starts[0] = 0;
    return RG_OK;
}

/* Clp's infinity is the largest double. */
static rg_status take_bounds(rg_solve_context *context, const double *bounds, size_t count,
                             double **copy, rg_error *error) {
    RG_TAKE(*copy, context, count + 1, error);
    for (size_t i = 0; i < count; i++)
        (*copy)[i] = fmin(DBL_MAX, fmax(-DBL_MAX, bounds[i]));
    return RG_OK;
}

static rg_status load(rg_solve_context *context, const rg_program *program, const clp_model *model,
                      rg_error *error) {
    size_t m = program->matrix.rows, n = program->matrix.columns;
    columns by_columns = {0};
    double *row_lower = NULL, *row_upper = NULL, *column_lower = NULL, *column_upper = NULL;
    rg_status status = make_columns(context, &program->matrix, &by_columns, error);
    if (!status)
        status = take_bounds(context, program->row_lower, m, &row_lower, error);
    if (!status)
        status = take_bounds(context, program->row_upper, m, &row_upper, error);
    if (!status)
        status = take_bounds(context, program->column_lower, n, &column_lower, error);
    if (!status)
        status = take_bounds(context, program->column_upper, n, &column_upper, error);
    if (!status)
        model->clp.loadProblem(model->simplex, (int)n, (int)m, by_columns.starts, by_columns.rows,
                               by_columns.values, column_lower, column_upper, program->cost,
                               row_lower, row_upper);
    return status;
}

static rg_program_outcome outcome_of(int status) {
    switch (status) {
    case CLP_OPTIMAL:
        return RG_PROGRAM_OPTIMAL;
    case CLP_INFEASIBLE:
        return RG_PROGRAM_INFEASIBLE;
    case CLP_UNBOUNDED:
        return RG_PROGRAM_UNBOUNDED;
    case CLP_STOPPED:
        return RG_PROGRAM_LIMIT;
    default:
        return RG_PROGRAM_BROKEN;
    }
}

/* Within bounds, and a price (reduced cost, dual) only where its bound is active: may `value` be
 * the optimum's? `size`: what both are relative to. */
static bool is_settled(double value, double lower, double upper, double size, double price,
                       double price_size) {
    double slack = CHECK_TOLERANCE * size, small = CHECK_TOLERANCE * price_size;
    return value >= lower - slack && value <= upper + slack &&
           !(price < -small && value < upper - slack) && !(price > small && value > lower + slack);
}

/* May Clp's "optimal" be believed? From the program's own numbers. */
static bool is_optimal(const rg_program *program, const clp_model *model) {
    const rg_matrix *matrix = &program->matrix;
    const double *x = model->clp.primalColumnSolution(model->simplex),
                 *y = model->clp.dualRowSolution(model->simplex);
    const CoinBigIndex *starts = model->clp.getVectorStarts(model->simplex);
    const int *rows = model->clp.getIndices(model->simplex),
              *lengths = model->clp.getVectorLengths(model->simplex);
    const double *values = model->clp.getElements(model->simplex);
    for (size_t j = 0; j < matrix->columns; j++) {
        double reduced = program->cost ? program->cost[j] : 0, size = 1 + fabs(reduced);
        for (CoinBigIndex k = starts[j]; k < starts[j] + lengths[j]; k++) {
            reduced -= values[k] * y[rows[k]];
            size = fmax(size, fabs(values[k] * y[rows[k]]));
        }
        if (!is_settled(x[j], program->column_lower[j], program->column_upper[j],
                        fmax(1, fabs(x[j])), reduced, size))
            return false;
    }
    for (size_t i = 0; i < matrix->rows; i++) {
        double sum = 0, size = 1;
        for (size_t k = 0; k < row_length(matrix, i); k++) {
            double term = entry_value(matrix, i, k) * x[entry_column(matrix, i, k)];
            sum += term;
            size = fmax(size, fabs(term));
        }
        if (!is_settled(sum, program->row_lower[i], program->row_upper[i], size, y[i],
                        1 + fabs(y[i])))
            return false;
    }
    return true;
}

/* Is the basis of slacks dual feasible? Then the dual method needs no first phase. */
static bool suits_dual(const rg_program *program) {
    for (size_t j = 0; j < program->matrix.columns; j++) {
        double cost = program->cost ? program->cost[j] : 0;
        if (program->column_lower[j] == -INFINITY || cost < 0)
            return false;
    }
    return true;
}

static void set_slack_basis(const rg_program *program, const clp_model *model) {
    for (size_t j = 0; j < program->matrix.columns; j++)
        model->clp.setColumnStatus(model->simplex, (int)j,
                                   program->column_lower[j] == -INFINITY ? CLP_FREE : CLP_AT_LOWER);
    for (size_t i = 0; i < program->matrix.rows; i++)
        model->clp.setRowStatus(model->simplex, (int)i, CLP_BASIC);
}

/* One run of a method; true if its verdict stands. */
static bool run_method(const rg_program *program, const clp_model *model, bool dual,
                       rg_program_result *result) {
    if (dual)
        model->clp.dual(model->simplex, 0);
    else
        model->clp.primal(model->simplex, 0);
    result->iterations += (uint64_t)model->clp.numberIterations(model->simplex);
    result->outcome = outcome_of(model->clp.status(model->simplex));
    if (result->outcome == RG_PROGRAM_OPTIMAL && !is_optimal(program, model))
        result->outcome = RG_PROGRAM_BROKEN;
    return result->outcome == RG_PROGRAM_OPTIMAL || result->outcome == RG_PROGRAM_LIMIT ||
           (!dual && result->outcome != RG_PROGRAM_BROKEN);
}

static void run(const rg_program *program, const clp_model *model, rg_program_result *result) {
    size_t size = program->matrix.rows + program->matrix.columns;
    size_t limit =
        program->iteration_limit ? program->iteration_limit : RG_PROGRAM_ITERATIONS * (size + 10);
    model->clp.setMaximumIterations(model->simplex, limit > INT_MAX ? INT_MAX : (int)limit);
    model->clp.setPrimalTolerance(model->simplex, FEASIBILITY_TOLERANCE);
    model->clp.setDualTolerance(model->simplex, FEASIBILITY_TOLERANCE);
    if (suits_dual(program) && run_method(program, model, true, result))
        return;
    if (run_method(program, model, false, result))
        return;
    set_slack_basis(program, model);
    run_method(program, model, false, result);
}

static void copy_ray(const clp_model *model, size_t m, size_t n, rg_program_result *result) {
    bool infeasible = result->outcome == RG_PROGRAM_INFEASIBLE;
    if (!result->ray || (!infeasible && result->outcome != RG_PROGRAM_UNBOUNDED))
        return;
    double *ray = infeasible ? model->clp.infeasibilityRay(model->simplex)
                             : model->clp.unboundedRay(model->simplex);
    if (!ray)
        return;
    for (size_t i = 0; i < (infeasible ? m : n); i++)
        result->ray[i] = ray[i];
    result->has_ray = true;
    model->clp.freeRay(model->simplex, ray);
}

static void copy_result(const clp_model *model, size_t m, size_t n, rg_program_result *result) {
    const double *x = model->clp.primalColumnSolution(model->simplex),
                 *dual = model->clp.dualRowSolution(model->simplex);
    result->objective = model->clp.objectiveValue(model->simplex);
    for (size_t j = 0; j < n; j++) {
        if (result->x)
            result->x[j] = x[j];
        if (result->column_basic)
            result->column_basic[j] =
                model->clp.getColumnStatus(model->simplex, (int)j) == CLP_BASIC;
    }
    for (size_t i = 0; i < m; i++) {
        if (result->dual)
            result->dual[i] = dual[i];
        if (result->row_basic)
            result->row_basic[i] = model->clp.getRowStatus(model->simplex, (int)i) == CLP_BASIC;
    }
    copy_ray(model, m, n, result);
}

rg_status rg_program_solve(rg_solve_context *context, const rg_program *program,
                           rg_program_result *result, rg_error *error) {
    size_t m = program->matrix.rows, n = program->matrix.columns;
    result->outcome = RG_PROGRAM_BROKEN;
    result->objective = 0;
    result->iterations = 0;
    result->has_ray = false;
    clp_model model;
    rg_status status = rg_clp_load(&model.clp, error);
    if (status)
        return status;
    model.simplex = model.clp.newModel();
    if (!model.simplex)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s", rg_status_text(RG_OUT_OF_MEMORY));
    model.clp.setLogLevel(model.simplex, 0);
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    status = load(context, program, &model, error);
    rg_arena_return(&context->arena, mark); /* Clp has copied it */
    if (!status) {
        run(program, &model, result);
        copy_result(&model, m, n, result);
    }
    model.clp.deleteModel(model.simplex);
    return status;
}
