/* The ratio metric of two convex polyhedra.
 *
 * Problem: min t such that both bodies, grown by t about their centres, touch (Hart & Anitescu
 * 2010, the linear program (2.3)); by duality t = max n.d / h(n), h(n) = h1(n) + h2(-n): the ray
 * along d leaves K = K1 - K2 through the facet with normal n. Three methods, each certified before
 * it is believed, each the fallback of the one before:
 *
 * - walk (narrow_ratio_walk.c): over the facets of K, from the feature pair of the last query or,
 *   cold, from the answer for the two ellipsoids that have the bodies' inertia;
 * - portal: the dual simplex method, with supports of the bodies as the pricing: three vertices of
 *   K whose triangle the ray passes through; the support along the triangle's normal replaces one
 *   of them until it is no farther out; parallel features do not trouble it;
 * - Seidel (narrow_seidel.c): the linear program over all facets; growth.fallback tells.
 *
 * The normal of the answer is recomputed from the feature pair: a facet's own normal, or the cross
 * product of two edges. The certificate has formulas of its own: y1 and y2 are points of the bodies
 * on the ray (so t <= |d| / |y1 - y2|), and supports climbed along +-n give n.d / h(n) <= t. Where
 * h(n) is so far below the bodies' size that double precision does not certify t to 1e-12, the end
 * is computed again in twice the precision (narrow_ratio_exact.c).
 *
 * How it fails: RG_ITERATION_LIMIT if none of the three ends, which no input is known to cause. */
#include "narrow/narrow_ratio.h"

#define MOST_ITERATIONS 200
/* Centres nearer than this, in units of the bodies' size, have no direction between them. */
#define COINCIDENT 1e-100

/* ------------------------------------------------------------------ frame and certificate */

bool rg_ratio_frame_make(const rg_pair *pair, rg_ratio_frame *frame) {
    const rg_side *one = &pair->side[0], *two = &pair->side[1];
    frame->solid[0] = &one->shape->solid;
    frame->solid[1] = &two->shape->solid;
    const double(*a)[3] = one->rotation.m, (*b)[3] = two->rotation.m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            frame->turn[0].m[i][j] = frame->turn[1].m[j][i] =
                a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j];
    rg_vec3 d = pair->d;
    frame->d[0] = rg_vec3_make(a[0][0] * d.x + a[1][0] * d.y + a[2][0] * d.z,
                               a[0][1] * d.x + a[1][1] * d.y + a[2][1] * d.z,
                               a[0][2] * d.x + a[1][2] * d.y + a[2][2] * d.z);
    frame->d[1] = rg_neg(rg_mat3_apply(&frame->turn[1], frame->d[0]));
    frame->size = one->shape->circumradius + two->shape->circumradius;
    return rg_largest_entry(frame->d[0]) > COINCIDENT * frame->size;
}

/* Whether `vertex`, which beats its neighbours, has at most one of them on its level (an edge), and
 * nothing beyond that one is level with both. */
static bool is_summit(const rg_solid *solid, rg_vec3 c, uint32_t vertex, double level) {
    const uint32_t *start = solid->view.vertex_start, *neighbours = solid->view.vertex_neighbours;
    uint32_t other = vertex;
    for (uint32_t k = start[vertex]; k < start[vertex + 1]; k++)
        if (rg_dot(c, solid->centred[neighbours[k]]) >= level) {
            if (other != vertex)
                return false;
            other = neighbours[k];
        }
    for (uint32_t k = start[other]; other != vertex && k < start[other + 1]; k++)
        if (neighbours[k] != vertex && rg_dot(c, solid->centred[neighbours[k]]) >= level)
            return false;
    return true;
}

/* Whether all neighbours of a vertex but one are below a level. */
static bool is_above(const rg_solid *solid, rg_vec3 c, uint32_t vertex, uint32_t but,
                     double level) {
    const uint32_t *start = solid->view.vertex_start, *neighbours = solid->view.vertex_neighbours;
    for (uint32_t k = start[vertex], end = start[vertex + 1]; k < end; k++)
        if (neighbours[k] != but && rg_dot(c, solid->centred[neighbours[k]]) >= level)
            return false;
    return true;
}

/* The highest vertex along a unit vector, plateaus and all. Along the normal of an edge both its
 * ends, `guess` and `other`, are level, and what climbing would find is looked at directly. */
static uint32_t summit(const rg_solid *solid, rg_vec3 c, uint32_t guess, const uint32_t *other,
                       double *height) {
    double second, slack = RG_RATIO_PLATEAU * solid->circumradius;
    if (other) {
        uint32_t partner = *other;
        double here = rg_dot(c, solid->centred[guess]), there = rg_dot(c, solid->centred[partner]);
        *height = there > here ? there : here;
        double level = *height - slack;
        if (here >= level && there >= level && is_above(solid, c, guess, partner, level) &&
            is_above(solid, c, partner, guess, level))
            return there > here ? partner : guess;
    }
    guess = rg_ratio_climb_to(solid, c, guess, height, &second);
    if (*height - second > slack || is_summit(solid, c, guess, *height - slack))
        return guess;
    guess = rg_solid_support(solid, c, &guess);
    *height = rg_dot(c, solid->centred[guess]);
    return guess;
}

void rg_ratio_certify(const rg_ratio_frame *frame, const rg_ratio_witness *witness,
                      rg_ratio_answer *answer) {
    rg_vec3 n = rg_scale(1 / sqrt(rg_length_squared(witness->n)), witness->n);
    rg_vec3 y1 = witness->y1, y2 = witness->y2;
    uint32_t guess1 = witness->guess1, guess2 = witness->guess2;
    double height1 = witness->height1, height2 = witness->height2;
    if (!(height1 == height1))
        guess1 = summit(frame->solid[0], n, guess1, witness->edges ? &witness->other[0] : NULL,
                        &height1);
    if (!(height2 == height2))
        guess2 = summit(frame->solid[1], rg_neg(rg_mat3_apply(&frame->turn[1], n)), guess2,
                        witness->edges ? &witness->other[1] : NULL, &height2);
    answer->vertex1 = guess1;
    answer->vertex2 = guess2;
    rg_vec3 d = frame->d[0], z = rg_sub(y1, y2);
    double h = height1 + height2, dual = rg_dot(n, d) / h;
    double primal = rg_dot(d, d) / rg_dot(d, z);
    /* Across d only: along it, the difference is the duality gap. */
    rg_vec3 off = rg_add_scaled(z, -1 / primal, d);
    answer->normal = n;
    answer->width = h;
    answer->ratio = dual;
    answer->y1 = y1;
    answer->y2 = y2;
    answer->primal_error = (witness->outside + sqrt(rg_length_squared(off))) / h;
    answer->dual_error = fmax(0, (h - rg_dot(n, z)) / h);
    answer->duality_gap = fabs(primal - dual) / dual;
}

double rg_ratio_error(const rg_ratio_answer *answer) {
    return rg_max3(answer->primal_error, answer->dual_error, answer->duality_gap);
}

bool rg_ratio_accepted(const rg_ratio_frame *frame, const rg_ratio_answer *answer) {
    return rg_ratio_error(answer) * answer->width <= RG_RATIO_ACCEPT * frame->size;
}

void rg_ratio_remember(const rg_ratio_answer *answer, rg_growth_cache *cache) {
    if (cache)
        *cache = (rg_growth_cache){.valid = 1,
                                   .features = answer->features,
                                   .vertex1 = answer->vertex1,
                                   .vertex2 = answer->vertex2,
                                   .normal1 = answer->normal};
}

void rg_ratio_deliver(const rg_pair *pair, const rg_ratio_answer *answer, rg_growth *growth) {
    const rg_mat3 *r = &pair->side[0].rotation;
    growth->ratio = answer->ratio;
    growth->width = answer->width;
    growth->features = answer->features;
    growth->normal = rg_mat3_apply(r, answer->normal);
    growth->point = rg_mat3_apply(r, rg_scale(answer->ratio, answer->y1));
    growth->primal_error = answer->primal_error;
    growth->dual_error = answer->dual_error;
    growth->duality_gap = answer->duality_gap;
    growth->iterations = answer->iterations;
}

uint32_t rg_ratio_edge_index(const rg_polyhedron *p, uint32_t u, uint32_t v) {
    uint64_t key = u < v ? (uint64_t)u << 32 | v : (uint64_t)v << 32 | u;
    uint32_t low = 0, high = p->edge_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t here =
            (uint64_t)p->edge_vertices[2 * middle] << 32 | p->edge_vertices[2 * middle + 1];
        low = here <= key ? middle : low;
        high = here <= key ? high : middle;
    }
    return low;
}

/* The smallest width among the facets of side s, from `best` down. */
static void narrowest_facet(const rg_ratio_frame *frame, int s, rg_ratio_answer *best) {
    const rg_polyhedron *p = &frame->solid[s]->view;
    const rg_solid *other = frame->solid[1 - s];
    uint32_t hint = 0;
    for (uint32_t f = 0; f < p->facet_count; f++) {
        rg_vec3 c = rg_neg(rg_mat3_apply(&frame->turn[1 - s], p->normals[f]));
        hint = rg_solid_support(other, c, &hint);
        double width = p->offsets[f] + rg_dot(c, other->centred[hint]);
        if (!(width < best->width))
            continue;
        best->width = width;
        best->normal = s ? rg_neg(rg_mat3_apply(&frame->turn[0], p->normals[f])) : p->normals[f];
        best->features = s ? (rg_feature_pair){RG_FEATURES_VERTEX_FACE, hint, f}
                           : (rg_feature_pair){RG_FEATURES_FACE_VERTEX, f, hint};
    }
}

void rg_ratio_coincident(const rg_pair *pair, const rg_ratio_frame *frame, rg_growth *growth) {
    rg_ratio_answer best = {.width = INFINITY, .iterations = 1};
    narrowest_facet(frame, 0, &best);
    narrowest_facet(frame, 1, &best);
    rg_ratio_deliver(pair, &best, growth);
}

/* ------------------------------------------------------------------ portal */

typedef rg_ratio_corner corner;

/* The vertex of K farthest along n. */
static corner support(const rg_ratio_frame *frame, rg_vec3 n, const corner *near) {
    rg_vec3 back = rg_neg(rg_mat3_apply(&frame->turn[1], n));
    return rg_ratio_corner_of(frame, rg_solid_support(frame->solid[0], n, near ? &near->i1 : NULL),
                              rg_solid_support(frame->solid[1], back, near ? &near->i2 : NULL));
}

static double triple(rg_vec3 a, rg_vec3 b, rg_vec3 c) {
    return rg_dot(a, rg_cross(b, c));
}

static rg_vec3 any_perpendicular(rg_vec3 u) {
    double x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
    rg_vec3 axis = x <= y && x <= z ? rg_vec3_make(1, 0, 0)
                   : y <= z         ? rg_vec3_make(0, 1, 0)
                                    : rg_vec3_make(0, 0, 1);
    return rg_cross(u, axis);
}

/* Three vertices of K, in positive order, whose cone from the origin holds u. */
static bool find_portal(const rg_ratio_frame *frame, rg_vec3 u, corner c[3]) {
    c[0] = support(frame, u, NULL);
    rg_vec3 n = rg_cross(c[0].s, u);
    if (rg_length_squared(n) <= 1e-24 * rg_length_squared(c[0].s))
        n = any_perpendicular(u); /* the ray goes through this vertex */
    c[1] = support(frame, n, NULL);
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        n = rg_cross(c[0].s, c[1].s);
        if (rg_dot(n, u) < 0) {
            corner swap = c[0];
            c[0] = c[1];
            c[1] = swap;
            n = rg_neg(n);
        }
        c[2] = support(frame, n, NULL);
        if (triple(c[1].s, c[2].s, u) < 0)
            c[0] = c[2];
        else if (triple(c[2].s, c[0].s, u) < 0)
            c[1] = c[2];
        else
            return true;
    }
    return false;
}

/* Replaces corners by supports until none is farther; n gets the normal of the last triangle. */
static bool refine_portal(const rg_ratio_frame *frame, rg_vec3 u, corner c[3], rg_vec3 *n,
                          uint32_t *iterations) {
    double rounding = RG_RATIO_ROUNDING * frame->size;
    const corner *near = &c[0];
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        /* Differences within each body first: the bodies may differ in size by any factor. */
        rg_vec3 a = rg_sub(rg_sub(c[1].p, c[0].p), rg_sub(c[1].q, c[0].q));
        rg_vec3 b = rg_sub(rg_sub(c[2].p, c[0].p), rg_sub(c[2].q, c[0].q));
        *n = rg_cross(a, b);
        corner s = support(frame, *n, near);
        ++*iterations;
        double gain = rg_dot(*n, rg_sub(rg_sub(s.p, c[0].p), rg_sub(s.q, c[0].q)));
        bool known = false;
        for (int k = 0; k < 3; k++)
            known = known || (s.i1 == c[k].i1 && s.i2 == c[k].i2);
        if (known || gain * gain <= rounding * rounding * rg_length_squared(*n))
            return true;
        rg_vec3 split = rg_cross(u, s.s);
        double e0 = rg_dot(c[0].s, split), e1 = rg_dot(c[1].s, split), e2 = rg_dot(c[2].s, split);
        int drop = e0 >= 0 && e1 <= 0 ? 2 : e1 >= 0 && e2 <= 0 ? 0 : 1;
        c[drop] = s;
        near = &c[drop];
    }
    return false;
}

/* The facet at a vertex whose normal is nearest to n. */
static uint32_t facet_at(const rg_solid *solid, uint32_t vertex, rg_vec3 n) {
    const rg_polyhedron *p = &solid->view;
    uint32_t best = solid->vertex_facets[p->vertex_start[vertex]];
    double most = -INFINITY;
    for (uint32_t k = p->vertex_start[vertex]; k < p->vertex_start[vertex + 1]; k++) {
        double here = rg_dot(p->normals[solid->vertex_facets[k]], n);
        if (here > most) {
            most = here;
            best = solid->vertex_facets[k];
        }
    }
    return best;
}

static bool are_neighbours(const rg_polyhedron *p, uint32_t u, uint32_t v) {
    for (uint32_t k = p->vertex_start[u]; k < p->vertex_start[u + 1]; k++)
        if (p->vertex_neighbours[k] == v)
            return true;
    return false;
}

/* How many of three indices differ; pair[0] and pair[1] get the places of two that do. */
static int distinct(uint32_t a, uint32_t b, uint32_t c, int pair[2]) {
    pair[0] = 0;
    pair[1] = a != b ? 1 : 2;
    return a == b && b == c ? 1 : a != b && b != c && a != c ? 3 : 2;
}

/* The feature pair of a portal and its normal. `heaviest` is the corner with the largest weight. */
static rg_feature_pair features_of_portal(const rg_ratio_frame *frame, const corner c[3],
                                          int heaviest, rg_vec3 *n) {
    int pair1[2], pair2[2];
    int count1 = distinct(c[0].i1, c[1].i1, c[2].i1, pair1);
    int count2 = distinct(c[0].i2, c[1].i2, c[2].i2, pair2);
    const rg_solid *one = frame->solid[0], *two = frame->solid[1];
    uint32_t u1 = c[pair1[0]].i1, v1 = c[pair1[1]].i1, u2 = c[pair2[0]].i2, v2 = c[pair2[1]].i2;
    if (count1 == 2 && count2 == 2 && are_neighbours(&one->view, u1, v1) &&
        are_neighbours(&two->view, u2, v2)) {
        rg_vec3 cross =
            rg_cross(rg_sub(c[pair1[1]].p, c[pair1[0]].p), rg_sub(c[pair2[1]].q, c[pair2[0]].q));
        *n = rg_dot(cross, *n) < 0 ? rg_neg(cross) : cross;
        return (rg_feature_pair){RG_FEATURES_EDGE_EDGE, rg_ratio_edge_index(&one->view, u1, v1),
                                 rg_ratio_edge_index(&two->view, u2, v2)};
    }
    if (count1 == 3 || (count2 < 3 && !are_neighbours(&one->view, u1, v1))) {
        uint32_t facet = facet_at(one, u1, *n);
        *n = one->view.normals[facet];
        return (rg_feature_pair){RG_FEATURES_FACE_VERTEX, facet, c[heaviest].i2};
    }
    uint32_t facet = facet_at(two, u2, rg_neg(rg_mat3_apply(&frame->turn[1], *n)));
    *n = rg_neg(rg_mat3_apply(&frame->turn[0], two->view.normals[facet]));
    return (rg_feature_pair){RG_FEATURES_VERTEX_FACE, c[heaviest].i1, facet};
}

/* From a refined portal to the answer. */
static void finish_portal(const rg_ratio_frame *frame, rg_vec3 u, const corner c[3], rg_vec3 n,
                          rg_ratio_answer *answer) {
    double weight[3] = {triple(u, c[1].s, c[2].s), triple(u, c[2].s, c[0].s),
                        triple(u, c[0].s, c[1].s)};
    double sum = weight[0] + weight[1] + weight[2], outside = 0;
    rg_vec3 y1 = {0, 0, 0}, y2 = {0, 0, 0};
    int heaviest = 0;
    for (int i = 0; i < 3; i++) {
        weight[i] /= sum;
        outside = fmax(outside, -weight[i]);
        heaviest = weight[i] > weight[heaviest] ? i : heaviest;
        y1 = rg_add_scaled(y1, weight[i], c[i].p);
        y2 = rg_add_scaled(y2, weight[i], c[i].q);
    }
    outside *= frame->size;
    rg_ratio_witness found = {.n = n,
                              .y1 = y1,
                              .y2 = y2,
                              .guess1 = c[heaviest].i1,
                              .guess2 = c[heaviest].i2,
                              .outside = outside,
                              .height1 = NAN,
                              .height2 = NAN};
    rg_feature_pair features = features_of_portal(frame, c, heaviest, &found.n);
    answer->features = features;
    rg_ratio_certify(frame, &found, answer);
    if (rg_ratio_accepted(frame, answer))
        return;
    /* Nearly parallel features: the triangle's own normal may be better. */
    rg_ratio_answer other = {.features = features, .iterations = answer->iterations};
    found.n = n;
    rg_ratio_certify(frame, &found, &other);
    if (rg_ratio_error(&other) < rg_ratio_error(answer))
        *answer = other;
}

static bool solve_by_portal(const rg_ratio_frame *frame, rg_ratio_answer *answer) {
    rg_vec3 u = rg_normalised(frame->d[0]), n;
    corner c[3];
    if (!find_portal(frame, u, c) || !refine_portal(frame, u, c, &n, &answer->iterations))
        return false;
    finish_portal(frame, u, c, n, answer);
    if (rg_ratio_accepted(frame, answer))
        return true;
    /* A sliver of a triangle: its feature pair is the right one or next to it, and needs no
     * triangle. */
    rg_ratio_answer walked = {.iterations = answer->iterations};
    if (!rg_ratio_walk(frame, answer->features, &walked))
        return false;
    *answer = walked;
    return true;
}

/* Flat bodies: the end again in twice the precision. Keeps the answer if that fails. */
static void sharpen(const rg_ratio_frame *frame, rg_ratio_answer *answer) {
    corner c[3];
    double weights[3];
    rg_ratio_answer sharp = {.iterations = answer->iterations};
    if (!find_portal(frame, rg_normalised(frame->d[0]), c) ||
        !rg_ratio_exact(frame, false, c, weights, &sharp) ||
        !(rg_ratio_error(&sharp) < rg_ratio_error(answer)))
        return;
    int heaviest = weights[1] > weights[0] ? 1 : 0;
    heaviest = weights[2] > weights[heaviest] ? 2 : heaviest;
    for (int i = 0; i < 3; i++)
        c[i] = rg_ratio_corner_of(frame, c[i].i1, c[i].i2);
    rg_vec3 n = sharp.normal;
    sharp.features = features_of_portal(frame, c, heaviest, &n);
    *answer = sharp;
}

/* ------------------------------------------------------------------ cold start */

/* Symmetric: xx yy zz yz zx xy. */
typedef struct form {
    double xx, yy, zz, yz, zx, xy;
} form;

/* The ellipsoid of the same inertia: its support function is sqrt(n.Qn). */
static form ellipsoid_of(const rg_shape *shape) {
    const double(*i)[3] = shape->unit.inertia.m;
    double s = 2.5 / shape->unit.mass, t = -2 * s;
    return (form){s * (i[1][1] + i[2][2] - i[0][0]),
                  s * (i[2][2] + i[0][0] - i[1][1]),
                  s * (i[0][0] + i[1][1] - i[2][2]),
                  t * i[1][2],
                  t * i[2][0],
                  t * i[0][1]};
}

/* R Q R^T */
static form turned(const form *q, const rg_mat3 *rotation) {
    rg_vec3 row[3], image[3];
    for (int i = 0; i < 3; i++) {
        row[i] = rg_vec3_make(rotation->m[i][0], rotation->m[i][1], rotation->m[i][2]);
        image[i] = rg_vec3_make(q->xx * row[i].x + q->xy * row[i].y + q->zx * row[i].z,
                                q->xy * row[i].x + q->yy * row[i].y + q->yz * row[i].z,
                                q->zx * row[i].x + q->yz * row[i].y + q->zz * row[i].z);
    }
    return (form){rg_dot(row[0], image[0]), rg_dot(row[1], image[1]), rg_dot(row[2], image[2]),
                  rg_dot(row[1], image[2]), rg_dot(row[2], image[0]), rg_dot(row[0], image[1])};
}

static double value_of(const form *q, rg_vec3 n) {
    return q->xx * n.x * n.x + q->yy * n.y * n.y + q->zz * n.z * n.z +
           2 * (q->yz * n.y * n.z + q->zx * n.z * n.x + q->xy * n.x * n.y);
}

/* The normal for the two ellipsoids of inertia, nearly: d is parallel to Q1 n / h1 + Q2 n / h2. */
static rg_vec3 guess_normal(const rg_pair *pair, const rg_ratio_frame *frame) {
    form a = ellipsoid_of(pair->side[0].shape), b = ellipsoid_of(pair->side[1].shape);
    b = turned(&b, &frame->turn[0]);
    rg_vec3 d = frame->d[0], n = d;
    for (int i = 0; i < 2; i++) {
        double ha = 1 / sqrt(value_of(&a, n)), hb = 1 / sqrt(value_of(&b, n));
        form s = {ha * a.xx + hb * b.xx, ha * a.yy + hb * b.yy, ha * a.zz + hb * b.zz,
                  ha * a.yz + hb * b.yz, ha * a.zx + hb * b.zx, ha * a.xy + hb * b.xy};
        /* adj(S) d, parallel to S^-1 d */
        double xx = s.yy * s.zz - s.yz * s.yz, yy = s.zz * s.xx - s.zx * s.zx,
               zz = s.xx * s.yy - s.xy * s.xy, yz = s.zx * s.xy - s.xx * s.yz,
               zx = s.xy * s.yz - s.yy * s.zx, xy = s.yz * s.zx - s.zz * s.xy;
        n = rg_vec3_make(xx * d.x + xy * d.y + zx * d.z, xy * d.x + yy * d.y + yz * d.z,
                         zx * d.x + yz * d.y + zz * d.z);
    }
    return n;
}

static bool solve_by_guess(const rg_pair *pair, const rg_ratio_frame *frame,
                           rg_ratio_answer *answer) {
    rg_vec3 n = guess_normal(pair, frame);
    uint32_t i1 = rg_solid_support(frame->solid[0], n, NULL);
    uint32_t i2 =
        rg_solid_support(frame->solid[1], rg_neg(rg_mat3_apply(&frame->turn[1], n)), NULL);
    rg_feature_pair start = {RG_FEATURES_FACE_VERTEX, facet_at(frame->solid[0], i1, n), i2};
    return rg_ratio_walk(frame, start, answer);
}

/* ------------------------------------------------------------------ polyhedra */

static void remember(const rg_ratio_answer *answer, rg_growth_cache *cache) {
    cache->valid = 1;
    cache->features = answer->features;
    cache->vertex1 = answer->vertex1;
    cache->vertex2 = answer->vertex2;
    cache->normal1 = answer->normal;
}

/* NaN counts as the worst error. */
static bool better(const rg_ratio_answer *a, const rg_ratio_answer *b) {
    double ea = rg_ratio_error(a), eb = rg_ratio_error(b);
    return ea < eb || !(eb == eb);
}

rg_status rg_growth_polyhedra(const rg_pair *pair, rg_growth_cache *cache, rg_growth *growth) {
    rg_ratio_frame frame;
    if (!rg_ratio_frame_make(pair, &frame)) {
        rg_ratio_coincident(pair, &frame, growth);
        return RG_OK;
    }
    rg_ratio_answer answer;
    answer.primal_error = NAN;
    answer.iterations = 0;
    bool done = cache && cache->valid ? rg_ratio_walk(&frame, cache->features, &answer)
                                      : solve_by_guess(pair, &frame, &answer);
    if (!done) {
        answer.primal_error = NAN;
        done = solve_by_portal(&frame, &answer);
    }
    if (!done) {
        rg_ratio_answer last = {.primal_error = NAN};
        growth->fallback = true;
        if (rg_ratio_seidel(&frame, false, &last) && better(&last, &answer)) {
            last.iterations += answer.iterations;
            answer = last;
        }
        if (answer.primal_error != answer.primal_error)
            return RG_ITERATION_LIMIT;
    }
    if (!(rg_ratio_error(&answer) <= RG_RATIO_EXACT))
        sharpen(&frame, &answer);
    if (cache)
        remember(&answer, cache);
    rg_ratio_deliver(pair, &answer, growth);
    return RG_OK;
}
