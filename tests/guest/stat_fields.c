/* stat reports size, owner, link count, a stable inode number and a block
 * size. */
#include "guest.h"

int
main(void)
{
    struct stat st;

    tmpdir();
    put("a", "hello");
    put("b", "");
    struct stat a = stat_of("a"), b = stat_of("b"), d = stat_of(".");
    CHECK_EQ(a.st_size, 5);
    CHECK_EQ(b.st_size, 0);
    CHECK_EQ(a.st_nlink, 1);
    CHECK_EQ(a.st_uid, geteuid());
    CHECK_EQ(a.st_gid, getegid());
    CHECK_EQ(a.st_mode, S_IFREG | 0644);
    CHECK(a.st_blksize >= 512);
    CHECK(a.st_ino != 0);
    CHECK(a.st_ino != b.st_ino && a.st_ino != d.st_ino);
    CHECK_EQ(a.st_dev, b.st_dev);
    CHECK_EQ(a.st_dev, d.st_dev);

    int fd = OK(open("a", O_RDONLY));
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_ino, a.st_ino);
    CHECK_EQ(st.st_size, 5);
    OK(rename("a", "c"));
    CHECK_EQ(stat_of("c").st_ino, a.st_ino);
    OK(fstatat(AT_FDCWD, "c", &st, 0));
    CHECK_EQ(st.st_ino, a.st_ino);
    CHECK_ERR(fstat(-1, &st), EBADF);
    return 0;
}
