/* Sparse least squares, |B d + r| least over the rows and columns in question, by the normal
 * equations with a little regularisation,
 *
 *     (B'B + REG) d = -B'r,
 *
 * solved again and again with the rest that is left (iterated Tikhonov regularisation; iterative
 * refinement at the same time): the error along a singular value s shrinks by REG / (s^2 + REG) and
 * what rounding makes of it each time.
 *
 * Contact matrices are singular as a rule: four legs of a table. With REG > 0 the factor exists
 * whatever the rank, and d is the smallest correction. Singular values below 1e-6 of the largest
 * column count as zero: what Clp left there stays.
 *
 * With a fill-reducing order the cost follows the non-zeros of the factor; on matrices with a band
 * that is linear in the rows.
 * Tested by tests/lp/test_heuristic.c. */
#include "lp/lp_polish.h"

#include "base/base_math.h"
#include "base/base_sparse.h"

/* REG, relative to the largest diagonal entry of B'B: well above its rounding, so that dependent
 * columns are told by their pivots (up to SINGULAR) and not by chance. */
#define REG      1e-13
#define SINGULAR 1e-12
enum { ROUNDS = 3 };

typedef struct polisher {
    rg_lp_form *form;
    const uint8_t *rows;
    uint32_t *place; /* of each column in the system, NONE if it has none */
    size_t columns;  /* in question */
    rg_sparse *system;
} polisher;

#define NONE UINT32_MAX

/* The product of two entries of one row is a term of B'B; `term` is called for all with i >= j. */
static void walk_terms(polisher *p, void (*term)(void *user, uint32_t i, uint32_t j, double value),
                       void *user) {
    const rg_matrix *m = &p->form->matrix;
    for (size_t row = 0; row < p->form->size; row++)
        for (size_t k = m->starts[row]; p->rows[row] && k < m->starts[row + 1]; k++)
            for (size_t l = m->starts[row]; l <= k && p->place[m->indices[k]] != NONE; l++)
                if (p->place[m->indices[l]] != NONE)
                    term(user, p->place[m->indices[k]], p->place[m->indices[l]],
                         m->values[k] * m->values[l]);
}

typedef struct pair_list {
    uint32_t *pairs; /* null: only count them */
    size_t count;
} pair_list;

static void note_pair(void *user, uint32_t i, uint32_t j, double value) {
    pair_list *list = user;
    (void)value;
    if (list->pairs)
        list->pairs[2 * list->count] = i, list->pairs[2 * list->count + 1] = j;
    list->count++;
}

static void add_square(void *user, uint32_t i, uint32_t j, double value) {
    double *squares = user;
    squares[i] += i == j ? value : 0;
}

static void add_term(void *user, uint32_t i, uint32_t j, double value) {
    rg_sparse *system = user;
    rg_sparse_add(system, rg_sparse_find(system, i, j), &value, false);
}

static rg_status factor(polisher *p, rg_solve_context *context, size_t *replaced, rg_error *error) {
    pair_list list = {0};
    double *squares, largest = 0;
    walk_terms(p, note_pair, &list);
    RG_TAKE(list.pairs, context, 2 * list.count, error);
    RG_TAKE(squares, context, p->columns, error);
    list.count = 0;
    walk_terms(p, note_pair, &list);
    for (size_t i = 0; i < p->columns; i++)
        squares[i] = 0;
    walk_terms(p, add_square, squares);
    for (size_t i = 0; i < p->columns; i++)
        largest = fmax(largest, squares[i]);
    rg_status status =
        rg_sparse_create(&context->arena, p->columns, NULL, 1, list.pairs, list.count, &p->system);
    if (status)
        return rg_fail(error, status, "%s", rg_status_text(status));
    rg_sparse_clear(p->system, false);
    for (uint32_t i = 0; i < p->columns; i++)
        add_term(p->system, i, i, REG * largest);
    walk_terms(p, add_term, p->system);
    rg_sparse_stats stats = rg_sparse_get_stats(p->system);
    p->form->operations +=
        stats.flops + 2.0 * (double)list.count + 4.0 * ROUNDS * (double)stats.factor_blocks;
    status = rg_sparse_factor_symmetric(p->system, NULL, SINGULAR * largest, replaced);
    return status ? rg_fail(error, status, "%s", rg_status_text(status)) : RG_OK;
}

static rg_status polish(polisher *p, rg_solve_context *context, double *g, size_t *replaced,
                        rg_error *error) {
    const rg_matrix *m = &p->form->matrix;
    size_t n = p->form->size;
    double *alpha, *x;
    RG_TAKE(alpha, context, n, error);
    RG_TAKE(x, context, p->columns, error);
    rg_status status = factor(p, context, replaced, error);
    for (int round = 0; round < ROUNDS && !status; round++) {
        rg_lp_form_apply(p->form, g, alpha);
        for (size_t i = 0; i < p->columns; i++)
            x[i] = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t k = m->starts[i]; p->rows[i] && k < m->starts[i + 1]; k++)
                if (p->place[m->indices[k]] != NONE)
                    x[p->place[m->indices[k]]] -= m->values[k] * alpha[i];
        rg_sparse_solve(p->system, x);
        for (size_t j = 0; j < n; j++)
            if (p->place[j] != NONE)
                g[j] += x[p->place[j]];
    }
    return status;
}

/* Without any there is nothing to correct by. */
static bool has_entries(const polisher *p) {
    const rg_matrix *m = &p->form->matrix;
    for (size_t i = 0; i < p->form->size; i++)
        for (size_t k = m->starts[i]; p->rows[i] && k < m->starts[i + 1]; k++)
            if (p->place[m->indices[k]] != NONE)
                return true;
    return false;
}

rg_status rg_lp_polish(rg_solve_context *context, rg_lp_form *form, const uint8_t *rows,
                       const uint8_t *columns, double *g, bool *singular, rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    polisher p = {.form = form, .rows = rows};
    size_t n = form->size, replaced = 0;
    RG_TAKE(p.place, context, n, error);
    for (size_t j = 0; j < n; j++)
        p.place[j] = columns[j] ? (uint32_t)p.columns++ : NONE;
    rg_status status = RG_OK;
    if (p.columns && has_entries(&p))
        status = polish(&p, context, g, &replaced, error);
    if (singular)
        *singular = replaced > 0;
    rg_arena_return(&context->arena, mark);
    return status;
}
