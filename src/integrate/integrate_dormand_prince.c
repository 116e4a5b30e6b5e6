/* Dormand and Prince 1980: explicit Runge-Kutta of order 5 with an embedded one of order 4 for the
 * error, last stage = first stage of the next step, and a continuous extension of order 4 (Hairer,
 * Norsett, Wanner, Solving Ordinary Differential Equations I, II.5-6). The step that is accepted is
 * the result of order 5.
 *
 * Step control: proportional-integral (Gustafsson), h <- 0.9 h err^-0.7/5 err_old^0.4/5. Steps are
 * cut so that the end is met exactly, in equal parts, so that no sliver is left. Fails with
 * RG_STEP_TOO_SMALL or RG_NOT_FINITE.
 * Tested by tests/integrate/test_ode.c. */
#include "integrate/integrate_ode.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STAGES = RG_DORMAND_PRINCE_STAGES };

static const double nodes[STAGES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
const double rg_dormand_prince_weights[STAGES][STAGES - 1] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
const double rg_dormand_prince_errors[STAGES] = {
    71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
/* Highest coefficient of the continuous extension. */
static const double dense_weights[STAGES] = {
    -12715105075.0 / 11282082432,  0,
    87487479700.0 / 32700410799,   -10690763975.0 / 1880347072,
    701980252875.0 / 199316789632, -1453857185.0 / 822651844,
    69997945.0 / 29380423};

#define SAFETY       0.9
#define SHRINK_MOST  0.2
#define GROW_MOST    5.0
#define ERROR_FLOOR  1e-4 /* smaller errors do not make the controller greedier */
#define POWER_NOW    (0.7 / 5)
#define POWER_BEFORE (0.4 / 5)

typedef struct workspace {
    double *k[STAGES], *y, *trial, *scale, *chunk_max, *dense[5];
} workspace;

static bool make_workspace(workspace *w, const rg_ode *ode, bool with_dense, rg_arena *scratch) {
    bool enough = true;
    for (int i = 0; i < STAGES; i++)
        enough = (w->k[i] = rg_arena_take(scratch, ode->n, sizeof(double))) && enough;
    enough = (w->y = rg_arena_take(scratch, ode->n, sizeof(double))) && enough;
    enough = (w->trial = rg_arena_take(scratch, ode->n, sizeof(double))) && enough;
    enough = (w->scale = rg_arena_take(scratch, ode->n, sizeof(double))) && enough;
    enough = (w->chunk_max = rg_arena_take(scratch, rg_chunk_count(ode->n, RG_ODE_GRAIN) + 1,
                                           sizeof(double))) &&
             enough;
    for (int i = 0; i < 5; i++)
        w->dense[i] = NULL;
    for (int i = 0; with_dense && i < 5; i++)
        enough = (w->dense[i] = rg_arena_take(scratch, ode->n, sizeof(double))) && enough;
    return enough;
}

static void derivative(const rg_ode *ode, double t, const double *y, double *dydt,
                       rg_ode_info *info) {
    ode->derivative(ode->user, t, y, dydt);
    info->evaluations++;
}

/* Stages 2 to 7 from stage 1; the last one is evaluated at the new state, which is in w->trial. */
static void try_step(const rg_ode *ode, workspace *w, double t, double h, rg_ode_info *info) {
    for (int stage = 1; stage < STAGES; stage++) {
        rg_ode_combine(ode, w->trial, w->y, h, (const double *const *)w->k,
                       rg_dormand_prince_weights[stage], stage < 6 ? stage : 6);
        derivative(ode, t + nodes[stage] * h, w->trial, w->k[stage], info);
    }
}

static rg_dense_output make_dense(const rg_ode *ode, workspace *w, double t, double h) {
    for (size_t i = 0; i < ode->n; i++) {
        double change = w->trial[i] - w->y[i], left = h * w->k[0][i] - change, high = 0;
        for (int j = 0; j < STAGES; j++)
            high += dense_weights[j] * w->k[j][i];
        w->dense[0][i] = w->y[i];
        w->dense[1][i] = change;
        w->dense[2][i] = left;
        w->dense[3][i] = change - h * w->k[6][i] - left;
        w->dense[4][i] = h * high;
    }
    rg_dense_output dense = {.begin = t, .step = h, .n = ode->n, .degree = 4};
    for (int i = 0; i < 5; i++)
        dense.c[i] = w->dense[i];
    return dense;
}

static void show_dense(const rg_ode *ode, workspace *w, double t, double h) {
    if (!ode->observe)
        return;
    rg_dense_output dense = make_dense(ode, w, t, h);
    ode->observe(ode->user, &dense);
}

static void accept_step(const rg_ode *ode, workspace *w, double t, double h, rg_ode_info *info) {
    show_dense(ode, w, t, h);
    double *old = w->y, *first = w->k[0];
    w->y = w->trial;
    w->trial = old;
    w->k[0] = w->k[6];
    w->k[6] = first;
    if (ode->accept)
        ode->accept(ode->user, t + h, w->y);
    info->accepted++;
}

static double grown(double error, double error_before) {
    double e = error > ERROR_FLOOR ? error : ERROR_FLOOR;
    double factor = SAFETY * rg_ode_power(e, -POWER_NOW) * rg_ode_power(error_before, POWER_BEFORE);
    return factor < SHRINK_MOST ? SHRINK_MOST : factor > GROW_MOST ? GROW_MOST : factor;
}

static rg_status run_fixed(const rg_ode *ode, workspace *w, double begin, double length,
                           double step, rg_ode_info *info) {
    size_t count = (size_t)floor(length / step + 0.5);
    count = count ? count : 1;
    double h = length / (double)count;
    for (size_t i = 0; i < count; i++) {
        double t = begin + (double)i * h;
        try_step(ode, w, t, h, info);
        accept_step(ode, w, t, h, info);
    }
    return RG_OK;
}

static rg_status run_adaptive(const rg_ode *ode, workspace *w, double begin, double length,
                              double tolerance, double *next_step, rg_ode_info *info) {
    uint64_t last_step = info->accepted + info->rejected + RG_STEPS_MOST;
    double smallest = RG_STEP_RESOLUTION * DBL_EPSILON * fmax(fabs(begin), length);
    double done = 0, wanted = *next_step, error_before = ERROR_FLOOR;
    bool rejected = false;
    ode->scale(ode->user, w->y, w->scale);
    if (!(wanted > 0))
        wanted = fmax(rg_ode_first_step(ode, w->k[0], w->scale, tolerance, 5, w->chunk_max),
                      2 * smallest);
    while (done < length) {
        double left = length - done;
        /* The last stretch in equal parts. */
        double parts = wanted < left ? ceil(left / wanted) : 1;
        double h = parts < 4 ? left / parts : wanted;
        if (h < smallest && h < left)
            return info->not_finite ? RG_NOT_FINITE : RG_STEP_TOO_SMALL;
        if (info->accepted + info->rejected >= last_step)
            return RG_ITERATION_LIMIT;
        try_step(ode, w, begin + done, h, info);
        double error = rg_ode_error_norm(ode, (const double *const *)w->k, rg_dormand_prince_errors,
                                         STAGES, h / tolerance, w->scale, w->chunk_max);
        info->not_finite = isnan(error);
        if (!(error <= 1)) {
            info->rejected++;
            rejected = true;
            wanted = h * (isnan(error) ? SHRINK_MOST
                                       : fmax(SHRINK_MOST, SAFETY * rg_ode_power(error, -1.0 / 5)));
            if (h <= smallest)
                return info->not_finite ? RG_NOT_FINITE : RG_STEP_TOO_SMALL;
            continue;
        }
        accept_step(ode, w, begin + done, h, info);
        done = parts <= 1 ? length : done + h;
        double factor = grown(error, error_before);
        if (rejected && factor > 1)
            factor = 1; /* no growth right after a rejection */
        rejected = false;
        error_before = fmax(error, ERROR_FLOOR);
        /* A step that was cut at the end says little about the next one. */
        bool cut = h < wanted && factor >= 1;
        wanted = cut ? fmax(wanted, h * factor) : h * factor;
        if (done < length)
            ode->scale(ode->user, w->y, w->scale);
    }
    *next_step = wanted;
    return RG_OK;
}

rg_status rg_dormand_prince(const rg_ode_run *run, double *y, double *next_step) {
    const rg_ode *ode = run->ode;
    const rg_ode_settings *settings = &run->settings;
    double begin = run->begin, length = run->end - run->begin;
    rg_arena_mark mark = rg_arena_get_mark(run->scratch);
    workspace w;
    rg_status status = RG_OUT_OF_MEMORY;
    if (make_workspace(&w, ode, ode->observe, run->scratch)) {
        memcpy(w.y, y, ode->n * sizeof *y);
        derivative(ode, begin, w.y, w.k[0], run->info);
        status =
            settings->fixed_step > 0
                ? run_fixed(ode, &w, begin, length, settings->fixed_step, run->info)
                : run_adaptive(ode, &w, begin, length, settings->tolerance, next_step, run->info);
        if (status == RG_OK)
            memcpy(y, w.y, ode->n * sizeof *y);
    }
    rg_arena_return(run->scratch, mark);
    return status;
}

/* --- one step at a time ----------------------------------------------------------------------- */

static workspace workspace_of(const rg_dormand_prince_trial *trial) {
    workspace w = {
        .y = trial->y, .trial = trial->end, .scale = trial->scale, .chunk_max = trial->chunk_max};
    memcpy(w.k, trial->k, sizeof w.k);
    memcpy(w.dense, trial->dense, sizeof w.dense);
    return w;
}

rg_status rg_dormand_prince_make(const rg_ode *ode, rg_arena *scratch,
                                 rg_dormand_prince_trial *trial) {
    workspace w;
    if (!make_workspace(&w, ode, true, scratch))
        return RG_OUT_OF_MEMORY;
    *trial = (rg_dormand_prince_trial){.y = w.y,
                                       .end = w.trial,
                                       .scale = w.scale,
                                       .chunk_max = w.chunk_max,
                                       .error_before = ERROR_FLOOR};
    memcpy(trial->k, w.k, sizeof w.k);
    memcpy(trial->dense, w.dense, sizeof w.dense);
    return RG_OK;
}

rg_status rg_dormand_prince_try(const rg_ode *ode, rg_dormand_prince_trial *trial,
                                rg_ode_try *step) {
    workspace w = workspace_of(trial);
    double begin = step->begin, most = step->most, tolerance = step->tolerance;
    rg_ode_info *info = step->info;
    double smallest = RG_STEP_RESOLUTION * DBL_EPSILON * fmax(fabs(begin), most);
    memcpy(w.y, step->y, ode->n * sizeof *w.y);
    derivative(ode, begin, w.y, w.k[0], info);
    ode->scale(ode->user, w.y, w.scale);
    double wanted = step->next_step;
    if (!(wanted > 0))
        wanted =
            fmax(rg_ode_first_step(ode, w.k[0], w.scale, tolerance, 5, w.chunk_max), 2 * smallest);
    for (bool rejected = false;; rejected = true) {
        double parts = wanted < most ? ceil(most / wanted) : 1;
        double h = parts < 4 ? most / parts : wanted;
        try_step(ode, &w, begin, h, info);
        double error = rg_ode_error_norm(ode, (const double *const *)w.k, rg_dormand_prince_errors,
                                         STAGES, h / tolerance, w.scale, w.chunk_max);
        info->not_finite = isnan(error);
        if (error <= 1 || h <= step->least) {
            double factor = grown(error, trial->error_before);
            /* After an event steps begin small: where the error is nothing, they grow as they
             * can. */
            if (error <= ERROR_FLOOR)
                factor = GROW_MOST;
            trial->error_before = fmax(error, ERROR_FLOOR);
            if (rejected && factor > 1)
                factor = 1;
            bool cut = h < wanted && factor >= 1;
            step->next_step = cut ? fmax(wanted, h * factor) : h * factor;
            step->length = parts <= 1 ? most : h;
            trial->output = make_dense(ode, &w, begin, h);
            if (ode->accept)
                ode->accept(ode->user, begin + h, w.trial);
            info->accepted++;
            return RG_OK;
        }
        info->rejected++;
        if (h <= smallest)
            return info->not_finite ? RG_NOT_FINITE : RG_STEP_TOO_SMALL;
        wanted =
            fmax(fmax(smallest, step->least),
                 h * (isnan(error) ? SHRINK_MOST
                                   : fmax(SHRINK_MOST, SAFETY * rg_ode_power(error, -1.0 / 5))));
    }
}
