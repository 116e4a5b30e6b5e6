/* The guess from which the pivoting starts: forces that are nearly a solution, by block pivoting.
 *
 * Rows are put in or out of C all at once by the signs of their forces and accelerations (Kostreva
 * 1978; Portugal, Judice and Vicente 1994), a few times, as long as the number of wrong signs
 * falls. That is a heuristic without a proof, hence only a guess; but on contact problems it is
 * right or nearly so after a handful of factorisations, where one pivot at a time needs one or two
 * per row.
 *
 * Contact matrices are singular: a box on four corners. So the guess is made for the matrix with
 * its diagonal enlarged by a relative 1e-8. Then all four corners share the load, no tie is exact,
 * and all of C can be factored. The answer is not about the enlarged matrix: if all signs are
 * right, its factor serves to find forces for the true one (accept_guess in solve_dantzig.c),
 * otherwise the forces go on as a starting point (start() there, which picks independent rows as C,
 * leaves the other forces where they are and computes everything anew).
 * Tested by tests/solve/test_dantzig.c. */
#include "solve/solve_dantzig.h"

#include "base/base_math.h"

#include <string.h>

/* The diagonal is multiplied by 1 + this. */
#define GUESS_SHIFT 1e-8
/* Forces and accelerations of the wrong sign count from here, relative to the largest |b|. */
#define WRONG_SIGN 1e-12
/* Exchanges at most, and without progress before the guess is left as it is (fewer when few rows
 * are wrong: the pivoting is good at those). Fewer rows than one in UPDATE_SHARE are exchanged by
 * updates of the factor, more by a new one. */
enum { GUESS_MAX = 60, GUESS_PATIENCE = 8, GUESS_PATIENCE_END = 5, UPDATE_SHARE = 12 };
/* Sweeps of Gauss-Seidel: at first; before the first set, if more rows than one in OPEN_SHARE carry
 * no force after those, and again if more than one in SWEEP_SHARE are wrong in that set. A sweep
 * costs n^2 at most, a factorisation n^3: the more rows, the more sweeps are worth while. */
enum { SWEEPS_TRIAL = 3, SWEEPS_LEAST = 12, ROWS_PER_SWEEP = 32, OPEN_SHARE = 3, SWEEP_SHARE = 4 };

/* Forces of C with the others at their bounds, then a. */
static void solve_set(rg_dantzig *z) {
    size_t n = z->size, m = z->factor.size;
    memcpy(z->a, z->b, n * sizeof *z->a);
    for (size_t i = 0; i < n; i++)
        if (z->state[i] != RG_PIVOT_BASIC && z->f[i] != 0)
            rg_dantzig_add_column(z, i, z->f[i], z->a);
    for (size_t k = 0; k < m; k++)
        z->work[k] = -z->a[z->basis[k]];
    rg_ldlt_solve(&z->factor, z->work);
    for (size_t k = 0; k < m; k++) {
        z->f[z->basis[k]] = z->work[k];
        rg_dantzig_add_column(z, z->basis[k], z->work[k], z->a);
    }
}

/* Where row i belongs by the sign of its force or acceleration. */
static rg_pivot_state belongs(const rg_dantzig *z, size_t i, double slack) {
    switch (z->state[i]) {
    case RG_PIVOT_BASIC:
        return z->f[i] < z->lower[i] - slack   ? RG_PIVOT_LOWER
               : z->f[i] > z->upper[i] + slack ? RG_PIVOT_UPPER
                                               : RG_PIVOT_BASIC;
    case RG_PIVOT_LOWER:
        return z->a[i] < -slack ? RG_PIVOT_BASIC : RG_PIVOT_LOWER;
    default:
        return z->a[i] > slack ? RG_PIVOT_BASIC : RG_PIVOT_UPPER;
    }
}

/* Puts row i on the other side; `update`: in the factor, too. */
static void move_row(rg_dantzig *z, size_t i, rg_pivot_state to, bool update) {
    if (update && z->state[i] == RG_PIVOT_BASIC)
        rg_dantzig_leave(z, i);
    z->state[i] = (uint8_t)to;
    z->exchanges++;
    if (to == RG_PIVOT_LOWER)
        z->f[i] = z->lower[i];
    else if (to == RG_PIVOT_UPPER)
        z->f[i] = z->upper[i];
    else if (update && !rg_dantzig_enter(z, i))
        z->state[i] = RG_PIVOT_LOWER;
}

static size_t count_wrong(const rg_dantzig *z, double slack) {
    size_t wrong = 0;
    for (size_t i = 0; i < z->size; i++)
        wrong += belongs(z, i, slack) != z->state[i];
    return wrong;
}

/* Changes sides wherever the sign is wrong. */
static void exchange(rg_dantzig *z, double slack, bool update) {
    for (size_t i = z->size; i-- > 0;) {
        rg_pivot_state to = belongs(z, i, slack);
        if (to != z->state[i])
            move_row(z, i, to, update);
    }
}

/* Projected Gauss-Seidel from the forces there are, then the sets by its signs. */
static void sweep(rg_dantzig *z, int sweeps) {
    size_t n = z->size;
    memcpy(z->a, z->b, n * sizeof *z->a);
    for (size_t i = 0; i < n; i++) {
        double f = z->f[i];
        z->f[i] = f = f < z->lower[i] ? z->lower[i] : f > z->upper[i] ? z->upper[i] : f;
        if (f != 0)
            rg_dantzig_add_column(z, i, f, z->a);
    }
    for (int k = 0; k < sweeps; k++)
        for (size_t i = 0; i < n; i++) {
            double d = rg_dantzig_entry(z, i, i);
            if (!(d > 0))
                continue;
            double f = z->f[i] - z->a[i] / d;
            f = f < z->lower[i] ? z->lower[i] : f > z->upper[i] ? z->upper[i] : f;
            if (f != z->f[i])
                rg_dantzig_add_column(z, i, f - z->f[i], z->a);
            z->f[i] = f;
        }
    for (size_t i = 0; i < n; i++)
        z->state[i] = z->f[i] <= z->lower[i] && z->a[i] > 0   ? RG_PIVOT_LOWER
                      : z->f[i] >= z->upper[i] && z->a[i] < 0 ? RG_PIVOT_UPPER
                                                              : RG_PIVOT_BASIC;
}

static int count_sweeps(const rg_dantzig *z) {
    return SWEEPS_LEAST + (int)(z->size / ROWS_PER_SWEEP);
}

/* All rows at first, if after a few sweeps most carry force: in a stack they do. If many are wrong
 * then, or fewer carry force, as in a pile, more sweeps tell more. */
static void choose_first_set(rg_dantzig *z) {
    size_t open = 0;
    sweep(z, SWEEPS_TRIAL);
    for (size_t i = 0; i < z->size; i++)
        open += z->state[i] != RG_PIVOT_BASIC;
    if (open * OPEN_SHARE >= z->size)
        sweep(z, count_sweeps(z) - SWEEPS_TRIAL);
    else
        for (size_t i = 0; i < z->size; i++)
            z->state[i] = RG_PIVOT_BASIC;
}

bool rg_dantzig_guess(rg_dantzig *z) {
    double largest = 0;
    for (size_t i = 0; i < z->size; i++)
        largest = fabs(z->b[i]) > largest ? fabs(z->b[i]) : largest;
    z->diagonal_factor = 1 + GUESS_SHIFT;
    choose_first_set(z);
    size_t best = SIZE_MAX;
    int patience = GUESS_PATIENCE;
    bool fresh = false;
    for (int k = 0; k < GUESS_MAX && patience > 0; k++) {
        if (!fresh)
            rg_dantzig_enter_all(z, RG_PIVOT_LOWER);
        solve_set(z);
        size_t wrong = count_wrong(z, WRONG_SIGN * largest);
        if (wrong == 0)
            return true;
        if (k == 0 && wrong * SWEEP_SHARE > z->size) {
            sweep(z, count_sweeps(z));
            continue;
        }
        int most = wrong * UPDATE_SHARE < z->factor.size ? GUESS_PATIENCE_END : GUESS_PATIENCE;
        patience = wrong < best || patience > most ? most : patience - 1;
        best = wrong < best ? wrong : best;
        fresh = wrong * UPDATE_SHARE < z->factor.size;
        if (patience > 0)
            exchange(z, WRONG_SIGN * largest, fresh);
    }
    for (size_t i = 0; i < z->size; i++)
        z->f[i] = fmin(fmax(z->f[i], z->lower[i]), z->upper[i]);
    return false;
}
