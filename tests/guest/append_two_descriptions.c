/* Two descriptions with O_APPEND never overwrite each other; two without do. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    int a = OK(open("f", O_WRONLY | O_CREAT | O_APPEND, 0644));
    int b = OK(open("f", O_WRONLY | O_APPEND));
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(write(a, "aa", 2), 2);
        CHECK_EQ(write(b, "b", 1), 1);
    }
    CHECK_EQ(stat_of("f").st_size, 300);

    char buf[301];
    get("f", buf, sizeof buf);
    for (int i = 0; i < 300; i += 3)
        CHECK(memcmp(buf + i, "aab", 3) == 0);

    a = OK(open("g", O_WRONLY | O_CREAT, 0644));
    b = OK(open("g", O_WRONLY));
    CHECK_EQ(write(a, "first", 5), 5);
    CHECK_EQ(write(b, "2nd", 3), 3);
    CHECK_FILE("g", "2ndst");
    return 0;
}
