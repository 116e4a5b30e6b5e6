/* The common ground of the cone solvers: products and linear systems, against W formed densely
 * here. */
#include "dense_support.h"
#include "test_support.h"

#include "rigor/random.h"
#include "solve/solve_system_parts.h"

#include <math.h>
#include <string.h>

enum {
    MAX_BODIES = 40,
    MAX_CONTACTS = 60,
    MAX_JOINTS = 8,
    MAX_ROWS = 3 * MAX_CONTACTS + MAX_JOINTS
};

/* A random problem in global form, and the same in local form with W = J M^-1 J' from dense algebra
 * that shares nothing with the code under test. */
typedef struct made {
    int dimension, freedom;
    size_t bodies, contacts, joints, rows;
    double mass[MAX_BODIES * 36], free_velocity[MAX_BODIES * 6];
    uint32_t contact_blocks[2 * MAX_CONTACTS], joint_blocks[2 * MAX_JOINTS];
    double contact_jacobian[MAX_CONTACTS * 36], joint_jacobian[MAX_JOINTS * 12];
    double q[MAX_ROWS], local_q[MAX_ROWS], mu[MAX_CONTACTS];
    double full[MAX_ROWS][MAX_BODIES * 6]; /* J */
    double w[MAX_ROWS * MAX_ROWS];
    size_t starts[MAX_ROWS + 1];
    uint32_t indices[MAX_ROWS * MAX_ROWS];
    double values[MAX_ROWS * MAX_ROWS];
    rg_problem global, local, sparse;
} made;

static void make_rows(made *p, rg_random *random, size_t row, size_t rows, uint32_t *blocks,
                      double *jacobian) {
    size_t f = (size_t)p->freedom;
    blocks[0] = (uint32_t)rg_random_below(random, p->bodies);
    blocks[1] = (uint32_t)rg_random_below(random, p->bodies + 2);
    if (blocks[1] >= p->bodies)
        blocks[1] = RG_NO_BLOCK;
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < rows; k++)
            for (size_t m = 0; m < f; m++) {
                double value = rg_random_normal(random);
                jacobian[((size_t)s * rows + k) * f + m] = value;
                if (blocks[s] != RG_NO_BLOCK)
                    p->full[row + k][blocks[s] * f + m] += value;
            }
}

static void condense(made *p) {
    size_t f = (size_t)p->freedom, n = p->rows, v = p->bodies * f;
    static double response[MAX_BODIES * 6];
    for (size_t j = 0; j < n; j++) {
        for (size_t b = 0; b < p->bodies; b++) {
            double copy[36];
            memcpy(copy, p->mass + b * f * f, f * f * sizeof(double));
            memcpy(response + b * f, p->full[j] + b * f, f * sizeof(double));
            solve_dense(copy, response + b * f, f);
        }
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < v; k++)
                sum += p->full[i][k] * response[k];
            p->w[i * n + j] = sum;
        }
    }
    p->starts[0] = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        p->local_q[i] = p->q[i];
        for (size_t k = 0; k < v; k++)
            p->local_q[i] += p->full[i][k] * p->free_velocity[k];
        for (size_t j = 0; j < n; j++)
            if (p->w[i * n + j] != 0) {
                p->indices[count] = (uint32_t)j;
                p->values[count++] = p->w[i * n + j];
            }
        p->starts[i + 1] = count;
    }
}

static void make(made *p, uint64_t seed, int dimension, int freedom, size_t bodies, size_t contacts,
                 size_t joints) {
    memset(p, 0, sizeof *p);
    rg_random random = rg_random_make(seed);
    size_t d = (size_t)dimension, f = (size_t)freedom;
    p->dimension = dimension, p->freedom = freedom;
    p->bodies = bodies, p->contacts = contacts, p->joints = joints;
    p->rows = contacts * d + joints;
    for (size_t b = 0; b < bodies; b++) {
        double root[36];
        for (size_t k = 0; k < f * f; k++)
            root[k] = rg_random_normal(&random);
        for (size_t i = 0; i < f; i++)
            for (size_t j = 0; j < f; j++) {
                double sum = i == j ? 0.5 : 0;
                for (size_t k = 0; k < f; k++)
                    sum += root[i * f + k] * root[j * f + k];
                p->mass[(b * f + i) * f + j] = sum;
            }
        for (size_t i = 0; i < f; i++)
            p->free_velocity[b * f + i] = rg_random_normal(&random);
    }
    for (size_t i = 0; i < contacts; i++) {
        p->mu[i] = rg_random_unit(&random);
        make_rows(p, &random, i * d, d, p->contact_blocks + 2 * i,
                  p->contact_jacobian + 2 * d * f * i);
    }
    for (size_t i = 0; i < joints; i++)
        make_rows(p, &random, contacts * d + i, 1, p->joint_blocks + 2 * i,
                  p->joint_jacobian + 2 * f * i);
    for (size_t i = 0; i < p->rows; i++)
        p->q[i] = rg_random_normal(&random);
    condense(p);
    rg_contact_problem contact = {.dimension = dimension,
                                  .contacts = contacts,
                                  .joints = joints,
                                  .mu = p->mu,
                                  .form = RG_FORM_GLOBAL,
                                  .q = p->q,
                                  .global = {bodies, freedom, p->mass, p->free_velocity,
                                             p->contact_blocks, p->contact_jacobian,
                                             p->joint_blocks, p->joint_jacobian}};
    p->global = (rg_problem){.kind = RG_PROBLEM_CONTACT, .contact = contact};
    contact.form = RG_FORM_LOCAL;
    contact.q = p->local_q;
    contact.w = (rg_matrix){.rows = p->rows, .columns = p->rows, .dense = p->w};
    p->local = (rg_problem){.kind = RG_PROBLEM_CONTACT, .contact = contact};
    contact.w = (rg_matrix){.rows = p->rows,
                            .columns = p->rows,
                            .starts = p->starts,
                            .indices = p->indices,
                            .values = p->values};
    p->sparse = (rg_problem){.kind = RG_PROBLEM_CONTACT, .contact = contact};
}

/* Blocks A (regular, positive) and B; with `symmetric` A^-1 B is symmetric. */
static void make_blocks(const made *p, uint64_t seed, bool symmetric, double *a, double *b) {
    rg_random random = rg_random_make(seed);
    size_t d = (size_t)p->dimension;
    for (size_t i = 0; i < p->contacts; i++)
        for (size_t k = 0; k < d; k++)
            for (size_t m = 0; m < d; m++) {
                size_t at = (i * d + k) * d + m;
                a[at] = (k == m ? 2 : 0) + (symmetric ? 0 : 0.3 * rg_random_normal(&random));
                b[at] = (k == m ? 1.5 : 0) +
                        (symmetric ? 0.1 * (double)(k + m) : 0.3 * rg_random_normal(&random));
            }
    for (size_t i = 0; i < p->joints; i++) {
        a[p->contacts * d * d + i] = 1e-6;
        b[p->contacts * d * d + i] = 1;
    }
}

typedef struct shape {
    int dimension, freedom;
    size_t bodies, contacts, joints;
} shape;
static const shape SHAPES[] = {{3, 6, 12, 20, 3}, {3, 6, 40, 60, 0}, {2, 3, 10, 18, 4},
                               {1, 6, 8, 10, 2},  {3, 6, 1, 4, 0},   {1, 1, 3, 3, 0},
                               {3, 6, 30, 40, 8}, {2, 3, 40, 50, 0}, {3, 6, 6, 0, 5}};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

static void make_shape(made *p, size_t k) {
    make(p, 77 + k, SHAPES[k].dimension, SHAPES[k].freedom, SHAPES[k].bodies, SHAPES[k].contacts,
         SHAPES[k].joints);
}

static double largest_difference(const double *a, const double *b, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

static made problem;

static rg_solve_context *context_make(void) {
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    return context;
}

static void test_products(void **state) {
    (void)state;
    for (size_t k = 0; k < SHAPE_COUNT; k++) {
        make_shape(&problem, k);
        rg_solve_context *context = context_make();
        const rg_problem *forms[] = {&problem.global, &problem.local, &problem.sparse};
        rg_random random = rg_random_make(k);
        double r[MAX_ROWS], expected[MAX_ROWS], u[MAX_ROWS], v[MAX_BODIES * 6];
        for (size_t i = 0; i < problem.rows; i++)
            r[i] = rg_random_normal(&random);
        for (size_t i = 0; i < problem.rows; i++) {
            expected[i] = problem.local_q[i];
            for (size_t j = 0; j < problem.rows; j++)
                expected[i] += problem.w[i * problem.rows + j] * r[j];
        }
        for (int f = 0; f < 3; f++) {
            rg_system system;
            assert_int_equal(rg_system_prepare(&system, context, forms[f], NULL), RG_OK);
            assert_int_equal(system.rows, problem.rows);
            rg_system_velocity(&system, r, v, u);
            assert_true(largest_difference(u, expected, problem.rows) < 1e-10);
            assert_true(largest_difference(system.free, problem.local_q, problem.rows) < 1e-11);
            for (size_t i = 0; i < rg_system_blocks(&system); i++) {
                size_t d = rg_system_block_size(&system, i), row = rg_system_block_row(&system, i);
                double trace = 0;
                for (size_t a = 0; a < d; a++)
                    for (size_t b = 0; b < d; b++) {
                        double entry = problem.w[(row + a) * problem.rows + row + b];
                        trace += a == b ? entry : 0;
                        assert_near(system.diagonal[rg_system_block_offset(&system, i) + a * d + b],
                                    entry, 1e-11 * (1 + fabs(entry)));
                    }
                assert_near(system.rho[i] * trace, (double)d, 1e-11);
            }
            if (f == 0) { /* v is that of the forces: J v + q = u, M (v - v_free) = J' r */
                double jv[MAX_ROWS], left[MAX_BODIES * 6], right[MAX_BODIES * 6];
                rg_system_j(&system, v, jv);
                for (size_t i = 0; i < problem.rows; i++)
                    assert_near(jv[i] + problem.q[i], u[i], 1e-12 * (1 + fabs(u[i])));
                for (size_t i = 0; i < system.velocities; i++)
                    v[i] -= problem.free_velocity[i];
                rg_system_mass(&system, v, left);
                rg_system_jt(&system, r, right);
                assert_true(largest_difference(left, right, system.velocities) < 1e-11);
            }
        }
        rg_solve_context_destroy(context);
    }
}

/* dr of (A + B W) dr = -e2 - B J M^-1 (-e1) by dense algebra. */
static void expect_step(const made *p, const double *a, const double *b, const double *e1,
                        const double *e2, double *dr) {
    static double matrix[MAX_ROWS * MAX_ROWS];
    size_t n = p->rows, d = (size_t)p->dimension, f = (size_t)p->freedom;
    double moved[MAX_ROWS] = {0}; /* J M^-1 e1 */
    for (size_t body = 0; e1 && body < p->bodies; body++) {
        double copy[36], x[6];
        memcpy(copy, p->mass + body * f * f, f * f * sizeof(double));
        memcpy(x, e1 + body * f, f * sizeof(double));
        solve_dense(copy, x, f);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < f; k++)
                moved[i] += p->full[i][body * f + k] * x[k];
    }
    for (size_t i = 0; i < n; i++) {
        bool contact = i < p->contacts * d;
        size_t size = contact ? d : 1, first = contact ? i / d * d : i;
        size_t offset = contact ? i / d * d * d + i % d * d : p->contacts * d * (d - 1) + i;
        dr[i] = -e2[i];
        for (size_t j = 0; j < n; j++)
            matrix[i * n + j] = 0;
        for (size_t m = 0; m < size; m++) {
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] += b[offset + m] * p->w[(first + m) * n + j];
            matrix[i * n + first + m] += a[offset + m];
            dr[i] += b[offset + m] * moved[first + m];
        }
    }
    solve_dense(matrix, dr, n);
}

static void check_step(rg_problem *form, bool symmetric, uint64_t seed, bool with_e1) {
    static double a[9 * MAX_CONTACTS + MAX_JOINTS], b[9 * MAX_CONTACTS + MAX_JOINTS];
    static double e1[MAX_BODIES * 6], e2[MAX_ROWS], expected[MAX_ROWS], dr[MAX_ROWS],
        dv[MAX_BODIES * 6];
    make_blocks(&problem, seed, symmetric, a, b);
    rg_random random = rg_random_make(seed + 1);
    for (size_t i = 0; i < problem.rows; i++)
        e2[i] = rg_random_normal(&random);
    for (size_t i = 0; i < problem.bodies * (size_t)problem.freedom; i++)
        e1[i] = rg_random_normal(&random);
    expect_step(&problem, a, b, with_e1 ? e1 : NULL, e2, expected);
    rg_solve_context *context = context_make();
    rg_system system;
    assert_int_equal(rg_system_prepare(&system, context, form, NULL), RG_OK);
    for (int twice = 0; twice < 2; twice++) { /* the second time on the same pattern */
        assert_int_equal(rg_system_factor(&system, a, b, symmetric), RG_OK);
        rg_system_solve(&system, with_e1 ? e1 : NULL, e2, dv, dr);
        double largest = 0;
        for (size_t i = 0; i < problem.rows; i++)
            largest = fmax(largest, fabs(expected[i]));
        assert_true(largest_difference(dr, expected, problem.rows) < 1e-7 * largest);
        rg_system_refine(&system, with_e1 ? e1 : NULL, e2, dv, dr);
        assert_true(largest_difference(dr, expected, problem.rows) < 1e-9 * largest);
    }
    rg_solve_context_destroy(context);
}

static void test_steps(void **state) {
    (void)state;
    for (size_t k = 0; k < SHAPE_COUNT; k++) {
        make_shape(&problem, k);
        check_step(&problem.global, false, 5 * k, true);
        check_step(&problem.global, true, 5 * k + 1, true);
        check_step(&problem.global, false, 5 * k + 2, false);
        check_step(&problem.local, false, 5 * k + 3, false);
        check_step(&problem.sparse, true, 5 * k + 4, false);
    }
}

static void test_dense_factor(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    for (size_t n = 1; n <= 150; n += n < 40 ? 1 : 37) {
        static double lu[150 * 150], copy[150 * 150], x[150], y[150];
        uint32_t pivots[150];
        for (size_t i = 0; i < n * n; i++)
            lu[i] = copy[i] = rg_random_normal(&random);
        for (size_t i = 0; i < n; i++)
            x[i] = y[i] = rg_random_normal(&random);
        assert_int_equal(rg_dense_factor(lu, pivots, n), RG_OK);
        rg_dense_solve(lu, pivots, n, x);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                y[i] -= copy[i * n + j] * x[j];
        for (size_t i = 0; i < n; i++)
            assert_near(y[i], 0, 1e-10);
        for (size_t j = 0; j < n; j++) /* two equal rows */
            copy[j] = n > 1 ? copy[(n - 1) * n + j] : 0;
        rg_status status = rg_dense_factor(copy, pivots, n);
        if (n <= 2)
            assert_int_equal(status, RG_SINGULAR);
    }
}

static void test_singular(void **state) {
    (void)state;
    make_shape(&problem, 0);
    rg_solve_context *context = context_make();
    static double zero[9 * MAX_CONTACTS + MAX_JOINTS];
    const rg_problem *forms[] = {&problem.global, &problem.local};
    for (int f = 0; f < 2; f++) {
        rg_system system;
        assert_int_equal(rg_system_prepare(&system, context, forms[f], NULL), RG_OK);
        assert_int_equal(rg_system_factor(&system, zero, zero, false), RG_SINGULAR);
    }
    rg_solve_context_destroy(context);
}

/* The same numbers for a problem stored densely and by rows; and once warm, no heap call. */
static void test_storage_and_memory(void **state) {
    (void)state;
    make_shape(&problem, 6);
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(&allocator, &context), RG_OK);
    static double a[9 * MAX_CONTACTS + MAX_JOINTS], b[9 * MAX_CONTACTS + MAX_JOINTS];
    double e2[MAX_ROWS], dr[3][MAX_ROWS], dv[MAX_BODIES * 6];
    make_blocks(&problem, 9, false, a, b);
    for (size_t i = 0; i < problem.rows; i++)
        e2[i] = (double)i - 20;
    size_t resizes = 0;
    for (int round = 0; round < 3; round++) {
        const rg_problem *forms[] = {&problem.global, &problem.local, &problem.sparse};
        for (int f = 0; f < 3; f++) {
            rg_system system;
            assert_int_equal(rg_system_prepare(&system, context, forms[f], NULL), RG_OK);
            assert_int_equal(rg_system_factor(&system, a, b, false), RG_OK);
            rg_system_solve(&system, NULL, e2, dv, dr[f]);
        }
        assert_memory_equal(dr[1], dr[2], problem.rows * sizeof(double));
        rg_arena_reset(&context->arena);
        if (round == 1)
            resizes = counter.resizes;
    }
    assert_int_equal(counter.resizes, resizes);
    rg_solve_context_destroy(context);
    /* Want of memory is said, wherever it comes. */
    for (size_t after = 1; after < 4; after++) {
        allocator = counting_allocator_make(&counter);
        counter.fail_after = after;
        if (rg_solve_context_create(&allocator, &context) != RG_OK)
            continue;
        rg_system system;
        rg_status status = rg_system_prepare(&system, context, &problem.local, NULL);
        assert_true(status == RG_OK || status == RG_OUT_OF_MEMORY);
        if (status == RG_OK) {
            status = rg_system_factor(&system, a, b, false);
            assert_true(status == RG_OK || status == RG_OUT_OF_MEMORY);
        }
        rg_solve_context_destroy(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),           cmocka_unit_test(test_steps),
        cmocka_unit_test(test_dense_factor),       cmocka_unit_test(test_singular),
        cmocka_unit_test(test_storage_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
