/* Bodies: rigid, dynamic, fixed or kinematic, with shapes attached to them (colliders).
 *
 * A body has two frames. The origin frame is what the user places: shapes, joint points and
 * recorded poses refer to it. The centre-of-mass frame is where the dynamics lives: its origin is
 * the centre of mass, its axes are the principal axes. `velocity` is that of the centre of mass,
 * `angular_velocity` is in world axes. */
#ifndef RIGOR_BODY_H
#define RIGOR_BODY_H

#include "rigor/mass.h"
#include "rigor/material.h"
#include "rigor/shape.h"
#include "rigor/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rg_motion {
    RG_MOTION_DYNAMIC,  /* moved by forces */
    RG_MOTION_FIXED,    /* does not move */
    RG_MOTION_KINEMATIC /* moves as prescribed; forces do not change that */
} rg_motion;

/* Where a kinematic body is at a time: pose of its origin frame, velocity of that frame's origin,
 * angular velocity in world axes. The same time must give the same answer, and at every time finite
 * numbers with a unit quaternion (to 1e-6 of its square): otherwise the step fails, and the world
 * is as it was before it. */
typedef struct rg_prescribed_state {
    rg_pose pose;
    rg_vec3 velocity;
    rg_vec3 angular_velocity;
} rg_prescribed_state;
typedef void rg_prescribed_function(void *user, double time, rg_prescribed_state *state);

typedef enum rg_prescription_kind {
    RG_PRESCRIBED_VELOCITY,    /* constant velocity and angular velocity from the start pose */
    RG_PRESCRIBED_OSCILLATION, /* start pose moved by amplitude sin(2 pi frequency t + phase) */
    RG_PRESCRIBED_FUNCTION,    /* the caller's */
    RG_PRESCRIBED_OF_TIME      /* start pose moved by expressions of the time t of the world */
} rg_prescription_kind;

enum { RG_PRESCRIBED_TEXTS = 6 };

typedef struct rg_prescription {
    rg_prescription_kind kind;
    rg_vec3 amplitude;          /* oscillation, metres */
    rg_vec3 rotation_amplitude; /* oscillation, rotation vector, radians */
    double frequency;           /* hertz */
    double phase;               /* radians */
    rg_prescribed_function *function;
    void *user;
    /* Of time: metres along x, y and z, then radians of a rotation vector, world axes; null: 0. In
     * a def they are copied. spline(t, t1, x1, t2, x2, ...) has a continuous velocity. */
    const char *of_time[RG_PRESCRIBED_TEXTS];
} rg_prescription;

typedef struct rg_collider_def {
    int api_version;
    rg_shape *shape; /* the world takes its own reference */
    rg_pose pose;    /* in the body's origin frame */
    rg_material_id material;
    double density;    /* > 0 contributes to the body's mass; 0 does not */
    bool sensor;       /* reports touching, makes no force, has no mass */
    uint64_t category; /* bits: what this is */
    uint64_t mask;     /* bits: the categories it collides with; both ways must agree */
    void *user;        /* the caller's: rg_collider_user */
    /* m/s in the body's origin frame: the surface runs so, like a conveyor belt, while the body
     * stays; its part along the contact plane counts. Stepping. */
    rg_vec3 surface_velocity;
} rg_collider_def;

/* No shape, unit pose, density 1000, category 1, mask all. */
rg_collider_def rg_collider_def_default(void);

typedef struct rg_body_def {
    int api_version;
    const char *name; /* copied; null: no name; names are unique in a world */
    rg_motion motion;
    rg_pose pose;     /* of the origin frame; in planar worlds y is 0 and `angle` counts instead of
                         the orientation */
    double angle;     /* planar worlds: radians, positive from x towards z */
    rg_vec3 velocity; /* m/s, of the centre of mass */
    rg_vec3
        angular_velocity; /* planar worlds: y holds minus the rate of `angle` (see rg_body_spin) */
    bool has_mass;        /* true: `mass` counts instead of the colliders' densities */
    rg_mass_properties mass; /* in the origin frame. If `total_mass` is set instead, the colliders'
                           properties are scaled to it */
    double total_mass;       /* > 0: scale what follows from densities to this mass */
    double gravity_scale;    /* factor of the world's gravity for this body; default 1 */
    rg_prescription prescription; /* kinematic bodies */
    const rg_collider_def *colliders;
    size_t collider_count;
    void *user; /* the caller's: rg_body_user */
} rg_body_def;

/* Dynamic, at the origin, at rest. A dynamic body needs colliders with a density or a mass. */
rg_body_def rg_body_def_default(void);

rg_status rg_world_add_body(rg_world *world, const rg_body_def *def, rg_body_id *body,
                            rg_error *error);
/* Its colliders, and the forces and joints that name it, go with it. */
rg_status rg_world_remove_body(rg_world *world, rg_body_id body);
rg_status rg_world_add_collider(rg_world *world, rg_body_id body, const rg_collider_def *def,
                                rg_collider_id *collider, rg_error *error);
rg_status rg_world_remove_collider(rg_world *world, rg_collider_id collider);

bool rg_body_exists(const rg_world *world, rg_body_id body);
size_t rg_world_body_count(const rg_world *world);
/* Bodies in the order of the state arrays; removing a body moves the last one to its place. */
rg_body_id rg_world_body_at(const rg_world *world, size_t index);
size_t rg_body_index(const rg_world *world, rg_body_id body);
rg_status rg_world_find_body(const rg_world *world, const char *name, rg_body_id *body);

/* The handle must exist (assert). */
const char *rg_body_name(const rg_world *world, rg_body_id body); /* "" if it has none */
rg_motion rg_body_motion(const rg_world *world, rg_body_id body);
rg_pose rg_body_pose(const rg_world *world, rg_body_id body);         /* origin frame */
rg_pose rg_body_centre_pose(const rg_world *world, rg_body_id body);  /* centre-of-mass frame */
rg_pose rg_body_local_centre(const rg_world *world, rg_body_id body); /* the latter in the former */
double rg_body_angle(const rg_world *world, rg_body_id body);         /* planar; counts turns */
double rg_body_spin(const rg_world *world, rg_body_id body);          /* planar: d angle / dt */
rg_vec3 rg_body_velocity(const rg_world *world, rg_body_id body);
rg_vec3 rg_body_angular_velocity(const rg_world *world, rg_body_id body);
rg_vec3 rg_body_momentum(const rg_world *world, rg_body_id body);
rg_vec3 rg_body_angular_momentum(const rg_world *world, rg_body_id body); /* about its centre */
rg_mass_properties rg_body_mass(const rg_world *world, rg_body_id body);  /* origin frame */
double rg_body_gravity_scale(const rg_world *world, rg_body_id body);
rg_prescription rg_body_prescription(const rg_world *world, rg_body_id body);
/* Kinematic bodies: pose, velocities and time that the prescription starts from. */
rg_prescribed_state rg_body_prescription_start(const rg_world *world, rg_body_id body,
                                               double *time);
double rg_body_prescription_start_angle(const rg_world *world, rg_body_id body); /* planar */

/* Where a body is and how it moves. */
typedef struct rg_body_state {
    rg_pose pose;     /* m, of the origin frame; its orientation is not read in planar worlds */
    double angle;     /* planar worlds: radians, turns counted; 0 and not read in space */
    rg_vec3 velocity; /* m/s, of the centre of mass */
    rg_vec3 angular_velocity; /* rad/s, world axes */
} rg_body_state;
rg_body_state rg_body_get_state(const rg_world *world, rg_body_id body);

/* The setters change everything that is asked for or nothing. RG_INVALID_HANDLE: there is no such
 * body. RG_NOT_FINITE: a number, or a momentum that follows from it, is not finite.
 * RG_INVALID_ARGUMENT: an orientation that is no unit quaternion; a planar body that would leave
 * its plane; a velocity of a fixed body; a kinematic body that a function moves, or a velocity of
 * one that oscillates, other than the one that it has. Kinematic bodies go on from the new state
 * with their velocity, or their oscillation in its present phase. */
rg_status rg_body_set_state(rg_world *world, rg_body_id body, const rg_body_state *state);
/* In planar worlds the angle stays, and the orientation of the pose is not read. */
rg_status rg_body_set_pose(rg_world *world, rg_body_id body, rg_pose pose);
rg_status rg_body_set_angle(rg_world *world, rg_body_id body, double angle); /* planar */
rg_status rg_body_set_velocity(rg_world *world, rg_body_id body, rg_vec3 velocity);
rg_status rg_body_set_angular_velocity(rg_world *world, rg_body_id body, rg_vec3 angular_velocity);
rg_status rg_body_set_gravity_scale(rg_world *world, rg_body_id body, double gravity_scale);

/* A pointer of the caller's, which the library keeps and does not read. It is no part of the state:
 * setting it is no edit. Snapshots carry it. */
void *rg_body_user(const rg_world *world, rg_body_id body);
rg_status rg_body_set_user(rg_world *world, rg_body_id body, void *user);

/* Act during the next step and are forgotten after it. */
rg_status rg_body_apply_force(rg_world *world, rg_body_id body, rg_vec3 force, rg_vec3 world_point);
rg_status rg_body_apply_central_force(rg_world *world, rg_body_id body, rg_vec3 force);
rg_status rg_body_apply_torque(rg_world *world, rg_body_id body, rg_vec3 torque);
/* Acts at once. */
rg_status rg_body_apply_impulse(rg_world *world, rg_body_id body, rg_vec3 impulse,
                                rg_vec3 world_point);

size_t rg_body_collider_count(const rg_world *world, rg_body_id body);
rg_collider_id rg_body_collider_at(const rg_world *world, rg_body_id body, size_t index);
bool rg_collider_exists(const rg_world *world, rg_collider_id collider);
rg_collider_def rg_collider_get_def(const rg_world *world,
                                    rg_collider_id collider); /* borrows shape */
rg_body_id rg_collider_body(const rg_world *world, rg_collider_id collider);
void *rg_collider_user(const rg_world *world, rg_collider_id collider); /* as rg_body_user */
rg_status rg_collider_set_user(rg_world *world, rg_collider_id collider, void *user);
rg_status rg_collider_set_material(rg_world *world, rg_collider_id collider,
                                   rg_material_id material);
rg_status rg_collider_set_surface_velocity(rg_world *world, rg_collider_id collider,
                                           rg_vec3 velocity);
rg_status rg_collider_set_filter(rg_world *world, rg_collider_id collider, uint64_t category,
                                 uint64_t mask);

#ifdef __cplusplus
}
#endif
#endif
