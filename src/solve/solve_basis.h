/* Contact forces by a basis that is known: which rows carry force, and which friction is at its
 * limit. See solve_basis.c. */
#ifndef RIGOR_SOLVE_BASIS_H
#define RIGOR_SOLVE_BASIS_H

#include "problem/problem_system.h"

/* In both: `b` is that of the first solve, which with the `raise` of the diagonal (already in the
 * matrix, per row) decides among forces that are not determined; `scale` is that of accelerations.
 */

/* Forces by the basis of s->force, exchanged where it is wrong: true, with s->force and s->rate, if
 * they keep every condition; otherwise nothing is changed. */
bool rg_basis_try(rg_arena *arena, const rg_direction_system *s, const double *b,
                  const double *raise, double scale);
/* Forces and rates by the basis of forces `begin`, whether or not it is still right: `margin` is
 * > 0 as long as it is. False if there is no answer. */
bool rg_basis_keep(rg_arena *arena, const rg_direction_system *s, const double *begin,
                   const double *b, const double *raise, double scale, double *margin);

#endif
