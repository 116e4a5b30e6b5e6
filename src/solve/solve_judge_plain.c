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

/* Per block: impulse, its size, velocity, what that may be wrong by and what a product with it
 * adds; and how many terms were added. */
typedef struct sums {
    size_t n;        /* numbers per block */
    double rounding; /* gamma_(2n + 3), of the products of a row */
    double *impulse, *size, *velocity, *error, *terms;
} sums;

size_t rg_judge_plain_size(const rg_contact_problem *p) {
    return p->global.blocks * (4 * (size_t)p->global.freedom + 1);
}

static double gamma_of(double k) {
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF);
}

static sums lay_out(const rg_contact_problem *p, double *work) {
    size_t n = (size_t)p->global.freedom, length = p->global.blocks * n;
    return (sums){n,
                  gamma_of(2 * (double)n + 3),
                  work,
                  work + length,
                  work + 2 * length,
                  work + 3 * length,
                  work + 4 * length};
}

static inline void add_rows(size_t d, size_t n, const double *restrict j, const double *force,
                            double *restrict x, double *restrict size) {
    for (size_t row = 0; row < d; row++)
        for (size_t k = 0; k < n; k++) {
            double term = j[row * n + k] * force[row];
            x[k] += term;
            size[k] += fabs(term);
        }
}

static inline bool is_loaded(const double *force, size_t d) {
    for (size_t k = 0; k < d; k++)
        if (force[k] != 0)
            return true;
    return false;
}

static void add_impulses(const rg_contact_problem *p, const double *force, sums *s) {
    const rg_global_form *g = &p->global;
    size_t d = (size_t)p->dimension, n = s->n;
    memset(s->impulse, 0, g->blocks * n * sizeof *s->impulse);
    memset(s->size, 0, g->blocks * n * sizeof *s->size);
    memset(s->terms, 0, g->blocks * sizeof *s->terms);
    bool usual = n == MASS && d == ROWS; /* by far the most frequent: with the sizes known */
    for (size_t i = 0; i < p->contacts; i++) {
        const double *r = force + i * d;
        if (!is_loaded(r, usual ? ROWS : d))
            continue;
        for (size_t side = 2 * i; side < 2 * i + 2; side++) {
            uint32_t b = g->contact_blocks[side];
            const double *j = g->contact_jacobian + side * d * n;
            if (b == RG_NO_BLOCK)
                continue;
            if (usual)
                add_rows(ROWS, MASS, j, r, s->impulse + b * MASS, s->size + b * MASS);
            else
                add_rows(d, n, j, r, s->impulse + b * n, s->size + b * n);
            s->terms[b] += (double)d;
        }
    }
    for (size_t side = 0; side < 2 * p->joints; side++) {
        uint32_t b = g->joint_blocks[side];
        if (b == RG_NO_BLOCK)
            continue;
        const double *j = g->joint_jacobian + side * n, *r = force + p->contacts * d + side / 2;
        if (n == MASS)
            add_rows(1, MASS, j, r, s->impulse + b * MASS, s->size + b * MASS);
        else
            add_rows(1, n, j, r, s->impulse + b * n, s->size + b * n);
        s->terms[b]++;
    }
}

/* g = |L| |L'| |w|. `lower` has the inverses of the diagonal of L. `stride`: of its rows. */
static inline void factor_size(const double *lower, size_t n, size_t stride, const double *w,
                               double *g) {
    double t[MASS];
    for (size_t i = 0; i < n; i++) {
        t[i] = fabs(w[i] / lower[i * stride + i]);
        for (size_t k = i + 1; k < n; k++)
            t[i] += fabs(lower[k * stride + i] * w[k]);
    }
    for (size_t i = 0; i < n; i++) {
        g[i] = t[i] / lower[i * stride + i];
        for (size_t k = 0; k < i; k++)
            g[i] += fabs(lower[i * stride + k]) * t[k];
    }
}

/* |M^-1| g. */
static inline void divide_size(const double *inverse, size_t n, size_t stride, const double *g,
                               double *error) {
    for (size_t k = 0; k < n; k++) {
        error[k] = 0;
        for (size_t m = 0; m < n; m++)
            error[k] += fabs(inverse[k * stride + m]) * g[m];
    }
}

static void find_velocity(const rg_contact_problem *p, const rg_judge_mass *mass, size_t b,
                          sums *s) {
    size_t n = s->n;
    double w[MASS], g[MASS], error[MASS], gamma_sum = gamma_of(s->terms[b] + 1);
    memcpy(w, s->impulse + b * n, n * sizeof *w);
    rg_mass_solve(mass->lower, (int)n, w);
    if (mass->split) { /* three blocks of one, one of three: the same without the zeros */
        for (size_t k = 0; k < 3; k++)
            factor_size(mass->lower + 7 * k, 1, MASS, w + k, g + k);
        factor_size(mass->lower + 21, 3, MASS, w + 3, g + 3);
    } else {
        factor_size(mass->lower, n, n, w, g);
    }
    double gamma_factor = gamma_of(3 * (double)n + 1), gamma_rows = gamma_of(2 * (double)n + 4);
    for (size_t k = 0; k < n; k++)
        g[k] = gamma_factor * g[k] + gamma_sum * s->size[b * n + k];
    if (mass->split) {
        for (size_t k = 0; k < 3; k++)
            divide_size(mass->inverse + 7 * k, 1, MASS, g + k, error + k);
        divide_size(mass->inverse + 21, 3, MASS, g + 3, error + 3);
    } else {
        divide_size(mass->inverse, n, n, g, error);
    }
    for (size_t k = 0; k < n; k++) {
        double v = p->global.free_velocity[b * n + k] + w[k];
        s->velocity[b * n + k] = v;
        s->error[b * n + k] = error[k] + (UNIT_ROUNDOFF + gamma_rows) * fabs(v);
    }
}

/* u of the rows of a contact or joint and its errors, and what the trace of its block of W, divided
 * by the number of rows, is at least. */
typedef struct row_figures {
    double velocity[ROWS], error[ROWS], trace;
} row_figures;

/* The part of one row that one block has; returns |j|^2. */
static inline double add_side(size_t n, const double *restrict j, const double *restrict v,
                              const double *restrict e, double *velocity, double *error) {
    double sum = 0, off = 0, square = 0;
    for (size_t k = 0; k < n; k++) {
        sum += j[k] * v[k];
        off += fabs(j[k]) * e[k];
        square += j[k] * j[k];
    }
    *velocity += sum;
    *error += off;
    return square;
}

/* The same for three rows of six numbers, by far the most frequent, two numbers at a time. */
typedef double pair __attribute__((vector_size(16)));
typedef uint64_t bits __attribute__((vector_size(16)));

static inline pair load(const double *x) {
    pair p;
    memcpy(&p, x, sizeof p);
    return p;
}

static inline pair magnitude(pair x) {
    const bits no_sign = {~(UINT64_C(1) << 63), ~(UINT64_C(1) << 63)};
    return (pair)((bits)x & no_sign);
}

static inline double both(pair x) {
    return x[0] + x[1];
}

static inline row_figures look_at_six(const double *q, const double *j, const uint32_t blocks[2],
                                      const rg_judge_mass *masses, const sums *s) {
    row_figures f = {0};
    pair sum[ROWS] = {{0}}, off[ROWS] = {{0}};
    for (size_t side = 0; side < 2; side++) {
        size_t b = blocks[side];
        if (b == RG_NO_BLOCK)
            continue;
        const double *v = s->velocity + b * MASS, *e = s->error + b * MASS;
        pair square = {0};
        for (int k = 0; k < MASS; k += 2)
            for (int r = 0; r < ROWS; r++) {
                pair row = load(j + side * ROWS * MASS + r * MASS + k);
                sum[r] += row * load(v + k);
                off[r] += magnitude(row) * load(e + k);
                square += row * row;
            }
        f.trace += masses[b].least * both(square);
    }
    for (int r = 0; r < ROWS; r++) {
        f.velocity[r] = q[r] + both(sum[r]);
        f.error[r] = s->rounding * fabs(q[r]) + both(off[r]);
    }
    f.trace /= ROWS;
    return f;
}

/* `d` rows with the Jacobians `j` at two blocks, one after the other. */
static inline row_figures look_at_rows(size_t d, const double *q, const double *j,
                                       const uint32_t blocks[2], const rg_judge_mass *masses,
                                       const sums *s) {
    if (s->n == MASS && d == ROWS)
        return look_at_six(q, j, blocks, masses, s);
    row_figures f = {0};
    for (size_t k = 0; k < d; k++)
        f.velocity[k] = q[k], f.error[k] = s->rounding * fabs(q[k]);
    for (size_t side = 0; side < 2; side++) {
        size_t b = blocks[side];
        if (b == RG_NO_BLOCK)
            continue;
        const double *rows = j + side * d * s->n;
        const double *v = s->velocity + b * s->n, *e = s->error + b * s->n;
        double square = 0;
        for (size_t k = 0; k < d; k++)
            square += s->n == MASS
                          ? add_side(MASS, rows + k * MASS, v, e, &f.velocity[k], &f.error[k])
                          : add_side(s->n, rows + k * s->n, v, e, &f.velocity[k], &f.error[k]);
        f.trace += masses[b].least * square;
    }
    f.trace /= (double)d;
    return f;
}

static double trace_of_row(const double *j, size_t n, const double *inverse) {
    double trace = 0;
    for (size_t k = 0; k < n; k++) {
        double product = 0;
        for (size_t c = 0; c < n; c++)
            product += inverse[k * n + c] * j[c];
        trace += j[k] * product;
    }
    return trace;
}

/* The part of one row of six numbers in the trace, with a mass that is split. */
static inline double trace_of_body(const double *j, const double *inverse) {
    double x = j[3] * (inverse[21] * j[3] + inverse[22] * j[4] + inverse[23] * j[5]);
    double y = j[4] * (inverse[27] * j[3] + inverse[28] * j[4] + inverse[29] * j[5]);
    double z = j[5] * (inverse[33] * j[3] + inverse[34] * j[4] + inverse[35] * j[5]);
    return inverse[0] * (j[0] * j[0]) + inverse[7] * (j[1] * j[1]) + inverse[14] * (j[2] * j[2]) +
           (x + y + z);
}

/* The trace itself, of J M^-1 J' divided by the number of rows. */
static double trace_of(size_t d, size_t n, const double *j, const uint32_t blocks[2],
                       const rg_judge_mass *masses) {
    double trace = 0;
    for (size_t side = 0; side < 2; side++, j += d * n) {
        if (blocks[side] == RG_NO_BLOCK)
            continue;
        const rg_judge_mass *mass = &masses[blocks[side]];
        for (size_t row = 0; row < d; row++)
            trace += mass->split ? trace_of_body(j + row * n, mass->inverse)
                                 : trace_of_row(j + row * n, n, mass->inverse);
    }
    return trace / (double)d;
}

/* Is what the judge finds of a contact (solve_judge.c) the same for all larger traces? If f and
 * t f - u are in the cone, u with De Saxce's shift, so is T f - u for T >= t; the natural residual
 * is |u|, and the other figures do not contain the trace if t f is larger than u. */
static bool is_settled(double trace, double mu, const double f[ROWS], const double u[ROWS]) {
    double slip = sqrt(u[1] * u[1] + u[2] * u[2]), grip = sqrt(f[1] * f[1] + f[2] * f[2]);
    double y[ROWS] = {trace * f[0] - u[0] - mu * slip, trace * f[1] - u[1], trace * f[2] - u[2]};
    return grip <= mu * f[0] && y[0] >= 0 && y[1] * y[1] + y[2] * y[2] <= mu * y[0] * (mu * y[0]) &&
           trace * f[0] >= fabs(u[0]) + (1 + mu) * slip &&
           (trace * grip >= slip || f[1] * u[1] + f[2] * u[2] <= 0);
}

/* A contact without force that separates is right whatever its tangents and its W: one row. */
static bool is_apart(const rg_contact_problem *p, size_t i, const sums *s, double *velocity) {
    size_t d = (size_t)p->dimension, n = s->n;
    const double *j = p->global.contact_jacobian + i * 2 * d * n;
    double q = p->q[i * d], error = s->rounding * fabs(q);
    *velocity = q;
    for (size_t side = 0; side < 2; side++) {
        size_t b = p->global.contact_blocks[2 * i + side];
        if (b != RG_NO_BLOCK)
            add_side(n, j + side * d * n, s->velocity + b * n, s->error + b * n, velocity, &error);
    }
    return *velocity >= error;
}

static double look_at_contact(const rg_contact_problem *p, size_t i, const double *force,
                              const rg_judge_mass *masses, const sums *s,
                              const rg_judge_side *side) {
    size_t d = (size_t)p->dimension;
    double errors = 0, *u = side->velocity + i * d;
    if (!is_loaded(force + i * d, d) && is_apart(p, i, s, u)) {
        for (size_t k = 1; k < d; k++)
            u[k] = 0;
        side->trace[i] = 1;
        return 0;
    }
    const double *j = p->global.contact_jacobian + i * 2 * d * s->n;
    const uint32_t *blocks = p->global.contact_blocks + 2 * i;
    row_figures f = look_at_rows(d, p->q + i * d, j, blocks, masses, s);
    for (size_t k = 0; k < d; k++)
        u[k] = f.velocity[k], errors += f.error[k] * f.error[k];
    double mu = p->mu && d > 1 ? p->mu[i] : 0;
    bool settled = d == ROWS && p->directions == 0 && is_settled(f.trace, mu, force + i * d, u);
    side->trace[i] = settled ? f.trace : trace_of(d, s->n, j, blocks, masses);
    return (1 + mu) * sqrt(errors);
}

static double look_at_joint(const rg_contact_problem *p, size_t j, const double *force,
                            const rg_judge_mass *masses, const sums *s, const rg_judge_side *side) {
    size_t row = p->contacts * (size_t)p->dimension + j;
    const double *rows = p->global.joint_jacobian + 2 * j * s->n;
    const uint32_t *blocks = p->global.joint_blocks + 2 * j;
    row_figures f = look_at_rows(1, p->q + row, rows, blocks, masses, s);
    bool bounded = (p->lower && isfinite(p->lower[j])) || (p->upper && isfinite(p->upper[j]));
    f.trace = bounded ? trace_of(1, s->n, rows, blocks, masses) : 1; /* |u| is all that counts */
    if (p->compliance) {
        double soft = p->compliance[j] * force[row];
        f.velocity[0] += soft, f.trace += p->compliance[j];
        f.error[0] += 2 * s->rounding * fabs(soft);
    }
    side->velocity[row] = f.velocity[0];
    side->trace[p->contacts + j] = f.trace;
    return f.error[0];
}

typedef struct plain_look {
    const rg_contact_problem *problem;
    const double *force;
    const rg_judge_mass *masses;
    sums sums;
    const rg_judge_side *side;
} plain_look;

static void find_velocities(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    plain_look *l = user;
    for (size_t b = begin; b < end; b++)
        find_velocity(l->problem, &l->masses[b], b, &l->sums);
}

static void look_at_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const plain_look *l = user;
    const rg_contact_problem *p = l->problem;
    for (size_t i = begin; i < end; i++)
        l->side->bound[i] =
            i < p->contacts
                ? look_at_contact(p, i, l->force, l->masses, &l->sums, l->side)
                : look_at_joint(p, i - p->contacts, l->force, l->masses, &l->sums, l->side);
}

double rg_judge_plain(const rg_contact_problem *p, const double *force, const rg_judge_mass *masses,
                      double *work, const rg_judge_side *side) {
    plain_look l = {p, force, masses, lay_out(p, work), side};
    double worst = 0;
    add_impulses(p, force, &l.sums);
    rg_parallel_for(side->pool, p->global.blocks, RG_JUDGE_BLOCKS_PER_CHUNK, find_velocities, &l);
    rg_parallel_for(side->pool, p->contacts + p->joints, RG_JUDGE_ROWS_PER_CHUNK, look_at_range,
                    &l);
    for (size_t i = 0; i < p->contacts + p->joints; i++)
        worst = side->bound[i] <= worst ? worst : side->bound[i]; /* NaN wins */
    return worst;
}
