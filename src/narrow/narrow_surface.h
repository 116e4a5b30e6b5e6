/* The boundary of a side as the curved solvers see it: support points with the name of the feature
 * they lie on, and smooth pieces of the boundary ("patches") with their curvature.
 *
 * Side 2 enters the Minkowski difference K = K1 - K2 as -K2. A surface hides that: with sign = -1
 * it is the surface of the reflected body, so that the support of K is just the sum of two. */
#ifndef RIGOR_NARROW_NARROW_SURFACE_H
#define RIGOR_NARROW_NARROW_SURFACE_H

#include "narrow/narrow.h"

typedef struct rg_surface {
    const rg_shape *shape;
    const rg_polyhedron *polyhedron; /* null if curved */
    rg_shape_kind kind;
    double sign, scale; /* lengths of the shape are multiplied by `scale`, a power of two */
    rg_mat3 rotation;
    rg_vec3 centre;   /* in the shape's frame */
    rg_vec3 axis;     /* world axes, reflected with the body */
    double radius;    /* ball or rim */
    double low, high; /* the ends along the axis; of a cone base and apex */
    rg_vec3 semi;     /* ellipsoid: semi-axes */
    uint32_t hint;    /* last support vertex */
} rg_surface;

rg_surface rg_surface_make(const rg_side *side, double sign, double scale);

/* Support point in the direction n (any length but 0) relative to the centre, world axes. `label`
 * names the feature: vertex; end of a capsule or cylinder (0 low, 1 high); 0 rim, 1 apex of a cone;
 * otherwise 0. */
rg_vec3 rg_surface_support(rg_surface *surface, rg_vec3 n, uint32_t *label);
/* The support point that a label names, where the label alone does: vertices, and segments and
 * points (capsules and balls of radius 0). False otherwise. */
bool rg_surface_corner(const rg_surface *surface, uint32_t label, rg_vec3 *point);
/* A support point by the shape's own support function: another path through other formulas, for
 * certificates. */
rg_vec3 rg_surface_reference_support(const rg_surface *surface, rg_vec3 n);
/* The gauge: the least t such that p is in t times the body about its centre. Polyhedra: over all
 * facets. */
double rg_surface_gauge(const rg_surface *surface, rg_vec3 p);
/* Bounded by planes at the ends of its axis: may touch with a flat disc. */
bool rg_surface_has_cap(const rg_surface *surface);
/* Capsule, cylinder: the same at both ends of its axis, which labels name. */
bool rg_surface_has_ends(const rg_surface *surface);
/* Ellipsoid, sphere, disc: every point has one normal and every normal one point. */
bool rg_surface_is_smooth(const rg_surface *surface);

typedef enum rg_patch_form {
    RG_PATCH_POINT, /* nothing curved: vertices, caps, the apex */
    RG_PATCH_BALL,
    RG_PATCH_ELLIPSOID,
    RG_PATCH_RIM
} rg_patch_form;

typedef enum rg_patch_range {
    RG_RANGE_NONE,
    RG_RANGE_INTERVAL,
    RG_RANGE_TRIANGLE,
    RG_RANGE_DISC
} rg_patch_range;

enum { RG_PATCH_LABELS = 4 };

/* { base + curved(n) + sum of along[k] flat[k] } with `along` in a range: an interval, the triangle
 * along >= 0, along[0] + along[1] <= 1, or the disc |along| <= high[0]. All normals n of the patch
 * are perpendicular to its flats. */
typedef struct rg_patch {
    const rg_surface *surface;
    rg_patch_form form;
    rg_patch_range range;
    bool slant, cap;
    rg_vec3 base;
    int flats;
    rg_vec3 flat[2];
    double along[2], low, high;
    int labels;
    uint32_t label[RG_PATCH_LABELS];
} rg_patch;

/* The patch through the features `label`, `count` of them with their support points and weights
 * (sum 1), whose combination starts `along`. `cap` takes the flat end instead of the rim. False if
 * no patch has these features. */
bool rg_patch_make(rg_patch *patch, const rg_surface *surface, const uint32_t *label,
                   const rg_vec3 *point, const double *weight, int count, bool cap);
/* The patch with one feature less, where `along` has left its range; false if there is none. */
bool rg_patch_shrink(rg_patch *patch);
/* The smallest radius of curvature of its curved part; infinite if it has none. */
double rg_patch_radius(const rg_patch *patch);
/* How far `along` is outside its range, as a length. */
double rg_patch_excess(const rg_patch *patch);

/* The curved point and base for the normal n (flats moved with n), and the derivative of the
 * support point in the basis b: adds the symmetric 2 x 2 matrix { w11, w12, w22 } = b_i . (ds/dn)
 * b_j. False where it is not defined. */
bool rg_patch_evaluate(rg_patch *patch, rg_vec3 n, const rg_vec3 *b, rg_vec3 *point, double w[3]);

/* Two unit vectors perpendicular to the unit vector n and to each other; in planar problems the
 * second is y. */
void rg_tangents(rg_vec3 n, bool planar, rg_vec3 b[2]);

#endif
