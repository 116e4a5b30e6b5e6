/* Problem files: every format from text, bad input with its message, FCLIB there and back.
 * (Larger files of every format, read and solved: tests/run/test_problem_files.c.) */
#include "dense_support.h"
#include "test_support.h"

#include "base/base_memory.h"
#include "rigor/problem_file.h"
#include "rigor/random.h"
#include "rigor/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------ helpers */

static rg_problem_file *parse_as(const char *text, rg_problem_format format) {
    rg_problem_file *file = NULL;
    rg_error error = {0};
    rg_status status =
        rg_problem_file_read_memory(text, strlen(text), "test", format, NULL, &file, &error);
    if (status != RG_OK)
        fail_msg("%s", error.text);
    assert_non_null(file);
    return file;
}

static rg_problem_file *parse(const char *text) {
    return parse_as(text, RG_FORMAT_AUTO);
}

static void assert_numbers(const double *values, size_t count, const double *expected) {
    for (size_t i = 0; i < count; i++)
        if (values[i] != expected[i])
            fail_msg("number %zu is %.17g, not %.17g", i, values[i], expected[i]);
}

/* The text is refused with this status and exactly this message. */
static void assert_refused(const char *text, rg_problem_format format, rg_status expected,
                           const char *message) {
    rg_problem_file *file = (rg_problem_file *)&file;
    rg_error error = {0};
    rg_status status =
        rg_problem_file_read_memory(text, strlen(text), "test", format, NULL, &file, &error);
    assert_string_equal(error.text, message);
    assert_string_equal(rg_status_name(status), rg_status_name(expected));
    assert_int_equal(error.status, expected);
    assert_null(file);
}

static rg_problem_format format_of(const rg_problem_file *file) {
    return rg_problem_file_get_info(file).format;
}

/* ------------------------------------------------------------------ LCP */

static void check_lcp2(rg_problem_file *file, const char *remark) {
    const rg_problem *problem = rg_problem_file_problem(file);
    assert_int_equal(format_of(file), RG_FORMAT_LCP);
    assert_int_equal(problem->kind, RG_PROBLEM_LINEAR);
    assert_int_equal(problem->linear.size, 2);
    assert_null(problem->linear.kinds);
    assert_numbers(problem->linear.matrix, 4, (double[]){1, 3, 2, 4}); /* columns in the file */
    assert_numbers(problem->linear.b, 2, (double[]){-5, -6});
    rg_problem_file_info info = rg_problem_file_get_info(file);
    assert_string_equal(info.remark, remark);
    assert_string_equal(info.title, "");
    assert_null(info.reference);
    assert_true(info.reference_residual < 0);
    rg_problem_file_destroy(file);
}

static void test_lcp_storages(void **state) {
    (void)state;
    check_lcp2(parse("2\n0\n2\n2\n2\t2\n1 2\n3 4\n-5 -6"), "");
    check_lcp2(parse("2 0 2 2 2 2 1 2 3 4 -5 -6\n\n Remark 4.1.14\n of 2009 \n"),
               "Remark 4.1.14\n of 2009");
    check_lcp2(parse("2\r\n0\r\n2\r\n2\r\n2\t2\r\n1 2\r\n3 4\r\n-5 -6\r\n"), "");
    /* Block-sparse: one block; four blocks; blocks counted by their values; a short row list. */
    check_lcp2(parse("2 1 2 2 1 1 1 2 2 2 1 0 1 0 0 1 2 3 4 -5 -6"), "");
    check_lcp2(parse("2 1 2 2 4 2 2 1 2 1 2 3 4 0 2 4 0 1 0 1  0 1  1 3  2 2  3 4  -5 -6"), "");
    check_lcp2(parse("2 1 2 2 1 1 1 2 2 2 1 0 1 0 4 1 2 3 4 -5 -6"), "");
    /* What CSparse prints: compressed columns, triplets, compressed rows. */
    check_lcp2(parse("2 2 2 2 2 CSparse Version 3.2.0, Sept 12, 2017.  Copyright (c)\n"
                     "2-by-2, nzmax: 4 nnz: 4, 1-norm: 7\n    col 0 : locations 0 to 1\n"
                     "      0 : 1\n      1 : 2\n    col 1 : locations 2 to 3\n      0 : 3\n"
                     "      1 : 4\n-5 -6"),
               "");
    check_lcp2(parse("2 2 2 2 1\nCSparse Version\ntriplet: 2-by-2, nzmax: 8 nnz: 5\n 0 0 : 1\n"
                     "1 0 : 2\n0 1 : 3\n1 1 : 2.5\n1 1 : 1.5\n-5 -6"),
               "");
    check_lcp2(parse("2 2 2 2 3 CSparse\n2-by-2, nzmax: 4 nnz: 4, 1-norm: 7\n"
                     "col 0 : locations 0 to 1\n0 : 1\n1 : 3\ncol 1 : locations 2 to 3\n"
                     "0 : 2\n1 : 4\n-5 -6"),
               "");
}

/* Rows and columns without entries, in both sparse storages. */
static void test_lcp_empty_rows(void **state) {
    (void)state;
    const double expected[] = {0, 0, 0, 0, 0, 7, 0, 0, 0};
    static const char *const texts[] = {
        "3 1 3 3 1 3 3 1 2 3 1 2 3 4 1 0 0 1 1 2 0 7 -1 -1 -1",
        "3 1 3 3 1 3 3 1 2 3 1 2 3 3 1 0 0 1 2 0 7 -1 -1 -1", /* two block rows have pointers */
        ("3 2 3 3 2 CSparse\n3-by-3, nzmax: 1 nnz: 1, 1-norm: 7\ncol 0 : locations 0 to -1\n"
         "col 1 : locations 0 to -1\ncol 2 : locations 0 to 0\n1 : 7\n-1 -1 -1")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        rg_problem_file *file = parse(texts[i]);
        assert_int_equal(format_of(file), RG_FORMAT_LCP);
        assert_numbers(rg_problem_file_problem(file)->linear.matrix, 9, expected);
        rg_problem_file_destroy(file);
    }
}

/* A column of one entry after another one, and one of none after them. */
static void test_lcp_short_columns(void **state) {
    (void)state;
    rg_problem_file *file =
        parse("3 2 3 3 2 CSparse\n3-by-3, nzmax: 2 nnz: 2, 1-norm: 7\ncol 0 : locations 0 to 0\n"
              "0 : 5\ncol 1 : locations 1 to 1\n1 : 7\ncol 2 : locations 2 to 1\n-1 -1 -1");
    const double expected[] = {5, 0, 0, 0, 7, 0, 0, 0, 0};
    assert_numbers(rg_problem_file_problem(file)->linear.matrix, 9, expected);
    rg_problem_file_destroy(file);
}

/* ------------------------------------------------------------------ relay */

static void test_relay(void **state) {
    (void)state;
    static const char *const texts[] = {"2 0 2 2 2 2 1 2 3 4 -5 -6  0 -1  1 9",
                                        "2 0 2 2 2 2 1 2 3 4 -5 -6  0 -1  1 9  A remark"};
    for (size_t i = 0; i < 2; i++) {
        rg_problem_file *file = parse(texts[i]);
        const rg_linear_problem *p = &rg_problem_file_problem(file)->linear;
        assert_int_equal(format_of(file), RG_FORMAT_RELAY);
        assert_int_equal(p->kinds[0], RG_ROW_BOUNDED);
        assert_int_equal(p->kinds[1], RG_ROW_BOUNDED);
        assert_numbers(p->matrix, 4, (double[]){1, 3, 2, 4});
        assert_numbers(p->lower, 2, (double[]){0, -1});
        assert_numbers(p->upper, 2, (double[]){1, 9});
        assert_string_equal(rg_problem_file_get_info(file).remark, i ? "A remark" : "");
        rg_problem_file_destroy(file);
    }
    assert_refused("2 0 2 2 2 2 1 2 3 4 -5 -6 0 -1 1", RG_FORMAT_LCP, RG_SYNTAX,
                   "test:1:27: 3 more numbers behind q; an lcp ends there, a relay problem has 2 "
                   "lower and 2 upper bounds");
    assert_refused("2 0 2 2 2 2 1 2 3 4 -5 -6 0 -1 1 x", RG_FORMAT_RELAY, RG_SYNTAX,
                   "test:1:34: 'x' is not a number; here should be number 2 of 2 of the upper "
                   "bounds");
}

/* ------------------------------------------------------------------ mixed LCP */

#define MIXED_WHOLE "0 1 3\n0 1\n0\n3\n3\n3 3\n1 4 7\n2 5 8\n3 6 9\n-1 -2 -3\n"
#define MIXED_PARTS "1\n5 6 8 9\n2 3\n4 7\n-1\n-2 -3\n"

static void check_mixed(rg_problem_file *file, const char *remark) {
    const rg_linear_problem *p = &rg_problem_file_problem(file)->linear;
    assert_int_equal(format_of(file), RG_FORMAT_MLCP);
    assert_int_equal(p->size, 3);
    assert_numbers(p->matrix, 9, (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9});
    assert_numbers(p->b, 3, (double[]){-1, -2, -3});
    assert_int_equal(p->kinds[0], RG_ROW_FREE);
    assert_int_equal(p->kinds[1], RG_ROW_UNILATERAL);
    assert_int_equal(p->kinds[2], RG_ROW_UNILATERAL);
    assert_string_equal(rg_problem_file_get_info(file).remark, remark);
    rg_problem_file_destroy(file);
}

static void test_mixed(void **state) {
    (void)state;
    check_mixed(parse("1 0 1 2 " MIXED_WHOLE), "");
    check_mixed(parse("0 1 1 2 " MIXED_PARTS), "");
    check_mixed(parse("1\n1\n1\n2\n" MIXED_WHOLE MIXED_PARTS), "");
    check_mixed(parse("1\n1\n1\n2\n" MIXED_WHOLE MIXED_PARTS "0.5 0.25 0 1\n"), "0.5 0.25 0 1");
}

/* Equations behind complementarities: M keeps its order, A, B, C, D have equations first. */
static void test_mixed_order(void **state) {
    (void)state;
    rg_problem_file *file =
        parse("1 1 1 2\n0 2 3\n1 0\n0 3 3 3 3\n5 8 2\n6 9 3\n4 7 1\n-2 -3 -1\n" MIXED_PARTS);
    const rg_linear_problem *p = &rg_problem_file_problem(file)->linear;
    assert_numbers(p->matrix, 9, (double[]){5, 6, 4, 8, 9, 7, 2, 3, 1});
    assert_numbers(p->b, 3, (double[]){-2, -3, -1});
    assert_int_equal(p->kinds[0], RG_ROW_UNILATERAL);
    assert_int_equal(p->kinds[2], RG_ROW_FREE);
    rg_problem_file_destroy(file);
}

/* One equation more than unknowns: u - v = 0, -u - v + 1 = 0, w = u + v - 1. The last number of q
 * comes from b. */
static void test_mixed_rectangular(void **state) {
    (void)state;
    rg_problem_file *file =
        parse("1 1 1 1\n0 1 2\n0 1\n0 3 2 3 2\n1 -1 1\n-1 -1 1\n0 1\n1\n1\n-1\n1\n0\n-1\n");
    const rg_problem *problem = rg_problem_file_problem(file);
    const rg_linear_problem *p = &problem->linear;
    assert_int_equal(p->size, 3);
    assert_numbers(p->matrix, 9, (double[]){1, 0, -1, -1, 0, -1, 1, 0, 1});
    assert_numbers(p->b, 3, (double[]){0, 1, -1});
    assert_int_equal(p->kinds[1], RG_ROW_FREE);
    assert_int_equal(p->kinds[2], RG_ROW_UNILATERAL);
    rg_residual residual;
    assert_int_equal(rg_judge(problem, (double[]){0.5, 0, 0.5}, NULL, NULL, &residual, NULL),
                     RG_OK);
    assert_near(residual.natural, 0, 1e-15);
    rg_problem_file_destroy(file);
}

/* ------------------------------------------------------------------ friction */

static void test_friction_dense(void **state) {
    (void)state;
    rg_problem_file *file =
        parse("3\n1\n\n0\n3\n3\n\n3\n3\n\n15\n-1\n-2\n\n-1\n14\n1\n\n-3\n1\n16\n"
              "\n-1\n2\n3\n\n0.1");
    const rg_contact_problem *p = &rg_problem_file_problem(file)->contact;
    assert_int_equal(format_of(file), RG_FORMAT_FRICTION);
    assert_int_equal(p->dimension, 3);
    assert_int_equal(p->contacts, 1);
    assert_int_equal(p->form, RG_FORM_LOCAL);
    assert_numbers(p->w.dense, 9, (double[]){15, -1, -3, -1, 14, 1, -2, 1, 16});
    assert_numbers(p->q, 3, (double[]){-1, 2, 3});
    assert_numbers(p->mu, 1, (double[]){0.1});
    rg_problem_file_destroy(file);
}

/* Two planar contacts, block-sparse with a missing block; a 1 behind them is no remark. */
static void test_friction_sparse(void **state) {
    (void)state;
    rg_problem_file *file = parse("2 2 1 4 4 3 2 2 2 4 2 4 3 3 0 2 3 0 1 1\n"
                                  "0 1 2 3 4\n1 5 6 7 8\n2 9 10 11 12\n-1 0 -2 0\n0.5 0.25\n1\n");
    const rg_contact_problem *p = &rg_problem_file_problem(file)->contact;
    assert_int_equal(format_of(file), RG_FORMAT_FRICTION);
    assert_int_equal(p->dimension, 2);
    assert_null(p->w.dense);
    const size_t starts[] = {0, 4, 8, 10, 12};
    const uint32_t indices[] = {0, 1, 2, 3, 0, 1, 2, 3, 2, 3, 2, 3};
    assert_memory_equal(p->w.starts, starts, sizeof starts);
    assert_memory_equal(p->w.indices, indices, sizeof indices);
    assert_numbers(p->w.values, 12, (double[]){1, 3, 5, 7, 2, 4, 6, 8, 9, 11, 10, 12});
    assert_string_equal(rg_problem_file_get_info(file).remark, "");
    rg_problem_file_destroy(file);
}

/* M v = q + H r, u = H' v + b with one body of three numbers. */
static void test_global_blocks(void **state) {
    (void)state;
    rg_problem_file *file = parse("3 1\n0 3 3 3 3\n2 0 0 0 4 0 0 0 8\n"
                                  "0 3 3 3 3\n1 2 3 4 5 6 7 8 9\n2 4 16\n-1 -2 -3\n0.5\n1\n");
    const rg_contact_problem *p = &rg_problem_file_problem(file)->contact;
    const rg_global_form *g = &p->global;
    assert_int_equal(format_of(file), RG_FORMAT_GLOBAL_FRICTION);
    assert_int_equal(p->form, RG_FORM_GLOBAL);
    assert_int_equal(g->freedom, 3);
    assert_int_equal(g->blocks, 1);
    assert_numbers(g->mass, 9, (double[]){2, 0, 0, 0, 4, 0, 0, 0, 8});
    for (int i = 0; i < 3; i++)
        assert_near(g->free_velocity[i], i < 2 ? 1 : 2, 1e-15);
    assert_int_equal(g->contact_blocks[0], 0);
    assert_int_equal(g->contact_blocks[1], RG_NO_BLOCK);
    assert_numbers(g->contact_jacobian, 9, (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9});
    assert_numbers(p->q, 3, (double[]){-1, -2, -3});
    rg_problem_file_info info = rg_problem_file_get_info(file);
    assert_false(info.condensed);
    assert_int_equal(info.freedom, 3);
    rg_problem_file_destroy(file);
}

/* A random symmetric positive definite matrix of `n` rows by columns. */
static void random_mass(rg_random *random, size_t n, double *m) {
    double a[16 * 16];
    for (size_t i = 0; i < n * n; i++)
        a[i] = rg_random_between(random, -1, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            m[i * n + j] = i == j ? 1 : 0;
            for (size_t k = 0; k < n; k++)
                m[i * n + j] += a[i * n + k] * a[j * n + k];
        }
}

/* A body of seven numbers is condensed; the answer is compared with elimination done here. M is
 * symmetric, or not. */
static void check_condensed(bool symmetric) {
    enum { N = 7, ROWS = 6 };
    rg_random random = rg_random_make(11);
    double m[16 * 16], h[N * ROWS], q[N], b[ROWS], column[N];
    char text[8192];
    int at = snprintf(text, sizeof text, "3 2 0 %d %d %d %d", N, N, N, N);
    random_mass(&random, N, m);
    if (!symmetric)
        m[2] += 0.25;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, " %.17g", m[i * N + j]);
    at += snprintf(text + at, sizeof text - (size_t)at, " 0 %d %d %d %d", N, ROWS, N, ROWS);
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < N; i++) {
            h[i * ROWS + j] = rg_random_between(&random, -1, 1);
            at += snprintf(text + at, sizeof text - (size_t)at, " %.17g", h[i * ROWS + j]);
        }
    for (int i = 0; i < N + ROWS; i++) {
        double *value = i < N ? &q[i] : &b[i - N];
        *value = rg_random_between(&random, -1, 1);
        at += snprintf(text + at, sizeof text - (size_t)at, " %.17g", *value);
    }
    snprintf(text + at, sizeof text - (size_t)at, " 0.3 0.4 1");
    rg_problem_file *file = parse(text);
    const rg_contact_problem *p = &rg_problem_file_problem(file)->contact;
    assert_int_equal(format_of(file), RG_FORMAT_GLOBAL_FRICTION);
    assert_true(rg_problem_file_get_info(file).condensed);
    assert_int_equal(rg_problem_file_get_info(file).freedom, N);
    assert_int_equal(p->form, RG_FORM_LOCAL);
    for (int j = 0; j <= ROWS; j++) {
        for (int i = 0; i < N; i++)
            column[i] = j < ROWS ? h[i * ROWS + j] : q[i];
        double copy[N * N];
        memcpy(copy, m, sizeof copy);
        solve_dense(copy, column, N);
        for (int i = 0; i < ROWS; i++) {
            double expected = j < ROWS ? 0 : b[i];
            for (int k = 0; k < N; k++)
                expected += h[k * ROWS + i] * column[k];
            assert_near(j < ROWS ? p->w.dense[i * ROWS + j] : p->q[i], expected, 1e-13);
            if (symmetric && j < ROWS)
                assert_true(p->w.dense[i * ROWS + j] == p->w.dense[j * ROWS + i]);
        }
    }
    rg_problem_file_destroy(file);
}

static void test_global_condensed(void **state) {
    (void)state;
    check_condensed(true);
    check_condensed(false);
}

/* Bodies of one number each, so that all block sizes fit M, but a contact between three of them. */
static void test_global_three_bodies(void **state) {
    (void)state;
    rg_problem_file *file = parse("2 1 0 7 7 7 7 2 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 2 0 0 0 0 "
                                  "0 0 0 2 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 2 "
                                  "0 7 2 7 2 1 0 0 1 0 0 1 0 0 1 0 0 0 0 0 0 0 0 0 0 0 4 5 0.1");
    const rg_contact_problem *p = &rg_problem_file_problem(file)->contact;
    assert_true(rg_problem_file_get_info(file).condensed);
    const double expected[] = {1.5, 0, 0, 0.5};
    for (int i = 0; i < 4; i++)
        assert_near(p->w.dense[i], expected[i], 1e-15);
    rg_problem_file_destroy(file);
}

/* ------------------------------------------------------------------ rigidfc3d */

#define BODY1 "2 1 1 1 0 0 1 1 0 0 0 0 0 -1 0 0 0 0 0 -20\n"
#define BODY2 "4 1 2 3 3 0 1 0.70710678118654752 0 0 0.70710678118654752 1 2 3 0.5 1 1.5 0 0 0\n"
#define SEQUENCE                                                                                   \
    "rigidfc3d 1\n# scene test step 7\n0.125 10 0.5 2 2\n" BODY1 BODY2                             \
    "-1 0 9 0 0 0 0 0 1 0.25\n0 1 10 1 0 1 1 0 0 -3\n1.5e-9 1 1 0\n0 0 3\n1 2 4\n"

/* Contacts may be numbered from 0 on; their numbers mean nothing. */
static void test_sequence_numbers(void **state) {
    (void)state;
    char text[] = SEQUENCE;
    *strstr(text, " 9 ") = ' ', strstr(text, " 9 ")[1] = '0';
    rg_problem_file *file = parse(text), *other = parse(SEQUENCE);
    const rg_contact_problem *p = &rg_problem_file_problem(file)->contact,
                             *q = &rg_problem_file_problem(other)->contact;
    assert_int_equal(p->contacts, 2);
    assert_memory_equal(p->q, q->q, 6 * sizeof(double));
    rg_problem_file_destroy(file);
    rg_problem_file_destroy(other);
}

/* Two bodies, the first over a fixed one, the second touching it from the side; worked by hand. */
static void test_sequence(void **state) {
    (void)state;
    rg_problem_file *file = parse(SEQUENCE);
    rg_problem_file_info info = rg_problem_file_get_info(file);
    const rg_problem *problem = rg_problem_file_problem(file);
    const rg_contact_problem *p = &problem->contact;
    const rg_global_form *g = &p->global;
    assert_int_equal(info.format, RG_FORMAT_SEQUENCE);
    assert_string_equal(info.title, "scene test step 7");
    assert_int_equal(info.freedom, 12);
    assert_true(info.reference_residual == 1.5e-9);
    assert_true(problem->scale == 1.25); /* g h */
    assert_int_equal(p->contacts, 2);
    assert_numbers(p->mu, 2, (double[]){0.5, 0.5});
    assert_int_equal(g->blocks, 2);
    assert_int_equal(g->freedom, 6);
    for (int i = 0; i < 36; i++)
        assert_true(g->mass[36 + i] == (i % 7 ? 0 : i < 21 ? 4 : (i - 14) / 7));
    /* v + h f / m; the second body is turned by 90 degrees about z: R' (0.5, 1, 1.5) */
    const double free_velocity[] = {0, 0, -2.25, 0, 0, 0, 1, 2, 3, 1, -0.5, 1.5};
    for (int i = 0; i < 12; i++)
        assert_near(g->free_velocity[i], free_velocity[i], 1e-15);
    assert_int_equal(g->contact_blocks[0], RG_NO_BLOCK);
    assert_int_equal(g->contact_blocks[1], 0);
    assert_int_equal(g->contact_blocks[2], 0);
    assert_int_equal(g->contact_blocks[3], 1);
    /* normals: (0, 0, 1) at (0, 0, -1) from the first centre; (1, 0, 0) at (-2, 0, 0) from the
     * second */
    assert_numbers(g->contact_jacobian, 18, (double[18]){0});
    assert_numbers(g->contact_jacobian + 18, 6, (double[]){0, 0, 1, 0, 0, 0});
    assert_numbers(p->q, 6, (double[]){2, 0, 0, -1, 0, 0}); /* the push is at most 1 m/s */
    /* The reference in the frame of each contact: its normal part and its length. */
    assert_true(info.reference[0] == 3);
    assert_true(info.reference[3] == 1);
    assert_near(hypot(info.reference[4], info.reference[5]), sqrt(20), 1e-15);
    /* Jacobians by the definition: u = v_b(p) - v_a(p) along the frame, for the free velocities.
     * v_1(p) = (0, 0, -2.25), v_2(p) = (1, 2, 3) + (0.5, 1, 1.5) x (-2, 0, 0) = (1, -1, 5). */
    double u[3] = {0};
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 12; k++)
            u[row] +=
                g->contact_jacobian[36 + 18 * (k / 6) + 6 * row + k % 6] * g->free_velocity[k];
    assert_near(u[0], 1, 1e-14);
    assert_near(hypot(u[1], u[2]), hypot(-1, 7.25), 1e-14);
    rg_problem_file_destroy(file);
}

/* ------------------------------------------------------------------ bad input */

static const struct {
    const char *text;
    rg_status status;
    const char *message;
} bad_lcps[] = {
    {"two", RG_SYNTAX,
     "test:1:1: 'two' is not a whole number; here should be the number of "
     "rows"},
    {"-2", RG_SYNTAX,
     "test:1:1: '-2' is not a whole number; here should be the number of "
     "rows"},
    {"0", RG_INVALID_ARGUMENT, "test:1:1: the number of rows is 0; it must be from 1 to 268435456"},
    {"2\n3", RG_INVALID_ARGUMENT, "test:2:1: the storage of M is 3; it must be from 0 to 2"},
    {"2\n0 2\n", RG_FILE_DAMAGED,
     "test:3:1: the text ends; here should be the number of columns of M"},
    {"2\n0 3 2", RG_INVALID_ARGUMENT, "test:2:3: the number of rows of M is 3; it must be 2"},
    {"2\n0 2 3", RG_INVALID_ARGUMENT, "test:2:5: the number of columns of M is 3; it must be 2"},
    {"2 0 2 2 2 3", RG_INVALID_ARGUMENT,
     "test:1:11: the number of columns, again is 3; it must be 2"},
    {"2 0 2 2 2 2 1 2 3 4 5", RG_FILE_DAMAGED,
     "test:1:19: 2 words of q cannot be in the 2 bytes that follow; the text is cut short, or "
     "a "
     "size is wrong"},
    {"2 0 2 2 2 2\n1 2\n3 4\n-1            ", RG_FILE_DAMAGED,
     "test:4:15: the text ends; here should be number 2 of 2 of q"},
    {"2 0 2 2 2 2\n1 2\n3 x\n-1 -1", RG_SYNTAX,
     "test:3:3: 'x' is not a number; here should be number 4 of 4 of the matrix"},
    {"2 0 2 2 2 2\n1 2\nnan 4\n-1 -1", RG_NOT_FINITE,
     "test:3:1: 'nan' is not a finite number; here should be number 3 of 4 of the matrix"},
    {"2 0 2 2 2 2\n1 2\n3 4\n-1 1e999", RG_NOT_FINITE,
     "test:4:4: '1e999' is not a finite number; here should be number 2 of 2 of q"},
    {"200000000 0 200000000 200000000 200000000 200000000", RG_FILE_DAMAGED,
     "test:1:43: 40000000000000000 words of the matrix cannot be in the 0 bytes that follow; "
     "the text is cut short, or a size is wrong"},
    {"2 1 2 2 1 1 1 2 3", RG_INVALID_ARGUMENT,
     "test:1:17: the ends of the block columns end at 3; they must end at 2"},
    {"2 1 2 2 1 2 1 2 1 2", RG_INVALID_ARGUMENT,
     "test:1:17: the ends of the block rows above: number 2 of 2 is less than the one before"},
    {"2 1 2 2 1 1 1 2 2 2 2", RG_INVALID_ARGUMENT,
     "test:1:21: the number of block-column indices is 2; it must be 1"},
    {"2 1 2 2 1 1 1 2 2 2 1 1 1", RG_INVALID_ARGUMENT,
     "test:1:25: the row pointers above begin with 1; they must begin with 0"},
    {"2 1 2 2 1 1 1 2 2 2 1 0 1 1 0 1 2 3 4", RG_INVALID_ARGUMENT,
     "test:1:27: block 0 above is in block column 1; there are 1, counted from 0"},
    {"2 1 2 2 1 1 1 2 2 2 1 0 1 0 7 1 2 3 4 -5 -6", RG_INVALID_ARGUMENT,
     "test:1:29: the number of a block is 7; it must be 0"},
    {"2 2 2 2 2 CSparse\n3-by-2, nzmax: 4", RG_INVALID_ARGUMENT,
     "test:2:1: '3-by-2,' in a sparse matrix; here should be 2-by-2,"},
    {"2 2 2 2 1 triplet: 2-by-2, nzmax: 1 nnz: 1\n2 0 : 1", RG_INVALID_ARGUMENT,
     "test:2:1: a row index is 2; it must be from 0 to 1"},
    {"2 2 2 2 1 triplet: 2-by-2, nzmax: 1 nnz: 1\n1 0 = 1", RG_SYNTAX,
     "test:2:5: '=' in a sparse matrix; here should be :"},
    {"2 2 2 2 2 2-by-2, nzmax: 1 nnz: 1, 1-norm: 1\ncol 0 : locations 0 to 0\n0 : 1\n"
     "col 1 : locations 0 to 0",
     RG_INVALID_ARGUMENT, "test:4:19: the first location of a column is 0; it must be 1"},
};

static void test_bad_lcp(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_lcps / sizeof bad_lcps[0]; i++)
        assert_refused(bad_lcps[i].text, RG_FORMAT_LCP, bad_lcps[i].status, bad_lcps[i].message);
}

static void test_bad_mlcp(void **state) {
    (void)state;
    static const struct {
        const char *text;
        rg_status status;
        const char *message;
    } cases[] = {
        {"0 0 1 1", RG_INVALID_ARGUMENT,
         "test:1:3: both flags are 0; there is neither M nor A, B, C, D"},
        {"1 0 0 0", RG_INVALID_ARGUMENT, "test:1:7: a problem without rows"},
        {"1 0 1 1 1 1", RG_INVALID_ARGUMENT, "test:1:9: the first block start is 1; it must be 0"},
        {"1 0 1 1 0 1 2 1 1", RG_INVALID_ARGUMENT,
         "test:1:17: 2 rows in blocks of complementarities; there must be 1"},
        {"1 0 1 1 0 1 2 0 1 0 3 2 3 2 1 1 1 1 1 1 0 0", RG_INVALID_ARGUMENT,
         "test:1:43: M has more rows than columns; A, B, C, D must follow, for the rest of q"},
        {"1 0 1 1 0 1 2 1 0 0 3 2 3 2 1 1 1 1 1 1 0 0", RG_UNSUPPORTED,
         "test:1:43: more equations than unknowns, in mixed order; the equations must come first"},
        {"1\n1\n1\n2\n" MIXED_WHOLE "1\n5 6 8 9\n2 3\n4 7\n-1\n-2 -4\n", RG_INVALID_ARGUMENT,
         "test:20:4: row 2 of M and q is not the same in A, B, C, D, a and b above"},
        {"1 0 1 1 0 1 2 0 1 0 2 2 2 2 1 1 1", RG_FILE_DAMAGED,
         "test:1:27: 4 words of the matrix cannot be in the 6 bytes that follow; the text is cut "
         "short, or a size is wrong"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].text, RG_FORMAT_MLCP, cases[i].status, cases[i].message);
}

static void test_bad_friction(void **state) {
    (void)state;
    assert_refused("4 1", RG_FORMAT_FRICTION, RG_INVALID_ARGUMENT,
                   "test:1:1: the dimension is 4; it must be from 2 to 3");
    assert_refused("3 0", RG_FORMAT_FRICTION, RG_INVALID_ARGUMENT,
                   "test:1:3: the number of contacts is 0; it must be from 1 to 89478485");
    assert_refused("2 1 0 2 2 2 2 1 0 0 1 -1 0 -0.5", RG_FORMAT_FRICTION, RG_INVALID_ARGUMENT,
                   "test:1:28: friction coefficient -0.5 of contact 0; must not be negative");
    assert_refused("2 1 0 2 2 2 2 1 0 0 1 -1 0 inf", RG_FORMAT_FRICTION, RG_NOT_FINITE,
                   "test:1:28: 'inf' is not a finite number; here should be number 1 of 1 of the "
                   "friction coefficients");
    assert_refused("2 1 0 2 3", RG_FORMAT_GLOBAL_FRICTION, RG_FILE_DAMAGED,
                   "test:1:10: the text ends; here should be the number of rows, again");
    assert_refused("2 1 0 1 2 1 2 0 0", RG_FORMAT_GLOBAL_FRICTION, RG_INVALID_ARGUMENT,
                   "test:1:17: M above is 1 by 2; it must be square");
    assert_refused("2 1 0 2 2 2 2 1 1 1 1 0 2 2 2 2 1 0 0 1 0 0 0 0 1", RG_FORMAT_GLOBAL_FRICTION,
                   RG_SINGULAR,
                   "test: M is singular in the part of row 0; it must have an inverse");
    assert_refused("2 1 0 2 2 2 2 1 0 0 1 0 2 3", RG_FORMAT_GLOBAL_FRICTION, RG_INVALID_ARGUMENT,
                   "test:1:27: the number of columns of H is 3; it must be 2");
}

static void test_bad_sequence(void **state) {
    (void)state;
    static const struct {
        const char *text;
        rg_status status;
        const char *message;
    } cases[] = {
        {"rigidfc3d 2", RG_INVALID_ARGUMENT,
         "test:1:11: the version of rigidfc3d is 2; it must be 1"},
        {"rigidfc3d 1\n0 10 0.5 0 0", RG_INVALID_ARGUMENT,
         "test:2:1: the time step h is 0; it must be positive"},
        {"rigidfc3d 1\n1 10 -0.5 0 0", RG_INVALID_ARGUMENT,
         "test:2:6: the friction coefficient is -0.5; it must not be negative"},
        {"rigidfc3d 1\n1 10 0.5 9999 0", RG_FILE_DAMAGED,
         "test:2:15: 199980 words of bodies cannot be in the 0 bytes that follow; the text is cut "
         "short, or a size is wrong"},
        {"rigidfc3d 1\n1 10 0.5 1 0\n-" BODY1 "0 0 0 0", RG_INVALID_ARGUMENT,
         "test:3:1: a mass is -2; it must be positive"},
        {"rigidfc3d 1\n1 10 0.5 1 0\n2 1 1 1 0 0 1 1 1 0 0 0 0 -1 0 0 0 0 0 -20\n0 0 0 0",
         RG_INVALID_ARGUMENT, "test:3:21: an orientation that is not a unit quaternion"},
        {"rigidfc3d 1\n1 10 0.5 1 1\n" BODY1 "-1 1 9 0 0 0 0 0 1 0.25\n0 0 0 0",
         RG_INVALID_ARGUMENT, "test:4:4: the body of a contact is 1; it must be 0"},
        {"rigidfc3d 1\n1 10 0.5 1 1\n" BODY1 "0 0 9 0 0 0 0 0 1 0.25\n0 0 0 0", RG_INVALID_ARGUMENT,
         "test:4:3: a contact of a body with itself, or of two fixed ones"},
        {"rigidfc3d 1\n1 10 0.5 1 1\n" BODY1 "-1 0 9 0 0 0 0 0 2 0.25\n0 0 0 0",
         RG_INVALID_ARGUMENT, "test:4:18: a normal that is not a unit vector"},
        {"rigidfc3d 1\n1 10 0.5 1 1\n" BODY1 "-1 0 9 0 0 0 0 0 1 0.25\n0 0 0 1 0 0",
         RG_FILE_DAMAGED, "test:5:12: the text ends; here should be an impulse"},
        {SEQUENCE "7", RG_SYNTAX,
         "test:11:1: '7' behind the last impulse; the text should end here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].text, RG_FORMAT_AUTO, cases[i].status, cases[i].message);
}

/* Without a format the complaint is that of the reader that got farthest. */
static void test_bad_auto(void **state) {
    (void)state;
    assert_refused("", RG_FORMAT_AUTO, RG_FILE_DAMAGED, "test: empty; it must hold a problem");
    assert_refused(
        "Once upon a time", RG_FORMAT_AUTO, RG_SYNTAX,
        "test:1:1: 'Once' is not a whole number; here should be the number of rows (read "
        "as lcp, the nearest format)");
    assert_refused(
        "3 1 0 3 3 3 3\n1 0 0\n0 1 0\n0 0 1\n-1 0 0\n-0.5\n", RG_FORMAT_AUTO, RG_INVALID_ARGUMENT,
        "test:6:1: friction coefficient -0.5 of contact 0; must not be negative (read as "
        "friction, the nearest format)");
    assert_refused("2\n0\n2 2\n2 2\n1 0\n0 bad\n-1 -1", RG_FORMAT_AUTO, RG_SYNTAX,
                   "test:6:3: 'bad' is not a number; here should be number 4 of 4 of the matrix "
                   "(read as lcp, the nearest format)");
    rg_problem_file *file;
    rg_error error;
    assert_int_equal(rg_problem_file_read("no/such/file", RG_FORMAT_AUTO, NULL, &file, &error),
                     RG_FILE_UNREADABLE);
    assert_string_equal(error.text, "no/such/file: cannot be read: No such file or directory");
    assert_int_equal(rg_problem_file_read(".", RG_FORMAT_AUTO, NULL, &file, &error),
                     RG_FILE_UNREADABLE);
    assert_string_equal(error.text, ".: cannot be read: Is a directory");
}

/* Every text cut after any byte, and with any byte changed, is read or refused, by every format,
 * with a message if refused. */
static void try_every_format(const char *data, size_t size) {
    for (int format = 0; format < RG_FORMATS; format++) {
        rg_problem_file *file;
        rg_error error = {0};
        rg_status status = rg_problem_file_read_memory(
            data, size, "test", (rg_problem_format)format, NULL, &file, &error);
        if (status == RG_OK)
            assert_int_equal(rg_problem_check(rg_problem_file_problem(file), NULL), RG_OK);
        else
            assert_true(error.status == status && error.text[0]);
        rg_problem_file_destroy(file);
    }
}

static void test_cut_and_changed(void **state) {
    (void)state;
    static const char *const texts[] = {
        "2 0 2 2 2 2 1 2 3 4 -5 -6 remark",
        "2 1 2 2 4 2 2 1 2 1 2 3 4 0 2 4 0 1 0 1  0 1  1 3  2 2  3 4  -5 -6",
        "2 2 2 2 2 CSparse\n2-by-2, nzmax: 4 nnz: 4, 1-norm: 7\ncol 0 : locations 0 to 1\n"
        "0 : 1\n1 : 3\ncol 1 : locations 2 to 3\n0 : 2\n1 : 4\n-5 -6",
        "1\n1\n1\n2\n" MIXED_WHOLE MIXED_PARTS,
        "3 1\n0 3 3 3 3\n2 0 0 0 4 0 0 0 8\n0 3 3 3 3\n1 2 3 4 5 6 7 8 9\n2 4 16\n-1 -2 -3\n0.5\n1",
        SEQUENCE};
    static const char replacements[] = "-9e. \n#";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t size = strlen(texts[i]);
        char *copy = malloc(size); /* exact, so that the sanitizer sees reads behind it */
        for (size_t at = 0; at < size; at++) {
            char *cut = malloc(at + 1);
            memcpy(cut, texts[i], at);
            try_every_format(cut, at);
            free(cut);
            for (const char *c = replacements; *c; c++) {
                memcpy(copy, texts[i], size);
                copy[at] = *c;
                try_every_format(copy, size);
            }
        }
        free(copy);
    }
}

/* Memory that ends at any call is reported, and nothing is lost (the sanitizer looks). */
static void test_no_memory(void **state) {
    (void)state;
    static const char *const texts[] = {"2 1 2 2 1 1 1 2 2 2 1 0 1 0 0 1 2 3 4 -5 -6",
                                        "1\n1\n1\n2\n" MIXED_WHOLE MIXED_PARTS, SEQUENCE};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t calls = 1;; calls++) {
            counting_allocator counter;
            rg_allocator allocator = counting_allocator_make(&counter);
            counter.fail_after = calls;
            rg_problem_file *file;
            rg_error error;
            rg_status status = rg_problem_file_read_memory(
                texts[i], strlen(texts[i]), "test", RG_FORMAT_AUTO, &allocator, &file, &error);
            rg_problem_file_destroy(file);
            if (status == RG_OK)
                break;
            assert_int_equal(status, RG_OUT_OF_MEMORY);
            assert_string_equal(error.text, "test: no memory for the problem");
        }
}

/* A short file does not make the library ask for much, whatever sizes it names. */
typedef struct largest_request {
    size_t largest;
} largest_request;

static void *note_resize(void *user, void *pointer, size_t size) {
    largest_request *request = user;
    if (size > request->largest)
        request->largest = size;
    return realloc(pointer, size);
}

static void note_release(void *user, void *pointer) {
    (void)user;
    free(pointer);
}

static void test_small_requests(void **state) {
    (void)state;
    static const char *const texts[] = {
        "200000000 0 200000000 200000000 200000000 200000000 1",
        "200000000 1 200000000 200000000 0 0 0 1 0 0 1",
        "200000000 1 200000000 200000000 1 1 1 200000000 200000000 2 1 0 1 0 0 1 2 3",
        "2 2 2 2 2 CSparse 2-by-2, nzmax: 4 nnz: 2000000000, 1-norm: 1",
        "1 0 100000000 100000000 0 200000000 0 0 200000000 200000000",
        "0 1 100000000 100000000 1 2 3 4 5 6 7 8 9",
        "3 50000000 1 150000000 150000000 0 0 0 1 0 0",
        ("3 1 1 150000000 150000000 0 1 1 150000000 150000000 1 0 0 1 1 150000000 3 0 0 0 1 0 0 "
         "1 2 3"),
        "rigidfc3d 1\n1 1 1 40000000 80000000"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (int format = 0; format < RG_FORMATS; format++) {
            largest_request request = {0};
            rg_allocator allocator = {note_resize, note_release, &request};
            rg_problem_file *file;
            rg_status status =
                rg_problem_file_read_memory(texts[i], strlen(texts[i]), "test",
                                            (rg_problem_format)format, &allocator, &file, NULL);
            assert_int_not_equal(status, RG_OK);
            assert_true(request.largest < 100000);
        }
}

/* ------------------------------------------------------------------ FCLIB */

static void scratch_path(char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/test_record_problem_%d_%s", RIGOR_BUILD_DIR, (int)getpid(), name);
}

static rg_problem_file *write_and_read(const rg_problem *problem, const rg_problem_text *text) {
    char path[512];
    rg_error error;
    rg_problem_file *file;
    scratch_path(path, sizeof path, "there_and_back.hdf5");
    if (rg_problem_write_fclib(path, problem, text, NULL, &error) != RG_OK)
        fail_msg("%s", error.text);
    if (rg_problem_file_read(path, RG_FORMAT_AUTO, NULL, &file, &error) != RG_OK)
        fail_msg("%s", error.text);
    remove(path);
    assert_int_equal(format_of(file), RG_FORMAT_FCLIB);
    return file;
}

/* Bits, not values: -0 is not 0. */
static void assert_same_bits(const double *a, const double *b, size_t count) {
    if (count > 0)
        assert_memory_equal(a, b, count * sizeof *a);
}

static void fill_random(rg_random *random, double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = rg_random_between(random, -1, 1);
}

/* Symmetric between contacts and joints, as FCLIB has it; not otherwise. */
static void test_fclib_local_dense(void **state) {
    (void)state;
    enum { ROWS = 8 };
    rg_random random = rg_random_make(3);
    double w[ROWS * ROWS], q[ROWS], mu[2] = {0.25, 0};
    fill_random(&random, w, ROWS * ROWS);
    fill_random(&random, q, ROWS);
    for (int i = 0; i < 6; i++)
        for (int j = 6; j < ROWS; j++)
            w[i * ROWS + j] = w[j * ROWS + i];
    w[3] = -0.0, w[4] = 0, q[1] = -0.0;
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT, .scale = 0.125};
    problem.contact = (rg_contact_problem){.dimension = 3,
                                           .contacts = 2,
                                           .joints = 2,
                                           .mu = mu,
                                           .directions = 8,
                                           .w = {.rows = ROWS, .columns = ROWS, .dense = w},
                                           .q = q};
    rg_problem_file *file =
        write_and_read(&problem, &(rg_problem_text){"a title", " two\nlines \n", NULL});
    const rg_problem *read = rg_problem_file_problem(file);
    const rg_contact_problem *p = &read->contact;
    assert_true(read->scale == 0.125);
    assert_int_equal(p->dimension, 3);
    assert_int_equal(p->contacts, 2);
    assert_int_equal(p->joints, 2);
    assert_int_equal(p->directions, 8);
    assert_int_equal(p->form, RG_FORM_LOCAL);
    assert_same_bits(p->w.dense, w, ROWS * ROWS);
    assert_same_bits(p->q, q, ROWS);
    assert_same_bits(p->mu, mu, 2);
    assert_string_equal(rg_problem_file_get_info(file).title, "a title");
    assert_string_equal(rg_problem_file_get_info(file).remark, "two\nlines");
    rg_problem_file_destroy(file);
}

static void test_fclib_local_sparse(void **state) {
    (void)state;
    const size_t starts[] = {0, 2, 4, 5, 6};
    const uint32_t indices[] = {0, 3, 0, 1, 2, 3};
    const double values[] = {1, -0.0, 0.1, 2, 3, 4}, q[] = {-1, 0, -2, 0.3};
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){
        .dimension = 2,
        .contacts = 2,
        .w = {.rows = 4, .columns = 4, .starts = starts, .indices = indices, .values = values},
        .q = q};
    rg_problem_file *file = write_and_read(&problem, NULL);
    const rg_contact_problem *p = &rg_problem_file_problem(file)->contact;
    assert_null(p->w.dense);
    assert_memory_equal(p->w.starts, starts, sizeof starts);
    assert_memory_equal(p->w.indices, indices, sizeof indices);
    assert_same_bits(p->w.values, values, 6);
    assert_same_bits(p->q, q, 4);
    assert_numbers(p->mu, 2, (double[]){0, 0});
    assert_true(rg_problem_file_problem(file)->scale == 0);
    rg_problem_file_destroy(file);
}

/* Blocks of any size, some contacts with fixed bodies on either side, joints, full mass blocks. */
static void check_fclib_global(int dimension, int freedom, unsigned seed) {
    enum { BLOCKS = 5, CONTACTS = 7, JOINTS = 2 };
    static const uint32_t contact_blocks[2 * CONTACTS] = {
        0, 1, 1, 0, RG_NO_BLOCK, 2, 3, RG_NO_BLOCK, 2, 4, 4, 2, RG_NO_BLOCK, RG_NO_BLOCK};
    static const uint32_t joint_blocks[2 * JOINTS] = {3, 0, RG_NO_BLOCK, 1};
    rg_random random = rg_random_make(seed);
    size_t n = (size_t)freedom, d = (size_t)dimension;
    double mass[BLOCKS * 36], velocity[BLOCKS * 6], jacobian[CONTACTS * 36], joints[JOINTS * 12];
    double q[CONTACTS * 3 + JOINTS], mu[CONTACTS];
    for (int i = 0; i < BLOCKS; i++) {
        double block[16 * 16];
        random_mass(&random, n, block);
        memcpy(mass + (size_t)i * n * n, block, n * n * sizeof *block);
    }
    fill_random(&random, velocity, BLOCKS * n);
    fill_random(&random, jacobian, CONTACTS * 2 * d * n);
    fill_random(&random, joints, JOINTS * 2 * n);
    fill_random(&random, q, CONTACTS * d + JOINTS);
    for (int i = 0; i < CONTACTS; i++)
        mu[i] = rg_random_between(&random, 0, 1);
    for (size_t i = 0; i < 2 * CONTACTS; i++) /* a fixed body has no rows */
        for (size_t k = 0; contact_blocks[i] == RG_NO_BLOCK && k < d * n; k++)
            jacobian[i * d * n + k] = 0;
    for (size_t k = 0; k < n; k++)
        joints[2 * n + k] = 0;
    jacobian[0] = -0.0, jacobian[1] = 0;
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){.dimension = dimension,
                                           .contacts = CONTACTS,
                                           .joints = JOINTS,
                                           .mu = mu,
                                           .form = RG_FORM_GLOBAL,
                                           .q = q};
    problem.contact.global = (rg_global_form){.blocks = BLOCKS,
                                              .freedom = freedom,
                                              .mass = mass,
                                              .free_velocity = velocity,
                                              .contact_blocks = contact_blocks,
                                              .contact_jacobian = jacobian,
                                              .joint_blocks = joint_blocks,
                                              .joint_jacobian = joints};
    rg_problem_file *file = write_and_read(&problem, NULL);
    const rg_contact_problem *p = &rg_problem_file_problem(file)->contact;
    const rg_global_form *g = &p->global;
    assert_int_equal(p->form, RG_FORM_GLOBAL);
    assert_int_equal(g->freedom, freedom);
    assert_int_equal(g->blocks, BLOCKS);
    assert_int_equal(p->joints, JOINTS);
    assert_same_bits(g->mass, mass, BLOCKS * n * n);
    assert_same_bits(g->free_velocity, velocity, BLOCKS * n);
    assert_memory_equal(g->contact_blocks, contact_blocks, sizeof contact_blocks);
    assert_memory_equal(g->joint_blocks, joint_blocks, sizeof joint_blocks);
    assert_same_bits(g->contact_jacobian, jacobian, CONTACTS * 2 * d * n);
    assert_same_bits(g->joint_jacobian, joints, JOINTS * 2 * n);
    assert_same_bits(p->q, q, CONTACTS * d + JOINTS);
    assert_same_bits(p->mu, mu, CONTACTS);
    rg_problem_file_destroy(file);
}

static void test_fclib_global(void **state) {
    (void)state;
    unsigned seed = 1;
    for (int dimension = 1; dimension <= 3; dimension++)
        for (int freedom = 1; freedom <= 6; freedom++)
            check_fclib_global(dimension, freedom, seed++);
}

/* A sequence written and read again is the same problem, to the last bit. */
static void test_fclib_sequence(void **state) {
    (void)state;
    rg_problem_file *file = parse(SEQUENCE);
    const rg_problem *a = rg_problem_file_problem(file);
    rg_problem_file *again = write_and_read(a, NULL);
    const rg_problem *b = rg_problem_file_problem(again);
    assert_true(a->scale == b->scale);
    assert_same_bits(a->contact.q, b->contact.q, 6);
    assert_same_bits(a->contact.global.free_velocity, b->contact.global.free_velocity, 12);
    assert_same_bits(a->contact.global.contact_jacobian, b->contact.global.contact_jacobian, 72);
    assert_memory_equal(a->contact.global.contact_blocks, b->contact.global.contact_blocks,
                        4 * sizeof(uint32_t));
    rg_problem_file_destroy(again);
    rg_problem_file_destroy(file);
}

static void test_fclib_unsupported(void **state) {
    (void)state;
    rg_error error;
    const double one = 1, zero = 0, w[] = {1, 2, 3, 4}, q[] = {0, 0};
    rg_problem problem = rg_problem_linear(1, &one, &one);
    assert_int_equal(rg_problem_write_fclib("x.hdf5", &problem, NULL, NULL, &error),
                     RG_UNSUPPORTED);
    assert_string_equal(error.text, "x.hdf5: a linear problem; FCLIB holds contact problems only");
    problem = (rg_problem){.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){.dimension = 1,
                                           .joints = 1,
                                           .lower = &zero,
                                           .upper = &one,
                                           .w = {.rows = 1, .columns = 1, .dense = &one},
                                           .q = &one};
    assert_int_equal(rg_problem_write_fclib("x.hdf5", &problem, NULL, NULL, &error),
                     RG_UNSUPPORTED);
    assert_string_equal(error.text, "x.hdf5: joint rows with bounds; FCLIB has no form for them");
    problem.contact = (rg_contact_problem){.dimension = 1,
                                           .contacts = 1,
                                           .joints = 1,
                                           .w = {.rows = 2, .columns = 2, .dense = w},
                                           .q = q};
    assert_int_equal(rg_problem_write_fclib("x.hdf5", &problem, NULL, NULL, &error),
                     RG_UNSUPPORTED);
    assert_string_equal(error.text, "x.hdf5: W is not symmetric at (0, 1), between a contact and a "
                                    "joint; FCLIB has no form for that");
    problem.contact.joints = 0;
    assert_int_equal(rg_problem_write_fclib("x.hdf5", &problem, NULL, NULL, &error),
                     RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "x.hdf5: W is 2 by 2; it must be 1 by 1");
    problem.contact.w = (rg_matrix){.rows = 1, .columns = 1, .dense = w};
    assert_int_equal(rg_problem_write_fclib("no/such/folder/x.hdf5", &problem, NULL, NULL, &error),
                     RG_WRITE_FAILED);
    assert_string_equal(error.text,
                        "no/such/folder/x.hdf5: cannot be written: No such file or directory");
}

/* The bytes of a problem in FCLIB's form. */
static char *fclib_bytes(size_t *size) {
    char path[512];
    rg_error error;
    rg_problem_file *file = parse(SEQUENCE);
    scratch_path(path, sizeof path, "bytes.hdf5");
    if (rg_problem_write_fclib(path, rg_problem_file_problem(file), NULL, NULL, &error) != RG_OK)
        fail_msg("%s", error.text);
    rg_problem_file_destroy(file);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    *size = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, stream), *size);
    fclose(stream);
    remove(path);
    return bytes;
}

/* Cut anywhere: refused. The same problem makes the same bytes. */
static void test_fclib_cut(void **state) {
    (void)state;
    size_t size, again_size;
    char *bytes = fclib_bytes(&size), *again = fclib_bytes(&again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    for (size_t length = 8; length < size; length += 61) {
        rg_problem_file *file;
        rg_error error;
        char *cut = malloc(length);
        memcpy(cut, bytes, length);
        rg_status status =
            rg_problem_file_read_memory(cut, length, "test", RG_FORMAT_AUTO, NULL, &file, &error);
        assert_int_equal(status, RG_FILE_DAMAGED);
        assert_string_equal(error.text, "test: is not an HDF5 file, or is cut short or damaged");
        free(cut);
    }
    free(again);
    free(bytes);
}

/* HDF5 asks for whatever a damaged file says, and takes no for an answer; the address sanitizer
 * would end the process instead. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

/* Whether every damaged copy was read as a sound problem or refused with a message. */
static bool survive_damage(const char *bytes, size_t size, int rounds) {
    char *copy = malloc(size);
    rg_random random = rg_random_make(5);
    int refused = 0;
    bool good = true;
    for (int i = 0; i < rounds && good; i++) {
        memcpy(copy, bytes, size);
        uint64_t changes = 1 + rg_random_below(&random, 4);
        for (uint64_t k = 0; k < changes; k++)
            copy[rg_random_below(&random, size)] = (char)rg_random_next(&random);
        rg_problem_file *file;
        rg_error error = {0};
        rg_status status =
            rg_problem_file_read_memory(copy, size, "test", RG_FORMAT_FCLIB, NULL, &file, &error);
        good = status == RG_OK ? rg_problem_check(rg_problem_file_problem(file), NULL) == RG_OK
                               : error.status == status && error.text[0];
        refused += status != RG_OK;
        rg_problem_file_destroy(file);
    }
    free(copy);
    return good && refused > 0 && refused < rounds;
}

/* A few bytes changed at random: read or refused, never more. In a process of its own, which does
 * not end by exit: HDF5 may lose memory on objects that it cannot open, and complains of that
 * then. */
static void test_fclib_damaged(void **state) {
    (void)state;
    size_t size;
    char *bytes = fclib_bytes(&size);
    int rounds = test_cases(1000, 20000), result;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(survive_damage(bytes, size, rounds) ? 0 : 1);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lcp_storages),
        cmocka_unit_test(test_lcp_empty_rows),
        cmocka_unit_test(test_lcp_short_columns),
        cmocka_unit_test(test_relay),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_mixed_order),
        cmocka_unit_test(test_mixed_rectangular),
        cmocka_unit_test(test_friction_dense),
        cmocka_unit_test(test_friction_sparse),
        cmocka_unit_test(test_global_blocks),
        cmocka_unit_test(test_global_condensed),
        cmocka_unit_test(test_global_three_bodies),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_sequence_numbers),
        cmocka_unit_test(test_bad_lcp),
        cmocka_unit_test(test_bad_mlcp),
        cmocka_unit_test(test_bad_friction),
        cmocka_unit_test(test_bad_sequence),
        cmocka_unit_test(test_bad_auto),
        cmocka_unit_test(test_cut_and_changed),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_small_requests),
        cmocka_unit_test(test_fclib_local_dense),
        cmocka_unit_test(test_fclib_local_sparse),
        cmocka_unit_test(test_fclib_global),
        cmocka_unit_test(test_fclib_sequence),
        cmocka_unit_test(test_fclib_unsupported),
        cmocka_unit_test(test_fclib_cut),
        cmocka_unit_test(test_fclib_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
