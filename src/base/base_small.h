/* Cholesky factors of small blocks, such as the masses of bodies and the rows of a joint: row-major
 * with n numbers a row, reciprocals on the diagonal of L. Where n is a constant the loops are
 * unrolled, which takes a third of the instructions; the bits are the same.
 * Tested by tests/solve/test_tree.c and tests/problem/test_check.c. */
#ifndef RIGOR_BASE_SMALL_H
#define RIGOR_BASE_SMALL_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__GNUC__)
#define RG_INLINE static inline __attribute__((always_inline))
#else
#define RG_INLINE static inline
#endif
/* clang does so by itself, and warns where it cannot. */
#if defined(__GNUC__) && !defined(__clang__)
#define RG_UNROLL _Pragma("GCC unroll 6")
#else
#define RG_UNROLL
#endif

/* L of the lower triangle of `a`, which may be the same place. False: a pivot is no more than
 * `share` of its diagonal entry, or not finite. */
RG_INLINE bool rg_small_factor(const double *a, size_t n, double share, double *l) {
    RG_UNROLL
    for (size_t i = 0; i < n; i++) {
        RG_UNROLL
        for (size_t j = 0; j < i; j++) {
            double sum = a[i * n + j];
            RG_UNROLL
            for (size_t k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = sum * l[j * n + j];
        }
        double pivot = a[i * n + i], least = share * pivot;
        RG_UNROLL
        for (size_t k = 0; k < i; k++)
            pivot -= l[i * n + k] * l[i * n + k];
        if (!(pivot > least && pivot <= DBL_MAX))
            return false;
        l[i * n + i] = 1 / sqrt(pivot);
    }
    return true;
}

/* x := L^-1 x. */
RG_INLINE void rg_small_lower(const double *l, size_t n, double *x) {
    RG_UNROLL
    for (size_t i = 0; i < n; i++) {
        double sum = x[i];
        RG_UNROLL
        for (size_t k = 0; k < i; k++)
            sum -= l[i * n + k] * x[k];
        x[i] = sum * l[i * n + i];
    }
}

/* x := L'^-1 x. */
RG_INLINE void rg_small_upper(const double *l, size_t n, double *x) {
    RG_UNROLL
    for (size_t m = 0; m < n; m++) {
        size_t i = n - 1 - m;
        double sum = x[i];
        RG_UNROLL
        for (size_t k = i + 1; k < n; k++)
            sum -= l[k * n + i] * x[k];
        x[i] = sum * l[i * n + i];
    }
}

/* Entry (i, j) of K' K, K with n columns, over its rows begin ... end - 1. */
RG_INLINE double rg_small_square(const double *k, size_t n, size_t i, size_t j, size_t begin,
                                 size_t end) {
    double sum = 0;
    RG_UNROLL
    for (size_t m = begin; m < end; m++)
        sum += k[m * n + i] * k[m * n + j];
    return sum;
}

/* (L L')^-1, n <= 6. */
RG_INLINE void rg_small_inverse(const double *l, size_t n, double *inverse) {
    double k[36]; /* L^-1 */
    RG_UNROLL
    for (size_t j = 0; j < n; j++) {
        k[j * n + j] = l[j * n + j];
        RG_UNROLL
        for (size_t i = j + 1; i < n; i++) {
            double sum = 0;
            RG_UNROLL
            for (size_t m = j; m < i; m++)
                sum -= l[i * n + m] * k[m * n + j];
            k[i * n + j] = sum * l[i * n + i];
        }
    }
    RG_UNROLL
    for (size_t i = 0; i < n; i++)
        RG_UNROLL
    for (size_t j = 0; j <= i; j++)
        inverse[i * n + j] = inverse[j * n + i] = rg_small_square(k, n, i, j, i, n);
}

/* --- two by two ------------------------------------------------------------------------------- */

/* Rows of an even number of doubles, so that two are taken at a time: the last of an odd number is
 * followed by one that does not matter. Each entry has the bits that it would have by itself. */

#define RG_EVEN(n) (((n) + 1) / 2 * 2)

#if defined(__GNUC__)
typedef double rg_pair __attribute__((vector_size(2 * sizeof(double))));
RG_INLINE rg_pair rg_pair_of(double a, double b) {
    return (rg_pair){a, b};
}
RG_INLINE rg_pair rg_pair_plus(rg_pair a, rg_pair b) {
    return a + b;
}
RG_INLINE rg_pair rg_pair_minus(rg_pair a, rg_pair b) {
    return a - b;
}
RG_INLINE rg_pair rg_pair_times(rg_pair a, rg_pair b) {
    return a * b;
}
RG_INLINE rg_pair rg_pair_over(rg_pair a, rg_pair b) {
    return a / b;
}
#else
typedef struct rg_pair {
    double a, b;
} rg_pair;
RG_INLINE rg_pair rg_pair_of(double a, double b) {
    return (rg_pair){a, b};
}
RG_INLINE rg_pair rg_pair_plus(rg_pair x, rg_pair y) {
    return (rg_pair){x.a + y.a, x.b + y.b};
}
RG_INLINE rg_pair rg_pair_minus(rg_pair x, rg_pair y) {
    return (rg_pair){x.a - y.a, x.b - y.b};
}
RG_INLINE rg_pair rg_pair_times(rg_pair x, rg_pair y) {
    return (rg_pair){x.a * y.a, x.b * y.b};
}
RG_INLINE rg_pair rg_pair_over(rg_pair x, rg_pair y) {
    return (rg_pair){x.a / y.a, x.b / y.b};
}
#endif

RG_INLINE rg_pair rg_pair_at(const double *x) {
    rg_pair v;
    memcpy(&v, x, sizeof v);
    return v;
}
RG_INLINE void rg_pair_put(double *x, rg_pair v) {
    memcpy(x, &v, sizeof v);
}

/* x := x - c y from entry `first` on, which is even, to n. */
RG_INLINE void rg_small_take(double *x, double c, const double *y, size_t first, size_t n) {
    rg_pair both = rg_pair_of(c, c);
    RG_UNROLL
    for (size_t j = 0; j < n; j += 2)
        if (j >= first)
            rg_pair_put(x + j,
                        rg_pair_minus(rg_pair_at(x + j), rg_pair_times(both, rg_pair_at(y + j))));
}

/* Row i of a matrix of `columns` columns, from the pair of entry `first` on: less the shares u of
 * the i rows before it, and times `by`. */
RG_INLINE void rg_small_row(double *x, size_t i, const double *u, size_t step, double by,
                            size_t first, size_t columns) {
    const size_t per = RG_EVEN(columns);
    RG_UNROLL
    for (size_t j = 0; j < columns; j += 2) {
        if (j + 1 < first)
            continue;
        rg_pair sum = rg_pair_at(x + i * per + j);
        RG_UNROLL
        for (size_t k = 0; k < i; k++)
            sum = rg_pair_minus(sum, rg_pair_times(rg_pair_of(u[k * step], u[k * step]),
                                                   rg_pair_at(x + k * per + j)));
        rg_pair_put(x + i * per + j, rg_pair_times(rg_pair_of(by, by), sum));
    }
}

/* A = U' U, U in the upper triangle of `a`, with reciprocals on the diagonal; B := U'^-1 B, of
 * `columns` columns. False: as rg_small_factor. */
RG_INLINE bool rg_small_eliminate(double *restrict a, size_t n, double share, double *restrict b,
                                  size_t columns) {
    const size_t wide = RG_EVEN(n);
    RG_UNROLL
    for (size_t i = 0; i < n; i++) {
        double pivot = a[i * wide + i], least = share * pivot;
        RG_UNROLL
        for (size_t k = 0; k < i; k++)
            pivot -= a[k * wide + i] * a[k * wide + i];
        if (!(pivot > least && pivot <= DBL_MAX))
            return false;
        double by = 1 / sqrt(pivot);
        rg_small_row(a, i, a + i, wide, by, i + 1, n);
        rg_small_row(b, i, a + i, wide, by, 0, columns);
        a[i * wide + i] = by;
    }
    return true;
}

/* x := U'^-1 x. */
RG_INLINE void rg_small_forward(const double *u, size_t n, double *x) {
    const size_t wide = RG_EVEN(n);
    RG_UNROLL
    for (size_t i = 0; i < n; i++) {
        double c = x[i] * u[i * wide + i];
        rg_small_take(x, c, u + i * wide, (i + 1) / 2 * 2, n);
        x[i] = c;
    }
}

/* x := U^-1 x. */
RG_INLINE void rg_small_back(const double *u, size_t n, double *x) {
    const size_t wide = RG_EVEN(n);
    RG_UNROLL
    for (size_t m = 0; m < n; m++) {
        size_t i = n - 1 - m;
        double sum = x[i];
        RG_UNROLL
        for (size_t k = 0; k < n; k++)
            if (k > i)
                sum -= u[i * wide + k] * x[k];
        x[i] = sum * u[i * wide + i];
    }
}

/* Entries (i, j), (i, j + 1) of K' K, K of m rows and `columns` columns. */
RG_INLINE rg_pair rg_small_squares(const double *k, size_t m, size_t columns, size_t i, size_t j) {
    const size_t per = RG_EVEN(columns);
    rg_pair sum = rg_pair_of(0, 0);
    RG_UNROLL
    for (size_t r = 0; r < m; r++)
        sum = rg_pair_plus(sum, rg_pair_times(rg_pair_of(k[r * per + i], k[r * per + i]),
                                              rg_pair_at(k + r * per + j)));
    return sum;
}

RG_INLINE double rg_small_dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    RG_UNROLL
    for (size_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* The sum of those with an even place, and of the others. */
RG_INLINE double rg_small_dot_even(const double *a, const double *b, size_t n) {
    rg_pair sum = rg_pair_of(0, 0);
    double both[2];
    RG_UNROLL
    for (size_t k = 0; k + 1 < n; k += 2)
        sum = rg_pair_plus(sum, rg_pair_times(rg_pair_at(a + k), rg_pair_at(b + k)));
    rg_pair_put(both, sum);
    return both[0] + both[1] + (n % 2 ? a[n - 1] * b[n - 1] : 0);
}

#endif
