/* UTIME_NOW sets the current time, UTIME_OMIT leaves a time, NULL means now
 * for both. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("f", "");
    struct timespec ts[2] = {{1111111111, 123456789}, {1222222222, 987654321}};
    OK(utimensat(AT_FDCWD, "f", ts, 0));
    struct stat st = stat_of("f");
    CHECK_EQ(st.st_atim.tv_sec, 1111111111);
    CHECK_EQ(st.st_atim.tv_nsec, 123456789);
    CHECK_EQ(st.st_mtim.tv_sec, 1222222222);
    CHECK_EQ(st.st_mtim.tv_nsec, 987654321);

    ts[0] = (struct timespec){5, UTIME_OMIT};
    ts[1] = (struct timespec){7, UTIME_NOW};
    OK(utimensat(AT_FDCWD, "f", ts, 0));
    st = stat_of("f");
    CHECK_EQ(st.st_atim.tv_sec, 1111111111);
    CHECK(st.st_mtim.tv_sec >= time(NULL) - 60);

    ts[0] = (struct timespec){4000000000, 0}; /* after 2038 */
    ts[1] = (struct timespec){0, UTIME_OMIT};
    OK(utimensat(AT_FDCWD, "f", ts, 0));
    CHECK_EQ(stat_of("f").st_atim.tv_sec, 4000000000);
    OK(utimensat(AT_FDCWD, "f", NULL, 0));
    st = stat_of("f");
    CHECK(st.st_atim.tv_sec < 4000000000);
    /* one reading of the clock */
    CHECK_EQ(st.st_atim.tv_nsec, st.st_ctim.tv_nsec);
    CHECK_EQ(st.st_mtim.tv_nsec, st.st_ctim.tv_nsec);

    ts[0] = ts[1] = (struct timespec){0, 1000000000};
    CHECK_ERR(utimensat(AT_FDCWD, "f", ts, 0), EINVAL);
    ts[0] = ts[1] = (struct timespec){0, -1};
    CHECK_ERR(utimensat(AT_FDCWD, "f", ts, 0), EINVAL);
    CHECK_ERR(utimensat(AT_FDCWD, "none", NULL, 0), ENOENT);
    CHECK_ERR(utimensat(AT_FDCWD, "f", NULL, 0x8000), EINVAL);
    return 0;
}
