/* Other solvers of a = A f + b, f >= 0, a >= 0, f a = 0 behind one small interface, for
 * bench_solve. A shim exists where its library is installed; the table of those present is in
 * bench_solve.c. */
#ifndef RIGOR_BENCH_LCP_PEERS_H
#define RIGOR_BENCH_LCP_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A (n x n, row-major, symmetric) with `shift` added to its diagonal. Returns false if the solver
 * itself says that it failed. *seconds: of the solver proper, the mean of lcp_repeats(n) runs
 * (Ipopt: one); copies of the input, which the runs destroy, and memory are not counted. */
typedef bool lcp_solve(size_t n, const double *a, const double *b, double shift, double *f,
                       double *seconds);

bool lcp_bullet(size_t n, const double *a, const double *b, double shift, double *f,
                double *seconds);
bool lcp_ode(size_t n, const double *a, const double *b, double shift, double *f, double *seconds);
/* As a quadratic program: min f'A f / 2 + b'f, f >= 0. */
bool lcp_ipopt(size_t n, const double *a, const double *b, double shift, double *f,
               double *seconds);
/* One Cholesky factorisation (dpotrf) of A + shift I, one thread; f is not touched. */
bool lcp_cholesky(size_t n, const double *a, const double *b, double shift, double *f,
                  double *seconds);

/* Runs timed together: reading the clock takes about as long as the smallest problems do. */
static inline size_t lcp_repeats(size_t n) {
    return n <= 20 ? 32 : n <= 50 ? 8 : n <= 100 ? 2 : 1;
}

/* Processor time of this thread, s. */
static inline double lcp_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#ifdef __cplusplus
}
#endif
#endif
