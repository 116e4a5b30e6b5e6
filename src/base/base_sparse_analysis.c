/* From the pattern of a matrix to where everything lies: graph, order, elimination tree, postorder,
 * supernodes, their rows and panels, the places of their updates. What for: base_sparse.c.
 *
 * Fails: RG_OUT_OF_MEMORY.
 * Tested by tests/base/test_sparse.c. */
#include "base/base_sparse_order.h"
#include "base/base_sparse_state.h"

#include <assert.h>
#include <string.h>

enum { STRIP = RG_SPARSE_STRIP, PANEL = RG_SPARSE_PANEL };

/* Supernodes are joined while the share of stored zeros stays below these, by columns together. */
static const struct {
    size_t columns;
    double zeros;
} JOIN_RULE[] = {{12, 0.6}, {24, 0.35}, {48, 0.15}, {SIZE_MAX, 0.05}};

/* Factors of less work are made by one thread: some 0.1 ms. Subtrees of at most this share of the
 * work are dealt out. What a supernode costs besides its products, as so many of them. */
#define LANE_FLOPS 3e5
#define LANE_SHARE 0.25
#define NODE_FLOPS 1e4

typedef struct analysis {
    rg_arena *arena;
    size_t count;
    uint8_t *weights;
    size_t *starts; /* graph, both directions, in the caller's numbers */
    uint32_t *neighbours;
    uint32_t *order, *position;
    uint32_t *parent; /* of the elimination tree, in new numbers */
    uint32_t *length; /* scalar rows of L in a block's column, its own included */
    uint32_t *mark;
} analysis;

#define TAKE(pointer, arena, count)                                                                \
    do {                                                                                           \
        (pointer) = rg_arena_take((arena), (count), sizeof *(pointer));                            \
        if (!(pointer))                                                                            \
            return RG_OUT_OF_MEMORY;                                                               \
    } while (0)

static size_t padded(size_t n) {
    return (n + STRIP - 1) / STRIP * STRIP;
}

/* Neighbour lists without repeats: counted with repeats, filled, then made single in place. */
static rg_status build_graph(analysis *a, const uint32_t *pairs, size_t pair_count) {
    size_t n = a->count;
    TAKE(a->starts, a->arena, n + 1);
    TAKE(a->neighbours, a->arena, 2 * pair_count);
    memset(a->starts, 0, (n + 1) * sizeof *a->starts);
    for (size_t k = 0; k < pair_count; k++) {
        uint32_t i = pairs[2 * k], j = pairs[2 * k + 1];
        assert(i < n && j < n);
        if (i != j) {
            a->starts[i]++;
            a->starts[j]++;
        }
    }
    size_t sum = 0;
    for (size_t i = 0; i <= n; i++) {
        size_t here = a->starts[i];
        a->starts[i] = sum;
        sum += here;
    }
    size_t *fill;
    TAKE(fill, a->arena, n + 1);
    memcpy(fill, a->starts, (n + 1) * sizeof *fill);
    for (size_t k = 0; k < pair_count; k++) {
        uint32_t i = pairs[2 * k], j = pairs[2 * k + 1];
        if (i != j) {
            a->neighbours[fill[i]++] = j;
            a->neighbours[fill[j]++] = i;
        }
    }
    for (size_t i = 0; i < n; i++)
        a->mark[i] = RG_SPARSE_NONE;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t from = a->starts[i], to = fill[i];
        a->starts[i] = kept;
        for (size_t k = from; k < to; k++) {
            uint32_t j = a->neighbours[k];
            if (a->mark[j] != i) {
                a->mark[j] = (uint32_t)i;
                a->neighbours[kept++] = j;
            }
        }
    }
    a->starts[n] = kept;
    return RG_OK;
}

static void invert_order(analysis *a) {
    for (size_t k = 0; k < a->count; k++)
        a->position[a->order[k]] = (uint32_t)k;
}

/* J. W. H. Liu's elimination tree, with path compression. */
static void eliminate_tree(analysis *a, uint32_t *ancestor) {
    for (uint32_t i = 0; i < a->count; i++) {
        a->parent[i] = ancestor[i] = RG_SPARSE_NONE;
        uint32_t vertex = a->order[i];
        for (size_t k = a->starts[vertex]; k < a->starts[vertex + 1]; k++) {
            uint32_t j = a->position[a->neighbours[k]];
            while (j < i) {
                uint32_t next = ancestor[j];
                ancestor[j] = i;
                if (next == RG_SPARSE_NONE) {
                    a->parent[j] = i;
                    break;
                }
                j = next;
            }
        }
    }
}

/* Lengths of the columns of L: row i of L is the part of the tree between its entries of A and i.
 * */
static void count_lengths(analysis *a) {
    for (uint32_t i = 0; i < a->count; i++)
        a->mark[i] = RG_SPARSE_NONE;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t vertex = a->order[i];
        a->length[i] = a->weights[vertex];
        a->mark[i] = i;
        for (size_t k = a->starts[vertex]; k < a->starts[vertex + 1]; k++)
            for (uint32_t j = a->position[a->neighbours[k]]; j < i && a->mark[j] != i;
                 j = a->parent[j]) {
                a->mark[j] = i;
                a->length[j] += a->weights[vertex];
            }
    }
}

/* Renumbers children before parents, the longest child last: it is the one that can be joined with
 * its parent. `head`, `next`, `stack`: work of the size of the tree. */
static void postorder(analysis *a, uint32_t *head, uint32_t *next, uint32_t *stack,
                      uint32_t *renumbered) {
    uint32_t n = (uint32_t)a->count, given = 0;
    for (uint32_t i = 0; i < n; i++)
        head[i] = RG_SPARSE_NONE;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t p = a->parent[i];
        if (p == RG_SPARSE_NONE)
            continue;
        if (head[p] != RG_SPARSE_NONE &&
            a->length[i] <= a->length[head[p]]) { /* keep the longest first */
            next[i] = next[head[p]];
            next[head[p]] = i;
        } else {
            next[i] = head[p];
            head[p] = i;
        }
    }
    /* From the last root down, children in list order, numbers given from the end: the first of a
     * list gets the largest number below its parent. */
    given = n;
    for (uint32_t root = n; root-- > 0;) {
        if (a->parent[root] != RG_SPARSE_NONE)
            continue;
        uint32_t depth = 0;
        stack[depth++] = root;
        while (depth) {
            uint32_t i = stack[--depth];
            renumbered[i] = --given;
            /* Pushed in reverse, so that the first of the list is popped first. */
            uint32_t bottom = depth;
            for (uint32_t c = head[i]; c != RG_SPARSE_NONE; c = next[c])
                stack[depth++] = c;
            for (uint32_t l = bottom, r = depth; l + 1 < r; l++) {
                r--;
                uint32_t swap = stack[l];
                stack[l] = stack[r];
                stack[r] = swap;
            }
        }
    }
}

static rg_status renumber(analysis *a) {
    size_t n = a->count;
    uint32_t *head, *next, *stack, *renumbered, *copy;
    TAKE(head, a->arena, n);
    TAKE(next, a->arena, n);
    TAKE(stack, a->arena, n);
    TAKE(renumbered, a->arena, n);
    TAKE(copy, a->arena, n);
    postorder(a, head, next, stack, renumbered);
    memcpy(copy, a->order, n * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        a->order[renumbered[i]] = copy[i];
    memcpy(copy, a->parent, n * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        a->parent[renumbered[i]] = copy[i] == RG_SPARSE_NONE ? RG_SPARSE_NONE : renumbered[copy[i]];
    memcpy(copy, a->length, n * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        a->length[renumbered[i]] = copy[i];
    invert_order(a);
    return RG_OK;
}

typedef struct group { /* a supernode in the making: blocks [first, first + count) */
    uint32_t first, count;
    size_t columns, below; /* scalars */
    double zeros;
} group;

static bool worth_joining(const group *s, const group *t, double *zeros) {
    /* The columns of s get the rows of t. */
    double extra = (double)s->columns * ((double)t->columns + (double)t->below - (double)s->below);
    double columns = (double)(s->columns + t->columns);
    double entries = columns * (columns + 1) / 2 + columns * (double)t->below;
    *zeros = extra + s->zeros + t->zeros;
    for (size_t k = 0; k < sizeof JOIN_RULE / sizeof *JOIN_RULE; k++)
        if (s->columns + t->columns <= JOIN_RULE[k].columns)
            return *zeros <= JOIN_RULE[k].zeros * entries;
    return false;
}

/* Columns with the same pattern, then joined where that costs few zeros. */
static size_t group_columns(const analysis *a, group *groups) {
    size_t count = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        size_t weight = a->weights[a->order[i]];
        group made = {i, 1, weight, a->length[i] - weight, 0};
        while (count > 0) {
            /* In a postorder the column before is the last child, or of another subtree. */
            const group *last = &groups[count - 1];
            double zeros;
            if (a->parent[made.first - 1] == RG_SPARSE_NONE || a->parent[made.first - 1] > i ||
                !worth_joining(last, &made, &zeros))
                break;
            made = (group){last->first, last->count + made.count, last->columns + made.columns,
                           made.below, zeros};
            count--;
        }
        groups[count++] = made;
    }
    return count;
}

/* Supernodes out of groups; wide ones become chains. */
static rg_status make_nodes(rg_sparse *s, const analysis *a) {
    group *groups;
    TAKE(groups, a->arena, a->count);
    size_t group_count = group_columns(a, groups);
    rg_sparse_node *nodes;
    TAKE(nodes, a->arena, a->count);
    s->nodes = nodes;
    for (size_t g = 0; g < group_count; g++) {
        uint32_t end = groups[g].first + groups[g].count;
        /* Equal parts: 100 columns as 50 + 50, not 96 + 4. */
        size_t parts = (groups[g].columns + RG_SPARSE_WIDTH - 1) / RG_SPARSE_WIDTH;
        size_t limit = padded((groups[g].columns + parts - 1) / parts + PANEL - 1) / PANEL * PANEL;
        for (uint32_t i = groups[g].first; i < end;) {
            rg_sparse_node node = {.first = s->start[i]};
            while (i < end &&
                   (node.width == 0 || node.width + s->start[i + 1] - s->start[i] <= limit)) {
                node.width += s->start[i + 1] - s->start[i];
                s->node_of[i] = (uint32_t)s->node_count;
                i++;
            }
            node.parent = a->parent[i - 1]; /* a block, for the moment */
            nodes[s->node_count++] = node;
        }
    }
    for (size_t k = 0; k < s->node_count; k++) {
        if (nodes[k].parent != RG_SPARSE_NONE)
            nodes[k].parent = s->node_of[nodes[k].parent];
        nodes[k].child = nodes[k].sibling = RG_SPARSE_NONE;
    }
    return RG_OK;
}

/* Visits every (supernode, block row below it), rows ascending. */
static void walk_rows(rg_sparse *s, const analysis *a, bool fill) {
    for (size_t k = 0; k < s->node_count; k++)
        a->mark[k] = RG_SPARSE_NONE;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t vertex = a->order[i], own = s->node_of[i];
        for (size_t k = a->starts[vertex]; k < a->starts[vertex + 1]; k++) {
            uint32_t j = a->position[a->neighbours[k]];
            if (j > i)
                continue;
            for (uint32_t node = s->node_of[j]; node != own && a->mark[node] != i;
                 node = s->nodes[node].parent) {
                a->mark[node] = i;
                rg_sparse_node *n = &s->nodes[node];
                if (fill)
                    s->rows[n->list + n->list_count] = i;
                n->list_count++;
            }
        }
    }
}

static rg_status list_rows(rg_sparse *s, const analysis *a) {
    walk_rows(s, a, false);
    size_t total = 0;
    for (size_t k = 0; k < s->node_count; k++) {
        s->nodes[k].list = (uint32_t)total;
        total += s->nodes[k].list_count;
        s->nodes[k].list_count = 0;
    }
    TAKE(s->rows, a->arena, total);
    TAKE(s->local, a->arena, total);
    TAKE(s->runs, a->arena, total);
    walk_rows(s, a, true);
    return RG_OK;
}

static rg_status lay_out(rg_sparse *s, rg_arena *arena) {
    TAKE(s->panel_start, arena, s->blocks + s->node_count);
    uint32_t panel = 0, block = 0;
    for (size_t k = 0; k < s->node_count; k++) {
        rg_sparse_node *n = &s->nodes[k];
        n->base = (uint32_t)padded(n->width);
        uint32_t row = n->base;
        for (uint32_t r = 0; r < n->list_count; r++) {
            uint32_t i = s->rows[n->list + r];
            s->local[n->list + r] = row;
            row += s->start[i + 1] - s->start[i];
        }
        n->below = (uint32_t)padded(row - n->base);
        n->rows = n->base + n->below;
        n->entries = s->entries;
        s->entries += (size_t)n->rows * n->width;
        n->panel = panel;
        uint32_t begin = 0, column = 0;
        s->panel_start[panel++] = 0;
        for (; block < s->blocks && s->node_of[block] == k; block++) {
            uint32_t weight = s->start[block + 1] - s->start[block];
            if (column + weight - begin > PANEL) {
                begin = column;
                s->panel_start[panel++] = column;
            }
            column += weight;
        }
        n->panels = panel - n->panel;
        s->panel_start[panel++] = n->width;
    }
    return RG_OK;
}

/* Below the columns by binary search. */
uint32_t rg_sparse_local_row(const rg_sparse *s, const rg_sparse_node *n, uint32_t block) {
    if (s->start[block] < n->first + n->width)
        return s->start[block] - n->first;
    uint32_t low = 0, high = n->list_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (s->rows[n->list + middle] < block)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low < n->list_count && s->rows[n->list + low] == block); /* in the pattern */
    return s->local[n->list + low];
}

static void link_nodes(rg_sparse *s) {
    uint32_t runs = 0;
    for (size_t k = s->node_count; k-- > 0;) {
        rg_sparse_node *n = &s->nodes[k];
        n->run = runs;
        if (n->parent == RG_SPARSE_NONE)
            continue;
        rg_sparse_node *p = &s->nodes[n->parent];
        n->sibling = p->child;
        p->child = (uint32_t)k;
        for (uint32_t r = 0; r < n->list_count; r++) {
            uint32_t i = s->rows[n->list + r], length = s->start[i + 1] - s->start[i];
            uint32_t from = s->local[n->list + r] - n->base, to = rg_sparse_local_row(s, p, i);
            rg_sparse_run *last = runs > n->run ? &s->runs[runs - 1] : NULL;
            /* A run must not cross from the parent's columns to its rows below. */
            if (last && last->from + last->length == from && last->to + last->length == to &&
                !(last->to < p->width && to >= p->width))
                last->length += length;
            else
                s->runs[runs++] = (rg_sparse_run){from, to, length};
        }
        n->runs = runs - n->run;
    }
}

static double flops_of(const rg_sparse_node *n) {
    double m = (double)(n->rows - n->base), w = n->width;
    return w * w * w / 3 + w * w * m + w * m * m;
}

/* Which subtrees go side by side: those of at most a share of the work, the others' nodes are on
 * top. Each goes to the lane that has least to do so far. */
static rg_status choose_lanes(rg_sparse *s, rg_arena *arena) {
    double *work, load[RG_SPARSE_LANES] = {0}, all = 0;
    TAKE(work, arena, s->node_count);
    for (size_t k = 0; k < s->node_count; k++) {
        work[k] = NODE_FLOPS + flops_of(&s->nodes[k]);
        for (uint32_t c = s->nodes[k].child; c != RG_SPARSE_NONE; c = s->nodes[c].sibling)
            work[k] += work[c];
        s->stats.flops += flops_of(&s->nodes[k]);
        all += s->nodes[k].parent == RG_SPARSE_NONE ? work[k] : 0;
        s->nodes[k].lane = RG_SPARSE_TOP;
    }
    if (s->stats.flops < LANE_FLOPS)
        return RG_OK;
    TAKE(s->lanes, arena, RG_SPARSE_LANES);
    memset(s->lanes, 0, RG_SPARSE_LANES * sizeof *s->lanes);
    for (size_t k = s->node_count; k-- > 0;) {
        rg_sparse_node *n = &s->nodes[k];
        bool inside = n->parent != RG_SPARSE_NONE;
        if (inside && s->nodes[n->parent].lane != RG_SPARSE_TOP) {
            n->lane = s->nodes[n->parent].lane;
        } else if (work[k] <= LANE_SHARE * all) {
            n->lane = 0;
            for (uint8_t lane = 1; lane < RG_SPARSE_LANES; lane++)
                if (load[lane] < load[n->lane])
                    n->lane = lane;
            load[n->lane] += work[k];
        }
    }
    return RG_OK;
}

/* The first child of the same lane: its update lies lowest of theirs. */
static uint32_t first_beside(const rg_sparse *s, const rg_sparse_node *n) {
    uint32_t c = n->child;
    while (c != RG_SPARSE_NONE && s->nodes[c].lane != n->lane)
        c = s->nodes[c].sibling;
    return c;
}

static rg_status take_lane(rg_sparse_lane *lane, rg_arena *arena) {
    TAKE(lane->pack[0], arena, lane->packed);
    TAKE(lane->pack[1], arena, lane->packed);
    TAKE(lane->work, arena, lane->rows);
    TAKE(lane->copy, arena, STRIP * lane->rows);
    return RG_OK;
}

/* Where updates lie: each lane has its part of the two stacks, and so has the top. */
static rg_status place_updates(rg_sparse *s, rg_arena *arena) {
    size_t top[RG_SPARSE_LANES + 1][2] = {{0}}, peak[RG_SPARSE_LANES + 1][2] = {{0}};
    uint8_t *depth;
    TAKE(depth, arena, s->node_count);
    for (size_t k = s->node_count; k-- > 0;)
        depth[k] = s->nodes[k].parent == RG_SPARSE_NONE ? 0 : !depth[s->nodes[k].parent];
    for (size_t k = 0; k < s->node_count; k++) {
        rg_sparse_node *n = &s->nodes[k];
        int stack = depth[k];
        size_t *own = top[n->lane];
        uint32_t child = first_beside(s, n);
        n->stack = depth[k];
        n->update = own[stack];
        own[stack] += (size_t)n->below * n->below;
        if (own[stack] > peak[n->lane][stack])
            peak[n->lane][stack] = own[stack];
        if (child != RG_SPARSE_NONE) /* all of them go */
            own[!stack] = s->nodes[child].update;
    }
    size_t begin[RG_SPARSE_LANES + 1][2], end[2] = {0, 0};
    for (int lane = 0; lane <= RG_SPARSE_LANES; lane++)
        for (int stack = 0; stack < 2; stack++) {
            begin[lane][stack] = end[stack];
            end[stack] += peak[lane][stack];
        }
    for (size_t k = 0; k < s->node_count; k++)
        s->nodes[k].update += begin[s->nodes[k].lane][s->nodes[k].stack];
    TAKE(s->stacks[0], arena, end[0]);
    TAKE(s->stacks[1], arena, end[1]);
    return RG_OK;
}

/* Work arrays, of all nodes and of the lanes; and the numbers. */
static rg_status take_numbers(rg_sparse *s, rg_arena *arena) {
    rg_sparse_lane all = {0};
    for (size_t k = 0; k < s->node_count; k++) {
        const rg_sparse_node *n = &s->nodes[k];
        size_t need = (size_t)n->rows * n->width;
        rg_sparse_lane *lane = n->lane == RG_SPARSE_TOP ? &all : &s->lanes[n->lane];
        all.packed = need > all.packed ? need : all.packed;
        all.rows = n->rows > all.rows ? n->rows : all.rows;
        lane->packed = need > lane->packed ? need : lane->packed;
        lane->rows = n->rows > lane->rows ? n->rows : lane->rows;
    }
    rg_status status = take_lane(&all, arena);
    for (int lane = 0; s->lanes && lane < RG_SPARSE_LANES && !status; lane++)
        status = take_lane(&s->lanes[lane], arena);
    if (status)
        return status;
    memcpy(s->pack, all.pack, sizeof s->pack);
    s->work = all.work, s->copy = all.copy;
    TAKE(s->lower, arena, s->entries);
    TAKE(s->upper, arena, s->entries);
    TAKE(s->inverse, arena, s->scalars);
    TAKE(s->exchanges, arena, s->scalars);
    TAKE(s->units, arena, s->scalars);
    for (size_t i = 0; i < s->scalars; i++)
        s->units[i] = 1;
    TAKE(s->vector, arena, s->scalars);
    return RG_OK;
}

static void count_blocks(rg_sparse *s) {
    uint32_t block = 0;
    for (size_t k = 0; k < s->node_count; k++) {
        uint32_t own = 0;
        for (; block < s->blocks && s->node_of[block] == k; block++)
            own++;
        s->stats.factor_blocks +=
            (size_t)own * (own + 1) / 2 + (size_t)own * s->nodes[k].list_count;
    }
    s->stats.supernodes = s->node_count;
    s->stats.bytes = 2 * s->entries * sizeof(double);
}

static rg_status number_scalars(rg_sparse *s, const analysis *a) {
    uint32_t *first;
    TAKE(first, a->arena, s->blocks + 1);
    TAKE(s->start, a->arena, s->blocks + 1);
    TAKE(s->original, a->arena, s->blocks + 1);
    TAKE(s->node_of, a->arena, s->blocks + 1);
    uint32_t sum = 0;
    for (size_t i = 0; i < s->blocks; i++) {
        first[i] = sum;
        sum += a->weights[i];
    }
    sum = 0;
    for (size_t k = 0; k < s->blocks; k++) {
        s->position[a->order[k]] = (uint32_t)k;
        s->original[k] = first[a->order[k]];
        s->start[k] = sum;
        sum += a->weights[a->order[k]];
    }
    s->start[s->blocks] = sum;
    s->scalars = sum;
    return RG_OK;
}

static rg_status analyse(analysis *a, const uint32_t *pairs, size_t pair_count) {
    uint32_t *ancestor;
    TAKE(a->mark, a->arena, a->count);
    TAKE(a->order, a->arena, a->count);
    TAKE(a->parent, a->arena, a->count);
    TAKE(a->length, a->arena, a->count);
    TAKE(ancestor, a->arena, a->count);
    rg_status status = build_graph(a, pairs, pair_count);
    if (status == RG_OK)
        status =
            rg_sparse_order(a->arena, a->count, a->starts, a->neighbours, a->weights, a->order);
    if (status != RG_OK)
        return status;
    invert_order(a);
    eliminate_tree(a, ancestor);
    count_lengths(a);
    return renumber(a);
}

static rg_status create(analysis *a, const uint32_t *pairs, size_t pair_count, rg_sparse *s) {
    a->position = s->position;
    rg_status status = analyse(a, pairs, pair_count);
    if (status == RG_OK)
        status = number_scalars(s, a);
    if (status == RG_OK)
        status = make_nodes(s, a);
    if (status != RG_OK)
        return status;
    status = list_rows(s, a);
    if (status == RG_OK)
        status = lay_out(s, a->arena);
    if (status != RG_OK)
        return status;
    link_nodes(s);
    status = choose_lanes(s, a->arena);
    if (status == RG_OK)
        status = place_updates(s, a->arena);
    if (status == RG_OK)
        status = take_numbers(s, a->arena);
    if (status == RG_OK)
        count_blocks(s);
    return status;
}

rg_status rg_sparse_create(rg_arena *arena, size_t blocks, const uint8_t *sizes, int uniform,
                           const uint32_t *pairs, size_t pair_count, rg_sparse **sparse) {
    assert(blocks < RG_SPARSE_NONE / RG_SPARSE_BLOCK_MAX);
    rg_sparse *s;
    TAKE(s, arena, 1);
    *s = (rg_sparse){.blocks = blocks, .kernel = rg_sparse_kernel_best()};
    TAKE(s->position, arena, blocks);
    /* Work memory comes from the same arena and stays taken: what is kept is taken in between. */
    analysis a = {.arena = arena, .count = blocks};
    TAKE(a.weights, arena, blocks);
    for (size_t i = 0; i < blocks; i++) {
        a.weights[i] = sizes ? sizes[i] : (uint8_t)uniform;
        assert(a.weights[i] >= 1 && a.weights[i] <= RG_SPARSE_BLOCK_MAX);
    }
    rg_status status = create(&a, pairs, pair_count, s);
    *sparse = status == RG_OK ? s : NULL;
    return status;
}

/* --- blocks of the caller --------------------------------------------------------------------- */

/* Calls for every block: diagonal ones, then both of each pair; `out` null: counts them. */
typedef struct block_walk {
    const rg_sparse *sparse;
    size_t *starts; /* counts, one place ahead; then where the next one of a supernode goes */
    rg_sparse_block *out;
} block_walk;

static void visit(const block_walk *walk, uint32_t i, uint32_t j, rg_sparse_block block) {
    const rg_sparse *s = walk->sparse;
    uint32_t row = s->position[i], column = s->position[j];
    uint32_t node = s->node_of[row < column ? row : column];
    if (!walk->out) {
        walk->starts[node + 1]++;
        return;
    }
    block.slot = rg_sparse_find(s, i, j);
    walk->out[walk->starts[node]++] = block;
}

static void visit_all(const block_walk *walk, const uint32_t *pairs, size_t pair_count) {
    const rg_sparse *s = walk->sparse;
    size_t offset = 0;
    for (uint32_t i = 0; i < s->blocks; i++) {
        uint32_t place = s->position[i], size = s->start[place + 1] - s->start[place];
        visit(walk, i, i, (rg_sparse_block){.offset = offset});
        offset += (size_t)size * size;
    }
    offset = 0;
    for (uint32_t k = 0; k < pair_count; k++)
        for (int half = 0; half < 2; half++) {
            uint32_t i = pairs[2 * k + (half ? 1 : 0)], j = pairs[2 * k + (half ? 0 : 1)];
            uint32_t p = s->position[i], q = s->position[j];
            assert(i != j);
            visit(walk, i, j,
                  (rg_sparse_block){.offset = offset, .pair1 = k + 1, .second = half == 1});
            offset += (size_t)(s->start[p + 1] - s->start[p]) * (s->start[q + 1] - s->start[q]);
        }
}

rg_status rg_sparse_expect(rg_sparse *s, rg_arena *arena, const uint32_t *pairs,
                           size_t pair_count) {
    size_t *starts, *next;
    TAKE(starts, arena, s->node_count + 1);
    TAKE(next, arena, s->node_count + 1);
    TAKE(s->expected, arena, s->blocks + 2 * pair_count);
    memset(starts, 0, (s->node_count + 1) * sizeof *starts);
    visit_all(&(block_walk){s, starts, NULL}, pairs, pair_count);
    for (size_t k = 0; k < s->node_count; k++)
        starts[k + 1] += starts[k];
    memcpy(next, starts, (s->node_count + 1) * sizeof *next);
    visit_all(&(block_walk){s, next, s->expected}, pairs, pair_count);
    s->expected_starts = starts;
    return RG_OK;
}
