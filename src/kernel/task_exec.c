/* exec: from a path to a program, with #! lines.
 *
 * Two steps. task_exec_prepare does everything that can fail: it follows the
 * path and the #! lines, checks rights and policy, finds the compiled program
 * and stores the arguments. task_exec_commit then resets what an exec resets,
 * and cannot fail.
 *
 * If the program has to be compiled, the thread waits for the compiler and the
 * whole call is repeated: by then the path may lead to another file. */
#include "base/counter.h"
#include "kernel/exec.h"
#include "kernel/kernel.h"
#include "kernel/posix_timers.h"
#include "kernel/strace.h"
#include "kernel/syscall.h"
#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    INTERPRETERS_MAX = 5,
    SHEBANG_BYTES = 256,
    PROGRAM_BYTES_MAX = 256 << 20,
    /* The engine compiles 16 MiB; a copy of python3 is larger. */
    UNTRUSTED_BYTES_MAX = 32 << 20,
};

/* The progress of an exec: the current path, and the arguments so far. */
struct exec_state {
    struct task *t;
    const struct exec *e;
    const char *path; /* of e, or in a line */
    struct walk walk;
    struct vnode node;
    struct attr attr;
    const char **argv; /* owned array of borrowed strings */
    size_t argc;
    char *lines[INTERPRETERS_MAX]; /* owned: the #! lines so far */
    bool is_allowed;               /* by policy */
};

static void
exec_state_fini(struct exec_state *x)
{
    for (int i = 0; i < INTERPRETERS_MAX; i++)
        free(x->lines[i]);
    free(x->argv);
}

/* Each #! line may add two arguments, so the array is allocated for all of
 * them. */
static int
exec_state_init(struct exec_state *x, struct task *t, const struct exec *e)
{
    x->t = t;
    x->e = e;
    x->path = e->path;
    while (e->argv[x->argc])
        x->argc++;
    x->argv =
        calloc(x->argc + 2 + 2 * (size_t)INTERPRETERS_MAX, sizeof *x->argv);
    if (!x->argv)
        return -ENOMEM;
    memcpy(x->argv, e->argv, x->argc * sizeof *x->argv);
    if (!x->argc)
        x->argv[x->argc++] = "";
    return 0;
}

/* Only regular files with the right to execute them. A #! script needs no right
 * to read, as the kernel reads it. */
static int
task_exec_find_file(struct exec_state *x, const struct vnode *base)
{
    struct task *t = x->t;

    int r = task_walk(t, base, x->path, 0, &x->walk);
    if (r < 0)
        return r;
    x->node = x->walk.node;
    r = vnode_getattr(&x->node, &x->attr);
    if (r < 0)
        return r;
    if (!S_ISREG(x->attr.mode))
        return -EACCES;
    return vfs_access(&t->as.cred, &x->attr, X_OK);
}

/* Reads up to len bytes from the start of the file. Returns the number of
 * bytes. */
static int64_t
task_exec_read_file(struct exec_state *x, void *buf, size_t len)
{
    struct fs *fs = x->node.mnt->fs;
    struct file *f;
    uint64_t pos = 0;

    int r = fs->ops->open(fs, &x->t->as, x->node.ino, O_RDONLY, &f);
    if (r < 0)
        return r;
    while (pos < len) {
        int64_t n = f->ops->read(f, x->t, (char *)buf + pos, len - pos, &pos);
        if (n < 0)
            r = (int)n;
        if (n <= 0)
            break;
    }
    file_put(f);
    return r < 0 ? r : (int64_t)pos;
}

/* Returns true if the line does not fit and the name of the interpreter is cut;
 * a cut argument is accepted, as on Linux. */
static bool
task_exec_is_cut_short(const char *line)
{
    const char *interp = line + 2 + strspn(line + 2, " \t");

    return strlen(line) >= SHEBANG_BYTES && !strpbrk(interp, " \t");
}

/* Cuts a line "#!interpreter [argument]" into its words, in place. Everything
 * after the interpreter is one argument. */
static int
task_exec_parse_shebang(char *line, char **ret_interp, char **ret_arg)
{
    char *end = strchr(line, '\n');

    if (end)
        *end = 0;
    else if (task_exec_is_cut_short(line))
        return -ENOEXEC;
    for (end = line + strlen(line); end > line + 2; end--)
        if (end[-1] != ' ' && end[-1] != '\t')
            break;
    *end = 0;
    char *interp = line + 2 + strspn(line + 2, " \t");
    char *arg = interp + strcspn(interp, " \t");
    if (*arg) {
        *arg++ = 0;
        arg += strspn(arg, " \t");
    }
    if (!*interp)
        return -ENOEXEC;
    *ret_interp = interp;
    *ret_arg = *arg ? arg : NULL;
    return 0;
}

/* Rewrites argv to: interpreter, its argument, the script, the old argv[1] and
 * so on. */
static int
task_exec_interpret(struct exec_state *x, char *line)
{
    char *interp, *arg;

    int r = task_exec_parse_shebang(line, &interp, &arg);
    if (r < 0)
        return r;
    size_t more = arg ? 2 : 1;
    size_t old = x->argc ? x->argc - 1 : 0;
    memmove(x->argv + 1 + more, x->argv + 1, old * sizeof *x->argv);
    x->argv[0] = interp;
    if (arg)
        x->argv[1] = arg;
    x->argv[more] = x->path;
    x->argc = 1 + more + old;
    x->path = interp;
    return 0;
}

/* Adds the CPU time of a compiler to the sandbox: compiling is its work. */
static void
task_exec_charge(struct kernel *k, struct task *t, struct program *p)
{
    int64_t ns = k->machine->cost_ns(p);

    COUNTER_ADD(k->cpu_ns, ns);
    if (t && !k->clock.is_virtual)
        t->usage.cpu_ns += ns;
}

/* Loads a program, or starts to compile it. In a deterministic sandbox the
 * thread waits here, because other processes must not run meanwhile. */
static int
task_exec_load_source(struct task *t, const struct program_source *src,
                      OWN struct program **ret, char *why, size_t why_size)
{
    struct kernel *k = t->kernel;
    bool waits_here = k->clock.is_virtual && t->thread;
    CLEANUP(program_putp) struct program *pending = NULL;

    for (;;) {
        struct program *p;
        int r = k->machine->load(k->engine, src, &p, why, why_size);
        if (r == 0 || (r == -EINPROGRESS && !waits_here))
            *ret = p;
        if (r != -EINPROGRESS || !waits_here)
            return r;
        program_put(pending);
        pending = p;
        r = program_await(k->host, p, -1, k->deadline_ns);
        task_exec_charge(k, t, p);
        if (r < 0)
            return -EINTR;
    }
}

/* Programs of the root image are passed as a part of the mapped file, others as
 * a copy. The bytes of a trusted program are the host's, unchanged: only these
 * may use the cache. */
static int
task_exec_load(struct exec_state *x, OWN struct program **ret, char *why,
               size_t why_size)
{
    struct kernel *k = x->t->kernel;
    size_t len = (size_t)x->attr.size;
    bool is_trusted = exec_is_given(k, &x->node);
    uint64_t max = is_trusted ? PROGRAM_BYTES_MAX : UNTRUSTED_BYTES_MAX;

    if (x->attr.size > max) {
        (void)snprintf(why, why_size, "module of more than %d MiB",
                       (int)(max >> 20));
        return -ENOEXEC;
    }
    struct program_source src = {.len = len,
                                 .name = x->path,
                                 .is_trusted = is_trusted,
                                 .file = k->image_file};
    src.bytes = tmpfs_content(x->node.mnt->fs, x->node.ino);
    if (src.bytes)
        return task_exec_load_source(x->t, &src, ret, why, why_size);
    uint8_t *bytes = malloc(len ? len : 1);
    if (!bytes)
        return -ENOMEM;
    int64_t n = task_exec_read_file(x, bytes, len);
    src.bytes = bytes;
    src.len = n < 0 ? 0 : (size_t)n;
    int r =
        n < 0 ? (int)n : task_exec_load_source(x->t, &src, ret, why, why_size);
    free(bytes);
    return r;
}

/* Passes the reason of a failure to the host that started the process, or to
 * the trace. */
static void
task_exec_report(struct exec_state *x, const char *why)
{
    struct host_sink *strace = strace_of_task(x->t);

    if (x->e->why)
        strncat(x->e->why, why, x->e->why_size - 1);
    else if (strace)
        strace_reason(strace, why);
}

/* Finds the compiled program of the file. The file system keeps it with the
 * content, so that it is loaded once. */
static int
task_exec_find_program(struct exec_state *x, OWN struct program **ret)
{
    struct fs *fs = x->node.mnt->fs;
    struct program *p = (struct program *)tmpfs_attached(fs, x->node.ino);
    char why[160] = "";

    if (p) {
        *ret = program_get(p);
        return 0;
    }
    int r = task_exec_load(x, ret, why, sizeof why);
    if (r < 0 && why[0])
        task_exec_report(x, why);
    if (r == 0)
        tmpfs_attach(fs, x->node.ino, &(*ret)->ref);
    return r;
}

/* Checks allow_tools for the current file. An allowed file may also run its
 * interpreter. */
static int
task_exec_check_policy(struct exec_state *x, const struct vnode *base,
                       bool is_script)
{
    const struct exec_file f = {.path = x->path,
                                .base = base,
                                .node = &x->node,
                                .argv0 = x->argv[0],
                                .is_script = is_script};

    if (x->is_allowed || !x->t->kernel->allow_tools)
        return 0;
    int r = exec_check_policy(x->t, &f);
    x->is_allowed = r > 0;
    return r < 0 ? r : 0;
}

/* Follows #! lines to a program. Each step reads the first bytes of the file.
 * An interpreter is searched from the current directory, as on Linux. */
static int
task_exec_resolve(struct exec_state *x)
{
    const struct vnode *base = x->e->base;

    for (int hop = 0;; hop++) {
        char head[SHEBANG_BYTES + 1];
        int r = task_exec_find_file(x, base);
        if (r < 0)
            return r;
        int64_t n = task_exec_read_file(x, head, SHEBANG_BYTES);
        if (n < 0)
            return (int)n;
        bool is_script = n >= 2 && head[0] == '#' && head[1] == '!';
        r = task_exec_check_policy(x, base, is_script);
        if (r < 0 || !is_script)
            return r;
        if (hop == INTERPRETERS_MAX)
            return -ELOOP;
        head[n] = 0;
        x->lines[hop] = strdup(head);
        r = x->lines[hop] ? task_exec_interpret(x, x->lines[hop]) : -ENOMEM;
        if (r < 0)
            return r;
        base = &x->t->cwd;
    }
}

/* The last part of the path, as ps shows it. */
static void
task_exec_set_comm(struct task *t, const char *path)
{
    const char *base = strrchr(path, '/');

    memset(t->comm, 0, sizeof t->comm);
    strncpy(t->comm, base ? base + 1 : path, sizeof t->comm - 1);
}

/* With a policy, AT_EXECFN is the path of the program and not that of a script.
 * A multi-call program may choose its function by it, and a script of the guest
 * may have any name. */
int
task_exec_prepare(struct task *t, const struct exec *e,
                  OWN struct program **ret)
{
    CLEANUP(exec_state_fini) struct exec_state x = {0};
    struct program *p = NULL;

    if (strlen(e->path) >= PATH_BYTES_MAX)
        return -ENAMETOOLONG;
    int r = exec_state_init(&x, t, e);
    if (r == 0)
        r = task_exec_resolve(&x);
    if (r == 0)
        r = task_exec_find_program(&x, &p);
    if (r == -EINPROGRESS)
        *ret = p;
    if (r < 0)
        return r;
    r = args_set(t, x.argv, e->envp, t->kernel->allow_tools ? x.path : e->path);
    if (r < 0) {
        program_put(p);
        return r;
    }
    vnode_hold(&x.node);
    if (t->exe.mnt)
        vnode_release(&t->exe);
    t->exe = x.node;
    t->exe_dir = x.walk.dir;
    memcpy(t->exe_name, x.walk.name, sizeof t->exe_name);
    if (cred_exec(&t->as.cred, &x.attr))
        t->pdeath_signal = 0;
    task_exec_set_comm(t, e->path);
    *ret = p;
    return 0;
}

/* The credentials have changed already; everything here cannot fail. */
void
task_exec_commit(struct task *t)
{
    signals_exec(t);
    posix_timers_fini(t);
    page_locks_fini(&t->locks);
    fd_close_all(t, true);
    abi_state_free(STEAL(t->abi));
    t->did_exec = true;
    t->vfork_parent = NULL;
}

/* --- execve(2) */

/* Strings of a guest array, NULL-terminated; owned array and strings. */
struct exec_strings {
    char **v;
    size_t n;
    size_t bytes;
};

static void
strings_fini(struct exec_strings *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->v[i]);
    free(s->v);
}

/* All of them together are bounded again, exactly, by args_set. */
enum {
    STRINGS_MAX = 512 << 10,
    STRING_BYTES_MAX = 128 << 10,
    STRINGS_BYTES_MAX = 2 << 20,
};

static int
task_exec_copy_string(struct task *t, gaddr a, char **ret)
{
    int r = guest_strdup(t, a, STRING_BYTES_MAX, ret);

    return r == -ENAMETOOLONG ? -E2BIG : r;
}

/* The array is walked with a copy of each address. The number of strings and
 * bytes is bounded before memory is allocated for them. */
static int
strings_from_guest(struct task *t, gaddr array, struct exec_strings *s)
{
    size_t cap = 16;
    gaddr a = 0;

    s->n = 0;
    s->v = calloc(cap, sizeof *s->v);
    if (!s->v)
        return -ENOMEM;
    if (!array)
        return 0;
    for (size_t i = 0;; i++) {
        int r = copy_from_guest(t, &a, array + (gaddr)(4 * i), 4);
        if (r < 0 || !a)
            return r;
        if (i >= STRINGS_MAX)
            return -E2BIG;
        if (i + 1 == cap) {
            char **v = realloc(s->v, 2 * cap * sizeof *v);
            if (!v)
                return -ENOMEM;
            s->v = v;
            cap *= 2;
        }
        r = task_exec_copy_string(t, a, &s->v[i]);
        if (r < 0)
            return r;
        s->bytes += strlen(s->v[i]) + 1;
        if (s->bytes > STRINGS_BYTES_MAX)
            r = -E2BIG;
        s->n = i + 1;
        s->v[s->n] = NULL;
        if (r < 0)
            return r;
    }
}

/* Starts the program after a successful task_exec_prepare: in the thread's own
 * machine, or, for a vfork child, in a new thread. A signal that arrived
 * meanwhile finds no handler any more, and is acted upon. */
static int
task_exec_start(struct task *t, OWN struct program *p)
{
    struct thread *th = t->thread, *child;

    if (th->owner != t) {
        task_vfork_done(th);
    } else {
        thread_end_others(th);
        thread_become_first(th);
    }
    task_exec_commit(t);
    signals_act(t);
    if (task_is_over(t)) {
        program_put(p);
        return 0;
    }
    if (th->owner == t) {
        t->next_program = p;
        th->leaving = LEAVE_EXEC;
        return 0;
    }
    int r = thread_new(t, p, &child);
    if (r < 0) {
        task_exit(t, SIGKILL);
        task_notify(t);
        return 0;
    }
    sched_queue_started(child);
    return 0;
}

/* An exec whose program is being compiled. */
struct exec_wait {
    struct call_hold hold;
    struct kernel *kernel;
    int32_t pid;
    OWN struct program *program;
    struct host_watch watch;
};

/* Runs when the wait ends in any way. The cost is charged to the task if it
 * still exists. */
static void
task_exec_wait_drop(OWN struct call_hold *h)
{
    struct exec_wait *w = CONTAINER_OF(h, struct exec_wait, hold);

    host_watch_fini(&w->watch);
    task_exec_charge(w->kernel, task_find(w->kernel, w->pid), w->program);
    program_put(w->program);
    free(w);
}

static OWN struct exec_wait *
exec_wait_new(struct task *t, OWN struct program *p)
{
    struct exec_wait *w = calloc(1, sizeof *w);

    if (!w) {
        program_put(p);
        return NULL;
    }
    *w = (struct exec_wait){.hold.drop = task_exec_wait_drop,
                            .kernel = t->kernel,
                            .pid = t->pid,
                            .program = p};
    host_watch_init(&w->watch, t->kernel, p->hfd);
    return w;
}

/* Waits until p is compiled. Handlers run only afterwards: an exec cannot be
 * interrupted half-way. */
static int
task_exec_wait_for(struct task *t, OWN struct program *p)
{
    struct call_state *call = &t->thread->call;
    struct exec_wait *w = (struct exec_wait *)call->hold;
    struct thread_poll tp;

    if (w && w->program == p) {
        program_put(p);
    } else {
        if (w)
            task_exec_wait_drop(STEAL(call->hold));
        w = exec_wait_new(t, p);
        if (!w)
            return -ENOMEM;
        call->hold = &w->hold;
    }
    call->is_uninterruptible = true;
    thread_poll_init(&tp, t->thread);
    (void)host_watch_poll(&w->watch, t->kernel, POLLIN, &tp.pt);
    return -EWAIT;
}

/* A resident shell cannot exec: its next command needs its memory. */
int64_t
task_exec_from_guest(struct task *t, const struct vnode *base, const char *path,
                     gaddr argv, gaddr envp)
{
    CLEANUP(strings_fini) struct exec_strings args = {0};
    CLEANUP(strings_fini) struct exec_strings env = {0};
    struct program *p = NULL;

    if (t->resident)
        return -EPERM; /* it runs programs as its children */
    int r = strings_from_guest(t, argv, &args);
    if (r == 0)
        r = strings_from_guest(t, envp, &env);
    if (r < 0)
        return r;
    struct exec e = {.path = path,
                     .base = base,
                     .argv = (const char *const *)args.v,
                     .envp = (const char *const *)env.v};
    r = task_exec_prepare(t, &e, &p);
    if (r == -EINPROGRESS && p)
        return task_exec_wait_for(t, p);
    return r < 0 ? r : task_exec_start(t, p);
}
