/* Making, removing and renaming entries sets the directory's mtime; writing
 * to a file in it does not. */
#include "guest.h"

static const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};

static int
changed(const char *dir)
{
    int is_old = stat_of(dir).st_mtim.tv_sec == 1000000000;

    OK(utimensat(AT_FDCWD, dir, old, 0));
    return !is_old;
}

int
main(void)
{
    tmpdir();
    OK(mkdir("d", 0755));
    OK(mkdir("e", 0755));
    CHECK(changed("d"));
    CHECK(changed("e"));
    put("d/f", "");
    CHECK(changed("d"));
    put("d/f", "more");
    OK(chmod("d/f", 0600));
    CHECK(!changed("d"));
    OK(mkdir("d/s", 0755));
    CHECK(changed("d"));
    OK(symlink("x", "d/l"));
    CHECK(changed("d"));
    OK(link("d/f", "e/f"));
    CHECK(!changed("d"));
    CHECK(changed("e"));
    OK(rename("d/f", "e/g"));
    CHECK(changed("d"));
    CHECK(changed("e"));
    OK(unlink("d/l"));
    CHECK(changed("d"));
    OK(rmdir("d/s"));
    CHECK(changed("d"));
    CHECK_ERR(unlink("d/none"), ENOENT);
    CHECK(!changed("d"));
    return 0;
}
