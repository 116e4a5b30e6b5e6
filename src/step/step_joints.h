/* Joints in a fixed step: their rows (step_joints_rows.c), inertia where their
 * tension needs it (step_joints_tension.c), the projection of what is left of their
 * errors after the motion (step_joints_project.c), and what is kept and told of them
 * (step_joints_keep.c). step_contacts.c solves their rows together with those of contacts. */
#ifndef RIGOR_STEP_JOINTS_H
#define RIGOR_STEP_JOINTS_H

#include "problem/problem_islands.h"
#include "problem/problem_joints.h"
#include "rigor/event.h"
#include "rigor/solver.h"
#include "step/step_articulated.h"

typedef struct rg_judge_joint rg_judge_joint; /* step_judge.h */

/* Looks at joints, with the places that they are of: the poses that end a step begin the next one;
 * and what does not change from step to step. No result depends on what is in it. */
typedef struct rg_joint_seen {
    bool known;
    bool yields;              /* in the last step it gave way to contacts */
    rg_joint_anchors anchors; /* known with the first look */
    rg_vec3 position[2];
    rg_quat orientation[2];
    rg_joint_look look;
} rg_joint_seen;
struct rg_joints_seen {
    rg_arena memory;
    uint64_t revision; /* of the world */
    size_t count;
    rg_joint_seen *joints;
    uint8_t *loops;      /* rg_joint_loops; null: not found yet */
    rg_articulated tree; /* found with them */
    rg_islands islands;  /* of its rows alone; of none: not found yet */
};
/* Finds both, if they are not known. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_joints_seen_loops(rg_joints_seen *seen, const rg_world_content *content);
/* To be called before a step looks at joints: forgets what an edit made void. RG_OUT_OF_MEMORY is
 * the only failure. */
rg_status rg_joints_seen_begin(rg_joints_seen *seen, const rg_world *world);
/* rg_joint_look_at, unless that has been done; it stays until the next look at the same joint.
 * `seen` null: into `own`. */
const rg_joint_look *rg_joint_look_again(rg_joints_seen *seen, const rg_world_content *content,
                                         size_t joint, rg_body_places places, rg_joint_look *own);
/* The last look at a joint that is no tendon, whatever the places were. */
static inline const rg_joint_look *rg_joint_last_look(const rg_joints_seen *seen, size_t joint) {
    return &seen->joints[joint].look;
}

/* What the rows are made for. */
typedef struct rg_joints_input {
    double step;           /* s; springs, motors and friction act for so long */
    double end_time;       /* s */
    bool impact;           /* at an instant: no time passes */
    double impact_speed;   /* m/s, rad/s: slower approach to a limit has no restitution */
    const uint8_t *member; /* per body: 1 if it is stepped; null: all */
    rg_joints_seen *seen;
} rg_joints_input;

/* All rows of the joints between bodies that are stepped; impulses are those of the step before.
 * RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_joints_rows(const rg_world_content *content, const rg_joints_input *input,
                         rg_arena *arena, rg_joint_set *set);

/* kg m^2 per body, to be added to its inertia against changes of its angular velocity (null: none
 * is needed): where the tension of joints would swing it faster than a step of h seconds can
 * follow. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_joints_stiffen(const rg_world_content *content, const rg_joint_set *set, double h,
                            rg_arena *arena, double **inertia);

/* Of a torque on a body, what its added inertia a takes: T - I (I + a)^-1 T. */
rg_vec3 rg_joints_held(const rg_world_content *content, size_t body, rg_quat orientation, double a,
                       rg_vec3 torque);

/* Bodies after their motion, per body of the world. */
typedef struct rg_joints_bodies {
    rg_vec3 *position;
    rg_quat *orientation;
    double *angle;
    rg_vec3 *momentum, *angular_momentum, *velocity, *angular_velocity;
    const uint8_t *moved;          /* 1: it may be moved */
    const double *inertia;         /* rg_joints_stiffen; null: none */
    const rg_joint_memory *joints; /* of the step so far: rg_joints_begin */
    const uint32_t *yielded; /* per joint: bits of the places of rows that gave way to contacts in
                                the step, which stay open; null: none did */
    bool stay;               /* places are not closed, velocities are */
    const uint8_t *loops;    /* rg_joint_loops; null: not found yet */
    rg_joints_seen *seen;    /* null: none */
    rg_vec3 *held;           /* out: N m s that added inertia took from impulses on velocities */
    double *shift; /* out: m that the projection moved points of the body by, about; null: none */
} rg_joints_bodies;
/* What the projection did: J to kinetic energy and to gravity's potential, N m s to the angular
 * momentum about the origin. */
typedef struct rg_joints_correction {
    double kinetic, potential;
    rg_vec3 angular_momentum;
    uint32_t open1; /* 1 + the joint that is farthest from being closed; 0: all are */
    double error;   /* m, rad: of that joint */
} rg_joints_correction;
/* Moves bodies, by as little as possible in the metric of their masses, so that joints are closed;
 * `set` has their rows then. Joints that contradict each other stay apart, and the certificate
 * tells. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_joints_project(const rg_world_content *content, const rg_joints_bodies *bodies,
                            rg_solve_context *context, rg_arena *arena,
                            rg_joints_correction *correction, rg_joint_set *set, rg_error *error);

/* Impulses on locked rows, at the new places, that leave them without velocity: of the rows of
 * rg_joints_project those that hold stay in `set`, with the impulses. */
rg_status rg_joints_project_velocities(const rg_world_content *content,
                                       const rg_joints_bodies *bodies, rg_solve_context *context,
                                       rg_arena *arena, rg_joint_set *set, rg_error *error);

/* Memories of all joints for a step that begins: as they are, without impulses. Null without
 * joints. */
rg_status rg_joints_begin(const rg_world_content *content, double step, rg_arena *arena,
                          rg_joint_memory **next);
/* Adds the impulses of a set to them. */
void rg_joints_add(const rg_joint_set *set, rg_joint_memory *next);
/* The wrenches of a set, joint by joint, for the judge. */
rg_status rg_joints_tell(const rg_world_content *content, const rg_joint_set *set, rg_arena *arena,
                         rg_judge_joint **wrenches, size_t *count);
/* The same with torques per body that added inertia took (null: none); there is room for one more
 * of each body. */
rg_status rg_joints_tell_held(const rg_world_content *content, const rg_joint_set *set,
                              const rg_vec3 *held, rg_arena *arena, rg_judge_joint **wrenches,
                              size_t *count);
/* m, rad: by how much the rows of a set gave way to contacts in h seconds, added per joint. */
void rg_joints_add_missed(const rg_joint_set *set, double step, double *missed);
/* One event for each joint that did and had not in the step before. */
void rg_joints_log_missed(rg_world *world, const double *missed, double step, double time);
/* A step has succeeded: forces, coordinates and what broke are kept; limits that began to push and
 * breaks are logged. */
void rg_joints_store(rg_world *world, const rg_joint_memory *next);

#endif
