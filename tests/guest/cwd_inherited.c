/* A child starts in its parent's directory; its chdir stays its own. */
#include "guest.h"

int
main(int argc, char **argv)
{
    char buf[300];

    if (argc > 1) {
        CHECK_STR(getcwd(buf, sizeof buf), argv[1]);
        OK(chdir("/"));
        return 0;
    }
    const char *dir = tmpdir();
    CHECK_EQ(wait_exit(spawn_self(dir)), 0);
    CHECK_STR(getcwd(buf, sizeof buf), dir);
    return 0;
}
