/* A file can have a thousand names and lives until the last is removed. */
#include "guest.h"

int
main(void)
{
    char name[32];

    tmpdir();
    put("f", "x");
    for (int i = 1; i < 1000; i++) {
        snprintf(name, sizeof name, "l%d", i);
        OK(link("f", name));
    }
    CHECK_EQ(stat_of("f").st_nlink, 1000);
    CHECK_EQ(stat_of("l999").st_ino, stat_of("f").st_ino);
    OK(unlink("f"));
    for (int i = 1; i < 999; i++) {
        snprintf(name, sizeof name, "l%d", i);
        OK(unlink(name));
    }
    CHECK_EQ(stat_of("l999").st_nlink, 1);
    CHECK_FILE("l999", "x");
    return 0;
}
