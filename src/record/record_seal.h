/* The seal: checksums of FILE's bytes, after the end of what HDF5 knows of.
 *
 *   HDF5's own bytes | checksum u64 of each 64 KiB of them | mark, HDF5's bytes, blocks, checksum
 * of the table and of these numbers (u64 each)
 *
 * HDF5 checks its metadata and our chunks, but not everything, and it was not made to survive files
 * that lie: one bit turned over can crash the process that opens it. So no byte reaches it that has
 * not been compared with the seal. Blocks are checked when they are first read, so that opening a
 * large recording is quick. Readers that know nothing of this (h5py) see a file with some bytes
 * after its end, which HDF5 allows.
 *
 * A file without a whole seal was truncated, or changed by another program, or is no recording. */
#ifndef RIGOR_RECORD_SEAL_H
#define RIGOR_RECORD_SEAL_H

#include "base/base_memory.h"
#include "record/record_disk.h"

typedef struct rg_seal {
    uint64_t content; /* bytes of HDF5's part */
    uint64_t block_count;
    uint64_t *checksums;
    unsigned char *checked; /* one a block */
    char *block;            /* room for one */
} rg_seal;

/* 0 or an errno; EBADMSG: there is no seal, or it is broken. */
int rg_seal_read(rg_seal *seal, const rg_disk_file *file, const rg_allocator *allocator);
void rg_seal_free(rg_seal *seal, const rg_allocator *allocator);
/* Compares the blocks that these bytes lie in: 0, or an errno; EBADMSG: they are damaged. */
int rg_seal_check(rg_seal *seal, const rg_disk_file *file, uint64_t offset, uint64_t size);
/* HDF5's part to an empty file, every block compared. */
int rg_seal_copy(rg_seal *seal, const rg_disk_file *from, rg_disk_file *to);
/* Seals a file that HDF5 has just closed: 0 or an errno. */
int rg_seal_write(rg_disk_file *file, const rg_allocator *allocator);

#endif
