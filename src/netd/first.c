/* The first bytes of a connection that the policy allows as TLS for its name.
 *
 * The sandbox passes its first bytes to the broker and not to the host. If they
 * ask for the name that was allowed, the broker sends them, and passes the
 * descriptor. The sandbox stops after each piece until there is an answer, so
 * the bytes that it then sends itself come behind those of the broker. */
#include "netd/broker.h"
#include "netd/connection.h"

#include "base/os_time.h"
#include "net/hello.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define FIRST_NS (60 * NS_PER_S)

static void
first_answer(struct connection *c, enum message_answer_kind kind, int hfd)
{
    const struct message_answer a = {kind, c->request.id, 0, VERDICT_ALLOWED};

    broker_answer(c->broker, &a, hfd);
}

void
first_want(struct connection *c)
{
    c->is_first = true;
    c->deadline_ns = time_mono_ns() + FIRST_NS;
    first_answer(c, ANSWER_WANT_FIRST, -1);
}

/* The buffer of a new connection holds more than HELLO_BYTES_MAX bytes, so a
 * send that is short is an error of the connection. */
static void
first_pass(struct connection *c)
{
    ssize_t n =
        send(c->hfd, c->first, c->first_len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n != (ssize_t)c->first_len) {
        connection_lose(c, ECONNRESET, CLOSE_PEER);
        return;
    }
    c->is_first = false;
    free(c->first);
    c->first = NULL;
    first_answer(c, ANSWER_FIRST, c->hfd);
}

static void
first_deny(struct connection *c)
{
    broker_report_denied(c->broker, &c->request, VERDICT_TLS);
    connection_revoke(c, VERDICT_TLS);
}

static void
first_check(struct connection *c)
{
    uint8_t *space = (uint8_t *)c->broker->message; /* not in use now */

    switch (hello_check(c->first, c->first_len, c->request.name, space)) {
    case HELLO_MORE:
        first_answer(c, ANSWER_WANT_FIRST, -1);
        break;
    case HELLO_ASKS:
        first_pass(c);
        break;
    case HELLO_BAD:
        first_deny(c);
        break;
    }
}

void
first_take(struct connection *c, const struct message_request *q)
{
    if (!c->first)
        c->first = malloc(HELLO_BYTES_MAX);
    if (!c->first) {
        connection_lose(c, ECONNRESET, CLOSE_LIMIT);
        return;
    }
    if (q->name_len > HELLO_BYTES_MAX - c->first_len) {
        first_deny(c);
        return;
    }
    memcpy(c->first + c->first_len, q->name, q->name_len);
    c->first_len += q->name_len;
    if (q->port)
        first_check(c);
}

/* A host that speaks first does not speak TLS. */
void
first_run(struct connection *c, const struct pollfd *v, int64_t now_ns)
{
    uint8_t byte;

    if (v->revents) {
        ssize_t n = recv(c->hfd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
        if (n > 0)
            first_deny(c);
        else if (n == 0 || errno != EAGAIN)
            connection_lose(c, n < 0 ? errno : 0, CLOSE_PEER);
    } else if (now_ns >= c->deadline_ns) {
        connection_lose(c, ETIMEDOUT, CLOSE_LIMIT);
    }
}
