/* Enumeration: every mode of a small problem, one linear system each. The oracle of the other
 * solvers.
 *
 * A mode says of every row whether its force is given (0, a bound), tied to a normal force (slip),
 * or unknown with a = 0 (closed, stick, joints). The unknown forces follow from a square system;
 * the mode gives a solution if the forces and accelerations that come out satisfy the inequalities
 * of its rows. A problem has a solution if and only if some mode has one, so trying all of them
 * proves existence, inconsistency and indeterminacy (Baraff 1994 survey, 7.1; deciding it is
 * NP-complete in general, hence the limits on the size).
 *
 *   unilateral   open (f = 0, a >= 0), closed (a = 0, f >= 0)
 *   bounded      lower (a >= 0), between (a = 0), upper (a <= 0)
 *   free         closed with f of any sign
 *   static       with its normal: open, stick, slip along + (f = -mu f_N, a >= 0), along - (a <= 0)
 *   dynamic      f = mu f_N by substitution
 *
 * A singular mode is solved by a rank-revealing LU with full pivoting. If it is consistent its
 * solutions are f0 + N t; the solution of least norm is listed if it satisfies the inequalities,
 * otherwise the corners of the polyhedron in t are searched, up to a budget. Corners of singular
 * modes are, but for pathological matrices, solutions of other modes with a regular matrix.
 *
 * How it fails: too many rows (UNSUITABLE); modes whose matrix is singular only to about 1e-11 are
 * taken as singular. Where nothing is found and a mode failed by no more than rounding may do,
 * nothing is proved (STALLED). */
#include "base/base_math.h"
#include "problem/problem.h"
#include "solve/solve_enumerate_state.h"

#include <stdio.h>
#include <string.h>

/* Limits of what is tried: rows that branch, contacts with static friction, rows and modes in
 * all. */
enum { BRANCH_MAX = 16, FRICTION_MAX = 6, ROWS_MAX = 64, MODES_MAX = 1 << 22 };

/* A singular mode is consistent if what remains of the right side is below this, relative to the
 * problem's scale (the rows keep their unit in this test). */
#define CONSISTENT_TOLERANCE 1e-9
/* Before refinement, inequalities are tested this loosely, relative to the largest number of their
 * kind: a filter that spares most modes the second half of the work. */
#define COARSE_TOLERANCE 1e-6
/* A mode that fails by less than this, relative to the largest product in its rows, or one taken as
 * singular with a pivot above ROUNDING_PIVOT, was not refuted: that none has a solution is no proof
 * then. */
#define DOUBT_TOLERANCE 1e-6
#define ROUNDING_PIVOT  (64 * DBL_EPSILON)
/* Small linear systems that the corner search of singular modes may solve, over all modes. */
enum { CORNER_BUDGET = 1 << 20 };

/* Which inequality a row has to satisfy in the current mode. */
typedef enum row_claim {
    CLAIM_NOTHING,
    CLAIM_A_POSITIVE,
    CLAIM_A_NEGATIVE,
    CLAIM_F_POSITIVE,
    CLAIM_F_BETWEEN, /* bounds */
    CLAIM_F_CONE     /* |f| <= mu f[normal] */
} row_claim;

/* --- modes ------------------------------------------------------------------------------------ */

static uint32_t static_rows(const rg_linear_problem *p, size_t normal) {
    uint32_t count = 0;
    for (size_t i = 0; i < p->size; i++)
        count += rg_row_kind_at(p, i) == RG_ROW_STATIC && p->normal[i] == normal;
    return count;
}

/* Options of the row that a chooser is for; 1: nothing to choose. */
static size_t options_of(const rg_linear_problem *p, size_t row) {
    switch (rg_row_kind_at(p, row)) {
    case RG_ROW_UNILATERAL: {
        size_t options = 1;
        for (uint32_t k = static_rows(p, row); k > 0 && options < MODES_MAX; k--)
            options *= 3;
        return 1 + options;
    }
    case RG_ROW_BOUNDED:
        if (p->lower[row] == p->upper[row])
            return 1;
        return 1 + (size_t)(isfinite(p->lower[row]) != 0) + (size_t)(isfinite(p->upper[row]) != 0);
    default:
        return 1;
    }
}

/* What stands against enumerating the problem, or null. */
static const char *find_obstacle(const rg_linear_problem *p, size_t *modes) {
    size_t branches = 0, frictions = 0, total = 1;
    if (p->size > ROWS_MAX)
        return "more than 64 rows: too many to try every mode";
    for (size_t i = 0; i < p->size; i++) {
        size_t options = options_of(p, i);
        branches += options > 1;
        frictions += rg_row_kind_at(p, i) == RG_ROW_UNILATERAL && options > 2;
        if (total <= MODES_MAX)
            total *= options;
    }
    *modes = total;
    if (branches > BRANCH_MAX)
        return "more than 16 rows to decide on: too many to try every mode";
    if (frictions > FRICTION_MAX)
        return "more than 6 contacts with static friction: too many to try every mode";
    return total > MODES_MAX ? "more than 4194304 modes: too many to try" : NULL;
}

static void set_row(rg_enumeration *e, size_t row, rg_row_state state, double value,
                    row_claim claim) {
    e->state[row] = (uint8_t)state;
    e->value[row] = value;
    e->claim[row] = (uint8_t)claim;
}

/* A unilateral row and the friction that hangs on it. Option 0 is open; the others count the static
 * rows' states in base 3: stick, slip along +, slip along -. */
static void set_contact(rg_enumeration *e, size_t row, uint32_t option) {
    const rg_linear_problem *p = e->problem;
    bool open = option == 0;
    uint32_t digits = open ? 0 : option - 1;
    set_row(e, row, open ? RG_STATE_GIVEN : RG_STATE_UNKNOWN, 0,
            open ? CLAIM_A_POSITIVE : CLAIM_F_POSITIVE);
    for (size_t i = 0; i < e->size; i++) {
        rg_row_kind kind = rg_row_kind_at(p, i);
        if ((kind != RG_ROW_STATIC && kind != RG_ROW_DYNAMIC) || p->normal[i] != row)
            continue;
        if (kind == RG_ROW_DYNAMIC) {
            set_row(e, i, open ? RG_STATE_GIVEN : RG_STATE_TIED, open ? 0 : p->mu[i],
                    CLAIM_NOTHING);
        } else if (open) {
            set_row(e, i, RG_STATE_GIVEN, 0, CLAIM_NOTHING);
        } else {
            uint32_t digit = digits % 3;
            digits /= 3;
            if (digit == 0)
                set_row(e, i, RG_STATE_UNKNOWN, 0, CLAIM_F_CONE);
            else
                set_row(e, i, RG_STATE_TIED, digit == 1 ? -p->mu[i] : p->mu[i],
                        digit == 1 ? CLAIM_A_POSITIVE : CLAIM_A_NEGATIVE);
        }
    }
}

static void set_bounded(rg_enumeration *e, size_t row, uint32_t option) {
    const rg_linear_problem *p = e->problem;
    if (p->lower[row] == p->upper[row]) {
        set_row(e, row, RG_STATE_GIVEN, p->lower[row], CLAIM_NOTHING);
        return;
    }
    if (option == 0)
        set_row(e, row, RG_STATE_UNKNOWN, 0, CLAIM_F_BETWEEN);
    else if (option == 1 && isfinite(p->lower[row]))
        set_row(e, row, RG_STATE_GIVEN, p->lower[row], CLAIM_A_POSITIVE);
    else
        set_row(e, row, RG_STATE_GIVEN, p->upper[row], CLAIM_A_NEGATIVE);
}

static void set_option(rg_enumeration *e, size_t row, uint32_t option) {
    switch (rg_row_kind_at(e->problem, row)) {
    case RG_ROW_UNILATERAL:
        set_contact(e, row, option);
        break;
    case RG_ROW_FREE:
        set_row(e, row, RG_STATE_UNKNOWN, 0, CLAIM_NOTHING);
        break;
    case RG_ROW_BOUNDED:
        set_bounded(e, row, option);
        break;
    case RG_ROW_STATIC:
    case RG_ROW_DYNAMIC:
        break; /* set with their normal row */
    }
}

/* The first mode is all open. False when all were tried. */
static bool next_mode(rg_enumeration *e) {
    for (size_t k = 0; k < e->choosers; k++) {
        rg_chooser *c = &e->chooser[k];
        c->option = c->option + 1 < c->options ? c->option + 1 : 0;
        set_option(e, c->row, c->option);
        if (c->option)
            return true;
    }
    return false;
}

/* --- what a mode claims ----------------------------------------------------------------------- */

void rg_enumeration_spread(const rg_enumeration *e, const double *x, bool given, double *force,
                           double *velocity) {
    size_t m = e->unknowns;
    for (size_t i = 0; i < e->size; i++)
        force[i] = e->state[i] == RG_STATE_GIVEN && given ? e->value[i] : 0;
    for (size_t c = 0; c < m; c++)
        force[e->unknown[c]] = x[c];
    for (size_t i = 0; i < e->size; i++)
        if (e->state[i] == RG_STATE_TIED)
            force[i] = e->value[i] * force[e->problem->normal[i]];
    for (size_t i = 0; i < e->size; i++) {
        const double *row = rg_linear_row(e->problem, i);
        double sum = given ? e->problem->b[i] : 0;
        for (size_t j = 0; j < e->size; j++)
            sum += row[j] * force[j];
        velocity[i] = sum;
    }
}

void rg_enumeration_row_slack(const rg_enumeration *e, size_t i, const double *force,
                              const double *velocity, bool given, double slack[2]) {
    const rg_linear_problem *p = e->problem;
    double none = given ? INFINITY : 0;
    slack[0] = slack[1] = none;
    switch ((row_claim)e->claim[i]) {
    case CLAIM_NOTHING:
        break;
    case CLAIM_A_POSITIVE:
        slack[0] = velocity[i];
        break;
    case CLAIM_A_NEGATIVE:
        slack[0] = -velocity[i];
        break;
    case CLAIM_F_POSITIVE:
        slack[0] = force[i] * e->weight[i];
        break;
    case CLAIM_F_BETWEEN:
        if (isfinite(p->lower[i]))
            slack[0] = (force[i] - (given ? p->lower[i] : 0)) * e->weight[i];
        if (isfinite(p->upper[i]))
            slack[1] = ((given ? p->upper[i] : 0) - force[i]) * e->weight[i];
        break;
    case CLAIM_F_CONE: {
        double limit = p->mu[i] * force[p->normal[i]];
        slack[0] = (limit - force[i]) * e->weight[i];
        slack[1] = (limit + force[i]) * e->weight[i];
        break;
    }
    }
}

double rg_enumeration_slack(const rg_enumeration *e, const double *force, const double *velocity) {
    double smallest = INFINITY;
    for (size_t i = 0; i < e->size; i++) {
        double slack[2];
        rg_enumeration_row_slack(e, i, force, velocity, true, slack);
        smallest = fmin(smallest, fmin(slack[0], slack[1]));
    }
    return smallest;
}

/* Cheap refusal from the unknown forces alone. */
static bool forces_hopeless(const rg_enumeration *e) {
    double largest = e->scale;
    for (size_t c = 0; c < e->unknowns; c++)
        largest = fmax(largest, fabs(e->x[c]) * e->weight[e->unknown[c]]);
    for (size_t c = 0; c < e->unknowns; c++) {
        size_t i = e->unknown[c];
        if (e->claim[i] == CLAIM_F_POSITIVE && e->x[c] * e->weight[i] < -COARSE_TOLERANCE * largest)
            return true;
    }
    return false;
}

/* --- what was found --------------------------------------------------------------------------- */

/* Rounding is taken out of forces that break their own law by less than the tolerance. */
static void tidy_force(const rg_enumeration *e, double *force) {
    const rg_linear_problem *p = e->problem;
    for (size_t i = 0; i < e->size; i++)
        if (e->claim[i] == CLAIM_F_POSITIVE)
            force[i] = fmax(force[i], 0);
        else if (e->claim[i] == CLAIM_F_BETWEEN)
            force[i] = fmin(fmax(force[i], p->lower[i]), p->upper[i]);
    for (size_t i = 0; i < e->size; i++)
        if (e->claim[i] == CLAIM_F_CONE) {
            double limit = p->mu[i] * force[p->normal[i]];
            force[i] = fmin(fmax(force[i], -limit), limit);
        } else if (e->state[i] == RG_STATE_TIED) {
            force[i] = e->value[i] * force[p->normal[i]];
        }
}

static double normal_sum(const rg_enumeration *e, const double *force) {
    double sum = 0;
    for (size_t i = 0; i < e->size; i++)
        if (rg_row_kind_at(e->problem, i) == RG_ROW_UNILATERAL)
            sum += force[i];
    return sum;
}

static bool same_forces(const rg_enumeration *e, const double *a, const double *b) {
    double largest = e->scale, distance = 0;
    for (size_t i = 0; i < e->rows; i++) {
        largest = fmax(largest, fabs(a[i]) * e->rows_weight[i]);
        distance = fmax(distance, fabs(a[i] - b[i]) * e->rows_weight[i]);
    }
    return distance <= RG_SOLUTION_DISTINCT * largest;
}

void rg_enumeration_report(rg_enumeration *e, double *force) {
    /* Forces whose rounding alone exceeds the tolerance were not found but imagined. */
    for (size_t i = 0; i < e->size; i++) {
        const double *row = rg_linear_row(e->problem, i);
        double sum = 0;
        for (size_t j = 0; j < e->size; j++)
            sum += fabs(row[j] * force[j]);
        if (!(sum * DBL_EPSILON <= e->tolerance)) {
            e->doubtful++;
            return;
        }
    }
    tidy_force(e, force);
    if (e->best) {
        double sum = normal_sum(e, force);
        bool better = e->policy == RG_POLICY_LARGEST_FORCE ? sum > e->best_sum : sum < e->best_sum;
        if (!(e->set.count) || better) {
            memcpy(e->best, force, e->size * sizeof *force);
            e->best_sum = sum;
        }
    }
    double *original = force;
    for (int k = 1; k >= 0; k--)
        if (e->conversions[k]) {
            rg_convert_back(e->conversions[k], original, e->converted[k]);
            original = e->converted[k];
        }
    size_t stored = e->set.count < e->capacity ? e->set.count : e->capacity;
    for (size_t k = 0; k < stored; k++)
        if (same_forces(e, original, e->found + k * e->rows))
            return;
    if (e->set.count < e->capacity && e->rows)
        memcpy(e->found + e->set.count * e->rows, original, e->rows * sizeof *original);
    e->set.count++;
}

/* --- one mode, all modes ---------------------------------------------------------------------- */

/* The largest product of a force and an entry of the matrix: rounding is relative to that. */
static double largest_product(const rg_enumeration *e) {
    double largest = e->scale;
    for (size_t i = 0; i < e->size; i++)
        for (size_t j = 0; j < e->size; j++)
            largest = fmax(largest, fabs(rg_linear_row(e->problem, i)[j] * e->force[j]));
    return largest;
}

static void try_mode(rg_enumeration *e) {
    double rest = rg_enumeration_solve(e);
    if (e->rank < e->unknowns) {
        double largest = e->scale;
        for (size_t r = 0; r < e->unknowns; r++)
            largest = fmax(largest, fabs(e->right[r]));
        if (rest <= CONSISTENT_TOLERANCE * largest) {
            rg_enumeration_refine(e);
            rg_enumeration_solve_singular(e);
        }
        if (e->dropped > ROUNDING_PIVOT ||
            (rest > CONSISTENT_TOLERANCE * largest && rest <= DOUBT_TOLERANCE * largest))
            e->doubtful++;
        return;
    }
    if (forces_hopeless(e))
        return;
    rg_enumeration_refine(e);
    rg_enumeration_spread(e, e->x, true, e->force, e->velocity);
    double slack = rg_enumeration_slack(e, e->force, e->velocity);
    if (slack >= -e->tolerance)
        rg_enumeration_report(e, e->force);
    else if (!(slack < -DOUBT_TOLERANCE * largest_product(e)))
        e->doubtful++;
}

static void try_all(rg_enumeration *e) {
    for (size_t i = 0; i < e->size; i++)
        set_option(e, i, 0);
    do {
        e->set.modes++;
        try_mode(e);
    } while (next_mode(e));
}

/* The judge's weights: the diagonal, or the largest entry of the column where it is not
 * positive. */
static void fill_weights(const rg_linear_problem *p, double *weight) {
    for (size_t i = 0; i < p->size; i++) {
        double w = rg_linear_row(p, i)[i];
        if (!(w > 0)) {
            w = 0;
            for (size_t j = 0; j < p->size; j++)
                w = fmax(w, fabs(rg_linear_row(p, j)[i]));
        }
        weight[i] = w > 0 ? w : 1;
    }
}

static rg_status prepare(rg_enumeration *e, rg_solve_context *context, const rg_problem *problem,
                         double tolerance, rg_error *error) {
    const rg_linear_problem *p = &problem->linear;
    size_t n = p->size;
    *e = (rg_enumeration){.problem = p, .size = n, .rows = n, .budget = CORNER_BUDGET};
    e->scale = rg_problem_scale(problem);
    e->tolerance = (tolerance > 0 ? tolerance : rg_solve_settings_default().tolerance) * e->scale;
    RG_TAKE(e->chooser, context, n, error);
    RG_TAKE(e->weight, context, n, error);
    RG_TAKE(e->state, context, n, error);
    RG_TAKE(e->claim, context, n, error);
    RG_TAKE(e->value, context, n, error);
    RG_TAKE(e->unknown, context, n, error);
    RG_TAKE(e->matrix, context, n * n, error);
    RG_TAKE(e->lu, context, n * n, error);
    RG_TAKE(e->right, context, n, error);
    RG_TAKE(e->x, context, n, error);
    RG_TAKE(e->residual, context, n, error);
    RG_TAKE(e->row_scale, context, n, error);
    RG_TAKE(e->column_scale, context, n, error);
    RG_TAKE(e->row_order, context, n, error);
    RG_TAKE(e->column_order, context, n, error);
    RG_TAKE(e->null_space, context, n * n, error);
    RG_TAKE(e->force, context, n, error);
    RG_TAKE(e->velocity, context, n, error);
    RG_TAKE(e->direction, context, n, error);
    RG_TAKE(e->change, context, n, error);
    RG_TAKE(e->slack, context, 2 * n, error);
    RG_TAKE(e->slack_change, context, 2 * n * n, error);
    fill_weights(p, e->weight);
    e->rows_weight = e->weight;
    for (size_t i = 0; i < n; i++) {
        size_t options = options_of(p, i);
        if (options > 1)
            e->chooser[e->choosers++] = (rg_chooser){(uint32_t)i, (uint32_t)options, 0};
    }
    return RG_OK;
}

/* --- the solver ------------------------------------------------------------------------------- */

/* Solutions that are kept to tell them apart; more are counted as if they were distinct. */
enum { KEPT_MAX = 32 };

static rg_status solve_enumerate(rg_solve_context *context, const rg_problem *problem,
                                 const rg_solve_settings *settings, rg_solution *solution,
                                 rg_solve_report *report, rg_error *error) {
    const rg_linear_problem *p = &problem->linear;
    size_t modes = 0;
    const char *obstacle = problem->kind != RG_PROBLEM_LINEAR
                               ? "not a linear problem: there are no modes to enumerate"
                               : find_obstacle(p, &modes);
    if (obstacle) {
        report->outcome = RG_SOLVE_UNSUITABLE;
        snprintf(report->text, sizeof report->text, "%s", obstacle);
        return RG_OK;
    }
    rg_enumeration e;
    rg_status status = prepare(&e, context, problem, settings->tolerance, error);
    if (status != RG_OK)
        return status;
    e.policy = settings->policy;
    e.capacity = KEPT_MAX;
    RG_TAKE(e.found, context, KEPT_MAX * e.rows, error);
    RG_TAKE(e.best, context, e.rows, error);
    try_all(&e);
    report->iterations = report->factorisations = e.set.modes;
    if (!e.set.count) {
        memset(solution->force, 0, e.size * sizeof *solution->force);
        if (solution->ray)
            memset(solution->ray, 0, e.size * sizeof *solution->ray);
        report->outcome = e.doubtful ? RG_SOLVE_STALLED : RG_SOLVE_INFEASIBLE;
        if (e.doubtful)
            snprintf(
                report->text, sizeof report->text,
                "no forces were found: all %zu modes were tried; rounding leaves %zu undecided",
                e.set.modes, e.doubtful);
        else
            snprintf(report->text, sizeof report->text,
                     "no forces meet the conditions: all %zu modes were tried, none has a solution",
                     e.set.modes);
        return RG_OK;
    }
    memcpy(solution->force, e.best, e.size * sizeof *e.best);
    report->outcome = RG_SOLVED;
    if (e.set.count > 1 || e.set.continuum)
        snprintf(report->text, sizeof report->text,
                 "%zu distinct solutions%s; the one with the %s sum of normal forces", e.set.count,
                 e.set.continuum ? " and a continuum between" : "",
                 settings->policy == RG_POLICY_LARGEST_FORCE ? "largest" : "smallest");
    return RG_OK;
}

const rg_solver rg_solver_enumerate = {
    "enumerate", "tries every mode of a small problem (16 rows, 6 friction contacts): the oracle",
    RG_ACCEPT_LINEAR | RG_ACCEPT_FRICTION, solve_enumerate};

/* --- all solutions ---------------------------------------------------------------------------- */

/* Brings any contact problem that has a linear form into it, in one or two steps. */
static rg_status bring_to_rows(rg_solve_context *context, const rg_problem *problem,
                               rg_conversion conversions[2], size_t *count, rg_error *error) {
    const rg_problem *current = problem;
    const rg_contact_problem *c = &problem->contact;
    bool friction = false;
    *count = 0;
    for (size_t i = 0; c->mu && c->dimension > 1 && i < c->contacts; i++)
        friction |= c->mu[i] > 0;
    if (friction && c->dimension == 3 && c->directions == 0)
        return rg_fail(error, RG_UNSUPPORTED,
                       "the exact friction cone in space has no finite list of modes; a polygon "
                       "(directions > 0) has");
    if (c->form == RG_FORM_GLOBAL) {
        rg_status status =
            rg_convert(context, current, RG_CONVERT_CONDENSE, &conversions[0], error);
        if (status != RG_OK)
            return status;
        current = &conversions[0].problem;
        *count = 1;
    }
    rg_conversion_kind kind = friction && c->dimension == 3 ? RG_CONVERT_POLYGON : RG_CONVERT_ROWS;
    rg_status status = rg_convert(context, current, kind, &conversions[*count], error);
    *count += status == RG_OK;
    return status;
}

/* The caller's rows in units of a: by the linear rows that carry the same force. */
static rg_status weigh_rows(rg_enumeration *e, rg_solve_context *context, const rg_problem *problem,
                            rg_error *error) {
    e->rows = rg_problem_rows(problem);
    double largest = 0;
    for (size_t i = 0; i < e->size; i++)
        largest = fmax(largest, e->weight[i]);
    RG_TAKE(e->rows_weight, context, e->rows, error);
    /* Contact rows come in the same unit: one weight does for telling solutions apart. */
    for (size_t i = 0; i < e->rows; i++)
        e->rows_weight[i] = largest > 0 ? largest : 1;
    return RG_OK;
}

static rg_status solve_all(rg_solve_context *context, const rg_problem *problem, double tolerance,
                           double *forces, size_t capacity, rg_solution_set *set, rg_error *error) {
    rg_conversion conversions[2];
    size_t count = 0, modes;
    const rg_problem *linear = problem;
    if (problem->kind == RG_PROBLEM_CONTACT) {
        rg_status status = bring_to_rows(context, problem, conversions, &count, error);
        if (status != RG_OK)
            return status;
        linear = &conversions[count - 1].problem;
    }
    const char *obstacle = find_obstacle(&linear->linear, &modes);
    if (obstacle)
        return rg_fail(error, RG_LIMIT_EXCEEDED, "%s", obstacle);
    rg_enumeration e;
    rg_status status = prepare(&e, context, linear, tolerance, error);
    if (status != RG_OK)
        return status;
    if (count) {
        status = weigh_rows(&e, context, problem, error);
        if (status != RG_OK)
            return status;
        for (size_t k = 0; k < count; k++) {
            e.conversions[k] = &conversions[k];
            RG_TAKE(e.converted[k], context, e.rows, error);
        }
    }
    e.found = forces;
    e.capacity = capacity;
    try_all(&e);
    *set = e.set;
    return RG_OK;
}

rg_status rg_solve_all(rg_solve_context *context, const rg_problem *problem, double tolerance,
                       double *forces, size_t capacity, rg_solution_set *set, rg_error *error) {
    *set = (rg_solution_set){0};
    rg_status status = rg_problem_check(problem, error);
    if (status != RG_OK)
        return status;
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    context->depth++;
    status = solve_all(context, problem, tolerance, forces, capacity, set, error);
    context->depth--;
    if (context->depth == 0)
        rg_arena_reset(&context->arena);
    else
        rg_arena_return(&context->arena, mark);
    return status;
}
