/* See rigor_python.h. Tested by tests/scripts/test_python.py. */
#include "rigor_python.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* In front of every block. `holders` counts the arrays that look at it, and the library as one. */
typedef struct block {
    size_t size; /* with the next 16 bytes: the alignment of malloc stays */
    atomic_size_t holders;
} block;

static atomic_size_t block_count;

static block *block_of(void *pointer) {
    return (block *)((char *)pointer - sizeof(block));
}

static void *make_block(size_t size) {
    if (size > SIZE_MAX - sizeof(block))
        return NULL;
    block *b = malloc(sizeof *b + size);
    if (!b)
        return NULL;
    b->size = size;
    atomic_init(&b->holders, 1);
    atomic_fetch_add(&block_count, 1);
    return (char *)b + sizeof *b;
}

void rg_python_let_go(void *pointer) {
    block *b = block_of(pointer);
    if (atomic_fetch_sub(&b->holders, 1) == 1) {
        atomic_fetch_sub(&block_count, 1);
        free(b);
    }
}

void rg_python_hold(void *pointer) {
    atomic_fetch_add(&block_of(pointer)->holders, 1);
}

void rg_python_release(void *pointer) {
    if (pointer)
        rg_python_let_go(pointer);
}

static void release(void *user, void *pointer) {
    (void)user;
    rg_python_release(pointer);
}

static void *resize(void *user, void *pointer, size_t size) {
    (void)user;
    if (!pointer)
        return make_block(size);
    block *b = block_of(pointer);
    if (atomic_load(&b->holders) > 1) {
        void *fresh = make_block(size);
        if (fresh) {
            memcpy(fresh, pointer, size < b->size ? size : b->size);
            rg_python_let_go(pointer);
        }
        return fresh;
    }
    if (size > SIZE_MAX - sizeof(block))
        return NULL;
    b = realloc(b, sizeof *b + size);
    if (!b)
        return NULL;
    b->size = size;
    return (char *)b + sizeof *b;
}

rg_allocator rg_python_allocator(void) {
    return (rg_allocator){.resize = resize, .release = release};
}

size_t rg_python_block_count(void) {
    return atomic_load(&block_count);
}
