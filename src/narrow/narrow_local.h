/* Newton's method on smooth pieces of two surfaces: what growth and distance share.
 *
 * Both minimise a function of two variables xi whose gradient is the sum of two support points in a
 * basis b, plus something of their own, subject to the normal n being perpendicular to the flats of
 * the patches. Two independent flats determine xi, one leaves a line, none the plane. The positions
 * along the flats are the multipliers of these conditions. */
#ifndef RIGOR_NARROW_NARROW_LOCAL_H
#define RIGOR_NARROW_NARROW_LOCAL_H

#include "narrow/narrow_surface.h"

typedef struct rg_flat {
    double f[2]; /* of the unit vector, in the basis b */
    double c;    /* its product with n */
    double length;
    double *along; /* in its patch; null: the normal of the plane of planar shapes */
} rg_flat;

typedef struct rg_local {
    rg_patch patch[2];
    rg_flat flats[5];
    int count, rank, first, second;
    rg_vec3 n, point[2]; /* points without their flats */
    double q[2], w[3];   /* gradient without the flats, and its derivative */
    double side_w[2][3]; /* the share of each patch in w */
    double h;            /* n . (point[0] + point[1]) */
} rg_local;

static inline double rg_dot2(const double a[2], const double b[2]) {
    return a[0] * b[0] + a[1] * b[1];
}
static inline double rg_cross2(const double a[2], const double b[2]) {
    return a[0] * b[1] - a[1] * b[0];
}

/* Everything at the normal n; false where a patch has no such normal. */
bool rg_local_evaluate(rg_local *local, rg_vec3 n, const rg_vec3 *b, bool planar);
/* The two flats that fix n best, and how many are independent. After rg_local_evaluate. */
void rg_local_choose_flats(rg_local *local);
/* Newton's step; false if the conditions do not determine one. */
bool rg_local_step(const rg_local *local, double step[2]);
/* How far the step moves the gradient, and with it the points. */
double rg_local_move(const rg_local *local, const double step[2]);
/* Moves along the chosen flats so that the gradient q + sum of along flat vanishes as far as it
 * can. */
void rg_local_distribute(rg_local *local, const double q[2]);
/* Takes the step to first order in points and positions: for steps too small to be seen in n.
 * Points move in the plane perpendicular to n = axis + xi b. Returns how far that takes them off
 * their surfaces. */
double rg_local_nudge(rg_local *local, const double step[2], rg_vec3 axis, const rg_vec3 *b,
                      const double xi[2]);
/* The points with their flats, and how far they are outside their ranges (a length). */
double rg_local_points(const rg_local *local, rg_vec3 y[2]);

/* What a simplex of support points says about one side: features and weights (sum 1). */
typedef struct rg_witness {
    uint32_t label[4];
    rg_vec3 point[4];
    double weight[4];
    int count;
} rg_witness;

/* One run of Newton's method on local->patch. */
typedef enum rg_settled {
    RG_SETTLED_NOT,    /* did not converge */
    RG_SETTLED_ASTRAY, /* converged, but the certificate fails */
    RG_SETTLED_CERTIFIED
} rg_settled;
typedef rg_settled rg_settle(void *context, rg_local *local);

/* Runs `settle`; where a position leaves its range, again without that feature. True if certified.
 */
bool rg_local_settle(rg_local *local, rg_settle *settle, void *context);
/* Runs `settle` on the patches that the witnesses name: with the flat ends that are likely at the
 * normal n first, then with the others that are possible; and where a position leaves its range,
 * again without that feature. `single`, if not null, are the support points at n alone: they take
 * the place of either witness if nothing else works. True if certified. */
bool rg_local_attempt(const rg_surface *side, const rg_witness *witness, const rg_witness *single,
                      rg_vec3 n, rg_settle *settle, void *context);
rg_witness rg_witness_single(uint32_t label, rg_vec3 point);

#endif
