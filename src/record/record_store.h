/* FILE of a recording: the HDF5 layout of docs/recording.md, written into a temporary file and read
 * from a finished one. Nothing outside record_store*.c, record_hdf5.c and record_driver.c knows
 * about HDF5. */
#ifndef RIGOR_RECORD_STORE_H
#define RIGOR_RECORD_STORE_H

#include "record/record_checkpoint.h"
#include "record/record_disk.h"
#include "record/record_journal.h"
#include "record/record_seal.h"

typedef struct rg_store rg_store;

/* What a recording is of: fixed when it starts. The texts end with a zero byte. */
typedef struct rg_store_identity {
    const char *scene_name;
    const char *method;
    const char *partial;            /* why it cannot be resumed; null or "": it can */
    const char *version;            /* of the rigor that started it */
    const char *builtin;            /* built-in scene, "" for a scene from a file */
    const char *builtin_parameters; /* "name=value" lines */
    const char *scene_text;
    size_t scene_size; /* without the zero byte */
    bool planar;
    double step;         /* s */
    double duration;     /* s */
    double record_every; /* s */
    uint64_t run_id;
    size_t body_count;
    bool has_certificate; /* from format 2 on; format 1 had neither that nor rows */
    uint64_t rows;        /* a set of rg_rows */
} rg_store_identity;

/* Frames beside each other: heads[i], and position[i * body_count + body] and so on; rows of all
 * frames one after the other, as many as the heads say. */
typedef struct rg_frame_batch {
    size_t count;
    rg_frame_head *heads;
    double *position, *orientation, *velocity, *angular_velocity;
    const void *rows[RG_ROWS_COUNT]; /* only to append */
} rg_frame_batch;

/* What is read into the heads; parts that FILE does not have are left alone. */
enum {
    RG_PART_STATE = 1,       /* time, step, hash, energy */
    RG_PART_CERTIFICATE = 2, /* the interval */
    RG_PART_ROWS = 4         /* shifted by the kind of rows: row_start, row_count */
};

/* A new, empty store in `file`, which must be open for writing; bodies are taken from the world.
 * The file stays the caller's and is closed by it after the store. */
rg_status rg_store_create(rg_disk_file file, const rg_store_identity *identity,
                          const rg_world *world, const rg_allocator *allocator, rg_store **store,
                          rg_error *error);
/* An existing one, to read: everything but the frames themselves is read and checked. */
rg_status rg_store_open(rg_disk_file file, const rg_allocator *allocator, rg_store **store,
                        rg_error *error);
/* Compares every byte of an opened one with the seal, also those that were not read yet. */
rg_status rg_store_verify(rg_store *store, rg_error *error);
/* A copy of an existing one in `file`, to append to. */
rg_status rg_store_copy(const rg_disk_file *from, rg_disk_file file, const rg_allocator *allocator,
                        rg_store **store, rg_error *error);
/* Closes it; a writable one is sealed, and the answer says whether everything reached the file. */
rg_status rg_store_close(rg_store *store, rg_error *error);

const rg_store_identity *rg_store_get_identity(const rg_store *store);
size_t rg_store_frame_count(const rg_store *store);
bool rg_store_is_finished(const rg_store *store);
/* Whether the journal goes with it: of the same run, with the same things in its frames. */
bool rg_store_owns_journal(const rg_store *store, const rg_journal *journal);
const char *rg_store_body_name(const rg_store *store, size_t body); /* opened ones */
/* Frames of a chunk, and how many there are to the end of the last one: batches that end with a
 * chunk are written fastest. */
size_t rg_store_chunk_frames(const rg_store *store);
size_t rg_store_batch_size(const rg_store *store);

/* Sets the heads' row_start. */
rg_status rg_store_append(rg_store *store, const rg_frame_batch *batch, rg_error *error);
/* Replaces the checkpoint, the summary and whether the run is finished. */
rg_status rg_store_set_checkpoint(rg_store *store, const rg_checkpoint *checkpoint, bool finished,
                                  rg_error *error);
rg_status rg_store_get_checkpoint(rg_store *store, rg_checkpoint *checkpoint, rg_error *error);
/* `count` frames from `first`; null arrays of the batch are skipped, and of the heads what is not
 * in `parts`. */
rg_status rg_store_read(rg_store *store, size_t first, rg_frame_batch *batch, unsigned parts,
                        rg_error *error);
/* Whether the rows that a head speaks of are there; and these rows. */
bool rg_store_has_rows(const rg_store *store, int rows, const rg_frame_head *head);
rg_status rg_store_read_rows(rg_store *store, int rows, const rg_frame_head *head, void *data,
                             rg_error *error);

#endif
