/* A child starts with its parent's umask and folder, and its own copies. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char cwd[512], want[512];

    if (argc > 1) {
        CHECK(getcwd(cwd, sizeof cwd) != NULL);
        CHECK_STR(cwd, argv[1]);
        put("from_child", "x"); /* relative */
        OK(chdir("/"));
        CHECK_EQ(umask(0), 027);
        return 0;
    }
    tmpdir();
    OK(mkdir("sub", 0755));
    OK(chdir("sub"));
    CHECK(getcwd(want, sizeof want) != NULL);
    umask(027);
    CHECK_EQ(wait_exit(SPAWN(want)), 0);
    CHECK_EQ(umask(027), 027);
    CHECK(getcwd(cwd, sizeof cwd) != NULL);
    CHECK_STR(cwd, want);
    CHECK_EQ(stat_of("from_child").st_mode & 07777, 0640);
    return 0;
}
