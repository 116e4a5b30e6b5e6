/* What the Python package needs besides the public headers, and is built of them: memory that
 * outlives its world while an array of numpy looks at it. */
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

#endif
