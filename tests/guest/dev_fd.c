/* /dev/fd/N opens what a descriptor refers to anew: a file with its own
 * offset, a pipe's same end. */
#include "guest.h"

int
main(void)
{
    char path[32], buf[8];
    int fds[2];

    tmpdir();
    put("f", "abcdef");
    int fd = OK(open("f", O_RDONLY));
    CHECK_EQ(read(fd, buf, 3), 3);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    int again = OK(open(path, O_RDWR)); /* the file's mode decides */
    CHECK_EQ(read(again, buf, 2), 2);
    CHECK(memcmp(buf, "ab", 2) == 0);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 3);

    OK(pipe(fds));
    CHECK_EQ(write(fds[1], "xyz", 3), 3);
    snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
    int end = OK(open(path, O_RDONLY | O_NONBLOCK));
    CHECK_EQ(read(end, buf, 8), 3);
    snprintf(path, sizeof path, "/dev/fd/%d", fds[1]);
    int wr = OK(open(path, O_WRONLY));
    CHECK_EQ(write(wr, "w", 1), 1);
    CHECK_EQ(read(fds[0], buf, 8), 1);

    struct stat by_fd, by_path;
    OK(fstat(fds[1], &by_fd));
    OK(stat(path, &by_path));
    CHECK(S_ISFIFO(by_path.st_mode) && by_path.st_ino == by_fd.st_ino);
    OK(access(path, W_OK));
    strcat(path, "/x");
    CHECK_ERR(open(path, O_RDONLY), ENOTDIR);

    int saved = OK(dup(0)); /* a link to the link */
    OK(dup2(fds[0], 0));
    OK(stat("/dev/stdin", &by_path));
    CHECK(S_ISFIFO(by_path.st_mode));
    OK(close(OK(open("/dev/stdin", O_RDONLY | O_NONBLOCK))));
    OK(dup2(saved, 0));

    CHECK_ERR(open("/dev/fd/987", O_RDONLY), ENOENT);
    CHECK_ERR(open("/dev/fd/x", O_RDONLY), ENOENT);
    OK(unlink("f"));
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    CHECK_FILE(path, "abcdef");
    return 0;
}
