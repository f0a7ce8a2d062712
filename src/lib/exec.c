/* wsand_exec: one program, with the host's descriptors as its standard streams.
 *
 * If standard input is a terminal, the program gets a terminal of the sandbox
 * that is connected to it (terminal.c). The other streams are passed through
 * (host/hostfile.c). Compiling the program counts against the time limit, and
 * can be interrupted like the run itself. */
#include "host/hostfile.h"

#include "base/os_time.h"
#include "host/native.h"
#include "kernel/kernel.h"
#include "kernel/tty.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/sized.h"
#include "lib/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* A program that is being run. */
struct running_exec {
    struct wsand_sandbox *sb;
    struct terminal *term; /* NULL: no terminal */
    int pid;
    bool cancelled;
};

static void
terminal_freep(struct terminal **term)
{
    terminal_free(*term);
}

/* Opens the sandbox's end of the host's descriptor i. Descriptors of the same
 * terminal share one terminal inside. */
static int
exec_open_stdio(struct kernel *k, const struct wsand_exec *x, int i,
                struct terminal *term, OWN struct file **ret)
{
    uint32_t flags = i == 0 ? O_RDONLY : O_WRONLY;

    if (term && isatty(x->stdio[i]))
        return terminal_open_tty(k, terminal_tty(term), ret);
    return hostfile_new(k, x->stdio[i], flags, ret);
}

/* Starts the program. -EINPROGRESS: *ret is being compiled, and the call must
 * be repeated when that is finished. */
static int
exec_start(struct running_exec *run, const struct wsand_exec *x,
           OWN struct program **ret, struct wsand_error *err)
{
    struct kernel *k = run->sb->kernel;
    char why[160] = "";
    struct spawn s = {.path = x->path,
                      .argv = x->argv,
                      .envp = x->envp,
                      .root = x->root,
                      .cwd = x->cwd ? x->cwd : "/",
                      .ctty = run->term ? terminal_tty(run->term) : NULL};
    int r = 0;

    kernel_begin_run(k);
    for (int i = 0; r == 0 && i < 3; i++)
        r = exec_open_stdio(k, x, i, run->term, &s.stdio[i]);
    if (r < 0) {
        for (int i = 0; i < 3; i++)
            file_put(s.stdio[i]);
        return error_errno(err, -r, "standard input or output");
    }
    run->pid = kernel_spawn(k, &s, why, sizeof why);
    if (run->pid >= 0)
        return 0;
    if (run->pid == -EINPROGRESS) {
        *ret = s.program;
        return -EINPROGRESS;
    }
    if (s.culprit && s.culprit == s.root)
        return error_errno(err, -run->pid, "root folder %s", s.culprit);
    if (s.culprit != s.path)
        return error_errno(err, -run->pid, "working folder %s", s.culprit);
    r = why[0] ? error_set(err, -run->pid, "%s: %s", x->path, why)
               : error_errno(err, -run->pid, "%s", x->path);
    if (k->was_denied)
        r = error_of_class(err, WSAND_CAPABILITY_DENIED, r);
    return error_of_program(err, r);
}

/* Signals are bits, so several of the same kind count once, as in Unix. A
 * relaxed load first: this runs between all time slices. */
void
sandbox_send_pending(struct wsand_sandbox *sb)
{
    if (!atomic_load_explicit(&sb->pending_signals, memory_order_relaxed))
        return;
    uint64_t pending = atomic_exchange(&sb->pending_signals, 0);
    for (int sig = 1; sig < 64; sig++)
        if (pending & UINT64_C(1) << sig)
            kernel_kill(sb->kernel, sb->kernel->run_tag, sig);
}

/* Asked by the kernel between time slices; also handles the requests of other
 * threads and of signal handlers. */
static bool
exec_has_ended(void *arg)
{
    struct running_exec *run = arg;
    struct wsand_sandbox *sb = run->sb;
    struct kernel *k = sb->kernel;

    sandbox_send_pending(sb);
    if (atomic_load_explicit(&sb->window_changed, memory_order_relaxed) &&
        atomic_exchange(&sb->window_changed, false) && run->term)
        terminal_resize(run->term);
    if (!run->cancelled && sandbox_is_cancelled(sb)) {
        run->cancelled = true;
        kernel_kill(k, k->run_tag, SIGKILL);
    }
    if (run->term)
        terminal_pump(run->term);
    struct task *t = task_find(k, run->pid);
    return !t || (t->is_zombie && !t->thread);
}

/* The reason of a trap is saved before the task is reaped. */
static void
exec_fill_result(struct kernel *k, int pid, struct wsand_result *ret)
{
    struct task *t = task_find(k, pid);
    int status = 0;

    memcpy(ret->reason, t->trap, sizeof ret->reason);
    (void)kernel_reap(k, pid, &status);
    ret->signal = status & 0x7f;
    ret->exit_code = ret->signal ? -1 : status >> 8 & 0xff;
}

/* Ends the run if that was requested before the program existed. Returns true
 * if the run has ended. */
static bool
exec_was_ended(struct running_exec *run, struct wsand_result *ret)
{
    struct wsand_sandbox *sb = run->sb;
    uint64_t signals = atomic_exchange(&sb->pending_signals, 0);
    uint64_t count;

    (void)!read(sb->kernel->kick_hfd, &count, sizeof count);
    if (!signals && !sandbox_is_cancelled(sb))
        return false;
    ret->cancelled = sandbox_is_cancelled(sb);
    if (!ret->cancelled)
        ret->signal = __builtin_ctzll(signals);
    return true;
}

/* Waits for the compilation of p. Returns 1 if the run is over; *ret then has
 * its result. */
static int
exec_await(struct running_exec *run, const struct program *p,
           int64_t deadline_ns, struct wsand_result *ret)
{
    for (;;) {
        int r = program_await(&host_native, p, run->sb->kernel->kick_hfd,
                              deadline_ns);
        *ret = (struct wsand_result){
            .timed_out = r == -ETIMEDOUT, .signal = SIGKILL, .exit_code = -1};
        if (r == -ETIMEDOUT || (r == -EINTR && exec_was_ended(run, ret)))
            return 1;
        if (r != -EINTR)
            return r;
    }
}

/* Starts the program, and compiles it first if necessary. Returns 1 if the run
 * is over already; *ret then has its result. */
static int
exec_begin(struct running_exec *run, const struct wsand_exec *x,
           int64_t deadline_ns, struct wsand_result *ret,
           struct wsand_error *err)
{
    CLEANUP(program_putp) struct program *pending = NULL;

    for (;;) {
        struct program *p = NULL;
        int r = exec_start(run, x, &p, err);
        if (r != -EINPROGRESS)
            return r;
        program_put(pending);
        pending = p;
        r = exec_await(run, p, deadline_ns, ret);
        if (r != 0)
            return r < 0 ? error_errno(err, -r, "%s", x->path) : r;
    }
}

/* A deadline of 0 means none for the compilation, and NS_NEVER means none for
 * the kernel, whose clock starts at boot_ns. */
static int
exec_checked(struct wsand_sandbox *sb, const struct wsand_exec *x,
             struct wsand_result *ret, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(terminal_freep) struct terminal *term = NULL;
    struct kernel *k = sb->kernel;
    struct running_exec run = {.sb = sb};

    if (isatty(x->stdio[0])) {
        int r = terminal_new(k, x->stdio[0], &term);
        if (r < 0)
            return error_errno(err, -r, "terminal");
    }
    run.term = term;
    int64_t deadline = time_deadline_ns(time_mono_ns(), x->timeout_ms);
    int r = exec_begin(&run, x, deadline == NS_NEVER ? 0 : deadline, ret, err);
    if (r != 0)
        return r < 0 ? r : 0;
    *ret = (struct wsand_result){0};
    if (deadline != NS_NEVER)
        deadline -= k->clock.boot_ns;
    r = kernel_run(k, exec_has_ended, &run, deadline);
    if (r == -ETIMEDOUT) {
        ret->timed_out = true;
        kernel_kill(k, k->run_tag, SIGKILL);
        (void)kernel_run(k, exec_has_ended, &run, NS_NEVER);
    }
    ret->cancelled = run.cancelled && !ret->timed_out;
    exec_fill_result(k, run.pid, ret);
    kernel_end_run(k);
    return 0;
}

int
wsand_exec(struct wsand_sandbox *sb, const struct wsand_exec *x,
           struct wsand_result *ret, struct wsand_error *err)
{
    struct wsand_result result = {0};
    struct wsand_exec copy;

    int r = sized_check(ret, "wsand_result", err);
    if (r == 0)
        r = SIZED_TAKE(&copy, x, "wsand_exec", err);
    if (r == 0)
        r = exec_checked(sb, &copy, &result, err);
    if (r == 0)
        sized_give(ret, &result, sizeof result);
    return r;
}

void
wsand_signal(struct wsand_sandbox *sb, int sig)
{
    if (sig <= 0 || sig >= 64)
        return;
    atomic_fetch_or(&sb->pending_signals, UINT64_C(1) << sig);
    kernel_kick(sb->kernel);
}

void
wsand_window_changed(struct wsand_sandbox *sb)
{
    atomic_store(&sb->window_changed, true);
    kernel_kick(sb->kernel);
}
