/* A handler that raises its own signal, which is not blocked, overflows the
 * stack and dies of it. */
#include "proc.h"

static int flags;

static void
again(int sig)
{
    for (;;)
        raise(sig);
}

static void
again_with_info(int sig, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    again(sig);
}

static int
endless(void)
{
    struct sigaction a = {.sa_flags = SA_NODEFER | flags};
    struct rlimit none = {0, 0};

    if (flags)
        a.sa_sigaction = again_with_info;
    else
        a.sa_handler = again;
    OK(setrlimit(RLIMIT_CORE, &none));
    OK(sigaction(SIGUSR1, &a, NULL));
    raise(SIGUSR1);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc > 1) {
        flags = atoi(argv[1]);
        return endless();
    }
    for (int i = 0; i < 2; i++) {
        int status = wait_status(SPAWN(num(i ? SA_SIGINFO : 0)));
        CHECK(WIFSIGNALED(status));
        CHECK_EQ(WTERMSIG(status), SIGSEGV);
    }
    return 0;
}
