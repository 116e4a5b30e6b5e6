/* The least and the most force of every row over all solutions with the same motion. */
#include "lp_support.h"
#include "solve_families.h"

static void check_range(rg_force_range range, double least, double most, double tolerance) {
    if (isinf(least))
        assert_true(range.least == least);
    else
        assert_near(range.least, least, tolerance);
    if (isinf(most))
        assert_true(range.most == most);
    else
        assert_near(range.most, most, tolerance);
}

static void find(const rg_problem *problem, const double *force, rg_force_range *ranges) {
    rg_solve_context *context = make_context();
    rg_error error;
    if (rg_force_ranges(context, problem, force, ranges, &error))
        fail_msg("%s", error.text);
    rg_solve_context_destroy(context);
}

/* A table of mass 10 on legs at (+-1, +-0.5), its weight at (p, q) from the middle. Forces are
 * f_i = mg/4 (1 + x_i p / 1 + y_i q / 0.25) + t (+1, -1, +1, -1): t may fall and rise until a
 * leg is empty. */
static void test_four_legs(void **state) {
    (void)state;
    const double x[] = {-1, 1, 1, -1}, y[] = {-0.5, -0.5, 0.5, 0.5}, sign[] = {1, -1, 1, -1};
    const double weight[][2] = {{0, 0}, {0.3, 0}, {0.2, -0.1}, {0.6, 0.15}};
    for (size_t c = 0; c < 4; c++)
        for (double unit = 1e-6; unit < 1e7; unit *= 1e6) {
            double matrix[16], b[4], base[4], force[4], low = -INFINITY, high = INFINITY;
            double p = weight[c][0], q = weight[c][1], mass = 10 * unit;
            for (int i = 0; i < 4; i++) {
                base[i] = mass * 9.81 / 4 * (1 + x[i] * p + y[i] * q / 0.25);
                if (sign[i] > 0)
                    low = fmax(low, -base[i]);
                else
                    high = fmin(high, base[i]);
                b[i] = -9.81;
                for (int j = 0; j < 4; j++)
                    matrix[i * 4 + j] =
                        (1 + (x[i] - p) * (x[j] - p) / 0.7 + (y[i] - q) * (y[j] - q) / 0.4) / mass;
            }
            for (int i = 0; i < 4; i++)
                force[i] = base[i] + sign[i] * (0.3 * low + 0.7 * high);
            rg_problem problem = rg_problem_linear(4, matrix, b);
            rg_force_range ranges[4];
            find(&problem, force, ranges);
            for (int i = 0; i < 4; i++)
                check_range(ranges[i], base[i] + (sign[i] > 0 ? low : -high),
                            base[i] + (sign[i] > 0 ? high : -low), 1e-12 * mass * 9.81);
        }
}

/* Three legs: determined. Two bricks of which the upper leaves: determined, and 0 where it
 * opens. */
static void test_determined(void **state) {
    (void)state;
    stack s;
    make_stack(&s, (double[]){0, 1.1}, 2);
    double f[4], a[4];
    assert_true(enumerate_lcp(4, s.matrix, s.b, f, a));
    rg_problem problem = rg_problem_linear(4, s.matrix, s.b);
    rg_force_range ranges[4];
    find(&problem, f, ranges);
    for (int i = 0; i < 4; i++)
        check_range(ranges[i], f[i], f[i], 0);
}

/* A body between two walls that it exactly fits: the squeeze has no upper end. With a weight on
 * it and a joint in the place of one wall the joint's force has none at either end. */
static void test_unbounded(void **state) {
    (void)state;
    double matrix[] = {1, -1, -1, 1}, b[] = {-2, 2}, force[] = {2, 0};
    rg_problem problem = rg_problem_linear(2, matrix, b);
    rg_force_range ranges[2];
    find(&problem, force, ranges);
    check_range(ranges[0], 2, INFINITY, 1e-14);
    check_range(ranges[1], 0, INFINITY, 0);
    uint8_t kinds[] = {RG_ROW_FREE, RG_ROW_FREE};
    problem.linear.kinds = kinds;
    find(&problem, force, ranges);
    check_range(ranges[0], -INFINITY, INFINITY, 0);
    check_range(ranges[1], -INFINITY, INFINITY, 0);
    /* Bounds end it: |f_1| <= 5 leaves f_0 = 2 + f_1 in [-3, 7]. */
    double lower[] = {-10, -5}, upper[] = {10, 5};
    kinds[0] = kinds[1] = RG_ROW_BOUNDED;
    problem.linear.lower = lower, problem.linear.upper = upper;
    find(&problem, force, ranges);
    check_range(ranges[0], -3, 7, 1e-13);
    check_range(ranges[1], -5, 5, 1e-13);
}

/* A block held between two rough walls (planar contacts): normal forces N both sides, friction
 * T_0 + T_1 = m g, |T_i| <= mu N. The squeeze N starts at mg / (2 mu) and has no end; with one
 * wall fixed to push with P at most (a bounded row in its place) T_i lies in mg/2 -+ (mu P -
 * mg/2). */
static void test_friction(void **state) {
    (void)state;
    const double mu = 0.5, weight = 9.81, limit = 15;
    /* rows: N0, T0, N1, T1; point mass: N0 pushes +x, N1 -x, both T push up; turning is left
     * out. */
    const double j[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, 1}};
    double matrix[16], b[4] = {0, -weight, 0, -weight}, mus[4] = {0, mu, 0, mu};
    uint8_t kinds[4] = {RG_ROW_UNILATERAL, RG_ROW_STATIC, RG_ROW_UNILATERAL, RG_ROW_STATIC};
    uint32_t normal[4] = {0, 0, 0, 2};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            matrix[i * 4 + k] = j[i][0] * j[k][0] + j[i][1] * j[k][1];
    double force[4] = {12, 5, 12, weight - 5};
    rg_problem problem = rg_problem_linear(4, matrix, b);
    problem.linear.kinds = kinds, problem.linear.normal = normal, problem.linear.mu = mus;
    rg_force_range ranges[4];
    find(&problem, force, ranges);
    check_range(ranges[0], weight / (2 * mu), INFINITY, 1e-12);
    check_range(ranges[1], -INFINITY, INFINITY, 0);
    check_range(ranges[3], -INFINITY, INFINITY, 0);

    /* The same as planar contacts in local form with a joint that may push the right wall: here
     * only to see that the conversion gives the same. */
    rg_problem contact = {.kind = RG_PROBLEM_CONTACT,
                          .contact = {.dimension = 2,
                                      .contacts = 2,
                                      .mu = (double[]){mu, mu},
                                      .form = RG_FORM_LOCAL,
                                      .w = {.rows = 4, .columns = 4, .dense = matrix},
                                      .q = b}};
    rg_force_range same[4];
    find(&contact, force, same);
    for (int i = 0; i < 4; i++)
        check_range(same[i], ranges[i].least, ranges[i].most, 1e-12);

    /* The right wall pushes with `limit` at most. */
    double lower[4] = {0}, upper[4] = {0, 0, limit, 0};
    kinds[2] = RG_ROW_BOUNDED, kinds[3] = RG_ROW_FREE;
    problem.linear.lower = lower, problem.linear.upper = upper;
    find(&problem, force, ranges);
    check_range(ranges[0], 0, limit, 1e-12);
    check_range(ranges[2], 0, limit, 1e-12);
    check_range(ranges[1], -mu * limit, mu * limit, 1e-12);
    check_range(ranges[3], weight - mu * limit, weight + mu * limit, 1e-12);
}

/* A sliding table: two legs in the plane, doubled. Friction follows its normal force. */
static void test_slipping(void **state) {
    (void)state;
    const double mu = 0.3, g = 9.81;
    /* Point mass on two contacts at the same place, sliding to +x: N0, T0, N1, T1. */
    const double j[4][2] = {{0, 1}, {1, 0}, {0, 1}, {1, 0}};
    double matrix[16], b[4] = {-g, 5, -g, 5}, mus[4] = {0, mu, 0, mu};
    uint8_t kinds[4] = {RG_ROW_UNILATERAL, RG_ROW_STATIC, RG_ROW_UNILATERAL, RG_ROW_STATIC};
    uint32_t normal[4] = {0, 0, 0, 2};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            matrix[i * 4 + k] = j[i][0] * j[k][0] + j[i][1] * j[k][1];
    double force[4] = {0.25 * g, -0.25 * mu * g, 0.75 * g, -0.75 * mu * g};
    rg_problem problem = rg_problem_linear(4, matrix, b);
    problem.linear.kinds = kinds, problem.linear.normal = normal, problem.linear.mu = mus;
    rg_force_range ranges[4];
    find(&problem, force, ranges);
    for (int i = 0; i < 4; i++)
        if (i % 2)
            check_range(ranges[i], -mu * g, 0, 1e-13);
        else
            check_range(ranges[i], 0, g, 1e-13);
    kinds[1] = kinds[3] = RG_ROW_DYNAMIC;
    mus[1] = mus[3] = -mu;
    find(&problem, force, ranges);
    check_range(ranges[1], -mu * g, 0, 1e-13);
}

/* Random singular problems: samples of other solutions lie in the ranges, and the ends are
 * reached: each is the force of a solution that differs from the given one by a vector of the
 * null space. */
static void test_random(void **state) {
    (void)state;
    rg_random random = rg_random_make(8);
    rg_solve_context *context = make_context();
    for (int trial = 0; trial < 300; trial++) {
        enum { ROWS = 6, FREEDOM = 3 };
        double j[ROWS][FREEDOM], matrix[ROWS * ROWS], b[ROWS], force[ROWS], pushed[FREEDOM] = {0};
        for (int i = 0; i < ROWS; i++) {
            force[i] = rg_random_unit(&random);
            for (int k = 0; k < FREEDOM; k++) {
                j[i][k] = k == 2 ? 1 + rg_random_unit(&random) : rg_random_normal(&random);
                pushed[k] += j[i][k] * force[i];
            }
        }
        for (int i = 0; i < ROWS; i++) {
            b[i] = 0; /* at rest with those forces */
            for (int k = 0; k < FREEDOM; k++)
                b[i] -= j[i][k] * pushed[k];
            for (int k = 0; k < ROWS; k++)
                matrix[i * ROWS + k] = j[i][0] * j[k][0] + j[i][1] * j[k][1] + j[i][2] * j[k][2];
        }
        rg_problem problem = rg_problem_linear(ROWS, matrix, b);
        rg_force_range ranges[ROWS];
        assert_int_equal(rg_force_ranges(context, &problem, force, ranges, NULL), RG_OK);
        /* All corners {f >= 0, J'f = pushed}: three rows carry, the others nothing. */
        double least[ROWS], most[ROWS];
        for (int i = 0; i < ROWS; i++)
            least[i] = INFINITY, most[i] = -INFINITY;
        for (int p = 0; p < ROWS; p++)
            for (int q = 0; q < p; q++)
                for (int r = 0; r < q; r++) {
                    int rows[3] = {p, q, r};
                    double system[9], f[3];
                    for (int k = 0; k < 3; k++) {
                        f[k] = pushed[k];
                        for (int c = 0; c < 3; c++)
                            system[k * 3 + c] = j[rows[c]][k];
                    }
                    if (!gauss(3, system, f) || f[0] < -1e-12 || f[1] < -1e-12 || f[2] < -1e-12)
                        continue;
                    for (int i = 0; i < ROWS; i++) {
                        double value = i == p ? f[0] : i == q ? f[1] : i == r ? f[2] : 0;
                        least[i] = fmin(least[i], value);
                        most[i] = fmax(most[i], value);
                    }
                }
        for (int i = 0; i < ROWS; i++)
            check_range(ranges[i], fmax(least[i], 0), most[i], 1e-9);
    }
    rg_solve_context_destroy(context);
}

/* A tower of equal boxes, four contacts a face: in every face forces may change by t (+1, -1,
 * +1, -1) until a corner is empty, whatever the other faces do. A last face of two corners is
 * determined. */
static void test_tower(void **state) {
    (void)state;
    enum { ROWS = 82 };
    solve_family *family = family_make(FAMILY_STACK, ROWS, 0, 0);
    const rg_problem *problem = family_linear(family);
    rg_solve_context *context = make_context();
    double force[ROWS];
    rg_solution solution = {.force = force};
    rg_solve_info info;
    rg_force_range ranges[ROWS];
    assert_int_equal(rg_solve(context, rg_solver_lp(), problem, NULL, &solution, &info, NULL),
                     RG_OK);
    assert_int_equal(info.outcome, RG_SOLVED);
    assert_int_equal(rg_force_ranges(context, problem, force, ranges, NULL), RG_OK);
    for (size_t i = 0; i < ROWS; i++) {
        const double *face = force + i / 4 * 4;
        if (i >= ROWS - 2) {
            check_range(ranges[i], force[i], force[i], 0);
            continue;
        }
        double same = fmin(face[i % 2], face[i % 2 + 2]);
        double opposite = fmin(face[1 - i % 2], face[3 - i % 2]);
        assert_true(same + opposite > 1);
        check_range(ranges[i], force[i] - same, force[i] + opposite, 1e-10);
    }
    rg_solve_context_destroy(context);
    family_free(family);
}

static void test_refusals(void **state) {
    (void)state;
    double matrix[] = {1}, b[] = {-1}, force[] = {2};
    rg_problem problem = rg_problem_linear(1, matrix, b);
    rg_force_range range;
    rg_error error;
    rg_solve_context *context = make_context();
    assert_int_equal(rg_force_ranges(context, &problem, force, &range, &error),
                     RG_INVALID_ARGUMENT);
    assert_non_null(strstr(error.text, "not a solution"));
    double w[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 0, 0}, mu[1] = {0.5}, r[3] = {1, 0, 0};
    rg_problem contact = {.kind = RG_PROBLEM_CONTACT,
                          .contact = {.dimension = 3,
                                      .contacts = 1,
                                      .mu = mu,
                                      .form = RG_FORM_LOCAL,
                                      .w = {.rows = 3, .columns = 3, .dense = w},
                                      .q = q}};
    assert_int_equal(rg_force_ranges(context, &contact, r, &range, &error), RG_UNSUPPORTED);
    mu[0] = 0; /* without friction it is taken */
    rg_force_range ranges[3];
    assert_int_equal(rg_force_ranges(context, &contact, r, ranges, &error), RG_OK);
    check_range(ranges[0], 1, 1, 0);
    check_range(ranges[1], 0, 0, 0);
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_legs), cmocka_unit_test(test_determined),
        cmocka_unit_test(test_unbounded), cmocka_unit_test(test_friction),
        cmocka_unit_test(test_slipping),  cmocka_unit_test(test_random),
        cmocka_unit_test(test_tower),     cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
