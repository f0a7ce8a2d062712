/* select: sets are rewritten, the count is of bits, nfds bounds the look. */
#include "proc.h"

#include <sys/select.h>

int
main(void)
{
    struct timeval tv = {0, 30000};
    fd_set r, w, e;
    double start;
    int p[2], q[2];

    OK(pipe(p));
    OK(pipe(q));
    say(q[1], 'x');
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_ZERO(&e);
    FD_SET(p[0], &r);
    FD_SET(q[0], &r);
    FD_SET(p[1], &w);
    FD_SET(p[0], &e);
    CHECK_EQ(select(q[1] + 1, &r, &w, &e, NULL), 2);
    CHECK(!FD_ISSET(p[0], &r) && FD_ISSET(q[0], &r));
    CHECK(FD_ISSET(p[1], &w) && !FD_ISSET(p[0], &e));
    FD_SET(p[0], &r);
    CHECK_EQ(select(q[0], &r, NULL, NULL, &tv), 0); /* q[0] not looked at */
    CHECK(!FD_ISSET(p[0], &r));

    tv.tv_usec = 30000;
    start = now_s();
    CHECK_EQ(select(0, NULL, NULL, NULL, &tv), 0);
    CHECK(now_s() - start >= 0.029);
    tv.tv_usec = 0;
    OK(close(p[1]));
    FD_ZERO(&r);
    FD_SET(p[0], &r);
    CHECK_EQ(select(p[0] + 1, &r, NULL, NULL, &tv), 1); /* end of file */
    OK(close(p[0]));
    CHECK_ERR(select(p[0] + 1, &r, NULL, NULL, &tv), EBADF);
    CHECK_ERR(select(-1, NULL, NULL, NULL, &tv), EINVAL);
    tv.tv_sec = -1;
    CHECK_ERR(select(0, NULL, NULL, NULL, &tv), EINVAL);
    return 0;
}
