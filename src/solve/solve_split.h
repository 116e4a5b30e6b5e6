/* Islands: the parts of a contact problem that do not touch each other, each a problem of its
 * own. */
#ifndef RIGOR_SOLVE_SPLIT_H
#define RIGOR_SOLVE_SPLIT_H

#include "solve/solve.h"

/* Members of island i are [first[i], first[i + 1]) of `member`: numbers of contacts, then of joints
 * counted after the contacts; ascending. */
typedef struct rg_split {
    const rg_problem *problem;
    double scale;
    size_t count;
    uint32_t *first, *member;
    /* Where things are in their island's problem; valid for the island that was made last. */
    uint32_t *place; /* rows, or velocity blocks */
} rg_split;

/* Contacts and joints belong together if they share a velocity block (global form), or if W couples
 * them (local form). */
rg_status rg_split_find(rg_split *islands, rg_solve_context *context, const rg_problem *problem,
                        rg_error *error);
size_t rg_split_rows(const rg_split *islands, size_t island);
/* The island as a problem: arrays from the context, scale that of the whole, so that residuals mean
 * the same. */
rg_status rg_split_make(rg_split *islands, rg_solve_context *context, size_t island,
                        rg_problem *problem, rg_error *error);
/* Rows of the whole to rows of the island, and back. */
void rg_split_gather(const rg_split *islands, size_t island, const double *whole, double *part);
void rg_split_scatter(const rg_split *islands, size_t island, const double *part, double *whole);

#endif
