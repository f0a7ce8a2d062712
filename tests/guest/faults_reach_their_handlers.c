/* post: fork */
/* A program that causes SIGSEGV, SIGFPE or SIGILL can handle it: report and
 * exit, also after its stack has overflowed, on the alternate stack. The
 * address of the access is known. */
#include "proc.h"
#include "thread.h"

enum { NEAR = 65536 };

static char alternate[65536];
static uintptr_t expected; /* address of the access, 0: any */
static uintptr_t tolerance;

static void
handler(int sig, siginfo_t *info, void *context)
{
    volatile char here;

    if (info->si_signo != sig || info->si_code <= 0 || !context)
        _exit(1);
    if (expected &&
        (uintptr_t)info->si_addr - expected + tolerance > 2 * tolerance)
        _exit(3);
    int is_on = &here >= alternate && &here < alternate + sizeof alternate;
    _exit(is_on ? 64 + sig : 32 + sig);
}

static void catch (int sig, int flags)
{
    struct sigaction sa = {.sa_sigaction = handler,
                           .sa_flags = SA_SIGINFO | flags};

    OK(sigaction(sig, &sa, NULL));
}

static void
use_alternate(void)
{
    stack_t ss = {.ss_sp = alternate, .ss_size = sizeof alternate};

    OK(sigaltstack(&ss, NULL));
}

static void
bad_access(void)
{
    expected = (uintptr_t)BAD_ADDR + 100;
    *(volatile char *)expected = 1;
}

static void
divide(void)
{
    volatile int zero = 0, one = 1;

    zero = one / zero;
}

static void
illegal(void)
{
    __builtin_trap();
}

static int
recurse(volatile char *above)
{
    volatile char frame[1024];

    frame[0] = above ? above[0] + 1 : 0;
    return recurse(frame) + frame[0];
}

static void
overflow(void)
{
    recurse(NULL);
}

static void *
thread(void *mistake)
{
    pthread_attr_t attr;
    void *low;
    size_t size;

    use_alternate();
    CHECK_EQ(pthread_getattr_np(pthread_self(), &attr), 0);
    CHECK_EQ(pthread_attr_getstack(&attr, &low, &size), 0);
    expected = (uintptr_t)low;
    tolerance = NEAR;
    ((void (*)(void))mistake)();
    return NULL;
}

static void
in_a_thread(void)
{
    thread_join(thread_start(thread, (void *)overflow));
}

/* The status of a child that makes a mistake with a handler for it. */
static int
status_of(void (*mistake)(void), int sig, int flags, int is_blocked)
{
    int status;
    pid_t pid = OK(fork());

    if (pid == 0) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, sig);
        catch (sig, flags);
        if (flags & SA_ONSTACK)
            use_alternate();
        if (is_blocked)
            sigprocmask(SIG_BLOCK, &set, NULL);
        mistake();
        _exit(2);
    }
    CHECK_EQ(OK(waitpid(pid, &status, 0)), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int
main(void)
{
    CHECK_EQ(status_of(bad_access, SIGSEGV, 0, 0), 32 + SIGSEGV);
    CHECK_EQ(status_of(bad_access, SIGSEGV, SA_ONSTACK, 0), 64 + SIGSEGV);
    CHECK_EQ(status_of(divide, SIGFPE, 0, 0), 32 + SIGFPE);
    CHECK_EQ(status_of(illegal, SIGILL, 0, 0), 32 + SIGILL);
    CHECK_EQ(status_of(bad_access, SIGSEGV, 0, 1), -SIGSEGV);
    CHECK_EQ(status_of(overflow, SIGSEGV, SA_ONSTACK, 0), 64 + SIGSEGV);
    CHECK_EQ(status_of(overflow, SIGSEGV, 0, 0), -SIGSEGV);
    CHECK_EQ(status_of(in_a_thread, SIGSEGV, SA_ONSTACK, 0), 64 + SIGSEGV);
    return 0;
}
