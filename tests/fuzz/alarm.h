/* libFuzzer looks at its clock in SIGALRM, which must not end calls that wait:
 * for targets that make such calls, before the first one. */
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
