/* An energy-momentum method for the free rigid body, in the spirit of Simo and Wong (1991).
 *
 * In body axes, with Omega = I^-1 Pi and Pi = R^T L, the step is the Cayley rotation of
 * Theta = s h (Omega + Omega+) / 2:
 *
 *   Pi+ - Pi = -1/2 Theta x (Pi + Pi+),   Pi+ = I Omega+
 *
 * which is Pi+ = cay(Theta)^T Pi, so L = R Pi is kept. Its product with Omega + Omega+ vanishes, so
 * Omega.I Omega is kept too, for any scalar s. We take s = tan(a)/a with a = h |Omega| / 2: then a
 * steady rotation turns by exactly h |Omega|. Second order; implicit in Omega+, solved by Newton's
 * iteration on three unknowns, over several substeps if the body turns far in one step. */
#include "step/step_rotation.h"

#include "base/base_math.h"
#include "base/base_small.h"
#include "base/base_trig.h"

#define TURN_MOST     0.5  /* rad per substep, for Newton's iteration to converge at once */
#define SUBSTEPS_MOST 4096 /* at 1/240 s that is half a million rad/s */
#define NEWTON_MOST   12
/* A change of I Omega+ below this, relative to Pi, was the last one needed: convergence is
 * quadratic, so what remains after it is of the order of its square, below rounding. (Needles have
 * their rounding floor near 1e-12: about their axis the velocity is uncertain by far more than its
 * last digit.) */
#define NEWTON_DONE 1e-9

static double tan_over(double a) {
    double aa = a * a;
    if (a < 0.02) /* next term 62/2835 a^8 is below rounding */
        return 1 + aa * (1.0 / 3 + aa * (2.0 / 15 + aa * (17.0 / 315)));
    double s, c;
    rg_sin_cos(a, &s, &c);
    return s / (c * a);
}

/* --- two at a time ---------------------------------------------------------------------------- */

/* Each operation on two bodies at once, with the bits that each would have by itself: the iteration
 * is a chain of results that wait for each other, so that two take hardly longer than one. */
typedef struct vectors {
    rg_pair x, y, z;
} vectors;

RG_INLINE vectors both(rg_vec3 a, rg_vec3 b) {
    return (vectors){rg_pair_of(a.x, b.x), rg_pair_of(a.y, b.y), rg_pair_of(a.z, b.z)};
}

RG_INLINE vectors plus(vectors a, vectors b) {
    return (vectors){rg_pair_plus(a.x, b.x), rg_pair_plus(a.y, b.y), rg_pair_plus(a.z, b.z)};
}

RG_INLINE vectors minus(vectors a, vectors b) {
    return (vectors){rg_pair_minus(a.x, b.x), rg_pair_minus(a.y, b.y), rg_pair_minus(a.z, b.z)};
}

RG_INLINE vectors times(vectors a, vectors b) {
    return (vectors){rg_pair_times(a.x, b.x), rg_pair_times(a.y, b.y), rg_pair_times(a.z, b.z)};
}

RG_INLINE vectors scale(rg_pair s, vectors a) {
    return times((vectors){s, s, s}, a);
}

/* a b - c d */
RG_INLINE rg_pair cofactor(rg_pair a, rg_pair b, rg_pair c, rg_pair d) {
    return rg_pair_minus(rg_pair_times(a, b), rg_pair_times(c, d));
}

RG_INLINE vectors cross(vectors a, vectors b) {
    return (vectors){cofactor(a.y, b.z, a.z, b.y), cofactor(a.z, b.x, a.x, b.z),
                     cofactor(a.x, b.y, a.y, b.x)};
}

RG_INLINE rg_pair dot(vectors a, vectors b) {
    vectors c = times(a, b);
    return rg_pair_plus(rg_pair_plus(c.x, c.y), c.z);
}

/* x of x (c0 c1 c2) = b by Cramer's rule; the matrix is near a diagonal of positive numbers. */
RG_INLINE vectors solve3(vectors c0, vectors c1, vectors c2, vectors b) {
    vectors c12 = cross(c1, c2);
    rg_pair one = rg_pair_of(1, 1), determinant = dot(c0, c12);
    return scale(rg_pair_over(one, determinant),
                 (vectors){dot(b, c12), dot(c0, cross(b, c2)), dot(c0, cross(c1, b))});
}

/* What Newton's step takes off Omega+: the residual of I Omega+ - Pi + k (Omega + Omega+)
 * x (Pi + I Omega+) = 0 over its derivative. */
RG_INLINE vectors newton_step(vectors inertia, vectors omega, vectors pi, vectors guess,
                              rg_pair k) {
    vectors turn = plus(omega, guess), pi_next = times(inertia, guess), m = plus(pi, pi_next);
    vectors residual = plus(minus(pi_next, pi), scale(k, cross(turn, m)));
    rg_pair tx = turn.x, ty = turn.y, tz = turn.z, ix = inertia.x, iy = inertia.y, iz = inertia.z;
    vectors c0 = {ix, rg_pair_times(k, rg_pair_minus(rg_pair_times(tz, ix), m.z)),
                  rg_pair_times(k, rg_pair_minus(m.y, rg_pair_times(ty, ix)))};
    vectors c1 = {rg_pair_times(k, rg_pair_minus(m.z, rg_pair_times(tz, iy))), iy,
                  rg_pair_times(k, rg_pair_minus(rg_pair_times(tx, iy), m.x))};
    vectors c2 = {rg_pair_times(k, rg_pair_minus(rg_pair_times(ty, iz), m.y)),
                  rg_pair_times(k, rg_pair_minus(m.x, rg_pair_times(tx, iz))), iz};
    return solve3(c0, c1, c2, residual);
}

RG_INLINE rg_vec3 one_of(vectors a, int which) {
    double x[2], y[2], z[2];
    rg_pair_put(x, a.x), rg_pair_put(y, a.y), rg_pair_put(z, a.z);
    return rg_vec3_make(x[which], y[which], z[which]);
}

/* A body in a step, or a part of it; inertia in units of unit_of_inertia. */
typedef struct turning {
    rg_vec3 inertia, inverse_inertia, omega, next; /* next: Omega+ */
    double k;
    bool done;
} turning;

/* Omega+ of two bodies for one substep; `done` of one for which the iteration has converged. */
static void solve_next(turning *a, turning *b) {
    turning *of[2] = {a, b};
    vectors inertia = both(a->inertia, b->inertia), omega = both(a->omega, b->omega);
    vectors pi = times(inertia, omega);
    rg_pair k = rg_pair_of(a->k, b->k), four = rg_pair_of(4, 4);
    /* Euler's equation over the whole step: wrong by the square of the turn only. */
    vectors first = times(both(a->inverse_inertia, b->inverse_inertia), cross(pi, omega));
    vectors guess = plus(omega, scale(rg_pair_times(four, k), first));
    for (int i = 0; i < NEWTON_MOST && !(a->done && b->done); i++) {
        vectors change = newton_step(inertia, omega, pi, guess, k), off = times(inertia, change);
        guess = minus(guess, change);
        for (int which = 0; which < 2; which++) {
            double most = NEWTON_DONE * rg_largest_entry(one_of(pi, which));
            if (of[which]->done || !(rg_largest_entry(one_of(off, which)) <= most))
                continue;
            of[which]->next = one_of(guess, which);
            of[which]->done = true;
        }
    }
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* A power of two (no bit is lost) that brings the largest inertia to 1/2 ... 1: the equation is
 * linear in the inertia, but its determinant is a product of three and would leave the range. */
static double unit_of_inertia(rg_vec3 inertia) {
    double largest = rg_largest_entry(inertia), unit;
    if (!(largest >= DBL_MIN && largest <= 0.5 * DBL_MAX)) {
        int exponent;
        frexp(largest, &exponent);
        return ldexp(1, exponent);
    }
    uint64_t bits; /* the next exponent, and no fraction: what these two functions give */
    memcpy(&bits, &largest, sizeof bits);
    bits = ((bits >> (DBL_MANT_DIG - 1)) + 1) << (DBL_MANT_DIG - 1);
    memcpy(&unit, &bits, sizeof unit);
    return unit;
}

/* A body of equal moments turns at a constant rate about a fixed axis: nothing is to be solved, and
 * axes of the body are not needed. */
static void advance_round(rg_vec3 omega, double rate, int substeps, double part, rg_quat *q) {
    rg_vec3 half = rg_scale(0.5 * part * tan_over(0.5 * part * rate), omega);
    rg_quat turn = {half.x, half.y, half.z, 1};
    for (int i = 0; i < substeps; i++) { /* both are of the size of 1: the root cannot overflow */
        rg_quat next = rg_quat_multiply(turn, *q);
        double s = 1 / sqrt(rg_quat_norm_squared(next));
        *q = rg_quat_make(s * next.x, s * next.y, s * next.z, s * next.w);
    }
}

/* In how many parts a body that turns at `rate` makes the step, and how long they are. */
static rg_status divide_step(double rate, double h, double *part, int *parts) {
    double angle = h * rate;
    *parts = 1;
    *part = h;
    if (!(angle <= SUBSTEPS_MOST * TURN_MOST))
        return RG_ITERATION_LIMIT;
    if (angle > TURN_MOST) {
        *parts = (int)ceil(angle / TURN_MOST);
        *part = h / *parts;
    }
    return RG_OK;
}

rg_status rg_rotation_advance_round(rg_vec3 omega, double h, rg_quat *orientation) {
    double rate = rg_length(omega), part;
    int parts;
    if (rate == 0)
        return RG_OK;
    rg_status status = divide_step(rate, h, &part, &parts);
    if (!status)
        advance_round(omega, rate, parts, part, orientation);
    return status;
}

/* What is known before Newton's iteration. *parts 0: the body has been turned, or cannot be. */
static rg_status begin(const rg_rotation *r, double h, turning *t, double *part, int *parts) {
    *parts = 0;
    if (rg_rotation_is_round(r->inverse_inertia))
        return rg_rotation_advance_round(rg_times(r->inverse_inertia, r->angular_momentum), h,
                                         r->orientation);
    rg_vec3 omega =
        rg_times(r->inverse_inertia, rg_rotate_back(*r->orientation, r->angular_momentum));
    double rate = rg_length(omega);
    int substeps;
    if (rate == 0)
        return RG_OK;
    rg_status status = divide_step(rate, h, part, &substeps);
    if (status)
        return status;
    double unit = unit_of_inertia(r->inertia);
    *parts = substeps;
    *t = (turning){.inertia = rg_scale(1 / unit, r->inertia),
                   .inverse_inertia = rg_scale(unit, r->inverse_inertia),
                   .omega = omega,
                   .k = 0.25 * *part * tan_over(0.5 * *part * rate)};
    return RG_OK;
}

/* By Theta / 2. */
static rg_quat turned(rg_quat q, const turning *t) {
    rg_vec3 half = rg_scale(t->k, rg_add(t->omega, t->next));
    return rg_quat_normalised(rg_quat_multiply(q, rg_quat_make(half.x, half.y, half.z, 1)));
}

static rg_status advance_parts(const rg_rotation *r, turning *t, double part, int parts) {
    rg_quat orientation = *r->orientation;
    for (int i = 0; i < parts; i++) {
        if (i > 0) { /* from the momentum, not from Newton's answer: L stays what it is */
            t->omega =
                rg_times(r->inverse_inertia, rg_rotate_back(orientation, r->angular_momentum));
            t->k = 0.25 * part * tan_over(0.5 * part * rg_length(t->omega));
            t->done = false;
        }
        turning same = *t;
        solve_next(t, &same);
        if (!t->done)
            return RG_ITERATION_LIMIT;
        orientation = turned(orientation, t);
    }
    *r->orientation = orientation;
    return RG_OK;
}

rg_status rg_rotation_advance(const rg_rotation *r, double h) {
    turning t;
    double part;
    int parts;
    rg_status status = begin(r, h, &t, &part, &parts);
    return status || parts == 0 ? status : advance_parts(r, &t, part, parts);
}

void rg_rotation_advance_two(const rg_rotation two[2], double h, rg_status status[2]) {
    turning t[2];
    double part[2];
    int parts[2];
    for (int i = 0; i < 2; i++)
        status[i] = begin(&two[i], h, &t[i], &part[i], &parts[i]);
    bool together = parts[0] == 1 && parts[1] == 1;
    if (together)
        solve_next(&t[0], &t[1]);
    for (int i = 0; i < 2; i++) {
        if (!together && parts[i] > 0)
            status[i] = advance_parts(&two[i], &t[i], part[i], parts[i]);
        else if (together && !t[i].done)
            status[i] = RG_ITERATION_LIMIT;
        else if (together)
            *two[i].orientation = turned(*two[i].orientation, &t[i]);
    }
}
