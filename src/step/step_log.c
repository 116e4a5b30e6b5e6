/* What happened in a step, by any method: a fixed number of events in the world's machinery,
 * cleared when a step begins, and their words.
 *
 * Tested by tests/step/test_mixed.c. */
#include "step/step_log.h"
#include "contact/contact.h"

#include <stdio.h>
#include <string.h>

static const char *const names[RG_STEP_EVENT_KIND_COUNT] = {
    "impact",       "contact",      "break",         "slip",      "stick",      "feature",
    "accumulation", "inconsistent", "indeterminate", "capped",    "unsolved",   "handed-over",
    "averaged",     "limit",        "joint-break",   "sensor-on", "sensor-off", "joint-yield"};

const char *rg_step_event_name(rg_step_event_kind kind) {
    return kind < RG_STEP_EVENT_KIND_COUNT ? names[kind] : "?";
}

void rg_step_log_clear(rg_world *world) {
    rg_step_machinery *m = world->machinery;
    if (!m)
        return;
    m->event_count = 0;
    m->impulse_count = 0;
    m->impact_count = 0;
    rg_collision_forget_marks(m->collision);
}

rg_log_mark rg_step_log_mark(const rg_step_machinery *m) {
    return (rg_log_mark){m->event_count, m->impulse_count};
}

void rg_step_log_return(rg_step_machinery *m, const rg_log_mark *mark) {
    m->event_count = mark->events;
    m->impulse_count = mark->impulses;
}

void rg_step_log_add(rg_step_machinery *m, const rg_step_event *event) {
    size_t place = m->event_count++;
    if (place < RG_STEP_EVENTS_MOST)
        m->events[place] = *event;
}

void rg_step_log_hand_over(rg_world *world, const rg_body_id bodies[2], uint32_t count,
                           const rg_error *cause) {
    rg_step_machinery *m = world->machinery;
    m->causes[m->cause_count++ % RG_STEP_CAUSES] =
        (rg_step_cause){world->content.time, bodies[0], *cause};
    size_t kept =
        m->event_count < RG_STEP_EVENTS_MOST - 1 ? m->event_count : RG_STEP_EVENTS_MOST - 1;
    memmove(m->events + 1, m->events, kept * sizeof *m->events);
    m->events[0] = (rg_step_event){.time = world->content.time,
                                   .kind = RG_STEP_EVENT_HANDED_OVER,
                                   .contacts = count,
                                   .body_b = bodies[1],
                                   .body_a = bodies[0],
                                   .value = (double)cause->status};
    m->event_count++;
}

void rg_step_log_sort(rg_world *world) {
    rg_step_machinery *m = world->machinery;
    size_t count = m->event_count < RG_STEP_EVENTS_MOST ? m->event_count : RG_STEP_EVENTS_MOST;
    for (size_t i = 1; i < count; i++) {
        rg_step_event moving = m->events[i];
        size_t k = i;
        for (; k > 0 && m->events[k - 1].time > moving.time; k--)
            m->events[k] = m->events[k - 1];
        m->events[k] = moving;
    }
}

const rg_step_event *rg_world_step_events(const rg_world *world, size_t *kept, size_t *count) {
    const rg_step_machinery *m = world->machinery;
    *count = m ? m->event_count : 0;
    *kept = *count < RG_STEP_EVENTS_MOST ? *count : RG_STEP_EVENTS_MOST;
    return m ? m->events : NULL;
}

static const char *name_of(const rg_world *world, rg_body_id body) {
    if (!body.index1 || !rg_body_exists(world, body))
        return "?";
    const char *name = rg_body_name(world, body);
    return *name ? name : "(no name)";
}

/* In full if the world is given and it is one of the last. */
static const char *cause_of(const rg_world *world, const rg_step_event *e) {
    const rg_step_machinery *m = world ? world->machinery : NULL;
    for (size_t i = 0; m && i < m->cause_count && i < RG_STEP_CAUSES; i++) {
        const rg_step_cause *c = &m->causes[(m->cause_count - 1 - i) % RG_STEP_CAUSES];
        if (c->time == e->time && c->body.index1 == e->body_a.index1 &&
            c->body.generation == e->body_a.generation && c->error.text[0])
            return c->error.text;
    }
    return rg_status_text((rg_status)e->value);
}

static int hand_over_text(const rg_world *world, const rg_step_event *e, const char *a,
                          const char *b, char *text, size_t capacity) {
    const char *cause = cause_of(world, e);
    static const char start[] = "the method stepping makes this step";
    if (e->contacts == 0)
        return snprintf(text, capacity, "t = %.9g s: %s: %s", e->time, start, cause);
    if (e->contacts == 1)
        return snprintf(text, capacity, "t = %.9g s: %s of \"%s\": %s", e->time, start, a, cause);
    if (e->contacts == 2)
        return snprintf(text, capacity, "t = %.9g s: %s of \"%s\" and \"%s\": %s", e->time, start,
                        a, b, cause);
    return snprintf(text, capacity, "t = %.9g s: %s of \"%s\", \"%s\" and %u more: %s", e->time,
                    start, a, b, e->contacts - 2, cause);
}

static int joint_text(const rg_step_event *e, const char *a, const char *b, char *text,
                      size_t capacity) {
    bool limit = e->kind == RG_STEP_EVENT_LIMIT;
    return snprintf(text, capacity, "t = %.9g s: joint %u of \"%s\" and \"%s\" %s %.6g%s", e->time,
                    e->contacts, a, b, limit ? "reaches its limit at" : "breaks under a force of",
                    e->value, limit ? "" : " N");
}

/* With its name if the world is given. */
static int yield_text(const rg_world *world, const rg_step_event *e, const char *a, const char *b,
                      char *text, size_t capacity) {
    const char *name = world && e->contacts < world->content.joints.count
                           ? world->content.joint[e->contacts].def.name
                           : NULL;
    char number[16];
    (void)snprintf(number, sizeof number, "%u", e->contacts);
    return snprintf(text, capacity,
                    "t = %.9g s: joint %s%s%s of \"%s\" and \"%s\" gives way to contacts, which "
                    "contradict it: it misses %.3g m/s or rad/s",
                    e->time, name ? "\"" : "", name ? name : number, name ? "\"" : "", a, b,
                    e->value);
}

static int indeterminate_text(const rg_world *world, const rg_step_event *e, const char *a,
                              const char *b, char *text, size_t capacity) {
    rg_solution_policy policy = rg_world_settings(world).policy;
    return snprintf(text, capacity,
                    "t = %.9g s: several motions are possible at \"%s\" and \"%s\" (friction %g): "
                    "apart at %.7g m/s^2 without a force, or held by %.7g N; the policy %s takes "
                    "the %s",
                    e->time, a, b, e->friction, e->other, e->value, rg_solution_policy_name(policy),
                    policy == RG_POLICY_LARGEST_FORCE ? "latter" : "former");
}

static size_t put_words(const rg_world *world, const rg_step_event *e, const char *a, const char *b,
                        char *text, size_t capacity) {
    int n = 0;
    switch ((rg_step_event_kind)e->kind) {
    case RG_STEP_EVENT_IMPACT:
        n = snprintf(
            text, capacity,
            "t = %.9g s: \"%s\" and \"%s\" meet at %.6g m/s (%u contact%s, restitution %g)",
            e->time, a, b, e->value, e->contacts, e->contacts == 1 ? "" : "s", e->restitution);
        break;
    case RG_STEP_EVENT_ACCUMULATION:
        n = snprintf(text, capacity,
                     "t = %.9g s: \"%s\" bounces on \"%s\" without end (restitution %g): at rest "
                     "from %.9g s on",
                     e->time, a, b, e->restitution, e->value);
        break;
    case RG_STEP_EVENT_INCONSISTENT:
        n = snprintf(
            text, capacity,
            "t = %.9g s: no forces exist between \"%s\" and \"%s\" (friction %g): an impulse of "
            "%.6g N s resolves it",
            e->time, a, b, e->friction, e->value);
        break;
    case RG_STEP_EVENT_INDETERMINATE:
        n = indeterminate_text(world, e, a, b, text, capacity);
        break;
    case RG_STEP_EVENT_UNSOLVED:
        n = snprintf(text, capacity,
                     "t = %.9g s: forces between \"%s\" and \"%s\" and what touches them are not "
                     "exact: residual %.3g",
                     e->time, a, b, e->value);
        break;
    case RG_STEP_EVENT_AVERAGED:
        n = snprintf(text, capacity,
                     "t = %.9g s: %u contacts change between stick and slip faster than can be "
                     "followed: to the end of the step forces are means over %.3g s at most",
                     e->time, e->contacts, e->value);
        break;
    case RG_STEP_EVENT_LIMIT:
    case RG_STEP_EVENT_JOINT_BREAK:
        n = joint_text(e, a, b, text, capacity);
        break;
    case RG_STEP_EVENT_JOINT_YIELD:
        n = yield_text(world, e, a, b, text, capacity);
        break;
    case RG_STEP_EVENT_SENSOR_ON:
    case RG_STEP_EVENT_SENSOR_OFF:
        n = snprintf(text, capacity, "t = %.9g s: \"%s\" %s the sensor \"%s\"", e->time, a,
                     e->kind == RG_STEP_EVENT_SENSOR_ON ? "touches" : "leaves", b);
        break;
    case RG_STEP_EVENT_HANDED_OVER:
        n = hand_over_text(world, e, a, b, text, capacity);
        break;
    default:
        n = snprintf(text, capacity, "t = %.9g s: %s between \"%s\" and \"%s\"", e->time,
                     rg_step_event_name((rg_step_event_kind)e->kind), a, b);
    }
    return n > 0 ? (size_t)n : 0;
}

size_t rg_step_event_text(const rg_world *world, const rg_step_event *e, char *text,
                          size_t capacity) {
    return put_words(world, e, name_of(world, e->body_a), name_of(world, e->body_b), text,
                     capacity);
}

size_t rg_step_event_words(const rg_step_event *e, const char *a, const char *b, char *text,
                           size_t capacity) {
    return put_words(NULL, e, *a ? a : "(no name)", *b ? b : "(no name)", text, capacity);
}
