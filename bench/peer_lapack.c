/* One Cholesky factorisation by LAPACK: the yardstick of bench_solve. */
#include "lcp_peers.h"

#include <stdlib.h>
#include <string.h>

extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
/* OpenBLAS only; other libraries have one thread anyway. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

bool lcp_cholesky(size_t n, const double *a, const double *b, double shift, double *f,
                  double *seconds) {
    (void)b, (void)f;
    size_t repeats = lcp_repeats(n);
    double *matrices = malloc(repeats * n * n * sizeof *matrices);
    int size = (int)n, info = 0;
    if (!matrices)
        abort();
    for (size_t k = 0; k < repeats; k++) {
        double *matrix = matrices + k * n * n;
        memcpy(matrix, a, n * n * sizeof *matrix);
        for (size_t i = 0; i < n; i++)
            matrix[i * n + i] += shift;
    }
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    double start = lcp_clock();
    for (size_t k = 0; k < repeats; k++)
        dpotrf_("L", &size, matrices + k * n * n, &size, &info);
    *seconds = (lcp_clock() - start) / (double)repeats;
    free(matrices);
    return info == 0;
}
