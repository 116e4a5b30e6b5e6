/* Contact problems without bodies: what the files of this stage share. */
#ifndef RIGOR_PROBLEM_PROBLEM_H
#define RIGOR_PROBLEM_PROBLEM_H

#include "rigor/complementarity.h"

/* A mass block counts as symmetric if its entries differ by at most this, relative to the larger of
 * its two diagonal entries. */
#define RG_MASS_SYMMETRY 1e-9

static inline size_t rg_contact_rows(const rg_contact_problem *problem) {
    return problem->contacts * (size_t)problem->dimension + problem->joints;
}

/* Of a contact problem in global form that is known to be one, the numbers that velocities make:
 * RG_NOT_FINITE where one is not. */
rg_status rg_problem_check_made(const rg_problem *problem, rg_error *error);

/* Entries of W over columns [first, first + count) of row `row`, zeros included. */
void rg_matrix_row_part(const rg_matrix *matrix, size_t row, size_t first, size_t count,
                        double *values);

/* Six numbers, of which the first three act on themselves alone: a body about its centre of mass.
 * For a symmetric block and for its factor. */
static inline bool rg_mass_is_split(const double *m) {
    return m[6] == 0 && m[12] == 0 && m[13] == 0 && m[18] == 0 && m[19] == 0 && m[20] == 0 &&
           m[24] == 0 && m[25] == 0 && m[26] == 0 && m[30] == 0 && m[31] == 0 && m[32] == 0;
}

/* Of the velocities without forces, or of b: what rg_problem_scale is where no scale is given, but
 * 0 where all of them are. */
double rg_problem_largest(const rg_problem *problem);
/* What the numbers of a velocity block are measured with, by its mass: 1 of a velocity, and of an
 * angular velocity one over the unit of length of the body's radius of gyration (rg_length_unit).
 * 1 of blocks that are no body. */
void rg_mass_units(const double *mass, int freedom, double *units);
/* Cholesky of one mass block: lower (freedom x freedom, row-major) with its diagonal inverted;
 * false if it is not positive definite. */
bool rg_mass_factor(const double *mass, int freedom, double *lower);
/* x := mass^-1 x. */
void rg_mass_solve(const double *lower, int freedom, double *x);

/* The corners of the friction polygon: (cos, sin)(2 pi k / directions), opposite ones exactly
 * so. */
void rg_polygon_direction(int directions, int k, double direction[2]);

#endif
