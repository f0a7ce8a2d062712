/* SPDX-License-Identifier: MIT */
/* setjmp and its kin: nested, repeated, through many frames, in loops. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include "check.h"

static jmp_buf outer, inner;

static int
deep(int n, int value)
{
    volatile char frame[100];

    frame[0] = (char)n;
    if (n < 0)
        return 0; /* never: the jump comes before */
    if (n == 0)
        longjmp(outer, value);
    return deep(n - 1, value) + frame[0];
}

static int
catch_at(int value)
{
    int got = setjmp(outer);

    if (got == 0)
        deep(50, value);
    return got;
}

static void
nested(void)
{
    volatile int steps = 0;

    if (setjmp(outer) == 0) {
        if (_setjmp(inner) == 0) {
            steps++;
            _longjmp(inner, 2);
        }
        steps++;
        longjmp(outer, 1);
    }
    CHECK(steps == 2);
}

static void
repeated(void)
{
    volatile int count = 0;
    int got = setjmp(inner);

    CHECK(got == count);
    count = count + 1;
    if (count < 100)
        longjmp(inner, count);
    CHECK(count == 100);
}

static void
with_mask(void)
{
    sigjmp_buf env;
    sigset_t set, now;
    volatile int turns = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigsetjmp(env, 1);
    sigprocmask(SIG_SETMASK, NULL, &now);
    CHECK(!sigismember(&now, SIGUSR1));
    sigprocmask(SIG_BLOCK, &set, NULL);
    turns = turns + 1;
    if (turns < 3)
        siglongjmp(env, 1);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int
main(void)
{
    for (int i = 1; i < 20; i++)
        CHECK(catch_at(i) == i);
    CHECK(catch_at(0) == 1); /* 0 becomes 1 */
    nested();
    repeated();
    with_mask();
    return 0;
}
