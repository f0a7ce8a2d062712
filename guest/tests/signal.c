/* SPDX-License-Identifier: MIT */
/* Handlers: arguments, masks, longjmp out of them, interrupted calls. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include "check.h"

static volatile int seen, blocked_inside;
static siginfo_t info;
static sigjmp_buf back;

static void
plain(int sig)
{
    sigset_t now;

    sigprocmask(SIG_SETMASK, NULL, &now);
    blocked_inside = sigismember(&now, sig);
    seen = sig;
}

static void
with_info(int sig, siginfo_t *si, void *context)
{
    ucontext_t *uc = context;

    seen = sig;
    info = *si;
    CHECK(!sigismember(&uc->uc_sigmask, sig));
    sigaddset(&uc->uc_sigmask, SIGUSR2); /* stays blocked afterwards */
}

static void
jump(int sig)
{
    siglongjmp(back, sig);
}

static int
is_blocked(int sig)
{
    sigset_t now;

    sigprocmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, sig);
}

static void
handle(int sig, void (*handler)(int), int flags)
{
    struct sigaction sa;

    memset(&sa, 0, sizeof sa);
    sa.sa_handler = handler;
    sa.sa_flags = flags;
    CHECK(sigaction(sig, &sa, NULL) == 0);
}

static void
blocking(void)
{
    sigset_t set, pending;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    seen = 0;
    raise(SIGUSR1);
    CHECK(seen == 0);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
    CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
    CHECK(seen == SIGUSR1);
}

static void
siginfo(void)
{
    struct sigaction sa;
    sigset_t set;

    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = with_info;
    sa.sa_flags = SA_SIGINFO | SA_ONSTACK;
    CHECK(sigaction(SIGUSR1, &sa, NULL) == 0);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    CHECK(seen == SIGUSR1 && info.si_signo == SIGUSR1);
    CHECK(info.si_code == SI_USER && info.si_pid == getpid());
    CHECK(info.si_uid == getuid());
    CHECK(is_blocked(SIGUSR2) && !is_blocked(SIGUSR1));
    sigemptyset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
}

static void
alternate_stack(void)
{
    static char stack[65536];
    stack_t ss = {.ss_sp = stack, .ss_size = sizeof stack}, old;

    CHECK(sigaltstack(&ss, NULL) == 0);
    CHECK(sigaltstack(NULL, &old) == 0);
    CHECK(old.ss_sp == stack && old.ss_size == sizeof stack);
    ss.ss_size = 10;
    FAILS(sigaltstack(&ss, NULL), ENOMEM);
    ss.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&ss, NULL) == 0);
}

static void
jump_out(void)
{
    volatile int jumps = 0;

    handle(SIGUSR2, jump, 0);
    if (sigsetjmp(back, 1) == 0 || jumps < 3) {
        jumps++;
        raise(SIGUSR2);
        CHECK(!"no jump");
    }
    CHECK(jumps == 3 && !is_blocked(SIGUSR2));
}

static void
one_shot(void)
{
    struct sigaction sa;

    handle(SIGUSR1, plain, (int)SA_RESETHAND);
    raise(SIGUSR1);
    CHECK(sigaction(SIGUSR1, NULL, &sa) == 0 && sa.sa_handler == SIG_DFL);
    handle(SIGUSR1, plain, SA_NODEFER);
    raise(SIGUSR1);
    CHECK(seen == SIGUSR1 && !blocked_inside);
    CHECK(signal(SIGUSR1, SIG_IGN) == plain);
    raise(SIGUSR1);
}

int
main(void)
{
    handle(SIGUSR1, plain, 0);
    raise(SIGUSR1);
    CHECK(seen == SIGUSR1 && blocked_inside && !is_blocked(SIGUSR1));
    blocking();
    siginfo();
    alternate_stack();
    jump_out();
    one_shot();
    return 0;
}
