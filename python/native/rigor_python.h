/* What the Python package needs besides the public headers, and is built of them: memory that
 * outlives its world while an array of numpy looks at it, and a step of many worlds in one call. */
#ifndef RIGOR_PYTHON_H
#define RIGOR_PYTHON_H

#include "rigor/world.h"

/* The C library's memory, except that a block that is held keeps its bytes where they are: resizing
 * copies it elsewhere, and it is freed when the last holder lets go. */
rg_allocator rg_python_allocator(void);
/* `pointer` is the beginning of a block of that allocator. */
void rg_python_hold(void *pointer);
void rg_python_let_go(void *pointer);
/* Gives back what a call of the library made with that allocator. */
void rg_python_release(void *pointer);
/* Blocks that are there now: for tests. */
size_t rg_python_block_count(void);

/* Steps of many worlds. A world is stepped by one thread and by itself: its bits depend neither on
 * the number of threads nor on the other worlds. */
typedef struct rg_python_batch {
    rg_world *const *worlds; /* each only once */
    size_t count;
    double step;         /* s */
    size_t steps;        /* of each world, one after the other; a world that fails stops */
    int threads;         /* >= 1 */
    rg_step_info *infos; /* count; null: not wanted; of several steps, the last */
    uint32_t *statuses;  /* count: rg_status */
} rg_python_batch;
/* RG_OK if all went well; otherwise `error` is that of the first world of the list that failed. */
rg_status rg_python_step_worlds(const rg_python_batch *batch, rg_error *error);

#endif
