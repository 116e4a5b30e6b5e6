/* Which feature separates two polyhedra: hysteresis, ties, and the averaged plane.
 *
 * The growth t = max over n of n.d / h(n) is attained by a face of one shape or a pair of edges. Of
 * several features that nearly attain it, one is enough to keep the shapes apart; to demand them
 * all would hold back motions that are free (method: AND feature pairs of one feature, OR between
 * features). The worth of a feature with normal n is
 *
 *   w(n) = n.d - t h(n) <= 0   (metres; 0 for the best)
 *
 * and where they overlap, by how much the depth along n is more than the least depth:
 *
 *   w(n) = n.d - h(n) - gap <= 0
 *
 * 1. Hysteresis: the last step's feature stays while w >= -stick, so that a near-tie does not flip
 *    the normal back and forth. With coincident centres (t = 0) every w is 0: the last normal
 * stays.
 * 2. Of a pair of edges and the faces beside them, a face is taken if it is within `stick` too:
 * near parallel faces the edges' cross product is the least certain of all.
 * 3. A tie (n.d - t h(n) >= -RG_CONTACT_TIE) between different normals means vertex on vertex,
 *    vertex on edge or edge along edge: the normal is not determined. The average of all that tie
 *    is taken, and shape 1 counts as extended by the plane across it (Baraff 1989, section 4.1). It
 *    is a positive combination of optimal normals, so it attains t as they do.
 *
 * Ties are looked for around the witness points only: optimal normals are normal to both shapes
 * there. Curved shapes and half-spaces keep the normal of the growth. */
#include "contact/contact.h"

#include "shape/shape.h"

/* Different normals that an average may hold, and edges tried around a vertex. */
enum { MOST_NORMALS = 32, MOST_EDGES = 16 };

static double width(const rg_contact_side *side, rg_vec3 n) {
    rg_mat3 back = rg_mat3_transpose(&side->rotation);
    rg_vec3 outward = rg_mat3_apply(&back, rg_scale(side->sign, n));
    uint32_t vertex = 0;
    rg_shape_support(side->shape, outward, &vertex);
    return rg_dot(outward, side->shape->solid.centred[vertex]);
}

/* n.d - t h(n), and with the ratio 1 the separation along n. */
static double excess(const rg_contact_pair *pair, double ratio, rg_vec3 n) {
    return rg_dot(n, pair->d) - ratio * (width(&pair->side[0], n) + width(&pair->side[1], n));
}

static double worth(const rg_contact_pair *pair, const rg_growth *growth, rg_vec3 n) {
    return growth->gap < 0 ? excess(pair, 1, n) - growth->gap : excess(pair, growth->ratio, n);
}

static rg_vec3 facet_normal(const rg_contact_side *side, uint32_t facet) {
    return rg_scale(side->sign, rg_mat3_apply(&side->rotation, side->polyhedron->normals[facet]));
}

static rg_vec3 edge_direction(const rg_contact_side *side, uint32_t edge) {
    const rg_polyhedron *p = side->polyhedron;
    rg_vec3 along = rg_sub(side->shape->solid.centred[p->edge_vertices[2 * edge + 1]],
                           side->shape->solid.centred[p->edge_vertices[2 * edge]]);
    return rg_normalised(rg_mat3_apply(&side->rotation, along));
}

/* Unit normal of two directions on the side of `like`; false if they are parallel. */
static bool cross_normal(rg_vec3 a, rg_vec3 b, rg_vec3 like, rg_vec3 *n) {
    rg_vec3 c = rg_cross(a, b);
    if (!(rg_length(c) >= RG_CONTACT_PARALLEL))
        return false;
    *n = rg_normalised(rg_dot(c, like) < 0 ? rg_neg(c) : c);
    return true;
}

/* The normal of a feature at the present poses; false if there is none. */
static bool normal_of(const rg_contact_pair *pair, rg_feature_pair features, rg_vec3 like,
                      rg_vec3 *n) {
    const rg_contact_side *s1 = &pair->side[0], *s2 = &pair->side[1];
    if (features.kind == RG_FEATURES_FACE_VERTEX && features.index1 < s1->polyhedron->facet_count)
        *n = facet_normal(s1, features.index1);
    else if (features.kind == RG_FEATURES_VERTEX_FACE &&
             features.index2 < s2->polyhedron->facet_count)
        *n = facet_normal(s2, features.index2);
    else if (features.kind == RG_FEATURES_EDGE_EDGE &&
             features.index1 < s1->polyhedron->edge_count &&
             features.index2 < s2->polyhedron->edge_count)
        return cross_normal(edge_direction(s1, features.index1),
                            edge_direction(s2, features.index2), like, n);
    else
        return false;
    return true;
}

/* ------------------------------------------------------------------ ties */

typedef struct ties {
    const rg_contact_pair *pair;
    double ratio, slack;
    uint32_t count;
    rg_vec3 normal[MOST_NORMALS];
} ties;

static void consider(ties *t, rg_vec3 n) {
    for (uint32_t i = 0; i < t->count; i++)
        if (rg_largest_entry(rg_sub(t->normal[i], n)) <= RG_CONTACT_SAME_NORMAL)
            return;
    if (t->count < MOST_NORMALS && excess(t->pair, t->ratio, n) >= -t->slack)
        t->normal[t->count++] = n;
}

/* Where on a polyhedron a point of its surface lies: at a vertex, on an edge, or in a facet. */
typedef struct place {
    uint32_t vertex;   /* or UINT32_MAX */
    uint32_t facet[2]; /* those beside an edge; the second UINT32_MAX in a facet */
    rg_vec3 along;     /* the edge, in the shape's frame */
} place;

static bool near_vertex(const rg_contact_side *side, uint32_t vertex, rg_vec3 y, double lateral) {
    return rg_largest_entry(rg_sub(side->shape->solid.centred[vertex], y)) <= lateral;
}

/* y: in the shape's frame, relative to its centre. */
static place place_in_facet(const rg_contact_side *side, uint32_t f, rg_vec3 y, double lateral) {
    const rg_polyhedron *p = side->polyhedron;
    place at = {UINT32_MAX, {f, UINT32_MAX}, {0, 0, 0}};
    uint32_t first = p->facet_start[f], end = p->facet_start[f + 1];
    for (uint32_t k = first; k < end; k++)
        if (near_vertex(side, p->facet_vertices[k], y, lateral)) {
            at.vertex = p->facet_vertices[k];
            return at;
        }
    if (p->edge_count == 0)
        return at;
    for (uint32_t k = first; k < end; k++) {
        rg_vec3 a = side->shape->solid.centred[p->facet_vertices[k]];
        rg_vec3 b = side->shape->solid.centred[p->facet_vertices[k + 1 < end ? k + 1 : first]];
        rg_vec3 along = rg_normalised(rg_sub(b, a)), w = rg_sub(y, a);
        if (rg_length(rg_add_scaled(w, -rg_dot(w, along), along)) <= lateral) {
            at.facet[1] = p->facet_neighbours[k];
            at.along = along;
        }
    }
    return at;
}

static place place_on(const rg_contact_pair *pair, int number, rg_feature_pair features,
                      rg_vec3 point) {
    const rg_contact_side *side = &pair->side[number];
    const rg_polyhedron *p = side->polyhedron;
    rg_mat3 back = rg_mat3_transpose(&side->rotation);
    rg_vec3 y = rg_mat3_apply(&back, rg_sub(rg_sub(point, pair->origin), side->centre));
    uint32_t index = number == 0 ? features.index1 : features.index2;
    place at = {index, {UINT32_MAX, UINT32_MAX}, {0, 0, 0}};
    if (features.kind == RG_FEATURES_EDGE_EDGE) {
        uint32_t a = p->edge_vertices[2 * index], b = p->edge_vertices[2 * index + 1];
        at = (place){UINT32_MAX,
                     {p->edge_facets[2 * index], p->edge_facets[2 * index + 1]},
                     rg_sub(side->shape->solid.centred[b], side->shape->solid.centred[a])};
        if (near_vertex(side, a, y, pair->lateral))
            at.vertex = a;
        else if (near_vertex(side, b, y, pair->lateral))
            at.vertex = b;
    } else if ((features.kind == RG_FEATURES_FACE_VERTEX) == (number == 0)) {
        at = place_in_facet(side, index, y, pair->lateral);
    }
    return at;
}

static void consider_facets(ties *t, const rg_contact_side *side, const place *at) {
    const rg_polyhedron *p = side->polyhedron;
    if (at->vertex != UINT32_MAX) {
        uint32_t count = p->vertex_start[at->vertex + 1] - p->vertex_start[at->vertex];
        for (uint32_t k = 0; k < count; k++)
            consider(t, facet_normal(side, rg_contact_facet_at(side->shape, at->vertex, k)));
        return;
    }
    for (int i = 0; i < 2; i++)
        if (at->facet[i] != UINT32_MAX)
            consider(t, facet_normal(side, at->facet[i]));
}

/* Directions of the edges that meet at a place. */
static uint32_t edges_at(const rg_contact_side *side, const place *at, rg_vec3 out[MOST_EDGES]) {
    const rg_polyhedron *p = side->polyhedron;
    uint32_t count = 0;
    if (at->vertex == UINT32_MAX) {
        out[count++] = rg_normalised(rg_mat3_apply(&side->rotation, at->along));
        return count;
    }
    rg_vec3 from = side->shape->solid.centred[at->vertex];
    for (uint32_t k = p->vertex_start[at->vertex]; k < p->vertex_start[at->vertex + 1]; k++)
        if (count < MOST_EDGES) {
            rg_vec3 to = side->shape->solid.centred[p->vertex_neighbours[k]];
            out[count++] = rg_normalised(rg_mat3_apply(&side->rotation, rg_sub(to, from)));
        }
    return count;
}

static void consider_edges(ties *t, const place at[2], rg_vec3 like) {
    rg_vec3 e1[MOST_EDGES], e2[MOST_EDGES], n;
    uint32_t count1 = edges_at(&t->pair->side[0], &at[0], e1),
             count2 = edges_at(&t->pair->side[1], &at[1], e2);
    for (uint32_t i = 0; i < count1; i++)
        for (uint32_t k = 0; k < count2; k++)
            if (cross_normal(e1[i], e2[k], like, &n))
                consider(t, n);
}

/* Whether a place is sharp: a vertex, or an edge. */
static bool is_sharp(const place *at) {
    return at->vertex != UINT32_MAX || at->facet[1] != UINT32_MAX;
}

/* The average of all normals that tie, if they are several. */
static bool average(const rg_contact_pair *pair, const rg_growth *growth, rg_vec3 *normal) {
    place at[2] = {place_on(pair, 0, growth->features, growth->on1),
                   place_on(pair, 1, growth->features, growth->on2)};
    /* A vertex against the inside of a facet, or two edges that cross, have one normal. */
    bool crossing = growth->features.kind == RG_FEATURES_EDGE_EDGE && at[0].vertex == UINT32_MAX &&
                    at[1].vertex == UINT32_MAX;
    if (crossing || !is_sharp(&at[0]) || !is_sharp(&at[1]))
        return false;
    ties t = {.pair = pair,
              .ratio = growth->ratio,
              .slack = RG_CONTACT_TIE * pair->size,
              .count = 1,
              .normal = {growth->normal}};
    consider_facets(&t, &pair->side[0], &at[0]);
    consider_facets(&t, &pair->side[1], &at[1]);
    if (!pair->planar)
        consider_edges(&t, at, growth->normal);
    if (t.count == 1)
        return false;
    rg_vec3 sum = {0, 0, 0};
    for (uint32_t i = 0; i < t.count; i++)
        sum = rg_add(sum, t.normal[i]);
    *normal = rg_normalised(sum);
    return rg_length(sum) > RG_CONTACT_SAME_NORMAL;
}

/* ------------------------------------------------------------------ choice */

/* Of the faces beside two edges the best, if it is good enough. */
static void prefer_face(const rg_contact_pair *pair, const rg_growth *growth, double stick,
                        rg_contact_choice *choice) {
    double best = -stick;
    rg_feature_pair edges = choice->features;
    for (int number = 0; number < 2; number++)
        for (int k = 0; k < 2; k++) {
            const rg_contact_side *side = &pair->side[number];
            uint32_t edge = number == 0 ? edges.index1 : edges.index2;
            uint32_t facet = side->polyhedron->edge_facets[2 * edge + (uint32_t)k];
            rg_vec3 n = facet_normal(side, facet);
            double w = worth(pair, growth, n);
            if (w > best) {
                best = w;
                choice->normal = n;
                choice->features = number == 0
                                       ? (rg_feature_pair){RG_FEATURES_FACE_VERTEX, facet, 0}
                                       : (rg_feature_pair){RG_FEATURES_VERTEX_FACE, 0, facet};
            }
        }
}

rg_contact_choice rg_contact_choose(const rg_contact_pair *pair, const rg_growth *growth,
                                    rg_feature_pair last, double stick) {
    rg_contact_choice choice = {.normal = growth->normal, .features = growth->features};
    if (!pair->side[0].polyhedron || !pair->side[1].polyhedron)
        return choice;
    rg_vec3 n;
    if (last.kind != RG_FEATURES_NONE && normal_of(pair, last, growth->normal, &n) &&
        worth(pair, growth, n) >= -stick) {
        choice = (rg_contact_choice){.normal = n, .features = last, .kept = true};
        return choice;
    }
    if (growth->features.kind == RG_FEATURES_NONE || growth->features.kind == RG_FEATURES_SMOOTH)
        return choice;
    if (!growth->least_depth && average(pair, growth, &n)) {
        choice = (rg_contact_choice){.normal = n, .degenerate = true};
        return choice;
    }
    if (choice.features.kind == RG_FEATURES_EDGE_EDGE)
        prefer_face(pair, growth, stick, &choice);
    return choice;
}
