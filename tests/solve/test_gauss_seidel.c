/* Gauss-Seidel: closed forms, the three forms of one problem, every kind of row, warm starts; what
 * it does when it cannot. */
#include "test_support.h"

#include "rigor/solver.h"
#include "solve/solve.h"
#include "solve_families.h"

#include <stdio.h>

static rg_solve_context *context;

static int set_up(void **state) {
    (void)state;
    return rg_solve_context_create(NULL, &context) == RG_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    rg_solve_context_destroy(context);
    return 0;
}

static rg_solve_info run(const rg_problem *problem, double tolerance, uint32_t limit, bool warm,
                         double *force) {
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = tolerance;
    settings.iteration_limit = limit;
    settings.warm = warm;
    rg_solution solution = {.force = force};
    rg_solve_info info;
    rg_error error;
    rg_status status =
        rg_solve(context, &rg_solver_gauss_seidel, problem, &settings, &solution, &info, &error);
    if (status)
        fail_msg("%s", error.text);
    return info;
}

/* Baraff 1989, figures 8 and 9: the block on two supports, the brick past a ledge. */
static void test_closed_forms(void **state) {
    (void)state;
    double f[2];
    double ia = 0.4, ib = 0.6, m = 2, inertia = 0.3, g = 9.81;
    double a[4] = {1 / m + ia * ia / inertia, 1 / m - ia * ib / inertia, 1 / m - ia * ib / inertia,
                   1 / m + ib * ib / inertia};
    double b[2] = {-g, -g};
    rg_problem problem = rg_problem_linear(2, a, b);
    assert_int_equal(run(&problem, 1e-13, 0, false, f).outcome, RG_SOLVED);
    assert_near(f[0], 11.772, 1e-10);
    assert_near(f[1], 7.848, 1e-10);
    double brick[4] = {1.15, 1.6, 1.6, 3.4};
    double fall[2] = {-g, -g};
    problem = rg_problem_linear(2, brick, fall);
    assert_int_equal(run(&problem, 1e-13, 0, false, f).outcome, RG_SOLVED);
    assert_near(f[0], 8.530435, 1e-6);
    assert_true(f[1] == 0);
}

/* What cannot be moved carries no force, whatever a warm start says of it; of a range that does not
 * hold 0 the end that is nearest to it. */
static void test_what_cannot_move(void **state) {
    (void)state;
    double a[9] = {0, 0, 0, 0, 2, 0, 0, 0, 0}, b[3] = {1, -4, 0}, f[3] = {5, 1, 7};
    uint8_t kinds[3] = {RG_ROW_UNILATERAL, RG_ROW_UNILATERAL, RG_ROW_BOUNDED};
    double lower[3] = {0, 0, 2}, upper[3] = {0, 0, 3};
    rg_problem problem = rg_problem_linear(3, a, b);
    problem.linear.kinds = kinds;
    problem.linear.lower = lower;
    problem.linear.upper = upper;
    assert_int_equal(run(&problem, 1e-13, 0, true, f).outcome, RG_SOLVED);
    assert_true(f[0] == 0 && f[2] == 2);
    assert_near(f[1], 2, 1e-13);
}

/* Free and bounded rows: a = 0 between the bounds, the sign of a at them. */
static void test_rows(void **state) {
    (void)state;
    double a[16] = {4, 1, 0, 1, 1, 3, 1, 0, 0, 1, 5, 1, 1, 0, 1, 4}, b[4] = {-1, 2, -30, 9}, f[4];
    uint8_t kinds[4] = {RG_ROW_UNILATERAL, RG_ROW_FREE, RG_ROW_BOUNDED, RG_ROW_BOUNDED};
    double lower[4] = {0, 0, -1, -1}, upper[4] = {0, 0, 1, INFINITY};
    rg_problem problem = rg_problem_linear(4, a, b);
    problem.linear.kinds = kinds;
    problem.linear.lower = lower;
    problem.linear.upper = upper;
    rg_solve_info info = run(&problem, 1e-14, 0, false, f);
    assert_int_equal(info.outcome, RG_SOLVED);
    assert_true(f[2] == 1 && f[3] == -1);
    /* 4 f0 + f1 - 1 - 1 = 0, f0 + 3 f1 + 2 + 1 = 0 */
    assert_near(f[0], 9.0 / 11, 1e-12);
    assert_near(f[1], -14.0 / 11, 1e-12);
}

/* Coulomb's law: the incline at 30 degrees, m = 1: sticks at mu = 0.6, slides at 0.3 with
 * 2.356287. */
static void test_incline(void **state) {
    (void)state;
    double g = 9.81, c = sqrt(3) / 2, s = 0.5, a[4] = {1, 0, 0, 1}, b[2] = {-g * c, g * s}, f[2];
    uint8_t kinds[2] = {RG_ROW_UNILATERAL, RG_ROW_STATIC};
    uint32_t normal[2] = {0, 0};
    double mu[2] = {0, 0.6}, velocity[2];
    rg_problem problem = rg_problem_linear(2, a, b);
    problem.linear.kinds = kinds;
    problem.linear.normal = normal;
    problem.linear.mu = mu;
    assert_int_equal(run(&problem, 1e-14, 0, false, f).outcome, RG_SOLVED);
    assert_near(f[0], 8.495709, 1e-6);
    assert_near(f[1], -4.905, 1e-12);
    mu[1] = 0.3;
    assert_int_equal(run(&problem, 1e-14, 0, false, f).outcome, RG_SOLVED);
    rg_linear_apply(&problem.linear, f, velocity);
    assert_near(velocity[1], 2.356287, 1e-6);
    /* The same as dynamic friction, for slip along + . */
    kinds[1] = RG_ROW_DYNAMIC;
    mu[1] = -0.3;
    assert_int_equal(run(&problem, 1e-14, 0, false, f).outcome, RG_SOLVED);
    rg_linear_apply(&problem.linear, f, velocity);
    assert_near(velocity[1], 2.356287, 1e-6);
}

/* Dynamic friction by substitution with coupling: A = 1.6 - 1.2 mu at tan = 2 (Baraff 1994
 * survey, section 7.1). */
static void test_dynamic(void **state) {
    (void)state;
    double a[4] = {1.6, -1.2, -1.2, 3.4}, b[2] = {-9.81, 0}, f[2];
    uint8_t kinds[2] = {RG_ROW_UNILATERAL, RG_ROW_DYNAMIC};
    uint32_t normal[2] = {0, 0};
    double mu[2] = {0, 0.5};
    rg_problem problem = rg_problem_linear(2, a, b);
    problem.linear.kinds = kinds;
    problem.linear.normal = normal;
    problem.linear.mu = mu;
    assert_int_equal(run(&problem, 1e-14, 0, false, f).outcome, RG_SOLVED);
    assert_near(f[0], 9.81, 1e-12);
    assert_near(f[1], 4.905, 1e-12);
    /* Painleve: no positive diagonal is left. */
    mu[1] = 2;
    assert_int_equal(run(&problem, 1e-14, 0, false, f).outcome, RG_SOLVE_UNSUITABLE);
}

static void test_unsuitable(void **state) {
    (void)state;
    double a[4] = {0, 1, 1, 1}, b[2] = {-1, 1}, f[2], still[2] = {1, 1}, zero[4] = {0, 0, 0, 1};
    rg_problem problem = rg_problem_linear(2, a, b);
    rg_solve_info info = run(&problem, 1e-10, 0, false, f);
    assert_int_equal(info.outcome, RG_SOLVE_UNSUITABLE);
    assert_non_null(strstr(info.text, "row 0"));
    /* A row of zeros is none: nothing moves it, nothing needs to. */
    problem = rg_problem_linear(2, zero, still);
    assert_int_equal(run(&problem, 1e-10, 0, false, f).outcome, RG_SOLVED);
    /* It must be told apart from solved if something should. */
    still[0] = -1;
    info = run(&problem, 1e-10, 0, false, f);
    assert_int_equal(info.outcome, RG_SOLVE_STALLED);
}

/* Random piles with friction in global, local and compressed form: the same sweeps, the same
 * answer. */
static void test_forms(void **state) {
    (void)state;
    size_t solved = 0, count = 0;
    for (uint64_t seed = 0; seed < 10; seed++)
        for (size_t n = 5; n <= 40; n += 7) {
            solve_family *family = family_make(FAMILY_PILE, n, seed, 0.4);
            double *f[3];
            const rg_problem *forms[3] = {family_global(family), family_local(family),
                                          family_sparse(family)};
            for (int k = 0; k < 3; k++) {
                f[k] = family_zeros(3 * n, sizeof(double));
                run(forms[k], 1e-10, 200, false, f[k]);
                for (size_t i = 0; k && i < 3 * n; i++)
                    assert_near(f[k][i], f[0][i], 1e-9);
            }
            rg_solve_info info = run(forms[0], 1e-10, 0, false, f[0]);
            count++;
            solved += info.outcome == RG_SOLVED;
            assert_true(info.residual.natural < 1e-2);
            if (info.outcome == RG_SOLVED) { /* from the answer no sweep is needed */
                assert_int_equal(run(forms[0], 1e-10, 0, true, f[0]).iterations, 0);
                assert_int_equal(run(forms[2], 1e-10, 0, true, f[0]).iterations, 0);
            }
            for (int k = 0; k < 3; k++)
                free(f[k]);
            family_free(family);
        }
    printf("piles with friction to 1e-10: %zu of %zu\n", solved, count);
    assert_true(10 * solved >= 9 * count);
}

static void test_polygon(void **state) {
    (void)state;
    size_t solved = 0, count = 0;
    for (uint64_t seed = 0; seed < 10; seed++)
        for (int directions = 4; directions <= 16; directions *= 2) {
            solve_family *family = family_make(FAMILY_PILE, 12, seed, 0.3);
            rg_problem problem = *family_global(family);
            problem.contact.directions = directions;
            double f[36];
            rg_solve_info info = run(&problem, 1e-10, 0, false, f);
            count++;
            solved += info.outcome == RG_SOLVED;
            family_free(family);
        }
    printf("piles with the polygon to 1e-10: %zu of %zu\n", solved, count);
    assert_true(10 * solved >= 9 * count);
}

/* Planar static friction and stacks without friction; the judge decides. Stacks are what it is bad
 * at: small ones only. */
static void test_families(void **state) {
    (void)state;
    size_t solved = 0, count = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        solve_family *family = family_make(FAMILY_PLANAR, 1 + seed % 10, seed, -1);
        double f[20];
        count++;
        solved += run(family_static(family), 1e-10, 0, false, f).outcome == RG_SOLVED;
        family_free(family);
    }
    printf("planar friction to 1e-10: %zu of %zu\n", solved, count);
    assert_true(10 * solved >= 9 * count);
    for (int kind = FAMILY_STACK; kind <= FAMILY_PILE; kind++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            solve_family *family = family_make((family_kind)kind, 12, seed, 0);
            double f[12];
            rg_solve_info info = run(family_linear(family), 1e-9, 0, false, f);
            assert_int_equal(info.outcome, RG_SOLVED);
            family_free(family);
        }
}

/* Friction in a box: two static rows on each normal. */
static void test_box(void **state) {
    (void)state;
    size_t solved = 0, count = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        solve_family *family = family_make(FAMILY_PILE, 4 + seed % 8, seed, 0.4);
        double f[33];
        count++;
        solved += run(family_static(family), 1e-10, 0, false, f).outcome == RG_SOLVED;
        family_free(family);
    }
    printf("box friction to 1e-10: %zu of %zu\n", solved, count);
    assert_true(10 * solved >= 9 * count);
}

/* Two walls that close on a body: no forces help. Random matrices of any sign: it ends, and what it
 * returns are numbers. */
static void test_hopeless(void **state) {
    (void)state;
    double a[4] = {1, -1, -1, 1}, b[2] = {-1, -1}, f[8];
    rg_problem problem = rg_problem_linear(2, a, b);
    rg_solve_info info = run(&problem, 1e-10, 0, false, f);
    assert_true(info.outcome == RG_SOLVE_STALLED || info.outcome == RG_SOLVE_LIMIT);
    assert_true(strlen(info.text) > 0);
    rg_random random = rg_random_make(9);
    for (int i = 0; i < 2000; i++) {
        size_t n = 1 + rg_random_below(&random, 8);
        double m[64], c[8];
        for (size_t k = 0; k < n * n; k++)
            m[k] = rg_random_normal(&random);
        for (size_t k = 0; k < n; k++) {
            c[k] = rg_random_normal(&random);
            m[k * n + k] = fabs(m[k * n + k]);
        }
        problem = rg_problem_linear(n, m, c);
        info = run(&problem, 1e-10, 0, false, f);
        assert_true(info.iterations <= 10000);
        for (size_t k = 0; k < n; k++)
            assert_true(isfinite(f[k]));
    }
}

/* Joint rows: a ball hung on a fixed point, both forms; the joint bears the weight. */
static void test_joints(void **state) {
    (void)state;
    double mass[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, free_velocity[3] = {0, 0, -1};
    uint32_t joint_blocks[2] = {RG_NO_BLOCK, 0};
    double jacobian[6] = {0, 0, 0, 0, 0, 1}, q[1] = {0}, f[1], w[1] = {0.5}, b[1] = {-1};
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){.dimension = 3,
                                           .joints = 1,
                                           .form = RG_FORM_GLOBAL,
                                           .q = q,
                                           .global = {.blocks = 1,
                                                      .freedom = 3,
                                                      .mass = mass,
                                                      .free_velocity = free_velocity,
                                                      .joint_blocks = joint_blocks,
                                                      .joint_jacobian = jacobian}};
    assert_int_equal(run(&problem, 1e-12, 0, false, f).outcome, RG_SOLVED);
    assert_near(f[0], 2, 1e-12);
    double lower[1] = {-1.5}, upper[1] = {1.5}; /* too weak a joint */
    problem.contact.lower = lower, problem.contact.upper = upper;
    assert_int_equal(run(&problem, 1e-12, 0, false, f).outcome, RG_SOLVED);
    assert_true(f[0] == 1.5);
    problem.contact.form = RG_FORM_LOCAL;
    problem.contact.q = b;
    problem.contact.w = (rg_matrix){1, 1, w, NULL, NULL, NULL};
    assert_int_equal(run(&problem, 1e-12, 0, false, f).outcome, RG_SOLVED);
    assert_true(f[0] == 1.5);
}

/* The same bits again, and for other units by powers of two. */
static void test_repeatable(void **state) {
    (void)state;
    enum { N = 30 };
    solve_family *family = family_make(FAMILY_PILE, N, 3, 0.5);
    const rg_problem *problem = family_local(family);
    double f[3 * N], again[3 * N], *w = family_zeros(9 * N * N, sizeof(double)), q[3 * N];
    rg_solve_info info = run(problem, 1e-10, 500, false, f);
    rg_solve_info other = run(problem, 1e-10, 500, false, again);
    assert_int_equal(info.iterations, other.iterations);
    assert_memory_equal(f, again, sizeof f);
    for (int power = -20; power <= 20; power += 40) {
        for (size_t i = 0; i < 9 * N * N; i++)
            w[i] = ldexp(problem->contact.w.dense[i], power);
        for (size_t i = 0; i < 3 * N; i++)
            q[i] = ldexp(problem->contact.q[i], -power);
        rg_problem scaled = *problem;
        scaled.contact.w.dense = w;
        scaled.contact.q = q;
        other = run(&scaled, 1e-10, 500, false, again);
        assert_int_equal(info.iterations, other.iterations);
        for (size_t i = 0; i < 3 * N; i++)
            assert_true(again[i] == ldexp(f[i], -2 * power));
    }
    free(w);
    family_free(family);
}

/* A context that has seen the problem makes no heap call. */
static void test_memory(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_solve_context *own;
    assert_int_equal(rg_solve_context_create(&allocator, &own), RG_OK);
    solve_family *family = family_make(FAMILY_WALL, 40, 1, 0.5);
    double f[120];
    rg_solve_settings settings = rg_solve_settings_default();
    settings.iteration_limit = 10;
    rg_solution solution = {.force = f};
    rg_solve_info info;
    const rg_problem *problems[3] = {family_global(family), family_sparse(family),
                                     family_linear(family)};
    for (int round = 0; round < 3; round++) {
        size_t before = counter.resizes;
        for (int k = 0; k < 3; k++)
            assert_int_equal(rg_solve(own, &rg_solver_gauss_seidel, problems[k], &settings,
                                      &solution, &info, NULL),
                             RG_OK);
        if (round == 2)
            assert_int_equal(counter.resizes, before);
    }
    family_free(family);
    rg_solve_context_destroy(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_what_cannot_move),
        cmocka_unit_test(test_incline),
        cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_unsuitable),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_polygon),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_hopeless),
        cmocka_unit_test(test_joints),
        cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
