/* Two convex shapes followed along the motion of a step: step_judge_follow.c. */
#ifndef RIGOR_STEP_JUDGE_FOLLOW_H
#define RIGOR_STEP_JUDGE_FOLLOW_H

#include "rigor/shape.h"
#include "step/step_judge_motion.h"

/* A convex part of a collider. */
typedef struct rg_judge_part {
    const rg_shape *shape;
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

/* What was found, over all pairs of a step. */
typedef struct rg_judge_gaps {
    double least;    /* m: smallest signed gap at any time; infinity if nothing was near */
    double end;      /* m: the same at the end of the step */
    uint64_t passed; /* pairs that have passed through each other */
} rg_judge_gaps;

/* Legs of one body, one after the other. */
typedef struct rg_judge_course {
    rg_judge_leg straight;       /* if there are no pieces */
    const rg_judge_piece *piece; /* the first one */
} rg_judge_course;

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
