/* What the ratio solvers of polyhedra and polygons share: the frame of a pair, climbing supports,
 * the answer before it is moved to world coordinates, and its certificate.
 *
 * K = K1 - K2 is the Minkowski difference of the centred bodies. The ratio is the gauge of K at d:
 * the ray along d leaves K at d / t. A facet of K with normal n has width h(n), and is made of a
 * facet of one body and a vertex of the other, or of two edges. */
#ifndef RIGOR_NARROW_RATIO_H
#define RIGOR_NARROW_RATIO_H

#include "narrow/narrow.h"
#include "shape/shape.h"

/* Lengths below this, in units of the sum of the circumradii, are rounding: a support that is
 * farther by less is no farther. */
#define RG_RATIO_ROUNDING 2e-15
/* Vertices this near to the highest one, in circumradii, make a plateau, on which the highest of
 * its neighbours need not be the highest of all: facets are plane to a tolerance. */
#define RG_RATIO_PLATEAU 1e-9
/* Errors of a certificate (relative to h(n)) that make the next, slower method try: so many units
 * of the sum of the circumradii over h(n). */
#define RG_RATIO_ACCEPT 8e-15

/* Beyond this error relative to h(n) the end is computed in twice the precision. */
#define RG_RATIO_EXACT 4e-13

/* Axes of side s; s = 0 or 1. */
typedef struct rg_ratio_frame {
    const rg_solid *solid[2];
    rg_mat3 turn[2]; /* turn[s] maps the axes of the other side to those of side s */
    rg_vec3 d[2];    /* from the centre of side s to the other centre */
    double size;     /* m: sum of the circumradii */
} rg_ratio_frame;

/* In the axes of side 0; y1 and y2 relative to the centres of their own bodies: the ray leaves K at
 * y1 - y2. */
typedef struct rg_ratio_answer {
    rg_feature_pair features;
    rg_vec3 normal; /* unit */
    rg_vec3 y1, y2;
    uint32_t vertex1, vertex2; /* support vertices along +-normal */
    double ratio, width;
    double primal_error, dual_error, duality_gap;
    uint32_t iterations;
} rg_ratio_answer;

/* A vertex of K: one vertex of each body. Axes of side 0. */
typedef struct rg_ratio_corner {
    rg_vec3 p, q, s; /* s = p - q */
    uint32_t i1, i2;
} rg_ratio_corner;

/* The world-axes matrices give the frame; false if the centres coincide. */
bool rg_ratio_frame_make(const rg_pair *pair, rg_ratio_frame *frame);

/* From ring to ring towards the highest vertex along c; *value gets its height, *second that of the
 * highest of its neighbours. */
static inline uint32_t rg_ratio_climb_to(const rg_solid *solid, rg_vec3 c, uint32_t vertex,
                                         double *value, double *second) {
    const rg_vec3 *at = solid->centred;
    const uint32_t *start = solid->view.vertex_start, *neighbours = solid->view.vertex_neighbours;
    double height = rg_dot(c, at[vertex]);
    for (;;) {
        uint32_t best = vertex;
        double most = -INFINITY;
        for (uint32_t k = start[vertex], end = start[vertex + 1]; k < end; k++) {
            uint32_t u = neighbours[k];
            double here = rg_dot(c, at[u]);
            best = here > height && here > most ? u : best;
            most = here > most ? here : most;
        }
        if (best == vertex) {
            *value = height;
            *second = most;
            return vertex;
        }
        vertex = best;
        height = most;
    }
}

static inline uint32_t rg_ratio_climb(const rg_solid *solid, rg_vec3 c, uint32_t vertex,
                                      double *value) {
    double second;
    return rg_ratio_climb_to(solid, c, vertex, value, &second);
}

/* A normal and a point of each body, as a solver found them. */
typedef struct rg_ratio_witness {
    rg_vec3 n, y1, y2;
    uint32_t guess1, guess2; /* of the support vertices */
    double outside;          /* m: how far y1 and y2 are known to be outside their bodies */
    double height1, height2; /* of a side of which n is the normal of a facet; otherwise NAN */
    bool edges;              /* n is normal to an edge of each, from the guess to: */
    uint32_t other[2];
} rg_ratio_witness;
/* Fills normal (made unit), supports, width, ratio and the certificate. */
void rg_ratio_certify(const rg_ratio_frame *frame, const rg_ratio_witness *witness,
                      rg_ratio_answer *answer);
double rg_ratio_error(const rg_ratio_answer *answer);
/* Whether the certificate is as good as rounding lets one expect. */
bool rg_ratio_accepted(const rg_ratio_frame *frame, const rg_ratio_answer *answer);

/* narrow_ratio_walk.c: from one feature pair of K to the next towards larger n.d / h(n). False if
 * it gave up (ties, too many steps); the answer is then unusable. */
bool rg_ratio_walk(const rg_ratio_frame *frame, rg_feature_pair start, rg_ratio_answer *answer);

/* The vertex of K that vertex i1 of 1 and vertex i2 of 2 make. */
static inline rg_ratio_corner rg_ratio_corner_of(const rg_ratio_frame *frame, uint32_t i1,
                                                 uint32_t i2) {
    rg_ratio_corner c = {.i1 = i1, .i2 = i2};
    c.p = frame->solid[0]->centred[i1];
    c.q = rg_mat3_apply(&frame->turn[0], frame->solid[1]->centred[i2]);
    c.s = rg_sub(c.p, c.q);
    return c;
}

/* narrow_ratio_exact.c: from three (in the plane two) corners around the ray to the answer, in
 * twice the precision; leaves the feature pair to the caller, with the indices of the last corners
 * and their weights. */
bool rg_ratio_exact(const rg_ratio_frame *frame, bool planar, rg_ratio_corner corners[3],
                    double weights[3], rg_ratio_answer *answer);

/* The rows of the linear program of two bodies without an array: see narrow_seidel.c. */
bool rg_ratio_seidel(const rg_ratio_frame *frame, bool planar, rg_ratio_answer *answer);

/* For the next query of the pair; null: it is not wanted. */
void rg_ratio_remember(const rg_ratio_answer *answer, rg_growth_cache *cache);
/* To world axes, relative to x1. */
void rg_ratio_deliver(const rg_pair *pair, const rg_ratio_answer *answer, rg_growth *growth);

/* The index of the edge between two vertices of a polyhedron; they must be neighbours. */
uint32_t rg_ratio_edge_index(const rg_polyhedron *polyhedron, uint32_t u, uint32_t v);

/* The centres coincide: ratio 0, and the facet normal of smallest width. */
void rg_ratio_coincident(const rg_pair *pair, const rg_ratio_frame *frame, rg_growth *growth);

#endif
