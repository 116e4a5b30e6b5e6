/* Blocks of the journal: see record_journal.h. */
#include "record/record_journal.h"

#include "base/base_hash.h"
#include "record/record_interval.h"

#include <errno.h>
#include <string.h>

static const uint32_t block_magic = 0x424A4752; /* "RGJB" on a little-endian machine */
static const uint64_t journal_version = 3;

static uint64_t checksum_of(uint64_t run_id, uint64_t offset, const void *bytes, size_t size) {
    uint64_t hash = rg_hash_u64(rg_hash_u64(rg_hash_begin(), run_id), offset);
    return rg_hash_bytes(hash, bytes, size);
}

static void put_u32(rg_buffer *buffer, uint32_t value) {
    rg_buffer_append(buffer, &value, 4);
}
static void put_u64(rg_buffer *buffer, uint64_t value) {
    rg_buffer_append(buffer, &value, 8);
}

static uint64_t get_u64(const char *bytes) {
    uint64_t value;
    memcpy(&value, bytes, 8);
    return value;
}

static uint32_t get_u32(const char *bytes) {
    uint32_t value;
    memcpy(&value, bytes, 4);
    return value;
}

static double get_double(const char *bytes) {
    double value;
    memcpy(&value, bytes, 8);
    return value;
}

/* ---- writing ---- */

void rg_journal_begin_block(rg_journal_writer *writer, rg_journal_type type) {
    writer->block.size = 0;
    writer->block.failed = false;
    put_u32(&writer->block, block_magic);
    put_u32(&writer->block, (uint32_t)type);
    put_u64(&writer->block, 0); /* the length, when it is known */
}

int rg_journal_end_block(rg_journal_writer *writer) {
    rg_buffer *block = &writer->block;
    if (block->failed)
        return ENOMEM;
    uint64_t length = block->size - RG_JOURNAL_PREFIX;
    memcpy(block->data + 8, &length, 8);
    /* The header carries the run id itself, and is read before the id is known. */
    bool is_header = get_u32(block->data + 4) == RG_JOURNAL_HEADER;
    put_u64(block,
            checksum_of(is_header ? 0 : writer->run_id, writer->end, block->data, block->size));
    if (block->failed)
        return ENOMEM;
    int failed = rg_disk_write(&writer->file, block->data, block->size, writer->end);
    if (failed) {
        /* Half a block at the end would be ignored anyway; cutting it off gives the space back. */
        (void)rg_disk_truncate(&writer->file, writer->end);
        return failed;
    }
    writer->end += block->size;
    return 0;
}

int rg_journal_write_header(rg_journal_writer *writer, const rg_journal_header *header) {
    writer->run_id = header->run_id;
    rg_journal_begin_block(writer, RG_JOURNAL_HEADER);
    put_u64(&writer->block, journal_version);
    put_u64(&writer->block, header->run_id);
    put_u64(&writer->block, header->first_frame);
    put_u64(&writer->block, header->body_count);
    put_u64(&writer->block, header->figure_count);
    put_u64(&writer->block, header->rows);
    return rg_journal_end_block(writer);
}

/* ---- reading ---- */

uint64_t rg_journal_numbers_offset(const rg_journal_header *header) {
    return 8 * (RG_JOURNAL_FRAME_WORDS + header->figure_count);
}

static uint64_t kinds_of_rows(const rg_journal_header *header) {
    uint64_t kinds = 0;
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        kinds += rg_rows_has(header->rows, i);
    return kinds;
}

uint64_t rg_journal_frame_size(const rg_journal_header *header) {
    return rg_journal_numbers_offset(header) + 8 * RG_FRAME_DOUBLES * header->body_count +
           8 * kinds_of_rows(header);
}

rg_journal_frame rg_journal_unpack_frame(const rg_journal_header *header, const char *payload) {
    rg_journal_frame frame = {.head = {.index = get_u64(payload),
                                       .time = get_double(payload + 8),
                                       .step = get_u64(payload + 16),
                                       .state_hash = get_u64(payload + 24),
                                       .energy = get_double(payload + 32),
                                       .interval = rg_step_info_nothing()},
                              .numbers = payload + rg_journal_numbers_offset(header)};
    rg_interval_decode(&frame.head.interval, payload + 8 * RG_JOURNAL_FRAME_WORDS,
                       (size_t)header->figure_count);
    const char *rows = payload + rg_journal_frame_size(header);
    const char *count = rows - 8 * kinds_of_rows(header);
    for (int i = 0; i < RG_ROWS_COUNT; i++) {
        if (!rg_rows_has(header->rows, i))
            continue;
        frame.rows[i] = rows;
        frame.head.row_count[i] = get_u64(count);
        rows += frame.head.row_count[i] * rg_rows_size(i);
        count += 8;
    }
    return frame;
}

/* Whether a frame's block is as long as what it says it holds. */
static bool frame_fits(const rg_journal_header *header, uint64_t length, const char *payload) {
    uint64_t fixed = rg_journal_frame_size(header);
    if (length < fixed)
        return false;
    uint64_t left = length - fixed;
    const char *count = payload + fixed - 8 * kinds_of_rows(header);
    for (int i = 0; i < RG_ROWS_COUNT; i++) {
        if (!rg_rows_has(header->rows, i))
            continue;
        if (get_u64(count) > left / rg_rows_size(i))
            return false;
        left -= get_u64(count) * rg_rows_size(i);
        count += 8;
    }
    return left == 0;
}

/* The header of any version that there has been; false if it is none. */
static bool take_header(rg_journal *journal, const rg_journal_block *block, const char *payload) {
    rg_journal_header *header = &journal->header;
    if (block->type != RG_JOURNAL_HEADER || block->length < 32)
        return false;
    uint64_t version = get_u64(payload);
    if (version < 1 || version > journal_version || block->length != (version == 1 ? 32 : 48))
        return false;
    *header = (rg_journal_header){.version = version,
                                  .run_id = get_u64(payload + 8),
                                  .first_frame = get_u64(payload + 16),
                                  .body_count = get_u64(payload + 24)};
    if (version > 1) {
        header->figure_count = get_u64(payload + 32);
        header->rows = get_u64(payload + 40);
    }
    /* No machine holds so many; and sizes computed from them must not overflow. */
    journal->valid = header->body_count < UINT64_C(1) << 48 &&
                     header->figure_count < UINT64_C(1) << 32 &&
                     header->rows <= (version < 3 ? RG_ROWS_OF_FORMAT_2 : RG_ROWS_ALL);
    return journal->valid;
}

/* Reads the block at `offset` whole, prefix included, into the buffer. RG_FILE_DAMAGED: there is no
 * valid block. */
static rg_status read_whole_block(const rg_journal *journal, uint64_t offset, uint64_t file_size,
                                  rg_buffer *buffer) {
    char prefix[RG_JOURNAL_PREFIX];
    size_t got;
    if (rg_disk_read(&journal->file, prefix, sizeof prefix, offset, &got) || got < sizeof prefix ||
        get_u32(prefix) != block_magic)
        return RG_FILE_DAMAGED;
    uint64_t length = get_u64(prefix + 8), left = file_size - offset - RG_JOURNAL_PREFIX;
    if (left < RG_JOURNAL_CHECKSUM || length > left - RG_JOURNAL_CHECKSUM)
        return RG_FILE_DAMAGED;
    size_t size = (size_t)length + RG_JOURNAL_PREFIX + RG_JOURNAL_CHECKSUM;
    if (rg_array_reserve(&buffer->allocator, (void **)&buffer->data, &buffer->capacity, size, 1))
        return RG_OUT_OF_MEMORY;
    if (rg_disk_read(&journal->file, buffer->data, size, offset, &got) || got < size)
        return RG_FILE_DAMAGED;
    buffer->size = size - RG_JOURNAL_CHECKSUM;
    bool is_header = get_u32(buffer->data + 4) == RG_JOURNAL_HEADER;
    uint64_t checksum =
        checksum_of(is_header ? 0 : journal->header.run_id, offset, buffer->data, buffer->size);
    return checksum == get_u64(buffer->data + buffer->size) ? RG_OK : RG_FILE_DAMAGED;
}

/* Takes a valid block into account; false if it makes no sense at this place. */
static bool take_block(rg_journal *journal, const rg_journal_block *block, const char *payload) {
    const rg_journal_header *header = &journal->header;
    if (!journal->valid)
        return take_header(journal, block, payload);
    journal->ended = false;
    switch (block->type) {
    case RG_JOURNAL_FRAME:
        if (!frame_fits(header, block->length, payload) ||
            get_u64(payload) != header->first_frame + journal->frame_count)
            return false;
        journal->frames[journal->frame_count++] = block->offset; /* the scan made room */
        return true;
    case RG_JOURNAL_CHECKPOINT:
        journal->checkpoint = *block;
        journal->checkpoint_frames = journal->frame_count;
        return true;
    case RG_JOURNAL_END:
        if (block->length != 16)
            return false;
        journal->ended = true;
        journal->finished = get_u64(payload + 8) != 0;
        return true;
    default:
        return false;
    }
}

rg_status rg_journal_scan(rg_journal *journal, rg_disk_file file, const rg_allocator *allocator) {
    *journal = (rg_journal){.file = file};
    uint64_t size;
    if (rg_disk_size(&file, &size))
        return RG_OK;
    rg_buffer buffer = rg_buffer_make(allocator);
    rg_status status = RG_OK;
    while (size - journal->end >= RG_JOURNAL_PREFIX + RG_JOURNAL_CHECKSUM) {
        status = read_whole_block(journal, journal->end, size, &buffer);
        if (status == RG_OK)
            status = rg_array_grow(allocator, &journal->frames, &journal->frame_capacity,
                                   journal->frame_count + 1);
        if (status != RG_OK)
            break;
        rg_journal_block block = {(rg_journal_type)get_u32(buffer.data + 4), journal->end,
                                  buffer.size - RG_JOURNAL_PREFIX};
        if (!take_block(journal, &block, buffer.data + RG_JOURNAL_PREFIX))
            break;
        journal->end += buffer.size + RG_JOURNAL_CHECKSUM;
    }
    rg_buffer_free(&buffer);
    return status == RG_OUT_OF_MEMORY ? status : RG_OK;
}

void rg_journal_free(rg_journal *journal, const rg_allocator *allocator) {
    rg_disk_close(&journal->file);
    rg_release(allocator, journal->frames);
    *journal = (rg_journal){.file = {NULL, NULL, -1}};
}

rg_status rg_journal_read_block(const rg_journal *journal, uint64_t offset, rg_buffer *buffer,
                                const char **payload) {
    rg_status status = read_whole_block(journal, offset, journal->end, buffer);
    *payload = status == RG_OK ? buffer->data + RG_JOURNAL_PREFIX : NULL;
    return status;
}
