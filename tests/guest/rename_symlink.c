/* rename moves a symlink itself, dangling or not. */
#include "guest.h"

int
main(void)
{
    char buf[16];

    tmpdir();
    put("f", "x");
    OK(symlink("none", "dangling"));
    OK(rename("dangling", "d2"));
    CHECK(!exists("dangling"));
    CHECK_EQ(readlink("d2", buf, sizeof buf), 4);
    OK(symlink("f", "l"));
    OK(rename("l", "m"));
    CHECK(S_ISLNK(stat_of("m").st_mode));
    CHECK_FILE("f", "x");
    OK(rename("m", "f")); /* replaces its own target: now a loop */
    CHECK_ERR(open("f", O_RDONLY), ELOOP);
    return 0;
}
