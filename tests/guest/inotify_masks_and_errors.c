/* inotify: masks are replaced, added to, used once; and what is refused. */
#include "inotify.h"

#include <sys/ioctl.h>

#ifndef IN_MASK_CREATE
#define IN_MASK_CREATE 0x10000000
#endif

int
main(void)
{
    char small[8];
    int in, w, fd, n;

    in = OK(inotify_init1(IN_NONBLOCK));
    write_to("f", "a", 0);
    OK(symlink("f", "link"));
    w = OK(inotify_add_watch(in, "f", IN_MODIFY));
    CHECK_EQ(inotify_add_watch(in, "link", IN_ATTRIB), w);
    write_to("f", "b", 0);
    NO_EVENT(in);
    CHECK_EQ(inotify_add_watch(in, "f", IN_MODIFY | IN_MASK_ADD), w);
    OK(chmod("f", 0600));
    write_to("f", "c", 0);
    EVENT(in, w, IN_ATTRIB, "");
    EVENT(in, w, IN_MODIFY, "");
    CHECK_ERR(inotify_add_watch(in, "f", IN_OPEN | IN_MASK_CREATE), EEXIST);
    CHECK(OK(inotify_add_watch(in, "link", IN_ATTRIB | IN_DONT_FOLLOW)) != w);

    /* Equal events in a row are one. */
    fd = OK(open("f", O_WRONLY));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_ERR(read(in, small, sizeof small), EINVAL);
    OK(ioctl(in, FIONREAD, &n));
    CHECK_EQ(n, sizeof(struct inotify_event));
    EVENT(in, w, IN_MODIFY, "");
    NO_EVENT(in);
    OK(inotify_rm_watch(in, w));
    EVENT(in, w, IN_IGNORED, "");
    CHECK_EQ(write(fd, "x", 1), 1);
    NO_EVENT(in);

    w = OK(inotify_add_watch(in, "f", IN_MODIFY | IN_ONESHOT));
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_EQ(write(fd, "x", 1), 1);
    EVENT(in, w, IN_MODIFY, "");
    EVENT(in, w, IN_IGNORED, "");
    NO_EVENT(in);

    /* What has no name any more is not reported with IN_EXCL_UNLINK. */
    w = OK(inotify_add_watch(in, ".", IN_MODIFY | IN_EXCL_UNLINK));
    CHECK_EQ(write(fd, "x", 1), 1);
    EVENT(in, w, IN_MODIFY, "f");
    OK(unlink("f"));
    CHECK_EQ(write(fd, "x", 1), 1);
    NO_EVENT(in);

    CHECK_ERR(inotify_add_watch(in, "none", IN_MODIFY), ENOENT);
    CHECK_ERR(inotify_add_watch(in, ".", 0), EINVAL);
    CHECK_ERR(
        inotify_add_watch(in, ".", IN_OPEN | IN_MASK_ADD | IN_MASK_CREATE),
        EINVAL);
    write_to("g", "", 0);
    CHECK_ERR(inotify_add_watch(in, "g", IN_OPEN | IN_ONLYDIR), ENOTDIR);
    CHECK_ERR(inotify_add_watch(fd, ".", IN_OPEN), EINVAL);
    CHECK_ERR(inotify_add_watch(-1, ".", IN_OPEN), EBADF);
    CHECK_ERR(inotify_rm_watch(in, 12345), EINVAL);
    CHECK_ERR(inotify_rm_watch(fd, w), EINVAL);
    CHECK_ERR(inotify_rm_watch(-1, w), EBADF);
    CHECK_ERR(inotify_init1(1), EINVAL);
    CHECK_ERR(write(in, "x", 1), EBADF);
    return 0;
}
