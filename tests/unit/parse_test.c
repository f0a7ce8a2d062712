#include "base/parse.h"

#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* This program runs in the C locale, in which strtod is right. */
TEST(doubles_are_those_of_strtod)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0",
        "-0.00e5",
        "1",
        "-1.5",
        "12.5e3",
        "0.1",
        "1e22",
        "9007199254740993",
        "9007199254740992.9999999999999999999999",
        "1E-5",
        "1e+308",
        "2e308",
        "-1e400",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "1.7976931348623157e308",
        "0.000000000000000000000000000000012345e+31",
        "1e99999999999999999999999999",
        "-1e-99999999999999999999999999",
        "0e99999999999999999999999999"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double got = parse_double(texts[i], strlen(texts[i]));
        double wanted = strtod(texts[i], NULL);
        CHECK(got == wanted && signbit(got) == signbit(wanted));
    }
    CHECK(parse_double("1.5e3,", 5) == 1500);
}

/* 1 + 2^-53 lies in the middle between two doubles: a digit at its end, however
 * far away, decides how it is rounded. */
TEST(doubles_are_rounded_by_all_their_digits)
{
    static const char middle[] =
        "1.00000000000000011102230246251565404236316680908203125";
    char text[2048];

    (void)snprintf(text, sizeof text, "%s%01500d", middle, 0);
    CHECK(parse_double(text, strlen(text)) == 1);
    (void)snprintf(text, sizeof text, "%s%01500d", middle, 1);
    CHECK(parse_double(text, strlen(text)) > 1);
    (void)snprintf(text, sizeof text, "1%01500de-1500", 0);
    CHECK(parse_double(text, strlen(text)) == 1);
    (void)snprintf(text, sizeof text, "0.%01500de1500", 7);
    CHECK(parse_double(text, strlen(text)) == 7);
}
