/* The driver: checks the problem, brings it into a form that the solver takes, runs it, has the
 * answer judged, and keeps account of what was tried.
 * Tested by tests/solve/test_worked.c. */
#include "solve/solve.h"

#include "base/base_clock.h"
#include "base/base_math.h"
#include "base/base_registry.h"
#include "problem/problem.h"
#include "solve/solve_held.h"
#include "solve/solve_islands.h"
#include "solve/solve_lotstedt.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Residual up to which an answer that is exact up to rounding is one: chains whose masses differ by
 * 1e8 are at 3e-8; beyond it digits are lost that a user should hear of. */
#define ROUNDED 1e-6

static const rg_solver *const solvers[] = {
    &rg_solver_auto,         &rg_solver_dantzig, &rg_solver_lemke,          &rg_solver_qp,
    &rg_solver_gauss_seidel, &rg_solver_newton,  &rg_solver_interior_point, &rg_solver_admm,
    &rg_solver_enumerate,
};

RG_DEFINE_REGISTRY(rg_solver, solvers)

const char *rg_solution_policy_name(rg_solution_policy policy) {
    return policy == RG_POLICY_LARGEST_FORCE ? "largest" : "smallest";
}

const char *rg_solve_outcome_name(rg_solve_outcome outcome) {
    static const char *const names[RG_SOLVE_OUTCOMES] = {
        "solved",     "inexact",  "limit",         "stalled",    "ray",
        "infeasible", "singular", "not-symmetric", "indefinite", "unsuitable",
    };
    return (unsigned)outcome < RG_SOLVE_OUTCOMES ? names[outcome] : "unknown";
}

rg_solve_settings rg_solve_settings_default(void) {
    return (rg_solve_settings){.tolerance = 1e-10};
}

rg_residual rg_residual_none(void) {
    return (rg_residual){.natural = NAN,
                         .feasibility = NAN,
                         .force = NAN,
                         .complementarity = NAN,
                         .dissipation = NAN};
}

rg_solve_info rg_solve_info_none(void) {
    return (rg_solve_info){.outcome = RG_SOLVE_UNSUITABLE, .residual = rg_residual_none()};
}

/* --- context ---------------------------------------------------------------------------------- */

rg_status rg_solve_context_create(const rg_allocator *allocator, rg_solve_context **context) {
    *context = rg_object_make(rg_solve_context, allocator);
    if (!*context)
        return RG_OUT_OF_MEMORY;
    (*context)->arena = rg_arena_make(&(*context)->allocator);
    (*context)->tree_memory = rg_arena_make(&(*context)->allocator);
    return RG_OK;
}

void rg_solve_context_destroy(rg_solve_context *context) {
    if (!context)
        return;
    rg_arena_free(&context->arena);
    rg_arena_free(&context->tree_memory);
    rg_held_free(context);
    rg_object_release(context);
}

void *rg_solve_take(rg_solve_context *context, size_t count, size_t size) {
    return rg_arena_take(&context->arena, count ? count : 1, size);
}

/* The judge asks an allocator for its memory: here it is the arena, given back with the attempt. */
static void *resize_in_arena(void *user, void *pointer, size_t size) {
    assert(!pointer && "the judge does not grow arrays");
    (void)pointer;
    return rg_arena_take(user, size, 1);
}

static void release_in_arena(void *user, void *pointer) {
    (void)user, (void)pointer;
}

rg_allocator rg_solve_arena_allocator(rg_solve_context *context) {
    return (rg_allocator){resize_in_arena, release_in_arena, &context->arena};
}

/* --- linear helpers --------------------------------------------------------------------------- */

bool rg_linear_is_symmetric(const rg_linear_problem *problem) {
    double largest = 0;
    for (size_t i = 0; i < problem->size; i++)
        for (size_t j = 0; j < problem->size; j++)
            largest = fmax(largest, fabs(rg_linear_row(problem, i)[j]));
    for (size_t i = 0; i < problem->size; i++) {
        const double *row = rg_linear_row(problem, i);
        for (size_t j = 0; j < i; j++) {
            const double *other = rg_linear_row(problem, j);
            double reference = sqrt(fabs(row[i]) * fabs(other[j]));
            if (!(reference > 0))
                reference = largest;
            if (!(fabs(row[j] - other[i]) <= RG_SYMMETRY_TOLERANCE * reference))
                return false;
        }
    }
    return true;
}

void rg_linear_apply(const rg_linear_problem *problem, const double *force, double *velocity) {
    for (size_t i = 0; i < problem->size; i++) {
        const double *row = rg_linear_row(problem, i);
        double sum = problem->b[i];
        for (size_t j = 0; j < problem->size; j++)
            sum += row[j] * force[j];
        velocity[i] = sum;
    }
}

/* --- one attempt ------------------------------------------------------------------------------ */

static bool has_friction_rows(const rg_linear_problem *problem) {
    for (size_t i = 0; problem->kinds && i < problem->size; i++)
        if (problem->kinds[i] == RG_ROW_STATIC || problem->kinds[i] == RG_ROW_DYNAMIC)
            return true;
    return false;
}

static bool has_friction(const rg_contact_problem *problem) {
    for (size_t i = 0; problem->mu && problem->dimension > 1 && i < problem->contacts; i++)
        if (problem->mu[i] > 0)
            return true;
    return false;
}

static bool accepts(const rg_solver *solver, const rg_problem *problem) {
    if (problem->kind == RG_PROBLEM_LINEAR) {
        unsigned needed =
            has_friction_rows(&problem->linear) ? RG_ACCEPT_FRICTION : RG_ACCEPT_LINEAR;
        return (solver->accepts & needed) != 0;
    }
    const rg_contact_problem *contact = &problem->contact;
    unsigned form = contact->form == RG_FORM_LOCAL ? RG_ACCEPT_LOCAL : RG_ACCEPT_GLOBAL;
    bool polygon = contact->directions > 0 && contact->dimension == 3 && has_friction(contact);
    bool soft = contact->compliance != NULL && contact->joints > 0;
    return (solver->accepts & form) != 0 && (!soft || (solver->accepts & RG_ACCEPT_SOFT) != 0) &&
           (!polygon || (solver->accepts & RG_ACCEPT_POLYGON) != 0);
}

/* The first conversion on the way to what the solver takes; NONE if there is none. */
static rg_conversion_kind conversion_for(const rg_solver *solver, const rg_problem *problem) {
    if (problem->kind == RG_PROBLEM_LINEAR)
        return RG_CONVERT_NONE;
    const rg_contact_problem *contact = &problem->contact;
    bool friction = has_friction(contact), polygon = contact->directions > 0;
    if (contact->form == RG_FORM_GLOBAL && (solver->accepts & RG_ACCEPT_LOCAL) != 0 &&
        (!polygon || !friction || contact->dimension < 3 ||
         (solver->accepts & RG_ACCEPT_POLYGON) != 0))
        return RG_CONVERT_CONDENSE;
    if (!friction && solver == &rg_solver_dantzig && contact->form == RG_FORM_GLOBAL &&
        contact->joints == 0)
        return RG_CONVERT_ENTRIES;
    if (!friction && (solver->accepts & RG_ACCEPT_LINEAR) != 0)
        return RG_CONVERT_ROWS;
    if (friction && contact->dimension == 2 && (solver->accepts & RG_ACCEPT_FRICTION) != 0)
        return RG_CONVERT_ROWS;
    if (friction && (polygon || contact->dimension == 2) &&
        (solver->accepts & RG_ACCEPT_LINEAR) != 0)
        return RG_CONVERT_POLYGON;
    return RG_CONVERT_NONE;
}

static rg_status run_solver(rg_solve_context *context, const rg_solver *solver,
                            const rg_problem *problem, const rg_solve_settings *settings,
                            rg_solution *solution, rg_solve_report *report, rg_error *error) {
    if (accepts(solver, problem))
        return solver->solve(context, problem, settings, solution, report, error);
    rg_conversion_kind kind = conversion_for(solver, problem);
    if (kind == RG_CONVERT_NONE) {
        report->outcome = RG_SOLVE_UNSUITABLE;
        snprintf(report->text, sizeof report->text, "%s does not take problems of this kind",
                 solver->name);
        return RG_OK;
    }
    rg_conversion conversion;
    rg_status status = rg_convert(context, problem, kind, &conversion, error);
    if (status)
        return status;
    size_t rows = rg_problem_rows(&conversion.problem);
    rg_solution converted = {0};
    RG_TAKE(converted.force, context, rows, error);
    RG_TAKE(converted.velocity, context, rows, error);
    RG_TAKE(converted.ray, context, rows, error);
    for (size_t i = 0; i < rows; i++)
        converted.force[i] = converted.velocity[i] = converted.ray[i] = 0;
    if (settings->warm)
        rg_convert_force(&conversion, solution->force, converted.force);
    const rg_entries *outer = context->entries;
    context->entries = &conversion.entries;
    status = run_solver(context, solver, &conversion.problem, settings, &converted, report, error);
    context->entries = outer;
    rg_convert_back(&conversion, converted.force, solution->force);
    if (solution->ray)
        rg_convert_back(&conversion, converted.ray, solution->ray);
    return status;
}

void rg_solve_note(rg_solve_info *info, const rg_solve_attempt *attempt) {
    if (info->attempts < RG_SOLVE_CHAIN_MAX)
        info->chain[info->attempts] = *attempt;
    info->attempts++;
}

/* Who wins: the smaller residual; among equals (nothing found twice) the one tried first. */
static bool is_better(const rg_solve_info *info, const rg_residual *residual) {
    return info->solver == NULL || residual->natural < info->residual.natural;
}

rg_solve_outcome rg_solve_judged(rg_solve_outcome told, const rg_residual *residual, bool rounding,
                                 const rg_solve_settings *settings) {
    if (residual->natural <= settings->tolerance ||
        (rounding && residual->natural <= fmax(settings->acceptable, ROUNDED)))
        return RG_SOLVED;
    return told == RG_SOLVED ? RG_SOLVE_INEXACT : told;
}

rg_status rg_solve_attempt_run(rg_solve_context *context, const rg_solver *solver,
                               const rg_problem *problem, const rg_solve_settings *settings,
                               rg_solution *solution, rg_solve_attempt *attempt, rg_error *error) {
    if (rg_solve_stops(context))
        return rg_fail(error, RG_INTERRUPTED, "%s", rg_status_text(RG_INTERRUPTED));
    rg_solve_info *info = context->info;
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    size_t rows = rg_problem_rows(problem);
    rg_solution trial = {0};
    RG_TAKE(trial.force, context, rows, error);
    RG_TAKE(trial.velocity, context, rows, error);
    RG_TAKE(trial.ray, context, rows, error);
    for (size_t i = 0; i < rows; i++) {
        trial.force[i] = settings->warm ? solution->force[i] : 0;
        trial.velocity[i] = trial.ray[i] = 0;
    }
    rg_solve_report report = {0};
    double start = rg_clock();
    context->starved = false;
    rg_status status = run_solver(context, solver, problem, settings, &trial, &report, error);
    double seconds = rg_clock() - start;
    if (!status && rg_solve_stops(context))
        status = rg_fail(error, RG_INTERRUPTED, "%s", rg_status_text(RG_INTERRUPTED));
    if (!status && context->starved)
        status = rg_fail(error, RG_OUT_OF_MEMORY, "%s", rg_status_text(RG_OUT_OF_MEMORY));
    rg_residual residual = rg_residual_none();
    bool rounding = false;
    if (!status) {
        double enough = fmax(settings->tolerance, settings->acceptable);
        status =
            rg_judge_forces(problem, trial.force, enough, context, &residual, &rounding, error);
    }
    if (status) {
        rg_arena_return(&context->arena, mark);
        return status;
    }
    report.outcome = rg_solve_judged(report.outcome, &residual, rounding, settings);
    rg_solve_attempt result = {solver, report.outcome, report.iterations, residual.natural,
                               seconds};
    rg_solve_note(info, &result);
    info->iterations += report.iterations, info->factorisations += report.factorisations;
    info->seconds += seconds;
    bool proof = report.outcome == RG_SOLVE_RAY || report.outcome == RG_SOLVE_INFEASIBLE;
    if (is_better(info, &residual)) {
        info->solver = solver, info->residual = residual, info->outcome = report.outcome;
        memcpy(info->text, report.text, sizeof info->text);
        memcpy(solution->force, trial.force, rows * sizeof *trial.force);
        if (proof && solution->ray)
            memcpy(solution->ray, trial.ray, rows * sizeof *trial.ray);
    }
    if (attempt)
        *attempt = result;
    rg_arena_return(&context->arena, mark);
    return RG_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

static rg_status check_settings(const rg_solve_settings *settings, rg_error *error) {
    if (settings->tolerance > 0 && settings->tolerance < 1)
        return RG_OK;
    return rg_fail(error, RG_INVALID_ARGUMENT, "tolerance %g; it must lie between 0 and 1",
                   settings->tolerance);
}

rg_status rg_solve_connected(rg_solve_context *context, const rg_solver *solver,
                             const rg_problem *problem, const rg_solve_settings *settings,
                             rg_solution *solution, rg_error *error) {
    rg_solve_report report = {0};
    if (solver != &rg_solver_auto)
        return rg_solve_attempt_run(context, solver, problem, settings, solution, NULL, error);
    return solver->solve(context, problem, settings, solution, &report, error);
}

/* Which way: by Loetstedt's law, island by island, or as it is. */
static rg_status solve_checked(rg_solve_context *context, const rg_solver *solver,
                               const rg_problem *problem, const rg_solve_settings *settings,
                               rg_solution *solution, rg_error *error) {
    bool law = settings->friction_law == RG_FRICTION_LOTSTEDT && rg_lotstedt_applies(problem);
    rg_split split = {0};
    rg_status status = RG_OK;
    if (!law && problem->kind == RG_PROBLEM_CONTACT && !problem->connected)
        status = rg_split_find(&split, &context->arena, problem);
    if (status)
        return rg_fail(error, status, "%s", rg_status_text(status));
    if (split.islands.count > 1)
        return rg_solve_islands(context, solver, &split, settings, solution, error);
    if (law)
        status =
            rg_lotstedt_solve(context, solver, problem, settings, solution, context->info, error);
    else
        status = rg_solve_connected(context, solver, problem, settings, solution, error);
    if (status || !solution->velocity)
        return status;
    rg_allocator in_arena = rg_solve_arena_allocator(context);
    return rg_judge_velocity(problem, solution->force, &in_arena, solution->velocity, error);
}

static rg_status solve_all(rg_solve_context *context, const rg_solver *solver,
                           const rg_problem *problem, const rg_solve_settings *settings,
                           rg_solution *solution, rg_solve_info *info, rg_error *error) {
    rg_solve_settings defaults = rg_solve_settings_default();
    if (!settings)
        settings = &defaults;
    rg_solve_info own;
    info = info ? info : &own;
    *info = rg_solve_info_none();
    rg_status status = check_settings(settings, error);
    if (status)
        return status;
    rg_solve_info *outer = context->info;
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    context->info = info, context->depth++;
    status = solve_checked(context, solver, problem, settings, solution, error);
    context->info = outer, context->depth--;
    if (context->depth == 0)
        rg_arena_reset(&context->arena);
    else
        rg_arena_return(&context->arena, mark);
    return status;
}

rg_status rg_solve(rg_solve_context *context, const rg_solver *solver, const rg_problem *problem,
                   const rg_solve_settings *settings, rg_solution *solution, rg_solve_info *info,
                   rg_error *error) {
    assert(context && solver && problem && solution && solution->force);
    if (info)
        *info = rg_solve_info_none();
    rg_status status = rg_problem_check(problem, error);
    return status ? status : solve_all(context, solver, problem, settings, solution, info, error);
}

rg_status rg_solve_made(rg_solve_context *context, const rg_solver *solver,
                        const rg_problem *problem, const rg_solve_settings *settings,
                        rg_solution *solution, rg_solve_info *info, rg_error *error) {
    rg_status status = rg_problem_check_made(problem, error);
    return status ? status : solve_all(context, solver, problem, settings, solution, info, error);
}
