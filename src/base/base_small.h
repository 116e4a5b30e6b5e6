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

RG_INLINE double rg_small_dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    RG_UNROLL
    for (size_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

#endif
