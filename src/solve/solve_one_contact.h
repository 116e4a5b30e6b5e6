/* The exact answer to Coulomb's law at one contact, everything else held: the kernel of block
 * Gauss-Seidel. Prepared once per contact, then solved for many q. */
#ifndef RIGOR_SOLVE_ONE_CONTACT_H
#define RIGOR_SOLVE_ONE_CONTACT_H

#include <stdint.h>

typedef enum rg_one_contact_mode {
    RG_ONE_CONTACT_OPEN,
    RG_ONE_CONTACT_STICK,
    RG_ONE_CONTACT_SLIP,
    RG_ONE_CONTACT_STUCK_BY_FORCE /* no answer: W is singular and the velocity cannot be met */
} rg_one_contact_mode;

typedef struct rg_one_contact {
    double mu;
    int directions;        /* 0: the exact cone */
    double normal_inverse; /* 1 / W_NN; 0 if W_NN is */
    double coupling[2];    /* W_NT / W_NN in the axes of S */
    double axis[2];        /* (cos, sin) of the first axis of S */
    double eigen[2];       /* S = W_TT - W_TN W_NT / W_NN = sum of eigen axis axis' */
    double middle;         /* their mean; 1 if both are 0 */
    double w[3][3];
} rg_one_contact;

/* w: d x d, row-major (d 1 to 3; symmetric positive semidefinite, the mean with its transpose is
 * taken). */
void rg_one_contact_prepare(rg_one_contact *contact, int dimension, const double *w, double mu,
                            int directions);
/* u = w r + q; r and u under Coulomb's law. All three components are read and written; those beyond
 * the dimension have q = 0 and get r = 0. `near` (null: nothing): a force that may be close to the
 * answer, where the search for a slip begins; another array than r. */
rg_one_contact_mode rg_one_contact_solve(const rg_one_contact *contact, const double q[3],
                                         const double *near, double r[3]);

#endif
