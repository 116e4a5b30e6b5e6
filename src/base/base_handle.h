/* Handles with generation: slots that map a handle to a dense index.
 *
 * The things themselves lie densely in their owner's arrays, in the order 0 .. count-1; removing
 * one moves the last to its place. A slot remembers where its thing is and how often it has been
 * reused, so that an old handle is recognised. Free slots are reused last in, first out, which
 * makes handle values a function of the calls alone. */
#ifndef RIGOR_BASE_HANDLE_H
#define RIGOR_BASE_HANDLE_H

#include "rigor/status.h"
#include "rigor/types.h"

#include <assert.h>

typedef struct rg_handle {
    uint32_t index1; /* slot + 1; 0 is null */
    uint32_t generation;
} rg_handle;

typedef struct rg_handle_slot {
    uint32_t generation; /* 0: free */
    uint32_t dense;      /* index of the thing, or the next free slot + 1 */
} rg_handle_slot;

typedef struct rg_handle_pool {
    rg_handle_slot *slots;
    size_t slot_count, slot_capacity;
    uint32_t *dense_slot; /* slot of each thing */
    size_t count, dense_capacity;
    uint32_t first_free1;     /* slot + 1 */
    uint32_t last_generation; /* every handle gets the next one, whatever its slot */
} rg_handle_pool;

void rg_handle_pool_free(rg_handle_pool *pool, const rg_allocator *allocator);
/* A handle for the thing that the owner is about to put at dense index `pool->count`. */
rg_status rg_handle_add(rg_handle_pool *pool, const rg_allocator *allocator, rg_handle *handle);
static inline bool rg_handle_exists(const rg_handle_pool *pool, rg_handle handle) {
    return handle.index1 != 0 && handle.index1 <= pool->slot_count && handle.generation != 0 &&
           pool->slots[handle.index1 - 1].generation == handle.generation;
}
static inline size_t rg_handle_index(const rg_handle_pool *pool, rg_handle handle) {
    assert(rg_handle_exists(pool, handle));
    return pool->slots[handle.index1 - 1].dense;
}
rg_handle rg_handle_at(const rg_handle_pool *pool, size_t dense_index);
/* Frees the handle. The owner moves its last thing (*moved_from) into *hole, unless they are equal.
 */
void rg_handle_remove(rg_handle_pool *pool, rg_handle handle, size_t *hole, size_t *moved_from);
/* The pool is about to take the place of `past` (a snapshot is restored): handles that were made in
 * either must not be made again. */
void rg_handle_pool_succeed(rg_handle_pool *pool, const rg_handle_pool *past);
rg_status rg_handle_pool_copy(rg_handle_pool *to, const rg_handle_pool *from,
                              const rg_allocator *allocator);

#endif
