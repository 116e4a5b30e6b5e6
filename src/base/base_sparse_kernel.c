/* Tiles of the update c -= a b' and strips of triangular solves, with vectors of two, four and
 * eight doubles.
 *
 * The lanes of a vector are different entries of c, so a wider vector only does more of them at a
 * time: no sum is split or reordered, and multiplication and subtraction stay two operations. All
 * versions therefore give the same bits (tests/base/test_sparse.c compares them). The one of four
 * keeps tiles of 4 x 8 entries in registers and is about twice as fast as that of two. The one of
 * eight keeps tiles of 8 x 16: with it a jammed funnel takes 15 to 17 % less time on a Zen 5, whose
 * vectors are that wide (six runs in turns). Each is used where the processor says at run time that
 * it can.
 * Tested by tests/base/test_sparse.c. */
#include "base/base_sparse_kernel.h"

enum { STRIP = RG_SPARSE_STRIP, PANEL = RG_SPARSE_PANEL };

typedef double pair __attribute__((vector_size(16), may_alias));

static inline void plain_tile(double *restrict c, size_t stride, const double *restrict a,
                              const double *restrict b, size_t depth) {
    pair *c0 = (pair *)c, *c1 = (pair *)(c + stride), *c2 = (pair *)(c + 2 * stride),
         *c3 = (pair *)(c + 3 * stride);
    pair s00 = c0[0], s01 = c0[1], s10 = c1[0], s11 = c1[1], s20 = c2[0], s21 = c2[1], s30 = c3[0],
         s31 = c3[1];
    for (size_t p = 0; p < depth; p++) {
        const pair *ap = (const pair *)(a + STRIP * p);
        const double *bp = b + STRIP * p;
        pair a0 = ap[0], a1 = ap[1];
        s00 -= a0 * bp[0];
        s01 -= a1 * bp[0];
        s10 -= a0 * bp[1];
        s11 -= a1 * bp[1];
        s20 -= a0 * bp[2];
        s21 -= a1 * bp[2];
        s30 -= a0 * bp[3];
        s31 -= a1 * bp[3];
    }
    c0[0] = s00, c0[1] = s01, c1[0] = s10, c1[1] = s11;
    c2[0] = s20, c2[1] = s21, c3[0] = s30, c3[1] = s31;
}

static void product_plain(const rg_sparse_tiles *t) {
    for (size_t j = 0; j < t->column_strips; j++)
        for (size_t i = t->lower ? j : 0; i < t->row_strips; i++)
            plain_tile(t->c + j * STRIP * t->stride + i * STRIP, t->stride, t->a + i * t->pitch,
                       t->b + j * t->pitch, t->depth);
}

static void strips_plain(const rg_sparse_below *rows, const rg_sparse_panel *panel,
                         rg_sparse_scaling scaling) {
    double *at = rows->at, *plain = rows->plain;
    size_t stride = rows->stride, pitch = rows->pitch;
    for (size_t i = 0; i < rows->count; i++, at += STRIP, plain += pitch) {
        pair x[PANEL][2];
        for (uint32_t c = 0; c < panel->width; c++) {
            const pair *source = (const pair *)(at + panel->order[c] * stride);
            pair x0 = source[0], x1 = source[1];
            for (uint32_t p = 0; p < c; p++) {
                x0 -= panel->factor[c][p] * x[p][0];
                x1 -= panel->factor[c][p] * x[p][1];
            }
            if (scaling == RG_SPARSE_SCALED) {
                x0 *= panel->inverse[c];
                x1 *= panel->inverse[c];
            }
            x[c][0] = x0;
            x[c][1] = x1;
        }
        for (uint32_t c = 0; c < panel->width; c++) {
            pair x0 = x[c][0], x1 = x[c][1];
            if (scaling == RG_SPARSE_BOTH) {
                pair *w = (pair *)(rows->other + i * pitch + STRIP * c);
                w[0] = x0, w[1] = x1;
                x0 *= panel->inverse[c];
                x1 *= panel->inverse[c];
            }
            pair *l = (pair *)(plain + STRIP * c), *back = (pair *)(at + c * stride);
            l[0] = back[0] = x0;
            l[1] = back[1] = x1;
        }
    }
}

/* The part of column c under the diagonal, over the pivot: in place and, with zeros above, in l. */
static inline __attribute__((always_inline)) void
find_multipliers(rg_sparse_square *square, uint32_t c, double inverse, double l[PANEL]) {
    for (uint32_t r = c / STRIP * STRIP; r <= c; r++)
        l[r] = 0;
    for (uint32_t r = c + 1; r < PANEL; r++)
        l[r] = square->at[c][r] *= inverse;
}

static void eliminate_plain(rg_sparse_square *square, uint32_t c, double inverse) {
    _Alignas(32) double l[PANEL];
    find_multipliers(square, c, inverse, l);
    for (uint32_t k = c + 1; k < square->width; k++) {
        double by = square->at[k][c];
        pair *column = (pair *)square->at[k];
        for (uint32_t r = c / STRIP * (STRIP / 2); r < PANEL / 2; r++)
            column[r] -= ((const pair *)l)[r] * by;
    }
}

rg_sparse_kernel rg_sparse_kernel_plain(void) {
    return (rg_sparse_kernel){product_plain, strips_plain, eliminate_plain};
}

#if defined(__x86_64__) && defined(__GNUC__)

typedef double quad __attribute__((vector_size(32), may_alias));
#define WIDE static __attribute__((target("avx2")))

/* One strip of rows, one of columns. */
WIDE void wide_tile(double *restrict c, size_t stride, const double *restrict a,
                    const double *restrict b, size_t depth) {
    quad *c0 = (quad *)c, *c1 = (quad *)(c + stride), *c2 = (quad *)(c + 2 * stride),
         *c3 = (quad *)(c + 3 * stride);
    quad s0 = *c0, s1 = *c1, s2 = *c2, s3 = *c3;
    for (size_t p = 0; p < depth; p++) {
        quad x = *(const quad *)(a + STRIP * p);
        const double *y = b + STRIP * p;
        s0 -= x * y[0];
        s1 -= x * y[1];
        s2 -= x * y[2];
        s3 -= x * y[3];
    }
    *c0 = s0, *c1 = s1, *c2 = s2, *c3 = s3;
}

/* Two strips of rows against one of columns: eight sums under way hide the latency of one. */
WIDE void wide_tiles(double *restrict c, size_t stride, const double *restrict a,
                     const double *restrict a2, const double *restrict b, size_t depth) {
    quad *c0 = (quad *)c, *c1 = (quad *)(c + stride), *c2 = (quad *)(c + 2 * stride),
         *c3 = (quad *)(c + 3 * stride);
    quad s0 = c0[0], s1 = c1[0], s2 = c2[0], s3 = c3[0];
    quad t0 = c0[1], t1 = c1[1], t2 = c2[1], t3 = c3[1];
    for (size_t p = 0; p < depth; p++) {
        quad x = *(const quad *)(a + STRIP * p), z = *(const quad *)(a2 + STRIP * p);
        const double *y = b + STRIP * p;
        s0 -= x * y[0];
        t0 -= z * y[0];
        s1 -= x * y[1];
        t1 -= z * y[1];
        s2 -= x * y[2];
        t2 -= z * y[2];
        s3 -= x * y[3];
        t3 -= z * y[3];
    }
    c0[0] = s0, c1[0] = s1, c2[0] = s2, c3[0] = s3;
    c0[1] = t0, c1[1] = t1, c2[1] = t2, c3[1] = t3;
}

WIDE void product_wide(const rg_sparse_tiles *t) {
    size_t stride = t->stride, pitch = t->pitch, depth = t->depth;
    const double *a = t->a;
    for (size_t j = 0; j < t->column_strips; j++) {
        double *column = t->c + j * STRIP * stride;
        const double *bj = t->b + j * pitch;
        size_t i = t->lower ? j : 0;
        for (; i + 2 <= t->row_strips; i += 2)
            wide_tiles(column + i * STRIP, stride, a + i * pitch, a + (i + 1) * pitch, bj, depth);
        if (i < t->row_strips)
            wide_tile(column + i * STRIP, stride, a + i * pitch, bj, depth);
    }
}

/* Strips from `i` on, `together` at a time: as many chains of subtractions under way. */
static inline __attribute__((always_inline, target("avx2"))) void
wide_strips(const rg_sparse_below *rows, const rg_sparse_panel *panel, rg_sparse_scaling scaling,
            size_t i, int together) {
    double *at = rows->at + STRIP * i, *plain = rows->plain + i * rows->pitch;
    size_t stride = rows->stride, pitch = rows->pitch;
    quad x[PANEL][4];
    for (uint32_t c = 0; c < panel->width; c++) {
        const quad *source = (const quad *)(at + panel->order[c] * stride);
        quad y[4];
        for (int k = 0; k < together; k++)
            y[k] = source[k];
        for (uint32_t p = 0; p < c; p++)
            for (int k = 0; k < together; k++)
                y[k] -= panel->factor[c][p] * x[p][k];
        for (int k = 0; k < together; k++) {
            if (scaling == RG_SPARSE_SCALED)
                y[k] *= panel->inverse[c];
            x[c][k] = y[k];
        }
    }
    for (uint32_t c = 0; c < panel->width; c++)
        for (int k = 0; k < together; k++) {
            quad y = x[c][k];
            if (scaling == RG_SPARSE_BOTH) {
                *(quad *)(rows->other + (i + (size_t)k) * pitch + STRIP * c) = y;
                y *= panel->inverse[c];
            }
            *(quad *)(plain + (size_t)k * pitch + STRIP * c) = y;
            ((quad *)(at + c * stride))[k] = y;
        }
}

WIDE void strips_wide(const rg_sparse_below *rows, const rg_sparse_panel *panel,
                      rg_sparse_scaling scaling) {
    size_t i = 0;
    for (; i + 4 <= rows->count; i += 4)
        wide_strips(rows, panel, scaling, i, 4);
    for (; i < rows->count; i++)
        wide_strips(rows, panel, scaling, i, 1);
}

/* From strip `first` on. */
static inline __attribute__((always_inline, target("avx2"))) void
wide_columns(rg_sparse_square *square, uint32_t c, const double *l, int first) {
    quad part[PANEL / STRIP];
    for (int i = first; i < PANEL / STRIP; i++)
        part[i] = ((const quad *)l)[i];
    for (uint32_t k = c + 1; k < square->width; k++) {
        double by = square->at[k][c];
        quad *column = (quad *)square->at[k];
        for (int i = first; i < PANEL / STRIP; i++)
            column[i] -= part[i] * by;
    }
}

WIDE void eliminate_wide(rg_sparse_square *square, uint32_t c, double inverse) {
    _Alignas(32) double l[PANEL];
    find_multipliers(square, c, inverse, l);
    if (c < STRIP)
        wide_columns(square, c, l, 0);
    else if (c < 2 * STRIP)
        wide_columns(square, c, l, 1);
    else
        wide_columns(square, c, l, 2);
}

rg_sparse_kernel rg_sparse_kernel_wide(void) {
    return __builtin_cpu_supports("avx2")
               ? (rg_sparse_kernel){product_wide, strips_wide, eliminate_wide}
               : rg_sparse_kernel_plain();
}

typedef double eight __attribute__((vector_size(64), may_alias, aligned(32)));
#define WIDEST __attribute__((target("avx512f")))

static inline __attribute__((always_inline)) WIDEST eight join(const double *low,
                                                               const double *high) {
    return __builtin_shufflevector(*(const quad *)low, *(const quad *)high, 0, 1, 2, 3, 4, 5, 6, 7);
}

/* Four strips of rows against `strips` of columns, one or two. */
static inline __attribute__((always_inline)) WIDEST void
widest_tiles(double *restrict c, size_t stride, const double *restrict a, const double *restrict b,
             size_t pitch, size_t depth, int strips) {
    eight s[2 * STRIP], t[2 * STRIP];
    for (int k = 0; k < STRIP * strips; k++) {
        const eight *column = (const eight *)(c + (size_t)k * stride);
        s[k] = column[0], t[k] = column[1];
    }
    for (size_t p = 0; p < depth; p++) {
        const double *rows = a + STRIP * p, *y = b + STRIP * p;
        eight x = join(rows, rows + pitch), z = join(rows + 2 * pitch, rows + 3 * pitch);
        for (int k = 0; k < STRIP; k++) {
            s[k] -= x * y[k];
            t[k] -= z * y[k];
        }
        for (int k = 0; k < STRIP && strips > 1; k++) {
            s[STRIP + k] -= x * y[pitch + (size_t)k];
            t[STRIP + k] -= z * y[pitch + (size_t)k];
        }
    }
    for (int k = 0; k < STRIP * strips; k++) {
        eight *column = (eight *)(c + (size_t)k * stride);
        column[0] = s[k], column[1] = t[k];
    }
}

static WIDEST void product_widest(const rg_sparse_tiles *t) {
    size_t stride = t->stride, pitch = t->pitch, depth = t->depth, together;
    for (size_t j = 0; j < t->column_strips; j += together) {
        together = !t->lower && j + 2 <= t->column_strips ? 2 : 1;
        double *column = t->c + j * STRIP * stride;
        const double *a = t->a, *b = t->b + j * pitch;
        size_t i = t->lower ? j : 0;
        for (; i + 4 <= t->row_strips; i += 4)
            if (together == 2)
                widest_tiles(column + i * STRIP, stride, a + i * pitch, b, pitch, depth, 2);
            else
                widest_tiles(column + i * STRIP, stride, a + i * pitch, b, pitch, depth, 1);
        product_wide(&(rg_sparse_tiles){column + i * STRIP, stride, a + i * pitch, b, pitch, depth,
                                        t->row_strips - i, together, false});
    }
}

static inline __attribute__((always_inline)) WIDEST void put_strips(double *at, size_t pitch,
                                                                    eight rows) {
    *(quad *)at = __builtin_shufflevector(rows, rows, 0, 1, 2, 3);
    *(quad *)(at + pitch) = __builtin_shufflevector(rows, rows, 4, 5, 6, 7);
}

/* Four strips. Each column is taken from all after it at once, in the order in which each would
 * take it: as many subtractions under way as there are columns, not one after the other. With the
 * width known they stay in registers. */
static inline __attribute__((always_inline)) WIDEST void widest_strips(const rg_sparse_below *rows,
                                                                       const rg_sparse_panel *panel,
                                                                       rg_sparse_scaling scaling,
                                                                       size_t i, uint32_t width) {
    size_t stride = rows->stride, pitch = rows->pitch;
    double *at = rows->at + STRIP * i, *plain = rows->plain + i * pitch;
    double *other = rows->other ? rows->other + i * pitch : NULL;
    eight x[PANEL][2];
#pragma GCC unroll 12
    for (uint32_t c = 0; c < width; c++) {
        const eight *source = (const eight *)(at + panel->order[c] * stride);
        x[c][0] = source[0], x[c][1] = source[1];
    }
#pragma GCC unroll 12
    for (uint32_t c = 0; c < width; c++) {
        if (scaling == RG_SPARSE_SCALED)
            x[c][0] *= panel->inverse[c], x[c][1] *= panel->inverse[c];
#pragma GCC unroll 12
        for (uint32_t k = c + 1; k < width; k++) {
            x[k][0] -= panel->factor[k][c] * x[c][0];
            x[k][1] -= panel->factor[k][c] * x[c][1];
        }
    }
#pragma GCC unroll 12
    for (uint32_t c = 0; c < width; c++) {
        eight y = x[c][0], z = x[c][1];
        if (scaling == RG_SPARSE_BOTH) {
            put_strips(other + STRIP * c, pitch, y);
            put_strips(other + 2 * pitch + STRIP * c, pitch, z);
            y *= panel->inverse[c], z *= panel->inverse[c];
        }
        put_strips(plain + STRIP * c, pitch, y);
        put_strips(plain + 2 * pitch + STRIP * c, pitch, z);
        eight *back = (eight *)(at + c * stride);
        back[0] = y, back[1] = z;
    }
}

static WIDEST void strips_widest(const rg_sparse_below *rows, const rg_sparse_panel *panel,
                                 rg_sparse_scaling scaling) {
    size_t pitch = rows->pitch, i = 0;
    for (; panel->width == PANEL && i + 4 <= rows->count; i += 4)
        widest_strips(rows, panel, scaling, i, PANEL);
    strips_wide(&(rg_sparse_below){rows->at + STRIP * i, rows->stride, rows->plain + i * pitch,
                                   rows->other ? rows->other + i * pitch : NULL, pitch,
                                   rows->count - i},
                panel, scaling);
}

rg_sparse_kernel rg_sparse_kernel_best(void) {
    return __builtin_cpu_supports("avx512f")
               ? (rg_sparse_kernel){product_widest, strips_widest, eliminate_wide}
               : rg_sparse_kernel_wide();
}

#else

rg_sparse_kernel rg_sparse_kernel_wide(void) {
    return rg_sparse_kernel_plain();
}

rg_sparse_kernel rg_sparse_kernel_best(void) {
    return rg_sparse_kernel_plain();
}

#endif
