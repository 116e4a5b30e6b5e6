/* Two convex shapes followed along the motion of a step: step_judge_follow.c. */
#ifndef RIGOR_STEP_JUDGE_FOLLOW_H
#define RIGOR_STEP_JUDGE_FOLLOW_H

#include "rigor/shape.h"
#include "step/step_judge_motion.h"

/* Bodies that overlap by more than this share of the smaller one's size overlap deeply. What a
 * fixed step leaves between bodies in motion is of the order of g h^2, 0.17 mm at 240 steps a
 * second: less than this for bodies of 3 mm and more. */
#define RG_JUDGE_DEEP 0.05

/* A convex part of a collider. */
typedef struct rg_judge_part {
    const rg_shape *shape;
    uint32_t body; /* dense */
    double
        size; /* m: of its collider, which depths are relative to; infinity: half-space, ground */
    rg_pose local; /* in the centre-of-mass frame of its body */
    rg_pose start; /* in space, at the beginning of the step, if it moves straight */
    rg_pose end;   /* in space, at the end of the step */
    double reach;  /* m: of its farthest point from the centre of mass; infinity: half-space */
    double
        swing;  /* m: of the farthest point that turning moves: a ball about its centre has none */
    bool still; /* its body has not moved in this step */
    /* A ball (0 arms), capsule (1) or box (3) about the origin of its frame: its support along n is
     * radius + sum |n . arm|. -1: another shape. */
    int arms;
    double radius;                    /* m */
    rg_vec3 start_arm[3], end_arm[3]; /* m, in space */
} rg_judge_part;

/* Two parts that are deep in each other. */
typedef struct rg_judge_overlap {
    double share;       /* of the smaller size; RG_JUDGE_DEEP: there is none that is deeper */
    double depth, size; /* m */
    double time;        /* s */
    uint32_t body[2];   /* dense */
} rg_judge_overlap;

/* What was found, over all pairs of a step. */
typedef struct rg_judge_gaps {
    double span[2];  /* s: the step */
    double least;    /* m: smallest signed gap at any time; infinity if nothing was near */
    double end;      /* m: the same at the end of the step */
    uint64_t passed; /* pairs that have passed through each other */
    /* Relative to the bodies' sizes: the deepest overlap that came about in the step, and the
     * deepest one at its end, whenever it came about. */
    rg_judge_overlap deepest, standing;
} rg_judge_gaps;
/* Nothing yet, in a step from `begin` to `end` (s). */
rg_judge_gaps rg_judge_gaps_make(double begin, double end);
/* A pair whose gap was that at a time: whether it may be the deepest overlap; and that it is, if it
 * came about in the step, at whose beginning the gap was `before`. */
bool rg_judge_may_be_deepest(const rg_judge_gaps *found, const rg_judge_part *const part[2],
                             double gap);
void rg_judge_note_deepest(rg_judge_gaps *found, const rg_judge_part *const part[2], double gap,
                           double before, double time);
/* The same of the end of the step, whenever it came about. */
void rg_judge_note_standing(rg_judge_gaps *found, const rg_judge_part *const part[2], double gap);

/* Legs of one body, one after the other. */
typedef struct rg_judge_course {
    rg_judge_leg straight;       /* if there are no pieces, or of a smooth course: the chord */
    const rg_judge_piece *piece; /* the first one */
    /* Its velocity is continuous; then the most of its acceleration, m/s^2, and of the rate of
     * turning, rad/s, and its rate, rad/s^2. */
    bool smooth;
    double acceleration, turning, bending;
} rg_judge_course;
/* Fills that of a smooth course, whose chord and pieces are there. */
void rg_judge_course_bound(rg_judge_course *course);

/* Two parts that may have come near each other. */
typedef struct rg_judge_pair {
    const rg_judge_part *part[2];
    const rg_judge_course *course[2];
    double near;  /* m: gaps beyond this are not asked for but at the end */
    rg_vec3 hint; /* a unit vector from 1 to 2 to be tried first, or zero */
    /* At the end of the step: */
    double gap; /* or a lower bound of it: it is not the smallest */
    rg_vec3 normal;
    bool known; /* the gap, in closed form */
} rg_judge_pair;

/* A lower bound of the gap at the end of the step, by a plane that is at hand; or the gap itself,
 * over a half-space. -infinity: none is. First of all pairs: where the bound is least, the smallest
 * gap is most likely, and few others are then looked at closer. */
void rg_judge_bound_at_end(rg_judge_pair *pair, rg_judge_gaps *found);
/* Looks at the end of the step, at `end` s. First at all pairs, then each is followed: what is
 * known to be no smaller than a gap at the end needs no second look. */
void rg_judge_look_at_end(rg_judge_pair *pair, double end, rg_judge_gaps *found);
/* Follows a pair from `begin` to `end` (s). */
void rg_judge_follow(const rg_judge_pair *pair, double begin, double end, rg_judge_gaps *found);

#endif
