/* The analytic method with contacts: what its files share.
 *
 *   step_analytic.c            a step of the world
 *   step_analytic_memory.c     what the integrators have learnt, from step to step
 *   step_analytic_groups.c     which bodies cannot reach each other: each group goes by itself
 *   step_analytic_advance.c    the groups, one after the other
 *   step_analytic_loop.c       integrate, look for the first event, stop there, resolve it, go on
 *   step_analytic_rest.c       groups at rest
 *   step_analytic_detect.c     which contacts there are at an instant; boxes around paths
 *   step_analytic_rows.c       rows of contacts as directions on bodies: matrices, impulses
 *   step_analytic_forces.c     contact forces inside the right-hand side
 *   step_analytic_friction.c   what friction does at a contact: its states, and what changes them
 *   step_analytic_active.c     the active set: which contacts stick, and which are at the limit
 *   step_analytic_mean.c       mean forces over a short time, where the active set changes too fast
 *   step_analytic_instant.c    an instant: impacts, then stick or slip, then forces
 *   step_analytic_impacts.c    impacts to completion
 *   step_analytic_project.c    the projection of what drifts
 *   step_analytic_joints.c     joints: rows, how they move, forces of springs and motors
 *   step_analytic_joints_drift.c  what velocities add to the accelerations of their rows
 *   step_analytic_joints_solve.c  what is held, with one sparse factor
 *   step_analytic_limits.c     ends of the ranges of joints, as contacts
 *   step_analytic_brakes.c     dry friction of joints, motors with a largest force
 *   step_analytic_events.c     the first event on the polynomial of a step
 *   step_analytic_handover.c   groups that the stepping method makes, because this one cannot
 *   step_analytic_judge.c      what the judge is shown
 *
 * Four nouns: rg_analysis_view is what the method may read of the world; rg_analysis the state
 * of a group of bodies that can reach each other; rg_force_law how contact forces follow from it
 * (pivoting, cone, mean), a value that the group points to; the event loop is a state machine
 * with a verdict per trial step (step_analytic_loop.c). Modes of operation are values, arguments
 * and results; no flag selects an algorithm in another file. Every evaluation that moves the
 * state goes through rg_analysis_derivative.
 *
 * Words: the active set is which contacts stick, slip, are at the limit of stick (they stick,
 * with all the friction that they can have) or carry no force; the shell is the tolerance of
 * contact, the gap within which resting contacts live; creep is slip so slow that it is left to
 * the law of stick; a trial step is a step of the integrator that is looked at before it is
 * taken.
 *
 * State of a group: the vector of step_flight.h and behind it RG_ANALYSIS_LEDGER numbers that
 * add up what contacts do to momenta. Contacts are found afresh at the beginning of every step
 * and carried from event to event within it: of them the last bounces and forces are kept
 * between steps, with what the integrator has learnt. */
#ifndef RIGOR_STEP_ANALYTIC_H
#define RIGOR_STEP_ANALYTIC_H

#include "contact/contact_convex.h"
#include "contact/contact_motion.h"
#include "integrate/integrate_trial.h"
#include "problem/problem_directions.h"
#include "problem/problem_partition.h"
#include "rigor/event.h"
#include "rigor/impact.h"
#include "rigor/solver.h"
#include "step/step_contact_memory.h"
#include "step/step_flight.h"
#include "step/step_judge.h"
#include "step/step_log.h"
#include "step/step_machinery.h"
#include "step/step_method.h"
#include "step/step_stepping.h"

/* Thresholds. Lengths are relative to L, the smaller circumradius of a pair of parts;
 * accelerations to `acceleration`, the largest that gravity and the forces give anything; speeds
 * as said. */
#define RG_ANALYSIS_SHELL   4e-10 /* L: resting contacts live at gaps between 0 and this */
#define RG_ANALYSIS_REST    0.5   /* shell: where projection puts them */
#define RG_ANALYSIS_ASIDE   0.25  /* shell: where it puts points that it would push together */
#define RG_ANALYSIS_OVERLAP 1e-6  /* L: what is projected away; more is refused */
#define RG_ANALYSIS_DRIFT   0.2   /* shell: a step in which a resting gap changes more is cut */
#define RG_ANALYSIS_NEAR    2.0   /* shell: gaps up to this are contacts */
#define RG_ANALYSIS_MEAN_NEAR                                                                      \
    1e3                         /* shell: the same, while forces are means, which may close gaps */
#define RG_ANALYSIS_ROUNDING 64 /* units in the last place of the distance from the origin */
/* An approach slower than this times sqrt(2 acceleration shell) is rest, not impact: bodies that
 * leave slower would be back within as little as 16 shells of height. */
#define RG_ANALYSIS_STILL 4.0
/* Relative to the fastest body, or, at rest, to what forces give it in the step: what rounding
 * leaves of a speed. */
#define RG_ANALYSIS_SPEED 1e-12
#define RG_ANALYSIS_SLIP  1e-9 /* sqrt(acceleration L): slower slip is none */
/* Near rest the direction of slip changes faster than anything else moves: contacts that slip
 * slower than this (in sqrt(acceleration L)) and hardly accelerate (in `acceleration`) are left
 * to the law of stick, whose friction opposes the acceleration instead. Those that come to a
 * stop keep the direction that they have at this many times that speed. */
#define RG_ANALYSIS_CREEP    1e-5
#define RG_ANALYSIS_DECISIVE 1e-2
#define RG_ANALYSIS_STOPPING 3.0
/* of that speed: slower slip is left to the law of stick anyway */
#define RG_ANALYSIS_SLOW 1e-2
#define RG_ANALYSIS_MUCH                                                                           \
    1e-3 /* acceleration: a contact at its limit that turns back by more is an event */
/* acceleration: slip at the static limit, where friction then drops. */
#define RG_ANALYSIS_ONSET 4e-12
#define RG_ANALYSIS_FREE  1e-8 /* acceleration: a contact whose slip accelerates by less sticks */
#define RG_ANALYSIS_BREAK                                                                          \
    1e-11 /* acceleration: a contact that has lost its force and leaves faster has broken */
#define RG_ANALYSIS_BALANCED                                                                       \
    1e-13 /* of all forces on a body at rest: what changes its momentum by less is rounding */
#define RG_ANALYSIS_FORCE  1e-12 /* of the largest force of its island: less is none */
#define RG_ANALYSIS_FAILED 1e-7  /* of the judge's residual: above it there are no forces */
/* Where bodies may meet, integration is this much finer than the tolerance that was asked for. */
#define RG_ANALYSIS_FINER 0.1
/* sqrt(acceleration gyration radius): speeds below this are not integrated to more relative
 * digits. */
#define RG_ANALYSIS_MOMENTUM 1e-2
/* Share of the diagonal by which projections raise it. Contacts land anywhere in their shells
 * while forces are means: rows that nearly depend on each other then disagree, and would move
 * bodies far. */
#define RG_ANALYSIS_REGULAR      1e-9
#define RG_ANALYSIS_MEAN_REGULAR 1e-6
/* Mean forces are taken over this share of the step of the world at most, and over at most so
 * many times the time of the last ones. */
#define RG_ANALYSIS_MEAN        0.05
#define RG_ANALYSIS_MEAN_GROWTH 2.0
/* Share of a step to which events of forces are located: across them forces are continuous, or
 * jump by a little. */
#define RG_ANALYSIS_LOCATED 1e-10
/* Radians that a body may turn in one step, so that samples see everything. */
#define RG_ANALYSIS_TURN 0.25

enum {
    RG_ANALYSIS_LEDGER = 6,     /* impulse, angular impulse by what forces do not move */
    RG_ANALYSIS_SAMPLES = 4,    /* looks at pairs in contact within a step */
    RG_ANALYSIS_JAMS = 4,       /* impulses out of inconsistency at one instant */
    RG_ANALYSIS_EVENTS = 20000, /* in one step of the world */
    RG_ANALYSIS_WORK = 1000000, /* iterations of solvers in it */
    /* Contacts of an island: where friction decides among more, mean forces are taken where the
     * quick ways fail; to look on would take seconds. */
    RG_ANALYSIS_MANY = 24,
    RG_ANALYSIS_HARD = 8, /* decisions of few contacts that one of many weighs as much as */
    /* Decisions of the active set in one step of the world, other than that all contacts can be
     * held, before mean forces are taken to its end; and in a step after one that ended so. One
     * that takes a solver counts as one more, of many contacts as eight. */
    RG_ANALYSIS_DECISIONS = 8 * RG_ANALYSIS_HARD,
    RG_ANALYSIS_DECISIONS_AGAIN = RG_ANALYSIS_HARD,
    RG_ANALYSIS_BOUNCING = 64, /* pairs whose bounces are remembered */
    RG_ANALYSIS_BOUNCES = 3    /* equal ratios that make an accumulation */
};

/* What touches. Of a joint it is an axis with the end of its range: then part_a is the number of
 * the limit. */
typedef enum rg_touch_kind {
    RG_TOUCH_PARTS,
    RG_TOUCH_LIMIT,        /* of an axis along which bodies move */
    RG_TOUCH_LIMIT_OF_TURN /* of one about which they turn: the row is about the normal */
} rg_touch_kind;

/* What friction does at a contact. */
typedef enum rg_friction {
    RG_FRICTION_HELD,     /* it sticks, by whatever friction in its cone that takes */
    RG_FRICTION_AT_LIMIT, /* sticks, with all the friction it can have, against `direction` */
    /* It sticks no longer, and has the coefficient of slip, but is not fast enough to have a
     * direction of slip: otherwise as the two above. */
    RG_FRICTION_STARTS,
    RG_FRICTION_STARTS_AT_LIMIT,
    RG_FRICTION_SLIPS, /* against its slip */
    RG_FRICTION_STOPS, /* slips, and keeps its direction to the end: it is about to stop */
    RG_FRICTION_STATES
} rg_friction;

/* What changes that. */
typedef enum rg_friction_cause {
    RG_FRICTION_SLIDES,  /* it slips faster than creep */
    RG_FRICTION_SLOWS,   /* its slip is about to stop, */
    RG_FRICTION_GOES_ON, /* or is not; */
    RG_FRICTION_ENDS,    /* has stopped, */
    RG_FRICTION_CREEPS,  /* or is so slow, and stays so, that it is left to the law of stick */
    RG_FRICTION_LETS_GO, /* static friction does not hold it, */
    RG_FRICTION_SETTLES, /* or does again */
    RG_FRICTION_EXCEEDS, /* to hold it takes more friction than there can be, */
    RG_FRICTION_TURNS_BACK /* or no longer */,
    RG_FRICTION_CAUSES
} rg_friction_cause;

typedef struct rg_analysis_contact {
    uint32_t part_b, part_a, body_b, body_a;
    uint64_t id;
    rg_contact_track track;
    rg_contact_law law;
    double size, shell; /* m */
    double still;       /* m/s */
    rg_touch_kind kind;
    rg_friction friction; /* step_analytic_friction.c */
    rg_vec3 direction;    /* of slip, or at the limit: against which friction acts */
    double force[3];      /* N: along normal, basis[0], basis[1]; warm start and result */
    double none;          /* N: normal forces up to this are none */
    rg_vec3 last;         /* N, on A: at the end of the last step of the world */
    rg_vec3 reference;    /* N, on A: what forces stay near to, where they are not determined */
    double lightness;     /* by how much more its friction does, as it carries less than others */
    rg_vec3 basis[2];     /* tangents of the last evaluation */
    double normal_acceleration, slip_acceleration; /* of the last evaluation */
    rg_vec3 slip_direction;                        /* of slip_acceleration */
    rg_contact_motion motion;                      /* of the last evaluation */
} rg_analysis_contact;

/* Motion of all bodies at an instant; arrays over bodies, and, behind them, of the world itself. */
typedef struct rg_analysis_motion {
    rg_vec3 *position, *velocity, *angular_velocity;
    rg_quat *orientation;
    rg_mat3 *inverse_inertia;                     /* world axes; 0 for what forces do not move */
    rg_vec3 *acceleration, *angular_acceleration; /* without contacts; prescribed ones included */
    double time;                                  /* s */
} rg_analysis_motion;

typedef rg_twist rg_analysis_twist;
/* A direction at a contact, or of a joint; `response`: of the joints that are held. */
typedef rg_direction_row rg_analysis_row;

/* Why the right-hand side could not be evaluated. */
typedef struct rg_analysis_trouble {
    rg_solve_outcome outcome; /* RG_SOLVED: none */
    uint32_t contact;         /* one of the island */
    double residual;
    double time; /* s: where */
} rg_analysis_trouble;

typedef struct rg_bounce {
    uint32_t part_b, part_a; /* their numbers, which stay from step to step; of a limit
                                its own */
    uint32_t count;          /* bounces in a row with the ratio of the law */
    uint32_t padding;
    double time, speed, rest;
} rg_bounce;

/* Of a dynamic body, from step to step. */
typedef struct rg_analysis_known {
    double next_step;  /* s: of the event loop */
    uint64_t averaged; /* whether the last step ended with mean forces */
} rg_analysis_known;

/* What forces do during a trial step. */
typedef enum rg_course {
    RG_COURSE_FOLLOWS, /* they follow the law */
    RG_COURSE_CONSTANT /* they are those of its beginning */
} rg_course;

/* What showing the judge takes. */
typedef struct rg_analysis_judging {
    rg_judge_findings pending; /* of the beginning of the trial step */
    rg_course course;          /* of the trial step */
    rg_judge_power begin;      /* there */
    rg_analysis_motion motion; /* of evaluations for the judge alone */
    rg_vec3 *linear, *angular; /* bodies */
    rg_mat3 *inverse;
    double before_time; /* s: where the substep before began; and the power there */
    rg_judge_power before;
    rg_judge_tracks tracks; /* how the bodies of all groups moved */
} rg_analysis_judging;

/* --- the four nouns --------------------------------------------------------------------------- */

/* What the method may read of the world: constant while groups are integrated, but for the log
 * and the solvers' memory behind its pointers. */
typedef struct rg_analysis_view {
    rg_world *world;
    const rg_body_dynamics *dynamics; /* per body, and, where there are joints, of the world */
    /* The content, with memories of joints as of the last accepted place; null without joints. */
    rg_world_content *mechanism;
    rg_step_machinery *machinery;
    rg_problem_observer *observer; /* is shown the problems; null: none */
    rg_solve_context *context;
    double begin, end;   /* s: of the step of the world */
    double acceleration; /* m/s^2: the largest that gravity and forces give anything */
    double speed;        /* m/s: of the fastest body at the beginning */
    rg_convex_part *parts;
    size_t part_count;
    rg_convex_part *own; /* those that are not of terrain: the first ones of `parts` */
    size_t own_count;
    bool terrain;
} rg_analysis_view;

typedef struct rg_analysis rg_analysis;
typedef struct rg_analysis_joints rg_analysis_joints; /* step_analytic_joints.h */

/* How contact forces follow from the state: one of three values. Which contacts stick, slip or
 * are at the limit of stick (the active set) is decided between trial steps and kept during
 * them, so that the right-hand side is smooth. */
typedef struct rg_force_law {
    bool exact_cone; /* in space; otherwise each tangent has its own limit */
    /* At the beginning of a trial step of at most *length seconds, which it may shorten; null:
     * nothing to do. */
    rg_status (*prepare)(rg_analysis *a, double *length);
    /* Decides the active set at a->motion, then evaluates; null: there is nothing to decide. */
    void (*decide)(rg_analysis *a);
    /* Forces and accelerations of contacts at a->motion. */
    void (*evaluate)(rg_analysis *a);
    /* What the law promises of contacts: */
    double near;    /* shell: gaps up to this are contacts */
    double regular; /* share of the diagonal by which projections raise it */
    /* Forces are constant over a trial step, right at its end: gaps may close until then,
     * velocities need no projection, changes between stick and slip are not located. */
    bool mean;
} rg_force_law;
extern const rg_force_law rg_law_pivoting; /* in the plane, and with two tangents: Baraff 1994 */
extern const rg_force_law rg_law_cone;     /* in space: the exact cone */
extern const rg_force_law rg_law_mean;     /* constant over a short time: Moreau's step */
/* During one trial step: forces stay what they are, and act at points that move straight. */
extern const rg_force_law rg_law_constant;

/* How a group came to the end of the step. */
typedef enum rg_arrival {
    RG_ARRIVED,
    RG_ARRIVED_RESTING, /* nothing moved: the forces of the last step hold */
    RG_STRAYED          /* it did not: a body left its reach, nothing that was found counts */
} rg_arrival;

/* How far to go for the forces of an island. */
typedef enum rg_effort {
    RG_EFFORT_TURN,     /* by exchanges in the active set, and with a force across the direction of
                         * contacts at their limits: by how much they must turn; may fail */
    RG_EFFORT_EXCHANGE, /* by exchanges in the active set; may fail */
    RG_EFFORT_SOLVE     /* by a solver where that fails */
} rg_effort;

/* How the forces of the last evaluation were found. */
typedef enum rg_finding {
    RG_FOUND,           /* by exchanges in the active set */
    RG_FOUND_BY_SOLVER, /* of some island */
    RG_FOUND_NOT        /* which contacts of some island stick */
} rg_finding;
typedef struct rg_evaluation {
    rg_finding finding;
    double margin; /* of the active set that is kept: > 0 while it is right */
} rg_evaluation;

/* A contact at the beginning of a trial step. */
typedef struct rg_analysis_start {
    double force[3], none;
    double gap, slip; /* m, m/s */
    rg_vec3 point, point_rate, normal;
} rg_analysis_start;

/* How far a body may get within the step of the world, and got. */
typedef struct rg_analysis_travel {
    double extent;  /* m: its farthest point from its centre */
    double reach;   /* m: how far its points may get */
    double most;    /* m: how far they got at most */
    double fastest; /* m/s: of its fastest point of now */
} rg_analysis_travel;

/* What a group has done, to be added up. */
typedef struct rg_analysis_tally {
    double stabilisation, prescribed;   /* J, of projections */
    double drive;                       /* J, of motors that hold a velocity, in them */
    double outside[RG_ANALYSIS_LEDGER]; /* N s, by what does not move, at instants */
    uint64_t impacts, contacts_most;
    rg_solve_counts counts; /* worst figures: of impacts and mean forces */
} rg_analysis_tally;

/* The state of a group: bodies that can reach each other within the step of the world. That of
 * all bodies is one, too, from which the others are cut. */
struct rg_analysis {
    const rg_analysis_view *view;
    rg_arena *arena; /* the world's scratch */
    rg_flight flight;
    uint32_t *place; /* per body of the world: which of flight.body it is, if forces move it */
    rg_ode ode;
    rg_ode_info ode_info;
    rg_trial trial;
    double time; /* s */
    double *y, *scratch_y;
    double next_step;
    rg_analysis_motion motion; /* of the last evaluation */

    rg_bounds *bounds;               /* per part: over the step that is looked at */
    const rg_force_law *bounded_for; /* the law of those of fixed parts; null: not yet made */
    uint32_t (*candidates)[2];       /* parts that may meet during the step of the world */
    size_t candidate_count;
    uint32_t *mine; /* parts in them */
    size_t mine_count;
    uint32_t (*pairs)[2]; /* parts that may meet during the step that is looked at */
    size_t pair_count;
    rg_analysis_travel *travel; /* per body */
    /* Per dynamic body of the world, m: how far it gets at least, by what was found when its
     * group was handed over and strayed; kept while the step is made again. Null: nothing is
     * handed over. */
    double *least;

    rg_analysis_contact *contacts, *spare; /* spare: those that were leaving at the last event */
    size_t contact_count, contact_capacity, leaving_count;

    rg_analysis_joints *joints; /* null: none */
    /* Of the contacts, during a trial step, in which they stay the same; null: to be found. */
    const rg_partition *islands;

    const rg_force_law *law;    /* of the group */
    const rg_force_law *active; /* that evaluates now: during a trial step it may be another one */
    rg_analysis_start *start;   /* per contact: at the beginning of the trial step */
    double start_time;          /* s */
    rg_evaluation evaluation;
    rg_analysis_trouble trouble; /* the first one since the last trial step, or event, began */
    size_t shown;                /* problems that an observer has seen in this step */
    int64_t decisions;           /* that are left in this step; < 0: mean forces are taken */
    double mean_length;          /* s: of the next ones */
    uint64_t events;
    rg_bounce bounces[RG_ANALYSIS_BOUNCING];
    size_t bounce_count;
    rg_analysis_tally tally;
    rg_judge_findings found;    /* by the judge */
    rg_analysis_judging *judge; /* null: no certificate is asked for */
};

/* --- groups --- */
/* Bodies that can reach each other within the step of the world have the same label; those that
 * can reach nothing have the label `count`. Pairs of parts that may meet, group by group. */
typedef struct rg_analysis_groups {
    double farther; /* by which they were made */
    size_t count;
    uint32_t *label; /* per dynamic body */
    double *reach;   /* per dynamic body, m */
    uint32_t (*pairs)[2];
    size_t *pair_end; /* per group */
} rg_analysis_groups;
/* `farther`: how many times as far as its speed of now would bring it a body may get; a->least
 * if that is more. `view`: that of `a`, whose parts become those of bodies and of the terrain
 * within reach of them; null: they stay. */
rg_status rg_analysis_make_groups(rg_analysis *a, rg_analysis_view *view, double farther,
                                  rg_analysis_groups *groups);

/* The bodies of a joint that forces move, if it holds; returns how many. */
size_t rg_analysis_joined_bodies(const rg_analysis *a, size_t joint, uint32_t bodies[2]);

/* --- memory --- */
/* Behind it stand, per dynamic body, what is known of it, and, of Adams' method, the histories
 * of the groups; then their differences, body by body. */
typedef struct rg_analysis_memory {
    uint64_t valid; /* 0: start afresh */
    uint64_t edits;
    uint64_t size;   /* of the state vector */
    uint64_t bodies; /* dynamic ones */
    uint64_t integrator;
    uint64_t bounce_count;
    rg_bounce bounces[RG_ANALYSIS_BOUNCING];
} rg_analysis_memory;
rg_analysis_known *rg_analysis_known_of(const rg_analysis_memory *memory);
/* A copy, to work on, of the memory of the last step if it still holds, an empty one otherwise;
 * null without memory. The world's own is replaced only when the step has succeeded. */
rg_analysis_memory *rg_analysis_recall(rg_world *world, const rg_flight *flight);
/* Room in the world for what is to be remembered; false, and no change, without memory. */
bool rg_analysis_make_room(rg_world *world, const rg_flight *flight);
void rg_analysis_remember_groups(rg_world *world, rg_analysis_memory *memory);
/* The history of a group, if it was one in the last step, too. */
void rg_analysis_recall_group(const rg_analysis_memory *memory, const uint32_t *label, size_t index,
                              rg_analysis *g);
void rg_analysis_remember_group(rg_analysis_memory *memory, const uint32_t *label, size_t index,
                                const rg_analysis *g);
void rg_analysis_forget_group(rg_analysis_memory *memory, const uint32_t *label, size_t index);

/* --- rest --- */
/* At the beginning of the step: if everything stands still to its end (*rests), it is there. */
rg_status rg_analysis_try_rest(rg_analysis *a, bool *rests, rg_error *error);

/* --- detect --- */
const char *rg_analysis_body_name(const rg_analysis *a, uint32_t body);
rg_body_id rg_analysis_body_id(const rg_analysis *a, uint32_t body); /* null: the world */
double rg_analysis_pair_size(const rg_analysis *a, uint32_t p, uint32_t q);
double rg_analysis_shell(const rg_analysis *a, uint32_t p, uint32_t q);
rg_pose rg_analysis_part_pose(const rg_analysis *a, const rg_analysis_motion *m, uint32_t part);
/* Which of two bodies forces move, if they move one and nothing the other; UINT32_MAX otherwise. */
uint32_t rg_analysis_carried(const rg_analysis *a, uint32_t body_b, uint32_t body_a);
bool rg_analysis_boxes_meet(const rg_analysis *a, uint32_t part, uint32_t other);
rg_bounds rg_analysis_prescribed_bounds(const rg_analysis *a, size_t body, double begin,
                                        double length);
/* Those of the candidates that may meet on the polynomial of a trial step, or, null, at the
 * instant of a->motion. */
void rg_analysis_find_pairs(rg_analysis *a, const rg_dense_output *dense);
/* Some contacts. */
typedef struct rg_analysis_set {
    const rg_analysis_contact *contacts;
    size_t count;
} rg_analysis_set;
/* Whether one of them is of these parts. */
bool rg_analysis_is_among(rg_analysis_set set, uint32_t part_b, uint32_t part_a);
/* The contacts of now (a->motion is at them), those that were there keep what is known of them.
 * *before: those that there were, until others leave. */
rg_status rg_analysis_detect(rg_analysis *a, rg_analysis_set *before, rg_error *error);

/* --- rows --- */
/* m/s: of the fastest point of the body at this place of the group, with velocities over all
 * bodies. */
double rg_analysis_point_speed(const rg_analysis *a, size_t place, const rg_vec3 *velocity,
                               const rg_vec3 *angular_velocity);
void rg_analysis_move(rg_analysis *a, double t, const double *y, rg_analysis_motion *m);
rg_rigid_motion rg_analysis_rigid(const rg_analysis *a, const rg_analysis_motion *m, uint32_t part);
/* Evaluates c->motion of contacts, at a->motion. */
void rg_analysis_follow(const rg_analysis *a, rg_analysis_contact *contacts, size_t count);
/* At a->motion. */
rg_analysis_row rg_analysis_make_row(const rg_analysis *a, uint32_t contact, uint32_t component,
                                     rg_vec3 e);
rg_analysis_row rg_analysis_contact_row(const rg_analysis_motion *m, const rg_analysis_contact *c,
                                        rg_vec3 e);
/* Along the force of a contact, of its size. */
rg_analysis_row rg_analysis_force_row(const rg_analysis *a, const rg_analysis_contact *c);
double rg_analysis_couple(const rg_analysis *a, const rg_analysis_row *i, const rg_analysis_row *j);
/* Contacts of an island in the exact cone, three rows each, in the plane two: rates are what
 * forces along the rows give, and q. Behind q, force and rate is room for the rows that joints
 * hold, 0 at first. Arrays are in the arena; false: no memory. */
typedef struct rg_analysis_cone {
    size_t contacts, dimension, count; /* of rows */
    rg_analysis_row *rows;
    double *q, *mu, *force, *rate;
} rg_analysis_cone;
bool rg_analysis_take_cone(const rg_analysis *a, size_t contacts, rg_analysis_cone *cone);
/* With the rows that joints hold. */
rg_status rg_analysis_cone_problem(const rg_analysis *a, const rg_analysis_cone *cone, double scale,
                                   rg_problem *problem);
double rg_analysis_rate(const rg_analysis_motion *m, const rg_analysis_row *row); /* e . u */
/* Which of the dynamic bodies a body is. */
static inline size_t rg_analysis_place(const rg_analysis *a, uint32_t body) {
    return a->place[body];
}
/* Adds impulse e j to the momenta in y. */
void rg_analysis_push(rg_analysis *a, double *y, const rg_analysis_row *row, double j);
/* a->motion and the motions of contacts, at a->y. */
void rg_analysis_move_to(rg_analysis *a);
double rg_analysis_prescribed_rate(const rg_analysis *a, const rg_analysis_row *row);
/* Impulses x along rows and those of joints that go with them, into the momenta; their work is
 * stabilisation. `before`: the rates of the rows. */
void rg_analysis_mend_velocities(rg_analysis *a, const rg_analysis_row *rows, size_t count,
                                 const double *x, const double *before);
/* Contacts of bodies that they join. Arrays are in the arena, or those of the trial step. */
rg_status rg_analysis_find_islands(const rg_analysis *a, rg_partition *islands);

/* The row of a direction of a joint whose bodies are B `a` and A `b`. */
rg_analysis_row rg_analysis_joint_direction(const rg_analysis *a, uint32_t body_a, uint32_t body_b,
                                            rg_vec3 point, const rg_joint_direction *along);
/* Adds what the outside gives by an impulse j along a row (or by a force, per second) to a ledger:
 * impulse, and angular impulse about the origin. Nothing, if both bodies move by forces. */
void rg_analysis_add_outside(const rg_analysis *a, const rg_analysis_row *row, double j,
                             double *ledger);

/* --- joints: all of this does nothing for groups that have none --- */
/* What a factor of held rows is for. */
typedef enum rg_joint_purpose {
    RG_JOINTS_FORCES,   /* all that is held now */
    RG_JOINTS_IMPULSES, /* at an instant: not what has a largest force */
    RG_JOINTS_PLACES    /* what is locked */
} rg_joint_purpose;
rg_status rg_analysis_joints_make(rg_analysis *a);
/* At a->motion, for all that follows until the next one. */
void rg_analysis_joints_factor(rg_analysis *a, rg_joint_purpose purpose);
/* In the order of an evaluation: forces of springs and motors into the momenta, with where joints
 * are; forces of what is held, into a->motion's accelerations; what contact forces add to them; all
 * of them into momenta and ledger. */
void rg_analysis_joints_drive(rg_analysis *a, double *dydt);
void rg_analysis_joints_hold(rg_analysis *a);
void rg_analysis_joints_react(rg_analysis *a);
void rg_analysis_joints_push(rg_analysis *a, double *dydt);
/* Fills in row->response, in the arena, by the last factor. */
void rg_analysis_respond(const rg_analysis *a, rg_analysis_row *row);
/* Impulses of joints that go with impulses along rows, by the last factor; the work that they do,
 * without the outside's; into the momenta. */
void rg_analysis_joints_strike(rg_analysis *a, const rg_analysis_row *rows, size_t count,
                               const double *impulse);
double rg_analysis_joints_struck_work(rg_analysis *a);
void rg_analysis_joints_push_struck(rg_analysis *a);
/* Joints closed, and without velocity along what is held; a->motion follows. */
void rg_analysis_joints_project_places(rg_analysis *a);
void rg_analysis_joints_project_velocities(rg_analysis *a);
/* Whether rows of joints may be redundant, which then give way a little (RG_JOINT_GIVE). */
bool rg_analysis_joints_give(const rg_analysis *a);
/* A step was accepted: angles are counted from here. */
void rg_analysis_joints_accept(rg_analysis *a);
size_t rg_analysis_joint_count(const rg_analysis *a);
/* Rows that the last factor holds. */
size_t rg_analysis_held_rows(const rg_analysis *a);
rg_analysis_row rg_analysis_held_row(const rg_analysis *a, size_t index, double *compliance);
/* Two each: the places of their bodies in the group; UINT32_MAX: none. */
void rg_analysis_joint_places(const rg_analysis *a, uint32_t *places);
/* Their forces of the last evaluation, or impulses, for the judge, with the accelerations of bodies
 * without contacts; false without memory. */
bool rg_analysis_joints_show(const rg_analysis *a, rg_judge_instant *now);
/* N m^(1/2): the sum of the sizes of their forces, each times the root of the unit of length of its
 * joint; torques over that unit. */
double rg_analysis_joints_push_size(const rg_analysis *a);
/* --- brakes of joints (step_analytic_brakes.c) --- */
/* Which of them are held, by velocities. */
void rg_analysis_brakes_reset(rg_analysis *a);
/* By the forces of now: whether any of them could not hold, or is held again. */
bool rg_analysis_brakes_change(rg_analysis *a);
/* > 0 as long as all hold that do. */
double rg_analysis_brakes_margin(const rg_analysis *a);
size_t rg_analysis_brake_count(const rg_analysis *a);
/* m/s: how fast a brake slips, along its slip of the beginning; infinity if it does not. At
 * a->motion. */
double rg_analysis_brake_slip(const rg_analysis *a, size_t brake);
void rg_analysis_brake_bodies(const rg_analysis *a, size_t brake, uint32_t bodies[2]);

/* --- limits of joints (step_analytic_limits.c) --- */
rg_status rg_analysis_limits_make(rg_analysis *a, rg_analysis_joints *j);
size_t rg_analysis_limit_count(const rg_analysis *a);
/* m: how far from its end an axis is, at a->motion; angles times the unit of length. */
double rg_analysis_limit_gap(const rg_analysis *a, size_t limit);
/* m: what thresholds of a limit are relative to. */
double rg_analysis_limit_size(const rg_analysis *a, size_t limit);
void rg_analysis_limit_bodies(const rg_analysis *a, size_t limit, uint32_t bodies[2]);
/* A contact at a limit, and whether it is near. */
bool rg_analysis_limit_contact(const rg_analysis *a, size_t limit, rg_analysis_contact *contact);
/* c->motion of such a contact, at m. */
void rg_analysis_limit_follow(const rg_analysis *a, const rg_analysis_motion *m,
                              rg_analysis_contact *c);
/* Its force, or impulse, as one of its joint. */
void rg_analysis_limit_show(const rg_analysis *a, const rg_analysis_contact *c, double force,
                            const rg_judge_instant *now);
void rg_analysis_limits_keep(const rg_analysis *a, double step, rg_joint_memory *memories);

/* The fastest turn of a joint, rad/s. */
double rg_analysis_joints_spin(const rg_analysis *a);
/* Forces of the last evaluation, as the world remembers them. */
void rg_analysis_joints_keep(const rg_analysis *a, double step, rg_joint_memory *memories);

/* --- forces --- */
rg_vec3 rg_analysis_force_of(const rg_analysis_contact *c); /* N, on A */
/* Whether it has one. */
static inline bool rg_analysis_carries(const rg_analysis_contact *c) {
    return c->force[0] > c->none;
}
static inline bool rg_analysis_carried_at_start(const rg_analysis_start *s) {
    return s->force[0] > s->none;
}
/* e . (u' without contact forces) of a row. */
double rg_analysis_own_rate(const rg_analysis *a, const rg_analysis_row *row);
/* The forces of an island with the active set as it is. */
void rg_analysis_solve_island(rg_analysis *a, const uint32_t *members, size_t member_count,
                              rg_effort effort, rg_solve_info *info);
/* The pivoting solver is there for what is not known beforehand; another one that was chosen is
 * asked every time. */
bool rg_analysis_may_know(const rg_analysis *a);
void rg_analysis_derivative(void *analysis, double t, const double *y, double *dydt);
void rg_analysis_scale(void *analysis, const double *y, double *scale);
void rg_analysis_accept(void *analysis, double t, double *y);
/* Forces and accelerations of all contacts at (t, y): fills force, active, accelerations,
 * motion. */
void rg_analysis_evaluate(rg_analysis *a, double t, const double *y);
/* Motion and accelerations there, without forces. */
void rg_analysis_evaluate_free(rg_analysis *a, double t, const double *y);
/* The active set, and forces by it, at a->time and a->y. */
void rg_analysis_decide(rg_analysis *a);
/* Evaluations from here to the end of the trial step: the first one is at its beginning. Where
 * forces follow the law, the active set of the beginning is kept, if no solver was needed to find
 * it. */
void rg_analysis_begin_trial(rg_analysis *a, rg_course course);
void rg_analysis_end_trial(rg_analysis *a);
bool rg_analysis_keeps_active_set(const rg_analysis *a);
/* What constant forces, and the search for events, are relative to: a->motion and the contacts. */
void rg_analysis_keep_start(rg_analysis *a);
/* At the end of the step of the world, for readers. */
void rg_analysis_evaluate_last(rg_analysis *a, rg_arrival arrival);

/* The law of forces that stay what they are within a trial step. */
void rg_analysis_keep_forces(rg_analysis *a);

/* --- friction --- */
rg_friction rg_friction_after(rg_friction state, rg_friction_cause cause);
void rg_analysis_note_friction(rg_analysis_contact *c, rg_friction_cause cause);
/* RG_FRICTION_SLIDES, in the direction of `slip`; RG_FRICTION_EXCEEDS, against `direction`. */
void rg_analysis_note_slide(rg_analysis_contact *c, rg_vec3 slip);
void rg_analysis_note_limit(rg_analysis_contact *c, rg_vec3 direction);
/* Of a contact of which nothing else is known: held, or slipping, by its slip (m/s). */
void rg_analysis_begin_friction(const rg_analysis *a, rg_analysis_contact *c, rg_vec3 slip);
/* Of one that was there before. */
void rg_analysis_go_on(const rg_analysis_contact *before, rg_analysis_contact *c);
bool rg_analysis_slips(const rg_analysis_contact *c);
/* The others stick, or start: */
bool rg_analysis_at_limit(const rg_analysis_contact *c);
bool rg_analysis_starts(const rg_analysis_contact *c);
/* Of friction now: of slip, or of stick. */
double rg_analysis_coefficient(const rg_analysis_contact *c);
bool rg_analysis_has_friction(const rg_analysis_contact *c);
/* Whether the coefficient drops when it begins to slip. */
bool rg_analysis_friction_drops(const rg_analysis_contact *c);
/* Tangents: along and across the slip, or the direction at the limit, or any. */
void rg_analysis_make_basis(const rg_analysis *a, rg_analysis_contact *c);
/* How much less than it can be the friction of a contact that is held is, relative to that; < 0:
 * more. */
double rg_analysis_cone_margin(const rg_analysis_contact *c);
/* m/s: slower slip is left to the law of stick. */
double rg_analysis_creep(const rg_analysis *a, const rg_analysis_contact *c);
/* m/s: slower slip is none. */
double rg_analysis_stop(const rg_analysis *a, const rg_analysis_contact *c);
/* Acceleration of slip, in `acceleration`, above which a contact that stuck does so no longer: a
 * decisive one, or, where the coefficient then drops, little. */
double rg_analysis_let_go(const rg_analysis_contact *c);

/* --- active --- */
/* The active set of an island in the exact cone, and forces by it. */
void rg_analysis_decide_island(rg_analysis *a, const uint32_t *members, size_t member_count,
                               rg_solve_info *info);

/* --- mean --- */
/* Where the law of friction is the exact one: in the cone, and in the plane. */
bool rg_analysis_may_average(const rg_analysis *a);

/* --- instant --- */
/* After a projection: stick and slip by the slips that are left, and the active set where that
 * changes it. */
rg_status rg_analysis_refresh(rg_analysis *a);
/* What an event calls for. */
typedef enum rg_event_need {
    RG_NEED_NOTHING,  /* there is none */
    RG_NEED_FRICTION, /* a slip ends */
    RG_NEED_FORCES,   /* other rows carry force */
    RG_NEED_CONTACTS  /* they must be looked for */
} rg_event_need;
/* At an event: finds contacts if need be, resolves impacts, decides stick and slip, makes
 * everything consistent. */
rg_status rg_analysis_resolve_instant(rg_analysis *a, rg_event_need need, rg_error *error);

/* No forces exist, or they grow without bound: an impulse along them, until the slip that makes
 * them stops (Painleve's paradox). False if there is none. */
bool rg_analysis_resolve_jam(rg_analysis *a, uint32_t contact);

/* --- impacts --- */
/* Of all islands, until nothing approaches. `before`: contacts that are not new here. */
rg_status rg_analysis_resolve_impacts(rg_analysis *a, rg_analysis_set before, rg_error *error);
/* Others are only there so that mean forces know of them. */
bool rg_analysis_touches(const rg_analysis_contact *c);
/* What was not solved is an event, counts as a failure, and is in the certificate. */
void rg_analysis_tell_unsolved(rg_analysis *a, const rg_analysis_contact *c, size_t count,
                               double residual);

/* --- project --- */
/* Moves bodies of the group by displacements and small turns. */
void rg_analysis_displace(rg_analysis *a, const rg_analysis_twist *twist);
/* Brings gaps and velocities of contacts that carry force back where they belong, and joints.
 * `ends`: per contact, whether its slip ends here, and what is left of it goes; null: none does. */
rg_status rg_analysis_project(rg_analysis *a, const bool *ends);

/* --- events --- */
typedef struct rg_analysis_event {
    double theta;       /* share of the step; 1: none */
    int kind;           /* rg_step_event_kind, -1: none to tell of */
    rg_event_need need; /* nothing, and theta < 1: the search goes on from there */
    uint32_t contact;   /* or part pair */
    uint32_t part_b, part_a;
} rg_analysis_event;
rg_status rg_analysis_first_event(rg_analysis *a, rg_analysis_event *event, rg_error *error);

/* --- loop --- */
rg_status rg_analysis_run(rg_analysis *a, rg_arrival *arrival, rg_error *error);

/* --- handover --- */
/* A group that could not be integrated, and why. */
typedef struct rg_analysis_refusal {
    uint32_t group;
    rg_error cause;
} rg_analysis_refusal;
typedef struct rg_analysis_handover {
    rg_analysis_refusal *refusals; /* in the order of groups */
    size_t count, capacity;
    rg_stepping stepping; /* the step of all of them */
} rg_analysis_handover;
bool rg_analysis_can_hand_over(const rg_world *world, rg_status status);
/* Makes the step of those groups, in scratch memory; *strayed, and a->least, if a body got so
 * far that it could have met one of another group. This and what follows do nothing if there are
 * none. */
rg_status rg_analysis_hand_over(rg_analysis *a, const rg_analysis_groups *groups,
                                rg_analysis_handover *handover, bool *strayed, rg_error *error);
/* Adds their contact forces to a list. */
rg_status rg_analysis_join_forces(rg_analysis *a, const rg_analysis_handover *handover,
                                  rg_contact_force **forces, size_t *count);
/* Their bodies into the world; What is known, per dynamic body, and bounces are forgotten. */
void rg_analysis_take_over(rg_analysis *a, const rg_analysis_handover *handover,
                           rg_analysis_known *known, rg_joint_memory *joints);
/* Adds them to report and log. */
void rg_analysis_tell_hand_over(const rg_analysis *a, const rg_analysis_groups *groups,
                                const rg_analysis_handover *handover, rg_step_report *report);

/* --- advance --- */
/* What groups give to the step: forces of the last instant, for readers and recordings. */
typedef struct rg_analysis_forces {
    rg_contact_force *forces;
    size_t count, capacity;
    rg_joint_memory *joints; /* of all joints; null: none */
} rg_analysis_forces;
/* All groups, one after the other, to the end of the step. If none strayed, a->y is there, but
 * for groups that are to be handed over. */
rg_status rg_analysis_run_groups(rg_analysis *a, const rg_analysis_groups *groups,
                                 rg_analysis_memory *memory, rg_analysis_forces *list,
                                 rg_analysis_handover *handover, bool *strayed, rg_error *error);
/* Why the integrator failed, in words. */
rg_status rg_analysis_fail(const rg_world *world, rg_status status, double time, rg_error *error);

/* All bodies, and the world, at the beginning of the step, nothing moving; false without memory. */
bool rg_analysis_make_motion(const rg_world_content *content, rg_arena *arena,
                             rg_analysis_motion *m);

/* --- judge --- */
rg_status rg_analysis_judge_make(rg_analysis *a);
/* At the beginning of a trial step, with the forces there. */
void rg_analysis_judge_begin(rg_analysis *a, rg_course course);
/* The trial step was taken, this share of its `length`; forces are those of its end. */
void rg_analysis_judge_span(rg_analysis *a, double theta, double length);
/* Impulses along rows, contact by contact; a->motion is before them. */
void rg_analysis_judge_impact(rg_analysis *a, const rg_analysis_row *rows, size_t count,
                              const double *impulse);
/* The forces of the end of the step of the world; of bodies at rest, of all of it. */
void rg_analysis_judge_last(rg_analysis *a, rg_arrival arrival);

/* Into the log of the step. */
void rg_analysis_log(rg_analysis *a, rg_step_event_kind kind, const rg_analysis_contact *contact,
                     uint32_t contacts, double value);

#endif
