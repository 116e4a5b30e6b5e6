/* What the files of a world's contacts share: contact_world.c finds pairs and points,
 * contact_touch.c tells which colliders touch. */
#ifndef RIGOR_CONTACT_COLLISION_H
#define RIGOR_CONTACT_COLLISION_H

#include "broad/broad_world.h"
#include "contact/contact.h"
#include "rigor/collision.h"
#include "world/world.h"

/* Two colliders, in the order of their slots. */
typedef struct rg_pair_ids {
    rg_collider_id b, a;
} rg_pair_ids;

/* By slots alone: a pair that has another collider in one of its slots compares equal. */
static inline int rg_pair_compare(rg_pair_ids x, rg_pair_ids y) {
    if (x.b.index1 != y.b.index1)
        return x.b.index1 < y.b.index1 ? -1 : 1;
    return x.a.index1 == y.a.index1 ? 0 : x.a.index1 < y.a.index1 ? -1 : 1;
}

/* With generations. */
static inline bool rg_pair_same(rg_pair_ids x, rg_pair_ids y) {
    return x.b.index1 == y.b.index1 && x.b.generation == y.b.generation &&
           x.a.index1 == y.a.index1 && x.a.generation == y.a.generation;
}

/* A candidate pair and where its caches stand. */
typedef struct rg_pair_memory {
    rg_pair_ids ids;
    uint32_t first_cache, cache_count;
} rg_pair_memory;

/* What the points of a pair whose bodies stand still followed from, and where they are: as long as
 * it stays as it is to the last bit, so do they. Of bodies that move, shapes and poses are not
 * told. */
typedef struct rg_pair_look {
    bool holds; /* they stood still, and the caches are those that the look started from */
    bool whole; /* no pair of parts was left out, whatever the motion */
    /* In a lane: manifolds and points are those of the look before, and have not been copied from
     * there; `first_manifold` and `first_point` say where they are. */
    bool in_before;
    uint32_t first_manifold, manifold_count, first_point, point_count;
    const rg_shape *shape[2];
    rg_pose pose[2];
    rg_contact_settings settings;
} rg_pair_look;

/* All candidate pairs of a look, sorted. */
typedef struct rg_pair_list {
    rg_pair_memory *pairs;
    size_t count, capacity;
    rg_pair_look *looks; /* of each pair */
    size_t look_capacity;
    rg_contact_cache *caches;
    size_t cache_count, cache_capacity;
} rg_pair_list;

typedef struct rg_pair_view {
    const rg_pair_memory *pairs;
    size_t pair_count;
    const rg_contact_cache *caches;
    size_t cache_count;
} rg_pair_view;

typedef struct rg_touching_list {
    rg_pair_ids *pairs;
    size_t count, capacity;
} rg_touching_list;

/* Points of a look, by pairs. */
typedef struct rg_contact_look {
    rg_touch *touches;
    size_t touch_count, touch_capacity;
    rg_manifold *manifolds;
    size_t manifold_count, manifold_capacity;
    rg_contact_point *points;
    size_t point_count, point_capacity;
} rg_contact_look;

/* A collider at a look. */
typedef struct rg_placed_collider {
    const rg_collider *collider;
    size_t body; /* dense */
    rg_pose pose;
    double radius;  /* m: circumradius of the shape */
    double reach;   /* m: of its farthest point from the centre of mass; 0: of none */
    double turning; /* m/s: of that point, as the body turns */
    bool still;     /* its body has no velocity */
} rg_placed_collider;

/* Candidate pairs are looked at in so many lanes at most, each with memory of its own, whatever the
 * number of threads. */
enum { RG_COLLISION_LANES = 16 };

/* What a lane found, to be appended to what those before it did: contact_lanes.c. */
typedef struct rg_collision_lane {
    rg_arena arena;
    rg_contact_look now;
    rg_pair_list found;
    rg_part_pair *left_out;
    size_t left_out_count, left_out_capacity;
    size_t bent;
    double min_gap;
    rg_status status;
} rg_collision_lane;

struct rg_collision {
    rg_allocator allocator;
    rg_collision_def def;
    rg_broad_world *broad;
    rg_broad *parts; /* whose proxies are convex parts; null until asked for */
    size_t part_count;
    rg_arena arena;
    rg_collision_lane *lanes;    /* null until there are many pairs and threads */
    rg_contact_look now, before; /* of the last look, and of the one before */
    rg_touch_end *ended;
    size_t ended_count, ended_capacity;
    double min_gap;
    rg_part_pair *left_out; /* within reach, and without points */
    size_t left_out_count, left_out_capacity;
    size_t bent;           /* rg_collision_bent */
    rg_pair_list lists[2]; /* of the last look and of the one before, in turns */
    int current;
    rg_pair_view last; /* what the next look starts from: a list, or the world's memory */
    rg_touching_list touching[2]; /* current, and of the step or update before; both sorted */
    rg_touching_list marks;       /* pairs that had a contact in the step, in any order */
    bool has_sensors;             /* one is touched */
    double ahead;                 /* s: how far the look looks ahead */
    double falling;               /* m: what gravity adds to a motion in that time */
    const rg_collision_velocities *after; /* of the look that runs */
    rg_placed_collider *placed;           /* in the order of the world's colliders: */
    uint8_t *is_placed;                   /* those that are known */
    rg_material_id law_of[2];             /* the pair of materials that was last asked for: */
    rg_contact_law law;                   /* its law, if that is known */
    bool knows_law;
    bool in_lane;          /* it works for another one: what it finds is appended to that */
    bool again;            /* it goes on with what the one before found */
    bool deep;             /* all points where bodies overlap are wanted, not the deepest alone */
    const uint8_t *member; /* per body: 1 if its pairs are looked at; null: all */
    const uint8_t *moved;  /* per body: 1 if it is not where its bounds expect it; null: all */
};

/* contact_lanes.c */
/* The lanes of a collision, made when first asked for; null without memory. */
rg_collision_lane *rg_collision_lanes(rg_collision *collision);
void rg_collision_free_lanes(rg_collision *collision);
/* A collision to look with: all that it finds is the lane's. And back into the lane. */
rg_collision rg_collision_enter_lane(const rg_collision *collision, const rg_collision_lane *lane);
void rg_collision_leave_lane(const rg_collision *found, rg_status status, rg_collision_lane *lane);
/* What `count` lanes found, in their order, into a collision that has found nothing yet. */
rg_status rg_collision_append_lanes(rg_collision *collision, size_t count, rg_pool *pool);
static inline void rg_contact_look_free(const rg_allocator *memory, rg_contact_look *look) {
    rg_release(memory, look->touches);
    rg_release(memory, look->manifolds);
    rg_release(memory, look->points);
}
static inline void rg_pair_list_free(const rg_allocator *memory, rg_pair_list *list) {
    rg_release(memory, list->pairs);
    rg_release(memory, list->caches);
    rg_release(memory, list->looks);
}

/* contact_touch.c */
/* What touched in the last step of the world. */
rg_status rg_touching_recall(rg_collision *collision, const rg_world *world);
/* Which colliders touch, began to and no longer do. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_touching_find(rg_collision *collision, const rg_world *world);
/* Whether a sensor is touched: so that nobody looks for one in vain. */
static inline bool rg_collision_has_sensors(const rg_collision *collision) {
    return collision->has_sensors;
}
/* The current list becomes the previous one: in the object, or in the world. */
void rg_touching_keep(rg_collision *collision);
rg_status rg_touching_store(rg_collision *collision, rg_world *world);

#endif
