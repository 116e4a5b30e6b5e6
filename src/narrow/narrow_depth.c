/* True penetration depth of two polyhedra or polygons: the least translation that separates them.
 *
 * With K = K1 - K2 (centred) and d = x2 - x1, the signed separation along a unit normal n is
 * n.d - h(n), and the depth is minus its largest value over the facet normals of K. These are the
 * facet normals of 1, minus those of 2, and the cross products of two edges whose arcs on the Gauss
 * sphere cross (the arc of an edge joins the normals of its two facets; those of body 2 are
 * negated). All are tried: O(m n), no memory, exact up to rounding. Every candidate that would win
 * is measured again with the full support widths, so an arc accepted by a hair cannot make the
 * result too large.
 *
 * Apart, the depth is minus the largest separation along these normals: a lower bound of the
 * distance, equal to it unless the closest features are vertex-vertex or vertex-edge. */
#include "narrow/narrow.h"

/* How far outside its arcs a cross product may be (sine of the angle): rounding of the normals. */
#define ARC_SLACK 1e-9

typedef struct solid {
    const rg_shape *shape;
    const rg_polyhedron *p;
    rg_mat3 rotation; /* to the world */
} solid;

typedef struct depth_search {
    solid side[2];
    rg_vec3 d;
    double best; /* largest separation so far */
    rg_vec3 normal;
} depth_search;

static rg_vec3 to_body(const solid *s, rg_vec3 v) {
    rg_mat3 back = rg_mat3_transpose(&s->rotation);
    return rg_mat3_apply(&back, v);
}

/* h of one body about its centre, n in world axes. */
static double width_of(const solid *s, rg_vec3 n) {
    rg_vec3 local = to_body(s, n);
    rg_vec3 point = rg_shape_support(s->shape, local, NULL);
    return rg_dot(local, rg_sub(point, s->p->centre));
}

static void measure(depth_search *s, rg_vec3 n) {
    double apart = rg_dot(n, s->d) - width_of(&s->side[0], n) - width_of(&s->side[1], rg_neg(n));
    if (apart > s->best) {
        s->best = apart;
        s->normal = n;
    }
}

static void try_facets(depth_search *s) {
    for (int i = 0; i < 2; i++) {
        const rg_polyhedron *p = s->side[i].p;
        for (uint32_t f = 0; f < p->facet_count; f++) {
            rg_vec3 n = rg_mat3_apply(&s->side[i].rotation, p->normals[f]);
            measure(s, i ? rg_neg(n) : n);
        }
    }
}

/* An edge in the frame of body 1: direction, a point of it relative to its body's centre, and the
 * normals of its facets, in the order in which first x second points along the edge. */
typedef struct edge {
    rg_vec3 along, at, first, second;
} edge;

static edge edge_of(const rg_polyhedron *p, uint32_t e) {
    rg_vec3 a = p->vertices[p->edge_vertices[2 * e]], b = p->vertices[p->edge_vertices[2 * e + 1]];
    return (edge){rg_normalised(rg_sub(b, a)), rg_sub(a, p->centre),
                  p->normals[p->edge_facets[2 * e]], p->normals[p->edge_facets[2 * e + 1]]};
}

/* Whether the unit vector n, perpendicular to the edge, lies between the normals of its facets. */
static bool on_arc(const edge *e, rg_vec3 n) {
    return rg_dot(rg_cross(e->first, n), e->along) >= -ARC_SLACK &&
           rg_dot(rg_cross(n, e->second), e->along) >= -ARC_SLACK &&
           rg_dot(n, rg_add(e->first, e->second)) > 0;
}

/* All edges of 1 against one edge of 2, that of the negated body, in the frame of 1. */
static void try_edge(depth_search *s, const edge *two, rg_vec3 d) {
    const rg_polyhedron *p = s->side[0].p;
    for (uint32_t i = 0; i < p->edge_count; i++) {
        edge one = edge_of(p, i);
        rg_vec3 n = rg_cross(one.along, two->along);
        double sine = rg_length(n);
        if (sine < RG_PARALLEL_EDGES)
            continue;
        n = rg_scale(1 / sine, n);
        if (!on_arc(&one, n)) {
            n = rg_neg(n);
            if (!on_arc(&one, n))
                continue;
        }
        if (on_arc(two, n) && rg_dot(n, rg_sub(rg_sub(d, one.at), two->at)) > s->best)
            measure(s, rg_mat3_apply(&s->side[0].rotation, n));
    }
}

static void try_edges(depth_search *s) {
    const rg_polyhedron *p = s->side[1].p;
    rg_mat3 back = rg_mat3_transpose(&s->side[0].rotation);
    rg_mat3 turn = rg_mat3_multiply(&back, &s->side[1].rotation);
    rg_vec3 d = rg_mat3_apply(&back, s->d);
    for (uint32_t i = 0; i < p->edge_count; i++) {
        edge two = edge_of(p, i);
        two.along = rg_mat3_apply(&turn, two.along);
        two.at = rg_neg(rg_mat3_apply(&turn, two.at));
        two.first = rg_neg(rg_mat3_apply(&turn, two.first));
        two.second = rg_neg(rg_mat3_apply(&turn, two.second));
        try_edge(s, &two, d);
    }
}

rg_status rg_depth_between(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                           rg_pose pose2, rg_depth *depth) {
    *depth = (rg_depth){0};
    if (!rg_pose_is_finite(pose1) || !rg_pose_is_finite(pose2))
        return RG_NOT_FINITE;
    const rg_polyhedron *p1 = rg_shape_polyhedron(shape1), *p2 = rg_shape_polyhedron(shape2);
    if (!p1 || !p2 || rg_shape_is_planar(shape1) != rg_shape_is_planar(shape2))
        return RG_INVALID_ARGUMENT;
    depth_search s = {.side = {{shape1, p1, rg_mat3_of_quat(pose1.orientation)},
                               {shape2, p2, rg_mat3_of_quat(pose2.orientation)}},
                      .best = -INFINITY};
    s.d = rg_add(rg_sub(pose2.position, pose1.position),
                 rg_sub(rg_mat3_apply(&s.side[1].rotation, p2->centre),
                        rg_mat3_apply(&s.side[0].rotation, p1->centre)));
    try_facets(&s);
    if (!rg_shape_is_planar(shape1))
        try_edges(&s);
    depth->depth = -s.best;
    depth->normal = s.normal;
    return RG_OK;
}
