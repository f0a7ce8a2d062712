/* A blocking write that a handler interrupts reports what it had written. */
#include "proc.h"

static char big[1 << 20];

int
main(void)
{
    int p[2];
    ssize_t n;

    OK(pipe(p));
    handle(SIGALRM, note, 0);
    tick(20);
    n = OK(write(p[1], big, sizeof big));
    CHECK(n > 0 && n < (ssize_t)sizeof big);
    CHECK_ERR(write(p[1], big, 1), EINTR); /* full now: nothing written */
    tick(0);
    CHECK_EQ(OK(fcntl(p[0], F_SETFL, O_NONBLOCK)), 0);
    while (n > 0) {
        ssize_t r = OK(read(p[0], big, sizeof big));

        CHECK(r > 0 && r <= n);
        n -= r;
    }
    CHECK_ERR(read(p[0], big, 1), EAGAIN);
    return 0;
}
