/* The judge: recomputes energy and momentum from poses and velocities, and says how far a step was
 * from the laws. It shares no formula with the methods: where they work with momenta along
 * principal axes, it takes the inertia tensor as the user gave it, in the body's own axes, and
 * turns it with the origin frame. */
#ifndef RIGOR_STEP_JUDGE_H
#define RIGOR_STEP_JUDGE_H

#include "base/base_math.h"
#include "problem/problem_joints.h"
#include "rigor/contact_force.h"
#include "step/step_judge_follow.h"
#include "step/step_method.h"

typedef struct rg_judge_totals {
    double kinetic, potential;
    rg_vec3 momentum, angular_momentum; /* the latter about the origin */
    /* Sums of magnitudes, what errors are relative to; that of the momentum with what a body's
     * material has by turning, over its radius of gyration. */
    double momentum_size, angular_size;
    double reach; /* m: of the farthest body from the origin, with its radius of gyration */
} rg_judge_totals;

rg_judge_totals rg_judge_look(const rg_world_content *content);

/* The pose of the origin frame of a body, most often that of its centre of mass. */
static inline void rg_judge_origin(const rg_world_content *c, size_t i, rg_pose *origin) {
    rg_body_place_origin(c, i, origin);
}

/* What the judge remembers of the beginning of a step to explain its end: arrays over all
 * bodies. */
typedef struct rg_judge_memory {
    rg_judge_totals totals;
    double time;
    const rg_vec3 *position, *velocity, *angular_velocity;
    const rg_quat *orientation; /* of the centre-of-mass frames */
    const rg_pose *origin;      /* poses of the origin frames */
    /* Room for as many, of the end: */
    rg_pose *now;     /* poses of the origin frames */
    rg_vec3 *turning; /* N m s: angular momenta about the centres of mass */
    rg_vec3 *spin;    /* angular velocities, had they not turned */
    uint8_t *still;   /* neither before nor after do they move */
} rg_judge_memory;
/* `whose`: 1 per body that a part of the step is made of, without totals; null: all. `known`: the
 * totals, if nothing has changed since they were looked at; null otherwise. */
rg_status rg_judge_remember(const rg_world_content *content, const uint8_t *whose,
                            const rg_judge_totals *known, rg_arena *arena, rg_judge_memory *memory);

/* Looks at the end of what was remembered, once for all that is judged there: poses and angular
 * momenta of the bodies `whose` it is (null: all), and their totals. */
rg_judge_totals rg_judge_arrive(const rg_world_content *content, const uint8_t *whose,
                                const rg_judge_memory *memory);
/* I v, or its inverse times v, of an inertia tensor in a frame that is turned so. */
rg_vec3 rg_judge_turn_through(const rg_mat3 *inertia, bool inverse, rg_quat orientation, rg_vec3 v);

/* What a joint did in a step or at an instant: impulses on B at a point, and the opposite on A at
 * the same point, by what they are for. Bodies are dense; UINT32_MAX: the world. */
typedef enum rg_judge_joint_part {
    RG_JUDGE_JOINT_HOLD,
    RG_JUDGE_JOINT_LIMIT,
    RG_JUDGE_JOINT_DRIVE, /* springs, motors, armatures */
    RG_JUDGE_JOINT_FRICTION,
    RG_JUDGE_JOINT_PARTS
} rg_judge_joint_part;
typedef struct rg_judge_joint rg_judge_joint;
struct rg_judge_joint {
    uint32_t body_a, body_b;
    rg_vec3 point;
    rg_vec3 linear[RG_JUDGE_JOINT_PARTS];  /* N s */
    rg_vec3 angular[RG_JUDGE_JOINT_PARTS]; /* N m s */
    bool numerical; /* by the method: it works, and is no impulse that momentum may come from */
    bool holds;     /* no part but the first one, RG_JUDGE_JOINT_HOLD, did anything */
};

/* Work done on the dynamic bodies by contacts and joints, gravity's path, and the impulse of what
 * does not move: step_judge_contacts.c. Joules, N s, N m s about the origin. */
typedef struct rg_judge_contacts {
    double friction, impact, stabilisation, prescribed, integration;
    double drive; /* of springs and motors of joints */
    rg_vec3 impulse, angular_impulse;
    /* Of rolling and torsional friction, over its limit and over |g| h: torque beyond the limit,
     * and motion that it does not oppose with all of it. */
    double twist_cone, twist_error;
    /* What is at stake in a step even at rest, where all figures above vanish: the energy and the
     * momentum that gravity alone would bring, and contacts take away again. */
    double stake, momentum_stake, angular_stake;
} rg_judge_contacts;
/* Work, impulses and the worst of the twists; not what is at stake. */
void rg_judge_contacts_add(rg_judge_contacts *sum, const rg_judge_contacts *more);
/* What was done with contacts: forces with impulses, over a time or (0 s) at an instant. */
typedef struct rg_judge_pushes {
    const rg_contact_force *forces;
    size_t count;
    double step; /* s */
    const rg_judge_joint *joints;
    size_t joint_count;
    /* What joints did then, when the bodies had moved. */
    const rg_judge_joint *end_joints;
    size_t end_joint_count;
    const uint8_t *halved; /* per body: half of gravity acted then, too; null: none */
    bool ended;            /* the joints are those */
    bool arrived;          /* rg_judge_arrive was called */
    rg_pool *pool;         /* null: one thread */
} rg_judge_pushes;
/* `whose`, per body: only contacts and paths of these bodies; null: of all. What is at stake is
 * always that of all. */
rg_judge_contacts rg_judge_contact_work(const rg_world_content *content,
                                        const rg_judge_memory *before, rg_judge_pushes forces,
                                        const uint8_t *whose);
/* The same, and with what joints did at the end: step_judge_joints.c. */
rg_status rg_judge_work(const rg_world_content *content, const rg_judge_memory *before,
                        rg_judge_pushes done, const uint8_t *whose, rg_arena *arena,
                        rg_judge_contacts *sum);
/* step_judge_joints.c: work and impulses of joints, added to `sum`; `whose` as above. */
void rg_judge_joint_work(const rg_world_content *content, const rg_judge_memory *before,
                         rg_judge_pushes forces, const uint8_t *whose, rg_judge_contacts *sum);
/* How far the joints of a world are from being closed, and beyond their limits: m, and rad as if at
 * 1 m. NaN without joints. `origin`: poses of the origin frames of the bodies. */
double rg_judge_joint_error(const rg_world_content *content, const rg_pose *origin);

typedef struct rg_joints_seen rg_joints_seen; /* step_joints.h */
/* step_judge_rows.c: rows of joints that are locked, and nothing else, between bodies in space,
 * with their impulses. */
typedef struct rg_judge_rows {
    const rg_joint_set *set;
    const rg_vec3 *velocity, *angular_velocity; /* per body: without the impulses */
    const double *inertia;                      /* kg m^2 added, per body; null: none */
    const rg_joints_seen *seen; /* of bounds alone: where joints are in the bodies */
} rg_judge_rows;
/* m/s, rad/s: the largest velocity that they leave, rounding included; infinity without memory. */
double rg_judge_locked_rows(const rg_world_content *content, const rg_judge_rows *rows,
                            rg_arena *arena);
/* Motors and friction of joints beyond their largest force, and limits that pull, over what the
 * joint carries and the weight of its bodies. 0: none. From the forces that readers are told of. */
double rg_judge_joint_bounds(const rg_world_content *content);
/* The material of a body at a point (m/s) and its angular velocity (rad/s), before and after the
 * impulses of a step, as if it had not turned meanwhile; the same before and after if prescribed,
 * over a step (0 s: at an instant). */
typedef struct rg_judge_motion_at {
    bool dynamic;
    rg_vec3 before, after, spin_before, spin_after;
} rg_judge_motion_at;
rg_judge_motion_at rg_judge_motion_of(const rg_world_content *content,
                                      const rg_judge_memory *before, double step, size_t body,
                                      rg_vec3 point);
/* The sum of the velocities before and after, and that of the angular velocities; whether forces
 * move the body. UINT32_MAX: the world. */
static inline bool rg_judge_moves(const rg_world_content *c, const rg_judge_memory *before,
                                  double step, uint32_t body, rg_vec3 p, rg_vec3 sum[2]) {
    sum[0] = sum[1] = (rg_vec3){0, 0, 0};
    if (body == UINT32_MAX)
        return false;
    if (c->record[body].motion == RG_MOTION_DYNAMIC) {
        rg_vec3 arm = rg_sub(p, before->position[body]);
        sum[1] = rg_add(before->angular_velocity[body], before->spin[body]);
        sum[0] = rg_add(rg_add(before->velocity[body], c->velocity[body]), rg_cross(sum[1], arm));
        return true;
    }
    sum[1] = rg_scale(2, c->angular_velocity[body]);
    if (c->record[body].prescription1)
        sum[0] = rg_scale(2, rg_judge_motion_of(c, before, step, body, p).before);
    return false;
}

/* --- what a method did, at an instant and over a time (step_judge_instant.c) ------------------ */

/* A contact. The normal points from B to A; its rate and the drift of the relative velocity are the
 * geometry's (contact_motion.h). */
typedef struct rg_judge_contact {
    uint32_t body_a, body_b; /* dense */
    rg_vec3 point, normal, normal_rate, drift;
    rg_vec3 force; /* N on A; of an impact N s */
    /* m/s: slower slip may be stick, and the direction of any slip is known up to this over it */
    double slow;
    double none; /* m/s: slower slip is none */
    rg_contact_law law;
} rg_judge_contact;

/* An instant. Arrays over all bodies of the world. */
typedef struct rg_judge_instant {
    const rg_world_content *content;
    const rg_vec3 *position, *velocity, *angular_velocity;
    const rg_quat *orientation; /* of the centre-of-mass frames */
    /* Without contacts; null where forces are means over a time, and no law of an instant. */
    const rg_vec3 *acceleration, *angular_acceleration;
    bool stops;                /* the end of a time: slips may just have stopped */
    double scale;              /* m/s^2: what errors are relative to */
    double widest;             /* 1; of polygons: friction at most, over that of the cone */
    rg_vec3 *linear, *angular; /* scratch */
    rg_mat3 *inverse;          /* scratch: inverse inertia in world axes */
    const rg_judge_contact *contacts;
    size_t count;
    const rg_judge_joint *joints; /* with forces, or, of an impact, impulses */
    size_t joint_count;
} rg_judge_instant;

/* W. `normal`: of normal forces, and of what joints hold; `drive`: of springs and motors; `size`:
 * the sum of magnitudes. */
typedef struct rg_judge_power {
    double friction, normal, prescribed, drive, size;
} rg_judge_power;
/* step_judge_joints.c: adds that of joints; `share` of the changes of velocity in now->linear and
 * now->angular counts. */
void rg_judge_joint_power(const rg_judge_instant *now, double share, rg_judge_power *sum);

rg_mat3 rg_judge_inverse(const rg_mat3 *matrix);
rg_judge_findings rg_judge_findings_none(void);
void rg_judge_findings_add(rg_judge_findings *sum, const rg_judge_findings *more);
/* How far forces are from the laws of contact. */
void rg_judge_laws(const rg_judge_instant *now, rg_judge_findings *found);
rg_judge_power rg_judge_power_of(const rg_judge_instant *now);
/* Impulses at the velocities before them: work and cone. */
void rg_judge_impact(const rg_judge_instant *before, rg_judge_findings *found);
/* Work over a time, from powers at its beginning, at the nodes of a rule (-1: none), and at its
 * end. */
enum { RG_JUDGE_RULES = 2, RG_JUDGE_INSIDE = 3 };
extern const double rg_judge_node[RG_JUDGE_RULES][RG_JUDGE_INSIDE];
void rg_judge_span(const rg_judge_power *power, int rule, double length, rg_judge_findings *found);

/* --- the certificate -------------------------------------------------------------------------- */

/* What the search for gaps works with. Pairs are dealt out to lanes, whatever the number of
 * threads. */
enum { RG_JUDGE_LANES = 8 };
/* Parts along x in the last step: where the next one begins to sort. */
typedef struct rg_judge_order {
    const rg_allocator *allocator;
    uint32_t *parts;
    size_t count, capacity;
} rg_judge_order;
typedef struct rg_judge_room {
    rg_arena *arena;
    rg_arena *lanes; /* RG_JUDGE_LANES of them, for this search alone */
    rg_pool *pool;   /* null: one thread */
    rg_judge_order *order;
} rg_judge_room;

/* The smallest signed gap of all pairs of colliders that came near each other, and how many passed
 * through each other, from the beginning of the step to its end, with an own search for pairs:
 * step_judge_gaps.c. */
rg_status rg_judge_find_gaps(const rg_world_content *content, const rg_judge_memory *before,
                             const rg_step_report *report, const rg_judge_room *room,
                             rg_judge_gaps *gaps);
/* Certificate and energy without figures: all NaN. */
void rg_judge_measure_nothing(rg_step_info *info);
/* Fills certificate and energy of `info` from what was before and what is now. */
void rg_judge_step(const rg_judge_totals *before, const rg_judge_totals *after,
                   const rg_step_report *report, const rg_judge_contacts *contacts,
                   rg_step_info *info);
/* The worse of each figure; one that is missing (NaN) gives way to one that is there. */
void rg_certificate_keep_worst(rg_certificate *worst, const rg_certificate *step);
/* Adds the counters of a step. */
void rg_step_info_count(rg_step_info *sum, const rg_step_info *step);
/* Work and losses of some steps added to a sum, whose energy becomes that at their end. */
void rg_ledger_add_work(rg_energy_ledger *sum, const rg_energy_ledger *step);
/* Adds a step to the record of the run. */
void rg_judge_record(rg_run_record *run, const rg_judge_totals *before,
                     const rg_judge_totals *after, const rg_judge_contacts *contacts,
                     const rg_step_info *info);
/* The same for a step that nobody looked at: what was measured before does not stand for the run
 * any more, and the record begins anew. */
void rg_judge_forget(rg_run_record *run);

#endif
