/* The judge of impulses on locked rows of joints alone: how fast they still move,
 *
 *     u = J (v + M^-1 J' r) + s,
 *
 * which is all that can be wrong with them. It is the figure of solve_judge.c for such problems,
 * found from directions and points of the rows and the masses of the bodies; in plain doubles, with
 * a bound of what rounding did added to it.
 * Tested by tests/step/test_articulated.c. */
#include "step/step_joints.h"
#include "step/step_judge.h"

#include "base/base_math.h"

#include <string.h>

/* Units of rounding, of the sum of the terms, for the products that each term is of; and for the
 * rows that a sum is over. */
#define ROUNDINGS     16.0
#define ROUNDINGS_ROW 0.5

typedef struct pushed {
    rg_vec3 linear, angular; /* momentum; then velocity */
    double push, turn, rows; /* sums of the sizes of the terms, and how many there are; then what
                                rounding did to the velocity of the centre, and to the torque */
    double rate;             /* the same of the angular velocity before */
    rg_vec3 inverse;         /* of the principal inertias */
} pushed;

/* The rows of one joint from `first` on, as one force at its point and one torque; their end. */
static size_t push_joint(const rg_world_content *c, const rg_joint_set *set, size_t first,
                         pushed *bodies) {
    const rg_joint_row *shared = &set->rows[first];
    rg_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    double along = 0, about = 0;
    size_t i = first;
    for (; i < set->count && set->rows[i].joint == shared->joint; i++) {
        const rg_joint_row *row = &set->rows[i];
        double r = set->impulse[i];
        if (row->along.turns)
            torque = rg_add_scaled(torque, r, row->along.direction),
            about += fabs(r) * rg_joint_row_unit(row);
        else
            force = rg_add_scaled(force, r, row->along.direction), along += fabs(r);
    }
    for (int side = 0; side < 2; side++) {
        if (!shared->moves[side])
            continue;
        pushed *b = &bodies[shared->body[side]];
        rg_vec3 arm = rg_sub(shared->point, c->position[shared->body[side]]);
        double sign = side == 0 ? -1 : 1;
        b->linear = rg_add_scaled(b->linear, sign, force);
        b->angular = rg_add_scaled(b->angular, sign, rg_add(torque, rg_cross(arm, force)));
        b->push += along, b->turn += about + 2 * rg_largest_entry(arm) * along;
        b->rows += (double)(i - first);
    }
    return i;
}

/* From impulses to velocities after them, and to what rounding may have done to these. */
static void move_body(const rg_world_content *c, const rg_judge_rows *rows, size_t i, pushed *b) {
    const rg_body_dynamics *d = &c->dynamics[i];
    double more = rows->inertia ? rows->inertia[i] : 0, m = d->inverse_mass;
    rg_vec3 own = rg_vec3_make(d->inertia.x + more, d->inertia.y + more, d->inertia.z + more);
    rg_vec3 local = rg_rotate_back(c->orientation[i], b->angular);
    double unit = DBL_EPSILON * (ROUNDINGS + ROUNDINGS_ROW * b->rows);
    b->inverse = rg_vec3_make(1 / own.x, 1 / own.y, 1 / own.z);
    b->push = unit * (b->push * m + 2 * rg_largest_entry(rows->velocity[i]));
    b->turn *= unit;
    b->rate = unit * 2 * rg_largest_entry(rows->angular_velocity[i]);
    b->linear = rg_add_scaled(rows->velocity[i], m, b->linear);
    b->angular = rg_add(rows->angular_velocity[i],
                        rg_rotate(c->orientation[i], rg_times(b->inverse, local)));
}

/* What rounding may have done to the velocity of a point of a body, and to a rate of turning. A
 * torque about an axis moves points by their distance from that axis: about the axis of a slender
 * body, whose inertia is small, the ends of its joints hardly move. */
static inline void add_bounds(const pushed *b, rg_vec3 at, double *moves, double *turns) {
    rg_vec3 by = b->inverse;
    double x = fabs(at.x), y = fabs(at.y), z = fabs(at.z);
    *moves += b->push + b->rate * (x + y + z) +
              b->turn * (by.x * (y + z) + by.y * (z + x) + by.z * (x + y));
    *turns += b->rate + b->turn * rg_max3(by.x, by.y, by.z);
}

/* The largest velocity of the rows of one joint; their end. */
static size_t judge_joint(const rg_world_content *c, const rg_judge_rows *rows, size_t first,
                          const pushed *bodies, double *worst) {
    const rg_joint_set *set = rows->set;
    const rg_joint_row *shared = &set->rows[first];
    rg_vec3 apart = {0, 0, 0}, spin = {0, 0, 0};
    const rg_joint_anchors *anchors = &rows->seen->joints[shared->joint].anchors;
    double moves = 0, turns = 0;
    size_t i = first;
    for (int side = 0; side < 2; side++) {
        if (!shared->moves[side])
            continue;
        const pushed *b = &bodies[shared->body[side]];
        rg_vec3 arm = rg_sub(shared->point, c->position[shared->body[side]]);
        double sign = side == 0 ? -1 : 1;
        apart = rg_add_scaled(apart, sign, rg_add(b->linear, rg_cross(b->angular, arm)));
        spin = rg_add_scaled(spin, sign, b->angular);
        add_bounds(b, anchors->frame[side].position, &moves, &turns);
    }
    for (; i < set->count && set->rows[i].joint == shared->joint; i++) {
        const rg_joint_row *row = &set->rows[i];
        double u = rg_dot(row->along.direction, row->along.turns ? spin : apart) + row->shift;
        double bound = row->along.turns ? turns * rg_joint_row_unit(row) : moves;
        double left = fabs(u) + ROUNDINGS * DBL_EPSILON * fabs(row->shift) + bound;
        if (!(left <= *worst))
            *worst = isfinite(left) ? left : INFINITY;
    }
    return i;
}

double rg_judge_locked_rows(const rg_world_content *c, const rg_judge_rows *rows, rg_arena *arena) {
    const rg_joint_set *set = rows->set;
    double worst = 0;
    pushed *bodies = rg_arena_take(arena, c->bodies.count, sizeof *bodies);
    if (!bodies)
        return INFINITY;
    memset(bodies, 0, c->bodies.count * sizeof *bodies);
    for (size_t i = 0; i < set->count;)
        i = push_joint(c, set, i, bodies);
    for (size_t i = 0; i < c->bodies.count; i++)
        if (bodies[i].rows > 0)
            move_body(c, rows, i, &bodies[i]);
    for (size_t i = 0; i < set->count;)
        i = judge_joint(c, rows, i, bodies, &worst);
    return worst;
}
