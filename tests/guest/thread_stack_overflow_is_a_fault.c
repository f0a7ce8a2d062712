/* A thread that overflows its stack ends its process with SIGSEGV: if it
 * recurses without end, and if it comes back after it has written below its
 * stack. */
/* post: fork */
#include "thread.h"

#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int result[2]; /* a pipe: nothing may come through it */

/* Writes zeros in one case, and other bytes in the other. */
static int
recurse(uintptr_t until, int fill)
{
    volatile char frame[200];

    memset((char *)frame, fill, sizeof frame);
    if ((uintptr_t)frame < until)
        return frame[0];
    return recurse(until, fill) + frame[sizeof frame - 1];
}

static void *
without_end(void *arg)
{
    int n = recurse(0, (int)(intptr_t)arg);

    OK(write(result[1], &n, 1));
    return NULL;
}

/* The lowest address of the stack of this thread. */
static uintptr_t
stack_low(void)
{
    pthread_attr_t attr;
    size_t size;
    void *low;

    CHECK_EQ(pthread_getattr_np(pthread_self(), &attr), 0);
    CHECK_EQ(pthread_attr_getstack(&attr, &low, &size), 0);
    CHECK_EQ(pthread_attr_destroy(&attr), 0);
    return (uintptr_t)low;
}

static void *
and_back(void *arg)
{
    int n = recurse(stack_low(), (int)(intptr_t)arg);

    OK(write(result[1], &n, 1));
    return NULL;
}

/* Another thread runs all the time, so that time slices end in the recursion.
 */
static volatile int count;

static void *
spin(void *arg)
{
    (void)arg;
    for (;;)
        count++;
    return NULL;
}

static void
child(void *(*run)(void *), intptr_t fill)
{
    const struct rlimit none = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &none);
    thread_start(spin, NULL);
    thread_join(thread_start(run, (void *)fill));
    _exit(1);
}

static void
check_fault(void *(*run)(void *), intptr_t fill)
{
    int status;
    char byte;

    OK(pipe(result));
    pid_t pid = fork();
    OK(pid);
    if (pid == 0)
        child(run, fill);
    OK(close(result[1]));
    CHECK_EQ(read(result[0], &byte, 1), 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    OK(close(result[0]));
}

/* A stack that is used up to its last bytes is not an overflow. */
static void *
nearly_full(void *arg)
{
    (void)arg;
    recurse(stack_low() + 16384, 1);
    return NULL;
}

int
main(void)
{
    for (int i = 0; i < 100; i++)
        thread_join(thread_start(nearly_full, NULL));
    check_fault(without_end, 0);
    check_fault(without_end, 1);
    check_fault(and_back, 0);
    check_fault(and_back, 1);
    return 0;
}
