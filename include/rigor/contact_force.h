/* What a step did at its contacts: forces in newtons, modes, where and between which colliders. */
#ifndef RIGOR_CONTACT_FORCE_H
#define RIGOR_CONTACT_FORCE_H

#include "rigor/complementarity.h"
#include "rigor/contact.h"
#include "rigor/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rg_contact_mode {
    RG_MODE_SEPARATING, /* no force: apart, or on the way */
    RG_MODE_STICK,      /* force inside the cone, no slip */
    RG_MODE_SLIP,       /* force on the cone, against the slip */
    RG_MODE_ROLL,       /* as stick, at a curved surface that turns against the other */
    RG_MODE_SENSOR,     /* of recordings: no force, as B is a sensor that A touches */
    RG_MODE_COUNT
} rg_contact_mode;
const char *rg_contact_mode_name(rg_contact_mode mode); /* "separating", "stick" ... */

/* One contact point of the last step. Flat, so that the world keeps it from step to step (warm
 * start) and snapshots carry it. Vectors in world axes. Where bodies meet with restitution the
 * method stepping makes its step in parts: impulses are the sum over them, other figures those of
 * the last part in which there was a force. */
typedef struct rg_contact_force {
    rg_collider_id collider_b, collider_a;
    rg_body_id body_b, body_a;
    uint32_t part_b, part_a; /* of compounds; of terrain, the triangle, or for the plane of flush
                                ones, the number of triangles and one of them; else 0 */
    uint64_t id;             /* of the point in its pair of parts: rg_contact_id */
    rg_vec3 position;        /* at the beginning of the step */
    rg_vec3 normal;          /* unit, from B to A */
    double gap;              /* m, at the beginning of the step; of one in parts, the smallest */
    rg_vec3 impulse;         /* N s, on A, over the step */
    rg_vec3 force;           /* N, on A: the impulse over the step's length */
    double normal_force;     /* N */
    double friction;         /* the coefficient that was used */
    double slip_speed;       /* m/s, along the surface, at the end of the step */
    double approach;         /* m/s: -n.(relative velocity) at the beginning */
    uint32_t mode;           /* rg_contact_mode */
    uint32_t impact;         /* 1: the bodies met in this step and the law has restitution */
    /* Rolling and torsional friction: N m s and N m on A, beside the impulse at the point, and the
     * coefficients that were used, in metres. */
    rg_vec3 angular_impulse, torque;
    double rolling_friction, torsional_friction;
} rg_contact_force;

/* All of the last step, in the order of colliders, parts and points; until the next step or
 * edit. */
const rg_contact_force *rg_world_contact_forces(const rg_world *world, size_t *count);
/* Sum of contact forces (N) on a body in the last step, and their moment about its centre of mass
 * (N m; either may be null); returns how many contacts it has. */
size_t rg_body_contact_force(const rg_world *world, rg_body_id body, rg_vec3 *force,
                             rg_vec3 *torque);

/* Shown every contact problem that a step is about to solve, island by island: `step` counts from 0
 * (rg_world_step_count before the step). The problem is valid during the call. While there is an
 * observer, islands are solved one after the other, by the thread that steps the world. The method
 * analytic shows the linear problems of accelerations of its right-hand side, many a step: `island`
 * then counts them from 0, and goes on with the islands of bodies that it hands over. */
typedef void rg_problem_observer(void *user, uint64_t step, size_t island,
                                 const rg_problem *problem);
/* Null: none any more. RG_OUT_OF_MEMORY is possible. */
rg_status rg_world_observe_problems(rg_world *world, rg_problem_observer *observer, void *user);

#ifdef __cplusplus
}
#endif
#endif
