/* Layouts and numbers of wasi_snapshot_preview1.
 *
 * The layouts are those of the C headers of wasi-libc: little-endian, naturally
 * aligned, with explicit padding. The size of each is checked here. */
#ifndef KERNEL_WASI_WASI_ABI_H
#define KERNEL_WASI_WASI_ABI_H

#include <stdint.h>

enum wasi_filetype {
    FILETYPE_UNKNOWN,
    FILETYPE_BLOCK_DEVICE,
    FILETYPE_CHARACTER_DEVICE,
    FILETYPE_DIRECTORY,
    FILETYPE_REGULAR_FILE,
    FILETYPE_SOCKET_DGRAM,
    FILETYPE_SOCKET_STREAM,
    FILETYPE_SYMBOLIC_LINK,
};

/* lookupflags: follow the last component of a path. */
enum { LOOKUP_SYMLINK_FOLLOW = 1 };

/* oflags of path_open. */
enum {
    OFLAG_CREAT = 1,
    OFLAG_DIRECTORY = 2,
    OFLAG_EXCL = 4,
    OFLAG_TRUNC = 8,
    OFLAGS_ALL = 15,
};

/* fdflags: status flags of a descriptor. */
enum {
    FDFLAG_APPEND = 1,
    FDFLAG_DSYNC = 2,
    FDFLAG_NONBLOCK = 4,
    FDFLAG_RSYNC = 8,
    FDFLAG_SYNC = 16,
    FDFLAGS_SYNCS = FDFLAG_DSYNC | FDFLAG_RSYNC | FDFLAG_SYNC,
    FDFLAGS_ALL = 31,
};

/* fstflags: the times to set, to a value or to now. */
enum {
    FSTFLAG_ATIM = 1,
    FSTFLAG_ATIM_NOW = 2,
    FSTFLAG_MTIM = 4,
    FSTFLAG_MTIM_NOW = 8,
    FSTFLAGS_ALL = 15,
};

struct wasi_fdstat {
    uint8_t filetype, pad;
    uint16_t flags;
    uint32_t pad2;
    uint64_t rights_base, rights_inheriting;
};
_Static_assert(sizeof(struct wasi_fdstat) == 24, "fdstat");

struct wasi_filestat {
    uint64_t dev, ino;
    uint8_t filetype, pad[7];
    uint64_t nlink, size, atim, mtim, ctim;
};
_Static_assert(sizeof(struct wasi_filestat) == 64, "filestat");

struct wasi_prestat {
    uint32_t tag; /* 0: a directory */
    uint32_t name_len;
};

/* The head of a directory entry; the name follows, without a NUL. */
struct wasi_dirent {
    uint64_t next, ino;
    uint32_t namlen;
    uint8_t type, pad[3];
};
_Static_assert(sizeof(struct wasi_dirent) == 24, "dirent");

/* Kinds of subscriptions and events, and their flags. */
enum { EVENT_CLOCK, EVENT_FD_READ, EVENT_FD_WRITE };
enum { SUBCLOCK_ABSTIME = 1 };
enum { EVENT_FD_HANGUP = 1 };

/* One thing to wait for in poll_oneoff. */
struct wasi_subscription {
    uint64_t userdata;
    uint8_t tag, pad[7];
    union {
        struct {
            uint32_t id, pad;
            uint64_t timeout, precision;
            uint16_t flags;
        } clock;
        uint32_t fd;
    };
};
_Static_assert(sizeof(struct wasi_subscription) == 48, "subscription");

/* One thing that has happened. */
struct wasi_event {
    uint64_t userdata;
    uint16_t error;
    uint8_t type, pad[5];
    uint64_t nbytes;
    uint16_t flags;
    uint8_t pad2[6];
};
_Static_assert(sizeof(struct wasi_event) == 32, "event");

/* Flags of sock_recv, of its answer, and of sock_shutdown. */
enum { RIFLAG_PEEK = 1, RIFLAG_WAITALL = 2, RIFLAGS_ALL = 3 };
enum { ROFLAG_DATA_TRUNCATED = 1 };
enum { SDFLAG_RD = 1, SDFLAG_WR = 2 };

#endif
