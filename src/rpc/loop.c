/* The event loop: input, output, signals, what other threads leave to it. */
#include "rpc/loop.h"

#include "base/os_time.h"
#include "rpc/callback.h"
#include "rpc/code.h"
#include "rpc/process.h"
#include "rpc/report.h"
#include "rpc/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    GRACE_MS = 1000,  /* for what was asked before the end of input */
    REFUSE_MS = 2000, /* then what was not cancelled and has not begun */
    STUCK_MS = 1000,  /* then a client that does not read is given up */
    READS_AHEAD = 16, /* before other sources are served */
};

/* An eventfd counts, so that wake-ups before the poll are not lost. */
void
loop_wake(struct server *srv)
{
    uint64_t one = 1;
    ssize_t n = write(srv->wake_hfd, &one, sizeof one);

    (void)n; /* a full counter wakes too */
}

/* Only the first item wakes the loop, which then does all of them. */
void
loop_post(struct server *srv, struct work *w, work_fn *run)
{
    w->run = run;
    pthread_mutex_lock(&srv->lock);
    bool is_first = list_is_empty(&srv->posted);
    list_push_back(&srv->posted, &w->link);
    pthread_mutex_unlock(&srv->lock);
    if (is_first)
        loop_wake(srv);
}

static struct work *
loop_take_posted(struct server *srv)
{
    struct work *w = NULL;

    pthread_mutex_lock(&srv->lock);
    if (!list_is_empty(&srv->posted)) {
        w = CONTAINER_OF(srv->posted.next, struct work, link);
        list_remove(&w->link);
    }
    pthread_mutex_unlock(&srv->lock);
    return w;
}

/* The object that contains the work may be gone after it. */
static void
loop_do_posted(struct server *srv)
{
    struct work *w;

    while ((w = loop_take_posted(srv)))
        w->run(w);
}

/* --- input */

/* False at its end, or where it cannot be read. A socket whose other end is
 * gone with unread answers is reset: that is its end. */
static bool
loop_read(struct server *srv, int hfd)
{
    int n = frame_read(&srv->in, hfd, true);

    if (n > 0 || n == -EINTR || n == -EAGAIN || n == -ENOMEM)
        return true;
    if (n < 0 && n != -ECONNRESET) {
        srv->failure = -n;
        report_line(srv, LOG_ERROR, "cannot read standard input: %s",
                    strerror(-n));
    }
    frame_end(&srv->in);
    return false;
}

/* Serves lines that wait until one of them lends the loop. If the client is
 * gone, nobody is there to be answered. */
static void
loop_take_waiting(struct server *srv)
{
    if (writer_is_broken(&srv->out))
        backlog_fini(&srv->peer.waiting);
    while (leader_is_here(&srv->leader) && peer_take_waiting(&srv->peer))
        ;
}

/* Serves the lines that were read and those that wait, as many as can be, until
 * one of them lends the loop. Returns false if there are more. */
static bool
loop_take_lines(struct server *srv)
{
    struct peer *p = &srv->peer;
    char *line;
    size_t len;

    if (!backlog_is_idle(&p->waiting))
        loop_take_waiting(srv);
    while (leader_is_here(&srv->leader)) {
        if (srv->is_deaf || peer_is_stuck(p))
            return srv->is_deaf && backlog_is_empty(&p->waiting);
        switch (frame_next(&srv->in, &line, &len)) {
        case FRAME_MORE:
            return backlog_is_empty(&p->waiting);
        case FRAME_LINE:
            peer_line(p, line, len);
            break;
        case FRAME_TOO_LARGE:
            peer_too_large(p, srv->in.max);
            break;
        }
    }
    return true;
}

/* --- waiting */

struct loop {
    struct server *srv;
    int in_hfd;       /* negative: at its end */
    int64_t end_ns;   /* when what still runs is ended; 0: not at all */
    bool has_lines;   /* that were read and not served */
    bool is_hung_up;  /* nobody can write to in_hfd any more */
    unsigned n_ahead; /* reads in a row without waiting for events */
};

/* 0: never */
static int64_t
loop_earlier(int64_t a, int64_t b)
{
    return a && (!b || a < b) ? a : b;
}

/* When the next step of the end is due; 0: never. */
static int64_t
loop_next_step_ns(const struct loop *l)
{
    if (!l->srv->is_cancelling)
        return l->end_ns;
    return l->srv->rejects_calls ? 0 : l->end_ns + REFUSE_MS * NS_PER_MS;
}

/* The loop wakes for the earliest of three times: the deadline of a request of
 * ours, the next step of the end, and the next measurement of memory. */
static int
loop_timeout_ms(struct loop *l)
{
    int64_t next = callback_expire(l->srv, l->srv->is_cancelling);

    next = loop_earlier(next, loop_next_step_ns(l));
    next = loop_earlier(next, l->srv->tidy.due_ns);
    /* Set the flag before testing the condition; otherwise a call answered in
     * between would not wake us. */
    l->srv->wants_fewer = l->has_lines || l->srv->is_ending;
    if (l->has_lines && !peer_is_full(&l->srv->peer))
        return 0;
    if (!next)
        return -1;
    int64_t now = time_mono_ns();
    return next <= now ? 0 : (int)((next - now) / NS_PER_MS) + 1;
}

enum { IN, OUT, WAKE, SIGNAL, N_POLLED };

/* Nothing is read from a client that is stuck: its lines would have to be
 * dropped. */
static bool
loop_may_read(const struct loop *l)
{
    return l->in_hfd >= 0 && !l->srv->is_deaf && !peer_is_stuck(&l->srv->peer);
}

/* A client that waits for each answer has often sent its next request before
 * this thread goes on: then there is no need to wait for events. */
static bool
loop_read_ahead(struct loop *l)
{
    if (l->n_ahead++ < READS_AHEAD && loop_may_read(l) &&
        frame_read(&l->srv->in, l->in_hfd, false) > 0)
        return true;
    l->n_ahead = 0;
    return false;
}

/* Input that may not be read is still watched for its end: a client that
 * closes while it is stuck is gone. */
static void
loop_wait(struct loop *l, struct pollfd p[N_POLLED])
{
    struct server *srv = l->srv;

    p[IN] = (struct pollfd){l->in_hfd, POLLIN, 0};
    if (!loop_may_read(l))
        p[IN] = (struct pollfd){l->is_hung_up ? -1 : l->in_hfd, 0, 0};
    p[OUT] = (struct pollfd){srv->out.out.hfd, 0, 0};
    if (writer_has_more(&srv->out))
        p[OUT].events = POLLOUT;
    else if (srv->is_deaf) /* the client may be gone, which is known then */
        p[OUT].fd = -1;
    p[WAKE] = (struct pollfd){srv->wake_hfd, POLLIN, 0};
    p[SIGNAL] = (struct pollfd){srv->signal_hfd, POLLIN, 0};
    int n = poll(p, N_POLLED, loop_timeout_ms(l));
    if (n < 0)
        for (int i = 0; i < N_POLLED; i++)
            p[i].revents = 0;
    tidy_look(&srv->tidy, time_mono_ns(), !n);
    if (!n)
        frame_shrink(&srv->in);
}

/* --- the end */

/* A time of 0 means that nothing more is read, either. */
static void
loop_end_soon(struct loop *l, int64_t ms)
{
    l->srv->is_ending = true;
    l->srv->is_deaf |= !ms;
    l->srv->wants_fewer = true;
    l->end_ns = loop_earlier(l->end_ns, time_mono_ns() + ms * NS_PER_MS);
}

/* At the end of input. */
static void
loop_end_after_grace(struct loop *l)
{
    uint64_t ms = l->srv->options->grace_ms;

    loop_end_soon(l, ms ? (int64_t)ms : GRACE_MS);
}

/* Ends what does not end by itself. */
static void
loop_cancel(struct loop *l)
{
    if (!l->srv->is_cancelling && !l->srv->options->deliver)
        guard_start(&l->srv->guard);
    l->srv->is_cancelling = true;
    writer_close(&l->srv->out);
    slot_each(l->srv, process_refuse_waiters);
    slot_each(l->srv, code_refuse_all);
    run_cancel_all(l->srv);
}

static void
loop_resume(struct slot *slot)
{
    process_resume_all(slot);
    code_resume_all(slot);
}

/* Processes whose output waited for the client continue when it has read
 * enough. */
static void
loop_flush(struct server *srv)
{
    writer_flush(&srv->out);
    if (!writer_is_behind(&srv->out) &&
        atomic_exchange(&srv->has_stalled, false))
        slot_each(srv, loop_resume);
}

/* Signals first, so that an end is noticed under load. Posted work comes
 * before input, because it ends calls. */
static void
loop_handle_events(struct loop *l, const struct pollfd p[N_POLLED])
{
    struct server *srv = l->srv;
    struct signalfd_siginfo info;
    uint64_t n;

    if (p[SIGNAL].revents && read(srv->signal_hfd, &info, sizeof info) > 0) {
        srv->end_signal = (int)info.ssi_signo;
        loop_end_soon(l, 0);
    }
    if (p[WAKE].revents && read(srv->wake_hfd, &n, sizeof n) > 0)
        loop_do_posted(srv);
    if (p[OUT].revents)
        loop_flush(srv);
    if (p[OUT].revents & POLLERR || writer_is_broken(&srv->out))
        loop_end_soon(l, 0);
    if (p[IN].revents && !p[IN].events) {
        l->is_hung_up = true;
        loop_end_after_grace(l);
    } else if (p[IN].revents && !loop_read(srv, l->in_hfd)) {
        l->in_hfd = -1;
        loop_end_after_grace(l);
    }
}

/* True while something must still happen before everything can be freed. */
static bool
loop_is_busy(const struct loop *l)
{
    size_t n_kills = l->srv->killer ? 1 : 0;

    return l->srv->peer.n_calls > n_kills || l->has_lines;
}

/* Of the end, if there is one due. */
static void
loop_take_steps(struct loop *l)
{
    int64_t now = l->end_ns ? time_mono_ns() : 0;

    if (!l->end_ns || now < l->end_ns)
        return;
    loop_cancel(l);
    if (now >= l->end_ns + REFUSE_MS * NS_PER_MS)
        l->srv->rejects_calls = true;
}

/* Runs one iteration of the event loop. If a line was the only request, it may
 * have lent the loop: its state is not ours then. */
static enum leader_step
loop_step(void *arg)
{
    struct loop *l = arg;
    struct pollfd p[N_POLLED];
    struct server *srv = l->srv;

    if (!loop_read_ahead(l)) {
        loop_wait(l, p);
        loop_handle_events(l, p);
    }
    bool is_done = loop_take_lines(srv);
    if (!leader_is_here(&srv->leader))
        return LEADER_LENT;
    l->has_lines = !is_done;
    if (srv->killer)
        loop_end_soon(l, 0);
    loop_take_steps(l);
    if (!srv->is_ending || loop_is_busy(l))
        return LEADER_GOES_ON;
    loop_wake(srv); /* for the other thread, as leader_loop demands */
    return LEADER_OVER;
}

/* Work that the last calls have posted is done at the end. */
void
loop_run(struct server *srv, int in_hfd)
{
    struct loop l = {.srv = srv, .in_hfd = in_hfd};

    leader_loop(&srv->leader, loop_step, &l);
    loop_do_posted(srv);
}

/* A client that reads nothing for a second is given up. */
void
loop_drain(struct server *srv)
{
    struct pollfd p = {srv->out.out.hfd, POLLOUT, 0};

    while (writer_has_more(&srv->out) && poll(&p, 1, STUCK_MS) > 0)
        writer_flush(&srv->out);
}
