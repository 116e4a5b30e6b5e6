/* Householder QR with column pivoting (Businger and Golub 1965).
 *
 * Used where the rank matters: contact matrices of overdetermined structures (a table of four
 * legs) are singular, and what linear programming says about them must not hang on the tolerance
 * inside Clp. O(rows columns^2). Column norms are computed afresh at every step instead of being
 * downdated: half as much work again, and no cancellation. It cannot fail; rank 0 is an answer.
 * Tested by tests/lp/test_clp.c. */
#include "lp/lp_dense.h"

#include "base/base_math.h"
#include "solve/solve.h"

static double norm_of(const double *v, size_t count) {
    double largest = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(v[i]));
    if (!(largest > 0))
        return 0;
    for (size_t i = 0; i < count; i++)
        sum += (v[i] / largest) * (v[i] / largest);
    return largest * sqrt(sum);
}

/* Applies I - 2 v v' / v.v, v given with v.v = 2. */
static void reflect(const double *v, double *x, size_t count) {
    double dot = 0;
    for (size_t i = 0; i < count; i++)
        dot += v[i] * x[i];
    for (size_t i = 0; i < count; i++)
        x[i] -= dot * v[i];
}

/* Brings the column with the largest rest to place k; returns that rest. */
static double choose_column(rg_qr *qr, size_t k) {
    size_t m = qr->rows, best = k;
    double largest = 0;
    for (size_t j = k; j < qr->columns; j++) {
        double norm = norm_of(qr->factor + j * m + k, m - k);
        if (norm > largest) {
            largest = norm;
            best = j;
        }
    }
    if (best != k) {
        for (size_t i = 0; i < m; i++) {
            double held = qr->factor[k * m + i];
            qr->factor[k * m + i] = qr->factor[best * m + i];
            qr->factor[best * m + i] = held;
        }
        size_t held = qr->order[k];
        qr->order[k] = qr->order[best];
        qr->order[best] = held;
    }
    return largest;
}

rg_status rg_qr_make(rg_solve_context *context, size_t rows, size_t columns, double *matrix,
                     double tolerance, rg_qr *qr, rg_error *error) {
    *qr = (rg_qr){.rows = rows, .columns = columns, .factor = matrix};
    RG_TAKE(qr->diagonal, context, columns, error);
    RG_TAKE(qr->order, context, columns, error);
    for (size_t j = 0; j < columns; j++)
        qr->order[j] = j;
    double first = 0;
    for (size_t k = 0; k < rows && k < columns; k++) {
        double norm = choose_column(qr, k);
        if (k == 0)
            first = norm;
        if (!(norm > tolerance * first))
            break;
        double *v = matrix + k * rows + k;
        /* v = x + sign(x_0) |x| e_0, scaled to v.v = 2. */
        double lead = v[0] >= 0 ? norm : -norm;
        double size = sqrt(norm) * sqrt(norm + fabs(v[0]));
        qr->diagonal[k] = -lead;
        v[0] += lead;
        for (size_t i = 0; i < rows - k; i++)
            v[i] /= size;
        for (size_t j = k + 1; j < columns; j++)
            reflect(v, matrix + j * rows + k, rows - k);
        qr->rank = k + 1;
    }
    return RG_OK;
}

/* y := R11^-1 y in the places 0 .. rank. */
static void substitute_back(const rg_qr *qr, double *y) {
    for (size_t k = qr->rank; k-- > 0;) {
        y[k] /= qr->diagonal[k];
        const double *column = qr->factor + k * qr->rows;
        for (size_t i = 0; i < k; i++)
            y[i] -= column[i] * y[k];
    }
}

void rg_qr_solve(const rg_qr *qr, double *rhs, double *x) {
    for (size_t k = 0; k < qr->rank; k++)
        reflect(qr->factor + k * qr->rows + k, rhs + k, qr->rows - k);
    substitute_back(qr, rhs);
    for (size_t j = 0; j < qr->columns; j++)
        x[qr->order[j]] = j < qr->rank ? rhs[j] : 0;
}

rg_status rg_qr_null_space(rg_solve_context *context, rg_qr *qr, rg_error *error) {
    size_t n = qr->columns, dimension = n - qr->rank;
    double *y;
    RG_TAKE(y, context, n, error);
    RG_TAKE(qr->null, context, dimension * n, error);
    for (size_t k = 0; k < dimension; k++) {
        const double *column = qr->factor + (qr->rank + k) * qr->rows;
        for (size_t i = 0; i < qr->rank; i++)
            y[i] = -column[i];
        substitute_back(qr, y);
        double *z = qr->null + k * n;
        for (size_t j = 0; j < n; j++)
            z[qr->order[j]] = j < qr->rank ? y[j] : j == qr->rank + k ? 1 : 0;
    }
    return RG_OK;
}
