/* The world: bodies, colliders, materials and forces, and the step that moves them.
 *
 * Any number of worlds may live in a process, each used by one thread at a time. Between steps
 * everything may be added, removed and changed, in the callbacks before and after a step too;
 * inside force functions and prescribed motions the world may only be read (changes answer
 * RG_BUSY). */
#ifndef RIGOR_WORLD_H
#define RIGOR_WORLD_H

#include "rigor/body.h"
#include "rigor/certificate.h"
#include "rigor/collision.h"
#include "rigor/force.h"
#include "rigor/joint.h"
#include "rigor/material.h"
#include "rigor/method.h"
#include "rigor/random.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_snapshot rg_snapshot;

/* Numbers that a world takes, in SI units: finite ones up to this size, and masses, radii of
 * gyration and stiffnesses of springs at contacts from its inverse, so that squares and products of
 * a few of them stay within the range of doubles. RG_NOT_FINITE or RG_LIMIT_EXCEEDED otherwise; a
 * step in which a body leaves the range fails. */
#define RG_NUMBER_LARGEST 1e50
/* s: the longest step, about three centuries. */
#define RG_STEP_LONGEST 1e10

/* Called just before and just after a step; may change the world, but not destroy it. A step of the
 * same world is RG_BUSY in it. */
typedef void rg_step_callback(void *user, rg_world *world, double step);

typedef struct rg_world_def {
    int api_version;
    bool planar; /* the x-z plane: three degrees of freedom per body */
    rg_vec3 gravity;
    const rg_method *method;
    rg_method_settings settings;
    uint64_t seed;
    int threads;                /* >= 1; results do not depend on it */
    bool certify;               /* the judge checks every step */
    bool no_memory;             /* a step is computed although it must repeat the one before, in
                                   which nothing moved: for measurements; results are the same */
    rg_collision_def collision; /* how contacts are found, and the material function */
    rg_step_callback *before_step, *after_step;
    void *callback_user;
    rg_allocator allocator;
} rg_world_def;

/* Gravity (0, 0, -9.81), method stepping, seed 1, one thread, certified, C allocator. */
rg_world_def rg_world_def_default(void);

rg_status rg_world_create(const rg_world_def *def, rg_world **world, rg_error *error);
void rg_world_destroy(rg_world *world); /* null is allowed */

/* Moves the world by `step` seconds, more than 0 and at most RG_STEP_LONGEST. `info` may be null.
 * On an error the world is as it was before the call. */
rg_status rg_world_step(rg_world *world, double step, rg_step_info *info, rg_error *error);

/* Asks the step that is under way to end, or the next one if none is: it returns RG_INTERRUPTED,
 * the world is as it was before, and the one after it is made as usual. It ends within the time of
 * one factorisation, or of contact detection. May be called in a signal handler, and by another
 * thread while the world steps, but not while it is destroyed. */
void rg_world_interrupt(rg_world *world);

double rg_world_time(const rg_world *world);
/* s: for states that come from elsewhere. Kinematic bodies go to where they are at that time;
 * RG_NOT_FINITE, and nothing is changed, if the time or one of their motions is not finite then;
 * RG_INVALID_ARGUMENT if one has an orientation that is not a unit quaternion. */
rg_status rg_world_set_time(rg_world *world, double time);
uint64_t rg_world_step_count(const rg_world *world);
bool rg_world_is_planar(const rg_world *world);
int rg_world_degrees_of_freedom(const rg_world *world); /* per body: 6, planar 3 */
rg_vec3 rg_world_gravity(const rg_world *world);
rg_status rg_world_set_gravity(rg_world *world, rg_vec3 gravity);
const rg_method *rg_world_method(const rg_world *world);
rg_method_settings rg_world_settings(const rg_world *world);
rg_status rg_world_set_method(rg_world *world, const rg_method *method,
                              const rg_method_settings *settings, rg_error *error);
/* As given when the world was made. */
rg_collision_def rg_world_collision_def(const rg_world *world);
rg_status rg_world_set_threads(rg_world *world, int threads);
uint64_t rg_world_seed(const rg_world *world);
/* The world's generator; part of its state. */
rg_random *rg_world_random(rg_world *world);
/* Over all steps since the world was made: the worst and the sums (rigor/certificate.h). */
rg_step_info rg_world_summary(const rg_world *world);
/* The deepest overlap, relative to the size of the smaller body, that came about in a step since
 * the world was made, at any time of the step. Bodies that overlap when they are placed do not
 * count as long as they come out of each other. And the deepest at the end of the last step,
 * whenever it came about. A world that is not certified has none. */
rg_overlap rg_world_deepest_overlap(const rg_world *world);
rg_overlap rg_world_last_overlap(const rg_world *world);

/* That prescribed motions can be followed in steps of `step` seconds from now on for `duration`
 * seconds (a million steps at most): they do not jump, and an oscillation does not take more than
 * 100 periods in a step. rg_world_step says the same of each step. */
rg_status rg_world_check_prescribed(const rg_world *world, double step, double duration,
                                    rg_error *error);

/* State of all bodies, in the order of rg_world_body_at; valid until bodies come or go. */
rg_strided rg_world_centre_positions(const rg_world *world);    /* x y z */
rg_strided rg_world_centre_orientations(const rg_world *world); /* x y z w */
rg_strided rg_world_velocities(const rg_world *world);          /* x y z */
rg_strided rg_world_angular_velocities(const rg_world *world);  /* x y z */

/* Kinetic energy plus gravity's potential (zero at the origin) of the dynamic bodies, J; their
 * momentum, and angular momentum about the world's origin: from the judge. */
double rg_world_energy(const rg_world *world);
rg_vec3 rg_world_momentum(const rg_world *world);
rg_vec3 rg_world_angular_momentum(const rg_world *world);

/* Equal for two worlds if every bit of their states is equal: time, poses, velocities and momenta,
 * in body order. */
uint64_t rg_world_state_hash(const rg_world *world);

/* The whole world in memory: bodies, colliders, materials, forces, generator, time, and what the
 * method keeps between steps. A restored world continues with the same bits. Callbacks, threads and
 * allocator are not part of a snapshot. Handles stay valid across restore if what they name exists
 * in the snapshot. */
rg_status rg_snapshot_create(const rg_world *world, rg_snapshot **snapshot);
rg_status rg_world_restore(rg_world *world, const rg_snapshot *snapshot);
void rg_snapshot_destroy(rg_snapshot *snapshot);
rg_status rg_world_clone(const rg_world *world, rg_world **clone);

/* The state alone, as bytes, for checkpoints on disk: to be read into a world with the same bodies.
 * Tagged sections with lengths, so that later versions can add theirs. `size` gets the bytes
 * needed; with a null buffer nothing is written. */
rg_status rg_world_save_state(const rg_world *world, void *buffer, size_t capacity, size_t *size);
rg_status rg_world_load_state(rg_world *world, const void *buffer, size_t size, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
