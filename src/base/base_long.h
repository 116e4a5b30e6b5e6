/* Numbers of two doubles, about 32 digits (Dekker, "A floating-point technique for extending the
 * available precision", 1971): for the few places where the last digits of a double are not enough:
 * normals of hulls, the end of a query on flat or nearly touching bodies. They rely on every
 * operation being rounded once and in order: no contraction, no fast-math. */
#ifndef RIGOR_BASE_LONG_H
#define RIGOR_BASE_LONG_H

#include "base/base_math.h"

/* hi + lo, |lo| at most half a unit in the last place of hi */
typedef struct rg_long {
    double hi, lo;
} rg_long;

typedef struct rg_long3 {
    rg_long x, y, z;
} rg_long3;

static inline rg_long rg_long_of(double a) {
    return (rg_long){a, 0};
}

static inline rg_long rg_long_normalised(double hi, double lo) {
    double s = hi + lo;
    return (rg_long){s, lo - (s - hi)};
}

/* a + b, exactly. */
static inline rg_long rg_long_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (rg_long){s, (a - (s - t)) + (b - t)};
}

/* a - b, exactly. */
static inline rg_long rg_long_difference(double a, double b) {
    return rg_long_sum(a, -b);
}

/* a b, exactly, if the operands lie well inside the range of doubles (Veltkamp's splitting). */
static inline rg_long rg_long_product(double a, double b) {
    const double splitter = 134217729; /* 2^27 + 1 */
    double p = a * b, s = splitter * a, t = splitter * b;
    double ah = s - (s - a), al = a - ah, bh = t - (t - b), bl = b - bh;
    return (rg_long){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static inline rg_long rg_long_add(rg_long a, rg_long b) {
    rg_long s = rg_long_sum(a.hi, b.hi), t = rg_long_sum(a.lo, b.lo);
    s = rg_long_normalised(s.hi, s.lo + t.hi);
    return rg_long_normalised(s.hi, s.lo + t.lo);
}

static inline rg_long rg_long_neg(rg_long a) {
    return (rg_long){-a.hi, -a.lo};
}

static inline rg_long rg_long_sub(rg_long a, rg_long b) {
    return rg_long_add(a, rg_long_neg(b));
}

static inline rg_long rg_long_mul(rg_long a, rg_long b) {
    rg_long p = rg_long_product(a.hi, b.hi);
    return rg_long_normalised(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline rg_long rg_long_div(rg_long a, rg_long b) {
    double q = a.hi / b.hi;
    rg_long r = rg_long_sub(a, rg_long_mul(rg_long_of(q), b));
    rg_long sum = rg_long_sum(q, r.hi / b.hi);
    r = rg_long_sub(a, rg_long_mul(sum, b));
    return rg_long_normalised(sum.hi, sum.lo + r.hi / b.hi);
}

/* Of a number that is not negative: one Newton step from the root in double precision. */
static inline rg_long rg_long_sqrt(rg_long a) {
    double root = sqrt(a.hi);
    if (!(root > 0))
        return rg_long_of(0);
    rg_long r = rg_long_sub(a, rg_long_product(root, root));
    return rg_long_normalised(root, r.hi / (2 * root));
}

static inline bool rg_long_less(rg_long a, rg_long b) {
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

static inline double rg_long_round(rg_long a) {
    return a.hi + a.lo;
}

static inline rg_long3 rg_long3_of(rg_vec3 a) {
    return (rg_long3){rg_long_of(a.x), rg_long_of(a.y), rg_long_of(a.z)};
}

static inline rg_vec3 rg_long3_round(rg_long3 a) {
    return rg_vec3_make(a.x.hi, a.y.hi, a.z.hi);
}

static inline rg_long3 rg_long3_add(rg_long3 a, rg_long3 b) {
    return (rg_long3){rg_long_add(a.x, b.x), rg_long_add(a.y, b.y), rg_long_add(a.z, b.z)};
}

static inline rg_long3 rg_long3_scale(rg_long s, rg_long3 a) {
    return (rg_long3){rg_long_mul(s, a.x), rg_long_mul(s, a.y), rg_long_mul(s, a.z)};
}

/* Entry by entry. */
static inline rg_long3 rg_long3_times(rg_vec3 a, rg_long3 b) {
    return (rg_long3){rg_long_mul(rg_long_of(a.x), b.x), rg_long_mul(rg_long_of(a.y), b.y),
                      rg_long_mul(rg_long_of(a.z), b.z)};
}

static inline rg_long3 rg_long3_sub(rg_long3 a, rg_long3 b) {
    return (rg_long3){rg_long_sub(a.x, b.x), rg_long_sub(a.y, b.y), rg_long_sub(a.z, b.z)};
}

static inline rg_long3 rg_long3_add_scaled(rg_long3 a, rg_long s, rg_long3 b) {
    return rg_long3_add(a, rg_long3_scale(s, b));
}

static inline rg_long rg_long3_dot(rg_long3 a, rg_long3 b) {
    return rg_long_add(rg_long_add(rg_long_mul(a.x, b.x), rg_long_mul(a.y, b.y)),
                       rg_long_mul(a.z, b.z));
}

static inline rg_long rg_long3_length(rg_long3 a) {
    return rg_long_sqrt(rg_long3_dot(a, a));
}

static inline rg_long3 rg_long3_cross(rg_long3 a, rg_long3 b) {
    return (rg_long3){rg_long_sub(rg_long_mul(a.y, b.z), rg_long_mul(a.z, b.y)),
                      rg_long_sub(rg_long_mul(a.z, b.x), rg_long_mul(a.x, b.z)),
                      rg_long_sub(rg_long_mul(a.x, b.y), rg_long_mul(a.y, b.x))};
}

#endif
