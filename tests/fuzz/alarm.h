/* libFuzzer checks its clock in a handler of SIGALRM, which must not interrupt
 * calls that wait. Targets that make such calls call this before the first
 * one. */
#ifndef FUZZ_ALARM_H
#define FUZZ_ALARM_H

#include <signal.h>
#include <stdlib.h>

static inline void
alarm_restarts_calls(void)
{
    struct sigaction a;

    if (sigaction(SIGALRM, NULL, &a) < 0)
        abort();
    a.sa_flags |= SA_RESTART;
    if (sigaction(SIGALRM, &a, NULL) < 0)
        abort();
}

#endif
