/* The block-sparse factors against dense elimination with pivoting in long double, on patterns from
 * empty to full, with mixed block sizes; residuals of large ones; signs, breakdown, memory. */
#include "test_support.h"

#include "base/base_hash.h"
#include "base/base_memory.h"
#include "base/base_sparse.h"
#include "base/base_sparse_kernel.h"
#include "base/base_thread.h"
#include "rigor/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct matrix {
    size_t blocks, rows, pair_count;
    uint8_t *sizes;
    uint32_t *first; /* scalar row of a block; blocks + 1 */
    uint32_t *pairs;
    double **values; /* per pair: block (i, j), row-major; for i != j `other` holds (j, i) */
    double **other;
} matrix;

static matrix matrix_make(size_t blocks, const uint8_t *sizes, int uniform, size_t pair_capacity) {
    matrix m = {.blocks = blocks};
    m.sizes = malloc(blocks);
    m.first = malloc((blocks + 1) * sizeof *m.first);
    for (size_t i = 0; i < blocks; i++) {
        m.sizes[i] = sizes ? sizes[i] : (uint8_t)uniform;
        m.first[i] = (uint32_t)m.rows;
        m.rows += m.sizes[i];
    }
    m.first[blocks] = (uint32_t)m.rows;
    m.pairs = malloc(2 * pair_capacity * sizeof *m.pairs);
    m.values = malloc(pair_capacity * sizeof *m.values);
    m.other = malloc(pair_capacity * sizeof *m.other);
    return m;
}

static void matrix_pair(matrix *m, uint32_t i, uint32_t j) {
    size_t k = m->pair_count++;
    m->pairs[2 * k] = i;
    m->pairs[2 * k + 1] = j;
    m->values[k] = calloc(36, sizeof(double));
    m->other[k] = calloc(36, sizeof(double));
}

static void matrix_free(matrix *m) {
    for (size_t k = 0; k < m->pair_count; k++) {
        free(m->values[k]);
        free(m->other[k]);
    }
    free(m->values);
    free(m->other);
    free(m->sizes);
    free(m->first);
    free(m->pairs);
}

/* Random numbers; diagonals (the first `blocks` pairs) made dominant: positive definite if
 * symmetric. */
static void matrix_fill(matrix *m, bool symmetric, double dominance, rg_random *random) {
    double *sum = calloc(m->rows, sizeof *sum);
    for (size_t k = m->pair_count; k-- > 0;) {
        uint32_t i = m->pairs[2 * k], j = m->pairs[2 * k + 1];
        int ni = m->sizes[i], nj = m->sizes[j];
        for (int r = 0; r < ni; r++)
            for (int c = 0; c < nj; c++) {
                double x = rg_random_normal(random);
                if (i == j && symmetric && c < r)
                    x = m->values[k][c * nj + r];
                m->values[k][r * nj + c] = x;
                double y = symmetric ? x : rg_random_normal(random);
                m->other[k][c * ni + r] = y;
                sum[m->first[i] + (size_t)r] += fabs(x);
                if (i != j)
                    sum[m->first[j] + (size_t)c] += fabs(y);
            }
    }
    for (size_t k = 0; k < m->blocks; k++) {
        uint32_t i = m->pairs[2 * k];
        for (int r = 0; r < m->sizes[i]; r++)
            m->values[k][r * m->sizes[i] + r] += dominance * sum[m->first[i] + (size_t)r];
    }
    free(sum);
}

static void matrix_load(const matrix *m, rg_sparse *s, const rg_sparse_slot *slots, bool general) {
    rg_sparse_clear(s, general);
    for (size_t k = 0; k < m->pair_count; k++) {
        rg_sparse_add(s, slots[2 * k], m->values[k], general);
        if (general && m->pairs[2 * k] != m->pairs[2 * k + 1])
            rg_sparse_add(s, slots[2 * k + 1], m->other[k], general);
    }
}

static rg_sparse_slot *matrix_slots(const matrix *m, const rg_sparse *s) {
    rg_sparse_slot *slots = malloc((2 * m->pair_count + 1) * sizeof *slots);
    for (size_t k = 0; k < m->pair_count; k++) {
        slots[2 * k] = rg_sparse_find(s, m->pairs[2 * k], m->pairs[2 * k + 1]);
        slots[2 * k + 1] = rg_sparse_find(s, m->pairs[2 * k + 1], m->pairs[2 * k]);
    }
    return slots;
}

static void matrix_apply(const matrix *m, const double *x, double *y) {
    memset(y, 0, m->rows * sizeof *y);
    for (size_t k = 0; k < m->pair_count; k++) {
        uint32_t i = m->pairs[2 * k], j = m->pairs[2 * k + 1];
        int ni = m->sizes[i], nj = m->sizes[j];
        for (int r = 0; r < ni; r++)
            for (int c = 0; c < nj; c++) {
                y[m->first[i] + (size_t)r] += m->values[k][r * nj + c] * x[m->first[j] + (size_t)c];
                if (i != j)
                    y[m->first[j] + (size_t)c] +=
                        m->other[k][c * ni + r] * x[m->first[i] + (size_t)r];
            }
    }
}

/* Dense elimination with pivoting in long double. */
static void dense_solve(const matrix *m, const double *b, double *x) {
    size_t n = m->rows;
    long double *a = calloc(n * (n + 1), sizeof *a);
    for (size_t k = 0; k < m->pair_count; k++) {
        uint32_t i = m->pairs[2 * k], j = m->pairs[2 * k + 1];
        int ni = m->sizes[i], nj = m->sizes[j];
        for (int r = 0; r < ni; r++)
            for (int c = 0; c < nj; c++) {
                a[(m->first[i] + (size_t)r) * (n + 1) + m->first[j] + (size_t)c] +=
                    m->values[k][r * nj + c];
                if (i != j)
                    a[(m->first[j] + (size_t)c) * (n + 1) + m->first[i] + (size_t)r] +=
                        m->other[k][c * ni + r];
            }
    }
    for (size_t i = 0; i < n; i++)
        a[i * (n + 1) + n] = b[i];
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabsl(a[i * (n + 1) + k]) > fabsl(a[best * (n + 1) + k]))
                best = i;
        for (size_t j = 0; j <= n; j++) {
            long double swap = a[k * (n + 1) + j];
            a[k * (n + 1) + j] = a[best * (n + 1) + j];
            a[best * (n + 1) + j] = swap;
        }
        for (size_t i = k + 1; i < n; i++) {
            long double factor = a[i * (n + 1) + k] / a[k * (n + 1) + k];
            for (size_t j = k; j <= n; j++)
                a[i * (n + 1) + j] -= factor * a[k * (n + 1) + j];
        }
    }
    for (size_t i = n; i-- > 0;) {
        long double sum = a[i * (n + 1) + n];
        for (size_t j = i + 1; j < n; j++)
            sum -= a[i * (n + 1) + j] * x[j];
        x[i] = (double)(sum / a[i * (n + 1) + i]);
    }
    free(a);
}

static matrix random_matrix(size_t blocks, int uniform, double density, rg_random *random) {
    uint8_t sizes[256];
    assert_true(blocks <= 256);
    for (size_t i = 0; i < blocks; i++)
        sizes[i] = (uint8_t)(uniform ? uniform : 1 + (int)rg_random_below(random, 6));
    matrix m = matrix_make(blocks, sizes, 0, blocks * (blocks + 1));
    for (uint32_t i = 0; i < blocks; i++)
        matrix_pair(&m, i, i);
    for (uint32_t i = 0; i < blocks; i++)
        for (uint32_t j = 0; j < i; j++)
            if (rg_random_unit(random) < density) {
                if (rg_random_below(random, 2))
                    matrix_pair(&m, i, j);
                else
                    matrix_pair(&m, j, i);
            }
    return m;
}

/* The entries of the inverse between some blocks, against solves; twice, because the work memory of
 * the factor must be as it was. */
static void check_inverse(const matrix *m, const rg_sparse *s, rg_arena *arena, rg_random *random) {
    uint32_t blocks[8];
    size_t count = 0, size = 0, column = 0;
    for (uint32_t i = 0; i < m->blocks && count < 8; i++)
        if (rg_random_unit(random) < 0.4) {
            blocks[count++] = i;
            size += m->sizes[i];
        }
    double *x = malloc((m->rows + 1) * sizeof *x), *out = malloc((size * size + 1) * sizeof *out);
    for (int round = 0; round < 2; round++)
        assert_int_equal(rg_sparse_inverse(s, blocks, count, arena, out), RG_OK);
    for (size_t j = 0; j < count; j++)
        for (uint32_t c = 0; c < m->sizes[blocks[j]]; c++, column++) {
            memset(x, 0, m->rows * sizeof *x);
            x[m->first[blocks[j]] + c] = 1;
            rg_sparse_solve(s, x);
            for (size_t i = 0, row = 0; i < count; i++)
                for (uint32_t r = 0; r < m->sizes[blocks[i]]; r++, row++) {
                    double expected = x[m->first[blocks[i]] + r];
                    assert_near(out[row * size + column], expected, 1e-11 * (1 + fabs(expected)));
                    assert_true(out[row * size + column] == out[column * size + row]);
                }
        }
    free(x);
    free(out);
}

static void check_against_dense(const matrix *m, bool general, double tolerance,
                                rg_random *random) {
    rg_arena arena = rg_arena_make(NULL);
    rg_sparse *s;
    assert_int_equal(rg_sparse_create(&arena, m->blocks, m->sizes, 0, m->pairs, m->pair_count, &s),
                     RG_OK);
    assert_int_equal(rg_sparse_rows(s), m->rows);
    rg_sparse_slot *slots = matrix_slots(m, s);
    double *b = malloc((m->rows + 1) * sizeof *b), *x = malloc((m->rows + 1) * sizeof *x),
           *y = malloc((m->rows + 1) * sizeof *y);
    for (size_t i = 0; i < m->rows; i++)
        x[i] = b[i] = rg_random_normal(random);
    /* Twice: the second factor must not see the first. */
    for (int round = 0; round < 2; round++) {
        matrix_load(m, s, slots, general);
        size_t replaced = 7;
        rg_status status = general ? rg_sparse_factor_general(s)
                                   : rg_sparse_factor_symmetric(s, NULL, 0, &replaced);
        assert_int_equal(status, RG_OK);
        if (!general)
            assert_int_equal(replaced, 0);
    }
    rg_sparse_solve(s, x);
    dense_solve(m, b, y);
    for (size_t i = 0; i < m->rows; i++)
        assert_near(x[i], y[i], tolerance * (1 + fabs(y[i])));
    if (!general)
        check_inverse(m, s, &arena, random);
    free(b);
    free(x);
    free(y);
    free(slots);
    rg_arena_free(&arena);
}

static void test_small_patterns(void **state) {
    (void)state;
    rg_random random = rg_random_make(1);
    static const double DENSITY[] = {0, 0.02, 0.1, 0.3, 1};
    for (int trial = 0; trial < 400; trial++) {
        size_t blocks = 1 + rg_random_below(&random, trial % 10 == 0 ? 60 : 12);
        int uniform = (int)rg_random_below(&random, 7); /* 0: mixed */
        matrix m = random_matrix(blocks, uniform, DENSITY[trial % 5], &random);
        bool general = trial % 2;
        matrix_fill(&m, !general, 1.1, &random);
        check_against_dense(&m, general, 1e-12, &random);
        matrix_free(&m);
    }
}

static void test_wide_supernodes(void **state) { /* full patterns: chains of supernodes */
    (void)state;
    rg_random random = rg_random_make(2);
    static const size_t BLOCKS[] = {33, 70, 101};
    for (int k = 0; k < 6; k++) {
        matrix m = random_matrix(BLOCKS[k % 3], k % 3 == 0 ? 6 : 3, 1, &random);
        bool general = k % 2;
        matrix_fill(&m, !general, 0.1, &random);
        if (!general) /* positive definite by the diagonal */
            for (size_t b = 0; b < m.blocks; b++)
                for (int r = 0; r < m.sizes[b]; r++)
                    m.values[b][r * m.sizes[b] + r] += 60;
        check_against_dense(&m, general, 1e-9, &random);
        matrix_free(&m);
    }
}

/* A zero in front, larger entries off the diagonal: needs the exchange of rows within a block. */
static void test_general_pivots(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    for (int trial = 0; trial < 50; trial++) {
        matrix m = random_matrix(8, 1 + trial % 6, 0.3, &random);
        matrix_fill(&m, false, 1.1, &random);
        for (size_t b = 0; b < m.blocks; b++) { /* cyclic shift of the rows of the diagonal block */
            int n = m.sizes[b];
            double shifted[36];
            for (int r = 0; r < n; r++)
                memcpy(shifted + r * n, m.values[b] + (r + 1) % n * n, (size_t)n * sizeof *shifted);
            memcpy(m.values[b], shifted, sizeof shifted[0] * (size_t)(n * n));
        }
        check_against_dense(&m, true, 1e-10, &random);
        matrix_free(&m);
    }
}

/* x of D A D y = D b with columns measured in `units` (null: not), as D y. */
static void solve_scaled(const matrix *m, const double *d, const double *units, const double *b,
                         double *x) {
    rg_arena arena = rg_arena_make(NULL);
    rg_sparse *s;
    assert_int_equal(rg_sparse_create(&arena, m->blocks, m->sizes, 0, m->pairs, m->pair_count, &s),
                     RG_OK);
    if (units)
        rg_sparse_set_units(s, units);
    rg_sparse_slot *slots = matrix_slots(m, s);
    matrix scaled = *m;
    scaled.values = malloc(m->pair_count * sizeof *scaled.values);
    scaled.other = malloc(m->pair_count * sizeof *scaled.other);
    for (size_t k = 0; k < m->pair_count; k++) {
        uint32_t i = m->pairs[2 * k], j = m->pairs[2 * k + 1];
        size_t rows = m->sizes[i], columns = m->sizes[j];
        scaled.values[k] = calloc(36, sizeof(double)), scaled.other[k] = calloc(36, sizeof(double));
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < columns; c++) {
                double factor = d[m->first[i] + r] * d[m->first[j] + c];
                scaled.values[k][r * columns + c] = factor * m->values[k][r * columns + c];
                scaled.other[k][c * rows + r] = factor * m->other[k][c * rows + r];
            }
    }
    matrix_load(&scaled, s, slots, true);
    assert_int_equal(rg_sparse_factor_general(s), RG_OK);
    for (size_t i = 0; i < m->rows; i++)
        x[i] = d[i] * b[i];
    rg_sparse_solve(s, x);
    for (size_t i = 0; i < m->rows; i++)
        x[i] *= d[i];
    for (size_t k = 0; k < m->pair_count; k++)
        free(scaled.values[k]), free(scaled.other[k]);
    free(scaled.values), free(scaled.other), free(slots);
    rg_arena_free(&arena);
}

/* Rows and columns in other units: the same pivots, and so the same bits, if they are told. */
static void test_units(void **state) {
    (void)state;
    rg_random random = rg_random_make(12);
    int others = 0;
    for (int trial = 0; trial < 50; trial++) {
        matrix m = random_matrix(6, 6, 0.4, &random);
        double one[36], d[36], units[36], b[36], x[36], y[36], z[36];
        matrix_fill(&m, false, 0.3, &random);
        for (size_t i = 0; i < m.rows; i++) {
            d[i] = i % 6 < 3 ? 1 : ldexp(1, 2 * (trial % 17 - 8));
            one[i] = 1, units[i] = 1 / d[i], b[i] = rg_random_between(&random, -1, 1);
        }
        solve_scaled(&m, one, NULL, b, x);
        solve_scaled(&m, d, units, b, y);
        solve_scaled(&m, d, NULL, b, z);
        assert_memory_equal(x, y, m.rows * sizeof *x);
        others += memcmp(x, z, m.rows * sizeof *x) != 0;
        matrix_free(&m);
    }
    assert_true(others > 0);
}

static void test_repeats_and_both_orders(void **state) {
    (void)state;
    rg_random random = rg_random_make(4);
    matrix m = matrix_make(3, NULL, 2, 16);
    for (uint32_t i = 0; i < 3; i++)
        matrix_pair(&m, i, i);
    matrix_pair(&m, 0, 1);
    matrix_pair(&m, 1, 0);
    matrix_pair(&m, 2, 1);
    matrix_pair(&m, 2, 1);
    matrix_pair(&m, 2, 2);
    matrix_fill(&m, false, 2, &random);
    memset(m.other[7], 0, 36 * sizeof(double));
    check_against_dense(&m, true, 1e-12, &random);
    matrix_free(&m);
}

/* How many blocks the factor of a graph has. */
static size_t factor_blocks(uint32_t blocks, const uint32_t *pairs, size_t count) {
    rg_arena arena = rg_arena_make(NULL);
    rg_sparse *sparse;
    assert_int_equal(rg_sparse_create(&arena, blocks, NULL, 3, pairs, count, &sparse), RG_OK);
    size_t found = rg_sparse_get_stats(sparse).factor_blocks;
    rg_arena_free(&arena);
    return found;
}

/* Trees have an order without fill, leaves first, and a least degree finds it, whatever the numbers
 * of the nodes: stars, chains, and random ones. Of grids it finds one that is far from dense. */
static void test_order_without_fill(void **state) {
    (void)state;
    enum { NODES = 200, SIDE = 20 };
    rg_random random = rg_random_make(31);
    uint32_t pairs[4 * SIDE * SIDE], name[SIDE * SIDE];
    for (int kind = 0; kind < 12; kind++) {
        for (uint32_t i = 0; i < NODES; i++)
            name[i] = i;
        for (uint32_t i = NODES - 1; i > 0 && kind > 2; i--) {
            uint32_t k = (uint32_t)rg_random_below(&random, i + 1), kept = name[i];
            name[i] = name[k], name[k] = kept;
        }
        for (uint32_t i = 1; i < NODES; i++) {
            uint32_t parent = kind % 3 == 0   ? 0
                              : kind % 3 == 1 ? i - 1
                                              : (uint32_t)rg_random_below(&random, i);
            pairs[2 * i - 2] = name[i], pairs[2 * i - 1] = name[parent];
        }
        size_t blocks = factor_blocks(NODES, pairs, NODES - 1);
        assert_in_range(blocks, 2 * NODES - 1, 4 * NODES); /* small nodes are joined */
    }
    size_t count = 0;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        if (i % SIDE)
            pairs[2 * count] = i, pairs[2 * count++ + 1] = i - 1;
        if (i >= SIDE)
            pairs[2 * count] = i, pairs[2 * count++ + 1] = i - SIDE;
    }
    size_t blocks = factor_blocks(SIDE * SIDE, pairs, count);
    print_message("grid of %d nodes: %zu blocks\n", SIDE * SIDE, blocks);
    assert_true(blocks < 14 * SIDE * SIDE); /* in the order given: 20 a node */
}

/* [[H, J'], [J, -d]]: quasi-definite, given with signs; and a wrong sign that is replaced. */
static void test_signs(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    for (int trial = 0; trial < 20; trial++) {
        matrix m = random_matrix(20, 3, 0.3, &random);
        matrix_fill(&m, true, 0, &random);
        int8_t signs[60];
        for (size_t b = 0; b < 20; b++)
            for (int r = 0; r < 3; r++)
                signs[3 * b + (size_t)r] = b < 12 ? 1 : -1;
        for (size_t k = 0; k < m.pair_count; k++) {
            uint32_t i = m.pairs[2 * k], j = m.pairs[2 * k + 1];
            bool same = (i < 12) == (j < 12);
            for (int e = 0; e < 9; e++) {
                double keep = i == j ? (e % 4 == 0 ? (i < 12 ? 8.0 : -8.0) : 0) : same ? 0 : 1;
                m.values[k][e] = i == j ? keep : m.values[k][e] * keep;
                m.other[k][e] = i == j ? keep : m.other[k][e] * keep;
            }
        }
        rg_arena arena = rg_arena_make(NULL);
        rg_sparse *s;
        assert_int_equal(rg_sparse_create(&arena, 20, NULL, 3, m.pairs, m.pair_count, &s), RG_OK);
        rg_sparse_slot *slots = matrix_slots(&m, s);
        matrix_load(&m, s, slots, false);
        size_t replaced;
        assert_int_equal(rg_sparse_factor_symmetric(s, signs, 1e-9, &replaced), RG_OK);
        assert_int_equal(replaced, 0);
        double b[60], x[60], y[60];
        for (int i = 0; i < 60; i++)
            x[i] = b[i] = rg_random_normal(&random);
        rg_sparse_solve(s, x);
        dense_solve(&m, b, y);
        for (int i = 0; i < 60; i++)
            assert_near(x[i], y[i], 1e-12 * (1 + fabs(y[i])));
        /* All signs wrong: every pivot is replaced at least where it was healthy. */
        for (int i = 0; i < 60; i++)
            signs[i] = (int8_t)-signs[i];
        matrix_load(&m, s, slots, false);
        assert_int_equal(rg_sparse_factor_symmetric(s, signs, 10, &replaced), RG_OK);
        assert_true(replaced > 0);
        free(slots);
        rg_arena_free(&arena);
        matrix_free(&m);
    }
}

static void test_singular(void **state) {
    (void)state;
    rg_random random = rg_random_make(6);
    for (int scale = -6; scale <= 6; scale += 3) {
        matrix m = matrix_make(2, NULL, 2, 3);
        matrix_pair(&m, 0, 0);
        matrix_pair(&m, 1, 1);
        matrix_pair(&m, 0, 1);
        double unit = pow(10, scale);
        /* Rows 0 and 2 equal: the graph of two bodies tied to nothing. */
        double block[4] = {2 * unit, 0, 0, 3 * unit}, off[4] = {2 * unit, 0, 0, 0};
        memcpy(m.values[0], block, sizeof block);
        memcpy(m.values[1], block, sizeof block);
        memcpy(m.values[2], off, sizeof off);
        memcpy(m.other[2], off, sizeof off);
        rg_arena arena = rg_arena_make(NULL);
        rg_sparse *s;
        assert_int_equal(rg_sparse_create(&arena, 2, NULL, 2, m.pairs, 3, &s), RG_OK);
        rg_sparse_slot *slots = matrix_slots(&m, s);
        matrix_load(&m, s, slots, false);
        assert_int_equal(rg_sparse_factor_symmetric(s, NULL, 0, NULL), RG_SINGULAR);
        matrix_load(&m, s, slots, true);
        assert_int_equal(rg_sparse_factor_general(s), RG_SINGULAR);
        m.values[0][0] = NAN;
        matrix_load(&m, s, slots, false);
        assert_int_equal(rg_sparse_factor_symmetric(s, NULL, 0, NULL), RG_SINGULAR);
        matrix_load(&m, s, slots, true);
        assert_int_equal(rg_sparse_factor_general(s), RG_SINGULAR);
        free(slots);
        rg_arena_free(&arena);
        matrix_free(&m);
    }
    (void)random;
}

/* Bodies of a pyramid (or grid in space), 6 x 6 blocks: the graph of the large contact problems. */
static matrix pyramid(uint32_t base) {
    size_t blocks = (size_t)base * (base + 1) / 2;
    matrix m = matrix_make(blocks, NULL, 6, 5 * blocks);
    for (uint32_t i = 0; i < blocks; i++)
        matrix_pair(&m, i, i);
    uint32_t row = 0;
    for (uint32_t n = base; n > 1; n--) {
        for (uint32_t i = 0; i < n; i++) {
            if (i + 1 < n)
                matrix_pair(&m, row + i, row + n + i);
            if (i > 0)
                matrix_pair(&m, row + i, row + n + i - 1);
        }
        row += n;
    }
    return m;
}

static matrix pile(uint32_t side, rg_random *random) {
    size_t blocks = (size_t)side * side * side;
    matrix m = matrix_make(blocks, NULL, 6, 8 * blocks);
    for (uint32_t i = 0; i < blocks; i++)
        matrix_pair(&m, i, i);
    for (uint32_t x = 0; x < side; x++)
        for (uint32_t y = 0; y < side; y++)
            for (uint32_t z = 0; z < side; z++) {
                uint32_t i = (x * side + y) * side + z;
                if (x + 1 < side)
                    matrix_pair(&m, i, i + side * side);
                if (y + 1 < side && rg_random_unit(random) < 0.9)
                    matrix_pair(&m, i, i + side);
                if (z + 1 < side && rg_random_unit(random) < 0.9)
                    matrix_pair(&m, i + 1, i);
            }
    return m;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Solves with the true solution known; prints sizes and times (not asserted). */
static uint64_t check_large(const char *name, matrix *m, uint64_t hash) {
    rg_random random = rg_random_make(7);
    rg_arena arena = rg_arena_make(NULL);
    rg_sparse *s;
    double t0 = seconds();
    assert_int_equal(rg_sparse_create(&arena, m->blocks, m->sizes, 0, m->pairs, m->pair_count, &s),
                     RG_OK);
    double t1 = seconds();
    rg_sparse_slot *slots = matrix_slots(m, s);
    double *x = malloc(m->rows * sizeof *x), *b = malloc(m->rows * sizeof *b);
    double best[2] = {1e9, 1e9}, solve = 1e9;
    for (int general = 0; general < 2; general++) {
        random = rg_random_make(8);
        matrix_fill(m, !general, 1.01, &random);
        for (int round = 0; round < 5; round++) {
            matrix_load(m, s, slots, general);
            double begin = seconds();
            rg_status status = general ? rg_sparse_factor_general(s)
                                       : rg_sparse_factor_symmetric(s, NULL, 0, NULL);
            best[general] = fmin(best[general], seconds() - begin);
            assert_int_equal(status, RG_OK);
        }
        for (size_t i = 0; i < m->rows; i++)
            x[i] = rg_random_normal(&random);
        matrix_apply(m, x, b);
        double begin = seconds();
        rg_sparse_solve(s, b);
        solve = fmin(solve, seconds() - begin);
        for (size_t i = 0; i < m->rows; i++)
            assert_near(b[i], x[i], 1e-11 * (1 + fabs(x[i])));
        hash = rg_hash_bytes(hash, b, m->rows * sizeof *b);
    }
    rg_sparse_stats stats = rg_sparse_get_stats(s);
    print_message(
        "%s: %zu blocks, factor %zu blocks, %zu supernodes, %.1f Mflop, %.1f MB; analysis "
        "%.2f ms, symmetric %.3f ms, general %.3f ms, solve %.3f ms\n",
        name, m->blocks, stats.factor_blocks, stats.supernodes, stats.flops * 1e-6,
        (double)stats.bytes * 1e-6, 1e3 * (t1 - t0), 1e3 * best[0], 1e3 * best[1], 1e3 * solve);
    free(x);
    free(b);
    free(slots);
    rg_arena_free(&arena);
    return hash;
}

static void test_large(void **state) {
    (void)state;
    rg_random random = rg_random_make(9);
    uint64_t hash = 0;
    matrix m = pyramid(20);
    hash = check_large("pyramid 20", &m, hash);
    matrix_free(&m);
    m = pyramid(60);
    hash = check_large("pyramid 60", &m, hash);
    matrix_free(&m);
    m = pile(10, &random);
    hash = check_large("pile 10^3", &m, hash);
    matrix_free(&m);
    m = random_matrix(200, 3, 1, &random);
    hash = check_large("full 200 x 3", &m, hash);
    matrix_free(&m);
    print_message("hash %016llx\n", (unsigned long long)hash);
}

/* Whatever the processor has gives the bits of what every processor has. */
static void test_kernels(void **state) {
    (void)state;
    enum { STRIPS = 9, ROWS = STRIPS * RG_SPARSE_STRIP, DEPTH = 12, PITCH = 64, KINDS = 3 };
    static _Alignas(64) double a[STRIPS * PITCH], b[STRIPS * PITCH], start[ROWS * ROWS];
    static _Alignas(64) double c[KINDS][ROWS * ROWS], packed[KINDS][2][STRIPS * PITCH];
    rg_random random = rg_random_make(10);
    rg_sparse_kernel kernels[KINDS] = {rg_sparse_kernel_plain(), rg_sparse_kernel_wide(),
                                       rg_sparse_kernel_best()};
    for (int trial = 0; trial < 200; trial++) {
        for (size_t i = 0; i < STRIPS * PITCH; i++) {
            a[i] = rg_random_normal(&random);
            b[i] = rg_random_normal(&random);
        }
        for (size_t i = 0; i < ROWS * ROWS; i++)
            start[i] = rg_random_normal(&random);
        size_t depth = 1 + rg_random_below(&random, DEPTH), strips = 1 + (size_t)trial % STRIPS;
        rg_sparse_panel panel = {.width = (uint32_t)depth};
        for (size_t i = 0; i < depth; i++) {
            panel.order[i] = (uint8_t)(depth - 1 - i);
            panel.inverse[i] = rg_random_normal(&random);
            for (size_t j = 0; j < i; j++)
                panel.factor[i][j] = rg_random_normal(&random);
        }
        for (int k = 0; k < KINDS; k++) {
            memcpy(c[k], start, sizeof start);
            memset(packed[k], 0, sizeof packed[k]);
            kernels[k].product(
                &(rg_sparse_tiles){c[k], ROWS, a, b, PITCH, depth, strips, strips, trial % 2});
            rg_sparse_scaling scaling = (rg_sparse_scaling)(trial % 3);
            kernels[k].strips(&(rg_sparse_below){c[k], ROWS, packed[k][0],
                                                 scaling == RG_SPARSE_BOTH ? packed[k][1] : NULL,
                                                 PITCH, strips},
                              &panel, scaling);
        }
        for (int k = 1; k < KINDS; k++) {
            assert_memory_equal(c[0], c[k], sizeof c[0]);
            assert_memory_equal(packed[0], packed[k], sizeof packed[0]);
        }
    }
}

/* A column of a diagonal panel: what lies under the diagonal is divided by the pivot and taken from
 * the columns right of it; all else stays. */
static void test_eliminate(void **state) {
    (void)state;
    enum { PANEL = RG_SPARSE_PANEL, KINDS = 3 };
    rg_random random = rg_random_make(11);
    rg_sparse_kernel kernels[KINDS] = {rg_sparse_kernel_plain(), rg_sparse_kernel_wide(),
                                       rg_sparse_kernel_best()};
    for (uint32_t trial = 0; trial < 20 * PANEL; trial++) {
        rg_sparse_square start = {.width = 1 + trial % PANEL}, expected, found;
        for (uint32_t c = 0; c < start.width; c++)
            for (uint32_t r = 0; r < start.width; r++)
                start.at[c][r] = rg_random_normal(&random);
        uint32_t column = (uint32_t)rg_random_below(&random, start.width);
        double inverse = rg_random_normal(&random);
        expected = start;
        for (uint32_t r = column + 1; r < start.width; r++)
            expected.at[column][r] *= inverse;
        for (uint32_t k = column + 1; k < start.width; k++)
            for (uint32_t r = column + 1; r < start.width; r++)
                expected.at[k][r] -= expected.at[column][r] * start.at[k][column];
        for (int k = 0; k < KINDS; k++) {
            found = start;
            kernels[k].eliminate(&found, column, inverse);
            for (uint32_t c = 0; c < start.width; c++) /* zeros of the padding have any sign */
                assert_memory_equal(found.at[c], expected.at[c], start.width * sizeof(double));
        }
    }
}

static void test_no_memory(void **state) {
    (void)state;
    matrix m = pyramid(12);
    size_t calls = 0;
    for (size_t fail = 1;; fail++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        counter.fail_after = fail;
        rg_arena arena = rg_arena_make(&allocator);
        rg_sparse *s;
        rg_status status =
            rg_sparse_create(&arena, m.blocks, m.sizes, 0, m.pairs, m.pair_count, &s);
        if (status == RG_OK)
            status = rg_sparse_expect(s, &arena, m.pairs + 2 * m.blocks, m.pair_count - m.blocks);
        calls = counter.resizes;
        rg_arena_free(&arena);
        if (status == RG_OK)
            break;
        assert_int_equal(status, RG_OUT_OF_MEMORY);
    }
    assert_true(calls >= 1);
    /* A warm arena makes no call at all. */
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_arena arena = rg_arena_make(&allocator);
    rg_sparse *s;
    size_t before = 0;
    for (int round = 0; round < 4; round++) {
        rg_arena_reset(&arena);
        before = counter.resizes;
        assert_int_equal(rg_sparse_create(&arena, m.blocks, m.sizes, 0, m.pairs, m.pair_count, &s),
                         RG_OK);
    }
    assert_int_equal(counter.resizes, before);
    rg_arena_free(&arena);
    matrix_free(&m);
}

/* --- blocks in the caller's memory ------------------------------------------------------------ */

/* The blocks of a matrix one after the other; every third pair is said to be absent if `thinned`,
 * and then its numbers must not matter. */
typedef struct given {
    double *diagonal, *halves;
    uint8_t *present;
} given;

static given given_make(const matrix *m, bool thinned) {
    size_t pairs = m->pair_count - m->blocks;
    given g = {malloc(m->blocks * 36 * sizeof(double)), malloc((pairs + 1) * 72 * sizeof(double)),
               malloc(pairs + 1)};
    double *diagonal = g.diagonal, *halves = g.halves;
    for (size_t k = 0; k < m->pair_count; k++) {
        size_t size = (size_t)m->sizes[m->pairs[2 * k]] * m->sizes[m->pairs[2 * k + 1]];
        if (k < m->blocks) {
            memcpy(diagonal, m->values[k], size * sizeof *diagonal);
            diagonal += size;
            continue;
        }
        g.present[k - m->blocks] = !(thinned && k % 3 == 0);
        memcpy(halves, m->values[k], size * sizeof *halves);
        memcpy(halves + size, m->other[k], size * sizeof *halves);
        for (size_t i = 0; i < 2 * size && !g.present[k - m->blocks]; i++)
            halves[i] = NAN;
        halves += 2 * size;
    }
    return g;
}

static void given_free(given *g) {
    free(g->diagonal);
    free(g->halves);
    free(g->present);
}

static void clear_absent(const matrix *m, const given *g) {
    for (size_t k = m->blocks; k < m->pair_count; k++)
        if (!g->present[k - m->blocks]) {
            memset(m->values[k], 0, 36 * sizeof(double));
            memset(m->other[k], 0, 36 * sizeof(double));
        }
}

static void solve_with(rg_sparse *s, bool general, const double *b, double *x, size_t rows) {
    assert_int_equal(general ? rg_sparse_factor_general(s)
                             : rg_sparse_factor_symmetric(s, NULL, 0, NULL),
                     RG_OK);
    memcpy(x, b, rows * sizeof *x);
    rg_sparse_solve(s, x);
}

/* The same bits as with blocks that are added, for any number of threads, and again after a factor
 * of numbers that were added. */
static void check_given(matrix *m, rg_random *random) {
    rg_arena arena = rg_arena_make(NULL);
    rg_sparse *s;
    assert_int_equal(rg_sparse_create(&arena, m->blocks, m->sizes, 0, m->pairs, m->pair_count, &s),
                     RG_OK);
    assert_int_equal(
        rg_sparse_expect(s, &arena, m->pairs + 2 * m->blocks, m->pair_count - m->blocks), RG_OK);
    rg_sparse_slot *slots = matrix_slots(m, s);
    double *b = malloc(m->rows * sizeof *b), *x = malloc(m->rows * sizeof *x),
           *y = malloc(m->rows * sizeof *y);
    for (int turn = 0; turn < 4; turn++) {
        bool general = turn % 2, thinned = turn / 2;
        matrix_fill(m, !general, 1.01, random);
        given g = given_make(m, thinned);
        for (size_t i = 0; i < m->rows; i++)
            b[i] = rg_random_normal(random);
        clear_absent(m, &g);
        matrix_load(m, s, slots, general);
        solve_with(s, general, b, x, m->rows);
        for (int threads = 1; threads <= 3; threads++) {
            rg_pool *pool;
            assert_int_equal(rg_pool_create(threads, NULL, &pool), RG_OK);
            rg_sparse_set_pool(s, pool);
            rg_sparse_give(s, (rg_sparse_values){g.diagonal, g.halves, g.present});
            solve_with(s, general, b, y, m->rows);
            assert_memory_equal(x, y, m->rows * sizeof *x);
            rg_sparse_set_pool(s, NULL);
            rg_pool_destroy(pool);
        }
        given_free(&g);
    }
    free(slots);
    free(b);
    free(x);
    free(y);
    rg_arena_free(&arena);
    matrix_free(m);
}

static void test_given_blocks(void **state) {
    (void)state;
    rg_random random = rg_random_make(91);
    for (int round = 0; round < 60; round++) {
        uint8_t sizes[24];
        size_t blocks = 1 + rg_random_below(&random, 24);
        for (size_t i = 0; i < blocks; i++)
            sizes[i] = (uint8_t)(1 + rg_random_below(&random, 6));
        size_t pairs = blocks > 1 ? rg_random_below(&random, 60) : 0;
        matrix m = matrix_make(blocks, sizes, 0, blocks + pairs);
        for (uint32_t i = 0; i < blocks; i++)
            matrix_pair(&m, i, i);
        for (size_t k = 0; k < pairs; k++) { /* repeats, in both orders */
            uint32_t i = (uint32_t)rg_random_below(&random, blocks);
            uint32_t j = (uint32_t)rg_random_below(&random, blocks - 1);
            matrix_pair(&m, i, j + (j >= i));
        }
        check_given(&m, &random);
    }
    matrix m = pyramid(20);
    check_given(&m, &random);
    m = pile(8, &random);
    check_given(&m, &random);
}

static void test_empty(void **state) {
    (void)state;
    rg_arena arena = rg_arena_make(NULL);
    rg_sparse *s;
    assert_int_equal(rg_sparse_create(&arena, 0, NULL, 6, NULL, 0, &s), RG_OK);
    rg_sparse_clear(s, true);
    assert_int_equal(rg_sparse_factor_symmetric(s, NULL, 0, NULL), RG_OK);
    assert_int_equal(rg_sparse_factor_general(s), RG_OK);
    double none = 5;
    rg_sparse_solve(s, &none);
    assert_true(none == 5);
    rg_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_patterns),
        cmocka_unit_test(test_wide_supernodes),
        cmocka_unit_test(test_general_pivots),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_repeats_and_both_orders),
        cmocka_unit_test(test_order_without_fill),
        cmocka_unit_test(test_signs),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_eliminate),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_given_blocks),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
