/* Paths do not leave the directory they are relative to. */
#include "raw.h"

static uint32_t dir, sub, fd, n;
static struct filestat st;
static char buf[16];

/* Every function on paths refuses this path. */
static void
refuses(const char *path)
{
    IS(open_in(sub, path, 0, R_READ, &fd), PERM);
    IS(open_in(sub, path, CREAT, R_READ, &fd), PERM);
    IS(path_create_directory(sub, S(path)), PERM);
    IS(path_filestat_get(sub, FOLLOW, S(path), P(&st)), PERM);
    IS(path_filestat_set_times(sub, FOLLOW, S(path), 0, 0, 2), PERM);
    IS(path_link(sub, 0, S(path), sub, S("x")), PERM);
    IS(path_link(sub, 0, S("in"), sub, S(path)), PERM);
    IS(path_readlink(sub, S(path), P(buf), 16, P(&n)), PERM);
    IS(path_remove_directory(sub, S(path)), PERM);
    IS(path_rename(sub, S(path), sub, S("x")), PERM);
    IS(path_rename(sub, S("in"), sub, S(path)), PERM);
    IS(path_symlink(S("in"), sub, S(path)), PERM);
    IS(path_unlink_file(sub, S(path)), PERM);
}

static void
test_links(void)
{
    OK(path_symlink(S("../outside"), sub, S("up")));
    OK(path_symlink(S("deep/../../outside"), sub, S("winding")));
    OK(path_symlink(S("deep/../in"), sub, S("fine")));
    OK(path_symlink(S(".."), sub, S("parent")));
    IS(open_in(sub, "up", 0, R_READ, &fd), PERM);
    IS(open_in(sub, "winding", 0, R_READ, &fd), PERM);
    IS(open_in(sub, "parent/outside", 0, R_READ, &fd), PERM);
    IS(open_in(sub, "parent", O_DIR, R_READ, &fd), PERM);
    IS(path_filestat_get(sub, FOLLOW, S("up"), P(&st)), PERM);
    OK(path_filestat_get(sub, 0, S("up"), P(&st)));
    OK(open_in(sub, "fine", 0, R_READ, &fd));
    OK(fd_close(fd));
    /* The same link seen from the parent stays inside. */
    OK(open_in(dir, "sub/up", 0, R_READ, &fd));
    OK(fd_close(fd));
}

static void
test_absolute_links(void)
{
    IS(path_symlink(S("/tmp/raw_escape/outside"), sub, S("abs")), PERM);
    OK(path_symlink(S("/tmp/raw_escape/outside"), 3,
                    S("tmp/raw_escape/sub/abs")));
    IS(open_in(sub, "abs", 0, R_READ, &fd), PERM);
    IS(open_in(dir, "sub/abs", 0, R_READ, &fd), PERM);
    /* Nothing is outside of the root. */
    OK(open_in(3, "tmp/raw_escape/sub/abs", 0, R_READ, &fd));
    OK(fd_close(fd));
}

int
main(void)
{
    dir = scratch("raw_escape");
    make_file(dir, "outside", "secret");
    OK(path_create_directory(dir, S("sub")));
    OK(open_in(dir, "sub", O_DIR, R_DIR, &sub));
    OK(path_create_directory(sub, S("deep")));
    make_file(sub, "in", "");
    refuses("../outside");
    refuses("/tmp/raw_escape/outside");
    refuses("/etc/passwd");
    refuses("./../outside");
    refuses("deep/../../outside");
    IS(open_in(sub, "..", O_DIR, R_READ, &fd), PERM);
    IS(open_in(sub, "deep/../..", O_DIR, R_READ, &fd), PERM);
    OK(open_in(sub, "deep/..", O_DIR, R_READ, &fd));
    OK(fd_close(fd));
    IS(open_in(3, "..", O_DIR, R_READ, &fd), PERM);
    IS(open_in(3, "/tmp", O_DIR, R_READ, &fd), PERM);
    IS(open_in(3, "/", O_DIR, R_READ, &fd), PERM);
    test_links();
    test_absolute_links();
    return failures != 0;
}
