/* The frictionless problem as a convex quadratic program, by an interior point: for comparison with
 * the pivoting solvers.
 *
 * Baraff 1989, (16): min f'(A f + b) subject to A f + b >= 0, f >= 0. For A symmetric positive
 * semidefinite the minimum is 0 exactly where the contact conditions hold, and the primal-dual path
 * f_i a_i = mu, mu -> 0, leads there: the objective is the gap n mu. Bounded rows have two
 * multipliers, a = p - q with p (f - lower) = mu and q (upper - f) = mu; free rows have a = 0.
 *
 * Method: Newton's method on these equations with Mehrotra's predictor and corrector (1992), one
 * Cholesky factor of A + diag(p / (f - lower) + q / (upper - f)) an iteration; pivots that vanish
 * (redundant free rows) are passed over. At the end the rows that carry force are taken as known
 * and their equations are solved to full precision from the interior point, with a factor that
 * shows the rank, so that the forces where several are possible stay those of the interior point:
 * the analytic centre, not a corner.
 *
 * O(n^3) an iteration, 10 to 25 iterations.
 *
 * How it fails: NOT_SYMMETRIC, INDEFINITE (found by a factor with diagonal pivoting); INFEASIBLE
 * with the ray y >= 0, A y = 0, b'y < 0 (Farkas); LIMIT; UNSUITABLE with friction. */
#include "base/base_dense.h"
#include "base/base_long.h"
#include "base/base_math.h"
#include "solve/solve.h"

#include <stdio.h>
#include <string.h>

/* All relative to scaled numbers: unit diagonal, largest |b| of 1. */
#define GAP_END        1e-13 /* mean of f a at which the path ends, over the largest f or 1 */
#define RESIDUAL_END   1e-13 /* of A f + b = p - q */
#define BOUNDARY_SHARE 0.995 /* of the way to the nearest bound that a step may go */
#define NEGATIVE_PIVOT 1e-9  /* a pivot below minus this: indefinite */
#define RANK_PIVOT     1e-11 /* a pivot below this: a dependent row */
#define RAY_SUPPORT    1e-3 /* share of the largest force below which a force is no part of a ray */
#define FARKAS_NULL    1e-12 /* |A y| of the ray y, |y| = 1: rounding */
#define FARKAS_VALUE   1e-8  /* -b'y of the ray */
#define RAY_SIZE       1e5   /* forces above this are tested for being a ray */
#define FARKAS         1e-8  /* |A y| and -b'y of the ray y, |y| = 1 */
#define ROUNDING_PIVOT                                                                             \
    1e-14 /* a pivot of the Newton matrix below this share of its diagonal is none */

enum { ITERATIONS_MAX = 100, POLISH_ROUNDS = 20, REFINEMENTS = 3 };

typedef struct program {
    const rg_solve_context *context;
    const rg_linear_problem *problem;
    size_t size;
    double unit; /* of scaled forces and accelerations */
    double *a, *scale, *b, *lower, *upper;
    bool *fixed;
    double *f, *p, *q;                  /* forces, multipliers of the bounds */
    double *df, *dp, *dq, *rest;        /* rest: A f + b - p + q */
    double *right, *diagonal, *cp, *cq; /* cp, cq: products that the corrector aims at */
    double *factor;
    uint32_t *order;
    double *best;
    uint64_t iterations, factorisations;
} program;

/* --- set-up ----------------------------------------------------------------------------------- */

static rg_status take_program(program *p, rg_solve_context *context, size_t n, rg_error *error) {
    double **arrays[] = {&p->scale,    &p->b,  &p->lower, &p->upper, &p->f,    &p->p,
                         &p->q,        &p->df, &p->dp,    &p->dq,    &p->rest, &p->right,
                         &p->diagonal, &p->cp, &p->cq,    &p->best};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        RG_TAKE(*arrays[i], context, n, error);
    RG_TAKE(p->a, context, n * n, error);
    RG_TAKE(p->factor, context, n * n, error);
    RG_TAKE(p->order, context, n, error);
    RG_TAKE(p->fixed, context, n, error);
    return RG_OK;
}

static void set_bounds(program *p, size_t i) {
    const rg_linear_problem *l = p->problem;
    rg_row_kind kind = rg_row_kind_at(l, i);
    p->lower[i] = kind == RG_ROW_FREE ? -INFINITY : kind == RG_ROW_BOUNDED ? l->lower[i] : 0;
    p->upper[i] = kind == RG_ROW_BOUNDED ? l->upper[i] : INFINITY;
    p->fixed[i] = p->lower[i] == p->upper[i];
}

/* Unit diagonal; forces and b in a unit in which the largest |b| is 1. */
static void scale_program(program *p) {
    const rg_linear_problem *l = p->problem;
    size_t n = p->size;
    p->unit = 0;
    for (size_t i = 0; i < n; i++) {
        double d = rg_linear_row(l, i)[i];
        p->scale[i] = d > 0 ? 1 / sqrt(d) : 1;
        p->unit = fmax(p->unit, fabs(l->b[i]) * p->scale[i]);
    }
    for (size_t i = 0; i < n; i++) {
        set_bounds(p, i);
        double start = isfinite(p->lower[i])   ? p->lower[i]
                       : isfinite(p->upper[i]) ? p->upper[i]
                                               : 0;
        p->unit = fmax(p->unit, fabs(start) / p->scale[i]);
    }
    if (!(p->unit > 0))
        p->unit = 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            p->a[i * n + j] =
                0.5 * (rg_linear_row(l, i)[j] + rg_linear_row(l, j)[i]) * p->scale[i] * p->scale[j];
        p->b[i] = l->b[i] * p->scale[i] / p->unit;
        p->lower[i] /= p->scale[i] * p->unit;
        p->upper[i] /= p->scale[i] * p->unit;
    }
}

/* --- factors ---------------------------------------------------------------------------------- */

/* Cholesky with diagonal pivoting of the rows and columns in p->order[0 .. count); the rank is
 * returned, the order changed. *indefinite: a negative pivot, or entries left without a
 * diagonal. */
static size_t factor_with_rank(program *p, size_t count, bool *indefinite) {
    size_t n = p->size, k = 0;
    double *m = p->factor;
    *indefinite = false;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            m[i * n + j] = p->a[p->order[i] * n + p->order[j]];
    for (; k < count; k++) {
        size_t best = k;
        for (size_t i = k; i < count; i++) {
            *indefinite |= m[i * n + i] < -NEGATIVE_PIVOT;
            if (m[i * n + i] > m[best * n + best])
                best = i;
        }
        if (m[best * n + best] <= RANK_PIVOT)
            break;
        rg_swap_numbers(&p->order[k], &p->order[best]);
        rg_dense_swap_rows(m, n, k, best, count);
        rg_dense_swap_columns(m, n, k, best, count);
        double root = sqrt(m[k * n + k]);
        m[k * n + k] = root;
        for (size_t i = k + 1; i < count; i++)
            m[i * n + k] /= root;
        for (size_t i = k + 1; i < count; i++)
            for (size_t j = k + 1; j < count; j++)
                m[i * n + j] -= m[i * n + k] * m[j * n + k];
    }
    for (size_t i = k; i < count; i++)
        for (size_t j = k; j < count; j++)
            *indefinite |= fabs(m[i * n + j]) > sqrt(NEGATIVE_PIVOT);
    p->factorisations++;
    return k;
}

static void solve_lower_upper(const double *m, size_t n, size_t k, double *x) {
    for (size_t i = 0; i < k; i++)
        x[i] = (x[i] - rg_dense_dot(m + i * n, x, i)) / m[i * n + i];
    for (size_t i = k; i-- > 0;) {
        x[i] /= m[i * n + i];
        for (size_t j = 0; j < i; j++)
            x[j] -= m[i * n + j] * x[i];
    }
}

/* Cholesky of A + diagonal, row by row. A pivot that vanishes becomes huge: its unknown stays. */
static void factor_newton(program *p) {
    size_t n = p->size;
    double *m = p->factor;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            m[i * n + j] = (p->a[i * n + j] - rg_dense_dot(m + i * n, m + j * n, j)) / m[j * n + j];
        double whole = p->a[i * n + i] + p->diagonal[i];
        double pivot = whole - rg_dense_dot(m + i * n, m + i * n, i);
        m[i * n + i] = pivot > ROUNDING_PIVOT * whole ? sqrt(pivot) : 1e100;
    }
    p->factorisations++;
}

/* --- the path --------------------------------------------------------------------------------- */

static bool has_lower(const program *p, size_t i) {
    return isfinite(p->lower[i]) && !p->fixed[i];
}

static bool has_upper(const program *p, size_t i) {
    return isfinite(p->upper[i]) && !p->fixed[i];
}

static void start_path(program *p) {
    for (size_t i = 0; i < p->size; i++) {
        bool low = has_lower(p, i), high = has_upper(p, i);
        p->p[i] = low ? 1 : 0;
        p->q[i] = high ? 1 : 0;
        p->f[i] = p->fixed[i]   ? p->lower[i]
                  : low && high ? 0.5 * (p->lower[i] + p->upper[i])
                  : low         ? p->lower[i] + 1
                  : high        ? p->upper[i] - 1
                                : 0;
    }
}

/* Mean of the products f a, and the largest residual of A f + b = p - q. */
static double measure(program *p, double *residual) {
    double gap = 0;
    size_t count = 0;
    *residual = 0;
    for (size_t i = 0; i < p->size; i++) {
        p->rest[i] = rg_dense_dot(p->a + i * p->size, p->f, p->size) + p->b[i] - p->p[i] + p->q[i];
        if (p->fixed[i]) {
            p->rest[i] = 0;
            continue;
        }
        *residual = fmax(*residual, fabs(p->rest[i]));
        if (has_lower(p, i))
            gap += p->p[i] * (p->f[i] - p->lower[i]), count++;
        if (has_upper(p, i))
            gap += p->q[i] * (p->upper[i] - p->f[i]), count++;
    }
    return count ? gap / (double)count : 0;
}

static void set_diagonal(program *p) {
    for (size_t i = 0; i < p->size; i++) {
        double d = 0;
        if (has_lower(p, i))
            d += p->p[i] / (p->f[i] - p->lower[i]);
        if (has_upper(p, i))
            d += p->q[i] / (p->upper[i] - p->f[i]);
        p->diagonal[i] = p->fixed[i] ? 1e100 : d;
    }
}

/* Newton step towards the products cp, cq (of p and f - lower, q and upper - f). */
static void find_step(program *p) {
    size_t n = p->size;
    for (size_t i = 0; i < n; i++) {
        double right = -p->rest[i];
        if (has_lower(p, i))
            right += p->cp[i] / (p->f[i] - p->lower[i]) - p->p[i];
        if (has_upper(p, i))
            right -= p->cq[i] / (p->upper[i] - p->f[i]) - p->q[i];
        p->df[i] = p->fixed[i] ? 0 : right;
    }
    solve_lower_upper(p->factor, n, n, p->df);
    for (size_t i = 0; i < n; i++) {
        p->dp[i] = p->dq[i] = 0;
        if (has_lower(p, i))
            p->dp[i] = (p->cp[i] - p->p[i] * p->df[i]) / (p->f[i] - p->lower[i]) - p->p[i];
        if (has_upper(p, i))
            p->dq[i] = (p->cq[i] + p->q[i] * p->df[i]) / (p->upper[i] - p->f[i]) - p->q[i];
    }
}

static double shorten(double step, double value, double change) {
    return change < 0 ? fmin(step, -value / change) : step;
}

static double longest_step(const program *p) {
    double step = 1 / BOUNDARY_SHARE;
    for (size_t i = 0; i < p->size; i++) {
        if (has_lower(p, i)) {
            step = shorten(step, p->f[i] - p->lower[i], p->df[i]);
            step = shorten(step, p->p[i], p->dp[i]);
        }
        if (has_upper(p, i)) {
            step = shorten(step, p->upper[i] - p->f[i], -p->df[i]);
            step = shorten(step, p->q[i], p->dq[i]);
        }
    }
    return step;
}

/* The gap after a step of the predictor. */
static double predicted_gap(const program *p, double step) {
    double gap = 0;
    size_t count = 0;
    for (size_t i = 0; i < p->size; i++) {
        if (has_lower(p, i)) {
            gap += (p->p[i] + step * p->dp[i]) * (p->f[i] - p->lower[i] + step * p->df[i]);
            count++;
        }
        if (has_upper(p, i)) {
            gap += (p->q[i] + step * p->dq[i]) * (p->upper[i] - p->f[i] - step * p->df[i]);
            count++;
        }
    }
    return count ? gap / (double)count : 0;
}

static void iterate(program *p, double gap) {
    size_t n = p->size;
    set_diagonal(p);
    factor_newton(p);
    memset(p->cp, 0, n * sizeof *p->cp);
    memset(p->cq, 0, n * sizeof *p->cq);
    find_step(p);
    double step = fmin(1, longest_step(p)), share = gap > 0 ? predicted_gap(p, step) / gap : 0;
    double target = gap * share * share * share;
    for (size_t i = 0; i < n; i++) {
        p->cp[i] = target - p->dp[i] * p->df[i];
        p->cq[i] = target + p->dq[i] * p->df[i];
    }
    find_step(p);
    step = BOUNDARY_SHARE * longest_step(p);
    for (size_t i = 0; i < n; i++) {
        p->f[i] += step * p->df[i];
        p->p[i] += step * p->dp[i];
        p->q[i] += step * p->dq[i];
    }
    p->iterations++;
}

/* y in the null space of A over its own support: the dependent rows keep their part, the others
 * follow. */
static void project_on_null_space(program *p, double *y) {
    size_t n = p->size, count = 0;
    bool indefinite;
    for (size_t i = 0; i < n; i++)
        if (y[i] != 0)
            p->order[count++] = (uint32_t)i;
    size_t rank = factor_with_rank(p, count, &indefinite);
    for (size_t k = 0; k < rank; k++) {
        p->right[k] = 0;
        for (size_t j = rank; j < count; j++)
            p->right[k] -= p->a[p->order[k] * n + p->order[j]] * y[p->order[j]];
    }
    solve_lower_upper(p->factor, n, rank, p->right);
    for (size_t k = 0; k < rank; k++)
        y[p->order[k]] = p->right[k];
}

/* The forces run away along y: with A y = 0, b'y < 0 and y in the directions that bounds allow, no
 * forces meet the conditions (Farkas). Forces may be large without that: A y must vanish to
 * rounding. */
static bool is_ray(program *p, double *y) {
    double size = 0, value = 0;
    for (size_t i = 0; i < p->size; i++)
        size = fmax(size, fabs(p->f[i]));
    if (size < RAY_SIZE)
        return false;
    for (size_t i = 0; i < p->size; i++) {
        y[i] = p->f[i] / size;
        if (fabs(y[i]) < RAY_SUPPORT || p->fixed[i])
            y[i] = 0;
    }
    project_on_null_space(p, y);
    for (size_t i = 0; i < p->size; i++) {
        if ((y[i] < 0 && isfinite(p->lower[i])) || (y[i] > 0 && isfinite(p->upper[i])))
            return false;
        value += y[i] * p->b[i];
    }
    for (size_t i = 0; i < p->size; i++)
        if (fabs(rg_dense_dot(p->a + i * p->size, y, p->size)) > FARKAS_NULL)
            return false;
    return value < -FARKAS_VALUE;
}

/* Free rows that depend on each other must do so with their b, too: A_FF y = 0 means A y = 0 for a
 * semidefinite A. The ray then goes to y. */
static bool equations_contradict(program *p, double *y) {
    size_t n = p->size, count = 0;
    bool indefinite;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(p->lower[i]) && !isfinite(p->upper[i]))
            p->order[count++] = (uint32_t)i;
    size_t rank = factor_with_rank(p, count, &indefinite);
    for (size_t k = rank; k < count; k++) {
        double value = p->b[p->order[k]];
        memset(y, 0, n * sizeof *y);
        for (size_t j = 0; j < rank; j++)
            p->right[j] = -p->a[p->order[j] * n + p->order[k]];
        solve_lower_upper(p->factor, n, rank, p->right);
        for (size_t j = 0; j < rank; j++) {
            y[p->order[j]] = p->right[j];
            value += p->right[j] * p->b[p->order[j]];
        }
        y[p->order[k]] = 1;
        if (fabs(value) <= FARKAS_VALUE)
            continue;
        for (size_t i = 0; value > 0 && i < n; i++)
            y[i] = -y[i];
        return true;
    }
    return false;
}

static rg_solve_outcome follow_path(program *p, uint32_t limit) {
    if (equations_contradict(p, p->best))
        return RG_SOLVE_INFEASIBLE;
    start_path(p);
    for (;;) {
        double residual, gap = measure(p, &residual), size = 1;
        for (size_t i = 0; i < p->size; i++)
            size = fmax(size, fabs(p->f[i]));
        if (gap <= GAP_END * size && residual <= RESIDUAL_END * size)
            return RG_SOLVED;
        if (!isfinite(gap) || !isfinite(residual))
            return RG_SOLVE_STALLED;
        if (is_ray(p, p->best))
            return RG_SOLVE_INFEASIBLE;
        if (p->iterations >= limit || rg_solve_stops(p->context))
            return RG_SOLVE_LIMIT;
        iterate(p, gap);
    }
}

/* --- the end ---------------------------------------------------------------------------------- */

/* |f - P(f - a)| at its largest; the accelerations stay in p->rest. */
static double natural_residual(program *p, const double *f) {
    double worst = 0;
    for (size_t i = 0; i < p->size; i++) {
        double a = rg_dense_dot(p->a + i * p->size, f, p->size) + p->b[i], to = f[i] - a;
        double off = to < p->lower[i]   ? f[i] - p->lower[i]
                     : to > p->upper[i] ? f[i] - p->upper[i]
                                        : a;
        p->rest[i] = a;
        worst = fmax(worst, fabs(off));
    }
    return worst;
}

/* Puts every row at a bound or between, and moves the forces between bounds until their
 * accelerations vanish. Rows that leave their bounds on the way go to them. */
static void polish(program *p) {
    size_t n = p->size;
    double before = natural_residual(p, p->f);
    memcpy(p->best, p->f, n * sizeof *p->f);
    bool *held = p->fixed; /* grows */
    for (size_t i = 0; i < n; i++) {
        bool low = has_lower(p, i) && p->f[i] - p->lower[i] < p->p[i];
        bool high = has_upper(p, i) && p->upper[i] - p->f[i] < p->q[i];
        if (low || high) {
            p->f[i] = low ? p->lower[i] : p->upper[i];
            held[i] = true;
        }
    }
    for (int round = 0; round < POLISH_ROUNDS; round++) {
        size_t count = 0;
        bool indefinite, changed = false;
        for (size_t i = 0; i < n; i++)
            if (!held[i])
                p->order[count++] = (uint32_t)i;
        size_t rank = factor_with_rank(p, count, &indefinite);
        for (int step = 0; step < REFINEMENTS; step++) {
            for (size_t k = 0; k < rank; k++) {
                rg_long sum = rg_long_of(p->b[p->order[k]]);
                const double *row = p->a + p->order[k] * n;
                for (size_t j = 0; j < n; j++)
                    if (p->f[j] != 0)
                        sum = rg_long_add(sum, rg_long_product(row[j], p->f[j]));
                p->right[k] = -rg_long_round(sum);
            }
            solve_lower_upper(p->factor, n, rank, p->right);
            for (size_t k = 0; k < rank; k++)
                p->f[p->order[k]] += p->right[k];
        }
        for (size_t i = 0; i < n; i++)
            if (!held[i] && (p->f[i] < p->lower[i] || p->f[i] > p->upper[i])) {
                p->f[i] = p->f[i] < p->lower[i] ? p->lower[i] : p->upper[i];
                held[i] = changed = true;
            }
        if (!changed)
            break;
    }
    if (natural_residual(p, p->f) > before)
        memcpy(p->f, p->best, n * sizeof *p->f);
}

/* --- the solver ------------------------------------------------------------------------------- */

static const char *text_of(rg_solve_outcome outcome) {
    switch (outcome) {
    case RG_SOLVE_NOT_SYMMETRIC:
        return "the quadratic program needs a symmetric matrix";
    case RG_SOLVE_INDEFINITE:
        return "the quadratic program needs a positive semidefinite matrix";
    case RG_SOLVE_INFEASIBLE:
        return "no forces meet the conditions: A ray = 0, ray >= 0, b.ray < 0 (Farkas)";
    case RG_SOLVE_UNSUITABLE:
        return "friction is not a quadratic program; dantzig or lemke take it";
    case RG_SOLVE_LIMIT:
        return "the iterations ran out";
    case RG_SOLVE_STALLED:
        return "the path overflowed";
    default:
        return "";
    }
}

static rg_solve_outcome find_outcome(program *p, const rg_solve_settings *settings) {
    for (size_t i = 0; i < p->size; i++) {
        rg_row_kind kind = rg_row_kind_at(p->problem, i);
        if (kind == RG_ROW_STATIC || kind == RG_ROW_DYNAMIC)
            return RG_SOLVE_UNSUITABLE;
    }
    if (!rg_linear_is_symmetric(p->problem))
        return RG_SOLVE_NOT_SYMMETRIC;
    bool indefinite = false;
    scale_program(p);
    for (size_t i = 0; i < p->size; i++) {
        indefinite |= rg_linear_row(p->problem, i)[i] < 0;
        p->order[i] = (uint32_t)i;
    }
    if (!indefinite)
        factor_with_rank(p, p->size, &indefinite);
    if (indefinite)
        return RG_SOLVE_INDEFINITE;
    return follow_path(p, settings->iteration_limit ? settings->iteration_limit : ITERATIONS_MAX);
}

static rg_status solve_qp(rg_solve_context *context, const rg_problem *problem,
                          const rg_solve_settings *settings, rg_solution *solution,
                          rg_solve_report *report, rg_error *error) {
    program p = {.context = context, .problem = &problem->linear, .size = problem->linear.size};
    if (problem->kind != RG_PROBLEM_LINEAR) {
        report->outcome = RG_SOLVE_UNSUITABLE;
        snprintf(report->text, sizeof report->text, "%s", text_of(RG_SOLVE_UNSUITABLE));
        return RG_OK;
    }
    rg_status status = take_program(&p, context, p.size, error);
    if (status != RG_OK)
        return status;
    report->outcome = find_outcome(&p, settings);
    bool started = p.iterations > 0 || report->outcome == RG_SOLVED;
    if (report->outcome == RG_SOLVE_INFEASIBLE) {
        for (size_t i = 0; solution->ray && i < p.size; i++)
            solution->ray[i] = p.best[i] * p.scale[i];
        started = false;
    } else if (started && report->outcome != RG_SOLVE_STALLED) {
        polish(&p);
    }
    for (size_t i = 0; i < p.size; i++)
        solution->force[i] = started && isfinite(p.f[i]) ? p.f[i] * p.scale[i] * p.unit : 0;
    report->iterations = p.iterations;
    report->factorisations = p.factorisations;
    snprintf(report->text, sizeof report->text, "%s", text_of(report->outcome));
    return RG_OK;
}

const rg_solver rg_solver_qp = {
    "qp", "interior point for the frictionless problem as a quadratic program (Baraff 1989)",
    RG_ACCEPT_LINEAR, solve_qp};
