/* A walk over the facets of K = K1 - K2 towards the one that the ray along d leaves through.
 *
 * Problem: given a feature pair (facet of K) near the optimal one, find the optimal one in time
 * that does not depend on the number of facets. Method: the primal simplex method on max N.d
 * subject to N.s <= 1 for all vertices s of K, without K: at a facet of K the ray's point lies
 * inside it, and then it is optimal, or beyond one of its edges; the normal turns about that edge,
 * which raises N.d, until the next facet of K. An edge of K is an edge of one body and a vertex of
 * the other; the turning normal meets either the neighbouring facet of the first body or, first, an
 * edge at the vertex of the other: a ratio test among the neighbours of one vertex.
 *
 * How it fails: where facets or edges of both bodies are parallel the steps have no length and the
 * walk may go round; it gives up after a number of steps, and the caller takes the portal.
 * Tested by tests/narrow/test_ratio.c. */
#include "narrow/narrow_ratio.h"

/* More steps than this, and starting afresh is cheaper. */
#define MOST_STEPS 300

/* Vertices, facets, and the index in the polyhedron's list, if it is known. */
typedef struct edge {
    uint32_t v[2], f[2], index;
} edge;
#define UNKNOWN UINT32_MAX

typedef struct walk {
    const rg_ratio_frame *frame;
    double rounding; /* m */
    enum { AT_FACE, AT_EDGES } at;
    int side; /* of the facet */
    uint32_t facet, vertex;
    edge e[2];
} walk;

typedef enum verdict { MOVED, OPTIMAL, LOST } verdict;

static uint32_t corner_after(const rg_polyhedron *p, uint32_t facet, uint32_t k) {
    return p->facet_vertices[k + 1 < p->facet_start[facet + 1] ? k + 1 : p->facet_start[facet]];
}

/* The normal turns about the edge `about` of side s, in the axes of the other side o from -c to
 * -target, where it is the normal of `facet` of side s; `vertex` of side o is the support at the
 * start. */
static verdict turn_normal(walk *w, int s, edge about, uint32_t facet, uint32_t vertex, rg_vec3 c,
                           rg_vec3 target) {
    int o = 1 - s;
    const rg_solid *solid = w->frame->solid[o];
    const rg_polyhedron *p = &solid->view;
    rg_vec3 here = solid->centred[vertex];
    uint32_t first = p->vertex_start[vertex], end = p->vertex_start[vertex + 1], hit = end;
    double soonest = 2;
    for (uint32_t k = first; k < end; k++) {
        rg_vec3 down = rg_sub(here, solid->centred[p->vertex_neighbours[k]]);
        double after = rg_dot(target, down);
        if (after >= -w->rounding)
            continue;
        double before = rg_dot(c, down);
        if (before < -w->rounding)
            return LOST; /* not a facet of K */
        double when = before > 0 ? before / (before - after) : 0;
        if (when < soonest) {
            soonest = when;
            hit = k;
        }
    }
    if (hit == end) {
        w->at = AT_FACE;
        w->side = s;
        w->facet = facet;
        w->vertex = vertex;
        return MOVED;
    }
    w->at = AT_EDGES;
    w->e[s] = about;
    w->e[o] =
        (edge){{vertex, p->vertex_neighbours[hit]},
               {solid->vertex_facets[hit], solid->vertex_facets[hit > first ? hit - 1 : end - 1]},
               UNKNOWN};
    return MOVED;
}

static verdict step_from_face(walk *w, rg_ratio_answer *answer) {
    const rg_ratio_frame *frame = w->frame;
    int s = w->side, o = 1 - s;
    const rg_polyhedron *p = &frame->solid[s]->view;
    rg_vec3 a = p->normals[w->facet], d = frame->d[s];
    rg_vec3 corner = rg_mat3_apply(&frame->turn[s], frame->solid[o]->centred[w->vertex]);
    double ahead = rg_dot(a, d);
    if (!(ahead > 0))
        return LOST;
    rg_vec3 y = rg_add_scaled(corner, (p->offsets[w->facet] - rg_dot(a, corner)) / ahead, d);

    double worst = -frame->size;
    uint32_t exit = 0;
    for (uint32_t k = p->facet_start[w->facet]; k < p->facet_start[w->facet + 1]; k++) {
        uint32_t g = p->facet_neighbours[k];
        double beyond = rg_dot(p->normals[g], y) - p->offsets[g];
        if (beyond > worst) {
            worst = beyond;
            exit = k;
        }
    }
    if (worst <= w->rounding) {
        answer->features = (rg_feature_pair){s ? RG_FEATURES_VERTEX_FACE : RG_FEATURES_FACE_VERTEX,
                                             s ? w->vertex : w->facet, s ? w->facet : w->vertex};
        uint32_t own = p->facet_vertices[p->facet_start[w->facet]];
        double outside = worst > 0 ? worst : 0;
        double height = p->offsets[w->facet];
        rg_ratio_witness found = {a, y, corner, own, w->vertex, outside, height, NAN, false, {0}};
        if (s ==
            1) /* in the axes of side 0, where the vertex is exact and the normal points away */
            found = (rg_ratio_witness){rg_neg(rg_mat3_apply(&frame->turn[0], a)),
                                       frame->solid[0]->centred[w->vertex],
                                       rg_mat3_apply(&frame->turn[0], y),
                                       w->vertex,
                                       own,
                                       outside,
                                       NAN,
                                       height,
                                       false,
                                       {0}};
        rg_ratio_certify(frame, &found, answer);
        return OPTIMAL;
    }
    uint32_t next = p->facet_neighbours[exit];
    edge about = {
        {p->facet_vertices[exit], corner_after(p, w->facet, exit)}, {w->facet, next}, UNKNOWN};
    return turn_normal(w, s, about, next, w->vertex, rg_neg(rg_mat3_apply(&frame->turn[o], a)),
                       rg_neg(rg_mat3_apply(&frame->turn[o], p->normals[next])));
}

/* Leaves the parallelogram of two edges across its side (edge of s, vertex `end` of the edge of the
 * other). n is unit, in the axes of side 0. */
static verdict leave_edges(walk *w, rg_vec3 n, int s, int end) {
    const rg_ratio_frame *frame = w->frame;
    int o = 1 - s;
    const rg_vec3 *at = frame->solid[o]->centred;
    uint32_t vertex = w->e[o].v[end], other = w->e[o].v[1 - end];
    rg_vec3 c = o == 0 ? n : rg_neg(rg_mat3_apply(&frame->turn[1], n));
    rg_vec3 away = rg_sub(at[vertex], at[other]), target = {0, 0, 0};
    double most = 0;
    uint32_t facet = UINT32_MAX;
    for (int i = 0; i < 2; i++) {
        rg_vec3 a = frame->solid[s]->view.normals[w->e[s].f[i]];
        rg_vec3 candidate = rg_neg(rg_mat3_apply(&frame->turn[o], a));
        double favour = rg_dot(candidate, away);
        if (favour > most) {
            most = favour;
            target = candidate;
            facet = w->e[s].f[i];
        }
    }
    if (facet == UINT32_MAX)
        return LOST;
    return turn_normal(w, s, w->e[s], facet, vertex, c, target);
}

static uint32_t index_of(const rg_polyhedron *p, edge e) {
    return e.index != UNKNOWN ? e.index : rg_ratio_edge_index(p, e.v[0], e.v[1]);
}

static verdict step_from_edges(walk *w, rg_ratio_answer *answer) {
    const rg_ratio_frame *frame = w->frame;
    const rg_vec3 *at1 = frame->solid[0]->centred, *at2 = frame->solid[1]->centred;
    rg_vec3 p0 = at1[w->e[0].v[0]], q0 = rg_mat3_apply(&frame->turn[0], at2[w->e[1].v[0]]);
    rg_vec3 e1 = rg_sub(at1[w->e[0].v[1]], p0);
    rg_vec3 e2 = rg_mat3_apply(&frame->turn[0], rg_sub(at2[w->e[1].v[1]], at2[w->e[1].v[0]]));
    rg_vec3 n = rg_cross(e1, e2), corner = rg_sub(p0, q0), d = frame->d[0];
    double area2 = rg_length_squared(n);
    if (!(area2 >
          RG_PARALLEL_EDGES * RG_PARALLEL_EDGES * rg_length_squared(e1) * rg_length_squared(e2)))
        return LOST;
    double width = rg_dot(n, corner), ahead = rg_dot(n, d);
    if (!(width * ahead > 0))
        return LOST;
    rg_vec3 r = rg_sub(rg_scale(width / ahead, d), corner); /* alpha e1 - beta e2 */
    double alpha = rg_dot(rg_cross(r, e2), n) / area2, beta = rg_dot(rg_cross(r, e1), n) / area2;
    double out1 = alpha < 0.5 ? -alpha : alpha - 1, out2 = beta < 0.5 ? -beta : beta - 1;
    double sign = width > 0 ? 1 : -1;
    double slack = 1e-13;
    if (out1 <= slack && out2 <= slack) {
        alpha = alpha < 0 ? 0 : alpha > 1 ? 1 : alpha;
        beta = beta < 0 ? 0 : beta > 1 ? 1 : beta;
        answer->features =
            (rg_feature_pair){RG_FEATURES_EDGE_EDGE, index_of(&frame->solid[0]->view, w->e[0]),
                              index_of(&frame->solid[1]->view, w->e[1])};
        rg_ratio_witness found = {rg_scale(sign, n),
                                  rg_add_scaled(p0, alpha, e1),
                                  rg_add_scaled(q0, beta, e2),
                                  w->e[0].v[0],
                                  w->e[1].v[0],
                                  0,
                                  NAN,
                                  NAN,
                                  true,
                                  {w->e[0].v[1], w->e[1].v[1]}};
        rg_ratio_certify(frame, &found, answer);
        return OPTIMAL;
    }
    rg_vec3 unit = rg_scale(sign / sqrt(area2), n);
    if (out2 > out1)
        return leave_edges(w, unit, 0, beta < 0.5 ? 0 : 1);
    return leave_edges(w, unit, 1, alpha < 0.5 ? 0 : 1);
}

static void start_at_face(walk *w, int side, uint32_t facet, uint32_t guess) {
    const rg_ratio_frame *frame = w->frame;
    double height;
    rg_vec3 a = frame->solid[side]->view.normals[facet];
    w->at = AT_FACE;
    w->side = side;
    w->facet = facet;
    w->vertex = rg_ratio_climb(frame->solid[1 - side],
                               rg_neg(rg_mat3_apply(&frame->turn[1 - side], a)), guess, &height);
}

static edge edge_of(const rg_polyhedron *p, uint32_t e) {
    return (edge){{p->edge_vertices[2 * e], p->edge_vertices[2 * e + 1]},
                  {p->edge_facets[2 * e], p->edge_facets[2 * e + 1]},
                  e};
}

bool rg_ratio_walk(const rg_ratio_frame *frame, rg_feature_pair start, rg_ratio_answer *answer) {
    const rg_polyhedron *p1 = &frame->solid[0]->view, *p2 = &frame->solid[1]->view;
    walk w = {.frame = frame, .rounding = RG_RATIO_ROUNDING * frame->size};
    bool edges = start.kind == RG_FEATURES_EDGE_EDGE;
    if (edges && start.index1 < p1->edge_count && start.index2 < p2->edge_count) {
        w.at = AT_EDGES;
        w.e[0] = edge_of(p1, start.index1);
        w.e[1] = edge_of(p2, start.index2);
    } else if (start.kind == RG_FEATURES_FACE_VERTEX && start.index1 < p1->facet_count &&
               start.index2 < p2->vertex_count)
        start_at_face(&w, 0, start.index1, start.index2);
    else if (start.kind == RG_FEATURES_VERTEX_FACE && start.index1 < p1->vertex_count &&
             start.index2 < p2->facet_count)
        start_at_face(&w, 1, start.index2, start.index1);
    else
        return false;
    for (uint32_t i = 1; i <= MOST_STEPS; i++) {
        verdict v = w.at == AT_FACE ? step_from_face(&w, answer) : step_from_edges(&w, answer);
        if (v == OPTIMAL && rg_ratio_accepted(frame, answer)) {
            answer->iterations += i;
            return true;
        }
        if (v == MOVED)
            continue;
        /* Two edges of the last time need not make a facet of K any more: a facet of one body and
         * the support of the other always do. */
        if (!edges)
            return false;
        edges = false;
        start_at_face(&w, 0, edge_of(p1, start.index1).f[0], edge_of(p2, start.index2).v[0]);
    }
    return false;
}
