/* /dev/stdin, /dev/stdout and /dev/stderr are the descriptors 0, 1 and 2. */
#include "guest.h"

int
main(void)
{
    int keep = OK(dup(2));

    tmpdir();
    put("in", "text");
    int fd = OK(open("in", O_RDONLY));
    CHECK_EQ(dup2(fd, 0), 0);
    CHECK_FILE("/dev/stdin", "text");
    CHECK_FILE("/dev/fd/0", "text");
    CHECK_FILE("/proc/self/fd/0", "text");

    fd = OK(open("out", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(dup2(fd, 1), 1);
    fd = OK(open("err", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(dup2(fd, 2), 2);
    put("/dev/stdout", "to stdout");
    put("/dev/stderr", "to stderr");
    CHECK_EQ(dup2(keep, 2), 2);
    CHECK_FILE("out", "to stdout");
    CHECK_FILE("err", "to stderr");
    OK(close(0));
    CHECK_ERR(open("/dev/stdin", O_RDONLY), ENOENT);
    return 0;
}
