/* SETSIGMASK and SETSIGDEF of posix_spawn apply to the child alone. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char *args[] = {"child", "x", NULL};
    struct sigaction sa;
    posix_spawnattr_t at;
    sigset_t set;
    pid_t pid;

    (void)argv;
    if (argc > 1) {
        CHECK(is_blocked(SIGUSR2) && !is_blocked(SIGUSR1));
        OK(sigaction(SIGHUP, NULL, &sa));
        CHECK(sa.sa_handler == SIG_DFL);
        OK(sigaction(SIGTERM, NULL, &sa));
        CHECK(sa.sa_handler == SIG_IGN);
        return 0;
    }
    mask(SIG_BLOCK, SIGUSR1);
    handle(SIGHUP, SIG_IGN, 0);
    handle(SIGTERM, SIG_IGN, 0);
    CHECK_EQ(posix_spawnattr_init(&at), 0);
    set = set_of(SIGUSR2);
    CHECK_EQ(posix_spawnattr_setsigmask(&at, &set), 0);
    set = set_of(SIGHUP);
    CHECK_EQ(posix_spawnattr_setsigdefault(&at, &set), 0);
    CHECK_EQ(posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF),
             0);
    errno = posix_spawn(&pid, "/proc/self/exe", NULL, &at, args, environ);
    CHECK(errno == 0);
    CHECK_EQ(wait_exit(pid), 0);
    CHECK(is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));
    OK(sigaction(SIGHUP, NULL, &sa));
    CHECK(sa.sa_handler == SIG_IGN);
    return 0;
}
