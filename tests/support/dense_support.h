/* Small dense systems by Gauss elimination, for tests that check others against it. */
#ifndef RIGOR_DENSE_SUPPORT_H
#define RIGOR_DENSE_SUPPORT_H

#include <math.h>
#include <stddef.h>

/* Overwrites x, the right side, with the solution, and m (by rows) with its factor. */
static inline void solve_dense(double *m, double *x, size_t n) {
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < n; i++)
            p = fabs(m[i * n + k]) > fabs(m[p * n + k]) ? i : p;
        for (size_t j = 0; j < n; j++) {
            double t = m[k * n + j];
            m[k * n + j] = m[p * n + j];
            m[p * n + j] = t;
        }
        double t = x[k];
        x[k] = x[p];
        x[p] = t;
        for (size_t i = k + 1; i < n; i++) {
            double c = m[i * n + k] / m[k * n + k];
            for (size_t j = k; j < n; j++)
                m[i * n + j] -= c * m[k * n + j];
            x[i] -= c * x[k];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            x[i] -= m[i * n + j] * x[j];
        x[i] /= m[i * n + i];
    }
}

#endif
