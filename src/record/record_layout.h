/* The inside of a store, shared by record_store.c (frames, checkpoint), record_store_tables.c
 * (certificates), record_store_rows.c (contacts, events, impulses), record_store_create.c and
 * record_store_open.c. See docs/recording.md for the layout in the file. */
#ifndef RIGOR_RECORD_LAYOUT_H
#define RIGOR_RECORD_LAYOUT_H

#include "record/record_hdf5.h"
#include "record/record_interval.h"
#include "record/record_store.h"

#define RG_FORMAT_NAME "rigor recording"
/* 5 has loads and is that of recordings with some, 4 has joints and is that of scenes with some,
 * from 3 on there are events and impulses, from 2 on certificate, ledger, counts and, unless they
 * are left out, contacts; 1 had none of them. Older ones are still read, and continued as they
 * are. */
#define RG_FORMAT_VERSION UINT64_C(5)

/* Chunks hold about 128 KiB of numbers: many frames of few bodies (a plot of one body over time
 * reads few chunks), or part of one frame of many (a frame of 100,000 bodies is 25 chunks, none of
 * them larger than HDF5's cache). */
enum {
    RG_CHUNK_NUMBERS = 16384, /* about, in the largest datasets */
    RG_CHUNK_FRAMES = 1024,   /* at most, and in datasets of one number a frame */
    RG_CHUNK_BODIES = 4096,   /* at most */
    RG_CHUNK_ROWS = 1024      /* of about 100 bytes */
};

/* The datasets that grow with the frames. */
enum {
    RG_DATA_TIME,
    RG_DATA_STEP,
    RG_DATA_HASH,
    RG_DATA_ENERGY,
    RG_DATA_ROW_START, /* of each kind of rows, */
    RG_DATA_ROW_COUNT = RG_DATA_ROW_START + RG_ROWS_COUNT,
    RG_DATA_POSITION = RG_DATA_ROW_COUNT + RG_ROWS_COUNT,
    RG_DATA_ORIENTATION,
    RG_DATA_VELOCITY,
    RG_DATA_ANGULAR,
    RG_DATA_COUNT
};

typedef struct rg_data_kind {
    const char *path;
    hsize_t columns; /* a body; 0: one number a frame */
    bool is_integer;
    unsigned part;      /* that one-number data belongs to: RG_PART_ */
    size_t head_offset; /* of one-number data in rg_frame_head */
    const char *unit, *meaning;
} rg_data_kind;
extern const rg_data_kind rg_data_kinds[RG_DATA_COUNT];

struct rg_store {
    rg_allocator allocator;
    rg_driver_file driver;
    rg_seal seal; /* of one that is read */
    bool writable;
    hid_t file;
    hid_t data[RG_DATA_COUNT];    /* -1: FILE does not have it */
    hid_t tables[RG_TABLE_COUNT]; /* of intervals */
    hid_t rows[RG_ROWS_COUNT];
    rg_store_identity identity;
    char *texts[7]; /* owned: those of the identity of an opened store */
    char *names;    /* body_count of name_size bytes, each with a zero byte */
    size_t name_size;
    size_t frame_count, row_count[RG_ROWS_COUNT];
    size_t chunk_frames;
    bool finished;
};

extern const char rg_store_damaged_text[];

/* A store with nothing open, or null; what it frees; what it closes (true if HDF5 had nothing to
 * complain about). */
rg_store *rg_store_make(rg_disk_file file, bool writable, const rg_allocator *allocator);
void rg_store_free(rg_store *store);
bool rg_store_close_handles(rg_store *store);
/* Parts that it has. */
unsigned rg_store_parts(const rg_store *store);
herr_t rg_store_describe(hid_t object, const char *unit, const char *meaning);
/* Frames in a chunk of the datasets with a row for every body. */
size_t rg_store_frames_of_chunk(size_t body_count);
rg_status rg_store_fail_writing(const rg_store *store, rg_error *error);
/* `what` is wrong, unless the driver knows better. */
rg_status rg_store_fail_reading(const rg_store *store, rg_error *error, const char *what);

/* record_store_tables.c: certificate, ledger and counts of each frame. record_store_rows.c:
 * contacts, events and impulses. */
herr_t rg_tables_create(rg_store *store);
herr_t rg_tables_open(rg_store *store);
/* Makes them as long as the store will be. */
herr_t rg_tables_extend(rg_store *store, size_t frames);
herr_t rg_tables_transfer(const rg_store *store, size_t first, const rg_frame_batch *batch,
                          bool writing);
herr_t rg_rows_create(rg_store *store);
herr_t rg_rows_open(rg_store *store);
/* Appends `count` rows of a kind. */
herr_t rg_rows_write(rg_store *store, int rows, const void *data, size_t count);
herr_t rg_rows_read(const rg_store *store, int rows, size_t start, void *data, size_t count);

/* What both are made of. Creating takes the type with it; opening tells how many rows there are. */
hid_t rg_table_create(hid_t file, const char *path, hid_t type, hsize_t chunk, const char *unit,
                      const char *meaning);
hid_t rg_table_open(hid_t file, const char *path, size_t *rows);
herr_t rg_table_transfer(hid_t dataset, hid_t type, size_t first, size_t count, void *memory,
                         bool writing);

#endif
