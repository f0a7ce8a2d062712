/* RENAME_NOREPLACE moves a file only to a name that is free. */
#include "guest.h"

static int
noreplace(const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to,
                        RENAME_NOREPLACE);
}

int
main(void)
{
    tmpdir();
    put("a", "1");
    put("b", "2");
    OK(mkdir("d", 0755));
    OK(symlink("none", "l"));
    CHECK_ERR(noreplace("a", "b"), EEXIST);
    CHECK_ERR(noreplace("a", "a"), EEXIST);
    CHECK_ERR(noreplace("a", "d"), EEXIST);
    CHECK_ERR(noreplace("a", "l"), EEXIST);
    CHECK_ERR(noreplace("a", "."), EEXIST);
    CHECK_ERR(noreplace("none", "b"), ENOENT);
    CHECK_FILE("b", "2");
    OK(noreplace("a", "c"));
    CHECK_FILE("c", "1");
    CHECK(!exists("a"));
    OK(noreplace("d", "e"));
    CHECK(S_ISDIR(stat_of("e").st_mode));
    return 0;
}
