/* Small products of contacts: both versions bit for bit, and against sums in long double. */
#include "test_support.h"

#include "rigor/random.h"
#include "solve/solve_kernel.h"

#include <float.h>
#include <math.h>

enum { ROWS = 3, FREEDOM = 6, TRIALS = 500 };
/* Relative to the sum of the sizes of what is added; some ten roundings each. */
#define TOLERANCE (20 * DBL_EPSILON)

typedef struct sums {
    double diagonal[FREEDOM * FREEDOM], half[FREEDOM * FREEDOM];
} sums;

static void draw(rg_random *random, size_t count, double *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = rg_random_normal(random) * pow(10, rg_random_between(random, -3, 3));
}

/* sum[i][j] + sum over k, m of left[k][i] middle[k][m] right[m][j] */
static void check_product(const double *before, const double *left, const double *middle,
                          const double *right, const double *after) {
    for (size_t i = 0; i < FREEDOM; i++)
        for (size_t j = 0; j < FREEDOM; j++) {
            long double sum = before[i * FREEDOM + j], size = fabsl(sum);
            for (size_t k = 0; k < ROWS; k++)
                for (size_t m = 0; m < ROWS; m++) {
                    long double term = (long double)left[k * FREEDOM + i] * middle[k * ROWS + m] *
                                       right[m * FREEDOM + j];
                    sum += term;
                    size += fabsl(term);
                }
            assert_true(fabsl(after[i * FREEDOM + j] - sum) <= TOLERANCE * size);
        }
}

static void test_sides(void **state) {
    (void)state;
    rg_random random = rg_random_make(1);
    for (int trial = 0; trial < TRIALS; trial++) {
        double middle[ROWS * ROWS], own[ROWS * FREEDOM], other[ROWS * FREEDOM];
        sums before, plain, best, any;
        draw(&random, ROWS * ROWS, middle);
        draw(&random, ROWS * FREEDOM, own);
        draw(&random, ROWS * FREEDOM, other);
        draw(&random, FREEDOM * FREEDOM, before.diagonal);
        draw(&random, FREEDOM * FREEDOM, before.half);
        plain = best = any = before;
        bool both = trial % 2 == 0;
        rg_solve_kernel_plain()->add_side(
            &(rg_kernel_side){middle, own, other, plain.diagonal, both ? plain.half : NULL});
        rg_solve_kernel_best()->add_side(
            &(rg_kernel_side){middle, own, other, best.diagonal, both ? best.half : NULL});
        rg_kernel_add_any(
            ROWS, FREEDOM,
            &(rg_kernel_side){middle, own, other, any.diagonal, both ? any.half : NULL});
        assert_memory_equal(&plain, &best, sizeof plain);
        assert_memory_equal(&plain, &any, sizeof plain);
        check_product(before.diagonal, own, middle, own, plain.diagonal);
        if (both)
            check_product(before.half, other, middle, own, plain.half);
        else
            assert_memory_equal(before.half, plain.half, sizeof before.half);
    }
}

/* A contact that names one body twice adds all four products to its diagonal. */
static void test_same_body(void **state) {
    (void)state;
    rg_random random = rg_random_make(2);
    double middle[ROWS * ROWS], own[ROWS * FREEDOM], other[ROWS * FREEDOM],
        one[36] = {0}, two[36] = {0}, apart[36] = {0};
    draw(&random, ROWS * ROWS, middle);
    draw(&random, ROWS * FREEDOM, own);
    draw(&random, ROWS * FREEDOM, other);
    rg_solve_kernel_plain()->add_side(&(rg_kernel_side){middle, own, other, one, one});
    rg_solve_kernel_best()->add_side(&(rg_kernel_side){middle, own, other, two, two});
    assert_memory_equal(one, two, sizeof one);
    rg_solve_kernel_plain()->add_side(&(rg_kernel_side){middle, own, other, apart, NULL});
    check_product(apart, other, middle, own, one);
}

static void test_diagonals(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    for (int trial = 0; trial < TRIALS; trial++) {
        double jacobian[ROWS * FREEDOM], inverse[FREEDOM * FREEDOM] = {0}, before[ROWS * ROWS],
                                                           plain[ROWS * ROWS], best[ROWS * ROWS],
                                                           turning[9];
        draw(&random, ROWS * FREEDOM, jacobian);
        draw(&random, ROWS * ROWS, before);
        draw(&random, 9, turning);
        for (size_t i = 0; i < 3; i++) {
            draw(&random, 1, &inverse[7 * i]);
            memcpy(inverse + 21 + 6 * i, turning + 3 * i, 3 * sizeof *inverse);
        }
        memcpy(plain, before, sizeof plain);
        memcpy(best, before, sizeof best);
        rg_solve_kernel_plain()->add_diagonal(jacobian, inverse, plain);
        rg_solve_kernel_best()->add_diagonal(jacobian, inverse, best);
        assert_memory_equal(plain, best, sizeof plain);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++) {
                long double sum = before[i * ROWS + j], size = fabsl(sum);
                for (size_t k = 0; k < FREEDOM; k++)
                    for (size_t m = 0; m < FREEDOM; m++) {
                        long double term = (long double)jacobian[i * FREEDOM + k] *
                                           inverse[k * FREEDOM + m] * jacobian[j * FREEDOM + m];
                        sum += term;
                        size += fabsl(term);
                    }
                assert_true(fabsl(plain[i * ROWS + j] - sum) <= TOLERANCE * size);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_same_body),
        cmocka_unit_test(test_diagonals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
