/* The solver that chooses: by kind, size and structure of the problem a list of solvers to try, in
 * order, until the judge is content.
 *
 * There is no universal solver of contact problems (Acary, Bremond and Huber 2018 compare a dozen
 * on thousands). Pivoting is exact and quick on small and on frictionless problems; the interior
 * point needs few steps where it succeeds, with little friction always; the path that Newton's
 * method follows is longer but leads through more; first-order methods are slow but hardly ever
 * diverge. The lists below put first what is fastest where it works, and last what always gets
 * somewhere:
 *
 *   rows, symmetric        dantzig, qp, lemke, enumerate, gauss-seidel
 *   rows, not symmetric    lemke, enumerate, gauss-seidel
 *   rows with friction     (few modes: enumerate,) dantzig, lemke, enumerate, gauss-seidel
 *   contacts, frictionless few: dantzig, interior-point, newton, lemke, gauss-seidel
 *                          many: interior-point, newton, dantzig, admm, gauss-seidel
 *   contacts in the plane  few: (few modes: enumerate,) dantzig, lemke, newton, gauss-seidel
 *                          many: as in space, lemke before admm
 *   contacts in space      gauss-seidel (a few sweeps; more if they promise to be enough),
 *                          interior-point, newton, admm, gauss-seidel, widen (few contacts)
 *   polygons in space      few: lemke, gauss-seidel; many: gauss-seidel, lemke
 *
 * First of all the forces given for a warm start are looked at: if they pass, nothing is run; if they
 * are near, a few Newton steps from them are tried.
 * The islands of a contact problem come here one by one (solve_islands.c). Every attempt is judged
 * and noted in the info; the answer is the best that was found, with its honest residual. A proof
 * that there is no solution ends the list; a ray does so at its end.
 *
 * Where friction leaves several solutions (Painleve), the policy can only be followed if all are
 * known: problems with up to POLICY_MODES modes are enumerated first. Larger ones get the solution
 * that is found. */
#include "base/base_math.h"
#include "problem/problem.h"
#include "solve/solve.h"
#include "solve/solve_mend.h"
#include "solve/solve_polish.h"
#include "solve/solve_widen.h"

#include <stdio.h>
#include <string.h>

/* Sizes up to which a solver goes first. Time of pivoting grows with the cube of the rows, and it
 * needs the matrix as a dense one. */
enum {
    SMALL_ROWS = 300,     /* frictionless: dantzig before newton */
    PLANAR_CONTACTS = 30, /* with friction in the plane: dantzig before the cone solvers */
    PLANAR_LEMKE = 400,   /* lemke, which solves them all but takes its time, before admm */
    FRICTION_PIVOTS = 10, /* per row, for dantzig with friction: where it succeeds it needs fewer */
    POLYGON_PAIRS = 1200, /* contacts times directions, for lemke */
    POLICY_MODES = 64,    /* of friction, tried all before anything else */
    FIRST_SWEEPS = 20,    /* of gauss-seidel: enough to see whether the problem is easy */
    MORE_SWEEPS = 100,    /* in all, if they promise to be enough */
    POLISH_STEPS = 6,     /* of Newton, from a warm start that is near */
    MEND_CONTACTS = 500,  /* beyond which such a start is mended as well ... */
    MEND_BUDGET = 30      /* ... for so many factorisations */
};
/* Residual of a warm start from which Newton's method is tried at once. */
#define POLISH_NEAR 0.1

/* --- one step down the list ------------------------------------------------------------------- */

typedef struct plan {
    const rg_solver *solver;
    uint32_t limit; /* of iterations; 0: the solver's own */
    bool from_best; /* starts from the best forces so far */
    bool quick;     /* only a start: that it is not enough is no failure */
} plan;

/* A list being worked through on one problem. */
typedef struct chain {
    rg_solve_context *context;
    const rg_problem *problem;
    const rg_solve_settings *settings;
    size_t rows;
    double *force, *ray;             /* the best so far; the last proof's ray */
    double *trial_force, *trial_ray; /* of the attempt */
    rg_solve_info info;              /* of this problem */
    rg_solve_outcome proof;          /* RAY, INFEASIBLE, or SOLVED: none */
    char proof_text[RG_SOLVE_TEXT_SIZE];
    uint32_t full; /* solvers that were given every chance */
    bool started;  /* there are forces to start from */
    bool done;
} chain;

static rg_status keep_forces(rg_solve_context *context, const rg_problem *problem,
                             const rg_solve_settings *settings, rg_solution *solution,
                             rg_solve_report *report, rg_error *error) {
    (void)context, (void)problem, (void)settings, (void)solution, (void)error;
    report->outcome = RG_SOLVED;
    return RG_OK;
}

/* Changes nothing: the forces of the warm start, to be judged. */
static const rg_solver warm_start = {"warm-start", "the forces that were given",
                                     RG_ACCEPT_LINEAR | RG_ACCEPT_FRICTION | RG_ACCEPT_LOCAL |
                                         RG_ACCEPT_GLOBAL | RG_ACCEPT_POLYGON,
                                     keep_forces};

/* A few Newton steps from the forces that were given: what a step of a simulation needs whose
 * problem is nearly the last one's. Large problems are mended where that is not enough. */
static rg_status polish_forces(rg_solve_context *context, const rg_problem *problem,
                               const rg_solve_settings *settings, rg_solution *solution,
                               rg_solve_report *report, rg_error *error) {
    rg_system system;
    rg_polish polish;
    rg_status status = rg_system_prepare(&system, context, problem, error);
    if (!status)
        status = rg_polish_create(&polish, &system, context, error);
    if (status)
        return status;
    rg_polish_offer(&polish, solution->force);
    bool solved = rg_polish_run(&polish, settings->tolerance, POLISH_STEPS, false);
    if (!solved && system.contacts > MEND_CONTACTS && polish.best_residual > settings->acceptable) {
        rg_mend mend;
        rg_mend_aim aim = {settings->tolerance, settings->acceptable, MEND_BUDGET};
        status = rg_mend_create(&mend, &system, context, problem, error);
        if (!status)
            status = rg_mend_run(&mend, polish.best, aim, &polish.best_residual, error);
        if (status)
            return status;
        solved = polish.best_residual <= settings->tolerance;
        polish.iterations += mend.iterations, polish.factorisations += (uint64_t)mend.work;
    }
    memcpy(solution->force, polish.best, system.rows * sizeof *polish.best);
    report->outcome = solved ? RG_SOLVED : RG_SOLVE_LIMIT;
    report->iterations = polish.iterations, report->factorisations = polish.factorisations;
    return RG_OK;
}

static const rg_solver warm_polish = {"warm-polish", "Newton steps from the forces that were given",
                                      RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL, polish_forces};

static rg_status chain_make(chain *c, rg_solve_context *context, const rg_problem *problem,
                            const rg_solve_settings *settings, rg_error *error) {
    memset(c, 0, sizeof *c);
    c->context = context, c->problem = problem, c->settings = settings;
    c->rows = rg_problem_rows(problem);
    RG_TAKE(c->force, context, c->rows, error);
    RG_TAKE(c->ray, context, c->rows, error);
    RG_TAKE(c->trial_force, context, c->rows, error);
    RG_TAKE(c->trial_ray, context, c->rows, error);
    memset(c->force, 0, c->rows * sizeof *c->force);
    memset(c->ray, 0, c->rows * sizeof *c->ray);
    return RG_OK;
}

static void adopt(chain *c, const rg_solve_info *one) {
    c->info.solver = one->solver, c->info.residual = one->residual;
    c->info.outcome = one->outcome;
    memcpy(c->info.text, one->text, sizeof c->info.text);
    memcpy(c->force, c->trial_force, c->rows * sizeof *c->force);
}

static bool is_zero(size_t count, const double *x) {
    for (size_t i = 0; i < count; i++)
        if (x[i] != 0)
            return false;
    return true;
}

/* INFEASIBLE is a proof, a RAY less than that. An enumeration proves without a vector: whoever has
 * one may add it. */
static void remember_proof(chain *c, const rg_solve_info *one) {
    bool stronger = c->proof != RG_SOLVE_INFEASIBLE;
    if (stronger) {
        c->proof = one->outcome;
        memcpy(c->proof_text, one->text, sizeof c->proof_text);
    }
    if ((stronger || is_zero(c->rows, c->ray)) && !is_zero(c->rows, c->trial_ray))
        memcpy(c->ray, c->trial_ray, c->rows * sizeof *c->ray);
}

/* Runs one solver, has it judged, and keeps what is better. A solver that does not take the problem
 * leaves no trace. */
static rg_status try_one(chain *c, const plan *p, rg_error *error) {
    rg_solve_settings settings = *c->settings;
    uint64_t spent = c->info.factorisations, limit = p->limit;
    if (p->solver == &rg_solver_newton && settings.effort) /* the one that may go on for long */
        limit = settings.effort > spent ? settings.effort - spent : 1;
    if (limit && (!settings.iteration_limit || limit < settings.iteration_limit))
        settings.iteration_limit = (uint32_t)limit;
    settings.warm = p->from_best && c->started;
    memcpy(c->trial_force, c->force, c->rows * sizeof *c->force);
    memset(c->trial_ray, 0, c->rows * sizeof *c->trial_ray);
    rg_solve_info one = {0}, *outer = c->context->info;
    rg_solution trial = {.force = c->trial_force, .ray = c->trial_ray};
    c->context->info = &one;
    rg_status status =
        rg_solve_attempt_run(c->context, p->solver, c->problem, &settings, &trial, NULL, error);
    c->context->info = outer;
    if (status || one.outcome == RG_SOLVE_UNSUITABLE)
        return status;
    rg_solve_note(&c->info, &one.chain[0]);
    if (!p->quick && c->full++ > 0)
        c->info.fallbacks++;
    c->info.iterations += one.iterations, c->info.factorisations += one.factorisations;
    c->info.seconds += one.seconds;
    if (!c->info.solver || one.residual.natural < c->info.residual.natural)
        adopt(c, &one);
    c->started = true;
    if (one.outcome == RG_SOLVE_RAY || one.outcome == RG_SOLVE_INFEASIBLE)
        remember_proof(c, &one);
    c->done = c->info.outcome == RG_SOLVED || c->proof == RG_SOLVE_INFEASIBLE;
    return RG_OK;
}

static rg_status try_list(chain *c, const plan *list, size_t count, rg_error *error) {
    for (size_t i = 0; i < count; i++) {
        uint32_t effort = c->settings->effort;
        bool spent = effort && c->info.factorisations >= effort;
        c->done = c->done || (c->info.solver &&
                              (spent || c->info.residual.natural <= c->settings->acceptable));
        if (c->done)
            break;
        rg_status status = try_one(c, &list[i], error);
        if (status)
            return status;
    }
    return RG_OK;
}

#define TRY_LIST(c, list, error) try_list((c), (list), sizeof(list) / sizeof *(list), (error))

/* --- which list ------------------------------------------------------------------------------- */

static const plan convex_rows[] = {{&rg_solver_dantzig, 0, true, false},
                                   {&rg_solver_qp, 0, false, false},
                                   {&rg_solver_lemke, 0, false, false},
                                   {&rg_solver_enumerate, 0, false, false},
                                   {&rg_solver_gauss_seidel, 0, true, false}};
static const plan general_rows[] = {{&rg_solver_lemke, 0, false, false},
                                    {&rg_solver_enumerate, 0, false, false},
                                    {&rg_solver_gauss_seidel, 0, true, false}};
static const plan friction_rows[] = {{&rg_solver_lemke, 0, false, false},
                                     {&rg_solver_enumerate, 0, false, false},
                                     {&rg_solver_gauss_seidel, 0, true, false}};
static const plan few_frictionless[] = {{&rg_solver_dantzig, 0, true, false},
                                        {&rg_solver_interior_point, 0, false, false},
                                        {&rg_solver_newton, 0, true, false},
                                        {&rg_solver_lemke, 0, false, false},
                                        {&rg_solver_gauss_seidel, 0, true, false}};
static const plan many_frictionless[] = {{&rg_solver_interior_point, 0, true, false},
                                         {&rg_solver_newton, 0, true, false},
                                         {&rg_solver_dantzig, 0, false, false},
                                         {&rg_solver_admm, 0, true, false},
                                         {&rg_solver_gauss_seidel, 0, true, false}};
static const plan few_planar[] = {{&rg_solver_lemke, 0, false, false},
                                  {&rg_solver_newton, 0, true, false},
                                  {&rg_solver_gauss_seidel, 0, true, false}};
static const plan first_sweeps = {&rg_solver_gauss_seidel, FIRST_SWEEPS, true, true};
static const plan cones[] = {{&rg_solver_interior_point, 0, true, false},
                             {&rg_solver_newton, 0, true, false}};
static const plan last_cones[] = {{&rg_solver_admm, 0, true, false},
                                  {&rg_solver_gauss_seidel, 0, true, false}};
static const plan last_planar[] = {{&rg_solver_lemke, 0, false, false},
                                   {&rg_solver_admm, 0, true, false},
                                   {&rg_solver_gauss_seidel, 0, true, false}};
static const plan last_widened[] = {{&rg_solver_widen, 0, true, false}};
static const plan few_polygons[] = {{&rg_solver_lemke, 0, false, false},
                                    {&rg_solver_gauss_seidel, 0, true, false}};
static const plan many_polygons[] = {{&rg_solver_gauss_seidel, 0, true, false},
                                     {&rg_solver_lemke, 0, false, false}};
static const plan all_modes = {&rg_solver_enumerate, 0, false, false};
static const plan look_first = {&warm_start, 0, true, true};
static const plan polish_next = {&warm_polish, 0, true, true};

static bool has_friction(const rg_contact_problem *p) {
    for (size_t i = 0; p->mu && p->dimension > 1 && i < p->contacts; i++)
        if (p->mu[i] > 0)
            return true;
    return false;
}

/* Modes to be told apart, counted up to POLICY_MODES + 1; 0: nothing to choose by a policy. */
static size_t count_modes(const rg_linear_problem *p) {
    size_t modes = 1;
    bool friction = false;
    for (size_t i = 0; i < p->size && modes <= POLICY_MODES; i++) {
        rg_row_kind kind = rg_row_kind_at(p, i);
        if (kind == RG_ROW_STATIC || kind == RG_ROW_DYNAMIC)
            friction = true;
        if (kind == RG_ROW_BOUNDED)
            modes *= 3;
        if (kind != RG_ROW_UNILATERAL)
            continue;
        size_t closed = 1;
        for (size_t j = 0; j < p->size && closed <= POLICY_MODES; j++)
            if (rg_row_kind_at(p, j) == RG_ROW_STATIC && p->normal[j] == i)
                closed *= 3;
        modes *= 1 + closed;
    }
    return friction ? modes : 0;
}

static size_t count_planar_modes(const rg_contact_problem *p) {
    size_t modes = 1;
    for (size_t i = 0; i < p->contacts && modes <= POLICY_MODES; i++)
        modes *= p->mu[i] > 0 ? 4 : 2;
    for (size_t j = 0; j < p->joints && p->lower && p->upper && modes <= POLICY_MODES; j++)
        modes *= 3;
    return modes;
}

/* With friction, from nothing or the warm start; it may cycle, and is not waited for. */
static rg_status try_dantzig(chain *c, size_t rows, rg_error *error) {
    uint32_t limit = rows < UINT32_MAX / 64 ? (uint32_t)(FRICTION_PIVOTS * (rows + 10)) : 0;
    plan p = {&rg_solver_dantzig, limit, c->settings->warm, false};
    return try_one(c, &p, error);
}

static rg_status solve_rows(chain *c, rg_error *error) {
    const rg_linear_problem *p = &c->problem->linear;
    bool friction = false;
    for (size_t i = 0; i < p->size; i++) {
        rg_row_kind kind = rg_row_kind_at(p, i);
        friction |= kind == RG_ROW_STATIC || kind == RG_ROW_DYNAMIC;
    }
    if (!friction)
        return rg_linear_is_symmetric(p) ? TRY_LIST(c, convex_rows, error)
                                         : TRY_LIST(c, general_rows, error);
    size_t modes = count_modes(p);
    rg_status status = RG_OK;
    if (modes > 0 && modes <= POLICY_MODES)
        status = try_one(c, &all_modes, error);
    /* Enumeration may prove that there is nothing; where an impulse would point, pivoting knows. */
    if (!status && (!c->done || c->proof == RG_SOLVE_INFEASIBLE))
        status = try_dantzig(c, p->size, error);
    return status || c->done ? status : TRY_LIST(c, friction_rows, error);
}

/* Sweeps first: they are cheap, and good starts. If the residual falls so fast that a few more
 * should do, they get the chance: as many as the rate so far says, and half as many again. */
static rg_status solve_cones(chain *c, rg_error *error) {
    rg_status status = RG_OK;
    if (c->started && c->info.residual.natural <= POLISH_NEAR)
        status = try_one(c, &polish_next, error);
    if (!status && !c->done)
        status = try_one(c, &first_sweeps, error);
    if (status || c->done)
        return status;
    double needed = 0, gained = 0; /* powers of two */
    for (double r = c->settings->tolerance; r < 1; r *= 2)
        needed++;
    for (double r = c->info.residual.natural; r < 1; r *= 2)
        gained++;
    double sweeps = gained > 0 ? 1.5 * FIRST_SWEEPS * needed / gained : INFINITY;
    if (sweeps <= MORE_SWEEPS) {
        plan more = {&rg_solver_gauss_seidel, (uint32_t)sweeps - FIRST_SWEEPS, true, true};
        status = try_one(c, &more, error);
    }
    if (!status && !c->done)
        status = TRY_LIST(c, cones, error);
    if (status || c->done)
        return status;
    const rg_contact_problem *p = &c->problem->contact;
    status = p->dimension == 2 && p->contacts <= PLANAR_LEMKE ? TRY_LIST(c, last_planar, error)
                                                              : TRY_LIST(c, last_cones, error);
    return status || c->done ? status : TRY_LIST(c, last_widened, error);
}

static rg_status solve_contacts(chain *c, rg_error *error) {
    const rg_contact_problem *p = &c->problem->contact;
    if (!has_friction(p))
        return p->contacts + p->joints <= SMALL_ROWS ? TRY_LIST(c, few_frictionless, error)
                                                     : TRY_LIST(c, many_frictionless, error);
    if (p->dimension == 3 && p->directions > 0)
        return p->contacts * (size_t)p->directions <= POLYGON_PAIRS
                   ? TRY_LIST(c, few_polygons, error)
                   : TRY_LIST(c, many_polygons, error);
    if (p->dimension == 2 && p->contacts <= PLANAR_CONTACTS) {
        rg_status status = RG_OK;
        if (count_planar_modes(p) <= POLICY_MODES)
            status = try_one(c, &all_modes, error);
        if (!status && !c->done)
            status = try_dantzig(c, c->rows, error);
        if (!status && !c->done)
            status = TRY_LIST(c, few_planar, error);
        if (status || c->done)
            return status;
    }
    return solve_cones(c, error);
}

/* --- the table of contents -------------------------------------------------------------------- */

/* One attempt that worked needs no words; more are told. */
static void tell_chain(rg_solve_info *info) {
    if (info->outcome != RG_SOLVED || info->attempts < 2)
        return;
    size_t used = 0;
    for (uint32_t i = 0; i < info->attempts && i < RG_SOLVE_CHAIN_MAX; i++) {
        int length =
            snprintf(info->text + used, sizeof info->text - used, "%s%s %s", i ? ", then " : "",
                     info->chain[i].solver->name, rg_solve_outcome_name(info->chain[i].outcome));
        used += length > 0 ? (size_t)length : 0;
        if (used >= sizeof info->text)
            break;
    }
}

static rg_status solve_auto(rg_solve_context *context, const rg_problem *problem,
                            const rg_solve_settings *settings, rg_solution *solution,
                            rg_solve_report *report, rg_error *error) {
    chain c;
    rg_solve_info *info = context->info;
    rg_status status = chain_make(&c, context, problem, settings, error);
    if (status)
        return status;
    if (settings->warm) {
        memcpy(c.force, solution->force, c.rows * sizeof *c.force);
        c.started = true;
        status = try_one(&c, &look_first, error);
    }
    if (!status && !c.done)
        status =
            problem->kind == RG_PROBLEM_LINEAR ? solve_rows(&c, error) : solve_contacts(&c, error);
    if (status)
        return status;
    memcpy(solution->force, c.force, c.rows * sizeof *c.force);
    if (c.info.outcome != RG_SOLVED && c.proof != RG_SOLVED) {
        c.info.outcome = c.proof;
        if (c.proof_text[0])
            memcpy(c.info.text, c.proof_text, sizeof c.info.text);
        if (solution->ray)
            memcpy(solution->ray, c.ray, c.rows * sizeof *c.ray);
    }
    tell_chain(&c.info);
    *info = c.info;
    report->outcome = info->outcome;
    report->iterations = info->iterations;
    return RG_OK;
}

const rg_solver rg_solver_auto = {
    "auto", "chooses by kind, size and structure, island by island, and falls back down a list",
    RG_ACCEPT_LINEAR | RG_ACCEPT_FRICTION | RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL | RG_ACCEPT_POLYGON,
    solve_auto};
