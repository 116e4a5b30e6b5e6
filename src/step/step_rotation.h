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

/* Turns a body of principal inertia I, orientation *q (principal axes to world) and constant
 * angular momentum L (world axes, about the centre) by a step of h seconds. RG_ITERATION_LIMIT, and
 * no change, if it spins too fast for the step. */
rg_status rg_rotation_advance(rg_vec3 inertia, rg_vec3 inverse_inertia, rg_vec3 angular_momentum,
                              double h, rg_quat *q);

#endif
