/* A step of the stepping method in two halves, for all bodies of a world or for some: making it
 * writes to scratch memory only (and to what contact detection remembers), committing it cannot
 * fail. Whoever asks for some bodies knows that the others cannot come near them within the step:
 * of those nothing is looked at. */
#ifndef RIGOR_STEP_STEPPING_H
#define RIGOR_STEP_STEPPING_H

#include "step/step_contacts.h"
#include "step/step_joints.h"
#include "step/step_method.h"

typedef struct rg_stepping_chunk {
    double external_work;
    rg_vec3 impulse, angular_impulse;
    rg_status status;
    size_t failed_body;
} rg_stepping_chunk;

/* Per body of the world. Angular velocities are those at the orientation of the beginning, until
 * bodies have been moved. */
typedef struct rg_stepping_velocities {
    rg_vec3 *momentum, *angular_momentum, *velocity, *angular_velocity;
} rg_stepping_velocities;

/* Sizes of what was added to a body's momenta: what their rounding is relative to. */
typedef struct rg_stepping_sum {
    double terms, linear, angular;
} rg_stepping_sum;
/* Units of rounding that a momentum may be wrong by for each impulse on the body (its three
 * components, and those of the same impulse on the other body, whose velocity it was found with),
 * and as if there were so many more (gravity, the division by the mass). No less than the solver
 * calls rounding (solve_judge_plain.c): forces that pass there must leave a body at rest here. */
#define RG_STEPPING_ROUNDINGS 6.0
#define RG_STEPPING_MORE      6.0

/* Bodies whose impacts with restitution are followed (step_stepping_impacts.c), per body of the
 * world. */
typedef struct rg_stepping_groups {
    bool any;
    uint32_t *parent; /* disjoint sets of bodies that have contacts with each other (base_sets.h) */
    uint8_t *stepped; /* 1: forces move it, and it is a member */
    uint8_t *followed; /* 1: of a group with such impacts */
    uint8_t *rest;     /* 1: stepped, and not followed */
} rg_stepping_groups;

/* Bodies that a motion does not keep apart. */
typedef struct rg_stepping_break {
    uint32_t body[2];
} rg_stepping_break;
typedef struct rg_stepping_breaks {
    rg_stepping_break *pairs;
    size_t count;
    double until; /* s: up to when it keeps all apart */
} rg_stepping_breaks;

/* An impulse at the centre of a body, from its parent in a tree of joints, at the end of a step. */
typedef struct rg_stepping_damper {
    uint32_t body, parent; /* UINT32_MAX: the world */
    uint32_t joint;        /* that joins the two */
    rg_vec3 linear, angular;
} rg_stepping_damper;

typedef struct rg_stepping {
    /* in: */
    double step, end_time; /* s: its length, which is not always the difference of the clock */
    /* A part of a step: */
    double whole; /* s: the step that it is a part of; 0: of none */
    bool stores;  /* contact forces are made where they can be stored without a copy */
    rg_contact_choice_of_rows rows;
    const uint8_t *apart;  /* bodies that are no members and may have to be, per body; null: none */
    const uint8_t *member; /* per body of the world: 1 if it is stepped; null: all */
    /* Contact forces of the step before, in the order of colliders, parts and points. */
    const rg_contact_force *last;
    size_t last_count;
    double last_step;        /* s: the length of that; 0: as this one */
    bool leaves_open;        /* closing joints moves nothing: it might move bodies through others */
    bool restless;           /* no island is left out because it rests */
    size_t shown;            /* problems of this step that an observer has seen already */
    rg_joint_memory *joints; /* of all joints, for the next step: parts add theirs; null: none */
    double
        *missed; /* out: m, rad per joint: by how much it gave way to contacts; null: no joints */
    /* out: N m s per body that added inertia took, at the beginning and at the end. */
    rg_vec3 *held, *held_end;
    rg_joint_set end_joints; /* out: what joints did at the end, when bodies had moved */
    uint32_t open1;          /* out: 1 + the joint that is farthest from being closed; 0: none is */
    double open_error;       /* out: m, rad, of that joint */
    double *shift; /* out: m per body that closing joints moved it by; null: without joints */
    rg_stepping_damper *dampers; /* out: what took energy that the step would have added */
    size_t damper_count;
    /* out: new state per body of the world, of those that are not stepped the old one; contacts;
     * report. */
    rg_vec3 *position;
    rg_quat *orientation;
    double *angle;
    rg_stepping_velocities free, end; /* without contact forces, and with them */
    rg_contact_step contacts;
    rg_contact_force *forces; /* to be stored */
    size_t force_count;
    rg_stepping_groups groups;
    rg_step_report report, parts; /* of all, and of those that are followed */
    size_t failed_body; /* whose motion could not be made; SIZE_MAX: of none in particular */
    /* meanwhile: */
    const rg_world_content *content;
    const rg_vec3 *force, *torque; /* null: none but gravity */
    uint8_t *near;                 /* bodies with contact points */
    uint8_t *still;                /* 1: what is left of its momenta is rounding */
    uint8_t *halved;               /* bodies on which half of gravity acts at the end */
    rg_stepping_sum *sums;
    rg_stepping_chunk *chunks;
} rg_stepping;

/* Contact forces that there were in the step are marked for those who want to know who touches. */
rg_status rg_stepping_make(rg_world *world, rg_stepping *stepping, rg_error *error);
/* Its stages: what it begins with; contact points at the poses of now, as far ahead as velocities
 * reach; their rows and islands; forces and velocities. All of these, and again where impacts made
 * bodies fast (`looked`: there are points already). */
rg_status rg_stepping_begin(rg_stepping *stepping, rg_contact_job *contacts, rg_error *error);
rg_status rg_stepping_look(rg_stepping *stepping, rg_contact_job *contacts, int pass,
                           rg_error *error);
rg_status rg_stepping_rows(rg_contact_job *contacts, const rg_contact_force *first,
                           size_t first_count, rg_error *error);
rg_status rg_stepping_forces(rg_stepping *stepping, rg_contact_job *contacts, rg_error *error);
rg_status rg_stepping_passes(rg_stepping *stepping, rg_contact_job *contacts, bool looked,
                             rg_error *error);
/* step_stepping_held.c: until when the motion that was found (after rg_stepping_move) keeps bodies
 * apart, and which it does not. */
rg_status rg_stepping_check(const rg_stepping *stepping, const rg_contact_job *contacts,
                            rg_stepping_breaks *breaks);
/* step_stepping_impacts.c: which bodies meet others with restitution; their part of the step. If
 * one of them comes near a body of another group, or of none, both are in one group from now on:
 * *joined, and all is to be done again. */
rg_status rg_stepping_group(rg_stepping *stepping, const rg_contact_job *contacts);
/* Bodies that are not kept apart, and all that contacts join to them. */
rg_status rg_stepping_group_broken(rg_stepping *stepping, const rg_contact_job *contacts,
                                   const rg_stepping_breaks *breaks);
void rg_stepping_join(rg_stepping *stepping, uint32_t a, uint32_t b);
rg_status rg_stepping_follow(rg_world *world, rg_stepping *stepping, bool *joined, rg_error *error);
/* step_stepping_bodies.c: memory and free velocities, velocities with the contact impulses, new
 * poses. */
rg_status rg_stepping_free(rg_world *world, rg_stepping *stepping, rg_error *error);
/* Mechanisms that are held by nothing but joints: half of gravity acts at the end. */
void rg_stepping_halve(rg_stepping *stepping);
void rg_stepping_apply(rg_stepping *stepping, rg_pool *pool);
/* Angular velocity that goes with an angular momentum at the orientation of the content. */
rg_vec3 rg_stepping_spin(const rg_world_content *content, size_t body, rg_vec3 angular_momentum);
/* Whether a body is moved by this step, and not by parts of it. */
static inline bool rg_stepping_moves(const rg_stepping *stepping, size_t body) {
    return stepping->content->dynamics[body].inverse_mass > 0 &&
           (!stepping->member || stepping->member[body]) &&
           !(stepping->groups.any && stepping->groups.followed[body]);
}
/* The state of a body as it is in the content, into the job and its velocities `v`. */
void rg_stepping_keep(const rg_stepping *job, const rg_world_content *content,
                      const rg_stepping_velocities *v, size_t body);
rg_status rg_stepping_move(rg_world *world, rg_stepping *stepping, rg_error *error);
/* step_stepping_energy.c: takes from mechanisms that have moved the energy that the step gave them.
 * RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_stepping_hold_energy(rg_stepping *stepping, rg_arena *arena);
/* All that joints did at the end, for the judge. */
rg_status rg_stepping_tell_end(const rg_stepping *stepping, rg_arena *arena,
                               rg_judge_joint **wrenches, size_t *count);
/* The bodies; contact forces are the caller's. True if a bit of their state changes. */
bool rg_stepping_commit(rg_world *world, const rg_stepping *stepping);

#endif
