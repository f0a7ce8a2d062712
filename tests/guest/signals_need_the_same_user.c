/* user: root */
/* post: fork */
/* A process may be signalled by root and by its own user; all of its session
 * may continue it. */
#include "proc.h"

enum { ID = 1234, OTHER = 4321 };

/* A process of that user, which it is when this returns. */
static pid_t
waiting_child(uid_t uid)
{
    int fds[2];
    char c;

    OK(pipe(fds));
    pid_t pid = OK(fork());
    if (pid == 0) {
        OK(setuid(uid));
        CHECK_EQ(write(fds[1], "", 1), 1);
        for (;;)
            pause();
    }
    CHECK_EQ(read(fds[0], &c, 1), 1);
    OK(close(fds[0]));
    OK(close(fds[1]));
    return pid;
}

static int
killer(uid_t uid, pid_t other, pid_t own)
{
    OK(setuid(uid));
    CHECK_ERR(kill(other, SIGTERM), EPERM);
    OK(kill(other, SIGCONT));
    OK(kill(own, SIGTERM));
    return 0;
}

int
main(void)
{
    CHECK_EQ(geteuid(), 0);
    pid_t other = waiting_child(OTHER), own = waiting_child(ID);
    pid_t pid = OK(fork());
    if (pid == 0)
        _exit(killer(ID, other, own));
    CHECK_EQ(wait_exit(pid), 0);
    int status;
    OK(waitpid(own, &status, 0));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    OK(kill(other, SIGKILL));
    OK(waitpid(other, &status, 0));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return 0;
}
