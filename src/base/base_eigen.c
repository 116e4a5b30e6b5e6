/* Eigenvalues and eigenvectors of a symmetric 3x3 matrix.
 *
 * Method: cyclic Jacobi rotations (Jacobi 1846), angle at most pi/4, so that every eigenvector
 * stays nearest to the axis from which it grew. An off-diagonal entry counts as zero when it is
 * small against the geometric mean of its two diagonal entries; for positive definite matrices this
 * gives small eigenvalues to high relative accuracy (Demmel and Veselic 1992). The matrix is first
 * scaled by a power of two, which changes no bit of the result and keeps squares in range. Cost:
 * convergence is quadratic; three to six sweeps of three rotations. Fails: never for finite
 * matrices; otherwise the values are NaN and the vectors the identity. Reads the upper triangle. */
#include "base/base_eigen.h"

#include "base/base_math.h"

/* Quadratic convergence makes this many sweeps impossible to need; it only ends the loop. */
enum { MOST_SWEEPS = 40 };
/* Relative to sqrt(|a_pp a_qq|): half a unit in the last place. */
#define NEGLIGIBLE 0x1p-54

/* Past this theta^2 + 1 is theta^2 to the last bit; far past it the square would overflow. */
#define LARGE_COTANGENT 1e9

/* Turns in the plane of axes p < q so that entry (p, q) becomes zero; false if it was (nearly)
 * zero. */
static bool rotate(rg_mat3 *matrix, rg_mat3 *vectors, int p, int q) {
    double(*a)[3] = matrix->m, (*v)[3] = vectors->m;
    if (fabs(a[p][q]) <= NEGLIGIBLE * (sqrt(fabs(a[p][p])) * sqrt(fabs(a[q][q])))) {
        a[p][q] = 0;
        return false;
    }
    /* t = tan of the smaller angle: root of t^2 + 2 theta t - 1 = 0. */
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]), size = fabs(theta);
    double t = 1 / (size + (size > LARGE_COTANGENT ? size : sqrt(size * size + 1)));
    if (theta < 0)
        t = -t;
    double c = 1 / sqrt(t * t + 1), s = t * c;
    a[p][p] -= t * a[p][q];
    a[q][q] += t * a[p][q];
    a[p][q] = 0;
    int r = 3 - p - q;
    double *rp = r < p ? &a[r][p] : &a[p][r], *rq = r < q ? &a[r][q] : &a[q][r];
    double old_rp = *rp, old_rq = *rq;
    *rp = c * old_rp - s * old_rq;
    *rq = s * old_rp + c * old_rq;
    for (int i = 0; i < 3; i++) {
        double vp = v[i][p], vq = v[i][q];
        v[i][p] = c * vp - s * vq;
        v[i][q] = s * vp + c * vq;
    }
    return true;
}

void rg_eigen_symmetric(const rg_mat3 *symmetric, rg_vec3 *values, rg_mat3 *vectors) {
    rg_mat3 a = *symmetric; /* a copy: `vectors` may be the same matrix */
    double largest = 0, sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            largest = fmax(largest, fabs(a.m[i][j]));
            sum += a.m[i][j]; /* fmax ignores NaN, a sum does not */
        }
    *vectors = rg_mat3_identity();
    if (isnan(sum) || isinf(largest)) {
        *values = (rg_vec3){NAN, NAN, NAN};
        return;
    }
    if (a.m[0][1] == 0 && a.m[0][2] == 0 && a.m[1][2] == 0) { /* no scaling, which may underflow */
        *values = (rg_vec3){a.m[0][0], a.m[1][1], a.m[2][2]};
        return;
    }
    int exponent;
    frexp(largest, &exponent);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            a.m[i][j] = ldexp(a.m[i][j], -exponent);
    bool turned = true;
    for (int sweep = 0; turned && sweep < MOST_SWEEPS; sweep++) {
        turned = rotate(&a, vectors, 0, 1);
        turned |= rotate(&a, vectors, 0, 2);
        turned |= rotate(&a, vectors, 1, 2);
    }
    *values = (rg_vec3){ldexp(a.m[0][0], exponent), ldexp(a.m[1][1], exponent),
                        ldexp(a.m[2][2], exponent)};
}
