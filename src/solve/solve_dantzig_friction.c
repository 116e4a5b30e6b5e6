/* Dantzig's pivoting with friction (Baraff 1994, sections 3.5 and 3.6).
 *
 * Static rows hold |f_F| <= mu f_N. A contact is driven normal first, then its one or two tangents
 * (a box in space). A tangent sticks (CF: a = 0, its force follows), or slips (NC+, NC-: its force
 * is +-mu f_N and a opposes it), or is open while f_N = 0. Dynamic rows slip for good, with a
 * signed mu. The force of a slipping tangent moves with its normal, so its column is added to the
 * normal's,
 *
 *     column(N) := A_N + sum over slipping tangents of +-mu A_F,
 *
 * and the matrix over C and CF is no longer symmetric. It is factored by LU with row exchanges at
 * every change of the sets.
 *
 * Without symmetry there is no proof that the pivoting ends, nor even a solution (Painleve). A step
 * that nothing ends is a ray: forces along df could grow for ever while row d only gets worse. That
 * is the direction of the impulse that resolves the inconsistency (Baraff 1991), and it is handed
 * back. Otherwise rows that are violated after a round are driven again, in another order, 30
 * times; then the outcome is STALLED and the caller turns to another method.
 *
 * Cost: O(m^3) per pivot for m rows in C and CF.
 * Tested by tests/solve/test_dantzig.c. */
#include "solve/solve_dantzig.h"

#include "base/base_math.h"
#include "problem/problem.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS_MAX = 30, RAYS_MAX = 8, SETTLE_MAX = 8, REFINE_MAX = 3, TANGENTS_MAX = 4 };
enum { ZERO_STEPS_PLAIN = 4, ZERO_STEPS_MAX = 50 };
enum { PIVOTS_PER_ROW = 60, PIVOTS_BASE = 200 };
/* Pivots of the scaled matrix (diagonal about 1) up to this count as zero. */
#define SINGULAR_PIVOT 1e-11
/* By how much b is disturbed against ties, relative to |b|; half of it each time after. */
#define DISTURB_SIZE 1e-6
/* Rates of change up to this, relative to the largest entry of the direction, are rounding
 * errors. */
#define NO_RATE 1e-12
/* Rounding errors: of the ratio test and of conditions, relative to the magnitude of the row. */
#define RATIO_SLACK 1e-15
#define ROW_SLACK   2e-14

typedef enum row_state {
    REST,  /* the force stays what it is: at a bound, or not looked at yet */
    BASIC, /* C, CF: a = 0, the force follows */
    INNER, /* a = 0 because of other rows; the force, within its limits, stays */
    PLUS,  /* NC+: f = mu f_N, a <= 0 */
    MINUS, /* NC-: f = -mu f_N, a >= 0 */
    OPEN   /* f_N = 0 = f: a is not asked about */
} row_state;

typedef struct friction {
    size_t n, stride;
    const uint8_t *kinds; /* null: all unilateral */
    double *columns, *b, *exact_b, *lower, *upper, *mu, *scale;
    double *f, *a, *magnitude, *df, *da;
    uint32_t *normal;   /* of friction rows; itself otherwise */
    uint32_t *tangents; /* of each row, TANGENTS_MAX: its friction rows */
    uint8_t *tangent_count, *state, *barred;
    uint8_t *todo; /* violated: not protected, will be driven */
    uint32_t *basis, *exchange;
    double *lu, *work, *rest;
    size_t m;    /* rows in the basis */
    double side; /* of the driven row */
    uint64_t pivots, pivot_limit, factorisations;
    const rg_solve_context *context;
} friction;

static rg_row_kind kind_of(const friction *z, size_t i) {
    return (rg_row_kind)z->kinds[i];
}

static bool is_static(const friction *z, size_t i) {
    return z->kinds[i] == RG_ROW_STATIC;
}

static const double *column_of(const friction *z, size_t j) {
    return z->columns + j * z->stride;
}

/* By how much the force of the friction row moves with its normal force. */
static double follow(const friction *z, size_t i) {
    if (kind_of(z, i) == RG_ROW_DYNAMIC || z->state[i] == PLUS)
        return z->mu[i];
    return z->state[i] == MINUS ? -z->mu[i] : 0;
}

/* Entry (i, j) of the matrix with slipping tangents added to their normals. */
static double entry_of(const friction *z, size_t i, size_t j) {
    double sum = column_of(z, j)[i];
    for (size_t k = 0; k < z->tangent_count[j]; k++) {
        size_t t = z->tangents[j * TANGENTS_MAX + k];
        double c = follow(z, t);
        if (c != 0)
            sum += c * column_of(z, t)[i];
    }
    return sum;
}

/* --- the factor ------------------------------------------------------------------------------- */

/* LU of the rows in C and CF. Returns the row that turns out to depend on the others, n if none. */
static size_t factor(friction *z) {
    size_t m = 0;
    for (size_t i = 0; i < z->n; i++)
        if (z->state[i] == BASIC)
            z->basis[m++] = (uint32_t)i;
    z->m = m;
    z->factorisations++;
    for (size_t r = 0; r < m; r++)
        for (size_t c = 0; c < m; c++)
            z->lu[r * z->stride + c] = entry_of(z, z->basis[r], z->basis[c]);
    for (size_t k = 0; k < m; k++)
        z->exchange[k] = (uint32_t)k;
    for (size_t k = 0; k < m; k++) {
        size_t best = k;
        for (size_t r = k + 1; r < m; r++)
            if (fabs(z->lu[r * z->stride + k]) > fabs(z->lu[best * z->stride + k]))
                best = r;
        double *top = z->lu + k * z->stride, *row = z->lu + best * z->stride;
        if (!(fabs(row[k]) > SINGULAR_PIVOT))
            return z->basis[k];
        if (best != k) {
            uint32_t swap = z->exchange[k];
            z->exchange[k] = z->exchange[best], z->exchange[best] = swap;
            for (size_t c = 0; c < m; c++) {
                double t = top[c];
                top[c] = row[c], row[c] = t;
            }
        }
        for (size_t r = k + 1; r < m; r++) {
            double *restrict below = z->lu + r * z->stride;
            double s = below[k] / top[k];
            below[k] = s;
            if (s != 0)
                for (size_t c = k + 1; c < m; c++)
                    below[c] -= s * top[c];
        }
    }
    return z->n;
}

/* Factors; rows that depend on the others rest in peace. `entering` (n: none) goes first. */
static void factor_regular(friction *z, size_t entering) {
    size_t bad;
    while ((bad = factor(z)) < z->n) {
        size_t out = entering < z->n && z->state[entering] == BASIC ? entering : bad;
        z->state[out] = INNER;
        z->barred[out] = 1;
    }
}

/* x := K^-1 x. */
static void solve_basis(const friction *z, double *x) {
    double *y = z->work;
    for (size_t k = 0; k < z->m; k++) {
        double sum = x[z->exchange[k]];
        for (size_t c = 0; c < k; c++)
            sum -= z->lu[k * z->stride + c] * y[c];
        y[k] = sum;
    }
    for (size_t k = z->m; k-- > 0;) {
        double sum = y[k];
        for (size_t c = k + 1; c < z->m; c++)
            sum -= z->lu[k * z->stride + c] * x[c];
        x[k] = sum / z->lu[k * z->stride + k];
    }
}

static void add_column(const friction *z, size_t j, double s, double *restrict y) {
    const double *restrict column = column_of(z, j);
    for (size_t i = 0; i < z->n; i++)
        y[i] += s * column[i];
}

/* Slipping tangents follow their normals. */
static void follow_all(const friction *z, double *values) {
    for (size_t i = 0; i < z->n; i++)
        if (z->normal[i] != i) {
            if (kind_of(z, i) == RG_ROW_DYNAMIC || z->state[i] == PLUS || z->state[i] == MINUS)
                values[i] = follow(z, i) * values[z->normal[i]];
        }
}

/* --- one drive -------------------------------------------------------------------------------- */

static double find_direction(friction *z, size_t d, double sign) {
    double *x = z->rest, largest = 1;
    for (size_t k = 0; k < z->m; k++)
        x[k] = -sign * entry_of(z, z->basis[k], d);
    solve_basis(z, x);
    for (size_t i = 0; i < z->n; i++)
        z->df[i] = z->da[i] = 0;
    for (size_t k = 0; k < z->m; k++)
        z->df[z->basis[k]] = x[k];
    z->df[d] = sign;
    follow_all(z, z->df);
    for (size_t j = 0; j < z->n; j++)
        if (z->df[j] != 0) {
            add_column(z, j, z->df[j], z->da);
            largest = fmax(largest, fabs(z->df[j]));
        }
    for (size_t k = 0; k < z->m; k++)
        z->da[z->basis[k]] = 0;
    return largest;
}

typedef struct event {
    double distance, rate;
    row_state to; /* what the row becomes */
} event;

/* The ways in which row i may break its condition, at most three. */
static int find_events(const friction *z, size_t i, event *events) {
    int count = 0;
    double da = z->da[i], df = z->df[i], f = z->f[i], a = z->a[i];
    uint8_t state = z->state[i];
    if (kind_of(z, i) == RG_ROW_DYNAMIC || state == OPEN)
        return 0;
    if (state == INNER && !z->barred[i])
        events[count++] = (event){0, fabs(da), BASIC};
    if (is_static(z, i)) {
        double limit = z->mu[i] * z->f[z->normal[i]], grow = z->mu[i] * z->df[z->normal[i]];
        if (state == BASIC || state == INNER) {
            events[count++] = (event){limit - f, df - grow, PLUS};
            events[count++] = (event){limit + f, -df - grow, MINUS};
        } else if (state == PLUS && !z->todo[i]) {
            events[count++] = (event){-a, da, BASIC};
        } else if (state == MINUS && !z->todo[i]) {
            events[count++] = (event){a, -da, BASIC};
        }
        return count;
    }
    if (state == BASIC)
        events[count++] =
            df < 0 ? (event){f - z->lower[i], -df, REST} : (event){z->upper[i] - f, df, REST};
    else if (state == REST && !z->todo[i] && !z->barred[i])
        events[count++] = f <= z->lower[i] ? (event){a, -da, BASIC} : (event){-a, da, BASIC};
    return count;
}

/* Where the driven row arrives: a = 0, or the limit of its force on the side to which a calls it
 * (`side`: 1 if a < 0). */
static int find_own_events(const friction *z, size_t d, event *events) {
    double side = z->side, df = side * z->df[d];
    events[0] = (event){-side * z->a[d], side * z->da[d], BASIC};
    if (is_static(z, d)) {
        size_t n = z->normal[d];
        events[1] = (event){z->mu[d] * z->f[n] - side * z->f[d], df - z->mu[d] * z->df[n],
                            side > 0 ? PLUS : MINUS};
    } else {
        events[1] = (event){side > 0 ? z->upper[d] - z->f[d] : z->f[d] - z->lower[d], df, REST};
    }
    return 2;
}

/* Would the row that changed sides just now, from `was`, break its new condition at once? */
static bool turns_back(const friction *z, size_t i, row_state was, double no_rate) {
    event events[3];
    int count = find_events(z, i, events);
    for (int k = 0; k < count && was != INNER; k++)
        if (events[k].to == was && events[k].rate > no_rate &&
            events[k].distance <= ROW_SLACK * z->magnitude[i])
            return true;
    return false;
}

typedef struct pivot {
    double step, rate;
    size_t row;
    row_state to;
} pivot;

/* Two passes (Harris): the longest step that is wrong by rounding errors only, then the surest
 * pivot. */
static bool find_step(const friction *z, size_t d, double no_rate, bool smallest_index,
                      pivot *best) {
    event events[3];
    double limit = INFINITY;
    for (size_t i = 0; i < z->n; i++) {
        int count = i == d ? find_own_events(z, d, events) : find_events(z, i, events);
        for (int k = 0; k < count; k++)
            if (events[k].rate > no_rate && events[k].distance < INFINITY)
                limit = fmin(limit, (fmax(events[k].distance, 0) + RATIO_SLACK * z->magnitude[i]) /
                                        events[k].rate);
    }
    if (limit == INFINITY)
        return false;
    *best = (pivot){0, 0, z->n, REST};
    for (size_t i = 0; i < z->n; i++) {
        int count = i == d ? find_own_events(z, d, events) : find_events(z, i, events);
        for (int k = 0; k < count; k++) {
            double rate = events[k].rate;
            if (!(rate > no_rate) || events[k].distance == INFINITY)
                continue;
            double step = fmax(events[k].distance, 0) / rate;
            bool better = i == d ? best->row != d || step < best->step
                                 : best->row != d && rate > best->rate &&
                                       !(smallest_index && best->row < z->n);
            if (step <= limit && better)
                *best = (pivot){step, rate, i, events[k].to};
        }
    }
    return best->row < z->n;
}

/* The tangents of a normal whose force is now zero are open; of one that begins to press they slip
 * against their acceleration. Those that were never looked at stay so. */
static void open_tangents(friction *z, size_t n) {
    for (size_t k = 0; k < z->tangent_count[n]; k++) {
        size_t t = z->tangents[n * TANGENTS_MAX + k];
        z->f[t] = 0;
        if (is_static(z, t)) {
            z->state[t] = OPEN;
            z->todo[t] = 0;
        }
    }
}

static void close_tangents(friction *z, size_t n) {
    for (size_t k = 0; k < z->tangent_count[n]; k++) {
        size_t t = z->tangents[n * TANGENTS_MAX + k];
        if (is_static(z, t) && z->state[t] == OPEN)
            z->state[t] = fabs(z->a[t]) <= ROW_SLACK * z->magnitude[t] ? BASIC
                          : z->a[t] > 0                                ? MINUS
                                                                       : PLUS;
    }
}

static void put_at_limit(friction *z, size_t i, row_state to) {
    if (is_static(z, i)) {
        z->f[i] = (to == PLUS ? z->mu[i] : -z->mu[i]) * z->f[z->normal[i]];
        z->state[i] = (uint8_t)to;
    } else {
        bool low = z->f[i] - z->lower[i] < z->upper[i] - z->f[i];
        z->f[i] = low ? z->lower[i] : z->upper[i];
        z->state[i] = REST;
        open_tangents(z, i);
    }
}

static void apply(friction *z, const pivot *next) {
    size_t i = next->row, entering = z->n;
    z->pivots++;
    if (next->to == BASIC) {
        z->a[i] = 0;
        if (!is_static(z, i) && z->state[i] == REST)
            close_tangents(z, i);
        z->state[i] = BASIC;
        entering = i;
    } else {
        put_at_limit(z, i, next->to);
    }
    z->todo[i] = 0;
    factor_regular(z, entering);
}

static double magnitude_of(const friction *z, size_t d) {
    double sum = fabs(z->b[d]);
    for (size_t j = 0; j < z->n; j++)
        sum += fabs(column_of(z, j)[d] * z->f[j]);
    return sum;
}

/* Is row d content where it is? Then it gets its state. */
static bool is_content(friction *z, size_t d) {
    double a = z->a[d], f = z->f[d], slack = ROW_SLACK * z->magnitude[d];
    bool is_tangent = is_static(z, d);
    double limit = is_tangent ? z->mu[d] * z->f[z->normal[d]] : 0;
    if (is_tangent && limit <= 0 && z->state[z->normal[d]] == REST) {
        z->state[d] = OPEN;
    } else if (fabs(a) <= slack && (is_tangent || (f > z->lower[d] && f < z->upper[d]))) {
        z->state[d] = BASIC;
        factor_regular(z, d);
    } else if (is_tangent && f >= limit && a <= 0) {
        z->state[d] = PLUS;
        factor_regular(z, z->n);
    } else if (is_tangent && f <= -limit && a >= 0) {
        z->state[d] = MINUS;
        factor_regular(z, z->n);
    } else if (!is_tangent &&
               ((f <= z->lower[d] && a >= -slack) || (f >= z->upper[d] && a <= slack))) {
        z->state[d] = REST;
    } else {
        return false;
    }
    return true;
}

/* Row d is where it was driven to; or, after a fold, a = 0 where the force is outside its limits:
 * then the path goes on, and ends where the force comes back to the limit. */
static bool arrive(friction *z, size_t d, row_state to) {
    z->pivots++;
    if (to == BASIC) {
        double limit = is_static(z, d) ? z->mu[d] * z->f[z->normal[d]] : 0;
        double low = is_static(z, d) ? -limit : z->lower[d];
        double high = is_static(z, d) ? limit : z->upper[d];
        double slack = ROW_SLACK * z->magnitude[d];
        z->a[d] = 0;
        if (z->f[d] < low - slack || z->f[d] > high + slack) {
            z->side = -z->side;
            return false;
        }
        z->f[d] = fmin(fmax(z->f[d], low), high);
    } else if (is_static(z, d)) {
        z->f[d] = (to == PLUS ? z->mu[d] : -z->mu[d]) * z->f[z->normal[d]];
    } else {
        z->f[d] = z->side > 0 ? z->upper[d] : z->lower[d];
    }
    return true;
}

/* While d is driven its force is its own: a slipping row is let go of its normal.
 *
 * All other rows keep their conditions along a path of straight pieces. Where a row changes sides
 * the next piece is the one on which that row moves into its new condition. Without friction that
 * always means that f_d goes on; with it the path may have folds, where f_d turns around (as in
 * Lemke's method, where the artificial variable may grow again). To insist on one direction there
 * would flip the row to and fro for ever. */
static rg_drive_end drive(friction *z, size_t d) {
    uint64_t cap = z->pivots + 10 * z->n + 10;
    int zero_steps = 0;
    z->todo[d] = 1;
    z->state[d] = REST;
    memset(z->barred, 0, z->n);
    if (!is_static(z, d) && z->f[d] <= z->lower[d])
        for (size_t k = 0; k < z->tangent_count[d]; k++) {
            size_t t = z->tangents[d * TANGENTS_MAX + k];
            if (is_static(z, t))
                z->state[t] = REST, z->todo[t] = 1, z->f[t] = 0;
        }
    factor_regular(z, z->n);
    z->magnitude[d] = magnitude_of(z, d);
    double sign = z->a[d] < 0 ? 1 : -1;
    pivot next = {.row = d};
    row_state was = REST;
    bool there = true; /* not on the way, where a = 0 may mean nothing */
    z->side = sign;
    while (!(there && is_content(z, d))) {
        if (rg_solve_stops(z->context))
            z->pivot_limit = 0;
        if (z->pivots >= cap || z->pivots >= z->pivot_limit || zero_steps > ZERO_STEPS_MAX)
            return RG_DRIVE_LATER;
        double no_rate = NO_RATE * find_direction(z, d, sign);
        if (next.row != d && turns_back(z, next.row, was, no_rate)) {
            sign = -sign;
            for (size_t i = 0; i < z->n; i++)
                z->df[i] = -z->df[i], z->da[i] = -z->da[i];
        }
        if (!find_step(z, d, no_rate, zero_steps > ZERO_STEPS_PLAIN, &next))
            return RG_DRIVE_RAY;
        for (size_t i = 0; i < z->n; i++) {
            z->f[i] += next.step * z->df[i];
            z->a[i] += next.step * z->da[i];
        }
        zero_steps = next.step > 0 ? 0 : zero_steps + 1;
        if (next.row != d) {
            was = (row_state)z->state[next.row];
            apply(z, &next);
            there = false;
        } else {
            there = arrive(z, d, next.to);
        }
    }
    z->todo[d] = 0;
    return RG_DRIVE_DONE;
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void evaluate(friction *z) {
    for (size_t i = 0; i < z->n; i++) {
        z->a[i] = z->b[i];
        z->magnitude[i] = fabs(z->b[i]);
    }
    for (size_t j = 0; j < z->n; j++)
        if (z->f[j] != 0)
            for (size_t i = 0; i < z->n; i++) {
                double product = column_of(z, j)[i] * z->f[j];
                z->a[i] += product;
                z->magnitude[i] += fabs(product);
            }
}

/* Forces of the sets as they are, by the factor and the true matrix. */
static void solve_forces(friction *z) {
    follow_all(z, z->f);
    for (int step = 0; step < REFINE_MAX; step++) {
        evaluate(z);
        double *x = z->rest;
        for (size_t k = 0; k < z->m; k++)
            x[k] = -z->a[z->basis[k]];
        solve_basis(z, x);
        for (size_t k = 0; k < z->m; k++)
            z->f[z->basis[k]] += x[k];
        follow_all(z, z->f);
    }
    evaluate(z);
}

/* Puts forces that are outside their limits at them; false if the sets changed. */
static bool keep_limits(friction *z) {
    bool kept = true;
    for (size_t i = 0; i < z->n; i++) {
        if (z->state[i] != BASIC && z->state[i] != INNER)
            continue;
        double slack = ROW_SLACK * z->magnitude[i];
        if (is_static(z, i)) {
            double limit = z->mu[i] * z->f[z->normal[i]];
            if (fabs(z->f[i]) <= fmax(limit, 0) + slack)
                continue;
            put_at_limit(z, i, z->f[i] > 0 ? PLUS : MINUS);
        } else {
            if (z->f[i] >= z->lower[i] - slack && z->f[i] <= z->upper[i] + slack)
                continue;
            bool low = z->f[i] < z->lower[i];
            z->f[i] = low ? z->lower[i] : z->upper[i];
            z->state[i] = REST;
            open_tangents(z, i);
        }
        kept = false;
    }
    return kept;
}

/* Marks the rows that are violated; returns how many. */
static size_t collect(friction *z) {
    size_t count = 0;
    for (size_t i = 0; i < z->n; i++) {
        double slack = ROW_SLACK * z->magnitude[i], a = z->a[i], f = z->f[i];
        bool bad = false;
        if (kind_of(z, i) == RG_ROW_DYNAMIC || z->state[i] == BASIC || z->state[i] == OPEN)
            bad = false;
        else if (z->state[i] == INNER)
            bad = fabs(a) > slack;
        else if (z->state[i] == PLUS)
            bad = a > slack && z->f[z->normal[i]] > 0;
        else if (z->state[i] == MINUS)
            bad = a < -slack && z->f[z->normal[i]] > 0;
        else if (is_static(z, i))
            bad = fabs(a) > slack && z->f[z->normal[i]] > 0;
        else
            bad = !((f <= z->lower[i] && a >= -slack) || (f >= z->upper[i] && a <= slack));
        z->todo[i] = bad;
        count += bad;
    }
    return count;
}

/* All rows at rest without forces: the beginning of the method. */
static void restart(friction *z) {
    for (size_t i = 0; i < z->n; i++) {
        z->f[i] = z->normal[i] == i ? fmin(fmax(0, z->lower[i]), z->upper[i]) : 0;
        z->state[i] = is_static(z, i) ? OPEN : REST;
    }
}

/* Forces of the sets, within their limits; from the beginning if there are none. Returns how many
 * rows are violated. */
static size_t settle(friction *z) {
    bool kept = false;
    for (int k = 0; k < SETTLE_MAX && !kept; k++) {
        if (k == SETTLE_MAX - 1)
            restart(z);
        for (size_t i = 0; i < z->n; i++)
            if (z->state[i] == REST) /* a drive that was given up leaves its force anywhere */
                z->f[i] = is_static(z, i) ? 0 : fmin(fmax(z->f[i], z->lower[i]), z->upper[i]);
        memset(z->barred, 0, z->n);
        factor_regular(z, z->n);
        solve_forces(z);
        kept = keep_limits(z);
    }
    return collect(z);
}

/* Free rows, then contact by contact normal and tangents. */
static rg_drive_end drive_all(friction *z, unsigned round, size_t *row) {
    size_t offset = round * (z->n / 3 + 1) % z->n;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < z->n; k++) {
            size_t i = (k + offset) % z->n;
            bool is_free = z->lower[i] == -INFINITY && z->upper[i] == INFINITY;
            if (z->normal[i] != i || (pass == 0 && !is_free))
                continue;
            for (size_t t = 0; t <= z->tangent_count[i]; t++) {
                size_t d = t ? z->tangents[i * TANGENTS_MAX + t - 1] : i;
                if (!z->todo[d] || kind_of(z, d) == RG_ROW_DYNAMIC)
                    continue;
                rg_drive_end end = drive(z, d);
                *row = d;
                if (end == RG_DRIVE_RAY || z->pivots >= z->pivot_limit)
                    return end;
            }
        }
    return RG_DRIVE_DONE;
}

/* A little other b in every row, against ties: contacts of bodies that fall together have a = 0 in
 * all their rows, and no step from there has a length. The round ends with the true b. */
static void disturb(friction *z, unsigned round) {
    rg_disturbance source = rg_disturbance_begin(z->exact_b, z->n, round, DISTURB_SIZE, 0.5);
    for (size_t i = 0; i < z->n; i++) {
        double amount = rg_disturbance_next(&source, z->exact_b[i]);
        if (is_static(z, i) && (source.random >> 39 & 1))
            amount = -amount;
        if (z->lower[i] > -INFINITY)
            z->b[i] = z->exact_b[i] + amount;
    }
}

static void run_rounds(friction *z, rg_solve_report *report, double *ray) {
    int rays = 0;
    for (unsigned round = 0; round < ROUNDS_MAX && z->pivots < z->pivot_limit; round++) {
        size_t row = 0;
        if (settle(z) == 0) {
            report->outcome = RG_SOLVED;
            report->text[0] = 0;
            return;
        }
        if (round % 2 == 0 || rays) {
            disturb(z, round);
            settle(z);
        }
        rg_drive_end end = drive_all(z, round, &row);
        memcpy(z->b, z->exact_b, z->n * sizeof *z->b);
        if (end != RG_DRIVE_RAY)
            continue;
        report->outcome = RG_SOLVE_RAY;
        snprintf(report->text, sizeof report->text,
                 "row %zu cannot be driven to a = 0: forces would grow without end along the ray, "
                 "the direction of an impulse",
                 row);
        for (size_t i = 0; ray && i < z->n; i++)
            ray[i] = z->df[i] * z->scale[i];
        if (++rays == RAYS_MAX)
            return;
        restart(z); /* another order may lead elsewhere */
    }
    if (rays)
        return;
    bool stalled = z->pivots < z->pivot_limit;
    report->outcome = stalled ? RG_SOLVE_STALLED : RG_SOLVE_LIMIT;
    snprintf(report->text, sizeof report->text,
             stalled ? "rows were still violated after %llu rounds of pivoting"
                     : "%llu pivots were not enough",
             (unsigned long long)(stalled ? ROUNDS_MAX : z->pivots));
}

/* --- in and out ------------------------------------------------------------------------------- */

static rg_status take_memory(rg_solve_context *context, size_t n, friction *z, rg_error *error) {
    size_t stride = (n + 7) / 8 * 8;
    z->n = n;
    z->stride = stride;
    RG_TAKE(z->columns, context, n * stride, error);
    RG_TAKE(z->lu, context, n * stride, error);
    double **vectors[] = {&z->b, &z->exact_b,   &z->lower, &z->upper, &z->mu,   &z->scale, &z->f,
                          &z->a, &z->magnitude, &z->df,    &z->da,    &z->work, &z->rest};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        RG_TAKE(*vectors[k], context, stride, error);
    uint8_t *kinds, **flags[] = {&kinds, &z->tangent_count, &z->state, &z->barred, &z->todo};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        RG_TAKE(*flags[k], context, n, error);
        memset(*flags[k], 0, n);
    }
    z->kinds = kinds;
    RG_TAKE(z->normal, context, n, error);
    RG_TAKE(z->tangents, context, n * TANGENTS_MAX, error);
    RG_TAKE(z->basis, context, n, error);
    RG_TAKE(z->exchange, context, n, error);
    return RG_OK;
}

/* False if a normal has too many friction rows. */
static bool read_rows(const rg_linear_problem *problem, friction *z) {
    for (size_t i = 0; i < z->n; i++) {
        rg_row_kind kind = rg_row_kind_at(problem, i);
        bool tangent = kind == RG_ROW_STATIC || kind == RG_ROW_DYNAMIC;
        z->normal[i] = tangent ? problem->normal[i] : (uint32_t)i;
        z->mu[i] = tangent ? problem->mu[i] * z->scale[z->normal[i]] / z->scale[i] : 0;
        z->lower[i] = kind == RG_ROW_FREE ? -INFINITY : 0;
        z->upper[i] = INFINITY;
        if (kind == RG_ROW_BOUNDED) {
            z->lower[i] = problem->lower[i] / z->scale[i];
            z->upper[i] = problem->upper[i] / z->scale[i];
        }
        z->b[i] = z->exact_b[i] = problem->b[i] * z->scale[i];
        size_t owner = z->normal[i];
        if (tangent) {
            if (z->tangent_count[owner] == TANGENTS_MAX)
                return false;
            z->tangents[owner * TANGENTS_MAX + z->tangent_count[owner]++] = (uint32_t)i;
        }
    }
    return true;
}

/* The sets from the forces of a warm start. */
static void start_warm(friction *z, const double *force) {
    for (size_t i = 0; i < z->n; i++) {
        double f = force[i] / z->scale[i];
        if (isfinite(f) && z->normal[i] == i)
            z->f[i] = fmin(fmax(f, z->lower[i]), z->upper[i]);
        if (z->normal[i] == i && z->f[i] > z->lower[i] && z->f[i] < z->upper[i])
            z->state[i] = BASIC;
    }
    for (size_t i = 0; i < z->n; i++) {
        double f = force[i] / z->scale[i], limit = z->mu[i] * z->f[z->normal[i]];
        if (!is_static(z, i) || !isfinite(f) || !(limit > 0))
            continue;
        bool inside = fabs(f) < limit * (1 - 1e-9);
        z->state[i] = inside ? BASIC : f > 0 ? PLUS : MINUS;
        z->f[i] = inside ? f : f > 0 ? limit : -limit;
    }
}

rg_status rg_dantzig_solve_friction(rg_solve_context *context, const rg_problem *problem,
                                    const rg_solve_settings *settings, rg_solution *solution,
                                    rg_solve_report *report, rg_error *error) {
    const rg_linear_problem *linear = &problem->linear;
    friction z = {.context = context};
    rg_status status = take_memory(context, linear->size, &z, error);
    if (status != RG_OK)
        return status;
    uint8_t *kinds = (uint8_t *)z.kinds;
    if (!rg_linear_is_symmetric(linear)) {
        report->outcome = RG_SOLVE_NOT_SYMMETRIC;
        snprintf(report->text, sizeof report->text, "the pivoting method needs a symmetric matrix");
        return RG_OK;
    }
    for (size_t i = 0; i < z.n; i++) {
        double d = rg_linear_row(linear, i)[i];
        kinds[i] = (uint8_t)rg_row_kind_at(linear, i);
        if (d < 0) {
            report->outcome = RG_SOLVE_INDEFINITE;
            snprintf(report->text, sizeof report->text,
                     "row %zu: a negative entry on the diagonal: the matrix is not positive "
                     "semidefinite",
                     i);
            return RG_OK;
        }
        z.scale[i] = rg_dantzig_unit(d);
    }
    for (size_t j = 0; j < z.n; j++)
        for (size_t i = 0; i < z.n; i++)
            z.columns[j * z.stride + i] = rg_linear_row(linear, i)[j] * z.scale[i] * z.scale[j];
    if (!read_rows(linear, &z)) {
        report->outcome = RG_SOLVE_UNSUITABLE;
        snprintf(report->text, sizeof report->text, "more than %d friction rows at one normal",
                 TANGENTS_MAX);
        return RG_OK;
    }
    z.pivot_limit = settings->iteration_limit ? settings->iteration_limit
                                              : PIVOTS_PER_ROW * (uint64_t)z.n + PIVOTS_BASE;
    restart(&z);
    if (settings->warm)
        start_warm(&z, solution->force);
    run_rounds(&z, report, solution->ray);
    for (size_t i = 0; i < z.n; i++) {
        solution->force[i] = z.f[i] * z.scale[i];
        if (solution->velocity)
            solution->velocity[i] = z.a[i] / z.scale[i];
    }
    report->iterations = z.pivots;
    report->factorisations = z.factorisations;
    return RG_OK;
}
