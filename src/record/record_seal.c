/* Seals: see record_seal.h.
 * Tested by tests/record/test_recording.c. */
#include "record/record_seal.h"

#include "base/base_hash.h"

#include <errno.h>
#include <string.h>

enum { BLOCK = 1 << 16 };
static const uint64_t seal_mark = UINT64_C(0x31304C4145534752); /* "RGSEAL01", little-endian */

typedef struct seal_end {
    uint64_t mark, content, block_count, table_checksum, checksum; /* the last: of those before */
} seal_end;

static uint64_t checksum_of_end(const seal_end *end) {
    return rg_hash_bytes(rg_hash_begin(), end, offsetof(seal_end, checksum));
}

static uint64_t checksum_of_block(uint64_t number, const char *data, size_t size) {
    return rg_hash_bytes(rg_hash_u64(rg_hash_begin(), number), data, size);
}

static uint64_t blocks_of(uint64_t content) {
    return (content + BLOCK - 1) / BLOCK;
}

void rg_seal_free(rg_seal *seal, const rg_allocator *allocator) {
    rg_release(allocator, seal->checksums);
    rg_release(allocator, seal->checked);
    rg_release(allocator, seal->block);
    *seal = (rg_seal){0};
}

static bool end_is_valid(const seal_end *end, uint64_t file_size) {
    return end->mark == seal_mark && end->checksum == checksum_of_end(end) &&
           end->block_count == blocks_of(end->content) &&
           end->content < file_size && /* so that the sum below cannot overflow */
           end->content + 8 * end->block_count + sizeof *end == file_size;
}

static int read_table(rg_seal *seal, const rg_disk_file *file, const seal_end *end,
                      const rg_allocator *allocator) {
    seal->content = end->content;
    seal->block_count = end->block_count;
    seal->checksums = rg_allocate(allocator, (size_t)end->block_count, 8);
    seal->checked = rg_allocate_zeroed(allocator, (size_t)end->block_count, 1);
    seal->block = rg_allocate(allocator, BLOCK, 1);
    if (!seal->checksums || !seal->checked || !seal->block)
        return ENOMEM;
    size_t size = 8 * (size_t)end->block_count, got = 0;
    int failed = rg_disk_read(file, seal->checksums, size, end->content, &got);
    if (!failed && (got < size ||
                    rg_hash_bytes(rg_hash_begin(), seal->checksums, size) != end->table_checksum))
        failed = EBADMSG;
    return failed;
}

int rg_seal_read(rg_seal *seal, const rg_disk_file *file, const rg_allocator *allocator) {
    *seal = (rg_seal){0};
    seal_end end;
    uint64_t size = 0;
    size_t got = 0;
    int failed = rg_disk_size(file, &size);
    if (!failed && size < sizeof end)
        failed = EBADMSG;
    if (!failed)
        failed = rg_disk_read(file, &end, sizeof end, size - sizeof end, &got);
    if (!failed && (got < sizeof end || !end_is_valid(&end, size)))
        failed = EBADMSG;
    if (!failed)
        failed = read_table(seal, file, &end, allocator);
    if (failed)
        rg_seal_free(seal, allocator);
    return failed;
}

/* Reads block `number` into seal->block and compares it. */
static int read_block(rg_seal *seal, const rg_disk_file *file, uint64_t number, size_t *size) {
    uint64_t offset = number * BLOCK, left = seal->content - offset;
    *size = left < BLOCK ? (size_t)left : BLOCK;
    size_t got;
    int failed = rg_disk_read(file, seal->block, *size, offset, &got);
    if (failed)
        return failed;
    if (got < *size || checksum_of_block(number, seal->block, *size) != seal->checksums[number])
        return EBADMSG;
    seal->checked[number] = 1;
    return 0;
}

int rg_seal_check(rg_seal *seal, const rg_disk_file *file, uint64_t offset, uint64_t size) {
    if (size == 0)
        return 0;
    if (offset > seal->content || size > seal->content - offset)
        return EBADMSG;
    for (uint64_t i = offset / BLOCK; i <= (offset + size - 1) / BLOCK; i++) {
        size_t got;
        int failed = seal->checked[i] ? 0 : read_block(seal, file, i, &got);
        if (failed)
            return failed;
    }
    return 0;
}

int rg_seal_copy(rg_seal *seal, const rg_disk_file *from, rg_disk_file *to) {
    for (uint64_t i = 0; i < seal->block_count; i++) {
        size_t size;
        int failed = read_block(seal, from, i, &size);
        if (!failed)
            failed = rg_disk_write(to, seal->block, size, i * BLOCK);
        if (failed)
            return failed;
    }
    return 0;
}

int rg_seal_write(rg_disk_file *file, const rg_allocator *allocator) {
    seal_end end = {.mark = seal_mark};
    int failed = rg_disk_size(file, &end.content);
    if (failed)
        return failed;
    end.block_count = blocks_of(end.content);
    uint64_t *table = rg_allocate(allocator, (size_t)end.block_count, 8);
    char *block = rg_allocate(allocator, BLOCK, 1);
    if (!table || !block)
        failed = ENOMEM;
    for (uint64_t i = 0; !failed && i < end.block_count; i++) {
        size_t got = 0;
        failed = rg_disk_read(file, block, BLOCK, i * BLOCK, &got);
        if (!failed)
            table[i] = checksum_of_block(i, block, got);
    }
    if (!failed) {
        size_t size = 8 * (size_t)end.block_count;
        end.table_checksum = rg_hash_bytes(rg_hash_begin(), table, size);
        end.checksum = checksum_of_end(&end);
        failed = rg_disk_write(file, table, size, end.content);
        if (!failed)
            failed = rg_disk_write(file, &end, sizeof end, end.content + size);
    }
    rg_release(allocator, block);
    rg_release(allocator, table);
    return failed;
}
