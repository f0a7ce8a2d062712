/* accept and recv: EINTR after a handler, or restarted with SA_RESTART. */
#include "net.h"

static int port, wfd;

static void
dial_in(int sig)
{
    if (++caught[sig] == 2)
        dial(AF_INET, port);
}

static void
send_in(int sig)
{
    if (++caught[sig] == 2)
        say(wfd, 'x');
}

int
main(void)
{
    int l = serve(AF_INET, SOCK_STREAM), s[2];
    char c;

    port = port_of(l);
    tcp_pair(s);
    wfd = s[0];
    handle(SIGALRM, note, 0);
    tick(10);
    CHECK_ERR(accept(l, NULL, NULL), EINTR);
    CHECK_ERR(recv(s[1], &c, 1, 0), EINTR);
    tick(0);
    caught[SIGALRM] = 0;
    handle(SIGALRM, dial_in, SA_RESTART);
    tick(10);
    OK(accept(l, NULL, NULL));
    tick(0);
    caught[SIGALRM] = 0;
    handle(SIGALRM, send_in, SA_RESTART);
    tick(10);
    CHECK_EQ(recv(s[1], &c, 1, 0), 1);
    tick(0);
    return 0;
}
