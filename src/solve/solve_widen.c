/* Contacts whose gaps disagree in the last digits, under a magnifying glass.
 *
 * A body that rests on four points and is pressed against a wall by two more has more of them
 * than it needs, and their gaps disagree by 1e-9 m/s, say. Some point has to open, or to slip,
 * by no more than that, and which one it is decides about forces of ordinary size. A method
 * that starts far away sees all contacts closed and a residual of 1e-9 m/s, and no way down
 * from there: there may be no solution nearby, but one in which the body slides away.
 *
 * With e the velocities of such rows under the best forces so far, and kappa >= 1, the problem
 *
 *     u = W r + q + (kappa - 1) e
 *
 * is the given one at kappa = 1. At a large kappa the disagreement is as large as the
 * velocities that matter, and the modes are plain: such problems are solved by the usual list.
 * As kappa falls, the forces hardly change if the modes do not, for what the small velocities
 * stand for in momentum is nothing beside them: each solution is where the next one starts.
 *
 * Cost: a solve by the list for every power of ten between the residual and one. How it fails:
 * modes that do change on the way, into what cannot be solved either. Never returns anything
 * worse than what was given. */
#include "solve/solve_widen.h"

#include "base/base_math.h"
#include "problem/problem.h"

#include <stdio.h>
#include <string.h>

enum { CONTACTS_MOST = 64 };
/* Rows disagree where their velocity is at most so many times the residual. */
#define DISAGREE 100.0
/* The residual at the first kappa, at most, if nothing changed; and how kappa falls. */
#define WIDEST 0.3
#define FALL   0.1
/* Residual at which it has anything to do. */
#define RESIDUAL_MOST 1e-3
/* On the way, problems are solved to this share of the disagreement. */
#define SHARE 1e-2

/* The velocities that are to be magnified; zeros elsewhere: joints, and how contacts slide, are
 * left as they are. */
static void find_disagreement(const rg_contact_problem *p, const double *u, double least,
                              double *e) {
    size_t d = (size_t)p->dimension;
    memset(e, 0, (p->contacts * d + p->joints) * sizeof *e);
    for (size_t i = 0; i < p->contacts; i++) {
        const double *at = u + i * d;
        double square = 0;
        for (size_t k = 1; k < d; k++)
            square += at[k] * at[k];
        if (!(fabs(at[0]) < least))
            continue;
        for (size_t k = 0; k < (square < least * least ? d : 1); k++)
            e[i * d + k] = at[k];
    }
}

typedef struct widened {
    rg_solve_context *context;
    const rg_problem *given;
    const rg_solve_settings *settings;
    rg_problem problem; /* with q as it is at kappa */
    double *q, *e, *force;
    double first; /* the residual of the forces that were given */
    bool warm;    /* from the forces before */
} widened;

/* One kappa. */
static rg_status solve_at(widened *w, double kappa, rg_solve_report *report, rg_error *error) {
    rg_solve_settings now = *w->settings;
    rg_solution solution = {.force = w->force};
    rg_solve_info info;
    size_t rows = rg_problem_rows(w->given);
    for (size_t i = 0; i < rows; i++)
        w->q[i] = w->given->contact.q[i] + (kappa - 1) * w->e[i];
    if (kappa > 1)
        now.acceptable = fmax(now.acceptable, SHARE * kappa * w->first);
    now.warm = w->warm;
    rg_status status =
        rg_solve(w->context, &rg_solver_auto, &w->problem, &now, &solution, &info, error);
    w->warm = true;
    report->iterations += status ? 0 : info.iterations;
    report->factorisations += status ? 0 : info.factorisations;
    return status;
}

static rg_status solve(rg_solve_context *context, const rg_problem *problem,
                       const rg_solve_settings *settings, rg_solution *solution,
                       rg_solve_report *report, rg_error *error) {
    const rg_contact_problem *p = &problem->contact;
    size_t rows = rg_problem_rows(problem);
    report->outcome = RG_SOLVE_UNSUITABLE;
    if (p->contacts > CONTACTS_MOST || context->depth > 1 || !settings->warm)
        return RG_OK;
    widened w = {context, problem, settings, .problem = *problem};
    double *u;
    RG_TAKE(u, context, rows, error);
    RG_TAKE(w.q, context, rows, error);
    RG_TAKE(w.e, context, rows, error);
    RG_TAKE(w.force, context, rows, error);
    rg_residual residual = rg_residual_none();
    rg_allocator memory = rg_solve_arena_allocator(context);
    rg_status status =
        rg_judge_answer(problem, solution->force, NULL, &memory, &residual, u, error);
    double first = residual.natural, kappa = 1;
    if (status || !(first <= RESIDUAL_MOST && first > 0))
        return status;
    w.problem.scale = rg_problem_scale(problem);
    w.problem.contact.q = w.q;
    w.first = first;
    find_disagreement(p, u, DISAGREE * first * w.problem.scale, w.e);
    while (kappa * first < FALL * WIDEST)
        kappa /= FALL;
    while (!status) {
        status = solve_at(&w, kappa, report, error);
        if (kappa == 1)
            break;
        kappa = fmax(1, FALL * kappa);
        kappa = kappa < 1.5 ? 1 : kappa; /* powers of ten are not exact */
    }
    if (!status)
        status = rg_judge_answer(problem, w.force, NULL, &memory, &residual, u, error);
    if (status)
        return status;
    if (residual.natural < first)
        memcpy(solution->force, w.force, rows * sizeof *w.force);
    bool solved = residual.natural <= settings->tolerance;
    report->outcome = solved ? RG_SOLVED : RG_SOLVE_STALLED;
    if (!solved)
        snprintf(report->text, sizeof report->text, "a residual of %.1e, before it was %.1e",
                 residual.natural, first);
    return RG_OK;
}

const rg_solver rg_solver_widen = {"widen", "what contacts disagree by, magnified and made small",
                                   RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL, solve};
