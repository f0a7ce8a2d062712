/* strptime reads offsets from UTC, names of zones and seconds since 1970. */
#include "guest.h"

#define WHEN "2024-02-29 12:34:56"

static long
offset_of(const char *text)
{
    struct tm tm = {.tm_gmtoff = 77};
    char all[64];

    snprintf(all, sizeof all, "%s %s", WHEN, text);
    const char *end = strptime(all, "%Y-%m-%d %H:%M:%S %z", &tm);
    if (!end)
        return -1;
    CHECK_STR(end, "");
    CHECK_EQ(tm.tm_hour, 12);
    return tm.tm_gmtoff;
}

int
main(void)
{
    struct tm tm = {0};
    const char *end;

    CHECK_EQ(offset_of("+0000"), 0);
    CHECK_EQ(offset_of("+0130"), 5400);
    CHECK_EQ(offset_of("-0800"), -28800);
    CHECK_EQ(offset_of("+05:30"), 19800);
    CHECK_EQ(offset_of("-03"), -10800);
    CHECK_EQ(offset_of("Z"), 0);
    CHECK_EQ(offset_of("  +0100"), 3600);
    CHECK_EQ(offset_of("0100"), -1);
    CHECK_EQ(offset_of("+1"), -1);
    CHECK_EQ(offset_of("+123"), -1);
    CHECK_EQ(offset_of("+0160"), -1);
    CHECK_EQ(offset_of(""), -1);

    end = strptime("+0200 2024", "%z %Y", &tm);
    CHECK(end && !*end);
    CHECK_EQ(tm.tm_gmtoff, 7200);
    CHECK_EQ(tm.tm_year, 124);

    OK(setenv("TZ", "UTC", 1));
    tzset();
    end = strptime("86399 rest", "%s", &tm);
    CHECK(end != NULL);
    CHECK_STR(end, " rest");
    CHECK_EQ(tm.tm_year, 70);
    CHECK_EQ(tm.tm_hour, 23);
    CHECK_EQ(tm.tm_sec, 59);
    CHECK(strptime("x", "%s", &tm) == NULL);
    return 0;
}
