/* Free flight as an initial value problem: the dynamic bodies of a world as one vector of numbers.
 *
 *   spatial, 13 per body: x (3), q (4), p (3), L (3)      planar, 6: x, z, angle, p_x, p_z, L
 *
 * State in momenta: torque-free, L is constant to the bit. Behind the bodies stand seven numbers
 * that only add up what the forces did (the ledger): work of the forces besides gravity, impulse
 * and angular impulse of all forces about the origin. Planar L is about -y, like the angle. */
#ifndef RIGOR_STEP_FLIGHT_H
#define RIGOR_STEP_FLIGHT_H

#include "integrate/integrate_ode.h"
#include "step/step_judge_motion.h"
#include "world/world.h"

enum { RG_FLIGHT_SPATIAL = 13, RG_FLIGHT_PLANAR = 6, RG_FLIGHT_LEDGER = 7 };

typedef struct rg_flight_ledger {
    double work;
    rg_vec3 impulse, angular_impulse;
} rg_flight_ledger;

typedef struct rg_flight {
    rg_world *world;
    size_t body_count;             /* dynamic ones */
    uint32_t *body;                /* their indices */
    size_t width;                  /* numbers per body */
    size_t size;                   /* of the vector */
    double phase_begin, phase_end; /* no force switches on or off between them */
    bool forced;                   /* there are forces besides gravity */
    /* All bodies of the world at a stage; only if forced. */
    rg_force_context stage;
    rg_vec3 *stage_position, *stage_velocity, *stage_angular_velocity;
    rg_quat *stage_orientation;
    rg_flight_ledger *chunk_ledger;
} rg_flight;

/* Where the momenta of a body stand among its numbers: to the end of its width; and how many are
 * linear. */
static inline size_t rg_flight_momenta(const rg_flight *flight) {
    return flight->world->content.planar ? 3 : 7;
}
static inline size_t rg_flight_linear(const rg_flight *flight) {
    return flight->world->content.planar ? 2 : 3;
}

/* Bodies per chunk of parallel loops. */
enum { RG_FLIGHT_GRAIN = 512 };

/* All arrays from the world's scratch arena; RG_OUT_OF_MEMORY otherwise. */
rg_status rg_flight_make(rg_flight *flight, rg_world *world);
void rg_flight_pack(const rg_flight *flight, double *y);
/* Writes poses, momenta and velocities of the dynamic bodies. */
void rg_flight_unpack(const rg_flight *flight, const double *y);
rg_flight_ledger rg_flight_ledger_of(const rg_flight *flight, const double *y);
/* Whether all bodies are, and move, within the numbers that a world takes. A state beyond, such as
 * a trial step that is too long may lead to, has no derivative: it is NaN. */
bool rg_flight_in_range(const rg_flight *flight, const double *y);

/* Where all bodies of the world are at a state, and how they move; kinematic bodies by their
 * prescriptions. Arrays over all bodies, fixed ones among them filled by the caller beforehand. */
void rg_flight_motions(const rg_flight *flight, double t, const double *y, rg_vec3 *position,
                       rg_quat *orientation, rg_vec3 *velocity, rg_vec3 *angular_velocity);

/* That of the dynamic body k alone. */
rg_motion_state rg_flight_motion(const rg_flight *flight, const double *y, size_t k);

/* An accepted step, as polynomials of the bodies, at the end of their tracks. */
void rg_flight_track(const rg_flight *flight, const rg_dense_output *dense,
                     rg_judge_tracks *tracks);

/* The functions of an rg_ode with the flight as user. */
void rg_flight_derivative(void *flight, double t, const double *y, double *dydt);
void rg_flight_scale(void *flight, const double *y, double *scale);
void rg_flight_accept(void *flight, double t, double *y);

#endif
