/* See narrow_local.h.
 * Tested by tests/narrow/test_curved.c. */
#include "narrow/narrow_local.h"

/* Sine below which two flats count as parallel. */
#define PARALLEL 1e-13

/* Determinant of a curvature, by the square of its trace, that is rounding. */
#define SINGULAR 1e-15

/* When to measure a polyhedron by all its facets: so few, or a point so close (lengths are in units
 * of the pair). */
#define FEW_FACETS 24
#define CLOSE      1e-9

static void add_flat(rg_local *l, const rg_vec3 *b, rg_vec3 e, double *along) {
    double length = sqrt(rg_length_squared(e));
    if (!(length > 0))
        return;
    e = rg_scale(1 / length, e);
    l->flats[l->count++] =
        (rg_flat){{rg_dot(e, b[0]), rg_dot(e, b[1])}, rg_dot(e, l->n), length, along};
}

bool rg_local_evaluate(rg_local *l, rg_vec3 n, const rg_vec3 *b, bool planar) {
    l->n = n;
    l->count = 0;
    for (int i = 0; i < 2; i++) {
        double *w = l->side_w[i];
        w[0] = w[1] = w[2] = 0;
        if (!rg_patch_evaluate(&l->patch[i], n, b, &l->point[i], w))
            return false;
    }
    for (int k = 0; k < 3; k++)
        l->w[k] = l->side_w[0][k] + l->side_w[1][k];
    rg_vec3 s = rg_add(l->point[0], l->point[1]);
    l->q[0] = rg_dot(s, b[0]);
    l->q[1] = rg_dot(s, b[1]);
    l->h = rg_dot(n, s);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < l->patch[i].flats; k++)
            add_flat(l, b, l->patch[i].flat[k], &l->patch[i].along[k]);
    if (planar)
        add_flat(l, b, rg_vec3_make(0, 1, 0), NULL);
    return isfinite(l->h) && isfinite(l->w[0] + l->w[1] + l->w[2]);
}

void rg_local_choose_flats(rg_local *l) {
    double best = 0;
    l->rank = 0;
    l->first = l->second = 0;
    for (int k = 0; k < l->count; k++)
        if (rg_dot2(l->flats[k].f, l->flats[k].f) > best) {
            best = rg_dot2(l->flats[k].f, l->flats[k].f);
            l->first = k;
            l->rank = 1;
        }
    double widest = PARALLEL * sqrt(best);
    for (int k = 0; k < l->count; k++) {
        double sine = fabs(rg_cross2(l->flats[l->first].f, l->flats[k].f));
        if (l->rank && sine > widest) {
            widest = sine;
            l->second = k;
            l->rank = 2;
        }
    }
}

void rg_local_distribute(rg_local *l, const double q[2]) {
    double rest[2] = {-q[0], -q[1]};
    for (int k = 0; k < l->count; k++)
        if (l->flats[k].along)
            for (int i = 0; i < 2; i++)
                rest[i] -= *l->flats[k].along * l->flats[k].length * l->flats[k].f[i];
    if (l->rank == 0)
        return;
    rg_flat *a = &l->flats[l->first], *b = &l->flats[l->second];
    if (l->rank == 1) {
        if (a->along)
            *a->along += rg_dot2(rest, a->f) / (rg_dot2(a->f, a->f) * a->length);
        return;
    }
    double det = rg_cross2(a->f, b->f);
    if (a->along)
        *a->along += rg_cross2(rest, b->f) / det / a->length;
    if (b->along)
        *b->along += rg_cross2(a->f, rest) / det / b->length;
}

bool rg_local_step(const rg_local *l, double step[2]) {
    const double *w = l->w, *q = l->q;
    if (l->rank == 0) {
        double det = w[0] * w[2] - w[1] * w[1], trace = w[0] + w[2];
        if (!(det > SINGULAR * trace * trace)) {
            /* curved one way only (two rims with a common tangent): the shortest step */
            double square = trace * trace - 2 * det;
            if (!(square > 0))
                return false;
            step[0] = -(w[0] * q[0] + w[1] * q[1]) / square;
            step[1] = -(w[1] * q[0] + w[2] * q[1]) / square;
            return true;
        }
        step[0] = -(w[2] * q[0] - w[1] * q[1]) / det;
        step[1] = -(w[0] * q[1] - w[1] * q[0]) / det;
        return true;
    }
    const rg_flat *a = &l->flats[l->first], *b = &l->flats[l->second];
    if (l->rank == 2) {
        double det = rg_cross2(a->f, b->f);
        step[0] = (-a->c * b->f[1] + b->c * a->f[1]) / det;
        step[1] = (-b->c * a->f[0] + a->c * b->f[0]) / det;
        return true;
    }
    double square = rg_dot2(a->f, a->f), length = sqrt(square);
    double p[2] = {-a->c * a->f[0] / square, -a->c * a->f[1] / square};
    double g[2] = {-a->f[1] / length, a->f[0] / length};
    double wg[2] = {w[0] * g[0] + w[1] * g[1], w[1] * g[0] + w[2] * g[1]};
    double curvature = rg_dot2(g, wg);
    if (!(curvature > 0))
        return false;
    double eta = -(rg_dot2(g, q) + rg_dot2(p, wg)) / curvature;
    step[0] = p[0] + eta * g[0];
    step[1] = p[1] + eta * g[1];
    return true;
}

double rg_local_move(const rg_local *l, const double step[2]) {
    const double *w = l->w;
    return fabs(w[0] * step[0] + w[1] * step[1]) + fabs(w[1] * step[0] + w[2] * step[1]);
}

double rg_local_nudge(rg_local *l, const double step[2], rg_vec3 axis, const rg_vec3 *b,
                      const double xi[2]) {
    double q[2] = {l->q[0], l->q[1]};
    for (int k = 0; k < 2; k++)
        q[k] += l->w[k] * step[0] + l->w[k + 1] * step[1];
    double off = 0;
    for (int i = 0; i < 2; i++) {
        const double *w = l->side_w[i];
        double move[2] = {w[0] * step[0] + w[1] * step[1], w[1] * step[0] + w[2] * step[1]};
        rg_vec3 p = rg_add_scaled(rg_add_scaled(l->point[i], move[0], b[0]), move[1], b[1]);
        p = rg_add_scaled(p, -rg_dot2(move, xi), axis);
        double radius = rg_patch_radius(&l->patch[i]);
        if (radius > 0)
            off += rg_length_squared(rg_sub(p, l->point[i])) / (2 * radius);
        l->point[i] = p;
    }
    rg_local_distribute(l, q);
    return off;
}

double rg_local_points(const rg_local *l, rg_vec3 y[2]) {
    double excess = 0;
    for (int i = 0; i < 2; i++) {
        y[i] = l->point[i];
        for (int k = 0; k < l->patch[i].flats; k++)
            y[i] = rg_add_scaled(y[i], l->patch[i].along[k], l->patch[i].flat[k]);
        double out = rg_patch_excess(&l->patch[i]);
        /* outside the triangle of the simplex, but perhaps inside its facet: worth a look at all
         * facets if they are few or it is close */
        const rg_polyhedron *p = l->patch[i].surface->polyhedron;
        if (out > 0 && p && (out < CLOSE || p->facet_count <= FEW_FACETS))
            out = fmin(out,
                       rg_length(y[i]) * fmax(0, rg_surface_gauge(l->patch[i].surface, y[i]) - 1));
        excess += out;
    }
    return excess;
}

/* ------------------------------------------------------------------ which patches */

/* The flat end of a cylinder or cone is possible where the normal is steep and all points are on
 * that end, and likely if they are spread over it. */
static bool cap_is_possible(const rg_surface *surface, rg_vec3 n, const rg_witness *w) {
    double along = rg_dot(n, surface->axis);
    for (int k = 1; k < w->count; k++)
        if (w->label[k] != w->label[0])
            return false;
    return rg_surface_has_cap(surface) && along * along > 0.5 * rg_length_squared(n);
}
static bool cap_is_likely(const rg_surface *surface, const rg_witness *w) {
    rg_vec3 mean = {0, 0, 0};
    for (int k = 0; k < w->count; k++)
        mean = rg_add_scaled(mean, w->weight[k], w->point[k]);
    return rg_length(rg_cross(mean, surface->axis)) < 0.98 * surface->radius;
}

bool rg_local_settle(rg_local *l, rg_settle *settle, void *context) {
    for (int tries = 0; tries < 4; tries++) {
        rg_settled settled = settle(context, l);
        if (settled != RG_SETTLED_ASTRAY)
            return settled == RG_SETTLED_CERTIFIED;
        double excess[2] = {rg_patch_excess(&l->patch[0]), rg_patch_excess(&l->patch[1])};
        int worse = excess[1] > excess[0];
        if (!(excess[worse] > 0) || !rg_patch_shrink(&l->patch[worse]))
            return false;
    }
    return false;
}

static bool attempt_on(const rg_surface *side, const rg_witness *w, rg_vec3 n, rg_settle *settle,
                       void *context) {
    int possible = 0, likely = 0;
    for (int i = 0; i < 2; i++)
        if (cap_is_possible(&side[i], n, &w[i])) {
            possible |= 1 << i;
            likely |= (int)cap_is_likely(&side[i], &w[i]) << i;
        }
    for (int change = 0; change < 4; change++) {
        if (change & ~possible)
            continue;
        rg_local l;
        bool made = true;
        for (int i = 0; i < 2; i++)
            made = made && rg_patch_make(&l.patch[i], &side[i], w[i].label, w[i].point, w[i].weight,
                                         w[i].count, (likely ^ change) >> i & 1);
        if (made && rg_local_settle(&l, settle, context))
            return true;
    }
    return false;
}

rg_witness rg_witness_single(uint32_t label, rg_vec3 point) {
    return (rg_witness){.label = {label}, .point = {point}, .weight = {1}, .count = 1};
}

bool rg_local_attempt(const rg_surface *side, const rg_witness *w, const rg_witness *single,
                      rg_vec3 n, rg_settle *settle, void *context) {
    if (attempt_on(side, w, n, settle, context))
        return true;
    for (int i = 0; i < 2 && single; i++) {
        rg_witness one[2] = {w[0], w[1]};
        one[i] = single[i];
        if (w[i].count > 1 && attempt_on(side, one, n, settle, context))
            return true;
    }
    return false;
}
