/* Signals of a WebAssembly module: none. Only what base_thread.c names. */
#ifndef RIGOR_WASM_SIGNAL_H
#define RIGOR_WASM_SIGNAL_H

typedef unsigned long sigset_t;
enum { SIGILL = 4, SIGABRT = 6, SIGBUS = 7, SIGFPE = 8, SIGSEGV = 11, SIG_SETMASK = 2 };

static inline int sigfillset(sigset_t *set) {
    *set = ~0UL;
    return 0;
}
static inline int sigdelset(sigset_t *set, int signal) {
    *set &= ~(1UL << signal);
    return 0;
}

#endif
