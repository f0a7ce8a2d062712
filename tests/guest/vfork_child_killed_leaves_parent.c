/* A vfork child that dies by a signal releases its parent unharmed. */
#include "proc.h"

int
main(void)
{
    static const int sigs[] = {SIGKILL, SIGTERM, SIGABRT};
    volatile int steps = 0;
    volatile unsigned i;
    pid_t pid;

    for (i = 0; i < 3; i++) {
        pid = OK(vfork());
        if (pid == 0) {
            steps++;
            kill(getpid(), sigs[i]);
            _exit(1);
        }
        CHECK_EQ(wait_killed(pid), sigs[i]);
    }
    CHECK_EQ(steps, 3);
    return 0;
}
