/* See rigor_python.h. Tested by tests/scripts/test_python.py. */
#include "rigor_python.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* --- memory ----------------------------------------------------------------------------------- */

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

/* --- many worlds ------------------------------------------------------------------------------ */

typedef struct crew {
    const rg_python_batch *batch;
    atomic_size_t next; /* world that nobody has taken yet */
    pthread_mutex_t lock;
    size_t failed; /* the first of the list that failed, so far; count: none */
    rg_error *error;
} crew;

static void note_failure(crew *c, size_t index, const rg_error *error) {
    pthread_mutex_lock(&c->lock);
    if (index < c->failed) {
        c->failed = index;
        if (c->error)
            *c->error = *error;
    }
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *user) {
    crew *c = user;
    const rg_python_batch *batch = c->batch;
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < batch->count;) {
        rg_error error = {0};
        rg_step_info info = rg_step_info_nothing();
        rg_status status = RG_OK;
        for (size_t k = 0; k < batch->steps && !status; k++)
            status = rg_world_step(batch->worlds[i], batch->step, &info, &error);
        batch->statuses[i] = status;
        if (batch->infos)
            batch->infos[i] = info;
        if (status)
            note_failure(c, i, &error);
    }
    return NULL;
}

enum { THREADS_MOST = 256 };

rg_status rg_python_step_worlds(const rg_python_batch *batch, rg_error *error) {
    crew c = {.batch = batch, .failed = batch->count, .error = error};
    pthread_mutex_init(&c.lock, NULL);
    pthread_t threads[THREADS_MOST];
    size_t wanted = batch->threads > THREADS_MOST ? THREADS_MOST : (size_t)batch->threads, made = 0;
    if (wanted > batch->count)
        wanted = batch->count;
    /* This thread is one of them; if the system gives none, it does the work alone. */
    while (made + 1 < wanted && !pthread_create(&threads[made], NULL, work, &c))
        made++;
    work(&c);
    for (size_t i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&c.lock);
    return c.failed < batch->count ? (rg_status)batch->statuses[c.failed] : RG_OK;
}
