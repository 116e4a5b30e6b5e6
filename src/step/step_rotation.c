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

/* x = A^-1 b by Cramer's rule; A is near a diagonal of positive numbers here. */
static rg_vec3 solve3(const rg_mat3 *a, rg_vec3 b) {
    rg_vec3 c0 = {a->m[0][0], a->m[1][0], a->m[2][0]};
    rg_vec3 c1 = {a->m[0][1], a->m[1][1], a->m[2][1]};
    rg_vec3 c2 = {a->m[0][2], a->m[1][2], a->m[2][2]};
    double determinant = rg_dot(c0, rg_cross(c1, c2));
    return rg_scale(1 / determinant,
                    (rg_vec3){rg_dot(b, rg_cross(c1, c2)), rg_dot(c0, rg_cross(b, c2)),
                              rg_dot(c0, rg_cross(c1, b))});
}

/* d/dOmega+ of I Omega+ + k (Omega + Omega+) x (Pi + I Omega+). */
static rg_mat3 jacobian(rg_vec3 inertia, rg_vec3 turn, rg_vec3 momenta, double k) {
    return (rg_mat3){
        {{inertia.x, k * (momenta.z - turn.z * inertia.y), k * (-momenta.y + turn.y * inertia.z)},
         {k * (-momenta.z + turn.z * inertia.x), inertia.y, k * (momenta.x - turn.x * inertia.z)},
         {k * (momenta.y - turn.y * inertia.x), k * (-momenta.x + turn.x * inertia.y), inertia.z}}};
}

/* Omega+ for one substep; false if the iteration does not converge. */
static bool solve_next(rg_vec3 inertia, rg_vec3 inverse_inertia, rg_vec3 omega, double k,
                       rg_vec3 *next) {
    rg_vec3 pi = rg_times(inertia, omega);
    /* Euler's equation over the whole step: wrong by the square of the turn only. */
    rg_vec3 guess = rg_add_scaled(omega, 4 * k, rg_times(inverse_inertia, rg_cross(pi, omega)));
    double size = rg_largest_entry(pi);
    for (int i = 0; i < NEWTON_MOST; i++) {
        rg_vec3 turn = rg_add(omega, guess), pi_next = rg_times(inertia, guess);
        rg_vec3 momenta = rg_add(pi, pi_next);
        rg_vec3 residual = rg_add_scaled(rg_sub(pi_next, pi), k, rg_cross(turn, momenta));
        rg_mat3 j = jacobian(inertia, turn, momenta, k);
        rg_vec3 change = solve3(&j, residual);
        guess = rg_sub(guess, change);
        if (rg_largest_entry(rg_times(inertia, change)) <= NEWTON_DONE * size) {
            *next = guess;
            return true;
        }
    }
    return false;
}

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

rg_status rg_rotation_advance(rg_vec3 inertia, rg_vec3 inverse_inertia, rg_vec3 angular_momentum,
                              double h, rg_quat *q) {
    rg_quat orientation = *q;
    bool round = rg_rotation_is_round(inverse_inertia);
    rg_vec3 omega = rg_times(
        inverse_inertia, round ? angular_momentum : rg_rotate_back(orientation, angular_momentum));
    double rate = rg_length(omega), angle = h * rate, part = h;
    int substeps = 1;
    if (rate == 0)
        return RG_OK;
    if (!(angle <= SUBSTEPS_MOST * TURN_MOST))
        return RG_ITERATION_LIMIT;
    if (angle > TURN_MOST) {
        substeps = (int)ceil(angle / TURN_MOST);
        part = h / substeps;
    }
    if (round) {
        advance_round(omega, rate, substeps, part, q);
        return RG_OK;
    }
    double unit = unit_of_inertia(inertia);
    rg_vec3 scaled = rg_scale(1 / unit, inertia), inverse_scaled = rg_scale(unit, inverse_inertia);
    for (int i = 0; i < substeps; i++) {
        double s = tan_over(0.5 * part * (i == 0 ? rate : rg_length(omega)));
        rg_vec3 next;
        if (!solve_next(scaled, inverse_scaled, omega, 0.25 * part * s, &next))
            return RG_ITERATION_LIMIT;
        rg_vec3 half = rg_scale(0.25 * part * s, rg_add(omega, next)); /* Theta / 2 */
        rg_quat turn = {half.x, half.y, half.z, 1};
        orientation = rg_quat_normalised(rg_quat_multiply(orientation, turn));
        /* From the momentum, not from Newton's answer: L stays what it is. */
        if (i + 1 < substeps)
            omega = rg_times(inverse_inertia, rg_rotate_back(orientation, angular_momentum));
    }
    *q = orientation;
    return RG_OK;
}
