/* The solver that chooses: one list of attempts, worked down until the judge is content. Each
 * attempt says for which problems it is (kind, size, structure); the list below is in the order in
 * which they are tried, first what is fastest where it works.
 *
 * There is no universal solver of contact problems (Acary, Bremond and Huber 2018 compare a dozen
 * on thousands). Pivoting is exact and quick on small and on frictionless problems; the interior
 * point needs few steps where it succeeds, with little friction always; the path that Newton's
 * method follows is longer but leads through more. What is in the list has solved problems that
 * nothing before it solved, in simulations, random scenes or problem files; docs/solvers.md has the
 * counts. qp, admm and the first-order method run to its end never did, and are left to be
 * chosen by name.
 *
 * First of all the forces given for a warm start are looked at: if they pass, nothing is run. In a
 * simulation (settings.acceptable) they must be exact up to rounding: forces that are taken over
 * within a tolerance leave a velocity of that size, which the next steps take back and make again,
 * so that bodies at rest would never come to rest and be solved for ever; unless the caller takes
 * care of that (settings.keep). Otherwise few contacts without friction are pivoted, over their
 * normals alone; else Newton's method on the closed contacts starts from the forces and, where it
 * stops and there is no budget, the interior point over the contacts that matter (solve_active.c,
 * solve_active_repair.c). The islands of a contact problem come here one by one
 * (solve_islands.c). Every attempt is judged and noted in the info; the answer is the best that
 * was found, with its honest residual. A proof that there is no solution ends the list; a ray does
 * so at its end.
 *
 * The budget is counted in factorisations (settings.effort), which do not depend on the machine.
 * Within a budget what takes long and seldom helps (newton, widen) is not tried.
 *
 * Where friction leaves several solutions (Painleve), the policy can only be followed if all are
 * known: problems with up to POLICY_MODES modes are enumerated first. Larger ones get the solution
 * that is found. */
#include "base/base_math.h"
#include "problem/problem.h"
#include "solve/solve.h"
#include "solve/solve_active.h"
#include "solve/solve_one_contact.h"
#include "solve/solve_polish.h"
#include "solve/solve_tree.h"
#include "solve/solve_widen.h"

#include <stdio.h>
#include <string.h>

/* Sizes up to which a solver goes first. Time of pivoting grows with the cube of the rows, and it
 * needs the matrix as a dense one. */
enum {
    SMALL_ROWS = 400,     /* frictionless: dantzig before all others */
    PLANAR_CONTACTS = 30, /* with friction in the plane: dantzig before the cone solvers */
    PLANAR_LEMKE = 400,   /* in the plane: lemke at the end, which takes its time */
    FRICTION_PIVOTS = 10, /* per row, for dantzig with friction: where it succeeds it needs fewer */
    POLYGON_PAIRS = 1200, /* contacts times directions, for lemke */
    POLICY_MODES = 64,    /* of friction, tried all before anything else */
    FIRST_SWEEPS = 20,    /* of gauss-seidel: enough to see whether the problem is easy */
    POLISH_STEPS = 6,
    FEW_CONTACTS = 8,     /* of one body: whether one of them carries it is tried first */
    STAND_CONTACTS = 400, /* from so many on; fewer are swept, and solved as a whole */
    STAND_STEPS = 20,     /* factorisations; what stands needs 4 to 16 */
    STAND_IDLE = 6,       /* of them without the residual halved */
    MORE_SWEEPS = 100     /* in all, if they promise to be enough */
};
/* Residual from which forces are near. */
#define POLISH_NEAR 0.1
/* Shares of what is acceptable that Newton on the closed contacts ends with, and aims at: its own
 * residual is in plain doubles and the judge's is not. */
#define ACCEPTED 0.9
#define AIMED    0.5
/* What stands: a contact opens by itself at more than this times the scale; is pressed at first by
 * so much as stops so many times the scale (1 takes half as long again, in a pyramid of 210 boxes,
 * and 10 twice as long); the share of friction that is used until the residual is near; and the
 * residual that is aimed at. Factorisations for pyramids of 210 / 820 / 1,830 / 3,240 boxes and
 * walls of 320 / 600: 6 / 7 / 7 / 8 and 10 / 9; with a share of 0.9 6 / 6 / 8 / 9 and 7 / 9, of 0.8
 * 6 / 7 / 11 / 15 and 13 / 11; near at 1e-3 6 / 7 / 8 / 9 and 11 / 9, at 3e-2 7 / 6 / 7 / 8 and
 * 8 / 9; pressed by 2 6 / 8 / 8 / 8 and 11 / 10, by 5 6 / 8 / 8 / 8 and 10 / 8. */
#define STAND_OPENS    0.01
#define STAND_PRESSED  3.0
#define STAND_FRICTION 0.95
#define STAND_NEAR     1e-2
#define STAND_AIM      1e-10

/* --- one attempt ------------------------------------------------------------------------------ */

/* A list being worked through on one problem. */
typedef struct chain {
    rg_solve_context *context;
    const rg_problem *problem;
    const rg_solve_settings *settings;
    size_t rows;
    double *force, *ray;             /* the best so far, the caller's; the last proof's ray */
    double *trial_force, *trial_ray; /* of the attempt */
    rg_solve_info info;              /* of this problem */
    rg_solve_outcome proof;          /* RAY, INFEASIBLE, or SOLVED: none */
    char proof_text[RG_SOLVE_TEXT_SIZE];
    unsigned class; /* of the problem: one of the bits below */
    uint32_t full;  /* solvers that ran to their end */
    bool started;   /* there are forces to start from */
    bool has_ray;   /* `ray` is one */
    bool done;
} chain;

typedef enum start_kind {
    FROM_NOTHING,
    FROM_GIVEN, /* the best so far, if the caller gave a warm start */
    FROM_BEST   /* the best so far */
} start_kind;

/* A line of the list. */
typedef struct attempt {
    unsigned classes; /* of problems that it is for */
    const rg_solver *solver;
    start_kind start;
    bool quick;  /* only a start: that it is not enough is no failure */
    bool always; /* also where the best so far is acceptable, for the tolerance's sake */
    /* Iterations; 0: the solver's own limit, NEVER: not this time. Null: 0. */
    uint32_t (*limit)(const chain *c);
} attempt;

#define NEVER UINT32_MAX

/* The forces of the warm start: judged where they are, by judge_given. */
static const rg_solver warm_start = {"warm-start", "the forces that were given", 0, NULL};

/* Newton on the closed contacts: where it starts from and what it aims at. */
typedef rg_status run_active(rg_active *active, const rg_problem *problem,
                             const rg_solve_settings *settings, const rg_solution *start,
                             rg_error *error);

static rg_status solve_active(rg_solve_context *context, const rg_problem *problem,
                              const rg_solve_settings *settings, rg_solution *solution,
                              rg_solve_report *report, run_active *run, rg_error *error) {
    rg_system system;
    rg_active active;
    if (!rg_active_takes(problem)) {
        report->outcome = RG_SOLVE_UNSUITABLE;
        return RG_OK;
    }
    rg_status status = rg_system_prepare(&system, context, problem, error);
    if (!status)
        status = rg_active_create(&active, &system, context, error);
    if (status)
        return status;
    status = run(&active, problem, settings, solution, error);
    memcpy(solution->force, active.best, system.rows * sizeof *active.best);
    report->outcome = active.best_residual <= settings->tolerance ? RG_SOLVED : RG_SOLVE_LIMIT;
    report->iterations = report->factorisations = active.factorisations;
    return status;
}

/* One body with a few contacts of which one carries it, as when it rolls from one face to the next:
 * the contact that closes fastest is solved as if there were no others, exactly. True if the rest
 * then opens; otherwise the forces stay as they were. */
static bool press_one(rg_active *active, const rg_problem *problem, double tolerance) {
    const rg_system *s = active->system;
    size_t d = (size_t)s->dimension, first = 0;
    double given[FEW_CONTACTS * 3], q[3] = {0}, r[3];
    if (problem->contact.global.blocks != 1 || s->joints > 0 || s->contacts < 2 ||
        s->contacts > FEW_CONTACTS)
        return false;
    for (size_t i = 1; i < s->contacts; i++)
        if (s->free[i * d] < s->free[first * d])
            first = i;
    rg_one_contact one;
    rg_one_contact_prepare(&one, s->dimension, s->diagonal + first * d * d, s->mu[first], 0);
    memcpy(q, s->free + first * d, d * sizeof *q);
    if (rg_one_contact_solve(&one, q, NULL, r) == RG_ONE_CONTACT_STUCK_BY_FORCE)
        return false;
    memcpy(given, active->force, s->rows * sizeof *given);
    memset(active->force, 0, s->rows * sizeof *given);
    memcpy(active->force + first * d, r, d * sizeof *r);
    rg_active_look(active);
    if (!(active->residual <= tolerance)) {
        memcpy(active->force, given, s->rows * sizeof *given);
        return false;
    }
    memcpy(active->best, active->force, s->rows * sizeof *given);
    active->best_residual = active->residual;
    return true;
}

/* From the forces that were given: what a step of a simulation needs, whose problem is nearly the
 * last one's. */
static rg_status run_warm(rg_active *active, const rg_problem *problem,
                          const rg_solve_settings *settings, const rg_solution *start,
                          rg_error *error) {
    memcpy(active->force, start->force, active->system->rows * sizeof *active->force);
    double acceptable = ACCEPTED * settings->acceptable;
    rg_active_bound bound = {fmax(settings->tolerance, AIMED * acceptable), acceptable,
                             settings->effort};
    return press_one(active, problem, bound.tolerance)
               ? RG_OK
               : rg_active_solve(active, problem, bound, error);
}

static rg_status newton_forces(rg_solve_context *context, const rg_problem *problem,
                               const rg_solve_settings *settings, rg_solution *solution,
                               rg_solve_report *report, rg_error *error) {
    return solve_active(context, problem, settings, solution, report, run_warm, error);
}

static const rg_solver warm_newton = {"warm-newton", "Newton on the closed contacts",
                                      RG_ACCEPT_GLOBAL | RG_ACCEPT_SOFT, newton_forces};

/* The same for what stands and has no forces yet: every contact that does not open by itself is
 * pressed, so that all of them stick at first, and Newton's method lets go of those that pull. From
 * nothing only those at the ground would be closed, and the modes would go up layer by layer.
 *
 * At first with a little less friction than there is. Newton's method puts forces that are too
 * slanted onto the boundary of the cone; in a stack that stands these contacts do not slip, and
 * whether they stick or slip is then a matter of rounding: of 16 steps for 1,830 boxes the last ten
 * did nothing else. Forces on the boundary of a smaller cone stick without doubt, and one step with
 * the friction that there is ends nearly exact, whatever is asked for: what rests then passes the
 * next steps untouched.
 *
 * And by the associated law of friction. Where nothing moves it has the same answers, and its
 * matrix is symmetric, which halves the work: 1,830 boxes take 0.26 s instead of 0.39. */
static rg_status run_standing(rg_active *active, const rg_problem *problem,
                              const rg_solve_settings *settings, const rg_solution *start,
                              rg_error *error) {
    (void)settings, (void)start, (void)error;
    const rg_system *system = active->system;
    size_t d = (size_t)system->dimension;
    for (size_t i = 0; i < system->contacts; i++)
        if (system->free[i * d] <= STAND_OPENS * system->scale)
            active->force[i * d] = STAND_PRESSED * system->rho[i] * system->scale;
    for (size_t i = 0; i < system->contacts; i++)
        system->mu[i] *= STAND_FRICTION;
    active->associated = true;
    rg_status status = rg_active_run(active, (rg_active_aim){STAND_NEAR, STAND_STEPS, STAND_IDLE});
    active->associated = false;
    for (size_t i = 0; i < system->contacts; i++)
        system->mu[i] = d > 1 && problem->contact.mu ? problem->contact.mu[i] : 0;
    if (status)
        return status;
    return rg_active_run(active, (rg_active_aim){STAND_AIM, STAND_STEPS, STAND_IDLE});
}

static rg_status stand_forces(rg_solve_context *context, const rg_problem *problem,
                              const rg_solve_settings *settings, rg_solution *solution,
                              rg_solve_report *report, rg_error *error) {
    return solve_active(context, problem, settings, solution, report, run_standing, error);
}

static const rg_solver stand = {"stand", "Newton with all contacts closed at first",
                                RG_ACCEPT_GLOBAL | RG_ACCEPT_SOFT, stand_forces};

/* The same for problems in local form, which have no bodies: Newton steps over all contacts, from
 * forces that are near. In the plane pivoting may leave such. */
static rg_status polish_forces(rg_solve_context *context, const rg_problem *problem,
                               const rg_solve_settings *settings, rg_solution *solution,
                               rg_solve_report *report, rg_error *error) {
    rg_system system;
    rg_polish polish;
    rg_status status = rg_polish_prepare(&polish, &system, context, problem, error);
    if (status)
        return status;
    rg_polish_offer(&polish, solution->force);
    bool solved = rg_polish_run(&polish, settings->tolerance, POLISH_STEPS, false);
    memcpy(solution->force, polish.best, system.rows * sizeof *polish.best);
    report->outcome = solved ? RG_SOLVED : RG_SOLVE_LIMIT;
    report->iterations = polish.iterations, report->factorisations = polish.factorisations;
    return RG_OK;
}

static const rg_solver polish_near = {"polish", "Newton steps from forces that are near",
                                      RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL, polish_forces};

static rg_status chain_make(chain *c, rg_solve_context *context, const rg_problem *problem,
                            const rg_solve_settings *settings, double *force, rg_error *error) {
    memset(c, 0, sizeof *c);
    c->context = context, c->problem = problem, c->settings = settings;
    c->rows = rg_problem_rows(problem);
    c->force = force;
    c->info.residual = rg_residual_none();
    RG_TAKE(c->ray, context, c->rows, error);
    RG_TAKE(c->trial_force, context, c->rows, error);
    RG_TAKE(c->trial_ray, context, c->rows, error);
    if (!settings->warm)
        memset(force, 0, c->rows * sizeof *force);
    return RG_OK;
}

static void adopt(chain *c, const rg_solve_info *one) {
    c->info.solver = one->solver, c->info.residual = one->residual;
    c->info.outcome = one->outcome;
    memcpy(c->info.text, one->text, sizeof c->info.text);
    if (one->solver != &warm_start)
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
    if ((stronger || !c->has_ray) && !is_zero(c->rows, c->trial_ray)) {
        memcpy(c->ray, c->trial_ray, c->rows * sizeof *c->ray);
        c->has_ray = true;
    }
}

static void tell_ray(const chain *c, double *ray) {
    if (c->has_ray)
        memcpy(ray, c->ray, c->rows * sizeof *ray);
    else
        memset(ray, 0, c->rows * sizeof *ray);
}

/* Factorisations that may still be made; UINT64_MAX without a limit. */
static uint64_t budget_left(const chain *c) {
    uint64_t effort = c->settings->effort, spent = c->info.factorisations;
    return effort == 0 ? UINT64_MAX : effort > spent ? effort - spent : 0;
}

static rg_solve_settings settings_for(const chain *c, const attempt *a, uint64_t limit) {
    rg_solve_settings settings = *c->settings;
    if (a->solver == &warm_start && settings.acceptable > 0)
        settings.tolerance = settings.keep; /* 0: exact up to rounding, or solved anew: see above */
    if (settings.effort)
        settings.effort = (uint32_t)(budget_left(c) ? budget_left(c) : 1);
    if (limit && (!settings.iteration_limit || limit < settings.iteration_limit))
        settings.iteration_limit = (uint32_t)limit;
    settings.warm = a->start == FROM_BEST ? c->started : a->start == FROM_GIVEN && settings.warm;
    return settings;
}

/* The best forces so far as an attempt, where they are: in most steps of what rests it is the only
 * one, and its rows need not be copied to and fro. */
static rg_status judge_given(chain *c, const rg_solve_settings *settings, rg_solve_info *one,
                             rg_error *error) {
    bool rounding = false;
    double enough = fmax(settings->tolerance, settings->acceptable);
    rg_arena_mark mark = rg_arena_get_mark(&c->context->arena);
    rg_status status =
        rg_judge_forces(c->problem, c->force, enough, c->context, &one->residual, &rounding, error);
    rg_arena_return(&c->context->arena, mark);
    if (status)
        return status;
    one->solver = &warm_start;
    one->outcome = rg_solve_judged(RG_SOLVED, &one->residual, rounding, settings);
    rg_solve_note(one, &(rg_solve_attempt){.solver = &warm_start,
                                           .outcome = one->outcome,
                                           .residual = one->residual.natural});
    return RG_OK;
}

static rg_status run_one(chain *c, const attempt *a, const rg_solve_settings *settings,
                         rg_solve_info *one, rg_error *error) {
    memcpy(c->trial_force, c->force, c->rows * sizeof *c->force);
    memset(c->trial_ray, 0, c->rows * sizeof *c->trial_ray);
    rg_solve_info *outer = c->context->info;
    rg_solution trial = {.force = c->trial_force, .ray = c->trial_ray};
    c->context->info = one;
    rg_status status =
        rg_solve_attempt_run(c->context, a->solver, c->problem, settings, &trial, NULL, error);
    c->context->info = outer;
    return status;
}

/* Runs one solver, has it judged, and keeps what is better. A solver that does not take the problem
 * leaves no trace. */
static rg_status try_one(chain *c, const attempt *a, uint32_t limit, rg_error *error) {
    rg_solve_settings settings = settings_for(c, a, limit);
    rg_solve_info one = rg_solve_info_none();
    rg_status status = a->solver == &warm_start ? judge_given(c, &settings, &one, error)
                                                : run_one(c, a, &settings, &one, error);
    if (status || one.outcome == RG_SOLVE_UNSUITABLE)
        return status;
    rg_solve_note(&c->info, &one.chain[0]);
    if (!a->quick && c->full++ > 0)
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

/* --- kinds of problems ------------------------------------------------------------------------ */

enum {
    ROWS = 1,          /* linear */
    ROWS_GENERAL = 2,  /* linear, A not symmetric */
    ROWS_FRICTION = 4, /* linear, with friction rows */
    PLAIN_FEW = 8,     /* contacts without friction */
    PLAIN_MANY = 16,
    PLANAR_FEW = 32, /* contacts in the plane */
    PLANAR_SOME = 64,
    CONES = 128, /* contacts in space, or many in the plane */
    POLYGONS_FEW = 256,
    POLYGONS_MANY = 512
};

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

static unsigned class_of_rows(const rg_linear_problem *p) {
    for (size_t i = 0; i < p->size; i++) {
        rg_row_kind kind = rg_row_kind_at(p, i);
        if (kind == RG_ROW_STATIC || kind == RG_ROW_DYNAMIC)
            return ROWS_FRICTION;
    }
    return rg_linear_is_symmetric(p) ? ROWS : ROWS_GENERAL;
}

static unsigned class_of(const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    if (problem->kind == RG_PROBLEM_LINEAR)
        return class_of_rows(&problem->linear);
    if (!has_friction(p))
        return p->contacts + p->joints <= SMALL_ROWS ? PLAIN_FEW : PLAIN_MANY;
    if (p->dimension == 3 && p->directions > 0)
        return p->contacts * (size_t)p->directions <= POLYGON_PAIRS ? POLYGONS_FEW : POLYGONS_MANY;
    if (p->dimension == 2 && p->contacts <= PLANAR_LEMKE)
        return p->contacts <= PLANAR_CONTACTS ? PLANAR_FEW : PLANAR_SOME;
    return CONES;
}

/* --- the list --------------------------------------------------------------------------------- */

/* Where all modes can be tried. */
static uint32_t few_modes(const chain *c) {
    size_t modes = c->class == ROWS_FRICTION ? count_modes(&c->problem->linear)
                                             : count_planar_modes(&c->problem->contact);
    return modes > 0 && modes <= POLICY_MODES ? 0 : NEVER;
}

/* With friction it may cycle, and is not waited for. */
static uint32_t few_pivots(const chain *c) {
    return c->rows < UINT32_MAX / 64 ? (uint32_t)(FRICTION_PIVOTS * (c->rows + 10)) : 0;
}

static uint32_t if_given(const chain *c) {
    return c->settings->warm ? 0 : NEVER;
}

/* Nothing but joints without bounds: a linear system. */
static uint32_t if_joints_only(const chain *c) {
    return rg_tree_takes(c->problem) ? 0 : NEVER;
}

/* Newton's method finds the forces of joints at once, whatever it starts from. */
static uint32_t if_given_or_jointed(const chain *c) {
    return c->problem->contact.joints > 0 ? 0 : if_given(c);
}

/* Pivoting over the normals of contacts: a matrix of one row each, where Newton's method factors
 * six for each body. Instructions of the solves of a step, of 216 balls that fall apart: 13.6e6
 * with Newton's method and 6.3e6 while they are one island of 340 contacts. */
static uint32_t if_contacts_only(const chain *c) {
    return c->problem->contact.joints == 0 && c->problem->contact.contacts > 0 ? 0 : NEVER;
}

/* In a simulation, many contacts and no forces yet. */
static uint32_t if_begins(const chain *c) {
    return !c->started && c->settings->acceptable > 0 &&
                   c->problem->contact.contacts > STAND_CONTACTS
               ? 0
               : NEVER;
}

static uint32_t if_near(const chain *c) {
    bool local = c->problem->contact.form == RG_FORM_LOCAL;
    return local && c->started && c->info.residual.natural <= POLISH_NEAR ? 0 : NEVER;
}

/* In a simulation what is acceptable is enough. */
static bool is_enough(const chain *c) {
    return c->problem->contact.form == RG_FORM_GLOBAL && c->info.solver &&
           c->info.residual.natural <= c->settings->acceptable;
}

/* Within a budget all of it goes to the attempt that begins with the forces given, where there are
 * some: rg_active_solve. */
static uint32_t if_cold(const chain *c) {
    bool tried = if_given_or_jointed(c) == 0 && rg_active_takes(c->problem);
    return c->settings->effort && tried ? NEVER : 0;
}

static uint32_t first_sweeps(const chain *c) {
    return is_enough(c) || if_cold(c) == NEVER ? NEVER : FIRST_SWEEPS;
}

/* Sweeps are cheap, and good starts. If the residual falls so fast that a few more should do, they
 * get the chance: as many as the rate so far says, and half as many again. */
static uint32_t more_sweeps(const chain *c) {
    double needed = 0, gained = 0; /* powers of two */
    for (double r = c->settings->tolerance; r > 0 && r < 1; r *= 2)
        needed++;
    for (double r = c->info.residual.natural; r > 0 && r < 1; r *= 2)
        gained++;
    double sweeps = gained > 0 ? 1.5 * FIRST_SWEEPS * needed / gained : INFINITY;
    bool wanted = sweeps <= MORE_SWEEPS && !is_enough(c) && if_cold(c) != NEVER;
    return wanted ? (uint32_t)sweeps - FIRST_SWEEPS : NEVER;
}

/* What takes its time, and is not waited for within a budget. */
static uint32_t if_patient(const chain *c) {
    return c->settings->effort ? NEVER : 0;
}

enum {
    ALL_ROWS = ROWS | ROWS_GENERAL | ROWS_FRICTION,
    ALL_CONES = PLANAR_FEW | PLANAR_SOME | CONES,
    POLYGONS = POLYGONS_FEW | POLYGONS_MANY,
    ALL = ALL_ROWS | PLAIN_FEW | PLAIN_MANY | ALL_CONES | POLYGONS,
    QUICK = true,
    ALWAYS = true
};

static const attempt list[] = {
    {PLAIN_FEW | PLAIN_MANY, &rg_solver_tree, FROM_NOTHING, QUICK, ALWAYS, if_joints_only},
    {ALL, &warm_start, FROM_GIVEN, QUICK, ALWAYS, if_given},
    {PLAIN_FEW, &rg_solver_dantzig, FROM_BEST, 0, ALWAYS, if_contacts_only},
    {PLAIN_FEW | PLAIN_MANY, &warm_newton, FROM_BEST, QUICK, ALWAYS, if_given_or_jointed},
    {ROWS_FRICTION | PLANAR_FEW, &rg_solver_enumerate, FROM_NOTHING, 0, ALWAYS, few_modes},
    {ROWS_FRICTION | PLANAR_FEW, &rg_solver_dantzig, FROM_GIVEN, 0, ALWAYS, few_pivots},
    {ROWS | PLAIN_FEW, &rg_solver_dantzig, FROM_BEST, 0, 0, NULL},
    {ALL_ROWS | PLANAR_FEW | POLYGONS_FEW, &rg_solver_lemke, FROM_NOTHING, 0, 0, NULL},
    {ALL_ROWS, &rg_solver_enumerate, FROM_NOTHING, 0, 0, NULL},
    {ALL_CONES, &warm_newton, FROM_BEST, QUICK, ALWAYS, if_given_or_jointed},
    {ALL_CONES, &stand, FROM_NOTHING, QUICK, ALWAYS, if_begins},
    {ALL_CONES, &polish_near, FROM_BEST, QUICK, ALWAYS, if_near},
    {ALL_CONES, &rg_solver_gauss_seidel, FROM_BEST, QUICK, ALWAYS, first_sweeps},
    {ALL_CONES, &rg_solver_gauss_seidel, FROM_BEST, QUICK, ALWAYS, more_sweeps},
    {PLAIN_FEW, &rg_solver_interior_point, FROM_NOTHING, 0, 0, NULL},
    {PLAIN_MANY, &rg_solver_interior_point, FROM_BEST, 0, 0, NULL},
    {ALL_CONES, &rg_solver_interior_point, FROM_BEST, 0, 0, if_cold},
    {ALL_CONES, &rg_solver_newton, FROM_BEST, 0, 0, if_patient},
    {PLAIN_MANY, &rg_solver_dantzig, FROM_NOTHING, 0, 0, NULL},
    {PLANAR_SOME, &rg_solver_lemke, FROM_NOTHING, 0, 0, NULL},
    {POLYGONS, &rg_solver_gauss_seidel, FROM_BEST, 0, 0, NULL},
    {POLYGONS, &rg_solver_gauss_seidel, FROM_NOTHING, 0, 0, if_given},
    {POLYGONS_MANY, &rg_solver_lemke, FROM_NOTHING, 0, 0, NULL},
    {ALL_CONES, &rg_solver_widen, FROM_BEST, 0, 0, if_patient},
};

/* An enumeration may prove that there is no solution; where an impulse would point, pivoting
 * tells. */
static bool wants_ray(const chain *c, const attempt *a) {
    return c->proof == RG_SOLVE_INFEASIBLE && c->class == ROWS_FRICTION &&
           a->solver == &rg_solver_dantzig;
}

static rg_status try_list(chain *c, rg_error *error) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < sizeof list / sizeof *list && !status; i++) {
        const attempt *a = &list[i];
        if (!(a->classes & c->class) || (c->done && !wants_ray(c, a)))
            continue;
        if (!a->always && c->info.solver &&
            (budget_left(c) == 0 || c->info.residual.natural <= c->settings->acceptable))
            break;
        uint32_t limit = a->limit ? a->limit(c) : 0;
        if (limit != NEVER)
            status = try_one(c, a, limit, error);
    }
    return status;
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

/* In a simulation most contacts are looked at before they touch: where there is nothing to start
 * from, none is needed if no force is an answer, exact up to rounding. In the plane there may be
 * several, and a policy. */
static rg_status try_nothing(chain *c, rg_error *error) {
    rg_residual residual;
    bool rounding;
    if (c->started || !(c->settings->acceptable > 0) ||
        !(c->class & (PLAIN_FEW | PLAIN_MANY | CONES)))
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(&c->context->arena);
    rg_status status = rg_judge_forces(c->problem, c->force, c->settings->acceptable, c->context,
                                       &residual, &rounding, error);
    rg_arena_return(&c->context->arena, mark);
    if (status || residual.natural > 0)
        return status;
    c->info.solver = &warm_start, c->info.residual = residual, c->info.outcome = RG_SOLVED;
    c->done = true;
    return RG_OK;
}

/* What is said of the whole, into the info of the context. */
static void conclude(chain *c, const rg_solution *solution, rg_solve_report *report) {
    if (!c->info.solver) {
        c->info.outcome = RG_SOLVE_UNSUITABLE;
        snprintf(c->info.text, sizeof c->info.text, "no solver of the list takes this problem");
    }
    if (c->info.outcome != RG_SOLVED && c->proof != RG_SOLVED) {
        c->info.outcome = c->proof;
        if (c->proof_text[0])
            memcpy(c->info.text, c->proof_text, sizeof c->info.text);
        if (solution->ray)
            tell_ray(c, solution->ray);
    }
    tell_chain(&c->info);
    *c->context->info = c->info;
    report->outcome = c->info.outcome;
    report->iterations = c->info.iterations;
}

static rg_status solve_auto(rg_solve_context *context, const rg_problem *problem,
                            const rg_solve_settings *settings, rg_solution *solution,
                            rg_solve_report *report, rg_error *error) {
    chain c;
    rg_status status = chain_make(&c, context, problem, settings, solution->force, error);
    if (status)
        return status;
    c.started = settings->warm;
    c.class = class_of(problem);
    status = try_nothing(&c, error);
    if (!status && !c.done)
        status = try_list(&c, error);
    if (!status)
        conclude(&c, solution, report);
    return status;
}

const rg_solver rg_solver_auto = {
    "auto", "chooses by kind, size and structure, island by island, and falls back down a list",
    RG_ACCEPT_LINEAR | RG_ACCEPT_FRICTION | RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL | RG_ACCEPT_POLYGON,
    solve_auto};
