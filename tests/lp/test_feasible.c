/* Are there forces at all, and does the proof hold where there are none? */
#include "lp_support.h"

/* A body of 1 kg between two walls, pressed by nothing; rows of left and right contact. */
static const double squeeze_matrix[] = {1, -1, -1, 1};

/* Of A'y, relative to its largest term. */
#define PROOF 1e-11

/* y >= 0, A'y <= 0, b.y < 0, checked here and not by what made it. */
static void check_certificate(size_t n, const double *matrix, const double *b,
                              const uint8_t *free_rows, const double *y, double scale) {
    double product = 0;
    for (size_t i = 0; i < n; i++) {
        double column = 0, size = 0;
        for (size_t j = 0; j < n; j++) {
            column += matrix[j * n + i] * y[j];
            size = fmax(size, fabs(matrix[j * n + i] * y[j]));
        }
        if (free_rows && free_rows[i])
            assert_near(column, 0, PROOF * size);
        else {
            assert_true(column <= PROOF * size);
            assert_true(y[i] >= 0);
        }
        product += b[i] * y[i];
    }
    assert_true(product < -1e-9 * scale);
}

/* Walls that close (b = -1 on both sides) cannot be met; one that yields as fast as the other
 * comes can. */
static void test_closing_walls(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    for (double unit = 1e-6; unit < 1e7; unit *= 1e6) {
        double b[] = {-unit, -unit}, y[2], force[2] = {-1, -1};
        rg_problem problem = rg_problem_linear(2, squeeze_matrix, b);
        rg_feasibility feasibility;
        assert_int_equal(rg_lp_feasible(context, &problem, force, y, &feasibility, NULL), RG_OK);
        assert_false(feasibility.feasible);
        assert_near(feasibility.margin, 2, 1e-12);
        check_certificate(2, squeeze_matrix, b, NULL, y, unit);
        b[1] = unit;
        assert_int_equal(rg_lp_feasible(context, &problem, force, y, &feasibility, NULL), RG_OK);
        assert_true(feasibility.feasible);
        assert_true(force[0] >= 0 && force[1] >= 0);
        assert_true(force[0] - force[1] + b[0] >= -1e-8 * unit);
        assert_true(force[1] - force[0] + b[1] >= -1e-8 * unit);
    }
    /* The solver says so, with the proof. */
    double b[] = {-1, -1}, force[2], ray[2];
    rg_problem problem = rg_problem_linear(2, squeeze_matrix, b);
    rg_solution solution = {.force = force, .ray = ray};
    rg_solve_info info;
    assert_int_equal(rg_solve(context, rg_solver_lp(), &problem, NULL, &solution, &info, NULL),
                     RG_OK);
    assert_int_equal(info.outcome, RG_SOLVE_INFEASIBLE);
    check_certificate(2, squeeze_matrix, b, NULL, ray, 1);
    assert_non_null(strstr(info.text, "squeezes"));
    rg_solve_context_destroy(context);
}

/* Random bodies between contacts, A = J J' singular: without prescribed motion (b in the range
 * of J) there are always forces; with it there may be none. Whatever is said must be proved. */
static void test_random(void **state) {
    (void)state;
    rg_random random = rg_random_make(12);
    rg_solve_context *context = make_context();
    size_t infeasible = 0;
    for (int trial = 0; trial < 2000; trial++) {
        enum { ROWS = 7, FREEDOM = 3 };
        double j[ROWS][FREEDOM], matrix[ROWS * ROWS], b[ROWS], y[ROWS], force[ROWS],
            motion[FREEDOM];
        uint8_t kinds[ROWS], free_rows[ROWS];
        bool prescribed = trial % 2;
        for (int k = 0; k < FREEDOM; k++)
            motion[k] = rg_random_normal(&random);
        for (int i = 0; i < ROWS; i++) {
            free_rows[i] = i < 2 && trial % 3 == 0;
            kinds[i] = free_rows[i] ? RG_ROW_FREE : RG_ROW_UNILATERAL;
            b[i] = 0;
            for (int k = 0; k < FREEDOM; k++) {
                j[i][k] = rg_random_normal(&random);
                b[i] += j[i][k] * motion[k];
            }
            if (prescribed)
                b[i] += rg_random_normal(&random);
        }
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < ROWS; k++)
                matrix[i * ROWS + k] = j[i][0] * j[k][0] + j[i][1] * j[k][1] + j[i][2] * j[k][2];
        rg_problem problem = rg_problem_linear(ROWS, matrix, b);
        problem.linear.kinds = kinds;
        rg_feasibility feasibility;
        assert_int_equal(rg_lp_feasible(context, &problem, force, y, &feasibility, NULL), RG_OK);
        if (!prescribed)
            assert_true(feasibility.feasible);
        if (!feasibility.feasible) {
            infeasible++;
            check_certificate(ROWS, matrix, b, free_rows, y, 1);
            continue;
        }
        for (int i = 0; i < ROWS; i++) {
            double a = b[i], size = fabs(b[i]);
            for (int k = 0; k < ROWS; k++) {
                a += matrix[i * ROWS + k] * force[k];
                size = fmax(size, fabs(matrix[i * ROWS + k] * force[k]));
            }
            assert_true(free_rows[i] ? fabs(a) <= 1e-7 * size : a >= -1e-7 * size);
            assert_true(free_rows[i] || force[i] >= 0);
        }
    }
    rg_solve_context_destroy(context);
    printf("1000 problems with prescribed motion: %zu without forces, each proved\n", infeasible);
    assert_true(infeasible > 100);
}

/* Contacts in the form that a simulation has, global and without friction: the same squeeze. */
static void test_contact_form(void **state) {
    (void)state;
    const double mass[] = {2, 0, 0, 0, 2, 0, 0, 0, 0.5}, free_velocity[3] = {0};
    const uint32_t blocks[] = {0, RG_NO_BLOCK, 0, RG_NO_BLOCK};
    /* contacts x 2 blocks x 2 rows (N, T) x 3 */
    double jacobian[2 * 2 * 2 * 3] = {0}, q[] = {-1, 0, -1, 0};
    jacobian[0] = 1, jacobian[4] = 1;
    jacobian[12] = -1, jacobian[16] = 1;
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT,
                          .contact = {.dimension = 2,
                                      .contacts = 2,
                                      .form = RG_FORM_GLOBAL,
                                      .q = q,
                                      .global = {.blocks = 1,
                                                 .freedom = 3,
                                                 .mass = mass,
                                                 .free_velocity = free_velocity,
                                                 .contact_blocks = blocks,
                                                 .contact_jacobian = jacobian}}};
    rg_solve_context *context = make_context();
    rg_feasibility feasibility;
    rg_error error;
    double force[4], y[4];
    if (rg_lp_feasible(context, &problem, force, y, &feasibility, &error))
        fail_msg("%s", error.text);
    assert_false(feasibility.feasible);
    assert_near(y[0], y[2], 1e-12);
    assert_true(y[0] > 0);
    assert_near(y[1], 0, 0);
    q[2] = 1.5;
    assert_int_equal(rg_lp_feasible(context, &problem, force, y, &feasibility, &error), RG_OK);
    assert_true(feasibility.feasible);
    assert_true(force[0] - force[2] >= 2 - 1e-9); /* pushed away from the wall that comes */

    double mu[] = {0.5,
                   0.5}; /* planar friction: converted, but its rows are no rows of this program */
    problem.contact.mu = mu;
    assert_int_equal(rg_lp_feasible(context, &problem, force, y, &feasibility, &error),
                     RG_UNSUPPORTED);
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closing_walls),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_contact_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
