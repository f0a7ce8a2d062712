/* post: fork */
/* fork, exit, wait of a process the size of a shell: 512 KiB that it has
 * written to. */
#include "bench.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 512 << 10, FORKS = 20 };

static unsigned char data[BYTES];

static void
fork_and_wait(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(data[BYTES - 1] == 7 ? 3 : 4);
    NEED(pid > 0);
    NEED(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
}

static void
fork_often(void)
{
    for (int i = 0; i < FORKS; i++)
        fork_and_wait();
}

int
main(void)
{
    memset(data, 7, sizeof data);
    report("fork+exit+wait", best_ns(fork_often, FORKS) / 1000, "us");
    return 0;
}
