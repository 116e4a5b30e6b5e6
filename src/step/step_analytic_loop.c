/* The event loop: try a step of the integrator, find the first event on its polynomial, stop
 * there, make the state consistent, go on (Baraff 1989, section 3). Between events the
 * right-hand side is smooth; no accepted step spans one.
 *
 * Every trial step ends with a verdict (in the manner of CVODE's cvStep, Hindmarsh et al. 2005):
 *
 *   accepted       to its end: resting contacts are projected, modes refreshed
 *   event          up to the event: impacts, active set and modes are decided anew
 *   cut            nothing is taken: it is tried again, shorter
 *   change of law  nothing is taken: it is tried again, with mean forces
 *   hand over      nothing more can be done here: the status says why
 *
 * One rule for no progress, the least time: NUDGE of the step of the world. What cannot be had by
 * shorter steps than that is not had by cutting further: for that time forces are those of its
 * beginning where none are found, where no step of the integrator follows them within the
 * tolerance, and where events in a row do not move the clock, which are then not looked for.
 *
 * Tested by tests/step/test_events.c. */
#include "base/base_text.h"
#include "step/step_analytic.h"
#include "step/step_stage.h"

#include <float.h>
#include <string.h>

/* The least time, relative to the step of the world. */
#define NUDGE 1e-9
/* Events that move the clock by less than this share of it do not move it; so many in a row are
 * no progress. */
#define STANDS 1e-3
enum { STUCK_MOST = 4 };
/* Steps of the integrator in one step of the world. */
enum { STEPS_MOST = 200000 };
/* Iterations of solvers in it before mean forces are taken to its end. */
enum { WORK_MOST = RG_ANALYSIS_WORK / 10 };
/* Times for means, and trial steps in which a slip begins, are this share of what would just do,
 * and this share of the last one at least. */
#define SAFETY      0.8
#define SHRINK_MOST 0.1
/* A trial step that is cut is tried again with this share of its length. */
#define CUT_TO 0.25

typedef enum verdict { ACCEPTED, EVENT, CUT, CHANGE_OF_LAW, HAND_OVER } verdict;

typedef struct event_loop {
    rg_analysis *a;
    rg_error *error;
    rg_status status; /* of HAND_OVER */
    double stop;      /* s: the end of the step, or where forces switch */
    double most;      /* s: the longest trial step */
    double length;    /* s: of the trial step */
    rg_analysis_event event;
    int stuck;       /* events in a row that did not move the clock */
    double coasted;  /* s: where the integrator last found no step that keeps the tolerance */
    double resolved; /* s: where a trial step last began without forces */
    bool strayed;    /* a body left its reach */
} event_loop;

static double step_length(const rg_analysis *a) {
    return a->view->end - a->view->begin;
}

/* --- judging a trial step --------------------------------------------------------------------- */

static double largest_turn(const rg_analysis *a) {
    double spin = rg_analysis_joints_spin(a);
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        spin = fmax(spin, rg_length(rg_sub(a->motion.angular_velocity[c->body_a],
                                           a->motion.angular_velocity[c->body_b])));
    }
    return spin;
}

/* How far contacts that rest have moved from their places at the end of the trial step, where the
 * integrators evaluate last, relative to what projection should mend. (Mean forces may stop one
 * that was leaving: then outwards is no harm.) */
static double largest_drift(const rg_analysis *a) {
    double largest = 0;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        double off = c->motion.gap - RG_ANALYSIS_REST * c->shell;
        double nearer = fmin(a->start[i].gap, RG_ANALYSIS_REST * c->shell) - c->motion.gap;
        if (rg_analysis_carries(c) && c->motion.regular)
            largest = fmax(largest, (a->law->mean ? nearer : fabs(off) / 2) / c->shell);
    }
    return largest / RG_ANALYSIS_DRIFT;
}

/* Contacts that are about to stop: slow, and slowing down. The direction of a slip turns the
 * faster the slower it is, and in the end faster than any step; what it still does then is
 * beyond the tolerance. Returns whether friction changes by it: then others may not stick where
 * they were found to. */
static bool mark_stopping(rg_analysis *a) {
    bool changed = false;
    for (size_t i = 0; i < a->contact_count; i++) {
        rg_analysis_contact *c = &a->contacts[i];
        double slip = rg_length(c->motion.slip);
        /* A direction that it has turned away from would not be seen to end. */
        if (!rg_analysis_slips(c))
            continue;
        if (!(rg_dot(c->motion.slip, c->direction) > 0)) {
            if (slip > rg_analysis_stop(a, c))
                rg_analysis_note_slide(c, c->motion.slip);
            else
                rg_analysis_note_friction(c, RG_FRICTION_ENDS);
            changed = true;
        }
        bool slows = slip > 0 && slip < RG_ANALYSIS_STOPPING * rg_analysis_creep(a, c) &&
                     c->slip_acceleration < -RG_ANALYSIS_DECISIVE * a->view->acceleration;
        rg_analysis_note_friction(c, slows ? RG_FRICTION_SLOWS : RG_FRICTION_GOES_ON);
        if (c->friction == RG_FRICTION_STOPS) {
            rg_analysis_note_slide(c, c->motion.slip);
            changed = true;
        }
    }
    return changed;
}

/* How much of the trial step can be taken, because of slips whose direction friction keeps: 1 is
 * all of it. One that is about to stop, or begins, may turn aside by little: what begins at the
 * limit of stick goes on against its slip from the end of the step on, and how far it gets aside
 * until then grows with the square of the time. One that is not about to stop, when the step
 * begins, and stops in it, must stop straight: the stages of the integrator may all miss the
 * short time in which its direction turns, and the motion is then not that of the forces along
 * it. Otherwise the step is to end where it is about to stop. */
static double share_without_turn(const rg_analysis *a) {
    double share = 1;
    for (size_t i = 0; i < a->contact_count && !a->law->mean; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        bool begins = rg_analysis_at_limit(c);
        if (!(rg_analysis_slips(c) || begins) || !rg_analysis_carries(c) || !(c->law.friction > 0))
            continue;
        double along = rg_dot(c->motion.slip, c->direction), creep = rg_analysis_creep(a, c);
        double aside = rg_length(rg_add_scaled(c->motion.slip, -along, c->direction));
        double begin = a->start[i].slip, most = RG_ANALYSIS_STOPPING * creep;
        if (begins && aside > most)
            share = fmin(share, fmax(SHRINK_MOST, SAFETY * sqrt(most / aside)));
        else if (c->friction == RG_FRICTION_STOPS && aside > most)
            share = fmin(share, CUT_TO);
        else if (c->friction == RG_FRICTION_SLIPS && along <= 0 && aside > 0)
            share = fmin(share, fmax(CUT_TO, (begin - creep) / (begin - along)));
    }
    return share;
}

/* The next time for means, after one of `length` with the drift given: contacts that rest at
 * both ends have moved by the cube of it in between. */
static double next_mean(const rg_analysis *a, double length, double drift) {
    double fitting = drift > 0 ? SAFETY * rg_ode_power(drift, -1.0 / 3) : RG_ANALYSIS_MEAN_GROWTH;
    fitting = fmin(fmax(fitting, SHRINK_MOST), RG_ANALYSIS_MEAN_GROWTH);
    return fmin(fitting * length, RG_ANALYSIS_MEAN * step_length(a));
}

/* Whether the active set changes faster than it can be found, or takes too long. */
static bool is_hopeless(const rg_analysis *a) {
    return !a->law->mean && (a->decisions < 0 || (rg_analysis_may_average(a) &&
                                                  a->tally.counts.iterations > WORK_MOST));
}

static void change_law(rg_analysis *a) {
    a->law = &rg_law_mean;
    rg_analysis_end_trial(a);
    a->mean_length = RG_ANALYSIS_MEAN * step_length(a);
    rg_analysis_log(a, RG_STEP_EVENT_AVERAGED, NULL, (uint32_t)a->contact_count, a->mean_length);
}

/* --- one trial step --------------------------------------------------------------------------- */

static rg_status integrate(rg_analysis *a, rg_course course, double most, double *next_step,
                           double *length) {
    double finer = a->candidate_count || a->joints ? RG_ANALYSIS_FINER : 1;
    rg_ode_try step = {.begin = a->time,
                       .most = most,
                       .tolerance = a->view->world->content.settings.tolerance * finer,
                       .y = a->y,
                       .next_step = *next_step,
                       .info = &a->ode_info};
    rg_analysis_begin_trial(a, course);
    /* Constant forces are so for this step only: nothing is to be remembered of it. */
    rg_trial_method method =
        course == RG_COURSE_CONSTANT ? RG_TRIAL_DORMAND_PRINCE : a->trial.method;
    rg_status status = rg_trial_try(&a->ode, &a->trial, method, &step);
    *next_step = step.next_step;
    *length = step.length;
    return status;
}

/* The least time with the forces of its beginning. */
static verdict coast(event_loop *l) {
    rg_analysis *a = l->a;
    double most = fmin(NUDGE * step_length(a), l->stop - a->time), next = most;
    a->trouble.outcome = RG_SOLVED;
    rg_analysis_end_trial(a);
    rg_analysis_evaluate(a, a->time, a->y);
    l->status = integrate(a, RG_COURSE_CONSTANT, most, &next, &l->length);
    return l->status ? HAND_OVER : ACCEPTED;
}

/* There are no forces where the trial step begins: what calls for an impulse, or another active
 * set, came up during the last one, which was too short to be cut. */
static verdict resolve_start(event_loop *l) {
    l->resolved = l->a->time;
    l->event = (rg_analysis_event){.kind = -1, .need = RG_NEED_FORCES, .contact = UINT32_MAX};
    rg_analysis_end_trial(l->a);
    return EVENT;
}

/* ACCEPTED: to its end, before events are looked for. */
static verdict try_step(event_loop *l) {
    rg_analysis *a = l->a;
    l->status = a->law->prepare ? a->law->prepare(a, &l->most) : RG_OK;
    if (!l->status)
        l->status = integrate(a, a->law->mean ? RG_COURSE_CONSTANT : RG_COURSE_FOLLOWS, l->most,
                              &a->next_step, &l->length);
    /* Forces that change within less than the least time are not followed through it, either; but a
     * force that is too stiff is so everywhere. */
    if (l->status == RG_STEP_TOO_SMALL && a->contact_count &&
        a->time - l->coasted > 2 * NUDGE * step_length(a)) {
        l->coasted = a->time;
        rg_trial_forget(&a->trial);
        a->next_step = step_length(a);
        return coast(l);
    }
    if (l->status)
        return HAND_OVER;
    if (is_hopeless(a))
        return CHANGE_OF_LAW;
    bool found = a->trouble.outcome == RG_SOLVED;
    if (!found && a->trouble.time == a->time && l->resolved < a->time)
        return resolve_start(l);
    double drift = a->contact_count ? largest_drift(a) : 0;
    double share = share_without_turn(a);
    if (!found || drift > 1)
        share = CUT_TO;
    bool bad = share < 1;
    bool mean = a->law->mean;
    if (mean && (bad || l->length >= a->mean_length))
        a->mean_length = next_mean(a, l->length, drift);
    if (!bad && !(mean && l->length < l->most))
        return ACCEPTED;
    if (l->length <= NUDGE * step_length(a))
        return found ? ACCEPTED : coast(l);
    l->most = !bad   ? l->length
              : mean ? fmin(a->mean_length, SAFETY * l->length)
                     : share * l->length;
    a->next_step = l->most;
    return CUT;
}

static verdict look_for_event(event_loop *l) {
    rg_analysis *a = l->a;
    l->event = (rg_analysis_event){.theta = 1, .kind = -1};
    rg_stage outer = rg_stage_enter(a->view->world, RG_STAGE_EVENTS);
    if (l->stuck < STUCK_MOST)
        l->status = rg_analysis_first_event(a, &l->event, l->error);
    rg_stage_enter(a->view->world, RG_STAGE_JUDGE);
    if (!l->status)
        rg_analysis_judge_span(a, l->event.theta, l->length);
    rg_stage_enter(a->view->world, outer);
    rg_analysis_end_trial(a);
    return l->status ? HAND_OVER : l->event.need != RG_NEED_NOTHING ? EVENT : ACCEPTED;
}

/* Tries until something comes of it. */
static verdict try_until_verdict(event_loop *l) {
    rg_analysis *a = l->a;
    if (!a->law->mean && mark_stopping(a))
        rg_analysis_decide(a);
    for (;;) {
        if ((l->status = rg_step_confirm(a->view->world, l->error)) != RG_OK)
            return HAND_OVER;
        verdict v = l->stuck < STUCK_MOST ? try_step(l) : coast(l);
        if (v == CHANGE_OF_LAW)
            change_law(a);
        if (v != CUT && v != CHANGE_OF_LAW)
            return v == ACCEPTED ? look_for_event(l) : v;
    }
}

static verdict try_out(event_loop *l) {
    rg_analysis *a = l->a;
    double turn = largest_turn(a);
    if (turn > 0)
        l->most = fmin(l->most, RG_ANALYSIS_TURN / turn);
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_partition islands;
    rg_stage outer = rg_stage_enter(a->view->world, RG_STAGE_ISLANDS);
    l->status = rg_analysis_find_islands(a, &islands);
    rg_stage_enter(a->view->world, outer);
    a->islands = &islands;
    verdict v = l->status ? HAND_OVER : try_until_verdict(l);
    a->islands = NULL;
    rg_arena_return(a->arena, mark);
    return v;
}

/* --- what is taken ---------------------------------------------------------------------------- */

/* As a->motion has it. */
static double speed_of_now(const rg_analysis *a, size_t place) {
    return rg_analysis_point_speed(a, place, a->motion.velocity, a->motion.angular_velocity);
}

static void note_speeds(rg_analysis *a) {
    for (size_t k = 0; k < a->flight.body_count; k++)
        a->travel[k].fastest = speed_of_now(a, k);
}

/* After a step of `length` seconds, before what happens at its end: whether a body left its
 * reach. */
static bool note_travel(rg_analysis *a, double length) {
    bool strayed = false;
    rg_analysis_move(a, a->time, a->y, &a->motion);
    for (size_t k = 0; k < a->flight.body_count; k++) {
        rg_analysis_travel *t = &a->travel[k];
        t->most += length * fmax(t->fastest, speed_of_now(a, k));
        strayed |= !(t->most <= t->reach);
    }
    return strayed;
}

/* Whether forces switch on or off here. */
static bool is_break(const rg_analysis *a, double stop) {
    return a->time >= stop &&
           rg_forces_next_break(&a->view->world->content, a->flight.phase_begin, INFINITY) == stop;
}

/* The state to the end of the trial step, or to its event. */
static void advance(event_loop *l, verdict v) {
    rg_analysis *a = l->a;
    if (l->event.theta >= 1) {
        double stop = l->stop;
        memcpy(a->y, a->trial.end, a->ode.n * sizeof *a->y);
        a->time = a->time + l->length >= stop - RG_STEP_RESOLUTION * DBL_EPSILON * fabs(stop)
                      ? stop
                      : a->time + l->length;
    } else {
        rg_dense_evaluate(&a->trial.output, l->event.theta, a->y);
        rg_analysis_accept(a, 0, a->y);
        a->time += l->event.theta * l->length;
    }
    if (v == EVENT || l->event.theta < 1 || is_break(a, l->stop))
        rg_trial_forget(&a->trial);
    else
        rg_trial_keep(&a->trial);
    l->strayed |= note_travel(a, l->event.theta * l->length);
}

/* Contacts that have moved out of the shell without an event. */
static void drop_gone(rg_analysis *a) {
    size_t kept = 0;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (c->motion.regular && c->motion.gap <= a->law->near * c->shell)
            a->contacts[kept++] = a->contacts[i];
    }
    a->contact_count = kept;
}

static rg_status accept_step(rg_analysis *a) {
    rg_status status = rg_analysis_project(a, NULL);
    drop_gone(a);
    return status ? status : rg_analysis_refresh(a);
}

static void mark_event(rg_analysis *a, const rg_analysis_event *event) {
    rg_analysis_contact *c =
        event->contact < a->contact_count ? &a->contacts[event->contact] : NULL;
    if (c && event->kind == RG_STEP_EVENT_STICK)
        rg_analysis_note_friction(c, RG_FRICTION_ENDS);
    /* Contacts are logged when it is known what they are, slips where they begin. */
    if (event->kind >= 0 && event->kind != RG_STEP_EVENT_CONTACT &&
        event->kind != RG_STEP_EVENT_SLIP)
        rg_analysis_log(a, (rg_step_event_kind)event->kind, c, 1, 0);
}

static rg_status take_event(event_loop *l) {
    rg_analysis *a = l->a;
    if (++a->events > RG_ANALYSIS_EVENTS)
        return rg_fail(l->error, RG_ITERATION_LIMIT,
                       "more than %d events between t = %.9g s and %.9g s: contacts come and "
                       "go faster than time",
                       RG_ANALYSIS_EVENTS, a->view->begin, a->time);
    mark_event(a, &l->event);
    return rg_analysis_resolve_instant(a, l->event.need, l->error);
}

/* --- the loop --------------------------------------------------------------------------------- */

static rg_status check_limits(const rg_analysis *a, rg_error *error) {
    if (a->ode_info.accepted + a->ode_info.rejected > STEPS_MOST)
        return rg_fail(error, RG_ITERATION_LIMIT,
                       "between t = %.9g s and %.9g s more than %d steps of the integrator: "
                       "contacts chatter, or a force is far too stiff",
                       a->view->begin, a->time, STEPS_MOST);
    if (a->tally.counts.iterations > RG_ANALYSIS_WORK)
        return rg_fail(error, RG_ITERATION_LIMIT,
                       "between t = %.9g s and %.9g s solvers took more than %d iterations: no "
                       "contact forces with friction are found that last",
                       a->view->begin, a->time, RG_ANALYSIS_WORK);
    return RG_OK;
}

/* Up to where forces switch. */
static void begin_step(event_loop *l) {
    rg_analysis *a = l->a;
    note_speeds(a);
    l->stop = rg_forces_next_break(&a->view->world->content, a->time, a->view->end);
    a->flight.phase_begin = a->time;
    a->flight.phase_end = l->stop;
    l->most = l->stop - a->time;
    if (is_hopeless(a))
        change_law(a);
}

static void note_progress(event_loop *l) {
    const rg_analysis_event *e = &l->event;
    bool moved = e->theta * l->length >= NUDGE * step_length(l->a) * STANDS &&
                 !(e->need == RG_NEED_FORCES && e->theta <= RG_ANALYSIS_LOCATED);
    l->stuck = e->need != RG_NEED_NOTHING && !moved ? l->stuck + 1 : 0;
}

static rg_status take_verdict(event_loop *l, verdict v) {
    rg_analysis *a = l->a;
    if (v == HAND_OVER)
        return l->status;
    note_progress(l);
    advance(l, v);
    return v == EVENT ? take_event(l) : accept_step(a);
}

rg_status rg_analysis_run(rg_analysis *a, rg_arrival *arrival, rg_error *error) {
    bool rests;
    rg_status status = rg_analysis_try_rest(a, &rests, error);
    *arrival = rests ? RG_ARRIVED_RESTING : RG_ARRIVED;
    if (rests) /* what is known of a motion is of another time */
        rg_trial_forget(&a->trial);
    if (status || rests)
        return status;
    event_loop l = {.a = a, .error = error, .coasted = -INFINITY, .resolved = -INFINITY};
    status = rg_analysis_resolve_instant(a, RG_NEED_CONTACTS, error);
    while (!status && a->time < a->view->end && !l.strayed) {
        status = check_limits(a, error);
        if (status)
            break;
        begin_step(&l);
        status = take_verdict(&l, try_out(&l));
    }
    if (l.strayed)
        *arrival = RG_STRAYED;
    return status;
}
