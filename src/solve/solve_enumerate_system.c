/* The linear system of a mode: a rank-revealing LU with full pivoting of the equilibrated matrix.
 * How it fails: what is singular only to about RG_ENUMERATION_RANK is taken as singular.
 * Tested by tests/solve/test_enumerate.c. */
#include "base/base_dense.h"
#include "base/base_math.h"
#include "problem/problem.h"
#include "solve/solve_enumerate_state.h"

#include <string.h>

static void build_system(rg_enumeration *e) {
    const rg_linear_problem *p = e->problem;
    size_t m = 0;
    for (size_t i = 0; i < e->size; i++)
        if (e->state[i] == RG_STATE_UNKNOWN)
            e->unknown[m++] = (uint32_t)i;
    e->unknowns = m;
    for (size_t r = 0; r < m; r++) {
        const double *row = rg_linear_row(p, e->unknown[r]);
        double right = -p->b[e->unknown[r]];
        for (size_t c = 0; c < m; c++)
            e->matrix[r * m + c] = row[e->unknown[c]];
        for (size_t i = 0; i < e->size; i++)
            if (e->state[i] == RG_STATE_GIVEN && e->value[i] != 0)
                right -= row[i] * e->value[i];
        e->right[r] = right;
    }
    /* Slip: the column of the normal takes that of the friction along. */
    for (size_t i = 0; i < e->size; i++) {
        if (e->state[i] != RG_STATE_TIED)
            continue;
        size_t c = 0;
        while (e->unknown[c] != p->normal[i])
            c++;
        for (size_t r = 0; r < m; r++)
            e->matrix[r * m + c] += e->value[i] * rg_linear_row(p, e->unknown[r])[i];
    }
}

/* Rows, then columns, to a largest entry of 1: rank then does not depend on units. */
static void equilibrate(rg_enumeration *e) {
    size_t m = e->unknowns;
    for (size_t r = 0; r < m; r++) {
        double largest = 0;
        for (size_t c = 0; c < m; c++)
            largest = fmax(largest, fabs(e->matrix[r * m + c]));
        e->row_scale[r] = largest > 0 ? 1 / largest : 1;
    }
    for (size_t c = 0; c < m; c++) {
        double largest = 0;
        for (size_t r = 0; r < m; r++)
            largest = fmax(largest, fabs(e->matrix[r * m + c]) * e->row_scale[r]);
        e->column_scale[c] = largest > 0 ? 1 / largest : 1;
    }
    for (size_t r = 0; r < m; r++)
        for (size_t c = 0; c < m; c++)
            e->lu[r * m + c] = e->matrix[r * m + c] * e->row_scale[r] * e->column_scale[c];
}

/* LU with full pivoting; stops at the rank. */
static void factor(rg_enumeration *e) {
    size_t m = e->unknowns, k = 0;
    double *lu = e->lu;
    e->dropped = 0;
    for (size_t i = 0; i < m; i++)
        e->row_order[i] = e->column_order[i] = (uint32_t)i;
    for (; k < m; k++) {
        size_t pr, pc;
        double largest = rg_dense_largest(lu, m, k, &pr, &pc);
        if (largest <= RG_ENUMERATION_RANK) {
            e->dropped = largest;
            break;
        }
        rg_dense_swap_rows(lu, m, pr, k, m);
        rg_dense_swap_columns(lu, m, pc, k, m);
        rg_swap_numbers(&e->row_order[pr], &e->row_order[k]);
        rg_swap_numbers(&e->column_order[pc], &e->column_order[k]);
        for (size_t r = k + 1; r < m; r++) {
            double *row = lu + r * m, multiplier = row[k] / lu[k * m + k];
            row[k] = multiplier;
            if (multiplier != 0)
                for (size_t c = k + 1; c < m; c++)
                    row[c] -= multiplier * lu[k * m + c];
        }
    }
    e->rank = k;
}

/* x: a solution with zeros in the dependent columns; returns what remains of the right side in the
 * dependent rows, in the unit of a. `y`: m numbers of work. */
static double substitute(const rg_enumeration *e, const double *right, double *y, double *x) {
    size_t m = e->unknowns, k = e->rank;
    const double *lu = e->lu;
    double rest = 0;
    for (size_t r = 0; r < m; r++) {
        double sum = right[e->row_order[r]] * e->row_scale[e->row_order[r]];
        for (size_t c = 0; c < r && c < k; c++)
            sum -= lu[r * m + c] * y[c];
        y[r] = sum;
        if (r >= k)
            rest = fmax(rest, fabs(sum) / e->row_scale[e->row_order[r]]);
    }
    for (size_t r = m; r-- > k;)
        y[r] = 0;
    for (size_t r = k; r-- > 0;) {
        for (size_t c = r + 1; c < k; c++)
            y[r] -= lu[r * m + c] * y[c];
        y[r] /= lu[r * m + r];
    }
    for (size_t r = 0; r < m; r++)
        x[e->column_order[r]] = y[r] * e->column_scale[e->column_order[r]];
    return rest;
}

double rg_enumeration_solve(rg_enumeration *e) {
    build_system(e);
    equilibrate(e);
    factor(e);
    return substitute(e, e->right, e->residual, e->x);
}

void rg_enumeration_refine(rg_enumeration *e) {
    size_t m = e->unknowns;
    for (size_t r = 0; r < m; r++) {
        double sum = e->right[r];
        for (size_t c = 0; c < m; c++)
            sum -= e->matrix[r * m + c] * e->x[c];
        e->residual[r] = sum;
    }
    /* `direction` and `change` are free until the null space is used. */
    substitute(e, e->residual, e->direction, e->change);
    for (size_t r = 0; r < m; r++)
        e->x[r] += e->change[r];
}

/* An orthonormal basis of the null space of the equilibrated matrix, in its own column order
 * undone. */
static void find_null_space(rg_enumeration *e) {
    size_t m = e->unknowns, k = e->rank;
    for (size_t d = 0; d < m - k; d++) {
        double *v = e->null_space + d * m, *y = e->direction;
        for (size_t r = k; r-- > 0;) {
            y[r] = -e->lu[r * m + k + d];
            for (size_t c = r + 1; c < k; c++)
                y[r] -= e->lu[r * m + c] * y[c];
            y[r] /= e->lu[r * m + r];
        }
        memset(v, 0, m * sizeof *v);
        for (size_t r = 0; r < k; r++)
            v[e->column_order[r]] = y[r];
        v[e->column_order[k + d]] = 1;
        for (int pass = 0; pass < 2; pass++)
            for (size_t o = 0; o < d; o++) {
                const double *w = e->null_space + o * m;
                double dot = 0;
                for (size_t i = 0; i < m; i++)
                    dot += v[i] * w[i];
                for (size_t i = 0; i < m; i++)
                    v[i] -= dot * w[i];
            }
        double length = 0;
        for (size_t i = 0; i < m; i++)
            length += v[i] * v[i];
        for (size_t i = 0; i < m; i++)
            v[i] /= sqrt(length);
    }
}

/* Takes the part in the null space out of x: the least norm in equilibrated unknowns. */
void rg_enumeration_make_least_norm(rg_enumeration *e) {
    size_t m = e->unknowns;
    find_null_space(e);
    for (size_t d = 0; d < m - e->rank; d++) {
        const double *v = e->null_space + d * m;
        double dot = 0;
        for (size_t i = 0; i < m; i++)
            dot += v[i] * e->x[i] / e->column_scale[i];
        for (size_t i = 0; i < m; i++)
            e->x[i] -= dot * v[i] * e->column_scale[i];
    }
}
