/* The path of the smoothed solutions, followed from a large tau towards zero.
 *
 * For every tau > 0 the smoothed map is a system of smooth equations F(x, log tau) = 0, x = (v, r);
 * for a large tau it has one solution that is easily found. As tau falls the solutions form a
 * curve, which may turn back on itself (a fold) where friction is high: so log tau is not the
 * parameter but one more unknown, and the curve is followed along its tangent (Keller 1977,
 * pseudo-arclength; Allgower and Georg 2003, chapter 10). One factorisation a step:
 *
 *     a = -F_x^-1 F,  w = -F_x^-1 F_tau                       (correction, tangent)
 *     trial = x + a + h w, log tau + h
 *     simplified Newton corrections with the old factor, kept orthogonal to the tangent:
 *     b = -F_x^-1 F(trial) + l w,  l from <w, b> + l = 0.
 *
 * A trial passes if its first correction is small in the affine-invariant sense (Deuflhard 2011):
 * against the distance of each contact from its nearest kink. Merit functions play no part: they
 * would not allow the curve to turn. Steps adapt to that norm. Fails: when steps become too short
 * (rounding, or a point at which the curve is not smooth enough), or at the limit.
 *
 * Late on the path the Jacobian of a contact with a force f has entries of the order of (f/tau)^2,
 * which soon is beyond what a double can hold beside the masses. The smoothing lengths of strongly
 * loaded and wide open contacts therefore have a floor (rg_newton_soften): such a contact is left
 * with a residual of SOFTNESS, which the descent from the end of the path removes.
 * Tested by tests/solve/test_newton.c. */
#include "base/base_math.h"
#include "base/base_trig.h"
#include "solve/solve_newton.h"
#include "solve/solve_system_parts.h"

#include <string.h>

#define PASS          0.5  /* norm of the first correction of a trial that passes */
#define SETTLED       0.1  /* of the last one that must be reached */
#define CONVERGED     0.02 /* of the last one */
#define CONTRACTION   0.5  /* least reduction by a simplified correction to go on with them */
#define BASE          0.05 /* norm of the correction at the base beyond which no step is tried */
#define STEP_START    0.7  /* in log tau */
#define STEP_LOW      1e-7
#define STEP_HIGH     3.0
#define PROXIMAL_LOW  1e-14 /* added to 1 - DP where the factor breaks down */
#define PROXIMAL_HIGH 1e-8
#define TAU_END       1e-10
#define TAU_BACK      1e2  /* times the first tau: the path has turned back for good */
#define SOFTNESS      1e-9 /* residual that strongly loaded and wide open contacts are left with */
#define JUMP_TAU      1e-2 /* below this tau the descent is tried whenever it fell by JUMP_RATIO */
#define JUMP_RATIO    0.1
enum { TRIES = 6, CORRECTIONS = 3, CORRECTIONS_AT_BASE = 5, JUMP_STEPS = 60, START_STEPS = 60 };

typedef struct follower {
    rg_newton *newton;
    double step; /* length of the next step: change of log tau, or of the norm if that is faster */
    double way;  /* +1 or -1: direction of log tau along the curve */
    double pace; /* norm of w */
    bool begun;
    int corrections; /* of the base, one after the other */
} follower;

static void swap_points(rg_newton *newton) {
    rg_newton_point swap = newton->point;
    newton->point = newton->trial;
    newton->trial = swap;
}

static void set_weights(rg_newton *newton) {
    const rg_system *system = &newton->system;
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        double sum = rg_system_block_dot(system, i, newton->point.y, newton->point.y);
        newton->weight[i] = 1 / (sqrt(sum) + newton->point.tau * system->rho[i] * system->scale);
    }
}

/* <a, b> with the weights of the base point. */
static double inner(const rg_newton *newton, const double *a, const double *b) {
    const rg_system *system = &newton->system;
    double total = 0;
    for (size_t i = 0; i < rg_system_blocks(system); i++)
        total += rg_system_block_dot(system, i, a, b) * newton->weight[i] * newton->weight[i];
    return total;
}

/* correction += l w, orthogonal to the tangent (w, 1); returns l. */
static double make_orthogonal(rg_newton *newton, rg_newton_step *correction) {
    const rg_newton_step *w = &newton->tangent;
    double l = -inner(newton, w->dy, correction->dy) / (inner(newton, w->dy, w->dy) + 1);
    for (size_t i = 0; i < newton->system.velocities; i++)
        correction->dv[i] += l * w->dv[i];
    for (size_t i = 0; i < newton->system.rows; i++) {
        correction->dr[i] += l * w->dr[i];
        correction->dy[i] += l * w->dy[i];
    }
    return l;
}

/* Which way along the tangent is forward: the one that agrees with the last step. */
static void orient(follower *f) {
    rg_newton *newton = f->newton;
    const double *dy = newton->tangent.dy;
    double length = sqrt(inner(newton, dy, dy) + 1),
           agreement = f->begun ? newton->previous[0] : -1;
    const rg_system *system = &newton->system;
    size_t row = 0;
    for (size_t i = 0; i < rg_system_blocks(system); i++)
        for (size_t k = 0; k < rg_system_block_size(system, i); k++, row++) {
            double entry = dy[row] * newton->weight[i];
            if (f->begun)
                agreement += newton->previous[1 + row] * entry;
        }
    f->way = agreement > 0 ? 1 : -1;
    newton->previous[0] = f->way / length;
    row = 0;
    for (size_t i = 0; i < rg_system_blocks(system); i++)
        for (size_t k = 0; k < rg_system_block_size(system, i); k++, row++)
            newton->previous[1 + row] = f->way * dy[row] * newton->weight[i] / length;
    f->begun = true;
}

/* Without a proximal term if that can be done: it would take strongly loaded contacts off the
 * path. */
static bool factor_safely(rg_newton *newton) {
    rg_status status = rg_newton_factor(newton, 0);
    for (double delta = PROXIMAL_LOW; status == RG_SINGULAR && delta <= PROXIMAL_HIGH; delta *= 10)
        status = rg_newton_factor(newton, delta);
    return status == RG_OK;
}

/* Factor, correction and tangent at the base point. */
static bool open_step(follower *f, double *base) {
    rg_newton *newton = f->newton;
    newton->iterations++;
    rg_newton_soften(newton, &newton->point, SOFTNESS);
    rg_newton_evaluate(newton, &newton->point, true);
    if (!factor_safely(newton))
        return false;
    rg_newton_solve(newton, newton->map.e1, newton->map.e2, &newton->newton);
    rg_newton_solve(newton, NULL, newton->map.slope, &newton->tangent);
    set_weights(newton);
    double l = make_orthogonal(newton, &newton->newton);
    *base = fmax(fabs(l), rg_newton_norm(newton, &newton->point, newton->newton.dy));
    f->pace = rg_newton_norm(newton, &newton->point, newton->tangent.dy);
    newton->newton.tau_change = l;
    return isfinite(*base) && isfinite(f->pace);
}

/* Simplified correction at the trial point; its norm. */
static double correct_trial(rg_newton *newton) {
    rg_newton_evaluate(newton, &newton->trial, false);
    rg_newton_solve(newton, newton->map.e1, newton->map.e2, &newton->correction);
    double l = make_orthogonal(newton, &newton->correction);
    newton->correction.tau_change = l;
    return fmax(fabs(l), rg_newton_norm(newton, &newton->trial, newton->correction.dy));
}

static void shift_tau(rg_newton_point *point, double change) {
    point->tau *= rg_exp(fmin(1, change)); /* never far back in one go */
}

/* trial = point + a + h w. */
static void predict(rg_newton *newton, double h) {
    rg_newton_move(newton, &newton->point, 1, &newton->newton, &newton->trial);
    rg_newton_move(newton, &newton->trial, h, &newton->tangent, &newton->trial);
    shift_tau(&newton->trial, h + newton->newton.tau_change);
}

/* More corrections with the same factor while they pay; the last one is small at the end, or it was
 * not applied. */
static double settle(rg_newton *newton, double norm) {
    for (int k = 0; k < CORRECTIONS && norm > CONVERGED; k++) {
        rg_newton_move(newton, &newton->trial, 1, &newton->correction, &newton->trial);
        shift_tau(&newton->trial, newton->correction.tau_change);
        double next = correct_trial(newton);
        if (!(next < CONTRACTION * norm))
            return next;
        norm = next;
    }
    return norm;
}

static void copy_point(const rg_newton *newton, const rg_newton_point *from, rg_newton_point *to) {
    memcpy(to->v, from->v, newton->system.velocities * sizeof(double));
    memcpy(to->r, from->r, newton->system.rows * sizeof(double));
    memcpy(to->u, from->u, newton->system.rows * sizeof(double));
    memcpy(to->y, from->y, newton->system.rows * sizeof(double));
    to->tau = from->tau;
}

/* The base is not on the path yet: correct it, or go back to the last point that was, for a shorter
 * step. */
static bool correct_base(follower *f, double base) {
    rg_newton *newton = f->newton;
    if (f->begun && (++f->corrections > CORRECTIONS_AT_BASE || base > 1)) {
        copy_point(newton, &newton->anchor, &newton->point);
        f->step *= 0.25;
        f->corrections = 0;
        return f->step > STEP_LOW;
    }
    double alpha = fmin(1, 1 / base);
    rg_newton_move(newton, &newton->point, alpha, &newton->newton, &newton->trial);
    shift_tau(&newton->trial, alpha * newton->newton.tau_change);
    swap_points(newton);
    return true;
}

/* One factorisation: a step, or a correction of the base. False: nothing works. */
static bool advance(follower *f) {
    rg_newton *newton = f->newton;
    double base;
    if (!open_step(f, &base))
        return false;
    if (base > BASE)
        return correct_base(f, base);
    copy_point(newton, &newton->point, &newton->anchor);
    f->corrections = 0;
    orient(f);
    for (int k = 0; k < TRIES; k++) {
        predict(newton, f->way * f->step / fmax(f->pace, 1));
        double norm = correct_trial(newton), last = norm <= PASS ? settle(newton, norm) : norm;
        if (last <= SETTLED) {
            swap_points(newton);
            f->step = fmin(STEP_HIGH, f->step * (norm < 0.1 ? 2.5 : norm < 0.3 ? 1.5 : 1));
            return true;
        }
        f->step *= 0.5;
    }
    return f->step > STEP_LOW && (base <= CONVERGED || correct_base(f, base));
}

/* The solution for the first tau: from the starting point, steps cut to the norm. */
static bool start_path(rg_newton *newton) {
    for (int k = 0; k < START_STEPS && newton->factorisations < newton->limit; k++) {
        newton->iterations++;
        rg_newton_evaluate(newton, &newton->point, true);
        if (rg_newton_factor(newton, 0) != RG_OK)
            return false;
        rg_newton_solve(newton, newton->map.e1, newton->map.e2, &newton->newton);
        double norm = rg_newton_norm(newton, &newton->point, newton->newton.dy);
        if (!isfinite(norm))
            return false;
        rg_newton_move(newton, &newton->point, fmin(1, 1 / norm), &newton->newton, &newton->trial);
        swap_points(newton);
        if (norm < BASE)
            return true;
    }
    return false;
}

/* From a point of the path straight to its end, and the worst places of what that leaves mended;
 * the path goes on from where it was if that fails. The best forces are put aside meanwhile: what
 * the path leads to may be mended although they are better. */
static bool jump(rg_newton *newton) {
    double before = newton->best_residual;
    size_t bytes = newton->system.rows * sizeof(double);
    memcpy(newton->put_aside, newton->best, bytes);
    newton->best_residual = INFINITY;
    copy_point(newton, &newton->point, &newton->kept);
    rg_newton_soften(newton, &newton->point, 0);
    bool solved = rg_newton_descend(newton, newton->point.tau, RG_NEWTON_FIRM, JUMP_STEPS) ||
                  rg_newton_mend(newton);
    copy_point(newton, &newton->kept, &newton->point);
    if (!(newton->best_residual < before)) {
        newton->best_residual = before;
        memcpy(newton->best, newton->put_aside, bytes);
    }
    return solved;
}

bool rg_newton_follow(rg_newton *newton, double tau, uint64_t limit) {
    follower f = {.newton = newton, .step = STEP_START};
    uint64_t end = newton->factorisations + limit;
    double next_jump = JUMP_TAU;
    newton->point.tau = tau;
    if (!start_path(newton))
        return false;
    while (newton->factorisations < end && newton->factorisations < newton->limit &&
           newton->point.tau <= TAU_BACK * tau && !rg_solve_stops(newton->context)) {
        bool moved = advance(&f);
        if (moved && rg_newton_note(newton, &newton->point) <= newton->tolerance)
            return true;
        if (!moved || newton->point.tau < next_jump) {
            next_jump = fmin(next_jump, newton->point.tau) * JUMP_RATIO;
            if (jump(newton))
                return true;
        }
        if (!moved || newton->point.tau < TAU_END)
            break;
    }
    return false;
}
