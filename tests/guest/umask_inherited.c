/* A child process starts with its parent's umask and cannot change the
 * parent's. */
#include "guest.h"

int
main(int argc, char **argv)
{
    if (argc > 1) {
        CHECK_STR(argv[1], "child");
        return umask(0) == 057 ? 0 : 1;
    }
    umask(057);
    CHECK_EQ(wait_exit(spawn_self("child")), 0);
    CHECK_EQ(umask(022), 057);
    return 0;
}
