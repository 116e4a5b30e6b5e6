/* Candidate pairs: which axis-aligned boxes overlap, from step to step.
 *
 * A proxy stands for a collider: an id that the caller chooses (small numbers: arrays are indexed
 * by it), bounds, and what decides whether two proxies may meet at all. An update answers with all
 * pairs whose bounds overlap and whose filters agree, in the order of (a, b), a < b, and with the
 * pairs that began and ended since the update before. Bounds that touch overlap; bounds may be
 * infinite.
 *
 * Two implementations give the same pairs in the same order:
 *
 *   sorted  end points in order along each axis, kept by insertion sort; pairs come and go with the
 *           swaps; n + swaps per update (broad_sorted.c)
 *   tree    a dynamic tree of enlarged boxes; n + log n for each box that leaves its enlarged one,
 *           whatever the sizes (broad_tree.c)
 *
 * The pairs are a function of bounds and filters alone, not of history, implementation or threads.
 */
#ifndef RIGOR_BROAD_BROAD_H
#define RIGOR_BROAD_BROAD_H

#include "rigor/math.h"
#include "rigor/shape.h"
#include "rigor/status.h"
#include "rigor/types.h"

/* Ids are below this. */
#define RG_PROXY_MOST UINT32_C(0x7FFFFFFF)

enum {
    RG_PROXY_FIXED = 1, /* forces do not move its body: two of them make no pair */
    RG_PROXY_SENSOR = 2 /* reports and makes no force; for the caller, no rule of the pairs */
};

typedef struct rg_proxy_filter {
    uint64_t category, mask; /* a.category & b.mask and b.category & a.mask must not be 0 */
    uint32_t body;           /* two proxies of one body make no pair */
    uint32_t flags;          /* RG_PROXY_... */
} rg_proxy_filter;

/* Category 1, mask all. */
rg_proxy_filter rg_proxy_filter_default(uint32_t body);

typedef struct rg_broad_pair {
    uint32_t a, b; /* ids, a < b */
} rg_broad_pair;

typedef struct rg_broad_pairs {
    const rg_broad_pair *pairs;
    size_t count;
} rg_broad_pairs;

/* True: this pair is not wanted (a joint connects its bodies). Called with a < b for pairs that
 * overlap and that the filters let pass; must give the same answer until one of the two proxies is
 * touched. */
typedef bool rg_broad_exclude(void *user, uint32_t a, uint32_t b);

typedef struct rg_broad_kind rg_broad_kind;
extern const rg_broad_kind rg_broad_sorted, rg_broad_tree;
const rg_broad_kind *rg_broad_kind_find(const char *name); /* "sorted", "tree"; else null */
const char *rg_broad_kind_name(const rg_broad_kind *kind);
/* The kind that suits these boxes; broad.c has the rule and its measured ground. */
const rg_broad_kind *rg_broad_choose(const rg_bounds *bounds, size_t count);

typedef struct rg_broad_def {
    const rg_broad_kind *kind; /* null: rg_broad_choose, again when the number has doubled or
                                  halved */
    rg_broad_exclude *exclude; /* may be null */
    void *exclude_user;
} rg_broad_def;

/* What the last update did. Counters that are not of the kind in use are 0. */
typedef struct rg_broad_info {
    size_t proxies, pairs, begun, ended;
    uint64_t swaps;         /* sorted: of end points, on the three axes */
    uint64_t sweep_tests;   /* sorted: candidates looked at for proxies that are new */
    uint64_t overlap_tests; /* boxes compared, three axes */
    uint64_t reinsertions;  /* tree: boxes that have left their enlarged ones, or are new */
    uint64_t node_visits;   /* tree: in queries */
    uint64_t rebuilds;      /* since creation: everything sorted, or the tree built, anew */
} rg_broad_info;

typedef struct rg_broad rg_broad;

rg_status rg_broad_create(const rg_broad_def *def, const rg_allocator *allocator, rg_broad **broad);
void rg_broad_destroy(rg_broad *broad); /* null is allowed */

/* A failed call changes nothing. RG_INVALID_ARGUMENT: lower > upper, a NaN, an id that is in use
 * (add) or is too large. A proxy that is removed and added again between two updates is a new one:
 * its old pairs end and its new ones begin, so that a pair may be in both lists. */
rg_status rg_broad_add(rg_broad *broad, uint32_t id, const rg_bounds *bounds,
                       const rg_proxy_filter *filter);
/* Adds a proxy, or gives the one that is there these bounds and this filter. */
rg_status rg_broad_put(rg_broad *broad, uint32_t id, const rg_bounds *bounds,
                       const rg_proxy_filter *filter);
void rg_broad_remove(rg_broad *broad, uint32_t id);
bool rg_broad_has(const rg_broad *broad, uint32_t id);
rg_status rg_broad_set_bounds(rg_broad *broad, uint32_t id, const rg_bounds *bounds);
rg_bounds rg_broad_bounds(const rg_broad *broad, uint32_t id);
void rg_broad_set_filter(rg_broad *broad, uint32_t id, const rg_proxy_filter *filter);
rg_proxy_filter rg_broad_filter(const rg_broad *broad, uint32_t id);
/* What `exclude` says of this proxy has changed. */
void rg_broad_touch(rg_broad *broad, uint32_t id);

/* Finds the pairs. Without memory the lists are as they were, and a later update catches up. No
 * heap call once as many proxies, pairs and changes have been seen. */
rg_status rg_broad_update(rg_broad *broad);

/* As of the last update; valid until the next one. All sorted. */
rg_broad_pairs rg_broad_pairs_all(const rg_broad *broad);
rg_broad_pairs rg_broad_pairs_begun(const rg_broad *broad);
rg_broad_pairs rg_broad_pairs_ended(const rg_broad *broad);
rg_broad_info rg_broad_get_info(const rg_broad *broad);
const rg_broad_kind *rg_broad_get_kind(const rg_broad *broad); /* the one in use */

/* --- bounds over a motion (broad_sweep.c) --------------------------------------------------------
 *
 * Every point of the shape stays inside during the whole motion, rounding included. Tight if the
 * motion is a translation. */

/* The shape's frame starts at `pose`; the point `centre` (world) moves with constant velocity for
 * `step` seconds while the shape turns about it with constant angular velocity (world axes), or is
 * off that turn by up to `drift` radians. */
rg_bounds rg_bounds_swept(const rg_shape *shape, rg_pose pose, rg_vec3 centre, rg_vec3 velocity,
                          rg_vec3 angular_velocity, double step, double drift);
/* The same as a record, with the turn of the step, rad. */
typedef struct rg_sweep {
    const rg_shape *shape;
    rg_pose pose;
    rg_vec3 centre, velocity, turn;
    double step, drift;
} rg_sweep;
rg_bounds rg_bounds_of_sweep(const rg_sweep *sweep);
/* Of a ball about the centre. */
rg_bounds rg_bounds_swept_ball(double radius, const rg_vec3 *centre, const rg_vec3 *velocity,
                               double step);
/* Both poses of the shape's frame are given; between them a point of the body (`centre`, in the
 * shape's frame) moves on the straight line and the shape turns the shorter way at a constant rate.
 */
rg_bounds rg_bounds_between(const rg_shape *shape, rg_pose start, rg_pose end, rg_vec3 centre);
/* All that is known is that no point of the motion's centre goes farther than `shift` metres and
 * the shape turns by no more than `angle` radians about it. */
rg_bounds rg_bounds_within(const rg_shape *shape, rg_pose pose, rg_vec3 centre, double shift,
                           double angle);
/* Larger by `margin` >= 0 on all sides. */
static inline rg_bounds rg_bounds_enlarged(rg_bounds bounds, double margin) {
    rg_vec3 m = {margin, margin, margin};
    return (rg_bounds){rg_sub(bounds.lower, m), rg_add(bounds.upper, m)};
}

#endif
