/* The POSIX threads that a WebAssembly module without threads has: none. Locks guard against
 * nobody, and no thread can be made. */
#ifndef RIGOR_WASM_PTHREAD_H
#define RIGOR_WASM_PTHREAD_H

#include <signal.h>
#include <time.h>

typedef int pthread_t, pthread_attr_t, pthread_mutexattr_t, pthread_condattr_t;
typedef int pthread_mutex_t, pthread_cond_t;

#define PTHREAD_MUTEX_INITIALIZER 0
enum { RIGOR_NO_THREADS = 6, RIGOR_TIMED_OUT = 73 }; /* wasi's EAGAIN and ETIMEDOUT */

static inline int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a) {
    (void)a;
    return *m = 0;
}
static inline int pthread_mutex_destroy(pthread_mutex_t *m) {
    return *m = 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t *m) {
    return *m = 0;
}
static inline int pthread_mutex_unlock(pthread_mutex_t *m) {
    return *m = 0;
}
static inline int pthread_condattr_init(pthread_condattr_t *a) {
    return *a = 0;
}
static inline int pthread_condattr_setclock(pthread_condattr_t *a, clockid_t clock) {
    (void)clock;
    return *a = 0;
}
static inline int pthread_condattr_destroy(pthread_condattr_t *a) {
    return *a = 0;
}
static inline int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a) {
    (void)a;
    return *c = 0;
}
static inline int pthread_cond_destroy(pthread_cond_t *c) {
    return *c = 0;
}
static inline int pthread_cond_signal(pthread_cond_t *c) {
    return *c = 0;
}
static inline int pthread_cond_broadcast(pthread_cond_t *c) {
    return *c = 0;
}
/* Nobody would ever wake the caller. */
static inline int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    (void)c, (void)m;
    __builtin_trap();
}
static inline int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                         const struct timespec *deadline) {
    (void)c, (void)m, (void)deadline;
    return RIGOR_TIMED_OUT;
}
static inline int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *),
                                 void *user) {
    (void)t, (void)a, (void)run, (void)user;
    return RIGOR_NO_THREADS;
}
static inline int pthread_join(pthread_t t, void **result) {
    (void)t, (void)result;
    return 0;
}
static inline int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
    (void)how, (void)set, (void)before;
    return 0;
}

#endif
