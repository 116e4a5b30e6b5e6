/* The factor of what holds, kept with the numbers that it was made of: contact by contact the
 * bodies, the Jacobian and rho, and the masses of the bodies. Where all of them are the same again,
 * bit for bit, so is the factor, and it is not made once more; likewise the part of the inverse
 * between the bodies that were asked for last. Nothing else is remembered, so that the bits are
 * those without a memory.
 *
 * Bodies that no contact holds are not in the matrix: they respond by their own mass.
 *
 * Tested by tests/solve/test_held.c. */
#include "base/base_memory.h"
#include "solve/solve_held.h"
#include "solve/solve_system_parts.h"

#include <string.h>

typedef struct rg_held {
    rg_arena memory; /* of all below */
    /* What it is made of. */
    size_t contacts, blocks;
    int dimension, freedom;
    uint32_t *ends;         /* 2 per contact */
    double *jacobian, *rho; /* of each contact */
    double *mass;           /* of all bodies */
    uint32_t *core;         /* per body: its place in the matrix, or RG_NO_BLOCK */
    uint32_t cores;
    rg_sparse *sparse;      /* null: there is none */
    rg_arena_mark factored; /* of the memory, before the inverse */
    /* A part of the inverse: of these cores. */
    uint32_t *inverse_of;
    size_t inverse_count;
    double *inverse; /* null: none */
    uint64_t made;   /* factors */
} rg_held;

void rg_held_free(rg_solve_context *context) {
    if (!context->held)
        return;
    rg_arena_free(&context->held->memory);
    rg_release(&context->allocator, context->held);
    context->held = NULL;
}

uint64_t rg_held_factors_made(const rg_solve_context *context) {
    return context->held ? context->held->made : 0;
}

static rg_held *held_of(rg_solve_context *context) {
    if (!context->held) {
        context->held = rg_allocate(&context->allocator, 1, sizeof *context->held);
        if (context->held)
            *context->held = (rg_held){.memory = rg_arena_make(&context->allocator)};
    }
    return context->held;
}

/* --- what it is made of ----------------------------------------------------------------------- */

static bool is_same(const rg_held *h, const rg_system *s, rg_held_list holding) {
    const rg_global_form *g = &s->problem->global;
    size_t f = (size_t)g->freedom, each = 2 * (size_t)s->dimension * f;
    if (!h->sparse || h->contacts != holding.count || h->blocks != g->blocks ||
        h->dimension != s->dimension || h->freedom != g->freedom)
        return false;
    for (size_t n = 0; n < holding.count; n++) {
        size_t i = holding.contacts[n];
        if (memcmp(h->ends + 2 * n, g->contact_blocks + 2 * i, 2 * sizeof *h->ends) != 0 ||
            memcmp(h->rho + n, s->rho + i, sizeof *h->rho) != 0 ||
            memcmp(h->jacobian + n * each, g->contact_jacobian + i * each,
                   each * sizeof *h->jacobian) != 0)
            return false;
    }
    for (size_t b = 0; b < g->blocks; b++)
        if (h->core[b] != RG_NO_BLOCK &&
            memcmp(h->mass + b * f * f, g->mass + b * f * f, f * f * sizeof *h->mass) != 0)
            return false;
    return true;
}

static rg_status note(rg_held *h, const rg_system *s, rg_held_list holding) {
    const rg_global_form *g = &s->problem->global;
    size_t f = (size_t)g->freedom, each = 2 * (size_t)s->dimension * f;
    h->contacts = holding.count, h->blocks = g->blocks;
    h->dimension = s->dimension, h->freedom = g->freedom;
    h->ends = rg_arena_take(&h->memory, 2 * holding.count, sizeof *h->ends);
    h->jacobian = rg_arena_take(&h->memory, holding.count * each, sizeof *h->jacobian);
    h->rho = rg_arena_take(&h->memory, holding.count, sizeof *h->rho);
    h->mass = rg_arena_take(&h->memory, g->blocks * f * f, sizeof *h->mass);
    h->core = rg_arena_take(&h->memory, g->blocks, sizeof *h->core);
    if (!h->ends || !h->jacobian || !h->rho || !h->mass || !h->core)
        return RG_OUT_OF_MEMORY;
    memcpy(h->mass, g->mass, g->blocks * f * f * sizeof *h->mass);
    memset(h->core, 0, g->blocks * sizeof *h->core);
    for (size_t n = 0; n < holding.count; n++) {
        size_t i = holding.contacts[n];
        memcpy(h->ends + 2 * n, g->contact_blocks + 2 * i, 2 * sizeof *h->ends);
        memcpy(h->jacobian + n * each, g->contact_jacobian + i * each, each * sizeof *h->jacobian);
        h->rho[n] = s->rho[i];
        for (size_t t = 0; t < 2; t++)
            if (h->ends[2 * n + t] != RG_NO_BLOCK)
                h->core[h->ends[2 * n + t]] = 1;
    }
    h->cores = 0;
    for (size_t b = 0; b < g->blocks; b++)
        h->core[b] = h->core[b] ? h->cores++ : RG_NO_BLOCK;
    return RG_OK;
}

/* --- the matrix ------------------------------------------------------------------------------- */

static bool joins_two(const rg_held *h, size_t n) {
    const uint32_t *ends = h->ends + 2 * n;
    return ends[0] != RG_NO_BLOCK && ends[1] != RG_NO_BLOCK && ends[0] != ends[1];
}

static rg_status analyse(rg_held *h, rg_arena *work) {
    size_t count = 0;
    uint32_t *pairs = rg_arena_take(work, 2 * h->contacts, sizeof *pairs);
    if (!pairs)
        return RG_OUT_OF_MEMORY;
    for (size_t n = 0; n < h->contacts; n++) {
        if (!joins_two(h, n))
            continue;
        pairs[2 * count] = h->core[h->ends[2 * n]];
        pairs[2 * count + 1] = h->core[h->ends[2 * n + 1]];
        count++;
    }
    return rg_sparse_create(&h->memory, h->cores, NULL, h->freedom, pairs, count, &h->sparse);
}

/* A contact's (rho / delta) J' J: to `diagonal` of its bodies, and to the matrix. */
static void add_contact(const rg_held *h, const rg_system *s, size_t n, uint32_t contact,
                        double *diagonal) {
    size_t d = (size_t)h->dimension, ff = (size_t)(h->freedom * h->freedom);
    double middle[RG_SYSTEM_DIMENSION_MAX * RG_SYSTEM_DIMENSION_MAX] = {0},
                                            half[RG_SYSTEM_FREEDOM_MAX * RG_SYSTEM_FREEDOM_MAX] = {
                                                0};
    const uint32_t *ends = h->ends + 2 * n;
    for (size_t k = 0; k < d; k++)
        middle[k * d + k] = h->rho[n] / RG_HELD_DELTA;
    for (int t = 0; t < 2; t++) {
        if (ends[t] == RG_NO_BLOCK)
            continue;
        double *own = diagonal + ends[t] * ff, *other = joins_two(h, n) && t == 1 ? half : NULL;
        rg_system_add_side(s, contact, t, middle, own, ends[0] == ends[1] ? own : other);
    }
    if (joins_two(h, n))
        rg_sparse_add(h->sparse, rg_sparse_find(h->sparse, h->core[ends[0]], h->core[ends[1]]),
                      half, false);
}

static rg_status make(rg_held *h, rg_active *active, rg_held_list holding) {
    const rg_system *s = active->system;
    rg_arena *work = &active->context->arena;
    size_t ff = (size_t)(s->problem->global.freedom * s->problem->global.freedom);
    rg_status status = note(h, s, holding);
    if (!status)
        status = analyse(h, work);
    double *diagonal = rg_arena_take(work, h->blocks * ff, sizeof *diagonal);
    if (status || !diagonal)
        return RG_OUT_OF_MEMORY;
    memcpy(diagonal, h->mass, h->blocks * ff * sizeof *diagonal);
    rg_sparse_set_pool(h->sparse, active->context->pool);
    rg_sparse_clear(h->sparse, false);
    for (size_t n = 0; n < holding.count; n++)
        add_contact(h, s, n, holding.contacts[n], diagonal);
    for (size_t b = 0; b < h->blocks; b++)
        if (h->core[b] != RG_NO_BLOCK)
            rg_sparse_add(h->sparse, rg_sparse_find(h->sparse, h->core[b], h->core[b]),
                          diagonal + b * ff, false);
    h->made++;
    return rg_sparse_factor_symmetric(h->sparse, NULL, 0, NULL);
}

rg_status rg_held_factor(rg_active *active, rg_held_list holding) {
    rg_held *h = held_of(active->context);
    if (!h)
        return RG_OUT_OF_MEMORY;
    active->factorisations++;
    if (is_same(h, active->system, holding)) {
        rg_sparse_set_pool(h->sparse, active->context->pool);
        return RG_OK;
    }
    rg_arena_reset(&h->memory);
    h->sparse = NULL;
    h->inverse = NULL;
    rg_arena_mark mark = rg_arena_get_mark(&active->context->arena);
    rg_status status = make(h, active, holding);
    rg_arena_return(&active->context->arena, mark);
    if (status)
        h->sparse = NULL;
    h->factored = rg_arena_get_mark(&h->memory);
    return status;
}

/* --- responses -------------------------------------------------------------------------------- */

/* The inverse between the cores of a list, kept. */
static rg_status find_inverse(rg_active *active, rg_held *h, const uint32_t *list, size_t count) {
    size_t size = count * (size_t)h->freedom;
    if (h->inverse && h->inverse_count == count &&
        memcmp(h->inverse_of, list, count * sizeof *list) == 0)
        return RG_OK;
    rg_arena_return(&h->memory, h->factored);
    h->inverse = NULL;
    h->inverse_count = count;
    h->inverse_of = rg_arena_take(&h->memory, count, sizeof *list);
    double *inverse = rg_arena_take(&h->memory, size * size, sizeof *inverse);
    if (!h->inverse_of || !inverse)
        return RG_OUT_OF_MEMORY;
    memcpy(h->inverse_of, list, count * sizeof *list);
    rg_status status = rg_sparse_inverse(h->sparse, list, count, &active->context->arena, inverse);
    h->inverse = status ? NULL : inverse;
    return status;
}

rg_status rg_held_mobility(rg_active *active, const uint32_t *bodies, size_t count, double *out) {
    rg_held *h = active->context->held;
    size_t f = (size_t)h->freedom, size = count * f, cores = 0;
    rg_arena *work = &active->context->arena;
    rg_arena_mark mark = rg_arena_get_mark(work);
    uint32_t *list = rg_arena_take(work, count, sizeof *list), *own = NULL;
    own = rg_arena_take(work, count, sizeof *own); /* which of the bodies are cores */
    if (!list || !own)
        return RG_OUT_OF_MEMORY;
    memset(out, 0, size * size * sizeof *out);
    for (uint32_t i = 0; i < count; i++) {
        const double *inverse = active->system->factor->mass_inverse + bodies[i] * f * f;
        if (h->core[bodies[i]] != RG_NO_BLOCK) {
            list[cores] = h->core[bodies[i]];
            own[cores++] = i;
            continue;
        }
        for (size_t k = 0; k < f; k++)
            memcpy(out + (i * f + k) * size + i * f, inverse + k * f, f * sizeof *out);
    }
    rg_status status = find_inverse(active, h, list, cores);
    for (size_t i = 0; i < cores * f && !status; i++)
        for (size_t j = 0; j < cores; j++)
            memcpy(out + (own[i / f] * f + i % f) * size + own[j] * f,
                   h->inverse + i * cores * f + j * f, f * sizeof *out);
    rg_arena_return(work, mark);
    return status;
}

void rg_held_respond(const rg_active *active, const double *impulse, double *dv) {
    const rg_held *h = active->context->held;
    size_t f = (size_t)h->freedom;
    rg_system_mass_inverse(active->system, impulse, dv);
    for (size_t b = 0; b < h->blocks; b++)
        if (h->core[b] != RG_NO_BLOCK)
            memcpy(active->work + h->core[b] * f, impulse + b * f, f * sizeof *dv);
    if (h->cores > 0)
        rg_sparse_solve(h->sparse, active->work);
    for (size_t b = 0; b < h->blocks; b++)
        if (h->core[b] != RG_NO_BLOCK)
            memcpy(dv + b * f, active->work + h->core[b] * f, f * sizeof *dv);
}
