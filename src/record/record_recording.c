/* Reading a recording: FILE, and after its last frame those of the journal.
 *
 * Nothing is changed, so that it works on read-only directories and beside a run that goes on. The
 * journal is opened before FILE: a fold replaces FILE first and the journal second, so that a
 * journal seen first can only be older than FILE, never newer. Frames that it shares with FILE are
 * skipped. */
#include "record/record_recording.h"

#include "base/base_memory.h"
#include "base/base_text.h"
#include "record/record_journal.h"
#include "record/record_store.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct rg_recording {
    rg_allocator allocator;
    char *path, *journal_path;
    rg_disk_file file;
    rg_store *store;
    size_t file_frames;
    rg_journal journal;
    size_t journal_frames; /* that count: beyond FILE's */
    size_t journal_skip;   /* that FILE has too */
    bool finished;
    rg_buffer buffer;
    rg_buffer rows[RG_ROWS_COUNT]; /* of the frame that was asked for last */
};

static void use_journal(rg_recording *recording) {
    const rg_journal *journal = &recording->journal;
    recording->finished = rg_store_is_finished(recording->store);
    if (!rg_store_owns_journal(recording->store, journal) ||
        journal->header.first_frame > recording->file_frames)
        return;
    size_t skip = recording->file_frames - (size_t)journal->header.first_frame;
    if (skip < journal->frame_count) {
        recording->journal_skip = skip;
        recording->journal_frames = journal->frame_count - skip;
        recording->finished = journal->ended && journal->finished;
    } else if (skip == journal->frame_count && journal->ended && journal->finished) {
        recording->finished = true;
    }
}

static rg_status open_files(rg_recording *recording, rg_error *error) {
    char text[RG_DISK_MESSAGE_SIZE];
    rg_disk_file journal_file;
    rg_status status = RG_OK;
    /* A journal that cannot be opened is one that is not there. */
    if (rg_disk_open(NULL, recording->journal_path, RG_DISK_READ, &journal_file) == 0)
        status = rg_journal_scan(&recording->journal, journal_file, &recording->allocator);
    if (status != RG_OK)
        return rg_fail(error, status, "%s: no memory", recording->path);
    int failed = rg_disk_open(NULL, recording->path, RG_DISK_READ, &recording->file);
    uint64_t size;
    if (!failed)
        failed = rg_disk_size(&recording->file, &size);
    if (failed)
        return rg_fail(error, RG_FILE_UNREADABLE, "%s: cannot be read: %s", recording->path,
                       rg_disk_message(failed, text));
    status = rg_store_open(recording->file, &recording->allocator, &recording->store, error);
    if (status != RG_OK)
        return status;
    recording->file_frames = rg_store_frame_count(recording->store);
    use_journal(recording);
    return RG_OK;
}

rg_status rg_recording_open_with(const char *path, const rg_allocator *allocator,
                                 rg_recording **recording, rg_error *error) {
    assert(path && recording);
    *recording = NULL;
    rg_recording *made = rg_object_make(rg_recording, allocator);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory", path);
    size_t room = strlen(path) + sizeof ".journal";
    made->file.fd = made->journal.file.fd = -1;
    made->buffer = rg_buffer_make(&made->allocator);
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        made->rows[i] = rg_buffer_make(&made->allocator);
    made->path = rg_copy_text(&made->allocator, path);
    made->journal_path = rg_allocate(&made->allocator, room, 1);
    rg_status status;
    if (made->path && made->journal_path) {
        snprintf(made->journal_path, room, "%s.journal", path);
        status = open_files(made, error);
    } else {
        status = rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory", path);
    }
    if (status == RG_OK)
        *recording = made;
    else
        rg_recording_close(made);
    return status;
}

rg_status rg_recording_open(const char *path, rg_recording **recording, rg_error *error) {
    return rg_recording_open_with(path, NULL, recording, error);
}

void rg_recording_close(rg_recording *recording) {
    if (!recording)
        return;
    if (recording->store)
        (void)rg_store_close(recording->store, NULL);
    rg_disk_close(&recording->file);
    rg_journal_free(&recording->journal, &recording->allocator);
    rg_buffer_free(&recording->buffer);
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        rg_buffer_free(&recording->rows[i]);
    rg_release_all(&recording->allocator, recording->journal_path, recording->path);
    rg_object_release(recording);
}

const char *rg_recording_path(const rg_recording *recording) {
    return recording->path;
}

bool rg_recording_is_at(const rg_recording *recording, const char *path) {
    return rg_disk_is_same(path, recording->path) ||
           rg_disk_is_same(path, recording->journal_path) ||
           strcmp(path, recording->journal_path) == 0; /* the next run would take it for one */
}

const rg_allocator *rg_recording_allocator(const rg_recording *recording) {
    return &recording->allocator;
}

rg_recording_info rg_recording_get_info(const rg_recording *recording) {
    assert(recording);
    const rg_store_identity *identity = rg_store_get_identity(recording->store);
    return (rg_recording_info){.frame_count = recording->file_frames + recording->journal_frames,
                               .body_count = identity->body_count,
                               .planar = identity->planar,
                               .finished = recording->finished,
                               .recovered = recording->journal_frames > 0,
                               .has_certificate = identity->has_certificate,
                               .has_contacts = rg_rows_has(identity->rows, RG_ROWS_CONTACTS),
                               .has_events = rg_rows_has(identity->rows, RG_ROWS_EVENTS),
                               .has_joints = rg_rows_has(identity->rows, RG_ROWS_JOINTS),
                               .has_loads = rg_rows_has(identity->rows, RG_ROWS_LOADS),
                               .duration = identity->duration,
                               .record_every = identity->record_every,
                               .scene_text = identity->scene_text,
                               .scene_size = identity->scene_size,
                               .scene_name = identity->scene_name,
                               .version = identity->version};
}

const char *rg_recording_body_name(const rg_recording *recording, size_t body) {
    assert(recording && body < rg_store_get_identity(recording->store)->body_count);
    return rg_store_body_name(recording->store, body);
}

static void set_head(rg_frame *frame, const rg_frame_head *head) {
    frame->time = head->time;
    frame->step = head->step;
    frame->state_hash = head->state_hash;
    frame->energy = head->energy;
}

static rg_status check_index(const rg_recording *recording, size_t index, rg_error *error) {
    size_t count = recording->file_frames + recording->journal_frames;
    if (index < count)
        return RG_OK;
    return rg_fail(error, RG_INVALID_ARGUMENT, "%s: there is no frame %zu; it has %zu",
                   recording->path, index, count);
}

/* A frame that is beyond FILE's. */
static rg_status read_block(rg_recording *recording, size_t index, rg_journal_frame *frame,
                            rg_error *error) {
    const rg_journal *journal = &recording->journal;
    const char *payload;
    uint64_t offset = journal->frames[index - recording->file_frames + recording->journal_skip];
    rg_status status = rg_journal_read_block(journal, offset, &recording->buffer, &payload);
    if (status != RG_OK)
        return rg_fail(error, status, "%s: changed while it was read; open the recording again",
                       recording->journal_path);
    *frame = rg_journal_unpack_frame(&journal->header, payload);
    return RG_OK;
}

static rg_status read_from_journal(rg_recording *recording, size_t index, rg_frame *frame,
                                   rg_frame_head *head, rg_error *error) {
    rg_journal_frame block;
    size_t bodies = rg_store_get_identity(recording->store)->body_count;
    rg_status status = read_block(recording, index, &block, error);
    if (status != RG_OK)
        return status;
    set_head(frame, &block.head);
    *head = block.head;
    const char *numbers = block.numbers;
    struct {
        void *to;
        size_t columns;
    } parts[] = {{frame->position, 3},
                 {frame->orientation, 4},
                 {frame->velocity, 3},
                 {frame->angular_velocity, 3}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t size = 8 * parts[i].columns * bodies;
        if (parts[i].to && size)
            memcpy(parts[i].to, numbers, size);
        numbers += size;
    }
    return RG_OK;
}

rg_status rg_recording_read(rg_recording *recording, size_t index, rg_frame *frame,
                            rg_error *error) {
    assert(recording && frame);
    rg_status status = check_index(recording, index, error);
    if (status != RG_OK)
        return status;
    rg_frame_head head;
    if (index >= recording->file_frames)
        return read_from_journal(recording, index, frame, &head, error);
    rg_frame_batch batch = {.count = 1,
                            .heads = &head,
                            .position = (double *)frame->position,
                            .orientation = (double *)frame->orientation,
                            .velocity = (double *)frame->velocity,
                            .angular_velocity = (double *)frame->angular_velocity};
    status = rg_store_read(recording->store, index, &batch, RG_PART_STATE, error);
    if (status == RG_OK)
        set_head(frame, &head);
    return status;
}

/* Where a batch's frames from `skip` on are. */
static rg_frame_batch rest_of_batch(const rg_frame_batch *batch, size_t skip, size_t bodies) {
    rg_frame_batch rest = {.count = batch->count - skip};
    rest.heads = batch->heads ? batch->heads + skip : NULL;
    rest.position = batch->position ? batch->position + 3 * bodies * skip : NULL;
    rest.orientation = batch->orientation ? batch->orientation + 4 * bodies * skip : NULL;
    rest.velocity = batch->velocity ? batch->velocity + 3 * bodies * skip : NULL;
    rest.angular_velocity =
        batch->angular_velocity ? batch->angular_velocity + 3 * bodies * skip : NULL;
    return rest;
}

rg_status rg_recording_read_range(rg_recording *recording, size_t first, rg_frame_batch *batch,
                                  unsigned parts, rg_error *error) {
    assert(recording && batch);
    const rg_store_identity *identity = rg_store_get_identity(recording->store);
    if (batch->count == 0)
        return RG_OK;
    rg_status status = batch->count > SIZE_MAX - first
                           ? check_index(recording, SIZE_MAX, error)
                           : check_index(recording, first + batch->count - 1, error);
    if (status != RG_OK)
        return status;
    for (size_t i = 0; batch->heads && i < batch->count; i++)
        batch->heads[i].interval = rg_step_info_nothing();
    rg_frame_batch in_file = *batch;
    if (first >= recording->file_frames)
        in_file.count = 0;
    else if (in_file.count > recording->file_frames - first)
        in_file.count = recording->file_frames - first;
    if (in_file.count)
        status = rg_store_read(recording->store, first, &in_file, parts, error);
    for (size_t i = in_file.count; i < batch->count && status == RG_OK; i++) {
        rg_frame_batch rest = rest_of_batch(batch, i, identity->body_count);
        rg_frame frame = {.position = (rg_vec3 *)rest.position,
                          .orientation = (rg_quat *)rest.orientation,
                          .velocity = (rg_vec3 *)rest.velocity,
                          .angular_velocity = (rg_vec3 *)rest.angular_velocity};
        rg_frame_head head;
        status = read_from_journal(recording, first + i, &frame, &head, error);
        if (status == RG_OK && rest.heads)
            rest.heads[0] = head;
        if (status == RG_OK && rest.heads && !identity->has_certificate)
            rest.heads[0].interval = rg_step_info_nothing();
    }
    return status;
}

/* ---- certificates and rows ---- */

static rg_status fail_without(const rg_recording *recording, const char *what, rg_error *error) {
    return rg_fail(error, RG_UNSUPPORTED,
                   "%s: has no %s: it was recorded without them, or by an "
                   "earlier version of rigor",
                   recording->path, what);
}

rg_status rg_recording_read_certificate(rg_recording *recording, size_t index, rg_step_info *info,
                                        rg_error *error) {
    assert(recording && info);
    *info = rg_step_info_nothing();
    rg_status status = check_index(recording, index, error);
    if (status != RG_OK)
        return status;
    if (!rg_store_get_identity(recording->store)->has_certificate)
        return fail_without(recording, "certificates", error);
    rg_journal_frame block = {.head.interval = *info};
    rg_frame_batch batch = {.count = 1, .heads = &block.head};
    if (index >= recording->file_frames)
        status = read_block(recording, index, &block, error);
    else
        status = rg_store_read(recording->store, index, &batch, RG_PART_STATE | RG_PART_CERTIFICATE,
                               error);
    if (status != RG_OK)
        return status;
    *info = block.head.interval;
    info->time = block.head.time;
    return RG_OK;
}

/* Room for the rows that a head speaks of. */
static rg_status make_room(rg_recording *recording, int rows, uint64_t count, rg_error *error) {
    rg_buffer *buffer = &recording->rows[rows];
    size_t size = rg_rows_size(rows);
    if (count > SIZE_MAX / size - 1 ||
        rg_array_reserve(&buffer->allocator, (void **)&buffer->data, &buffer->capacity,
                         ((size_t)count + 1) * size, 1) != RG_OK)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for %s", recording->path,
                       rg_rows_name(rows));
    return RG_OK;
}

static rg_status fail_damaged(const rg_recording *recording, int rows, const char *how,
                              rg_error *error) {
    return rg_fail(error, RG_FILE_DAMAGED, "%s: is a damaged recording: %s %s", recording->path,
                   rg_rows_name(rows), how);
}

/* The rows of a kind of a frame, in recording->rows. */
static rg_status read_rows(rg_recording *recording, size_t index, int rows, size_t *count,
                           rg_error *error) {
    const rg_store_identity *identity = rg_store_get_identity(recording->store);
    *count = 0;
    rg_status status = check_index(recording, index, error);
    if (status != RG_OK)
        return status;
    if (!rg_rows_has(identity->rows, rows))
        return fail_without(recording, rg_rows_name(rows), error);
    rg_journal_frame block = {0};
    rg_frame_batch batch = {.count = 1, .heads = &block.head};
    bool in_file = index < recording->file_frames;
    status = in_file ? rg_store_read(recording->store, index, &batch, RG_PART_ROWS << rows, error)
                     : read_block(recording, index, &block, error);
    if (status == RG_OK && in_file && !rg_store_has_rows(recording->store, rows, &block.head))
        status = fail_damaged(recording, rows, "cannot be read", error);
    uint64_t found = block.head.row_count[rows];
    if (status == RG_OK)
        status = make_room(recording, rows, found, error);
    char *data = recording->rows[rows].data;
    if (status == RG_OK && in_file)
        status = rg_store_read_rows(recording->store, rows, &block.head, data, error);
    else if (status == RG_OK && found)
        memcpy(data, block.rows[rows], (size_t)found * rg_rows_size(rows));
    /* Bodies, modes and kinds that do not exist are not handed on, whoever wrote them. */
    if (status == RG_OK && !rg_rows_make_sense(rows, data, (size_t)found, identity->body_count))
        status = fail_damaged(recording, rows, "make no sense", error);
    *count = status == RG_OK ? (size_t)found : 0;
    return status;
}

#define DEFINE_READ(PLURAL, ROW, ROWS)                                                             \
    rg_status rg_recording_read_##PLURAL(rg_recording *recording, size_t index, const ROW **rows,  \
                                         size_t *count, rg_error *error) {                         \
        assert(recording &&rows &&count);                                                          \
        rg_status status = read_rows(recording, index, ROWS, count, error);                        \
        *rows = (const void *)recording->rows[ROWS].data;                                          \
        return status;                                                                             \
    }
DEFINE_READ(contacts, rg_recorded_contact, RG_ROWS_CONTACTS)
DEFINE_READ(events, rg_recorded_event, RG_ROWS_EVENTS)
DEFINE_READ(joints, rg_recorded_joint, RG_ROWS_JOINTS)
DEFINE_READ(impulses, rg_recorded_impulse, RG_ROWS_IMPULSES)
DEFINE_READ(loads, rg_recorded_load, RG_ROWS_LOADS)
#undef DEFINE_READ
