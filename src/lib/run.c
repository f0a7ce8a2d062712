/* wsand_run: one command of the resident shell. */
#include "lib/shell.h"

#include "kernel/capture.h"
#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { EXIT_TIMED_OUT = 124 };

/* Where one command's output goes. */
struct outputs {
    struct capture *out, *err;
};

static void
outputs_fini(struct outputs *o)
{
    capture_put(o->out);
    capture_put(o->err);
}

static int
set_fd(struct task *t, int fd, int r, OWN struct file *f)
{
    if (r == 0)
        r = fd_replace(t, fd, f, false);
    return r < 0 ? r : 0;
}

static int
open_capture(struct task *t, int fd, struct capture *c)
{
    struct file *f = NULL;
    int r = capture_open(t->kernel, c, &f);

    return set_fd(t, fd, r, f);
}

static int
set_stdio(struct task *t, const struct wsand_run *run, struct outputs *o)
{
    struct kernel *k = t->kernel;
    struct file *f = NULL;

    size_t max = k->limits.max[LIMIT_output];
    o->out = capture_new(run->stdout_bytes ? run->stdout_bytes : max, false);
    o->err = capture_new(run->stderr_bytes ? run->stderr_bytes : max, false);
    if (!o->out || !o->err)
        return -ENOMEM;
    int r = input_open(k, run->input ? run->input : "", run->input_len, &f);
    r = set_fd(t, 0, r, f);
    if (r == 0)
        r = open_capture(t, 1, o->out);
    if (r == 0)
        r = open_capture(t, 2, o->err);
    return r;
}

static bool
is_over(void *arg)
{
    struct shell *sh = arg;
    struct wsand_sandbox *sb = sh->sb;
    struct kernel *k = sb->kernel;

    if (atomic_load_explicit(&k->kicked, memory_order_relaxed)) {
        atomic_store(&k->kicked, false);
        sandbox_send_pending(sb);
    }
    return sh->res->is_parked && (!sh->res->is_dead || !sh->res->task->thread);
}

static void
finish(struct shell *sh, struct outputs *o, struct wsand_output *ret)
{
    if (sh->res->is_dead)
        shell_roll_back(sh);
    ret->exit_code = ret->timed_out ? EXIT_TIMED_OUT : sh->res->status;
    if (o->out->dropped || o->err->dropped)
        sh->sb->kernel->limits.was_hit[LIMIT_output] = true;
    ret->out_dropped = o->out->dropped;
    ret->err_dropped = o->err->dropped;
    ret->out = capture_take(o->out, &ret->out_len);
    ret->err = capture_take(o->err, &ret->err_len);
    ret->background = capture_take(sh->background, &ret->background_len);
    capture_close(o->out, sh->background);
    capture_close(o->err, sh->background);
}

static int
start(struct wsand_sandbox *sb, const struct wsand_run *run, struct outputs *o,
      struct shell **ret)
{
    struct shell *sh;

    int r = shell_get(sb, &sh);
    if (r == 0)
        r = shell_checkpoint(sh);
    if (r == 0)
        r = shell_thaw(sh);
    if (r == 0)
        r = set_stdio(sh->res->task, run, o);
    if (r != 0)
        return r;
    sh->res->task->run_tag = ++sb->kernel->run_tag;
    sh->is_clean = false;
    resident_run(sh->res, run->command, run->command_len);
    *ret = sh;
    return 0;
}

int
wsand_run(struct wsand_sandbox *sb, const struct wsand_run *run,
          struct wsand_output *ret, struct wsand_error *err)
{
    CLEANUP(outputs_fini) struct outputs o = {0};
    struct kernel *k = sb->kernel;
    struct shell *sh = NULL;
    int64_t began = host_mono_ns();

    if (run->size < sizeof *run)
        return error_set(err, EINVAL, "wsand_run.size is %zu", run->size);
    int r = start(sb, run, &o, &sh);
    if (r != 0)
        return error_errno(err, -r, "cannot run a command");
    *ret = (struct wsand_output){0};
    int64_t deadline =
        run->timeout_ms && run->timeout_ms < INT64_MAX / NS_PER_MS
            ? began - k->clock.boot_ns + (int64_t)run->timeout_ms * NS_PER_MS
            : NS_NEVER;
    if (kernel_run(k, is_over, sh, deadline) == -ETIMEDOUT) {
        ret->timed_out = true;
        kernel_kill(k, k->run_tag, SIGKILL);
        (void)kernel_run(k, is_over, sh, NS_NEVER);
    }
    finish(sh, &o, ret);
    ret->time_us = (uint64_t)(host_mono_ns() - began) / 1000;
    return 0;
}

void
wsand_output_free(struct wsand_output *out)
{
    free(out->out);
    free(out->err);
    free(out->background);
    *out = (struct wsand_output){0};
}

/* --- between commands */

struct idle {
    int hfd;
    struct host_watch watch;
    struct waiter waiter;
    struct poll_table pt;
    bool is_ready;
};

static void
idle_wake(struct waiter *w)
{
    CONTAINER_OF(w, struct idle, waiter)->is_ready = true;
}

static void
idle_add(struct poll_table *pt, struct waitq *q)
{
    waitq_add(q, &CONTAINER_OF(pt, struct idle, pt)->waiter);
}

static bool
idle_is_over(void *arg)
{
    return ((struct idle *)arg)->is_ready;
}

void
wsand_idle(struct wsand_sandbox *sb, int hfd)
{
    struct idle i = {.hfd = hfd, .waiter.wake = idle_wake, .pt.add = idle_add};

    list_init(&i.waiter.link);
    host_watch_init(&i.watch, sb->kernel, hfd);
    if (host_watch_poll(&i.watch, sb->kernel, POLLIN, &i.pt))
        i.is_ready = true;
    (void)kernel_run(sb->kernel, idle_is_over, &i, NS_NEVER);
    waiter_remove(&i.waiter);
    host_watch_fini(&i.watch);
}
