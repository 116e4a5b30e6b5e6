/* Handles with generation: a free list through the slots, and a dense list of the slots in use. One
 * counter gives every handle its generation, so that it takes 2^32 handles before an old one could
 * be taken for a new one, also if a snapshot takes slots back to earlier tenants. Every call is
 * O(1). Fails: no memory, or 2^32 - 2 slots (RG_LIMIT_EXCEEDED); both change nothing. */
#include "base/base_handle.h"

#include "base/base_memory.h"

#include <assert.h>
#include <string.h>

void rg_handle_pool_free(rg_handle_pool *pool, const rg_allocator *allocator) {
    rg_release(allocator, pool->slots);
    rg_release(allocator, pool->dense_slot);
    *pool = (rg_handle_pool){0};
}

rg_status rg_handle_add(rg_handle_pool *pool, const rg_allocator *allocator, rg_handle *handle) {
    bool new_slot = pool->first_free1 == 0;
    if (new_slot && pool->slot_count >= UINT32_MAX - 1) /* slot + 1 must fit in 32 bits */
        return RG_LIMIT_EXCEEDED;
    /* All room first, so that a failure changes nothing. */
    rg_status status =
        rg_array_grow(allocator, &pool->dense_slot, &pool->dense_capacity, pool->count + 1);
    if (status == RG_OK && new_slot)
        status = rg_array_grow(allocator, &pool->slots, &pool->slot_capacity, pool->slot_count + 1);
    if (status != RG_OK)
        return status;
    uint32_t slot;
    if (new_slot) {
        slot = (uint32_t)pool->slot_count++;
    } else {
        slot = pool->first_free1 - 1;
        pool->first_free1 = pool->slots[slot].dense;
    }
    pool->last_generation = pool->last_generation < UINT32_MAX ? pool->last_generation + 1 : 1;
    pool->slots[slot].generation = pool->last_generation;
    pool->slots[slot].dense = (uint32_t)pool->count;
    pool->dense_slot[pool->count++] = slot;
    *handle = (rg_handle){slot + 1, pool->slots[slot].generation};
    return RG_OK;
}

rg_handle rg_handle_at(const rg_handle_pool *pool, size_t dense_index) {
    assert(dense_index < pool->count);
    uint32_t slot = pool->dense_slot[dense_index];
    return (rg_handle){slot + 1, pool->slots[slot].generation};
}

void rg_handle_remove(rg_handle_pool *pool, rg_handle handle, size_t *hole, size_t *moved_from) {
    assert(rg_handle_exists(pool, handle));
    uint32_t slot = handle.index1 - 1;
    size_t index = pool->slots[slot].dense, last = pool->count - 1;
    uint32_t last_slot = pool->dense_slot[last];
    pool->dense_slot[index] = last_slot;
    pool->slots[last_slot].dense = (uint32_t)index;
    pool->count = last;
    /* After the move, because the slot removed may be the last one. */
    pool->slots[slot].generation = 0;
    pool->slots[slot].dense = pool->first_free1;
    pool->first_free1 = handle.index1;
    *hole = index;
    *moved_from = last;
}

void rg_handle_pool_succeed(rg_handle_pool *pool, const rg_handle_pool *past) {
    if (past->last_generation > pool->last_generation)
        pool->last_generation = past->last_generation;
}

rg_status rg_handle_pool_copy(rg_handle_pool *to, const rg_handle_pool *from,
                              const rg_allocator *allocator) {
    rg_status status = rg_array_grow(allocator, &to->slots, &to->slot_capacity, from->slot_count);
    if (status == RG_OK)
        status = rg_array_grow(allocator, &to->dense_slot, &to->dense_capacity, from->count);
    if (status != RG_OK || to == from)
        return status;
    if (from->slot_count)
        memcpy(to->slots, from->slots, from->slot_count * sizeof *to->slots);
    if (from->count)
        memcpy(to->dense_slot, from->dense_slot, from->count * sizeof *to->dense_slot);
    to->slot_count = from->slot_count;
    to->count = from->count;
    to->first_free1 = from->first_free1;
    to->last_generation = from->last_generation;
    return RG_OK;
}
