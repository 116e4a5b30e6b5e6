/* The least depth of two polyhedra or polygons.
 *
 * h is linear where one vertex of K is the support, and n.(v - d) > 0 has no minimum inside such a
 * region of the sphere of normals: the least depth is attained at a facet normal of K. These are
 * the facet normals of 1, minus those of 2, and the cross products of two edges whose arcs on the
 * sphere cross (the arc of an edge joins the normals of its two facets; those of 2 are negated).
 * All of them are looked at: along the arc of every edge of 1 the support vertex of 2 is followed
 * from neighbour to neighbour; each change of it is a crossing. An arc along which it does not
 * change costs two supports. So the cost is about the number of facets of K.
 *
 * A crossing is where two vertices of 2 are level: well conditioned even if the edges are almost
 * parallel, when their cross product is not. Exactly parallel edges do not cross, and facets of the
 * same plane are the same facet of K; nothing is special about coincident centres.
 *
 * Two boxes have fifteen such normals, in closed form.
 * Tested by tests/narrow/test_depth.c. */
#include "narrow/narrow_depth.h"
#include "narrow/narrow_ratio.h"

/* Depths this much smaller, in units of the sum of the circumradii, are none: of a facet and a pair
 * of edges that are equally deep the facet is taken. */
#define ROUNDING RG_RATIO_ROUNDING
/* Edges with a sine below this get their normal from the arcs. */
#define NEARLY_PARALLEL 1e-3

typedef struct search {
    rg_ratio_frame frame;
    double best;    /* m: the least depth so far */
    rg_vec3 normal; /* unit, in the axes of side 0, from 1 to 2 */
    rg_feature_pair features;
} search;

static void offer(search *s, double depth, rg_vec3 normal, rg_feature_pair features) {
    s->best = depth;
    s->normal = normal;
    s->features = features;
}

/* ------------------------------------------------------------------ facets and arcs */

static void try_facets(search *s, int side) {
    const rg_solid *own = s->frame.solid[side], *other = s->frame.solid[1 - side];
    uint32_t vertex = 0;
    for (uint32_t f = 0; f < own->view.facet_count; f++) {
        rg_vec3 a = own->view.normals[f];
        rg_vec3 back = rg_neg(rg_mat3_apply(&s->frame.turn[1 - side], a));
        vertex = rg_solid_support(other, back, f ? &vertex : NULL);
        double depth = own->view.offsets[f] + rg_dot(back, other->centred[vertex]) -
                       rg_dot(a, s->frame.d[side]);
        if (depth >= s->best)
            continue;
        if (side == 0)
            offer(s, depth, a, (rg_feature_pair){RG_FEATURES_FACE_VERTEX, f, vertex});
        else
            offer(s, depth, rg_neg(rg_mat3_apply(&s->frame.turn[0], a)),
                  (rg_feature_pair){RG_FEATURES_VERTEX_FACE, vertex, f});
    }
}

/* The normals a + s (b - a), 0 <= s <= 1, of an edge of side 0, and the same as directions of side
 * 1, away from 1. */
typedef struct arc {
    uint32_t edge;
    rg_vec3 a, b, away_a, away_b;
} arc;

/* The neighbour of `vertex` that overtakes it first, from `*at` on; UINT32_MAX if none does. */
static uint32_t overtaken_by(const rg_solid *solid, const arc *w, uint32_t vertex, double *at) {
    const rg_polyhedron *p = &solid->view;
    double soonest = 1, steepest = 0;
    uint32_t next = UINT32_MAX;
    for (uint32_t k = p->vertex_start[vertex]; k < p->vertex_start[vertex + 1]; k++) {
        uint32_t u = p->vertex_neighbours[k];
        rg_vec3 step = rg_sub(solid->centred[u], solid->centred[vertex]);
        double before = rg_dot(w->away_a, step), after = rg_dot(w->away_b, step);
        if (!(after > 0))
            continue;
        double when = before < 0 ? fmax(*at, before / (before - after)) : *at;
        if (when < soonest || (when == soonest && after - before > steepest)) {
            soonest = when;
            steepest = after - before;
            next = u;
        }
    }
    *at = soonest;
    return next;
}

static void try_arc(search *s, const arc *w, uint32_t *hint) {
    const rg_solid *one = s->frame.solid[0], *two = s->frame.solid[1];
    uint32_t first = one->view.edge_vertices[2 * w->edge];
    rg_vec3 arm = rg_sub(one->centred[first], s->frame.d[0]);
    uint32_t vertex = rg_solid_support(two, w->away_a, hint);
    *hint = vertex;
    double at = 0;
    /* Every step raises the vertex along away_b: it ends. */
    for (uint32_t next; (next = overtaken_by(two, w, vertex, &at)) != UINT32_MAX; vertex = next) {
        rg_vec3 n = rg_add_scaled(w->a, at, rg_sub(w->b, w->a));
        rg_vec3 away = rg_add_scaled(w->away_a, at, rg_sub(w->away_b, w->away_a));
        double length = rg_length(n);
        double depth = (rg_dot(n, arm) + rg_dot(away, two->centred[vertex])) / length;
        if (depth < s->best - ROUNDING * s->frame.size)
            offer(s, depth, rg_scale(1 / length, n),
                  (rg_feature_pair){RG_FEATURES_EDGE_EDGE, w->edge,
                                    rg_ratio_edge_index(&two->view, vertex, next)});
    }
}

static void try_edges(search *s) {
    const rg_polyhedron *p = &s->frame.solid[0]->view;
    uint32_t hint = 0;
    for (uint32_t e = 0; e < p->edge_count; e++) {
        rg_vec3 a = p->normals[p->edge_facets[2 * e]], b = p->normals[p->edge_facets[2 * e + 1]];
        arc w = {e, a, b, rg_neg(rg_mat3_apply(&s->frame.turn[1], a)),
                 rg_neg(rg_mat3_apply(&s->frame.turn[1], b))};
        try_arc(s, &w, &hint);
    }
}

/* ------------------------------------------------------------------ boxes */

static void components(rg_vec3 v, double out[3]) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

/* Corners and facets by signs, in the order of the shape's box: facets -x -z -y z y x. */
static uint32_t box_vertex(const double n[3]) {
    return (n[0] < 0 ? 0u : 4u) + (n[1] < 0 ? 0u : 2u) + (n[2] < 0 ? 0u : 1u);
}
static uint32_t box_facet(int axis, bool positive) {
    static const uint32_t facets[3][2] = {{0, 5}, {2, 4}, {1, 3}};
    return facets[axis][positive];
}

static void try_box_facets(search *s, int side, const double p[3], const double q[3]) {
    const rg_ratio_frame *frame = &s->frame;
    const double(*r)[3] = frame->turn[side].m;
    double d[3];
    components(s->frame.d[side], d);
    for (int i = 0; i < 3; i++) {
        double depth =
            p[i] + fabs(r[i][0]) * q[0] + fabs(r[i][1]) * q[1] + fabs(r[i][2]) * q[2] - fabs(d[i]);
        if (depth >= s->best)
            continue;
        double sign = d[i] < 0 ? -1 : 1, n[3] = {0, 0, 0};
        double back[3] = {-sign * r[i][0], -sign * r[i][1], -sign * r[i][2]};
        n[i] = sign;
        uint32_t facet = box_facet(i, sign > 0), vertex = box_vertex(back);
        if (side == 0)
            offer(s, depth, rg_vec3_make(n[0], n[1], n[2]),
                  (rg_feature_pair){RG_FEATURES_FACE_VERTEX, facet, vertex});
        else
            offer(s, depth, rg_vec3_make(back[0], back[1], back[2]),
                  (rg_feature_pair){RG_FEATURES_VERTEX_FACE, vertex, facet});
    }
}

/* The edges of axes i and j that a normal (not of unit length, on the side of d) selects. */
static rg_feature_pair box_edges(const search *s, int i, int j, rg_vec3 normal) {
    double n[3], back[3];
    components(normal, n);
    components(rg_neg(rg_mat3_apply(&s->frame.turn[1], normal)), back);
    n[i] = back[j] = -1;
    uint32_t u = box_vertex(n), v = box_vertex(back);
    return (rg_feature_pair){RG_FEATURES_EDGE_EDGE,
                             rg_ratio_edge_index(&s->frame.solid[0]->view, u, u | 4u >> i),
                             rg_ratio_edge_index(&s->frame.solid[1]->view, v, v | 4u >> j)};
}

static void try_box_edges(search *s, const double p[3], const double q[3]) {
    const rg_ratio_frame *frame = &s->frame;
    const double(*r)[3] = frame->turn[0].m;
    double d[3];
    components(s->frame.d[0], d);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, k = (j + 2) % 3;
            double na = -r[b][j], nb = r[a][j], square = na * na + nb * nb;
            if (!(square > RG_PARALLEL_EDGES * RG_PARALLEL_EDGES))
                continue;
            double reach = na * d[a] + nb * d[b];
            double h = fabs(na) * p[a] + fabs(nb) * p[b] +
                       q[c] * fabs(na * r[a][c] + nb * r[b][c]) +
                       q[k] * fabs(na * r[a][k] + nb * r[b][k]);
            double depth = (h - fabs(reach)) / sqrt(square);
            if (depth >= s->best - ROUNDING * s->frame.size)
                continue;
            double n[3] = {0, 0, 0}, unit = (reach < 0 ? -1 : 1) / sqrt(square);
            n[a] = unit * na;
            n[b] = unit * nb;
            rg_vec3 normal = rg_vec3_make(n[0], n[1], n[2]);
            offer(s, depth, normal, box_edges(s, i, j, normal));
        }
}

/* ------------------------------------------------------------------ the answer */

/* The depth along a unit normal by supports of both. */
static double depth_along(const search *s, rg_vec3 n) {
    const rg_solid *one = s->frame.solid[0], *two = s->frame.solid[1];
    rg_vec3 back = rg_neg(rg_mat3_apply(&s->frame.turn[1], n));
    uint32_t u = rg_solid_support(one, n, NULL), v = rg_solid_support(two, back, NULL);
    return rg_dot(n, one->centred[u]) + rg_dot(back, two->centred[v]) - rg_dot(n, s->frame.d[0]);
}

typedef struct two_edges {
    rg_vec3 p, q, e1, e2, cross; /* in the axes of side 0, q relative to the centre of side 0 */
} two_edges;

static two_edges edges_of(const search *s) {
    const rg_solid *one = s->frame.solid[0], *two = s->frame.solid[1];
    const uint32_t *v1 = one->view.edge_vertices + 2 * s->features.index1,
                   *v2 = two->view.edge_vertices + 2 * s->features.index2;
    two_edges e = {
        .p = one->centred[v1[0]],
        .q = rg_add(s->frame.d[0], rg_mat3_apply(&s->frame.turn[0], two->centred[v2[0]]))};
    e.e1 = rg_sub(one->centred[v1[1]], e.p);
    e.e2 = rg_mat3_apply(&s->frame.turn[0], rg_sub(two->centred[v2[1]], two->centred[v2[0]]));
    e.cross = rg_cross(e.e1, e.e2);
    return e;
}

/* Edges that are far from parallel have a better normal in their cross product. */
static void sharpen(search *s) {
    if (s->features.kind == RG_FEATURES_EDGE_EDGE) {
        two_edges e = edges_of(s);
        double sine = rg_length(e.cross);
        if (sine > NEARLY_PARALLEL * rg_length(e.e1) * rg_length(e.e2))
            s->normal = rg_scale((rg_dot(e.cross, s->normal) < 0 ? -1 : 1) / sine, e.cross);
    }
    s->best = depth_along(s, s->normal);
}

/* Points of the feature, one straight along the normal from the other; axes of side 0. */
static void find_points(const search *s, rg_vec3 *on1, rg_vec3 *on2) {
    const rg_solid *one = s->frame.solid[0], *two = s->frame.solid[1];
    if (s->features.kind == RG_FEATURES_FACE_VERTEX) {
        *on2 = rg_add(s->frame.d[0],
                      rg_mat3_apply(&s->frame.turn[0], two->centred[s->features.index2]));
        *on1 = rg_add_scaled(*on2, s->best, s->normal);
        return;
    }
    *on1 = one->centred[s->features.index1];
    if (s->features.kind == RG_FEATURES_EDGE_EDGE) {
        two_edges e = edges_of(s);
        double alpha =
            rg_dot(rg_cross(rg_sub(e.q, e.p), e.e2), e.cross) / rg_length_squared(e.cross);
        *on1 = rg_add_scaled(e.p, fmin(fmax(alpha, 0), 1), e.e1);
    }
    *on2 = rg_add_scaled(*on1, -s->best, s->normal);
}

void rg_depth_polyhedra(const rg_pair *pair, rg_depth *depth) {
    search s = {.best = INFINITY};
    rg_ratio_frame_make(pair, &s.frame);
    const rg_shape *shape1 = pair->side[0].shape, *shape2 = pair->side[1].shape;
    if (shape1->kind == RG_SHAPE_BOX && shape2->kind == RG_SHAPE_BOX) {
        double p[3], q[3];
        components(s.frame.solid[0]->centred[7], p);
        components(s.frame.solid[1]->centred[7], q);
        try_box_facets(&s, 0, p, q);
        try_box_facets(&s, 1, q, p);
        try_box_edges(&s, p, q);
    } else {
        try_facets(&s, 0);
        try_facets(&s, 1);
        if (!shape1->planar)
            try_edges(&s);
        sharpen(&s);
    }
    rg_vec3 on1, on2;
    find_points(&s, &on1, &on2);
    const rg_mat3 *turn = &pair->side[0].rotation;
    *depth = (rg_depth){.depth = s.best,
                        .at_least = s.best,
                        .normal = rg_mat3_apply(turn, s.normal),
                        .on1 = rg_mat3_apply(turn, on1),
                        .on2 = rg_mat3_apply(turn, on2),
                        .features = s.features};
}

/* ------------------------------------------------------------------ without a search */

/* K holds a disc of radius `room` about d + depth n in the plane of its facet, and a ball of radius
 * r about 0. Let `aside` be the length of d across n. For a unit normal at an angle up to 90
 * degrees to n the disc alone gives a depth of at least min(depth, room); beyond, the combination
 * of disc and ball in which what is across n cancels gives at least r room / (room + aside). */
static bool is_least(double depth, double room, double aside, double r) {
    return depth <= room && depth * (room + aside) <= r * room;
}

static double across(rg_vec3 d, rg_vec3 n) {
    return rg_length(rg_add_scaled(d, -rg_dot(n, d), n));
}

static bool is_least_face(const search *s, int side, uint32_t facet, uint32_t vertex) {
    const rg_polyhedron *p = &s->frame.solid[side]->view;
    rg_vec3 a = p->normals[facet], d = s->frame.d[side];
    rg_vec3 at =
        rg_add(d, rg_mat3_apply(&s->frame.turn[side], s->frame.solid[1 - side]->centred[vertex]));
    at = rg_add_scaled(at, p->offsets[facet] - rg_dot(a, at), a);
    double room = INFINITY;
    for (uint32_t k = p->facet_start[facet]; k < p->facet_start[facet + 1]; k++) {
        uint32_t g = p->facet_neighbours[k];
        room = fmin(room, p->offsets[g] - rg_dot(p->normals[g], at));
    }
    double r = s->frame.solid[0]->inradius + s->frame.solid[1]->inradius;
    return room > 0 && is_least(s->best, room, across(d, a), r);
}

static bool is_least_edges(const search *s) {
    two_edges e = edges_of(s);
    double area = rg_length(e.cross), square = area * area;
    if (!(area > 0))
        return false;
    rg_vec3 apart = rg_sub(e.q, e.p);
    double alpha = rg_dot(rg_cross(apart, e.e2), e.cross) / square,
           beta = rg_dot(rg_cross(apart, e.e1), e.cross) / square;
    /* distances from the sides of the parallelogram */
    double room = fmin(fmin(alpha, 1 - alpha) * area / rg_length(e.e2),
                       fmin(beta, 1 - beta) * area / rg_length(e.e1));
    double r = s->frame.solid[0]->inradius + s->frame.solid[1]->inradius;
    return room > 0 &&
           is_least(s->best, room, across(s->frame.d[0], rg_scale(1 / area, e.cross)), r);
}

bool rg_depth_is_growth(const rg_pair *pair, const rg_growth *growth) {
    search s = {.best = -growth->gap, .features = growth->features};
    rg_ratio_frame_make(pair, &s.frame);
    uint32_t i = growth->features.index1, j = growth->features.index2;
    switch (growth->features.kind) {
    case RG_FEATURES_FACE_VERTEX:
        return is_least_face(&s, 0, i, j);
    case RG_FEATURES_VERTEX_FACE:
        return is_least_face(&s, 1, j, i);
    case RG_FEATURES_EDGE_EDGE:
        return is_least_edges(&s);
    default:
        return false;
    }
}
