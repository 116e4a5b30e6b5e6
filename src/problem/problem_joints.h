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
    uint32_t sum1[2]; /* in the place of a body: a sum of a tendon, + 1; 0: none */
    uint32_t link1; /* what a row that adds to a sum is about, in `links`, + 1; 0: it is no such */
    rg_joint_direction along;
    rg_vec3 point;
    double lower, upper; /* N s, N m s */
    double compliance;   /* m/s per N s, rad/s per N m s */
    double shift;        /* what is added to the row's velocity */
    double surface;      /* of that, what the motion itself adds: curvature, prescribed motion */
    double before;       /* velocity of the row at the beginning of the step, with `surface` */
    double restitution;  /* of a limit that is met; 0 otherwise */
    double yielded;      /* by how much it gave way to contacts (step_yield.c); 0: it held */
    double unit;         /* m: rg_joint_set_measure; 0: it was not called */
} rg_joint_row;
/* N m s of a row about a direction for each unit of its impulse; 1 of others. */
static inline double rg_joint_row_unit(const rg_joint_row *row) {
    return row->along.turns && row->unit > 0 ? row->unit : 1;
}

/* How one body of an axis that a tendon sums adds to the sum (problem_tendons.c). */
typedef struct rg_tendon_link {
    uint32_t part;            /* of the tendon; UINT32_MAX: it hands on what another sum has */
    uint32_t body[2];         /* of the joint with the axis: A, B; UINT32_MAX: the world */
    rg_joint_direction along; /* of the axis, times the coefficient */
    rg_vec3 point;
    int slot;       /* coordinate of the sum that it is */
    double inertia; /* that this coordinate has, and is taken from the body */
} rg_tendon_link;

typedef struct rg_joint_set {
    int freedom;
    size_t count, capacity;
    rg_joint_row *rows;
    double *jacobian; /* count x 2 (A, then B) x freedom */
    double *impulse;  /* count */
    rg_tendon_link *links;
    uint32_t *links_of; /* per body: how many links there may be */
    size_t link_count, sum_count;
    uint8_t *loops; /* of a step: rg_joint_loops */
    bool bare;      /* locked rows may have no Jacobian yet */
} rg_joint_set;

/* Of its own mobility J M^-1 J': the compliance of locked rows of joints that form loops. Redundant
 * joints, such as three hinges of a door, never agree to the last digit on what they ask for; with
 * a little give the sharing of force among them has an answer, and a small one. */
#define RG_JOINT_GIVE 1e-8
/* Memory for `capacity` rows and those of all links, none of them there. RG_OUT_OF_MEMORY is the
 * only failure. */
rg_status rg_joint_set_make(const rg_world_content *content, size_t capacity, rg_arena *arena,
                            rg_joint_set *set);
/* Adds a row along a direction, with its Jacobian: `shared`, whose `moves` says which bodies are in
 * the velocity space, has all else of it. */
rg_joint_row *rg_joint_set_add(const rg_world_content *content, rg_joint_set *set,
                               const rg_joint_row *shared, const rg_joint_direction *along,
                               rg_body_places places);

/* The rows of all locks of a joint, without bounds, with what they are off by as their shift.
 * `bare`: their Jacobian is left to rg_joint_set_fill, since what solves trees needs none. */
void rg_joint_set_add_locks(const rg_world_content *content, rg_joint_set *set,
                            const rg_joint_row *shared, const rg_joint_look *look,
                            rg_body_places places, bool bare);
/* The Jacobian of bare rows. `position`: of the centres of bodies, where the rows were made. */
void rg_joint_set_fill(const rg_world_content *content, rg_joint_set *set, const rg_vec3 *position);

/* problem_tendons.c: memory for the rows that sum axes. */
size_t rg_tendon_links_most(const rg_world_content *content);
rg_status rg_tendon_links_make(const rg_world_content *content, size_t most, rg_arena *arena,
                               rg_joint_set *set);
/* Rows that sum the axes of a tendon. `row` becomes what the tendon's own rows share, to be given
 * to rg_joint_set_add. `moved`: per body, 1 if it is in the velocity space; null: all that forces
 * move. False: no body of it is. */
bool rg_joint_set_add_links(const rg_world_content *content, rg_joint_set *set, size_t tendon,
                            rg_body_places places, const uint8_t *moved, rg_joint_row *row);
/* The rate of a tendon as far as bodies that forces do not move cause it. */
double rg_tendon_prescribed(const rg_world_content *content, size_t tendon, rg_body_places places,
                            const rg_vec3 *velocity, const rg_vec3 *angular_velocity);
/* Rows of links get the impulse of their tendon: all of it acts on every axis. */
void rg_joint_set_settle(rg_joint_set *set);
/* Rows of the tendon of row i that add to its sum are [*first, *end). */
void rg_joint_links_of(const rg_joint_set *set, size_t i, size_t *first, size_t *end);

/* m: the unit of length of the bodies of a joint that move. */
double rg_joint_unit(const rg_world_content *content, const uint32_t body[2], const bool moves[2]);
/* The rows from `first` on, of one joint: those about a direction are multiplied by the unit, so
 * that all rows are velocities in m/s and impulses in N s, and none weighs more because of the
 * unit of length that is in use. */
void rg_joint_set_measure(rg_joint_set *set, size_t first, double unit);
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
/* The same of all rows, of joints in space none of which is a tendon: the bodies of a joint are
 * looked at once. `position`: of their centres, where the rows were made. */
void rg_joint_rates(const rg_joint_set *set, const rg_vec3 *position, const rg_vec3 *velocity,
                    const rg_vec3 *angular_velocity, double *rates);
/* The same of a link: what its body adds to the sum. */
double rg_joint_link_velocity(const rg_joint_set *set, size_t i, bool planar,
                              const rg_vec3 *velocity, const rg_vec3 *angular_velocity);
/* What impulse `r` of row i does to body A (0) or B (1): momentum, and angular momentum about its
 * centre. */
static inline void rg_joint_push(const rg_joint_set *set, size_t i, size_t side, bool planar,
                                 double r, rg_vec3 *linear, rg_vec3 *angular) {
    const double *j = rg_joint_jacobian(set, i, side);
    if (planar) {
        *linear = (rg_vec3){r * j[0], 0, r * j[1]};
        *angular = (rg_vec3){0, r * j[2], 0};
        return;
    }
    *linear = (rg_vec3){r * j[0], r * j[1], r * j[2]};
    *angular = (rg_vec3){r * j[3], r * j[4], r * j[5]};
}

/* The impulses of rows that follow each other, of one joint in space: a force at its point and a
 * torque, which push B, and A the other way. */
typedef struct rg_joint_wrench {
    rg_vec3 linear, angular; /* N s, N m s */
    double along, about;     /* sums of sizes */
    size_t end;              /* behind the last of the rows */
} rg_joint_wrench;
/* Can the rows from i on be taken together? Those in the plane, and of tendons, are pushed by their
 * Jacobians. */
static inline bool rg_joint_has_wrench(const rg_joint_set *set, size_t i) {
    return set->freedom == 6 && !set->rows[i].sum1[1];
}
static inline rg_joint_wrench rg_joint_wrench_of(const rg_joint_set *set, size_t i) {
    rg_joint_wrench w = {{0, 0, 0}, {0, 0, 0}, 0, 0, i};
    const rg_joint_row *first = &set->rows[i], *row = first;
    do {
        double r = set->impulse[w.end++];
        if (row->along.turns) {
            w.angular = rg_add_scaled(w.angular, r, row->along.direction);
            w.about += fabs(r) * rg_joint_row_unit(row);
        } else {
            w.linear = rg_add_scaled(w.linear, r, row->along.direction);
            w.along += fabs(r);
        }
        row++;
    } while (w.end < set->count && row->joint == first->joint && row->joint != RG_NO_JOINT &&
             !row->sum1[1]);
    return w;
}
/* What it gives the body of a side, whose centre has `arm` to the point. */
static inline void rg_joint_wrench_push(const rg_joint_wrench *w, int side, rg_vec3 arm,
                                        rg_vec3 *momentum, rg_vec3 *angular_momentum) {
    double sign = side == 0 ? -1 : 1;
    rg_vec3 torque = rg_add(rg_cross(arm, w->linear), w->angular);
    *momentum = rg_add_scaled(*momentum, sign, w->linear);
    *angular_momentum = rg_add_scaled(*angular_momentum, sign, torque);
}

#endif
