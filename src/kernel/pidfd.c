/* Processes as files. A file does not keep its process: after the process was
 * reaped, the file stays readable for ever, without a process. */
#include "kernel/pidfd.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

struct pidfd {
    struct list link;  /* in task->pidfds */
    struct task *task; /* NULL: gone */
    struct waitq ended;
};

/* Readable once the process is a zombie that can be waited for. */
static short
pidfd_poll(struct file *f, struct poll_table *pt)
{
    struct pidfd *p = f->obj;
    const struct task *t = p->task;

    poll_wait(pt, &p->ended);
    return !t || (t->is_zombie && !t->thread) ? POLLIN | POLLRDNORM : 0;
}

static void
pidfd_release(struct file *f)
{
    struct pidfd *p = f->obj;

    list_remove(&p->link);
    waitq_fini(&p->ended);
    free(p);
}

static const struct file_ops pidfd_ops = {
    .kind = "anon_inode:[pidfd]",
    .poll = pidfd_poll,
    .release = pidfd_release,
};

/* The file is in a list of the task, which clears the reference before it
 * goes. */
int
pidfd_new(struct task *t, uint32_t flags, OWN struct file **ret)
{
    struct pidfd *p = malloc(sizeof *p);

    if (!p)
        return -ENOMEM;
    *p = (struct pidfd){.task = t};
    waitq_init(&p->ended);
    list_push_back(&t->pidfds, &p->link);
    return file_new(&t->kernel->vfs, &pidfd_ops, p, O_RDWR | flags, ret);
}

/* A file outlives its process; it has none then. */
int
pidfd_task(const struct file *f, struct task **ret)
{
    const struct pidfd *p = f->obj;

    if (f->ops != &pidfd_ops)
        return -EBADF;
    if (!p->task)
        return -ESRCH;
    *ret = p->task;
    return 0;
}

/* A directory of /proc/<pid> may be used as a pidfd, as on Linux. */
int
pidfd_task_or_folder(const struct file *f, struct task **ret)
{
    struct kernel *k = kernel_of(f->vfs);
    bool may_be = k->proc_pid && !(f->flags & O_PATH);
    int pid = may_be ? k->proc_pid(&f->node) : 0;
    struct task *t = pid ? task_find(k, pid) : NULL;

    if (!pid)
        return pidfd_task(f, ret);
    if (!t)
        return -ESRCH;
    *ret = t;
    return 0;
}

void
pidfd_ended(struct task *t)
{
    LIST_FOR_EACH(it, &t->pidfds)
        waitq_wake(&CONTAINER_OF(it, struct pidfd, link)->ended);
}

/* Pollers are woken: the file is readable for ever now. */
void
pidfd_forget(struct task *t)
{
    while (!list_is_empty(&t->pidfds)) {
        struct pidfd *p = CONTAINER_OF(t->pidfds.next, struct pidfd, link);
        list_remove(&p->link);
        p->task = NULL;
        waitq_wake(&p->ended);
    }
}
