/* The state hash: 64 bits over numbers, the same on every machine of the same byte order. Not
 * cryptographic; made to tell whether two runs agree in every bit. */
#ifndef RIGOR_BASE_HASH_H
#define RIGOR_BASE_HASH_H

#include "rigor/types.h"

#include <string.h>

static inline uint64_t rg_hash_begin(void) {
    return UINT64_C(0x243F6A8885A308D3); /* first bits of pi: nothing up the sleeve */
}

/* Multiply and fold: every input bit reaches every output bit after the next word. */
static inline uint64_t rg_hash_u64(uint64_t hash, uint64_t word) {
    hash ^= word;
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ (hash >> 29);
}

/* Bits of the numbers: 0 and -0 differ, and so do two different NaNs. */
static inline uint64_t rg_hash_doubles(uint64_t hash, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &values[i], sizeof word);
        hash = rg_hash_u64(hash, word);
    }
    return hash;
}

/* Any bytes, their number included. */
uint64_t rg_hash_bytes(uint64_t hash, const void *data, size_t size);

#endif
