/* Durable state: sessions, events, and for each session a map from keys to
 * values (its records, record/record.h), in one SQLite database.
 *
 * The map of a session is a chain of layers. A commit writes to the first, a
 * fork makes it the parent of two new ones, and what a layer does not have is
 * looked for in its parent. Large values are chunks, shared by content; the
 * store itself names them by hash, so that no worker can pass off one content
 * as another.
 *
 * Threads: one at a time uses a store; thread.h has that thread.
 *
 * Transactions: every function that writes is atomic: an error leaves nothing
 * of it. Alone, it is durable when it returns 0. Between store_begin and
 * store_end several are one transaction, and durable when that returned 0.
 *
 * Errors are negative errno, and store_why has a line of text:
 *   -ENOENT  no such session, or one that has ended
 *   -EEXIST  the id of a new session is taken
 *   -EDQUOT  a session would have more than its quota; the text names which
 *   -EPROTO  records break the form of record/record.h
 *   -EBADMSG stored data is damaged; the text names session and path
 *   -ENOSPC  the disk is full    -EIO     it cannot be read or written
 *   -ENOMEM
 * After -ENOSPC, -EIO and -ENOMEM between store_begin and store_end the
 * transaction may be gone: store_end then returns the error, and nothing of it
 * is there. The store itself can always be used again. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

enum { STORE_WHY_BYTES = 256 };

struct store_options {
    const char *vfs;        /* of SQLite; NULL: the system's */
    bool is_old;            /* -ENOENT if there is no store */
    size_t cache_bytes;     /* of the database in memory; 0: 4 MiB */
    int log_pages;          /* of the log, then it is moved; 0: 1000 */
    int64_t keep_ended_ms;  /* ended sessions are forgotten after this time */
    int64_t keep_events_ms; /* 0: never, for both */
    uint64_t events_max;    /* the oldest are forgotten; 0: no bound */
    int64_t reserve_bytes;  /* set aside for a full disk; 0: 8 MiB,
                             * or with `vfs` none */
    uint64_t boot;          /* changes when the host starts; 0: the system's */
    bool is_copy;           /* for salvage.c: nothing is done but to read it */
};

/* Opens the store in the folder `dir`, which is made (0700) if need be, and
 * recovers what a damaged log lets it: see store_damage. One of an earlier
 * format gets this one.
 * -EBUSY: another process has it; -EPROTO: its format is of another version;
 * -EBADMSG: not a store. `why` (STORE_WHY_BYTES) has the text. Commits that
 * were not complete are dropped. `o` may be NULL. */
int store_open(const char *dir, const struct store_options *o, char *why,
               OWN struct store **ret);
/* Moves the log to the database, if possible. NULL is fine. */
void store_free(OWN struct store *s);
/* What went wrong last; valid until the next call. */
const char *store_why(const struct store *s);

/* Is space set aside for commits that make a session smaller? */
bool store_has_reserve(const struct store *s);

/* Without `is_durable`, what follows is safe from a kill of this process when
 * store_end returned 0, and durable with the next transaction that is, or with
 * store_sync. -EBUSY: one has begun. */
int store_begin(struct store *s, bool is_durable);
/* On failure nothing of it is there. */
int store_end(struct store *s);
/* Nothing of it happened. */
void store_undo(struct store *s);
int store_sync(struct store *s);

/* --- sessions */

/* What a session has, or may have. */
struct store_amounts {
    uint64_t bytes;  /* of contents of files */
    uint64_t inodes; /* records of inodes */
    uint64_t names;  /* records of names */
    uint64_t pages;  /* of the shell's memory */
    uint64_t other;  /* bytes of all other records */
};

/* Strings are never NULL in what the store gives, and NULL is "" in what it is
 * given. What it gives is valid during the callback. */
struct store_session {
    const char *id; /* 1 to 64 bytes */
    const char *agent, *label;
    const char *state, *cause;
    const char *limits, *options;   /* JSON, which the store does not read */
    const char *image, *shell;      /* hashes of the modules it depends on */
    int64_t created_ms, changed_ms; /* since 1970 */
    bool is_interval;               /* durability */
    struct store_amounts quota;
    /* given by the store, ignored in what it is given */
    uint64_t number; /* grows with each session */
    struct store_amounts used;
    bool has_ended;
};

/* A new session, with no records. -EEXIST. */
int store_session_create(struct store *s, const struct store_session *row);
/* All of the row but id and created_ms. */
int store_session_update(struct store *s, const struct store_session *row);
/* Like an update; its records are gone, in time also from the disk. */
int store_session_end(struct store *s, const struct store_session *row);

/* A number other than 0 ends the list, and is returned. */
typedef int store_session_fn(void *arg, const struct store_session *row);
/* One, also if it has ended. */
int store_session_get(struct store *s, const char *id, store_session_fn *fn,
                      void *arg);
struct store_filter {
    const char *agent, *state; /* NULL: any */
    bool with_ended;           /* else only those that have not */
    uint64_t after;            /* numbers above this one */
    uint32_t max;              /* 0: all */
};
/* In the order of their numbers. */
int store_session_list(struct store *s, const struct store_filter *f,
                       store_session_fn *fn, void *arg);

/* --- events */

struct store_event {
    uint64_t seq; /* given by the store: grows, never comes twice */
    int64_t time_ms;
    const char *session, *agent, *kind, *cause;
    const char *figures; /* JSON, which the store does not read */
};

/* ret_seq may be NULL. */
int store_event_append(struct store *s, const struct store_event *e,
                       uint64_t *ret_seq);
typedef int store_event_fn(void *arg, const struct store_event *e);
/* Those after `after` in their order, of one session or (NULL) of all. */
int store_event_list(struct store *s, const char *session, uint64_t after,
                     uint32_t max, store_event_fn *fn, void *arg);

/* --- records */

/* Frames as they came from a worker (state_check.h cuts and checks them), puts
 * and deletes only. A commit may come in parts: nothing of it can be seen
 * before the part that `is_last`, and the part that `is_first` drops what is
 * left of one that did not come to its end. -EINVAL: parts before this one are
 * not there. */
struct store_batch {
    const char *session;
    const void *frames;
    size_t len;
    bool is_first, is_last;
};
int store_commit(struct store *s, const struct store_batch *b);
/* The changes that a commit makes to the size of a session, added up over the
 * parts of the commit. */
struct store_change {
    int64_t bytes, inodes;
};
int store_weigh(struct store *s, const struct store_batch *b,
                struct store_change *change);
/* Discards the parts of a commit whose worker is gone, at once. */
int store_discard(struct store *s, const char *session);

/* The new session `to` has all records of `from` as of its newest commit. */
int store_fork(struct store *s, const char *from,
               const struct store_session *to);

/* Where a read goes on: all zero at first. */
struct store_place {
    uint8_t key[320];
    size_t len;
    uint64_t digest; /* of what was read */
    bool is_done;    /* there is no more */
};
struct buf;
/* Adds records of a session to `frames` as puts, in the order of their keys
 * from `place` on, until there are `max` bytes or more; the last time the end
 * frame too. A session that is read in several steps must not be committed to
 * meanwhile. -EBADMSG: store_repair helps. */
int store_read(struct store *s, const char *session, size_t max,
               struct store_place *place, struct buf *frames);

/* --- upkeep */

/* A bounded step (about a millisecond) of what is left to do: removing what
 * nobody refers to, joining layers, forgetting what is old. 1: there is more
 * to do; 0: nothing. Not between store_begin and store_end. */
int store_tidy(struct store *s, int64_t now_ms);
/* Moves what was committed from the log to the database if the log has grown
 * long. Not between store_begin and store_end. */
int store_checkpoint(struct store *s);

/* What a check finds. */
struct store_finding {
    const char *session; /* "": of none */
    const char *path;    /* of the file it costs, "": none */
    const char *what;    /* a line of text */
    bool is_repaired;
};
typedef void store_finding_fn(void *arg, const struct store_finding *f);
/* Reports the damage that was found when the store was opened, now or earlier,
 * and was not reported since: acknowledged commits that are lost, or that were
 * behind damage and are recovered, and damaged rows of sessions. With `forget`,
 * they count as reported from now on. Returns how many there are. */
int store_damage(struct store *s, bool forget, store_finding_fn *fn, void *arg);
/* Verifies the hash of every chunk that a session refers to, and its inode
 * table. With `repair`, a file with damaged contents becomes an empty one, a
 * damaged shell a new one. Returns how many were found. */
int store_repair(struct store *s, const char *session, bool repair,
                 store_finding_fn *fn, void *arg);
/* The same for all sessions, and the database itself: pages, references,
 * graph of layers, unused chunks. Takes long. */
int store_fsck(struct store *s, bool repair, store_finding_fn *fn, void *arg);

DEFINE_CLEANUP(struct store *, store_free)

#endif
