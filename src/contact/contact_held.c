/* Until when two convex shapes stay apart over a motion that is about to be made.
 *
 * The rows of a step are linear in its velocities: a plane is fixed, and its points move along
 * their tangents. What turns moves along arcs, and a curved shape touches at one point only, about
 * which it may turn as far as it likes. So the motion that a solve gives is looked at once more,
 * as it will be made. For a unit normal n the separation
 *
 *     g(n, t) = n . (c2 - c1) - s1(n) - s2(-n)
 *
 * is at most the signed gap of the shapes, and between two instants a and b it is below the chord
 * by at most
 *
 *     (b - a)^2 / 8 sum of r |w x n| |w|      r: reach of the shape from the centre of its body,
 *
 * the error of linear interpolation. Where neither a normal that is kept over [a, b] nor the speed
 * of approach shows that the gap stays above `-depth`, [a, b] is halved; where the shortest
 * interval does not show it, the motion does not hold. Instants are taken from a motion at a
 * constant rate of turning; that of a body that tumbles changes by w', and it is off by
 * h^2 / 8 r |w'|, which counts as depth.
 *
 * `depth` is a share of the inradius of the thinner shape (half its thickness): what is never
 * deeper than that does not pass through. A half-space has no thickness and one normal: its shapes
 * are looked at along that alone.
 *
 * Tested by tests/contact/test_held.c. */
#include "contact/contact_collision.h"
#include "narrow/narrow.h"
#include "shape/shape.h"

/* Of the inradius of the thinner shape: how deep is too deep. */
#define DEPTH_SHARE 0.5
/* Of that depth: by how much a pair that is deeper than that at the beginning may become deeper. */
#define DEEPER_SHARE 0.1
/* Halvings of the motion. */
enum { HALVINGS = 6 };

typedef struct instant {
    double time, gap;
    rg_pose pose[2];
    rg_vec3 normal;
} instant;

typedef struct chase {
    const rg_swept_shape *side[2];
    int wall;        /* the side that is a half-space, which does not move; -1: none */
    rg_vec3 up;      /* its normal */
    double level;    /* m: its offset */
    double reach[2]; /* m; 0 if it does not turn */
    double rate;     /* m/s: of approach, at most */
    double floor;    /* m */
} chase;

/* g at an instant. A half-space has one normal: the height of the lowest point over it. */
static double along(const chase *c, const instant *at, rg_vec3 n) {
    if (c->wall < 0)
        return rg_contact_separation(c->side[0]->placed.shape, at->pose[0],
                                     c->side[1]->placed.shape, at->pose[1], n);
    rg_pose pose = at->pose[1 - c->wall];
    rg_vec3 lowest = rg_shape_support(c->side[1 - c->wall]->placed.shape,
                                      rg_rotate_back(pose.orientation, rg_neg(c->up)), NULL);
    pose.position = rg_sub(pose.position, c->side[c->wall]->placed.pose.position);
    return rg_dot(c->up, rg_pose_apply(pose, lowest)) - c->level;
}

static void propose(const chase *c, instant *at, rg_vec3 n) {
    double gap = along(c, at, n);
    if (gap > at->gap) {
        at->gap = gap;
        at->normal = n;
    }
}

/* A plane at an instant: the one that is known, if it shows a gap that is enough, or the best. A
 * motion that leaves the range of numbers shows none: the gap is minus infinity. */
static rg_status look(const chase *c, double time, rg_vec3 known, double enough, instant *at) {
    *at = (instant){.time = time, .gap = -INFINITY};
    for (int i = 0; i < 2; i++) {
        at->pose[i] = time > 0 ? rg_swept_pose(c->side[i], time) : c->side[i]->placed.pose;
        if (!rg_is_finite(at->pose[i].position) || !rg_quat_is_finite(at->pose[i].orientation))
            return RG_OK;
    }
    if (c->wall >= 0) {
        propose(c, at, c->up);
        return RG_OK;
    }
    if (rg_largest_entry(known) > 0)
        propose(c, at, known);
    if (at->gap >= enough)
        return RG_OK;
    rg_growth growth;
    rg_status status = rg_separation_between(c->side[0]->placed.shape, at->pose[0],
                                             c->side[1]->placed.shape, at->pose[1], NULL, &growth);
    if (!status)
        propose(c, at, growth.normal);
    return status;
}

/* m/s^2: of g along a normal that is kept. */
static double bend_along(const chase *c, rg_vec3 n) {
    double bend = 0;
    for (int i = 0; i < 2; i++) {
        rg_vec3 w = c->side[i]->angular_velocity;
        if (c->reach[i] > 0)
            bend += c->reach[i] * rg_length(rg_cross(w, n)) * rg_length(w);
    }
    return bend;
}

static bool is_shown(const chase *c, const instant *a, const instant *b) {
    double length = b->time - a->time, square = 0.125 * length * length;
    if (0.5 * (a->gap + b->gap - length * c->rate) >= c->floor)
        return true;
    double from = a->gap - square * bend_along(c, a->normal);
    if (from >= c->floor && along(c, b, a->normal) - square * bend_along(c, a->normal) >= c->floor)
        return true;
    double to = b->gap - square * bend_along(c, b->normal);
    return to >= c->floor && along(c, a, b->normal) - square * bend_along(c, b->normal) >= c->floor;
}

/* *until: where the motion is no longer shown to hold. What ends just below the floor could be
 * halved for ever at its end, of which all but the last bit holds: intervals have a shortest
 * length, whatever the number of those before. */
static rg_status follow(const chase *c, instant a, instant b, double *until) {
    instant ahead[HALVINGS + 1];
    int top = 0;
    double shortest = b.time / (1 << HALVINGS);
    ahead[0] = b;
    while (top >= 0) {
        b = ahead[top];
        if (is_shown(c, &a, &b)) {
            a = b;
            *until = a.time;
            top--;
            continue;
        }
        if (top == HALVINGS || b.time - a.time <= shortest)
            return RG_OK;
        rg_status status = look(c, 0.5 * (a.time + b.time), a.normal, 0, &ahead[++top]);
        if (status || ahead[top].gap == -INFINITY)
            return status;
    }
    return RG_OK;
}

double rg_contact_thinner(const rg_shape *shape1, const rg_shape *shape2) {
    double inradius1 = rg_shape_is_bounded(shape1) ? rg_shape_inradius(shape1) : INFINITY;
    return rg_shape_is_bounded(shape2) ? fmin(inradius1, rg_shape_inradius(shape2)) : inradius1;
}

rg_status rg_contact_holds(const rg_swept_shape side[2], const double change[2], double time,
                           rg_vec3 normal, double *until) {
    chase c = {.side = {&side[0], &side[1]}, .wall = -1};
    for (int i = 0; i < 2; i++)
        if (!rg_shape_is_bounded(side[i].placed.shape)) {
            c.wall = i;
            rg_shape_def def = rg_shape_get_def(side[i].placed.shape);
            c.up = rg_rotate(side[i].placed.pose.orientation, def.normal);
            c.level = def.offset;
        }
    *until = time;
    c.rate = rg_length(rg_sub(side[0].velocity, side[1].velocity));
    double fastest = 0, off = 0;
    for (int i = 0; i < 2; i++) {
        double turning = rg_length(side[i].angular_velocity);
        c.reach[i] = turning > 0 ? rg_swept_reach(&side[i]) : 0;
        c.rate += c.reach[i] * turning;
        if (c.reach[i] > 0)
            fastest = fmax(fastest, turning);
        off += 0.125 * time * c.reach[i] * change[i];
    }
    double depth = DEPTH_SHARE * rg_contact_thinner(side[0].placed.shape, side[1].placed.shape);
    c.floor = -depth;
    instant a, b;
    /* Most pairs are so near to no overlap that a better plane would say the same. */
    rg_status status = look(&c, 0, normal, fmin(0, c.floor + time * c.rate), &a);
    if (status || a.gap - time * c.rate >= c.floor)
        return status;
    *until = c.wall >= 0 ? time : fmin(time, RG_CONTACT_TURN / fastest);
    if (*until < time)
        return RG_OK;
    c.floor = fmin(c.floor, a.gap - DEEPER_SHARE * depth) + off;
    status = look(&c, time, normal, 0, &b);
    *until = 0;
    return status || a.gap == -INFINITY || b.gap == -INFINITY ? status : follow(&c, a, b, until);
}
