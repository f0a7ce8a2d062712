/* What the files of this folder share. */
#ifndef KERNEL_WASI_WASI_IMPL_H
#define KERNEL_WASI_WASI_IMPL_H

#include "kernel/kernel.h"
#include "kernel/wasi/wasi_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* WASI's own error, beside Linux's: a right is missing. */
#define ENOTCAPABLE 140

/* The functions of wasi.def: raw argument slots; 0, -errno or -EWAIT. */
typedef int64_t wasi_fn(struct task *t, const uint64_t *a);
#define WASI(name, params, result, how) wasi_fn wasi_##name;
#include "kernel/wasi/wasi.def"
#undef WASI

/* WASI's number for a negative errno; 0 for what is not negative. */
uint16_t wasi_errno(int64_t r);

/* --- rights.c: what may be done with a descriptor. */

enum {
    RIGHT_FD_DATASYNC = 1 << 0,
    RIGHT_FD_READ = 1 << 1,
    RIGHT_FD_SEEK = 1 << 2,
    RIGHT_FD_FDSTAT_SET_FLAGS = 1 << 3,
    RIGHT_FD_SYNC = 1 << 4,
    RIGHT_FD_TELL = 1 << 5,
    RIGHT_FD_WRITE = 1 << 6,
    RIGHT_FD_ADVISE = 1 << 7,
    RIGHT_FD_ALLOCATE = 1 << 8,
    RIGHT_PATH_CREATE_DIRECTORY = 1 << 9,
    RIGHT_PATH_CREATE_FILE = 1 << 10,
    RIGHT_PATH_LINK_SOURCE = 1 << 11,
    RIGHT_PATH_LINK_TARGET = 1 << 12,
    RIGHT_PATH_OPEN = 1 << 13,
    RIGHT_FD_READDIR = 1 << 14,
    RIGHT_PATH_READLINK = 1 << 15,
    RIGHT_PATH_RENAME_SOURCE = 1 << 16,
    RIGHT_PATH_RENAME_TARGET = 1 << 17,
    RIGHT_PATH_FILESTAT_GET = 1 << 18,
    RIGHT_PATH_FILESTAT_SET_SIZE = 1 << 19,
    RIGHT_PATH_FILESTAT_SET_TIMES = 1 << 20,
    RIGHT_FD_FILESTAT_GET = 1 << 21,
    RIGHT_FD_FILESTAT_SET_SIZE = 1 << 22,
    RIGHT_FD_FILESTAT_SET_TIMES = 1 << 23,
    RIGHT_PATH_SYMLINK = 1 << 24,
    RIGHT_PATH_REMOVE_DIRECTORY = 1 << 25,
    RIGHT_PATH_UNLINK_FILE = 1 << 26,
    RIGHT_POLL_FD_READWRITE = 1 << 27,
    RIGHT_SOCK_SHUTDOWN = 1 << 28,
    RIGHT_SOCK_ACCEPT = 1 << 29,
    RIGHTS_ALL = (1 << 30) - 1,
};

struct rights {
    uint64_t base, inheriting;
};

/* A descriptor as WASI knows it; only valid while it refers to `file`. */
struct wasi_fd {
    const struct file *file; /* compared, never used */
    struct rights rights;
    char *preopen; /* its name, or NULL */
};

struct wasi {
    struct wasi_fd *fds; /* by descriptor */
    size_t cap;
    int64_t poll_mono_ns, poll_real_ns; /* when poll_oneoff was called */
    char path[2][PATH_BYTES_MAX];       /* arguments of the call */
};

/* All that files of the kind of f can have. */
struct rights rights_of_kind(struct file *f);
/* Those of a descriptor, which refers to f. */
struct rights rights_get(struct task *t, int fd, struct file *f);
/* Gives a descriptor these rights, and the name of a preopen (or NULL), which
 * is taken over, also on failure. -ENOMEM. */
int rights_set(struct task *t, int fd, const struct rights *r,
               OWN char *preopen);
/* The name of a preopened directory, or NULL. */
const char *rights_preopen(struct task *t, int fd);
/* The descriptor is about to be closed. */
void rights_drop(struct task *t, int fd);
/* The file of a descriptor that has the rights `need`: -EBADF, or
 * -ENOTCAPABLE. */
int wasi_file(struct task *t, uint64_t fd, uint64_t need, struct file **ret);

/* A new descriptor for f, with at most these of the rights of its kind. */
int wasi_install(struct task *t, OWN struct file *f, const struct rights *max);

/* --- preopen.c */

/* Opens the directories that a program starts with, or none. */
int preopen_all(struct task *t);

/* --- wasi_fd.c */

/* Does [a, a + len) lie in guest memory? 0 or -EFAULT: asked before a call
 * has effects, so that storing its result cannot fail. */
int wasi_check(struct task *t, uint64_t a, uint64_t len);
/* Flags of open(2) for these fdflags. */
uint32_t wasi_open_flags(uint32_t fdflags);
int wasi_put_filestat(struct task *t, gaddr to, uint64_t dev,
                      const struct attr *a);
/* From the arguments atim, mtim, fst_flags: what to set, ATTR_*. */
struct set_times {
    struct attr attr;
    unsigned what;
    bool now; /* all of them are the present */
};
int wasi_get_times(struct task *t, const uint64_t *a, struct set_times *ret);

#endif
