/* An O_PATH descriptor names a file: it can be asked about and walked from,
 * but not read, written or changed. */
#include "guest.h"

int
main(void)
{
    char c;
    struct stat st;

    as_user();
    const char *dir = tmpdir();
    put("f", "x");
    OK(chmod("f", 0));
    CHECK_ERR(open("f", O_RDONLY), EACCES);
    int fd = OK(open("f", O_PATH));
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_size, 1);
    CHECK_ERR(read(fd, &c, 1), EBADF);
    CHECK_ERR(write(fd, "y", 1), EBADF);
    CHECK_ERR(lseek(fd, 0, SEEK_SET), EBADF);
    CHECK_ERR(syscall(SYS_fchmod, fd, 0644), EBADF); /* musl uses /proc */
    CHECK_ERR(ftruncate(fd, 0), EBADF);
    CHECK(fcntl(fd, F_GETFL) & O_PATH);
    CHECK_EQ(fcntl(fd, F_GETFD), 0);
    int copy = OK(dup(fd));
    OK(fstat(copy, &st));

    int d = OK(open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC));
    CHECK_EQ(fcntl(d, F_GETFD), FD_CLOEXEC);
    OK(chdir("/"));
    OK(fchmodat(d, "f", 0644, 0));
    OK(openat(d, "f", O_RDONLY));
    OK(fchdir(d));
    OK(access("f", R_OK));
    return 0;
}
