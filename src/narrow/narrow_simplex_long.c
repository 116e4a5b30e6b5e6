/* Nearest point of a simplex by all its faces: the foot of the origin on the span of each, by
 * normal equations, counts if its weights are positive; the nearest of these is the answer (a
 * corner always counts). Fifteen small systems: slow and sure. In twice the precision the normal
 * equations of triangles as thin as 1e-12 keep as many digits as doubles have.
 * Tested by tests/narrow/test_curved.c. */
#include "narrow/narrow_simplex_long.h"

/* Gaussian elimination with pivots on the diagonal: m is symmetric and positive. */
static bool solve(int n, rg_long m[3][3], rg_long right[3], rg_long x[3]) {
    int order[3] = {0, 1, 2};
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int k = i + 1; k < n; k++)
            if (rg_long_less(m[order[pivot]][order[pivot]], m[order[k]][order[k]]))
                pivot = k;
        int row = order[pivot];
        order[pivot] = order[i];
        order[i] = row;
        if (!(m[row][row].hi > 0))
            return false;
        for (int k = i + 1; k < n; k++) {
            int other = order[k];
            rg_long factor = rg_long_div(m[other][row], m[row][row]);
            for (int j = i; j < n; j++)
                m[other][order[j]] =
                    rg_long_sub(m[other][order[j]], rg_long_mul(factor, m[row][order[j]]));
            right[other] = rg_long_sub(right[other], rg_long_mul(factor, right[row]));
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        int row = order[i];
        rg_long sum = right[row];
        for (int k = i + 1; k < n; k++)
            sum = rg_long_sub(sum, rg_long_mul(m[row][order[k]], x[order[k]]));
        x[row] = rg_long_div(sum, m[row][row]);
    }
    return true;
}

/* Weights of the foot of the origin on the span of the corners `index`; false if one is not
 * positive or the corners are dependent. */
static bool weigh(const rg_long_simplex *s, const int *index, int count, rg_long weight[4]) {
    rg_long3 edge[3];
    rg_long m[3][3], right[3], x[3], rest = rg_long_of(1);
    rg_long3 first = s->corner[index[0]].at;
    for (int i = 0; i + 1 < count; i++)
        edge[i] = rg_long3_sub(s->corner[index[i + 1]].at, first);
    for (int i = 0; i + 1 < count; i++) {
        right[i] = rg_long_neg(rg_long3_dot(edge[i], first));
        for (int k = 0; k + 1 < count; k++)
            m[i][k] = rg_long3_dot(edge[i], edge[k]);
    }
    if (!solve(count - 1, m, right, x))
        return false;
    for (int i = 0; i + 1 < count; i++) {
        weight[i + 1] = x[i];
        rest = rg_long_sub(rest, x[i]);
    }
    weight[0] = rest;
    for (int i = 0; i < count; i++)
        if (!(weight[i].hi > 0))
            return false;
    return true;
}

rg_long3 rg_long_simplex_reduce(rg_long_simplex *s) {
    rg_long_simplex best = *s;
    rg_long3 nearest = {{0, 0}, {0, 0}, {0, 0}};
    rg_long least = {INFINITY, 0};
    for (unsigned set = 1; set < 1u << s->count; set++) {
        int index[4] = {0, 0, 0, 0}, count = 0;
        for (int k = 0; k < s->count; k++)
            if (set >> k & 1)
                index[count++] = k;
        rg_long weight[4];
        if (!weigh(s, index, count, weight))
            continue;
        rg_long3 z = rg_long3_scale(weight[0], s->corner[index[0]].at);
        for (int k = 1; k < count; k++)
            z = rg_long3_add_scaled(z, weight[k], s->corner[index[k]].at);
        rg_long square = rg_long3_dot(z, z);
        if (!rg_long_less(square, least))
            continue;
        least = square;
        nearest = z;
        best.count = count;
        for (int k = 0; k < count; k++) {
            best.corner[k] = s->corner[index[k]];
            best.weight[k] = weight[k];
        }
    }
    *s = best;
    return nearest;
}
