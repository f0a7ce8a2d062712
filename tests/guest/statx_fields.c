/* statx reports what stat does, and says which of its fields are filled. */
#include "guest.h"

#include <sys/sysmacros.h>

static void
same(const struct statx *x, const struct stat *st)
{
    CHECK_EQ(x->stx_mask & STATX_BASIC_STATS, STATX_BASIC_STATS);
    CHECK_EQ(x->stx_mode, st->st_mode);
    CHECK_EQ(x->stx_nlink, st->st_nlink);
    CHECK_EQ(x->stx_uid, st->st_uid);
    CHECK_EQ(x->stx_gid, st->st_gid);
    CHECK_EQ(x->stx_ino, st->st_ino);
    CHECK_EQ(x->stx_size, st->st_size);
    CHECK_EQ(x->stx_blocks, st->st_blocks);
    CHECK_EQ(x->stx_blksize, st->st_blksize);
    CHECK_EQ(makedev(x->stx_dev_major, x->stx_dev_minor), st->st_dev);
    CHECK_EQ(makedev(x->stx_rdev_major, x->stx_rdev_minor), st->st_rdev);
    CHECK_EQ(x->stx_mtime.tv_sec, st->st_mtim.tv_sec);
    CHECK_EQ(x->stx_mtime.tv_nsec, st->st_mtim.tv_nsec);
    CHECK_EQ(x->stx_ctime.tv_sec, st->st_ctim.tv_sec);
    CHECK_EQ(x->stx_ctime.tv_nsec, st->st_ctim.tv_nsec);
}

int
main(void)
{
    struct timespec times[2] = {{-7, 250}, {1000000001, 999999999}};
    struct stat st;
    struct statx x;

    tmpdir();
    put("f", "hello");
    OK(symlink("f", "l"));
    OK(utimensat(AT_FDCWD, "f", times, 0));
    OK(statx(AT_FDCWD, "f", 0, STATX_BASIC_STATS, &x));
    st = stat_of("f");
    same(&x, &st);
    CHECK_EQ(x.stx_atime.tv_sec, -7);
    CHECK_EQ(x.stx_atime.tv_nsec, 250);

    OK(statx(AT_FDCWD, "l", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &x));
    OK(lstat("l", &st));
    same(&x, &st);
    OK(statx(AT_FDCWD, "l", 0, STATX_BASIC_STATS, &x));
    CHECK_EQ(x.stx_size, 5);

    int fd = OK(open("f", O_RDONLY));
    OK(unlink("f"));
    OK(fstat(fd, &st));
    OK(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x));
    same(&x, &st);
    CHECK_EQ(x.stx_nlink, 0);
    OK(statx(AT_FDCWD, "/dev/null", 0, STATX_BASIC_STATS, &x));
    CHECK_EQ(x.stx_rdev_major, 1);
    CHECK_EQ(x.stx_rdev_minor, 3);

    CHECK_ERR(statx(AT_FDCWD, "f", 0, 0, &x), ENOENT);
    CHECK_ERR(statx(AT_FDCWD, "", 0, 0, &x), ENOENT);
    CHECK_ERR(statx(99, "f", 0, 0, &x), EBADF);
    CHECK_ERR(statx(AT_FDCWD, "/", 0, 0x80000000, &x), EINVAL);
    CHECK_ERR(statx(AT_FDCWD, "/", 0x6000, 0, &x), EINVAL);
    CHECK_ERR(statx(AT_FDCWD, "/", 1, 0, &x), EINVAL);
    CHECK_ERR(syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0, (void *)-4096),
              EFAULT);
    return 0;
}
