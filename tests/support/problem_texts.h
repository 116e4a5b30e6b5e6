/* Test only: problem files in the text formats of docs/problem-files.md, written number by number
 * so that reading gives the same bits. FCLIB has a writer in the library
 * (rg_problem_write_fclib). */
#ifndef RIGOR_TEST_PROBLEM_TEXTS_H
#define RIGOR_TEST_PROBLEM_TEXTS_H

#include "test_support.h"

#include "rigor/complementarity.h"

#include <stdio.h>

/* Storages of a matrix in the texts of Siconos. */
typedef enum text_storage { TEXT_DENSE, TEXT_BLOCKS, TEXT_TRIPLETS, TEXT_STORAGES } text_storage;

static inline void text_numbers(FILE *file, const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%.17g%c", numbers[i], i + 1 == count || i % 8 == 7 ? '\n' : ' ');
}

/* Cuts the matrix in two by two blocks of (nearly) half its size. */
static inline void text_four_blocks(FILE *file, const double *matrix, size_t rows, size_t columns) {
    size_t row_ends[] = {0, rows / 2, rows}, column_ends[] = {0, columns / 2, columns};
    fprintf(file, "4 2 2\n%zu %zu\n%zu %zu\n3 4\n0 2 4\n0 1 0 1\n", row_ends[1], rows,
            column_ends[1], columns);
    for (size_t block = 0; block < 4; block++) {
        fprintf(file, "%zu\n", block);
        for (size_t j = column_ends[block % 2]; j < column_ends[block % 2 + 1]; j++)
            for (size_t i = row_ends[block / 2]; i < row_ends[block / 2 + 1]; i++)
                text_numbers(file, &matrix[i * columns + j], 1);
    }
}

/* As CSparse prints them. */
static inline void text_triplets(FILE *file, const double *matrix, size_t rows, size_t columns) {
    size_t count = 0;
    for (size_t k = 0; k < rows * columns; k++)
        count += matrix[k] != 0;
    fprintf(file, "1\nCSparse Version\ntriplet: %zu-by-%zu, nzmax: %zu nnz: %zu\n", rows, columns,
            count, count);
    for (size_t k = 0; k < rows * columns; k++)
        if (matrix[k] != 0)
            fprintf(file, "    %zu %zu : %.17g\n", k / columns, k % columns, matrix[k]);
}

/* `matrix` by rows. */
static inline void text_matrix(FILE *file, text_storage storage, const double *matrix, size_t rows,
                               size_t columns) {
    fprintf(file, "%d\n%zu %zu\n", (int)storage, rows, columns);
    if (storage == TEXT_BLOCKS) {
        text_four_blocks(file, matrix, rows, columns);
    } else if (storage == TEXT_TRIPLETS) {
        text_triplets(file, matrix, rows, columns);
    } else {
        fprintf(file, "%zu %zu\n", rows, columns);
        for (size_t j = 0; j < columns; j++)
            for (size_t i = 0; i < rows; i++)
                text_numbers(file, &matrix[i * columns + j], 1);
    }
}

static inline void text_lcp(FILE *file, text_storage storage, const double *matrix, const double *q,
                            size_t n) {
    fprintf(file, "%zu\n", n);
    text_matrix(file, storage, matrix, n, n);
    text_numbers(file, q, n);
}

/* A part of a matrix of n columns, by rows. */
static inline void text_part(FILE *file, const double *matrix, size_t n, const size_t rows[2],
                             const size_t columns[2]) {
    for (size_t i = rows[0]; i < rows[1]; i++)
        text_numbers(file, &matrix[i * n + columns[0]], columns[1] - columns[0]);
}

/* Equations first, then pairs; both ways of saying it, which must agree. */
static inline void text_mlcp(FILE *file, text_storage storage, const double *matrix,
                             const double *q, size_t equations, size_t n) {
    size_t first[] = {0, equations}, second[] = {equations, n};
    fprintf(file, "1\n1\n%zu\n%zu\n0 %zu %zu\n0 1\n", equations, n - equations, equations, n);
    text_matrix(file, storage, matrix, n, n);
    text_numbers(file, q, n);
    text_part(file, matrix, n, first, first);
    text_part(file, matrix, n, second, second);
    text_part(file, matrix, n, first, second);
    text_part(file, matrix, n, second, first);
    text_numbers(file, q, equations);
    text_numbers(file, q + equations, n - equations);
}

/* A contact problem in local form with a dense matrix. */
static inline void text_friction(FILE *file, text_storage storage, const rg_contact_problem *p) {
    size_t rows = p->contacts * (size_t)p->dimension;
    fprintf(file, "%d\n%zu\n", p->dimension, p->contacts);
    text_matrix(file, storage, p->w.dense, rows, rows);
    text_numbers(file, p->q, rows);
    text_numbers(file, p->mu, p->contacts);
}

/* A contact problem in global form: M v = M v_free + H r, u = H' v + b. */
static inline void text_global(FILE *file, text_storage storage, const rg_contact_problem *p) {
    size_t d = (size_t)p->dimension, f = (size_t)p->global.freedom, rows = p->contacts * d;
    size_t n = p->global.blocks * f;
    double *mass = calloc(n * n, sizeof *mass), *h = calloc(n * rows, sizeof *h);
    double *momentum = calloc(n, sizeof *momentum);
    for (size_t k = 0; k < n * f; k++) {
        size_t row = k / f, column = row / f * f + k % f;
        mass[row * n + column] = p->global.mass[k];
        momentum[row] += p->global.mass[k] * p->global.free_velocity[column];
    }
    for (size_t k = 0; k < 2 * p->contacts; k++)
        for (size_t i = 0; p->global.contact_blocks[k] != RG_NO_BLOCK && i < d * f; i++)
            h[(p->global.contact_blocks[k] * f + i % f) * rows + k / 2 * d + i / f] +=
                p->global.contact_jacobian[k * d * f + i];
    fprintf(file, "%d\n%zu\n", p->dimension, p->contacts);
    text_matrix(file, storage, mass, n, n);
    text_matrix(file, storage, h, n, rows);
    text_numbers(file, momentum, n);
    text_numbers(file, p->q, rows);
    text_numbers(file, p->mu, p->contacts);
    free(mass), free(h), free(momentum);
}

#endif
