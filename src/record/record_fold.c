/* FILE and fresh journals, each written beside its place and renamed into it: see
 * record_recorder.h. */
#include "record/record_recorder.h"

#include "base/base_text.h"
#include "record/record_interval.h"
#include "rigor/version.h"
#include "scene/scene_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- from the temporary file to FILE ---- */

/* Syncs FILE.new, puts it in FILE's place and closes it. On failure it is removed. */
static rg_status put_in_place(rg_recorder *recorder, rg_disk_file *file, rg_error *error) {
    uint64_t size = 0;
    int failed = rg_disk_sync(file);
    if (!failed)
        failed = rg_disk_size(file, &size);
    rg_disk_close(file);
    if (!failed)
        failed = rg_disk_rename(&recorder->disk, recorder->paths.new_file, recorder->paths.file);
    if (failed)
        return rg_recorder_fail(recorder, error, recorder->paths.file, failed);
    recorder->file_size = size;
    return RG_OK;
}

static rg_status abandon(rg_recorder *recorder, rg_disk_file *file, rg_status status) {
    recorder->broken = true;
    rg_disk_close(file);
    (void)rg_disk_remove(&recorder->disk, recorder->paths.new_file);
    return status;
}

static rg_status complete(rg_recorder *recorder, rg_store *store, rg_disk_file *file, bool finished,
                          rg_status status, rg_error *error) {
    if (status == RG_OK)
        status = rg_store_set_checkpoint(store, &recorder->checkpoint, finished, error);
    uint64_t frames = store ? rg_store_frame_count(store) : 0;
    if (store) {
        rg_status closed = rg_store_close(store, status == RG_OK ? error : NULL);
        status = status == RG_OK ? closed : status;
    }
    if (status == RG_OK)
        status = put_in_place(recorder, file, error);
    if (status != RG_OK)
        return abandon(recorder, file, status);
    recorder->file_frames = frames;
    recorder->file_step = recorder->checkpoint.step;
    recorder->file_finished = finished;
    return RG_OK;
}

/* ---- FILE for the first time ---- */

static rg_status append_first_frame(rg_recorder *recorder, rg_store *store, rg_error *error) {
    size_t count = RG_FRAME_DOUBLES * recorder->body_count;
    double *numbers = rg_allocate(&recorder->allocator, count, sizeof *numbers);
    rg_recorded_contact *contacts =
        rg_allocate(&recorder->allocator, rg_recorder_count_contacts(recorder), sizeof *contacts);
    rg_status status = RG_OUT_OF_MEMORY;
    rg_buffer *rows = recorder->checkpoint.pending;
    rg_rows_append_state(recorder->rows, rg_scene_world(recorder->scene), rows);
    if (numbers && contacts && !rows[RG_ROWS_JOINTS].failed && !rows[RG_ROWS_LOADS].failed) {
        rg_frame_head head = rg_recorder_fill_frame(recorder, numbers);
        head.row_count[RG_ROWS_CONTACTS] = rg_recorder_fill_contacts(recorder, contacts);
        rg_frame_batch batch = rg_frame_batch_in(numbers, &head, 1, recorder->body_count);
        batch.rows[RG_ROWS_CONTACTS] = contacts;
        for (int i = RG_ROWS_JOINTS; i < RG_ROWS_COUNT; i++) {
            head.row_count[i] = rows[i].size / rg_rows_size(i);
            batch.rows[i] = rows[i].data;
        }
        status = rg_store_append(store, &batch, error);
    } else {
        rg_fail(error, status, "%s: no memory for a frame", recorder->paths.file);
    }
    rows[RG_ROWS_JOINTS].size = rows[RG_ROWS_LOADS].size = 0;
    rg_release(&recorder->allocator, contacts);
    rg_release(&recorder->allocator, numbers);
    return status;
}

/* "name=value" lines of a built-in scene. */
static void list_parameters(const rg_scene *scene, rg_buffer *lines) {
    rg_scene_origin origin = rg_scene_get_origin(scene);
    for (size_t i = 0; i < origin.parameter_count; i++)
        rg_buffer_print(lines, "%s=%s\n", origin.parameters[i].name, origin.parameters[i].value);
    rg_buffer_append(lines, "", 1);
}

static rg_status take_first_checkpoint(rg_recorder *recorder, rg_error *error) {
    rg_status status = rg_checkpoint_take(&recorder->checkpoint, recorder->scene, 1, NULL);
    if (status != RG_OK)
        rg_fail(error, status, "%s: no checkpoint can be made: %s", recorder->paths.file,
                rg_status_text(status));
    return status;
}

static rg_status create_file(rg_recorder *recorder, const rg_store_identity *identity,
                             rg_error *error) {
    const rg_world *world = rg_scene_world(recorder->scene);
    rg_status status = RG_OK;
    rg_disk_file file;
    rg_store *store = NULL;
    int failed = rg_disk_open(&recorder->disk, recorder->paths.new_file, RG_DISK_NEW, &file);
    if (failed)
        status = rg_recorder_fail(recorder, error, recorder->paths.file, failed);
    if (status == RG_OK)
        status = rg_store_create(file, identity, world, &recorder->allocator, &store, error);
    if (status == RG_OK)
        status = append_first_frame(recorder, store, error);
    if (status == RG_OK)
        status = take_first_checkpoint(recorder, error);
    return complete(recorder, store, &file, false, status, error);
}

rg_status rg_fold_create(rg_recorder *recorder, rg_error *error) {
    const rg_world *world = rg_scene_world(recorder->scene);
    const char *builtin = rg_scene_get_origin(recorder->scene).builtin;
    char *text = NULL;
    rg_buffer lines = rg_buffer_make(&recorder->allocator);
    list_parameters(recorder->scene, &lines);
    rg_store_identity identity = {.scene_name = rg_scene_name(recorder->scene),
                                  .method = rg_method_name(rg_world_method(world)),
                                  .version = rg_version_text(),
                                  .builtin = builtin ? builtin : "",
                                  .builtin_parameters = lines.data,
                                  .planar = rg_world_is_planar(world),
                                  .step = rg_scene_step_size(recorder->scene),
                                  .duration = recorder->checkpoint.duration,
                                  .record_every = rg_scene_record_every(recorder->scene),
                                  .run_id = recorder->run_id,
                                  .body_count = recorder->body_count,
                                  .has_certificate = recorder->has_certificate,
                                  .rows = recorder->rows};
    rg_error reason = {0};
    rg_status status = rg_scene_write_text(recorder->scene, &recorder->allocator, &text,
                                           &identity.scene_size, &reason);
    if (status == RG_UNSUPPORTED) {
        /* A program's own functions: recorded as what they do, and not to be resumed. */
        identity.partial = reason.text;
        status = rg_scene_write_shown(recorder->scene, &recorder->allocator, &text,
                                      &identity.scene_size, error);
    } else if (status != RG_OK && error) {
        *error = reason;
    }
    if (status == RG_OK && lines.failed)
        status = rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory", recorder->paths.file);
    if (status == RG_OK) {
        identity.scene_text = text;
        status = create_file(recorder, &identity, error);
    }
    rg_release(&recorder->allocator, text);
    rg_buffer_free(&lines);
    if (status == RG_OK)
        recorder->frame_count = 1;
    return status;
}

/* ---- the journal into FILE ---- */

/* What a batch of frames is gathered in. */
typedef struct fold_memory {
    rg_frame_batch batch;
    rg_buffer block;               /* of the journal */
    rg_buffer rows[RG_ROWS_COUNT]; /* of all frames of the batch */
} fold_memory;

/* Puts frame `slot` of a batch from a block's payload. */
static void unpack_frame(const rg_journal *journal, const char *payload, fold_memory *memory,
                         size_t slot, size_t bodies) {
    rg_frame_batch *batch = &memory->batch;
    rg_journal_frame frame = rg_journal_unpack_frame(&journal->header, payload);
    batch->heads[slot] = frame.head;
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        rg_buffer_append(&memory->rows[i], frame.rows[i],
                         (size_t)frame.head.row_count[i] * rg_rows_size(i));
    const char *numbers = frame.numbers;
    memcpy(batch->position + slot * 3 * bodies, numbers, 24 * bodies);
    memcpy(batch->orientation + slot * 4 * bodies, numbers + 24 * bodies, 32 * bodies);
    memcpy(batch->velocity + slot * 3 * bodies, numbers + 56 * bodies, 24 * bodies);
    memcpy(batch->angular_velocity + slot * 3 * bodies, numbers + 80 * bodies, 24 * bodies);
}

static rg_status append_batches(rg_recorder *recorder, const rg_journal *journal, rg_store *store,
                                fold_memory *memory, rg_error *error) {
    rg_frame_batch *batch = &memory->batch;
    size_t next = rg_store_frame_count(store) - (size_t)journal->header.first_frame;
    while (next < journal->frame_count) {
        size_t room = rg_store_batch_size(store), left = journal->frame_count - next;
        batch->count = room < left ? room : left;
        for (int k = 0; k < RG_ROWS_COUNT; k++)
            memory->rows[k].size = 0;
        for (size_t i = 0; i < batch->count; i++) {
            const char *payload;
            rg_status status =
                rg_journal_read_block(journal, journal->frames[next + i], &memory->block, &payload);
            if (status != RG_OK)
                return rg_fail(error, status, "%s: %s", recorder->paths.journal,
                               rg_status_text(status));
            unpack_frame(journal, payload, memory, i, recorder->body_count);
        }
        for (int k = 0; k < RG_ROWS_COUNT; k++) {
            if (memory->rows[k].failed)
                return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for %s",
                               recorder->paths.file, rg_rows_name(k));
            batch->rows[k] = memory->rows[k].data;
        }
        rg_status status = rg_store_append(store, batch, error);
        if (status != RG_OK)
            return status;
        next += batch->count;
    }
    return RG_OK;
}

static rg_status append_journal(rg_recorder *recorder, const rg_journal *journal, rg_store *store,
                                rg_error *error) {
    const rg_allocator *allocator = &recorder->allocator;
    /* Only this recorder writes it, so that it holds what was written, unless another program
     * changed it. */
    if (!journal->valid || journal->end != recorder->journal.end ||
        journal->header.first_frame + journal->frame_count != recorder->frame_count ||
        journal->header.first_frame > rg_store_frame_count(store))
        return rg_fail(error, RG_FILE_DAMAGED, "%s: was changed while the run went on",
                       recorder->paths.journal);
    size_t chunk = rg_store_chunk_frames(store);
    size_t largest = chunk < journal->frame_count ? chunk : journal->frame_count;
    double *numbers = rg_allocate(allocator, largest, 8 * RG_FRAME_DOUBLES * recorder->body_count);
    rg_frame_head *heads = rg_allocate(allocator, largest, sizeof *heads);
    fold_memory memory = {.block = rg_buffer_make(allocator)};
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        memory.rows[i] = rg_buffer_make(allocator);
    rg_status status = RG_OUT_OF_MEMORY;
    if (numbers && heads) {
        memory.batch = rg_frame_batch_in(numbers, heads, largest, recorder->body_count);
        status = append_batches(recorder, journal, store, &memory, error);
    } else {
        rg_fail(error, status, "%s: no memory for frames", recorder->paths.file);
    }
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        rg_buffer_free(&memory.rows[i]);
    rg_buffer_free(&memory.block);
    rg_release(allocator, heads);
    rg_release(allocator, numbers);
    return status;
}

/* FILE.new as a copy of FILE, open to append to. */
static rg_status copy_file(rg_recorder *recorder, rg_disk_file *file, rg_store **store,
                           rg_error *error) {
    rg_disk_file old;
    *file = (rg_disk_file){&recorder->disk, recorder->paths.new_file, -1};
    int failed = rg_disk_open(&recorder->disk, recorder->paths.file, RG_DISK_READ, &old);
    if (!failed)
        failed = rg_disk_open(&recorder->disk, recorder->paths.new_file, RG_DISK_NEW, file);
    rg_status status = failed ? rg_recorder_fail(recorder, error, recorder->paths.file, failed)
                              : rg_store_copy(&old, *file, &recorder->allocator, store, error);
    rg_disk_close(&old);
    return status;
}

rg_status rg_fold_file(rg_recorder *recorder, bool finished, rg_error *error) {
    rg_disk_file file, journal_file;
    rg_journal journal = {.file = {NULL, NULL, -1}};
    rg_store *store = NULL;
    rg_status status = copy_file(recorder, &file, &store, error);
    if (status == RG_OK) {
        int failed =
            rg_disk_open(&recorder->disk, recorder->paths.journal, RG_DISK_READ, &journal_file);
        status = failed ? rg_recorder_fail(recorder, error, recorder->paths.journal, failed)
                        : rg_journal_scan(&journal, journal_file, &recorder->allocator);
    }
    if (status == RG_OK)
        status = append_journal(recorder, &journal, store, error);
    rg_journal_free(&journal, &recorder->allocator);
    return complete(recorder, store, &file, finished, status, error);
}

rg_status rg_fold_start_journal(rg_recorder *recorder, rg_error *error) {
    rg_journal_writer fresh = {.file = {NULL, NULL, -1}, .block = recorder->journal.block};
    rg_journal_header header = {.run_id = recorder->run_id,
                                .first_frame = recorder->file_frames,
                                .body_count = recorder->body_count,
                                .figure_count =
                                    recorder->has_certificate ? rg_summary_field_count : 0,
                                .rows = recorder->rows};
    const char *path = recorder->paths.new_journal;
    int failed = rg_disk_open(&recorder->disk, path, RG_DISK_NEW, &fresh.file);
    if (!failed)
        failed = rg_journal_write_header(&fresh, &header);
    if (!failed)
        failed = rg_disk_sync(&fresh.file);
    if (!failed)
        failed = rg_disk_lock(&fresh.file);
    if (!failed)
        failed = rg_disk_rename(&recorder->disk, path, recorder->paths.journal);
    if (failed) {
        rg_disk_close(&fresh.file);
        (void)rg_disk_remove(&recorder->disk, path);
        recorder->journal.block = fresh.block;
        return rg_recorder_fail(recorder, error, recorder->paths.journal, failed);
    }
    rg_disk_close(&recorder->journal.file);
    fresh.file.path = recorder->paths.journal;
    recorder->journal = fresh;
    recorder->journal_header = header;
    return RG_OK;
}
