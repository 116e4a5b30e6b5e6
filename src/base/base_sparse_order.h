/* A fill-reducing elimination order of a graph with weighted vertices. */
#ifndef RIGOR_BASE_SPARSE_ORDER_H
#define RIGOR_BASE_SPARSE_ORDER_H

#include "base/base_arena.h"
#include "rigor/status.h"

/* Compressed neighbour lists without diagonal or repeats, both directions present; weights: 1 to
 * 255 scalar rows per vertex. order[k] = vertex eliminated k-th. Work memory is taken from the
 * arena and given back. */
rg_status rg_sparse_order(rg_arena *arena, size_t count, const size_t *starts,
                          const uint32_t *neighbours, const uint8_t *weights, uint32_t *order);

#endif
