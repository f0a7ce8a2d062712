/* Resident programs: one task that serves command after command.
 *
 * Ending such a task only ends its command. resident_on_exit replaces the
 * normal exit: it drops the machine, marks the resident as dead, and leaves the
 * task for its owner to restore. */
#include "kernel/resident.h"

#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void
resident_get_state(const struct task *t, struct resident_state *ret)
{
    memcpy(ret->action, t->sig.action, sizeof ret->action);
    ret->mask = t->sig.first.mask;
    ret->word = t->sig.word;
    ret->umask = t->umask;
}

void
resident_set_state(struct task *t, const struct resident_state *s)
{
    memcpy(t->sig.action, s->action, sizeof t->sig.action);
    t->sig.first.mask = s->mask;
    t->sig.word = s->word;
    t->sig.first.has_saved_mask = false;
    t->umask = s->umask;
}

/* The frozen program has the state of its task in a custom section. Another
 * version of the struct has another size, and is refused. */
static int
resident_set_up(struct resident *r, struct program *p, const char *path)
{
    struct kernel *k = r->task->kernel;
    const char *const argv[] = {path, NULL}, *const envp[] = {NULL};
    struct resident_state s;
    size_t len;
    const void *section = k->machine->section(p, &len);

    if (!section || len != sizeof s)
        return -ENOEXEC;
    memcpy(&s, section, sizeof s);
    resident_set_state(r->task, &s);
    const char *base = strrchr(path, '/');
    strncpy(r->task->comm, base ? base + 1 : path, sizeof r->task->comm - 1);
    return args_set(r->task, argv, envp, path);
}

/* A resident starts without a machine: the owner thaws one for the first
 * command. */
int
resident_new(struct kernel *k, OWN struct program *p, const char *path,
             OWN struct resident **ret)
{
    struct resident *res = calloc(1, sizeof *res);
    int r = res ? task_new(k, k->init, &res->task) : -ENOMEM;

    if (r == 0) {
        res->task->resident = res;
        res->task->is_host_child = true;
        res->task->pgid = res->task->pid;
        res->is_parked = res->is_dead = res->is_fresh = true;
        r = resident_set_up(res, p, path);
    }
    program_put(p);
    if (r < 0) {
        resident_free(res);
        return r;
    }
    *ret = res;
    return 0;
}

void
resident_free(OWN struct resident *r)
{
    if (!r)
        return;
    if (r->task) {
        resident_freeze(r);
        r->task->resident = NULL;
        task_exit(r->task, 0);
        task_reap(r->task);
    }
    free(r);
}

/* The memory is filled by the owner afterwards. */
int
resident_thaw(struct resident *r, OWN struct program *p, uint64_t size)
{
    struct kernel *k = r->task->kernel;
    struct thread *th;

    int e = thread_new(r->task, p, &th);
    if (e < 0)
        return e;
    e = k->machine->prepare(th->machine);
    if (e == 0)
        e = k->machine->grow(th->machine, size);
    if (e < 0) {
        resident_freeze(r);
        return e;
    }
    r->is_dead = false;
    return 0;
}

/* A vfork child that borrows the thread must end first: its frames are in the
 * same machine. */
void
resident_freeze(struct resident *r)
{
    TASK_FOR_EACH_THREAD(th, r->task)
        task_end_borrower(th);
    task_free_threads(r->task);
    r->is_dead = true;
}

/* The thread is put at the head of the queue: its user waits for it. The word
 * for signals in its memory is right: signals update it, and so does the owner
 * that filled the memory. */
void
resident_run(struct resident *r, const char *command, size_t len, bool is_users)
{
    struct thread *th = r->task->thread;

    r->command = command;
    r->len = len;
    r->is_users = is_users;
    r->is_parked = false;
    r->status = 0;
    r->memory_end = 0;
    th->is_ready = th->is_waiting = false;
    th->leaving = LEAVE_NO;
    sched_queue_next(th);
}

void
resident_on_next(struct task *t, int32_t status)
{
    t->resident->had_threads = task_is_threaded(t);
    thread_end_others(t->thread);
    t->resident->is_parked = true;
    t->resident->status = status;
    t->resident->is_fresh = false;
}

/* The machine of the running thread is dropped by the scheduler, which then
 * calls task_notify; any other at once. */
void
resident_on_exit(struct task *t, int status)
{
    struct resident *r = t->resident;
    int sig = status & 0x7f;

    if (r->is_parked)
        return;
    r->is_parked = r->is_dead = true;
    r->status = sig ? 128 + sig : status >> 8 & 0xff;
    t->is_stopped = false;
    TASK_FOR_EACH_THREAD(th, t) {
        task_end_borrower(th);
        sched_bury(th);
    }
}

/* shell_command(buf, size): copies the text of the command, without a NUL, and
 * returns its length. Without buf: the length, with bit 30 set if random
 * numbers must be seeded anew, and bit 29 if the command belongs into the
 * history. */
int64_t
sys_shell_command(struct task *t, const union sysarg *a)
{
    enum { FRESH = 1 << 30, USERS = 1 << 29 };
    struct resident *r = t->resident;

    if (!r)
        return -ENOSYS;
    if (!a[0].addr)
        return (int64_t)r->len | (r->is_fresh ? FRESH : 0) |
               (r->is_users ? USERS : 0);
    size_t n = a[1].u < r->len ? a[1].u : r->len;
    int e = copy_to_guest(t, a[0].addr, r->command, n);
    return e < 0 ? e : (int64_t)n;
}

/* shell_memory(end): reports, at the end of a command, that the memory from
 * `end` on contains nothing. It need not be saved. */
int64_t
sys_shell_memory(struct task *t, const union sysarg *a)
{
    if (!t->resident)
        return -ENOSYS;
    t->resident->memory_end = a[0].u;
    return 0;
}
