/* The supervisor: one object that all its parts refer to. */
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include "supervisor/common/reactor.h"
#include "supervisor/session/images.h"
#include "supervisor/session/preview_token.h"
#include "supervisor/session/sessions.h"

struct config;       /* config.h */
struct store_thread; /* store/thread.h */
struct store;        /* store/store.h */
struct pool;         /* worker.h */

/* Of front/preview.c. */
struct preview_figures {
    size_t connections;
    uint64_t passed, refused; /* requests */
};

/* Belongs to the thread of the event loop. The store thread uses the store, and
 * nothing else of it. */
struct supervisor {
    struct reactor reactor;
    const struct config *config;
    struct store *store; /* used by the store thread, while it runs */
    struct store_thread *store_thread;
    const char *broker; /* path of the program, "": not installed */
    struct pool *pool;  /* with the current image */
    struct images images;
    struct sessions sessions;
    struct list lives;         /* of sessions, in the order of their starts */
    struct list event_waiters; /* events.c */
    struct list unsaved; /* changes of state that the store did not accept */
    struct reactor_timer save_again;
    struct reactor_timer retention;
    struct list clients;
    size_t n_clients;
    size_t n_workers; /* in use by sessions */
    struct counters counters;
    int64_t started_ms; /* since 1970 */
    struct preview_key preview_key;
    struct preview_figures previews;
    int preview_port;    /* 0: there are no previews */
    bool is_ending;      /* shutdown was requested */
    char start_why[256]; /* the last failed start of a worker */
};

/* Pauses all sessions, then ends the loop. */
void supervisor_end(struct supervisor *sv);
/* Ends the loop if nothing is left to pause. */
void supervisor_check_end(struct supervisor *sv);

#endif
