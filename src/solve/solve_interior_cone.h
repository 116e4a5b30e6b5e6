/* Second-order cones |x_1| <= x_0 of one to three numbers as symmetric cones: the products, step
 * lengths and the Nesterov-Todd scaling of the interior point method, in the notation of L.
 * Vandenberghe, "The CVXOPT linear and quadratic cone program solvers" (2010), sections 4 and 5:
 * with z' = z / sqrt(z'Jz), s' likewise, J = diag(1, -1, -1),
 *     bar = (s' + J z') / sqrt(2 (1 + z'.s')),  W^2 = beta^2 (2 bar bar' - J),
 *     beta^4 = s'Js / z'Jz.
 * W has the eigenvectors (1, +-t) / sqrt 2, t the direction of bar_1, with beta (bar_0 +- |bar_1|),
 * whose product is beta^2, and beta across. A width of 1 is the half-line.
 *
 * All of it is inline: where the width is known, as that of contacts in space is, the loops are
 * unrolled.
 * Tested by tests/solve/test_interior_point.c. */
#ifndef RIGOR_SOLVE_INTERIOR_CONE_H
#define RIGOR_SOLVE_INTERIOR_CONE_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* The Nesterov-Todd scaling of z against s, both inside: W z = W^-1 s = lambda. W is symmetric; its
 * eigenvectors and eigenvalues are kept, because where both are near the boundary the eigenvalues
 * are so far apart that nothing could be read off the entries of W or W^2. */
typedef struct rg_cone_scaling {
    double lambda[3];
    double axes[3][3]; /* unit eigenvectors */
    double root[3];    /* eigenvalues of W */
} rg_cone_scaling;

static inline double rg_cone_tail(const double *x, int width) {
    return width < 2 ? 0 : width == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

/* x'Jx, as a product: the difference of the squares would lose what matters. */
static inline double rg_cone_value(const double *x, int width) {
    double t = rg_cone_tail(x, width);
    return (x[0] - t) * (x[0] + t);
}

/* y = W x or W^-1 x; may be the same array. */
static inline void rg_cone_apply(const rg_cone_scaling *scaling, const double *x, int width,
                                 bool inverse, double *y) {
    double sum[3] = {0};
    for (int k = 0; k < width; k++) {
        double dot = 0;
        for (int m = 0; m < width; m++)
            dot += scaling->axes[k][m] * x[m];
        dot = inverse ? dot / scaling->root[k] : dot * scaling->root[k];
        for (int m = 0; m < width; m++)
            sum[m] += dot * scaling->axes[k][m];
    }
    for (int k = 0; k < width; k++)
        y[k] = sum[k];
}

/* False if z or s is not inside. */
static inline bool rg_cone_scale(const double *z, const double *s, int width,
                                 rg_cone_scaling *scaling) {
    double zz = rg_cone_value(z, width), ss = rg_cone_value(s, width);
    if (!(zz > 0 && ss > 0 && z[0] > 0 && s[0] > 0))
        return false;
    double rz = sqrt(zz), rs = sqrt(ss), beta = sqrt(rs / rz);
    *scaling = (rg_cone_scaling){.axes = {{1}}, .root = {beta}};
    if (width > 1) {
        double product = 0, bar[3] = {0}, t[2] = {1, 0}, half = sqrt(0.5);
        double unit_z = 1 / rz, unit_s = 1 / rs;
        for (int k = 0; k < width; k++)
            product += z[k] * unit_z * (s[k] * unit_s);
        double norm = 1 / sqrt(2 * (1 + product));
        for (int k = 1; k < width; k++)
            bar[k] = (s[k] * unit_s - z[k] * unit_z) * norm;
        double tail = rg_cone_tail(bar, width);
        for (int k = 1; k < width && tail > 0; k++)
            t[k - 1] = bar[k] / tail;
        double sum = sqrt(1 + tail * tail) + tail;
        double axes[3][3] = {
            {half, half * t[0], half * t[1]}, {half, -half * t[0], -half * t[1]}, {0, -t[1], t[0]}};
        double root[3] = {beta * sum, beta / sum, beta};
        memcpy(scaling->axes, axes, sizeof axes);
        memcpy(scaling->root, root, sizeof root);
    }
    rg_cone_apply(scaling, z, width, false, scaling->lambda);
    return true;
}

/* (x.y, x_0 y_1 + y_0 x_1). */
static inline void rg_cone_product(const double *x, const double *y, int width, double *out) {
    double first = x[0] * y[0], x0 = x[0], y0 = y[0];
    for (int k = 1; k < width; k++) {
        first += x[k] * y[k];
        out[k] = x0 * y[k] + y0 * x[k];
    }
    out[0] = first;
}

/* out with lambda o out = x. */
static inline void rg_cone_divide(const double *lambda, const double *x, int width, double *out) {
    double dot = 0;
    for (int k = 1; k < width; k++)
        dot += lambda[k] * x[k];
    double first = (lambda[0] * x[0] - dot) / rg_cone_value(lambda, width);
    for (int k = 1; k < width; k++)
        out[k] = (x[k] - first * lambda[k]) / lambda[0];
    out[0] = first;
}

/* The largest step t <= limit that leaves x + t dx in the cone. */
static inline double rg_cone_step(const double *x, const double *dx, int width, double limit) {
    if (width == 1)
        return dx[0] < 0 ? fmin(limit, -x[0] / dx[0]) : limit;
    double a = rg_cone_value(dx, width), c = rg_cone_value(x, width), b = x[0] * dx[0];
    for (int k = 1; k < width; k++)
        b -= x[k] * dx[k];
    /* a t^2 + 2 b t + c = 0 with c > 0: the smallest positive root. */
    double root = b * b - a * c;
    if (!(root >= 0))
        return limit;
    double q = b >= 0 ? -(b + sqrt(root)) : -(b - sqrt(root));
    double first = a != 0 ? q / a : INFINITY, second = q != 0 ? c / q : INFINITY;
    if (first > 0 && first < limit)
        limit = first;
    if (second > 0 && second < limit)
        limit = second;
    return limit;
}

#endif
