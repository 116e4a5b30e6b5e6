/* How bodies moved during a step, as the judge of gaps follows them (step_judge_gaps.c).
 *
 * The method stepping makes one move: the centre of mass along a straight line, the body turning at
 * a constant rate, from its pose before the step to its pose after it. The analytic method tells
 * the polynomials that it has accepted, piece by piece. Bounds of speeds and accelerations are
 * taken from these data here, apart from those of the search for contacts. */
#ifndef RIGOR_STEP_JUDGE_MOTION_H
#define RIGOR_STEP_JUDGE_MOTION_H

#include "base/base_arena.h"
#include "base/base_math.h"
#include "world/world.h"

enum { RG_JUDGE_DEGREE_MAX = 13 }; /* of an integrator's polynomials */

/* Bernstein coefficients, degree + 1 each, of the place of the centre of mass and of the
 * (unnormalised) orientation of the centre-of-mass frame over a part of a step. A piece holds until
 * the next one begins. */
typedef struct rg_judge_piece {
    struct rg_judge_piece *next; /* later in time */
    double begin, length;        /* s */
    int degree;
    bool planar; /* orientation[i].w: the angle, from x towards z */
    bool steady; /* it turns from orientation[0] at a constant rate, `spin` */
    rg_vec3 spin;
    rg_vec3 *position;
    rg_quat *orientation;
} rg_judge_piece;

/* Pieces per body, in the order of time; a body without any moves straight, or not at all. */
typedef struct rg_judge_tracks {
    rg_arena *arena;
    size_t bodies;
    rg_judge_piece **first, **last;
    bool lost; /* there was no memory for all of them */
} rg_judge_tracks;
rg_status rg_judge_tracks_make(rg_arena *arena, size_t bodies, rg_judge_tracks *tracks);
/* Forgets all pieces, or those of one body. */
void rg_judge_tracks_clear(rg_judge_tracks *tracks);
void rg_judge_tracks_drop(rg_judge_tracks *tracks, size_t body);
/* A piece to be filled in, at the end of the track of a body; null without memory. */
rg_judge_piece *rg_judge_tracks_add(rg_judge_tracks *tracks, size_t body, int degree);
/* A cubic between two states of motion, `length` seconds apart; a constant rate of turning, if that
 * is nearer to the truth. `piece` has room for 4 coefficients. */
void rg_judge_piece_join(rg_judge_piece *piece, bool planar, double begin, double length,
                         const rg_motion_state ends[2]);
/* The same at the end of a track. */
void rg_judge_tracks_join(rg_judge_tracks *tracks, size_t body, bool planar, double begin,
                          double length, const rg_motion_state ends[2]);

/* rad/s: the constant rate of turning that takes one orientation to another, of all such the
 * nearest to the first one's. */
rg_vec3 rg_judge_spin_between(const rg_motion_state *from, const rg_motion_state *to,
                              double length);
/* The track of a body whose motion is prescribed, from `begin` to `end` (s), instead of what it
 * has: step_judge_prescribed.c. None if it moves at constant rates, which is straight. */
void rg_judge_tracks_prescribe(const rg_world_content *content, size_t body, double begin,
                               double end, rg_judge_tracks *tracks);

/* A part of a step in which a body moves smoothly: along a piece, or straight. */
typedef struct rg_judge_leg {
    double begin, end; /* s */
    rg_pose start;     /* of the centre-of-mass frame, at the beginning */
    rg_vec3 velocity, spin;
    const rg_judge_piece *piece; /* null: straight */
    /* Bounds: m/s^2 of the centre of mass, rad/s, rad/s^2. */
    double acceleration, turning, bending;
} rg_judge_leg;

/* From one pose to another in a straight line; `spin` (rad/s) tells the number of full turns. */
void rg_judge_leg_straight(double begin, double end, const rg_pose *from, const rg_pose *to,
                           rg_vec3 spin, rg_judge_leg *leg);
rg_judge_leg rg_judge_leg_along(const rg_judge_piece *piece);
rg_pose rg_judge_leg_pose(const rg_judge_leg *leg, double time);
/* Of the centre of mass; and most of the magnitude of its acceleration along a unit vector. */
rg_vec3 rg_judge_leg_velocity(const rg_judge_leg *leg, double time);
double rg_judge_leg_acceleration(const rg_judge_leg *leg, rg_vec3 n);

#endif
