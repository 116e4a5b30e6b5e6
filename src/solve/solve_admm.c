/* ADMM (alternating direction method of multipliers) in velocity space.
 *
 * Problem: min 1/2 (v - v_free)' M (v - v_free) with w = J v + q + s n in K*, the forces r being
 * the multipliers; Coulomb's law with s = mu |u_T| taken from the iteration before (De Saxce; J.
 * Carpentier, Q. Le Lidec, L. Montaut, "From compliant to rigid contact simulation", 2024). Joint
 * rows with their bounds in place of the cone.
 *
 * Method (S. Boyd et al., 2011): with R = kappa rho_i at each contact
 *     (M + J' R J) v = M v_free + J' (r - R (q + s n - w))       one factor, used many times
 *     u := relaxation (J v + q) + (1 - relaxation) (w - s n)
 *     r := P_K(r - R (u + s n)),   w := u + s n + (r - r before) / R
 * (the last line by Moreau's decomposition: the two projections are one). kappa follows the balance
 * of the two residuals (B. He et al., 2000) and costs a new factor each time. Newton on the contact
 * law (solve_polish.c) is tried whenever the residual has fallen well.
 *
 * How it fails: first order. Redundant contacts do it no harm, but the rate is linear and poor for
 * slip with large mass ratios; with friction the loop over s need not converge. It ends by its
 * limit, with the best forces seen. */
#include "base/base_math.h"
#include "solve/solve_polish.h"
#include "solve/solve_system_parts.h"

#include <stdio.h>
#include <string.h>

enum {
    ITERATION_LIMIT = 2000,
    CHECK_EVERY = 5,  /* iterations between looks at the residual */
    ADAPT_EVERY = 20, /* iterations between changes of kappa */
    ADAPT_LIMIT = 20, /* changes in all, so that it converges in the end */
    EARLY_POLISH = 2, /* Newton steps at a time */
    LATE_POLISH = 20
};
#define RELAXATION 1.6
/* The penalty, relative to rho_i; how far the residuals may be apart, and the bounds of one change.
 * */
#define KAPPA_START  100.0
#define KAPPA_LEAST  1e-2
#define KAPPA_MOST   1e7
#define BALANCE      5.0
#define KAPPA_CHANGE 10.0
/* When the polish is tried: residual below the first, then after falls by the second. */
#define EARLY_RESIDUAL 1e-2
#define EARLY_FALL     0.1
#define AIM            0.5

typedef struct alternating {
    const rg_solve_context *context;
    rg_system system;
    rg_polish polish;
    bool global;
    double kappa;
    double *r, *w, *v, *u, *slip; /* slip: s per contact */
    double *dr, *dv, *e1, *e2, *a, *b;
    double primal, dual; /* residuals of the last iteration, in the unit of u */
    uint64_t iterations, factorisations;
} alternating;

static rg_status take_memory(alternating *p, rg_solve_context *context, rg_error *error) {
    size_t velocities = p->system.velocities;
    size_t numbers =
        p->system.contacts * (size_t)(p->system.dimension * p->system.dimension) + p->system.joints;
    double **by_rows[] = {&p->r, &p->w, &p->u, &p->dr, &p->e2};
    for (size_t k = 0; k < sizeof by_rows / sizeof *by_rows; k++) {
        RG_TAKE(*by_rows[k], context, p->system.rows, error);
        memset(*by_rows[k], 0, p->system.rows * sizeof(double));
    }
    RG_TAKE(p->v, context, velocities, error);
    RG_TAKE(p->dv, context, velocities, error);
    RG_TAKE(p->e1, context, velocities, error);
    RG_TAKE(p->slip, context, p->system.contacts, error);
    RG_TAKE(p->a, context, numbers, error);
    RG_TAKE(p->b, context, numbers, error);
    return RG_OK;
}

/* Rows of a contact that take part: without friction the normal row alone. */
static int width_of(const alternating *p, size_t contact) {
    return p->system.mu[contact] > 0 ? p->system.dimension : 1;
}

static double tail_length(const double *x, int width) {
    return width < 2 ? 0 : width == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

/* The nearest point of K; mu = 0 is the half-line. */
static void project_cone(double mu, int width, double *x) {
    double tail = tail_length(x, width);
    if (x[0] >= 0 && tail <= mu * x[0])
        return;
    if (mu * tail <= -x[0]) {
        x[0] = 0;
        for (int k = 1; k < width; k++)
            x[k] = 0;
        return;
    }
    x[0] = (x[0] + mu * tail) / (1 + mu * mu);
    for (int k = 1; k < width; k++)
        x[k] *= mu * x[0] / tail;
}

static rg_status factor(alternating *p) {
    size_t dd = (size_t)(p->system.dimension * p->system.dimension);
    memset(p->a, 0, (p->system.contacts * dd + p->system.joints) * sizeof *p->a);
    memset(p->b, 0, (p->system.contacts * dd + p->system.joints) * sizeof *p->b);
    for (size_t i = 0; i < p->system.contacts; i++)
        for (int k = 0; k < p->system.dimension; k++) {
            size_t at = i * dd + (size_t)(k * p->system.dimension + k);
            p->a[at] = 1;
            p->b[at] = k < width_of(p, i) ? p->kappa * p->system.rho[i] : 0;
        }
    for (size_t j = 0; j < p->system.joints; j++) {
        p->a[p->system.contacts * dd + j] = 1;
        p->b[p->system.contacts * dd + j] = p->kappa * p->system.rho[p->system.contacts + j];
    }
    p->factorisations++;
    return rg_system_factor(&p->system, p->a, p->b, true);
}

/* v, u of the forces; w next to them. */
static void start(alternating *p, const double *force) {
    if (force)
        memcpy(p->r, force, p->system.rows * sizeof *force);
    rg_system_velocity(&p->system, p->r, p->global ? p->v : NULL, p->u);
    for (size_t i = 0; i < p->system.contacts; i++) {
        size_t row = i * (size_t)p->system.dimension;
        int width = width_of(p, i);
        double mu = p->system.mu[i], x[3] = {0};
        for (int k = width; k < p->system.dimension; k++)
            p->r[row + (size_t)k] = 0;
        p->slip[i] = mu * tail_length(p->u + row, width);
        /* P_K*(x) = x + P_K(-x). */
        for (int k = 0; k < width; k++)
            x[k] = -p->u[row + (size_t)k] - (k ? 0 : p->slip[i]);
        project_cone(mu, width, x);
        for (int k = 0; k < width; k++)
            p->w[row + (size_t)k] = p->u[row + (size_t)k] + (k ? 0 : p->slip[i]) + x[k];
    }
}

/* v for the present r, w and s. Global form: by the change from the present v. Local form: forces x
 * with x + R (W x + q + s n - w) = r, which has no velocities to start from. */
static void solve_velocity(alternating *p) {
    rg_system *s = &p->system;
    if (!p->global)
        memcpy(p->u, s->free, p->system.rows * sizeof *p->u);
    for (size_t i = 0; i < p->system.contacts; i++)
        for (int k = 0; k < p->system.dimension; k++) {
            size_t at = i * (size_t)p->system.dimension + (size_t)k;
            p->e2[at] = k < width_of(p, i)
                            ? p->kappa * s->rho[i] * (p->u[at] + (k ? 0 : p->slip[i]) - p->w[at])
                            : 0;
        }
    for (size_t j = 0; j < p->system.joints; j++) {
        size_t at = rg_system_block_row(&p->system, p->system.contacts + j);
        p->e2[at] = p->kappa * s->rho[p->system.contacts + j] * (p->u[at] - p->w[at]);
    }
    if (p->global) {
        for (size_t i = 0; i < s->velocities; i++)
            p->dv[i] = p->v[i] - s->problem->global.free_velocity[i];
        rg_system_mass(s, p->dv, p->e1);
        rg_system_jt(s, p->r, p->dv);
        for (size_t i = 0; i < s->velocities; i++)
            p->e1[i] -= p->dv[i];
        rg_system_solve(s, p->e1, p->e2, p->dv, p->dr);
        for (size_t i = 0; i < s->velocities; i++)
            p->v[i] += p->dv[i];
        rg_system_j(s, p->v, p->u);
        for (size_t i = 0; i < p->system.rows; i++)
            p->u[i] += s->problem->q[i];
    } else {
        for (size_t i = 0; i < p->system.rows; i++)
            p->e2[i] -= p->r[i];
        rg_system_solve(s, NULL, p->e2, NULL, p->dr);
        rg_system_velocity(s, p->dr, NULL, p->u);
    }
}

/* The new r and w of a contact; raises the residuals. */
static void update_contact(alternating *p, size_t i) {
    size_t row = i * (size_t)p->system.dimension;
    int width = width_of(p, i);
    double mu = p->system.mu[i], penalty = p->kappa * p->system.rho[i], x[3] = {0}, y[3] = {0};
    for (int k = 0; k < width; k++) {
        size_t at = row + (size_t)k;
        double shift = k ? 0 : p->slip[i];
        x[k] = RELAXATION * (p->u[at] + shift) + (1 - RELAXATION) * p->w[at];
        y[k] = p->r[at] - penalty * x[k];
        p->primal = fmax(p->primal, fabs(p->u[at] + shift - p->w[at]));
    }
    project_cone(mu, width, y);
    for (int k = 0; k < width; k++) {
        size_t at = row + (size_t)k;
        double w = x[k] + (y[k] - p->r[at]) / penalty;
        p->dual = fmax(p->dual, p->kappa * fabs(w - p->w[at]));
        p->w[at] = w;
        p->r[at] = y[k];
    }
    p->slip[i] = mu * tail_length(p->u + row, width);
}

static void update_joint(alternating *p, size_t j) {
    size_t at = rg_system_block_row(&p->system, p->system.contacts + j);
    const rg_contact_problem *problem = p->system.problem;
    double penalty = p->kappa * p->system.rho[p->system.contacts + j];
    double x = RELAXATION * p->u[at] + (1 - RELAXATION) * p->w[at], y = p->r[at] - penalty * x;
    p->primal = fmax(p->primal, fabs(p->u[at] - p->w[at]));
    if (problem->lower)
        y = fmax(y, problem->lower[j]);
    if (problem->upper)
        y = fmin(y, problem->upper[j]);
    double w = x + (y - p->r[at]) / penalty;
    p->dual = fmax(p->dual, p->kappa * fabs(w - p->w[at]));
    p->w[at] = w;
    p->r[at] = y;
}

/* A larger penalty if the rows are behind, a smaller one if the forces are. */
static bool adapt(alternating *p) {
    double ratio = p->dual > 0 ? p->primal / p->dual : 1;
    if (!(ratio > BALANCE || ratio < 1 / BALANCE))
        return false;
    double change = fmin(fmax(sqrt(ratio), 1 / KAPPA_CHANGE), KAPPA_CHANGE);
    double kappa = fmin(fmax(p->kappa * change, KAPPA_LEAST), KAPPA_MOST);
    bool changed = kappa != p->kappa;
    p->kappa = kappa;
    return changed;
}

static rg_solve_outcome iterate(alternating *p, uint32_t limit, double tolerance) {
    double early = EARLY_RESIDUAL;
    int adapted = 0;
    bool fresh = true; /* a factor is needed */
    for (uint32_t k = 0; k < limit && !rg_solve_stops(p->context); k++) {
        if (fresh && factor(p) != RG_OK)
            return RG_SOLVE_SINGULAR;
        fresh = false;
        p->iterations++;
        solve_velocity(p);
        p->primal = p->dual = 0;
        for (size_t i = 0; i < p->system.contacts; i++)
            update_contact(p, i);
        for (size_t j = 0; j < p->system.joints; j++)
            update_joint(p, j);
        if ((k + 1) % CHECK_EVERY)
            continue;
        double residual = rg_polish_offer(&p->polish, p->r);
        if (residual < early && p->polish.best_residual > tolerance) {
            early = residual * EARLY_FALL;
            rg_polish_run(&p->polish, tolerance, EARLY_POLISH, false);
            fresh = true; /* the polish has put its own factor in place */
        }
        if (p->polish.best_residual <= tolerance)
            return RG_SOLVED;
        if (!isfinite(residual))
            return RG_SOLVE_STALLED;
        if ((k + 1) % ADAPT_EVERY == 0 && adapted < ADAPT_LIMIT && adapt(p)) {
            adapted++;
            fresh = true;
        }
    }
    return RG_SOLVE_LIMIT;
}

static rg_status solve(rg_solve_context *context, const rg_problem *problem,
                       const rg_solve_settings *settings, rg_solution *solution,
                       rg_solve_report *report, rg_error *error) {
    alternating p = {.context = context,
                     .kappa = KAPPA_START,
                     .global = problem->contact.form == RG_FORM_GLOBAL};
    rg_status status = rg_polish_prepare(&p.polish, &p.system, context, problem, error);
    if (status == RG_OK)
        status = take_memory(&p, context, error);
    if (status != RG_OK)
        return status;
    start(&p, settings->warm ? solution->force : NULL);
    double tolerance = AIM * settings->tolerance;
    rg_polish_offer(&p.polish, p.r);
    if (p.polish.best_residual <= tolerance)
        report->outcome = RG_SOLVED;
    else
        report->outcome = iterate(
            &p, settings->iteration_limit ? settings->iteration_limit : ITERATION_LIMIT, tolerance);
    if (report->outcome != RG_SOLVED && rg_polish_run(&p.polish, tolerance, LATE_POLISH, true))
        report->outcome = RG_SOLVED;
    report->iterations = p.iterations + p.polish.iterations;
    report->factorisations = p.factorisations + p.polish.factorisations;
    memcpy(solution->force, p.polish.best, p.system.rows * sizeof *p.polish.best);
    if (report->outcome != RG_SOLVED)
        snprintf(report->text, sizeof report->text,
                 "%s after %llu iterations at a residual of %.2g",
                 report->outcome == RG_SOLVE_LIMIT ? "ended by the limit" : "no further progress",
                 (unsigned long long)p.iterations, p.polish.best_residual);
    return RG_OK;
}

const rg_solver rg_solver_admm = {
    "admm",
    "alternating directions in velocity space, one factor for many iterations, then Newton",
    RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL,
    solve,
};
