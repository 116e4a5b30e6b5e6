/* How far apart or how deep two shapes are: the ratio metric (growth distance), Euclidean distance,
 * penetration depth, and the first time of contact along a motion. Plain functions on shapes and
 * poses; a world is not needed.
 *
 * Conventions (all stages): shapes 1 and 2, centres x1 and x2 (rg_shape_centre under the pose),
 * d = x2 - x1. A normal is a unit vector that points from shape 1 to shape 2. In a contact, body 1
 * is B and body 2 is A: the force on A is +f n. */
#ifndef RIGOR_PROXIMITY_H
#define RIGOR_PROXIMITY_H

#include "rigor/math.h"
#include "rigor/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which parts of two shapes determine a distance or a contact (n + 1 facets, an "event", in
 * Hart-Anitescu 2010). In the plane a face is an edge of the polygon, and edge-edge does not occur.
 * The last three occur in contact points only: they have no normal of their own. */
typedef enum rg_feature_kind {
    RG_FEATURES_NONE,
    RG_FEATURES_FACE_VERTEX, /* face of 1, vertex of 2 */
    RG_FEATURES_VERTEX_FACE, /* vertex of 1, face of 2 */
    RG_FEATURES_EDGE_EDGE,
    RG_FEATURES_SMOOTH, /* at least one shape is curved there */
    RG_FEATURES_VERTEX_VERTEX,
    RG_FEATURES_EDGE_VERTEX,
    RG_FEATURES_VERTEX_EDGE
} rg_feature_kind;

/* Indices are those of rg_polyhedron; half-spaces have index 0, curved shapes 0 or, in contact
 * points, the codes of rigor/contact.h. */
typedef struct rg_feature_pair {
    rg_feature_kind kind;
    uint32_t index1, index2;
} rg_feature_pair;

/* The ratio metric of two convex shapes (method: min t such that both, grown by t about their
 * centres, touch: t = max over n of n.d / h(n), h(n) = h1(n) + h2(-n) the support widths about the
 * centres). */
typedef struct rg_growth {
    double ratio; /* r = t: < 1 overlap, 1 touching, > 1 apart; 0 if the centres coincide */
    double rho;   /* (r - 1) / r; -infinity if r = 0 */
    double gap;   /* m: (t - 1) h(n); at most the true signed distance, and equal to it at touch */
    double width; /* m: h(n) */
    rg_vec3 normal;   /* unit n, from 1 to 2 */
    rg_vec3 point;    /* x*: where the grown shapes touch */
    rg_vec3 on1, on2; /* witnesses on the shapes: y_i = x_i + (x* - x_i) / t; n.(on2 - on1) = gap */
    rg_feature_pair features; /* that is active */
    /* Certificate, from formulas of its own. primal: how far the witnesses are outside their shapes
     * or off the line of the centres; dual: how far a support reaches beyond the feature pair's
     * plane; both in metres over h(n). gap: the relative difference between the t that the
     * witnesses prove (from above) and the t = n.d / h(n) that the normal proves (from below). */
    double primal_error, dual_error, duality_gap;
    uint32_t iterations;
    bool fallback;    /* the guaranteed solver had to step in */
    bool least_depth; /* not the ratio metric's feature, see rg_separation_between */
} rg_growth;

/* What a query remembers for the next one of the same pair; all zero: nothing. Results do not
 * depend on it beyond rounding. */
typedef struct rg_growth_cache {
    uint32_t valid;
    rg_feature_pair features;
    uint32_t vertex1, vertex2; /* support vertices */
    rg_vec3 normal1;           /* normal in shape 1's frame */
} rg_growth_cache;

/* Both convex, not both half-spaces, both spatial or both planar (half-spaces are either);
 * otherwise RG_INVALID_ARGUMENT. A half-space does not grow: its gap is exact. `cache` may be null.
 */
rg_status rg_growth_between(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                            rg_pose pose2, rg_growth_cache *cache, rg_growth *growth);

/* Derivatives of t with respect to translations and world-frame rotation vectors of both shapes
 * about their centres x1 and x2 (smooth where the feature pair is unique). Those of rho are these
 * over t^2. */
typedef struct rg_growth_gradient {
    rg_vec3 x1, theta1, x2, theta2;
} rg_growth_gradient;
rg_growth_gradient rg_growth_gradient_of(const rg_growth *growth, rg_vec3 x1, rg_vec3 x2);

/* The growth that one feature pair alone would give (component function): -infinity in `ratio`
 * where the feature pair's formula is undefined. Polyhedra and polygons only. */
rg_status rg_growth_of_features(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                                rg_pose pose2, rg_feature_pair features, rg_growth *growth);

/* Euclidean distance of two convex shapes (0 if they overlap), with closest points. */
typedef struct rg_distance {
    double distance;    /* m */
    rg_vec3 normal;     /* from 1 to 2; zero if they overlap */
    rg_vec3 on1, on2;   /* if they overlap, one point of both */
    double lower_bound; /* m: certified by the separating plane */
    uint32_t iterations;
    bool fallback; /* done again in double-double: the shapes all but touch, or are very unequal */
} rg_distance;

typedef struct rg_distance_cache {
    uint32_t count;    /* 0: nothing */
    rg_vec3 direction; /* in shape 1's frame */
    uint32_t hint1[4], hint2[4];
} rg_distance_cache;

rg_status rg_distance_between(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                              rg_pose pose2, rg_distance_cache *cache, rg_distance *distance);

/* Penetration depth: the smallest translation that separates two convex shapes (same pairs as
 * rg_growth_between). Of polyhedra and polygons it is exact: all normals that it may have (facets
 * of either, crossed edges) are looked at. Apart, it is minus the largest separation along one of
 * these: a lower bound of the distance, equal to it unless the closest features are vertex and
 * vertex or vertex and edge; if a shape is curved, minus the distance. */
typedef struct rg_depth {
    double depth;     /* m */
    double at_least;  /* m: certified; less than depth only if a cylinder, cone or ellipsoid is
                        involved, or a capsule */
    rg_vec3 normal;   /* move 2 along it by depth to separate */
    rg_vec3 on1, on2; /* deepest points: n.(on2 - on1) = -depth. Of flush faces a corner; the one
                         across from it need not be a point of the other face */
    rg_feature_pair features;
} rg_depth;
rg_status rg_depth_between(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                           rg_pose pose2, rg_depth *depth);

/* The growth, but where the shapes overlap gap, normal, witnesses and features are those of the
 * smallest translation that separates (rg_growth.least_depth), if it is shorter than the growth's
 * (where a shape is curved: if it may be less than half as long): what contacts are made of. The
 * ratio is n.d / h(n) for this n then. */
rg_status rg_separation_between(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                                rg_pose pose2, rg_growth_cache *cache, rg_growth *growth);

/* A ray against a shape, compounds included: the first point of the shape on it. */
typedef struct rg_ray_hit {
    double distance; /* along the ray, m; 0 if it starts inside */
    rg_vec3 point;
    rg_vec3 normal; /* outward; zero if the ray starts inside */
    size_t part;    /* of a compound */
} rg_ray_hit;
/* `direction` need not be of unit length but not 0. True if there is a hit within max_distance. In
 * the plane, origin and direction have y = 0. */
bool rg_shape_cast_ray(const rg_shape *shape, rg_pose pose, rg_vec3 origin, rg_vec3 direction,
                       double max_distance, rg_ray_hit *hit);

/* A motion of a shape, with bounds that make "never late" provable. */
typedef struct rg_path {
    const void *user;
    rg_vec3 reference; /* the point of the shape's frame whose velocity is bounded: the body's
                          centre of mass, about which it turns */
    void (*pose)(const void *user, double time, rg_pose *pose);
    /* Over [begin, end]: least and most of n . (velocity of the reference point), most of the
     * angular speed. */
    void (*bound)(const void *user, double begin, double end, rg_vec3 n, double *least,
                  double *most, double *spin);
    /* Over [begin, end]: rad/s, most of the speed at which an axis of the shape's frame changes its
     * direction: a capsule may spin about its own axis without moving. Null: not known. */
    double (*axis_bound)(const void *user, double begin, double end, rg_vec3 axis);
} rg_path;

/* Constant velocity of the reference point and constant angular velocity, from a pose of the
 * shape's frame at time `begin`. */
typedef struct rg_linear_motion {
    double begin;
    rg_pose start;
    rg_vec3 reference, velocity, angular_velocity;
} rg_linear_motion;
rg_path rg_path_linear(const rg_linear_motion *motion);

/* One step of an integrator: position of the reference point and (unnormalised) quaternion of the
 * centre-of-mass frame as polynomials in Bernstein form over [begin, begin + step]: degree + 1
 * coefficients each. */
enum { RG_PATH_DEGREE_MAX = 13 };
typedef struct rg_polynomial_motion {
    double begin, step;
    int degree; /* 1 ... RG_PATH_DEGREE_MAX */
    rg_vec3 position[RG_PATH_DEGREE_MAX + 1];
    rg_quat orientation[RG_PATH_DEGREE_MAX + 1];
    rg_pose shape_pose; /* of the shape's frame in the centre-of-mass frame */
} rg_polynomial_motion;
rg_path rg_path_polynomial(const rg_polynomial_motion *motion);

typedef struct rg_first_contact_settings {
    double tolerance; /* m: the answer has 0 < gap <= tolerance */
    rg_root_method root;
    uint32_t advance_limit; /* safe advances at most; then the answer is early, never late */
} rg_first_contact_settings;
rg_first_contact_settings rg_first_contact_settings_default(double tolerance); /* ITP, 10,000 */

typedef enum rg_first_contact_result {
    RG_FIRST_CONTACT_NONE,     /* free over the whole interval: certified */
    RG_FIRST_CONTACT_HIT,      /* first contact at `time`, on the free side */
    RG_FIRST_CONTACT_TOUCHING, /* gap <= tolerance at the start already */
    RG_FIRST_CONTACT_LIMIT     /* free up to `time`: certified; the rest is not known */
} rg_first_contact_result;

typedef struct rg_first_contact {
    rg_first_contact_result result;
    double time;
    rg_growth growth;     /* at that time */
    uint32_t advances;    /* safe advances */
    uint32_t evaluations; /* of gaps, root finding included */
    uint32_t root_evaluations;
} rg_first_contact;

typedef struct rg_moving_shape {
    const rg_shape *shape;
    const rg_path *path;
} rg_moving_shape;
/* The first time in [begin, end] (s) at which two convex shapes come as near as the tolerance. */
rg_status rg_first_contact_between(rg_moving_shape one, rg_moving_shape two, double begin,
                                   double end, const rg_first_contact_settings *settings,
                                   rg_first_contact *contact);

#ifdef __cplusplus
}
#endif
#endif
