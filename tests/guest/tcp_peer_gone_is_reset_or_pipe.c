/* Writing to a closed peer fails with EPIPE or ECONNRESET, with SIGPIPE. */
#include "net.h"

int
main(void)
{
    struct linger hard = {1, 0};
    double end = now_s() + 60;
    struct sockaddr_storage name;
    socklen_t len = sizeof name;
    ssize_t r;
    int s[2];
    char c;

    handle(SIGPIPE, note, 0);
    tcp_pair(s);
    OK(close(s[1]));
    CHECK_EQ(hear(s[0]), -1);
    do { /* the first write may still be accepted */
        CHECK(now_s() < end);
        r = write(s[0], "x", 1);
    } while (r == 1);
    CHECK(errno == EPIPE || errno == ECONNRESET);
    r = write(s[0], "x", 1);
    CHECK(r == -1 && errno == EPIPE);
    CHECK(caught[SIGPIPE] >= 1);

    tcp_pair(s);
    OK(setsockopt(s[1], SOL_SOCKET, SO_LINGER, &hard, sizeof hard));
    OK(close(s[1])); /* an abort */
    CHECK_ERR(read(s[0], &c, 1), ECONNRESET);
    CHECK_EQ(hear(s[0]), -1); /* reported once */

    tcp_pair(s);
    say(s[0], 'x');
    CHECK_EQ(poll(&(struct pollfd){s[1], POLLIN, 0}, 1, -1), 1);
    OK(close(s[1])); /* with unread data: also an abort */
    CHECK_ERR(read(s[0], &c, 1), ECONNRESET);

    tcp_pair(s);
    say(s[1], 'x');
    OK(setsockopt(s[1], SOL_SOCKET, SO_LINGER, &hard, sizeof hard));
    OK(close(s[1])); /* an abort with data on the way */
    CHECK_EQ(poll(&(struct pollfd){s[0], 0, 0}, 1, -1), 1);
    CHECK_ERR(getpeername(s[0], (struct sockaddr *)&name, &len), ENOTCONN);
    CHECK_EQ(hear(s[0]), 'x');
    CHECK_ERR(read(s[0], &c, 1), ECONNRESET);
    return 0;
}
