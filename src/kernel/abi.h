/* Layouts of the guest ABI: Linux's for 32-bit targets with 64-bit time, as in
 * musl's generic headers. */
#ifndef KERNEL_ABI_H
#define KERNEL_ABI_H

#include "kernel/machine.h"

#include <stdint.h>

struct attr;
struct statx; /* the same on all of Linux */
struct task;

/* Flags of close_range, which not all C libraries define. */
enum { ABI_CLOSE_RANGE_UNSHARE = 2, ABI_CLOSE_RANGE_CLOEXEC = 4 };
/* Flags of memfd_create. */
enum {
    ABI_MFD_CLOEXEC = 1,
    ABI_MFD_ALLOW_SEALING = 2,
    ABI_MFD_NOEXEC_SEAL = 8,
    ABI_MFD_EXEC = 16,
};

struct abi_stat {
    uint64_t dev, ino;
    uint32_t mode, nlink, uid, gid;
    uint64_t rdev;
    int64_t size;
    int32_t blksize, pad;
    int64_t blocks;
    struct {
        int64_t sec;
        int32_t nsec, pad;
    } atime, mtime, ctime;
};
_Static_assert(sizeof(struct abi_stat) == 112, "struct stat of the guest");

struct abi_statfs {
    uint32_t type, bsize;
    uint64_t blocks, bfree, bavail, files, ffree;
    int32_t fsid[2];
    uint32_t namelen, frsize, flags, spare[4];
    uint32_t pad;
};
_Static_assert(sizeof(struct abi_statfs) == 88, "struct statfs64");

struct abi_timespec {
    int64_t sec;
    int32_t nsec, pad;
};

struct abi_sigaction {
    uint32_t handler, flags, restorer;
    uint32_t mask[2];
};

/* Reads a timespec as nanoseconds, saturating; -EINVAL, -EFAULT. */
int abi_get_time(struct task *t, gaddr a, int64_t *ret_ns);
/* Writes nanoseconds as a timespec. -EFAULT. */
int abi_put_time(struct task *t, gaddr a, int64_t ns);
/* Convert attributes to struct stat and struct statx of a file on device
 * `dev`. */
void abi_fill_stat(struct abi_stat *s, uint64_t dev, const struct attr *a);
void abi_fill_statx(struct statx *s, uint64_t dev, const struct attr *a);

#endif
