/* Arena: chunks in a list from the oldest to the newest.
 *
 * `arena->newest` is the chunk that is being filled; those before it are full, those behind it are
 * spare (given back by a mark) and are filled again before new memory is asked for. A reset that
 * finds more than one chunk replaces them by one that holds the largest need so far and a quarter
 * more, so that a need that creeps up does not come back to the heap every time.
 * Fails: no memory gives null and leaves everything as it was; a reset that gets no memory for the
 * joined chunk keeps the ones that it has. */
#include "base/base_arena.h"

#include "base/base_memory.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum { ALIGNMENT = 64, SMALLEST_CHUNK = 16 * 1024 }; /* bytes */

struct rg_arena_chunk {
    rg_arena_chunk *previous, *next; /* older, newer */
    size_t capacity, offset;         /* bytes from `data` */
    char *data;                      /* aligned, behind this header in the same block */
};

rg_arena rg_arena_make(const rg_allocator *allocator) {
    return (rg_arena){.allocator = rg_allocator_or_default(allocator)};
}

static rg_arena_chunk *oldest_chunk(rg_arena_chunk *chunk) {
    while (chunk && chunk->previous)
        chunk = chunk->previous;
    return chunk;
}

static void release_chunks(rg_arena *arena) {
    rg_arena_chunk *chunk = oldest_chunk(arena->newest);
    while (chunk) {
        rg_arena_chunk *next = chunk->next;
        rg_release(&arena->allocator, chunk);
        chunk = next;
    }
    arena->newest = NULL;
}

void rg_arena_free(rg_arena *arena) {
    release_chunks(arena);
    arena->used = arena->peak = 0;
}

static rg_arena_chunk *make_chunk(const rg_allocator *allocator, size_t capacity) {
    if (capacity > SIZE_MAX - sizeof(rg_arena_chunk) - ALIGNMENT)
        return NULL;
    rg_arena_chunk *chunk =
        rg_allocate(allocator, sizeof(rg_arena_chunk) + ALIGNMENT + capacity, 1);
    if (!chunk)
        return NULL;
    char *behind = (char *)(chunk + 1);
    size_t past = (size_t)((uintptr_t)behind % ALIGNMENT);
    *chunk = (rg_arena_chunk){.capacity = capacity, .data = behind + (past ? ALIGNMENT - past : 0)};
    return chunk;
}

/* Makes a chunk with room for `size` bytes the one to fill; false if there is no memory. */
static bool advance(rg_arena *arena, size_t size) {
    rg_arena_chunk *now = arena->newest, *spare = now ? now->next : NULL;
    if (spare && spare->capacity >= size) {
        spare->offset = 0;
        arena->newest = spare;
        return true;
    }
    /* As large as all so far together would be: the number of chunks grows with the logarithm. */
    size_t capacity = arena->peak > SMALLEST_CHUNK ? arena->peak : SMALLEST_CHUNK;
    rg_arena_chunk *made = make_chunk(&arena->allocator, capacity > size ? capacity : size);
    if (!made)
        return false;
    made->previous = now;
    made->next = spare; /* a spare that is too small waits behind */
    if (spare)
        spare->previous = made;
    if (now)
        now->next = made;
    arena->newest = made;
    return true;
}

void *rg_arena_take(rg_arena *arena, size_t count, size_t size) {
    /* Factors below the square root of the range: no overflow, and no division to find out. */
    const size_t root = (size_t)1 << (sizeof(size_t) * CHAR_BIT / 2);
    if ((count | size) >= root && size && count > (SIZE_MAX - ALIGNMENT) / size)
        return NULL;
    size_t bytes = count * size;
    bytes = bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
    rg_arena_chunk *chunk = arena->newest;
    if (!chunk || chunk->capacity - chunk->offset < bytes) {
        if (!advance(arena, bytes))
            return NULL;
        chunk = arena->newest;
    }
    void *memory = chunk->data + chunk->offset;
    chunk->offset += bytes;
    arena->used += bytes;
    if (arena->used > arena->peak)
        arena->peak = arena->used;
    return memory;
}

bool rg_arena_grow(rg_arena *arena, void *array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity)
        return true;
    size_t more = *capacity ? 2 * *capacity : 64;
    void *old, *made = rg_arena_take(arena, more, size);
    if (!made)
        return false;
    memcpy(&old, array, sizeof old);
    if (count)
        memcpy(made, old, count * size);
    memcpy(array, &made, sizeof made);
    *capacity = more;
    return true;
}

rg_arena_mark rg_arena_get_mark(const rg_arena *arena) {
    return (rg_arena_mark){arena->newest, arena->newest ? arena->newest->offset : 0, arena->used};
}

void rg_arena_return(rg_arena *arena, rg_arena_mark mark) {
    assert(mark.used <= arena->used);
    arena->newest = mark.chunk ? mark.chunk : oldest_chunk(arena->newest);
    if (arena->newest)
        arena->newest->offset = mark.chunk ? mark.offset : 0;
    arena->used = mark.used;
}

void rg_arena_reset(rg_arena *arena) {
    rg_arena_chunk *oldest = oldest_chunk(arena->newest);
    arena->used = 0;
    arena->newest = oldest;
    if (!oldest)
        return;
    oldest->offset = 0;
    if (!oldest->next)
        return;
    rg_arena_chunk *joined = NULL;
    if (arena->peak <= SIZE_MAX / 2)
        joined = make_chunk(&arena->allocator, arena->peak + arena->peak / 4);
    if (!joined)
        return;
    release_chunks(arena);
    arena->newest = joined;
}
