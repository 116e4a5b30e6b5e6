/* The linear systems of Newton's method on the closed contacts: as in solve_system_factor.c, but
 * over the contacts that are live, and with a pattern of those that have been closed so far. In
 * piles most contacts of a look ahead stay open: they cost nothing here.
 *
 *     (M + J' A^-1 B J) dv = -J' A^-1 e,    dr = -A^-1 (e + B J dv).
 *
 * A body that one contact alone touches, a leaf, is not in the matrix: its dv = M^-1 J' dr put into
 * the equation of the contact makes A + B W of A, with W = J M^-1 J' of the leaf, and the contact
 * is then one of the other body. A slab with balls on it is one body.
 *
 * Tested by tests/solve/test_active.c. */
#include "problem/problem.h"
#include "solve/solve_active.h"
#include "solve/solve_system_parts.h"

#include <math.h>
#include <string.h>

enum { FREEDOM = RG_SYSTEM_FREEDOM_MAX, ROWS = RG_SYSTEM_DIMENSION_MAX };

/* --- pattern ---------------------------------------------------------------------------------- */

/* Which bodies are leaves, and where the others are in the matrix. Of a contact between two of them
 * one stays. */
static void find_leaves(const rg_system *s, rg_active_graph *g, uint32_t *touching) {
    const rg_global_form *global = &s->problem->global;
    memset(touching, 0, global->blocks * sizeof *touching);
    memset(g->leaf, 0, s->contacts * sizeof *g->leaf);
    for (size_t i = 0; i < rg_system_blocks(s); i++) {
        rg_system_touch touch = rg_system_touched(s, i);
        for (int side = 0; side < 2; side++)
            if (touch.blocks[side] != RG_NO_BLOCK)
                touching[touch.blocks[side]]++;
    }
    for (size_t i = 0; i < s->contacts; i++) {
        const uint32_t *b = global->contact_blocks + 2 * i;
        for (uint8_t side = 0; side < 2 && !g->leaf[i]; side++)
            if (b[side] != RG_NO_BLOCK && touching[b[side]] == 1) {
                g->leaf[i] = (uint8_t)(1 + side);
                touching[b[side]] = RG_NO_BLOCK;
            }
    }
    for (size_t b = 0; b < global->blocks; b++)
        g->core[b] = touching[b] == RG_NO_BLOCK ? RG_NO_BLOCK : (uint32_t)g->cores++;
}

/* W of the leaf of a contact. */
static inline void leaf_matrix(size_t d, size_t f, const double *restrict jacobian,
                               const double *restrict inverse, double *restrict out) {
    for (size_t i = 0; i < d; i++) {
        double row[FREEDOM] = {0};
        for (size_t k = 0; k < f; k++)
            for (size_t m = 0; m < f; m++)
                row[m] += jacobian[i * f + k] * inverse[k * f + m];
        for (size_t j = 0; j < d; j++) {
            out[i * d + j] = 0;
            for (size_t m = 0; m < f; m++)
                out[i * d + j] += row[m] * jacobian[j * f + m];
        }
    }
}

static rg_status make_leaves(rg_active *active, rg_error *error) {
    const rg_system *s = active->system;
    rg_active_graph *g = &active->graph;
    size_t f = (size_t)s->problem->global.freedom, d = (size_t)s->dimension;
    find_leaves(s, g, g->bodies);
    if (g->cores == s->problem->global.blocks)
        return RG_OK;
    RG_TAKE(g->leaf_w, active->context, s->contacts * d * d, error);
    for (size_t i = 0; i < s->contacts; i++) {
        if (!g->leaf[i])
            continue;
        rg_system_touch touch = rg_system_touched(s, i);
        size_t side = g->leaf[i] - 1u;
        const double *inverse = s->factor->mass_inverse + touch.blocks[side] * f * f;
        if (d == 3 && f == 6)
            leaf_matrix(3, 6, touch.jacobian[side], inverse, g->leaf_w + i * 9);
        else
            leaf_matrix(d, f, touch.jacobian[side], inverse, g->leaf_w + i * d * d);
    }
    return RG_OK;
}

/* The bodies of the matrix that a contact or joint touches. */
static void core_blocks(const rg_active *active, size_t block, uint32_t blocks[2]) {
    rg_system_touch touch = rg_system_touched(active->system, block);
    for (int side = 0; side < 2; side++)
        blocks[side] = touch.blocks[side] == RG_NO_BLOCK ? RG_NO_BLOCK
                                                         : active->graph.core[touch.blocks[side]];
}

rg_status rg_active_graph_make(rg_active *active, rg_error *error) {
    const rg_system *s = active->system;
    const rg_global_form *global = &s->problem->global;
    rg_active_graph *g = &active->graph;
    size_t blocks = active->blocks, ff = (size_t)(global->freedom * global->freedom);
    *g = (rg_active_graph){0};
    RG_TAKE(g->link, active->context, blocks, error);
    RG_TAKE(g->bodies, active->context, 2 * blocks + global->blocks, error);
    RG_TAKE(g->used, active->context, blocks, error);
    RG_TAKE(g->diagonal, active->context, global->blocks * ff, error);
    RG_TAKE(g->place, active->context, blocks, error);
    RG_TAKE(g->side_starts, active->context, global->blocks + 1, error);
    RG_TAKE(g->sides, active->context, 2 * blocks, error);
    RG_TAKE(g->next, active->context, global->blocks, error);
    RG_TAKE(g->core, active->context, global->blocks, error);
    RG_TAKE(g->leaf, active->context, s->contacts, error);
    rg_status status = make_leaves(active, error);
    if (status)
        return status;
    for (size_t i = 0; i < blocks; i++) {
        uint32_t own[2], *last = g->bodies + 2 * (size_t)g->links - 2;
        core_blocks(active, i, own);
        if (g->links == 0 || last[0] != own[0] || last[1] != own[1]) {
            g->bodies[2 * (size_t)g->links] = own[0];
            g->bodies[2 * (size_t)g->links + 1] = own[1];
            g->used[g->links++] = 0;
        }
        g->link[i] = g->links - 1;
    }
    return RG_OK;
}

/* The inverse of a small matrix, by Gauss's elimination with row interchanges, in place of it. */
static bool invert(size_t n, double *a, double *inverse) {
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t i = 0; i < n; i++)
        inverse[i * n + i] = 1;
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k]))
                pivot = i;
        for (size_t j = 0; j < n && pivot != k; j++) {
            double x = a[k * n + j], y = inverse[k * n + j];
            a[k * n + j] = a[pivot * n + j], inverse[k * n + j] = inverse[pivot * n + j];
            a[pivot * n + j] = x, inverse[pivot * n + j] = y;
        }
        double scale = 1 / a[k * n + k];
        if (!isfinite(scale))
            return false;
        for (size_t j = 0; j < n; j++)
            a[k * n + j] *= scale, inverse[k * n + j] *= scale;
        for (size_t i = 0; i < n; i++) {
            double factor = a[i * n + k];
            for (size_t j = 0; j < n && i != k; j++)
                a[i * n + j] -= factor * a[k * n + j],
                    inverse[i * n + j] -= factor * inverse[k * n + j];
        }
    }
    return true;
}

bool rg_active_leaf_inverse(const rg_active *active, size_t contact, double delta) {
    const rg_system *s = active->system;
    size_t d = (size_t)s->dimension, at = rg_system_block_offset(s, contact);
    const double *slope = active->slope + at, *w = active->graph.leaf_w + at;
    double a[ROWS * ROWS], rho = s->rho[contact];
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = (i == j ? 1 + delta : 0) - slope[i * d + j] / rho;
            for (size_t k = 0; k < d; k++)
                sum += slope[i * d + k] * w[k * d + j];
            a[i * d + j] = sum;
        }
    return d == 3 ? invert(3, a, active->inverse + at) : invert(d, a, active->inverse + at);
}

static bool joins_two(const rg_active_graph *g, uint32_t link) {
    const uint32_t *b = g->bodies + 2 * (size_t)link;
    return b[0] != RG_NO_BLOCK && b[1] != RG_NO_BLOCK && b[0] != b[1];
}

static rg_status analyse(rg_active *active) {
    rg_active_graph *g = &active->graph;
    rg_arena *arena = &active->context->arena;
    const rg_global_form *global = &active->system->problem->global;
    if (g->marked)
        rg_arena_return(arena, g->mark);
    g->mark = rg_arena_get_mark(arena);
    g->marked = true;
    g->sparse = NULL;
    uint32_t *pairs = rg_arena_take(arena, 2 * (size_t)g->links + 1, sizeof *pairs);
    size_t count = 0;
    if (!pairs)
        return RG_OUT_OF_MEMORY;
    for (uint32_t link = 0; link < g->links; link++)
        if (g->used[link] && joins_two(g, link)) {
            g->place[link] = (uint32_t)count;
            memcpy(pairs + 2 * count++, g->bodies + 2 * (size_t)link, 2 * sizeof *pairs);
        }
    size_t ff = (size_t)(global->freedom * global->freedom);
    g->places = count;
    g->halves = rg_arena_take(arena, 2 * count * ff + 1, sizeof *g->halves);
    g->present = rg_arena_take(arena, count + 1, sizeof *g->present);
    if (!g->halves || !g->present)
        return RG_OUT_OF_MEMORY;
    rg_status status =
        rg_sparse_create(arena, g->cores, NULL, global->freedom, pairs, count, &g->sparse);
    if (!status)
        status = rg_sparse_expect(g->sparse, arena, pairs, count);
    if (status) {
        g->sparse = NULL;
        return status;
    }
    rg_sparse_set_pool(g->sparse, active->context->pool);
    for (size_t b = 0; b < global->blocks; b++)
        if (g->core[b] != RG_NO_BLOCK)
            rg_mass_units(global->mass + b * ff, global->freedom,
                          active->work + g->core[b] * (size_t)global->freedom);
    rg_sparse_set_units(g->sparse, active->work);
    return RG_OK;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The sides of live blocks with a slope, body by body, in the order of the blocks. */
static void list_sides(rg_active *active) {
    rg_active_graph *g = &active->graph;
    memset(g->side_starts, 0, (g->cores + 1) * sizeof *g->side_starts);
    for (size_t n = 0; n < active->live_count; n++) {
        uint32_t block = active->live[n];
        const uint32_t *ends = g->bodies + 2 * (size_t)g->link[block];
        for (int t = 0; t < 2 && rg_active_has_slope(active->state[block]); t++)
            if (ends[t] != RG_NO_BLOCK)
                g->side_starts[ends[t] + 1]++;
    }
    for (size_t b = 0; b < g->cores; b++) {
        g->next[b] = g->side_starts[b];
        g->side_starts[b + 1] += g->side_starts[b];
    }
    for (uint32_t n = 0; n < active->live_count; n++) {
        uint32_t block = active->live[n];
        const uint32_t *ends = g->bodies + 2 * (size_t)g->link[block];
        for (uint32_t t = 0; t < 2 && rg_active_has_slope(active->state[block]); t++)
            if (ends[t] != RG_NO_BLOCK)
                g->sides[g->next[ends[t]]++] = 2 * n + t;
    }
}

typedef struct assembly {
    rg_active *active;
    bool general;
} assembly;

/* Bodies of a chunk, some 10 microseconds. */
enum { BODIES_PER_CHUNK = 16 };

/* Each body sums what its blocks add to it and to its halves of links, in their order, so that the
 * bits do not depend on the threads. A block that has a body on both sides adds all to its
 * diagonal. */
static void assemble_bodies(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const assembly *job = user;
    const rg_active *active = job->active;
    const rg_active_graph *g = &active->graph;
    const rg_global_form *global = &active->system->problem->global;
    size_t ff = (size_t)(global->freedom * global->freedom);
    for (size_t body = begin; body < end; body++) {
        double *diagonal = g->diagonal + body * ff;
        uint32_t last = UINT32_MAX;
        for (uint32_t i = g->side_starts[body]; i < g->side_starts[body + 1]; i++) {
            uint32_t block = active->live[g->sides[i] / 2], t = g->sides[i] % 2;
            uint32_t link = g->link[block];
            const uint32_t *ends = g->bodies + 2 * (size_t)link;
            double *half = ends[0] == ends[1] ? diagonal : NULL;
            if (joins_two(g, link) && (t == 1 || job->general)) {
                half = g->halves + (2 * (size_t)g->place[link] + (1 - t)) * ff;
                if (link != last)
                    memset(half, 0, ff * sizeof *half);
            }
            last = link;
            rg_system_add_side(active->system, block, (int)t,
                               active->middle + rg_system_block_offset(active->system, block),
                               diagonal, half);
        }
    }
}

/* The links of live blocks: of the others the halves are of no use. */
static void mark_links(const rg_active *active) {
    const rg_active_graph *g = &active->graph;
    memset(g->present, 0, g->places * sizeof *g->present);
    for (size_t n = 0; n < active->live_count; n++) {
        uint32_t block = active->live[n], link = g->link[block];
        if (rg_active_has_slope(active->state[block]) && joins_two(g, link))
            g->present[g->place[link]] = 1;
    }
}

rg_status rg_active_factor(rg_active *active, bool general) {
    rg_active_graph *g = &active->graph;
    const rg_global_form *global = &active->system->problem->global;
    size_t ff = (size_t)(global->freedom * global->freedom);
    bool grown = g->sparse == NULL && g->cores > 0;
    active->factorisations++;
    if (active->singular)
        return RG_SINGULAR;
    for (size_t n = 0; n < active->live_count; n++) {
        uint32_t block = active->live[n], link = g->link[block];
        if (rg_active_has_slope(active->state[block]) && !g->used[link]) {
            g->used[link] = 1;
            grown = grown || joins_two(g, link);
        }
    }
    rg_status status = grown ? analyse(active) : RG_OK;
    if (status || g->cores == 0)
        return status;
    for (size_t b = 0; b < global->blocks; b++)
        if (g->core[b] != RG_NO_BLOCK)
            memcpy(g->diagonal + g->core[b] * ff, global->mass + b * ff, ff * sizeof *g->diagonal);
    list_sides(active);
    rg_parallel_for(active->system->pool, g->cores, BODIES_PER_CHUNK, assemble_bodies,
                    &(assembly){active, general});
    mark_links(active);
    rg_sparse_give(g->sparse, (rg_sparse_values){g->diagonal, g->halves, g->present});
    return general ? rg_sparse_factor_general(g->sparse)
                   : rg_sparse_factor_symmetric(g->sparse, NULL, 0, NULL);
}

/* y = -matrix x, d x d. */
static inline void minus_times_sized(size_t d, const double *matrix, const double *x, double *y) {
    for (size_t k = 0; k < d; k++) {
        double sum = 0;
        for (size_t m = 0; m < d; m++)
            sum += matrix[k * d + m] * x[m];
        y[k] = -sum;
    }
}

static void minus_times(size_t d, const double *matrix, const double *x, double *y) {
    if (d == 3)
        minus_times_sized(3, matrix, x, y);
    else
        minus_times_sized(d, matrix, x, y);
}

/* -A^-1 e */
static void start_forces(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_active *active = user;
    const rg_system *s = active->system;
    for (size_t n = begin; n < end; n++) {
        size_t block = active->live[n], row = rg_system_block_row(s, block);
        minus_times(rg_system_block_size(s, block),
                    active->inverse + rg_system_block_offset(s, block), active->error + row,
                    active->dr + row);
    }
}

/* -A^-1 (e + B J dv) */
static void end_forces(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_active *active = user;
    const rg_system *s = active->system;
    const rg_usual usual = rg_usual_of(s);
    for (size_t n = begin; n < end; n++) {
        size_t block = active->live[n], row = rg_system_block_row(s, block),
               at = rg_system_block_offset(s, block), d = rg_system_block_size(s, block);
        double u[ROWS], e[ROWS];
        if (!rg_active_has_slope(active->state[block]))
            continue;
        /* e + B J dv before A^-1, which is huge in sticking contacts: the two nearly cancel. */
        rg_system_rows(s, usual, block, active->dv, u);
        minus_times(d, active->slope + at, u, e);
        for (size_t k = 0; k < d; k++)
            e[k] = active->error[row + k] - e[k];
        minus_times(d, active->inverse + at, e, active->dr + row);
    }
}

/* dv of the bodies in the matrix, from their impulses; of leaves none. */
static void solve_cores(rg_active *active) {
    const rg_active_graph *g = &active->graph;
    size_t f = (size_t)active->system->problem->global.freedom,
           blocks = active->system->problem->global.blocks;
    if (g->cores == blocks) {
        rg_sparse_solve(g->sparse, active->dv);
        return;
    }
    for (size_t b = 0; b < blocks; b++)
        if (g->core[b] != RG_NO_BLOCK)
            memcpy(active->work + g->core[b] * f, active->dv + b * f, f * sizeof *active->dv);
    if (g->cores > 0)
        rg_sparse_solve(g->sparse, active->work);
    memset(active->dv, 0, blocks * f * sizeof *active->dv);
    for (size_t b = 0; b < blocks; b++)
        if (g->core[b] != RG_NO_BLOCK)
            memcpy(active->dv + b * f, active->work + g->core[b] * f, f * sizeof *active->dv);
}

void rg_active_step(rg_active *active) {
    const rg_system *s = active->system;
    rg_parallel_for(s->pool, active->live_count, RG_SYSTEM_ROWS_PER_CHUNK, start_forces, active);
    rg_system_impulses(s, active->dr, active->live, active->live_count, active->dv);
    solve_cores(active);
    rg_parallel_for(s->pool, active->live_count, RG_SYSTEM_ROWS_PER_CHUNK, end_forces, active);
}

void rg_active_changes(rg_active *active) {
    const rg_system *s = active->system;
    rg_system_impulses(s, active->dr, active->live, active->live_count, active->work);
    rg_system_mass_inverse(s, active->work, active->dv);
}

void rg_active_velocities(rg_active *active) {
    const rg_system *s = active->system;
    rg_system_impulses(s, active->force, NULL, active->blocks, active->work);
    rg_system_mass_inverse(s, active->work, active->v);
    for (size_t k = 0; k < s->velocities; k++)
        active->v[k] += s->problem->global.free_velocity[k];
}
