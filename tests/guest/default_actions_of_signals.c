/* What each signal does to a process that never touched it. */
#include "proc.h"

static const int deadly[] = {
    SIGHUP,  SIGINT,  SIGQUIT,   SIGILL,  SIGTRAP, SIGABRT, SIGBUS,   SIGFPE,
    SIGKILL, SIGUSR1, SIGSEGV,   SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,  SIGXCPU,
    SIGXFSZ, SIGPROF, SIGVTALRM, SIGSYS,  SIGIO,   SIGPWR,  SIGSTKFLT};
static const int harmless[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT};

int
main(int argc, char **argv)
{
    struct rlimit none = {0, 0};
    unsigned i;

    (void)argv;
    if (argc > 1) {
        for (i = 0; i < sizeof harmless / sizeof *harmless; i++)
            OK(raise(harmless[i]));
        for (;;)
            pause();
    }
    OK(setrlimit(RLIMIT_CORE, &none));
    for (i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        pid_t pid = SPAWN("wait");

        OK(kill(pid, deadly[i]));
        CHECK_EQ(wait_killed(pid), deadly[i]);
    }
    pid_t pid = SPAWN("wait");
    OK(kill(pid, SIGRTMIN));
    CHECK_EQ(wait_killed(pid), SIGRTMIN);
    return 0;
}
