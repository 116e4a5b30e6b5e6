/* One contact between two bodies, or a body and the ground, that touch nothing else: a ball that
 * slides, two that meet in flight. Hundreds of such islands in a step cost what it takes to set
 * them up as problems of any size; here nothing is set up.
 *
 * The order is that of solve_auto.c: the forces of the step before if they are exact up to
 * rounding; nothing if the contact opens by itself; else Coulomb's law for
 *
 *     u = W r + J v_free + q,   W = J M^-1 J',
 *
 * exactly (solve_one_contact.c). Each is judged, as in solve_judge_plain.c: velocities recomputed
 * from the forces, with a bound of their rounding (formulas there), then the judge's own figures.
 * The inverse of the mass is what is given here, so that no factor is made of it; the bound is the
 * one of the factor all the same, for forces that pass there must pass here.
 *
 * How it fails: W is singular along the cone, or digits are lost; it says so, and the caller sets
 * up the problem.
 * Tested by tests/solve/test_single.c. */
#include "solve/solve_single.h"

#include "base/base_math.h"
#include "solve/solve_judge.h"
#include "solve/solve_one_contact.h"

#include <string.h>

enum { ROWS = 3, FREEDOM = 6 };

#define UNIT_ROUNDOFF (0.5 * DBL_EPSILON)
/* gamma_k: of the division by a factored mass, with the sum of the impulses; of the products of a
 * row with velocities; of the sum of a row. */
#define GAMMA(k)       ((k)*UNIT_ROUNDOFF / (1 - (k)*UNIT_ROUNDOFF))
#define GAMMA_VELOCITY (GAMMA(3 * FREEDOM + 1) + GAMMA(ROWS + 1))
#define GAMMA_PRODUCT  (UNIT_ROUNDOFF + GAMMA(2 * FREEDOM + 4))
#define GAMMA_ROW      GAMMA(2 * FREEDOM + 3)

/* out = M^-1 x. */
static inline void divide(const rg_single_body *b, const double x[FREEDOM], double out[FREEDOM]) {
    const double *a = b->inverse_inertia;
    for (int k = 0; k < 3; k++)
        out[k] = b->inverse_mass * x[k];
    if (b->round)
        for (int k = 3; k < FREEDOM; k++)
            out[k] = a[0] * x[k];
    else
        for (int k = 0; k < 3; k++)
            out[3 + k] = a[3 * k] * x[3] + a[3 * k + 1] * x[4] + a[3 * k + 2] * x[5];
}

/* out = |M^-1| size. */
static inline void divide_size(const rg_single_body *b, const double size[FREEDOM],
                               double out[FREEDOM]) {
    const double *a = b->inverse_inertia;
    for (int k = 0; k < 3; k++)
        out[k] = b->inverse_mass * size[k];
    if (b->round)
        for (int k = 3; k < FREEDOM; k++)
            out[k] = a[0] * size[k];
    else
        for (int k = 0; k < 3; k++)
            out[3 + k] = fabs(a[3 * k]) * size[3] + fabs(a[3 * k + 1]) * size[4] +
                         fabs(a[3 * k + 2]) * size[5];
}

static double dot(const double x[FREEDOM], const double y[FREEDOM]) {
    return (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5]);
}

/* v = v_free + M^-1 J' r; `error`: what it may be wrong by, and what a product with it adds. */
static inline void velocity_of(const rg_single_body *b, const double force[ROWS], double v[FREEDOM],
                               double error[FREEDOM]) {
    double impulse[FREEDOM], size[FREEDOM], added[FREEDOM];
    for (int k = 0; k < FREEDOM; k++)
        impulse[k] = b->jacobian[k] * force[0], size[k] = fabs(impulse[k]);
    for (int row = 1; row < ROWS; row++) {
        if (force[row] == 0)
            continue;
        for (int k = 0; k < FREEDOM; k++) {
            double term = b->jacobian[row * FREEDOM + k] * force[row];
            impulse[k] += term, size[k] += fabs(term);
        }
    }
    divide(b, impulse, added);
    divide_size(b, size, error);
    for (int k = 0; k < FREEDOM; k++) {
        v[k] = b->free_velocity[k] + added[k];
        error[k] = GAMMA_VELOCITY * error[k] + GAMMA_PRODUCT * fabs(v[k]);
    }
}

/* The mean diagonal entry of W. */
static double trace_of(const rg_single *s) {
    double trace = 0;
    for (int i = 0; i < s->bodies; i++)
        for (int row = 0; row < ROWS; row++) {
            const double *j = s->body[i].jacobian + row * FREEDOM;
            double x[FREEDOM];
            divide(&s->body[i], j, x);
            trace += dot(j, x);
        }
    return trace / ROWS;
}

rg_residual rg_single_judge(const rg_single *s, const double force[ROWS], bool *rounding) {
    double u[ROWS], off[ROWS] = {0}, v[FREEDOM], error[FREEDOM];
    /* Without friction the law is about the normal alone. */
    int rows = s->mu == 0 && force[1] == 0 && force[2] == 0 ? 1 : ROWS;
    for (int row = 0; row < ROWS; row++)
        u[row] = s->q[row];
    for (int row = 0; row < rows; row++)
        off[row] = GAMMA_ROW * fabs(s->q[row]);
    for (int i = 0; i < s->bodies; i++) {
        velocity_of(&s->body[i], force, v, error);
        for (int row = 0; row < rows; row++) {
            const double *j = s->body[i].jacobian + row * FREEDOM;
            u[row] += dot(j, v);
            for (int k = 0; k < FREEDOM; k++)
                off[row] += fabs(j[k]) * error[k];
        }
    }
    bool loaded = force[0] != 0 || force[1] != 0 || force[2] != 0;
    if (!loaded && u[0] >= off[0]) { /* whatever its tangents and its W */
        *rounding = true;
        return (rg_residual){0};
    }
    double bound = off[0];
    if (rows > 1)
        bound = (1 + s->mu) * sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]);
    return rg_judge_contact(s->mu, trace_of(s), force, u, bound, s->scale, rounding);
}

/* The answer to Coulomb's law. */
static bool find_force(const rg_single *s, const double *near, double force[ROWS]) {
    double w[ROWS * ROWS] = {0}, q[ROWS], start[ROWS];
    memcpy(start, near, sizeof start);
    memcpy(q, s->q, sizeof q);
    for (int i = 0; i < s->bodies; i++)
        for (int row = 0; row < ROWS; row++) {
            const double *j = s->body[i].jacobian;
            double x[FREEDOM];
            divide(&s->body[i], j + row * FREEDOM, x);
            q[row] += dot(j + row * FREEDOM, s->body[i].free_velocity);
            for (int column = 0; column <= row; column++)
                w[row * ROWS + column] += dot(j + column * FREEDOM, x);
        }
    w[1] = w[3], w[2] = w[6], w[5] = w[7];
    if (s->mu == 0) {
        force[0] = q[0] < 0 ? -q[0] / w[0] : 0, force[1] = force[2] = 0;
        return isfinite(force[0]);
    }
    rg_one_contact one;
    rg_one_contact_prepare(&one, ROWS, w, s->mu, 0);
    return rg_one_contact_solve(&one, q, start, force) != RG_ONE_CONTACT_STUCK_BY_FORCE;
}

bool rg_single_solve(const rg_single *single, const rg_single_aim *aim, double force[ROWS],
                     rg_residual *residual, bool *changed) {
    double found[ROWS] = {0};
    const double nothing[ROWS] = {0};
    bool rounding;
    *changed = false;
    *residual = rg_single_judge(single, aim->warm ? force : nothing, &rounding);
    if (aim->warm &&
        (residual->natural <= aim->keep || (rounding && residual->natural <= aim->acceptable)))
        return true;
    *changed = true;
    if (!aim->warm && residual->natural == 0) {
        memcpy(force, nothing, sizeof nothing);
        return true;
    }
    if (!find_force(single, force, found))
        return false;
    *residual = rg_single_judge(single, found, &rounding);
    if (!(residual->natural <= aim->tolerance))
        return false;
    memcpy(force, found, sizeof found);
    return true;
}
