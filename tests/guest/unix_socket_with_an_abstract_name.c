/* Names that begin with a zero byte need no file and vanish with the socket. */
#include "net.h"

int
main(void)
{
    char name[64];
    union addr a, b;
    socklen_t len, blen = sizeof b;
    int l, c, s;

    tmpdir();
    snprintf(name, sizeof name, "@wasmsand-test-%d", (int)getpid());
    len = unix_name(&a, name);
    l = OK(socket(AF_UNIX, SOCK_STREAM, 0));
    OK(bind(l, &a.sa, len));
    OK(listen(l, 1));
    CHECK_EQ(rmdir(guest_dir), 0); /* no file was made */
    OK(getsockname(l, &b.sa, &blen));
    CHECK_EQ(blen, len);
    CHECK(memcmp(&a, &b, len) == 0);
    c = OK(socket(AF_UNIX, SOCK_STREAM, 0));
    CHECK_ERR(connect(c, &a.sa, len - 1), ECONNREFUSED); /* length counts */
    OK(connect(c, &a.sa, len));
    s = OK(accept(l, NULL, NULL));
    say(c, 'x');
    CHECK_EQ(hear(s), 'x');
    OK(close(l));
    OK(close(c));
    OK(close(s));
    l = OK(socket(AF_UNIX, SOCK_STREAM, 0));
    OK(bind(l, &a.sa, len)); /* free again */
    c = OK(socket(AF_UNIX, SOCK_STREAM, 0));
    a.un.sun_family = AF_UNIX;
    OK(bind(c, &a.sa, sizeof(sa_family_t))); /* autobind */
    blen = sizeof b;
    OK(getsockname(c, &b.sa, &blen));
    CHECK_EQ(blen, sizeof(sa_family_t) + 6);
    CHECK_EQ(b.un.sun_path[0], 0);
    return 0;
}
