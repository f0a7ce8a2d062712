/* The listener of previews and its connections, shared by previews.c, preview.c
 * and preview_wake.c. */
#ifndef SUPERVISOR_PREVIEW_IMPL_H
#define SUPERVISOR_PREVIEW_IMPL_H

#include "supervisor/front/preview.h"

#include "supervisor/front/preview_head.h"
#include "supervisor/session/client.h"
#include "supervisor/session/supervisor.h"

/* A flow holds a rewritten head, which can be longer than the received one by
 * its last line, and the bytes that were read behind it. */
enum {
    PREVIEW_READ_BYTES = 4096,
    PREVIEW_FLOW_BYTES = PREVIEW_HEAD_BYTES + 2 * PREVIEW_READ_BYTES,
    PREVIEW_TURNS = 16,
    PREVIEW_LINGER_S = 2,
};

struct previews {
    struct supervisor *sv;
    struct source source;
    struct list connections; /* oldest first */
};

/* Bytes in one direction. */
struct preview_flow {
    size_t at, len; /* of the bytes that are not sent yet */
    uint64_t left;  /* how many may still be read */
    uint64_t total;
    bool has_ended, has_failed;
    char bytes[PREVIEW_FLOW_BYTES];
};

struct preview {
    struct list link;
    struct previews *all;
    int outer_hfd, inner_hfd; /* the client; our end of the pair, or -1 */
    struct source outer, inner;
    struct reactor_timer deadline; /* for the head, and for our answers */
    struct buf head;
    bool is_trusted; /* it has shown a token */
    bool is_lingering;
    uint16_t port;
    char session[SESSION_ID_BYTES];
    struct preview_wake
        *wake; /* NULL: the session was not asked, or is ready */
    struct preview_flow up, down;
};

/* A request to the session, which resumes it if it is paused. It may outlive
 * its connection. */
struct preview_wake {
    struct client client;
    struct preview *preview; /* NULL: the connection has ended */
    bool has_failed;
    char error[512];
};

/* Begins with an accepted connection. */
void preview_begin(struct previews *all, OWN int hfd);
void preview_free(OWN struct preview *p);
/* Answers with a status and a line of text, and closes the connection. p may be
 * freed. */
void preview_answer(struct preview *p, int status, const char *text);
/* Makes the session ready; preview_woken follows, perhaps at once. */
void preview_wake(struct preview *p);
/* The session is ready, or `error` is the reason why it cannot be. */
void preview_woken(struct preview *p, const char *error);

#endif
