/* waitpid fails with EINTR for a plain handler, goes on with SA_RESTART. */
#include "proc.h"

static int wfd;

static void
release(int sig)
{
    caught[sig]++;
    say(wfd, 'x');
}

int
main(int argc, char **argv)
{
    int p[2], st;
    pid_t pid;

    if (argc > 1)
        return hear(atoi(argv[1])) == 'x' ? 3 : 1;
    OK(pipe(p));
    keep_private(p[1]);
    wfd = p[1];
    pid = SPAWN(num(p[0]));
    handle(SIGALRM, note, 0);
    tick(10);
    CHECK_ERR(waitpid(pid, &st, 0), EINTR);
    tick(0);
    handle(SIGALRM, release, SA_RESTART); /* the handler lets the child end */
    tick(10);
    CHECK_EQ(OK(waitpid(pid, &st, 0)), pid);
    tick(0);
    CHECK_EQ(WEXITSTATUS(st), 3);
    return 0;
}
