/* The factor against Gaussian elimination with pivoting in long double, against a fresh factor, and
 * against the product L D L^T itself. */
#include "test_support.h"

#include "base/base_hash.h"
#include "base/base_ldlt.h"
#include "base/base_memory.h"
#include "rigor/random.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 64 };

typedef struct problem {
    size_t size;
    double a[MOST][MOST]; /* symmetric */
} problem;

/* B B^T + shift, B random: positive definite for shift > 0. */
static void make_spd(problem *p, size_t size, double shift, rg_random *random) {
    static double b[MOST][MOST];
    p->size = size;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            b[i][j] = rg_random_normal(random);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = i == j ? shift : 0;
            for (size_t k = 0; k < size; k++)
                sum += b[i][k] * b[j][k];
            p->a[i][j] = p->a[j][i] = sum;
        }
}

/* x = A^-1 b by elimination with full row pivoting in long double. */
static void brute_solve(const problem *p, const double *b, double *x) {
    static long double m[MOST][MOST + 1];
    size_t n = p->size;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            m[i][j] = p->a[i][j];
        m[i][n] = b[i];
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabsl(m[i][k]) > fabsl(m[best][k]))
                best = i;
        for (size_t j = 0; j <= n; j++) {
            long double swap = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = swap;
        }
        for (size_t i = k + 1; i < n; i++) {
            long double factor = m[i][k] / m[k][k];
            for (size_t j = k; j <= n; j++)
                m[i][j] -= factor * m[k][j];
        }
    }
    for (size_t i = n; i-- > 0;) {
        long double sum = m[i][n];
        for (size_t j = i + 1; j < n; j++)
            sum -= m[i][j] * x[j];
        x[i] = (double)(sum / m[i][i]);
    }
}

static void check_solve(rg_ldlt *factor, const problem *p, double tolerance, rg_random *random) {
    double b[MOST], x[MOST], expected[MOST], largest = 0;
    for (size_t i = 0; i < p->size; i++)
        x[i] = b[i] = rg_random_normal(random);
    brute_solve(p, b, expected);
    rg_ldlt_solve(factor, x);
    for (size_t i = 0; i < p->size; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < p->size; i++)
        assert_near(x[i] / largest, expected[i] / largest, tolerance);
}

/* L D L^T gives back the matrix, relative to its largest diagonal entry. */
static void check_product(const rg_ldlt *factor, const problem *p, double tolerance) {
    assert_int_equal(factor->size, p->size);
    double largest = 0;
    for (size_t i = 0; i < p->size; i++)
        largest = fmax(largest, p->a[i][i]);
    for (size_t i = 0; i < p->size; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k <= j; k++) {
                double lik = k == i ? 1 : factor->lower[i * factor->capacity + k];
                double ljk = k == j ? 1 : factor->lower[j * factor->capacity + k];
                sum += lik * factor->diagonal[k] * ljk;
            }
            assert_near(sum / largest, p->a[i][j] / largest, tolerance);
        }
}

static void remove_row(problem *p, size_t k) {
    for (size_t i = 0; i < p->size; i++)
        memmove(&p->a[i][k], &p->a[i][k + 1], (p->size - k - 1) * sizeof(double));
    for (size_t i = k; i + 1 < p->size; i++)
        memcpy(p->a[i], p->a[i + 1], sizeof p->a[i]);
    p->size--;
}

static void test_small(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_ldlt factor;
    assert_int_equal(rg_ldlt_create(&factor, 3, &allocator), RG_OK);
    double nothing = 5;
    rg_ldlt_solve(&factor, &nothing); /* no rows: nothing is touched */
    assert_near(nothing, 5, 0);
    assert_int_equal(rg_ldlt_refactor(&factor, &nothing, 0, 0), RG_OK);
    assert_near(rg_ldlt_refine(&factor, &nothing, 0, &nothing, &nothing), 0, 0);

    /* ((4, 2, 2), (2, 5, 3), (2, 3, 6)): D = 4, 4, 4; L = 1/2; 1/2, 1/2. All exact. */
    double rows[3][3] = {{4}, {2, 5}, {2, 3, 6}}, pivot;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rg_ldlt_append(&factor, rows[i], i == 1 ? NULL : &pivot), RG_OK);
        assert_near(factor.diagonal[i], 4, 0);
    }
    assert_near(pivot, 4, 0);
    assert_int_equal(factor.updates, 3);
    assert_near(factor.lower[3], 0.5, 0);
    assert_near(factor.lower[6], 0.5, 0);
    assert_near(factor.lower[7], 0.5, 0);
    double x[3] = {14, 21, 26}; /* A (1, 2, 3) */
    rg_ldlt_solve(&factor, x);
    for (int i = 0; i < 3; i++)
        assert_near(x[i], i + 1, 0);

    rg_ldlt_delete(&factor, 0); /* ((5, 3), (3, 6)): D = 5, 6 - 9/5 */
    assert_near(factor.diagonal[0], 5, 0);
    assert_near(factor.lower[3], 0.6, 2e-16);
    assert_near(factor.diagonal[1], 4.2, 2e-15);
    rg_ldlt_delete(&factor, 1); /* the last row: the rest is untouched */
    assert_near(factor.diagonal[0], 5, 0);
    rg_ldlt_delete(&factor, 0);
    assert_int_equal(factor.size, 0);
    assert_int_equal(factor.updates, 6);
    rg_ldlt_clear(&factor);
    assert_int_equal(factor.updates, 0);
    assert_near(factor.largest, 0, 0);
    rg_ldlt_free(&factor, &allocator);
    assert_null(factor.lower);
}

static void test_against_brute_force(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(1);
    static problem p;
    for (size_t size = 1; size <= MOST; size++) {
        rg_ldlt factor;
        assert_int_equal(rg_ldlt_create(&factor, size, &allocator), RG_OK);
        make_spd(&p, size, 1, &random);
        assert_int_equal(rg_ldlt_refactor(&factor, p.a[0], size, MOST), RG_OK);
        assert_int_equal(factor.updates, 0);
        check_product(&factor, &p, 1e-14);
        check_solve(&factor, &p, 1e-11, &random);
        rg_ldlt_free(&factor, &allocator);
    }
}

/* Appending row by row is the same as factoring afresh, to the last bit. */
static void test_append_equals_refactor(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(2);
    static problem p;
    rg_ldlt one, two;
    assert_int_equal(rg_ldlt_create(&one, 40, &allocator), RG_OK);
    assert_int_equal(rg_ldlt_create(&two, 50, &allocator), RG_OK);
    make_spd(&p, 40, 0.5, &random);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(rg_ldlt_append(&one, p.a[i], NULL), RG_OK);
    assert_int_equal(rg_ldlt_refactor(&two, p.a[0], 40, MOST), RG_OK);
    for (size_t i = 0; i < 40; i++) {
        assert_memory_equal(one.lower + i * 40, two.lower + i * 50, i * sizeof(double));
        assert_true(one.diagonal[i] == two.diagonal[i]);
    }
    rg_ldlt_free(&one, &allocator);
    rg_ldlt_free(&two, &allocator);
}

/* Hundreds of appends and deletes in random places, without a refactor. */
static void test_long_sequences(void **state) {
    (void)state;
    enum { STEPS = 600, UNIVERSE = MOST };
    rg_allocator allocator = rg_allocator_default();
    static problem universe, now;
    for (uint64_t seed = 0; seed < 10; seed++) {
        rg_random random = rg_random_make(100 + seed);
        make_spd(&universe, UNIVERSE, 0.1, &random);
        rg_ldlt factor;
        assert_int_equal(rg_ldlt_create(&factor, UNIVERSE, &allocator), RG_OK);
        size_t members[UNIVERSE];
        bool in[UNIVERSE] = {false};
        now.size = 0;
        for (int step = 0; step < STEPS; step++) {
            size_t n = now.size;
            /* The aim wanders up and down, so that all sizes come up. */
            bool grow = n == 0 ||
                        (n < UNIVERSE && rg_random_unit(&random) < (step / 100 % 2 ? 0.35 : 0.75));
            if (grow) {
                size_t pick = rg_random_below(&random, UNIVERSE);
                while (in[pick])
                    pick = (pick + 1) % UNIVERSE;
                for (size_t j = 0; j < n; j++)
                    now.a[n][j] = now.a[j][n] = universe.a[pick][members[j]];
                now.a[n][n] = universe.a[pick][pick];
                members[n] = pick;
                in[pick] = true;
                now.size++;
                assert_int_equal(rg_ldlt_append(&factor, now.a[n], NULL), RG_OK);
            } else {
                size_t k = rg_random_below(&random, n);
                in[members[k]] = false;
                memmove(members + k, members + k + 1, (n - k - 1) * sizeof *members);
                remove_row(&now, k);
                rg_ldlt_delete(&factor, k);
            }
            check_product(&factor, &now, 2e-14);
            if (step % 10 == 0)
                check_solve(&factor, &now, 1e-10, &random);
        }
        assert_int_equal(factor.updates, STEPS);
        rg_ldlt_free(&factor, &allocator);
    }
}

/* Every row of every size deleted once, against the factor of what remains. */
static void test_delete_everywhere(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(3);
    static problem p, rest;
    rg_ldlt factor, fresh;
    assert_int_equal(rg_ldlt_create(&factor, 20, &allocator), RG_OK);
    assert_int_equal(rg_ldlt_create(&fresh, 20, &allocator), RG_OK);
    for (size_t size = 1; size <= 20; size++)
        for (size_t k = 0; k < size; k++) {
            make_spd(&p, size, 0.3, &random);
            assert_int_equal(rg_ldlt_refactor(&factor, p.a[0], size, MOST), RG_OK);
            rg_ldlt_delete(&factor, k);
            rest = p;
            remove_row(&rest, k);
            check_product(&factor, &rest, 1e-14);
            assert_int_equal(rg_ldlt_refactor(&fresh, rest.a[0], rest.size, MOST), RG_OK);
            for (size_t i = 0; i < rest.size; i++)
                assert_near(factor.diagonal[i] / fresh.diagonal[i], 1, 1e-11);
        }
    rg_ldlt_free(&factor, &allocator);
    rg_ldlt_free(&fresh, &allocator);
}

static uint64_t factor_hash(const rg_ldlt *factor) {
    uint64_t hash = rg_hash_doubles(rg_hash_begin(), factor->diagonal, factor->size);
    for (size_t i = 0; i < factor->size; i++)
        hash = rg_hash_doubles(hash, factor->lower + i * factor->capacity, i);
    return rg_hash_doubles(rg_hash_u64(hash, factor->size + factor->updates), &factor->largest, 1);
}

/* A banded matrix with a few long rows: the factor keeps to the envelope through appends, groups
 * and deletes, and is that of the dense way to the last bit. */
static void make_banded(problem *p, size_t size, rg_random *random) {
    make_spd(p, size, 0.5, random);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < i; j++)
            if (i - j > 3 && i % 11 != 10)
                p->a[i][j] = p->a[j][i] = 0;
    for (size_t i = 0; i < size; i++) /* dominant: positive definite whatever was cut */
        for (size_t j = 0; j < size; j++)
            if (j != i)
                p->a[i][i] += fabs(p->a[i][j]);
}

static void test_envelope(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(8);
    static problem p, rest;
    rg_ldlt one, two;
    assert_int_equal(rg_ldlt_create(&one, MOST, &allocator), RG_OK);
    assert_int_equal(rg_ldlt_create(&two, MOST, &allocator), RG_OK);
    for (size_t size = 1; size <= 50; size++) {
        make_banded(&p, size, &random);
        assert_int_equal(rg_ldlt_refactor(&one, p.a[0], size, MOST), RG_OK);
        rg_ldlt_clear(&two);
        static double buffers[RG_LDLT_GROUP][MOST + 8];
        double *rows[RG_LDLT_GROUP] = {buffers[0], buffers[1], buffers[2], buffers[3]};
        for (size_t i = 0; i < size; i += RG_LDLT_GROUP) {
            size_t count = size - i < RG_LDLT_GROUP ? size - i : RG_LDLT_GROUP, begin = i;
            bool accepted[RG_LDLT_GROUP];
            for (size_t k = 0; k < count; k++) {
                memcpy(rows[k], p.a[i + k], (i + k + 1) * sizeof(double));
                for (size_t j = 0; j < begin; j++)
                    begin = p.a[i + k][j] != 0 ? j : begin;
            }
            assert_int_equal(rg_ldlt_append_group(&two, rows, begin, count, accepted), count);
        }
        for (size_t i = 0; i < size; i++) {
            assert_true(one.diagonal[i] == two.diagonal[i]);
            for (size_t j = one.first[i]; j < i; j++)
                assert_true(one.lower[i * MOST + j] == two.lower[i * MOST + j]);
            for (size_t j = two.first[i]; j < one.first[i]; j++)
                assert_true(two.lower[i * MOST + j] == 0);
        }
        check_solve(&one, &p, 1e-12, &random);
        rest = p;
        while (rest.size > 1) {
            size_t k = rg_random_below(&random, rest.size);
            remove_row(&rest, k);
            rg_ldlt_delete(&one, k);
            check_solve(&one, &rest, 1e-12, &random);
        }
    }
    rg_ldlt_free(&one, &allocator);
    rg_ldlt_free(&two, &allocator);
}

/* A group with a row that depends on another of the group, or on those before. */
static void test_group_refuses(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(9);
    static problem p;
    rg_ldlt factor;
    assert_int_equal(rg_ldlt_create(&factor, MOST, &allocator), RG_OK);
    make_spd(&p, 8, 0.5, &random);
    static const size_t picks[8] = {0, 1, 2, 3, 4, 4, 1, 5}; /* rows 5 and 6 are duplicates */
    static double buffers[RG_LDLT_GROUP][MOST + 8];
    double *rows[RG_LDLT_GROUP] = {buffers[0], buffers[1], buffers[2], buffers[3]};
    bool accepted[RG_LDLT_GROUP];
    for (size_t i = 0; i < 8; i += RG_LDLT_GROUP) {
        for (size_t k = 0; k < RG_LDLT_GROUP; k++)
            for (size_t j = 0; j <= i + k; j++)
                rows[k][j] = p.a[picks[i + k]][picks[j]];
        rg_ldlt_append_group(&factor, rows, 0, RG_LDLT_GROUP, accepted);
    }
    assert_true(accepted[0] && !accepted[1] && !accepted[2] && accepted[3]);
    assert_int_equal(factor.size, 6);
    p.size = 6;
    check_product(&factor, &p, 1e-14);
    rg_ldlt_free(&factor, &allocator);
}

/* Rows that depend on the others: a duplicate, a combination, zero, negative, not a number. */
static void test_singular_is_refused(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(4);
    static problem p;
    for (size_t n = 1; n < 30; n++) {
        make_spd(&p, n, 0.5, &random);
        rg_ldlt factor;
        assert_int_equal(rg_ldlt_create(&factor, n + 1, &allocator), RG_OK);
        assert_int_equal(rg_ldlt_refactor(&factor, p.a[0], n, MOST), RG_OK);
        uint64_t before = factor_hash(&factor);
        double row[MOST], pivot;
        for (int scale = -1; scale <= 1; scale++) { /* a duplicate, 1e6 times larger or smaller */
            double s = pow(10, 6 * scale);
            for (size_t j = 0; j < n; j++)
                row[j] = s * p.a[n / 2][j];
            row[n] = s * s * p.a[n / 2][n / 2];
            assert_int_equal(rg_ldlt_append(&factor, row, &pivot), RG_SINGULAR);
            assert_true(fabs(pivot) <= 1e-12 * fmax(row[n], factor.largest));
        }
        double weights[MOST]; /* w^T A with diagonal w^T A w */
        for (size_t j = 0; j < n; j++)
            weights[j] = rg_random_normal(&random);
        row[n] = 0;
        for (size_t j = 0; j < n; j++) {
            row[j] = 0;
            for (size_t k = 0; k < n; k++)
                row[j] += weights[k] * p.a[k][j];
            row[n] += weights[j] * row[j];
        }
        assert_int_equal(rg_ldlt_append(&factor, row, NULL), RG_SINGULAR);
        row[n] -= 1; /* indefinite */
        assert_int_equal(rg_ldlt_append(&factor, row, &pivot), RG_SINGULAR);
        assert_near(pivot, -1, 1e-9);
        for (size_t j = 0; j < n; j++)
            row[j] = 0;
        static const double bad[] = {0, -0.0, -3, NAN, INFINITY, -INFINITY};
        for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
            row[n] = bad[k];
            assert_int_equal(rg_ldlt_append(&factor, row, NULL), RG_SINGULAR);
        }
        row[n] = 1;
        row[0] = NAN;
        assert_int_equal(rg_ldlt_append(&factor, row, NULL), RG_SINGULAR);
        assert_true(factor_hash(&factor) == before); /* no change, in any bit */
        row[0] = 0;
        assert_int_equal(rg_ldlt_append(&factor, row, NULL), RG_OK); /* and it goes on */
        rg_ldlt_free(&factor, &allocator);
    }
}

/* A refactor that meets a dependent row keeps the ones before it. */
static void test_refactor_stops(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(5);
    static problem p;
    make_spd(&p, 12, 0.5, &random);
    for (size_t j = 0; j < 12; j++)
        p.a[7][j] = p.a[j][7] = p.a[3][j];
    p.a[7][7] = p.a[7][3] = p.a[3][7] = p.a[3][3];
    rg_ldlt factor;
    assert_int_equal(rg_ldlt_create(&factor, 12, &allocator), RG_OK);
    assert_int_equal(rg_ldlt_refactor(&factor, p.a[0], 12, MOST), RG_SINGULAR);
    assert_int_equal(factor.size, 7);
    p.size = 7;
    check_product(&factor, &p, 1e-14);
    rg_ldlt_free(&factor, &allocator);
}

/* Condition numbers up to 1e10 from spread eigenvalues: the error of the plain solve stays within
 * the condition times the precision, and refinement against the true matrix takes it down to the
 * precision itself. */
static void test_ill_conditioned(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    static problem p;
    for (int power = 2; power <= 10; power += 2) {
        double condition = pow(10, power);
        rg_random random = rg_random_make((uint64_t)power);
        enum { N = 30 };
        /* Q diag Q^T with Q a product of reflections I - 2 u u^T. */
        p.size = N;
        memset(p.a, 0, sizeof p.a);
        for (int i = 0; i < N; i++)
            p.a[i][i] = pow(condition, -(double)i / (N - 1));
        for (int round = 0; round < 3; round++) {
            double u[N], au[N], norm = 0, uau = 0;
            for (int i = 0; i < N; i++) {
                u[i] = rg_random_normal(&random);
                norm += u[i] * u[i];
            }
            for (int i = 0; i < N; i++)
                u[i] /= sqrt(norm);
            for (int i = 0; i < N; i++) {
                au[i] = 0;
                for (int j = 0; j < N; j++)
                    au[i] += p.a[i][j] * u[j];
                uau += u[i] * au[i];
            }
            for (int i = 0; i < N; i++)
                for (int j = 0; j <= i; j++) {
                    double entry =
                        p.a[i][j] - 2 * u[i] * au[j] - 2 * au[i] * u[j] + 4 * uau * u[i] * u[j];
                    p.a[i][j] = p.a[j][i] = entry;
                }
        }
        rg_ldlt factor;
        assert_int_equal(rg_ldlt_create(&factor, N, &allocator), RG_OK);
        assert_int_equal(rg_ldlt_refactor(&factor, p.a[0], N, MOST), RG_OK);
        check_product(&factor, &p, 1e-14);
        check_solve(&factor, &p, 10 * condition * DBL_EPSILON, &random);

        double b[N], x[N], expected[N], largest = 0, worst = 0;
        for (int i = 0; i < N; i++)
            x[i] = b[i] = rg_random_normal(&random);
        brute_solve(&p, b, expected);
        rg_ldlt_solve(&factor, x);
        double residual = rg_ldlt_refine(&factor, p.a[0], MOST, b, x);
        double second = rg_ldlt_refine(&factor, p.a[0], MOST, b, x);
        rg_ldlt_refine(&factor, p.a[0], MOST, b, x);
        for (int i = 0; i < N; i++)
            largest = fmax(largest, fabs(expected[i]));
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(x[i] - expected[i]) / largest);
        print_message("condition 1e%d: residual %.2g, %.2g, error %.2g\n", power, residual, second,
                      worst);
        /* The reference itself is good to the condition times 2^-64. */
        assert_true(worst < 4e-16 + 30 * condition * LDBL_EPSILON);
        assert_true(second <= residual);
        rg_ldlt_free(&factor, &allocator);
    }
}

/* The residual that refine reports is the true one, to the last bits. */
static void test_refine_residual(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_ldlt factor;
    assert_int_equal(rg_ldlt_create(&factor, 2, &allocator), RG_OK);
    double a[4] = {3, NAN, 1, 2}, b[2] = {5, 5}, x[2] = {1, 2}; /* upper part is never read */
    assert_int_equal(rg_ldlt_refactor(&factor, a, 2, 2), RG_OK);
    assert_near(rg_ldlt_refine(&factor, a, 2, b, x), 0, 0);
    x[0] += 0x1p-52; /* 3 2^-52 and 2^-52 */
    assert_near(rg_ldlt_refine(&factor, a, 2, b, x), 3 * 0x1p-52, 0);
    assert_near(x[0], 1, 0);
    assert_near(x[1], 2, 0);
    rg_ldlt_free(&factor, &allocator);
}

static void test_scales(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(6);
    static problem p;
    for (int e = -900; e <= 900; e += 300) {
        make_spd(&p, 10, 1, &random);
        for (size_t i = 0; i < 10; i++)
            for (size_t j = 0; j < 10; j++)
                p.a[i][j] = ldexp(p.a[i][j], e);
        rg_ldlt factor;
        assert_int_equal(rg_ldlt_create(&factor, 10, &allocator), RG_OK);
        assert_int_equal(rg_ldlt_refactor(&factor, p.a[0], 10, MOST), RG_OK);
        check_solve(&factor, &p, 1e-12, &random);
        rg_ldlt_delete(&factor, 2);
        remove_row(&p, 2);
        check_solve(&factor, &p, 1e-12, &random);
        rg_ldlt_free(&factor, &allocator);
    }
}

/* The same bits from every compiler. */
static void test_golden_bits(void **state) {
    (void)state;
    rg_allocator allocator = rg_allocator_default();
    rg_random random = rg_random_make(7);
    static problem p;
    make_spd(&p, 50, 1, &random);
    rg_ldlt factor;
    assert_int_equal(rg_ldlt_create(&factor, 50, &allocator), RG_OK);
    assert_int_equal(rg_ldlt_refactor(&factor, p.a[0], 50, MOST), RG_OK);
    for (size_t k = 0; k < 40; k += 3)
        rg_ldlt_delete(&factor, k % factor.size);
    double x[50];
    for (int i = 0; i < 50; i++)
        x[i] = i;
    rg_ldlt_solve(&factor, x);
    uint64_t hash = rg_hash_doubles(factor_hash(&factor), x, factor.size);
    if (hash != UINT64_C(0x9B927679EA18B0E4))
        fail_msg("hash 0x%016llX", (unsigned long long)hash);
    rg_ldlt_free(&factor, &allocator);
}

static void test_no_memory(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_ldlt factor;
    for (size_t fail_after = 1; fail_after <= 3; fail_after++) {
        allocator = counting_allocator_make(&counter);
        counter.fail_after = fail_after;
        assert_int_equal(rg_ldlt_create(&factor, 10, &allocator), RG_OUT_OF_MEMORY);
        assert_int_equal(counter.releases, fail_after); /* what was given was given back */
        assert_null(factor.lower);
    }
    allocator = counting_allocator_make(&counter);
    assert_int_equal(rg_ldlt_create(&factor, SIZE_MAX / 8, &allocator), RG_OUT_OF_MEMORY);
    assert_int_equal(rg_ldlt_create(&factor, (size_t)1 << 31, &allocator), RG_OUT_OF_MEMORY);
    assert_int_equal(rg_ldlt_create(&factor, 0, &allocator), RG_OK);
    rg_ldlt_free(&factor, &allocator);
    rg_ldlt_free(&factor, &allocator);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_append_equals_refactor),
        cmocka_unit_test(test_long_sequences),
        cmocka_unit_test(test_delete_everywhere),
        cmocka_unit_test(test_envelope),
        cmocka_unit_test(test_group_refuses),
        cmocka_unit_test(test_singular_is_refused),
        cmocka_unit_test(test_refactor_stops),
        cmocka_unit_test(test_ill_conditioned),
        cmocka_unit_test(test_refine_residual),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_golden_bits),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
