/* post: fork */
/* Runs copies of files, which then belong to the guest: each argument is copied
 * to /tmp, made executable and run; for test_untrusted.py.
 *
 * A line for each: "NAME: status S" or "NAME: ERRNO", and the milliseconds. */
#include "guest.h"

static void
copy(const char *from, const char *to)
{
    static char buf[1 << 16];
    int in = open(from, O_RDONLY), out = open(to, O_CREAT | O_WRONLY, 0700);
    ssize_t n;

    CHECK(in >= 0 && out >= 0);
    while ((n = read(in, buf, sizeof buf)) > 0)
        CHECK(write(out, buf, (size_t)n) == n);
    CHECK(n == 0 && close(in) == 0 && close(out) == 0);
}

static long
now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (long)(ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

/* The child says through the pipe why it could not become the program. */
static int
run(char *path, int *ret_status)
{
    char *argv[] = {path, (char[]){"argument"}, NULL};
    int p[2], err = 0;

    CHECK(pipe2(p, O_CLOEXEC) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        execve(path, argv, environ);
        err = errno;
        (void)!write(p[1], &err, sizeof err);
        _exit(1);
    }
    close(p[1]);
    (void)!read(p[0], &err, sizeof err);
    close(p[0]);
    CHECK(waitpid(pid, ret_status, 0) == pid);
    return err;
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char path[300];
        int status;
        const char *name = strrchr(argv[i], '/') + 1;
        snprintf(path, sizeof path, "/tmp/%d-%s", i, name);
        copy(argv[i], path);
        long begin = now_ms();
        int err = run(path, &status);
        long ms = now_ms() - begin;
        if (err)
            dprintf(1, "%s: %s %ld\n", name, strerrorname(err), ms);
        else if (WIFSIGNALED(status))
            dprintf(1, "%s: signal %d %ld\n", name, WTERMSIG(status), ms);
        else
            dprintf(1, "%s: status %d %ld\n", name, WEXITSTATUS(status), ms);
    }
    return 0;
}
