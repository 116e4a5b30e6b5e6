/* What the files of contact points in motion share: a pair of pieces at its poses, what each pair
 * of kinds fills, how pieces are made. */
#ifndef RIGOR_CONTACT_MOTION_PARTS_H
#define RIGOR_CONTACT_MOTION_PARTS_H

#include "contact/contact_motion.h"

/* Edges more parallel than this (sine) are followed no more; those that are more parallel than the
 * second figure when they are found get a plane instead. */
#define RG_TRACK_PARALLEL 1e-9
#define RG_TRACK_SKEW     1e-5
/* In RG_CONTACT_LATERAL: how much wider borders are. Detection takes in what is twice as far
 * outside. */
#define RG_TRACK_SLACK 4.0

/* One side at a pose. World axes; points relative to `origin`, the position of B's shape. */
typedef struct rg_track_side {
    const rg_contact_piece *piece;
    const rg_rigid_motion *motion;
    const rg_shape *shape;
    double sign; /* m = sign n: +1 of B, -1 of A */
    rg_mat3 rotation;
    rg_vec3 at;               /* the shape frame's origin */
    rg_vec3 lever;            /* the frame's origin less the centre of mass */
    rg_vec3 point, direction; /* of the piece */
} rg_track_side;

typedef struct rg_track_pair {
    const rg_contact_track *track;
    rg_vec3 origin;
    rg_track_side side[2];
} rg_track_pair;

static inline rg_vec3 rg_track_velocity(const rg_track_side *side, rg_vec3 p) {
    rg_vec3 r = rg_add(rg_sub(p, side->at), side->lever);
    return rg_add(side->motion->velocity, rg_cross(side->motion->angular_velocity, r));
}
static inline rg_vec3 rg_track_to_local(const rg_track_side *side, rg_vec3 v) {
    const rg_mat3 *r = &side->rotation;
    return rg_vec3_make(r->m[0][0] * v.x + r->m[1][0] * v.y + r->m[2][0] * v.z,
                        r->m[0][1] * v.x + r->m[1][1] * v.y + r->m[2][1] * v.z,
                        r->m[0][2] * v.x + r->m[1][2] * v.y + r->m[2][2] * v.z);
}

/* Points of both surfaces and their rates give the rest. */
void rg_track_finish(const rg_track_pair *pair, const rg_vec3 p[2], const rg_vec3 rate[2],
                     rg_contact_motion *motion);
/* How far p, on the face, is from leaving it. */
double rg_track_inside_face(const rg_track_side *side, rg_vec3 p);

/* Fill all but what rg_track_finish does; the slack is added later. */
void rg_track_of_face(const rg_track_pair *pair, int face, rg_contact_motion *motion);
void rg_track_of_lines(const rg_track_pair *pair, rg_contact_motion *motion);
void rg_track_of_balls(const rg_track_pair *pair, rg_contact_motion *motion);
void rg_track_of_curved(const rg_track_pair *pair, rg_contact_motion *motion);

/* A side's margin in direction and position, of the kinds that are no face: at the outward normal m
 * with the point p, at `along` of a line or cone, `out` of a rim. */
double rg_track_margin(const rg_track_side *side, rg_vec3 m, double along, rg_vec3 out,
                       double size);

/* The same as rg_contact_follow at rest: for choosing pieces. `inside` is without slack. */
rg_contact_motion rg_track_at_rest(const rg_contact_track *track, rg_pose pose_b, rg_pose pose_a);

/* Pieces (contact_motion_make.c). */
rg_contact_piece rg_piece_point(rg_vec3 p, double radius);
rg_contact_piece rg_piece_vertex(const rg_polyhedron *p, uint32_t vertex);
rg_contact_piece rg_piece_line(rg_vec3 from, rg_vec3 to, double radius);
rg_contact_piece rg_piece_edge(const rg_polyhedron *p, uint32_t edge);
rg_contact_piece rg_piece_plane(rg_vec3 point, rg_vec3 normal);
rg_contact_piece rg_piece_facet(const rg_polyhedron *p, uint32_t facet);
rg_contact_piece rg_piece_halfspace(const rg_shape *shape);

/* Sets the pieces where a shape is curved (contact_motion_smooth.c); false: none that could be
 * followed. */
bool rg_track_make_smooth(rg_contact_track *track, rg_pose pose_b, rg_pose pose_a,
                          const rg_manifold *manifold, const rg_contact_point *point);

#endif
