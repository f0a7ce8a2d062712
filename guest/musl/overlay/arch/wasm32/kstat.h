/* SPDX-License-Identifier: MIT */
/* The 112 bytes that the kernel writes for fstat, stat and lstat. */
struct kstat {
    dev_t st_dev;           /*   0 */
    ino_t st_ino;           /*   8 */
    mode_t st_mode;         /*  16 */
    nlink_t st_nlink;       /*  20 */
    uid_t st_uid;           /*  24 */
    gid_t st_gid;           /*  28 */
    dev_t st_rdev;          /*  32 */
    off_t st_size;          /*  40 */
    blksize_t st_blksize;   /*  48 */
    int pad0;               /*  52 */
    blkcnt_t st_blocks;     /*  56 */
    long long st_atime_sec; /*  64 */
    long st_atime_nsec;     /*  72 */
    int pad1;               /*  76 */
    long long st_mtime_sec; /*  80 */
    long st_mtime_nsec;     /*  88 */
    int pad2;               /*  92 */
    long long st_ctime_sec; /*  96 */
    long st_ctime_nsec;     /* 104 */
    int pad3;               /* 108 */
};
