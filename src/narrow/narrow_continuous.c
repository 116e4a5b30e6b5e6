/* The first time of contact of two moving convex shapes, never late.
 *
 * Safe advance (Baraff 1994 survey, 3.1: continuum methods on the integrator's polynomial): for a
 * fixed unit vector n, the separation along n,
 *
 *     g_n(t) = n . (c2 - c1) - s1(n) - s2(-n)      c: reference points, s: supports about them,
 *
 * is a lower bound of the distance, and falls no faster than (w: angular velocity, of shapes that
 * are round about an axis that of the axis)
 *
 *     rate = max n.v1 - min n.v2 + |w1| r1 + |w2| r2      r: largest distance of a point from c
 *                                                            (of balls, of their centres),
 *
 * with bounds over the stretch in question. The growth query gives n and g_n = (t - 1) h(n), so
 * that the shapes are certainly free for g_n / rate seconds. Repeated, this converges to the
 * contact from the free side, linearly.
 *
 * Root finding makes an end of it: the gap of the active feature pair alone is smooth in time; its
 * root is bracketed and found in a few evaluations. The answer t* is taken only with proof that
 * nothing came before it: with n* of t*, if g_n* is positive at t* and never rises on the way there
 * (min n*.v1 - max n*.v2 - |w1| r1 - |w2| r2 >= 0), it was positive all the time. Otherwise the
 * safe advance goes on; it needs no luck.
 *
 * Shapes that move in straight lines and turn at constant rates are proved apart over a stretch by
 * a plane that turns with them: n goes in a straight line from a normal at its beginning (a) to
 * one at its end (b). With x = c2 - c1 and a point r of either shape from its c, up to curvature
 *
 *     n(s) . (x + r2 - r1)(s) = (1 - s)^2 n_a.y_a + s (1 - s) (n_a.y_b + n_b.y_a) + s^2 n_b.y_b
 *
 * for y = x + r2 - r1, and the least of each coefficient over all pairs of points takes one support
 * of either shape: the middle one in the direction R_b' n_a + R_a' n_b of its own frame, R its
 * rotation. Turning bends it by at most s (1 - s) / 2 sum (w_i h)^2 r_i, h the length of the
 * stretch. What turns as the shapes do, the plane of a face or of two edges, cancels to first
 * order, so that few stretches suffice where the rates above would take hundreds. */
#include "narrow/narrow.h"

#include "base/base_root.h"

#include <assert.h>

/* Root finding is tried when the gap has fallen below this share of its first value, and again each
 * time that it has halved since the last attempt. */
#define ROOT_FIRST_SHARE 0.5
/* The bracket reaches this many times the estimated time to contact ahead. */
#define BRACKET_STRETCH 1.5
#define BRACKET_TRIES   4
/* Of the gap that is aimed at: how near a root of planes comes to it. Impacts are resolved at that
 * time, and worlds that differ by rounding should not differ by more. */
#define ROOT_SHARE 1e-3
/* Root tolerance in time, relative to the length of the bracket. */
#define ROOT_RESOLUTION 1e-13
#define ROOT_LIMIT      120

rg_first_contact_settings rg_first_contact_settings_default(double tolerance) {
    return (rg_first_contact_settings){
        .tolerance = tolerance, .root = RG_ROOT_ITP, .advance_limit = 10000};
}

/* --- paths -------------------------------------------------------------------------------------
 */

static void linear_pose(const void *user, double time, rg_pose *pose) {
    const rg_linear_motion *m = user;
    double t = time - m->begin;
    rg_vec3 at = rg_add_scaled(rg_pose_apply(m->start, m->reference), t, m->velocity);
    pose->orientation = rg_quat_multiply(
        rg_quat_of_rotation_vector(rg_scale(t, m->angular_velocity)), m->start.orientation);
    pose->position = rg_sub(at, rg_rotate(pose->orientation, m->reference));
}

static void linear_bound(const void *user, double begin, double end, rg_vec3 n, double *least,
                         double *most, double *spin) {
    (void)begin;
    (void)end;
    const rg_linear_motion *m = user;
    *least = *most = rg_dot(n, m->velocity);
    *spin = rg_length(m->angular_velocity);
}

static double linear_axis_bound(const void *user, double begin, double end, rg_vec3 axis) {
    (void)begin;
    (void)end;
    const rg_linear_motion *m = user;
    return rg_length(rg_cross(m->angular_velocity, rg_rotate(m->start.orientation, axis)));
}

rg_path rg_path_linear(const rg_linear_motion *motion) {
    return (rg_path){motion, motion->reference, linear_pose, linear_bound, linear_axis_bound};
}

/* De Casteljau's scheme for four-component control points; `dimension` of them are used. */
typedef struct control_point {
    double v[4];
} control_point;

static control_point between(control_point a, control_point b, double u) {
    control_point c;
    for (int i = 0; i < 4; i++)
        c.v[i] = a.v[i] + u * (b.v[i] - a.v[i]);
    return c;
}

/* Uses the control points up. */
static control_point bezier_value(control_point *p, int degree, double u) {
    for (int k = degree; k > 0; k--)
        for (int i = 0; i < k; i++)
            p[i] = between(p[i], p[i + 1], u);
    return p[0];
}

static double size4(const control_point *p) {
    return sqrt(p->v[0] * p->v[0] + p->v[1] * p->v[1] + p->v[2] * p->v[2] + p->v[3] * p->v[3]);
}

/* At least one point is loaded. */
static void load_positions(const rg_polynomial_motion *m, int degree, control_point *p) {
    int i = 0;
    do
        p[i] = (control_point){{m->position[i].x, m->position[i].y, m->position[i].z, 0}};
    while (++i <= degree);
}

static void load_orientations(const rg_polynomial_motion *m, int degree, control_point *p) {
    int i = 0;
    do
        p[i] = (control_point){
            {m->orientation[i].x, m->orientation[i].y, m->orientation[i].z, m->orientation[i].w}};
    while (++i <= degree);
}

/* Control points of the derivative with respect to time. */
static void load_slopes(const rg_polynomial_motion *m, int degree, const control_point *p,
                        control_point *slope) {
    for (int i = 0; i < degree; i++)
        for (int j = 0; j < 4; j++)
            slope[i].v[j] = degree * (p[i + 1].v[j] - p[i].v[j]) / m->step;
}

static void pose_at(const rg_polynomial_motion *m, int degree, double time, rg_pose *pose) {
    double u = (time - m->begin) / m->step;
    control_point p[RG_PATH_DEGREE_MAX + 1];
    load_positions(m, degree, p);
    control_point x = bezier_value(p, degree, u);
    load_orientations(m, degree, p);
    control_point q = bezier_value(p, degree, u);
    rg_pose centre = {
        {x.v[0], x.v[1], x.v[2]},
        rg_quat_normalised((rg_quat){q.v[0], q.v[1], q.v[2], q.v[3]}),
    };
    *pose = rg_pose_compose(centre, m->shape_pose);
}

/* The angular speed is at most 2 |q'| / |q|, and |q| differs from its value at the middle by at
 * most half the stretch times |q'|. */
static double spin_bound(control_point middle, double rate, double half) {
    double shortest = size4(&middle) - half * rate;
    return shortest > 0 ? 2 * rate / shortest : INFINITY;
}

/* --- of degree 4 --- */

enum { QUARTIC = 4 };

/* One level of de Casteljau's scheme. */
static void lower(const control_point *p, int count, double u, control_point *out) {
    for (int i = 0; i < count; i++)
        out[i] = between(p[i], p[i + 1], u);
}

/* Control points of a derivative over [u0, u1]: blossoms with i arguments u1, the rest u0. */
static void restrict_cubic(const control_point *p, double u0, double u1, control_point *out) {
    control_point at0[3], at1[3], pair[2];
    lower(p, 3, u0, at0);
    lower(p, 3, u1, at1);
    lower(at0, 2, u0, pair);
    out[0] = between(pair[0], pair[1], u0);
    lower(at1, 2, u0, pair);
    out[1] = between(pair[0], pair[1], u0);
    lower(at1, 2, u1, pair);
    out[2] = between(pair[0], pair[1], u0);
    out[3] = between(pair[0], pair[1], u1);
}

static void quartic_pose(const void *user, double time, rg_pose *pose) {
    pose_at(user, QUARTIC, time, pose);
}

/* A polynomial lies in the hull of its Bernstein coefficients. */
static void quartic_bound(const void *user, double begin, double end, rg_vec3 n, double *least,
                          double *most, double *spin) {
    const rg_polynomial_motion *m = user;
    control_point p[QUARTIC + 1], whole[QUARTIC], slope[QUARTIC];
    double u0 = (begin - m->begin) / m->step, u1 = (end - m->begin) / m->step;
    load_positions(m, QUARTIC, p);
    load_slopes(m, QUARTIC, p, whole);
    restrict_cubic(whole, u0, u1, slope);
    *least = INFINITY;
    *most = -INFINITY;
    for (int i = 0; i < QUARTIC; i++) {
        double v = n.x * slope[i].v[0] + n.y * slope[i].v[1] + n.z * slope[i].v[2];
        *least = fmin(*least, v);
        *most = fmax(*most, v);
    }
    load_orientations(m, QUARTIC, p);
    load_slopes(m, QUARTIC, p, whole);
    restrict_cubic(whole, u0, u1, slope);
    double rate = 0;
    for (int i = 0; i < QUARTIC; i++)
        rate = fmax(rate, size4(&slope[i]));
    control_point middle = bezier_value(p, QUARTIC, (0.5 * (begin + end) - m->begin) / m->step);
    *spin = spin_bound(middle, rate, 0.5 * (end - begin));
}

/* --- of any degree --- */

static void polynomial_pose(const void *user, double time, rg_pose *pose) {
    const rg_polynomial_motion *m = user;
    pose_at(m, m->degree, time, pose);
}

/* Of the second derivative, over the whole step: it lies in the hull of its coefficients. */
static double largest_bend(const rg_polynomial_motion *m, const control_point *slope) {
    double per = (m->degree - 1) / m->step, bend = 0;
    for (int i = 0; i + 1 < m->degree; i++) {
        control_point change;
        for (int j = 0; j < 4; j++)
            change.v[j] = slope[i + 1].v[j] - slope[i].v[j];
        bend = fmax(bend, per * size4(&change));
    }
    return bend;
}

/* To restrict high degrees would take long. Instead: the derivative at the middle, and what the
 * second one, which lies in the hull of its coefficients over the whole step, can make of it in
 * half the stretch. */
static void polynomial_bound(const void *user, double begin, double end, rg_vec3 n, double *least,
                             double *most, double *spin) {
    const rg_polynomial_motion *m = user;
    int degree = m->degree;
    double half = 0.5 * (end - begin), u = (begin + half - m->begin) / m->step;
    double per = (degree - 1) / m->step, swing = 0;
    control_point p[RG_PATH_DEGREE_MAX + 1], slope[RG_PATH_DEGREE_MAX];
    load_positions(m, degree, p);
    load_slopes(m, degree, p, slope);
    for (int i = 0; i + 1 < degree; i++)
        swing = fmax(swing, per * fabs(n.x * (slope[i + 1].v[0] - slope[i].v[0]) +
                                       n.y * (slope[i + 1].v[1] - slope[i].v[1]) +
                                       n.z * (slope[i + 1].v[2] - slope[i].v[2])));
    control_point v = bezier_value(slope, degree - 1, u);
    double speed = n.x * v.v[0] + n.y * v.v[1] + n.z * v.v[2];
    *least = speed - half * swing;
    *most = speed + half * swing;
    load_orientations(m, degree, p);
    load_slopes(m, degree, p, slope);
    double bend = largest_bend(m, slope);
    v = bezier_value(slope, degree - 1, u);
    *spin = spin_bound(bezier_value(p, degree, u), size4(&v) + half * bend, half);
}

/* The orientation of a body over a stretch of time: q at its middle, Im(q* q') there, and how much
 * that changes at most; |q| at the middle, and at least. In the frame of the body the angular
 * velocity is 2 Im(q* q') / |q|^2, and the derivative of Im(q* q') is Im(q* q''), as q'* q' is
 * real: it changes by at most half the stretch times |q| |q''|. */
typedef struct turning_stretch {
    rg_quat q;
    rg_vec3 part;
    double change, size, shortest;
} turning_stretch;

static turning_stretch turning_over(const rg_polynomial_motion *m, double begin, double end) {
    int degree = m->degree;
    double half = 0.5 * (end - begin), u = (begin + half - m->begin) / m->step;
    control_point p[RG_PATH_DEGREE_MAX + 1], slope[RG_PATH_DEGREE_MAX];
    load_orientations(m, degree, p);
    load_slopes(m, degree, p, slope);
    double bend = largest_bend(m, slope);
    control_point v = bezier_value(slope, degree - 1, u), q = bezier_value(p, degree, u);
    double rate = size4(&v) + half * bend, size = size4(&q);
    rg_quat at = {q.v[0], q.v[1], q.v[2], q.v[3]};
    rg_quat product =
        rg_quat_multiply(rg_quat_conjugate(at), (rg_quat){v.v[0], v.v[1], v.v[2], v.v[3]});
    return (turning_stretch){.q = at,
                             .part = {product.x, product.y, product.z},
                             .change = half * bend * (size + half * rate),
                             .size = size,
                             .shortest = size - half * rate};
}

static double polynomial_axis_bound(const void *user, double begin, double end, rg_vec3 axis) {
    const rg_polynomial_motion *m = user;
    turning_stretch s = turning_over(m, begin, end);
    rg_vec3 across = rg_cross(s.part, rg_rotate(m->shape_pose.orientation, axis));
    double most = rg_length(across) + s.change;
    return s.shortest > 0 ? 2 * most / (s.shortest * s.shortest) : INFINITY;
}

rg_path rg_path_polynomial(const rg_polynomial_motion *motion) {
    assert(motion->degree >= 1 && motion->degree <= RG_PATH_DEGREE_MAX);
    bool quartic = motion->degree == QUARTIC;
    return (rg_path){motion, rg_pose_inverse(motion->shape_pose).position,
                     quartic ? quartic_pose : polynomial_pose,
                     quartic ? quartic_bound : polynomial_bound, polynomial_axis_bound};
}

/* --- of vertices --- */

/* Vertices up to which each has its own bound. */
enum { VERTICES_MOST = 64 };

/* In the frame of a shape that turns: a point with the arm p from the reference point moves along n
 * at rate . p, to within error |p|, m/s. */
typedef struct turning {
    rg_vec3 rate;
    double error;
} turning;

/* n . R (w x p) = p . (R' n x w), with R' n and w in the frame of the shape: both are taken at the
 * middle. R' n turns by at most |w| times half the stretch, and w changes as turning_stretch says.
 * Of polynomial paths only. */
static bool find_turning(const rg_path *path, double begin, double end, rg_vec3 n, turning *t) {
    if (path->pose != quartic_pose && path->pose != polynomial_pose)
        return false;
    const rg_polynomial_motion *m = path->user;
    turning_stretch s = turning_over(m, begin, end);
    if (!(s.shortest > 0))
        return false;
    double most = 1 / (s.shortest * s.shortest), middle = 1 / (s.size * s.size);
    double change = 2 * (s.change * most + rg_length(s.part) * (most - middle));
    rg_quat local = m->shape_pose.orientation;
    rg_vec3 w = rg_rotate_back(local, rg_scale(2 * middle, s.part));
    rg_vec3 normal = rg_rotate_back(local, rg_rotate_back(rg_quat_normalised(s.q), n));
    double fastest = rg_length(w) + change;
    *t = (turning){rg_cross(normal, w), fastest * fastest * (0.5 * (end - begin)) + change};
    return true;
}

/* --- the search --------------------------------------------------------------------------------
 */

typedef struct search {
    const rg_shape *shape[2];
    const rg_path *path[2];
    double radius[2]; /* of what turns about the path's reference point */
    bool round[2];    /* about an axis through that point: z of its frame */
    double target;    /* gap that is aimed at */
    rg_root_method root;
    const rg_linear_motion *motion[2]; /* if both are, and bounded; null otherwise */
    double extent[2]; /* of points that turn, from there; 0: a ball, which counts as not turning */
    rg_growth_cache cache;
    rg_pose pose[2]; /* of the last growth */
    rg_feature_pair features;
    rg_first_contact *contact;
    rg_status status;
} search;

static void poses_at(const search *s, double time, rg_pose pose[2]) {
    for (int i = 0; i < 2; i++)
        s->path[i]->pose(s->path[i]->user, time, &pose[i]);
}

static rg_growth growth_at(search *s, double time) {
    rg_growth growth = {0};
    poses_at(s, time, s->pose);
    s->contact->evaluations++;
    rg_status status =
        rg_growth_between(s->shape[0], s->pose[0], s->shape[1], s->pose[1], &s->cache, &growth);
    if (status)
        s->status = status;
    return growth;
}

/* Gap of the feature pair alone, less the target: the smooth function whose root is sought. */
static double features_gap(void *user, double time) {
    search *s = user;
    rg_pose pose[2];
    rg_growth growth;
    poses_at(s, time, pose);
    s->contact->evaluations++;
    s->contact->root_evaluations++;
    bool smooth = s->features.kind == RG_FEATURES_SMOOTH || s->features.kind == RG_FEATURES_NONE;
    rg_status status =
        smooth ? rg_growth_between(s->shape[0], pose[0], s->shape[1], pose[1], &s->cache, &growth)
               : rg_growth_of_features(s->shape[0], pose[0], s->shape[1], pose[1], s->features,
                                       &growth);
    if (status || !isfinite(growth.gap))
        return INFINITY; /* the feature pair has no meaning there: no root to be had */
    return growth.gap - s->target;
}

/* Of a shape that is round about an axis only the turning of the axis counts. */
static double turning_speed(const search *s, int i, double begin, double end, double spin) {
    const rg_path *path = s->path[i];
    if (s->round[i] && spin > 0)
        spin = fmin(spin, path->axis_bound(path->user, begin, end, (rg_vec3){0, 0, 1}));
    /* A shape that does not turn has no such part, however large it is (half-spaces: infinite). */
    return spin > 0 ? spin * s->radius[i] : 0;
}

/* Bounds over a stretch: of n . velocity, and of what turning adds to it. */
typedef struct rates {
    double least[2], most[2], turn[2];
} rates;

static rates rates_over(const search *s, double begin, double end, rg_vec3 n) {
    rates r;
    double spin[2];
    for (int i = 0; i < 2; i++)
        s->path[i]->bound(s->path[i]->user, begin, end, n, &r.least[i], &r.most[i], &spin[i]);
    for (int i = 0; i < 2; i++)
        r.turn[i] = turning_speed(s, i, begin, end, spin[i]);
    return r;
}

/* How fast g_n can fall, and how fast it falls at least, over [begin, end]. */
static void closing_rates(const search *s, double begin, double end, rg_vec3 n, double *most,
                          double *least) {
    rates r = rates_over(s, begin, end, n);
    double turn = r.turn[0] + r.turn[1];
    *most = r.most[0] - r.least[1] + turn;
    *least = r.least[0] - r.most[1] - turn;
}

/* How fast, on average over [begin, end], the support of a shape along n can grow, from the time of
 * the last growth on; `most`: if all of it turned towards n. Of a polyhedron every vertex has its
 * own rate, and those far from the support have a long way to go: a stone that turns away from the
 * ground beside it is soon known to. */
static double support_rate(const search *s, int i, double begin, double end, rg_vec3 n,
                           double most) {
    const rg_polyhedron *p = rg_shape_polyhedron(s->shape[i]);
    const rg_path *path = s->path[i];
    turning t;
    if (!(most > 0) || !p || p->vertex_count > VERTICES_MOST ||
        !find_turning(path, begin, end, n, &t))
        return most;
    rg_vec3 local = rg_rotate_back(s->pose[i].orientation, n);
    double support = -INFINITY, highest = -INFINITY, length = end - begin;
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        rg_vec3 arm = rg_sub(p->vertices[v], path->reference);
        double now = rg_dot(local, arm);
        support = fmax(support, now);
        highest = fmax(highest, now + length * (rg_dot(t.rate, arm) + t.error * rg_length(arm)));
    }
    return fmin(most, (highest - support) / length);
}

/* The end of the stretch from `time` that is certainly free; `end` if all of it is. By how much
 * g_n can have fallen, as far as vertices tell, is a convex function of time, 0 at first: over a
 * share of the stretch it falls by no more than that share. */
static double free_until(const search *s, double time, double end, const rg_growth *growth) {
    double room = growth->gap - s->target, reach = 0;
    rg_vec3 n = growth->normal;
    for (int i = 0; i < 2; i++) {
        double length = end - time;
        rates r = rates_over(s, time, end, n);
        double most = r.most[0] - r.least[1] + (r.turn[0] + r.turn[1]);
        if (most * length > room)
            most = r.most[0] - r.least[1] +
                   (support_rate(s, 0, time, end, n, r.turn[0]) +
                    support_rate(s, 1, time, end, rg_neg(n), r.turn[1]));
        if (most * length <= room)
            return fmax(time + reach, end);
        reach = fmax(reach, room / most);
        /* Bounds over a shorter stretch are tighter, those of vertices with its square. */
        end = fmin(end, time + fmax(4 * reach, sqrt(reach * length)));
    }
    return time + reach;
}

/* Whether g_n, positive at `after`, was positive since `time`: it never rose. */
static bool was_free(const search *s, double time, double after, rg_vec3 n) {
    double most, least;
    closing_rates(s, time, after, n, &most, &least);
    return least >= 0;
}

/* Tries to find the root of the active feature pair after `time`; true with the answer in the
 * contact. */
static bool try_root(search *s, double time, double end, const rg_growth *growth) {
    rg_first_contact *contact = s->contact;
    s->features = growth->features;
    double room = growth->gap - s->target, most, least;
    closing_rates(s, time, end, growth->normal, &most, &least);
    double guess = room / (least > 0 ? 0.5 * (least + most) : 0.5 * most);
    double ahead = time, f = room;
    for (int i = 0; i < BRACKET_TRIES && f > 0 && ahead < end; i++) {
        guess *= BRACKET_STRETCH;
        ahead = fmin(end, time + guess);
        f = features_gap(s, ahead);
    }
    if (!(f <= 0))
        return false;
    rg_root root = rg_root_find(features_gap, s, (rg_bracket){time, room, ahead, f},
                                (rg_root_settings){.method = s->root,
                                                   .x_tolerance = ROOT_RESOLUTION * (ahead - time),
                                                   .f_tolerance = 0.5 * s->target,
                                                   .evaluation_limit = ROOT_LIMIT});
    rg_growth there = growth_at(s, root.x);
    if (s->status || !(there.gap > 0 && there.gap <= 2 * s->target) ||
        !was_free(s, time, root.x, there.normal))
        return false;
    contact->result = RG_FIRST_CONTACT_HIT;
    contact->time = root.x;
    contact->growth = there;
    return true;
}

static bool is_ball(const rg_shape *shape) {
    rg_shape_kind kind = rg_shape_get_kind(shape);
    return kind == RG_SHAPE_SPHERE || kind == RG_SHAPE_DISC;
}

/* What turning can move: a ball about its own centre is where it was. */
static double radius_about(const rg_shape *shape, rg_vec3 reference) {
    if (!rg_shape_is_bounded(shape))
        return INFINITY;
    return rg_length(rg_sub(rg_shape_centre(shape), reference)) +
           (is_ball(shape) ? 0 : rg_shape_circumradius(shape));
}

/* Whether a shape is round about its z axis, and that goes through the point it turns about. */
static bool is_round(const rg_shape *shape, const rg_path *path) {
    rg_shape_kind kind = rg_shape_get_kind(shape);
    return path->axis_bound && path->reference.x == 0 && path->reference.y == 0 &&
           (kind == RG_SHAPE_CAPSULE || kind == RG_SHAPE_CYLINDER || kind == RG_SHAPE_CONE);
}

static void finish(search *s, rg_first_contact_result result, double time,
                   const rg_growth *growth) {
    s->contact->result = result;
    s->contact->time = time;
    s->contact->growth = *growth;
}

static void advance(search *s, double begin, double end,
                    const rg_first_contact_settings *settings) {
    double time = begin;
    rg_growth growth = growth_at(s, time);
    if (growth.gap <= settings->tolerance) {
        finish(s, RG_FIRST_CONTACT_TOUCHING, time, &growth);
        return;
    }
    double try_below = ROOT_FIRST_SHARE * growth.gap;
    while (!s->status) {
        double next = free_until(s, time, end, &growth);
        if (next >= end) {
            growth = growth_at(s, end);
            finish(s, RG_FIRST_CONTACT_NONE, end, &growth);
            return;
        }
        if (s->contact->advances >= settings->advance_limit || !(next > time)) {
            finish(s, next > time ? RG_FIRST_CONTACT_LIMIT : RG_FIRST_CONTACT_HIT, time, &growth);
            return;
        }
        s->contact->advances++;
        time = next;
        growth = growth_at(s, time);
        if (growth.gap <= settings->tolerance) {
            finish(s, RG_FIRST_CONTACT_HIT, time, &growth);
            return;
        }
        if (growth.gap < try_below) {
            if (try_root(s, time, end, &growth))
                return;
            try_below = 0.5 * growth.gap;
        }
    }
}

/* --- by planes that turn ---------------------------------------------------------------------- */

/* An end of a stretch. */
typedef struct instant {
    double time;
    rg_pose pose[2];
    rg_growth growth;
} instant;

static void look(search *s, double time, instant *at) {
    at->time = time;
    poses_at(s, time, at->pose);
    s->contact->evaluations++;
    rg_status status = rg_growth_between(s->shape[0], at->pose[0], s->shape[1], at->pose[1],
                                         &s->cache, &at->growth);
    if (status)
        s->status = status;
}

/* Twice the middle coefficient: points of a shape from its origin, which moves along. */
static double middle_of(const search *s, const instant *a, const instant *b) {
    rg_vec3 from = a->growth.normal, to = b->growth.normal;
    double middle = rg_dot(from, rg_sub(b->pose[1].position, b->pose[0].position)) +
                    rg_dot(to, rg_sub(a->pose[1].position, a->pose[0].position));
    for (int i = 0; i < 2; i++) {
        rg_quat first = a->pose[i].orientation;
        rg_quat last = s->extent[i] > 0 ? b->pose[i].orientation : first;
        rg_vec3 local = rg_add(rg_rotate_back(last, from), rg_rotate_back(first, to));
        local = i ? rg_neg(local) : local;
        if (rg_largest_entry(local) > 0)
            middle -= rg_dot(local, rg_shape_support(s->shape[i], local, NULL));
    }
    return middle;
}

/* Whether the shapes, apart at both ends, are so in between. A plane that turns by a right angle or
 * more shows nothing. */
static bool stays_free(const search *s, const instant *a, const instant *b) {
    double begin = a->growth.gap, end = b->growth.gap, length = b->time - a->time, sag = 0;
    if (!(begin > 0 && end > 0 && rg_dot(a->growth.normal, b->growth.normal) > 0))
        return false;
    for (int i = 0; i < 2; i++) {
        double turn = length * rg_length(s->motion[i]->angular_velocity);
        sag += turn * turn * s->extent[i];
    }
    double middle = 0.5 * (middle_of(s, a, b) - 0.5 * sag);
    return middle >= 0 || middle * middle < begin * end;
}

/* The root of the gap of one feature pair between the ends of a stretch; its middle if there is
 * none. */
static double root_of_features(search *s, const instant *a, double gap_a, const instant *b,
                               double gap_b) {
    double middle = 0.5 * (a->time + b->time);
    if (!(gap_a > 0 && gap_b < 0 && isfinite(gap_a)))
        return middle;
    rg_root root =
        rg_root_find(features_gap, s, (rg_bracket){a->time, gap_a, b->time, gap_b},
                     (rg_root_settings){.method = s->root,
                                        .x_tolerance = ROOT_RESOLUTION * (b->time - a->time),
                                        .f_tolerance = ROOT_SHARE * s->target,
                                        .evaluation_limit = ROOT_LIMIT});
    return root.x > a->time && root.x < b->time ? root.x : middle;
}

/* Where to look next in a stretch that is not shown to be free: if it ends in contact, where the
 * features of its beginning meet, or else those of its end. */
static double next_guess(search *s, const instant *a, const instant *b) {
    double gap_a = a->growth.gap - s->target, gap_b = b->growth.gap - s->target;
    if (gap_b >= 0)
        return 0.5 * (a->time + b->time);
    s->features = a->growth.features;
    double ahead = features_gap(s, b->time);
    if (ahead < 0)
        return root_of_features(s, a, gap_a, b, ahead);
    s->features = b->growth.features;
    return root_of_features(s, a, features_gap(s, a->time), b, gap_b);
}

/* The stretch ahead is the longest that is shown to be free: cut at a root or halved until it is,
 * but never to less than what the rates show, and twice as long afterwards. */
static void advance_by_planes(search *s, double begin, double end,
                              const rg_first_contact_settings *settings) {
    instant ends[2], *a = &ends[0], *b = &ends[1];
    look(s, begin, a);
    if (a->growth.gap <= settings->tolerance) {
        finish(s, RG_FIRST_CONTACT_TOUCHING, begin, &a->growth);
        return;
    }
    double ahead = end, safe = begin;
    while (!s->status) {
        look(s, ahead, b);
        double most, least, length = ahead - a->time, room = a->growth.gap - s->target;
        closing_rates(s, a->time, ahead, a->growth.normal, &most, &least);
        bool free = ahead <= safe || most * length <= room || stays_free(s, a, b);
        if (free && ahead >= end) {
            finish(s, RG_FIRST_CONTACT_NONE, end, &b->growth);
            return;
        }
        bool last = s->contact->advances >= settings->advance_limit;
        safe = free ? ahead : a->time + room / most;
        if (!free && last)
            look(s, safe, b);
        if (free || last) {
            instant *swap = a;
            a = b, b = swap;
        }
        bool met = free && a->growth.gap <= settings->tolerance;
        if (met || last) {
            finish(s, met ? RG_FIRST_CONTACT_HIT : RG_FIRST_CONTACT_LIMIT, a->time, &a->growth);
            return;
        }
        s->contact->advances++;
        ahead = free ? fmin(end, a->time + 2 * length) : fmax(safe, next_guess(s, a, b));
        if (!(ahead > a->time)) {
            finish(s, RG_FIRST_CONTACT_HIT, a->time, &a->growth);
            return;
        }
    }
}

rg_status rg_first_contact_between(rg_moving_shape one, rg_moving_shape two, double begin,
                                   double end, const rg_first_contact_settings *settings,
                                   rg_first_contact *contact) {
    assert(one.shape && one.path && two.shape && two.path && settings && contact);
    *contact = (rg_first_contact){.result = RG_FIRST_CONTACT_NONE, .time = end};
    if (!(settings->tolerance > 0 && begin <= end))
        return RG_INVALID_ARGUMENT;
    search s = {.shape = {one.shape, two.shape},
                .path = {one.path, two.path},
                .radius = {radius_about(one.shape, one.path->reference),
                           radius_about(two.shape, two.path->reference)},
                .round = {is_round(one.shape, one.path), is_round(two.shape, two.path)},
                .target = 0.5 * settings->tolerance,
                .root = settings->root,
                .contact = contact};
    bool linear = one.path->pose == linear_pose && two.path->pose == linear_pose;
    if (linear && isfinite(s.radius[0] + s.radius[1])) {
        for (int i = 0; i < 2; i++) {
            s.motion[i] = s.path[i]->user;
            bool beside = is_ball(s.shape[i]) && s.radius[i] > 0;
            s.extent[i] = s.radius[i] + (beside ? rg_shape_circumradius(s.shape[i]) : 0);
        }
        advance_by_planes(&s, begin, end, settings);
    } else {
        advance(&s, begin, end, settings);
    }
    return s.status;
}
