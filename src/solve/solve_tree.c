/* Joints that form a tree, in linear time.
 *
 *     (M  J') ( v)   (M v_free)
 *     (J -C ) (-r) = (   -q   )
 *
 * is factored by eliminating bodies from the leaves to the root, each followed by the rows that
 * join it with its parent or the world, which fills in nothing (D. Baraff, "Linear-time dynamics
 * using Lagrange multipliers", SIGGRAPH 1996, section 6). With the articulated mass M_b = L L' of a
 * body, Y = L^-1 J_b' and S = Y' Y + C of its rows, the parent's mass grows by J_p' S^-1 J_p: all
 * pivots are symmetric and positive definite.
 *
 * How it fails: loops, rows that depend on each other, more than ROWS_MOST rows of a body; others
 * take the problem then. Tested by tests/solve/test_tree.c. */
#include "solve/solve_tree.h"

#include "base/base_small.h"

#include <math.h>
#include <string.h>

/* Rows of a body with its parent and the world together. */
enum { ROWS_MOST = 18 };
/* Of its diagonal entry: a pivot below is of a row that depends on others. */
#define DEPENDENT 1e-12

bool rg_tree_takes(const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    if (problem->kind != RG_PROBLEM_CONTACT || p->contacts > 0 || p->joints == 0 ||
        p->form != RG_FORM_GLOBAL)
        return false;
    for (size_t j = 0; j < p->joints && (p->lower || p->upper); j++)
        if ((p->lower && isfinite(p->lower[j])) || (p->upper && isfinite(p->upper[j])))
            return false;
    return true;
}

/* --- the tree --------------------------------------------------------------------------------- */

static uint32_t other_end(const rg_global_form *g, uint32_t row, uint32_t body) {
    const uint32_t *ends = g->joint_blocks + 2 * row;
    return ends[0] == body ? ends[1] : ends[0];
}

/* Rows between the same two bodies, one after the other, such as those of a joint, are a link; of
 * each body all links, both ends counted. */
typedef struct links {
    size_t count;
    uint32_t *row;    /* count + 1: where each begins */
    uint32_t *starts; /* bodies + 1, into */
    uint32_t *of_body;
    uint8_t *seen; /* bodies of the tree so far */
} links;

static void list_links(const rg_contact_problem *p, links *l) {
    const rg_global_form *g = &p->global;
    const uint32_t *ends = g->joint_blocks;
    memset(l->starts, 0, (g->blocks + 1) * sizeof *l->starts);
    memset(l->seen, 0, g->blocks);
    l->count = 0;
    for (uint32_t j = 0; j < p->joints; j++)
        if (j == 0 || ends[2 * j] != ends[2 * j - 2] || ends[2 * j + 1] != ends[2 * j - 1])
            l->row[l->count++] = j;
    l->row[l->count] = (uint32_t)p->joints;
    for (size_t k = 0; k < 2 * l->count; k++)
        if (ends[2 * l->row[k / 2] + k % 2] != RG_NO_BLOCK)
            l->starts[ends[2 * l->row[k / 2] + k % 2] + 1]++;
    for (size_t b = 0; b < g->blocks; b++)
        l->starts[b + 1] += l->starts[b];
    for (size_t k = 0; k < 2 * l->count; k++)
        if (ends[2 * l->row[k / 2] + k % 2] != RG_NO_BLOCK)
            l->of_body[l->starts[ends[2 * l->row[k / 2] + k % 2]]++] = (uint32_t)(k / 2);
    for (size_t b = g->blocks; b > 0; b--)
        l->starts[b] = l->starts[b - 1];
    l->starts[0] = 0;
}

/* Parents, breadth first from `root`; false: a loop. `order` has `count` bodies so far. */
static bool spread(rg_tree *t, const links *l, uint32_t root, size_t *count) {
    size_t next = *count;
    t->order[(*count)++] = root;
    t->parent[root] = RG_NO_BLOCK;
    l->seen[root] = 1;
    for (; next < *count; next++) {
        uint32_t body = t->order[next];
        for (uint32_t k = l->starts[body]; k < l->starts[body + 1]; k++) {
            uint32_t other = other_end(&t->problem->global, l->row[l->of_body[k]], body);
            if (other == RG_NO_BLOCK || other == t->parent[body])
                continue;
            if (l->seen[other] && t->parent[other] != body)
                return false;
            if (l->seen[other])
                continue;
            l->seen[other] = 1;
            t->parent[other] = body;
            t->order[(*count)++] = other;
        }
    }
    return true;
}

/* Roots are bodies that are joined with the world, where there are such. */
static bool find_tree(rg_tree *t, const links *l) {
    const rg_global_form *g = &t->problem->global;
    size_t count = 0;
    for (uint32_t body = 0; body < g->blocks; body++)
        for (uint32_t k = l->starts[body]; k < l->starts[body + 1] && !l->seen[body]; k++)
            if (other_end(g, l->row[l->of_body[k]], body) == RG_NO_BLOCK &&
                !spread(t, l, body, &count))
                return false;
    for (uint32_t body = 0; body < g->blocks; body++)
        if (!l->seen[body] && !spread(t, l, body, &count))
            return false;
    return true;
}

/* Of the rows of each body, those with its parent or the world. */
static bool list_own(rg_tree *t, const links *l) {
    const rg_global_form *g = &t->problem->global;
    uint32_t count = 0;
    size_t place = 0, own_place = 0;
    for (uint32_t body = 0; body < g->blocks; body++) {
        t->first[body] = count;
        t->place[body] = place;
        for (uint32_t k = l->starts[body]; k < l->starts[body + 1]; k++) {
            uint32_t link = l->of_body[k], other = other_end(g, l->row[link], body);
            if (other != RG_NO_BLOCK && other != t->parent[body])
                continue;
            for (uint32_t row = l->row[link]; row < l->row[link + 1]; row++, count++) {
                t->rows[count] = row;
                t->side[count] = 2 * row + (g->joint_blocks[2 * row] == body ? 0 : 1);
                t->joins[count] = other != RG_NO_BLOCK;
            }
        }
        size_t own = count - t->first[body];
        if (own > ROWS_MOST)
            return false;
        t->own_place[body] = own_place;
        place += own * RG_EVEN(own);
        own_place += t->freedom * RG_EVEN(own);
    }
    t->first[g->blocks] = count;
    t->place[g->blocks] = place;
    t->own_place[g->blocks] = own_place;
    return true;
}

/* --- factor ----------------------------------------------------------------------------------- */

/* The functions of this and the next part are compiled for balls and hinges in space as well. */

/* J_b' of a body's rows, and J_p of its parent. */
RG_INLINE void gather_rows(rg_tree *t, size_t first, size_t n, size_t count, double *restrict y,
                           double *restrict q) {
    const double *jacobian = t->problem->global.joint_jacobian;
    const size_t wide = RG_EVEN(n), per = RG_EVEN(count);
    RG_UNROLL
    for (size_t i = 0; i < count; i += 2) {
        const double *j = jacobian + t->side[first + i] * n;
        const double *next = i + 1 < count ? jacobian + t->side[first + i + 1] * n : j;
        RG_UNROLL
        for (size_t k = 0; k < n; k++)
            rg_pair_put(y + k * per + i, rg_pair_of(j[k], next[k]));
    }
    RG_UNROLL
    for (size_t i = 0; i < count; i++) {
        if (!t->joins[first + i] || n != wide)
            memset(q + i * wide, 0, wide * sizeof *q);
        if (t->joins[first + i])
            memcpy(q + i * wide, jacobian + (t->side[first + i] ^ 1) * n, n * sizeof *q);
    }
}

/* U' U of a body's mass, Y = U'^-1 J_b', S = Y' Y + C, Q = S^-1/2 J_p; the parent's mass grows by
 * Q' Q. */
RG_INLINE bool factor_body(rg_tree *t, uint32_t body, size_t n, size_t count) {
    const size_t wide = RG_EVEN(n), per = RG_EVEN(count);
    uint32_t parent = t->parent[body];
    double *y = t->own + t->own_place[body], *q = t->other + t->first[body] * wide;
    double *s = t->joint + t->place[body];
    const double *soft = t->problem->compliance;
    gather_rows(t, t->first[body], n, count, y, q);
    if (!rg_small_eliminate(t->mass + body * n * wide, n, DEPENDENT, y, count))
        return false;
    RG_UNROLL
    for (size_t i = 0; i < count; i++)
        RG_UNROLL
    for (size_t j = 0; j < count; j += 2)
        if (j + 1 >= i)
            rg_pair_put(s + i * per + j, rg_small_squares(y, n, count, i, j));
    for (size_t i = 0; i < count && soft; i++)
        s[i * per + i] += soft[t->rows[t->first[body] + i]];
    if (!rg_small_eliminate(s, count, DEPENDENT, q, n))
        return false;
    double *restrict mass = t->mass + parent * n * wide;
    if (parent == RG_NO_BLOCK)
        return true;
    RG_UNROLL
    for (size_t i = 0; i < n; i++)
        RG_UNROLL
    for (size_t j = 0; j < n; j += 2)
        if (j + 1 >= i)
            rg_pair_put(mass + i * wide + j, rg_pair_plus(rg_pair_at(mass + i * wide + j),
                                                          rg_small_squares(q, count, n, i, j)));
    return true;
}

static bool factor_all(rg_tree *t) {
    size_t n = t->freedom;
    bool good = true;
    for (size_t i = t->problem->global.blocks; i-- > 0 && good;) {
        uint32_t body = t->order[i];
        size_t count = t->first[body + 1] - t->first[body];
        good = n == 6 && count == 3   ? factor_body(t, body, 6, 3) /* a ball */
               : n == 6 && count == 5 ? factor_body(t, body, 6, 5) /* a hinge */
               : n == 6               ? factor_body(t, body, 6, count)
                                      : factor_body(t, body, n, count);
    }
    return good;
}

/* Memory of the tree, which outlives the solve. */
#define TAKE(pointer, context, count)                                                              \
    do {                                                                                           \
        (pointer) = rg_arena_take(&(context)->tree_memory, (count), sizeof *(pointer));            \
        if (!(pointer))                                                                            \
            return RG_OUT_OF_MEMORY;                                                               \
    } while (0)

/* Memory, the tree, and no numbers yet. */
static rg_status begin_tree(rg_solve_context *context, const rg_contact_problem *p, rg_tree **out) {
    size_t bodies = p->global.blocks, n = (size_t)p->global.freedom, rows = p->joints;
    rg_tree *t;
    links l;
    rg_arena_reset(&context->tree_memory);
    TAKE(t, context, 1);
    *t = (rg_tree){.problem = p, .freedom = n, .bodies = bodies, .row_count = rows};
    TAKE(t->order, context, bodies);
    TAKE(t->parent, context, bodies);
    TAKE(t->first, context, bodies + 1);
    TAKE(t->place, context, bodies + 1);
    TAKE(t->own_place, context, bodies + 1);
    TAKE(t->rows, context, rows);
    TAKE(t->side, context, rows);
    TAKE(t->joins, context, rows);
    TAKE(l.row, context, rows + 1);
    TAKE(l.starts, context, bodies + 1);
    TAKE(l.of_body, context, 2 * rows);
    TAKE(l.seen, context, bodies);
    list_links(p, &l);
    if (!find_tree(t, &l) || !list_own(t, &l))
        return RG_UNSUPPORTED;
    TAKE(t->mass, context, bodies * n * RG_EVEN(n));
    TAKE(t->own, context, t->own_place[bodies] + 1);
    TAKE(t->other, context, rows * RG_EVEN(n));
    TAKE(t->body_rest, context, bodies * RG_EVEN(n));
    TAKE(t->row_rest, context, rows);
    TAKE(t->joint, context, t->place[bodies] + 1);
    TAKE(t->blocks, context, 2 * rows);
    TAKE(t->given_mass, context, bodies * n * n);
    TAKE(t->given_jacobian, context, 2 * rows * n);
    TAKE(t->given_compliance, context, rows);
    memcpy(t->blocks, p->global.joint_blocks, 2 * rows * sizeof *t->blocks);
    *out = t;
    return RG_OK;
}

static bool has_links(const rg_tree *t, const rg_contact_problem *p) {
    return t && t->bodies == p->global.blocks && t->freedom == (size_t)p->global.freedom &&
           t->row_count == p->joints &&
           memcmp(t->blocks, p->global.joint_blocks, 2 * t->row_count * sizeof *t->blocks) == 0;
}

static bool has_numbers(const rg_tree *t, const rg_contact_problem *p) {
    size_t n = t->freedom, rows = t->row_count;
    return t->factored && t->soft == (p->compliance != NULL) &&
           memcmp(t->given_jacobian, p->global.joint_jacobian, 2 * rows * n * sizeof(double)) ==
               0 &&
           memcmp(t->given_mass, p->global.mass, t->bodies * n * n * sizeof(double)) == 0 &&
           (!t->soft || memcmp(t->given_compliance, p->compliance, rows * sizeof(double)) == 0);
}

static void take_numbers(rg_tree *t, const rg_contact_problem *p) {
    size_t n = t->freedom, rows = t->row_count;
    memcpy(t->given_jacobian, p->global.joint_jacobian, 2 * rows * n * sizeof(double));
    memcpy(t->given_mass, p->global.mass, t->bodies * n * n * sizeof(double));
    t->soft = p->compliance != NULL;
    if (t->soft)
        memcpy(t->given_compliance, p->compliance, rows * sizeof(double));
    if (n == RG_EVEN(n))
        memcpy(t->mass, p->global.mass, t->bodies * n * n * sizeof(double));
    for (size_t i = 0; i < t->bodies * n && n != RG_EVEN(n); i++) {
        memcpy(t->mass + i * RG_EVEN(n), p->global.mass + i * n, n * sizeof(double));
        t->mass[i * RG_EVEN(n) + n] = 0;
    }
}

rg_status rg_tree_make(rg_solve_context *context, const rg_problem *problem, rg_tree **tree) {
    const rg_contact_problem *p = &problem->contact;
    if (!has_links(context->tree, p)) {
        context->tree = NULL;
        rg_status status = begin_tree(context, p, &context->tree);
        if (status)
            return status;
    }
    rg_tree *t = context->tree;
    t->problem = p;
    if (!has_numbers(t, p)) {
        take_numbers(t, p);
        t->regular = factor_all(t);
        t->factored = true;
    }
    *tree = t;
    return t->regular ? RG_OK : RG_SINGULAR;
}

/* --- solve ------------------------------------------------------------------------------------ */

/* From a body to its parent: what is left of the body's momentum and of its rows. */
RG_INLINE void go_up(rg_tree *t, uint32_t body, size_t n, size_t count) {
    const size_t wide = RG_EVEN(n), per = RG_EVEN(count);
    uint32_t parent = t->parent[body];
    double x[ROWS_MOST], *restrict f = t->body_rest + body * wide;
    double *restrict rest = t->row_rest + t->first[body];
    const double *y = t->own + t->own_place[body], *q = t->other + t->first[body] * wide;
    rg_small_forward(t->mass + body * n * wide, n, f);
    RG_UNROLL
    for (size_t i = 0; i < count; i += 2) {
        rg_pair sum = rg_pair_of(0, 0);
        RG_UNROLL
        for (size_t k = 0; k < n; k++)
            sum = rg_pair_plus(sum,
                               rg_pair_times(rg_pair_of(f[k], f[k]), rg_pair_at(y + k * per + i)));
        rg_pair_put(x + i, sum);
    }
    RG_UNROLL
    for (size_t i = 0; i < count; i++)
        x[i] = rest[i] - x[i];
    rg_small_forward(t->joint + t->place[body], count, x);
    RG_UNROLL
    for (size_t i = 0; i < count; i++)
        rest[i] = x[i];
    if (parent == RG_NO_BLOCK)
        return;
    double *restrict above = t->body_rest + parent * wide;
    RG_UNROLL
    for (size_t k = 0; k < n; k += 2) {
        rg_pair sum = rg_pair_at(above + k);
        RG_UNROLL
        for (size_t i = 0; i < count; i++)
            sum = rg_pair_plus(sum,
                               rg_pair_times(rg_pair_of(x[i], x[i]), rg_pair_at(q + i * wide + k)));
        rg_pair_put(above + k, sum);
    }
}

/* From a parent, whose velocity is known, to a body: forces of its rows, then its velocity. */
RG_INLINE void go_down(rg_tree *t, uint32_t body, size_t n, size_t count) {
    const size_t wide = RG_EVEN(n), per = RG_EVEN(count);
    uint32_t parent = t->parent[body];
    double x[ROWS_MOST], *restrict v = t->body_rest + body * wide;
    double *restrict rest = t->row_rest + t->first[body];
    const double *y = t->own + t->own_place[body], *q = t->other + t->first[body] * wide;
    RG_UNROLL
    for (size_t i = 0; i < count; i++)
        x[i] = rest[i];
    if (parent != RG_NO_BLOCK)
        RG_UNROLL
    for (size_t i = 0; i < count; i++)
        x[i] -= rg_small_dot_even(q + i * wide, t->body_rest + parent * wide, n);
    rg_small_back(t->joint + t->place[body], count, x);
    RG_UNROLL
    for (size_t i = 0; i < count; i++)
        rest[i] = x[i];
    RG_UNROLL
    for (size_t k = 0; k < n; k++) {
        double sum = v[k];
        RG_UNROLL
        for (size_t i = 0; i < count; i++)
            sum += y[k * per + i] * x[i];
        v[k] = sum;
    }
    rg_small_back(t->mass + body * n * wide, n, v);
}

/* From the leaves to the root, then back; body_rest and row_rest are the right sides, and the
 * solution at the end. */
static void run_through(rg_tree *t) {
    size_t n = t->freedom;
    for (size_t at = t->bodies; at-- > 0;) {
        uint32_t body = t->order[at];
        size_t count = t->first[body + 1] - t->first[body];
        if (n == 6 && count == 3)
            go_up(t, body, 6, 3);
        else if (n == 6 && count == 5)
            go_up(t, body, 6, 5);
        else
            go_up(t, body, n, count);
    }
    for (size_t at = 0; at < t->bodies; at++) {
        uint32_t body = t->order[at];
        size_t count = t->first[body + 1] - t->first[body];
        if (n == 6 && count == 3)
            go_down(t, body, 6, 3);
        else if (n == 6 && count == 5)
            go_down(t, body, 6, 5);
        else
            go_down(t, body, n, count);
    }
}

/* What the free velocities leave of the rows, in the order of the tree. */
RG_INLINE void find_row_rest(rg_tree *t, size_t n) {
    const rg_contact_problem *p = t->problem;
    const rg_global_form *g = &p->global;
    for (size_t i = 0; i < t->row_count; i++) {
        uint32_t j = t->rows[i];
        const uint32_t *ends = g->joint_blocks + 2 * j;
        const double *row = g->joint_jacobian + 2 * j * n;
        double sum = -p->q[j];
        if (ends[0] != RG_NO_BLOCK)
            sum -= rg_small_dot_even(row, g->free_velocity + ends[0] * n, n);
        if (ends[1] != RG_NO_BLOCK)
            sum -= rg_small_dot_even(row + n, g->free_velocity + ends[1] * n, n);
        t->row_rest[i] = sum;
    }
}

RG_INLINE void solve_tree_of(rg_tree *t, size_t n, double *restrict velocity) {
    const double *free = t->problem->global.free_velocity, *x = t->body_rest;
    memset(t->body_rest, 0, t->bodies * RG_EVEN(n) * sizeof *t->body_rest);
    find_row_rest(t, n);
    run_through(t);
    for (size_t b = 0; b < t->bodies; b++, x += RG_EVEN(n), free += n, velocity += n)
        RG_UNROLL
    for (size_t k = 0; k < n; k++)
        velocity[k] = free[k] + x[k];
}

void rg_tree_solve(rg_tree *t, double *velocity, double *force) {
    if (t->freedom == 6)
        solve_tree_of(t, 6, velocity);
    else
        solve_tree_of(t, t->freedom, velocity);
    for (size_t i = 0; i < t->row_count; i++)
        force[t->rows[i]] = t->row_rest[i];
}

/* --- as a solver ------------------------------------------------------------------------------ */

static rg_status solve_tree(rg_solve_context *context, const rg_problem *problem,
                            const rg_solve_settings *settings, rg_solution *solution,
                            rg_solve_report *report, rg_error *error) {
    rg_tree *tree;
    double *velocity;
    (void)settings;
    report->outcome = RG_SOLVE_UNSUITABLE;
    if (!rg_tree_takes(problem))
        return RG_OK;
    rg_status status = rg_tree_make(context, problem, &tree);
    if (status == RG_UNSUPPORTED || status == RG_SINGULAR)
        return RG_OK;
    if (status)
        return rg_fail(error, status, "%s", rg_status_text(status));
    RG_TAKE(velocity, context, problem->contact.global.blocks * tree->freedom, error);
    rg_tree_solve(tree, velocity, solution->force);
    report->outcome = RG_SOLVED;
    report->iterations = report->factorisations = 1;
    return RG_OK;
}

const rg_solver rg_solver_tree = {"tree", "joints that form a tree, in linear time",
                                  RG_ACCEPT_GLOBAL | RG_ACCEPT_SOFT, solve_tree};
