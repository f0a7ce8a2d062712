/* Writing to a pipe without readers kills a process that does nothing about
 * SIGPIPE. */
#include "guest.h"

#include <signal.h>

int
main(int argc, char **argv)
{
    int fds[2], status;

    if (argc > 1) {
        CHECK_STR(argv[1], "writer");
        (void)!write(10, "x", 1);
        return 0; /* not reached */
    }
    signal(SIGPIPE, SIG_DFL);
    OK(pipe2(fds, O_CLOEXEC));
    CHECK_EQ(dup2(fds[1], 10), 10);
    OK(close(fds[0]));
    pid_t pid = spawn_self("writer");
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGPIPE);
    return 0;
}
