/* Sums: see view_hash.h. */
#include "view_hash.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, WORDS = 8 };

static uint32_t turn(uint32_t x, int by) {
    return x >> by | x << (32 - by);
}

static void read_words(const unsigned char *bytes, uint32_t w[16]) {
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
               (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
}

static void add_block_256(uint32_t state[8], const unsigned char *bytes) {
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
    uint32_t w[64], s[8];
    read_words(bytes, w);
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t a = s[0], e = s[4];
        uint32_t t1 = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                      k[i] + w[i];
        uint32_t t2 =
            (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

static void add_block_1(uint32_t state[WORDS], const unsigned char *bytes) {
    static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80];
    read_words(bytes, w);
    for (int i = 16; i < 80; i++)
        w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 31);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 80; i++) {
        uint32_t f = i < 20              ? (b & c) | (~b & d)
                     : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
                                         : b ^ c ^ d;
        uint32_t next = turn(a, 27) + f + e + k[i / 20] + w[i];
        e = d;
        d = c;
        c = turn(b, 2);
        b = a;
        a = next;
    }
    const uint32_t sum[] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++)
        state[i] += sum[i];
}

/* The blocks of a text, the last one or two padded with its length. */
static void add_all(void (*add_block)(uint32_t *, const unsigned char *), uint32_t state[WORDS],
                    const void *bytes, size_t size, unsigned char *hash, int hash_size) {
    const unsigned char *at = bytes;
    size_t left = size;
    for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
        add_block(state, at);
    unsigned char end[2 * BLOCK] = {0};
    if (left > 0)
        memcpy(end, at, left);
    end[left] = 0x80;
    size_t padded = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    for (size_t i = 0; i < 8; i++)
        end[padded - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    for (size_t i = 0; i < padded; i += BLOCK)
        add_block(state, end + i);
    for (int i = 0; i < hash_size; i++)
        hash[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void view_sha256(const void *bytes, size_t size, unsigned char hash[VIEW_SHA256_BYTES]) {
    uint32_t state[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    add_all(add_block_256, state, bytes, size, hash, VIEW_SHA256_BYTES);
}

void view_sha1(const void *bytes, size_t size, unsigned char hash[VIEW_SHA1_BYTES]) {
    uint32_t state[WORDS] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    add_all(add_block_1, state, bytes, size, hash, VIEW_SHA1_BYTES);
}

void view_base64(const unsigned char *bytes, size_t size, char text[VIEW_BASE64_SIZE]) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    assert(size <= VIEW_SHA256_BYTES);
    size_t at = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            text[at++] = k > left ? '=' : digits[three >> (18 - 6 * k) & 63];
    }
    text[at] = '\0';
}
