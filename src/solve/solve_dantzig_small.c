/* Small LCPs: the pivoting of solve_dantzig.c with everything that only pays off in large problems
 * left away, because here the fixed costs decide.
 *
 * Problem: a = A f + b, f >= 0, a >= 0, f'a = 0, A symmetric positive semidefinite, few rows or few
 * of them in contact.
 *
 * Method: rows are taken up in the order given and driven one by one (Cottle and Dantzig 1968;
 * Baraff 1994, 3.3). Instead of a factor, the inverse G of the matrix over C is kept: a row enters
 * by bordering (one product with G, one rank-1 update) and leaves by a rank-1 update, all of it
 * without the chains of dependent operations that make substitutions slow when there are ten rows.
 * The matrix is used where it lies; nothing depends on units, so none are changed.
 *
 * Contact matrices are singular, so the diagonal is enlarged by a relative 1e-8 while pivoting;
 * then the forces go to a solution for the true matrix by proximal point steps with G (see
 * accept_guess in solve_dantzig.c) and every condition is looked at with the true matrix.
 *
 * How it fails: it says so, and the general method starts from nothing: too many rows in C or
 * pivots, a pivot that is no pivot (indefinite), conditions not met to rounding errors at the end
 * (wrong set, infeasible), large forces that cancel.
 * Tested by tests/solve/test_dantzig.c. */
#include "solve/solve_dantzig.h"

#include "base/base_math.h"

#include <string.h>

/* The diagonal is multiplied by 1 + this while pivoting. */
#define SMALL_SHIFT 1e-7
/* Schur complements up to this, relative to the row's diagonal entry, are no pivots. */
#define SMALL_PIVOT 1e-9
/* Refined until a in C is below this, relative to the row's magnitude, at most so often. */
#define SMALL_REFINED 1e-15
enum { SMALL_REFINE_MAX = 4 };
/* Pivots at most: this times the rows, and some. */
enum { SMALL_PIVOTS_PER_ROW = 3, SMALL_PIVOTS_BASE = 10 };
/* After so many rows, the method is given up if C, growing on as it has, would end larger than
 * this. */
enum { SMALL_TRIAL = 16, SMALL_SET_LIKELY = RG_SMALL_SET_MAX * 8 / 5 };
/* Vectors are padded to, and loops run over, multiples of this: two vectors of two doubles. Where a
 * vector of the caller does not end at a multiple, the last four overlap those before: the same
 * bits once more. */
enum { WIDTH = 4 };
typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

static two load(const double *from) {
    return *(const two *)from;
}

static void store(double *to, two value) {
    *(two *)to = value;
}

static two absolute(two value) {
    typedef long long mask __attribute__((vector_size(16)));
    return (two)((mask)value & (mask){INT64_MAX, INT64_MAX});
}

typedef struct small {
    size_t n, m, stride; /* rows, rows in C, of G */
    const double *matrix;
    size_t matrix_stride;
    const double *b;
    double *inverse; /* G, whole; beyond row and column m zeros up to a multiple of WIDTH */
    double *f;       /* of the rows in C, by place */
    double *x, *v;   /* by place */
    double *a, *da;  /* by row */
    double *magnitude;
    uint32_t *basis;
    uint8_t *inside; /* by row: in C */
    size_t outside;  /* rows taken up that are not in C */
    uint64_t pivots, pivot_limit;
} small;

static size_t padded(size_t n) {
    return (n + WIDTH - 1) / WIDTH * WIDTH;
}

static rg_status take_memory(rg_solve_context *context, size_t n, small *s, rg_error *error) {
    size_t length = padded(n), most = padded(n < RG_SMALL_SET_MAX ? n : RG_SMALL_SET_MAX);
    double *memory;
    s->n = n;
    s->stride = most;
    RG_TAKE(memory, context, most * most + 6 * length + length, error);
    s->inverse = memory, memory += most * most;
    double **vectors[] = {&s->f, &s->x, &s->v, &s->a, &s->da, &s->magnitude};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++, memory += length)
        *vectors[k] = memory;
    s->basis = (uint32_t *)memory;
    s->inside = (uint8_t *)(s->basis + length);
    return RG_OK;
}

static const double *row_of(const small *s, size_t i) {
    return s->matrix + i * s->matrix_stride;
}

/* Equal to the last bit, and no negative diagonal. */
static bool is_suitable(const small *s) {
    uint64_t different = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double *row = row_of(s, i), *column = s->matrix + i;
        for (size_t j = 0; j < i; j++)
            different |= row[j] != column[j * s->matrix_stride];
        different |= !(row[i] >= 0);
    }
    return !different;
}

/* out = -G v. */
static void apply_inverse(const small *s, const double *v, double *out) {
    for (size_t i = 0; i < s->m; i += WIDTH) {
        two low = {0}, high = {0};
        const double *g = s->inverse + i;
        for (size_t k = 0; k < s->m; k++, g += s->stride) {
            low -= v[k] * load(g);
            high -= v[k] * load(g + 2);
        }
        store(out + i, low);
        store(out + i + 2, high);
    }
}

/* G += c x x' over the first m places. */
static void add_product(small *s, double c, const double *x, size_t m) {
    for (size_t k = 0; k < m; k++) {
        double cx = c * x[k], *g = s->inverse + k * s->stride;
        for (size_t i = 0; i < m; i += WIDTH) {
            store(g + i, load(g + i) + cx * load(x + i));
            store(g + i + 2, load(g + i + 2) + cx * load(x + i + 2));
        }
    }
}

/* The direction for df_i = 1: x over C; returns the Schur complement. */
static double find_direction(small *s, size_t i) {
    const double *row = row_of(s, i);
    double schur = row[i] * (1 + SMALL_SHIFT);
    for (size_t k = 0; k < s->m; k++)
        s->v[k] = row[s->basis[k]];
    apply_inverse(s, s->v, s->x);
    for (size_t k = 0; k < s->m; k++)
        schur += s->v[k] * s->x[k];
    return schur;
}

/* Row i with its direction x and Schur complement comes last in C; G = [G + x x'/d, x/d; ..]. */
static void enter(small *s, size_t i, double schur, double f) {
    size_t m = s->m;
    if (m % WIDTH == 0) /* a new strip of zeros */
        for (size_t k = 0; k < m + WIDTH; k++)
            for (size_t l = 0; l < WIDTH; l++)
                s->inverse[k * s->stride + m + l] = s->inverse[(m + l) * s->stride + k] = 0;
    for (size_t k = m; k < padded(m + 1); k++)
        s->x[k] = 0;
    s->x[m] = 1;
    add_product(s, 1 / schur, s->x, m + 1);
    s->f[m] = f;
    s->basis[m] = (uint32_t)i;
    s->inside[i] = 1;
    s->m = m + 1;
}

/* The row at place k leaves; the last one takes its place. */
static void leave(small *s, size_t k) {
    size_t last = --s->m, stride = s->stride;
    double *g = s->inverse;
    s->inside[s->basis[k]] = 0;
    if (k != last) {
        for (size_t i = 0; i <= last; i++) {
            double swap = g[k * stride + i];
            g[k * stride + i] = g[last * stride + i], g[last * stride + i] = swap;
        }
        for (size_t i = 0; i <= last; i++) {
            double swap = g[i * stride + k];
            g[i * stride + k] = g[i * stride + last], g[i * stride + last] = swap;
        }
        s->basis[k] = s->basis[last];
        s->f[k] = s->f[last];
    }
    double pivot = g[last * stride + last];
    for (size_t i = 0; i < last; i++)
        s->v[i] = g[last * stride + i];
    for (size_t i = last; i < padded(last + 1); i++)
        s->v[i] = 0;
    add_product(s, -1 / pivot, s->v, last);
    for (size_t i = 0; i <= last; i++)
        g[last * stride + i] = g[i * stride + last] = 0;
}

/* da = A (e_i + x) for the rows before i, and a few more. */
static void find_rates(small *s, size_t i) {
    const double *own = row_of(s, i);
    for (size_t next = 0; next < i; next += WIDTH) {
        size_t j = next + WIDTH <= s->n ? next : s->n - WIDTH;
        two low = load(own + j), high = load(own + j + 2);
        for (size_t k = 0; k < s->m; k++) {
            const double *row = row_of(s, s->basis[k]) + j;
            low += s->x[k] * load(row);
            high += s->x[k] * load(row + 2);
        }
        store(s->da + j, low);
        store(s->da + j + 2, high);
    }
}

enum { NOTHING = -1 };

/* The longest step up to `step`; what ends it: a place in C, or a row outside. */
static double find_step(const small *s, size_t i, double step, int *place, int *row) {
    *place = *row = NOTHING;
    for (size_t k = 0; k < s->m; k++)
        if (s->x[k] < 0 && s->f[k] < -step * s->x[k]) {
            step = s->f[k] / -s->x[k];
            *place = (int)k;
        }
    if (s->outside == 0)
        return step;
    for (size_t j = 0; j < i; j++)
        if (s->da[j] < 0 && !s->inside[j] && s->a[j] < -step * s->da[j]) {
            step = s->a[j] / -s->da[j];
            *row = (int)j;
        }
    return step;
}

/* Row i to its condition; false if that is too much for this method. */
static bool drive(small *s, size_t i) {
    double f = 0, a = s->b[i];
    const double *own = row_of(s, i);
    for (size_t k = 0; k < s->m; k++)
        a += own[s->basis[k]] * s->f[k];
    s->inside[i] = 0;
    while (a < 0) {
        int place, row;
        double schur = find_direction(s, i);
        if (!(schur > SMALL_PIVOT * own[i]) || s->pivots++ >= s->pivot_limit)
            return false;
        if (s->outside > 0)
            find_rates(s, i);
        double step = find_step(s, i, -a / schur, &place, &row);
        step = step > 0 ? step : 0;
        f += step;
        for (size_t k = 0; k < s->m; k++)
            s->f[k] += step * s->x[k];
        if (s->outside > 0)
            for (size_t j = 0; j < i; j++)
                s->a[j] += step * s->da[j];
        if (place == NOTHING && row == NOTHING) {
            if (s->m == RG_SMALL_SET_MAX)
                return false;
            enter(s, i, schur, f);
            return true;
        }
        a += step * schur;
        if (row != NOTHING) {
            double entry = row_of(s, (size_t)row)[row];
            schur = find_direction(s, (size_t)row);
            if (!(schur > SMALL_PIVOT * entry) || s->m == RG_SMALL_SET_MAX)
                return false;
            enter(s, (size_t)row, schur, 0);
            s->outside--;
        } else {
            s->a[s->basis[place]] = 0;
            leave(s, (size_t)place);
            s->outside++;
        }
    }
    if (f > 0) { /* a came to zero by rounding in a step that another row ended */
        double schur = find_direction(s, i);
        if (!(schur > SMALL_PIVOT * own[i]) || s->m == RG_SMALL_SET_MAX)
            return false;
        enter(s, i, schur, f);
        return true;
    }
    s->a[i] = a;
    s->outside++;
    return true;
}

/* a and the magnitudes of all rows with the true matrix. */
static void evaluate(small *s) {
    for (size_t next = 0; next < s->n; next += WIDTH) {
        size_t i = next + WIDTH <= s->n ? next : s->n - WIDTH;
        two low = load(s->b + i), high = load(s->b + i + 2);
        two low_size = absolute(low), high_size = absolute(high);
        for (size_t k = 0; k < s->m; k++) {
            const double *row = row_of(s, s->basis[k]) + i;
            two one = s->f[k] * load(row), other = s->f[k] * load(row + 2);
            low += one, low_size += absolute(one);
            high += other, high_size += absolute(other);
        }
        store(s->a + i, low), store(s->a + i + 2, high);
        store(s->magnitude + i, low_size), store(s->magnitude + i + 2, high_size);
    }
}

/* Are all |a| in C up to this, relative to their magnitudes? */
static bool is_refined(const small *s, double tolerance) {
    bool refined = true;
    for (size_t k = 0; k < s->m; k++) {
        size_t i = s->basis[k];
        refined = refined && fabs(s->a[i]) <= tolerance * s->magnitude[i];
    }
    return refined;
}

static bool accept(small *s, double magnitude_limit) {
    evaluate(s);
    for (int k = 0; k < SMALL_REFINE_MAX && !is_refined(s, SMALL_REFINED); k++) {
        for (size_t i = 0; i < s->m; i++)
            s->v[i] = s->a[s->basis[i]];
        apply_inverse(s, s->v, s->x);
        for (size_t i = 0; i < s->m; i++)
            s->f[i] += s->x[i];
        evaluate(s);
    }
    bool negative = false;
    for (size_t k = 0; k < s->m; k++)
        if (!(s->f[k] >= 0)) {
            size_t i = s->basis[k];
            if (!(-s->f[k] * row_of(s, i)[i] <= RG_PIVOT_SLACK * s->magnitude[i]))
                return false;
            s->f[k] = 0;
            negative = true;
        }
    if (negative)
        evaluate(s);
    bool met = is_refined(s, RG_PIVOT_SLACK);
    for (size_t i = 0; i < s->n; i++)
        met = met && s->a[i] >= -RG_PIVOT_SLACK * s->magnitude[i] &&
              s->magnitude[i] <= magnitude_limit;
    return met;
}

rg_status rg_dantzig_solve_small(rg_solve_context *context, const rg_linear_problem *problem,
                                 double magnitude_limit, rg_solution *solution,
                                 rg_solve_report *report, bool *solved, rg_error *error) {
    small s = {.matrix = problem->matrix,
               .matrix_stride = problem->stride ? problem->stride : problem->size,
               .b = problem->b};
    *solved = false;
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    rg_status status = take_memory(context, problem->size, &s, error);
    if (status != RG_OK)
        return status;
    s.pivot_limit = SMALL_PIVOTS_PER_ROW * s.n + SMALL_PIVOTS_BASE;
    bool good = is_suitable(&s);
    for (size_t i = 0; i < s.n && good; i++)
        good = (i < SMALL_TRIAL || s.m * s.n <= SMALL_SET_LIKELY * i) && drive(&s, i);
    if (good && accept(&s, magnitude_limit)) {
        for (size_t i = 0; i < s.n; i++)
            solution->force[i] = 0;
        for (size_t k = 0; k < s.m; k++)
            solution->force[s.basis[k]] = s.f[k];
        if (solution->velocity)
            memcpy(solution->velocity, s.a, s.n * sizeof *s.a);
        report->outcome = RG_SOLVED;
        *solved = true;
    }
    report->iterations = s.pivots;
    rg_arena_return(&context->arena, mark);
    return RG_OK;
}
