/* Tables in HDF5: a dataset per column, written by blocks of rows. */
#include "rigor/table.h"

#include "base/base_memory.h"
#include "base/base_text.h"
#include "record/record_hdf5.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 4096 }; /* rows of a chunk, gathered before they are written */

typedef struct column {
    rg_column_kind kind;
    size_t width; /* bytes of a cell in memory */
    hid_t dataset, type;
    char *cells; /* of the rows of this block */
} column;

struct rg_table_file {
    rg_allocator allocator;
    rg_driver_file driver;
    char *path;
    hid_t file;
    column *columns;
    size_t count, rows, row, block; /* columns; rows in all, added, and of a block */
};

static hid_t make_dataset(const rg_table_file *table, hid_t group, const char *name, column *c) {
    char safe[256];
    size_t k = 0;
    for (; name[k] && k < sizeof safe - 1; k++)
        safe[k] = name[k] == '/' ? '|' : name[k];
    safe[k] = '\0';
    c->type = c->kind == RG_COLUMN_TEXT    ? rg_text_type(c->width)
              : c->kind == RG_COLUMN_WHOLE ? H5Tcopy(H5T_STD_I64LE)
                                           : H5Tcopy(H5T_IEEE_F64LE);
    hsize_t rows = table->rows, chunk = table->block;
    return rg_dataset_create(group, safe, c->type, H5Screate_simple(1, &rows, NULL),
                             rg_chunk_properties(1, &chunk, true));
}

/* A group whose members keep the order in which they were made. */
static hid_t make_group(hid_t file, const char *name) {
    hid_t properties = H5Pcreate(H5P_GROUP_CREATE), group = -1;
    if (properties >= 0 && H5Pset_obj_track_times(properties, 0) >= 0 &&
        H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
        group = H5Gcreate2(file, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    rg_close(properties);
    return group;
}

static bool make_columns(rg_table_file *table, const char *group_name,
                         const rg_table_column *given) {
    hid_t group = make_group(table->file, group_name);
    bool good = group >= 0;
    for (size_t i = 0; i < table->count && good; i++) {
        column *c = &table->columns[i];
        c->dataset = make_dataset(table, group, given[i].name, c);
        good = c->dataset >= 0;
    }
    return rg_close(group) && good;
}

static bool allocate_columns(rg_table_file *table, const rg_table_column *given) {
    table->columns = rg_allocate_zeroed(&table->allocator, table->count, sizeof *table->columns);
    bool good = table->columns != NULL;
    for (size_t i = 0; i < table->count && good; i++)
        table->columns[i] = (column){.kind = given[i].kind, .dataset = -1, .type = -1};
    for (size_t i = 0; i < table->count && good; i++) {
        column *c = &table->columns[i];
        c->width = c->kind != RG_COLUMN_TEXT ? 8 : given[i].width > 0 ? given[i].width : 1;
        c->cells = rg_allocate_zeroed(&table->allocator, table->block, c->width);
        good = c->cells != NULL;
    }
    return good;
}

/* 0, or an errno. */
static int release(rg_table_file *table) {
    bool good = true;
    for (size_t i = 0; table->columns && i < table->count; i++) {
        good &= rg_close(table->columns[i].dataset) && rg_close(table->columns[i].type);
        rg_release(&table->allocator, table->columns[i].cells);
    }
    good &= rg_close(table->file);
    rg_driver_release(&table->driver);
    int failed = table->driver.failed ? table->driver.failed : good ? 0 : EIO;
    rg_disk_close(&table->driver.disk_file);
    rg_release_all(&table->allocator, table->path, table->columns);
    rg_object_release(table);
    return failed;
}

static rg_status fail_writing(int number, rg_error *error) {
    char text[RG_DISK_MESSAGE_SIZE];
    return rg_fail(error, RG_WRITE_FAILED, "the table cannot be written: %s",
                   rg_disk_message(number, text));
}

/* 0, or an errno. */
static int create_file(rg_table_file *table, const char *group, const rg_table_column *columns) {
    int failed = rg_disk_open(NULL, table->path, RG_DISK_NEW, &table->driver.disk_file);
    if (failed)
        return failed;
    hid_t access = rg_driver_access(&table->driver), creation = H5Pcreate(H5P_FILE_CREATE);
    if (access >= 0 && creation >= 0 && H5Pset_obj_track_times(creation, 0) >= 0)
        table->file = H5Fcreate(table->path, H5F_ACC_TRUNC, creation, access);
    rg_close(creation);
    rg_close(access);
    if (table->file >= 0 && make_columns(table, group, columns))
        return 0;
    return table->driver.failed ? table->driver.failed : EIO;
}

rg_status rg_table_file_create(const char *path, const rg_table_def *def, rg_table_file **table,
                               rg_error *error) {
    size_t count = def->count, rows = def->rows;
    assert(path && def->group && def->columns && count > 0 && rows > 0);
    rg_table_file *made = rg_object_make(rg_table_file, def->allocator);
    *table = NULL;
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for a table", path);
    made->count = count, made->rows = rows, made->file = -1;
    made->driver.driver = -1, made->driver.disk_file.fd = -1;
    made->block = rows < BLOCK ? rows : BLOCK;
    made->path = rg_copy_text(&made->allocator, path);
    if (!made->path || !allocate_columns(made, def->columns)) {
        release(made);
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for %zu columns", path, count);
    }
    rg_quiet quiet = rg_quiet_begin();
    int failed = create_file(made, def->group, def->columns);
    if (failed)
        (void)release(made);
    rg_quiet_end(quiet);
    if (failed)
        return fail_writing(failed, error);
    *table = made;
    return RG_OK;
}

/* The last rows that were added, which are those of this block. */
static bool write_block(const rg_table_file *table, size_t rows) {
    hsize_t first = table->row - rows, length = rows, all = table->rows;
    hid_t memory = H5Screate_simple(1, &length, NULL), space = H5Screate_simple(1, &all, NULL);
    bool good = memory >= 0 && space >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &length, NULL) >= 0;
    for (size_t i = 0; i < table->count && good; i++) {
        const column *c = &table->columns[i];
        hid_t type = c->kind == RG_COLUMN_TEXT    ? c->type
                     : c->kind == RG_COLUMN_WHOLE ? H5T_NATIVE_INT64
                                                  : H5T_NATIVE_DOUBLE;
        good = H5Dwrite(c->dataset, type, memory, space, H5P_DEFAULT, c->cells) >= 0;
    }
    return rg_close(memory) && rg_close(space) && good;
}

static bool put_cell(column *c, size_t row, const char *text) {
    char *cell = c->cells + row * c->width;
    double number = NAN;
    size_t length = text ? strlen(text) : 0;
    if (c->kind == RG_COLUMN_TEXT) {
        memset(cell, 0, c->width);
        if (length <= c->width && length > 0)
            memcpy(cell, text, length);
        return length <= c->width;
    }
    if (length > 0 && !rg_parse_double(text, length, &number))
        return false;
    if (c->kind == RG_COLUMN_WHOLE) {
        if (!(fabs(number) <= 9007199254740992.0) || number != floor(number))
            return false; /* beyond 2^53 a double is not sure of it */
        int64_t whole = (int64_t)number;
        memcpy(cell, &whole, sizeof whole);
    } else {
        memcpy(cell, &number, sizeof number);
    }
    return true;
}

rg_status rg_table_file_add_row(rg_table_file *table, const char *const *cells, rg_error *error) {
    if (table->row == table->rows)
        return rg_fail(error, RG_INVALID_ARGUMENT, "the table has room for %zu rows", table->rows);
    for (size_t i = 0; i < table->count; i++)
        if (!put_cell(&table->columns[i], table->row % table->block, cells[i]))
            return rg_fail(error, RG_INVALID_ARGUMENT, "row %zu, column %zu: '%.80s' does not fit",
                           table->row, i, cells[i] ? cells[i] : "");
    table->row++;
    if (table->row % table->block != 0)
        return RG_OK;
    rg_quiet quiet = rg_quiet_begin();
    bool good = write_block(table, table->block);
    rg_quiet_end(quiet);
    return good ? RG_OK : fail_writing(table->driver.failed ? table->driver.failed : EIO, error);
}

rg_status rg_table_file_close(rg_table_file *table, rg_error *error) {
    rg_quiet quiet = rg_quiet_begin();
    size_t left = table->row % table->block;
    bool whole = table->row == table->rows;
    bool good = left == 0 || write_block(table, left);
    int failed = release(table);
    rg_quiet_end(quiet);
    if (!good || failed)
        return fail_writing(failed ? failed : EIO, error);
    return whole ? RG_OK : rg_fail(error, RG_INVALID_ARGUMENT, "rows of the table are missing");
}
