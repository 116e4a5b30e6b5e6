/* The judge's velocities in plain doubles with a running error bound (N. Higham, "Accuracy and
 * Stability of Numerical Algorithms", 2nd edition, 2002, sections 3.1 and 10.1): a tenth of the
 * time of numbers of two doubles, and in most steps of a simulation the bound decides.
 *
 * With u the unit roundoff and gamma_k = k u / (1 - k u):
 *     x = J' r, k terms:           |error| <= gamma_k |J'| |r|
 *     M w = x by Cholesky:         |error| <= |M^-1| (gamma_(3n+1) |L| |L'| |w| + error of x)
 *     u = q + c r + J (v_free + w): |error| <= |J| (error of v)
 *                                             + gamma_(2n+3) (|q| + 2 |c r| + |J| |v|)
 * and the natural residual changes by (1 + mu) |error of u| at most: projections do not expand
 * distances, and De Saxce's shift adds mu |u_T|.
 * Tested by tests/solve/test_judge.c. */
#include "solve/solve_judge.h"

#include "base/base_math.h"
#include "problem/problem.h"

#include <string.h>

#define UNIT_ROUNDOFF (0.5 * DBL_EPSILON)
enum { MASS = 6, ROWS = 3 };

/* Per block: impulse, its size, velocity, its error; and how many terms were added. */
typedef struct sums {
    size_t n; /* numbers per block */
    double *impulse, *size, *velocity, *error, *terms;
} sums;

size_t rg_judge_plain_size(const rg_contact_problem *p) {
    return p->global.blocks * (4 * (size_t)p->global.freedom + 1);
}

static sums lay_out(const rg_contact_problem *p, double *work) {
    size_t n = (size_t)p->global.freedom, length = p->global.blocks * n;
    return (sums){n, work, work + length, work + 2 * length, work + 3 * length, work + 4 * length};
}

static double gamma_of(double k) {
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF);
}

static inline void add_row(size_t n, const double *restrict j, double force, double *restrict x,
                           double *restrict size) {
    for (size_t k = 0; k < n; k++) {
        double term = j[k] * force;
        x[k] += term;
        size[k] += fabs(term);
    }
}

static void add_impulses(const rg_contact_problem *p, const double *force, sums *s) {
    size_t rows = rg_contact_rows(p), n = s->n;
    memset(s->impulse, 0, p->global.blocks * n * sizeof *s->impulse);
    memset(s->size, 0, p->global.blocks * n * sizeof *s->size);
    memset(s->terms, 0, p->global.blocks * sizeof *s->terms);
    for (size_t row = 0; row < rows; row++)
        for (int side = 0; side < 2 && force[row] != 0; side++) {
            uint32_t b;
            const double *j = rg_judge_row(p, row, side, &b);
            if (b == RG_NO_BLOCK)
                continue;
            if (n == MASS) /* by far the most frequent: with the size known */
                add_row(MASS, j, force[row], s->impulse + b * MASS, s->size + b * MASS);
            else
                add_row(n, j, force[row], s->impulse + b * n, s->size + b * n);
            s->terms[b]++;
        }
}

/* g = |L| |L'| |w|. `lower` has the inverses of the diagonal of L. */
static void factor_size(const double *lower, size_t n, const double *w, double *g) {
    double t[MASS];
    for (size_t i = 0; i < n; i++) {
        t[i] = fabs(w[i] / lower[i * n + i]);
        for (size_t k = i + 1; k < n; k++)
            t[i] += fabs(lower[k * n + i] * w[k]);
    }
    for (size_t i = 0; i < n; i++) {
        g[i] = t[i] / lower[i * n + i];
        for (size_t k = 0; k < i; k++)
            g[i] += fabs(lower[i * n + k]) * t[k];
    }
}

static void find_velocity(const rg_contact_problem *p, const rg_judge_mass *mass, size_t b,
                          sums *s) {
    size_t n = s->n;
    double w[MASS], g[MASS], gamma_sum = gamma_of(s->terms[b] + 1);
    memcpy(w, s->impulse + b * n, n * sizeof *w);
    rg_mass_solve(mass->lower, (int)n, w);
    factor_size(mass->lower, n, w, g);
    for (size_t k = 0; k < n; k++)
        g[k] = gamma_of(3 * (double)n + 1) * g[k] + gamma_sum * s->size[b * n + k];
    for (size_t k = 0; k < n; k++) {
        double error = 0, v = p->global.free_velocity[b * n + k] + w[k];
        for (size_t m = 0; m < n; m++)
            error += fabs(mass->inverse[k * n + m]) * g[m];
        s->velocity[b * n + k] = v;
        s->error[b * n + k] = error + UNIT_ROUNDOFF * fabs(v);
    }
}

/* u of a row and its error; the diagonal entry of W if it is wanted. */
typedef struct row_figures {
    double velocity, error, diagonal;
} row_figures;

static inline void add_side(size_t n, const double *restrict j, const double *restrict v,
                            const double *restrict e, const double *restrict inverse,
                            row_figures *figures) {
    double sum = 0, size = 0, error = 0, diagonal = 0;
    for (size_t k = 0; k < n; k++) {
        double term = j[k] * v[k];
        sum += term;
        size += fabs(term);
        error += fabs(j[k]) * e[k];
    }
    for (size_t k = 0; inverse && k < n; k++) {
        double product = 0;
        for (size_t c = 0; c < n; c++)
            product += inverse[k * n + c] * j[c];
        diagonal += j[k] * product;
    }
    figures->velocity += sum;
    figures->error += error + gamma_of(2 * (double)n + 3) * size;
    figures->diagonal += diagonal;
}

static row_figures look_at_row(const rg_contact_problem *p, size_t row, const rg_judge_mass *masses,
                               bool diagonal, const sums *s) {
    double q = p->q[row];
    row_figures figures = {q, gamma_of(2 * (double)s->n + 3) * fabs(q), 0};
    for (int side = 0; side < 2; side++) {
        uint32_t b;
        const double *j = rg_judge_row(p, row, side, &b);
        if (b == RG_NO_BLOCK)
            continue;
        const double *v = s->velocity + b * s->n, *e = s->error + b * s->n;
        const double *inverse = diagonal ? masses[b].inverse : NULL;
        if (s->n == MASS)
            add_side(MASS, j, v, e, inverse, &figures);
        else
            add_side(s->n, j, v, e, inverse, &figures);
    }
    return figures;
}

/* A contact without force that separates is right whatever its tangents and its W: one row. */
static double look_at_contact(const rg_contact_problem *p, size_t i, const double *force,
                              const rg_judge_mass *masses, const sums *s,
                              const rg_judge_side *side) {
    size_t d = (size_t)p->dimension;
    double errors = 0, trace = 0, *u = side->velocity + i * d;
    bool loaded = false;
    for (size_t k = 0; k < d; k++)
        loaded = loaded || force[i * d + k] != 0;
    for (size_t k = 0; k < d; k++) {
        row_figures row = look_at_row(p, i * d + k, masses, true, s);
        if (k == 0 && !loaded && row.velocity >= row.error) {
            for (size_t m = 1; m < d; m++)
                u[m] = 0;
            u[0] = row.velocity;
            side->trace[i] = 1;
            return 0;
        }
        u[k] = row.velocity;
        errors += row.error * row.error;
        trace += row.diagonal / (double)d;
    }
    side->trace[i] = trace;
    return (1 + (p->mu && d > 1 ? p->mu[i] : 0)) * sqrt(errors);
}

double rg_judge_plain(const rg_contact_problem *p, const double *force, const rg_judge_mass *masses,
                      double *work, const rg_judge_side *side) {
    sums s = lay_out(p, work);
    double worst = 0;
    add_impulses(p, force, &s);
    for (size_t b = 0; b < p->global.blocks; b++)
        find_velocity(p, &masses[b], b, &s);
    for (size_t i = 0; i < p->contacts; i++) {
        double bound = look_at_contact(p, i, force, masses, &s, side);
        side->bound[i] = bound;
        worst = bound <= worst ? worst : bound; /* NaN wins */
    }
    for (size_t j = 0; j < p->joints; j++) {
        size_t row = p->contacts * (size_t)p->dimension + j;
        row_figures figures = look_at_row(p, row, masses, true, &s);
        if (p->compliance) {
            double soft = p->compliance[j] * force[row];
            figures.velocity += soft, figures.diagonal += p->compliance[j];
            figures.error += 2 * gamma_of(2 * (double)s.n + 3) * fabs(soft);
        }
        side->velocity[row] = figures.velocity;
        side->trace[p->contacts + j] = figures.diagonal;
        side->bound[p->contacts + j] = figures.error;
        worst = figures.error <= worst ? worst : figures.error;
    }
    return worst;
}
