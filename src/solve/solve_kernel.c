/* Small dense products of contacts and joints.
 *
 * Written once, with vectors of four doubles, and compiled twice: for every processor, where such a
 * vector is two of two, and for those with AVX2. The lanes of a vector are different entries of a
 * result, so both give the same bits.
 *
 * J' D J of a side: D J first, then the outer products of its rows with those of J. A row of six
 * does not fill whole vectors; two rows fill three:
 *
 *     row i    [0 1 2 3][4 5 .  .
 *     row i+1                0 1][2 3 4 5]
 *
 * J M^-1 J': the lanes are the rows of J.
 * Tested by tests/solve/test_kernel.c. */
#include "solve/solve_kernel.h"

enum { ROWS = 3, FREEDOM = 6 };

/* out += left' right */
static void add_product(size_t d, size_t f, const double *left, const double *right, double *out) {
    for (size_t i = 0; i < f; i++)
        for (size_t k = 0; k < d; k++)
            for (size_t j = 0; j < f; j++)
                out[i * f + j] += left[k * f + i] * right[k * f + j];
}

void rg_kernel_add_any(size_t d, size_t f, const rg_kernel_side *side) {
    double scaled[ROWS * FREEDOM];
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < f; j++) {
            double sum = 0;
            for (size_t m = 0; m < d; m++)
                sum += side->middle[k * d + m] * side->own[m * f + j];
            scaled[k * f + j] = sum;
        }
    add_product(d, f, side->own, scaled, side->diagonal);
    if (side->half)
        add_product(d, f, side->other, scaled, side->half);
}

typedef double quad __attribute__((vector_size(32), may_alias, aligned(8)));
#define INLINE static inline __attribute__((always_inline))

/* Entries [0, 4), [4, 6) and [0, 2), and [2, 6) of a row of D J. */
typedef struct row_of_six {
    quad first, middle, last;
} row_of_six;

/* out += left' right */
INLINE void add_outer(const double *left, const row_of_six right[ROWS], double *out) {
    quad *entries = (quad *)out;
    for (int i = 0; i < FREEDOM; i += 2, entries += 3) {
        quad first = entries[0], middle = entries[1], last = entries[2];
        for (int k = 0; k < ROWS; k++) {
            double a = left[FREEDOM * k + i], b = left[FREEDOM * k + i + 1];
            first += a * right[k].first;
            middle += (quad){a, a, b, b} * right[k].middle;
            last += b * right[k].last;
        }
        entries[0] = first, entries[1] = middle, entries[2] = last;
    }
}

INLINE void add_side(const rg_kernel_side *side) {
    const double *own = side->own;
    row_of_six scaled[ROWS];
    for (int k = 0; k < ROWS; k++) {
        const double *m = side->middle + (ptrdiff_t)ROWS * k;
        quad first = m[0] * *(const quad *)own + m[1] * *(const quad *)(own + 6) +
                     m[2] * *(const quad *)(own + 12),
             last = m[0] * *(const quad *)(own + 2) + m[1] * *(const quad *)(own + 8) +
                    m[2] * *(const quad *)(own + 14);
        scaled[k] = (row_of_six){first, __builtin_shufflevector(first, last, 6, 7, 0, 1), last};
    }
    add_outer(side->own, scaled, side->diagonal);
    if (side->half)
        add_outer(side->other, scaled, side->half);
}

INLINE void add_diagonal(const double *j, const double *inverse, double *w) {
    quad column[FREEDOM], row[FREEDOM]; /* of J and of J M^-1 */
    for (int m = 0; m < FREEDOM; m++)
        column[m] = (quad){j[m], j[FREEDOM + m], j[2 * FREEDOM + m], 0};
    for (int m = 0; m < 3; m++) {
        row[m] = column[m] * inverse[7 * m];
        row[3 + m] =
            column[3] * inverse[21 + m] + column[4] * inverse[27 + m] + column[5] * inverse[33 + m];
    }
    for (int k = 0; k < ROWS; k++) {
        quad sum = {w[k], w[ROWS + k], w[2 * ROWS + k], 0};
        for (int m = 0; m < FREEDOM; m++)
            sum += row[m] * j[FREEDOM * k + m];
        w[k] = sum[0], w[ROWS + k] = sum[1], w[2 * ROWS + k] = sum[2];
    }
}

static void add_side_plain(const rg_kernel_side *side) {
    add_side(side);
}

static void add_diagonal_plain(const double *jacobian, const double *inverse, double *w) {
    add_diagonal(jacobian, inverse, w);
}

const rg_solve_kernel *rg_solve_kernel_plain(void) {
    static const rg_solve_kernel kernel = {add_side_plain, add_diagonal_plain};
    return &kernel;
}

#if defined(__x86_64__) && defined(__GNUC__)

#define WIDE static __attribute__((target("avx2")))

WIDE void add_side_wide(const rg_kernel_side *side) {
    add_side(side);
}

WIDE void add_diagonal_wide(const double *jacobian, const double *inverse, double *w) {
    add_diagonal(jacobian, inverse, w);
}

const rg_solve_kernel *rg_solve_kernel_best(void) {
    static const rg_solve_kernel kernel = {add_side_wide, add_diagonal_wide};
    return __builtin_cpu_supports("avx2") ? &kernel : rg_solve_kernel_plain();
}

#else

const rg_solve_kernel *rg_solve_kernel_best(void) {
    return rg_solve_kernel_plain();
}

#endif
