/* The complementary pairs of a problem for Lemke's method, without the matrix that they imply.
 *
 * A contact with a friction polygon of K corners gives K + 2 pairs (Stewart and Trinkle 1996;
 * Hart-Anitescu 2010, 4.11-4.12):
 *
 *     0 <= r_N      against  u_N                         >= 0
 *     0 <= beta_k   against  d_k.u_T + lambda            >= 0     r_T = sum beta_k d_k
 *     0 <= lambda   against  mu r_N - sum beta_k         >= 0
 *
 * The big matrix [n'Wn n'WD 0; D'Wn D'WD E; mu -E' 0] is never formed: its products go through the
 * contact forces and one product with the small W, its entries are combinations of at most four
 * entries of W. Static friction of a linear problem is the polygon with two corners; dynamic
 * friction is substituted into the column of its normal.
 *
 * Equations (free rows) are analysed first: an LU with full pivoting finds a regular part, which
 * stays in the basis for good. What is left over is redundant (dropped), contradictory (reported
 * with the combination of rows that proves it), or needs the other forces: such an equation enters
 * the basis together with one of them (solve_lemke.c) or, if that leads nowhere, becomes two pairs,
 * |a| <= z0 along the path, with its force split by sign.
 * Tested by tests/solve/test_lemke.c. */
#include "base/base_dense.h"
#include "base/base_math.h"
#include "problem/problem.h"
#include "solve/solve_lemke.h"

#include <string.h>

/* Sweeps of equilibration: each brings the largest entry of every row and column of R W C nearer to
 * 1. */
enum { SCALE_SWEEPS = 8 };
/* Pivots of the equations' matrix below this (its entries are at most about 1) are zero. */
#define EQUATION_PIVOT 1e-10
/* What is left of a dependent row, column (entries about 1), or right side (relative to its largest
 * number) below this is rounding. */
#define REDUNDANT     1e-9
#define CONTRADICTION 1e-9

#define NONE UINT32_MAX

typedef enum row_role {
    ROLE_ABSENT, /* no unknown force: given, substituted, or without friction */
    ROLE_TANGENT,
    ROLE_PAIR,
    ROLE_EQUATION
} row_role;

typedef struct set_up {
    rg_pairs *pairs;
    rg_solve_context *context;
    uint8_t *role;
    double *lower, *upper;
    const double *b;
    size_t directions; /* corners of a polygon in space */
    /* equations: in the order in which the elimination took their rows and columns */
    size_t equations, rank;
    uint32_t *equation_rows, *equation_columns;
} set_up;

/* --- rows ------------------------------------------------------------------------------------- */

static void add_group(rg_pairs *pairs, uint32_t normal, uint32_t first, uint32_t second,
                      double mu) {
    rg_pair_group *group = &pairs->group[pairs->groups];
    *group = (rg_pair_group){.normal = normal, .tangent = {first, second}, .mu = mu};
    pairs->next_group[pairs->groups] = pairs->normal_group[normal];
    pairs->normal_group[normal] = (uint32_t)pairs->groups++;
}

static void set_interval(set_up *s, size_t row, double lower, double upper) {
    s->lower[row] = lower;
    s->upper[row] = upper;
    s->pairs->given[row] = 0;
    if (lower == upper) {
        s->role[row] = ROLE_ABSENT;
        s->pairs->given[row] = lower;
    } else {
        s->role[row] = isfinite(lower) || isfinite(upper) ? ROLE_PAIR : ROLE_EQUATION;
    }
}

/* W with dynamic friction in the columns of the normals: a copy. */
static rg_status substitute_dynamic(set_up *s, const rg_linear_problem *p, rg_error *error) {
    bool any = false;
    for (size_t i = 0; i < p->size; i++)
        any |= rg_row_kind_at(p, i) == RG_ROW_DYNAMIC && p->mu[i] != 0;
    if (!any)
        return RG_OK;
    double *w;
    RG_TAKE(w, s->context, p->size * p->size, error);
    for (size_t i = 0; i < p->size; i++)
        memcpy(w + i * p->size, rg_linear_row(p, i), p->size * sizeof *w);
    for (size_t j = 0; j < p->size; j++)
        if (rg_row_kind_at(p, j) == RG_ROW_DYNAMIC)
            for (size_t i = 0; i < p->size; i++)
                w[i * p->size + p->normal[j]] += p->mu[j] * rg_linear_row(p, i)[j];
    s->pairs->w = w;
    s->pairs->stride = p->size;
    return RG_OK;
}

static rg_status read_linear(set_up *s, const rg_linear_problem *p, rg_error *error) {
    rg_pairs *pairs = s->pairs;
    pairs->w = p->matrix;
    pairs->stride = p->stride ? p->stride : p->size;
    s->b = p->b;
    for (size_t i = 0; i < p->size; i++) {
        switch (rg_row_kind_at(p, i)) {
        case RG_ROW_UNILATERAL:
            set_interval(s, i, 0, INFINITY);
            break;
        case RG_ROW_FREE:
            set_interval(s, i, -INFINITY, INFINITY);
            break;
        case RG_ROW_BOUNDED:
            set_interval(s, i, p->lower[i], p->upper[i]);
            break;
        case RG_ROW_STATIC:
            set_interval(s, i, 0, 0);
            if (p->mu[i] > 0) {
                s->role[i] = ROLE_TANGENT;
                add_group(pairs, p->normal[i], (uint32_t)i, (uint32_t)i, p->mu[i]);
            }
            break;
        case RG_ROW_DYNAMIC:
            set_interval(s, i, 0, 0);
            break;
        }
    }
    return substitute_dynamic(s, p, error);
}

static rg_status read_contacts(set_up *s, const rg_contact_problem *p, rg_error *error) {
    rg_pairs *pairs = s->pairs;
    size_t d = (size_t)p->dimension, rows = pairs->rows;
    s->b = p->q;
    pairs->w = p->w.dense;
    pairs->stride = rows;
    if (!pairs->w) {
        double *w;
        RG_TAKE(w, s->context, rows * rows, error);
        for (size_t i = 0; i < rows; i++)
            rg_matrix_row_part(&p->w, i, 0, rows, w + i * rows);
        pairs->w = w;
    }
    for (size_t c = 0; c < p->contacts; c++) {
        bool friction = d > 1 && p->mu && p->mu[c] > 0;
        uint32_t normal = (uint32_t)(c * d);
        set_interval(s, normal, 0, INFINITY);
        for (size_t k = 1; k < d; k++) {
            set_interval(s, normal + k, 0, 0);
            if (friction)
                s->role[normal + k] = ROLE_TANGENT;
        }
        if (friction)
            add_group(pairs, normal, normal + 1, (uint32_t)(normal + d - 1), p->mu[c]);
    }
    for (size_t j = 0; j < p->joints; j++)
        set_interval(s, p->contacts * d + j, p->lower ? p->lower[j] : -INFINITY,
                     p->upper ? p->upper[j] : INFINITY);
    s->directions = (size_t)p->directions;
    return RG_OK;
}

/* --- scale ------------------------------------------------------------------------------------ */

/* Equilibration (Ruiz 2001). Lemke's path depends on it only through the covering vector. Symmetric
 * matrices get the same scales for rows and columns. */
static void scale_rows(set_up *s, double *in_row, double *in_column) {
    rg_pairs *pairs = s->pairs;
    size_t n = pairs->rows;
    double *r = pairs->row_scale, *c = pairs->column_scale;
    for (size_t i = 0; i < n; i++)
        r[i] = c[i] = 1;
    for (int sweep = 0; sweep < SCALE_SWEEPS; sweep++) {
        memset(in_row, 0, n * sizeof *in_row);
        memset(in_column, 0, n * sizeof *in_column);
        for (size_t i = 0; i < n; i++) {
            const double *row = pairs->w + i * pairs->stride;
            for (size_t j = 0; j < n && s->role[i] != ROLE_ABSENT; j++) {
                if (s->role[j] == ROLE_ABSENT)
                    continue;
                double entry = fabs(row[j]) * r[i] * c[j];
                in_row[i] = fmax(in_row[i], entry);
                in_column[j] = fmax(in_column[j], entry);
            }
        }
        for (size_t i = 0; i < n; i++) {
            r[i] /= in_row[i] > 0 ? sqrt(in_row[i]) : 1;
            c[i] /= in_column[i] > 0 ? sqrt(in_column[i]) : 1;
        }
    }
}

/* --- equations -------------------------------------------------------------------------------- */

static double scaled_entry(const rg_pairs *pairs, size_t i, size_t j) {
    return pairs->row_scale[i] * pairs->w[i * pairs->stride + j] * pairs->column_scale[j];
}

/* LU with full pivoting of the equations' matrix, for its rank and the order of rows and
 * columns. */
static void find_rank(set_up *s, double *m) {
    size_t n = s->equations, k = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            m[i * n + j] = scaled_entry(s->pairs, s->equation_rows[i], s->equation_columns[j]);
    for (; k < n; k++) {
        size_t pr, pc;
        if (rg_dense_largest(m, n, k, &pr, &pc) <= EQUATION_PIVOT)
            break;
        rg_swap_numbers(&s->equation_rows[pr], &s->equation_rows[k]);
        rg_swap_numbers(&s->equation_columns[pc], &s->equation_columns[k]);
        rg_dense_swap_rows(m, n, pr, k, n);
        rg_dense_swap_columns(m, n, pc, k, n);
        for (size_t i = k + 1; i < n; i++) {
            double factor = m[i * n + k] / m[k * n + k];
            for (size_t j = k; j < n && factor != 0; j++)
                m[i * n + j] -= factor * m[k * n + j];
        }
    }
    s->rank = k;
}

/* The inverse of the regular part; with the same rows as columns where that is regular, too: pairs
 * then keep their own equation and the matrix its definiteness. */
static bool invert_regular(set_up *s, double *m, double *swaps) {
    size_t r = s->rank, n = s->equations;
    for (int attempt = 0; attempt < 2; attempt++) {
        const uint32_t *columns = attempt == 0 ? s->equation_rows : s->equation_columns;
        double largest = 0;
        for (size_t i = 0; i < r; i++)
            for (size_t j = 0; j < r; j++)
                m[i * r + j] = scaled_entry(s->pairs, s->equation_rows[i], columns[j]);
        bool regular = rg_lemke_invert(m, r, r, swaps);
        for (size_t i = 0; regular && i < r * r; i++)
            largest = fmax(largest, fabs(m[i]));
        if (regular && largest * EQUATION_PIVOT < 1) {
            if (attempt == 0)
                memcpy(s->equation_columns, s->equation_rows, n * sizeof *s->equation_rows);
            return true;
        }
    }
    return false;
}

/* Does row equation_rows[k] (by_row) or column equation_columns[k] depend on the regular part?
 * `z`: its multipliers. */
static bool is_dependent(const set_up *s, const double *inverse, size_t k, bool by_row, double *z) {
    const rg_pairs *pairs = s->pairs;
    size_t r = s->rank, mine = by_row ? s->equation_rows[k] : s->equation_columns[k];
    double largest = 1;
    for (size_t i = 0; i < r; i++) {
        z[i] = 0;
        for (size_t j = 0; j < r; j++)
            z[i] += by_row ? scaled_entry(pairs, mine, s->equation_columns[j]) * inverse[j * r + i]
                           : inverse[i * r + j] * scaled_entry(pairs, s->equation_rows[j], mine);
        largest = fmax(largest, fabs(z[i]));
    }
    for (size_t j = 0; j < pairs->rows; j++) {
        if (s->role[j] == ROLE_ABSENT)
            continue;
        double rest = by_row ? scaled_entry(pairs, mine, j) : scaled_entry(pairs, j, mine);
        for (size_t i = 0; i < r; i++)
            rest -= by_row ? z[i] * scaled_entry(pairs, s->equation_rows[i], j)
                           : scaled_entry(pairs, j, s->equation_columns[i]) * z[i];
        if (fabs(rest) > REDUNDANT * largest)
            return false;
    }
    return true;
}

/* The dependent row's right side must depend in the same way; otherwise the combination is the
 * proof. */
static bool is_consistent(const set_up *s, size_t k, const double *z, double *ray) {
    const rg_pairs *pairs = s->pairs;
    size_t mine = s->equation_rows[k];
    double rest = pairs->row_scale[mine] * pairs->free[mine], largest = 0;
    for (size_t i = 0; i < s->rank; i++) {
        size_t row = s->equation_rows[i];
        rest -= z[i] * pairs->row_scale[row] * pairs->free[row];
    }
    for (size_t i = 0; i < pairs->rows; i++)
        if (s->role[i] != ROLE_ABSENT)
            largest = fmax(largest, fabs(pairs->row_scale[i] * pairs->free[i]));
    if (fabs(rest) <= CONTRADICTION * largest)
        return true;
    if (ray) {
        memset(ray, 0, pairs->rows * sizeof *ray);
        ray[mine] = pairs->row_scale[mine];
        for (size_t i = 0; i < s->rank; i++)
            ray[s->equation_rows[i]] = -z[i] * pairs->row_scale[s->equation_rows[i]];
    }
    return false;
}

/* Sorts what is left over: dependent rows and columns to the end. Counts the others. */
static bool sort_leftovers(set_up *s, const double *inverse, double *z, double *ray,
                           size_t counts[2]) {
    for (int side = 0; side < 2; side++) {
        bool by_row = side == 0;
        uint32_t *list = by_row ? s->equation_rows : s->equation_columns;
        size_t last = s->equations;
        for (size_t k = s->rank; k < last;) {
            if (!is_dependent(s, inverse, k, by_row, z)) {
                k++;
                continue;
            }
            if (by_row && !is_consistent(s, k, z, ray))
                return false;
            rg_swap_numbers(&list[k], &list[--last]);
        }
        counts[side] = last - s->rank;
    }
    /* Prefer the pairing of a row with its own column. */
    for (size_t i = s->rank; i < s->rank + counts[0]; i++)
        for (size_t j = i; j < s->rank + counts[1]; j++)
            if (s->equation_columns[j] == s->equation_rows[i]) {
                rg_swap_numbers(&s->equation_columns[i], &s->equation_columns[j]);
                break;
            }
    return true;
}

/* --- pairs ------------------------------------------------------------------------------------ */

static void add_pair(rg_pairs *pairs, rg_pair pair) {
    pair.lower /= pair.scale * pairs->unit;
    pair.upper /= pair.scale * pairs->unit;
    pairs->pair[pairs->count++] = pair;
}

static void add_row_pair(set_up *s, uint32_t row, uint32_t column, double sign, bool equation) {
    add_pair(s->pairs, (rg_pair){.kind = RG_PAIR_ROW,
                                 .row = row,
                                 .column = column,
                                 .sign = sign,
                                 .group = NONE,
                                 .lower = equation ? -INFINITY : 0,
                                 .upper = INFINITY,
                                 .scale = s->pairs->column_scale[column],
                                 .row_scale = s->pairs->row_scale[row],
                                 .equation = equation});
}

static void add_friction_pairs(set_up *s, size_t index) {
    rg_pairs *pairs = s->pairs;
    rg_pair_group *group = &pairs->group[index];
    bool space = group->tangent[0] != group->tangent[1];
    int corners = space ? (int)s->directions : 2;
    const double *r = pairs->row_scale, *c = pairs->column_scale;
    double row_scale = sqrt(r[group->tangent[0]] * r[group->tangent[1]]);
    double scale = sqrt(c[group->tangent[0]] * c[group->tangent[1]]);
    for (int k = 0; k < corners; k++) {
        double along[2] = {k == 0 ? 1 : -1, 0};
        if (space)
            rg_polygon_direction(corners, k, along);
        add_pair(pairs, (rg_pair){.kind = RG_PAIR_BETA,
                                  .row = group->tangent[0],
                                  .column = group->tangent[1],
                                  .group = (uint32_t)index,
                                  .along = {along[0], along[1]},
                                  .upper = INFINITY,
                                  .scale = scale,
                                  .row_scale = row_scale});
    }
    add_pair(pairs, (rg_pair){.kind = RG_PAIR_LAMBDA,
                              .row = group->normal,
                              .column = group->normal,
                              .group = (uint32_t)index,
                              .upper = INFINITY,
                              .scale = 1 / row_scale,
                              .row_scale = 1 / scale});
}

static void add_pairs(set_up *s, const size_t leftovers[2], bool split) {
    rg_pairs *pairs = s->pairs;
    for (size_t k = 0; k < s->rank; k++)
        add_row_pair(s, s->equation_rows[k], s->equation_columns[k], 1, true);
    /* More equations than unknowns that they could determine: the rest has to do without them, and
     * they are checked in the end. More unknowns: those in excess stay 0. */
    size_t active = leftovers[0] < leftovers[1] ? leftovers[0] : leftovers[1];
    pairs->dependent = active;
    pairs->excess = leftovers[0] - active;
    pairs->excess_rows = s->equation_rows + s->rank + active;
    for (size_t k = s->rank; k < s->rank + active; k++) {
        add_row_pair(s, s->equation_rows[k], s->equation_columns[k], 1, !split);
        pairs->pair[pairs->count - 1].dependent = true;
        if (split)
            add_row_pair(s, s->equation_rows[k], s->equation_columns[k], -1, false);
    }
    for (size_t i = 0; i < pairs->rows; i++) {
        if (s->role[i] != ROLE_PAIR)
            continue;
        add_row_pair(s, (uint32_t)i, (uint32_t)i, 1, false);
        rg_pair *pair = &pairs->pair[pairs->count - 1];
        pair->lower = s->lower[i] / (pair->scale * pairs->unit);
        pair->upper = s->upper[i] / (pair->scale * pairs->unit);
        for (uint32_t g = pairs->normal_group[i]; g != NONE; g = pairs->next_group[g])
            add_friction_pairs(s, g);
    }
    for (size_t i = 0; i < pairs->count; i++) {
        const rg_pair *pair = &pairs->pair[i];
        double a = 0;
        if (pair->kind == RG_PAIR_ROW)
            a = pair->sign * pairs->free[pair->row];
        else if (pair->kind == RG_PAIR_BETA)
            a = pair->along[0] * pairs->free[pair->row] +
                pair->along[1] * pairs->free[pair->column];
        pairs->b[i] = pair->row_scale * a / pairs->unit;
    }
}

/* --- making ----------------------------------------------------------------------------------- */

static rg_status take_rows(set_up *s, const rg_problem *problem, rg_error *error) {
    rg_pairs *pairs = s->pairs;
    size_t n = rg_problem_rows(problem), groups = 0;
    if (problem->kind == RG_PROBLEM_CONTACT)
        groups = problem->contact.contacts;
    else
        for (size_t i = 0; i < n; i++)
            groups += rg_row_kind_at(&problem->linear, i) == RG_ROW_STATIC;
    pairs->rows = n;
    RG_TAKE(pairs->free, s->context, n, error);
    RG_TAKE(pairs->given, s->context, n, error);
    RG_TAKE(pairs->row_scale, s->context, n, error);
    RG_TAKE(pairs->column_scale, s->context, n, error);
    RG_TAKE(pairs->r, s->context, n, error);
    RG_TAKE(pairs->u, s->context, n, error);
    RG_TAKE(pairs->nonzero, s->context, n, error);
    RG_TAKE(pairs->normal_group, s->context, n, error);
    RG_TAKE(pairs->group, s->context, groups, error);
    RG_TAKE(pairs->next_group, s->context, groups, error);
    RG_TAKE(pairs->slip, s->context, groups, error);
    RG_TAKE(pairs->grip, s->context, groups, error);
    RG_TAKE(s->role, s->context, n, error);
    RG_TAKE(s->lower, s->context, n, error);
    RG_TAKE(s->upper, s->context, n, error);
    RG_TAKE(s->equation_rows, s->context, n, error);
    RG_TAKE(s->equation_columns, s->context, n, error);
    for (size_t i = 0; i < n; i++)
        pairs->normal_group[i] = NONE;
    return RG_OK;
}

/* What the unknown forces act against, and the unit of everything. */
static void set_free(set_up *s) {
    rg_pairs *pairs = s->pairs;
    double largest = 0;
    for (size_t i = 0; i < pairs->rows; i++) {
        double sum = s->b[i];
        for (size_t j = 0; j < pairs->rows; j++)
            if (pairs->given[j] != 0)
                sum += pairs->w[i * pairs->stride + j] * pairs->given[j];
        pairs->free[i] = sum;
        if (s->role[i] == ROLE_ABSENT)
            continue;
        largest = fmax(largest, fabs(sum) * pairs->row_scale[i]);
        if (s->role[i] == ROLE_PAIR) {
            /* forces at a bound count, too */
            double start = isfinite(s->lower[i]) ? s->lower[i] : s->upper[i];
            largest = fmax(largest, fabs(start) / pairs->column_scale[i]);
        }
    }
    pairs->unit = largest > 0 ? largest : 1;
}

static rg_status sort_equations(set_up *s, size_t leftovers[2], bool *consistent, double *ray,
                                rg_error *error) {
    size_t n = 0;
    for (size_t i = 0; i < s->pairs->rows; i++)
        if (s->role[i] == ROLE_EQUATION) {
            s->equation_rows[n] = s->equation_columns[n] = (uint32_t)i;
            n++;
        }
    s->equations = n;
    leftovers[0] = leftovers[1] = 0;
    *consistent = true;
    if (n == 0)
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    double *m, *z;
    RG_TAKE(m, s->context, n * n, error);
    RG_TAKE(z, s->context, n, error);
    find_rank(s, m);
    if (s->rank < n) {
        if (!invert_regular(s, m, z))
            s->rank = 0; /* cannot be: the pivots were large; every equation then is a leftover */
        *consistent = sort_leftovers(s, m, z, ray, leftovers);
    }
    rg_arena_return(&s->context->arena, mark);
    return RG_OK;
}

rg_status rg_pairs_make(rg_pairs *pairs, rg_solve_context *context, const rg_problem *problem,
                        bool split, bool *consistent, double *ray, rg_error *error) {
    *pairs = (rg_pairs){0};
    set_up s = {.pairs = pairs, .context = context};
    rg_status status = take_rows(&s, problem, error);
    if (status == RG_OK)
        status = problem->kind == RG_PROBLEM_LINEAR ? read_linear(&s, &problem->linear, error)
                                                    : read_contacts(&s, &problem->contact, error);
    if (status != RG_OK)
        return status;
    size_t leftovers[2];
    scale_rows(&s, pairs->u, pairs->r);
    set_free(&s);
    status = sort_equations(&s, leftovers, consistent, ray, error);
    if (status != RG_OK || !*consistent)
        return status;
    size_t most =
        pairs->rows + s.equations + pairs->groups * ((s.directions ? s.directions : 2) + 1);
    RG_TAKE(pairs->pair, context, most, error);
    RG_TAKE(pairs->b, context, most, error);
    add_pairs(&s, leftovers, split);
    return RG_OK;
}

/* --- products --------------------------------------------------------------------------------- */

/* Rows with at most this share of nonzero forces are multiplied entry by entry. */
enum { SPARSE_SHARE = 4 };

static void multiply(rg_pairs *pairs) {
    size_t n = pairs->rows, count = 0;
    for (size_t j = 0; j < n; j++)
        if (pairs->r[j] != 0)
            pairs->nonzero[count++] = (uint32_t)j;
    for (size_t i = 0; i < n; i++) {
        const double *row = pairs->w + i * pairs->stride;
        if (count * SPARSE_SHARE > n) {
            pairs->u[i] = rg_dense_dot(row, pairs->r, n);
        } else {
            double sum = 0;
            for (size_t k = 0; k < count; k++)
                sum += row[pairs->nonzero[k]] * pairs->r[pairs->nonzero[k]];
            pairs->u[i] = sum;
        }
    }
}

void rg_pairs_apply(rg_pairs *pairs, const double *x, double *s) {
    memset(pairs->r, 0, pairs->rows * sizeof *pairs->r);
    memset(pairs->slip, 0, pairs->groups * sizeof *pairs->slip);
    memset(pairs->grip, 0, pairs->groups * sizeof *pairs->grip);
    for (size_t j = 0; j < pairs->count; j++) {
        const rg_pair *pair = &pairs->pair[j];
        if (x[j] == 0)
            continue;
        double f = pair->scale * x[j];
        if (pair->kind == RG_PAIR_ROW) {
            pairs->r[pair->column] += pair->sign * f;
        } else if (pair->kind == RG_PAIR_LAMBDA) {
            pairs->slip[pair->group] = f;
        } else {
            pairs->r[pair->row] += pair->along[0] * f;
            pairs->r[pair->column] += pair->along[1] * f;
            pairs->grip[pair->group] += f;
        }
    }
    multiply(pairs);
    for (size_t i = 0; i < pairs->count; i++) {
        const rg_pair *pair = &pairs->pair[i];
        double a;
        if (pair->kind == RG_PAIR_ROW)
            a = pair->sign * pairs->u[pair->row];
        else if (pair->kind == RG_PAIR_BETA)
            a = pair->along[0] * pairs->u[pair->row] + pair->along[1] * pairs->u[pair->column] +
                pairs->slip[pair->group];
        else
            a = pairs->group[pair->group].mu * pairs->r[pair->row] - pairs->grip[pair->group];
        s[i] = pair->row_scale * a;
    }
}

double rg_pairs_entry(const rg_pairs *pairs, size_t i, size_t j) {
    const rg_pair *p = &pairs->pair[i], *q = &pairs->pair[j];
    double scale = p->row_scale * q->scale;
    if (p->kind == RG_PAIR_LAMBDA) {
        if (q->kind == RG_PAIR_ROW)
            return q->column == p->row ? pairs->group[p->group].mu * q->sign * scale : 0;
        return q->kind == RG_PAIR_BETA && q->group == p->group ? -scale : 0;
    }
    if (q->kind == RG_PAIR_LAMBDA)
        return p->kind == RG_PAIR_BETA && q->group == p->group ? scale : 0;
    const double *w = pairs->w;
    size_t stride = pairs->stride;
    double right[2] = {q->sign, 0}, sum = 0;
    size_t columns[2] = {q->column, q->column};
    if (q->kind == RG_PAIR_BETA) {
        right[0] = q->along[0];
        right[1] = q->along[1];
        columns[0] = q->row;
    }
    const double *first = w + p->row * stride, *second = w + p->column * stride;
    double one = first[columns[0]] * right[0];
    if (right[1] != 0)
        one += first[columns[1]] * right[1];
    if (p->kind == RG_PAIR_ROW)
        return p->sign * one * scale;
    sum = p->along[0] * one;
    if (p->along[1] != 0) {
        double two = second[columns[0]] * right[0];
        if (right[1] != 0)
            two += second[columns[1]] * right[1];
        sum += p->along[1] * two;
    }
    return sum * scale;
}

/* An amount of a pair, on the rows that it acts on: its `own`, or along its direction. */
static void spread(const rg_pair *pair, size_t own, double amount, double *rows) {
    if (pair->kind == RG_PAIR_ROW) {
        rows[own] += pair->sign * amount;
    } else if (pair->kind == RG_PAIR_BETA) {
        rows[pair->row] += pair->along[0] * amount;
        if (pair->along[1] != 0)
            rows[pair->column] += pair->along[1] * amount;
    }
}

void rg_pairs_force(const rg_pairs *pairs, const double *x, bool homogeneous, double *force) {
    for (size_t i = 0; i < pairs->rows; i++)
        force[i] = homogeneous ? 0 : pairs->given[i];
    for (size_t j = 0; j < pairs->count; j++) {
        const rg_pair *pair = &pairs->pair[j];
        spread(pair, pair->column, pair->scale * pairs->unit * x[j], force);
    }
}

void rg_pairs_rows(const rg_pairs *pairs, const double *y, double *rows) {
    memset(rows, 0, pairs->rows * sizeof *rows);
    for (size_t i = 0; i < pairs->count; i++) {
        const rg_pair *pair = &pairs->pair[i];
        spread(pair, pair->row, pair->row_scale * y[i], rows);
    }
}

double rg_pairs_excess(const rg_pairs *pairs) {
    double largest = 0;
    for (size_t k = 0; k < pairs->excess; k++) {
        size_t row = pairs->excess_rows[k];
        double a = pairs->u[row] + pairs->free[row] / pairs->unit;
        largest = fmax(largest, pairs->row_scale[row] * fabs(a));
    }
    return largest;
}
