/* The event loop: integrate a step, find the first event on its polynomial, stop there, settle, go on
 * (Baraff 1989, section 3). Between events the right-hand side is smooth; no accepted step spans one. */
#include "base/base_text.h"
#include "step/step_analytic.h"

#include <float.h>
#include <string.h>

/* Events in a row that do not move the clock before a little time is taken without looking; and steps of
 * the integrator in one step of the world. */
enum { STUCK_MOST = 4, CUTS_MOST = 60, STEPS_MOST = 200000 };
/* That little time, relative to the step of the world: at first, and, where it is friction that cannot make up
 * its mind, at most; and how long it takes, in such times, until it is forgotten. */
#define NUDGE      1e-9
#define NUDGE_MOST 1e-2
#define NUDGES     100.0
/* Events that move the clock by less than this share of the first do not move it. */
#define STANDS 1e-3
/* Steps this short, relative to that, so many in a row, are no progress. */
#define CRAWL 1e-7
enum { CRAWLS_MOST = 50 };
#define COARSEST 1e4
/* Decisions who is held that took a solver, in one step of the world, before mean forces are taken to its end; and in a
 * step after one that ended so. Those of few contacts: of many, an eighth. */
enum { DECISIONS_MOST = 8 * RG_ANALYSIS_HARD, DECISIONS_AGAIN = RG_ANALYSIS_HARD };
/* Iterations of solvers in it before that. */
enum { WORK_MOST = RG_ANALYSIS_WORK / 10 };
/* Times for means are this share of what would just do, and this share of the last one at least. */
#define SAFETY      0.8
#define SHRINK_MOST 0.1
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

/* How far contacts that rest have moved from their places at the end of the trial step, relative to what projection
 * should mend. (Mean forces may stop one that was leaving: then outwards is no harm.) */
static double largest_drift(rg_analysis *a) {
    const rg_dense_output *dense = &a->trial.output;
    double largest = 0;
    rg_dense_evaluate(dense, 1, a->scratch_y);
    rg_analysis_accept(a, 0, a->scratch_y);
    rg_analysis_move(a, dense->begin + dense->step, a->scratch_y, &a->motion);
    rg_analysis_follow(a, &a->motion);
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        double off = c->motion.gap - RG_ANALYSIS_REST * c->shell;
        double nearer = fmin(a->begin_gaps[i], RG_ANALYSIS_REST * c->shell) - c->motion.gap;
        if (c->active && c->motion.regular)
            largest = fmax(largest, (a->means ? nearer : fabs(off) / 2) / c->shell);
    }
    return largest / RG_ANALYSIS_DRIFT;
}

/* Contacts that have moved out of the shell without an event. */
static void drop_gone(rg_analysis *a) {
    size_t kept = 0;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (c->motion.regular && c->motion.gap <= rg_analysis_near(a) * c->shell)
            a->contacts[kept++] = a->contacts[i];
    }
    a->contact_count = kept;
}

/* Contacts that are about to stop: slow, and slowing down. The direction of a slip turns the faster the slower it
 * is, and in the end faster than any step; what it still does then is beyond the tolerance. */
static void mark_stopping(rg_analysis *a) {
    for (size_t i = 0; i < a->contact_count; i++) {
        rg_analysis_contact *c = &a->contacts[i];
        double slip = rg_length(c->motion.slip);
        /* A direction that it has turned away from would not be seen to end. */
        if (c->mode == RG_ANALYSIS_SLIPS && !(rg_dot(c->motion.slip, c->direction) > 0)) {
            c->mode = slip > rg_analysis_stop(a, c) ? RG_ANALYSIS_SLIPS : RG_ANALYSIS_STICKS;
            if (c->mode == RG_ANALYSIS_SLIPS)
                c->direction = rg_scale(1 / slip, c->motion.slip);
        }
        c->stopping = c->mode == RG_ANALYSIS_SLIPS && slip > 0 &&
                      slip < RG_ANALYSIS_STOPPING * rg_analysis_creep(a, c) &&
                      c->slip_acceleration < -RG_ANALYSIS_DECISIVE * a->acceleration;
        if (c->stopping)
            c->direction = rg_scale(1 / slip, c->motion.slip);
    }
}

/* Whether a slip has turned aside, at the end of the trial step, while friction kept its direction: beyond where it
 * stops, and for one that is about to. What it then does on the way there is wrong, too, unless it is next to nothing. */
static bool any_turned_aside(const rg_analysis *a) {
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (c->mode != RG_ANALYSIS_SLIPS || !c->active || !(c->law.friction > 0))
            continue;
        double along = rg_dot(c->motion.slip, c->direction);
        double aside = rg_length(rg_add_scaled(c->motion.slip, -along, c->direction));
        if ((along <= 0 || c->stopping) && aside > RG_ANALYSIS_STOPPING * rg_analysis_creep(a, c))
            return true;
    }
    return false;
}

/* A moment with the forces of its beginning: where those of any later place cannot be found. */
static rg_status coast(rg_analysis *a, double *length) {
    double most = NUDGE * (a->end - a->begin);
    a->trouble.outcome = RG_SOLVED;
    a->keeps = false;
    rg_analysis_evaluate(a, a->time, a->y);
    a->trouble.outcome = RG_SOLVED;
    a->at_begin = a->frozen = true;
    rg_ode_try step = {.begin = a->time,
                       .most = most,
                       .tolerance = a->world->content.settings.tolerance * RG_ANALYSIS_FINER,
                       .y = a->y,
                       .next_step = most,
                       .info = &a->ode_info};
    rg_status status = rg_trial_try(&a->ode, &a->trial, true, &step);
    *length = step.length;
    a->frozen = false;
    return status;
}

/* Mean forces over the time that is left, or a little of it; they stay what they are. */
static rg_status take_means(rg_analysis *a, double *most) {
    *most = fmin(*most, a->mean_length);
    a->next_step = *most;
    rg_status status = rg_analysis_take_means(a, *most);
    a->frozen = true;
    return status;
}

/* The next time for means, after one of `length` with the drift given: contacts that rest at both ends have moved
 * by the cube of it in between. */
static double next_mean(const rg_analysis *a, double length, double drift) {
    double fitting = drift > 0 ? SAFETY * rg_ode_power(drift, -1.0 / 3) : RG_ANALYSIS_MEAN_GROWTH;
    fitting = fmin(fmax(fitting, SHRINK_MOST), RG_ANALYSIS_MEAN_GROWTH);
    return fmin(fitting * length, RG_ANALYSIS_MEAN * (a->end - a->begin));
}

/* Whether who is held changes faster than it can be found out, or takes too long. */
static bool is_hopeless(const rg_analysis *a) {
    uint64_t most = a->was_averaged ? DECISIONS_AGAIN : DECISIONS_MOST;
    return a->undecided || a->decisions > most ||
           (rg_analysis_may_average(a) && a->iterations > WORK_MOST);
}

static void start_means(rg_analysis *a) {
    a->means = true;
    a->mean_length = RG_ANALYSIS_MEAN * (a->end - a->begin);
    rg_analysis_log(a, RG_STEP_EVENT_AVERAGED, NULL, (uint32_t)a->contact_count, a->mean_length);
}

static rg_status take_step(rg_analysis *a, double most, double *length) {
    double tolerance = a->world->content.settings.tolerance * RG_ANALYSIS_FINER;
    double turn = largest_turn(a);
    if (turn > 0)
        most = fmin(most, RG_ANALYSIS_TURN / turn);
    if (!a->means)
        mark_stopping(a);
    for (int cut = 0;; cut++) {
        rg_status status = a->means ? take_means(a, &most) : RG_OK;
        a->trouble.outcome = RG_SOLVED;
        a->at_begin = true;
        a->keeps = false;
        rg_ode_try step = {.begin = a->time,
                           .most = most,
                           .tolerance = tolerance,
                           .y = a->y,
                           .next_step = a->next_step,
                           .info = &a->ode_info};
        if (!status)
            status = rg_trial_try(&a->ode, &a->trial, a->frozen, &step);
        a->next_step = step.next_step;
        *length = step.length;
        if (status)
            return status;
        if (!a->means && is_hopeless(a)) {
            start_means(a);
            continue;
        }
        double drift = a->contact_count ? largest_drift(a) : 0;
        bool bad = a->trouble.outcome != RG_SOLVED || drift > 1 ||
                   (!a->means && any_turned_aside(a)); /* as the drift has left them, at the end */
        if (a->means && (bad || *length >= a->mean_length))
            a->mean_length = next_mean(a, *length, drift);
        if (!bad && !(a->means && *length < most))
            return RG_OK;
        if (cut == CUTS_MOST || *length <= NUDGE * (a->end - a->begin))
            return a->trouble.outcome == RG_SOLVED ? RG_OK : coast(a, length);
        most = !bad ? *length : a->means ? fmin(a->mean_length, SAFETY * *length) : *length / 4;
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

/* As a->motion has it. */
static double speed_of_now(const rg_analysis *a, size_t place) {
    return rg_analysis_point_speed(a, place, a->motion.velocity, a->motion.angular_velocity);
}

static void note_speeds(rg_analysis *a) {
    for (size_t k = 0; k < a->flight.body_count; k++)
        a->fastest[k] = speed_of_now(a, k);
}

/* After a step of `length` seconds, before what happens at its end. */
static void note_travel(rg_analysis *a, double length) {
    rg_analysis_move(a, a->time, a->y, &a->motion);
    for (size_t k = 0; k < a->flight.body_count; k++) {
        a->travel[k] += length * fmax(a->fastest[k], speed_of_now(a, k));
        a->strayed |= !(a->travel[k] <= a->reach[k]);
    }
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

/* Time that is taken with the forces of its beginning, without looking at friction, or, if it is not friction
 * that stands still, at anything. */
typedef struct nudge_memory {
    double length, last; /* s; time of the last one */
    bool friction; /* the last event was a change between stick and slip, or of who carries force */
} nudge_memory;

static double nudge_of(const rg_analysis *a, nudge_memory *nudge, double most) {
    double step = a->end - a->begin;
    bool again = nudge->friction && a->time - nudge->last < NUDGES * nudge->length;
    nudge->length = again ? fmin(10 * nudge->length, NUDGE_MOST * step) : NUDGE * step;
    nudge->last = a->time;
    return fmin(most, nudge->length);
}

/* Whether forces switch on or off here. */
static bool is_break(const rg_analysis *a, double stop) {
    return a->time >= stop &&
           rg_forces_next_break(&a->world->content, a->flight.phase_begin, INFINITY) == stop;
}

static void mark_event(rg_analysis *a, const rg_analysis_event *event) {
    rg_analysis_contact *c =
        event->contact < a->contact_count ? &a->contacts[event->contact] : NULL;
    if (c && event->kind == RG_STEP_EVENT_STICK && c->mode == RG_ANALYSIS_SLIPS) {
        c->mode = RG_ANALYSIS_STICKS;
        c->at_limit = c->started = false;
    }
    /* Contacts are logged when it is known what they are, slips where they begin. */
    if (event->kind != RG_STEP_EVENT_CONTACT && event->kind != RG_STEP_EVENT_SLIP)
        rg_analysis_log(a, (rg_step_event_kind)event->kind, c, 1, 0);
}

rg_status rg_analysis_run(rg_analysis *a, rg_error *error) {
    rg_status status = rg_analysis_stand(a, error);
    if (a->stands) /* what is known of a motion is of another time */
        rg_trial_forget(&a->trial);
    if (status || a->stands)
        return status;
    status = rg_analysis_settle(a, true, error);
    int stuck = 0, crawling = 0;
    nudge_memory nudge = {.length = NUDGE * (a->end - a->begin), .last = -INFINITY};
    while (!status && a->time < a->end && !a->strayed) {
        note_speeds(a);
        if (a->ode_info.accepted + a->ode_info.rejected > STEPS_MOST)
            return rg_fail(error, RG_ITERATION_LIMIT,
                           "between t = %.9g s and %.9g s more than %d steps of the integrator: "
                           "contacts chatter, or a force is far too stiff",
                           a->begin, a->time, STEPS_MOST);
        if (a->iterations > RG_ANALYSIS_WORK)
            return rg_fail(error, RG_ITERATION_LIMIT,
                           "between t = %.9g s and %.9g s solvers took more than %d iterations: no "
                           "contact forces with friction are found that last",
                           a->begin, a->time, RG_ANALYSIS_WORK);
        double stop = rg_forces_next_break(&a->world->content, a->time, a->end);
        a->flight.phase_begin = a->time;
        a->flight.phase_end = stop;
        double most = stop - a->time, length;
        bool nudging = stuck >= STUCK_MOST;
        if (nudging)
            most = nudge_of(a, &nudge, most);
        if (!a->means && is_hopeless(a))
            start_means(a);
        a->frozen = nudging && nudge.friction;
        status = take_step(a, most, &length);
        a->frozen &= a->means;
        bool crawls = status == RG_STEP_TOO_SMALL ||
                      (!status && length < CRAWL * (a->end - a->begin) && length < most);
        crawling = crawls ? crawling + 1 : 0;
        if ((status == RG_STEP_TOO_SMALL || crawling > CRAWLS_MOST) &&
            ++a->events <= RG_ANALYSIS_EVENTS && rescue(a)) {
            crawling = 0;
            a->keeps = a->frozen = false;
            rg_trial_forget(&a->trial);
            status = rg_analysis_settle(a, true, error);
            continue;
        }
        if (status)
            return status;
        rg_analysis_event event = {.theta = 1, .kind = -1};
        a->blind = nudging || a->means;
        if (!nudging || nudge.friction)
            status = rg_analysis_first_event(a, &event, error);
        if (!status)
            rg_analysis_judge_span(a, event.theta, length);
        a->keeps = a->frozen = false;
        if (status)
            return status;
        bool short_one = event.theta * length < NUDGE * (a->end - a->begin) * STANDS ||
                         (event.changes && event.theta <= RG_ANALYSIS_LOCATED);
        bool stops = event.kind >= 0 || event.changes;
        stuck = stops && short_one && !nudging ? stuck + 1 : 0;
        nudge.friction = event.kind == RG_STEP_EVENT_STICK || event.kind == RG_STEP_EVENT_SLIP ||
                         (event.changes && event.kind < 0);
        advance(a, &event, length, stop);
        if (stops || event.theta < 1 || is_break(a, stop))
            rg_trial_forget(&a->trial);
        else
            rg_trial_keep(&a->trial);
        note_travel(a, event.theta * length);
        if (stops) {
            if (++a->events > RG_ANALYSIS_EVENTS)
                return rg_fail(
                    error, RG_ITERATION_LIMIT,
                    "more than %d events between t = %.9g s and %.9g s: contacts come and "
                    "go faster than time",
                    RG_ANALYSIS_EVENTS, a->begin, a->time);
            if (event.kind >= 0)
                mark_event(a, &event);
            status = rg_analysis_settle(a, event.detect, error);
        } else {
            status = rg_analysis_project(a);
            drop_gone(a);
            if (rg_analysis_refresh_modes(a) && !status)
                status = rg_analysis_project(a);
            rg_analysis_turn(a);
        }
    }
    return status;
}
