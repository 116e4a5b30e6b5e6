/* Tables of numbers and words in HDF5 files, a dataset per column: what `rigor sweep` leaves beside
 * its CSV. In Python: {name: column[:] for name, column in h5py.File("t.h5")["runs"].items()}.
 * Part of the rigor-io library. */
#ifndef RIGOR_TABLE_H
#define RIGOR_TABLE_H

#include "rigor/status.h"
#include "rigor/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rg_column_kind {
    RG_COLUMN_NUMBER, /* float64; an empty cell is NaN */
    RG_COLUMN_WHOLE,  /* int64 */
    RG_COLUMN_TEXT    /* UTF-8 of `width` bytes */
} rg_column_kind;

typedef struct rg_table_column {
    const char *name; /* '/' stands for '|' in the file: HDF5 makes groups of it */
    rg_column_kind kind;
    size_t width; /* bytes of the longest text, at least 1 */
} rg_table_column;

typedef struct rg_table_def {
    const char *group; /* of the file, that holds the columns */
    const rg_table_column *columns;
    size_t count, rows;
    const rg_allocator *allocator; /* may be null */
} rg_table_def;

typedef struct rg_table_file rg_table_file;

/* A new file with columns in this order; an existing file is replaced. The same table makes the
 * same bytes. On failure *table is null. */
rg_status rg_table_file_create(const char *path, const rg_table_def *def, rg_table_file **table,
                               rg_error *error);
/* The next row, a text per column; null is an empty one. RG_INVALID_ARGUMENT: a number that is
 * none, a text that is too long, more rows than there is room for. */
rg_status rg_table_file_add_row(rg_table_file *table, const char *const *cells, rg_error *error);
/* Writes what is left and frees the table, whatever is returned. */
rg_status rg_table_file_close(rg_table_file *table, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
