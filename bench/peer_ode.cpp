// ODE's Dantzig solver, for bench_solve. No installed header declares it, but the library exports
// it: the declarations below are those of ODE 0.16 (lcp.h and util.h of its sources).
#include "lcp_peers.h"

#include <ode/ode.h>

#include <vector>

class dxWorldProcessMemArena;
struct dxWorldProcessMemoryManager;
struct dxWorldProcessMemoryReserveInfo;
// A x = b + w; pairs (b, x) and (lo, hi) interleaved; rows of A padded to a multiple of four.
void dxSolveLCP(dxWorldProcessMemArena *arena, unsigned n, dReal *A, dReal *bx, dReal *w,
                unsigned nub, dReal *lohi, int *findex);
size_t dxEstimateSolveLCPMemoryReq(unsigned n, bool w_given);
dxWorldProcessMemArena *
dxAllocateTemporaryWorldProcessMemArena(size_t size, const dxWorldProcessMemoryManager *manager,
                                        const dxWorldProcessMemoryReserveInfo *reserve);
void dxFreeTemporaryWorldProcessMemArena(dxWorldProcessMemArena *arena);

static bool complained;

static void note_message(int, const char *, va_list) {
    complained = true;
}

extern "C" bool lcp_ode(size_t n, const double *a, const double *b, double shift, double *f,
                        double *seconds) {
    size_t stride = (n + 3) & ~(size_t)3, repeats = lcp_repeats(n);
    std::vector<dReal> matrix(n * stride * repeats + 4), bx(2 * n * repeats), lohi(2 * n * repeats),
        w(n * repeats);
    std::vector<int> index(n * repeats, -1);
    for (size_t k = 0; k < repeats; k++)
        for (size_t i = 0; i < n; i++) {
            dReal *row = &matrix[(k * n + i) * stride];
            for (size_t j = 0; j < n; j++)
                row[j] = a[i * n + j];
            row[i] += shift;
            bx[2 * (k * n + i)] = -b[i];
            lohi[2 * (k * n + i) + 1] = dInfinity;
        }
    dSetMessageHandler(note_message);
    complained = false;
    dxWorldProcessMemArena *arena = dxAllocateTemporaryWorldProcessMemArena(
        dxEstimateSolveLCPMemoryReq((unsigned)n, true), nullptr, nullptr);
    if (!arena)
        return false;
    // What its inline ResetState does: the place of the next allocation (first member) is the
    // beginning (second member).
    void **members = reinterpret_cast<void **>(arena);
    double start = lcp_clock();
    for (size_t k = 0; k < repeats; k++) {
        members[0] = members[1];
        dxSolveLCP(arena, (unsigned)n, &matrix[k * n * stride], &bx[2 * k * n], &w[k * n], 0,
                   &lohi[2 * k * n], &index[k * n]);
    }
    *seconds = (lcp_clock() - start) / (double)repeats;
    dxFreeTemporaryWorldProcessMemArena(arena);
    for (size_t i = 0; i < n; i++)
        f[i] = bx[2 * i + 1];
    return !complained;
}
