/* Second-order cones, in the notation of L. Vandenberghe, "The CVXOPT linear and quadratic cone
 * program solvers" (2010), sections 4 and 5: with z' = z / sqrt(z'Jz), s' likewise, J = diag(1, -1,
 * -1),
 *     bar = (s' + J z') / sqrt(2 (1 + z'.s')),  W^2 = beta^2 (2 bar bar' - J),
 *     beta^4 = s'Js / z'Jz.
 * W has the eigenvectors (1, +-t) / sqrt 2, t the direction of bar_1, with beta (bar_0 +- |bar_1|),
 * whose product is beta^2, and beta across. A width of 1 is the half-line.
 * Tested by tests/solve/test_interior_point.c. */
#include "solve/solve_interior_cone.h"

#include <math.h>
#include <string.h>

static double tail_length(const double *x, int width) {
    return width < 2 ? 0 : width == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

/* x'Jx, as a product: the difference of the squares would lose what matters. */
static double cone_value(const double *x, int width) {
    double t = tail_length(x, width);
    return (x[0] - t) * (x[0] + t);
}

bool rg_cone_scale(const double *z, const double *s, int width, rg_cone_scaling *scaling) {
    double zz = cone_value(z, width), ss = cone_value(s, width);
    if (!(zz > 0 && ss > 0 && z[0] > 0 && s[0] > 0))
        return false;
    double rz = sqrt(zz), rs = sqrt(ss), beta = sqrt(rs / rz);
    *scaling = (rg_cone_scaling){.width = width, .axes = {{1}}, .root = {beta}};
    if (width > 1) {
        double product = 0, bar[3] = {0}, t[2] = {1, 0}, half = sqrt(0.5);
        for (int k = 0; k < width; k++)
            product += z[k] / rz * (s[k] / rs);
        double norm = sqrt(2 * (1 + product));
        for (int k = 1; k < width; k++)
            bar[k] = (s[k] / rs - z[k] / rz) / norm;
        double tail = tail_length(bar, width);
        for (int k = 1; k < width && tail > 0; k++)
            t[k - 1] = bar[k] / tail;
        double sum = sqrt(1 + tail * tail) + tail;
        double axes[3][3] = {
            {half, half * t[0], half * t[1]}, {half, -half * t[0], -half * t[1]}, {0, -t[1], t[0]}};
        double root[3] = {beta * sum, beta / sum, beta};
        memcpy(scaling->axes, axes, sizeof axes);
        memcpy(scaling->root, root, sizeof root);
    }
    rg_cone_apply(scaling, z, false, scaling->lambda);
    return true;
}

void rg_cone_apply(const rg_cone_scaling *scaling, const double *x, bool inverse, double *y) {
    int width = scaling->width;
    double sum[3] = {0};
    for (int k = 0; k < width; k++) {
        double dot = 0;
        for (int m = 0; m < width; m++)
            dot += scaling->axes[k][m] * x[m];
        dot = inverse ? dot / scaling->root[k] : dot * scaling->root[k];
        for (int m = 0; m < width; m++)
            sum[m] += dot * scaling->axes[k][m];
    }
    memcpy(y, sum, (size_t)width * sizeof *y);
}

void rg_cone_product(const double *x, const double *y, int width, double *out) {
    double first = x[0] * y[0], x0 = x[0], y0 = y[0];
    for (int k = 1; k < width; k++) {
        first += x[k] * y[k];
        out[k] = x0 * y[k] + y0 * x[k];
    }
    out[0] = first;
}

void rg_cone_divide(const double *lambda, const double *x, int width, double *out) {
    double dot = 0;
    for (int k = 1; k < width; k++)
        dot += lambda[k] * x[k];
    double first = (lambda[0] * x[0] - dot) / cone_value(lambda, width);
    for (int k = 1; k < width; k++)
        out[k] = (x[k] - first * lambda[k]) / lambda[0];
    out[0] = first;
}

double rg_cone_step(const double *x, const double *dx, int width, double limit) {
    if (width == 1)
        return dx[0] < 0 ? fmin(limit, -x[0] / dx[0]) : limit;
    double a = cone_value(dx, width), c = cone_value(x, width), b = x[0] * dx[0];
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
