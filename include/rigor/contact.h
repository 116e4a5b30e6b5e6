/* Contact points: where two bodies touch or nearly do, and along which normal.
 *
 * Conventions: body 1 is B and body 2 is A. The normal is a unit vector from B to A, and the force
 * on A is +f n. A region of contact is given by its corners alone (ends of segments, vertices of
 * polygons): a rigid body cannot tell the difference (Baraff 1989, section 4.2). */
#ifndef RIGOR_CONTACT_H
#define RIGOR_CONTACT_H

#include "rigor/proximity.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Indices are those of rg_polyhedron (vertices, facets, edges). An edge index with RG_CONTACT_CHORD
 * set is no edge of the polyhedron but a side of the outline of several nearly level facets, named
 * by its first vertex. A half-space has index 0. A curved shape has: */
enum {
    RG_CONTACT_CHORD = 1u << 27,
    RG_CURVED_POINT = 0,    /* the one point that is farthest along the normal */
    RG_CURVED_END = 1,      /* of a straight line on it: end at lower z, and + 1 at higher z */
    RG_CURVED_LINE = 3,     /* the line itself, crossed by an edge; + 1 over a vertex */
    RG_CURVED_FLAT = 5,     /* the flat base, over a vertex */
    RG_CURVED_RIM = 6,      /* the base's rim, crossed by an edge or rim: + 1 the second time */
    RG_CURVED_RIM_POINT = 8 /* + i: the rim at the angle 2 pi i / RG_RIM_POINTS */
};

/* A flat round base touches along a disc, or a part of one, that has no corners. It is given by the
 * corners that it has and by these many points of the rim, fixed in the body, as far as they touch:
 * exact points of the surface, whose hull has 0.974 of the disc's area and reaches 0.981 of its
 * radius in every direction. */
enum { RG_RIM_POINTS = 16 };

/* Names a point from step to step within its pair of convex parts: kind in the top 8 bits, then 28
 * bits for each index. */
static inline uint64_t rg_contact_id(rg_feature_pair feature) {
    return (uint64_t)feature.kind << 56 | (uint64_t)(feature.index1 & 0xfffffff) << 28 |
           (uint64_t)(feature.index2 & 0xfffffff);
}

typedef struct rg_contact_point {
    rg_vec3 on_b, on_a; /* world: on the surfaces of bodies 1 and 2 */
    rg_vec3 position;   /* half-way between them */
    double gap;         /* m: n . (on_a - on_b); negative if the bodies overlap here */
    rg_feature_pair feature;
    uint64_t id; /* rg_contact_id of the feature */
} rg_contact_point;

/* All contact points of two convex shapes, or of one part each of two compounds. They share one
 * normal: that of the one feature that is taken to separate the shapes. All of them must hold
 * together (AND), while of several separating features one would be enough (OR): only one is used.
 */
typedef struct rg_manifold {
    rg_vec3 normal; /* unit, from B to A */
    double gap;     /* m: the smallest of the points' gaps; of the pair if there is no point */
    uint32_t point_count;  /* 0: farther apart than `near` */
    uint32_t first_point;  /* in the caller's array of points; sorted by id from there */
    uint32_t part1, part2; /* of compounds, else 0; with a point's id, its identity */
    double
        time; /* s: when in the motion that was looked at its points were found; 0: at its start */
    bool meets;       /* then they meet in that motion */
    bool degenerate;  /* vertex on vertex or edge: the normal is the average of those that tie */
    bool kept;        /* the last step's separating feature was kept: it is nearly the best */
    bool reduced;     /* points were left out */
    double area;      /* m^2: of the hull of all points, seen along the normal */
    double area_lost; /* of that, the share that was lost by leaving out points */
    rg_feature_pair features; /* the separating feature; RG_FEATURES_NONE if degenerate */
} rg_manifold;

/* Lengths in metres; 0 stands for the default, a share of the smaller circumradius of the two. */
typedef struct rg_contact_settings {
    double near; /* pairs that are farther apart have no points (E1 of Hart-Anitescu 2010) */
    double band; /* points whose gap exceeds the smallest by more are left out (E2); at most the
                    smaller inradius */
    double
        stick; /* the last separating feature is kept if it is at most this worse than the best */
    double
        inner; /* vertices inside the outline of others count if their gap exceeds the smallest by
                     no more than this: those that turning may bring down; 0: only the deepest */
    uint32_t reduce_to; /* leave out points down to this number as long as the area of their hull
                           stays within RG_CONTACT_AREA_LOSS; 0: keep all */
} rg_contact_settings;

#define RG_CONTACT_NEAR      1e-3 /* defaults, in smaller circumradii */
#define RG_CONTACT_BAND      1e-3
#define RG_CONTACT_STICK     1e-5
#define RG_CONTACT_AREA_LOSS 0.01 /* of the area (Giang 2003 keeps "about four" points) */

/* What the next step's query of the same two convex parts starts from; all zero: nothing. Flat. */
typedef struct rg_contact_cache {
    rg_growth_cache growth;
    rg_feature_pair features; /* the separating feature */
    uint32_t part1, part2;
} rg_contact_cache;

#ifdef __cplusplus
}
#endif
#endif
