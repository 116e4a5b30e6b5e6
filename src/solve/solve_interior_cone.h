/* Second-order cones |x_1| <= x_0 of one to three numbers as symmetric cones: the products, step
 * lengths and the Nesterov-Todd scaling of the interior point method. */
#ifndef RIGOR_SOLVE_INTERIOR_CONE_H
#define RIGOR_SOLVE_INTERIOR_CONE_H

#include <stdbool.h>

/* The Nesterov-Todd scaling of z against s, both inside: W z = W^-1 s = lambda. W is symmetric; its
 * eigenvectors and eigenvalues are kept, because where both are near the boundary the eigenvalues
 * are so far apart that nothing could be read off the entries of W or W^2. */
typedef struct rg_cone_scaling {
    int width;
    double lambda[3];
    double axes[3][3]; /* unit eigenvectors */
    double root[3];    /* eigenvalues of W */
} rg_cone_scaling;

/* False if z or s is not inside. */
bool rg_cone_scale(const double *z, const double *s, int width, rg_cone_scaling *scaling);
/* y = W x or W^-1 x; may be the same array. */
void rg_cone_apply(const rg_cone_scaling *scaling, const double *x, bool inverse, double *y);
/* (x.y, x_0 y_1 + y_0 x_1). */
void rg_cone_product(const double *x, const double *y, int width, double *out);
/* out with lambda o out = x. */
void rg_cone_divide(const double *lambda, const double *x, int width, double *out);
/* The largest step t <= limit that leaves x + t dx in the cone. */
double rg_cone_step(const double *x, const double *dx, int width, double limit);

#endif
