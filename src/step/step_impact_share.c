/* Normal impulses among redundant contacts. Where contacts outnumber the motions that they can
 * stop, the velocities after are unique and the impulses are not: a solver returns any of them, a
 * cube's weight on two corners of four. A law that bounds friction by those impulses would turn a
 * symmetric body. The least-norm solution is unique and has every symmetry of the problem:
 *
 *     least |r|^2  over  r >= 0,  W r = W r*
 *
 * by the method of multipliers: the strictly convex problem with W + eps I and right-hand side c +
 * y, y growing by what is left of c - W r, c = W r*. Each round is one complementarity problem;
 * the error falls by eps over the smallest eigenvalue of W that is not zero.
 *
 * How it fails: the impulses that were given stand if the rounds do not end. Tested by
 * tests/step/test_impact.c and tests/step/test_impact_random.c.
 *
 * Tested by tests/step/test_impact.c. */
#include "step/step_impact.h"

#include <math.h>
#include <string.h>

/* eps, as a share of the mean diagonal of W; rounds at most; what is left of c, as a share of its
 * largest entry, when it is done. */
#define SHARE_REGULAR 1e-5
#define SHARE_ROUNDS  12
#define SHARE_EXACT   4e-15
#define SHARE_ENOUGH  1e-12

typedef struct sharing {
    size_t n;
    double *w, *raised, *c, *q, *force;
} sharing;

static rg_status take_sharing(const rg_impact_state *s, const uint32_t *list, size_t count,
                              const double *impulse, sharing *t, rg_error *error) {
    t->n = count;
    RG_TAKE(t->w, s->context, count * count, error);
    RG_TAKE(t->raised, s->context, count * count, error);
    RG_TAKE(t->c, s->context, count, error);
    RG_TAKE(t->q, s->context, count, error);
    RG_TAKE(t->force, s->context, count, error);
    double trace = 0;
    for (size_t i = 0; i < count; i++) {
        const double *row = rg_impact_row(s, rg_impact_normal(s, list[i]));
        t->c[i] = 0;
        for (size_t j = 0; j < count; j++) {
            size_t n = rg_impact_normal(s, list[j]);
            t->w[i * count + j] = row[n];
            t->c[i] += row[n] * impulse[n];
        }
        t->q[i] = -t->c[i];
        trace += t->w[i * count + i];
    }
    memcpy(t->raised, t->w, count * count * sizeof *t->w);
    for (size_t i = 0; i < count; i++)
        t->raised[i * count + i] += SHARE_REGULAR * trace / (double)count;
    return RG_OK;
}

/* One round; returns the largest entry of c - W r by way of `left`, infinity if not solved. */
static rg_status share_once(const rg_impact_state *s, sharing *t, double *left, rg_error *error) {
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT, .scale = s->scale};
    problem.contact = (rg_contact_problem){.dimension = 1,
                                           .contacts = t->n,
                                           .form = RG_FORM_LOCAL,
                                           .w = {.rows = t->n, .columns = t->n, .dense = t->raised},
                                           .q = t->q};
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = 1e-15;
    memset(t->force, 0, t->n * sizeof *t->force);
    rg_solution solution = {.force = t->force};
    rg_solve_info info;
    rg_status status = rg_solve(s->context, rg_solver_find("dantzig"), &problem, &settings,
                                &solution, &info, error);
    if (status)
        return status;
    *left = info.solver && isfinite(info.residual.natural) ? 0 : INFINITY;
    for (size_t i = 0; i < t->n; i++) {
        double rest = t->c[i];
        for (size_t j = 0; j < t->n; j++)
            rest -= t->w[i * t->n + j] * t->force[j];
        t->q[i] -= rest;
        *left = isfinite(rest) ? fmax(*left, fabs(rest)) : INFINITY;
    }
    return RG_OK;
}

rg_status rg_impact_share(const rg_impact_state *s, const uint32_t *list, size_t count,
                          double *impulse, rg_error *error) {
    if (count < 2)
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    sharing t;
    rg_status status = take_sharing(s, list, count, impulse, &t, error);
    double size = 0, left = INFINITY;
    for (size_t i = 0; !status && i < count; i++)
        size = fmax(size, fabs(t.c[i]));
    for (int round = 0; !status && round < SHARE_ROUNDS && left > SHARE_EXACT * size; round++) {
        double last = left;
        status = share_once(s, &t, &left, error);
        if (isinf(left) || (left >= last && left <= SHARE_ENOUGH * size))
            break;
    }
    if (!status && left <= SHARE_ENOUGH * size)
        for (size_t i = 0; i < count; i++)
            impulse[rg_impact_normal(s, list[i])] = fmax(0, t.force[i]);
    rg_arena_return(&s->context->arena, mark);
    return status;
}
