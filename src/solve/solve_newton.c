/* Newton methods for contact problems with the exact cone, in velocity space.
 *
 * No one method solves all problems (Acary, Bremond and Huber 2018), so there are four stages, from
 * the quickest to the most patient, and every one starts from the best that is known:
 *
 * 1. warm start: forces that already pass are returned; forces that are nearly right are taken by
 *    the damped descent (solve_newton_steps.c);
 * 2. the damped descent from no forces at all: most small and most quiet problems end here, after
 *    5 to 30 factorisations;
 * 3. the smoothing path with folds (solve_newton_path.c), from which the descent is tried again and
 *    again as tau falls, and what is left wrong in a few places is mended (solve_mend.c);
 * 4. descents from the best forces with more and with less smoothing and damping, in turn.
 *
 * Islands are solved one by one: each has its own path. The linear algebra is in velocity space for
 * the global form (bodies), in contact space for the local form (solve_system_factor.c). Cost: 5 to
 * 30 factorisations for most problems, some hundred for rubble at high friction. Fails: the best
 * forces are returned with STALLED or LIMIT. What is hard is many redundant contacts whose gaps
 * disagree in the last digits, at high friction. */
#include "solve/solve_newton.h"

#include "base/base_math.h"

#include <stdio.h>
#include <string.h>

/* The judge recomputes velocities with long sums: its figure may differ in the last digits. */
#define SAFETY 0.9
/* Warm forces are used if their residual is below this share of that without forces. */
#define WARM_SHARE 0.3
/* Smoothing that warm forces start from: this share of their residual, at least WARM_TAU. */
#define WARM_TAU_SHARE 0.3
#define WARM_TAU       1e-4
enum {
    LIMIT = 2000, /* factorisations, per island */
    WARM_STEPS = 30,
    COLD_STEPS = 40,
    LAST_STEPS = 40,
    LAST_ROUNDS = 3,
    LARGE = 500,     /* contacts: the path at once */
    MEND_BUDGET = 30 /* factorisations, at a time */
};

static rg_status take_point(rg_newton *newton, rg_newton_point *point, rg_error *error) {
    RG_TAKE(point->v, newton->context, newton->system.velocities, error);
    RG_TAKE(point->r, newton->context, newton->system.rows, error);
    RG_TAKE(point->u, newton->context, newton->system.rows, error);
    RG_TAKE(point->y, newton->context, newton->system.rows, error);
    return RG_OK;
}

static rg_status take_step(rg_newton *newton, rg_newton_step *step, rg_error *error) {
    RG_TAKE(step->dv, newton->context, newton->system.velocities, error);
    RG_TAKE(step->dr, newton->context, newton->system.rows, error);
    RG_TAKE(step->dy, newton->context, newton->system.rows, error);
    return RG_OK;
}

rg_status rg_newton_create(rg_newton *newton, rg_solve_context *context, const rg_problem *problem,
                           double tolerance, rg_error *error) {
    *newton = (rg_newton){.context = context, .tolerance = tolerance, .best_residual = INFINITY};
    rg_system *system = &newton->system;
    rg_status status = rg_system_prepare(system, context, problem, error);
    if (status != RG_OK)
        return status;
    size_t rows = system->rows, d = (size_t)system->dimension;
    size_t numbers = system->contacts * d * d + system->joints;
    rg_newton_point *points[] = {&newton->point, &newton->trial, &newton->anchor, &newton->kept};
    rg_newton_step *steps[] = {&newton->newton, &newton->tangent, &newton->correction};
    for (size_t k = 0; k < sizeof points / sizeof *points && status == RG_OK; k++)
        status = take_point(newton, points[k], error);
    for (size_t k = 0; k < sizeof steps / sizeof *steps && status == RG_OK; k++)
        status = take_step(newton, steps[k], error);
    if (status != RG_OK)
        return status;
    if (problem->contact.form == RG_FORM_GLOBAL)
        RG_TAKE(newton->map.e1, context, system->velocities, error);
    RG_TAKE(newton->map.e2, context, rows, error);
    RG_TAKE(newton->map.slope, context, rows, error);
    RG_TAKE(newton->map.a, context, numbers, error);
    RG_TAKE(newton->map.b, context, numbers, error);
    RG_TAKE(newton->previous, context, rows + 1, error);
    RG_TAKE(newton->weight, context, system->contacts + system->joints, error);
    RG_TAKE(newton->soft, context, 2 * system->contacts, error);
    RG_TAKE(newton->work, context, rows, error);
    RG_TAKE(newton->best, context, rows, error);
    RG_TAKE(newton->put_aside, context, rows, error);
    RG_TAKE(newton->work_residual, context, rows, error);
    memset(newton->soft, 0, 2 * system->contacts * sizeof(double));
    newton->error = error;
    return rg_mend_create(&newton->mend, system, context, problem, error);
}

/* The point with these forces, its velocities from them; without softness. */
static void place(rg_newton *newton, const double *r) {
    rg_newton_point *point = &newton->point;
    memmove(point->r, r, newton->system.rows * sizeof(double));
    rg_system_velocity(&newton->system, point->r, point->v, point->u);
    rg_newton_refresh(newton, point);
    rg_newton_soften(newton, point, 0);
}

/* The point without forces, or with normal forces of the size tau. */
static void place_plain(rg_newton *newton, double tau) {
    const rg_system *system = &newton->system;
    double *r = newton->trial.r;
    memset(r, 0, system->rows * sizeof(double));
    for (size_t i = 0; i < system->contacts; i++)
        r[i * (size_t)system->dimension] = tau * system->rho[i] * system->scale;
    place(newton, r);
}

bool rg_newton_mend(rg_newton *newton) {
    if (newton->failed || !newton->mend.problem || newton->factorisations >= newton->limit)
        return false;
    uint64_t iterations = newton->mend.iterations, work = (uint64_t)newton->mend.work;
    rg_mend_aim aim = {newton->tolerance, newton->acceptable, MEND_BUDGET};
    newton->failed =
        rg_mend_run(&newton->mend, newton->best, aim, &newton->best_residual, newton->error);
    newton->iterations += newton->mend.iterations - iterations;
    newton->factorisations += (uint64_t)newton->mend.work - work;
    return !newton->failed && newton->best_residual <= fmax(newton->tolerance, newton->acceptable);
}

static bool try_last(rg_newton *newton) {
    static const struct {
        double tau; /* of the best residual */
        rg_newton_damping damping;
    } ways[] = {{1, {1e-3, 1e-2}}, {30, {1e-4, 1e-3}},  {30, {1e-5, 1e-4}}, {1, {1e-2, 1}},
                {1, {1e-4, 1e-3}}, {100, {1e-3, 1e-2}}, {1, {1e-5, 1e-4}}};
    for (int round = 0; round < LAST_ROUNDS; round++) {
        double before = newton->best_residual;
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            place(newton, newton->best);
            if (rg_newton_descend(newton, fmin(1, ways[k].tau * newton->best_residual),
                                  ways[k].damping, LAST_STEPS))
                return true;
        }
        if (!(newton->best_residual < 0.9 * before))
            break;
    }
    return false;
}

static bool solve_island(rg_newton *newton, const double *warm) {
    /* Of many contacts some are always on the verge: descents do not get through. */
    bool large = newton->mend.problem && newton->system.contacts > LARGE;
    place_plain(newton, 0);
    double cold = rg_newton_note(newton, &newton->point);
    if (cold <= newton->tolerance)
        return true;
    if (warm) {
        place(newton, warm);
        double residual = rg_newton_note(newton, &newton->point);
        if (residual <= newton->tolerance)
            return true;
        if (residual < WARM_SHARE * cold && !large &&
            rg_newton_descend(newton, fmax(WARM_TAU, WARM_TAU_SHARE * residual), RG_NEWTON_LOOSE,
                              WARM_STEPS))
            return true;
    }
    double tau = fmax(1, cold);
    place_plain(newton, 0);
    if (!large && rg_newton_descend(newton, tau, RG_NEWTON_LOOSE, COLD_STEPS))
        return true;
    place_plain(newton, tau);
    return rg_newton_follow(newton, tau, newton->limit) || try_last(newton);
}

static rg_status solve(rg_solve_context *context, const rg_problem *problem,
                       const rg_solve_settings *settings, rg_solution *solution,
                       rg_solve_report *report, rg_error *error) {
    const rg_contact_problem *contact = &problem->contact;
    if (contact->directions && contact->dimension == 3 && contact->mu) {
        report->outcome = RG_SOLVE_UNSUITABLE;
        snprintf(report->text, sizeof report->text, "newton takes the exact cone only");
        return RG_OK;
    }
    rg_newton newton;
    rg_status status =
        rg_newton_create(&newton, context, problem, SAFETY * settings->tolerance, error);
    if (status != RG_OK)
        return status;
    newton.acceptable = SAFETY * settings->acceptable;
    newton.limit = settings->iteration_limit ? settings->iteration_limit : LIMIT;
    bool solved = solve_island(&newton, settings->warm ? solution->force : NULL);
    if (newton.failed)
        return newton.failed;
    if (newton.starved)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s", rg_status_text(RG_OUT_OF_MEMORY));
    memcpy(solution->force, newton.best, newton.system.rows * sizeof(double));
    report->iterations = newton.iterations;
    report->factorisations = newton.factorisations;
    bool limited = !solved && newton.factorisations >= newton.limit;
    report->outcome = solved ? RG_SOLVED : limited ? RG_SOLVE_LIMIT : RG_SOLVE_STALLED;
    if (!solved)
        snprintf(report->text, sizeof report->text, "%s after %llu factorisations, residual %.2e",
                 limited ? "the limit was reached" : "no further progress",
                 (unsigned long long)newton.factorisations, newton.best_residual);
    return RG_OK;
}

const rg_solver rg_solver_newton = {
    "newton", "exact cone to the last digits: damped Newton steps, smoothing path through folds",
    RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL, solve};
