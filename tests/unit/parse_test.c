#include "base/parse.h"

#include "test.h"

TEST(a_number_has_digits_only_and_does_not_overflow)
{
    uint64_t n = 0;

    CHECK(parse_u64_text("0", UINT64_MAX, &n) && n == 0);
    CHECK(parse_u64_text("007", UINT64_MAX, &n) && n == 7);
    CHECK(parse_u64_text("18446744073709551615", UINT64_MAX, &n));
    CHECK(n == UINT64_MAX);
    n = 1;
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "0x1",
                                      "1.0",
                                      "18446744073709551616",
                                      "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!parse_u64_text(bad[i], UINT64_MAX, &n));
    CHECK(n == 1);
}

TEST(a_number_above_its_maximum_is_rejected)
{
    uint64_t n = 0;

    CHECK(parse_u64_text("10", 10, &n) && n == 10);
    CHECK(!parse_u64_text("11", 10, &n));
    CHECK(parse_u64("123", 2, 99, &n) && n == 12);
}
