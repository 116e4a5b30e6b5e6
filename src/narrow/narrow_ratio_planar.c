/* The ratio metric of two convex polygons in the x-z plane.
 *
 * The portal of narrow_ratio.c in two dimensions: two vertices of K = K1 - K2 on either side of the
 * ray along d; the support along the normal of the segment between them replaces the one on its own
 * side, until it is no farther out. The last segment lies in an edge of K: an edge of one polygon
 * and a vertex of the other, or two parallel edges. A warm start takes the edge of the last feature
 * pair with the support of the other polygon, if the ray still passes between.
 * Tested by tests/narrow/test_ratio.c. */
#include "narrow/narrow_ratio.h"

#define MOST_ITERATIONS 200

typedef rg_ratio_corner corner;

/* Positive if b lies on the side of a to which x turns towards z. */
static double cross(rg_vec3 a, rg_vec3 b) {
    return a.x * b.z - a.z * b.x;
}

static corner support(const rg_ratio_frame *frame, rg_vec3 n, const corner *near) {
    rg_vec3 back = rg_neg(rg_mat3_apply(&frame->turn[1], n));
    double height;
    uint32_t i1, i2;
    if (near) {
        i1 = rg_ratio_climb(frame->solid[0], n, near->i1, &height);
        i2 = rg_ratio_climb(frame->solid[1], back, near->i2, &height);
    } else {
        i1 = rg_solid_support(frame->solid[0], n, NULL);
        i2 = rg_solid_support(frame->solid[1], back, NULL);
    }
    return rg_ratio_corner_of(frame, i1, i2);
}

/* c[0] before the ray, c[1] after it, in the sense of `cross`. */
static bool holds(const corner c[2], rg_vec3 u) {
    return cross(c[0].s, u) >= 0 && cross(u, c[1].s) >= 0 && cross(c[0].s, c[1].s) > 0;
}

static void find_portal(const rg_ratio_frame *frame, rg_vec3 u, corner c[2]) {
    corner first = support(frame, u, NULL);
    bool before = cross(first.s, u) >= 0;
    rg_vec3 aside = before ? rg_vec3_make(-u.z, 0, u.x) : rg_vec3_make(u.z, 0, -u.x);
    corner second = support(frame, aside, NULL);
    c[0] = before ? first : second;
    c[1] = before ? second : first;
}

static bool warm_portal(const rg_ratio_frame *frame, const rg_growth_cache *cache, rg_vec3 u,
                        corner c[2]) {
    if (!cache || !cache->valid)
        return false;
    int s = cache->features.kind == RG_FEATURES_VERTEX_FACE;
    uint32_t facet = s ? cache->features.index2 : cache->features.index1;
    uint32_t guess = s ? cache->features.index1 : cache->features.index2;
    const rg_polyhedron *p = &frame->solid[s]->view;
    if (cache->features.kind == RG_FEATURES_NONE || facet >= p->facet_count ||
        guess >= frame->solid[1 - s]->view.vertex_count)
        return false;
    double height;
    rg_vec3 back = rg_neg(rg_mat3_apply(&frame->turn[1 - s], p->normals[facet]));
    uint32_t vertex = rg_ratio_climb(frame->solid[1 - s], back, guess, &height);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t end = p->facet_vertices[2 * facet + k];
        c[k] = s ? rg_ratio_corner_of(frame, vertex, end) : rg_ratio_corner_of(frame, end, vertex);
    }
    return holds(c, u);
}

static bool refine_portal(const rg_ratio_frame *frame, rg_vec3 u, corner c[2], rg_vec3 *n,
                          uint32_t *iterations) {
    double rounding = RG_RATIO_ROUNDING * frame->size;
    const corner *near = &c[0];
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        rg_vec3 along = rg_sub(rg_sub(c[1].p, c[0].p), rg_sub(c[1].q, c[0].q));
        *n = rg_vec3_make(along.z, 0, -along.x);
        corner s = support(frame, *n, near);
        ++*iterations;
        double gain = rg_dot(*n, rg_sub(rg_sub(s.p, c[0].p), rg_sub(s.q, c[0].q)));
        bool known = (s.i1 == c[0].i1 && s.i2 == c[0].i2) || (s.i1 == c[1].i1 && s.i2 == c[1].i2);
        if (known || gain * gain <= rounding * rounding * rg_length_squared(*n))
            return true;
        int replaced = cross(s.s, u) >= 0 ? 0 : 1;
        c[replaced] = s;
        near = &c[replaced];
    }
    return false;
}

/* Of the two edges at a vertex the one whose normal is nearer to n. */
static uint32_t facet_at(const rg_polyhedron *p, uint32_t vertex, rg_vec3 n) {
    uint32_t before = p->vertex_neighbours[2 * vertex]; /* edge i goes from vertex i to the next */
    return rg_dot(p->normals[vertex], n) >= rg_dot(p->normals[before], n) ? vertex : before;
}

/* The feature pair of a portal and its exact normal. */
static rg_feature_pair features_of_portal(const rg_ratio_frame *frame, const corner c[2], int heavy,
                                          rg_vec3 *n) {
    if (c[0].i1 != c[1].i1) {
        uint32_t facet = facet_at(&frame->solid[0]->view, c[0].i1, *n);
        *n = frame->solid[0]->view.normals[facet];
        return (rg_feature_pair){RG_FEATURES_FACE_VERTEX, facet, c[heavy].i2};
    }
    const rg_polyhedron *p = &frame->solid[1]->view;
    uint32_t facet = facet_at(p, c[0].i2, rg_neg(rg_mat3_apply(&frame->turn[1], *n)));
    *n = rg_neg(rg_mat3_apply(&frame->turn[0], p->normals[facet]));
    return (rg_feature_pair){RG_FEATURES_VERTEX_FACE, c[heavy].i1, facet};
}

static void finish_portal(const rg_ratio_frame *frame, rg_vec3 u, const corner c[2], rg_vec3 n,
                          rg_ratio_answer *answer) {
    double w0 = cross(u, c[1].s), w1 = cross(c[0].s, u), sum = w0 + w1;
    w0 /= sum;
    w1 /= sum;
    int heavy = w1 > w0;
    rg_vec3 y1 = rg_add(rg_scale(w0, c[0].p), rg_scale(w1, c[1].p));
    rg_vec3 y2 = rg_add(rg_scale(w0, c[0].q), rg_scale(w1, c[1].q));
    double outside = fmax(0, fmax(-w0, -w1)) * frame->size;
    rg_ratio_witness found = {n, y1, y2, c[heavy].i1, c[heavy].i2, outside, NAN, NAN, false, {0}};
    answer->features = features_of_portal(frame, c, heavy, &found.n);
    rg_ratio_certify(frame, &found, answer);
    if (rg_ratio_accepted(frame, answer))
        return;
    rg_ratio_answer other = {.features = answer->features, .iterations = answer->iterations};
    found.n = n;
    rg_ratio_certify(frame, &found, &other);
    if (!(rg_ratio_error(&other) >= rg_ratio_error(answer)))
        *answer = other;
}

/* Flat polygons: the end again in twice the precision. */
static void sharpen(const rg_ratio_frame *frame, rg_vec3 u, rg_ratio_answer *answer) {
    corner c[3];
    double weights[3];
    rg_ratio_answer sharp = {.iterations = answer->iterations};
    find_portal(frame, u, c);
    if (!rg_ratio_exact(frame, true, c, weights, &sharp) ||
        !(rg_ratio_error(&sharp) < rg_ratio_error(answer)))
        return;
    rg_vec3 n = sharp.normal;
    sharp.features = features_of_portal(frame, c, weights[1] > weights[0], &n);
    *answer = sharp;
}

rg_status rg_growth_polygons(const rg_pair *pair, rg_growth_cache *cache, rg_growth *growth) {
    rg_ratio_frame frame;
    if (!rg_ratio_frame_make(pair, &frame)) {
        rg_ratio_coincident(pair, &frame, growth);
        return RG_OK;
    }
    rg_vec3 u = rg_normalised(frame.d[0]), n;
    rg_ratio_answer answer = {.primal_error = INFINITY};
    corner c[2];
    if (!warm_portal(&frame, cache, u, c))
        find_portal(&frame, u, c);
    if (refine_portal(&frame, u, c, &n, &answer.iterations))
        finish_portal(&frame, u, c, n, &answer);
    if (!rg_ratio_accepted(&frame, &answer)) {
        rg_ratio_answer last = {0};
        growth->fallback = true;
        if (rg_ratio_seidel(&frame, true, &last) &&
            !(rg_ratio_error(&last) >= rg_ratio_error(&answer)))
            answer = last;
        if (!isfinite(answer.primal_error))
            return RG_ITERATION_LIMIT;
    }
    if (!(rg_ratio_error(&answer) <= RG_RATIO_EXACT))
        sharpen(&frame, u, &answer);
    rg_ratio_remember(&answer, cache);
    rg_ratio_deliver(pair, &answer, growth);
    return RG_OK;
}
