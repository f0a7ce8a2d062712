/* Names, attributes and limits that trees share with all file systems. */
#ifndef TREE_ATTR_H
#define TREE_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#define NAME_BYTES_MAX 255
#define PATH_BYTES_MAX 4096 /* with the NUL */
/* A search for data or a hole gives up after this many bytes. */
#define SEEK_STEP_BYTES (16u << 20)

struct attr {
    uint64_t ino, rdev, size, blocks; /* blocks of 512 bytes */
    uint32_t mode, nlink, uid, gid, blksize;
    /* A file of a host folder. Root of the sandbox has no access to files of
     * other users of the host there: see vfs_access. */
    bool is_hosts;
    int64_t atime_ns, mtime_ns, ctime_ns; /* since 1970 */
};

/* The members of an attr that setattr changes. */
enum {
    ATTR_MODE = 1,
    ATTR_UID = 2,
    ATTR_GID = 4,
    ATTR_SIZE = 8,
    ATTR_ATIME = 16,
    ATTR_MTIME = 32,
    ATTR_NOW = 64, /* both times are the time of this change */
};

/* One component of a path. The bytes belong to the caller. */
struct name {
    const char *s; /* not NUL-terminated */
    size_t len;    /* 1 to NAME_BYTES_MAX; never "." or ".." */
};

/* Flags of renameat2(2), which not every libc has. */
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE  2
#endif

/* Unlink flags. */
enum { UNLINK_DIR = 1 };

#endif
