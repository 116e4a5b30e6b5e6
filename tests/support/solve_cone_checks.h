/* Test only: what every solver of the exact cone must get right. Closed forms, families at several
 * scales and mass ratios, joint rows, memory. The test file says which solver, by CONE_CHECKS. */
#ifndef RIGOR_TEST_SOLVE_CONE_CHECKS_H
#define RIGOR_TEST_SOLVE_CONE_CHECKS_H

#include "test_support.h"

#include "base/base_math.h"
#include "rigor/solver.h"
#include "solve_families.h"

#include <stdio.h>

typedef struct cone_check {
    const char *solver;
    rg_solve_context *context;
} cone_check;

/* Solves cold; the info by the judge. */
static inline rg_solve_info cone_solve(const cone_check *check, const rg_problem *problem,
                                       double tolerance, double *force, double *velocity) {
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = tolerance;
    rg_solution solution = {.force = force, .velocity = velocity};
    rg_solve_info info;
    rg_error error;
    rg_status status = rg_solve(check->context, rg_solver_find(check->solver), problem, &settings,
                                &solution, &info, &error);
    if (status != RG_OK)
        fail_msg("%s", error.text);
    return info;
}

static inline void cone_expect_solved(const rg_solve_info *info, double tolerance,
                                      const char *what) {
    if (info->outcome != RG_SOLVED || !(info->residual.natural <= tolerance))
        fail_msg("%s: %s, residual %.3g: %s", what, rg_solve_outcome_name(info->outcome),
                 info->residual.natural, info->text);
}

static inline rg_problem cone_local(int dimension, size_t contacts, size_t joints, const double *w,
                                    const double *q, const double *mu) {
    size_t rows = contacts * (size_t)dimension + joints;
    return (rg_problem){.kind = RG_PROBLEM_CONTACT,
                        .contact = {.dimension = dimension,
                                    .contacts = contacts,
                                    .joints = joints,
                                    .mu = mu,
                                    .form = RG_FORM_LOCAL,
                                    .w = {.rows = rows, .columns = rows, .dense = w},
                                    .q = q}};
}

/* Baraff 1989, figures 8 and 9; the four-legged table (rank 3 of 4). */
static inline void cone_check_frictionless(const cone_check *check) {
    double f[4], a[4];
    {
        double m = 2, inertia = 0.37, x[2] = {-0.4, 0.6}, w[4], q[2] = {-9.81, -9.81};
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                w[2 * i + j] = 1 / m + x[i] * x[j] / inertia;
        rg_problem problem = cone_local(1, 2, 0, w, q, NULL);
        rg_solve_info info = cone_solve(check, &problem, 1e-12, f, a);
        cone_expect_solved(&info, 1e-12, "figure 8");
        assert_near(f[0], 11.772, 1e-9);
        assert_near(f[1], 7.848, 1e-9);
    }
    {
        double w[4] = {1.15, 1.6, 1.6, 3.4}, q[2] = {-9.81, -9.81};
        rg_problem problem = cone_local(1, 2, 0, w, q, NULL);
        rg_solve_info info = cone_solve(check, &problem, 1e-12, f, a);
        cone_expect_solved(&info, 1e-12, "figure 9");
        assert_near(f[0], 9.81 / 1.15, 1e-9);
        assert_near(f[1], 0, 1e-9);
        assert_near(a[1], 1.6 * 9.81 / 1.15 - 9.81, 1e-9);
    }
    {
        double x[4] = {-1, 1, 1, -1}, y[4] = {-1, -1, 1, 1}, w[16], q[4], sum = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = -9.81;
            for (int j = 0; j < 4; j++)
                w[4 * i + j] = 1 / 5.0 + x[i] * x[j] / 2 + y[i] * y[j] / 3;
        }
        rg_problem problem = cone_local(1, 4, 0, w, q, NULL);
        rg_solve_info info = cone_solve(check, &problem, 1e-12, f, a);
        cone_expect_solved(&info, 1e-12, "table");
        for (int i = 0; i < 4; i++) {
            assert_near(a[i], 0, 1e-10);
            sum += f[i];
        }
        assert_near(sum, 5 * 9.81, 1e-8);
    }
}

/* A point on an incline: sticks iff tan(theta) <= mu, otherwise slides with g (sin - mu cos); in
 * space along any direction, in the plane, and nearly on the limit. Unit of mass `m`. */
static inline void cone_check_incline(const cone_check *check) {
    const double g = 9.81, theta = RG_PI / 6;
    for (int unit = -6; unit <= 6; unit += 6)
        for (int dimension = 2; dimension <= 3; dimension++)
            for (int k = 0; k < 7; k++) {
                static const double MU[] = {0, 0.05, 0.3, 0.577, 0.578, 1, 10};
                double m = pow(10, unit), mu = MU[k], w[9] = {0}, f[3], a[3];
                double heading = dimension == 3 ? 0.7 : 0;
                double q[3] = {-g * cos(theta), g * sin(theta) * cos(heading),
                               g * sin(theta) * sin(heading)};
                for (int i = 0; i < dimension; i++)
                    w[i * dimension + i] = 1 / m;
                rg_problem problem = cone_local(dimension, 1, 0, w, q, &mu);
                rg_solve_info info = cone_solve(check, &problem, 1e-11, f, a);
                cone_expect_solved(&info, 1e-11, "incline");
                double slide = fmax(0, g * (sin(theta) - mu * cos(theta)));
                assert_near(f[0], m * g * cos(theta), 1e-9 * m);
                assert_near(a[1], slide * cos(heading), 1e-9);
                if (dimension == 3)
                    assert_near(a[2], slide * sin(heading), 1e-9);
            }
}

/* One joint row between bounds; a free row beside a contact; a fixed force. */
static inline void cone_check_joints(const cone_check *check) {
    double one = 2, lower = -1, upper = 1, f[3], a[3];
    static const double Q[] = {-6, -1, 0, 0.5, 9};
    static const double F[] = {1, 0.5, 0, -0.25, -1};
    for (int k = 0; k < 5; k++)
        for (int open = 0; open < 3; open++) {
            double low = open == 1 ? -INFINITY : lower, high = open == 2 ? INFINITY : upper;
            rg_problem problem = cone_local(3, 0, 1, &one, &Q[k], NULL);
            problem.contact.lower = &low;
            problem.contact.upper = &high;
            problem.scale = 1;
            rg_solve_info info = cone_solve(check, &problem, 1e-11, f, a);
            cone_expect_solved(&info, 1e-11, "bounded row");
            double expected = -Q[k] / 2;
            assert_near(f[0], fmin(fmax(expected, low), high), 1e-9);
            if (!open)
                assert_near(f[0], F[k], 1e-9);
        }
    /* Two bodies of mass 1 in a line, tied; the first on the floor: u = (v1, v1 - v2). */
    double w[4] = {1, 1, 1, 2}, q[2] = {-1, 0.5};
    rg_problem problem = cone_local(1, 1, 1, w, q, NULL);
    rg_solve_info info = cone_solve(check, &problem, 1e-11, f, a);
    cone_expect_solved(&info, 1e-11, "free row");
    /* f1 + f2 = 1, f1 + 2 f2 = -0.5. */
    assert_near(f[0], 2.5, 1e-8);
    assert_near(f[1], -1.5, 1e-8);
    double fixed = -0.75;
    problem.contact.lower = problem.contact.upper = &fixed;
    info = cone_solve(check, &problem, 1e-11, f, a);
    cone_expect_solved(&info, 1e-11, "fixed force");
    assert_near(f[1], fixed, 1e-9);
    assert_near(f[0], 1.75, 1e-8);
}

/* The same problem in kilograms and in micrograms, in metres and in kilometres. */
typedef struct cone_rescaled {
    double *mass, *free_velocity, *q;
    rg_problem problem;
} cone_rescaled;
static inline cone_rescaled cone_rescale(const rg_problem *global, double mass, double length) {
    const rg_contact_problem *c = &global->contact;
    size_t n = (size_t)c->global.freedom, blocks = c->global.blocks;
    size_t rows = rg_problem_rows(global);
    cone_rescaled r = {.problem = *global};
    r.mass = malloc((blocks * n * n + 1) * sizeof(double));
    r.free_velocity = malloc((blocks * n + 1) * sizeof(double));
    r.q = malloc((rows + 1) * sizeof(double));
    for (size_t i = 0; i < blocks * n * n; i++)
        r.mass[i] = c->global.mass[i] * mass;
    for (size_t i = 0; i < blocks * n; i++)
        r.free_velocity[i] = c->global.free_velocity[i] * length;
    for (size_t i = 0; i < rows; i++)
        r.q[i] = c->q[i] * length;
    r.problem.contact.global.mass = r.mass;
    r.problem.contact.global.free_velocity = r.free_velocity;
    r.problem.contact.q = r.q;
    r.problem.scale = rg_problem_scale(global) * length;
    return r;
}
static inline void cone_rescaled_free(cone_rescaled *r) {
    free(r->mass);
    free(r->free_velocity);
    free(r->q);
}

static inline void cone_check_family(const cone_check *check, family_kind kind, size_t contacts,
                                     uint64_t seed, double mu, double tolerance) {
    solve_family *family = family_make(kind, contacts, seed, mu);
    const rg_problem *global = family_global(family);
    size_t rows = rg_problem_rows(global);
    double *force = calloc(rows, sizeof *force), *velocity = calloc(rows, sizeof *velocity),
           *other = calloc(rows, sizeof *other);
    char what[128];
    snprintf(what, sizeof what, "%s, %zu contacts, seed %llu, mu %g", family_name(kind), contacts,
             (unsigned long long)seed, mu);
    rg_solve_info info = cone_solve(check, global, tolerance, force, velocity);
    cone_expect_solved(&info, tolerance, what);
    /* Local form: the same motion where it is unique. */
    info = cone_solve(check, family_local(family), tolerance, force, other);
    cone_expect_solved(&info, tolerance, what);
    double scale = rg_problem_scale(global);
    if (mu == 0)
        for (size_t i = 0; i < rows; i++)
            assert_near(velocity[i], other[i], 1e-6 * scale);
    static const double UNITS[][2] = {{1e-6, 1}, {1e6, 1}, {1, 1e-6}, {1, 1e6}};
    for (int k = 0; k < 4; k++) {
        cone_rescaled rescaled = cone_rescale(global, UNITS[k][0], UNITS[k][1]);
        info = cone_solve(check, &rescaled.problem, tolerance, force, NULL);
        cone_expect_solved(&info, tolerance, what);
        cone_rescaled_free(&rescaled);
    }
    free(force);
    free(velocity);
    free(other);
    family_free(family);
}

/* A tower of blocks, the top one `ratio` times the mass of those below: nothing moves. */
static inline void cone_check_mass_ratio(const cone_check *check, double ratio, double tolerance) {
    enum { BLOCKS = 5 };
    double mass[BLOCKS * 9] = {0}, free_velocity[BLOCKS * 3] = {0}, jacobian[BLOCKS * 2 * 12];
    double q[BLOCKS * 4] = {0}, mu[BLOCKS * 2], force[BLOCKS * 4], velocity[BLOCKS * 4], sum = 0;
    uint32_t blocks[BLOCKS * 4];
    memset(jacobian, 0, sizeof jacobian);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        double m = i == BLOCKS - 1 ? ratio : 1;
        mass[9 * i] = mass[9 * i + 4] = m;
        mass[9 * i + 8] = m / 6;
        free_velocity[3 * i + 1] = -0.04;
        sum += m;
        for (uint32_t side = 0; side < 2; side++) { /* corners at +-1/2 of the unit squares */
            size_t contact = 2 * i + side;
            double x = side ? 0.5 : -0.5;
            mu[contact] = 0.5;
            blocks[2 * contact] = i ? i - 1 : RG_NO_BLOCK;
            blocks[2 * contact + 1] = i;
            double *below = jacobian + contact * 12, *above = below + 6;
            /* Rows normal (y) and tangent (x) over (vx, vy, omega); arm (x, +-1/2). */
            double upper[6] = {0, 1, x, 1, 0, 0.5}, lower[6] = {0, -1, -x, -1, 0, 0.5};
            memcpy(above, upper, sizeof upper);
            if (i)
                memcpy(below, lower, sizeof lower);
        }
    }
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT,
                          .contact = {.dimension = 2,
                                      .contacts = 2 * BLOCKS,
                                      .mu = mu,
                                      .form = RG_FORM_GLOBAL,
                                      .q = q,
                                      .global = {.blocks = BLOCKS,
                                                 .freedom = 3,
                                                 .mass = mass,
                                                 .free_velocity = free_velocity,
                                                 .contact_blocks = blocks,
                                                 .contact_jacobian = jacobian}}};
    rg_solve_info info = cone_solve(check, &problem, tolerance, force, velocity);
    cone_expect_solved(&info, tolerance, "mass ratio");
    for (int i = 0; i < BLOCKS * 4; i++)
        assert_near(velocity[i], 0, 1e-8 * 0.04);
    assert_near(force[0] + force[2], sum * 0.04, 1e-7 * sum);
}

/* Once warm, no call to the heap; every failure of the allocator is reported. */
static inline void cone_check_memory(const cone_check *check) {
    solve_family *family = family_make(FAMILY_PILE, 20, 1, 0.5);
    const rg_problem *problem = family_global(family);
    double *force = calloc(rg_problem_rows(problem), sizeof *force);
    rg_solution solution = {.force = force};
    rg_solve_settings settings = rg_solve_settings_default();
    const rg_solver *solver = rg_solver_find(check->solver);
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(&allocator, &context), RG_OK);
    size_t before = 0;
    for (int round = 0; round < 4; round++) {
        before = counter.resizes;
        assert_int_equal(rg_solve(context, solver, problem, &settings, &solution, NULL, NULL),
                         RG_OK);
    }
    assert_int_equal(counter.resizes, before);
    rg_solve_context_destroy(context);
    for (size_t fail = 1;; fail++) {
        allocator = counting_allocator_make(&counter);
        counter.fail_after = fail;
        rg_status status = rg_solve_context_create(&allocator, &context);
        if (status != RG_OK)
            continue;
        status = rg_solve(context, solver, problem, &settings, &solution, NULL, NULL);
        rg_solve_context_destroy(context);
        if (status == RG_OK)
            break;
        assert_int_equal(status, RG_OUT_OF_MEMORY);
    }
    free(force);
    family_free(family);
}

static inline int cone_group_setup(cone_check *check) {
    return rg_solve_context_create(NULL, &check->context) == RG_OK ? 0 : -1;
}

/* The solver under test, and the tests that need nothing but its name. */
#define CONE_CHECKS(name)                                                                          \
    static cone_check check = {.solver = (name)};                                                  \
    static void test_frictionless(void **state) {                                                  \
        (void)state;                                                                               \
        cone_check_frictionless(&check);                                                           \
    }                                                                                              \
    static void test_incline(void **state) {                                                       \
        (void)state;                                                                               \
        cone_check_incline(&check);                                                                \
    }                                                                                              \
    static void test_joints(void **state) {                                                        \
        (void)state;                                                                               \
        cone_check_joints(&check);                                                                 \
    }                                                                                              \
    static void test_memory(void **state) {                                                        \
        (void)state;                                                                               \
        cone_check_memory(&check);                                                                 \
    }                                                                                              \
    typedef int cone_checks_end /* takes the semicolon */

#endif
