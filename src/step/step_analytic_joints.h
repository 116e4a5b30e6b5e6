/* The joints of a group in the analytic method: what step_analytic_joints*.c share.
 *
 * A joint is rows (step_analytic_rows.c): directions on two bodies, as contacts have them, B's
 * motion against A's. Those that are held at an instant are equations: with M the masses, G the
 * held rows, g what velocities add to their accelerations, and a the accelerations of all other
 * forces,
 *
 *     K x = -(G a + g),  K = G M^-1 G',
 *
 * gives their forces x. K is sparse, with a block per joint: for chains and trees its factor costs
 * time in proportion to the number of joints. Contacts then feel the inertia of the whole
 * mechanism: a contact row has a response, the change of velocity of all bodies with the joints
 * held (D. Baraff, "Linear-time dynamics using Lagrange multipliers", SIGGRAPH 1996, section 7). */
#ifndef RIGOR_STEP_ANALYTIC_JOINTS_H
#define RIGOR_STEP_ANALYTIC_JOINTS_H

#include "base/base_sparse.h"
#include "step/step_analytic.h"

/* What a row is for. */
typedef enum rg_joint_role {
    RG_ROLE_LOCKED,   /* a locked direction, or a rod: held always */
    RG_ROLE_MOTOR,    /* a motor without a largest force: holds a velocity */
    RG_ROLE_ARMATURE, /* inertia along an axis: a row with compliance, x'' + force / armature = 0 */
    RG_ROLE_BRAKE, /* dry friction, or a motor with a largest force: holds a velocity if it can */
    RG_ROLE_SOFT   /* spring and damper, or a motor with gains: a force that is known */
} rg_joint_role;

typedef struct rg_analysis_joint_row {
    uint32_t joint; /* place in rg_analysis_joints */
    uint8_t role;
    uint8_t part;      /* place among the rows of a joint: world.h */
    uint8_t direction; /* of the look: a lock, or, behind them, an axis */
    bool held;
    int8_t slips; /* of a brake that is not held: which way its axis moves against it */
    /* A row about a direction is multiplied by the unit of length of its joint (rg_joint_unit): all
     * rows are in metres and newtons. */
    double length;       /* m: that unit */
    double unit;         /* m: the same of rows about a direction; 1 of others */
    double value;        /* m: error of what is locked; otherwise coordinate */
    double rate, target; /* m/s */
    double drift;        /* m/s^2: what velocities add to its acceleration */
    double most;         /* N: of a brake */
    double compliance;
    double give; /* share of the diagonal by which it is raised, for rows that may be redundant */
    double force, own; /* N, on B, with contacts; and without */
    uint32_t place[2]; /* of the bodies in the group: B, A; UINT32_MAX: not moved by forces */
    rg_analysis_row row;
} rg_analysis_joint_row;

typedef struct rg_joint_coupling {
    uint32_t i, j; /* blocks */
    rg_sparse_slot slot;
} rg_joint_coupling;

/* An end of the range of an axis. */
typedef struct rg_joint_limit {
    uint32_t joint; /* place in rg_analysis_joints */
    uint8_t axis;
    bool upper;
    double end;    /* m, rad */
    double length; /* m: the unit of length of the joint, by which angles are multiplied */
} rg_joint_limit;

struct rg_analysis_joints {
    size_t count;    /* joints */
    uint32_t *joint; /* dense */
    rg_joint_look *look;
    /* Rows that may be held, block by block, then soft ones. */
    rg_analysis_joint_row *rows;
    size_t holdable, row_count;
    uint32_t *block; /* first rows of blocks, and the end */
    size_t block_count;
    rg_sparse *factor;
    rg_joint_coupling *couplings;
    size_t coupling_count;
    uint32_t *brakes;              /* rows */
    size_t brake_count, exchanges; /* that are left at an instant */
    rg_joint_limit *limits;
    size_t limit_count;
    bool loops;               /* rows may be redundant */
    double *rhs, *x, *rest;   /* per holdable row */
    rg_analysis_twist *twist; /* per body of the group: scratch */
    /* Per body of the world, and of the world itself: accelerations without contacts. */
    rg_vec3 *acceleration, *angular_acceleration;
};

/* m: rg_joint_unit of a joint. */
double rg_joints_length(const rg_analysis *a, const rg_joint_look *look);
/* The pattern of the factor. */
rg_status rg_joints_analyse(rg_analysis *a, rg_analysis_joints *j);
/* What velocities add to the acceleration of a direction of a joint, at a->motion. */
double rg_joints_drift(const rg_analysis *a, uint32_t joint, const rg_joint_look *look,
                       size_t direction);
/* Whether a row is this part of an axis: RG_JOINT_MOTOR and others of world.h. */
static inline bool rg_joints_is(const rg_analysis_joint_row *r, int part) {
    return r->part >= RG_JOINT_LOCKED && (r->part - RG_JOINT_LOCKED) % RG_JOINT_PARTS == part;
}
/* The body of a side, A 0, B 1; the world stands behind all bodies. */
uint32_t rg_joints_body(const rg_analysis *a, const rg_joint_look *look, int side);
/* Where a joint is, at a->motion, turns counted. */
rg_joint_look rg_joints_look_at(const rg_analysis *a, uint32_t joint);
rg_status rg_joints_list_brakes(rg_analysis *a, rg_analysis_joints *j);
/* Where joints are and how they move, at a->motion. */
void rg_joints_look(rg_analysis *a);

#endif
