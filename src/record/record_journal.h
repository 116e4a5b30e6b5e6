/* The journal of a recording: an append-only file of blocks, valid up to the last whole one.
 *
 *   block:   magic u32, type u32, length u64 | payload (length bytes) | checksum u64
 *   header:  version, run id, first frame, body count: ties the journal to its FILE; from version 2
 *            on, figures of a frame, and which rows it has (before: 0, 0; version 2: at most
 *            contacts)
 *   frame:   index, time, step, state hash, energy; the figures (record_interval.h); positions (3 a
 *            body), orientations (4), velocities (3), angular velocities (3), all as doubles; of
 *            the kinds of rows that it has (record_rows.h), first their numbers, then themselves
 *   checkpoint: see record_checkpoint.h
 *   end:     frames, finished: the recorder was closed here
 *
 * Numbers are in the byte order of the machine; the magic number shows a foreign one. The checksum
 * covers the block's first bytes, payload and place in the file and the run id, so that a block is
 * valid only where it was written, in the run that wrote it.
 *
 * How it fails: reading stops at the first block that is cut off or damaged; what is before it
 * counts, what is after it does not. A header that cannot be read makes the whole journal void. */
#ifndef RIGOR_RECORD_JOURNAL_H
#define RIGOR_RECORD_JOURNAL_H

#include "base/base_memory.h"
#include "record/record_disk.h"
#include "record/record_rows.h"

typedef enum rg_journal_type {
    RG_JOURNAL_HEADER = 1,
    RG_JOURNAL_FRAME = 2,
    RG_JOURNAL_CHECKPOINT = 3,
    RG_JOURNAL_END = 4
} rg_journal_type;

enum {
    RG_JOURNAL_PREFIX = 16,     /* bytes of a block before its payload */
    RG_JOURNAL_CHECKSUM = 8,    /* and after it */
    RG_JOURNAL_FRAME_WORDS = 5, /* index, time, step, state hash, energy */
    RG_FRAME_DOUBLES = 13       /* of each body: 3 + 4 + 3 + 3 */
};

typedef struct rg_journal_header {
    uint64_t version;
    uint64_t run_id;
    uint64_t first_frame; /* index of the first frame that it holds */
    uint64_t body_count;
    uint64_t figure_count; /* words of rg_interval_encode in each frame */
    uint64_t rows;         /* a set of rg_rows */
} rg_journal_header;

/* Frame numbers beside the bodies' own. */
typedef struct rg_frame_head {
    uint64_t index;
    double time;
    uint64_t step;
    uint64_t state_hash;
    double energy;
    rg_step_info interval; /* the steps since the frame before */
    uint64_t row_start[RG_ROWS_COUNT], row_count[RG_ROWS_COUNT]; /* of FILE's tables */
} rg_frame_head;

/* ---- writing ---- */

typedef struct rg_journal_writer {
    rg_disk_file file;
    uint64_t run_id;
    uint64_t end;    /* bytes of whole blocks */
    rg_buffer block; /* the block in the making */
} rg_journal_writer;

/* Blocks are made in `block` and written by one call: begin, append to writer->block, end. */
void rg_journal_begin_block(rg_journal_writer *writer, rg_journal_type type);
/* 0 or an errno (ENOMEM included). After a failure the file is cut back to the last whole block. */
int rg_journal_end_block(rg_journal_writer *writer);
/* Appends the header block to an empty file. */
int rg_journal_write_header(rg_journal_writer *writer, const rg_journal_header *header);

/* ---- reading ---- */

typedef struct rg_journal_block {
    rg_journal_type type;
    uint64_t offset; /* of the block */
    uint64_t length; /* of the payload */
} rg_journal_block;

typedef struct rg_journal {
    rg_disk_file file;
    bool valid; /* the header could be read */
    rg_journal_header header;
    uint64_t *frames; /* offset of each frame's block, in order of index from header.first_frame */
    size_t frame_count, frame_capacity;
    rg_journal_block checkpoint; /* the last one; length 0: none */
    size_t checkpoint_frames;    /* frame blocks before it */
    uint64_t end;                /* bytes of valid blocks */
    bool ended, finished;        /* the last block is an end block, and what it says */
} rg_journal;

/* Looks through the open file (which the journal then owns). Damage is no error: it ends the
 * journal there. */
rg_status rg_journal_scan(rg_journal *journal, rg_disk_file file, const rg_allocator *allocator);
void rg_journal_free(rg_journal *journal, const rg_allocator *allocator);
/* The payload of a block that the scan saw; it lies in `buffer`, whose content is replaced.
 * RG_FILE_DAMAGED if it is no longer what the scan saw, or RG_OUT_OF_MEMORY. */
rg_status rg_journal_read_block(const rg_journal *journal, uint64_t offset, rg_buffer *buffer,
                                const char **payload);
/* Bytes of a frame's payload without its rows, and where in it the bodies' numbers begin. */
uint64_t rg_journal_frame_size(const rg_journal_header *header);
uint64_t rg_journal_numbers_offset(const rg_journal_header *header);

/* A frame's payload, taken apart. */
typedef struct rg_journal_frame {
    rg_frame_head head;
    const char *numbers;             /* RG_FRAME_DOUBLES a body */
    const char *rows[RG_ROWS_COUNT]; /* head.row_count of each kind */
} rg_journal_frame;
rg_journal_frame rg_journal_unpack_frame(const rg_journal_header *header, const char *payload);

#endif
