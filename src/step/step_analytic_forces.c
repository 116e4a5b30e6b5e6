/* Contact forces inside the right-hand side (Baraff 1989, section 5; Baraff 1994).
 *
 * Rows are accelerations: a = A f + b with b = what the forces besides contact give, and the
 * terms of curvature and rotation (contact_motion.h). A contact that sticks has unilateral
 * normal and static tangent rows; one that slips has a normal row and a dynamic one against its
 * slip; one without friction the normal alone. The problem is linear with friction rows, which
 * the pivoting solver takes as it is.
 *
 * In space, which contacts are held or at the limit of stick is decided between steps
 * (step_analytic_active.c). During a step that stays, a contact at its limit has a dynamic row,
 * and the right-hand side is smooth; that a force leaves its cone, or that a contact at its
 * limit turns back, is an event. Where the scene asks for a polygon, there are two tangents with
 * a limit each, and nothing to decide.
 *
 * Many points share a load in many ways, and with friction the way matters: the motion would
 * jump from one evaluation to the next, and what is symmetric would not stay so. So forces are
 * as small as they can be, friction in proportion to what a contact can hold (or, where that
 * leaves a cone, as near as can be to those of the decision): the diagonal is raised by a
 * little, and further solves take back what that did to the rest (the proximal point iteration).
 *
 * Every evaluation that moves the state goes through rg_analysis_derivative.
 *
 * Tested by tests/step/test_forces.c. */
#include "problem/problem_rows.h"
#include "solve/solve_basis.h"
#include "step/step_analytic.h"
#include "step/step_stage.h"

#include <float.h>
#include <string.h>

/* Of the judge's residual: what is good enough for the right-hand side. */
#define EXACT 1e-11
/* Share of the diagonal by which it is raised. Errors are this to the power of the number of
 * solves. */
#define NEAR_LAST 1e-8
enum { NEAR_SOLVES = 2 };
/* In the exact cone tangents of held contacts have no bounds by themselves: only in effect. */
#define WIDE 1e3

static void own_accelerations(rg_analysis *a, const double *y, const double *dydt,
                              rg_analysis_motion *m) {
    const rg_world_content *c = &a->view->world->content;
    for (size_t k = 0; k < a->flight.body_count; k++) {
        size_t i = a->flight.body[k];
        const double *n = y + k * a->flight.width, *d = dydt + k * a->flight.width;
        double inverse = c->dynamics[i].inverse_mass;
        if (c->planar) {
            m->acceleration[i] = (rg_vec3){inverse * d[3], 0, inverse * d[4]};
            m->angular_acceleration[i] = (rg_vec3){0, -c->dynamics[i].inverse_inertia.y * d[5], 0};
        } else {
            rg_vec3 momentum = {n[10], n[11], n[12]}, torque = {d[10], d[11], d[12]};
            m->acceleration[i] = rg_scale(inverse, (rg_vec3){d[7], d[8], d[9]});
            m->angular_acceleration[i] = rg_mat3_apply(
                &m->inverse_inertia[i], rg_sub(torque, rg_cross(m->angular_velocity[i], momentum)));
        }
    }
}

/* e . (u' without contact forces) of a row. */
double rg_analysis_own_rate(const rg_analysis *a, const rg_analysis_row *row) {
    const rg_analysis_motion *m = &a->motion;
    const rg_contact_motion *k = &a->contacts[row->contact].motion;
    bool about = a->contacts[row->contact].kind == RG_TOUCH_LIMIT_OF_TURN;
    double rate = rg_direction_rate(row, m->acceleration, m->angular_acceleration) +
                  rg_dot(about ? row->arm_a : row->e, k->drift);
    if (row->component == 0) {
        /* u = slip + normal part; n' is across n. */
        rate += rg_dot(k->normal_rate, k->slip);
    }
    return rate;
}

rg_vec3 rg_analysis_force_of(const rg_analysis_contact *c) {
    rg_vec3 f = rg_scale(c->force[0], c->motion.normal);
    f = rg_add_scaled(f, c->force[1], c->basis[0]);
    return rg_add_scaled(f, c->force[2], c->basis[1]);
}

/* --- one island ------------------------------------------------------------------------------- */

/* Whether a contact at its limit may turn the direction of its friction: see turn_rows. */
static bool turns(const rg_analysis *a, const rg_analysis_contact *c, rg_effort effort) {
    return effort == RG_EFFORT_TURN && rg_analysis_at_limit(c) && !a->view->world->content.planar;
}

/* Whether its friction has a direction, and all the size that it can have. */
static bool is_limited(const rg_analysis_contact *c) {
    return rg_analysis_slips(c) || rg_analysis_at_limit(c);
}

static size_t rows_of(const rg_analysis *a, const rg_analysis_contact *c, rg_effort effort) {
    if (!rg_analysis_has_friction(c))
        return 1;
    bool one = is_limited(c) || a->view->world->content.planar;
    return one && !turns(a, c, effort) ? 2 : 3;
}

/* The matrix: with joints, through which all rows of an island act on each other. */
static void couple_rows(const rg_analysis *a, rg_direction_system *s) {
    rg_direction_system_couple(a->view->dynamics, a->place, a->joints != NULL, s);
}

static void fill_rows(rg_analysis *a, const uint32_t *members, size_t member_count,
                      rg_effort effort, rg_direction_system *s) {
    size_t k = 0;
    for (size_t j = 0; j < member_count; j++) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        size_t count = rows_of(a, c, effort), normal = k;
        rg_analysis_make_basis(a, c);
        for (size_t i = 0; i < count; i++, k++) {
            rg_vec3 e = i == 0 ? c->motion.normal : c->basis[i - 1];
            s->rows[k] = rg_analysis_make_row(a, members[j], (uint32_t)i, e);
            s->b[k] = rg_analysis_own_rate(a, &s->rows[k]);
            s->force[k] = c->force[i];
            s->normal[k] = (uint32_t)normal;
            bool limited = is_limited(c) && i == 1;
            s->kinds[k] = i == 0 ? RG_ROW_UNILATERAL : limited ? RG_ROW_DYNAMIC : RG_ROW_STATIC;
            s->mu[k] = i == 0    ? 0
                       : limited ? -rg_analysis_coefficient(c)
                                 : rg_analysis_coefficient(c) * (a->law->exact_cone ? WIDE : 1);
        }
    }
}

/* Friction at the limit acts against the acceleration: with a force g across its direction d,
 * the one that is missing, it is -F d + g t and acts against d - g/F t, F = mu f_N. The
 * acceleration has that direction, too, if that across is -g/F times that along: a row in which
 * forces give, by the acceleration along over F, both as they were last. It is Newton's method
 * for the directions of all contacts of an island at once. */
static void turn_rows(const rg_analysis *a, rg_effort effort, rg_direction_system *s) {
    for (size_t i = 0; i < s->count; i++) {
        const rg_analysis_contact *c = &a->contacts[s->rows[i].contact];
        double limit = rg_analysis_coefficient(c) * c->force[0];
        if (s->rows[i].component == 2 && turns(a, c, effort) && limit > 0)
            s->matrix[i * s->count + i] += fmax(0, c->slip_acceleration) / limit;
    }
}

static rg_status solve_once(rg_analysis *a, rg_direction_system *s, const double *b,
                            rg_solve_info *info) {
    rg_problem problem = rg_direction_system_problem(s, b, a->view->acceleration);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = EXACT;
    settings.warm = true;
    settings.policy = a->view->world->content.settings.policy;
    rg_solution solution = {.force = s->force, .velocity = s->rate};
    const rg_solver *solver = a->view->world->content.settings.solver;
    if (!solver || solver == rg_solver_find("auto")) /* which is asked if this one fails */
        solver = rg_solver_find("dantzig");
    rg_status status =
        rg_solve(a->view->context, solver, &problem, &settings, &solution, info, NULL);
    a->tally.counts.solves++;
    a->tally.counts.iterations += info->iterations;
    if (!status && info->outcome != RG_SOLVED && !(info->residual.natural <= EXACT)) {
        rg_solve_info first = *info;
        double *kept = rg_arena_take(a->arena, s->count, sizeof *kept);
        if (!kept)
            return RG_OUT_OF_MEMORY;
        memcpy(kept, s->force, s->count * sizeof *kept);
        memset(s->force, 0, s->count * sizeof *kept);
        settings.warm = false;
        status = rg_solve(a->view->context, rg_solver_find("auto"), &problem, &settings, &solution,
                          info, NULL);
        a->tally.counts.fallbacks++;
        a->tally.counts.iterations += info->iterations;
        if (!status && !(info->residual.natural <= first.residual.natural)) {
            memcpy(s->force, kept, s->count * sizeof *kept);
            if (first.outcome == RG_SOLVE_RAY || info->outcome != RG_SOLVE_RAY)
                *info = first;
        }
    }
    return status;
}

/* Diagonals towards the references. */
static void raise_diagonals(const rg_analysis *a, rg_direction_system *s, double *raise,
                            double *b) {
    const rg_body_dynamics *d = a->view->dynamics;
    for (size_t i = 0; i < s->count; i++) {
        const rg_analysis_row *row = &s->rows[i];
        const rg_analysis_contact *c = &a->contacts[row->contact];
        double *diagonal = &s->matrix[i * s->count + i];
        raise[i] = NEAR_LAST * (row->component ? (d[row->a].inverse_mass + d[row->b].inverse_mass) *
                                                     (1 + c->lightness)
                                               : *diagonal);
        *diagonal += raise[i];
        b[i] = s->b[i] - raise[i] * rg_dot(c->reference, s->rows[i].e);
    }
}

/* Observers see the problems as they are, no diagonal raised. */
static void show_rows(rg_analysis *a, const rg_direction_system *s) {
    const rg_analysis_view *view = a->view;
    if (!view->observer)
        return;
    rg_problem problem = rg_direction_system_problem(s, s->b, view->acceleration);
    view->observer(view->machinery->observer_user, view->world->content.step_count, a->shown++,
                   &problem);
}

bool rg_analysis_may_know(const rg_analysis *a) {
    const rg_solver *solver = a->view->world->content.settings.solver;
    return !solver || solver == rg_solver_find("auto") || solver == rg_solver_find("dantzig");
}

/* Forces of the rows of an island. */
typedef rg_status rows_solver(rg_analysis *a, rg_direction_system *s, rg_effort effort,
                              rg_solve_info *info);

/* Room for what raises diagonals, and done. */
static bool take_raised(rg_analysis *a, rg_direction_system *s, double **raise, double **b) {
    *b = rg_arena_take(a->arena, 2 * s->count, sizeof **b);
    if (!*b)
        return false;
    *raise = *b + s->count;
    raise_diagonals(a, s, *raise, *b);
    return true;
}

/* By the active set of the beginning of the trial step, whatever comes out. */
static rg_status keep_rows(rg_analysis *a, rg_direction_system *s, rg_effort effort,
                           rg_solve_info *info) {
    (void)effort;
    couple_rows(a, s);
    show_rows(a, s);
    double margin, *b, *raise, *begin = rg_arena_take(a->arena, s->count, sizeof *begin);
    if (!begin || !take_raised(a, s, &raise, &b))
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < s->count; i++)
        begin[i] = a->start[s->rows[i].contact].force[s->rows[i].component];
    if (rg_basis_keep(a->arena, s, begin, b, raise, a->view->acceleration, &margin)) {
        *info = (rg_solve_info){.outcome = RG_SOLVED};
        a->tally.counts.solves++;
        a->evaluation.margin = fmin(a->evaluation.margin, margin);
    } else { /* no answer: the step is cut */
        memset(s->force, 0, s->count * sizeof *s->force);
        memset(s->rate, 0, s->count * sizeof *s->rate);
        a->evaluation.margin = -1;
    }
    return RG_OK;
}

/* By solvers. */
static rg_status search_rows(rg_analysis *a, rg_direction_system *s, double *b, const double *raise,
                             rg_solve_info *info) {
    rg_status status = RG_OK;
    a->evaluation.finding = RG_FOUND_BY_SOLVER;
    for (int k = 0; k < NEAR_SOLVES && !status; k++) {
        status = solve_once(a, s, b, info);
        if (status || !(info->residual.natural <= RG_ANALYSIS_FAILED))
            break;
        for (size_t i = 0; i < s->count; i++)
            b[i] = s->b[i] - raise[i] * s->force[i];
    }
    return status;
}

static rg_status solve_rows(rg_analysis *a, rg_direction_system *s, rg_effort effort,
                            rg_solve_info *info) {
    couple_rows(a, s);
    if (effort != RG_EFFORT_TURN)
        show_rows(a, s);
    turn_rows(a, effort, s);
    double *b, *raise;
    if (!take_raised(a, s, &raise, &b))
        return RG_OUT_OF_MEMORY;
    bool may_know = rg_analysis_may_know(a);
    if (may_know && rg_basis_try(a->arena, s, b, raise, a->view->acceleration)) {
        *info = (rg_solve_info){.outcome = RG_SOLVED};
        a->tally.counts.solves++;
        return RG_OK;
    }
    if (effort == RG_EFFORT_TURN || (may_know && effort == RG_EFFORT_EXCHANGE))
        return RG_OK;
    return search_rows(a, s, b, raise, info);
}

/* By the forces that contacts have: it is known that they hold. */
static rg_status know_rows(rg_analysis *a, rg_direction_system *s, rg_effort effort,
                           rg_solve_info *info) {
    (void)effort;
    if (a->view->observer)
        couple_rows(a, s);
    show_rows(a, s);
    a->tally.counts.solves++;
    memset(s->rate, 0, s->count * sizeof *s->rate);
    *info = (rg_solve_info){.outcome = RG_SOLVED};
    return RG_OK;
}

static double largest_force(const rg_direction_system *s) {
    double largest = 0;
    for (size_t k = 0; k < s->count; k++)
        largest = fmax(largest, fabs(s->force[k]));
    return largest;
}

static void store_forces(rg_analysis *a, const rg_direction_system *s) {
    double largest = largest_force(s);
    for (size_t k = 0; k < s->count; k++) {
        rg_analysis_contact *c = &a->contacts[s->rows[k].contact];
        uint32_t i = s->rows[k].component;
        c->force[i] = s->force[k];
        if (i == 0) {
            c->force[1] = c->force[2] = 0;
            c->none = RG_ANALYSIS_FORCE * largest;
            c->normal_acceleration = s->rate[k];
            c->slip_acceleration = 0;
        } else if (s->kinds[k] == RG_ROW_STATIC && !rg_analysis_at_limit(c)) {
            rg_vec3 so_far =
                i == 1 ? (rg_vec3){0, 0, 0} : rg_scale(c->slip_acceleration, c->slip_direction);
            rg_vec3 all = rg_add_scaled(so_far, s->rate[k], c->basis[i - 1]);
            c->slip_acceleration = rg_length(all);
            c->slip_direction =
                c->slip_acceleration > 0 ? rg_scale(1 / c->slip_acceleration, all) : c->basis[0];
        } else if (s->kinds[k] == RG_ROW_DYNAMIC) {
            c->slip_acceleration = s->rate[k]; /* along the direction of slip */
            c->slip_direction = c->basis[0];
        }
    }
}

static size_t count_rows(const rg_analysis *a, const uint32_t *members, size_t member_count,
                         rg_effort effort) {
    size_t count = 0;
    for (size_t j = 0; j < member_count; j++)
        count += rows_of(a, &a->contacts[members[j]], effort);
    return count;
}

static bool make_rows(rg_analysis *a, const uint32_t *members, size_t member_count,
                      rg_effort effort, rg_direction_system *s, rg_solve_info *info) {
    *info = (rg_solve_info){.outcome = RG_SOLVE_SINGULAR, .residual.natural = INFINITY};
    size_t count = count_rows(a, members, member_count, effort);
    if (!rg_direction_system_take(a->arena, count, a->flight.body_count, s))
        return false;
    s->stop = &a->view->world->stop;
    fill_rows(a, members, member_count, effort, s);
    return true;
}

static void solve_by(rg_analysis *a, const uint32_t *members, size_t member_count,
                     rows_solver *solve, rg_effort effort, rg_solve_info *info) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_direction_system s;
    /* Whoever asks the step to end gets no forces: what is tried in their place fails as well. */
    if (make_rows(a, members, member_count, effort, &s, info) && !rg_world_stops(a->view->world) &&
        !solve(a, &s, effort, info))
        store_forces(a, &s);
    rg_arena_return(a->arena, mark);
}

void rg_analysis_solve_island(rg_analysis *a, const uint32_t *members, size_t member_count,
                              rg_effort effort, rg_solve_info *info) {
    solve_by(a, members, member_count, solve_rows, effort, info);
}

static void note_solve(rg_analysis *a, const uint32_t *members, const rg_solve_info *info) {
    if (!(info->residual.natural <= RG_ANALYSIS_FAILED) && a->trouble.outcome == RG_SOLVED)
        a->trouble = (rg_analysis_trouble){.outcome = info->outcome == RG_SOLVED ? RG_SOLVE_INEXACT
                                                                                 : info->outcome,
                                           .contact = members[0],
                                           .residual = info->residual.natural,
                                           .time = a->motion.time};
}

static void find_islands(rg_analysis *a, rg_partition *islands) {
    if (rg_analysis_find_islands(a, islands))
        a->trouble = (rg_analysis_trouble){
            .outcome = RG_SOLVE_SINGULAR, .residual = INFINITY, .time = a->motion.time};
}

/* All islands; null: of each the active set is decided first. */
static void solve_islands(rg_analysis *a, rows_solver *solve) {
    rg_stage outer = rg_stage_enter(a->view->world, RG_STAGE_SOLVE);
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_partition islands;
    find_islands(a, &islands);
    for (size_t k = 0; k < islands.count; k++) {
        const uint32_t *members = islands.member + islands.first[k];
        size_t count = islands.first[k + 1] - islands.first[k];
        rg_solve_info info = {.outcome = RG_SOLVE_SINGULAR, .residual.natural = INFINITY};
        if (solve)
            solve_by(a, members, count, solve, RG_EFFORT_SOLVE, &info);
        else
            rg_analysis_decide_island(a, members, count, &info);
        note_solve(a, members, &info);
    }
    rg_arena_return(a->arena, mark);
    rg_stage_enter(a->view->world, outer);
}

/* --- force laws ------------------------------------------------------------------------------- */

static void evaluate_rows(rg_analysis *a) {
    solve_islands(a, solve_rows);
}

static void decide_cone(rg_analysis *a) {
    solve_islands(a, NULL);
}

void rg_analysis_keep_forces(rg_analysis *a) {
    (void)a;
}

const rg_force_law rg_law_pivoting = {.decide = evaluate_rows,
                                      .evaluate = evaluate_rows,
                                      .near = RG_ANALYSIS_NEAR,
                                      .regular = RG_ANALYSIS_REGULAR};
const rg_force_law rg_law_cone = {.exact_cone = true,
                                  .decide = decide_cone,
                                  .evaluate = evaluate_rows,
                                  .near = RG_ANALYSIS_NEAR,
                                  .regular = RG_ANALYSIS_REGULAR};
/* The points of constant forces go with the centres of the bodies, and their directions stay, so
 * that momenta at the end are those that the forces were found for. If they followed the features,
 * a thin body under a load f would be a column that buckles at a rate of sqrt(6 f / (m thickness)),
 * 6e5 per second for a needle in a stack, and no step could be longer than that. */
static void keep_forces_and_lines(rg_analysis *a) {
    double t = a->motion.time - a->start_time;
    for (size_t i = 0; i < a->contact_count; i++) {
        a->contacts[i].motion.point = rg_add_scaled(a->start[i].point, t, a->start[i].point_rate);
        a->contacts[i].motion.normal = a->start[i].normal;
    }
}

const rg_force_law rg_law_constant = {.evaluate = keep_forces_and_lines};

/* The active set of the beginning of a trial step: where it is no longer right, the step ends. */
static void evaluate_kept(rg_analysis *a) {
    solve_islands(a, keep_rows);
}

static const rg_force_law kept_active_set = {.evaluate = evaluate_kept};

/* m/s: of the centres of its bodies, the lighter of them above all. */
static rg_vec3 rate_of_arms(const rg_analysis *a, const rg_analysis_contact *c) {
    const rg_body_dynamics *d = a->view->dynamics;
    double wa = d[c->body_a].inverse_mass, wb = d[c->body_b].inverse_mass, sum = wa + wb;
    if (!(sum > 0))
        return (rg_vec3){0, 0, 0};
    rg_vec3 rate = rg_scale(wa / sum, a->motion.velocity[c->body_a]);
    return rg_add_scaled(rate, wb / sum, a->motion.velocity[c->body_b]);
}

void rg_analysis_keep_start(rg_analysis *a) {
    a->start_time = a->motion.time;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        a->start[i] = (rg_analysis_start){.none = c->none,
                                          .gap = c->motion.gap,
                                          .slip = rg_length(c->motion.slip),
                                          .point = c->motion.point,
                                          .point_rate = rate_of_arms(a, c),
                                          .normal = c->motion.normal};
        memcpy(a->start[i].force, c->force, sizeof c->force);
    }
}

/* The first evaluation of a trial step. Where points share a load in many ways a solver's answer
 * is not the one that its rows would give. */
static void evaluate_first(rg_analysis *a) {
    a->law->evaluate(a);
    rg_analysis_keep_start(a);
    rg_analysis_joints_react(a);
    rg_analysis_judge_begin(a, RG_COURSE_FOLLOWS);
    a->active =
        rg_analysis_may_know(a) && a->evaluation.finding == RG_FOUND ? &kept_active_set : a->law;
}

static void evaluate_first_constant(rg_analysis *a) {
    rg_analysis_keep_start(a);
    rg_analysis_joints_react(a);
    rg_analysis_judge_begin(a, RG_COURSE_CONSTANT);
    a->active = &rg_law_constant;
}

static const rg_force_law first = {.evaluate = evaluate_first};
static const rg_force_law first_constant = {.evaluate = evaluate_first_constant};

void rg_analysis_begin_trial(rg_analysis *a, rg_course course) {
    a->trouble.outcome = RG_SOLVED;
    a->active = course == RG_COURSE_CONSTANT ? &first_constant : &first;
}

void rg_analysis_end_trial(rg_analysis *a) {
    a->active = a->law;
}

bool rg_analysis_keeps_active_set(const rg_analysis *a) {
    return a->active == &kept_active_set;
}

/* --- the right-hand side ---------------------------------------------------------------------- */

/* Motion at (t, y) and accelerations without contact forces; `dydt` is that of flight, and gets the
 * forces of joints that are known. */
static void move_freely(rg_analysis *a, double t, const double *y, double *dydt) {
    rg_analysis_move(a, t, y, &a->motion);
    rg_analysis_joints_drive(a, dydt);
    own_accelerations(a, y, dydt, &a->motion);
    rg_analysis_joints_hold(a);
    rg_analysis_follow(a, a->contacts, a->contact_count);
    a->evaluation = (rg_evaluation){.margin = INFINITY};
}

void rg_analysis_derivative(void *user, double t, const double *y, double *dydt) {
    rg_analysis *a = user;
    rg_flight_derivative(&a->flight, t, y, dydt);
    memset(dydt + a->flight.size, 0, RG_ANALYSIS_LEDGER * sizeof *dydt);
    if ((a->contact_count == 0 && !a->joints) || !rg_flight_in_range(&a->flight, y))
        return; /* free flight, or no place to look for contacts at */
    move_freely(a, t, y, dydt);
    a->active->evaluate(a);
    for (size_t i = 0; i < a->contact_count; i++) {
        /* Momenta change by the force as they would by an impulse in a second: the same
         * arithmetic. */
        const rg_analysis_contact *c = &a->contacts[i];
        rg_analysis_row row = rg_analysis_force_row(a, c);
        rg_analysis_add_outside(a, &row, 1, dydt + a->flight.size);
        rg_analysis_push(a, dydt, &row, 1);
    }
    rg_analysis_joints_react(a);
    rg_analysis_joints_push(a, dydt);
}

void rg_analysis_evaluate_free(rg_analysis *a, double t, const double *y) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    double *dydt = rg_arena_take(a->arena, a->ode.n, sizeof *dydt);
    if (dydt) {
        rg_flight_derivative(&a->flight, t, y, dydt);
        move_freely(a, t, y, dydt);
    }
    rg_arena_return(a->arena, mark);
}

void rg_analysis_evaluate(rg_analysis *a, double t, const double *y) {
    rg_analysis_evaluate_free(a, t, y);
    a->active->evaluate(a);
    rg_analysis_joints_react(a);
}

void rg_analysis_decide(rg_analysis *a) {
    a->evaluation = (rg_evaluation){.margin = INFINITY};
    if (a->contact_count == 0 && !a->joints)
        return; /* free flight */
    do {
        rg_analysis_evaluate_free(a, a->time, a->y);
        if (a->law->decide)
            a->law->decide(a);
    } while (rg_analysis_brakes_change(a));
}

void rg_analysis_evaluate_last(rg_analysis *a, rg_arrival arrival) {
    rg_analysis_evaluate_free(a, a->time, a->y);
    if (!a->law->mean)
        solve_islands(a, arrival == RG_ARRIVED_RESTING ? know_rows : solve_rows);
    rg_analysis_joints_react(a);
}

void rg_analysis_scale(void *user, const double *y, double *scale) {
    rg_analysis *a = user;
    const rg_world_content *c = &a->view->world->content;
    rg_flight_scale(&a->flight, y, scale);
    /* A body at rest under load: its momentum is what rounding leaves of forces that cancel. */
    size_t momenta = rg_flight_momenta(&a->flight), linear = rg_flight_linear(&a->flight);
    for (size_t k = 0; k < a->flight.body_count; k++) {
        const rg_body_dynamics *d = &c->dynamics[a->flight.body[k]];
        double *s = scale + k * a->flight.width + momenta, r = d->gyration_radius;
        double speed = RG_ANALYSIS_MOMENTUM * sqrt(a->view->acceleration * r);
        for (size_t i = 0; i < linear; i++)
            s[i] = fmax(s[i], d->mass * speed);
        for (size_t i = linear; i < a->flight.width - momenta; i++)
            s[i] = fmax(s[i], d->mass * r * speed);
    }
    /* Bodies in contact: errors of place that leave resting contacts in their shell. */
    double tolerance = c->settings.tolerance * RG_ANALYSIS_FINER;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *contact = &a->contacts[i];
        double most = 0.5 * RG_ANALYSIS_DRIFT * contact->shell / tolerance;
        for (int side = 0; side < 2; side++) {
            uint32_t body = side ? contact->body_b : contact->body_a;
            if (!(a->view->dynamics[body].inverse_mass > 0))
                continue;
            double *s = scale + rg_analysis_place(a, body) * a->flight.width;
            for (size_t k = 0; k < linear; k++)
                s[k] = fmin(s[k], most);
        }
    }
    for (int i = 0; i < RG_ANALYSIS_LEDGER; i++)
        scale[a->flight.size + i] = INFINITY;
}

void rg_analysis_accept(void *user, double t, double *y) {
    rg_analysis *a = user;
    rg_flight_accept(&a->flight, t, y);
}
