/* Contact problems cut into islands, each a problem of its own. */
#ifndef RIGOR_PROBLEM_SPLIT_H
#define RIGOR_PROBLEM_SPLIT_H

#include "problem/problem_partition.h"

typedef struct rg_split {
    const rg_problem *problem;
    double scale;
    rg_partition islands; /* members: contacts, then joints counted after the contacts */
    /* Where things are in their island's problem; valid for the island that was made last. */
    uint32_t *place; /* rows, or velocity blocks */
} rg_split;

/* The failures of all of these are RG_OUT_OF_MEMORY. */
rg_status rg_split_find(rg_split *split, rg_arena *arena, const rg_problem *problem);
size_t rg_split_rows(const rg_split *split, size_t island);
/* The island as a problem: arrays from the arena, scale that of the whole, so that residuals mean
 * the same. */
rg_status rg_split_make(rg_split *split, rg_arena *arena, size_t island, rg_problem *problem);
/* Rows of the whole to rows of the island, and back. */
void rg_split_gather(const rg_split *split, size_t island, const double *whole, double *part);
void rg_split_scatter(const rg_split *split, size_t island, const double *part, double *whole);

#endif
