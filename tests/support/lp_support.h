/* For the tests of rigor-lp: planar stacks of bricks as linear problems, and the oracle for
 * small ones. */
#ifndef RIGOR_LP_SUPPORT_H
#define RIGOR_LP_SUPPORT_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rigor/lp.h"
#include "rigor/random.h"
#include "test_support.h"

enum { BRICKS_MAX = 8, ROWS_MAX = 2 * BRICKS_MAX };

/* Bricks 2 x 1 of 1 kg on one another on a floor, centres at x (Baraff 1994 survey, figure 3):
 * two contacts at the ends of every overlap, bottom up, left then right. */
typedef struct stack {
    size_t rows;
    double matrix[ROWS_MAX * ROWS_MAX], b[ROWS_MAX];
} stack;

static inline void make_stack(stack *s, const double *x, size_t bricks) {
    const double g = 9.81, inertia = 5.0 / 12;
    double arms[ROWS_MAX][BRICKS_MAX][2]; /* (force, torque) on each brick per unit of force */
    memset(arms, 0, sizeof arms);
    s->rows = 2 * bricks;
    for (size_t k = 0; k < bricks; k++) {
        double left = k ? fmax(x[k], x[k - 1]) - 1 : x[k] - 1;
        double right = k ? fmin(x[k], x[k - 1]) + 1 : x[k] + 1;
        double at[2] = {left, right};
        for (size_t e = 0; e < 2; e++) {
            size_t row = 2 * k + e;
            arms[row][k][0] = 1;
            arms[row][k][1] = at[e] - x[k];
            if (k) {
                arms[row][k - 1][0] = -1;
                arms[row][k - 1][1] = -(at[e] - x[k - 1]);
            }
            s->b[row] = k ? 0 : -g;
        }
    }
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < s->rows; j++) {
            double sum = 0;
            for (size_t k = 0; k < bricks; k++)
                sum += arms[i][k][0] * arms[j][k][0] + arms[i][k][1] * arms[j][k][1] / inertia;
            s->matrix[i * s->rows + j] = sum;
        }
}

/* n x n system by Gauss with partial pivoting; false if singular. Apart from everything in the
 * library. */
static inline bool gauss(size_t n, double *a, double *x) {
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        if (!(fabs(a[best * n + k]) > 1e-11))
            return false;
        for (size_t j = 0; j < n; j++) {
            double held = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = held;
        }
        double held = x[k];
        x[k] = x[best];
        x[best] = held;
        for (size_t i = 0; i < n; i++) {
            double factor = i == k ? 0 : a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (size_t k = 0; k < n; k++)
        x[k] /= a[k * n + k];
    return true;
}

/* Solution of an LCP with few rows by trying all sets of closed contacts. */
static inline bool enumerate_lcp(size_t n, const double *matrix, const double *b, double *f,
                                 double *a) {
    for (size_t set = 0; set < (size_t)1 << n; set++) {
        size_t rows[ROWS_MAX], count = 0;
        double sub[ROWS_MAX * ROWS_MAX], x[ROWS_MAX];
        for (size_t i = 0; i < n; i++)
            if (set >> i & 1)
                rows[count++] = i;
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < count; j++)
                sub[i * count + j] = matrix[rows[i] * n + rows[j]];
            x[i] = -b[rows[i]];
        }
        if (!gauss(count, sub, x))
            continue;
        bool good = true;
        memset(f, 0, n * sizeof *f);
        for (size_t i = 0; i < count; i++) {
            f[rows[i]] = x[i];
            good = good && x[i] >= -1e-9;
        }
        for (size_t i = 0; i < n; i++) {
            a[i] = b[i];
            for (size_t j = 0; j < n; j++)
                a[i] += matrix[i * n + j] * f[j];
            good = good && a[i] >= -1e-9;
        }
        if (good)
            return true;
    }
    return false;
}

static inline rg_solve_context *make_context(void) {
    rg_solve_context *context = NULL;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    return context;
}

#endif
