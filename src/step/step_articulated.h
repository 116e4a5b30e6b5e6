/* Mechanisms without loops whose joints hold a point of both bodies (balls, hinges, universal
 * joints, welds), in space: velocities and impulses that satisfy their locked rows, in linear
 * time and straight from the looks at the joints, without rows, islands and problems. */
#ifndef RIGOR_STEP_ARTICULATED_H
#define RIGOR_STEP_ARTICULATED_H

#include "base/base_arena.h"
#include "world/world.h"

#define RG_NO_NODE UINT32_MAX

typedef struct rg_symmetric {
    double xx, yx, yy, zx, zy, zz;
} rg_symmetric;

/* The directions about that a joint locks. */
typedef struct rg_articulated_lock {
    rg_vec3 about[3];
    rg_vec3 lean[3]; /* R^-1 d */
    rg_vec3 bend[3]; /* W' d: rows of G */
    rg_mat3 stiff;   /* K: (d R^-1 d)^-1 */
    rg_vec3 twist;   /* s0 of a solve, one of each direction */
} rg_articulated_lock;

/* A body, with the joint that it has with its parent. */
typedef struct rg_articulated_node {
    uint32_t body;   /* dense */
    uint32_t parent; /* a node before it; RG_NO_NODE: none, or what forces do not move */
    uint32_t joint;  /* dense; RG_NO_NODE: none, it is free */
    uint32_t row;    /* the first of its joint's, if locked rows of all joints are counted */
    uint32_t turns;  /* rows about directions; they come after the three along directions */
    bool first;      /* it is the joint's first body */
    rg_articulated_lock *lock; /* null without such rows */
    rg_vec3 along[3];          /* directions of its joint */
    rg_vec3 arm, span;         /* from the centre, and from the parent's point, to the point */
    /* The factor: */
    rg_symmetric held; /* N: mass that resists a velocity of the point */
    rg_mat3 swing;     /* W: -w of the body that goes with that velocity */
    double lower[3];   /* L of R = L E L', below its diagonal of ones: (1,0), (2,0), (2,1) */
    double inverse[3]; /* 1 / E */
    /* Work of a solve: */
    rg_vec3 force, torque; /* that children leave, about the point */
    rg_vec3 apart;         /* what the point is to move by against the parent's */
    rg_vec3 rest, loose;   /* t; R^-1 of the torque */
    rg_vec3 velocity;      /* of the point */
    rg_vec3 spin;
    /* The articulated mass about the point, linear, mixed and angular: */
    rg_symmetric p, r;
    rg_mat3 q;
    /* Where it is, to know it again: */
    rg_vec3 position;
    rg_quat orientation;
    double inertia; /* kg m^2: added against changes of the angular velocity */
    rg_vec3 point;  /* of the joint; of a free body the centre */
} rg_articulated_node;

typedef struct rg_articulated {
    size_t count, joints, rows;
    rg_articulated_node *nodes; /* parents first */
    double *roots;              /* 36 per node: of a free one L of its 6 x 6 mass */
    bool factored, regular;
} rg_articulated;

typedef struct rg_joints_seen rg_joints_seen; /* step_joints.h */

/* The mechanisms of all joints of a world; count 0: some joint is not of this kind, or bodies are
 * driven. `loops`: rg_joint_loops. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_articulated_find(const rg_world_content *content, const uint8_t *loops,
                              rg_arena *arena, rg_articulated *tree);
/* Is nothing broken, and may all of its bodies move (per body; null: all may)? */
bool rg_articulated_takes(const rg_articulated *tree, const rg_world_content *content,
                          const uint8_t *moved);
/* Factors, unless everything is, to the last bit, where it was. The last looks at the joints must
 * be of these places. False: a mass is singular to rounding. `inertia`: added, per body; null:
 * none. */
bool rg_articulated_place(rg_articulated *tree, const rg_world_content *content,
                          const rg_joints_seen *seen, rg_body_places places, const double *inertia);
/* Velocities dv and impulses with J dv = -rest and M dv = J' impulse, over the locked rows of all
 * joints in their order (null: they are not asked for). dv is in the nodes: `spin`, and that of the
 * centre by the next function. */
void rg_articulated_solve(rg_articulated *tree, const double *rest, double *impulse);
static inline rg_vec3 rg_articulated_velocity(const rg_articulated_node *node) {
    return rg_add(node->velocity, rg_cross(node->arm, node->spin));
}

#endif
