/* Signals as files.
 *
 * A read takes signals of the reading task. A waiting poll must be woken by
 * signals of the polling task, so the file has a watch on every task that
 * polled it. A watch whose task is gone is no longer in a list; it is freed
 * when the list of watches is walked next. */
#include "kernel/signalfd.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { INFO_BYTES = 128 };

struct signalfd {
    struct kernel *kernel;
    uint64_t set;
    struct waitq arrived;
    struct signalfd_watch *watches;
};

struct signalfd_watch {
    struct sigwatch w;
    struct signalfd *sf;
    struct task *task; /* alive while w is on its list */
    struct signalfd_watch *next;
};

/* Called for every signal of a watched task; only those of the set wake the
 * file. */
static void
signalfd_on_signal(struct sigwatch *w, int sig)
{
    struct signalfd *sf = CONTAINER_OF(w, struct signalfd_watch, w)->sf;

    if (sf->set & SIG_BIT(sig))
        waitq_wake(&sf->arrived);
}

static void
signalfd_watch_free(struct signalfd *sf, OWN struct signalfd_watch *w)
{
    list_remove(&w->w.link);
    limits_uncharge(&sf->kernel->limits, LIMIT_memory, sizeof *w);
    free(w);
}

/* Frees the watches of tasks that are gone. Returns true if t has one. */
static bool
signalfd_watches_tidy(struct signalfd *sf, const struct task *t)
{
    struct signalfd_watch **at = &sf->watches;
    bool found = false;

    while (*at) {
        struct signalfd_watch *w = *at;
        if (list_is_empty(&w->w.link)) {
            *at = w->next;
            signalfd_watch_free(sf, w);
            continue;
        }
        found |= w->task == t;
        at = &w->next;
    }
    return found;
}

/* A task is watched once by each file, and from its first waiting poll on. */
static int
signalfd_watch_task(struct signalfd *sf, struct task *t)
{
    struct limits *l = &sf->kernel->limits;

    if (signalfd_watches_tidy(sf, t))
        return 0;
    if (!limits_charge(l, LIMIT_memory, sizeof(struct signalfd_watch)))
        return -ENOMEM;
    struct signalfd_watch *w = malloc(sizeof *w);
    if (!w) {
        limits_uncharge(l, LIMIT_memory, sizeof *w);
        return -ENOMEM;
    }
    *w = (struct signalfd_watch){.w.notify = signalfd_on_signal,
                                 .sf = sf,
                                 .task = t,
                                 .next = sf->watches};
    list_push_back(&t->sig.watchers, &w->w.link);
    sf->watches = w;
    return 0;
}

static void
signalfd_put32(uint8_t *out, size_t at, uint32_t v)
{
    memcpy(out + at, &v, sizeof v);
}

/* Fills a struct signalfd_siginfo, by the offsets of its members. */
static void
signalfd_fill_info(const struct siginfo_k *si, uint8_t out[INFO_BYTES])
{
    uint64_t value = si->value;
    uint64_t utime = (uint64_t)si->utime_ms / 10;
    uint64_t stime = (uint64_t)si->stime_ms / 10;
    uint64_t addr = si->addr;

    memset(out, 0, INFO_BYTES);
    signalfd_put32(out, 0, (uint32_t)si->signo);
    signalfd_put32(out, 4, (uint32_t)si->errnum);
    signalfd_put32(out, 8, (uint32_t)si->code);
    signalfd_put32(out, 12, (uint32_t)si->pid);
    signalfd_put32(out, 16, si->uid);
    signalfd_put32(out, 20, (uint32_t)si->fd);
    signalfd_put32(out, 24, (uint32_t)si->timerid);
    signalfd_put32(out, 28, (uint32_t)si->band);
    signalfd_put32(out, 32, (uint32_t)si->overrun);
    signalfd_put32(out, 40, (uint32_t)si->status);
    signalfd_put32(out, 44, si->value);
    memcpy(out + 48, &value, sizeof value);
    memcpy(out + 56, &utime, sizeof utime);
    memcpy(out + 64, &stime, sizeof stime);
    memcpy(out + 72, &addr, sizeof addr);
}

/* Each record is 128 bytes; as many as fit are returned. */
static int64_t
signalfd_read(struct file *f, struct task *t, void *buf, size_t len,
              uint64_t *pos)
{
    struct signalfd *sf = f->obj;
    struct siginfo_k si;
    size_t n = 0;

    (void)pos;
    if (len < INFO_BYTES)
        return -EINVAL;
    for (; n + INFO_BYTES <= len; n += INFO_BYTES) {
        if (!signal_take(t, sf->set, &si))
            break;
        signalfd_fill_info(&si, (uint8_t *)buf + n);
    }
    return n ? (int64_t)n : -EAGAIN;
}

/* The running thread is the one that polls. Without one, the kernel itself
 * asks, which has no signals. */
static short
signalfd_poll(struct file *f, struct poll_table *pt)
{
    struct signalfd *sf = f->obj;
    struct thread *th = sf->kernel->running;

    poll_wait(pt, &sf->arrived);
    if (!th)
        return 0;
    /* Out of memory: the signal is found at the next look. */
    if (pt && pt->add)
        (void)signalfd_watch_task(sf, th->task);
    return signals_pending(th->task) & sf->set ? POLLIN | POLLRDNORM : 0;
}

static void
signalfd_release(struct file *f)
{
    struct signalfd *sf = f->obj;

    while (sf->watches) {
        struct signalfd_watch *w = sf->watches;
        sf->watches = w->next;
        signalfd_watch_free(sf, w);
    }
    waitq_fini(&sf->arrived);
    free(sf);
}

static const struct file_ops signalfd_ops = {
    .kind = "anon_inode:[signalfd]",
    .read = signalfd_read,
    .poll = signalfd_poll,
    .release = signalfd_release,
};

/* SIGKILL and SIGSTOP can never be read. */
static uint64_t
signalfd_takeable(uint64_t set)
{
    return set & ~(SIG_BIT(SIGKILL) | SIG_BIT(SIGSTOP));
}

int
signalfd_new(struct task *t, uint64_t set, uint32_t flags,
             OWN struct file **ret)
{
    struct signalfd *sf = malloc(sizeof *sf);

    if (!sf)
        return -ENOMEM;
    *sf = (struct signalfd){.kernel = t->kernel, .set = signalfd_takeable(set)};
    waitq_init(&sf->arrived);
    return file_new(&t->kernel->vfs, &signalfd_ops, sf, O_RDWR | flags, ret);
}

/* Waiters are woken, since a signal of the new set may be pending already. */
int
signalfd_set(struct file *f, uint64_t set)
{
    struct signalfd *sf = f->obj;

    if (f->ops != &signalfd_ops)
        return -EINVAL;
    sf->set = signalfd_takeable(set);
    waitq_wake(&sf->arrived);
    return 0;
}
