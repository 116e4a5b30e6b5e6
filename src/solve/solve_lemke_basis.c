/* The nontrivial part of a complementary basis: the square matrix of the basic forces against the
 * rows whose slack is not basic. Slacks contribute unit columns, so nothing else needs to be
 * factored: with k forces at work out of n pairs a pivot costs O(k^2) here and one product with W.
 *
 * The inverse is kept explicitly and updated by the four rank-one exchanges (bordering, its
 * reverse, a new column, a new row); the caller refactors after a number of updates or when a
 * residual shows that the inverse has aged. Explicit inverses lose digits only where the matrix
 * itself does, and every use is followed by a step of iterative refinement with the true matrix.
 * Tested by tests/solve/test_lemke.c. */
#include "base/base_math.h"
#include "solve/solve_lemke.h"

#include <string.h>

/* A pivot of a fresh factor below this, relative to the largest entry of its column: singular. The
 * matrix is equilibrated, so a column's largest entry is about 1. */
#define SINGULAR_PIVOT 1e-13
/* Pivot of an update below this: the update is refused and the caller refactors. */
#define UPDATE_PIVOT 1e-12

enum { FIRST_CAPACITY = 32 };
#define NONE UINT32_MAX

/* --- memory ----------------------------------------------------------------------------------- */

static rg_status reserve(rg_lemke_basis *basis, size_t needed, rg_error *error) {
    if (needed <= basis->capacity)
        return RG_OK;
    size_t capacity = basis->capacity ? basis->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity *= 2;
    if (capacity > basis->pairs->count + 1)
        capacity = basis->pairs->count + 1;
    if (capacity < needed)
        capacity = needed;
    double *inverse, *work;
    RG_TAKE(inverse, basis->context, capacity * capacity, error);
    RG_TAKE(work, basis->context, capacity * capacity + 4 * capacity, error);
    for (size_t i = 0; i < basis->size; i++)
        memcpy(inverse + i * capacity, basis->inverse + i * basis->capacity,
               basis->size * sizeof *inverse);
    basis->inverse = inverse;
    basis->work = work;
    basis->capacity = capacity;
    return RG_OK;
}

rg_status rg_lemke_basis_make(rg_lemke_basis *basis, rg_solve_context *context, rg_pairs *pairs,
                              const double *cover, rg_error *error) {
    *basis = (rg_lemke_basis){.pairs = pairs, .cover = cover, .context = context};
    size_t n = pairs->count + 1;
    RG_TAKE(basis->columns, context, n, error);
    RG_TAKE(basis->rows, context, n, error);
    RG_TAKE(basis->column_at, context, n, error);
    RG_TAKE(basis->row_at, context, n, error);
    rg_lemke_basis_clear(basis);
    return reserve(basis, 1, error);
}

void rg_lemke_basis_clear(rg_lemke_basis *basis) {
    basis->size = 0;
    basis->updates = 0;
    for (size_t i = 0; i <= basis->pairs->count; i++)
        basis->column_at[i] = basis->row_at[i] = NONE;
}

double rg_lemke_basis_entry(const rg_lemke_basis *basis, size_t row, size_t column) {
    return column == basis->pairs->count ? basis->cover[row]
                                         : rg_pairs_entry(basis->pairs, row, column);
}

static void put(rg_lemke_basis *basis, uint32_t column, uint32_t row) {
    size_t k = basis->size++;
    basis->columns[k] = column;
    basis->rows[k] = row;
    basis->column_at[column] = basis->row_at[row] = (uint32_t)k;
}

rg_status rg_lemke_basis_add(rg_lemke_basis *basis, uint32_t column, uint32_t row,
                             rg_error *error) {
    rg_status status = reserve(basis, basis->size + 1, error);
    if (status == RG_OK)
        put(basis, column, row);
    return status;
}

/* --- factor ----------------------------------------------------------------------------------- */

static void swap_lines(double *m, size_t k, size_t stride, size_t a, size_t b, bool rows) {
    for (size_t j = 0; j < k && a != b; j++) {
        double *x = rows ? m + a * stride + j : m + j * stride + a;
        double *y = rows ? m + b * stride + j : m + j * stride + b;
        double t = *x;
        *x = *y;
        *y = t;
    }
}

/* Gauss-Jordan with partial pivoting; the order of the rows is undone at the end. */
bool rg_lemke_invert(double *m, size_t k, size_t stride, double *swaps) {
    for (size_t p = 0; p < k; p++) {
        size_t best = p;
        for (size_t i = p + 1; i < k; i++)
            if (fabs(m[i * stride + p]) > fabs(m[best * stride + p]))
                best = i;
        double pivot = m[best * stride + p];
        if (!(fabs(pivot) > SINGULAR_PIVOT))
            return false;
        swaps[p] = (double)best; /* positions as doubles: exact */
        swap_lines(m, k, stride, p, best, true);
        double *restrict row = m + p * stride;
        row[p] = 1;
        for (size_t j = 0; j < k; j++)
            row[j] /= pivot;
        for (size_t i = 0; i < k; i++) {
            double *restrict other = m + i * stride, factor = other[p];
            if (i == p || factor == 0)
                continue;
            other[p] = 0;
            for (size_t j = 0; j < k; j++)
                other[j] -= factor * row[j];
        }
    }
    for (size_t p = k; p-- > 0;)
        swap_lines(m, k, stride, p, (size_t)swaps[p], false);
    return true;
}

bool rg_lemke_basis_factor(rg_lemke_basis *basis) {
    size_t k = basis->size, stride = basis->capacity;
    double *m = basis->work;
    basis->updates = 0;
    basis->factorisations++;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            m[i * stride + j] = rg_lemke_basis_entry(basis, basis->rows[i], basis->columns[j]);
    if (!rg_lemke_invert(m, k, stride, m + stride * stride))
        return false;
    for (size_t i = 0; i < k; i++)
        memcpy(basis->inverse + i * stride, m + i * stride, k * sizeof *m);
    return true;
}

void rg_lemke_basis_solve(const rg_lemke_basis *basis, const double *right, double *out) {
    size_t k = basis->size;
    for (size_t i = 0; i < k; i++) {
        const double *row = basis->inverse + i * basis->capacity;
        double sum[4] = {0};
        size_t j = 0;
        for (; j + 4 <= k; j += 4)
            for (int lane = 0; lane < 4; lane++)
                sum[lane] += row[j + (size_t)lane] * right[j + (size_t)lane];
        for (; j < k; j++)
            sum[0] += row[j] * right[j];
        out[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

/* --- exchanges -------------------------------------------------------------------------------- */

/* z = r' inverse for the matrix row `row` (over the basic columns). */
static void row_times_inverse(const rg_lemke_basis *basis, size_t row, double *restrict z) {
    size_t k = basis->size;
    memset(z, 0, k * sizeof *z);
    for (size_t i = 0; i < k; i++) {
        double r = rg_lemke_basis_entry(basis, row, basis->columns[i]);
        const double *restrict line = basis->inverse + i * basis->capacity;
        if (r != 0)
            for (size_t j = 0; j < k; j++)
                z[j] += r * line[j];
    }
}

/* y = inverse c for the matrix column `column` (over the rows). `c`: k numbers of work. */
static void inverse_times_column(const rg_lemke_basis *basis, size_t column, double *c, double *y) {
    for (size_t i = 0; i < basis->size; i++)
        c[i] = rg_lemke_basis_entry(basis, basis->rows[i], column);
    rg_lemke_basis_solve(basis, c, y);
}

static double largest_of(const double *x, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

rg_status rg_lemke_basis_grow(rg_lemke_basis *basis, uint32_t column, uint32_t row, bool *regular,
                              rg_error *error) {
    rg_status status = reserve(basis, basis->size + 1, error);
    if (status != RG_OK)
        return status;
    size_t k = basis->size, stride = basis->capacity;
    double *y = basis->work, *z = y + stride, *c = z + stride;
    inverse_times_column(basis, column, c, y);
    row_times_inverse(basis, row, z);
    double pivot = rg_lemke_basis_entry(basis, row, column);
    for (size_t i = 0; i < k; i++)
        pivot -= rg_lemke_basis_entry(basis, row, basis->columns[i]) * y[i];
    *regular = fabs(pivot) > UPDATE_PIVOT * fmax(1, largest_of(y, k));
    put(basis, column, row);
    basis->updates++;
    if (!*regular)
        return RG_OK;
    for (size_t i = 0; i < k; i++) {
        double *restrict line = basis->inverse + i * stride, factor = y[i] / pivot;
        if (factor != 0)
            for (size_t j = 0; j < k; j++)
                line[j] += factor * z[j];
        line[k] = -factor;
    }
    double *last = basis->inverse + k * stride;
    for (size_t j = 0; j < k; j++)
        last[j] = -z[j] / pivot;
    last[k] = 1 / pivot;
    return RG_OK;
}

bool rg_lemke_basis_shrink(rg_lemke_basis *basis, uint32_t column, uint32_t row) {
    size_t p = basis->column_at[column], q = basis->row_at[row], last = basis->size - 1;
    size_t stride = basis->capacity;
    double *g = basis->inverse, *line = g + p * stride, pivot = line[q];
    bool regular = fabs(pivot) > UPDATE_PIVOT * largest_of(line, basis->size);
    for (size_t i = 0; regular && i <= last; i++) {
        double *restrict other = g + i * stride, factor = other[q] / pivot;
        if (i != p && factor != 0)
            for (size_t j = 0; j <= last; j++)
                other[j] -= factor * line[j];
    }
    /* The last row and column move into the gap. */
    if (p != last) {
        memcpy(line, g + last * stride, (last + 1) * sizeof *g);
        basis->columns[p] = basis->columns[last];
        basis->column_at[basis->columns[p]] = (uint32_t)p;
    }
    if (q != last) {
        for (size_t i = 0; i < last; i++)
            g[i * stride + q] = g[i * stride + last];
        basis->rows[q] = basis->rows[last];
        basis->row_at[basis->rows[q]] = (uint32_t)q;
    }
    basis->column_at[column] = basis->row_at[row] = NONE;
    basis->size = last;
    basis->updates++;
    return regular;
}

/* Another member in the place of an old one. */
static void exchange(uint32_t *list, uint32_t *at, uint32_t old, uint32_t member) {
    uint32_t place = at[old];
    list[place] = member;
    at[old] = NONE;
    at[member] = place;
}

bool rg_lemke_basis_replace_column(rg_lemke_basis *basis, uint32_t old, uint32_t column) {
    size_t p = basis->column_at[old], k = basis->size, stride = basis->capacity;
    double *y = basis->work, *c = y + stride;
    inverse_times_column(basis, column, c, y);
    exchange(basis->columns, basis->column_at, old, column);
    basis->updates++;
    double pivot = y[p];
    if (!(fabs(pivot) > UPDATE_PIVOT * largest_of(y, k)))
        return false;
    double *restrict line = basis->inverse + p * stride;
    for (size_t j = 0; j < k; j++)
        line[j] /= pivot;
    for (size_t i = 0; i < k; i++) {
        double *restrict other = basis->inverse + i * stride;
        if (i != p && y[i] != 0)
            for (size_t j = 0; j < k; j++)
                other[j] -= y[i] * line[j];
    }
    return true;
}

bool rg_lemke_basis_replace_row(rg_lemke_basis *basis, uint32_t old, uint32_t row) {
    size_t q = basis->row_at[old], k = basis->size, stride = basis->capacity;
    double *z = basis->work;
    row_times_inverse(basis, row, z);
    exchange(basis->rows, basis->row_at, old, row);
    basis->updates++;
    double pivot = z[q];
    if (!(fabs(pivot) > UPDATE_PIVOT * largest_of(z, k)))
        return false;
    z[q] = 0;
    for (size_t i = 0; i < k; i++) {
        double *restrict line = basis->inverse + i * stride, factor = line[q] / pivot;
        for (size_t j = 0; j < k; j++)
            line[j] -= factor * z[j];
        line[q] = factor;
    }
    return true;
}
