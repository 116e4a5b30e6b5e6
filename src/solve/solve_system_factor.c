/* The linear systems of the Newton-like cone solvers (solve_system.h): assembly, factor, solve,
 * refine.
 *
 * Global form: with D = A^-1 B, K = M + J' D J is assembled over the body graph (a contact adds
 * four blocks) and factored by the block-sparse kernel, L D L' if D is symmetric, L U otherwise;
 *     K dv = -E1 - J' A^-1 E2,    dr = -A^-1 (E2 + B J dv).
 * Contacts usually outnumber bodies, and redundant contacts cost nothing here: K is regular even
 * where J M^-1 J' is not. Local form: A + B W over the contacts, by the block-sparse kernel or,
 * where that would be nearly full, by a dense LU with row interchanges. Fails: RG_SINGULAR, when a
 * block A (global) or a pivot breaks down.
 * Tested by tests/solve/test_system.c. */
#include "solve/solve_system_parts.h"

#include "problem/problem.h"

#include <math.h>
#include <string.h>

/* Local form: the dense factor is taken if it needs fewer than this times the operations of the
 * sparse one (short loops over small blocks run at about this fraction of the speed), or for few
 * rows. */
#define DENSE_ADVANTAGE 3.0
enum { DENSE_ROWS = 24 };

/* --- small blocks ----------------------------------------------------------------------------- */

static bool is_diagonal(const double *matrix, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j && matrix[i * n + j] != 0)
                return false;
    return true;
}

/* inverse := matrix^-1, n <= 3, by elimination with row interchanges. */
static bool invert_block(const double *matrix, size_t n, double *inverse) {
    if (is_diagonal(matrix, n)) { /* as those of the interior point */
        bool finite = true;
        memset(inverse, 0, n * n * sizeof *inverse);
        for (size_t k = 0; k < n; k++) {
            inverse[k * n + k] = 1 / matrix[k * n + k];
            finite = finite && isfinite(inverse[k * n + k]) && isfinite(matrix[k * n + k]);
        }
        return finite;
    }
    double t[RG_SYSTEM_DIMENSION_MAX][2 * RG_SYSTEM_DIMENSION_MAX] = {{0}};
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            t[i][j] = matrix[i * n + j];
        t[i][n + i] = 1;
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(t[i][k]) > fabs(t[best][k]))
                best = i;
        double pivot = t[best][k];
        if (!(fabs(pivot) > 0) || !isfinite(pivot))
            return false;
        for (size_t j = 0; j < 2 * n; j++) {
            double s = t[best][j] / pivot;
            t[best][j] = t[k][j];
            t[k][j] = s;
        }
        for (size_t i = 0; i < n; i++) {
            double c = t[i][k];
            if (i == k)
                continue;
            for (size_t j = k; j < 2 * n; j++)
                t[i][j] -= c * t[k][j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            inverse[i * n + j] = t[i][n + j];
    return true;
}

/* out += matrix x, d x d. */
static inline void add_block(size_t d, const double *restrict matrix, const double *restrict x,
                             double *restrict out) {
    for (size_t k = 0; k < d; k++) {
        double sum = 0;
        for (size_t m = 0; m < d; m++)
            sum += matrix[k * d + m] * x[m];
        out[k] += sum;
    }
}

/* out += matrices x, block by block (out and x of row length). */
static void add_blocks(const rg_system *system, const double *matrices, const double *x,
                       double *restrict out) {
    size_t i = 0;
    for (; system->dimension == 3 && i < system->contacts; i++) /* the most frequent ones */
        add_block(3, matrices + 9 * i, x + 3 * i, out + 3 * i);
    for (; i < rg_system_blocks(system); i++) {
        size_t row = rg_system_block_row(system, i);
        add_block(rg_system_block_size(system, i), matrices + rg_system_block_offset(system, i),
                  x + row, out + row);
    }
}

/* --- global form ------------------------------------------------------------------------------ */

static rg_status analyse_global(rg_system *system) {
    struct rg_system_factor *factor = system->factor;
    const rg_global_form *global = &system->problem->global;
    size_t blocks = rg_system_blocks(system), count = 0;
    uint32_t *pairs = rg_solve_take(factor->context, 2 * blocks, sizeof *pairs);
    factor->pair_slots = rg_solve_take(factor->context, 2 * blocks, sizeof *factor->pair_slots);
    factor->body_slots = rg_solve_take(factor->context, global->blocks, sizeof *factor->body_slots);
    factor->diagonal =
        rg_solve_take(factor->context, global->blocks * (size_t)(global->freedom * global->freedom),
                      sizeof *factor->diagonal);
    if (!pairs || !factor->pair_slots || !factor->body_slots || !factor->diagonal)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < blocks; i++) {
        rg_system_touch touch = rg_system_touched(system, i);
        if (touch.blocks[0] == RG_NO_BLOCK || touch.blocks[1] == RG_NO_BLOCK)
            continue;
        pairs[2 * count] = touch.blocks[0];
        pairs[2 * count++ + 1] = touch.blocks[1];
    }
    rg_status status = rg_sparse_create(&factor->context->arena, global->blocks, NULL,
                                        global->freedom, pairs, count, &factor->sparse);
    if (status != RG_OK)
        return status;
    size_t freedom = (size_t)global->freedom;
    for (size_t i = 0; i < global->blocks; i++)
        rg_mass_units(global->mass + i * freedom * freedom, global->freedom,
                      factor->velocity_work + i * freedom);
    rg_sparse_set_units(factor->sparse, factor->velocity_work);
    for (size_t i = 0; i < global->blocks; i++)
        factor->body_slots[i] = rg_sparse_find(factor->sparse, (uint32_t)i, (uint32_t)i);
    for (size_t i = 0; i < blocks; i++) {
        rg_system_touch touch = rg_system_touched(system, i);
        if (touch.blocks[0] == RG_NO_BLOCK || touch.blocks[1] == RG_NO_BLOCK)
            continue;
        factor->pair_slots[2 * i] =
            rg_sparse_find(factor->sparse, touch.blocks[0], touch.blocks[1]);
        factor->pair_slots[2 * i + 1] =
            rg_sparse_find(factor->sparse, touch.blocks[1], touch.blocks[0]);
    }
    return RG_OK;
}

/* The halves of a pair of bodies, summed over contacts and joints that follow one another. */
typedef struct pair_sum {
    double half[2][RG_SYSTEM_FREEDOM_MAX * RG_SYSTEM_FREEDOM_MAX]; /* [t]: what side t adds */
    size_t block; /* one of those; SIZE_MAX: none */
} pair_sum;

static void put_pair(const rg_system *system, pair_sum *sum, bool general) {
    struct rg_system_factor *factor = system->factor;
    if (sum->block == SIZE_MAX)
        return;
    rg_sparse_add(factor->sparse, factor->pair_slots[2 * sum->block], sum->half[1], general);
    if (general)
        rg_sparse_add(factor->sparse, factor->pair_slots[2 * sum->block + 1], sum->half[0], true);
    sum->block = SIZE_MAX;
}

/* In the symmetric form one of the two halves is enough, unless both are on the diagonal, because
 * the contact names one body twice. */
static void add_contact(const rg_system *system, size_t block, bool general, pair_sum *sum) {
    struct rg_system_factor *factor = system->factor;
    size_t ff = (size_t)(system->problem->global.freedom * system->problem->global.freedom);
    const double *middle = factor->middle + rg_system_block_offset(system, block);
    rg_system_touch touch = rg_system_touched(system, block);
    bool same = touch.blocks[0] == touch.blocks[1];
    bool joins = !same && touch.blocks[0] != RG_NO_BLOCK && touch.blocks[1] != RG_NO_BLOCK;
    if (joins && sum->block != SIZE_MAX) {
        rg_system_touch last = rg_system_touched(system, sum->block);
        if (last.blocks[0] != touch.blocks[0] || last.blocks[1] != touch.blocks[1])
            put_pair(system, sum, general);
    }
    if (joins && sum->block == SIZE_MAX) {
        memset(sum->half[0], 0, ff * sizeof(double));
        memset(sum->half[1], 0, ff * sizeof(double));
        sum->block = block;
    }
    for (int t = 0; t < 2; t++) {
        if (touch.blocks[t] == RG_NO_BLOCK)
            continue;
        double *diagonal = factor->diagonal + touch.blocks[t] * ff;
        double *half = same ? diagonal : joins && (t == 1 || general) ? sum->half[t] : NULL;
        rg_system_add_side(system, block, t, middle, diagonal, half);
    }
}

/* A^-1 and A^-1 B of a contact or joint. */
static bool find_middle(rg_system *system, size_t block, bool symmetric) {
    struct rg_system_factor *factor = system->factor;
    size_t d = rg_system_block_size(system, block), offset = rg_system_block_offset(system, block);
    double *inverse = factor->inverse + offset, *middle = factor->middle + offset;
    const double *b = factor->b + offset;
    if (!invert_block(factor->a + offset, d, inverse))
        return false;
    rg_kernel_multiply(d, inverse, b, middle);
    for (size_t k = 0; symmetric && k < d; k++) /* exactly, so that either half may be read */
        for (size_t j = 0; j < k; j++)
            middle[k * d + j] = middle[j * d + k] = 0.5 * (middle[k * d + j] + middle[j * d + k]);
    return true;
}

static rg_status factor_global(rg_system *system, bool symmetric) {
    struct rg_system_factor *factor = system->factor;
    const rg_global_form *global = &system->problem->global;
    size_t ff = (size_t)(global->freedom * global->freedom);
    rg_sparse_clear(factor->sparse, !symmetric);
    memcpy(factor->diagonal, global->mass, global->blocks * ff * sizeof *factor->diagonal);
    pair_sum sum;
    sum.block = SIZE_MAX;
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        if (!find_middle(system, i, symmetric))
            return RG_SINGULAR;
        add_contact(system, i, !symmetric, &sum);
    }
    put_pair(system, &sum, !symmetric);
    for (size_t i = 0; i < global->blocks; i++)
        rg_sparse_add(factor->sparse, factor->body_slots[i], factor->diagonal + i * ff, !symmetric);
    return symmetric ? rg_sparse_factor_symmetric(factor->sparse, NULL, 0, NULL)
                     : rg_sparse_factor_general(factor->sparse);
}

static void solve_global(rg_system *system, const double *e1, const double *e2, double *dv,
                         double *dr, double *rates) {
    struct rg_system_factor *factor = system->factor;
    double *scaled = factor->row_work;
    memset(scaled, 0, system->rows * sizeof *scaled);
    add_blocks(system, factor->inverse, e2, scaled); /* A^-1 E2 */
    rg_system_jt(system, scaled, dv);
    for (size_t i = 0; i < system->velocities; i++)
        dv[i] = -dv[i] - (e1 ? e1[i] : 0);
    rg_sparse_solve(factor->sparse, dv);
    /* E2 + B J dv before A^-1, which is huge in sticking contacts: the two nearly cancel. */
    double *inner = factor->row_work2;
    rg_system_j(system, dv, rates);
    memcpy(inner, e2, system->rows * sizeof *inner);
    add_blocks(system, factor->b, rates, inner);
    memset(dr, 0, system->rows * sizeof *dr);
    add_blocks(system, factor->inverse, inner, dr);
    for (size_t i = 0; i < system->rows; i++)
        dr[i] = -dr[i];
}

/* --- local form ------------------------------------------------------------------------------- */

static rg_status analyse_local(rg_system *system) {
    struct rg_system_factor *factor = system->factor;
    const rg_block_rows *w = &factor->w;
    size_t blocks = rg_system_blocks(system), count = w->starts[blocks], n = system->rows;
    if (n > DENSE_ROWS) {
        uint32_t *pairs = rg_solve_take(factor->context, 2 * count, sizeof *pairs);
        uint8_t *sizes = rg_solve_take(factor->context, blocks, sizeof *sizes);
        factor->w_slots = rg_solve_take(factor->context, count, sizeof *factor->w_slots);
        if (!pairs || !sizes || !factor->w_slots)
            return RG_OUT_OF_MEMORY;
        for (size_t i = 0; i < blocks; i++) {
            sizes[i] = (uint8_t)rg_system_block_size(system, i);
            for (size_t k = w->starts[i]; k < w->starts[i + 1]; k++) {
                pairs[2 * k] = (uint32_t)i;
                pairs[2 * k + 1] = w->columns[k];
            }
        }
        rg_status status = rg_sparse_create(&factor->context->arena, blocks, sizes, 0, pairs, count,
                                            &factor->sparse);
        if (status != RG_OK)
            return status;
        double dense = (double)n * (double)n * (double)n / 3;
        if (rg_sparse_get_stats(factor->sparse).flops * DENSE_ADVANTAGE < dense) {
            for (size_t i = 0; i < blocks; i++)
                for (size_t k = w->starts[i]; k < w->starts[i + 1]; k++)
                    factor->w_slots[k] = rg_sparse_find(factor->sparse, (uint32_t)i, w->columns[k]);
            return RG_OK;
        }
    }
    factor->dense = true;
    factor->lu =
        n && n > SIZE_MAX / n ? NULL : rg_solve_take(factor->context, n * n, sizeof(double));
    factor->pivots = rg_solve_take(factor->context, n, sizeof *factor->pivots);
    return factor->lu && factor->pivots ? RG_OK : RG_OUT_OF_MEMORY;
}

static void put_block(rg_system *system, size_t i, size_t k, const double *block) {
    struct rg_system_factor *factor = system->factor;
    if (!factor->dense) {
        rg_sparse_add(factor->sparse, factor->w_slots[k], block, true);
        return;
    }
    size_t j = factor->w.columns[k], columns = rg_system_block_size(system, j);
    double *place =
        factor->lu + rg_system_block_row(system, i) * system->rows + rg_system_block_row(system, j);
    for (size_t a = 0; a < rg_system_block_size(system, i); a++)
        memcpy(place + a * system->rows, block + a * columns, columns * sizeof *block);
}

static rg_status factor_local(rg_system *system) {
    struct rg_system_factor *factor = system->factor;
    const rg_block_rows *w = &factor->w;
    if (factor->dense)
        memset(factor->lu, 0, system->rows * system->rows * sizeof *factor->lu);
    else
        rg_sparse_clear(factor->sparse, true);
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        size_t d = rg_system_block_size(system, i), offset = rg_system_block_offset(system, i);
        const double *a = factor->a + offset, *b = factor->b + offset;
        for (size_t k = w->starts[i]; k < w->starts[i + 1]; k++) {
            double block[RG_SYSTEM_DIMENSION_MAX * RG_SYSTEM_DIMENSION_MAX] = {0};
            const double *values = w->values + w->offsets[k];
            size_t columns = rg_system_block_size(system, w->columns[k]);
            for (size_t p = 0; p < d; p++)
                for (size_t m = 0; m < d; m++)
                    for (size_t j = 0; j < columns; j++)
                        block[p * columns + j] += b[p * d + m] * values[m * columns + j];
            if (w->columns[k] == i)
                for (size_t p = 0; p < d * d; p++)
                    block[p] += a[p];
            put_block(system, i, k, block);
        }
    }
    return factor->dense ? rg_dense_factor(factor->lu, factor->pivots, system->rows)
                         : rg_sparse_factor_general(factor->sparse);
}

/* --- both ------------------------------------------------------------------------------------- */

rg_status rg_system_factor(rg_system *system, const double *a, const double *b, bool symmetric) {
    struct rg_system_factor *factor = system->factor;
    bool global = system->problem->form == RG_FORM_GLOBAL;
    if (!factor->analysed) {
        rg_status status = global ? analyse_global(system) : analyse_local(system);
        if (status == RG_OUT_OF_MEMORY)
            factor->context->starved = true; /* callers take any failure for a singular matrix */
        if (status != RG_OK)
            return status;
        factor->analysed = true;
    }
    size_t numbers = rg_system_block_numbers(system);
    memcpy(factor->a, a, numbers * sizeof *a);
    memcpy(factor->b, b, numbers * sizeof *b);
    rg_status status = global ? factor_global(system, symmetric) : factor_local(system);
    if (status == RG_OUT_OF_MEMORY)
        factor->context->starved = true;
    return status;
}

static void solve_with(rg_system *system, const double *e1, const double *e2, double *dv,
                       double *dr, double *rates) {
    struct rg_system_factor *factor = system->factor;
    if (system->problem->form == RG_FORM_GLOBAL) {
        solve_global(system, e1, e2, dv, dr, rates);
        return;
    }
    for (size_t i = 0; i < system->rows; i++)
        dr[i] = -e2[i];
    if (factor->dense)
        rg_dense_solve(factor->lu, factor->pivots, system->rows, dr);
    else
        rg_sparse_solve(factor->sparse, dr);
}

void rg_system_solve(rg_system *system, const double *e1, const double *e2, double *dv,
                     double *dr) {
    solve_with(system, e1, e2, dv, dr, system->factor->rates);
}

void rg_system_refine(rg_system *system, const double *e1, const double *e2, double *dv,
                      double *dr) {
    struct rg_system_factor *factor = system->factor;
    bool global = system->problem->form == RG_FORM_GLOBAL;
    /* row_work and row_work2 belong to the solve below: the residual of the rows needs its own. */
    double *residual = factor->row_correction, *correction = factor->row_work3, *e1_residual = NULL;
    const double *moved = factor->rates;
    if (!global) {
        rg_block_rows_apply(system, dr, factor->row_work);
        moved = factor->row_work;
    }
    memcpy(residual, e2, system->rows * sizeof *residual);
    add_blocks(system, factor->a, dr, residual);
    add_blocks(system, factor->b, moved, residual);
    if (global) {
        e1_residual = factor->velocity_work;
        double *impulse = factor->velocity_work2;
        rg_system_mass(system, dv, e1_residual);
        rg_system_jt(system, dr, impulse);
        for (size_t i = 0; i < system->velocities; i++)
            e1_residual[i] += (e1 ? e1[i] : 0) - impulse[i];
    }
    solve_with(system, e1_residual, residual, factor->velocity_correction, correction,
               factor->rates_correction);
    for (size_t i = 0; i < system->rows; i++)
        dr[i] += correction[i];
    for (size_t i = 0; global && i < system->velocities; i++)
        dv[i] += factor->velocity_correction[i];
    for (size_t i = 0; global && i < system->rows; i++)
        factor->rates[i] += factor->rates_correction[i];
}

const double *rg_system_solved_rates(const rg_system *system) {
    return system->factor->rates;
}
