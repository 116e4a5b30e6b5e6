/* Newton steps on the smoothed map: factor, solve, move; and the damped descent that ends every
 * solve.
 *
 * The Jacobian is that of the map with delta added to A = 1 - DP. Where forces are redundant (four
 * points of a face, the courses of a wall) A is all that determines their distribution, and it
 * vanishes with tau: the step then moves forces by amounts that have nothing to do with the
 * residual, contacts reach their kinks, and the line search collapses. delta is a proximal term: it
 * keeps redundant forces where they are and changes nothing else much, since rho W is of order one
 * in the other directions. So delta is raised when steps are cut and lowered when they are not (as
 * in the method of Levenberg and Marquardt), between DELTA_LOW and an upper bound. tau follows the
 * merit down, and goes up again where a kink blocks every step. Fails: no better merit for
 * STALL_LIMIT steps.
 * Tested by tests/solve/test_newton.c. */
#include "base/base_math.h"
#include "solve/solve_newton.h"
#include "solve/solve_system_parts.h"

#include <string.h>

#define DELTA_LOW 1e-8  /* no unit: A is of order one in weak and in open contacts */
#define ALPHA_LOW 1e-3  /* the shortest step */
#define DECREASE  1e-2  /* share of alpha by which the merit must fall below the largest recent */
#define TAU_SHARE 0.1   /* tau follows the merit down at this distance, ... */
#define TAU_RATIO 0.1   /* ... at most by this ratio a step */
#define TAU_UP    10.0  /* and up again where no step is short enough: a kink is in the way */
#define TAU_LOW   1e-10 /* kinks sharper than this are no different from none */
enum {
    MEMORY = 4,      /* merits that count as recent */
    STALL_LIMIT = 12 /* steps without a better merit */
};

rg_status rg_newton_factor(rg_newton *newton, double delta) {
    const rg_system *system = &newton->system;
    if (delta > 0)
        for (size_t i = 0; i < rg_system_blocks(system); i++) {
            size_t d = rg_system_block_size(system, i), offset = rg_system_block_offset(system, i);
            for (size_t k = 0; k < d; k++)
                newton->map.a[offset + k * d + k] += delta;
        }
    newton->factorisations++;
    rg_status status = rg_system_factor(&newton->system, newton->map.a, newton->map.b, false);
    if (status == RG_OUT_OF_MEMORY) { /* of the pattern, the first time: all loops end */
        newton->starved = true;
        newton->limit = 0;
    }
    return status;
}

void rg_newton_solve(rg_newton *newton, const double *e1, const double *e2, rg_newton_step *step) {
    rg_system *system = &newton->system;
    rg_system_solve(system, e1, e2, step->dv, step->dr);
    rg_system_refine(system, e1, e2, step->dv, step->dr);
    rg_system_rates(system, step->dv, step->dr, step->dy);
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        size_t row = rg_system_block_row(system, i), d = rg_system_block_size(system, i);
        for (size_t k = row; k < row + d; k++)
            step->dy[k] = step->dr[k] - system->rho[i] * step->dy[k];
    }
}

void rg_newton_move(rg_newton *newton, const rg_newton_point *from, double alpha,
                    const rg_newton_step *step, rg_newton_point *to) {
    const rg_system *system = &newton->system;
    for (size_t i = 0; i < system->velocities; i++)
        to->v[i] = from->v[i] + alpha * step->dv[i];
    for (size_t i = 0; i < system->rows; i++)
        to->r[i] = from->r[i] + alpha * step->dr[i];
    to->tau = from->tau;
    rg_newton_refresh(newton, to);
}

/* sqrt of the mean over the blocks of |E2|^2 in units of (rho scale)^2; E1, which is linear and
 * stays zero to rounding, is left out. */
static double merit(const rg_newton *newton) {
    const rg_system *system = &newton->system;
    double sum = 0;
    for (size_t i = 0; i < rg_system_blocks(system); i++)
        sum += rg_system_block_dot(system, i, newton->map.e2, newton->map.e2) /
               (system->rho[i] * system->rho[i]);
    return sqrt(sum / (double)(rg_system_blocks(system) + 1)) / system->scale;
}

/* The merits since tau was changed: the largest of the last few is what a step is measured by, so
 * that a contact may pass its kink (Grippo, Lampariello and Lucidi 1986). */
typedef struct history {
    double merits[MEMORY];
    size_t count;
    double lowest;
} history;

static double add_merit(history *h, double value) {
    h->merits[h->count++ % MEMORY] = value;
    double largest = 0;
    for (size_t k = 0; k < MEMORY && k < h->count; k++)
        largest = fmax(largest, h->merits[k]);
    return largest;
}

/* The longest step, halving, that lowers the merit enough; the trial point is there. */
static double search_line(rg_newton *newton, double reference, double *after) {
    for (double alpha = 1;; alpha *= 0.5) {
        rg_newton_move(newton, &newton->point, alpha, &newton->newton, &newton->trial);
        rg_newton_evaluate(newton, &newton->trial, false);
        *after = merit(newton);
        if (*after < (1 - DECREASE * alpha) * reference || alpha < ALPHA_LOW)
            return alpha;
    }
}

bool rg_newton_descend(rg_newton *newton, double tau, rg_newton_damping damping, uint64_t limit) {
    rg_newton_point *point = &newton->point;
    double delta = damping.start;
    history past = {.lowest = INFINITY};
    uint64_t end = newton->factorisations + limit;
    if (end > newton->limit)
        end = newton->limit;
    point->tau = tau;
    for (int stall = 0; newton->factorisations < end && stall < STALL_LIMIT; stall++) {
        newton->iterations++;
        rg_newton_evaluate(newton, point, true);
        double reference = add_merit(&past, merit(newton)), after;
        if (rg_newton_factor(newton, delta) != RG_OK) {
            delta = fmin(damping.high, 10 * delta);
            continue;
        }
        rg_newton_solve(newton, newton->map.e1, newton->map.e2, &newton->newton);
        double alpha = search_line(newton, reference, &after);
        if (after < reference) {
            rg_newton_point swap = *point;
            *point = newton->trial;
            newton->trial = swap;
        }
        if (alpha == 1)
            delta = fmax(DELTA_LOW, 0.3 * delta);
        else if (alpha < 0.2)
            delta = fmin(damping.high, 4 * delta);
        if (rg_newton_note(newton, point) <= newton->tolerance)
            return true;
        double lowest = past.lowest;
        past.lowest = fmin(lowest, after);
        if (after < 0.9 * lowest)
            stall = 0;
        double wanted = fmax(fmax(TAU_LOW, TAU_RATIO * point->tau), TAU_SHARE * after);
        if (alpha < ALPHA_LOW)
            wanted = fmin(tau, TAU_UP * point->tau);
        if (wanted < 0.5 * point->tau || wanted > point->tau) {
            point->tau = wanted;
            past = (history){.lowest = INFINITY};
        }
    }
    return false;
}
