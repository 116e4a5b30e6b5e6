/* The linear systems of Newton's method on the closed contacts: as in solve_system_factor.c, but
 * over the contacts that are live, and with a pattern of those that have been closed so far. In
 * piles most contacts of a look ahead stay open: they cost nothing here.
 *
 *     (M + J' A^-1 B J) dv = -J' A^-1 e,    dr = -A^-1 (e + B J dv).
 *
 * Tested by tests/solve/test_active.c. */
#include "solve/solve_active.h"
#include "solve/solve_system_parts.h"

#include <string.h>

enum { FREEDOM = RG_SYSTEM_FREEDOM_MAX, ROWS = RG_SYSTEM_DIMENSION_MAX };

/* --- pattern ---------------------------------------------------------------------------------- */

rg_status rg_active_graph_make(rg_active *active, rg_error *error) {
    const rg_system *s = active->system;
    const rg_global_form *global = &s->problem->global;
    rg_active_graph *g = &active->graph;
    size_t blocks = active->blocks, ff = (size_t)(global->freedom * global->freedom);
    *g = (rg_active_graph){0};
    RG_TAKE(g->link, active->context, blocks, error);
    RG_TAKE(g->bodies, active->context, 2 * blocks, error);
    RG_TAKE(g->used, active->context, blocks, error);
    RG_TAKE(g->link_slots, active->context, 2 * blocks, error);
    RG_TAKE(g->body_slots, active->context, global->blocks, error);
    RG_TAKE(g->diagonal, active->context, global->blocks * ff, error);
    for (size_t i = 0; i < blocks; i++) {
        rg_system_touch touch = rg_system_touched(s, i);
        uint32_t *last = g->bodies + 2 * (size_t)g->links - 2;
        if (g->links == 0 || last[0] != touch.blocks[0] || last[1] != touch.blocks[1]) {
            g->bodies[2 * (size_t)g->links] = touch.blocks[0];
            g->bodies[2 * (size_t)g->links + 1] = touch.blocks[1];
            g->used[g->links++] = 0;
        }
        g->link[i] = g->links - 1;
    }
    return RG_OK;
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
        if (g->used[link] && joins_two(g, link))
            memcpy(pairs + 2 * count++, g->bodies + 2 * (size_t)link, 2 * sizeof *pairs);
    rg_status status =
        rg_sparse_create(arena, global->blocks, NULL, global->freedom, pairs, count, &g->sparse);
    if (status)
        return status;
    rg_sparse_set_pool(g->sparse, active->context->pool);
    for (uint32_t b = 0; b < global->blocks; b++)
        g->body_slots[b] = rg_sparse_find(g->sparse, b, b);
    for (uint32_t link = 0; link < g->links; link++) {
        const uint32_t *b = g->bodies + 2 * (size_t)link;
        if (!g->used[link] || !joins_two(g, link))
            continue;
        g->link_slots[2 * (size_t)link] = rg_sparse_find(g->sparse, b[0], b[1]);
        g->link_slots[2 * (size_t)link + 1] = rg_sparse_find(g->sparse, b[1], b[0]);
    }
    return RG_OK;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* out += left' right; left, right: d x f. */
static inline void add_outer(size_t d, size_t f, const double *restrict left,
                             const double *restrict right, double *restrict out) {
    for (size_t i = 0; i < f; i++)
        for (size_t k = 0; k < d; k++)
            for (size_t j = 0; j < f; j++)
                out[i * f + j] += left[k * f + i] * right[k * f + j];
}

/* out = middle rows; middle: d x d, rows: d x f. */
static inline void scale_rows(size_t d, size_t f, const double *restrict middle,
                              const double *restrict rows, double *restrict out) {
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < f; j++) {
            double sum = 0;
            for (size_t m = 0; m < d; m++)
                sum += middle[k * d + m] * rows[m * f + j];
            out[k * f + j] = sum;
        }
}

typedef struct link_sums {
    double up[FREEDOM * FREEDOM], down[FREEDOM * FREEDOM]; /* both halves of the link's place */
} link_sums;

static inline void add_block_sized(rg_active *active, size_t d, size_t f, size_t block,
                                   bool general, link_sums *sums) {
    double *diagonal = active->graph.diagonal, scaled[ROWS * FREEDOM], middle[ROWS * ROWS];
    size_t at = rg_system_block_offset(active->system, block);
    rg_system_touch touch = rg_system_touched(active->system, block);
    bool same = touch.blocks[0] == touch.blocks[1];
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t m = 0; m < d; m++)
                sum += active->inverse[at + k * d + m] * active->slope[at + m * d + j];
            middle[k * d + j] = sum;
        }
    for (int t = 0; t < 2; t++) {
        uint32_t body = touch.blocks[t], other = touch.blocks[1 - t];
        if (body == RG_NO_BLOCK)
            continue;
        scale_rows(d, f, middle, touch.jacobian[t], scaled);
        add_outer(d, f, touch.jacobian[t], scaled, diagonal + body * f * f);
        if (other == RG_NO_BLOCK || (t == 0 && !general && !same))
            continue;
        double *out = same ? diagonal + body * f * f : t == 1 ? sums->up : sums->down;
        add_outer(d, f, touch.jacobian[1 - t], scaled, out);
    }
}

static void add_block(rg_active *active, size_t block, bool general, link_sums *sums) {
    size_t f = (size_t)active->system->problem->global.freedom,
           d = rg_system_block_size(active->system, block);
    if (d == 3 && f == 6)
        add_block_sized(active, 3, 6, block, general, sums);
    else
        add_block_sized(active, d, f, block, general, sums);
}

static void put_link(rg_active_graph *g, uint32_t link, bool general, const link_sums *sums) {
    if (!joins_two(g, link))
        return;
    rg_sparse_add(g->sparse, g->link_slots[2 * (size_t)link], sums->up, general);
    if (general)
        rg_sparse_add(g->sparse, g->link_slots[2 * (size_t)link + 1], sums->down, general);
}

static bool has_slope(uint8_t state) {
    return state == RG_ACTIVE_HOLD || state == RG_ACTIVE_SLIP;
}

rg_status rg_active_factor(rg_active *active, bool general) {
    rg_active_graph *g = &active->graph;
    const rg_global_form *global = &active->system->problem->global;
    size_t ff = (size_t)(global->freedom * global->freedom);
    bool grown = g->sparse == NULL;
    for (size_t n = 0; n < active->live_count; n++) {
        uint32_t block = active->live[n], link = g->link[block];
        if (has_slope(active->state[block]) && !g->used[link]) {
            g->used[link] = 1;
            grown = grown || joins_two(g, link);
        }
    }
    rg_status status = grown ? analyse(active) : RG_OK;
    if (status)
        return status;
    rg_sparse_clear(g->sparse);
    memcpy(g->diagonal, global->mass, global->blocks * ff * sizeof *g->diagonal);
    link_sums sums = {{0}, {0}};
    uint32_t link = UINT32_MAX;
    for (size_t n = 0; n < active->live_count; n++) {
        uint32_t block = active->live[n];
        if (!has_slope(active->state[block]))
            continue;
        if (link != UINT32_MAX && g->link[block] != link) {
            put_link(g, link, general, &sums);
            sums = (link_sums){{0}, {0}};
        }
        link = g->link[block];
        add_block(active, block, general, &sums);
    }
    if (link != UINT32_MAX)
        put_link(g, link, general, &sums);
    for (size_t b = 0; b < global->blocks; b++)
        rg_sparse_add(g->sparse, g->body_slots[b], g->diagonal + b * ff, general);
    active->factorisations++;
    return general ? rg_sparse_factor_general(g->sparse)
                   : rg_sparse_factor_symmetric(g->sparse, NULL, 0, NULL);
}

/* y = -matrix x, d x d. */
static void minus_times(size_t d, const double *matrix, const double *x, double *y) {
    for (size_t k = 0; k < d; k++) {
        double sum = 0;
        for (size_t m = 0; m < d; m++)
            sum += matrix[k * d + m] * x[m];
        y[k] = -sum;
    }
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
    for (size_t n = begin; n < end; n++) {
        size_t block = active->live[n], row = rg_system_block_row(s, block),
               at = rg_system_block_offset(s, block), d = rg_system_block_size(s, block);
        double u[ROWS], e[ROWS];
        if (!has_slope(active->state[block]))
            continue;
        /* e + B J dv before A^-1, which is huge in sticking contacts: the two nearly cancel. */
        rg_system_rows(s, block, active->dv, u);
        minus_times(d, active->slope + at, u, e);
        for (size_t k = 0; k < d; k++)
            e[k] = active->error[row + k] - e[k];
        minus_times(d, active->inverse + at, e, active->dr + row);
    }
}

void rg_active_step(rg_active *active) {
    const rg_system *s = active->system;
    rg_parallel_for(s->pool, active->live_count, RG_SYSTEM_ROWS_PER_CHUNK, start_forces, active);
    rg_system_impulses(s, active->dr, active->live, active->live_count, active->dv);
    rg_sparse_solve(active->graph.sparse, active->dv);
    rg_parallel_for(s->pool, active->live_count, RG_SYSTEM_ROWS_PER_CHUNK, end_forces, active);
    /* What the forces really do to the bodies, which is not dv to the last digit. */
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
