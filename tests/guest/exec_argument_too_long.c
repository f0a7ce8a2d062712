/* A string of 128 KiB or more is E2BIG, one byte less is accepted. */
#include "proc.h"

#define MOST (131072 - 1) /* bytes without the final zero */

static char big[MOST + 2];

int
main(int argc, char **argv)
{
    char *args[] = {"child", big, NULL};
    char *env[] = {big, NULL};
    char *few[] = {"child", NULL};

    if (argc > 1) {
        CHECK_EQ(strlen(argv[1]), MOST);
        return 0;
    }
    memset(big, 'x', MOST + 1);
    CHECK_ERR(execve("/proc/self/exe", args, environ), E2BIG);
    CHECK_ERR(execve("/proc/self/exe", few, env), E2BIG);
    big[MOST] = 0;
    OK(execve("/proc/self/exe", args, environ));
    return 1;
}
