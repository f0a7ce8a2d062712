/* Starting the broker on demand.
 *
 * A broker inherits our end of the worker's socket, with the requests that wait
 * in it. The supervisor only watches for the first one and does not read it, so
 * requests keep their order. If no broker can be started, they are dropped, and
 * the worker gets the same message as after a broker's death. After a broker
 * that died there is a pause, so that a request which kills its broker does not
 * start one after the other without end. */
#include "supervisor/session/broker.h"

#include "base/hfd.h"
#include "base/os_time.h"
#include "broker/process.h"
#include "net/message.h"
#include "supervisor/config/config.h"
#include "supervisor/session/life.h"
#include "supervisor/session/network_events.h"
#include "supervisor/session/say.h"
#include "supervisor/session/session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPORTS_AHEAD = 64, PAUSE_MS = 100 };

static struct supervisor *
life_broker_sv(const struct life *l)
{
    return l->s->sv;
}

/* --- messages to the worker */

static void
life_broker_answer(struct life *l, const struct message_answer *a, int hfd)
{
    struct iovec iov = {(void *)(uintptr_t)a, sizeof *a};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof hfd)];
    } control = {0};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    if (hfd >= 0) {
        control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof hfd),
                                        .cmsg_level = SOL_SOCKET,
                                        .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), &hfd, sizeof hfd);
        m.msg_control = &control;
        m.msg_controllen = sizeof control;
    }
    (void)sendmsg(l->worker->network_hfd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
life_broker_deliver(struct life *l, uint16_t port, int hfd)
{
    const struct message_answer a = {.kind = ANSWER_INCOMING, .id = port};

    life_broker_answer(l, &a, hfd);
}

/* --- waiting for requests */

static void
life_broker_wait(struct life *l)
{
    struct life_broker *k = &l->broker;

    if (!k->pid && k->on_request.hfd < 0 && l->worker)
        (void)reactor_add(&life_broker_sv(l)->reactor, &k->on_request,
                          l->worker->network_hfd, EPOLLIN);
}

static void
life_broker_pause_over(struct reactor_timer *t)
{
    life_broker_wait(CONTAINER_OF(t, struct life, broker.pause));
}

/* --- the end of the process */

static void
life_broker_forget_process(struct life *l)
{
    struct life_broker *k = &l->broker;
    int pid_hfd = k->on_pid.hfd;

    reactor_remove(&life_broker_sv(l)->reactor, &k->on_report);
    reactor_remove(&life_broker_sv(l)->reactor, &k->on_pid);
    hfd_closep(&pid_hfd);
    hfd_closep(&k->policy_hfd);
    k->pid = 0;
    network_events_lose(l);
}

static bool
life_broker_read_report(struct life *l)
{
    struct message_report r;
    ssize_t n =
        recv(l->broker.policy_hfd, &r, sizeof r, MSG_DONTWAIT | MSG_TRUNC);

    if (n <= 0)
        return false;
    if (message_report_is_valid(&r, (size_t)n))
        network_events_take(l, &r);
    return true;
}

/* Without its broker, the worker would keep connections that nothing can end.
 * A broker that was idle had none, and needs no notice. */
static void
life_broker_ended(struct life *l, const siginfo_t *info)
{
    const struct message_answer lost = {.kind = ANSWER_LOST};
    bool was_idle =
        info->si_code == CLD_EXITED && info->si_status == MESSAGE_EXIT_IDLE;

    while (life_broker_read_report(l))
        ;
    life_broker_forget_process(l);
    if (was_idle) {
        life_broker_wait(l);
        return;
    }
    say(life_broker_sv(l), LEVEL_warn,
        "session %s: its network broker ended (%s %d)", l->s->id,
        info->si_code == CLD_EXITED ? "status" : "signal", info->si_status);
    life_broker_answer(l, &lost, -1);
    reactor_set_timer(&life_broker_sv(l)->reactor, &l->broker.pause,
                      time_mono_ns() + (int64_t)PAUSE_MS * NS_PER_MS);
}

static void
life_broker_on_pid(struct source *s, uint32_t events)
{
    struct life *l = CONTAINER_OF(s, struct life, broker.on_pid);
    siginfo_t info = {0};

    (void)events;
    if (waitid(P_PID, (id_t)l->broker.pid, &info, WEXITED | WNOHANG) == 0 &&
        !info.si_pid)
        return;
    life_broker_ended(l, &info);
}

/* The end of the socket is the end of the process, which its pidfd reports. */
static void
life_broker_on_report(struct source *s, uint32_t events)
{
    struct life *l = CONTAINER_OF(s, struct life, broker.on_report);
    bool has_more = true;

    for (int i = 0; i < REPORTS_AHEAD && has_more; i++)
        has_more = life_broker_read_report(l);
    if (!has_more && events & EPOLLHUP)
        reactor_remove(&life_broker_sv(l)->reactor, s);
}

/* --- the process */

static int
life_broker_send_policy(struct life *l)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, MESSAGE_POLICY_BYTES_MAX);
    session_network_put_message(&b, l->s, l->broker.bytes);
    if (b.error)
        return b.error;
    return send(l->broker.policy_hfd, b.p, b.len, MSG_DONTWAIT | MSG_NOSIGNAL) <
                   0
               ? -errno
               : 0;
}

static int
life_broker_watch(struct life *l)
{
    struct reactor *loop = &life_broker_sv(l)->reactor;
    struct life_broker *k = &l->broker;

    int pid_hfd = pidfd_open(k->pid, 0);
    if (pid_hfd < 0)
        return -errno;
    int r = reactor_add(loop, &k->on_pid, pid_hfd, EPOLLIN);
    if (r < 0) {
        close(pid_hfd);
        return r;
    }
    return reactor_add(loop, &k->on_report, k->policy_hfd, EPOLLIN);
}

/* The policy is sent first: requests are waiting already, and the broker reads
 * them at once. */
static int
life_broker_start(struct life *l)
{
    struct supervisor *sv = life_broker_sv(l);
    const char *resolvers = sv->config->network_resolvers;
    struct life_broker *k = &l->broker;
    CLEANUP(hfd_closep) int policy = -1;

    int r =
        *sv->broker ? broker_process_pair(&k->policy_hfd, &policy) : -ENOENT;
    if (r == 0)
        r = life_broker_send_policy(l);
    if (r == 0)
        r = broker_process_start(sv->broker, *resolvers ? resolvers : NULL,
                                 l->worker->network_hfd, policy, &k->pid);
    if (r == 0)
        r = life_broker_watch(l);
    if (r == 0)
        sv->counters.network.brokers++;
    return r;
}

/* A broker that cannot be started is as one that died at once. */
static void
life_broker_on_request(struct source *s, uint32_t events)
{
    struct life *l = CONTAINER_OF(s, struct life, broker.on_request);
    const struct message_answer lost = {.kind = ANSWER_LOST};

    (void)events;
    reactor_remove(&life_broker_sv(l)->reactor, s);
    int r = life_broker_start(l);
    if (r == 0)
        return;
    say(life_broker_sv(l), LEVEL_error,
        "session %s: its network broker cannot be started: %s", l->s->id,
        strerror(-r));
    if (l->broker.pid) {
        (void)kill(l->broker.pid, SIGKILL);
        (void)waitpid(l->broker.pid, NULL, 0);
    }
    life_broker_forget_process(l);
    while (recv(l->worker->network_hfd, (char[1]){0}, 1,
                MSG_DONTWAIT | MSG_TRUNC) > 0)
        ;
    life_broker_answer(l, &lost, -1);
    life_broker_wait(l);
}

/* --- for the life */

void
life_broker_init(struct life_broker *k)
{
    *k = (struct life_broker){
        .policy_hfd = -1,
        .on_request = {.hfd = -1, .ready = life_broker_on_request},
        .on_report = {.hfd = -1, .ready = life_broker_on_report},
        .on_pid = {.hfd = -1, .ready = life_broker_on_pid},
        .pause.fire = life_broker_pause_over,
    };
    list_init(&k->connections);
    list_init(&k->waiting);
}

/* The rules are the broker's. The worker only needs to know that there are
 * some. */
static void
life_broker_tell_worker(struct life *l, bool is_on)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "{\"network\":%s}", is_on ? "{}" : "\"off\"");
    if (!b.error)
        worker_link_ask(l, ASK_NETWORK, "network.set", &b);
}

/* A worker that never had a network costs nothing: its socket is not
 * watched. */
void
life_broker_update(struct life *l)
{
    bool is_on = session_network_is_on(l->s);

    if (l->s->command || (!is_on && !l->broker.was_told && !l->s->n_forwards &&
                          !l->s->has_previews))
        return;
    if (l->broker.pid && life_broker_send_policy(l) < 0)
        (void)kill(l->broker.pid, SIGKILL); /* rather none than an old policy */
    if (!l->broker.was_told || l->broker.is_on != is_on)
        life_broker_tell_worker(l, is_on);
    l->broker.was_told = true;
    l->broker.is_on = is_on;
    if (is_on)
        life_broker_wait(l);
}

static void
life_broker_finish_all(struct life *l)
{
    while (!list_is_empty(&l->broker.waiting)) {
        struct call *q =
            CONTAINER_OF(l->broker.waiting.next, struct call, link);
        list_remove(&q->link);
        answer_end(q);
    }
}

void
life_broker_answered(struct life *l, const char *error)
{
    if (error)
        say(life_broker_sv(l), LEVEL_error,
            "session %s: its worker did not change the network: %s", l->s->id,
            error);
    if (!l->link.n_asked[ASK_NETWORK])
        life_broker_finish_all(l);
}

/* A run that follows the answer must find the new policy. */
void
life_broker_finish(struct life *l, OWN struct call *q)
{
    if (l && l->worker && l->link.n_asked[ASK_NETWORK])
        list_push_back(&l->broker.waiting, &q->link);
    else
        answer_end(q);
}

void
life_broker_close(struct life *l)
{
    struct life_broker *k = &l->broker;

    reactor_set_timer(&life_broker_sv(l)->reactor, &k->pause, 0);
    reactor_remove(&life_broker_sv(l)->reactor, &k->on_request);
    life_broker_finish_all(l);
    if (!k->pid)
        return;
    (void)kill(k->pid, SIGKILL);
    (void)waitpid(k->pid, NULL, 0);
    while (life_broker_read_report(l))
        ;
    life_broker_forget_process(l);
}

/* The first one makes the worker listen to its socket. */
void
life_broker_preview(struct life *l, uint16_t port, int hfd)
{
    if (!l->s->has_previews) {
        l->s->has_previews = true;
        life_broker_update(l);
    }
    life_used(l);
    life_broker_deliver(l, port, hfd);
}
