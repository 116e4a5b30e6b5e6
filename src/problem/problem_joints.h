/* Rows of the joints of a world: along or about one direction each, with bounds and compliance. One
 * set for the whole world; problem_islands.h cuts it up, together with that of the contacts. */
#ifndef RIGOR_PROBLEM_JOINTS_H
#define RIGOR_PROBLEM_JOINTS_H

#include "base/base_arena.h"
#include "rigor/complementarity.h"
#include "world/world.h"

typedef struct rg_joint_row {
    uint32_t joint;   /* dense */
    uint8_t place;    /* among the rows of the joint: rg_joint_part, world.h */
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
} rg_joint_set;

/* Held whatever the force: no bounds, and no compliance. */
static inline bool rg_joint_row_is_locked(const rg_joint_row *row) {
    return row->lower == -INFINITY && row->upper == INFINITY && row->compliance == 0;
}
/* Memory for `capacity` rows, none of them there. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_joint_set_make(const rg_world_content *content, size_t capacity, rg_arena *arena,
                            rg_joint_set *set);
/* Adds a row with its Jacobian; `moves` says which bodies are in the velocity space. */
rg_joint_row *rg_joint_set_add(const rg_world_content *content, rg_joint_set *set,
                               const rg_joint_row *row, rg_body_places places);

static inline const double *rg_joint_jacobian(const rg_joint_set *set, size_t i, size_t side) {
    return set->jacobian + (i * 2 + side) * (size_t)set->freedom;
}

/* J v of the bodies that move. */
double rg_joint_velocity(const rg_joint_set *set, size_t i, bool planar, const rg_vec3 *velocity,
                         const rg_vec3 *angular_velocity);
/* What impulse `r` of row i does to body A (0) or B (1): momentum, and angular momentum about its
 * centre. */
void rg_joint_push(const rg_joint_set *set, size_t i, size_t side, bool planar, double r,
                   rg_vec3 *linear, rg_vec3 *angular);

#endif
