/* Duplicates of a directory descriptor share its position; a new open has
 * its own. */
#include "guest.h"

static int
entries(int fd)
{
    _Alignas(8) char buf[4096];
    int n, count = 0;

    while ((n = (int)OK(syscall(SYS_getdents64, fd, buf, sizeof buf))) > 0)
        for (int at = 0; at < n; count++)
            at += *(unsigned short *)(void *)(buf + at + 16);
    return count;
}

int
main(void)
{
    tmpdir();
    put("a", "");
    put("b", "");
    int fd = OK(open(".", O_RDONLY));
    int copy = OK(dup(fd));
    CHECK_EQ(entries(fd), 4);
    CHECK_EQ(entries(copy), 0);
    OK(lseek(copy, 0, SEEK_SET));
    CHECK_EQ(entries(fd), 4);
    int other = OK(open(".", O_RDONLY));
    CHECK_EQ(entries(other), 4);
    OK(lseek(fd, 0, SEEK_SET));
    OK(unlink("a"));
    CHECK_EQ(entries(fd), 3);
    return 0;
}
