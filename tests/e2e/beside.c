/* post: fork */
/* Copies a module, which then belongs to the guest, and runs the copy; kills it
 * as soon as it sleeps, which it does only while it is compiled. Prints how it
 * ended; for test_untrusted.py. */
#include "guest.h"

static char module[1 << 24];

/* As /proc/PID/stat has it. */
static char
state_of(pid_t pid)
{
    char path[40], text[200] = "";

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && close(fd) == 0);
    return strrchr(text, ')')[2];
}

int
main(int argc, char **argv)
{
    char *const args[] = {(char[]){"module"}, NULL};
    int status, in = open(argv[argc - 1], O_RDONLY);
    int out = open("/tmp/module", O_CREAT | O_WRONLY, 0700);
    ssize_t n = read(in, module, sizeof module);

    CHECK(n > 0 && write(out, module, (size_t)n) == n && close(out) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        execve("/tmp/module", args, environ);
        _exit(1);
    }
    while (!strchr("SZ", state_of(pid)))
        sched_yield();
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    printf("%s %d\n", WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return 0;
}
