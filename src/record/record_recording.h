/* The reader's inside: what the tests and the export need beside the public functions. */
#ifndef RIGOR_RECORD_RECORDING_H
#define RIGOR_RECORD_RECORDING_H

#include "record/record_disk.h"
#include "record/record_store.h"
#include "rigor/recording.h"

rg_status rg_recording_open_with(const char *path, const rg_allocator *allocator,
                                 rg_recording **recording, rg_error *error);
const char *rg_recording_path(const rg_recording *recording);
/* Whether the path is that of FILE or of its journal, by whatever name. */
bool rg_recording_is_at(const rg_recording *recording, const char *path);
const rg_allocator *rg_recording_allocator(const rg_recording *recording);
/* batch->count frames from `first`, from FILE in one go: parts and null arrays as for
 * rg_store_read. Heads without a certificate say that nothing was measured. */
rg_status rg_recording_read_range(rg_recording *recording, size_t first, rg_frame_batch *batch,
                                  unsigned parts, rg_error *error);
rg_status rg_recording_export_csv_with(rg_recording *recording, const rg_disk *disk,
                                       const char *path, rg_error *error);

#endif
