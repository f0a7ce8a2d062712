/* A server child on an ephemeral port answers a client; names fit together. */
#include "net.h"

static int
server(int l)
{
    char buf[64];
    ssize_t n;
    int i, s;

    for (i = 0; i < 3; i++) {
        s = OK(accept(l, NULL, NULL));
        while ((n = OK(read(s, buf, sizeof buf))) > 0)
            CHECK_EQ(write(s, buf, (size_t)n), n);
        OK(close(s));
    }
    return 0;
}

int
main(int argc, char **argv)
{
    union addr me, peer;
    socklen_t len = sizeof me;
    char buf[64];
    int l, c, i, port;
    pid_t pid;

    if (argc > 1)
        return server(atoi(argv[1]));
    l = serve(AF_INET, SOCK_STREAM);
    port = port_of(l);
    pid = SPAWN(num(l));
    OK(close(l)); /* the child's copy listens on */
    for (i = 0; i < 3; i++) {
        c = dial(AF_INET, port);
        len = sizeof me;
        OK(getsockname(c, &me.sa, &len));
        CHECK_EQ(len, sizeof me.in);
        CHECK_EQ(me.in.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
        CHECK(me.in.sin_port != 0 && ntohs(me.in.sin_port) != port);
        len = sizeof peer;
        OK(getpeername(c, &peer.sa, &len));
        CHECK_EQ(ntohs(peer.in.sin_port), port);
        CHECK_EQ(write(c, "hello", 5), 5);
        CHECK_EQ(recv(c, buf, 5, MSG_WAITALL), 5);
        CHECK(memcmp(buf, "hello", 5) == 0);
        OK(shutdown(c, SHUT_WR));
        CHECK_EQ(hear(c), -1);
        OK(close(c));
    }
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}
