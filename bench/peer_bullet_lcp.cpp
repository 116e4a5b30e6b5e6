// Bullet's Dantzig solver (in doubles), for bench_solve.
#include "lcp_peers.h"

#include <BulletDynamics/MLCPSolvers/btDantzigLCP.h>

#include <vector>

extern "C" bool lcp_bullet(size_t n, const double *a, const double *b, double shift, double *f,
                           double *seconds) {
    // Kept from call to call, as Bullet's own solver keeps it.
    static btDantzigScratchMemory scratch;
    size_t repeats = lcp_repeats(n);
    std::vector<double> matrix(a, a + n * n), right(n), w(n * repeats), low(n, 0),
        high(n, BT_INFINITY), x(n * repeats);
    std::vector<int> index(n, -1);
    for (size_t i = 0; i < n; i++) {
        matrix[i * n + i] += shift;
        right[i] = -b[i];
    }
    std::vector<double> matrices, rights, lows, highs;
    std::vector<int> indices;
    for (size_t k = 0; k < repeats; k++) {
        matrices.insert(matrices.end(), matrix.begin(), matrix.end());
        rights.insert(rights.end(), right.begin(), right.end());
        lows.insert(lows.end(), low.begin(), low.end());
        highs.insert(highs.end(), high.begin(), high.end());
        indices.insert(indices.end(), index.begin(), index.end());
    }
    bool good = true;
    double start = lcp_clock();
    for (size_t k = 0; k < repeats; k++)
        good = btSolveDantzigLCP((int)n, &matrices[k * n * n], &x[k * n], &rights[k * n], &w[k * n],
                                 0, &lows[k * n], &highs[k * n], &indices[k * n], scratch) &&
               good;
    *seconds = (lcp_clock() - start) / (double)repeats;
    for (size_t i = 0; i < n; i++)
        f[i] = x[i];
    return good;
}
