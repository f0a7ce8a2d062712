/* The functions and structures that the files of this folder share.
 *
 * WASI is a second ABI over the same objects. A function finds the file of a
 * descriptor, checks its rights, and calls the same code as the handler of a
 * system call. The state of a task in this ABI (struct wasi) is created by its
 * first call. */
#ifndef KERNEL_WASI_WASI_IMPL_H
#define KERNEL_WASI_WASI_IMPL_H

#include "kernel/kernel.h"
#include "kernel/wasi/wasi_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* WASI's own error, beside Linux's: a right is missing. */
#define ENOTCAPABLE 140

/* The functions of wasi.def: raw argument slots; return 0, -errno or -EWAIT. */
typedef int64_t wasi_fn(struct task *t, const uint64_t *a);
#define WASI(name, params, result, how) wasi_fn wasi_##name;
#include "kernel/wasi/wasi.def"
#undef WASI

/* Returns WASI's number for a negative errno, and 0 for other values. */
uint16_t wasi_errno(int64_t r);

/* --- rights.c: rights of descriptors */

/* Rights, as the specification numbers them. */
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

/* Rights of a descriptor, and of those that are opened through it. */
struct rights {
    uint64_t base, inheriting;
};

/* The rights of one descriptor. They are valid only while it refers to `file`:
 * a descriptor that was closed and opened again by the kernel has none of
 * them. */
struct wasi_fd {
    const struct file *file; /* compared, never dereferenced */
    struct rights rights;
    char *preopen; /* its name, or NULL */
};

/* The WASI state of a task. */
struct wasi {
    struct abi_state abi;
    struct wasi_fd *fds; /* by descriptor */
    size_t cap;
    int64_t poll_mono_ns, poll_real_ns; /* time of the call of poll_oneoff */
};

/* Returns the state of a task after its first WASI call. */
static inline struct wasi *
wasi_of(const struct task *t)
{
    return (struct wasi *)t->abi;
}

/* Returns all rights that files of the kind of f can have. */
struct rights rights_of_kind(struct file *f);
/* Returns the rights of a descriptor that refers to f. */
struct rights rights_get(struct task *t, int fd, struct file *f);
/* Sets the rights of a descriptor, and the name of a preopen (or NULL), which
 * is consumed, also on failure. -ENOMEM. */
int rights_set(struct task *t, int fd, const struct rights *r,
               OWN char *preopen);
/* Returns the name of a preopened directory, or NULL. */
const char *rights_preopen(struct task *t, int fd);
/* Called before the descriptor is closed. */
void rights_drop(struct task *t, int fd);
/* Returns the file of a descriptor with the rights `need`. -EBADF, or
 * -ENOTCAPABLE. */
int wasi_file(struct task *t, uint64_t fd, uint64_t need, struct file **ret);

/* Installs f as a new descriptor, with at most these of the rights of its kind.
 */
int wasi_install(struct task *t, OWN struct file *f, const struct rights *max);

/* --- preopen.c */

/* Opens the directories that a program starts with. */
int preopen_all(struct task *t);

/* --- wasi_fd.c */

/* Returns 0 if [a, a + len) is in guest memory, or -EFAULT. Called before a
 * call has effects, so that storing its result cannot fail. */
int wasi_check(struct task *t, uint64_t a, uint64_t len);
/* Returns the flags of open(2) for these fdflags. */
uint32_t wasi_open_flags(uint32_t fdflags);
/* Writes the attributes at `to`. -EFAULT. */
int wasi_put_filestat(struct task *t, gaddr to, uint64_t dev,
                      const struct attr *a);
/* The arguments atim, mtim and fst_flags as ATTR_* values. */
struct set_times {
    struct attr attr;
    unsigned what;
    bool now; /* all of them are the current time */
};
/* Reads the three arguments at a. -EINVAL: unknown or contradicting flags. */
int wasi_get_times(struct task *t, const uint64_t *a, struct set_times *ret);

#endif
