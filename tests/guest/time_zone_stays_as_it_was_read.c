/* A time zone is read once: a later change of its file changes nothing. */
#include "guest.h"

/* A zone of version 2: an empty part with times of 32 bits, and one with a
 * single type of local time, `minutes` east of Greenwich. */
static void
write_zone(int fd, int minutes)
{
    unsigned char zone[2 * 44 + 6 + 4] = "TZif2", *part = zone + 44;
    char rule[32];
    int seconds = minutes * 60;

    memcpy(part, "TZif2", 5);
    part[39] = 1; /* types */
    part[43] = 4; /* bytes of names */
    for (int i = 0; i < 4; i++)
        part[44 + i] = (unsigned char)(seconds >> (24 - 8 * i));
    memcpy(part + 50, "HER", 4);
    CHECK_EQ(pwrite(fd, zone, sizeof zone, 0), sizeof zone);
    int len = sprintf(rule, "\nHER-%02d:%02d\n", minutes / 60, minutes % 60);
    CHECK_EQ(pwrite(fd, rule, (size_t)len, sizeof zone), len);
}

static long
offset(void)
{
    time_t now = 1000000000;
    struct tm tm;

    CHECK(localtime_r(&now, &tm));
    return tm.tm_gmtoff;
}

int
main(void)
{
    char name[4096];

    tmpdir();
    int fd = OK(open("zone", O_RDWR | O_CREAT, 0600));
    write_zone(fd, 90);
    CHECK(getcwd(name + 1, sizeof name - 10));
    name[0] = ':';
    strcat(name, "/zone");
    OK(setenv("TZ", name, 1));
    tzset();
    CHECK_EQ(offset(), 5400);
    CHECK_STR(tzname[0], "HER");
    write_zone(fd, 30);
    CHECK_EQ(offset(), 5400);
    return 0;
}
