/* Guest tests: plain POSIX programs that must behave the same natively (as
 * root and as an ordinary user) and in the sandbox (uid 1000, wasm32, musl).
 * Exit status 0 passes; a failed check says where and exits 1. The runner
 * gives two minutes, /dev/null as stdin and an empty current directory.
 *
 * A program that calls fork() says so in its first three lines with the
 * comment "post: fork"; others use spawn_self(). Only the process that called
 * tmpdir() removes the directory, so children may exit as they like. */
#ifndef GUEST_H
#define GUEST_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE  2
#endif

/* An address that no process can own, natively or in wasm32. */
#define BAD_ADDR ((void *)-4096L)

#define UNUSED __attribute__((unused))

static void guest_fail(const char *, int, const char *, const char *, ...)
    __attribute__((noreturn, cold, format(printf, 4, 5)));

static void
guest_fail(const char *file, int line, const char *what, const char *fmt, ...)
{
    int err = errno;
    va_list ap;

    fprintf(stderr, "%s:%d: %s: ", file, line, what);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, " (errno %d: %s)\n", err, strerror(err));
    exit(1);
}

/* cond holds. */
#define CHECK(cond) \
    ((cond) ? (void)0 : guest_fail(__FILE__, __LINE__, #cond, "is false"))

/* Two integers are equal. */
#define CHECK_EQ(got, want)                                              \
    do {                                                                 \
        long long got_ = (long long)(got), want_ = (long long)(want);    \
        if (got_ != want_)                                               \
            guest_fail(__FILE__, __LINE__, #got, "%lld, not %lld", got_, \
                       want_);                                           \
    } while (0)

/* Two strings are equal. */
#define CHECK_STR(got, want)                                                 \
    do {                                                                     \
        const char *got_ = (got), *want_ = (want);                           \
        if (strcmp(got_, want_) != 0)                                        \
            guest_fail(__FILE__, __LINE__, #got, "\"%s\", not \"%s\"", got_, \
                       want_);                                               \
    } while (0)

/* The call returns -1 with this errno. */
#define CHECK_ERR(call, err)                                               \
    do {                                                                   \
        errno = 0;                                                         \
        long long got_ = (long long)(call);                                \
        if (got_ != -1 || errno != (err))                                  \
            guest_fail(__FILE__, __LINE__, #call, "returned %lld, not %s", \
                       got_, #err);                                        \
    } while (0)

/* The call does not return -1; its value. */
#define OK(call)                                             \
    ({                                                       \
        __typeof__(call) ok_ = (call);                       \
        if (ok_ == (__typeof__(ok_))-1)                      \
            guest_fail(__FILE__, __LINE__, #call, "failed"); \
        ok_;                                                 \
    })

/* Removes name below dirfd with all it holds, whatever the modes. */
static UNUSED void
remove_tree(int dirfd, const char *name)
{
    struct dirent *e;
    DIR *d;
    int fd;

    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return;
    (void)fchmodat(dirfd, name, 0700, 0);
    fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    d = fd < 0 ? NULL : fdopendir(fd);
    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_tree(fd, e->d_name);
    if (d)
        closedir(d);
    (void)unlinkat(dirfd, name, AT_REMOVEDIR);
}

static char guest_dir[256];
static pid_t guest_dir_owner;

static UNUSED void
guest_cleanup(void)
{
    if (getpid() == guest_dir_owner && chdir("/") == 0)
        remove_tree(AT_FDCWD, guest_dir);
}

/* Makes a fresh directory the current one, removed at exit; its path. */
static UNUSED const char *
tmpdir(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(guest_dir, sizeof guest_dir, "%s/guest.XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
    CHECK(mkdtemp(guest_dir) != NULL);
    guest_dir_owner = getpid();
    CHECK(atexit(guest_cleanup) == 0);
    OK(chdir(guest_dir));
    CHECK(getcwd(guest_dir, sizeof guest_dir) != NULL); /* without links */
    umask(022);
    return guest_dir;
}

/* Become an ordinary user (the guest always is one): call before tmpdir(). */
static UNUSED void
as_user(void)
{
    if (geteuid() != 0)
        return;
    OK(setgroups(0, NULL));
    OK(setresgid(1000, 1000, 1000));
    OK(setresuid(1000, 1000, 1000));
    OK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); /* /proc/self stays ours */
}

/* Writes text into a new or emptied file. */
static UNUSED void
put(const char *path, const char *text)
{
    int fd = OK(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));

    CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
    OK(close(fd));
}

/* Reads a file until its end (at most size - 1 bytes) and terminates it. */
static UNUSED size_t
get(const char *path, char *buf, size_t size)
{
    int fd = OK(open(path, O_RDONLY | O_CLOEXEC));
    size_t len = 0;
    ssize_t n;

    while ((n = OK(read(fd, buf + len, size - 1 - len))) > 0)
        len += (size_t)n;
    OK(close(fd));
    buf[len] = 0;
    return len;
}

/* The file holds exactly text (up to 4 KiB). */
#define CHECK_FILE(path, text)          \
    do {                                \
        char text_[4096];               \
        get(path, text_, sizeof text_); \
        CHECK_STR(text_, text);         \
    } while (0)

static UNUSED struct stat
stat_of(const char *path)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        guest_fail(path, 0, "lstat", "failed");
    return st;
}

static UNUSED int
exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* Starts this program again with argv = {"child", arg}; descriptors without
 * close-on-exec are inherited. */
static UNUSED pid_t
spawn_self(const char *arg)
{
    extern char **environ;
    char *argv[] = {(char *)"child", (char *)arg, NULL};
    pid_t pid;

    errno = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ);
    CHECK(errno == 0);
    return pid;
}

/* The exit status of a child that was not killed by a signal. */
static UNUSED int
wait_exit(pid_t pid)
{
    int status;

    CHECK_EQ(OK(waitpid(pid, &status, 0)), pid);
    if (!WIFEXITED(status))
        guest_fail(__FILE__, __LINE__, "child", "status %#x", (unsigned)status);
    return WEXITSTATUS(status);
}

/* Seconds on the monotonic clock, to bound a loop that waits for a change. */
static UNUSED double
now_s(void)
{
    struct timespec ts;

    OK(clock_gettime(CLOCK_MONOTONIC, &ts));
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

#endif
