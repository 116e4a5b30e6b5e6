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
};

static void use_journal(rg_recording *recording) {
    const rg_journal *journal = &recording->journal;
    const rg_store_identity *identity = rg_store_get_identity(recording->store);
    recording->finished = rg_store_is_finished(recording->store);
    if (!journal->valid || journal->header.run_id != identity->run_id ||
        journal->header.body_count != identity->body_count ||
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
    rg_allocator used = rg_allocator_or_default(allocator);
    rg_recording *made = rg_allocate_zeroed(&used, 1, sizeof *made);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory", path);
    size_t room = strlen(path) + sizeof ".journal";
    made->allocator = used;
    made->file.fd = made->journal.file.fd = -1;
    made->buffer = rg_buffer_make(&used);
    made->path = rg_copy_text(&used, path);
    made->journal_path = rg_allocate(&used, room, 1);
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
    rg_allocator allocator = recording->allocator;
    if (recording->store)
        (void)rg_store_close(recording->store, NULL);
    rg_disk_close(&recording->file);
    rg_journal_free(&recording->journal, &allocator);
    rg_buffer_free(&recording->buffer);
    rg_release(&allocator, recording->journal_path);
    rg_release(&allocator, recording->path);
    rg_release(&allocator, recording);
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

static rg_status read_from_journal(rg_recording *recording, size_t index, rg_frame *frame,
                                   rg_error *error) {
    const char *payload;
    size_t bodies = rg_store_get_identity(recording->store)->body_count;
    rg_status status = rg_journal_read_block(&recording->journal, recording->journal.frames[index],
                                             &recording->buffer, &payload);
    if (status != RG_OK)
        return rg_fail(error, status, "%s: changed while it was read; open the recording again",
                       recording->journal_path);
    rg_frame_head head = rg_journal_frame_head(payload);
    set_head(frame, &head);
    const char *numbers = payload + 8 * RG_JOURNAL_FRAME_WORDS;
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
    if (index >= recording->file_frames + recording->journal_frames)
        return rg_fail(error, RG_INVALID_ARGUMENT, "%s: there is no frame %zu; it has %zu",
                       recording->path, index, recording->file_frames + recording->journal_frames);
    if (index >= recording->file_frames)
        return read_from_journal(
            recording, index - recording->file_frames + recording->journal_skip, frame, error);
    rg_frame_head head;
    rg_frame_batch batch = {1,
                            &head,
                            (double *)frame->position,
                            (double *)frame->orientation,
                            (double *)frame->velocity,
                            (double *)frame->angular_velocity};
    rg_status status = rg_store_read(recording->store, index, &batch, error);
    if (status == RG_OK)
        set_head(frame, &head);
    return status;
}
