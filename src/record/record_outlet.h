/* Where an export goes: a file that is written beside its place and renamed into it at the end, so
 * that a failure leaves nothing half-written, or standard output, which is just written.
 *
 * The recordings that are exported, and their journals, are refused as targets, by whatever name;
 * so is what is not a regular file. */
#ifndef RIGOR_RECORD_OUTLET_H
#define RIGOR_RECORD_OUTLET_H

#include "base/base_memory.h"
#include "record/record_recording.h"

typedef struct rg_outlet {
    rg_allocator allocator;
    const rg_disk *disk;
    const char *path; /* the caller's; in messages "standard output" */
    char *new_path;
    rg_disk_file file;
    uint64_t offset;
    bool is_stdout;
} rg_outlet;

/* "-" is standard output. Without recordings memory is the C library's. On failure there is nothing
 * to close. */
rg_status rg_outlet_open(rg_outlet *outlet, rg_recording *const *recordings, size_t count,
                         const rg_disk *disk, const char *path, rg_error *error);
rg_status rg_outlet_write(rg_outlet *outlet, const void *data, size_t size, rg_error *error);
/* Writes what the buffer holds and empties it; a buffer that failed is RG_OUT_OF_MEMORY. */
rg_status rg_outlet_flush(rg_outlet *outlet, rg_buffer *buffer, rg_error *error);
/* With RG_OK the file takes its place; with another status, which is returned, it is gone. */
rg_status rg_outlet_close(rg_outlet *outlet, rg_status status, rg_error *error);

#endif
