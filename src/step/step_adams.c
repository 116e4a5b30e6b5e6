/* Adams-Bashforth-Moulton with variable step and order, in modified divided differences (Krogh;
 * Shampine and Gordon 1975; formulas as in Hairer, Norsett, Wanner I, III.5):
 *
 *   Phi_0(n) = f_n,  Phi_{j+1}(n) = Phi_j(n) - Phi*_j(n-1),  Phi*_j(n) = beta_j(n) Phi_j(n)
 *   beta_0 = 1,  beta_j(n) = beta_{j-1}(n) (x_{n+1} - x_{n-j+1}) / (x_n - x_{n-j})
 *   predictor of order k:    p = y_n + h sum_{j<k} g_j Phi*_j(n)
 *   corrector of order k+1:  y_{n+1} = p + h g_k Phi_k(n+1), with f at p in Phi_0(n+1)
 *   error of order k:        h (g_k - g_{k-1}) Phi_k(n+1)
 *
 * evaluated PECE: the next step builds on f at the corrected state. The higher corrector is what is
 * kept (local extrapolation). It starts at order 1 with a small step and doubles the step and
 * raises the order until the error objects; with a fixed step the start is done by Dormand-Prince.
 */
#include "step/step_ode.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Error of a start-up step of the fixed-step mode; far below what that mode is used to measure. */
#define START_TOLERANCE 1e-15

typedef struct workspace {
    double *y, *predicted, *derivative, *scale, *chunk_max;
    double *star[RG_ADAMS_VECTORS]; /* Phi*_j(n); becomes Phi_j(n+1) on acceptance */
    double *phi[RG_ADAMS_VECTORS];
} workspace;

typedef struct coefficients {
    double beta[RG_ADAMS_VECTORS];
    double g[RG_ADAMS_VECTORS + 1];
} coefficients;

typedef struct errors {
    double lower2, lower, same, higher; /* of orders k-2, k-1, k, k+1; infinity if not known */
} errors;

static bool make_workspace(workspace *w, const rg_ode *ode, double *phi, rg_arena *scratch) {
    double **vectors[] = {&w->y, &w->predicted, &w->derivative, &w->scale};
    bool enough = true;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        enough = (*vectors[i] = rg_arena_take(scratch, ode->n, sizeof(double))) && enough;
    for (int j = 0; j < RG_ADAMS_VECTORS; j++) {
        enough = (w->star[j] = rg_arena_take(scratch, ode->n, sizeof(double))) && enough;
        w->phi[j] = phi + (size_t)j * ode->n;
    }
    w->chunk_max = rg_arena_take(scratch, rg_chunk_count(ode->n, RG_ODE_GRAIN) + 1, sizeof(double));
    return enough && w->chunk_max;
}

static void derivative(const rg_ode *ode, double t, const double *y, double *dydt,
                       rg_ode_info *info) {
    ode->derivative(ode->user, t, y, dydt);
    info->evaluations++;
}

/* beta_0 .. beta_count and g_0 .. g_{k+1} for a step of length h. */
static void find_coefficients(const rg_adams_memory *m, double h, int k, coefficients *c) {
    double ahead = h, behind = 0; /* x_{n+1} - x_{n-j+1} and x_n - x_{n-j} as j grows */
    c->beta[0] = 1;
    for (int j = 1; j <= m->count; j++) {
        behind += m->last_steps[j - 1];
        c->beta[j] = c->beta[j - 1] * ahead / behind;
        ahead += m->last_steps[j - 1];
    }
    /* g_j = c_{j,1}: c_{0,q} = 1/q, c_{1,q} = 1/(q(q+1)),
     * c_{j,q} = c_{j-1,q} - c_{j-1,q+1} h / (x_{n+1} - x_{n-j+1}). */
    double table[RG_ADAMS_VECTORS + 2] = {0};
    int top = k + 1;
    for (int q = 1; q <= top; q++)
        table[q] = 1.0 / (q * (q + 1.0));
    c->g[0] = 1;
    c->g[1] = table[1];
    double span = h;
    for (int j = 2; j <= top; j++) {
        span += m->last_steps[j - 2];
        for (int q = 1; q <= top - j + 1; q++)
            table[q] -= table[q + 1] * h / span;
        c->g[j] = table[1];
    }
}

/* Phi_{j+1} = Phi_j - Phi*_j, j = 0 .. count-1, from Phi_0 = f at the new point. */
typedef struct push_job {
    workspace *w;
    const double *f;
    int count;
} push_job;

static void push_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const push_job *job = user;
    memcpy(job->w->phi[0] + begin, job->f + begin, (end - begin) * sizeof(double));
    for (int j = 0; j < job->count; j++)
        for (size_t i = begin; i < end; i++)
            job->w->phi[j + 1][i] = job->w->phi[j][i] - job->w->star[j][i];
}

/* Takes f at the new point into the differences. */
static void push_derivative(const rg_ode *ode, workspace *w, rg_adams_memory *m, double h,
                            const double *f) {
    int count = m->count + 1 < RG_ADAMS_VECTORS - 1 ? m->count + 1 : RG_ADAMS_VECTORS - 1;
    push_job job = {w, f, count};
    rg_parallel_for(ode->pool, ode->n, RG_ODE_GRAIN, push_chunk, &job);
    memmove(m->last_steps + 1, m->last_steps, (RG_ADAMS_VECTORS - 1) * sizeof *m->last_steps);
    m->last_steps[0] = h;
    m->count = count;
}

typedef struct star_job {
    workspace *w;
    const coefficients *c;
    int last;
} star_job;

static void star_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const star_job *job = user;
    for (int j = 0; j <= job->last; j++)
        for (size_t i = begin; i < end; i++)
            job->w->star[j][i] = job->c->beta[j] * job->w->phi[j][i];
}

static void scale_star(const rg_ode *ode, workspace *w, const coefficients *c, int last) {
    star_job job = {w, c, last};
    rg_parallel_for(ode->pool, ode->n, RG_ODE_GRAIN, star_chunk, &job);
}

/* Error of order q: h (g_q - g_{q-1}) Phi_q(n+1), where Phi_q(n+1) = f(p) - sum_{j<q} Phi*_j. */
static double error_of_order(const rg_ode *ode, workspace *w, const coefficients *c, int q,
                             double h, double tolerance) {
    const double *vectors[RG_ADAMS_VECTORS + 1];
    double weights[RG_ADAMS_VECTORS + 1];
    vectors[0] = w->derivative;
    weights[0] = 1;
    for (int j = 0; j < q; j++) {
        vectors[j + 1] = w->star[j];
        weights[j + 1] = -1;
    }
    return rg_ode_error_norm(ode, vectors, weights, q + 1, h * (c->g[q] - c->g[q - 1]) / tolerance,
                             w->scale, w->chunk_max);
}

static void predict(const rg_ode *ode, workspace *w, const coefficients *c, int k, double h) {
    rg_ode_combine(ode, w->predicted, w->y, h, (const double *const *)w->star, c->g, k);
}

/* y <- p + h g_k Phi_k(n+1). */
static void correct(const rg_ode *ode, workspace *w, const coefficients *c, int k, double h) {
    const double *vectors[RG_ADAMS_VECTORS + 1];
    double weights[RG_ADAMS_VECTORS + 1];
    vectors[0] = w->derivative;
    weights[0] = c->g[k];
    for (int j = 0; j < k; j++) {
        vectors[j + 1] = w->star[j];
        weights[j + 1] = -c->g[k];
    }
    rg_ode_combine(ode, w->y, w->predicted, h, vectors, weights, k + 1);
}

static void finish_step(const rg_ode *ode, workspace *w, rg_adams_memory *m, double t, double h,
                        rg_ode_info *info) {
    if (ode->accept)
        ode->accept(ode->user, t + h, w->y);
    derivative(ode, t + h, w->y, w->derivative, info);
    push_derivative(ode, w, m, h, w->derivative);
    info->accepted++;
}

static errors find_errors(const rg_ode *ode, workspace *w, const rg_adams_memory *m,
                          const coefficients *c, double h, double tolerance) {
    int k = m->order;
    errors e = {INFINITY, INFINITY, 0, INFINITY};
    e.same = error_of_order(ode, w, c, k, h, tolerance);
    if (k > 1)
        e.lower = error_of_order(ode, w, c, k - 1, h, tolerance);
    if (k > 2)
        e.lower2 = error_of_order(ode, w, c, k - 2, h, tolerance);
    if (m->count >= k && k < RG_ADAMS_ORDER_MAX)
        e.higher = error_of_order(ode, w, c, k + 1, h, tolerance);
    return e;
}

/* After an accepted step: order and step of the next one. */
static void choose_next(rg_adams_memory *m, const errors *e, double h) {
    int k = m->order;
    bool lower = k > 1 && (k > 2 ? fmax(e->lower, e->lower2) : 2 * e->lower) <= e->same;
    if (m->rising && !lower && k < RG_ADAMS_ORDER_MAX && e->same * 4 <= 1) {
        m->order = k + 1;
        m->next_step = 2 * h;
        return;
    }
    m->rising = 0;
    double error = e->same;
    if (lower) {
        m->order = k - 1;
        error = e->lower;
    } else if (isfinite(e->higher) &&
               (k > 1 ? e->higher < e->same && e->higher < e->lower : 2 * e->higher < e->same)) {
        m->order = k + 1;
        error = e->higher;
    }
    double two = ldexp(1, m->order + 1);
    if (error * two <= 0.5)
        m->next_step = 2 * h;
    else if (error <= 0.5)
        m->next_step = h;
    else
        m->next_step = h * fmax(0.5, fmin(0.9, rg_ode_power(0.5 / error, 1.0 / (m->order + 1))));
}

static void start_afresh(const rg_ode *ode, workspace *w, rg_adams_memory *m, double t,
                         double tolerance, rg_ode_info *info) {
    memset(m, 0, sizeof *m);
    m->order = 1;
    m->rising = 1;
    derivative(ode, t, w->y, w->phi[0], info);
    m->next_step = rg_ode_first_step(ode, w->phi[0], w->scale, tolerance, 1, w->chunk_max);
}

static void after_rejection(rg_adams_memory *m, const errors *e, double h, int failures) {
    m->rising = 0;
    if (m->order > 1 && (failures >= 3 || e->lower <= e->same))
        m->order = failures >= 3 ? 1 : m->order - 1;
    m->next_step = h * (isnan(e->same) ? 0.1 : 0.5);
}

static rg_status run_adaptive(const rg_ode *ode, workspace *w, double begin, double length,
                              double tolerance, rg_adams_memory *m, rg_ode_info *info) {
    uint64_t last_step = info->accepted + info->rejected + RG_STEPS_MOST;
    double smallest = RG_STEP_RESOLUTION * DBL_EPSILON * fmax(fabs(begin), length);
    double done = 0;
    int failures = 0;
    ode->scale(ode->user, w->y, w->scale);
    if (m->order == 0) {
        start_afresh(ode, w, m, begin, tolerance, info);
        m->next_step = fmax(m->next_step, 2 * smallest);
    }
    while (done < length) {
        double left = length - done;
        double parts = m->next_step < left ? ceil(left / m->next_step) : 1;
        double h = parts < 4 ? left / parts : m->next_step;
        if (h < smallest && h < left)
            return info->not_finite ? RG_NOT_FINITE : RG_STEP_TOO_SMALL;
        if (info->accepted + info->rejected >= last_step)
            return RG_ITERATION_LIMIT;
        if (m->count > m->order + 1)
            m->count = m->order + 1; /* differences beyond what the next order needs */
        coefficients c;
        find_coefficients(m, h, m->order, &c);
        scale_star(ode, w, &c, m->count);
        predict(ode, w, &c, m->order, h);
        derivative(ode, begin + done + h, w->predicted, w->derivative, info);
        errors e = find_errors(ode, w, m, &c, h, tolerance);
        info->not_finite = isnan(e.same);
        if (!(e.same <= 1)) {
            info->rejected++;
            if (h <= smallest)
                return info->not_finite ? RG_NOT_FINITE : RG_STEP_TOO_SMALL;
            after_rejection(m, &e, h, ++failures);
            continue;
        }
        failures = 0;
        double wanted = m->next_step;
        correct(ode, w, &c, m->order, h);
        finish_step(ode, w, m, begin + done, h, info);
        done = parts <= 1 ? length : done + h;
        choose_next(m, &e, h);
        /* A step cut at the end must not hold back those after it by more than the growth that the
         * differences stand (a doubling). */
        if (h < wanted && m->next_step >= h)
            m->next_step = fmin(2 * h, wanted);
        if (done < length)
            ode->scale(ode->user, w->y, w->scale);
    }
    return RG_OK;
}

/* Equal steps of fixed order: the first ones by Runge-Kutta, to fill the differences. */
static rg_status run_fixed(const rg_ode *ode, workspace *w, double begin, double length,
                           const rg_ode_settings *settings, rg_adams_memory *m, rg_arena *scratch,
                           rg_ode_info *info) {
    size_t count = (size_t)floor(length / settings->fixed_step + 0.5);
    count = count ? count : 1;
    double h = length / (double)count;
    memset(m, 0, sizeof *m);
    m->order = settings->fixed_order - 1;
    derivative(ode, begin, w->y, w->phi[0], info);
    rg_ode quiet = *ode;
    quiet.observe = NULL;
    double start_step = 0;
    for (size_t i = 0; i < count; i++) {
        double t = begin + (double)i * h;
        coefficients c;
        find_coefficients(m, h, m->order, &c);
        scale_star(ode, w, &c, m->count);
        if (m->count + 1 < m->order) {
            rg_ode_settings start = {.tolerance = START_TOLERANCE};
            rg_status status =
                rg_dormand_prince(&quiet, t, t + h, &start, w->y, &start_step, scratch, info);
            if (status)
                return status;
        } else {
            predict(ode, w, &c, m->order, h);
            derivative(ode, t + h, w->predicted, w->derivative, info);
            correct(ode, w, &c, m->order, h);
        }
        finish_step(ode, w, m, t, h, info);
    }
    return RG_OK;
}

rg_status rg_adams(const rg_ode *ode, double begin, double end, const rg_ode_settings *settings,
                   double *y, rg_adams_memory *memory, double *phi, rg_arena *scratch,
                   rg_ode_info *info) {
    rg_arena_mark mark = rg_arena_get_mark(scratch);
    workspace w;
    rg_status status = RG_OUT_OF_MEMORY;
    if (make_workspace(&w, ode, phi, scratch)) {
        memcpy(w.y, y, ode->n * sizeof *y);
        status = settings->fixed_step > 0
                     ? run_fixed(ode, &w, begin, end - begin, settings, memory, scratch, info)
                     : run_adaptive(ode, &w, begin, end - begin, settings->tolerance, memory, info);
    }
    if (status == RG_OK)
        memcpy(y, w.y, ode->n * sizeof *y);
    else
        memset(memory, 0, sizeof *memory);
    rg_arena_return(scratch, mark);
    return status;
}
