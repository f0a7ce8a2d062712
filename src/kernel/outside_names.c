/* The virtual name server of a sandbox, 192.0.2.1.
 *
 * A question for the address of a name is answered with the address that stands
 * for the name (net/names.h), after the broker has said that the name exists.
 * All other questions have empty answers: there are no IPv6 addresses, and
 * nothing that a name server outside could be asked to carry data with. */
#include "kernel/denial.h"
#include "kernel/outside.h"
#include "kernel/outside_impl.h"
#include "kernel/packet.h"
#include "kernel/socket.h"
#include "net/dns.h"
#include "net/message.h"
#include "net/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    DNS_PORT = 53,
    QUESTIONS_MAX = 64, /* further ones are lost, as in a network */
    NAME_SERVER = (int)0xc0000201,
};

/* Programs wait for one second (options in /etc/resolv.conf). */
#define PATIENCE_NS (500 * NS_PER_MS)

/* A question that the broker has not answered yet. */
struct outside_question {
    struct list link; /* in outside->questions */
    struct outside *outside;
    struct timer patience;
    struct socket *socket;
    uint32_t id;
    uint64_t run_tag;        /* of the process that asked */
    struct sock_addr server; /* as the socket named it */
    struct dns_question q;
};

bool
outside_is_name_server(const struct sock_addr *addr)
{
    struct in_addr v4 = addr->in.sin_addr;

    if (addr->sa.sa_family == AF_INET6) {
        if (!IN6_IS_ADDR_V4MAPPED(&addr->in6.sin6_addr))
            return false;
        memcpy(&v4, addr->in6.sin6_addr.s6_addr + 12, sizeof v4);
    }
    return v4.s_addr == htonl((uint32_t)NAME_SERVER) &&
           addr->in.sin_port == htons(DNS_PORT);
}

/* --- answers */

static void
outside_names_reply(struct socket *s, const struct sock_addr *server,
                    const uint8_t *p, size_t len)
{
    socket_deliver(s, server, p, len);
}

static void
outside_names_fail_with(struct socket *s, const struct sock_addr *server,
                        const struct dns_question *q, enum dns_rcode rcode)
{
    uint8_t to[DNS_BYTES_MAX];

    outside_names_reply(s, server, to, dns_answer_empty(q, rcode, to));
}

/* Answers with the address of a name that exists. */
static void
outside_names_found(struct outside *o, struct socket *s,
                    const struct sock_addr *server,
                    const struct dns_question *q)
{
    uint8_t to[DNS_BYTES_MAX], v4[4];

    if (names_add(&o->names, q->name, v4) < 0)
        outside_names_fail_with(s, server, q, DNS_FAILED);
    else
        outside_names_reply(s, server, to, dns_answer_address(q, v4, to));
}

/* Returns NULL if there are too many, or no memory. */
static OWN struct outside_question *
outside_question_new(struct outside *o)
{
    struct limits *l = &o->kernel->limits;
    struct outside_question *w = NULL;

    if (o->n_questions == QUESTIONS_MAX ||
        !limits_charge(l, LIMIT_memory, sizeof *w))
        return NULL;
    w = malloc(sizeof *w);
    if (!w)
        limits_uncharge(l, LIMIT_memory, sizeof *w);
    return w;
}

static void
outside_question_free(struct outside *o, OWN struct outside_question *w)
{
    timer_stop(&o->kernel->clock, &w->patience);
    list_remove(&w->link);
    o->n_questions--;
    limits_uncharge(&o->kernel->limits, LIMIT_memory, sizeof *w);
    free(w);
}

void
outside_names_answer(struct outside *o, const struct message_answer *a)
{
    LIST_FOR_EACH(it, &o->questions) {
        struct outside_question *w =
            CONTAINER_OF(it, struct outside_question, link);
        if (w->id != a->id)
            continue;
        if (a->verdict == VERDICT_LOOKUPS)
            kernel_deny_host(o->kernel, w->run_tag, w->q.name, 0,
                             verdict_word(VERDICT_LOOKUPS));
        if (!a->error)
            outside_names_found(o, w->socket, &w->server, &w->q);
        else
            outside_names_fail_with(w->socket, &w->server, &w->q,
                                    a->error == ENOENT ? DNS_NO_NAME
                                                       : DNS_FAILED);
        outside_question_free(o, w);
        return;
    }
}

void
outside_names_fail(struct outside *o)
{
    while (!list_is_empty(&o->questions)) {
        struct outside_question *w =
            CONTAINER_OF(o->questions.next, struct outside_question, link);
        outside_names_fail_with(w->socket, &w->server, &w->q, DNS_FAILED);
        outside_question_free(o, w);
    }
}

void
outside_names_forget(struct outside *o, const struct socket *s)
{
    LIST_FOR_EACH_SAFE(it, &o->questions) {
        struct outside_question *w =
            CONTAINER_OF(it, struct outside_question, link);
        if (w->socket == s)
            outside_question_free(o, w);
    }
}

/* --- questions */

/* Name servers may take seconds, and a busy host may need one to start a
 * broker. The answer is then that the name exists: a connection to it waits for
 * the lookup, and fails if there is no such name. */
static void
outside_names_late(struct timer *t)
{
    struct outside_question *w =
        CONTAINER_OF(t, struct outside_question, patience);

    outside_names_found(w->outside, w->socket, &w->server, &w->q);
    outside_question_free(w->outside, w);
}

/* Asks the broker whether the name exists. Without memory for the timer, the
 * question has no time limit. */
static void
outside_names_ask(struct outside *o, struct socket *s, const struct task *t,
                  const struct sock_addr *server, const struct dns_question *q)
{
    struct message_request m = {.kind = REQUEST_LOOKUP,
                                .id = ++o->last_id,
                                .name_len = (uint16_t)q->name_len};
    struct outside_question *w = outside_question_new(o);

    if (!w)
        return;
    *w = (struct outside_question){.outside = o,
                                   .patience.fire = outside_names_late,
                                   .socket = s,
                                   .id = m.id,
                                   .run_tag = t->run_tag,
                                   .server = *server,
                                   .q = *q};
    list_push_back(&o->questions, &w->link);
    o->n_questions++;
    memcpy(m.name, q->name, q->name_len);
    (void)timer_start(&o->kernel->clock, &w->patience,
                      clock_after(&o->kernel->clock, PATIENCE_NS));
    if (outside_ask(o, &m) < 0)
        outside_names_fail(o);
    outside_watch(o);
}

static void
outside_names_serve(struct outside *o, struct socket *s, const struct task *t,
                    const struct sock_addr *server,
                    const struct dns_question *q)
{
    uint8_t to[DNS_BYTES_MAX], v4[4];
    const char *name =
        dns_question_address(q, v4) ? names_find(&o->names, v4) : NULL;

    if (!q->is_query)
        outside_names_fail_with(s, server, q, DNS_NOT_BUILT);
    else if (q->type == DNS_PTR && name)
        outside_names_reply(s, server, to, dns_answer_name(q, name, to));
    else if (!q->name_len || q->type == DNS_PTR)
        outside_names_fail_with(s, server, q, DNS_NO_NAME);
    else if (q->type == DNS_A)
        outside_names_ask(o, s, t, server, q);
    else
        outside_names_fail_with(s, server, q, DNS_OK);
}

/* Without a network, the name that a program asked for is what a user wants to
 * know, not the address of the name server. */
static void
outside_names_deny(struct socket *s, const struct task *t,
                   const struct sock_addr *addr, const struct dns_question *q,
                   const char *reason)
{
    if (q && q->name_len)
        kernel_deny_host(s->kernel, t->run_tag, q->name, 0, reason);
    else
        outside_deny(s->kernel, t->run_tag, addr, reason);
}

int64_t
outside_send_datagram(struct socket *s, struct task *t,
                      const struct sock_addr *addr, struct sock_msg *m)
{
    struct outside *o = outside_of(s->kernel);
    uint8_t bytes[DNS_BYTES_MAX];
    struct dns_question q;
    bool is_question = false;

    if (addr->in.sin_port == htons(DNS_PORT) && m->len <= sizeof bytes) {
        iov_copy_from(&m->data, bytes, m->len);
        is_question = dns_question_parse(bytes, m->len, &q);
    }
    if (!o) {
        outside_names_deny(s, t, addr, is_question ? &q : NULL, "off");
        return -ENETUNREACH;
    }
    if (!outside_is_name_server(addr)) {
        outside_names_deny(s, t, addr, NULL, "udp");
        return -EACCES;
    }
    if (is_question)
        outside_names_serve(o, s, t, addr, &q);
    return (int64_t)m->len;
}
