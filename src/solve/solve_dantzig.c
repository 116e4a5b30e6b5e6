/* Dantzig's pivoting for contact forces (Cottle and Dantzig 1968; Baraff, "Fast contact force
 * computation for nonpenetrating rigid bodies", 1994).
 *
 * Problem: a = A f + b with A symmetric positive semidefinite; row by row f at a bound with a of
 * the right sign, or between its bounds with a = 0. Unilateral rows have the bounds [0, inf), free
 * rows none.
 *
 * Method: rows are driven to their conditions one by one while those that meet theirs keep meeting
 * them (solve_dantzig_drive.c). C is the set of rows with a = 0 whose forces follow from the
 * others; its matrix is kept as an incremental LDL^T, always regular: a row that depends on C stays
 * outside with its force at rest, a = 0 being the consequence of the others. The pivoting and the
 * answer are about the matrix as it is, without a shift (the guess before it uses one).
 *
 *   small       problems with few rows: the same without what follows (solve_dantzig_small.c)
 *   order       an order of the rows that brings the entries near the diagonal, where the factor
 *               keeps to its envelope (solve_dantzig_order.c)
 *   prepare     units that make the diagonal about 1 (powers of two, so nothing is rounded)
 *   start       a guess of C (solve_dantzig_start.c, or the forces of a warm start). Any C whose
 *               forces lie within their bounds is a point that the method could have come by: rows
 *               that are violated wait, the others are kept. The guess decides the time and, where
 *               forces are not unique, which of them; not whether they are right
 *   accept      if the guess has no wrong sign left, its factor takes the forces to the true matrix
 *               (proximal point steps), and if all conditions hold then, that is the end
 *   rounds      settle (forces from C by the factor with the true matrix as judge), collect
 *               violated rows, drive each; a round that finds none is the last. If ties hold it up,
 *               some rounds run with a slightly relaxed b; the last never does
 *   finish      forces refined with residuals in twice the precision where large forces cancel
 *
 * Complexity: a pivot costs two substitutions and a product with the columns of C, O(n^2) at most
 * and much less if the matrix is sparse; about one to two pivots per row from nothing, a few from a
 * good guess.
 *
 * How it ends otherwise: INFEASIBLE with a null vector v, v' b < 0, as the proof; INDEFINITE if a
 * direction v with v' A v < 0 comes up on the way; NOT_SYMMETRIC; STALLED or LIMIT after 30 rounds
 * or 100 n pivots. */
#include "solve/solve_dantzig.h"

#include "base/base_long.h"
#include "base/base_math.h"
#include "problem/problem.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS_MAX = 30, REFINE_MAX = 4 };
/* Rounds with the true b at first, if there is a guess to start from. */
enum { PLAIN_ROUNDS = 2 };
/* By how much rows are relaxed against ties, relative to |b|: at first; a tenth of it each time
 * after. */
#define RELAX_SIZE 1e-7
/* Pivots at most: this times the rows, and some. */
enum { PIVOTS_PER_ROW = 100, PIVOTS_BASE = 1000 };
/* Forces are refined until a in C is below this, relative to the row's magnitude, or gets no
 * better. */
#define REFINE_TOLERANCE 4e-16
/* The error of a by plain sums, relative to |b| + sum |A_ij f_j|. Long sums at the end if that
 * comes near the tolerance. */
#define LONG_SUMS_ERROR 1e-14
/* An answer from a guess that misses this share of the tolerance is compared with one from
 * nothing. */
#define RETRY_SHARE 0.05
/* A null vector is a proof if A v is below this, relative to |A| |v|. */
#define CERTIFICATE_TOLERANCE 1e-8

/* --- prepare ---------------------------------------------------------------------------------- */

static rg_status take_memory(rg_solve_context *context, size_t n, rg_dantzig *z, rg_error *error) {
    size_t stride = (n + 7) / 8 * 8, length = stride + 8;
    z->size = n;
    z->stride = stride;
    RG_TAKE(z->factor.lower, context, n * stride, error);
    double **vectors[] = {&z->b,
                          &z->exact_b,
                          &z->lower,
                          &z->upper,
                          &z->scale,
                          &z->f,
                          &z->a,
                          &z->df,
                          &z->da,
                          &z->work,
                          &z->kept,
                          &z->row,
                          &z->allowed,
                          &z->magnitude,
                          &z->group[0],
                          &z->group[1],
                          &z->group[2],
                          &z->group[3],
                          &z->factor.work /* two */,
                          NULL,
                          &z->factor.diagonal};
    enum { VECTORS = sizeof vectors / sizeof *vectors };
    double *next;
    RG_TAKE(next, context, VECTORS * length, error);
    for (size_t k = 0; k < VECTORS; k++, next += length)
        if (vectors[k])
            *vectors[k] = next;
    uint32_t **indices[] = {&z->begin, &z->end, &z->order, &z->basis, &z->place, &z->factor.first};
    enum { INDICES = sizeof indices / sizeof *indices };
    uint32_t *index;
    RG_TAKE(index, context, INDICES * length, error);
    for (size_t k = 0; k < INDICES; k++, index += length)
        *indices[k] = index;
    RG_TAKE(z->state, context, 2 * length, error);
    z->barred = z->state + length;
    z->factor.capacity = stride;
    return RG_OK;
}

/* Of a normal number the exponent e of d = m 2^e, 1/2 <= m < 1, is read from its bits: this is done
 * for every row. */
double rg_dantzig_unit(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    int exponent = (int)(bits >> 52) - 1022;
    if (!(d > 0))
        return 1;
    if (exponent == -1022) /* denormal */
        frexp(d, &exponent);
    bits = (uint64_t)(1023 - (exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2))) << 52;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Equal to the last bit, tile by tile so that both sides stay in the cache. */
static bool is_exactly_symmetric(const rg_linear_problem *problem, const rg_entries *entries) {
    enum { TILE = 16 };
    size_t n = problem->size;
    if (!problem->matrix)
        return true;
    if (entries->starts) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = entries->starts[i]; k < entries->starts[i + 1]; k++) {
                size_t j = entries->columns[k];
                if (rg_linear_row(problem, i)[j] != rg_linear_row(problem, j)[i])
                    return false;
            }
        return true;
    }
    for (size_t i0 = 0; i0 < n; i0 += TILE)
        for (size_t j0 = 0; j0 <= i0; j0 += TILE)
            for (size_t i = i0; i < i0 + TILE && i < n; i++) {
                const double *row = rg_linear_row(problem, i);
                for (size_t j = j0; j < j0 + TILE && j < i; j++)
                    if (row[j] != rg_linear_row(problem, j)[i])
                        return false;
            }
    return true;
}

static void copy_matrix(const rg_linear_problem *problem, bool symmetric, rg_dantzig *z) {
    size_t n = z->size;
    for (size_t j = 0; j < n; j++) {
        double *column = z->columns + j * z->stride;
        const double *row = rg_linear_row(problem, j);
        for (size_t i = 0; i < n; i++) {
            double entry = symmetric ? row[i] : rg_linear_row(problem, i)[j];
            column[i] = entry * z->scale[j] * z->scale[i];
        }
        z->begin[j] = 0;
        z->end[j] = (uint32_t)n;
    }
}

/* The same from a list of the entries of a symmetric matrix, to a list in the new order. */
static void copy_entries(const rg_entries *entries, size_t *starts, uint32_t *rows, double *values,
                         rg_dantzig *z) {
    size_t n = z->size, next = 0;
    uint32_t *place = z->basis; /* free as yet */
    for (size_t i = 0; i < n; i++)
        place[z->order[i]] = (uint32_t)i;
    for (size_t j = 0; j < n; j++) {
        size_t caller = z->order[j], first = next;
        starts[j] = first;
        for (size_t k = entries->starts[caller]; k < entries->starts[caller + 1]; k++) {
            uint32_t i = place[entries->columns[k]];
            size_t at = next++; /* insertion: there are few */
            for (; at > first && rows[at - 1] > i; at--)
                rows[at] = rows[at - 1], values[at] = values[at - 1];
            rows[at] = i;
            values[at] = entries->values[k] * z->scale[j] * z->scale[i];
        }
        z->begin[j] = next > first && rows[first] < j ? rows[first] : (uint32_t)j;
        z->end[j] = next > first && rows[next - 1] > j ? rows[next - 1] + 1 : (uint32_t)j + 1;
    }
    starts[n] = next;
    z->starts = starts, z->rows = rows, z->values = values;
}

static void copy_vectors(const rg_linear_problem *problem, rg_dantzig *z) {
    for (size_t i = 0; i < z->size; i++) {
        size_t row = z->order[i];
        double s = z->scale[i];
        z->b[i] = z->exact_b[i] = problem->b[row] * s;
        z->f[i] = z->lower[i] = 0;
        z->upper[i] = INFINITY;
        if (rg_row_kind_at(problem, row) == RG_ROW_FREE)
            z->lower[i] = -INFINITY;
        else if (rg_row_kind_at(problem, row) == RG_ROW_BOUNDED) {
            z->lower[i] = problem->lower[row] / s;
            z->upper[i] = problem->upper[row] / s;
            z->f[i] = fmin(fmax(0, z->lower[i]), z->upper[i]);
        }
        z->state[i] = RG_PIVOT_WAITING;
        z->barred[i] = 0;
        z->place[i] = 0;
        z->magnitude[i] = fabs(z->b[i]);
        z->allowed[i] = 0;
    }
}

/* On the diagonal, in row i of the caller. */
static double diagonal_of(const rg_linear_problem *problem, const rg_entries *entries, size_t i) {
    if (!entries->starts)
        return rg_linear_row(problem, i)[i];
    for (size_t k = entries->starts[i]; k < entries->starts[i + 1]; k++)
        if (entries->columns[k] == i)
            return entries->values[k];
    return 0;
}

static rg_status prepare(rg_solve_context *context, const rg_linear_problem *problem,
                         const rg_entries *entries, rg_dantzig *z, rg_solve_outcome *outcome,
                         rg_error *error) {
    bool symmetric = is_exactly_symmetric(problem, entries);
    *outcome = RG_SOLVED;
    if (!symmetric && !rg_linear_is_symmetric(problem))
        *outcome = RG_SOLVE_NOT_SYMMETRIC;
    for (size_t i = 0; i < z->size && *outcome == RG_SOLVED; i++) {
        double d = diagonal_of(problem, entries, z->order[i]);
        if (d < 0)
            *outcome = RG_SOLVE_INDEFINITE;
        z->scale[i] = rg_dantzig_unit(d);
    }
    if (*outcome != RG_SOLVED)
        return RG_OK;
    if (entries->starts && symmetric) {
        size_t *starts, count = entries->starts[z->size];
        uint32_t *rows;
        double *values;
        RG_TAKE(starts, context, z->size + 1, error);
        RG_TAKE(rows, context, count, error);
        RG_TAKE(values, context, count, error);
        copy_entries(entries, starts, rows, values, z);
    } else {
        RG_TAKE(z->columns, context, z->size * z->stride, error);
        for (size_t i = 0; i < z->size; i++) {
            z->order[i] = (uint32_t)i;
            z->scale[i] = rg_dantzig_unit(rg_linear_row(problem, i)[i]);
        }
        copy_matrix(problem, symmetric, z);
    }
    copy_vectors(problem, z);
    rg_ldlt_clear(&z->factor);
    return RG_OK;
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* What the force of row j adds to a and to the magnitudes. */
static void add_force(const rg_dantzig *z, size_t j, double f) {
    double *restrict a = z->a, *restrict magnitude = z->magnitude;
    if (z->starts) {
        for (size_t k = z->starts[j]; k < z->starts[j + 1]; k++) {
            uint32_t i = z->rows[k];
            double product = z->values[k] * f;
            a[i] += product;
            magnitude[i] += fabs(product);
        }
        return;
    }
    const double *restrict column = z->columns + j * z->stride;
    for (size_t i = z->begin[j]; i < z->end[j]; i++) {
        double product = column[i] * f;
        a[i] += product;
        magnitude[i] += fabs(product);
    }
}

/* a = A f + b and the magnitudes of its rows. */
static void evaluate(rg_dantzig *z) {
    for (size_t i = 0; i < z->size; i++) {
        z->a[i] = z->b[i];
        z->magnitude[i] = fabs(z->b[i]);
    }
    for (size_t j = 0; j < z->size; j++)
        if (z->f[j] != 0)
            add_force(z, j, z->f[j]);
}

/* The same with sums in twice the precision; `da` is used for the low parts. */
static void evaluate_long(rg_dantzig *z) {
    for (size_t i = 0; i < z->size; i++) {
        z->a[i] = z->b[i];
        z->da[i] = 0;
    }
    for (size_t j = 0; j < z->size; j++) {
        double f = z->f[j];
        const double *column = z->starts ? z->values + z->starts[j] : z->columns + j * z->stride;
        size_t begin = z->starts ? 0 : z->begin[j];
        size_t end = z->starts ? z->starts[j + 1] - z->starts[j] : z->end[j];
        for (size_t k = begin; f != 0 && k < end; k++) {
            size_t i = z->starts ? z->rows[z->starts[j] + k] : k;
            rg_long product = rg_long_product(column[k], f);
            rg_long sum = rg_long_sum(z->a[i], product.hi);
            z->a[i] = sum.hi;
            z->da[i] += sum.lo + product.lo;
        }
    }
    for (size_t i = 0; i < z->size; i++)
        z->a[i] += z->da[i];
}

/* Newton's correction of the forces in C with the residual a; returns the largest |a| there
 * relative to its row's magnitude, before the correction. */
static double correct_forces(rg_dantzig *z) {
    size_t m = z->factor.size;
    double worst = 0;
    for (size_t k = 0; k < m; k++) {
        size_t i = z->basis[k];
        z->work[k] = -z->a[i];
        if (fabs(z->a[i]) > worst * z->magnitude[i])
            worst = fabs(z->a[i]) / z->magnitude[i];
    }
    if (worst <= REFINE_TOLERANCE)
        return worst;
    rg_ldlt_solve(&z->factor, z->work);
    for (size_t k = 0; k < m; k++)
        z->f[z->basis[k]] += z->work[k];
    return worst;
}

/* Forces outside their bounds leave C; those outside by rounding errors only are put at the bound.
 * *moved: was any force changed? False if one left. */
static bool keep_bounds(rg_dantzig *z, bool *moved) {
    bool kept = true;
    *moved = false;
    for (size_t k = z->factor.size; k-- > 0;) {
        size_t i = z->basis[k];
        double slack = RG_PIVOT_SLACK * z->magnitude[i], f = z->f[i];
        double bound = f < z->lower[i] ? z->lower[i] : f > z->upper[i] ? z->upper[i] : f;
        if (fabs(f - bound) > slack) {
            rg_dantzig_leave(z, i);
            z->state[i] = RG_PIVOT_WAITING;
            kept = false;
        }
        *moved = *moved || f != bound;
        z->f[i] = bound;
    }
    return kept;
}

/* Forces of C from the factor, a from the true matrix. */
static void settle(rg_dantzig *z) {
    bool moved;
    do {
        double last = INFINITY, worst = 0;
        evaluate(z);
        for (int k = 0; k < REFINE_MAX && z->factor.size; k++) {
            worst = correct_forces(z);
            if (worst <= REFINE_TOLERANCE) /* nothing was corrected */
                break;
            evaluate(z);
            if (worst > 0.5 * last)
                break;
            last = worst;
        }
    } while (!keep_bounds(z, &moved));
    if (moved)
        evaluate(z);
}

/* Rows outside C are sorted by where they stand; returns how many are violated and wait. */
static size_t collect(rg_dantzig *z) {
    size_t waiting = 0;
    for (size_t i = 0; i < z->size; i++) {
        if (z->state[i] == RG_PIVOT_BASIC)
            continue;
        double slack = RG_PIVOT_SLACK * z->magnitude[i] + z->allowed[i], a = z->a[i];
        if (z->f[i] <= z->lower[i] && a >= -slack)
            z->state[i] = RG_PIVOT_LOWER;
        else if (z->f[i] >= z->upper[i] && a <= slack)
            z->state[i] = RG_PIVOT_UPPER;
        else if (z->f[i] > z->lower[i] && z->f[i] < z->upper[i] && fabs(a) <= slack)
            z->state[i] = RG_PIVOT_INNER;
        else {
            z->state[i] = RG_PIVOT_WAITING;
            waiting++;
        }
    }
    return waiting;
}

static bool is_free(const rg_dantzig *z, size_t i) {
    return z->lower[i] == -INFINITY && z->upper[i] == INFINITY;
}

/* df of the last drive with zeros outside C and d, in the caller's units, to `ray`. */
static void write_ray(rg_dantzig *z, size_t d, double *ray) {
    if (!ray)
        return;
    for (size_t i = 0; i < z->size; i++)
        ray[z->order[i]] = i == d || z->state[i] == RG_PIVOT_BASIC ? z->df[i] * z->scale[i] : 0;
}

/* Is df a null vector? Then b' df < 0 proves that there are no forces. */
static bool is_certificate(rg_dantzig *z, size_t d) {
    double largest = 0, worst = 0, sum = 0, size = 0;
    for (size_t i = 0; i < z->size; i++)
        if (i == d || z->state[i] == RG_PIVOT_BASIC) {
            largest = fmax(largest, fabs(z->df[i]));
            sum += z->df[i] * z->exact_b[i];
            size += fabs(z->df[i] * z->exact_b[i]);
        }
    if (!(sum < -CERTIFICATE_TOLERANCE * size))
        return false;
    for (size_t i = 0; i < z->size; i++)
        z->da[i] = 0;
    for (size_t i = 0; i < z->size; i++)
        if (i == d || z->state[i] == RG_PIVOT_BASIC)
            rg_dantzig_add_column(z, i, z->df[i], z->da);
    for (size_t i = 0; i < z->size; i++)
        worst = fmax(worst, fabs(z->da[i]));
    return worst <= CERTIFICATE_TOLERANCE * largest;
}

typedef struct drive_context {
    const rg_solve_settings *settings;
    double tolerance; /* in the caller's unit of a */
    rg_solution *solution;
    rg_solve_report *report;
} drive_context;

/* After a drive that found no end: true if the row may be left as it is. */
static bool explain(rg_dantzig *z, size_t d, rg_drive_end end, drive_context *c) {
    double violation = fabs(z->a[d]) / z->scale[d];
    unsigned row = z->order[d];
    if (end == RG_DRIVE_INDEFINITE) {
        c->report->outcome = RG_SOLVE_INDEFINITE;
        snprintf(c->report->text, sizeof c->report->text,
                 "row %u: a negative pivot shows that the matrix is not positive semidefinite",
                 row);
        return false;
    }
    if (violation <= c->tolerance) { /* rows that contradict each other, but tolerably */
        z->allowed[d] = 2 * violation * z->scale[d];
        z->state[d] = RG_PIVOT_INNER;
        return true;
    }
    if (!is_certificate(z, d)) { /* too nearly dependent to tell: the judge will */
        z->allowed[d] = 2 * violation * z->scale[d];
        z->state[d] = RG_PIVOT_INNER;
        return true;
    }
    c->report->outcome = RG_SOLVE_INFEASIBLE;
    snprintf(c->report->text, sizeof c->report->text,
             "no forces satisfy row %u together with the rows that it depends on: a = %.3g there "
             "whatever the forces",
             row, z->a[d] / z->scale[d]);
    write_ray(z, d, c->solution->ray);
    return false;
}

/* Relaxes the rows a little (a larger where it must not be negative), each by another amount. Rows
 * that follow from others then lie apart, and the steps of no length that exact ties cause,
 * hundreds in a row on walls, are gone. Nothing of it stays: the round ends with the true b, and a
 * relaxed problem has no proof of infeasibility that the true one has not. */
static void relax(rg_dantzig *z, unsigned round) {
    rg_disturbance source = rg_disturbance_begin(z->exact_b, z->size, round, RELAX_SIZE, 0.1);
    for (size_t i = 0; i < z->size; i++) {
        double amount = rg_disturbance_next(&source, z->exact_b[i]);
        if (z->lower[i] > -INFINITY)
            z->b[i] = z->exact_b[i] + amount;
        else if (z->upper[i] < INFINITY)
            z->b[i] = z->exact_b[i] - amount;
    }
}

/* Drives the rows that wait: free ones first, then in order, beginning elsewhere in every round.
 * False if the solve is over. */
static bool drive_all(rg_dantzig *z, unsigned round, drive_context *c) {
    size_t n = z->size, offset = round * (n / 3 + 1) % n;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < n; k++) {
            size_t i = (k + offset) % n;
            if (z->state[i] != RG_PIVOT_WAITING || (pass == 0 && !is_free(z, i)))
                continue;
            rg_drive_end end = rg_dantzig_drive(z, i);
            if ((end == RG_DRIVE_RAY || end == RG_DRIVE_INDEFINITE) && !explain(z, i, end, c))
                return false;
            if (z->pivots >= z->pivot_limit) {
                c->report->outcome = RG_SOLVE_LIMIT;
                snprintf(c->report->text, sizeof c->report->text, "%llu pivots were not enough",
                         (unsigned long long)z->pivots);
                return false;
            }
        }
    return true;
}

static void run_rounds(rg_dantzig *z, drive_context *c) {
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        settle(z);
        size_t waiting = collect(z);
        if (!waiting) {
            c->report->outcome = RG_SOLVED;
            return;
        }
        if (round % 2 == 0 && round >= z->plain_rounds) {
            relax(z, round);
            settle(z);
            collect(z);
        }
        bool over = !drive_all(z, round, c);
        memcpy(z->b, z->exact_b, z->size * sizeof *z->b);
        if (over)
            return;
    }
    c->report->outcome = RG_SOLVE_STALLED;
    snprintf(c->report->text, sizeof c->report->text,
             "rows were still violated after %d rounds of pivoting", ROUNDS_MAX);
}

/* --- finish ----------------------------------------------------------------------------------- */

/* Plain sums are good enough unless large forces cancel, as in tall stacks. */
static bool needs_long_sums(const rg_dantzig *z, double tolerance) {
    double worst = 0;
    for (size_t i = 0; i < z->size; i++) {
        double size = z->magnitude[i] / z->scale[i];
        worst = size > worst ? size : worst;
    }
    return LONG_SUMS_ERROR * worst > RETRY_SHARE * tolerance;
}

static void finish(rg_dantzig *z) {
    double last = INFINITY;
    for (int k = 0; k < REFINE_MAX && z->factor.size; k++) {
        evaluate_long(z);
        double worst = correct_forces(z);
        if (worst <= REFINE_TOLERANCE || worst > 0.5 * last)
            break;
        last = worst;
    }
    for (size_t k = 0; k < z->factor.size; k++) {
        size_t i = z->basis[k];
        z->f[i] = fmin(fmax(z->f[i], z->lower[i]), z->upper[i]);
    }
    evaluate_long(z);
}

static void write_solution(const rg_dantzig *z, rg_solution *solution) {
    for (size_t i = 0; i < z->size; i++) {
        solution->force[z->order[i]] = z->f[i] * z->scale[i];
        if (solution->velocity)
            solution->velocity[z->order[i]] = z->a[i] / z->scale[i];
    }
}

static void read_forces(rg_dantzig *z, const double *force) {
    for (size_t i = 0; i < z->size; i++) {
        double f = force[z->order[i]] / z->scale[i];
        z->f[i] = isfinite(f) ? fmin(fmax(f, z->lower[i]), z->upper[i]) : z->f[i];
    }
}

/* C from forces: those strictly between their bounds, as far as they are independent. The others of
 * them rest where they are. */
static void start(rg_dantzig *z) {
    z->diagonal_factor = 1;
    for (size_t i = 0; i < z->size; i++) {
        bool inside = z->f[i] > z->lower[i] && z->f[i] < z->upper[i];
        z->state[i] = inside ? RG_PIVOT_BASIC : RG_PIVOT_WAITING;
    }
    rg_dantzig_enter_all(z, RG_PIVOT_WAITING);
}

/* The largest |f - P(f - a)| over the rows, in the caller's unit of a (the diagonal is about 1
 * here). */
static double natural(const rg_dantzig *z) {
    double worst = 0;
    for (size_t i = 0; i < z->size; i++) {
        double moved = z->f[i] - z->a[i];
        moved = moved < z->lower[i] ? z->lower[i] : moved > z->upper[i] ? z->upper[i] : moved;
        double size = fabs(z->f[i] - moved) / z->scale[i];
        worst = size > worst ? size : worst;
    }
    return worst;
}

/* The guess has the right signs everywhere, but it solves the matrix with the enlarged diagonal.
 * Its factor, used as the proximal point method uses it (Rockafellar 1976),
 *
 *   f += (A_CC + shift)^-1 (-a_C),  a = A f + b with the true matrix,
 *
 * goes to a solution of the true equations if they have one, singular or not: what is left of an
 * error shrinks by shift / (eigenvalue + shift) a step. False, and the pivoting begins from these
 * forces, if that is not enough or not all conditions are met to rounding errors. */
static bool accept_guess(rg_dantzig *z) {
    double last = INFINITY;
    bool moved = false;
    evaluate(z);
    for (int k = 0; k < REFINE_MAX && z->factor.size; k++) {
        double worst = correct_forces(z);
        if (worst <= REFINE_TOLERANCE)
            break;
        evaluate(z);
        if (worst > 0.5 * last)
            break;
        last = worst;
    }
    for (size_t k = 0; k < z->factor.size; k++) {
        size_t i = z->basis[k];
        double f = z->f[i], slack = RG_PIVOT_SLACK * z->magnitude[i];
        if (f >= z->lower[i] && f <= z->upper[i])
            continue;
        moved = true;
        z->f[i] = f < z->lower[i] ? z->lower[i] : z->upper[i];
        if (!(fabs(f - z->f[i]) <= slack))
            return false;
    }
    if (moved)
        evaluate(z);
    for (size_t k = 0; k < z->factor.size; k++) {
        size_t i = z->basis[k];
        if (!(fabs(z->a[i]) <= RG_PIVOT_SLACK * z->magnitude[i]))
            return false;
    }
    return collect(z) == 0;
}

/* From the forces in z->f to the end. */
static void run(rg_dantzig *z, bool cold, bool right, drive_context *c) {
    z->plain_rounds = cold ? 0 : PLAIN_ROUNDS;
    if (right && accept_guess(z)) {
        c->report->outcome = RG_SOLVED;
    } else {
        start(z);
        run_rounds(z, c);
    }
    if (c->report->outcome != RG_SOLVED || needs_long_sums(z, c->tolerance))
        finish(z);
}

static bool is_small(const rg_linear_problem *problem) {
    return problem->size >= RG_SMALL_MIN && problem->size <= RG_SMALL_MAX && !problem->kinds;
}

rg_status rg_dantzig_solve(rg_solve_context *context, const rg_problem *problem,
                           const rg_solve_settings *settings, rg_solution *solution,
                           rg_solve_report *report, rg_dantzig_options *options, rg_error *error) {
    const rg_linear_problem *linear = &problem->linear;
    rg_status status;
    bool cold = options && options->cold, right = false;
    uint64_t tried = 0;
    drive_context c = {settings, settings->tolerance * rg_problem_scale(problem), solution, report};
    if (is_small(linear) && !cold && !settings->warm && !settings->iteration_limit) {
        double limit = RETRY_SHARE * c.tolerance / LONG_SUMS_ERROR;
        status = rg_dantzig_solve_small(context, linear, limit, solution, report, &right, error);
        if (status != RG_OK || right)
            return status;
        tried = report->iterations;
    }
    rg_dantzig z = {.refactor_always = options && options->refactor_always,
                    .exchanges = tried,
                    .context = context};
    status = take_memory(context, linear->size, &z, error);
    if (status != RG_OK)
        return status;
    rg_entries entries;
    status = rg_dantzig_order(context, linear, z.order, &entries, error);
    if (status != RG_OK)
        return status;
    status = prepare(context, linear, &entries, &z, &report->outcome, error);
    if (status != RG_OK)
        return status;
    if (report->outcome != RG_SOLVED) {
        snprintf(report->text, sizeof report->text, "%s",
                 report->outcome == RG_SOLVE_NOT_SYMMETRIC
                     ? "the pivoting method needs a symmetric matrix"
                     : "a negative entry on the diagonal: the matrix is not positive semidefinite");
        return RG_OK;
    }
    z.pivot_limit = settings->iteration_limit ? settings->iteration_limit
                                              : PIVOTS_PER_ROW * (uint64_t)z.size + PIVOTS_BASE;
    if (settings->warm)
        read_forces(&z, solution->force);
    else if (!cold)
        right = rg_dantzig_guess(&z);
    run(&z, cold, right, &c);
    if (!cold && report->outcome == RG_SOLVED && natural(&z) > RETRY_SHARE * c.tolerance) {
        double before = natural(&z); /* the start was a bad one: try without */
        memcpy(z.kept, z.f, z.size * sizeof *z.f);
        copy_vectors(linear, &z);
        run(&z, true, false, &c);
        if (!(natural(&z) < before)) {
            memcpy(z.f, z.kept, z.size * sizeof *z.f);
            evaluate_long(&z);
            report->outcome = RG_SOLVED; /* the judge will see */
        }
    }
    write_solution(&z, solution);
    report->iterations = z.pivots + z.exchanges;
    report->factorisations = z.factorisations;
    if (options) {
        options->trace = z.trace;
        options->pivots = z.pivots;
    }
    return RG_OK;
}

/* --- the solver ------------------------------------------------------------------------------- */

static rg_status solve(rg_solve_context *context, const rg_problem *problem,
                       const rg_solve_settings *settings, rg_solution *solution,
                       rg_solve_report *report, rg_error *error) {
    const rg_linear_problem *linear = &problem->linear;
    for (size_t i = 0; linear->kinds && i < linear->size; i++)
        if (linear->kinds[i] == RG_ROW_STATIC || linear->kinds[i] == RG_ROW_DYNAMIC)
            return rg_dantzig_solve_friction(context, problem, settings, solution, report, error);
    return rg_dantzig_solve(context, problem, settings, solution, report, NULL, error);
}

const rg_solver rg_solver_dantzig = {
    "dantzig", "Dantzig-Baraff pivoting: exact, with static and dynamic friction row by row",
    RG_ACCEPT_LINEAR | RG_ACCEPT_FRICTION, solve};
