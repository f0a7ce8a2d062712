/* Signals of a process that is about to execute another program. */
#ifndef BASE_OS_SIGNAL_H
#define BASE_OS_SIGNAL_H

#include <signal.h>
#include <stddef.h>

/* Gives every signal its default action and unblocks it. */
static inline void
os_signal_reset_all(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, &standard, NULL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

#endif
