/* wasi_snapshot_preview1 without a libc between: its imports, layouts and a
 * CHECK that counts failures. Pointers are plain numbers, so that tests can
 * pass bad ones. */
#ifndef RAW_H
#define RAW_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define IMPORT(name) \
    __attribute__((import_module("wasi_snapshot_preview1"), import_name(name)))

typedef uint32_t ptr;

IMPORT("args_get") uint32_t args_get(uint32_t, uint32_t);
IMPORT("args_sizes_get") uint32_t args_sizes_get(uint32_t, uint32_t);
IMPORT("environ_get") uint32_t environ_get(uint32_t, uint32_t);
IMPORT("environ_sizes_get") uint32_t environ_sizes_get(uint32_t, uint32_t);
IMPORT("clock_res_get") uint32_t clock_res_get(uint32_t, uint32_t);
IMPORT("clock_time_get") uint32_t clock_time_get(uint32_t, uint64_t, uint32_t);
IMPORT("fd_advise") uint32_t fd_advise(uint32_t, uint64_t, uint64_t, uint32_t);
IMPORT("fd_allocate") uint32_t fd_allocate(uint32_t, uint64_t, uint64_t);
IMPORT("fd_close") uint32_t fd_close(uint32_t);
IMPORT("fd_datasync") uint32_t fd_datasync(uint32_t);
IMPORT("fd_fdstat_get") uint32_t fd_fdstat_get(uint32_t, uint32_t);
IMPORT("fd_fdstat_set_flags") uint32_t fd_fdstat_set_flags(uint32_t, uint32_t);
IMPORT("fd_fdstat_set_rights")
uint32_t fd_fdstat_set_rights(uint32_t, uint64_t, uint64_t);
IMPORT("fd_filestat_get") uint32_t fd_filestat_get(uint32_t, uint32_t);
IMPORT("fd_filestat_set_size")
uint32_t fd_filestat_set_size(uint32_t, uint64_t);
IMPORT("fd_filestat_set_times")
uint32_t fd_filestat_set_times(uint32_t, uint64_t, uint64_t, uint32_t);
IMPORT("fd_pread")
uint32_t fd_pread(uint32_t, uint32_t, uint32_t, uint64_t, uint32_t);
IMPORT("fd_prestat_get") uint32_t fd_prestat_get(uint32_t, uint32_t);
IMPORT("fd_prestat_dir_name")
uint32_t fd_prestat_dir_name(uint32_t, uint32_t, uint32_t);
IMPORT("fd_pwrite")
uint32_t fd_pwrite(uint32_t, uint32_t, uint32_t, uint64_t, uint32_t);
IMPORT("fd_read") uint32_t fd_read(uint32_t, uint32_t, uint32_t, uint32_t);
IMPORT("fd_readdir")
uint32_t fd_readdir(uint32_t, uint32_t, uint32_t, uint64_t, uint32_t);
IMPORT("fd_renumber") uint32_t fd_renumber(uint32_t, uint32_t);
IMPORT("fd_seek") uint32_t fd_seek(uint32_t, uint64_t, uint32_t, uint32_t);
IMPORT("fd_sync") uint32_t fd_sync(uint32_t);
IMPORT("fd_tell") uint32_t fd_tell(uint32_t, uint32_t);
IMPORT("fd_write") uint32_t fd_write(uint32_t, uint32_t, uint32_t, uint32_t);
IMPORT("path_create_directory")
uint32_t path_create_directory(uint32_t, uint32_t, uint32_t);
IMPORT("path_filestat_get")
uint32_t path_filestat_get(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
IMPORT("path_filestat_set_times")
uint32_t path_filestat_set_times(uint32_t, uint32_t, uint32_t, uint32_t,
                                 uint64_t, uint64_t, uint32_t);
IMPORT("path_link")
uint32_t path_link(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                   uint32_t);
IMPORT("path_open")
uint32_t path_open(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint64_t,
                   uint64_t, uint32_t, uint32_t);
IMPORT("path_readlink")
uint32_t path_readlink(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                       uint32_t);
IMPORT("path_remove_directory")
uint32_t path_remove_directory(uint32_t, uint32_t, uint32_t);
IMPORT("path_rename")
uint32_t path_rename(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                     uint32_t);
IMPORT("path_symlink")
uint32_t path_symlink(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
IMPORT("path_unlink_file")
uint32_t path_unlink_file(uint32_t, uint32_t, uint32_t);
IMPORT("poll_oneoff")
uint32_t poll_oneoff(uint32_t, uint32_t, uint32_t, uint32_t);
IMPORT("proc_exit") _Noreturn void proc_exit(uint32_t);
IMPORT("proc_raise") uint32_t proc_raise(uint32_t);
IMPORT("sched_yield") uint32_t sched_yield(void);
IMPORT("random_get") uint32_t random_get(uint32_t, uint32_t);
IMPORT("sock_accept") uint32_t sock_accept(uint32_t, uint32_t, uint32_t);
IMPORT("sock_recv")
uint32_t sock_recv(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
IMPORT("sock_send")
uint32_t sock_send(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
IMPORT("sock_shutdown") uint32_t sock_shutdown(uint32_t, uint32_t);

enum {
    ACCES = 2,
    AGAIN = 6,
    BADF = 8,
    EXIST = 20,
    FAULT = 21,
    INVAL = 28,
    ISDIR = 31,
    LOOP = 32,
    NAMETOOLONG = 37,
    NOENT = 44,
    NOTDIR = 54,
    NOTEMPTY = 55,
    NOTSOCK = 57,
    NOTSUP = 58,
    PERM = 63,
    SPIPE = 70,
    NOTCAPABLE = 76,
};

enum { UNKNOWN, BLOCK, CHARACTER, DIRECTORY, REGULAR, DGRAM, STREAM, SYMLINK };
enum { FOLLOW = 1 };
enum { CREAT = 1, O_DIR = 2, EXCL = 4, TRUNC = 8 };
enum { APPEND = 1, DSYNC = 2, NONBLOCK = 4, RSYNC = 8, SYNC = 16 };

#define R_DATASYNC    (1ull << 0)
#define R_READ        (1ull << 1)
#define R_SEEK        (1ull << 2)
#define R_SET_FLAGS   (1ull << 3)
#define R_SYNC        (1ull << 4)
#define R_TELL        (1ull << 5)
#define R_WRITE       (1ull << 6)
#define R_ADVISE      (1ull << 7)
#define R_ALLOCATE    (1ull << 8)
#define R_MKDIR       (1ull << 9)
#define R_CREATE      (1ull << 10)
#define R_LINK_FROM   (1ull << 11)
#define R_LINK_TO     (1ull << 12)
#define R_OPEN        (1ull << 13)
#define R_READDIR     (1ull << 14)
#define R_READLINK    (1ull << 15)
#define R_RENAME_FROM (1ull << 16)
#define R_RENAME_TO   (1ull << 17)
#define R_STAT        (1ull << 18)
#define R_PATH_SIZE   (1ull << 19)
#define R_PATH_TIMES  (1ull << 20)
#define R_FSTAT       (1ull << 21)
#define R_FD_SIZE     (1ull << 22)
#define R_FD_TIMES    (1ull << 23)
#define R_SYMLINK     (1ull << 24)
#define R_RMDIR       (1ull << 25)
#define R_UNLINK      (1ull << 26)
#define R_POLL        (1ull << 27)
#define R_ALL         ((1ull << 30) - 1)
#define R_DIR         (R_ALL & ~R_WRITE) /* directories are not written to */

struct iovec32 {
    ptr buf;
    uint32_t len;
};

struct fdstat {
    uint8_t type;
    uint16_t flags;
    uint64_t base, inheriting;
};

struct filestat {
    uint64_t dev, ino;
    uint8_t type;
    uint64_t nlink, size, atim, mtim, ctim;
};

struct prestat {
    uint32_t tag, len;
};

struct dirent32 {
    uint64_t next, ino;
    uint32_t namlen;
    uint8_t type;
};

struct subscription {
    uint64_t userdata;
    uint8_t tag;
    union {
        struct {
            uint32_t id;
            uint64_t timeout, precision;
            uint16_t flags;
        } clock;
        uint32_t fd;
    };
};

struct event {
    uint64_t userdata;
    uint16_t error;
    uint8_t type;
    uint64_t nbytes;
    uint16_t flags;
};

#define BAD  0xfffffff0u /* an address outside of memory */
#define P(x) ((ptr)(uintptr_t)(x))
#define S(s) P(s), (uint32_t)strlen(s)

static int failures;

#define CHECK(cond)                                                     \
    do {                                                                \
        if (!(cond)) {                                                  \
            failures++;                                                 \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #cond); \
        }                                                               \
    } while (0)

#define IS(call, want)                                                     \
    do {                                                                   \
        uint32_t got_ = (call);                                            \
        if (got_ != (want)) {                                              \
            failures++;                                                    \
            printf("%s:%d: %s is %u, not %u\n", __FILE__, __LINE__, #call, \
                   (unsigned)got_, (unsigned)(want));                      \
        }                                                                  \
    } while (0)

#define OK(call) IS(call, 0)

/* path_open with all rights that files have; the errno. */
static inline uint32_t
open_in(uint32_t dir, const char *path, uint32_t oflags, uint64_t rights,
        uint32_t *fd)
{
    return path_open(dir, FOLLOW, S(path), oflags, rights, R_ALL, 0, P(fd));
}

static inline uint32_t
write_text(uint32_t fd, const char *text)
{
    struct iovec32 v = {S(text)};
    uint32_t n = 0;
    uint32_t r = fd_write(fd, P(&v), 1, P(&n));

    return r ? r : n == v.len ? 0 : 1000 + n;
}

/* A new directory /tmp/<name>, open with all rights. */
static inline uint32_t
scratch(const char *name)
{
    char path[64] = "tmp/";
    uint32_t fd = 0;

    strcat(path, name);
    OK(path_create_directory(3, S(path)));
    OK(open_in(3, path, O_DIR, R_DIR, &fd));
    return fd;
}

static inline void
make_file(uint32_t dir, const char *name, const char *text)
{
    uint32_t fd = 0;

    OK(open_in(dir, name, CREAT | TRUNC, R_WRITE, &fd));
    OK(write_text(fd, text));
    OK(fd_close(fd));
}

#endif
