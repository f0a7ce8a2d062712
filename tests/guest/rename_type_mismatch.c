/* A file cannot replace a directory nor a directory anything else. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("f", "");
    OK(mkdir("d", 0755));
    OK(mkdir("e", 0755));
    OK(symlink("e", "l"));
    CHECK_ERR(rename("f", "d"), EISDIR);
    CHECK_ERR(rename("d", "f"), ENOTDIR);
    CHECK_ERR(rename("d", "l"), ENOTDIR);
    CHECK_ERR(rename("l", "d"), EISDIR);
    CHECK(exists("f") && exists("d") && exists("e") && exists("l"));

    OK(rename("f", "l")); /* over the link, not the directory behind it */
    CHECK(S_ISREG(stat_of("l").st_mode));
    CHECK(S_ISDIR(stat_of("e").st_mode));
    return 0;
}
