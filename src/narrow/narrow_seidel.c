/* Small linear programs over many half-spaces: Seidel's randomised incremental algorithm.
 *
 * Problem: min x[k-1] subject to a_i . x <= b_i in k = 1 ... 4 variables (the ratio: the last one
 * is t). Method (Seidel, Discrete & Computational Geometry 6, 1991): the rows come in random order;
 * as long as the optimum of the rows so far satisfies the next, nothing changes; otherwise the new
 * optimum lies on the plane of that row, a problem with one variable less over the rows before. In
 * expectation k! m steps for m rows. Rows are transformed on the fly by at most three eliminations,
 * so that there is no copy of them. A box of a size that the caller knows to be large enough makes
 * every subproblem bounded.
 *
 * Violated rows of the outermost level move to the front of the order (Welzl 1991), where the
 * subproblems meet them first. At the end
 * the active rows are solved again as one k x k system, with the residual refined, and the
 * multipliers come from its transpose; if rounding left one negative, steps of the simplex method
 * follow. A row that the refined solution violates goes to the front and the algorithm starts
 * again.
 *
 * How it fails: more than RESTARTS such rows (rounding): the best solution, with its honest errors;
 * infeasible rows: RG_INVALID_ARGUMENT; an optimum on the box: RG_SINGULAR (unbounded). */
#include "narrow/narrow_ratio.h"
#include "rigor/random.h"

#include <string.h>

enum { MOST = 4, FRONT = 64, RESTARTS = 8, MOST_PIVOTS = 50 };
/* A row is violated beyond this, in units of what rounding its terms can be. */
#define SLACK 1e-13
/* Coefficients below this after eliminations are rounding (rows are of unit size). */
#define PARALLEL 1e-12
/* Rows that are still violated by more than this have no common point. */
#define INFEASIBLE 1e-7

/* More rows than the caches hold. */
#define MANY_ROWS 30000

/* Where rows come from: row 0 ... 2k-1 are the box; then front[], then all in the random order. */
typedef struct source {
    void (*get)(const struct source *source, uint32_t index, rg_lp_row *row);
    const void *context;
    uint32_t count;
    uint32_t *order; /* null: (stride * i + shift) mod count */
    uint32_t stride, shift;
    uint32_t front[FRONT], front_count;
    int k;
    double box; /* |x_i| <= box */
} source;

/* x[pivot] = b - a . x over the other variables; a[pivot] is 1. Eliminated variables keep their
 * places, with coefficient 0, so that all loops have the same length. */
typedef struct elimination {
    double a[MOST], b;
    int pivot;
} elimination;

typedef struct level_solution {
    double x[MOST];
    uint32_t active[MOST]; /* positions in the sequence; of this level, the first few */
} level_solution;

static uint32_t index_of(const source *s, uint32_t position) {
    position -= 2 * (uint32_t)s->k;
    if (position < s->front_count)
        return s->front[position];
    position -= s->front_count;
    if (s->order)
        return s->order[position];
    return (uint32_t)(((uint64_t)s->stride * position + s->shift) % s->count);
}

static void row_at(const source *s, uint32_t position, rg_lp_row *row) {
    uint32_t bounds = 2 * (uint32_t)s->k;
    if (position >= bounds) {
#if defined(__GNUC__)
        /* A million rows in random order are a million cache misses, without prefetching. */
        uint32_t ahead = position + 16;
        if (s->order && s->count > MANY_ROWS && ahead < bounds + s->front_count + s->count)
            __builtin_prefetch((const rg_lp_row *)s->context + index_of(s, ahead));
#endif
        s->get(s, index_of(s, position), row);
        return;
    }
    memset(row, 0, sizeof *row);
    row->a[position / 2] = position & 1 ? 1 : -1;
    row->b = s->box;
}

/* The row in the variables that are left after the eliminations. */
static inline void reduced_row(const source *s, const elimination *done, int count,
                               uint32_t position, rg_lp_row *row) {
    row_at(s, position, row);
    for (int e = 0; e < count; e++) {
        double factor = row->a[done[e].pivot];
        for (int j = 0; j < MOST; j++)
            row->a[j] -= factor * done[e].a[j];
        row->b -= factor * done[e].b;
    }
}

/* One variable left: an interval. */
static void solve_line(const source *s, const elimination *done, int eliminated, int variable,
                       double objective, uint32_t count, level_solution *solution) {
    double low = -INFINITY, high = INFINITY;
    uint32_t low_row = 0, high_row = 0;
    for (uint32_t i = 0; i < count; i++) {
        rg_lp_row row;
        reduced_row(s, done, eliminated, i, &row);
        double a = row.a[variable];
        /* A row without the variable is parallel to the line, and is satisfied or nearly so. */
        if (a > PARALLEL && row.b < high * a) {
            high = row.b / a;
            high_row = i;
        } else if (a < -PARALLEL && row.b < low * a) {
            low = row.b / a;
            low_row = i;
        }
    }
    /* If the ends have crossed, the rows are infeasible or the interval is a point up to rounding:
     * the errors of the final solution tell which. */
    bool take_low = objective >= 0;
    memset(solution->x, 0, sizeof solution->x);
    solution->x[variable] = take_low ? low : high;
    solution->active[0] = take_low ? low_row : high_row;
}

/* A violated row of the outermost level goes to the front: it is likely to be active in what comes.
 * Positions behind it move up by one. */
static void remember_row(source *s, uint32_t position, level_solution *solution) {
    uint32_t end = 2 * (uint32_t)s->k + s->front_count;
    if (position < end || s->front_count >= FRONT - RESTARTS)
        return;
    uint32_t index = index_of(s, position);
    for (int j = 0; j < s->k; j++)
        solution->active[j] += solution->active[j] >= end;
    s->front[s->front_count++] = index;
}

/* Minimises objective . x over the first `count` rows (all of them at the outermost level) in the
 * variables that are left. */
static void solve_level(source *s, elimination *done, int eliminated, const double *objective,
                        uint32_t count, level_solution *solution) {
    int left[MOST] = {0}, k = 0;
    for (int j = 0; j < s->k; j++) {
        bool gone = false;
        for (int e = 0; e < eliminated; e++)
            gone = gone || done[e].pivot == j;
        if (!gone)
            left[k++] = j;
    }
    if (k <= 1 || eliminated >= MOST - 1) {
        solve_line(s, done, eliminated, left[0], objective[left[0]], count, solution);
        return;
    }
    uint32_t bounds = 2 * (uint32_t)s->k;
    memset(solution->x, 0, sizeof solution->x);
    for (int m = 0; m < k; m++) {
        int j = left[m];
        solution->x[j] = objective[j] >= 0 ? -s->box : s->box;
        solution->active[m] = 2 * (uint32_t)j + (objective[j] >= 0 ? 0 : 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        rg_lp_row row;
        reduced_row(s, done, eliminated, i, &row);
        double value = -row.b, size = fabs(row.b);
        for (int j = 0; j < MOST; j++) {
            double term = row.a[j] * solution->x[j];
            value += term;
            size += fabs(term);
        }
        if (!(value > SLACK * size))
            continue;
        int pivot = left[0];
        for (int m = 1; m < k; m++)
            pivot = fabs(row.a[left[m]]) > fabs(row.a[pivot]) ? left[m] : pivot;
        if (fabs(row.a[pivot]) <= PARALLEL)
            continue;
        elimination *e = &done[eliminated];
        double reduced[MOST], scale = 1 / row.a[pivot];
        e->pivot = pivot;
        e->b = row.b * scale;
        for (int j = 0; j < MOST; j++) {
            e->a[j] = j == pivot ? 1 : row.a[j] * scale;
            reduced[j] = j == pivot ? 0 : objective[j] - objective[pivot] * e->a[j];
        }
        /* The box holds from the start: a row of it may be the one that is violated. */
        solve_level(s, done, eliminated + 1, reduced, i > bounds ? i : bounds, solution);
        double x = e->b;
        for (int j = 0; j < MOST; j++)
            x -= j == pivot ? 0 : e->a[j] * solution->x[j];
        solution->x[pivot] = x;
        solution->active[k - 1] = i;
        if (eliminated == 0) {
            uint32_t before = s->front_count;
            remember_row(s, i, solution);
            count += s->front_count - before;
            i += s->front_count - before;
        }
    }
}

/* ------------------------------------------------------------------ the active rows again */

/* LU with row exchanges of a k x k matrix; false if singular. */
static bool factor(double m[MOST][MOST], int order[MOST], int k) {
    for (int i = 0; i < k; i++)
        order[i] = i;
    for (int c = 0; c < k; c++) {
        int best = c;
        for (int r = c + 1; r < k; r++)
            best = fabs(m[r][c]) > fabs(m[best][c]) ? r : best;
        if (!(fabs(m[best][c]) > 0))
            return false;
        for (int j = 0; j < k; j++) {
            double swap = m[c][j];
            m[c][j] = m[best][j];
            m[best][j] = swap;
        }
        int swap = order[c];
        order[c] = order[best];
        order[best] = swap;
        for (int r = c + 1; r < k; r++) {
            double f = m[r][c] /= m[c][c];
            for (int j = c + 1; j < k; j++)
                m[r][j] -= f * m[c][j];
        }
    }
    return true;
}

static void solve_factored(double m[MOST][MOST], const int order[MOST], int k, const double *b,
                           double *x) {
    for (int i = 0; i < k; i++) {
        x[i] = b[order[i]];
        for (int j = 0; j < i; j++)
            x[i] -= m[i][j] * x[j];
    }
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++)
            x[i] -= m[i][j] * x[j];
        x[i] /= m[i][i];
    }
}

static void solve_transposed(double m[MOST][MOST], const int order[MOST], int k, const double *b,
                             double *x) {
    double y[MOST];
    for (int i = 0; i < k; i++) {
        y[i] = b[i];
        for (int j = 0; j < i; j++)
            y[i] -= m[j][i] * y[j];
        y[i] /= m[i][i];
    }
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++)
            y[i] -= m[j][i] * y[j];
        x[order[i]] = y[i];
    }
}

/* The active rows as a k x k system, factored. */
typedef struct basis {
    uint32_t active[MOST];
    double a[MOST][MOST], m[MOST][MOST], b[MOST];
    int order[MOST];
} basis;

/* x and multipliers from the active rows: A x = b with one refinement; A' lambda = -e_k. */
static bool polish(const source *s, basis *base, rg_lp_solution *solution) {
    int k = s->k;
    double x[MOST] = {0}, r[MOST] = {0}, dx[MOST] = {0};
    for (int i = 0; i < k; i++) {
        rg_lp_row row;
        row_at(s, base->active[i], &row);
        for (int j = 0; j < k; j++)
            base->m[i][j] = base->a[i][j] = row.a[j];
        base->b[i] = row.b;
    }
    if (!factor(base->m, base->order, k))
        return false;
    solve_factored(base->m, base->order, k, base->b, x);
    for (int i = 0; i < k; i++) {
        r[i] = base->b[i];
        for (int j = 0; j < k; j++)
            r[i] -= base->a[i][j] * x[j];
    }
    solve_factored(base->m, base->order, k, r, dx);
    double down[MOST] = {0};
    down[k - 1] = -1;
    solve_transposed(base->m, base->order, k, down, solution->multiplier);
    double largest = 0, least = 0;
    for (int i = 0; i < k; i++) {
        solution->x[i] = x[i] + dx[i];
        largest = fmax(largest, fabs(solution->multiplier[i]));
        least = fmin(least, solution->multiplier[i]);
    }
    solution->dual_error = largest > 0 ? -least / largest : 0;
    return true;
}

/* Where rounding stopped the recursion short of the optimum, steps of the simplex method end it:
 * the row with the most negative multiplier leaves, the first row in the way enters. */
static bool descend(const source *s, basis *base, rg_lp_solution *solution) {
    int k = s->k;
    if (!polish(s, base, solution))
        return false;
    for (int step = 0; step < MOST_PIVOTS && solution->dual_error > SLACK; step++) {
        int leaving = 0;
        for (int i = 1; i < k; i++)
            leaving = solution->multiplier[i] < solution->multiplier[leaving] ? i : leaving;
        double off[MOST] = {0}, p[MOST] = {0}, soonest = INFINITY;
        off[leaving] = -1;
        solve_factored(base->m, base->order, k, off, p);
        uint32_t entering = 0, count = 2 * (uint32_t)k + s->front_count + s->count;
        for (uint32_t i = 0; i < count; i++) {
            rg_lp_row row;
            row_at(s, i, &row);
            double slope = 0, slack = row.b;
            for (int j = 0; j < k; j++) {
                slope += row.a[j] * p[j];
                slack -= row.a[j] * solution->x[j];
            }
            if (slope <= 1e-12)
                continue;
            double when = slack > 0 ? slack / slope : 0;
            if (when < soonest) {
                soonest = when;
                entering = i;
            }
        }
        basis next = *base;
        rg_lp_solution moved = {0};
        next.active[leaving] = entering;
        if (!isfinite(soonest) || !polish(s, &next, &moved))
            break;
        *base = next;
        *solution = moved;
    }
    return true;
}

/* The row that the solution violates most, relative to the size of its terms. */
static double worst_row(const source *s, const rg_lp_solution *solution, uint32_t *worst) {
    double most = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        rg_lp_row row;
        s->get(s, i, &row);
        double value = -row.b, size = fabs(row.b);
        for (int j = 0; j < s->k; j++) {
            double term = row.a[j] * solution->x[j];
            value += term;
            size += fabs(term);
        }
        if (value > most * size) {
            most = value / size;
            *worst = i;
        }
    }
    return most;
}

static rg_status solve(source *s, rg_lp_solution *solution) {
    double objective[MOST] = {0};
    objective[s->k - 1] = 1;
    rg_lp_solution best = {.primal_error = INFINITY, .dual_error = INFINITY};
    bool unbounded = false;
    for (uint32_t round = 0;; round++) {
        elimination done[MOST] = {0};
        level_solution raw;
        uint32_t bounds = 2 * (uint32_t)s->k;
        solve_level(s, done, 0, objective, bounds + s->front_count + s->count, &raw);
        rg_lp_solution now = {0};
        uint32_t worst = 0;
        basis base = {{0}, {{0}}, {{0}}, {0}, {0}};
        memcpy(base.active, raw.active, sizeof base.active);
        bool solved = descend(s, &base, &now), outermost = false;
        if (solved) {
            for (int i = 0; i < s->k; i++) {
                bool box = base.active[i] < bounds;
                outermost = outermost || box;
                now.active[i] = box ? 0 : index_of(s, base.active[i]);
            }
            now.primal_error = worst_row(s, &now, &worst);
            if (fmax(now.primal_error, now.dual_error) < fmax(best.primal_error, best.dual_error)) {
                best = now;
                unbounded = outermost;
            }
        }
        if (!solved || now.primal_error <= SLACK || round == RESTARTS || s->front_count == FRONT)
            break;
        s->front[s->front_count++] = worst;
    }
    *solution = best;
    if (best.primal_error > INFEASIBLE && isfinite(best.primal_error))
        return RG_INVALID_ARGUMENT;
    return isfinite(best.primal_error) && !unbounded ? RG_OK : RG_SINGULAR;
}

/* ------------------------------------------------------------------ raw rows */

static void get_raw(const source *s, uint32_t index, rg_lp_row *row) {
    *row = ((const rg_lp_row *)s->context)[index];
    for (int j = s->k; j < MOST; j++)
        row->a[j] = 0;
}

rg_status rg_lp_seidel(const rg_lp_row *rows, uint32_t count, int dimension, uint64_t seed,
                       uint32_t *scratch, rg_lp_solution *solution) {
    if (dimension < 1 || dimension > MOST || count < (uint32_t)dimension)
        return RG_INVALID_ARGUMENT;
    source s = {.get = get_raw, .context = rows, .count = count, .order = scratch, .k = dimension};
    double reach = 0;
    for (uint32_t i = 0; i < count; i++) {
        double largest = 0;
        for (int j = 0; j < dimension; j++)
            largest = fmax(largest, fabs(rows[i].a[j]));
        if (!(largest > 0) || !isfinite(largest) || !isfinite(rows[i].b))
            return RG_INVALID_ARGUMENT;
        reach = fmax(reach, fabs(rows[i].b) / largest);
        scratch[i] = i;
    }
    /* Far beyond every plane's distance: an optimum out there is taken as none. */
    s.box = 1e6 * (reach > 0 ? reach : 1);
    rg_random random = rg_random_make(seed);
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t j = (uint32_t)rg_random_below(&random, i + 1), swap = scratch[i];
        scratch[i] = scratch[j];
        scratch[j] = swap;
    }
    return solve(&s, solution);
}

/* ------------------------------------------------------------------ two bodies */

typedef struct pair_rows {
    const rg_ratio_frame *frame;
    rg_vec3 u;    /* unit d, axes of side 0 */
    double scale; /* m: the bodies are solved in units of this, with |d| = 1 */
    bool planar;
} pair_rows;

/* a.x <= t b of side 0; a.(x - u) <= t b of side 1. */
static void get_pair(const source *s, uint32_t index, rg_lp_row *row) {
    const pair_rows *rows = s->context;
    const rg_polyhedron *one = &rows->frame->solid[0]->view, *two = &rows->frame->solid[1]->view;
    rg_vec3 a;
    double b;
    if (index < one->facet_count) {
        a = one->normals[index];
        b = one->offsets[index];
        row->b = 0;
    } else {
        index -= one->facet_count;
        a = rg_mat3_apply(&rows->frame->turn[0], two->normals[index]);
        b = two->offsets[index];
        row->b = rg_dot(a, rows->u);
    }
    row->a[0] = a.x;
    row->a[1] = rows->planar ? a.z : a.y;
    row->a[2] = rows->planar ? -b / rows->scale : a.z;
    row->a[3] = rows->planar ? 0 : -b / rows->scale;
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b) {
    while (b) {
        uint32_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* The feature pair of the active rows: by how many facets each side has among them; with N's
 * vertices from supports. */
static void features_of_rows(const rg_ratio_frame *frame, const uint32_t *active, int count,
                             bool planar, rg_ratio_answer *answer) {
    uint32_t facets1 = frame->solid[0]->view.facet_count, first[2] = {0, 0};
    int on1 = 0;
    for (int i = 0; i < count; i++) {
        bool one = active[i] < facets1;
        first[one ? 0 : 1] = one ? active[i] : active[i] - facets1;
        on1 += one;
    }
    if (on1 == 1)
        answer->features = (rg_feature_pair){RG_FEATURES_FACE_VERTEX, first[0], answer->vertex2};
    else if (on1 == count - 1 || planar)
        answer->features = (rg_feature_pair){RG_FEATURES_VERTEX_FACE, answer->vertex1, first[1]};
    else {
        /* Two facets of each side: the edges between them. */
        uint32_t edge[2] = {0, 0};
        for (int s = 0; s < 2; s++) {
            const rg_polyhedron *p = &frame->solid[s]->view;
            uint32_t f[2] = {0, 0};
            int found = 0;
            for (int i = 0; i < count; i++)
                if ((active[i] < facets1) == (s == 0) && found < 2)
                    f[found++] = s == 0 ? active[i] : active[i] - facets1;
            for (uint32_t e = 0; e < p->edge_count; e++)
                if ((p->edge_facets[2 * e] == f[0] && p->edge_facets[2 * e + 1] == f[1]) ||
                    (p->edge_facets[2 * e] == f[1] && p->edge_facets[2 * e + 1] == f[0]))
                    edge[s] = e;
        }
        answer->features = (rg_feature_pair){RG_FEATURES_EDGE_EDGE, edge[0], edge[1]};
    }
}

bool rg_ratio_seidel(const rg_ratio_frame *frame, bool planar, rg_ratio_answer *answer) {
    const rg_polyhedron *one = &frame->solid[0]->view, *two = &frame->solid[1]->view;
    double length = rg_length(frame->d[0]);
    double inner = frame->solid[0]->inradius + frame->solid[1]->inradius;
    pair_rows rows = {
        .frame = frame, .u = rg_scale(1 / length, frame->d[0]), .scale = inner, .planar = planar};
    source s = {.get = get_pair, .context = &rows, .k = planar ? 3 : 4};
    s.count = one->facet_count + two->facet_count;
    /* t <= 1 in these units, and so |x| <= size / scale. */
    s.box = 10 + 10 * frame->size / inner;
    s.stride = (uint32_t)(0.6180339887498949 * s.count) | 1;
    while (greatest_common_divisor(s.stride, s.count) != 1)
        s.stride += 2;
    s.shift = s.count / 3;
    rg_lp_solution solution;
    if (solve(&s, &solution) != RG_OK)
        return false;
    rg_vec3 n = {0, 0, 0};
    for (int i = 0; i < s.k; i++) {
        rg_lp_row row;
        get_pair(&s, solution.active[i], &row);
        if (solution.active[i] < one->facet_count)
            n = rg_add_scaled(n, solution.multiplier[i],
                              planar ? rg_vec3_make(row.a[0], 0, row.a[1])
                                     : rg_vec3_make(row.a[0], row.a[1], row.a[2]));
    }
    double t = solution.x[s.k - 1];
    rg_vec3 x = planar ? rg_vec3_make(solution.x[0], 0, solution.x[1])
                       : rg_vec3_make(solution.x[0], solution.x[1], solution.x[2]);
    if (!(t > 0) || !(rg_length_squared(n) > 0))
        return false;
    double back = rows.scale / t;
    double outside = solution.primal_error * frame->size;
    rg_ratio_witness found = {
        n,
        rg_scale(back, x),
        rg_scale(back, rg_sub(x, rows.u)),
        rg_solid_support(frame->solid[0], n, NULL),
        rg_solid_support(frame->solid[1], rg_neg(rg_mat3_apply(&frame->turn[1], n)), NULL),
        outside,
        NAN,
        NAN,
        false,
        {0}};
    rg_ratio_certify(frame, &found, answer);
    features_of_rows(frame, solution.active, s.k, planar, answer);
    answer->iterations = s.k;
    return true;
}
