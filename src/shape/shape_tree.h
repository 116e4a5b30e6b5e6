/* A binary tree of boxes around numbered things: the triangles of terrain, of a mesh. */
#ifndef RIGOR_SHAPE_TREE_H
#define RIGOR_SHAPE_TREE_H

#include "rigor/status.h"
#include "rigor/types.h"

/* Nodes that wait in a search: the tree is at most this deep. */
enum { RG_TREE_DEEPEST = 128 };

typedef rg_bounds rg_tree_bounds(const void *owner, uint32_t item);
typedef bool rg_tree_visitor(void *user, uint32_t item);

typedef struct rg_tree_node {
    rg_bounds bounds;
    uint32_t first; /* leaf: place in `order`; otherwise the second child; the first comes next */
    uint32_t count; /* items of a leaf; 0: no leaf */
} rg_tree_node;

typedef struct rg_box_tree {
    rg_tree_node *nodes; /* the root first; none without items */
    size_t node_count;
    uint32_t *order; /* items in the order of the leaves */
    rg_tree_bounds *bounds;
    const void *owner;
} rg_box_tree;

rg_status rg_tree_build(rg_box_tree *tree, size_t count, rg_tree_bounds *bounds, const void *owner,
                        const rg_allocator *memory);
void rg_tree_free(rg_box_tree *tree, const rg_allocator *memory);
/* Calls `visitor` for every item whose box is no farther than `distance` from `bounds`, in the
 * order of the tree; false ends the search. */
void rg_tree_visit(const rg_box_tree *tree, const rg_bounds *bounds, double distance,
                   rg_tree_visitor *visitor, void *user);

#endif
