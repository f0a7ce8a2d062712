/* Conversions to and from guest layouts. */
#include "kernel/abi.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

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

static int64_t
floor_s(int64_t ns)
{
    return ns / NS_PER_S - (ns % NS_PER_S < 0);
}

#define FILL_TIME(to, ns)                                  \
    do {                                                   \
        (to).sec = floor_s(ns);                            \
        (to).nsec = (int32_t)((ns) - (to).sec * NS_PER_S); \
    } while (0)

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
    FILL_TIME(s->atime, a->atime_ns);
    FILL_TIME(s->mtime, a->mtime_ns);
    FILL_TIME(s->ctime, a->ctime_ns);
}

static struct statx_timestamp
statx_time(int64_t ns)
{
    int64_t s = floor_s(ns);

    return (struct statx_timestamp){.tv_sec = s,
                                    .tv_nsec = (uint32_t)(ns - s * NS_PER_S)};
}

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
                        .stx_atime = statx_time(a->atime_ns),
                        .stx_mtime = statx_time(a->mtime_ns),
                        .stx_ctime = statx_time(a->ctime_ns),
                        .stx_rdev_major = major(a->rdev),
                        .stx_rdev_minor = minor(a->rdev),
                        .stx_dev_major = major(dev),
                        .stx_dev_minor = minor(dev)};
}
