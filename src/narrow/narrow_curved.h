/* A ray shot at K = K1 - K2: what the closed forms and the iterative solver of curved pairs share.
 */
#ifndef RIGOR_NARROW_NARROW_CURVED_H
#define RIGOR_NARROW_NARROW_CURVED_H

#include "narrow/narrow_local.h"
#include "narrow/narrow_surface.h"

/* Relative gap and residual that end the search. Promised are 1e-12. */
#define RG_SHOT_ENOUGH 5e-14

/* A normal n with n.d = 1 for the unit d, h(n), the points of the two surfaces (d = t (y1 + y2)),
 * and how good they are. */
typedef struct rg_shot_answer {
    rg_vec3 n, y1, y2;
    double outer;
    double gap, primal, score;
} rg_shot_answer;

typedef struct rg_shot {
    rg_surface side[2]; /* the second one reflected */
    rg_vec3 d, b[2];    /* unit ray and the basis perpendicular to it */
    rg_vec3 whole_d;    /* the ray times a power of two: without rounding */
    double scale, inradius[2];
    bool planar, fallback;
    rg_shot_answer answer; /* best so far */
    double last_score;     /* of the last candidate */
    bool settled;          /* it was found on smooth pieces: these */
    rg_patch patch[2];
    uint32_t iterations;
} rg_shot;

void rg_shot_prepare(rg_shot *shot, const rg_pair *pair);
/* Certifies a candidate: n (n.d = 1) and points y1, y2 of the two surfaces, outside them by
 * `excess` at most. Keeps it if it is the best so far; true if it is good enough to stop. */
bool rg_shot_judge(rg_shot *shot, rg_vec3 n, rg_vec3 y1, rg_vec3 y2, double excess);
/* How much larger t must be for a point that misses the ray by `miss` to be on it. */
double rg_shot_gauge_of_miss(const rg_shot *shot, rg_vec3 miss, double excess);
/* narrow_curved_exact.c: from settled patches at the normal d + xi b to the answer in twice the
 * precision; judged like any other. */
bool rg_shot_refine(rg_shot *shot, rg_local *local, const double xi[2]);
/* narrow_curved_closed.c: the answer by formula; false if the pair has none or it is not certified.
 */
bool rg_shot_closed(rg_shot *shot);
/* The iterative solver on a prepared shot, for any pair. */
rg_status rg_growth_iterated(rg_shot *shot, const rg_pair *pair, rg_growth_cache *cache,
                             rg_growth *growth);

#endif
