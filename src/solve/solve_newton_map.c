/* The smoothed Coulomb law: projections whose kinks are rounded over a length tau.
 *
 * A contact's law is r = P(y), y = r - rho u, with P_N the positive part of y_N and P_T the point
 * of the disc of radius b = mu P_N nearest to y_T (Alart and Curnier 1991): a root of it is a
 * solution of Coulomb's law, no De Saxce term is needed. Both are rounded in the way of Chen,
 * Harker, Kanzow and Smale (Chen and Mangasarian 1996): with s = tau rho scale
 *     p_N = (y_N + S)/2,  S = sqrt(y_N^2 + 4 s^2)         (so p_N (p_N - y_N) = s^2: r u rho = s^2)
 *     p_T = sigma y_T/t,  t = |y_T|,  sigma = (S+ - S-)/2,  S+- = sqrt((t +- b)^2 + 4 mu^2 s^2).
 * A joint row's interval is treated in the same way, end by end. Differences such as 1 - dp_N/dy_N
 * or r - p are evaluated without cancellation: on the path they fall with the square of tau, far
 * below the rounding error of their terms, and strongly loaded contacts hang on them.
 * Tested by tests/solve/test_newton.c. */
#include "base/base_math.h"
#include "solve/solve_newton.h"
#include "solve/solve_system_parts.h"

#include <string.h>

/* Of a row without kinks (a free joint row) and of all others, the Jacobian 1 - DP may vanish; the
 * first gets this instead. No unit: relative to the identity. */
#define FREE_ROW 1e-9
#define TINY     1e-300

/* plus(x) = (x + sqrt(x^2 + 4 (s^2 + soft)))/2 with what goes with it. */
typedef struct plus_part {
    double value, rest;       /* plus(x), plus(x) - x = plus(-x) */
    double slope, rest_slope; /* d/dx, 1 - d/dx */
    double tau_slope;         /* d/d log tau */
} plus_part;

static plus_part plus(double x, double s, double soft) {
    double square = s * s + soft, root = sqrt(x * x + 4 * square) + TINY,
           big = 0.5 * (fabs(x) + root);
    double small = square / (big + TINY);
    plus_part p = x >= 0 ? (plus_part){.value = big, .rest = small}
                         : (plus_part){.value = small, .rest = big};
    p.slope = p.value / root;
    p.rest_slope = p.rest / root;
    p.tau_slope = 2 * s * s / root;
    return p;
}

/* The disc: factors of y_T and derivatives of sigma, with their complements. */
typedef struct disc_part {
    double ratio, rest_ratio; /* sigma/t, 1 - that */
    double along, rest_along; /* d sigma/dt, 1 - that */
    double radius;            /* d sigma/db */
    double tau_slope;         /* d sigma/d log tau, b fixed */
} disc_part;

static disc_part disc(double t, double b, double s, double soft) {
    double q = 4 * (s * s + soft), inside = b - t;
    double far = sqrt((t + b) * (t + b) + q) + TINY, near = sqrt(inside * inside + q) + TINY;
    double far_rest = q / (far + t + b); /* S+ - (b + t) */
    double small = q / (near + fabs(inside)), large = near + fabs(inside);
    double below = inside >= 0 ? small : large; /* S- - (b - t) */
    double above = inside >= 0 ? large : small; /* S- + (b - t) */
    disc_part p;
    p.ratio = 2 * b / (far + near);
    p.rest_ratio = (far_rest + below) / (far + near);
    p.rest_along = 0.5 * (far_rest / far + below / near);
    p.along = inside >= 0 ? 1 - p.rest_along : 0.5 * (above / near - far_rest / far);
    p.radius = inside >= 0 ? 0.5 * (below / near - far_rest / far)
                           : 1 - 0.5 * (far_rest / far + above / near);
    p.tau_slope = 2 * s * s * (1 / far - 1 / near);
    return p;
}

static double length2(const double *x, size_t n) {
    return n == 2 ? sqrt(x[0] * x[0] + x[1] * x[1]) : n == 1 ? fabs(x[0]) : 0;
}

/* Where a contact or joint is: its rows of the point. */
typedef struct block_point {
    double rho, s;           /* s: tau in the unit of forces */
    const double *y, *r, *u; /* rows */
} block_point;

/* What comes of it: e, and unless a is null the blocks a = 1 - DP, b = rho DP and the slope. */
typedef struct block_map {
    double *e, *a, *b, *slope;
} block_map;

static void evaluate_contact(size_t d, double mu, const double *soft, const block_point *at,
                             const block_map *to) {
    const double *y = at->y, *r = at->r, *u = at->u;
    double *e = to->e, *a = to->a, *b = to->b, *slope = to->slope, rho = at->rho;
    plus_part n = plus(y[0], at->s, soft[0]);
    size_t m = d - 1;
    double t = length2(y + 1, m), radius = mu * n.value;
    disc_part c = disc(t, radius, mu * at->s, soft[1]);
    double direction[2] = {1, 0};
    if (t > 0)
        for (size_t k = 0; k < m; k++)
            direction[k] = y[1 + k] / t;
    e[0] = y[0] >= 0 ? rho * u[0] - n.rest : r[0] - n.value;
    for (size_t k = 0; k < m; k++)
        e[1 + k] = c.ratio > 0.5 ? rho * u[1 + k] + c.rest_ratio * y[1 + k]
                                 : r[1 + k] - c.ratio * y[1 + k];
    if (!a)
        return;
    memset(a, 0, d * d * sizeof *a);
    memset(b, 0, d * d * sizeof *b);
    a[0] = n.rest_slope;
    b[0] = rho * n.slope;
    slope[0] = -n.tau_slope;
    for (size_t k = 0; k < m; k++) {
        double normal = mu * c.radius * n.slope * direction[k];
        a[(1 + k) * d] = -normal;
        b[(1 + k) * d] = rho * normal;
        for (size_t j = 0; j < m; j++) {
            double along = direction[k] * direction[j], across = (k == j ? 1 : 0) - along;
            a[(1 + k) * d + 1 + j] = c.rest_along * along + c.rest_ratio * across;
            b[(1 + k) * d + 1 + j] = rho * (c.along * along + c.ratio * across);
        }
        slope[1 + k] = -(mu * c.radius * n.tau_slope + c.tau_slope) * direction[k];
    }
}

typedef struct interval {
    double lower, upper;
} interval;

static interval joint_interval(const rg_system *system, size_t joint) {
    const rg_contact_problem *problem = system->problem;
    return (interval){problem->lower ? problem->lower[joint] : -INFINITY,
                      problem->upper ? problem->upper[joint] : INFINITY};
}

/* p = lower + plus(y - lower) - plus(y - upper). */
static void evaluate_joint(interval limits, const block_point *at, const block_map *to) {
    const plus_part none = {.slope = 1, .rest_slope = 0};
    double y = at->y[0], r = at->r[0], s = at->s;
    plus_part low = isfinite(limits.lower) ? plus(y - limits.lower, s, 0) : none;
    plus_part high = isfinite(limits.upper) ? plus(limits.upper - y, s, 0) : none;
    if (y < limits.lower)
        *to->e = r - limits.lower - low.value + high.rest;
    else if (y > limits.upper)
        *to->e = r - limits.upper + high.value - low.rest;
    else
        *to->e = at->rho * at->u[0] - low.rest + high.rest;
    if (!to->a)
        return;
    *to->a = low.rest_slope + high.rest_slope + FREE_ROW;
    *to->b = at->rho *
             (low.slope < high.slope ? low.slope - high.rest_slope : high.slope - low.rest_slope);
    if (*to->b < 0)
        *to->b = 0;
    *to->slope = -low.tau_slope + high.tau_slope;
}

void rg_newton_refresh(rg_newton *newton, rg_newton_point *point) {
    const rg_system *system = &newton->system;
    rg_system_rates(system, point->v, point->r, point->u);
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        size_t row = rg_system_block_row(system, i), d = rg_system_block_size(system, i);
        for (size_t k = row; k < row + d; k++) {
            point->u[k] += system->problem->q[k];
            point->y[k] = point->r[k] - system->rho[i] * point->u[k];
        }
    }
}

void rg_newton_evaluate(rg_newton *newton, const rg_newton_point *point, bool with_jacobian) {
    const rg_system *system = &newton->system;
    rg_newton_map *map = &newton->map;
    if (map->e1) {
        const double *free_velocity = system->problem->global.free_velocity;
        double *difference = newton->correction.dv; /* free at this time */
        for (size_t i = 0; i < system->velocities; i++)
            difference[i] = point->v[i] - free_velocity[i];
        rg_system_mass(system, difference, map->e1);
        rg_system_jt(system, point->r, difference);
        for (size_t i = 0; i < system->velocities; i++)
            map->e1[i] -= difference[i];
    }
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        size_t row = rg_system_block_row(system, i), offset = rg_system_block_offset(system, i);
        double *a = with_jacobian ? map->a + offset : NULL, rho = system->rho[i];
        block_point at = {rho, point->tau * rho * system->scale, point->y + row, point->r + row,
                          point->u + row};
        block_map to = {map->e2 + row, a, map->b + offset, map->slope + row};
        if (i < system->contacts)
            evaluate_contact((size_t)system->dimension, system->mu[i], newton->soft + 2 * i, &at,
                             &to);
        else
            evaluate_joint(joint_interval(system, i - system->contacts), &at, &to);
    }
}

void rg_newton_soften(rg_newton *newton, const rg_newton_point *point, double share) {
    const rg_system *system = &newton->system;
    for (size_t i = 0; i < system->contacts; i++) {
        const double *y = point->y + rg_system_block_row(system, i);
        double unit = share * system->rho[i] * system->scale, mu = system->mu[i];
        double t = length2(y + 1, (size_t)system->dimension - 1);
        double soft[2] = {unit * fabs(y[0]), unit * mu * fabs(t - mu * fmax(y[0], 0))};
        for (int k = 0; k < 2; k++) {
            double *now = newton->soft + 2 * i + k;
            if (!(soft[k] < 2 * *now && soft[k] > 0.5 * *now))
                *now = soft[k];
        }
    }
}

/* The kinks of a contact: y_N = 0; |y_T| = b where there is a b to speak of; and the direction of
 * y_T turns over the length max(t, b). */
static double contact_norm(size_t d, double mu, double s, const double *y, const double *dy) {
    plus_part n = plus(y[0], s, 0);
    double norm = fabs(dy[0]) / (fabs(y[0]) + s + TINY), radius = mu * n.value;
    size_t m = d - 1;
    if (!m || !(mu > 0))
        return norm;
    double t = length2(y + 1, m), along = 0, across = 0, direction[2] = {1, 0};
    for (size_t k = 0; k < m; k++) {
        if (t > 0)
            direction[k] = y[1 + k] / t;
        along += direction[k] * dy[1 + k];
    }
    for (size_t k = 0; k < m; k++) {
        double rest = dy[1 + k] - along * direction[k];
        across += rest * rest;
    }
    double edge = fabs(along - mu * n.slope * dy[0]) / (fabs(t - radius) + mu * s + TINY);
    double turn = sqrt(across) / (fmax(t, radius) + mu * s + TINY);
    return fmax(norm, fmin(1, radius / (mu * s + TINY)) * fmax(edge, turn));
}

double rg_newton_norm(const rg_newton *newton, const rg_newton_point *point, const double *dy) {
    const rg_system *system = &newton->system;
    double norm = 0;
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        size_t row = rg_system_block_row(system, i);
        double s = point->tau * system->rho[i] * system->scale, change;
        if (i < system->contacts) {
            change =
                contact_norm((size_t)system->dimension, system->mu[i], s, point->y + row, dy + row);
        } else {
            interval limits = joint_interval(system, i - system->contacts);
            double kink =
                fmin(fabs(point->y[row] - limits.lower), fabs(point->y[row] - limits.upper));
            change = fabs(dy[row]) / (kink + s + TINY);
        }
        if (!(change <= norm)) /* also if it is not a number */
            norm = change;
        if (isnan(norm))
            return INFINITY;
    }
    return norm;
}

/* --- the unsmoothed law, as the judge has it -------------------------------------------------- */

/* The nearest point of K = {r_N >= 0, |r_T| <= mu r_N}. */
static void project_cone(size_t d, double mu, double *x) {
    size_t m = d - 1;
    double t = length2(x + 1, m);
    if (x[0] >= 0 && t <= mu * x[0])
        return;
    double normal = mu * t <= -x[0] ? 0 : (x[0] + mu * t) / (1 + mu * mu);
    for (size_t k = 0; k < m; k++)
        x[1 + k] *= t > 0 ? mu * normal / t : 0;
    x[0] = normal;
}

static void project_all(const rg_system *system, double *r) {
    for (size_t i = 0; i < system->contacts; i++)
        project_cone((size_t)system->dimension, system->mu[i], r + rg_system_block_row(system, i));
    for (size_t i = 0; i < system->joints; i++) {
        interval limits = joint_interval(system, i);
        double *x = r + rg_system_block_row(system, system->contacts + i);
        *x = fmin(fmax(*x, limits.lower), limits.upper);
    }
}

double rg_newton_residual(rg_newton *newton, double *r) {
    const rg_system *system = &newton->system;
    size_t d = (size_t)system->dimension;
    double *u = newton->work, largest = 0;
    project_all(system, r);
    rg_system_velocity(system, r, NULL, u);
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        size_t row = rg_system_block_row(system, i), size = rg_system_block_size(system, i);
        double rho = system->rho[i], x[RG_SYSTEM_DIMENSION_MAX], sum = 0;
        if (i < system->contacts)
            u[row] += system->mu[i] * length2(u + row + 1, d - 1);
        for (size_t k = 0; k < size; k++)
            x[k] = r[row + k] - rho * u[row + k];
        if (i < system->contacts) {
            project_cone(d, system->mu[i], x);
        } else {
            interval limits = joint_interval(system, i - system->contacts);
            x[0] = fmin(fmax(x[0], limits.lower), limits.upper);
        }
        for (size_t k = 0; k < size; k++)
            sum += (r[row + k] - x[k]) * (r[row + k] - x[k]);
        double size_of = sqrt(sum) / (rho * system->scale);
        if (!(size_of <= largest))
            largest = size_of;
        if (isnan(largest))
            return INFINITY;
    }
    return largest;
}

double rg_newton_note(rg_newton *newton, const rg_newton_point *point) {
    memcpy(newton->work_residual, point->r, newton->system.rows * sizeof(double));
    double residual = rg_newton_residual(newton, newton->work_residual);
    if (residual < newton->best_residual) {
        newton->best_residual = residual;
        memcpy(newton->best, newton->work_residual, newton->system.rows * sizeof(double));
    }
    return residual;
}
