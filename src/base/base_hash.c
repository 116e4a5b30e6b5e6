/* The state hash over bytes: words of eight, the last one filled up with zeros. */
#include "base/base_hash.h"

/* The size goes first, so that data and the same data with zero bytes behind it differ. */
uint64_t rg_hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    hash = rg_hash_u64(hash, size);
    uint64_t word;
    while (size >= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = rg_hash_u64(hash, word);
        bytes += sizeof word;
        size -= sizeof word;
    }
    if (size) {
        word = 0;
        memcpy(&word, bytes, size);
        hash = rg_hash_u64(hash, word);
    }
    return hash;
}
