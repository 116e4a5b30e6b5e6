/* Primal-dual interior point for contact problems.
 *
 * Problem: M (v - v_free) = J' r, w = J v + q + s n, r in K, w in K*, r.w = 0; joint rows free or
 * bounded. Without friction s = 0, and this is the optimality of a convex quadratic program (Baraff
 * 1989, eq. 16). Coulomb's law is s = mu |u_T| (De Saxce): no longer convex, and the same iteration
 * is used with the derivative of s in its matrix (the idea of V. Acary, P. Armand, H. M. Nguyen and
 * M. Shpakovych on interior points for frictional contact, 2022).
 *
 * Method: Nesterov-Todd scaling and Mehrotra's predictor and corrector (L. Vandenberghe, "The
 * CVXOPT linear and quadratic cone program solvers", 2010). A contact with friction is the cone
 * |x_1| <= x_0 of x = (mu r_N, r_T) against (w_N / mu, w_T); without friction its normal row is a
 * half-line and the tangential forces stay 0. With H = W^2 of the scaling and D = (H +
 * proximal)^-1, a step solves
 *     dr + D ((1 + n ds/du) J dv + residual + W (lambda \ aim)) = 0,  M dv - J' dr = -residual,
 * which is the system of solve_system.h with A = 1, B = D (1 + n ds/du).
 *
 * What makes it reach the last digits on rubble (thousands of contacts, most of them redundant):
 * - the central path is weighted: (r / rho_i).w = tau^2 at every contact, so that light and heavy
 *   bodies come to the same accuracy in velocity at the same time;
 * - a proximal term in place of an exact H where H vanishes: redundant forces stay where they are.
 *   It grows when steps become short, as the term of Levenberg and Marquardt does, and falls again;
 * - dw comes from the complementarity along those axes of H where w is the small one of the pair,
 *   and from the rows where r is: the small one keeps its relative accuracy. Residuals of the size
 *   of rounding are dropped for the same reason: w may be smaller than they are;
 * - sliding contacts, on the boundary with both r and w, keep a least product;
 * - |u_T| is smoothed to sqrt(|u_T|^2 + e^2) - e with e ~ tau^2. This is convex in u and grows as e
 *   falls, so w can follow it exactly after a step and stays inside K*: the only error of the
 *   linear model goes into the products, never into the rows;
 * - Newton on the contact law (solve_polish.c) as soon as the modes may be right, and at the end.
 *
 * Bounded joint rows have a barrier at each finite bound; free rows are equations with a proximal
 * term.
 *
 * With friction, where the path stalls, the contacts that are still wrong are mended
 * (solve_mend.c); if that does not do, the path is followed once more from the start, with more
 * smoothing and shorter steps, unless the problem is large. settings.effort bounds all of it.
 * Forces that are given (settings.warm) are no start for a path; they stand if it ends no better.
 *
 * How it fails: a frictionless problem without a solution sends r to infinity; if then W r is small
 * against r and u_free.r < 0, r proves that there is none (RG_SOLVE_INFEASIBLE). With friction
 * nothing is guaranteed: steps become short where many contacts change between stick and slip; the
 * best forces seen are returned as stalled. */
#include "base/base_math.h"
#include "solve/solve_interior_cone.h"
#include "solve/solve_mend.h"
#include "solve/solve_polish.h"
#include "solve/solve_system_parts.h"

#include <stdio.h>
#include <string.h>

enum {
    ITERATION_LIMIT = 200,
    REFINEMENTS = 1,  /* of the corrector; the predictor needs none */
    IDLE_LIMIT = 40,  /* iterations without progress: stalled */
    IDLE_CONTENT = 5, /* the same once the tolerance is met, though not the aim */
    SHORT_LIMIT = 3,  /* steps below SHORT_STEP: stalled */
    EARLY_POLISH = 3,
    LATE_POLISH = 20,
    MEND_BUDGET = 40, /* factorisations */
    LARGE = 500,      /* contacts beyond which mending takes the place of patience ... */
    IDLE_LARGE = 15,  /* ... instead of IDLE_LIMIT */
    /* The same within a budget, of which most would go for nothing, and once what is acceptable is
     * reached: 11 runs of dominoes take 12.0 s, with 15 and 40 instead 15.0 s (docs/solvers.md). */
    IDLE_BUDGET = 8
};
/* Part of the way to the boundary that a step may go. */
#define BOUNDARY_SHARE 0.99
/* Added to H, relative to 1 / rho; at least. Friction needs more: its matrix has no symmetric
 * factor. */
#define PROXIMAL          1e-12
#define PROXIMAL_FRICTION 1e-10
/* It is raised after steps shorter than STEP_POOR and lowered after steps longer than STEP_GOOD;
 * short steps count as a stall once it is high. */
#define STEP_POOR        0.3
#define STEP_GOOD        0.6
#define PROXIMAL_RAISED  30
#define PROXIMAL_LOWERED 0.5
#define PROXIMAL_HIGH    1e-2
#define PROXIMAL_MOST    1.0
/* The proximal term of free joint rows, relative to W_jj. */
#define PROXIMAL_FREE_ROW 1e-9
/* The least product r.w of a contact on the boundary, relative to r_N w_N. */
#define PRODUCT_FLOOR 1e-13
/* Residuals below this, relative to the free velocities, are rounding. */
#define NOISE 1e-14
/* Smoothing of |u_T|: this times tau^2 / scale, and at most this times tau; in the second pass, and
 * the share of the way to the boundary that it goes. */
#define SMOOTHING             0.01
#define SMOOTHING_SECOND      1.0
#define BOUNDARY_SHARE_SECOND 0.9
#define SHORT_STEP            1e-5
/* Progress: the best residual falls below this share of what it was. */
#define PROGRESS 0.8
/* The polish is tried when the residual has fallen below EARLY_RESIDUAL, then after each further
 * fall by EARLY_FALL. */
#define EARLY_RESIDUAL 1e-3
#define EARLY_FALL     0.03
/* Part of the tolerance that is aimed at: the judge rounds differently. */
#define AIM 0.5
/* Forces this much larger than the free velocities ask for are looked at as a proof of
 * infeasibility; W r counts as 0 below the second figure, relative to r / rho. Under a body of 1e8
 * times the mass forces are that large, too, and W r that small: the proof rules out no more than
 * forces up to about the first figure. */
#define DIVERGED     1e12
#define RAY_RESIDUAL 1e-11

typedef enum joint_kind { JOINT_FREE, JOINT_BOUNDED, JOINT_FIXED } joint_kind;

typedef struct scaling {
    rg_cone_scaling cone;
    double value[3]; /* 1 / (H + proximal) along the axes of the cone */
    double slope[3]; /* ds/du */
    double norm;     /* the rows of the linear system are divided by it */
} scaling;

typedef struct interior {
    rg_system system;
    rg_polish polish;
    rg_mend mend;
    rg_solve_context *context;
    bool friction, global;
    uint8_t *kinds; /* joints */
    double *lower, *upper;
    double *r, *w, *v, *u;
    double *dr, *dw, *dv, *move;          /* the step; J dv (W dr) */
    double *dr0, *dw0;                    /* of the predictor */
    double *e1, *e1_kept, *e2, *residual; /* residual: u + s n - w */
    double *a, *b;
    double *low, *high, *dlow, *dhigh, *dlow0, *dhigh0; /* velocities of the bounds of joints */
    scaling *scalings;
    double level;                    /* of the free velocities */
    double smoothing;                /* of |u_T| */
    double share, smoothing_factor;  /* of this pass */
    double proximal, proximal_least; /* relative to 1 / rho */
    double degree;                   /* products there are */
    int patience;                    /* iterations without progress */
    uint64_t iterations;
} interior;

static bool has_cone(const interior *p, size_t contact) {
    return p->system.dimension > 1 && p->system.mu[contact] > 0;
}
static int cone_width(const interior *p, size_t contact) {
    return has_cone(p, contact) ? p->system.dimension : 1;
}
/* Forces times this, velocities over it, in the normal row, make the cone symmetric. */
static double cone_unit(const interior *p, size_t contact) {
    return has_cone(p, contact) ? p->system.mu[contact] : 1;
}
/* Friction in space, by far the most frequent: what is done contact by contact is compiled for this
 * width by itself. */
static bool is_usual(const interior *p, size_t contact) {
    return p->system.dimension == 3 && p->system.mu[contact] > 0;
}
static inline void to_cone(double unit, int width, const double *r, const double *w, double *z,
                           double *s) {
    z[0] = r[0] * unit;
    s[0] = w[0] / unit;
    for (int k = 1; k < width; k++) {
        z[k] = r[k];
        s[k] = w[k];
    }
}

/* --- set-up -------------------------------------------------------------------------------------
 * */

static rg_status take_memory(interior *p, rg_error *error) {
    rg_solve_context *c = p->context;
    size_t velocities = p->system.velocities;
    size_t numbers =
        p->system.contacts * (size_t)(p->system.dimension * p->system.dimension) + p->system.joints;
    double **by_rows[] = {&p->r,    &p->w,   &p->u,   &p->dr, &p->dw,
                          &p->move, &p->dr0, &p->dw0, &p->e2, &p->residual};
    for (size_t k = 0; k < sizeof by_rows / sizeof *by_rows; k++) {
        RG_TAKE(*by_rows[k], c, p->system.rows, error);
        memset(*by_rows[k], 0, p->system.rows * sizeof(double));
    }
    double **by_joints[] = {&p->lower, &p->upper, &p->low,   &p->high,
                            &p->dlow,  &p->dhigh, &p->dlow0, &p->dhigh0};
    for (size_t k = 0; k < sizeof by_joints / sizeof *by_joints; k++) {
        RG_TAKE(*by_joints[k], c, p->system.joints, error);
        memset(*by_joints[k], 0, p->system.joints * sizeof(double));
    }
    RG_TAKE(p->kinds, c, p->system.joints, error);
    RG_TAKE(p->v, c, velocities, error);
    RG_TAKE(p->dv, c, velocities, error);
    RG_TAKE(p->e1, c, velocities, error);
    RG_TAKE(p->e1_kept, c, velocities, error);
    RG_TAKE(p->a, c, numbers, error);
    RG_TAKE(p->b, c, numbers, error);
    RG_TAKE(p->scalings, c, p->system.contacts, error);
    return RG_OK;
}

static void start_joints(interior *p) {
    const rg_contact_problem *problem = p->system.problem;
    for (size_t j = 0; j < p->system.joints; j++) {
        size_t row = rg_system_block_row(&p->system, p->system.contacts + j);
        double lower = problem->lower ? problem->lower[j] : -INFINITY;
        double upper = problem->upper ? problem->upper[j] : INFINITY;
        double reach = p->system.rho[p->system.contacts + j] * p->level;
        bool below = isfinite(lower), above = isfinite(upper);
        p->lower[j] = lower;
        p->upper[j] = upper;
        p->kinds[j] = lower == upper ? JOINT_FIXED : below || above ? JOINT_BOUNDED : JOINT_FREE;
        if (p->kinds[j] == JOINT_FIXED)
            p->r[row] = lower;
        if (p->kinds[j] != JOINT_BOUNDED)
            continue;
        p->r[row] = below && above ? lower + (upper - lower) / 2
                    : below        ? lower + reach
                                   : upper - reach;
        p->low[j] = below ? p->level : 0;
        p->high[j] = above ? p->level : 0;
        p->degree += below + above;
    }
}

/* All contacts in the middle of their cones, forces and velocities of the size of the free motion.
 * */
static void start(interior *p, bool second) {
    p->share = second ? BOUNDARY_SHARE_SECOND : BOUNDARY_SHARE;
    p->smoothing_factor = second ? SMOOTHING_SECOND : SMOOTHING;
    memset(p->r, 0, p->system.rows * sizeof *p->r);
    memset(p->w, 0, p->system.rows * sizeof *p->w);
    memset(p->dr, 0, p->system.rows * sizeof *p->dr);
    memset(p->dw, 0, p->system.rows * sizeof *p->dw);
    p->level = p->system.scale;
    for (size_t i = 0; i < p->system.rows; i++)
        p->level = fmax(p->level, fabs(p->system.free[i]));
    p->degree = (double)p->system.contacts;
    for (size_t i = 0; i < p->system.contacts; i++) {
        size_t row = i * (size_t)p->system.dimension;
        p->friction = p->friction || has_cone(p, i);
        p->r[row] = p->system.rho[i] * p->level;
        p->w[row] = p->level * fmax(1, p->system.mu[i]);
    }
    start_joints(p);
    p->smoothing = p->level;
    p->proximal = p->proximal_least = p->friction ? PROXIMAL_FRICTION : PROXIMAL;
    if (p->global)
        memcpy(p->v, p->system.problem->global.free_velocity, p->system.velocities * sizeof *p->v);
}

/* --- residuals ----------------------------------------------------------------------------------
 * */

/* mu (sqrt(|u_T|^2 + e^2) - e) and its derivative. */
static inline double slip_term(double mu, int d, const double *u, double smoothing, double *slope) {
    double sum = 0;
    for (int k = 1; k < d; k++)
        sum += u[k] * u[k];
    double root = sqrt(sum + smoothing * smoothing), share = root > 0 ? mu / root : 0;
    slope[0] = 0;
    for (int k = 1; k < d; k++)
        slope[k] = share * u[k];
    return sum > 0 ? mu * sum / (root + smoothing) : 0;
}

static void find_velocity(interior *p) {
    rg_system *s = &p->system;
    if (!p->global) {
        rg_system_velocity(s, p->r, NULL, p->u);
        return;
    }
    double *x = p->dv; /* not in use between two steps */
    for (size_t i = 0; i < s->velocities; i++)
        x[i] = p->v[i] - s->problem->global.free_velocity[i];
    rg_system_mass(s, x, p->e1);
    rg_system_jt(s, p->r, x);
    for (size_t i = 0; i < s->velocities; i++)
        p->e1[i] -= x[i];
    rg_system_j(s, p->v, p->u);
    for (size_t i = 0; i < p->system.rows; i++)
        p->u[i] += s->problem->q[i];
}

static void find_residuals(interior *p) {
    find_velocity(p);
    for (size_t i = 0; i < p->system.contacts; i++) {
        size_t row = i * (size_t)p->system.dimension;
        double slope[3];
        int width = cone_width(p, i);
        for (int k = 0; k < p->system.dimension; k++)
            p->residual[row + (size_t)k] =
                k < width ? p->u[row + (size_t)k] - p->w[row + (size_t)k] : 0;
        if (width > 1)
            p->residual[row] +=
                slip_term(p->system.mu[i], p->system.dimension, p->u + row, p->smoothing, slope);
    }
    for (size_t j = 0; j < p->system.joints; j++) {
        size_t row = rg_system_block_row(&p->system, p->system.contacts + j);
        p->residual[row] = p->kinds[j] == JOINT_FIXED ? p->r[row] - p->lower[j]
                                                      : p->u[row] - p->low[j] + p->high[j];
    }
    for (size_t i = 0; i < rg_system_block_row(&p->system, p->system.contacts); i++)
        if (fabs(p->residual[i]) < NOISE * p->level)
            p->residual[i] = 0;
}

static double product_floor(const interior *p, size_t contact) {
    size_t row = contact * (size_t)p->system.dimension;
    return has_cone(p, contact) ? PRODUCT_FLOOR * p->r[row] * p->w[row] : 0;
}

static inline double product_after(const interior *p, size_t row, int width, double t) {
    double dot = 0;
    for (size_t k = row; k < row + (size_t)width; k++)
        dot += (p->r[k] + t * p->dr[k]) * (p->w[k] + t * p->dw[k]);
    return dot;
}

/* tau^2: the mean of (r / rho).w after a step t, without the part that contacts keep. */
static double mean_product(const interior *p, double t) {
    double sum = 0;
    for (size_t i = 0; i < p->system.contacts; i++) {
        size_t row = i * (size_t)p->system.dimension;
        double dot = is_usual(p, i) ? product_after(p, row, 3, t)
                                    : product_after(p, row, cone_width(p, i), t);
        double above = dot - product_floor(p, i);
        sum += above > 0 ? above / p->system.rho[i] : 0;
    }
    for (size_t j = 0; j < p->system.joints; j++) {
        if (p->kinds[j] != JOINT_BOUNDED)
            continue;
        size_t row = rg_system_block_row(&p->system, p->system.contacts + j);
        double r = p->r[row] + t * p->dr[row], dot = 0;
        if (isfinite(p->lower[j]))
            dot += (r - p->lower[j]) * (p->low[j] + t * p->dlow[j]);
        if (isfinite(p->upper[j]))
            dot += (p->upper[j] - r) * (p->high[j] + t * p->dhigh[j]);
        sum += dot / p->system.rho[p->system.contacts + j];
    }
    return p->degree > 0 ? fmax(0, sum / p->degree) : 0;
}

/* --- the linear system --------------------------------------------------------------------------
 * */

/* A = 1, B = D (1 + n ds/du) in the coordinates of the problem, both divided by a number of the
 * size of D. False if r or w is no longer inside. */
static inline bool scale_sized(interior *p, size_t i, int width, int d) {
    size_t row = i * (size_t)d, dd = (size_t)(d * d);
    double *a = p->a + i * dd, *b = p->b + i * dd, rho = p->system.rho[i], unit = cone_unit(p, i);
    scaling *f = &p->scalings[i];
    double z[3], s[3], inverse[3][3] = {{0}}, largest = 0, proximal = p->proximal / rho;
    to_cone(unit, width, p->r + row, p->w + row, z, s);
    if (!rg_cone_scale(z, s, width, &f->cone))
        return false;
    memset(f->slope, 0, sizeof f->slope);
    if (width > 1)
        slip_term(p->system.mu[i], d, p->u + row, p->smoothing, f->slope);
    for (int k = 0; k < width; k++) {
        double value = 1 / (f->cone.root[k] * f->cone.root[k] + proximal);
        for (int m = 0; m < width; m++)
            for (int n = 0; n < width; n++)
                inverse[m][n] += value * f->cone.axes[k][m] * f->cone.axes[k][n];
        largest = value > largest ? value : largest;
        f->value[k] = value;
    }
    f->norm = 1 + largest / rho;
    memset(a, 0, dd * sizeof *a);
    memset(b, 0, dd * sizeof *b);
    double share = 1 / f->norm, normal = share / unit;
    for (int k = 0; k < d; k++)
        a[k * d + k] = k < width ? share : 1;
    for (int k = 0; k < width; k++)
        for (int m = 0; m < width; m++)
            inverse[k][m] *= (k ? share : normal) * (m ? 1 : 1 / unit);
    for (int k = 0; k < width; k++)
        for (int m = 0; m < width; m++)
            b[k * d + m] = inverse[k][m] + inverse[k][0] * f->slope[m];
    return true;
}

static bool scale_contact(interior *p, size_t i) {
    return is_usual(p, i) ? scale_sized(p, i, 3, 3)
                          : scale_sized(p, i, cone_width(p, i), p->system.dimension);
}

static bool scale_contacts(interior *p) {
    for (size_t i = 0; i < p->system.contacts; i++)
        if (!scale_contact(p, i))
            return false;
    return true;
}

static void scale_joints(interior *p) {
    size_t base = p->system.contacts * (size_t)(p->system.dimension * p->system.dimension);
    for (size_t j = 0; j < p->system.joints; j++) {
        size_t row = rg_system_block_row(&p->system, p->system.contacts + j);
        double *a = p->a + base + j, *b = p->b + base + j;
        *b = 1;
        *a = PROXIMAL_FREE_ROW / p->system.rho[p->system.contacts + j];
        if (p->kinds[j] == JOINT_FIXED) {
            *a = 1;
            *b = 0;
        } else if (p->kinds[j] == JOINT_BOUNDED) {
            *a = PROXIMAL / p->system.rho[p->system.contacts + j];
            if (isfinite(p->lower[j]))
                *a += p->low[j] / (p->r[row] - p->lower[j]);
            if (isfinite(p->upper[j]))
                *a += p->high[j] / (p->upper[j] - p->r[row]);
        }
    }
}

/* What a step aims at: products of tau^2 = target on the weighted path, residuals of the share
 * `keep`; with the second-order term of the predictor if `corrected`. */
typedef struct aim {
    double target, keep;
    bool corrected;
} aim;

/* Right side of a contact; p->dw keeps W (lambda \ aim). */
static inline void aim_sized(interior *p, size_t i, int width, int d, aim at) {
    size_t row = i * (size_t)d;
    const scaling *f = &p->scalings[i];
    const rg_cone_scaling *c = &f->cone;
    double unit = cone_unit(p, i), x[3], y[3], z[3], s[3], goal[3], sum[3] = {0}, rest[3] = {0};
    double least = product_floor(p, i), target = p->system.rho[i] * at.target;
    rg_cone_product(c->lambda, c->lambda, width, goal);
    goal[0] -= target > least ? target : least;
    if (at.corrected) {
        to_cone(unit, width, p->dr0 + row, p->dw0 + row, z, s);
        rg_cone_apply(c, z, width, false, x);
        rg_cone_apply(c, s, width, true, y);
        rg_cone_product(x, y, width, z);
        for (int k = 0; k < width; k++)
            goal[k] += z[k];
    }
    rg_cone_divide(c->lambda, goal, width, x);
    for (int k = 0; k < width; k++)
        s[k] = (1 - at.keep) * p->residual[row + (size_t)k];
    s[0] /= unit;
    for (int k = 0; k < width; k++) {
        double along = 0, residual = 0;
        for (int m = 0; m < width; m++) {
            along += c->axes[k][m] * x[m];
            residual += c->axes[k][m] * s[m];
        }
        along *= c->root[k];
        double part = (along + residual) * f->value[k];
        for (int m = 0; m < width; m++) {
            sum[m] += part * c->axes[k][m];
            rest[m] += along * c->axes[k][m];
        }
    }
    sum[0] /= unit;
    for (int k = 0; k < d; k++) {
        p->e2[row + (size_t)k] = k < width ? sum[k] / f->norm : 0;
        p->dw[row + (size_t)k] = k < width ? rest[k] : 0;
    }
}

static void aim_contact(interior *p, size_t i, aim at) {
    if (is_usual(p, i))
        aim_sized(p, i, 3, 3, at);
    else
        aim_sized(p, i, cone_width(p, i), p->system.dimension, at);
}

/* The part of the step of a bound's velocity that does not depend on dr. */
static double bound_step(double velocity, double room, double second, double target) {
    return (target - velocity * room - second) / room;
}

static void aim_joint(interior *p, size_t j, aim at) {
    size_t row = rg_system_block_row(&p->system, p->system.contacts + j);
    double target = p->system.rho[p->system.contacts + j] * at.target, dr0 = p->dr0[row];
    p->dlow[j] = p->dhigh[j] = 0;
    p->e2[row] = p->residual[row];
    if (p->kinds[j] != JOINT_BOUNDED)
        return;
    p->e2[row] *= 1 - at.keep;
    if (isfinite(p->lower[j]))
        p->dlow[j] = bound_step(p->low[j], p->r[row] - p->lower[j],
                                at.corrected ? p->dlow0[j] * dr0 : 0, target);
    if (isfinite(p->upper[j]))
        p->dhigh[j] = bound_step(p->high[j], p->upper[j] - p->r[row],
                                 at.corrected ? -p->dhigh0[j] * dr0 : 0, target);
    p->e2[row] += p->dhigh[j] - p->dlow[j];
}

/* dw where p->dw holds W (lambda \ aim): along an axis where H is small, dw = -W (lambda \ aim) - H
 * dr; otherwise dw = (1 + n ds/du) J dv + residual. */
static inline void find_dw_sized(interior *p, size_t i, int width, int d, double keep) {
    size_t row = i * (size_t)d;
    const scaling *f = &p->scalings[i];
    const rg_cone_scaling *c = &f->cone;
    double unit = cone_unit(p, i), s[3], sum[3] = {0}, normal = 0;
    const double *dr = p->dr + row, *move = p->move + row;
    double *dw = p->dw + row;
    for (int k = 0; k < width; k++) {
        s[k] = move[k] + (1 - keep) * p->residual[row + (size_t)k];
        normal += f->slope[k] * move[k];
    }
    s[0] = (s[0] + normal) / unit;
    for (int k = 0; k < width; k++) {
        double h = c->root[k] * c->root[k], part = 0;
        if (h * p->system.rho[i] < 1)
            for (int m = 0; m < width; m++)
                part += c->axes[k][m] * (-dw[m] - h * (m ? dr[m] : dr[m] * unit));
        else
            for (int m = 0; m < width; m++)
                part += c->axes[k][m] * s[m];
        for (int m = 0; m < width; m++)
            sum[m] += part * c->axes[k][m];
    }
    sum[0] *= unit;
    for (int k = 0; k < d; k++)
        dw[k] = k < width ? sum[k] : 0;
}

static void find_dw(interior *p, size_t i, double keep) {
    if (is_usual(p, i))
        find_dw_sized(p, i, 3, 3, keep);
    else
        find_dw_sized(p, i, cone_width(p, i), p->system.dimension, keep);
}

static void find_step(interior *p, aim at) {
    for (size_t i = 0; i < p->system.contacts; i++)
        aim_contact(p, i, at);
    for (size_t j = 0; j < p->system.joints; j++)
        aim_joint(p, j, at);
    for (size_t i = 0; i < p->system.velocities; i++)
        p->e1_kept[i] = (1 - at.keep) * p->e1[i];
    const double *e1 = p->global ? p->e1_kept : NULL;
    rg_system_solve(&p->system, e1, p->e2, p->dv, p->dr);
    for (int k = 0; at.corrected && k < REFINEMENTS; k++)
        rg_system_refine(&p->system, e1, p->e2, p->dv, p->dr);
    if (p->global)
        memcpy(p->move, rg_system_solved_rates(&p->system), p->system.rows * sizeof *p->move);
    else
        rg_system_w(&p->system, p->dr, p->move);
    for (size_t i = 0; i < p->system.contacts; i++)
        find_dw(p, i, at.keep);
    for (size_t j = 0; j < p->system.joints; j++) {
        size_t row = rg_system_block_row(&p->system, p->system.contacts + j);
        if (p->kinds[j] == JOINT_BOUNDED && isfinite(p->lower[j]))
            p->dlow[j] -= p->low[j] / (p->r[row] - p->lower[j]) * p->dr[row];
        if (p->kinds[j] == JOINT_BOUNDED && isfinite(p->upper[j]))
            p->dhigh[j] += p->high[j] / (p->upper[j] - p->r[row]) * p->dr[row];
    }
}

/* --- the iteration ------------------------------------------------------------------------------
 * */

static double line_step(double x, double dx, double limit) {
    return rg_cone_step(&x, &dx, 1, limit);
}

static inline double contact_step(const interior *p, size_t i, int width, double limit) {
    size_t row = i * (size_t)p->system.dimension;
    double unit = cone_unit(p, i), z[3], s[3], dz[3], ds[3];
    to_cone(unit, width, p->r + row, p->w + row, z, s);
    to_cone(unit, width, p->dr + row, p->dw + row, dz, ds);
    return rg_cone_step(s, ds, width, rg_cone_step(z, dz, width, limit));
}

static double step_length(const interior *p) {
    double t = 1 / p->share;
    for (size_t i = 0; i < p->system.contacts; i++)
        t = is_usual(p, i) ? contact_step(p, i, 3, t) : contact_step(p, i, cone_width(p, i), t);
    for (size_t j = 0; j < p->system.joints; j++) {
        size_t row = rg_system_block_row(&p->system, p->system.contacts + j);
        if (p->kinds[j] == JOINT_BOUNDED && isfinite(p->lower[j])) {
            t = line_step(p->r[row] - p->lower[j], p->dr[row], t);
            t = line_step(p->low[j], p->dlow[j], t);
        }
        if (p->kinds[j] == JOINT_BOUNDED && isfinite(p->upper[j])) {
            t = line_step(p->upper[j] - p->r[row], -p->dr[row], t);
            t = line_step(p->high[j], p->dhigh[j], t);
        }
    }
    return t;
}

/* The slip term's true growth over the step and over the fall of the smoothing, beyond the linear
 * model's: never negative, so w stays inside. */
static void follow_slip(interior *p, double t, double smoothing) {
    for (size_t i = 0; i < p->system.contacts; i++) {
        if (!has_cone(p, i))
            continue;
        size_t row = i * (size_t)p->system.dimension;
        double u[3] = {0}, slope[3], unused[3], mu = p->system.mu[i];
        int d = p->system.dimension;
        double gain = -slip_term(mu, d, p->u + row, p->smoothing, slope);
        for (int k = 1; k < d; k++) {
            u[k] = p->u[row + (size_t)k] + t * p->move[row + (size_t)k];
            gain -= slope[k] * t * p->move[row + (size_t)k];
        }
        gain += slip_term(mu, d, u, smoothing, unused);
        p->w[row] += fmax(0, gain);
    }
    p->smoothing = smoothing;
}

static void take_step(interior *p, double t) {
    if (p->friction) {
        double product = mean_product(p, t);
        double smoothing = p->smoothing_factor * fmin(product / p->system.scale, sqrt(product));
        follow_slip(p, t, fmin(p->smoothing, smoothing));
    }
    for (size_t i = 0; i < p->system.rows; i++) {
        p->r[i] += t * p->dr[i];
        p->w[i] += t * p->dw[i];
    }
    for (size_t j = 0; j < p->system.joints; j++) {
        p->low[j] += t * p->dlow[j];
        p->high[j] += t * p->dhigh[j];
    }
    for (size_t i = 0; i < p->system.velocities; i++)
        p->v[i] += t * p->dv[i];
}

/* Predictor, corrector, step; its length. Negative: r or w has left the inside, or no factor. */
static double advance(interior *p) {
    double product = mean_product(p, 0);
    if (!scale_contacts(p))
        return -1;
    scale_joints(p);
    p->iterations++;
    if (rg_system_factor(&p->system, p->a, p->b, !p->friction) != RG_OK)
        return -1;
    find_step(p, (aim){0, 0, false});
    double t = fmin(1, step_length(p));
    double centring = product > 0 ? mean_product(p, t) / product : 0;
    centring = fmin(1, centring * centring * centring);
    memcpy(p->dr0, p->dr, p->system.rows * sizeof *p->dr);
    memcpy(p->dw0, p->dw, p->system.rows * sizeof *p->dw);
    memcpy(p->dlow0, p->dlow, p->system.joints * sizeof *p->dlow);
    memcpy(p->dhigh0, p->dhigh, p->system.joints * sizeof *p->dhigh);
    find_step(p, (aim){centring * product, centring, true});
    t = fmin(1, p->share * step_length(p));
    if (!isfinite(t))
        return -1;
    take_step(p, t);
    return t;
}

/* As Levenberg and Marquardt do: short steps mean that the direction is not to be trusted. */
static void adapt_proximal(interior *p, double t) {
    if (t < STEP_POOR)
        p->proximal = fmin(PROXIMAL_MOST, p->proximal * PROXIMAL_RAISED);
    else if (t > STEP_GOOD)
        p->proximal = fmax(p->proximal_least, p->proximal * PROXIMAL_LOWERED);
}

/* Without friction and bounds: r >= 0 with W r = 0 and u_free.r < 0 leaves no velocity that meets
 * the rows (Farkas). */
static bool proves_infeasible(interior *p) {
    if (p->friction)
        return false;
    double largest = 0, product = 0, remaining = 0;
    for (size_t i = 0; i < p->system.contacts; i++)
        largest = fmax(largest, p->r[i * (size_t)p->system.dimension] / p->system.rho[i]);
    if (!(largest > DIVERGED * p->level))
        return false;
    rg_system_velocity(&p->system, p->r, NULL, p->move);
    for (size_t i = 0; i < p->system.rows; i++) {
        bool counts = i >= rg_system_block_row(&p->system, p->system.contacts) ||
                      i % (size_t)p->system.dimension == 0;
        remaining = fmax(remaining, counts ? fabs(p->move[i] - p->system.free[i]) : 0);
        product += p->r[i] * p->system.free[i];
    }
    for (size_t j = 0; j < p->system.joints; j++)
        if (p->kinds[j] != JOINT_FREE)
            return false;
    return product < 0 && remaining <= RAY_RESIDUAL * largest;
}

static rg_solve_outcome iterate(interior *p, uint32_t limit, double tolerance, double acceptable) {
    int idle = 0, shorts = 0;
    double mark = INFINITY, early = EARLY_RESIDUAL;
    while (p->iterations < limit && !rg_solve_stops(p->context)) {
        find_residuals(p);
        if (proves_infeasible(p))
            return RG_SOLVE_INFEASIBLE;
        double residual = rg_polish_offer(&p->polish, p->r);
        if (residual < early) {
            early = residual * EARLY_FALL;
            rg_polish_run(&p->polish, tolerance, EARLY_POLISH, false);
        }
        if (p->polish.best_residual <= tolerance)
            return RG_SOLVED;
        if (p->polish.best_residual <= tolerance / AIM && idle > IDLE_CONTENT)
            return RG_SOLVED; /* as good as asked for, and rounding forbids better */
        idle = residual < PROGRESS * mark ? 0 : idle + 1;
        mark = fmin(mark, residual);
        bool enough = p->polish.best_residual <= acceptable;
        if (idle > (enough ? IDLE_BUDGET : p->patience))
            return RG_SOLVE_STALLED;
        double t = advance(p);
        adapt_proximal(p, t);
        shorts = t < SHORT_STEP && p->proximal > PROXIMAL_HIGH ? shorts + 1 : 0;
        if (t < 0 || shorts == SHORT_LIMIT)
            return RG_SOLVE_STALLED;
    }
    return RG_SOLVE_LIMIT;
}

static bool has_negative_diagonal(const interior *p) {
    size_t d = (size_t)p->system.dimension, dd = d * d;
    for (size_t i = 0; i < p->system.contacts; i++)
        for (size_t k = 0; k < d; k++)
            if (p->system.diagonal[i * dd + k * d + k] < 0)
                return true;
    for (size_t j = 0; j < p->system.joints; j++)
        if (p->system.diagonal[p->system.contacts * dd + j] < 0)
            return true;
    return false;
}

static void explain(rg_solve_report *report, const interior *p) {
    if (report->outcome == RG_SOLVE_INFEASIBLE)
        snprintf(report->text, sizeof report->text,
                 "no velocity meets the contacts: the forces in `ray` cancel and yet push against "
                 "the free motion");
    else if (report->outcome != RG_SOLVED)
        snprintf(report->text, sizeof report->text, "%s after %llu steps at a residual of %.2g",
                 report->outcome == RG_SOLVE_LIMIT ? "ended by the limit" : "no further progress",
                 (unsigned long long)p->iterations, p->polish.best_residual);
}

/* Factorisations so far. */
static uint64_t spent(const interior *p) {
    return p->iterations + p->polish.factorisations + (uint64_t)p->mend.work;
}

/* Factorisations that are left of the budget. */
static uint64_t budget_left(const interior *p, const rg_solve_settings *settings) {
    uint64_t effort = settings->effort ? settings->effort : UINT64_MAX;
    return effort > spent(p) ? effort - spent(p) : 0;
}

/* The path; with friction, what it leaves is mended, or else a calmer path may get through. */
static rg_status follow_paths(interior *p, const rg_solve_settings *settings,
                              rg_solve_report *report, rg_error *error) {
    bool large = p->mend.problem && p->system.contacts > LARGE;
    double tolerance = AIM * settings->tolerance, acceptable = AIM * settings->acceptable;
    uint32_t limit = settings->iteration_limit ? settings->iteration_limit : ITERATION_LIMIT;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t left = budget_left(p, settings);
        start(p, pass > 0);
        p->patience = !p->friction       ? IDLE_LIMIT
                      : settings->effort ? IDLE_BUDGET
                      : large            ? IDLE_LARGE
                                         : IDLE_LIMIT;
        report->outcome = iterate(p, (uint32_t)(p->iterations + (left < limit ? left : limit)),
                                  tolerance, acceptable);
        if (report->outcome == RG_SOLVED || report->outcome == RG_SOLVE_INFEASIBLE)
            return RG_OK;
        if (rg_polish_run(&p->polish, tolerance, LATE_POLISH, true)) {
            report->outcome = RG_SOLVED;
            return RG_OK;
        }
        left = budget_left(p, settings);
        if (!p->friction || report->outcome == RG_SOLVE_LIMIT || left < MEND_BUDGET)
            return RG_OK;
        rg_mend_aim mending = {tolerance, acceptable, MEND_BUDGET};
        rg_status status = RG_OK;
        if (p->polish.best_residual > acceptable)
            status =
                rg_mend_run(&p->mend, p->polish.best, mending, &p->polish.best_residual, error);
        if (status)
            return status;
        if (p->polish.best_residual <= fmax(tolerance, acceptable)) {
            report->outcome = RG_SOLVED;
            return RG_OK;
        }
        if (large || budget_left(p, settings) == 0) /* large: newton's path leads farther */
            return RG_OK;
    }
    return RG_OK;
}

static rg_status solve(rg_solve_context *context, const rg_problem *problem,
                       const rg_solve_settings *settings, rg_solution *solution,
                       rg_solve_report *report, rg_error *error) {
    interior p = {.context = context, .global = problem->contact.form == RG_FORM_GLOBAL};
    rg_status status = rg_polish_prepare(&p.polish, &p.system, context, problem, error);
    if (status == RG_OK)
        status = rg_mend_create(&p.mend, &p.system, context, problem, error);
    if (status != RG_OK)
        return status;
    status = take_memory(&p, error);
    if (status != RG_OK)
        return status;
    if (has_negative_diagonal(&p)) {
        report->outcome = RG_SOLVE_INDEFINITE;
        snprintf(report->text, sizeof report->text, "the matrix has a negative diagonal entry");
        return RG_OK;
    }
    double tolerance = AIM * settings->tolerance, given = INFINITY;
    if (settings->warm)
        given = rg_polish_residual(&p.system, solution->force, p.u);
    if (given <= tolerance) {
        report->outcome = RG_SOLVED;
        return RG_OK;
    }
    status = follow_paths(&p, settings, report, error);
    if (status)
        return status;
    if (report->outcome == RG_SOLVE_INFEASIBLE && solution->ray)
        memcpy(solution->ray, p.r, p.system.rows * sizeof *p.r);
    report->iterations = p.iterations + p.polish.iterations + p.mend.iterations;
    report->factorisations = spent(&p);
    if (!(given < p.polish.best_residual))
        memcpy(solution->force, p.polish.best, p.system.rows * sizeof *p.polish.best);
    explain(report, &p);
    return RG_OK;
}

const rg_solver rg_solver_interior_point = {
    "interior-point",
    "primal-dual interior point on the cones, Nesterov-Todd scaling, Mehrotra's corrector",
    RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL,
    solve,
};
