/* What the library needs beside the arithmetic of rigor/math.h. */
#ifndef RIGOR_BASE_MATH_H
#define RIGOR_BASE_MATH_H

#include "rigor/math.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline double rg_max3(double a, double b, double c) {
    double m = a > b ? a : b;
    return m > c ? m : c;
}
static inline double rg_min3(double a, double b, double c) {
    double m = a < b ? a : b;
    return m < c ? m : c;
}
/* A unit of length: the power of four, 1 m for lengths from 0.25 m up to 1 m, of a length with this
 * square; 1 where it is 0 or not finite. A product with it is exact, and lengths that are scaled by
 * a power of four have a unit that is scaled likewise. */
static inline double rg_length_unit(double square) {
    enum { MANY = 4096 }; /* more than there are exponents */
    int exponent;
    if (!(square > 0 && square <= DBL_MAX))
        return 1;
    frexp(square, &exponent);
    return ldexp(1, 2 * ((exponent + 3 + 4 * MANY) / 4 - MANY));
}
/* The bits of a number but for its sign: 0 for 0 and -0 alone. */
static inline uint64_t rg_bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits << 1;
}
static inline bool rg_is_zero(rg_vec3 v) {
    return (rg_bits_of(v.x) | rg_bits_of(v.y) | rg_bits_of(v.z)) == 0;
}
/* A quaternion that is unit to rounding keeps its bits, so that what is written reads back the
 * same; another is normalised. */
static inline rg_quat rg_quat_made_unit(rg_quat q) {
    return fabs(rg_quat_norm_squared(q) - 1) <= 4 * DBL_EPSILON ? q : rg_quat_normalised(q);
}
static inline bool rg_pose_is_identity(const rg_pose *p) {
    rg_quat q = p->orientation;
    return rg_is_zero(p->position) && q.w == 1 && rg_is_zero(rg_vec3_make(q.x, q.y, q.z));
}
/* rg_pose_compose, where the inner one is often the identity: the same but for the sign of a
 * zero. */
static inline rg_pose rg_pose_compose_local(rg_pose outer, const rg_pose *inner) {
    return rg_pose_is_identity(inner) ? outer : rg_pose_compose(outer, *inner);
}
/* Whether a symmetric matrix is a multiple of the identity. */
/* Are `count` doubles the same to the last bit? In line, where memcmp would be called. */
static inline bool rg_same_bits(const void *a, const void *b, int count) {
    uint64_t differs = 0;
    for (int i = 0; i < count; i++) {
        uint64_t x, y;
        memcpy(&x, (const char *)a + 8 * i, sizeof x);
        memcpy(&y, (const char *)b + 8 * i, sizeof y);
        differs |= x ^ y;
    }
    return differs == 0;
}

static inline bool rg_mat3_is_scalar(const rg_mat3 *m) {
    return m->m[0][0] == m->m[1][1] && m->m[0][0] == m->m[2][2] && m->m[0][1] == 0 &&
           m->m[0][2] == 0 && m->m[1][2] == 0;
}
/* R S R^T, made exactly symmetric. */
static inline rg_mat3 rg_mat3_conjugate(const rg_mat3 *r, const rg_mat3 *s) {
    rg_mat3 rs = rg_mat3_multiply(r, s), rt = rg_mat3_transpose(r);
    rg_mat3 c = rg_mat3_multiply(&rs, &rt);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            c.m[i][j] = c.m[j][i] = 0.5 * (c.m[i][j] + c.m[j][i]);
    return c;
}
static inline bool rg_bounds_overlap(const rg_bounds *a, const rg_bounds *b) {
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

#endif
