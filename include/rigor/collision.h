/* Contacts of a whole world: which colliders touch, where, what began and what ended; and questions
 * to a world: rays, moving shapes, overlaps, nearest things.
 *
 * A world has one collision. Its step brings it up to date and owns it; programs read it between
 * steps (rg_world_collision, rg_collision_get). Looking changes nothing. A program that wants
 * contacts at the current poses without a step makes a collision of its own (rg_collision_create),
 * which reads the world and never writes to it. */
#ifndef RIGOR_COLLISION_H
#define RIGOR_COLLISION_H

#include "rigor/contact.h"
#include "rigor/material.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_collision rg_collision;

/* Two colliders within the range of the contact settings. B is the one of the lower slot. */
typedef struct rg_touch {
    rg_collider_id collider_b, collider_a;
    rg_body_id body_b, body_a;
    bool sensor;        /* one of them is: reports, no force */
    bool touching;      /* see rg_collision_def.touch */
    bool began;         /* touching, and was not at the step (or update) before */
    double gap;         /* m: smallest of all its points */
    rg_contact_law law; /* of the materials, or what the material function made of it */
    uint32_t first_manifold, manifold_count;
} rg_touch;

/* A pair that touched at the step (or update) before and does no longer. */
typedef struct rg_touch_end {
    rg_collider_id collider_b, collider_a; /* either may be gone by now */
} rg_touch_end;

/* May change the law of a pair, which comes with both coefficients of friction filled in; what it
 * makes of it is completed in the same way (rg_contact_law_complete). Called in every step, and
 * acts in that step, for every pair that may have contact forces in it: by the method stepping when
 * contact points have been found, by the method analytic also at the instants at which contacts
 * begin (then the touch has no manifolds). It may be called several times for a pair in one step
 * and must then give the same law. The world may only be read. */
typedef void rg_material_function(void *user, const rg_world *world, const rg_touch *touch,
                                  rg_contact_law *law);

typedef enum rg_broad_phase {
    RG_BROAD_PHASE_AUTO, /* chosen by the scene; pairs and their order do not depend on it */
    RG_BROAD_PHASE_SORTED,
    RG_BROAD_PHASE_TREE
} rg_broad_phase;

typedef struct rg_collision_def {
    int api_version;
    rg_broad_phase broad_phase;
    rg_contact_settings contacts;
    /* m: gap up to which two colliders touch, and twice that as long as they go on touching; 0:
     * RG_TOUCH_SHARE of the smaller circumradius. In a step two colliders touch, too, if there was
     * a contact force between them, or, in the method analytic, a contact at any time of the
     * step. */
    double touch;
    rg_material_function *material;
    void *material_user;
} rg_collision_def;

#define RG_TOUCH_SHARE 1e-6

/* Broad phase by the scene, contact settings by size, no material function. */
rg_collision_def rg_collision_def_default(void);

/* The collision of the last step; null before the first one. Valid as long as the world; what
 * rg_collision_get gives of it, until the next step. */
const rg_collision *rg_world_collision(const rg_world *world);

/* A collision for a program's own looks at the current poses. */
rg_status rg_collision_create(const rg_collision_def *def, const rg_allocator *allocator,
                              rg_collision **collision, rg_error *error);
void rg_collision_destroy(rg_collision *collision); /* null is allowed; not that of a world */
/* Finds all contacts at the current poses. `ahead` > 0 looks that many seconds ahead (continuous
 * detection): pairs that may meet within them have contact points, too; 0 is discrete. Colliders
 * filter by category and mask; fixed and kinematic bodies do not meet each other. What began and
 * ended is told from one update of this object to the next. */
rg_status rg_collision_update(rg_collision *collision, const rg_world *world, double ahead,
                              rg_error *error);

/* As of the last step or update, in the order of collider slots. Contact points of a step are those
 * at its beginning, from which its contact forces were found (rg_world_contact_forces). */
typedef struct rg_collision_view {
    const rg_touch *touches;
    size_t touch_count;
    const rg_manifold *manifolds;
    size_t manifold_count;
    const rg_contact_point *points;
    size_t point_count;
    const rg_touch_end *ended;
    size_t ended_count;
    size_t candidate_pairs; /* of the broad phase */
    double min_gap;         /* m, over all touches; infinity if there is none */
    size_t left_out; /* pairs within reach that do not meet in the motion that was looked at */
} rg_collision_view;
/* Null gives an empty view. */
rg_collision_view rg_collision_get(const rg_collision *collision);
/* Indices of the touches that a body takes part in; returns how many there are. */
size_t rg_collision_of_body(const rg_collision *collision, rg_body_id body, uint32_t *touches,
                            size_t capacity);

/* --- questions to a world --------------------------------------------------------------------- */

typedef struct rg_query_filter {
    uint64_t mask; /* colliders whose category has none of these bits are not seen; 0: all are */
    bool sensors;  /* see them too */
    rg_body_id ignore; /* this body is not seen; null: none */
} rg_query_filter;
/* Sees everything but sensors: {0}. A null filter means this. */
rg_query_filter rg_query_filter_default(void);

typedef struct rg_world_hit {
    rg_collider_id collider;
    rg_body_id body;
    double distance; /* m along the ray or translation; the gap for rg_world_closest */
    rg_vec3 point;   /* on the collider */
    rg_vec3 normal;  /* outward from the collider; zero where the question starts inside */
    size_t part;     /* of a compound */
} rg_world_hit;

/* The first collider on a ray. */
bool rg_world_cast_ray(const rg_world *world, rg_vec3 origin, rg_vec3 direction,
                       double max_distance, const rg_query_filter *filter, rg_world_hit *hit);
/* A convex shape that is moved along a straight line without turning. */
typedef struct rg_shape_cast {
    const rg_shape *shape;
    rg_pose pose;        /* at the beginning */
    rg_vec3 translation; /* m */
    double tolerance;    /* m, > 0: how near it comes to what it hits */
} rg_shape_cast;
/* The first collider that it comes to within its tolerance of. */
rg_status rg_world_cast_shape(const rg_world *world, const rg_shape_cast *cast,
                              const rg_query_filter *filter, bool *found, rg_world_hit *hit);
/* Colliders that overlap a convex shape; returns how many in *count, writes at most `capacity`. */
rg_status rg_world_overlap(const rg_world *world, const rg_shape *shape, rg_pose pose,
                           const rg_query_filter *filter, rg_collider_id *colliders,
                           size_t capacity, size_t *count);
/* The collider nearest to a convex shape, at most max_distance away; distance 0 if they overlap. */
rg_status rg_world_closest(const rg_world *world, const rg_shape *shape, rg_pose pose,
                           double max_distance, const rg_query_filter *filter, bool *found,
                           rg_world_hit *hit);

#ifdef __cplusplus
}
#endif
#endif
