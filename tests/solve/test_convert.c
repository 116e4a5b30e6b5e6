/* Problems in another form are the same problem: forces that answer one answer the other. */
#include "test_support.h"

#include "base/base_math.h"
#include "problem/problem.h"
#include "rigor/random.h"
#include "solve/solve.h"

#include <string.h>

enum { CONTACTS = 3, JOINTS = 2, BLOCKS = 3, FREEDOM = 6, ROWS_MAX = 3 * CONTACTS + JOINTS };

typedef struct sample {
    double mass[BLOCKS * FREEDOM * FREEDOM], velocity[BLOCKS * FREEDOM];
    double jacobian[CONTACTS * 2 * 3 * FREEDOM], joint[JOINTS * 2 * FREEDOM], q[ROWS_MAX];
    double mu[CONTACTS], lower[JOINTS], upper[JOINTS];
    uint32_t blocks[2 * CONTACTS], joint_blocks[2 * JOINTS];
    rg_problem problem;
} sample;

static void make(sample *s, uint64_t seed, int dimension, int directions, bool friction) {
    rg_random random = rg_random_make(seed);
    memset(s, 0, sizeof *s);
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < FREEDOM; i++)
            s->mass[(b * FREEDOM + i) * FREEDOM + i] = rg_random_between(&random, 0.5, 2);
    for (size_t i = 0; i < sizeof s->velocity / sizeof *s->velocity; i++)
        s->velocity[i] = rg_random_normal(&random);
    for (size_t i = 0; i < sizeof s->jacobian / sizeof *s->jacobian; i++)
        s->jacobian[i] = rg_random_normal(&random);
    for (size_t i = 0; i < sizeof s->joint / sizeof *s->joint; i++)
        s->joint[i] = rg_random_normal(&random);
    for (int i = 0; i < ROWS_MAX; i++)
        s->q[i] = rg_random_normal(&random);
    for (uint32_t i = 0; i < CONTACTS; i++) {
        s->mu[i] = rg_random_between(&random, 0.1, 1);
        s->blocks[2 * i] = i, s->blocks[2 * i + 1] = i == 0 ? RG_NO_BLOCK : i - 1;
    }
    s->lower[0] = -INFINITY, s->upper[0] = INFINITY, s->lower[1] = -0.1, s->upper[1] = 0.2;
    s->joint_blocks[0] = 0, s->joint_blocks[1] = 2, s->joint_blocks[2] = RG_NO_BLOCK;
    s->joint_blocks[3] = 1;
    s->problem.kind = RG_PROBLEM_CONTACT;
    s->problem.contact = (rg_contact_problem){.dimension = dimension,
                                              .contacts = CONTACTS,
                                              .joints = JOINTS,
                                              .mu = friction ? s->mu : NULL,
                                              .directions = directions,
                                              .lower = s->lower,
                                              .upper = s->upper,
                                              .form = RG_FORM_GLOBAL,
                                              .q = s->q};
    s->problem.contact.global = (rg_global_form){
        BLOCKS, FREEDOM, s->mass, s->velocity, s->blocks, s->jacobian, s->joint_blocks, s->joint};
    assert_int_equal(rg_problem_check(&s->problem, NULL), RG_OK);
}

/* Velocities of the converted problem are those of the original along the rows that are kept. */
static void velocities_agree(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    for (uint64_t seed = 1; seed <= 100; seed++) {
        int dimension = 1 + (int)(seed % 3);
        sample s;
        make(&s, seed, dimension, 8, true);
        rg_random random = rg_random_make(1000 + seed);
        double force[ROWS_MAX], original[ROWS_MAX], condensed[ROWS_MAX], back[ROWS_MAX];
        size_t rows = rg_problem_rows(&s.problem), d = (size_t)dimension;
        for (size_t i = 0; i < rows; i++)
            force[i] = rg_random_normal(&random);
        assert_int_equal(rg_judge_velocity(&s.problem, force, NULL, original, NULL), RG_OK);
        rg_conversion conversion;
        assert_int_equal(rg_convert(context, &s.problem, RG_CONVERT_CONDENSE, &conversion, NULL),
                         RG_OK);
        assert_int_equal(rg_problem_check(&conversion.problem, NULL), RG_OK);
        assert_int_equal(rg_judge_velocity(&conversion.problem, force, NULL, condensed, NULL),
                         RG_OK);
        for (size_t i = 0; i < rows; i++)
            assert_near(condensed[i], original[i], 1e-12);
        assert_near(rg_problem_scale(&conversion.problem), rg_problem_scale(&s.problem), 0);
        if (dimension == 1)
            continue;
        /* The polygon: forces along corners, velocities along corners plus lambda = 0. */
        assert_int_equal(rg_convert(context, &s.problem, RG_CONVERT_POLYGON, &conversion, NULL),
                         RG_OK);
        size_t size = rg_problem_rows(&conversion.problem), k = dimension == 2 ? 2 : 8;
        assert_int_equal(size, CONTACTS * (k + 2) + JOINTS);
        double mixed[64], a[64];
        rg_convert_force(&conversion, force, mixed);
        rg_convert_back(&conversion, mixed, back);
        for (size_t i = 0; i < rows; i++)
            assert_near(back[i], force[i], 1e-14);
        assert_int_equal(rg_judge_velocity(&conversion.problem, mixed, NULL, a, NULL), RG_OK);
        for (size_t i = 0; i < CONTACTS; i++) {
            assert_near(a[i], original[i * d], 1e-12);
            double beta = 0;
            for (size_t c = 0; c < k; c++) {
                double direction[2] = {c == 0 ? 1 : -1, 0};
                if (dimension == 3)
                    rg_polygon_direction(8, (int)c, direction);
                double along = direction[0] * original[i * d + 1];
                if (dimension == 3)
                    along += direction[1] * original[i * d + 2];
                assert_near(a[CONTACTS + i * k + c], along, 1e-12);
                assert_true(mixed[CONTACTS + i * k + c] >= 0);
                beta += mixed[CONTACTS + i * k + c];
            }
            assert_near(a[CONTACTS * (k + 1) + i], s.mu[i] * force[i * d] - beta, 1e-12);
        }
        for (size_t j = 0; j < JOINTS; j++)
            assert_near(a[CONTACTS * (k + 2) + j], original[CONTACTS * d + j], 1e-12);
        assert_int_equal(conversion.problem.linear.kinds[size - 2], RG_ROW_FREE);
        assert_int_equal(conversion.problem.linear.kinds[size - 1], RG_ROW_BOUNDED);
    }
    rg_solve_context_destroy(context);
}

/* Frictionless contacts and planar friction as rows: an answer there is an answer here. */
static void rows_are_judged_alike(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    for (uint64_t seed = 1; seed <= 100; seed++)
        for (int dimension = 1; dimension <= 3; dimension++) {
            bool friction = dimension == 2;
            sample s;
            make(&s, seed, dimension, 0, friction);
            rg_conversion conversion;
            assert_int_equal(rg_convert(context, &s.problem, RG_CONVERT_ROWS, &conversion, NULL),
                             RG_OK);
            assert_int_equal(rg_problem_check(&conversion.problem, NULL), RG_OK);
            size_t size = rg_problem_rows(&conversion.problem);
            assert_int_equal(size, CONTACTS * (friction ? 2u : 1u) + JOINTS);
            /* Plain projected sweeps are enough for an answer; no solver is involved. */
            const rg_linear_problem *p = &conversion.problem.linear;
            double f[16] = {0}, a[16], r[ROWS_MAX], again[16];
            for (int sweep = 0; sweep < 4000; sweep++)
                for (size_t i = 0; i < size; i++) {
                    rg_linear_apply(p, f, a);
                    double next = f[i] - a[i] / rg_linear_row(p, i)[i];
                    double limit = p->kinds[i] == RG_ROW_STATIC ? p->mu[i] * f[p->normal[i]] : 0;
                    double low = p->kinds[i] == RG_ROW_STATIC ? -limit : p->lower[i];
                    double high = p->kinds[i] == RG_ROW_STATIC ? limit : p->upper[i];
                    f[i] = next < low ? low : next > high ? high : next;
                }
            rg_residual there, here;
            assert_int_equal(rg_judge(&conversion.problem, f, NULL, NULL, &there, NULL), RG_OK);
            if (there.natural > 1e-9)
                continue; /* the sweeps did not get there; most do */
            rg_convert_back(&conversion, f, r);
            assert_int_equal(rg_judge(&s.problem, r, NULL, NULL, &here, NULL), RG_OK);
            assert_near(here.natural, 0, 1e-8);
            rg_convert_force(&conversion, r, again);
            for (size_t i = 0; i < size; i++)
                assert_true(again[i] == f[i]);
        }
    rg_solve_context_destroy(context);
}

/* Many contacts without friction, between neighbours in a row of bodies and some others; with
 * `star`, all of them at the first body. */
enum { MANY = 60 };

typedef struct crowd {
    double mass[MANY * FREEDOM * FREEDOM], velocity[MANY * FREEDOM];
    double jacobian[MANY * 2 * 3 * FREEDOM], q[3 * MANY];
    uint32_t blocks[2 * MANY];
    rg_problem problem;
} crowd;

static void make_crowd(crowd *s, uint64_t seed, bool star) {
    rg_random random = rg_random_make(seed);
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < MANY; i++) {
        for (int k = 0; k < FREEDOM; k++) {
            s->mass[(i * FREEDOM + (uint32_t)k) * FREEDOM + (uint32_t)k] =
                rg_random_between(&random, 0.5, 2);
            s->velocity[i * FREEDOM + (uint32_t)k] = rg_random_normal(&random);
        }
        uint32_t other = i % 7 == 3 ? (uint32_t)rg_random_below(&random, i) : i - 1;
        s->blocks[2 * i] = i, s->blocks[2 * i + 1] = i == 0 ? RG_NO_BLOCK : star ? 0 : other;
    }
    for (size_t i = 0; i < sizeof s->jacobian / sizeof *s->jacobian; i++)
        s->jacobian[i] = i % 5 == 4 ? 0 : rg_random_normal(&random);
    for (size_t i = 0; i < sizeof s->q / sizeof *s->q; i++)
        s->q[i] = rg_random_normal(&random);
    s->problem.kind = RG_PROBLEM_CONTACT;
    s->problem.contact =
        (rg_contact_problem){.dimension = 3, .contacts = MANY, .form = RG_FORM_GLOBAL, .q = s->q};
    s->problem.contact.global =
        (rg_global_form){MANY, FREEDOM, s->mass, s->velocity, s->blocks, s->jacobian, NULL, NULL};
    assert_int_equal(rg_problem_check(&s->problem, NULL), RG_OK);
}

/* The matrix by its entries is the dense one, to the last bit, and so are the forces. */
static void entries_are_those_of_the_matrix(void **state) {
    (void)state;
    static crowd s;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rg_conversion dense, few;
        make_crowd(&s, seed, false);
        assert_int_equal(rg_convert(context, &s.problem, RG_CONVERT_ROWS, &dense, NULL), RG_OK);
        assert_int_equal(rg_convert(context, &s.problem, RG_CONVERT_ENTRIES, &few, NULL), RG_OK);
        const rg_entries *e = &few.entries;
        assert_non_null(e->starts);
        assert_null(few.problem.linear.matrix);
        size_t at = 0;
        for (size_t i = 0; i < MANY; i++) {
            const double *row = rg_linear_row(&dense.problem.linear, i);
            assert_int_equal(e->starts[i], at);
            for (size_t j = 0; j < MANY; j++)
                if (row[j] != 0) {
                    assert_int_equal(e->columns[at], j);
                    assert_true(e->values[at++] == row[j]);
                }
            assert_true(few.problem.linear.b[i] == dense.problem.linear.b[i]);
        }
        assert_int_equal(e->starts[MANY], at);
        double force[3 * MANY] = {0}, rows[MANY] = {0};
        rg_solution by_entries = {.force = force}, by_matrix = {.force = rows};
        rg_solve_info info;
        assert_int_equal(
            rg_solve(context, &rg_solver_dantzig, &s.problem, NULL, &by_entries, &info, NULL),
            RG_OK);
        assert_int_equal(info.outcome, RG_SOLVED);
        make_crowd(&s, seed, false); /* what was converted lived in the context until then */
        assert_int_equal(rg_convert(context, &s.problem, RG_CONVERT_ROWS, &dense, NULL), RG_OK);
        static double matrix[MANY * MANY], b[MANY];
        rg_problem linear = {.kind = RG_PROBLEM_LINEAR, .scale = dense.problem.scale};
        memcpy(matrix, dense.problem.linear.matrix, sizeof matrix);
        memcpy(b, dense.problem.linear.b, sizeof b);
        uint8_t kinds[MANY] = {RG_ROW_UNILATERAL};
        linear.linear = (rg_linear_problem){.size = MANY, .matrix = matrix, .b = b, .kinds = kinds};
        assert_int_equal(
            rg_solve(context, &rg_solver_dantzig, &linear, NULL, &by_matrix, &info, NULL), RG_OK);
        for (size_t i = 0; i < MANY; i++)
            assert_true(force[3 * i] == rows[i]);
    }
    rg_solve_context_destroy(context);
}

/* Where all contacts share a body there is nothing to leave out. */
static void full_matrices_stay_dense(void **state) {
    (void)state;
    static crowd s;
    rg_conversion conversion;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    make_crowd(&s, 1, true);
    assert_int_equal(rg_convert(context, &s.problem, RG_CONVERT_ENTRIES, &conversion, NULL), RG_OK);
    assert_null(conversion.entries.starts);
    assert_non_null(conversion.problem.linear.matrix);
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_agree),
        cmocka_unit_test(rows_are_judged_alike),
        cmocka_unit_test(entries_are_those_of_the_matrix),
        cmocka_unit_test(full_matrices_stay_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
