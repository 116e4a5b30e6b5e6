/* Vector operations that both integrators share: parallel over chunks, sums and maxima independent
 * of the number of threads (a maximum has no order). */
#include "integrate/integrate_ode.h"

#include "base/base_trig.h"

#include <math.h>

typedef struct combination {
    double *out;
    const double *base, *scale;
    const double *const *vectors;
    const double *weights;
    int count;
    double factor;
    double *chunk_max;
} combination;

/* Sum of the first `count` weighted vectors at i. The order of the terms is fixed. */
static inline double weighted_sum(const combination *c, size_t i) {
    double sum = c->weights[0] * c->vectors[0][i];
    for (int j = 1; j < c->count; j++)
        sum += c->weights[j] * c->vectors[j][i];
    return sum;
}

static void combine_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const combination *c = user;
    for (size_t i = begin; i < end; i++)
        c->out[i] = c->base[i] + c->factor * weighted_sum(c, i);
}

void rg_ode_combine(const rg_ode *ode, double *out, const double *base, double factor,
                    const double *const *vectors, const double *weights, int count) {
    combination c = {out, base, NULL, vectors, weights, count, factor, NULL};
    rg_parallel_for(ode->pool, ode->n, RG_ODE_GRAIN, combine_chunk, &c);
}

static void norm_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    const combination *c = user;
    double largest = 0;
    bool finite = true;
    for (size_t i = begin; i < end; i++) {
        double sum = weighted_sum(c, i);
        double ratio = fabs(c->factor * sum) / c->scale[i];
        finite = finite && isfinite(sum);
        largest = ratio > largest ? ratio : largest;
    }
    c->chunk_max[chunk] = finite ? largest : NAN;
}

double rg_ode_error_norm(const rg_ode *ode, const double *const *vectors, const double *weights,
                         int count, double factor, const double *scale, double *chunk_max) {
    combination c = {NULL, NULL, scale, vectors, weights, count, factor, chunk_max};
    rg_parallel_for(ode->pool, ode->n, RG_ODE_GRAIN, norm_chunk, &c);
    double largest = 0;
    for (size_t i = 0; i < rg_chunk_count(ode->n, RG_ODE_GRAIN); i++) {
        if (isnan(chunk_max[i]))
            return NAN;
        largest = chunk_max[i] > largest ? chunk_max[i] : largest;
    }
    return largest;
}

double rg_ode_power(double x, double p) {
    return rg_exp(p * rg_log(x));
}

/* The derivative changes the state by its own size in 1/rate; the error of a method of order p over
 * a step h is then about (h rate)^(p+1). A tenth of the step that this allows: the first step is
 * cheap to repeat but expensive to get wrong unnoticed. */
double rg_ode_first_step(const rg_ode *ode, const double *dydt, const double *scale,
                         double tolerance, int order, double *chunk_max) {
    double one = 1;
    const double *vectors[1] = {dydt};
    double rate = rg_ode_error_norm(ode, vectors, &one, 1, 1, scale, chunk_max);
    if (!(rate > 0 && isfinite(rate)))
        return INFINITY;
    return 0.1 * rg_ode_power(tolerance, 1.0 / (order + 1)) / rate;
}

static inline double hairer_value(const rg_dense_output *dense, double theta, size_t i) {
    double rest = 1 - theta;
    return dense->c[0][i] +
           theta * (dense->c[1][i] +
                    rest * (dense->c[2][i] + theta * (dense->c[3][i] + rest * dense->c[4][i])));
}

static inline double powers_value(const rg_dense_output *dense, double theta, size_t i) {
    double sum = dense->c[dense->degree][i];
    for (int k = dense->degree - 1; k >= 0; k--)
        sum = dense->c[k][i] + theta * sum;
    return sum;
}

double rg_dense_value(const rg_dense_output *dense, double theta, size_t i) {
    return dense->powers ? powers_value(dense, theta, i) : hairer_value(dense, theta, i);
}

void rg_dense_evaluate(const rg_dense_output *dense, double theta, double *y) {
    if (dense->powers)
        for (size_t i = 0; i < dense->n; i++)
            y[i] = powers_value(dense, theta, i);
    else
        for (size_t i = 0; i < dense->n; i++)
            y[i] = hairer_value(dense, theta, i);
}

rg_dense_output rg_dense_part(const rg_dense_output *dense, size_t first, size_t count) {
    rg_dense_output part = *dense;
    part.n = count;
    for (int i = 0; i <= part.degree; i++)
        part.c[i] += first;
    return part;
}

/* th^k = sum of (j over k) / (d over k) B_j: all weights are between 0 and 1, so nothing is lost.
 * In place: b_j / (d over j) are the divided coefficients, and d rounds of adding neighbours give
 * their sums. */
static void bernstein_of_powers(const rg_dense_output *dense, size_t i, double *b) {
    int d = dense->degree;
    double choose = 1; /* d over k */
    for (int k = 0; k <= d; k++) {
        b[k] = dense->c[k][i] / choose;
        choose = choose * (d - k) / (k + 1);
    }
    for (int round = 1; round <= d; round++)
        for (int k = d; k >= round; k--)
            b[k] += b[k - 1];
}

/* th = k/4 of B_k; th (1-th) = B1/4 + B2/3 + B3/4; th^2 (1-th) = B2/6 + B3/4; th^2 (1-th)^2 =
 * B2/6. */
void rg_dense_bernstein(const rg_dense_output *dense, size_t i, double b[RG_DENSE_DEGREE_MAX + 1]) {
    if (dense->powers) {
        bernstein_of_powers(dense, i, b);
        return;
    }
    double c0 = dense->c[0][i], c1 = dense->c[1][i], c2 = dense->c[2][i], c3 = dense->c[3][i],
           c4 = dense->c[4][i];
    b[0] = c0;
    b[1] = c0 + c1 / 4 + c2 / 4;
    b[2] = c0 + c1 / 2 + c2 / 3 + c3 / 6 + c4 / 6;
    b[3] = c0 + 3 * c1 / 4 + c2 / 4 + c3 / 4;
    b[4] = c0 + c1;
}
