/* inotify: what happens to the names in a directory is reported with them. */
#include "inotify.h"

int
main(void)
{
    char buf[8];
    int in, w, fd;

    OK(mkdir("d", 0755));
    in = OK(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    CHECK_EQ(OK(fcntl(in, F_GETFD)), FD_CLOEXEC);
    w = OK(inotify_add_watch(in, "d", IN_ALL_EVENTS));
    NO_EVENT(in);

    write_to("d/f", "hello", 0);
    EVENT(in, w, IN_CREATE, "f");
    EVENT(in, w, IN_OPEN, "f");
    EVENT(in, w, IN_MODIFY, "f");
    EVENT(in, w, IN_CLOSE_WRITE, "f");
    NO_EVENT(in);

    fd = OK(open("d/f", O_RDONLY));
    CHECK_EQ(read(fd, buf, sizeof buf), 5);
    CHECK_EQ(read(fd, buf, sizeof buf), 0);
    OK(close(fd));
    EVENT(in, w, IN_OPEN, "f");
    EVENT(in, w, IN_ACCESS, "f");
    EVENT(in, w, IN_CLOSE_NOWRITE, "f");
    NO_EVENT(in);

    OK(chmod("d/f", 0600));
    OK(truncate("d/f", 2));
    EVENT(in, w, IN_ATTRIB, "f");
    EVENT(in, w, IN_MODIFY, "f");
    CHECK_EQ(inotify_add_watch(in, "d", IN_MODIFY), w);
    write_to("d/f", "", O_TRUNC);
    EVENT(in, w, IN_MODIFY, "f");
    CHECK_EQ(inotify_add_watch(in, "d", IN_ALL_EVENTS), w);
    NO_EVENT(in);

    OK(mkdir("d/sub", 0755));
    OK(symlink("f", "d/link"));
    OK(link("d/f", "d/hard"));
    OK(mkfifo("d/fifo", 0600));
    EVENT(in, w, IN_CREATE | IN_ISDIR, "sub");
    EVENT(in, w, IN_CREATE, "link");
    EVENT(in, w, IN_CREATE, "hard");
    EVENT(in, w, IN_CREATE, "fifo");
    NO_EVENT(in);

    OK(unlink("d/hard"));
    EVENT(in, w, IN_DELETE, "hard");
    OK(rmdir("d/sub"));
    EVENT(in, w, IN_DELETE | IN_ISDIR, "sub");
    OK(unlink("d/link"));
    EVENT(in, w, IN_DELETE, "link");
    NO_EVENT(in);
    return 0;
}
