/* Newton for the exact cone: the smoothed law against differences, closed forms, families at all
 * scales, warm start, the path alone, problems out of moving scenes. */
#include "solve_cone_checks.h"

#include "solve/solve_newton.h"
#include "solve/solve_system_parts.h"

CONE_CHECKS("newton");

static void test_families(void **state) {
    (void)state;
    static const double MU[] = {0, 0.1, 0.5, 1};
    for (int kind = 0; kind < FAMILY_KINDS; kind++)
        for (uint64_t seed = 0; seed < 3; seed++)
            for (int k = 0; k < 4; k++)
                cone_check_family(&check, (family_kind)kind, 40, seed, MU[k], 1e-10);
}

static void test_mass_ratios(void **state) {
    (void)state;
    for (double ratio = 1; ratio < 2e6; ratio *= 10)
        cone_check_mass_ratio(&check, ratio, 1e-10);
}

/* A box that is pushed along the floor on its four corners: it slides with the friction of its
 * whole weight, whatever the four forces are; pushed less, it stays. */
static void test_four_points(void **state) {
    (void)state;
    const double m = 3, a = 0.4, height = 0.1, step = 0.04, mu = 0.5;
    double mass[36] = {0}, jacobian[4 * 36] = {0}, q[12] = {0}, all_mu[4] = {mu, mu, mu, mu};
    uint32_t blocks[8];
    for (int k = 0; k < 3; k++) {
        mass[7 * k] = m;
        mass[7 * (k + 3)] = 0.2 * m;
    }
    for (int i = 0; i < 4; i++) {
        double x = i & 1 ? a : -a, y = i & 2 ? a : -a, z = -height;
        blocks[2 * i] = RG_NO_BLOCK, blocks[2 * i + 1] = 0;
        double *j = jacobian + 36 * i + 18;
        double rows[18] = {0, 0, 1, y, -x, 0, 1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x};
        memcpy(j, rows, sizeof rows);
    }
    for (int k = 0; k < 20; k++) {
        double heading = 0.37 * k, push = k % 2 ? 0.9 * mu * step : 2 * mu * step;
        double v[6] = {push * cos(heading), push * sin(heading), -step, 0, 0, 0};
        rg_problem problem = {.kind = RG_PROBLEM_CONTACT,
                              .contact = {.dimension = 3,
                                          .contacts = 4,
                                          .mu = all_mu,
                                          .form = RG_FORM_GLOBAL,
                                          .q = q,
                                          .global = {.blocks = 1,
                                                     .freedom = 6,
                                                     .mass = mass,
                                                     .free_velocity = v,
                                                     .contact_blocks = blocks,
                                                     .contact_jacobian = jacobian}}};
        double force[12], u[12], sum[3] = {0};
        rg_solve_info info = cone_solve(&check, &problem, 1e-11, force, u);
        cone_expect_solved(&info, 1e-11, "four points");
        double left = k % 2 ? 0 : push - mu * step, drag = push - left;
        for (int i = 0; i < 4; i++) {
            assert_near(u[3 * i], 0, 1e-11);
            assert_near(u[3 * i + 1], left * cos(heading), 1e-10);
            assert_near(u[3 * i + 2], left * sin(heading), 1e-10);
            for (int c = 0; c < 3; c++)
                sum[c] += force[3 * i + c];
        }
        assert_near(sum[0], m * step, 1e-10);
        assert_near(sum[1], -m * drag * cos(heading), 1e-10);
        assert_near(sum[2], -m * drag * sin(heading), 1e-10);
    }
}

/* --- the map ---------------------------------------------------------------------------------- */

/* e2 = r - P(r - rho u): its derivatives by r (a), by u (b) and by log tau against central
 * differences that do not use them. */
static void check_map(const rg_problem *problem, uint64_t seed, double tau) {
    rg_newton newton;
    assert_int_equal(rg_newton_create(&newton, check.context, problem, 1e-10, NULL), RG_OK);
    const rg_system *system = &newton.system;
    rg_random random = rg_random_make(seed);
    rg_newton_point *p = &newton.point;
    size_t rows = system->rows;
    double *plus = calloc(rows, sizeof *plus);
    p->tau = tau;
    memset(p->v, 0, system->velocities * sizeof(double));
    for (size_t i = 0; i < rg_system_blocks(system); i++)
        for (size_t k = 0; k < rg_system_block_size(system, i); k++) {
            size_t row = rg_system_block_row(system, i) + k;
            p->r[row] = rg_random_normal(&random) * system->rho[i];
            p->u[row] = rg_random_normal(&random);
            p->y[row] = p->r[row] - system->rho[i] * p->u[row];
        }
    for (size_t i = 0; i < rg_system_blocks(system); i++) {
        size_t d = rg_system_block_size(system, i), first = rg_system_block_row(system, i);
        double rho = system->rho[i];
        for (size_t m = 0; m < d; m++)
            for (int by_u = 0; by_u < 2; by_u++) {
                double h = 1e-6 * (by_u ? 1 : rho), kept_r = p->r[first + m],
                       kept_u = p->u[first + m], kept_y = p->y[first + m];
                for (int side = 0; side < 2; side++) {
                    double change = side ? -h : h;
                    p->r[first + m] = kept_r + (by_u ? 0 : change);
                    p->u[first + m] = kept_u + (by_u ? change : 0);
                    p->y[first + m] = kept_y + (by_u ? -rho * change : change);
                    rg_newton_evaluate(&newton, p, false);
                    if (!side)
                        memcpy(plus, newton.map.e2, rows * sizeof *plus);
                }
                double slopes[3];
                for (size_t k = 0; k < d; k++)
                    slopes[k] = (plus[first + k] - newton.map.e2[first + k]) / (2 * h);
                p->r[first + m] = kept_r, p->u[first + m] = kept_u, p->y[first + m] = kept_y;
                rg_newton_evaluate(&newton, p, true);
                const double *block =
                    (by_u ? newton.map.b : newton.map.a) + rg_system_block_offset(system, i);
                for (size_t k = 0; k < d; k++)
                    assert_near(slopes[k], block[k * d + m], 1e-6 * (by_u ? rho : 1));
            }
    }
    double h = 1e-5;
    p->tau = tau * (1 + h);
    rg_newton_evaluate(&newton, p, false);
    memcpy(plus, newton.map.e2, rows * sizeof *plus);
    p->tau = tau * (1 - h);
    rg_newton_evaluate(&newton, p, false);
    for (size_t k = 0; k < rows; k++)
        plus[k] = (plus[k] - newton.map.e2[k]) / (2 * h);
    p->tau = tau;
    rg_newton_evaluate(&newton, p, true);
    for (size_t i = 0; i < rg_system_blocks(system); i++)
        for (size_t k = 0; k < rg_system_block_size(system, i); k++) {
            size_t row = rg_system_block_row(system, i) + k;
            assert_near(plus[row], newton.map.slope[row], 1e-6 * system->rho[i]);
        }
    free(plus);
}

static void test_map(void **state) {
    (void)state;
    enum { CONTACTS = 8, JOINTS = 4, ROWS = 3 * CONTACTS + JOINTS };
    static const double LOWER[JOINTS] = {-0.5, -INFINITY, 0, -INFINITY};
    static const double UPPER[JOINTS] = {0.5, 0.3, INFINITY, INFINITY};
    for (uint64_t seed = 0; seed < 30; seed++)
        for (int dimension = 1; dimension <= 3; dimension++) {
            rg_random random = rg_random_make(seed);
            static double w[ROWS * ROWS], q[ROWS], mu[CONTACTS];
            size_t rows = (size_t)(dimension * CONTACTS + JOINTS);
            memset(w, 0, sizeof w);
            for (size_t i = 0; i < rows; i++)
                w[i * rows + i] = rg_random_between(&random, 0.5, 2);
            for (int i = 0; i < CONTACTS; i++)
                mu[i] = i ? rg_random_unit(&random) : 0;
            rg_problem problem = cone_local(dimension, CONTACTS, JOINTS, w, q, mu);
            problem.contact.lower = LOWER;
            problem.contact.upper = UPPER;
            problem.scale = 1;
            check_map(&problem, seed + 100, seed % 3 ? 0.3 : 0.03);
        }
}

/* Far from its kinks the law is left to rounding, not to cancellation: r u rho = tau^2 holds to all
 * digits for a contact that carries 1e9 times tau. */
static void test_map_digits(void **state) {
    (void)state;
    double w = 1, q = 0, mu = 0;
    rg_problem problem = cone_local(1, 1, 0, &w, &q, &mu);
    problem.scale = 1;
    rg_newton newton;
    assert_int_equal(rg_newton_create(&newton, check.context, &problem, 1e-10, NULL), RG_OK);
    newton.point.tau = 1e-6;
    newton.point.r[0] = 1e3;
    newton.point.u[0] = 1e-15 * (1 + 1e-9);
    newton.point.y[0] = newton.point.r[0] - newton.point.u[0];
    rg_newton_evaluate(&newton, &newton.point, true);
    assert_near(newton.map.e2[0] / 1e-24, 1, 1e-5);
    assert_near(newton.map.a[0] / 1e-18, 1, 1e-9);
}

/* --- the path --------------------------------------------------------------------------------- */

/* The path alone, from its beginning: without the descent that usually spares it. */
static void test_path(void **state) {
    (void)state;
    static const double MU[] = {0.2, 0.8};
    for (int kind = 0; kind < FAMILY_KINDS; kind++)
        for (int k = 0; k < 2; k++) {
            solve_family *family = family_make((family_kind)kind, 60, 1, MU[k]);
            const rg_problem *problem = family_global(family);
            rg_newton newton;
            assert_int_equal(rg_newton_create(&newton, check.context, problem, 1e-9, NULL), RG_OK);
            newton.limit = 400;
            const rg_system *system = &newton.system;
            memset(newton.point.r, 0, system->rows * sizeof(double));
            for (size_t i = 0; i < system->contacts; i++)
                newton.point.r[i * (size_t)system->dimension] = system->rho[i] * system->scale;
            rg_system_velocity(system, newton.point.r, newton.point.v, newton.point.u);
            rg_newton_refresh(&newton, &newton.point);
            assert_true(rg_newton_follow(&newton, 1, 400));
            rg_residual residual;
            assert_int_equal(rg_judge(problem, newton.best, NULL, NULL, &residual, NULL), RG_OK);
            assert_true(residual.natural <= 1e-9);
            rg_arena_reset(&check.context->arena);
            family_free(family);
        }
}

/* --- warm start, outcomes --------------------------------------------------------------------- */

static void test_warm(void **state) {
    (void)state;
    solve_family *family = family_make(FAMILY_PILE, 100, 2, 0.5);
    rg_problem problem = *family_global(family);
    size_t rows = rg_problem_rows(&problem);
    double *force = calloc(rows, sizeof *force), *again = calloc(rows, sizeof *again);
    rg_solve_info cold = cone_solve(&check, &problem, 1e-10, force, NULL), info;
    cone_expect_solved(&cold, 1e-10, "cold");
    cone_solve(&check, &problem, 1e-10, again, NULL);
    assert_memory_equal(force, again, rows * sizeof *force); /* the same bits every time */
    rg_solve_settings settings = rg_solve_settings_default();
    settings.warm = true;
    rg_solution solution = {.force = again};
    const rg_solver *solver = rg_solver_find("newton");
    assert_int_equal(rg_solve(check.context, solver, &problem, &settings, &solution, &info, NULL),
                     RG_OK);
    cone_expect_solved(&info, 1e-10, "own answer");
    assert_int_equal(info.factorisations, 0);
    /* Velocities a little different: fewer factorisations than from nothing. */
    size_t velocities = family->bodies * (size_t)family->freedom;
    rg_random random = rg_random_make(4);
    double *moved = malloc(velocities * sizeof *moved);
    for (size_t i = 0; i < velocities; i++)
        moved[i] = family->free_velocity[i] + 1e-5 * rg_random_normal(&random);
    problem.contact.global.free_velocity = moved;
    assert_int_equal(rg_solve(check.context, solver, &problem, &settings, &solution, &info, NULL),
                     RG_OK);
    cone_expect_solved(&info, 1e-10, "neighbour");
    assert_true(info.factorisations < cold.factorisations);
    /* Nonsense to start from does no harm. */
    for (size_t i = 0; i < rows; i++)
        again[i] = 1e3 * rg_random_normal(&random);
    assert_int_equal(rg_solve(check.context, solver, &problem, &settings, &solution, &info, NULL),
                     RG_OK);
    cone_expect_solved(&info, 1e-10, "nonsense");
    free(force);
    free(again);
    free(moved);
    family_free(family);
}

/* Two floors that close on a body of one dimension: no solution, and an honest end. */
static void test_no_solution(void **state) {
    (void)state;
    double w[4] = {1, -1, -1, 1}, q[2] = {-1, -1}, force[2];
    rg_problem problem = cone_local(1, 2, 0, w, q, NULL);
    rg_solve_info info = cone_solve(&check, &problem, 1e-10, force, NULL);
    assert_true(info.outcome == RG_SOLVE_STALLED || info.outcome == RG_SOLVE_LIMIT ||
                info.outcome == RG_SOLVE_INEXACT);
    assert_true(info.residual.natural > 0.1);
    assert_true(info.text[0] != '\0');
    rg_solve_settings settings = rg_solve_settings_default();
    settings.iteration_limit = 7;
    rg_solution solution = {.force = force};
    assert_int_equal(rg_solve(check.context, rg_solver_find("newton"), &problem, &settings,
                              &solution, &info, NULL),
                     RG_OK);
    assert_int_equal(info.outcome, RG_SOLVE_LIMIT);
    assert_true(info.factorisations <= 7);
}

static void test_piles(void **state) {
    (void)state;
    for (size_t n = 10; n <= 300; n *= 2)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            solve_family *family = family_make(FAMILY_PILE, n == 160 ? 150 : n, seed, 0.5);
            const rg_problem *problem = family_global(family);
            double *force = calloc(rg_problem_rows(problem), sizeof *force);
            rg_solve_info info = cone_solve(&check, problem, 1e-10, force, NULL);
            cone_expect_solved(&info, 1e-10, "pile");
            free(force);
            family_free(family);
        }
}

/* Some hundred contacts of each family. (Problems of moving scenes: tests/run.) */
static void test_large(void **state) {
    (void)state;
    for (int kind = 0; kind < FAMILY_KINDS; kind++) {
        solve_family *family = family_make((family_kind)kind, 400, 2, 0.5);
        const rg_problem *problem = family_global(family);
        double *force = calloc(rg_problem_rows(problem), sizeof *force);
        rg_solve_info info = cone_solve(&check, problem, 1e-8, force, NULL);
        print_message("%-8s %.2e, %llu factorisations, %.3f s\n", family_name((family_kind)kind),
                      info.residual.natural, (unsigned long long)info.factorisations, info.seconds);
        cone_expect_solved(&info, 1e-8, family_name((family_kind)kind));
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
        cmocka_unit_test(test_map),          cmocka_unit_test(test_map_digits),
        cmocka_unit_test(test_frictionless), cmocka_unit_test(test_incline),
        cmocka_unit_test(test_joints),       cmocka_unit_test(test_four_points),
        cmocka_unit_test(test_mass_ratios),  cmocka_unit_test(test_families),
        cmocka_unit_test(test_path),         cmocka_unit_test(test_warm),
        cmocka_unit_test(test_no_solution),  cmocka_unit_test(test_piles),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
