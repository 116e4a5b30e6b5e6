/* The problem texts of Siconos: linear complementarity, mixed, relay (with bounds), and friction in
 * local and global form.
 *
 * Format: bare numbers between white space (docs/problem-files.md has the order). A matrix is
 * `storage rows columns` and then 0: dense, by columns; 1: block-sparse; 2: what CSparse prints of
 * a sparse matrix. Written from the files and from what Siconos 4.4 writes.
 * Two quirks of the writer are met: a rectangular mixed problem has only as many numbers of q as M
 * has columns, the rest is in b of its second part; and behind a friction problem stands a single 0
 * or 1. How it fails: see record_problem.c.
 * Tested by tests/record/test_problem.c. */
#include "record/record_problem.h"

#include "base/base_text.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ matrices */

/* A matrix as it was read: dense by columns, or triplets. */
typedef struct text_matrix {
    size_t rows, columns;
    double *by_columns; /* null: sparse */
    rg_triplets sparse;
} text_matrix;

enum { STORE_DENSE, STORE_BLOCKS, STORE_SPARSE };

static rg_status read_dense(rg_problem_reader *reader, text_matrix *matrix) {
    size_t again;
    rg_status status = rg_problem_take_count(reader, "the number of rows, again", matrix->rows,
                                             matrix->rows, &again);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of columns, again", matrix->columns,
                                       matrix->columns, &again);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "the matrix", matrix->rows * matrix->columns,
                                         &matrix->by_columns);
    return status;
}

/* Cumulative ends: ascending, the last of them `size`. */
static rg_status read_ends(rg_problem_reader *reader, const char *what, size_t count, size_t size,
                           size_t **ends) {
    rg_status status = rg_problem_take_counts(reader, what, count, ends);
    if (status != RG_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if ((*ends)[i] < (i ? (*ends)[i - 1] : 0))
            return rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                   "%s above: number %zu of %zu is less than the one before", what,
                                   i + 1, count);
    if ((count ? (*ends)[count - 1] : 0) != size)
        return rg_problem_fail(reader, RG_INVALID_ARGUMENT, "%s end at %zu; they must end at %zu",
                               what, count ? (*ends)[count - 1] : 0, size);
    return RG_OK;
}

typedef struct block_layout {
    size_t blocks, block_rows, block_columns, pointers;
    size_t *row_ends, *column_ends, *starts, *columns;
} block_layout;

static rg_status read_layout(rg_problem_reader *reader, const text_matrix *matrix,
                             block_layout *layout) {
    size_t indices, most = RG_PROBLEM_MOST_ROWS;
    rg_status status =
        rg_problem_take_count(reader, "the number of blocks", 0, most, &layout->blocks);
    if (status == RG_OK)
        status =
            rg_problem_take_count(reader, "the number of block rows", 0, most, &layout->block_rows);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of block columns", 0, most,
                                       &layout->block_columns);
    if (status == RG_OK)
        status = read_ends(reader, "the ends of the block rows", layout->block_rows, matrix->rows,
                           &layout->row_ends);
    if (status == RG_OK)
        status = read_ends(reader, "the ends of the block columns", layout->block_columns,
                           matrix->columns, &layout->column_ends);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of row pointers", 1,
                                       layout->block_rows + 1, &layout->pointers);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of block-column indices", layout->blocks,
                                       layout->blocks, &indices);
    if (status == RG_OK)
        status = read_ends(reader, "the row pointers", layout->pointers, layout->blocks,
                           &layout->starts);
    if (status == RG_OK && layout->starts[0] != 0)
        status = rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                 "the row pointers above begin with %zu; they must begin with 0",
                                 layout->starts[0]);
    if (status == RG_OK)
        status = rg_problem_take_counts(reader, "the block-column indices", layout->blocks,
                                        &layout->columns);
    for (size_t k = 0; k < layout->blocks && status == RG_OK; k++)
        if (layout->columns[k] >= layout->block_columns)
            status = rg_problem_fail(
                reader, RG_INVALID_ARGUMENT,
                "block %zu above is in block column %zu; there are %zu, counted from 0", k,
                layout->columns[k], layout->block_columns);
    return status;
}

/* First row or column of a block, and how many. */
static size_t span(const size_t *ends, size_t block, size_t *first) {
    *first = block ? ends[block - 1] : 0;
    return ends[block] - *first;
}

/* How many numbers all blocks have. Each is at most the size of the matrix, of which there may be
 * so many that the sum overflows: it is stopped where no file can hold them. */
static size_t count_entries(const block_layout *layout) {
    size_t entries = 0, first;
    for (size_t i = 0; i + 1 < layout->pointers; i++)
        for (size_t k = layout->starts[i]; k < layout->starts[i + 1]; k++) {
            entries += span(layout->row_ends, i, &first) *
                       span(layout->column_ends, layout->columns[k], &first);
            if (entries > RG_PROBLEM_MOST_BYTES)
                return entries;
        }
    return entries;
}

static rg_status read_block(rg_problem_reader *reader, const block_layout *layout, size_t block_row,
                            size_t block, rg_triplets *sparse, size_t *entry) {
    size_t row, column, number;
    size_t height = span(layout->row_ends, block_row, &row);
    size_t width = span(layout->column_ends, layout->columns[block], &column);
    rg_status status =
        rg_problem_take_count(reader, "the number of a block", 0, RG_PROBLEM_MOST_ROWS, &number);
    /* Its own number, or how many numbers it has. */
    if (status == RG_OK && number != block && number != height * width)
        return rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                               "the number of a block is %zu; it must be %zu", number, block);
    for (size_t k = 0; k < height * width && status == RG_OK; k++) {
        sparse->row[*entry] = (uint32_t)(row + k % height);
        sparse->column[*entry] = (uint32_t)(column + k / height);
        status = rg_problem_take_number(reader, "a number of a block", &sparse->value[(*entry)++]);
    }
    return status;
}

static rg_status read_blocks(rg_problem_reader *reader, text_matrix *matrix) {
    block_layout layout = {0};
    rg_status status = read_layout(reader, matrix, &layout);
    if (status != RG_OK)
        return status;
    size_t entries = count_entries(&layout);
    status = rg_problem_need_words(reader, "blocks", entries);
    if (status != RG_OK)
        return status;
    if (!rg_triplets_make(reader->file, matrix->rows, matrix->columns, entries, &matrix->sparse))
        return rg_problem_no_memory(reader);
    size_t entry = 0;
    for (size_t i = 0; i + 1 < layout.pointers && status == RG_OK; i++)
        for (size_t k = layout.starts[i]; k < layout.starts[i + 1] && status == RG_OK; k++)
            status = read_block(reader, &layout, i, k, &matrix->sparse, &entry);
    return status;
}

/* `word` as a whole, a trailing comma apart. */
static bool word_is(const rg_problem_reader *reader, const char *word) {
    size_t size = strlen(word);
    return reader->word_size == size && memcmp(reader->data + reader->word, word, size) == 0;
}

static rg_status expect(rg_problem_reader *reader, const char *word) {
    char quote[RG_PROBLEM_QUOTE_SIZE];
    rg_status status = rg_problem_take(reader, word);
    if (status == RG_OK && !word_is(reader, word))
        status = rg_problem_fail(reader, RG_SYNTAX, "'%s' in a sparse matrix; here should be %s",
                                 rg_problem_quote(reader, quote), word);
    return status;
}

/* "12," or "12": the comma belongs to the sentence. */
static rg_status take_count_comma(rg_problem_reader *reader, const char *what, size_t most,
                                  size_t *value) {
    rg_problem_reader word = *reader;
    if (rg_problem_next(&word) && word.word_size > 1 && word.data[word.at - 1] == ',') {
        size_t size = reader->size;
        reader->size = word.at - 1; /* the word ends here */
        rg_status status = rg_problem_take_count(reader, what, 0, most, value);
        reader->size = size;
        reader->at = word.at;
        return status;
    }
    return rg_problem_take_count(reader, what, 0, most, value);
}

/* Whether the word is like "12-by-34,". */
static bool has_sizes(const rg_problem_reader *reader) {
    for (size_t i = 0; i + 4 <= reader->word_size; i++)
        if (memcmp(reader->data + reader->word + i, "-by-", 4) == 0)
            return true;
    return false;
}

/* "12-by-34," after the banner. Both sizes are known: rows and columns, or, of compressed rows,
 * printed as if they were columns, the other way round. */
static rg_status read_dump_head(rg_problem_reader *reader, size_t rows, size_t columns,
                                bool *triplets, size_t *entries) {
    enum { BANNER_WORDS = 40 }; /* of CSparse's banner, about a dozen */
    char sizes[64], quote[RG_PROBLEM_QUOTE_SIZE];
    snprintf(sizes, sizeof sizes, "%zu-by-%zu,", rows, columns);
    *triplets = false;
    for (int i = 0;; i++) {
        rg_status status = rg_problem_take(reader, "the sizes of a sparse matrix");
        if (status != RG_OK)
            return status;
        if (word_is(reader, sizes))
            break;
        if (word_is(reader, "triplet:"))
            *triplets = true;
        else if (i == BANNER_WORDS || *triplets || has_sizes(reader))
            return rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                   "'%s' in a sparse matrix; here should be %s",
                                   rg_problem_quote(reader, quote), sizes);
    }
    rg_status status = expect(reader, "nzmax:");
    if (status == RG_OK)
        status = take_count_comma(reader, "nzmax", SIZE_MAX, entries);
    if (status == RG_OK)
        status = expect(reader, "nnz:");
    if (status == RG_OK)
        status = take_count_comma(reader, "nnz", RG_PROBLEM_MOST_BYTES, entries);
    double norm;
    if (status == RG_OK && !*triplets) {
        status = expect(reader, "1-norm:");
        if (status == RG_OK)
            status = rg_problem_take_number(reader, "the 1-norm", &norm);
    }
    return status;
}

/* `i : value` or `i j : value`. */
static rg_status read_dump_entry(rg_problem_reader *reader, rg_triplets *sparse, size_t entry,
                                 bool triplets, size_t column) {
    size_t row;
    rg_status status =
        rg_problem_take_count(reader, "a row index", 0, sparse->rows - (sparse->rows > 0), &row);
    if (status == RG_OK && triplets)
        status = rg_problem_take_count(reader, "a column index", 0,
                                       sparse->columns - (sparse->columns > 0), &column);
    if (status == RG_OK)
        status = expect(reader, ":");
    if (status == RG_OK)
        status =
            rg_problem_take_number(reader, "a number of a sparse matrix", &sparse->value[entry]);
    sparse->row[entry] = (uint32_t)row;
    sparse->column[entry] = (uint32_t)column;
    return status;
}

/* `col j : locations a to b`; the next column has its entries from *entry to *end. An empty column
 * ends at one less than it begins, the first of them at -1. */
static rg_status read_dump_column(rg_problem_reader *reader, size_t column, size_t entry,
                                  size_t entries, size_t *end) {
    size_t value;
    rg_status status = expect(reader, "col");
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of a column", column, column, &value);
    if (status == RG_OK)
        status = expect(reader, ":");
    if (status == RG_OK)
        status = expect(reader, "locations");
    if (status == RG_OK)
        status =
            rg_problem_take_count(reader, "the first location of a column", entry, entry, &value);
    if (status == RG_OK)
        status = expect(reader, "to");
    if (status != RG_OK)
        return status;
    rg_problem_reader ahead = *reader;
    if (entry == 0 && rg_problem_next(&ahead) && word_is(&ahead, "-1")) {
        *reader = ahead;
        *end = 0;
        return RG_OK;
    }
    status = rg_problem_take_count(reader, "the last location of a column", entry ? entry - 1 : 0,
                                   entries ? entries - 1 : 0, &value);
    *end = value + 1;
    return status;
}

static rg_status read_sparse(rg_problem_reader *reader, text_matrix *matrix) {
    enum { ORIGIN_ROWS = 3 }; /* compressed rows; 1: triplets, 2: compressed columns */
    size_t origin, entries, entry = 0, end;
    bool triplets;
    rg_status status =
        rg_problem_take_count(reader, "the origin of a sparse matrix", 0, 9, &origin);
    if (status != RG_OK)
        return status;
    bool turned = origin == ORIGIN_ROWS;
    size_t rows = turned ? matrix->columns : matrix->rows;
    size_t columns = turned ? matrix->rows : matrix->columns;
    status = read_dump_head(reader, rows, columns, &triplets, &entries);
    if (status == RG_OK)
        status = rg_problem_need_words(reader, "a sparse matrix", 3 * entries);
    if (status != RG_OK)
        return status;
    rg_triplets *sparse = &matrix->sparse;
    if (!rg_triplets_make(reader->file, rows, columns, entries, sparse))
        return rg_problem_no_memory(reader);
    if (entries > 0 && (rows == 0 || columns == 0))
        return rg_problem_fail(reader, RG_INVALID_ARGUMENT, "entries in an empty matrix");
    for (; triplets && entry < entries && status == RG_OK; entry++)
        status = read_dump_entry(reader, sparse, entry, true, 0);
    for (size_t j = 0; !triplets && j < columns && status == RG_OK; j++) {
        status = read_dump_column(reader, j, entry, entries, &end);
        for (; status == RG_OK && entry < end; entry++)
            status = read_dump_entry(reader, sparse, entry, false, j);
    }
    if (status == RG_OK && entry != entries)
        status = rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                 "%zu entries in a sparse matrix; it says that there are %zu",
                                 entry, entries);
    if (status == RG_OK && turned)
        *sparse = rg_triplets_transpose(*sparse);
    return status;
}

static rg_status read_matrix(rg_problem_reader *reader, const char *what, size_t rows_least,
                             size_t rows_most, size_t columns_least, size_t columns_most,
                             text_matrix *matrix) {
    char text[64];
    size_t storage;
    *matrix = (text_matrix){0};
    snprintf(text, sizeof text, "the storage of %s", what);
    rg_status status = rg_problem_take_count(reader, text, 0, STORE_SPARSE, &storage);
    snprintf(text, sizeof text, "the number of rows of %s", what);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, text, rows_least, rows_most, &matrix->rows);
    snprintf(text, sizeof text, "the number of columns of %s", what);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, text, columns_least, columns_most, &matrix->columns);
    if (status != RG_OK)
        return status;
    return storage == STORE_DENSE    ? read_dense(reader, matrix)
           : storage == STORE_BLOCKS ? read_blocks(reader, matrix)
                                     : read_sparse(reader, matrix);
}

static rg_status fail_dense(const rg_problem_reader *reader, size_t rows, size_t columns) {
    return rg_fail(reader->error, RG_LIMIT_EXCEEDED,
                   "%s: a matrix of %zu by %zu numbers; at most %zu numbers are possible here",
                   reader->name, rows, columns, RG_PROBLEM_MOST_DENSE);
}

/* Row-major, with `left` empty columns put in before column `at` (0: none). */
static rg_status spread_matrix(const rg_problem_reader *reader, const text_matrix *matrix,
                               size_t at, size_t left, double **dense) {
    size_t columns = matrix->columns + left;
    if (matrix->rows > 0 && columns > RG_PROBLEM_MOST_DENSE / matrix->rows)
        return fail_dense(reader, matrix->rows, columns);
    *dense = rg_problem_take_zeroed(reader->file, matrix->rows * columns, sizeof(double));
    if (!*dense)
        return rg_problem_no_memory(reader);
    const rg_triplets *t = &matrix->sparse;
    for (size_t j = 0; matrix->by_columns && j < matrix->columns; j++)
        for (size_t i = 0; i < matrix->rows; i++)
            (*dense)[i * columns + j + (j >= at ? left : 0)] =
                matrix->by_columns[j * matrix->rows + i];
    for (size_t k = 0; !matrix->by_columns && k < t->count; k++)
        rg_add_entry(
            &(*dense)[t->row[k] * columns + t->column[k] + (t->column[k] >= at ? left : 0)],
            t->value[k]);
    return RG_OK;
}

/* ------------------------------------------------------------------ LCP */

/* n, M and q: all of an LCP, the beginning of a relay problem. */
static rg_status read_rows(rg_problem_reader *reader) {
    size_t n;
    text_matrix m;
    double *matrix, *q;
    rg_status status =
        rg_problem_take_count(reader, "the number of rows", 1, RG_PROBLEM_MOST_ROWS, &n);
    if (status == RG_OK)
        status = read_matrix(reader, "M", n, n, n, n, &m);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "q", n, &q);
    if (status == RG_OK)
        status = spread_matrix(reader, &m, 0, 0, &matrix);
    if (status != RG_OK)
        return status;
    reader->file->problem = rg_problem_linear(n, matrix, q);
    return RG_OK;
}

/* Numbers and nothing else behind q are no remark: most likely bounds, which must not be passed
 * over.
 */
static rg_status refuse_numbers(rg_problem_reader *reader) {
    rg_problem_reader ahead = *reader;
    rg_error ignored;
    double value;
    size_t count = 0, n = reader->file->problem.linear.size;
    ahead.error = &ignored;
    while (rg_problem_take_number(&ahead, "a number", &value) == RG_OK)
        count++;
    if (count == 0 || ahead.word_size != 0)
        return RG_OK;
    rg_problem_next(reader);
    return rg_problem_fail(reader, RG_SYNTAX,
                           "%zu more numbers behind q; an lcp ends there, a relay problem has %zu "
                           "lower and %zu upper bounds",
                           count, n, n);
}

rg_status rg_problem_read_lcp(rg_problem_reader *reader) {
    rg_status status = read_rows(reader);
    if (status == RG_OK)
        status = refuse_numbers(reader);
    return status == RG_OK ? rg_problem_take_remark(reader) : status;
}

/* ------------------------------------------------------------------ relay */

/* -w in the normal cone of [lower, upper] at z: a bounded row. */
rg_status rg_problem_read_relay(rg_problem_reader *reader) {
    rg_linear_problem *p = &reader->file->problem.linear;
    double *lower, *upper;
    rg_status status = read_rows(reader);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "the lower bounds", p->size, &lower);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "the upper bounds", p->size, &upper);
    if (status != RG_OK)
        return status;
    uint8_t *kinds = RG_PROBLEM_TAKE(reader->file, uint8_t, p->size);
    if (!kinds)
        return rg_problem_no_memory(reader);
    memset(kinds, RG_ROW_BOUNDED, p->size);
    p->kinds = kinds, p->lower = lower, p->upper = upper;
    return rg_problem_take_remark(reader);
}

/* ------------------------------------------------------------------ mixed LCP */

/* A mixed problem has its matrix as a whole (M, q), in parts (A, B, C, D, a, b), or both. */
typedef struct mixed {
    size_t n, m;    /* equations, complementarities */
    size_t rows;    /* n + m, or more: equations without an unknown of their own */
    uint8_t *kinds; /* rows */
    double *matrix; /* rows x rows */
    double *q;      /* rows */
    double *a, *b, *c, *d, *small_a, *small_b;
} mixed;

/* Block starts from 0 to n + m, then a flag for each block. */
static rg_status read_kinds(rg_problem_reader *reader, mixed *problem) {
    size_t size = problem->n + problem->m, blocks = 0, from = 0, complementary = 0, start, flag;
    rg_status status = rg_problem_need_words(reader, "the rest", size);
    if (status != RG_OK)
        return status;
    size_t *ends = RG_PROBLEM_TAKE(reader->file, size_t, size);
    uint8_t *kinds = RG_PROBLEM_TAKE(reader->file, uint8_t, size);
    if (!ends || !kinds)
        return rg_problem_no_memory(reader);
    status = rg_problem_take_count(reader, "the first block start", 0, 0, &start);
    while (status == RG_OK && start < size) {
        status = rg_problem_take_count(reader, "a block start", start, size, &start);
        if (status == RG_OK && blocks == size)
            status = rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                     "more than %zu blocks for as many rows", size);
        else
            ends[blocks++] = start;
    }
    for (size_t i = 0; i < blocks && status == RG_OK; i++) {
        status = rg_problem_take_count(reader, "the flag of a block", 0, 1, &flag);
        for (; status == RG_OK && from < ends[i]; from++) {
            kinds[from] = flag ? RG_ROW_UNILATERAL : RG_ROW_FREE;
            complementary += flag;
        }
    }
    if (status == RG_OK && complementary != problem->m)
        status = rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                 "%zu rows in blocks of complementarities; there must be %zu",
                                 complementary, problem->m);
    problem->kinds = kinds;
    return status;
}

/* M and q. More rows than columns: equations without an unknown, which get one that multiplies
 * nothing. They stand between the other equations and the complementarities. */
static rg_status read_whole(rg_problem_reader *reader, mixed *problem) {
    size_t size = problem->n + problem->m;
    text_matrix matrix;
    double *q;
    rg_status status = read_kinds(reader, problem);
    if (status == RG_OK)
        status = read_matrix(reader, "M", size, RG_PROBLEM_MOST_ROWS, size, size, &matrix);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "q", size, &q);
    if (status != RG_OK)
        return status;
    size_t extra = matrix.rows - size;
    problem->rows = matrix.rows;
    problem->q = q;
    for (size_t i = 0; extra > 0 && i < size; i++)
        if ((problem->kinds[i] == RG_ROW_FREE) != (i < problem->n))
            return rg_problem_fail(reader, RG_UNSUPPORTED,
                                   "more equations than unknowns, in mixed order; the equations "
                                   "must come first");
    status = spread_matrix(reader, &matrix, problem->n, extra, &problem->matrix);
    if (status != RG_OK || extra == 0)
        return status;
    uint8_t *kinds = RG_PROBLEM_TAKE(reader->file, uint8_t, matrix.rows);
    problem->q = rg_problem_take_zeroed(reader->file, matrix.rows, sizeof(double));
    if (!kinds || !problem->q)
        return rg_problem_no_memory(reader);
    for (size_t i = 0; i < matrix.rows; i++)
        kinds[i] = i < matrix.rows - problem->m ? RG_ROW_FREE : RG_ROW_UNILATERAL;
    memcpy(problem->q, q, size * sizeof *q); /* the rest follows in b */
    problem->kinds = kinds;
    return RG_OK;
}

static rg_status read_parts(rg_problem_reader *reader, mixed *problem) {
    size_t n = problem->n, m = problem->m;
    rg_status status = rg_problem_take_numbers(reader, "A", n * n, &problem->a);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "B", m * m, &problem->b);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "C", n * m, &problem->c);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "D", m * n, &problem->d);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "a", n, &problem->small_a);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "b", m, &problem->small_b);
    return status;
}

/* Entry of the matrix that the parts make: equations first. */
static double part_entry(const mixed *problem, size_t i, size_t j) {
    size_t n = problem->n, m = problem->m;
    return i < n   ? (j < n ? problem->a[i * n + j] : problem->c[i * m + j - n])
           : j < n ? problem->d[(i - n) * n + j]
                   : problem->b[(i - n) * m + j - n];
}

static double part_q(const mixed *problem, size_t i) {
    return i < problem->n ? problem->small_a[i] : problem->small_b[i - problem->n];
}

static rg_status join_parts(rg_problem_reader *reader, mixed *problem) {
    size_t size = problem->rows = problem->n + problem->m;
    if (size > RG_PROBLEM_MOST_DENSE / size)
        return fail_dense(reader, size, size);
    problem->matrix = RG_PROBLEM_TAKE(reader->file, double, size *size);
    problem->q = RG_PROBLEM_TAKE(reader->file, double, size);
    problem->kinds = RG_PROBLEM_TAKE(reader->file, uint8_t, size);
    if (!problem->matrix || !problem->q || !problem->kinds)
        return rg_problem_no_memory(reader);
    for (size_t i = 0; i < size; i++) {
        problem->q[i] = part_q(problem, i);
        problem->kinds[i] = i < problem->n ? RG_ROW_FREE : RG_ROW_UNILATERAL;
        for (size_t j = 0; j < size; j++)
            problem->matrix[i * size + j] = part_entry(problem, i, j);
    }
    return RG_OK;
}

/* Both forms must say the same. Fills in what a rectangular q leaves to b. */
static rg_status compare_parts(rg_problem_reader *reader, mixed *problem) {
    size_t n = problem->n, size = n + problem->m, rows = problem->rows;
    size_t *place = RG_PROBLEM_TAKE(reader->file, size_t, size);
    if (!place)
        return rg_problem_no_memory(reader);
    for (size_t i = 0, equation = 0, other = n; i < size; i++) /* of the parts' rows in M */
        if (rows > size)
            place[i] = i < n ? i : i + (rows - size);
        else if (problem->kinds[i] == RG_ROW_FREE)
            place[equation++] = i;
        else
            place[other++] = i;
    for (size_t i = n; rows > size && i < size; i++)
        problem->q[place[i]] = part_q(problem, i);
    for (size_t i = 0; i < size; i++) {
        bool same = problem->q[place[i]] == part_q(problem, i);
        for (size_t j = 0; j < size && same; j++)
            same = problem->matrix[place[i] * rows + place[j]] == part_entry(problem, i, j);
        if (!same)
            return rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                   "row %zu of M and q is not the same in A, B, C, D, a and b "
                                   "above",
                                   place[i]);
    }
    return RG_OK;
}

rg_status rg_problem_read_mlcp(rg_problem_reader *reader) {
    size_t whole, parts;
    mixed problem = {0};
    rg_status status = rg_problem_take_count(reader, "the flag of M", 0, 1, &whole);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the flag of A, B, C, D", 0, 1, &parts);
    if (status == RG_OK && !whole && !parts)
        status = rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                 "both flags are 0; there is neither M nor A, B, C, D");
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of equations", 0, RG_PROBLEM_MOST_ROWS,
                                       &problem.n);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of complementarities", 0,
                                       RG_PROBLEM_MOST_ROWS, &problem.m);
    if (status == RG_OK && problem.n + problem.m == 0)
        status = rg_problem_fail(reader, RG_INVALID_ARGUMENT, "a problem without rows");
    if (status == RG_OK && whole)
        status = read_whole(reader, &problem);
    if (status == RG_OK && parts)
        status = read_parts(reader, &problem);
    if (status == RG_OK && whole && !parts && problem.rows > problem.n + problem.m)
        status = rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                 "M has more rows than columns; A, B, C, D must follow, for the "
                                 "rest of q");
    if (status == RG_OK && parts)
        status = whole ? compare_parts(reader, &problem) : join_parts(reader, &problem);
    if (status != RG_OK)
        return status;
    reader->file->problem = rg_problem_linear(problem.rows, problem.matrix, problem.q);
    reader->file->problem.linear.kinds = problem.kinds;
    return rg_problem_take_remark(reader);
}

/* ------------------------------------------------------------------ friction */

static rg_status read_contacts(rg_problem_reader *reader, size_t *dimension, size_t *contacts) {
    rg_status status = rg_problem_take_count(reader, "the dimension", 2, 3, dimension);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of contacts", 1,
                                       RG_PROBLEM_MOST_ROWS / 3, contacts);
    return status;
}

/* A single 0 or 1 stands behind the problems of some versions. */
static rg_status end_friction(rg_problem_reader *reader) {
    rg_problem_reader ahead = *reader;
    if (rg_problem_next(&ahead) && (word_is(&ahead, "0") || word_is(&ahead, "1")))
        reader->at = ahead.at;
    return rg_problem_take_remark(reader);
}

rg_status rg_problem_read_friction(rg_problem_reader *reader) {
    size_t dimension, contacts;
    text_matrix w;
    double *q, *mu, *dense = NULL;
    rg_status status = read_contacts(reader, &dimension, &contacts);
    if (status != RG_OK)
        return status;
    size_t rows = dimension * contacts;
    status = read_matrix(reader, "W", rows, rows, rows, rows, &w);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "q", rows, &q);
    if (status == RG_OK)
        status = rg_problem_take_friction(reader, contacts, &mu);
    if (status == RG_OK && w.by_columns)
        status = spread_matrix(reader, &w, 0, 0, &dense);
    if (status != RG_OK)
        return status;
    rg_matrix matrix = {.rows = rows, .columns = rows, .dense = dense};
    if (!w.by_columns && !rg_triplets_compress(reader->file, &w.sparse, &matrix))
        return rg_problem_no_memory(reader);
    reader->file->problem.kind = RG_PROBLEM_CONTACT;
    reader->file->problem.contact = (rg_contact_problem){.dimension = (int)dimension,
                                                         .contacts = contacts,
                                                         .mu = mu,
                                                         .form = RG_FORM_LOCAL,
                                                         .w = matrix,
                                                         .q = q};
    return end_friction(reader);
}

static rg_status make_triplets(rg_problem_reader *reader, const text_matrix *matrix,
                               rg_triplets *triplets) {
    if (!matrix->by_columns) {
        *triplets = matrix->sparse;
        return RG_OK;
    }
    size_t count = 0, entry = 0;
    for (size_t k = 0; k < matrix->rows * matrix->columns; k++)
        count += matrix->by_columns[k] != 0;
    if (!rg_triplets_make(reader->file, matrix->rows, matrix->columns, count, triplets))
        return rg_problem_no_memory(reader);
    for (size_t k = 0; k < matrix->rows * matrix->columns; k++) {
        if (matrix->by_columns[k] == 0)
            continue;
        triplets->row[entry] = (uint32_t)(k % matrix->rows);
        triplets->column[entry] = (uint32_t)(k / matrix->rows);
        triplets->value[entry++] = matrix->by_columns[k];
    }
    return RG_OK;
}

rg_status rg_problem_read_global_friction(rg_problem_reader *reader) {
    size_t dimension, contacts;
    text_matrix m, h;
    rg_triplets h_triplets;
    rg_status status = read_contacts(reader, &dimension, &contacts);
    if (status == RG_OK)
        status = read_matrix(reader, "M", 1, RG_PROBLEM_MOST_ROWS, 1, RG_PROBLEM_MOST_ROWS, &m);
    if (status != RG_OK)
        return status;
    size_t rows = dimension * contacts;
    rg_global_parts parts = {.dimension = (int)dimension, .contacts = contacts, .freedom = m.rows};
    if (m.columns != m.rows)
        return rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                               "M above is %zu by %zu; it must be square", m.rows, m.columns);
    status = read_matrix(reader, "H", m.rows, m.rows, rows, rows, &h);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "q", m.rows, &parts.f);
    if (status == RG_OK)
        status = rg_problem_take_numbers(reader, "b", rows, &parts.q);
    if (status == RG_OK)
        status = rg_problem_take_friction(reader, contacts, &parts.mu);
    if (status == RG_OK)
        status = make_triplets(reader, &m, &parts.m);
    if (status == RG_OK)
        status = make_triplets(reader, &h, &h_triplets);
    if (status != RG_OK)
        return status;
    parts.j = rg_triplets_transpose(h_triplets);
    status = rg_problem_fill_global(reader, &parts);
    return status == RG_OK ? end_friction(reader) : status;
}
