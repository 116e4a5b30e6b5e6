/* The interior point: closed forms, families, joints; every sequence without friction; proofs. */
#include "solve_cone_checks.h"

#include "solve/solve_interior_cone.h"

CONE_CHECKS("interior-point");

static void test_cone_scaling(void **state) { /* W z = W^-1 s, near the boundary too */
    (void)state;
    rg_random random = rg_random_make(1);
    for (int trial = 0; trial < 2000; trial++) {
        int width = 1 + trial % 3;
        double z[3], s[3], back[3], other[3], near = pow(10, -(double)(trial % 13));
        for (int side = 0; side < 2; side++) {
            double *x = side ? s : z, angle = rg_random_between(&random, 0, 2 * RG_PI);
            x[0] = exp(rg_random_between(&random, -5, 5));
            double tail = x[0] * (1 - near * rg_random_between(&random, 0.1, 1));
            x[1] = width == 2 ? (rg_random_below(&random, 2) ? tail : -tail) : tail * cos(angle);
            x[2] = tail * sin(angle);
        }
        rg_cone_scaling scaling;
        assert_true(rg_cone_scale(z, s, width, &scaling));
        rg_cone_apply(&scaling, z, width, false, back);
        rg_cone_apply(&scaling, s, width, true, other);
        double size = sqrt(z[0] * s[0]), loss = 1e-13 / near;
        for (int k = 0; k < width; k++)
            assert_near(back[k], other[k], fmax(1e-12, loss) * size);
        /* lambda o (lambda \ x) = x. */
        double x[3] = {1, 0.3, -0.2}, y[3], product[3];
        rg_cone_divide(scaling.lambda, x, width, y);
        rg_cone_product(scaling.lambda, y, width, product);
        for (int k = 0; k < width; k++)
            assert_near(product[k], x[k], fmax(1e-11, loss));
    }
    double outside[3] = {1, 1, 0.1}, inside[3] = {1, 0, 0};
    rg_cone_scaling scaling;
    assert_false(rg_cone_scale(outside, inside, 3, &scaling));
    assert_false(rg_cone_scale(inside, outside, 3, &scaling));
}

static void test_cone_step(void **state) { /* the boundary is met, and not passed */
    (void)state;
    rg_random random = rg_random_make(2);
    for (int trial = 0; trial < 5000; trial++) {
        int width = 1 + trial % 3;
        double x[3] = {rg_random_between(&random, 0.5, 2), 0, 0}, dx[3];
        x[1] = rg_random_between(&random, -0.3, 0.3);
        x[2] = rg_random_between(&random, -0.3, 0.3);
        for (int k = 0; k < 3; k++)
            dx[k] = rg_random_normal(&random);
        double t = rg_cone_step(x, dx, width, 10);
        assert_true(t > 0 && t <= 10);
        double margin[2]; /* just before, just behind */
        for (int side = 0; side < 2; side++) {
            double at = t * (side ? 1 + 1e-6 : 1 - 1e-6), tail = 0;
            for (int k = 1; k < width; k++)
                tail += (x[k] + at * dx[k]) * (x[k] + at * dx[k]);
            margin[side] = x[0] + at * dx[0] - sqrt(tail);
        }
        assert_true(margin[0] > -1e-12);
        if (t < 10)
            assert_true(margin[1] < 1e-12);
    }
}

static void test_families(void **state) {
    (void)state;
    for (int kind = 0; kind < FAMILY_KINDS; kind++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            cone_check_family(&check, (family_kind)kind, 40, seed, 0, 1e-10);
            cone_check_family(&check, (family_kind)kind, 40, seed, 0.3, 1e-8);
        }
}

static void test_mass_ratios(void **state) {
    (void)state;
    for (double ratio = 1; ratio < 2e6; ratio *= 100)
        cone_check_mass_ratio(&check, ratio, 1e-8);
}

/* Rows of joints are on the path, all of them: bodies of 1 kg in a chain, on the floor by the first
 * one, of which the path needs few steps; without the rows of a joint it would never come near. */
static void test_joints_on_the_path(void **state) {
    (void)state;
    enum { JOINTS = 6, ROWS = 1 + JOINTS };
    for (int bounded = 0; bounded < 2; bounded++) {
        double w[ROWS * ROWS] = {0}, q[ROWS] = {-1}, f[ROWS], u[ROWS];
        double lower[JOINTS], upper[JOINTS];
        for (size_t i = 0; i < ROWS; i++) {
            /* u_0 = v_0, u_i = v_(i - 1) - v_i */
            w[i * ROWS + i] = i ? 2 : 1;
            if (i + 1 < ROWS)
                w[i * ROWS + i + 1] = w[(i + 1) * ROWS + i] = i ? -1 : 1;
            if (i > 0)
                q[i] = 0.1 * (double)i, lower[i - 1] = -100, upper[i - 1] = 100;
        }
        rg_problem problem = cone_local(1, 1, JOINTS, w, q, NULL);
        if (bounded)
            problem.contact.lower = lower, problem.contact.upper = upper;
        rg_solve_info info = cone_solve(&check, &problem, 1e-10, f, u);
        cone_expect_solved(&info, 1e-10, "chain");
        print_message("chain: %d steps\n", (int)info.iterations);
        assert_true(info.iterations <= 20);
    }
}

/* Two walls that close on a body: no velocity will do, and the forces prove it. */
static void test_infeasible(void **state) {
    (void)state;
    double w[4] = {1, -1, -1, 1}, q[2] = {-1, -1}, f[2], ray[2];
    rg_problem problem = cone_local(1, 2, 0, w, q, NULL);
    rg_solution solution = {.force = f, .ray = ray};
    rg_solve_info info;
    assert_int_equal(rg_solve(check.context, rg_solver_find("interior-point"), &problem, NULL,
                              &solution, &info, NULL),
                     RG_OK);
    assert_int_equal(info.outcome, RG_SOLVE_INFEASIBLE);
    assert_true(ray[0] > 0 && ray[1] > 0);
    assert_near(ray[0] / ray[1], 1, 1e-5);
    assert_true(ray[0] * q[0] + ray[1] * q[1] < 0);
}

static void test_not_for_it(void **state) {
    (void)state;
    double w[4] = {-1, 0, 0, 1}, q[2] = {-1, -1}, f[2];
    rg_problem problem = cone_local(1, 2, 0, w, q, NULL);
    rg_solve_info info = cone_solve(&check, &problem, 1e-10, f, NULL);
    assert_int_equal(info.outcome, RG_SOLVE_INDEFINITE);
}

/* Some hundred contacts. Without friction all are solved; with it, what is expected of each is what
 * it has been seen to reach, with room. (Problems of moving scenes: tests/run.) */
static void test_large(void **state) {
    (void)state;
    static const double EXPECTED[FAMILY_KINDS] = {1e-10, 1e-3, 1e-10, 1e-10};
    for (int kind = 0; kind < FAMILY_KINDS; kind++)
        for (int friction = 0; friction < 2; friction++) {
            solve_family *family = family_make((family_kind)kind, 400, 2, 0.5);
            rg_problem problem = *family_global(family);
            if (!friction)
                problem.contact.mu = NULL;
            double *force = calloc(rg_problem_rows(&problem), sizeof *force);
            rg_solve_info info = cone_solve(&check, &problem, 1e-10, force, NULL);
            print_message("%-8s %s friction: %s %.1e, %llu steps, %.0f ms\n",
                          family_name((family_kind)kind), friction ? "with" : "no",
                          rg_solve_outcome_name(info.outcome), info.residual.natural,
                          (unsigned long long)info.iterations, 1e3 * info.seconds);
            if (!friction)
                cone_expect_solved(&info, 1e-10, family_name((family_kind)kind));
            assert_true(info.residual.natural <= EXPECTED[kind]);
            free(force);
            family_free(family);
        }
}

static int setup(void **state) {
    (void)state;
    return cone_group_setup(&check);
}
static int teardown(void **state) {
    (void)state;
    rg_solve_context_destroy(check.context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cone_scaling),
        cmocka_unit_test(test_cone_step),
        cmocka_unit_test(test_frictionless),
        cmocka_unit_test(test_incline),
        cmocka_unit_test(test_joints),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_joints_on_the_path),
        cmocka_unit_test(test_mass_ratios),
        cmocka_unit_test(test_infeasible),
        cmocka_unit_test(test_not_for_it),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
