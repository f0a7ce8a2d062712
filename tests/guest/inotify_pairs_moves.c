/* inotify: both ends of a move have one cookie, and no two moves the same. */
#include "inotify.h"

static uint32_t
move_event(int in, int wd, uint32_t mask, const char *name)
{
    struct seen s = next_event(in);

    CHECK_EQ(s.mask, mask);
    CHECK_EQ(s.wd, wd);
    CHECK_STR(s.name, name);
    CHECK(s.cookie != 0);
    return s.cookie;
}

int
main(void)
{
    uint32_t first, second, mask = IN_MOVE | IN_CREATE | IN_MODIFY;
    int in, a, b, fd;

    OK(mkdir("a", 0755));
    OK(mkdir("b", 0755));
    write_to("a/f", "x", 0);
    OK(mkdir("a/d", 0755));
    in = OK(inotify_init1(IN_NONBLOCK));
    a = OK(inotify_add_watch(in, "a", mask));
    b = OK(inotify_add_watch(in, "b", mask));
    CHECK(a != b);
    fd = OK(open("a/f", O_WRONLY));
    OK(rename("a/f", "b/g"));
    first = move_event(in, a, IN_MOVED_FROM, "f");
    CHECK_EQ(move_event(in, b, IN_MOVED_TO, "g"), first);
    OK(rename("a/d", "b/d"));
    second = move_event(in, a, IN_MOVED_FROM | IN_ISDIR, "d");
    CHECK_EQ(move_event(in, b, IN_MOVED_TO | IN_ISDIR, "d"), second);
    CHECK(first != second);
    NO_EVENT(in);

    /* An open file is reported by its new name. */
    CHECK_EQ(write(fd, "y", 1), 1);
    EVENT(in, b, IN_MODIFY, "g");
    OK(close(fd));

    write_to("a/one", "1", 0);
    write_to("b/two", "2", 0);
    EVENT(in, a, IN_CREATE, "one");
    EVENT(in, a, IN_MODIFY, "one");
    EVENT(in, b, IN_CREATE, "two");
    EVENT(in, b, IN_MODIFY, "two");
    OK(syscall(SYS_renameat2, AT_FDCWD, "a/one", AT_FDCWD, "b/two",
               RENAME_EXCHANGE));
    first = move_event(in, a, IN_MOVED_FROM, "one");
    CHECK_EQ(move_event(in, b, IN_MOVED_TO, "two"), first);
    second = move_event(in, b, IN_MOVED_FROM, "two");
    CHECK_EQ(move_event(in, a, IN_MOVED_TO, "one"), second);
    NO_EVENT(in);
    return 0;
}
