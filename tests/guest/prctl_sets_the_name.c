/* PR_SET_NAME keeps 15 bytes, visible in /proc, not inherited by exec. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char name[32];

    (void)argv;
    OK(prctl(PR_GET_NAME, name));
    if (argc > 1)
        return strcmp(name, "twelve byte") == 0;
    OK(prctl(PR_SET_NAME, "a name that is too long"));
    OK(prctl(PR_GET_NAME, name));
    CHECK_STR(name, "a name that is ");
    OK(prctl(PR_SET_NAME, "twelve byte"));
    CHECK_FILE("/proc/self/comm", "twelve byte\n");
    CHECK_EQ(wait_exit(SPAWN("x")), 0);
    CHECK_ERR(prctl(0x7ffffff), EINVAL);
    return 0;
}
