/* The end of Newton's method on two smooth pieces in twice the precision, for flat pairs.
 *
 * Where h(n) is a thousandth of the bodies' size (needles, plates), a normal rounded to doubles
 * moves the far ends of the bodies by a noticeable part of h(n), and so does rounding of a point,
 * of the ray, and of n.y itself: each costs 1e-16 size / h(n). So the last steps are taken once
 * more with numbers of two doubles each: residuals in twice the precision, the linear system of
 * narrow_local.c in doubles (iterative refinement: every round gains the digits that the system
 * has), and the certificate from support values, not points. Sizes, rotations and d are taken as
 * exact (narrow_surface_long.h).
 *
 * How it fails: patches that do not hold the answer leave a gap, which the certificate shows.
 * Tested by tests/narrow/test_curved.c. */
#include "narrow/narrow_curved.h"

#include "narrow/narrow_local.h"
#include "narrow/narrow_surface_long.h"

/* Rounds of refinement. */
#define MOST_STEPS 6
/* A step, squared and relative, and a move of points, squared, that end it. */
#define STILL_SQUARED 1e-46
/* Vertices of a polyhedron that are all looked at; of more, the climb on the edges. */
#define FEW_VERTICES 64

typedef struct precise {
    rg_shot *shot;
    rg_long3 d, b[2], n; /* unit d; the basis */
    rg_long xi[2];
    rg_long along[2][2];
    rg_long3 point[2], flat[2][2], y[2]; /* of the patches at n; y with the flats */
} precise;

/* ------------------------------------------------------------------ surfaces */

/* The highest vertex along m, in the shape's frame. */
static rg_long vertex_width(const rg_surface *s, rg_long3 m) {
    const rg_polyhedron *p = s->polyhedron;
    uint32_t hint = s->hint, best;
    rg_shape_support(s->shape, rg_long3_round(m), &hint);
    best = hint;
    rg_long most = rg_long3_dot(m, rg_surface_long_centred(s, best));
    if (p->vertex_count <= FEW_VERTICES) {
        for (uint32_t i = 0; i < p->vertex_count; i++) {
            rg_long h = rg_long3_dot(m, rg_surface_long_centred(s, i));
            if (rg_long_less(most, h))
                most = h;
        }
        return most;
    }
    for (bool up = true; up;) {
        up = false;
        uint32_t from = best;
        for (uint32_t i = p->vertex_start[from]; i < p->vertex_start[from + 1]; i++) {
            rg_long h = rg_long3_dot(m, rg_surface_long_centred(s, p->vertex_neighbours[i]));
            if (rg_long_less(most, h)) {
                most = h;
                best = p->vertex_neighbours[i];
                up = true;
            }
        }
    }
    return most;
}

static rg_long absolute(rg_long a) {
    return a.hi < 0 ? rg_long_neg(a) : a;
}

/* h(n) of one side, by the formula of its kind. */
static rg_long width_of(const rg_surface *s, rg_long3 n) {
    rg_long3 m = rg_surface_long_turn_back(s, n);
    rg_long axial = s->sign < 0 ? rg_long_neg(m.z) : m.z, radius = rg_long_of(s->radius);
    rg_long rim = rg_long_mul(
        radius, rg_long_sqrt(rg_long_add(rg_long_mul(m.x, m.x), rg_long_mul(m.y, m.y))));
    rg_long high = rg_long_of(s->high), ball;
    switch (s->kind) {
    case RG_SHAPE_SPHERE:
    case RG_SHAPE_DISC:
    case RG_SHAPE_CAPSULE:
        ball = rg_long_mul(radius, rg_long3_length(n));
        return rg_long_add(ball, rg_long_mul(high, absolute(axial)));
    case RG_SHAPE_CYLINDER:
        return rg_long_add(rim, rg_long_mul(high, absolute(axial)));
    case RG_SHAPE_CONE:
        rim = rg_long_add(rim, rg_long_mul(rg_long_of(s->low), axial));
        high = rg_long_mul(high, axial);
        return rg_long_less(rim, high) ? high : rim;
    case RG_SHAPE_ELLIPSOID:
        return rg_long3_length(rg_long3_times(s->semi, m));
    default:
        m = rg_long3_scale(rg_long_of(s->sign), m);
        return rg_long_mul(rg_long_of(s->scale), vertex_width(s, m));
    }
}

/* ------------------------------------------------------------------ patches */

/* The point of the patch with the normal n, without its flats, and these. */
static void evaluate_patch(const rg_patch *p, rg_long3 n, rg_long3 *point, rg_long3 flat[2]) {
    const rg_surface *s = p->surface;
    for (int k = 0; k < p->flats; k++)
        flat[k] = rg_long3_of(p->flat[k]);
    if (s->polyhedron) {
        *point = rg_surface_long_vertex(s, p->label[0]);
        for (int k = 0; k < p->flats; k++)
            flat[k] = rg_long3_sub(rg_surface_long_vertex(s, p->label[k + 1]), *point);
        return;
    }
    rg_long3 base = rg_long3_of(rg_vec3_make(0, 0, 0));
    if (s->kind == RG_SHAPE_CONE)
        base =
            rg_surface_long_axis_point(s, p->form == RG_PATCH_POINT && !p->cap ? s->high : s->low);
    else if (p->cap || (p->flats == 0 && rg_surface_has_ends(s)))
        base = rg_surface_long_axis_point(s, p->label[0] ? s->high : s->low);
    *point = base;
    if (p->form == RG_PATCH_BALL) {
        rg_long share = rg_long_div(rg_long_of(s->radius), rg_long3_length(n));
        *point = rg_long3_add_scaled(base, share, n);
    } else if (p->form == RG_PATCH_ELLIPSOID) {
        *point = rg_surface_long_ellipsoid(s, n);
    } else if (p->form == RG_PATCH_RIM) {
        *point = rg_long3_add(base, rg_surface_long_rim(s, n));
    }
    if (p->slant)
        flat[0] = rg_long3_sub(rg_surface_long_axis_point(s, s->high), *point);
}

static void evaluate(precise *e, const rg_local *l) {
    e->n = e->d;
    for (int k = 0; k < 2; k++)
        e->n = rg_long3_add_scaled(e->n, e->xi[k], e->b[k]);
    for (int i = 0; i < 2; i++) {
        evaluate_patch(&l->patch[i], e->n, &e->point[i], e->flat[i]);
        e->y[i] = e->point[i];
        for (int k = 0; k < l->patch[i].flats; k++)
            e->y[i] = rg_long3_add_scaled(e->y[i], e->along[i][k], e->flat[i][k]);
    }
}

/* One step of Newton's method: the residuals of `e` in the system of `l`. The change of positions
 * comes out in l->patch[i].along, which are set to 0 for that. Returns the square of the step, or
 * something negative if there is none. */
static double refine(precise *e, rg_local *l) {
    rg_long3 y = rg_long3_add(e->y[0], e->y[1]);
    const double keep[2][2] = {{l->patch[0].along[0], l->patch[0].along[1]},
                               {l->patch[1].along[0], l->patch[1].along[1]}};
    if (!rg_local_evaluate(l, rg_long3_round(e->n), e->shot->b, e->shot->planar))
        return -1;
    rg_local_choose_flats(l);
    int count = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < l->patch[i].flats; k++) {
            if (!(rg_length_squared(l->patch[i].flat[k]) > 0))
                continue; /* it is not among the flats either */
            rg_flat *f = &l->flats[count++];
            f->c = rg_long_round(rg_long3_dot(e->flat[i][k], e->n)) / f->length;
        }
    for (int k = 0; k < 2; k++) {
        l->q[k] = rg_long_round(rg_long3_dot(y, e->b[k]));
        l->patch[0].along[k] = l->patch[1].along[k] = 0;
    }
    double step[2];
    bool known = rg_local_step(l, step);
    if (known) {
        double q[2] = {l->q[0] + l->w[0] * step[0] + l->w[1] * step[1],
                       l->q[1] + l->w[1] * step[0] + l->w[2] * step[1]};
        rg_local_distribute(l, q);
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            e->along[i][k] = rg_long_add(e->along[i][k], rg_long_of(l->patch[i].along[k]));
            l->patch[i].along[k] = known ? rg_long_round(e->along[i][k]) : keep[i][k];
        }
    if (!known || !(rg_dot2(step, step) < 1e-8 * (1 + rg_length_squared(l->n))))
        return -1;
    for (int k = 0; k < 2; k++)
        e->xi[k] = rg_long_add(e->xi[k], rg_long_of(step[k]));
    double move = rg_local_move(l, step);
    return rg_dot2(step, step) / rg_length_squared(l->n) + move * move;
}

/* ------------------------------------------------------------------ certificate */

/* How far y, in the plane of a facet that holds the corners of the patch, is outside the polygon of
 * that facet. Edges and differences keep all digits, so a point inside is found to be. */
static double outside_facet(const rg_patch *p, rg_long3 y) {
    const rg_surface *s = p->surface;
    const rg_polyhedron *q = s->polyhedron;
    double least = INFINITY;
    for (uint32_t f = 0; f < q->facet_count; f++) {
        uint32_t first = q->facet_start[f], end = q->facet_start[f + 1];
        int found = 0;
        for (uint32_t j = first; j < end; j++)
            for (int k = 0; k < 3; k++)
                found += q->facet_vertices[j] == p->label[k];
        if (found < 3)
            continue;
        rg_long3 up = rg_long3_scale(rg_long_of(s->sign),
                                     rg_surface_long_turn(s, rg_long3_of(q->normals[f])));
        double out = 0;
        for (uint32_t j = first; j < end; j++) {
            rg_long3 a = rg_surface_long_vertex(s, q->facet_vertices[j]),
                     b = rg_surface_long_vertex(s, q->facet_vertices[j + 1 < end ? j + 1 : first]);
            rg_long3 e = rg_long3_sub(b, a);
            rg_long inside = rg_long3_dot(up, rg_long3_cross(e, rg_long3_sub(y, a)));
            out = fmax(out, -s->sign * rg_long_round(inside) / rg_length(rg_long3_round(e)));
        }
        least = fmin(least, out);
    }
    return least;
}

/* How much larger the body must be to hold a point at `out` > 0 beyond the end of an interval. On a
 * line from a to b, (1 + out) a - out b is in 1 + out (1 + gauge(-b)) times the body: for cones
 * that gauge is 3 at most. */
static double growth_for(const precise *e, const rg_patch *p, int i, double out) {
    const rg_surface *s = p->surface;
    if (p->slant)
        return 4 * out;
    if (!s->polyhedron)
        return out / s->high;
    rg_vec3 a = rg_long3_round(e->point[i]),
            b = rg_long3_round(rg_long3_add(e->point[i], e->flat[i][0]));
    return out * (1 + fmax(rg_surface_gauge(s, rg_neg(a)), rg_surface_gauge(s, rg_neg(b))));
}

/* How far y is outside the range of its patch, as a length that divided by the inscribed balls
 * gives the growth that would take it in. */
static double excess_of(const precise *e, const rg_patch *p, int i) {
    double out = 0, balls = e->shot->inradius[0] + e->shot->inradius[1];
    rg_long a = e->along[i][0], b = e->along[i][1], rest;
    switch (p->range) {
    case RG_RANGE_NONE:
        return 0;
    case RG_RANGE_INTERVAL:
        out = fmax(rg_long_round(rg_long_sub(rg_long_of(p->low), a)),
                   rg_long_round(rg_long_sub(a, rg_long_of(p->high))));
        return out > 0 ? growth_for(e, p, i, out) * balls : 0;
    case RG_RANGE_TRIANGLE:
        rest = rg_long_sub(rg_long_add(a, b), rg_long_of(1));
        out = rg_max3(-a.hi, -b.hi, rest.hi);
        if (!(out > 0))
            return 0;
        return fmin(out * fmax(rg_length(p->flat[0]), rg_length(p->flat[1])),
                    outside_facet(p, e->y[i]));
    default:
        a = rg_long_sqrt(rg_long_add(rg_long_mul(a, a), rg_long_mul(b, b)));
        out = rg_long_round(rg_long_sub(a, rg_long_of(p->high)));
        return fmax(out, 0) / p->high * balls;
    }
}

static bool judge(const precise *e, const rg_local *l) {
    rg_shot *shot = e->shot;
    rg_long h = rg_long_add(width_of(&shot->side[0], e->n), width_of(&shot->side[1], e->n));
    rg_long3 y = rg_long3_add(e->y[0], e->y[1]);
    rg_long along = rg_long3_dot(e->n, y), unit = rg_long3_dot(e->n, e->d);
    double excess = excess_of(e, &l->patch[0], 0) + excess_of(e, &l->patch[1], 1);
    if (!(along.hi > 0 && h.hi > 0 && unit.hi > 0))
        return false;
    rg_long3 miss = rg_long3_add_scaled(y, rg_long_neg(rg_long_div(along, unit)), e->d);
    rg_shot_answer answer = {.n = rg_long3_round(e->n),
                             .y1 = rg_long3_round(e->y[0]),
                             .y2 = rg_long3_round(e->y[1]),
                             .outer = rg_long_round(rg_long_div(h, unit))};
    double share = rg_long_round(rg_long_div(along, h));
    answer.gap = rg_long_round(rg_long_sub(h, along)) / h.hi;
    answer.primal = rg_shot_gauge_of_miss(shot, rg_long3_round(miss), excess) / share;
    answer.score = fabs(answer.gap) + answer.primal;
    /* what doubles say of a flat pair may be better by rounding only */
    if (!(answer.score <= RG_SHOT_ENOUGH || answer.score < shot->answer.score))
        return false;
    shot->answer = answer;
    return answer.score <= RG_SHOT_ENOUGH;
}

bool rg_shot_refine(rg_shot *shot, rg_local *l, const double xi[2]) {
    precise e = {.shot = shot};
    rg_long3 d = rg_long3_of(shot->whole_d);
    e.d = rg_long3_scale(rg_long_div(rg_long_of(1), rg_long3_length(d)), d);
    for (int k = 0; k < 2; k++) {
        /* perpendicular to this d, not only to the one rounded to doubles: n may be hundreds of
         * times longer than d, and take the difference with it */
        rg_long3 b = rg_long3_of(shot->b[k]);
        e.b[k] = rg_long3_add_scaled(b, rg_long_neg(rg_long3_dot(b, e.d)), e.d);
        e.xi[k] = rg_long_of(xi[k]);
        for (int i = 0; i < 2; i++)
            e.along[i][k] = rg_long_of(l->patch[i].along[k]);
    }
    evaluate(&e, l);
    for (int i = 0; i < MOST_STEPS; i++) {
        double size = refine(&e, l);
        if (size < 0)
            return false;
        evaluate(&e, l);
        if (size <= STILL_SQUARED)
            break;
    }
    return judge(&e, l);
}
