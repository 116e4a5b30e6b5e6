/* Multifrontal block-sparse L D L' and L U.
 *
 * Problem: factor, again and again, a sparse matrix of small dense blocks whose pattern is
 * symmetric.
 * Method: J. W. H. Liu, "The multifrontal method for sparse matrix solution: theory and practice",
 * SIAM Review 34 (1992). Once per pattern (base_sparse_analysis.c): order (base_sparse_order.c),
 * elimination tree, postorder, supernodes (runs of columns with nearly the same pattern, joined
 * where the zeros that this stores are few), cut again where they are wider than RG_SPARSE_WIDTH.
 * Each supernode s has k columns and m rows below them:
 *
 *     lower_s   (k + m) x k  column-major: the diagonal blocks and everything under them
 *     upper_s   the same, transposed: U' (general form only)
 *     update_s  m x m: what its elimination subtracts from the supernodes above it
 *
 * Matrix entries are added straight into lower and upper, by the caller or, from the caller's
 * memory, when the supernode's turn comes: then they are in the cache. A supernode adds the updates
 * of its children, eliminates its columns panel by panel (up to PANEL columns, whole blocks), and
 * forms its own update in one product. Updates live on two stacks, by the parity of the depth in
 * the tree: children are then always on top of one and their parent on top of the other.
 *
 * Inside, rows are padded with zeros to multiples of STRIP: columns take [0, k), rows below begin
 * at the next multiple. All products then run over full tiles of STRIP x STRIP, from operands
 * packed strip by strip. Every entry of a tile is one running sum in order of the eliminated
 * column, whatever the width of the vector registers, so the bits do not depend on the compiler.
 *
 * Subtrees of the elimination tree do not touch each other until their roots have a common parent:
 * those of a small share of the work each are dealt out to lanes (base_sparse_analysis.c), which
 * may be factored side by side, each with its own part of the stacks; then comes what is above
 * them. No sum is taken in another order than by one lane, so the bits are the same. Of a solve the
 * way up the same holds; on the way down lanes would add to the same rows, and there is one.
 *
 * General form: pivoting among the rows of a diagonal panel, which makes the block factors
 * A_bb = P' L_b U_b, L_ib = A_ib U_b^-1, U_bj = L_b^-1 P A_bj; nothing outside the panel is
 * exchanged.
 *
 * Fails: RG_SINGULAR at a pivot that vanishes. Element growth is not bounded by the pivoting:
 * callers that meet badly scaled or indefinite matrices must check the residual and refine. */
#include "base/base_sparse_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { STRIP = RG_SPARSE_STRIP, PANEL = RG_SPARSE_PANEL };

void rg_sparse_set_pool(rg_sparse *sparse, rg_pool *pool) {
    sparse->pool = pool;
}

rg_sparse_stats rg_sparse_get_stats(const rg_sparse *sparse) {
    return sparse->stats;
}

void rg_sparse_set_units(rg_sparse *s, const double *units) {
    for (size_t i = 0; i < s->blocks; i++)
        for (uint32_t r = s->start[i]; r < s->start[i + 1]; r++)
            s->units[r] = units[s->original[i] + (r - s->start[i])];
}

size_t rg_sparse_rows(const rg_sparse *sparse) {
    return sparse->scalars;
}

/* --- the matrix ---------------------------------------------------------------------------------
 * */

/* Entries that one chunk sets to zero: some 20 microseconds. */
enum { ENTRIES_PER_CHUNK = 1 << 15 };

static void clear_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    double *entries = user;
    memset(entries + begin, 0, (end - begin) * sizeof *entries);
}

void rg_sparse_clear(rg_sparse *s, bool general) {
    rg_parallel_for(s->pool, s->entries, ENTRIES_PER_CHUNK, clear_range, s->lower);
    if (general)
        rg_parallel_for(s->pool, s->entries, ENTRIES_PER_CHUNK, clear_range, s->upper);
}

static uint32_t panel_of(const rg_sparse *s, const rg_sparse_node *n, uint32_t column) {
    uint32_t p = 0;
    while (s->panel_start[n->panel + p + 1] <= column)
        p++;
    return p;
}

rg_sparse_slot rg_sparse_find(const rg_sparse *s, uint32_t i, uint32_t j) {
    uint32_t row = s->position[i], column = s->position[j];
    rg_sparse_slot slot = {.rows = (uint8_t)(s->start[row + 1] - s->start[row]),
                           .columns = (uint8_t)(s->start[column + 1] - s->start[column])};
    bool above = row < column;
    uint32_t low = above ? column : row, high = above ? row : column; /* low: the later one */
    const rg_sparse_node *n = &s->nodes[s->node_of[high]];
    uint32_t local_column = s->start[high] - n->first, local = rg_sparse_local_row(s, n, low);
    slot.stride = n->rows;
    slot.symmetric = slot.general = n->entries + (size_t)local_column * n->rows + local;
    slot.symmetric_transposed = slot.general_transposed = above;
    if (above && local < n->width && panel_of(s, n, local) == panel_of(s, n, local_column)) {
        /* The diagonal panel is kept whole in the lower half. */
        slot.general = n->entries + (size_t)local * n->rows + local_column;
        slot.general_transposed = false;
    }
    return slot;
}

static inline void add_values(size_t rows, size_t columns, const double *restrict values,
                              double *restrict place, size_t stride, bool transposed) {
    if (transposed)
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < columns; c++)
                place[r * stride + c] += values[r * columns + c];
    else
        for (size_t c = 0; c < columns; c++)
            for (size_t r = 0; r < rows; r++)
                place[c * stride + r] += values[r * columns + c];
}

void rg_sparse_add(rg_sparse *s, rg_sparse_slot slot, const double *values, bool general) {
    bool transposed = general ? slot.general_transposed : slot.symmetric_transposed;
    double *place = s->lower + slot.symmetric;
    if (general)
        place = (slot.general_transposed ? s->upper : s->lower) + slot.general;
    if (slot.rows == 6 && slot.columns == 6) /* by far the most frequent: with the sizes known */
        add_values(6, 6, values, place, slot.stride, transposed);
    else
        add_values(slot.rows, slot.columns, values, place, slot.stride, transposed);
}

/* --- blocks of the caller -----------------------------------------------------------------------
 * */

void rg_sparse_give(rg_sparse *s, rg_sparse_values values) {
    assert(s->expected_starts);
    s->values = values;
}

/* The columns of a node, both halves, with what was given for them. */
static void load_node(rg_sparse *s, const rg_sparse_node *n, bool general) {
    size_t k = (size_t)(n - s->nodes), count = (size_t)n->rows * n->width;
    memset(s->lower + n->entries, 0, count * sizeof *s->lower);
    if (general)
        memset(s->upper + n->entries, 0, count * sizeof *s->upper);
    for (size_t i = s->expected_starts[k]; i < s->expected_starts[k + 1]; i++) {
        const rg_sparse_block *b = &s->expected[i];
        if (b->pair1 == 0)
            rg_sparse_add(s, b->slot, s->values.diagonal + b->offset, general);
        else if (s->values.present[b->pair1 - 1] && (general || !b->second))
            rg_sparse_add(s, b->slot, s->values.halves + b->offset, general);
    }
}

/* --- kernels, by all threads where that pays ---------------------------------------------------
 * */

/* Multiplications and additions of a chunk: some 10 microseconds. */
#define CHUNK_FLOPS 4e5

/* `flops_each` is 0 for a product without depth. */
static size_t grain_of(double flops_each, size_t unit) {
    return unit * (1 + (size_t)(CHUNK_FLOPS / fmax(1, (double)unit * flops_each)));
}

typedef struct product_job {
    const rg_sparse_kernel *kernel;
    rg_sparse_tiles tiles;
} product_job;

typedef struct strips_job {
    const rg_sparse_kernel *kernel;
    rg_sparse_below rows;
    const rg_sparse_panel *panel;
    rg_sparse_scaling scaling;
} strips_job;

static void multiply_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const product_job *job = user;
    rg_sparse_tiles t = job->tiles;
    t.c += begin * STRIP * t.stride;
    t.b += begin * t.pitch;
    t.column_strips = end - begin;
    if (t.lower) { /* what is above the diagonal of the first column is left out */
        t.c += begin * STRIP;
        t.a += begin * t.pitch;
        t.row_strips -= begin;
    }
    job->kernel->product(&t);
}

/* By strips of columns. */
static void multiply(const rg_sparse *s, rg_sparse_tiles tiles) {
    product_job job = {&s->kernel, tiles};
    size_t grain = grain_of(2.0 * STRIP * STRIP * (double)(tiles.row_strips * tiles.depth), 1);
    if (rg_pool_threads(s->pool) < 2)
        s->kernel.product(&tiles);
    else
        rg_parallel_for(s->pool, tiles.column_strips, grain, multiply_range, &job);
}

static void solve_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const strips_job *job = user;
    rg_sparse_below rows = job->rows;
    rows.at += begin * STRIP;
    rows.plain += begin * rows.pitch;
    rows.other += rows.other ? begin * rows.pitch : 0;
    rows.count = end - begin;
    job->kernel->strips(&rows, job->panel, job->scaling);
}

/* By strips of rows. */
static void solve_strips(const rg_sparse *s, rg_sparse_below rows, const rg_sparse_panel *panel,
                         rg_sparse_scaling scaling) {
    strips_job job = {&s->kernel, rows, panel, scaling};
    size_t grain = grain_of(STRIP * (double)(panel->width * panel->width), 4);
    if (rg_pool_threads(s->pool) < 2)
        s->kernel.strips(&rows, panel, scaling);
    else
        rg_parallel_for(s->pool, rows.count, grain, solve_range, &job);
}

/* --- numeric factorisation ----------------------------------------------------------------------
 * */

/* Entries of an update that one chunk adds: some 5 microseconds. */
enum { SUMS_PER_CHUNK = 1 << 13 };

/* y += x; two at a time: the loops are short. */
static inline void add_entries(double *restrict y, const double *restrict x, uint32_t count) {
    uint32_t r = 0;
    for (; r + 2 <= count; r += 2) {
        rg_pair a, b;
        memcpy(&a, y + r, sizeof a);
        memcpy(&b, x + r, sizeof b);
        a += b;
        memcpy(y + r, &a, sizeof a);
    }
    if (r < count)
        y[r] += x[r];
}

/* The update of a child, to be added to its parent. */
typedef struct child_sum {
    const rg_sparse *sparse;
    const rg_sparse_node *node, *child;
    double *update; /* of the parent */
    bool general;
} child_sum;

/* Column c of run b; lower part only. */
static void add_column_symmetric(const child_sum *sum, uint32_t b, uint32_t c) {
    const rg_sparse *s = sum->sparse;
    const rg_sparse_node *n = sum->node, *child = sum->child;
    const rg_sparse_run *runs = s->runs + child->run;
    uint32_t column = runs[b].to + c;
    const double *source =
        s->stacks[child->stack] + child->update + (size_t)(runs[b].from + c) * child->below;
    double *target = column < n->width
                         ? s->lower + n->entries + (size_t)column * n->rows
                         : sum->update + (size_t)(column - n->base) * n->below - n->base;
    for (uint32_t a = b; a < child->runs; a++) {
        uint32_t skip = a == b ? c : 0;
        add_entries(target + runs[a].to + skip, source + runs[a].from + skip,
                    runs[a].length - skip);
    }
}

/* Columns of one run that go to the upper half together. */
enum { TOGETHER = 6 };

/* What is above the panels: rows of the upper half that lie side by side, so that each is met once
 * for all columns. `source`: of the first column; the others follow, child->below apart. */
static inline void add_above(const child_sum *sum, const double *source, uint32_t column,
                             uint32_t count, uint32_t whole) {
    const rg_sparse_node *n = sum->node, *child = sum->child;
    const rg_sparse_run *runs = sum->sparse->runs + child->run;
    double *upper = sum->sparse->upper + n->entries + column;
    size_t below = child->below;
    for (uint32_t a = 0; a < child->runs && runs[a].to < whole; a++) {
        uint32_t to = runs[a].to, length = runs[a].length;
        uint32_t rows = to + length < whole ? length : whole - to;
        const double *restrict in = source + runs[a].from;
        for (uint32_t r = 0; r < rows; r++) {
            double *restrict y = upper + (size_t)(to + r) * n->rows;
            for (uint32_t k = 0; k < count; k++)
                y[k] += in[k * below + r];
        }
    }
}

/* Columns [c, c + count) of run b, all inside one panel of the node or all right of it. */
static void add_columns_general(const child_sum *sum, uint32_t b, uint32_t c, uint32_t count) {
    const rg_sparse *s = sum->sparse;
    const rg_sparse_node *n = sum->node, *child = sum->child;
    const rg_sparse_run *runs = s->runs + child->run;
    uint32_t column = runs[b].to + c;
    const double *source =
        s->stacks[child->stack] + child->update + (size_t)(runs[b].from + c) * child->below;
    bool inside = column < n->width;
    /* Rows before `whole` belong to the upper half. */
    uint32_t whole = inside ? s->panel_start[n->panel + panel_of(s, n, column)] : n->base;
    if (count == TOGETHER) /* by far the most frequent: with the number known */
        add_above(sum, source, column, TOGETHER, whole);
    else
        add_above(sum, source, column, count, whole);
    for (uint32_t k = 0; k < count; k++, column++, source += child->below) {
        double *target = inside ? s->lower + n->entries + (size_t)column * n->rows
                                : sum->update + (size_t)(column - n->base) * n->below - n->base;
        for (uint32_t a = 0; a < child->runs; a++) {
            uint32_t to = runs[a].to, end = to + runs[a].length, from = to < whole ? whole : to;
            if (from < end)
                add_entries(target + from, source + runs[a].from + (from - to), end - from);
        }
    }
}

/* How many of the columns of run b from c on, below `end` of them, go together. */
static uint32_t count_together(const child_sum *sum, uint32_t b, uint32_t c, uint32_t end) {
    const rg_sparse *s = sum->sparse;
    const rg_sparse_node *n = sum->node;
    uint32_t column = s->runs[sum->child->run + b].to + c, count = end - c;
    if (column < n->width) {
        uint32_t stop = s->panel_start[n->panel + panel_of(s, n, column) + 1];
        count = count < stop - column ? count : stop - column;
    }
    return count < TOGETHER ? count : TOGETHER;
}

/* Columns [begin, end) of the update: each goes to places of its own. */
static void add_columns(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const child_sum *sum = user;
    const rg_sparse_run *runs = sum->sparse->runs + sum->child->run;
    for (uint32_t b = 0; b < sum->child->runs && runs[b].from < end; b++) {
        uint32_t stop =
            runs[b].from + runs[b].length < end ? runs[b].length : (uint32_t)end - runs[b].from;
        uint32_t count = 1;
        for (uint32_t c = runs[b].from < begin ? (uint32_t)begin - runs[b].from : 0; c < stop;
             c += count) {
            if (sum->general) {
                count = count_together(sum, b, c, stop);
                add_columns_general(sum, b, c, count);
            } else {
                add_column_symmetric(sum, b, c);
            }
        }
    }
}

static void add_child(const rg_sparse *s, const rg_sparse_node *n, const rg_sparse_node *child,
                      double *update, bool general) {
    child_sum sum = {s, n, child, update, general};
    if (rg_pool_threads(s->pool) < 2)
        add_columns(&sum, 0, child->below, 0);
    else
        rg_parallel_for(s->pool, child->below, 1 + SUMS_PER_CHUNK / (child->below + 1), add_columns,
                        &sum);
}

typedef struct pivoting {
    const int8_t *signs;
    double regularisation;
    size_t replaced;
} pivoting;

static double larger(double a, double b) { /* inline, unlike fmax; NaN is met again as a pivot */
    return b > a ? b : a;
}

/* Largest entries of the rows of the diagonal panels, before the children are added and after: what
 * a small pivot is compared with. */
static void measure_rows(const rg_sparse *s, const rg_sparse_node *n, double *restrict largest,
                         bool general) {
    const double *restrict lower = s->lower + n->entries;
    for (uint32_t p = 0; p < n->panels; p++) {
        uint32_t first = s->panel_start[n->panel + p], end = s->panel_start[n->panel + p + 1];
        for (uint32_t c = first; c < end; c++) {
            const double *column = lower + (size_t)c * n->rows;
            double unit = general ? s->units[n->first + c] : 1;
            for (uint32_t r = general ? first : c; r < (general ? end : c + 1); r++)
                largest[r] = larger(largest[r], unit * fabs(column[r]));
        }
    }
}

/* L D L' of a diagonal panel, in place: unit L under the diagonal, D on it. Each column is taken
 * from those right of it at once, down contiguous columns; every entry is still one running sum in
 * order of the columns. */
static rg_status factor_panel_symmetric(rg_sparse *s, const rg_sparse_node *n,
                                        const double *largest, pivoting *rule, rg_sparse_panel *f) {
    double *at = s->lower + n->entries + (size_t)f->first * n->rows + f->first;
    size_t stride = n->rows;
    for (uint32_t c = 0; c < f->width; c++) {
        double *column = at + c * stride, d = column[c];
        if (!isfinite(d))
            return RG_SINGULAR;
        double sign = rule->signs ? rule->signs[f->first + c] : 1;
        if (rule->regularisation > 0) {
            if (!(sign * d > rule->regularisation)) {
                d = sign * rule->regularisation;
                rule->replaced++;
            }
        } else if (!(fabs(d) > RG_SPARSE_SINGULAR * largest[f->first + c])) {
            return RG_SINGULAR;
        }
        column[c] = d;
        f->inverse[c] = 1 / d;
        for (uint32_t r = c + 1; r < f->width; r++)
            f->factor[r][c] = column[r] *= f->inverse[c];
        for (uint32_t k = c + 1; k < f->width; k++)
            rg_subtract_column(at + k * stride, column, column[k] * d, k, f->width);
        f->order[c] = (uint8_t)c;
    }
    return RG_OK;
}

static void load_panel(rg_sparse_square *d, const double *at, size_t stride,
                       const double *largest) {
    for (uint32_t c = 0; c < d->width; c++) {
        memset(d->at[c] + d->width, 0, (PANEL - d->width) * sizeof *at);
        memcpy(d->at[c], at + c * stride, d->width * sizeof *at);
        d->size[c] = largest[c] > 0 ? largest[c] : INFINITY;
    }
}

/* The row at or under the diagonal whose entry in column c, of this unit, is the largest share of
 * its size. */
static uint32_t choose_pivot(const rg_sparse_square *d, uint32_t c, double unit, double *share) {
    uint32_t best = c;
    *share = -1;
    for (uint32_t r = c; r < d->width; r++) {
        double entry = unit * fabs(d->at[c][r]) / d->size[r];
        if (entry > *share) {
            *share = entry;
            best = r;
        }
    }
    return best;
}

static void exchange_rows(rg_sparse_square *d, uint32_t a, uint32_t b, uint8_t *order) {
    for (uint32_t k = 0; k < d->width; k++) {
        double entry = d->at[k][a];
        d->at[k][a] = d->at[k][b];
        d->at[k][b] = entry;
    }
    double size = d->size[a];
    d->size[a] = d->size[b];
    d->size[b] = size;
    uint8_t row = order[a];
    order[a] = order[b];
    order[b] = row;
}

/* P A_bb = L U of a diagonal panel, in place; rows compared relative to their largest entry.
 * f gets L for the upper half, g U' for the lower one. */
static rg_status factor_panel_general(rg_sparse *s, const rg_sparse_node *n, const double *largest,
                                      rg_sparse_panel *f, rg_sparse_panel *g) {
    double *at = s->lower + n->entries + (size_t)f->first * n->rows + f->first, share;
    rg_sparse_square d;
    d.width = f->width;
    load_panel(&d, at, n->rows, largest + f->first);
    for (uint32_t c = 0; c < f->width; c++)
        f->order[c] = g->order[c] = (uint8_t)c;
    for (uint32_t c = 0; c < f->width; c++) {
        uint32_t best = choose_pivot(&d, c, s->units[n->first + f->first + c], &share);
        if (!(share > RG_SPARSE_SINGULAR) || !isfinite(d.at[c][best]))
            return RG_SINGULAR;
        if (best != c)
            exchange_rows(&d, c, best, f->order);
        g->inverse[c] = 1 / d.at[c][c];
        s->kernel.eliminate(&d, c, g->inverse[c]);
    }
    for (uint32_t c = 0; c < f->width; c++) {
        memcpy(at + c * n->rows, d.at[c], f->width * sizeof *at);
        memcpy(g->factor[c], d.at[c], c * sizeof *at); /* U_pc */
        for (uint32_t p = 0; p < c; p++)
            f->factor[c][p] = d.at[p][c]; /* L_cp */
    }
    return RG_OK;
}

/* The columns of the supernode right of a panel, one half: half -= a b'. The last strip of columns
 * may reach past the supernode's width: it goes through a copy. */
static void update_columns(const rg_sparse *s, const rg_sparse_node *n, double *half,
                           const double *a, const double *b, const rg_sparse_panel *f, bool lower) {
    size_t pitch = (size_t)STRIP * n->width, stride = n->rows;
    uint32_t begin = (f->first + f->width) / STRIP * STRIP, full = n->width / STRIP * STRIP;
    a += begin * (size_t)n->width + (size_t)STRIP * f->first;
    b += begin * (size_t)n->width + (size_t)STRIP * f->first;
    if (full > begin)
        multiply(s, (rg_sparse_tiles){half + begin * stride + begin, stride, a, b, pitch, f->width,
                                      (n->rows - begin) / STRIP, (full - begin) / STRIP, lower});
    if (full == n->width)
        return;
    uint32_t skipped = lower ? (full - begin) / STRIP : 0, columns = n->width - full;
    const double *last = b + (full - begin) / STRIP * pitch;
    double *copy = s->copy; /* STRIP columns of all rows */
    uint32_t top = begin + skipped * STRIP;
    size_t rows = n->rows - top;
    for (uint32_t c = 0; c < columns; c++)
        memcpy(copy + c * rows, half + (full + c) * stride + top, rows * sizeof *copy);
    for (uint32_t c = columns; c < STRIP; c++)
        memset(copy + c * rows, 0, rows * sizeof *copy);
    s->kernel.product(&(rg_sparse_tiles){copy, rows, a + skipped * pitch, last, pitch, f->width,
                                         rows / STRIP, 1, false});
    for (uint32_t c = 0; c < columns; c++)
        memcpy(half + (full + c) * stride + top, copy + c * rows, rows * sizeof *copy);
}

/* The strip that holds the last rows of a panel and the first below it: through a copy in which the
 * panel's own rows are zero, so that the products leave them alone. */
static void solve_shared(rg_sparse *s, const rg_sparse_node *n, double *half,
                         const rg_sparse_panel *f, rg_sparse_scaling scaling) {
    uint32_t end = f->first + f->width, row = end / STRIP * STRIP;
    size_t place = (size_t)row * n->width + (size_t)STRIP * f->first;
    _Alignas(32) double copy[PANEL * STRIP];
    double *at = half + (size_t)f->first * n->rows + row;
    for (uint32_t c = 0; c < f->width; c++)
        for (uint32_t r = 0; r < STRIP; r++)
            copy[c * STRIP + r] = row + r < end ? 0 : at[(size_t)c * n->rows + r];
    bool first = scaling != RG_SPARSE_UNSCALED;
    s->kernel.strips(&(rg_sparse_below){copy, STRIP, s->pack[first ? 0 : 1] + place,
                                        scaling == RG_SPARSE_BOTH ? s->pack[1] + place : NULL, 0,
                                        1},
                     f, scaling);
    for (uint32_t c = 0; c < f->width; c++)
        for (uint32_t r = end - row; r < STRIP; r++)
            at[(size_t)c * n->rows + r] = copy[c * STRIP + r];
}

/* Everything below a factored panel: its rows, then the columns of the supernode right of it. In
 * the general form the columns are updated over all their rows: the diagonal panels are needed
 * whole, and what lies above them is never read. */
static void eliminate_panel(rg_sparse *s, const rg_sparse_node *n, const rg_sparse_panel *f,
                            const rg_sparse_panel *g, bool general) {
    double *lower = s->lower + n->entries, *upper = s->upper + n->entries;
    size_t stride = n->rows, depth = n->width;
    uint32_t end = f->first + f->width, first_strip = end / STRIP * STRIP;
    if (first_strip < end) { /* a strip that the panel shares with the rows below it */
        solve_shared(s, n, lower, general ? g : f, general ? RG_SPARSE_SCALED : RG_SPARSE_BOTH);
        if (general)
            solve_shared(s, n, upper, f, RG_SPARSE_UNSCALED);
        first_strip += STRIP;
    }
    size_t place = first_strip * depth + (size_t)STRIP * f->first, pitch = STRIP * depth;
    size_t corner = (size_t)f->first * stride + first_strip,
           strips = (n->rows - first_strip) / STRIP;
    double *l = s->pack[0] + place, *w = s->pack[1] + place;
    if (general) {
        solve_strips(s, (rg_sparse_below){lower + corner, stride, l, NULL, pitch, strips}, g,
                     RG_SPARSE_SCALED);
        solve_strips(s, (rg_sparse_below){upper + corner, stride, w, NULL, pitch, strips}, f,
                     RG_SPARSE_UNSCALED);
    } else {
        solve_strips(s, (rg_sparse_below){lower + corner, stride, l, w, pitch, strips}, f,
                     RG_SPARSE_BOTH);
    }
    if (end == n->width)
        return;
    update_columns(s, n, lower, s->pack[0], s->pack[1], f, !general);
    if (general)
        update_columns(s, n, upper, s->pack[1], s->pack[0], f, true);
}

static void subtract_update(rg_sparse *s, const rg_sparse_node *n, double *update, bool general) {
    size_t depth = n->width, strips = n->below / STRIP;
    multiply(s, (rg_sparse_tiles){update, n->below, s->pack[0] + n->base * depth,
                                  s->pack[1] + n->base * depth, STRIP * depth, depth, strips,
                                  strips, !general});
}

static void clear_update(const rg_sparse_node *n, double *update, bool general) {
    for (uint32_t column = 0; column < n->below; column++) {
        uint32_t top = general ? 0 : column / STRIP * STRIP;
        memset(update + (size_t)column * n->below + top, 0, (n->below - top) * sizeof *update);
    }
}

static rg_status factor_node(rg_sparse *s, const rg_sparse_node *n, pivoting *rule, bool general) {
    double largest[RG_SPARSE_WIDTH + PANEL];
    memset(largest, 0, n->width * sizeof *largest);
    double *update = s->stacks[n->stack] + n->update;
    if (s->values.diagonal)
        load_node(s, n, general);
    measure_rows(s, n, largest, general);
    clear_update(n, update, general);
    for (uint32_t c = n->child; c != RG_SPARSE_NONE; c = s->nodes[c].sibling)
        add_child(s, n, &s->nodes[c], update, general);
    if (n->child != RG_SPARSE_NONE) /* without children the entries are the same */
        measure_rows(s, n, largest, general);
    for (uint32_t p = 0; p < n->panels; p++) {
        rg_sparse_panel f, g;
        f.first = g.first = s->panel_start[n->panel + p];
        f.width = g.width = s->panel_start[n->panel + p + 1] - f.first;
        rg_status status = general ? factor_panel_general(s, n, largest, &f, &g)
                                   : factor_panel_symmetric(s, n, largest, rule, &f);
        if (status != RG_OK)
            return status;
        memcpy(s->inverse + n->first + f.first, general ? g.inverse : f.inverse,
               f.width * sizeof(double));
        memcpy(s->exchanges + n->first + f.first, f.order, f.width);
        eliminate_panel(s, n, &f, &g, general);
    }
    subtract_update(s, n, update, general);
    return RG_OK;
}

/* A factorisation, and what the lanes and the top came to. */
typedef struct factoring {
    rg_sparse *sparse;
    const int8_t *signs; /* in the caller's order; null: all +1 */
    double regularisation;
    rg_status status[RG_SPARSE_LANES + 1];
    size_t replaced[RG_SPARSE_LANES + 1];
} factoring;

static void map_signs(const rg_sparse *s, size_t k, const int8_t *signs, int8_t *mapped) {
    uint32_t first = s->nodes[k].first, block = 0, high = (uint32_t)s->blocks;
    while (block < high) { /* the first one of the node */
        uint32_t middle = block + (high - block) / 2;
        if (s->start[middle] < first)
            block = middle + 1;
        else
            high = middle;
    }
    for (; block < s->blocks && s->node_of[block] == k; block++)
        for (uint32_t r = s->start[block]; r < s->start[block + 1]; r++)
            mapped[r - first] = signs[s->original[block] + (r - s->start[block])];
}

/* The nodes of a lane, or of the top, children before parents. `s`: with the lane's work memory. */
static void factor_lane(factoring *f, rg_sparse *s, size_t lane) {
    int8_t mapped[RG_SPARSE_WIDTH + PANEL];
    for (size_t k = 0; k < s->node_count && f->status[lane] == RG_OK; k++) {
        if (s->nodes[k].lane != lane)
            continue;
        if (f->signs)
            map_signs(s, k, f->signs, mapped);
        pivoting rule = {f->signs ? mapped : NULL, f->regularisation, 0};
        f->status[lane] = factor_node(s, &s->nodes[k], &rule, s->general);
        f->replaced[lane] += rule.replaced;
    }
}

static rg_sparse enter_lane(const rg_sparse *s, size_t lane) {
    rg_sparse own = *s;
    memcpy(own.pack, s->lanes[lane].pack, sizeof own.pack);
    own.work = s->lanes[lane].work, own.copy = s->lanes[lane].copy;
    own.pool = NULL;
    return own;
}

static void factor_lanes(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    factoring *f = user;
    for (size_t lane = begin; lane < end; lane++) {
        rg_sparse own = enter_lane(f->sparse, lane);
        factor_lane(f, &own, lane);
    }
}

static rg_status factor(factoring *f) {
    rg_sparse *s = f->sparse;
    if (s->lanes)
        rg_parallel_for(s->pool, RG_SPARSE_LANES, 1, factor_lanes, f);
    rg_status status = RG_OK;
    for (int lane = 0; lane < RG_SPARSE_LANES && status == RG_OK; lane++)
        status = f->status[lane];
    if (status == RG_OK)
        factor_lane(f, s, RG_SPARSE_TOP);
    s->values = (rg_sparse_values){0};
    return status ? status : f->status[RG_SPARSE_TOP];
}

rg_status rg_sparse_factor_symmetric(rg_sparse *s, const int8_t *signs, double regularisation,
                                     size_t *replaced) {
    factoring f = {.sparse = s, .signs = signs, .regularisation = regularisation};
    s->general = false;
    rg_status status = factor(&f);
    if (replaced)
        *replaced = 0;
    for (int lane = 0; replaced && lane <= RG_SPARSE_LANES; lane++)
        *replaced += f.replaced[lane];
    return status;
}

rg_status rg_sparse_factor_general(rg_sparse *s) {
    factoring f = {.sparse = s};
    s->general = true;
    return factor(&f);
}
