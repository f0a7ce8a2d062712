/* Makes a session ready for a connection.
 *
 * The connection asks for the status of the session as any client would. So the
 * states of sessions, autoResume and the limit of active sessions have the same
 * effect on previews as on other requests. */
#include "supervisor/front/preview_impl.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the message of an error. */
static void
preview_wake_send(struct client *c, const char *line, size_t len)
{
    struct preview_wake *w = CONTAINER_OF(c, struct preview_wake, client);
    struct json_fault fault;
    struct json_doc doc;

    w->has_failed = true;
    (void)snprintf(w->error, sizeof w->error, "out of memory");
    if (json_read_copy(&doc, line, len, &fault) < 0)
        return;
    const struct json *error = json_get(doc.v, "error");
    struct text text = json_text(json_get(error, "message"));
    w->has_failed = error;
    (void)snprintf(w->error, sizeof w->error, "%.*s", (int)text.len,
                   text.p ? text.p : "");
    json_fini(&doc);
}

static bool
preview_wake_is_behind(const struct client *c)
{
    (void)c;
    return false;
}

static void
preview_wake_settled(struct client *c)
{
    struct preview_wake *w = CONTAINER_OF(c, struct preview_wake, client);

    if (w->preview)
        preview_woken(w->preview, w->has_failed ? w->error : NULL);
    w->preview = NULL;
    client_gone(c);
}

static void
preview_wake_free(struct client *c)
{
    free(CONTAINER_OF(c, struct preview_wake, client));
}

static const struct client_ops preview_wake_ops = {
    .send = preview_wake_send,
    .is_behind = preview_wake_is_behind,
    .settled = preview_wake_settled,
    .free = preview_wake_free,
};

void
preview_wake(struct preview *p)
{
    struct preview_wake *w = calloc(1, sizeof *w);
    char line[160];

    if (!w) {
        preview_answer(p, 503, "out of memory");
        return;
    }
    w->preview = p;
    p->wake = w;
    client_init(&w->client, p->all->sv, &preview_wake_ops);
    w->client.takes_no_output = true;
    int n = snprintf(line, sizeof line,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\","
                     "\"params\":{\"sessionId\":\"%s\"}}",
                     p->session);
    client_line(&w->client, line, (size_t)n);
}
