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
enum { ROWS_MOST = 18, FREEDOM_MOST = 6 };
/* Of its diagonal entry: a pivot below is of a row that depends on others. */
#define DEPENDENT 1e-12

bool rg_tree_takes(const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    if (problem->kind != RG_PROBLEM_CONTACT || p->contacts > 0 || p->joints == 0 ||
        p->form != RG_FORM_GLOBAL)
        return false;
    for (size_t j = 0; j < p->joints; j++)
        if ((p->lower && isfinite(p->lower[j])) || (p->upper && isfinite(p->upper[j])))
            return false;
    return true;
}

/* --- the tree --------------------------------------------------------------------------------- */

static const double *side_of(const rg_tree *t, uint32_t row, uint32_t body) {
    const rg_global_form *g = &t->problem->global;
    size_t side = g->joint_blocks[2 * row] == body ? 0 : 1;
    return g->joint_jacobian + (2 * row + side) * t->freedom;
}

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
    size_t place = 0;
    for (uint32_t body = 0; body < g->blocks; body++) {
        t->first[body] = count;
        t->place[body] = place;
        for (uint32_t k = l->starts[body]; k < l->starts[body + 1]; k++) {
            uint32_t link = l->of_body[k], other = other_end(g, l->row[link], body);
            if (other != RG_NO_BLOCK && other != t->parent[body])
                continue;
            for (uint32_t row = l->row[link]; row < l->row[link + 1]; row++)
                t->rows[count++] = row;
        }
        size_t own = count - t->first[body];
        if (own > ROWS_MOST)
            return false;
        place += own * own;
    }
    t->first[g->blocks] = count;
    t->place[g->blocks] = place;
    return true;
}

/* --- factor ----------------------------------------------------------------------------------- */

/* The functions of this and the next part are compiled for balls and hinges in space as well. */

/* Q = S^-1/2 J_p, and the parent's mass grows by Q' Q. */
RG_INLINE void load_parent(rg_tree *t, uint32_t body, size_t count, size_t n) {
    uint32_t parent = t->parent[body];
    const double *s = t->joint + t->place[body];
    double *restrict q = t->other + t->first[body] * n, *restrict mass = t->mass + parent * n * n;
    RG_UNROLL
    for (size_t i = 0; i < count; i++) {
        uint32_t row = t->rows[t->first[body] + i];
        bool joins = other_end(&t->problem->global, row, body) == parent;
        const double *j = side_of(t, row, parent);
        RG_UNROLL
        for (size_t k = 0; k < n; k++) {
            double sum = joins ? j[k] : 0;
            RG_UNROLL
            for (size_t m = 0; m < i; m++)
                sum -= s[i * count + m] * q[m * n + k];
            q[i * n + k] = sum * s[i * count + i];
        }
    }
    RG_UNROLL
    for (size_t i = 0; i < n; i++)
        RG_UNROLL
    for (size_t j = 0; j <= i; j++)
        mass[i * n + j] += rg_small_square(q, n, i, j, 0, count);
}

RG_INLINE bool factor_body(rg_tree *t, uint32_t body, size_t n, size_t count) {
    size_t first = t->first[body];
    double *restrict l = t->mass + body * n * n, *restrict y = t->own + first * n;
    double *restrict s = t->joint + t->place[body];
    const double *soft = t->problem->compliance;
    if (!rg_small_factor(l, n, DEPENDENT, l))
        return false;
    RG_UNROLL
    for (size_t i = 0; i < count; i++) {
        uint32_t row = t->rows[first + i];
        memcpy(y + i * n, side_of(t, row, body), n * sizeof *y);
        rg_small_lower(l, n, y + i * n);
        RG_UNROLL
        for (size_t j = 0; j <= i; j++)
            s[i * count + j] = rg_small_dot(y + i * n, y + j * n, n);
        if (soft)
            s[i * count + i] += soft[row];
    }
    if (!rg_small_factor(s, count, DEPENDENT, s))
        return false;
    if (t->parent[body] != RG_NO_BLOCK)
        load_parent(t, body, count, n);
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

rg_status rg_tree_make(rg_tree *t, rg_solve_context *context, const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    size_t bodies = p->global.blocks, n = (size_t)p->global.freedom, rows = p->joints;
    *t = (rg_tree){.problem = p, .freedom = n};
    links l;
    RG_TAKE(t->order, context, bodies, NULL);
    RG_TAKE(t->parent, context, bodies, NULL);
    RG_TAKE(t->first, context, bodies + 1, NULL);
    RG_TAKE(t->place, context, bodies + 1, NULL);
    RG_TAKE(t->rows, context, rows, NULL);
    RG_TAKE(t->mass, context, bodies * n * n, NULL);
    RG_TAKE(t->own, context, rows * n, NULL);
    RG_TAKE(t->other, context, rows * n, NULL);
    RG_TAKE(t->body_rest, context, bodies * n, NULL);
    RG_TAKE(t->row_rest, context, rows, NULL);
    RG_TAKE(l.row, context, rows + 1, NULL);
    RG_TAKE(l.starts, context, bodies + 1, NULL);
    RG_TAKE(l.of_body, context, 2 * rows, NULL);
    RG_TAKE(l.seen, context, bodies, NULL);
    list_links(p, &l);
    if (!find_tree(t, &l) || !list_own(t, &l))
        return RG_UNSUPPORTED;
    RG_TAKE(t->joint, context, t->place[bodies] + 1, NULL);
    memcpy(t->mass, p->global.mass, bodies * n * n * sizeof *t->mass);
    return factor_all(t) ? RG_OK : RG_SINGULAR;
}

/* --- solve ------------------------------------------------------------------------------------ */

/* From a body to its parent: what is left of the body's momentum and of its rows. */
RG_INLINE void go_up(rg_tree *t, uint32_t body, size_t n, size_t count) {
    uint32_t parent = t->parent[body];
    size_t first = t->first[body];
    double x[ROWS_MOST], *f = t->body_rest + body * n;
    const double *y = t->own + first * n, *q = t->other + first * n;
    rg_small_lower(t->mass + body * n * n, n, f);
    for (size_t i = 0; i < count; i++)
        x[i] = t->row_rest[t->rows[first + i]] - rg_small_dot(y + i * n, f, n);
    rg_small_lower(t->joint + t->place[body], count, x);
    for (size_t i = 0; i < count; i++)
        t->row_rest[t->rows[first + i]] = x[i];
    if (parent == RG_NO_BLOCK)
        return;
    double *restrict above = t->body_rest + parent * n;
    for (size_t i = 0; i < count; i++)
        RG_UNROLL
    for (size_t k = 0; k < n; k++)
        above[k] += q[i * n + k] * x[i];
}

/* From a parent, whose velocity is known, to a body: forces of its rows, then its velocity. */
RG_INLINE void go_down(rg_tree *t, uint32_t body, size_t n, size_t count) {
    uint32_t parent = t->parent[body];
    size_t first = t->first[body];
    double x[ROWS_MOST], *restrict v = t->body_rest + body * n;
    const double *y = t->own + first * n, *q = t->other + first * n;
    for (size_t i = 0; i < count; i++)
        x[i] = t->row_rest[t->rows[first + i]];
    for (size_t i = 0; i < count && parent != RG_NO_BLOCK; i++)
        x[i] -= rg_small_dot(q + i * n, t->body_rest + parent * n, n);
    rg_small_upper(t->joint + t->place[body], count, x);
    for (size_t i = 0; i < count; i++) {
        t->row_rest[t->rows[first + i]] = x[i];
        RG_UNROLL
        for (size_t k = 0; k < n; k++)
            v[k] += y[i * n + k] * x[i];
    }
    rg_small_upper(t->mass + body * n * n, n, v);
}

RG_INLINE void pass(rg_tree *t, uint32_t body, size_t n, size_t count, bool up) {
    if (up)
        go_up(t, body, n, count);
    else
        go_down(t, body, n, count);
}

static void pass_body(rg_tree *t, uint32_t body, bool up) {
    size_t n = t->freedom, count = t->first[body + 1] - t->first[body];
    if (n == 6 && count == 3)
        pass(t, body, 6, 3, up);
    else if (n == 6 && count == 5)
        pass(t, body, 6, 5, up);
    else
        pass(t, body, n, count, up);
}

/* From the leaves to the root, then back; body_rest and row_rest are the right sides, and the
 * solution at the end. */
static void run_through(rg_tree *t) {
    size_t bodies = t->problem->global.blocks;
    for (size_t at = bodies; at-- > 0;)
        pass_body(t, t->order[at], true);
    for (size_t at = 0; at < bodies; at++)
        pass_body(t, t->order[at], false);
}

/* What velocities and forces leave of the equations, into body_rest and row_rest. `first`: the
 * velocities are the free ones, and the forces zero. */
RG_INLINE void find_rest(rg_tree *t, size_t n, const double *v, const double *r, bool first) {
    const rg_contact_problem *p = t->problem;
    const rg_global_form *g = &p->global;
    memset(t->body_rest, 0, g->blocks * n * sizeof *t->body_rest);
    for (size_t b = 0; b < g->blocks && !first; b++) {
        double change[FREEDOM_MOST];
        for (size_t k = 0; k < n; k++)
            change[k] = g->free_velocity[b * n + k] - v[b * n + k];
        for (size_t i = 0; i < n; i++)
            t->body_rest[b * n + i] = rg_small_dot(g->mass + (b * n + i) * n, change, n);
    }
    for (size_t j = 0; j < p->joints; j++) {
        double sum = -p->q[j] - (p->compliance ? p->compliance[j] * r[j] : 0);
        for (size_t side = 0; side < 2; side++) {
            uint32_t b = g->joint_blocks[2 * j + side];
            const double *row = g->joint_jacobian + (2 * j + side) * n;
            if (b == RG_NO_BLOCK)
                continue;
            sum -= rg_small_dot(row, v + b * n, n);
            if (first)
                continue;
            RG_UNROLL
            for (size_t k = 0; k < n; k++)
                t->body_rest[b * n + k] += row[k] * r[j];
        }
        t->row_rest[j] = sum;
    }
}

void rg_tree_solve(rg_tree *t, int rounds, double *velocity, double *force) {
    size_t size = t->problem->global.blocks * t->freedom, rows = t->problem->joints;
    memcpy(velocity, t->problem->global.free_velocity, size * sizeof *velocity);
    memset(force, 0, rows * sizeof *force);
    for (int round = 0; round < rounds; round++) {
        if (t->freedom == 6)
            find_rest(t, 6, velocity, force, round == 0);
        else
            find_rest(t, t->freedom, velocity, force, round == 0);
        run_through(t);
        for (size_t i = 0; i < size; i++)
            velocity[i] += t->body_rest[i];
        for (size_t j = 0; j < rows; j++)
            force[j] += t->row_rest[j];
    }
}

/* --- as a solver ------------------------------------------------------------------------------ */

static rg_status solve_tree(rg_solve_context *context, const rg_problem *problem,
                            const rg_solve_settings *settings, rg_solution *solution,
                            rg_solve_report *report, rg_error *error) {
    rg_tree tree;
    double *velocity;
    (void)settings;
    report->outcome = RG_SOLVE_UNSUITABLE;
    if (!rg_tree_takes(problem))
        return RG_OK;
    rg_status status = rg_tree_make(&tree, context, problem);
    if (status == RG_UNSUPPORTED || status == RG_SINGULAR)
        return RG_OK;
    if (status)
        return rg_fail(error, status, "%s", rg_status_text(status));
    RG_TAKE(velocity, context, problem->contact.global.blocks * tree.freedom, error);
    rg_tree_solve(&tree, 2, velocity, solution->force);
    report->outcome = RG_SOLVED;
    report->iterations = report->factorisations = 1;
    return RG_OK;
}

const rg_solver rg_solver_tree = {"tree", "joints that form a tree, in linear time",
                                  RG_ACCEPT_GLOBAL | RG_ACCEPT_SOFT, solve_tree};
