/* The penalty method: contacts as springs and dampers, for comparison.
 *
 * Where bodies overlap, a spring pushes each contact point apart and a damper takes energy (Moore
 * and Wilhelms 1988; Baraff 1989, section 2.1; Baraff 1994, section 4.2: x'' = -k (x - p) + F).
 * Bodies always overlap a little where they rest, by m g / k, so that heavy ones sink deeper than
 * light ones; less depth asks for stiffer springs, and these for more steps, as the square root of
 * k. The certificate says how deep. Nothing here keeps fast bodies from passing through thin ones.
 *
 *   step_penalty.c          the step: an integrator whose right-hand side looks for contacts
 *   step_penalty_forces.c   the law of a point: spring, damper, friction
 *   step_penalty_impulses.c collisions by impulses, as an option
 *   step_penalty_judge.c    what the judge is shown
 *
 * Normal force: k d - c u, never less than 0, with d the depth and u the speed of separation. The
 * damper has the share z of critical damping, c = 2 z sqrt(k m), m the mass that the point feels.
 * With phi = acos z, a body that meets with speed v leaves, when the force has come down to 0, with
 * speed e v:   e = exp(-2 phi z / sqrt(1 - z^2))
 * (force 0 is x'' = 0, at the phase 2 phi; Schwager and Poeschel 2007). z is that of the law's
 * restitution; less than e(1) = exp(-2) = 0.135 is not to be had below critical damping.
 *
 * Friction: mu f_N against the slip, times slip / `slip` below that speed: nothing sticks, it
 * creeps. The coefficient is that of slipping.
 *
 * Ratio metric as measure (Hart-Anitescu 2010, conclusion): the spring stores k (l rho)^2 / 2, with
 * l the sum of the inradii and rho = gap / (n . (centre of A - centre of B)), and pushes along the
 * gradient of rho, which is a force at the point of the grown bodies. Half-spaces have no centre:
 * with them the measure is the depth. */
#ifndef RIGOR_STEP_PENALTY_H
#define RIGOR_STEP_PENALTY_H

#include "contact/contact.h"
#include "problem/problem_rows.h"
#include "step/step_flight.h"
#include "step/step_judge.h"
#include "step/step_machinery.h"

/* Impulse and angular impulse about the origin of what forces do not move, behind the flight's
 * numbers. */
enum { RG_PENALTY_LEDGER = 6 };

/* A contact point with its forces on A. */
typedef struct rg_penalty_contact {
    rg_vec3 point;    /* where they act */
    rg_vec3 velocity; /* m/s: of A's material against B's */
    double spring;    /* N, of the spring alone */
    double normal;    /* N, with the damper */
    double stiffness; /* N/m */
    double mass;      /* kg: that the point feels along the normal */
    rg_vec3 friction; /* N */
} rg_penalty_contact;

/* Contacts at an instant: rows and, beside them, forces. */
typedef struct rg_penalty_look {
    rg_collision *collision;
    rg_collision_view view;
    rg_row_set set;
    rg_penalty_contact *contacts;
} rg_penalty_look;

typedef struct rg_penalty {
    rg_world *world;
    rg_step_machinery *machinery;
    rg_flight flight;
    rg_arena *arena;
    rg_arena_mark mark; /* looks are above it */
    uint32_t *place;    /* per body: its place in the flight; UINT32_MAX: forces do not move it */
    rg_ode ode;
    rg_dormand_prince_trial trial;
    rg_ode_info info;
    double *y, *scratch_y;
    rg_penalty_look now;         /* of the last evaluation */
    double restitution, damping; /* the last share of critical damping that was asked for */
    rg_status status;            /* of looks */
    rg_error *error;
    double fastest; /* 1/s^2: largest k / m of the contacts of the last look */
    uint64_t contacts_most, impacts;
    /* For the judge; null: not wanted. */
    rg_judge_tracks *tracks;
    rg_penalty_look judged;
    rg_judge_findings found;
    rg_judge_power spring_begin, other_begin;
    rg_vec3 *linear, *angular;
    rg_mat3 *inverse;
} rg_penalty;

/* step_penalty.c: bodies at a state, and the contacts there; false, with p->status, on failure. */
bool rg_penalty_look_at(rg_penalty *p, double t, const double *y, rg_penalty_look *look);

/* step_penalty_forces.c */
/* The share of critical damping with which a restitution comes out; at most 1. */
double rg_penalty_damping(double restitution);
/* Forces of all rows of a look. */
rg_status rg_penalty_forces(rg_penalty *p, rg_penalty_look *look);
/* 1/kg: what the velocity of A against B at a point along `direction` changes by, along `along`,
 * for a unit of impulse. */
double rg_penalty_inverse_mass(const rg_world_content *content, const rg_contact_row *row,
                               rg_vec3 point, rg_vec3 direction, rg_vec3 along);

/* step_penalty_impulses.c: whether a contact meets faster than its spring is there for. */
bool rg_penalty_meets(const rg_penalty *p, const rg_penalty_look *look, size_t i);
/* Cuts the step that was tried at the first such contact, *length, and makes its impulses, in
 * `end`. */
rg_status rg_penalty_collide(rg_penalty *p, double *length, double *end);

/* step_penalty_judge.c */
rg_status rg_penalty_judge_make(rg_penalty *p);
/* Before the first step, and after every impulse; y at t. */
void rg_penalty_judge_begin(rg_penalty *p, double t, const double *y);
/* A step that was taken, up to `length` of it. */
void rg_penalty_judge_span(rg_penalty *p, double length);
/* Impulses (N s on A) at contacts of the last look, before they are made. */
void rg_penalty_judge_impulse(rg_penalty *p, size_t contact, rg_vec3 impulse);

#endif
