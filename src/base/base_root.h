/* Roots of a function of one variable in a bracket: Illinois regula falsi (the paper-faithful mode:
 * Baraff 1989, section 3, footnote 2), ITP (Oliveira and Takahashi 2020: superlinear on smooth
 * functions, never more than bisection and a constant), and bisection to count against.
 *
 * Written for impact times: f > 0 is the free side, at `a`; the answer is always on that side. */
#ifndef RIGOR_BASE_ROOT_H
#define RIGOR_BASE_ROOT_H

#include "rigor/types.h"

typedef double rg_scalar_function(void *user, double x);

typedef struct rg_root {
    double x;     /* in [a, b), f(x) > 0 */
    double f;     /* f(x) */
    double upper; /* f(upper) <= 0, upper - x <= x_tolerance unless f is small enough */
    int evaluations;
    bool converged;
} rg_root;

/* f(a) > 0 >= f(b) must hold and are given; b may lie on either side of a. Stops when the bracket
 * is at most x_tolerance long, or 0 < f(x) <= f_tolerance, or after evaluation_limit evaluations.
 */
rg_root rg_root_find(rg_scalar_function *function, void *user, double a, double fa, double b,
                     double fb, double x_tolerance, double f_tolerance, rg_root_finder method,
                     int evaluation_limit);

#endif
