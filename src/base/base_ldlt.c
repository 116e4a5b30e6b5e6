/* Dense LDL^T of a set of rows that grows and shrinks; see the header for the data.
 *
 * Append (bordering): with A = L D L^T of the old rows, a new row a^T, alpha needs L D l = a and
 * the pivot alpha - l^T D l: one forward substitution, O(n^2). Delete: with row and column k gone,
 * the rows above are untouched and the trailing block becomes L22 D22 L22^T + d_k w w^T, w the
 * column below the pivot k. D stays positive, because something positive is added: a rank-1 update
 * without cancellation (Gill, Golub, Murray and Saunders 1974, method C1), O((n - k)^2). Solve: two
 * substitutions, both along rows. Refine: residual accumulated in twice the precision (Dekker
 * 1971), so that one step gives an answer good to almost full precision as long as the condition
 * number times the machine precision is well below one. Fails: a pivot that is not safely positive
 * (or not a number) is refused with RG_SINGULAR; "small" is relative to the largest pivot so far
 * and to the new row's own diagonal entry, from which rounding errors of that relative size come.
 */
#include "base/base_ldlt.h"

#include "base/base_long.h"
#include "base/base_memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

rg_status rg_ldlt_create(rg_ldlt *factor, size_t capacity, const rg_allocator *allocator) {
    *factor = (rg_ldlt){.capacity = capacity};
    if (capacity && capacity > SIZE_MAX / sizeof(double) / capacity / 2)
        return RG_OUT_OF_MEMORY;
    factor->lower = rg_allocate(allocator, capacity * capacity, sizeof(double));
    factor->diagonal = rg_allocate(allocator, capacity, sizeof(double));
    factor->work = rg_allocate(allocator, 2 * capacity, sizeof(double));
    if (factor->lower && factor->diagonal && factor->work)
        return RG_OK;
    rg_ldlt_free(factor, allocator);
    return RG_OUT_OF_MEMORY;
}

void rg_ldlt_free(rg_ldlt *factor, const rg_allocator *allocator) {
    rg_release(allocator, factor->lower);
    rg_release(allocator, factor->diagonal);
    rg_release(allocator, factor->work);
    *factor = (rg_ldlt){0};
}

void rg_ldlt_clear(rg_ldlt *factor) {
    factor->size = 0;
    factor->largest = 0;
    factor->updates = 0;
}

/* Four sums side by side: the order is fixed in the source, so every compiler gives the same bits
 * and may still use vectors. */
static double dot(const double *a, const double *b, size_t count) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < count; i++)
        s0 += a[i] * b[i];
    return (s0 + s2) + (s1 + s3);
}

/* y -= s x. */
static void subtract_scaled(double *restrict y, double s, const double *restrict x, size_t count) {
    for (size_t i = 0; i < count; i++)
        y[i] -= s * x[i];
}

static double *row_of(const rg_ldlt *factor, size_t i) {
    return factor->lower + i * factor->capacity;
}

rg_status rg_ldlt_append(rg_ldlt *factor, const double *row, double *pivot) {
    size_t n = factor->size;
    assert(n < factor->capacity);
    double *y = factor->work, *l = row_of(factor, n); /* the row behind the last: nobody's yet */
    for (size_t i = 0; i < n; i++)
        y[i] = row[i] - dot(row_of(factor, i), y, i);
    for (size_t i = 0; i < n; i++)
        l[i] = y[i] / factor->diagonal[i];
    double d = row[n] - dot(l, y, n);
    if (pivot)
        *pivot = d;
    double scale = fmax(factor->largest, fabs(row[n]));
    if (!(d > RG_LDLT_SINGULAR * scale) || !isfinite(d))
        return RG_SINGULAR;
    factor->diagonal[n] = d;
    factor->largest = fmax(factor->largest, d);
    factor->size = n + 1;
    factor->updates++;
    return RG_OK;
}

/* What the rank-1 update has worked out for each column: the entry p of w when its turn comes, and
 * the factor beta by which w goes into the column. They lie in factor->work. */
typedef struct columns {
    double *p, *beta;
} columns;

enum { LANES = 4 };

/* Passes `lanes` rows from row `first` through the columns [from, to), whose p and beta are known;
 * pending[a] is what is left of w in row first + a. A row is a chain in which every step needs the
 * last; several rows side by side fill the waiting. Entries move one place to the left on the way,
 * because the column that is deleted leaves a gap. */
static inline void pass_rows(const rg_ldlt *factor, columns c, size_t lanes, size_t first,
                             size_t from, size_t to, double *pending) {
    double *rows[LANES], w[LANES];
    for (size_t a = 0; a < lanes; a++) {
        rows[a] = row_of(factor, first + a);
        w[a] = pending[a];
    }
    for (size_t j = from; j < to; j++) {
        double p = c.p[j], beta = c.beta[j];
        for (size_t a = 0; a < lanes; a++) {
            double entry = rows[a][j];
            w[a] -= p * entry;
            rows[a][j - 1] = entry + beta * w[a];
        }
    }
    for (size_t a = 0; a < lanes; a++)
        pending[a] = w[a];
}

void rg_ldlt_delete(rg_ldlt *factor, size_t k) {
    size_t n = factor->size;
    assert(k < n);
    columns c = {factor->work, factor->work + factor->capacity};
    double alpha = factor->diagonal[k];
    for (size_t block = k + 1; block < n; block += LANES) {
        double pending[LANES];
        size_t rows = n - block < LANES ? n - block : LANES;
        for (size_t a = 0; a < rows; a++)
            pending[a] = row_of(factor, block + a)[k];
        if (rows == LANES)
            pass_rows(factor, c, LANES, block, k + 1, block, pending);
        else
            for (size_t a = 0; a < rows; a++)
                pass_rows(factor, c, 1, block + a, k + 1, block, &pending[a]);
        for (size_t a = 0; a < rows; a++) { /* the triangle within the block, then the pivot */
            size_t i = block + a;
            pass_rows(factor, c, 1, i, block, i, &pending[a]);
            double p = pending[a], old = factor->diagonal[i], new = old + alpha *p *p;
            c.p[i] = p;
            c.beta[i] = p * alpha / new;
            alpha = alpha * (old / new);
            factor->diagonal[i - 1] = new;
            factor->largest = fmax(factor->largest, new);
        }
    }
    for (size_t i = k + 1; i < n; i++)
        memcpy(row_of(factor, i - 1), row_of(factor, i), (i - 1) * sizeof(double));
    factor->size = n - 1;
    factor->updates++;
}

rg_status rg_ldlt_refactor(rg_ldlt *factor, const double *matrix, size_t size, size_t stride) {
    assert(size <= factor->capacity && stride >= size);
    rg_ldlt_clear(factor);
    rg_status status = RG_OK;
    for (size_t i = 0; i < size && status == RG_OK; i++)
        status = rg_ldlt_append(factor, matrix + i * stride, NULL);
    factor->updates = 0;
    return status;
}

void rg_ldlt_solve(const rg_ldlt *factor, double *x) {
    size_t n = factor->size;
    for (size_t i = 1; i < n; i++)
        x[i] -= dot(row_of(factor, i), x, i);
    for (size_t i = 0; i < n; i++)
        x[i] /= factor->diagonal[i];
    for (size_t i = n; i-- > 1;)
        subtract_scaled(x, x[i], row_of(factor, i), i);
}

/* high + low -= a b, the product exact (Dekker) and the sum to twice the precision. */
static inline void subtract_product(double *high, double *low, double a, double b) {
    rg_long p = rg_long_product(a, b);
    rg_long s = rg_long_difference(*high, p.hi);
    *low += s.lo - p.lo;
    *high = s.hi;
}

double rg_ldlt_refine(rg_ldlt *factor, const double *matrix, size_t stride, const double *b,
                      double *x) {
    size_t n = factor->size;
    double *residual = factor->work, *low = factor->work + factor->capacity;
    for (size_t i = 0; i < n; i++) {
        residual[i] = b[i];
        low[i] = 0;
    }
    for (size_t i = 0; i < n; i++) { /* each entry of the lower part stands for two */
        const double *row = matrix + i * stride;
        for (size_t j = 0; j < i; j++) {
            subtract_product(&residual[i], &low[i], row[j], x[j]);
            subtract_product(&residual[j], &low[j], row[j], x[i]);
        }
        subtract_product(&residual[i], &low[i], row[i], x[i]);
    }
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        residual[i] += low[i];
        largest = fmax(largest, fabs(residual[i]));
    }
    rg_ldlt_solve(factor, residual);
    for (size_t i = 0; i < n; i++)
        x[i] += residual[i];
    return largest;
}
