/* The inside of rg_system (solve_system.h), shared by the files that make it: solve_system.c (both
 * forms, products), solve_system_factor.c (the linear systems), solve_system_local.c (W in blocks,
 * the dense factor). */
#ifndef RIGOR_SOLVE_SYSTEM_PARTS_H
#define RIGOR_SOLVE_SYSTEM_PARTS_H

#include "solve/solve_system.h"

enum { RG_SYSTEM_FREEDOM_MAX = 6, RG_SYSTEM_DIMENSION_MAX = 3 };

/* W by rows of blocks: block i has rg_system_block_size rows; the blocks of block row i are
 * [starts[i], starts[i + 1]), columns ascending, the diagonal always among them; block k holds
 * size(i) x size(j) numbers, row-major, from values + offsets[k]. */
typedef struct rg_block_rows {
    size_t *starts;
    uint32_t *columns;
    size_t *offsets;
    double *values;
} rg_block_rows;

struct rg_system_factor {
    rg_solve_context *context;
    bool analysed, dense;
    rg_sparse *sparse;
    double *a, *b;   /* as given: contacts x d x d, then joints */
    double *inverse; /* A^-1, global form */
    double *middle;  /* A^-1 B, global form */
    double *row_work, *row_work2, *row_work3, *velocity_work, *velocity_work2, *row_correction,
        *velocity_correction;
    double *rates, *rates_correction; /* J dv of the last solve, and of its refinement; global */
    /* global */
    double *mass_inverse;
    rg_sparse_slot *body_slots;
    rg_sparse_slot *pair_slots; /* 2 per contact and joint: (first, second), (second, first) */
    /* local */
    rg_block_rows w;
    rg_sparse_slot *w_slots; /* per block of w */
    double *lu;              /* dense: rows x rows */
    uint32_t *pivots;
};

static inline size_t rg_system_blocks(const rg_system *system) {
    return system->contacts + system->joints;
}
static inline size_t rg_system_block_size(const rg_system *system, size_t block) {
    return block < system->contacts ? (size_t)system->dimension : 1;
}
static inline size_t rg_system_block_row(const rg_system *system, size_t block) {
    size_t d = (size_t)system->dimension;
    return block < system->contacts ? block * d : system->contacts * d + (block - system->contacts);
}
/* Of the entries of one block. */
static inline double rg_system_block_dot(const rg_system *system, size_t block, const double *a,
                                         const double *b) {
    size_t row = rg_system_block_row(system, block), d = rg_system_block_size(system, block);
    double sum = 0;
    for (size_t k = row; k < row + d; k++)
        sum += a[k] * b[k];
    return sum;
}
/* Where the block's d x d (or 1 x 1) matrix begins in a, b and the like. */
static inline size_t rg_system_block_offset(const rg_system *system, size_t block) {
    size_t dd = (size_t)(system->dimension * system->dimension);
    return block < system->contacts ? block * dd
                                    : system->contacts * dd + (block - system->contacts);
}
/* Length of a, b and the like. */
static inline size_t rg_system_block_numbers(const rg_system *system) {
    return rg_system_block_offset(system, rg_system_blocks(system));
}

/* c of a joint row, in global form; 0 of contacts. The files of rg_system do not know it otherwise:
 * a solver that takes such problems as they are (RG_ACCEPT_SOFT) adds c r to velocities itself. */
static inline double rg_system_compliance(const rg_system *system, size_t block) {
    const double *c = system->problem->compliance;
    return c && block >= system->contacts ? c[block - system->contacts] : 0;
}

/* The two velocity blocks that a contact or joint row touches, and its Jacobian: size x freedom
 * each. */
typedef struct rg_system_touch {
    uint32_t blocks[2];
    const double *jacobian[2];
} rg_system_touch;
static inline rg_system_touch rg_system_touched(const rg_system *system, size_t block) {
    const rg_global_form *global = &system->problem->global;
    size_t f = (size_t)global->freedom, size = rg_system_block_size(system, block);
    const uint32_t *touched;
    const double *jacobian;
    if (block < system->contacts) {
        touched = global->contact_blocks + 2 * block;
        jacobian = global->contact_jacobian + 2 * size * f * block;
    } else {
        touched = global->joint_blocks + 2 * (block - system->contacts);
        jacobian = global->joint_jacobian + 2 * f * (block - system->contacts);
    }
    return (rg_system_touch){{touched[0], touched[1]}, {jacobian, jacobian + size * f}};
}

/* sum += J part, and part += J' force, for one body of one contact or joint. */
static inline void rg_system_add_j(size_t d, size_t f, const double *restrict jacobian,
                                   const double *restrict part, double *restrict sum) {
    for (size_t k = 0; k < d; k++) {
        double row = 0;
        for (size_t m = 0; m < f; m++)
            row += jacobian[k * f + m] * part[m];
        sum[k] += row;
    }
}
static inline void rg_system_add_jt(size_t d, size_t f, const double *restrict jacobian,
                                    const double *restrict force, double *restrict part) {
    for (size_t k = 0; k < d; k++)
        for (size_t m = 0; m < f; m++)
            part[m] += jacobian[k * f + m] * force[k];
}
/* out = J v of one contact or joint. */
static inline void rg_system_rows(const rg_system *system, size_t block, const double *v,
                                  double *out) {
    size_t f = (size_t)system->problem->global.freedom, d = rg_system_block_size(system, block);
    rg_system_touch touch = rg_system_touched(system, block);
    for (size_t k = 0; k < d; k++)
        out[k] = 0;
    for (int side = 0; side < 2; side++) {
        if (touch.blocks[side] == RG_NO_BLOCK)
            continue;
        const double *part = v + touch.blocks[side] * f;
        if (d == 3 && f == 6) /* by far the most frequent: with the sizes known */
            rg_system_add_j(3, 6, touch.jacobian[side], part, out);
        else
            rg_system_add_j(d, f, touch.jacobian[side], part, out);
    }
}
/* out += J' force of one contact or joint. */
static inline void rg_system_add_impulse(const rg_system *system, size_t block, const double *force,
                                         double *out) {
    size_t f = (size_t)system->problem->global.freedom, d = rg_system_block_size(system, block);
    rg_system_touch touch = rg_system_touched(system, block);
    for (int side = 0; side < 2; side++) {
        if (touch.blocks[side] == RG_NO_BLOCK)
            continue;
        double *part = out + touch.blocks[side] * f;
        if (d == 3 && f == 6)
            rg_system_add_jt(3, 6, touch.jacobian[side], force, part);
        else
            rg_system_add_jt(d, f, touch.jacobian[side], force, part);
    }
}

rg_status rg_block_rows_create(rg_system *system, rg_error *error);
void rg_block_rows_apply(const rg_system *system, const double *r, double *out);
/* LU with row interchanges of the n x n matrix `lu` (row-major), in place. */
rg_status rg_dense_factor(double *lu, uint32_t *pivots, size_t n);
void rg_dense_solve(const double *lu, const uint32_t *pivots, size_t n, double *x);

#endif
