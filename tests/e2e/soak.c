/* post: fork */
/* Makes and ends processes, and says how far it is after each tenth. */
#include "guest.h"

static void
say(long i, long n)
{
    if ((i + 1) % (n / 10) == 0)
        dprintf(1, "%ld\n", i + 1);
}

/* What a child does until it is killed. */
static void
live(int kind, const int p[2])
{
    static char buf[4096];
    char c;

    switch (kind) {
    case 0:
        for (volatile int i = 0;; i++)
            ;
    case 1:
        for (;;)
            pause();
    case 2:
        (void)!read(p[0], &c, 1);
        break;
    case 3:
        (void)__builtin_wasm_memory_grow(0, 64);
        for (;;)
            memset(buf, 1, sizeof buf);
    default:
        for (;;)
            (void)getppid();
    }
}

static int
kills(long n)
{
    int p[2], status;

    CHECK(pipe(p) == 0);
    for (long i = 0; i < n; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (!pid)
            live((int)(i % 5), p);
        if (i % 3)
            sched_yield();
        CHECK(kill(pid, SIGKILL) == 0);
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        say(i, n);
    }
    return 0;
}

static int
spawns(long n)
{
    char *const argv[] = {"soak", "exit", NULL};
    int status;
    pid_t pid;

    for (long i = 0; i < n; i++) {
        CHECK(posix_spawn(&pid, SELF, NULL, NULL, argv, environ) == 0);
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
        say(i, n);
    }
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "kills"))
        return kills(atol(argv[2]));
    if (argc > 2 && !strcmp(argv[1], "spawns"))
        return spawns(atol(argv[2]));
    return 3;
}
