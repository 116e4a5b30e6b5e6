/* Recordings that are served. One thread reads all of them: HDF5 is not to be used by several at a
 * time, and the threads of the web server have stacks that are too small for it. */
#ifndef RIGOR_VIEWER_STORE_H
#define RIGOR_VIEWER_STORE_H

#include "view_outbox.h"

#include "rigor/recording.h"

typedef struct view_store view_store;
typedef enum view_part {
    VIEW_PART_MANIFEST,
    VIEW_PART_TIMES,
    VIEW_PART_OVERVIEW,
    VIEW_PART_CHUNK /* the first three are kept once they are made */
} view_part;

rg_status view_store_create(view_store **store, rg_error *error);
void view_store_destroy(view_store *store); /* with its recordings; null is allowed */
/* Before the first view_store_get. *number counts from 0. */
rg_status view_store_open(view_store *store, const char *path, size_t *number, rg_error *error);
/* From any thread; waits. *bytes is the caller's to release. RG_NOT_FOUND: no such chunk. */
rg_status view_store_get(view_store *store, size_t number, view_part part, size_t chunk,
                         view_bytes **bytes, rg_error *error);

#endif
