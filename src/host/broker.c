/* A broker is started by the first request that needs one. All of its state is
 * the policy, which its owner keeps and sends first. A sandbox that never
 * connects to a host costs no process. */
#include "host/broker.h"

#include "base/hfd.h"
#include "broker/process.h"
#include "kernel/outside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int
broker_link_init(struct broker_link *b, const char *program,
                 const char *resolvers)
{
    *b = (struct broker_link){.program = strdup(program),
                              .resolvers = resolvers ? strdup(resolvers) : NULL,
                              .requests_hfd = -1,
                              .policy_hfd = -1};
    if (b->program && !b->resolvers == !resolvers)
        return 0;
    broker_link_fini(b);
    return -ENOMEM;
}

/* The process holds no state that must be saved. It is killed and not asked to
 * end, so that this never waits. */
static void
broker_link_stop(struct broker_link *b)
{
    hfd_closep(&b->requests_hfd);
    hfd_closep(&b->policy_hfd);
    if (!b->pid)
        return;
    (void)kill(b->pid, SIGKILL);
    while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    b->pid = 0;
}

void
broker_link_fini(struct broker_link *b)
{
    broker_link_stop(b);
    free(b->program);
    free(b->resolvers);
    free(b->policy);
}

/* --- starting */

static int
broker_link_send_policy(struct broker_link *b)
{
    return send(b->policy_hfd, b->policy, b->policy_len, MSG_NOSIGNAL) < 0
               ? -errno
               : 0;
}

static int
broker_link_start(struct broker_link *b)
{
    CLEANUP(hfd_closep) int requests = -1;
    CLEANUP(hfd_closep) int policy = -1;

    int r = broker_process_pair(&b->requests_hfd, &requests);
    if (r == 0)
        r = broker_process_pair(&b->policy_hfd, &policy);
    if (r == 0)
        r = broker_process_start(b->program, b->resolvers, requests, policy,
                                 &b->pid);
    if (r == 0)
        r = broker_link_send_policy(b);
    if (r < 0)
        broker_link_stop(b);
    return r;
}

int
broker_link_set(struct broker_link *b, const struct message_policy *limits,
                const char *rules, size_t len)
{
    struct message_policy *m = malloc(sizeof *m + len);

    if (!m)
        return -ENOMEM;
    *m = *limits;
    m->rules_len = (uint32_t)len;
    if (len)
        memcpy(m + 1, rules, len);
    free(b->policy);
    b->policy = m;
    b->policy_len = sizeof *m + len;
    if (b->pid && broker_link_send_policy(b) < 0)
        (void)shutdown(b->requests_hfd, SHUT_RDWR); /* seen as its end */
    return 0;
}

/* --- operations */

static int
broker_link_ask(void *arg, const struct message_request *q)
{
    struct broker_link *b = arg;
    int r = 0;

    if (!b->pid && q->kind != REQUEST_CLOSE)
        r = broker_link_start(b);
    if (r < 0 || !b->pid)
        return r;
    if (send(b->requests_hfd, q, sizeof *q, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return 0;
    if (errno == EAGAIN || errno == ENOBUFS)
        return -ENOBUFS;
    broker_link_stop(b);
    return -EPIPE;
}

/* Receives a packet and its descriptor. Returns the length, or -1. */
static ssize_t
broker_receive(int hfd, struct message_answer *ret, OWN int *ret_hfd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov = {ret, sizeof *ret};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};

    ssize_t n = recvmsg(hfd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n >= 0 && CMSG_FIRSTHDR(&m) && control.head.cmsg_type == SCM_RIGHTS)
        memcpy(ret_hfd, CMSG_DATA(&control.head), sizeof *ret_hfd);
    return n;
}

static int
broker_link_take(void *arg, struct message_answer *ret, OWN int *ret_hfd)
{
    struct broker_link *b = arg;

    *ret_hfd = -1;
    if (!b->pid)
        return -EAGAIN;
    ssize_t n = broker_receive(b->requests_hfd, ret, ret_hfd);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return -EAGAIN;
    if (n == sizeof *ret)
        return 0;
    hfd_closep(ret_hfd);
    broker_link_stop(b);
    return -EPIPE;
}

static int
broker_link_answers(void *arg)
{
    const struct broker_link *b = arg;

    return b->requests_hfd;
}

const struct outside_ops broker_ops = {
    .ask = broker_link_ask,
    .take = broker_link_take,
    .answers = broker_link_answers,
};

/* --- a broker of the owner of this process */

static int
broker_socket_ask(void *arg, const struct message_request *q)
{
    const int *hfd = arg;

    if (send(*hfd, q, sizeof *q, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return 0;
    return errno == EAGAIN || errno == ENOBUFS ? -ENOBUFS : -ENETUNREACH;
}

/* The owner keeps the other end open and replaces a broker that has ended, so
 * the socket itself never ends. */
static int
broker_socket_take(void *arg, struct message_answer *ret, OWN int *ret_hfd)
{
    const int *hfd = arg;

    *ret_hfd = -1;
    if (broker_receive(*hfd, ret, ret_hfd) == sizeof *ret)
        return 0;
    hfd_closep(ret_hfd);
    return -EAGAIN;
}

static int
broker_socket_answers(void *arg)
{
    const int *hfd = arg;

    return *hfd;
}

const struct outside_ops broker_socket_ops = {
    .ask = broker_socket_ask,
    .take = broker_socket_take,
    .answers = broker_socket_answers,
};
