/* Starting a process beside the shell.
 *
 * Problem: the process needs the environment of the shell, but the shell may be
 * busy with a command.
 *
 * Idea: two errands to the thread that runs the sandbox. The first returns a
 * fork of the sandbox with the shell of the last checkpoint, whose environment
 * is read without disturbing the original. The second starts the process with
 * it. */
#include "lib/process.h"

#include "host/native.h"
#include "kernel/capture.h"
#include "kernel/kernel.h"
#include "kernel/pipe.h"
#include "kernel/tty.h"
#include "lib/env.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/shell.h"
#include "lib/sized.h"
#include "lib/terminal.h"
#include "lib/user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, COLS = 80 };

/* --- its files */

static void
process_start_tell_out(void *arg, const char *bytes, size_t len)
{
    const struct process *p = arg;

    p->on_output(p->arg, p->id, 1, bytes, len);
}

static void
process_start_tell_err(void *arg, const char *bytes, size_t len)
{
    const struct process *p = arg;

    p->on_output(p->arg, p->id, 2, bytes, len);
}

static void
process_start_tell_results(void *arg, const char *bytes, size_t len)
{
    const struct process *p = arg;

    p->on_output(p->arg, p->id, 3, bytes, len);
}

static size_t
process_start_ask_window(void *arg)
{
    return process_window(arg);
}

static void
process_start_on_ready(struct waiter *w)
{
    struct process *p = CONTAINER_OF(w, struct process, waiter);

    p->sb->processes.is_due = true;
    kernel_poke(p->sb->kernel);
}

static void
process_start_add_waiter(struct poll_table *pt, struct waitq *q)
{
    waitq_add(q, &CONTAINER_OF(pt, struct process, pt)->waiter);
}

/* Creates the output of a process: a capture that keeps nothing, and passes
 * bytes on when they are written. */
static OWN struct capture *
process_start_tap_new(struct process *p,
                      void (*tell)(void *, const char *, size_t))
{
    struct capture *c = capture_new(0, false);

    if (c) {
        c->is_tap = true;
        c->on_bytes = p->on_output ? tell : NULL;
        c->window = process_start_ask_window;
        c->arg = p;
    }
    return c;
}

/* All three streams are the terminal, which also becomes the controlling
 * terminal of the process. */
static int
process_start_open_terminal(struct process *p,
                            const struct wsand_process_options *o,
                            struct spawn *s)
{
    struct kernel *k = p->sb->kernel;
    const struct tty_winsize size = {.rows = o->rows ? o->rows : ROWS,
                                     .cols = o->cols ? o->cols : COLS};

    int r = pty_new_pair(k, &p->in, &p->tty);
    if (r < 0)
        return r;
    tty_set_winsize(p->tty, &size);
    s->ctty = p->tty;
    for (int i = 0; r == 0 && i < 3; i++)
        r = terminal_open_tty(k, p->tty, &s->stdio[i]);
    return r;
}

/* Input is a pipe whose writing end the library keeps. */
static int
process_start_open_pipes(struct process *p, struct spawn *s)
{
    struct kernel *k = p->sb->kernel;

    int r = pipe_new(k, 0, &s->stdio[0], &p->in);
    if (r == 0)
        r = capture_open(k, p->out, &s->stdio[1]);
    if (r == 0)
        r = capture_open(k, p->err, &s->stdio[2]);
    if (r == 0 && p->results)
        r = capture_open(k, p->results, &s->stdio[3]);
    return r;
}

/* The waiter that file_poll adds stays, and is called whenever the input has
 * space or a terminal has output. */
static int
process_start_open_files(struct process *p,
                         const struct wsand_process_options *o, struct spawn *s)
{
    p->out = process_start_tap_new(p, process_start_tell_out);
    p->err = process_start_tap_new(p, process_start_tell_err);
    if (o->has_results)
        p->results = process_start_tap_new(p, process_start_tell_results);
    if (!p->out || !p->err || (o->has_results && !p->results))
        return -ENOMEM;
    int r = o->is_pty ? process_start_open_terminal(p, o, s)
                      : process_start_open_pipes(p, s);
    if (r == 0)
        (void)file_poll(p->in, &p->pt);
    return r;
}

/* --- its environment */

/* True if the list has a variable of that name. */
static bool
process_start_has_name(const char *const *env, const char *assignment)
{
    size_t len = strcspn(assignment, "=") + 1;

    for (; env && *env; env++)
        if (!strncmp(*env, assignment, len))
            return true;
    return false;
}

static size_t
process_start_count(const char *const *v)
{
    size_t n = 0;

    while (v && v[n])
        n++;
    return n;
}

/* Returns the variables of the new process, which are borrowed from their
 * lists. The first of a name wins: those of the caller, those of `other` (NULL:
 * the process has the shell's user, `usual`), those of the shell.
 *
 * Another user has its own default PATH in place of the shell's default. A PATH
 * that was changed in the shell holds for all users. */
static OWN const char **
process_start_merge_env(char *const *base,
                        const struct wsand_process_options *o,
                        const struct user *usual, const struct user *other)
{
    static const char term[] = "TERM=xterm-256color";
    const char *const *shell = (const char *const *)base;
    size_t n = process_start_count(o->env), users = 0;

    while (other && user_variable(other, users))
        users++;
    const char **v =
        calloc(n + users + process_start_count(shell) + 2, sizeof *v);
    if (!v)
        return NULL;
    if (n)
        memcpy(v, o->env, n * sizeof *v);
    for (size_t i = 0; i < users; i++)
        if (!process_start_has_name(o->env, user_variable(other, i)))
            v[n++] = user_variable(other, i);
    for (; *shell; shell++)
        if (!process_start_has_name(v, *shell))
            v[n++] =
                other && !strcmp(*shell, usual->path) ? other->path : *shell;
    if (o->is_pty && !process_start_has_name(v, term))
        v[n++] = term;
    return v;
}

/* --- start */

/* The request to start a process, and its result. */
struct start {
    const struct wsand_process_options *o;
    const struct user *user;
    OWN char **env;             /* the shell's */
    struct wsand_sandbox *fork; /* the copy that reports it, or NULL */
    struct program *pending;    /* being compiled */
    uint64_t id;
};

/* The folder is the shell's, unless the caller gave another one. kernel_spawn
 * consumes the streams. */
static int
process_start_spawn(struct process *p, struct start *start,
                    const char *const *env, struct wsand_error *err)
{
    const struct wsand_process_options *o = start->o;
    const char *const argv[] = {"bash", o->command ? "-c" : NULL, o->command,
                                NULL};
    const struct cred cred = cred_of(start->user->id);
    struct vnode folder;
    bool has_folder = !o->cwd && shell_folder(p->sb, &folder) == 0;
    struct spawn s = {.path = "/bin/bash",
                      .argv = argv,
                      .envp = env,
                      .cwd = o->cwd,
                      .folder = has_folder ? &folder : NULL,
                      .cred = &cred,
                      .tag = p->tag};
    char why[160] = "";

    int r = process_start_open_files(p, o, &s);
    if (r < 0) {
        for (int i = 0; i < SPAWN_FILES; i++)
            file_put(s.stdio[i]);
        return error_errno(err, -r, "cannot open standard input or output");
    }
    p->pid = kernel_spawn(p->sb->kernel, &s, why, sizeof why);
    if (p->pid >= 0)
        return 0;
    program_put(start->pending);
    start->pending = s.program;
    return error_errno(err, -p->pid, "%s", s.culprit);
}

/* Frees a process that was not started. */
static void
process_drop(OWN struct process *p)
{
    if (!p)
        return;
    waiter_remove(&p->waiter);
    file_put(p->in);
    capture_put(p->out);
    capture_put(p->err);
    capture_put(p->results);
    free(p->command);
    free(p);
}
DEFINE_CLEANUP(struct process *, process_drop)

static OWN struct process *
process_start_new(struct wsand_sandbox *sb,
                  const struct wsand_process_options *o)
{
    struct process *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    *p = (struct process){
        .sb = sb,
        .id = sb->processes.last_id + 1,
        .tag = kernel_new_tag(sb->kernel),
        .command = strdup(o->command ? o->command : "bash"),
        .is_pty = o->is_pty,
        .on_output = o->on_output,
        .has_room = o->has_room,
        .window = o->window,
        .on_exit = o->on_exit,
        .arg = o->arg,
        .waiter = {.wake = process_start_on_ready, .stays = true},
        .pt.add = process_start_add_waiter};
    list_init(&p->link);
    list_init(&p->letters);
    list_init(&p->waiter.link);
    if (!p->command) {
        process_drop(p);
        return NULL;
    }
    return p;
}

/* Starts the process, on the sandbox's thread. -EINPROGRESS: the program is
 * being compiled; the caller tries again when `pending` is finished. Only a
 * started process uses up an id. */
static int
process_start_launch(struct wsand_sandbox *sb, void *arg,
                     struct wsand_error *err)
{
    struct start *s = arg;
    struct processes *ps = &sb->processes;
    CLEANUP(process_dropp)
    struct process *p = process_start_new(sb, s->o);
    const struct user *usual = user_of(sb);
    const char **env = process_start_merge_env(
        s->env, s->o, usual, s->user == usual ? NULL : s->user);

    int r = p && env ? process_start_spawn(p, s, env, err)
                     : error_set(err, ENOMEM, "out of memory");
    free(env);
    if (r < 0)
        return r;
    if (list_is_empty(&ps->on_end.link))
        waitq_add(&sb->kernel->init->child_events, &ps->on_end);
    s->id = ps->last_id = p->id;
    pthread_mutex_lock(&ps->lock);
    list_push_back(&ps->running, &STEAL(p)->link);
    pthread_mutex_unlock(&ps->lock);
    if (s->o->on_start)
        s->o->on_start(s->o->arg, s->id);
    return 0;
}

/* For a thread that has the lease: its own shell can be asked. */
static int
start_with_lease(struct wsand_sandbox *sb, struct start *s,
                 struct wsand_error *err)
{
    int r = wsand_env_list(sb, &s->env, err);

    while (r == 0 && (r = process_start_launch(sb, s, err)) == -EINPROGRESS)
        r = program_await(&host_native, s->pending, -1, 0);
    return r;
}

static int
process_start_take_fork(struct wsand_sandbox *sb, void *arg,
                        struct wsand_error *err)
{
    struct start *s = arg;

    return sandbox_draft(sb, NULL, &s->fork, err);
}

/* For use while another call has the lease. The shell is busy then, so a copy
 * of its state before that call is asked. */
static int
start_beside(struct wsand_sandbox *sb, struct start *s, struct wsand_error *err)
{
    int r = sandbox_errand(sb, process_start_take_fork, s, err);

    if (r == 0)
        r = wsand_env_list(s->fork, &s->env, err);
    wsand_sandbox_free(s->fork);
    while (r == 0 && (r = sandbox_errand(sb, process_start_launch, s, err)) ==
                         -EINPROGRESS)
        r = program_await(&host_native, s->pending, -1, 0);
    return r;
}

/* Takes the lease if it is free, and works beside it if not. Waiting for the
 * lease could take as long as a command. */
static int
process_start_start(struct wsand_sandbox *sb, struct start *s,
                    struct wsand_error *err)
{
    int r;

    if (sandbox_try_enter(sb)) {
        r = start_with_lease(sb, s, err);
        sandbox_leave(sb);
        return r;
    }
    r = sandbox_hold(sb, err);
    if (r < 0)
        return r;
    r = start_beside(sb, s, err);
    sandbox_release(sb);
    return r;
}

/* Arguments are checked on the calling thread, before the sandbox is
 * disturbed. */
int
wsand_process_start(struct wsand_sandbox *sb,
                    const struct wsand_process_options *given, uint64_t *ret_id,
                    struct wsand_error *err)
{
    struct wsand_process_options o;
    struct start s = {.o = &o};

    int r = SIZED_TAKE(&o, given, "wsand_process_options", err);
    if (r < 0)
        return r;
    if (!o.command && !o.is_pty)
        return error_set(err, EINVAL, "no command, and no terminal");
    r = env_check(o.env, err);
    if (r == 0)
        r = user_find(o.user ? o.user : user_of(sb)->name, &s.user, err);
    if (r == 0)
        r = process_start_start(sb, &s, err);
    if (r == 0)
        *ret_id = s.id;
    program_put(s.pending);
    free(s.env);
    return r;
}
