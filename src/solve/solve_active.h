/* Newton's method on the closed contacts, from forces that are given: what the steps of a
 * simulation need, whose problems are nearly those of the step before. */
#ifndef RIGOR_SOLVE_ACTIVE_H
#define RIGOR_SOLVE_ACTIVE_H

#include "solve/solve_system.h"

/* Which bodies are linked by closed contacts or joints: the pattern of the matrix. Contacts of the
 * same two bodies that follow one another are one link. */
typedef struct rg_active_graph {
    uint32_t *link;   /* per contact and joint */
    uint32_t *bodies; /* 2 per link; RG_NO_BLOCK: a fixed one */
    uint8_t *used;    /* per link: in the pattern, because it was closed at some time */
    uint32_t links;
    uint32_t *core; /* per body: its place in the matrix; RG_NO_BLOCK: a leaf */
    size_t cores;
    uint8_t *leaf;      /* per contact: 1 + the side of a body that it alone touches; 0: none */
    double *leaf_w;     /* contacts x d x d: J M^-1 J' of that body; null: there are none */
    rg_sparse *sparse;  /* null: not analysed yet */
    rg_arena_mark mark; /* of the arena, before the analysis */
    bool marked;
    /* What is given to the matrix: bodies x freedom x freedom; both halves of each link in the
     * pattern, in this order. Which of the live blocks a body takes part in, and on which side: 2 n
     * + side. */
    double *diagonal, *halves;
    uint32_t *place;  /* per link: of its halves */
    uint8_t *present; /* per place: a live block has a slope there */
    size_t places;
    uint32_t *side_starts, *sides, *next; /* bodies + 1, 2 per block, bodies */
} rg_active_graph;

typedef enum rg_active_state {
    RG_ACTIVE_OPEN,    /* no force, none called for: one scalar product and no more */
    RG_ACTIVE_RELEASE, /* the force is to vanish, or to stay at its bound */
    RG_ACTIVE_HOLD,    /* velocity 0: sticking contact, joint within its bounds */
    RG_ACTIVE_SLIP
} rg_active_state;

static inline bool rg_active_has_slope(rg_active_state state) {
    return state == RG_ACTIVE_HOLD || state == RG_ACTIVE_SLIP;
}

/* Where r - rho u of a contact or joint lies, and what follows of it. */
typedef struct rg_active_place {
    double direction[2]; /* of slip */
    double share;        /* slip: (mu y_N) / |y_T| */
    rg_active_state state;
} rg_active_place;

typedef struct rg_active {
    rg_solve_context *context;
    const rg_system *system;
    size_t blocks;           /* contacts, then joints */
    double *force, *best;    /* rows: now, and the best so far */
    double *u, *error;       /* rows: velocities of `force`; of open contacts the normal one only.
                              `error`: the residual of the map of Alart and Curnier */
    double *du, *dr;         /* rows: the Newton step */
    double *v, *dv, *work;   /* velocities of bodies */
    double *inverse, *slope; /* A^-1 and B of every live contact and joint, see solve_system.h; of
                                contacts with a leaf (A + B W)^-1, W the leaf's */
    double *middle;          /* their product, where there is a slope */
    bool singular;           /* one of those inverses does not exist */
    rg_active_place *place;
    uint8_t *state;
    uint32_t *live; /* contacts and joints that are not open */
    size_t live_count;
    rg_active_graph graph;
    /* Friction by the associated law, that of the convex problem. Where nothing moves it asks the
     * same of the forces as Coulomb's law, and the matrix is symmetric. */
    bool associated;
    double residual, best_residual; /* natural map, relative to the scale */
    uint64_t factorisations;
    double *figures; /* per contact and joint, or per chunk of them: work of sums and maxima */
} rg_active;

/* True for problems in global form with exact cones. */
bool rg_active_takes(const rg_problem *problem);
/* The system must be that of the problem, in global form. Memory from the context. */
rg_status rg_active_create(rg_active *active, const rg_system *system, rg_solve_context *context,
                           rg_error *error);
typedef struct rg_active_aim {
    double tolerance; /* of the natural residual */
    int limit;        /* factorisations */
    int idle;         /* of them without the residual halved, before it ends */
} rg_active_aim;
/* One step that is the answer, or nearly, if no contact changes its mode; otherwise it is not
 * taken, and active->force stays. `there`: it is the answer up to rounding, or as good as these
 * modes allow and within the tolerance. At the end `best` and best_residual are those of
 * active->force. Fails only for want of memory. */
rg_status rg_active_leap(rg_active *active, double tolerance, bool *there);
/* The natural residual of active->force, with their velocities (v, u). */
void rg_active_look(rg_active *active);
/* Newton steps from active->force. At the end `force` and `best` are the best seen since the
 * beginning of this run, active->best_residual is theirs. Fails only for want of memory. */
rg_status rg_active_run(rg_active *active, rg_active_aim aim);

/* The same for many contacts that are crushed, within a limit of factorisations: full steps with a
 * proximal term that follows the error.
 *
 * After RG_ACTIVE_FEWEST factorisations it goes on for as long as all of them together take no more
 * than RG_ACTIVE_WORK multiplications and additions, some 0.1 s: those of the symmetric factor, and
 * RG_ACTIVE_WORK_EACH for each contact, which is about what its part of a step costs. 80
 * factorisations are within that up to 300 bodies, where a factor takes 2e6 (pile of 300 stones),
 * 3e6 (pyramid-hit) or 6e6 (wall); it takes 5e7 in a jam of 500 balls and 1.4e8 of 1,000 stones.
 * With half of it and 6 / 10 / 15 factorisations at least a step of `funnel` takes 29 / 32 / 32
 * instead of 37 ms, and 387 / 353 / 349 instead of 303 problems are left unsolved; 4 s
 * of `pile count=1000` (10) take 20 % less time, 1,610 instead of 1,498 are left, and the worst
 * residual is 88 instead of 5. (`pile count=300`, 8 s, 30 and 80 factorisations: 15 and 23 ms, 1.7
 * and 0.8 % unsolved.) The former with a level of 2e-3 (step_contacts.h). */
#define RG_ACTIVE_WORK      8e8
#define RG_ACTIVE_WORK_EACH 1e3
enum { RG_ACTIVE_FEWEST = 20 };
rg_status rg_active_relax(rg_active *active, double tolerance, uint64_t limit);

typedef struct rg_active_bound {
    double tolerance, acceptable; /* of the natural residual: aimed at, and enough */
    uint64_t effort;              /* factorisations, with more than a few bodies; 0: no limit */
} rg_active_bound;
/* The whole solver: within a limit rg_held_solve where little happens, and rg_active_relax; without
 * one, or with few bodies, rg_active_run and, if the residual is above both figures, the interior
 * point (solve_active_repair.c). The system must be that of the problem. */
rg_status rg_active_solve(rg_active *active, const rg_problem *problem, rg_active_bound bound,
                          rg_error *error);

/* The parts that the files of this solver share: */

/* active->v of active->force. */
void rg_active_velocities(rg_active *active);
/* The graph of all contacts and joints, nothing in the pattern. */
rg_status rg_active_graph_make(rg_active *active, rg_error *error);
/* active->inverse of a contact with a leaf, from active->slope. False if it is singular. */
bool rg_active_leaf_inverse(const rg_active *active, size_t contact, double delta);
/* Factors M + J' A^-1 B J over the live ones. `general`: a contact slips. RG_SINGULAR,
 * RG_OUT_OF_MEMORY. */
rg_status rg_active_factor(rg_active *active, bool general);
/* dr of the step for active->error, with the factor made last; dv but for the last digits. */
void rg_active_step(rg_active *active);
/* dv as what dr really does to the bodies. */
void rg_active_changes(rg_active *active);

#endif
