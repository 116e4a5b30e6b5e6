/* The world's data. Flat arrays over bodies in dense order, handle pools that map handles to them,
 * and small lists of materials, pairs, colliders and forces.
 *
 * `rg_world_content` is everything that a snapshot holds; the rest of the world (threads, scratch
 * memory, callbacks) is machinery that does not change results. Momenta are the primary variables
 * of dynamic bodies and velocities follow from them: in torque-free flight the angular momentum
 * then keeps its bits. Velocities are primary for kinematic bodies, whose mass is infinite. */
#ifndef RIGOR_WORLD_WORLD_H
#define RIGOR_WORLD_WORLD_H

#include "base/base_arena.h"
#include "base/base_handle.h"
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_thread.h"
#include "rigor/joint.h"
#include "rigor/profile.h"
#include "rigor/world.h"

#include <stdatomic.h>

/* Inverse mass and inertia are 0 for bodies that forces do not move; inertia is along the axes of
 * the centre-of-mass frame (principal axes). */
typedef struct rg_body_dynamics {
    double mass, inverse_mass;
    rg_vec3 inertia, inverse_inertia;
    double gravity_scale;
    double gyration_radius; /* m: sqrt(largest inertia / mass), the length that errors are relative
                               to */
} rg_body_dynamics;

/* What is seldom touched. */
typedef struct rg_body_record {
    char *name; /* null if none */
    rg_motion motion;
    bool mass_is_given;      /* not from the colliders' densities */
    double total_mass;       /* > 0: densities are scaled to it */
    rg_mass_properties mass; /* in the origin frame */
    rg_pose local_centre;    /* centre-of-mass frame in the origin frame */
    /* The user's pose and the centre pose that was made of it: as long as the body has the latter,
     * its origin pose is the former, bit for bit. */
    rg_pose placed_origin, placed_centre;
    uint32_t first_collider1, last_collider1; /* slots + 1 */
    uint32_t collider_count;
    uint32_t first_joint1;  /* slot + 1 */
    uint32_t prescription1; /* index + 1 into the list, kinematic bodies */
    void *user;
} rg_body_record;

typedef struct rg_prescription_entry {
    rg_prescription prescription;
    rg_prescribed_state start;
    double start_angle; /* planar worlds; turns counted */
    double start_time;
    _Atomic double
        fault; /* s: the earliest time at which it was asked and had no value; INFINITY */
} rg_prescription_entry;

typedef struct rg_collider {
    rg_shape *shape; /* one reference */
    rg_pose pose;
    rg_material_id material;
    double density;
    bool sensor;
    uint64_t category, mask;
    void *user;
    rg_vec3 surface_velocity;
    rg_body_id body;
    uint32_t next1, previous1; /* slots + 1, in the order of attachment */
} rg_collider;
/* Whether its filter lets it meet anything at all; what it does not is left out of the search for
 * pairs, and of the judge's. */
static inline bool rg_collider_meets(const rg_collider *collider) {
    return collider->mask != 0 && collider->category != 0;
}

typedef struct rg_material {
    char *name;
    rg_contact_law law;
} rg_material;

typedef struct rg_material_pair {
    rg_material_id a, b; /* a.index1 <= b.index1 */
    rg_contact_law law;
} rg_material_pair;

typedef struct rg_joint_record {
    rg_joint_def def;  /* its name is owned */
    uint32_t next1[2]; /* slots + 1: the next joint of body A, of body B */
} rg_joint_record;

/* Rows of a joint have places: six of what is locked, then those of each axis. */
typedef enum rg_joint_part {
    RG_JOINT_LOWER,
    RG_JOINT_UPPER,
    RG_JOINT_SPRING,
    RG_JOINT_MOTOR,
    RG_JOINT_FRICTION,
    RG_JOINT_ARMATURE,
    RG_JOINT_PARTS
} rg_joint_part;
enum {
    RG_JOINT_LOCKED = 6,
    RG_JOINT_ROWS_MOST = RG_JOINT_LOCKED + RG_JOINT_AXES_MOST * RG_JOINT_PARTS
};

/* What changes of a joint from step to step. */
typedef struct rg_joint_memory {
    double broken;                         /* 0 or 1 */
    double coordinate[RG_JOINT_AXES_MOST]; /* of the last step: turns are counted from here.
                                               Gears: angles, and last the sum that they keep */
    double impulse[RG_JOINT_ROWS_MOST];    /* N s, N m s over a step, by places */
    double step;                           /* s: that step; 0: none */
    rg_vec3 force, torque;                 /* N, N m on B, at the point of B's frame then */
} rg_joint_memory;

/* Bytes that a later stage keeps in the world from one step to the next (a method's step size and
 * history, the contact cache), flat and without pointers, so that snapshots copy and checkpoints
 * save them without knowing them. */
typedef struct rg_memory_block {
    void *data;
    size_t size, capacity;
} rg_memory_block;

typedef enum rg_memory_kind {
    RG_MEMORY_METHOD,
    RG_MEMORY_CONTACTS, /* pairs and separating features of the last step: contact_world.c */
    RG_MEMORY_TOUCHING, /* pairs that touched in it: contact_touch.c */
    RG_MEMORY_FORCES,   /* contact forces of the last step: rg_contact_force */
    RG_MEMORY_JOINTS,   /* rg_joint_memory of every joint, in their order */
    RG_MEMORY_KIND_COUNT
} rg_memory_kind;

/* One line per array over bodies; growing, copying, moving and freeing are written once. */
#define RG_BODY_ARRAYS(X)                                                                          \
    X(rg_vec3, position)    /* of the centre of mass */                                            \
    X(rg_quat, orientation) /* of the centre-of-mass frame */                                      \
    X(double, angle)        /* planar worlds: of the origin frame, turns counted */                \
    X(rg_vec3, velocity)                                                                           \
    X(rg_vec3, angular_velocity)                                                                   \
    X(rg_vec3, momentum)                                                                           \
    X(rg_vec3, angular_momentum) /* about the centre of mass, world axes */                        \
    X(rg_vec3, applied_force)    /* by the caller, for the next step */                            \
    X(rg_vec3, applied_torque)                                                                     \
    X(rg_vec3, acted_force) /* of these, in the last step */                                       \
    X(rg_vec3, acted_torque)                                                                       \
    X(rg_body_dynamics, dynamics)                                                                  \
    X(rg_body_record, record)

/* The worst, sums and extremes over a run, kept by the judge. */
typedef struct rg_run_record {
    rg_step_info summary;
    uint64_t judged; /* steps that the energy and certificate of the summary stand for */
    double largest_kinetic, total_work; /* J, for the scale of the closure */
    double initial_potential;
} rg_run_record;

/* Bodies deep in each other: the worst of the run, and at the end of the last step. */
typedef struct rg_overlap_record {
    rg_overlap deepest, last;
} rg_overlap_record;

typedef struct rg_world_content {
    double time, time_carry; /* s; the carry is what rounding has lost of the sum of steps */
    uint64_t step_count;
    uint64_t edits; /* counts changes by the caller: a method's history ends at an edit */
    bool planar;
    bool has_applied; /* some applied force or torque is not 0 */
    bool has_acted;   /* some was in the last step; otherwise acted_ is not set */
    rg_vec3 gravity;
    const rg_method *method; /* null: the default */
    rg_method_settings settings;
    uint64_t seed;
    rg_random random;
    rg_run_record run;
    rg_overlap_record overlaps;

    rg_material *materials;
    size_t material_count, material_capacity;
    rg_material_pair *pairs;
    size_t pair_count, pair_capacity;

    rg_handle_pool bodies;
    size_t body_capacity;
#define X(type, name) type *name;
    RG_BODY_ARRAYS(X)
#undef X
    uint32_t *name_table; /* open addressing: body slot + 1 */
    size_t name_table_size, name_count;

    rg_prescription_entry *prescriptions;
    size_t prescription_count, prescription_capacity;

    rg_handle_pool colliders;
    rg_collider *collider;
    size_t collider_capacity;

    rg_handle_pool forces;
    rg_force_def *force;
    size_t force_capacity;

    rg_handle_pool joints;
    rg_joint_record *joint;
    size_t joint_capacity;

    rg_memory_block memory[RG_MEMORY_KIND_COUNT];
} rg_world_content;

/* Which stage of a step runs, and the timers of all; written by step_stage.c. */
typedef struct rg_stage_clock {
    rg_stage stage;
    double begin, since; /* s: of the step and of the stage */
    rg_profile profile;
} rg_stage_clock;

struct rg_world {
    rg_allocator allocator;
    rg_world_content content;
    rg_arena scratch; /* for one step */
    rg_pool *pool;
    int threads;
    bool certify, no_memory;
    uint64_t revision; /* counts edits, restored and loaded states */
    bool busy;         /* in a step: changes are refused */
    bool in_callback;  /* in a step callback: changes are welcome, steps are refused */
    atomic_bool stop;  /* the step under way, or the next one, shall end (rg_world_interrupt) */
    double step;       /* s: its length, as the caller said it */
    rg_step_callback *before_step, *after_step;
    void *callback_user;
    rg_collision_def collision;
    rg_stage_clock clock;
    rg_load *load; /* that were asked for */
    size_t load_capacity;
    rg_vec3 *load_room; /* for what functions of the caller's add */
    size_t load_room_capacity;
    /* What a later stage keeps beside the state (contact detection, solvers' memory): no result
     * depends on it. */
    void *machinery;
    void (*free_machinery)(void *machinery);
};

/* A quaternion of the caller's this far from unit length (in the square of its norm) is a mistake,
 * not rounding. */
#define RG_QUATERNION_TOLERANCE 1e-6

/* Handles of one kind are the pool's with another name. */
#define RG_HANDLE(id) ((rg_handle){(id).index1, (id).generation})

/* world.c */
/* Whether numbers are such as a world takes (RG_NUMBER_LARGEST), or what is wrong with `what`. */
rg_status rg_numbers_check(const char *what, const double *numbers, size_t count, rg_error *error);
rg_status rg_vector_check(const char *what, rg_vec3 vector, rg_error *error);
/* Of places and velocities, within a step. */
static inline bool rg_vector_in_range(rg_vec3 v) {
    return fabs(v.x) <= RG_NUMBER_LARGEST && fabs(v.y) <= RG_NUMBER_LARGEST &&
           fabs(v.z) <= RG_NUMBER_LARGEST;
}
static inline bool rg_world_stops(const rg_world *world) {
    return atomic_load_explicit(&world->stop, memory_order_relaxed);
}
void rg_content_free(rg_world_content *content, const rg_allocator *allocator);
rg_status rg_settings_check(const rg_method_settings *settings, rg_error *error);
/* A change by the caller begins: RG_BUSY inside a step. */
rg_status rg_world_begin_edit(rg_world *world);
/* The same of something that a handle names: RG_INVALID_HANDLE if there is no such. */
rg_status rg_world_begin_edit_of(rg_world *world, bool exists);
/* A change that was begun is refused after all, before anything changed. */
void rg_world_cancel_edit(rg_world *world);
/* The time after another `step` seconds, compensated. */
void rg_content_advance_time(rg_world_content *content, double step);

/* world_body.c */
/* Index of a body that must exist. */
static inline size_t rg_body_dense(const rg_world_content *content, rg_body_id body) {
    return rg_handle_index(&content->bodies, RG_HANDLE(body));
}
rg_body_id rg_body_id_at(const rg_world_content *content, size_t index);
/* Momenta from velocities and back, at the current pose. */
void rg_body_momenta_from_velocities(rg_world_content *content, size_t i);
void rg_body_velocities_from_momenta(rg_world_content *content, size_t i);
/* The pose of the origin frame, from that of the centre-of-mass frame. */
rg_pose rg_body_origin_pose(const rg_world_content *content, size_t i);
/* The same, for whoever asks it of all bodies: most have their centre of mass there. */
static inline void rg_body_place_origin(const rg_world_content *content, size_t i,
                                        rg_pose *origin) {
    if (rg_pose_is_identity(&content->record[i].local_centre)) {
        origin->position = content->position[i];
        origin->orientation = content->orientation[i];
    } else {
        *origin = rg_body_origin_pose(content, i);
    }
}
/* The only collider of a dynamic body, a ball about its centre of mass; null: it has another. How
 * such a body turns does not show. */
const rg_collider *rg_body_only_ball(const rg_world_content *content, size_t i);
/* Mass, centre and principal axes anew from colliders and givens; the material points keep their
 * places and velocities. */
rg_status rg_body_refresh_mass(rg_world *world, size_t i, rg_error *error);

/* world_collider.c */
rg_status rg_collider_check(const rg_world *world, const rg_collider_def *def, rg_motion motion,
                            rg_error *error);
rg_status rg_collider_attach(rg_world *world, size_t body, const rg_collider_def *def,
                             rg_collider_id *collider);
void rg_collider_detach(rg_world *world, rg_collider_id collider);
rg_status rg_colliders_mass(const rg_collider_def *defs, size_t count, rg_mass_properties *mass);

/* world_collision.c */
rg_status rg_collision_def_check(const rg_collision_def *def, rg_error *error);

/* world_force.c */
/* Adds to force and torque of the context what springs, drag, fields and functions do at its time
 * and state; applied forces too. Gravity is not among them. A force that acts during a part of
 * [phase_begin, phase_end] only counts for that share of it, at all stages alike, so that a fixed
 * step gives the impulse that it should; a function of the caller's acts if it does so at the
 * middle. */
void rg_forces_evaluate(const rg_world *world, rg_force_context *context, double phase_begin,
                        double phase_end);
/* What a force is given at the beginning of a step, and where what it does is added up. */
rg_force_context rg_forces_context(const rg_world *world, rg_vec3 *force, rg_vec3 *torque);
/* Whether rg_forces_evaluate would add anything at all. */
bool rg_forces_any(const rg_world_content *content);
/* Whether forces, between their start and stop times, depend on nothing but the state of the body
 * that they act on. */
bool rg_forces_are_steady(const rg_world_content *content);
/* The first time in (begin, end) at which a force starts or stops; `end` if there is none. */
double rg_forces_next_break(const rg_world_content *content, double begin, double end);
void rg_forces_forget_body(rg_world *world, rg_body_id body);
/* Of one force, whatever its times; FUNCTION is called. */
void rg_force_add(const rg_world_content *content, const rg_force_def *def,
                  rg_force_context *context);

/* world_load.c */
/* What was applied has acted, and is forgotten but for rg_world_find_loads. */
void rg_applied_end(rg_world_content *content);
void rg_loads_free(rg_world *world);

/* world_time.c: forces and targets that are functions of time, and the texts that forces and joints
 * own. Copies of the texts instead of the caller's; without memory none of them. */
rg_status rg_force_own_texts(rg_force_def *def, const rg_allocator *allocator);
rg_status rg_joint_own_texts(rg_joint_def *def, const rg_allocator *allocator);
rg_status rg_prescription_own_texts(rg_prescription *def, const rg_allocator *allocator);
void rg_prescription_free_texts(rg_prescription *def, const rg_allocator *allocator); /* null: lets
                                                                                          them go */
void rg_force_disown_texts(rg_force_def *def);
void rg_joint_disown_texts(rg_joint_def *def);
void rg_force_free_texts(rg_force_def *def, const rg_allocator *allocator);
void rg_joint_free_texts(rg_joint_def *def, const rg_allocator *allocator);
/* Null: 0. */
rg_status rg_of_time(const char *text, double time, double *value, rg_error *error);
/* The force with its numbers at a time (NaN: none); the target of a motor. */
rg_force_def rg_force_at_time(const rg_force_def *def, double time);
bool rg_force_varies(const rg_force_def *def);
bool rg_joints_vary(const rg_world_content *content); /* targets depend on time */
double rg_joint_target(const rg_world_content *content, size_t joint, size_t axis, double time);
/* That all of them have a value, and if not what is wrong. */
rg_status rg_world_check_times(const rg_world *world, double time, rg_error *error);

/* world_joint.c */
void rg_joints_forget_body(rg_world *world, rg_body_id body);
static inline rg_joint_memory *rg_joint_memories(const rg_world_content *content) {
    return content->memory[RG_MEMORY_JOINTS].data;
}
static inline size_t rg_joint_dense(const rg_world_content *content, rg_joint_id joint) {
    return rg_handle_index(&content->joints, (rg_handle){joint.index1, joint.generation});
}
/* It is broken, or a tendon of one that is. */
bool rg_joint_is_off(const rg_world_content *content, size_t joint);
/* Does a joint say that these two bodies, by their dense indices, do not touch? */
bool rg_joints_part(const rg_world_content *content, size_t a, size_t b);

/* world_joint_motion.c: where a joint is, for bodies at any places. */
typedef struct rg_body_places {
    const rg_vec3 *position;    /* of the centres of mass, per body of the world */
    const rg_quat *orientation; /* of the centre-of-mass frames */
} rg_body_places;
/* A direction along which the two frames move relative to each other: dx/dt = direction.(velocity
 * of B's minus that of A's material at `point`), or of the angular velocities. */
typedef struct rg_joint_direction {
    double value; /* m, rad: how far a locked one is off; the coordinate of an axis */
    rg_vec3 direction;
    bool turns; /* about it, not along it */
} rg_joint_direction;
typedef struct rg_joint_look {
    uint32_t body[2]; /* dense; UINT32_MAX: the world */
    rg_vec3 point;    /* where forces act on both bodies */
    size_t locked, axes;
    rg_joint_direction lock[RG_JOINT_LOCKED];
    uint8_t place[RG_JOINT_LOCKED]; /* of each lock among the six */
    rg_joint_direction axis[RG_JOINT_AXES_MOST];
    double keep[RG_JOINT_AXES_MOST]; /* what the memory is to have as coordinates */
    double phase;                    /* gears: the sum now that they are to keep */
} rg_joint_look;
/* The frames of a joint relative to the centre-of-mass frames of its bodies: they stay until the
 * joint or a body is edited. */
typedef struct rg_joint_anchors {
    uint32_t body[2]; /* dense; UINT32_MAX: the world, and the frame as it is */
    rg_pose frame[2];
    bool turned[2]; /* its orientation is not that of the body */
} rg_joint_anchors;
rg_joint_anchors rg_joint_anchors_of(const rg_world_content *content, size_t joint);
/* Angles are those nearest to the coordinates in the memory. */
void rg_joint_look_at(const rg_world_content *content, size_t joint, rg_body_places places,
                      rg_joint_look *look);
/* The same with anchors that are known, into a look at the same joint or one of zeros: axes that a
 * kind does not have stay as they are. */
void rg_joint_look_from(const rg_world_content *content, size_t joint,
                        const rg_joint_anchors *anchors, rg_body_places places,
                        rg_joint_look *look);
/* Motions of bodies, per body of the world. */
typedef struct rg_body_motions {
    const rg_vec3 *position;
    const rg_quat *orientation;
    const rg_vec3 *velocity, *angular_velocity;
} rg_body_motions;
static inline const rg_joint_direction *rg_joint_direction_at(const rg_joint_look *look,
                                                              size_t direction) {
    return direction < look->locked ? &look->lock[direction]
                                    : &look->axis[direction - look->locked];
}
/* What velocities add to the acceleration of a direction of a joint, by its motion alone: of its
 * locks, then of its axes. */
typedef struct rg_joint_side_motion {
    rg_vec3 centre, velocity, spin; /* none of the world's */
    rg_pose frame;                  /* of the joint, in the world; of kinds that need it */
} rg_joint_side_motion;
typedef struct rg_joint_motion { /* what all directions of a joint share */
    const rg_joint_def *def;
    rg_vec3 point;
    rg_joint_side_motion one, two;
    rg_vec3 apart; /* velocity of B's material at the point against A's */
    rg_vec3 turns; /* what the rotation of the two adds to its rate, if the point is B's material */
} rg_joint_motion;
rg_joint_motion rg_joint_motion_of(const rg_world_content *content, size_t joint,
                                   const rg_joint_look *look, const rg_body_motions *motions);
double rg_joint_drift(const rg_joint_motion *motion, const rg_joint_look *look, size_t direction);

/* world_prescription.c: centre-of-mass pose and velocities of a kinematic body at a time. */
typedef struct rg_motion_state {
    rg_vec3 position;
    rg_quat orientation;
    double angle;
    rg_vec3 velocity, angular_velocity;
} rg_motion_state;
/* The body as its prescription has it at the time of the content. */
void rg_prescription_apply(rg_world_content *content, size_t i);
rg_status rg_prescription_find(const rg_world_content *content, size_t body, double time,
                               rg_motion_state *state, rg_error *error);
/* The same for those who cannot fail: without a value the body is where it is, and the fault is
 * noted for the step to fail with. */
rg_motion_state rg_prescription_evaluate(const rg_world_content *content, size_t body, double time);
/* Whether one is noted: a method that has one does not keep its step. */
bool rg_prescription_failed(const rg_world_content *content);
/* What was noted since the last call: a status and a message that names body and time. */
rg_status rg_prescription_fault(const rg_world_content *content, rg_error *error);
/* The pool for loops that evaluate prescribed motion: null, which is one thread, if that calls a
 * function of the program. */
rg_pool *rg_world_motion_pool(const rg_world *world);
/* Changes the start of a motion by velocity or oscillation so that at `time` the body is there. */
void rg_prescription_move(rg_prescription_entry *entry, double time, rg_pose pose, double angle);
enum { RG_PRESCRIBED_PERIODS_MOST = 100 };
rg_status rg_prescription_check(const rg_prescription *prescription, bool planar, double time,
                                rg_error *error);
/* That the motion between two states, as it is at two times, can be followed: it does not jump, nor
 * go to and fro more than RG_PRESCRIBED_PERIODS_MOST times. */
rg_status rg_prescription_check_step(const rg_world_content *content, size_t body,
                                     const rg_motion_state states[2], const double times[2],
                                     rg_error *error);
/* That expressions have values and rates at a time. */
rg_status rg_prescription_check_time(const rg_prescription *prescription, double time,
                                     rg_error *error);

/* world_names.c: the table from names to bodies. */
rg_status rg_names_add(rg_world *world, rg_body_id body); /* the record has the name */
void rg_names_remove(rg_world_content *content, rg_body_id body);
bool rg_names_find(const rg_world_content *content, const char *name, rg_body_id *body);

/* world_snapshot.c */
rg_status rg_content_copy(rg_world_content *to, const rg_world_content *from,
                          const rg_allocator *allocator);
/* `size` bytes of memory that stays; kept content up to the smaller size. Null without memory. */
void *rg_memory_resize(rg_world *world, rg_memory_kind kind, size_t size);
/* Room for that; nothing else changes. False without memory. */
bool rg_memory_reserve(rg_world *world, rg_memory_kind kind, size_t size);

#endif
