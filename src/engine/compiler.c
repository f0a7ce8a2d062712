/* Programs that guests have written are compiled by a process of its own for
 * each, which can be killed: compiling takes what time and memory the module
 * makes it take. The module goes there in a memory file, the code comes back
 * in another.
 *
 * The process gets nothing else of ours: no environment, no descriptors, no
 * terminal. What it does to itself is in jail.c. */
#include "engine/engine_impl.h"

#include "base/hfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    COMPILERS_MAX = 8, /* at a time */
    WALL_S = 60,       /* of a process that gets no CPU */
    FIRST_HFD = 10,    /* above the numbers that the process gets */
};
#define NS_PER_S INT64_C(1000000000)

static int64_t
now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* The same file under a number that is free in the new process too. */
static int
hfd_move_up(OWN int hfd)
{
    if (hfd < 0)
        return -errno;
    int up = fcntl(hfd, F_DUPFD_CLOEXEC, FIRST_HFD);
    int r = up < 0 ? -errno : up;
    close(hfd);
    return r;
}

int
compiler_init(struct compiler *c, const char *path)
{
    if (!path)
        return 0;
    /* Opened now: what has the name later may be another. */
    int hfd = hfd_move_up(open(path, O_PATH | O_CLOEXEC));
    if (hfd < 0)
        return hfd;
    c->hfd = hfd;
    return 0;
}

void
compiler_fini(struct compiler *c)
{
    hfd_closep(&c->hfd);
}

static int
memory_file(const char *name, const void *bytes, size_t len)
{
    int hfd = hfd_move_up(memfd_create(name, MFD_CLOEXEC));

    if (hfd < 0 || !len)
        return hfd;
    int r = hfd_write_all(hfd, bytes, len);
    if (r == 0)
        return hfd;
    close(hfd);
    return r;
}

/* --- starting and ending the process */

static int
set_files(posix_spawn_file_actions_t *files, int exe, int in, int out)
{
    int r = posix_spawn_file_actions_adddup2(files, in, 0);

    if (!r)
        r = posix_spawn_file_actions_adddup2(files, out, 1);
    if (!r)
        r = posix_spawn_file_actions_adddup2(files, out, 2);
    if (!r)
        r = posix_spawn_file_actions_adddup2(files, exe, COMPILER_EXE_HFD);
    if (!r)
        r = posix_spawn_file_actions_addclosefrom_np(files,
                                                     COMPILER_EXE_HFD + 1);
    return r;
}

static int
set_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    int r = posix_spawnattr_setsigmask(attr, &none);
    if (!r)
        r = posix_spawnattr_setsigdefault(attr, &all);
    if (!r)
        r = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF |
                                               POSIX_SPAWN_SETSID);
    return r;
}

/* Its id, or -errno. posix_spawn, not fork: this process has threads and a lot
 * of memory. */
static pid_t
spawn(int exe, int in, int out)
{
    char name[] = "wasm-sandbox", word[] = "compile";
    char *const argv[] = {name, word, NULL}, *const envp[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    pid_t pid = -1;

    if (posix_spawn_file_actions_init(&files))
        return -ENOMEM;
    if (posix_spawnattr_init(&attr)) {
        (void)posix_spawn_file_actions_destroy(&files);
        return -ENOMEM;
    }
    int r = set_files(&files, exe, in, out);
    if (!r)
        r = set_attributes(&attr);
    if (!r)
        r = posix_spawn(&pid, "/proc/self/fd/3", &files, &attr, argv, envp);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&files);
    return r ? -r : pid;
}

/* -ETIME: it still runs at the deadline. */
static int
await(pid_t pid, int64_t deadline_ns)
{
    CLEANUP(hfd_closep) int hfd = pidfd_open(pid, 0);
    struct pollfd p = {.fd = hfd, .events = POLLIN};

    if (hfd < 0)
        return -errno;
    for (;;) {
        int64_t left = deadline_ns - now_ns();
        struct timespec ts = {left / NS_PER_S, left % NS_PER_S};
        if (left <= 0)
            return -ETIME;
        int n = ppoll(&p, 1, &ts, NULL);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
    }
}

/* How it ended; si_code 0: nobody can tell, for the host ignores SIGCHLD. */
static siginfo_t
reap(pid_t pid)
{
    siginfo_t info = {0};

    while (waitid(P_PID, (id_t)pid, &info, WEXITED) < 0)
        if (errno != EINTR)
            return (siginfo_t){0};
    return info;
}

/* --- its answer */

static int
refuse(char *why, size_t why_size, const char *reason)
{
    (void)snprintf(why, why_size, "%s", reason);
    return -ENOEXEC;
}

/* What it has written to `out` as a text. */
static int
refuse_with_text(int out, char *why, size_t why_size)
{
    ssize_t n = why_size ? pread(out, why, why_size - 1, 0) : 0;

    if (why_size)
        why[n > 0 ? n : 0] = 0;
    return -ENOEXEC;
}

static int
explain_death(int out, const siginfo_t *info, char *why, size_t why_size)
{
    static const char no_memory[] = "memory allocation of";
    char text[sizeof no_memory] = "";

    if (info->si_status == SIGXCPU)
        return refuse(why, why_size, "took longer than 20 s to compile");
    if (info->si_status == SIGXFSZ)
        return refuse(why, why_size, "more than 128 MiB of compiled code");
    if (pread(out, text, sizeof text - 1, 0) > 0 && !strcmp(text, no_memory))
        return refuse(why, why_size, "needs more than 1 GiB to compile");
    (void)snprintf(why, why_size, "the compiler failed (signal %d)",
                   info->si_status);
    return -ENOEXEC;
}

/* The process is gone: nobody else can write to `out`. */
static int
load(struct engine *e, int out, OWN wasmtime_module_t **ret, char *why,
     size_t why_size)
{
    struct stat st;

    if (fstat(out, &st) < 0)
        return -errno;
    if (st.st_size <= 0)
        return refuse(why, why_size, "the compiler gave no code");
    size_t len = (size_t)st.st_size;
    void *code = mmap(NULL, len, PROT_READ, MAP_PRIVATE, out, 0);
    if (code == MAP_FAILED)
        return -errno;
    wasmtime_error_t *error =
        wasmtime_module_deserialize(e->wasm, code, len, ret);
    munmap(code, len);
    if (!error)
        return 0;
    error_text(error, why, why_size);
    return -ENOEXEC;
}

static int
take_answer(struct engine *e, int out, const siginfo_t *info,
            OWN wasmtime_module_t **ret, char *why, size_t why_size)
{
    if (!info->si_code)
        return refuse(why, why_size,
                      "the compiler's status is lost: is SIGCHLD ignored?");
    if (info->si_code != CLD_EXITED)
        return explain_death(out, info, why, why_size);
    switch (info->si_status) {
    case COMPILER_DONE:
        return load(e, out, ret, why, why_size);
    case COMPILER_REFUSED:
        return refuse_with_text(out, why, why_size);
    default:
        return refuse(why, why_size, "the compiler failed");
    }
}

/* --- all of it */

static int
run(struct engine *e, const struct program_source *src,
    OWN wasmtime_module_t **ret, char *why, size_t why_size)
{
    int64_t deadline = now_ns() + WALL_S * NS_PER_S;
    bool is_short = src->deadline_ns && src->deadline_ns < deadline;

    CLEANUP(hfd_closep)
    int in = memory_file("wasmsand-module", src->bytes, src->len);
    if (in < 0)
        return in;
    CLEANUP(hfd_closep) int out = memory_file("wasmsand-code", NULL, 0);
    if (out < 0)
        return out;
    pid_t pid = spawn(e->compiler.hfd, in, out);
    if (pid < 0) {
        (void)snprintf(why, why_size, "the compiler cannot be started: %s",
                       strerrordesc_np(-pid));
        return pid;
    }
    int r = await(pid, is_short ? src->deadline_ns : deadline);
    if (r < 0)
        (void)kill(pid, SIGKILL);
    siginfo_t info = reap(pid);
    if (r == 0)
        return take_answer(e, out, &info, ret, why, why_size);
    if (r != -ETIME)
        return r;
    return is_short ? -EINTR
                    : refuse(why, why_size, "took longer than 20 s to compile");
}

int
compiler_run(struct engine *e, const struct program_source *src,
             OWN wasmtime_module_t **ret, char *why, size_t why_size)
{
    struct compiler *c = &e->compiler;

    if (c->hfd < 0)
        return refuse(why, why_size,
                      "written by a guest, and there is no compiler for those");
    int r = -EAGAIN;
    if (c->running++ < COMPILERS_MAX)
        r = run(e, src, ret, why, why_size);
    c->running--;
    return r;
}
