/* Eigenvalues and eigenvectors of a symmetric 3x3 matrix by cyclic Jacobi rotations, which give
 * small eigenvalues to high relative accuracy. */
#ifndef RIGOR_BASE_EIGEN_H
#define RIGOR_BASE_EIGEN_H

#include "rigor/types.h"

/* S = V diag(values) V^T; the columns of V are the eigenvectors, det V = +1. Not sorted: each
 * eigenvector stays at the axis that it grew from. A diagonal S gives exactly V = I. */
void rg_eigen_symmetric(const rg_mat3 *symmetric, rg_vec3 *values, rg_mat3 *vectors);

#endif
