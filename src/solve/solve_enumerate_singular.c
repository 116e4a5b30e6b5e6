/* Solutions of a singular mode: f0 + N t where the inequalities hold, a segment or a polyhedron in
 * t. The point of least norm is listed if it satisfies them, otherwise the corners are searched, up
 * to a budget. Why that is enough, and how it fails: solve_enumerate.c.
 * Tested by tests/solve/test_enumerate.c. */
#include "base/base_math.h"
#include "problem/problem.h"
#include "solve/solve_enumerate_state.h"

/* slack + changes t >= -tolerance for one parameter: an interval. False if empty. */
static bool find_interval(const rg_enumeration *e, double *low, double *high) {
    *low = -INFINITY;
    *high = INFINITY;
    for (size_t i = 0; i < 2 * e->size; i++) {
        double g = e->slack[i], d = e->slack_change[i];
        if (!(g < INFINITY))
            continue;
        if (fabs(d) <= RG_ENUMERATION_RANK * (fabs(g) + e->scale)) {
            if (g < -e->tolerance)
                return false;
        } else if (d > 0) {
            *low = fmax(*low, -g / d);
        } else {
            *high = fmin(*high, -g / d);
        }
    }
    return *low <= *high + RG_ENUMERATION_RANK * (1 + fabs(*low) + fabs(*high));
}

/* Moves t[] parameters along the null space from x and reports the point if it satisfies all
 * claims. */
static bool try_point(rg_enumeration *e, const double *t, size_t parameters) {
    size_t m = e->unknowns;
    for (size_t i = 0; i < m; i++) {
        double sum = 0;
        for (size_t d = 0; d < parameters; d++)
            sum += t[d] * e->null_space[d * m + i];
        e->residual[i] = e->x[i] + sum * e->column_scale[i];
    }
    rg_enumeration_spread(e, e->residual, true, e->force, e->velocity);
    if (rg_enumeration_slack(e, e->force, e->velocity) < -e->tolerance)
        return false;
    rg_enumeration_report(e, e->force);
    return true;
}

/* The square system of the tight claims rows[0 .. parameters) in t, by elimination. */
static bool solve_tight(const rg_enumeration *e, const size_t *rows, size_t parameters, double *t) {
    double a[4][5];
    for (size_t r = 0; r < parameters; r++) {
        for (size_t c = 0; c < parameters; c++)
            a[r][c] = e->slack_change[c * 2 * e->size + rows[r]];
        a[r][parameters] = -e->slack[rows[r]];
    }
    for (size_t k = 0; k < parameters; k++) {
        size_t best = k;
        for (size_t r = k + 1; r < parameters; r++)
            if (fabs(a[r][k]) > fabs(a[best][k]))
                best = r;
        if (fabs(a[best][k]) < RG_ENUMERATION_RANK * e->scale)
            return false;
        for (size_t c = 0; c <= parameters; c++) {
            double swap = a[k][c];
            a[k][c] = a[best][c];
            a[best][c] = swap;
        }
        for (size_t r = k + 1; r < parameters; r++) {
            double f = a[r][k] / a[k][k];
            for (size_t c = k; c <= parameters; c++)
                a[r][c] -= f * a[k][c];
        }
    }
    for (size_t r = parameters; r-- > 0;) {
        t[r] = a[r][parameters];
        for (size_t c = r + 1; c < parameters; c++)
            t[r] -= a[r][c] * t[c];
        t[r] /= a[r][r];
    }
    return true;
}

/* Corners of a polyhedron with two to four parameters: every choice of as many tight claims. */
static void search_corners(rg_enumeration *e, size_t parameters) {
    size_t rows[4], total = 2 * e->size;
    double t[4];
    for (size_t d = 0; d < parameters; d++)
        rows[d] = d;
    while (e->budget) {
        bool usable = true;
        for (size_t d = 0; d < parameters; d++)
            usable = usable && e->slack[rows[d]] < INFINITY;
        if (usable) {
            e->budget--;
            if (solve_tight(e, rows, parameters, t) && try_point(e, t, parameters))
                e->set.continuum = true;
        }
        size_t d = parameters;
        while (d > 0 && rows[d - 1] == total - parameters + d - 1)
            d--;
        if (d == 0)
            return;
        rows[d - 1]++;
        for (; d < parameters; d++)
            rows[d] = rows[d - 1] + 1;
    }
}

/* How the slacks change along direction d of the null space, which is scaled so that its largest
 * effect on any row is the problem's scale: parameters are then of order 1. Changes that are
 * rounding against that become 0. */
static void measure_direction(rg_enumeration *e, size_t d) {
    size_t m = e->unknowns, n = e->size;
    double *v = e->null_space + d * m, *changes = e->slack_change + d * 2 * n, largest = 0;
    for (size_t i = 0; i < m; i++)
        e->residual[i] = v[i] * e->column_scale[i];
    rg_enumeration_spread(e, e->residual, false, e->direction, e->change);
    for (size_t i = 0; i < n; i++) {
        const double *row = rg_linear_row(e->problem, i);
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += fabs(row[j] * e->direction[j]);
        largest = fmax(largest, fmax(sum, fabs(e->direction[i]) * e->weight[i]));
        rg_enumeration_row_slack(e, i, e->direction, e->change, false, changes + 2 * i);
    }
    double factor = largest > 0 ? e->scale / largest : 1;
    for (size_t i = 0; i < 2 * n; i++)
        changes[i] = fabs(changes[i]) <= RG_ENUMERATION_RANK * largest ? 0 : changes[i] * factor;
    for (size_t i = 0; i < m; i++)
        v[i] *= factor;
}

void rg_enumeration_solve_singular(rg_enumeration *e) {
    size_t m = e->unknowns, parameters = m - e->rank, n = e->size;
    rg_enumeration_make_least_norm(e);
    rg_enumeration_spread(e, e->x, true, e->force, e->velocity);
    for (size_t i = 0; i < n; i++) {
        double slack[2];
        rg_enumeration_row_slack(e, i, e->force, e->velocity, true, slack);
        e->slack[2 * i] = slack[0];
        e->slack[2 * i + 1] = slack[1];
    }
    bool feasible = rg_enumeration_slack(e, e->force, e->velocity) >= -e->tolerance;
    for (size_t d = 0; d < parameters; d++)
        measure_direction(e, d);
    if (parameters == 1) {
        double low, high;
        bool found = feasible;
        if (feasible)
            rg_enumeration_report(e, e->force);
        if (!find_interval(e, &low, &high))
            return;
        if (isfinite(low))
            found = try_point(e, &low, 1) || found;
        if (isfinite(high) && high > low)
            found = try_point(e, &high, 1) || found;
        e->set.continuum |= found && high > low + RG_SOLUTION_DISTINCT * (1 + fabs(low));
    } else if (feasible) {
        rg_enumeration_report(e, e->force);
        e->set.continuum = true;
    } else if (parameters <= 4) {
        search_corners(e, parameters);
    }
}
