/* One drive of the pivoting solver: the force of row d is moved until the row meets its condition,
 * while all rows that met theirs keep meeting it (Baraff 1994, section 3.3).
 *
 * With df_d = +-1 the forces in C follow by A_CC df_C = -A_Cd df_d, so a stays 0 there. The step
 * ends where d arrives (a_d = 0, or the force at its bound) or where another row would break its
 * condition; that row changes sides and the direction is found anew. Ties are the normal case. They
 * are broken in two passes (Harris 1973): the longest step that lets no row be wrong by more than a
 * rounding error, then among the rows in its way the one with the largest rate of change; after a
 * run of steps of no length the smallest index instead, which cannot cycle (Cottle, Pang and Stone
 * 1992, 4.4 on least-index rules).
 *
 * A row that depends on those in C has A df = 0 along its direction, a null vector. It cannot be
 * driven to zero as long as C is what it is: either a force of C ends at its bound and leaves, or
 * the null vector is a ray: df >= 0, A df = 0, b' df < 0, the proof (Farkas) that nothing satisfies
 * all rows.
 * Tested by tests/solve/test_dantzig.c. */
#include "solve/solve_dantzig.h"

#include "base/base_math.h"

#include <float.h>

/* Pivots of the scaled matrix (its diagonal lies between 1/2 and 2) up to this count as zero, in
 * the direction's Schur complement. Ten times RG_LDLT_SINGULAR, so that the factor never refuses a
 * row whose direction was taken as regular. */
#define SINGULAR_PIVOT 1e-11
/* Below this, relative to |df|^2, a Schur complement is rounding errors. */
#define NOISE_PIVOT 1e-15
/* Below minus this, relative to |df|^2, it proves that the matrix is indefinite. */
#define INDEFINITE_PIVOT 1e-10
/* Rates of change up to this, relative to the largest entry of the direction, are rounding
 * errors. */
#define NO_RATE 1e-12
/* Rounding errors allowed in the ratio test, relative to the magnitude of the row. */
#define RATIO_SLACK 1e-15
/* Steps of no length in a row after which ties go to the smallest index, and after which the row is
 * put back. */
enum { ZERO_STEPS_PLAIN = 4, ZERO_STEPS_MAX = 60 };

void rg_dantzig_add_column(const rg_dantzig *dantzig, size_t j, double s, double *y) {
    double *restrict out = y;
    if (dantzig->starts) {
        for (size_t k = dantzig->starts[j]; k < dantzig->starts[j + 1]; k++)
            out[dantzig->rows[k]] += s * dantzig->values[k];
        return;
    }
    const double *restrict column = dantzig->columns + j * dantzig->stride;
    for (size_t i = dantzig->begin[j]; i < dantzig->end[j]; i++)
        out[i] += s * column[i];
}

double rg_dantzig_entry(const rg_dantzig *dantzig, size_t j, size_t i) {
    if (!dantzig->starts)
        return dantzig->columns[j * dantzig->stride + i];
    size_t k = dantzig->starts[j], end = dantzig->starts[j + 1];
    while (k < end && dantzig->rows[k] < i)
        k++;
    return k < end && dantzig->rows[k] == i ? dantzig->values[k] : 0;
}

/* The entries of a row against the basis, from place `from` on. */
static void gather_row(const rg_dantzig *dantzig, size_t row, size_t from, double *out) {
    size_t m = dantzig->factor.size;
    if (!dantzig->starts) {
        for (size_t k = from; k < m; k++)
            out[k] = rg_dantzig_entry(dantzig, row, dantzig->basis[k]);
        return;
    }
    for (size_t k = from; k < m; k++)
        out[k] = 0;
    for (size_t k = dantzig->starts[row]; k < dantzig->starts[row + 1]; k++) {
        size_t i = dantzig->rows[k], place = dantzig->place[i];
        if (place >= from && place < m && dantzig->basis[place] == i) /* it is in the basis */
            out[place] = dantzig->values[k];
    }
}

/* The first place in the basis, which is in ascending order, of a row not before `row`. */
static size_t first_place(const rg_dantzig *dantzig, size_t row) {
    size_t low = 0, high = dantzig->factor.size;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (dantzig->basis[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool rg_dantzig_enter(rg_dantzig *dantzig, size_t row) {
    size_t m = dantzig->factor.size, begin = 0;
    if (m == 0)
        dantzig->ascending = true;
    bool ascending = dantzig->ascending && (m == 0 || dantzig->basis[m - 1] < row);
    if (ascending)
        begin = first_place(dantzig, dantzig->begin[row]);
    gather_row(dantzig, row, begin, dantzig->row);
    dantzig->row[m] = rg_dantzig_entry(dantzig, row, row) * dantzig->diagonal_factor;
    rg_status status = ascending ? rg_ldlt_append_from(&dantzig->factor, dantzig->row, begin, NULL)
                                 : rg_ldlt_append(&dantzig->factor, dantzig->row, NULL);
    if (status != RG_OK)
        return false;
    dantzig->ascending = ascending;
    dantzig->basis[m] = (uint32_t)row;
    dantzig->place[row] = (uint32_t)m;
    dantzig->state[row] = RG_PIVOT_BASIC;
    return true;
}

void rg_dantzig_enter_all(rg_dantzig *z, rg_pivot_state refused) {
    rg_ldlt_clear(&z->factor);
    z->factorisations++;
    z->ascending = true;
    for (size_t next = 0; next < z->size;) {
        size_t rows[RG_LDLT_GROUP], count = 0, m = z->factor.size, begin = m;
        bool accepted[RG_LDLT_GROUP];
        for (; next < z->size && count < RG_LDLT_GROUP; next++)
            if (z->state[next] == RG_PIVOT_BASIC)
                rows[count++] = next;
        for (size_t k = 0; k < count; k++) {
            size_t first = first_place(z, z->begin[rows[k]]);
            begin = first < begin ? first : begin;
        }
        for (size_t k = 0; k < count; k++) {
            double *out = z->group[k];
            gather_row(z, rows[k], begin, out);
            for (size_t i = 0; i < k; i++)
                out[m + i] = rg_dantzig_entry(z, rows[k], rows[i]);
            out[m + k] = rg_dantzig_entry(z, rows[k], rows[k]) * z->diagonal_factor;
        }
        rg_ldlt_append_group(&z->factor, z->group, begin, count, accepted);
        for (size_t k = 0; k < count; k++)
            if (accepted[k]) {
                z->basis[m] = (uint32_t)rows[k];
                z->place[rows[k]] = (uint32_t)m++;
            } else {
                z->state[rows[k]] = (uint8_t)refused;
            }
    }
}

void rg_dantzig_leave(rg_dantzig *dantzig, size_t row) {
    size_t k = dantzig->place[row];
    rg_ldlt_delete(&dantzig->factor, k);
    for (; k < dantzig->factor.size; k++) {
        dantzig->basis[k] = dantzig->basis[k + 1];
        dantzig->place[dantzig->basis[k]] = (uint32_t)k;
    }
}

/* df and da for df_d = sign. Returns the Schur complement df' A df; *sum gets |df|^2, which its
 * rounding errors are relative to, *largest the largest |df|. */
static double find_direction(rg_dantzig *dantzig, size_t d, double sign, double *sum,
                             double *largest) {
    size_t m = dantzig->factor.size;
    double *x = dantzig->work;
    gather_row(dantzig, d, 0, x);
    for (size_t k = 0; k < m; k++)
        x[k] = -sign * x[k];
    rg_ldlt_solve(&dantzig->factor, x);
    *sum = *largest = 1;
    for (size_t i = 0; i < dantzig->size; i++)
        dantzig->da[i] = 0;
    rg_dantzig_add_column(dantzig, d, sign, dantzig->da);
    for (size_t k = 0; k < m; k++) {
        size_t j = dantzig->basis[k];
        dantzig->df[j] = x[k];
        if (x[k] != 0) {
            *sum += x[k] * x[k];
            *largest = fmax(*largest, fabs(x[k]));
            rg_dantzig_add_column(dantzig, j, x[k], dantzig->da);
        }
    }
    /* As a quadratic form the errors of x enter squared. */
    double schur = sign * dantzig->da[d];
    for (size_t k = 0; k < m; k++) {
        schur += x[k] * dantzig->da[dantzig->basis[k]];
        dantzig->da[dantzig->basis[k]] = 0;
    }
    dantzig->df[d] = sign;
    return schur;
}

/* How far row i is from breaking its condition, and how fast it goes there; false if it does
 * not. */
static bool is_blocking(const rg_dantzig *dantzig, size_t i, double no_rate, bool null,
                        double *distance, double *rate) {
    double v;
    switch (dantzig->state[i]) {
    case RG_PIVOT_BASIC:
        v = dantzig->df[i];
        *rate = fabs(v);
        *distance = v < 0 ? dantzig->f[i] - dantzig->lower[i] : dantzig->upper[i] - dantzig->f[i];
        break;
    case RG_PIVOT_LOWER:
        v = dantzig->da[i];
        if (null || v >= 0 || dantzig->barred[i])
            return false;
        *rate = -v;
        *distance = dantzig->a[i];
        break;
    case RG_PIVOT_UPPER:
        v = dantzig->da[i];
        if (null || v <= 0 || dantzig->barred[i])
            return false;
        *rate = v;
        *distance = -dantzig->a[i];
        break;
    case RG_PIVOT_INNER:
        if (null || dantzig->barred[i])
            return false;
        *rate = fabs(dantzig->da[i]);
        *distance = 0;
        break;
    default:
        return false;
    }
    if (!(*rate > no_rate) || *distance == INFINITY)
        return false;
    *distance = fmax(*distance, 0);
    return true;
}

typedef struct pivot {
    double step;
    size_t row; /* the one in the way; d itself if it arrives */
    bool bound; /* d arrives at its bound */
} pivot;

/* The end of the step: false if nothing ends it. */
static bool find_step(const rg_dantzig *dantzig, size_t d, double sign, bool null, double no_rate,
                      bool smallest_index, pivot *best) {
    size_t n = dantzig->size;
    double own = null ? INFINITY : -dantzig->a[d] / dantzig->da[d];
    double room = sign > 0 ? dantzig->upper[d] - dantzig->f[d] : dantzig->f[d] - dantzig->lower[d];
    double limit = fmin(own, room), distance, rate;
    double slack = RATIO_SLACK * dantzig->magnitude[d];
    if (own <= room)
        limit += null ? 0 : slack / fabs(dantzig->da[d]);
    for (size_t i = 0; i < n; i++)
        if (i != d && is_blocking(dantzig, i, no_rate, null, &distance, &rate)) {
            double reach = (distance + RATIO_SLACK * dantzig->magnitude[i]) / rate;
            limit = reach < limit ? reach : limit;
        }
    if (limit == INFINITY)
        return false;
    if (fmin(own, room) <= limit) { /* d arrives: nothing better can happen */
        *best = (pivot){fmin(own, room), d, room < own};
        return true;
    }
    *best = (pivot){0, d, false};
    double best_rate = 0;
    for (size_t i = 0; i < n; i++)
        if (i != d && is_blocking(dantzig, i, no_rate, null, &distance, &rate) &&
            distance / rate <= limit && rate > best_rate) {
            *best = (pivot){distance / rate, i, false};
            best_rate = rate;
            if (smallest_index)
                break;
        }
    return best->row != d;
}

static void take_step(rg_dantzig *dantzig, size_t d, double step) {
    for (size_t i = 0; i < dantzig->size; i++)
        dantzig->a[i] += step * dantzig->da[i];
    for (size_t k = 0; k < dantzig->factor.size; k++)
        dantzig->f[dantzig->basis[k]] += step * dantzig->df[dantzig->basis[k]];
    dantzig->f[d] += step * dantzig->df[d];
}

/* Row i, which ended the step, changes sides. */
static void change_sides(rg_dantzig *dantzig, size_t i) {
    if (dantzig->state[i] == RG_PIVOT_BASIC) {
        bool lower = dantzig->df[i] < 0;
        rg_dantzig_leave(dantzig, i);
        dantzig->f[i] = lower ? dantzig->lower[i] : dantzig->upper[i];
        dantzig->state[i] = lower ? RG_PIVOT_LOWER : RG_PIVOT_UPPER;
    } else {
        dantzig->a[i] = 0;
        if (!rg_dantzig_enter(dantzig, i))
            dantzig->barred[i] = 1;
    }
    dantzig->pivots++;
    dantzig->trace = (dantzig->trace ^ (i + 1)) * UINT64_C(0x100000001B3);
}

/* Does row d meet its condition as things are? Then its state is set. */
static bool is_content(rg_dantzig *dantzig, size_t d) {
    double a = dantzig->a[d], f = dantzig->f[d];
    double slack = RG_PIVOT_SLACK * dantzig->magnitude[d] + dantzig->allowed[d];
    bool at_lower = f <= dantzig->lower[d], at_upper = f >= dantzig->upper[d];
    if (at_lower && a >= -slack)
        dantzig->state[d] = RG_PIVOT_LOWER;
    else if (at_upper && a <= slack)
        dantzig->state[d] = RG_PIVOT_UPPER;
    else if (fabs(a) <= slack) {
        if (!rg_dantzig_enter(dantzig, d))
            dantzig->state[d] = RG_PIVOT_INNER;
    } else
        return false;
    return true;
}

static double magnitude_of(const rg_dantzig *dantzig, size_t d) {
    double sum = fabs(dantzig->b[d]);
    if (dantzig->starts) {
        for (size_t k = dantzig->starts[d]; k < dantzig->starts[d + 1]; k++)
            sum += fabs(dantzig->values[k] * dantzig->f[dantzig->rows[k]]);
        return sum;
    }
    const double *column = dantzig->columns + d * dantzig->stride;
    for (size_t j = dantzig->begin[d]; j < dantzig->end[d]; j++)
        sum += fabs(column[j] * dantzig->f[j]);
    return sum;
}

static void refactor(rg_dantzig *dantzig) {
    size_t m = dantzig->factor.size;
    rg_ldlt_clear(&dantzig->factor);
    for (size_t k = 0; k < m; k++) {
        size_t row = dantzig->basis[k];
        gather_row(dantzig, row, 0, dantzig->row);
        dantzig->row[k] = rg_dantzig_entry(dantzig, row, row);
        rg_ldlt_append(&dantzig->factor, dantzig->row, NULL);
    }
}

static rg_drive_end drive(rg_dantzig *dantzig, size_t d) {
    uint64_t cap = dantzig->pivots + 10 * dantzig->size + 10;
    int zero_steps = 0;
    dantzig->magnitude[d] = magnitude_of(dantzig, d);
    while (!is_content(dantzig, d)) {
        if (rg_solve_stops(dantzig->context))
            dantzig->pivot_limit = 0;
        if (dantzig->pivots >= cap || dantzig->pivots >= dantzig->pivot_limit)
            return RG_DRIVE_LATER;
        double sign = dantzig->a[d] < 0 ? 1 : -1, sum, largest;
        double schur = find_direction(dantzig, d, sign, &sum, &largest);
        if (schur < -INDEFINITE_PIVOT * sum)
            return RG_DRIVE_INDEFINITE;
        bool null = !(schur > SINGULAR_PIVOT), plain = zero_steps > ZERO_STEPS_PLAIN;
        dantzig->da[d] = sign * schur;
        pivot next;
        bool found = find_step(dantzig, d, sign, null, NO_RATE * largest, plain, &next);
        if (!found && schur > NOISE_PIVOT * sum) /* almost a null vector: a long way, but it ends */
            found = find_step(dantzig, d, sign, false, NO_RATE * largest, plain, &next);
        if (!found)
            return RG_DRIVE_RAY;
        take_step(dantzig, d, next.step);
        if (next.row == d) {
            if (next.bound)
                dantzig->f[d] = sign > 0 ? dantzig->upper[d] : dantzig->lower[d];
            else
                dantzig->a[d] = 0;
            dantzig->pivots++;
            dantzig->trace = (dantzig->trace ^ (d + 1)) * UINT64_C(0x100000001B3);
            continue;
        }
        change_sides(dantzig, next.row);
        if (dantzig->refactor_always)
            refactor(dantzig);
        zero_steps = next.step > 0 ? 0 : zero_steps + 1;
        if (zero_steps > ZERO_STEPS_MAX)
            return RG_DRIVE_LATER;
    }
    return RG_DRIVE_DONE;
}

rg_drive_end rg_dantzig_drive(rg_dantzig *dantzig, size_t d) {
    for (size_t i = 0; i < dantzig->size; i++)
        dantzig->barred[i] = 0;
    rg_drive_end end = drive(dantzig, d);
    if (end != RG_DRIVE_DONE)
        dantzig->state[d] = RG_PIVOT_WAITING;
    return end;
}
