/* A pool of threads with a parallel-for whose results do not depend on the number of threads: the
 * range is cut into chunks by its length and grain alone, every chunk writes only its own data, and
 * sums are kept per chunk and added in chunk order by the caller. */
#ifndef RIGOR_BASE_THREAD_H
#define RIGOR_BASE_THREAD_H

#include "rigor/status.h"
#include "rigor/types.h"

typedef struct rg_pool rg_pool;

/* `threads` >= 1 in all, the caller's included; with 1 no thread is made. A null pool is allowed
 * everywhere and means 1. */
rg_status rg_pool_create(int threads, const rg_allocator *allocator, rg_pool **pool);
void rg_pool_destroy(rg_pool *pool);
int rg_pool_threads(const rg_pool *pool);

typedef void rg_range_function(void *user, size_t begin, size_t end, size_t chunk);

/* Number of chunks for `count` items: ceil(count / grain). */
size_t rg_chunk_count(size_t count, size_t grain);
/* The grain of loops each chunk of which goes through a list as a whole and takes what belongs to
 * its items, in the order of the list: the result does not depend on how the items are dealt out,
 * and fewer chunks are less work. With one thread
 * that is one chunk, with several two for each of them, of `least` items at least. */
size_t rg_grain_for_lists(const rg_pool *pool, size_t count, size_t least);
/* Calls function(user, begin, end, chunk) for every chunk, in any order, on any thread, and returns
 * when all are done. Makes no heap call. Not reentrant: not from inside a chunk. */
void rg_parallel_for(rg_pool *pool, size_t count, size_t grain, rg_range_function *function,
                     void *user);

#endif
