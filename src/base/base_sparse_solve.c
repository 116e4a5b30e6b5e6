/* What is done with a factor of base_sparse.c: solving, and entries of the inverse.
 *
 * Down the elimination tree with L, up with its transpose or U. A right side that is zero but for
 * one block needs the nodes from that block to the root alone, and two such paths end together: the
 * entries of the inverse between a few blocks,
 *
 *     E_i' A^-1 E_j = (L^-1 E_i)' D^-1 (L^-1 E_j),
 *
 * are sums over what their paths share.
 *
 * Tested by tests/base/test_sparse.c. */
#include "base/base_sparse_state.h"

/* y[from, to) -= columns of a panel times their x. */
static void subtract_columns(const double *restrict half, size_t stride, uint32_t width,
                             const double *restrict x, double *restrict y, uint32_t from,
                             uint32_t to) {
    uint32_t c = 0;
    for (; c + 4 <= width; c += 4) {
        const double *h0 = half + c * stride, *h1 = h0 + stride, *h2 = h1 + stride,
                     *h3 = h2 + stride;
        double x0 = x[c], x1 = x[c + 1], x2 = x[c + 2], x3 = x[c + 3];
        for (uint32_t r = from; r < to; r++)
            y[r] = y[r] - h0[r] * x0 - h1[r] * x1 - h2[r] * x2 - h3[r] * x3;
    }
    for (; c < width; c++) {
        const double *h = half + c * stride;
        double xc = x[c];
        for (uint32_t r = from; r < to; r++)
            y[r] -= h[r] * xc;
    }
}

/* `together` columns against y over [from, to). Each dot is four running sums, of every fourth row,
 * added in the end. */
static inline void few_dots(const double *restrict half, size_t stride, const double *restrict y,
                            uint32_t from, uint32_t to, double *dots, uint32_t together) {
    rg_pair low[4] = {{0}}, high[4] = {{0}};
    uint32_t r = from;
    for (; r + 4 <= to; r += 4) {
        rg_pair y0, y1, h0, h1;
        memcpy(&y0, y + r, sizeof y0);
        memcpy(&y1, y + r + 2, sizeof y1);
        for (uint32_t k = 0; k < together; k++) {
            memcpy(&h0, half + k * stride + r, sizeof h0);
            memcpy(&h1, half + k * stride + r + 2, sizeof h1);
            low[k] += h0 * y0;
            high[k] += h1 * y1;
        }
    }
    for (uint32_t k = 0; k < together; k++) {
        double sums[4] = {low[k][0], low[k][1], high[k][0], high[k][1]};
        for (uint32_t m = 0; r + m < to; m++)
            sums[m] += half[k * stride + r + m] * y[r + m];
        dots[k] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

/* Columns of a panel, by fours, so that y is read once for them. */
static void column_dots(const double *half, size_t stride, uint32_t width, const double *y,
                        uint32_t from, uint32_t to, double *dots) {
    uint32_t c = 0;
    for (; c + 4 <= width; c += 4)
        few_dots(half + c * stride, stride, y, from, to, dots + c, 4);
    for (; c < width; c++)
        few_dots(half + c * stride, stride, y, from, to, dots + c, 1);
}

/* Entries of a block; six by far most often. */
static inline void copy_block(double *restrict to, const double *restrict from, uint32_t count) {
    if (count == 6)
        memcpy(to, from, 6 * sizeof *to);
    else
        for (uint32_t k = 0; k < count; k++)
            to[k] = from[k];
}

static void gather_below(const rg_sparse *s, const rg_sparse_node *n, double *y) {
    for (uint32_t r = 0; r < n->list_count; r++) {
        uint32_t i = s->rows[n->list + r], at = s->local[n->list + r];
        copy_block(y + at, s->vector + s->start[i], s->start[i + 1] - s->start[i]);
    }
}

static void scatter_below(const rg_sparse *s, const rg_sparse_node *n, const double *y) {
    for (uint32_t r = 0; r < n->list_count; r++) {
        uint32_t i = s->rows[n->list + r], at = s->local[n->list + r];
        copy_block(s->vector + s->start[i], y + at, s->start[i + 1] - s->start[i]);
    }
}

static void solve_down(const rg_sparse *s, const rg_sparse_node *n, double *y) {
    const double *lower = s->lower + n->entries;
    size_t stride = n->rows;
    memset(y, 0, n->rows * sizeof *y);
    memcpy(y, s->vector + n->first, n->width * sizeof *y);
    gather_below(s, n, y);
    for (uint32_t p = 0; p < n->panels; p++) {
        uint32_t first = s->panel_start[n->panel + p], end = s->panel_start[n->panel + p + 1];
        double x[RG_SPARSE_PANEL];
        for (uint32_t c = first; c < end; c++)
            x[c - first] = y[first + s->exchanges[n->first + c]];
        for (uint32_t c = first; c < end; c++)
            rg_subtract_column(x, lower + c * stride + first, x[c - first], c + 1 - first,
                               end - first);
        memcpy(y + first, x, (end - first) * sizeof *x);
        subtract_columns(lower + first * stride, stride, end - first, x, y, end, n->rows);
    }
    memcpy(s->vector + n->first, y, n->width * sizeof *y);
    scatter_below(s, n, y);
}

static void solve_up(const rg_sparse *s, const rg_sparse_node *n, double *y) {
    const double *lower = s->lower + n->entries,
                 *upper = (s->general ? s->upper : s->lower) + n->entries;
    size_t stride = n->rows;
    memset(y, 0, n->rows * sizeof *y);
    memcpy(y, s->vector + n->first, n->width * sizeof *y);
    gather_below(s, n, y);
    for (uint32_t p = n->panels; p-- > 0;) {
        uint32_t first = s->panel_start[n->panel + p], end = s->panel_start[n->panel + p + 1];
        double dots[RG_SPARSE_PANEL];
        column_dots(upper + first * stride, stride, end - first, y, end, n->rows, dots);
        for (uint32_t c = end; c-- > first;) {
            double sum = s->general ? y[c] : y[c] * s->inverse[n->first + c];
            sum -= dots[c - first];
            const double *l = s->general ? lower + c : lower + c * stride;
            size_t next = s->general ? stride : 1;
            for (uint32_t r = c + 1; r < end; r++)
                sum -= l[r * next] * y[r];
            y[c] = s->general ? sum * s->inverse[n->first + c] : sum;
        }
    }
    memcpy(s->vector + n->first, y, n->width * sizeof *y);
}

/* The nodes of lanes, whose parents are known: each writes its own columns alone. */
static void solve_lanes_up(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_sparse *s = *(const rg_sparse **)user;
    for (size_t lane = begin; lane < end; lane++)
        for (size_t k = s->node_count; k-- > 0;)
            if (s->nodes[k].lane == lane)
                solve_up(s, &s->nodes[k], s->lanes[lane].work);
}

void rg_sparse_solve(const rg_sparse *s, double *x) {
    for (size_t i = 0; i < s->blocks; i++)
        copy_block(s->vector + s->start[i], x + s->original[i], s->start[i + 1] - s->start[i]);
    for (size_t k = 0; k < s->node_count; k++)
        solve_down(s, &s->nodes[k], s->work);
    for (size_t k = s->node_count; k-- > 0;)
        if (s->nodes[k].lane == RG_SPARSE_TOP)
            solve_up(s, &s->nodes[k], s->work);
    if (s->lanes)
        rg_parallel_for(s->pool, RG_SPARSE_LANES, 1, solve_lanes_up, &(const rg_sparse *){s});
    for (size_t i = 0; i < s->blocks; i++)
        copy_block(x + s->original[i], s->vector + s->start[i], s->start[i + 1] - s->start[i]);
}

/* --- entries of the inverse ------------------------------------------------------------------- */

/* L^-1 of the unit vectors of a block: over the columns of the nodes from that block to the root,
 * ascending, one vector after the other. */
typedef struct inverse_path {
    uint32_t *nodes;
    size_t count, columns; /* of nodes, and of their columns */
    size_t first, size;    /* rows of the block in the result */
    double *half;
} inverse_path;

static bool find_path(const rg_sparse *s, uint32_t block, rg_arena *arena, inverse_path *path) {
    uint32_t place = s->position[block], first = s->node_of[place];
    for (uint32_t n = first; n != RG_SPARSE_NONE; n = s->nodes[n].parent) {
        path->count++;
        path->columns += s->nodes[n].width;
    }
    path->size = s->start[place + 1] - s->start[place];
    path->nodes = rg_arena_take(arena, path->count, sizeof *path->nodes);
    path->half = rg_arena_take(arena, path->size * path->columns, sizeof *path->half);
    if (!path->nodes || !path->half)
        return false;
    size_t k = 0;
    for (uint32_t n = first; n != RG_SPARSE_NONE; n = s->nodes[n].parent)
        path->nodes[k++] = n;
    return true;
}

/* The vector of the factor is zero before and after. */
static void go_down(const rg_sparse *s, uint32_t block, inverse_path *path) {
    uint32_t first = s->start[s->position[block]];
    for (size_t row = 0; row < path->size; row++) {
        double *to = path->half + row * path->columns;
        s->vector[first + row] = 1;
        for (size_t k = 0; k < path->count; k++) {
            const rg_sparse_node *n = &s->nodes[path->nodes[k]];
            solve_down(s, n, s->work);
            memcpy(to, s->vector + n->first, n->width * sizeof *to);
            memset(s->vector + n->first, 0, n->width * sizeof *to);
            to += n->width;
        }
    }
}

static size_t count_shared(const rg_sparse *s, const inverse_path *a, const inverse_path *b) {
    size_t columns = 0, i = a->count, j = b->count;
    while (i > 0 && j > 0 && a->nodes[i - 1] == b->nodes[j - 1])
        i--, j--, columns += s->nodes[a->nodes[i]].width;
    return columns;
}

/* A row of L^-1 E by D^-1. */
static void scale_row(const rg_sparse *s, const inverse_path *path, size_t row, double *out) {
    const double *from = path->half + row * path->columns;
    size_t at = 0;
    for (size_t k = 0; k < path->count; k++) {
        const rg_sparse_node *n = &s->nodes[path->nodes[k]];
        for (uint32_t c = 0; c < n->width; c++, at++)
            out[at] = from[at] * s->inverse[n->first + c];
    }
}

/* Four running sums, of every fourth product. */
static double dot_of(const double *restrict a, const double *restrict b, size_t count) {
    double sum[4] = {0};
    size_t c = 0;
    for (; c + 4 <= count; c += 4)
        for (size_t m = 0; m < 4; m++)
            sum[m] += a[c + m] * b[c + m];
    for (size_t m = 0; c < count; c++, m++)
        sum[m] += a[c] * b[c];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The rows of block i against those of the blocks up to it. */
static void fill_rows(const rg_sparse *s, const inverse_path *paths, size_t i, size_t size,
                      double *scaled, double *out) {
    const inverse_path *own = &paths[i];
    for (size_t row = 0; row < own->size; row++) {
        scale_row(s, own, row, scaled);
        for (size_t j = 0; j <= i; j++) {
            const inverse_path *other = &paths[j];
            size_t shared = count_shared(s, own, other);
            for (size_t column = 0; column < other->size; column++) {
                const double *half = other->half + (column + 1) * other->columns - shared;
                double entry = dot_of(scaled + own->columns - shared, half, shared);
                out[(own->first + row) * size + other->first + column] = entry;
                out[(other->first + column) * size + own->first + row] = entry;
            }
        }
    }
}

static rg_status find_inverse(const rg_sparse *s, const uint32_t *blocks, size_t count,
                              rg_arena *arena, double *out) {
    size_t size = 0;
    inverse_path *paths = rg_arena_take(arena, count, sizeof *paths);
    double *scaled = rg_arena_take(arena, s->scalars, sizeof *scaled);
    if (!paths || !scaled)
        return RG_OUT_OF_MEMORY;
    memset(s->vector, 0, s->scalars * sizeof *s->vector);
    for (size_t i = 0; i < count; i++) {
        paths[i] = (inverse_path){.first = size};
        if (!find_path(s, blocks[i], arena, &paths[i]))
            return RG_OUT_OF_MEMORY;
        size += paths[i].size;
        go_down(s, blocks[i], &paths[i]);
    }
    for (size_t i = 0; i < count; i++)
        fill_rows(s, paths, i, size, scaled, out);
    return RG_OK;
}

rg_status rg_sparse_inverse(const rg_sparse *s, const uint32_t *blocks, size_t count,
                            rg_arena *arena, double *out) {
    rg_arena_mark mark = rg_arena_get_mark(arena);
    rg_status status = find_inverse(s, blocks, count, arena, out);
    rg_arena_return(arena, mark);
    return status;
}
