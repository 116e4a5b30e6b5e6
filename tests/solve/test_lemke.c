/* Lemke's method against closed forms, against enumeration, against the dense form of the polygon,
 * and on problems from elsewhere; what it says when there is no solution is checked as a proof. */
#include "test_support.h"

#include "rigor/random.h"
#include "solve/solve.h"
#include "solve/solve_lemke.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 40, KEPT = 64 };

static int set_up(void **state) {
    rg_solve_context *context;
    if (rg_solve_context_create(NULL, &context))
        return 1;
    *state = context;
    return 0;
}

static int tear_down(void **state) {
    rg_solve_context_destroy(*state);
    return 0;
}

static rg_solve_info solve_by(void **state, const char *name, const rg_problem *problem,
                              double *force, double *velocity, double *ray) {
    rg_solution solution = {.force = force, .velocity = velocity, .ray = ray};
    rg_solve_info info;
    rg_error error;
    if (rg_solve(*state, rg_solver_find(name), problem, NULL, &solution, &info, &error))
        fail_msg("%s", error.text);
    return info;
}

static rg_solve_info solve(void **state, const rg_problem *problem, double *force,
                           double *velocity) {
    return solve_by(state, "lemke", problem, force, velocity, NULL);
}

/* Values printed in Baraff 1989 (Figs 7 to 9, 6.5) and the survey of 1994 (Fig 3). */
static void gives_worked_cases(void **state) {
    double f[10], a[10];
    double one[] = {1}, slope[] = {-9.81 * sqrt(0.75)};
    rg_problem problem = rg_problem_linear(1, one, slope);
    assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    assert_near(f[0], 8.495709, 5e-7);

    double inertia = 0.7, x[] = {-0.4, 0.6}, beam[4], weight[] = {-9.81, -9.81};
    for (size_t i = 0; i < 4; i++)
        beam[i] = 0.5 + x[i / 2] * x[i % 2] / inertia;
    problem = rg_problem_linear(2, beam, weight);
    assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    assert_near(f[0], 11.772, 1e-12);
    assert_near(f[1], 7.848, 1e-12);

    double ledge[] = {1.15, 1.6, 1.6, 3.4};
    problem = rg_problem_linear(2, ledge, weight);
    assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    assert_near(f[0], 8.530435, 5e-7);
    assert_true(f[1] == 0);
    assert_near(a[1], 3.838696, 5e-7);

    double mis[] = {19, -2, 3, -2, 12, 2, 3, 2, 1}, mis_b[] = {-11, -2, -3};
    problem = rg_problem_linear(3, mis, mis_b);
    assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    assert_near(f[0], 0.2, 1e-14);
    assert_near(f[1], 0, 1e-14);
    assert_near(f[2], 2.4, 1e-14);
    assert_near(a[1], 2.4, 1e-13);
}

/* Bricks of 2 x 1, mass 1, one on the other at the given centres: contacts left, right,
 * bottom-up. */
static void stack_of(size_t bricks, const double *centre, double *matrix, double *b) {
    size_t n = 2 * bricks;
    double inertia = 5.0 / 12;
    for (size_t i = 0; i < n; i++) {
        size_t bi = i / 2;
        double lower_i = bi ? centre[bi - 1] : centre[0];
        double xi = i % 2 ? (bi ? lower_i + 1 : centre[0] + 1) : centre[bi] - 1;
        b[i] = bi ? 0 : -9.81;
        for (size_t j = 0; j < n; j++) {
            size_t bj = j / 2;
            double xj = j % 2 ? (bj ? centre[bj - 1] + 1 : centre[0] + 1) : centre[bj] - 1;
            matrix[i * n + j] = 0;
            for (size_t body = 0; body < bricks; body++) {
                double si = body == bi ? 1 : body + 1 == bi ? -1 : 0;
                double sj = body == bj ? 1 : body + 1 == bj ? -1 : 0;
                matrix[i * n + j] +=
                    si * sj * (1 + (xi - centre[body]) * (xj - centre[body]) / inertia);
            }
        }
    }
}

static void solves_the_brick_stack(void **state) {
    const double centre[] = {0, 0.7, 1.4, 2.1, 2.8};
    const double expected[] = {4.905,     30.247334, 0,        25.342334, 3.421474,
                               10.653397, 3.391813,  2.816342, 1.742186,  0};
    double matrix[100], b[10], f[10], a[10];
    stack_of(5, centre, matrix, b);
    rg_problem problem = rg_problem_linear(10, matrix, b);
    assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    for (size_t i = 0; i < 10; i++)
        assert_near(f[i], expected[i], 5e-7);
    assert_near(a[2], 6.315673, 5e-7);
    assert_near(a[9], 0.880053, 5e-7);
    const double two[] = {0, 0.9};
    stack_of(2, two, matrix, b);
    problem = rg_problem_linear(4, matrix, b);
    assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    assert_near(f[0], 5.3955, 1e-10);
    assert_near(f[1], 14.2245, 1e-10);
    assert_near(f[2], 0.891818, 5e-7);
    assert_near(f[3], 8.918182, 5e-7);
}

/* --- against enumeration ---------------------------------------------------------------------- */

/* A = J J' (n x r) with small integer entries: singular, full of ties. */
static void make_semidefinite(rg_random *random, size_t n, size_t r, double *matrix, double *j) {
    for (size_t i = 0; i < n * r; i++)
        j[i] = (double)rg_random_below(random, 5) - 2;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < n; c++) {
            matrix[i * n + c] = 0;
            for (size_t k = 0; k < r; k++)
                matrix[i * n + c] += j[i * r + k] * j[c * r + k];
        }
}

/* Every kind of row, positive semidefinite, b at times outside the range: a solution is found
 * exactly if there is one, and it moves everything in the same way as any other. */
static void agrees_with_enumeration_when_semidefinite(void **state) {
    rg_random random = rg_random_make(11);
    int none = 0, rounds = test_cases(2000, 20000);
    for (int round = 0; round < rounds; round++) {
        size_t n = 1 + (size_t)rg_random_below(&random, 8);
        size_t r = 1 + (size_t)rg_random_below(&random, n);
        double j[MOST * MOST], matrix[MOST * MOST], b[MOST], w[MOST], lower[MOST], upper[MOST];
        double f[MOST], a[MOST], ray[MOST], forces[KEPT * MOST];
        uint8_t kinds[MOST];
        make_semidefinite(&random, n, r, matrix, j);
        for (size_t i = 0; i < r; i++)
            w[i] = (double)rg_random_below(&random, 9) - 4;
        double unit = round % 3 == 0 ? 1 : round % 3 == 1 ? 1e-6 : 1e6;
        for (size_t i = 0; i < n; i++) {
            b[i] = round % 4 == 3 ? (double)rg_random_below(&random, 9) - 4 : 0;
            for (size_t k = 0; k < r; k++)
                b[i] += j[i * r + k] * w[k];
            uint64_t kind = rg_random_below(&random, 6);
            kinds[i] = kind < 4 ? RG_ROW_UNILATERAL : kind == 4 ? RG_ROW_FREE : RG_ROW_BOUNDED;
            lower[i] = -(double)rg_random_below(&random, 3);
            upper[i] = (double)rg_random_below(&random, 3);
            if (rg_random_below(&random, 4) == 0)
                upper[i] = INFINITY;
        }
        for (size_t i = 0; i < n * n; i++)
            matrix[i] *= unit;
        for (size_t i = 0; i < n; i++)
            b[i] *= unit;
        rg_problem problem = rg_problem_linear(n, matrix, b);
        problem.linear.kinds = kinds;
        problem.linear.lower = lower;
        problem.linear.upper = upper;
        problem.scale = 4 * unit; /* b may vanish */
        rg_solution_set set;
        assert_int_equal(rg_solve_all(*state, &problem, 1e-10, forces, KEPT, &set, NULL), RG_OK);
        rg_solve_info info = solve_by(state, "lemke", &problem, f, a, ray);
        if (set.count == 0) {
            none++;
            assert_int_equal(info.outcome, RG_SOLVE_INFEASIBLE);
            continue;
        }
        if (info.outcome != RG_SOLVED)
            fail_msg("round %d, n = %zu: %s (%s), %g", round, n,
                     rg_solve_outcome_name(info.outcome), info.text, info.residual.natural);
        for (size_t i = 0; i < n; i++) {
            double motion = 0;
            for (size_t c = 0; c < n; c++)
                motion += matrix[i * n + c] * (f[c] - forces[c]);
            assert_near(motion / unit, 0, 1e-8);
        }
    }
    assert_true(none > rounds / 50 && none < rounds / 2);
}

/* P-matrices, unsymmetric: the one solution, at every scale of rows and columns. */
static void finds_the_one_solution_of_p_matrices(void **state) {
    rg_random random = rg_random_make(12);
    for (int round = 0; round < 1000; round++) {
        size_t n = 1 + (size_t)rg_random_below(&random, 9);
        double matrix[MOST * MOST], b[MOST], f[MOST], a[MOST], forces[KEPT * MOST];
        for (size_t i = 0; i < n; i++) {
            b[i] = rg_random_normal(&random);
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] = rg_random_between(&random, -1, 1);
            matrix[i * n + i] = (double)n;
        }
        for (size_t i = 0; round % 2 && i < n; i++) {
            double scale = exp(rg_random_between(&random, -6, 6));
            for (size_t j = 0; j < n; j++)
                matrix[j * n + i] *= scale;
        }
        rg_problem problem = rg_problem_linear(n, matrix, b);
        rg_solution_set set;
        assert_int_equal(rg_solve_all(*state, &problem, 1e-10, forces, KEPT, &set, NULL), RG_OK);
        assert_int_equal(set.count, 1);
        assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
        for (size_t i = 0; i < n; i++)
            assert_near(f[i] * matrix[i * n + i], forces[i] * matrix[i * n + i], 1e-9);
    }
}

/* y >= 0, A'y <= 0, b'y < 0: then a = A f + b >= 0 with f >= 0 is impossible. */
static void check_farkas(size_t n, const double *matrix, const double *b, const double *y) {
    double size = 0, value = 0, norm = 0;
    for (size_t i = 0; i < n; i++)
        size = fmax(size, fabs(y[i]));
    for (size_t i = 0; i < n * n; i++)
        norm = fmax(norm, fabs(matrix[i]));
    assert_true(size > 0);
    for (size_t j = 0; j < n; j++) {
        double column = 0;
        for (size_t i = 0; i < n; i++)
            column += matrix[i * n + j] * y[i];
        assert_true(y[j] >= -1e-8 * size);
        assert_true(column <= 1e-7 * size * norm);
        value += b[j] * y[j];
    }
    assert_true(value < 0);
}

/* Every one ends within the cap with an answer, a proof, or a ray. What enumeration says is never
 * contradicted. */
static void ends_on_indefinite_matrices(void **state) {
    rg_random random = rg_random_make(13);
    int counts[RG_SOLVE_OUTCOMES] = {0}, solvable = 0, found = 0;
    uint64_t most = 0;
    for (int round = 0; round < 10000; round++) {
        size_t n = 1 + (size_t)rg_random_below(&random, 30);
        if (round % 2)
            n = 1 + n % 7;
        double matrix[MOST * MOST], b[MOST], f[MOST], a[MOST], ray[MOST], forces[KEPT * MOST];
        bool whole = round % 3 == 0, symmetric = round % 5 == 0;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] =
                    whole ? (double)rg_random_below(&random, 5) - 2 : rg_random_normal(&random);
            b[i] = whole ? (double)rg_random_below(&random, 5) - 2 : rg_random_normal(&random);
        }
        for (size_t i = 0; symmetric && i < n; i++)
            for (size_t j = 0; j < i; j++)
                matrix[i * n + j] = matrix[j * n + i];
        rg_problem problem = rg_problem_linear(n, matrix, b);
        rg_solve_info info = solve_by(state, "lemke", &problem, f, a, ray);
        counts[info.outcome]++;
        most = info.iterations > most ? info.iterations : most;
        assert_true(info.iterations <= 1000 + 50 * n);
        if (info.outcome == RG_SOLVE_INFEASIBLE)
            check_farkas(n, matrix, b, ray);
        if (round % 2 == 0)
            continue;
        rg_solution_set set;
        assert_int_equal(rg_solve_all(*state, &problem, 1e-10, forces, KEPT, &set, NULL), RG_OK);
        solvable += set.count > 0;
        found += info.outcome == RG_SOLVED;
        if (info.outcome == RG_SOLVED)
            assert_true(set.count > 0);
        if (info.outcome == RG_SOLVE_INFEASIBLE)
            assert_int_equal(set.count, 0);
    }
    print_message(
        "indefinite: %d solved, %d infeasible, %d ray, %d limit, %d singular, %d inexact; at "
        "most %llu pivots; of the small ones %d have a solution, %d found\n",
        counts[RG_SOLVED], counts[RG_SOLVE_INFEASIBLE], counts[RG_SOLVE_RAY],
        counts[RG_SOLVE_LIMIT], counts[RG_SOLVE_SINGULAR], counts[RG_SOLVE_INEXACT],
        (unsigned long long)most, solvable, found);
    assert_int_equal(counts[RG_SOLVE_INEXACT], 0);
    assert_true(found > solvable * 8 / 10);
}

/* --- friction --------------------------------------------------------------------------------- */

typedef struct contacts {
    double j[MOST * 3 * 12], w[MOST * 3 * MOST * 3], q[MOST * 3], mu[MOST];
} contacts;

/* Contacts on one or two bodies, W = J J' (at most 12 freedoms: redundant), q = J v. */
static rg_problem make_contacts(rg_random *random, contacts *c, size_t count, int dimension,
                                int directions, double unit) {
    size_t d = (size_t)dimension, rows = count * d,
           freedoms = 6 + 6 * (size_t)rg_random_below(random, 2);
    double v[12];
    for (size_t k = 0; k < freedoms; k++)
        v[k] = rg_random_normal(random);
    for (size_t i = 0; i < rows; i++) {
        c->q[i] = 0;
        for (size_t k = 0; k < freedoms; k++) {
            c->j[i * 12 + k] = rg_random_normal(random);
            c->q[i] += c->j[i * 12 + k] * v[k] * unit;
        }
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < rows; k++) {
            c->w[i * rows + k] = 0;
            for (size_t m = 0; m < freedoms; m++)
                c->w[i * rows + k] += unit * c->j[i * 12 + m] * c->j[k * 12 + m];
        }
    for (size_t i = 0; i < count; i++)
        c->mu[i] = rg_random_between(random, 0, 1);
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){.dimension = dimension,
                                           .contacts = count,
                                           .mu = c->mu,
                                           .directions = directions,
                                           .w = {.rows = rows, .columns = rows, .dense = c->w},
                                           .q = c->q};
    return problem;
}

/* Copositive: always a solution. The dense form of the same polygon, converted apart from this
 * solver, is solved to the same standard; where all contacts slide or all stick, that is the same
 * motion. */
static void solves_polygons(void **state) {
    static contacts c;
    rg_random random = rg_random_make(14);
    const int directions[] = {4, 8, 16, 6};
    uint64_t pivots = 0, pairs = 0;
    int rounds = test_cases(400, 4000);
    for (int round = 0; round < rounds; round++) {
        size_t count = 1 + (size_t)rg_random_below(&random, 12);
        int k = directions[round % 4], dimension = round % 5 == 0 ? 2 : 3;
        double unit = round % 3 == 0 ? 1 : round % 3 == 1 ? 1e-6 : 1e6;
        rg_problem problem = make_contacts(&random, &c, count, dimension, k, unit);
        double f[MOST * 3], a[MOST * 3];
        rg_solve_info info = solve(state, &problem, f, a);
        if (info.outcome != RG_SOLVED)
            fail_msg("round %d, %zu contacts, %d directions: %s, %g %s", round, count, k,
                     rg_solve_outcome_name(info.outcome), info.residual.natural, info.text);
        pivots += info.iterations;
        pairs += count * ((size_t)k + 2);
        if (round % 8 != 0 || dimension == 2)
            continue;
        rg_conversion conversion;
        rg_solve_context *context = *state;
        assert_int_equal(rg_convert(context, &problem, RG_CONVERT_POLYGON, &conversion, NULL),
                         RG_OK);
        size_t size = rg_problem_rows(&conversion.problem);
        double *dense = calloc(2 * size, sizeof *dense), back[MOST * 3];
        context->depth++; /* keep the conversion */
        info = solve(state, &conversion.problem, dense, dense + size);
        context->depth--;
        assert_int_equal(info.outcome, RG_SOLVED);
        rg_convert_back(&conversion, dense, back);
        rg_residual residual;
        assert_int_equal(rg_judge(&problem, back, NULL, NULL, &residual, NULL), RG_OK);
        assert_true(residual.natural < 1e-9);
        free(dense);
    }
    print_message("polygons: %.2f pivots per pair\n", (double)pivots / (double)pairs);
}

/* One contact: sticking, sliding and open have closed forms. */
static void solves_one_contact(void **state) {
    double w[] = {2, 0, 0, 0, 1, 0, 0, 0, 1}, mu[] = {0.5}, f[3], a[3];
    const double q[][3] = {{-2, 0.1, 0.2}, {-2, -3, 0}, {-2, 0, 3}, {1, 5, 5}};
    const double r[][3] = {{1, -0.1, -0.2}, {1, 0.5, 0}, {1, 0, -0.5}, {0, 0, 0}};
    for (size_t k = 0; k < 4; k++) {
        rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
        problem.contact = (rg_contact_problem){.dimension = 3,
                                               .contacts = 1,
                                               .mu = mu,
                                               .directions = 8,
                                               .w = {.rows = 3, .columns = 3, .dense = w},
                                               .q = q[k]};
        assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
        for (size_t i = 0; i < 3; i++)
            assert_near(f[i], r[k][i], 1e-14);
        if (k == 3)
            continue; /* no forces are right whatever the solver says */
        problem.contact.directions = 0;
        rg_solve_info info = solve(state, &problem, f, a);
        assert_int_equal(info.outcome, RG_SOLVE_UNSUITABLE);
        assert_non_null(strstr(info.text, "polygon"));
    }
}

/* Linear problems with static rows (one point: always a solution) and dynamic ones (Painleve). */
static void solves_friction_rows(void **state) {
    rg_random random = rg_random_make(15);
    uint8_t kinds[] = {RG_ROW_UNILATERAL, RG_ROW_STATIC};
    uint32_t normal[] = {0, 0};
    double mu[] = {0, 0}, f[2], a[2], ray[2];
    for (int round = 0; round < 5000; round++) {
        double p = rg_random_between(&random, 0.1, 2), q = rg_random_between(&random, 0.1, 2);
        double mixed = rg_random_between(&random, -1, 1) * sqrt(p * q);
        double matrix[] = {p, mixed, mixed, q};
        double b[] = {rg_random_normal(&random), rg_random_normal(&random)};
        mu[1] = rg_random_between(&random, 0, 3);
        rg_problem problem = rg_problem_linear(2, matrix, b);
        problem.linear.kinds = kinds;
        problem.linear.normal = normal;
        problem.linear.mu = mu;
        assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    }
    double c = 1 / sqrt(5.0), s = 2 * c;
    double rod[] = {1 + 3 * c * c, 3 * s * c, 3 * s * c, 1 + 3 * s * s}, b[] = {-9.81, 0};
    rg_problem problem = rg_problem_linear(2, rod, b);
    problem.linear.kinds = kinds;
    problem.linear.normal = normal;
    problem.linear.mu = mu;
    mu[1] = 2;
    assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    assert_near(f[0], 8.3385, 1e-12);
    assert_near(fabs(f[1]), 2.943, 1e-12);
    kinds[1] = RG_ROW_DYNAMIC;
    mu[1] = -2; /* A = -0.8: no solution, and the ray says so */
    rg_solve_info info = solve_by(state, "lemke", &problem, f, a, ray);
    assert_int_equal(info.outcome, RG_SOLVE_INFEASIBLE);
    assert_true(ray[0] > 0);
    assert_near(ray[1], -2 * ray[0], 1e-15 * ray[0]);
    mu[1] = 0.5;
    assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    assert_near(f[1], 0.5 * f[0], 1e-15);
    assert_near(a[0], 0, 1e-13);
}

/* --- equations -------------------------------------------------------------------------------- */

static void proves_contradictions(void **state) {
    double matrix[] = {1, 1, 0, 1, 1, 0, 0, 0, 1}, b[] = {-2, -2, -1}, f[3], a[3], ray[3];
    uint8_t kinds[] = {RG_ROW_FREE, RG_ROW_FREE, RG_ROW_UNILATERAL};
    rg_problem problem = rg_problem_linear(3, matrix, b);
    problem.linear.kinds = kinds;
    assert_int_equal(solve(state, &problem, f, a).outcome, RG_SOLVED);
    assert_near(f[0] + f[1], 2, 1e-14);
    assert_near(f[2], 1, 1e-14);
    b[1] = -2.5;
    rg_solve_info info = solve_by(state, "lemke", &problem, f, a, ray);
    assert_int_equal(info.outcome, RG_SOLVE_INFEASIBLE);
    double right = 0;
    for (size_t j = 0; j < 3; j++) {
        double column = 0;
        for (size_t i = 0; i < 3; i++)
            column += matrix[i * 3 + j] * ray[i];
        assert_near(column, 0, 1e-14);
        right += b[j] * ray[j];
    }
    assert_true(fabs(right) > 0.1);
}

/* Random equations with pairs, unsymmetric and with a singular block of equations: what lemke
 * solves is right (the judge), and it solves most of what has a solution. */
static void takes_singular_equations(void **state) {
    rg_random random = rg_random_make(16);
    int solvable = 0, found = 0;
    for (int round = 0; round < 1000; round++) {
        enum { E = 3, N = 7 };
        double matrix[N * N], b[N], f[N], a[N], forces[KEPT * N];
        uint8_t kinds[N];
        for (size_t i = 0; i < N; i++) {
            kinds[i] = i < E ? RG_ROW_FREE : RG_ROW_UNILATERAL;
            b[i] = rg_random_normal(&random);
            for (size_t j = 0; j < N; j++)
                matrix[i * N + j] = i < E && j < E ? 0 : rg_random_normal(&random);
        }
        /* Skew between equations and pairs, definite among the pairs: monotone, as circuits are. */
        for (size_t i = 0; i < E; i++)
            for (size_t j = E; j < N; j++)
                matrix[j * N + i] = -matrix[i * N + j];
        for (size_t i = E; i < N; i++)
            matrix[i * N + i] += 4;
        rg_problem problem = rg_problem_linear(N, matrix, b);
        problem.linear.kinds = kinds;
        rg_solution_set set;
        assert_int_equal(rg_solve_all(*state, &problem, 1e-10, forces, KEPT, &set, NULL), RG_OK);
        rg_solve_info info = solve(state, &problem, f, a);
        solvable += set.count > 0;
        found += info.outcome == RG_SOLVED;
        if (info.outcome == RG_SOLVE_INFEASIBLE)
            assert_int_equal(set.count, 0);
    }
    print_message("equations without a regular block: %d of %d found\n", found, solvable);
    assert_true(found >= solvable * 95 / 100);
}

/* --- resources -------------------------------------------------------------------------------- */

static void takes_no_memory_once_warm(void **state) {
    (void)state;
    static contacts c;
    rg_random random = rg_random_make(17);
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(&allocator, &context), RG_OK);
    rg_problem problem = make_contacts(&random, &c, 12, 3, 8, 1);
    double f[MOST * 3], before[MOST * 3];
    rg_solution solution = {.force = f};
    for (int round = 0; round < 4; round++) {
        size_t calls = counter.resizes;
        rg_solve_info info;
        assert_int_equal(
            rg_solve(context, rg_solver_find("lemke"), &problem, NULL, &solution, &info, NULL),
            RG_OK);
        assert_int_equal(info.outcome, RG_SOLVED);
        if (round > 1) {
            assert_int_equal(counter.resizes, calls);
            assert_memory_equal(f, before, 36 * sizeof *f);
        }
        memcpy(before, f, 36 * sizeof *f);
    }
    rg_solve_context_destroy(context);
    /* Without memory it says so. */
    for (size_t fail = 1; fail < 4; fail++) {
        allocator = counting_allocator_make(&counter);
        counter.fail_after = fail;
        if (rg_solve_context_create(&allocator, &context) != RG_OK)
            continue;
        rg_status status =
            rg_solve(context, rg_solver_find("lemke"), &problem, NULL, &solution, NULL, NULL);
        assert_true(status == RG_OUT_OF_MEMORY || status == RG_OK);
        rg_solve_context_destroy(context);
    }
}

static void keeps_to_the_limit(void **state) {
    static contacts c;
    rg_random random = rg_random_make(18);
    rg_problem problem = make_contacts(&random, &c, 12, 3, 8, 1);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.iteration_limit = 3;
    double f[MOST * 3];
    rg_solution solution = {.force = f};
    rg_solve_info info;
    assert_int_equal(
        rg_solve(*state, rg_solver_find("lemke"), &problem, &settings, &solution, &info, NULL),
        RG_OK);
    assert_int_equal(info.outcome, RG_SOLVE_LIMIT);
    assert_int_equal(info.iterations, 3);
}

/* A contact is as many pairs as its polygon has corners, and two more; in the plane there are two
 * corners. */
static void polygons_have_as_many_pairs(void **state) {
    double w[36] = {0}, q[6] = {-1, 0.1, 0.2, -1, 0.3, 0}, mu[3] = {0.5, 0.5, 0.5};
    for (size_t i = 0; i < 6; i++)
        w[7 * i] = 1;
    for (size_t corners = 2; corners <= 12; corners += corners == 2 ? 2 : 4) {
        bool plane = corners == 2, consistent;
        rg_problem problem = {.kind = RG_PROBLEM_CONTACT,
                              .contact = {.dimension = plane ? 2 : 3,
                                          .contacts = plane ? 3 : 2,
                                          .mu = mu,
                                          .directions = plane ? 0 : (int)corners,
                                          .form = RG_FORM_LOCAL,
                                          .w = {.rows = 6, .columns = 6, .dense = w},
                                          .q = q}};
        rg_solve_context *context = *state;
        rg_pairs pairs;
        assert_int_equal(rg_pairs_make(&pairs, context, &problem, false, &consistent, NULL, NULL),
                         RG_OK);
        assert_true(consistent);
        assert_int_equal(pairs.count, problem.contact.contacts * (corners + 2));
        rg_arena_reset(&context->arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gives_worked_cases, set_up, tear_down),
        cmocka_unit_test_setup_teardown(solves_the_brick_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(agrees_with_enumeration_when_semidefinite, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(finds_the_one_solution_of_p_matrices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_on_indefinite_matrices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(solves_polygons, set_up, tear_down),
        cmocka_unit_test_setup_teardown(solves_one_contact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(solves_friction_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(proves_contradictions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_singular_equations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_no_memory_once_warm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeps_to_the_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(polygons_have_as_many_pairs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
