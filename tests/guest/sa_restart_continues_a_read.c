/* read on an empty pipe: EINTR for a plain handler, not with SA_RESTART. */
#include "proc.h"

static int wfd;

static void
fill(int sig)
{
    caught[sig]++;
    if (caught[sig] == 3)
        say(wfd, 'x');
}

int
main(void)
{
    int p[2];
    char c;

    OK(pipe(p));
    wfd = p[1];
    handle(SIGALRM, note, 0);
    tick(10);
    CHECK_ERR(read(p[0], &c, 1), EINTR);
    tick(0);
    CHECK(caught[SIGALRM] >= 1);
    caught[SIGALRM] = 0;
    handle(SIGALRM, fill, SA_RESTART);
    tick(10);
    CHECK_EQ(read(p[0], &c, 1), 1); /* three handlers later */
    tick(0);
    CHECK_EQ(c, 'x');
    CHECK(caught[SIGALRM] >= 3);
    return 0;
}
