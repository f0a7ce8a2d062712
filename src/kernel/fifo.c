/* FIFOs. One struct fifo exists per inode that is open or being opened.
 *
 * Opening waits for the other side, and a wait may be interrupted. The
 * opener counts as a reader or writer from its first try on; the count is
 * kept by a call_hold, which drops it if the call is not repeated. A partner
 * that comes and goes between two tries is not missed: opens are counted,
 * not open ends. */
#include "kernel/fifo.h"

#include "kernel/kernel.h"
#include "kernel/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

struct fifo {
    struct pipe pipe;
    struct list link; /* in kernel->fifos */
    struct vnode node;
    struct waitq openers;
};

/* An opener that waits for the other side: its reader or writer is counted
 * in the pipe until the file takes it over. */
struct opener {
    struct call_hold hold;
    struct fifo *fifo;
    bool is_writer;
    uint32_t partners; /* opens of the other side when the wait began */
};

static void
fifo_free(OWN struct pipe *p)
{
    struct fifo *fifo = CONTAINER_OF(p, struct fifo, pipe);

    list_remove(&fifo->link);
    waitq_fini(&fifo->openers);
    vnode_release(&fifo->node);
    pipe_fini(p);
    free(fifo);
}

/* Borrowed; one without readers and writers must be freed by the caller. */
static struct fifo *
fifo_find_or_new(struct kernel *k, const struct vnode *v)
{
    LIST_FOR_EACH(it, &k->fifos) {
        struct fifo *fifo = CONTAINER_OF(it, struct fifo, link);
        if (fifo->node.ino == v->ino && fifo->node.mnt->fs == v->mnt->fs)
            return fifo;
    }
    struct fifo *fifo = malloc(sizeof *fifo);
    if (!fifo)
        return NULL;
    pipe_init(&fifo->pipe, k);
    fifo->pipe.free = fifo_free;
    waitq_init(&fifo->openers);
    fifo->node = *v;
    vnode_hold(v);
    list_push_back(&k->fifos, &fifo->link);
    return fifo;
}

static void
fifo_opener_drop(OWN struct call_hold *h)
{
    struct opener *o = CONTAINER_OF(h, struct opener, hold);

    if (o->is_writer)
        pipe_drop_writer(&o->fifo->pipe);
    else
        pipe_drop_reader(&o->fifo->pipe);
    free(o);
}

static uint32_t
fifo_opens_of_partner(const struct fifo *fifo, bool is_writer)
{
    return is_writer ? fifo->pipe.reader_opens : fifo->pipe.writer_opens;
}

static int
opener_wait(struct thread *th, struct opener *o)
{
    th->call.restartable = true;
    thread_wait_on(th, &o->fifo->openers);
    return -EWAIT;
}

/* Continues a call that waits in `o`. The file takes over the count. */
static int
opener_retry(struct thread *th, struct opener *o, uint32_t flags,
             OWN struct file **ret)
{
    struct pipe *p = &o->fifo->pipe;

    if (fifo_opens_of_partner(o->fifo, o->is_writer) == o->partners)
        return opener_wait(th, o);
    th->call.hold = NULL;
    free(o);
    return pipe_file_new(p, flags, ret);
}

/* Counts the opener as reader, writer or both, and wakes openers of the other
 * side. */
static void
fifo_count_in(struct fifo *fifo, uint32_t mode)
{
    struct pipe *p = &fifo->pipe;

    if (mode != O_WRONLY) {
        p->readers++;
        p->reader_opens++;
    }
    if (mode != O_RDONLY) {
        p->writers++;
        p->writer_opens++;
    }
    waitq_wake(&fifo->openers);
}

/* The opener is counted before it waits, because the other side waits for it as
 * well. */
static int
fifo_open_waiting(struct thread *th, struct fifo *fifo, bool is_writer)
{
    struct opener *o = malloc(sizeof *o);

    if (!o) {
        if (is_writer)
            pipe_drop_writer(&fifo->pipe);
        else
            pipe_drop_reader(&fifo->pipe);
        return -ENOMEM;
    }
    *o = (struct opener){.hold.drop = fifo_opener_drop,
                         .fifo = fifo,
                         .is_writer = is_writer,
                         .partners = fifo_opens_of_partner(fifo, is_writer)};
    th->call.hold = &o->hold;
    return opener_wait(th, o);
}

/* Returns the wait that this call began at an earlier try. A wait on another
 * FIFO (the path leads elsewhere now), or for something else, is undone. */
static struct opener *
opener_find(struct thread *th, const struct vnode *v, uint32_t mode)
{
    struct call_hold *h = th->call.hold;

    if (!h || h->drop != fifo_opener_drop)
        return NULL;
    struct opener *o = CONTAINER_OF(h, struct opener, hold);
    uint32_t waits_as = o->is_writer ? O_WRONLY : O_RDONLY;
    if (vnode_is_same(&o->fifo->node, v) && mode == waits_as)
        return o;
    th->call.hold = NULL;
    h->drop(h);
    return NULL;
}

/* A FIFO that was created for this call and is not used is freed again. */
int
fifo_open(struct kernel *k, struct task *t, const struct vnode *v,
          uint32_t flags, OWN struct file **ret)
{
    struct thread *th = t ? t->thread : NULL;
    uint32_t mode = flags & O_ACCMODE;
    struct opener *o = th ? opener_find(th, v, mode) : NULL;

    if (o)
        return opener_retry(th, o, flags, ret);
    struct fifo *fifo = fifo_find_or_new(k, v);
    if (!fifo)
        return -ENOMEM;
    struct pipe *p = &fifo->pipe;
    bool may_wait = th && !(flags & O_NONBLOCK);
    if (mode == O_WRONLY && !p->readers && !may_wait) {
        if (!p->writers)
            fifo_free(p);
        return -ENXIO;
    }
    fifo_count_in(fifo, mode);
    bool is_alone = mode == O_RDONLY ? !p->writers : !p->readers;
    if (is_alone && may_wait)
        return fifo_open_waiting(th, fifo, mode == O_WRONLY);
    return pipe_file_new(p, flags, ret);
}
