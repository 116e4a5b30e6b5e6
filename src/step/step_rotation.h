/* Torque-free rotation over a fixed step that keeps angular momentum and energy. */
#ifndef RIGOR_STEP_ROTATION_H
#define RIGOR_STEP_ROTATION_H

#include "base/base_math.h"
#include "rigor/status.h"

/* Whether all moments of inertia are equal, or those of its inverse: angular velocity is then along
 * angular momentum, whatever the orientation. */
static inline bool rg_rotation_is_round(rg_vec3 inertia) {
    return inertia.x == inertia.y && inertia.y == inertia.z;
}

/* A body of principal inertia I, orientation (principal axes to world) and constant angular
 * momentum L (world axes, about the centre). */
typedef struct rg_rotation {
    rg_vec3 inertia, inverse_inertia, angular_momentum;
    rg_quat *orientation; /* in and out */
} rg_rotation;

/* Turns it by a step of h seconds. RG_ITERATION_LIMIT, and no change, if it spins too fast for the
 * step. */
rg_status rg_rotation_advance(const rg_rotation *body, double h);
/* The same of a body of equal moments, whose angular velocity does not change. */
rg_status rg_rotation_advance_round(rg_vec3 angular_velocity, double h, rg_quat *orientation);
/* The same of two bodies, with the same bits, in hardly more time than of one. */
void rg_rotation_advance_two(const rg_rotation bodies[2], double h, rg_status status[2]);

#endif
