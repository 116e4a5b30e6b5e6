/* Small dense products of contacts and joints, where most of the time of small problems goes. */
#ifndef RIGOR_SOLVE_KERNEL_H
#define RIGOR_SOLVE_KERNEL_H

#include <stddef.h>

/* One side of a contact, whose body has the Jacobian `own`, the body across it `other`; both
 * row-major, as are the sums. `half` may be null, or the diagonal. */
typedef struct rg_kernel_side {
    const double *middle, *own, *other;
    double *diagonal; /* += own' middle own */
    double *half;     /* += other' middle own */
} rg_kernel_side;

/* For contacts in space between bodies of six freedoms. Every entry is one running sum, in the
 * order of rows or columns, without fused operations: the bits do not depend on the version. */
typedef struct rg_solve_kernel {
    void (*add_side)(const rg_kernel_side *side);
    /* w += J M^-1 J' of a side, 3 x 3; M^-1 is split: its linear part is diagonal, the turning one
     * 3 x 3, and the rest, zeros, is not read. */
    void (*add_diagonal)(const double *jacobian, const double *inverse, double *w);
} rg_solve_kernel;

/* The one that every processor has, and the widest that this one has. */
const rg_solve_kernel *rg_solve_kernel_plain(void);
const rg_solve_kernel *rg_solve_kernel_best(void);

/* add_side of blocks of `rows` rows between bodies of `freedom`: joints, and what is planar. */
void rg_kernel_add_any(size_t rows, size_t freedom, const rg_kernel_side *side);

static inline void rg_kernel_multiply_sized(size_t d, const double *restrict a,
                                            const double *restrict b, double *restrict out) {
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t m = 0; m < d; m++)
                sum += a[k * d + m] * b[m * d + j];
            out[k * d + j] = sum;
        }
}
/* out = a b, d x d. */
static inline void rg_kernel_multiply(size_t d, const double *a, const double *b, double *out) {
    if (d == 3) /* the most frequent: with the size known */
        rg_kernel_multiply_sized(3, a, b, out);
    else
        rg_kernel_multiply_sized(d, a, b, out);
}

#endif
