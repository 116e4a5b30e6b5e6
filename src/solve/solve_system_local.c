/* The local form W by rows of blocks, one block row per contact or joint, and a dense LU.
 *
 * W = J M^-1 J' couples two contacts only if they share a body, but callers often store it dense:
 * blocks that are zero throughout are dropped, whichever way they are stored. The dense factor is
 * Gaussian elimination with row interchanges, in panels of PANEL columns so that most of the work
 * is a product of matrices (Golub and Van Loan, section 3.2.11, right-looking); the order of
 * additions is fixed. It breaks down (RG_SINGULAR) at a pivot that is zero or not a number.
 * Tested by tests/solve/test_system.c. */
#include "solve/solve_system_parts.h"

#include <math.h>
#include <string.h>

enum { PANEL = 32 };

/* The block of a column of W. */
static size_t block_of(const rg_system *system, size_t column) {
    size_t d = (size_t)system->dimension, contact_rows = system->contacts * d;
    return column < contact_rows ? column / d : system->contacts + (column - contact_rows);
}

/* The next entry of a row of W that is not 0, from the K-th on; false: there is none. */
static bool next_entry(const rg_matrix *w, size_t row, size_t *k, size_t *column, double *value) {
    size_t count = w->dense ? w->columns : w->starts[row + 1] - w->starts[row];
    while (*k < count) {
        size_t at = (w->dense ? row * w->columns : w->starts[row]) + *k;
        *column = w->dense ? *k : w->indices[at];
        *value = w->dense ? w->dense[at] : w->values[at];
        ++*k;
        if (*value != 0)
            return true;
    }
    return false;
}

/* Stamps the block columns in which one row of W has an entry; counts those that are new. */
static void mark_row(const rg_system *system, size_t row, uint32_t stamp, uint32_t *seen,
                     size_t *count) {
    size_t k = 0, column;
    double value;
    while (next_entry(&system->problem->w, row, &k, &column, &value)) {
        size_t block = block_of(system, column);
        if (seen[block] != stamp) {
            seen[block] = stamp;
            ++*count;
        }
    }
}

/* Counts the blocks of one block row; with `columns` not null also lists them, ascending. */
static size_t list_block_row(const rg_system *system, size_t block, uint32_t stamp, uint32_t *seen,
                             uint32_t *columns) {
    size_t count = 1, row = rg_system_block_row(system, block);
    seen[block] = stamp;
    for (size_t k = 0; k < rg_system_block_size(system, block); k++)
        mark_row(system, row + k, stamp, seen, &count);
    if (columns)
        for (size_t j = 0; j < rg_system_blocks(system); j++)
            if (seen[j] == stamp)
                *columns++ = (uint32_t)j;
    return count;
}

/* Copies the entries of one row of W into its blocks; `place` gives the block of each column
 * block. */
static void copy_row(const rg_system *system, size_t block, size_t k, const size_t *place) {
    size_t row = rg_system_block_row(system, block) + k, entry = 0, column;
    double value;
    while (next_entry(&system->problem->w, row, &entry, &column, &value)) {
        size_t j = block_of(system, column), size = rg_system_block_size(system, j);
        size_t m = column - rg_system_block_row(system, j);
        system->factor->w.values[system->factor->w.offsets[place[j]] + k * size + m] = value;
    }
}

rg_status rg_block_rows_create(rg_system *system, rg_error *error) {
    rg_solve_context *context = system->factor->context;
    rg_block_rows *w = &system->factor->w;
    size_t blocks = rg_system_blocks(system);
    uint32_t *seen;
    size_t *place;
    RG_TAKE(seen, context, blocks, error);
    RG_TAKE(place, context, blocks, error);
    RG_TAKE(w->starts, context, blocks + 1, error);
    memset(seen, 0xff, blocks * sizeof *seen);
    w->starts[0] = 0;
    for (size_t i = 0; i < blocks; i++)
        w->starts[i + 1] = w->starts[i] + list_block_row(system, i, (uint32_t)i, seen, NULL);
    RG_TAKE(w->columns, context, w->starts[blocks], error);
    RG_TAKE(w->offsets, context, w->starts[blocks] + 1, error);
    memset(seen, 0xff, blocks * sizeof *seen);
    w->offsets[0] = 0;
    for (size_t i = 0; i < blocks; i++) {
        list_block_row(system, i, (uint32_t)i, seen, w->columns + w->starts[i]);
        for (size_t k = w->starts[i]; k < w->starts[i + 1]; k++)
            w->offsets[k + 1] = w->offsets[k] + rg_system_block_size(system, i) *
                                                    rg_system_block_size(system, w->columns[k]);
    }
    size_t numbers = w->offsets[w->starts[blocks]];
    RG_TAKE(w->values, context, numbers, error);
    memset(w->values, 0, numbers * sizeof *w->values);
    for (size_t i = 0; i < blocks; i++) {
        for (size_t k = w->starts[i]; k < w->starts[i + 1]; k++)
            place[w->columns[k]] = k;
        for (size_t k = 0; k < rg_system_block_size(system, i); k++)
            copy_row(system, i, k, place);
    }
    return RG_OK;
}

void rg_block_rows_apply(const rg_system *system, const double *restrict r, double *restrict out) {
    const rg_block_rows *w = &system->factor->w;
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        size_t rows = rg_system_block_size(system, i);
        double sum[RG_SYSTEM_DIMENSION_MAX] = {0};
        for (size_t k = w->starts[i]; k < w->starts[i + 1]; k++) {
            size_t size = rg_system_block_size(system, w->columns[k]);
            const double *block = w->values + w->offsets[k];
            const double *part = r + rg_system_block_row(system, w->columns[k]);
            if (rows == 3 && size == 3) { /* by far the most frequent */
                for (size_t a = 0; a < 3; a++)
                    sum[a] += block[3 * a] * part[0] + block[3 * a + 1] * part[1] +
                              block[3 * a + 2] * part[2];
                continue;
            }
            for (size_t a = 0; a < rows; a++)
                for (size_t b = 0; b < size; b++)
                    sum[a] += block[a * size + b] * part[b];
        }
        memcpy(out + rg_system_block_row(system, i), sum, rows * sizeof *out);
    }
}

static void swap_rows(double *a, double *b, size_t n) {
    for (size_t j = 0; j < n; j++) {
        double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

/* Factors columns [first, last) of rows [first, n), interchanging whole rows. */
static bool factor_panel(double *lu, uint32_t *pivots, size_t n, size_t first, size_t last) {
    for (size_t k = first; k < last; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(lu[i * n + k]) > fabs(lu[best * n + k]))
                best = i;
        pivots[k] = (uint32_t)best;
        double pivot = lu[best * n + k];
        if (!(fabs(pivot) > 0) || !isfinite(pivot))
            return false;
        if (best != k)
            swap_rows(lu + k * n, lu + best * n, n);
        const double *restrict top = lu + k * n;
        for (size_t i = k + 1; i < n; i++) {
            double *restrict row = lu + i * n;
            double factor = row[k] / pivot;
            row[k] = factor;
            for (size_t j = k + 1; j < last; j++)
                row[j] -= factor * top[j];
        }
    }
    return true;
}

/* row[from, n) -= sum over k in [first, last) of row[k] * lu[k][from, n): four rows of the panel at
 * a time. */
static void eliminate_row(const double *lu, double *restrict row, size_t n, size_t first,
                          size_t last, size_t from) {
    size_t k = first;
    for (; k + 4 <= last; k += 4) {
        const double *restrict t0 = lu + k * n, *restrict t1 = t0 + n, *restrict t2 = t1 + n,
                               *restrict t3 = t2 + n;
        double c0 = row[k], c1 = row[k + 1], c2 = row[k + 2], c3 = row[k + 3];
        for (size_t j = from; j < n; j++)
            row[j] -= (c0 * t0[j] + c1 * t1[j]) + (c2 * t2[j] + c3 * t3[j]);
    }
    for (; k < last; k++) {
        const double *restrict t = lu + k * n;
        double c = row[k];
        for (size_t j = from; j < n; j++)
            row[j] -= c * t[j];
    }
}

rg_status rg_dense_factor(double *lu, uint32_t *pivots, size_t n) {
    for (size_t first = 0; first < n; first += PANEL) {
        size_t last = first + PANEL < n ? first + PANEL : n;
        if (!factor_panel(lu, pivots, n, first, last))
            return RG_SINGULAR;
        for (size_t i = first + 1; i < last; i++)
            eliminate_row(lu, lu + i * n, n, first, i, last);
        for (size_t i = last; i < n; i++)
            eliminate_row(lu, lu + i * n, n, first, last, last);
    }
    return RG_OK;
}

void rg_dense_solve(const double *lu, const uint32_t *pivots, size_t n, double *x) {
    for (size_t k = 0; k < n; k++) {
        double t = x[k];
        x[k] = x[pivots[k]];
        x[pivots[k]] = t;
    }
    for (size_t i = 0; i < n; i++) {
        double s0 = 0, s1 = 0;
        size_t j = 0;
        for (; j + 2 <= i; j += 2) {
            s0 += lu[i * n + j] * x[j];
            s1 += lu[i * n + j + 1] * x[j + 1];
        }
        if (j < i)
            s0 += lu[i * n + j] * x[j];
        x[i] -= s0 + s1;
    }
    for (size_t i = n; i-- > 0;) {
        double s0 = 0, s1 = 0;
        size_t j = i + 1;
        for (; j + 2 <= n; j += 2) {
            s0 += lu[i * n + j] * x[j];
            s1 += lu[i * n + j + 1] * x[j + 1];
        }
        if (j < n)
            s0 += lu[i * n + j] * x[j];
        x[i] = (x[i] - (s0 + s1)) / lu[i * n + i];
    }
}
