/* getdents64 fills whole records: EINVAL when not one fits, ENOTDIR for a
 * file. */
#include "guest.h"

struct linux_dirent64 {
    uint64_t d_ino;
    int64_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[];
};

int
main(void)
{
    _Alignas(8) char buf[32];
    int n, entries = 0;

    tmpdir();
    for (const char *p = "a\0b\0c\0"; *p; p += 2)
        put(p, "");
    int fd = OK(open(".", O_RDONLY));
    CHECK_ERR(syscall(SYS_getdents64, fd, buf, 8), EINVAL);
    while ((n = (int)OK(syscall(SYS_getdents64, fd, buf, sizeof buf))) > 0) {
        struct linux_dirent64 *e = (void *)buf;
        CHECK_EQ(n, 24); /* one record of the smallest size */
        CHECK_EQ(e->d_reclen, 24);
        CHECK(strlen(e->d_name) <= 2);
        CHECK_EQ(lseek(fd, 0, SEEK_CUR), e->d_off);
        entries++;
    }
    CHECK_EQ(entries, 5);
    CHECK_EQ(syscall(SYS_getdents64, fd, buf, sizeof buf), 0);
    OK(lseek(fd, 0, SEEK_SET));
    CHECK_EQ(syscall(SYS_getdents64, fd, buf, sizeof buf), 24);
    OK(lseek(fd, 0, SEEK_SET));
    CHECK_ERR(syscall(SYS_getdents64, fd, BAD_ADDR, 4096), EFAULT);
    CHECK_ERR(syscall(SYS_getdents64, -1, buf, sizeof buf), EBADF);
    int file = OK(open("a", O_RDONLY));
    CHECK_ERR(syscall(SYS_getdents64, file, buf, sizeof buf), ENOTDIR);
    return 0;
}
