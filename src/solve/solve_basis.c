/* The quick way to contact forces: the rows that carried force a moment ago very likely still
 * do. Then the problem is a system of linear equations: forces of the active rows that make
 * their accelerations vanish, friction at its limit following the normal force. If what comes
 * out keeps all conditions, it is the answer, and the pivoting solver has nothing to do (Baraff
 * 1994 warm-starts it in the same way; this saves its bookkeeping). If not, the rows whose
 * conditions are broken change sides, all of them at once, and it is tried again: block
 * principal pivoting. If it does not end, nothing is changed, and the caller asks the solver.
 * During a step of the integrator the basis stays that of its beginning, right or not: forces
 * are then smooth, and where the basis is no longer right, the step ends.
 *
 * Tested by tests/solve/test_basis.c. */
#include "solve/solve_basis.h"

#include <math.h>
#include <string.h>

/* Relative to the largest force, to the friction bound, and to the scale of accelerations: what
 * rounding may do to a condition. */
#define FORCE_SLACK 1e-12
#define RATE_SLACK  1e-11
/* Relative: friction this near to its bound was there. */
#define AT_BOUND 1e-9
/* Of the scale of accelerations: what contacts that carry next to no force may be pulled or
 * pressed by until the end of a step. It is less than would be seen of their gaps, and where a
 * contact just opens or closes, less would be an event at every step. */
#define HARDLY 1e-6
/* A pivot smaller than this share of the largest entry: the basis is no basis. */
#define PIVOT 1e-13
/* Rounds in which all broken rows change sides, and how many of them may bring nothing. */
enum { BLOCK_ROUNDS = 12, PATIENCE = 3 };
/* Solves with a basis, each taking back what the raised diagonal did in the one before. */
enum { SOLVES = 4 };
/* Of the scale of accelerations: what the equations of rows that are held may contradict each other
 * by. Two points of a body that both stick leave it no acceleration along the line between them,
 * but as much as w^2 times their distance if slips that are too slow to count turn it. */
#define CONTRADICTION 1e-8

/* What a row does in the basis. */
enum { OFF, FREE, FOLLOWS };

typedef struct basis {
    const atomic_bool *stop; /* of the system */
    size_t count;            /* unknowns */
    uint32_t *row;           /* of each unknown, neighbours near each other */
    uint32_t *order;         /* of all rows: so that they are */
    /* Of each row, the first place in that order that it acts on, and the one behind the last;
     * of each place, how many unknowns stand before it. */
    uint32_t *from, *to, *before;
    uint8_t *state; /* per row */
    double *share;  /* per row that follows: of its normal force */
    double *factor; /* count x count; of row i the columns left[i] ... right[i] */
    uint32_t *left, *right, *last;
    uint32_t *pivots; /* row exchanges */
    double *x;
} basis;

/* In three pieces: every solve of an island comes by here. */
static bool take(rg_arena *arena, size_t n, basis *s) {
    uint32_t *places = rg_arena_take(arena, 9 * n + 1, sizeof *places);
    double *numbers = rg_arena_take(arena, (n + 2) * n, sizeof *numbers);
    s->state = rg_arena_take(arena, n, sizeof *s->state);
    if (!places || !numbers || !s->state)
        return false;
    uint32_t **lists[] = {&s->row,   &s->order,  &s->from, &s->to,    &s->left,
                          &s->right, &s->pivots, &s->last, &s->before};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        *lists[k] = places + k * n;
    s->share = numbers;
    s->x = numbers + n;
    s->factor = numbers + 2 * n;
    return true;
}

/* Reads the basis off forces. */
static void choose(const rg_direction_system *p, const double *force, basis *s) {
    for (size_t i = 0; i < p->count; i++) {
        s->share[i] = 0;
        double normal = force[p->normal[i]];
        switch (p->kinds[i]) {
        case RG_ROW_UNILATERAL:
            s->state[i] = force[i] > 0 ? FREE : OFF;
            break;
        case RG_ROW_DYNAMIC:
            s->state[i] = normal > 0 ? FOLLOWS : OFF;
            s->share[i] = p->mu[i];
            break;
        default: /* static */
            s->state[i] = !(normal > 0)                                         ? OFF
                          : fabs(force[i]) < p->mu[i] * normal * (1 - AT_BOUND) ? FREE
                                                                                : FOLLOWS;
            s->share[i] = force[i] < 0 ? -p->mu[i] : p->mu[i];
        }
    }
}

/* Rows by the larger of their bodies: along a chain of bodies those that act on each other are
 * then near each other, and the matrix has a narrow band. (Fixed bodies join nothing, and stand
 * first in most worlds.) */
static void order_rows(const rg_direction_system *p, basis *s) {
    for (size_t i = 0; i < p->count; i++)
        s->order[i] = (uint32_t)i;
    for (size_t i = 1; i < p->count; i++) {
        uint32_t moving = s->order[i];
        uint64_t key = p->rows[moving].key;
        size_t k = i;
        for (; k > 0 && p->rows[s->order[k - 1]].key > key; k--)
            s->order[k] = s->order[k - 1];
        s->order[k] = moving;
    }
}

/* How far rows reach in that order: to all that share a moving body with them. */
static void find_reach(const rg_direction_system *p, basis *s) {
    for (size_t i = 0; i < p->count; i++)
        s->before[s->order[i]] = (uint32_t)i; /* for now: the place of each row */
    for (size_t i = 0; i < p->count; i++)
        s->from[i] = s->before[i], s->to[i] = s->before[i] + 1;
    for (size_t body = 0; body < p->bodies; body++) {
        uint32_t first = UINT32_MAX, last = 0;
        for (uint32_t j = p->first[body]; j != UINT32_MAX; j = p->next[j]) {
            uint32_t place = s->before[j / 2];
            first = place < first ? place : first;
            last = place > last ? place : last;
        }
        for (uint32_t j = p->first[body]; j != UINT32_MAX; j = p->next[j]) {
            s->from[j / 2] = first < s->from[j / 2] ? first : s->from[j / 2];
            s->to[j / 2] = last + 1 > s->to[j / 2] ? last + 1 : s->to[j / 2];
        }
    }
}

static void count_unknowns(const rg_direction_system *p, basis *s) {
    s->count = 0;
    for (size_t i = 0; i < p->count; i++) {
        s->before[i] = (uint32_t)s->count;
        if (s->state[s->order[i]] == FREE)
            s->row[s->count++] = s->order[i];
    }
    s->before[p->count] = (uint32_t)s->count;
}

/* The matrix of the equations: columns of normals carry what follows them. */
static void assemble(const rg_direction_system *p, basis *s) {
    size_t n = s->count;
    memset(s->factor, 0, n * n * sizeof *s->factor);
    for (size_t i = 0; i < n; i++) {
        uint32_t row = s->row[i];
        const double *from = p->matrix + (size_t)row * p->count;
        s->left[i] = s->before[s->from[row]];
        s->right[i] = s->before[s->to[row]] - 1; /* itself at least */
        for (size_t j = s->left[i]; j <= s->right[i]; j++) {
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

static void swap_rows(basis *s, size_t i, size_t k) {
    size_t n = s->count, left = s->left[i] < s->left[k] ? s->left[i] : s->left[k];
    size_t right = s->right[i] > s->right[k] ? s->right[i] : s->right[k];
    for (size_t j = left; j <= right; j++) {
        double swap = s->factor[k * n + j];
        s->factor[k * n + j] = s->factor[i * n + j];
        s->factor[i * n + j] = swap;
    }
    uint32_t keep = s->left[i];
    s->left[i] = s->left[k], s->left[k] = keep;
    keep = s->right[i];
    s->right[i] = s->right[k], s->right[k] = keep;
}

/* Of each column, the last row that begins there. (Only rows above that are exchanged.) */
static void find_last(basis *s) {
    memset(s->last, 0, s->count * sizeof *s->last);
    for (size_t i = 0; i < s->count; i++)
        s->last[s->left[i]] = (uint32_t)i;
}

/* Gaussian elimination with row exchanges, in the band. */
static bool factorise(basis *s) {
    size_t n = s->count, bottom = 0;
    double largest = 0;
    find_last(s);
    for (size_t i = 0; i < n; i++)
        for (size_t j = s->left[i]; j <= s->right[i]; j++) {
            double entry = fabs(s->factor[i * n + j]);
            largest = largest > entry ? largest : entry;
        }
    for (size_t k = 0; k < n; k++) {
        if (s->stop && atomic_load_explicit(s->stop, memory_order_relaxed))
            return false;
        /* Below `bottom` nothing has anything to do with the columns so far. */
        bottom = s->last[k] > bottom ? s->last[k] : bottom;
        size_t best = k;
        for (size_t i = k + 1; i <= bottom; i++)
            if (fabs(s->factor[i * n + k]) > fabs(s->factor[best * n + k]))
                best = i;
        s->pivots[k] = (uint32_t)best;
        if (best != k)
            swap_rows(s, best, k);
        double pivot = s->factor[k * n + k];
        if (!(fabs(pivot) > PIVOT * largest))
            return false;
        const double *from = s->factor + k * n;
        uint32_t right = s->right[k];
        for (size_t i = k + 1; i <= bottom; i++) {
            double *to = s->factor + i * n, l = to[k] / pivot;
            to[k] = l;
            if (l == 0)
                continue;
            for (size_t j = k + 1; j <= right; j++)
                to[j] -= l * from[j];
            s->right[i] = s->right[i] > right ? s->right[i] : right;
            s->left[i] = s->left[i] < k ? s->left[i] : (uint32_t)k;
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
    for (size_t i = 0; i < n; i++) {
        const double *row = s->factor + i * n;
        double sum = x[i];
        for (size_t j = s->left[i]; j < i; j++)
            sum -= row[j] * x[j];
        x[i] = sum;
    }
    for (size_t i = n; i-- > 0;) {
        const double *row = s->factor + i * n;
        double sum = x[i];
        size_t end = (size_t)s->right[i] + 1;
        for (size_t j = i + 1; j < end; j++)
            sum -= row[j] * x[j];
        x[i] = sum / row[i];
    }
}

static void spread(const rg_direction_system *p, const basis *s, double *force) {
    memset(force, 0, p->count * sizeof *force);
    for (size_t i = 0; i < s->count; i++)
        force[s->row[i]] = s->x[i];
    for (size_t i = 0; i < p->count; i++)
        if (s->state[i] == FOLLOWS)
            force[i] = s->share[i] * force[p->normal[i]];
}

static void rates(const rg_direction_system *p, const basis *s, const double *b,
                  const double *force, double *rate) {
    for (size_t i = 0; i < p->count; i++) {
        double sum = b[i];
        const double *row = p->matrix + i * p->count;
        for (size_t j = s->from[i]; j < s->to[i]; j++)
            sum += row[s->order[j]] * force[s->order[j]];
        rate[i] = sum;
    }
}

/* A normal, with what belongs to it: on, held, or off. */
static void turn_normal(const rg_direction_system *p, basis *s, size_t normal, bool on) {
    s->state[normal] = on ? FREE : OFF;
    for (size_t k = normal + 1; k < p->count && p->normal[k] == normal; k++)
        s->state[k] = !on ? OFF : p->kinds[k] == RG_ROW_DYNAMIC ? FOLLOWS : FREE;
}

/* How many rows break their laws, and these changed to the other side; SIZE_MAX if there are no
 * numbers, or the equations were not solved. Slack is in the units of forces and rates. */
static size_t change_sides(const rg_direction_system *p, basis *s, double scale,
                           const double *force, const double *rate) {
    double largest = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (!isfinite(force[i]) || !isfinite(rate[i]))
            return SIZE_MAX;
        largest = fmax(largest, fabs(force[i]));
    }
    double little = FORCE_SLACK * largest, slow = RATE_SLACK * scale;
    for (size_t i = 0; i < s->count; i++)
        if (fabs(rate[s->row[i]]) > CONTRADICTION * scale)
            return SIZE_MAX;
    size_t broken = 0, turned = SIZE_MAX;
    for (size_t i = 0; i < p->count; i++) {
        size_t normal = p->normal[i];
        uint8_t state = s->state[i];
        bool wrong = false;
        if (p->kinds[i] == RG_ROW_UNILATERAL) {
            wrong = state == OFF ? rate[i] < -slow : force[i] < 0;
            if (wrong) {
                turn_normal(p, s, i, state == OFF);
                turned = i; /* and its tangents with it */
            }
        } else if (p->kinds[i] != RG_ROW_STATIC || normal == turned || state == OFF) {
            continue;
        } else if (state == FREE) {
            wrong = fabs(force[i]) > p->mu[i] * force[normal] + little;
            if (wrong) {
                s->state[i] = FOLLOWS;
                s->share[i] = force[i] < 0 ? -p->mu[i] : p->mu[i];
            }
        } else {
            wrong = rate[i] * s->share[i] > slow * fabs(s->share[i]);
            if (wrong)
                s->state[i] = FREE;
        }
        broken += wrong;
    }
    return broken;
}

/* Forces of the basis, and rates. The first solve is with `b`, each of the others takes back what
 * the raised diagonal did in the one before (the proximal point iteration): with q = r / (lambda +
 * r), r the raise and lambda an eigenvalue of the matrix, the k-th is off by q^k. Where rows depend
 * on each other lambda is 0, and whatever part of b contradicts that adds up, d / r in each solve:
 * a pair of forces that press against each other, as large as you like. 4 x_3 - 3 x_4 has none of
 * it, and is off by 4 q^3. */
static bool solve_basis(const rg_direction_system *p, basis *s, const double *b,
                        const double *raise, double *target, double *force, double *rate) {
    s->stop = p->stop;
    count_unknowns(p, s);
    assemble(p, s);
    if (!factorise(s))
        return false;
    memcpy(target, b, p->count * sizeof *target);
    for (int k = 0; k < SOLVES; k++) {
        for (size_t i = 0; i < s->count; i++)
            s->x[i] = -target[s->row[i]];
        substitute(s, s->x);
        for (size_t i = 0; k + 1 == SOLVES && i < s->count; i++)
            s->x[i] = 4 * force[s->row[i]] - 3 * s->x[i];
        spread(p, s, force);
        bool again = false; /* from the same right-hand side the same forces would follow */
        for (size_t i = 0; i < p->count; i++) {
            double next = p->b[i] - raise[i] * force[i];
            again |= next != target[i];
            target[i] = next;
        }
        if (!again)
            break;
    }
    rates(p, s, target, force, rate);
    return true;
}

/* How far a basis is from being broken by a row, relative; > 0 as long as it is not. `begin`:
 * forces when it was found. */
static double basis_margin(const rg_direction_system *p, const basis *s, double scale,
                           const double *begin, const double *force, const double *rate) {
    double largest = 0, margin = INFINITY;
    for (size_t i = 0; i < p->count; i++)
        largest = fmax(largest, fabs(begin[i]));
    double little = 2 * FORCE_SLACK * largest, slow = HARDLY * scale;
    for (size_t i = 0; i < p->count; i++) {
        size_t normal = p->normal[i];
        /* Forces that do next to nothing are none, too. */
        double none = little + slow / p->matrix[i * p->count + i], m = INFINITY;
        if (p->kinds[i] == RG_ROW_UNILATERAL)
            m = s->state[i] == FREE ? (force[i] + none) / (begin[i] + none)
                                    : (rate[i] + slow) / scale;
        else if (p->kinds[i] == RG_ROW_STATIC && s->state[i] == FREE)
            m = (p->mu[i] * force[normal] + none - fabs(force[i])) /
                (p->mu[i] * begin[normal] + none);
        else if (p->kinds[i] == RG_ROW_STATIC && s->state[i] == FOLLOWS)
            m = (slow - (s->share[i] < 0 ? -rate[i] : rate[i])) / scale;
        if (!isfinite(force[i]) || !isfinite(rate[i]))
            return NAN;
        margin = fmin(margin, m);
    }
    return margin;
}

bool rg_basis_keep(rg_arena *arena, const rg_direction_system *p, const double *begin,
                   const double *b, const double *raise, double scale, double *margin) {
    rg_arena_mark mark = rg_arena_get_mark(arena);
    basis s;
    double *target = rg_arena_take(arena, p->count, sizeof *target);
    bool good = false;
    if (target && take(arena, p->count, &s)) {
        order_rows(p, &s);
        find_reach(p, &s);
        choose(p, begin, &s);
        good = solve_basis(p, &s, b, raise, target, p->force, p->rate);
        if (good) {
            *margin = basis_margin(p, &s, scale, begin, p->force, p->rate);
            good = !isnan(*margin);
        }
    }
    rg_arena_return(arena, mark);
    return good;
}

bool rg_basis_try(rg_arena *arena, const rg_direction_system *p, const double *b,
                  const double *raise, double scale) {
    rg_arena_mark mark = rg_arena_get_mark(arena);
    basis s;
    double *force = rg_arena_take(arena, p->count, sizeof *force);
    double *rate = rg_arena_take(arena, p->count, sizeof *rate);
    double *target = rg_arena_take(arena, p->count, sizeof *target);
    bool good = false;
    if (force && rate && target && take(arena, p->count, &s)) {
        order_rows(p, &s);
        find_reach(p, &s);
        choose(p, p->force, &s);
        size_t fewest = SIZE_MAX;
        int patience = PATIENCE;
        for (int round = 0; round < BLOCK_ROUNDS && patience && !good; round++) {
            if (!solve_basis(p, &s, b, raise, target, force, rate))
                break;
            size_t broken = change_sides(p, &s, scale, force, rate);
            if (broken == SIZE_MAX)
                break;
            good = broken == 0;
            patience -= broken >= fewest;
            fewest = broken < fewest ? broken : fewest;
        }
    }
    for (size_t i = 0; good && i < s.count; i++)
        rate[s.row[i]] = 0; /* they are held */
    if (good) {
        memcpy(p->force, force, p->count * sizeof *force);
        memcpy(p->rate, rate, p->count * sizeof *rate);
    }
    rg_arena_return(arena, mark);
    return good;
}
