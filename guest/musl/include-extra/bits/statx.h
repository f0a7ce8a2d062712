/* SPDX-License-Identifier: MIT */
/* statx, unless <linux/stat.h> has declared its types. */
#ifndef STATX_BASIC_STATS
#define STATX_TYPE        0x1U
#define STATX_MODE        0x2U
#define STATX_NLINK       0x4U
#define STATX_UID         0x8U
#define STATX_GID         0x10U
#define STATX_ATIME       0x20U
#define STATX_MTIME       0x40U
#define STATX_CTIME       0x80U
#define STATX_INO         0x100U
#define STATX_SIZE        0x200U
#define STATX_BLOCKS      0x400U
#define STATX_BASIC_STATS 0x7ffU
#define STATX_BTIME       0x800U
#define STATX_ALL         0xfffU

#define STATX_ATTR_COMPRESSED 0x4
#define STATX_ATTR_IMMUTABLE  0x10
#define STATX_ATTR_APPEND     0x20
#define STATX_ATTR_NODUMP     0x40
#define STATX_ATTR_ENCRYPTED  0x800
#define STATX_ATTR_AUTOMOUNT  0x1000

struct statx_timestamp {
    long long tv_sec;
    unsigned tv_nsec;
    int __reserved;
};

struct statx {
    unsigned stx_mask;
    unsigned stx_blksize;
    unsigned long long stx_attributes;
    unsigned stx_nlink;
    unsigned stx_uid;
    unsigned stx_gid;
    unsigned short stx_mode;
    unsigned short __spare0[1];
    unsigned long long stx_ino;
    unsigned long long stx_size;
    unsigned long long stx_blocks;
    unsigned long long stx_attributes_mask;
    struct statx_timestamp stx_atime;
    struct statx_timestamp stx_btime;
    struct statx_timestamp stx_ctime;
    struct statx_timestamp stx_mtime;
    unsigned stx_rdev_major;
    unsigned stx_rdev_minor;
    unsigned stx_dev_major;
    unsigned stx_dev_minor;
    unsigned long long __spare2[14];
};
#endif

int statx(int, const char *__restrict, int, unsigned, struct statx *__restrict);
