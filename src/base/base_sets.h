/* Disjoint sets: union-find with path halving (Tarjan and van Leeuwen 1984). The root of a set is
 * its smallest member, whatever the order in which sets were joined, so that numbers that are given
 * in the order of roots do not depend on history. Without ranks: n joins and searches take O(n log
 * n) at most and are nearly linear in practice.
 *
 * Inline, because the islands of every step are found by it. */
#ifndef RIGOR_BASE_SETS_H
#define RIGOR_BASE_SETS_H

#include <stddef.h>
#include <stdint.h>

/* Every member a set of its own. */
static inline void rg_sets_start(uint32_t *parent, size_t count) {
    for (size_t i = 0; i < count; i++)
        parent[i] = (uint32_t)i;
}

/* The smallest member of the set of i. */
static inline uint32_t rg_sets_root(uint32_t *parent, uint32_t i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static inline void rg_sets_join(uint32_t *parent, uint32_t a, uint32_t b) {
    a = rg_sets_root(parent, a), b = rg_sets_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Numbers the sets in the order of their smallest members; `number` of each member. Returns how
 * many there are. */
static inline size_t rg_sets_number(uint32_t *parent, size_t count, uint32_t *number) {
    size_t sets = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t root = rg_sets_root(parent, (uint32_t)i);
        number[i] = root == i ? (uint32_t)sets++ : number[root];
    }
    return sets;
}

#endif
