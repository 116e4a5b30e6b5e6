/* How far forces are determined: for every row the least and the most force over all solutions
 * that move the bodies in the same way.
 *
 * With the motion a fixed, what a row may do is linear: a contact that opens (a > 0) carries
 * nothing; one that stays closed carries f >= 0; one that sticks |f_T| <= mu f_N; one that slips
 * f_T = -+ mu f_N; a row at its bound stays there. The solutions are then {f + E z : A E z = 0}
 * within those limits, where E puts slipping friction beside its normal force. The null space
 * comes from a QR factor that decides the rank (RG_LP_RANK), not from equations handed to Clp,
 * so that z = 0 is feasible exactly and no range is empty by rounding. Two linear programs for
 * each row whose force can change at all; unbounded means infinite: a body that is wedged in can
 * be squeezed as hard as one likes.
 *
 * The set of solutions with the same motion is all there are if A is symmetric positive
 * semidefinite and there is no friction; with friction other motions may exist (Painleve), which
 * this does not see. */
#include "base/base_math.h"
#include "lp/lp_form.h"
#include "rigor/lp.h"

/* What counts as no velocity and no force: relative to the problem's scale, forces by the
 * diagonal. A row with both (a degenerate contact) may carry force. */
#define STILL 1e-8

typedef enum row_state {
    FIXED,   /* its force is known */
    UPWARDS, /* f >= 0 */
    ANY,
    BETWEEN, /* lower <= f <= upper */
    STICKS,  /* |f| <= mu f[normal] */
    FOLLOWS  /* f = ratio f[normal] */
} row_state;

typedef struct space {
    const rg_linear_problem *problem;
    const double *force;
    double unit; /* of forces, scaled by D: what the program's numbers are divided by */
    double *scale;
    double *velocity;
    uint8_t *states;
    double *ratio;     /* in rows that follow */
    size_t dimension;  /* of the space of changes */
    double *changes;   /* size x dimension, row-major: change of the scaled force per unit of t */
    size_t conditions; /* rows of the program */
    double *matrix, *row_lower, *row_upper;
} space;

/* sqrt of what brings forces to the unit of velocities: the diagonal, as the judge has it. */
static double scale_of(const rg_linear_problem *problem, size_t row) {
    double size = rg_linear_row(problem, row)[row];
    if (!(size > 0)) {
        size = 0;
        for (size_t i = 0; i < problem->size; i++)
            size = fmax(size, fabs(rg_linear_row(problem, i)[row]));
    }
    return size > 0 ? 1 / sqrt(size) : 1;
}

/* A closed contact: no velocity to speak of, or more force than velocity. */
static row_state state_of_normal(const space *r, size_t row, double still) {
    double force = r->force[row] / (r->scale[row] * r->scale[row]);
    return r->velocity[row] <= still || force > r->velocity[row] ? UPWARDS : FIXED;
}

static row_state state_of_bounded(const space *r, size_t row, double still) {
    return fabs(r->velocity[row]) <= still ? BETWEEN : FIXED;
}

static row_state state_of_static(space *r, size_t row, double still) {
    size_t normal = r->problem->normal[row];
    double mu = r->problem->mu[row], velocity = r->velocity[row];
    if (r->states[normal] == FIXED)
        return FIXED;
    double inside = (mu * r->force[normal] - fabs(r->force[row])) / (r->scale[row] * r->scale[row]);
    if (fabs(velocity) <= still || inside > fabs(velocity))
        return STICKS;
    r->ratio[row] = velocity > 0 ? -mu : mu;
    return FOLLOWS;
}

static void find_states(space *r, double still) {
    const rg_linear_problem *problem = r->problem;
    for (size_t i = 0; i < problem->size; i++)
        switch (rg_row_kind_at(problem, i)) {
        case RG_ROW_UNILATERAL:
            r->states[i] = (uint8_t)state_of_normal(r, i, still);
            break;
        case RG_ROW_FREE:
            r->states[i] = ANY;
            break;
        case RG_ROW_BOUNDED:
            r->states[i] = (uint8_t)state_of_bounded(r, i, still);
            break;
        default:
            r->states[i] = FIXED;
        }
    for (size_t i = 0; i < problem->size; i++) {
        rg_row_kind kind = rg_row_kind_at(problem, i);
        if (kind == RG_ROW_STATIC)
            r->states[i] = (uint8_t)state_of_static(r, i, still);
        else if (kind == RG_ROW_DYNAMIC && r->states[problem->normal[i]] != FIXED) {
            r->states[i] = FOLLOWS;
            r->ratio[i] = problem->mu[i];
        }
    }
}

/* The changes of force that move nothing. */
static rg_status find_changes(rg_solve_context *context, space *r, rg_error *error) {
    const rg_linear_problem *problem = r->problem;
    size_t n = problem->size, *column_of, *variables, count = 0;
    double *matrix;
    RG_TAKE(column_of, context, n, error);
    RG_TAKE(variables, context, n, error);
    for (size_t i = 0; i < n; i++)
        if (r->states[i] != FIXED && r->states[i] != FOLLOWS) {
            column_of[i] = count;
            variables[count++] = i;
        }
    RG_TAKE(matrix, context, n * count, error);
    for (size_t i = 0; i < n; i++) {
        const double *row = rg_linear_row(problem, i);
        for (size_t k = 0; k < count; k++) {
            size_t j = variables[k];
            matrix[k * n + i] = r->scale[i] * row[j] * r->scale[j];
        }
        for (size_t j = 0; j < n; j++)
            if (r->states[j] == FOLLOWS) {
                size_t normal = problem->normal[j];
                matrix[column_of[normal] * n + i] +=
                    r->scale[i] * row[j] * r->ratio[j] * r->scale[normal];
            }
    }
    rg_qr qr;
    rg_status status = rg_qr_make(context, n, count, matrix, RG_LP_RANK, &qr, error);
    if (!status)
        status = rg_qr_null_space(context, &qr, error);
    if (status)
        return status;
    r->dimension = count - qr.rank;
    RG_TAKE(r->changes, context, n * r->dimension, error);
    for (size_t i = 0; i < n; i++) {
        size_t source = r->states[i] == FOLLOWS ? problem->normal[i] : i;
        double factor = r->states[i] == FOLLOWS ? r->ratio[i] * r->scale[source] / r->scale[i] : 1;
        for (size_t k = 0; k < r->dimension; k++) {
            double change = r->states[i] == FIXED ? 0 : qr.null[k * count + column_of[source]];
            /* Rounding is no change: at a contact with no force it would forbid one direction. */
            r->changes[i * r->dimension + k] = fabs(change) > RG_LP_RANK ? factor * change : 0;
        }
    }
    return RG_OK;
}

/* One condition: lower <= sum of the weighted changes of two rows <= upper; 0 is made to fit. */
static void add_condition(space *r, size_t row, double weight, size_t other, double other_weight,
                          double lower, double upper) {
    double *entries = r->matrix + r->conditions * r->dimension;
    for (size_t k = 0; k < r->dimension; k++)
        entries[k] = weight * r->changes[row * r->dimension + k] +
                     other_weight * r->changes[other * r->dimension + k];
    r->row_lower[r->conditions] = fmin(lower, 0);
    r->row_upper[r->conditions] = fmax(upper, 0);
    r->conditions++;
}

static rg_status add_conditions(rg_solve_context *context, space *r, rg_error *error) {
    const rg_linear_problem *problem = r->problem;
    size_t n = problem->size;
    RG_TAKE(r->matrix, context, 2 * n * r->dimension, error);
    RG_TAKE(r->row_lower, context, 2 * n, error);
    RG_TAKE(r->row_upper, context, 2 * n, error);
    for (size_t i = 0; i < n; i++) {
        double unit = r->scale[i] * r->unit, force = r->force[i] / unit;
        switch (r->states[i]) {
        case UPWARDS:
            add_condition(r, i, 1, i, 0, -force, INFINITY);
            break;
        case BETWEEN:
            add_condition(r, i, 1, i, 0, problem->lower[i] / unit - force,
                          problem->upper[i] / unit - force);
            break;
        case STICKS: {
            size_t normal = problem->normal[i];
            double weight = problem->mu[i] * r->scale[normal] / r->scale[i];
            double limit = problem->mu[i] * r->force[normal] / unit;
            add_condition(r, normal, weight, i, -1, force - limit, INFINITY);
            add_condition(r, normal, weight, i, 1, -force - limit, INFINITY);
            break;
        }
        default:
            break;
        }
    }
    return RG_OK;
}

/* The corner that Clp found, from the conditions that hold it: to rounding instead of Clp's
 * tolerance. */
static rg_status sharpen(rg_solve_context *context, const space *r, const uint8_t *slack_basic,
                         const uint8_t *basic, double *t, rg_error *error) {
    size_t *rows, *columns, m = 0, count = 0;
    double *matrix, *rhs, *x;
    RG_TAKE(rows, context, r->conditions, error);
    RG_TAKE(columns, context, r->dimension, error);
    for (size_t i = 0; i < r->conditions; i++)
        if (!slack_basic[i])
            rows[m++] = i;
    for (size_t k = 0; k < r->dimension; k++)
        if (basic[k])
            columns[count++] = k;
    RG_TAKE(matrix, context, m * count, error);
    RG_TAKE(rhs, context, m, error);
    RG_TAKE(x, context, count, error);
    for (size_t i = 0; i < m; i++) {
        const double *entries = r->matrix + rows[i] * r->dimension;
        double value = 0;
        for (size_t k = 0; k < r->dimension; k++)
            value += entries[k] * t[k];
        double below = r->row_lower[rows[i]], above = r->row_upper[rows[i]];
        rhs[i] = (fabs(value - below) <= fabs(value - above) ? below : above) - value;
        for (size_t k = 0; k < count; k++)
            matrix[k * m + i] = entries[columns[k]];
    }
    rg_qr qr;
    rg_status status = rg_qr_make(context, m, count, matrix, RG_LP_RANK, &qr, error);
    if (status || qr.rank < count) /* no corner: leave it as it is */
        return status;
    rg_qr_solve(&qr, rhs, x);
    for (size_t k = 0; k < count; k++)
        t[columns[k]] += x[k];
    return RG_OK;
}

/* The least of sign * force of the row, as a change; -inf if there is none. */
static rg_status find_end(rg_solve_context *context, const space *r, size_t row, double sign,
                          double *change, rg_error *error) {
    double *cost, *lower, *upper;
    RG_TAKE(cost, context, r->dimension, error);
    RG_TAKE(lower, context, r->dimension, error);
    RG_TAKE(upper, context, r->dimension, error);
    for (size_t k = 0; k < r->dimension; k++) {
        cost[k] = sign * r->changes[row * r->dimension + k];
        lower[k] = -INFINITY, upper[k] = INFINITY;
    }
    rg_program program = {
        .matrix = {.rows = r->conditions, .columns = r->dimension, .dense = r->matrix},
        .cost = cost,
        .row_lower = r->row_lower,
        .row_upper = r->row_upper,
        .column_lower = lower,
        .column_upper = upper};
    double *corner;
    uint8_t *slack_basic, *basic;
    RG_TAKE(corner, context, r->dimension, error);
    RG_TAKE(slack_basic, context, r->conditions, error);
    RG_TAKE(basic, context, r->dimension, error);
    rg_program_result result = {.x = corner, .row_basic = slack_basic, .column_basic = basic};
    rg_status status = rg_program_solve(context, &program, &result, error);
    if (status)
        return status;
    *change = -INFINITY;
    if (result.outcome == RG_PROGRAM_UNBOUNDED)
        return RG_OK;
    if (result.outcome != RG_PROGRAM_OPTIMAL)
        return rg_fail(error, RG_ITERATION_LIMIT, "Clp did not finish the range of row %zu", row);
    status = sharpen(context, r, slack_basic, basic, corner, error);
    double value = 0;
    for (size_t k = 0; k < r->dimension; k++)
        value += cost[k] * corner[k];
    *change = fmin(value, 0);
    return status;
}

static rg_status find_ranges(rg_solve_context *context, space *r, double *least, double *most,
                             rg_error *error) {
    for (size_t i = 0; i < r->problem->size; i++) {
        double largest = 0, down, up;
        for (size_t k = 0; k < r->dimension; k++)
            largest = fmax(largest, fabs(r->changes[i * r->dimension + k]));
        least[i] = most[i] = r->force[i];
        if (!(largest > RG_LP_RANK))
            continue;
        rg_arena_mark mark = rg_arena_get_mark(&context->arena);
        rg_status status = find_end(context, r, i, 1, &down, error);
        if (!status)
            status = find_end(context, r, i, -1, &up, error);
        rg_arena_return(&context->arena, mark);
        if (status)
            return status;
        least[i] += r->unit * r->scale[i] * down;
        most[i] -= r->unit * r->scale[i] * up;
        /* A corner of the set, where the force vanishes: to Clp's rounding. */
        if (r->states[i] == UPWARDS && least[i] <= RG_LP_RANK * r->unit * r->scale[i])
            least[i] = 0;
    }
    return RG_OK;
}

static rg_status ranges_of_linear(rg_solve_context *context, const rg_problem *problem,
                                  const double *force, double *least, double *most,
                                  rg_error *error) {
    size_t n = problem->linear.size;
    space r = {.problem = &problem->linear, .force = force};
    RG_TAKE(r.scale, context, n, error);
    RG_TAKE(r.velocity, context, n, error);
    RG_TAKE(r.states, context, n, error);
    RG_TAKE(r.ratio, context, n, error);
    rg_linear_apply(&problem->linear, force, r.velocity);
    for (size_t i = 0; i < n; i++) {
        r.scale[i] = scale_of(&problem->linear, i);
        r.unit = fmax(r.unit, fabs(force[i]) / r.scale[i]);
        r.ratio[i] = 0;
    }
    if (!(r.unit > 0))
        r.unit = 1;
    find_states(&r, STILL * rg_problem_scale(problem));
    rg_status status = find_changes(context, &r, error);
    if (!status)
        status = add_conditions(context, &r, error);
    return status ? status : find_ranges(context, &r, least, most, error);
}

/* Everything after the checks; memory is the caller's to give back. */
static rg_status ranges_of(rg_solve_context *context, const rg_problem *problem,
                           const double *force, rg_force_range *ranges, rg_error *error) {
    size_t rows = rg_problem_rows(problem);
    double *least, *most;
    RG_TAKE(least, context, rows, error);
    RG_TAKE(most, context, rows, error);
    rg_status status;
    if (problem->kind == RG_PROBLEM_LINEAR) {
        status = ranges_of_linear(context, problem, force, least, most, error);
    } else {
        rg_conversion conversion;
        double *converted, *inner_least, *inner_most;
        status = rg_convert(context, problem, RG_CONVERT_ROWS, &conversion, error);
        if (status)
            return status;
        size_t inner = rg_problem_rows(&conversion.problem);
        RG_TAKE(converted, context, inner, error);
        RG_TAKE(inner_least, context, inner, error);
        RG_TAKE(inner_most, context, inner, error);
        rg_convert_force(&conversion, force, converted);
        status = ranges_of_linear(context, &conversion.problem, converted, inner_least, inner_most,
                                  error);
        if (status)
            return status;
        rg_convert_back(&conversion, inner_least, least);
        rg_convert_back(&conversion, inner_most, most);
    }
    for (size_t i = 0; !status && i < rows; i++)
        ranges[i] = (rg_force_range){least[i], most[i]};
    return status;
}

rg_status rg_force_ranges(rg_solve_context *context, const rg_problem *problem, const double *force,
                          rg_force_range *ranges, rg_error *error) {
    rg_status status = rg_lp_check_convertible(problem, error);
    if (status)
        return status;
    rg_residual residual;
    status = rg_judge(problem, force, NULL, &context->allocator, &residual, error);
    if (status)
        return status;
    if (!(residual.natural <= RG_RANGES_RESIDUAL))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "the forces are not a solution: residual %.3g at row or contact %zu; "
                       "%.0e or less is needed",
                       residual.natural, residual.worst, RG_RANGES_RESIDUAL);
    rg_arena_mark mark = rg_lp_enter(context);
    status = ranges_of(context, problem, force, ranges, error);
    rg_lp_leave(context, mark);
    return status;
}
