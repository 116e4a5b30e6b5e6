#include "test_support.h"

#include "base/base_hash.h"
#include "rigor/random.h"

#include <math.h>
#include <string.h>

static int bits_set(uint64_t word) {
    int count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
}

/* Flipping any bit of any word changes about half of the hash once another word has followed. */
static void test_every_bit_counts(void **state) {
    (void)state;
    enum { WORDS = 8 };
    rg_random random = rg_random_make(1);
    double total = 0, flips = 0;
    for (int round = 0; round < 50; round++) {
        uint64_t words[WORDS];
        for (int i = 0; i < WORDS; i++)
            words[i] = rg_random_next(&random);
        uint64_t plain = rg_hash_bytes(rg_hash_begin(), words, sizeof words);
        for (int i = 0; i < WORDS; i++)
            for (int bit = 0; bit < 64; bit++) {
                words[i] ^= UINT64_C(1) << bit;
                uint64_t other = rg_hash_bytes(rg_hash_begin(), words, sizeof words);
                words[i] ^= UINT64_C(1) << bit;
                int changed = bits_set(plain ^ other);
                assert_true(changed > 0);
                if (i + 1 < WORDS) {
                    assert_in_range(changed, 8, 56);
                    total += changed;
                    flips++;
                }
            }
    }
    assert_near(total / flips, 32, 0.5);
}

static void test_doubles(void **state) {
    (void)state;
    double zero = 0, minus_zero = -0.0;
    assert_true(rg_hash_doubles(1, &zero, 1) != rg_hash_doubles(1, &minus_zero, 1));
    double pair[2] = {1, 2}, swapped[2] = {2, 1}, close[2] = {1, nextafter(2, 3)};
    uint64_t hash = rg_hash_doubles(rg_hash_begin(), pair, 2);
    assert_true(hash != rg_hash_doubles(rg_hash_begin(), swapped, 2));
    assert_true(hash != rg_hash_doubles(rg_hash_begin(), close, 2));
    assert_true(hash == rg_hash_doubles(rg_hash_doubles(rg_hash_begin(), pair, 1), pair + 1, 1));
    assert_true(rg_hash_doubles(5, NULL, 0) == 5);
    uint64_t nans[2] = {UINT64_C(0x7FF8000000000000), UINT64_C(0x7FF8000000000001)};
    double values[2];
    memcpy(values, nans, sizeof nans);
    assert_true(rg_hash_doubles(1, values, 1) != rg_hash_doubles(1, values + 1, 1));
}

static void test_bytes(void **state) {
    (void)state;
    unsigned char zeros[40] = {0}, shifted[41];
    uint64_t hashes[41];
    for (size_t size = 0; size <= 40; size++) { /* the number of zero bytes counts */
        hashes[size] = rg_hash_bytes(rg_hash_begin(), zeros, size);
        for (size_t other = 0; other < size; other++)
            assert_true(hashes[other] != hashes[size]);
    }
    for (int i = 0; i < 40; i++)
        zeros[i] = (unsigned char)(i * 7);
    memcpy(shifted + 1, zeros, 40); /* alignment does not */
    for (size_t size = 0; size <= 40; size++)
        assert_true(rg_hash_bytes(9, zeros, size) == rg_hash_bytes(9, shifted + 1, size));
}

/* Many short, similar inputs: no two alike (the chance of one by accident is 1e-9). */
static int compare_words(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_no_collisions(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    uint64_t *hashes = malloc(COUNT * sizeof *hashes);
    for (uint32_t i = 0; i < COUNT; i++) {
        double values[3] = {i % 100, (double)(i / 100 % 100), (double)(i / 10000)};
        hashes[i] = rg_hash_doubles(rg_hash_begin(), values, 3);
    }
    qsort(hashes, COUNT, sizeof *hashes, compare_words);
    for (uint32_t i = 1; i < COUNT; i++)
        assert_true(hashes[i] != hashes[i - 1]);
    free(hashes);
}

/* Recordings keep these numbers: they must never change. */
static void test_golden(void **state) {
    (void)state;
    double values[2] = {1.5, -2};
    uint64_t got[3] = {rg_hash_u64(rg_hash_begin(), 0), rg_hash_doubles(rg_hash_begin(), values, 2),
                       rg_hash_bytes(rg_hash_begin(), "rigid bodies", 12)};
    const uint64_t expected[3] = {UINT64_C(0xD34402EBBBC786D6), UINT64_C(0x7D55A8D4F955B505),
                                  UINT64_C(0x923455FF8399BB49)};
    for (int i = 0; i < 3; i++)
        if (got[i] != expected[i])
            fail_msg("hash %d is 0x%016llX", i, (unsigned long long)got[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit_counts),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_no_collisions),
        cmocka_unit_test(test_golden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
