/* A handler ends nanosleep with EINTR and the time left, SA_RESTART or not. */
#include "proc.h"

int
main(void)
{
    struct timespec ten = {10, 0}, left = {0, 0}, bad = {0, 1000000000};
    struct timespec some = ms_time(30), neg = {-1, 0};
    double start = now_s();

    OK(nanosleep(&some, &left));
    CHECK(now_s() - start >= 0.029);
    CHECK_EQ(left.tv_sec, 0); /* untouched when it was not interrupted */
    CHECK_ERR(nanosleep(&bad, NULL), EINVAL);
    CHECK_ERR(nanosleep(&neg, NULL), EINVAL);
    handle(SIGALRM, note, SA_RESTART);
    tick(50);
    CHECK_ERR(nanosleep(&ten, &left), EINTR);
    tick(0);
    CHECK(left.tv_sec == 9 && left.tv_nsec < 960000000);
    CHECK_EQ(usleep(1000), 0);
    alarm(1); /* sleep() returns the seconds left */
    CHECK(sleep(10) >= 8);
    return 0;
}
