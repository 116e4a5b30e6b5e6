/* Rows of the joints of a world: along or about one direction each, with bounds and compliance. One
 * set for the whole world; problem_islands.h cuts it up, together with that of the contacts. */
#ifndef RIGOR_PROBLEM_JOINTS_H
#define RIGOR_PROBLEM_JOINTS_H

#include "base/base_arena.h"
#include "rigor/complementarity.h"
#include "world/world.h"

/* Rows of rolling and torsional friction (step_rolling.c) belong to a contact, and come last. */
#define RG_NO_JOINT UINT32_MAX
typedef enum rg_twist_kind { RG_TWIST_NONE, RG_TWIST_ROLLING, RG_TWIST_TORSION } rg_twist_kind;

typedef struct rg_joint_row {
    uint32_t joint;   /* dense; RG_NO_JOINT */
    uint8_t place;    /* among the rows of the joint: rg_joint_part, world.h */
    uint8_t twist;    /* rg_twist_kind */
    uint32_t contact; /* of twists: in the set of contacts */
    uint32_t body[2]; /* A, B: dense; UINT32_MAX: the world */
    bool moves[2];    /* dynamic, and asked for: part of the velocity space */
    rg_joint_direction along;
    rg_vec3 point;
    double lower, upper; /* N s, N m s */
    double compliance;   /* m/s per N s, rad/s per N m s */
    double shift;        /* what is added to the row's velocity */
    double surface;      /* of that, what the motion itself adds: curvature, prescribed motion */
    double before;       /* velocity of the row at the beginning of the step, with `surface` */
    double restitution;  /* of a limit that is met; 0 otherwise */
} rg_joint_row;

typedef struct rg_joint_set {
    int freedom;
    size_t count, capacity;
    rg_joint_row *rows;
    double *jacobian; /* count x 2 (A, then B) x freedom */
    double *impulse;  /* count */
    uint8_t *loops;   /* of a step: rg_joint_loops */
} rg_joint_set;

/* Of its own mobility J M^-1 J': the compliance of locked rows of joints that form loops. Redundant
 * joints, such as three hinges of a door, never agree to the last digit on what they ask for; with
 * a little give the sharing of force among them has an answer, and a small one. */
#define RG_JOINT_GIVE 1e-8
/* Memory for `capacity` rows, none of them there. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_joint_set_make(const rg_world_content *content, size_t capacity, rg_arena *arena,
                            rg_joint_set *set);
/* Adds a row with its Jacobian; `moves` says which bodies are in the velocity space. */
rg_joint_row *rg_joint_set_add(const rg_world_content *content, rg_joint_set *set,
                               const rg_joint_row *row, rg_body_places places);

/* Another direction for row i. */
void rg_joint_set_turn(const rg_world_content *content, rg_joint_set *set, size_t i,
                       rg_vec3 direction);

static inline const double *rg_joint_jacobian(const rg_joint_set *set, size_t i, size_t side) {
    return set->jacobian + (i * 2 + side) * (size_t)set->freedom;
}

/* Which joints are part of a mechanism with loops, per joint: 1 for all of it. The world and bodies
 * that forces do not move count as one body. */
rg_status rg_joint_loops(const rg_world_content *content, rg_arena *arena, uint8_t **loops);
/* J M^-1 J' of row i. */
double rg_joint_mobility(const rg_world_content *content, const rg_joint_set *set, size_t i);

/* J v of the bodies that move. */
double rg_joint_velocity(const rg_joint_set *set, size_t i, bool planar, const rg_vec3 *velocity,
                         const rg_vec3 *angular_velocity);
/* What impulse `r` of row i does to body A (0) or B (1): momentum, and angular momentum about its
 * centre. */
void rg_joint_push(const rg_joint_set *set, size_t i, size_t side, bool planar, double r,
                   rg_vec3 *linear, rg_vec3 *angular);

#endif
