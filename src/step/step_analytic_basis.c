/* The quick way to contact forces: the rows that carried force a moment ago very likely still do. Then the
 * problem is a system of linear equations: forces of the active rows that make their accelerations vanish,
 * friction at its limit following the normal force. If what comes out keeps all conditions, it is the
 * answer, and the pivoting solver has nothing to do (Baraff 1994 warm-starts it in the same way; this saves
 * its bookkeeping). If it does not, nothing is changed, and the caller asks the solver. */
#include "step/step_analytic.h"

#include <string.h>

/* Relative to the largest force, to the friction bound, and to the scale of accelerations: what rounding
 * may do to a condition. */
#define FORCE_SLACK 1e-12
#define RATE_SLACK  1e-11
/* A pivot smaller than this share of the largest entry: the basis is no basis. */
#define PIVOT 1e-13

/* What a row does in the basis. */
enum { OFF, FREE, FOLLOWS };

typedef struct basis {
    size_t count;     /* unknowns */
    uint32_t *row;    /* of each unknown */
    uint8_t *state;   /* per row */
    double *share;    /* per row that follows: of its normal force */
    double *factor;   /* count x count */
    uint32_t *pivots; /* row exchanges */
    double *x;
} basis;

static bool take(rg_arena *arena, size_t n, basis *s) {
    s->row = rg_arena_take(arena, n, sizeof *s->row);
    s->state = rg_arena_take(arena, n, sizeof *s->state);
    s->share = rg_arena_take(arena, n, sizeof *s->share);
    s->factor = rg_arena_take(arena, n * n, sizeof *s->factor);
    s->pivots = rg_arena_take(arena, n, sizeof *s->pivots);
    s->x = rg_arena_take(arena, n, sizeof *s->x);
    return s->row && s->state && s->share && s->factor && s->pivots && s->x;
}

/* Reads the basis off the last forces. */
static void choose(const rg_analysis_rows *p, basis *s) {
    s->count = 0;
    for (size_t i = 0; i < p->count; i++) {
        s->share[i] = 0;
        double normal = p->force[p->normal[i]];
        switch (p->kinds[i]) {
        case RG_ROW_UNILATERAL:
            s->state[i] = p->force[i] > 0 ? FREE : OFF;
            break;
        case RG_ROW_DYNAMIC:
            s->state[i] = normal > 0 ? FOLLOWS : OFF;
            s->share[i] = p->mu[i];
            break;
        default: /* static */
            s->state[i] = !(normal > 0)                                        ? OFF
                          : fabs(p->force[i]) < p->mu[i] * normal * (1 - 1e-9) ? FREE
                                                                               : FOLLOWS;
            s->share[i] = p->force[i] < 0 ? -p->mu[i] : p->mu[i];
        }
        if (s->state[i] == FREE)
            s->row[s->count++] = (uint32_t)i;
    }
}

/* The matrix of the equations: columns of normals carry what follows them. */
static void assemble(const rg_analysis_rows *p, basis *s) {
    size_t n = s->count;
    for (size_t i = 0; i < n; i++) {
        const double *from = p->matrix + (size_t)s->row[i] * p->count;
        for (size_t j = 0; j < n; j++) {
            uint32_t column = s->row[j];
            double entry = from[column];
            if (p->kinds[column] == RG_ROW_UNILATERAL)
                for (size_t k = column + 1; k < p->count && p->normal[k] == column; k++)
                    if (s->state[k] == FOLLOWS)
                        entry += s->share[k] * from[k];
            s->factor[i * n + j] = entry;
        }
    }
}

static bool factorise(basis *s) {
    size_t n = s->count;
    double largest = 0;
    for (size_t i = 0; i < n * n; i++)
        largest = fmax(largest, fabs(s->factor[i]));
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(s->factor[i * n + k]) > fabs(s->factor[best * n + k]))
                best = i;
        s->pivots[k] = (uint32_t)best;
        if (best != k)
            for (size_t j = 0; j < n; j++) {
                double swap = s->factor[k * n + j];
                s->factor[k * n + j] = s->factor[best * n + j];
                s->factor[best * n + j] = swap;
            }
        double pivot = s->factor[k * n + k];
        if (!(fabs(pivot) > PIVOT * largest))
            return false;
        for (size_t i = k + 1; i < n; i++) {
            double l = s->factor[i * n + k] / pivot;
            s->factor[i * n + k] = l;
            if (l == 0)
                continue;
            for (size_t j = k + 1; j < n; j++)
                s->factor[i * n + j] -= l * s->factor[k * n + j];
        }
    }
    return true;
}

static void substitute(const basis *s, double *x) {
    size_t n = s->count;
    for (size_t k = 0; k < n; k++) {
        double swap = x[k];
        x[k] = x[s->pivots[k]];
        x[s->pivots[k]] = swap;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            x[i] -= s->factor[i * n + j] * x[j];
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            x[i] -= s->factor[i * n + j] * x[j];
        x[i] /= s->factor[i * n + i];
    }
}

static void spread(const rg_analysis_rows *p, const basis *s, double *force) {
    memset(force, 0, p->count * sizeof *force);
    for (size_t i = 0; i < s->count; i++)
        force[s->row[i]] = s->x[i];
    for (size_t i = 0; i < p->count; i++)
        if (s->state[i] == FOLLOWS)
            force[i] = s->share[i] * force[p->normal[i]];
}

static void rates(const rg_analysis_rows *p, const double *b, const double *force, double *rate) {
    for (size_t i = 0; i < p->count; i++) {
        double sum = b[i];
        const double *row = p->matrix + i * p->count;
        for (size_t j = 0; j < p->count; j++)
            sum += row[j] * force[j];
        rate[i] = sum;
    }
}

/* Whether forces and rates keep the law of every row; the worst violation in the unit of rates. */
static bool holds(const rg_analysis_rows *p, const basis *s, double scale, const double *force,
                  const double *rate) {
    double largest = 0;
    for (size_t i = 0; i < p->count; i++)
        largest = fmax(largest, fabs(force[i]));
    double little = FORCE_SLACK * largest, slow = RATE_SLACK * scale;
    for (size_t i = 0; i < p->count; i++) {
        double normal = force[p->normal[i]];
        if (!isfinite(force[i]) || !isfinite(rate[i]))
            return false;
        switch (p->kinds[i]) {
        case RG_ROW_UNILATERAL:
            if (s->state[i] == OFF ? rate[i] < -slow : force[i] < 0 || fabs(rate[i]) > slow)
                return false;
            break;
        case RG_ROW_DYNAMIC:
            break;
        default:
            if (s->state[i] == FREE &&
                (fabs(rate[i]) > slow || fabs(force[i]) > p->mu[i] * normal + little))
                return false;
            if (s->state[i] == FOLLOWS && rate[i] * s->share[i] > slow * fabs(s->share[i]))
                return false;
        }
    }
    return true;
}

bool rg_analysis_try_basis(rg_arena *arena, const rg_analysis_rows *p, const double *b,
                           const double *raise, int solves, double scale) {
    rg_arena_mark mark = rg_arena_get_mark(arena);
    basis s;
    double *force = rg_arena_take(arena, p->count, sizeof *force);
    double *rate = rg_arena_take(arena, p->count, sizeof *rate);
    double *target = rg_arena_take(arena, p->count, sizeof *target);
    bool good = force && rate && target && take(arena, p->count, &s);
    if (good) {
        choose(p, &s);
        assemble(p, &s);
        good = factorise(&s);
    }
    if (good) {
        memcpy(target, b, p->count * sizeof *target);
        for (int k = 0; k < solves; k++) {
            for (size_t i = 0; i < s.count; i++)
                s.x[i] = -target[s.row[i]];
            substitute(&s, s.x);
            spread(p, &s, force);
            if (k + 1 < solves)
                for (size_t i = 0; i < p->count; i++)
                    target[i] = p->b[i] - raise[i] * force[i];
        }
        rates(p, target, force, rate);
        good = holds(p, &s, scale, force, rate);
    }
    if (good) {
        memcpy(p->force, force, p->count * sizeof *force);
        memcpy(p->rate, rate, p->count * sizeof *rate);
    }
    rg_arena_return(arena, mark);
    return good;
}
