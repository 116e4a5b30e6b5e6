/* Rows as directions: along, or about, a vector at two bodies, at any instant, which need not be
 * that of a world's state. A row's rate is how A's material moves there against B's. How rows act
 * on each other (A_ij of Baraff 1989, Appendix A; Giang 2003, eq. 20, without its assumption that
 * both contacts join the same bodies in the same roles), and contact problems of them. */
#ifndef RIGOR_PROBLEM_DIRECTIONS_H
#define RIGOR_PROBLEM_DIRECTIONS_H

#include "base/base_arena.h"
#include "base/base_math.h"
#include "rigor/complementarity.h"
#include "world/world.h"

/* Changes of the velocity of a body, or of its place. */
typedef struct rg_twist {
    rg_vec3 linear, angular;
} rg_twist;

typedef struct rg_direction_row {
    uint32_t contact, component; /* of the caller's: 0 normal, 1, 2 tangents */
    uint32_t a, b;
    uint64_t key;            /* by which rows are put in order: larger body, smaller body */
    rg_vec3 e, arm_a, arm_b; /* (c - x) x e */
    rg_vec3 spin_a, spin_b;  /* I^-1 arm */
    /* Per body that forces move: what a unit impulse does if it does more than to its two bodies;
     * null: it does not. */
    const rg_twist *response;
} rg_direction_row;

/* Bodies at an instant: arrays over all bodies of the world. */
typedef struct rg_direction_space {
    const rg_body_dynamics *dynamics;
    const rg_vec3 *position;
    const rg_quat *orientation;
    const rg_mat3 *inverse_inertia; /* world axes; 0 for what forces do not move */
    const uint32_t *place;          /* of those that forces move: which of `count` */
    size_t count;
    bool planar;
} rg_direction_space;

static inline rg_direction_row rg_direction_finish(rg_direction_row row,
                                                   const rg_mat3 *inverse_inertia) {
    uint32_t larger = row.a > row.b ? row.a : row.b, smaller = row.a > row.b ? row.b : row.a;
    row.key = (uint64_t)larger << 32 | smaller;
    row.spin_a = rg_mat3_apply(&inverse_inertia[row.a], row.arm_a);
    row.spin_b = rg_mat3_apply(&inverse_inertia[row.b], row.arm_b);
    return row;
}

/* Along e at a point; about an axis. */
static inline rg_direction_row rg_direction_along(const rg_vec3 *position,
                                                  const rg_mat3 *inverse_inertia, uint32_t a,
                                                  uint32_t b, rg_vec3 point, rg_vec3 e) {
    rg_direction_row row = {.a = a, .b = b, .e = e};
    row.arm_a = rg_cross(rg_sub(point, position[a]), e);
    row.arm_b = rg_cross(rg_sub(point, position[b]), e);
    return rg_direction_finish(row, inverse_inertia);
}
static inline rg_direction_row rg_direction_about(const rg_mat3 *inverse_inertia, uint32_t a,
                                                  uint32_t b, rg_vec3 axis) {
    return rg_direction_finish((rg_direction_row){.a = a, .b = b, .arm_a = axis, .arm_b = axis},
                               inverse_inertia);
}

/* The Jacobian of one side in velocity space: 6 numbers, in the plane 3. */
static inline void rg_direction_jacobian(bool planar, double sign, rg_vec3 linear, rg_vec3 angular,
                                         double *out) {
    if (planar) {
        out[0] = sign * linear.x, out[1] = sign * linear.z, out[2] = sign * angular.y;
        return;
    }
    out[0] = sign * linear.x, out[1] = sign * linear.y, out[2] = sign * linear.z;
    out[3] = sign * angular.x, out[4] = sign * angular.y, out[5] = sign * angular.z;
}

/* The rate of a row at these velocities. */
double rg_direction_rate(const rg_direction_row *row, const rg_vec3 *velocity,
                         const rg_vec3 *angular_velocity);
/* The rate of a row when the bodies that forces move, by their places, move so. */
double rg_direction_twist_rate(const rg_body_dynamics *dynamics, const uint32_t *place,
                               const rg_direction_row *row, const rg_twist *twist);
/* Adds what an impulse x along a row does to its two bodies. */
void rg_direction_add_twist(const rg_body_dynamics *dynamics, const uint32_t *place,
                            const rg_direction_row *row, double x, rg_twist *twist);
/* What a unit force along row i does to the rate of row j. */
double rg_direction_couple(const rg_body_dynamics *dynamics, const uint32_t *place,
                           const rg_direction_row *i, const rg_direction_row *j);
/* The matrix of all of them, count x count. */
void rg_directions_couple(const rg_body_dynamics *dynamics, const uint32_t *place,
                          const rg_direction_row *rows, size_t count, double *matrix);

/* Rows of a problem in the exact cone: of contacts three each, in the plane two; then rows of
 * joints, whose rates stay 0 but for their compliance. */
typedef struct rg_direction_set {
    const rg_direction_row *contacts, *joints;
    size_t contact_count, joint_count;
    const double *compliance; /* of joints */
    const double *q;          /* of all rows: their rates are what forces give, and q */
    const double *mu;         /* of contacts */
    double scale;
} rg_direction_set;
/* In the accelerations of their bodies. Arrays are in the arena, or the caller's.
 * RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_directions_problem(const rg_direction_space *space, const rg_direction_set *set,
                                rg_arena *arena, rg_problem *problem);

#endif
