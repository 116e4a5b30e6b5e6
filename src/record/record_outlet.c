/* Where an export goes: see record_outlet.h.
 * Tested by tests/record/test_csv.c. */
#include "record/record_outlet.h"

#include "base/base_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static rg_status fail_writing(const char *path, int number, rg_error *error) {
    char text[RG_DISK_MESSAGE_SIZE];
    return rg_fail(error, number == ENOMEM ? RG_OUT_OF_MEMORY : RG_WRITE_FAILED,
                   "%s: cannot be written: %s", path, rg_disk_message(number, text));
}

static rg_status check_target(const rg_outlet *outlet, rg_recording *const *recordings,
                              size_t count, rg_error *error) {
    for (size_t i = 0; i < count; i++)
        if (rg_recording_is_at(recordings[i], outlet->path))
            return rg_fail(
                error, RG_WRITE_FAILED,
                "%s: would overwrite the recording that is exported; choose another name",
                outlet->path);
    return RG_OK;
}

rg_status rg_outlet_open(rg_outlet *outlet, rg_recording *const *recordings, size_t count,
                         const rg_disk *disk, const char *path, rg_error *error) {
    *outlet = (rg_outlet){.disk = disk, .path = path, .file.fd = -1};
    outlet->allocator =
        rg_allocator_or_default(count > 0 ? rg_recording_allocator(recordings[0]) : NULL);
    if (strcmp(path, "-") == 0) {
        outlet->is_stdout = true;
        outlet->path = "standard output";
        return RG_OK;
    }
    if (rg_disk_is_special(path))
        return rg_fail(error, RG_WRITE_FAILED,
                       "%s: is not a regular file; name one, or - for standard output", path);
    rg_status status = check_target(outlet, recordings, count, error);
    if (status != RG_OK)
        return status;
    outlet->new_path = rg_allocate(&outlet->allocator, strlen(path) + RG_DISK_BESIDE_SIZE, 1);
    if (!outlet->new_path)
        return fail_writing(path, ENOMEM, error);
    int failed = rg_disk_open_beside(disk, path, outlet->new_path, &outlet->file);
    if (!failed)
        return RG_OK;
    rg_release(&outlet->allocator, outlet->new_path);
    return fail_writing(path, failed, error);
}

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

rg_status rg_outlet_write(rg_outlet *outlet, const void *data, size_t size, rg_error *error) {
    int failed = outlet->is_stdout ? write_stdout(data, size)
                                   : rg_disk_write(&outlet->file, data, size, outlet->offset);
    outlet->offset += size;
    return failed ? fail_writing(outlet->path, failed, error) : RG_OK;
}

rg_status rg_outlet_flush(rg_outlet *outlet, rg_buffer *buffer, rg_error *error) {
    if (buffer->failed)
        return fail_writing(outlet->path, ENOMEM, error);
    rg_status status = rg_outlet_write(outlet, buffer->data, buffer->size, error);
    buffer->size = 0;
    return status;
}

rg_status rg_outlet_close(rg_outlet *outlet, rg_status status, rg_error *error) {
    if (outlet->is_stdout)
        return status;
    int failed = status == RG_OK ? rg_disk_sync(&outlet->file) : 0;
    rg_disk_close(&outlet->file);
    if (status == RG_OK && !failed)
        failed = rg_disk_rename(outlet->disk, outlet->new_path, outlet->path);
    if (failed)
        status = fail_writing(outlet->path, failed, error);
    if (status != RG_OK)
        (void)rg_disk_remove(outlet->disk, outlet->new_path);
    rg_release(&outlet->allocator, outlet->new_path);
    return status;
}
