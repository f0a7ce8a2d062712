#include "base/blake2b.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

/* Hashes n bytes 0, 1, ... 250, 0, ... in pieces of `step` bytes. */
static bool
hash_is(size_t n, size_t step, const char *want)
{
    uint8_t hash[BLAKE2B_BYTES];
    char hex[2 * BLAKE2B_BYTES + 1];
    struct blake2b b;

    blake2b_init(&b);
    for (size_t at = 0; at < n; at += step) {
        uint8_t piece[128];
        size_t len = n - at < step ? n - at : step;
        for (size_t i = 0; i < len; i++)
            piece[i] = (uint8_t)((at + i) % 251);
        blake2b_add(&b, piece, len);
    }
    blake2b_end(&b, hash);
    for (size_t i = 0; i < sizeof hash; i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    return !strcmp(hex, want);
}

TEST(blake2b_of_nothing)
{
    CHECK(hash_is(0, 1,
                  "0e5751c026e543b2e8ab2eb06099daa1"
                  "d1e5df47778f7787faab45cdf12fe3a8"));
}

TEST(blake2b_of_exactly_one_block)
{
    CHECK(hash_is(128, 128,
                  "c3582f71ebb2be66fa5dd750f80baae9"
                  "7554f3b015663c8be377cfcb2488c1d1"));
}

TEST(blake2b_does_not_depend_on_the_pieces)
{
    for (size_t step = 1; step <= 128; step++)
        CHECK(hash_is(1000, step,
                      "b372d0608f720c8c3dd41e9c8eecb101"
                      "43b41abe520b616607e754bf79c08331"));
}

TEST(blake2b_of_bytes_in_one_call)
{
    uint8_t one[BLAKE2B_BYTES], pieces[BLAKE2B_BYTES];
    struct blake2b b;

    blake2b_init(&b);
    blake2b_add(&b, "some", 4);
    blake2b_add(&b, " bytes", 6);
    blake2b_end(&b, pieces);
    blake2b_hash("some bytes", 10, one);
    CHECK(!memcmp(one, pieces, sizeof one));
}
