/* Block Gauss-Seidel: one contact after another is solved exactly while the others are held, again
 * and again (Jean and Moreau's non-smooth contact dynamics); for linear problems row by row with
 * projection.
 *
 * - Contacts: the exact one-contact answer (solve_one_contact.h), cone or polygon. Joint rows and
 *   linear rows: Newton along the row, cut to the bounds. A normal row with one static friction row
 *   is a planar contact and solved as such; several static rows on one normal are cut to the box of
 *   the present normal force. Dynamic friction is substituted: its column joins that of the normal
 *   (Baraff 1994, 3.6).
 * - Local and linear form: the rows of a block as one panel of the columns that are not zero.
 *   Global form: the bodies' velocities are kept, a visit costs two bodies' worth, whatever the
 *   neighbours.
 * - Sweeps go forth and back, in the order given: nothing random, nothing parallel.
 * - After each pair the forces go on along a conjugate direction (the nonsmooth nonlinear conjugate
 *   gradients of Silcowitz, Niebe and Erleben 2010, Fletcher-Reeves with restarts; there on single
 *   sweeps, here on pairs, which are symmetric like a preconditioner): a third of the sweeps or
 *   less.
 * - The test is the judge's natural map, taken afresh when the steps have become small and every so
 *   many sweeps; the best forces seen there are what is returned.
 *
 * Cost: one pass over the matrix (or over the contacts' bodies) per sweep. How it fails: the rate
 * is linear and bad where the load runs through many contacts (stacks, walls) or masses differ
 * much: it then ends by its limit or stalled, with the best forces so far. Nothing is proved by
 * that. With friction it need not converge at all. Rows without a positive diagonal entry are
 * beyond it: UNSUITABLE. */
#include "solve/solve_gauss_seidel.h"

#include "base/base_math.h"
#include "problem/problem.h"

#include <stdio.h>
#include <string.h>

enum {
    SWEEP_LIMIT = 10000,
    CHECK_SWEEPS = 32,   /* the residual is looked at after so many sweeps at the latest */
    STALL_SWEEPS = 2000, /* stalled if the best residual did not fall by a tenth in so many */
};
#define STALL_FALL 0.9
/* The aim is this part of the tolerance, so that rounding does not make the judge think otherwise.
 */
#define AIM 0.9

/* --- velocities ------------------------------------------------------------------------------- */

/* u += J v for one body; J by columns of four, so that the rows go side by side. */
static inline void add_rows(size_t n, const double *restrict j, const double *restrict v,
                            double *restrict u) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            u[k] += j[4 * i + k] * v[i];
}

/* u += values f[columns] for `width` rows; four columns at a time in lanes of their own, added in a
 * fixed order. */
static inline void add_columns(size_t width, size_t columns, const uint32_t *restrict column,
                               const double *restrict value, const double *restrict f,
                               double *restrict u) {
    double sum[4][3] = {{0}};
    size_t i = 0;
    for (; i + 4 <= columns; i += 4)
        for (size_t lane = 0; lane < 4; lane++)
            for (size_t k = 0; k < width; k++)
                sum[lane][k] += value[width * (i + lane) + k] * f[column[i + lane]];
    for (; i < columns; i++)
        for (size_t k = 0; k < width; k++)
            sum[0][k] += value[width * i + k] * f[column[i]];
    for (size_t k = 0; k < width; k++)
        u[k] += (sum[0][k] + sum[1][k]) + (sum[2][k] + sum[3][k]);
}

/* u = q + W r of one block, from the forces or, in global form, from the bodies' velocities. */
static void block_velocity(const rg_sweeper *s, const rg_sweep_block *b, size_t index,
                           double u[4]) {
    size_t n = s->freedom;
    for (int k = 0; k < 4; k++)
        u[k] = k < b->width ? s->q[b->rows[k]] : 0;
    for (size_t side = 0; s->global && side < 2; side++) {
        if (b->bodies[side] == RG_NO_BLOCK)
            continue;
        const double *v = s->velocity + b->bodies[side] * n;
        const double *j = s->j + (index * 2 + side) * 4 * n;
        if (n == 6)
            add_rows(6, j, v, u);
        else
            add_rows(n, j, v, u);
    }
    if (s->global)
        return;
    const uint32_t *column = s->column + b->panel;
    const double *value = s->value + 3 * b->panel;
    if (b->width == 1)
        add_columns(1, b->columns, column, value, s->force, u);
    else
        add_columns(3, b->columns, column, value, s->force, u);
}

static inline void add_change(size_t width, size_t n, const double *restrict y,
                              const double *restrict change, double *restrict v) {
    for (size_t k = 0; k < width; k++)
        for (size_t i = 0; i < n; i++)
            v[i] += y[k * n + i] * change[k];
}

static void move_bodies(rg_sweeper *s, const rg_sweep_block *b, size_t index,
                        const double change[3]) {
    size_t n = s->freedom;
    for (size_t side = 0; side < 2; side++) {
        if (b->bodies[side] == RG_NO_BLOCK)
            continue;
        double *v = s->velocity + b->bodies[side] * n;
        const double *y = s->y + (index * 2 + side) * 3 * n;
        if (n == 6 && b->width == 3)
            add_change(3, 6, y, change, v);
        else
            add_change((size_t)b->width, n, y, change, v);
    }
}

/* The bodies' velocities afresh, without the rounding of many small changes. */
static void refresh_bodies(rg_sweeper *s) {
    if (!s->global)
        return;
    memcpy(s->velocity, s->global->free_velocity, s->bodies * s->freedom * sizeof *s->velocity);
    for (size_t index = 0; index < s->block_count; index++) {
        const rg_sweep_block *b = &s->blocks[index];
        double f[3] = {0};
        for (int k = 0; k < b->width; k++)
            f[k] = s->force[b->rows[k]];
        move_bodies(s, b, index, f);
    }
}

/* --- sweeps ----------------------------------------------------------------------------------- */

static double cut(double x, double lower, double upper) {
    return x < lower ? lower : x > upper ? upper : x;
}

/* Solves one block; returns how far its force moved, as a velocity. */
static double visit(rg_sweeper *s, size_t index) {
    const rg_sweep_block *b = &s->blocks[index];
    if (!b->movable)
        return 0;
    double u[4], old[3] = {0}, new[3] = {0}, change[3], moved = 0;
    block_velocity(s, b, index, u);
    for (int k = 0; k < b->width; k++)
        old[k] = s->force[b->rows[k]];
    if (b->law == RG_SWEEP_CONTACT) {
        double q[3] = {0};
        for (int i = 0; i < b->width; i++)
            q[i] = u[i] -
                   (b->one.w[i][0] * old[0] + b->one.w[i][1] * old[1] + b->one.w[i][2] * old[2]);
        rg_one_contact_solve(&b->one, q, old, new);
    } else {
        double limit = b->law == RG_SWEEP_STATIC ? b->mu * fmax(0, s->force[b->normal]) : 0;
        double lower = b->law == RG_SWEEP_STATIC ? -limit : b->lower;
        double upper = b->law == RG_SWEEP_STATIC ? limit : b->upper;
        new[0] = cut(old[0] - u[0] / b->diagonal, lower, upper);
    }
    for (int k = 0; k < b->width; k++) {
        change[k] = new[k] - old[k];
        s->force[b->rows[k]] = new[k];
        moved = fmax(moved, fabs(change[k]));
    }
    if (s->global && moved > 0)
        move_bodies(s, b, index, change);
    return moved * b->stiffness;
}

static double sweep(rg_sweeper *s, bool forth) {
    double moved = 0;
    for (size_t i = 0; i < s->block_count; i++)
        moved = fmax(moved, visit(s, forth ? i : s->block_count - 1 - i));
    return moved;
}

/* --- residual --------------------------------------------------------------------------------- */

/* r - P_K(r - (u + mu |u_T| n)), r in the unit of u. */
static double cone_residual(double mu, const double r[3], const double u[3]) {
    double y[3] = {r[0] - u[0] - mu * sqrt(u[1] * u[1] + u[2] * u[2]), r[1] - u[1], r[2] - u[2]};
    double t = sqrt(y[1] * y[1] + y[2] * y[2]), p[3] = {0, 0, 0};
    if (y[0] >= 0 && t <= mu * y[0]) {
        p[0] = y[0], p[1] = y[1], p[2] = y[2];
    } else if (mu * t > -y[0]) {
        p[0] = (y[0] + mu * t) / (1 + mu * mu);
        double share = t > 0 ? mu * p[0] / t : 0;
        p[1] = share * y[1], p[2] = share * y[2];
    }
    for (int k = 0; k < 3; k++)
        p[k] -= r[k];
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
}

/* The pair of projections, r_T on the polygon of radius mu r_N. */
static double polygon_residual(const rg_one_contact *c, const double r[3], const double u[3]) {
    double y[2] = {r[1] - u[1], r[2] - u[2]}, p[2] = {y[0], y[1]}, best = INFINITY, a[2], b[2];
    double radius = c->mu * fmax(0, r[0]), normal = fmax(0, r[0] - u[0]) - r[0];
    bool inside = radius > 0;
    rg_polygon_direction(c->directions, 0, a);
    for (int k = 0; k < c->directions; k++, a[0] = b[0], a[1] = b[1]) {
        rg_polygon_direction(c->directions, (k + 1) % c->directions, b);
        double e[2] = {radius * (b[0] - a[0]), radius * (b[1] - a[1])};
        double f[2] = {y[0] - radius * a[0], y[1] - radius * a[1]};
        inside = inside && e[0] * f[1] - e[1] * f[0] >= 0;
        double length = e[0] * e[0] + e[1] * e[1];
        double t = length > 0 ? cut((e[0] * f[0] + e[1] * f[1]) / length, 0, 1) : 0;
        f[0] -= t * e[0], f[1] -= t * e[1];
        if (f[0] * f[0] + f[1] * f[1] < best) {
            best = f[0] * f[0] + f[1] * f[1];
            p[0] = y[0] - f[0], p[1] = y[1] - f[1];
        }
    }
    double x = (inside ? y[0] : p[0]) - r[1], z = (inside ? y[1] : p[1]) - r[2];
    return sqrt(normal * normal + x * x + z * z);
}

/* A normal row and its static friction row, each in its own unit as the judge has it. */
static double planar_residual(const rg_one_contact *c, double n, double f, const double u[3]) {
    double w = c->w[0][0], wf = c->w[1][1], limit = wf * c->mu * fmax(0, n);
    double normal = fabs(w * n - fmax(0, w * n - u[0]));
    return fmax(normal, fabs(wf * f - cut(wf * f - u[1], -limit, limit)));
}

static double block_residual(const rg_sweeper *s, const rg_sweep_block *b, size_t index) {
    double u[4], r[3] = {0};
    block_velocity(s, b, index, u);
    for (int k = 0; k < b->width; k++)
        r[k] = b->stiffness * s->force[b->rows[k]];
    if (b->law == RG_SWEEP_CONTACT && s->problem->kind == RG_PROBLEM_LINEAR)
        return planar_residual(&b->one, s->force[b->rows[0]], s->force[b->rows[1]], u);
    if (b->law == RG_SWEEP_CONTACT)
        return b->one.directions ? polygon_residual(&b->one, r, u) : cone_residual(b->one.mu, r, u);
    double limit = b->law == RG_SWEEP_STATIC ? b->mu * fmax(0, s->force[b->normal]) : 0;
    double lower = b->stiffness * (b->law == RG_SWEEP_STATIC ? -limit : b->lower);
    double upper = b->stiffness * (b->law == RG_SWEEP_STATIC ? limit : b->upper);
    return fabs(r[0] - cut(r[0] - u[0], lower, upper));
}

/* Relative to the scale; infinite if something overflowed. */
static double residual(const rg_sweeper *s) {
    double worst = 0;
    for (size_t i = 0; i < s->block_count; i++) {
        double one = block_residual(s, &s->blocks[i], i);
        if (!(one <= worst))
            worst = isfinite(one) ? one : INFINITY;
    }
    return worst / s->scale;
}

/* --- the solver ------------------------------------------------------------------------------- */

/* Forces that no visit will bring into their set: rows that cannot be moved, dynamic friction. */
static void settle(rg_sweeper *s) {
    for (size_t i = 0; i < s->rows; i++)
        if (!isfinite(s->force[i]))
            s->force[i] = 0;
    for (size_t i = 0; i < s->block_count; i++) {
        const rg_sweep_block *b = &s->blocks[i];
        for (int k = 0; !b->movable && k < b->width; k++)
            s->force[b->rows[k]] = b->law == RG_SWEEP_INTERVAL ? cut(0, b->lower, b->upper) : 0;
    }
}

static void substitute_dynamic(const rg_problem *problem, double *force) {
    const rg_linear_problem *p = &problem->linear;
    if (problem->kind != RG_PROBLEM_LINEAR || !p->kinds)
        return;
    for (size_t i = 0; i < p->size; i++)
        if (p->kinds[i] == RG_ROW_DYNAMIC)
            force[i] = p->mu[i] * force[p->normal[i]];
}

/* The conjugate direction. */
typedef struct momentum {
    double *stiffness; /* rows: the metric */
    double *direction; /* rows */
    double *old;       /* rows: the forces before the pair of sweeps */
    double length;     /* of the last step, squared */
} momentum;

static rg_status prepare_momentum(momentum *m, const rg_sweeper *s, rg_solve_context *context,
                                  rg_error *error) {
    m->length = 0;
    RG_TAKE(m->stiffness, context, s->rows, error);
    RG_TAKE(m->direction, context, s->rows, error);
    RG_TAKE(m->old, context, s->rows, error);
    memset(m->stiffness, 0, s->rows * sizeof *m->stiffness);
    for (size_t i = 0; i < s->block_count; i++)
        for (int k = 0; k < s->blocks[i].width; k++)
            m->stiffness[s->blocks[i].rows[k]] = s->blocks[i].stiffness;
    return RG_OK;
}

/* The step that the pair of sweeps made stands for the negative gradient. */
static void extrapolate(momentum *m, rg_sweeper *s) {
    double length = 0;
    for (size_t i = 0; i < s->rows; i++) {
        double step = s->force[i] - m->old[i];
        length += m->stiffness[i] * step * step;
    }
    double share = length / m->length;
    if (!(m->length > 0 && share <= 1)) { /* the first time, or the steps grow: begin anew */
        share = 0;
        memset(m->direction, 0, s->rows * sizeof *m->direction);
    }
    for (size_t i = 0; i < s->rows; i++) {
        double step = s->force[i] - m->old[i], more = share * m->direction[i];
        s->force[i] += more;
        m->direction[i] = step + more;
    }
    m->length = length;
    refresh_bodies(s);
}

/* Sweeps until solved, stalled or at the limit; the best forces end in s->force. */
static rg_solve_outcome iterate(rg_sweeper *s, momentum *m, double aim, uint64_t limit,
                                double *best, rg_solve_report *report, double *reached) {
    rg_solve_outcome outcome = RG_SOLVE_LIMIT;
    double least = INFINITY, mark = INFINITY, moved = INFINITY;
    uint64_t checked = 0, marked = 0;
    refresh_bodies(s);
    for (uint64_t n = 0;; n++) { /* n sweeps are done; before the first: is the start good? */
        report->iterations = n;
        if (rg_solve_stops(s->context))
            limit = n;
        if (n == 0 || moved <= 0.5 * aim * s->scale || n - checked >= CHECK_SWEEPS || n >= limit) {
            checked = n;
            refresh_bodies(s);
            double now = residual(s);
            if (now < least || n == 0) {
                least = now;
                memcpy(best, s->force, s->rows * sizeof *best);
            }
            if (least < STALL_FALL * mark)
                mark = least, marked = n;
            if (least <= aim)
                outcome = RG_SOLVED;
            else if (moved == 0 || n - marked >= STALL_SWEEPS || now == INFINITY)
                outcome = RG_SOLVE_STALLED; /* nothing moves, or nothing gets better */
            if (outcome != RG_SOLVE_LIMIT || n >= limit)
                break;
        }
        if (n % 2 == 0) {
            if (n > 0)
                extrapolate(m, s);
            memcpy(m->old, s->force, s->rows * sizeof *m->old);
        }
        moved = sweep(s, n % 2 == 0);
    }
    memcpy(s->force, best, s->rows * sizeof *best);
    *reached = least;
    return outcome;
}

static rg_status solve(rg_solve_context *context, const rg_problem *problem,
                       const rg_solve_settings *settings, rg_solution *solution,
                       rg_solve_report *report, rg_error *error) {
    rg_sweeper s;
    double *best, reached;
    report->outcome = RG_SOLVED;
    RG_TAKE(best, context, rg_problem_rows(problem), error);
    if (!settings->warm)
        memset(solution->force, 0, rg_problem_rows(problem) * sizeof *solution->force);
    rg_status status = rg_sweeper_prepare(&s, context, problem, solution, report, error);
    if (status || report->outcome == RG_SOLVE_UNSUITABLE)
        return status;
    momentum m = {0};
    if ((status = prepare_momentum(&m, &s, context, error)) != RG_OK)
        return status;
    settle(&s);
    uint64_t limit = settings->iteration_limit ? settings->iteration_limit : SWEEP_LIMIT;
    report->outcome = iterate(&s, &m, AIM * settings->tolerance, limit, best, report, &reached);
    substitute_dynamic(problem, solution->force);
    if (report->outcome == RG_SOLVE_LIMIT)
        snprintf(report->text, sizeof report->text,
                 "residual %.2g after %llu sweeps, still falling", reached,
                 (unsigned long long)report->iterations);
    else if (report->outcome == RG_SOLVE_STALLED)
        snprintf(report->text, sizeof report->text,
                 "residual %.2g, no longer falling after %llu sweeps", reached,
                 (unsigned long long)report->iterations);
    return RG_OK;
}

const rg_solver rg_solver_gauss_seidel = {
    "gauss-seidel",
    "contact after contact, each solved exactly, in sweeps; any size, slow to converge",
    RG_ACCEPT_LINEAR | RG_ACCEPT_FRICTION | RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL | RG_ACCEPT_POLYGON,
    solve};
