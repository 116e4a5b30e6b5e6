/* The inside of rg_system (solve_system.h), shared by the files that make it: solve_system.c (both
 * forms, products), solve_system_factor.c (the linear systems), solve_system_local.c (W in blocks,
 * the dense factor). */
#ifndef RIGOR_SOLVE_SYSTEM_PARTS_H
#define RIGOR_SOLVE_SYSTEM_PARTS_H

#include "solve/solve_kernel.h"
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
    double *a, *b;    /* as given: contacts x d x d, then joints */
    double *inverse;  /* A^-1, global form */
    double *middle;   /* A^-1 B, global form */
    double *diagonal; /* work of the assembly: bodies x freedom x freedom; global form */
    const rg_solve_kernel *kernel;
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
/* Contacts in space between bodies of six freedoms, by far the most frequent, as loops over many
 * take them: none if there are others. */
typedef struct rg_usual {
    const uint32_t *bodies;
    const double *jacobian; /* 2 x 3 x 6 each */
    size_t contacts;
} rg_usual;
static inline rg_usual rg_usual_of(const rg_system *system) {
    const rg_global_form *global = &system->problem->global;
    bool usual = system->dimension == 3 && global->freedom == 6;
    return (rg_usual){global->contact_blocks, global->contact_jacobian,
                      usual ? system->contacts : 0};
}
/* The product of a row of six, in their order. */
static inline double rg_usual_dot(const double *restrict row, const double *restrict v) {
    return row[0] * v[0] + row[1] * v[1] + row[2] * v[2] + row[3] * v[3] + row[4] * v[4] +
           row[5] * v[5];
}
/* out = the first `count` rows of J v. */
static inline void rg_usual_rows(rg_usual usual, size_t contact, size_t count,
                                 const double *restrict v, double *restrict out) {
    const uint32_t *bodies = usual.bodies + 2 * contact;
    const double *jacobian = usual.jacobian + 36 * contact;
    double sum[3] = {0};
    for (int side = 0; side < 2; side++) {
        if (bodies[side] == RG_NO_BLOCK)
            continue;
        const double *rows = jacobian + 18 * side, *part = v + 6 * (size_t)bodies[side];
        for (size_t k = 0; k < count; k++)
            sum[k] += rg_usual_dot(rows + 6 * k, part);
    }
    for (size_t k = 0; k < count; k++)
        out[k] = sum[k];
}
/* out += J' force */
static inline void rg_usual_add_impulse(rg_usual usual, size_t contact,
                                        const double *restrict force, double *restrict out) {
    const uint32_t *bodies = usual.bodies + 2 * contact;
    const double *jacobian = usual.jacobian + 36 * contact;
    for (int side = 0; side < 2; side++)
        if (bodies[side] != RG_NO_BLOCK)
            rg_system_add_jt(3, 6, jacobian + 18 * side, force, out + 6 * (size_t)bodies[side]);
}

/* out = J v of one contact or joint. */
static inline void rg_system_rows(const rg_system *system, rg_usual usual, size_t block,
                                  const double *v, double *out) {
    if (block < usual.contacts) {
        rg_usual_rows(usual, block, 3, v, out);
        return;
    }
    size_t f = (size_t)system->problem->global.freedom, d = rg_system_block_size(system, block);
    rg_system_touch touch = rg_system_touched(system, block);
    for (size_t k = 0; k < d; k++)
        out[k] = 0;
    for (int side = 0; side < 2; side++)
        if (touch.blocks[side] != RG_NO_BLOCK)
            rg_system_add_j(d, f, touch.jacobian[side], v + touch.blocks[side] * f, out);
}
/* out += J' force of one contact or joint. */
static inline void rg_system_add_impulse(const rg_system *system, rg_usual usual, size_t block,
                                         const double *force, double *out) {
    if (block < usual.contacts) {
        rg_usual_add_impulse(usual, block, force, out);
        return;
    }
    size_t f = (size_t)system->problem->global.freedom, d = rg_system_block_size(system, block);
    rg_system_touch touch = rg_system_touched(system, block);
    for (int side = 0; side < 2; side++)
        if (touch.blocks[side] != RG_NO_BLOCK)
            rg_system_add_jt(d, f, touch.jacobian[side], force, out + touch.blocks[side] * f);
}

/* What a contact or joint adds on its side t: to the diagonal of the body there, and to the half of
 * the pair that the other body has (null: none); middle: its A^-1 B. */
static inline void rg_system_add_side(const rg_system *system, size_t block, int t,
                                      const double *middle, double *diagonal, double *half) {
    rg_system_touch touch = rg_system_touched(system, block);
    rg_kernel_side side = {middle, touch.jacobian[t], touch.jacobian[1 - t], diagonal, half};
    if (block < rg_usual_of(system).contacts)
        system->factor->kernel->add_side(&side);
    else
        rg_kernel_add_any(rg_system_block_size(system, block),
                          (size_t)system->problem->global.freedom, &side);
}

rg_status rg_block_rows_create(rg_system *system, rg_error *error);
void rg_block_rows_apply(const rg_system *system, const double *r, double *out);
/* LU with row interchanges of the n x n matrix `lu` (row-major), in place. */
rg_status rg_dense_factor(double *lu, uint32_t *pivots, size_t n);
void rg_dense_solve(const double *lu, const uint32_t *pivots, size_t n, double *x);

#endif
