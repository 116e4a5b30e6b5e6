/* Rows as a linear problem: accelerations a = A f + b of directions at contacts, a contact's normal
 * before its tangents, with friction rows (linear problems of rigor/complementarity.h). Rows act on
 * each other through the bodies that they share, which makes A sparse: lists of rows by body say
 * where. */
#ifndef RIGOR_PROBLEM_SYSTEM_H
#define RIGOR_PROBLEM_SYSTEM_H

#include "problem/problem_directions.h"

#include <stdatomic.h>

typedef struct rg_direction_system {
    size_t count;
    rg_direction_row *rows;
    double *matrix, *b, *mu, *force, *rate;
    uint8_t *kinds;
    uint32_t *normal;        /* of its contact: which row */
    uint32_t *first, *next;  /* lists of rows by body: twice the row, and one if it is its b */
    size_t bodies;           /* that forces move, and that have such lists */
    const atomic_bool *stop; /* somebody asks to end: no more factors; null: nobody can */
} rg_direction_system;

/* Arrays in the arena, not filled; false without memory. */
bool rg_direction_system_take(rg_arena *arena, size_t count, size_t bodies, rg_direction_system *s);
/* The matrix and the lists of s->rows. `place`: of bodies that forces move; `all`: every row acts
 * on every other one, through what rows respond with. */
void rg_direction_system_couple(const rg_body_dynamics *dynamics, const uint32_t *place, bool all,
                                rg_direction_system *s);
/* As a problem for solvers, with another b; `scale` of accelerations. */
rg_problem rg_direction_system_problem(const rg_direction_system *s, const double *b, double scale);

#endif
