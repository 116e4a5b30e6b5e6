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
    if (capacity && (capacity > UINT32_MAX || capacity > SIZE_MAX / sizeof(double) / capacity / 2))
        return RG_OUT_OF_MEMORY;
    factor->lower = rg_allocate(allocator, capacity * capacity, sizeof(double));
    factor->diagonal = rg_allocate(allocator, capacity, sizeof(double));
    factor->work = rg_allocate(allocator, 2 * capacity, sizeof(double));
    factor->first = rg_allocate(allocator, capacity, sizeof(uint32_t));
    if (factor->lower && factor->diagonal && factor->work && factor->first)
        return RG_OK;
    rg_ldlt_free(factor, allocator);
    return RG_OUT_OF_MEMORY;
}

void rg_ldlt_free(rg_ldlt *factor, const rg_allocator *allocator) {
    rg_release(allocator, factor->lower);
    rg_release(allocator, factor->diagonal);
    rg_release(allocator, factor->work);
    rg_release(allocator, factor->first);
    *factor = (rg_ldlt){0};
}

void rg_ldlt_clear(rg_ldlt *factor) {
    factor->size = 0;
    factor->largest = 0;
    factor->updates = 0;
}

/* Sums of products over [from, to) run in four lanes by the index modulo 4, from the last multiple
 * of 4 on; the rest after the last full four goes to lane 0. So the bits depend neither on the
 * compiler, nor on vectors, nor on where the envelope begins: before it there are zeros as far back
 * as a multiple of 4. */
enum { LANES = 4, GROUP = 4 };

static size_t lane_start(size_t index) {
    return index & ~(size_t)(LANES - 1);
}

static double dot(const double *a, const double *b, size_t from, size_t to) {
    double s[LANES] = {0};
    size_t i = lane_start(from);
    for (; i + LANES <= to; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            s[k] += a[i + k] * b[i + k];
    for (; i < to; i++)
        s[0] += a[i] * b[i];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* dot(a, y_k) for four vectors at once, the same bits. */
static void dot_group(const double *a, double *const y[GROUP], size_t from, size_t to,
                      double out[GROUP]) {
    const double *y0 = y[0], *y1 = y[1], *y2 = y[2], *y3 = y[3];
    four s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    size_t i = lane_start(from);
    for (; i + LANES <= to; i += LANES) {
        four l = *(const four *)(a + i);
        s0 += l * *(const four *)(y0 + i);
        s1 += l * *(const four *)(y1 + i);
        s2 += l * *(const four *)(y2 + i);
        s3 += l * *(const four *)(y3 + i);
    }
    for (; i < to; i++) {
        s0[0] += a[i] * y0[i];
        s1[0] += a[i] * y1[i];
        s2[0] += a[i] * y2[i];
        s3[0] += a[i] * y3[i];
    }
    out[0] = (s0[0] + s0[2]) + (s0[1] + s0[3]);
    out[1] = (s1[0] + s1[2]) + (s1[1] + s1[3]);
    out[2] = (s2[0] + s2[2]) + (s2[1] + s2[3]);
    out[3] = (s3[0] + s3[2]) + (s3[1] + s3[3]);
}

/* y -= s x. */
static void subtract_scaled(double *restrict y, double s, const double *restrict x, size_t count) {
    for (size_t i = 0; i < count; i++)
        y[i] -= s * x[i];
}

static double *row_of(const rg_ldlt *factor, size_t i) {
    return factor->lower + i * factor->capacity;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

rg_status rg_ldlt_append(rg_ldlt *factor, const double *row, double *pivot) {
    size_t begin = 0;
    while (begin < factor->size && row[begin] == 0)
        begin++;
    return rg_ldlt_append_from(factor, row, begin, pivot);
}

/* Zeros before entry `begin`, back to a multiple of 4. */
static void pad(double *row, size_t begin) {
    for (size_t i = lane_start(begin); i < begin; i++)
        row[i] = 0;
}

/* The last steps of an append: y = L^-1 row is there. */
static rg_status append_row(rg_ldlt *factor, const double *y, double entry, size_t begin,
                            double *pivot) {
    size_t n = factor->size;
    double *l = row_of(factor, n); /* the row behind the last: not used yet */
    pad(l, begin);
    for (size_t i = begin; i < n; i++)
        l[i] = y[i] / factor->diagonal[i];
    double d = entry - dot(l, y, begin, n);
    if (pivot)
        *pivot = d;
    double scale = fabs(entry) > factor->largest ? fabs(entry) : factor->largest;
    if (!(d > RG_LDLT_SINGULAR * scale) || !isfinite(d))
        return RG_SINGULAR;
    factor->diagonal[n] = d;
    factor->first[n] = (uint32_t)begin;
    factor->largest = d > factor->largest ? d : factor->largest;
    factor->size = n + 1;
    factor->updates++;
    return RG_OK;
}

rg_status rg_ldlt_append_from(rg_ldlt *factor, const double *row, size_t begin, double *pivot) {
    size_t n = factor->size;
    assert(n < factor->capacity && begin <= n);
    double *y = factor->work;
    pad(y, begin);
    for (size_t i = begin; i < n; i++) {
        size_t from = larger(begin, factor->first[i]);
        y[i] = from < i ? row[i] - dot(row_of(factor, i), y, from, i) : row[i];
    }
    return append_row(factor, y, row[n], begin, pivot);
}

size_t rg_ldlt_append_group(rg_ldlt *factor, double *const rows[RG_LDLT_GROUP], size_t begin,
                            size_t count, bool accepted[RG_LDLT_GROUP]) {
    size_t n = factor->size, added = 0;
    assert(count <= RG_LDLT_GROUP && begin <= n);
    if (count == GROUP) {
        for (size_t k = 0; k < GROUP; k++)
            pad(rows[k], begin);
        for (size_t i = begin; i < n; i++) { /* L y = row for all four; y takes the row's place */
            double sums[GROUP];
            size_t from = larger(begin, factor->first[i]);
            if (from >= i)
                continue;
            dot_group(row_of(factor, i), rows, from, i, sums);
            for (size_t k = 0; k < GROUP; k++)
                rows[k][i] -= sums[k];
        }
    }
    for (size_t k = 0; k < count; k++) { /* then one by one against those of the group */
        double *y = rows[k];
        for (size_t i = 0, next = n; i <= k; i++) /* entries of refused rows fall out */
            if (i == k || accepted[i])
                y[next++] = y[n + i];
        if (count != GROUP) {
            accepted[k] = rg_ldlt_append_from(factor, y, begin, NULL) == RG_OK;
        } else {
            for (size_t i = n; i < factor->size; i++)
                y[i] -= dot(row_of(factor, i), y, larger(begin, factor->first[i]), i);
            accepted[k] = append_row(factor, y, y[factor->size], begin, NULL) == RG_OK;
        }
        added += accepted[k];
    }
    return added;
}

/* What the rank-1 update has worked out for each column: the entry p of w when its turn comes, and
 * the factor beta by which w goes into the column. They lie in factor->work. */
typedef struct columns {
    double *p, *beta;
} columns;

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
    uint32_t *first = factor->first;
    double alpha = factor->diagonal[k];
    for (size_t block = k + 1; block < n; block += LANES) {
        double pending[LANES];
        size_t rows = n - block < LANES ? n - block : LANES, begin[LANES], from = k + 1;
        for (size_t a = 0; a < rows; a++) {
            size_t i = block + a;
            pending[a] = first[i] <= k ? row_of(factor, i)[k] : 0;
            begin[a] = larger(k + 1, first[i]);
            from = larger(from, begin[a] < block ? begin[a] : block);
        }
        for (size_t a = 0; a < rows; a++) /* alone up to where all four have entries */
            pass_rows(factor, c, 1, block + a, begin[a], rows == LANES ? from : block, &pending[a]);
        if (rows == LANES)
            pass_rows(factor, c, LANES, block, from, block, pending);
        for (size_t a = 0; a < rows; a++) { /* the triangle within the block, then the pivot */
            size_t i = block + a;
            pass_rows(factor, c, 1, i, larger(block, begin[a]), i, &pending[a]);
            double p = pending[a], old = factor->diagonal[i], new = old + alpha *p *p;
            c.p[i] = p;
            c.beta[i] = p * alpha / new;
            alpha = alpha * (old / new);
            factor->diagonal[i - 1] = new;
            factor->largest = fmax(factor->largest, new);
        }
    }
    for (size_t i = k + 1; i < n; i++) { /* up by one */
        size_t from = first[i] > k ? first[i] - 1 : first[i];
        if (from < i - 1)
            memcpy(row_of(factor, i - 1) + from, row_of(factor, i) + from,
                   (i - 1 - from) * sizeof(double));
        pad(row_of(factor, i - 1), from);
        first[i - 1] = (uint32_t)from;
    }
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
    size_t n = factor->size, begin = 0;
    while (begin < n && x[begin] == 0)
        begin++;
    for (size_t i = begin + 1; i < n; i++) {
        size_t from = larger(begin, factor->first[i]);
        if (from < i)
            x[i] -= dot(row_of(factor, i), x, from, i);
    }
    for (size_t i = begin; i < n; i++)
        x[i] /= factor->diagonal[i];
    for (size_t i = n; i-- > 1;) {
        size_t from = factor->first[i];
        if (from < i)
            subtract_scaled(x + from, x[i], row_of(factor, i) + from, i - from);
    }
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
