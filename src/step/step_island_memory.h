/* Islands that rest, from step to step. A solve is a function of the problem, the forces that it
 * starts from and the settings; an island that is given what it was given in the step before, to
 * the last bit, has the same answer, and is not solved again. Kept only where the answer was the
 * forces that the solve started from: nothing else can repeat itself.
 *
 * One memory per lane (RG_STEP_LANES), which no other touches. */
#ifndef RIGOR_STEP_ISLAND_MEMORY_H
#define RIGOR_STEP_ISLAND_MEMORY_H

#include "base/base_memory.h"
#include "rigor/contact_force.h"
#include "rigor/solver.h"

/* Islands of a step, one after the other in the order of their first contacts. */
typedef struct rg_island_list {
    unsigned char *bytes;
    size_t size, capacity;
} rg_island_list;

typedef struct rg_island_memory {
    rg_island_list lists[2]; /* of this step and of the one before, in turns */
    int current;
    size_t at; /* in that of the step before */
} rg_island_memory;

/* What a solve was given and found, besides the problem. */
typedef struct rg_island_answer {
    uint32_t collider_b, collider_a; /* slots of the first contact's: the order of islands */
    const rg_solver *solver;         /* null: the one that chooses */
    double tolerance, keep, scale;
    uint32_t policy;
    int32_t directions;
    rg_residual residual;
} rg_island_answer;

/* A step begins. */
void rg_island_memory_begin(rg_island_memory *memory);
void rg_island_memory_free(rg_island_memory *memory, const rg_allocator *allocator);
/* True if the step before was asked the same: `answer->residual` is then filled in, the forces are
 * the answer, and the island is remembered for the next step. Global form, no joints. */
bool rg_island_recall(rg_island_memory *memory, const rg_allocator *allocator,
                      const rg_contact_problem *problem, const double *force,
                      rg_island_answer *answer);
/* The answer to a problem was the forces that it started from. Without memory it is forgotten. */
void rg_island_remember(rg_island_memory *memory, const rg_allocator *allocator,
                        const rg_contact_problem *problem, const double *force,
                        const rg_island_answer *answer);

#endif
