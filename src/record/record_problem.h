/* What the readers of problem files share: the object that they fill, places in a text, matrices,
 * and the way from M, H to a problem. */
#ifndef RIGOR_RECORD_PROBLEM_H
#define RIGOR_RECORD_PROBLEM_H

#include "base/base_arena.h"
#include "rigor/problem_file.h"

/* Limits. A file (so that lines and columns fit an int); a dense matrix that is made out of a
 * sparse one, in numbers (512 MiB); rows, contacts and the like (indices are 32 bits). Whatever a
 * file says of its sizes is also held against its length before memory is asked for. */
#define RG_PROBLEM_MOST_BYTES INT32_MAX
#define RG_PROBLEM_MOST_DENSE ((size_t)1 << 26)
#define RG_PROBLEM_MOST_ROWS  ((size_t)1 << 28)

struct rg_problem_file {
    rg_arena arena; /* everything that the file owns */
    rg_problem problem;
    rg_problem_file_info info;
};

/* ---- record_problem.c: places in a text ---- */

/* Where a reader is. Line and column are counted only for messages. */
typedef struct rg_problem_reader {
    rg_problem_file *file;
    const char *name, *data;
    size_t size, at;
    size_t word, word_size; /* the last word that was taken */
    rg_error *error;
} rg_problem_reader;

enum { RG_PROBLEM_QUOTE_SIZE = 48 };
/* The last word taken, fit for a message: short, printable. */
const char *rg_problem_quote(const rg_problem_reader *reader, char text[RG_PROBLEM_QUOTE_SIZE]);
/* A failure at the last word taken. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
rg_status
rg_problem_fail(const rg_problem_reader *reader, rg_status status, const char *format, ...);
rg_status rg_problem_no_memory(const rg_problem_reader *reader);
/* The next word up to white space; false at the end of the text. */
bool rg_problem_next(rg_problem_reader *reader);
/* The same where there must be one: `what` says what it should be ("the number of contacts"). */
rg_status rg_problem_take(rg_problem_reader *reader, const char *what);
/* A whole number from `least` to `most`. */
rg_status rg_problem_take_count(rg_problem_reader *reader, const char *what, size_t least,
                                size_t most, size_t *value);
/* Finite numbers, or whole ones below RG_PROBLEM_MOST_ROWS, in memory of the file. */
rg_status rg_problem_take_number(rg_problem_reader *reader, const char *what, double *value);
rg_status rg_problem_take_numbers(rg_problem_reader *reader, const char *what, size_t count,
                                  double **values);
rg_status rg_problem_take_counts(rg_problem_reader *reader, const char *what, size_t count,
                                 size_t **values);
/* Friction coefficients: not negative. */
rg_status rg_problem_take_friction(rg_problem_reader *reader, size_t count, double **values);
/* Whether as many words can be in what is left of the text, before memory is taken for them. */
rg_status rg_problem_need_words(const rg_problem_reader *reader, const char *what, size_t count);
/* The rest of the text without white space around it becomes the remark. */
rg_status rg_problem_take_remark(rg_problem_reader *reader);

/* `count` things in the file's memory, cleared or not; null if there is none. */
#define RG_PROBLEM_TAKE(file, type, count)                                                         \
    ((type *)rg_arena_take(&(file)->arena, (count), sizeof(type)))
void *rg_problem_take_zeroed(rg_problem_file *file, size_t count, size_t size);

/* ---- record_problem_global.c: matrices, and problems of M and H ---- */

/* Entries in any order; equal places add up. */
typedef struct rg_triplets {
    size_t rows, columns, count;
    uint32_t *row, *column;
    double *value;
} rg_triplets;
bool rg_triplets_make(rg_problem_file *file, size_t rows, size_t columns, size_t count,
                      rg_triplets *triplets);
/* Compressed rows with ascending columns; equal places are added in the order of the triplets. */
bool rg_triplets_compress(rg_problem_file *file, const rg_triplets *triplets, rg_matrix *matrix);
/* Adds to a number that is 0 as long as nothing was; keeps the sign of -0. */
void rg_add_entry(double *cell, double value);
/* Row-major. */
bool rg_triplets_spread(rg_problem_file *file, const rg_triplets *triplets, double **dense);
/* Rows become columns; nothing is copied. */
rg_triplets rg_triplets_transpose(rg_triplets triplets);

/* f = M v, block by block, in an order that does not change. */
void rg_global_multiply_mass(const rg_global_form *global, const double *v, double *f);

/* M v = f + J' r, u = J v + q. The rows of J: contacts x dimension, then joints. */
typedef struct rg_global_parts {
    int dimension;
    size_t contacts, joints, freedom;
    rg_triplets m, j;
    double *f, *q, *mu;
} rg_global_parts;
/* Fills the file's problem: in global form if M falls into equal blocks, symmetric positive
 * definite and of six numbers at most, of which each contact and joint touches two; otherwise
 * condensed, W = J M^-1 J', q + J M^-1 f. A singular M is RG_SINGULAR. */
rg_status rg_problem_fill_global(rg_problem_reader *reader, const rg_global_parts *parts);
/* The blocks alone, for blocks of a given size and contacts whose blocks are known (null: as they
 * come); false in *fits, and nothing filled, if they are not so. f is not used: the velocities are
 * left to the caller. */
rg_status rg_problem_fill_blocks(rg_problem_reader *reader, const rg_global_parts *parts,
                                 size_t freedom, const uint32_t *contact_blocks,
                                 const uint32_t *joint_blocks, bool *fits);

/* ---- the readers; the text from its beginning ---- */

rg_status rg_problem_read_lcp(rg_problem_reader *reader);
rg_status rg_problem_read_mlcp(rg_problem_reader *reader);
rg_status rg_problem_read_relay(rg_problem_reader *reader);
rg_status rg_problem_read_friction(rg_problem_reader *reader);
rg_status rg_problem_read_global_friction(rg_problem_reader *reader);
rg_status rg_problem_read_sequence(rg_problem_reader *reader);
rg_status rg_problem_read_fclib(rg_problem_reader *reader);
bool rg_problem_is_sequence(const char *data, size_t size);
bool rg_problem_is_fclib(const char *data, size_t size);

#endif
