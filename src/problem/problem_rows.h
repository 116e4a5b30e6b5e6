/* Rows of contact problems from the contact points of a world: where, along which directions, how
 * far apart, under which law. One set for the whole world; problem_islands.h cuts it up.
 *
 * Velocity space: 6 numbers per body (velocity of the centre of mass, angular velocity, both in
 * world axes), in planar worlds 3 (x, z, angular velocity about y). Component order of a contact:
 * normal, first tangent, second tangent (in space). */
#ifndef RIGOR_PROBLEM_ROWS_H
#define RIGOR_PROBLEM_ROWS_H

#include "base/base_arena.h"
#include "rigor/collision.h"
#include "rigor/complementarity.h"
#include "world/world.h"

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

typedef struct rg_row_set {
    int dimension, freedom;
    size_t count;
    rg_contact_row *rows;
    double *jacobian; /* count x 2 (A, then B) x dimension x freedom */
} rg_row_set;

/* Where a kinematic body's material point p will be at the end of the step, minus p; zero for fixed
 * bodies. */
typedef rg_vec3 rg_displacement_function(const void *user, size_t body, rg_vec3 p);

/* Sensors are left out. RG_OUT_OF_MEMORY is the only failure. `step` in seconds. */
rg_status rg_rows_build(const rg_world_content *content, const rg_collision_view *view, double step,
                        rg_displacement_function *displacement, const void *user, rg_arena *arena,
                        rg_row_set *set);

/* Leaves out all contacts but those with `keep` 1. */
void rg_rows_keep(rg_row_set *set, const uint8_t *keep);

/* The Jacobian of row `row` of contact i at side 0 (A) or 1 (B). */
static inline const double *rg_row_jacobian(const rg_row_set *set, size_t i, size_t side,
                                            size_t row) {
    return set->jacobian + ((i * 2 + side) * (size_t)set->dimension + row) * (size_t)set->freedom;
}

/* u = J v of one contact for given body velocities, prescribed motion included. */
void rg_row_velocity(const rg_row_set *set, size_t i, const rg_vec3 *velocity,
                     const rg_vec3 *angular_velocity, double u[3]);
/* A force or impulse in world axes from its components, and back. */
rg_vec3 rg_row_force(const rg_row_set *set, size_t i, const double *components);
void rg_row_components(const rg_row_set *set, size_t i, rg_vec3 force, double *components);

/* Two unit vectors across a unit normal, a continuous function of it but for a half-line: the
 * projection of the x axis where the normal is steep to it, of the y axis otherwise. In the plane
 * the tangent is the normal turned from z to x. */
void rg_contact_tangents(rg_vec3 normal, bool planar, rg_vec3 *tangent1, rg_vec3 *tangent2);

#endif
