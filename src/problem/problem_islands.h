/* Islands: bodies that contacts and joints join, each with a contact problem of its own. Bodies
 * that forces do not move join nothing. */
#ifndef RIGOR_PROBLEM_ISLANDS_H
#define RIGOR_PROBLEM_ISLANDS_H

#include "base/base_thread.h"
#include "problem/problem_joints.h"
#include "problem/problem_rows.h"

typedef struct rg_island {
    size_t first_contact, contact_count; /* in rg_islands.contacts */
    size_t first_joint, joint_count;     /* in rg_islands.joints */
    size_t first_body, body_count;       /* in rg_islands.bodies */
    size_t sum_count;                    /* of tendons: blocks after those of the bodies */
} rg_island;

typedef struct rg_islands {
    size_t count;
    rg_island *islands; /* in the order of their first contact, then of their first joint row */
    uint32_t *contacts; /* rows of the set, ascending within an island */
    uint32_t *joints;   /* rows of the set of joints, likewise */
    uint32_t *bodies;   /* dense indices, ascending within an island */
    uint32_t *place;    /* per body of the world, then per sum of the joints: its place within its
                           island */
    size_t body_count;  /* in all islands */
} rg_islands;

/* Contacts and joint rows between two bodies that forces do not move are in no island. */
rg_status rg_islands_find(const rg_row_set *set, const rg_joint_set *joints, size_t body_count,
                          rg_arena *arena, rg_islands *islands);
/* All rows of joints as one island, whatever they link: for those who take a forest in one go. */
rg_status rg_islands_together(const rg_joint_set *joints, size_t body_count, rg_arena *arena,
                              rg_islands *islands);

/* Mass in the velocity space of a body, 6 x 6 or, planar, 3 x 3: m and R I R'. */
void rg_mass_block(const rg_body_dynamics *d, bool planar, rg_quat orientation, double *mass);

/* What the rows of all islands are solved with. */
typedef struct rg_island_input {
    const rg_vec3 *velocity,
        *angular_velocity; /* without contact forces, of all bodies of the world */
    const double *shift;   /* set->count x dimension: what is added to the rows' velocities
                            (stabilisation, restitution, prescribed motion) */
    const double *mu;      /* per row of the set */
    int directions;        /* of the friction polygon; 0: the exact cone */
    const rg_joint_set *joints;
    const double *inertia;      /* kg m^2 per body of the world, added to its own; null: none */
    const rg_quat *orientation; /* of all bodies of the world; null: as they are */
    rg_pool *pool;              /* for large islands; null: this thread alone */
} rg_island_input;

/* The problem of one island in global form, its arrays in the arena. */
rg_status rg_island_problem(const rg_world_content *content, const rg_row_set *set,
                            const rg_islands *islands, const rg_island *island,
                            const rg_island_input *input, rg_arena *arena, rg_problem *problem);

#endif
