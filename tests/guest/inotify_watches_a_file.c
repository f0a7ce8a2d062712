/* inotify: a watch of a file lives until the file is gone. */
#include "inotify.h"

int
main(void)
{
    int in, w, fd;

    write_to("f", "a", 0);
    in = OK(inotify_init1(IN_NONBLOCK));
    w = OK(inotify_add_watch(in, "f", IN_ALL_EVENTS));
    write_to("f", "b", O_APPEND);
    EVENT(in, w, IN_OPEN, "");
    EVENT(in, w, IN_MODIFY, "");
    EVENT(in, w, IN_CLOSE_WRITE, "");
    OK(link("f", "g"));
    EVENT(in, w, IN_ATTRIB, "");
    OK(unlink("f"));
    EVENT(in, w, IN_ATTRIB, "");
    OK(rename("g", "h"));
    EVENT(in, w, IN_MOVE_SELF, "");
    NO_EVENT(in);

    /* Gone with its last name and its last descriptor. */
    fd = OK(open("h", O_RDONLY));
    EVENT(in, w, IN_OPEN, "");
    OK(unlink("h"));
    EVENT(in, w, IN_ATTRIB, "");
    NO_EVENT(in);
    OK(close(fd));
    EVENT(in, w, IN_CLOSE_NOWRITE, "");
    EVENT(in, w, IN_DELETE_SELF, "");
    EVENT(in, w, IN_IGNORED, "");
    NO_EVENT(in);
    CHECK_ERR(inotify_rm_watch(in, w), EINVAL);

    /* Replaced by another. */
    write_to("f", "a", 0);
    write_to("g", "b", 0);
    w = OK(inotify_add_watch(in, "g", IN_ATTRIB | IN_DELETE_SELF));
    OK(rename("f", "g"));
    EVENT(in, w, IN_ATTRIB, "");
    EVENT(in, w, IN_DELETE_SELF, "");
    EVENT(in, w, IN_IGNORED, "");
    NO_EVENT(in);

    /* A directory. */
    OK(mkdir("d", 0755));
    w = OK(inotify_add_watch(in, "d", IN_MOVE_SELF | IN_DELETE_SELF));
    OK(rename("d", "e"));
    OK(rmdir("e"));
    EVENT(in, w, IN_MOVE_SELF, "");
    EVENT(in, w, IN_DELETE_SELF, "");
    EVENT(in, w, IN_IGNORED, "");
    NO_EVENT(in);
    return 0;
}
