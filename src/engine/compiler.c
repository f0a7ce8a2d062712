/* A separate process compiles each program, because the module determines how
 * much time and memory that takes, and a process can be killed. The module is
 * sent in a memory file, and the code returned in another.
 *
 * The process inherits nothing else: no environment, no descriptors, no
 * terminal. jail.c contains the restrictions that it imposes on itself. */
#include "engine/compiler.h"

#include "base/hfd.h"
#include "base/os_spawn.h"
#include "base/os_time.h"
#include "base/time.h"
#include "engine/code.h"
#include "engine/compilation.h"
#include "engine/compiler_remote.h"
#include "engine/engine_impl.h"
#include "engine/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    COMPILERS_MAX = 8, /* at a time, of programs that are not trusted */
    FIRST_HFD = 32,    /* above the numbers that the process gets */
};

int
compiler_hfd(OWN int hfd)
{
    if (hfd < 0)
        return -errno;
    int up = fcntl(hfd, F_DUPFD_CLOEXEC, FIRST_HFD);
    int r = up < 0 ? -errno : up;
    close(hfd);
    return r;
}

/* The file is opened now and executed through its descriptor: the name may be
 * another program's later. */
int
compiler_init(struct compiler *c, const char *path)
{
    if (!path)
        return 0;
    int hfd = compiler_hfd(open(path, O_PATH | O_CLOEXEC));
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
compiler_memory_file(const char *name)
{
    return compiler_hfd(memfd_create(name, MFD_CLOEXEC));
}

static int
compiler_order_file(const struct program_source *src)
{
    const struct compiler_order order = {.is_trusted = src->is_trusted};
    int hfd = compiler_memory_file("wasmsand-module");

    if (hfd < 0)
        return hfd;
    int r = hfd_write_all(hfd, &order, sizeof order);
    if (r == 0)
        r = hfd_write_all(hfd, src->bytes, src->len);
    if (r == 0)
        return hfd;
    close(hfd);
    return r;
}

/* --- starting and ending the process */

/* Descriptors 0 to n - 1 are those given, n is the executable, and all others
 * are closed. The given ones are above FIRST_HFD, so that none is overwritten
 * before it is used. */
static int
compiler_set_files(posix_spawn_file_actions_t *files, int exe, const int *hfds,
                   int n)
{
    int r = 0;

    for (int i = 0; i < n && !r; i++)
        r = hfds[i] < 0 ? posix_spawn_file_actions_addopen(
                              files, i, "/dev/null", O_RDWR, 0)
                        : posix_spawn_file_actions_adddup2(files, hfds[i], i);
    if (!r)
        r = posix_spawn_file_actions_adddup2(files, exe, n);
    if (!r)
        r = posix_spawn_file_actions_addclosefrom_np(files, n + 1);
    return r;
}

pid_t
compiler_spawn(const struct compiler *c, const char *word, const int *hfds,
               int n)
{
    char *const argv[] = {(char[]){"wasm-sandbox"}, (char *)word, NULL};
    char path[32];
    posix_spawn_file_actions_t files;

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", n);
    if (posix_spawn_file_actions_init(&files))
        return -ENOMEM;
    int r = compiler_set_files(&files, c->hfd, hfds, n);
    pid_t pid = r ? -r : os_spawn(path, &files, argv);
    (void)posix_spawn_file_actions_destroy(&files);
    return pid;
}

static int64_t
timeval_ns(struct timeval tv)
{
    return tv.tv_sec * NS_PER_S + tv.tv_usec * 1000;
}

int
compiler_reap(pid_t pid, int64_t *ret_cpu_ns)
{
    struct rusage used = {0};
    int status = 0;
    pid_t r;

    do
        r = wait4(pid, &status, 0, &used);
    while (r < 0 && errno == EINTR);
    *ret_cpu_ns = timeval_ns(used.ru_utime) + timeval_ns(used.ru_stime);
    return r < 0 ? -ECHILD : status;
}

static int
compilation_reap(struct compilation *c)
{
    pid_t pid = c->pid;

    c->pid = 0;
    return compiler_reap(pid, &c->cpu_ns);
}

/* Called with the last reference. A process that still runs is killed: nobody
 * waits for its code. */
static void
compiler_compilation_free(struct counted *base)
{
    struct compilation *c = (struct compilation *)base;

    compilations_remove(c);
    if (c->slot >= 0) {
        compiler_remote_leave(&c->engine->remote, c->slot);
        c->base.hfd = -1;
    }
    if (c->pid) {
        (void)kill(c->pid, SIGKILL);
        (void)compilation_reap(c);
    }
    if (!c->is_trusted)
        c->engine->compiler.running--;
    hfd_closep(&c->out_hfd);
    hfd_closep(&c->base.hfd);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void
compilation_putp(struct compilation **c)
{
    if (*c)
        program_put(&(*c)->base);
}

/* The count includes this compilation, so that two threads cannot both be the
 * last one that is allowed. */
static OWN struct compilation *
compilation_new(struct engine *e, const uint8_t *hash, bool is_trusted)
{
    struct compilation *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->base = (struct program){{1, compiler_compilation_free}, -1};
    c->engine = e;
    c->out_hfd = c->slot = -1;
    c->is_trusted = is_trusted;
    memcpy(c->hash, hash, sizeof c->hash);
    list_init(&c->link);
    pthread_mutex_init(&c->lock, NULL);
    if (!is_trusted)
        e->compiler.running++;
    return c;
}

/* A host that ignores SIGCHLD has its children reaped by its kernel. */
static const char STATUS_LOST[] =
    "the status of the compiler is lost: does the host ignore SIGCHLD?";

static int
compiler_refuse(char *why, size_t why_size, const char *reason)
{
    (void)snprintf(why, why_size, "%s", reason);
    return -ENOEXEC;
}

/* Standard error goes to the output file as well: if the compiler runs out of
 * memory, its message is the only trace of the reason. */
static int
compiler_start_process(struct compilation *c, const struct program_source *src,
                       char *why, size_t why_size)
{
    const struct compiler *compiler = &c->engine->compiler;

    CLEANUP(hfd_closep) int in = compiler_order_file(src);
    if (in < 0)
        return in;
    c->out_hfd = compiler_memory_file("wasmsand-code");
    if (c->out_hfd < 0)
        return c->out_hfd;
    const int hfds[COMPILER_EXE_HFD] = {in, c->out_hfd, c->out_hfd};
    pid_t pid = compiler_spawn(compiler, "compile", hfds, COMPILER_EXE_HFD);
    if (pid < 0) {
        (void)snprintf(why, why_size, "the compiler cannot be started: %s",
                       strerrordesc_np(-pid));
        return pid;
    }
    c->base.hfd = pidfd_open(pid, 0);
    if (c->base.hfd < 0 && errno == ESRCH) /* it has ended, and left nothing */
        return compiler_refuse(why, why_size, STATUS_LOST);
    c->pid = pid;
    return c->base.hfd < 0 ? -errno : 0;
}

/* The descriptor of the slot belongs to the remote: it is not closed with the
 * compilation. */
static int
compiler_start_remote(struct compilation *c, const struct program_source *src,
                      char *why, size_t why_size)
{
    struct remote *m = &c->engine->remote;
    int slot = compiler_remote_order(m, src->bytes, src->len);

    if (slot == -EIO)
        return compiler_refuse(why, why_size, "the compiler has ended");
    if (slot < 0)
        return slot;
    c->slot = slot;
    c->base.hfd = m->slot[slot].hfd;
    return 0;
}

int
compilation_start(struct engine *e, const struct program_source *src,
                  const uint8_t *hash, OWN struct compilation **ret, char *why,
                  size_t why_size)
{
    bool is_remote = e->remote.is_there;

    if (e->compiler.hfd < 0 && !is_remote)
        return compiler_refuse(
            why, why_size,
            "written by a guest, and no compiler is configured for "
            "such programs");
    CLEANUP(compilation_putp)
    struct compilation *c = compilation_new(e, hash, src->is_trusted);
    if (!c)
        return -ENOMEM;
    if (e->compiler.running > COMPILERS_MAX && !src->is_trusted)
        return -EAGAIN;
    int r = (is_remote ? compiler_start_remote
                       : compiler_start_process)(c, src, why, why_size);
    if (r == 0)
        *ret = STEAL(c);
    return r;
}

bool
compilation_has_ended(const struct compilation *c)
{
    struct pollfd p = {.fd = c->base.hfd, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

/* The clock of another process can be read while it runs; after it was reaped,
 * its rusage is exact. */
int64_t
compilation_cost_ns(struct program *base)
{
    struct compilation *c = (struct compilation *)base;
    int64_t ns = 0;
    clockid_t clock;

    pthread_mutex_lock(&c->lock);
    if (!c->pid)
        ns = c->cpu_ns;
    else if (!clock_getcpuclockid(c->pid, &clock))
        ns = time_read_ns(clock);
    pthread_mutex_unlock(&c->lock);
    return ns;
}

/* --- its answer */

/* Uses the text in `out` as the reason. */
static int
compiler_refuse_with_text(int out, char *why, size_t why_size)
{
    ssize_t n = why_size ? pread(out, why, why_size - 1, 0) : 0;

    if (why_size)
        why[n > 0 ? n : 0] = 0;
    return -ENOEXEC;
}

/* Turns the signal that ended a compiler into a reason. It is final if a limit
 * of the process was the cause, which the same module would reach again. The
 * wall clock depends on the load of the host, so SIGALRM is not final. */
static int
compiler_explain_death(int out, int sig, bool *ret_is_final, char *why,
                       size_t why_size)
{
    static const char no_memory[] = "memory allocation of";
    char text[sizeof no_memory] = "";

    *ret_is_final = true;
    if (sig == SIGXCPU)
        return compiler_refuse(why, why_size,
                               "took longer than 20 s to compile");
    if (sig == SIGXFSZ)
        return compiler_refuse(why, why_size,
                               "more than 128 MiB of compiled code");
    if (pread(out, text, sizeof text - 1, 0) > 0 && !strcmp(text, no_memory))
        return compiler_refuse(why, why_size,
                               "needs more than 1 GiB to compile");
    *ret_is_final = false;
    if (sig == SIGALRM)
        return compiler_refuse(why, why_size,
                               "took longer than 60 s to compile");
    (void)snprintf(why, why_size, "the compiler failed (signal %d)", sig);
    return -ENOEXEC;
}

/* A refusal that the compiler itself has written is final. A process that was
 * killed is judged by compiler_explain_death. */
int
compiler_outcome(int status, int out, bool *ret_is_final, char *why,
                 size_t why_size)
{
    *ret_is_final = false;
    if (!WIFEXITED(status))
        return compiler_explain_death(out, WTERMSIG(status), ret_is_final, why,
                                      why_size);
    if (WEXITSTATUS(status) == COMPILER_DONE)
        return 0;
    if (WEXITSTATUS(status) != COMPILER_REFUSED)
        return compiler_refuse(why, why_size, "the compiler failed");
    *ret_is_final = true;
    return compiler_refuse_with_text(out, why, why_size);
}

/* Maps the code that the process has written. The process is gone, so nobody
 * else can write to `out`. */
static int
compiler_map_code(int out, struct code *ret, char *why, size_t why_size)
{
    off_t len = lseek(out, 0, SEEK_END);

    if (len < 0)
        return -errno;
    if (len == 0)
        return compiler_refuse(why, why_size, "the compiler returned no code");
    return code_map(out, (size_t)len, ret);
}

/* The file is sealed, so it can be mapped without a copy. */
static int
compiler_take_remote(struct compilation *c, struct code *ret,
                     bool *ret_is_final, char *why, size_t why_size)
{
    struct remote_answer a = {0};

    if (compiler_remote_take(&c->engine->remote, c->slot, &a, &c->out_hfd) < 0)
        return compiler_refuse(why, why_size, "the compiler has ended");
    c->cpu_ns = a.cpu_ns;
    *ret_is_final = a.is_final;
    if (a.error == 0)
        return code_map(c->out_hfd, a.len, ret);
    (void)snprintf(why, why_size, "%s", a.why);
    return a.error;
}

int
compilation_take(struct compilation *c, struct code *ret, bool *ret_is_final,
                 char *why, size_t why_size)
{
    *ret_is_final = false;
    if (c->slot >= 0)
        return compiler_take_remote(c, ret, ret_is_final, why, why_size);
    int status = compilation_reap(c);
    if (status < 0)
        return compiler_refuse(why, why_size, STATUS_LOST);
    int r = compiler_outcome(status, c->out_hfd, ret_is_final, why, why_size);
    return r < 0 ? r : compiler_map_code(c->out_hfd, ret, why, why_size);
}
