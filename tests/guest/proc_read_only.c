/* Nothing can be made, changed or removed in /proc. */
#include "guest.h"

int
main(void)
{
    char buf[16];

    as_user();
    CHECK_ERR(open("/proc/version", O_WRONLY), EACCES);
    CHECK_ERR(open("/proc/new", O_WRONLY | O_CREAT, 0644), ENOENT);
    CHECK_ERR(mkdir("/proc/new", 0755), ENOENT); /* as if no parent */
    CHECK_ERR(unlink("/proc/version"), EACCES);
    CHECK_ERR(truncate("/proc/version", 0), EACCES);
    CHECK_ERR(mkdir("/proc/version", 0755), EEXIST);
    CHECK_ERR(rmdir("/proc/none"), ENOENT);
    CHECK_ERR(open("/proc/none", O_RDONLY), ENOENT);
    CHECK_ERR(chmod("/proc/version", 0666), EPERM);

    int fd = OK(open("/proc/version", O_RDONLY));
    CHECK_EQ(pread(fd, buf, 5, 6), 5); /* as seekable as a file */
    CHECK(memcmp(buf, "versi", 5) == 0);
    CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
    CHECK_EQ(read(fd, buf, 5), 5);
    CHECK(memcmp(buf, "Linux", 5) == 0);
    CHECK_EQ(stat_of("/proc/version").st_size, 0);
    return 0;
}
