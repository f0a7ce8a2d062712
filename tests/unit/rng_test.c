/* Random bytes. */
#include "kernel/rng.h"

#include "host/native.h"
#include "test.h"

#include <string.h>

TEST(rng_same_seed_gives_the_same_bytes)
{
    uint8_t a[100], b[100], c[100];
    struct rng r;

    rng_init(&r, &host_native, true, 42);
    rng_fill(&r, a, sizeof a);
    rng_init(&r, &host_native, true, 42);
    rng_fill(&r, b, sizeof b);
    rng_init(&r, &host_native, true, 43);
    rng_fill(&r, c, sizeof c);
    CHECK(!memcmp(a, b, sizeof a));
    CHECK(memcmp(a, c, sizeof a) != 0);
}

TEST(rng_seeded_goes_on)
{
    uint8_t a[16], b[16];
    struct rng r;

    rng_init(&r, &host_native, true, 0);
    rng_fill(&r, a, sizeof a);
    rng_fill(&r, b, sizeof b);
    CHECK(memcmp(a, b, sizeof a) != 0);
}

TEST(rng_of_the_host_differs_each_time)
{
    static uint8_t a[1000], b[1000];
    struct rng r;

    rng_init(&r, &host_native, false, 1);
    rng_fill(&r, a, sizeof a);
    rng_init(&r, &host_native, false, 1);
    rng_fill(&r, b, sizeof b);
    CHECK(memcmp(a, b, sizeof a) != 0);
    CHECK(memcmp(a + 980, b + 980, 20) != 0);
}

TEST(rng_gives_no_byte_of_the_host_twice)
{
    uint8_t all[40][8];
    struct rng r;

    rng_init(&r, &host_native, false, 1);
    for (int i = 0; i < 40; i++) {
        rng_fill(&r, all[i], sizeof all[i]);
        for (int j = 0; j < i; j++)
            CHECK(memcmp(all[i], all[j], sizeof all[i]) != 0);
        for (size_t j = r.left; j < sizeof r.pool; j++)
            CHECK_EQ(r.pool[j], 0); /* erased */
    }
}

TEST(rng_fills_exactly_what_was_asked)
{
    for (int seeded = 0; seeded < 2; seeded++)
        for (size_t len = 0; len <= 17; len++) {
            uint8_t buf[20];
            struct rng r;
            memset(buf, 0xee, sizeof buf);
            rng_init(&r, &host_native, seeded, 7);
            rng_fill(&r, buf, len);
            for (size_t i = len; i < sizeof buf; i++)
                CHECK_EQ(buf[i], 0xee);
        }
}
