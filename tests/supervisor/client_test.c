/* Calls of a client, up to the line that the worker of a session gets. */
#include "supervisor/session/client.h"

#include "../rpc/json_count.h"
#include "../unit/test.h"
#include "supervisor/session/life.h"
#include "supervisor/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef"
_Static_assert(sizeof ID == SESSION_ID_BYTES, "an id of a session");

/* A supervisor with one client, and one session whose worker is a file. */
struct fixture {
    struct supervisor sv;
    struct client client;
    struct session *s;
    struct life life;
    char sent[4096]; /* to the client */
    char line[4096]; /* to the worker */
};

static void
client_test_send(struct client *c, const char *line, size_t len)
{
    struct fixture *f = CONTAINER_OF(c, struct fixture, client);

    (void)snprintf(f->sent, sizeof f->sent, "%.*s", (int)len, line);
}

static bool
client_test_is_behind(const struct client *c)
{
    (void)c;
    return false;
}

static void
client_test_do_nothing(struct client *c)
{
    (void)c;
}

static const struct client_ops ops = {.send = client_test_send,
                                      .is_behind = client_test_is_behind,
                                      .again = client_test_do_nothing,
                                      .free = client_test_do_nothing};

static void
fixture_init(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    list_init(&f->sv.clients);
    list_init(&f->sv.lives);
    list_init(&f->sv.event_waiters);
    CHECK_EQ(sessions_init(&f->sv.sessions), 0);
    client_init(&f->client, &f->sv, &ops);
    f->s = session_new(&f->sv, ID);
    f->s->life = &f->life;
    f->life.s = f->s;
    f->life.phase = LIFE_SERVING;
    worker_link_init(&f->life.link);
    outbox_init(&f->life.link.out, memfd_create("worker", 0));
}

static void
fixture_fini(struct fixture *f)
{
    worker_link_interrupt(&f->life);
    client_gone(&f->client);
    close(f->life.link.out.hfd);
    outbox_fini(&f->life.link.out);
    f->s->life = NULL;
    sessions_fini(&f->sv.sessions);
}

static void
fixture_line(struct fixture *f, const char *line)
{
    client_line(&f->client, line, strlen(line));
    ssize_t len = pread(f->life.link.out.hfd, f->line, sizeof f->line - 1, 0);
    f->line[len > 0 ? len : 0] = 0;
}

TEST(client_passes_a_call_to_the_worker_and_parses_it_once)
{
    struct fixture f;

    fixture_init(&f);
    (void)json_count_passes();
    fixture_line(&f, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"run\","
                     "\"params\":{\"sessionId\":\"" ID "\",\"command\":"
                     "\"echo \\u00e9\",\"env\":{\"A\":\"1\"}}}");
    CHECK_EQ(json_count_passes(), 1);
    CHECK(strstr(f.line, "\"method\":\"run\""));
    CHECK(strstr(f.line, "\"env\":{\"A\":\"1\"}"));
    CHECK(!strstr(f.line, "sessionId"));
    CHECK_EQ(f.client.peer.n_calls, 1);
    fixture_fini(&f);
    CHECK(strstr(f.sent, "\"id\":\"a\",\"error\""));
}

TEST(client_parses_a_line_once_whatever_becomes_of_it)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.create\","
        "\"params\":{\"durability\":\"none\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"create\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.session.get\"}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run\"},"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session.get\"}]",
        "no JSON",
    };
    struct fixture f;

    fixture_init(&f);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        (void)json_count_passes();
        *f.sent = 0;
        fixture_line(&f, lines[i]);
        CHECK_EQ(json_count_passes(), 1);
        CHECK(strstr(f.sent, "\"error\""));
    }
    CHECK_EQ(f.client.peer.n_calls, 0);
    fixture_fini(&f);
}
