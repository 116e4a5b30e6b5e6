/* Multifrontal block-sparse L D L' and L U.
 *
 * Problem: factor, again and again, a sparse matrix of small dense blocks whose pattern is
 * symmetric.
 * Method: J. W. H. Liu, "The multifrontal method for sparse matrix solution: theory and practice",
 * SIAM Review 34 (1992). Order (base_sparse_order.c), elimination tree, postorder, supernodes (runs
 * of columns with nearly the same pattern, joined where the zeros that this stores are few), cut
 * again where they are wider than WIDTH_MAX. Each supernode s has k columns and m rows below them:
 *
 *     lower_s   (k + m) x k  column-major: the diagonal blocks and everything under them
 *     upper_s   the same, transposed: U' (general form only)
 *     update_s  m x m: what its elimination subtracts from the supernodes above it
 *
 * Matrix entries are added straight into lower and upper; a supernode adds the updates of its
 * children, eliminates its columns panel by panel (up to PANEL columns, whole blocks), and forms
 * its own update in one product. Updates live on two stacks, by the parity of the depth in the
 * tree: children are then always on top of one and their parent on top of the other.
 *
 * Inside, rows are padded with zeros to multiples of STRIP: columns take [0, k), rows below begin
 * at the next multiple. All products then run over full tiles of STRIP x STRIP, from operands
 * packed strip by strip. Every entry of a tile is one running sum in order of the eliminated
 * column, whatever the width of the vector registers, so the bits do not depend on the compiler.
 *
 * General form: pivoting among the rows of a diagonal panel, which makes the block factors
 * A_bb = P' L_b U_b, L_ib = A_ib U_b^-1, U_bj = L_b^-1 P A_bj; nothing outside the panel is
 * exchanged.
 *
 * Fails: RG_SINGULAR at a pivot that vanishes. Element growth is not bounded by the pivoting:
 * callers that meet badly scaled or indefinite matrices must check the residual and refine. */
#include "base/base_sparse.h"

#include "base/base_sparse_kernel.h"
#include "base/base_sparse_order.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    STRIP = RG_SPARSE_STRIP,
    PANEL = RG_SPARSE_PANEL,
    WIDTH_MAX = 96, /* columns of a supernode: its packed strips then stay in the second cache */
};

/* Supernodes are joined while the share of stored zeros stays below these, by columns together. */
static const struct {
    size_t columns;
    double zeros;
} JOIN_RULE[] = {{12, 0.6}, {24, 0.35}, {48, 0.15}, {SIZE_MAX, 0.05}};

#define NONE UINT32_MAX

typedef struct run { /* consecutive rows of an update that are consecutive in the parent too */
    uint32_t from, to, length;
} run;

typedef struct supernode {
    uint32_t first, width;     /* scalar columns in the new order */
    uint32_t below, rows;      /* padded: rows of the update, all local rows */
    uint32_t base;             /* local row where the rows below begin */
    uint32_t panel, panels;    /* its panels */
    uint32_t run, runs;        /* into the parent */
    uint32_t list, list_count; /* block rows below, ascending */
    uint32_t parent;
    uint32_t child, sibling; /* first child; next of the same parent */
    size_t entries;          /* offset in lower and upper */
    size_t update;           /* offset in its stack */
    uint8_t stack;
} supernode;

struct rg_sparse {
    size_t blocks, scalars;
    uint32_t *position; /* new index of a block */
    uint32_t *start;    /* new index -> first scalar; blocks + 1 */
    uint32_t *original; /* new index -> first scalar in the caller's order */
    uint32_t *node_of;  /* new index -> supernode */
    uint32_t *rows;     /* block rows below, all supernodes */
    uint32_t *local;    /* ... and the local row where each begins */
    supernode *nodes;
    size_t node_count;
    uint32_t *panel_start; /* local column; every supernode's list ends with its width */
    run *runs;
    double *lower, *upper;
    size_t entries;
    double *stacks[2];
    double *pack[2];    /* strips of L, and of W = L D or U' */
    double *inverse;    /* 1 / pivot per scalar */
    uint8_t *exchanges; /* general: row of the panel taken for each of its columns */
    double *vector, *work, *copy;
    rg_sparse_kernel kernel;
    bool general, upper_used;
    rg_sparse_stats stats;
};

/* --- analysis -----------------------------------------------------------------------------------
 * */

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
        a->mark[i] = NONE;
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
        a->parent[i] = ancestor[i] = NONE;
        uint32_t vertex = a->order[i];
        for (size_t k = a->starts[vertex]; k < a->starts[vertex + 1]; k++) {
            uint32_t j = a->position[a->neighbours[k]];
            while (j < i) {
                uint32_t next = ancestor[j];
                ancestor[j] = i;
                if (next == NONE) {
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
        a->mark[i] = NONE;
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
        head[i] = NONE;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t p = a->parent[i];
        if (p == NONE)
            continue;
        if (head[p] != NONE && a->length[i] <= a->length[head[p]]) { /* keep the longest first */
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
        if (a->parent[root] != NONE)
            continue;
        uint32_t depth = 0;
        stack[depth++] = root;
        while (depth) {
            uint32_t i = stack[--depth];
            renumbered[i] = --given;
            /* Pushed in reverse, so that the first of the list is popped first. */
            uint32_t bottom = depth;
            for (uint32_t c = head[i]; c != NONE; c = next[c])
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
        a->parent[renumbered[i]] = copy[i] == NONE ? NONE : renumbered[copy[i]];
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
            if (a->parent[made.first - 1] == NONE || a->parent[made.first - 1] > i ||
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
    supernode *nodes;
    TAKE(nodes, a->arena, a->count);
    s->nodes = nodes;
    for (size_t g = 0; g < group_count; g++) {
        uint32_t end = groups[g].first + groups[g].count;
        /* Equal parts: 100 columns as 50 + 50, not 96 + 4. */
        size_t parts = (groups[g].columns + WIDTH_MAX - 1) / WIDTH_MAX;
        size_t limit = padded((groups[g].columns + parts - 1) / parts + PANEL - 1) / PANEL * PANEL;
        for (uint32_t i = groups[g].first; i < end;) {
            supernode node = {.first = s->start[i]};
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
        if (nodes[k].parent != NONE)
            nodes[k].parent = s->node_of[nodes[k].parent];
        nodes[k].child = nodes[k].sibling = NONE;
    }
    return RG_OK;
}

/* Visits every (supernode, block row below it), rows ascending. */
static void walk_rows(rg_sparse *s, const analysis *a, bool fill) {
    for (size_t k = 0; k < s->node_count; k++)
        a->mark[k] = NONE;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t vertex = a->order[i], own = s->node_of[i];
        for (size_t k = a->starts[vertex]; k < a->starts[vertex + 1]; k++) {
            uint32_t j = a->position[a->neighbours[k]];
            if (j > i)
                continue;
            for (uint32_t node = s->node_of[j]; node != own && a->mark[node] != i;
                 node = s->nodes[node].parent) {
                a->mark[node] = i;
                supernode *n = &s->nodes[node];
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
        supernode *n = &s->nodes[k];
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

/* Local row of a block in a supernode: among its columns, or below (binary search). */
static uint32_t local_row(const rg_sparse *s, const supernode *n, uint32_t block) {
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
        supernode *n = &s->nodes[k];
        n->run = runs;
        if (n->parent == NONE)
            continue;
        supernode *p = &s->nodes[n->parent];
        n->sibling = p->child;
        p->child = (uint32_t)k;
        for (uint32_t r = 0; r < n->list_count; r++) {
            uint32_t i = s->rows[n->list + r], length = s->start[i + 1] - s->start[i];
            uint32_t from = s->local[n->list + r] - n->base, to = local_row(s, p, i);
            run *last = runs > n->run ? &s->runs[runs - 1] : NULL;
            /* A run must not cross from the parent's columns to its rows below. */
            if (last && last->from + last->length == from && last->to + last->length == to &&
                !(last->to < p->width && to >= p->width))
                last->length += length;
            else
                s->runs[runs++] = (run){from, to, length};
        }
        n->runs = runs - n->run;
    }
}

/* Where updates lie on the two stacks; the sizes of work arrays. */
static rg_status place_updates(rg_sparse *s, rg_arena *arena) {
    size_t top[2] = {0, 0}, peak[2] = {0, 0}, packed = 0, rows = 0;
    uint8_t *depth;
    TAKE(depth, arena, s->node_count);
    for (size_t k = s->node_count; k-- > 0;)
        depth[k] = s->nodes[k].parent == NONE ? 0 : !depth[s->nodes[k].parent];
    for (size_t k = 0; k < s->node_count; k++) {
        supernode *n = &s->nodes[k];
        int stack = depth[k];
        n->stack = depth[k];
        n->update = top[stack];
        top[stack] += (size_t)n->below * n->below;
        if (top[stack] > peak[stack])
            peak[stack] = top[stack];
        if (n->child != NONE) /* the first child lies lowest: all of them go */
            top[!stack] = s->nodes[n->child].update;
        size_t need = (size_t)n->rows * n->width;
        packed = need > packed ? need : packed;
        rows = n->rows > rows ? n->rows : rows;
        double m = (double)(n->rows - n->base), w = n->width;
        s->stats.flops += w * w * w / 3 + w * w * m + w * m * m;
    }
    TAKE(s->stacks[0], arena, peak[0]);
    TAKE(s->stacks[1], arena, peak[1]);
    TAKE(s->pack[0], arena, packed);
    TAKE(s->pack[1], arena, packed);
    TAKE(s->work, arena, rows);
    TAKE(s->copy, arena, STRIP * rows);
    TAKE(s->lower, arena, s->entries);
    TAKE(s->upper, arena, s->entries);
    TAKE(s->inverse, arena, s->scalars);
    TAKE(s->exchanges, arena, s->scalars);
    TAKE(s->vector, arena, s->scalars);
    s->upper_used = true;
    rg_sparse_clear(s);
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
    status = place_updates(s, a->arena);
    if (status == RG_OK)
        count_blocks(s);
    return status;
}

rg_status rg_sparse_create(rg_arena *arena, size_t blocks, const uint8_t *sizes, int uniform,
                           const uint32_t *pairs, size_t pair_count, rg_sparse **sparse) {
    assert(blocks < NONE / RG_SPARSE_BLOCK_MAX);
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

rg_sparse_stats rg_sparse_get_stats(const rg_sparse *sparse) {
    return sparse->stats;
}

size_t rg_sparse_rows(const rg_sparse *sparse) {
    return sparse->scalars;
}

/* --- the matrix ---------------------------------------------------------------------------------
 * */

void rg_sparse_clear(rg_sparse *s) {
    memset(s->lower, 0, s->entries * sizeof *s->lower);
    if (s->upper_used)
        memset(s->upper, 0, s->entries * sizeof *s->upper);
    s->upper_used = false;
}

static uint32_t panel_of(const rg_sparse *s, const supernode *n, uint32_t column) {
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
    const supernode *n = &s->nodes[s->node_of[high]];
    uint32_t local_column = s->start[high] - n->first, local = local_row(s, n, low);
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

void rg_sparse_add(rg_sparse *s, rg_sparse_slot slot, const double *values, bool general) {
    bool transposed = general ? slot.general_transposed : slot.symmetric_transposed;
    double *place = s->lower + slot.symmetric;
    if (general) {
        place = (slot.general_transposed ? s->upper : s->lower) + slot.general;
        s->upper_used = true;
    }
    size_t down = transposed ? slot.stride : 1, across = transposed ? 1 : slot.stride;
    for (size_t r = 0; r < slot.rows; r++)
        for (size_t c = 0; c < slot.columns; c++)
            place[r * down + c * across] += values[r * slot.columns + c];
}

/* --- numeric factorisation ----------------------------------------------------------------------
 * */

/* Adds the update of a child, symmetric form: lower part only. */
static void add_child_symmetric(rg_sparse *s, const supernode *n, const supernode *child,
                                double *update) {
    const double *from = s->stacks[child->stack] + child->update;
    double *lower = s->lower + n->entries;
    const run *runs = s->runs + child->run;
    for (uint32_t b = 0; b < child->runs; b++)
        for (uint32_t c = 0; c < runs[b].length; c++) {
            uint32_t column = runs[b].to + c;
            const double *source = from + (size_t)(runs[b].from + c) * child->below;
            double *target = column < n->width
                                 ? lower + (size_t)column * n->rows
                                 : update + (size_t)(column - n->base) * n->below - n->base;
            for (uint32_t a = b; a < child->runs; a++) {
                uint32_t skip = a == b ? c : 0;
                const double *restrict in = source + runs[a].from + skip;
                double *restrict out = target + runs[a].to + skip;
                uint32_t length = runs[a].length - skip;
                for (uint32_t r = 0; r < length; r++)
                    out[r] += in[r];
            }
        }
}

static void add_child_general(rg_sparse *s, const supernode *n, const supernode *child,
                              double *update) {
    const double *from = s->stacks[child->stack] + child->update;
    double *lower = s->lower + n->entries, *upper = s->upper + n->entries;
    const run *runs = s->runs + child->run;
    for (uint32_t b = 0; b < child->runs; b++)
        for (uint32_t c = 0; c < runs[b].length; c++) {
            uint32_t column = runs[b].to + c;
            const double *source = from + (size_t)(runs[b].from + c) * child->below;
            bool inside = column < n->width;
            double *target = inside ? lower + (size_t)column * n->rows
                                    : update + (size_t)(column - n->base) * n->below - n->base;
            /* Rows before `whole` of this column belong to the upper half. */
            uint32_t whole = inside ? s->panel_start[n->panel + panel_of(s, n, column)] : n->base;
            for (uint32_t a = 0; a < child->runs; a++) {
                const double *restrict in = source + runs[a].from;
                uint32_t to = runs[a].to, r = 0;
                for (; r < runs[a].length && to + r < whole; r++)
                    upper[(size_t)(to + r) * n->rows + column] += in[r];
                double *restrict out = target + to;
                for (; r < runs[a].length; r++)
                    out[r] += in[r];
            }
        }
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
static void measure_rows(const rg_sparse *s, const supernode *n, double *largest, bool general) {
    const double *lower = s->lower + n->entries;
    for (uint32_t p = 0; p < n->panels; p++) {
        uint32_t first = s->panel_start[n->panel + p], end = s->panel_start[n->panel + p + 1];
        for (uint32_t r = first; r < end; r++)
            for (uint32_t c = general ? first : r; c < (general ? end : r + 1); c++)
                largest[r] = larger(largest[r], fabs(lower[(size_t)c * n->rows + r]));
    }
}

/* L D L' of a diagonal panel, in place: unit L under the diagonal, D on it. */
static rg_status factor_panel_symmetric(rg_sparse *s, const supernode *n, const double *largest,
                                        pivoting *rule, rg_sparse_panel *f) {
    double *at = s->lower + n->entries + (size_t)f->first * n->rows + f->first;
    size_t stride = n->rows;
    for (uint32_t c = 0; c < f->width; c++) {
        double d = at[c * stride + c];
        double weighted[PANEL]; /* L_cp D_p */
        for (uint32_t p = 0; p < c; p++) {
            weighted[p] = f->factor[c][p] * at[p * stride + p];
            d -= f->factor[c][p] * weighted[p];
        }
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
        at[c * stride + c] = d;
        f->inverse[c] = 1 / d;
        for (uint32_t r = c + 1; r < f->width; r++) {
            double sum = at[c * stride + r];
            for (uint32_t p = 0; p < c; p++)
                sum -= f->factor[r][p] * weighted[p];
            f->factor[r][c] = at[c * stride + r] = sum * f->inverse[c];
        }
        f->order[c] = (uint8_t)c;
    }
    return RG_OK;
}

/* P A_bb = L U of a diagonal panel, in place; rows compared relative to their largest entry.
 * f gets L for the upper half, g U' for the lower one. */
static rg_status factor_panel_general(rg_sparse *s, const supernode *n, const double *largest,
                                      rg_sparse_panel *f, rg_sparse_panel *g) {
    double *at = s->lower + n->entries + (size_t)f->first * n->rows + f->first;
    size_t stride = n->rows;
    double size[PANEL];
    for (uint32_t c = 0; c < f->width; c++) {
        f->order[c] = g->order[c] = (uint8_t)c;
        size[c] = largest[f->first + c];
    }
    for (uint32_t c = 0; c < f->width; c++) {
        uint32_t best = c;
        double most = -1;
        for (uint32_t r = c; r < f->width; r++) {
            double entry = size[r] > 0 ? fabs(at[c * stride + r]) / size[r] : 0;
            if (entry > most) {
                most = entry;
                best = r;
            }
        }
        if (!(most > RG_SPARSE_SINGULAR) || !isfinite(at[c * stride + best]))
            return RG_SINGULAR;
        if (best != c) {
            for (uint32_t k = 0; k < f->width; k++) {
                double swap = at[k * stride + c];
                at[k * stride + c] = at[k * stride + best];
                at[k * stride + best] = swap;
            }
            double swap = size[c];
            size[c] = size[best];
            size[best] = swap;
            uint8_t row = f->order[c];
            f->order[c] = f->order[best];
            f->order[best] = row;
        }
        g->inverse[c] = 1 / at[c * stride + c];
        for (uint32_t r = c + 1; r < f->width; r++) {
            double l = at[c * stride + r] *= g->inverse[c];
            for (uint32_t k = c + 1; k < f->width; k++)
                at[k * stride + r] -= l * at[k * stride + c];
        }
    }
    for (uint32_t c = 0; c < f->width; c++)
        for (uint32_t p = 0; p < c; p++) {
            f->factor[c][p] = at[p * stride + c]; /* L_cp */
            g->factor[c][p] = at[c * stride + p]; /* U_pc */
        }
    return RG_OK;
}

/* The columns of the supernode right of a panel, one half: half -= a b'. The last strip of columns
 * may reach past the supernode's width: it goes through a copy. */
static void update_columns(const rg_sparse *s, const supernode *n, double *half, const double *a,
                           const double *b, const rg_sparse_panel *f, bool lower) {
    size_t pitch = (size_t)STRIP * n->width, stride = n->rows;
    uint32_t begin = (f->first + f->width) / STRIP * STRIP, full = n->width / STRIP * STRIP;
    a += begin * (size_t)n->width + (size_t)STRIP * f->first;
    b += begin * (size_t)n->width + (size_t)STRIP * f->first;
    if (full > begin)
        s->kernel.product(half + begin * stride + begin, stride, a, b, pitch, f->width,
                          (n->rows - begin) / STRIP, (full - begin) / STRIP, lower);
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
    s->kernel.product(copy, rows, a + skipped * pitch, last, pitch, f->width, rows / STRIP, 1,
                      false);
    for (uint32_t c = 0; c < columns; c++)
        memcpy(half + (full + c) * stride + top, copy + c * rows, rows * sizeof *copy);
}

/* The strip that holds the last rows of a panel and the first below it: through a copy in which the
 * panel's own rows are zero, so that the products leave them alone. */
static void solve_shared(rg_sparse *s, const supernode *n, double *half, const rg_sparse_panel *f,
                         rg_sparse_scaling scaling) {
    uint32_t end = f->first + f->width, row = end / STRIP * STRIP;
    size_t place = (size_t)row * n->width + (size_t)STRIP * f->first;
    _Alignas(32) double copy[PANEL * STRIP];
    double *at = half + (size_t)f->first * n->rows + row;
    for (uint32_t c = 0; c < f->width; c++)
        for (uint32_t r = 0; r < STRIP; r++)
            copy[c * STRIP + r] = row + r < end ? 0 : at[(size_t)c * n->rows + r];
    bool first = scaling != RG_SPARSE_UNSCALED;
    s->kernel.strips(copy, STRIP, f, scaling, s->pack[first ? 0 : 1] + place,
                     scaling == RG_SPARSE_BOTH ? s->pack[1] + place : NULL, 0, 1);
    for (uint32_t c = 0; c < f->width; c++)
        for (uint32_t r = end - row; r < STRIP; r++)
            at[(size_t)c * n->rows + r] = copy[c * STRIP + r];
}

/* Everything below a factored panel: its rows, then the columns of the supernode right of it. In
 * the general form the columns are updated over all their rows: the diagonal panels are needed
 * whole, and what lies above them is never read. */
static void eliminate_panel(rg_sparse *s, const supernode *n, const rg_sparse_panel *f,
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
        s->kernel.strips(lower + corner, stride, g, RG_SPARSE_SCALED, l, NULL, pitch, strips);
        s->kernel.strips(upper + corner, stride, f, RG_SPARSE_UNSCALED, w, NULL, pitch, strips);
    } else {
        s->kernel.strips(lower + corner, stride, f, RG_SPARSE_BOTH, l, w, pitch, strips);
    }
    if (end == n->width)
        return;
    update_columns(s, n, lower, s->pack[0], s->pack[1], f, !general);
    if (general)
        update_columns(s, n, upper, s->pack[1], s->pack[0], f, true);
}

static void subtract_update(rg_sparse *s, const supernode *n, double *update, bool general) {
    size_t depth = n->width, strips = n->below / STRIP;
    s->kernel.product(update, n->below, s->pack[0] + n->base * depth, s->pack[1] + n->base * depth,
                      STRIP * depth, depth, strips, strips, !general);
}

static void clear_update(const supernode *n, double *update, bool general) {
    for (uint32_t column = 0; column < n->below; column++) {
        uint32_t top = general ? 0 : column / STRIP * STRIP;
        memset(update + (size_t)column * n->below + top, 0, (n->below - top) * sizeof *update);
    }
}

static rg_status factor_node(rg_sparse *s, const supernode *n, pivoting *rule, bool general) {
    double largest[WIDTH_MAX + PANEL] = {0};
    double *update = s->stacks[n->stack] + n->update;
    measure_rows(s, n, largest, general);
    clear_update(n, update, general);
    for (uint32_t c = n->child; c != NONE; c = s->nodes[c].sibling) {
        if (general)
            add_child_general(s, n, &s->nodes[c], update);
        else
            add_child_symmetric(s, n, &s->nodes[c], update);
    }
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

rg_status rg_sparse_factor_symmetric(rg_sparse *s, const int8_t *signs, double regularisation,
                                     size_t *replaced) {
    s->general = false;
    size_t count = 0;
    rg_status status = RG_OK;
    int8_t mapped[WIDTH_MAX + PANEL];
    uint32_t block = 0;
    for (size_t k = 0; k < s->node_count && status == RG_OK; k++) {
        const supernode *n = &s->nodes[k];
        for (; signs && block < s->blocks && s->node_of[block] == k; block++)
            for (uint32_t r = s->start[block]; r < s->start[block + 1]; r++)
                mapped[r - n->first] = signs[s->original[block] + (r - s->start[block])];
        pivoting rule = {signs ? mapped : NULL, regularisation, 0};
        status = factor_node(s, n, &rule, false);
        count += rule.replaced;
    }
    if (replaced)
        *replaced = count;
    return status;
}

rg_status rg_sparse_factor_general(rg_sparse *s) {
    s->general = true;
    s->upper_used = true;
    rg_status status = RG_OK;
    for (size_t k = 0; k < s->node_count && status == RG_OK; k++)
        status = factor_node(s, &s->nodes[k], NULL, true);
    return status;
}

/* --- solving ------------------------------------------------------------------------------------
 * */

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

/* Sum of h y over [from, to) in four lanes. */
static double lane_dot(const double *restrict h, const double *restrict y, uint32_t from,
                       uint32_t to) {
    double lanes[4] = {0, 0, 0, 0};
    uint32_t r = from;
    for (; r + 4 <= to; r += 4)
        for (int k = 0; k < 4; k++)
            lanes[k] += h[r + k] * y[r + k];
    for (int k = 0; r < to; r++, k++)
        lanes[k] += h[r] * y[r];
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

static void gather_below(const rg_sparse *s, const supernode *n, double *y) {
    for (uint32_t r = 0; r < n->list_count; r++) {
        uint32_t i = s->rows[n->list + r], at = s->local[n->list + r];
        for (uint32_t k = s->start[i]; k < s->start[i + 1]; k++)
            y[at + (k - s->start[i])] = s->vector[k];
    }
}

static void scatter_below(const rg_sparse *s, const supernode *n, const double *y) {
    for (uint32_t r = 0; r < n->list_count; r++) {
        uint32_t i = s->rows[n->list + r], at = s->local[n->list + r];
        for (uint32_t k = s->start[i]; k < s->start[i + 1]; k++)
            s->vector[k] = y[at + (k - s->start[i])];
    }
}

static void solve_down(const rg_sparse *s, const supernode *n, double *y) {
    const double *lower = s->lower + n->entries;
    size_t stride = n->rows;
    memset(y, 0, n->rows * sizeof *y);
    memcpy(y, s->vector + n->first, n->width * sizeof *y);
    gather_below(s, n, y);
    for (uint32_t p = 0; p < n->panels; p++) {
        uint32_t first = s->panel_start[n->panel + p], end = s->panel_start[n->panel + p + 1];
        double x[PANEL];
        for (uint32_t c = first; c < end; c++)
            x[c - first] = y[first + s->exchanges[n->first + c]];
        for (uint32_t c = first; c < end; c++)
            for (uint32_t r = c + 1; r < end; r++)
                x[r - first] -= lower[c * stride + r] * x[c - first];
        memcpy(y + first, x, (end - first) * sizeof *x);
        subtract_columns(lower + first * stride, stride, end - first, x, y, end, n->rows);
    }
    memcpy(s->vector + n->first, y, n->width * sizeof *y);
    scatter_below(s, n, y);
}

static void solve_up(const rg_sparse *s, const supernode *n, double *y) {
    const double *lower = s->lower + n->entries,
                 *upper = (s->general ? s->upper : s->lower) + n->entries;
    size_t stride = n->rows;
    memset(y, 0, n->rows * sizeof *y);
    memcpy(y, s->vector + n->first, n->width * sizeof *y);
    gather_below(s, n, y);
    for (uint32_t p = n->panels; p-- > 0;) {
        uint32_t first = s->panel_start[n->panel + p], end = s->panel_start[n->panel + p + 1];
        for (uint32_t c = end; c-- > first;) {
            double sum = s->general ? y[c] : y[c] * s->inverse[n->first + c];
            sum -= lane_dot(upper + c * stride, y, end, n->rows);
            for (uint32_t r = c + 1; r < end; r++)
                sum -= (s->general ? lower[r * stride + c] : lower[c * stride + r]) * y[r];
            y[c] = s->general ? sum * s->inverse[n->first + c] : sum;
        }
    }
    memcpy(s->vector + n->first, y, n->width * sizeof *y);
}

void rg_sparse_solve(const rg_sparse *s, double *x) {
    for (size_t i = 0; i < s->blocks; i++)
        memcpy(s->vector + s->start[i], x + s->original[i],
               (s->start[i + 1] - s->start[i]) * sizeof *x);
    for (size_t k = 0; k < s->node_count; k++)
        solve_down(s, &s->nodes[k], s->work);
    for (size_t k = s->node_count; k-- > 0;)
        solve_up(s, &s->nodes[k], s->work);
    for (size_t i = 0; i < s->blocks; i++)
        memcpy(x + s->original[i], s->vector + s->start[i],
               (s->start[i + 1] - s->start[i]) * sizeof *x);
}
