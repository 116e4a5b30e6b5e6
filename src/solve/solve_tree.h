/* Joint rows without bounds between bodies that form a tree: one direct factor in linear time. */
#ifndef RIGOR_SOLVE_TREE_H
#define RIGOR_SOLVE_TREE_H

#include "solve/solve.h"

/* The rows of a body are those that join it with its parent or with the world. */
typedef struct rg_tree {
    const rg_contact_problem *problem;
    size_t freedom;
    uint32_t *order;              /* bodies, parents first */
    uint32_t *parent;             /* per body; RG_NO_BLOCK: none */
    uint32_t *first, *rows;       /* bodies + 1 into rows: those of each body */
    size_t *place;                /* per body: where its square of rows begins */
    double *mass;                 /* bodies x freedom x freedom: L of articulated masses */
    double *own, *other, *joint;  /* L^-1 J_b', S^-1/2 J_p and S^1/2 of each body's rows */
    double *body_rest, *row_rest; /* work of rg_tree_solve: of bodies and of rows */
} rg_tree;

/* Contacts none, global form, no row bounded. */
bool rg_tree_takes(const rg_problem *problem);
/* Factors; memory of the context. RG_UNSUPPORTED: bodies that form a loop, too many rows between
 * two of them; RG_SINGULAR: rows that depend on each other. */
rg_status rg_tree_make(rg_tree *tree, rg_solve_context *context, const rg_problem *problem);
/* M v - J' r = M v_free, J v + c r = -q, in `rounds`: all after the first are of iterative
 * refinement. */
void rg_tree_solve(rg_tree *tree, int rounds, double *velocity, double *force);

extern const rg_solver rg_solver_tree;

#endif
