/* RENAME_EXCHANGE swaps two existing names of any kind. */
#include "guest.h"

static int
rename2(const char *from, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

int
main(void)
{
    tmpdir();
    put("a", "1");
    put("b", "2");
    OK(rename2("a", "b", RENAME_EXCHANGE));
    CHECK_FILE("a", "2");
    CHECK_FILE("b", "1");

    OK(mkdir("d", 0755));
    OK(mkdir("d/sub", 0755));
    put("d/sub/f", "3");
    OK(rename2("d/sub", "a", RENAME_EXCHANGE));
    CHECK_FILE("d/sub", "2");
    CHECK_FILE("a/f", "3");
    struct stat st;
    OK(stat("a/..", &st));
    CHECK_EQ(st.st_ino, stat_of(".").st_ino);
    if (stat_of("d").st_nlink != 1)
        CHECK_EQ(stat_of("d").st_nlink, 2);

    CHECK_ERR(rename2("a", "none", RENAME_EXCHANGE), ENOENT);
    CHECK_ERR(rename2("none", "a", RENAME_EXCHANGE), ENOENT);
    CHECK_ERR(rename2("a", "a/f", RENAME_EXCHANGE), EINVAL);
    CHECK_ERR(rename2("a/f", "a", RENAME_EXCHANGE), EINVAL);
    OK(rename2("b", "b", RENAME_EXCHANGE));
    CHECK_ERR(rename2("b", "c", RENAME_EXCHANGE | RENAME_NOREPLACE), EINVAL);
    CHECK_ERR(rename2("b", "c", 0x100), EINVAL);
    return 0;
}
