/* Lemke's complementary pivoting for the mixed problem, with bounds and friction polygons.
 *
 * Problem: pairs of a variable x in [lower, upper] and a slack s = M x + b, s >= 0 where x is at
 * its lower bound, <= 0 at the upper one, = 0 between; M general. A multiple z0 of a covering
 * vector is added to the slacks, large enough that x at its bounds is feasible; then one follows
 * the path of almost complementary points on which z0 may change, pivot by pivot, until z0 = 0
 * (Lemke 1965; Cottle, Pang and Stone 2009, 4.4). Bounds are kept by the ratio test: a variable
 * that reaches its other bound without any change of the basis makes its slack enter with the
 * opposite sign. Ties are broken lexicographically, as if the right side were b + (e, e^2, ...): no
 * cycles in exact arithmetic.
 *
 * If the path ends in a ray, its direction is returned. For semidefinite matrices it proves that
 * there is no solution (the proof, Farkas', is checked for any matrix, and then the outcome is
 * INFEASIBLE); otherwise Lemke's method decides nothing, and other covering vectors, hence other
 * paths, are tried. Copositive problems, such as friction polygons without external contradictions
 * (Stewart and Trinkle 1996; Anitescu and Potra 1997), end in a solution with the first.
 *
 * The matrix of a polygon is not formed (solve_lemke_pairs.c); only the part of the basis that is
 * not trivial is factored (solve_lemke_basis.c). At the end the basis is factored afresh and its
 * solution refined with residuals in numbers of two doubles.
 *
 * How it fails: RAY (undecided), LIMIT (pivots), SINGULAR (a basis lost in rounding); all after the
 * last covering vector. The warm start is not used: a path starts at its own beginning. */
#include "solve/solve_lemke.h"

#include "base/base_long.h"
#include "base/base_math.h"
#include "problem/problem.h"
#include "rigor/random.h"

#include <stdio.h>
#include <string.h>

/* All of these are relative to equilibrated, scaled numbers: entries of M, b of about 1. */
#define FEASIBLE         1e-13 /* slack violations below this need no path */
#define PIVOT_TOLERANCE  1e-9  /* a rate below this, relative to the largest one, does not block */
#define TIE_TOLERANCE    1e-11 /* distance to a bound that counts as having reached it */
#define END_TOLERANCE    1e-9  /* share of z0 left at the step that counts as none: the path ends */
#define NOTHING_LEFT     1e-15 /* a z0 below this is none */
#define ACCEPTED         1e-9  /* residual at the end of a path; above it, lost in rounding */
#define PARTNER_PIVOT    1e-6  /* a dependent equation with such a pivot needs no partner */
#define SINGULAR_PARTNER 1e-10 /* determinant of equation and partner that counts as zero */
#define TIE_PIVOT        1e-4  /* among ties, rates below this share of the largest are not used */
#define LEXICOGRAPHIC    1e-9  /* differences of perturbed ratios below this are ties again */
#define RESIDUAL_GOOD    1e-12 /* of a direction: better needs no refinement */
#define RESIDUAL_BAD     1e-7  /* of a direction after refinement: the inverse has aged */
#define FARKAS           1e-9  /* rounding that the proof of infeasibility may contain */
#define FARKAS_REACH     1e12  /* scaled forces that a proof must rule out: larger have no digits */

enum {
    REFRESH_PIVOTS = 16,   /* values are recomputed from the basis after so many pivots */
    REFACTOR_UPDATES = 64, /* the inverse after so many updates */
    POLISH_STEPS = 3,
    COVERS = 6,        /* covering vectors that are tried */
    LIMIT_BASE = 1000, /* pivots allowed on all paths together: base + per pair */
    LIMIT_PER_PAIR = 50
};
#define NONE UINT32_MAX

typedef enum pair_state { AT_LOWER, AT_UPPER, IN_BASIS } pair_state;

/* What leaves or enters: a variable (the artificial one has index pairs.count) or a slack. */
typedef struct actor {
    bool slack;
    uint32_t index;
    double sign; /* entering: direction. leaving: -1 at the lower bound, +1 at the upper one */
} actor;

typedef struct path {
    rg_pairs pairs;
    rg_lemke_basis basis;
    size_t count; /* pairs */
    double *cover;
    uint8_t *state;
    double *x, *s, *dx, *ds; /* x and dx with the artificial variable at the end */
    double *right, *out;     /* by position */
    double *perturbation;    /* sign of the lexicographic term of each row */
    actor *ties;
    double *ratios;
    uint64_t pivots, limit;
    bool broken; /* a basis became singular */
} path;

/* --- values and directions -------------------------------------------------------------------- */

/* All slacks of x (the artificial variable included). */
static void slacks_of(path *p, const double *x, bool with_b, double *s) {
    rg_pairs_apply(&p->pairs, x, s);
    double z0 = x[p->count];
    for (size_t i = 0; i < p->count; i++) {
        if (with_b)
            s[i] += p->pairs.b[i];
        if (z0 != 0)
            s[i] += z0 * p->cover[i];
    }
}

/* Moves the basic variables so that the slacks of the basis's rows vanish. */
static void correct(path *p, const double *s, double *x) {
    for (size_t k = 0; k < p->basis.size; k++)
        p->right[k] = -s[p->basis.rows[k]];
    rg_lemke_basis_solve(&p->basis, p->right, p->out);
    for (size_t k = 0; k < p->basis.size; k++)
        x[p->basis.columns[k]] += p->out[k];
}

static void compute_values(path *p) {
    for (size_t j = 0; j < p->count; j++) {
        const rg_pair *pair = &p->pairs.pair[j];
        p->x[j] = p->state[j] == AT_LOWER ? pair->lower : p->state[j] == AT_UPPER ? pair->upper : 0;
    }
    p->x[p->count] = 0;
    for (int step = 0; step < 2; step++) {
        slacks_of(p, p->x, true, p->s);
        correct(p, p->s, p->x);
    }
    slacks_of(p, p->x, true, p->s);
    for (size_t k = 0; k < p->basis.size; k++)
        p->s[p->basis.rows[k]] = 0;
}

static bool refactor(path *p) {
    if (!rg_lemke_basis_factor(&p->basis)) {
        p->broken = true;
        return false;
    }
    compute_values(p);
    return true;
}

/* How all basics change when `in` moves by one unit in its direction. False: the inverse is too
 * old. */
static bool compute_direction(path *p, actor in) {
    memset(p->dx, 0, (p->count + 1) * sizeof *p->dx);
    if (!in.slack)
        p->dx[in.index] = in.sign;
    double largest = 1, residual = 0;
    for (int step = 0; step < 3; step++) {
        slacks_of(p, p->dx, false, p->ds);
        if (in.slack)
            p->ds[in.index] -= in.sign;
        residual = 0;
        for (size_t k = 0; k < p->basis.size; k++)
            residual = fmax(residual, fabs(p->ds[p->basis.rows[k]]));
        if (step > 0 && residual <= RESIDUAL_GOOD * largest)
            break;
        if (step == 2)
            break;
        correct(p, p->ds, p->dx);
        for (size_t k = 0; k < p->basis.size; k++)
            largest = fmax(largest, fabs(p->dx[p->basis.columns[k]]));
    }
    for (size_t k = 0; k < p->basis.size; k++)
        p->ds[p->basis.rows[k]] = 0;
    if (in.slack)
        p->ds[in.index] = in.sign;
    return residual <= RESIDUAL_BAD * largest;
}

/* --- ratio test ------------------------------------------------------------------------------- */

static double rate_of(const path *p, actor a) {
    return a.slack ? p->ds[a.index] : p->dx[a.index];
}

static void bounds_of(const path *p, actor a, double *lower, double *upper) {
    *lower = 0;
    *upper = INFINITY;
    if (a.slack && p->state[a.index] == AT_UPPER) {
        *lower = -INFINITY;
        *upper = 0;
    } else if (!a.slack && a.index < p->count) {
        *lower = p->pairs.pair[a.index].lower;
        *upper = p->pairs.pair[a.index].upper;
    }
}

/* Distance to the bound that the basic moves towards (infinite if none); its side in a->sign. */
static double room_of(const path *p, actor *a) {
    double lower, upper, rate = rate_of(p, *a);
    bounds_of(p, *a, &lower, &upper);
    double value = a->slack ? p->s[a->index] : p->x[a->index];
    a->sign = rate > 0 ? 1 : -1;
    return fmax(0, rate > 0 ? upper - value : value - lower);
}

/* Calls for every basic: those of the factored part, then the slacks. */
static bool next_basic(const path *p, size_t *cursor, actor *a) {
    while (*cursor < p->basis.size + p->count) {
        size_t k = (*cursor)++;
        if (k < p->basis.size) {
            *a = (actor){false, p->basis.columns[k], 0};
            return true;
        }
        if (p->basis.row_at[k - p->basis.size] == NONE) {
            *a = (actor){true, (uint32_t)(k - p->basis.size), 0};
            return true;
        }
    }
    return false;
}

/* Keeps of the ties those whose ratio grows least under the perturbation of row c. */
static size_t keep_least(path *p, size_t count, size_t c) {
    uint32_t q = p->basis.row_at[c];
    double sign = p->perturbation[c], least = INFINITY;
    const rg_lemke_basis *basis = &p->basis;
    for (size_t t = 0; t < count; t++) {
        actor a = p->ties[t];
        double change = 0;
        if (q == NONE)
            change = a.slack && a.index == c ? sign : 0;
        else if (!a.slack)
            change = -sign * basis->inverse[basis->column_at[a.index] * basis->capacity + q];
        else
            for (size_t k = 0; k < basis->size; k++)
                change -= sign * rg_lemke_basis_entry(basis, a.index, basis->columns[k]) *
                          basis->inverse[k * basis->capacity + q];
        p->ratios[t] = -change / rate_of(p, a);
        least = fmin(least, p->ratios[t]);
    }
    size_t kept = 0;
    for (size_t t = 0; t < count; t++)
        if (p->ratios[t] <= least + LEXICOGRAPHIC * fmax(1, fabs(least)))
            p->ties[kept++] = p->ties[t];
    return kept;
}

static actor break_ties(path *p, size_t count) {
    double largest = 0;
    size_t kept = 0;
    for (size_t t = 0; t < count; t++) {
        if (!p->ties[t].slack && p->ties[t].index == p->count)
            return p->ties[t]; /* the end of the path */
        largest = fmax(largest, fabs(rate_of(p, p->ties[t])));
    }
    for (size_t t = 0; t < count; t++)
        if (fabs(rate_of(p, p->ties[t])) >= TIE_PIVOT * largest)
            p->ties[kept++] = p->ties[t];
    for (size_t c = 0; c < p->count && kept > 1; c++)
        if (p->perturbation[c] != 0)
            kept = keep_least(p, kept, c);
    return p->ties[0];
}

/* Does the basic take part in the ratio test? The scale of the artificial variable is its own, and
 * a path may end while everything else moves much faster; but a rate that is mere rounding must not
 * end a ray, so that a slow one counts only for steps that others bound (`bounded`). */
static bool may_block(const path *p, actor a, double largest, bool bounded) {
    double rate = rate_of(p, a);
    if (!a.slack && a.index == p->count && bounded)
        return rate < 0;
    return fabs(rate) > PIVOT_TOLERANCE * largest;
}

static bool is_tied(const path *p, actor a, double step, double room) {
    double left = room - step * fabs(rate_of(p, a));
    if (!a.slack && a.index == p->count)
        return left <= fmax(END_TOLERANCE * room, NOTHING_LEFT);
    return left <= TIE_TOLERANCE;
}

/* False: nothing blocks, a ray. A leaving actor equal to `in` means that it reached its other
 * bound. */
static bool find_leaving(path *p, actor in, actor *out, double *step) {
    double largest = 1, least = INFINITY;
    actor a, first = in;
    for (size_t c = 0; next_basic(p, &c, &a);)
        largest = fmax(largest, fabs(rate_of(p, a)));
    for (int pass = 0; pass < 2; pass++)
        for (size_t c = 0; next_basic(p, &c, &a);)
            if (may_block(p, a, largest, least < INFINITY)) {
                double ratio = room_of(p, &a) / fabs(rate_of(p, a));
                if (ratio < least)
                    least = ratio, first = a;
            }
    double other = INFINITY;
    if (!in.slack && in.index < p->count)
        other = p->pairs.pair[in.index].upper - p->pairs.pair[in.index].lower;
    if (!(least < INFINITY) && !(other < INFINITY))
        return false;
    if (other <= least) {
        *out = (actor){false, in.index, in.sign};
        *step = other;
        return true;
    }
    size_t count = 0;
    for (size_t c = 0; next_basic(p, &c, &a);)
        if (may_block(p, a, largest, true)) {
            double room = room_of(p, &a);
            if (is_tied(p, a, least, room))
                p->ties[count++] = a;
        }
    /* Where there is much room, its rounding exceeds the tolerance of ties, and none is found. */
    *out = count == 0 ? first : count == 1 ? p->ties[0] : break_ties(p, count);
    *step = least;
    return true;
}

/* --- pivots ----------------------------------------------------------------------------------- */

static rg_status exchange(path *p, actor in, actor out, rg_error *error) {
    bool regular = true;
    rg_status status = RG_OK;
    if (!in.slack && !out.slack)
        regular = rg_lemke_basis_replace_column(&p->basis, out.index, in.index);
    else if (!in.slack)
        status = rg_lemke_basis_grow(&p->basis, in.index, out.index, &regular, error);
    else if (!out.slack)
        regular = rg_lemke_basis_shrink(&p->basis, out.index, in.index);
    else
        regular = rg_lemke_basis_replace_row(&p->basis, in.index, out.index);
    if (status != RG_OK)
        return status;
    if (!in.slack && in.index < p->count)
        p->state[in.index] = IN_BASIS;
    if (!out.slack && out.index < p->count)
        p->state[out.index] = out.sign < 0 ? AT_LOWER : AT_UPPER;
    p->pivots++;
    if (!regular || p->basis.updates >= REFACTOR_UPDATES)
        refactor(p);
    else if (p->pivots % REFRESH_PIVOTS == 0)
        compute_values(p);
    return RG_OK;
}

static void move(path *p, double step) {
    for (size_t j = 0; j <= p->count; j++)
        p->x[j] += step * p->dx[j];
    for (size_t i = 0; i < p->count; i++)
        p->s[i] += step * p->ds[i];
}

/* The partner of what left enters. */
static actor complement(const path *p, actor out) {
    if (!out.slack) /* at its lower bound the slack may grow, at the upper one fall */
        return (actor){true, out.index, -out.sign};
    return (actor){false, out.index, p->state[out.index] == AT_UPPER ? -1 : 1};
}

/* --- the path --------------------------------------------------------------------------------- */

/* y = inverse M_Rj, by position. */
static void column_of(path *p, size_t j, double *y) {
    for (size_t k = 0; k < p->basis.size; k++)
        p->right[k] = rg_pairs_entry(&p->pairs, p->basis.rows[k], j);
    rg_lemke_basis_solve(&p->basis, p->right, y);
}

/* M_ij - M_iK inverse M_Rj. */
static double reduced_entry(const path *p, size_t i, size_t j, const double *y) {
    double sum = rg_pairs_entry(&p->pairs, i, j);
    for (size_t k = 0; k < p->basis.size; k++)
        sum -= rg_pairs_entry(&p->pairs, i, p->basis.columns[k]) * y[k];
    return sum;
}

static bool is_waiting(const path *p, size_t e) {
    return p->pairs.pair[e].equation && p->basis.row_at[e] == NONE;
}

/* Equations may swap their unknowns. */
static void swap_unknowns(path *p, size_t e, size_t f) {
    rg_pair *a = &p->pairs.pair[e], *b = &p->pairs.pair[f], t = *a;
    a->column = b->column, a->scale = b->scale;
    b->column = t.column, b->scale = t.scale;
}

/* How regular the 2 x 2 block of the reduced matrix is that equation e, unknown f and pair j make
 * (f at e: without j). `own`, `other`: the columns of f and j. */
static double block_score(path *p, size_t e, size_t f, const double *own, size_t j,
                          const double *other) {
    double corner = reduced_entry(p, e, f, own), up = reduced_entry(p, e, j, other);
    double left = reduced_entry(p, j, f, own), diagonal = reduced_entry(p, j, j, other);
    double size = fmax(1, fmax(fabs(diagonal), fmax(fabs(up), fabs(left))));
    return fabs(corner * diagonal - up * left) / size;
}

/* Takes one dependent equation into the basis: with an unknown of its own if the partners that came
 * before it have made that regular, otherwise with an unknown f and a pair j. `vary`: by chance
 * among the regular choices, so that other starts can be tried. False if there is none. */
static bool add_dependent(path *p, uint32_t e, rg_random *random, bool vary, rg_status *status,
                          rg_error *error) {
    double *own = p->x, *other = p->s; /* not in use before the start */
    double best = 0;
    uint32_t partner = NONE, unknown = e;
    for (uint32_t f = 0; f < p->count; f++) {
        if (!is_waiting(p, f))
            continue;
        column_of(p, f, own);
        if (fabs(reduced_entry(p, e, f, own)) > PARTNER_PIVOT) {
            unknown = f;
            partner = NONE;
            best = 1;
            break;
        }
        for (uint32_t j = 0; j < p->count; j++) {
            const rg_pair *pair = &p->pairs.pair[j];
            if (p->basis.row_at[j] != NONE || !isfinite(pair->lower) || isfinite(pair->upper))
                continue;
            column_of(p, j, other);
            double score = block_score(p, e, f, own, j, other);
            if (vary && score > SINGULAR_PARTNER)
                score *= rg_random_between(random, 0.01, 1);
            if (score > best) {
                best = score;
                partner = j;
                unknown = f;
            }
        }
    }
    if (best <= SINGULAR_PARTNER)
        return false;
    swap_unknowns(p, e, unknown);
    *status = rg_lemke_basis_add(&p->basis, e, e, error);
    if (*status == RG_OK && partner != NONE) {
        *status = rg_lemke_basis_add(&p->basis, partner, partner, error);
        p->state[partner] = IN_BASIS;
    }
    return *status == RG_OK && rg_lemke_basis_factor(&p->basis);
}

/* The complementary basis at the beginning: equations, and where they need it, forces. */
static rg_status start_basis(path *p, rg_random *random, bool vary, rg_error *error) {
    rg_status status = RG_OK;
    rg_lemke_basis_clear(&p->basis);
    for (size_t j = 0; j < p->count && status == RG_OK; j++) {
        const rg_pair *pair = &p->pairs.pair[j];
        bool upper = !isfinite(pair->lower) || fabs(pair->upper) < fabs(pair->lower);
        p->state[j] = pair->equation ? IN_BASIS : upper ? AT_UPPER : AT_LOWER;
        if (pair->equation && !pair->dependent)
            status = rg_lemke_basis_add(&p->basis, (uint32_t)j, (uint32_t)j, error);
    }
    p->broken = status != RG_OK || !rg_lemke_basis_factor(&p->basis);
    for (size_t j = 0; j < p->count && !p->broken; j++)
        if (p->pairs.pair[j].equation && p->pairs.pair[j].dependent)
            p->broken = !add_dependent(p, (uint32_t)j, random, vary, &status, error);
    return status;
}

/* The covering vector: along it, every slack of the start moves by `size` into its region, and so
 * does every force in its basis. The first one is 1 in scaled rows; the others are spread over two
 * decades. */
static void set_cover(path *p, int cover, rg_random *random) {
    p->dx[p->count] = 0;
    for (size_t j = 0; j < p->count; j++) {
        double spread = rg_random_between(random, -1, 1);
        double size = cover == 0 ? 1 : spread >= 0 ? 1 + 9 * spread : 1 / (1 - 9 * spread);
        bool basic = p->state[j] == IN_BASIS;
        p->dx[j] = basic && !p->pairs.pair[j].equation ? size : 0;
        p->perturbation[j] = p->state[j] == AT_UPPER ? -1 : p->pairs.pair[j].equation ? 0 : 1;
        p->cover[j] = basic ? 0 : p->perturbation[j] * size;
    }
    rg_pairs_apply(&p->pairs, p->dx, p->ds);
    for (size_t j = 0; j < p->count; j++)
        p->cover[j] -= p->ds[j];
}

static rg_status start(path *p, int cover, rg_error *error) {
    rg_random random = rg_random_make((uint64_t)cover);
    rg_status status = start_basis(p, &random, cover > 0, error);
    if (status == RG_OK && !p->broken) {
        set_cover(p, cover, &random);
        compute_values(p);
    }
    return status;
}

/* What needs the largest multiple of the covering vector; of equals the last, which is the
 * lexicographic rule here. dx and ds are the directions under it. */
static double find_worst(path *p, actor *worst) {
    double largest = 0;
    slacks_of(p, p->dx, false, p->ds);
    for (size_t j = 0; j < p->count; j++) {
        double gain = 0, lack = 0;
        bool slack = p->basis.row_at[j] == NONE;
        if (slack) {
            gain = fabs(p->ds[j] + p->cover[j]);
            lack = p->state[j] == AT_UPPER ? p->s[j] : -p->s[j];
        } else if (!p->pairs.pair[j].equation) {
            gain = p->dx[j];
            lack = p->pairs.pair[j].lower - p->x[j];
        }
        if (lack > FEASIBLE && lack / gain >= largest - TIE_TOLERANCE) {
            largest = fmax(largest, lack / gain);
            *worst = (actor){slack, (uint32_t)j, -1};
        }
    }
    return largest;
}

/* Follows one path. RG_SOLVED, RAY (dx is its direction), LIMIT or SINGULAR. */
static rg_status follow(path *p, int cover, rg_solve_outcome *outcome, rg_error *error) {
    actor in = {false, (uint32_t)p->count, 1}, out = in;
    rg_status status = start(p, cover, error);
    *outcome = RG_SOLVED;
    if (status != RG_OK || (!p->broken && find_worst(p, &out) == 0))
        return status;
    if (!p->broken)
        status = exchange(p, in, out, error);
    if (!p->broken && status == RG_OK)
        compute_values(p);
    while (status == RG_OK && !p->broken) {
        double step;
        in = complement(p, out);
        if (p->pivots >= p->limit || rg_solve_stops(p->basis.context)) {
            *outcome = RG_SOLVE_LIMIT;
            return RG_OK;
        }
        if (!compute_direction(p, in) && (!refactor(p) || !compute_direction(p, in)))
            break;
        if (!find_leaving(p, in, &out, &step)) {
            *outcome = RG_SOLVE_RAY;
            return RG_OK;
        }
        move(p, step);
        if (!out.slack && out.index == in.index && !in.slack) {
            p->state[in.index] = out.sign > 0 ? AT_UPPER : AT_LOWER;
            p->pivots++;
            continue;
        }
        status = exchange(p, in, out, error);
        if (!out.slack && out.index == p->count)
            return status;
    }
    *outcome = RG_SOLVE_SINGULAR;
    return status;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Residual of the rows of the basis in numbers of two doubles. */
static void long_residual(path *p, double *rest) {
    for (size_t k = 0; k < p->basis.size; k++) {
        size_t i = p->basis.rows[k];
        rg_long sum = rg_long_of(p->pairs.b[i]);
        for (size_t j = 0; j < p->count; j++)
            if (p->x[j] != 0)
                sum = rg_long_add(sum, rg_long_product(rg_pairs_entry(&p->pairs, i, j), p->x[j]));
        rest[k] = -rg_long_round(sum);
    }
}

/* Largest distance of a pair from complementarity, at x. */
static double residual_at(path *p, const double *x) {
    double worst = 0;
    slacks_of(p, x, true, p->ds);
    for (size_t j = 0; j < p->count; j++) {
        const rg_pair *pair = &p->pairs.pair[j];
        /* |x - P(x - s)|, without the cancellation where x is huge */
        double to = x[j] - p->ds[j];
        double off = to < pair->lower   ? x[j] - pair->lower
                     : to > pair->upper ? x[j] - pair->upper
                                        : p->ds[j];
        worst = fabs(off) <= worst ? worst : fabs(off);
    }
    return fmax(worst, rg_pairs_excess(&p->pairs));
}

static void put_within_bounds(const path *p, double *x) {
    for (size_t j = 0; j < p->count; j++)
        x[j] = fmin(fmax(x[j], p->pairs.pair[j].lower), p->pairs.pair[j].upper);
    x[p->count] = 0;
}

/* The final basis once more: fresh factor, refinement. If that basis is worse than the point at
 * which the path ended (it may be almost singular where several pairs vanish together), the point
 * stays. Returns the residual. */
static double polish(path *p) {
    put_within_bounds(p, p->x);
    memcpy(p->dx, p->x, (p->count + 1) * sizeof *p->x);
    double before = residual_at(p, p->dx), after = INFINITY;
    if (refactor(p)) {
        for (int step = 0; step < POLISH_STEPS; step++) {
            long_residual(p, p->right);
            rg_lemke_basis_solve(&p->basis, p->right, p->out);
            for (size_t k = 0; k < p->basis.size; k++)
                p->x[p->basis.columns[k]] += p->out[k];
        }
        put_within_bounds(p, p->x);
        after = residual_at(p, p->x);
    }
    if (!(after <= before))
        memcpy(p->x, p->dx, (p->count + 1) * sizeof *p->x);
    return fmin(before, after);
}

/* Farkas: y = the ray proves that there are no forces at all if y'(M x + b) < 0 for every x within
 * its bounds, although y is of the sign that the slacks must have. */
static bool proves_infeasible(const path *p, const double *y) {
    double value = 0, size = 0, dropped = 0;
    for (size_t j = 0; j < p->count; j++)
        size = fmax(size, fabs(y[j]));
    if (!(size > 0))
        return false;
    for (size_t j = 0; j < p->count; j++) {
        const rg_pair *pair = &p->pairs.pair[j];
        bool low = isfinite(pair->lower), high = isfinite(pair->upper);
        if ((low && high && fabs(y[j]) > FARKAS * size) || (low && y[j] < -FARKAS * size) ||
            (high && y[j] > FARKAS * size))
            return false;
        double column = 0;
        for (size_t i = 0; i < p->count; i++)
            if (y[i] != 0)
                column += rg_pairs_entry(&p->pairs, i, j) * y[i];
        value += p->pairs.b[j] * y[j];
        if (fabs(column) <= FARKAS * size) {
            dropped = fmax(dropped, fabs(column));
            continue;
        }
        if (column > 0 ? !high : !low)
            return false;
        value += column * (column > 0 ? pair->upper : pair->lower);
    }
    /* What was taken for zero leaves forces of -value / dropped possible: a heavy body on a light
     * one looks like a ray. */
    return value < -FARKAS * size && FARKAS_REACH * dropped <= -value;
}

static void follow_dynamic(const rg_problem *problem, double *force) {
    if (problem->kind != RG_PROBLEM_LINEAR)
        return;
    const rg_linear_problem *l = &problem->linear;
    for (size_t i = 0; i < l->size; i++)
        if (rg_row_kind_at(l, i) == RG_ROW_DYNAMIC)
            force[i] = l->mu[i] * force[l->normal[i]];
}

static void write_forces(const path *p, const rg_problem *problem, const double *x,
                         bool homogeneous, double *force) {
    rg_pairs_force(&p->pairs, x, homogeneous, force);
    follow_dynamic(problem, force);
}

/* A path that found nothing: the point where it ended, if it is better than no forces at all. */
static void write_failure(path *p, const rg_problem *problem, double *force) {
    bool usable = !p->broken;
    double ended = INFINITY;
    memcpy(p->dx, p->x, (p->count + 1) * sizeof *p->x);
    for (size_t j = 0; j < p->count; j++)
        usable = usable && isfinite(p->x[j]);
    if (usable) {
        put_within_bounds(p, p->dx);
        ended = residual_at(p, p->dx);
    }
    memset(p->x, 0, (p->count + 1) * sizeof *p->x);
    put_within_bounds(p, p->x);
    bool better = ended < residual_at(p, p->x);
    write_forces(p, problem, better ? p->dx : p->x, false, force);
}

/* The proof as multipliers of the problem's rows. */
static void write_proof(const path *p, const rg_problem *problem, double *ray) {
    rg_pairs_rows(&p->pairs, p->dx, ray);
    follow_dynamic(problem, ray);
}

static rg_status take_path(path *p, rg_solve_context *context, const rg_solve_settings *settings,
                           rg_error *error) {
    size_t n = p->count = p->pairs.count;
    RG_TAKE(p->cover, context, n + 1, error);
    RG_TAKE(p->state, context, n + 1, error);
    RG_TAKE(p->x, context, n + 1, error);
    RG_TAKE(p->dx, context, n + 1, error);
    RG_TAKE(p->s, context, n + 1, error);
    RG_TAKE(p->ds, context, n + 1, error);
    RG_TAKE(p->right, context, n + 1, error);
    RG_TAKE(p->out, context, n + 1, error);
    RG_TAKE(p->perturbation, context, n + 1, error);
    RG_TAKE(p->ties, context, 2 * n + 1, error);
    RG_TAKE(p->ratios, context, 2 * n + 1, error);
    p->limit = settings->iteration_limit ? settings->iteration_limit
                                         : LIMIT_BASE + (uint64_t)LIMIT_PER_PAIR * n;
    return rg_lemke_basis_make(&p->basis, context, &p->pairs, p->cover, error);
}

static void explain(rg_solve_report *report, rg_solve_outcome outcome, int covers) {
    report->outcome = outcome;
    const char *text = "";
    if (outcome == RG_SOLVE_RAY)
        text = "every path ended in a ray: no solution was found, and none is excluded";
    else if (outcome == RG_SOLVE_LIMIT)
        text = "the pivots ran out";
    else if (outcome == RG_SOLVE_SINGULAR)
        text = "a basis became singular to working precision";
    else if (outcome == RG_SOLVE_INFEASIBLE)
        text = "no forces meet the inequalities: the ray is the combination of rows that proves it "
               "(Farkas)";
    if (outcome == RG_SOLVED && covers > 1)
        snprintf(report->text, sizeof report->text,
                 "covering vector %d of %d; the paths before it ended without a solution", covers,
                 (int)COVERS);
    else
        snprintf(report->text, sizeof report->text, "%s", text);
}

/* Tries covering vectors until a path ends in a solution or in a proof that there is none. */
static rg_status try_covers(path *p, const rg_problem *problem, rg_solution *solution,
                            rg_solve_report *report, rg_error *error) {
    rg_solve_outcome first = RG_SOLVED, outcome = RG_SOLVED;
    int cover = 0;
    for (; cover < COVERS; cover++) {
        rg_status status = follow(p, cover, &outcome, error);
        if (status != RG_OK)
            return status;
        if (outcome == RG_SOLVED) {
            if (polish(p) <= ACCEPTED)
                break;
            outcome = RG_SOLVE_SINGULAR;
        }
        bool proof = outcome == RG_SOLVE_RAY && proves_infeasible(p, p->dx);
        if (solution->ray && proof)
            write_proof(p, problem, solution->ray);
        else if (solution->ray && outcome == RG_SOLVE_RAY && cover == 0)
            write_forces(p, problem, p->dx, true, solution->ray);
        if (cover == 0) {
            first = outcome;
            write_failure(p, problem, solution->force);
        }
        if (proof)
            outcome = first = RG_SOLVE_INFEASIBLE;
        if (proof || p->pivots >= p->limit)
            break;
    }
    if (outcome == RG_SOLVED)
        write_forces(p, problem, p->x, false, solution->force);
    report->iterations = p->pivots;
    report->factorisations = p->basis.factorisations;
    explain(report, outcome == RG_SOLVED ? outcome : first, cover + 1);
    return RG_OK;
}

/* --- the solver ------------------------------------------------------------------------------- */

static bool is_round(const rg_contact_problem *c) {
    if (c->dimension < 3 || c->directions > 0 || !c->mu)
        return false;
    for (size_t i = 0; i < c->contacts; i++)
        if (c->mu[i] > 0)
            return true;
    return false;
}

static rg_status solve_lemke(rg_solve_context *context, const rg_problem *problem,
                             const rg_solve_settings *settings, rg_solution *solution,
                             rg_solve_report *report, rg_error *error) {
    rg_conversion condensed;
    if (problem->kind == RG_PROBLEM_CONTACT && is_round(&problem->contact)) {
        report->outcome = RG_SOLVE_UNSUITABLE;
        snprintf(report->text, sizeof report->text,
                 "lemke takes friction polygons (directions > 0), not the exact cone in space");
        return RG_OK;
    }
    if (problem->kind == RG_PROBLEM_CONTACT && problem->contact.form == RG_FORM_GLOBAL) {
        rg_status status = rg_convert(context, problem, RG_CONVERT_CONDENSE, &condensed, error);
        if (status != RG_OK)
            return status;
        problem = &condensed.problem;
    }
    path p = {0};
    bool consistent;
    rg_status status =
        rg_pairs_make(&p.pairs, context, problem, false, &consistent, solution->ray, error);
    if (status != RG_OK)
        return status;
    if (!consistent) {
        memset(solution->force, 0, p.pairs.rows * sizeof *solution->force);
        report->outcome = RG_SOLVE_INFEASIBLE;
        snprintf(report->text, sizeof report->text,
                 "equations contradict each other: the ray is the combination of rows that says "
                 "0 = something");
        return RG_OK;
    }
    status = take_path(&p, context, settings, error);
    if (status == RG_OK)
        status = try_covers(&p, problem, solution, report, error);
    bool undecided = report->outcome != RG_SOLVED && report->outcome != RG_SOLVE_INFEASIBLE;
    if (status != RG_OK || !undecided || p.pairs.dependent == 0)
        return status;
    /* Once more with the dependent equations split. */
    rg_solve_report first = *report;
    status = rg_pairs_make(&p.pairs, context, problem, true, &consistent, NULL, error);
    if (status == RG_OK)
        status = take_path(&p, context, settings, error);
    if (status == RG_OK)
        status = try_covers(&p, problem, solution, report, error);
    report->factorisations += first.factorisations;
    return status;
}

const rg_solver rg_solver_lemke = {
    "lemke",
    "complementary pivoting, lexicographic: any matrix, bounds, equations, friction polygons",
    RG_ACCEPT_LINEAR | RG_ACCEPT_FRICTION | RG_ACCEPT_LOCAL | RG_ACCEPT_GLOBAL | RG_ACCEPT_POLYGON,
    solve_lemke};
