/* The event loop: integrate a step, find the first event on its polynomial, stop there, settle, go on
 * (Baraff 1989, section 3). Between events the right-hand side is smooth; no accepted step spans one. */
#include "base/base_text.h"
#include "step/step_analytic.h"

#include <float.h>
#include <string.h>

/* Events in a row that do not move the clock before a little time is taken without looking; and steps of
 * the integrator in one step of the world. */
enum { STUCK_MOST = 12, CUTS_MOST = 60, STEPS_MOST = 200000 };
/* That little time, relative to the step of the world. */
#define NUDGE 1e-9
/* Steps this short, relative to that, so many in a row, are no progress. */
#define CRAWL 1e-7
enum { CRAWLS_MOST = 50 };
#define COARSEST 1e4
/* Forces that grow without bound: so many times mass times acceleration. */
#define JAMMED 1e5

static double largest_turn(const rg_analysis *a) {
    double spin = 0;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        spin = fmax(spin, rg_length(rg_sub(a->motion.angular_velocity[c->body_a],
                                           a->motion.angular_velocity[c->body_b])));
    }
    return spin;
}

/* Whether a contact that rests has moved further from its place than projection should mend. */
static bool has_drifted(rg_analysis *a, double theta) {
    const rg_dense_output *dense = &a->trial.output;
    rg_dense_evaluate(dense, theta, a->scratch_y);
    rg_analysis_accept(a, 0, a->scratch_y);
    rg_analysis_move(a, dense->begin + theta * dense->step, a->scratch_y, &a->motion);
    rg_analysis_follow(a, &a->motion);
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (c->active && c->motion.regular &&
            fabs(c->motion.gap - RG_ANALYSIS_REST * c->shell) > 2 * RG_ANALYSIS_DRIFT * c->shell)
            return true;
    }
    return false;
}

/* Contacts that have moved out of the shell without an event. */
static void drop_gone(rg_analysis *a) {
    size_t kept = 0;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (c->motion.regular && c->motion.gap <= RG_ANALYSIS_NEAR * c->shell)
            a->contacts[kept++] = a->contacts[i];
    }
    a->contact_count = kept;
}

static rg_status take_step(rg_analysis *a, double most, double *length) {
    double tolerance = a->world->content.settings.tolerance * RG_ANALYSIS_FINER;
    double turn = largest_turn(a);
    if (turn > 0)
        most = fmin(most, RG_ANALYSIS_TURN / turn);
    for (size_t i = 0; i < a->contact_count; i++)
        memcpy(a->begin_forces[i], a->contacts[i].force, sizeof *a->begin_forces);
    for (int cut = 0;; cut++) {
        a->trouble.outcome = RG_SOLVED;
        rg_status status = rg_dormand_prince_try(&a->ode, &a->trial, a->time, most, tolerance, a->y,
                                                 &a->next_step, length, &a->ode_info);
        if (status)
            return status;
        bool bad = a->trouble.outcome != RG_SOLVED || (a->contact_count && has_drifted(a, 1));
        if (!bad || cut == CUTS_MOST || *length <= NUDGE * (a->end - a->begin))
            return RG_OK;
        most = *length / 4;
        a->next_step = most;
    }
}

/* Near rest many points with friction can chatter: directions of slips of micrometres a second change
 * faster than any step. Then slips that slow are left to the law of stick, in steps of ten, until it goes
 * on; the energy that it costs is in the ledger. */
static bool rescue(rg_analysis *a) {
    uint32_t worst = 0;
    double largest = 0;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        const rg_body_dynamics *d = a->world->content.dynamics;
        double mass = fmax(d[c->body_a].mass * (d[c->body_a].inverse_mass > 0),
                           d[c->body_b].mass * (d[c->body_b].inverse_mass > 0));
        if (c->force[0] / mass > largest) {
            largest = c->force[0] / mass;
            worst = (uint32_t)i;
        }
    }
    if (largest > JAMMED * a->acceleration && rg_analysis_unjam(a, worst))
        return true;
    if (a->contact_count == 0 || a->coarser >= COARSEST)
        return false;
    a->coarser *= 10;
    a->next_step = 0;
    return true;
}

static void advance(rg_analysis *a, const rg_analysis_event *event, double length, double stop) {
    if (event->theta >= 1) {
        memcpy(a->y, a->trial.end, a->ode.n * sizeof *a->y);
        a->time = a->time + length >= stop - RG_STEP_RESOLUTION * DBL_EPSILON * fabs(stop)
                      ? stop
                      : a->time + length;
        return;
    }
    rg_dense_evaluate(&a->trial.output, event->theta, a->y);
    rg_analysis_accept(a, 0, a->y);
    a->time += event->theta * length;
}

static void mark_event(rg_analysis *a, const rg_analysis_event *event) {
    rg_analysis_contact *c =
        event->contact < a->contact_count ? &a->contacts[event->contact] : NULL;
    if (c && event->kind == RG_STEP_STICK_EVENT && c->mode == RG_ANALYSIS_SLIPS) {
        c->mode = RG_ANALYSIS_STICKS;
        c->at_limit = c->started = false;
    }
    /* Contacts are logged when it is known what they are, slips where they begin. */
    if (event->kind != RG_STEP_CONTACT_EVENT && event->kind != RG_STEP_SLIP_EVENT)
        rg_analysis_log(a, (rg_step_event_kind)event->kind, c, 1, 0);
}

rg_status rg_analysis_run(rg_analysis *a, rg_error *error) {
    rg_status status = rg_analysis_settle(a, true, error);
    int stuck = 0, crawling = 0;
    while (!status && a->time < a->end) {
        if (a->ode_info.accepted + a->ode_info.rejected > STEPS_MOST)
            return rg_fail(error, RG_ITERATION_LIMIT,
                           "between t = %.9g s and %.9g s more than %d steps of the integrator: "
                           "contacts chatter, or a force is far too stiff",
                           a->begin, a->time, STEPS_MOST);
        double stop = rg_forces_next_break(&a->world->content, a->time, a->end);
        a->flight.phase_begin = a->time;
        a->flight.phase_end = stop;
        double most = stop - a->time, length;
        if (stuck >= STUCK_MOST)
            most = fmin(most, NUDGE * (a->end - a->begin));
        status = take_step(a, most, &length);
        bool crawls = status == RG_STEP_TOO_SMALL ||
                      (!status && length < CRAWL * (a->end - a->begin) && length < most);
        crawling = crawls ? crawling + 1 : 0;
        if ((status == RG_STEP_TOO_SMALL || crawling > CRAWLS_MOST) &&
            ++a->events <= RG_ANALYSIS_EVENTS && rescue(a)) {
            crawling = 0;
            status = rg_analysis_settle(a, true, error);
            continue;
        }
        if (status)
            return status;
        rg_analysis_event event = {.theta = 1, .kind = -1};
        if (stuck < STUCK_MOST)
            status = rg_analysis_first_event(a, &event, error);
        if (status)
            return status;
        bool short_one = event.theta * length < NUDGE * (a->end - a->begin) * 1e-3;
        stuck = event.kind >= 0 && short_one ? stuck + 1 : 0;
        advance(a, &event, length, stop);
        if (event.kind >= 0) {
            if (++a->events > RG_ANALYSIS_EVENTS)
                return rg_fail(
                    error, RG_ITERATION_LIMIT,
                    "more than %d events between t = %.9g s and %.9g s: contacts come and "
                    "go faster than time",
                    RG_ANALYSIS_EVENTS, a->begin, a->time);
            mark_event(a, &event);
            status = rg_analysis_settle(a, event.detect, error);
        } else {
            status = rg_analysis_project(a);
            drop_gone(a);
            rg_analysis_refresh_modes(a);
            rg_analysis_turn(a);
        }
    }
    return status;
}
