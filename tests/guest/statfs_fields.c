/* statfs and statvfs describe the file system by path and by descriptor. */
#include "guest.h"

#include <sys/statvfs.h>
#include <sys/vfs.h>

int
main(void)
{
    struct statvfs sv;
    struct statfs sf;

    tmpdir();
    OK(statvfs(".", &sv));
    CHECK(sv.f_bsize >= 512 && sv.f_frsize >= 512);
    CHECK(sv.f_blocks > 0);
    CHECK(sv.f_bfree <= sv.f_blocks && sv.f_bavail <= sv.f_bfree);
    CHECK(sv.f_ffree <= sv.f_files);
    CHECK_EQ(sv.f_namemax, 255);
    CHECK(!(sv.f_flag & ST_RDONLY));
    put("f", "");
    int fd = OK(open("f", O_RDONLY));
    struct statvfs by_fd;
    OK(fstatvfs(fd, &by_fd));
    CHECK_EQ(by_fd.f_blocks, sv.f_blocks);
    CHECK_EQ(by_fd.f_fsid, sv.f_fsid);

    OK(statfs("f", &sf));
    CHECK_EQ(sf.f_namelen, 255);
    CHECK_EQ(sf.f_blocks, sv.f_blocks);
    OK(statfs("/proc", &sf));
    CHECK_EQ(sf.f_type, 0x9fa0);
    CHECK_ERR(statfs("none", &sf), ENOENT);
    CHECK_ERR(statfs("f/x", &sf), ENOTDIR);
    CHECK_ERR(fstatfs(-1, &sf), EBADF);
    return 0;
}
