/* Writing and truncating set mtime and ctime to now; reading and empty
 * writes leave them. */
#include "guest.h"

static const struct timespec old[2] = {{1000000000, 1}, {1000000000, 2}};

static int
is_now(struct timespec ts)
{
    return llabs((long long)ts.tv_sec - time(NULL)) < 60;
}

int
main(void)
{
    char c;

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    CHECK(is_now(stat_of("f").st_mtim));
    CHECK(is_now(stat_of("f").st_ctim));
    CHECK(is_now(stat_of("f").st_atim));

    OK(futimens(fd, old));
    CHECK(is_now(stat_of("f").st_ctim));
    CHECK_EQ(write(fd, "", 0), 0);
    CHECK_EQ(read(fd, &c, 1), 0);
    CHECK_EQ(stat_of("f").st_mtim.tv_sec, 1000000000);
    CHECK_EQ(stat_of("f").st_mtim.tv_nsec, 2);

    OK(futimens(fd, old));
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK(is_now(stat_of("f").st_mtim));
    CHECK_EQ(stat_of("f").st_atim.tv_nsec, 1);

    OK(futimens(fd, old));
    OK(ftruncate(fd, 100));
    CHECK(is_now(stat_of("f").st_mtim));

    OK(futimens(fd, old));
    OK(open("f", O_WRONLY | O_TRUNC));
    CHECK(is_now(stat_of("f").st_mtim));
    return 0;
}
