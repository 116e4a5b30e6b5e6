/* FILE of a recording in HDF5: its frames and its checkpoint. See record_store.h.
 * Tested by tests/record/test_recorder.c. */
#include "record/record_layout.h"

#include "base/base_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ROWS_DATA(group, name, rows, member, meaning)                                              \
    {                                                                                              \
        group "/" name, 0, true, RG_PART_ROWS << (rows),                                           \
            offsetof(rg_frame_head, member) + 8 * (rows), "1", meaning " in " group "/table"       \
    }
#define ROWS_START(group, rows)                                                                    \
    ROWS_DATA(group, "start", rows, row_start, "first row of each frame")
#define ROWS_COUNT(group, rows) ROWS_DATA(group, "count", rows, row_count, "rows of each frame")

const rg_data_kind rg_data_kinds[RG_DATA_COUNT] = {
    {"time", 0, false, RG_PART_STATE, offsetof(rg_frame_head, time), "s",
     "simulated time of each frame"},
    {"step", 0, true, RG_PART_STATE, offsetof(rg_frame_head, step), "1",
     "steps made up to each frame"},
    {"state_hash", 0, true, RG_PART_STATE, offsetof(rg_frame_head, state_hash), "1",
     "equal if every bit of two states is"},
    {"energy", 0, false, RG_PART_STATE, offsetof(rg_frame_head, energy), "J",
     "kinetic energy plus gravity's potential of the dynamic bodies"},
    ROWS_START("contacts", RG_ROWS_CONTACTS),
    ROWS_START("events", RG_ROWS_EVENTS),
    ROWS_START("impulses", RG_ROWS_IMPULSES),
    ROWS_START("joints", RG_ROWS_JOINTS),
    ROWS_START("loads", RG_ROWS_LOADS),
    ROWS_COUNT("contacts", RG_ROWS_CONTACTS),
    ROWS_COUNT("events", RG_ROWS_EVENTS),
    ROWS_COUNT("impulses", RG_ROWS_IMPULSES),
    ROWS_COUNT("joints", RG_ROWS_JOINTS),
    ROWS_COUNT("loads", RG_ROWS_LOADS),
    {"poses/position", 3, false, RG_PART_STATE, 0, "m", "origin frame of each body: x y z"},
    {"poses/orientation", 4, false, RG_PART_STATE, 0, "1",
     "origin frame of each body: unit quaternion x y z w"},
    {"velocities/linear", 3, false, RG_PART_STATE, 0, "m/s",
     "of the centre of mass, world axes: x y z"},
    {"velocities/angular", 3, false, RG_PART_STATE, 0, "rad/s", "world axes: x y z"},
};

const char rg_store_damaged_text[] = "is damaged: its bytes are not those that were written";

/* ---- life and questions ---- */

rg_store *rg_store_make(rg_disk_file file, bool writable, const rg_allocator *allocator) {
    rg_store *store = rg_object_make(rg_store, allocator);
    if (!store)
        return NULL;
    store->driver.disk_file = file;
    store->writable = writable;
    store->file = -1;
    store->driver.driver = -1;
    for (int i = 0; i < RG_DATA_COUNT; i++)
        store->data[i] = -1;
    for (int i = 0; i < RG_TABLE_COUNT; i++)
        store->tables[i] = -1;
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        store->rows[i] = -1;
    return store;
}

bool rg_store_close_handles(rg_store *store) {
    bool good = rg_close_all(store->tables, RG_TABLE_COUNT);
    good = rg_close_all(store->rows, RG_ROWS_COUNT) && good;
    good = rg_close_all(store->data, RG_DATA_COUNT) && good;
    good = rg_close(store->file) && good;
    rg_driver_release(&store->driver);
    return good;
}

void rg_store_free(rg_store *store) {
    rg_release_list(&store->allocator, (void **)store->texts,
                    sizeof store->texts / sizeof store->texts[0]);
    rg_release(&store->allocator, store->names);
    rg_seal_free(&store->seal, &store->allocator);
    rg_object_release(store);
}

rg_status rg_store_close(rg_store *store, rg_error *error) {
    rg_quiet quiet = rg_quiet_begin();
    bool good = rg_store_close_handles(store);
    rg_quiet_end(quiet);
    rg_status status = RG_OK;
    if (store->writable) {
        if (good && !store->driver.failed)
            store->driver.failed = rg_seal_write(&store->driver.disk_file, &store->allocator);
        if (!good || store->driver.failed)
            status = rg_store_fail_writing(store, error);
    }
    rg_store_free(store);
    return status;
}

size_t rg_store_frames_of_chunk(size_t body_count) {
    hsize_t bodies = body_count < 1                 ? 1
                     : body_count < RG_CHUNK_BODIES ? body_count
                                                    : RG_CHUNK_BODIES;
    hsize_t frames = RG_CHUNK_NUMBERS / (3 * bodies);
    return (size_t)(frames < 1 ? 1 : frames < RG_CHUNK_FRAMES ? frames : RG_CHUNK_FRAMES);
}

const rg_store_identity *rg_store_get_identity(const rg_store *store) {
    return &store->identity;
}
size_t rg_store_frame_count(const rg_store *store) {
    return store->frame_count;
}
bool rg_store_is_finished(const rg_store *store) {
    return store->finished;
}

unsigned rg_store_parts(const rg_store *store) {
    return RG_PART_STATE | (store->identity.has_certificate ? RG_PART_CERTIFICATE : 0u) |
           RG_PART_ROWS * (unsigned)store->identity.rows;
}

bool rg_store_owns_journal(const rg_store *store, const rg_journal *journal) {
    const rg_store_identity *identity = &store->identity;
    const rg_journal_header *header = &journal->header;
    return journal->valid && header->run_id == identity->run_id &&
           header->body_count == identity->body_count &&
           (header->figure_count > 0) == identity->has_certificate &&
           header->rows == identity->rows;
}

const char *rg_store_body_name(const rg_store *store, size_t body) {
    return store->names + body * store->name_size;
}

size_t rg_store_chunk_frames(const rg_store *store) {
    return store->chunk_frames;
}

size_t rg_store_batch_size(const rg_store *store) {
    return store->chunk_frames - store->frame_count % store->chunk_frames;
}

rg_status rg_store_fail_writing(const rg_store *store, rg_error *error) {
    char text[RG_DISK_MESSAGE_SIZE];
    const char *path = store->driver.disk_file.path;
    if (store->driver.failed)
        return rg_fail(error, RG_WRITE_FAILED, "%s: cannot be written: %s", path,
                       rg_disk_message(store->driver.failed, text));
    return rg_fail(error, RG_WRITE_FAILED, "%s: cannot be written: HDF5 failed", path);
}

rg_status rg_store_fail_reading(const rg_store *store, rg_error *error, const char *what) {
    char text[RG_DISK_MESSAGE_SIZE];
    const char *path = store->driver.disk_file.path;
    if (store->driver.failed == EBADMSG)
        return rg_fail(error, RG_FILE_DAMAGED, "%s: %s", path, rg_store_damaged_text);
    if (store->driver.failed)
        return rg_fail(error,
                       store->driver.failed == ENOMEM ? RG_OUT_OF_MEMORY : RG_FILE_UNREADABLE,
                       "%s: cannot be read: %s", path, rg_disk_message(store->driver.failed, text));
    return rg_fail(error, RG_FILE_DAMAGED, "%s: %s", path, what);
}

/* ---- frames ---- */

/* Moves `count` frames from `first` between memory and one dataset. */
static herr_t transfer(const rg_store *store, int which, size_t first, size_t count, void *memory,
                       bool writing) {
    const struct rg_data_kind *kind = &rg_data_kinds[which];
    int rank = kind->columns ? 3 : 1;
    hsize_t start[3] = {first, 0, 0};
    hsize_t size[3] = {count, store->identity.body_count, kind->columns};
    if (kind->columns && size[1] == 0)
        return 0;
    hid_t type = kind->is_integer ? H5T_NATIVE_UINT64 : H5T_NATIVE_DOUBLE;
    hid_t there = H5Dget_space(store->data[which]), here = H5Screate_simple(rank, size, NULL);
    herr_t result = -1;
    if (there >= 0 && here >= 0 &&
        H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, size, NULL) >= 0)
        result = writing ? H5Dwrite(store->data[which], type, here, there, H5P_DEFAULT, memory)
                         : H5Dread(store->data[which], type, here, there, H5P_DEFAULT, memory);
    rg_close(here);
    rg_close(there);
    return result;
}

/* The same for one number of each frame's head, gathered in pieces. */
static herr_t transfer_heads(const rg_store *store, int which, size_t first,
                             const rg_frame_batch *batch, bool writing) {
    char numbers[RG_CHUNK_FRAMES][8];
    for (size_t done = 0; done < batch->count;) {
        size_t part = batch->count - done < RG_CHUNK_FRAMES ? batch->count - done : RG_CHUNK_FRAMES;
        char *heads = (char *)(batch->heads + done) + rg_data_kinds[which].head_offset;
        for (size_t i = 0; writing && i < part; i++)
            memcpy(numbers[i], heads + i * sizeof(rg_frame_head), 8);
        if (transfer(store, which, first + done, part, numbers, writing) < 0)
            return -1;
        for (size_t i = 0; !writing && i < part; i++)
            memcpy(heads + i * sizeof(rg_frame_head), numbers[i], 8);
        done += part;
    }
    return 0;
}

static herr_t transfer_batch(const rg_store *store, size_t first, const rg_frame_batch *batch,
                             unsigned parts, bool writing) {
    double *const bodies[] = {batch->position, batch->orientation, batch->velocity,
                              batch->angular_velocity};
    for (int i = 0; i < RG_DATA_POSITION; i++)
        if (batch->heads && (rg_data_kinds[i].part & parts) &&
            transfer_heads(store, i, first, batch, writing) < 0)
            return -1;
    if (batch->heads && (parts & RG_PART_CERTIFICATE) &&
        rg_tables_transfer(store, first, batch, writing) < 0)
        return -1;
    for (int i = RG_DATA_POSITION; i < RG_DATA_COUNT; i++)
        if (bodies[i - RG_DATA_POSITION] &&
            transfer(store, i, first, batch->count, bodies[i - RG_DATA_POSITION], writing) < 0)
            return -1;
    return 0;
}

/* Rows of all frames of the batch; the heads learn that they are after those of the store. */
static size_t place_rows(const rg_store *store, int rows, const rg_frame_batch *batch) {
    size_t end = store->row_count[rows];
    for (size_t i = 0; i < batch->count; i++) {
        batch->heads[i].row_start[rows] = end;
        end += (size_t)batch->heads[i].row_count[rows];
    }
    return end - store->row_count[rows];
}

static herr_t append_batch(rg_store *store, const rg_frame_batch *batch, const size_t *rows) {
    size_t frames = store->frame_count + batch->count;
    for (int i = 0; i < RG_DATA_COUNT; i++) {
        hsize_t size[3] = {frames, store->identity.body_count, rg_data_kinds[i].columns};
        if (store->data[i] >= 0 && H5Dset_extent(store->data[i], size) < 0)
            return -1;
    }
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        if (rg_rows_write(store, i, batch->rows[i], rows[i]) < 0)
            return -1;
    if (rg_tables_extend(store, frames) < 0)
        return -1;
    return transfer_batch(store, store->frame_count, batch, rg_store_parts(store), true);
}

rg_status rg_store_append(rg_store *store, const rg_frame_batch *batch, rg_error *error) {
    rg_quiet quiet = rg_quiet_begin();
    size_t rows[RG_ROWS_COUNT];
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        rows[i] = place_rows(store, i, batch);
    herr_t result = append_batch(store, batch, rows);
    rg_quiet_end(quiet);
    if (result < 0 || store->driver.failed)
        return rg_store_fail_writing(store, error);
    store->frame_count += batch->count;
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        store->row_count[i] += rows[i];
    return RG_OK;
}

rg_status rg_store_read(rg_store *store, size_t first, rg_frame_batch *batch, unsigned parts,
                        rg_error *error) {
    rg_quiet quiet = rg_quiet_begin();
    herr_t result = transfer_batch(store, first, batch, parts & rg_store_parts(store), false);
    rg_quiet_end(quiet);
    if (result < 0)
        return rg_store_fail_reading(store, error,
                                     "is a damaged recording: a frame cannot be read");
    for (size_t i = 0; batch->heads && i < batch->count; i++)
        batch->heads[i].index = first + i;
    return RG_OK;
}

bool rg_store_has_rows(const rg_store *store, int rows, const rg_frame_head *head) {
    return head->row_start[rows] <= store->row_count[rows] &&
           head->row_count[rows] <= store->row_count[rows] - head->row_start[rows];
}

rg_status rg_store_read_rows(rg_store *store, int rows, const rg_frame_head *head, void *data,
                             rg_error *error) {
    char text[80];
    rg_quiet quiet = rg_quiet_begin();
    herr_t result = rg_rows_read(store, rows, (size_t)head->row_start[rows], data,
                                 (size_t)head->row_count[rows]);
    rg_quiet_end(quiet);
    snprintf(text, sizeof text, "is a damaged recording: %s cannot be read", rg_rows_name(rows));
    return result < 0 ? rg_store_fail_reading(store, error, text) : RG_OK;
}

/* ---- the checkpoint ---- */

/* The steps since the last frame: as bytes, only for resuming. */
static herr_t put_interval(const rg_store *store, hid_t group, const rg_step_info *interval) {
    if (!store->identity.has_certificate)
        return 0;
    rg_buffer words = rg_buffer_make(&store->allocator);
    for (size_t i = 0; i < rg_summary_field_count; i++)
        rg_buffer_append(&words, (const char *)interval + rg_summary_fields[i].offset, 8);
    herr_t result = words.failed ? -1 : rg_bytes_put(group, "interval", &words);
    rg_buffer_free(&words);
    return result;
}

static herr_t get_interval(const rg_store *store, hid_t group, rg_step_info *interval) {
    *interval = rg_step_info_nothing();
    if (!store->identity.has_certificate)
        return 0;
    rg_buffer words = rg_buffer_make(&store->allocator);
    herr_t result = rg_bytes_get(group, "interval", &words);
    if (result >= 0)
        rg_interval_decode(interval, words.data, words.size / 8);
    rg_buffer_free(&words);
    return result;
}

/* Events and impulses since the last frame: as bytes, too. */
static herr_t put_pending(const rg_store *store, hid_t group, const rg_checkpoint *checkpoint) {
    herr_t result = 0;
    for (int i = RG_ROWS_EVENTS; i < RG_ROWS_PENDING && result >= 0; i++)
        if (rg_rows_has(store->identity.rows, i))
            result = rg_bytes_put(group, rg_rows_name(i), &checkpoint->pending[i]);
    return result;
}

static herr_t get_pending(const rg_store *store, hid_t group, rg_checkpoint *checkpoint) {
    herr_t result = 0;
    for (int i = RG_ROWS_EVENTS; i < RG_ROWS_PENDING && result >= 0; i++)
        if (rg_rows_has(store->identity.rows, i))
            result = rg_bytes_get(group, rg_rows_name(i), &checkpoint->pending[i]);
    return result >= 0 && rg_checkpoint_pending_fits(checkpoint) ? 0 : -1;
}

static herr_t put_checkpoint(rg_store *store, const rg_checkpoint *checkpoint, bool finished) {
    hid_t group = H5Gopen2(store->file, "checkpoint", H5P_DEFAULT);
    hid_t summary = H5Gopen2(store->file, "summary", H5P_DEFAULT);
    herr_t result = -1;
    if (group >= 0 && summary >= 0 && rg_bytes_put(group, "state", &checkpoint->state) >= 0 &&
        rg_bytes_put(group, "observations", &checkpoint->observations) >= 0 &&
        put_interval(store, group, &checkpoint->interval) >= 0 &&
        put_pending(store, group, checkpoint) >= 0 &&
        rg_attribute_put_u64(group, "frames", checkpoint->frames) >= 0 &&
        rg_attribute_put_u64(group, "step", checkpoint->step) >= 0 &&
        rg_attribute_put_double(group, "time_s", checkpoint->time) >= 0 &&
        rg_attribute_put_u64(group, "state_hash", checkpoint->state_hash) >= 0 &&
        rg_attribute_put_double(store->file, "duration", checkpoint->duration) >= 0 &&
        rg_attribute_put_bool(store->file, "finished", finished) >= 0)
        result = 0;
    for (size_t i = 0; result >= 0 && i < rg_summary_field_count; i++) {
        const rg_summary_field *field = &rg_summary_fields[i];
        const void *value = (const char *)&checkpoint->summary + field->offset;
        result = field->is_count
                     ? rg_attribute_put_u64(summary, field->name, *(const uint64_t *)value)
                     : rg_attribute_put_double(summary, field->name, *(const double *)value);
    }
    rg_close(summary);
    rg_close(group);
    return result;
}

rg_status rg_store_set_checkpoint(rg_store *store, const rg_checkpoint *checkpoint, bool finished,
                                  rg_error *error) {
    rg_quiet quiet = rg_quiet_begin();
    herr_t result = put_checkpoint(store, checkpoint, finished);
    rg_quiet_end(quiet);
    if (result < 0 || store->driver.failed)
        return rg_store_fail_writing(store, error);
    store->finished = finished;
    return RG_OK;
}

static herr_t get_checkpoint(rg_store *store, rg_checkpoint *checkpoint) {
    hid_t group = H5Gopen2(store->file, "checkpoint", H5P_DEFAULT);
    hid_t summary = H5Gopen2(store->file, "summary", H5P_DEFAULT);
    herr_t result = -1;
    if (group >= 0 && summary >= 0 && rg_bytes_get(group, "state", &checkpoint->state) >= 0 &&
        rg_bytes_get(group, "observations", &checkpoint->observations) >= 0 &&
        get_interval(store, group, &checkpoint->interval) >= 0 &&
        get_pending(store, group, checkpoint) >= 0 &&
        rg_attribute_get_u64(group, "frames", &checkpoint->frames) >= 0 &&
        rg_attribute_get_u64(group, "step", &checkpoint->step) >= 0 &&
        rg_attribute_get_double(group, "time_s", &checkpoint->time) >= 0 &&
        rg_attribute_get_u64(group, "state_hash", &checkpoint->state_hash) >= 0)
        result = 0;
    checkpoint->duration = store->identity.duration;
    checkpoint->summary = (rg_step_info){0};
    for (size_t i = 0; result >= 0 && i < rg_summary_field_count; i++) {
        const rg_summary_field *field = &rg_summary_fields[i];
        void *value = (char *)&checkpoint->summary + field->offset;
        /* Those that an earlier version did not have stay 0. */
        htri_t there = H5Aexists(summary, field->name);
        if (there <= 0 && i >= RG_SUMMARY_FIELDS_OF_FORMAT_1) {
            result = there;
            continue;
        }
        result = field->is_count ? rg_attribute_get_u64(summary, field->name, value)
                                 : rg_attribute_get_double(summary, field->name, value);
    }
    rg_close(summary);
    rg_close(group);
    return result;
}

rg_status rg_store_get_checkpoint(rg_store *store, rg_checkpoint *checkpoint, rg_error *error) {
    rg_quiet quiet = rg_quiet_begin();
    herr_t result = get_checkpoint(store, checkpoint);
    rg_quiet_end(quiet);
    if (result < 0 || checkpoint->frames != store->frame_count)
        return rg_store_fail_reading(store, error,
                                     "is a damaged recording: its checkpoint cannot be read");
    return RG_OK;
}
