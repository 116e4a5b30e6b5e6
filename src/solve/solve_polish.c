/* Semismooth Newton on the map of P. Alart and A. Curnier ("A mixed formulation for frictional
 * contact problems prone to Newton like solution methods", Comput. Methods Appl. Mech. Eng. 92,
 * 1991):
 *
 *     r = p(r - rho u),   p(y) = (max(0, y_N), y_T cut to the disc of radius mu max(0, y_N)),
 *
 * whose zeros are the solutions. Its matrix is A = 1 + delta - p', B = rho p' (solve_system.h); the
 * proximal delta keeps it regular where forces are not determined. Near a solution at which no
 * contact is on the verge, the modes are right and one step gives all digits; where forces are not
 * unique a small delta throws them far away along the undetermined directions and the step fails:
 * then a larger one is tried from the same point. Quadratic at best, without guarantee; it never
 * returns anything worse.
 * Tested by tests/solve/test_auto.c. */
#include "solve/solve_polish.h"

#include "base/base_math.h"

#include <string.h>

/* Relative to 1 / rho. */
#define PROXIMAL_START  1e-8
#define PROXIMAL_LEAST  1e-11
#define PROXIMAL_RAISED 30
/* A step is a failure if the residual does not fall below this share. */
#define FALL_LEAST 0.99
#define FALL_GOOD  0.5
enum { REFINEMENTS = 2, DIMENSION_MAX = 3 };

rg_status rg_polish_create(rg_polish *polish, rg_system *system, rg_solve_context *context,
                           rg_error *error) {
    size_t rows = system->rows, d = (size_t)system->dimension;
    *polish = (rg_polish){.system = system, .best_residual = INFINITY};
    for (size_t i = 0; i < system->contacts; i++)
        polish->friction = polish->friction || system->mu[i] > 0;
    RG_TAKE(polish->best, context, rows, error);
    RG_TAKE(polish->trial, context, rows, error);
    RG_TAKE(polish->u, context, rows, error);
    RG_TAKE(polish->e2, context, rows, error);
    RG_TAKE(polish->dr, context, rows, error);
    RG_TAKE(polish->dv, context, system->velocities, error);
    RG_TAKE(polish->a, context, system->contacts * d * d + system->joints, error);
    RG_TAKE(polish->b, context, system->contacts * d * d + system->joints, error);
    memset(polish->best, 0, rows * sizeof *polish->best);
    return RG_OK;
}

rg_status rg_polish_prepare(rg_polish *polish, rg_system *system, rg_solve_context *context,
                            const rg_problem *problem, rg_error *error) {
    rg_status status = rg_system_prepare(system, context, problem, error);
    return status ? status : rg_polish_create(polish, system, context, error);
}

static double tail_length(const double *x, int d) {
    return d < 2 ? 0 : d == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

static double joint_bound(const double *bounds, size_t joint, double otherwise) {
    return bounds ? bounds[joint] : otherwise;
}

/* |x|^2 < limit^2 beyond doubt, whichever way roots are rounded. */
#define CLEARLY (1 - 1e-12)

/* y inside the cone? */
static inline bool is_inside(double mu, int d, const double *y) {
    double limit = mu * y[0], sum = 0;
    if (!(y[0] >= 0))
        return false;
    for (int k = 1; k < d; k++)
        sum += y[k] * y[k];
    return sum < CLEARLY * (limit * limit) || tail_length(y, d) <= limit;
}

/* |r - P_K(r - rho (u + mu |u_T| n))|^2. Inside the cone it is the velocity itself: taking the
 * difference of large forces would hide it. */
static inline double squared_residual(double mu, double rho, int d, const double *force,
                                      const double *u) {
    double y[DIMENSION_MAX] = {0}, off[DIMENSION_MAX] = {0}, sum = 0;
    off[0] = rho * (u[0] + mu * tail_length(u, d));
    for (int k = 1; k < d; k++)
        off[k] = rho * u[k];
    for (int k = 0; k < d; k++)
        y[k] = force[k] - off[k];
    if (mu == 0 && y[0] > 0) {
        for (int k = 1; k < d; k++)
            off[k] = force[k];
    } else if (!is_inside(mu, d, y)) {
        double tail = tail_length(y, d);
        bool open = mu * tail <= -y[0];
        double normal = open ? 0 : (y[0] + mu * tail) / (1 + mu * mu);
        off[0] = force[0] - normal;
        for (int k = 1; k < d; k++)
            off[k] = force[k] - (tail > 0 ? mu * normal / tail * y[k] : 0);
    }
    for (int k = 0; k < d; k++)
        sum += off[k] * off[k];
    return sum;
}

double rg_polish_worse(const rg_system *system, size_t contact, const double *force,
                       const double *u, double worst) {
    double mu = system->mu[contact], rho = system->rho[contact], limit = worst * rho;
    size_t row = contact * (size_t)system->dimension;
    double sum = system->dimension == 3
                     ? squared_residual(mu, rho, 3, force + row, u + row)
                     : squared_residual(mu, rho, system->dimension, force + row, u + row);
    if (sum < CLEARLY * (limit * limit))
        return worst;
    double one = sqrt(sum) / rho;
    return isnan(worst) || one <= worst ? worst : one;
}

double rg_polish_contact(const rg_system *system, size_t contact, const double *force,
                         const double *u) {
    return rg_polish_worse(system, contact, force, u, 0);
}

double rg_polish_joint(const rg_system *system, size_t joint, const double *force,
                       const double *u) {
    size_t row = system->contacts * (size_t)system->dimension + joint;
    double rho = system->rho[system->contacts + joint], y = force[row] - rho * u[row];
    double lower = joint_bound(system->problem->lower, joint, -INFINITY),
           upper = joint_bound(system->problem->upper, joint, INFINITY);
    return y < lower   ? fabs(force[row] - lower) / rho
           : y > upper ? fabs(force[row] - upper) / rho
                       : fabs(u[row]);
}

double rg_polish_residual(const rg_system *system, const double *force, double *u) {
    double worst = 0;
    rg_system_velocity(system, force, NULL, u);
    for (size_t i = 0; i < system->contacts; i++)
        worst = rg_polish_worse(system, i, force, u, worst);
    for (size_t j = 0; j < system->joints; j++) {
        double one = rg_polish_joint(system, j, force, u);
        worst = one <= worst ? worst : one;
    }
    return isfinite(worst) ? worst / system->scale : INFINITY;
}

double rg_polish_offer(rg_polish *polish, const double *force) {
    double residual = rg_polish_residual(polish->system, force, polish->u);
    if (residual < polish->best_residual) {
        polish->best_residual = residual;
        memcpy(polish->best, force, polish->system->rows * sizeof *force);
    }
    return residual;
}

/* x = p(y) and its derivative. */
static void project_contact(const double *y, double mu, int d, double *x,
                            double slope[DIMENSION_MAX][DIMENSION_MAX]) {
    memset(slope, 0, DIMENSION_MAX * sizeof *slope);
    x[0] = x[1] = x[2] = 0;
    if (y[0] <= 0)
        return;
    x[0] = y[0];
    slope[0][0] = 1;
    if (mu == 0)
        return;
    double radius = mu * y[0], length = tail_length(y, d), t[DIMENSION_MAX] = {0};
    bool stick = length <= radius;
    for (int k = 1; k < d && length > 0; k++)
        t[k] = y[k] / length;
    for (int k = 1; k < d; k++) {
        x[k] = stick ? y[k] : radius * t[k];
        slope[k][0] = stick ? 0 : mu * t[k];
        for (int m = 1; m < d; m++)
            slope[k][m] = stick ? (k == m) : radius / length * ((k == m) - t[k] * t[m]);
    }
}

/* The system at the trial forces and their velocities. */
static void linearise(rg_polish *p, double proximal) {
    const rg_system *s = p->system;
    int d = s->dimension;
    size_t dd = (size_t)(d * d);
    for (size_t i = 0; i < s->contacts; i++) {
        size_t row = i * (size_t)d;
        double *a = p->a + i * dd, *b = p->b + i * dd;
        double y[DIMENSION_MAX] = {0}, x[DIMENSION_MAX], slope[DIMENSION_MAX][DIMENSION_MAX];
        for (int k = 0; k < d; k++)
            y[k] = p->trial[row + (size_t)k] - s->rho[i] * p->u[row + (size_t)k];
        project_contact(y, s->mu[i], d, x, slope);
        for (int k = 0; k < d; k++) {
            p->e2[row + (size_t)k] = p->trial[row + (size_t)k] - x[k];
            for (int m = 0; m < d; m++) {
                a[k * d + m] = (k == m ? 1 + proximal : 0) - slope[k][m];
                b[k * d + m] = s->rho[i] * slope[k][m];
            }
        }
    }
    for (size_t j = 0; j < s->joints; j++) {
        size_t row = s->contacts * (size_t)d + j, at = s->contacts * dd + j;
        double rho = s->rho[s->contacts + j], y = p->trial[row] - rho * p->u[row];
        double lower = joint_bound(s->problem->lower, j, -INFINITY),
               upper = joint_bound(s->problem->upper, j, INFINITY);
        bool inside = y > lower && y < upper;
        p->e2[row] = p->trial[row] - (inside ? y : y <= lower ? lower : upper);
        p->a[at] = inside ? proximal : 1;
        p->b[at] = inside ? rho : 0;
    }
}

/* One step from the best forces. */
static void newton_step(rg_polish *p, double proximal) {
    rg_system *s = p->system;
    memcpy(p->trial, p->best, s->rows * sizeof *p->trial);
    rg_system_velocity(s, p->trial, NULL, p->u);
    linearise(p, proximal);
    p->iterations++;
    p->factorisations++;
    if (rg_system_factor(s, p->a, p->b, !p->friction) != RG_OK)
        return;
    rg_system_solve(s, NULL, p->e2, p->dv, p->dr);
    for (int m = 0; m < REFINEMENTS; m++)
        rg_system_refine(s, NULL, p->e2, p->dv, p->dr);
    for (size_t i = 0; i < s->rows; i++)
        p->trial[i] += p->dr[i];
    rg_polish_offer(p, p->trial);
}

bool rg_polish_run(rg_polish *p, double tolerance, int limit, bool patient) {
    double proximal = PROXIMAL_START;
    for (int k = 0; k < limit && p->best_residual > tolerance && proximal < 1; k++) {
        double before = p->best_residual;
        newton_step(p, proximal);
        if (p->best_residual < FALL_GOOD * before)
            proximal = fmax(PROXIMAL_LEAST, 0.1 * proximal);
        else if (!patient)
            break;
        else if (!(p->best_residual < FALL_LEAST * before))
            proximal *= PROXIMAL_RAISED;
    }
    return p->best_residual <= tolerance;
}
