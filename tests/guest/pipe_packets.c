/* A pipe made with O_DIRECT keeps writes apart: each read takes one packet,
 * and what does not fit is lost. */
#include "guest.h"

#include <limits.h>
#include <sys/uio.h>

int
main(void)
{
    static char buf[3 * PIPE_BUF];
    char head[2], rest[8] = "";
    struct iovec v[] = {{head, 2}, {rest, 8}};
    int p[2];

    OK(pipe2(p, O_DIRECT | O_NONBLOCK));
    CHECK_EQ(write(p[1], "abcdef", 6), 6);
    CHECK_EQ(write(p[1], "ghij", 4), 4);
    CHECK_EQ(write(p[1], "", 0), 0);
    CHECK_EQ(write(p[1], "kl", 2), 2);
    CHECK_EQ(read(p[0], buf, 3), 3);
    CHECK(memcmp(buf, "abc", 3) == 0);
    CHECK_EQ(readv(p[0], v, 2), 4);
    CHECK(memcmp(head, "gh", 2) == 0 && memcmp(rest, "ij", 3) == 0);
    CHECK_EQ(read(p[0], buf, sizeof buf), 2);
    CHECK_ERR(read(p[0], buf, sizeof buf), EAGAIN);

    CHECK_EQ(write(p[1], buf, PIPE_BUF + 10), PIPE_BUF + 10);
    CHECK_EQ(read(p[0], buf, sizeof buf), PIPE_BUF);
    CHECK_EQ(read(p[0], buf, sizeof buf), 10);
    OK(close(p[1]));
    CHECK_EQ(read(p[0], buf, sizeof buf), 0);
    return 0;
}
