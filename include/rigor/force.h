/* Forces besides gravity and contact: springs, drag, fields, constant loads and the caller's own
 * functions f(t, q, v). They are evaluated at every stage of the integrator.
 *
 * Numbers that depend on time are texts, as in scene files (docs/scene-format.md): expressions of
 * t, the time in s, such as "10*sin(2*t)" or "table(t, 0, 0, 1, 5)", which goes linearly from 0 at
 * 0 s to 5 at 1 s. A step whose time has no value of them fails and says which. */
#ifndef RIGOR_FORCE_H
#define RIGOR_FORCE_H

#include "rigor/body.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rg_force_kind {
    RG_FORCE_CONSTANT, /* force and torque in world axes, at a point of the body */
    RG_FORCE_SPRING,   /* between a point of `body` and a point of `other` (null: of the world) */
    RG_FORCE_DRAG,     /* -(linear + quadratic |v|) v, -angular w */
    RG_FORCE_FIELD,    /* uniform acceleration */
    RG_FORCE_CENTRAL,  /* acceleration strength / r^2 towards a point */
    RG_FORCE_FUNCTION, /* the caller's */
    RG_FORCE_KIND_COUNT
} rg_force_kind;

/* What a force function sees and fills: arrays over all bodies in the order of rg_world_body_at,
 * at a stage of the integrator. Add to force (newtons, at the centre of mass) and torque (N m,
 * about the centre of mass, world axes). Positions are those of the centres of mass. */
typedef struct rg_force_context {
    const rg_world *world;
    double time;
    size_t body_count;
    const rg_vec3 *position;
    const rg_quat *orientation; /* of the centre-of-mass frame */
    const rg_vec3 *velocity;
    const rg_vec3 *angular_velocity;
    rg_vec3 *force;
    rg_vec3 *torque;
} rg_force_context;
/* Must depend on nothing but its context, the parameters behind `user` and time: the integrators
 * evaluate it at trial states too. */
typedef void rg_force_function(void *user, rg_force_context *context);

/* Places in rg_force_def.of_time: x, y, z of each. */
enum {
    RG_OF_TIME_FORCE = 0,
    RG_OF_TIME_TORQUE = 3,
    RG_OF_TIME_ACCELERATION = 6,
    RG_OF_TIME_COUNT = 9
};

typedef struct rg_force_def {
    int api_version;
    rg_force_kind kind;
    rg_body_id body;     /* null: every dynamic body (constant, drag, field, central) */
    rg_body_id other;    /* spring */
    rg_vec3 point;       /* constant, spring: on `body`, in its origin frame */
    rg_vec3 other_point; /* spring: on `other`, or in the world */
    rg_vec3 force;       /* constant */
    rg_vec3 torque;      /* constant */
    double stiffness, damping, rest_length; /* spring: N/m, N s/m, m */
    double linear, quadratic, angular;      /* drag: kg/s, kg/m, kg m^2/s */
    rg_vec3 acceleration;                   /* field */
    rg_vec3 centre;                         /* central */
    double strength;                        /* central: m^3/s^2 */
    rg_force_function *function;
    void *user;
    /* constant, field: texts instead of numbers of force, torque and acceleration; copied. Null:
     * the number. */
    const char *of_time[RG_OF_TIME_COUNT];
    double start_time, stop_time; /* acts in [start, stop); adaptive integrators stop and restart at
                                     both, as the force is discontinuous there */
} rg_force_def;

/* Acts at all times: start -infinity, stop +infinity. */
rg_force_def rg_force_def_default(rg_force_kind kind);

rg_status rg_world_add_force(rg_world *world, const rg_force_def *def, rg_force_id *force,
                             rg_error *error);
rg_status rg_world_remove_force(rg_world *world, rg_force_id force);
size_t rg_world_force_count(const rg_world *world);
rg_force_id rg_world_force_at(const rg_world *world, size_t index);
rg_force_def rg_force_get_def(const rg_world *world, rg_force_id force);
const char *rg_force_kind_name(rg_force_kind kind); /* "spring", as in scene files */

/* What a force does to one body. */
typedef struct rg_load {
    rg_force_id force;  /* null: what rg_body_apply_force and its like gave to the last step */
    rg_force_kind kind; /* RG_FORCE_KIND_COUNT: of these */
    rg_body_id body;
    rg_vec3 point;  /* m, world: where it acts; the centre of mass unless it has a point */
    rg_vec3 vector; /* N */
    rg_vec3 torque; /* N m, besides that of `vector` at `point` */
} rg_load;
/* The loads of all bodies at the present time and state: forces besides gravity, contact and joints
 * (rg_joint_get_state has theirs), functions called once more; and what was applied during the last
 * step. Loads of nothing are left out. Valid until the next call, step or edit. RG_BUSY inside a
 * step. */
rg_status rg_world_find_loads(rg_world *world, const rg_load **loads, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
