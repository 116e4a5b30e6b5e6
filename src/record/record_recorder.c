/* The recorder: frames and checkpoints into the journal. See record_recorder.h for the whole. */
#include "record/record_recorder.h"

#include "base/base_hash.h"
#include "base/base_text.h"
#include "record/record_interval.h"
#include "world/world.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const uint64_t default_fold_bytes = UINT64_C(64) << 20;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

rg_recorder_options rg_recorder_options_default(void) {
    return (rg_recorder_options){.checkpoint_every = 2, .overwrite = false};
}

void rg_recorder_start_clock(rg_recorder *recorder) {
    recorder->checkpoint_clock = now();
}

double rg_recorder_duration(const rg_recorder *recorder) {
    return recorder->checkpoint.duration;
}

/* ---- making and freeing ---- */

static bool make_paths(rg_recorder_paths *paths, const char *path, const rg_allocator *allocator) {
    size_t room = strlen(path) + sizeof ".journal.new";
    char *texts = rg_allocate(allocator, 4, room);
    if (!texts)
        return false;
    *paths = (rg_recorder_paths){texts, texts + room, texts + 2 * room, texts + 3 * room};
    snprintf(paths->file, room, "%s", path);
    snprintf(paths->journal, room, "%s.journal", path);
    snprintf(paths->new_file, room, "%s.new", path);
    snprintf(paths->new_journal, room, "%s.journal.new", path);
    return true;
}

rg_recorder *rg_recorder_make(const char *path, const rg_recorder_options *options,
                              const rg_allocator *allocator, const rg_recorder_tuning *tuning) {
    rg_recorder *recorder = rg_object_make(rg_recorder, allocator);
    if (!recorder)
        return NULL;
    recorder->options = options ? *options : rg_recorder_options_default();
    recorder->disk = tuning ? tuning->disk : (rg_disk){NULL, NULL};
    recorder->fold_bytes = tuning && tuning->fold_bytes ? tuning->fold_bytes : default_fold_bytes;
    int format = tuning ? tuning->format : 0;
    recorder->has_certificate = format != 1;
    recorder->rows = format == 1 ? 0 : format == 2 ? RG_ROWS_OF_FORMAT_2 : RG_ROWS_ALL;
    if (recorder->options.leave_out_contacts)
        recorder->rows &= ~(UINT64_C(1) << RG_ROWS_CONTACTS);
    recorder->checkpoint = rg_checkpoint_make(allocator);
    recorder->journal.file.fd = -1;
    recorder->journal.block = rg_buffer_make(allocator);
    if (!make_paths(&recorder->paths, path, allocator)) {
        rg_recorder_free(recorder);
        return NULL;
    }
    return recorder;
}

rg_status rg_recorder_set_scene(rg_recorder *recorder, rg_scene *scene) {
    const rg_world *world = rg_scene_world(scene);
    recorder->scene = scene;
    recorder->body_count = rg_world_body_count(world);
    recorder->bodies =
        rg_allocate(&recorder->allocator, recorder->body_count, sizeof *recorder->bodies);
    if (!recorder->bodies)
        return RG_OUT_OF_MEMORY;
    if (rg_world_joint_count(world) == 0)
        recorder->rows &= ~(UINT64_C(1) << RG_ROWS_JOINTS);
    for (size_t i = 0; i < recorder->body_count; i++)
        recorder->bodies[i] = rg_world_body_at(world, i);
    return RG_OK;
}

void rg_recorder_free(rg_recorder *recorder) {
    if (!recorder)
        return;
    rg_disk_close(&recorder->journal.file);
    rg_buffer_free(&recorder->journal.block);
    rg_checkpoint_free(&recorder->checkpoint);
    rg_release_all(&recorder->allocator, recorder->bodies, recorder->paths.file);
    rg_object_release(recorder);
}

rg_status rg_recorder_fail(rg_recorder *recorder, rg_error *error, const char *path, int number) {
    char text[RG_DISK_MESSAGE_SIZE];
    recorder->broken = true;
    if (number == ENOMEM)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for a frame", path);
    return rg_fail(error, RG_WRITE_FAILED, "%s: cannot be written: %s", path,
                   rg_disk_message(number, text));
}

rg_status rg_recorder_take_journal(rg_recorder *recorder, rg_disk_file *file, rg_error *error) {
    const char *path = recorder->paths.journal;
    for (;;) {
        int failed = rg_disk_open(&recorder->disk, path, RG_DISK_CHANGE, file);
        if (failed == ENOENT)
            return RG_OK;
        if (failed)
            return rg_recorder_fail(recorder, error, path, failed);
        if (rg_disk_lock(file) == EBUSY) {
            rg_disk_close(file);
            return rg_fail(error, RG_BUSY, "%s: another run is recording into it",
                           recorder->paths.file);
        }
        if (rg_disk_is_at(file, path))
            return RG_OK;
        rg_disk_close(file); /* replaced between opening and locking: try the new one */
    }
}

/* Ties a journal to its FILE; anything that hardly ever comes twice will do. */
static uint64_t make_run_id(const rg_scene *scene) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t id = rg_hash_u64(rg_hash_begin(), (uint64_t)time.tv_sec);
    id = rg_hash_u64(rg_hash_u64(id, (uint64_t)time.tv_nsec), (uint64_t)getpid());
    return rg_hash_u64(id, (uint64_t)(uintptr_t)scene);
}

static rg_status start(rg_recorder *recorder, rg_scene *scene, rg_error *error) {
    const char *path = recorder->paths.file;
    if (rg_disk_is_special(path))
        return rg_fail(error, RG_WRITE_FAILED, "%s: is not a regular file; a recording needs one",
                       path);
    if (!recorder->options.overwrite && rg_disk_exists(path))
        return rg_fail(error, RG_WRITE_FAILED,
                       "%s: exists; choose another name, overwrite it or resume it", path);
    if (rg_recorder_set_scene(recorder, scene) != RG_OK)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for a recording", path);
    rg_disk_file old;
    rg_status status = rg_recorder_take_journal(recorder, &old, error);
    if (status != RG_OK)
        return status;
    recorder->run_id = make_run_id(scene);
    double duration = recorder->options.duration;
    recorder->checkpoint.duration = duration > 0 ? duration : rg_scene_duration(scene);
    status = rg_fold_create(recorder, error);
    if (status == RG_OK)
        status = rg_fold_start_journal(recorder, error);
    rg_disk_close(&old);
    rg_recorder_start_clock(recorder);
    return status;
}

rg_status rg_recorder_create_tuned(rg_scene *scene, const char *path,
                                   const rg_recorder_options *options,
                                   const rg_recorder_tuning *tuning, rg_recorder **recorder,
                                   rg_error *error) {
    assert(scene && path && recorder);
    *recorder = NULL;
    rg_allocator allocator = rg_allocator_or_default(options ? options->allocator : NULL);
    rg_recorder *made = rg_recorder_make(path, options, &allocator, tuning);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for a recording", path);
    rg_status status = start(made, scene, error);
    if (status == RG_OK)
        *recorder = made;
    else
        rg_recorder_free(made);
    return status;
}

rg_status rg_recorder_open(rg_scene *scene, const char *path, const rg_recorder_options *options,
                           rg_recorder **recorder, rg_error *error) {
    return rg_recorder_create_tuned(scene, path, options, NULL, recorder, error);
}

/* ---- frames ---- */

rg_frame_batch rg_frame_batch_in(double *numbers, rg_frame_head *heads, size_t frames,
                                 size_t body_count) {
    size_t rows = frames * body_count;
    return (rg_frame_batch){.count = frames,
                            .heads = heads,
                            .position = numbers,
                            .orientation = numbers + 3 * rows,
                            .velocity = numbers + 7 * rows,
                            .angular_velocity = numbers + 10 * rows};
}

rg_frame_head rg_recorder_fill_frame(const rg_recorder *recorder, double *numbers) {
    const rg_world *world = rg_scene_world(recorder->scene);
    rg_frame_batch frame = rg_frame_batch_in(numbers, NULL, 1, recorder->body_count);
    for (size_t i = 0; i < recorder->body_count; i++) {
        rg_body_id body = recorder->bodies[i];
        rg_pose pose = rg_body_pose(world, body);
        rg_vec3 velocity = rg_body_velocity(world, body);
        rg_vec3 angular_velocity = rg_body_angular_velocity(world, body);
        memcpy(frame.position + 3 * i, &pose.position, sizeof pose.position);
        memcpy(frame.orientation + 4 * i, &pose.orientation, sizeof pose.orientation);
        memcpy(frame.velocity + 3 * i, &velocity, sizeof velocity);
        memcpy(frame.angular_velocity + 3 * i, &angular_velocity, sizeof angular_velocity);
    }
    return (rg_frame_head){.index = recorder->frame_count,
                           .time = rg_world_time(world),
                           .step = rg_world_step_count(world),
                           .state_hash = rg_world_state_hash(world),
                           .energy = rg_world_energy(world),
                           .interval = recorder->checkpoint.interval};
}

size_t rg_recorder_count_contacts(const rg_recorder *recorder) {
    const rg_world *world = rg_scene_world(recorder->scene);
    size_t count = 0;
    if (!rg_rows_has(recorder->rows, RG_ROWS_CONTACTS))
        return 0;
    (void)rg_world_contact_forces(world, &count);
    return count + rg_rows_touch_count(world);
}

size_t rg_recorder_fill_contacts(const rg_recorder *recorder, rg_recorded_contact *contacts) {
    const rg_world *world = rg_scene_world(recorder->scene);
    size_t count, filled = 0;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    /* Frames come after steps; but nothing stops a caller from taking a body away in between and
     * bringing an equal one. */
    for (size_t i = 0; rg_rows_has(recorder->rows, RG_ROWS_CONTACTS) && i < count; i++)
        filled += rg_rows_contact(world, &forces[i], &contacts[filled]);
    size_t touches = rg_rows_has(recorder->rows, RG_ROWS_CONTACTS) ? rg_rows_touch_count(world) : 0;
    for (size_t i = 0; i < touches; i++)
        filled += rg_rows_sensor(world, i, &contacts[filled]);
    return filled;
}

void rg_recorder_step(rg_recorder *recorder, const rg_step_info *step) {
    assert(recorder && step);
    const rg_world *world = rg_scene_world(recorder->scene);
    rg_step_info_add(&recorder->checkpoint.interval, step);
    if (rg_rows_has(recorder->rows, RG_ROWS_EVENTS))
        rg_rows_append_events(&recorder->checkpoint.pending[RG_ROWS_EVENTS], world);
    if (rg_rows_has(recorder->rows, RG_ROWS_IMPULSES))
        rg_rows_append_impulses(&recorder->checkpoint.pending[RG_ROWS_IMPULSES], world);
}

/* Bytes that the rows of the next frame take at most. */
static size_t most_rows(const rg_recorder *recorder) {
    size_t bytes = rg_recorder_count_contacts(recorder) * sizeof(rg_recorded_contact);
    for (int i = RG_ROWS_EVENTS; i < RG_ROWS_COUNT; i++)
        bytes += recorder->checkpoint.pending[i].size;
    return bytes;
}

/* The rows of a frame, kind after kind, and right before them how many there are of each; the bytes
 * that they take. */
static size_t fill_rows(const rg_recorder *recorder, char *rows) {
    uint64_t counts[RG_ROWS_COUNT];
    size_t kinds = 0, filled = 0;
    if (rg_rows_has(recorder->rows, RG_ROWS_CONTACTS)) {
        counts[kinds] = rg_recorder_fill_contacts(recorder, (rg_recorded_contact *)(void *)rows);
        filled = (size_t)counts[kinds++] * sizeof(rg_recorded_contact);
    }
    for (int i = RG_ROWS_EVENTS; i < RG_ROWS_COUNT; i++) {
        const rg_buffer *pending = &recorder->checkpoint.pending[i];
        if (!rg_rows_has(recorder->rows, i))
            continue;
        if (pending->size)
            memcpy(rows + filled, pending->data, pending->size);
        counts[kinds++] = pending->size / rg_rows_size(i);
        filled += pending->size;
    }
    memcpy(rows - 8 * kinds, counts, 8 * kinds);
    return filled;
}

static bool bodies_are_the_same(const rg_recorder *recorder) {
    const rg_world *world = rg_scene_world(recorder->scene);
    if (rg_world_body_count(world) != recorder->body_count)
        return false;
    for (size_t i = 0; i < recorder->body_count; i++) {
        rg_body_id body = rg_world_body_at(world, i), was = recorder->bodies[i];
        if (body.index1 != was.index1 || body.generation != was.generation)
            return false;
    }
    return true;
}

/* The frame's block, straight into the journal's buffer: no copy in between. */
static int write_frame(rg_recorder *recorder) {
    rg_journal_writer *journal = &recorder->journal;
    rg_journal_begin_block(journal, RG_JOURNAL_FRAME);
    const rg_journal_header *header = &recorder->journal_header;
    size_t size = (size_t)rg_journal_frame_size(header);
    size_t most = size + most_rows(recorder);
    rg_buffer *block = &journal->block;
    const rg_buffer *pending = recorder->checkpoint.pending;
    if (block->failed || pending[RG_ROWS_EVENTS].failed || pending[RG_ROWS_IMPULSES].failed ||
        pending[RG_ROWS_JOINTS].failed || pending[RG_ROWS_LOADS].failed ||
        rg_array_reserve(&block->allocator, (void **)&block->data, &block->capacity,
                         block->size + most + RG_JOURNAL_CHECKSUM, 1) != RG_OK)
        return ENOMEM;
    /* The prefix, the head and so on are whole words, so the numbers are aligned. */
    char *payload = block->data + block->size;
    rg_frame_head head = rg_recorder_fill_frame(
        recorder, (double *)(void *)(payload + rg_journal_numbers_offset(header)));
    memcpy(payload, &head.index, 8);
    memcpy(payload + 8, &head.time, 8);
    memcpy(payload + 16, &head.step, 8);
    memcpy(payload + 24, &head.state_hash, 8);
    memcpy(payload + 32, &head.energy, 8);
    rg_interval_encode(&head.interval, payload + 8 * RG_JOURNAL_FRAME_WORDS,
                       (size_t)header->figure_count);
    block->size += size + fill_rows(recorder, payload + size);
    return rg_journal_end_block(journal);
}

static rg_status take_checkpoint(rg_recorder *recorder, const rg_step_info *summary,
                                 rg_error *error) {
    rg_status status =
        rg_checkpoint_take(&recorder->checkpoint, recorder->scene, recorder->frame_count, summary);
    if (status != RG_OK) {
        recorder->broken = true;
        return rg_fail(error, status, "%s: no checkpoint can be made: %s", recorder->paths.file,
                       rg_status_text(status));
    }
    recorder->checkpoint_clock = now();
    return RG_OK;
}

static rg_status write_checkpoint(rg_recorder *recorder, rg_error *error) {
    rg_journal_begin_block(&recorder->journal, RG_JOURNAL_CHECKPOINT);
    rg_checkpoint_encode(&recorder->checkpoint, &recorder->journal.block);
    int failed = rg_journal_end_block(&recorder->journal);
    if (!failed)
        failed = rg_disk_sync(&recorder->journal.file);
    return failed ? rg_recorder_fail(recorder, error, recorder->paths.journal, failed) : RG_OK;
}

static rg_status check_unbroken(const rg_recorder *recorder, rg_error *error) {
    if (!recorder->broken)
        return RG_OK;
    return rg_fail(error, RG_WRITE_FAILED,
                   "%s: nothing more is recorded since an earlier write failed",
                   recorder->paths.file);
}

rg_status rg_recorder_frame(rg_recorder *recorder, const rg_step_info *summary, rg_error *error) {
    assert(recorder);
    rg_status status = check_unbroken(recorder, error);
    if (status != RG_OK)
        return status;
    if (!bodies_are_the_same(recorder))
        return rg_fail(error, RG_UNSUPPORTED,
                       "%s: bodies came or went since the recording began; a recording has the "
                       "same bodies in every frame",
                       recorder->paths.file);
    rg_rows_append_state(recorder->rows, rg_scene_world(recorder->scene),
                         recorder->checkpoint.pending);
    int failed = write_frame(recorder);
    if (failed)
        return rg_recorder_fail(recorder, error, recorder->paths.journal, failed);
    recorder->frame_count++;
    recorder->checkpoint.interval = rg_step_info_nothing();
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        recorder->checkpoint.pending[i].size = 0;

    uint64_t enough =
        recorder->file_size > recorder->fold_bytes ? recorder->file_size : recorder->fold_bytes;
    if (recorder->journal.end > enough) {
        status = take_checkpoint(recorder, summary, error);
        if (status == RG_OK)
            status = rg_fold_file(recorder, false, error);
        if (status == RG_OK)
            status = rg_fold_start_journal(recorder, error);
    } else if (now() - recorder->checkpoint_clock >= recorder->options.checkpoint_every) {
        status = take_checkpoint(recorder, summary, error);
        if (status == RG_OK)
            status = write_checkpoint(recorder, error);
    }
    return status;
}

rg_status rg_recorder_checkpoint(rg_recorder *recorder, rg_error *error) {
    assert(recorder);
    rg_status status = check_unbroken(recorder, error);
    if (status == RG_OK)
        status = take_checkpoint(recorder, NULL, error);
    if (status == RG_OK)
        status = write_checkpoint(recorder, error);
    return status;
}

/* ---- the end ---- */

/* The journal alone says it all, should what follows fail. */
static rg_status write_end(rg_recorder *recorder, bool finished, rg_error *error) {
    uint64_t words[2] = {recorder->frame_count, finished};
    rg_journal_begin_block(&recorder->journal, RG_JOURNAL_END);
    rg_buffer_append(&recorder->journal.block, words, sizeof words);
    int failed = rg_journal_end_block(&recorder->journal);
    return failed ? rg_recorder_fail(recorder, error, recorder->paths.journal, failed) : RG_OK;
}

static rg_status finish(rg_recorder *recorder, bool finished, rg_error *error) {
    uint64_t step = rg_world_step_count(rg_scene_world(recorder->scene));
    bool file_is_complete = recorder->file_frames == recorder->frame_count &&
                            recorder->file_step == step && recorder->file_finished == finished;
    rg_status status = RG_OK;
    if (!file_is_complete) {
        status = take_checkpoint(recorder, NULL, error);
        if (status == RG_OK)
            status = write_checkpoint(recorder, error);
        if (status == RG_OK)
            status = write_end(recorder, finished, error);
        if (status == RG_OK)
            status = rg_fold_file(recorder, finished, error);
    }
    if (status == RG_OK)
        (void)rg_disk_remove(&recorder->disk,
                             recorder->paths.journal); /* left over, it is skipped */
    return status;
}

rg_status rg_recorder_close(rg_recorder *recorder, bool finished, rg_error *error) {
    assert(recorder);
    rg_status status = check_unbroken(recorder, error);
    if (status == RG_OK)
        status = finish(recorder, finished, error);
    rg_recorder_free(recorder);
    return status;
}
