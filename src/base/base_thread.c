/* A pool of threads and a parallel-for.
 *
 * Problem: loops of some microseconds, many per step, with results that do not depend on the number
 * of threads.
 * Method: the chunks follow from the length and the grain alone. Each thread, the caller's among
 * them, has a run of them, the same in all loops over the same things: what it wrote in one loop is
 * in its cache in the next. It claims them one by one from an atomic counter, and then those of the
 * others until none is left. A job is open from when the
 * caller publishes it until no chunk is left to claim. Its number, whether it is open and how many
 * workers are inside are one atomic word: a worker enters by raising the count of an open job, so
 * that one that comes late finds it closed and cannot touch the next job's counter by mistake. The
 * caller returns when no worker is inside any more.
 *
 * Waking a thread that sleeps costs more than a small loop. So both sides, the caller that waits
 * for the last chunk of others and a worker that waits for the next job, look at the word for a
 * while before they sleep on a condition: for as long as that has paid of late. What comes while
 * one looks doubles the time, each sleep halves it, between two bounds: where jobs follow each
 * other closely no one sleeps, and where they do not, or other processes need the processors,
 * little time is spent on looking.
 * Fails: a thread that the system does not give is RG_THREAD_FAILED, with nothing left behind. */
#include "base/base_thread.h"

#include "base/base_memory.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* Looks before sleeping; one takes some 40 ns with the pause in it. Their bounds: 8 microseconds,
 * about what it takes to sleep and be woken, and 250, longer than the serial parts between most
 * loops of a step, and than a chunk. With 40 microseconds for the caller, always, two
 * threads slept 3.4 times in
 * a step of 1000 bodies that fall instead of 1.7, for the same processor time. */
enum { LOOKS_LEAST = 200, LOOKS_MOST = 6400 };

/* The word of the job. */
#define JOB_OPEN   UINT64_C(1)
#define JOB_INSIDE UINT64_C(2) /* one worker */
#define JOB_NUMBER (UINT64_C(1) << 32)

/* The chunks of one thread; on a cache line of its own. */
typedef struct claims {
    atomic_size_t next;
    size_t end;
    char padding[64 - sizeof(atomic_size_t) - sizeof(size_t)];
} claims;

struct rg_pool {
    rg_allocator allocator;
    pthread_t *workers;
    claims *claims;     /* of each thread, the caller's first */
    atomic_int started; /* workers that have taken their number */
    int thread_count;   /* asked for, the caller's included */
    int worker_count;   /* running */
    int looks;          /* of the caller, before it sleeps */
    pthread_mutex_t mutex;
    pthread_cond_t wake, left; /* a job was opened or the pool closes; the last worker has left */

    /* Raised before the word is looked at for the last time before sleeping, and looked at after
     * the word was written: one of the two sides sees the other. */
    atomic_int asleep; /* workers */
    atomic_bool waits; /* the caller */
    atomic_bool closing;

    /* The job: written before it is opened, only read while it is open. */
    rg_range_function *function;
    void *user;
    size_t count, grain;

    /* Alone on its cache line: every thread writes it. */
    char padding_before[64];
    _Atomic uint64_t word;
    char padding_after[64];
};

/* Tells the processor that this thread only waits. */
static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static bool is_empty(uint64_t word) {
    return word % JOB_NUMBER < JOB_INSIDE;
}

static void run_chunk(rg_range_function *function, void *user, size_t count, size_t grain,
                      size_t chunk) {
    size_t begin = chunk * grain;
    size_t end = count - begin > grain ? begin + grain : count;
    function(user, begin, end, chunk);
}

/* Those of thread number `own` first. */
static void run_chunks(rg_pool *pool, size_t own) {
    size_t threads = (size_t)pool->thread_count;
    for (size_t k = 0; k < threads; k++) {
        claims *whose = &pool->claims[(own + k) % threads];
        for (;;) {
            size_t chunk = atomic_fetch_add_explicit(&whose->next, 1, memory_order_relaxed);
            if (chunk >= whose->end)
                break;
            run_chunk(pool->function, pool->user, pool->count, pool->grain, chunk);
        }
    }
}

static uint64_t number_of(uint64_t word) {
    return word / JOB_NUMBER;
}

/* Is there something to do for a worker that has seen job number `seen`? */
static bool has_news(rg_pool *pool, uint64_t seen) {
    return number_of(atomic_load(&pool->word)) != seen || atomic_load(&pool->closing);
}

static int more_looks(int looks) {
    return 2 * looks < LOOKS_MOST ? 2 * looks : LOOKS_MOST;
}

static int fewer_looks(int looks) {
    return looks / 2 > LOOKS_LEAST ? looks / 2 : LOOKS_LEAST;
}

/* Waits until there is a job after number `seen`, or the pool closes. */
static void await_job(rg_pool *pool, uint64_t seen, int *looks) {
    for (int i = 0; i < *looks; i++) {
        if (has_news(pool, seen)) {
            *looks = more_looks(*looks);
            return;
        }
        pause_briefly();
    }
    *looks = fewer_looks(*looks);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->asleep, 1);
    while (!has_news(pool, seen))
        pthread_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->mutex);
}

/* Enters the job if it is still open. */
static bool enter_job(rg_pool *pool, uint64_t *seen) {
    uint64_t word = atomic_load(&pool->word);
    do {
        *seen = number_of(word);
        if (!(word & JOB_OPEN))
            return false;
    } while (!atomic_compare_exchange_weak(&pool->word, &word, word + JOB_INSIDE));
    return true;
}

static void leave_job(rg_pool *pool) {
    uint64_t word = atomic_fetch_sub(&pool->word, JOB_INSIDE) - JOB_INSIDE;
    if (!is_empty(word) || !atomic_load(&pool->waits))
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->mutex);
}

static void *work(void *argument) {
    rg_pool *pool = argument;
    uint64_t seen = 0;
    int looks = LOOKS_LEAST;
    size_t own = (size_t)atomic_fetch_add(&pool->started, 1) + 1;
    for (;;) {
        await_job(pool, seen, &looks);
        if (atomic_load(&pool->closing))
            return NULL;
        if (!enter_job(pool, &seen))
            continue;
        run_chunks(pool, own);
        leave_job(pool);
    }
}

static void stop_workers(rg_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->closing, true);
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
    rg_release_all(&pool->allocator, pool->claims, pool->workers);
    rg_object_release(pool);
}

rg_status rg_pool_create(int threads, const rg_allocator *allocator, rg_pool **pool) {
    *pool = NULL;
    if (threads < 1)
        return RG_INVALID_ARGUMENT;
    rg_pool *made = rg_object_make(rg_pool, allocator);
    if (!made)
        return RG_OUT_OF_MEMORY;
    const rg_allocator *memory = &made->allocator;
    made->thread_count = threads;
    made->looks = LOOKS_LEAST;
    made->workers = rg_allocate(memory, (size_t)threads - 1, sizeof *made->workers);
    made->claims = rg_allocate_zeroed(memory, (size_t)threads, sizeof *made->claims);
    rg_status status = made->workers && made->claims ? make_locks(made) : RG_OUT_OF_MEMORY;
    if (status != RG_OK) {
        release_pool(made);
        return status;
    }
    atomic_init(&made->word, 0);
    atomic_init(&made->asleep, 0);
    atomic_init(&made->waits, false);
    atomic_init(&made->closing, false);
    atomic_init(&made->started, 0);
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

size_t rg_grain_for_lists(const rg_pool *pool, size_t count, size_t least) {
    assert(least > 0);
    size_t threads = (size_t)rg_pool_threads(pool);
    size_t grain = threads > 1 ? rg_chunk_count(count, 2 * threads) : count;
    return grain > least ? grain : least;
}

/* Deals the chunks out, in runs. */
static void deal_chunks(rg_pool *pool, size_t chunks) {
    size_t threads = (size_t)pool->thread_count, each = chunks / threads, more = chunks % threads;
    size_t begin = 0;
    for (size_t t = 0; t < threads; t++) {
        atomic_store_explicit(&pool->claims[t].next, begin, memory_order_relaxed);
        begin += each + (t < more);
        pool->claims[t].end = begin;
    }
}

static void open_job(rg_pool *pool) {
    uint64_t word = atomic_load(&pool->word);
    assert(!(word & JOB_OPEN) && is_empty(word)); /* not from inside a chunk */
    uint64_t number = (number_of(word) + 1) % JOB_NUMBER;
    atomic_store(&pool->word, number * JOB_NUMBER + JOB_OPEN);
    if (atomic_load(&pool->asleep) == 0)
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

/* Keeps new workers out and waits for those inside, whose results are visible here then. */
static void close_job(rg_pool *pool) {
    uint64_t word = atomic_fetch_sub(&pool->word, JOB_OPEN) - JOB_OPEN;
    if (is_empty(word))
        return;
    for (int i = 0; i < pool->looks; i++) {
        pause_briefly();
        word = atomic_load(&pool->word);
        if (is_empty(word)) {
            pool->looks = more_looks(pool->looks);
            return;
        }
    }
    pool->looks = fewer_looks(pool->looks);
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->waits, true);
    while (!is_empty(atomic_load(&pool->word)))
        pthread_cond_wait(&pool->left, &pool->mutex);
    atomic_store(&pool->waits, false);
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
    deal_chunks(pool, chunks);
    open_job(pool);
    run_chunks(pool, 0);
    close_job(pool);
}
