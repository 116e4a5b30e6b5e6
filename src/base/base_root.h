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

/* Two points and the values there, f(a) > 0 >= f(b); b may lie on either side of a. */
typedef struct rg_bracket {
    double a, fa;
    double b, fb;
} rg_bracket;

/* The search stops when the bracket is at most x_tolerance long, or 0 < f(x) <= f_tolerance, or
 * after evaluation_limit evaluations. */
typedef struct rg_root_settings {
    rg_root_method method;
    double x_tolerance, f_tolerance;
    int evaluation_limit;
} rg_root_settings;

rg_root rg_root_find(rg_scalar_function *function, void *user, rg_bracket bracket,
                     rg_root_settings settings);

#endif
