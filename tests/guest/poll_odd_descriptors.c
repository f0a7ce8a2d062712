/* Closed, negative and regular descriptors in poll; counts and timeouts. */
#include "proc.h"

int
main(void)
{
    struct pollfd pf[5] = {{99, POLLIN, 0x55},
                           {-1, POLLIN, 0x55},
                           {-1, POLLIN | POLLOUT, 0},
                           {-1, POLLIN | POLLOUT, 0},
                           {-1, POLLIN, 0}};
    double start;
    int p[2];

    tmpdir();
    put("file", "");
    pf[2].fd = OK(open("file", O_RDWR));
    pf[3].fd = OK(open("/dev/null", O_RDWR));
    OK(pipe(p));
    pf[4].fd = p[0];
    CHECK_EQ(poll(pf, 5, -1), 3);
    CHECK_EQ(pf[0].revents, POLLNVAL);
    CHECK_EQ(pf[1].revents, 0);                /* negative: skipped, cleared */
    CHECK_EQ(pf[2].revents, POLLIN | POLLOUT); /* also at the end */
    CHECK_EQ(pf[3].revents, POLLIN | POLLOUT);
    CHECK_EQ(pf[4].revents, 0);
    start = now_s();
    CHECK_EQ(poll(pf + 4, 1, 30), 0);
    CHECK(now_s() - start >= 0.029);
    start = now_s();
    CHECK_EQ(poll(NULL, 0, 30), 0); /* a sleep */
    CHECK(now_s() - start >= 0.029);
    CHECK_EQ(poll(pf + 1, 1, 0), 0);
    CHECK_ERR(poll(BAD_ADDR, 1, 0), EFAULT);
    return 0;
}
