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
    double *matrix = malloc(n * n * sizeof *matrix);
    int size = (int)n, info;
    if (!matrix)
        abort();
    memcpy(matrix, a, n * n * sizeof *matrix);
    for (size_t i = 0; i < n; i++)
        matrix[i * n + i] += shift;
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    double start = lcp_clock();
    dpotrf_("L", &size, matrix, &size, &info);
    *seconds = lcp_clock() - start;
    free(matrix);
    return info == 0;
}
