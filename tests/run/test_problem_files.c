/* Problem files from beginning to end: problems whose solution is known, or known not to exist, are
 * written in every format that the reader knows, read again, and solved.
 *
 * - linear: random P-matrices and singular semidefinite ones made from their solution, the matrices
 *   of Murty (Linear Complementarity, Linear and Nonlinear Programming, 1988, chapter 6) and Fathi
 *   (Math. Programming 17, 1979), on which pivoting takes many steps, contradictions;
 * - with equations: quadratic programs made from their solution;
 * - contacts: the families of solve_families.h, in local and global form, and as FCLIB;
 * - rigidfc3d: a stack of boxes, whose impulses are known in closed form. */
#include "problem_texts.h"
#include "solve_families.h"

#include "rigor/problem_file.h"
#include "rigor/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOLERANCE 1e-8
enum { ROWS_MAX = 32 };

static rg_solve_context *context;
static char path[] = "/tmp/rigor-problem-XXXXXX";

static int open_all(void **state) {
    (void)state;
    int file = mkstemp(path);
    if (file < 0)
        return -1;
    close(file);
    return rg_solve_context_create(NULL, &context) == RG_OK ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    rg_solve_context_destroy(context);
    return unlink(path);
}

static FILE *begin(void) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static rg_problem_file *read_again(FILE *written, rg_problem_format expected) {
    rg_problem_file *file;
    rg_error error = {0};
    if (written)
        assert_int_equal(fclose(written), 0);
    if (rg_problem_file_read(path, RG_FORMAT_AUTO, NULL, &file, &error) != RG_OK)
        fail_msg("%s", error.text);
    assert_string_equal(rg_problem_format_name(rg_problem_file_get_info(file).format),
                        rg_problem_format_name(expected));
    return file;
}

static rg_solve_outcome solve(const char *solver, const rg_problem *problem, double *force) {
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = TOLERANCE;
    rg_solution solution = {.force = force};
    rg_solve_info info;
    rg_error error = {0};
    if (rg_solve(context, rg_solver_find(solver), problem, &settings, &solution, &info, &error))
        fail_msg("%s: %s", solver, error.text);
    if (info.outcome == RG_SOLVED)
        assert_true(info.residual.natural <= TOLERANCE);
    return info.outcome;
}

static void expect(const char *solver, const rg_problem *problem, rg_solve_outcome expected,
                   double *force) {
    rg_solve_outcome outcome = solve(solver, problem, force);
    if (outcome != expected)
        fail_msg("%s, %zu rows: %s instead of %s", solver, rg_problem_rows(problem),
                 rg_solve_outcome_name(outcome), rg_solve_outcome_name(expected));
}

/* --- linear ----------------------------------------------------------------------------------- */

/* B' B + S with B of `rank` rows and S skew: positive definite in the plane of B if rank = n. */
static void random_matrix(rg_random *random, size_t n, size_t rank, double skew, double *matrix) {
    double b[ROWS_MAX * ROWS_MAX];
    for (size_t k = 0; k < rank * n; k++)
        b[k] = rg_random_normal(random);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0, turn = skew == 0 ? 0 : skew * rg_random_normal(random);
            for (size_t k = 0; k < rank; k++)
                sum += b[k * n + i] * b[k * n + j];
            matrix[i * n + j] = i == j ? sum : sum + turn;
            matrix[j * n + i] = i == j ? sum : sum - turn;
        }
}

/* q such that z is a solution: a third of the rows carry force, a third separate, a third
 * neither. */
static void make_solution(rg_random *random, size_t equations, size_t n, const double *matrix,
                          double *z, double *q) {
    for (size_t i = 0; i < n; i++)
        z[i] = i < equations ? rg_random_normal(random)
               : i % 3 == 0  ? rg_random_between(random, 0.5, 2)
                             : 0;
    for (size_t i = 0; i < n; i++) {
        q[i] = i >= equations && i % 3 == 1 ? rg_random_between(random, 0.5, 2) : 0;
        for (size_t j = 0; j < n; j++)
            q[i] -= matrix[i * n + j] * z[j];
    }
}

/* Whether the answer is the known one; the judge on the known one. */
static void check_known(const rg_problem *problem, const double *z, const double *force) {
    rg_residual residual;
    assert_int_equal(rg_judge(problem, z, NULL, NULL, &residual, NULL), RG_OK);
    assert_near(residual.natural, 0, 1e-13);
    for (size_t i = 0; force && i < rg_problem_rows(problem); i++)
        assert_near(force[i], z[i], 1e-9 * (1 + fabs(z[i])));
}

static void test_lcp(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    for (size_t n = 2; n <= ROWS_MAX; n += 3)
        for (int kind = 0; kind < 3; kind++)
            for (int storage = 0; storage < TEXT_STORAGES; storage++) {
                double matrix[ROWS_MAX * ROWS_MAX], q[ROWS_MAX], z[ROWS_MAX], force[ROWS_MAX];
                bool singular = kind == 2;
                random_matrix(&random, n, singular ? n / 2 : n, kind == 1 ? 1 : 0, matrix);
                make_solution(&random, 0, n, matrix, z, q);
                FILE *text = begin();
                text_lcp(text, (text_storage)storage, matrix, q, n);
                rg_problem_file *file = read_again(text, RG_FORMAT_LCP);
                const rg_problem *problem = rg_problem_file_problem(file);
                assert_memory_equal(problem->linear.matrix, matrix, n * n * sizeof *matrix);
                assert_memory_equal(problem->linear.b, q, n * sizeof *q);
                expect("auto", problem, RG_SOLVED, force);
                check_known(problem, z, singular ? NULL : force);
                expect("lemke", problem, RG_SOLVED, force);
                check_known(problem, z, singular ? NULL : force);
                rg_problem_file_destroy(file);
            }
}

/* Murty: M is lower triangular with 1 in the diagonal and 2 below it, q = -1. z = (1, 0, ..., 0).
 * Fathi: M M' of it, which is symmetric; z = M'^-1 (1, 0, ...)  is (1, 0, ...) as well. */
static void test_many_pivots(void **state) {
    (void)state;
    for (size_t n = 2; n <= 10; n++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            double lower[ROWS_MAX * ROWS_MAX] = {0}, matrix[ROWS_MAX * ROWS_MAX] = {0};
            double q[ROWS_MAX], z[ROWS_MAX] = {1}, force[ROWS_MAX];
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j <= i; j++)
                    lower[i * n + j] = i == j ? 1 : 2;
            for (size_t k = 0; k < n * n; k++) {
                matrix[k] = symmetric ? 0 : lower[k];
                for (size_t l = 0; symmetric && l < n; l++)
                    matrix[k] += lower[k / n * n + l] * lower[k % n * n + l];
            }
            for (size_t i = 0; i < n; i++)
                q[i] = -1;
            FILE *text = begin();
            text_lcp(text, TEXT_DENSE, matrix, q, n);
            rg_problem_file *file = read_again(text, RG_FORMAT_LCP);
            expect("auto", rg_problem_file_problem(file), RG_SOLVED, force);
            check_known(rg_problem_file_problem(file), z, force);
            expect("lemke", rg_problem_file_problem(file), RG_SOLVED, force);
            check_known(rg_problem_file_problem(file), z, force);
            rg_problem_file_destroy(file);
        }
}

/* w_0 = -z_1 - z_2 - 1e-4 is negative for all z >= 0: no solution, although lemke ends on a ray. */
static void test_no_solution(void **state) {
    (void)state;
    double matrix[] = {0, -1, -1, 1, 1, 0, 1, 0, 2}, q[] = {-1e-4, -1, 2}, force[3];
    FILE *text = begin();
    text_lcp(text, TEXT_DENSE, matrix, q, 3);
    rg_problem_file *file = read_again(text, RG_FORMAT_LCP);
    expect("auto", rg_problem_file_problem(file), RG_SOLVE_INFEASIBLE, force);
    expect("enumerate", rg_problem_file_problem(file), RG_SOLVE_INFEASIBLE, force);
    rg_solve_outcome outcome = solve("lemke", rg_problem_file_problem(file), force);
    assert_true(outcome == RG_SOLVE_RAY || outcome == RG_SOLVE_INFEASIBLE);
    rg_problem_file_destroy(file);
}

/* min x'Qx/2 + c'x with A x + d = 0, x >= 0: unknowns (multipliers of A, x), M = [0 A; -A' Q]. */
static void test_mlcp(void **state) {
    (void)state;
    rg_random random = rg_random_make(6);
    for (size_t n = 4; n <= ROWS_MAX; n += 4)
        for (int storage = 0; storage < TEXT_STORAGES; storage++) {
            double matrix[ROWS_MAX * ROWS_MAX], q[ROWS_MAX], z[ROWS_MAX], force[ROWS_MAX];
            size_t equations = n / 4;
            random_matrix(&random, n, n, 0, matrix);
            for (size_t i = 0; i < equations; i++)
                for (size_t j = 0; j < n; j++) {
                    matrix[i * n + j] = j < equations ? 0 : rg_random_normal(&random);
                    matrix[j * n + i] = -matrix[i * n + j];
                }
            for (size_t k = 0; k < equations * equations; k++)
                matrix[k / equations * n + k % equations] = 0;
            make_solution(&random, equations, n, matrix, z, q);
            FILE *text = begin();
            text_mlcp(text, (text_storage)storage, matrix, q, equations, n);
            rg_problem_file *file = read_again(text, RG_FORMAT_MLCP);
            const rg_problem *problem = rg_problem_file_problem(file);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(problem->linear.kinds[i],
                                 i < equations ? RG_ROW_FREE : RG_ROW_UNILATERAL);
            check_known(problem, z, NULL);
            expect("auto", problem, RG_SOLVED, force);
            expect("lemke", problem, RG_SOLVED, force);
            rg_problem_file_destroy(file);
        }
}

/* --- contacts --------------------------------------------------------------------------------- */

/* The same problem by another way: its solution judged there. */
static void check_contacts(rg_problem_file *file, const rg_problem *original) {
    const rg_problem *problem = rg_problem_file_problem(file);
    assert_int_equal(problem->contact.dimension, original->contact.dimension);
    assert_int_equal(problem->contact.contacts, original->contact.contacts);
    double *force = calloc(rg_problem_rows(problem), sizeof *force);
    expect("auto", problem, RG_SOLVED, force);
    rg_residual residual;
    assert_int_equal(rg_judge(original, force, NULL, NULL, &residual, NULL), RG_OK);
    assert_true(residual.natural <= 10 * TOLERANCE);
    free(force);
    rg_problem_file_destroy(file);
}

static void test_contacts(void **state) {
    (void)state;
    for (int kind = 0; kind < FAMILY_KINDS; kind++)
        for (uint64_t seed = 0; seed < TEXT_STORAGES; seed++) {
            solve_family *family = family_make((family_kind)kind, 12, seed, -1);
            const rg_problem *local = family_local(family), *global = family_global(family);
            rg_error error = {0};
            FILE *text = begin();
            text_friction(text, (text_storage)seed, &local->contact);
            check_contacts(read_again(text, RG_FORMAT_FRICTION), local);
            text = begin();
            text_global(text, seed == TEXT_BLOCKS ? TEXT_DENSE : (text_storage)seed,
                        &global->contact);
            check_contacts(read_again(text, RG_FORMAT_GLOBAL_FRICTION), local);
            for (int form = 0; form < 2; form++) {
                if (rg_problem_write_fclib(path, form ? local : global, NULL, NULL, &error))
                    fail_msg("%s", error.text);
                check_contacts(read_again(NULL, RG_FORMAT_FCLIB), form ? local : global);
            }
            family_free(family);
        }
}

/* --- rigidfc3d -------------------------------------------------------------------------------- */

/* `count` boxes of 1 m and 2 kg in a stack, four contacts a face. In one step each contact below
 * box i gives a quarter of the weight above it, times the step. The impulses in the file are
 * `excess` too large at the floor: the lowest box leaves it with a speed of count excess g h, which
 * is the residual in units of g h. */
static void write_stack(FILE *file, int count, double excess) {
    double h = 0.01, g = 9.81, m = 2;
    fprintf(file, "rigidfc3d 1\n# scene stack step 1\n%.17g %.17g 0.5 %d %d\n", h, g, count,
            4 * count);
    for (int i = 0; i < count; i++)
        fprintf(file, "%g %.17g %.17g %.17g 0 0 %g 1 0 0 0 0 0 0 0 0 0 0 0 %.17g\n", m, m / 6,
                m / 6, m / 6, i + 0.5, -m * g);
    for (int k = 0; k < 4 * count; k++)
        fprintf(file, "%d %d %d %g %g %d 0 0 1 0\n", k / 4 - 1, k / 4, k, k % 2 ? 0.5 : -0.5,
                k & 2 ? 0.5 : -0.5, k / 4);
    fprintf(file, "%.17g 0 %d 0\n", excess * count, 4 * count);
    for (int k = 0; k < 4 * count; k++)
        fprintf(file, "0 0 %.17g\n", (count - k / 4) * m * g * h / 4 * (k < 4 ? 1 + excess : 1));
}

static void test_sequence(void **state) {
    (void)state;
    for (int count = 1; count <= 10; count += 3)
        for (double excess = 0; excess <= 1e-3; excess += 5e-4) {
            FILE *text = begin();
            write_stack(text, count, excess);
            rg_problem_file *file = read_again(text, RG_FORMAT_SEQUENCE);
            rg_problem_file_info info = rg_problem_file_get_info(file);
            const rg_problem *problem = rg_problem_file_problem(file);
            rg_residual residual;
            assert_int_equal(rg_judge(problem, info.reference, NULL, NULL, &residual, NULL), RG_OK);
            assert_near(residual.natural, info.reference_residual,
                        2e-3 * info.reference_residual + 1e-14);
            double force[3 * 40];
            expect("auto", problem, RG_SOLVED, force);
            rg_problem_file_destroy(file);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lcp),         cmocka_unit_test(test_many_pivots),
        cmocka_unit_test(test_no_solution), cmocka_unit_test(test_mlcp),
        cmocka_unit_test(test_contacts),    cmocka_unit_test(test_sequence),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
