/* Conversions to and from guest layouts.
 *
 * The structs of abi.h have explicit padding, so that no uninitialised byte of
 * the host reaches a guest, and no compiler inserts any of its own. */
#include "kernel/abi.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* A time that is too far in the future is as good as never. */
int
abi_get_time(struct task *t, gaddr a, int64_t *ret_ns)
{
    struct abi_timespec ts;

    int r = copy_from_guest(t, &ts, a, sizeof ts);
    if (r < 0)
        return r;
    if (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= NS_PER_S)
        return -EINVAL;
    if (__builtin_mul_overflow(ts.sec, NS_PER_S, ret_ns) ||
        __builtin_add_overflow(*ret_ns, ts.nsec, ret_ns))
        *ret_ns = NS_NEVER;
    return 0;
}

int
abi_put_time(struct task *t, gaddr a, int64_t ns)
{
    struct abi_timespec ts = {ns / NS_PER_S, (int32_t)(ns % NS_PER_S), 0};

    return copy_to_guest(t, a, &ts, sizeof ts);
}

void
abi_fill_stat(struct abi_stat *s, uint64_t dev, const struct attr *a)
{
    *s = (struct abi_stat){.dev = dev,
                           .ino = a->ino,
                           .mode = a->mode,
                           .nlink = a->nlink,
                           .uid = a->uid,
                           .gid = a->gid,
                           .rdev = a->rdev,
                           .size = (int64_t)a->size,
                           .blksize = (int32_t)a->blksize,
                           .blocks = (int64_t)a->blocks};
    time_split(a->atime_ns, &s->atime.sec, &s->atime.nsec);
    time_split(a->mtime_ns, &s->mtime.sec, &s->mtime.nsec);
    time_split(a->ctime_ns, &s->ctime.sec, &s->ctime.nsec);
}

static struct statx_timestamp
abi_statx_time(int64_t ns)
{
    int64_t s;
    int32_t rest;

    time_split(ns, &s, &rest);
    return (struct statx_timestamp){.tv_sec = s, .tv_nsec = (uint32_t)rest};
}

/* Only the basic attributes exist; the mask says so to the program. */
void
abi_fill_statx(struct statx *s, uint64_t dev, const struct attr *a)
{
    *s = (struct statx){.stx_mask = STATX_BASIC_STATS,
                        .stx_blksize = a->blksize,
                        .stx_nlink = a->nlink,
                        .stx_uid = a->uid,
                        .stx_gid = a->gid,
                        .stx_mode = (uint16_t)a->mode,
                        .stx_ino = a->ino,
                        .stx_size = a->size,
                        .stx_blocks = a->blocks,
                        .stx_atime = abi_statx_time(a->atime_ns),
                        .stx_mtime = abi_statx_time(a->mtime_ns),
                        .stx_ctime = abi_statx_time(a->ctime_ns),
                        .stx_rdev_major = major(a->rdev),
                        .stx_rdev_minor = minor(a->rdev),
                        .stx_dev_major = major(dev),
                        .stx_dev_minor = minor(dev)};
}
