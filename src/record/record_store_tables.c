/* The tables of FILE with a row for every frame: certificate, energy ledger and counts. Compound
 * types, whose fields have names: h5py and others show them as tables without knowing the
 * structures here. See docs/recording.md.
 *
 * How it fails: a field that FILE lacks stays as it is when it is read; a table that is no table,
 * or that has another number of rows than there are frames, makes FILE a damaged one.
 * Tested by tests/record/test_contacts.c. */
#include "record/record_layout.h"

#include <string.h>

static const struct {
    const char *path, *unit, *meaning;
} tables[RG_TABLE_COUNT] = {
    [RG_TABLE_CERTIFICATE] = {"certificate", "m, 1: as the names say",
                              "the worst of the steps since the frame before; NaN: not measured"},
    [RG_TABLE_LEDGER] = {"ledger", "J",
                         "energy at the beginning and the end of the steps since the frame before, "
                         "and the work in between; closure_rel: the worst of the steps"},
    [RG_TABLE_COUNTS] = {"counts", "1",
                         "of the steps since the frame before: sums; contacts_max: the largest"},
};
/* Frames that are moved at a time, by way of the stack. */
enum { PIECE_FRAMES = 128, MOST_FIELDS = 16 };

/* ---- types ---- */

/* A table's fields, one after the other. */
typedef struct table_fields {
    const rg_summary_field *field[MOST_FIELDS];
    size_t count;
} table_fields;

static table_fields fields_of(int table) {
    table_fields fields = {.count = 0};
    for (size_t i = 0; i < rg_summary_field_count && fields.count < MOST_FIELDS; i++)
        if ((int)rg_interval_table_of(&rg_summary_fields[i]) == table)
            fields.field[fields.count++] = &rg_summary_fields[i];
    return fields;
}

static hid_t table_type(const table_fields *fields, bool in_memory) {
    hid_t real = in_memory ? H5T_NATIVE_DOUBLE : H5T_IEEE_F64LE;
    hid_t count = in_memory ? H5T_NATIVE_UINT64 : H5T_STD_U64LE;
    hid_t type = H5Tcreate(H5T_COMPOUND, 8 * fields->count);
    for (size_t i = 0; type >= 0 && i < fields->count; i++)
        if (H5Tinsert(type, fields->field[i]->name, 8 * i,
                      fields->field[i]->is_count ? count : real) < 0) {
            H5Tclose(type);
            return -1;
        }
    return type;
}

/* ---- making and opening ---- */

hid_t rg_table_create(hid_t file, const char *path, hid_t type, hsize_t chunk, const char *unit,
                      const char *meaning) {
    const hsize_t none = 0, unlimited = H5S_UNLIMITED;
    hid_t dataset = rg_dataset_create(file, path, type, H5Screate_simple(1, &none, &unlimited),
                                      rg_chunk_properties(1, &chunk, true));
    if (dataset >= 0 && rg_store_describe(dataset, unit, meaning) < 0) {
        H5Dclose(dataset);
        dataset = -1;
    }
    rg_close(type);
    return dataset;
}

herr_t rg_tables_create(rg_store *store) {
    for (int i = 0; store->identity.has_certificate && i < RG_TABLE_COUNT; i++) {
        table_fields fields = fields_of(i);
        store->tables[i] = rg_table_create(store->file, tables[i].path, table_type(&fields, false),
                                           RG_CHUNK_FRAMES, tables[i].unit, tables[i].meaning);
        if (store->tables[i] < 0)
            return -1;
    }
    return 0;
}

hid_t rg_table_open(hid_t file, const char *path, size_t *rows) {
    hsize_t size = 0;
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset);
    bool good = space >= 0 && type >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, &size, NULL) == 1 &&
                H5Tget_class(type) == H5T_COMPOUND;
    rg_close(type);
    rg_close(space);
    if (dataset >= 0 && !good) {
        H5Dclose(dataset);
        return -1;
    }
    *rows = (size_t)size;
    return dataset;
}

herr_t rg_tables_open(rg_store *store) {
    size_t rows;
    for (int i = 0; store->identity.has_certificate && i < RG_TABLE_COUNT; i++) {
        store->tables[i] = rg_table_open(store->file, tables[i].path, &rows);
        if (store->tables[i] < 0 || rows != store->frame_count)
            return -1;
    }
    return 0;
}

herr_t rg_tables_extend(rg_store *store, size_t frames) {
    const hsize_t rows = frames;
    for (int i = 0; i < RG_TABLE_COUNT; i++)
        if (store->tables[i] >= 0 && H5Dset_extent(store->tables[i], &rows) < 0)
            return -1;
    return 0;
}

/* ---- rows ---- */

herr_t rg_table_transfer(hid_t dataset, hid_t type, size_t first, size_t count, void *memory,
                         bool writing) {
    const hsize_t start = first, size = count;
    hid_t there = H5Dget_space(dataset), here = H5Screate_simple(1, &size, NULL);
    herr_t result = -1;
    if (there >= 0 && here >= 0 &&
        H5Sselect_hyperslab(there, H5S_SELECT_SET, &start, NULL, &size, NULL) >= 0)
        result = writing ? H5Dwrite(dataset, type, here, there, H5P_DEFAULT, memory)
                         : H5Dread(dataset, type, here, there, H5P_DEFAULT, memory);
    rg_close(here);
    rg_close(there);
    return result;
}

/* Between the heads and rows of words, one word for each field. */
static void gather(const table_fields *fields, rg_frame_head *heads, size_t count, char *rows,
                   bool writing) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < fields->count; k++) {
            char *number = (char *)&heads[i].interval + fields->field[k]->offset;
            char *word = rows + 8 * (i * fields->count + k);
            memcpy(writing ? word : number, writing ? number : word, 8);
        }
}

static herr_t transfer_table(const rg_store *store, int table, size_t first,
                             const rg_frame_batch *batch, bool writing) {
    char rows[8 * MOST_FIELDS * PIECE_FRAMES];
    table_fields fields = fields_of(table);
    hid_t type = table_type(&fields, true);
    herr_t result = type < 0 ? -1 : 0;
    for (size_t done = 0; done < batch->count && result >= 0;) {
        size_t part = batch->count - done < PIECE_FRAMES ? batch->count - done : PIECE_FRAMES;
        /* Also before reading: fields that FILE lacks stay what they are. */
        gather(&fields, batch->heads + done, part, rows, true);
        result = rg_table_transfer(store->tables[table], type, first + done, part, rows, writing);
        if (!writing && result >= 0)
            gather(&fields, batch->heads + done, part, rows, false);
        done += part;
    }
    rg_close(type);
    return result;
}

herr_t rg_tables_transfer(const rg_store *store, size_t first, const rg_frame_batch *batch,
                          bool writing) {
    for (int i = 0; i < RG_TABLE_COUNT; i++)
        if (store->tables[i] >= 0 && transfer_table(store, i, first, batch, writing) < 0)
            return -1;
    return 0;
}
