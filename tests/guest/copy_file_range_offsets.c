/* copy_file_range copies between files, with given offsets or the
 * descriptors' own. */
#include "guest.h"

int
main(void)
{
    off_t from = 2, to = 5;
    int fds[2];

    tmpdir();
    put("in", "0123456789");
    put("out", "abcdefghij");
    int in = OK(open("in", O_RDONLY));
    int out = OK(open("out", O_RDWR));
    CHECK_EQ(copy_file_range(in, &from, out, &to, 3, 0), 3);
    CHECK_EQ(from, 5);
    CHECK_EQ(to, 8);
    CHECK_EQ(lseek(in, 0, SEEK_CUR), 0);
    CHECK_EQ(lseek(out, 0, SEEK_CUR), 0);
    CHECK_FILE("out", "abcde234ij");
    CHECK_EQ(copy_file_range(in, NULL, out, NULL, 2, 0), 2);
    CHECK_EQ(lseek(in, 0, SEEK_CUR), 2);
    CHECK_EQ(lseek(out, 0, SEEK_CUR), 2);
    CHECK_FILE("out", "01cde234ij");
    from = 8;
    CHECK_EQ(copy_file_range(in, &from, out, NULL, 100, 0), 2);
    CHECK_EQ(copy_file_range(in, &from, out, NULL, 100, 0), 0);

    from = 0;
    to = 2;
    CHECK_ERR(copy_file_range(out, &from, out, &to, 4, 0), EINVAL);
    to = 6; /* apart from each other: allowed in one file */
    CHECK_EQ(copy_file_range(out, &from, out, &to, 4, 0), 4);
    CHECK_ERR(copy_file_range(in, NULL, out, NULL, 1, 1), EINVAL);
    CHECK_ERR(copy_file_range(out, NULL, in, NULL, 1, 0), EBADF);
    CHECK_ERR(copy_file_range(-1, NULL, out, NULL, 1, 0), EBADF);
    int dir = OK(open(".", O_RDONLY));
    CHECK_ERR(copy_file_range(dir, NULL, out, NULL, 1, 0), EISDIR);
    OK(pipe(fds));
    CHECK_ERR(copy_file_range(fds[0], NULL, out, NULL, 1, 0), EINVAL);
    int app = OK(open("out", O_WRONLY | O_APPEND));
    CHECK_ERR(copy_file_range(in, NULL, app, NULL, 1, 0), EBADF);
    return 0;
}
