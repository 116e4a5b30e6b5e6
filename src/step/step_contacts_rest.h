/* Islands that rest while others move: their contacts have no rows in a step. */
#ifndef RIGOR_STEP_CONTACTS_REST_H
#define RIGOR_STEP_CONTACTS_REST_H

#include "base/base_memory.h"
#include "rigor/solver.h"

/* An island that repeated itself in the last step. */
typedef struct rg_resting_island {
    uint32_t contacts;
    rg_residual residual; /* of its solve */
} rg_resting_island;

/* Of the last step; beside the state: whether it is used changes no bit. */
typedef struct rg_islands_at_rest {
    bool known;
    double step;       /* s: its length */
    double speed;      /* m/s: that residuals and what counts as rest were relative to */
    uint64_t revision; /* of the world */
    size_t bodies;
    uint32_t *leader1; /* per body: 1 + the first body of its island; 0: it did not repeat itself */
    size_t leader_capacity;
    rg_resting_island *islands; /* at their first bodies */
    size_t island_capacity;
} rg_islands_at_rest;

#endif
