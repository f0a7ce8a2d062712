/* /proc/self/cmdline and environ hold arguments and environment, each ended
 * by a zero byte. */
#include "guest.h"

int
main(int argc, char **argv)
{
    char buf[4096];

    if (argc > 1) {
        CHECK_EQ(get("/proc/self/cmdline", buf, sizeof buf), 14);
        CHECK(memcmp(buf, "child\0two w\303\266\0", 14) == 0);
        CHECK_STR(argv[1], "two w\303\266");
        size_t n = get("/proc/self/environ", buf, sizeof buf);
        CHECK(n > 0 && buf[n - 1] == 0);
        for (char *p = buf; p < buf + n; p += strlen(p) + 1)
            if (strcmp(p, "GUEST_TEST=some value") == 0)
                return 0;
        return 2;
    }
    OK(clearenv());
    OK(setenv("GUEST_TEST", "some value", 1));
    OK(setenv("OTHER", "", 1));
    CHECK_EQ(wait_exit(spawn_self("two w\303\266")), 0);
    return 0;
}
