/* A pool of threads and a parallel-for.
 *
 * Problem: loops of some microseconds, many per step, with results that do not depend on the number
 * of threads.
 * Method: the chunks follow from the length and the grain alone; threads, the caller's among them,
 * claim the next chunk from an atomic counter until none is left. A job is open from when the
 * caller publishes it until no chunk is left to claim; a worker enters it under the mutex, so that
 * one that wakes late finds it closed and cannot touch the next job's counter by mistake. The
 * caller returns when no worker is inside any more. Workers look for the next job a short while
 * before they sleep: waking costs more than a small loop. Fails: a thread that the system does not
 * give is RG_THREAD_FAILED, with nothing left behind. */
#include "base/base_thread.h"

#include "base/base_memory.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* Looks before sleeping; a look is some nanoseconds, so this is a few microseconds. */
enum { LOOKS_BEFORE_SLEEP = 1000 };

struct rg_pool {
    rg_allocator allocator;
    pthread_t *workers;
    int worker_count; /* running; the caller is one more */
    pthread_mutex_t mutex;
    pthread_cond_t wake, left; /* a job was opened or the pool closes; the last worker has left */

    /* Under the mutex, but also looked at without it before sleeping. */
    atomic_uint jobs;  /* how many were opened so far */
    atomic_int inside; /* workers in the open job */
    atomic_bool closing;
    bool open;

    /* The job: written before it is opened, only read while it is open. */
    rg_range_function *function;
    void *user;
    size_t count, grain, chunks;

    /* Alone on its cache line: every thread writes it. */
    char padding_before[64];
    atomic_size_t next_chunk;
    char padding_after[64];
};

static void run_chunk(rg_range_function *function, void *user, size_t count, size_t grain,
                      size_t chunk) {
    size_t begin = chunk * grain;
    size_t end = count - begin > grain ? begin + grain : count;
    function(user, begin, end, chunk);
}

static void run_chunks(rg_pool *pool) {
    for (;;) {
        size_t chunk = atomic_fetch_add_explicit(&pool->next_chunk, 1, memory_order_relaxed);
        if (chunk >= pool->chunks)
            return;
        run_chunk(pool->function, pool->user, pool->count, pool->grain, chunk);
    }
}

/* Waits until there is a job after number `seen` and enters it if it is still open. Returns its
 * number; *entered says whether it was entered; closing is seen by the caller of this. */
static unsigned next_job(rg_pool *pool, unsigned seen, bool *entered) {
    for (int i = 0; i < LOOKS_BEFORE_SLEEP; i++)
        if (atomic_load_explicit(&pool->jobs, memory_order_relaxed) != seen ||
            atomic_load_explicit(&pool->closing, memory_order_relaxed))
            break;
    pthread_mutex_lock(&pool->mutex);
    while (pool->jobs == seen && !pool->closing)
        pthread_cond_wait(&pool->wake, &pool->mutex);
    *entered = pool->open;
    if (*entered)
        pool->inside++;
    seen = pool->jobs;
    pthread_mutex_unlock(&pool->mutex);
    return seen;
}

static void *work(void *argument) {
    rg_pool *pool = argument;
    unsigned seen = 0;
    for (;;) {
        bool entered;
        seen = next_job(pool, seen, &entered);
        if (pool->closing)
            return NULL;
        if (!entered)
            continue;
        run_chunks(pool);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->inside == 0)
            pthread_cond_signal(&pool->left);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void stop_workers(rg_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i], NULL);
    pool->worker_count = 0;
}

/* Workers take no signals but those of their own faults: the others belong to the program. */
static rg_status start_workers(rg_pool *pool, int wanted) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return RG_THREAD_FAILED;
    while (pool->worker_count < wanted &&
           pthread_create(&pool->workers[pool->worker_count], NULL, work, pool) == 0)
        pool->worker_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool->worker_count == wanted ? RG_OK : RG_THREAD_FAILED;
}

static rg_status make_locks(rg_pool *pool) {
    if (pthread_mutex_init(&pool->mutex, NULL) != 0)
        return RG_THREAD_FAILED;
    if (pthread_cond_init(&pool->wake, NULL) == 0) {
        if (pthread_cond_init(&pool->left, NULL) == 0)
            return RG_OK;
        pthread_cond_destroy(&pool->wake);
    }
    pthread_mutex_destroy(&pool->mutex);
    return RG_THREAD_FAILED;
}

static void release_pool(rg_pool *pool) {
    rg_allocator allocator = pool->allocator;
    rg_release(&allocator, pool->workers);
    rg_release(&allocator, pool);
}

rg_status rg_pool_create(int threads, const rg_allocator *allocator, rg_pool **pool) {
    *pool = NULL;
    if (threads < 1)
        return RG_INVALID_ARGUMENT;
    rg_allocator memory = rg_allocator_or_default(allocator);
    rg_pool *made = rg_allocate_zeroed(&memory, 1, sizeof *made);
    if (!made)
        return RG_OUT_OF_MEMORY;
    made->allocator = memory;
    made->workers = rg_allocate(&memory, (size_t)threads - 1, sizeof *made->workers);
    rg_status status = made->workers ? make_locks(made) : RG_OUT_OF_MEMORY;
    if (status != RG_OK) {
        release_pool(made);
        return status;
    }
    atomic_init(&made->jobs, 0);
    atomic_init(&made->inside, 0);
    atomic_init(&made->closing, false);
    atomic_init(&made->next_chunk, 0);
    status = start_workers(made, threads - 1);
    if (status != RG_OK)
        rg_pool_destroy(made);
    else
        *pool = made;
    return status;
}

void rg_pool_destroy(rg_pool *pool) {
    if (!pool)
        return;
    stop_workers(pool);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    release_pool(pool);
}

int rg_pool_threads(const rg_pool *pool) {
    return pool ? pool->worker_count + 1 : 1;
}

size_t rg_chunk_count(size_t count, size_t grain) {
    assert(grain > 0);
    return count / grain + (count % grain != 0);
}

static void open_job(rg_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    assert(!pool->open && pool->inside == 0); /* not from inside a chunk */
    atomic_store_explicit(&pool->next_chunk, 0, memory_order_relaxed);
    pool->open = true;
    pool->jobs++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

/* Keeps new workers out and waits for those inside; the mutex makes their results visible here. */
static void close_job(rg_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->open = false;
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < LOOKS_BEFORE_SLEEP; i++)
        if (atomic_load_explicit(&pool->inside, memory_order_relaxed) == 0)
            break;
    pthread_mutex_lock(&pool->mutex);
    while (pool->inside > 0)
        pthread_cond_wait(&pool->left, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void rg_parallel_for(rg_pool *pool, size_t count, size_t grain, rg_range_function *function,
                     void *user) {
    size_t chunks = rg_chunk_count(count, grain);
    if (!pool || pool->worker_count == 0 || chunks <= 1) {
        for (size_t chunk = 0; chunk < chunks; chunk++)
            run_chunk(function, user, count, grain, chunk);
        return;
    }
    pool->function = function;
    pool->user = user;
    pool->count = count;
    pool->grain = grain;
    pool->chunks = chunks;
    open_job(pool);
    run_chunks(pool);
    close_job(pool);
}
