/* A slot: a sandbox of the server, with its id and the calls that wait for it.
 * Functions are called on the loop only. */
#ifndef RPC_SLOT_H
#define RPC_SLOT_H

#include "rpc/job.h"

enum slot_phase { SLOT_CREATING, SLOT_READY, SLOT_OFFLOADED, SLOT_DESTROYED };
enum { SLOT_NAME_BYTES = 24 };

struct slot {
    struct list link; /* in srv->slots */
    struct server *srv;
    uint64_t id; /* 0: the root */
    char *label;
    int64_t created_ms;
    enum slot_phase phase; /* changed by the loop only */
    struct wsand_sandbox *sb;
    struct sandbox_config *config;
    char *image;           /* name of its root image */
    struct list pending;   /* calls that wait for SLOT_READY */
    struct list runs;      /* without an answer; guarded by srv->lock */
    struct list processes; /* guarded by srv->lock */
    struct list contexts;  /* of code.*, guarded by srv->lock */
    uint64_t last_context;
    struct transfer *export, *import; /* used by jobs on sb */
};

/* Returns a new one in SLOT_CREATING, in the table unless it is the root. The
 * image is a name; NULL means that of the configuration. */
struct slot *slot_new(struct server *srv, uint64_t id,
                      struct sandbox_config *config, const char *image);
/* Enters a phase, and serves or refuses the waiting calls accordingly. */
void slot_settle(struct slot *slot, enum slot_phase phase);
void slot_free(struct slot *slot);
struct slot *slot_find(struct server *srv, uint64_t id);
/* Calls fn for each slot, the root last. */
void slot_each(struct server *srv, void (*fn)(struct slot *slot));
/* Writes "12", or "root". */
void slot_name(const struct slot *slot, char ret[SLOT_NAME_BYTES]);
/* Serves the call in the slot's order. A single call may lend the loop to the
 * other thread (leader.h). */
void slot_submit(struct slot *slot, OWN struct call *q);

/* Creates the slot's sandbox from its configuration, then calls done(arg, sb,
 * err) on the loop. sb is NULL on failure. */
typedef void created_fn(void *arg, struct wsand_sandbox *sb,
                        const struct wsand_error *err);
void slot_create(struct slot *slot, created_fn *done, void *arg);
/* Like slot_create, but at once and on this thread, if config_is_quick. */
void slot_create_here(struct slot *slot, created_fn *done, void *arg);
/* Frees sb on another thread, then has done(w) called on the loop. */
void sandbox_free_later(struct server *srv, struct wsand_sandbox *sb,
                        struct work *w, work_fn *done);

/* Creates the root sandbox; q (or NULL) is answered when it exists. False: no
 * memory, and q was answered. */
bool root_create(struct server *srv, struct sandbox_config *c,
                 OWN struct call *q);

#endif
