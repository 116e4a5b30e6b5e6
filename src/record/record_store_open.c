/* An existing FILE: sealed, and all in it where it should be. See record_store.h.
 * Tested by tests/record/test_recorder.c. */
#include "record/record_layout.h"

#include "base/base_text.h"

#include <errno.h>
#include <string.h>

static const char no_seal_text[] = "is not a whole recording: it is truncated, was changed by "
                                   "another program, or is something else";

static herr_t read_identity(rg_store *store) {
    rg_store_identity *identity = &store->identity;
    static const char *const names[] = {"rigor_version", "scene_name", "method", "builtin",
                                        "builtin_parameters"};
    const char **places[] = {&identity->version, &identity->scene_name, &identity->method,
                             &identity->builtin, &identity->builtin_parameters};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (rg_attribute_get_text(store->file, names[i], &store->allocator, &store->texts[i]) < 0)
            return -1;
        *places[i] = store->texts[i];
    }
    if (H5Aexists(store->file, "partial") > 0 &&
        rg_attribute_get_text(store->file, "partial", &store->allocator, &store->texts[6]) < 0)
        return -1;
    identity->partial = store->texts[6];
    return rg_attribute_get_u64(store->file, "run_id", &identity->run_id) < 0 ||
                   rg_attribute_get_bool(store->file, "planar", &identity->planar) < 0 ||
                   rg_attribute_get_bool(store->file, "finished", &store->finished) < 0 ||
                   rg_attribute_get_double(store->file, "step", &identity->step) < 0 ||
                   rg_attribute_get_double(store->file, "duration", &identity->duration) < 0 ||
                   rg_attribute_get_double(store->file, "record_every", &identity->record_every) < 0
               ? -1
               : 0;
}

/* Every row of a one-dimensional dataset of fixed-size texts: rows of *size + 1 bytes, so that each
 * ends with a zero byte. */
static herr_t read_texts(rg_store *store, const char *name, hsize_t *rows, size_t *size,
                         char **texts) {
    hid_t dataset = H5Dopen2(store->file, name, H5P_DEFAULT);
    if (dataset < 0)
        return -1;
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset), padded = -1;
    herr_t result = -1;
    if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
        H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_ndims(space) == 1 &&
        H5Sget_simple_extent_dims(space, rows, NULL) == 1) {
        *size = H5Tget_size(type);
        padded = rg_text_type(*size + 1);
        *texts = rg_allocate_zeroed(&store->allocator, (size_t)*rows, *size + 1);
        if (!*texts)
            store->driver.failed = ENOMEM;
        if (*texts && padded >= 0)
            result = *rows ? H5Dread(dataset, padded, H5S_ALL, H5S_ALL, H5P_DEFAULT, *texts) : 0;
    }
    rg_close(padded);
    rg_close(space);
    rg_close(type);
    H5Dclose(dataset);
    return result;
}

static herr_t read_texts_of_file(rg_store *store) {
    hsize_t rows = 0;
    size_t size = 0;
    if (read_texts(store, "bodies/name", &rows, &size, &store->names) < 0)
        return -1;
    store->identity.body_count = (size_t)rows;
    store->name_size = size + 1;
    if (read_texts(store, "scene", &rows, &size, &store->texts[5]) < 0 || rows != 1)
        return -1;
    store->identity.scene_text = store->texts[5];
    store->identity.scene_size = strlen(store->texts[5]);
    return 0;
}

/* Opens a growing dataset and checks its shape against the bodies and the other datasets. */
static herr_t open_data(rg_store *store, int which) {
    const struct rg_data_kind *kind = &rg_data_kinds[which];
    hsize_t size[3] = {0, 0, 0};
    hid_t dataset = store->data[which] = H5Dopen2(store->file, kind->path, H5P_DEFAULT);
    hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset);
    int rank = kind->columns ? 3 : 1;
    bool good = space >= 0 && type >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, size, NULL) == rank && H5Tget_size(type) == 8 &&
                H5Tget_class(type) == (kind->is_integer ? H5T_INTEGER : H5T_FLOAT);
    if (good && kind->columns)
        good = size[1] == store->identity.body_count && size[2] == kind->columns;
    if (which == RG_DATA_TIME)
        store->frame_count = (size_t)size[0];
    good = good && size[0] == store->frame_count;
    rg_close(type);
    rg_close(space);
    return good ? 0 : -1;
}

/* The rows end where the last frame's do. */
static bool rows_fit(rg_store *store) {
    rg_frame_head last = {0};
    rg_frame_batch batch = {.count = 1, .heads = &last};
    if (rg_store_read(store, store->frame_count - 1, &batch, RG_PART_ROWS * RG_ROWS_ALL, NULL) !=
        RG_OK)
        return false;
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        if (!rg_store_has_rows(store, i, &last) ||
            last.row_start[i] + last.row_count[i] != store->row_count[i])
            return false;
    return true;
}

/* Formats have the rows that they have; contacts and joints may be left out of any. */
static uint64_t rows_of_format(hid_t file, uint64_t version) {
    uint64_t rows = version == 1   ? 0
                    : version == 2 ? RG_ROWS_OF_FORMAT_2
                    : version == 3 ? RG_ROWS_OF_FORMAT_3
                    : version == 4 ? RG_ROWS_OF_FORMAT_4
                                   : RG_ROWS_ALL;
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        if ((i == RG_ROWS_CONTACTS || i == RG_ROWS_JOINTS) &&
            H5Lexists(file, rg_rows_name(i), H5P_DEFAULT) <= 0)
            rows &= ~(UINT64_C(1) << i);
    return rows;
}

/* Null, or what is wrong with the file. */
static const char *open_contents(rg_store *store) {
    hid_t access = rg_driver_access(&store->driver);
    if (access < 0)
        return "HDF5 failed";
    store->file = H5Fopen(store->driver.disk_file.path,
                          store->writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (store->file < 0)
        return rg_store_damaged_text;
    char *format = NULL;
    uint64_t version = 0;
    int outside = rg_refers_outside(store->file);
    if (outside < 0)
        return rg_store_damaged_text;
    if (outside)
        return "has data in another file; a recording must be one file that holds all of its data";
    bool is_ours = rg_attribute_get_text(store->file, "format", &store->allocator, &format) >= 0 &&
                   strcmp(format, RG_FORMAT_NAME) == 0;
    rg_release(&store->allocator, format);
    if (!is_ours)
        return "is an HDF5 file, but not a recording made by rigor";
    if (rg_attribute_get_u64(store->file, "format_version", &version) < 0 || version < 1 ||
        version > RG_FORMAT_VERSION)
        return "is a recording in a format that this version of rigor does not know";
    if (read_identity(store) < 0 || read_texts_of_file(store) < 0)
        return "is a damaged recording: its description cannot be read";
    store->identity.has_certificate = version > 1;
    store->identity.rows = rows_of_format(store->file, version);
    unsigned parts = rg_store_parts(store);
    for (int i = 0; i < RG_DATA_COUNT; i++)
        if ((rg_data_kinds[i].part & parts) && open_data(store, i) < 0)
            return "is a damaged recording: its frames cannot be read";
    if (rg_tables_open(store) < 0 || rg_rows_open(store) < 0)
        return "is a damaged recording: its tables cannot be read";
    if (store->frame_count == 0)
        return "is a damaged recording: it has no frame";
    if (!rows_fit(store))
        return "is a damaged recording: its contacts or events are not those of its frames";
    store->chunk_frames = rg_store_frames_of_chunk(store->identity.body_count);
    return NULL;
}

/* Opens HDF5 on a store whose driver is ready; frees it on failure. */
static rg_status open_made(rg_store *made, rg_store **store, rg_error *error) {
    rg_quiet quiet = rg_quiet_begin();
    const char *wrong = open_contents(made);
    rg_status status = RG_OK;
    if (wrong) {
        (void)rg_store_close_handles(made);
        status = rg_store_fail_reading(made, error, wrong);
        rg_store_free(made);
    } else {
        *store = made;
    }
    rg_quiet_end(quiet);
    return status;
}

static rg_status read_seal(const rg_disk_file *file, const rg_allocator *allocator, rg_seal *seal,
                           rg_error *error) {
    char text[RG_DISK_MESSAGE_SIZE];
    int failed = rg_seal_read(seal, file, allocator);
    if (failed == EBADMSG)
        return rg_fail(error, RG_FILE_DAMAGED, "%s: %s", file->path, no_seal_text);
    if (failed)
        return rg_fail(error, failed == ENOMEM ? RG_OUT_OF_MEMORY : RG_FILE_UNREADABLE,
                       "%s: cannot be read: %s", file->path, rg_disk_message(failed, text));
    return RG_OK;
}

rg_status rg_store_open(rg_disk_file file, const rg_allocator *allocator, rg_store **store,
                        rg_error *error) {
    *store = NULL;
    rg_store *made = rg_store_make(file, false, allocator);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for a recording", file.path);
    rg_status status = read_seal(&file, allocator, &made->seal, error);
    if (status != RG_OK) {
        rg_store_free(made);
        return status;
    }
    made->driver.seal = &made->seal;
    return open_made(made, store, error);
}

rg_status rg_store_verify(rg_store *store, rg_error *error) {
    rg_seal *seal = &store->seal;
    store->driver.failed = rg_seal_check(seal, &store->driver.disk_file, 0, seal->content);
    return store->driver.failed ? rg_store_fail_reading(store, error, rg_store_damaged_text)
                                : RG_OK;
}

rg_status rg_store_copy(const rg_disk_file *from, rg_disk_file file, const rg_allocator *allocator,
                        rg_store **store, rg_error *error) {
    *store = NULL;
    rg_seal seal;
    rg_status status = read_seal(from, allocator, &seal, error);
    if (status != RG_OK)
        return status;
    char text[RG_DISK_MESSAGE_SIZE];
    int failed = rg_seal_copy(&seal, from, &file);
    rg_seal_free(&seal, allocator);
    if (failed == EBADMSG)
        return rg_fail(error, RG_FILE_DAMAGED, "%s: %s", from->path, rg_store_damaged_text);
    if (failed)
        return rg_fail(error, RG_WRITE_FAILED, "%s: cannot be written: %s", file.path,
                       rg_disk_message(failed, text));
    rg_store *made = rg_store_make(file, true, allocator);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for a recording", file.path);
    return open_made(made, store, error);
}
