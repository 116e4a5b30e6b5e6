/* From two shapes near each other to the points where they touch.
 *
 *   contact_feature.c   which separating feature: hysteresis, ties, the averaged plane
 *   contact_cap.c       what of a polyhedron is level with its farthest point along the normal
 *   contact_cap_curved.c  the same for curved shapes and half-spaces
 *   contact_clip.c      where two caps overlap: all points
 *   contact_manifold.c  the table of contents, for two convex shapes
 *   contact_reduce.c    fewer points, nearly the same support area
 *   contact_parts.c     compounds
 *   contact_round.c     balls, in closed form
 *
 * Everything happens in the frame of a contact: origin at the centre of a bounded shape, axes u, v
 * across the normal and n along it. `z` is a coordinate along n. Memory comes from the caller's
 * arena. */
#ifndef RIGOR_CONTACT_CONTACT_H
#define RIGOR_CONTACT_CONTACT_H

#include "base/base_arena.h"
#include "base/base_math.h"
#include "rigor/collision.h"
#include "rigor/contact.h"

/* Lengths in smaller circumradii. */
#define RG_CONTACT_LATERAL  1e-7  /* corners this near to each other are one (eps_x of E3 and E4) */
#define RG_CONTACT_ROUNDING 1e-10 /* facets are flat to this: the smallest band */
#define RG_CONTACT_FLAT     1e-9  /* a point inside an outline counts if it is this much deeper */
#define RG_CONTACT_TIE      1e-9  /* separating features this equal tie */
#define RG_CONTACT_DISTANT  1e-14 /* in larger circumradii: what rounding does to a distance */
/* Slopes (cosine of the angle between the normals) up to which a facet belongs to a skirt. Over
 * steeper ones a point within the band is within as much of the cap's outline. */
#define RG_CONTACT_GENTLE 0.7
/* Radians: normals closer than this are one. */
#define RG_CONTACT_SAME_NORMAL 1e-6
/* Sine: edges more parallel than this have no normal that could be relied on. */
#define RG_CONTACT_PARALLEL 1e-8

/* Looking ahead: distances that current speeds would cover in a step, times this. */
#define RG_CONTACT_AHEAD 3.0

/* rad, in one motion: what turns farther does not do so at a rate that is nearly constant, and a
 * plane that separates at both ends may not do so in between. */
#define RG_CONTACT_TURN 1.0

#define RG_CONTACT_NO_FACET UINT32_MAX

/* One of the two shapes. */
typedef struct rg_contact_side {
    const rg_shape *shape;
    const rg_polyhedron *polyhedron; /* null if curved or a half-space */
    rg_mat3 rotation;                /* shape frame to world axes */
    rg_vec3 centre;   /* rg_shape_centre, relative to the origin of the pair, world axes */
    rg_vec3 position; /* the shape frame's origin, likewise */
    double sign;      /* +1 for shape 1, -1 for shape 2: the other lies along sign n */
} rg_contact_side;

typedef struct rg_contact_pair {
    rg_contact_side side[2];
    rg_vec3 origin; /* world */
    rg_vec3 d;      /* from centre 1 to centre 2 */
    double size;    /* m: smaller circumradius */
    double lateral; /* m: RG_CONTACT_LATERAL or what rounding needs */
    bool planar;
    bool ahead; /* the caller looks ahead: what turning may bring down counts, too */
} rg_contact_pair;

typedef struct rg_contact_frame {
    rg_vec3 u, v, n;
} rg_contact_frame;

void rg_contact_pair_make(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                          rg_pose pose2, rg_contact_pair *pair);
/* Right-handed, deterministic; in the plane v = y. */
rg_contact_frame rg_contact_frame_make(rg_vec3 normal, bool planar);

/* Facet number k around a vertex; in the plane one of the two edges that meet there. There are as
 * many as the vertex has neighbours. */
uint32_t rg_contact_facet_at(const rg_shape *shape, uint32_t vertex, uint32_t k);

/* ------------------------------------------------------------------ feature */

typedef struct rg_contact_choice {
    rg_vec3 normal;
    rg_feature_pair features;
    bool kept, degenerate;
} rg_contact_choice;

/* The separating feature. `last` is that of the step before, or of kind NONE. */
rg_contact_choice rg_contact_choose(const rg_contact_pair *pair, const rg_growth *growth,
                                    rg_feature_pair last, double stick);

/* ------------------------------------------------------------------ caps */

typedef enum rg_cap_kind {
    RG_CAP_OUTLINE, /* convex polygon, counter-clockwise; two corners: a segment; one: a point */
    RG_CAP_DISC,
    RG_CAP_PLANE /* everywhere */
} rg_cap_kind;

typedef struct rg_cap_corner {
    double x, y, z;
    uint32_t index; /* vertex, or code of a curved shape */
    uint32_t edge;  /* to the next corner */
} rg_cap_corner;

/* z = height + slope_x x + slope_y y */
typedef struct rg_cap_plane {
    double height, slope_x, slope_y;
    uint32_t facet;
} rg_cap_plane;

/* A facet that leaves the cap at a gentle slope: where it is still within the band, vertices of the
 * other shape may be over it. Its corners run counter-clockwise. */
typedef struct rg_skirt_facet {
    uint32_t first, end; /* corners */
    rg_cap_plane plane;
} rg_skirt_facet;

/* An edge that does; or, looking ahead, one between vertices of the cap, which need not be a side
 * of the outline. */
typedef struct rg_skirt_edge {
    rg_cap_corner from, to; /* from.edge is its number */
} rg_skirt_edge;

typedef struct rg_skirt {
    uint32_t facet_count, corner_count, edge_count;
    rg_skirt_facet *facets;
    rg_cap_corner *corners;
    rg_skirt_edge *edges;
} rg_skirt;

/* The part of a shape that faces the other one. */
typedef struct rg_cap {
    rg_cap_kind kind;
    bool curved, face; /* face: its inside is one facet, not an edge or a vertex */
    double sign;
    double top; /* z of the farthest point */
    uint32_t corner_count;
    rg_cap_corner *corners; /* of a disc: points on its rim */
    uint32_t inner_count;   /* vertices inside the outline: only where several facets are level */
    rg_cap_corner *inner;
    uint32_t plane_count; /* the surface is the lowest (1) or highest (2) of them; 0: of an outline
                             of one or two corners only */
    rg_cap_plane *planes;
    uint32_t leftmost, rightmost; /* corners of an outline */
    double low_y, high_y;
    double centre_x, centre_y, radius; /* disc */
    rg_skirt skirt;                    /* of polyhedra */
} rg_cap;

rg_status rg_cap_make(const rg_contact_pair *pair, int side, const rg_contact_frame *frame,
                      double band, rg_arena *arena, rg_cap *cap);
/* contact_cap_curved.c: called by rg_cap_make. */
rg_status rg_cap_make_curved(const rg_contact_pair *pair, const rg_contact_side *side,
                             const rg_contact_frame *frame, double band, rg_arena *arena,
                             rg_cap *cap);
/* Fills leftmost, rightmost and the bounds. */
void rg_cap_finish(rg_cap *cap);
/* The surface over a place; `plane`, if not null, gets the number of the plane that is there. */
double rg_cap_height(const rg_cap *cap, double x, double y, uint32_t *plane);

/* ------------------------------------------------------------------ points */

/* A point in the frame of the contact. x and y are the same on both bodies but for witnesses of
 * the growth distance. */
typedef struct rg_clip_point {
    double x[2], y[2], z[2];
    double gap;
    rg_feature_pair feature;
    uint64_t id;
} rg_clip_point;

typedef struct rg_clip {
    rg_arena *arena;
    rg_status status; /* RG_OUT_OF_MEMORY once there was no room for a point */
    rg_clip_point *points;
    uint32_t count, capacity;
    double most;    /* m: points with a larger gap are left out */
    double lateral; /* m */
    double flat;    /* m */
    double inner;   /* m: inner vertices count if their gap exceeds the smallest by less */
} rg_clip;

/* All points of two caps; then sorts by id and leaves out doubles. */
void rg_clip_caps(const rg_cap *cap1, const rg_cap *cap2, rg_clip *clip);
void rg_clip_add(rg_clip *clip, rg_clip_point point);
void rg_clip_sort(rg_clip *clip);

/* ------------------------------------------------------------------ reduction */

/* The hull of the points whose gap is at most `most`, seen along the normal, counter-clockwise. */
typedef struct rg_ring_corner {
    double x, y;
    uint32_t point;
} rg_ring_corner;
typedef struct rg_ring {
    uint32_t count;
    rg_ring_corner *corner;
} rg_ring;
rg_status rg_clip_ring(const rg_clip *clip, double most, rg_arena *arena, rg_ring *ring);

/* Leaves out points until at most `goal` remain, as long as the area of the hull of those that
 * touch, of those that are near, and of all, loses no more than `loss` of itself; then until at
 * most `capacity` remain, whatever that costs. The deepest point stays. Returns the area of the
 * hull of all, and the share of it that was lost. */
rg_status rg_contact_reduce(rg_clip *clip, uint32_t goal, double loss, uint32_t capacity,
                            rg_arena *arena, double *area, double *lost);

/* ------------------------------------------------------------------ the stage's interface */

typedef struct rg_placed_shape {
    const rg_shape *shape;
    rg_pose pose;
} rg_placed_shape;

/* Two convex shapes, not both half-spaces, and the place for their points. */
typedef struct rg_contact_query {
    rg_placed_shape one, two;
    const rg_contact_settings *settings; /* null: the defaults */
    rg_contact_cache *cache;             /* may be null */
    rg_arena *arena;                     /* left as it was found */
    rg_contact_point *points;
    uint32_t capacity; /* at least 1; if there are more points, they are reduced to this number */
} rg_contact_query;

rg_status rg_contact_between(const rg_contact_query *query, rg_manifold *manifold);
/* The same along a given normal: that of a plane which separates them, or is to. There is always a
 * point. The cache is not looked at. */
rg_status rg_contact_along(const rg_contact_query *query, rg_vec3 normal, rg_manifold *manifold);
/* The same for a given growth (of this very pair). */
rg_status rg_contact_of_growth(const rg_contact_query *query, const rg_growth *growth,
                               rg_manifold *manifold);

/* contact_plane.c: how far two convex shapes are apart along a unit vector from one to two; < 0: no
 * plane across it separates them. */
double rg_contact_separation(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                             rg_pose pose2, rg_vec3 n);

/* A shape in motion, from where it is at the beginning. */
typedef struct rg_swept_shape {
    rg_placed_shape placed;
    rg_vec3 centre, velocity, angular_velocity; /* of its body */
} rg_swept_shape;
rg_pose rg_swept_pose(const rg_swept_shape *shape, double time);
/* m: of its farthest point from the centre that it turns about; 0 for a ball about its centre. */
double rg_swept_reach(const rg_swept_shape *shape);

/* Of how far points may move: shapes that end nearer to each other than that graze, and what they
 * graze counts as met, too. A solve that does not know of it pushes one into the other, and what
 * then is met on two sides of a peg in a tight hole may contradict each other. */
#define RG_PLANE_GRAZING 0.01
/* Of the size of the smaller shape: what shapes that may be flush may stand out by, at the
 * velocities of the beginning of a step, which the contacts beside them will change. */
#define RG_PLANE_UNDECIDED 1e-5
/* Cosine of the angle between normals from which a plane is another one. */
#define RG_PLANE_ANOTHER 0.9

typedef enum rg_plane_result {
    RG_PLANE_OF_START, /* the feature of the beginning: it separates to the end, or they touch */
    RG_PLANE_APART,    /* another one does */
    RG_PLANE_MEETS,    /* none does: this is the one that is met */
    RG_PLANE_NEVER     /* none does, but they do not meet; or it is not known yet */
} rg_plane_result;
typedef struct rg_plane_choice {
    rg_plane_result result;
    rg_vec3 normal;
    double time;      /* s: of contact, or the end; where its points are looked for */
    bool closes;      /* of RG_PLANE_OF_START: they touch, and it does not separate to the end; of
                         RG_PLANE_APART: it was expected to, but does not in the motion found */
    rg_growth growth; /* of RG_PLANE_MEETS, at that time */
} rg_plane_choice;
/* The plane that two convex shapes are asked to respect over the next `time` seconds. `found`: the
 * velocities are those that a solve has found. `start`: their growth at the beginning. */
rg_status rg_contact_plane(const rg_swept_shape *one, const rg_swept_shape *two, double time,
                           bool found, const rg_growth *start, rg_plane_choice *choice);

/* contact_held.c: until when two convex shapes stay apart over a motion, up to a share of the
 * thickness of the thinner one. `change`: rad/s, by how much the angular velocity of either changes
 * meanwhile; `normal`: of a plane that may separate them. */
rg_status rg_contact_holds(const rg_swept_shape side[2], const double change[2], double time,
                           rg_vec3 normal, double *until);
/* m: inradius of the thinner of two convex shapes; a half-space is as thick as can be. */
double rg_contact_thinner(const rg_shape *shape1, const rg_shape *shape2);

/* Of the faces whose planes separate two convex shapes now, to `tolerance`, the one along which
 * they come apart fastest, or approach slowest; rate -infinity: there is none. Where features are
 * degenerate there are several: a vertex or an edge that slides over flush faces. */
typedef struct rg_free_plane {
    rg_vec3 normal;
    double rate; /* m/s: of the separation along it */
    rg_feature_pair features;
} rg_free_plane;
rg_free_plane rg_contact_free_plane(const rg_swept_shape *one, const rg_swept_shape *two,
                                    double tolerance);

/* Manifolds of a pair of shapes that an earlier look of the same step found: they stay. */
typedef struct rg_kept_manifolds {
    const rg_manifold *manifolds;
    uint32_t count;
    const rg_contact_point *points;
} rg_kept_manifolds;

/* The motions that contacts are looked for, of the bodies of two shapes: the second one only if the
 * first asks for nothing. */
typedef struct rg_pair_motion {
    double time;                                               /* s; 0: none */
    int count;                                                 /* of motions */
    bool found;                                                /* by a solve of the same step */
    bool rests;                                                /* at the beginning of the step */
    rg_vec3 centre[2], velocity[2][2], angular_velocity[2][2]; /* [motion][side] */
    double share;                                              /* rg_contact_share of the two */
    double margin; /* m: by how much the motion that is made may differ from these */
    rg_kept_manifolds kept;
} rg_pair_motion;

/* What else there is to say of two parts. */
typedef struct rg_part_remarks {
    bool left_out; /* rg_contact_list */
    bool bent;
} rg_part_remarks;

/* contact_parts.c: the points of the plane that the motion of any two convex parts asks for; null:
 * at the current poses. */
rg_status rg_contact_find(const rg_contact_query *query, const rg_pair_motion *motion,
                          rg_part_remarks *remarks, rg_manifold *manifold);
/* contact_round.c: the same of balls in closed form; false: these are none, or not
 * such that it holds. */
bool rg_contact_round(const rg_contact_query *query, const rg_pair_motion *motion,
                      rg_part_remarks *remarks, rg_manifold *manifold);
/* Of a ball and a half-space, which have one point in every motion; false: they are farther apart
 * than `near`, and the manifold has no point. */
typedef struct rg_ball_over_plane {
    const rg_shape *plane;
    const rg_pose *plane_pose;
    double radius;
    rg_vec3 centre;
    bool first; /* the plane is shape 1 */
} rg_ball_over_plane;
bool rg_contact_over_plane(const rg_ball_over_plane *over, double near, rg_contact_point *point,
                           rg_manifold *manifold);

/* Where on the way from B's surface to A's an impulse acts, 0 ... 1: at the surface of the smaller
 * body. Across a gap, or a depth, that is large for it, half-way would be a lever that it does not
 * have, and spin would do what the impulse should. */
double rg_contact_share(const rg_shape *b, const rg_shape *a);

/* Caches of a pair of shapes, sorted by parts. */
typedef struct rg_cache_list {
    const rg_contact_cache *caches;
    uint32_t count;
} rg_cache_list;

/* Parts of two colliders, which the caller knows. */
typedef struct rg_part_pair {
    rg_collider_id collider_b, collider_a;
    uint32_t part_b, part_a;
} rg_part_pair;

/* What a query of two shapes, compounds allowed, fills. The caller provides the arrays. */
typedef struct rg_contact_list {
    rg_manifold *manifolds; /* those with points, sorted by (part1, part2) */
    uint32_t manifold_count, manifold_capacity;
    rg_contact_point *points;
    uint32_t point_count, point_capacity;
    rg_contact_cache *caches; /* for the next step, likewise sorted */
    uint32_t cache_count, cache_capacity;
    rg_part_pair *left_out; /* parts within reach that have no points: they do not meet, or do not
                               move and no plane is theirs */
    uint32_t left_out_count, left_out_capacity;
    uint32_t bent; /* kept manifolds whose points were made again, for the motion that was found */
} rg_contact_list;

/* Appends to `list` (whose caches must be empty). `whole`: the shapes, settings and arena; cache
 * and points are set here. `last` are the caches of the step before. `motion` may be null.
 * RG_LIMIT_EXCEEDED if an array is too short; then the list holds what fitted. */
rg_status rg_contact_parts(rg_contact_query *whole, const rg_pair_motion *motion,
                           rg_cache_list last, rg_contact_list *list);

/* contact_world.c: the collision of a world, inside a step. Nothing of the world changes but by
 * rg_collision_store. */
typedef struct rg_collision_velocities {
    const rg_vec3 *velocity, *angular_velocity; /* over all bodies */
} rg_collision_velocities;
/* A step begins: what the last one found is read from the world. */
rg_status rg_collision_begin(rg_collision *collision, const rg_world *world, rg_error *error);
/* From now on only pairs with one of these bodies (1 per body; null: all) have points. `moved`: 1
 * per body whose motion is not the one that the last look for pairs expected; null: all. */
void rg_collision_restrict(rg_collision *collision, const uint8_t *member, const uint8_t *moved);
/* From now on, or no longer: all points of a pair where the bodies overlap, and not only those
 * nearly as deep as the deepest (the band of the settings). */
void rg_collision_look_deep(rg_collision *collision, bool deep);
/* `after` (null: none): velocities that bodies may have during the next `ahead` seconds as well,
 * after impacts. May be asked again in the same step. */
rg_status rg_collision_find_pairs(rg_collision *collision, const rg_world *world, double ahead,
                                  const rg_collision_velocities *after, rg_error *error);
/* `again`: points of an earlier look of this step stay, and only pairs without are looked at. */
rg_status rg_collision_find_points(rg_collision *collision, const rg_world *world, bool again,
                                   rg_error *error);
/* Parts within reach that do not meet in the motion that the last look was for, or that it does
 * not tell a plane for, and have no points. */
const rg_part_pair *rg_collision_left_out(const rg_collision *collision, size_t *count);
/* How many pairs that were expected to stay apart the last look found overlapping at the end of its
 * motion, which turns otherwise: their points were made again. */
size_t rg_collision_bent(const rg_collision *collision);
/* The law of a pair: of its materials, or what the material function makes of it. */
rg_contact_law rg_collision_law(const rg_collision *collision, const rg_world *world,
                                const rg_touch *touch);
/* There was a contact between two colliders in this step; all such are forgotten. */
rg_status rg_collision_mark(rg_collision *collision, rg_collider_id x, rg_collider_id y);
void rg_collision_forget_marks(rg_collision *collision);
/* The step has succeeded: which colliders touch, and what the next step needs. RG_OUT_OF_MEMORY:
 * nothing of the world has changed. */
rg_status rg_collision_store(rg_collision *collision, rg_world *world);

#endif
