/* Linear programs through Clp: textbook cases, all outcomes, duals and rays, sparse like dense. */
#include "lp/lp_clp.h"
#include "lp/lp_dense.h"
#include "lp_support.h"

#define NONE INFINITY

/* max 3x + 5y, x <= 4, 2y <= 12, 3x + 2y <= 18 (Dantzig's wood and glass): (2, 6), prices (0,
 * 3/2, 1). */
static void test_textbook(void **state) {
    (void)state;
    const double dense[] = {1, 0, 0, 2, 3, 2}, cost[] = {-3, -5}, below[] = {-NONE, -NONE, -NONE},
                 above[] = {4, 12, 18}, zero[] = {0, 0}, none[] = {NONE, NONE};
    const size_t starts[] = {0, 1, 2, 4};
    const uint32_t indices[] = {0, 1, 0, 1};
    const double values[] = {1, 2, 3, 2};
    rg_solve_context *context = make_context();
    for (int sparse = 0; sparse < 2; sparse++) {
        rg_program program = {.matrix = {.rows = 3, .columns = 2},
                              .cost = cost,
                              .row_lower = below,
                              .row_upper = above,
                              .column_lower = zero,
                              .column_upper = none};
        if (sparse)
            program.matrix.starts = starts, program.matrix.indices = indices,
            program.matrix.values = values;
        else
            program.matrix.dense = dense;
        double x[2], dual[3], ray[3];
        uint8_t rows[3], columns[2];
        rg_program_result result = {
            .x = x, .dual = dual, .row_basic = rows, .column_basic = columns, .ray = ray};
        assert_int_equal(rg_program_solve(context, &program, &result, NULL), RG_OK);
        assert_int_equal(result.outcome, RG_PROGRAM_OPTIMAL);
        assert_near(result.objective, -36, 1e-12);
        assert_near(x[0], 2, 1e-13);
        assert_near(x[1], 6, 1e-13);
        assert_near(dual[0], 0, 1e-13);
        assert_near(dual[1], -1.5, 1e-13);
        assert_near(dual[2], -1, 1e-13);
        assert_true(rows[0] && !rows[1] && !rows[2] && columns[0] && columns[1]);
        assert_false(result.has_ray);
    }
    rg_solve_context_destroy(context);
}

/* x + y <= -1 with x, y >= 0: none. x - y >= 1, min -x - y: falls without end along (1, 1). */
static void test_no_answer(void **state) {
    (void)state;
    const double zero[] = {0, 0}, none[] = {NONE, NONE}, ones[] = {1, 1}, cost[] = {-1, -1},
                 minus[] = {-1}, below[] = {-NONE}, difference[] = {1, -1}, one[] = {1};
    rg_solve_context *context = make_context();
    double x[2], ray[2];
    rg_program program = {.matrix = {.rows = 1, .columns = 2, .dense = ones},
                          .cost = NULL,
                          .row_lower = below,
                          .row_upper = minus,
                          .column_lower = zero,
                          .column_upper = none};
    rg_program_result result = {.x = x, .ray = ray};
    assert_int_equal(rg_program_solve(context, &program, &result, NULL), RG_OK);
    assert_int_equal(result.outcome, RG_PROGRAM_INFEASIBLE);
    program = (rg_program){.matrix = {.rows = 1, .columns = 2, .dense = difference},
                           .cost = cost,
                           .row_lower = one,
                           .row_upper = none,
                           .column_lower = zero,
                           .column_upper = none};
    assert_int_equal(rg_program_solve(context, &program, &result, NULL), RG_OK);
    assert_int_equal(result.outcome, RG_PROGRAM_UNBOUNDED);
    if (result.has_ray) {
        assert_true(ray[0] >= 0 && ray[1] >= 0 && ray[0] + ray[1] > 0);
        assert_true(ray[0] - ray[1] >= -1e-12);
    }
    /* No rows, no columns, and neither. */
    program.matrix = (rg_matrix){.rows = 0, .columns = 2, .dense = ones};
    program.cost = ones;
    assert_int_equal(rg_program_solve(context, &program, &result, NULL), RG_OK);
    assert_int_equal(result.outcome, RG_PROGRAM_OPTIMAL);
    assert_near(x[0] + x[1], 0, 0);
    program.matrix = (rg_matrix){.rows = 1, .columns = 0, .dense = ones};
    assert_int_equal(rg_program_solve(context, &program, &result, NULL), RG_OK);
    assert_int_equal(result.outcome, RG_PROGRAM_INFEASIBLE); /* 0 >= 1 */
    rg_solve_context_destroy(context);
}

/* Against all corners: min c.x, A x >= b, x >= 0, three variables, five rows; c > 0 so that
 * there is an end. */
static void test_random(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    rg_solve_context *context = make_context();
    size_t infeasible = 0;
    for (int trial = 0; trial < 500; trial++) {
        double a[5 * 3], b[5], c[3], above[5], zero[3] = {0}, none[3] = {NONE, NONE, NONE}, x[3];
        for (int i = 0; i < 15; i++)
            a[i] = rg_random_normal(&random);
        for (int i = 0; i < 5; i++) {
            b[i] = rg_random_normal(&random);
            above[i] = NONE;
        }
        for (int i = 0; i < 3; i++)
            c[i] = rg_random_unit(&random) + 0.1;
        double best = INFINITY;
        for (int p = 0; p < 8; p++)
            for (int q = 0; q < p; q++)
                for (int r = 0; r < q; r++) {
                    int rows[3] = {p, q, r};
                    double system[9] = {0}, y[3];
                    for (int k = 0; k < 3; k++) {
                        y[k] = rows[k] < 5 ? b[rows[k]] : 0;
                        for (int j = 0; j < 3; j++)
                            system[k * 3 + j] = rows[k] < 5 ? a[rows[k] * 3 + j] : rows[k] - 5 == j;
                    }
                    if (!gauss(3, system, y))
                        continue;
                    bool good = y[0] >= -1e-10 && y[1] >= -1e-10 && y[2] >= -1e-10;
                    for (int i = 0; i < 5; i++)
                        good =
                            good && a[i * 3] * y[0] + a[i * 3 + 1] * y[1] + a[i * 3 + 2] * y[2] >=
                                        b[i] - 1e-10;
                    if (good)
                        best = fmin(best, c[0] * y[0] + c[1] * y[1] + c[2] * y[2]);
                }
        rg_program program = {.matrix = {.rows = 5, .columns = 3, .dense = a},
                              .cost = c,
                              .row_lower = b,
                              .row_upper = above,
                              .column_lower = zero,
                              .column_upper = none};
        rg_program_result result = {.x = x};
        assert_int_equal(rg_program_solve(context, &program, &result, NULL), RG_OK);
        if (isinf(best)) {
            infeasible++;
            assert_int_equal(result.outcome, RG_PROGRAM_INFEASIBLE);
        } else {
            assert_int_equal(result.outcome, RG_PROGRAM_OPTIMAL);
            assert_near(result.objective, best, 1e-9 * fmax(1, best));
        }
    }
    assert_true(infeasible > 10 && infeasible < 400);
    rg_solve_context_destroy(context);
}

/* Pivots are limited. */
static void test_limit(void **state) {
    (void)state;
    enum { N = 30 };
    static double a[N * N], b[N], c[N], above[N], zero[N], none[N];
    rg_random random = rg_random_make(4);
    for (int i = 0; i < N * N; i++)
        a[i] = rg_random_unit(&random) + (i % (N + 1) == 0 ? 5 : 0);
    for (int i = 0; i < N; i++)
        b[i] = rg_random_unit(&random) + 1, c[i] = rg_random_unit(&random) + 1,
        above[i] = none[i] = NONE;
    rg_solve_context *context = make_context();
    rg_program program = {.matrix = {.rows = N, .columns = N, .dense = a},
                          .cost = c,
                          .row_lower = b,
                          .row_upper = above,
                          .column_lower = zero,
                          .column_upper = none,
                          .iteration_limit = 2};
    rg_program_result result = {0};
    assert_int_equal(rg_program_solve(context, &program, &result, NULL), RG_OK);
    assert_int_equal(result.outcome, RG_PROGRAM_LIMIT);
    program.iteration_limit = 0;
    assert_int_equal(rg_program_solve(context, &program, &result, NULL), RG_OK);
    assert_int_equal(result.outcome, RG_PROGRAM_OPTIMAL);
    assert_true(result.iterations > 2);
    rg_solve_context_destroy(context);
}

/* The QR factor: rank, least squares, null space of matrices of known rank. */
static void test_qr(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    rg_solve_context *context = make_context();
    for (size_t m = 1; m <= 7; m++)
        for (size_t n = 1; n <= 7; n++)
            for (size_t rank = 0; rank <= m && rank <= n; rank++) {
                double left[49], right[49], a[49] = {0}, copy[49], rhs[7], held[7], x[7];
                for (size_t i = 0; i < 49; i++) {
                    left[i] = rg_random_normal(&random);
                    right[i] = rg_random_normal(&random);
                }
                for (size_t j = 0; j < n; j++)
                    for (size_t i = 0; i < m; i++)
                        for (size_t k = 0; k < rank; k++)
                            a[j * m + i] += left[i * 7 + k] * right[k * 7 + j];
                for (size_t i = 0; i < m; i++)
                    rhs[i] = held[i] = rg_random_normal(&random);
                memcpy(copy, a, sizeof a);
                rg_qr qr;
                assert_int_equal(rg_qr_make(context, m, n, copy, 1e-10, &qr, NULL), RG_OK);
                assert_int_equal(qr.rank, rank);
                rg_qr_solve(&qr, rhs, x);
                for (size_t i = 0; i < m; i++)
                    for (size_t j = 0; j < n; j++)
                        held[i] -= a[j * m + i] * x[j];
                for (size_t j = 0; j < n; j++) { /* the rest is orthogonal to every column */
                    double dot = 0;
                    for (size_t i = 0; i < m; i++)
                        dot += a[j * m + i] * held[i];
                    assert_near(dot, 0, 1e-9);
                }
                assert_int_equal(rg_qr_null_space(context, &qr, NULL), RG_OK);
                for (size_t k = 0; k < n - rank; k++) {
                    double length = 0;
                    for (size_t j = 0; j < n; j++)
                        length = fmax(length, fabs(qr.null[k * n + j]));
                    assert_true(length >= 1);
                    for (size_t i = 0; i < m; i++) {
                        double sum = 0;
                        for (size_t j = 0; j < n; j++)
                            sum += a[j * m + i] * qr.null[k * n + j];
                        assert_near(sum, 0, 1e-9 * length);
                    }
                }
            }
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_textbook), cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_random),   cmocka_unit_test(test_limit),
        cmocka_unit_test(test_qr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
