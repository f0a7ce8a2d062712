/* rename between two links of one file does nothing and succeeds. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("a", "x");
    OK(link("a", "b"));
    OK(rename("a", "b"));
    CHECK(exists("a") && exists("b"));
    CHECK_EQ(stat_of("a").st_nlink, 2);
    OK(rename("./a", "a"));
    CHECK(exists("a"));
    CHECK_ERR(
        syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE),
        EEXIST);
    return 0;
}
