/* `lp`: contact forces by guessing which contacts break (Baraff 1989, section 6).
 *
 * If the set V of vanishing contacts (a > 0) is known, the forces follow from a linear program:
 * f = 0 and a >= 0 in V, a = 0 and f >= 0 outside (18). A guess is tested by that very program:
 * feasible means right, and every feasible point is a correct answer. The guesses:
 *
 *   1. V empty (6.2), right in nearly every instant of a simulation: a contact vanishes at one
 *      instant, and then is no contact any more.
 *   2. From the minimum-sum forces f_a, least sum of f with f >= 0 and a >= 0 (22, 23): V is
 *      where their residual r = A f_a + b is positive (6.3).
 *   3. Neither: f_a itself (6.5). It keeps bodies apart, but does work f.a > 0: energy is added.
 *      The paper accepts that; here it is said (RG_SOLVE_INEXACT), and the other solvers do not
 *      need it.
 *
 * Joints are free rows: a = 0, outside of V and of the sum (section 7). If they contradict each
 * other, the least violation in the sense of the 1-norm is taken for granted (Appendix B) and
 * the contacts are solved beside it: the outcome is RG_SOLVE_INFEASIBLE, with the proof, and the
 * forces are that best attempt.
 *
 * The matrix need be neither symmetric nor definite: a wrong guess fails its test. Where the
 * equations of a guess have one solution its signs are the test; otherwise it is a linear program,
 * polished so that answers are good to rounding and not to Clp's tolerance (lp_polish.c). Both
 * work on the non-zeros alone. A matrix that is given dense is read three times, which is what
 * large ones take most of their time for; in compressed rows nothing is quadratic but Clp's pivots,
 * each of which passes over all rows. */
#include "base/base_math.h"
#include "lp/lp_feasible.h"
#include "lp/lp_form.h"
#include "lp/lp_joints.h"
#include "lp/lp_polish.h"
#include "rigor/lp.h"

#include <stdio.h>

/* Corners that are degenerate twice over are rare. */
enum { SHARPEN_ROUNDS = 4 };
/* Equations count as solved up to this rest, relative to the largest force; a force or acceleration
 * below minus this is negative whatever the rounding (it is above the rest over
 * RG_LP_INDEPENDENT). */
#define EQUATIONS_REST 1e-12
#define CLEARLY        1e-5

typedef struct search {
    rg_solve_context *context;
    const rg_linear_problem *problem;
    const rg_matrix *compressed; /* its matrix, if it has none itself */
    rg_lp_form form;
    double *g;           /* the forces in question */
    double *alpha;       /* their accelerations */
    double *approximate; /* f_a in scaled units */
    double *residual;    /* its alpha */
    uint8_t *vanishing;  /* V */
    uint8_t *rows, *columns;
    double *row_lower, *row_upper, *lower, *upper, *cost;
    bool limited; /* a program ran out of pivots or broke down: its verdict is missing */
} search;

const char *rg_lp_stage_name(rg_lp_stage stage) {
    static const char *const names[] = {"empty", "predicted", "fallback", "none"};
    return (unsigned)stage < sizeof names / sizeof *names ? names[stage] : "unknown";
}

static rg_status make_search(rg_solve_context *context, const rg_linear_problem *problem,
                             const rg_matrix *compressed, search *s, rg_error *error) {
    *s = (search){.context = context, .problem = problem, .compressed = compressed};
    rg_status status = rg_lp_form_make(context, problem, compressed, &s->form, error);
    if (status)
        return status;
    size_t n = problem->size;
    RG_TAKE(s->g, context, n, error);
    RG_TAKE(s->alpha, context, n, error);
    RG_TAKE(s->approximate, context, n, error);
    RG_TAKE(s->residual, context, n, error);
    RG_TAKE(s->vanishing, context, n, error);
    RG_TAKE(s->rows, context, n, error);
    RG_TAKE(s->columns, context, n, error);
    RG_TAKE(s->row_lower, context, n, error);
    RG_TAKE(s->row_upper, context, n, error);
    RG_TAKE(s->lower, context, n, error);
    RG_TAKE(s->upper, context, n, error);
    RG_TAKE(s->cost, context, n, error);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        s->g[i] = s->alpha[i] = s->approximate[i] = s->residual[i] = 0;
        s->vanishing[i] = 0;
        if (!s->form.free_rows[i])
            largest = fmax(largest, s->form.scale[i]);
    }
    /* The sum is of forces, not of scaled ones. */
    for (size_t i = 0; i < n; i++)
        s->cost[i] = s->form.free_rows[i] ? 0 : s->form.scale[i] / largest;
    return RG_OK;
}

/* The program (18) for the set V, or (22)-(23) with `minimum_sum`. */
static rg_status run_program(search *s, bool minimum_sum, rg_program_outcome *outcome,
                             rg_error *error) {
    const rg_lp_form *form = &s->form;
    for (size_t i = 0; i < form->size; i++) {
        bool vanishes = !minimum_sum && s->vanishing[i];
        bool equation = form->free_rows[i] || (!minimum_sum && !vanishes);
        s->row_lower[i] = -form->b[i];
        s->row_upper[i] = equation ? -form->b[i] : INFINITY;
        s->lower[i] = form->free_rows[i] ? -INFINITY : 0;
        s->upper[i] = vanishes ? 0 : INFINITY;
    }
    rg_program program = {.matrix = form->matrix,
                          .cost = s->cost,
                          .row_lower = s->row_lower,
                          .row_upper = s->row_upper,
                          .column_lower = s->lower,
                          .column_upper = s->upper};
    rg_program_result result = {.x = s->g, .row_basic = s->rows, .column_basic = s->columns};
    rg_status status = rg_lp_form_solve(s->context, &s->form, &program, &result, error);
    *outcome = result.outcome;
    if (result.outcome == RG_PROGRAM_LIMIT || result.outcome == RG_PROGRAM_BROKEN)
        s->limited = true;
    return status;
}

/* Sharpens g with alpha = 0 in s->rows by the entries in s->columns, and makes it exactly
 * feasible in sign: an entry that comes out negative, at a corner where more contacts than
 * needed carry nothing, is set to 0 and taken out. */
static rg_status sharpen(search *s, rg_error *error) {
    const rg_lp_form *form = &s->form;
    rg_status status = RG_OK;
    bool negative = true;
    for (int round = 0; negative && round < SHARPEN_ROUNDS && !status; round++) {
        status = rg_lp_polish(s->context, &s->form, s->rows, s->columns, s->g, NULL, error);
        negative = false;
        for (size_t i = 0; i < form->size; i++)
            if (!form->free_rows[i] && s->g[i] < 0) {
                s->g[i] = 0;
                s->columns[i] = 0;
                negative = true;
            }
    }
    rg_lp_form_apply(form, s->g, s->alpha);
    return status;
}

typedef enum verdict { UNDECIDED, RIGHT, WRONG } verdict;

/* Where the equations a = 0 outside V have one solution, its signs decide, and no program is
 * needed: what 6.2 starts from. Undecided where there are more solutions, or signs are too near to
 * 0. */
static rg_status try_equations(search *s, verdict *made, rg_error *error) {
    const rg_lp_form *form = &s->form;
    bool singular = false, clear = true;
    double largest = 1, worst = 0, least = INFINITY;
    for (size_t i = 0; i < form->size; i++) {
        s->rows[i] = s->columns[i] = !s->vanishing[i];
        s->g[i] = 0;
    }
    rg_status status =
        rg_lp_polish(s->context, &s->form, s->rows, s->columns, s->g, &singular, error);
    *made = UNDECIDED;
    if (status)
        return status;
    rg_lp_form_apply(form, s->g, s->alpha);
    for (size_t i = 0; i < form->size; i++) {
        double sign = s->vanishing[i] ? s->alpha[i] : form->free_rows[i] ? INFINITY : s->g[i];
        largest = fmax(largest, fabs(s->g[i]));
        worst = fmax(worst, s->vanishing[i] ? 0 : fabs(s->alpha[i]));
        least = fmin(least, sign);
        clear = clear && (s->vanishing[i] ? sign >= -RG_LP_ZERO : sign >= 0);
    }
    if (singular || !(worst <= EQUATIONS_REST * largest))
        return RG_OK;
    *made = clear ? RIGHT : least < -CLEARLY * largest ? WRONG : UNDECIDED;
    return RG_OK;
}

/* Is V right? If so g and alpha are the answer. */
static rg_status test_guess(search *s, bool *right, rg_error *error) {
    rg_program_outcome outcome;
    verdict made;
    rg_status status = try_equations(s, &made, error);
    *right = made == RIGHT;
    if (status || made != UNDECIDED)
        return status;
    status = run_program(s, false, &outcome, error);
    if (status || outcome != RG_PROGRAM_OPTIMAL)
        return status;
    for (size_t i = 0; i < s->form.size; i++)
        s->rows[i] = !s->vanishing[i];
    status = sharpen(s, error);
    /* What Clp calls feasible to its tolerance must be so after polishing, too. */
    double worst = 0;
    for (size_t i = 0; i < s->form.size; i++)
        worst = fmax(worst, s->vanishing[i] ? -s->alpha[i] : fabs(s->alpha[i]));
    *right = worst <= RG_LP_ZERO;
    return status;
}

/* f_a, r and the predicted V. */
static rg_status predict(search *s, rg_program_outcome *outcome, rg_error *error) {
    rg_status status = run_program(s, true, outcome, error);
    if (status || *outcome != RG_PROGRAM_OPTIMAL)
        return status;
    for (size_t i = 0; i < s->form.size; i++)
        s->rows[i] = !s->rows[i]; /* rows whose slack is not in the basis are tight */
    status = sharpen(s, error);
    for (size_t i = 0; i < s->form.size; i++) {
        s->approximate[i] = s->g[i];
        s->residual[i] = s->rows[i] || fabs(s->alpha[i]) <= RG_LP_ZERO ? 0 : s->alpha[i];
        s->vanishing[i] = !s->form.free_rows[i] && s->residual[i] > 0;
    }
    return status;
}

/* Sections 6.2 to 6.5 in order. */
static rg_status guess_and_test(search *s, rg_lp_stage *stage, rg_error *error) {
    bool right;
    rg_status status = test_guess(s, &right, error);
    *stage = RG_LP_EMPTY;
    if (status || right)
        return status;
    rg_program_outcome outcome;
    status = predict(s, &outcome, error);
    *stage = RG_LP_NONE;
    if (status || outcome != RG_PROGRAM_OPTIMAL)
        return status;
    status = test_guess(s, &right, error);
    *stage = right ? RG_LP_PREDICTED : RG_LP_FALLBACK;
    for (size_t i = 0; !right && i < s->form.size; i++) {
        s->g[i] = s->approximate[i];
        s->alpha[i] = s->residual[i];
    }
    return status;
}

/* A f = -b without asking for signs: what 6.2 starts from. */
static rg_status solve_equations(search *s, double *guess, rg_error *error) {
    for (size_t i = 0; i < s->form.size; i++) {
        s->rows[i] = s->columns[i] = 1;
        s->g[i] = 0;
    }
    rg_status status = rg_lp_polish(s->context, &s->form, s->rows, s->columns, s->g, NULL, error);
    for (size_t i = 0; i < s->form.size; i++)
        guess[i] = rg_lp_force(&s->form, i, s->g[i]);
    return status;
}

/* No forces with f >= 0, a >= 0: why, with the proof; where it is the joints' fault, once more
 * with their least violation taken for granted. */
static rg_status explain_infeasible(search *s, rg_solution *solution, rg_lp_details *details,
                                    rg_error *error) {
    size_t n = s->form.size;
    double value;
    for (size_t i = 0; i < n; i++)
        s->alpha[i] = 0;
    rg_status status = rg_lp_certificate(s->context, &s->form, s->alpha, &value, error);
    if (status)
        return status;
    bool proved = value < -RG_LP_ZERO;
    for (size_t i = 0; solution->ray && i < n; i++)
        solution->ray[i] = proved ? s->form.scale[i] * s->alpha[i] : 0;
    details->report.outcome = proved ? RG_SOLVE_INFEASIBLE : RG_SOLVE_STALLED;
    status =
        rg_lp_relax(s->context, &s->form, RG_NORM_ONE, s->g, s->alpha, &details->violation, error);
    if (status || !(details->violation > 0)) {
        snprintf(details->report.text, sizeof details->report.text,
                 proved
                     ? "no forces f >= 0 give a >= 0: the prescribed motion squeezes (b.y = %.3g)"
                     : "forces are neither found nor excluded (b.y = %.3g)",
                 value * s->form.unit);
        for (size_t i = 0; i < n; i++)
            s->g[i] = s->alpha[i] = 0;
        return status;
    }
    for (size_t i = 0; i < n; i++)
        s->form.b[i] -= s->alpha[i];
    status = guess_and_test(s, &details->stage, error);
    snprintf(details->report.text, sizeof details->report.text,
             "joints contradict each other: least sum of |a| in them %.6g; contacts beside it: %s",
             details->violation, rg_lp_stage_name(details->stage));
    return status;
}

static void describe(const search *s, rg_lp_details *details) {
    rg_solve_report *report = &details->report;
    switch (details->stage) {
    case RG_LP_EMPTY:
        break;
    case RG_LP_PREDICTED:
        snprintf(report->text, sizeof report->text,
                 "contacts break: found by the residual of the minimum-sum forces");
        break;
    case RG_LP_FALLBACK:
        report->outcome = RG_SOLVE_INEXACT;
        snprintf(report->text, sizeof report->text,
                 "the prediction of the breaking contacts was wrong; these are the minimum-sum "
                 "forces, which add energy: f.a = %.6g instead of 0",
                 details->work);
        break;
    case RG_LP_NONE:
        break;
    }
    if (s->limited && details->stage != RG_LP_EMPTY && details->stage != RG_LP_PREDICTED) {
        report->outcome = RG_SOLVE_LIMIT;
        snprintf(report->text, sizeof report->text, "a linear program ran out of pivots");
    }
}

/* a = A f + b in the caller's numbers, over the non-zeros. */
static void find_velocities(const search *s, const double *force, double *velocity) {
    const rg_matrix *m = &s->form.matrix;
    for (size_t i = 0; i < s->problem->size; i++) {
        const uint32_t *columns;
        const double *row;
        size_t entries = rg_lp_row(s->problem, s->compressed, i, &columns, &row);
        double sum = s->problem->b[i];
        for (size_t k = 0; columns && k < entries; k++)
            sum += row[k] * force[columns[k]];
        for (size_t k = m->starts[i]; !columns && k < m->starts[i + 1]; k++)
            sum += row[m->indices[k]] * force[m->indices[k]];
        velocity[i] = sum;
    }
}

/* From scaled units into the caller's arrays. */
static void hand_over(const search *s, rg_solution *solution, rg_lp_details *details) {
    for (size_t i = 0; i < s->form.size; i++)
        solution->force[i] = rg_lp_force(&s->form, i, s->g[i]);
    find_velocities(s, solution->force, s->alpha);
    details->work = 0;
    for (size_t i = 0; i < s->form.size; i++) {
        if (solution->velocity)
            solution->velocity[i] = s->alpha[i];
        if (!s->form.free_rows[i])
            details->work += solution->force[i] * s->alpha[i];
        if (details->approximate)
            details->approximate[i] = rg_lp_force(&s->form, i, s->approximate[i]);
        if (details->residual)
            details->residual[i] = rg_lp_velocity(&s->form, i, s->residual[i]);
        if (details->vanishing)
            details->vanishing[i] = s->vanishing[i];
    }
    details->programs = s->form.programs;
    details->pivots = s->form.pivots;
    details->nonzeros = s->form.matrix.starts[s->form.size];
    details->operations = s->form.operations;
    details->report.iterations = s->form.pivots;
}

static rg_status solve_linear(rg_solve_context *context, const rg_linear_problem *problem,
                              const rg_matrix *compressed, uint32_t iteration_limit,
                              rg_solution *solution, rg_lp_details *details, rg_error *error) {
    details->stage = RG_LP_NONE;
    details->programs = 0;
    details->pivots = 0;
    details->work = details->violation = 0;
    details->report = (rg_solve_report){0};
    if (!rg_lp_form_fits(problem, details->report.text, sizeof details->report.text)) {
        details->report.outcome = RG_SOLVE_UNSUITABLE;
        return RG_OK;
    }
    search s;
    rg_status status = make_search(context, problem, compressed, &s, error);
    s.form.iteration_limit = iteration_limit;
    if (!status && details->guess)
        status = solve_equations(&s, details->guess, error);
    if (!status)
        status = guess_and_test(&s, &details->stage, error);
    if (!status && details->stage == RG_LP_NONE && !s.limited)
        status = explain_infeasible(&s, solution, details, error);
    if (status)
        return status;
    hand_over(&s, solution, details);
    if (details->report.outcome == RG_SOLVED)
        describe(&s, details);
    return RG_OK;
}

rg_status rg_lp_heuristic(rg_solve_context *context, const rg_problem *problem,
                          rg_solution *solution, rg_lp_details *details, rg_error *error) {
    rg_status status = rg_problem_check(problem, error);
    if (status)
        return status;
    bool contacts = problem->kind == RG_PROBLEM_CONTACT;
    if (contacts && (problem->contact.dimension != 1 || problem->contact.form != RG_FORM_LOCAL))
        return rg_fail(error, RG_UNSUPPORTED,
                       "details are of linear problems, or of contacts of dimension 1 in local "
                       "form; rg_solve takes the others");
    rg_linear_problem linear = problem->linear;
    const rg_matrix *compressed = NULL;
    rg_arena_mark mark = rg_lp_enter(context);
    if (contacts)
        status = rg_lp_of_contacts(context, &problem->contact, &linear, &compressed, error);
    if (!status)
        status = solve_linear(context, &linear, compressed, 0, solution, details, error);
    rg_lp_leave(context, mark);
    return status;
}

static rg_status solve_given(rg_solve_context *context, const rg_linear_problem *problem,
                             const uint8_t *vanishing, rg_solution *solution, bool *right,
                             rg_error *error) {
    search s;
    rg_status status = make_search(context, problem, NULL, &s, error);
    if (status)
        return status;
    for (size_t i = 0; i < problem->size; i++)
        s.vanishing[i] = vanishing[i] && !s.form.free_rows[i];
    status = test_guess(&s, right, error);
    rg_lp_details details = {0};
    if (!status && *right)
        hand_over(&s, solution, &details);
    return status;
}

rg_status rg_lp_given(rg_solve_context *context, const rg_problem *problem,
                      const uint8_t *vanishing, rg_solution *solution, bool *right,
                      rg_error *error) {
    rg_status status = rg_lp_check(problem, error);
    if (status)
        return status;
    rg_arena_mark mark = rg_lp_enter(context);
    status = solve_given(context, &problem->linear, vanishing, solution, right, error);
    rg_lp_leave(context, mark);
    return status;
}

static rg_status solve_lp(rg_solve_context *context, const rg_problem *problem,
                          const rg_solve_settings *settings, rg_solution *solution,
                          rg_solve_report *report, rg_error *error) {
    rg_lp_details details = {0};
    rg_status status = solve_linear(context, &problem->linear, NULL, settings->iteration_limit,
                                    solution, &details, error);
    *report = details.report;
    return status;
}

const rg_solver *rg_solver_lp(void) {
    static const rg_solver solver = {
        .name = "lp",
        .summary = "guesses which contacts break and tests it by linear programming (Baraff 1989)",
        .accepts = RG_ACCEPT_LINEAR,
        .solve = solve_lp,
    };
    return &solver;
}
