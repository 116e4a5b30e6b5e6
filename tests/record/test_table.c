/* Tables in HDF5: refusals, blocks, and the same bytes twice. That h5py reads what was written is
 * shown by tests/scripts/test_run_sweep.py. */
#include "record_support.h"

#include "rigor/table.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rg_table_column columns[] = {
    {"run", RG_COLUMN_WHOLE, 0}, {"mu/x", RG_COLUMN_NUMBER, 0}, {"status", RG_COLUMN_TEXT, 6}};
enum { COLUMNS = 3, ROWS = 5000 }; /* more than a block */

static rg_status create(const char *path, size_t rows, rg_table_file **table, rg_error *error) {
    rg_table_def def = {"runs", columns, COLUMNS, rows, NULL};
    return rg_table_file_create(path, &def, table, error);
}

static void add_rows(rg_table_file *table, size_t rows) {
    rg_error error;
    for (size_t i = 0; i < rows; i++) {
        char run[32], mu[32];
        snprintf(run, sizeof run, "%zu", i);
        snprintf(mu, sizeof mu, "%.17g", 0.1 * (double)i);
        const char *cells[COLUMNS] = {run, i % 7 ? mu : NULL, i % 2 ? "failed" : "done"};
        assert_int_equal(rg_table_file_add_row(table, cells, &error), RG_OK);
    }
}

static size_t read_all(const char *path, char **contents) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    *contents = malloc(size);
    assert_int_equal(fread(*contents, 1, size, file), size);
    fclose(file);
    return size;
}

static void same_bytes_twice(void **state) {
    const char *const paths[2] = {"table_1.h5", "table_2.h5"};
    char *files[2];
    size_t sizes[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        rg_table_file *table;
        rg_error error;
        assert_int_equal(create(paths[i], ROWS, &table, &error), RG_OK);
        add_rows(table, ROWS);
        const char *cells[COLUMNS] = {"0", "0", "0"};
        assert_int_equal(rg_table_file_add_row(table, cells, &error), RG_INVALID_ARGUMENT);
        assert_int_equal(rg_table_file_close(table, &error), RG_OK);
        sizes[i] = read_all(paths[i], &files[i]);
        remove(paths[i]);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(files[0], files[1], sizes[0]);
    free(files[0]), free(files[1]);
}

static herr_t count_errors(hid_t stack, void *user) {
    (void)stack;
    ++*(int *)user;
    return 0;
}

/* A program that wants to hear of HDF5's errors still does afterwards. */
static void errors_of_the_program_are_its_own(void **state) {
    (void)state;
    int heard = 0;
    rg_table_file *table;
    rg_error error;
    assert_true(H5Eset_auto2(H5E_DEFAULT, count_errors, &heard) >= 0);
    assert_int_equal(create("table_3.h5", ROWS, &table, &error), RG_OK);
    add_rows(table, ROWS); /* several blocks */
    assert_true(H5Dopen2(H5I_INVALID_HID, "nothing", H5P_DEFAULT) < 0);
    assert_int_equal(heard, 1);
    assert_int_equal(rg_table_file_close(table, &error), RG_OK);
    remove("table_3.h5");
    assert_true(H5Dopen2(H5I_INVALID_HID, "nothing", H5P_DEFAULT) < 0);
    assert_int_equal(heard, 2);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void what_does_not_fit_is_refused(void **state) {
    const char *const wrong[][COLUMNS] = {{"1.5", "0", "done"},
                                          {"", "0", "done"},
                                          {"1e300", "0", "done"},
                                          {"1", "0.1x", "done"},
                                          {"1", "0", "too long"}};
    rg_table_file *table;
    rg_error error;
    (void)state;
    assert_int_equal(create("table_3.h5", 4, &table, &error), RG_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(rg_table_file_add_row(table, wrong[i], &error), RG_INVALID_ARGUMENT);
    add_rows(table, 3);
    assert_int_equal(rg_table_file_close(table, &error), RG_INVALID_ARGUMENT);
    assert_non_null(strstr(error.text, "missing"));
    remove("table_3.h5");
    assert_int_equal(create("/no/such/folder/t.h5", 4, &table, &error), RG_WRITE_FAILED);
    assert_null(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bytes_twice),
                                       cmocka_unit_test(errors_of_the_program_are_its_own),
                                       cmocka_unit_test(what_does_not_fit_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
