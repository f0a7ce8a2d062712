/* The call `gettimeofday` tells the time of CLOCK_REALTIME. */
#include "guest.h"

int
main(void)
{
    struct timespec before, after;
    long tv[2]; /* the kernel's own timeval */

    OK(clock_gettime(CLOCK_REALTIME, &before));
    CHECK_EQ(syscall(SYS_gettimeofday, tv, NULL), 0);
    OK(clock_gettime(CLOCK_REALTIME, &after));
    CHECK(tv[0] >= before.tv_sec && tv[0] <= after.tv_sec);
    CHECK(tv[1] >= 0 && tv[1] < 1000000);
    CHECK_ERR(syscall(SYS_gettimeofday, BAD_ADDR, NULL), EFAULT);
    return 0;
}
