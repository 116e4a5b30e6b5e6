/* The ratio metric of two boxes.
 *
 * The facets of K = K1 - K2 have at most fifteen pairs of normals: three of each box and the nine
 * cross products of their axes. t = max |n.d| / h(n) over these, in closed form, without branches:
 * n needs no unit length, and the cross products of a coordinate axis with a column of the rotation
 * have no cancellation, however nearly parallel they are.
 *
 * The point where the grown boxes touch: a vertex inside a face, two edges that cross, or, where
 * faces or edges are parallel (a box that rests on another), the middle of their common region, by
 * clipping a face or an edge of one to the face of the other.
 * Tested by tests/narrow/test_ratio.c. */
#include "narrow/narrow_ratio.h"

/* An edge normal must beat the face normals by this (relative): on ties a face is the feature
 * pair. */
#define EDGE_HANDICAP 1e-13
/* Axes whose sine with the plane is below this may lie in the plane of contact. */
#define IN_PLANE 1e-4
/* Heights within this, in units of the boxes' size, are the same. */
#define LEVEL 4e-15

static void components(rg_vec3 v, double out[3]) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static rg_vec3 vector(const double v[3]) {
    return rg_vec3_make(v[0], v[1], v[2]);
}

/* The best of the fifteen: number 0-2 face of 1, 3-5 face of 2, 6 + 3 i + j edges i and j. */
static int best_normal(const double r[3][3], const double p[3], const double q[3],
                       const double d[3], const double e[3]) {
    double most = -1;
    int best = 0;
    for (int i = 0; i < 3; i++) {
        double t = fabs(d[i]) /
                   (p[i] + fabs(r[i][0]) * q[0] + fabs(r[i][1]) * q[1] + fabs(r[i][2]) * q[2]);
        best = t > most ? i : best;
        most = t > most ? t : most;
    }
    for (int j = 0; j < 3; j++) {
        double t = fabs(e[j]) /
                   (q[j] + fabs(r[0][j]) * p[0] + fabs(r[1][j]) * p[1] + fabs(r[2][j]) * p[2]);
        best = t > most ? 3 + j : best;
        most = t > most ? t : most;
    }
    most *= 1 + EDGE_HANDICAP;
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int c = (j + 1) % 3, k = (j + 2) % 3;
            double na = -r[b][j], nb = r[a][j]; /* axis i of 1 x axis j of 2 */
            double reach = fabs(na * d[a] + nb * d[b]);
            double h = fabs(na) * p[a] + fabs(nb) * p[b] +
                       q[c] * fabs(na * r[a][c] + nb * r[b][c]) +
                       q[k] * fabs(na * r[a][k] + nb * r[b][k]);
            bool skew = na * na + nb * nb > RG_PARALLEL_EDGES * RG_PARALLEL_EDGES;
            double t = skew ? reach / h : -1;
            best = t > most ? 6 + 3 * i + j : best;
            most = t > most ? t : most;
        }
    }
    return best;
}

/* ------------------------------------------------------------------ a face of one box */

typedef struct flat {
    double x, y, height;
} flat;

/* Corners of what remains, and room for the next. */
typedef struct polygon {
    flat room[2][12], *corners;
    int count;
} polygon;

/* Sutherland-Hodgman against one side of the face: s x <= limit, or with y. A polygon of two
 * corners is an edge. What lies inside stays where it is. */
static inline void clip(polygon *p, bool by_y, double s, double limit) {
    double inside[12], least = INFINITY;
    flat *in = p->corners, *out = p->room[in == p->room[0]];
    int kept = 0;
    for (int k = 0; k < p->count; k++) {
        inside[k] = limit - s * (by_y ? in[k].y : in[k].x);
        least = inside[k] < least ? inside[k] : least;
    }
    if (least >= 0)
        return;
    for (int k = 0; k < p->count; k++) {
        int next = k + 1 < p->count ? k + 1 : 0;
        flat a = in[k], b = in[next];
        double da = inside[k], db = inside[next];
        if (da >= 0)
            out[kept++] = a;
        if ((da > 0 && db < 0) || (da < 0 && db > 0)) {
            double f = da / (da - db);
            out[kept++] = (flat){a.x + f * (b.x - a.x), a.y + f * (b.y - a.y),
                                 a.height + f * (b.height - a.height)};
        }
    }
    p->corners = out;
    p->count = kept;
}

/* The mean of the corners that are level with the lowest. */
static flat middle_of_lowest(const polygon *p, double size) {
    double low = INFINITY, n = 0;
    flat sum = {0, 0, 0};
    for (int k = 0; k < p->count; k++)
        low = fmin(low, p->corners[k].height);
    for (int k = 0; k < p->count; k++)
        if (p->corners[k].height <= low + LEVEL * size) {
            sum.x += p->corners[k].x;
            sum.y += p->corners[k].y;
            sum.height += p->corners[k].height;
            n++;
        }
    return (flat){sum.x / n, sum.y / n, sum.height / n};
}

/* Two boxes, one of whose faces is towards the other. */
typedef struct facing {
    double p[3], q[3];    /* half sizes */
    const double (*r)[3]; /* columns: axes of the second in the first box's */
    double z[3];          /* from the second's point to the first's */
    int i;                /* axis of the first's face */
    double sign;          /* its side */
    double corner[3];     /* the second's lowest vertex */
    double size;          /* m */
} facing;

/* Their contact: writes the second's point, and returns how far the first's is outside the face. */
static double face_point(const facing *pair, double y2[3]) {
    const double *p = pair->p, *q = pair->q, *z = pair->z, *corner = pair->corner;
    const double(*r)[3] = pair->r;
    double sign = pair->sign, size = pair->size;
    int i = pair->i;
    int a = (i + 1) % 3, b = (i + 2) % 3, in_plane[3], free = 0;
    double base[3] = {corner[0], corner[1], corner[2]};
    for (int j = 0; j < 3; j++)
        if (fabs(r[i][j]) <= IN_PLANE)
            in_plane[free++] = j;
    double outside = fmax(fabs(base[a] + z[a]) - p[a], fabs(base[b] + z[b]) - p[b]);
    bool level = free > 0 && fabs(r[i][in_plane[0]]) * q[in_plane[0]] <= LEVEL * size;
    if (free == 0 || free == 3 || (outside <= 0 && !level)) {
        for (int k = 0; k < 3; k++)
            y2[k] = base[k];
        return fmax(0, outside);
    }
    /* The other corners of the edge or face of the second box that may touch. */
    polygon region;
    flat *corners = region.corners = region.room[0];
    int count = region.count = free == 1 ? 2 : 4;
    double step[2][3] = {{0}};
    for (int f = 0; f < free && f < 2; f++) {
        int j = in_plane[f];
        double along = 0; /* which end the corner is at */
        for (int k = 0; k < 3; k++)
            along += r[k][j] * base[k];
        for (int k = 0; k < 3; k++)
            step[f][k] = (along > 0 ? -2 : 2) * q[j] * r[k][j];
    }
    for (int k = 0; k < count; k++) {
        double f = k == 1 || k == 2, g = k >= 2;
        double at[3];
        for (int m = 0; m < 3; m++)
            at[m] = base[m] + z[m] + f * step[0][m] + g * step[1][m];
        corners[k] = (flat){at[a], at[b], sign * at[i]};
    }
    clip(&region, false, 1, p[a]);
    clip(&region, false, -1, p[a]);
    clip(&region, true, 1, p[b]);
    clip(&region, true, -1, p[b]);
    for (int k = 0; k < 3; k++)
        y2[k] = base[k];
    if (region.count == 0)
        return fmax(0, outside);
    flat lowest = middle_of_lowest(&region, size);
    y2[a] = lowest.x - z[a];
    y2[b] = lowest.y - z[b];
    y2[i] = sign * lowest.height - z[i];
    return 0;
}

/* ------------------------------------------------------------------ answers */

static uint32_t vertex_towards(const double n[3]) {
    return (n[0] < 0 ? 0u : 4u) + (n[1] < 0 ? 0u : 2u) + (n[2] < 0 ? 0u : 1u);
}

/* Facets by axis and sign, in the order of the shape's box: -x -z -y z y x. */
static uint32_t facet_of(int axis, bool positive) {
    static const uint32_t facets[3][2] = {{0, 5}, {2, 4}, {1, 3}};
    return facets[axis][positive];
}

/* side s owns the face of axis i. */
static void answer_face(const rg_ratio_frame *frame, int s, int i, rg_ratio_answer *answer) {
    int o = 1 - s;
    facing pair = {.r = frame->turn[s].m, .i = i, .size = frame->size};
    double *p = pair.p, *z = pair.z, *corner = pair.corner, d[3], y[3], n[3] = {0}, back[3];
    components(frame->solid[s]->centred[7], p);
    components(frame->solid[o]->centred[7], pair.q);
    components(frame->d[s], d);
    double sign = d[i] < 0 ? -1 : 1;
    n[i] = sign;
    for (int j = 0; j < 3; j++)
        back[j] = -sign * frame->turn[s].m[i][j];
    uint32_t vertex = vertex_towards(back);
    components(rg_mat3_apply(&frame->turn[s], frame->solid[o]->centred[vertex]), corner);
    /* z = d / t, with the width from the same corner */
    double width = p[i] - sign * corner[i];
    for (int k = 0; k < 3; k++)
        z[k] = d[k] * (width / fabs(d[i]));
    pair.sign = sign;
    double outside = face_point(&pair, y);
    double mine[3] = {y[0] + z[0], y[1] + z[1], y[2] + z[2]};
    for (int k = 0; k < 3; k++)
        mine[k] = k == i ? sign * p[i] : mine[k];
    uint32_t own = vertex_towards(n), facet = facet_of(i, sign > 0);
    answer->features = s ? (rg_feature_pair){RG_FEATURES_VERTEX_FACE, vertex, facet}
                         : (rg_feature_pair){RG_FEATURES_FACE_VERTEX, facet, vertex};
    rg_ratio_witness found = {vector(n), vector(mine), vector(y), own,   vertex,
                              outside,   p[i],         NAN,       false, {0}};
    if (s == 1)
        found = (rg_ratio_witness){rg_neg(rg_mat3_apply(&frame->turn[0], vector(n))),
                                   rg_mat3_apply(&frame->turn[0], vector(y)),
                                   rg_mat3_apply(&frame->turn[0], vector(mine)),
                                   vertex,
                                   own,
                                   outside,
                                   NAN,
                                   p[i],
                                   false,
                                   {0}};
    rg_ratio_certify(frame, &found, answer);
}

static double clamp(double x, double limit) {
    return x < -limit ? -limit : x > limit ? limit : x;
}

static void answer_edges(const rg_ratio_frame *frame, int i, int j, rg_ratio_answer *answer) {
    double p[3], q[3], n[3], back[3], axis1[3] = {0};
    components(frame->solid[0]->centred[7], p);
    components(frame->solid[1]->centred[7], q);
    const double(*r)[3] = frame->turn[0].m;
    axis1[i] = 1;
    rg_vec3 axis2 = rg_vec3_make(r[0][j], r[1][j], r[2][j]);
    rg_vec3 normal = rg_cross(vector(axis1), axis2);
    if (rg_dot(normal, frame->d[0]) < 0)
        normal = rg_neg(normal);
    components(normal, n);
    components(rg_neg(rg_mat3_apply(&frame->turn[1], normal)), back);
    n[i] = back[j] = -1; /* the lower ends of the edges */
    uint32_t u1 = vertex_towards(n), u2 = vertex_towards(back);
    uint32_t v1 = u1 | 4u >> i, v2 = u2 | 4u >> j;
    /* The middles of the edges, and how far along them. */
    double middle1[3], middle2[3];
    components(frame->solid[0]->centred[u1], middle1);
    components(frame->solid[1]->centred[u2], middle2);
    middle1[i] = middle2[j] = 0;
    rg_vec3 m1 = vector(middle1), m2 = rg_mat3_apply(&frame->turn[0], vector(middle2));
    rg_vec3 base = rg_sub(m1, m2), d = frame->d[0];
    rg_vec3 off = rg_sub(rg_scale(rg_dot(normal, base) / rg_dot(normal, d), d), base);
    rg_vec3 cross = rg_cross(vector(axis1), axis2);
    double area2 = rg_length_squared(cross);
    double alpha = rg_dot(rg_cross(off, axis2), cross) / area2;
    double beta = rg_dot(rg_cross(off, vector(axis1)), cross) / area2;
    if (fabs(alpha) > p[i] || fabs(beta) > q[j]) {
        /* Nearly parallel edges fix only the sum of the two. */
        alpha = clamp(alpha, p[i]);
        beta = clamp(rg_dot(rg_add_scaled(rg_neg(off), alpha, vector(axis1)), axis2), q[j]);
        alpha = clamp(rg_dot(rg_add_scaled(off, beta, axis2), vector(axis1)), p[i]);
    }
    answer->features = (rg_feature_pair){RG_FEATURES_EDGE_EDGE,
                                         rg_ratio_edge_index(&frame->solid[0]->view, u1, v1),
                                         rg_ratio_edge_index(&frame->solid[1]->view, u2, v2)};
    rg_ratio_witness found = {normal,
                              rg_add_scaled(m1, alpha, vector(axis1)),
                              rg_add_scaled(m2, beta, axis2),
                              u1,
                              u2,
                              0,
                              NAN,
                              NAN,
                              false,
                              {0}};
    rg_ratio_certify(frame, &found, answer);
}

rg_status rg_growth_boxes(const rg_pair *pair, rg_growth_cache *cache, rg_growth *growth) {
    rg_ratio_frame frame;
    if (!rg_ratio_frame_make(pair, &frame)) {
        rg_ratio_coincident(pair, &frame, growth);
        return RG_OK;
    }
    double p[3], q[3], d[3], e[3];
    components(frame.solid[0]->centred[7], p);
    components(frame.solid[1]->centred[7], q);
    components(frame.d[0], d);
    components(frame.d[1], e);
    const rg_ratio_frame *view = &frame;
    int best = best_normal(view->turn[0].m, p, q, d, e);
    rg_ratio_answer answer = {.iterations = 1};
    if (best < 6)
        answer_face(&frame, best / 3, best % 3, &answer);
    else
        answer_edges(&frame, (best - 6) / 3, (best - 6) % 3, &answer);
    if (!rg_ratio_accepted(&frame, &answer) || rg_ratio_error(&answer) > RG_RATIO_EXACT) {
        rg_growth other = {0};
        if (rg_growth_polyhedra(pair, NULL, &other) == RG_OK &&
            !(rg_max3(other.primal_error, other.dual_error, other.duality_gap) >=
              rg_ratio_error(&answer))) {
            *growth = other;
            return RG_OK;
        }
    }
    rg_ratio_remember(&answer, cache);
    rg_ratio_deliver(pair, &answer, growth);
    return RG_OK;
}
