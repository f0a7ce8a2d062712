/* preview.create: a host name and a token for a server inside a session. */
#include "supervisor/session/methods.h"
#include "supervisor/session/session.h"

#include "base/os_time.h"
#include "supervisor/config/config.h"

#include <inttypes.h>
#include <time.h>

enum { EXPIRES_S = 86400 };

/* Behind a proxy, the scheme and the port of the URL are those of the proxy, so
 * the host and the token are in the answer too. */
static void
preview_answer(const struct supervisor *sv, const struct preview_grant *g,
               OWN struct call *q)
{
    char token[PREVIEW_TOKEN_BYTES];
    struct buf *b = answer_begin(q);

    preview_token_write(&sv->preview_key, g, token);
    buf_printf(b,
               "{\"host\":\"%u-%s.%s\",\"token\":\"%s\",\"expiresAt\":%" PRId64
               ",\"url\":\"http://%u-%s.%s:%d/?wasmsand-token=%s\"}",
               g->port, g->session, sv->config->preview_domain, token,
               g->expires_s * 1000, g->port, g->session,
               sv->config->preview_domain, sv->preview_port, token);
    answer_end(q);
}

void
do_preview_create(struct call *q)
{
    const struct session *s = routing_of(q)->session;
    struct timespec now;

    if (!*s->sv->config->preview_domain) {
        answer_error(q, SANDBOX_ERROR,
                     "ENOTSUP: this supervisor has no previews; the key "
                     "network.previewDomain of its configuration enables them");
        return;
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const struct preview_grant g = {
        .session = s->id,
        .port = (uint16_t)param_int(q, "port", 0),
        .expires_s = now.tv_sec + param_int(q, "expiresS", EXPIRES_S)};
    preview_answer(s->sv, &g, q);
}
