/* Recordings as comma-separated values (RFC 4180): a header line, then one line for every frame and
 * body. Numbers are the shortest that read back to the same bits. A file is written beside its
 * place and renamed into it, so that a failure leaves nothing half-written; standard output is just
 * written. */
#include "record/record_recording.h"

#include "base/base_memory.h"
#include "base/base_text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char header_line[] = "time,step,body,px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz\n";
/* Bytes gathered before they are written. */
static const size_t piece_size = 1 << 20;

/* Where the text goes: a file at an offset, or standard output. */
typedef struct outlet {
    rg_disk_file file;
    uint64_t offset;
    bool is_stdout;
} outlet;

static int write_stdout(const char *data, size_t size) {
    while (size > 0) {
        ssize_t written = write(STDOUT_FILENO, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        data += written;
        size -= (size_t)written;
    }
    return 0;
}

static int flush(outlet *out, rg_buffer *text) {
    if (text->failed)
        return ENOMEM;
    int failed = out->is_stdout ? write_stdout(text->data, text->size)
                                : rg_disk_write(&out->file, text->data, text->size, out->offset);
    out->offset += text->size;
    text->size = 0;
    return failed;
}

static void append_text(rg_buffer *text, const char *word) {
    rg_buffer_append(text, word, strlen(word));
}

/* A field is quoted if it must be; a quote inside is doubled. */
static void append_field(rg_buffer *text, const char *field) {
    if (!strpbrk(field, ",\"\r\n")) {
        append_text(text, field);
        return;
    }
    append_text(text, "\"");
    for (const char *c = field; *c; c++) {
        if (*c == '"')
            append_text(text, "\"");
        rg_buffer_append(text, c, 1);
    }
    append_text(text, "\"");
}

static void append_numbers(rg_buffer *text, const double *numbers, size_t count) {
    char number[RG_NUMBER_SIZE];
    for (size_t i = 0; i < count; i++) {
        append_text(text, ",");
        append_text(text, rg_format_double(numbers[i], number));
    }
}

static void append_frame(rg_buffer *text, const rg_recording *recording, const rg_frame *frame,
                         size_t bodies) {
    char time[RG_NUMBER_SIZE];
    rg_format_double(frame->time, time);
    for (size_t i = 0; i < bodies; i++) {
        const char *name = rg_recording_body_name(recording, i);
        rg_buffer_print(text, "%s,%" PRIu64 ",", time, frame->step);
        if (name[0])
            append_field(text, name);
        else
            rg_buffer_print(text, "%zu", i); /* a body without a name goes by its number */
        append_numbers(text, &frame->position[i].x, 3);
        append_numbers(text, &frame->orientation[i].x, 4);
        append_numbers(text, &frame->velocity[i].x, 3);
        append_numbers(text, &frame->angular_velocity[i].x, 3);
        append_text(text, "\n");
    }
}

static rg_status fail_writing(rg_error *error, const char *path, int number) {
    char text[RG_DISK_MESSAGE_SIZE];
    return rg_fail(error, number == ENOMEM ? RG_OUT_OF_MEMORY : RG_WRITE_FAILED,
                   "%s: cannot be written: %s", path, rg_disk_message(number, text));
}

static rg_status write_frames(rg_recording *recording, rg_frame *frame, rg_buffer *text,
                              outlet *out, const char *path, rg_error *error) {
    rg_recording_info info = rg_recording_get_info(recording);
    append_text(text, header_line);
    int failed = 0;
    for (size_t i = 0; i < info.frame_count && !failed; i++) {
        rg_status status = rg_recording_read(recording, i, frame, error);
        if (status != RG_OK)
            return status;
        append_frame(text, recording, frame, info.body_count);
        if (text->size >= piece_size || text->failed)
            failed = flush(out, text);
    }
    if (!failed)
        failed = flush(out, text);
    return failed ? fail_writing(error, path, failed) : RG_OK;
}

static rg_status write_all(rg_recording *recording, outlet *out, const char *path,
                           rg_error *error) {
    const rg_allocator *allocator = rg_recording_allocator(recording);
    size_t bodies = rg_recording_get_info(recording).body_count;
    rg_frame frame = {.position = rg_allocate(allocator, bodies, sizeof(rg_vec3)),
                      .orientation = rg_allocate(allocator, bodies, sizeof(rg_quat)),
                      .velocity = rg_allocate(allocator, bodies, sizeof(rg_vec3)),
                      .angular_velocity = rg_allocate(allocator, bodies, sizeof(rg_vec3))};
    rg_buffer text = rg_buffer_make(allocator);
    rg_status status;
    if (frame.position && frame.orientation && frame.velocity && frame.angular_velocity)
        status = write_frames(recording, &frame, &text, out, path, error);
    else
        status = fail_writing(error, path, ENOMEM);
    rg_buffer_free(&text);
    rg_release(allocator, frame.position);
    rg_release(allocator, frame.orientation);
    rg_release(allocator, frame.velocity);
    rg_release(allocator, frame.angular_velocity);
    return status;
}

static rg_status write_file(rg_recording *recording, const rg_disk *disk, const char *path,
                            const char *new_path, rg_error *error) {
    outlet out = {.is_stdout = false};
    int failed = rg_disk_open(disk, new_path, RG_DISK_NEW, &out.file);
    if (failed)
        return fail_writing(error, path, failed);
    rg_status status = write_all(recording, &out, path, error);
    if (status == RG_OK)
        failed = rg_disk_sync(&out.file);
    rg_disk_close(&out.file);
    if (status == RG_OK && !failed)
        failed = rg_disk_rename(disk, new_path, path);
    if (status == RG_OK && !failed)
        return RG_OK;
    (void)rg_disk_remove(disk, new_path);
    return status != RG_OK ? status : fail_writing(error, path, failed);
}

rg_status rg_recording_export_csv_with(rg_recording *recording, const rg_disk *disk,
                                       const char *path, rg_error *error) {
    assert(recording && path);
    if (strcmp(path, "-") == 0) {
        outlet out = {.is_stdout = true, .file.fd = -1};
        return write_all(recording, &out, "standard output", error);
    }
    if (rg_disk_is_special(path))
        return rg_fail(error, RG_WRITE_FAILED,
                       "%s: is not a regular file; name one, or - for standard output", path);
    const rg_allocator *allocator = rg_recording_allocator(recording);
    size_t room = strlen(path) + sizeof ".new";
    char *new_path = rg_allocate(allocator, room, 1);
    if (!new_path)
        return fail_writing(error, path, ENOMEM);
    snprintf(new_path, room, "%s.new", path);
    rg_status status;
    if (rg_recording_is_at(recording, path) || rg_recording_is_at(recording, new_path))
        status = rg_fail(error, RG_WRITE_FAILED,
                         "%s: would overwrite the recording that is exported; choose another name",
                         path);
    else
        status = write_file(recording, disk, path, new_path, error);
    rg_release(allocator, new_path);
    return status;
}

rg_status rg_recording_export_csv(rg_recording *recording, const char *path, rg_error *error) {
    return rg_recording_export_csv_with(recording, NULL, path, error);
}
