/* Arena: memory for one step, taken in order and given back all at once.
 *
 * Grows by chunks; a reset after a step that needed several chunks joins them into one, so that the
 * next step of the same size makes no heap call. */
#ifndef RIGOR_BASE_ARENA_H
#define RIGOR_BASE_ARENA_H

#include "rigor/types.h"

typedef struct rg_arena_chunk rg_arena_chunk;

typedef struct rg_arena {
    rg_allocator allocator;
    rg_arena_chunk *newest;
    size_t used, peak; /* bytes since the last reset, and the most ever */
} rg_arena;

typedef struct rg_arena_mark {
    rg_arena_chunk *chunk;
    size_t offset, used;
} rg_arena_mark;

rg_arena rg_arena_make(const rg_allocator *allocator);
void rg_arena_free(rg_arena *arena);
/* 64-byte aligned, not cleared; null if there is no memory or count * size overflows. */
void *rg_arena_take(rg_arena *arena, size_t count, size_t size);
/* Makes room for one more element behind `count`: *array and *capacity change if there is none.
 * False without memory. */
bool rg_arena_grow(rg_arena *arena, void *array, size_t count, size_t *capacity, size_t size);
/* Gives back everything taken since the mark. */
rg_arena_mark rg_arena_get_mark(const rg_arena *arena);
void rg_arena_return(rg_arena *arena, rg_arena_mark mark);
/* Gives back everything. */
void rg_arena_reset(rg_arena *arena);

#endif
