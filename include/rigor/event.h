/* What happened in a step of the event-driven method: impacts, contacts that came and went, changes
 * between stick and slip, and whatever had to be decided or given up, in plain words. Of the method
 * stepping: impacts with restitution, limits and breaks of joints, joints that gave way. Of all
 * methods: what sensors
 * feel. */
#ifndef RIGOR_EVENT_H
#define RIGOR_EVENT_H

#include "rigor/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rg_step_event_kind {
    RG_STEP_EVENT_IMPACT,        /* bodies met; value: approach, m/s */
    RG_STEP_EVENT_CONTACT,       /* a contact began without an impact; value: approach, m/s */
    RG_STEP_EVENT_BREAK,         /* a normal force reached zero */
    RG_STEP_EVENT_SLIP,          /* the limit of stick was reached */
    RG_STEP_EVENT_STICK,         /* slip stopped */
    RG_STEP_EVENT_FEATURE,       /* a contact point left its face or edge */
    RG_STEP_EVENT_ACCUMULATION,  /* bounces without end: at rest at `value` (time, s) */
    RG_STEP_EVENT_INCONSISTENT,  /* no forces exist: resolved by an impulse (Painleve) */
    RG_STEP_EVENT_INDETERMINATE, /* several motions are possible: one was chosen by the policy */
    RG_STEP_EVENT_CAPPED,        /* of recordings made before; there are no more */
    RG_STEP_EVENT_UNSOLVED,      /* a contact problem was not solved exactly; value: its residual */
    RG_STEP_EVENT_HANDED_OVER,   /* the stepping method made the step of a group of bodies; value:
                                    why, rg_status */
    RG_STEP_EVENT_AVERAGED,      /* stick and slip change too fast to be followed: forces are means
                                    over `value` s at most, to the end of the step */
    RG_STEP_EVENT_LIMIT,         /* a joint reached a limit; value: its coordinate, m or rad */
    RG_STEP_EVENT_JOINT_BREAK,   /* a joint broke; value: its force, N; other: its torque, N m */
    RG_STEP_EVENT_SENSOR_ON,     /* A touches the sensor B from now on; at the step's beginning */
    RG_STEP_EVENT_SENSOR_OFF,    /* and no longer */
    RG_STEP_EVENT_JOINT_YIELD, /* a joint began to give way to contacts, which contradict it; value:
                                    by how much, m/s or rad/s */
    RG_STEP_EVENT_KIND_COUNT
} rg_step_event_kind;
const char *rg_step_event_name(rg_step_event_kind kind);

typedef struct rg_step_event {
    double time;
    uint32_t kind;     /* rg_step_event_kind */
    uint32_t contacts; /* that took part; of a hand-over: bodies, 0 if it is that of the world; of a
                          joint: its number, as rg_world_joint_at */
    rg_body_id body_b, body_a; /* of a hand-over: A the first of them, B the second */
    double value;
    double friction, restitution;
    double other; /* of an indeterminate one, with the normal force that is possible as `value` (N):
                     the acceleration apart without any (m/s^2) */
} rg_step_event;

/* Of the last step, also of one that failed, in the order in which they happened; until the next
 * step. At most RG_STEP_EVENTS_MOST are kept; *count says how many there were. */
enum { RG_STEP_EVENTS_MOST = 1024 };
const rg_step_event *rg_world_step_events(const rg_world *world, size_t *kept, size_t *count);
/* In plain words, with names, time and coefficients. Returns the length that the text has. */
size_t rg_step_event_text(const rg_world *world, const rg_step_event *event, char *text,
                          size_t capacity);
/* The same without the world: the names are given, and a hand-over has no other cause than its
 * status. */
size_t rg_step_event_words(const rg_step_event *event, const char *name_a, const char *name_b,
                           char *text, size_t capacity);

/* One contact's share of one round of an impact of the event-driven method. A law that goes contact
 * by contact (propagation) makes many rounds; the sum over them is the impulse of the impact. */
typedef struct rg_step_impulse {
    double time;
    uint32_t impact; /* of the step, from 1 */
    uint32_t round;  /* of the impact, from 1 */
    rg_body_id body_b, body_a;
    rg_vec3 position;      /* m */
    rg_vec3 normal;        /* unit, from B to A */
    rg_vec3 impulse;       /* N s, on A; on B the opposite */
    rg_vec3 before, after; /* m/s: of A relative to B at the contact, before and after the round */
    double friction, restitution;
} rg_step_impulse;

/* Of the last step, in the order in which they were found; until the next step. *count says how
 * many there were; no more than RG_STEP_IMPULSES_MOST are kept. */
enum { RG_STEP_IMPULSES_MOST = 65536 };
const rg_step_impulse *rg_world_step_impulses(const rg_world *world, size_t *kept, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
