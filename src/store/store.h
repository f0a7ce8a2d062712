/* Durable state: sessions, events, and for each session a map from keys to
 * values (its records, record/record.h), in one SQLite database.
 *
 * The map of a session is a chain of layers. A commit writes to the first
 * layer, a fork makes it the parent of two new ones, and keys that a layer does
 * not have are searched in its parent. Large values are chunks, shared by
 * content. The store itself computes their hashes, so that no worker can pass
 * off one content as another.
 *
 * Threads: one thread at a time uses a store; see thread.h.
 *
 * Transactions: every function that writes is atomic: after an error nothing of
 * it remains. Alone, it is durable when it returns 0. Between store_begin and
 * store_end several calls are one transaction, and durable when store_end has
 * returned 0.
 *
 * Errors are negative errno, and store_why returns a line of text:
 *   -ENOENT  no such session, or one that has ended
 *   -EEXIST  the id of a new session is in use
 *   -EDQUOT  a session would exceed its quota; the text names which
 *   -EPROTO  records break the form of record/record.h
 *   -EBADMSG stored data is damaged; the text names session and path
 *   -ENOSPC  the disk is full    -EIO     it cannot be read or written
 *   -ENOMEM
 *
 * After -ENOSPC, -EIO and -ENOMEM between store_begin and store_end the
 * transaction may have been rolled back; store_end then returns the error. The
 * store itself stays usable. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

enum { STORE_WHY_BYTES = 256 };

/* How to open a store. 0 and NULL mean the default, unless noted. */
struct store_options {
    const char *vfs;        /* of SQLite; NULL: the system's */
    bool is_old;            /* -ENOENT if there is no store */
    size_t cache_bytes;     /* of the database in memory; 0: 4 MiB */
    int log_pages;          /* of the log, then it is moved; 0: 1000 */
    int64_t keep_ended_ms;  /* ended sessions are deleted after this time */
    int64_t keep_events_ms; /* 0: never, for both */
    uint64_t events_max;    /* older events are deleted; 0: no limit */
    int64_t reserve_bytes;  /* reserved for a full disk; 0: 8 MiB, or with `vfs`
                             * none */
    uint64_t boot;          /* changes when the host starts; 0: the system's */
    bool is_copy;           /* for salvage.c: only read it */
};

/* Opens the store in the folder `dir`, which is created (0700) if needed, and
 * recovers commits from a damaged log: see store_damage. A store of an earlier
 * format is upgraded. Incomplete commits are dropped. `o` may be NULL.
 *
 * -EBUSY: another process uses it. -EPROTO: its format belongs to another
 * version. -EBADMSG: not a store. `why` (STORE_WHY_BYTES) contains the text. */
int store_open(const char *dir, const struct store_options *o, char *why,
               OWN struct store **ret);
/* Moves the log to the database, if possible, and closes the store. Accepts
 * NULL. */
void store_free(OWN struct store *s);
/* Returns the last error text; valid until the next call. */
const char *store_why(const struct store *s);

/* True if space is reserved for commits that make a session smaller. */
bool store_has_reserve(const struct store *s);

/* Begins a transaction. Without `is_durable`, it survives a kill of this
 * process when store_end has returned 0, and becomes durable with the next
 * durable transaction or store_sync. -EBUSY: a transaction is open. */
int store_begin(struct store *s, bool is_durable);
/* Commits the transaction; on failure nothing of it remains. */
int store_end(struct store *s);
/* Rolls the transaction back. */
void store_undo(struct store *s);
/* Makes all transactions durable that were committed without a sync. */
int store_sync(struct store *s);

/* --- sessions */

/* The size of a session, or its quota. */
struct store_amounts {
    uint64_t bytes;  /* of contents of files */
    uint64_t inodes; /* records of inodes */
    uint64_t names;  /* records of names */
    uint64_t pages;  /* of the shell's memory */
    uint64_t other;  /* bytes of all other records */
};

/* Strings that the store returns are never NULL; NULL in its arguments means
 * "". Returned strings are valid during the callback. */
struct store_session {
    const char *id; /* 1 to 64 bytes */
    const char *agent, *label;
    const char *state, *cause;
    const char *limits, *options;   /* JSON, opaque to the store */
    const char *image, *shell;      /* hashes of the modules it depends on */
    int64_t created_ms, changed_ms; /* since 1970 */
    bool is_interval;               /* durability */
    struct store_amounts quota;
    /* set by the store, ignored in arguments */
    uint64_t number; /* increases with each session */
    struct store_amounts used;
    bool has_ended;
};

/* Creates a session without records. -EEXIST. */
int store_session_create(struct store *s, const struct store_session *row);
/* Updates the row, except id and created_ms. */
int store_session_update(struct store *s, const struct store_session *row);
/* Like an update; deletes the records, later also from the disk. */
int store_session_end(struct store *s, const struct store_session *row);

/* A result other than 0 ends the list, and is returned. */
typedef int store_session_fn(void *arg, const struct store_session *row);
/* Returns one session, which may have ended. */
int store_session_get(struct store *s, const char *id, store_session_fn *fn,
                      void *arg);
/* Selects the sessions of a list. */
struct store_filter {
    const char *agent, *state; /* NULL: any */
    bool with_ended;           /* otherwise only sessions that have not ended */
    uint64_t after;            /* numbers above this one */
    uint32_t max;              /* 0: all */
};
/* Lists sessions in the order of their numbers. */
int store_session_list(struct store *s, const struct store_filter *f,
                       store_session_fn *fn, void *arg);

/* --- events */

/* One event. Strings are as in struct store_session. */
struct store_event {
    uint64_t seq; /* set by the store: increasing and unique */
    int64_t time_ms;
    const char *session, *agent, *kind, *cause;
    const char *figures; /* JSON, opaque to the store */
};

/* Appends an event. ret_seq (may be NULL) receives its number. */
int store_event_append(struct store *s, const struct store_event *e,
                       uint64_t *ret_seq);
typedef int store_event_fn(void *arg, const struct store_event *e);
/* Lists events after `after` in order, of one session or (NULL) of all. */
int store_event_list(struct store *s, const char *session, uint64_t after,
                     uint32_t max, store_event_fn *fn, void *arg);

/* --- records */

/* Frames as they came from a worker (state_check.h cuts and checks them), puts
 * and deletes only. A commit may come in parts: none of it is visible before
 * the part with `is_last`, and the part with `is_first` drops an incomplete
 * earlier commit. -EINVAL: earlier parts are missing. */
struct store_batch {
    const char *session;
    const void *frames;
    size_t len;
    bool is_first, is_last;
};
/* Writes a batch to the session. The records are checked; -EPROTO and -EDQUOT
 * leave the session unchanged. */
int store_commit(struct store *s, const struct store_batch *b);
/* The changes that a commit makes to the size of a session, added up over the
 * parts of the commit. */
struct store_change {
    int64_t bytes, inodes;
};
/* Adds the changes that the batch would make to *change, without writing. */
int store_weigh(struct store *s, const struct store_batch *b,
                struct store_change *change);
/* Discards the parts of a commit whose worker is gone, at once. */
int store_discard(struct store *s, const char *session);

/* Creates the session `to` with all records of `from` as of its newest commit.
 */
int store_fork(struct store *s, const char *from,
               const struct store_session *to);

/* The position of a read: initially all zero. */
struct store_cursor {
    uint8_t key[320];
    size_t len;
    uint64_t digest; /* of the records read so far */
    bool is_done;    /* there are no more records */
};
struct buf;
/* Appends records of a session to `frames` as puts, in the order of their keys
 * from `cursor`, until there are `max` bytes or more. The last call also
 * appends the end frame. There must be no commit to the session between the
 * steps. -EBADMSG: store_repair helps. */
int store_read(struct store *s, const char *session, size_t max,
               struct store_cursor *cursor, struct buf *frames);

/* --- upkeep */

/* Does one bounded step of upkeep (about a millisecond): removes unused
 * objects, joins layers, deletes old rows. Returns 1 if there is more to do.
 * Must not be called between store_begin and store_end. */
int store_tidy(struct store *s, int64_t now_ms);
/* Moves commits from the log to the database if the log has grown long. Must
 * not be called between store_begin and store_end. */
int store_checkpoint(struct store *s);

/* A finding of a check. */
struct store_finding {
    const char *session; /* "": no session */
    const char *path;    /* of the affected file, or "" */
    const char *what;    /* a line of text */
    bool is_repaired;
};
typedef void store_finding_fn(void *arg, const struct store_finding *f);
/* Reports damage that was found when the store was opened, now or earlier, and
 * was not reported since. These are lost commits, commits that were recovered
 * from behind damage, and damaged rows of sessions. With `forget`, they count
 * as reported from now on. Returns their number. */
int store_damage(struct store *s, bool forget, store_finding_fn *fn, void *arg);
/* Verifies the hash of every chunk that a session refers to, and its inode
 * table. With `repair`, a damaged file becomes empty, and a damaged shell is
 * replaced by a new one. Returns the number of findings. */
int store_repair(struct store *s, const char *session, bool repair,
                 store_finding_fn *fn, void *arg);
/* Like store_repair for all sessions, and for the database itself: pages,
 * references, the graph of layers, unused chunks. Takes long. */
int store_fsck(struct store *s, bool repair, store_finding_fn *fn, void *arg);

DEFINE_CLEANUP(struct store *, store_free)

#endif
