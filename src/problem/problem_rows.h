/* Rows of contact problems from the contact points of a world: where, along which directions, how
 * far apart, under which law. One set for the whole world; problem_islands.h cuts it up.
 *
 * Velocity space: 6 numbers per body (velocity of the centre of mass, angular velocity, both in
 * world axes), in planar worlds 3 (x, z, angular velocity about y). Component order of a contact:
 * normal, first tangent, second tangent (in space). */
#ifndef RIGOR_PROBLEM_ROWS_H
#define RIGOR_PROBLEM_ROWS_H

#include "base/base_arena.h"
#include "base/base_math.h"
#include "rigor/collision.h"
#include "rigor/complementarity.h"
#include "world/world.h"

#include <string.h>

/* Velocity of the material of body `user`'s world at a point: for bodies that forces do not
 * move. */
typedef struct rg_contact_row {
    uint32_t touch, manifold, point; /* in the view */
    uint32_t body_a, body_b;         /* dense indices */
    bool moves_a, moves_b;           /* dynamic: part of the velocity space */
    rg_vec3 normal, tangent1, tangent2;
    rg_vec3 position;
    rg_vec3 surface; /* m/s: velocity of A's minus B's material that is prescribed */
    double gap;      /* m */
    rg_contact_law law;
} rg_contact_row;

/* What loops over all rows ask for most: 12 bytes, where a row has 208. */
typedef struct rg_row_link {
    uint32_t body[2]; /* A and B, dense; RG_NO_BLOCK: forces do not move it */
    uint32_t touch;   /* in the view */
} rg_row_link;

typedef struct rg_row_set {
    int dimension, freedom;
    size_t count;
    rg_contact_row *rows;
    rg_row_link *links; /* of each row */
    double *jacobian;   /* count x 2 (A, then B) x dimension x freedom */
    bool bounces;       /* there may be rows with restitution */
    bool twists;        /* ... with rolling or torsional friction */
} rg_row_set;

/* Where a kinematic body's material point p will be at the end of the step, minus p; zero for fixed
 * bodies. */
typedef rg_vec3 rg_displacement_function(const void *user, size_t body, rg_vec3 p);

/* Sensors are left out. RG_OUT_OF_MEMORY is the only failure. `step` in seconds. */
rg_status rg_rows_build(const rg_world *world, const rg_collision_view *view, double step,
                        rg_displacement_function *displacement, const void *user, rg_arena *arena,
                        rg_row_set *set);

/* The length of the step, and what kinematic bodies do in it. */
typedef struct rg_row_motion {
    double step;
    rg_displacement_function *displacement;
    const void *user;
} rg_row_motion;

/* The same without the touches of which `without` is 1 (per touch of the view; null: with all). */
rg_status rg_rows_build_some(const rg_world *world, const rg_collision_view *view,
                             const uint8_t *without, const rg_row_motion *motion, rg_arena *arena,
                             rg_row_set *set);

/* Where the row of a contact point is: the same on both bodies. */
static inline rg_vec3 rg_contact_place(const rg_contact_point *point, double share) {
    return rg_add_scaled(point->on_b, share, rg_sub(point->on_a, point->on_b));
}

/* Leaves out all contacts but those with `keep` 1. */
void rg_rows_keep(rg_row_set *set, const uint8_t *keep);

/* The Jacobian of row `row` of contact i at side 0 (A) or 1 (B). */
static inline const double *rg_row_jacobian(const rg_row_set *set, size_t i, size_t side,
                                            size_t row) {
    return set->jacobian + ((i * 2 + side) * (size_t)set->dimension + row) * (size_t)set->freedom;
}

/* A force or impulse in world axes from its components, and back. What is asked of every contact in
 * every step is inline. */
static inline rg_vec3 rg_row_force(const rg_row_set *set, size_t i, const double *components) {
    const rg_contact_row *row = &set->rows[i];
    rg_vec3 force = rg_scale(components[0], row->normal);
    force = rg_add_scaled(force, components[1], row->tangent1);
    return set->dimension == 3 ? rg_add_scaled(force, components[2], row->tangent2) : force;
}

static inline void rg_row_components(const rg_row_set *set, size_t i, rg_vec3 force,
                                     double *components) {
    const rg_contact_row *row = &set->rows[i];
    components[0] = rg_dot(force, row->normal);
    components[1] = rg_dot(force, row->tangent1);
    if (set->dimension == 3)
        components[2] = rg_dot(force, row->tangent2);
}

/* Are both zero? By their bits, all at once: most bodies of a stack are at rest. */
static inline bool rg_row_is_still(const rg_vec3 *v, const rg_vec3 *w) {
    uint64_t a[3], b[3];
    memcpy(a, v, sizeof a);
    memcpy(b, w, sizeof b);
    return (a[0] | a[1] | a[2] | b[0] | b[1] | b[2]) << 1 == 0;
}

/* The part of J v that a body has. */
static inline void rg_row_add_velocity(const rg_row_set *set, size_t i, size_t side,
                                       const rg_vec3 *v, const rg_vec3 *w, double u[3]) {
    if (rg_row_is_still(v, w))
        return;
    const double *j = rg_row_jacobian(set, i, side, 0);
    rg_vec3 x = *v, y = *w;
    if (set->freedom == 3) {
        for (int k = 0; k < 2; k++, j += 3)
            u[k] += j[0] * x.x + j[1] * x.z + j[2] * y.y;
        return;
    }
    for (int k = 0; k < 3; k++, j += 6)
        u[k] += j[0] * x.x + j[1] * x.y + j[2] * x.z + j[3] * y.x + j[4] * y.y + j[5] * y.z;
}

/* u = J v of one contact for given body velocities, prescribed motion included. */
static inline void rg_row_velocity(const rg_row_set *set, size_t i, const rg_vec3 *velocity,
                                   const rg_vec3 *angular_velocity, double u[3]) {
    const rg_contact_row *row = &set->rows[i];
    u[0] = u[1] = 0;
    if (set->dimension == 3)
        u[2] = 0;
    if (!rg_is_zero(row->surface))
        rg_row_components(set, i, row->surface, u);
    if (row->moves_a)
        rg_row_add_velocity(set, i, 0, &velocity[row->body_a], &angular_velocity[row->body_a], u);
    if (row->moves_b)
        rg_row_add_velocity(set, i, 1, &velocity[row->body_b], &angular_velocity[row->body_b], u);
}

/* Two unit vectors across a unit normal, a continuous function of it but for a half-line: the
 * projection of the x axis where the normal is steep to it, of the y axis otherwise. In the plane
 * the tangent is the normal turned from z to x. */
void rg_contact_tangents(rg_vec3 normal, bool planar, rg_vec3 *tangent1, rg_vec3 *tangent2);

#endif
