/* Paths have at most 4095 bytes; deeper places are reached step by step. */
#include "guest.h"

int
main(void)
{
    static char path[5000], buf[5000], name[201];
    struct stat st;

    tmpdir();
    put("f", "x");
    for (int i = 0; i < 4094; i += 2)
        memcpy(path + i, "./", 2);
    strcpy(path + 4094, "f");
    CHECK_EQ(strlen(path), 4095);
    CHECK_FILE(path, "x");
    strcpy(path + 4094, "/f");
    CHECK_ERR(stat(path, &st), ENAMETOOLONG);
    CHECK_ERR(open(path, O_RDONLY), ENAMETOOLONG);
    CHECK_ERR(symlink(path, "l"), ENAMETOOLONG);

    path[4095] = 0; /* a symlink may hold as much as a path */
    OK(symlink(path, "l"));
    CHECK_EQ(readlink("l", buf, sizeof buf), 4095);

    memset(name, 'n', 200);
    for (int i = 0; i < 30; i++) {
        OK(mkdir(name, 0755));
        OK(chdir(name));
    }
    put("deep", "y");
    CHECK_FILE("deep", "y");
    CHECK_ERR(syscall(SYS_getcwd, buf, sizeof buf), ENAMETOOLONG);
    return 0;
}
