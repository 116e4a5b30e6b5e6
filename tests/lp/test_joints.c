/* Joints that contradict each other: the least violation, by both norms. */
#include "lp_support.h"

static const uint8_t all_free[] = {RG_ROW_FREE, RG_ROW_FREE, RG_ROW_FREE, RG_ROW_FREE,
                                   RG_ROW_FREE, RG_ROW_FREE, RG_ROW_FREE, RG_ROW_FREE};

static double relax(const rg_problem *problem, rg_joint_norm norm, double *force,
                    double *violation) {
    rg_solve_context *context = make_context();
    rg_error error;
    double size;
    if (rg_joint_relax(context, problem, norm, force, violation, &size, &error))
        fail_msg("%s", error.text);
    rg_solve_context_destroy(context);
    return size;
}

/* Three sensors of one acceleration: a body of 1 kg welded to things that move at 1, 2 and 7.
 * The sum is least at the median, the squares at the mean. */
static void test_median_and_mean(void **state) {
    (void)state;
    const double matrix[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (double unit = 1e-6; unit < 1e7; unit *= 1e6) {
        const double b[] = {-1 * unit, -2 * unit, -7 * unit};
        double force[3], violation[3];
        rg_problem problem = rg_problem_linear(3, matrix, b);
        problem.linear.kinds = all_free;
        assert_near(relax(&problem, RG_NORM_ONE, force, violation), 6 * unit, 1e-13 * unit);
        assert_near(force[0] + force[1] + force[2], 2 * unit, 1e-13 * unit);
        assert_near(violation[0], 1 * unit, 1e-13 * unit);
        assert_near(violation[1], 0, 1e-13 * unit);
        assert_near(violation[2], -5 * unit, 1e-13 * unit);
        assert_near(relax(&problem, RG_NORM_TWO, force, violation), sqrt(186.0 / 9) * unit,
                    1e-13 * unit);
        assert_near(violation[0], (10.0 / 3 - 1) * unit, 1e-13 * unit);
    }
}

/* Two welds that want to hold a planar body (three rows each: x, z, turn) in different motions,
 * with levers; the least sum by brute force over the accelerations of the body. The minimum of a
 * sum of absolute values over 3 numbers lies where three of its terms vanish: all 20 choices are
 * tried. */
static void test_two_welds(void **state) {
    (void)state;
    rg_random random = rg_random_make(26);
    for (int trial = 0; trial < 200; trial++) {
        const double mass[3] = {2, 2, 0.3};
        double j[6][3] = {{0}}, matrix[36], b[6], force[6], violation[6];
        for (int w = 0; w < 2; w++) {
            double rx = rg_random_normal(&random), rz = rg_random_normal(&random);
            j[3 * w][0] = 1, j[3 * w][2] = -rz;
            j[3 * w + 1][1] = 1, j[3 * w + 1][2] = rx;
            j[3 * w + 2][2] = 1;
        }
        for (int i = 0; i < 6; i++)
            b[i] = rg_random_normal(&random);
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++)
                matrix[i * 6 + k] = j[i][0] * j[k][0] / mass[0] + j[i][1] * j[k][1] / mass[1] +
                                    j[i][2] * j[k][2] / mass[2];
        rg_problem problem = rg_problem_linear(6, matrix, b);
        problem.linear.kinds = all_free;
        double size = relax(&problem, RG_NORM_ONE, force, violation), best = INFINITY, sum = 0;
        for (int p = 0; p < 6; p++)
            for (int q = 0; q < p; q++)
                for (int r = 0; r < q; r++) {
                    double system[9], x[3] = {-b[p], -b[q], -b[r]}, total = 0;
                    memcpy(system, j[p], sizeof j[p]);
                    memcpy(system + 3, j[q], sizeof j[q]);
                    memcpy(system + 6, j[r], sizeof j[r]);
                    if (!gauss(3, system, x))
                        continue;
                    for (int i = 0; i < 6; i++)
                        total += fabs(j[i][0] * x[0] + j[i][1] * x[1] + j[i][2] * x[2] + b[i]);
                    best = fmin(best, total);
                }
        assert_near(size, best, 1e-11 * best);
        double a[6];
        for (int i = 0; i < 6; i++) {
            a[i] = b[i];
            for (int k = 0; k < 6; k++)
                a[i] += matrix[i * 6 + k] * force[k];
            assert_near(a[i], violation[i], 1e-11);
            sum += fabs(violation[i]);
        }
        assert_near(sum, size, 1e-12 * sum);
        /* Least squares: the violation is orthogonal to what forces can do. */
        double squares = relax(&problem, RG_NORM_TWO, force, violation), length = 0;
        for (int i = 0; i < 6; i++) {
            double along = 0;
            for (int k = 0; k < 6; k++)
                along += matrix[i * 6 + k] * violation[k];
            assert_near(along, 0, 1e-11);
            length += violation[i] * violation[i];
        }
        assert_near(squares, sqrt(length), 1e-12 * squares);
        assert_true(squares <= size * (1 + 1e-12) && size <= sqrt(6) * squares * (1 + 1e-12));
    }
}

/* Joints that agree, although there are more than needed: no violation. */
static void test_redundant(void **state) {
    (void)state;
    const double matrix[] = {1, 1, 1, 1}, b[] = {3, 3};
    double force[2], violation[2];
    rg_problem problem = rg_problem_linear(2, matrix, b);
    problem.linear.kinds = all_free;
    for (int norm = 0; norm < 2; norm++) {
        assert_near(relax(&problem, (rg_joint_norm)norm, force, violation), 0, 0);
        assert_near(force[0] + force[1], -3, 1e-14);
        assert_near(violation[0], 0, 0);
    }
}

/* Contacts have no part in it, wherever their rows stand: a point of 1 kg in a plane that three
 * rods along x move at 1, 2 and 7, and a contact along a diagonal. */
static void test_contact_anywhere(void **state) {
    (void)state;
    const double along[4][2] = {{1, 0}, {1, 0}, {1, 0}, {0.6, 0.8}}, at[4] = {-1, -2, -7, 5};
    for (int place = 0; place < 4; place++) {
        double matrix[16], b[4], force[4], violation[4];
        uint8_t kinds[4];
        int row[4];
        for (int i = 0, rod = 0; i < 4; i++)
            row[i] = i == place ? 3 : rod++;
        for (int i = 0; i < 4; i++) {
            kinds[i] = i == place ? RG_ROW_UNILATERAL : RG_ROW_FREE;
            b[i] = at[row[i]];
            for (int k = 0; k < 4; k++)
                matrix[4 * i + k] =
                    along[row[i]][0] * along[row[k]][0] + along[row[i]][1] * along[row[k]][1];
        }
        rg_problem problem = rg_problem_linear(4, matrix, b);
        problem.linear.kinds = kinds;
        for (int norm = 0; norm < 2; norm++) {
            double size = relax(&problem, (rg_joint_norm)norm, force, violation), sum = 0;
            assert_near(size, norm == RG_NORM_ONE ? 6 : sqrt(186.0 / 9), 1e-13);
            for (int i = 0; i < 4; i++)
                sum += i == place ? 0 : force[i];
            assert_near(sum, norm == RG_NORM_ONE ? 2 : 10.0 / 3, 1e-13);
        }
    }
}

/* Contradictory joints on a body that also rests on a contact: the solver proves that there is
 * no answer, gives the joints' least violation, and contact forces that fit beside it. */
static void test_with_contact(void **state) {
    (void)state;
    /* Planar point of 1 kg: joints want x-acceleration 1 and 2; a contact holds it from below. */
    const double matrix[] = {1, 1, 0, 1, 1, 0, 0, 0, 1}, b[] = {-1, -2, -9.81};
    const uint8_t kinds[] = {RG_ROW_FREE, RG_ROW_FREE, RG_ROW_UNILATERAL};
    rg_problem problem = rg_problem_linear(3, matrix, b);
    problem.linear.kinds = kinds;
    rg_solve_context *context = make_context();
    double force[3], velocity[3], ray[3];
    rg_solution solution = {force, velocity, ray};
    rg_lp_details details = {0};
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
    assert_int_equal(details.report.outcome, RG_SOLVE_INFEASIBLE);
    assert_non_null(strstr(details.report.text, "contradict"));
    assert_near(details.violation, 1, 1e-14);
    assert_near(fabs(velocity[0]) + fabs(velocity[1]), 1, 1e-14);
    assert_near(force[2], 9.81, 1e-14);
    assert_near(velocity[2], 0, 1e-14);
    assert_near(ray[0] + ray[1], 0, 1e-13); /* moves nothing, and b.y < 0 */
    assert_true(b[0] * ray[0] + b[1] * ray[1] < 0);
    /* What is left after subtracting it can be solved. */
    double violation[3], rest[3], size;
    assert_int_equal(rg_joint_relax(context, &problem, RG_NORM_TWO, NULL, violation, &size, NULL),
                     RG_OK);
    assert_near(size, sqrt(0.5), 1e-14);
    for (int i = 0; i < 3; i++)
        rest[i] = b[i] - violation[i];
    problem.linear.b = rest;
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
    assert_int_equal(details.report.outcome, RG_SOLVED);
    assert_near(force[0] + force[1], 1.5, 1e-14);
    rg_solve_context_destroy(context);
}

static void test_refusals(void **state) {
    (void)state;
    const double matrix[] = {1}, b[] = {-1}, lower[] = {-1}, upper[] = {1};
    const uint8_t kinds[] = {RG_ROW_BOUNDED};
    rg_problem problem = rg_problem_linear(1, matrix, b);
    problem.linear.kinds = kinds, problem.linear.lower = lower, problem.linear.upper = upper;
    rg_solve_context *context = make_context();
    double violation[1], size;
    rg_error error;
    assert_int_equal(rg_joint_relax(context, &problem, RG_NORM_ONE, NULL, violation, &size, &error),
                     RG_UNSUPPORTED);
    assert_non_null(strstr(error.text, "row 0 is bounded"));
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_and_mean), cmocka_unit_test(test_two_welds),
        cmocka_unit_test(test_redundant),       cmocka_unit_test(test_contact_anywhere),
        cmocka_unit_test(test_with_contact),    cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
