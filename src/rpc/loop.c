/* The event loop: input, output, signals, what other threads leave to it. */
#include "rpc/rpc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    REQUESTS_MAX = 4096,
    REQUEST_BYTES_MAX = 64 << 20,
    GRACE_MS = 1000,  /* for what was asked before the end of input */
    STUCK_MS = 1000,  /* then a client that does not read is given up */
    READS_AHEAD = 16, /* before all else is looked at */
};

struct posted {
    struct list link;
    void (*fn)(void *arg);
    void *arg;
};

void
loop_wake(struct server *srv)
{
    uint64_t one = 1;
    ssize_t n = write(srv->wake_hfd, &one, sizeof one);

    (void)n; /* a full counter wakes too */
}

void
loop_post(struct server *srv, void (*fn)(void *arg), void *arg)
{
    struct posted *p = malloc(sizeof *p);

    while (!p) /* it must not be lost */
        p = malloc(sizeof *p);
    p->fn = fn;
    p->arg = arg;
    pthread_mutex_lock(&srv->lock);
    bool is_first = list_is_empty(&srv->posted);
    list_push_back(&srv->posted, &p->link);
    pthread_mutex_unlock(&srv->lock);
    if (is_first)
        loop_wake(srv);
}

static struct posted *
take_posted(struct server *srv)
{
    struct posted *p = NULL;

    pthread_mutex_lock(&srv->lock);
    if (!list_is_empty(&srv->posted)) {
        p = CONTAINER_OF(srv->posted.next, struct posted, link);
        list_remove(&p->link);
    }
    pthread_mutex_unlock(&srv->lock);
    return p;
}

static void
do_posted(struct server *srv)
{
    struct posted *p;

    while ((p = take_posted(srv))) {
        p->fn(p->arg);
        free(p);
    }
}

/* --- input */

static bool
has_too_many(struct server *srv)
{
    return srv->n_requests > REQUESTS_MAX ||
           srv->request_bytes > REQUEST_BYTES_MAX ||
           writer_is_behind(&srv->out);
}

/* Told before it is looked at, so that no change is missed. */
static bool
is_full(struct server *srv)
{
    srv->wants_fewer = true;
    if (has_too_many(srv))
        return true;
    srv->wants_fewer = srv->is_ending;
    return false;
}

static bool
is_blank(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
            return false;
    return true;
}

/* Serves the lines that were read, as many as can be. True: all. */
static bool
take_lines(struct server *srv)
{
    char *line;
    size_t len;

    while (!srv->is_ending && !is_full(srv)) {
        switch (frame_next(&srv->in, &line, &len)) {
        case FRAME_MORE:
            return true;
        case FRAME_LINE:
            box_post_own(srv);
            if (!is_blank(line, len))
                dispatch_line(srv, line, len);
            break;
        case FRAME_TOO_LARGE:
            dispatch_too_large(srv);
            break;
        }
    }
    return false;
}

/* False at the end of input. */
static bool
read_input(struct server *srv, int hfd)
{
    int n = frame_read(&srv->in, hfd, true);

    if (n == -EINTR || n == -EAGAIN || n == -ENOMEM)
        return true;
    if (n > 0)
        return true;
    frame_end(&srv->in);
    return false;
}

/* --- waiting */

struct loop {
    struct server *srv;
    int in_hfd;       /* negative: at its end */
    int64_t end_ns;   /* when what still runs is ended; 0: not at all */
    bool has_lines;   /* that were read and not served */
    unsigned n_ahead; /* reads in a row without waiting for events */
    bool is_cancelling;
};

/* 0: never */
static int64_t
earlier(int64_t a, int64_t b)
{
    return a && (!b || a < b) ? a : b;
}

static int
timeout_ms(struct loop *l)
{
    int64_t next = callback_expire(l->srv, l->is_cancelling);

    if (!l->is_cancelling)
        next = earlier(next, l->end_ns);
    next = earlier(next, l->srv->tidy.due_ns);
    if (l->has_lines && !l->srv->is_ending && !is_full(l->srv))
        return 0;
    if (!next)
        return -1;
    int64_t now = now_ns();
    return next <= now ? 0 : (int)((next - now) / 1000000) + 1;
}

enum { IN, OUT, WAKE, SIGNAL, N_POLLED };

static bool
may_read(const struct loop *l)
{
    return l->in_hfd >= 0 && !l->srv->is_ending && !l->has_lines &&
           !is_full(l->srv);
}

/* A client that waits for each answer has often sent its next request before
 * this thread goes on: then there is no need to wait for events. */
static bool
read_ahead(struct loop *l)
{
    if (l->n_ahead++ < READS_AHEAD && may_read(l) &&
        frame_read(&l->srv->in, l->in_hfd, false) > 0)
        return true;
    l->n_ahead = 0;
    return false;
}

static void
wait_for_events(struct loop *l, struct pollfd p[N_POLLED])
{
    struct server *srv = l->srv;

    p[IN] = (struct pollfd){may_read(l) ? l->in_hfd : -1, POLLIN, 0};
    p[OUT] = (struct pollfd){srv->out.out.hfd, 0, 0};
    if (writer_has_more(&srv->out))
        p[OUT].events = POLLOUT;
    p[WAKE] = (struct pollfd){srv->wake_hfd, POLLIN, 0};
    p[SIGNAL] = (struct pollfd){srv->signal_hfd, POLLIN, 0};
    int n = poll(p, N_POLLED, timeout_ms(l));
    if (n < 0)
        for (int i = 0; i < N_POLLED; i++)
            p[i].revents = 0;
    tidy_look(&srv->tidy, now_ns(), !n);
}

/* --- the end */

static void
end_soon(struct loop *l, int64_t ms)
{
    l->srv->is_ending = true;
    l->srv->wants_fewer = true;
    if (!l->end_ns || !ms)
        l->end_ns = now_ns() + ms * 1000000;
}

static void
for_each_box(struct server *srv, void (*fn)(struct box *box))
{
    for (size_t i = 0; i < BOX_BUCKETS; i++)
        LIST_FOR_EACH(it, &srv->boxes[i])
    fn(CONTAINER_OF(it, struct box, link));
    if (srv->root)
        fn(srv->root);
}

/* Ends what does not end by itself. */
static void
cancel(struct loop *l)
{
    l->is_cancelling = true;
    writer_close(&l->srv->out);
    for_each_box(l->srv, process_refuse_waiters);
    run_cancel_all(l->srv);
}

static void
flush(struct server *srv)
{
    writer_flush(&srv->out);
    if (!writer_is_behind(&srv->out) &&
        atomic_exchange(&srv->has_stalled, false))
        for_each_box(srv, process_resume_all);
}

static void
handle_events(struct loop *l, const struct pollfd p[N_POLLED])
{
    struct server *srv = l->srv;
    struct signalfd_siginfo info;
    uint64_t n;

    if (p[SIGNAL].revents && read(l->srv->signal_hfd, &info, sizeof info) > 0)
        end_soon(l, 0);
    if (p[WAKE].revents && read(srv->wake_hfd, &n, sizeof n) > 0)
        do_posted(srv);
    if (p[OUT].revents)
        flush(srv);
    if (p[OUT].revents & POLLERR || writer_is_broken(&srv->out))
        end_soon(l, 0);
    if (p[IN].revents && !read_input(srv, l->in_hfd))
        l->in_hfd = -1;
}

/* What must still happen before all can be freed. */
static bool
is_busy(const struct server *srv)
{
    size_t own = srv->killer ? 1 : 0;

    return srv->n_requests > own;
}

/* The other thread wakes for what comes. Of what is under way already, nothing
 * must depend on the loop: neither output that waits, nor a time. */
static bool
may_lend(const struct loop *l)
{
    struct server *srv = l->srv;

    return !l->has_lines && !srv->is_ending && relief_is_ready(&srv->relief) &&
           !writer_has_more(&srv->out) && !callback_expire(srv, false);
}

/* False: the loop is the other thread's now. */
static bool
do_own(struct loop *l)
{
    struct server *srv = l->srv;

    if (!srv->own || !may_lend(l)) {
        box_post_own(srv);
        return true;
    }
    if (!box_do_own(srv))
        return false;
    srv->thread = pthread_self();
    return true;
}

/* The same. */
static bool
turn(struct loop *l)
{
    struct pollfd p[N_POLLED];
    struct server *srv = l->srv;

    if (!read_ahead(l)) {
        wait_for_events(l, p);
        handle_events(l, p);
    }
    l->has_lines = !take_lines(srv);
    if (l->in_hfd < 0 && frame_is_empty(&srv->in))
        end_soon(l, srv->options->grace_ms ? (int64_t)srv->options->grace_ms
                                           : GRACE_MS);
    if (srv->killer)
        end_soon(l, 0);
    if (l->end_ns && now_ns() >= l->end_ns)
        cancel(l);
    return do_own(l);
}

static void
take_turns(struct loop *l, bool has_loop)
{
    struct server *srv = l->srv;

    for (;;) {
        while (has_loop && (!srv->is_ending || is_busy(srv)))
            has_loop = turn(l);
        if (has_loop || !relief_wait(&srv->relief))
            break;
        has_loop = true;
        srv->thread = pthread_self();
    }
    if (!has_loop)
        return;
    loop_wake(srv);
    relief_end(&srv->relief);
}

static void *
relieve(void *arg)
{
    take_turns(arg, false);
    return NULL;
}

void
loop_run(struct server *srv, int in_hfd)
{
    struct loop l = {.srv = srv, .in_hfd = in_hfd};

    relief_start(&srv->relief, relieve, &l);
    take_turns(&l, true);
    relief_join(&srv->relief);
    srv->thread = pthread_self();
    do_posted(srv);
}

void
loop_drain(struct server *srv)
{
    struct pollfd p = {srv->out.out.hfd, POLLOUT, 0};

    while (writer_has_more(&srv->out) && poll(&p, 1, STUCK_MS) > 0)
        writer_flush(&srv->out);
}
