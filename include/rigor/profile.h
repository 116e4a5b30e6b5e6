/* Where the time of steps goes: one timer per stage of the pipeline. */
#ifndef RIGOR_PROFILE_H
#define RIGOR_PROFILE_H

#include "rigor/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_world rg_world;

/* In the order in which a step of the method stepping goes through them. The method analytic uses
 * the same stages, some of them many times a step. */
typedef enum rg_stage {
    RG_STAGE_FORCES,  /* forces besides contact, and the velocities that they give */
    RG_STAGE_PAIRS,   /* candidate pairs: the broad phase */
    RG_STAGE_POINTS,  /* contact points of the pairs: the narrow phase */
    RG_STAGE_EVENTS,  /* analytic: the search for the first event of a trial step */
    RG_STAGE_ROWS,    /* stepping: rows of the contact points, with their laws */
    RG_STAGE_ISLANDS, /* bodies that contacts join */
    RG_STAGE_SOLVE,   /* contact forces; analytic: with their rows */
    RG_STAGE_APPLY,   /* forces into velocities; analytic: impacts */
    RG_STAGE_MOVE,    /* velocities into poses; analytic: integration */
    RG_STAGE_JUDGE,   /* the certificate */
    RG_STAGE_STORE,   /* what the next step and readers are given */
    RG_STAGE_COUNT
} rg_stage;
const char *rg_stage_name(rg_stage stage); /* "forces", "pairs", ... */

/* Seconds of wall time since the world was made. `step` is measured on its own, from the beginning
 * to the end of rg_world_step without the callbacks; the stages share it out. */
typedef struct rg_profile {
    uint64_t steps;
    double step;
    double stage[RG_STAGE_COUNT];
    /* Method stepping: how often contacts were looked for and forces found, once or more for each
     * step that does not repeat the one before; and the same of parts of steps. */
    uint64_t passes, parts;
} rg_profile;
rg_profile rg_world_profile(const rg_world *world);

#ifdef __cplusplus
}
#endif
#endif
