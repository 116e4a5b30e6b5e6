/* Joint rows without bounds between bodies that form a tree: one direct factor in linear time. */
#ifndef RIGOR_SOLVE_TREE_H
#define RIGOR_SOLVE_TREE_H

#include "solve/solve.h"

/* The rows of a body are those that join it with its parent or with the world. */
typedef struct rg_tree {
    const rg_contact_problem *problem;
    size_t freedom, bodies, row_count;
    uint32_t *order;        /* bodies, parents first */
    uint32_t *parent;       /* per body; RG_NO_BLOCK: none */
    uint32_t *first, *rows; /* bodies + 1 into rows: those of each body */
    uint32_t *side;         /* per row: 2 row, or 2 row + 1 if the body is its second */
    bool *joins;            /* per row: with the parent, not with the world */
    /* Rows of an even number of doubles (base_small.h): */
    double *mass;      /* freedom rows per body: U of the articulated mass, U' U */
    size_t *own_place; /* bodies + 1, into */
    double *own;       /* U'^-1 J_b' of its rows: freedom rows */
    double *other;     /* S^-1/2 J_p: as many as rows */
    size_t *place;     /* bodies + 1, into */
    double *joint;     /* S^1/2 of its rows */
    double *body_rest; /* work of rg_tree_solve: of bodies, */
    double *row_rest;  /* and of rows, in the order of `rows` */
    /* What was factored, to know it again: */
    uint32_t *blocks;
    double *given_mass, *given_jacobian, *given_compliance;
    bool soft, factored, regular;
} rg_tree;

/* Contacts none, global form, no row bounded. */
bool rg_tree_takes(const rg_problem *problem);
/* Factors, unless the matrix is, to the last bit, the one that was factored last with this context:
 * the rows that end a step begin the next one. It is the context's, until the next. RG_UNSUPPORTED:
 * bodies that form a loop, too many rows between two of them; RG_SINGULAR: rows that depend on each
 * other. */
rg_status rg_tree_make(rg_solve_context *context, const rg_problem *problem, rg_tree **tree);
/* M v - J' r = M v_free, J v + c r = -q. Iterative refinement would gain nothing: residuals of
 * chains of 20 to 10,000 links were the same, within a few percent, and half only where masses
 * differ by 1e8. */
void rg_tree_solve(rg_tree *tree, double *velocity, double *force);

extern const rg_solver rg_solver_tree;

#endif
