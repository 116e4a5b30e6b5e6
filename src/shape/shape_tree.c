/* The tree of boxes: cut at the middle of the longest side of the box of the items' middles, or
 * evenly where that parts nothing, and deep in the tree.
 * Tested by tests/shape/test_terrain.c, tests/shape/test_decompose.c. */
#include "shape/shape_tree.h"

#include "base/base_math.h"
#include "base/base_memory.h"

enum { LEAF = 4 }; /* items in a leaf */

static double coordinate(rg_vec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static rg_vec3 middle_of(const rg_box_tree *t, uint32_t item) {
    rg_bounds b = t->bounds(t->owner, item);
    return rg_add(rg_scale(0.5, b.lower), rg_scale(0.5, b.upper));
}

/* Where `count` items are cut: those before it first. */
static size_t cut(const rg_box_tree *t, uint32_t *order, size_t count, bool even) {
    rg_bounds b = {middle_of(t, order[0]), middle_of(t, order[0])};
    for (size_t i = 1; i < count; i++) {
        rg_vec3 m = middle_of(t, order[i]);
        b = (rg_bounds){rg_min(b.lower, m), rg_max(b.upper, m)};
    }
    rg_vec3 size = rg_sub(b.upper, b.lower);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    double at = 0.5 * coordinate(b.lower, axis) + 0.5 * coordinate(b.upper, axis);
    size_t left = 0;
    for (size_t i = 0; i < count && !even; i++)
        if (coordinate(middle_of(t, order[i]), axis) < at) {
            uint32_t swap = order[left];
            order[left++] = order[i];
            order[i] = swap;
        }
    return left == 0 || left == count ? count / 2 : left;
}

static rg_bounds join(rg_bounds a, rg_bounds b) {
    return (rg_bounds){rg_min(a.lower, b.lower), rg_max(a.upper, b.upper)};
}

/* Deep in the tree cuts are even, so that it is never deeper than RG_TREE_DEEPEST. */
static rg_bounds build(rg_box_tree *t, size_t first, size_t count, int depth) {
    rg_tree_node *node = &t->nodes[t->node_count++];
    if (count <= LEAF) {
        node->bounds = t->bounds(t->owner, t->order[first]);
        for (size_t i = 1; i < count; i++)
            node->bounds = join(node->bounds, t->bounds(t->owner, t->order[first + i]));
        node->first = (uint32_t)first;
        node->count = (uint32_t)count;
        return node->bounds;
    }
    size_t left = cut(t, t->order + first, count, depth > RG_TREE_DEEPEST / 2);
    rg_bounds one = build(t, first, left, depth + 1);
    node->first = (uint32_t)t->node_count;
    node->count = 0;
    node->bounds = join(one, build(t, first + left, count - left, depth + 1));
    return node->bounds;
}

rg_status rg_tree_build(rg_box_tree *tree, size_t count, rg_tree_bounds *bounds, const void *owner,
                        const rg_allocator *memory) {
    *tree = (rg_box_tree){.bounds = bounds, .owner = owner};
    tree->nodes = rg_allocate(memory, 2 * count, sizeof *tree->nodes);
    tree->order = rg_allocate(memory, count, sizeof *tree->order);
    if (!tree->nodes || !tree->order) {
        rg_tree_free(tree, memory);
        return RG_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++)
        tree->order[i] = i;
    if (count > 0)
        build(tree, 0, count, 0);
    return RG_OK;
}

void rg_tree_free(rg_box_tree *tree, const rg_allocator *memory) {
    rg_release(memory, tree->nodes);
    rg_release(memory, tree->order);
    *tree = (rg_box_tree){0};
}

static bool is_near(const rg_bounds *a, const rg_bounds *b, double distance) {
    if (distance == 0)
        return rg_bounds_overlap(a, b);
    rg_vec3 out = rg_max(rg_sub(a->lower, b->upper), rg_sub(b->lower, a->upper));
    return rg_length_squared(rg_max(out, (rg_vec3){0, 0, 0})) <= distance * distance;
}

void rg_tree_visit(const rg_box_tree *tree, const rg_bounds *bounds, double distance,
                   rg_tree_visitor *visitor, void *user) {
    uint32_t waiting[RG_TREE_DEEPEST], at = 0;
    size_t count = 0;
    while (tree->node_count > 0) {
        const rg_tree_node *node = &tree->nodes[at];
        bool meets = is_near(&node->bounds, bounds, distance);
        if (meets && node->count == 0) {
            waiting[count++] = node->first;
            at++;
            continue;
        }
        for (uint32_t i = 0; meets && i < node->count; i++) {
            uint32_t item = tree->order[node->first + i];
            rg_bounds own = tree->bounds(tree->owner, item);
            if (is_near(&own, bounds, distance) && !visitor(user, item))
                return;
        }
        if (count == 0)
            return;
        at = waiting[--count];
    }
}
