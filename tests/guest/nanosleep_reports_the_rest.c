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
    start = now_s();
    CHECK_ERR(nanosleep(&ten, &left), EINTR);
    double rest = (double)left.tv_sec + (double)left.tv_nsec / 1e9;
    CHECK(rest <= 10 && rest >= 9.99 - (now_s() - start));
    start = now_s(); /* sleep() returns the seconds left */
    rest = sleep(1000);
    CHECK(rest <= 1000 && rest >= 998.99 - (now_s() - start));
    tick(0);
    CHECK_EQ(usleep(1000), 0);
    return 0;
}
