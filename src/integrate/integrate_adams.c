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
 * Tested by tests/integrate/test_ode.c. */
#include "integrate/integrate_ode.h"

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
    double *const *phi;
    double *const *star;
    const double *f;
    int count;
} push_job;

static void push_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const push_job *job = user;
    memcpy(job->phi[0] + begin, job->f + begin, (end - begin) * sizeof(double));
    for (int j = 0; j < job->count; j++)
        for (size_t i = begin; i < end; i++)
            job->phi[j + 1][i] = job->phi[j][i] - job->star[j][i];
}

/* The memory after a step h. */
static void note_step(rg_adams_memory *m, double h) {
    m->count = m->count + 1 < RG_ADAMS_VECTORS - 1 ? m->count + 1 : RG_ADAMS_VECTORS - 1;
    memmove(m->last_steps + 1, m->last_steps, (RG_ADAMS_VECTORS - 1) * sizeof *m->last_steps);
    m->last_steps[0] = h;
}

/* Takes f at the new point into the differences. */
static void push_derivative(const rg_ode *ode, workspace *w, rg_adams_memory *m, double h,
                            const double *f) {
    note_step(m, h);
    push_job job = {w->phi, w->star, f, m->count};
    rg_parallel_for(ode->pool, ode->n, RG_ODE_GRAIN, push_chunk, &job);
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
    if (m->order == 0 || !(m->next_step > smallest)) {
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
static rg_status run_fixed(const rg_ode_run *run, workspace *w, rg_adams_memory *m) {
    const rg_ode *ode = run->ode;
    const rg_ode_settings *settings = &run->settings;
    double begin = run->begin, length = run->end - run->begin;
    rg_ode_info *info = run->info;
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
            rg_ode_run start = {&quiet,       t,   t + h, {.tolerance = START_TOLERANCE},
                                run->scratch, info};
            rg_status status = rg_dormand_prince(&start, w->y, &start_step);
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

rg_status rg_adams(const rg_ode_run *run, double *y, rg_adams_memory *memory, double *phi) {
    const rg_ode *ode = run->ode;
    rg_arena_mark mark = rg_arena_get_mark(run->scratch);
    workspace w;
    rg_status status = RG_OUT_OF_MEMORY;
    if (make_workspace(&w, ode, phi, run->scratch)) {
        memcpy(w.y, y, ode->n * sizeof *y);
        status = run->settings.fixed_step > 0
                     ? run_fixed(run, &w, memory)
                     : run_adaptive(ode, &w, run->begin, run->end - run->begin,
                                    run->settings.tolerance, memory, run->info);
    }
    if (status == RG_OK)
        memcpy(y, w.y, ode->n * sizeof *y);
    else
        memset(memory, 0, sizeof *memory);
    rg_arena_return(run->scratch, mark);
    return status;
}

/* --- one step at a time --------------------------------------------------------------------------
 *
 * The polynomial of a step is the corrector's own: y_n + the integral of the polynomial through f
 * at the predicted end and at the last k points. In theta,
 *
 *   y(theta) = y_n + h sum_{j<k} G_j(theta) Phi*_j(n) + h G_k(theta) Phi_k(n+1)
 *   G_j(theta) = integral from 0 to theta of the product over i < j of (X_i + h theta) / (X_i + h)
 *
 * with X_i = x_n - x_{n-i}. It begins at y_n and ends at y_{n+1}. Its error is an integral over
 * something that does not change its sign (to the order of the step), and grows from nothing to
 * that of the step: what is taken from it within the step is no worse than its end. Products in
 * powers of theta have coefficients >= 0 that add up to 1, so that nothing is lost by them.
 *
 * The caller may put y back by about the tolerance before the next step, and may adjust the
 * right-hand side. So f is evaluated again where a step begins, and that is Phi_0, while the
 * differences of the steps before, each of which is between values of one and the same f, stay what
 * they are: all of the past is shifted along. Where f has become another one altogether, its
 * differences are wrong, the error says so, and the method starts again. */

/* Steps of Dormand and Prince's before the first one of Adams'. To begin at order 1, as rg_adams
 * does, would take twenty steps or so to as long ones, and events are looked for in every step. */
enum { STARTS = 4 };
/* Steps that are refused one after the other before it starts again. */
enum { REFUSALS_MOST = 3 };
/* Of the tolerance: errors of a multistep method are much the same from step to step: they add
 * up. */
#define FINER 0.1
/* Times the tolerance: the error that steps are made for; and how much their length changes at
 * once. */
#define AIM         0.25
#define GROW_MOST   2.0
#define SHRINK_MOST 0.5
#define WORTH_WHILE 1.2
/* Of the step that Dormand and Prince's method would take: shorter ones cost more than that, three
 * evaluations against seven, and noise in f keeps them so. */
#define CHEAPER 0.125
enum { HALVINGS_MOST = 40 };

static bool take_vectors(double **vectors, size_t count, size_t n, rg_arena *scratch) {
    bool enough = true;
    for (size_t i = 0; i < count; i++)
        enough = (vectors[i] = rg_arena_take(scratch, n, sizeof(double))) && enough;
    return enough;
}

rg_status rg_adams_make(const rg_ode *ode, rg_arena *scratch, rg_adams_trial *trial) {
    *trial = (rg_adams_trial){.memory = {.rising = 1}};
    double *vectors[4];
    bool enough =
        take_vectors(vectors, 4, ode->n, scratch) &&
        take_vectors(trial->pushed, RG_ADAMS_VECTORS, ode->n, scratch) &&
        take_vectors(trial->star, RG_ADAMS_VECTORS, ode->n, scratch) &&
        take_vectors(trial->phi, RG_ADAMS_VECTORS, ode->n, scratch) &&
        take_vectors(trial->dense, RG_DENSE_DEGREE_MAX + 1, ode->n, scratch) &&
        take_vectors(&trial->chunk_max, 1, rg_chunk_count(ode->n, RG_ODE_GRAIN) + 1, scratch);
    trial->y = vectors[0];
    trial->predicted = vectors[1];
    trial->derivative = vectors[2];
    trial->scale = vectors[3];
    return enough ? RG_OK : RG_OUT_OF_MEMORY;
}

static workspace workspace_of(const rg_adams_trial *trial) {
    workspace w = {.y = trial->y,
                   .predicted = trial->predicted,
                   .derivative = trial->derivative,
                   .scale = trial->scale,
                   .chunk_max = trial->chunk_max};
    memcpy(w.star, trial->star, sizeof w.star);
    memcpy(w.phi, trial->phi, sizeof w.phi);
    return w;
}

/* What there is to remember if the step is kept: the differences at its end, with f there. */
static void push_end(const rg_ode *ode, rg_adams_trial *trial, const rg_adams_memory *m, double h,
                     const double *f) {
    trial->next = *m;
    note_step(&trial->next, h);
    push_job job = {trial->pushed, trial->star, f, trial->next.count};
    rg_parallel_for(ode->pool, ode->n, RG_ODE_GRAIN, push_chunk, &job);
}

/* A step of Dormand and Prince's, whose f is remembered. */
static rg_status make_first(const rg_ode *ode, rg_adams_trial *trial,
                            rg_dormand_prince_trial *first, rg_ode_try *step) {
    if (trial->memory.count == 0 && trial->memory.next_step > 0 && step->next_step > 0)
        step->next_step = trial->memory.next_step;
    rg_status status = rg_dormand_prince_try(ode, first, step);
    if (status)
        return status;
    workspace w = workspace_of(trial);
    coefficients c;
    trial->output = first->output;
    trial->end = first->end;
    memcpy(trial->phi[0], first->k[0], ode->n * sizeof *first->k[0]);
    find_coefficients(&trial->memory, first->output.step, 0, &c);
    scale_star(ode, &w, &c, trial->memory.count);
    push_end(ode, trial, &trial->memory, first->output.step,
             first->k[RG_DORMAND_PRINCE_STAGES - 1]);
    trial->next.rising = trial->next.count < STARTS;
    trial->next.next_step = trial->next.rising ? 0 : step->next_step;
    return RG_OK;
}

/* The length of the first step of Adams', from the differences that there are. */
static double first_length(const rg_ode *ode, const rg_adams_trial *trial, const rg_adams_memory *m,
                           double wanted, double tolerance) {
    const double *newest = trial->phi[m->order], one = 1;
    double size =
        rg_ode_error_norm(ode, &newest, &one, 1, 1 / tolerance, trial->scale, trial->chunk_max);
    for (int i = 0; i < HALVINGS_MOST; i++, wanted /= 2) {
        coefficients c;
        find_coefficients(m, wanted, m->order, &c);
        if (fabs(wanted * (c.g[m->order] - c.g[m->order - 1]) * c.beta[m->order]) * size <= AIM)
            break;
    }
    return wanted;
}

/* By how much a step could grow at an order with this error. */
static double growth_of(double error, int order) {
    return error > 0 ? rg_ode_power(AIM / error, 1.0 / (order + 1)) : GROW_MOST;
}

/* The order that allows the longest step, and that step. Errors of high orders have a floor where f
 * is off by a little that is not smooth. choose_next, which asks for the smallest error, would go
 * on to the highest order, and wait for an error that allows to double the step. */
static double choose_longest(rg_adams_memory *m, const errors *e, double h) {
    int k = m->order;
    double growth = growth_of(e->same, k);
    double lower = k > 1 ? growth_of(e->lower, k - 1) : 0;
    double higher = isfinite(e->higher) ? growth_of(e->higher, k + 1) : 0;
    if (lower >= growth && lower >= higher) {
        m->order = k - 1;
        growth = lower;
    } else if (higher > growth) {
        m->order = k + 1;
        growth = higher;
    }
    if (growth >= 1 && growth < WORTH_WHILE)
        return h;
    return h * fmax(SHRINK_MOST, fmin(GROW_MOST, growth));
}

/* The polynomial of a step of order k: coefficients of powers of theta. */
static void make_dense(const rg_ode *ode, rg_adams_trial *trial, const rg_adams_memory *m,
                       double begin, double h) {
    int k = m->order;
    double product[RG_ADAMS_VECTORS][RG_ADAMS_VECTORS] = {{1}}; /* [j]: over i < j */
    double behind = 0;
    for (int j = 1; j <= k; j++) {
        double constant = behind / (h + behind), slope = h / (h + behind);
        for (int i = 0; i <= j; i++)
            product[j][i] = (i < j ? constant * product[j - 1][i] : 0) +
                            (i > 0 ? slope * product[j - 1][i - 1] : 0);
        behind += m->last_steps[j - 1];
    }
    for (size_t i = 0; i < ode->n; i++) {
        double difference = trial->derivative[i]; /* becomes Phi_k(n+1) */
        for (int j = 0; j < k; j++)
            difference -= trial->star[j][i];
        trial->dense[0][i] = trial->y[i];
        for (int power = 0; power <= k; power++) {
            double sum = product[k][power] * difference;
            for (int j = power; j < k; j++)
                sum += product[j][power] * trial->star[j][i];
            trial->dense[power + 1][i] = h * sum / (power + 1);
        }
    }
    trial->output =
        (rg_dense_output){.begin = begin, .step = h, .n = ode->n, .degree = k + 1, .powers = true};
    for (int i = 0; i <= k + 1; i++)
        trial->output.c[i] = trial->dense[i];
}

/* Takes the step of w to its end. */
static void accept_step(const rg_ode *ode, rg_adams_trial *trial, workspace *w,
                        const rg_adams_memory *m, const coefficients *c, double h,
                        const rg_ode_try *step) {
    double begin = step->begin;
    make_dense(ode, trial, m, begin, h);
    correct(ode, w, c, m->order, h);
    if (ode->accept)
        ode->accept(ode->user, begin + h, w->y);
    derivative(ode, begin + h, w->y, w->derivative, step->info);
    trial->end = w->y;
    step->info->accepted++;
}

rg_status rg_adams_try(const rg_ode *ode, rg_adams_trial *trial, rg_dormand_prince_trial *first,
                       rg_ode_try *step) {
    if (trial->memory.rising || !(step->next_step > 0))
        return make_first(ode, trial, first, step);
    double begin = step->begin, most = step->most;
    rg_ode_info *info = step->info;
    workspace w = workspace_of(trial);
    memcpy(w.y, step->y, ode->n * sizeof *w.y);
    derivative(ode, begin, w.y, w.phi[0], info);
    ode->scale(ode->user, w.y, w.scale);
    rg_adams_memory m = trial->memory;
    double wanted = step->next_step, finer = FINER * step->tolerance;
    if (m.order == 0) {
        m.order = m.count < STARTS ? m.count : STARTS;
        wanted = first_length(ode, trial, &m, isfinite(wanted) ? wanted : most, finer);
    }
    for (int refusals = 0; refusals < REFUSALS_MOST;) {
        double parts = wanted < most ? ceil(most / wanted) : 1;
        double h = parts < 4 ? most / parts : wanted;
        if (m.count > m.order + 1)
            m.count = m.order + 1;
        coefficients c;
        find_coefficients(&m, h, m.order, &c);
        scale_star(ode, &w, &c, m.count);
        predict(ode, &w, &c, m.order, h);
        derivative(ode, begin + h, w.predicted, w.derivative, info);
        errors e = find_errors(ode, &w, &m, &c, h, finer);
        info->not_finite = isnan(e.same);
        if (e.same <= 1) {
            accept_step(ode, trial, &w, &m, &c, h, step);
            double longest = choose_longest(&m, &e, h);
            m.next_step = trial->memory.next_step;
            push_end(ode, trial, &m, h, w.derivative);
            step->next_step =
                longest >= h && h < wanted ? fmax(longest, fmin(wanted, GROW_MOST * h)) : longest;
            step->length = parts <= 1 ? most : h;
            /* Noise in f that the tolerance does not stand makes steps of any order short: before
             * they are much shorter than those of Dormand and Prince were, it starts again with
             * those. */
            if (step->next_step < CHEAPER * trial->memory.next_step) {
                trial->next = (rg_adams_memory){.rising = 1, .next_step = trial->memory.next_step};
                step->next_step = trial->memory.next_step;
            }
            return RG_OK;
        }
        info->rejected++;
        after_rejection(&m, &e, h, ++refusals);
        wanted = m.next_step;
    }
    rg_adams_forget(trial);
    return make_first(ode, trial, first, step);
}

void rg_adams_keep(rg_adams_trial *trial) {
    double *swap[RG_ADAMS_VECTORS];
    memcpy(swap, trial->phi, sizeof swap);
    memcpy(trial->phi, trial->pushed, sizeof swap);
    memcpy(trial->pushed, swap, sizeof swap);
    trial->memory = trial->next;
}

void rg_adams_forget(rg_adams_trial *trial) {
    trial->memory = (rg_adams_memory){.rising = 1, .next_step = trial->memory.next_step};
}
