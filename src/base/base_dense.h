/* Pivoting on small dense matrices, row-major with `n` numbers a row: the search for the largest
 * entry and the exchange of rows and columns. */
#ifndef RIGOR_BASE_DENSE_H
#define RIGOR_BASE_DENSE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline void rg_swap_numbers(uint32_t *a, uint32_t *b) {
    uint32_t held = *a;
    *a = *b;
    *b = held;
}

/* In four sums, so that it can be done four at a time; the same bits everywhere. */
static inline double rg_dense_dot(const double *restrict a, const double *restrict x, size_t n) {
    double sum[4] = {0};
    size_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (size_t lane = 0; lane < 4; lane++)
            sum[lane] += a[j + lane] * x[j + lane];
    for (; j < n; j++)
        sum[0] += a[j] * x[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Rows a and b, their first `count` entries. */
static inline void rg_dense_swap_rows(double *m, size_t n, size_t a, size_t b, size_t count) {
    for (size_t j = 0; j < count && a != b; j++) {
        double held = m[a * n + j];
        m[a * n + j] = m[b * n + j];
        m[b * n + j] = held;
    }
}

/* Columns a and b, their first `count` entries. */
static inline void rg_dense_swap_columns(double *m, size_t n, size_t a, size_t b, size_t count) {
    for (size_t i = 0; i < count && a != b; i++) {
        double held = m[i * n + a];
        m[i * n + a] = m[i * n + b];
        m[i * n + b] = held;
    }
}

/* The largest |entry| of the square part from (first, first) on, and where it is: the first of
 * several, row by row. */
static inline double rg_dense_largest(const double *m, size_t n, size_t first, size_t *row,
                                      size_t *column) {
    double largest = 0;
    *row = *column = first;
    for (size_t i = first; i < n; i++)
        for (size_t j = first; j < n; j++)
            if (fabs(m[i * n + j]) > largest) {
                largest = fabs(m[i * n + j]);
                *row = i;
                *column = j;
            }
    return largest;
}

#endif
