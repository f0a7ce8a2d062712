/* An eventfd holds at most 2^64-2: more blocks or is EAGAIN; poll knows. */
#include "proc.h"

#include <sys/eventfd.h>

static int efd;

static void
drain(int sig)
{
    uint64_t n;

    caught[sig]++;
    CHECK_EQ(read(efd, &n, 8), 8);
}

int
main(void)
{
    struct pollfd pf = {.events = POLLIN | POLLOUT};
    uint64_t most = UINT64_MAX - 1, n;

    efd = OK(eventfd(0, EFD_NONBLOCK));
    pf.fd = efd;
    CHECK_EQ(poll(&pf, 1, 0), 1);
    CHECK_EQ(pf.revents, POLLOUT);
    n = UINT64_MAX;
    CHECK_ERR(write(efd, &n, 8), EINVAL);
    CHECK_EQ(write(efd, &most, 8), 8);
    CHECK_EQ(poll(&pf, 1, 0), 1);
    CHECK_EQ(pf.revents, POLLIN);
    n = 1;
    CHECK_ERR(write(efd, &n, 8), EAGAIN);
    n = 0;
    CHECK_EQ(write(efd, &n, 8), 8);
    OK(fcntl(efd, F_SETFL, 0));
    handle(SIGALRM, drain, SA_RESTART);
    alarm(1);
    n = 5;
    CHECK_EQ(write(efd, &n, 8), 8); /* waits for the handler to make room */
    CHECK_EQ(caught[SIGALRM], 1);
    CHECK_EQ(read(efd, &n, 8), 8);
    CHECK_EQ(n, 5);
    return 0;
}
