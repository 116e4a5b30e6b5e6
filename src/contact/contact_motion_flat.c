/* Contact points in motion where closed forms give place and normal: a face against a point, a
 * ball, a rim or an ellipsoid; two lines (edges, sides of cylinders and capsules); two balls.
 *
 * A face turns with its body, n' = w x n. What moves on it is the point of the other surface whose
 * outward normal is m = -(the face's): a vertex is fixed in its body, a curved surface has
 *     p' = v(p) + R (m' - w x m),   R = ds/dm, the derivative of the support point
 * (radii of curvature). Two lines have n along e_a x e_b; offsets by a radius do not change n. Two
 * balls have n along the line of their centres.
 *
 * How it fails: lines that are parallel, balls that are concentric, a rim that lies flat on the
 * face (then no point of it is the nearest) are not regular.
 * Tested by tests/contact/test_motion.c. */
#include "contact/contact_motion_parts.h"

/* A rim that lies this flat (sine) has no point that could be relied on. */
#define FLAT_RIM 1e-9

/* The support point of a piece for the outward normal m, and how it moves over the material when m
 * changes by `change` in the body's frame. False if there is none. */
static bool support(const rg_track_side *s, rg_vec3 m, rg_vec3 change, rg_vec3 *p, rg_vec3 *roll) {
    const rg_contact_piece *piece = s->piece;
    if (piece->kind == RG_PIECE_POINT) {
        *p = rg_add_scaled(s->point, piece->radius, m);
        *roll = rg_scale(piece->radius, change);
        return true;
    }
    if (piece->kind == RG_PIECE_RIM) {
        rg_vec3 axis = s->direction, across = rg_cross(rg_cross(axis, m), axis);
        double length = rg_length(across);
        if (!(length > FLAT_RIM))
            return false;
        rg_vec3 out = rg_scale(1 / length, across), tangent = rg_cross(axis, out);
        *p = rg_add_scaled(s->point, piece->radius, out);
        *roll = rg_scale(piece->radius / length * rg_dot(tangent, change), tangent);
        return true;
    }
    if (piece->kind == RG_PIECE_ELLIPSOID) {
        rg_vec3 g = rg_times(piece->size, rg_track_to_local(s, m));
        double h = sqrt(rg_length_squared(g));
        rg_vec3 at = rg_scale(1 / h, rg_times(piece->size, g));
        rg_vec3 d = rg_track_to_local(s, change);
        rg_vec3 r = rg_times(rg_times(piece->size, piece->size), d);
        r = rg_scale(1 / h, rg_add_scaled(r, -rg_dot(at, d), at));
        *p = rg_add(s->point, rg_mat3_apply(&s->rotation, at));
        *roll = rg_mat3_apply(&s->rotation, r);
        return true;
    }
    return false;
}

void rg_track_of_face(const rg_track_pair *pair, int face, rg_contact_motion *motion) {
    const rg_track_side *f = &pair->side[face], *o = &pair->side[1 - face];
    rg_vec3 m = f->direction, m_rate = rg_cross(f->motion->angular_velocity, m);
    /* of the other's normal -m in its own frame */
    rg_vec3 change = rg_sub(rg_cross(o->motion->angular_velocity, m), m_rate);
    rg_vec3 p[2], rate[2], roll;
    if (!support(o, rg_neg(m), change, &p[1 - face], &roll)) {
        motion->regular = false;
        p[1 - face] = o->point;
        roll = rg_vec3_make(0, 0, 0);
    }
    rg_vec3 q = p[1 - face], material = rg_track_velocity(o, q);
    motion->normal = rg_scale(f->sign, m);
    motion->normal_rate = rg_scale(f->sign, m_rate);
    motion->gap = rg_dot(m, rg_sub(q, f->point));
    motion->inside = rg_track_inside_face(f, q);
    double gap_rate = rg_dot(m, rg_sub(material, rg_track_velocity(f, q)));
    rate[1 - face] = rg_add(material, roll);
    p[face] = rg_add_scaled(q, -motion->gap, m);
    rate[face] = rg_add_scaled(rg_add_scaled(rate[1 - face], -gap_rate, m), -motion->gap, m_rate);
    rg_track_finish(pair, p, rate, motion);
}

void rg_track_of_lines(const rg_track_pair *pair, rg_contact_motion *motion) {
    const rg_track_side *b = &pair->side[0], *a = &pair->side[1];
    const rg_contact_track *track = pair->track;
    rg_vec3 eb = b->direction, ea = a->direction, none = {0, 0, 0};
    rg_vec3 across = rg_scale(track->orientation, rg_cross(ea, eb));
    double sine = sqrt(rg_length_squared(across));
    motion->regular = sine > RG_TRACK_PARALLEL;
    if (!motion->regular) {
        motion->normal = rg_rotate(b->motion->pose.orientation, track->hint);
        motion->inside = -INFINITY;
        rg_track_finish(pair, (rg_vec3[2]){b->point, a->point}, (rg_vec3[2]){none, none}, motion);
        return;
    }
    rg_vec3 n = rg_scale(1 / sine, across);
    rg_vec3 turn = rg_add(rg_cross(rg_cross(a->motion->angular_velocity, ea), eb),
                          rg_cross(ea, rg_cross(b->motion->angular_velocity, eb)));
    turn = rg_scale(track->orientation / sine, turn);
    rg_vec3 n_rate = rg_add_scaled(turn, -rg_dot(n, turn), n);
    /* P_a + s_a e_a - P_b - s_b e_b = gap n, and the same for rates */
    double share = -track->orientation / sine;
    rg_vec3 across_a = rg_scale(share, rg_cross(ea, n)),
            across_b = rg_scale(share, rg_cross(eb, n));
    rg_vec3 d = rg_sub(a->point, b->point);
    double apart = rg_dot(n, d), sb = rg_dot(d, across_a), sa = rg_dot(d, across_b);
    rg_vec3 qb = rg_add_scaled(b->point, sb, eb), qa = rg_add_scaled(a->point, sa, ea);
    rg_vec3 vb = rg_track_velocity(b, qb), va = rg_track_velocity(a, qa);
    rg_vec3 slide = rg_add_scaled(rg_sub(va, vb), -apart, n_rate);
    double rb = track->piece[0].radius, ra = track->piece[1].radius;
    rg_vec3 p[2] = {rg_add_scaled(qb, rb, n), rg_add_scaled(qa, -ra, n)};
    rg_vec3 rate[2] = {rg_add_scaled(vb, rg_dot(slide, across_a), eb),
                       rg_add_scaled(va, rg_dot(slide, across_b), ea)};
    rate[0] = rg_add_scaled(rate[0], rb, n_rate);
    rate[1] = rg_add_scaled(rate[1], -ra, n_rate);
    motion->normal = n;
    motion->normal_rate = n_rate;
    motion->gap = apart - rb - ra;
    motion->inside = fmin(rg_track_margin(b, n, sb, none, track->size),
                          rg_track_margin(a, rg_neg(n), sa, none, track->size));
    rg_track_finish(pair, p, rate, motion);
}

void rg_track_of_balls(const rg_track_pair *pair, rg_contact_motion *motion) {
    const rg_track_side *b = &pair->side[0], *a = &pair->side[1];
    const rg_contact_track *track = pair->track;
    double rb = track->piece[0].radius, ra = track->piece[1].radius;
    rg_vec3 d = rg_sub(a->point, b->point), none = {0, 0, 0};
    double apart = rg_length(d);
    motion->regular = rb + ra > 0 && apart > 1e-12 * (rb + ra);
    rg_vec3 n = motion->regular ? rg_scale(1 / apart, d)
                                : rg_rotate(b->motion->pose.orientation, track->hint);
    rg_vec3 vb = rg_track_velocity(b, b->point), va = rg_track_velocity(a, a->point);
    rg_vec3 u = rg_sub(va, vb);
    u = rg_add_scaled(u, -rg_dot(n, u), n);
    rg_vec3 n_rate = motion->regular ? rg_scale(1 / apart, u) : none;
    rg_vec3 p[2] = {rg_add_scaled(b->point, rb, n), rg_add_scaled(a->point, -ra, n)};
    rg_vec3 rate[2] = {rg_add_scaled(vb, rb, n_rate), rg_add_scaled(va, -ra, n_rate)};
    motion->normal = n;
    motion->normal_rate = n_rate;
    motion->gap = apart - (rb + ra);
    motion->inside = fmin(rg_track_margin(b, n, 0, none, track->size),
                          rg_track_margin(a, rg_neg(n), 0, none, track->size));
    rg_track_finish(pair, p, rate, motion);
}
