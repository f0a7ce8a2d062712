/* timerfd: reads give the expirations since the last; absolute and relative. */
#include "proc.h"

#include <sys/timerfd.h>

int
main(void)
{
    struct itimerspec its = {{0, 10000000}, {0, 10000000}}, got;
    struct pollfd pf = {.events = POLLIN};
    double start = now_s();
    uint64_t n = 0;
    int fd;

    fd = OK(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    pf.fd = fd;
    CHECK_ERR(read(fd, &n, sizeof n), EAGAIN);
    CHECK_EQ(poll(&pf, 1, 0), 0);
    OK(timerfd_settime(fd, 0, &its, NULL));
    sleep_ms(100);
    CHECK_EQ(poll(&pf, 1, -1), 1);
    CHECK_EQ(read(fd, &n, sizeof n), 8);
    CHECK(n >= 9 && n <= 1 + (now_s() - start) * 100);
    OK(timerfd_gettime(fd, &got));
    CHECK_EQ(got.it_interval.tv_nsec, 10000000);
    CHECK(got.it_value.tv_sec == 0 && got.it_value.tv_nsec <= 10000000);
    OK(fcntl(fd, F_SETFL, 0));
    CHECK_EQ(read(fd, &n, sizeof n), 8); /* blocks until the next one */
    CHECK(n >= 1);

    its = (struct itimerspec){{0, 0}, {0, 1}}; /* long past */
    OK(timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, &got));
    CHECK_EQ(got.it_interval.tv_nsec, 10000000);
    CHECK_EQ(read(fd, &n, sizeof n), 8);
    CHECK_EQ(n, 1);
    memset(&its, 0, sizeof its);
    OK(timerfd_settime(fd, 0, &its, NULL)); /* disarmed */
    CHECK_EQ(poll(&pf, 1, 20), 0);
    CHECK_ERR(read(fd, &n, 7), EINVAL);
    CHECK_ERR(timerfd_create(77, 0), EINVAL);
    CHECK_ERR(timerfd_settime(0, 0, &its, NULL), EINVAL);
    its.it_value.tv_nsec = -1;
    CHECK_ERR(timerfd_settime(fd, 0, &its, NULL), EINVAL);
    return 0;
}
