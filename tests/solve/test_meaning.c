/* What an answer means: uniqueness of forces and motion, friction without a solution or with
 * several (Baraff 1994 survey, section 7), Loetstedt's law. */
#include "test_support.h"

#include "rigor/random.h"
#include "rigor/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define G 9.81
enum { ROWS_MOST = 12, FREEDOM_MOST = 24, FOUND_MOST = 64 };

static rg_solve_context *context;

static int open_context(void **state) {
    (void)state;
    return rg_solve_context_create(NULL, &context) == RG_OK ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    rg_solve_context_destroy(context);
    return 0;
}

/* --- uniqueness ------------------------------------------------------------------------------- */

/* A table (rows 0 to 3) that stands or tips, and apart from it a block on two supports (4, 5). */
static void table_and_block(double shift, double scale, double matrix[36], double b[6]) {
    static const double x[4] = {-.5, .5, .5, -.5}, y[4] = {-.4, -.4, .4, .4}, s[2] = {-.4, .6};
    memset(matrix, 0, 36 * sizeof *matrix);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            matrix[6 * i + j] =
                scale * (1 / 8. + y[i] * y[j] / .5 + (x[i] - shift) * (x[j] - shift) / .7);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            matrix[6 * (4 + i) + 4 + j] = scale * (.5 + s[i] * s[j] / .1);
    for (int i = 0; i < 6; i++)
        b[i] = -G;
}

static void expect_uniqueness(const rg_problem *problem, const double *f, size_t active,
                              size_t rank, bool motion, const char *marks) {
    rg_uniqueness u;
    uint8_t indeterminate[ROWS_MOST];
    size_t rows = rg_problem_rows(problem), marked = 0;
    assert_int_equal(rg_solution_uniqueness(context, problem, f, &u, indeterminate, NULL), RG_OK);
    assert_int_equal(u.active_rows, active);
    assert_int_equal(u.rank, rank);
    assert_int_equal(u.unique, active == rank);
    assert_int_equal(u.motion_unique, motion);
    for (size_t i = 0; i < rows; i++) {
        if (indeterminate[i] != (marks[i] == '?'))
            fail_msg("row %zu: indeterminate %d", i, indeterminate[i]);
        marked += indeterminate[i];
    }
    assert_int_equal(u.indeterminate, marked);
}

static void test_uniqueness_of_rows(void **state) {
    (void)state;
    for (double scale = 1e-6; scale < 1e7; scale *= 1e6) {
        double matrix[36], b[6];
        table_and_block(.1, scale, matrix, b);
        rg_problem rows = rg_problem_linear(6, matrix, b);
        rg_problem contacts = {.kind = RG_PROBLEM_CONTACT,
                               .contact = {.dimension = 1,
                                           .contacts = 6,
                                           .w = {.rows = 6, .columns = 6, .dense = matrix},
                                           .q = b}};
        /* Left legs .4 of the weight, right legs .6; or one leg without load. */
        double w = 8 * G / scale, block = 2 * G / scale;
        double even[6] = {.2 * w, .3 * w, .3 * w, .2 * w, .6 * block, .4 * block};
        double three[6] = {.4 * w, .1 * w, .5 * w, 0, .6 * block, .4 * block};
        expect_uniqueness(&rows, even, 6, 5, true, "????..");
        expect_uniqueness(&rows, three, 6, 5, true, "????..");
        expect_uniqueness(&contacts, even, 6, 5, true, "????..");
        /* Beyond the right legs: the left ones lift, and nothing is left open. */
        table_and_block(.7, scale, matrix, b);
        double pair = G / (1 / 8. + .04 / .7) / scale / 2;
        double tips[6] = {0, pair, pair, 0, .6 * block, .4 * block};
        expect_uniqueness(&rows, tips, 4, 4, true, "......");
        expect_uniqueness(&contacts, tips, 4, 4, true, "......");
    }
}

static void test_uniqueness_of_equations(void **state) {
    (void)state;
    /* The same equation twice, and a bounded row at its bound: only the first two are open. */
    static const double matrix[9] = {2, 2, 0, 2, 2, 0, 0, 0, 1}, b[3] = {-2, -2, -5};
    static const uint8_t kinds[3] = {RG_ROW_FREE, RG_ROW_FREE, RG_ROW_BOUNDED};
    static const double lower[3] = {0, 0, -1}, upper[3] = {0, 0, 1};
    rg_problem problem = rg_problem_linear(3, matrix, b);
    problem.linear.kinds = kinds;
    problem.linear.lower = lower, problem.linear.upper = upper;
    double f[3] = {3, -2, 1};
    expect_uniqueness(&problem, f, 2, 1, true, "??.");
    /* Inside its bounds it is determined. */
    static const double half[3] = {-2, -2, -.5};
    problem.linear.b = half;
    double g[3] = {3, -2, .5};
    expect_uniqueness(&problem, g, 3, 2, true, "??.");
}

/* A cube of half-side 1, mass 1, on the four corners of its lower face; velocity without forces
 * (vx, 0, -G): rows N, T1 = x, T2 = y. The global form of it. */
typedef struct cube {
    double mass[36], velocity[6], jacobian[4 * 2 * 3 * 6], q[12], mu[4];
    uint32_t blocks[8];
    rg_problem problem;
} cube;

static void cube_make(cube *c, double vx, double mu) {
    *c = (cube){.velocity = {vx, 0, -G, 0, 0, 0}};
    for (int i = 0; i < 6; i++)
        c->mass[7 * i] = i < 3 ? 1 : 2 / 3.;
    for (int i = 0; i < 4; i++) {
        double r[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, -1};
        static const int axis[3] = {2, 0, 1};
        for (int k = 0; k < 3; k++) {
            double e[3] = {0, 0, 0}, *j = c->jacobian + (size_t)(i * 2 * 3 + k) * 6;
            e[axis[k]] = 1;
            j[axis[k]] = 1;
            j[3] = r[1] * e[2] - r[2] * e[1];
            j[4] = r[2] * e[0] - r[0] * e[2];
            j[5] = r[0] * e[1] - r[1] * e[0];
        }
        c->blocks[2 * i] = 0, c->blocks[2 * i + 1] = RG_NO_BLOCK;
        c->mu[i] = mu;
    }
    c->problem = (rg_problem){.kind = RG_PROBLEM_CONTACT,
                              .contact = {.dimension = 3,
                                          .contacts = 4,
                                          .mu = c->mu,
                                          .form = RG_FORM_GLOBAL,
                                          .q = c->q,
                                          .global = {.blocks = 1,
                                                     .freedom = 6,
                                                     .mass = c->mass,
                                                     .free_velocity = c->velocity,
                                                     .contact_blocks = c->blocks,
                                                     .contact_jacobian = c->jacobian}}};
}

static void test_uniqueness_with_friction(void **state) {
    (void)state;
    cube c;
    /* At rest: 12 forces, 6 degrees of freedom. */
    cube_make(&c, 0, .3);
    double rest[12] = {0}, slide[12] = {0};
    for (int i = 0; i < 4; i++)
        rest[3 * i] = G / 4;
    rg_residual residual;
    assert_int_equal(rg_judge(&c.problem, rest, NULL, NULL, &residual, NULL), RG_OK);
    assert_true(residual.natural < 1e-14);
    expect_uniqueness(&c.problem, rest, 12, 6, true, "????????????");
    /* Sliding along x: the front legs carry .325 of the weight each, the others .175. Friction
     * along x follows the normals; there is none along y. */
    cube_make(&c, 30, .3);
    for (int i = 0; i < 4; i++) {
        slide[3 * i] = G * (i & 1 ? .325 : .175);
        slide[3 * i + 1] = -.3 * slide[3 * i];
    }
    assert_int_equal(rg_judge(&c.problem, slide, NULL, NULL, &residual, NULL), RG_OK);
    assert_true(residual.natural < 1e-14);
    expect_uniqueness(&c.problem, slide, 4, 3, true, "??.??.??.??.");
}

/* --- Painleve's rod --------------------------------------------------------------------------- */

static const double rod[4] = {1.6, 1.2, 1.2, 3.4};
static const uint8_t sliding[2] = {RG_ROW_UNILATERAL, RG_ROW_DYNAMIC};
static const uint8_t resting[2] = {RG_ROW_UNILATERAL, RG_ROW_STATIC};
static const uint32_t rod_normal[2] = {0, 0};
static const double sliding_mu[2] = {0, -2}, resting_mu[2] = {0, 2};

static rg_problem rod_problem(const uint8_t *kinds, const double *mu, const double *b) {
    rg_problem problem = rg_problem_linear(2, rod, b);
    problem.linear.kinds = kinds;
    problem.linear.normal = rod_normal;
    problem.linear.mu = mu;
    return problem;
}

static rg_friction_report explained(const rg_problem *problem, rg_solution_policy policy,
                                    double *forces, size_t capacity, double *ray) {
    rg_solve_settings settings = rg_solve_settings_default();
    settings.policy = policy;
    rg_friction_report report = {.forces = forces, .capacity = capacity, .ray = ray};
    rg_error error = {0};
    if (rg_friction_explain(context, problem, &settings, &report, &error))
        fail_msg("%s", error.text);
    return report;
}

static void expect_words(const rg_friction_report *report, const char *words) {
    if (!strstr(report->text, words))
        fail_msg("no \"%s\" in: %s", words, report->text);
}

static void test_inconsistent(void **state) {
    (void)state;
    double b[2] = {-G, 0}, forces[4], ray[2] = {0, 0};
    rg_problem problem = rod_problem(sliding, sliding_mu, b);
    rg_friction_report report = explained(&problem, RG_POLICY_SMALLEST_FORCE, forces, 2, ray);
    assert_int_equal(report.verdict, RG_FRICTION_INCONSISTENT);
    assert_int_equal(report.set.count, 0);
    expect_words(&report, "Inconsistent");
    expect_words(&report, "1.6");
    expect_words(&report, "-0.8");
    expect_words(&report, "-9.81");
    /* The impulse presses the tip down and brakes: (1, -2), and drives it in: -.8. */
    assert_true(ray[0] > 0);
    assert_near(ray[1] / ray[0], -2, 1e-12);
    /* Without room for forces or ray. */
    report = explained(&problem, RG_POLICY_SMALLEST_FORCE, NULL, 0, NULL);
    assert_int_equal(report.verdict, RG_FRICTION_INCONSISTENT);
}

static void test_indeterminate(void **state) {
    (void)state;
    double b[2] = {16 * 2 / sqrt(5) - G, -16 / sqrt(5)}, forces[4];
    rg_problem problem = rod_problem(sliding, sliding_mu, b);
    for (int k = 0; k < 2; k++) {
        rg_friction_report report = explained(
            &problem, k ? RG_POLICY_LARGEST_FORCE : RG_POLICY_SMALLEST_FORCE, forces, 2, NULL);
        assert_int_equal(report.verdict, RG_FRICTION_INDETERMINATE);
        assert_int_equal(report.set.count, 2);
        assert_int_equal(report.chosen, k);
        assert_near(forces[0], 0, 1e-12);
        assert_near(forces[2], 5.626044, 6e-7);
        assert_near(forces[3], -2 * 5.626044, 2e-6);
        expect_words(&report, "Indeterminate");
        expect_words(&report, "4.500835");
        expect_words(&report, "5.626044");
        expect_words(&report, "-0.8");
        expect_words(&report, k ? "takes the largest" : "takes the smallest");
        /* Room for one: the one that the policy wants. */
        report = explained(&problem, k ? RG_POLICY_LARGEST_FORCE : RG_POLICY_SMALLEST_FORCE, forces,
                           1, NULL);
        assert_int_equal(report.chosen, 0);
        assert_near(forces[0], k ? 5.626044 : 0, 6e-7);
    }
    double lifts[2] = {0, 0};
    rg_uniqueness u;
    assert_int_equal(rg_solution_uniqueness(context, &problem, lifts, &u, NULL, NULL), RG_OK);
    assert_false(u.motion_unique);
    assert_false(u.unique);
}

static void test_regular(void **state) {
    (void)state;
    double b[2] = {-G, 0}, forces[2 * 36];
    rg_problem problem = rod_problem(resting, resting_mu, b);
    rg_friction_report report = explained(&problem, RG_POLICY_SMALLEST_FORCE, forces, 2, NULL);
    assert_int_equal(report.verdict, RG_FRICTION_REGULAR);
    assert_int_equal(report.set.count, 1);
    assert_near(forces[0], 8.3385, 1e-9);
    assert_near(forces[1], -2.943, 1e-9);
    rg_uniqueness u;
    assert_int_equal(rg_solution_uniqueness(context, &problem, forces, &u, NULL, NULL), RG_OK);
    assert_true(u.unique && u.motion_unique);
    assert_int_equal(u.rank, 2);
    /* A table has many forces but one motion. */
    double matrix[36], table_b[6];
    table_and_block(.1, 1, matrix, table_b);
    rg_problem table = rg_problem_linear(6, matrix, table_b);
    report = explained(&table, RG_POLICY_SMALLEST_FORCE, forces, 2, NULL);
    assert_int_equal(report.verdict, RG_FRICTION_REGULAR);
    assert_true(report.set.count > 1 || report.set.continuum);
    expect_words(&report, "not the only ones");
}

static void test_undecided_and_bad_input(void **state) {
    (void)state;
    /* In space the cone has no list of modes. */
    cube c;
    cube_make(&c, 0, .3);
    double forces[12] = {0};
    rg_friction_report report = explained(&c.problem, RG_POLICY_SMALLEST_FORCE, forces, 1, NULL);
    assert_int_equal(report.verdict, RG_FRICTION_UNDECIDED);
    expect_words(&report, "Undecided");
    rg_error error;
    rg_uniqueness u;
    forces[5] = NAN;
    assert_int_equal(rg_solution_uniqueness(context, &c.problem, forces, &u, NULL, &error),
                     RG_NOT_FINITE);
    c.mu[2] = -1;
    forces[5] = 0;
    assert_int_not_equal(rg_solution_uniqueness(context, &c.problem, forces, &u, NULL, &error),
                         RG_OK);
    report = (rg_friction_report){.forces = forces, .capacity = 1};
    assert_int_not_equal(rg_friction_explain(context, &c.problem, NULL, &report, &error), RG_OK);
}

/* --- random systems: all modes, counted here too ---------------------------------------------- */

typedef struct system_2d {
    size_t contacts, size;
    double matrix[ROWS_MOST * ROWS_MOST], b[ROWS_MOST], mu[ROWS_MOST];
    uint8_t kinds[ROWS_MOST];
    uint32_t normal[ROWS_MOST];
    rg_problem problem;
} system_2d;

/* Rows N, T of each contact; A = J M^-1 J' with random J and more freedom than rows: regular.
 * `dynamic`: the share of contacts that slide. */
static void system_make(system_2d *s, rg_random *random, size_t contacts, double dynamic,
                        double mu_most) {
    size_t n = 2 * contacts, freedom = n + 2;
    double jacobian[ROWS_MOST][FREEDOM_MOST], force[FREEDOM_MOST];
    *s = (system_2d){.contacts = contacts, .size = n};
    for (size_t k = 0; k < freedom; k++)
        force[k] = rg_random_normal(random);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < freedom; k++) {
            jacobian[i][k] = rg_random_normal(random);
            s->b[i] += jacobian[i][k] * force[k];
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < freedom; k++)
                s->matrix[n * i + j] += jacobian[i][k] * jacobian[j][k];
    for (size_t i = 0; i < contacts; i++) {
        bool slides = rg_random_unit(random) < dynamic;
        double mu = rg_random_between(random, 0, mu_most);
        s->kinds[2 * i + 1] = slides ? RG_ROW_DYNAMIC : RG_ROW_STATIC;
        s->mu[2 * i + 1] = slides && rg_random_below(random, 2) ? -mu : mu;
        s->normal[2 * i + 1] = (uint32_t)(2 * i);
    }
    s->problem = rg_problem_linear(n, s->matrix, s->b);
    s->problem.linear.kinds = s->kinds;
    s->problem.linear.normal = s->normal;
    s->problem.linear.mu = s->mu;
}

/* x of a x = b by elimination with row pivoting; false if singular. */
static bool solve_dense(size_t n, double *a, double *b) {
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        if (!(fabs(a[best * n + k]) > 1e-13))
            return false;
        for (size_t j = 0; j < n; j++) {
            double swap = a[k * n + j];
            a[k * n + j] = a[best * n + j], a[best * n + j] = swap;
        }
        double swap = b[k];
        b[k] = b[best], b[best] = swap;
        for (size_t i = 0; i < n; i++) {
            double factor = i == k ? 0 : a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (size_t k = 0; k < n; k++)
        b[k] /= a[k * n + k];
    return true;
}

/* Modes: 0 open, 1 closed (sliding contacts) or sticking, 2 slipping along +, 3 along -. As full
 * systems of all rows: nothing in common with the library's way. `margin`: the smallest slack of an
 * inequality. */
static bool solve_mode(const system_2d *s, const int *mode, double *f, double *margin) {
    size_t n = s->size;
    double a[ROWS_MOST * ROWS_MOST] = {0};
    for (size_t i = 0; i < s->contacts; i++) {
        size_t normal = 2 * i, tangent = normal + 1;
        f[normal] = f[tangent] = 0;
        bool dynamic = s->kinds[tangent] == RG_ROW_DYNAMIC;
        if (mode[i] == 0) {
            a[n * normal + normal] = 1;
        } else {
            memcpy(a + n * normal, s->matrix + n * normal, n * sizeof *a);
            f[normal] = -s->b[normal];
        }
        if (!dynamic && mode[i] == 1) {
            memcpy(a + n * tangent, s->matrix + n * tangent, n * sizeof *a);
            f[tangent] = -s->b[tangent];
        } else {
            a[n * tangent + tangent] = 1;
            a[n * tangent + normal] = -(mode[i] == 2 ? -s->mu[tangent] : s->mu[tangent]);
        }
    }
    if (!solve_dense(n, a, f))
        return false;
    *margin = INFINITY;
    for (size_t i = 0; i < s->contacts; i++) {
        size_t normal = 2 * i, tangent = normal + 1;
        double at[2] = {s->b[normal], s->b[tangent]};
        for (size_t j = 0; j < n; j++)
            at[0] += s->matrix[n * normal + j] * f[j], at[1] += s->matrix[n * tangent + j] * f[j];
        *margin = fmin(*margin, mode[i] == 0 ? at[0] : f[normal]);
        if (s->kinds[tangent] == RG_ROW_DYNAMIC || mode[i] == 0)
            continue;
        if (mode[i] == 1)
            *margin = fmin(*margin, s->mu[tangent] * f[normal] - fabs(f[tangent]));
        else
            *margin = fmin(*margin, mode[i] == 2 ? at[1] : -at[1]);
    }
    return true;
}

/* Solutions by every mode; `clear` false if some mode is too close to call. */
static size_t count_modes(const system_2d *s, double *found, bool *clear) {
    int mode[6] = {0};
    size_t count = 0;
    *clear = true;
    for (;;) {
        double f[ROWS_MOST], margin;
        if (solve_mode(s, mode, f, &margin)) {
            *clear &= fabs(margin) > 1e-7;
            if (margin > 0 && count < FOUND_MOST)
                memcpy(found + s->size * count++, f, s->size * sizeof *f);
        }
        size_t i = 0;
        for (; i < s->contacts; i++) {
            int most = s->kinds[2 * i + 1] == RG_ROW_DYNAMIC ? 1 : 3;
            if (++mode[i] <= most)
                break;
            mode[i] = 0;
        }
        if (i == s->contacts)
            return count;
    }
}

static bool is_listed(size_t n, const double *f, const double *list, size_t count) {
    for (size_t s = 0; s < count; s++) {
        double distance = 0, size = 0;
        for (size_t i = 0; i < n; i++) {
            distance = fmax(distance, fabs(f[i] - list[n * s + i]));
            size = fmax(size, fabs(f[i]));
        }
        if (distance <= 1e-7 * (1 + size))
            return true;
    }
    return false;
}

static void compare_with_modes(system_2d *s, size_t histogram[3]) {
    double mine[FOUND_MOST * ROWS_MOST], theirs[FOUND_MOST * ROWS_MOST];
    bool clear;
    size_t count = count_modes(s, mine, &clear);
    if (!clear)
        return;
    rg_friction_report report =
        explained(&s->problem, RG_POLICY_SMALLEST_FORCE, theirs, FOUND_MOST, NULL);
    if (report.set.count != count)
        fail_msg("%zu solutions found, there are %zu", report.set.count, count);
    for (size_t i = 0; i < count; i++)
        if (!is_listed(s->size, mine + s->size * i, theirs, count))
            fail_msg("solution %zu of %zu is not found", i, count);
    rg_friction_verdict expected = count == 0   ? RG_FRICTION_INCONSISTENT
                                   : count == 1 ? RG_FRICTION_REGULAR
                                                : RG_FRICTION_INDETERMINATE;
    if (report.verdict != expected)
        fail_msg("%zu solutions, verdict %d: %s", count, report.verdict, report.text);
    histogram[count < 2 ? count : 2]++;
}

static void test_static_modes(void **state) {
    (void)state;
    /* Static friction: always a solution (Baraff 1994 survey, 7.2), sometimes several that are
     * apart. */
    rg_random random = rg_random_make(42);
    size_t histogram[3] = {0};
    for (int k = 0; k < 600; k++) {
        system_2d s;
        size_t contacts = 1 + (size_t)k % 6;
        if (contacts > 4 && k % 4)
            contacts -= 4;
        system_make(&s, &random, contacts, 0, 4);
        compare_with_modes(&s, histogram);
    }
    print_message("static: %zu with one solution, %zu with several\n", histogram[1], histogram[2]);
    assert_int_equal(histogram[0], 0);
    assert_true(histogram[1] > 0 && histogram[2] > 0);
}

static void test_dynamic_modes(void **state) {
    (void)state;
    rg_random random = rg_random_make(43);
    size_t histogram[3] = {0};
    for (int k = 0; k < 2000; k++) {
        system_2d s;
        system_make(&s, &random, 1 + (size_t)k % 6, k % 2 ? 1 : .7, 3);
        size_t modes = 1;
        for (size_t i = 0; i < s.contacts; i++)
            modes *= s.kinds[2 * i + 1] == RG_ROW_DYNAMIC ? 2 : 4;
        if (modes <= 256)
            compare_with_modes(&s, histogram);
    }
    print_message("dynamic: %zu without a solution, %zu with one, %zu with several\n", histogram[0],
                  histogram[1], histogram[2]);
    assert_true(histogram[0] > 0 && histogram[1] > 0 && histogram[2] > 0);
}

/* --- Loetstedt's law -------------------------------------------------------------------------- */

/* The law, row by row: nothing of the library's. Relative to the largest |b|. */
static double lotstedt_residual(const system_2d *s, const double *reference, const double *f) {
    double worst = 0, scale = 0;
    for (size_t i = 0; i < s->size; i++)
        scale = fmax(scale, fabs(s->b[i]));
    for (size_t i = 0; i < s->size; i++) {
        double a = s->b[i], push = s->matrix[i * s->size + i];
        for (size_t j = 0; j < s->size; j++)
            a += s->matrix[i * s->size + j] * f[j];
        double lower = 0, upper = INFINITY;
        if (i % 2) {
            double limit = s->mu[i] * reference[i / 2];
            lower = s->kinds[i] == RG_ROW_DYNAMIC ? limit : -limit, upper = limit;
        }
        double to = f[i] - a / push;
        to = to < lower ? lower : to > upper ? upper : to;
        worst = fmax(worst, fabs(f[i] - to) * push / scale);
    }
    return worst;
}

static void test_lotstedt_is_never_inconsistent(void **state) {
    (void)state;
    static const char *const names[] = {"auto", "dantzig", "enumerate"};
    rg_random random = rg_random_make(41);
    size_t inconsistent = 0, several = 0;
    for (int k = 0; k < 1000; k++) {
        system_2d s;
        system_make(&s, &random, 1 + (size_t)k % 6, .6, 4);
        double given[6], frictionless[ROWS_MOST], found[FOUND_MOST * ROWS_MOST];
        for (size_t i = 0; i < s.contacts; i++)
            given[i] = rg_random_below(&random, 4) ? rg_random_unit(&random) : 0;
        /* What Coulomb's law would say: some have no solution, some several. */
        bool clear;
        size_t count = count_modes(&s, found, &clear);
        inconsistent += clear && count == 0, several += count > 1;
        /* Normal forces without friction. */
        system_2d slippery = s;
        slippery.problem = s.problem;
        slippery.problem.linear.matrix = slippery.matrix;
        double none[ROWS_MOST] = {0};
        slippery.problem.linear.mu = none;
        rg_solution solution = {.force = frictionless};
        rg_solve_info info;
        assert_int_equal(rg_solve(context, rg_solver_find("enumerate"), &slippery.problem, NULL,
                                  &solution, &info, NULL),
                         RG_OK);
        assert_int_equal(info.outcome, RG_SOLVED);
        double own[6];
        for (size_t i = 0; i < s.contacts; i++)
            own[i] = frictionless[2 * i];
        for (int v = 0; v < 6; v++) {
            rg_solve_settings settings = rg_solve_settings_default();
            settings.friction_law = RG_FRICTION_LOTSTEDT;
            settings.reference_normal = v % 2 ? given : NULL;
            double f[ROWS_MOST];
            solution.force = f;
            const rg_solver *solver = rg_solver_find(names[v / 2]);
            if (s.contacts > 4 && v / 2 == 2)
                continue;
            rg_error error = {0};
            if (rg_solve(context, solver, &s.problem, &settings, &solution, &info, &error))
                fail_msg("%s", error.text);
            if (info.outcome != RG_SOLVED)
                fail_msg("case %d by %s: %s (%s)", k, rg_solver_name(solver),
                         rg_solve_outcome_name(info.outcome), info.text);
            double residual = lotstedt_residual(&s, v % 2 ? given : own, f);
            if (!(residual < 1e-8))
                fail_msg("case %d by %s: residual %g", k, rg_solver_name(solver), residual);
        }
    }
    print_message("by Coulomb's law %zu of 1000 have no solution, %zu several\n", inconsistent,
                  several);
    assert_true(inconsistent > 0 && several > 0);
}

static void test_lotstedt_in_space(void **state) {
    (void)state;
    /* A cube that slides along x, at velocity level: given normal forces bound the friction by a
     * disc, whatever the load. Known in closed form: friction of every corner is mu N along -x as
     * long as all slide, so the cube as a whole is slowed by mu sum N / m. */
    static const char *const names[] = {"auto", "gauss-seidel", "newton", "admm"};
    double given[4] = {1, 2, 3, 4}, turned[4] = {2, 2, 2, 2};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        cube c;
        cube_make(&c, 30, .3);
        rg_solve_settings settings = rg_solve_settings_default();
        settings.friction_law = RG_FRICTION_LOTSTEDT;
        settings.reference_normal = turned;
        double f[12], u[12];
        rg_solution solution = {.force = f, .velocity = u};
        rg_solve_info info;
        assert_int_equal(rg_solve(context, rg_solver_find(names[k]), &c.problem, &settings,
                                  &solution, &info, NULL),
                         RG_OK);
        if (info.outcome != RG_SOLVED)
            fail_msg("%s: %s (%s), %g", names[k], rg_solve_outcome_name(info.outcome), info.text,
                     info.residual.natural);
        double sum = 0;
        for (int i = 0; i < 4; i++) {
            sum += f[3 * i];
            assert_near(f[3 * i + 1], -.6, 1e-8);
            assert_near(f[3 * i + 2], 0, 1e-8);
            assert_near(u[3 * i + 1], 30 - 2.4, 1e-7);
        }
        assert_near(sum, G, 1e-7);
        /* Uneven ones turn it: the law contact by contact. */
        settings.reference_normal = given;
        assert_int_equal(rg_solve(context, rg_solver_find(names[k]), &c.problem, &settings,
                                  &solution, &info, NULL),
                         RG_OK);
        assert_int_equal(info.outcome, RG_SOLVED);
        for (int i = 0; i < 4; i++) {
            double slip = hypot(u[3 * i + 1], u[3 * i + 2]), bound = .3 * given[i];
            assert_true(slip > 1);
            assert_near(f[3 * i + 1], -bound * u[3 * i + 1] / slip, 1e-7);
            assert_near(f[3 * i + 2], -bound * u[3 * i + 2] / slip, 1e-7);
            assert_true(f[3 * i] >= -1e-8 && u[3 * i] >= -1e-7 && f[3 * i] * u[3 * i] < 1e-6);
        }
    }
    /* A reference that is not a number. */
    cube c;
    cube_make(&c, 30, .3);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.friction_law = RG_FRICTION_LOTSTEDT;
    given[2] = NAN;
    settings.reference_normal = given;
    double f[12];
    rg_solution solution = {.force = f};
    assert_int_equal(
        rg_solve(context, rg_solver_find("auto"), &c.problem, &settings, &solution, NULL, NULL),
        RG_NOT_FINITE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniqueness_of_rows),
        cmocka_unit_test(test_uniqueness_of_equations),
        cmocka_unit_test(test_uniqueness_with_friction),
        cmocka_unit_test(test_inconsistent),
        cmocka_unit_test(test_indeterminate),
        cmocka_unit_test(test_regular),
        cmocka_unit_test(test_undecided_and_bad_input),
        cmocka_unit_test(test_static_modes),
        cmocka_unit_test(test_dynamic_modes),
        cmocka_unit_test(test_lotstedt_is_never_inconsistent),
        cmocka_unit_test(test_lotstedt_in_space),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
