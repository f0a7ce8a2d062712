/* Files cannot be linked or renamed across mounts: EXDEV. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("f", "");
    OK(mkdir("d", 0755));
    CHECK_ERR(rename("f", "/proc/wasmsand-test"), EXDEV);
    CHECK_ERR(rename("d", "/proc/wasmsand-test"), EXDEV);
    CHECK_ERR(rename("none", "/proc/wasmsand-test"), EXDEV); /* not ENOENT */
    CHECK_ERR(link("f", "/proc/wasmsand-test"), ENOENT);     /* no new names */
    CHECK_ERR(link("/proc/version", "v"), EXDEV);
    CHECK_ERR(link("/proc/version", "f"), EEXIST);
    CHECK(stat_of("/proc").st_dev != stat_of(".").st_dev);
    return 0;
}
