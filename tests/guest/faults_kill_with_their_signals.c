/* A wild pointer, a division by zero, a trap and endless recursion. */
#include "proc.h"

static volatile int zero, seven = 7;

static int
deeper(volatile char *above)
{
    volatile char here[1024];

    here[0] = above[0];
    return here[0] ? deeper(here) + here[0] : 0;
}

static void
fault(const char *how)
{
    volatile char *wild = (volatile char *)BAD_ADDR;

    if (strcmp(how, "wild") == 0)
        *wild = 1;
    if (strcmp(how, "divide") == 0)
        zero = seven / zero;
    if (strcmp(how, "trap") == 0)
        __builtin_trap();
    if (strcmp(how, "deep") == 0)
        zero = deeper((char[]){1});
}

int
main(int argc, char **argv)
{
    struct rlimit none = {0, 0}, stack;

    if (argc > 1) {
        fault(argv[1]);
        return 0;
    }
    OK(setrlimit(RLIMIT_CORE, &none));
    OK(getrlimit(RLIMIT_STACK, &stack)); /* it may be unlimited */
    if (stack.rlim_cur > 8 << 20)
        stack.rlim_cur = 8 << 20;
    OK(setrlimit(RLIMIT_STACK, &stack));
    CHECK_EQ(wait_killed(SPAWN("wild")), SIGSEGV);
    CHECK_EQ(wait_killed(SPAWN("divide")), SIGFPE);
    CHECK_EQ(wait_killed(SPAWN("trap")), SIGILL);
    CHECK_EQ(wait_killed(SPAWN("deep")), SIGSEGV);
    return 0;
}
