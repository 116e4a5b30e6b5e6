/* One complementarity problem per island and step (Hart-Anitescu 2010, Algorithm 9): velocities v+
 * and impulses r with
 *
 *     M (v+ - v_free) = J' r,   u = J v+ + gamma gap / h (normal rows),
 *     Coulomb's law between r and u,
 *
 * so that after the step, q+ = q + h v+, gaps are what they should be up to O(h^2).
 *
 * Of the traps in the paper: the gap is that of the event itself, not of the pair (each vertex of a
 * face may approach as far as it is away); gaps that are open count in full, penetrations by gamma;
 * all events of the one separating feature are used, and no other feature.
 *
 * Restitution. The problem is solved without it first. Where bodies met that have some, it is
 * solved again with u_N >= e (speed of approach) there, and the answer is the point on the way from
 * the first to the second that is farthest without more kinetic energy than the forces of the step
 * account for: Newton's law with friction can gain energy (Baraff 1994 survey, section 6), this one
 * cannot. */
#include "step/step_contacts.h"

#include "base/base_text.h"
#include "problem/problem.h"
#include "solve/solve.h"
#include "step/step_machinery.h"
#include "step/step_rolling.h"
#include "step/step_yield.h"

#include <string.h>

/* Of the work of joints in the step before: more is done by an impact. */
#define JUMP 2.0
/* s: without gravity, where nothing moves without forces and nothing is asked for, speeds are
 * relative to the size of the bodies over this time: what the forces of the last step do is wrong,
 * and none is the answer. */
#define STILL_TIME 1.0

/* --- one island ------------------------------------------------------------------------------- */

typedef struct island_answer {
    double *force, *velocity; /* rows; no velocities are found where there is no memory for them */
    rg_residual residual;
    bool warm;     /* `force` is a first guess */
    double keep;   /* residual up to which that is the answer */
    double enough; /* the same in a further pass; 0: it is the first one */
    bool rough;    /* RG_STEP_ROUGH will do */
    bool recalled; /* it is that of the step before, to the same problem */
} island_answer;

static rg_status take_answer(rg_arena *arena, size_t rows, island_answer *answer) {
    answer->force = rg_arena_take(arena, rows, sizeof *answer->force);
    answer->velocity = rg_arena_take(arena, rows, sizeof *answer->velocity);
    return answer->force && answer->velocity ? RG_OK : RG_OUT_OF_MEMORY;
}

/* The impulses of contact k of an island and of those behind it, up to *end, that follow each other
 * in the set, too: of a pile that is one island, all of them. */
static double *run_of(const rg_contact_step *contacts, const rg_island *island, size_t k,
                      size_t *end) {
    const uint32_t *list = contacts->islands.contacts + island->first_contact;
    size_t count = island->contact_count;
    *end = list[count - 1] - list[k] == count - 1 - k ? count : k + 1; /* numbers ascend */
    return contacts->impulse + list[k] * (size_t)contacts->set.dimension;
}

/* Do forces besides gravity act on a body of the island? */
static bool is_pushed(const rg_contact_step *contacts, const rg_island *island) {
    for (size_t k = 0; contacts->external && k < island->body_count; k++) {
        uint32_t body = contacts->islands.bodies[island->first_body + k];
        if (rg_largest_entry(contacts->external[body]) != 0)
            return true;
    }
    return false;
}

/* Did no body of the island move in the last step? */
static bool is_at_rest(const rg_contact_job *job, const rg_island *island) {
    const rg_world_content *c = &job->world->content;
    for (size_t k = 0; k < island->body_count; k++) {
        uint32_t body = job->contacts->islands.bodies[island->first_body + k];
        if (rg_largest_entry(c->velocity[body]) != 0 ||
            rg_largest_entry(c->angular_velocity[body]) != 0)
            return false;
    }
    return true;
}

/* Residual with which the forces of the pass before are the answer; 0: there was none. */
static double enough_again(const rg_contact_job *job, const rg_island *island) {
    const rg_contact_step *contacts = job->contacts;
    double most = 0;
    if (!contacts->earlier)
        return 0;
    for (size_t k = 0; k < island->body_count; k++)
        most = fmax(most, contacts->earlier[contacts->islands.bodies[island->first_body + k]]);
    double tolerance = job->world->content.settings.solver_tolerance;
    if (most > tolerance && island->contact_count <= RG_STEP_SMALL)
        most = 0; /* the effort has no limit: another start may do */
    return fmax(RG_STEP_AGAIN * most, RG_STEP_STAY * tolerance);
}

static double aim_of(const rg_method_settings *method) {
    return fmax(RG_STEP_AIM * method->solver_tolerance, RG_STEP_AIM_LEAST);
}

/* By the solver that was chosen, or by `auto` where that does not take the problem. */
static rg_status solve_island(rg_contact_job *job, rg_solve_context *context,
                              const rg_problem *problem, island_answer *answer,
                              rg_lane_report *report) {
    const rg_method_settings *method = &job->world->content.settings;
    const rg_solver *automatic = rg_solver_at(0);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = aim_of(method);
    settings.acceptable = method->solver_tolerance;
    settings.warm = answer->warm;
    settings.keep = fmax(answer->keep, answer->enough);
    settings.policy = method->policy;
    settings.effort = problem->contact.contacts > RG_STEP_SMALL ? RG_STEP_EFFORT : 0;
    if (answer->rough) {
        settings.tolerance = settings.acceptable = RG_STEP_ROUGH;
        settings.effort = RG_STEP_ROUGH_EFFORT;
    }
    rg_solution solution = {.force = answer->force, .velocity = answer->velocity};
    rg_solve_info info;
    rg_status status = rg_solve_made(context, method->solver ? method->solver : automatic, problem,
                                     &settings, &solution, &info, &report->error);
    bool unsuitable = !status && info.outcome == RG_SOLVE_UNSUITABLE;
    if (unsuitable)
        status =
            rg_solve_made(context, automatic, problem, &settings, &solution, &info, &report->error);
    if (status)
        return status;
    answer->residual = info.residual;
    report->counts.solves++;
    report->counts.iterations += info.iterations;
    report->counts.fallbacks += unsuitable || info.fallbacks > 0;
    bool rounded = info.outcome == RG_SOLVED && problem->contact.contacts == 0;
    bool solved = info.residual.natural <= method->solver_tolerance || rounded;
    report->counts.failures += !solved && !answer->rough;
    answer->rough = answer->rough && !solved;
    return RG_OK;
}

/* Where on the way from answer 0 to answer 1 the contacts bring no more energy than answer 0 does:
 * at 1, or before. Twice the energy that impulses r bring is r.(u_start + u(r)), u the relative
 * velocities of the surfaces at the beginning and at the end of the step, as in the ledger, and
 * quadratic along the way. */
static double share_without_gain(const double *r0, const double *r1, const double *u0,
                                 const double *u1, const double *start, size_t rows) {
    double constant = 0, linear = 0, square = 0;
    for (size_t i = 0; i < rows; i++) {
        double dr = r1[i] - r0[i], du = u1[i] - u0[i], base = start[i] + u0[i];
        constant += r0[i] * base;
        linear += dr * base + r0[i] * du;
        square += dr * du;
    }
    double allowed = fmax(0, constant) - constant; /* push-outs may bring some */
    if (linear + square <= allowed)
        return 1;
    if (square <= 0)
        return fmax(0, fmin(1, allowed / linear));
    double root = (-linear + sqrt(fmax(0, linear * linear + 4 * square * allowed))) / (2 * square);
    return fmax(0, fmin(1, root));
}

static const rg_joint_row *joint_row(const rg_contact_job *job, const rg_island *island, size_t k) {
    const rg_contact_step *contacts = job->contacts;
    return &contacts->joints.rows[contacts->islands.joints[island->first_joint + k]];
}

/* Of the joint rows of an island: velocities before, and what limits that are met ask for. */
static void meet_limits(const rg_contact_job *job, const rg_island *island, double *start,
                        double *shift) {
    for (size_t k = 0; k < island->joint_count; k++) {
        const rg_joint_row *row = joint_row(job, island, k);
        start[k] = row->before;
        if (row->restitution > 0)
            shift[k] = row->surface + row->restitution * row->before;
    }
}

/* Velocities of the axes themselves: without what gaps, springs and motors add to the rows. */
static void leave_surfaces(const rg_contact_job *job, const rg_island *island, const double *shift,
                           size_t first, island_answer *answer) {
    for (size_t k = 0; k < island->joint_count; k++) {
        const rg_joint_row *row = joint_row(job, island, k);
        answer->velocity[first + k] -=
            shift[k] - row->surface + row->compliance * answer->force[first + k];
    }
}

static void show_problem(const rg_contact_job *job, const rg_island *island,
                         const rg_problem *problem) {
    const rg_step_machinery *machinery = job->machinery;
    if (machinery->observer)
        machinery->observer(
            machinery->observer_user, job->world->content.step_count,
            job->contacts->shown + (size_t)(island - job->contacts->islands.islands), problem);
}

/* The second solve, and the mixture of both. Newton's law holds at every contact that meets,
 * whether or not the first solve loaded it: u_N >= e |u_N before|, complementary to the impulse
 * (Baraff 1989, eq. 27-29; Giang 2003, eq. 19-20). Which contacts of a redundant set carry force is
 * the solver's choice, and the answer must not depend on it. Contacts that separate beforehand take
 * no part (Baraff 1989, footnote 9): `meets` leaves them out. */
static rg_status add_restitution(rg_contact_job *job, rg_arena *arena, rg_solve_context *context,
                                 const rg_island *island, rg_problem *problem,
                                 island_answer *answer, rg_lane_report *report) {
    const rg_row_set *set = &job->contacts->set;
    const rg_islands *islands = &job->contacts->islands;
    size_t d = (size_t)set->dimension, contact_rows = island->contact_count * d;
    size_t rows = contact_rows + island->joint_count;
    const double *shift0 = problem->contact.q;
    double *shift1 = rg_arena_take(arena, rows, sizeof *shift1);
    double *start = rg_arena_take(arena, rows, sizeof *start);
    island_answer second = {.warm = true};
    if (!shift1 || !start || take_answer(arena, rows, &second))
        return rg_fail(&report->error, RG_OUT_OF_MEMORY, "no memory for contacts");
    memcpy(shift1, shift0, rows * sizeof *shift1);
    memcpy(second.force, answer->force, rows * sizeof *second.force);
    double scale = problem->scale;
    for (size_t k = 0; k < island->contact_count; k++) {
        uint32_t i = islands->contacts[island->first_contact + k];
        const rg_contact_row *row = &set->rows[i];
        memcpy(start + k * d, job->before + i * d, d * sizeof *start);
        if (!job->meets[i])
            continue;
        scale = fmax(scale, -job->before[i * d]);
        shift1[k * d] =
            rg_dot(row->surface, row->normal) + row->law.restitution * job->before[i * d];
    }
    meet_limits(job, island, start + contact_rows, shift1 + contact_rows);
    problem->contact.q = shift1;
    problem->scale = scale; /* the speeds that matter here are those of the impacts */
    show_problem(job, island, problem);
    uint64_t failures = report->counts.failures;
    rg_status status = solve_island(job, context, problem, &second, report);
    if (status)
        return status;
    if (report->counts.failures > failures) {
        /* Bodies wedged between others cannot all be thrown back: there need not be an answer. The
         * one without restitution stands, and that another law had to step in is told. */
        report->counts.failures = failures;
        report->counts.fallbacks++;
        return RG_OK;
    }
    for (size_t k = 0; k < island->contact_count; k++) {
        /* Only the normal rows carry more than the velocity of the surfaces. */
        const rg_contact_row *row = &set->rows[islands->contacts[island->first_contact + k]];
        double surface = rg_dot(row->surface, row->normal);
        answer->velocity[k * d] -= shift0[k * d] - surface;
        second.velocity[k * d] -= shift1[k * d] - surface;
    }
    leave_surfaces(job, island, shift0 + contact_rows, contact_rows, answer);
    leave_surfaces(job, island, shift1 + contact_rows, contact_rows, &second);
    double s = share_without_gain(answer->force, second.force, answer->velocity, second.velocity,
                                  start, rows);
    for (size_t i = 0; i < rows; i++)
        answer->force[i] += s * (second.force[i] - answer->force[i]);
    /* Both move the state, unless the second one does alone. */
    if (s == 1 || second.residual.natural > answer->residual.natural)
        answer->residual = second.residual;
    return RG_OK;
}

/* A body between others that overlap it on both sides cannot be pushed out of all of them: a peg
 * that turned in its hole. There need not be an answer then, and the step is solved once more with
 * overlaps that do not grow (standing still is one, where nothing is driven); what is left of them
 * is for the next steps. That another problem had to step in is told as a fallback, and unless what
 * was left out is little (RG_YIELD_LEAST) as a failure, too: nothing presses there.
 *
 * Of few contacts only, from nothing, as another start. Of more than RG_STEP_SMALL it doubled the
 * price of what was not solved and seldom helped: in none of 275 steps of a wall and a pyramid that
 * a ball hits, in 66 of 458 of a pile, a funnel and a shaken box. */
static rg_status leave_overlaps(rg_contact_job *job, rg_arena *arena, rg_solve_context *context,
                                const rg_island *island, rg_problem *problem, island_answer *answer,
                                rg_lane_report *report) {
    const rg_row_set *set = &job->contacts->set;
    const uint32_t *list = job->contacts->islands.contacts + island->first_contact;
    size_t d = (size_t)set->dimension, rows = island->contact_count * d + island->joint_count;
    double *shift = rg_arena_take(arena, rows, sizeof *shift);
    island_answer second = {.warm = false};
    if (!shift || take_answer(arena, rows, &second))
        return rg_fail(&report->error, RG_OUT_OF_MEMORY, "no memory for contacts");
    memcpy(second.force, answer->force, rows * sizeof *second.force);
    memcpy(shift, problem->contact.q, rows * sizeof *shift);
    double most = 0; /* m/s: of what is left out */
    for (size_t k = 0; k < island->contact_count; k++) {
        const rg_contact_row *row = &set->rows[list[k]];
        double surface = rg_dot(row->surface, row->normal);
        most = fmax(most, surface - shift[k * d]);
        shift[k * d] = fmax(shift[k * d], surface);
    }
    if (!(most > 0))
        return RG_OK;
    const double *asked = problem->contact.q;
    uint64_t failures = report->counts.failures;
    problem->contact.q = shift;
    rg_status status = solve_island(job, context, problem, &second, report);
    bool failed = report->counts.failures > failures;
    bool little = most <= RG_YIELD_LEAST * problem->scale;
    report->counts.failures = failures - (!failed && little);
    report->counts.fallbacks += !failed;
    if (failed)
        problem->contact.q = asked;
    else
        *answer = second;
    return status;
}

/* An island whose rows may have to yield. */
typedef struct yielding_island {
    rg_contact_job *job;
    rg_arena *arena;
    rg_solve_context *context;
    const rg_island *island;
    rg_problem *problem;
    rg_lane_report *report;
    uint64_t failures; /* before it was solved */
} yielding_island;

/* The problem with the gaps and joint speeds that it has an answer for, and that answer. */
static rg_status take_yielded(const yielding_island *y, const rg_yielding *yielding,
                              const island_answer *found, island_answer *answer) {
    const rg_islands *islands = &y->job->contacts->islands;
    size_t rows = rg_problem_rows(y->problem), first = rows - y->island->joint_count;
    double *shift = rg_arena_take(y->arena, rows, sizeof *shift);
    if (!shift)
        return rg_fail(&y->report->error, RG_OUT_OF_MEMORY, "no memory for contacts");
    for (size_t i = 0; i < rows; i++)
        shift[i] = y->problem->contact.q[i] + yielding->give[i] * found->force[i];
    y->problem->contact.q = shift;
    for (size_t k = 0; k < y->island->joint_count; k++)
        y->job->contacts->joints.rows[islands->joints[y->island->first_joint + k]].yielded =
            rg_yield_of(yielding, first + k, found->force);
    *answer = *found;
    y->report->counts.fallbacks++;
    return RG_OK;
}

/* With less and less compliance; *needed: there is an answer, and rows contradict each other. */
static rg_status solve_yielding(const yielding_island *y, rg_yielder who, rg_yielding *yielding,
                                island_answer *answer, bool *needed) {
    double loosely = 0;
    *needed = true;
    for (int loose = 1; loose >= 0 && *needed; loose--) {
        if (rg_yield_soften(y->context, y->arena, y->problem, who, loose, yielding))
            return rg_fail(&y->report->error, RG_OUT_OF_MEMORY, "no memory for contacts");
        y->report->counts.failures = y->failures;
        answer->warm = !loose;
        rg_status status = solve_island(y->job, y->context, &yielding->problem, answer, y->report);
        if (status)
            return status;
        *needed = y->report->counts.failures == y->failures &&
                  (loose || rg_yield_is_needed(yielding, answer->force, loosely));
        loosely = rg_yield_most(yielding, answer->force);
    }
    return RG_OK;
}

/* Rows that contradict each other yield (step_yield.c), which is told as a fallback. Those of
 * joints alone, if that will do: contacts win. Where the problem was solved, but joints are
 * strained, only they may. Of few contacts only, as leave_overlaps. */
static rg_status let_yield(const yielding_island *y, island_answer *answer) {
    uint64_t failures = y->report->counts.failures;
    bool failed = failures > y->failures, joints = y->island->joint_count > 0, needed = false;
    bool strained = !failed && joints && rg_yield_is_strained(y->problem, answer->force);
    rg_yielder who = joints ? RG_YIELD_JOINTS : RG_YIELD_CONTACTS,
               last = failed ? RG_YIELD_CONTACTS : RG_YIELD_JOINTS;
    rg_status status = RG_OK;
    for (; !status && (failed || strained) && !needed && who <= last; who++) {
        rg_yielding yielding;
        island_answer found = {.warm = false};
        if (take_answer(y->arena, rg_problem_rows(y->problem), &found))
            return rg_fail(&y->report->error, RG_OUT_OF_MEMORY, "no memory for contacts");
        status = solve_yielding(y, who, &yielding, &found, &needed);
        if (!status && needed)
            status = take_yielded(y, &yielding, &found, answer);
    }
    y->report->counts.failures = needed ? y->failures : failures;
    return status;
}

/* What need not have an answer is asked otherwise. */
static rg_status leave_contradictions(const yielding_island *y, island_answer *answer) {
    rg_status status = let_yield(y, answer);
    if (status || y->report->counts.failures == y->failures)
        return status;
    return leave_overlaps(y->job, y->arena, y->context, y->island, y->problem, answer, y->report);
}

/* What the curvature of the motion adds to a row that is held whatever the force; of rows that move
 * with kinematic bodies, and of others, 0. */
static double curvature_of(const rg_contact_job *job, const rg_joint_row *row) {
    const rg_world_content *c = &job->world->content;
    for (int side = 0; side < 2; side++)
        if (row->body[side] != UINT32_MAX && c->record[row->body[side]].prescription1)
            return 0;
    return isfinite(row->lower) || isfinite(row->upper) ? 0 : row->surface;
}

/* Of an island, twice the work of locked rows, r.(u before + u after) with u = -s after the solve:
 * the curvature s of the motion (step_joints_rows.c). */
static double work_of_curvature(const rg_contact_job *job, const rg_island *island,
                                const double *force) {
    double sum = 0;
    for (size_t k = 0; k < island->joint_count; k++)
        sum -= force[k] * curvature_of(job, joint_row(job, island, k));
    return sum;
}

/* Joints turn velocities into the chord of the motion, and at the end of the step on into its
 * tangent: what the first does to energy the second takes back. An impact at a contact shoots
 * through the joints in the first alone, and R.s / 2 is gained: 8 % of its energy by a chain that
 * is thrown about. Where the impulses of joints do more than twice as much as those of the step
 * before would, the step is solved once more without curvature, as at an instant; places are closed
 * by the projection then, which takes energy. */
static rg_status leave_curvature(rg_contact_job *job, rg_arena *arena, rg_solve_context *context,
                                 const rg_island *island, rg_problem *problem,
                                 island_answer *answer, rg_lane_report *report) {
    size_t first = island->contact_count * (size_t)job->contacts->set.dimension;
    size_t rows = first + island->joint_count;
    double before = 0, now = work_of_curvature(job, island, answer->force + first);
    double *start = rg_arena_take(arena, island->joint_count, sizeof *start);
    double *shift = rg_arena_take(arena, rows, sizeof *shift);
    if (!start || !shift)
        return rg_fail(&report->error, RG_OUT_OF_MEMORY, "no memory for contacts");
    for (size_t k = 0; k < island->joint_count; k++)
        start[k] =
            job->contacts->joints.impulse[job->contacts->islands.joints[island->first_joint + k]];
    before = work_of_curvature(job, island, start);
    if (!(now > JUMP * fmax(before, 0)))
        return RG_OK;
    memcpy(shift, problem->contact.q, rows * sizeof *shift);
    for (size_t k = 0; k < island->joint_count; k++)
        shift[first + k] -= curvature_of(job, joint_row(job, island, k));
    problem->contact.q = shift;
    answer->warm = true;
    return solve_island(job, context, problem, answer, report);
}

/* Is the answer what the solve started from? */
static bool is_unchanged(const rg_contact_job *job, const rg_island *island,
                         const island_answer *answer) {
    const rg_contact_step *contacts = job->contacts;
    bool same = answer->warm;
    size_t d = (size_t)contacts->set.dimension;
    for (size_t k = 0, end; k < island->contact_count && same; k = end) {
        const double *start = run_of(contacts, island, k, &end);
        same = memcmp(answer->force + k * d, start, (end - k) * d * sizeof *start) == 0;
    }
    return same;
}

/* The answer of an island without restitution and joints, or that of the step before if it was
 * asked the same. */
static rg_status solve_or_recall(rg_contact_job *job, rg_solve_context *context,
                                 const rg_island *island, const rg_problem *problem,
                                 island_answer *answer, rg_lane_report *report) {
    const rg_method_settings *method = &job->world->content.settings;
    const rg_contact_step *contacts = job->contacts;
    const rg_contact_row *first =
        &contacts->set.rows[contacts->islands.contacts[island->first_contact]];
    const rg_touch *touch = &job->view.touches[first->touch];
    const rg_allocator *memory = &job->machinery->allocator;
    rg_island_answer asked = {.collider_b = touch->collider_b.index1,
                              .collider_a = touch->collider_a.index1,
                              .solver = method->solver,
                              .tolerance = method->solver_tolerance,
                              .keep = answer->keep,
                              .scale = problem->scale,
                              .policy = (uint32_t)method->policy,
                              .directions = problem->contact.directions};
    rg_island_memory *islands = answer->keep > 0 ? NULL : report->memory; /* pushes change */
    if (islands && answer->warm &&
        rg_island_recall(islands, memory, &problem->contact, answer->force, &asked)) {
        answer->residual = asked.residual;
        answer->recalled = true;
        answer->rough = false; /* it was solved for good */
        report->counts.solves++;
        return RG_OK;
    }
    uint64_t iterations = report->counts.iterations, others = report->counts.fallbacks;
    rg_status status = solve_island(job, context, problem, answer, report);
    asked.residual = answer->residual;
    if (!status && islands && report->counts.iterations == iterations &&
        report->counts.fallbacks == others && is_unchanged(job, island, answer) &&
        answer->residual.natural <= method->solver_tolerance)
        rg_island_remember(islands, memory, &problem->contact, answer->force, &asked);
    return status;
}

/* m/s: what a body at rest may be given by the impulses of the last step, if they are the answer,
 * and stay at rest: no more than what was allowed, or than is not known of them. */
static double kept_speed(const rg_contact_job *job, const rg_island *island,
                         const island_answer *answer) {
    double tolerance = job->world->content.settings.solver_tolerance;
    double residual = answer->residual.natural, least = RG_STEP_STAY * tolerance;
    bool kept = residual <= RG_STEP_KEEP * tolerance && is_unchanged(job, island, answer);
    return kept ? fmax(fmin(residual, least), answer->keep) * job->speed : 0;
}

static void write_answer(rg_contact_job *job, const rg_island *island, const island_answer *answer,
                         double kept) {
    rg_contact_step *contacts = job->contacts;
    const rg_islands *islands = &contacts->islands;
    size_t d = (size_t)contacts->set.dimension;
    for (size_t k = 0; k < island->body_count; k++) {
        uint32_t body = islands->bodies[island->first_body + k];
        contacts->kept[body] = kept;
        contacts->residual[body] = answer->rough ? 0 : answer->residual.natural;
        contacts->rushed[body] = answer->rough;
        contacts->recalled[body] = answer->recalled;
        contacts->answers[body] = answer->residual;
    }
    for (size_t k = 0, end; k < island->contact_count; k = end) {
        double *impulse = run_of(contacts, island, k, &end);
        memcpy(impulse, answer->force + k * d, (end - k) * d * sizeof *impulse);
    }
    for (size_t k = 0; k < island->joint_count; k++)
        contacts->joints.impulse[islands->joints[island->first_joint + k]] =
            answer->force[island->contact_count * d + k];
}

/* With bounds of rolling and torsional friction that follow the normal impulses: solved again until
 * they agree (step_rolling.c). */
static rg_status solve_rolling(rg_contact_job *job, rg_arena *arena, rg_solve_context *context,
                               const rg_island *island, rg_problem *problem, island_answer *answer,
                               rg_lane_report *report) {
    rg_rolling rolling;
    double enough = RG_STEP_AIM * job->world->content.settings.solver_tolerance * job->speed;
    uint64_t failures = report->counts.failures;
    if (rg_rolling_begin(job, island, arena, problem, &rolling))
        return rg_fail(&report->error, RG_OUT_OF_MEMORY, "no memory for contacts");
    rg_rolling_bound(&rolling, answer->force, NULL);
    for (int pass = 1;; pass++) {
        report->counts.failures = failures; /* that of the last pass counts */
        rg_status status = solve_island(job, context, problem, answer, report);
        if (status)
            return status;
        double error = rg_rolling_error(&rolling, answer->force, answer->velocity);
        if (error <= enough || pass == RG_STEP_ROLLING) {
            answer->residual.natural = fmax(answer->residual.natural, error / job->speed);
            return RG_OK;
        }
        rg_rolling_bound(&rolling, answer->force, answer->velocity);
        answer->warm = true;
    }
}

static void report_answer(rg_lane_report *report, const island_answer *answer) {
    report->unfinished |= answer->rough;
    if (!answer->rough)
        rg_solve_counts_judged(&report->counts, &answer->residual);
}

/* The impulses that a solve starts from; true if there is restitution. */
static bool take_first_guess(const rg_contact_job *job, const rg_island *island,
                             island_answer *answer) {
    const rg_contact_step *contacts = job->contacts;
    const rg_islands *islands = &contacts->islands;
    size_t d = (size_t)contacts->set.dimension, contact_rows = island->contact_count * d;
    const uint32_t *list = islands->contacts + island->first_contact;
    bool meets = false;
    for (size_t k = 0, end; k < island->contact_count; k = end) {
        const double *impulse = run_of(contacts, island, k, &end);
        memcpy(answer->force + k * d, impulse, (end - k) * d * sizeof *impulse);
    }
    for (size_t k = 0; k < island->contact_count && !answer->warm; k++)
        answer->warm = job->start[list[k]] != NULL || contacts->repeats;
    for (size_t k = 0; k < island->contact_count && contacts->set.bounces && !meets; k++)
        meets = job->meets[list[k]] != 0;
    for (size_t k = 0; k < island->joint_count; k++) {
        uint32_t i = islands->joints[island->first_joint + k];
        answer->force[contact_rows + k] = contacts->joints.impulse[i];
        answer->warm |= contacts->joints.impulse[i] != 0;
        meets |= contacts->joints.rows[i].restitution > 0;
    }
    return meets;
}

/* What of the last impulses is good enough: `keep`, where forces besides gravity act, and
 * `enough`. */
static void set_limits(const rg_contact_job *job, const rg_island *island, island_answer *answer) {
    if (!answer->warm)
        return;
    if (is_pushed(job->contacts, island))
        answer->keep = RG_STEP_KEEP * job->world->content.settings.solver_tolerance;
    answer->enough = enough_again(job, island);
}

/* An island of one contact, without a problem; false: it takes one. */
static bool answer_single(rg_contact_job *job, const rg_island *island, rg_lane_report *report) {
    double force[3], tolerance = job->world->content.settings.solver_tolerance;
    island_answer answer = {.force = force};
    rg_single single;
    bool changed;
    take_first_guess(job, island, &answer);
    set_limits(job, island, &answer);
    rg_contacts_single(job, island, &single);
    rg_single_aim aim = {.warm = answer.warm,
                         .keep = fmax(answer.keep, answer.enough),
                         .tolerance = aim_of(&job->world->content.settings),
                         .acceptable = tolerance};
    if (!rg_single_solve(&single, &aim, force, &answer.residual, &changed))
        return false;
    report->counts.solves++;
    report->counts.iterations += changed;
    write_answer(job, island, &answer, kept_speed(job, island, &answer));
    report_answer(report, &answer);
    return true;
}

/* Has it got its impulses from rg_contacts_tree? */
static bool is_known(const rg_contact_job *job, const rg_island *island) {
    return job->tree && island->joint_count > 0;
}

static void count_known(const rg_contact_job *job, rg_lane_report *report) {
    report->counts.solves++;
    report->counts.iterations++;
    rg_solve_counts_judged(&report->counts, &job->tree_residual);
}

/* m/s: what residuals are relative to; 0: the problem tells. */
static double scale_of(const rg_contact_job *job, const rg_island *island,
                       const rg_problem *problem) {
    if (job->speed > 0 || rg_problem_largest(problem) > 0)
        return job->speed;
    const uint32_t *bodies = job->contacts->islands.bodies + island->first_body;
    double size = 0;
    for (size_t k = 0; k < island->body_count; k++)
        size = fmax(size, job->world->content.dynamics[bodies[k]].gyration_radius);
    return size / STILL_TIME;
}

static rg_status run_island(rg_contact_job *job, rg_arena *arena, rg_solve_context *context,
                            const rg_island *island, rg_lane_report *report) {
    rg_contact_step *contacts = job->contacts;
    const rg_row_set *set = &contacts->set;
    const rg_islands *islands = &contacts->islands;
    const rg_world_content *c = &job->world->content;
    size_t rows = island->contact_count * (size_t)set->dimension + island->joint_count;
    bool single = rg_contacts_is_single(job, island), seen = job->machinery->observer != NULL;
    if (single && !seen && answer_single(job, island, report))
        return RG_OK;
    rg_contacts_level(job, island, context->pool);
    rg_problem problem;
    island_answer answer = {0};
    rg_island_input input = {.velocity = contacts->free_velocity,
                             .angular_velocity = contacts->free_angular_velocity,
                             .shift = job->shift,
                             .mu = job->mu,
                             .directions = c->settings.friction_directions,
                             .joints = &contacts->joints,
                             .inertia = contacts->inertia,
                             .pool = context->pool};
    rg_status status = rg_island_problem(c, set, islands, island, &input, arena, &problem);
    if (!status)
        status = take_answer(arena, rows, &answer);
    if (status)
        return rg_fail(&report->error, status, "no memory for contacts");
    problem.scale = scale_of(job, island, &problem);
    bool meets = take_first_guess(job, island, &answer);
    bool plain = !meets && island->joint_count == 0;
    bool rolls = rg_rolling_any(job, island);
    if (!contacts->repeats && !rolls)
        show_problem(job, island, &problem);
    if (is_known(job, island) || (single && seen && answer_single(job, island, report)))
        return RG_OK;
    answer.rough = contacts->rough && !meets && !rolls && island->contact_count > RG_STEP_SMALL;
    if (!meets && !rolls)
        answer.velocity = NULL;
    if (plain)
        set_limits(job, island, &answer);
    /* Forces of contacts and joints together are found to a few roundings, each time to others. */
    if (!meets && !plain && !rolls && answer.warm && is_at_rest(job, island))
        answer.keep = RG_STEP_STAY * c->settings.solver_tolerance;
    uint64_t failures = report->counts.failures;
    status = plain   ? solve_or_recall(job, context, island, &problem, &answer, report)
             : rolls ? solve_rolling(job, arena, context, island, &problem, &answer, report)
                     : solve_island(job, context, &problem, &answer, report);
    if (!contacts->repeats && rolls) /* its bounds are known now */
        show_problem(job, island, &problem);
    if (!status && island->contact_count > 0 && island->contact_count <= RG_STEP_SMALL)
        status = leave_contradictions(
            &(yielding_island){job, arena, context, island, &problem, report, failures}, &answer);
    if (!status && !meets && island->contact_count > 0 && island->joint_count > 0)
        status = leave_curvature(job, arena, context, island, &problem, &answer, report);
    if (!status && meets)
        status = add_restitution(job, arena, context, island, &problem, &answer, report);
    if (status)
        return status;
    write_answer(job, island, &answer, plain ? kept_speed(job, island, &answer) : 0);
    report_answer(report, &answer);
    return RG_OK;
}

static bool is_due(const rg_contact_step *contacts, const rg_island *island) {
    return !contacts->repeats || (island->body_count > 0 &&
                                  contacts->rushed[contacts->islands.bodies[island->first_body]]);
}

/* Many threads for one island, instead of one for each of several. */
static bool is_shared(const rg_contact_job *job, const rg_island *island) {
    return island->contact_count >= RG_STEP_SHARED && !job->machinery->observer;
}

static void run_in_lane(rg_contact_job *job, size_t i, size_t lane, rg_pool *pool) {
    rg_lane_report *report = &job->lanes[lane];
    rg_arena *arena = &job->machinery->arenas[lane];
    rg_solve_context *context = job->machinery->contexts[lane];
    const rg_island *island = &job->contacts->islands.islands[i];
    rg_arena_reset(arena);
    if (report->status || !is_due(job->contacts, island))
        return;
    context->pool = pool;
    if (is_known(job, island))
        count_known(job, report);
    if (!is_known(job, island) || job->machinery->observer) /* who is shown it all the same */
        report->status = run_island(job, arena, context, island, report);
}

static void run_lane(void *user, size_t begin, size_t end, size_t lane) {
    rg_contact_job *job = user;
    for (size_t i = begin; i < end; i++)
        if (!is_shared(job, &job->contacts->islands.islands[i]))
            run_in_lane(job, i, lane, NULL);
}

/* One after the other, each by all threads. */
static void run_shared(rg_contact_job *job) {
    for (size_t i = 0; i < job->contacts->islands.count; i++)
        if (is_shared(job, &job->contacts->islands.islands[i]))
            run_in_lane(job, i, RG_STEP_SHARED_LANE, job->world->pool);
}

static rg_status collect(rg_contact_job *job, rg_error *error) {
    rg_contact_step *contacts = job->contacts;
    contacts->unfinished = false;
    if (!contacts->repeats)
        rg_solve_counts_add(&contacts->counts, &contacts->left.counts);
    for (int i = 0; i < RG_STEP_ALL_LANES; i++) {
        const rg_lane_report *lane = &job->lanes[i];
        contacts->unfinished |= lane->unfinished;
        if (lane->status) {
            if (error)
                *error = lane->error;
            return lane->status;
        }
        rg_solve_counts_add(&contacts->counts, &lane->counts);
    }
    return RG_OK;
}

rg_status rg_contacts_solve(rg_contact_job *job, rg_error *error) {
    size_t islands = job->contacts->islands.count;
    job->grain = (islands + RG_STEP_LANES - 1) / RG_STEP_LANES;
    bool remembers = !job->world->no_memory && job->contacts->rows == RG_ROWS_ALL;
    job->lanes = rg_arena_take(&job->world->scratch, RG_STEP_ALL_LANES, sizeof *job->lanes);
    if (!job->lanes)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    for (int i = 0; i < RG_STEP_ALL_LANES; i++) {
        rg_island_memory *memory = &job->machinery->islands[i];
        rg_lane_report *lane = &job->lanes[i]; /* its error is written if there is one */
        lane->status = RG_OK;
        lane->counts = rg_solve_counts_none();
        lane->memory = remembers ? memory : NULL;
        lane->unfinished = false;
        if (remembers)
            rg_island_memory_begin(memory);
    }
    job->tree = rg_contacts_tree(job, aim_of(&job->world->content.settings));
    if (!job->tree || job->machinery->observer)
        rg_joint_set_fill(&job->world->content, &job->contacts->joints,
                          job->world->content.position);
    run_shared(job);
    if (islands)
        rg_parallel_for(job->machinery->observer ? NULL : job->world->pool, islands, job->grain,
                        run_lane, job);
    rg_joint_set_settle(&job->contacts->joints);
    return collect(job, error);
}
