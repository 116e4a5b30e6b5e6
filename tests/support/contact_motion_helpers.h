/* What the tests of contact points in motion share: bodies with accelerations, differences along
 * their motion, and the comparison of a track with them. */
#ifndef RIGOR_TESTS_CONTACT_MOTION_HELPERS_H
#define RIGOR_TESTS_CONTACT_MOTION_HELPERS_H

#include "contact_helpers.h"

#include "contact/contact_motion.h"
#include "rigor/proximity.h"

/* Cases where n and c change faster than this are not compared. */
#define FAST 10
/* ... nor those where second differences over a step and half of it differ by more. */
#define ROUGH 1e-8

/* A body with accelerations at t = 0: x(t) = x + v t + a t^2 / 2, q(t) = exp(w t + alpha t^2 / 2)
 * q. */
typedef struct body {
    rg_shape *shape;
    rg_vec3 offset; /* of the shape's frame from the centre of mass, body axes */
    rg_vec3 x, v, a, w, alpha;
    rg_quat q;
} body;

typedef struct pair {
    body b, a;
    double scale;
} pair;

static inline rg_rigid_motion motion_at(const body *k, double t) {
    rg_vec3 theta = rg_add_scaled(rg_scale(t, k->w), t * t / 2, k->alpha);
    rg_vec3 rate = rg_add_scaled(k->w, t, k->alpha);
    rg_quat q = rg_quat_multiply(rg_quat_of_rotation_vector(theta), k->q);
    rg_vec3 x = rg_add_scaled(rg_add_scaled(k->x, t, k->v), t * t / 2, k->a);
    /* the angular velocity of exp(theta): small angles only */
    double f = rg_length_squared(theta);
    rg_vec3 c = rg_cross(theta, rate);
    rg_vec3 w = rg_add_scaled(rate, 1.0 / 2 - f / 24 + f * f / 720, c);
    w = rg_add_scaled(w, 1.0 / 6 - f / 120 + f * f / 5040, rg_cross(theta, c));
    return (rg_rigid_motion){.pose = {rg_add(x, rg_rotate(q, k->offset)), q},
                             .centre = x,
                             .velocity = rg_add_scaled(k->v, t, k->a),
                             .angular_velocity = w};
}

/* u' and chi'' from the formulas of the header. */
static inline rg_vec3 slip_rate(const pair *k, const rg_contact_motion *m) {
    rg_vec3 c = m->point;
    rg_vec3 a = rg_add(k->a.a, rg_cross(k->a.alpha, rg_sub(c, k->a.x))),
            b = rg_add(k->b.a, rg_cross(k->b.alpha, rg_sub(c, k->b.x)));
    return rg_add(rg_sub(a, b), m->drift);
}

static inline double gap_second(const pair *k, const rg_contact_motion *m) {
    rg_vec3 u = rg_add_scaled(m->slip, m->gap_rate, m->normal);
    return rg_dot(m->normal, slip_rate(k, m)) + rg_dot(m->normal_rate, u);
}

static inline rg_contact_motion follow(const rg_contact_track *track, const pair *k, double t) {
    rg_rigid_motion b = motion_at(&k->b, t), a = motion_at(&k->a, t);
    return rg_contact_follow(track, &b, &a);
}

static inline double first_difference(const double f[5], double h) {
    return (8 * (f[3] - f[1]) - (f[4] - f[0])) / (12 * h);
}

static inline double second_difference(const double f[5], double h) {
    return (16 * (f[3] + f[1]) - (f[4] + f[0]) - 30 * f[2]) / (12 * h * h);
}

static inline rg_vec3 vector_difference(const rg_vec3 f[5], double h) {
    double x[5], y[5], z[5];
    for (int i = 0; i < 5; i++) {
        x[i] = f[i].x;
        y[i] = f[i].y;
        z[i] = f[i].z;
    }
    return rg_vec3_make(first_difference(x, h), first_difference(y, h), first_difference(z, h));
}

/* The largest errors over many cases; lengths in units of the scale. */
typedef struct errors {
    double first, second, point, normal, slip, order;
    double distance, distance_second;
    int tracks, exact, lost;
} errors;

static inline void grow(double *most, double value) {
    if (!(value <= *most))
        *most = value;
}

/* An end of a tube or cone, or a vertex, that does not all by itself face a face: another may be
 * the nearer one soon. */
static inline bool is_level(const rg_contact_track *track, int side, rg_pose pose, rg_vec3 n) {
    const rg_contact_piece *p = &track->piece[side];
    const rg_polyhedron *polyhedron = rg_shape_polyhedron(side ? track->shape_a : track->shape_b);
    uint32_t low = 0;
    for (uint32_t i = 0; polyhedron && i < polyhedron->vertex_count; i++) {
        rg_vec3 d = rg_rotate(pose.orientation, rg_sub(polyhedron->vertices[i], p->point));
        low += rg_dot(d, rg_scale(side ? -1 : 1, n)) > -0.02 * track->size;
    }
    if (track->piece[1 - side].kind == RG_PIECE_FACE && low > 1)
        return true;
    if (track->piece[1 - side].kind != RG_PIECE_FACE ||
        !(p->kind == RG_PIECE_RIM || rg_largest_entry(p->direction) > 0))
        return false;
    rg_vec3 m = rg_rotate_back(pose.orientation, rg_scale(side ? -1 : 1, n));
    if (p->kind == RG_PIECE_POINT)
        return rg_dot(m, p->direction) - p->low < 0.05;
    rg_vec3 out = rg_normalised(rg_vec3_make(m.x, m.y, 0));
    return p->size.x * rg_dot(p->direction, m) + p->size.y * rg_dot(out, m) > -0.05;
}

/* chi by another way: the growth of the feature pair alone, or the distance where that is the
 * same. */
static inline bool reference_gap(const pair *k, const rg_contact_track *track,
                                 const rg_contact_motion *m, double t, double *gap) {
    rg_pose b = motion_at(&k->b, t).pose, a = motion_at(&k->a, t).pose;
    if (rg_shape_polyhedron(k->b.shape) && rg_shape_polyhedron(k->a.shape)) {
        rg_feature_pair features = {(rg_feature_kind)track->feature.kind, track->feature.index1,
                                    track->feature.index2};
        rg_growth g;
        assert_int_equal(rg_growth_of_features(k->b.shape, b, k->a.shape, a, features, &g), RG_OK);
        *gap = g.gap;
        return g.ratio > 0;
    }
    rg_distance d;
    assert_int_equal(rg_distance_between(k->b.shape, b, k->a.shape, a, NULL, &d), RG_OK);
    *gap = d.distance;
    return m->inside > 2 * track->slack && m->gap > 0 && !is_level(track, 0, b, m->normal) &&
           !is_level(track, 1, a, m->normal);
}

/* Follows a track through five poses around t = 0 and compares. `exact`: chi is the distance. False
 * where differences are no use: the motion is too fast, or they have not converged. */
static inline bool compare(const pair *k, const rg_contact_track *track, bool exact, errors *e) {
    double gap[5], distance[5], s = 1 / k->scale;
    rg_vec3 c[5], n[5], u[5];
    rg_contact_motion now = follow(track, k, 0);
    assert_true(now.regular);
    assert_true(now.inside > 0);
    double fast = 1 + rg_length(now.normal_rate) + s * rg_length(now.point_rate),
           step = 4e-3 / fast;
    if (fast > FAST)
        return false;
    for (int i = 0; i < 5; i++) {
        double t = step * (i - 2);
        rg_contact_motion m = follow(track, k, t);
        if (!m.regular) {
            e->lost++;
            return false;
        }
        gap[i] = m.gap;
        c[i] = m.point;
        n[i] = m.normal;
        u[i] = rg_add_scaled(m.slip, m.gap_rate, m.normal);
        if (exact)
            exact = reference_gap(k, track, &m, t, &distance[i]);
        if (exact)
            grow(&e->distance, s * fabs(gap[i] - distance[i]));
    }
    double half[5] = {gap[1], follow(track, k, -step / 2).gap, gap[2],
                      follow(track, k, step / 2).gap, gap[3]};
    double second = second_difference(gap, step);
    s /= fast * fast;
    if (!(s * fabs(second - second_difference(half, step / 2)) <= ROUGH))
        return false;
    grow(&e->first, s * fabs(first_difference(gap, step) - now.gap_rate));
    grow(&e->second, s * fabs(second - gap_second(k, &now)));
    grow(&e->point, s * rg_length(rg_sub(vector_difference(c, step), now.point_rate)));
    grow(&e->normal,
         rg_length(rg_sub(vector_difference(n, step), now.normal_rate)) / (fast * fast));
    grow(&e->slip, s * rg_length(rg_sub(vector_difference(u, step), slip_rate(k, &now))));
    if (exact)
        grow(&e->distance_second,
             s * fabs(second_difference(distance, step) - gap_second(k, &now)));
    e->exact += exact;
    e->tracks++;
    return true;
}

static inline void report(const char *name, const errors *e) {
    if (getenv("RIGOR_SHOW"))
        print_message("%-24s %6d tracks: chi' %.1e chi'' %.1e c' %.1e n' %.1e u' %.1e order %.1e "
                      "distance %d: %.1e %.1e\n",
                      name, e->tracks, e->first, e->second, e->point, e->normal, e->slip, e->order,
                      e->exact, e->distance, e->distance_second);
}

/* ------------------------------------------------------------------ shapes */

static inline rg_shape *make_kind(rg_random *random, rg_shape_kind kind, double scale) {
    double x = scale * rg_random_between(random, 0.5, 1.5),
           y = scale * rg_random_between(random, 0.5, 1.5),
           z = scale * rg_random_between(random, 0.5, 1.5);
    rg_vec3 points[12];
    switch (kind) {
    case RG_SHAPE_HALFSPACE:
        return make_shape(rg_shape_def_halfspace(random_vector(random, -1, 1), x));
    case RG_SHAPE_BOX:
        return make_shape(rg_shape_def_box(x, y, z));
    case RG_SHAPE_SPHERE:
        return make_shape(rg_shape_def_sphere(x / 2));
    case RG_SHAPE_CAPSULE:
        return make_shape(rg_shape_def_capsule(x / 2, y));
    case RG_SHAPE_CYLINDER:
        return make_shape(rg_shape_def_cylinder(x / 2, y));
    case RG_SHAPE_CONE:
        return make_shape(rg_shape_def_cone(x / 2, y));
    case RG_SHAPE_ELLIPSOID:
        return make_shape(rg_shape_def_ellipsoid(x / 2, y / 2, z / 2));
    default:
        for (int i = 0; i < 12; i++)
            points[i] =
                rg_scale(scale * rg_random_between(random, 0.6, 1), rg_random_direction(random));
        return make_shape(rg_shape_def_hull(points, 12));
    }
}

static inline body random_body(rg_random *random, rg_shape *shape, double scale) {
    body k = {.shape = shape,
              .offset = random_vector(random, -0.3 * scale, 0.3 * scale),
              .x = random_vector(random, -scale, scale),
              .v = random_vector(random, -0.2 * scale, 0.2 * scale),
              .a = random_vector(random, -scale, scale),
              .w = random_vector(random, -0.4, 0.4),
              .alpha = random_vector(random, -1, 1),
              .q = rg_random_rotation(random)};
    return k;
}

/* Moves A so that the distance is `gap`; false if they overlap. */
static inline bool approach(pair *k, double gap) {
    rg_distance d;
    rg_pose b = motion_at(&k->b, 0).pose, a = motion_at(&k->a, 0).pose;
    assert_int_equal(rg_distance_between(k->b.shape, b, k->a.shape, a, NULL, &d), RG_OK);
    if (!(d.distance > 0))
        return false;
    k->a.x = rg_add_scaled(k->a.x, gap - d.distance, d.normal);
    return true;
}

/* The same for polyhedra, of which vertex and vertex may be nearest: moves A along the line of
 * centres until a feature pair touches, and then off by `gap`. */
static inline void approach_features(pair *k, double gap) {
    rg_growth g;
    for (int i = 0; i < 3; i++) {
        rg_pose b = motion_at(&k->b, 0).pose, a = motion_at(&k->a, 0).pose;
        assert_int_equal(rg_growth_between(k->b.shape, b, k->a.shape, a, NULL, &g), RG_OK);
        rg_vec3 d = rg_sub(rg_pose_apply(a, rg_shape_centre(k->a.shape)),
                           rg_pose_apply(b, rg_shape_centre(k->b.shape)));
        k->a.x = rg_add_scaled(k->a.x, 1 / g.ratio - 1, d);
    }
    k->a.x = rg_add_scaled(k->a.x, gap, g.normal);
}

static contact_result found; /* of the last query */

static inline void query_pair(const pair *k, double near) {
    rg_contact_settings settings = {.near = 2 * near, .band = 1e-9 * k->scale};
    query_with(k->b.shape, motion_at(&k->b, 0).pose, k->a.shape, motion_at(&k->a, 0).pose,
               &settings, NULL, &found);
}

static inline rg_contact_track make_track(const pair *k, uint32_t i) {
    return rg_contact_track_make(k->b.shape, motion_at(&k->b, 0).pose, k->a.shape,
                                 motion_at(&k->a, 0).pose, &found.manifold, &found.points[i]);
}

static inline pair swapped(const pair *k) {
    return (pair){k->a, k->b, k->scale};
}

/* The same contact with the bodies in the other order. */
static inline void compare_order(const pair *k, const rg_contact_motion *m, double near,
                                 errors *e) {
    pair other = swapped(k);
    query_pair(&other, near);
    double best = INFINITY, s = 1 / k->scale;
    for (uint32_t i = 0; i < found.manifold.point_count; i++) {
        rg_contact_track track = make_track(&other, i);
        rg_contact_motion o = follow(&track, &other, 0);
        double d = s * (fabs(o.gap - m->gap) + fabs(o.gap_rate - m->gap_rate) +
                        fabs(gap_second(&other, &o) - gap_second(k, m)) +
                        rg_length(rg_sub(o.point, m->point)) +
                        rg_length(rg_sub(o.point_rate, m->point_rate)) +
                        rg_length(rg_add(o.slip, m->slip)) + rg_length(rg_add(o.drift, m->drift))) +
                   rg_length(rg_add(o.normal, m->normal)) +
                   rg_length(rg_add(o.normal_rate, m->normal_rate));
        best = fmin(best, d);
    }
    grow(&e->order, best);
}

#endif
