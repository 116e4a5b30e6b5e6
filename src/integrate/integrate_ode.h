/* Initial value problems y' = f(t, y) for the adaptive integrators: what they are given, what they
 * report, and the dense output of a step. The integrators know nothing of bodies. */
#ifndef RIGOR_INTEGRATE_ODE_H
#define RIGOR_INTEGRATE_ODE_H

#include "base/base_arena.h"
#include "base/base_thread.h"
#include "rigor/status.h"

enum { RG_ADAMS_ORDER_MAX = 12, RG_ADAMS_VECTORS = RG_ADAMS_ORDER_MAX + 2 };

/* The corrector of Adams has an order more than its predictor, and its polynomial that degree. */
enum { RG_DENSE_DEGREE_MAX = RG_ADAMS_ORDER_MAX + 1 };

/* y over one accepted step as a polynomial in theta = (t - begin) / step. It begins at y and ends
 * at the step's end, to rounding. */
typedef struct rg_dense_output {
    double begin, step;
    size_t n;
    int degree;
    bool powers; /* c0 + c1 th + c2 th^2 + ...; or else, degree 4, Hairer's form:
                    c0 + th (c1 + (1-th)(c2 + th (c3 + (1-th) c4))) */
    const double *c[RG_DENSE_DEGREE_MAX + 1];
} rg_dense_output;

double rg_dense_value(const rg_dense_output *dense, double theta, size_t i); /* of y[i] */
void rg_dense_evaluate(const rg_dense_output *dense, double theta, double *y);
/* The same of y[first] ... y[first + count - 1] alone. */
rg_dense_output rg_dense_part(const rg_dense_output *dense, size_t first, size_t count);
/* The Bernstein coefficients of y[i], degree + 1 of them: they bound it, and their differences
 * bound its rate. */
void rg_dense_bernstein(const rg_dense_output *dense, size_t i, double b[RG_DENSE_DEGREE_MAX + 1]);

typedef struct rg_ode {
    size_t n;
    void *user;
    rg_pool *pool;
    void (*derivative)(void *user, double t, const double *y, double *dydt);
    /* Fills scale[i] > 0: the size that an error in y[i] is relative to. Infinity: not controlled.
     */
    void (*scale)(void *user, const double *y, double *scale);
    /* May adjust an accepted y (normalise quaternions); null is allowed. */
    void (*accept)(void *user, double t, double *y);
    /* Sees every accepted step, if the integrator has dense output; null is allowed. */
    void (*observe)(void *user, const rg_dense_output *dense);
} rg_ode;

typedef struct rg_ode_settings {
    double tolerance;  /* largest error of a step, relative to scale */
    double fixed_step; /* > 0: equal steps of about this length, no error control */
    int fixed_order;   /* Adams with a fixed step: order of the corrector, 2 ... 13 */
} rg_ode_settings;

typedef struct rg_ode_info {
    uint64_t accepted, rejected, evaluations;
    bool not_finite; /* the last trial gave a number that is not finite */
} rg_ode_info;

/* An integration, y apart. */
typedef struct rg_ode_run {
    const rg_ode *ode;
    double begin, end;
    rg_ode_settings settings;
    rg_arena *scratch;
    rg_ode_info *info;
} rg_ode_run;

/* One accepted step, for those who look at every step before they take it. */
typedef struct rg_ode_try {
    /* in: from y at `begin`, at most to `begin + most` */
    double begin, most, tolerance;
    double least; /* s: a step as short as this is taken whatever its error; 0: none is */
    const double *y;
    /* in and out: what to try; 0: not known */
    double next_step;
    /* out: what was accepted */
    double length;
    rg_ode_info *info;
} rg_ode_try;

/* A step below this many units in the last place of time has no meaning. */
#define RG_STEP_RESOLUTION 16

/* Steps, tried or taken, in one call: more mean a force that is singular or far too stiff. */
#define RG_STEPS_MOST 1000000

/* Doubles per chunk of a parallel loop over state vectors. */
enum { RG_ODE_GRAIN = 8192 };

/* Largest |sum of weights[j] * vectors[j][i]| * factor / scale[i] over i, the norm of all error
 * estimates; NaN if any entry is not finite. `chunk_max` is room for one number per chunk. */
double rg_ode_error_norm(const rg_ode *ode, const double *const *vectors, const double *weights,
                         int count, double factor, const double *scale, double *chunk_max);
/* out = base + factor * sum of weights[j] * vectors[j]; out may be base. */
void rg_ode_combine(const rg_ode *ode, double *out, const double *base, double factor,
                    const double *const *vectors, const double *weights, int count);
/* First step from the size of the derivative, for a method of the given order. It is a guess, from
 * the first derivative alone: one below the resolution of time is raised to twice that (so that the
 * halves of a cut step are above it too), and the error estimate decides. */
double rg_ode_first_step(const rg_ode *ode, const double *dydt, const double *scale,
                         double tolerance, int order, double *chunk_max);
/* x^(p) for x > 0, of our own functions. */
double rg_ode_power(double x, double p);

/* Dormand-Prince 5(4). `next_step` is 0 at first and carries the step size from call to call. y is
 * changed only on success. */
rg_status rg_dormand_prince(const rg_ode_run *run, double *y, double *next_step);

/* The same, one accepted step at a time. The step's polynomial and its end stay here until the next
 * try. */
enum { RG_DORMAND_PRINCE_STAGES = 7 };
/* The tableau: stage by stage, and the result of order 5 minus that of order 4. */
extern const double rg_dormand_prince_weights[RG_DORMAND_PRINCE_STAGES]
                                             [RG_DORMAND_PRINCE_STAGES - 1];
extern const double rg_dormand_prince_errors[RG_DORMAND_PRINCE_STAGES];
typedef struct rg_dormand_prince_trial {
    double *k[RG_DORMAND_PRINCE_STAGES], *y, *end, *scale, *chunk_max, *dense[5];
    double error_before;
    rg_dense_output output;
} rg_dormand_prince_trial;
rg_status rg_dormand_prince_make(const rg_ode *ode, rg_arena *scratch,
                                 rg_dormand_prince_trial *trial);
rg_status rg_dormand_prince_try(const rg_ode *ode, rg_dormand_prince_trial *trial,
                                rg_ode_try *step);

/* What the multistep method remembers, apart from its vectors: modified divided differences Phi_0
 * ... Phi_13 of f at the newest point, RG_ADAMS_VECTORS x n doubles behind `phi` of the caller. */
typedef struct rg_adams_memory {
    int order;  /* of the predictor; 0: start afresh */
    int count;  /* differences that are valid beyond Phi_0 */
    int rising; /* in the starting phase */
    int padding;
    double next_step;
    double last_steps[RG_ADAMS_VECTORS]; /* x_n - x_{n-1}, x_{n-1} - x_{n-2}, ... */
} rg_adams_memory;

/* Adams-Bashforth-Moulton, variable step and order, PECE with local extrapolation. On failure y is
 * unchanged and the memory is cleared. */
rg_status rg_adams(const rg_ode_run *run, double *y, rg_adams_memory *memory, double *phi);

/* The same, one accepted step at a time. Its first steps, and those after `rg_adams_forget`, are
 * Dormand and Prince's. What is remembered changes only if the caller keeps the step, or if none
 * was accepted: then it is forgotten. */
typedef struct rg_adams_trial {
    /* At the point that was kept last; `rising`: so far there are steps of Dormand and Prince's
     * alone; `next_step`: what that method would have tried next. */
    rg_adams_memory memory;
    double *phi
        [RG_ADAMS_VECTORS]; /* differences there, Phi_1 to Phi_count; Phi_0 is that of the trial */
    /* Of the trial: */
    rg_adams_memory next;
    double *pushed[RG_ADAMS_VECTORS], *star[RG_ADAMS_VECTORS];
    double *y, *predicted, *derivative, *scale, *chunk_max, *dense[RG_DENSE_DEGREE_MAX + 1];
    const double *end;
    rg_dense_output output;
} rg_adams_trial;
rg_status rg_adams_make(const rg_ode *ode, rg_arena *scratch, rg_adams_trial *trial);
/* As rg_dormand_prince_try, which `first` is for. y may differ by about the tolerance from the end
 * of the step that was kept. */
rg_status rg_adams_try(const rg_ode *ode, rg_adams_trial *trial, rg_dormand_prince_trial *first,
                       rg_ode_try *step);
void rg_adams_keep(rg_adams_trial *trial);
void rg_adams_forget(rg_adams_trial *trial);

#endif
