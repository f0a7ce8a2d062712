/* A stopped group that loses its last link to the session gets HUP, CONT. */
#include "proc.h"

static int hup_fd;

static void
on_hup(int sig)
{
    (void)sig;
    say(hup_fd, 'h');
}

int
main(int argc, char **argv)
{
    posix_spawnattr_t at;
    char *args[] = {"child", "member", NULL, NULL};
    int p[2];
    pid_t pid;

    if (argc > 1 && strcmp(argv[1], "member") == 0) {
        hup_fd = atoi(argv[2]);
        handle(SIGHUP, on_hup, 0);
        raise(SIGSTOP);
        say(hup_fd, 'c'); /* continued, and the handler has run */
        return 0;
    }
    if (argc > 1) {
        OK(setsid());
        args[2] = argv[2];
        CHECK_EQ(posix_spawnattr_init(&at), 0);
        CHECK_EQ(posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP), 0);
        errno = posix_spawn(&pid, "/proc/self/exe", NULL, &at, args, environ);
        CHECK(errno == 0);
        CHECK_EQ(wait_stopped(pid), SIGSTOP);
        return 0; /* orphans the group of the stopped member */
    }
    report_pipe(p);
    pid = SPAWN("leader", num(p[1]));
    OK(close(p[1]));
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(hear(p[0]), 'h');
    CHECK_EQ(hear(p[0]), 'c');
    CHECK_EQ(hear(p[0]), -1);
    return 0;
}
