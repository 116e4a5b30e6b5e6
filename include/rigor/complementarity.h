/* Contact problems as plain arrays: what the solvers are given (rigor/solver.h). No bodies, no
 * world.
 *
 * Convention everywhere: a = A f + b, where f are forces (or impulses) and a accelerations (or
 * velocities) along the same rows. Two kinds of problems:
 *
 * - linear: a dense matrix and one law per row (LCP, mixed LCP, bounds, planar or box friction);
 * - contact: blocks of one to three rows per contact (normal, tangents) under Coulomb's law with
 *   the exact cone or an inscribed polygon, then scalar joint rows; either local (W, q) or global
 *   (M, J, v), whichever the caller has.
 *
 * A problem only points at the caller's arrays; nothing is copied and nothing is owned. */
#ifndef RIGOR_COMPLEMENTARITY_H
#define RIGOR_COMPLEMENTARITY_H

#include "rigor/status.h"
#include "rigor/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- linear ----------------------------------------------------------------------------------- */

typedef enum rg_row_kind {
    RG_ROW_UNILATERAL, /* f >= 0, a >= 0, f a = 0 */
    RG_ROW_FREE,       /* a = 0, f of any sign: joints, equations */
    RG_ROW_BOUNDED,    /* lower <= f <= upper; a = 0 between, a >= 0 at lower, a <= 0 at upper */
    RG_ROW_STATIC, /* |f| <= mu f[normal]; a = 0 inside, at the limit f opposes a (Baraff 1994) */
    RG_ROW_DYNAMIC /* f = mu f[normal], mu signed (-mu for slip along +); a is not asked about */
} rg_row_kind;

typedef struct rg_linear_problem {
    size_t size;
    const double *matrix; /* row-major, `stride` doubles a row; need not be symmetric */
    size_t stride;        /* 0: size */
    const double *b;
    const uint8_t *kinds;        /* rg_row_kind per row; null: all unilateral */
    const double *lower, *upper; /* read in bounded rows (infinities allowed); else may be null */
    const uint32_t *normal;      /* read in friction rows: row of the normal force, unilateral */
    const double *mu;            /* read in friction rows */
} rg_linear_problem;

/* --- contact ---------------------------------------------------------------------------------- */

/* Dense (row-major) if `dense` is there, otherwise compressed rows: entries of row i are
 * [starts[i], starts[i + 1]), columns ascending. */
typedef struct rg_matrix {
    size_t rows, columns;
    const double *dense;
    const size_t *starts;
    const uint32_t *indices;
    const double *values;
} rg_matrix;

typedef enum rg_contact_form {
    RG_FORM_LOCAL, /* u = W r + q */
    RG_FORM_GLOBAL /* M (v - v_free) = J' r, u = J v + q */
} rg_contact_form;

#define RG_NO_BLOCK UINT32_MAX

/* The velocity space is cut into blocks (bodies) of `freedom` numbers. A contact's rows, and every
 * joint row, touch two blocks at most. */
typedef struct rg_global_form {
    size_t blocks;
    int freedom;                    /* 1 to 6 numbers per block: 6 in space, 3 in the plane */
    const double *mass;             /* blocks x freedom x freedom, symmetric positive definite */
    const double *free_velocity;    /* blocks x freedom */
    const uint32_t *contact_blocks; /* contacts x 2; RG_NO_BLOCK: none (a fixed body) */
    const double *contact_jacobian; /* contacts x 2 x dimension x freedom */
    const uint32_t *joint_blocks;   /* joints x 2 */
    const double *joint_jacobian;   /* joints x 2 x freedom */
} rg_global_form;

/* Rows: contacts x dimension, then joints. A contact's components are (N, T1, T2), its law
 *   r in K = {r_N >= 0, |r_T| <= mu r_N},  u + mu |u_T| n in K*,  perpendicular
 * (the exact cone), or with `directions` > 0 the disc |r_T| <= mu r_N replaced by the polygon with
 * corners mu r_N (cos, sin)(2 pi k / directions), dissipation at its most (Hart-Anitescu 2010,
 * 4.11-4.12). In dimension 2 both are the same, in dimension 1 there is no friction.
 * A joint row has the law of a bounded row; without bounds it is free. With a compliance c its
 * velocity is u = (J v)_j + q_j + c_j r_j: a spring, damper or gain taken at the end of the step.
 * In local form c is part of the diagonal of W. */
typedef struct rg_contact_problem {
    int dimension; /* 1, 2 or 3 */
    size_t contacts, joints;
    const double *mu;            /* contacts; null: no friction */
    int directions;              /* 0: exact cone; otherwise even, 4 to RG_DIRECTIONS_MAX */
    const double *lower, *upper; /* joints; null: free */
    const double *compliance;    /* joints, not negative, global form; null: none */
    rg_contact_form form;
    rg_matrix w;           /* local: rows x rows */
    const double *q;       /* rows */
    rg_global_form global; /* global */
} rg_contact_problem;

enum { RG_DIRECTIONS_MAX = 256 };

/* --- either ----------------------------------------------------------------------------------- */

/* What is least where free rows contradict each other. */
typedef enum rg_joint_norm {
    RG_NORM_ONE, /* sum of |a|: few rows are violated (Baraff 1989, Appendix B, 37) */
    RG_NORM_TWO  /* root of the sum of a^2: the violation is spread */
} rg_joint_norm;

typedef enum rg_problem_kind { RG_PROBLEM_LINEAR, RG_PROBLEM_CONTACT } rg_problem_kind;

typedef struct rg_problem {
    rg_problem_kind kind;
    rg_linear_problem linear;
    rg_contact_problem contact;
    /* Contact problems: known to be one island, no part of it apart from the rest. The solvers then
     * look for no islands; otherwise the driver does, and each is solved by itself. */
    bool connected;
    /* What residuals are relative to, in the unit of a (m/s, m/s^2). 0: the largest |b| or, for
     * contacts, the largest component of the velocity without contact forces (W 0 + q, or
     * J v_free + q); 1 if that is 0. */
    double scale;
} rg_problem;

rg_problem rg_problem_linear(size_t size, const double *matrix, const double *b); /* an LCP */
/* Rows of any problem: the length of forces and velocities. */
size_t rg_problem_rows(const rg_problem *problem);
/* Sizes, finite numbers, kinds, references, bounds in order, friction not negative (dynamic rows
 * excepted), mass blocks symmetric positive definite. The message names the row or contact. */
rg_status rg_problem_check(const rg_problem *problem, rg_error *error);
/* What `scale` stands for: itself if positive, otherwise computed. */
double rg_problem_scale(const rg_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
