/* What happens at an instant: impacts to completion (step_analytic_impacts.c), then which contacts
 * are needed, which stick and which slip, then forces (Baraff 1989, section 3).
 *
 * Tested by tests/step/test_instant.c. */
#include "base/base_text.h"
#include "contact/contact.h"
#include "problem/problem_rows.h"
#include "step/step_analytic.h"
#include "step/step_stage.h"

#include <string.h>

static rg_step_event event_of(const rg_analysis *a, rg_step_event_kind kind,
                              const rg_analysis_contact *c, uint32_t contacts, double value) {
    rg_step_event e = {
        .time = a->time, .kind = (uint32_t)kind, .contacts = contacts, .value = value};
    if (!c)
        return e;
    e.body_b = rg_analysis_body_id(a, c->body_b);
    e.body_a = rg_analysis_body_id(a, c->body_a);
    e.friction = rg_analysis_slips(c) ? c->law.friction : c->law.static_friction;
    e.restitution = c->law.restitution;
    return e;
}

void rg_analysis_log(rg_analysis *a, rg_step_event_kind kind, const rg_analysis_contact *contact,
                     uint32_t contacts, double value) {
    rg_step_event event = event_of(a, kind, contact, contacts, value);
    rg_step_log_add(a->view->machinery, &event);
}

static void drop_leaving(rg_analysis *a) {
    size_t kept = 0;
    a->leaving_count = 0;
    for (size_t i = 0; i < a->contact_count; i++)
        if (a->law->mean || a->contacts[i].motion.gap_rate <= a->contacts[i].still)
            a->contacts[kept++] = a->contacts[i];
        else
            a->spare[a->leaving_count++] = a->contacts[i];
    a->contact_count = kept;
}

/* What became of stick and slip. */
typedef struct refreshed {
    bool any;   /* contacts stick that slipped, or slip that stuck */
    bool ended; /* slips have */
} refreshed;

/* Stick and slip by the slips of now. `ends`: per contact, whether the rest of its slip has to be
 * taken away: what is left to the law of stick must not move, or friction, which then opposes
 * accelerations, could give energy. */
static refreshed refresh_friction(rg_analysis *a, bool *ends) {
    refreshed all = {false, false};
    for (size_t i = 0; i < a->contact_count; i++) {
        rg_analysis_contact *c = &a->contacts[i];
        double slip = rg_length(c->motion.slip);
        bool slipped = rg_analysis_slips(c);
        bool hardly = fabs(c->slip_acceleration) < RG_ANALYSIS_DECISIVE * a->view->acceleration;
        if (slip > rg_analysis_creep(a, c)) {
            rg_analysis_note_slide(c, c->motion.slip);
        } else if (slipped && hardly) {
            rg_analysis_note_friction(c, RG_FRICTION_CREEPS);
            if (a->law->exact_cone)
                rg_analysis_note_limit(c, c->direction);
        } else if (slipped && slip <= RG_ANALYSIS_SLOW * rg_analysis_creep(a, c)) {
            rg_analysis_note_friction(c, RG_FRICTION_ENDS);
        }
        if (c->slip_acceleration <= RG_ANALYSIS_FREE * a->view->acceleration)
            rg_analysis_note_friction(c, RG_FRICTION_SETTLES);
        ends[i] = slipped && !rg_analysis_slips(c);
        all.ended |= ends[i];
        all.any |= slipped != rg_analysis_slips(c);
    }
    return all;
}

/* Contacts that stick no longer have the coefficient of slip from now on. */
static void start_slips(rg_analysis *a) {
    a->trouble.outcome = RG_SOLVED;
    if (a->law->mean)
        return;
    rg_analysis_decide(a);
    bool changed = false;
    for (size_t i = 0; i < a->contact_count; i++) {
        rg_analysis_contact *c = &a->contacts[i];
        if (rg_analysis_slips(c) || rg_analysis_starts(c) || !rg_analysis_carries(c) ||
            !(c->law.static_friction > 0) ||
            c->slip_acceleration <= rg_analysis_let_go(c) * a->view->acceleration)
            continue;
        rg_analysis_note_friction(c, RG_FRICTION_LETS_GO);
        changed |= c->law.static_friction > c->law.friction;
        rg_analysis_log(a, RG_STEP_EVENT_SLIP, c, 1, c->slip_acceleration);
    }
    if (changed)
        rg_analysis_decide(a);
}

/* A contact that slides and would be pressed the harder the more it is pressed (its own entry of
 * the matrix, friction included, is negative) may do without any force, or with one: Painleve's
 * indeterminacy. By the policy of the smallest force, which solvers start with, it lets go; by
 * that of the largest the force is put in, and what is found from there stands. */
static void choose_solution(rg_analysis *a) {
    bool holds = a->view->world->content.settings.policy == RG_POLICY_LARGEST_FORCE, held = false;
    for (size_t i = 0; i < a->contact_count; i++) {
        rg_analysis_contact *c = &a->contacts[i];
        if (!rg_analysis_slips(c) || c->force[0] > 0 || !(c->normal_acceleration > 0))
            continue;
        rg_vec3 n = c->motion.normal;
        rg_vec3 e = rg_add_scaled(n, -c->law.friction, c->basis[0]);
        rg_arena_mark mark = rg_arena_get_mark(a->arena);
        rg_analysis_row normal = rg_analysis_make_row(a, (uint32_t)i, 0, n);
        rg_analysis_row push = rg_analysis_contact_row(&a->motion, c, e);
        double w = rg_analysis_couple(a, &normal, &push);
        rg_arena_return(a->arena, mark);
        if (!(w < 0))
            continue;
        double force = -c->normal_acceleration / w;
        rg_step_event event = event_of(a, RG_STEP_EVENT_INDETERMINATE, c, 1, force);
        event.other = c->normal_acceleration;
        rg_step_log_add(a->view->machinery, &event);
        if (holds) {
            c->force[0] = force;
            c->force[1] = -c->law.friction * force;
            held = true;
        }
    }
    if (held)
        rg_analysis_decide(a);
}

rg_status rg_analysis_refresh(rg_analysis *a) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    bool *ends = rg_arena_take(a->arena, a->contact_count, sizeof *ends);
    if (!ends)
        return RG_OUT_OF_MEMORY;
    rg_status status = RG_OK;
    refreshed first = refresh_friction(a, ends), second = {false, false};
    if (first.ended) { /* what is projected away changes other slips */
        status = rg_analysis_project(a, ends);
        second = refresh_friction(a, ends);
    }
    rg_arena_return(a->arena, mark);
    bool decides = first.any || second.any;
    for (size_t i = 0; i < a->contact_count; i++)
        decides |= rg_analysis_at_limit(&a->contacts[i]);
    if (decides && !status)
        start_slips(a);
    return status;
}

/* Contacts that approach slower than counts as an impact are stopped, without restitution. A
 * body without play between two that do not move may approach both by rounding, which no impulse
 * can stop: then nothing is done, and nothing is wrong. */
static rg_status stop_slow(rg_analysis *a, rg_error *error) {
    double approach = 0;
    size_t n = 0;
    for (size_t i = 0; i < a->contact_count; i++) {
        if (!rg_analysis_touches(&a->contacts[i]))
            continue;
        approach = fmax(approach, -a->contacts[i].motion.gap_rate);
        n++;
    }
    if (!(approach > 0))
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_analysis_row *rows = rg_arena_take(a->arena, n, sizeof *rows);
    double *matrix = rg_arena_take(a->arena, n * n, sizeof *matrix);
    double *rate = rg_arena_take(a->arena, n, sizeof *rate);
    double *x = rg_arena_take(a->arena, n, sizeof *x);
    if (!rows || !matrix || !rate || !x)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    rg_analysis_joints_factor(a, RG_JOINTS_IMPULSES);
    for (size_t i = 0, k = 0; k < a->contact_count; k++) {
        if (!rg_analysis_touches(&a->contacts[k]))
            continue;
        rows[i] = rg_analysis_make_row(a, (uint32_t)k, 0, a->contacts[k].motion.normal);
        rate[i] = rg_analysis_rate(&a->motion, &rows[i]);
        x[i++] = 0;
    }
    rg_directions_couple(a->view->dynamics, a->place, rows, n, matrix);
    rg_problem problem = rg_problem_linear(n, matrix, rate);
    rg_solution solution = {.force = x};
    rg_solve_info info;
    rg_status status =
        rg_solve(a->view->context, rg_solver_find("auto"), &problem, NULL, &solution, &info, error);
    bool solved = !status && info.outcome == RG_SOLVED;
    bool rounding = !solved && approach <= RG_ANALYSIS_SPEED * a->view->speed;
    if (!status && !solved && !rounding)
        rg_analysis_tell_unsolved(a, &a->contacts[0], n, info.residual.natural);
    if (!status && !rounding)
        rg_analysis_mend_velocities(a, rows, n, x, rate);
    rg_arena_return(a->arena, mark);
    rg_analysis_move_to(a);
    return status;
}

/* m/s^2: how the gap of a contact accelerates under the forces that all others have. */
static double acceleration_of(const rg_analysis *a, size_t contact) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_analysis_row normal =
        rg_analysis_make_row(a, (uint32_t)contact, 0, a->contacts[contact].motion.normal);
    double rate = rg_analysis_own_rate(a, &normal);
    for (size_t k = 0; k < a->contact_count; k++) {
        const rg_analysis_contact *c = &a->contacts[k];
        rg_analysis_row force = rg_analysis_force_row(a, c);
        rate += rg_analysis_couple(a, &normal, &force);
    }
    rg_arena_return(a->arena, mark);
    return rate;
}

/* A part after a short time under the forces of now, at its place of now. */
static rg_swept_shape part_after(const rg_analysis *a, uint32_t part, double time) {
    uint32_t body = a->view->parts[part].body;
    const rg_analysis_motion *m = &a->motion;
    rg_vec3 linear = m->acceleration[body], angular = m->angular_acceleration[body];
    double inverse_mass = a->view->dynamics[body].inverse_mass;
    for (uint32_t k = 0; k < a->contact_count; k++) {
        rg_vec3 f = rg_analysis_force_of(&a->contacts[k]);
        rg_analysis_row row = rg_analysis_contact_row(m, &a->contacts[k], f);
        if (row.a != body && row.b != body)
            continue;
        linear = rg_add_scaled(linear, row.a == body ? inverse_mass : -inverse_mass, f);
        angular = row.a == body ? rg_add(angular, row.spin_a) : rg_sub(angular, row.spin_b);
    }
    return (rg_swept_shape){
        .placed = {a->view->parts[part].shape, rg_analysis_part_pose(a, m, part)},
        .centre = m->position[body],
        .velocity = rg_add_scaled(m->velocity[body], time, linear),
        .angular_velocity = rg_add_scaled(m->angular_velocity[body], time, angular)};
}

/* Whether the plane of a face separates the parts of a contact now and goes on to do so, under the
 * forces that all others have: then nothing needs to be held. */
static bool has_free_plane(const rg_analysis *a, const rg_analysis_contact *c) {
    if (c->kind != RG_TOUCH_PARTS || !isfinite(a->view->parts[c->part_b].radius) ||
        !isfinite(a->view->parts[c->part_a].radius) || !(a->view->acceleration > 0))
        return false;
    double time = sqrt(c->shell / a->view->acceleration);
    rg_swept_shape b = part_after(a, c->part_b, time), other = part_after(a, c->part_a, time);
    return rg_contact_free_plane(&b, &other, c->shell).rate >= -rg_analysis_stop(a, c);
}

/* Whether a contact need not be held: see below. Forces are those of all others. */
static bool is_free(const rg_analysis *a, size_t contact) {
    const rg_analysis_contact *c = &a->contacts[contact];
    double back = fmax(0, -acceleration_of(a, contact));
    if (c->motion.gap_rate > rg_analysis_stop(a, c))
        return c->motion.gap_rate > RG_ANALYSIS_STILL * sqrt(2 * back * c->shell);
    return has_free_plane(a, c);
}

/* Whether a plane across a mean of normals stands for a meeting, not one of a face. */
static bool is_degenerate(const rg_analysis_contact *c) {
    const rg_contact_piece *p = c->track.piece;
    const rg_contact_piece *plane = p[0].kind == RG_PIECE_FACE ? &p[0] : &p[1];
    return c->track.extended && plane->index == UINT32_MAX;
}

/* Contacts that may not be needed, first tried without force:
 *
 *   - those that come apart slower than counts as leaving. They are at rest if they would be back
 *     at once: that is what `still` is about, with the largest acceleration there is. Where the
 *     others hold the body so that they are not, they leave all the same. A box that lies over the
 *     edge of a slab, with its end a micrometre lower on the next one, touches that edge within the
 *     shell, too, where it slides on; to hold it there, its rate would have to be 0, and with it
 *     its speed;
 *   - those where a plane stands for a degenerate meeting (vertex or edge on edge). If the plane of
 *     a face separates the parts and goes on to, they do not push each other: a box that begins to
 *     slide from where its side is exactly over a seam. */
static void let_go_unneeded(rg_analysis *a) {
    size_t count = a->contact_count, kept = 0, parted = a->leaving_count, first = parted;
    if (a->law->mean)
        return;
    for (size_t i = 0; i < count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        /* one whose bounces have ended here is at rest, whatever its rate */
        bool slow = isfinite(c->still) && c->motion.gap_rate > rg_analysis_stop(a, c);
        if (slow || is_degenerate(c))
            a->spare[parted++] = *c;
        else
            a->contacts[kept++] = *c;
    }
    if (parted == first)
        return;
    memcpy(a->contacts + kept, a->spare + first, (parted - first) * sizeof *a->contacts);
    a->contact_count = kept;
    int64_t decisions = a->decisions; /* this one is not followed */
    rg_analysis_decide(a);
    a->decisions = decisions;
    a->trouble.outcome = RG_SOLVED;
    for (size_t i = kept; i < count; i++)
        if (is_free(a, i))
            a->spare[a->leaving_count++] = a->contacts[i];
        else /* from the end: those that leave come from the front */
            a->spare[--parted] = a->contacts[i];
    for (size_t i = parted; a->contact_count < count - (a->leaving_count - first); i++)
        a->contacts[a->contact_count++] = a->spare[i];
}

/* The contacts of now, what meets brought to an end. */
static rg_status resolve_meetings(rg_analysis *a, rg_event_need need, rg_error *error) {
    rg_analysis_set before = {a->contacts, a->contact_count};
    rg_analysis_move(a, a->time, a->y, &a->motion);
    rg_status status = RG_OK;
    if (need == RG_NEED_CONTACTS) {
        rg_stage_enter(a->view->world, RG_STAGE_POINTS);
        status = rg_analysis_detect(a, &before, error);
        if (status)
            return error && error->text[0] ? status
                                           : rg_fail(error, status, "contacts at t = %.9g s: %s",
                                                     a->time, rg_status_text(status));
    }
    rg_stage_enter(a->view->world, RG_STAGE_APPLY);
    rg_analysis_follow(a, a->contacts, a->contact_count);
    status = rg_analysis_resolve_impacts(a, before, error);
    if (status)
        return status;
    drop_leaving(a);
    return stop_slow(a, error);
}

static rg_status resolve_once(rg_analysis *a, rg_event_need need, rg_error *error) {
    rg_stage outer = rg_stage_enter(a->view->world, RG_STAGE_APPLY);
    rg_status status = resolve_meetings(a, need, error);
    rg_stage_enter(a->view->world, outer);
    if (status)
        return status;
    rg_analysis_brakes_reset(a);
    let_go_unneeded(a);
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    bool *ends = rg_arena_take(a->arena, a->contact_count, sizeof *ends);
    if (!ends)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    refresh_friction(a, ends);
    start_slips(a);
    status = rg_analysis_project(a, ends);
    rg_arena_return(a->arena, mark);
    if (!status)
        status = rg_analysis_refresh(a);
    if (status)
        return rg_fail(error, status, "projection at t = %.9g s: %s", a->time,
                       rg_status_text(status));
    choose_solution(a);
    return RG_OK;
}

rg_status rg_analysis_resolve_instant(rg_analysis *a, rg_event_need need, rg_error *error) {
    for (int jam = 0;; jam++) {
        rg_status status = resolve_once(a, need, error);
        if (!status)
            status = rg_step_confirm(a->view->world, error);
        /* An active set that was not found is no paradox: the loop takes mean forces. */
        if (status || a->trouble.outcome == RG_SOLVED || a->evaluation.finding == RG_FOUND_NOT)
            return status;
        uint32_t contact = a->trouble.contact;
        if (jam < RG_ANALYSIS_JAMS && rg_analysis_resolve_jam(a, contact))
            continue;
        if (!a->law->mean && rg_analysis_may_average(a)) {
            a->decisions = -1; /* nothing has moved: the loop takes mean forces */
            return RG_OK;
        }
        rg_analysis_tell_unsolved(a, contact < a->contact_count ? &a->contacts[contact] : NULL, 1,
                                  a->trouble.residual);
        return RG_OK;
    }
}
