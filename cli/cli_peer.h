/* Other engines behind one small interface, for `rigor bench engines`. A shim per library
 * (bench/engine_*.cpp) is built as a module beside the command where the library is installed; the
 * command loads those that it finds. Every engine gets the same description of a world and gives
 * back centres of mass, so that the same code judges all of them.
 *
 * A shim may crash, exit or never return: each engine runs in a process of its own. */
#ifndef RIGOR_CLI_PEER_H
#define RIGOR_CLI_PEER_H

#include "rigor/math.h"
#include "rigor/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum engine_shape {
    ENGINE_HALFSPACE, /* of a fixed body; in world coordinates */
    ENGINE_BOX,
    ENGINE_SPHERE,
    ENGINE_HULL
} engine_shape;

/* The body's frame is that of its centre of mass and principal axes. Fixed bodies have theirs where
 * rigor puts it. */
typedef struct engine_body {
    engine_shape shape;
    rg_vec3 normal; /* half-space: { p : normal . p <= offset } */
    double offset;
    rg_vec3 size;              /* box: full edge lengths */
    double radius;             /* sphere */
    const rg_polyhedron *hull; /* in the shape's frame */
    rg_pose shape_pose;        /* in the body's frame */
    double mass;               /* kg; 0: fixed */
    rg_vec3 inertia;           /* kg m^2: principal moments */
    rg_pose pose;
    rg_vec3 velocity, angular_velocity; /* m/s, rad/s, world axes */
    rg_vec3 force;                      /* N, constant, at the centre of mass */
    uint32_t material;
} engine_body;

typedef enum engine_joint_kind { ENGINE_BALL, ENGINE_HINGE } engine_joint_kind;

/* Its bodies do not touch each other. Point and axis are in world coordinates, at the start. */
typedef struct engine_joint {
    engine_joint_kind kind;
    size_t body[2]; /* SIZE_MAX: the world */
    rg_vec3 point, axis;
} engine_joint;

typedef struct engine_model {
    const engine_body *bodies;
    size_t body_count;
    const engine_joint *joints;
    size_t joint_count;
    rg_vec3 gravity; /* m/s^2 */
    double step;     /* s */
    size_t material_count;
    const double *friction, *restitution; /* of pairs of materials: material_count rows */
} engine_model;

/* Of a dynamic body: centre of mass and principal axes. */
typedef struct engine_state {
    rg_pose pose;
    rg_vec3 velocity, angular_velocity;
} engine_state;

typedef struct engine {
    const char *name;    /* as --engines has it */
    const char *title;   /* for tables and legends */
    const char *version; /* of the library */
    /* Null if it cannot: `message` says why. */
    void *(*create)(const engine_model *model, char *message, size_t room);
    bool (*step)(void *world);                       /* false: it made none */
    void (*read)(void *world, engine_state *states); /* of dynamic bodies, others are not written */
    void (*destroy)(void *world);
} engine;

/* What a module exports under this name: its engines, ended by null. */
#define ENGINE_LIST_NAME "rigor_bench_engines"
typedef const engine *const *engine_list(void);
engine_list rigor_bench_engines;

#ifdef __cplusplus
}
#endif
#endif
