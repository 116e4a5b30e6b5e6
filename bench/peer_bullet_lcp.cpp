// Bullet's Dantzig solver (in doubles), for bench_solve.
#include "lcp_peers.h"

#include <BulletDynamics/MLCPSolvers/btDantzigLCP.h>

#include <vector>

extern "C" bool lcp_bullet(size_t n, const double *a, const double *b, double shift, double *f,
                           double *seconds) {
    // Kept from call to call, as Bullet's own solver keeps it.
    static btDantzigScratchMemory scratch;
    std::vector<double> matrix(a, a + n * n), right(n), w(n), low(n, 0), high(n, BT_INFINITY);
    std::vector<int> index(n, -1);
    for (size_t i = 0; i < n; i++) {
        matrix[i * n + i] += shift;
        right[i] = -b[i];
        f[i] = 0;
    }
    double start = lcp_clock();
    bool good = btSolveDantzigLCP((int)n, matrix.data(), f, right.data(), w.data(), 0, low.data(),
                                  high.data(), index.data(), scratch);
    *seconds = lcp_clock() - start;
    return good;
}
