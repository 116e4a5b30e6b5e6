/* Ipopt on the quadratic program min f'A f / 2 + b'f, f >= 0, for bench_solve: the
 * bound-constrained form (the smallest there is), told that it is a convex quadratic program. */
#include "lcp_peers.h"

#include <IpStdCInterface.h>

#include <stdlib.h>

typedef struct program {
    const double *a, *b;
    double shift;
} program;

static double product(const program *p, Index n, Index row, const Number *x) {
    double sum = p->shift * x[row];
    for (Index j = 0; j < n; j++)
        sum += p->a[(size_t)row * (size_t)n + (size_t)j] * x[j];
    return sum;
}

static Bool value(Index n, Number *x, Bool is_new, Number *result, UserDataPtr user) {
    (void)is_new;
    const program *p = user;
    *result = 0;
    for (Index i = 0; i < n; i++)
        *result += x[i] * (0.5 * product(p, n, i, x) + p->b[i]);
    return TRUE;
}

static Bool gradient(Index n, Number *x, Bool is_new, Number *result, UserDataPtr user) {
    (void)is_new;
    const program *p = user;
    for (Index i = 0; i < n; i++)
        result[i] = product(p, n, i, x) + p->b[i];
    return TRUE;
}

static Bool constraints(Index n, Number *x, Bool is_new, Index m, Number *g, UserDataPtr user) {
    (void)n, (void)x, (void)is_new, (void)m, (void)g, (void)user;
    return TRUE;
}

static Bool jacobian(Index n, Number *x, Bool is_new, Index m, Index count, Index *rows,
                     Index *columns, Number *values, UserDataPtr user) {
    (void)n, (void)x, (void)is_new, (void)m, (void)count, (void)rows, (void)columns;
    (void)values, (void)user;
    return TRUE;
}

static Bool hessian(Index n, Number *x, Bool is_new, Number factor, Index m, Number *lambda,
                    Bool is_new_lambda, Index count, Index *rows, Index *columns, Number *values,
                    UserDataPtr user) {
    (void)x, (void)is_new, (void)m, (void)lambda, (void)is_new_lambda, (void)count;
    const program *p = user;
    Index k = 0;
    for (Index i = 0; i < n; i++)
        for (Index j = 0; j <= i; j++, k++) {
            if (!values)
                rows[k] = i, columns[k] = j;
            else
                values[k] =
                    factor * (p->a[(size_t)i * (size_t)n + (size_t)j] + (i == j ? p->shift : 0));
        }
    return TRUE;
}

bool lcp_ipopt(size_t n, const double *a, const double *b, double shift, double *f,
               double *seconds) {
    program p = {a, b, shift};
    Index size = (Index)n;
    double *low = calloc(n, sizeof *low), *high = malloc(n * sizeof *high), result;
    if (!low || !high)
        abort();
    for (size_t i = 0; i < n; i++)
        high[i] = 2e19, f[i] = 0;
    IpoptProblem problem =
        CreateIpoptProblem(size, low, high, 0, NULL, NULL, 0, size * (size + 1) / 2, 0, value,
                           constraints, gradient, jacobian, hessian);
    AddIpoptIntOption(problem, "print_level", 0);
    AddIpoptStrOption(problem, "sb", "yes");
    AddIpoptNumOption(problem, "tol", 1e-10);
    AddIpoptStrOption(problem, "mehrotra_algorithm", "yes");
    AddIpoptStrOption(problem, "hessian_constant", "yes");
    /* Ipopt widens bounds by 1e-8 as a rule. */
    AddIpoptNumOption(problem, "bound_relax_factor", 0);
    double start = lcp_clock();
    enum ApplicationReturnStatus status =
        IpoptSolve(problem, f, NULL, &result, NULL, NULL, NULL, &p);
    *seconds = lcp_clock() - start;
    FreeIpoptProblem(problem);
    free(low), free(high);
    return status == Solve_Succeeded || status == Solved_To_Acceptable_Level;
}
