/* Candidate pairs by a dynamic tree of boxes.
 *
 * Every proxy is a leaf whose box is its bounds enlarged, by a part of their size and by the motion
 * to be expected; only when the bounds leave it is the leaf taken out and put in again. So an
 * update costs one comparison per box, one per pair of enlarged boxes, and O(log n) for the few
 * that have left. Pairs of enlarged boxes are kept, sorted; the pairs asked for are those of them
 * whose true bounds overlap, which makes the answer independent of the enlargement and of the
 * tree's history.
 *
 * A leaf is put beside the node that makes the sum of the surface areas grow least (Goldsmith and
 * Salmon 1987), found by descent; on the way back up each ancestor may exchange a child with a
 * grandchild if that lowers the sum (Kopta et al. 2012). When more than a part of the leaves are to
 * be put in, the whole tree is built from above instead, by the area heuristic over bins of centres
 * (Wald 2007), or by the median where bins would be lopsided: O(n log n).
 *
 * A node holds the boxes of its two children, so that a descent reads one node per level and
 * leaves, which lie by id, not by place, are never read on the way.
 *
 * Fails: no memory; leaves that have moved stay marked, and the next update looks for their pairs
 * again. */
#include "base/base_math.h"
#include "broad/broad_kind.h"

#include <string.h>

#define NONE UINT32_MAX

/* Enlargement: part of the largest extent on all sides, and so many updates of the motion since the
 * leaf was put in last, but no more than so many extents. */
#define MARGIN_PART      0.2
#define EXPECTED_UPDATES 16.0
#define MOST_SHIFT       1.0
/* A leaf this much larger than its bounds (sum of extents) is made anew: the box was fast once. */
#define MOST_SLACK 16.0
/* Extents count as no more than this in areas: unbounded boxes stay comparable. */
#define LARGEST_EXTENT 1e100
/* Built anew if more than 1 / REBUILD_PART of the leaves are to be put in. */
#define REBUILD_PART 3
enum { BINS = 16, LOPSIDED = 16 };

/* Indices of leaves carry the bit LEAF, and the id. */
#define LEAF UINT32_C(0x80000000)

typedef struct node {
    double ends[2][6]; /* of the children: lower x y z, upper x y z */
    uint32_t child[2];
    uint32_t parent; /* or the next free node */
} node;

typedef struct leaf {
    double ends[6]; /* enlarged */
    uint32_t parent;
    uint32_t update; /* number of the one that put it in */
} leaf;

/* Marks of a leaf, apart from it because they are asked for every pair. */
enum {
    IN_TREE = 1,
    MOVED = 2,  /* its pairs must be looked for */
    ENTERED = 4 /* and none of those known is to be kept */
};

typedef struct build_item {
    double ends[6];
    double order; /* the coordinate to sort by */
    uint32_t id;
} build_item;

typedef struct tree {
    node *nodes;
    size_t node_capacity;
    leaf *leaves; /* by id */
    size_t leaf_count, leaf_capacity;
    uint8_t *marks; /* by id */
    size_t mark_capacity;
    rg_vec3 *origins; /* by id: lower bounds when the leaf was put in */
    size_t origin_capacity;
    uint32_t root, free_node;
    uint32_t update_count;
    uint32_t *moved;
    size_t moved_count, moved_capacity;
    uint32_t *stack;
    size_t stack_capacity;
    rg_pair_list near, near_next, candidates, scratch; /* of enlarged boxes */
    build_item *items;                                 /* twice the leaves: half is scratch */
    size_t item_capacity;
} tree;

static inline bool is_leaf(uint32_t index) {
    return index & LEAF; /* not asked of NONE */
}

static rg_status create(rg_broad *broad) {
    tree *t = rg_allocate_zeroed(&broad->allocator, 1, sizeof *t);
    if (!t)
        return RG_OUT_OF_MEMORY;
    t->root = t->free_node = NONE;
    broad->state = t;
    return RG_OK;
}

static void destroy(rg_broad *broad) {
    tree *t = broad->state;
    const rg_allocator *memory = &broad->allocator;
    rg_release_all(memory, t->nodes, t->leaves, t->marks, t->origins, t->moved, t->stack,
                   t->near.pairs, t->near_next.pairs, t->candidates.pairs, t->scratch.pairs,
                   t->items, t);
}

/* The pairs are made of `near` every time. */
static void forget(rg_broad *broad) {
    (void)broad;
}

/* There is always a node for each leaf. */
static rg_status make_room(rg_broad *broad, tree *t) {
    const rg_allocator *memory = &broad->allocator;
    rg_status status = rg_array_grow(memory, &t->nodes, &t->node_capacity, broad->limit);
    if (!status)
        status = rg_array_grow(memory, &t->leaves, &t->leaf_capacity, broad->limit);
    if (!status)
        status = rg_array_grow(memory, &t->marks, &t->mark_capacity, broad->limit);
    if (!status)
        status = rg_array_grow(memory, &t->origins, &t->origin_capacity, broad->limit);
    if (!status)
        status = rg_array_grow(memory, &t->moved, &t->moved_capacity, broad->limit);
    if (status)
        return status;
    for (; t->leaf_count < broad->limit; t->leaf_count++) {
        t->marks[t->leaf_count] = 0;
        t->nodes[t->leaf_count].parent = t->free_node;
        t->free_node = (uint32_t)t->leaf_count;
    }
    return RG_OK;
}

/* --- boxes ---------------------------------------------------------------------------------------
 */

static inline double area_of_extents(double x, double y, double z) {
    x = x < LARGEST_EXTENT ? x : LARGEST_EXTENT;
    y = y < LARGEST_EXTENT ? y : LARGEST_EXTENT;
    z = z < LARGEST_EXTENT ? z : LARGEST_EXTENT;
    return x * y + y * z + z * x;
}

/* Half the surface. */
static inline double area(const double e[6]) {
    return area_of_extents(e[3] - e[0], e[4] - e[1], e[5] - e[2]);
}

static inline void unite(const double a[6], const double b[6], double out[6]) {
    for (int k = 0; k < 3; k++) {
        out[k] = a[k] < b[k] ? a[k] : b[k];
        out[3 + k] = a[3 + k] > b[3 + k] ? a[3 + k] : b[3 + k];
    }
}

static inline double united_area(const double a[6], const double b[6]) {
    double e[6];
    unite(a, b, e);
    return area(e);
}

static inline bool overlap(const double a[6], const double b[6]) {
    /* Without branches: which axis tells two boxes apart cannot be predicted. */
    return (a[0] <= b[3]) & (b[0] <= a[3]) & (a[1] <= b[4]) & (b[1] <= a[4]) & (a[2] <= b[5]) &
           (b[2] <= a[5]);
}

static inline bool contains(const double outer[6], const rg_bounds *b) {
    return (outer[0] <= b->lower.x) & (b->upper.x <= outer[3]) & (outer[1] <= b->lower.y) &
           (b->upper.y <= outer[4]) & (outer[2] <= b->lower.z) & (b->upper.z <= outer[5]);
}

/* --- changing the tree ---------------------------------------------------------------------------
 */

static void set_parent(tree *t, uint32_t index, uint32_t parent) {
    *(is_leaf(index) ? &t->leaves[index & ~LEAF].parent : &t->nodes[index].parent) = parent;
}

static uint32_t parent_of(const tree *t, uint32_t index) {
    return is_leaf(index) ? t->leaves[index & ~LEAF].parent : t->nodes[index].parent;
}

/* Which child of its parent it is. */
static inline int side_of(const tree *t, uint32_t parent, uint32_t index) {
    return t->nodes[parent].child[1] == index;
}

static void box_of(const tree *t, uint32_t index, double box[6]) {
    if (is_leaf(index))
        memcpy(box, t->leaves[index & ~LEAF].ends, 6 * sizeof(double));
    else
        unite(t->nodes[index].ends[0], t->nodes[index].ends[1], box);
}

static uint32_t take_node(tree *t) {
    uint32_t index = t->free_node;
    t->free_node = t->nodes[index].parent;
    return index;
}

/* The box of a node, as its parent holds it. True if that was another. */
static bool tell_parent(tree *t, uint32_t index) {
    uint32_t parent = t->nodes[index].parent;
    if (parent == NONE)
        return false;
    double box[6], *known = t->nodes[parent].ends[side_of(t, parent, index)];
    unite(t->nodes[index].ends[0], t->nodes[index].ends[1], box);
    bool changed = false;
    for (int k = 0; k < 6; k++) {
        changed |= known[k] != box[k];
        known[k] = box[k];
    }
    return changed;
}

/* Exchanges a child of `index` with a grandchild by the other child, if that makes the other child
 * smaller: of the four ways the best. */
static void rotate(tree *t, uint32_t index) {
    node *n = &t->nodes[index];
    double best_gain = 0;
    int best_side = -1, best_grandchild = 0;
    for (int side = 0; side < 2; side++) {
        if (is_leaf(n->child[1 - side]))
            continue;
        const node *other = &t->nodes[n->child[1 - side]];
        double old_area = area(n->ends[1 - side]);
        for (int g = 0; g < 2; g++) { /* the grandchild g leaves, its sibling stays */
            double gain = old_area - united_area(n->ends[side], other->ends[1 - g]);
            if (gain > best_gain) {
                best_gain = gain;
                best_side = side;
                best_grandchild = g;
            }
        }
    }
    if (best_side < 0)
        return;
    uint32_t child = n->child[best_side], other_index = n->child[1 - best_side];
    node *other = &t->nodes[other_index];
    double box[6];
    memcpy(box, n->ends[best_side], sizeof box);
    n->child[best_side] = other->child[best_grandchild];
    memcpy(n->ends[best_side], other->ends[best_grandchild], sizeof box);
    set_parent(t, n->child[best_side], index);
    other->child[best_grandchild] = child;
    memcpy(other->ends[best_grandchild], box, sizeof box);
    set_parent(t, child, other_index);
    tell_parent(t, other_index);
}

/* A rotation looks two levels down: where two levels are as they were, all above is. */
static void refit_upwards(tree *t, uint32_t index) {
    for (int unchanged = 0; index != NONE && unchanged < 2; index = t->nodes[index].parent) {
        rotate(t, index);
        unchanged = tell_parent(t, index) ? 0 : unchanged + 1;
    }
}

static void refit_without_rotations(tree *t, uint32_t index) {
    while (tell_parent(t, index))
        index = t->nodes[index].parent;
}

static double middle_distance(const double a[6], const double b[6]) {
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += fabs((a[k] + a[3 + k]) - (b[k] + b[3 + k]));
    return sum;
}

/* The node below `index` (or itself) that shall share a parent with the leaf. */
static uint32_t best_sibling(const tree *t, uint32_t index, const double leaf_box[6]) {
    double box[6];
    box_of(t, index, box);
    double inherited = 0; /* growth of the ancestors */
    double here = area(box), here_united = united_area(box, leaf_box);
    while (!is_leaf(index)) {
        const node *n = &t->nodes[index];
        double stop_cost = here_united + inherited;
        inherited += here_united - here;
        double cost[2], areas[2], united[2];
        for (int i = 0; i < 2; i++) {
            areas[i] = area(n->ends[i]);
            united[i] = united_area(n->ends[i], leaf_box);
            /* An inner child: at least its own growth is to be paid. */
            cost[i] = inherited + united[i] - (is_leaf(n->child[i]) ? 0 : areas[i]);
        }
        if (stop_cost <= cost[0] && stop_cost <= cost[1])
            break;
        int i = cost[1] < cost[0];
        if (cost[0] == cost[1])
            i = middle_distance(n->ends[1], leaf_box) < middle_distance(n->ends[0], leaf_box);
        index = n->child[i];
        here = areas[i];
        here_united = united[i];
    }
    return index;
}

static inline bool holds(const double outer[6], const double inner[6]) {
    return (outer[0] <= inner[0]) & (inner[3] <= outer[3]) & (outer[1] <= inner[1]) &
           (inner[4] <= outer[4]) & (outer[2] <= inner[2]) & (inner[5] <= outer[5]);
}

/* The search starts at the lowest node above `near` that holds the leaf (the nodes above that do
 * not grow), so that a box that has moved a little finds its new place in a few steps. */
static void insert_leaf(tree *t, uint32_t id, uint32_t near) {
    leaf *l = &t->leaves[id];
    if (t->root == NONE) {
        t->root = id | LEAF;
        l->parent = NONE;
        return;
    }
    while (near != t->root) {
        double box[6];
        box_of(t, near, box);
        if (holds(box, l->ends))
            break;
        near = parent_of(t, near);
    }
    uint32_t sibling = best_sibling(t, near, l->ends), above = parent_of(t, sibling);
    uint32_t index = take_node(t);
    node *n = &t->nodes[index];
    n->child[0] = sibling;
    n->child[1] = id | LEAF;
    n->parent = above;
    box_of(t, sibling, n->ends[0]);
    memcpy(n->ends[1], l->ends, sizeof n->ends[1]);
    if (above == NONE)
        t->root = index;
    else
        t->nodes[above].child[side_of(t, above, sibling)] = index;
    set_parent(t, sibling, index);
    l->parent = index;
    tell_parent(t, index);
    refit_upwards(t, above);
}

/* Returns a node near the place where it was; NONE if the tree is empty now. */
static uint32_t remove_leaf(tree *t, uint32_t id) {
    uint32_t parent = t->leaves[id].parent;
    if (parent == NONE) {
        t->root = NONE;
        return NONE;
    }
    int side = 1 - side_of(t, parent, id | LEAF);
    uint32_t sibling = t->nodes[parent].child[side], above = t->nodes[parent].parent;
    set_parent(t, sibling, above);
    if (above == NONE) {
        t->root = sibling;
    } else {
        int place = side_of(t, above, parent);
        t->nodes[above].child[place] = sibling;
        memcpy(t->nodes[above].ends[place], t->nodes[parent].ends[side],
               sizeof t->nodes[above].ends[place]);
        refit_without_rotations(t, above);
    }
    t->nodes[parent].parent = t->free_node;
    t->free_node = parent;
    return above == NONE ? sibling : above;
}

/* --- building the tree ---------------------------------------------------------------------------
 */

static inline bool item_before(build_item x, build_item y) {
    return x.order < y.order || (x.order == y.order && x.id < y.id);
}

RG_DEFINE_MERGE_SORT(sort_items, build_item, item_before)

typedef struct bin {
    double ends[6];
    size_t count;
} bin;

static const bin empty_bin = {{INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY}, 0};

static void put_in_bin(bin *b, const double ends[6], size_t count) {
    unite(b->ends, ends, b->ends);
    b->count += count;
}

/* The bin of a centre; all of one bin if the range has no width. */
static inline int bin_of(double centre, double low, double scale) {
    double b = (centre - low) * scale;
    return b < BINS - 1 ? (int)b : BINS - 1;
}

/* The first bin of the right part, by the area heuristic; 0 if all are on one side. */
static int best_split(const bin bins[BINS], size_t *left_count) {
    double right_cost[BINS];
    bin right = empty_bin, left = empty_bin;
    for (int i = BINS - 1; i > 0; i--) {
        put_in_bin(&right, bins[i].ends, bins[i].count);
        right_cost[i] = right.count ? (double)right.count * area(right.ends) : -1;
    }
    double best = INFINITY;
    int split = 0;
    for (int i = 1; i < BINS; i++) {
        put_in_bin(&left, bins[i - 1].ends, bins[i - 1].count);
        if (left.count == 0 || right_cost[i] < 0)
            continue;
        double cost = (double)left.count * area(left.ends) + right_cost[i];
        if (cost < best) {
            best = cost;
            split = i;
            *left_count = left.count;
        }
    }
    return split;
}

static inline double centre_of(const build_item *item, int axis) {
    return 0.5 * item->ends[axis] + 0.5 * item->ends[3 + axis];
}

/* Orders the items so that the first part, whose size is returned, goes left. */
static size_t divide(const tree *t, build_item *items, size_t count) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            double centre = centre_of(&items[i], k);
            low[k] = centre < low[k] ? centre : low[k];
            high[k] = centre > high[k] ? centre : high[k];
        }
    int axis = high[1] - low[1] > high[0] - low[0] ? 1 : 0;
    axis = high[2] - low[2] > high[axis] - low[axis] ? 2 : axis;
    double width = high[axis] - low[axis], scale = BINS / width;
    size_t left_count = 0;
    int split = 0;
    if (scale < INFINITY && width < INFINITY) {
        bin bins[BINS];
        for (int i = 0; i < BINS; i++)
            bins[i] = empty_bin;
        for (size_t i = 0; i < count; i++)
            put_in_bin(&bins[bin_of(centre_of(&items[i], axis), low[axis], scale)], items[i].ends,
                       1);
        split = best_split(bins, &left_count);
    }
    size_t least = count / LOPSIDED;
    if (split > 0 && left_count > least && count - left_count > least) {
        size_t left = 0;
        for (size_t i = 0; i < count; i++)
            if (bin_of(centre_of(&items[i], axis), low[axis], scale) < split) {
                build_item moving = items[i];
                items[i] = items[left];
                items[left++] = moving;
            }
        return left;
    }
    for (size_t i = 0; i < count; i++)
        items[i].order = centre_of(&items[i], axis);
    sort_items(items, count, t->items + t->item_capacity / 2);
    return count / 2;
}

/* Depth: each part has at most 15/16 of the whole, so below 340 for 2^31 leaves. */
static uint32_t build(tree *t, build_item *items, size_t count, double box[6]) {
    if (count == 1) {
        memcpy(box, items[0].ends, sizeof items[0].ends);
        return items[0].id | LEAF;
    }
    size_t left = divide(t, items, count);
    uint32_t index = take_node(t);
    node *n = &t->nodes[index];
    n->child[0] = build(t, items, left, n->ends[0]);
    n->child[1] = build(t, items + left, count - left, n->ends[1]);
    set_parent(t, n->child[0], index);
    set_parent(t, n->child[1], index);
    unite(n->ends[0], n->ends[1], box);
    return index;
}

/* All leaves anew. Unbounded ones have no centre and are put in one by one. */
static void build_all(rg_broad *broad, tree *t) {
    t->free_node = NONE;
    for (size_t i = t->leaf_count; i-- > 0;) {
        t->nodes[i].parent = t->free_node;
        t->free_node = (uint32_t)i;
    }
    size_t count = 0, unbounded = 0;
    for (uint32_t id = 0; id < broad->limit; id++) {
        if (!broad->states[id])
            continue;
        build_item *item = &t->items[count];
        memcpy(item->ends, t->leaves[id].ends, sizeof item->ends);
        item->id = id;
        if (isfinite(centre_of(item, 0)) && isfinite(centre_of(item, 1)) &&
            isfinite(centre_of(item, 2)))
            count++;
        else /* from behind; there is room for all */
            t->items[t->item_capacity - ++unbounded].id = id;
    }
    double box[6];
    t->root = count ? build(t, t->items, count, box) : NONE;
    if (count)
        set_parent(t, t->root, NONE);
    for (size_t i = 1; i <= unbounded; i++)
        insert_leaf(t, t->items[t->item_capacity - i].id, t->root);
    broad->info.rebuilds++;
}

/* --- leaves --------------------------------------------------------------------------------------
 */

/* The leaf's enlarged box around its bounds. */
static void enlarge(tree *t, uint32_t id, const rg_bounds *bounds) {
    leaf *l = &t->leaves[id];
    double lower[3] = {bounds->lower.x, bounds->lower.y, bounds->lower.z};
    double upper[3] = {bounds->upper.x, bounds->upper.y, bounds->upper.z};
    double origin[3] = {t->origins[id].x, t->origins[id].y, t->origins[id].z};
    double extent = rg_max3(upper[0] - lower[0], upper[1] - lower[1], upper[2] - lower[2]);
    if (!(extent < INFINITY))
        extent = 0;
    double updates = (double)(t->update_count - l->update);
    double most = MOST_SHIFT * extent, margin = MARGIN_PART * extent;
    for (int k = 0; k < 3; k++) {
        /* A NaN, for a bound that stays infinite, is neither above 0 nor below. */
        double shift = EXPECTED_UPDATES * (lower[k] - origin[k]) / updates;
        if (!(t->marks[id] & IN_TREE))
            shift = 0;
        shift = shift > most ? most : shift < -most ? -most : shift;
        l->ends[k] = lower[k] - margin + (shift < 0 ? shift : 0);
        l->ends[3 + k] = upper[k] + margin + (shift > 0 ? shift : 0);
    }
    t->origins[id] = bounds->lower;
    l->update = t->update_count;
}

static bool too_slack(const double e[6], const rg_bounds *b) {
    double extents =
        (b->upper.x - b->lower.x) + (b->upper.y - b->lower.y) + (b->upper.z - b->lower.z);
    return (e[3] - e[0]) + (e[4] - e[1]) + (e[5] - e[2]) > MOST_SLACK * extents;
}

/* Finds the leaves to be put in (again), takes out those that are gone. */
static void find_moved(rg_broad *broad, tree *t) {
    t->update_count++;
    t->moved_count = 0;
    for (uint32_t id = 0; id < broad->limit; id++) {
        uint8_t state = broad->states[id], *mark = &t->marks[id];
        if (state == RG_PROXY_ALIVE && *mark == IN_TREE) {
            const double *ends = t->leaves[id].ends;
            if (contains(ends, &broad->bounds[id]) && !too_slack(ends, &broad->bounds[id]))
                continue;
        } else if (!state) {
            if (*mark & IN_TREE)
                remove_leaf(t, id);
            *mark = ENTERED;
            continue;
        } else if (!(*mark & IN_TREE) || state != RG_PROXY_ALIVE)
            *mark |= ENTERED;
        *mark |= MOVED;
        t->moved[t->moved_count++] = id;
    }
}

/* Leaves in the order of their parents, whose places in memory follow the tree: neighbours are
 * handled one after the other, and find the nodes that they need in the cache. */
static rg_status order_moved(rg_broad *broad, tree *t) {
    rg_pair_list *order = &t->candidates;
    rg_status status =
        rg_array_grow(&broad->allocator, &order->pairs, &order->capacity, t->moved_count);
    if (status)
        return status;
    order->count = t->moved_count;
    for (size_t i = 0; i < t->moved_count; i++) {
        uint32_t id = t->moved[i];
        order->pairs[i].a = t->marks[id] & IN_TREE ? t->leaves[id].parent : NONE;
        order->pairs[i].b = id;
    }
    status = rg_pairs_sort(broad, order, &t->scratch);
    for (size_t i = 0; i < t->moved_count; i++)
        t->moved[i] = order->pairs[i].b;
    return status;
}

static inline void prefetch_leaf(const rg_broad *broad, const tree *t, uint32_t id) {
    RG_PREFETCH(&t->leaves[id]);
    RG_PREFETCH(&t->leaves[id].parent);
    RG_PREFETCH(&t->origins[id]);
    RG_PREFETCH(&broad->bounds[id]);
}

static rg_status put_in(rg_broad *broad, tree *t) {
    enum { AHEAD = 4 };
    bool all = t->moved_count > broad->count / REBUILD_PART;
    if (all) {
        rg_status status =
            rg_array_grow(&broad->allocator, &t->items, &t->item_capacity, 2 * broad->count);
        if (status)
            return status;
    }
    for (size_t i = 0; i < t->moved_count; i++) {
        uint32_t id = t->moved[i], near = t->root;
        if (i + AHEAD < t->moved_count)
            prefetch_leaf(broad, t, t->moved[i + AHEAD]);
        if ((t->marks[id] & IN_TREE) && !all)
            near = remove_leaf(t, id);
        enlarge(t, id, &broad->bounds[id]);
        if (!all)
            insert_leaf(t, id, near);
        t->marks[id] |= IN_TREE;
    }
    broad->info.reinsertions = t->moved_count;
    if (all)
        build_all(broad, t);
    return RG_OK;
}

/* --- pairs ---------------------------------------------------------------------------------------
 */

/* Pairs of enlarged boxes with this one; of two that have moved, the smaller id looks. */
/* A node lies on two or three cache lines. */
static inline void prefetch_node(const tree *t, uint32_t index) {
    RG_PREFETCH((const char *)&t->nodes[index]);
    RG_PREFETCH((const char *)&t->nodes[index] + sizeof(node) - 1);
}

static rg_status add_candidate(rg_broad *broad, tree *t, uint32_t id, uint32_t other) {
    rg_broad_pair pair = rg_pair_of(id, other);
    if (other == id || ((t->marks[other] & MOVED) && other < id) || !rg_pair_wanted(broad, pair))
        return RG_OK;
    return rg_pair_push(broad, &t->candidates, pair);
}

static rg_status query(rg_broad *broad, tree *t, uint32_t id) {
    if (is_leaf(t->root))
        return RG_OK;
    double box[6];
    memcpy(box, t->leaves[id].ends, sizeof box);
    size_t depth = 0;
    uint64_t visits = 0;
    rg_status status = RG_OK;
    t->stack[depth++] = t->root;
    while (depth > 0 && !status) {
        const node *n = &t->nodes[t->stack[--depth]];
        visits++;
        if (depth + 2 > t->stack_capacity)
            status = rg_array_grow(&broad->allocator, &t->stack, &t->stack_capacity, depth + 2);
        for (int i = 0; i < 2 && !status; i++) {
            if (!overlap(box, n->ends[i]))
                continue;
            if (is_leaf(n->child[i]))
                status = add_candidate(broad, t, id, n->child[i] & ~LEAF);
            else {
                t->stack[depth++] = n->child[i];
                prefetch_node(t, n->child[i]);
            }
        }
    }
    broad->info.node_visits += visits;
    return status;
}

static rg_status find_candidates(rg_broad *broad, tree *t) {
    t->candidates.count = 0;
    if (t->moved_count == 0)
        return RG_OK;
    rg_status status = rg_array_grow(&broad->allocator, &t->stack, &t->stack_capacity, 1);
    for (size_t i = 0; i < t->moved_count && !status; i++)
        status = query(broad, t, t->moved[i]);
    if (!status)
        status = rg_pairs_sort(broad, &t->candidates, &t->scratch);
    return status;
}

/* Whether a pair known before is still one of enlarged boxes. */
static inline bool still_near(const tree *t, rg_broad_pair pair) {
    uint8_t marks = t->marks[pair.a] | t->marks[pair.b];
    if (marks & ENTERED)
        return false;
    return !(marks & MOVED) || overlap(t->leaves[pair.a].ends, t->leaves[pair.b].ends);
}

/* near = what is left of near, and the candidates. */
static rg_status merge_near(rg_broad *broad, tree *t) {
    size_t most = t->near.count + t->candidates.count;
    rg_status status =
        rg_array_grow(&broad->allocator, &t->near_next.pairs, &t->near_next.capacity, most);
    if (status)
        return status;
    rg_broad_pair *next = t->near_next.pairs;
    const rg_pair_list *found = &t->candidates;
    size_t count = 0, c = 0;
    for (size_t i = 0; i < t->near.count; i++) {
        rg_broad_pair pair = t->near.pairs[i];
        if (!still_near(t, pair))
            continue;
        uint64_t key = rg_pair_key(pair);
        while (c < found->count && rg_pair_key(found->pairs[c]) < key)
            next[count++] = found->pairs[c++];
        c += c < found->count && rg_pair_key(found->pairs[c]) == key;
        next[count++] = pair;
    }
    while (c < found->count)
        next[count++] = found->pairs[c++];
    rg_pair_list old = t->near;
    t->near = t->near_next;
    t->near.count = count;
    t->near_next = old;
    for (size_t i = 0; i < t->moved_count; i++)
        t->marks[t->moved[i]] = IN_TREE;
    return RG_OK;
}

/* next = those of near whose true bounds overlap. */
static size_t select_overlapping(rg_broad *broad, const tree *t) {
    enum { AHEAD = 16 };
    const rg_broad_pair *near = t->near.pairs;
    size_t count = 0, last = t->near.count - 1;
    for (size_t i = 0; i < t->near.count; i++) {
        RG_PREFETCH(&broad->bounds[near[i + AHEAD < last ? i + AHEAD : last].b]);
        broad->next.pairs[count] = near[i];
        count += overlap((const double *)&broad->bounds[near[i].a],
                         (const double *)&broad->bounds[near[i].b]);
    }
    return count;
}

static rg_status update(rg_broad *broad, bool *same) {
    tree *t = broad->state;
    *same = false;
    rg_status status = make_room(broad, t);
    if (status)
        return status;
    find_moved(broad, t);
    status = order_moved(broad, t);
    if (!status)
        status = put_in(broad, t);
    if (!status)
        status = find_candidates(broad, t);
    if (!status && (t->moved_count > 0 || broad->changed))
        status = merge_near(broad, t);
    if (!status)
        status = rg_array_grow(&broad->allocator, &broad->next.pairs, &broad->next.capacity,
                               t->near.count);
    if (status)
        return status;
    broad->next.count = select_overlapping(broad, t);
    broad->info.overlap_tests = t->near.count;
    return RG_OK;
}

const rg_broad_kind rg_broad_tree = {"tree", create, destroy, update, forget};
